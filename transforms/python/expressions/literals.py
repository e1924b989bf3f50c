"""Constants and displays written otherwise: truth values, arithmetic that adds nothing, `in` of a display."""

import ast
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.analysis.knowledge import NUMBERS, PLAIN
from codeaudit.transforms.python.contexts import (
    NOT,
    Part,
    editable_nodes,
    patch_node,
    replace_with,
    token_before,
)
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource

_ARITHMETIC: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_ORDERS: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)

UNKNOWN: Final = "value of unknown type"
SEEN: Final = "a new integer may be told from the old one"
HASH: Final = "value may not be hashable"


def _bools(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            texts = ("(1 == 1)", "(0 == 0)") if node.value else ("(1 == 0)", "(0 == 1)")
            opposite = replace_with(code, node, NOT, f"not {not node.value}")
            options = ((opposite,), *((patch_node(code, node, text),) for text in texts))
            yield Site(options, f"{node.value} written otherwise", node.lineno)


def _not_bools(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            change = patch_node(code, node, str(not node.value))
            yield Site(((change,),), f"{node.value} becomes the opposite", node.lineno)


# ── arithmetic that adds nothing ─────────────────────────────────────────────────────────────────────────


def _operands(code: PythonSource) -> Iterator[ast.expr]:
    """Names, calls, attributes and subscripts that are an operand."""
    for node in editable_nodes(code):
        if isinstance(node, ast.Name | ast.Call) and not isinstance(getattr(node, "ctx", None), ast.Store):
            above = code.parent(node)
            if isinstance(above, ast.BinOp | ast.Compare):
                yield node


def _identity(code: PythonSource) -> Iterator[Site | Refused]:
    for node in _operands(code):
        if code.kind(node) != "int":
            yield Refused(UNKNOWN)
        elif not _consumed(code, node):
            yield Refused(SEEN)
        else:
            span = code.span(node)
            forms: tuple[tuple[Part, ...], ...] = (
                ("(", span, " + 0)"), ("(", span, " - 0)"), ("(", span, " * 1)"), ("(0 + ", span, ")"),
            )  # fmt: skip
            yield Site(tuple((patch_node(code, node, *form),) for form in forms), "0 added", node.lineno)


def _consumed(code: PythonSource, node: ast.expr) -> bool:
    """Whether only an exact operation of numbers meets the value, which cannot tell equal integers apart."""
    above = code.parent(node)
    match above:
        case ast.BinOp(op=op, left=left, right=right) if isinstance(op, _ARITHMETIC):
            return all(code.kind(part) in NUMBERS for part in (left, right))
        case ast.Compare(ops=[op], left=left, comparators=[right]) if isinstance(op, _ORDERS):
            return all(code.kind(part) in NUMBERS for part in (left, right))
        case _:
            return False


def _off_by_one(code: PythonSource) -> Iterator[Site | Refused]:
    for node in _operands(code):
        span = code.span(node)
        yield Site(
            ((patch_node(code, node, "(", span, " + 1)"),), (patch_node(code, node, "(", span, " - 1)"),)),
            "1 added",
            node.lineno,
        )


# ── membership ───────────────────────────────────────────────────────────────────────────────────────────


def _membership(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        match node:
            case ast.Compare(left=left, ops=[*_, ast.In() | ast.NotIn()], comparators=[*earlier, display]):
                if isinstance(display, ast.Tuple | ast.List | ast.Set):
                    yield _displayed(code, earlier[-1] if earlier else left, display)


def _displayed(
    code: PythonSource, tested: ast.expr, display: ast.Tuple | ast.List | ast.Set
) -> Site | Refused:
    hashed = code.kind(tested) in PLAIN and all(code.kind(element) in PLAIN for element in display.elts)
    if isinstance(display, ast.Set) and not hashed:
        return Refused(HASH)
    kinds: list[str] = ["()", "[]"] + (["{}"] if hashed and display.elts else [])
    own = chr(code.source[code.start(display)])
    options = [_bracketed(code, display, brackets) for brackets in kinds if brackets[0] != own]
    return Site(tuple(options), "display of another kind", display.lineno)


def _bracketed(
    code: PythonSource, display: ast.Tuple | ast.List | ast.Set, brackets: str
) -> tuple[Patch, ...]:
    start, end = code.start(display), code.end(display)
    last = token_before(code, end - 1)
    lone = len(display.elts) == 1 and brackets == "()" and last is not None and last.text != ","
    return (
        Patch(start, start + 1, (brackets[0],)),
        Patch(end - 1, end, (("," if lone else "") + brackets[1],)),
    )


BOOL_LITERALS: Final = PythonRule(name="bool-literals", find=_bools, nothing="no True or False")
IDENTITY_ARITHMETIC: Final = PythonRule(
    name="identity-arithmetic", find=_identity, nothing="no operand to add 0 to"
)
MEMBERSHIP_DISPLAYS: Final = PythonRule(
    name="membership-displays", find=_membership, nothing="no test of a display"
)
BOOL_LITERALS_WRONG: Final = PythonRule(
    name="bool-literals-wrong", find=_not_bools, nothing="no True or False", kind="control"
)
IDENTITY_ARITHMETIC_WRONG: Final = PythonRule(
    name="identity-arithmetic-wrong", find=_off_by_one, nothing="no operand to add 1 to", kind="control"
)
