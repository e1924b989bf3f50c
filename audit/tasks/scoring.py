"""What several tasks score with: numbers, equal answers, and the closeness of texts."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, isclose, isfinite, log
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import Task
from codeaudit.audit.records import Answer, Predicted
from codeaudit.transforms.records import Sample

TOLERANCE: Final = 1e-6
"""The difference between two equal answers, relative to the larger one, is at most this."""


def number(answer: object) -> float | None:
    """A finite number, from a number or a text; `None` for anything else."""
    if isinstance(answer, str):
        try:
            answer = float(answer)
        except ValueError:
            return None
    # `True` is an `int` in Python, but a model that says "true" has not said 1.
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return None
    value = float(answer)
    return value if isfinite(value) else None


def nearly_equal(before: Predicted, after: Predicted) -> bool:
    """Whether two answers are equal up to `TOLERANCE`."""
    one, other = before.answer, after.answer
    if isinstance(one, float) and isinstance(other, float):
        # Relative, because bits per byte are near 1 and cycles reach the thousands.
        return isclose(one, other, rel_tol=TOLERANCE)
    return one == other


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactMatch(Task):
    """A task whose score is the share of answers that equal the label."""

    @override
    def score(self, answer: Answer, sample: Sample) -> float | None:
        """1 for the right answer, 0 for a wrong one; `None` without a label."""
        return None if sample.label is None else float(answer == sample.label)


def said_true_both(answer: Answer, sample: Sample, word: str) -> tuple[float, float, float] | None:
    """Whether the answer, the label and both are this word, as 0 or 1; `None` without a label."""
    if not sample.label:
        return None
    said, true = answer == word, sample.label == word
    return float(said), float(true), float(said and true)


def f1(columns: Sequence[Sequence[float]]) -> float | None:
    """The F1 of a word from columns of `said_true_both`; `None` if no label and no answer is that word."""
    said, true, hits = map(sum, columns)
    # 2 TP / (2 TP + FP + FN): each hit is one answer and one label, each error one of the two.
    return 2 * hits / (said + true) if said + true else None


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
    length = right_length = longest = 0
    for text, reference in pairs:
        words, right = _WORD.findall(text), _WORD.findall(reference)
        length, right_length = length + len(words), right_length + len(right)
        longest = max(longest, len(words), len(right))
        for size in range(1, LONGEST_RUN + 1):
            # The intersection of the counts clips: "a a a" hits the one "a" of its reference once only.
            runs, right_runs = _runs(words, size), _runs(right, size)
            hits[size - 1] += (runs & right_runs).total()
            totals[size - 1] += runs.total()
    sizes = min(LONGEST_RUN, longest)
    if smooth:
        hits, totals = ([counts[0], *(count + 1 for count in counts[1:])] for counts in (hits, totals))
    if not sizes or not all(hits[:sizes]):
        return 0.0
    logs = [log(hit / total) for hit, total in zip(hits[:sizes], totals[:sizes], strict=True)]
    # The brevity penalty (Papineni et al., section 2.3): precision alone favours texts that say little.
    return exp(sum(logs) / sizes + min(0.0, 1 - right_length / length))


def longest_shared(words: Sequence[str], others: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    # One row of the table is kept: `row[n]` is that of the words so far and `others[:n]`.
    row = [0] * (len(others) + 1)
    for word in words:
        corner = 0
        for place, against in enumerate(others, start=1):
            longest = corner + 1 if word == against else max(row[place], row[place - 1])
            corner, row[place] = row[place], longest
    return row[-1]


def _runs(words: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def _distance(text: str, other: str) -> int:
    """The Levenshtein distance."""
    # One row of the table is kept: `row[n]` is the distance of the letters so far to `other[:n]`.
    row = list(range(len(other) + 1))
    for number, letter in enumerate(text, start=1):
        corner, row[0] = row[0], number
        for place, against in enumerate(other, start=1):
            corner, row[place] = (
                row[place],
                min(row[place] + 1, row[place - 1] + 1, corner + (letter != against)),
            )
    return row[-1]
