"""Which types, containers and keys of local variables are certain, as all that is bound to them shows."""

import ast
from textwrap import indent
from typing import Final

import pytest

from codeaudit.transforms.python.analysis.builder import PythonProgramBuilder
from codeaudit.transforms.python.analysis.facts import VariableFacts
from codeaudit.transforms.python.analysis.looks import NOTHING_SHOWN
from codeaudit.transforms.python.parsing import parse


def facts(body: str) -> VariableFacts:
    """The facts of a function with these lines."""
    source = f"def f(q, n: int = 1):\n{indent(body, '    ')}\n"
    builder = PythonProgramBuilder(source, dependence="strict", rebound=frozenset(), looks=NOTHING_SHOWN)
    function = parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    builder.alone(function)
    return builder.places[id(function.body[-1])].facts


TYPES: Final = {
    # One value, or several of one type.
    "a = 1": "int",
    "a = 1.5": "float",
    "a = 'x'": "str",
    "a = b'x'": "bytes",
    "a = None": "none",
    "a = ...": "ellipsis",
    "a = not q": "bool",
    "a = lambda: 1": "function",
    "a = (1, q)": "tuple",
    "a = [q]": "list",
    "a = {1}": "set",
    "a = {}": "dict",
    "a = [j for j in q]": "list",
    "a = {j for j in q}": "set",
    "a = {j: 1 for j in q}": "dict",
    "a = 'x' if q else 'y'": "str",
    "a: int = 1": "int",
    "b = a = 1": "int",
    "b = (a := 1)": "int",
    "a = 0; a = 1": "int",
    "a = 0; a += 1": "int",
    "a = 0; a = a + 1": "int",
    "for a in range(3): pass": "int",
    "b = 1; c = b; a = c": "int",
    "for _ in q:\n a = b\n b = c\n c = 1": "int",
    "for _ in q:\n a = b\n b = c\n c = q": None,
    "for _ in q:\n x = 1\n x = 1.5\n a = b\n b = 1": "int",
    "try:\n a = 1\nexcept E:\n a = 2": "int",
    "a = 0\ndef g():\n return a": "int",
    # Several types, or values that are not seen.
    "a = 0; a = 1.5": None,
    "a = None; a = 1": None,
    "a = 0; a = a + q": None,
    "a = 0; a += q": None,
    "a = 'x' if q else 1": None,
    "a = q": None,
    "a = n": None,
    "a, b = 1, 2": None,
    "a, b = q": None,
    "a = (j for j in q)": None,
    "a = q.x": None,
    "a = [1][0]": None,
    "for a in q: pass": None,
    "with q as a: pass": None,
    "import os as a": None,
    "a = 1; del a": None,
    "a = 0\ndef g():\n nonlocal a\n a = q": None,
}


@pytest.mark.parametrize(("body", "kind"), TYPES.items(), ids=TYPES)
def test_a_local_has_a_type_if_all_its_values_have(body: str, kind: str | None) -> None:
    assert facts(body).types.get("a") == kind


PLAIN: Final = {
    "a = {}": True,
    "a = set()": True,
    "a = dict()": True,
    "a = {1}": True,
    "a = {1: q, 'x': q}": True,
    "a = {}; a[1] = q": True,
    "a = set(); a.add('x')": True,
    "a = {}; a.setdefault(1, q)": True,
    "a = {}; k = 'x'; a[k] = q": True,
    "a = {}; a.get(q)": True,
    "a = {}; b = a[q]": True,
    "a = {q}": False,
    "a = {1, q}": False,
    "a = {1: 2, q: 3}": False,
    "a = {**q}": False,
    "a = {*q}": False,
    "a = dict(q)": False,
    "a = set(q)": False,
    "a = {j for j in 'ab'}": False,
    "a = {}; a[q] = 1": False,
    "a = {}; a[1] = a[q] = 1": False,
    "a = set(); a.add(q)": False,
    "a = {}; a.setdefault(q, 1)": False,
    "a = set(); a.update(q)": False,
    "a = set(); a.update('ab')": False,
    "a = {1}; a = {q}": False,
    "a = {}; k = 'x'; b = [a.setdefault(k, 1) for k in q]": False,
    "a = {}; b = [a.setdefault(1, k) for k in q]": True,
}


@pytest.mark.parametrize(("body", "plain"), PLAIN.items(), ids=PLAIN)
def test_the_keys_of_a_container_are_plain_if_all_are(body: str, plain: bool) -> None:
    found = facts(body)
    assert "a" in found.owned
    assert ("a" in found.plain_keys) is plain


MADE: Final = {
    "a = q.x": "a",
    "a = [q.x, 1][0]": "a",
    "a = q": "",
    "a = None; a = 1": "",
    "a = None; a = q": "",
    "a = None; a = q.x": "a",
    "a = q; a = q.x": "a",
    "a = 1": "",
    "a, b = q": "a b",
    "q = q.x": "q",
    "q = n": "",
    "q = None": "",
    "q = n; q = q.x": "q",
    "del q": "q",
    "for a in q: pass": "a",
}


@pytest.mark.parametrize(("body", "names"), MADE.items(), ids=MADE)
def test_what_the_function_may_have_made(body: str, names: str) -> None:
    assert facts(body).unshared == set(names.split())
