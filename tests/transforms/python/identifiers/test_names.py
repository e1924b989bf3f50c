from random import Random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.transforms.naming import Strategy, shuffle
from codeaudit.transforms.python.identifiers.names import NATURAL, PYTHON, draw, reserved

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "shuffle"])
def test_names_are_new_distinct_and_usable(strategy: Strategy) -> None:
    old = dict(enumerate(["total", "x", "_private", "LIMIT", "Pair", "first_row", "N", *"abcdefgh"] * 30))
    new = draw(strategy, old, {"count", "index"}, Random(1))
    assert new.keys() == old.keys()
    assert len(set(new.values())) == len(new)
    assert not set(new.values()) & {"count", "index"}
    assert all(name.isidentifier() and name.isascii() and not reserved(name) for name in new.values())


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "shuffle"])
def test_names_keep_their_look(strategy: Strategy) -> None:
    new = draw(strategy, {0: "_total", 1: "LIMIT", 2: "_MAX", 3: "Pair", 4: "x"}, (), Random(2))
    assert [name.startswith("_") for name in new.values()] == [True, False, True, False, False]
    assert [name.isupper() for name in new.values()][:3] == [False, True, True]
    assert [name.islower() for name in new.values()] == [True, False, False, False, True]
    assert new[3][0].isupper()


def test_names_depend_on_the_generator_alone() -> None:
    old = {0: "a", 1: "b"}
    assert draw("natural", old, (), Random(3)) == draw("natural", old, (), Random(3))
    assert len({str(draw("natural", old, (), Random(seed))) for seed in range(20)}) == 20


def test_canonical_names_count_from_zero_and_step_over_what_is_taken() -> None:
    assert draw("canonical", {3: "b", 5: "a", 9: "_c"}, {"v1"}, Random(0)) == {3: "v0", 5: "v2", 9: "_v2"}


def test_canonical_names_stay() -> None:
    assert draw("canonical", {0: "v0", 1: "v1"}, (), Random(0)) == {0: "v0", 1: "v1"}


def test_misleading_names_say_the_opposite() -> None:
    new = draw("misleading", {0: "start", 1: "min_size", 2: "left", 3: "zzz"}, (), Random(0))
    assert (new[0], new[1], new[2]) == ("end", "max_size", "right")
    assert new[3] in NATURAL


@given(
    st.lists(st.sampled_from(["a", "b", "c", "_d", "_e", "F", "match", "len", "kept"]), max_size=9),
    st.randoms(),
)
def test_a_shuffle_is_a_bijection_that_keeps_looks(names: list[str], rng: Random) -> None:
    old = dict(enumerate(names))
    new = {**old, **shuffle(PYTHON, old, {"kept"}, rng)}
    image = {old[number]: new[number] for number in old}
    assert len(set(image.values())) == len(image)
    assert set(image.values()) == set(image)
    assert all(one.startswith("_") == other.startswith("_") for one, other in image.items())
    assert {image.get(name, name) for name in ("kept", "match", "len")} == {"kept", "match", "len"}


def test_every_name_that_can_change_in_a_shuffle_does() -> None:
    for seed in range(20):
        assert set(shuffle(PYTHON, {0: "a", 1: "b", 2: "c", 3: "a"}, (), Random(seed))) == {0, 1, 2, 3}
