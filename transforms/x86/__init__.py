"""x86-64 basic blocks: registers under other names, instructions in another order."""

from typing import Final

from codeaudit.transforms.language import Language, TransformFamily, changes, keeps
from codeaudit.transforms.x86.ledger import LEDGER

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
    named_endings=(".s", ".asm"),
    column="asm",
    machine_code="codeaudit.transforms.x86.reading:from_hex",
)
