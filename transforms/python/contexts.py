"""The context of an expression: how tightly it must bind, and whether only its truth value matters.

Every transform that moves or wraps expressions uses these helpers to make its patches, so that parentheses
are added where the grammar needs them and nowhere else. An object's truth test, comparison or conversion may
run any code. A rewriting of conditions therefore has to keep how often and in which order each is done;
`in_condition` says where Python asks for nothing but a truth value. Offsets count bytes of the UTF-8 text,
from 0.
"""

import ast
import tokenize
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from codeaudit.transforms.patches import Patch, Span
from codeaudit.transforms.python.source import PythonSource, PythonToken

Part: TypeAlias = str | Span
"""A piece of a patch: new text, or a range of the old text."""

TUPLE, WALRUS, CONDITIONAL, OR, AND, NOT, COMPARISON, BITS = range(8)
_OPERATORS: Final[dict[type[ast.AST], int]] = {
    ast.BitOr: BITS, ast.BitXor: 8, ast.BitAnd: 9, ast.LShift: 10, ast.RShift: 10, ast.Add: 11, ast.Sub: 11,
    ast.Mult: 12, ast.Div: 12, ast.FloorDiv: 12, ast.Mod: 12, ast.MatMult: 12, ast.Pow: 14,
}  # fmt: skip
_UNARY: Final = 13
_AWAIT: Final = 15
ATOM: Final = 16

_SKIPPED: Final = {"annotation", "returns", "type_params", "pattern"}
_WORD: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


@lru_cache(maxsize=4)
def editable_nodes(code: PythonSource) -> tuple[ast.AST, ...]:
    """Every node that may be edited, parents first, in the order of the text.

    Left out: the insides of f-strings, annotations (their text may be kept), patterns (they have a syntax of
    their own), type aliases, and the wrapper line `if 1:` that holds an indented function.
    """
    return tuple(_editable(code))


def _editable(code: PythonSource) -> Iterator[ast.AST]:
    stack: list[ast.AST] = [code.tree]
    wrapper = _wrapper_line(code)
    while stack:
        node = stack.pop()
        if node is wrapper:
            stack.extend(reversed(wrapper.body))
            continue
        yield node
        if isinstance(node, ast.JoinedStr) or type(node).__name__ in ("TypeAlias", "TemplateStr"):
            continue
        stack.extend(reversed(_children(node)))


def _wrapper_line(code: PythonSource) -> ast.If | None:
    """The `if 1:` that stands for the text around an indented function; `None` if there is none."""
    match code.tree.body:
        case [ast.If(test=ast.Constant(value=1)) as wrapper] if code.source.startswith(b"if 1:"):
            return wrapper
        case _:
            return None


def _children(node: ast.AST) -> list[ast.AST]:
    children: list[ast.AST] = []
    for name, value in ast.iter_fields(node):
        if name not in _SKIPPED:
            values = value if isinstance(value, list) else [value]
            children += [child for child in values if isinstance(child, ast.AST)]
    return children


def precedence(code: PythonSource, node: ast.expr) -> int:
    """How tightly an expression binds, without parentheses of its own: `TUPLE` (loosest) to `ATOM`."""
    match node:
        case ast.Tuple(elts=elements):
            return ATOM if not elements or code.full(elements[0]).start > code.start(node) else TUPLE
        case ast.Starred() | ast.Yield() | ast.YieldFrom():
            return TUPLE
        case ast.NamedExpr():
            return WALRUS
        case ast.Lambda() | ast.IfExp():
            return CONDITIONAL
        case ast.BoolOp(op=op):
            return OR if isinstance(op, ast.Or) else AND
        case ast.UnaryOp(op=ast.Not()):
            return NOT
        case ast.UnaryOp():
            return _UNARY
        case ast.Compare():
            return COMPARISON
        case ast.BinOp(op=op):
            return _OPERATORS[type(op)]
        case ast.Await():
            return _AWAIT
        case _:
            return ATOM


def has_parentheses(code: PythonSource, node: ast.expr) -> bool:
    """Whether an expression has parentheses of its own."""
    return code.full(node) != code.span(node)


def side_precedences(node: ast.BinOp | ast.Compare) -> tuple[int, int]:
    """The loosest precedence that may stand left and right of an operator without parentheses."""
    if isinstance(node, ast.Compare):
        return BITS, BITS
    # `**` takes a unary operator on its right without parentheses (`2 ** -1`), but not on its left.
    if isinstance(node.op, ast.Pow):
        return _AWAIT, _UNARY
    return _OPERATORS[type(node.op)], _OPERATORS[type(node.op)] + 1


def allowed_precedence(code: PythonSource, node: ast.expr) -> int:
    """The loosest precedence that may stand in the place of an expression without parentheses."""
    if has_parentheses(code, node):
        return WALRUS
    above = code.parent(node)
    match above:
        case ast.BoolOp(op=op):
            return AND if isinstance(op, ast.Or) else NOT
        case ast.UnaryOp(op=ast.Not()):
            return NOT
        case ast.Compare():
            return BITS
        # A conditional expression may stand behind `else` only: `a if b else c if d else e`.
        case ast.IfExp(orelse=orelse):
            return CONDITIONAL if orelse is node else OR
        case ast.comprehension():
            return OR
        case ast.Dict(keys=keys, values=values):
            spread = any(key is None and value is node for key, value in zip(keys, values, strict=True))
            return ATOM if spread else CONDITIONAL
        case (
            ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Return() | ast.Expr() | ast.If()
            | ast.While() | ast.Assert() | ast.For() | ast.Raise() | ast.keyword() | ast.List() | ast.Tuple()
            | ast.Set() | ast.Slice() | ast.Lambda() | ast.NamedExpr() | ast.match_case() | ast.Yield()
            | ast.Match()
        ):  # fmt: skip
            return CONDITIONAL
        case ast.Call(func=func):
            return ATOM if func is node else CONDITIONAL
        case ast.Subscript(slice=index):
            return CONDITIONAL if index is node else ATOM
        case _:
            return ATOM


def parenthesized(code: PythonSource, node: ast.expr, least: int) -> tuple[Part, ...]:
    """An expression for a place that takes precedence `least` or tighter, in parentheses if it needs them."""
    if has_parentheses(code, node):
        return (code.full(node),)
    return parenthesized_inside(code, node, least)


def parenthesized_inside(code: PythonSource, node: ast.expr, least: int) -> tuple[Part, ...]:
    """An expression in parentheses if its place needs them, but without its own, which stay around the whole
    replacement.
    """
    span = code.span(node)
    # `(a\n + b)` needs its parentheses for the line break, however tightly it binds.
    if precedence(code, node) < least or breaks_line(code, span):
        return ("(", span, ")")
    return (span,)


def replace_with(code: PythonSource, node: ast.expr, least: int, *parts: Part) -> Patch:
    """A patch that puts `parts`, an expression of precedence `least`, in the place of `node`, parenthesized
    if needed.
    """
    if allowed_precedence(code, node) > least:
        return patch_node(code, node, "(", *parts, ")")
    return patch_node(code, node, *parts)


def negated(code: PythonSource, node: ast.expr, *, tested: bool) -> tuple[Part, ...]:
    """`not` of an expression. If only its truth matters (`tested`), `not x` becomes `x` instead of `not not
    x`.
    """
    if tested and isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return parenthesized(code, node.operand, NOT)
    return ("not ", *parenthesized(code, node, NOT))


def patch_range(code: PythonSource, start: int, end: int, *parts: Part) -> Patch:
    """A patch of a part of a line, with a space wherever two words would run together."""
    source = code.source
    before = " " if start and source[start - 1] in _WORD else ""
    open_end = isinstance(parts[-1], Span) or not parts[-1][-1:].isspace()
    behind = " " if open_end and end < len(source) and source[end] in _WORD else ""
    return Patch(start, end, tuple(part for part in (before, *parts, behind) if part != ""))


def patch_span(code: PythonSource, span: Span, *parts: Part) -> Patch:
    """A patch of a span, with a space wherever two words would run together."""
    return patch_range(code, span.start, span.end, *parts)


def patch_node(code: PythonSource, node: ast.expr, *parts: Part) -> Patch:
    """A patch of an expression that leaves its own parentheses where they are."""
    return patch_span(code, code.span(node), *parts)


def in_condition(code: PythonSource, node: ast.expr) -> bool:
    """Whether an expression decides a branch, so that only its truth is asked for, at most once.

    The operands of `and`, `or`, `not` and chains inside it are then tested at most once, too. Elsewhere it
    depends on the code around the expression how often an operand is tested.
    """
    above = code.parent(node)
    match above:
        case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test) | ast.IfExp(test=test) if (
            test is node
        ):
            return True
        case ast.IfExp() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return in_condition(code, above)
        # What is left are the conditions behind `if`.
        case ast.comprehension(iter=iterable, target=target):
            return node not in (iterable, target)
        case ast.match_case():
            return True
        case _:
            return False


# ── tokens ───────────────────────────────────────────────────────────────────────────────────────────────


def token_after(code: PythonSource, offset: int) -> PythonToken | None:
    """The first token that begins at an offset or behind it; comments and line breaks are skipped."""
    tokens = code.significant
    at = bisect_left(tokens, offset, key=_start)
    return tokens[at] if at < len(tokens) else None


def token_before(code: PythonSource, offset: int) -> PythonToken | None:
    """The last token that begins before an offset; comments and line breaks are skipped."""
    at = bisect_left(code.significant, offset, key=_start) - 1
    return code.significant[at] if at >= 0 else None


def tokens_between(code: PythonSource, start: int, end: int) -> Sequence[PythonToken]:
    """The tokens between two offsets; comments and line breaks are skipped."""
    tokens = code.significant
    return tokens[bisect_left(tokens, start, key=_start) : bisect_left(tokens, end, key=_start)]


def operator_between(code: PythonSource, left: ast.expr, right: ast.expr) -> Span:
    """The span of the operator between two neighbouring operands (`is not` is one operator)."""
    tokens = tokens_between(code, code.full(left).end, code.full(right).start)
    return Span(tokens[0].start, tokens[-1].end)


def has_comment(code: PythonSource, start: int, end: int) -> bool:
    """Whether a comment begins between two offsets."""
    tokens = code.tokens
    first = bisect_left(tokens, start, key=_start)
    inside = tokens[first : bisect_left(tokens, end, key=_start)]
    return any(token.type == tokenize.COMMENT for token in inside)


def breaks_line(code: PythonSource, span: Span) -> bool:
    """Whether a span holds a line break outside of brackets, so that it needs brackets around it."""
    tokens = code.tokens
    depth = 0
    for token in tokens[bisect_left(tokens, span.start, key=_start) :]:
        if token.start >= span.end:
            break
        if token.text in ("(", "[", "{"):
            depth += 1
        elif token.text in (")", "]", "}"):
            depth -= 1
        elif depth == 0 and token.text in ("\n", "\r\n"):
            return True
    return False


def _start(token: PythonToken) -> int:
    return token.start
