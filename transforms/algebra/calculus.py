"""Derivatives by rule, and values of expressions at points.

Rules hold for the principal branches off their cuts: the derivative of `acosh u` has
`sqrt(u - 1) sqrt(u + 1)` below the line, which `sqrt(u^2 - 1)` equals for some `u` only.
"""

import cmath
from collections.abc import Callable, Mapping
from functools import cache
from math import isfinite
from typing import Final, Literal, TypeAlias

from transforms.algebra.expressions import (
    COEFFICIENTS,
    INPUTS,
    MINUS_ONE,
    ONE,
    TWO,
    ZERO,
    Binary,
    Expression,
    Number,
    Pair,
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
from transforms.seeding import stream

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
            if inner == ZERO:
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
        case "div" if dv == ZERO:
            return div(du, v)
        case "div":
            return div(sub(mul(du, v), mul(u, dv)), power(v, TWO))
        case _ if dv == ZERO:
            return mul(du, mul(v, power(u, sub(v, ONE))))
        case _:
            grown = mul(dv, unary("ln", u))
            inner = grown if du == ZERO else add(grown, div(mul(v, du), u))
            return mul(power(u, v), inner)


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────

Point: TypeAlias = Mapping[str, complex]
"""A value for every variable."""
Comparison: TypeAlias = Literal["equal", "different", "undecided"]

POINTS: Final = 3
FEWEST: Final = 2
"""Points at which both sides must have values."""
EQUAL: Final = 1e-7
"""Relative difference up to which rounding explains it."""
DIFFERENT: Final = 1e-3
"""Relative difference from which it does not."""
SHIFT: Final = 1e-11
"""How far a point is moved, relatively, to see whether a value is more than rounding."""
TINY: Final = 1e-12
"""Absolute value under which a value may be what rounding left of constants that cancel."""
HUGE: Final = 1e100
"""Beyond this absolute value a value is none: the next operation may overflow."""

_FUNCTIONS: Final[Mapping[str, Callable[[complex], complex]]] = {
    **{name: getattr(cmath, name) for name in ("exp", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan")},
    **{name: getattr(cmath, name) for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
    "ln": cmath.log,
}


@cache
def points() -> tuple[Point, ...]:
    """Fixed points in general position, away from where functions branch."""
    found = []
    for number in range(POINTS):
        rng = stream(0, "algebra point", number)
        found.append(
            {
                name: complex(rng.uniform(0.3, 1.7), rng.choice((-1, 1)) * rng.uniform(0.1, 0.9))
                for name in (X, *INPUTS, *COEFFICIENTS)
            }
        )
    return tuple(found)


def value(expression: Expression, point: Point) -> complex | None:
    """The value at a point; `None` where there is none, or none that floating point can hold."""
    try:
        found = _value(expression, point)
    except (OverflowError, ValueError, ZeroDivisionError):
        return None
    return found if isfinite(found.real) and isfinite(found.imag) and abs(found) < HUGE else None


def _value(expression: Expression, point: Point) -> complex:
    match expression:
        case Variable(name):
            return point[name]
        case Unary(operator, operand):
            return _FUNCTIONS[operator](_value(operand, point))
        case Number(number):
            return complex(number)
        case Binary(operator, left, right):
            one, two = _value(left, point), _value(right, point)
            match operator:
                case "add":
                    return one + two
                case "sub":
                    return one - two
                case "mul":
                    return one * two
                case "div":
                    return one / two
                case _:
                    return one**two


def values(expression: Expression) -> tuple[complex | None, ...]:
    """The values at the fixed points; `None` also where rounding may have made the value, which is so where
    it moves much when the point hardly does. A difference of equal terms is such a value.
    """
    return tuple(_firm(expression, point, near) for point, near in zip(points(), _nearby(), strict=True))


def _firm(expression: Expression, point: Point, near: Point) -> complex | None:
    found = value(expression, point)
    if found is None or 0 < abs(found) < TINY:
        return None
    again = value(expression, near)
    return found if again is not None and _gap(found, again) <= EQUAL else None


@cache
def _nearby() -> tuple[Point, ...]:
    return tuple({name: number * (1 + SHIFT) for name, number in point.items()} for point in points())


def compare(one: tuple[complex | None, ...], two: tuple[complex | None, ...]) -> Comparison:
    """What the values at the fixed points say of two expressions: the same at all of them, different at all
    of them, or neither. Points at which one has no value do not count, and too few decide nothing.
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


def holds(pair: Pair) -> bool | None:
    """Whether the candidate is the function's derivative by its values; `None` where they do not decide."""
    found = compare(values(derivative(pair.function)), values(pair.candidate))
    return None if found == "undecided" else found == "equal"
