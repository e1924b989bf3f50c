"""Independent tools that check rewritten blocks.

`mca` asks LLVM's machine code analyzer for the cost of a block; `emulator` runs it in Unicorn. Both are
optional.
"""
