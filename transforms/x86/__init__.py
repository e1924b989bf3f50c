"""x86-64 basic blocks: registers under other names, instructions in another order."""

from typing import Final

from codeaudit.transforms.entries import TransformFamily, changes, keeps

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
    keeps("rename:RENAME", "registers become other registers of their class", _FIGURE, "rename-merging"),
    keeps(
        "reorder:REORDER",
        "instructions in another order that keeps their dependences",
        _SUM,
        "reorder-breaking",
    ),
    changes("merging:RENAME_MERGING", "two registers become one", _FIGURE),
    changes("views:RENAME_VIEWS", "registers of one instruction become wider or narrower", _FIGURE),
    changes("breaking:REORDER_BREAKING", "an instruction stands before the one whose result it reads", _SUM),
)
