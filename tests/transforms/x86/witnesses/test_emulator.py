"""Differential execution: it agrees where it should, sees what is broken, and is not believed on AVX."""

from random import Random

import pytest

from codeaudit.transforms.interface import Transform
from codeaudit.transforms.x86.legality import Equivalent, compare
from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.rename import RENAME, RENAME_MERGING
from codeaudit.transforms.x86.reorder import REORDER, REORDER_BREAKING
from tests.transforms.x86.programs import random_block
from tests.transforms.x86.support import FIGURE_A, FIGURE_B, FIGURE_C, own_blocks, rewrite

pytest.importorskip("unicorn")

from codeaudit.transforms.x86.witnesses.emulator import Emulator, permutation
from codeaudit.transforms.x86.witnesses.verdicts import (
    BlocksAgreed,
    BlocksDiffered,
    BlocksFaulted,
    ExecutionVerdict,
    NotTrusted,
)


@pytest.fixture(scope="module")
def emulator() -> Emulator:
    return Emulator()


def verdict(emulator: Emulator, before: str, after: str, **renaming: str) -> ExecutionVerdict:
    return emulator.compare(read(before), read(after), renaming, Random(1))


def test_figure_1(emulator: Emulator) -> None:
    assert verdict(emulator, FIGURE_A, FIGURE_B, rax="rbx") == BlocksAgreed(3)
    assert isinstance(verdict(emulator, FIGURE_A, FIGURE_C), BlocksDiffered)
    assert isinstance(verdict(emulator, FIGURE_A, FIGURE_B), BlocksDiffered)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("movq %rax, %rbx", "movq %rcx, %rbx", "general registers"),
        ("addps %xmm1, %xmm2", "addps %xmm1, %xmm3", "vector registers"),
        ("cmpq %rax, %rbx", "testq %rax, %rbx", "flags"),
        ("movq %rax, 8(%rsp)", "movq %rax, 16(%rsp)", "memory"),
        ("movq %rax, %fs:8", "movq %rax, %gs:8", "memory"),
        ("nop", "movq (%rsp), %rax", "general registers"),
    ],
)
def test_a_difference_is_seen(emulator: Emulator, before: str, after: str, what: str) -> None:
    assert verdict(emulator, before, after) == BlocksDiffered(what)


def test_a_fault_on_one_side_is_a_difference(emulator: Emulator) -> None:
    divide = "xorl %ecx, %ecx\ndivl %ecx"
    assert isinstance(verdict(emulator, "xorl %ecx, %ecx\nnop", divide), BlocksDiffered)
    assert isinstance(verdict(emulator, divide, divide), BlocksFaulted)
    assert verdict(emulator, "nop", "nop") == BlocksAgreed(3)  # after an exception too


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("vaddps %xmm1, %xmm2, %xmm3", "AVX"),
        ("vzeroupper", "AVX"),
        ("vaddps %zmm1, %zmm2, %zmm3{%k1}", "AVX"),
        ("kmovw %k1, %k2", "AVX"),
        ("fld1", "x87 and MMX"),
        ("paddb %mm1, %mm2", "x87 and MMX"),
        ("emms", "x87 and MMX"),
        ("rdtsc", "not deterministic"),
        ("sha256rnds2 %xmm0, %xmm3, %xmm1", "not implemented"),
        ("retq", "control transfer"),
    ],
)
def test_what_the_emulator_is_not_believed_on(emulator: Emulator, source: str, reason: str) -> None:
    assert verdict(emulator, source, source) == NotTrusted(reason)


@pytest.mark.parametrize(
    "source", ["shlxq %rax, %rcx, %rax", "andnl %eax, %ecx, %eax", "aesenc %xmm1, %xmm2"]
)
def test_what_it_is_believed_on_all_the_same(emulator: Emulator, source: str) -> None:
    assert verdict(emulator, source, source) == BlocksAgreed(3)


def test_a_renaming_is_extended_to_all_registers() -> None:
    forth = permutation({"rax": "rbx", "rcx": "rax", "xmm1": "xmm9"})
    assert (forth["rax"], forth["rcx"], forth["xmm1"]) == ("rbx", "rax", "xmm9")
    assert len(forth) == len(set(forth.values())) == 32
    assert forth["rsp"] == "rsp"


@pytest.mark.parametrize("transform", [RENAME, REORDER], ids=lambda transform: transform.name)
def test_what_keeps_the_meaning_agrees(emulator: Emulator, transform: Transform) -> None:
    agreed = 0
    for seed, source in enumerate(own_blocks(120)):
        text = rewrite(transform, source, seed)
        if text is None:
            continue
        judged = compare(read(source), read(text))
        renaming = dict(judged.renaming) if isinstance(judged, Equivalent) else {}
        rng = Random(seed)
        outcome = emulator.compare(read(source), read(text), renaming, rng, same_fault=transform is RENAME)
        assert not isinstance(outcome, BlocksDiffered), (source, text)
        agreed += isinstance(outcome, BlocksAgreed)
    assert agreed > 40


@pytest.mark.parametrize("control", [RENAME_MERGING, REORDER_BREAKING], ids=lambda control: control.name)
def test_controls_differ(emulator: Emulator, control: Transform) -> None:
    made = differed = 0
    for seed, source in enumerate(own_blocks(120)):
        text = rewrite(control, source, seed)
        if text is None:
            continue
        outcome = emulator.compare(read(source), read(text), {}, Random(seed))
        made += isinstance(outcome, BlocksAgreed | BlocksDiffered)
        differed += isinstance(outcome, BlocksDiffered)
    assert differed > 0.85 * made > 30


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 160, 40))
def test_random_blocks_agree(emulator: Emulator, first: int) -> None:
    """Instructions of all kinds on few registers and places, so that most of them depend on each other."""
    agreed = {RENAME.name: 0, REORDER.name: 0}
    for seed in range(first, first + 40):
        rng = Random(seed)
        source = random_block(rng)
        for transform in (RENAME, REORDER):
            text = rewrite(transform, source, seed)
            if text is None:
                continue
            judged = compare(read(source), read(text))
            assert isinstance(judged, Equivalent) or transform is REORDER
            renaming = judged.renaming if isinstance(judged, Equivalent) else {}
            outcome = emulator.compare(
                read(source), read(text), renaming, rng, same_fault=transform is RENAME
            )
            assert not isinstance(outcome, BlocksDiffered), (outcome, source, text)
            agreed[transform.name] += isinstance(outcome, BlocksAgreed)
    assert agreed["rename"] > 30
    assert agreed["reorder"] > 15


def test_what_is_too_long_is_not_run(emulator: Emulator) -> None:
    longest = "\n".join(["addq $1, %rax"] * 2048)  # as many bytes as there is room for
    assert verdict(emulator, longest, longest) == BlocksAgreed(3)
    assert verdict(emulator, f"{longest}\nnop", f"{longest}\nnop") == NotTrusted("too long")


def test_its_version_is_told(emulator: Emulator) -> None:
    assert emulator.version[0].isdigit()
