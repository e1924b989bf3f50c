"""`switch` over a whole number or a string as a chain of `if`, and back.

Only a `switch` without fall-through: each group of statements ends by leaving. A `switch` over a string calls
its `hashCode` first, so it throws for `null`, and `"a".equals(null)` does not: the selector has to be a local
that certainly holds a string. Enums are left alone: their types are not in the text.
"""

from collections.abc import Sequence
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.facts import Facts
from codeaudit.transforms.java.analysis.library import STATIC
from codeaudit.transforms.java.analysis.types import BOXES, PRIMITIVE, STRING
from codeaudit.transforms.java.control_flow.branches import LONE
from codeaudit.transforms.java.control_flow.jumps import breaking, declares, ends, leaves
from codeaudit.transforms.java.precedence import EQUALITY
from codeaudit.transforms.java.rewriting import (
    COMMENT,
    JavaSource,
    Rewriting,
    each,
    following,
    operand,
    replace,
    span,
)
from codeaudit.transforms.patches import Part, Site, Span
from codeaudit.transforms.syntax.reader import Node

SELECTOR: Final = "not known to select by a local number or string"
FALLS: Final = "falls through"
INNER_BREAK: Final = "break inside a group"
SHARED: Final = "groups share a variable"
VALUE: Final = "switch with a value"
LABEL: Final = "label of another kind"
CHAIN: Final = "no chain of two comparisons with constants"
TWICE: Final = "constant is there twice or does not fit"
OPEN: Final = "not known whether a branch ends"
_RANGES: Final = {
    "int": range(-(2**31), 2**31), "char": range(2**16), "short": range(-(2**15), 2**15),
    "byte": range(-128, 128),
}  # fmt: skip
_TEXTS: Final = frozenset({"String", "StringBuilder", "StringBuffer"})
_PLAIN: Final = PRIMITIVE | BOXES | _TEXTS | {"char[]"}
"""Types of arguments whose text is never null."""
_LABELS: Final = frozenset(
    {"decimal_integer_literal", "hex_integer_literal", "character_literal", "identifier", "unary_expression",
     "field_access", "parenthesized_expression", "cast_expression", "binary_expression", "string_literal"}
)  # fmt: skip
"""Labels that may be a constant of a number or string; a pattern or `null` is another kind."""

_Branch = tuple[list[Node] | None, list[Part]]
"""The labels of a group (`None` with `default`), and its statements."""


@each("switch_expression")
def _to_if(code: JavaSource, node: Node) -> Site | Refused:
    """`switch (x) { case 1: a; break; default: b; }` as `if (x == 1) { a; } else { b; }`."""
    if following(node) is None:
        return Refused(VALUE)  # or the body of another statement
    selector = node.part("condition").unparenthesized
    if not _selects(code, selector):
        return Refused(SELECTOR)
    branches = _branches(code, node)
    if isinstance(branches, Refused):
        return branches
    strings = code.type(selector) == STRING
    if any((label.kind == "string_literal") != strings for labels, _ in branches for label in labels or ()):
        return Refused(LABEL)
    name, newline = code.text(selector), f"{code.newline}{code.indentation(node.start)}"
    parts: list[Part] = []
    default: Sequence[Part] = ()
    for labels, body in branches:
        if labels is None:  # may stand anywhere, as nothing falls into it; an else stands last
            default = body
            continue
        parts.append("else if (" if parts else "if (")
        for number, label in enumerate(labels):
            parts += [" || "] if number else []
            if strings:
                parts += [f"{name}.equals(", span(label), ")"]
            else:
                parts += [f"{name} == ", *operand(label, EQUALITY + 1)]
        parts += [") {", *body, f"{newline}}} "]
    if not parts:
        return Refused("nothing but a default")
    if default:
        parts += ["else {", *default, f"{newline}}}"]
    elif isinstance(parts[-1], str):
        parts[-1] = parts[-1].rstrip(" ")
    return code.site(node, "switch as if", replace(node, *parts))


def _branches(code: JavaSource, node: Node) -> list[_Branch] | Refused:
    """The branches of a `switch`, or why they cannot be those of an `if`."""
    groups = node.part("body").children
    found: list[_Branch] = []
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
            elif end is not None and not is_last and not leaves(code, end):
                return Refused(FALLS)
            body = _of_group(code, statements)
            if any(declares(code, statements) & code.names(one) for one in groups[number + 1 :]):
                # All groups are one block: `case 1: int n = 1; break; case 2: n = 2;`.
                return Refused(SHARED)
        found.append((None if default else labels, body))
        labels, default = [], False
    if any(jump.start not in last_breaks for jump in breaking(node)):
        return Refused(INNER_BREAK)  # in an `if` it would leave a loop around
    kept = [part for _, body in found for part in body if isinstance(part, Span)]
    return Refused(COMMENT) if code.comments_outside(node, *kept) else found


def _of_rule(code: JavaSource, node: Node) -> list[Part]:
    """The statements of `case 1 -> …`, without the braces of a block."""
    if node.kind == "block":
        return [Span(node.start + 1, len(code.source[: node.end - 1].rstrip()))]
    return [f"{code.newline}{code.indentation(node.start)}", span(node)]


def _of_group(code: JavaSource, statements: list[Node]) -> list[Part]:
    """The statements of `case 1: …`, on lines of their own."""
    if not statements:
        return []
    first, last = statements[0], statements[-1]
    return [f"{code.newline}{code.indentation(first.start)}", Span(first.start, last.end)]


def _selects(code: JavaSource, node: Node) -> bool:
    """Whether an expression is a local that a `switch` can ask without throwing."""
    if node.kind != "identifier":
        return False
    kind, binding = code.type(node), code.binding(node)
    if kind != STRING or binding is None:
        return kind in _RANGES
    facts = Facts(code.scopes)
    values = facts.values.get(binding.number, [None])
    return all(
        value is not None and (facts.never_null(value) or _gives_string(code, value.unparenthesized))
        for value in values
    )


def _gives_string(code: JavaSource, node: Node) -> bool:
    """Whether an expression is a sum, or a call of the JDK's own, that gives a string and never `null`."""
    if code.type(node) != STRING or node.kind != "method_invocation":
        return code.type(node) == STRING and node.kind == "binary_expression"
    owner = node.part("object")
    binding = code.binding(owner)
    is_class = owner.kind == "identifier" and (binding is None or binding.view == "outer")
    if is_class and code.text(owner) == STRING and code.text(node.part("name")) == "valueOf":
        # `String.valueOf(o)` gives what the `toString` of the object gives, which may be null.
        return all(code.type(one) in _PLAIN for one in node.part("arguments").children)
    return code.type(owner) in _TEXTS or (is_class and code.text(owner) in STATIC)


# ── the other way ────────────────────────────────────────────────────────────────────────────────────────


@each("if_statement")
def _to_switch(code: JavaSource, node: Node) -> Site | Refused | None:
    """`if (x == 1) a else if (x == 2) b` as a `switch`."""
    if node.field == "alternative":
        return None
    branches: list[tuple[list[Node], Node]] = []
    selector: Node | None = None
    last: Node | None = node
    while last is not None and last.kind == "if_statement":
        found, labels = _compared(code, last.part("condition"))
        if found is None or (selector is not None and code.text(found) != code.text(selector)):
            break
        selector = found
        branches.append((labels, last.part("consequence")))
        last = last.child("alternative")
    if len(branches) < 2 or selector is None:
        return Refused(CHAIN)
    if following(node) is None:
        return Refused(LONE)
    if not _selects(code, selector):
        return Refused(SELECTOR)
    values = [_constant(code, label) for labels, _ in branches for label in labels]
    fits = _RANGES.get(code.type(selector) or "")
    if len(set(values)) < len(values) or any(
        value is None or (isinstance(value, int) and (fits is None or value not in fits)) for value in values
    ):
        return Refused(TWICE)  # two equal labels, or `case 200` for a byte, do not compile
    if breaking(node):
        return Refused(INNER_BREAK)  # it would leave the switch
    outside, step = code.indentation(node.start), code.step
    newline = f"{code.newline}{outside}"
    parts: list[Part] = [f"switch ({code.text(selector)}) {{"]
    for labels, body in branches:
        parts.append(f"{newline}{step}")
        for number, label in enumerate(labels):
            parts += [" " if number else "", "case ", span(label), ":"]
        goes_on = ends(code, body)
        if not goes_on and not leaves(code, body):
            return Refused(OPEN)  # a needless `break` would be unreachable, a missing one falls through
        parts += _as_group(code, body, outside, goes_on=goes_on)
    if last is not None:
        parts += [f"{newline}{step}default:", *_as_group(code, last, outside, goes_on=False)]
    parts.append(f"{newline}}}")
    if code.comments_outside(node, *(part for part in parts if isinstance(part, Span))):
        return Refused(COMMENT)
    return code.site(node, "if as switch", replace(node, *parts))


def _compared(code: JavaSource, node: Node) -> tuple[Node | None, list[Node]]:
    """The local that a condition compares with constants, and these; none where it does something else."""
    node = node.unparenthesized
    if node.kind == "binary_expression" and node.operator == "||":
        first, labels = _compared(code, node.part("left"))
        second, more = _compared(code, node.part("right"))
        same = first is not None and second is not None and code.text(first) == code.text(second)
        return (first, labels + more) if same else (None, [])
    if node.kind == "binary_expression" and node.operator == "==":
        sides = [side.unparenthesized for side in node.children]
        named = [side for side in sides if side.kind == "identifier" and code.type(side) in _RANGES]
        constants = [side for side in sides if isinstance(_constant(code, side), int)]
    elif node.kind == "method_invocation" and code.text(node.part("name")) == "equals":
        sides = [node.child("object") or node, *node.part("arguments").children]
        named = [side for side in sides if side.kind == "identifier" and code.type(side) == STRING]
        constants = [side for side in sides if side.kind == "string_literal"]
    else:
        return None, []
    return (named[0], constants) if len(sides) == 2 and len(named) == len(constants) == 1 else (None, [])


def _constant(code: JavaSource, node: Node) -> int | str | None:
    """The value of a whole number, character or string that is spelt out; none of what has two spellings."""
    text = code.text(node)
    match node.kind:
        case "unary_expression" if node.operator == "-":
            inner = node.children[0]
            value = _constant(code, inner)
            return -value if isinstance(value, int) and inner.kind == "decimal_integer_literal" else None
        case "decimal_integer_literal" if text == "0" or text[0] != "0":  # 010 is octal
            digits = text.replace("_", "")
            return int(digits) if digits.isdigit() else None
        case "character_literal" if len(text) == 3:
            return ord(text[1]) if ord(text[1]) < 2**16 else None
        case "string_literal" if "\\" not in text and not node.has('"""'):
            return text
        case _:
            return None


def _as_group(code: JavaSource, body: Node, outside: str, *, goes_on: bool) -> list[Part]:
    """A branch as the statements of a `case`, in braces so that its names stay its own."""
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
    return [*parts, f"{code.newline}{outside}{code.step}}}"]


IF_TO_SWITCH: Final = Rewriting(name="if-to-switch", find=_to_switch, nothing="no if")
SWITCH_TO_IF: Final = Rewriting(name="switch-to-if", find=_to_if, nothing="no switch")
