"""Tools that nobody here wrote, asked whether a rewritten block still is what it was.

`mca` asks LLVM's machine code analyzer for a block's cost, `emulator` runs it. Both are optional.
"""
