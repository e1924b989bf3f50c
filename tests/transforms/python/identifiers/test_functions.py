"""Functions inside a function: renamed where nobody can see what they are called."""

from random import Random
from typing import Any

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.identifiers.definitions import NO_FUNCTION, RENAME_INNER_FUNCTIONS
from codeaudit.transforms.python.identifiers.obstacles import REFLECTION
from codeaudit.transforms.python.identifiers.survey import (
    ARGUMENTS,
    DECORATED,
    ELSEWHERE,
    IN_TEXT,
    INSIDE,
    OUT_OF_SIGHT,
    SPECIAL_KIND,
)
from codeaudit.transforms.records import Move
from codeaudit.transforms.renaming import COLLISION
from tests.support.stdlib import sample


def renamed(source: str, name: str = "h") -> str:
    moves = RENAME_INNER_FUNCTIONS.propose(source, Random(0))
    assert isinstance(moves, tuple), moves
    (move,) = moves
    chosen = Move(kind="rename", site=move.site, value=name, note="")
    outcome = RENAME_INNER_FUNCTIONS.apply(source, (chosen,))
    assert isinstance(outcome, Rewritten), outcome
    return outcome.source


def body(definition: str, result: str) -> str:
    return f"def f(a):\n    {definition}\n    return {result}\n"


@pytest.mark.parametrize(
    ("definition", "result"),
    [
        ("def g(x): return x + 1", "g(a)"),
        ("def g(x): return g(x - 1) if x else 0", "g(a)"),
        ("def g(x, y=2, *z, k=1, **w): return x, y, z, k, w", "g(a, k=3), g(1, 2, 3), g(1, q=4)"),
        ("def g(x, /): return x", "[g(i) for i in range(a)]"),
        ("def g(x): return any(i > x for i in range(9))", "g(a)"),
        ("def g(x): return sorted((i for i in range(x)), key=lambda i: -i)", "g(a)"),
        ("def g(x): return ''.join(str(i) for i in range(x))", "g(a)"),
        ("def g(x): return [i for i in range(x)]", "f'{g(a)!r:>{g(2)[1]}}'"),
        ("def g(x): return x", "(lambda: g(a))()"),
    ],
)
def test_a_function_that_is_only_called_is_renamed(definition: str, result: str) -> None:
    source = body(definition, result)
    text = renamed(source)
    assert text == source.replace("g(", "h(").replace("range(", "range(").replace("ranh(", "rang(")
    assert run(text) == run(source)


def run(source: str) -> object:
    space: dict[str, Any] = {}
    exec(source, space)
    return space["f"](3)


@pytest.mark.thinned(13)
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (body("b = 1", "a"), NO_FUNCTION),
        (body("def g(x): return x", "g"), OUT_OF_SIGHT),
        (body("def g(x): return x", "map(g, a)"), OUT_OF_SIGHT),
        (body("def g(x): return x", "g.__name__"), OUT_OF_SIGHT),
        (body("def g(x): return x", "g(a), g"), OUT_OF_SIGHT),
        (body("def g(x): return x", "g()"), ARGUMENTS),
        (body("def g(x): return x", "g(1, 2)"), ARGUMENTS),
        (body("def g(x): return x", "g(*a)"), ARGUMENTS),
        (body("def g(x): return x", "g(**a)"), ARGUMENTS),
        (body("def g(x): return x", "g(1, x=2)"), ARGUMENTS),
        (body("def g(x): return x", "g(1, y=2)"), ARGUMENTS),
        (body("def g(x, /): return x", "g(x=1)"), ARGUMENTS),
        (body("def g(x, /, **y): return x", "g(x=1)"), ARGUMENTS),
        (body("def g(*, x): return x", "g()"), ARGUMENTS),
        (body("@d\n    def g(x): return x", "g(a)"), DECORATED),
        (body("def g(x): yield x", "g(a)"), SPECIAL_KIND),
        (body("async def g(x): return x", "g(a)"), SPECIAL_KIND),
        (body("def g(x): return lambda: x", "g(a)"), INSIDE),
        (body("def g(x): return (i for i in x)", "g(a)"), INSIDE),
        (body("def g(x): return list(lambda: i)", "g(a)"), INSIDE),
        (body("def g(x): return sorted(x, key=lambda i, j: i)", "g(a)"), INSIDE),
        (body("def g(x, any): return any(i for i in x)", "g(a, a)"), INSIDE),
        (body("def g(x):\n        class C: pass\n        return C", "g(a)"), INSIDE),
        (body("def g(x):\n        def i(): pass\n        return i", "g(a)"), INSIDE),
        (body("def g(x): return x", "g(a), 'call g'"), IN_TEXT),
        (body("def g(x): return x", "g(a), a.g"), ELSEWHERE),
        (body("def g(x): return x", "g(a), a(g=1)"), ELSEWHERE),
        (body("def g(x): return x", "g(a), (lambda g: 1)"), ELSEWHERE),
        (body("g = 1\n    def g(x): return x", "g(a)"), OUT_OF_SIGHT),
        (body("def g(x): return x\n    del g", "g(a)"), OUT_OF_SIGHT),
        (body("def g(x): return x\n    def g(y): return y", "g(a)"), ELSEWHERE),
        (body("def i():\n        def g(x): return x\n        g(1)\n    i()", "g(a)"), INSIDE),
        (body("def g(x): return x", "g(a), locals()"), REFLECTION),
        (body("def g(x): return x\n    def i():\n        global g", "g(a)"), ELSEWHERE),
        (body("def __g(x): return x", "__g(a)"), "mangled or special name"),
        (body("def g(x): return x", "f'{g(a)=}'"), "name is printed by an f-string"),
        (body("def g(x): return x\n    b: g(1) = 2", "b"), "name stands in an annotation"),
        (body("def g(x): return x\n    b = []  # type: g", "g(a)"), "name stands in an annotation"),
        (
            body("def g(x): return x\n    class C(metaclass=M): b = g(1)", "C"),
            "name is read in a class with a metaclass",
        ),
    ],
)
def test_a_name_that_may_be_seen_is_refused(source: str, reason: str) -> None:
    refused = RENAME_INNER_FUNCTIONS.propose(source, Random(0))
    if isinstance(refused, tuple):  # another function of the text is free
        assert [move.note.partition(" ")[0] for move in refused] == ["i"]
    else:
        assert refused == Refused(reason)


def test_a_method_of_a_local_class_is_no_inner_function() -> None:
    source = "def f(a):\n    class C:\n        def g(self): return 1\n    return C().g()\n"
    assert RENAME_INNER_FUNCTIONS.propose(source, Random(0)) == Refused(NO_FUNCTION)


@pytest.mark.parametrize("name", ["a", "x", "f", "len", "class", "match", "__h", "_C__h", "h h", "ﬁ"])
def test_a_name_that_is_taken_or_no_name_is_refused(name: str) -> None:
    source = body("def g(x): return x", "g(a)")
    move = Move(kind="rename", site=2, value=name, note="")
    assert RENAME_INNER_FUNCTIONS.apply(source, (move,)) == Refused(COLLISION)


def test_moves_of_another_function_are_refused() -> None:
    source = body("def g(x): return x", "g(a)")
    for site in (0, 1, 99):
        move = Move(kind="rename", site=site, value="h", note="")
        assert RENAME_INNER_FUNCTIONS.apply(source, (move,)) == Refused("not a move of this function")
    assert RENAME_INNER_FUNCTIONS.apply(source, ()) == Rewritten(source=source, evidence="analysis")


def test_a_function_that_does_not_compile_alone_is_proved_by_its_tree() -> None:
    source = body("def g(x): return x\n    nonlocal n", "g(a)")
    moves = RENAME_INNER_FUNCTIONS.propose(source, Random(0))
    assert isinstance(moves, tuple)
    outcome = RENAME_INNER_FUNCTIONS.apply(source, moves)
    assert isinstance(outcome, Rewritten)
    assert outcome.evidence == "analysis"


@pytest.mark.parametrize("source", ["def f(:\n", "x = 1\n"])
def test_text_that_is_no_function_is_a_source_error(source: str) -> None:
    with pytest.raises(SourceError):
        RENAME_INNER_FUNCTIONS.propose(source, Random(0))


@pytest.mark.slow
def test_whatever_is_proposed_for_the_standard_library_applies() -> None:
    applied = 0
    for number, source in enumerate(sample(4000)):
        moves = RENAME_INNER_FUNCTIONS.propose(source, Random(number)) if "    def " in source else None
        if isinstance(moves, tuple):
            assert isinstance(RENAME_INNER_FUNCTIONS.apply(source, moves), Rewritten), source
            applied += 1
    assert applied >= 10
