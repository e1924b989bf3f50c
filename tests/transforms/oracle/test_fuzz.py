"""Random programs do the same after every meaning-keeping transform, and controls are noticed."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random

import pytest

from codeaudit.transforms.interface import BaseTransform, Refused, Rewritten, Transform
from codeaudit.transforms.oracle.oracle import Agreed, Differed, Inconclusive
from codeaudit.transforms.python.order.reorder import REORDER
from codeaudit.transforms.records import Move
from codeaudit.transforms.registry import ALL, TRANSFORMS, expand
from tests.support.causes import CAUSES, Cause
from tests.support.constructs import CONSTRUCTS
from tests.support.fuzzing import Difference, Judge, Tally, executed, fuzz, oracle, pair, shrink, smaller
from tests.support.programs import Grammar, program

PRESERVING = [TRANSFORMS.get(name) for name in expand([ALL], languages=["python"])]


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with oracle() as running:
        yield running


def reported(tally: Tally) -> str:
    return f"{len(tally.different)} programs differ\n{tally.smallest}" if tally.different else ""


@pytest.mark.weekly
def test_programs_do_the_same_after_every_transform(judge: Judge) -> None:
    tallies = fuzz(judge, PRESERVING, range(20), seed=21)
    assert {name: reported(tally) for name, tally in tallies.items() if tally.different} == {}
    assert tallies["rename"].equal > 15
    assert tallies["reorder"].equal > 15
    assert sum(tally.inconclusive.total() for tally in tallies.values()) < 0.15 * sum(
        tally.applied for tally in tallies.values()
    )


@pytest.mark.slow
def test_reordering_keeps_when_objects_are_dropped(judge: Judge) -> None:
    (tally,) = fuzz(judge, [REORDER], range(30), seed=22, lifetimes=True).values()
    assert reported(tally) == ""
    assert tally.equal > 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("transform", "share"), [(REORDER.under("paper"), 0.4), (TRANSFORMS.get("rename-merging"), 0.5)]
)
def test_the_oracle_notices_what_changes_the_meaning(
    judge: Judge, transform: Transform, share: float
) -> None:
    (tally,) = fuzz(judge, [transform], range(25), seed=23).values()
    assert tally.judged > 18
    assert len(tally.different) > share * tally.judged


def test_variants_that_share_a_process_are_told_apart(judge: Judge) -> None:
    text = "def f(a, b, c=2, d=3):\n    show(a)\n    import plug\n    return len(registry), bump()\n"
    other = text.replace("show(a)", "show(b)")
    ends = text.replace("bump()", "sys.exit()")
    missing = "def f(a, b, c=2, d=3):\n    return nowhere\n"
    assert judge.same(
        [(text, [text, other, text, ends, text]), (other, [text, other]), (text, []), (missing, [missing])]
    ) == [[True, False, True, False, True], [False, True], [], [False]]


def test_a_program_finds_its_own_text(judge: Judge) -> None:
    text = """\
def f(a, b, c=2, d=3):
    ###{part
    import json
    ###}part
    import math
    return section('part')
"""
    moved = text.replace("    import json\n    ###}part\n", "    ###}part\n    import json\n")
    assert judge.same([(text, [text, moved])]) == [[True, False]]
    verdict = judge.judge_pair(pair(text, moved))
    assert isinstance(verdict, Differed)
    assert "['json']" in verdict.before
    assert "[]" in verdict.after
    assert executed("def f(): pass\n") == "def f(): pass\n"


@pytest.mark.thinned(12)
@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_a_cause_can_be_put_back(cause: Cause) -> None:
    """The engine still has everything that the cause replaces, and gets it back."""
    before = {place: getattr(*place) for place in cause.patches()}
    with cause.put_back():
        assert all(getattr(*place) is not value for place, value in before.items())
    assert all(getattr(*place) is value for place, value in before.items())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "near"),
    [("3 ", 200), ("10 ", 0), ("11 a nested", 1500)],
)
def test_the_fuzzer_finds_a_cause_that_is_put_back(judge: Judge, number: str, near: int) -> None:
    """It begins where the first program stood that told; a new grammar may move it."""
    (cause,) = (cause for cause in CAUSES if cause.name.startswith(number))
    transforms = [TRANSFORMS.get(name) for name in cause.transforms]
    with cause.put_back():
        for start in (*range(near, 3000, 50), *range(0, near, 50)):
            tallies = fuzz(judge, transforms, range(start, start + 50), seed=25)
            if any(tally.different for tally in tallies.values()):
                return
    pytest.fail("not found")


@pytest.mark.thinned(10)
@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda construct: construct.__name__)
def test_every_construct_gives_whole_programs(construct: Callable[[Grammar], list[str]]) -> None:
    whole = 0
    for number in range(60):
        lines = construct(Grammar(Random(number), 5, False))
        text = "".join(f"    {line}\n" for line in lines)
        with suppress(SyntaxError):  # such as a nonlocal of a name that is used before
            compile(f"def f(a, b):\n{text}", "<construct>", "exec")
            whole += 1
    assert whole > 40


class Doubling(BaseTransform):
    """A transform that is wrong: it runs every `bump()` twice."""

    name, kind, languages, unit = "doubling", "preserving", frozenset({"python"}), "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        return (Move(kind="x", site=0, value="", note=""),) if "bump()" in source else Refused("no call")

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        return Rewritten(source=source.replace("bump()", "(bump(), bump())[0]"), evidence="parsed")


LONG = """\
def half(n): return n - 1

def f(a, b, c=2, d=3):
    if a:
        for i in (1, 2):
            xs = [i]
            c = trace(bump())
    else:
        d = half(3)
    with Guard('x'):
        pass
    return a, b
"""


@pytest.mark.slow
def test_a_difference_is_shrunk_to_a_few_statements(judge: Judge) -> None:
    doubled = Doubling().apply(LONG, ())
    assert isinstance(doubled, Rewritten)
    verdict = judge.judge_pair(pair(LONG, doubled.source))
    assert isinstance(verdict, Differed)
    small = shrink(judge, Doubling(), Difference(LONG, doubled.source, verdict))  # type: ignore[arg-type]
    assert len(small.original.splitlines()) <= 4
    assert "bump()" in small.original
    assert "before" in str(small)


@pytest.mark.slow
def test_smaller_programs_are_programs() -> None:
    programs = list(smaller(program(Random(3), size=8)))
    assert len(programs) > 10
    assert len(set(programs)) == len(set(programs) - {program(Random(3), size=8)})


@pytest.mark.slow
def test_programs_exercise_the_language_and_mostly_run(judge: Judge) -> None:
    texts = [program(Random(number), size=7) for number in range(300)]
    words = [
        "if ", "elif ", "else:", "for ", "while ", "break", "continue", "try:", "except ", "finally:", "with ", "def ",
        "nonlocal ", "lambda", "yield ", "yield from", ":=", "match ", "case ", "f'", "[1:", "o.v =", "o.p =", ".append(",
        " and ", " or ", " not in ", " is not ", " if ", "*xs", "del ", ".format(", "print(", "assert ", "+=", "raise ",
        "**dd", "return", "bump()", "fail(", "Guard(", "p = ", "# ", "; ", "except*", "class Local", "import plug", "next(",
        "locals", "_getframe", "###{", "ExceptionGroup(", "operator.", "collections.", "itertools.", "lambda: ", "nonlocal n",
        " if b else ys", "__iter__", "@property", "case [", "isinstance(", "dict(", "Echo()", "Slots()", "Source()", "0000000000",
    ]  # fmt: skip
    assert [word for word in words if sum(word in text for text in texts) < 3] == []
    ends: Counter[type] = Counter()
    for verdict in (judge.judge_pair(pair(text, text)) for text in texts[:30]):
        ends[type(verdict)] += 1
        assert not isinstance(verdict, Differed), "a program differs from itself"
        if isinstance(verdict, Agreed):
            ends["returned"] += verdict.returned
    assert ends[Agreed] > 24
    assert ends[Inconclusive] < 6
    assert ends["returned"] > 50
