"""`switch` over a whole number as a chain of `if`.

Only what has no fall-through: each group of statements ends by leaving. Strings and enums are left alone:
they are asked for their hash or place first, and what a `null` among them throws says so.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from transforms.interface import Refused
from transforms.java.analysis.types import Types
from transforms.java.code import COMMENT, EQUALITY, Code, bare, block_of, over, placed, span
from transforms.java.control_flow.jumps import breaking, declares, leaves
from transforms.java.nodes import Node
from transforms.java.rewriting import Rewriting
from transforms.patches import Part, Site, Span

SELECTOR: Final = "not known to select by a local number"
FALLS: Final = "falls through"
INNER_BREAK: Final = "break inside a group"
SHARED: Final = "groups share a variable"
VALUE: Final = "switch with a value"
LABEL: Final = "label of another kind"
_WHOLE: Final = frozenset({"int", "char", "short", "byte"})
_PLAIN: Final = frozenset(
    {"decimal_integer_literal", "hex_integer_literal", "character_literal", "identifier", "unary_expression",
     "field_access", "parenthesized_expression", "cast_expression", "binary_expression"}
)  # fmt: skip


def _to_if(code: Code) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("switch_expression"):
        yield _chain(code, types, node)


def _chain(code: Code, types: Types, node: Node) -> Site | Refused:
    held = block_of(node)
    if held is None:
        return Refused(VALUE)  # or the body of another statement
    selector = bare(node.part("condition"))
    if selector.kind != "identifier" or types.of(selector) not in _WHOLE:
        return Refused(SELECTOR)
    branches = _branches(code, node)
    if isinstance(branches, Refused):
        return branches
    name = code.text(selector)
    outside = code.indentation(node.start)
    newline = f"{code.newline}{outside}"
    parts: list[Part] = []
    last: Sequence[Part] = ()
    for labels, body in branches:
        if labels is None:
            last = body
            continue
        parts.append("else if (" if parts else "if (")
        for number, label in enumerate(labels):
            parts += [" || "] if number else []
            parts += [f"{name} == ", *placed(label, EQUALITY + 1)]
        parts += [") {", *body, f"{newline}}} "]
    if not parts:
        return Refused("nothing but a default")
    if last:
        parts += ["else {", *last, f"{newline}}}"]
    elif isinstance(parts[-1], str):
        parts[-1] = parts[-1].rstrip(" ")
    return Site(((over(node, *parts),),), "switch as if", code.line(node))


_Branch = tuple[list[Node] | None, list[Part]]


def _branches(code: Code, node: Node) -> list[_Branch] | Refused:
    """The labels of each group, none for `default`, and its statements."""
    groups = node.part("body").children
    found: list[_Branch] = []
    waiting: list[Node] = []
    default = False
    allowed: set[int] = set()
    for number, group in enumerate(groups):
        statements = [child for child in group.children if child.kind != "switch_label"]
        for label in (child for child in group.children if child.kind == "switch_label"):
            if label.has("default"):
                default = True
            elif any(child.kind not in _PLAIN for child in label.children):
                return Refused(LABEL)
            waiting += label.children
        if not statements and group.kind != "switch_rule" and number + 1 < len(groups):
            continue  # labels of the group that follows
        if group.kind == "switch_rule":
            body = _of_rule(code, statements[0])
        else:
            end = statements[-1] if statements else None
            if end is not None and end.kind == "break_statement" and not end.children:
                allowed.add(end.start)
                statements = statements[:-1]
            elif end is not None and number + 1 < len(groups) and not leaves(code, end):
                return Refused(FALLS)
            body = _of_group(code, statements)
            rest = groups[number + 1 :]
            if any(declares(code, statements) & code.names(one) for one in rest):
                return Refused(SHARED)
        found.append((None if default else waiting, body))
        waiting, default = [], False
    if any(jump.start not in allowed for jump in breaking(code, node)):
        return Refused(INNER_BREAK)
    kept = [part for _, body in found for part in body if isinstance(part, Span)]
    for _, start, stop in code.reading.comments:
        inside = any(part.start <= start and stop <= part.end for part in kept)
        if node.start <= start < node.end and not inside:
            return Refused(COMMENT)
    return found


def _of_rule(code: Code, node: Node) -> list[Part]:
    if node.kind == "block":
        return [Span(node.start + 1, len(code.source[: node.end - 1].rstrip()))]
    return [f"{code.newline}{code.indentation(node.start)}", span(node)]


def _of_group(code: Code, statements: list[Node]) -> list[Part]:
    if not statements:
        return []
    first, last = statements[0], statements[-1]
    lead = f"{code.newline}{code.indentation(first.start)}"
    return [lead, Span(first.start, last.end)]


SWITCH_TO_IF: Final = Rewriting(name="switch-to-if", find=_to_if, nothing="no switch")
