"""Alpha-equivalence: what is proven, and what the proof must not let through."""

import pytest

from codeaudit.transforms.x86 import legality
from codeaudit.transforms.x86.legality import Different, Equivalent, compare
from codeaudit.transforms.x86.reading import from_hex, read
from tests.transforms.x86.support import FIGURE_A, FIGURE_B, FIGURE_C


def judged(before: str, after: str) -> object:
    return compare(read(before), read(after))


def test_figure_1() -> None:
    assert judged(FIGURE_A, FIGURE_B) == Equivalent({"rax": "rbx", "rsp": "rsp", "rbp": "rbp"})
    assert judged(FIGURE_A, FIGURE_C) == Different(legality.REFERENT, 0)


def test_a_block_is_a_renaming_of_itself() -> None:
    assert judged(FIGURE_A, FIGURE_A) == Equivalent({"rax": "rax", "rsp": "rsp", "rbp": "rbp"})


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("nop", "nop\nnop", legality.LENGTH),
        ("addq %rax, %rbx", "subq %rax, %rbx", legality.SHAPE),
        ("addq %rax, %rbx", "addl %eax, %ebx", legality.SHAPE),
        ("addq $1, %rbx", "addq $2, %rbx", legality.SHAPE),
        ("addq $1, %rbx", "addq $257, %rbx", legality.SHAPE),
        ("movq 8(%rax), %rbx", "movq 16(%rax), %rbx", legality.SHAPE),
        ("movq 8(%rax), %rbx", "movq %fs:8(%rax), %rbx", legality.SHAPE),
        ("movq (%rax,%rcx,2), %rbx", "movq (%rax,%rcx,4), %rbx", legality.SHAPE),
        ("movb %ah, %bl", "movb %al, %bl", legality.SHAPE),
        ("xaddl %eax, (%rbx)", "lock xaddl %eax, (%rbx)", legality.SHAPE),
        ("movsq", "rep movsq", legality.SHAPE),
        ("movl (%rax), %ebx", "movl (%eax), %ebx", legality.SHAPE),
        ("vaddps %zmm1, %zmm2, %zmm3", "vaddps %zmm1, %zmm2, %zmm3{%k1}", legality.SHAPE),
        ("vaddps %zmm1, %zmm2, %zmm3{%k1}", "vaddps %zmm1, %zmm2, %zmm3{%k1}{z}", legality.SHAPE),
        ("addps %xmm1, %xmm2", "vaddps %xmm1, %xmm2, %xmm2", legality.SHAPE),
        ("pushw $1", "pushq $1", legality.SHAPE),
        ("movq %rax, %rbx", "movq %rcx, %rcx", legality.REFERENT),
        ("movq %rax, %rax", "movq %rbx, %rcx", legality.REFERENT),
        ("movq %rax, %rbx\nmovq %rax, %rcx", "movq %rax, %rbx\nmovq %rdx, %rcx", legality.REFERENT),
        ("xorl %eax, %eax", "xorl %eax, %ebx", legality.REFERENT),
        ("movl %eax, %ebx\nmovb %ah, %cl", "movl %eax, %ebx\nmovb %bh, %cl", legality.REFERENT),
        (
            "vmovaps %ymm1, %ymm2\naddps %xmm1, %xmm3",
            "vmovaps %ymm1, %ymm2\naddps %xmm4, %xmm3",
            legality.REFERENT,
        ),
        ("mulq %rbx", "mulq %rax", legality.IMPLIED),
        ("mulq %rbx\nmovq %rax, %rcx", "mulq %rbx\nmovq %rsi, %rcx", legality.REFERENT),
        ("shll %cl, %eax\nmovl %ecx, %ebx", "shll %cl, %eax\nmovl %edx, %ebx", legality.REFERENT),
        ("blendvps %xmm0, %xmm1, %xmm2", "blendvps %xmm0, %xmm0, %xmm2", legality.IMPLIED),
    ],
)
def test_what_is_no_renaming(before: str, after: str, reason: str) -> None:
    verdict = judged(before, after)
    assert isinstance(verdict, Different)
    assert verdict.reason == reason


def test_an_implied_register_that_no_text_names_is_nobodys_target() -> None:
    """A `push` uses rsp without naming it, so nothing else may have become rsp."""
    assert judged("movq %rax, 8(%rbx)\npushq %rcx", "movq %rax, 8(%rsp)\npushq %rcx") == Different(
        legality.IMPLIED, 1
    )


def test_implied_and_named_are_one_register() -> None:
    before = "movl %ebx, %ecx\ncltq\nmovq %rax, %rdx"
    assert isinstance(judged(before, before.replace("%ebx", "%esi")), Equivalent)
    assert judged(before, before.replace("%rax", "%r8")) == Different(legality.REFERENT, 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("4839d8", "483bc3"),  # cmp r/m, r and cmp r, r/m
        ("4805fdffffff", "4883c0fd"),  # the accumulator's form and a short immediate
        ("488b4308", "488b8308000000"),  # displacements of 8 and of 32 bits
        ("c5f858c1", "c4e17858c1"),  # VEX of two and of three bytes
        ("d1e0", "c1e001"),  # a shift by one
        ("50", "fff0"),  # a push of a register
    ],
)
def test_which_encoding_was_chosen_does_not_count(one: str, other: str) -> None:
    verdict = compare(from_hex(one), from_hex(other))
    assert isinstance(verdict, Equivalent)
    assert all(old == new for old, new in verdict.renaming.items())


def test_segments_that_begin_at_zero_are_one() -> None:
    """A base of rbp implies ss, one of rbx ds."""
    assert isinstance(judged("movq 8(%rbp), %rax", "movq 8(%rbx), %rax"), Equivalent)
    assert isinstance(judged("movq 8(%rbp), %rax", "movq %ds:8(%rbp), %rax"), Equivalent)


def test_an_address_that_counts_from_the_instruction_may_not_move() -> None:
    before = "movq %rbx, (%rsi)\nmovl 8(%rip), %eax"
    assert isinstance(judged(before, before.replace("%rbx", "%rdx")), Equivalent)
    longer = before.replace("(%rsi)", "(%r12)")
    assert judged(before, longer) == Different(legality.RELATIVE, 1)
