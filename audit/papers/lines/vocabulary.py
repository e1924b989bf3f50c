"""The words that a network knows: an explicit WordPiece vocabulary, made from the training corpus alone."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from tokenizers import Tokenizer
from tokenizers.models import WordPiece

from codeaudit.audit.papers.lines.words import DEPTHS, NAME, NUMBER, STRING

PAD: Final = "<pad>"
UNKNOWN: Final = "<unk>"
SPECIALS: Final = (PAD, UNKNOWN, *DEPTHS, NAME, STRING, NUMBER)
"""Their ids are their places; padding is 0."""
CHARACTERS: Final = tuple(chr(code) for code in range(33, 127) if not chr(code).isupper())
"""With these and their continuations no ASCII word is unknown."""
_LONGEST: Final = 100
"""Characters; a longer word is unknown."""


def build(counts: Counter[str], labels: Sequence[str], *, size: int) -> Tokenizer:
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
    for word, count in counts.items():
        if word not in entries and len(word) <= _LONGEST:
            for length in (2, 3):
                for start in range(1, len(word) - length + 1):
                    pieces[f"##{word[start : start + length]}"] += count * length
    for piece in _frequent(pieces):
        if len(entries) >= size:
            break
        entries.setdefault(piece)
    return of(entries)


def of(entries: Iterable[str]) -> Tokenizer:
    """The tokenizer with exactly these entries, numbered in their order."""
    ids = {entry: number for number, entry in enumerate(entries)}
    model = WordPiece(ids, unk_token=UNKNOWN, max_input_chars_per_word=_LONGEST)
    return Tokenizer(model)


def _frequent(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda entry: (-counts[entry], entry))
