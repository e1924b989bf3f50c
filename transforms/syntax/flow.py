"""Where control goes: whether a statement can be left at its end, and where its jumps lead.

`Flow` holds what a language says about this and answers the questions. The answer is `None` if the text does
not show it: a condition may be a constant, or a switch may name every case. The rules are those of the Java
Language Specification, 14.22, which hold for the statements of the other languages, too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.syntax.reader import Node, ParsedText

LOOPS: Final = frozenset({"while_statement", "do_statement", "for_statement", "enhanced_for_statement"})
"""Kinds of nodes that are loops; an `enhanced_for_statement` goes over the items of something."""
BLOCKS: Final = frozenset({"block", "constructor_body"})
"""Kinds of nodes that are statements in braces."""
LISTS: Final = BLOCKS | {"switch_block_statement_group"}
"""Kinds of nodes that hold a list of statements."""
_GUARDED: Final = frozenset({"try_statement", "try_with_resources_statement", "synchronized_statement"})


@dataclass(frozen=True, kw_only=True)
class Flow:
    """What a language says about the ways of control."""

    nested: frozenset[str]
    """Kinds of nodes whose statements are those of another function: control goes around them."""
    varying: frozenset[str]
    """Kinds of nodes that never occur in a constant expression."""
    plain_labels: frozenset[str]
    """Kinds of labels with which a `switch` need not name every case."""

    def completes(self, node: Node, reading: ParsedText) -> bool | None:
        """Whether control can leave a statement at its end; `None` if the text does not show it."""
        match node.kind:
            case "return_statement" | "throw_statement" | "break_statement" | "continue_statement":
                return False
            case "yield_statement":
                return False
            case "block" | "constructor_body":
                return self._sequence(node.children, reading)
            case "if_statement":
                # `if (true) return;` can complete: conditions of `if` are not looked at (JLS 14.22).
                parts = node.all("consequence") + node.all("alternative")
                return True if len(parts) < 2 else _any(self.completes(part, reading) for part in parts)
            case "while_statement" | "do_statement" | "for_statement":
                return self._loop(node, reading)
            case "labeled_statement":
                return _any((self._is_left(node, reading), self.completes(node.children[-1], reading)))
            case "synchronized_statement":
                return self.completes(node.children[-1], reading)
            case "switch_expression":
                return self._switch(node, reading)
            case "try_statement" | "try_with_resources_statement":
                return self._try(node, reading)
            case _:
                return True

    def breaks(self, statement: Node, reading: ParsedText) -> bool:
        """Whether a `break` in a statement aims behind it: one without a label, or with one of its labels."""
        return next(self._breaks(statement, reading), None) is not None

    def constant(self, node: Node | None) -> bool | None:
        """Whether a condition is the constant `true`.

        A missing condition counts as `true`. `False` for the constant `false` and for a condition that is
        certainly not a constant; `None` for a condition that may be a constant of another form.
        """
        if node is None:
            return True
        node = node.unparenthesized
        if node.kind in ("true", "false"):
            return node.kind == "true"
        return False if any(inner.kind in self.varying for inner in node.walk()) else None

    def continues(self, loop: Node, reading: ParsedText) -> Iterator[tuple[Node, bool]]:
        """The `continue` statements of a loop, and whether something has to be left or unlocked on their
        way.
        """
        labels = set()
        for above in loop.ancestors():
            if above.kind != "labeled_statement":
                break
            labels.add(reading.text(above.children[0]))
        pending = [(child, False, False) for child in loop.children]
        while pending:
            node, inner, guarded = pending.pop()
            if node.kind == "continue_statement":
                if reading.text(node.children[0]) in labels if node.children else not inner:
                    yield node, guarded
            elif node.kind not in self.nested:
                inner = inner or node.kind in LOOPS
                guarded = guarded or node.kind in _GUARDED
                pending += [(child, inner, guarded) for child in node.children]

    def breaking(self, switch: Node) -> list[Node]:
        """The `break` statements without a label that leave a `switch`, or would leave one around a
        statement.
        """
        breaks: list[Node] = []
        pending = list(reversed(switch.children))
        while pending:
            node = pending.pop()
            if node.kind == "break_statement" and not node.children:
                breaks.append(node)
            elif node.kind not in self.nested | LOOPS | {"switch_expression"}:
                pending += reversed(node.children)
        return breaks

    def _is_left(self, statement: Node, reading: ParsedText) -> bool | None:
        """Whether a `break` leaves a statement: no `finally` on its way keeps it from that (JLS 14.15)."""
        return _any(self._gets_out(node, statement, reading) for node in self._breaks(statement, reading))

    def _gets_out(self, node: Node, statement: Node, reading: ParsedText) -> bool | None:
        gets_out: bool | None = True
        for above in node.ancestors():
            if above is statement:
                break
            last = above.first("finally_clause")
            if last is not None and last.start > node.start:
                finishes = self.completes(last.children[-1], reading)
                if finishes is False:
                    return False
                gets_out = gets_out and finishes
        return gets_out

    def _breaks(self, statement: Node, reading: ParsedText) -> Iterator[Node]:
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
                if (bare and not node.children) or (
                    node.children and reading.text(node.children[0]) in labels
                ):
                    yield node
            elif node.kind not in self.nested:
                inside = bare and node.kind not in LOOPS and node.kind != "switch_expression"
                pending += [(child, inside) for child in node.children]

    def _loop(self, node: Node, reading: ParsedText) -> bool | None:
        """Whether control leaves a loop other than a `for` over values; a `break` leaves any."""
        is_left = self._is_left(node, reading)
        if is_left:
            return True
        body = node.child("body")
        # A `continue` may reach the condition of a `do` whose body does not complete.
        if node.kind == "do_statement" and body and self.completes(body, reading) is not True:
            return None
        always = self.constant(node.child("condition"))
        return _any((is_left, None if always is None else not always))

    def _sequence(self, statements: Iterable[Node], reading: ParsedText) -> bool | None:
        """Whether statements that run one after the other complete."""
        completes: bool | None = True
        for statement in statements:
            result = self.completes(statement, reading)
            if result is False:
                return False
            completes = completes and result
        return completes

    def _switch(self, node: Node, reading: ParsedText) -> bool | None:
        """Whether a `switch` completes: by a `break`, without a matching label, or at its end."""
        is_left = self._is_left(node, reading)
        if is_left:
            return True
        body = node.child("body")
        parts = body.children if body else []
        labels = [label for part in parts for label in part.children if label.kind == "switch_label"]
        if not any(label.has("default") or _says_default(label, reading) for label in labels):
            # Without a default control falls out, unless it may have to name every case (JLS 14.11.2).
            plain = all(inner.kind in self.plain_labels for label in labels for inner in label.children)
            arrows = any(part.kind == "switch_rule" for part in parts)
            return _any((is_left, True if plain and not arrows else None))
        if parts[-1].kind == "switch_rule":
            return _any((is_left, *(self.completes(part.children[-1], reading) for part in parts)))
        # Control falls from group to group, so only the last one counts.
        last = [child for child in parts[-1].children if child.kind != "switch_label"]
        return _any((is_left, self._sequence(last, reading)))

    def _try(self, node: Node, reading: ParsedText) -> bool | None:
        """Whether a `try` completes: its body or a handler does, and its `finally`."""
        last = node.first("finally_clause")
        finishes = self.completes(last.children[-1], reading) if last else True
        if finishes is False:
            return False  # `finally { return 1; }` discards what the body does
        parts = [node, *(child for child in node.children if child.kind == "catch_clause")]
        completes = _any(self.completes(part.part("body"), reading) for part in parts)
        return completes and finishes


def dangling(node: Node) -> bool:
    """Whether an `else` behind a statement would belong to an `if` in it, now or without its braces.

    An `else` belongs to the innermost `if` that may have one: `while (a) if (b) f(); else g();`.
    """
    while True:
        match node.kind:
            case "if_statement":
                alternative = node.child("alternative")
                if alternative is None:
                    return True
                node = alternative
            case "labeled_statement":
                node = node.children[-1]
            case "block" if len(node.children) == 1:
                node = node.children[0]
            case kind if kind in LOOPS and kind != "do_statement":
                node = node.part("body")
            case _:
                return False


def following(node: Node) -> list[Node] | None:
    """The statements behind one in its list; `None` for a lone statement, as in `if (c) f();`."""
    parent = node.parent
    if parent is None or parent.kind not in LISTS:
        return None
    return [child for child in parent.children if child.kind != "switch_label" and child.start >= node.end]


def _any(results: Iterable[bool | None]) -> bool | None:
    """Whether one of several ways completes; `None` if none certainly does and one may."""
    completes: bool | None = False
    for result in results:
        if result:
            return True
        if result is None:
            completes = None
    return completes


def _says_default(label: Node, reading: ParsedText) -> bool:
    """Whether a label is `case null, default`."""
    return any(child.kind == "identifier" and reading.text(child) == "default" for child in label.children)


def is_truth(node: Node, *, joined: bool = False) -> bool:
    """Whether only the truth of an expression is used: it is a condition, or a part of one. `joined`: an
    operand of `&&` or `||` is one wherever they stand."""
    parent = node.parent
    if parent is None:
        return False
    match parent.kind:
        case "parenthesized_expression":
            return is_truth(parent, joined=joined)
        case "unary_expression":
            return parent.operator == "!"
        case "binary_expression":
            return parent.operator in ("&&", "||") and (joined or is_truth(parent))
        case kind:
            return node.field == "condition" and kind in LOOPS | {"if_statement", "ternary_expression"}
