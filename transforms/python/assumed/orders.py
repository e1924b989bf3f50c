"""Orders inside statements under announced assumptions: `reorder-any-keywords`, `reorder-any-items` and
`swap-any-operands`.

Each takes only what its relative in `order` or `expressions` refuses, so the two never edit one place. All
assume that evaluating the parts raises nothing. A part that acts still keeps its order to others that act or
look. What else each assumes stands in its registration, as `assumes`.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from codeaudit.transforms.dependence.effects import EXITS, EXPECTS, RAISES, conflicts
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Site, Span
from codeaudit.transforms.python.analysis.knowledge import NUMBERS
from codeaudit.transforms.python.expressions.operators import find_flipped, find_swapped, swapped
from codeaudit.transforms.python.order.arguments import find_keywords
from codeaudit.transforms.python.order.items import find_items
from codeaudit.transforms.python.parsing import file_tree, last_name
from codeaudit.transforms.python.rewriting import Finder, PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import rearranged
from codeaudit.transforms.rules import MOST

EFFECTS: Final = "the order of evaluation can be seen"
SPREAD: Final = "a spread among the parts"
TEXTS: Final = "+ may join texts"
KEYS: Final = "keys may be equal"
LISTED: Final = "a function of the file takes its keywords as a dict"
OPERATOR: Final = "a class of the file defines the operator"
_METHODS: Final[Mapping[type, str]] = {
    ast.Add: "add",
    ast.Mult: "mul",
    ast.BitAnd: "and",
    ast.BitXor: "xor",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
"""The method behind each operator, without underscores."""
_MIRRORED: Final = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def find_any_keywords(code: PythonSource) -> Iterator[Site | Refused]:
    """Calls with at least two keywords that `reorder-keywords` leaves alone."""
    taken = {start for start, _ in _edited(code, find_keywords)}
    for node in code.nodes():
        if not isinstance(node, ast.Call) or len(node.keywords) < 2:
            continue
        first = code.start(node.keywords[0])
        late = any(isinstance(value, ast.Starred) and code.start(value) > first for value in node.args)
        if first in taken:
            continue
        if late or any(word.arg is None for word in node.keywords):
            yield Refused(SPREAD)
        elif _lists_keywords(code, last_name(node.func)):
            yield Refused(LISTED)
        else:
            parts = [code.span(word) for word in node.keywords]
            yield _orders(code, parts, [[word.value] for word in node.keywords], "keywords")


def find_any_items(code: PythonSource) -> Iterator[Site | Refused]:
    """Displays of at least two items that `reorder-items` leaves alone."""
    taken = {start for start, _ in _edited(code, find_items)}
    for node in code.nodes():
        match node:
            case ast.Dict(keys=keys, values=values) if len(keys) > 1:
                known = [key for key in keys if key is not None]
                pairs = [[key, value] for key, value in zip(known, values, strict=False)]
                complete = len(known) == len(keys)
            case (
                ast.Set(elts=items)
                | ast.Compare(
                    ops=[ast.In() | ast.NotIn()], comparators=[ast.Tuple(elts=items) | ast.List(elts=items)]
                )
                | ast.Call(
                    func=ast.Name(id="isinstance" | "issubclass"),
                    args=[_, ast.Tuple(elts=items)],
                    keywords=[],
                )
                | ast.Call(
                    func=ast.Attribute(attr="startswith" | "endswith"), args=[ast.Tuple(elts=items), *_]
                )
                | ast.ExceptHandler(type=ast.Tuple(elts=items))
            ) if len(items) > 1:
                pairs = [[item] for item in items]
                complete = not any(isinstance(item, ast.Starred) for item in items)
            case _:
                continue
        if not complete:
            yield Refused(SPREAD)
        elif isinstance(node, ast.Dict) and not _differ([pair[0] for pair in pairs]):
            yield Refused(KEYS)
        elif code.full(pairs[0][0]).start not in taken:
            parts = [Span(code.full(pair[0]).start, code.full(pair[-1]).end) for pair in pairs]
            yield _orders(code, parts, pairs, "items")


def find_any_operands(code: PythonSource) -> Iterator[Site | Refused]:
    """Operators that commute and comparisons that have a mirror, which other transforms leave alone."""
    taken = _edited(code, find_swapped) | _edited(code, find_flipped)
    for node in code.nodes():
        numbers = True
        match node:
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                # Texts, lists and tuples are joined by `+`; one number shows that nothing is joined.
                numbers = any(code.kind(operand) in NUMBERS for operand in (left, right))
            case ast.BinOp(op=ast.Mult() | ast.BitAnd() | ast.BitXor(), left=left, right=right):
                pass
            case ast.Compare(ops=[op], left=left, comparators=[right]) if isinstance(op, _MIRRORED):
                pass
            case _:
                continue
        assert isinstance(node, ast.BinOp | ast.Compare)
        operator = node.op if isinstance(node, ast.BinOp) else node.ops[0]
        span = code.span(node)
        if (span.start, span.end) in taken or ast.dump(left) == ast.dump(right):
            continue
        if not numbers:
            yield Refused(TEXTS)
        elif _is_defined(code, operator):
            yield Refused(OPERATOR)
        elif any(_relaxed(code, [[left], [right]])):
            yield Refused(EFFECTS)
        else:
            yield swapped(code, node)


def _orders(
    code: PythonSource, parts: Sequence[Span], values: Sequence[Sequence[ast.expr]], note: str
) -> Site | Refused:
    """The site of these parts, each evaluated as these expressions."""
    site = rearranged(code, parts[:MOST], _relaxed(code, values[:MOST]), note)
    return site or Refused(EFFECTS)


def _relaxed(code: PythonSource, values: Sequence[Sequence[ast.expr]]) -> tuple[int, ...]:
    """Which parts must stay before which, if none of them raises."""
    relaxed = []
    for part in values:
        effects = [code.effects(value) for value in part]
        joined = effects[0] if len(effects) == 1 else effects[0] | effects[1]
        relaxed.append(joined._replace(flags=joined.flags & ~(RAISES | EXPECTS | EXITS)))
    return conflicts(relaxed, guarded=True)


def _lists_keywords(code: PythonSource, callee: str | None) -> bool:
    """Whether a function of this name may list its keywords; if the file has none of this name, any of it."""
    by_name = {name: listed for text in (code.around, code.text) for name, listed in _functions(text).items()}
    return by_name.get(callee or "", any(by_name.values()))


def _is_defined(code: PythonSource, operator: ast.AST) -> bool:
    """Whether a class of the file defines an operator or its mirror."""
    method = _METHODS[type(operator)]
    mirrors = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
    names = {f"__{prefix}{name}__" for prefix in ("", "r") for name in (method, mirrors.get(method, method))}
    return not names.isdisjoint(_functions(code.around) | _functions(code.text))


@lru_cache(maxsize=8)
def _functions(text: str) -> dict[str, bool]:
    """Whether the functions of a text take any keywords, by name; lambdas have none.

    A text that cannot be read shows nothing.
    """
    functions: dict[str, bool] = {}
    try:
        tree = file_tree(text)
    except SourceError:
        return functions
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            name = "" if isinstance(node, ast.Lambda) else node.name
            functions[name] = functions.get(name, False) or node.args.kwarg is not None
    return functions


def _differ(keys: Sequence[ast.expr]) -> bool:
    """Whether no two keys are written alike or are equal constants (`1` and `True`)."""
    constants = [key.value for key in keys if isinstance(key, ast.Constant)]
    return len({ast.dump(key) for key in keys}) == len(keys) and len(set(constants)) == len(constants)


def _edited(code: PythonSource, find: Finder) -> frozenset[tuple[int, int]]:
    """Where the edits of another rule begin and end."""
    return frozenset(
        (patch.start, patch.end)
        for site in find(code)
        if isinstance(site, Site)
        for option in site.options
        for patch in option
    )


REORDER_ANY_KEYWORDS: Final = PythonRule(
    "reorder-any-keywords", find_any_keywords, "no call with two keywords", proof="assumption"
)
REORDER_ANY_ITEMS: Final = PythonRule(
    "reorder-any-items", find_any_items, "no display of two items", proof="assumption"
)
SWAP_ANY_OPERANDS: Final = PythonRule(
    "swap-any-operands", find_any_operands, "no operator that may commute", proof="assumption"
)
