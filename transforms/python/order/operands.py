"""`reorder-operands`: the operands of `and` and `or` in another order.

The first operand that decides ends the evaluation, so the operands that change places must not show whether
they are evaluated: they may not act, raise or bind. Nor may the value depend on the order: they must give a
bool, or only the truth of the whole may matter and testing them may run no foreign code.

An operand of another kind keeps its place, and no operand moves past it.
"""

import ast
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.dependence.effects import LOOKS_UP, OBSERVES
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Site
from codeaudit.transforms.python.analysis.knowledge import KNOWN
from codeaudit.transforms.python.contexts import editable_nodes, in_condition
from codeaudit.transforms.python.order.spelling import spelled_once
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import rearranged
from codeaudit.transforms.rules import MOST

SEEN: Final = "an operand may show whether it is evaluated"


@spelled_once
def find_operands(code: PythonSource) -> Iterator[Site | Refused]:
    """Every `and` and `or`."""
    for node in editable_nodes(code):
        if isinstance(node, ast.BoolOp):
            values = node.values[:MOST]
            tested = in_condition(code, node)
            calm = [_is_calm(code, value, tested=tested) for value in values]
            before = [
                sum(1 << other for other in range(number) if not (calm[number] and calm[other]))
                for number in range(len(values))
            ]
            parts = [code.full(value) for value in values]
            yield rearranged(code, parts, before, "operands") or Refused(SEEN)


def _is_calm(code: PythonSource, node: ast.expr, *, tested: bool) -> bool:
    """Whether nobody sees if an operand is evaluated, and it gives a bool or only its truth matters."""
    effects = code.effects(node)
    # Between two operands nothing acts, so both may look at what others can change.
    if effects.writes or effects.flags & ~(OBSERVES | LOOKS_UP):
        return False
    return code.kind(node) in (KNOWN if tested else {"bool"})


REORDER_OPERANDS: Final = PythonRule(name="reorder-operands", find=find_operands, nothing="no `and` or `or`")
