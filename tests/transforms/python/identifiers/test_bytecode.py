"""The compiler as judge: what is not the same program up to names has other code."""

from itertools import pairwise

import pytest

from codeaudit.transforms.python.identifiers.proofs import NameMapping, has_cells, same_code
from codeaudit.transforms.python.identifiers.rename import variables
from codeaudit.transforms.python.parsing import compiled
from tests.support.stdlib import sample

BEFORE = "def f(a):\n    x = a\n    y = 1\n    return [x.z(k=x) for z in y]\n"


def proved(before: str, after: str, image: NameMapping) -> bool:
    one, other = compiled(before), compiled(after)
    assert one is not None
    return other is not None and same_code(one, other, image)


def test_names_are_no_difference() -> None:
    after = "def f(a):\n    v = a\n    y = 1\n    return [v.z(k=v) for z in y]\n"
    assert proved(BEFORE, after, NameMapping({"x": {"v"}}))
    assert not proved(BEFORE, after, NameMapping({"x": {"w"}}))
    assert not proved(BEFORE, after, NameMapping({}))
    assert not proved(BEFORE, BEFORE, NameMapping({"x": {"v"}}))


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):\n    v = a\n    y = 1\n    return [x.z(k=v) for z in y]\n",  # one missed
        "def f(a):\n    v = a\n    y = 1\n    return [v.v(k=v) for z in y]\n",  # an attribute too
        "def f(a):\n    v = a\n    y = 1\n    return [v.z(v=v) for z in y]\n",  # a keyword too
        "def f(a):\n    v = a\n    y = 1\n    return [v.z(k=v) for v in y]\n",  # captured
        "def f(a):\n    v = a\n    v = 1\n    return [v.z(k=v) for z in v]\n",  # two merged
        "def f(a):\n    v = a\n    y = 2\n    return [v.z(k=v) for z in y]\n",  # another constant
        "def f(a):\n    v = a\n    y = True\n    return [v.z(k=v) for z in y]\n",  # an equal constant
        "def f(a):\n    v = a\n    y = 1\n    return {v.z(k=v) for z in y}\n",  # another structure
        "def f(a):\n    v = a\n    y = 1\n    return [v.z(k=v) for z in v]\n",  # another variable
        "def f(v):\n    v = v\n    y = 1\n    return [v.z(k=v) for z in y]\n",  # a parameter's name
        "def f(a):\n    v = a\n    y = 1\n    return [v.z(k=y) for z in y]\n",  # another closure
        "def f(a):\n    global v\n    v = a\n    y = 1\n    return [v.z(k=v) for z in y]\n",  # a global
        "def g(a):\n    v = a\n    y = 1\n    return [v.z(k=v) for z in y]\n",  # another function
        "async def f(a):\n    v = a\n    y = 1\n    return [v.z(k=v) for z in y]\n",  # another kind
        "def f(a=1):\n    v = a\n    y = 1\n    return [v.z(k=v) for z in y]\n",  # another default
        "def f(a):\n    v = a\n    y = 1\n    return [v.z(k=v) for z in y\n",  # no longer Python
    ],
)
def test_any_other_difference_is_seen(text: str) -> None:
    assert not proved(BEFORE, text, NameMapping({"x": {"v"}}))


HUGE = f"0x{'f' * 5000}"
"""A number that Python refuses to write with decimal digits."""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "1.0"),
        ("0.0", "-0.0"),
        ("1 in {1, 2}", "1 in {True, 2}"),
        ("1 in {0.0}", "1 in {-0.0}"),
        (HUGE, f"{HUGE}0"),
        (f"({HUGE}, 1)", f"({HUGE}0, 1)"),
        (f"1 in {{{HUGE}, 1}}", f"1 in {{{HUGE}0, 1}}"),
        ("(1, (2,))", "(1, (2.0,))"),
        ("(1,)", "(True,)"),
        ("'x'", "b'x'"),
        ("None", "..."),
        ("1j", "-1j"),
    ],
)
def test_constants_are_compared_by_type_and_sign(one: str, other: str) -> None:
    assert proved(f"x = {one}", f"x = {one}", NameMapping({}))
    assert not proved(f"x = {one}", f"x = {other}", NameMapping({}))


def test_sets_are_compared_whatever_their_order() -> None:
    text = "def f(a):\n    return a in {1, True, 'a', 'b', (2,), None}\n"
    assert proved(text, text, NameMapping({}))
    assert not proved(text, text.replace("(2,)", "(2.0,)"), NameMapping({}))


def test_assertions_are_compared() -> None:
    assert not proved("assert x", "assert y", NameMapping({}))


def test_the_handlers_of_exceptions_are_compared() -> None:
    guarded = "def f():\n    try:\n        a()\n        {}\n    except E:\n        pass\n    {}\n"
    assert not proved(guarded.format("b()", "pass"), guarded.format("pass", "b()"), NameMapping({}))


def test_text_that_does_not_compile_has_no_code() -> None:
    assert compiled("def f():\n    nonlocal x\n") is None
    assert compiled("def f(:\n") is None
    assert compiled("\0") is None


# The proof of a renaming, whichever of its two ways it takes


@pytest.mark.parametrize(
    ("source", "evidence"),
    [
        ("def f(a):\n    x = a\n    return x\n", "compiled"),
        ("def f(a):\n    nonlocal n\n    x = n = a\n    return x\n", "analysis"),
        ("def f(a):\n    x = y = a\n    return lambda: x + y\n", "analysis"),
    ],
)
def test_a_wrong_splice_is_refused(source: str, evidence: str) -> None:
    known = variables(source)
    number = next(binding.number for binding in known.scopes.bindings if binding.name == "x")
    right = known.rewritten({number: "zz"})
    assert known.proof(right, {number: "zz"}) == evidence
    for at in range(len(right)):
        for wrong in (right[:at] + right[at + 1 :], right[:at] + "q" + right[at + 1 :]):
            if "".join(wrong.split()) != "".join(right.split()):  # spaces are no difference
                assert known.proof(wrong, {number: "zz"}) is None, wrong


def test_a_capture_is_refused() -> None:
    refused = 0
    for source in sample(30):
        known = variables(source)
        local = [binding for binding in known.scopes.bindings if binding.view == "local" and binding.located]
        for one, other in pairwise(local):
            if one.scope == other.scope:
                names = {one.number: other.name}
                assert known.collides(names)
                assert known.proof(known.rewritten(names), names) is None, source
                refused += 1
    assert refused > 5


PROGRAMS = (
    "def f(a): return a",
    "def f(a):\n return a\n b = a",
    "\ndef f(a): return a",
    "def f(a, b): return a",
    "def f(a, /): return a",
    "def f(*, a): return a",
    "def f(*a): return a",
    "def f(**a): return a",
    "def f(a): yield a",
    "def f(a): return -a",
    "def f(a): return a.b",
    "def f(a): return a.c",
    "def f(a): return g",
    "def f(a): return 1",
    "def f(a): return 2",
    "def f(a): return 2.5",
    "def f(a): return 'x'",
    "def f(a): return (1, 2)",
    "def f(a): return (1, 3)",
    "def f(a): return (1, 2, 3)",
    "def f(a): return ((1, 2), 3)",
    "def f(a): return a in {1, 2}",
    "def f(a): return a in {1, 3}",
    "def f(a): return a in {1, 2, 3}",
    "def f(a): return a in (1, 2)",
    "def f(a): return lambda: a",
    "def f(a): return lambda: 1",
    "def f(a): return lambda b: 1",
    "def f(a):\n try: a()\n finally: pass",
    "def f(a):\n try: a()\n except E: pass",
    "def f(a):\n a()\n try: pass\n except E: pass",
    "def f(a): return 1 if a else 2",
    "def f(a): return 1 if a else 1",
    "class f: a = 1",
)


def test_each_program_is_itself_and_no_other_one() -> None:
    """In both orders, because a difference has two sides."""
    for one in PROGRAMS:
        for other in PROGRAMS:
            assert proved(one, other, NameMapping({})) is (one is other), (one, other)


def test_equal_sets_are_equal_in_any_order() -> None:
    for one, other in (("{1, 2}", "{2, 1}"), ("{'a', 'b', 'c'}", "{'c', 'a', 'b'}")):
        assert proved(f"def f(a): return a in {one}", f"def f(a): return a in {other}", NameMapping({}))


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("a = 1", False), ("def f(a): return a", False), ("def f(a): return lambda: a", True),
        ("def f(a):\n def g():\n  def h(): return a\n  return h\n return g", True),
        ("def f(a): return lambda b: b", False), ("class C:\n def f(self): return __class__", True),
        ("def f(a): return [b for b in a]", False),
    ],
)  # fmt: skip
def test_which_code_has_cells(text: str, cells: bool) -> None:
    code = compiled(text)
    assert code is not None
    assert has_cells(code) is cells
