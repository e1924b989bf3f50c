"""Whether a statement can complete normally (Java Language Specification, 14.22).

The scope of pattern variables depends on it, and the order of statements: javac rejects unreachable ones. The
answer is `None` if the text does not show it: a condition may be a constant, or a switch may name every case.
"""

from collections.abc import Iterable
from typing import Final

from codeaudit.transforms.java.parsing import CALLABLES, Node, ParsedJava

LOOPS: Final = frozenset({"while_statement", "do_statement", "for_statement", "enhanced_for_statement"})
NESTED: Final = CALLABLES | {"lambda_expression", "class_body"}
_VARYING: Final = frozenset(
    {"method_invocation", "instanceof_expression", "object_creation_expression", "null_literal",
     "array_access", "assignment_expression", "update_expression", "this"}
)  # fmt: skip
"""Kinds of nodes that never occur in a constant expression."""


def completes(node: Node, reading: ParsedJava) -> bool | None:
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
            if breaks(node, reading):
                return True
            return completes(node.children[-1], reading)
        case "synchronized_statement":
            return completes(node.children[-1], reading)
        case "switch_expression":
            return _switch(node, reading)
        case "try_statement" | "try_with_resources_statement":
            return _try(node, reading)
        case _:
            return True


def breaks(statement: Node, reading: ParsedJava) -> bool:
    """Whether a `break` in a statement leaves it: one without a label, or with one of its labels."""
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
                return True
        elif node.kind not in NESTED:
            inside = bare and node.kind not in LOOPS and node.kind != "switch_expression"
            pending += [(child, inside) for child in node.children]
    return False


def constant(node: Node | None, reading: ParsedJava) -> bool | None:
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


def _loop(node: Node, reading: ParsedJava) -> bool | None:
    """Whether control leaves a loop other than a `for` over values; a `break` leaves any."""
    if breaks(node, reading):
        return True
    body = node.child("body")
    # A `continue` may reach the condition of a `do` whose body does not complete.
    if node.kind == "do_statement" and body and completes(body, reading) is not True:
        return None
    always = constant(node.child("condition"), reading)
    return None if always is None else not always


def _sequence(statements: Iterable[Node], reading: ParsedJava) -> bool | None:
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


def _switch(node: Node, reading: ParsedJava) -> bool | None:
    """Whether a `switch` completes: by a `break`, without a matching label, or at its end."""
    if breaks(node, reading):
        return True
    body = node.child("body")
    parts = body.children if body else []
    labels = [label for part in parts for label in part.children if label.kind == "switch_label"]
    if not any(label.has("default") or _says_default(label, reading) for label in labels):
        # Without a default control falls out, unless arrows or patterns make it name every case.
        patterns = any(inner.kind == "pattern" for label in labels for inner in label.children)
        return None if patterns or any(part.kind == "switch_rule" for part in parts) else True
    if parts[-1].kind == "switch_rule":
        return _any(completes(part.children[-1], reading) for part in parts)
    # Control falls from group to group, so only the last one counts.
    return _sequence([child for child in parts[-1].children if child.kind != "switch_label"], reading)


def _says_default(label: Node, reading: ParsedJava) -> bool:
    """Whether a label is `case null, default`."""
    return any(child.kind == "identifier" and reading.text(child) == "default" for child in label.children)


def _try(node: Node, reading: ParsedJava) -> bool | None:
    """Whether a `try` completes: its body or a handler does, and its `finally`."""
    last = node.first("finally_clause")
    finishes = completes(last.children[-1], reading) if last else True
    if finishes is False:
        return False  # `finally { return 1; }` discards what the body does
    parts = [node, *(child for child in node.children if child.kind == "catch_clause")]
    found = _any(completes(part.part("body"), reading) for part in parts)
    return found and finishes
