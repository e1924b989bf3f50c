"""Pairs of expressions as terms: a function, `=?`, and a candidate for its derivative.

The views are those of the language: coefficients share one, so do the inputs other than x; operators, digits
and x are words of their own, which nothing may rename.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Final

from codeaudit.audit.papers.renamer.terms import START, Reading, Term, TermLanguage, word
from codeaudit.transforms.algebra.expressions import ASKED, COEFFICIENTS, INPUTS, parse_pair
from codeaudit.transforms.algebra.language import ALGEBRA
from codeaudit.transforms.algebra.views import MOVABLE, POOLS, TOKENS, movable, pool

COEFFICIENT: Final = "coefficient"
INPUT: Final = "input"
_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(COEFFICIENTS, COEFFICIENT),
    **dict.fromkeys(INPUTS, INPUT),
}


@dataclass(frozen=True, slots=True)
class PairRenamings:
    """The legal renamings of the variables of a pair."""

    pools: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """The variables of each view that the pair has, and those that they may become."""

    def draw(self, rng: Random) -> Mapping[str, str]:
        """A legal renaming, uniformly among all of them, the identity included."""
        return {
            old: new
            for used, free in self.pools
            for old, new in zip(used, rng.sample(free, len(used)), strict=True)
        }


def terms(source: str) -> tuple[Term, ...]:
    """The terms of the text of a pair.

    Raises:
        SourceError: the text is no pair of expressions.
    """
    parse_pair(source)
    return (Term(START), *(_term(token) for token in source.split()))


def words(reading: Reading) -> Iterator[str]:
    """The whole vocabulary, with the coefficient that only the extended test set has."""
    yield from (token for token in TOKENS if token not in MOVABLE)
    for names, kind in zip(POOLS, (COEFFICIENT, INPUT), strict=True):
        match reading:
            case "views":
                yield kind
            case "names":
                yield from (word(kind, name) for name in names)
            case "first use":
                yield from (word(kind, f"#{number}") for number in range(len(names)))


def choices(source: str) -> PairRenamings:
    """The legal renamings of a pair's variables; the extra coefficient only where it occurs already."""
    used = movable(source)
    own = (tuple(name for name in used if name in names) for names in POOLS)
    return PairRenamings(tuple((some, pool(some[0], source)) for some in own if some))


@cache
def _term(token: str) -> Term:
    kind = _KINDS.get(token, "")
    return Term(kind, kind, token) if kind else Term(token)


PAIRS: Final = TermLanguage(name=ALGEBRA.name, terms=terms, words=words, choices=choices, divider=ASKED)
