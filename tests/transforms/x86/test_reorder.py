"""Which instructions may change places, and the control that breaks one dependence."""

from random import Random

import pytest

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.interface import NOT_A_MOVE, Refused, Rewritten
from codeaudit.transforms.records import Move
from codeaudit.transforms.reordering import ILLEGAL, broken
from codeaudit.transforms.x86.effects import conflicts, flow
from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.reorder import NO_PAIR, ONE, REORDER, REORDER_BREAKING, STILL, TOTAL, matters
from tests.transforms.x86.support import draw, own_blocks, reason, rewrite


def free(source: str) -> bool:
    """Whether two instructions may change places."""
    return conflicts(read(source)) == (0, 0)


@pytest.mark.parametrize(
    "source",
    [
        "movq %rax, %rbx\nmovq %rcx, %rdx",
        "movq (%rax), %rbx\nmovq (%rax), %rcx",
        "movq %rax, 8(%rsp)\nmovq %rbx, 16(%rsp)",
        "movq %rax, 8(%rsp)\nmovb %bl, 7(%rsp)",
        "movl %eax, 8(%rsp,%rcx,4)\nmovl %ebx, 4(%rsp,%rcx,4)",
        "leaq 8(%rax), %rbx\nmovq $1, 8(%rax)",
        "movq %rax, %rbx\naddq %rcx, %rdx",
        "addsd %xmm1, %xmm2\naddq %rcx, %rdx",
        "xorl %eax, %eax\nmovq %rbx, %rcx",
        "prefetcht0 (%rax)\nmovq %rbx, (%rax)",
        "nop\nmovq %rbx, (%rax)",
    ],
)
def test_independent(source: str) -> None:
    assert free(source)


@pytest.mark.thinned(14)
@pytest.mark.parametrize(
    "source",
    [
        "movq %rax, %rbx\nmovq %rbx, %rcx",  # read after write
        "movq %rbx, %rax\nmovq %rcx, %rbx",  # write after read
        "movq %rax, %rbx\nmovq %rcx, %rbx",  # write after write
        "movb %al, %bl\nmovq %rbx, %rcx",  # a part of a register
        "kmovw %eax, %k1\nvpaddd %xmm3, %xmm1, %xmm4 {%k1}",  # a mask of a text that has a VEX form, too
        "vmovaps %ymm5, %ymm4\nvmovups (%rcx), %ymm4 {%k1}",  # what the mask leaves
        "movb %ah, %cl\nmovb $1, %al",
        "movb $1, %ah\nmovb $1, %al",
        "movq 8(%rbx), %rax\naddq $8, %rbx",  # the base of an address
        "movq %rax, (%rbx)\nmovq (%rcx), %rdx",  # addresses that may be equal
        "movq (%rcx), %rdx\nmovq %rax, (%rbx)",
        "movq %rax, 8(%rsp)\nmovb %bl, 15(%rsp)",  # addresses that overlap
        "movq %rax, 8(%rsp)\nmovq %rbx, %fs:16",  # another segment may begin anywhere
        "movq %rax, 8(%rsp)\nmovq %rbx, 24(%rsp,%rcx,8)",
        "movq %rax, 8(%esp)\nmovq %rbx, 16(%rsp)",
        "addq %rax, %rbx\naddq %rcx, %rdx",  # flags at the end of the block
        "addq %rax, %rbx\nadcq %rcx, %rdx",
        "cmpq %rax, %rbx\ncmoveq %rcx, %rdx",
        "setc %al\ncmpq %rbx, %rcx",
        "incq %rax\nsbbq %rbx, %rbx",  # inc leaves the carry alone but not the rest
        "pushq %rax\npushq %rbx",
        "pushq %rax\nmovq 8(%rsp), %rcx",
        "mulq %rbx\nmovq %rdx, %rcx",  # an implied register
        "cltq\nmovq %rax, %rbx",
        "stosq\nmovq %rdi, %rax",
        "lock xaddl %eax, (%rbx)\nmovq %rcx, %rdx",  # barriers
        "xchgl %eax, (%rbx)\nmovq %rcx, %rdx",
        "rep stosq\nmovq %rbx, %rdx",
        "mfence\nmovq %rbx, %rdx",
        "rdtsc\nmovq %rbx, %rsi",
        "cpuid\nmovq %rdi, %rsi",
        "ldmxcsr (%rax)\naddss %xmm0, %xmm1",
        "fld1\nmovq %rbx, %rdx",
        "paddb %mm1, %mm2\nmovq %rbx, %rdx",
        "movw %ax, %ds\nmovq %rbx, %rdx",
        "popfq\nmovq %rbx, %rdx",
        "retq\nmovq %rbx, %rdx",
        "movl 8(%rip), %eax\nmovq %rbx, %rdx",  # the address counts from the instruction
        "vgatherdps %xmm1, (%rax,%xmm2,4), %xmm3\nmovq %rbx, 64(%rax)",
        "btsq %rcx, (%rax)\nmovq %rbx, 64(%rax)",  # a bit number reaches far from the address
        "vaddps %ymm1, %ymm2, %ymm3\naddps %xmm3, %xmm4",
        "vaddps %ymm1, %ymm2, %ymm3\nvzeroupper",
    ],
)
def test_dependent(source: str) -> None:
    assert not free(source)


def test_a_flag_that_nobody_reads_before_it_is_written_again_lets_pass() -> None:
    source = "addq %rax, %rbx\naddq %rcx, %rdx\ncmpq %rsi, %rdi"
    assert conflicts(read(source)) == (0, 0, 0b11)
    read_between = "addq %rax, %rbx\naddq %rcx, %rdx\ncmovcq %rsi, %rdi\ncmpq %rsi, %rdi"
    assert conflicts(read(read_between))[1] == 0b1


def test_a_shift_by_a_register_may_leave_the_flags_of_before() -> None:
    source = "addq %rax, %rbx\nshlq %cl, %rdx\ncmovcq %rsi, %rdi"
    assert conflicts(read(source))[1] == 0b1
    assert flow(read("shlq %cl, %rdx\ncmovcq %rsi, %rdi")) == (0, 1)


def test_an_undefined_flag_may_be_that_of_before() -> None:
    """A shift by two leaves the overflow flag undefined, so the addition stays before it."""
    source = "addq %rax, %rbx\nshlq $2, %rdx\nsubb $1, %sil"
    assert conflicts(read(source))[1] == 0b1


def test_what_was_changed_in_between_is_another_address() -> None:
    source = "movq %rax, 8(%rbx)\naddq $8, %rbx\nmovq %rcx, (%rbx)"
    assert conflicts(read(source)) == (0, 0b1, 0b11)


def test_a_register_loaded_through_itself_is_another_address() -> None:
    assert conflicts(read("movq (%rax), %rax\nmovq %rbx, 8(%rax)")) == (0, 0b1)


# The transform


def test_lines_move_whole() -> None:
    source = "# first\nmovq %rax, %rbx  # a\n\n# second\nlock\nxaddl %eax, (%rsi)\n  movq %rcx, %rdx\n# end\n"
    rewritten = REORDER.apply(source, (Move(kind="order", site=0, value=(0, 1, 2), note=""),))
    assert rewritten == Rewritten(source=source, evidence="analysis")
    source = "# first\nmovq %rax, %rbx  # a\n\n# second\nmovq %rcx, %rdx\n# end\n"
    rewritten = REORDER.apply(source, (Move(kind="order", site=0, value=(1, 0), note=""),))
    assert rewritten == Rewritten(
        source="\n# second\nmovq %rcx, %rdx\n# first\nmovq %rax, %rbx  # a\n# end\n", evidence="analysis"
    )


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "  ", " # x"])
def test_what_stands_after_the_last_line_stays(end: str) -> None:
    source = f"movq %rax, %rbx\nmovq %rcx, %rdx{end}"
    assert REORDER.apply(source, (Move(kind="order", site=0, value=(0, 1), note=""),)) == Rewritten(
        source=source, evidence="analysis"
    )
    text = rewrite(REORDER, source)
    assert text is not None
    assert sorted(text.replace("\n", "")) == sorted(source.replace("\n", ""))
    assert text.count("\n") == source.count("\n")


def test_the_order_is_one_move_that_people_can_read() -> None:
    moves = draw(REORDER, "movq %rax, %rbx\nmovq %rcx, %rdx")
    assert moves == (Move(kind="order", site=0, value=(1, 0), note="instructions 1, 2 -> 2, 1"),)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("movq %rax, %rbx", ONE),
        ("movq %rax, %rbx\nmovq %rbx, %rcx", TOTAL),
        ("nop\nnop", TOTAL),
    ],
)
def test_refusals(source: str, expected: str) -> None:
    assert reason(REORDER, source) == expected


@pytest.mark.parametrize(
    ("value", "site", "expected"),
    [((1, 0), 0, ILLEGAL), ((0, 0), 0, ILLEGAL), ("x", 0, NOT_A_MOVE), ((0, 1), 1, NOT_A_MOVE)],
)
def test_what_is_no_legal_order_is_refused(value: str | tuple[int, ...], site: int, expected: str) -> None:
    source = "movq %rax, %rbx\nmovq %rbx, %rcx"
    assert REORDER.apply(source, (Move(kind="order", site=site, value=value, note=""),)) == Refused(expected)


def test_no_move_changes_nothing() -> None:
    assert REORDER.apply("nop", ()) == Rewritten(source="nop", evidence="analysis")


def test_orders_of_blocks_of_a_program_keep_every_dependence() -> None:
    moved = 0
    for seed, source in enumerate(own_blocks(300)):
        text = rewrite(REORDER, source, seed)
        if text is None:
            continue
        moved += 1
        assert text != source
        assert sorted(text.split("\n")) == sorted(source.split("\n"))
        block = read(source)
        # What conflicts depends on the two instructions and on what stands between, so it stays.
        assert orders.count(conflicts(read(text))) == orders.count(conflicts(block))
    assert moved > 50


# The control


def test_a_reader_stands_before_its_writer() -> None:
    source = "movq (%rdi), %rax\nmovq %rsi, %rdx\nmovq %rax, %rbx"
    assert rewrite(REORDER_BREAKING, source) in (
        "movq %rsi, %rdx\nmovq %rax, %rbx\nmovq (%rdi), %rax",
        "movq %rax, %rbx\nmovq (%rdi), %rax\nmovq %rsi, %rdx",
    )


@pytest.mark.parametrize("source", ["incq %rax\naddq $2, %rax", "movq %rax, %rbx\nmovq %rcx, %rdx"])
def test_nothing_to_break(source: str) -> None:
    assert reason(REORDER_BREAKING, source) == NO_PAIR


def test_one_instruction_has_nothing_to_break() -> None:
    assert reason(REORDER_BREAKING, "nop") == ONE


def test_a_test_and_what_depends_on_it() -> None:
    assert rewrite(REORDER_BREAKING, "cmpq %rax, %rbx\nsete %cl") == "sete %cl\ncmpq %rax, %rbx"


@pytest.mark.parametrize("value", [(0, 1, 2), (2, 1, 0), (0, 0, 0), "x"])
def test_a_control_that_breaks_nothing_or_too_much_is_refused(value: str | tuple[int, ...]) -> None:
    source = "movq %rsi, %rax\nmovq %rax, %rbx\nmovq %rbx, %rcx"
    refusal = REORDER_BREAKING.apply(source, (Move(kind="order", site=0, value=value, note=""),))
    assert isinstance(refusal, Refused)


def test_exactly_one_true_dependence_is_broken() -> None:
    made = 0
    for seed, source in enumerate(own_blocks(200)):
        moves = REORDER_BREAKING.propose(source, Random(seed))
        if isinstance(moves, Refused):
            continue
        made += 1
        block = read(source)
        order = moves[0].value
        assert not isinstance(order, str)
        pairs = broken(conflicts(block), order)
        assert pairs is not None
        ((first, second),) = pairs
        assert flow(block)[second] >> first & 1
        assert matters(block, first, second)
        assert isinstance(REORDER_BREAKING.apply(source, moves), Rewritten)
    assert made > 50


def test_an_order_that_only_exchanges_registers_breaks_nothing() -> None:
    """Two moves that write each other's source, in the other order, are the same two with other names."""
    source = "movq %rdx, %r9\nmovq %r9, %rdx"
    assert reason(REORDER_BREAKING, source) == STILL
    moves = (Move(kind="order", site=0, value=(1, 0), note=""),)
    assert REORDER_BREAKING.apply(source, moves) == Refused(STILL)
    told_apart = f"{source}\naddq $1, %rdx\nmovq %rdx, 8(%r9)"
    assert isinstance(draw(REORDER_BREAKING, told_apart), tuple)
