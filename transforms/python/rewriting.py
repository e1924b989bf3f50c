"""The engine of the catalogue: a rule finds sites, each with its patches; any subset of sites can be applied.

Patches replace byte ranges by new text and by ranges of the old text, so that nothing is ever printed anew:
comments, quotes and spacing inside of what stays are the author's. Patches of different sites may be nested:
the inner one then happens inside the range that the outer one keeps.
"""

import ast
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Final, Literal, TypeAlias

from transforms.errors import SourceError
from transforms.interface import Refused, Rewritten
from transforms.python.code import Code, Span, read
from transforms.python.parsing import parse
from transforms.records import Kind, Move, Unit

OVERLAP: Final = "edits overlap"
NOT_A_MOVE: Final = "not a move of this transform"
_HARD: Final = b"\0"
"""Stands for a line break inside a string while text is put together; no Python text holds it."""

Proof: TypeAlias = Literal["tree", "analysis"]
"""`tree`: the syntax tree of the result must equal that of the source. `analysis`: the rule knows."""


@dataclass(frozen=True, slots=True)
class Patch:
    """The bytes from `start` up to but not including `end` become `parts`, in this order."""

    start: int
    end: int
    parts: tuple[str | Span, ...]


@dataclass(frozen=True, slots=True)
class Site:
    """A place at which a rule can edit."""

    options: tuple[tuple[Patch, ...], ...]
    """The ways to do it, of which one is drawn; each is a set of patches that belong together."""
    note: str
    """For people: `a < b -> b > a`."""
    line: int
    """Where it stands, from 1."""


Find: TypeAlias = Callable[[Code], Iterable[Site | Refused]]
"""A rule: the sites in the order of the text, and for each candidate that it declines the reason to count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """A transform made of one rule. One site is one move.

    Evidence is `compiled` where the proof is an equal tree (the compiler is given the same), else `analysis`.
    A control edits one site only, since two changes of meaning may cancel out.
    """

    name: str
    find: Find
    nothing: str
    """The reason where the text holds no candidate at all, such as `no comparison`."""
    kind: Kind = "preserving"
    unit: Unit = "function"
    proof: Proof = "analysis"
    languages: frozenset[str] = field(default=frozenset({"python"}))

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """As many sites as go together, each with one of its options.

        Raises:
            SourceError: the source cannot be parsed.
        """
        sites, declined = _found(self.find, source)
        if not sites:
            return Refused(declined or self.nothing)
        numbers = list(range(len(sites)))
        rng.shuffle(numbers)
        if self.kind == "control":
            numbers = numbers[:1]
        drawn = {number: rng.randrange(len(sites[number].options)) for number in numbers}
        kept = _compatible({number: sites[number].options[drawn[number]] for number in numbers})
        return tuple(self._move(number, sites[number], drawn[number]) for number in sorted(kept))

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Edit at these sites; refuses edits that overlap, and a result that does not compile."""
        sites, _ = _found(self.find, source)
        patches: dict[int, tuple[Patch, ...]] = {}
        for move in moves:
            if isinstance(move.value, str) or len(move.value) != 1 or not 0 <= move.site < len(sites):
                return Refused(NOT_A_MOVE)
            options = sites[move.site].options
            if move.kind != self.name or not 0 <= move.value[0] < len(options):
                return Refused(NOT_A_MOVE)
            patches[move.site] = options[move.value[0]]
        if len(_compatible(patches)) != len(patches):
            return Refused(OVERLAP)
        try:
            text = rendered(read(source), [patch for group in patches.values() for patch in group])
            tree = parse(text)
            _compile(tree)
        except SourceError:
            return Refused("result does not compile")
        if self.proof == "analysis":
            return Rewritten(source=text, evidence="analysis")
        if ast.dump(tree) != ast.dump(parse(source)):
            return Refused("syntax tree would change")
        return Rewritten(source=text, evidence="compiled")

    def _move(self, number: int, site: Site, option: int) -> Move:
        return Move(kind=self.name, site=number, value=(option,), note=f"line {site.line}: {site.note}")


def rendered(code: Code, patches: Sequence[Patch]) -> str:
    """The text with all patches made.

    Raises:
        SourceError: a line to be indented otherwise begins with a form feed.
    """
    source = bytearray(code.source)
    if any(isinstance(part, Span) and (part.add or part.drop) for patch in patches for part in patch.parts):
        for at in code.hard_breaks:
            source[at : at + 1] = _HARD
    roots = _nested({number: (patch,) for number, patch in enumerate(patches)})[0]
    return _render(bytes(source), 0, len(source), roots).replace(_HARD, b"\n").decode()


@dataclass(slots=True)
class _Node:
    patch: Patch
    site: int
    inner: "list[_Node]" = field(default_factory=list)


@lru_cache(maxsize=8)
def _found(find: Find, source: str) -> tuple[tuple[Site, ...], str | None]:
    """The sites of a rule, and the commonest of its reasons to decline."""
    sites: list[Site] = []
    reasons: dict[str, int] = {}
    for site in find(read(source)):
        if isinstance(site, Refused):
            reasons[site.reason] = reasons.get(site.reason, 0) + 1
        elif site.options:
            sites.append(site)
    return tuple(sites), max(reasons, key=lambda reason: (reasons[reason], reason), default=None)


def _compatible(groups: Mapping[int, tuple[Patch, ...]]) -> frozenset[int]:
    """Of these sites, in the order of preference, those whose patches go together."""
    rank = {number: place for place, number in enumerate(groups)}
    kept = dict(groups)
    while True:
        _, clashes = _nested(kept)
        gone = {max(pair, key=lambda number: rank[number]) for pair in clashes}
        if not gone:
            return frozenset(kept)
        kept = {number: group for number, group in kept.items() if number not in gone}


def _nested(groups: Mapping[int, tuple[Patch, ...]]) -> tuple[list[_Node], list[tuple[int, int]]]:
    """The patches as a forest by nesting, and the pairs of sites that cannot both be edited."""
    nodes = [_Node(patch, number) for number, group in groups.items() for patch in group]
    nodes.sort(
        key=lambda node: (node.patch.start, node.patch.start != node.patch.end, -node.patch.end, node.site)
    )
    roots: list[_Node] = []
    clashes: list[tuple[int, int]] = []
    opened: list[_Node] = []
    for node in nodes:
        while opened and opened[-1].patch.end <= node.patch.start:
            opened.pop()
        if not opened:
            roots.append(node)
        elif any(_holds(part, node.patch) for part in opened[-1].patch.parts) and not _same(opened[-1], node):
            opened[-1].inner.append(node)
        else:
            clashes.append((opened[-1].site, node.site))
            continue
        if node.patch.end > node.patch.start:
            opened.append(node)
    return roots, clashes


def _same(one: _Node, other: _Node) -> bool:
    return (one.patch.start, one.patch.end) == (other.patch.start, other.patch.end)


def _holds(part: str | Span, patch: Patch) -> bool:
    if isinstance(part, str) or patch.start < part.start or patch.end > part.end:
        return False
    return patch.end > patch.start or patch.start < part.end


def _render(source: bytes, start: int, end: int, nodes: Iterable[_Node]) -> bytes:
    out, position = [], start
    for node in nodes:
        out.append(source[position : node.patch.start])
        for part in node.patch.parts:
            if isinstance(part, str):
                out.append(part.encode())
            else:
                inner = [child for child in node.inner if _holds(part, child.patch)]
                out.append(_shifted(_render(source, part.start, part.end, inner), part))
        position = node.patch.end
    out.append(source[position:end])
    return b"".join(out)


def _shifted(text: bytes, span: Span) -> bytes:
    """The lines of a text with other indentation; strings that go over lines are not lines here."""
    if not (span.add or span.drop):
        return text
    add, drop = span.add.encode(), span.drop.encode()
    return b"\n".join(_shifted_line(line, add, drop) for line in text.split(b"\n"))


def _shifted_line(line: bytes, add: bytes, drop: bytes) -> bytes:
    bare = line.lstrip(b" \t\f")
    if b"\f" in line[: len(line) - len(bare)]:
        raise SourceError("form feed in an indentation")
    if not bare.strip(b"\r"):
        return line
    if line.startswith(drop):
        return add + line[len(drop) :]
    return add + bare  # a comment or a continuation that stands further left


def _compile(tree: ast.Module) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(tree, "<result>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise SourceError(f"not valid Python: {error}") from error
    except (RecursionError, MemoryError) as error:
        raise SourceError("not readable: nested too deeply") from error
