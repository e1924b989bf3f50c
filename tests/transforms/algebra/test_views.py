"""Views, referents, canonical forms and alpha-equivalence of token sequences."""

from itertools import permutations

import pytest

from codeaudit.transforms.algebra.expressions import COEFFICIENTS, INPUTS, parse_pair
from codeaudit.transforms.algebra.rename import RENAME
from codeaudit.transforms.algebra.views import (
    TOKENS,
    VIEWS,
    canonical,
    encode,
    equivalent,
    movable,
    pool,
    renamed,
    view,
)
from codeaudit.transforms.errors import SourceError
from tests.transforms.algebra.support import PAIR, rewrite, some


def test_variables_of_one_kind_share_a_view_and_nothing_else_does() -> None:
    views = {token: view(token) for token in TOKENS}
    assert {views[name] for name in COEFFICIENTS} == {VIEWS - 1}
    assert {views[name] for name in INPUTS} == {VIEWS - 2}
    single = [views[token] for token in TOKENS if token not in COEFFICIENTS + INPUTS]
    assert sorted(single) == list(range(VIEWS - 2))


def test_a_pair_in_numbers() -> None:
    encoded = encode("mul a0 add y a1 =? mul a0 a1")
    assert [TOKENS[number] for number in encoded.tokens] == [
        "mul",
        "a0",
        "add",
        "y",
        "a1",
        "=?",
        "mul",
        "a0",
        "a1",
    ]
    assert encoded.referents == (0, 1, 2, 3, 4, 5, 0, 1, 4)
    assert encoded.views[1] == encoded.views[4] == encoded.views[8] != encoded.views[3]


def test_views_and_referents_are_the_same_for_every_renaming() -> None:
    changed = 0
    for seed, example in enumerate(some("test", 150) + some("extended", 50)):
        other = rewrite(RENAME, example.source, seed)
        if other is None:
            continue
        before, after = encode(example.source), encode(other)
        assert (before.views, before.referents) == (after.views, after.referents)
        assert before.tokens != after.tokens
        changed += 1
    assert changed > 150


def test_what_is_no_pair_is_not_encoded() -> None:
    with pytest.raises(SourceError, match="unknown token"):
        encode("sin t =? cos t")


def test_the_extra_coefficient_is_a_name_only_where_it_stands_already() -> None:
    assert pool("a1", "mul a1 x =? a1") == ("a0", "a1", "a2")
    assert pool("a1", "mul a1 x =? a3") == COEFFICIENTS
    assert pool("y", PAIR) == INPUTS
    assert pool("x", PAIR) == ("x",)
    assert movable("mul a1 sin mul z x =? add a0 z") == ("a1", "z", "a0")


def test_one_class_has_one_canonical_form() -> None:
    source = "mul a2 add z a0 =? mul a1 y"
    assert canonical(source) == "mul a0 add y a1 =? mul a2 z"
    forms = {
        canonical(renamed(source, {**dict(zip(("a0", "a1", "a2"), to, strict=True)), **swap}))
        for to in permutations(("a0", "a1", "a2"))
        for swap in ({}, {"y": "z", "z": "y"})
    }
    assert forms == {canonical(source)}


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("a0 a1 a0", "a2 a0 a2", True),
        ("a0 a1 a0", "a2 a0 a0", False),
        ("a0 a1", "a2 a2", False),
        ("a0 a0", "a1 a2", False),
        ("a0 y", "a1 z", True),
        ("a0 y", "y a0", False),
        ("y x", "x y", False),
        ("sin x", "cos x", False),
        ("x", "x x", False),
    ],
)
def test_equivalence_is_a_bijection_that_keeps_views(one: str, two: str, same: bool) -> None:
    assert equivalent(one, two) is same
    assert equivalent(two, one) is same
    assert (canonical(one) == canonical(two)) is same


def test_renaming_touches_names_only() -> None:
    assert renamed(" mul  a0\tx =?\n a0 ", {"a0": "a2"}) == " mul  a2\tx =?\n a2 "
    assert parse_pair(" mul  a0\tx =?\n a0 ") == parse_pair("mul a0 x =? a0")
