"""Axes that are split, merged, cut and tied: what stays free, and what is frozen because it does not line up."""

import pytest

from codeaudit.transforms.columns.axes import (
    ONE,
    Axis,
    atom,
    cut,
    fixed,
    freeze,
    product,
    split,
    total,
    unify,
)


def free(*axes: Axis) -> list[int]:
    """The sizes of the free atoms, each once."""
    atoms = {part: None for axis in axes for part in axis.atoms() if not part.frozen}
    return [part.size for part in atoms]


def test_an_axis_of_one_is_the_same_everywhere() -> None:
    assert atom(1) is ONE
    assert fixed(1).resolved() is ONE
    assert free(ONE) == []


def test_tied_atoms_are_one() -> None:
    one, other, third = atom(6), atom(6), atom(6)
    unify(one, other)
    unify(third, one)
    assert one.resolved() is other.resolved() is third.resolved()
    freeze(third)
    assert free(one, other) == []


def test_what_is_frozen_stays_so_when_tied_from_either_side() -> None:
    for first, second in ((fixed(6), atom(6)), (atom(6), fixed(6))):
        unify(first, second)
        assert free(first, second) == []


def test_a_view_splits_and_merges() -> None:
    hidden = atom(24)
    heads, width = split(hidden, [4, 6])
    assert free(hidden) == [4, 6]
    merged = product([heads, width])
    unify(merged, hidden)
    assert free(merged, hidden) == [4, 6]


def test_factors_are_split_where_the_other_side_needs_it() -> None:
    one, other = atom(24), atom(24)
    split(one, [4, 6])
    split(other, [2, 12])
    unify(one, other)
    assert free(one, other) == [2, 2, 6]


def test_factors_that_run_across_one_another_are_frozen() -> None:
    one, other = atom(24), atom(24)
    split(one, [4, 6])
    split(other, [6, 4])
    unify(one, other)
    assert free(one, other) == []


def test_what_stands_before_the_crossing_stays_free() -> None:
    one, other = atom(48), atom(48)
    split(one, [2, 4, 6])
    split(other, [2, 6, 4])
    unify(one, other)
    assert free(one, other) == [2]


def test_a_cut_makes_two_parts_that_move_apart() -> None:
    axis = atom(10)
    first, last = cut(axis, 4)
    assert (first.size, last.size) == (4, 6)
    assert free(axis) == [4, 6]
    assert cut(axis, 0)[0].size == 0
    assert cut(axis, 10)[1].size == 0


def test_a_cut_between_heads_keeps_what_is_within_them() -> None:
    axis = product([atom(4), atom(6)])
    first, _ = cut(axis, 12)
    assert free(axis) == [2, 2, 6]
    assert free(first) == [2, 6]


def test_a_cut_through_a_head_freezes() -> None:
    axis = product([atom(4), atom(6)])
    cut(axis, 7)
    assert free(axis) == []


def test_rotating_halves_ties_them_and_keeps_them_apart() -> None:
    axis = atom(8)
    first, last = cut(axis, 4)
    unify(total([last, first]), axis)
    assert free(axis) == [4]
    assert first.resolved() is last.resolved()


def test_a_fused_projection_is_a_sum_of_products() -> None:
    fused = product([atom(3), atom(4), atom(6)])
    parts = total([atom(24), atom(24), atom(24)])
    unify(fused, parts)
    assert free(fused, parts) == [4, 6]


def test_equal_segments_that_are_viewed_as_a_product_move_alike() -> None:
    axis = total([atom(5), atom(5), atom(5)])
    lead, rest = split(axis, [3, 5])
    assert free(lead) == []
    assert free(axis) == free(rest) == [5]


@pytest.mark.parametrize("sizes", [(6, 7), (1, 5)])
def test_unlike_sizes_are_frozen(sizes: tuple[int, int]) -> None:
    one, other = map(atom, sizes)
    unify(one, other)
    assert free(one, other) == []
