"""Parentheses that change nothing, and commas before closing brackets."""

import pytest

from codeaudit.transforms.python.layout import brackets
from codeaudit.transforms.python.layout.brackets import (
    INSERT_PARENTHESES,
    INSERT_TRAILING_COMMAS,
    REMOVE_PARENTHESES,
    REMOVE_TRAILING_COMMAS,
)
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.records import Perturbed
from tests.transforms.python.order.support import outcome, reasons, untouched, variants

EVERYWHERE: dict[str, tuple[PythonRule, str, str]] = {
    "operations, calls, conditions": (
        INSERT_PARENTHESES,
        "if not a < b + 1:\n    c = f(d)[0]\n",
        "if (not (a < (b + 1))):\n    c = ((f(d))[0])\n",
    ),
    "what is returned": (
        INSERT_PARENTHESES,
        "def f(a):\n    return a, 1\n",
        "def f(a):\n    return (a, 1)\n",
    ),
    "an assignment expression": (INSERT_PARENTHESES, "if a := b: c\n", "if (a := b): c\n"),
    "a yield": (INSERT_PARENTHESES, "def f():\n    a = yield b\n", "def f():\n    a = (yield b)\n"),
    "a slice keeps its colons": (INSERT_PARENTHESES, "a[b + 1:f(c), 2]\n", "a[(b + 1):(f(c)), 2]\n"),
    "a loop over a tuple": (INSERT_PARENTHESES, "for a in b, c: pass\n", "for a in (b, c): pass\n"),
    "with": (INSERT_PARENTHESES, "with f(a), f(b) as c: pass\n", "with (f(a)), (f(b)) as c: pass\n"),
    "names and brackets": (REMOVE_PARENTHESES, "a = (b), ([c]), (d).e, (f)(g)\n", "a = b, [c], d.e, f(g)\n"),
    "arguments and elements": (
        REMOVE_PARENTHESES,
        "f((a + b), c=(not d), *[(e or f)])\n",
        "f(a + b, c=not d, *[e or f])\n",
    ),
    "tighter operations": (
        REMOVE_PARENTHESES,
        "a = (b * c) + d - (-e) < (f ** g) or (h and i)\n",
        "a = b * c + d - -e < f ** g or h and i\n",
    ),
    "the left side": (REMOVE_PARENTHESES, "a = (b - c) - d\n", "a = b - c - d\n"),
    "statements": (
        REMOVE_PARENTHESES,
        "if (a and b):\n    c = (d if e else f)\n",
        "if a and b:\n    c = d if e else f\n",
    ),
    "words stay apart": (
        REMOVE_PARENTHESES,
        "def f(a):\n    return(a)if(b)else(1)\n",
        "def f(a):\n    return a if b else 1\n",
    ),
    "one pair of two": (REMOVE_PARENTHESES, "a = ((b + c)) * d\n", "a = (b + c) * d\n"),
    "a returned tuple": (
        REMOVE_PARENTHESES,
        "def f(a):\n    return (a, *b)\n",
        "def f(a):\n    return a, *b\n",
    ),
    "targets": (REMOVE_PARENTHESES, "for (a, b) in c: (d, e) = (f, g)\n", "for a, b in c: d, e = f, g\n"),
    "commas are added": (
        INSERT_TRAILING_COMMAS,
        "def f(a, *, b):\n    g(a, *b, **c)\n    return [a], {b}, {a: b}, (a, b)\n",
        "def f(a, *, b,):\n    g(a, *b, **c,)\n    return [a,], {b,}, {a: b,}, (a, b,)\n",
    ),
    "commas are added before comments": (
        INSERT_TRAILING_COMMAS,
        "a = [\n    b  # c\n]\n",
        "a = [\n    b,  # c\n]\n",
    ),
    "a generator in parentheses of its own": (
        INSERT_TRAILING_COMMAS,
        "f((a for a in b))\n",
        "f((a for a in b),)\n",
    ),
    "commas go": (
        REMOVE_TRAILING_COMMAS,
        "def f(a, *b,):\n    g(a,)\n    return [a,], {b, }, {a: b,}, (a, b,)\n",
        "def f(a, *b):\n    g(a)\n    return [a], {b }, {a: b}, (a, b)\n",
    ),
}


@pytest.mark.parametrize("case", EVERYWHERE)
def test_every_site(case: str) -> None:
    rule, before, after = EVERYWHERE[case]
    edit = outcome(rule, before)
    assert isinstance(edit, Perturbed), edit
    assert edit.source == after


NEEDED = [
    "a = (b + c) * d",
    "a = b - (c - d)",
    "a = (b ** c) ** d",
    "a = (-b) ** c",
    "a = (b < c) < d",
    "a = (not b) == c",
    "a = not (not b)",
    "a = (b or c) or d",
    "a = (b if c else d) + e",
    "a = (lambda: b)()",
    "a = (1).real",
    "a = b if c else (d if e else f)",
    "a = [b for b in (c if d else e)]",
    "f((yield), (a, b))",
    "print((a := b))",
    "a = ()",
    "a = b[(c, d)]",
    "a = *(b or c), d",
    "a = (await_ or b).c",
    "assert (a, b)",
]


@pytest.mark.parametrize("source", NEEDED)
def test_parentheses_that_are_needed(source: str) -> None:
    text = f"def g():\n    {source}\n"
    assert untouched(REMOVE_PARENTHESES, text)
    assert reasons(REMOVE_PARENTHESES, text) == {brackets.NEEDED}


DECLINED: dict[str, tuple[PythonRule, str, str]] = {
    "parentheses that hold a line break": (REMOVE_PARENTHESES, "a = (b\n+ c)\n", brackets.OVER_LINES),
    "a comma would make a tuple of a generator": (
        INSERT_TRAILING_COMMAS,
        "f(a for a in b)\n",
        brackets.SOLE_GENERATOR,
    ),
    "no comma behind starred parameters": (
        INSERT_TRAILING_COMMAS,
        "def f(*a): pass\n",
        brackets.STARRED,
    ),
    "the comma of a tuple": (REMOVE_TRAILING_COMMAS, "a = (b,)\n", brackets.MAKES_TUPLE),
}


@pytest.mark.parametrize("case", DECLINED)
def test_declined(case: str) -> None:
    rule, source, reason = DECLINED[case]
    assert reasons(rule, source) == {reason}
    assert untouched(rule, source)


NOWHERE: dict[str, tuple[PythonRule, str]] = {
    "patterns have parentheses of their own": (
        INSERT_PARENTHESES,
        "match a:\n    case -1 | B.c | [d, *_] | {'e': 1}: pass\n",
    ),
    "inside of an f-string": (INSERT_PARENTHESES, "f'{a + b}'\n"),
    "a statement": (INSERT_PARENTHESES, "f(a)\n"),
    "a decorator": (INSERT_PARENTHESES, "@f(a)\ndef g(): pass\n"),
    "targets": (INSERT_PARENTHESES, "a[b], c.d = e\n".replace("= e", "= (e)")),
    "a subscript is no list": (INSERT_TRAILING_COMMAS, "a[b]\n"),
    "parentheses are no tuple": (INSERT_TRAILING_COMMAS, "(a)\n()\nf()\n[]\n"),
    "patterns": (INSERT_TRAILING_COMMAS, "match a:\n    case [b, c] | D(b, c): pass\n"),
    "a subscript's tuple": (REMOVE_TRAILING_COMMAS, "a[b,]\n"),
    "the line above a function": (INSERT_PARENTHESES, "if 1:\n    def f(): pass\n"),
}


@pytest.mark.parametrize("case", NOWHERE)
def test_nowhere(case: str) -> None:
    rule, source = NOWHERE[case]
    assert variants(rule, source) == set()
