"""`a += b` against `a = a + b`, where the two mean the same.

A list adds in place, and so does every object with an `__iadd__`. The message of the TypeError for an operand
that does not fit names the operator (`+=` or `+`). Therefore the type of the variable must be certain and
immutable, and the operator must be defined for both operands.
"""

import ast
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.analysis.knowledge import NUMBERS
from codeaudit.transforms.python.contexts import (
    has_parentheses,
    patch_range,
    precedence,
    side_precedences,
    token_after,
    tokens_between,
)
from codeaudit.transforms.python.rewriting import PythonRule, at_each
from codeaudit.transforms.python.source import PythonSource, PythonToken

_WHOLE: Final = frozenset({"int", "bool"})
_SEQUENCES: Final = frozenset({"str", "bytes", "tuple"})
"""Immutable types whose `+` refuses a foreign operand in words that do not name the operator."""

UNKNOWN: Final = "variable of unknown type"
OTHER: Final = "operator may not be defined for the operand"
LAYOUT: Final = "comment or line break between the parts"
TARGET: Final = "target is no variable"
_SIGNS: Final[dict[type[ast.operator], str]] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*",
    ast.Mod: "*", ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "&", ast.LShift: ">>",
    ast.RShift: "<<", ast.Pow: "*",
}  # fmt: skip
"""The wrong operator that the control puts in the place of each operator."""


def _obstacle(code: PythonSource, name: ast.Name, op: ast.operator, value: ast.expr) -> str | None:
    """Why `a op= b` may differ from `a = a op b`; `None` if they mean the same."""
    # Only a local has a certain type: other functions may rebind a global.
    facts = code.facts(name)
    kind = facts.types.get(name.id) if facts is not None and name.id in facts.local else None
    other = code.kind(value)
    if kind in NUMBERS:
        fits = NUMBERS
        if isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor | ast.LShift | ast.RShift):
            fits = _WHOLE
        if kind not in fits or other not in fits or isinstance(op, ast.MatMult):
            return OTHER
        return None
    if kind not in _SEQUENCES:
        return UNKNOWN
    # Errors of these do not name the operator (see `_SEQUENCES`).
    if isinstance(op, ast.Add) or (isinstance(op, ast.Mod) and kind == "str"):
        return None
    return None if isinstance(op, ast.Mult) and other in _WHOLE else OTHER


@at_each(ast.AugAssign)
def _expand(code: PythonSource, node: ast.AugAssign) -> Site | Refused:
    """`a += b` to `a = a + b`."""
    if not isinstance(node.target, ast.Name):
        return Refused(TARGET)
    obstacle = _obstacle(code, node.target, node.op, node.value)
    if obstacle is not None:
        return Refused(obstacle)
    token, value = _token(code, code.full(node.target).end), code.full(node.value)
    name, sign = node.target.id, token.text[:-1]
    patches = [Patch(token.start, token.end, (f"= {name} {sign}",))]
    right = side_precedences(ast.BinOp(node.target, node.op, node.value))[1]
    if not has_parentheses(code, node.value) and precedence(code, node.value) < right:
        patches.append(patch_range(code, value.start, value.end, "(", value, ")"))
    return Site((tuple(patches),), f"{name} {token.text} written out", node.lineno)


def _token(code: PythonSource, offset: int) -> PythonToken:
    """The first token at an offset or behind it."""
    token = token_after(code, offset)
    assert token is not None
    return token


@at_each(ast.Assign)
def _contract(code: PythonSource, node: ast.Assign) -> Site | Refused | None:
    """`a = a + b` to `a += b`."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name) as target],
            value=ast.BinOp(left=ast.Name(id=left), op=op, right=right) as value,
        ) if name == left:
            obstacle = _obstacle(code, target, op, right)
        case _:
            return None
    if obstacle is not None:
        return Refused(obstacle)
    tokens = tokens_between(code, code.end(target), code.full(right).start)
    start, end = tokens[0].start, tokens[-1].end
    # The three tokens are `=`, the name and the operator; more of them are parentheses.
    if len(tokens) != 3 or has_parentheses(code, value) or b"\n" in code.source[start:end]:
        return Refused(LAYOUT)
    sign = f"{tokens[-1].text}="
    return Site(((Patch(start, end, (sign,)),),), f"{name} {sign} contracted", node.lineno)


@at_each(ast.AugAssign, ast.Assign)
def _wrong(code: PythonSource, node: ast.AugAssign | ast.Assign) -> Site | None:
    """Another operator in `a += b` or `a = a + b`."""
    match node:
        case ast.AugAssign(target=target, op=op):
            token, suffix = _token(code, code.full(target).end), "="
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.Name(id=left) as first, op=op)
        ) if name == left:
            token, suffix = _token(code, code.full(first).end), ""
        case _:
            return None
    if type(op) not in _SIGNS:
        return None
    change = Patch(token.start, token.end, (f"{_SIGNS[type(op)]}{suffix}",))
    return Site(((change,),), f"{token.text} becomes another", node.lineno)


EXPAND_AUGMENTED: Final = PythonRule(name="expand-augmented", find=_expand, nothing="no augmented assignment")
CONTRACT_AUGMENTED: Final = PythonRule(
    name="contract-augmented", find=_contract, nothing="no assignment to augment"
)
AUGMENTED_WRONG: Final = PythonRule(
    name="augmented-wrong", find=_wrong, nothing="no augmented assignment", kind="control"
)
