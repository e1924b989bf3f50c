"""The engine of the catalogue: a rule finds sites with their patches; any subset of sites can be applied."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Final, Literal, TypeAlias

from transforms.errors import SourceError
from transforms.interface import Refused, Rewritten
from transforms.java.code import Code, study
from transforms.java.nodes import Node
from transforms.java.parsing import Reading, only_callable, read
from transforms.patches import HARD, Patch, Site, compatible, patched
from transforms.records import Kind, Move, Unit

OVERLAP: Final = "edits overlap"
NOT_A_MOVE: Final = "not a move of this transform"
UNREADABLE: Final = "result does not parse"
OTHER_TREE: Final = "syntax tree would change"

Proof: TypeAlias = Literal["tree", "analysis"]
"""`tree`: the syntax tree of the result must equal that of the source, but for parentheses. `analysis`: the
rule knows."""
Find: TypeAlias = Callable[[Code], Iterable[Site | Refused]]
"""A rule: the sites in the order of the text, and for each candidate that it declines the reason to count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """A transform made of one rule. One site is one move.

    Evidence is `parsed` where the proof is an equal tree, else `analysis`. A control edits one site only,
    since two changes of meaning may cancel out.
    """

    name: str
    find: Find
    nothing: str
    """The reason where the text holds no candidate at all, such as `no comparison`."""
    kind: Kind = "preserving"
    unit: Unit = "function"
    proof: Proof = "analysis"
    languages: frozenset[str] = field(default=frozenset({"java"}))

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """As many sites as go together, each with one of its options.

        Raises:
            SourceError: the source cannot be parsed, or is not one method.
        """
        sites, declined = _found(self.find, source)
        if not sites:
            return Refused(declined or self.nothing)
        numbers = list(range(len(sites)))
        rng.shuffle(numbers)
        if self.kind == "control":
            numbers = numbers[:1]
        drawn = {number: rng.randrange(len(sites[number].options)) for number in numbers}
        kept = compatible({number: sites[number].options[drawn[number]] for number in numbers})
        return tuple(self._move(number, sites[number], drawn[number]) for number in sorted(kept))

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Edit at these sites; refuses edits that overlap, and a result that does not parse."""
        sites, _ = _found(self.find, source)
        patches: dict[int, tuple[Patch, ...]] = {}
        for move in moves:
            if isinstance(move.value, str) or len(move.value) != 1 or not 0 <= move.site < len(sites):
                return Refused(NOT_A_MOVE)
            options = sites[move.site].options
            if move.kind != self.name or not 0 <= move.value[0] < len(options):
                return Refused(NOT_A_MOVE)
            patches[move.site] = options[move.value[0]]
        if len(compatible(patches)) != len(patches):
            return Refused(OVERLAP)
        code = study(source)
        text = patched(_hardened(code), [patch for group in patches.values() for patch in group]).decode()
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

    def _move(self, number: int, site: Site, option: int) -> Move:
        return Move(kind=self.name, site=number, value=(option,), note=f"line {site.line}: {site.note}")


@lru_cache(maxsize=8)
def _found(find: Find, source: str) -> tuple[tuple[Site, ...], str | None]:
    """The sites of a rule, and the commonest of its reasons to decline."""
    code = study(source)
    if code.obstacle is not None:
        return (), code.obstacle
    sites: list[Site] = []
    reasons: dict[str, int] = {}
    for site in find(code):
        if isinstance(site, Refused):
            reasons[site.reason] = reasons.get(site.reason, 0) + 1
        elif site.options:
            sites.append(site)
    return tuple(sites), max(reasons, key=lambda reason: (reasons[reason], reason), default=None)


def _hardened(code: Code) -> bytes:
    """The text with the line breaks of its text blocks marked, since their indentation is part of them."""
    source = bytearray(code.source)
    for node in code.unit.walk():
        if node.kind == "string_literal" and node.has('"""'):
            piece = bytes(source[node.start : node.end])
            source[node.start : node.end] = piece.replace(b"\n", HARD)
    return bytes(source)


def _outline(reading: Reading) -> tuple[str, ...]:
    """The tree with its words and signs, without parentheses around expressions."""
    return tuple(_words(reading, reading.root))


def _words(reading: Reading, node: Node) -> Iterator[str]:
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
