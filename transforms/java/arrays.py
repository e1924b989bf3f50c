"""`for` over an array by index, as the Java Language Specification defines it (14.14.2)."""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.rewriting import OTHER_MEANING, JavaSource, Rewriting
from codeaudit.transforms.patches import Part, Site, Span
from codeaudit.transforms.strategies.dialect import COMMENT
from codeaudit.transforms.strategies.loops import inside
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.text import replace, span

NOT_ARRAY: Final = "not known to be an array"


def _each_to_for(code: JavaSource) -> Iterator[Site | Refused]:
    """The expansion that the Java Language Specification gives for arrays (14.14.2)."""
    indices, arrays = code.fresh("spot", "place"), code.fresh("row", "cells")
    for node in code.nodes:
        if node.kind == "enhanced_for_statement":
            yield Refused(code.closed) if code.closed else _array_loop(code, node, indices, arrays)


def _array_loop(
    code: JavaSource, node: Node, indices: Iterator[str], arrays: Iterator[str]
) -> Site | Refused:
    """`for (T x : array) …` as a loop over its indices; new names come from the iterators."""
    value, body, name = node.part("value"), node.part("body"), node.part("name")
    kind = code.type(value)
    if kind is None or not kind.endswith("[]") or "?" in kind or node.child("dimensions"):
        return Refused(NOT_ARRAY)
    if not code.means_same(kind, node):
        return Refused(OTHER_MEANING)
    if code.commented(node.start, body.start) or code.text(node.part("type")) == "var":
        return Refused(COMMENT)
    modifiers = node.first("modifiers")
    if modifiers is not None and modifiers.children:
        return Refused("annotated variable")
    index, array = next(indices), next(arrays)
    if node.parent is not None and node.parent.kind == "labeled_statement":
        return Refused("labelled loop")  # the label would name the block, which `continue` cannot
    inner, _ = inside(code, body)
    outside = f"{code.newline}{code.indentation(node.start)}"
    first = outside + code.step
    declared = Span(modifiers.start if modifiers else node.part("type").start, name.end)
    shifted = Span(inner.start, inner.end, add=code.step)
    end: tuple[Part, ...] = (shifted, "}")
    if body.kind != "block":
        end = (f"{first}{code.step}", shifted, f"{first}}}")
    parts = (
        f"{{{first}{kind} {array} = ", span(value), f";{first}",  # the array is evaluated once
        f"for (int {index} = 0; {index} < {array}.length; {index}++) {{{first}{code.step}",
        declared, f" = {array}[{index}];", *end, f"{outside}}}",
    )  # fmt: skip
    return code.site(node, "for over an array by index", replace(node, *parts))


FOR_EACH_TO_FOR: Final = Rewriting(name="for-each-to-for", find=_each_to_for, nothing="no for over values")
