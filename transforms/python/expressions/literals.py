"""Constants and displays in another form: truth values, arithmetic that adds nothing, `in` of another kind of
display.
"""

import ast
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.analysis.knowledge import NUMBERS, PLAIN
from codeaudit.transforms.python.contexts import NOT, Part, patch_node, replace_with, token_before
from codeaudit.transforms.python.rewriting import PythonRule, at_each, control, edit
from codeaudit.transforms.python.source import PythonSource

_ARITHMETIC: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_ORDERS: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)

UNKNOWN: Final = "value of unknown type"
SEEN: Final = "a new integer may be distinguished from the old one"
HASH: Final = "value may not be hashable"


@at_each(ast.Constant)
def _bools(code: PythonSource, node: ast.Constant) -> Site | None:
    """`True` to `not False`, `(1 == 1)` or `(0 == 0)`, and the like for `False`."""
    if not isinstance(node.value, bool):
        return None
    texts = ("(1 == 1)", "(0 == 0)") if node.value else ("(1 == 0)", "(0 == 1)")
    opposite = replace_with(code, node, NOT, f"not {not node.value}")
    options = ((opposite,), *((patch_node(code, node, text),) for text in texts))
    return Site(options, f"{node.value} written otherwise", node.lineno)


@at_each(ast.Constant)
def _not_bools(code: PythonSource, node: ast.Constant) -> Site | None:
    """`True` to `False`, and the other way round."""
    if not isinstance(node.value, bool):
        return None
    return edit(
        f"{node.value} becomes the opposite", node.lineno, patch_node(code, node, str(not node.value))
    )


BOOL_LITERALS: Final = PythonRule("bool-literals", _bools, "no True or False")
BOOL_LITERALS_WRONG: Final = control("bool-literals-wrong", _not_bools, "no True or False")


# ── arithmetic that adds nothing ─────────────────────────────────────────────────────────────────────────


def _is_operand(code: PythonSource, node: ast.Name | ast.Call) -> bool:
    """Whether a name or call is read as an operand of arithmetic or of a comparison."""
    stored = isinstance(getattr(node, "ctx", None), ast.Store)
    return not stored and isinstance(code.parent(node), ast.BinOp | ast.Compare)


@at_each(ast.Name, ast.Call)
def _identity(code: PythonSource, node: ast.Name | ast.Call) -> Site | Refused | None:
    """`x` to `(x + 0)`, `(x - 0)`, `(x * 1)` or `(0 + x)`, for an integer operand."""
    if not _is_operand(code, node):
        return None
    # `True + 0` is `1`, and `-0.0 + 0` is `0.0`.
    if code.kind(node) != "int":
        return Refused(UNKNOWN)
    if not _consumed(code, node):
        return Refused(SEEN)
    span = code.span(node)
    forms: tuple[tuple[Part, ...], ...] = (
        ("(", span, " + 0)"), ("(", span, " - 0)"), ("(", span, " * 1)"), ("(0 + ", span, ")"),
    )  # fmt: skip
    return Site(tuple((patch_node(code, node, *form),) for form in forms), "0 added", node.lineno)


def _consumed(code: PythonSource, node: ast.expr) -> bool:
    """Whether only an exact operation of numbers meets the value, which cannot distinguish equal integers.

    `1000 + 0` may be another object than `1000`, which `is` and a foreign `__add__` can see.
    """
    match code.parent(node):
        case ast.BinOp(op=op, left=left, right=right) if isinstance(op, _ARITHMETIC):
            return {code.kind(left), code.kind(right)} <= NUMBERS
        case ast.Compare(ops=[op], left=left, comparators=[right]) if isinstance(op, _ORDERS):
            return {code.kind(left), code.kind(right)} <= NUMBERS
        case _:
            return False


@at_each(ast.Name, ast.Call)
def _off_by_one(code: PythonSource, node: ast.Name | ast.Call) -> Site | None:
    """`x` to `(x + 1)` or `(x - 1)`."""
    if not _is_operand(code, node):
        return None
    span = code.span(node)
    options = tuple((patch_node(code, node, "(", span, change),) for change in (" + 1)", " - 1)"))
    return Site(options, "1 added", node.lineno)


IDENTITY_ARITHMETIC: Final = PythonRule("identity-arithmetic", _identity, "no operand to add 0 to")
IDENTITY_ARITHMETIC_WRONG: Final = control("identity-arithmetic-wrong", _off_by_one, "no operand to add 1 to")


# ── membership ───────────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.Compare)
def _membership(code: PythonSource, node: ast.Compare) -> Site | Refused | None:
    """`x in (a, b)` to `x in [a, b]` or `x in {a, b}`."""
    display = node.comparators[-1]
    if not isinstance(node.ops[-1], ast.In | ast.NotIn) or not isinstance(
        display, ast.Tuple | ast.List | ast.Set
    ):
        return None
    tested = [node.left, *node.comparators][-2]
    # A set hashes the tested value and its elements: `[] in {1}` raises, and `[] in (1,)` is `False`.
    hashed = all(code.kind(element) in PLAIN for element in (tested, *display.elts))
    if isinstance(display, ast.Set) and not hashed:
        return Refused(HASH)
    # `{}` is a dict.
    kinds = ["()", "[]"] + (["{}"] if hashed and display.elts else [])
    opening = chr(code.source[code.start(display)])
    options = [_bracketed(code, display, brackets) for brackets in kinds if brackets[0] != opening]
    return Site(tuple(options), "display of another kind", display.lineno)


def _bracketed(
    code: PythonSource, display: ast.Tuple | ast.List | ast.Set, brackets: str
) -> tuple[Patch, ...]:
    """The patches that put other brackets around the elements; a tuple of one element gets its comma."""
    start, end = code.start(display), code.end(display)
    last = token_before(code, end - 1)
    # `(x)` is no tuple: one element needs its comma.
    lone = len(display.elts) == 1 and brackets == "()" and last is not None and last.text != ","
    return (
        Patch(start, start + 1, (brackets[0],)),
        Patch(end - 1, end, (("," if lone else "") + brackets[1],)),
    )


MEMBERSHIP_DISPLAYS: Final = PythonRule("membership-displays", _membership, "no test of a display")
