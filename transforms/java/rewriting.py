"""Rules on Java methods: how sites are found, results are checked and lines are indented."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.nodes import Node
from codeaudit.transforms.java.parsing import ParsedJava, only_callable, read
from codeaudit.transforms.java.source import JavaSource, study
from codeaudit.transforms.patches import HARD, Patch, Site, patched
from codeaudit.transforms.rules import OTHER_TREE, SiteRule

UNREADABLE: Final = "result does not parse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting(SiteRule):
    """A rule about one method.

    Evidence is `parsed` if the proof is an equal syntax tree (without parentheses), else `analysis`.
    """

    languages: frozenset[str] = field(default=frozenset({"java"}))

    def sites(self, source: str) -> Iterable[Site | Refused]:
        """The sites of the rule in a method.

        Raises:
            SourceError: the source cannot be parsed, or is not one method.
        """
        code = study(source)
        return self.find(code) if code.obstacle is None else (Refused(code.obstacle),)

    def rewritten(self, source: str, patches: Sequence[Patch]) -> Rewritten | Refused:
        """The patched text; refused if it is not a method, or if its tree differs where it must be equal."""
        code = study(source)
        text = patched(_hardened(code), patches, _shifted).decode()
        try:
            result = read(text)
            only_callable(result)
        except SourceError:
            return Refused(UNREADABLE)
        if self.proof == "analysis":
            return Rewritten(source=text, evidence="analysis")
        if _outline(result) != _outline(code.reading):
            return Refused(OTHER_TREE)
        return Rewritten(source=text, evidence="parsed")


def _shifted(text: bytes, add: bytes, drop: bytes) -> bytes:
    """The text with another indentation of all lines but the first."""
    first, *lines = text.split(b"\n")
    return b"\n".join((first, *(add + one.removeprefix(drop) if one.strip() else one for one in lines)))


def _hardened(code: JavaSource) -> bytes:
    """The text with the line breaks of text blocks marked, because their indentation is part of their
    value.
    """
    source = bytearray(code.source)
    for node in code.unit.walk():
        if node.kind == "string_literal" and node.has('"""'):
            piece = bytes(source[node.start : node.end])
            source[node.start : node.end] = piece.replace(b"\n", HARD)
    return bytes(source)


def _outline(reading: ParsedJava) -> tuple[str, ...]:
    """The syntax tree with its tokens, without parentheses around expressions."""
    return tuple(_words(reading, reading.root))


def _words(reading: ParsedJava, node: Node) -> Iterator[str]:
    while node.kind == "parenthesized_expression" and len(node.children) == 1:
        node = node.children[0]
    yield node.kind
    yield from (kind for kind, _, _ in node.tokens)
    if not node.children and not node.tokens:
        yield reading.text(node)
    yield "["
    for child in node.children:
        yield from _words(reading, child)
    yield "]"
