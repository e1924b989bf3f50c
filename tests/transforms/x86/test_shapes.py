"""Registers that instructions use without a choice."""

import pytest

from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.registers import BASES


@pytest.mark.thinned(12)
@pytest.mark.parametrize(
    ("text", "bases"),
    [
        ("addq %rax, %rbx", ""),
        ("movq (%rsp), %rsp", ""),
        ("pushq %rbx", "rsp"),
        ("popq %rsp", "rsp"),
        ("leave", "rsp rbp"),
        ("mulq %rbx", "rax rdx"),
        ("mulq %rax", "rax rdx"),
        ("imulq %rbx", "rax rdx"),
        ("imulq %rbx, %rcx", ""),
        ("divl %ecx", "rax rdx"),
        ("idivb %cl", "rax"),
        ("cqto", "rax rdx"),
        ("cltq", "rax"),
        ("cpuid", "rax rbx rcx rdx"),
        ("rdtsc", "rax rdx"),
        ("xgetbv", "rax rcx rdx"),
        ("sarl %cl, %eax", "rcx"),
        ("sarl %cl, %ecx", "rcx"),
        ("shrdq %cl, %r9, %r8", "rcx"),
        ("shlxq %rax, %rcx, %rax", ""),
        ("cmpxchgl %ecx, %eax", "rax"),
        ("cmpxchg16b (%rdi)", "rax rbx rcx rdx"),
        ("mulxq %rax, %rbx, %rcx", "rdx"),
        ("stosq %rax, %es:(%rdi)", "rax rdi"),
        ("rep movsq", "rcx rsi rdi"),
        ("blendvps %xmm0, %xmm1, %xmm2", "xmm0"),
        ("blendvps %xmm0, %xmm1, %xmm0", "xmm0"),
        ("vblendvps %xmm4, %xmm3, %xmm2, %xmm4", ""),
        ("sha256rnds2 %xmm0, %xmm3, %xmm1", "xmm0"),
        ("pcmpistri $58, %xmm3, %xmm3", "rcx"),
        ("fnstsw %ax", "rax"),
        ("maskmovdqu %xmm1, %xmm2", "rdi"),
        ("movabsl 81985529216486895, %eax", "rax"),
        ("vgatherdps %xmm1, (%rax,%xmm2,4), %xmm3", ""),
        ("vaddps %zmm1, %zmm2, %zmm3{%k1}{z}", ""),
    ],
)
def test_implied_and_fixed_registers(text: str, bases: str) -> None:
    (operation,) = read(text).operations
    assert operation.implicit == frozenset(bases.split())


@pytest.mark.parametrize("text", ["vzeroupper", "vzeroall"])
def test_all_vector_registers_at_once(text: str) -> None:
    (operation,) = read(text).operations
    assert operation.implicit >= set(BASES["vec"][:16])
