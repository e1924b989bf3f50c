"""Views and referents of tokens (Renamer, Ankner et al., section 3 and appendix E).

The coefficients share a view, and so do the inputs other than x; x has its own. The paper's appendix gives
all operators one view, which would make `sin` and `cos` look alike. Operators cannot be renamed, so here each
has a view of its own, as in section 5 of the paper. Two tokens are coreferential if they are the same token.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from codeaudit.transforms.algebra.expressions import (
    ASKED,
    BINARY,
    COEFFICIENTS,
    INPUTS,
    MINUS,
    PLUS,
    UNARY,
    X,
    parse_pair,
)

POOLS: Final = (COEFFICIENTS, INPUTS)
"""The variables of each view with more than one."""
MOVABLE: Final = frozenset((*COEFFICIENTS, *INPUTS))
EXTRA: Final = COEFFICIENTS[-1]
"""Given only to texts that contain it already, because a model may not know it."""

TOKENS: Final = (ASKED, *BINARY, *UNARY, PLUS, MINUS, *"0123456789", X, *INPUTS, *COEFFICIENTS)
"""The vocabulary. The id of a token is its index."""
_SINGLE: Final = len(TOKENS) - len(INPUTS) - len(COEFFICIENTS)
VIEWS: Final = _SINGLE + len(POOLS)
"""The number of views; ids are 0 to VIEWS - 1."""
_IDS: Final[Mapping[str, int]] = {token: number for number, token in enumerate(TOKENS)}
WORD: Final = re.compile(r"\S+")


class EncodedPair(NamedTuple):
    """A pair as the input of a network: three numbers for each token of its text."""

    tokens: tuple[int, ...]
    """Indices in `TOKENS`."""
    views: tuple[int, ...]
    """Less than `VIEWS`; equal for tokens that a renaming may exchange."""
    referents: tuple[int, ...]
    """Equal for coreferential tokens: numbered in the order in which they first occur, from 0."""


def encode(source: str) -> EncodedPair:
    """Tokens, views and referents of the text of a pair. A legal renaming keeps views and referents.

    Raises:
        SourceError: the text is no pair of expressions.
    """
    parse_pair(source)  # raises; a network must not get a text that is no pair
    words = source.split()
    first = {word: number for number, word in enumerate(dict.fromkeys(words))}
    return EncodedPair(
        tokens=tuple(_IDS[word] for word in words),
        views=tuple(view(word) for word in words),
        referents=tuple(first[word] for word in words),
    )


def view(word: str) -> int:
    """The view of a token of the vocabulary."""
    if word in INPUTS:
        return _SINGLE
    return _SINGLE + 1 if word in COEFFICIENTS else _IDS[word]


def pool(name: str, source: str) -> tuple[str, ...]:
    """The names that a variable of a text may get: all of its view, or only its own if the view has no
    other.
    """
    for names in POOLS:
        if name in names:
            return tuple(other for other in names if other != EXTRA or EXTRA in source.split())
    return (name,)


def movable(source: str) -> tuple[str, ...]:
    """The variables of a text that may have another name, in the order in which they first occur."""
    return tuple(word for word in dict.fromkeys(source.split()) if word in MOVABLE)


def renamed(source: str, renaming: Mapping[str, str]) -> str:
    """The text with other names and nothing else changed."""
    return WORD.sub(lambda match: renaming.get(match.group(), match.group()), source)


def canonical(source: str) -> str:
    """The text with the variables of each view named in the order of their first use.

    Two texts have the same canonical form exactly if a legal renaming turns one into the other.
    """
    used = movable(source)
    renaming: dict[str, str] = {}
    # `a3` is given only if all four coefficients occur, so a text without it gets none.
    for names in POOLS:
        renaming |= zip((word for word in used if word in names), names, strict=False)
    return renamed(source, renaming)


def equivalent(one: str, two: str) -> bool:
    """Whether a bijection of variables that keeps views turns one text into the other."""
    before, after = one.split(), two.split()
    if len(before) != len(after):
        return False
    # Both directions: without `back`, a renaming that makes two variables into one would pass.
    there: dict[str, str] = {}
    back: dict[str, str] = {}
    for old, new in zip(before, after, strict=True):
        if there.setdefault(old, new) != new or back.setdefault(new, old) != old:
            return False
        if old != new and not any(old in names and new in names for names in POOLS):
            return False
    return True
