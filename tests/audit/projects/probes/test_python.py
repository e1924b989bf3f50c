"""Statements put first into units: they run first, docstrings stay, what cannot hold one is left."""

import pytest

from codeaudit.audit.projects.probes.python import PROBES
from codeaudit.transforms.source_files import MODULE

RAISING = PROBES.raising
with_first = PROBES.with_first

BODIES = {
    "plain": "def f():\n    return 1\n",
    "one line": "def f(): return 1\n",
    "docstring": 'def f():\n    """Words."""\n    return 1\n',
    "docstring on one line": 'def f(): "Words."; return 1\n',
    "only a docstring": 'def f():\n    """Words."""\n',
    "parenthesised docstring": 'def f():\n    ("Words.")\n',
    "compound first": "def f():\n    # why\n    if True:\n        return 1\n",
    "decorated first": "def f():\n    @staticmethod\n    def g(): return 1\n    return g\n",
    "match first": "def f():\n    match 1:\n        case _: return 1\n",
    "global first": "def f():\n    global x\n    x = 1\n",
    "generator": "def f():\n    return 1\n    yield\n",
    "tabs and CRLF": "def f():\r\n\tif True:\r\n\t\treturn 1\r\n",
    "decorated": "def wraps(f): return f\n@wraps\ndef f(): return 1\n",
    "string that looks like code": "def f(): return '''\ndef f(): pass'''\n",
}


@pytest.mark.parametrize("text", BODIES.values(), ids=BODIES)
def test_the_statement_runs_first(text: str) -> None:
    program = with_first(text.encode(), {"f": RAISING})
    names: dict[str, object] = {}
    exec(compile(program, "m.py", "exec"), names)
    function = names["f"]
    assert callable(function)
    before: dict[str, object] = {}
    exec(compile(text, "m.py", "exec"), before)
    assert function.__doc__ == before["f"].__doc__
    with pytest.raises(RuntimeError, match="codeaudit power check"):
        list(function())


def test_several_units_and_methods() -> None:
    text = b"class A:\n    def f(self): pass\n    def f(self): pass\ndef g(): pass\n"
    program = with_first(text, {"A.f#2": "x = 1", "g": "y = 2", "gone": "z = 3"})
    assert program == b"class A:\n    def f(self): pass\n    def f(self): x = 1; pass\ndef g(): y = 2; pass\n"


def test_a_module_behind_its_docstring_and_future() -> None:
    text = b'"""Words."""\nfrom __future__ import annotations\nimport os\n'
    assert with_first(text, {MODULE: "x = 1"}) == text.replace(b"import os", b"x = 1; import os")


def test_where_it_cannot_stand_the_unit_is_left_and_the_others_are_not() -> None:
    text = b"def f(): pass\ndef g(): pass\n"
    assert with_first(text, {"f": "nonlocal x", "g": "y = 2"}) == b"def f(): pass\ndef g(): y = 2; pass\n"
    assert with_first(b"def f(:\n", {"f": "x = 1"}) == b"def f(:\n"
