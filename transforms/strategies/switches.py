"""`switch` as a chain of `if`, and back.

Only a `switch` without fall-through: each group of statements ends by leaving. The language knows by what a
`switch` may select so that a chain of comparisons does the same (`CodeText.is_selector`).
"""

from collections.abc import Sequence
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Part, Site, Span
from codeaudit.transforms.strategies.branches import LONE
from codeaudit.transforms.strategies.dialect import COMMENT, CodeStrategy, CodeText, each
from codeaudit.transforms.syntax.flow import following
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.text import replace, span

SELECTOR: Final = "not known to select by a local number or string"
FALLS: Final = "falls through"
INNER_BREAK: Final = "break inside a group"
SHARED: Final = "groups share a variable"
VALUE: Final = "switch with a value"
LABEL: Final = "label of another kind"
CHAIN: Final = "no chain of two comparisons with constants"
TWICE: Final = "constant is there twice or does not fit"
OPEN: Final = "not known whether a branch ends"
_LABELS: Final = frozenset(
    {"decimal_integer_literal", "hex_integer_literal", "character_literal", "identifier", "unary_expression",
     "field_access", "parenthesized_expression", "cast_expression", "binary_expression", "string_literal"}
)  # fmt: skip
"""Labels that may be a constant of a number or string; a pattern or `null` is another kind."""

_Branch = tuple[list[Node] | None, list[Part]]
"""The labels of a group (`None` with `default`), and its statements."""


@each("switch_expression")
def _to_if(code: CodeText, node: Node) -> Site | Refused:
    """`switch (x) { case 1: a; break; default: b; }` as `if (x == 1) { a; } else { b; }`."""
    if following(node) is None:
        return Refused(VALUE)  # or the body of another statement
    selector = node.part("condition").unparenthesized
    if not code.is_selector(selector):
        return Refused(SELECTOR)
    branches = _branches(code, node)
    if isinstance(branches, Refused):
        return branches
    newline = f"{code.newline}{code.indentation(node.start)}"
    parts: list[Part] = []
    default: Sequence[Part] = ()
    for labels, body in branches:
        if labels is None:  # may stand anywhere, as nothing falls into it; an else stands last
            default = body
            continue
        parts.append("else if (" if parts else "if (")
        for number, label in enumerate(labels):
            if (test := code.comparison(selector, label)) is None:
                return Refused(LABEL)
            parts += [" || "] if number else []
            parts += test
        parts += [") {", *body, f"{newline}}} "]
    if not parts:
        return Refused("nothing but a default")
    if default:
        parts += ["else {", *default, f"{newline}}}"]
    elif isinstance(parts[-1], str):
        parts[-1] = parts[-1].rstrip(" ")
    return code.site(node, "switch as if", replace(node, *parts))


def _branches(code: CodeText, node: Node) -> list[_Branch] | Refused:
    """The branches of a `switch`, or why they cannot be those of an `if`."""
    groups = node.part("body").children
    branches: list[_Branch] = []
    labels: list[Node] = []
    default = False
    last_breaks: set[int] = set()
    for number, group in enumerate(groups):
        statements = [child for child in group.children if child.kind != "switch_label"]
        for label in (child for child in group.children if child.kind == "switch_label"):
            if label.has("default"):
                default = True
            elif any(child.kind not in _LABELS for child in label.children):
                return Refused(LABEL)
            labels += label.children
        is_last = number + 1 == len(groups)
        if group.kind == "switch_rule":
            body = _of_rule(code, statements[0])
        elif not statements and not is_last:
            continue  # labels of the group that follows
        else:
            end = statements[-1] if statements else None
            if end is not None and end.kind == "break_statement" and not end.children:
                last_breaks.add(end.start)
                statements = statements[:-1]
            elif end is not None and not is_last and not code.leaves(end):
                return Refused(FALLS)
            body = _of_group(code, statements)
            if any(code.declares(statements) & code.names(later) for later in groups[number + 1 :]):
                # All groups are one block: `case 1: int n = 1; break; case 2: n = 2;`.
                return Refused(SHARED)
        branches.append((None if default else labels, body))
        labels, default = [], False
    if any(jump.start not in last_breaks for jump in code.dialect.flow.breaking(node)):
        return Refused(INNER_BREAK)  # in an `if` it would leave a loop around
    spans = [part for _, body in branches for part in body if isinstance(part, Span)]
    return Refused(COMMENT) if code.comments_outside(node, *spans) else branches


def _of_rule(code: CodeText, node: Node) -> list[Part]:
    """The statements of `case 1 -> …`, without the braces of a block."""
    if node.kind == "block":
        return [Span(node.start + 1, len(code.source[: node.end - 1].rstrip()))]
    return [f"{code.newline}{code.indentation(node.start)}", span(node)]


def _of_group(code: CodeText, statements: list[Node]) -> list[Part]:
    """The statements of `case 1: …`, on lines of their own."""
    if not statements:
        return []
    first, last = statements[0], statements[-1]
    return [f"{code.newline}{code.indentation(first.start)}", Span(first.start, last.end)]


# ── the other way ────────────────────────────────────────────────────────────────────────────────────────


@each("if_statement")
def _to_switch(code: CodeText, node: Node) -> Site | Refused | None:
    """`if (x == 1) a else if (x == 2) b` as a `switch`."""
    if node.field == "alternative":
        return None
    branches: list[tuple[list[Node], Node]] = []
    selector: Node | None = None
    last: Node | None = node
    while last is not None and last.kind == "if_statement":
        compared, labels = _compared(code, last.part("condition"))
        if compared is None or (selector is not None and code.text(compared) != code.text(selector)):
            break
        selector = compared
        branches.append((labels, last.part("consequence")))
        last = last.child("alternative")
    if len(branches) < 2 or selector is None:
        return Refused(CHAIN)
    if following(node) is None:
        return Refused(LONE)
    if not code.is_selector(selector):
        return Refused(SELECTOR)
    values = [code.constant(label) for labels, _ in branches for label in labels]
    if len(set(values)) < len(values) or not all(code.fits_label(value, selector) for value in values):
        return Refused(TWICE)
    if code.dialect.flow.breaking(node):
        return Refused(INNER_BREAK)  # it would leave the switch
    outside, step = code.indentation(node.start), code.step
    newline = f"{code.newline}{outside}"
    parts: list[Part] = [f"switch ({code.text(selector)}) {{"]
    for labels, body in branches:
        parts.append(f"{newline}{step}")
        for number, label in enumerate(labels):
            parts += [" " if number else "", "case ", span(label), ":"]
        goes_on = code.ends(body)
        if not goes_on and not code.leaves(body):
            return Refused(OPEN)  # a needless `break` would be unreachable, a missing one falls through
        parts += _as_group(code, body, outside, goes_on=goes_on)
    if last is not None:
        parts += [f"{newline}{step}default:", *_as_group(code, last, outside, goes_on=False)]
    parts.append(f"{newline}}}")
    if code.comments_outside(node, *(part for part in parts if isinstance(part, Span))):
        return Refused(COMMENT)
    return code.site(node, "if as switch", replace(node, *parts))


def _compared(code: CodeText, node: Node) -> tuple[Node | None, list[Node]]:
    """The local that a condition compares with constants, and these; none where it does something else."""
    node = node.unparenthesized
    if node.kind == "binary_expression" and node.operator == "||":
        first, labels = _compared(code, node.part("left"))
        second, more = _compared(code, node.part("right"))
        same = first is not None and second is not None and code.text(first) == code.text(second)
        return (first, labels + more) if same else (None, [])
    pair = code.compared(node)
    return (None, []) if pair is None else (pair[0], [pair[1]])


def _as_group(code: CodeText, body: Node, outside: str, *, goes_on: bool) -> list[Part]:
    """A branch as the statements of a `case`, in braces so that its names stay its own."""
    inside = f"{outside}{code.step}{code.step}"
    parts: list[Part]
    if body.kind == "block":
        parts = [" {", Span(body.start + 1, len(code.source[: body.end - 1].rstrip()), add=code.step)]
    else:
        indent = code.indentation(body.start)
        add = inside.removeprefix(indent) if inside.startswith(indent) else ""
        parts = [" {", f"{code.newline}{inside}", Span(body.start, body.end, add=add)]
    if goes_on:
        parts.append(f"{code.newline}{inside}break;")
    return [*parts, f"{code.newline}{outside}{code.step}}}"]


IF_TO_SWITCH: Final = CodeStrategy(
    name="if-to-switch", needs=("is_selector",), find=_to_switch, nothing="no if"
)
SWITCH_TO_IF: Final = CodeStrategy(
    name="switch-to-if", needs=("is_selector",), find=_to_if, nothing="no switch"
)
