"""Whether a statement can complete normally (Java Language Specification, 14.22).

The scope of pattern variables depends on it, and the order of statements: javac rejects unreachable ones. The
answer is `None` if the text does not show it: a condition may be a constant, or a switch may name every case.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from codeaudit.transforms.java.parsing import CALLABLES
from codeaudit.transforms.syntax.reader import Node, ParsedText

LOOPS: Final = frozenset({"while_statement", "do_statement", "for_statement", "enhanced_for_statement"})
NESTED: Final = CALLABLES | {"lambda_expression", "class_body"}
_VARYING: Final = frozenset(
    {"method_invocation", "instanceof_expression", "object_creation_expression", "null_literal",
     "array_access", "assignment_expression", "update_expression", "this"}
)  # fmt: skip
"""Kinds of nodes that never occur in a constant expression."""
_MATCHING: Final = frozenset({"pattern", "record_pattern", "guard"})
"""Parts of a label that are no constants."""
_PLAIN_LABELS: Final = frozenset(
    {"identifier", "decimal_integer_literal", "hex_integer_literal", "octal_integer_literal",
     "binary_integer_literal", "character_literal", "string_literal", "unary_expression",
     "binary_expression", "parenthesized_expression", "cast_expression", "ternary_expression"}
)  # fmt: skip
"""Labels that any `switch` may have. `null`, a pattern and `Type.CONSTANT` may make it name every case."""


def completes(node: Node, reading: ParsedText) -> bool | None:
    """Whether control can leave a statement at its end; `None` if the text does not show it."""
    match node.kind:
        case "return_statement" | "throw_statement" | "break_statement" | "continue_statement":
            return False
        case "yield_statement":
            return False
        case "block" | "constructor_body":
            return _sequence(node.children, reading)
        case "if_statement":
            # `if (true) return;` can complete: conditions of `if` are not looked at (JLS 14.22).
            parts = node.all("consequence") + node.all("alternative")
            return True if len(parts) < 2 else _any(completes(part, reading) for part in parts)
        case "while_statement" | "do_statement" | "for_statement":
            return _loop(node, reading)
        case "labeled_statement":
            return _any((_left(node, reading), completes(node.children[-1], reading)))
        case "synchronized_statement":
            return completes(node.children[-1], reading)
        case "switch_expression":
            return _switch(node, reading)
        case "try_statement" | "try_with_resources_statement":
            return _try(node, reading)
        case _:
            return True


def names_constant(label: Node) -> bool:
    """Whether a label of a `switch` names something that may be a constant of an enum: `A` or `E.A`."""
    pending = [child for child in label.children if child.kind not in _MATCHING]
    return any(inner.kind == "identifier" for child in pending for inner in child.walk())


def breaks(statement: Node, reading: ParsedText) -> bool:
    """Whether a `break` in a statement aims behind it: one without a label, or with one of its labels."""
    return next(_breaks(statement, reading), None) is not None


def _left(statement: Node, reading: ParsedText) -> bool | None:
    """Whether a `break` leaves a statement: no `finally` on its way must keep it from that (JLS 14.15)."""
    return _any(_gets_out(node, statement, reading) for node in _breaks(statement, reading))


def _gets_out(node: Node, statement: Node, reading: ParsedText) -> bool | None:
    found: bool | None = True
    for above in node.ancestors():
        if above is statement:
            break
        last = above.first("finally_clause")
        if last is not None and last.start > node.start:
            finishes = completes(last.children[-1], reading)
            if finishes is False:
                return False
            found = found and finishes
    return found


def _breaks(statement: Node, reading: ParsedText) -> Iterator[Node]:
    """The `break` statements in a statement that aim behind it."""
    labels: set[str] = set()
    above: Node | None = statement
    if statement.kind == "labeled_statement":
        labels.add(reading.text(statement.children[0]))
    while above and (above := above.parent) and above.kind == "labeled_statement":
        labels.add(reading.text(above.children[0]))
    pending = [(child, statement.kind != "labeled_statement") for child in statement.children]
    while pending:
        node, bare = pending.pop()
        if node.kind == "break_statement":
            if (bare and not node.children) or (node.children and reading.text(node.children[0]) in labels):
                yield node
        elif node.kind not in NESTED:
            inside = bare and node.kind not in LOOPS and node.kind != "switch_expression"
            pending += [(child, inside) for child in node.children]


def constant(node: Node | None, reading: ParsedText) -> bool | None:
    """Whether a condition is the constant `true`.

    A missing condition counts as `true`. `False` for the constant `false` and for a condition that is
    certainly not a constant; `None` for a condition that may be a constant of another form.
    """
    if node is None:
        return True
    while node.kind == "parenthesized_expression" and node.children:
        node = node.children[0]
    if node.kind in ("true", "false"):
        return node.kind == "true"
    return False if any(inner.kind in _VARYING for inner in node.walk()) else None


def _loop(node: Node, reading: ParsedText) -> bool | None:
    """Whether control leaves a loop other than a `for` over values; a `break` leaves any."""
    left = _left(node, reading)
    if left:
        return True
    body = node.child("body")
    # A `continue` may reach the condition of a `do` whose body does not complete.
    if node.kind == "do_statement" and body and completes(body, reading) is not True:
        return None
    always = constant(node.child("condition"), reading)
    return _any((left, None if always is None else not always))


def _sequence(statements: Iterable[Node], reading: ParsedText) -> bool | None:
    """Whether statements that run one after the other complete."""
    found: bool | None = True
    for statement in statements:
        result = completes(statement, reading)
        if result is False:
            return False
        found = found and result
    return found


def _any(results: Iterable[bool | None]) -> bool | None:
    """Whether one of several ways completes; `None` if none certainly does and one may."""
    found: bool | None = False
    for result in results:
        if result:
            return True
        if result is None:
            found = None
    return found


def _switch(node: Node, reading: ParsedText) -> bool | None:
    """Whether a `switch` completes: by a `break`, without a matching label, or at its end."""
    left = _left(node, reading)
    if left:
        return True
    body = node.child("body")
    parts = body.children if body else []
    labels = [label for part in parts for label in part.children if label.kind == "switch_label"]
    if not any(label.has("default") or _says_default(label, reading) for label in labels):
        # Without a default control falls out, unless it may have to name every case (JLS 14.11.2).
        plain = all(inner.kind in _PLAIN_LABELS for label in labels for inner in label.children)
        arrows = any(part.kind == "switch_rule" for part in parts)
        return _any((left, True if plain and not arrows else None))
    if parts[-1].kind == "switch_rule":
        return _any((left, *(completes(part.children[-1], reading) for part in parts)))
    # Control falls from group to group, so only the last one counts.
    last = [child for child in parts[-1].children if child.kind != "switch_label"]
    return _any((left, _sequence(last, reading)))


def _says_default(label: Node, reading: ParsedText) -> bool:
    """Whether a label is `case null, default`."""
    return any(child.kind == "identifier" and reading.text(child) == "default" for child in label.children)


def _try(node: Node, reading: ParsedText) -> bool | None:
    """Whether a `try` completes: its body or a handler does, and its `finally`."""
    last = node.first("finally_clause")
    finishes = completes(last.children[-1], reading) if last else True
    if finishes is False:
        return False  # `finally { return 1; }` discards what the body does
    parts = [node, *(child for child in node.children if child.kind == "catch_clause")]
    found = _any(completes(part.part("body"), reading) for part in parts)
    return found and finishes
