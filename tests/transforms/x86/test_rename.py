"""`rename`: each rule of the encoding, of implied registers and of cost; subsets of moves; the text."""

from collections import Counter
from itertools import permutations, product
from random import Random

import pytest

from codeaudit.transforms.interface import NOT_A_MOVE, Refused, Rewritten
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Move, Origin, Perturbed, Sample
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.x86.legality import Equivalent, choices, compare
from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.registers import BASES, registers
from codeaudit.transforms.x86.rename import (
    ALL_FIXED,
    ILLEGAL,
    LEAVES,
    NO_REGISTER,
    RELATIVE,
    RENAME,
    SAVES,
    RegisterRename,
)
from tests.transforms.x86.support import FIGURE_A, draw, own_blocks, reason, rewrite

LEGACY = set(BASES["gp"][:8])


def targets(source: str, base: str) -> set[str]:
    """What a base of a block may become."""
    return set(choices(read(source)).targets[base])


def moves_of(source: str, **renaming: str) -> tuple[Move, ...]:
    """Moves that rename some registers."""
    bases = list(choices(read(source)).targets)
    return tuple(
        Move(kind="rename", site=bases.index(base), value=target, note="")
        for base, target in renaming.items()
    )


def test_figure_1() -> None:
    rewritten = RENAME.apply(FIGURE_A, moves_of(FIGURE_A, rax="rbx"))
    assert rewritten == Rewritten(
        source="movq 64(%rsp), %rbx\nsubl $1, 56(%rbp)\nmovl 16(%rbx), %ebx", evidence="analysis"
    )


def test_only_names_of_registers_change() -> None:
    source = "  addq\t$8,  %rax   # rax = %rax\n\n# %rax\nlock\n\txaddl %eax, 8( %rbx , %rcx,4 )\n"
    rewritten = RENAME.apply(source, moves_of(source, rbx="r8", rcx="rsi"))
    assert isinstance(rewritten, Rewritten)
    assert rewritten.source == source.replace("%rbx", "%r8").replace("%rcx", "%rsi")


def test_every_view_of_a_base_follows() -> None:
    source = "movb %ah, %al\nmovw %ax, %cx\nmovl %eax, %ecx\nmovq %rax, %rcx"
    rewritten = RENAME.apply(source, moves_of(source, rax="rbx"))
    assert isinstance(rewritten, Rewritten)
    assert rewritten.source == source.replace("ax", "bx").replace("%ah", "%bh").replace("%al", "%bl")


def test_one_register_is_one_move() -> None:
    moves = draw(RENAME, FIGURE_A, seed=1)
    assert not isinstance(moves, Refused)
    assert {move.kind for move in moves} == {"rename"}
    assert [move.note.split(" -> ")[0] for move in moves] == ["rax", "rbp"]
    assert [move.note.split(" -> ")[1] for move in moves] == [move.value for move in moves]


def test_any_legal_subset_of_the_moves_stands_alone() -> None:
    source = "addq %rax, %rbx\nsubq %rcx, %rdx"
    swap = moves_of(source, rax="rbx", rbx="rax", rcx="r9")
    assert isinstance(RENAME.apply(source, swap), Rewritten)
    assert isinstance(RENAME.apply(source, swap[2:]), Rewritten)
    assert RENAME.apply(source, swap[:1]) == Refused(ILLEGAL)
    assert RENAME.apply(source, ()) == Rewritten(source=source, evidence="analysis")


@pytest.mark.parametrize(
    "renaming",
    [{"rax": "rbx", "rcx": "rbx"}, {"rax": "rsp"}, {"rax": "xmm1"}, {"rax": "rcx"}, {"rax": "eax"}],
)
def test_what_is_no_bijection_within_a_class_is_refused(renaming: dict[str, str]) -> None:
    source = "addq %rax, %rcx"
    assert RENAME.apply(source, moves_of(source, **renaming)) == Refused(ILLEGAL)


@pytest.mark.parametrize(
    "move",
    [
        Move(kind="rename", site=5, value="rbx", note=""),
        Move(kind="rename", site=-1, value="rbx", note=""),
        Move(kind="rename", site=0, value=(1,), note=""),
    ],
)
def test_what_is_no_move_is_refused(move: Move) -> None:
    assert RENAME.apply("addq %rax, %rcx", (move,)) == Refused(NOT_A_MOVE)


def test_a_move_stands_once() -> None:
    move = moves_of("addq %rax, %rcx", rax="rbx")
    assert RENAME.apply("addq %rax, %rcx", move * 2) == Refused(NOT_A_MOVE)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("pushq $8", NO_REGISTER),
        ("shrl 4(%rsp)", ALL_FIXED),
        ("cqto\nidivq %rdx", ALL_FIXED),
        ("movl 8(%rip), %eax", RELATIVE),
        ("movq %rax, %rbx\nsyscall", LEAVES),
        ("movq %rax, %rbx\nretq", LEAVES),
        ("movq %rax, %rbx\nud2", LEAVES),
        ("movaps %xmm1, %xmm2\nfxsave (%rbx)", SAVES),
    ],
)
def test_refusals(source: str, expected: str) -> None:
    assert reason(RENAME, source) == expected


# Rules


def test_the_stack_pointer_stays_and_is_nobodys_target() -> None:
    assert targets("movq 8(%rsp), %rax", "rsp") == {"rsp"}
    assert "rsp" not in targets("movq %rbx, %rax", "rax")


def test_the_stack_pointer_may_be_let_go_where_it_is_no_stack_pointer() -> None:
    assert len(choices(read(FIGURE_A), stack=True).targets["rsp"]) == 16
    assert choices(read(f"{FIGURE_A}\npushq %rbx"), stack=True).targets["rsp"] == {"rsp"}
    assert any(
        "%rsp" not in (rewrite(RegisterRename(stack=True), FIGURE_A, seed) or "%rsp") for seed in range(9)
    )


def test_an_index_is_never_the_stack_pointer() -> None:
    by_base = choices(read("movq (%rax,%rbx,8), %rcx"), stack=True).targets
    assert "rsp" in by_base["rax"]
    assert "rsp" not in by_base["rbx"]


def test_an_implied_register_that_no_text_names_is_nobodys_target() -> None:
    assert "rsp" not in choices(read("pushq %rax"), stack=True).targets["rax"]
    assert "rdx" not in targets("mulq %rbx", "rbx")
    assert "rax" not in targets("divq %rbx", "rbx")
    assert not targets("cpuid\nmovq %rdi, %rsi", "rdi") & {"rax", "rbx", "rcx", "rdx"}


def test_a_fixed_operand_stays() -> None:
    assert targets("shll %cl, %eax", "rcx") == {"rcx"}
    assert "rcx" not in targets("shll %cl, %eax", "rax")
    assert targets("cmpxchgl %ecx, %eax", "rax") == {"rax"}
    assert targets("blendvps %xmm0, %xmm1, %xmm0", "xmm0") == {"xmm0"}


def test_a_name_that_is_no_operand_stays() -> None:
    assert targets("xchgw %ax, %ax\nmovl %eax, %ebx", "rax") == {"rax"}


def test_a_high_byte_keeps_its_instruction_encodable() -> None:
    source = "movb %ah, %bl\naddq %rax, %r9"
    assert targets(source, "rax") == {"rax", "rbx", "rcx", "rdx"}
    assert targets(source, "rbx") == {"rax", "rbx", "rcx", "rdx"}
    assert targets("movb %ah, (%rsi,%rdi)", "rsi") == LEGACY - {"rsp"}
    assert "r8" in targets(source, "r9")


@pytest.mark.parametrize(
    "line", ["addl $1, {}", "sbbq $0, {}", "cmpw $9, {}", "testb $1, {}", "xorl $-1, {}", "xchgl %ebx, {}"]
)
def test_who_is_the_accumulator_stays_so_where_it_has_a_shorter_form(line: str) -> None:
    names = {"l": ("%eax", "%ecx"), "q": ("%rax", "%rcx"), "w": ("%ax", "%cx"), "b": ("%al", "%cl")}
    accumulator, other = (line.format(name) for name in names[line.split()[0][-1]])
    assert targets(accumulator, "rax") == {"rax"}
    assert "rax" not in targets(other, "rcx")


@pytest.mark.parametrize(
    "line", ["addl %ebx, %ecx", "movl $1, %ecx", "leal 1(%rcx), %ebx", "addl $1, (%rcx)"]
)
def test_other_instructions_have_no_accumulator(line: str) -> None:
    assert "rax" in targets(line, "rcx")


def test_vector_registers_that_only_evex_reaches_stay_among_themselves() -> None:
    source = "vaddps %xmm17, %xmm2, %xmm3"
    assert targets(source, "xmm17") == set(BASES["vec"][16:])
    assert targets(source, "xmm2") == set(BASES["vec"][:16])
    assert targets("vaddps %zmm1, %zmm2, %zmm3", "xmm1") == set(BASES["vec"][:16])


def test_views_of_vectors_share_a_base() -> None:
    source = "vmovaps %xmm1, %xmm2\nvaddps %ymm1, %ymm2, %ymm3"
    rewritten = RENAME.apply(source, moves_of(source, xmm1="xmm9"))
    assert isinstance(rewritten, Rewritten)
    assert rewritten.source == "vmovaps %xmm9, %xmm2\nvaddps %ymm9, %ymm2, %ymm3"


def test_the_mask_that_masks_nothing_is_nobodys_target() -> None:
    source = "vaddps %zmm1, %zmm2, %zmm3{%k1}\nkmovw %k0, %eax"
    assert targets(source, "k0") == {"k0"}
    assert targets(source, "k1") == set(BASES["k"][1:])


def test_after_vzeroupper_vector_registers_stay() -> None:
    assert targets("vaddps %ymm1, %ymm2, %ymm3\nvzeroupper", "xmm1") == {"xmm1"}


def test_mmx_registers_stay_beside_x87_code() -> None:
    assert targets("paddb %mm1, %mm2", "mm1") == set(BASES["mmx"])
    assert targets("paddb %mm1, %mm2\nfld1", "mm1") == {"mm1"}


def test_a_gather_keeps_its_registers_apart() -> None:
    source = "vgatherdps %xmm1, (%rax,%xmm2,4), %xmm3"
    for seed in range(50):
        text = rewrite(RENAME, source, seed)
        assert text is not None
        assert len({token.register.base for token in read(text).operations[0].tokens}) == 4


@pytest.mark.parametrize("text", ["movq %ds, %rax", "fadd %st(1), %st", "movq %cr0, %rax"])
def test_what_is_not_renamed_keeps_its_name(text: str) -> None:
    renamed = rewrite(RENAME, f"{text}\nmovq %rbx, %rdi", 1)
    assert renamed is not None
    assert [name for name in ("%ds", "%st(1), %st", "%cr0") if name in text] == [
        name for name in ("%ds", "%st(1), %st", "%cr0") if name in renamed
    ]


# Distribution


@pytest.mark.parametrize(
    "source",
    [
        "movb %ah, %cl\naddl $1, %edx",  # sets of targets that are not nested
        "movb %ah, (%rsi)",
        "movb %dh, %bl\nxorb $3, %cl",
    ],
)
def test_renamings_are_drawn_uniformly(source: str) -> None:
    options = choices(read(source))
    few = {base: options.targets[base] & {*LEGACY} for base in options.targets}
    small = type(options)({base: frozenset(few[base]) for base in few})
    legal = {
        drawn
        for drawn in product(*(sorted(small.targets[base]) for base in small.targets))
        if len(set(drawn)) == len(drawn)
    }
    rng = Random(1)
    draws = 60 * len(legal)
    counts = Counter(tuple(small.draw(rng).values()) for _ in range(draws))
    assert counts.keys() == legal
    expected = draws / len(legal)
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    freedom = len(legal) - 1
    assert abs(statistic - freedom) < 5 * (2 * freedom) ** 0.5


def test_two_registers_can_swap() -> None:
    names = {text for seed in range(400) if (text := rewrite(RENAME, "movq %rax, %rbx", seed))}
    every = {f"movq %{a}, %{b}" for a, b in permutations(set(BASES["gp"]) - {"rsp"}, 2)}
    assert "movq %rbx, %rax" in names
    assert names <= every - {"movq %rax, %rbx"}
    assert len(names) > 150


# Whole blocks


def test_blocks_of_a_program_are_renamed_and_proven() -> None:
    blocks = own_blocks(400)
    renamed = 0
    for seed, source in enumerate(blocks):
        text = rewrite(RENAME, source, seed)
        if text is None:
            continue
        judged = compare(read(source), read(text))
        assert isinstance(judged, Equivalent), source
        assert any(old != new for old, new in judged.renaming.items())
        assert views(source) == views(text)
        renamed += 1
    assert renamed > 0.9 * len(blocks)


def views(source: str) -> list[str]:
    """The views of all registers in the order of the text."""
    return [token.register.view for operation in read(source).operations for token in operation.tokens]


def test_the_driver_makes_distinct_variants() -> None:
    sample = Sample(id="b", language="x86", source=FIGURE_A, label=None, origin=Origin(path="", line=1))
    outcomes = list(perturb_one(sample, transform_for("rename", "x86"), variants=8, seed=0))
    assert all(isinstance(outcome, Perturbed) and outcome.evidence == "analysis" for outcome in outcomes)
    assert len({outcome.source for outcome in outcomes if isinstance(outcome, Perturbed)}) == 8
    assert outcomes == list(perturb_one(sample, transform_for("rename", "x86"), variants=8, seed=0))


def test_a_renaming_back_gives_the_text_back() -> None:
    compared = 0
    for seed, source in enumerate(own_blocks(100)):
        moves = draw(RENAME, source, seed)
        if isinstance(moves, Refused):
            continue
        there = RENAME.apply(source, moves)
        assert isinstance(there, Rewritten)
        forth = {
            token.register.base: token.register.base
            for operation in read(source).operations
            for token in operation.tokens
        }
        judged = compare(read(source), read(there.source))
        assert isinstance(judged, Equivalent)
        back = {judged.renaming[base]: base for base in forth if judged.renaming[base] != base}
        assert RENAME.apply(there.source, moves_of(there.source, **back)) == Rewritten(
            source=source, evidence="analysis"
        )
        compared += 1
    assert compared > 50


def test_all_names_are_known() -> None:
    assert {name for name in registers() if name.startswith("r")} >= set(BASES["gp"])
