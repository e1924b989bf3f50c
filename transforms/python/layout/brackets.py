"""Redundant parentheses, and commas before closing brackets.

The proof of these rules is an equal syntax tree, so a wrong site becomes a refusal and never a wrong result.
"""

import ast
import tokenize
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.layout.lexemes import Lexeme, docstrings, expressions, lexemes, pairs, solid
from codeaudit.transforms.python.parsing import FunctionNode, parameter_nodes
from codeaudit.transforms.python.rewriting import PythonRule
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
_LEVELS: Final[tuple[tuple[type[ast.operator], ...], ...]] = (
    (ast.BitOr,), (ast.BitXor,), (ast.BitAnd,), (ast.LShift, ast.RShift), (ast.Add, ast.Sub),
    (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult),
)  # fmt: skip
_COMPARISON: Final = 4
_SIGN: Final = 11
_POWER: Final = 12
_AWAIT: Final = 13


# ── parentheses ──────────────────────────────────────────────────────────────────────────────────────


def find_bare(code: PythonSource) -> Iterator[Site | Refused]:
    """Every operation, call and subscript without parentheses, and every bare value that is returned,
    assigned or tested.
    """
    whole = _whole(code)
    texts = docstrings(code)
    for node in expressions(code):
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load) or id(node) in texts:
            continue
        if not (isinstance(node, _COMPOUND) or _is_bare_tuple(code, node) or id(node) in whole):
            continue
        if isinstance(node, ast.Starred | ast.Slice | ast.GeneratorExp) or _stands_alone(code, node):
            continue
        own = code.span(node)
        if code.full(node) != own or _is_closed_tuple(code, node):
            continue
        yield Site(((Patch(own.start, own.end, ("(", own, ")")),),), "parentheses", code.line(node))


def find_parenthesised(code: PythonSource) -> Iterator[Site | Refused]:
    """Every expression in parentheses that would be parsed the same without them."""
    whole = _whole(code)
    breaks = [one.start for one in lexemes(code) if one.type == tokenize.NL]
    for node in expressions(code):
        if isinstance(node, ast.GeneratorExp | ast.Starred | ast.Slice):
            continue
        if _is_closed_tuple(code, node):
            assert isinstance(node, ast.Tuple)
            outer, allowed = code.span(node), _tuple_may_open(code, node)
            inner = Span(outer.start + 1, outer.end - 1)
        else:
            inner, outer = code.span(node), code.full(node)
            if inner == outer:
                continue
            twice = code.source[outer.start : inner.start].count(b"(") > 1
            allowed = twice or _redundant(code, node, whole)
            first = code.source.index(b"(", outer.start)
            last = code.source.rindex(b")", 0, outer.end)
            inner, outer = Span(first + 1, last), Span(first, last + 1)
        if not allowed:
            yield Refused(NEEDED)
        elif any(outer.start < at < outer.end for at in breaks) or b"\\" in _margins(code, inner):
            yield Refused(OVER_LINES)
        else:
            before = " " if _word(code, outer.start - 1) and _word(code, inner.start) else ""
            after = " " if _word(code, inner.end - 1) and _word(code, outer.end) else ""
            patch = Patch(outer.start, outer.end, (before, inner, after))
            yield Site(((patch,),), "no parentheses", code.line(node))


def _whole(code: PythonSource) -> frozenset[int]:
    """The `id` of each expression behind which its statement or clause ends."""
    found: set[int] = set()
    for node in code.nodes():
        match node:
            case ast.Return(value=value) | ast.Assign(value=value) | ast.AugAssign(value=value):
                found.add(id(value))
            case ast.AnnAssign(value=value):
                found.add(id(value))
            case ast.If(test=test) | ast.While(test=test):
                found.add(id(test))
    return frozenset(found)


def _stands_alone(code: PythonSource, node: ast.expr) -> bool:
    """Whether an expression is a statement or a decorator; nobody writes parentheses there."""
    above = code.parent(node)
    return isinstance(above, ast.Expr) or (
        isinstance(above, FunctionNode | ast.ClassDef) and node in above.decorator_list
    )


def _is_closed_tuple(code: PythonSource, node: ast.expr) -> bool:
    """Whether a tuple has parentheses of its own."""
    if not isinstance(node, ast.Tuple):
        return False
    return not node.elts or code.start(node) < code.full(node.elts[0]).start


def _is_bare_tuple(code: PythonSource, node: ast.expr) -> bool:
    if not isinstance(node, ast.Tuple) or _is_closed_tuple(code, node):
        return False
    return not isinstance(code.parent(node), ast.Subscript)


def _tuple_may_open(code: PythonSource, node: ast.Tuple) -> bool:
    if not node.elts or any(isinstance(one, ast.NamedExpr) for one in node.elts):
        return False
    match code.parent(node):
        case ast.Return() | ast.Assign():
            return True
        case ast.For(target=target, iter=values):
            return node in (target, values)
        case _:
            return False


def _redundant(code: PythonSource, node: ast.expr, whole: frozenset[int]) -> bool:
    """Whether an expression is parsed the same without its only parentheses."""
    above = code.parent(node)
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return False
    if isinstance(node, ast.NamedExpr):
        return isinstance(above, ast.If | ast.While)
    if isinstance(node, ast.Yield | ast.YieldFrom):
        return isinstance(above, ast.Assign | ast.AugAssign)
    if isinstance(node, ast.Tuple):
        return False
    if isinstance(node, _ATOMS):
        number = isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex)
        return not (number and isinstance(above, ast.Attribute))
    if id(node) in whole:
        return True
    match above:
        case ast.Call(func=func):
            return node is not func
        case ast.keyword(arg=str()):
            return True
        case ast.List() | ast.Set():
            return True
        case ast.Subscript(slice=index):
            return node is index
        case ast.BinOp(op=op, left=left):
            level = _level(above)
            if isinstance(op, ast.Pow):
                return False
            return _level(node) > level or (_level(node) == level and node is left)
        case ast.UnaryOp() | ast.Compare() | ast.BoolOp():
            return _level(node) > _level(above)
        case ast.IfExp():
            return _level(node) > 0
        case _:
            return False


def _level(node: ast.expr) -> int:
    """How tightly an operation binds, loosest first; 0 for anything that binds less tightly than every
    operator.
    """
    match node:
        case ast.BoolOp(op=ast.Or()):
            return 1
        case ast.BoolOp():
            return 2
        case ast.UnaryOp(op=ast.Not()):
            return 3
        case ast.Compare():
            return _COMPARISON
        case ast.BinOp(op=ast.Pow()):
            return _POWER
        case ast.BinOp(op=op):
            return next(number for number, level in enumerate(_LEVELS, 5) if isinstance(op, level))
        case ast.UnaryOp():
            return _SIGN
        case ast.Await():
            return _AWAIT
        case _:
            return 0


def _margins(code: PythonSource, inner: Span) -> bytes:
    """The white space just inside of parentheses."""
    text = code.source[inner.start : inner.end]
    return text[: len(text) - len(text.lstrip(b" \t\\\r\n"))] + text[len(text.rstrip(b" \t\\\r\n")) :]


def _word(code: PythonSource, at: int) -> bool:
    """Whether a byte belongs to a name, a number, or a string (a name before a quote would become its
    prefix).
    """
    text = code.source[at : at + 1]
    return text.isalnum() or text in (b"_", b"'", b'"') or text > b"\x7f"


# ── commas ───────────────────────────────────────────────────────────────────────────────────────────


def find_comma_places(code: PythonSource) -> Iterator[Site | Refused]:
    """Every closing bracket of arguments, elements or parameters that could have a comma before it."""
    for before, reason, _ in _closings(code):
        if reason is not None:
            yield Refused(reason)
        elif before.text != ",":
            yield Site(((Patch(before.end, before.end, (",",)),),), "comma", before.line)


def find_commas(code: PythonSource) -> Iterator[Site | Refused]:
    """Every comma before the closing bracket of arguments, elements or parameters."""
    for before, _, several in _closings(code):
        if before.text == ",":
            if several:
                yield Site(((Patch(before.start, before.end, ()),),), "no comma", before.line)
            else:
                yield Refused(MAKES_TUPLE)


def _closings(code: PythonSource) -> Iterator[tuple[Lexeme, str | None, bool]]:
    """For each closing bracket: the last token before it, why no comma may be added, and whether a comma may
    be removed.
    """
    tokens = solid(code)
    by_start = {one.start: number for number, one in enumerate(tokens)}
    for node in code.nodes():
        found = _closing(code, node, tokens, by_start)
        if found is not None and (number := by_start.get(found[0])) is not None and number:
            yield tokens[number - 1], found[1], found[2]


def _closing(
    code: PythonSource, node: ast.AST, tokens: tuple[Lexeme, ...], by_start: dict[int, int]
) -> tuple[int, str | None, bool] | None:
    """The offset of a node's closing bracket, with the other two values of `_closings`."""
    match node:
        case ast.Call(args=[ast.GeneratorExp() as sole], keywords=[]):
            shared = code.end(sole) == code.end(node)
            return code.end(node) - 1, SOLE_GENERATOR if shared else None, True
        case ast.Call() if node.args or node.keywords:
            return code.end(node) - 1, None, True
        case ast.List(elts=[_, *_]) | ast.Set() | ast.Dict(keys=[_, *_]):
            return code.end(node) - 1, None, True
        case ast.Tuple(elts=[_, *rest]) if _is_closed_tuple(code, node):
            return code.end(node) - 1, None, bool(rest)
        case ast.FunctionDef(args=args) | ast.AsyncFunctionDef(args=args):
            return _parameters(code, node, args, tokens, by_start)
        case _:
            return None


def _parameters(
    code: PythonSource,
    node: FunctionNode,
    args: ast.arguments,
    tokens: tuple[Lexeme, ...],
    by_start: dict[int, int],
) -> tuple[int, str | None, bool] | None:
    """As `_closing`, for the list of parameters of a function."""
    number = by_start.get(code.positions.offset(node.lineno, node.col_offset))
    if number is None or not parameter_nodes(args):
        return None
    depth = tokens[number].depth
    opening = next(
        (one for one in tokens[number:] if one.text == "(" and one.depth == depth and one.opens), None
    )
    if opening is None or opening.start not in pairs(code):
        return None
    starred = args.kwarg is not None or (args.vararg is not None and not args.kwonlyargs)
    return pairs(code)[opening.start], STARRED if starred else None, True


INSERT_PARENTHESES: Final = PythonRule(
    name="insert-parentheses", find=find_bare, nothing="no expression to wrap", proof="tree"
)
REMOVE_PARENTHESES: Final = PythonRule(
    name="remove-parentheses", find=find_parenthesised, nothing="no parentheses", proof="tree"
)
INSERT_TRAILING_COMMAS: Final = PythonRule(
    name="insert-trailing-commas", find=find_comma_places, nothing="no list in brackets", proof="tree"
)
REMOVE_TRAILING_COMMAS: Final = PythonRule(
    name="remove-trailing-commas", find=find_commas, nothing="no comma before a bracket", proof="tree"
)
