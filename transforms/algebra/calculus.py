"""Derivatives by rule, and the comparison of expressions by their values at fixed points.

The generator and the controls use them: a control is kept only if the values show that the answer changes.
The rules hold for the principal branches away from their cuts. So the derivative of `acosh u` has `sqrt(u -
1) sqrt(u + 1)` in the denominator, which equals `sqrt(u^2 - 1)` for some `u` only.
"""

import cmath
from collections.abc import Callable, Mapping
from functools import cache
from math import inf, isfinite
from typing import Final, Literal, TypeAlias

from codeaudit.transforms.algebra.expressions import (
    COEFFICIENTS,
    INPUTS,
    MINUS_ONE,
    ONE,
    TWO,
    ZERO,
    Binary,
    Expression,
    ExpressionPair,
    Number,
    Unary,
    Variable,
    X,
    add,
    div,
    mul,
    power,
    sub,
    unary,
)
from codeaudit.transforms.seeding import stream

# ── rules ────────────────────────────────────────────────────────────────────────────────────────────────

_OUTER: Final[Mapping[str, Callable[[Expression], Expression]]] = {
    "exp": lambda u: unary("exp", u),
    "sin": lambda u: unary("cos", u),
    "cos": lambda u: mul(MINUS_ONE, unary("sin", u)),
    "tan": lambda u: add(ONE, power(unary("tan", u), TWO)),
    "sinh": lambda u: unary("cosh", u),
    "cosh": lambda u: unary("sinh", u),
    "tanh": lambda u: sub(ONE, power(unary("tanh", u), TWO)),
}
"""Derivatives of functions at an argument, as factors."""

_BELOW: Final[Mapping[str, Callable[[Expression], Expression]]] = {
    "ln": lambda u: u,
    "sqrt": lambda u: mul(TWO, unary("sqrt", u)),
    "asin": lambda u: unary("sqrt", sub(ONE, power(u, TWO))),
    "acos": lambda u: mul(MINUS_ONE, unary("sqrt", sub(ONE, power(u, TWO)))),
    "atan": lambda u: add(ONE, power(u, TWO)),
    "asinh": lambda u: unary("sqrt", add(ONE, power(u, TWO))),
    "acosh": lambda u: mul(unary("sqrt", sub(u, ONE)), unary("sqrt", add(u, ONE))),
    "atanh": lambda u: sub(ONE, power(u, TWO)),
}
"""The same as divisors."""


def derivative(expression: Expression, by: str = X) -> Expression:
    """The partial derivative with respect to a variable, with constants folded."""
    match expression:
        case Number():
            return ZERO
        case Variable(name):
            return ONE if name == by else ZERO
        case Unary(operator, u):
            inner = derivative(u, by)
            if inner == ZERO:  # also saves the outer derivative, which would stay as a factor
                return ZERO
            if operator in _OUTER:
                return mul(inner, _OUTER[operator](u))
            return div(inner, _BELOW[operator](u))
        case Binary(operator, u, v):
            return _operation(operator, u, v, derivative(u, by), derivative(v, by))


def _operation(operator: str, u: Expression, v: Expression, du: Expression, dv: Expression) -> Expression:
    match operator:
        case "add":
            return add(du, dv)
        case "sub":
            return sub(du, dv)
        case "mul":
            return add(mul(du, v), mul(u, dv))
        case "div" if dv == ZERO:  # the quotient rule would leave v² below
            return div(du, v)
        case "div":
            return div(sub(mul(du, v), mul(u, dv)), power(v, TWO))
        case _ if dv == ZERO:  # the power rule; the general rule would bring in ln u, which may have no value
            return mul(du, mul(v, power(u, sub(v, ONE))))
        case _:  # (u^v)' = u^v (v' ln u + v u' / u)
            grown = mul(dv, unary("ln", u))
            inner = grown if du == ZERO else add(grown, div(mul(v, du), u))
            return mul(power(u, v), inner)


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────

Point: TypeAlias = Mapping[str, complex]
"""A value for every variable."""
Comparison: TypeAlias = Literal["equal", "different", "undecided"]

POINTS: Final = 3
FEWEST: Final = 2
"""The fewest points at which both sides need values for a decision."""
EQUAL: Final = 1e-7
"""Values with at most this relative difference count as equal: rounding explains it."""
DIFFERENT: Final = 1e-3
"""Values with at least this relative difference count as different: rounding does not explain it."""
ROUNDING: Final = 1e-15
"""The relative error of one operation."""
HUGE: Final = 1e100
"""A value with a larger absolute value counts as missing, because the next operation may overflow."""

FUNCTIONS: Final[Mapping[str, tuple[Callable[[complex], complex], Callable[[complex, complex], complex]]]] = {
    "exp": (cmath.exp, lambda u, f: f),
    "ln": (cmath.log, lambda u, f: 1 / u),
    "sqrt": (cmath.sqrt, lambda u, f: 0.5 / f),
    "sin": (cmath.sin, lambda u, f: cmath.cos(u)),
    "cos": (cmath.cos, lambda u, f: cmath.sin(u)),
    "tan": (cmath.tan, lambda u, f: 1 + f * f),
    "asin": (cmath.asin, lambda u, f: 1 / cmath.sqrt(1 - u * u)),
    "acos": (cmath.acos, lambda u, f: 1 / cmath.sqrt(1 - u * u)),
    "atan": (cmath.atan, lambda u, f: 1 / (1 + u * u)),
    "sinh": (cmath.sinh, lambda u, f: cmath.cosh(u)),
    "cosh": (cmath.cosh, lambda u, f: cmath.sinh(u)),
    "tanh": (cmath.tanh, lambda u, f: 1 - f * f),
    "asinh": (cmath.asinh, lambda u, f: 1 / cmath.sqrt(1 + u * u)),
    "acosh": (cmath.acosh, lambda u, f: 1 / cmath.sqrt(u * u - 1)),
    "atanh": (cmath.atanh, lambda u, f: 1 / (1 - u * u)),
}
"""Each function, and its slope up to the sign at an argument and the value there."""


@cache
def points() -> tuple[Point, ...]:
    """Fixed points in general position, away from the branch points of the functions."""
    drawn = []
    for number in range(POINTS):
        rng = stream(0, "algebra point", number)
        # Off the real axis, because most cuts of the functions lie on it.
        drawn.append(
            {
                name: complex(rng.uniform(0.3, 1.7), rng.choice((-1, 1)) * rng.uniform(0.1, 0.9))
                for name in (X, *INPUTS, *COEFFICIENTS)
            }
        )
    return tuple(drawn)


def value(expression: Expression, point: Point) -> complex | None:
    """The value at a point, or `None`: if it is undefined, if it overflows, or if rounding decides its
    branch.
    """
    bounded = _bounded(expression, point)
    return None if bounded is None else bounded[0]


def values(expression: Expression) -> tuple[complex | None, ...]:
    """The values at the fixed points; `None` also if rounding may make up a large part of the value.

    This happens after the subtraction of nearly equal terms.
    """
    return tuple(_firm(expression, point) for point in points())


def _firm(expression: Expression, point: Point) -> complex | None:
    bounded = _bounded(expression, point)
    # Half of the tolerance for each of two values: then rounding alone never makes equal ones differ by more.
    return bounded[0] if bounded is not None and bounded[1] <= EQUAL / 2 * abs(bounded[0]) else None


def _bounded(expression: Expression, point: Point) -> tuple[complex, float] | None:
    """The value with a bound of its absolute error; `None` if it has no value."""
    try:
        number, error = _value(expression, point)
    except (OverflowError, ValueError, ZeroDivisionError):
        return None
    return (number, error) if isfinite(error) and abs(number) < HUGE else None


def _value(expression: Expression, point: Point) -> tuple[complex, float]:
    """The value with a bound of its absolute error, to first order. The point itself is exact."""
    match expression:
        case Variable(name):
            return point[name], 0.0
        case Number(number):
            return complex(number), 0.0
        case Unary(operator, operand):
            u, error = _value(operand, point)
            function, slope = FUNCTIONS[operator]
            output = function(u)
            # To first order a function multiplies the error of its argument by its slope.
            if error:
                error = inf if _crosses(operator, u, error) else error * abs(slope(u, output))
            return output, error + ROUNDING * abs(output)
        case Binary(operator, left, right):
            (one, e1), (two, e2) = _value(left, point), _value(right, point)
            match operator:
                case "add":
                    output, error = one + two, e1 + e2
                case "sub":
                    output, error = one - two, e1 + e2
                case "mul":  # the product of both errors is of second order
                    output, error = one * two, abs(one) * e2 + abs(two) * e1
                case "div":
                    output = one / two
                    error = (e1 + abs(output) * e2) / abs(two)
                case _:
                    output, error = _power(one, e1, two, e2)
            return output, error + ROUNDING * abs(output)


def _crosses(operator: str, u: complex, error: float) -> bool:
    """Whether, given the error, the exact argument may lie on the other side of the function's cut."""
    match operator:
        case "ln" | "sqrt":
            return abs(u.imag) <= error and u.real <= error
        case "acosh":
            return abs(u.imag) <= error and u.real <= 1 + error
        case "asin" | "acos" | "atanh":
            return abs(u.imag) <= error and abs(u.real) >= 1 - error
        case "atan" | "asinh":
            return abs(u.real) <= error and abs(u.imag) >= 1 - error
        case _:
            return False


def _power(base: complex, e1: float, exponent: complex, e2: float) -> tuple[complex, float]:
    number = base**exponent
    if not base:  # 0 has no logarithm, so no slope bounds the error
        return number, inf if e1 or e2 else 0.0
    # A power with a whole exponent is a product, which has no cut.
    is_whole = not e2 and not exponent.imag and exponent.real.is_integer()
    if e1 and not is_whole and _crosses("ln", base, e1):
        return number, inf
    size = abs(number)
    growth = abs(cmath.log(base))
    error = size * (abs(exponent) / abs(base) * e1 + growth * e2 + ROUNDING * abs(exponent) * growth)
    return number, error


def compare(one: tuple[complex | None, ...], two: tuple[complex | None, ...]) -> Comparison:
    """Compare two expressions by their values at the fixed points: equal at all, different at all, or
    undecided.

    Points at which one of them has no value do not count. Fewer than `FEWEST` points decide nothing.
    """
    gaps = [_gap(a, b) for a, b in zip(one, two, strict=True) if a is not None and b is not None]
    if len(gaps) < FEWEST:
        return "undecided"
    if all(gap <= EQUAL for gap in gaps):
        return "equal"
    return "different" if all(gap >= DIFFERENT for gap in gaps) else "undecided"


def _gap(one: complex, two: complex) -> float:
    size = max(abs(one), abs(two))
    return abs(one - two) / size if size else 0.0


def holds(pair: ExpressionPair) -> bool | None:
    """Whether the candidate is the function's derivative, by its values; `None` if these do not decide."""
    comparison = compare(values(derivative(pair.function)), values(pair.candidate))
    return None if comparison == "undecided" else comparison == "equal"
