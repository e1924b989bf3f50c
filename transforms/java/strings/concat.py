"""Sums of texts as what builds the same text.

A sum evaluates all operands before it makes texts of them, a builder makes each text at once; so operands
have to be of primitive types or strings, whose texts nothing changes. A constant sum is left alone, since
constants are one object each.
"""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import PRIMITIVE, STRING, Types, varies
from codeaudit.transforms.java.parsing import Node
from codeaudit.transforms.java.rewriting import COMMENT, JavaSource, Rewriting, bare, over, span
from codeaudit.transforms.patches import Part, Site

UNKNOWN: Final = "operands of unknown type"
CONSTANT: Final = "text may be constant"


def summands(types: Types, node: Node) -> list[Node]:
    """What a sum joins as texts, in order: numbers that are added before the first text are one of them."""
    found: list[Node] = []
    here = node
    while here.kind == "binary_expression" and here.operator == "+" and types.of(here) == STRING:
        left, right = here.children
        found.append(right)
        here = left
    return [here, *reversed(found)]


def _sums(code: JavaSource, types: Types) -> Iterator[Node]:
    for node in code.of("binary_expression"):
        parent = node.parent
        if node.operator != "+" or types.of(node) != STRING:
            continue
        summand = parent is not None and parent.kind == "binary_expression" and parent.operator == "+"
        if not summand or node.field != "left":
            yield node


def _built(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in _sums(code, types):
        operands = summands(types, node)
        if not all(types.of(operand) in PRIMITIVE | {STRING} for operand in operands):
            yield Refused(UNKNOWN)
        elif not varies(code, node):
            yield Refused(CONSTANT)
        elif code.commented(node.start, node.end):
            yield Refused(COMMENT)
        else:
            parts: list[Part] = ["new StringBuilder()"]
            for operand in operands:
                parts += [".append(", span(bare(operand)), ")"]
            parts.append(".toString()")
            yield Site(((over(node, *parts),),), "sum as a builder", code.line(node))


def _valued(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in _sums(code, types):
        operands = summands(types, node)
        empty = [operand for operand in operands if code.text(operand) == '""']
        if len(operands) != 2 or len(empty) != 1:
            continue
        (other,) = (operand for operand in operands if operand is not empty[0])
        if types.of(other) not in PRIMITIVE:
            yield Refused(UNKNOWN)
        elif not varies(code, node):
            yield Refused(CONSTANT)
        elif code.commented(node.start, node.end):
            yield Refused(COMMENT)
        else:
            parts = ("String.valueOf(", span(bare(other)), ")")
            yield Site(((over(node, *parts),),), "empty text and a number", code.line(node))


def _swapped(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in _sums(code, types):
        operands = summands(types, node)
        if len(operands) < 2 or code.text(operands[-1]) == code.text(operands[-2]):
            continue
        first, second = operands[-2:]
        if types.of(first) != STRING or types.of(second) not in PRIMITIVE | {STRING}:
            yield Refused(UNKNOWN)
            continue
        changes = (over(first, span(second)), over(second, "(", span(first), ")"))
        yield Site((changes,), "two texts exchanged", code.line(node))


CONCAT_TO_BUILDER: Final = Rewriting(name="concat-to-builder", find=_built, nothing="no sum of texts")
CONCAT_TO_VALUE_OF: Final = Rewriting(
    name="concat-to-value-of", find=_valued, nothing="no sum with an empty text"
)
TEXTS_SWAPPED: Final = Rewriting(
    name="texts-swapped", find=_swapped, nothing="no sum of texts", kind="control"
)
