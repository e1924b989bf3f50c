"""What a network must beat: rules without any network, tuned on validation data where they have a choice."""

import keyword
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from codeaudit.audit.papers.lines.tasks import DETECTION, NAMING
from codeaudit.audit.papers.spe_attention.examples import Examples
from codeaudit.audit.papers.spe_attention.scores import Scores, of_answers

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
        first[words[::-1]] = np.arange(len(words))[::-1]
        found = counts[ids] - first[ids] / (len(words) + 1)
        return np.where((counts[ids] > 0) & ~barred, found, -1.0)

    return _tuned("copied subtokens", rank, valid, test, len(ids))


def _tuned(name: str, rank: Rank, valid: Examples, test: Examples, labels: int) -> Baseline:
    on_valid = _answers(rank, valid)
    sizes = range(1, min(MOST, labels) + 1)
    best = max(sizes, key=lambda size: _scores(on_valid, valid, size, labels).worth)
    return Baseline(name=name, subtokens=best, test=_scores(_answers(rank, test), test, best, labels))


def _answers(rank: Rank, examples: Examples) -> list[list[int]]:
    """The labels of each example, best first, as many as a baseline may say."""
    found = []
    for number in range(len(examples)):
        ranks = rank(examples, number)
        best = np.argsort(-ranks, kind="stable")[:MOST]
        found.append([int(label) for label in best if ranks[label] >= 0])
    return found


def _scores(answers: list[list[int]], examples: Examples, size: int, labels: int) -> Scores:
    said = torch.zeros(len(answers), labels, dtype=torch.bool)
    for row, answer in enumerate(answers):
        said[row, answer[:size]] = True
    truth = examples.targets(range(len(examples)), labels) > 0
    return of_answers(NAMING, said, truth, torch.from_numpy(examples.wanted))


def always_buggy(test: Examples) -> Baseline:
    """A bug in every function."""
    truth = test.targets(range(len(test)), 1) > 0
    found = of_answers(DETECTION, torch.ones_like(truth), truth, torch.from_numpy(test.wanted))
    return Baseline(name="always buggy", test=found)


def longer(train: Examples, valid: Examples, test: Examples) -> Baseline:
    """A bug where a function has more, or fewer, tokens than the middle one of the training set."""
    middle = np.median(train.tokens)

    def said(examples: Examples, *, more: bool) -> Scores:
        answers = torch.from_numpy((examples.tokens > middle) == more)[:, None]
        truth = examples.targets(range(len(examples)), 1) > 0
        return of_answers(DETECTION, answers, truth, torch.from_numpy(examples.wanted))

    more = said(valid, more=True).worth >= said(valid, more=False).worth
    return Baseline(name=f"{'long' if more else 'short'} functions", test=said(test, more=more))
