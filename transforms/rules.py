"""Transforms that find sites and patch them: most of the catalogue, in any language.

A rule finds the sites of a text, each with the patches that edit it. One site is one move, so any subset of
the sites can be applied. A language extends `SiteRule`: it parses the text and checks the result.

Many rules put regions of the text (the items of a dict, the methods of a class) into another order.
`legal_orders` chooses the orders, and `permuted` makes the patch.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from random import Random
from typing import Any, Final, Literal, TypeAlias

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.interface import NOT_A_MOVE, BaseTransform, Refused, Rewritten
from codeaudit.transforms.patches import Patch, Site, Span, compatible
from codeaudit.transforms.records import Kind, Move, Unit

OVERLAP: Final = "edits overlap"
OTHER_TREE: Final = "syntax tree would change"

Proof: TypeAlias = Literal["tree", "analysis", "assumption", "words"]
"""How a result is shown to be right. `tree`: its syntax tree must equal that of the source. `analysis`: the
rule only finds sites where the edit is right. `assumption`: the same, if what its registration assumes holds.
`words`: the code must stay the same, and nothing is shown about the words around it.
"""


@dataclass(frozen=True, slots=True)
class SiteRule(BaseTransform):
    """A transform made of one rule. One site is one move.

    A control edits only one site, because two changes of the meaning may cancel out.
    """

    name: str
    find: Callable[[Any], Iterable[Site | Refused]]
    """From the language's reading of a text to its sites, in the order of the text; a candidate that must not
    be edited gives `Refused` with the reason."""
    nothing: str
    """The reason to count if the text holds no candidate: `no comparison`."""
    kind: Kind = "preserving"
    unit: Unit = "function"
    proof: Proof = "analysis"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """As many sites as are compatible, each with one option drawn.

        Raises:
            SourceError: the source cannot be parsed.
        """
        sites, declined = _sites_of(self, source)
        if not sites:
            return Refused(declined or self.nothing)
        numbers = list(range(len(sites)))
        rng.shuffle(numbers)
        if self.kind == "control":  # two changes of the meaning may cancel out
            numbers = numbers[:1]
        drawn = {number: rng.randrange(len(sites[number].options)) for number in numbers}
        # In drawn order: of two sites that clash, each is kept equally often.
        kept = compatible({number: sites[number].options[drawn[number]] for number in numbers})
        return tuple(self._move(number, sites[number], drawn[number]) for number in sorted(kept))

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """The text after edits at these sites. Refuses edits that overlap and a result that is not shown
        right."""
        sites, _ = _sites_of(self, source)
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
        return self.rewritten(source, [patch for group in patches.values() for patch in group])

    def places(self, source: str) -> Mapping[int, str]:
        """The text that each site covers, with its note and the number of its options.

        Raises:
            SourceError: the source cannot be parsed.
        """
        text = source.encode()
        return {number: _place(text, site) for number, site in enumerate(_sites_of(self, source)[0])}

    @abstractmethod
    def sites(self, source: str) -> Iterable[Site | Refused]:
        """The sites of a text and the candidates that were refused.

        Raises:
            SourceError: the source cannot be parsed.
        """

    @abstractmethod
    def rewritten(self, source: str, patches: Sequence[Patch]) -> Rewritten | Refused:
        """The text with these compatible patches, or a refusal if the result cannot be shown to be right."""

    def _move(self, number: int, site: Site, option: int) -> Move:
        return Move(kind=self.name, site=number, value=(option,), note=f"line {site.line}: {site.note}")


# `propose` and `apply` ask for the same sites, and so do all variants of one sample.
@lru_cache(maxsize=8)
def _sites_of(rule: SiteRule, source: str) -> tuple[tuple[Site, ...], str | None]:
    """The sites of a rule, and its most frequent reason to refuse a candidate."""
    sites: list[Site] = []
    reasons: dict[str, int] = {}
    for site in rule.sites(source):
        if isinstance(site, Refused):
            reasons[site.reason] = reasons.get(site.reason, 0) + 1
        elif site.options:
            sites.append(site)
    return tuple(sites), max(reasons, key=lambda reason: (reasons[reason], reason), default=None)


def _place(text: bytes, site: Site) -> str:
    patches = [patch for option in site.options for patch in option]
    covered = text[min(patch.start for patch in patches) : max(patch.end for patch in patches)]
    return f"{len(site.options)} {site.note}: {covered.decode(errors='replace')}"


OPTIONS: Final = 12
"""Largest number of orders that one site offers."""
MOST: Final = 48
"""Largest number of regions of one site; a rule splits longer runs into several sites."""


def legal_orders(predecessors: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Legal orders other than the text's own: all of them if there are at most `OPTIONS`, else a fixed draw.

    Args:
        predecessors: for each region the set of regions that must stand before it, as a bit mask.
    """
    own = tuple(range(len(predecessors)))
    # Two more than are offered: the text's own, and one that shows that there are too many to list.
    choices = dict.fromkeys(islice(orders.enumerate_orders(predecessors), OPTIONS + 2))
    if len(choices) > OPTIONS + 1:
        # Fixed, because a move names an order by its number among the options.
        draws = Random(len(predecessors))
        choices = dict.fromkeys(orders.sample(predecessors, draws) for _ in range(2 * OPTIONS))
    return tuple(order for order in choices if order != own)[:OPTIONS]


def free(count: int) -> tuple[int, ...]:
    """The `predecessors` of `count` regions that do not depend on one another."""
    return (0,) * count


def permuted(parts: Sequence[Span], order: Sequence[int]) -> Patch:
    """One patch that puts the regions into an order; the text between them stays in its place."""
    pieces: list[Span] = []
    for place, number in enumerate(order):
        if place:
            pieces.append(Span(parts[place - 1].end, parts[place].start))
        pieces.append(parts[number])
    return Patch(parts[0].start, parts[-1].end, tuple(pieces))
