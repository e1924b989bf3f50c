"""The canonical form is one text for every legal order and every renaming of a block, and does the same."""

import csv
import gzip
from itertools import islice, product
from random import Random

import pytest

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.x86.canonical import canonical_names, canonical_order, canonicalise
from codeaudit.transforms.x86.effects import conflicts
from codeaudit.transforms.x86.legality import Equivalent, RegisterChoices, choices, compare
from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.rename import RENAME
from codeaudit.transforms.x86.reorder import REORDER, reordered
from tests.support.data import data_set
from tests.transforms.x86.programs import random_block
from tests.transforms.x86.support import FIGURE_A, FIGURE_B, FIGURE_C, own_blocks, rewrite

SYMMETRIC = (
    "movq 8(%{a}), %{b}", "addq $1, %{a}", "leaq (%{a},%{b}), %{c}", "notq %{a}", "movq %{a}, %{b}",
    "leaq 8(%{a}), %{b}", "bswapq %{a}",
)  # fmt: skip
REGISTERS = ("rax", "rcx", "rdx", "rbx", "rsi", "rdi", "rbp", *(f"r{number}" for number in range(8, 16)))


def symmetric_block(rng: Random) -> str:
    """Many instructions of few kinds on few registers, so that much of it looks alike."""
    kinds = rng.sample(SYMMETRIC, rng.randrange(1, 4))
    names = rng.sample(REGISTERS, rng.randrange(2, 15))
    lines = (rng.choice(kinds) for _ in range(rng.randrange(2, 20)))
    return "\n".join(line.format(**{hole: rng.choice(names) for hole in "abc"}) for line in lines)


def compared(source: str, seed: int) -> int:
    """How many renamings, orders, and both after one another, were seen to have the block's own form."""
    form = canonicalise(source)
    assert canonicalise(form) == form, source
    text, count = source, 0
    for number, transform in enumerate((RENAME, REORDER, RENAME, REORDER)):
        for before in (source, text):
            after = rewrite(transform, before, 10 * seed + number)  # type: ignore[arg-type]
            if after is not None:
                assert canonicalise(after) == form, (source, after)
                count += 1
        text = after or text
    return count


def test_figure_1() -> None:
    form = "movq 64(%rsp), %rax\nsubl $1, 56(%rcx)\nmovl 16(%rax), %eax"
    assert canonicalise(FIGURE_A) == canonicalise(FIGURE_B) == form
    assert canonicalise(FIGURE_C) != form


@pytest.mark.parametrize(
    ("source", "form"),
    [
        ("movq %r9, %r8", "movq %rax, %rcx"),
        ("pushq %rbx", "pushq %rax"),  # %rsp is implied, and nobody's name
        ("movq %rsp, %rbx", "movq %rsp, %rax"),
        ("movq %r8, %r9\ndivq %r10", "divq %rcx\nmovq %rbx, %rbp"),  # %rax and %rdx are implied
        ("shlq %cl, %rbx", "shlq %cl, %rax"),
        ("addq $384, %rbx", "addq $384, %rcx"),  # the accumulator has an encoding of its own
        ("movq %rbx, %rcx\naddq $384, %rax", "addq $384, %rax\nmovq %rcx, %rdx"),
        ("movb %bh, %cl", "movb %ah, %cl"),
        ("movb %r9b, %r8b", "movb %al, %cl"),
        ("vaddps %ymm7, %ymm8, %ymm7", "vaddps %ymm0, %ymm1, %ymm0"),
        ("vpxorq %zmm20, %zmm17, %zmm20", "vpxorq %zmm16, %zmm17, %zmm16"),
        ("vmovups %zmm1, %zmm2{%k4}{z}", "vmovups %zmm0, %zmm1{%k1}{z}"),
        ("fldl (%rbx)\npaddb %mm3, %mm4", "fldl (%rax)\npaddb %mm3, %mm4"),
        ("movq %RBX,\t %R9  # %rbx", "movq %rax, %rcx"),
        ("# first\n\nlock\nincl (%rdi)\n", "lock incl (%rax)"),
        ("movq %rdi, %rbx\nsyscall", "movq %rdi, %rbx\nsyscall"),  # who is called finds arguments by name
        ("movq 8(%rip), %rbx", "movq 8(%rip), %rbx"),
    ],
)
def test_names_follow_the_rules_of_renaming(source: str, form: str) -> None:
    assert canonicalise(source) == form


@pytest.mark.slow
def test_the_form_is_a_legal_renaming_of_a_legal_order() -> None:
    blocks = [*own_blocks(200), *(random_block(Random(seed), most=12) for seed in range(200))]
    for source in blocks:
        block = read(source)
        order = canonical_order(block, choices(block))
        assert orders.is_legal(conflicts(block), order)
        judged = compare(read(reordered(block, order)), read(canonicalise(source)))
        assert isinstance(judged, Equivalent), source
        named = {base: judged.renaming.get(base, base) for base in choices(block).targets}
        assert choices(block).allows(named), source


def test_the_names_are_the_first_of_all_legal_ones() -> None:
    """Against all of them, for sets of targets that overlap in every way."""
    names = ("rax", "rcx", "rdx", "rbx", "rsi")
    for seed in range(300):
        rng = Random(seed)
        used = rng.sample(names, rng.randrange(1, 5))
        targets = {base: frozenset({base, *rng.sample(names, rng.randrange(len(names)))}) for base in used}
        legal = [choice for choice in product(*targets.values()) if len(set(choice)) == len(choice)]
        first = min(legal, key=lambda choice: [names.index(name) for name in choice])
        assert canonical_names(used, RegisterChoices(targets)) == dict(zip(used, first, strict=True))


def test_what_does_something_else_has_another_form() -> None:
    forms = [
        canonicalise(text)
        for text in (
            "addq %rax, %rbx",
            "addq %rax, %rax",
            "addl %eax, %ebx",
            "addq $1, %rbx",
            "movq %rax, %rbx\naddq %rbx, %rcx",
            "addq %rbx, %rcx\nmovq %rax, %rbx",
            "movq %rax, %rbx\naddq %rax, %rcx",
        )
    ]
    assert len(set(forms)) == len(forms)


def test_two_chains_that_look_alike_have_one_form() -> None:
    """Which of two equal chains begins does not count, but each must go on as it began."""
    one = "movq 8(%rdi), %rax\nmovq 8(%rsi), %rcx\nleaq 1(%rax), %rdx\nleaq 1(%rcx), %rbx"
    other = "movq 8(%rdi), %rax\nmovq 8(%rsi), %rcx\nleaq 1(%rcx), %rbx\nleaq 1(%rax), %rdx"
    assert canonicalise(one) == canonicalise(other)
    crossed = "movq 8(%rdi), %rax\nmovq 8(%rsi), %rcx\nleaq 1(%rax), %rdx\nleaq 1(%rax), %rbx"
    assert canonicalise(one) != canonicalise(crossed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 160, 80))
def test_it_is_exactly_invariant_where_much_looks_alike(first: int) -> None:
    assert sum(compared(symmetric_block(Random(seed)), seed) for seed in range(first, first + 80)) > 400


@pytest.mark.slow
def test_it_is_exactly_invariant_on_random_blocks() -> None:
    assert sum(compared(random_block(Random(seed), most=12), seed) for seed in range(200)) > 1000


@pytest.mark.slow
def test_it_is_exactly_invariant_on_the_blocks_of_bhive() -> None:
    csv.field_size_limit(1 << 20)
    with gzip.open(data_set("bhive_blocks.csv.gz"), "rt", encoding="utf-8") as table:
        rows = islice(csv.DictReader(table), 0, 60_000, 100)
        assert sum(compared(row["asm"], seed) for seed, row in enumerate(rows)) > 2800


@pytest.mark.parametrize("source", ["", "# nothing", "nosuch %rax"])
def test_what_is_no_block_is_refused(source: str) -> None:
    with pytest.raises(SourceError):
        canonicalise(source)
