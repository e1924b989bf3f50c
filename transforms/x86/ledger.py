"""What the transforms of x86 blocks assume of the code around: the ledger of x86.

A block has no file, so only the block itself can show that an assumption does not hold.
"""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.assumptions import Assumption, ledger

LEDGER: Final[Mapping[str, Assumption]] = ledger(
    (
        Assumption(
            id="block-alone",
            assumed="The code around takes the renaming along: it gives the block its input, and reads "
            "its output, in the renamed registers.",
            example="`addq %rax, %rbx` becomes `addq %rdi, %r13`, and the next block reads `%rbx`",
        ),
        Assumption(
            id="code-unread",
            assumed="The block neither reads nor changes its own code, and nobody asks how long the code "
            "is or where it stands.",
            shown="An address counts from the end of its instruction (`%rip`).",
            refused="The block keeps its registers, and the instruction its place.",
            reach="file",
            example="a register of the old eight becomes a new one, and each instruction is a byte longer",
        ),
        Assumption(
            id="nobody-between",
            assumed="No other thread, signal handler or device looks at memory between two instructions.",
            shown="The block has a `lock`, a fence, or an instruction that is no ordinary computation.",
            refused="Nothing passes that instruction.",
            reach="place",
            example="two stores change places, and another thread waits for the second",
        ),
        Assumption(
            id="runs-to-end",
            assumed="The block runs to its end, or nobody sees which of its instructions fails first.",
            example="two loads change places, both addresses are invalid, and a handler reads the address",
        ),
    )
)
