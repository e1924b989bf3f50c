"""`a < b < c` against `a < b and b < c`.

Both forms test the first comparison, and both give its value if it is false. The second form reads the middle
operand twice, so the operand must be a constant or a variable that only this function can rebind. If the
value is an operand of another `and`, `or` or `not`, one form is tested for truth more often than the other;
there, the comparisons must be known to give bools.
"""

import ast
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.contexts import (
    AND,
    editable_nodes,
    has_comment,
    has_parentheses,
    in_condition,
    is_bool,
    parenthesized_inside,
    patch_range,
    replace_with,
)
from codeaudit.transforms.python.rewriting import PythonRule, at_each
from codeaudit.transforms.python.source import PythonSource

MIDDLE: Final = "middle may not be read twice"
LAYOUT: Final = "comment or parentheses between the parts"
TESTS: Final = "number of truth tests would change"
NO_COMMON: Final = "comparisons share no operand"
_ORDERS: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq)


def _plain(code: PythonSource, node: ast.expr) -> bool:
    """Whether reading an operand twice gives the same object and does nothing else."""
    return isinstance(node, ast.Name | ast.Constant) and code.harmless(node)


def _same_tests(code: PythonSource, node: ast.expr) -> bool:
    """Whether a chain and its parts joined by `and` are tested for truth equally often."""
    return (
        in_condition(code, node)
        or is_bool(code, node)
        or isinstance(code.parent(node), ast.Return | ast.Assign | ast.Call)
    )


@at_each(ast.Compare)
def _split(code: PythonSource, node: ast.Compare) -> Site | Refused | None:
    """`a < b < c` to `a < b and b < c`."""
    if len(node.ops) < 2:
        return None
    middles = node.comparators[:-1]
    if not all(_plain(code, middle) for middle in middles):
        return Refused(MIDDLE)
    if not _same_tests(code, node):
        return Refused(TESTS)
    patches = [replace_with(code, node, AND, *parenthesized_inside(code, node, AND))]
    for middle in middles:
        full = code.full(middle)
        patches.append(patch_range(code, full.start, full.end, full, " and ", code.span(middle)))
    return Site((tuple(patches),), "chain split", node.lineno)


def _merge(code: PythonSource) -> Iterator[Site | Refused]:
    """`a < b and b < c` to `a < b < c`, for every two neighbours of an `and`."""
    for node in editable_nodes(code):
        if not isinstance(node, ast.BoolOp) or not isinstance(node.op, ast.And):
            continue
        for one, other in zip(node.values, node.values[1:], strict=False):
            if isinstance(one, ast.Compare) and isinstance(other, ast.Compare):
                same = is_bool(code, node) or len(node.values) == 2 or in_condition(code, node)
                yield _merged(code, one, other) if same and _same_tests(code, node) else Refused(TESTS)


def _merged(code: PythonSource, one: ast.Compare, other: ast.Compare) -> Site | Refused:
    """The site that chains two comparisons, or the reason why they cannot be chained."""
    first, second = one.comparators[-1], other.left
    if not all(isinstance(op, _ORDERS) for op in (*one.ops, *other.ops)):
        return Refused(NO_COMMON)
    if not isinstance(first, ast.Name | ast.Constant) or ast.dump(first) != ast.dump(second):
        return Refused(NO_COMMON)
    if not _plain(code, first):
        return Refused(MIDDLE)
    start, end = code.full(first), code.full(second)
    if has_parentheses(code, one) or has_parentheses(code, other) or has_comment(code, start.end, end.end):
        return Refused(LAYOUT)
    change = Patch(start.start, end.end, (start,))
    return Site(((change,),), "comparisons chained", one.lineno)


SPLIT_COMPARISONS: Final = PythonRule(name="split-comparisons", find=_split, nothing="no chained comparison")
MERGE_COMPARISONS: Final = PythonRule(
    name="merge-comparisons", find=_merge, nothing="no two comparisons joined by and"
)
