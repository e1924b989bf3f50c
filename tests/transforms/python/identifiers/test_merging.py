import ast
from collections import Counter
from random import Random

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.analysis.scopes import resolve
from codeaudit.transforms.python.identifiers.merging import RENAME_MERGING, certain_pairs, likely_pairs
from codeaudit.transforms.python.identifiers.obstacles import REFLECTION
from codeaudit.transforms.records import Move
from codeaudit.transforms.renaming import NO_PAIR
from tests.support.pure_functions import PROGRAMS
from tests.support.stdlib import sample


def merges(source: str) -> set[str]:
    """Every result over many draws."""
    texts = set()
    for seed in range(30):
        moves = RENAME_MERGING.propose(source, Random(seed))
        assert isinstance(moves, tuple), moves
        assert len(moves) == 1
        rewritten = RENAME_MERGING.apply(source, moves)
        assert isinstance(rewritten, Rewritten)
        texts.add(rewritten.source)
    return texts


def test_a_variable_takes_the_name_of_one_that_is_still_needed() -> None:
    assert merges("def f(n):\n    a = n\n    b = n + 1\n    return a - b\n") == {
        "def f(n):\n    a = n\n    a = n + 1\n    return a - a\n"
    }


def test_a_parameter_can_be_overwritten_but_keeps_its_name() -> None:
    assert merges("def f(n):\n    a = 1\n    return a + n\n") == {"def f(n):\n    n = 1\n    return n + n\n"}


def test_a_merge_in_a_loop_is_found_where_no_other_is() -> None:
    source = "def f(n, xs):\n    for x in xs:\n        if n > x: use(n)\n"
    (move,) = RENAME_MERGING.propose(source, Random(0))  # type: ignore[misc]
    assert (move.kind, move.value) == ("merge", "n")
    outcome = RENAME_MERGING.apply(source, (move,))
    assert outcome == Rewritten(
        source=source.replace("x in", "n in").replace("> x", "> n"), evidence="parsed"
    )


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(a): return a\n", NO_PAIR),
        ("def f():\n    a = 1\n    return a\n", NO_PAIR),
        ("def f():\n    a = 1\n    b = a\n    return b\n", NO_PAIR),
        ("def f():\n    a = g()\n    use(a)\n    b = g()\n    use(b)\n", NO_PAIR),
        ("def f(a):\n    b = a\n    return a, b\n", NO_PAIR),
        ("def f(a):\n    def g(): pass\n    return a\n", NO_PAIR),
        ("def f(a):\n    b = 1\n    return locals(), a\n", REFLECTION),
    ],
)
def test_a_function_without_two_variables_in_conflict_is_refused(source: str, reason: str) -> None:
    assert RENAME_MERGING.propose(source, Random(0)) == Refused(reason)


@pytest.mark.parametrize(
    "source",
    [
        "def f(a):\n    b = 1\n    return c and a\n",  # may not be evaluated
        "def f(a):\n    b = 1\n    return lambda: a\n",  # later, if ever
        "def f(a):\n    b = 1\n    a = 2\n    return a\n",  # written first
        "def f():\n    a = 1\n    b = 1\n    return a\n",  # the same value
        "def f(a):\n    b = a\n    return a\n",  # a copy
        "def f(a):\n    if c:\n        b = 1\n    return a\n",  # perhaps not written
        "def f():\n    a = 1\n    def g():\n        nonlocal a\n        a = 2\n    b = 3\n    g()\n    return a\n",
    ],
)
def test_what_a_block_does_not_show_is_not_certain(source: str) -> None:
    assert certain_pairs(resolve(source)) == set()


def test_moves_of_another_function_are_refused() -> None:
    source = "def f(n):\n    a = n\n    b = n + 1\n    return a - b\n"
    for site, value in ((99, "a"), (0, "a"), (3, "zzz"), (2, "b")):
        move = Move(kind="merge", site=site, value=value, note="")
        assert RENAME_MERGING.apply(source, (move,)) == Refused("not a move of this function")
    assert RENAME_MERGING.apply(source, ()) == Rewritten(source=source, evidence="parsed")


def test_text_that_does_not_parse_is_a_source_error() -> None:
    with pytest.raises(SourceError):
        RENAME_MERGING.propose("def f(:\n", Random(0))


def test_a_certain_merge_is_likely_too() -> None:
    """The two analyses are independent: a read on a straight line is a read on some path."""
    for source in sample(200):
        scopes = resolve(source)
        assert certain_pairs(scopes) <= likely_pairs(scopes), source


def test_programs_notice_a_merge() -> None:
    """A control that changes nothing would count as a model's insensitivity."""
    noticed: Counter[tuple[str, bool]] = Counter()
    for program in PROGRAMS:
        expected = program.run()
        for seed in range(4):
            moves = RENAME_MERGING.propose(program.source, Random(seed))
            if isinstance(moves, Refused):
                continue
            rewritten = RENAME_MERGING.apply(program.source, moves)
            assert isinstance(rewritten, Rewritten)
            noticed[rewritten.evidence, program.run(rewritten.source) != expected] += 1
    assert noticed["analysis", True] > 40
    assert noticed["analysis", False] <= 0.05 * noticed.total(), noticed


@pytest.mark.slow
def test_merges_in_the_standard_library_parse_and_differ() -> None:
    merged: Counter[bool] = Counter()
    for number, source in enumerate(sample(250)):
        moves = RENAME_MERGING.propose(source, Random(number))
        merged[isinstance(moves, tuple)] += 1
        if isinstance(moves, tuple):
            rewritten = RENAME_MERGING.apply(source, moves)
            assert isinstance(rewritten, Rewritten)
            assert rewritten.source != source
            assert ast.dump(ast.parse(rewritten.source)) != ast.dump(ast.parse(source))
    assert merged[True] > 80
