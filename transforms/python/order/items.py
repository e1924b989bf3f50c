"""`reorder-items`: the items of a display that is only asked for one of them, in another order.

Iteration shows the order of a list or dict, and of a set too if hashes collide. Therefore only displays are
changed that nothing but their own expression sees: `x in (1, 2)`, `{…}[key]`, `{…}.get(key)`,
`text.startswith(("a", "b"))`, `except (KeyError, ValueError)`, `isinstance(x, (int, str))`.

`except` compares classes by their bases and runs no code of theirs, not even a metaclass's. `isinstance` asks
the metaclass of each class, so there the classes must be builtin ones. It may look at `x.__class__` once for
each of them (`looks-quiet`).
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from codeaudit.transforms.dependence.effects import ACTS, conflicts
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Site, Span
from codeaudit.transforms.python.analysis.knowledge import BUILTINS, PLAIN
from codeaudit.transforms.python.order.spelling import spelled_once
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import binders, rearranged
from codeaudit.transforms.rules import MOST, free, permuted

EQUALITY: Final = "an unknown type may see the order of comparisons"
EFFECTS: Final = "the order of two items can be seen"
METACLASS: Final = "a metaclass may see the order of the classes"
KEYS: Final = "keys that are equal or collide"
SAME: Final = "the items are all the same"
VISIBLE: Final = "the order of the items can be seen"


@spelled_once
def find_items(code: PythonSource) -> Iterator[Site | Refused]:
    """Displays with at least two items."""
    bound = binders(code.tree)
    for node in code.nodes():
        match node:
            case ast.Compare(
                left=left,
                ops=[ast.In() | ast.NotIn()],
                comparators=[(ast.Tuple() | ast.List()) as display],
            ):
                yield from _members(code, left, display)
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Set() as display]):
                yield from _keyed(code, display.elts, [])
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Dict() as table]):
                yield from _table(code, table)
            case ast.Subscript(value=ast.Dict() as table, ctx=ast.Load()):
                yield from _table(code, table)
            case ast.Call(func=ast.Attribute(value=ast.Dict() as table, attr="get")):
                yield from _table(code, table)
            case ast.Call(
                func=ast.Attribute(value=text, attr="startswith" | "endswith"),
                args=[ast.Tuple() as display, *_],
            ):
                yield from _affixes(code, text, display)
            case ast.ExceptHandler(type=ast.Tuple(elts=classes)) if len(classes) > 1:
                # Only finding the classes shows the order: a name may be missing.
                effects = [code.effects(class_) for class_ in classes[:MOST]]
                parts = [code.full(class_) for class_ in classes[:MOST]]
                before = conflicts(effects, guarded=True)
                yield rearranged(code, parts, before, "exceptions") or Refused(EFFECTS)
            case ast.Call(
                func=ast.Name(id="isinstance" | "issubclass" as name),
                args=[_, ast.Tuple(elts=classes)],
                keywords=[],
            ) if len(classes) > 1 and name not in bound and "*" not in bound:
                # A class that acts when it is asked for is asked once for each item.
                sure = _builtin(classes, bound) and not code.flags(node) & ACTS
                yield _free(code, classes, classes) if sure else Refused(METACLASS)
            case ast.Dict(keys=keys) if len(keys) > 1 and not _asked_for_key(code, node):
                yield Refused(VISIBLE)


def _builtin(classes: Sequence[ast.expr], bound: Mapping[str, int]) -> bool:
    """Whether all of these are names of builtins that the text does not bind."""
    return all(
        isinstance(node, ast.Name) and node.id in BUILTINS and node.id not in bound for node in classes
    )


def find_swapped(code: PythonSource) -> Iterator[Site | Refused]:
    """The values of two neighbouring items of a dict display."""
    for node in code.nodes():
        if not isinstance(node, ast.Dict):
            continue
        items = zip(node.keys, node.values, strict=True)
        for (key, value), (after, other) in pairwise(items):
            if not (isinstance(key, ast.Constant) and isinstance(after, ast.Constant)):
                continue
            if ast.dump(key) != ast.dump(after) and ast.dump(value) != ast.dump(other):
                parts = [code.full(value), code.full(other)]
                yield Site(((permuted(parts, (1, 0)),),), "the values of two items exchanged", code.line(key))


def _members(code: PythonSource, left: ast.expr, display: ast.Tuple | ast.List) -> Iterator[Site | Refused]:
    """`left in (…)`, which compares with one item after the other."""
    if len(display.elts) < 2:
        return
    kinds = {code.kind(left), *(code.kind(element) for element in display.elts)}
    # `x in (a, b)` stops at the first equal item, and the `__eq__` of a foreign one may do anything.
    # Comparing bytes with other types may warn (`python -b`).
    sure = kinds <= PLAIN and not ("bytes" in kinds and len(kinds) > 1)
    yield _movable(code, display.elts, display.elts, "" if sure else EQUALITY)


def _affixes(code: PythonSource, text: ast.expr, display: ast.Tuple) -> Iterator[Site | Refused]:
    """`text.startswith((…))` and `text.endswith((…))`."""
    if len(display.elts) < 2:
        return
    kind = code.kind(text)
    # Of an item of another type, `startswith` makes a TypeError, but only if no item before it fits.
    sure = kind in ("str", "bytes") and all(code.kind(element) == kind for element in display.elts)
    yield _movable(code, display.elts, display.elts, "" if sure else EQUALITY)


def _table(code: PythonSource, table: ast.Dict) -> Iterator[Site | Refused]:
    keys = [key for key in table.keys if key is not None]
    if len(keys) == len(table.keys):
        yield from _keyed(code, keys, table.values)
    else:
        yield Refused(VISIBLE)


def _keyed(
    code: PythonSource, keys: Sequence[ast.expr], values: Sequence[ast.expr]
) -> Iterator[Site | Refused]:
    """A set or dict asked for one key: the key is only compared with items of the same hash."""
    if len(keys) > 1:
        yield _movable(code, keys, values or keys, "" if _distinct_keys(keys) else KEYS)


def _movable(
    code: PythonSource, firsts: Sequence[ast.expr], lasts: Sequence[ast.expr], obstacle: str
) -> Site | Refused:
    """Items in any order if nothing speaks against it and evaluating them only computes.

    An item goes from a first to a last expression: from its key to its value in a dict.
    """
    if obstacle or not all(code.harmless(last) for last in lasts):
        return Refused(obstacle or EFFECTS)
    return _free(code, firsts, lasts)


def _free(code: PythonSource, firsts: Sequence[ast.expr], lasts: Sequence[ast.expr]) -> Site | Refused:
    """A site with every order of these items."""
    pairs = list(zip(firsts, lasts, strict=True))[:MOST]
    parts = [Span(code.full(first).start, code.full(last).end) for first, last in pairs]
    return rearranged(code, parts, free(len(parts)), "items") or Refused(SAME)


def _distinct_keys(keys: Sequence[ast.expr]) -> bool:
    """Whether constants are of one type and have different hashes in every process."""
    constants = [key.value for key in keys if isinstance(key, ast.Constant)]
    if len(constants) != len(keys) or len({type(constant) for constant in constants}) != 1:
        return False
    # Different texts have different hashes, but for a chance of one in 2**64 that every process draws anew.
    if all(isinstance(constant, str) for constant in constants):
        return len(set(constants)) == len(constants)
    # `-1` and `-2` have one hash: the key is then compared with both, in the order of the display.
    if all(isinstance(constant, int) for constant in constants):
        return len({hash(constant) for constant in constants}) == len(constants)
    return False


def _asked_for_key(code: PythonSource, node: ast.Dict) -> bool:
    """Whether a dict display is only asked for one key."""
    above = code.parent(node)
    match above:
        case ast.Subscript(value=value) | ast.Attribute(value=value):
            return value is node
        case ast.Compare(comparators=[only]):
            return only is node
        case _:
            return False


REORDER_ITEMS: Final = PythonRule(
    name="reorder-items", find=find_items, nothing="no display of which one item is asked for"
)
ITEMS_SWAPPED: Final = PythonRule(
    name="items-swapped", find=find_swapped, nothing="no dict of two items that differ", kind="control"
)
