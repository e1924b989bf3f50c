"""New names for variables, in any language.

A new name keeps the look of the old one: leading underscores, UPPER CASE, ClassCase. The look tells readers
what a name is for, so a renaming that changed it would change more than the name.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Final, Literal, TypeAlias

Strategy: TypeAlias = Literal["natural", "random", "shuffle", "misleading", "canonical"]
"""How names are chosen. `natural`: names that other functions use. `random`: pronounceable names without
meaning. `shuffle`: the function's own names, permuted. `misleading`: opposites and other types. `canonical`:
v0, v1, …"""

_PAIRS: Final = """
    first/last start/end begin/finish left/right top/bottom min/max minimum/maximum low/high lower/upper
    old/new before/after source/target src/dst input/output request/response parent/child head/tail
    row/column width/height key/value name/count names/total text/number line/amount lines/size
    item/items node/edge result/error results/errors path/distance filename/length string/integer
    index/message idx/msg found/missing enabled/disabled true_count/false_count good/bad success/failure
    read/write reader/writer open/closed inner/outer prefix/suffix positive/negative add/remove
    client/server sender/receiver public/private data/schema user/machine date/price time/color
    list_value/scalar args/result_code current/previous expected/actual empty/full x/label y/title
    i/text_line j/word k/sentence n/filename_text s/number_value d/index_list f/ratio_value p/total_count
"""
"""Pairs of names with opposite meanings, or with values of different types."""

_OPPOSITES: Final[Mapping[str, str]] = {
    name: other
    for pair in reversed(_PAIRS.split())
    for name, other in (pair.split("/")[::-1], pair.split("/"))
}

_PLAIN_TRIES: Final = 30
"""Names of other functions that are tried unchanged, before numbers are appended to them."""

_WORD_START: Final = re.compile(r"(?:^|_)([a-z0-9])")
_INNER_START: Final = re.compile(r"_([a-z0-9])")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ONSETS: Final = (*"bdfgklmnprstvz", "br", "gr", "st", "tr")
_VOWELS: Final = (*"aeiou", "ai", "ou")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The names of a language's variables."""

    natural: Sequence[str]
    """Frequent names of local variables in its code, in snake case."""
    reserved: Callable[[str], bool]
    """Whether a name must never be given: a keyword, a builtin."""
    camel: bool = False
    """Whether a plain name of several words is written likeThis."""
    capitals: bool = True
    """Whether a name in CAPITALS gets one in capitals. Not so where these may be macros."""


def draw(
    lexicon: Lexicon,
    strategy: Strategy,
    names: Mapping[int, str],
    taken: Collection[str],
    rng: Random,
    pool: Sequence[str] | None = None,
) -> dict[int, str]:
    """New names by the number of the variable, all different from one another.

    Args:
        lexicon: the lexicon of the language.
        strategy: how to choose; for `shuffle` call `shuffle` instead.
        names: the old names by the number of the variable, in source order.
        taken: names that must not be given. Old names are not given either, except by `canonical`.
        rng: the only source of chance.
        pool: the names for `natural`, and for strategies that run out of names; by default the lexicon's.
    """
    # Any subset of the moves may be applied. If `a -> b` and `b -> c` were drawn, `a -> b` alone would
    # collide, so old names are not given. Canonical names are exempt: a text that has v0 already must get v0
    # again.
    used = set() if strategy == "canonical" else set(names.values())
    fresh: dict[int, str] = {}
    for position, (number, old) in enumerate(names.items()):
        prefix, look = _look(old)
        for proposal in _proposals(strategy, old, position, lexicon, pool or lexicon.natural, rng):
            name = prefix + _styled(proposal, look, lexicon)
            if lexicon.reserved(name):  # perhaps by its look alone: `V0` is in capitals, as a macro is
                name = proposal
            if name not in taken and name not in used and not lexicon.reserved(name):
                break
        used.add(name)
        fresh[number] = name
    return fresh


def shuffle(lexicon: Lexicon, names: Mapping[int, str], kept: Iterable[str], rng: Random) -> dict[int, str]:
    """New names by the number of the variable: a permutation of the old names, without fixed points.

    A name is exchanged only with names of the same look (private, constant, ClassCase, plain). Reserved names
    and those in `kept` stay. Variables whose name does not change are left out of the result.
    """
    fixed = set(kept)
    groups: dict[tuple[str, str], list[str]] = {}
    # By name, not by variable: two variables of one name in different scopes get one name again.
    for name in dict.fromkeys(names.values()):
        if name not in fixed and not lexicon.reserved(name):
            groups.setdefault(_look(name), []).append(name)
    image: dict[str, str] = {}
    for group in groups.values():
        image.update(_derangement(group, rng))
    return {number: image[name] for number, name in names.items() if image.get(name, name) != name}


def _derangement(group: Sequence[str], rng: Random) -> dict[str, str]:
    """A random cyclic order of the names, so that none stays where it was (Sattolo's algorithm)."""
    image = list(group)
    for last in range(len(image) - 1, 0, -1):
        other = rng.randrange(last)  # below `last`: a shuffle that may keep places would use `last + 1`
        image[last], image[other] = image[other], image[last]
    return dict(zip(group, image, strict=True))


def _proposals(
    strategy: Strategy, old: str, position: int, lexicon: Lexicon, pool: Sequence[str], rng: Random
) -> Iterator[str]:
    """An endless iterator of names to try."""
    if strategy == "canonical":
        yield from (f"v{number}" for number in count(position))
    elif strategy == "random":
        # Longer names after every 20 tries, because short ones may all be taken.
        yield from (_pronounceable(rng, 2 + rng.randrange(2) + tries // 20) for tries in count())
    elif strategy == "misleading":
        yield from _misleading(old, lexicon)
    # All strategies end here if their own names are taken, so the iterator never ends.
    for tries in count():
        name = pool[int(rng.random() * len(pool))]
        yield name if tries < _PLAIN_TRIES else f"{name}{tries}"


def _misleading(old: str, lexicon: Lexicon) -> list[str]:
    """Opposites of a name: of the whole name if that is known, else of one of its words."""
    bare = old.strip("_")
    bare = (_CAMEL.sub("_", bare) if lexicon.camel else bare).lower()
    if bare in _OPPOSITES:
        return [_OPPOSITES[bare]]
    words = bare.split("_")
    return [
        "_".join([*words[:at], _OPPOSITES[word], *words[at + 1 :]])
        for at, word in enumerate(words)
        if word in _OPPOSITES and len(words) > 1
    ]


def _pronounceable(rng: Random, syllables: int) -> str:
    return "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables))


def _look(name: str) -> tuple[str, str]:
    prefix = name[: len(name) - len(name.lstrip("_"))]
    bare = name[len(prefix) :]
    if bare.isupper():
        return prefix, "constant"
    if bare[:1].isupper():
        return prefix, "class"
    return prefix, "plain"


def _styled(name: str, look: str, lexicon: Lexicon) -> str:
    """A plain name in another look."""
    if look == "constant":
        return name.upper() if lexicon.capitals else name
    if look == "plain" and lexicon.camel:
        return _INNER_START.sub(lambda match: match[1].upper(), name)
    return _WORD_START.sub(lambda match: match[1].upper(), name) if look == "class" else name
