"""Branches in another arrangement: where every line and comment goes, and that nothing else changes."""

import pytest

from codeaudit.transforms.python.control_flow import branches
from codeaudit.transforms.python.control_flow.branches import (
    ELSE_TO_RETURN,
    FLATTEN_ELIF,
    INVERT_IF,
    NEST_ELIF,
    RETURN_TO_ELSE,
)
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.suites import COMMENT, INDENTATION
from codeaudit.transforms.records import Perturbed
from tests.transforms.python.control_flow.support import function, logged
from tests.transforms.python.order.support import agrees, outcome, reasons, run, untouched, variants

BEFORE_AFTER: dict[str, tuple[PythonRule, str, str]] = {
    "an else": (
        INVERT_IF,
        "if a: x = 1\nelse: x = 2\nreturn x",
        "if not a: x = 2\nelse: x = 1\nreturn x",
    ),
    "a negation": (
        INVERT_IF,
        "if not a == b:\n    x = 1\nelse:\n    x = 2\nreturn x",
        "if a == b:\n    x = 2\nelse:\n    x = 1\nreturn x",
    ),
    "a negation in parentheses": (
        INVERT_IF,
        "if(not(a)):\n    return 1\nelse:\n    return 2",
        "if (a):\n    return 2\nelse:\n    return 1",
    ),
    "conditions joined": (
        INVERT_IF,
        "if a is not None and b < 1:\n    return 1\nelse:\n    return 2",
        "if not (a is not None and b < 1):\n    return 2\nelse:\n    return 1",
    ),
    "a chain of comparisons": (
        INVERT_IF,
        "if 0 < len(a) < 2:\n    return 1\nelse:\n    return 2",
        "if not 0 < len(a) < 2:\n    return 2\nelse:\n    return 1",
    ),
    "an assignment expression": (
        INVERT_IF,
        "if x := a:\n    return x, 1\nelse:\n    return x, 2",
        "if not (x := a):\n    return x, 2\nelse:\n    return x, 1",
    ),
    "a condition over lines": (
        INVERT_IF,
        "if a \\\n  and b:\n    return 1\nelse:\n    return 2",
        "if not (a \\\n  and b):\n    return 2\nelse:\n    return 1",
    ),
    "an elif without else": (
        INVERT_IF,
        "x = 0\nif a:\n    x = 1\nelif b:\n    x = 2\nreturn x",
        "x = 0\nif not a:\n    if b:\n        x = 2\nelse:\n    x = 1\nreturn x",
    ),
    "comments of branches": (
        INVERT_IF,
        "if a:  # one\n    x = 1\n    # two\n\n# three\nelse:  # four\n    # five\n    x = 2\n# six\nreturn x",
        "if not a:  # four\n    # three\n    # five\n    x = 2\nelse:  # one\n    x = 1\n    # two\n# six\nreturn x",
    ),
    "lines on after a backslash": (
        INVERT_IF,
        "if a: \\\n    x = 1\nelse: \\\n    x = 2\nreturn x",
        "if not a: \\\n    x = 2\nelse: \\\n    x = 1\nreturn x",
    ),
    "decorated branches": (
        INVERT_IF,
        "if a:\n    @str\n    def x(): pass\nelse:\n    @len  # no\n    class x: pass\nreturn 1",
        "if not a:\n    @len  # no\n    class x: pass\nelse:\n    @str\n    def x(): pass\nreturn 1",
    ),
    "a nested declaration": (
        INVERT_IF,
        "if a:\n    def g():\n        nonlocal b\n        b = 1\n    g()\nelse:\n    b = 2\nreturn b",
        "if not a:\n    b = 2\nelse:\n    def g():\n        nonlocal b\n        b = 1\n    g()\nreturn b",
    ),
    "one elif": (
        NEST_ELIF,
        "if a:\n    return 1\n# one\nelif b:  # two\n    # three\n    return 2\nreturn 3",
        "if a:\n    return 1\n# one\nelse:\n    if b:  # two\n        # three\n        return 2\nreturn 3",
    ),
    "an elif with an else": (
        NEST_ELIF,
        "if a: return 1\nelif(b): return 2\n# one\nelse: return 3",
        "if a: return 1\nelse:\n    if(b): return 2\n    # one\n    else: return 3",
    ),
    "texts over lines stay": (
        NEST_ELIF,
        "if a:\n    pass\nelif b:\n    return '''\none\n    two''' + f'''\n{\na\n}'''\nreturn 3",
        "if a:\n    pass\nelse:\n    if b:\n        return '''\none\n    two''' + f'''\n{\na\n}'''\nreturn 3",
    ),
    "an if alone in an else": (
        FLATTEN_ELIF,
        "if a:\n    return 1\nelse:\n    if b:\n        return 2\n    # one\n# two\nreturn 3",
        "if a:\n    return 1\nelif b:\n    return 2\n# one\n# two\nreturn 3",
    ),
    "a chain alone in an else": (
        FLATTEN_ELIF,
        "if a: return 1\nelse:\n    if(b): return 2\n    elif a == b: return 3\n    else: return 4",
        "if a: return 1\nelif(b): return 2\nelif a == b: return 3\nelse: return 4",
    ),
    "a guard": (
        RETURN_TO_ELSE,
        "if a: return 1\n\n# one\nx = b\n\nreturn x",
        "if a: return 1\nelse:\n    # one\n    x = b\n\n    return x",
    ),
    "guards in a chain": (
        RETURN_TO_ELSE,
        "if a:\n    return 1\nelif b:\n    raise KeyError(a)\n    # one\n# two\nreturn 2",
        "if a:\n    return 1\nelif b:\n    raise KeyError(a)\n    # one\nelse:\n    # two\n    return 2",
    ),
    "a guard whose branches both leave": (
        RETURN_TO_ELSE,
        "if a:\n    if b: return 1\n    else: return 2\nreturn 3",
        "if a:\n    if b: return 1\n    else: return 2\nelse:\n    return 3",
    ),
    "a guard in a loop": (
        RETURN_TO_ELSE,
        "x = []\nfor y in 'abc':\n    if a == y: continue\n    x.append(y); x.append(b)\nreturn x",
        "x = []\nfor y in 'abc':\n    if a == y: continue\n    else:\n        x.append(y); x.append(b)\nreturn x",
    ),
    "an else that is not needed": (
        ELSE_TO_RETURN,
        "if a:\n    return 1\n# one\nelse:\n    # two\n    x = '''\n    t'''\n    # three\n# four\nreturn x",
        "if a:\n    return 1\n# one\n# two\nx = '''\n    t'''\n# three\n# four\nreturn x",
    ),
    "an else on one line": (
        ELSE_TO_RETURN,
        "if a: return 1\nelse: x = 2; x += 1  # one\nreturn x",
        "if a: return 1\nx = 2; x += 1  # one\nreturn x",
    ),
    "an elif that is not needed": (
        ELSE_TO_RETURN,
        "if a: return 1\nelif b: return 2\nreturn 3",
        "if a: return 1\nif b: return 2\nreturn 3",
    ),
}


@pytest.mark.parametrize("case", BEFORE_AFTER)
def test_before_and_after(case: str) -> None:
    rule, before, after = BEFORE_AFTER[case]
    assert variants(rule, function(before)) == {function(after)}
    calls = [f"f({a}, {b})" for a in ("0", "'b'", "[1]", "None") for b in ("0", "2", "'b'")]
    assert agrees(rule, function(before), *calls)


DECLINED: dict[str, tuple[PythonRule, str, str]] = {
    "no else": (INVERT_IF, "if a: b()", branches.NO_ELSE),
    "a declaration before its uses": (
        INVERT_IF,
        "if a:\n    global x\n    x = 1\nelse:\n    x = 2",
        branches.DECLARES,
    ),
    "a comment and a branch on one line": (INVERT_IF, "if a: b()\n# one\nelse: c()", COMMENT),
    "spaces and tabs": (INVERT_IF, "if a:\n\tb()\nelif c:\n\td()", INDENTATION),
    "spaces and tabs in a chain": (NEST_ELIF, "if a:\n\tb()\nelif c:\n\td()", INDENTATION),
    "a comment behind else": (FLATTEN_ELIF, "if a: b()\nelse:  # one\n    if c: d()", COMMENT),
    "a comment below else": (FLATTEN_ELIF, "if a: b()\nelse:\n    # one\n    if c: d()", COMMENT),
    "a branch that goes on": (RETURN_TO_ELSE, "if a: b()\nreturn 1", branches.NOT_LEFT),
    "a branch that leaves sometimes": (
        RETURN_TO_ELSE,
        "if a:\n    if b: return 1\nreturn 2",
        branches.NOT_LEFT,
    ),
    "a branch of a branch that goes on": (
        RETURN_TO_ELSE,
        "if a:\n    if b: return 1\n    else: c()\nreturn 2",
        branches.NOT_LEFT,
    ),
    "a branch of several that goes on": (
        RETURN_TO_ELSE,
        "if a: return 1\nelif b: pass\nreturn 2",
        branches.NOT_LEFT,
    ),
    "a manager may hold an exception back": (
        RETURN_TO_ELSE,
        "if a:\n    with b: raise KeyError\nreturn 1",
        branches.NOT_LEFT,
    ),
    "nothing behind": (RETURN_TO_ELSE, "if a: return 1", branches.NOTHING_BEHIND),
    "a comment with the else": (
        ELSE_TO_RETURN,
        "if a: return 1\nelse:  # one\n    return 2",
        COMMENT,
    ),
    "an else that both branches may reach": (
        ELSE_TO_RETURN,
        "if a: b()\nelse: return 2\nreturn 3",
        branches.NOT_LEFT,
    ),
}


@pytest.mark.parametrize("case", DECLINED)
def test_declined(case: str) -> None:
    rule, source, reason = DECLINED[case]
    assert reason in reasons(rule, function(source))
    assert untouched(rule, function(source))


def test_the_else_of_a_chain_belongs_to_every_branch() -> None:
    source = function("if a: x = 1\nelif b: return 2\nelse: return 3\nreturn x")
    assert reasons(ELSE_TO_RETURN, source) == {branches.NOT_LEFT, branches.IS_ELIF}
    assert untouched(ELSE_TO_RETURN, source)


def test_there_and_back() -> None:
    for one, other, text in (
        (NEST_ELIF, FLATTEN_ELIF, "if a:\n    x = 1\nelif b:\n    x = 2\nelse:\n    x = 3\nreturn x"),
        (RETURN_TO_ELSE, ELSE_TO_RETURN, "if a:\n    return 1\nx = '''\n'''\nreturn x"),
        (INVERT_IF, INVERT_IF, "if a == b:\n    return 1\nelse:\n    return 2"),
    ):
        (there,) = variants(one, function(text))
        assert variants(other, there) == {function(text)}


@pytest.mark.parametrize("rule", [INVERT_IF, NEST_ELIF, RETURN_TO_ELSE, ELSE_TO_RETURN])
def test_conditions_are_asked_once_and_in_the_same_order(rule: PythonRule) -> None:
    text = "if a and (b or not a):\n    return 1\nelif not b:\n    return 2\nelif a < b < a:\n    return 3\n"
    assert logged(rule, text + "else:\n    return 4\n") + logged(rule, text + "return 5\n")


@pytest.mark.parametrize("rule", [INVERT_IF, NEST_ELIF])
def test_tabs_and_other_line_ends(rule: PythonRule) -> None:
    source = "def f(a):\r\n\tif a:  # one\r\n\t\treturn 1\r\n\telif a == 0:\r\n\t\treturn 2\r\n\treturn 3\r\n"
    edit = outcome(rule, source)
    assert isinstance(edit, Perturbed)
    assert "\r\n\t\t" in edit.source
    assert edit.source.count("\n") == edit.source.count("\r\n")
    assert agrees(rule, source, "f(0)", "f(1)", "f('')")


@pytest.mark.parametrize(
    ("rule", "word"),
    [(INVERT_IF, "elif"), (NEST_ELIF, "elif"), (RETURN_TO_ELSE, "if"), (ELSE_TO_RETURN, "elif")],
)
def test_more_branches_than_python_reads_levels(rule: PythonRule, word: str) -> None:
    lines = [f"{word if number else 'if'} a == {number}: return {number}" for number in range(120)]
    source = function("\n".join([*lines, "return b"]))
    assert branches.DEEP in reasons(rule, source) or rule is ELSE_TO_RETURN
    edit = outcome(rule, source)
    assert isinstance(edit, Perturbed)
    for call in ("f(0, 5)", "f(70, 5)", "f(119, 5)", "f(120, 5)"):
        assert run(edit.source, call) == run(source, call)


def test_the_line_that_stands_for_what_is_around_a_function_stays() -> None:
    source = "if 1:\n    def f(a):\n        if a: return 1\n        else: return 2"
    for rule in (INVERT_IF, ELSE_TO_RETURN, RETURN_TO_ELSE):
        assert all(text.startswith("if 1:\n    def f(a):\n") for text in variants(rule, source))
    assert untouched(INVERT_IF, "if 1:\n    def f(a):\n        return a")


def test_classes_and_modules() -> None:
    source = "log = []\nclass A:\n    if log:\n        x = 1\n    else:\n        x = 2\nfor i in (1, 2):\n"
    source += "    if i == 1: continue\n    log.append(i)\n"
    for rule in (INVERT_IF, RETURN_TO_ELSE):
        assert agrees(rule, source, "(log, i, A.x)")
