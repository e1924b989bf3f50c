"""The controls: one breaks the referent relation, one the views, and both change the answer, by values."""

import pytest

from codeaudit.transforms.algebra import ALGEBRA
from codeaudit.transforms.algebra.calculus import holds
from codeaudit.transforms.algebra.expressions import parse_pair
from codeaudit.transforms.algebra.rename import (
    NO_VARIABLE,
    RENAME_MERGING,
    RENAME_VIEWS,
    UNCHANGED,
    UNDECIDED,
)
from codeaudit.transforms.algebra.views import canonical, equivalent, view
from codeaudit.transforms.interface import NOT_A_MOVE, Refused, Rewritten
from codeaudit.transforms.registry import transform_for
from tests.transforms.algebra.support import PAIR, draw, move, rewrite, some

BOTH = [transform_for(name, "algebra") for name in ALGEBRA.controls]


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("transform", BOTH, ids=lambda transform: transform.name)
def test_the_answer_changes_and_the_text_is_no_renaming(transform: object) -> None:
    assert transform in (RENAME_MERGING, RENAME_VIEWS)
    control = RENAME_MERGING if transform is RENAME_MERGING else RENAME_VIEWS
    applied = 0
    for seed, example in enumerate(some("test", 120)):
        variant = rewrite(control, example.source, seed)
        if variant is not None:
            applied += 1
            assert holds(parse_pair(variant)) is (not example.label)
            assert canonical(variant) != canonical(example.source)
            assert not equivalent(example.source, variant)
    assert applied > 40


def test_merging_keeps_views_and_breaks_referents() -> None:
    for seed in range(20):
        variant = rewrite(RENAME_MERGING, PAIR, seed)
        assert variant is not None
        before, after = PAIR.split(), variant.split()
        assert [view(word) for word in before] == [view(word) for word in after]
        assert sum(old != new for old, new in zip(before, after, strict=True)) == 1


def test_exchanging_keeps_referents_and_breaks_views() -> None:
    for seed in range(20):
        variant = rewrite(RENAME_VIEWS, PAIR, seed)
        assert variant is not None
        pairs = set(zip(PAIR.split(), variant.split(), strict=True))
        assert len(pairs) == len({old for old, _ in pairs}) == len({new for _, new in pairs})
        assert [view(word) for word in PAIR.split()] != [view(word) for word in variant.split()]


def test_a_false_pair_may_become_true() -> None:
    assert rewrite(RENAME_VIEWS, "mul x sin y =? mul x cos y") == "mul y sin x =? mul y cos x"
    wrong = "mul a0 pow x INT+ 2 =? mul INT+ 2 mul a1 x"
    assert {rewrite(RENAME_MERGING, wrong, seed) for seed in range(20)} == {
        "mul a1 pow x INT+ 2 =? mul INT+ 2 mul a1 x",
        "mul a0 pow x INT+ 2 =? mul INT+ 2 mul a0 x",
    }


def test_names_that_the_pair_has_come_first() -> None:
    source = "mul a0 add x mul a1 x =? add mul a0 mul a1 x mul a0 add INT+ 1 a1"
    for seed in range(20):
        moves = draw(RENAME_MERGING, "mul a0 mul x a1 =? mul a0 a1", seed)
        assert not isinstance(moves, Refused)
        assert moves[0].value in ("a0", "a1")
    assert draw(RENAME_MERGING, source) == Refused(UNCHANGED)


def test_refusals() -> None:
    assert draw(RENAME_MERGING, "sin x =? cos x") == Refused(NO_VARIABLE)
    assert draw(RENAME_MERGING, "add a0 sin x =? sin a0") == Refused(UNCHANGED)
    assert draw(RENAME_MERGING, "mul a0 ln x =? div INT+ 1 INT+ 0") == Refused(UNDECIDED)
    assert draw(RENAME_VIEWS, "mul a0 ln x =? div INT+ 1 INT+ 0") == Refused(UNDECIDED)
    assert draw(RENAME_VIEWS, "sin x =? INT+ 5") == Refused(UNCHANGED)
    assert rewrite(RENAME_VIEWS, "sin x =? cos x") is not None
    # A coefficient that is only added leaves no trace in the derivative, whatever it is called.
    assert draw(RENAME_MERGING, "add a0 sin x =? cos x") == Refused(UNCHANGED)


@pytest.mark.parametrize("control", [RENAME_MERGING, RENAME_VIEWS])
def test_what_is_no_move_or_changes_nothing_is_refused(control: object) -> None:
    assert control in (RENAME_MERGING, RENAME_VIEWS)
    transform = RENAME_MERGING if control is RENAME_MERGING else RENAME_VIEWS
    kind = "merge" if transform is RENAME_MERGING else "exchange"
    good = draw(transform, PAIR)
    assert not isinstance(good, Refused)
    assert isinstance(transform.apply(PAIR, good), Rewritten)
    for moves in (
        (),
        good * 2,
        (move("rename", 0, "a1"),),
        (move(kind, 99, "x"),),
        (move(kind, 0, "sin"),),
        (move(kind, 0, (1,)),),
        (move(kind, 0, "a3"),),
    ):
        assert transform.apply(PAIR, moves) == Refused(NOT_A_MOVE)
    source = "add a0 mul x a0 =? sin x"
    still = move(kind, 0, "a1")
    assert transform.apply(source, (still,)) == Refused(UNCHANGED)


def test_the_layout_of_the_text_stays() -> None:
    rewritten = RENAME_MERGING.apply("mul  a0 x =?\ta0", (move("merge", 1, "a1"),))
    assert rewritten == Rewritten(source="mul  a0 x =?\ta1", evidence="executed")
