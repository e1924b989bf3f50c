"""Which statements leave, where they go, and which names they bring with them."""

from collections.abc import Iterator, Sequence
from typing import Final

from codeaudit.transforms.java.analysis.completion import LOOPS, NESTED, completes
from codeaudit.transforms.java.parsing import TYPES
from codeaudit.transforms.java.rewriting import JavaSource
from codeaudit.transforms.syntax.reader import Node

_GUARDED: Final = frozenset({"try_statement", "try_with_resources_statement", "synchronized_statement"})
PATTERN: Final = "pattern in the condition"


def leaves(code: JavaSource, node: Node) -> bool:
    """Whether control never comes to the end of a statement, as far as the text shows for certain."""
    return completes(node, code.reading) is False


def ends(code: JavaSource, node: Node) -> bool:
    """Whether control can come to the end of a statement for certain.

    More is known here than in `completes`: a condition with a local that is not `final` is no constant.
    """
    found = completes(node, code.reading)
    if found is not None:
        return found
    match node.kind:
        case "block" | "constructor_body":
            return all(ends(code, child) for child in node.children)
        case "while_statement" | "for_statement":
            condition = node.child("condition")
            return condition is not None and code.varies(condition)
        case "if_statement":
            return any(ends(code, node.part(field)) for field in ("consequence", "alternative"))
        case "labeled_statement" | "synchronized_statement":
            return ends(code, node.children[-1])
        case _:
            return False


def continues(code: JavaSource, loop: Node) -> Iterator[tuple[Node, bool]]:
    """The `continue` statements of a loop, and whether something has to be left or unlocked on their way."""
    labels = set()
    for above in loop.ancestors():
        if above.kind != "labeled_statement":
            break
        labels.add(code.text(above.children[0]))
    pending = [(child, False, False) for child in loop.children]
    while pending:
        node, nested, guarded = pending.pop()
        if node.kind == "continue_statement":
            if code.text(node.children[0]) in labels if node.children else not nested:
                yield node, guarded
        elif node.kind not in NESTED:
            nested = nested or node.kind in LOOPS
            guarded = guarded or node.kind in _GUARDED
            pending += [(child, nested, guarded) for child in node.children]


def breaking(switch: Node) -> list[Node]:
    """The `break` statements without a label that leave a `switch`, or would leave one around a statement."""
    found: list[Node] = []
    pending = list(reversed(switch.children))
    while pending:
        node = pending.pop()
        if node.kind == "break_statement" and not node.children:
            found.append(node)
        elif node.kind not in NESTED | LOOPS | {"switch_expression"}:
            pending += reversed(node.children)
    return found


def declares(code: JavaSource, statements: Sequence[Node]) -> frozenset[str]:
    """The names that statements of one block make known behind themselves.

    `if (!(o instanceof String s)) return;` makes `s` known, too; every pattern variable is counted.
    """
    found: set[str] = set()
    for node in statements:
        if node.kind == "local_variable_declaration":
            found |= {code.text(one.part("name")) for one in node.all("declarator")}
        elif node.kind in TYPES:
            found.add(code.text(node.part("name")))
        else:
            found |= set(patterns(code, node))
    return frozenset(found)


def declared_in(code: JavaSource, node: Node) -> frozenset[str]:
    """Every name that is declared anywhere in a part of the text."""
    types = {code.text(one.part("name")) for one in node.walk() if one.kind in TYPES}
    return frozenset(types | {one.name for one in code.scopes.bindings if node.start <= one.start < node.end})


def patterns(code: JavaSource, node: Node) -> list[str]:
    """The names of pattern variables in a part of the text.

    Where they are known depends on which way control takes (JLS 6.3.1, 6.3.2).
    """
    return [
        binding.name for binding in code.scopes.bindings
        if binding.view == "pattern" and node.start <= binding.start < node.end
    ]  # fmt: skip


def dangling(node: Node) -> bool:
    """Whether an `else` behind a statement would belong to an `if` in it, now or without its braces.

    An `else` belongs to the innermost `if` that may have one (JLS 14.5): `while (a) if (b) f(); else g();`.
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
