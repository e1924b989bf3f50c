"""A function as the networks take it: token ids by line, the relations between lines, and the vocabulary.

Nothing here depends on where a line stands in the text, except the order of the lines itself: a legal
reordering of the statements permutes the lines of the result and both axes of its relations, exactly
(SPE attention, section 4). Whether an input is too long depends on sums over lines only.

With the relation `referents`, variables are read by their identity instead of their names. Before the text is
read, a mark replaces the name of every local variable and parameter; marks are numbered by first occurrence.
The analysis behind the renaming transform decides which words are one variable, so no renaming changes the
features. Variables that a renaming must not touch get marks as well.

Dimension key: T tokens, N lines.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer
from tokenizers.models import WordPiece

from codeaudit.audit.papers.lines.words import (
    DEPTHS,
    NAME,
    NUMBER,
    STRING,
    VARIABLE,
    CodeLine,
    LineProgram,
    Word,
    analyse,
    masked_name,
    words,
)
from codeaudit.audit.records import Failed
from codeaudit.transforms.dependence.graph import common_ancestor_distances, longest_paths, symmetry_mask
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.language import DEFAULT, find_language
from codeaudit.transforms.python.identifiers.obstacles import MOVABLE_VIEWS
from codeaudit.transforms.python.identifiers.rename import variables
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.registration import load_target

Relation: TypeAlias = Literal["none", "mask", "distances", "every", "referents"]
"""The relation between lines that a network reads: none, the symmetry mask, or SYMC's distances. With
`referents` it reads no relation, and variables by their identity instead of their names.
"""

VERSION: Final = 2
"""Increased whenever the features of the same text change, which invalidates remembered answers."""
LINE_TOKENS: Final = 48
"""Lines are cut after this number of tokens. The cut is inside a line, so no reordering changes it."""
TOO_LONG: Final = Failed(reason="input too long")
UNPARSABLE: Final = Failed(reason="source does not parse")
NO_REFERENTS: Final = Failed(reason="variables are resolved in Python only")
NOT_ONE: Final = Failed(reason="variables are resolved in a single function only")
FARTHEST: Final = 255
"""Distances beyond are this one."""

Bytes: TypeAlias = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedLines:
    """One function."""

    ids: npt.NDArray[np.int32]
    """(T,) token ids, line after line."""
    line: npt.NDArray[np.int32]
    """(T,) the line of each token, counted from 0."""
    position: npt.NDArray[np.int32]
    """(T,) the place of each token inside its line, counted from 0."""
    relation: Bytes
    """(R, N, N): R = 0 for none, 1 for the mask (0 or 1), 2 for the distances p and n, 3 for every one."""
    referents: npt.NDArray[np.int32] | None = None
    """(T,) which variable each token is, counted from 1, 0 for none; `None` where names are read instead."""

    @property
    def lines(self) -> int:
        """N."""
        return int(self.relation.shape[-1])

    def permuted(self, order: Sequence[int] | npt.NDArray[np.uint16]) -> "EncodedLines":
        """With its lines in another order: line `order[k]` comes to stand at k."""
        tokens = [np.flatnonzero(self.line == line) for line in order]
        chosen = np.concatenate(tokens)
        return EncodedLines(
            ids=self.ids[chosen],
            line=np.repeat(np.arange(len(order), dtype=np.int32), [len(one) for one in tokens]),
            position=self.position[chosen],
            relation=self.relation[:, order][:, :, order],
            referents=None if self.referents is None else self.referents[chosen],
        )


class LineEncoder:
    """Turns sources into features for one network."""

    def __init__(
        self, tokenizer: Tokenizer, *, window: int, relation: Relation, dependence: Dependence = "strict"
    ) -> None:
        self._tokenizer = tokenizer
        self.dependence: Final = dependence
        """The relation between statements that the masks and distances are made of."""
        self._window = window
        self._relation = relation

    def encode(self, source: str, language: str = DEFAULT) -> EncodedLines | Failed:
        """The features of a source, or why there are none: it does not parse, or is too long, or its
        variables cannot be resolved.
        """
        try:
            return self.features(analyse(source, language, self.dependence), language)
        except SourceError:
            return UNPARSABLE

    def features(self, program: LineProgram, language: str = DEFAULT) -> EncodedLines | Failed:
        """As `encode`, of an analysed program."""
        if not program.lines:
            return UNPARSABLE
        read = line_words(program, language, self._relation)
        if isinstance(read, Failed):
            return read
        texts = [[word.text for word in line] for line in read]
        # Line by line, so no token crosses a line, and a moved line keeps its tokens.
        coded = self._tokenizer.encode_batch(texts, is_pretokenized=True, add_special_tokens=False)
        ids = [one.ids[:LINE_TOKENS] for one in coded]
        lengths = [len(one) for one in ids]
        # Refused, not cut: in another legal order other lines would stand behind the cut.
        if sum(lengths) > self._window:
            return TOO_LONG
        starts = np.repeat(np.array([0, *accumulate(lengths)][:-1], dtype=np.int32), lengths)
        return EncodedLines(
            ids=np.array([token for one in ids for token in one], dtype=np.int32),
            line=np.repeat(np.arange(len(ids), dtype=np.int32), lengths),
            position=np.arange(sum(lengths), dtype=np.int32) - starts,
            relation=RELATIONS[self._relation](program.graph.predecessors),
            referents=None if self._relation != "referents" else _referents(read, coded),
        )


def line_words(program: LineProgram, language: str, relation: Relation) -> list[list[Word]] | Failed:
    """The words of each line, as a network with such a relation reads them."""
    if relation == "referents":
        record = find_language(language)
        if record is None or not record.referents:
            return NO_REFERENTS
        try:
            return list(load_target(record.referents)(program.source).lines())
        except SourceError:
            return NOT_ONE
    name = masked_name(program.lines[0].text) if program.lines else ""
    return [[Word(word) for word in words(line, name, language)] for line in program.lines]


def _referents(read: Sequence[Sequence[Word]], coded: Sequence[Encoding]) -> npt.NDArray[np.int32]:
    """(T,) the variable of each token, of however many its word consists."""
    found = [
        0 if word is None else line[word].referent
        for line, one in zip(read, coded, strict=True)
        for word in one.word_ids[:LINE_TOKENS]
    ]
    return np.array(found, dtype=np.int32)


def _nothing(predecessors: Sequence[int]) -> Bytes:
    return np.zeros((0, len(predecessors), len(predecessors)), dtype=np.uint8)


def _mask(predecessors: Sequence[int]) -> Bytes:
    """The symmetry mask of SPE attention, Definition 4.4."""
    # The rows come as bit masks of any length, which numpy unpacks byte by byte, lowest bit first.
    count = len(predecessors)
    packed = (row.to_bytes(count // 8 + 1, "little") for row in symmetry_mask(predecessors))
    rows = [np.frombuffer(row, np.uint8) for row in packed]
    mask: Bytes = np.stack([np.unpackbits(row, count=count, bitorder="little") for row in rows])[None]
    return mask


def _distances(predecessors: Sequence[int]) -> Bytes:
    """SYMC's distances from the common ancestor: p to the row's line, n to the column's line."""
    found = common_ancestor_distances(predecessors, longest_paths(predecessors))
    both: Bytes = np.minimum([found.positive, found.negative], FARTHEST).astype(np.uint8)
    return both


def _every(predecessors: Sequence[int]) -> Bytes:
    return np.concatenate([_mask(predecessors), _distances(predecessors)])


RELATIONS: Final[dict[Relation, Callable[[Sequence[int]], Bytes]]] = {
    "none": _nothing,
    "mask": _mask,
    "distances": _distances,
    "every": _every,
    "referents": _nothing,
}
PLANES: Final[dict[Relation, slice]] = {
    "none": slice(0, 0),
    "mask": slice(0, 1),
    "distances": slice(1, 3),
    "every": slice(0, 3),
    "referents": slice(0, 0),
}
"""Where each stands in the planes of `every`."""


_STEM: Final = "referent"


@dataclass(frozen=True, slots=True)
class Marked:
    """A function with marks for names."""

    program: LineProgram
    marks: re.Pattern[str]
    """The pattern of a mark; the mark is its group and contains its number."""

    def lines(self) -> Iterator[list[Word]]:
        """The words of each line."""
        lines = self.program.lines
        name = masked_name(lines[0].text) if lines else ""
        for line in lines:
            yield list(self._words(line, name))

    def _words(self, line: CodeLine, name: str) -> Iterator[Word]:
        for text in words(line, name, marks=self.marks):
            if self.marks.fullmatch(text):
                yield Word(VARIABLE, int(text.strip("_").rpartition("_")[2]))
            else:
                yield Word(text)


@lru_cache(maxsize=4)
def marked(source: str) -> Marked:
    """One Python function with marks for its variables.

    Raises:
        SourceError: the text does not parse, or is not one function.
    """
    known = variables(source)
    stem = _STEM
    while stem in source:  # a mark must not be a word of the text already, not even of a string
        stem += "_x"
    found = [one for one in known.scopes.bindings if one.view in MOVABLE_VIEWS and one.located]
    # Counted by first occurrence: the numbers are the same for a function and its renamings.
    names = {one.number: f"{stem}_{number}_" for number, one in enumerate(found, 1)}
    return Marked(analyse(known.rewritten(names), PYTHON.name), re.compile(rf"({stem}_\d+_)"))


PAD: Final = "<pad>"
UNKNOWN: Final = "<unk>"
SPECIALS: Final = (PAD, UNKNOWN, *DEPTHS, NAME, STRING, NUMBER)
"""Their ids are their places; padding is 0."""
CHARACTERS: Final = tuple(chr(code) for code in range(33, 127) if not chr(code).isupper())
"""With these and their continuations no ASCII word is unknown."""
_LONGEST: Final = 100
"""Characters; a longer word is unknown."""


def wordpiece_tokenizer(counts: Counter[str], labels: Sequence[str], *, size: int) -> Tokenizer:
    """A tokenizer with the specials, all labels as whole words, all characters, and frequent words.

    A tenth of the size goes to continuations of two and three characters, counted in the words that
    are left over. The alphabet breaks ties, so the same counts give the same vocabulary.
    """
    entries = dict.fromkeys([*SPECIALS, *labels, *CHARACTERS, *(f"##{sign}" for sign in CHARACTERS)])
    for word in _frequent(counts):
        if len(entries) >= size - size // 10:
            break
        entries.setdefault(word)
    pieces: Counter[str] = Counter()
    # Words left over fall apart into pieces; counting these makes the frequent ones whole again.
    for word, count in counts.items():
        if word not in entries and len(word) <= _LONGEST:
            for length in (2, 3):
                for start in range(1, len(word) - length + 1):
                    pieces[f"##{word[start : start + length]}"] += count * length
    for piece in _frequent(pieces):
        if len(entries) >= size:
            break
        entries.setdefault(piece)
    return tokenizer_of(entries)


def tokenizer_of(entries: Iterable[str]) -> Tokenizer:
    """The tokenizer with exactly these entries, numbered in their order."""
    ids = {entry: number for number, entry in enumerate(entries)}
    model = WordPiece(ids, unk_token=UNKNOWN, max_input_chars_per_word=_LONGEST)
    return Tokenizer(model)


def _frequent(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda entry: (-counts[entry], entry))
