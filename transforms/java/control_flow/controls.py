"""Controls: edits that look like those of this family and change what a method does, and that compile."""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.purity import written
from codeaudit.transforms.java.analysis.types import Types
from codeaudit.transforms.java.control_flow.branches import NO_ELSE, negation
from codeaudit.transforms.java.control_flow.jumps import PATTERN, ends, patterns
from codeaudit.transforms.java.nodes import Node
from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.java.source import JavaSource
from codeaudit.transforms.patches import Patch, Site

IDLE: Final = "block does nothing"
LEAVES: Final = "branch leaves"
UNSET: Final = "a variable would stay unset"


def _inverted(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("if_statement"):
        condition = node.part("condition")
        if patterns(code, condition) or written(code, condition):
            yield Refused(PATTERN)
            continue
        yield Site(((negation(code, types, node),),), "condition negated", code.line(node))


def _dropped(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("if_statement"):
        first, second = node.part("consequence"), node.child("alternative")
        if second is None:
            yield Refused(NO_ELSE)
        elif second.kind == "block" and not second.children:
            yield Refused(IDLE)
        elif not ends(code, second) or not ends(code, first):
            yield Refused(LEAVES)
        elif _sets(code, second):
            yield Refused(UNSET)
        elif patterns(code, node.part("condition")):
            yield Refused(PATTERN)
        else:
            yield Site(((Patch(first.end, second.end, ()),),), "else dropped", code.line(node))


def _sets(code: JavaSource, node: Node) -> bool:
    """Whether a statement may give a variable its first value."""
    return any(
        binding.number in written(code, node) and (binding.node is None or not _has_value(binding.node))
        for binding in code.scopes.bindings
        if binding.view != "parameter"
    )


def _has_value(node: Node) -> bool:
    return node.child("value") is not None


IF_INVERTED_WRONG: Final = Rewriting(
    name="if-inverted-wrong", find=_inverted, nothing="no if", kind="control"
)
BRANCH_DROPPED: Final = Rewriting(name="branch-dropped", find=_dropped, nothing="no if", kind="control")
