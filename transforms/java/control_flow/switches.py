"""`switch` over a whole number or a string as a chain of `if`, and back.

Only what has no fall-through: each group of statements ends by leaving. A string is asked for its hash first,
and what a `null` throws says so: it has to be a local that certainly holds one. Enums are left alone: their
types are not in the text.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.facts import Facts
from codeaudit.transforms.java.analysis.library import STATIC
from codeaudit.transforms.java.analysis.types import STRING, Types
from codeaudit.transforms.java.control_flow.jumps import breaking, declares, ends, leaves
from codeaudit.transforms.java.parsing import Node
from codeaudit.transforms.java.rewriting import (
    COMMENT,
    EQUALITY,
    JavaSource,
    Rewriting,
    bare,
    block_of,
    over,
    placed,
    span,
)
from codeaudit.transforms.patches import Part, Site, Span

SELECTOR: Final = "not known to select by a local number or string"
FALLS: Final = "falls through"
INNER_BREAK: Final = "break inside a group"
SHARED: Final = "groups share a variable"
VALUE: Final = "switch with a value"
LABEL: Final = "label of another kind"
CHAIN: Final = "no chain of two comparisons with constants"
TWICE: Final = "constant is there twice or does not fit"
OPEN: Final = "not known whether a branch ends"
LONE: Final = "not among the statements of a block"
_RANGES: Final = {
    "int": range(-(2**31), 2**31), "char": range(2**16), "short": range(-(2**15), 2**15),
    "byte": range(-128, 128),
}  # fmt: skip
_TEXTS: Final = frozenset({"String", "StringBuilder", "StringBuffer"})
_PLAIN: Final = frozenset(
    {"decimal_integer_literal", "hex_integer_literal", "character_literal", "identifier", "unary_expression",
     "field_access", "parenthesized_expression", "cast_expression", "binary_expression", "string_literal"}
)  # fmt: skip


def _to_if(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("switch_expression"):
        yield _chain(code, types, node)


def _chain(code: JavaSource, types: Types, node: Node) -> Site | Refused:
    held = block_of(node)
    if held is None:
        return Refused(VALUE)  # or the body of another statement
    selector = bare(node.part("condition"))
    if not _selects(code, types, selector):
        return Refused(SELECTOR)
    branches = _branches(code, node)
    if isinstance(branches, Refused):
        return branches
    strings = types.of(selector) == STRING
    if any((label.kind == "string_literal") != strings for labels, _ in branches for label in labels or ()):
        return Refused(LABEL)
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
            if strings:
                parts += [f"{name}.equals(", span(label), ")"]
            else:
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


def _branches(code: JavaSource, node: Node) -> list[_Branch] | Refused:
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


def _of_rule(code: JavaSource, node: Node) -> list[Part]:
    if node.kind == "block":
        return [Span(node.start + 1, len(code.source[: node.end - 1].rstrip()))]
    return [f"{code.newline}{code.indentation(node.start)}", span(node)]


def _of_group(code: JavaSource, statements: list[Node]) -> list[Part]:
    if not statements:
        return []
    first, last = statements[0], statements[-1]
    lead = f"{code.newline}{code.indentation(first.start)}"
    return [lead, Span(first.start, last.end)]


def _selects(code: JavaSource, types: Types, node: Node) -> bool:
    """Whether an expression is a local that a `switch` can ask without throwing."""
    if node.kind != "identifier":
        return False
    kind, binding = types.of(node), code.binding(node)
    if kind != STRING or binding is None:
        return kind in _RANGES
    facts = Facts(code.scopes)
    values = facts.values.get(binding.number, [None])
    return all(
        value is not None and (facts.never_null(value) or _gives_text(code, types, bare(value)))
        for value in values
    )


def _gives_text(code: JavaSource, types: Types, node: Node) -> bool:
    """Whether an expression is a sum, or a call of the JDK's own, that gives a string and never `null`."""
    if types.of(node) != STRING or node.kind != "method_invocation":
        return types.of(node) == STRING and node.kind == "binary_expression"
    owner = node.part("object")
    binding = code.binding(owner)
    own = binding is None or binding.view == "outer"
    return types.of(owner) in _TEXTS or (own and owner.kind == "identifier" and code.text(owner) in STATIC)


# ── the other way ────────────────────────────────────────────────────────────────────────────────────────


def _to_switch(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("if_statement"):
        if node.field != "alternative":
            yield _switched(code, types, node)


def _switched(code: JavaSource, types: Types, node: Node) -> Site | Refused:
    branches: list[tuple[list[Node], Node]] = []
    selector: Node | None = None
    last: Node | None = node
    while last is not None and last.kind == "if_statement":
        found, labels = _compared(code, types, last.part("condition"))
        if found is None or (selector is not None and code.text(found) != code.text(selector)):
            break
        selector = found
        branches.append((labels, last.part("consequence")))
        last = last.child("alternative")
    if len(branches) < 2 or selector is None:
        return Refused(CHAIN)
    if block_of(node) is None:
        return Refused(LONE)
    if not _selects(code, types, selector):
        return Refused(SELECTOR)
    name = code.text(selector)
    values = [_constant(code, label) for labels, _ in branches for label in labels]
    fits = _RANGES.get(types.of(selector) or "")
    if len(set(values)) < len(values) or any(
        value is None or (isinstance(value, int) and (fits is None or value not in fits)) for value in values
    ):
        return Refused(TWICE)
    if breaking(code, node):
        return Refused(INNER_BREAK)
    outside, step = code.indentation(node.start), code.step
    newline = f"{code.newline}{outside}"
    parts: list[Part] = [f"switch ({name}) {{"]
    for labels, body in branches:
        parts.append(f"{newline}{step}")
        for number, label in enumerate(labels):
            parts += [" " if number else "", "case ", span(label), ":"]
        goes_on = ends(code, body)
        if not goes_on and not leaves(code, body):
            return Refused(OPEN)
        parts += _braced(code, body, outside, goes_on=goes_on)
    if last is not None:
        parts += [f"{newline}{step}default:", *_braced(code, last, outside, goes_on=False)]
    parts.append(f"{newline}}}")
    kept = [part for part in parts if isinstance(part, Span)]
    for _, start, stop in code.reading.comments:
        if node.start <= start < node.end and not any(
            part.start <= start and stop <= part.end for part in kept
        ):
            return Refused(COMMENT)
    return Site(((over(node, *parts),),), "if as switch", code.line(node))


def _compared(code: JavaSource, types: Types, node: Node) -> tuple[Node | None, list[Node]]:
    """The local that a condition compares with constants, and these; none where it does something else."""
    node = bare(node)
    if node.kind == "binary_expression" and node.operator == "||":
        first, labels = _compared(code, types, node.part("left"))
        second, more = _compared(code, types, node.part("right"))
        same = first is not None and second is not None and code.text(first) == code.text(second)
        return (first, labels + more) if same else (None, [])
    if node.kind == "binary_expression" and node.operator == "==":
        sides = [bare(side) for side in node.children]
        named = [side for side in sides if side.kind == "identifier" and types.of(side) in _RANGES]
        constants = [side for side in sides if isinstance(_constant(code, side), int)]
        return (named[0], constants) if len(named) == len(constants) == 1 else (None, [])
    if node.kind == "method_invocation" and code.text(node.part("name")) == "equals":
        sides = [node.child("object") or node, *node.part("arguments").children]
        named = [side for side in sides if side.kind == "identifier" and types.of(side) == STRING]
        literals = [side for side in sides if side.kind == "string_literal"]
        if len(sides) == 2 and len(named) == len(literals) == 1:
            return named[0], literals
    return None, []


def _constant(code: JavaSource, node: Node) -> int | str | None:
    """The value of a whole number, character or string that is spelt out; none of what has two spellings."""
    text = code.text(node)
    if node.kind == "unary_expression" and node.operator == "-":
        inner = _constant(code, node.children[0])
        return (
            -inner if isinstance(inner, int) and node.children[0].kind == "decimal_integer_literal" else None
        )
    if node.kind == "decimal_integer_literal" and (text == "0" or text[0] != "0"):
        digits = text.replace("_", "")
        return int(digits) if digits.isdigit() else None
    if node.kind == "character_literal" and len(text) == 3:
        return ord(text[1]) if ord(text[1]) < 2**16 else None
    if node.kind == "string_literal" and "\\" not in text and not node.has('"""'):
        return text
    return None


def _braced(code: JavaSource, body: Node, outside: str, *, goes_on: bool) -> list[Part]:
    """A branch as the statements of a `case`, which does not fall through."""
    label = f"{code.newline}{outside}{code.step}"
    inside = f"{outside}{code.step}{code.step}"
    parts: list[Part]
    if body.kind == "block":
        parts = [" {", Span(body.start + 1, len(code.source[: body.end - 1].rstrip()), add=code.step)]
    else:
        own = code.indentation(body.start)
        add = inside.removeprefix(own) if inside.startswith(own) else ""
        parts = [" {", f"{code.newline}{inside}", Span(body.start, body.end, add=add)]
    if goes_on:
        parts.append(f"{code.newline}{inside}break;")
    return [*parts, f"{label}}}"]


IF_TO_SWITCH: Final = Rewriting(name="if-to-switch", find=_to_switch, nothing="no if")
SWITCH_TO_IF: Final = Rewriting(name="switch-to-if", find=_to_if, nothing="no switch")
