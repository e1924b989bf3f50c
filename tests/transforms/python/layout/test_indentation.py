"""How far blocks are indented, and a statement that leaves its block."""

import pytest

from codeaudit.transforms.python.layout import indentation
from codeaudit.transforms.python.layout.indentation import INDENTATION, INDENTATION_CHANGED
from codeaudit.transforms.python.suites import SHARED
from codeaudit.transforms.records import NotApplied
from tests.transforms.python.order.support import outcome, reasons, run, untouched, variants

BEFORE_AFTER = {
    "every block": (
        "def f(a):\n    if a:\n        b()\n    else:\n        c()\n    return a\n",
        "def f(a):\n  if a:\n    b()\n  else:\n    c()\n  return a\n",
    ),
    "strings keep their lines": (
        'def f(a):\n    """A\n    b."""\n    return f"""\n    {a}"""\n',
        'def f(a):\n  """A\n    b."""\n  return f"""\n    {a}"""\n',
    ),
    "lines inside brackets": (
        "def f(a):\n    return g(a,\n             a,\nb)\n",
        "def f(a):\n  return g(a,\n           a,\n  b)\n",
    ),
    "lines behind a backslash": ("if a:\n    b = 1 + \\\n  2\n", "if a:\n  b = 1 + \\\n  2\n"),
    "comments above, below and outside": (
        "def f(a):\n    # b\n    if a:\n        # c\n        d()\n        # e\n# f\n    return a\n",
        "def f(a):\n  # b\n  if a:\n    # c\n    d()\n    # e\n  # f\n  return a\n",
    ),
    "a method keeps its own place": (
        "class _:\n    def f(self):\n        return 1",
        "class _:\n    def f(self):\n      return 1",
    ),
    "a function inside of a block keeps its own place": (
        "if 1:\n        def f():\n            return 1\n",
        "if 1:\n        def f():\n          return 1\n",
    ),
    "tabs": ("if a:\n\tif b:\n\t\tc()\n", "if a:\n  if b:\n    c()\n"),
    "blocks of several widths": ("if a:\n if b:\n   c()\n", "if a:\n  if b:\n    c()\n"),
    "carriage returns": ("if a:\r\n    b()\r\n\r\n    c()\r\n", "if a:\r\n  b()\r\n\r\n  c()\r\n"),
    "a body beside its header": ("if a:\n    if b: c()\n    d()\n", "if a:\n  if b: c()\n  d()\n"),
}


@pytest.mark.parametrize("case", BEFORE_AFTER)
def test_two_blanks(case: str) -> None:
    before, after = BEFORE_AFTER[case]
    assert after in variants(INDENTATION, before)


def test_the_widths() -> None:
    steps = {"  ", "   ", " " * 8, "\t"}
    assert variants(INDENTATION, "if a:\n    b()\n") == {f"if a:\n{step}b()\n" for step in steps}
    assert all("\t" not in text for text in variants(INDENTATION, "class _:\n    def f():\n        pass\n"))


DECLINED = {
    "tabs and blanks mixed": ("if a:\n\tif b:\n\t  c()\n", indentation.MIXED),
    "a form feed": ("if a:\n\f    b()\n", indentation.FORM_FEED),
}


@pytest.mark.parametrize("case", DECLINED)
def test_declined(case: str) -> None:
    source, reason = DECLINED[case]
    assert reasons(INDENTATION, source) == {reason}
    assert untouched(INDENTATION, source)


MOVED = {
    "out of an if": (
        "def f(a):\n    b = []\n    if a:\n        b.append(1)\n        b.append(2)\n    return b\n",
        "def f(a):\n    b = []\n    if a:\n        b.append(1)\n    b.append(2)\n    return b\n",
        "f(0)",
    ),
    "into an if": (
        "def f(a):\n    if a:\n        a = 1\n    a += 1\n    return a\n",
        "def f(a):\n    if a:\n        a = 1\n        a += 1\n    return a\n",
        "f(0)",
    ),
    "into a for": (
        "def f(a):\n    for b in a:\n        # c\n        print(b)\n    return b\n",
        "def f(a):\n    for b in a:\n        # c\n        print(b)\n        return b\n",
        "f('xy')",
    ),
    "out of a for": (
        "def f(a):\n    b = 0\n    for c in a:\n        b += 1\n        b += c\n    return b\n",
        "def f(a):\n    b = 0\n    for c in a:\n        b += 1\n    b += c\n    return b\n",
        "f([1, 2])",
    ),
}


@pytest.mark.parametrize("case", MOVED)
def test_a_statement_that_moves_changes_the_meaning(case: str) -> None:
    before, after, call = MOVED[case]
    assert after in variants(INDENTATION_CHANGED, before)
    assert run(before, call) != run(after, call)


STILL = {
    "an else would lose its if": ("if a:\n    b()\n    c()\nelse:\n    d()\n", indentation.ELSE),
    "a pass does nothing": ("if a:\n    b()\npass\n", indentation.NO_EFFECT),
    "the end is the end": (
        "def f(a):\n    if a:\n        b()\n    return None\n",
        indentation.NO_EFFECT,
    ),
    "dead code": ("def f(a):\n    return a\n    if a:\n        b()\n    c()\n", indentation.NO_EFFECT),
    "a loop that ends in the same place": (
        "for a in b:\n    c()\nd = 1\n",
        indentation.NO_EFFECT,
    ),
    "a condition that always holds": ("if 1:\n    a()\n    b()\nc()\n", indentation.ALWAYS),
    "a body beside its header": ("if a: b(); c()\nd()\n", SHARED),
}


@pytest.mark.parametrize("case", STILL)
def test_no_move_that_may_change_nothing(case: str) -> None:
    source, reason = STILL[case]
    assert reason in reasons(INDENTATION_CHANGED, source)
    assert isinstance(outcome(INDENTATION_CHANGED, source), NotApplied)
