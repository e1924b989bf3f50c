"""Derivatives against difference quotients and against sympy; values, and what they decide."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from codeaudit.transforms.algebra.calculus import FUNCTIONS, compare, derivative, holds, points, value, values
from codeaudit.transforms.algebra.expressions import (
    BINARY,
    INPUTS,
    UNARY,
    Expression,
    Number,
    Unary,
    Variable,
    names,
    parse,
    parse_pair,
    text,
)
from tests.transforms.algebra.support import some

STEP = 1e-5
RULES = [
    *(f"{operator} {inner}" for operator in UNARY for inner in ("x", "mul y x", "add a0 pow x INT+ 2")),
    *(
        f"{operator} {left} {right}"
        for operator in BINARY
        for left in ("x", "sin x", "a0", "INT+ 3")
        for right in ("x", "ln x", "a1", "INT- 2")
    ),
]


def quotient(expression: Expression, point: Mapping[str, complex], by: str, step: complex) -> complex | None:
    """The central difference at a point, in a direction of the complex plane."""
    ahead = value(expression, {**point, by: point[by] + step})
    behind = value(expression, {**point, by: point[by] - step})
    return None if ahead is None or behind is None else (ahead - behind) / (2 * step)


def check(expression: Expression, by: str = "x") -> Counter[str]:
    """How the rules and the quotients agree at the fixed points, in two directions: an analytic function has
    one derivative in all of them."""
    counts: Counter[str] = Counter()
    rule = derivative(expression, by)
    for point in points():
        expected = value(rule, point)
        sizes = [abs(v) for v in (value(expression, point), expected) if v is not None]
        for step in (STEP, STEP * 1j):
            measured = quotient(expression, point, by, step)
            if measured is None or expected is None or max(sizes) > 1e6 * (1e-3 + min(sizes)):
                counts["no value"] += 1
                continue
            # A step may be large for a function that varies fast: a smaller one settles it.
            if not close(measured, expected):
                measured = quotient(expression, point, by, step / 30) or measured
            counts["ok" if close(measured, expected) else "bad"] += 1
    return counts


def close(one: complex, two: complex) -> bool:
    return abs(one - two) <= 1e-4 * max(abs(one), abs(two), 1e-3)


@pytest.mark.thinned(42)
@pytest.mark.parametrize("source", RULES)
def test_each_rule_is_what_the_difference_quotient_says(source: str) -> None:
    for by in ("x", "y", "a0"):
        counts = check(parse(source), by)
        assert not counts["bad"], counts
        assert counts["ok"] >= 4, counts


def test_generated_derivatives_are_what_the_difference_quotients_say() -> None:
    counts: Counter[str] = Counter()
    for example in some("train", 300):
        counts += check(example.pair.function)
    assert counts["bad"] == 0, counts
    assert counts["ok"] > 0.75 * counts.total(), counts


def test_the_derivative_of_acosh_holds_on_every_branch() -> None:
    function = parse("acosh sub mul INT- 2 x INT+ 3")
    assert not check(function)["bad"]
    naive = parse("div INT- 2 sqrt sub pow sub mul INT- 2 x INT+ 3 INT+ 2 INT+ 1")
    assert compare(values(derivative(function)), values(naive)) == "different"


def test_the_derivative_by_a_variable_that_is_not_there_is_zero() -> None:
    assert derivative(parse("add a0 sin y")) == Number(0)
    assert derivative(parse("pow a0 a1")) == Number(0)


def test_points_are_in_general_position() -> None:
    for point in points():
        assert len(set(point.values())) == len(point)
        assert all(abs(number.imag) > 0.05 for number in point.values())
    assert len(points()) == 3


@pytest.mark.parametrize(
    "source",
    [
        "div INT+ 1 INT+ 0",
        "ln INT+ 0",
        "atanh INT+ 1",
        "tan atan div INT+ 1 INT+ 0",
        "exp exp exp INT+ 9",
        "pow INT+ 9 INT+ 9 9 9",
        "pow INT+ 0 INT- 1",
    ],
)
def test_what_has_no_value_has_none(source: str) -> None:
    assert values(parse(source)) == (None, None, None)


@pytest.mark.parametrize(
    ("source", "truth"),
    [
        ("sin x =? cos x", True),
        ("mul a0 cos x =? add a0 x", False),
        ("sin x =? sub INT+ 0 mul INT- 1 cos x", True),
        ("pow x INT+ 2 =? add x x", True),
        ("pow x INT+ 2 =? x", False),
        ("mul x y =? y", True),
        ("mul x y =? x", False),
        ("a0 =? INT+ 0", True),
        ("a0 =? INT+ 1", False),
        ("ln x =? div INT+ 1 x", True),
        ("ln x =? div INT+ 1 INT+ 0", None),
        ("add x exp exp exp INT+ 9 =? INT+ 2", False),
        ("mul x exp exp exp INT+ 9 =? INT+ 2", None),
        ("mul x div a1 x =? INT+ 0", None),
        ("mul x ln cos INT+ 2 =? INT+ 1", None),
        ("mul a0 sub x x =? INT+ 0", True),
        ("mul x sin div a1 mul x a1 =? INT+ 0", False),
        ("mul x sub mul sqrt INT+ 2 sqrt INT+ 3 sqrt INT+ 6 =? sin INT+ 2", None),
        ("sin mul x INT+ 9 9 9 9 9 9 9 9 9 =? x", None),
        ("x =? add INT+ 1 div x INT+ 9 9 9 9 9", None),
    ],
)
def test_whether_it_is_the_derivative(source: str, truth: bool | None) -> None:
    assert holds(parse_pair(source)) is truth


def test_a_value_that_rounding_made_is_none() -> None:
    """The tangent is `-i` but for rounding here, and the slope of `asinh` has a pole there: the value is off
    by a factor of 20 and hardly moves with the point."""
    wild = derivative(parse("sqrt asinh tan add sub mul x mul INT+ 4 acos INT+ 5 x asin z"))
    assert value(wild, points()[0]) is not None
    assert values(wild)[0] is None
    assert None not in values(wild)[1:]


@pytest.mark.parametrize("source", [f"{operator} mul x a0" for operator in UNARY])
def test_bounds_of_errors_hold(source: str) -> None:
    """At a point that is off by little, the value is off by no more than is said of it."""
    for point in points():
        moved = {**point, "x": point["x"] * (1 + 1e-9)}
        before, after = value(parse(source), point), value(parse(source), moved)
        argument = value(parse("mul x a0"), point)
        assert before is not None
        assert after is not None
        assert argument is not None
        slope = FUNCTIONS[source.split()[0]][1](argument, before)
        assert abs(after - before) == pytest.approx(abs(slope) * abs(argument) * 1e-9, rel=1e-4)


@pytest.mark.parametrize(
    ("source", "there"),
    [
        ("ln cosh INT+ 1", True),
        ("ln cos INT+ 2", False),
        ("sqrt cos INT+ 2", False),
        ("pow cos INT+ 2 div INT+ 1 INT+ 3", False),
        ("pow cos INT+ 2 INT+ 3", True),
        ("acosh cosh INT+ 1", True),
        ("acosh sin INT+ 1", False),
        ("asin sin INT+ 1", True),
        ("asin cosh INT+ 1", False),
        ("atan sinh INT+ 2", True),
        ("ln INT- 2", True),
        ("asinh mul INT+ 2 sqrt mul INT- 1 cosh INT+ 1", False),
    ],
)
def test_what_may_lie_on_either_side_of_a_cut_has_no_value(source: str, there: bool) -> None:
    assert (value(parse(source), points()[0]) is not None) is there


def test_few_points_and_mixed_ones_decide_nothing() -> None:
    assert compare((1, 2, 3), (1, 2, 3)) == "equal"
    assert compare((1, 2, 3), (2, 3, 4)) == "different"
    assert compare((1, 2, 3), (1, 2, 4)) == "undecided"
    assert compare((1, 2, 3), (1.00001, 2.00001, 3.00001)) == "undecided"
    assert compare((0, 0, None), (0, 0, 1)) == "equal"
    assert compare((1, None, None), (1, 2, 3)) == "undecided"


@pytest.mark.weekly
def test_sympy_differentiates_alike() -> None:
    sympy = pytest.importorskip("sympy")
    words = {"add": "Add", "mul": "Mul", "pow": "Pow", "ln": "log"}

    def convert(node: Expression) -> Any:
        match node:
            case Number(number):
                return sympy.Integer(number)
            case Variable(name):
                return sympy.Symbol(name)
            case Unary(operator, operand):
                return getattr(sympy, words.get(operator, operator))(convert(operand))
        left, right = convert(node.left), convert(node.right)
        if node.operator in words:
            return getattr(sympy, words[node.operator])(left, right)
        return left - right if node.operator == "sub" else left / right

    compared = 0
    for example in some("train", 30):
        function = example.pair.function
        theirs = sympy.diff(convert(function), sympy.Symbol("x"))
        ours = convert(derivative(function))
        point = points()[0]
        at = {
            sympy.Symbol(name): sympy.Float(p.real, 40) + sympy.I * sympy.Float(p.imag, 40)
            for name, p in point.items()
        }
        one, two = (complex(sympy.N(side.subs(at), 30)) for side in (theirs, ours))
        assert abs(one - two) <= 1e-9 * max(abs(one), abs(two)), text(function)
        compared += 1
    assert compared == 30


def test_names_of_inputs_are_differentiated_too() -> None:
    assert names(derivative(parse("mul sin y z"), by="y")) == set(INPUTS)
