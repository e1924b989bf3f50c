"""The record of x86-64 assembly."""

from typing import Final

from codeaudit.transforms import x86
from codeaudit.transforms.language import Language

X86: Final = Language(
    name="x86",
    title="x86-64 assembly",
    units="blocks",
    fence="asm",
    example="addq %rax, %rbx\nmovq (%rcx), %rdx\nimulq %rdx, %rbx\n",
    families=(x86.FAMILY,),
    standard=("reorder", "rename"),
    controls=("reorder-breaking", "rename-merging"),
    canonical="codeaudit.transforms.x86.canonical:canonicalise",
    named_endings=(".s", ".asm"),
    column="asm",
    machine_code="codeaudit.transforms.x86.reading:from_hex",
    witness="codeaudit.audit.witnesses.x86:witness",
)
