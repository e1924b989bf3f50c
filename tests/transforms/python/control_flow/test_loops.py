"""Loops in another form: the same turns, the same variables afterwards, the same `else`."""

import ast
import re
import sys
from random import Random

import pytest

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.python.control_flow import loops
from codeaudit.transforms.python.control_flow.loops import FOR_TO_WHILE, UNROLL_WHILE, WHILE_TO_WHILE_TRUE
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.suites import COMMENT, REFLECTION, SHARED, bound_in
from codeaudit.transforms.records import Perturbed
from tests.transforms.python.control_flow.support import function, logged
from tests.transforms.python.order.support import agrees, outcome, reasons, run, untouched, variants

COUNTED: dict[str, tuple[str, str]] = {
    "a range": (
        "x = []\nfor i in range(3): x.append(i)\nreturn x, i",
        "x = []\nN1 = 0\nwhile N1 < 3:\n    i = N1\n    N1 += 1\n    x.append(i)\nreturn x, i",
    ),
    "a limit that is no constant": (
        "x = []\nfor i in range(1, len(x) + len('abcd')):  # one\n    # two\n    x.append(i)\nreturn x",
        "x = []\nN1 = 1\nN2 = len(x) + len('abcd')\nwhile N1 < N2:  # one\n    i = N1\n    N1 += 1\n"
        "    # two\n    x.append(i)\nreturn x",
    ),
    "a range that falls": (
        "x = []\nfor i in range(len('abc') - 1, -1, -1):\n    x.append(i)\nelse:\n    return x\nreturn i",
        "x = []\nN1 = len('abc') - 1\nwhile N1 > -1:\n    i = N1\n    N1 -= 1\n    x.append(i)\n"
        "else:\n    return x\nreturn i",
    ),
    "arguments over lines": (
        "i = 7\nfor i in (range(len('a')\n    + 1, len('abc'), 2)): pass\nreturn i",
        "i = 7\nN1 = (len('a')\n    + 1)\nN2 = len('abc')\nwhile N1 < N2:\n    i = N1\n    N1 += 2\n    pass\nreturn i",
    ),
    "the variable among the arguments": (
        "i = 2\nx = []\nfor i in range(i, i * 3): x.append(i)\nreturn x",
        "i = 2\nx = []\nN1 = i\nN2 = i * 3\nwhile N1 < N2:\n    i = N1\n    N1 += 1\n    x.append(i)\nreturn x",
    ),
    "a list": (
        "x = [1, 2]\nfor i in x:\n    if i < 5: x.append(i + 2)\nreturn x",
        "x = [1, 2]\nN1 = 0\nwhile N1 < len(x):\n    i = x[N1]\n    N1 += 1\n    if i < 5: x.append(i + 2)\nreturn x",
    ),
    "a text": (
        "s = ''\ns += 'abc'\nfor i in s: x = i\nreturn x",
        "s = ''\ns += 'abc'\nN1 = 0\nwhile N1 < len(s):\n    i = s[N1]\n    N1 += 1\n    x = i\nreturn x",
    ),
    "loops in a loop": (
        "x = []\nfor i in range(3):\n    for j in range(2): x.append((i, j))\nreturn x",
        "",
    ),
}


@pytest.mark.parametrize("case", COUNTED)
def test_for_to_while(case: str) -> None:
    before, after = COUNTED[case]
    source = function(before)
    if after:
        (text,) = variants(FOR_TO_WHILE, source)
        assert _numbered(text, source) == function(after)
    assert agrees(FOR_TO_WHILE, source, "f(1, 2)")


def _numbered(text: str, source: str) -> str:
    """The text with its new names by number."""
    known = set(re.findall(r"\w+", source)) | {"while", "len"}
    new = [word for word in dict.fromkeys(re.findall(r"[a-z]\w*", text)) if word not in known]
    for number, word in enumerate(new, 1):
        text = re.sub(rf"\b{word}\b", f"N{number}", text)
    return text


TURNS = {
    "continue": "for i in range(6):\n    if i % 2: continue\n    log.append(i)",
    "break and else": "for i in range(6):\n    log.append(i)\n    if i == a: break\nelse:\n    log.append('else')",
    "the variable is bound in the body": "for i in range(4):\n    log.append(i)\n    i = 9\nlog.append(i)",
    "the variable is deleted in the body": "for i in range(4):\n    log.append(i)\n    del i\nlog.append(i)",
    "the variable is not bound": "for i in range(0):\n    pass\nlog.append(i)",
    "the variable was bound": "i = 5\nfor i in range(2, 2):\n    pass\nlog.append(i)",
    "the limit changes": "n = 3\nfor i in range(n):\n    n = 1\n    log.append(i)\nlog.append(n)",
    "the limit has the variable's name": "i = 4\nfor i in range(i):\n    log.append(i)",
    "the limit raises": "n = 0\nfor i in range(2 // n): pass",
    "the limit is unbound": "if a:\n    n = 2\nfor i in range(n): log.append(i)",
    "the list is unbound": "if a:\n    x = [2]\nfor i in x: log.append(i)",
    "a large range": "for i in range(10 ** 30, 10 ** 30 + 3): log.append(i)",
    "functions that see the variable": "g = []\nfor i in range(3): g.append(lambda: i)\nlog.append([h() for h in g])",
    "a function that changes the variable": (
        "def g():\n    nonlocal i\n    i += 10\nfor i in range(3):\n    g()\n    log.append(i)"
    ),
    "a global variable": "global k\nfor k in range(3):\n    log.append(globals()['k'])",
    "the list shrinks": "x = [1, 2, 3, 4]\nfor i in x:\n    log.append(i)\n    x.pop()",
    "the list loses its first": "x = [1, 2, 3, 4]\nfor i in x:\n    log.append(i)\n    x.remove(i)\nlog.append(x)",
    "the list is cleared": "x = [1, 2, 3]\nfor i in x:\n    x.clear()\n    log.append(i)\nelse:\n    log.append(x)",
    "bytes": "x = b'ab'\nfor i in x: log.append(i)",
    "an exception in the body": "x = [3, 0]\nfor i in x:\n    log.append(12 // i)",
    "finally": "for i in range(3):\n    try:\n        if i == a: continue\n        log.append(i)\n    finally:\n        log.append('f')",
    "return out of the loop": "for i in range(3):\n    if i == 1: return i\n    log.append(i)",
}  # fmt: skip


@pytest.mark.parametrize("case", TURNS)
def test_the_turns_of_a_counted_loop(case: str) -> None:
    source = f"log = []\n{function(TURNS[case])}"
    applied = agrees(FOR_TO_WHILE, source, "(f(0, 0), log)", "(f(3, 0), log)", "[f(1, 1), log]")
    assert applied or case in ("a large range", "the limit raises"), reasons(FOR_TO_WHILE, source)


@pytest.mark.parametrize(
    "text",
    [
        "k = 1000\nfor i in range(1000, 1002): log.append(i is k)",
        "k = 1000\nfor i in range(k, k + 2): log.append(k is not i)",
        "k = 1000\nfor i in range(k, k + 2): log.append(object.__eq__(k, i))",
        "k = 1000\nfor i in range(k, k + 2): log.append(getattr(object, '__ne__')(k, i))",
        "k = 1000\nfor i in range(k, k + 2): log.append(id(i) == id(k))",
        "k = 1000\nx = []\nfor i in range(k, 1002): x.append(i)\nlog.append([j is k for j in x])",
    ],
)
def test_a_number_that_may_be_told_from_an_equal_one(text: str) -> None:
    source = f"log = []\n{function(text)}"
    assert untouched(FOR_TO_WHILE, source)
    assert reasons(FOR_TO_WHILE, source) == {loops.SEEN}


@pytest.mark.parametrize(
    ("around", "reason"),
    [
        ("def same(a, b): return a is b\n", {loops.SEEN}),
        ("from operator import is_ as same\n", {loops.SEEN}),
        ("def none(a): return a is None or type(a) is str\n", set()),
    ],
)
def test_a_file_that_may_tell_numbers_apart(around: str, reason: set[str]) -> None:
    text = function("for i in range(1000, 1002): same(i, a)")
    proposal = FOR_TO_WHILE.within(around + text).propose(text, Random(0))
    assert (proposal == Refused(loops.SEEN)) == bool(reason)


@pytest.mark.parametrize(
    "text",
    [
        "for i in range(3): log.append(i is a)",
        "for i in range(256, 258): log.append(i is a)",
        "k = 1000\nfor i in range(k, 1002): log.append(a is None or type(i) is int or i is True)",
    ],
)
def test_numbers_that_nobody_tells_apart(text: str) -> None:
    source = f"log = []\n{function(text)}"
    assert agrees(FOR_TO_WHILE, source, "(f(0, 0), log)", "(f(256, 0), log)")


def test_values_sent_into_a_loop() -> None:
    source = function("for i in range(3):\n    a = yield i, a\nelse:\n    yield a", "a")
    drive = "def drive():\n    g = f(5)\n    return [next(g), g.send(6), g.send(7), g.send(8), list(g)]\n"
    assert agrees(FOR_TO_WHILE, source + drive, "drive()")


NOT_COUNTED: dict[str, tuple[str, str]] = {
    "any iterable": ("for i in a: b(i)", loops.NO_RANGE),
    "a dictionary": ("x = {1: 2}\nfor i in x: b(i)", loops.NO_RANGE),
    "a set": ("x = {1, 2}\nfor i in x: b(i)", loops.NO_RANGE),
    "a generator": ("x = (i for i in a)\nfor i in x: b(i)", loops.NO_RANGE),
    "a range of who knows what": ("for i in range(a): b(i)", loops.NO_INTEGER),
    "a range of starred arguments": ("for i in range(*a): b(i)", loops.NO_INTEGER),
    "a range of nothing": ("for i in range(): b(i)", loops.NO_INTEGER),
    "a range of truth values": ("for i in range(True): b(i)", loops.NO_INTEGER),
    "a range of a fraction": ("for i in range(len(a) / 2): b(i)", loops.NO_INTEGER),
    "a step of 0": ("for i in range(0, 3, 0): b(i)", loops.STEP),
    "a step that is no constant": ("n = 1\nfor i in range(0, 3, n): b(i)", loops.STEP),
    "a range of one's own": ("range = a\nfor i in range(3): b(i)", loops.NO_RANGE),
    "a length of one's own": ("len = b\nfor i in range(len(a)): b(i)", loops.NO_INTEGER),
    "a length of one's own for a list": ("len = b\nx = [1]\nfor i in x: b(i)", loops.NO_RANGE),
    "several variables": ("for i, j in range(3): b(i)", loops.TARGET),
    "an attribute": ("for a.i in range(3): b(i)", loops.TARGET),
    "the list is bound in the loop": ("x = [1]\nfor i in x: x = [2]", loops.REBOUND),
    "the list is added to in the loop": ("x = [1]\nfor i in x:\n    if b: x += [2]", loops.REBOUND),
    "the list is deleted in the loop": ("x = [1]\nfor i in x: del x", loops.NO_RANGE),
    "the list is deleted somewhere": ("x = [1]\nfor i in x: b()\ndel x", loops.NO_RANGE),
    "the variable is the list": ("x = [1]\nfor x in x: b(x)", loops.NO_RANGE),
    "a function binds the list": (
        "x = [1]\ndef g():\n    nonlocal x\n    x = [2]\nfor i in x: g()",
        loops.NO_RANGE,
    ),
    "the loop binds the list by an import": ("x = [1]\nfor i in x: import b as x", loops.NO_RANGE),
    "the loop binds the list by a definition": ("x = [1]\nfor i in x:\n    def x(): pass", loops.NO_RANGE),
    "the loop binds the list by a pattern": (
        "x = [1]\nfor i in x:\n    match i:\n        case x: b()",
        loops.NO_RANGE,
    ),
    "the list may be something else": ("x = [1]\nif a: x = b\nfor i in x: b(i)", loops.NO_RANGE),
    "a comment in the header": ("for i in (range(  # one\n    3)): b(i)", COMMENT),
    "names of variables are looked at": ("for i in range(3): b(locals())", REFLECTION),
    "a frame is looked at": ("for i in range(3): b(sys._getframe(0).f_locals)", REFLECTION),
    "a class body": ("class A:\n    for i in range(3): b(i)", loops.OUTSIDE),
}


@pytest.mark.parametrize("case", NOT_COUNTED)
def test_loops_that_are_not_counted(case: str) -> None:
    text, reason = NOT_COUNTED[case]
    source = function(text)
    refusals = reasons(FOR_TO_WHILE, source)
    assert refusals  # the type of a list that is bound again may be known, or not
    assert refusals <= {reason, loops.REBOUND}
    assert untouched(FOR_TO_WHILE, source)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1", "x += 1", "(x := 1)", "del x", "[y for x in y]", "for x in y: pass", "with y as (z, *x): pass",
        "def x(): pass", "class x: pass", "async def x(): pass", "lambda x: y", "def f(*x): pass", "global x",
        "def f():\n    nonlocal x", "import x", "import x.y", "import y as x", "from y import x", "from y import *",
        "try: y\nexcept z as x: pass", "match y:\n    case x: pass", "match y:\n    case [*x]: pass",
        "match y:\n    case {**x}: pass",
    ],
)  # fmt: skip
def test_whatever_binds_a_name_is_seen(text: str) -> None:
    assert bound_in(ast.parse(text), "x")
    assert not bound_in(ast.parse(text), "q") or text.endswith("*")
    assert not bound_in(ast.parse("import y.x, x.y as z; x.x = y[x]; f(x=x)"), "x")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no type parameters")
def test_a_type_parameter_with_the_name_of_a_builtin() -> None:
    source = "def f[range](a: range):\n    for i in range(3): print(i)\n"
    assert reasons(FOR_TO_WHILE, source) == {loops.NO_RANGE}


def test_variables_of_a_module_are_seen_by_all() -> None:
    assert reasons(FOR_TO_WHILE, "for i in range(3):\n    print(i)\n") == {loops.OUTSIDE}


def test_an_asynchronous_loop_is_none_of_these() -> None:
    source = "async def f(a):\n    async for i in a:\n        pass\n    for j in range(3):\n        await a\n"
    assert len(variants(FOR_TO_WHILE, source)) == 1


def test_new_names_are_nowhere_in_the_text() -> None:
    source = function("for i in range(len(a)):\n    for j in range(len(b)): pass\nreturn i")
    edit = outcome(FOR_TO_WHILE, source)
    assert isinstance(edit, Perturbed)
    new = _words(edit.source) - _words(source) - {"while"}
    assert len(new) == 4
    for name in new:
        again = outcome(FOR_TO_WHILE, source.replace("return i", f"return '{name}'"))
        assert isinstance(again, Perturbed)
        assert len(re.findall(rf"\b{name}\b", again.source)) == 1


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z_]\w*", text))


BEFORE_AFTER: dict[str, tuple[PythonRule, str, str]] = {
    "a condition": (
        WHILE_TO_WHILE_TRUE,
        "while a < 3:  # one\n    # two\n    a += 1\nreturn a",
        "while True:  # one\n    if not a < 3:\n        break\n    # two\n    a += 1\nreturn a",
    ),
    "a negation on one line": (
        WHILE_TO_WHILE_TRUE,
        "while(not a > 3): a += 1; b += a\nreturn a, b",
        "while True:\n    if a > 3:\n        break\n    a += 1; b += a\nreturn a, b",
    ),
    "a condition over lines": (
        WHILE_TO_WHILE_TRUE,
        "while a < 3 \\\n    and b:\n    a += 1\nreturn a",
        "while True:\n    if not (a < 3 \\\n    and b):\n        break\n    a += 1\nreturn a",
    ),
    "continue and an assignment expression": (
        WHILE_TO_WHILE_TRUE,
        "while (x := a - b) > 0:\n    a -= 1\n    if x % 2: continue\n    b += 1\nreturn a, b, x",
        "while True:\n    if not (x := a - b) > 0:\n        break\n    a -= 1\n    if x % 2: continue\n    b += 1\n"
        "return a, b, x",
    ),
    "twice": (
        UNROLL_WHILE,
        "while a < 5:  # one\n    # two\n    a += 1\n    if a == b: continue\n    b += 1\n    # three\nreturn a, b",
        "while a < 5:  # one\n    # two\n    a += 1\n    if a == b: continue\n    b += 1\n    # three\n"
        "    if not a < 5:\n        break\n    # two\n    a += 1\n    if a == b: continue\n    b += 1\n    # three\n"
        "return a, b",
    ),
    "twice with break": (
        UNROLL_WHILE,
        "while not a > 5:\n    a += 1\n    if a == b: break\nreturn a, b",
        "while not a > 5:\n    a += 1\n    if a == b: break\n    if a > 5:\n        break\n    a += 1\n"
        "    if a == b: break\nreturn a, b",
    ),
}


@pytest.mark.parametrize("case", BEFORE_AFTER)
def test_while(case: str) -> None:
    rule, before, after = BEFORE_AFTER[case]
    assert variants(rule, function(before)) == {function(after)}
    assert agrees(rule, function(before), *(f"f({a}, {b})" for a in (0, 3, 9) for b in (0, 2, 4)))


DECLINED: dict[str, tuple[PythonRule, str, str]] = {
    "no condition": (WHILE_TO_WHILE_TRUE, "while True: break", loops.ENDLESS),
    "an else": (WHILE_TO_WHILE_TRUE, "while a: b()\nelse: c()", loops.HAS_ELSE),
    "a comment in a condition": (WHILE_TO_WHILE_TRUE, "while (a  # one\n    or b): b()", COMMENT),
    "no condition twice": (UNROLL_WHILE, "while 1:\n    break", loops.ENDLESS),
    "an else twice": (UNROLL_WHILE, "while a:\n    b()\nelse: c()", loops.HAS_ELSE),
    "one line": (UNROLL_WHILE, "while a: b()", SHARED),
    "long": (UNROLL_WHILE, "while a:\n" + "    b()\n" * 6 + "    c()", loops.LONG),
    "a function in the body": (UNROLL_WHILE, "while a:\n    def g(): pass", loops.LONG),
    "a declaration in the body": (UNROLL_WHILE, "while a:\n    global x\n    x = 1", loops.LONG),
}


@pytest.mark.parametrize("case", DECLINED)
def test_while_declined(case: str) -> None:
    rule, text, reason = DECLINED[case]
    source = function(text)
    assert reasons(rule, source) == {reason}
    assert untouched(rule, source)


@pytest.mark.parametrize("rule", [WHILE_TO_WHILE_TRUE, UNROLL_WHILE])
@pytest.mark.parametrize(
    "condition",
    [
        "a",
        "not a",
        "a and not b",
        "not (a or b)",
        "a < b < c",
        "(x := a) or b",
        "a if b else c",
        "a and (b if c else a)",
    ],
)
def test_a_condition_is_asked_once_a_turn(rule: PythonRule, condition: str) -> None:
    assert logged(
        rule, f"while {condition}:\n    a(1)\n    if b:\n        continue\n    c[1] = 2\nreturn a(3)\n"
    )


@pytest.mark.parametrize("rule", [WHILE_TO_WHILE_TRUE, UNROLL_WHILE])
def test_generators_and_modules(rule: PythonRule) -> None:
    source = "def f(n):\n    while (yield n):\n        n += 1\n        yield 'turn'\n"
    source += "def drive():\n    g = f(1)\n    return [next(g), g.send(1), next(g), g.send(2), list(g)]\n"
    source += "k = 0\nwhile k < 3:\n    k += 1\n"
    assert agrees(rule, source, "(drive(), k)") >= 2
    assert run(source, "k")[1] == "3"
