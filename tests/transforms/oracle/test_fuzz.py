"""Random programs do the same after every meaning-keeping transform, and controls are noticed."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from codeaudit.transforms.interface import Refused, Rewritten, Transform
from codeaudit.transforms.oracle.oracle import Agreed, Differed, Inconclusive, Oracle
from codeaudit.transforms.python.order.reorder import REORDER, REORDER_NAMES_ONLY
from codeaudit.transforms.records import Move
from codeaudit.transforms.registry import ALL, TRANSFORMS, expand
from tests.support.fuzzing import Tally, fuzz, oracle, pair, shrink, smaller
from tests.support.programs import program

PRESERVING = [TRANSFORMS.get(name) for name in expand([ALL], languages=["python"])]


@pytest.fixture(scope="module")
def judge() -> Iterator[Oracle]:
    with oracle() as one:
        yield one


def reported(tally: Tally) -> str:
    return f"{len(tally.different)} programs differ\n{tally.smallest}" if tally.different else ""


@pytest.mark.slow
def test_programs_do_the_same_after_every_transform(judge: Oracle) -> None:
    tallies = fuzz(judge, PRESERVING, range(40), seed=21)
    assert {name: reported(tally) for name, tally in tallies.items() if tally.different} == {}
    assert tallies["rename"].equal > 30
    assert tallies["reorder"].equal > 30
    assert sum(tally.inconclusive.total() for tally in tallies.values()) < 0.15 * sum(
        tally.applied for tally in tallies.values()
    )


@pytest.mark.slow
def test_reordering_keeps_when_objects_are_dropped(judge: Oracle) -> None:
    (tally,) = fuzz(judge, [REORDER], range(60), seed=22, lifetimes=True).values()
    assert reported(tally) == ""
    assert tally.equal > 40


@pytest.mark.slow
@pytest.mark.parametrize(
    ("transform", "share"), [(REORDER_NAMES_ONLY, 0.4), (TRANSFORMS.get("rename-merging"), 0.5)]
)
def test_the_oracle_notices_what_changes_the_meaning(
    judge: Oracle, transform: Transform, share: float
) -> None:
    (tally,) = fuzz(judge, [transform], range(40), seed=23).values()
    assert tally.judged > 30
    assert len(tally.different) > share * tally.judged


class Doubling:
    """A transform that is wrong: it runs every `bump()` twice."""

    name, kind, languages, unit = "doubling", "preserving", frozenset({"python"}), "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        return (Move(kind="x", site=0, value="", note=""),) if "bump()" in source else Refused("no call")

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        return Rewritten(source=source.replace("bump()", "(bump(), bump())[0]"), evidence="parsed")


def test_a_difference_is_shrunk_to_a_few_statements(judge: Oracle) -> None:
    (tally,) = fuzz(judge, [Doubling()], range(30), seed=24).values()  # type: ignore[list-item]
    assert tally.different
    small = shrink(judge, Doubling(), tally.smallest)  # type: ignore[arg-type]
    assert len(small.original.splitlines()) <= 4
    assert "bump()" in small.original
    assert "before" in str(small)


def test_smaller_programs_are_programs() -> None:
    found = list(smaller(program(Random(3), size=8)))
    assert len(found) > 10
    assert len(set(found)) == len(set(found) - {program(Random(3), size=8)})


@pytest.mark.slow
def test_programs_exercise_the_language_and_mostly_run(judge: Oracle) -> None:
    texts = [program(Random(number), size=7) for number in range(300)]
    words = [
        "if ", "elif ", "else:", "for ", "while ", "break", "continue", "try:", "except ", "finally:", "with ", "def ",
        "nonlocal ", "lambda", "yield ", "yield from", ":=", "match ", "case ", "f'", "[1:", "o.v =", "o.p =", ".append(",
        " and ", " or ", " not in ", " is not ", " if ", "*xs", "del ", ".format(", "print(", "assert ", "+=", "raise ",
        "**dd", "return", "bump()", "fail(", "Guard(", "p + 1", "# ", "; ",
    ]  # fmt: skip
    assert [word for word in words if sum(word in text for text in texts) < 3] == []
    ends: Counter[type] = Counter()
    for verdict in judge.judge_all(pair(text, text) for text in texts[:60]):
        ends[type(verdict)] += 1
        assert not isinstance(verdict, Differed), "a program differs from itself"
        if isinstance(verdict, Agreed):
            ends["returned"] += verdict.returned
    assert ends[Agreed] > 50
    assert ends[Inconclusive] < 10
    assert ends["returned"] > 100
