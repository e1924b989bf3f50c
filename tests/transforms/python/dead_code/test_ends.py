"""An `else` that passes, and statements that are never reached."""

import pytest

from codeaudit.transforms.python.dead_code.insertions import AFTER_RETURN, ELSE_PASS, HAS_ELSE
from codeaudit.transforms.python.suites import SHARED
from codeaudit.transforms.records import Perturbed
from tests.transforms.python.order.support import agrees, outcome, reasons, untouched, variants

ELSES = {
    "def f(a):\n    if a:\n        b = 1\n": "def f(a):\n    if a:\n        b = 1\n    else:\n        pass\n",
    "def f(a):\n    if a: b = 1  # one\n    # two\n": (
        "def f(a):\n    if a: b = 1  # one\n    else:\n        pass\n    # two\n"
    ),
    "def f(a):\n    while a:\n        a -= 1\n        # last\n\n    return a\n": (
        "def f(a):\n    while a:\n        a -= 1\n        # last\n    else:\n        pass\n\n    return a\n"
    ),
    "def f(a):\n  for b in a:\n    if b: break\n  return b": (
        "def f(a):\n  for b in a:\n    if b: break\n  else:\n    pass\n  return b"
    ),
    "if a:\n\tb = 1\n": "if a:\n\tb = 1\nelse:\n\tpass\n",
    "def f(a):\r\n    if a:\r\n        b = 1\r\n": (
        "def f(a):\r\n    if a:\r\n        b = 1\r\n    else:\r\n        pass\r\n"
    ),
}


@pytest.mark.parametrize("source", ELSES)
def test_else_that_passes(source: str) -> None:
    assert ELSES[source] in variants(ELSE_PASS, source)
    if "def" in source:
        assert agrees(ELSE_PASS, source, "f(0)", "f(1)", "f([0, 1])", "f([])")


def test_the_last_elif_gets_it() -> None:
    source = "def f(a):\n    if a == 1:\n        return 1\n    elif a == 2:\n        return 2\n    return 3\n"
    after = source.replace("        return 2\n", "        return 2\n    else:\n        pass\n")
    assert variants(ELSE_PASS, source) == {after}
    assert reasons(ELSE_PASS, source) == {HAS_ELSE}
    assert agrees(ELSE_PASS, source, "f(1)", "f(2)", "f(3)")


def test_all_at_once() -> None:
    source = "def f(a):\n    if a:\n        for b in a:\n            while b:\n                b -= 1\n"
    edit = outcome(ELSE_PASS, source)
    assert isinstance(edit, Perturbed)
    assert edit.source == source + (
        "            else:\n                pass\n        else:\n            pass\n    else:\n        pass\n"
    )


def test_the_line_that_holds_a_function_stays() -> None:
    source = "if 1:\n    def f(a):\n        return a\n"
    assert untouched(ELSE_PASS, source)


BEHIND = {
    "def f(a):\n    return a\n": 4,
    "def f(a):\n    if a:\n        raise KeyError(a)  # one\n    return (\n        a)\n": 8,
    "def f(a):\n    for i in range(3):\n        if i == a:\n            break\n        continue\n    return i\n": 8,
}


@pytest.mark.parametrize("source", BEHIND)
def test_behind_a_statement_that_leaves(source: str) -> None:
    texts = variants(AFTER_RETURN, source)
    assert len(texts) >= 3
    for text in texts:
        old, new = source.split("\n"), text.split("\n")
        assert len(new) == len(old) + 1
        at = next(number for number, line in enumerate(old) if line != new[number])
        assert new[:at] + new[at + 1 :] == old
        assert new[at].strip() in ("pass", "0", "None", "raise AssertionError", "assert False", "return")
    assert agrees(AFTER_RETURN, source, "f(0)", "f(1)", "f(7)")


def test_lines_that_are_shared() -> None:
    for source in (
        "def f(a): return a\n",
        "def f(a):\n    if a: return 1\n",
        "def f(a):\n    b = 1; return b\n",
        "def f(a):\n    return a; b = 1\n",
        "def f(a):\n    return \\\n\n    b = 1\n",
    ):
        assert untouched(AFTER_RETURN, source)
        assert reasons(AFTER_RETURN, source) == {SHARED}


@pytest.mark.parametrize(
    "source",
    [
        "for i in range(3):\n    continue\n",
        "class A:\n    raise KeyError\n",
        "def f(a):\n    class A:\n        raise KeyError\n",
        "def f(a):\n    try:\n        a()\n    except* KeyError:\n        raise OSError\n",
    ],
)
def test_no_return_where_none_may_stand(source: str) -> None:
    for number in range(9):  # what is inserted depends on the text
        texts = variants(AFTER_RETURN, f"# {number}\n{source}")
        assert len(texts) == 3
        assert not any("return" in text for text in texts)


def test_generators() -> None:
    source = "def f(a):\n    yield 1\n    if a:\n        return 2\n    yield 3\n"
    assert agrees(AFTER_RETURN, source, "list(f(0))", "list(f(1))")
    source = "async def f(a):\n    yield 1\n    return\n"
    for text in variants(AFTER_RETURN, source):
        compile(text, "<text>", "exec")
