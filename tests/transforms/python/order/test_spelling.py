"""Names that a class spells in another way: `__x` in `class C` is `_C__x`."""

import pytest

from codeaudit.transforms.python.control_flow.loops import FOR_TO_WHILE
from codeaudit.transforms.python.order.assignments import REORDER_TARGETS, TUPLE_ASSIGNMENTS
from codeaudit.transforms.python.order.definitions import REORDER_FUNCTIONS
from codeaudit.transforms.python.order.imports import REORDER_IMPORT_NAMES, REORDER_IMPORTS
from codeaudit.transforms.python.order.spelling import TWO_SPELLINGS, spells_twice
from codeaudit.transforms.python.rewriting import PythonRule
from tests.transforms.python.order.support import agrees, reasons, untouched

CASES: dict[str, tuple[PythonRule, str]] = {
    "one variable twice": (
        REORDER_TARGETS,
        "class C:\n    def f(self):\n        __a, _C__a = 1, 2\n        return __a\n",
    ),
    "one attribute twice": (
        REORDER_TARGETS,
        "class C:\n    def f(self):\n        self.__a = self._C__a = 2\n        return __a\n",
    ),
    "a variable that the next value reads": (
        TUPLE_ASSIGNMENTS,
        "class C:\n    def f(self):\n        _C__x = 0\n        __x, y = 1, _C__x\n        return y\n",
    ),
    "a class with underscores": (
        REORDER_TARGETS,
        "class __C:\n    def f(self):\n        __a, _C__a = 1, 2\n        return __a\n",
    ),
    "functions that a class reads": (
        REORDER_FUNCTIONS,
        "def __f(): pass\ndef _C__f(): pass\nclass C:\n    def g(self, a=__f): return a.__name__\n",
    ),
    "a module in two spellings": (
        REORDER_IMPORTS,
        "class C:\n    def f(self):\n        import json as __a\n        import csv as _C__a\n        return __a\n",
    ),
    "a name in two spellings": (
        REORDER_IMPORT_NAMES,
        "class C:\n    def f(self):\n        import json as __a, csv as _C__a\n        return __a\n",
    ),
    "a list that the loop rebinds": (
        FOR_TO_WHILE,
        "class C:\n    def f(self):\n        __a = [1, 2]\n        for i in __a: _C__a = []\n        return i\n",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refused(case: str) -> None:
    rule, text = CASES[case]
    assert untouched(rule, text)
    assert not untouched(rule, text.replace("_C__", "d").replace("__", ""))


def test_the_reason() -> None:
    rule, text = CASES["one variable twice"]
    assert reasons(rule, text) == {TWO_SPELLINGS}


@pytest.mark.parametrize(
    ("text", "twice"),
    [
        ("self.__a = self._C__a", True),
        ("getattr(self, '_C__a').__a", True),
        ("__a_b = _C__a_b", True),
        ("___a = _C___a", True),
        ("__ａ = _C__a", True),
        ("self.__a = self.__b", False),
        ("self.__a = _C__b", False),
        ("__all__ = _C__all", False),
        ("x__a = __a", False),
    ],
)
def test_two_spellings(text: str, twice: bool) -> None:
    assert spells_twice(text) is twice


def test_private_names_alone() -> None:
    text = "class C:\n    def f(self):\n        __a = __b = 2\n        return __a, __b\n"
    assert agrees(REORDER_TARGETS, text, "C().f()") == 1
