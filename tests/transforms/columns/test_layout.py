"""Places in a layout: what a permutation makes of an axis, and the way to a file and back."""

from random import Random

import numpy as np
import pytest

from codeaudit.transforms.columns.layout import Fixed, Layout, Member, Product, Sum, draw, indices, inverse

TURN = np.array([2, 0, 1])
SWAP = np.array([1, 0])


def test_a_product_moves_heads_and_what_is_within_them() -> None:
    place = Product((Member(1, 2), Member(0, 3)))
    positions = indices(place, [TURN, SWAP])
    assert positions is not None
    assert positions.tolist() == [5, 3, 4, 2, 0, 1]


def test_a_sum_moves_each_segment_in_its_place() -> None:
    place = Sum((Member(0, 3), Fixed(2), Member(0, 3)))
    positions = indices(place, [TURN, SWAP])
    assert positions is not None
    assert positions.tolist() == [2, 0, 1, 3, 4, 7, 5, 6]


def test_what_has_no_group_does_not_move() -> None:
    assert indices(Product((Fixed(2), Fixed(3))), [TURN]) is None


def test_the_inverse_undoes() -> None:
    permutations = draw((7, 5), Random(0))
    for order, back in zip(permutations, inverse(permutations), strict=True):
        assert np.array_equal(order[back], np.arange(len(order)))


def test_a_file_gives_the_layout_back() -> None:
    layout = Layout(
        sizes=(3, 2),
        tensors={
            "w": (Product((Member(1, 2), Member(0, 3))), Fixed(4)),
            "b": (Sum((Member(0, 3), Fixed(1))),),
        },
    )
    assert Layout.from_json(layout.as_json()) == layout
    assert round(layout.bits, 6) == round(float(np.log2(6) + np.log2(2)), 6)


@pytest.mark.parametrize("place", [3, -1, True, "*", ["*"], ["-", 0], [-2], [1.5], None])
def test_a_place_that_is_none_is_refused(place: object) -> None:
    with pytest.raises(ValueError, match="not an axis"):
        Layout.from_json({"groups": [3, 2], "tensors": {"w": [place]}})


def test_groups_that_are_not_wanted_are_kept() -> None:
    layout = Layout(sizes=(3, 2), tensors={"w": (Member(0, 3), Member(1, 2)), "b": (Member(0, 3),)})
    chosen = layout.only({1: 0})
    assert chosen.sizes == (2,)
    assert chosen.tensors == {"w": (Fixed(3), Member(0, 2))}


def test_tensors_get_their_new_names() -> None:
    layout = Layout(sizes=(3,), tensors={"w": (Member(0, 3),), "b": (Member(0, 3),)})
    chosen = layout.only({0: 0}, {"new": "w", "twice": "w", "gone": "c"})
    assert chosen.tensors == {"new": (Member(0, 3),), "twice": (Member(0, 3),)}
