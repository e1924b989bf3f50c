"""Redundant parentheses, and commas before closing brackets.

The proof of these rules is an equal syntax tree, so a wrong site becomes a refusal and never a wrong result.
"""

import ast
import tokenize
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.contexts import ATOM, CONDITIONAL, precedence
from codeaudit.transforms.python.layout.lexemes import Lexeme, docstrings, expressions, lexemes, solid
from codeaudit.transforms.python.parsing import FunctionNode, parameter_nodes
from codeaudit.transforms.python.rewriting import edit, same_tree
from codeaudit.transforms.python.source import PythonSource

NEEDED: Final = "parentheses are needed"
OVER_LINES: Final = "parentheses hold a line break"
STARRED: Final = "list of parameters ends with a starred one"
SOLE_GENERATOR: Final = "generator is the only argument"
MAKES_TUPLE: Final = "comma makes the tuple"

_COMPOUND: Final = (
    ast.BinOp, ast.BoolOp, ast.Compare, ast.UnaryOp, ast.IfExp, ast.Call, ast.Subscript, ast.Lambda,
    ast.Await,
)  # fmt: skip
_ATOMS: Final = (
    ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict, ast.Set,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.JoinedStr,
)  # fmt: skip

# ── parentheses ──────────────────────────────────────────────────────────────────────────────────────


def _bare(code: PythonSource) -> Iterator[Site]:
    """Every operation, call and subscript without parentheses, and every bare value that is returned,
    assigned or tested.
    """
    texts = docstrings(code)
    for node in expressions(code):
        # `(a): int = 1` is parsed otherwise than `a: int = 1`. Docstrings stay as they are written.
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load) or id(node) in texts:
            continue
        if not (isinstance(node, _COMPOUND) or _is_bare_tuple(code, node) or _fills_clause(code, node)):
            continue
        if isinstance(node, ast.Starred | ast.Slice | ast.GeneratorExp) or _stands_alone(code, node):
            continue
        span = code.span(node)
        if code.full(node) == span and not _is_closed_tuple(code, node):
            yield edit("parentheses", code.line(node), Patch(span.start, span.end, ("(", span, ")")))


def _parenthesised(code: PythonSource) -> Iterator[Site | Refused]:
    """Every expression in parentheses that would be parsed the same without them."""
    breaks = [lexeme.start for lexeme in lexemes(code) if lexeme.type == tokenize.NL]
    for node in expressions(code):
        # The parentheses of a generator are its own; `(*a)` and `(a:b)` do not exist.
        if isinstance(node, ast.GeneratorExp | ast.Starred | ast.Slice):
            continue
        if _is_closed_tuple(code, node):
            assert isinstance(node, ast.Tuple)
            outer, allowed = code.span(node), _tuple_may_open(code, node)
        else:
            own, full = code.span(node), code.full(node)
            if own == full:
                continue
            allowed = code.source[full.start : own.start].count(b"(") > 1 or _redundant(code, node)
            outer = Span(code.source.index(b"(", full.start), code.source.rindex(b")", 0, full.end) + 1)
        inner = Span(outer.start + 1, outer.end - 1)
        if not allowed:
            yield Refused(NEEDED)
        # Outside of brackets, the line break would end the statement.
        elif any(outer.start < at < outer.end for at in breaks) or _continued(code, inner):
            yield Refused(OVER_LINES)
        else:
            # `not(a)` becomes `not a`.
            before = " " if _word(code, outer.start - 1) and _word(code, inner.start) else ""
            after = " " if _word(code, inner.end - 1) and _word(code, outer.end) else ""
            patch = Patch(outer.start, outer.end, (before, inner, after))
            yield edit("no parentheses", code.line(node), patch)


def _fills_clause(code: PythonSource, node: ast.expr) -> bool:
    """Whether an expression is all that a statement returns, assigns or tests."""
    match code.parent(node):
        case (
            ast.Return(value=value) | ast.Assign(value=value) | ast.AugAssign(value=value)
            | ast.AnnAssign(value=value) | ast.If(test=value) | ast.While(test=value)
        ):  # fmt: skip
            return value is node
        case _:
            return False


def _stands_alone(code: PythonSource, node: ast.expr) -> bool:
    """Whether an expression is a statement or a decorator; nobody writes parentheses there."""
    above = code.parent(node)
    return isinstance(above, ast.Expr) or (
        isinstance(above, FunctionNode | ast.ClassDef) and node in above.decorator_list
    )


def _is_closed_tuple(code: PythonSource, node: ast.expr) -> bool:
    """Whether a tuple has parentheses of its own."""
    return isinstance(node, ast.Tuple) and precedence(code, node) == ATOM


def _is_bare_tuple(code: PythonSource, node: ast.expr) -> bool:
    if not isinstance(node, ast.Tuple) or _is_closed_tuple(code, node):
        return False
    # `a[(b, 1:2)]` is a syntax error.
    return not isinstance(code.parent(node), ast.Subscript)


def _tuple_may_open(code: PythonSource, node: ast.Tuple) -> bool:
    """Whether a tuple may stand without its parentheses."""
    # `x = y := 1, 2` is a syntax error.
    if not node.elts or any(isinstance(element, ast.NamedExpr) for element in node.elts):
        return False
    match code.parent(node):
        case ast.Return() | ast.Assign():
            return True
        case ast.For(target=target, iter=values):
            return node in (target, values)
        # `f((a, b))` has one argument, and `(a, b) + c` adds to the tuple.
        case _:
            return False


def _redundant(code: PythonSource, node: ast.expr) -> bool:
    """Whether an expression is parsed the same without its only parentheses."""
    above = code.parent(node)
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return False
    match node:
        # `if y := f():` is allowed, `y := f()` as a statement and `x = y := f()` are not.
        case ast.NamedExpr():
            return isinstance(above, ast.If | ast.While)
        case ast.Yield() | ast.YieldFrom():
            return isinstance(above, ast.Assign | ast.AugAssign)
        case ast.Tuple():
            return False
    if isinstance(node, _ATOMS):
        # `1.real` is a syntax error.
        number = isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex)
        return not (number and isinstance(above, ast.Attribute))
    if _fills_clause(code, node):
        return True
    level = precedence(code, node)
    match above:
        case ast.Call(func=func):
            return node is not func
        case ast.keyword(arg=str()) | ast.List() | ast.Set():
            return True
        case ast.Subscript(slice=index):
            return node is index
        # `(-a) ** b` and `(a ** b) ** c` need theirs, so all are kept.
        case ast.BinOp(op=ast.Pow()):
            return False
        # `(a - b) - c` is `a - b - c`, but `a - (b - c)` is not.
        case ast.BinOp(left=left):
            return level > precedence(code, above) or (level == precedence(code, above) and node is left)
        case ast.UnaryOp() | ast.Compare() | ast.BoolOp():
            return level > precedence(code, above)
        case ast.IfExp():
            return level > CONDITIONAL
        case _:
            return False


def _continued(code: PythonSource, inner: Span) -> bool:
    """Whether a backslash continues a line just inside of parentheses."""
    text = code.source[inner.start : inner.end].strip(b" \t\r\n")
    return text.startswith(b"\\") or text.endswith(b"\\")


def _word(code: PythonSource, at: int) -> bool:
    """Whether a byte belongs to a name, a number, or a string (a name before a quote would become its
    prefix).
    """
    text = code.source[at : at + 1]
    return text.isalnum() or text in (b"_", b"'", b'"') or text > b"\x7f"


# ── commas ───────────────────────────────────────────────────────────────────────────────────────────


def _comma_places(code: PythonSource) -> Iterator[Site | Refused]:
    """Every closing bracket of arguments, elements or parameters that could have a comma before it."""
    for before, reason, _ in _closings(code):
        if reason is not None:
            yield Refused(reason)
        elif before.text != ",":
            yield edit("comma", before.line, Patch(before.end, before.end, (",",)))


def _commas(code: PythonSource) -> Iterator[Site | Refused]:
    """Every comma before the closing bracket of arguments, elements or parameters."""
    for before, _, removable in _closings(code):
        if before.text == ",":
            patch = Patch(before.start, before.end, ())
            yield edit("no comma", before.line, patch) if removable else Refused(MAKES_TUPLE)


def _closings(code: PythonSource) -> Iterator[tuple[Lexeme, str | None, bool]]:
    """For each closing bracket: the last token before it, why no comma may be added, and whether a comma may
    be removed.
    """
    tokens = solid(code)
    by_start = {token.start: number for number, token in enumerate(tokens)}
    for node in code.nodes():
        reason, removable = None, True
        match node:
            case ast.Call(args=[ast.GeneratorExp() as sole], keywords=[]):
                closing = code.end(node) - 1
                # `f(x for x in y,)` is a syntax error; `f((x for x in y),)` is none.
                reason = SOLE_GENERATOR if code.end(sole) == code.end(node) else None
            case (
                ast.Call(args=[_, *_]) | ast.Call(keywords=[_, *_]) | ast.List(elts=[_, *_])
                | ast.Set() | ast.Dict(keys=[_, *_])
            ):  # fmt: skip
                closing = code.end(node) - 1
            # `(a,)` without its comma is `a`.
            case ast.Tuple(elts=[_, *rest]) if _is_closed_tuple(code, node):
                closing, removable = code.end(node) - 1, bool(rest)
            case ast.FunctionDef(args=args) | ast.AsyncFunctionDef(args=args) if parameter_nodes(args):
                closing = _end_of_parameters(code, node)
                # Before Python 3.6, a comma behind `*args` or `**kwargs` was a syntax error.
                starred = args.kwarg is not None or (args.vararg is not None and not args.kwonlyargs)
                reason = STARRED if starred else None
            case _:
                continue
        if number := by_start.get(closing):
            yield tokens[number - 1], reason, removable


def _end_of_parameters(code: PythonSource, node: FunctionNode) -> int:
    """The offset of the bracket that closes the list of parameters."""
    begin = code.positions.offset(node.lineno, node.col_offset)
    tokens = [token for token in solid(code) if token.start >= begin]
    # A bracket inside the list, or in type parameters (`def f[T: (A, B)](x)`), is deeper.
    return next(token.start for token in tokens if token.text == ")" and token.depth == tokens[0].depth)


INSERT_PARENTHESES: Final = same_tree("insert-parentheses", _bare, "no expression to wrap")
REMOVE_PARENTHESES: Final = same_tree("remove-parentheses", _parenthesised, "no parentheses")
INSERT_TRAILING_COMMAS: Final = same_tree("insert-trailing-commas", _comma_places, "no list in brackets")
REMOVE_TRAILING_COMMAS: Final = same_tree("remove-trailing-commas", _commas, "no comma before a bracket")
