"""x86-64 basic blocks: registers under other names, instructions in another order."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.assumptions import Assumption, ledger
from codeaudit.transforms.language import Language, TransformFamily, changes, keeps

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


_FIGURE: Final = """\
movq 64(%rsp), %rax
subl $1, 56(%rbp)
movl 16(%rax), %eax
"""
"""Figure 1(a) of Renamer."""

_SUM: Final = """\
movq (%rdi), %rax
movq 8(%rdi), %rcx
addq %rax, %rcx
leaq 16(%rsi), %rsi
"""


FAMILY: Final = TransformFamily.of(
    __name__,
    "x86",
    "x86-64 basic blocks: registers under other names, instructions in another order.",
    keeps(
        "rename:RENAME",
        "registers become other registers of their class",
        _FIGURE,
        "rename-merging",
        rests_on=("block-alone", "code-unread"),
    ),
    keeps(
        "reorder:REORDER",
        "instructions in another order that keeps their dependences",
        _SUM,
        "reorder-breaking",
        rests_on=("code-unread", "nobody-between", "runs-to-end"),
    ),
    changes("rename:RENAME_MERGING", "two registers become one", _FIGURE),
    changes("rename:RENAME_VIEWS", "registers of one instruction become wider or narrower", _FIGURE),
    changes("reorder:REORDER_BREAKING", "an instruction stands before the one whose result it reads", _SUM),
)


X86: Final = Language(
    name="x86",
    title="x86-64 assembly",
    units="blocks",
    fence="asm",
    example="addq %rax, %rbx\nmovq (%rcx), %rdx\nimulq %rdx, %rbx\n",
    families=(FAMILY,),
    standard=("reorder", "rename"),
    controls=("reorder-breaking", "rename-merging"),
    ledger=LEDGER,
    canonical="codeaudit.transforms.x86.canonical:canonicalise",
    constructs="codeaudit.transforms.x86.registers:construct",
    named_endings=(".s", ".asm"),
    column="asm",
    machine_code="codeaudit.transforms.x86.reading:from_hex",
)
