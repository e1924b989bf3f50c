"""Rules that read little, which a network has to beat.

Dimension key: B examples, V words, P pairs.
"""

import keyword
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import coo_array, csr_array
from scipy.special import expit

from codeaudit.audit.papers.lines.tasks import NAMING
from codeaudit.audit.papers.spe_attention.material import Examples
from codeaudit.audit.papers.spe_attention.scores import BugScores, Scores, bugs, of_answers, with_pairs

NEVER_COPIED: Final = frozenset({"self", "cls", *(word.lower() for word in keyword.kwlist)})
MOST: Final = 6
"""Subtokens per answer that are tried."""

Rank: TypeAlias = Callable[[Examples, int], npt.NDArray[np.float64]]
"""A score for every label, given one example."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A rule's result on the test set."""

    name: str
    test: Scores
    subtokens: int | None = None
    """How many it answers, chosen on the validation set; `None` where it has no choice."""


def most_frequent(train: Examples, valid: Examples, test: Examples, *, labels: int) -> Baseline:
    """Always the most frequent subtokens of the training names."""
    counts = np.bincount(train.labels, minlength=labels).astype(np.float64)
    return _tuned("most frequent subtokens", lambda examples, number: counts, valid, test, labels)


def copying(valid: Examples, test: Examples, *, tokens: Mapping[str, int]) -> Baseline:
    """The subtokens that stand most often in the function, the first of equally frequent ones; no keywords.

    `tokens` are the labels with their ids, in the order of the labels.
    """
    ids = np.array(list(tokens.values()), dtype=np.int64)
    barred = np.array([label in NEVER_COPIED for label in tokens])

    def rank(examples: Examples, number: int) -> npt.NDArray[np.float64]:
        words = examples.encoded(number, "none").ids
        size = int(max(words.max(), ids.max())) + 1
        counts = np.bincount(words, minlength=size)
        first = np.full(size, len(words))
        # Written from the end, so the first occurrence is what remains.
        first[words[::-1]] = np.arange(len(words))[::-1]
        # The second part is below 1, so it only orders words of one count.
        ranks = counts[ids] - first[ids] / (len(words) + 1)
        return np.where((counts[ids] > 0) & ~barred, ranks, -1.0)

    return _tuned("copied subtokens", rank, valid, test, len(ids))


def _tuned(name: str, rank: Rank, valid: Examples, test: Examples, labels: int) -> Baseline:
    on_valid = _answers(rank, valid)
    sizes = range(1, min(MOST, labels) + 1)
    # The size is chosen on validation data, as the network's threshold is.
    best = max(sizes, key=lambda size: _scores(on_valid, valid, size, labels).worth)
    return Baseline(name=name, subtokens=best, test=_scores(_answers(rank, test), test, best, labels))


def _answers(rank: Rank, examples: Examples) -> list[list[int]]:
    """The labels of each example, best first, as many as a baseline may say."""
    answers = []
    for number in range(len(examples)):
        ranks = rank(examples, number)
        best = np.argsort(-ranks, kind="stable")[:MOST]
        answers.append([int(label) for label in best if ranks[label] >= 0])
    return answers


def _scores(answers: list[list[int]], examples: Examples, size: int, labels: int) -> Scores:
    marks = torch.zeros(len(answers), labels, dtype=torch.bool)
    for row, answer in enumerate(answers):
        marks[row, answer[:size]] = True
    truth = examples.targets(range(len(examples)), labels)[:, :labels] > 0  # no baseline says other words
    return of_answers(NAMING, marks, truth, torch.from_numpy(examples.wanted))


def always_buggy(test: Examples) -> Baseline:
    """A bug in every function."""
    return Baseline(name="always buggy", test=_bugs(np.ones(len(test)), test))


def longer(train: Examples, valid: Examples, test: Examples) -> Baseline:
    """A bug where a function has more, or fewer, tokens than the middle one of the training set."""
    # Buggy functions may simply be longer, so a detector has to beat the length alone.
    middle = np.median(train.tokens)

    def scores_of(examples: Examples, *, more: bool) -> BugScores:
        return _bugs((examples.tokens - middle) if more else (middle - examples.tokens + 0.5), examples)

    more = scores_of(valid, more=True).worth >= scores_of(valid, more=False).worth
    return Baseline(name=f"{'long' if more else 'short'} functions", test=scores_of(test, more=more))


STRENGTHS: Final = (1e-4, 1e-3, 1e-2, 1e-1)
"""Weights of the squared norm that are tried."""


def counts_alone(train: Examples, valid: Examples, test: Examples) -> Baseline:
    """A logistic regression on log(1 + count) of each word: a detector that reads no order has no more.

    The weight of its squared norm is the one with the best validation score.
    """
    from scipy.optimize import minimize  # takes half a second

    width = int(max(split.ids.max() for split in (train, valid, test))) + 1
    inputs, truth = _counts(train, width), np.where(train.known > 0, 1.0, -1.0)

    def fitted(strength: float) -> npt.NDArray[np.float64]:
        def loss(weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
            margins = truth * (inputs @ weights[1:] + weights[0])
            slopes = -truth * expit(-margins) / len(truth)
            value = np.logaddexp(0, -margins).mean() + strength / 2 * weights[1:] @ weights[1:]
            return value, np.concatenate([[slopes.sum()], inputs.T @ slopes + strength * weights[1:]])

        optimum = minimize(loss, np.zeros(width + 1), jac=True, method="L-BFGS-B", options={"maxiter": 300})
        return np.asarray(optimum.x)

    def reached(weights: npt.NDArray[np.float64], split: Examples) -> BugScores:
        return _bugs(_counts(split, width) @ weights[1:] + weights[0], split)

    best = max(map(fitted, STRENGTHS), key=lambda weights: reached(weights, valid).worth)
    return Baseline(name="counts of words", test=reached(best, test))


def _counts(examples: Examples, width: int) -> csr_array:
    """(B, V) log(1 + count) of each word."""
    row = np.repeat(np.arange(len(examples)), examples.tokens)
    counts = coo_array((np.ones(len(row)), (row, examples.ids)), shape=(len(examples), width)).tocsr()
    counts.data = np.log1p(counts.data)
    return counts


def _bugs(values: npt.ArrayLike, examples: Examples) -> BugScores:
    """The scores of calling a function buggy where its (B,) value is above 0."""
    scores = torch.from_numpy(np.asarray(values, dtype=np.float64))
    pairs = torch.from_numpy(examples.pairs(range(len(examples))))
    return with_pairs(bugs(scores > 0, torch.from_numpy(examples.known > 0)), scores, pairs)
