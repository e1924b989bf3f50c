"""Delta debugging: the planted culprit is what is left."""

from collections.abc import Callable, Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from codeaudit.audit.search.shrinking import minimal

Part = tuple[int, ...]


def left_of(items: Sequence[int], fails: Callable[[Part], bool]) -> Part:
    def first(candidates: Iterator[Part]) -> Part | None:
        return next(filter(fails, candidates), None)

    return minimal(items, first)


@given(st.integers(1, 60), st.sets(st.integers(0, 59), min_size=1, max_size=4))
def test_what_is_left_is_the_planted_set(size: int, planted: set[int]) -> None:
    planted = {number % size for number in planted}
    assert set(left_of(range(size), lambda part: planted <= set(part))) == planted


@given(st.integers(1, 40), st.integers(0, 39), st.integers(0, 39))
def test_either_of_two_culprits_is_enough(size: int, one: int, other: int) -> None:
    wanted = {one % size, other % size}
    (left,) = left_of(range(size), lambda part: bool(wanted & set(part)))
    assert left in wanted


def test_one_culprit_of_many_takes_few_questions() -> None:
    asked: list[Part] = []

    def fails(part: Part) -> bool:
        asked.append(part)
        return 700 in part

    assert left_of(range(1000), fails) == (700,)
    assert len(asked) <= 24


def test_without_answers_everything_is_kept() -> None:
    assert left_of(range(5), lambda part: False) == (0, 1, 2, 3, 4)
