"""The canonical form is one text for every legal order and every renaming, and means the same."""

from random import Random

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Rewritten, Transform
from codeaudit.transforms.python.canonical import canonicalise
from codeaudit.transforms.python.identifiers.rename import RENAME, RENAME_PARAMETERS
from codeaudit.transforms.python.order.reorder import REORDER
from codeaudit.transforms.seeding import stream
from tests.transforms.python.analysis.test_program import stdlib_functions
from tests.transforms.python.order.test_reorder import behaviour, program


def test_orders_and_names_of_one_function_have_one_form() -> None:
    one = "def f(a):\n    total = 0\n    seen = []\n    for x in a:\n        total += x\n    return total, seen\n"
    other = "def f(q):\n    r = []\n    s = 0\n    for t in q:\n        s += t\n    return s, r\n"
    assert canonicalise(one) == canonicalise(other)


def test_two_chains_that_look_alike_have_one_form() -> None:
    """Nothing after them tells them apart; which begins does not count, but each goes on as it began."""
    one = "def f():\n    a = []\n    b = []\n    c = [a]\n    d = [b]\n    return 1\n"
    other = "def f():\n    a = []\n    b = []\n    d = [b]\n    c = [a]\n    return 1\n"
    crossed = "def f():\n    a = []\n    b = []\n    d = [a]\n    c = [a]\n    return 1\n"
    assert canonicalise(one) == canonicalise(other) != canonicalise(crossed)


def test_what_means_something_else_has_another_form() -> None:
    one = "def f(a):\n    x = 0\n    y = []\n    return x, y\n"
    other = "def f(a):\n    x = 0\n    y = []\n    return y, x\n"
    assert canonicalise(one) != canonicalise(other)


def test_names_above_an_else_belong_to_the_line_they_stand_in() -> None:
    one = "def f(a, p, q):\n    if a is None:\n        x = p\n        y = q\n    else:\n        x = y = q\n    return x, y\n"
    other = "def f(a, p, q):\n    if a is None:\n        y = q\n        x = p\n    else:\n        x = y = q\n    return x, y\n"
    assert canonicalise(one) == canonicalise(other)


@pytest.mark.weekly
@pytest.mark.thinned(1)
@pytest.mark.parametrize("transform", [REORDER, RENAME, RENAME_PARAMETERS], ids=lambda value: value.name)
def test_it_is_exactly_invariant_on_real_functions(transform: Transform) -> None:
    changed = 0
    for name, source in stdlib_functions():
        moves = transform.propose(source, stream(5, name))
        if not isinstance(moves, tuple):
            continue
        rewritten = transform.apply(source, moves)
        assert isinstance(rewritten, Rewritten)
        assert canonicalise(rewritten.source) == canonicalise(source), name
        changed += rewritten.source != source
    assert changed > 15


@pytest.mark.slow
def test_it_is_its_own_canonical_form() -> None:
    for name, source in stdlib_functions():
        form = canonicalise(source)
        assert canonicalise(form) == form, name


@pytest.mark.slow
def test_it_means_the_same_when_run() -> None:
    compared = 0
    for number in range(150):
        source = program(Random(number))
        try:
            compile(source, "f", "exec")
        except SyntaxError:
            continue
        assert behaviour(canonicalise(source)) == behaviour(source), source
        compared += 1
    assert compared > 80


def test_names_that_the_function_uses_from_outside_are_not_taken() -> None:
    form = canonicalise("def f(a):\n    b = v0(a)\n    return b\n")
    assert form == "def f(vv0):\n    vv1 = v0(vv0)\n    return vv1\n"


@pytest.mark.parametrize("source", ["def f(:", "x = 1"])
def test_what_is_not_a_function_is_refused(source: str) -> None:
    with pytest.raises(SourceError):
        canonicalise(source)
