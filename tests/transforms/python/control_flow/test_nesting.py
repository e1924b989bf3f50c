"""`with` and `try` nested or not: everything is entered, left and handled in the same order."""

import pytest

from codeaudit.transforms.python.control_flow import nesting
from codeaudit.transforms.python.control_flow.nesting import MERGE_TRY, MERGE_WITH, SPLIT_TRY, SPLIT_WITH
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.suites import COMMENT, INDENTATION
from tests.transforms.python.control_flow.support import function, logged
from tests.transforms.python.order.support import agrees, reasons, untouched, variants

MANAGERS = """\
log = []
class M:
    def __init__(self, name, holds=False, fails=''):
        log.append(name)
        self.name, self.holds, self.fails = name, holds, fails
    def __enter__(self):
        log.append('enter ' + self.name)
        if self.fails == 'enter': raise KeyError(self.name)
        return [1, self.name]
    def __exit__(self, kind, error, trace):
        log.append(('exit', self.name, kind, str(error)))
        if self.fails == 'exit': raise ValueError(self.name)
        return self.holds
def drive(one, other):
    try:
        return f(one, other), log
    except Exception as error:
        return repr(error), log
"""

BEFORE_AFTER: dict[str, tuple[PythonRule, str, tuple[str, ...]]] = {
    "two items": (
        SPLIT_WITH,
        "with a as x, b: log.append(x[0]); x[5]",
        ("with a as x:\n    with b: log.append(x[0]); x[5]",),
    ),
    "items in parentheses": (
        SPLIT_WITH,
        "with (a as (x, y), (b),):  # one\n    # two\n    log.append('''\nt''')\n    # three\n# four\nreturn 1",
        (
            "with a as (x, y):\n    with (b):  # one\n        # two\n        log.append('''\nt''')\n"
            "        # three\n# four\nreturn 1",
        ),
    ),
    "tuples": (
        SPLIT_WITH,
        "with (a, b), ((b, a)), (a, b) as x: log.append(1)",
        (
            "with ((a, b)):\n    with ((b, a)), (a, b) as x: log.append(1)",
            "with (a, b), ((b, a)):\n    with (a, b) as x: log.append(1)",
        ),
    ),
    "a tuple of one or none": (
        SPLIT_WITH,
        "with (a,), (): log.append(1)",
        ("with ((a,)):\n    with (()): log.append(1)",),
    ),
    "three items": (
        SPLIT_WITH,
        "with a, b as x, M('c') as x[0]:\n    log.append(x)\n    raise KeyError(0)",
        (
            "with a:\n    with b as x, M('c') as x[0]:\n        log.append(x)\n        raise KeyError(0)",
            "with a, b as x:\n    with M('c') as x[0]:\n        log.append(x)\n        raise KeyError(0)",
        ),
    ),
    "a with in a with": (
        MERGE_WITH,
        "with(a):\n    with (b) as x:  # one\n        log.append('''\nt''')\n        return x\n    # two\nreturn 2",
        ("with (a), (b) as x:  # one\n    log.append('''\nt''')\n    return x\n# two\nreturn 2",),
    ),
    "a with on one line": (
        MERGE_WITH,
        "with a as x, M('c'):\n    with b as y: x[3]",
        ("with a as x, M('c'), b as y: x[3]",),
    ),
    "handlers and finally": (
        SPLIT_TRY,
        "try:  # one\n    log.append(a.x)\n    # two\n# three\nexcept AttributeError as error:\n"
        "    return '''\nt'''\n# four\nfinally:  # five\n    log.append('last')",
        (
            "try:\n    try:  # one\n        log.append(a.x)\n        # two\n    # three\n"
            "    except AttributeError as error:\n        return '''\nt'''\n# four\n"
            "finally:  # five\n    log.append('last')",
        ),
    ),
    "an else": (
        SPLIT_TRY,
        "try: a.name\nexcept: return 1\nelse: b.x\nfinally: return 2",
        ("try:\n    try: a.name\n    except: return 1\n    else: b.x\nfinally: return 2",),
    ),
    "groups": (
        SPLIT_TRY,
        "try: a.x\nexcept* AttributeError: log.append(1)\nfinally: log.append(2)",
        ("try:\n    try: a.x\n    except* AttributeError: log.append(1)\nfinally: log.append(2)",),
    ),
    "a try in a try": (
        MERGE_TRY,
        "try:\n    try:  # one\n        a.x\n    except KeyError:\n        log.append(1)\n        # two\n    # three\n"
        "# four\nfinally:\n    log.append(2)",
        (
            "try:  # one\n    a.x\nexcept KeyError:\n    log.append(1)\n    # two\n# three\n# four\n"
            "finally:\n    log.append(2)",
        ),
    ),
    "a try with else in a try": (
        MERGE_TRY,
        "try:\n    try: a.name\n    except: return 1\n    else: b.x\nfinally: log.append(2)",
        ("try: a.name\nexcept: return 1\nelse: b.x\nfinally: log.append(2)",),
    ),
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("case", BEFORE_AFTER)
def test_before_and_after(case: str) -> None:
    rule, before, after = BEFORE_AFTER[case]
    source = MANAGERS + function(before)
    assert variants(rule, source) == {MANAGERS + function(text) for text in after}
    for manager in ("M('a')", "M('a', True)", "M('a', fails='enter')", "M('a', True, 'exit')"):
        for other in ("M('b')", "M('b', True)", "M('b', fails='enter')", "M('b', fails='exit')"):
            assert agrees(rule, source, f"drive({manager}, {other})")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (SPLIT_WITH, "with a(1) as x, b as c.x, x(2) as (y, z):\n    b(x)\nreturn a(y)"),
        (MERGE_WITH, "with a(1) as x, b:\n    with x(2) as c[1]:\n        return b(x)\nreturn a(4)"),
        (
            SPLIT_TRY,
            "for i in range(3):\n    try:\n        if a:\n            continue\n        b(i).x = c\n"
            "    except KeyError as error:\n        emit(str(error))\n        if b: break\n        raise\n"
            "    else:\n        if c: return a\n    finally:\n        b(2)\nreturn 3",
        ),
        (
            MERGE_TRY,
            "for i in range(3):\n    try:\n        try:\n            if a: continue\n            b(i).x = c\n"
            "        except KeyError as error:\n            emit(str(error))\n            if b: break\n"
            "            raise\n        else:\n            if c: return a\n    finally:\n        b(2)\nreturn 3",
        ),
    ],
)  # fmt: skip
def test_everything_happens_in_the_same_order(rule: PythonRule, text: str) -> None:
    assert logged(rule, text + "\n", runs=90)


def test_asynchronous_managers() -> None:
    source = (
        "import asyncio\nlog = []\nclass M:\n    async def __aenter__(self): log.append('in')\n"
        "    async def __aexit__(self, *rest): log.append(rest[0])\n"
    )
    split = "async def f():\n    async with M() as x, M():\n        log.append(x)\n        1 / 0\n"
    merged = "async def f():\n    async with M():\n        async with M() as x: log.append(x); 1 / 0\n"
    run = "def g():\n    try: asyncio.run(f())\n    except ZeroDivisionError: return log\n"
    assert agrees(SPLIT_WITH, source + split + run, "g()")
    assert agrees(MERGE_WITH, source + merged + run, "g()")


DECLINED: dict[str, tuple[PythonRule, str, str]] = {
    "a comment among items": (SPLIT_WITH, "with (a,  # one\n    b): c()", COMMENT),
    "an item over lines": (SPLIT_WITH, "with (a as x, b\n    .c as y): c()", nesting.LINES),
    "spaces and tabs": (SPLIT_WITH, "with a, b:\n\tc()", INDENTATION),
    "a comment between": (MERGE_WITH, "with a:  # one\n    with b: c()", COMMENT),
    "no handler": (SPLIT_TRY, "try: a()\nfinally: b()", nesting.NO_HANDLER),
    "spaces and tabs in try": (SPLIT_TRY, "try:\n\ta()\nexcept A: b()\nfinally: b()", INDENTATION),
    "a comment between two tries": (
        MERGE_TRY,
        "try:\n    # one\n    try: a()\n    except A: b()\nfinally: b()",
        COMMENT,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DECLINED)
def test_declined(case: str) -> None:
    rule, text, reason = DECLINED[case]
    assert reasons(rule, function(text)) == {reason}
    assert untouched(rule, function(text))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (MERGE_WITH, "with a:\n    with b: c()\n    d()"),
        (MERGE_WITH, "with a:\n    for x in b:\n        with x: c()"),
        (MERGE_TRY, "try:\n    try: a()\n    finally: b()\nfinally: c()"),
        (MERGE_TRY, "try:\n    try: a()\n    except A: b()\n    c()\nfinally: c()"),
        (MERGE_TRY, "try:\n    try: a()\n    except A: b()\nexcept B: b()\nfinally: c()"),
        (SPLIT_TRY, "try: a()\nexcept A: b()\nelse: c()"),
        (SPLIT_WITH, "with (a): b()"),
        (SPLIT_WITH, "with (a, b) as c: b()"),
    ],
)
def test_other_statements(rule: PythonRule, text: str) -> None:
    assert untouched(rule, function(text))


def test_an_asynchronous_with_in_another() -> None:
    assert untouched(MERGE_WITH, "async def f(a, b):\n    async with a:\n        with b: pass\n")
