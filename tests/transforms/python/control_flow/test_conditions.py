"""Conditions in other places: each is evaluated and tested as often and in the same order."""

import pytest

from codeaudit.transforms.python.control_flow import branches
from codeaudit.transforms.python.control_flow.branches import (
    IF_TO_TERNARY,
    MERGE_CONDITIONS,
    SPLIT_CONDITIONS,
    TERNARY_TO_IF,
)
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.suites import COMMENT, INDENTATION, SHARED
from tests.transforms.python.control_flow.support import function, logged
from tests.transforms.python.order.support import agrees, reasons, untouched, variants

BEFORE_AFTER: dict[str, tuple[PythonRule, str, tuple[str, ...]]] = {
    "an assignment": (
        TERNARY_TO_IF,
        "x = a if b else 2  # one\nreturn x",
        ("if b:\n    x = a\nelse:\n    x = 2  # one\nreturn x",),
    ),
    "a return": (
        TERNARY_TO_IF,
        "return(a\n    if b else\n  2)",
        ("if b:\n    return a\nelse:\n    return 2",),
    ),
    "several targets": (
        TERNARY_TO_IF,
        "x = y = 1 if a else 2\nreturn x, y",
        ("if a:\n    x = y = 1\nelse:\n    x = y = 2\nreturn x, y",),
    ),
    "lines on after a backslash": (
        TERNARY_TO_IF,
        "x = \\\n  a if b \\\n  == 2 else 2\nreturn x",
        ("if b \\\n  == 2:\n    x = a\nelse:\n    x = 2\nreturn x",),
    ),
    "lines on in parentheses": (
        TERNARY_TO_IF,
        "x = (a if b\n  == 2 else 2)\nreturn x",
        ("if (b\n  == 2):\n    x = a\nelse:\n    x = 2\nreturn x",),
    ),
    "an assignment expression as a condition": (
        TERNARY_TO_IF,
        "return x if (x := a) else b",
        ("if (x := a):\n    return x\nelse:\n    return b",),
    ),
    "conditions in a row": (
        TERNARY_TO_IF,
        "return 1 if a else 2 if b else (lambda: 3)()",
        ("if a:\n    return 1\nelse:\n    return 2 if b else (lambda: 3)()",),
    ),
    "two assignments": (
        IF_TO_TERNARY,
        "if a:\n    x = b\nelse:\n    x = 2  # one\nreturn x",
        ("x = b if a else 2  # one\nreturn x",),
    ),
    "two returns": (
        IF_TO_TERNARY,
        "if(x := a): return x\nelse: return 2;",
        ("return x if (x := a) else 2",),
    ),
    "tuples": (
        IF_TO_TERNARY,
        "if a: x, y = 1, b\nelse: x, y = b, *'c',\nreturn x, y",
        ("x, y = (1, b) if a else (b, *'c',)\nreturn x, y",),
    ),
    "loose operators": (
        IF_TO_TERNARY,
        "if a or b: x = 1 if b else 2\nelse: x = lambda: 3\nreturn x and x == 1",
        ("x = (1 if b else 2) if a or b else lambda: 3\nreturn x and x == 1",),
    ),
    "values over lines": (
        IF_TO_TERNARY,
        "if a:\n    x = 1 + \\\n  2\nelse:\n    x = [b,\n  3]\nreturn x",
        ("x = 1 + \\\n  2 if a else [b,\n  3]\nreturn x",),
    ),
    "two conditions": (
        SPLIT_CONDITIONS,
        "if a and b: return 1\nreturn 2",
        ("if a:\n    if b: return 1\nreturn 2",),
    ),
    "three conditions": (
        SPLIT_CONDITIONS,
        "if(a and b and not a == b):  # one\n    # two\n    return '''\nt'''\n    # three\nreturn 2",
        (
            "if a:\n    if b and not a == b:  # one\n        # two\n        return '''\nt'''\n"
            "        # three\nreturn 2",
            "if a and b:\n    if not a == b:  # one\n        # two\n        return '''\nt'''\n"
            "        # three\nreturn 2",
        ),
    ),
    "conditions of a last elif": (
        SPLIT_CONDITIONS,
        "if a: return 1\nelif b and (b == 2 or a): return 2\nreturn 3",
        ("if a: return 1\nelif b:\n    if (b == 2 or a): return 2\nreturn 3",),
    ),
    "conditions over lines": (
        SPLIT_CONDITIONS,
        "if (a and\n    b\n    < 2 and a): return 1",
        (
            "if a:\n    if (b\n    < 2 and a): return 1",
            "if (a and\n    b\n    < 2):\n    if a: return 1",
        ),
    ),
    "an if in an if": (
        MERGE_CONDITIONS,
        "if a or b:\n    if(b):  # one\n        x = '''\nt'''\n        # two\n        return x\n    # three\nreturn 2",
        ("if (a or b) and (b):  # one\n    x = '''\nt'''\n    # two\n    return x\n# three\nreturn 2",),
    ),
    "an if in an elif": (
        MERGE_CONDITIONS,
        "if a == b: return 1\nelif a:\n    if b if a else 1: return 2\nreturn 3",
        ("if a == b: return 1\nelif a and (b if a else 1): return 2\nreturn 3",),
    ),
}


@pytest.mark.parametrize("case", BEFORE_AFTER)
def test_before_and_after(case: str) -> None:
    rule, before, after = BEFORE_AFTER[case]
    assert variants(rule, function(before)) == set(map(function, after))
    calls = [f"f({a}, {b})" for a in ("0", "'b'", "1", "None") for b in ("0", "2", "1")]
    assert agrees(rule, function(before), *calls)


DECLINED: dict[str, tuple[PythonRule, str, str]] = {
    "statements on one line": (TERNARY_TO_IF, "x = 1; y = 1 if a else 2", SHARED),
    "a statement behind a colon": (TERNARY_TO_IF, "if a: x = 1 if a else 2", SHARED),
    "a statement behind a colon and a backslash": (
        TERNARY_TO_IF,
        "if a: \\\n    x = 1 if a else 2",
        SHARED,
    ),
    "a comment in a value": (TERNARY_TO_IF, "x = (1  # one\n    if a else 2)", COMMENT),
    "spaces and tabs": (TERNARY_TO_IF, "if a:\n\tx = 1 if a else 2", INDENTATION),
    "comments of branches": (IF_TO_TERNARY, "if a: x = 1  # one\nelse: x = 2", COMMENT),
    "different targets": (IF_TO_TERNARY, "if a: x = 1\nelse: y = 2", branches.OTHER_BODIES),
    "a return without a value": (IF_TO_TERNARY, "if a: return\nelse: return 2", branches.OTHER_BODIES),
    "a sum": (IF_TO_TERNARY, "if a: x += 1\nelse: x += 2", branches.OTHER_BODIES),
    "more statements": (IF_TO_TERNARY, "if a: x = 1; b()\nelse: x = 2", branches.OTHER_BODIES),
    "an else of two conditions": (
        SPLIT_CONDITIONS,
        "if a and b: return 1\nelse: return 2",
        branches.HAS_ELSE,
    ),
    "an elif behind two conditions": (
        SPLIT_CONDITIONS,
        "if a and b: return 1\nelif b: return 2",
        branches.HAS_ELSE,
    ),
    "a comment between conditions": (SPLIT_CONDITIONS, "if (a  # one\n    and b): return 1", COMMENT),
    "spaces and tabs below conditions": (SPLIT_CONDITIONS, "if a and b:\n\treturn 1", INDENTATION),
    "an else inside": (
        MERGE_CONDITIONS,
        "if a:\n    if b: return 1\n    else: return 2",
        branches.HAS_ELSE,
    ),
    "an else outside": (
        MERGE_CONDITIONS,
        "if a:\n    if b: return 1\nelse: return 2",
        branches.HAS_ELSE,
    ),
    "a comment between two ifs": (MERGE_CONDITIONS, "if a:\n    # one\n    if b: return 1", COMMENT),
}


@pytest.mark.parametrize("case", DECLINED)
def test_declined(case: str) -> None:
    rule, source, reason = DECLINED[case]
    assert reason in reasons(rule, function(source))
    assert untouched(rule, function(source))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (
            TERNARY_TO_IF,
            "a[b] = c.x = a(1) if a and b < c else b(2) if not c else c\nreturn a if b or c else 1",
        ),
        (IF_TO_TERNARY, "if a and not b < c:\n    a[b].x, c[a] = a(1), b\nelse:\n    a[b].x, c[a] = b"),
        (IF_TO_TERNARY, "if not (a or b):\n    return a[1]\nelse:\n    return b[a < b < c]"),
        (SPLIT_CONDITIONS, "if a < b < c and (b or c) and not (a and b):\n    return a(1)\nreturn 2"),
        (SPLIT_CONDITIONS, "if (a and b) and (x := c) and not x:\n    return a(1)"),
        (MERGE_CONDITIONS, "if a or b:\n    if b and c:\n        return a(1)"),
        (MERGE_CONDITIONS, "if not a:\n    if b if a else c:\n        return a(1)"),
        (MERGE_CONDITIONS, "if a < b < c:\n    if x := a:\n        if not x or b:\n            return x"),
    ],
)
def test_objects_are_asked_as_often_and_in_the_same_order(rule: PythonRule, text: str) -> None:
    assert logged(rule, text)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (TERNARY_TO_IF, "x = (yield 1) if (yield 2) else (yield)\nyield x"),
        (IF_TO_TERNARY, "if (yield 1):\n    x = yield 2\nelse:\n    x = yield\nyield x"),
        (SPLIT_CONDITIONS, "if (yield 1) and (yield 2):\n    yield 3"),
        (MERGE_CONDITIONS, "if (yield 1):\n    if (yield 2):\n        yield 3"),
    ],
)
@pytest.mark.parametrize("sent", ["(None, 0, 0, 0)", "(None, 1, 0, 0)", "(None, 1, 1, 1)", "(None, 0, 1, 1)"])
def test_generators(rule: PythonRule, text: str, sent: str) -> None:
    driver = """
def drive(sent):
    found, steps = [], f(0, 0)
    try:
        for value in sent:
            found.append(steps.send(value))
    except StopIteration as error:
        found.append(('end', error.value))
    return found
"""
    assert agrees(rule, function(text) + driver, f"drive({sent})")
