"""Defects that people make, each at one place: seeded bugs, beyond the controls of the catalogue.

They are controls: an edit is meant to change what the function does. `DefectKinds` is a language's table of
what is mistaken for what, and `defects` makes the strategies of it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.strategies.dialect import CodeStrategy, CodeText, Find, each
from codeaudit.transforms.strategies.logic import DUAL, conditions
from codeaudit.transforms.strategies.operands import is_target
from codeaudit.transforms.syntax.flow import BLOCKS
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import LOCAL_VIEWS, Binding
from codeaudit.transforms.syntax.text import replace, replace_operator, span

_MOST_NAMES: Final = 4
"""Most variables offered in exchange for one."""
_WHOLE_NUMBER: Final = re.compile(r"(0|[1-9]\d{0,2})([a-zA-Z]{0,3})")
_TRUTHS: Final = frozenset({"identifier", "method_invocation", "field_access", "array_access"})
"""Kinds of conditions that are negated by a `!` in front of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefectKinds:
    """What people mistake in a language."""

    comparisons: Mapping[str, str]
    operators: Mapping[str, tuple[str, ...]]
    calculates: Callable[[CodeText, Node], bool]
    """Whether another operator may stand at an operation of these."""
    alike: Callable[[CodeText, Binding, Binding], bool]
    """Whether one variable may be mistaken for another: the text is still one of the language."""
    fixed: frozenset[str]
    """Kinds of nodes in which a number may not change: labels of a `switch`, sizes in declarations."""
    compares: Callable[[CodeText, Node], bool] = lambda code, node: True
    """The same for a comparison."""
    dropped: Mapping[str, str]
    """By the kind of a prefix that people forget: the name of the defect. The operand stays."""


def defects(kinds: DefectKinds) -> tuple[CodeStrategy, ...]:
    """The strategies of a language's table."""
    finders = {
        "comparison-mistaken": (
            other_operator({a: (b,) for a, b in kinds.comparisons.items()}, kinds.compares),
            "no comparison",
        ),
        "operator-mistaken": (other_operator(kinds.operators, kinds.calculates), "no arithmetic"),
        "logic-mistaken": (other_operator({a: (b,) for a, b in DUAL.items()}), "no && or ||"),
        "variable-mistaken": (_variable(kinds.alike), "no variable to mistake"),
        "condition-negated": (_negated, "no condition"),
        "number-mistaken": (_number(kinds.fixed), "no number"),
        "check-forgotten": (_unchecked, "no check that leaves"),
        **{name: (_dropped(kind), "nothing to forget") for kind, name in kinds.dropped.items()},
    }
    return tuple(defect(name, find, nothing) for name, (find, nothing) in finders.items())


def defect(name: str, find: Find[CodeText], nothing: str) -> CodeStrategy:
    """One kind of defect."""
    return CodeStrategy(name=name, find=find, nothing=nothing, kind="control")


def _always(code: CodeText, node: Node) -> bool:
    return True


def other_operator(
    signs: Mapping[str, tuple[str, ...]], fits: Callable[[CodeText, Node], bool] = _always
) -> Find[CodeText]:
    """Finds operations whose operator is one of these, and gives them another."""

    @each("binary_expression")
    def find(code: CodeText, node: Node) -> Site | None:
        others = signs.get(node.operator)
        if others is None or not fits(code, node):
            return None
        options = tuple((replace_operator(node, sign),) for sign in others)
        return Site(options, f"{node.operator} becomes another", code.line(node))

    return find


def _variable(alike: Callable[[CodeText, Binding, Binding], bool]) -> Find[CodeText]:
    """Finds variables that are read, and others that may stand there."""

    @each("identifier")
    def find(code: CodeText, node: Node) -> Site | None:
        own = code.binding(node)
        if own is None or own.view not in LOCAL_VIEWS or own.doubt is not None or is_target(node):
            return None
        use = next((use for use in own.occurrences if use.start == node.start), None)
        if use is None or use.use != "read" or node.parent is None or node.parent.kind == "unary_expression":
            return None
        names = sorted(
            other.name
            for other in code.scopes.bindings
            if other.view in LOCAL_VIEWS
            and other.doubt is None
            and other.owner == use.depth
            and other.name != own.name
            and 0 <= other.start < _statement(node).start
            and node.start < other.until
            and alike(code, own, other)
        )
        names = [name for name in dict.fromkeys(names) if names.count(name) == 1]
        if not names:
            return None
        return Site(
            tuple((replace(node, name),) for name in names[:_MOST_NAMES]), f"not {own.name}", code.line(node)
        )

    return find


def _statement(node: Node) -> Node:
    """The statement around an expression."""
    while node.parent is not None and node.parent.kind not in BLOCKS:
        node = node.parent
    return node


def _negated(code: CodeText) -> Iterator[Site]:
    """A condition that is no comparison, negated."""
    for condition in conditions(code):
        if condition.kind in _TRUTHS:
            parts = ("!", span(condition))
            yield code.site(
                condition,
                "condition negated",
                code.precedence.replace(condition, parts, code.precedence.unary),
            )


def _number(fixed: frozenset[str]) -> Find[CodeText]:
    """A whole number below 1000, one higher or lower; 0 only higher."""

    def find(code: CodeText) -> Iterator[Site]:
        for node in code.nodes:
            match = _WHOLE_NUMBER.fullmatch(code.text(node)) if node.kind in code.dialect.numbers else None
            if match is None or node.parent is None or node.parent.kind in fixed:
                continue
            value = int(match[1])
            changes = [value + 1, value - 1] if value else [1]
            options = tuple((replace(node, f"{change}{match[2]}"),) for change in changes)
            yield Site(options, "number one off", code.line(node))

    return find


@each("if_statement")
def _unchecked(code: CodeText, node: Node) -> Site | None:
    """`if (bad) return;` left out."""
    if not is_check(code, node):
        return None
    return code.site(node, "check left out", taken_out(code, node))


def is_check(code: CodeText, node: Node) -> bool:
    """Whether a statement only leaves where a condition holds."""
    return (
        node.kind == "if_statement"
        and node.child("alternative") is None
        and node.parent is not None
        and node.parent.kind in BLOCKS
        and code.leaves(node.part("consequence"))
        and not any(
            inner.kind in ("assignment_expression", "update_expression", "labeled_statement")
            for inner in node.walk()
            if inner.end <= node.part("condition").end or inner.kind == "labeled_statement"
        )
    )


def taken_out(code: CodeText, node: Node) -> Patch:
    """A statement of a block left out, with its line where it has one for itself."""
    start, end = node.start, node.end
    behind = code.source[end:].partition(b"\n")[0]
    if code.starts_line(start) and not behind.strip() and code.source[end:].startswith(behind + b"\n"):
        return Patch(start - len(code.indentation(start).encode()), end + len(behind) + 1, ())
    return Patch(start, end, ())


def _dropped(kind: str) -> Find[CodeText]:
    """What stands behind a prefix, without it."""

    @each(kind)
    def find(code: CodeText, node: Node) -> Site | None:
        if len(node.children) != 1 or code.comments_outside(node, node.children[0]):
            return None
        return code.site(node, "left out", replace(node, span(node.children[0])))

    return find
