"""`rename`: legality, subsets of moves, evidence that is computed again, and what is asked stays."""

from collections import Counter
from random import Random

import pytest

from codeaudit.transforms.algebra.calculus import derivative, holds
from codeaudit.transforms.algebra.expressions import parse_pair
from codeaudit.transforms.algebra.rename import ILLEGAL, NO_VARIABLE, RENAME
from codeaudit.transforms.algebra.views import canonical
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import NOT_A_MOVE, Refused, Rewritten
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import NotApplied, Origin, Perturbed, Sample
from tests.transforms.algebra.support import PAIR, draw, move, rewrite, some


def sample(source: str) -> Sample:
    return Sample(id=source, language="algebra", source=source, label=None, origin=Origin(path="", line=1))


def test_generated_pairs_keep_their_truth_and_their_class() -> None:
    applied = 0
    for seed, example in enumerate(some("test", 200) + some("extended", 60)):
        variant = rewrite(RENAME, example.source, seed)
        if variant is None:
            continue
        applied += 1
        pair = parse_pair(variant)
        assert variant != example.source
        assert canonical(variant) == canonical(example.source)
        assert holds(pair) is example.label
        assert (derivative(pair.function) == pair.candidate) is example.label
    assert applied > 220


def test_every_outcome_of_the_driver_carries_analysis() -> None:
    outcomes = [
        outcome
        for e in some("test", 60)
        for outcome in perturb_one(sample(e.source), RENAME, variants=4, seed=3)
    ]
    kept = [outcome for outcome in outcomes if isinstance(outcome, Perturbed)]
    assert {outcome.evidence for outcome in kept} == {"analysis"}
    assert len({(outcome.sample.id, outcome.source) for outcome in kept}) == len(kept) > 150
    reasons = {outcome.reason for outcome in outcomes if isinstance(outcome, NotApplied)}
    assert reasons <= {NO_VARIABLE, "no further distinct variant"}


def test_one_variable_is_one_move() -> None:
    moves = draw(RENAME, PAIR, seed=1)
    assert not isinstance(moves, Refused)
    assert {(renaming.kind, renaming.note) for renaming in moves} == {
        ("rename", "y -> z"),
        ("rename", "a0 -> a2"),
    } or {renaming.note.split(" -> ")[0] for renaming in moves} <= {"a0", "y"}
    for renaming in moves:
        assert renaming.note.endswith(f" -> {renaming.value}")


def test_every_legal_renaming_is_drawn_about_equally_often() -> None:
    drawn = Counter(rewrite(RENAME, PAIR, seed) for seed in range(1000))
    assert len(drawn) == 5  # three coefficients times two inputs, without the identity
    assert min(drawn.values()) > 140


def test_any_legal_subset_of_the_moves_stands_alone() -> None:
    source = "mul a0 add a1 mul y x =? mul a0 y"
    swap = (move("rename", 0, "a1"), move("rename", 1, "a0"), move("rename", 2, "z"))
    assert RENAME.apply(source, swap) == Rewritten(
        source="mul a1 add a0 mul z x =? mul a1 z", evidence="analysis"
    )
    assert isinstance(RENAME.apply(source, swap[:2]), Rewritten)
    assert isinstance(RENAME.apply(source, swap[2:]), Rewritten)
    assert RENAME.apply(source, swap[:1]) == Refused(ILLEGAL)
    assert RENAME.apply(source, ()) == Rewritten(source=source, evidence="analysis")


@pytest.mark.parametrize(
    ("site", "value"), [(0, "y"), (0, "x"), (0, "a3"), (0, "sin"), (1, "x"), (1, "a1"), (1, "b")]
)
def test_what_is_no_bijection_within_a_view_is_refused(site: int, value: str) -> None:
    assert RENAME.apply(PAIR, (move("rename", site, value),)) == Refused(ILLEGAL)


@pytest.mark.parametrize(
    "moves",
    [
        (move("rename", 2, "a1"),),
        (move("rename", -1, "a1"),),
        (move("rename", 0, (1,)),),
        (move("merge", 0, "a1"),),
        (move("rename", 0, "a1"), move("rename", 0, "a2")),
    ],
)
def test_what_is_no_move_is_refused(moves: tuple[object, ...]) -> None:
    assert RENAME.apply(PAIR, moves) == Refused(NOT_A_MOVE)  # type: ignore[arg-type]


def test_the_extra_coefficient_takes_part_where_it_stands() -> None:
    source = "mul a3 x =? a3"
    assert {rewrite(RENAME, source, seed) for seed in range(50)} == {
        f"mul {name} x =? {name}" for name in ("a0", "a1", "a2")
    }
    assert not any("a3" in str(rewrite(RENAME, PAIR, seed)) for seed in range(50))


def test_what_cannot_be_renamed_is_refused_or_no_pair() -> None:
    assert draw(RENAME, "sin x =? cos x") == Refused(NO_VARIABLE)
    for call in (lambda: RENAME.propose("sin a0", Random(0)), lambda: RENAME.apply("sin a0", ())):
        with pytest.raises(SourceError, match="0 times"):
            call()
