"""Text as terms: a token's view and referent (Renamer, Ankner et al., section 3).

The *view* of a term is everything about it except its name. Its *referent* is the thing that it names. A term
that names nothing is its own view, and all its occurrences have one referent: the relation is defined on the
vocabulary, so two occurrences of a word are coreferential.

The networks of the paper read the same terms in three ways:

- Renamer reads views, and separately the partition by referents.
- Vanilla and Augmented read view and name together, which is the plain token.
- Canonicalized reads the view and the number of the referent in the order of first use.

The first and the last reading are equal for a text and its renamings.

Dimension key: T terms.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from random import Random
from typing import Final, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from codeaudit.audit.records import Failed

Reading: TypeAlias = Literal["views", "names", "first use"]

PAD: Final = "<pad>"
UNKNOWN: Final = "<unk>"
START: Final = "<cls>"
VERSION: Final = 2
"""Increased whenever the input for the same text changes, which invalidates remembered answers."""
CONTEXT: Final = 2
"""Most words of a context."""
SPECIALS: Final = (PAD, UNKNOWN, START)
"""Their ids are their places; padding is 0."""
TOO_LONG: Final = Failed(reason="input too long")


@dataclass(frozen=True, slots=True)
class Term:
    """One token."""

    view: str
    kind: str = ""
    """The class within which its name may be exchanged; empty for a term that names nothing."""
    referent: str = ""
    """The name of the thing that it names."""
    context: tuple[str, ...] = ()
    """Words for where it stands, at most two; a renaming leaves them as they are."""


class TermChoices(Protocol):
    """The legal renamings of one text."""

    def draw(self, rng: Random) -> Mapping[str, str]:
        """A legal renaming, uniformly among all of them, the identity included."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TermLanguage:
    """How the texts of one language are terms."""

    name: str
    """The name that samples have."""
    terms: Callable[[str], tuple[Term, ...]]
    """Raises `SourceError` where the text cannot be read."""
    words: Callable[[Reading], Iterable[str]]
    """Every word that a name may be, whether or not a corpus has it."""
    choices: Callable[[str], TermChoices]
    """The legal renamings of a text."""
    implied: Callable[[str], bool] = lambda source: False
    """Whether a text uses a name without a choice."""
    end: str = ""
    """The view of the term that ends a step; without one every term is a step of its own."""
    divider: str = ""
    """The view of the term between a question and its proposed answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermInput:
    """One text as a network reads it."""

    ids: npt.NDArray[np.int32]
    """(T,) ids of the words."""
    referents: npt.NDArray[np.int32]
    """(T,) equal for coreferential terms, numbered from 1 in the order of first use."""
    context: npt.NDArray[np.int32]
    """(T, 2) ids of the words of the context, 0 where there is none."""
    steps: npt.NDArray[np.int32]
    """(T,) the number of the step in which a term stands, from 0 for the start."""


def spelled(terms: Iterable[Term], reading: Reading) -> list[str]:
    """The words that a reading sees."""
    match reading:
        case "views":
            return [term.view for term in terms]
        case "names":
            return [word(term.view, term.referent) for term in terms]
        case "first use":
            numbers: dict[tuple[str, str], int] = {}
            counts: dict[str, int] = {}
            words: list[str] = []
            for term in terms:
                key = (term.kind, term.referent)
                # Counted within the kind: the first general register is #0, whatever vector registers came
                # before.
                if term.kind and key not in numbers:
                    numbers[key] = counts[term.kind] = counts.get(term.kind, -1) + 1
                words.append(word(term.view, f"#{numbers[key]}" if term.kind else ""))
            return words


def word(view: str, name: str) -> str:
    """The word of a term with a name, or of one without."""
    return f"{view} {name}" if name else view


def partition(terms: Iterable[Term]) -> list[int]:
    """The class of each term under the referent relation, numbered from 1 in the order of first use."""
    # The kind is part of the key: a class exchanges its names for itself only. A term without a referent is
    # its own referent by its view, so two `;` are coreferential.
    numbers: dict[tuple[str, str], int] = {}
    return [numbers.setdefault((term.kind, term.referent or term.view), len(numbers) + 1) for term in terms]


def steps(terms: Sequence[Term], end: str) -> list[int]:
    """The number of the step in which each term stands; the start is step 0."""
    if not end:
        return list(range(len(terms)))
    # The term that ends a step still belongs to it: only the terms behind it count one more.
    ended = accumulate((term.view == end for term in terms[1:-1]), initial=1)
    return [0, *ended][: len(terms)]


def renamed(terms: Sequence[Term], renaming: Mapping[str, str]) -> list[Term]:
    """The terms with other referents; those that the renaming leaves out stay."""
    return [
        replace(term, referent=renaming.get(term.referent, term.referent)) if term.kind else term
        for term in terms
    ]


class TermReader:
    """Turns terms into the input of one network."""

    def __init__(self, tokenizer: Tokenizer, reading: Reading, *, window: int, end: str = "") -> None:
        self._ids: dict[str, int] = tokenizer.get_vocab()
        self._unknown = self._ids[UNKNOWN]
        self._reading = reading
        self._window = window
        self._end = end

    def read(self, terms: Sequence[Term]) -> TermInput | Failed:
        """Ids and partition; a failure where there are more terms than the network has places."""
        if len(terms) > self._window:
            return TOO_LONG
        ids = [self._ids.get(token, self._unknown) for token in spelled(terms, self._reading)]
        context = np.zeros((len(terms), CONTEXT), dtype=np.int32)
        for number, term in enumerate(terms):
            for place, token in enumerate(term.context):
                context[number, place] = self._ids.get(token, self._unknown)
        return TermInput(
            ids=np.array(ids, dtype=np.int32),
            referents=np.array(partition(terms), dtype=np.int32),
            context=context,
            steps=np.array(steps(terms, self._end), dtype=np.int32),
        )


def tokenizer_of(words: Iterable[str]) -> Tokenizer:
    """The tokenizer that knows exactly these words, in the alphabet's order after the specials."""
    entries = [*SPECIALS, *sorted(set(words) - set(SPECIALS))]
    return Tokenizer(WordLevel({entry: number for number, entry in enumerate(entries)}, unk_token=UNKNOWN))
