"""x86-64 basic blocks: registers under other names, instructions in another order."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

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

ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "rename": TransformEntry(
        "codeaudit.transforms.x86.rename:RENAME",
        "registers become other registers of their class",
        family="x86",
        language="x86",
        example=_FIGURE,
        twin="rename-merging",
    ),
    "reorder": TransformEntry(
        "codeaudit.transforms.x86.reorder:REORDER",
        "instructions in another order that keeps their dependences",
        family="x86",
        language="x86",
        example=_SUM,
        twin="reorder-breaking",
    ),
    "rename-merging": TransformEntry(
        "codeaudit.transforms.x86.merging:RENAME_MERGING",
        "control: two registers become one",
        family="x86",
        kind="control",
        language="x86",
        example=_FIGURE,
    ),
    "rename-views": TransformEntry(
        "codeaudit.transforms.x86.views:RENAME_VIEWS",
        "control: registers of one instruction become wider or narrower",
        family="x86",
        kind="control",
        language="x86",
        example=_FIGURE,
    ),
    "reorder-breaking": TransformEntry(
        "codeaudit.transforms.x86.breaking:REORDER_BREAKING",
        "control: an instruction stands before the one whose result it reads",
        family="x86",
        kind="control",
        language="x86",
        example=_SUM,
    ),
}
