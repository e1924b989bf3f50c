"""`tuple-assignments`: two assignments as one of a tuple, and one of a tuple as several; `reorder-globals`.

`a = x` and `b = y` become `a, b = x, y` if evaluating `y` only gives a value and does not read `a`: then no
code can see whether `y` is evaluated before `a` is bound or after. `reorder-globals` puts the names of a
`global` or `nonlocal` statement into another order.

`reorder-targets` changes `a = b = x` into `b = a = x`, and `a, b = x, y` into `b, a = y, x`, in functions
whose variables nobody lists. Targets are bound from left to right, after all values are evaluated. So neither
the targets nor the values may depend on their order among one another.
"""

import ast
import tokenize
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Final

from codeaudit.transforms.dependence.effects import LOOKS_UP, conflicts
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.order.spelling import spelled_once
from codeaudit.transforms.python.parsing import parameter_names
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import REFLECTION, bodies, rearranged, reflects
from codeaudit.transforms.rules import MOST, free, legal_orders, permuted

EFFECTS: Final = "the order of evaluation can be seen"
TARGETS: Final = "not one variable for one value"
COMMENT: Final = "a comment stands between"
CLASS: Final = "targets outside of functions"
_BARE: Final = (
    ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict, ast.Set, ast.ListComp,
    ast.DictComp, ast.SetComp, ast.JoinedStr, ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp,
)  # fmt: skip
"""Expressions that need no parentheses as an item of a tuple or as a value."""


@spelled_once
def find_tuples(code: PythonSource) -> Iterator[Site | Refused]:
    """Assignments of a tuple, and pairs of consecutive assignments."""
    for node in code.nodes():
        for body in bodies(node):
            for one, other in pairwise(body):
                match one, other:
                    case ast.Assign(targets=[ast.Name()]), ast.Assign(targets=[ast.Name()]):
                        yield _joined(code, one, other)
            for one in body:
                if isinstance(one, ast.Assign) and isinstance(one.value, ast.Tuple):
                    yield from _split(code, one, one.value)


def _joined(code: PythonSource, one: ast.Assign, other: ast.Assign) -> Site | Refused:
    """Two assignments as one of a tuple."""
    targets = [one.targets[0], other.targets[0]]
    values = [one.value, other.value]
    if not _independent(code, targets, values):
        return Refused(EFFECTS)
    start, end = code.start(one), code.end(other)
    inside = [*(code.full(target) for target in targets), *(code.full(value) for value in values)]
    if _comments(code, Span(start, end), inside):
        return Refused(COMMENT)
    left, right = (code.full(target) for target in targets)
    parts = (left, ", ", right, " = ", *_item(code, values[0]), ", ", *_item(code, values[1]))
    return Site(((Patch(start, end, parts),),), "two assignments in one", code.line(one))


def _split(code: PythonSource, node: ast.Assign, value: ast.Tuple) -> Iterator[Site | Refused]:
    """An assignment of a tuple as one assignment for each name."""
    target = node.targets[0]
    if len(node.targets) > 1 or not isinstance(target, ast.Tuple | ast.List) or len(value.elts) < 2:
        return
    names = [name for name in target.elts if isinstance(name, ast.Name)]
    if len(names) != len(value.elts) or len(names) != len(target.elts):
        # `a[i], b = x, y` stores into objects, whose `__setitem__` may see the order.
        yield Refused(TARGETS)
        return
    if not _independent(code, names, value.elts):
        yield Refused(EFFECTS)
        return
    spans = [code.full(part) for part in [*names, *value.elts]]
    if _comments(code, Span(code.start(node), code.end(node)), spans):
        yield Refused(COMMENT)
        return
    # Behind a header on its line (`if c: a, b = 1, 2`) only `;` keeps the statements in the block.
    between = code.newline + code.indentation(node) if code.alone(node) else "; "
    parts: list[str | Span] = []
    for name, item in zip(names, value.elts, strict=True):
        parts += [*([between] if parts else []), code.full(name), " = ", *_item(code, item)]
    yield Site(
        ((Patch(code.start(node), code.end(node), tuple(parts)),),),
        "one assignment in several",
        code.line(node),
    )


@spelled_once
def find_targets(code: PythonSource) -> Iterator[Site | Refused]:
    """Assignments to several targets, and of a tuple to as many targets."""
    for node in code.nodes():
        if not isinstance(node, ast.Assign):
            continue
        match node:
            case ast.Assign(targets=[_, _, *_] as targets):
                rows: list[list[ast.expr]] = [targets]
            case ast.Assign(
                targets=[ast.Tuple(elts=targets) | ast.List(elts=targets)],
                value=ast.Tuple(elts=values) | ast.List(elts=values),
            ) if len(targets) == len(values) > 1:
                rows = [targets, values]
            case _:
                continue
        # A metaclass, such as that of an enumeration, may see in which order a class body binds its names.
        if code.function(node) is None:
            yield Refused(CLASS)
        elif reflects(code):
            yield Refused(REFLECTION)
        # `self = super().a.b = x` reads `self` behind its binding.
        elif any("super" in _names(code, target) for target in targets):
            yield Refused(EFFECTS)
        else:
            yield _targets(code, node, [row[:MOST] for row in rows]) or Refused(EFFECTS)


def _targets(code: PythonSource, node: ast.Assign, rows: Sequence[Sequence[ast.expr]]) -> Site | None:
    """The site that puts the targets into other orders, and the values with them."""
    if any(isinstance(target, ast.Starred) for row in rows for target in row):
        return None  # `*a, b = c, d` gives each target another number of values
    # Guarded: a handler, or a variable that lives on, shows which targets were bound before one failed.
    values = rows[1] if len(rows) > 1 else [node.value] * len(rows[0])
    stores = [code.storing(target, value) for target, value in zip(rows[0], values, strict=True)]
    bound = conflicts(stores, guarded=True)
    evaluated = [conflicts([code.effects(value) for value in row], guarded=True) for row in rows[1:]]
    before = [reduce(or_, masks) for masks in zip(bound, *evaluated, strict=True)]
    parts = [[code.full(expression) for expression in row] for row in rows]
    options = tuple(tuple(permuted(row, order) for row in parts) for order in legal_orders(before))
    return Site(options, f"{len(before)} targets", code.line(node)) if options else None


def _independent(code: PythonSource, targets: Sequence[ast.expr], values: Sequence[ast.expr]) -> bool:
    """Whether every value but the first may be evaluated before or after the earlier targets are bound."""
    bound: set[str] = set()
    for target, value in zip(targets, values, strict=True):
        # `a, a = 1, 2` binds one name twice, and `a, b = *c, d` has no value for each name.
        if not isinstance(target, ast.Name) or isinstance(value, ast.Starred) or target.id in bound:
            return False
        # The first value is evaluated first in both forms, so it may do anything. No binding of a variable
        # changes the class that `super()` looks up.
        effects = code.effects(value)
        if bound and (bound & _names(code, value) or effects.writes or effects.flags & ~LOOKS_UP):
            return False
        bound.add(target.id)
    return True


def _names(code: PythonSource, node: ast.expr) -> set[str]:
    """The names in an expression, and those that it reads without a mention."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    function = code.function(node)
    if "super" in names and function is not None:
        # `super()` takes the class around and the first parameter.
        names |= {"__class__", *parameter_names(function.args)}
    return names


def _item(code: PythonSource, node: ast.expr) -> tuple[str | Span, ...]:
    """A value as an item of a tuple, in parentheses if it may need them."""
    own, full = code.span(node), code.full(node)
    if full != own or (isinstance(node, _BARE) and b"\n" not in code.source[own.start : own.end]):
        return (full,)
    # A tuple with parentheses of its own: `()` or `(1, 2)`.
    if isinstance(node, ast.Tuple) and (not node.elts or code.full(node.elts[0]).start > own.start):
        return (full,)
    return ("(", full, ")")


def _comments(code: PythonSource, outer: Span, inside: Sequence[Span]) -> bool:
    """Whether a comment stands in a range but in none of its parts."""
    return any(
        token.type == tokenize.COMMENT
        and outer.start <= token.start < outer.end
        and not any(part.start <= token.start < part.end for part in inside)
        for token in code.tokens
    )


def find_globals(code: PythonSource) -> Iterator[Site | Refused]:
    """`global` and `nonlocal` statements with at least two names."""
    for node in code.nodes():
        if isinstance(node, ast.Global | ast.Nonlocal) and len(node.names) > 1:
            start, end = code.start(node), code.end(node)
            parts = [
                Span(token.start, token.end)
                for token in code.significant
                if token.type == tokenize.NAME and start < token.start < end
            ]
            yield rearranged(code, parts, free(len(parts)), "names") or Refused("one name twice")


REORDER_TARGETS: Final = PythonRule(
    name="reorder-targets", find=find_targets, nothing="no assignment to several targets"
)
TUPLE_ASSIGNMENTS: Final = PythonRule(
    name="tuple-assignments", find=find_tuples, nothing="no two assignments that could be one"
)
REORDER_GLOBALS: Final = PythonRule(
    name="reorder-globals", find=find_globals, nothing="no global or nonlocal of two names"
)
