"""Independent tools that check rewritten blocks.

`mca` asks LLVM's machine code analyzer for the cost of a block; `native` runs it on this processor, inside
the sandbox; `emulator` runs it in Unicorn. What a machine lacks is left out.
"""
