"""A function as the networks take it: token ids by line, the relations between lines, and the vocabulary.

Nothing here depends on where a line stands in the text, except the order of the lines itself: a legal
reordering of the statements permutes the lines of the result and both axes of its relations, exactly
(SPE attention, section 4). Whether an input is too long depends on sums over lines only.

With the relation `referents`, variables are read by their identity instead of their names. Before the text is
read, a mark replaces the name of every local variable and parameter; marks are numbered by first occurrence.
The analysis behind the renaming transform decides which words are one variable, so no renaming changes the
features. Variables that a renaming must not touch get marks as well.

A network that copies also reads which words of letters the function has. They are numbered by the alphabet,
so no reordering changes the numbers either.

Dimension key: T tokens, N lines.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer
from tokenizers.models import WordPiece

from codeaudit.audit.papers.languages import features_of
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
from codeaudit.audit.records import UNPARSABLE, Failed
from codeaudit.transforms.dependence.graph import common_ancestor_distances, symmetry_mask
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.language import DEFAULT
from codeaudit.transforms.python.identifiers.obstacles import MOVABLE_VIEWS
from codeaudit.transforms.python.identifiers.rename import variables
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.registration import load_target

Relation: TypeAlias = Literal["none", "mask", "distances", "every", "referents"]
"""The relation between lines that a network reads: none, the symmetry mask, or SYMC's distances. With
`referents` it reads no relation, and variables by their identity instead of their names.
"""

VERSION: Final = 3
"""Increased whenever the features of the same text change, which invalidates remembered answers."""
LINE_TOKENS: Final = 48
"""Lines are cut after this number of tokens. The cut is inside a line, so no reordering changes it."""
TOO_LONG: Final = Failed(reason="input too long")
NO_REFERENTS: Final = Failed(reason="variables are resolved in Python only")
NOT_ONE: Final = Failed(reason="variables are resolved in a single function only")
KEPT: Final = 8192
"""Texts whose tokens a reader keeps, about 5 kB each: as many as a run asks about between two models."""
KEPT_GRAPHS: Final = 1024
"""Graphs whose relations are kept, about 1 kB each: as many as the original texts of a run of 200 functions
and their reordered ones have."""
KEPT_WORDS: Final = 100_000
"""Distinct words whose tokens a reader keeps."""
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
    copies: npt.NDArray[np.int32] | None = None
    """(T,) which word to copy begins at each token, counted from 1, 0 for none; `None` without copying."""
    spoken: int = 0
    """How many words to copy there are."""
    words: tuple[str, ...] = ()
    """These words by their numbers; left out in training."""

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
            line=np.repeat(np.arange(len(order), dtype=np.int32), [len(places) for places in tokens]),
            position=self.position[chosen],
            relation=self.relation[:, order][:, :, order],
            referents=None if self.referents is None else self.referents[chosen],
            copies=None if self.copies is None else self.copies[chosen],
            spoken=self.spoken,
            words=self.words,
        )


@dataclass(frozen=True, slots=True)
class ReadLines:
    """One function as tokens, with all that any relation is made of."""

    ids: npt.NDArray[np.int32]
    """(T,) token ids, line after line."""
    line: npt.NDArray[np.int32]
    """As in `EncodedLines`."""
    position: npt.NDArray[np.int32]
    """As in `EncodedLines`."""
    predecessors: tuple[int, ...]
    """(N,) the rows of the dependence graph; zeros if no encoder asks for them."""
    referents: npt.NDArray[np.int32] | None
    """As in `EncodedLines`."""
    letters: tuple[str, ...]
    """The distinct words of letters, in the alphabet's order; empty if no encoder asks for them."""
    begun: npt.NDArray[np.int32] | None
    """(T,) which of these begins at each token, counted from 1, 0 for none."""
    by_labels: dict[frozenset[str], tuple[npt.NDArray[np.int32], tuple[str, ...]]] = field(
        default_factory=dict
    )
    """What `copies` has given."""

    def copies(self, labels: frozenset[str]) -> tuple[npt.NDArray[np.int32] | None, tuple[str, ...]]:
        """`copies` and `words` of `EncodedLines`: the labels of a network are no words to copy."""
        if self.begun is None:
            return None, ()
        pair = self.by_labels.get(labels)
        if pair is None:
            copied = np.array([0, *(word not in labels for word in self.letters)], dtype=np.int32)
            numbers = (np.cumsum(copied, dtype=np.int32) * copied)[self.begun]
            words = tuple(word for word in self.letters if word not in labels)
            pair = self.by_labels[labels] = numbers, words
        return pair


class LineReader:
    """Reads texts for all encoders that read alike, and keeps what it has read of the latest `KEPT` texts."""

    def __init__(self, tokenizer: Tokenizer, dependence: Dependence, *, referents: bool) -> None:
        self._tokenizer = tokenizer
        self._dependence: Dependence = dependence
        self._referents = referents
        self._graphs = self._letters = False
        self._window = 0
        self._read: dict[tuple[str, str], ReadLines | Failed] = {}
        self._labels: dict[frozenset[str], frozenset[str]] = {}
        self._pieces: dict[str, list[int]] = {}
        # Padding and truncation look at a whole text. Everything else a tokenizer does word by word.
        self._by_word = tokenizer.padding is None and tokenizer.truncation is None

    def serve(self, relation: Relation, window: int, *, copying: bool) -> None:
        """From now on read all that an encoder needs that has this relation and window, and may copy."""
        known = self._graphs, self._letters, self._window
        wanted = self._graphs or relation in GRAPHS, self._letters or copying, max(window, self._window)
        if wanted != known:
            self._graphs, self._letters, self._window = wanted
            self._read.clear()

    def same(self, labels: frozenset[str]) -> frozenset[str]:
        """One object for all encoders with equal labels: a dictionary finds it without comparing words."""
        return self._labels.setdefault(labels, labels)

    def read(self, source: str, language: str) -> ReadLines | Failed:
        """What `LineEncoder.encode` makes features of, or why there are none."""
        key = source, language
        lines = self._read.pop(key, None)
        if lines is None:
            try:
                lines = self.lines(analyse(source, language, self._dependence), language)
            except SourceError:
                lines = UNPARSABLE
        # The latest is last, so the first is the one to go.
        self._read[key] = lines
        if len(self._read) > KEPT:
            del self._read[next(iter(self._read))]
        return lines

    def lines(self, program: LineProgram, language: str) -> ReadLines | Failed:
        """As `read`, of an analysed program."""
        if not program.lines:
            return UNPARSABLE
        read = line_words(program, language, "referents" if self._referents else "none")
        if isinstance(read, Failed):
            return read
        coded = [self._coded(line) for line in read]
        lengths = np.array([min(len(ids), LINE_TOKENS) for ids, _ in coded], dtype=np.int32)
        # Refused, not cut: in another legal order other lines would stand behind the cut.
        if lengths.sum() > self._window:
            return TOO_LONG
        letters, begun = _letters(read, [places for _, places in coded]) if self._letters else ((), None)
        line = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        starts = np.cumsum(lengths, dtype=np.int32) - lengths
        return ReadLines(
            ids=np.array([token for ids, _ in coded for token in ids[:LINE_TOKENS]], dtype=np.int32),
            line=line,
            position=np.arange(len(line), dtype=np.int32) - starts[line],
            predecessors=tuple(program.graph.predecessors) if self._graphs else (0,) * len(lengths),
            referents=_referents(read, [places for _, places in coded]) if self._referents else None,
            letters=letters,
            begun=begun,
        )

    def _coded(self, line: Sequence[Word]) -> tuple[list[int], list[int | None]]:
        """The tokens of a line, and the word that each belongs to."""
        # Line by line, so no token crosses a line, and a moved line keeps its tokens.
        if not self._by_word:
            encoding = self._encoded([word.text for word in line])
            return encoding.ids, encoding.word_ids
        ids: list[int] = []
        places: list[int | None] = []
        for place, word in enumerate(line):
            pieces = self._pieces.get(word.text)
            if pieces is None:
                if len(self._pieces) >= KEPT_WORDS:
                    self._pieces.clear()
                pieces = self._pieces[word.text] = self._encoded([word.text]).ids
            ids += pieces
            places += [place] * len(pieces)
        return ids, places

    def _encoded(self, words: list[str]) -> Encoding:
        return self._tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False)


_READERS: Final[WeakValueDictionary[tuple[str, Dependence, bool], LineReader]] = WeakValueDictionary()
"""The readers in use. A reader lives as long as its encoders do."""


class LineEncoder:
    """Turns sources into features for one network.

    Encoders with the same tokenizer, dependence relation and kind of words share what they read, so that the
    models of a run read each text once.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        window: int,
        relation: Relation,
        dependence: Dependence = "strict",
        labels: Collection[str] | None = None,
    ) -> None:
        """With `labels`, words of letters that are none of them are words to copy."""
        self.dependence: Final = dependence
        """The relation between statements that the masks and distances are made of."""
        self._window = window
        self._relation = relation
        referents = relation == "referents"
        key = tokenizer.to_str(), dependence, referents
        reader = _READERS.get(key)
        self._reader = LineReader(tokenizer, dependence, referents=referents) if reader is None else reader
        self._reader.serve(relation, window, copying=labels is not None)
        self._labels = None if labels is None else self._reader.same(frozenset(labels))
        _READERS[key] = self._reader

    def encode(self, source: str, language: str = DEFAULT) -> EncodedLines | Failed:
        """The features of a source, or why there are none: it does not parse, or is too long, or its
        variables cannot be resolved.
        """
        return self._encoded(self._reader.read(source, language))

    def features(self, program: LineProgram, language: str = DEFAULT) -> EncodedLines | Failed:
        """As `encode`, of an analysed program."""
        return self._encoded(self._reader.lines(program, language))

    def refusal(self, source: str, language: str = DEFAULT) -> Failed | None:
        """Why `encode` gives no features; `None` if it gives some."""
        return self._refused(self._reader.read(source, language))

    def _refused(self, read: ReadLines | Failed) -> Failed | None:
        if isinstance(read, Failed):
            return read
        # Another network of the same reader may have a longer window.
        return TOO_LONG if len(read.ids) > self._window else None

    def _encoded(self, read: ReadLines | Failed) -> EncodedLines | Failed:
        refused = self._refused(read)
        if refused is not None or isinstance(read, Failed):
            return refused or UNPARSABLE
        copies, words = (None, ()) if self._labels is None else read.copies(self._labels)
        return EncodedLines(
            ids=read.ids,
            line=read.line,
            position=read.position,
            relation=RELATIONS[self._relation](read.predecessors),
            referents=read.referents,
            copies=copies,
            spoken=len(words),
            words=words,
        )


def line_words(program: LineProgram, language: str, relation: Relation) -> list[Sequence[Word]] | Failed:
    """The words of each line, as a network with such a relation reads them."""
    if relation == "referents":
        referents = features_of(language).referents
        if not referents:
            return NO_REFERENTS
        try:
            return list(load_target(referents)(program.source).lines())
        except SourceError:
            return NOT_ONE
    name = masked_name(program.lines[0].text) if program.lines else ""
    return [_plain_words(line.text, line.depth, name, language) for line in program.lines]


class _Line(NamedTuple):
    text: str
    depth: int


# A variant shares most of its lines with its original. Not by the line itself: it has the number of its
# header, which may have moved.
@lru_cache(maxsize=4096)
def _plain_words(text: str, depth: int, name: str, language: str) -> tuple[Word, ...]:
    return tuple(Word(word) for word in words(_Line(text, depth), name, language))


def _referents(
    read: Sequence[Sequence[Word]], places: Sequence[Sequence[int | None]]
) -> npt.NDArray[np.int32]:
    """(T,) the variable of each token, of however many its word consists."""
    referents = [
        0 if word is None else line[word].referent
        for line, numbers in zip(read, places, strict=True)
        for word in numbers[:LINE_TOKENS]
    ]
    return np.array(referents, dtype=np.int32)


def _letters(
    read: Sequence[Sequence[Word]], places: Sequence[Sequence[int | None]]
) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
    """The distinct words of letters, and (T,) which of them begins at each token."""
    texts = [
        line[word].text if word is not None and word != before else ""
        for line, numbers in zip(read, places, strict=True)
        for before, word in pairwise([None, *numbers[:LINE_TOKENS]])
    ]
    letters = tuple(sorted({text for text in texts if text.isalpha()}))
    numbers = {text: number for number, text in enumerate(letters, 1)}
    return letters, np.array([numbers.get(text, 0) for text in texts], dtype=np.int32)


def _nothing(predecessors: Sequence[int]) -> Bytes:
    return np.zeros((0, len(predecessors), len(predecessors)), dtype=np.uint8)


# A renamed text has the graph of its original, and a repeated query comes after all others.
@lru_cache(maxsize=KEPT_GRAPHS)
def _mask(predecessors: Sequence[int]) -> Bytes:
    """The symmetry mask of SPE attention, Definition 4.4."""
    # The rows come as bit masks of any length, which numpy unpacks byte by byte, lowest bit first.
    count = len(predecessors)
    packed = (row.to_bytes(count // 8 + 1, "little") for row in symmetry_mask(predecessors))
    rows = [np.frombuffer(row, np.uint8) for row in packed]
    mask: Bytes = np.stack([np.unpackbits(row, count=count, bitorder="little") for row in rows])[None]
    return mask


@lru_cache(maxsize=KEPT_GRAPHS)
def _distances(predecessors: Sequence[int]) -> Bytes:
    """SYMC's distances from the common ancestor: p to the row's line, n to the column's line."""
    distances = common_ancestor_distances(predecessors)
    both: Bytes = np.minimum(np.stack(distances), FARTHEST).astype(np.uint8)
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
GRAPHS: Final = frozenset[Relation]({"mask", "distances", "every"})
"""The relations that are made of the dependence graph."""
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
    code = variables(source)
    stem = _STEM
    while stem in source:  # a mark must not be a word of the text already, not even of a string
        stem += "_x"
    bindings = [
        binding for binding in code.scopes.bindings if binding.view in MOVABLE_VIEWS and binding.located
    ]
    # Counted by first occurrence: the numbers are the same for a function and its renamings.
    names = {binding.number: f"{stem}_{number}_" for number, binding in enumerate(bindings, 1)}
    return Marked(analyse(code.rewritten(names), PYTHON.name), re.compile(rf"({stem}_\d+_)"))


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
