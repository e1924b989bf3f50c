"""Views and referents of tokens (Renamer, Ankner et al., section 3 and appendix E).

Coefficients share a view, so do the inputs other than x; x has its own. The paper gives all operators one
view, by which `sin` and `cos` would look alike; since operators cannot be renamed, each is a view of its own
here, as in the paper's section 5. Two tokens are coreferential if they are the same token.
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
"""The variables of each view that has more than one."""
MOVABLE: Final = frozenset((*COEFFICIENTS, *INPUTS))
EXTRA: Final = COEFFICIENTS[-1]
"""Used only where the text has it already: a model need not know it."""

TOKENS: Final = (ASKED, *BINARY, *UNARY, PLUS, MINUS, *"0123456789", X, *INPUTS, *COEFFICIENTS)
"""The vocabulary. A token's id is its place."""
_SINGLE: Final = len(TOKENS) - len(INPUTS) - len(COEFFICIENTS)
VIEWS: Final = _SINGLE + len(POOLS)
"""How many views there are; ids are 0 to VIEWS - 1."""
_IDS: Final[Mapping[str, int]] = {token: number for number, token in enumerate(TOKENS)}
_WORD: Final = re.compile(r"\S+")


class EncodedPair(NamedTuple):
    """A pair as a network takes it: three numbers for each token of its text."""

    tokens: tuple[int, ...]
    """Places in `TOKENS`."""
    views: tuple[int, ...]
    """Less than `VIEWS`; equal for tokens that a renaming may exchange."""
    referents: tuple[int, ...]
    """Equal for coreferential tokens: numbered in the order in which they first occur, from 0."""


def encode(source: str) -> EncodedPair:
    """Tokens, views and referents of the text of a pair. Views and referents are the same for every legal
    renaming.

    Raises:
        SourceError: the text is no pair of expressions.
    """
    parse_pair(source)
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
    """What a variable of a text may be called: the variables of its view, itself only if it has no other."""
    for names in POOLS:
        if name in names:
            return tuple(other for other in names if other != EXTRA or EXTRA in source.split())
    return (name,)


def movable(source: str) -> tuple[str, ...]:
    """The variables of a text that may have another name, in the order in which they first occur."""
    return tuple(word for word in dict.fromkeys(source.split()) if word in MOVABLE)


def renamed(source: str, renaming: Mapping[str, str]) -> str:
    """The text with other names and nothing else changed."""
    return _WORD.sub(lambda found: renaming.get(found.group(), found.group()), source)


def canonical(source: str) -> str:
    """The text under the renaming that calls the variables of each view by their order of first use.

    Two texts have the same canonical form exactly if a legal renaming makes one into the other.
    """
    used = movable(source)
    renaming: dict[str, str] = {}
    for names in POOLS:
        renaming |= zip((word for word in used if word in names), names, strict=False)
    return renamed(source, renaming)


def equivalent(one: str, two: str) -> bool:
    """Whether a bijection of variables that keeps views makes one text into the other."""
    before, after = one.split(), two.split()
    if len(before) != len(after):
        return False
    there: dict[str, str] = {}
    back: dict[str, str] = {}
    for old, new in zip(before, after, strict=True):
        if there.setdefault(old, new) != new or back.setdefault(new, old) != old:
            return False
        if old != new and not any(old in names and new in names for names in POOLS):
            return False
    return True
