"""Closeness of texts: edit similarity and BLEU."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import exp, log
from typing import Final

LONGEST_RUN: Final = 4
_WORD: Final = re.compile(r"\w+|[^\w\s]")


def edit_similarity(text: str, other: str) -> float:
    """1 minus the Levenshtein distance divided by the length of the longer text, from 0 to 1.

    Two empty texts have similarity 1.
    """
    longest = max(len(text), len(other))
    return 1 - _distance(text, other) / longest if longest else 1.0


def bleu(pairs: Iterable[tuple[str, str]], *, smooth: bool = False) -> float:
    """Corpus BLEU-4 of texts against one reference each, from 0 to 1.

    Words are runs of letters, digits and underscores; every other character that is no blank is a word, too.
    N-grams longer than every text do not count, because a corpus of very short texts has no 4-grams. `smooth`
    adds one to the numerators and denominators of 2-grams and longer ones, so that a small corpus without a
    common 4-gram does not score 0.

    References
    ----------
    Papineni et al. (2002), BLEU: a method for automatic evaluation of machine translation.
    Lin and Och (2004), ORANGE: a method for evaluating automatic evaluation metrics, for the smoothing.
    """
    hits, totals = [0] * LONGEST_RUN, [0] * LONGEST_RUN
    said = wanted = longest = 0
    for text, reference in pairs:
        words, right = _WORD.findall(text), _WORD.findall(reference)
        said, wanted = said + len(words), wanted + len(right)
        longest = max(longest, len(words), len(right))
        for size in range(1, LONGEST_RUN + 1):
            runs, known = _runs(words, size), _runs(right, size)
            hits[size - 1] += (runs & known).total()
            totals[size - 1] += runs.total()
    sizes = min(LONGEST_RUN, longest)
    if smooth:
        hits, totals = ([counts[0], *(one + 1 for one in counts[1:])] for counts in (hits, totals))
    if not sizes or not all(hits[:sizes]):
        return 0.0
    mean = sum(log(hit / total) for hit, total in zip(hits[:sizes], totals[:sizes], strict=True)) / sizes
    return exp(mean + min(0.0, 1 - wanted / said))


def _runs(words: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def _distance(text: str, other: str) -> int:
    """The Levenshtein distance."""
    row = list(range(len(other) + 1))
    for number, letter in enumerate(text, start=1):
        corner, row[0] = row[0], number
        for place, against in enumerate(other, start=1):
            corner, row[place] = (
                row[place],
                min(row[place] + 1, row[place - 1] + 1, corner + (letter != against)),
            )
    return row[-1]
