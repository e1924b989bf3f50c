"""Operands of `and` and `or`."""

import pytest

from codeaudit.transforms.python.order.operands import REORDER_OPERANDS, SEEN
from tests.transforms.python.order.support import agrees, reasons, untouched, variants


def inside(expression: str, *, tested: bool = False) -> str:
    """A function of three unknown objects, a number and a list that uses the expression."""
    used = f"if {expression}: return 1" if tested else f"return {expression}"
    return f"def f(a, b, c):\n    n = 3\n    xs = [n]\n    {used}\n"


@pytest.mark.parametrize(
    ("before", "after", "tested"),
    [
        pytest.param("a is None or b is None", "b is None or a is None", False, id="or"),
        pytest.param("a is None and (b is not c)", "(b is not c) and a is None", False, id="and"),
        pytest.param("isinstance(a, int) and n > 2", "n > 2 and isinstance(a, int)", False, id="looks"),
        pytest.param("f(a) or n > 2 or a is b", "f(a) or a is b or n > 2", False, id="behind an acting one"),
        pytest.param("n and xs", "xs and n", True, id="truth of builtin types"),
        pytest.param(
            "a is b and (b is c or c is a)", "a is b and (c is a or b is c)", False, id="nested operands"
        ),
    ],
)
def test_operands(before: str, after: str, tested: bool) -> None:
    assert inside(after, tested=tested) in variants(REORDER_OPERANDS, inside(before, tested=tested))


@pytest.mark.parametrize(
    ("expression", "tested"),
    [
        pytest.param("n and xs", False, id="the value shows which operand decided"),
        pytest.param("a and b", True, id="truth of anything"),
        pytest.param("a is None or a > 3", True, id="a guard"),
        pytest.param("a == b and a is None", True, id="a comparison that may raise"),
        pytest.param("(d := a) is None and d is b", True, id="a walrus"),
        pytest.param("f() and n > 2", True, id="a call"),
        pytest.param("LIMIT is None and a is b", True, id="a global that may be missing"),
        pytest.param("xs[0] is a and a is b", True, id="an item that may be missing"),
        pytest.param("a.x is None and a is b", True, id="an attribute that may be missing"),
        pytest.param("d is None or a is b", True, id="a variable that may be unbound"),
        pytest.param("(yield) is None or a is b", True, id="a suspension"),
    ],
)
def test_operands_refused(expression: str, tested: bool) -> None:
    text = inside(expression, tested=tested) + "    d = 2\n"
    assert untouched(REORDER_OPERANDS, text)
    assert reasons(REORDER_OPERANDS, text) == {SEEN}


def test_operands_by_execution() -> None:
    text = """\
class Loud:
    def __init__(self, name): self.name = name
    def __bool__(self): print("bool", self.name); return True
    def __eq__(self, other): print("eq", self.name); return False
    def __repr__(self): return self.name
    __hash__ = None
def f(a, b, n=2, *rest):
    low, high = 1, len(rest) + n.real
    size = len(rest)
    if a is None and size > 1 and b is not None or low > size:
        print("first")
    while size and low == 1 and a is not b:
        size -= 1
        print(size)
    assert not (a is rest or b is rest)
    return (a is b or b is None), low == 1 and size >= 0 and a, a is None or b is None or b or a
"""
    calls = [
        f"f({a}, {b}, {n}, *range({rest}))"
        for a in ("None", "Loud('a')")
        for b in ("None", "Loud('b')", "()")
        for n in ("2", "0.5")
        for rest in (0, 3)
    ]
    assert agrees(REORDER_OPERANDS, text, *calls) >= 9
