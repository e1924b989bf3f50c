"""What comparisons give and run, told from their operands.

The operator alone tells little. `a < b` is what a method of `a` or `b` gives. `(a, 1) < (b, 2)` looks for the
first items that differ and then gives what `a < b` gives, which for arrays is an array.

`expressions` asks these functions for the kind of a comparison, and the rules that write one another way ask
them whether it only computes.
"""

import ast
from collections.abc import Callable

from codeaudit.transforms.python.analysis.knowledge import KNOWN, NUMBERS, PLAIN
from codeaudit.transforms.python.walking import below


def gives_bool(
    op: ast.cmpop, left: ast.expr, right: ast.expr, kind: Callable[[ast.expr], str | None]
) -> bool:
    """Whether a comparison certainly gives `True` or `False` itself, or raises.

    `kind` gives the builtin type of an expression, if it is certain.
    """
    # `in` and `not in` ask for the truth of what `__contains__` gives.
    if isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn):
        return True
    one, other = kind(left), kind(right)
    if one not in KNOWN or other not in KNOWN:
        return False
    # Equality of containers asks for the truth of what the items' `__eq__` gives, and sets are ordered by
    # what they hold. Of the other types, only numbers, texts and bytes have an order.
    if isinstance(op, ast.Eq | ast.NotEq) or one != other or one not in ("tuple", "list"):
        return True
    if not isinstance(left, ast.Tuple | ast.List) or not isinstance(right, ast.Tuple | ast.List):
        return False
    # A comparison among the items would be looked into once more at each level of nesting.
    if any(isinstance(part, ast.Starred | ast.Compare) for side in (left, right) for part in below(side)):
        return False
    return all(gives_bool(op, *items, kind) for items in zip(left.elts, right.elts, strict=False))


def is_exact(op: ast.cmpop, left: str | None, right: str | None) -> bool:
    """Whether comparing operands of these types only computes: it runs no foreign code and does not raise.

    For membership, ask `is_exact_membership`.
    """
    match op:
        case ast.Is() | ast.IsNot():
            return True
        case ast.Eq() | ast.NotEq():
            # `[x] == [y]` compares the elements, which may be foreign.
            return left in PLAIN and right in PLAIN
        case _:
            # `1 < "a"` raises, `{1} < x` may call a method of `x`.
            return (left in NUMBERS and right in NUMBERS) or (left == right and left in ("str", "bytes"))


def is_exact_membership(left: str | None, right: str | None, display: ast.expr) -> bool:
    """Whether `in` with operands of these types only computes; `display` is the right one.

    What a dict or set does with a key is not considered.
    """
    literal = isinstance(display, ast.Tuple | ast.List | ast.Set) and all(
        isinstance(element, ast.Constant) for element in display.elts
    )
    # A foreign list compares `x` with every element, by its `__eq__`.
    return left == right == "str" or (left in PLAIN and (literal or right in ("dict", "set", "range")))
