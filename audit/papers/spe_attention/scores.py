"""How good a network is: F1 of sets of labels, and the threshold at which it is best.

Dimension key: B examples, K labels, C words to copy.
"""

import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from codeaudit.audit.papers.lines.encoding import Relation
from codeaudit.audit.papers.lines.tasks import DETECTION, NAMING, Detection, LineTask
from codeaudit.audit.papers.lines.trunk import Batch
from codeaudit.audit.papers.spe_attention.material import Examples
from codeaudit.audit.training.trainer import Integers

AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class NameScores:
    """F1 two ways. Subtokens that are no labels count as missed."""

    micro: float
    """From hits, extras and misses summed over the examples."""
    macro: float
    """The mean of the examples' own."""
    count: int

    @property
    def told(self) -> float:
        """The one number to show."""
        return self.micro

    @property
    def line(self) -> str:
        """In words."""
        return f"F1 {self.micro:.1%}"

    @property
    def worth(self) -> float:
        """The number that chooses the weights."""
        return self.micro


@dataclass(frozen=True, slots=True, kw_only=True)
class BugScores:
    """How well bugs are detected."""

    f1: float
    """Of the class `buggy`."""
    balanced: float
    """The mean of both classes' F1: less than a half for one answer to everything."""
    accuracy: float
    called_buggy: float
    """The share of the answers that are `buggy`."""
    count: int

    @property
    def told(self) -> float:
        """As of names."""
        return self.f1

    @property
    def line(self) -> str:
        """As of names; accuracy and share also expose a detector with one answer to everything."""
        return f"F1 {self.f1:.1%}, accuracy {self.accuracy:.1%}, {self.called_buggy:.1%} called buggy"

    @property
    def worth(self) -> float:
        """As of names; not the F1, because one answer to everything has a high F1."""
        return self.balanced


Scores: TypeAlias = NameScores | BugScores


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLogits:
    """Logits beside the truth."""

    logits: Tensor
    """(B, K); with copying (B, K + C), minus infinity where an example has fewer words to copy."""
    truth: Tensor
    """Boolean, of the same shape."""
    wanted: Tensor
    """(B,) distinct subtokens of the name."""


@torch.no_grad()
def judged(
    network: Callable[[Batch], Tensor],
    examples: Examples,
    chosen: Integers,
    relation: Relation,
    labels: int,
    *,
    device: str = "cpu",
) -> JudgedLogits:
    """The logits of the chosen examples, computed in batches of like length."""
    ordered = chosen[np.argsort(examples.tokens[chosen], kind="stable")]
    logits, truth = [], []
    for start in range(0, len(ordered), AT_ONCE):
        some = ordered[start : start + AT_ONCE]
        logits.append(network(examples.batch(some, relation).to(device)).float().cpu())
        truth.append(examples.targets(some, labels) > 0)
    wanted = torch.from_numpy(examples.wanted[ordered])
    return JudgedLogits(logits=_joined(logits, -torch.inf), truth=_joined(truth, 0), wanted=wanted)


def _joined(parts: Sequence[Tensor], empty: float) -> Tensor:
    """(B, K + C) parts as one, where a part with fewer words to copy has `empty` for the others."""
    most = max(part.shape[1] for part in parts)
    return torch.cat([F.pad(part, (0, most - part.shape[1]), value=empty) for part in parts])


def scores(found: JudgedLogits, threshold: float, task: LineTask = NAMING) -> Scores:
    """The scores at a threshold."""
    return of_answers(task, task.decide(found.logits, threshold), found.truth, found.wanted)


def of_answers(task: LineTask, said: Tensor, truth: Tensor, wanted: Tensor) -> Scores:
    """The scores of (B, K) answers against the (B, K) truth; `wanted` as for `f1`."""
    return bugs(said[:, 0], truth[:, 0]) if isinstance(task, Detection) else f1(said, truth, wanted)


def f1(said: Tensor, truth: Tensor, wanted: Tensor) -> NameScores:
    """(B, K) answers against the (B, K) truth, of (B,) subtokens with the unknown ones."""
    hits = (said & truth).sum(1).double()
    # F1 = 2 hits / (said + wanted). `wanted` counts unknown subtokens too, so a small vocabulary of labels
    # cannot raise the score.
    total = said.sum(1).double() + wanted.double()
    return NameScores(
        micro=float(2 * hits.sum() / total.sum()), macro=float((2 * hits / total).mean()), count=len(said)
    )


def bugs(said: Tensor, truth: Tensor) -> BugScores:
    """(B,) answers against the (B,) truth; the F1 of a class that nobody has or names is 0."""
    hits, misses = int((said & truth).sum()), int((said != truth).sum())
    passes = len(said) - hits - misses
    buggy, clean = (2 * right / max(1, 2 * right + misses) for right in (hits, passes))
    return BugScores(
        f1=buggy,
        balanced=(buggy + clean) / 2,
        accuracy=(hits + passes) / len(said),
        called_buggy=float(said.double().mean()),
        count=len(said),
    )


def tune(found: JudgedLogits, task: LineTask = NAMING) -> float:
    """The threshold with the best scores; the lowest of equal ones."""
    return max(task.thresholds, key=lambda threshold: (scores(found, threshold, task).worth, -threshold))


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
        found = counts[ids] - first[ids] / (len(words) + 1)
        return np.where((counts[ids] > 0) & ~barred, found, -1.0)

    return _tuned("copied subtokens", rank, valid, test, len(ids))


def _tuned(name: str, rank: Rank, valid: Examples, test: Examples, labels: int) -> Baseline:
    on_valid = _answers(rank, valid)
    sizes = range(1, min(MOST, labels) + 1)
    # The size is chosen on validation data, as the network's threshold is.
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
    truth = examples.targets(range(len(examples)), labels)[:, :labels] > 0  # no baseline says other words
    return of_answers(NAMING, said, truth, torch.from_numpy(examples.wanted))


def always_buggy(test: Examples) -> Baseline:
    """A bug in every function."""
    truth = test.targets(range(len(test)), 1) > 0
    found = of_answers(DETECTION, torch.ones_like(truth), truth, torch.from_numpy(test.wanted))
    return Baseline(name="always buggy", test=found)


def longer(train: Examples, valid: Examples, test: Examples) -> Baseline:
    """A bug where a function has more, or fewer, tokens than the middle one of the training set."""
    # Buggy functions may simply be longer, so a detector has to beat the length alone.
    middle = np.median(train.tokens)

    def said(examples: Examples, *, more: bool) -> Scores:
        answers = torch.from_numpy((examples.tokens > middle) == more)[:, None]
        truth = examples.targets(range(len(examples)), 1) > 0
        return of_answers(DETECTION, answers, truth, torch.from_numpy(examples.wanted))

    more = said(valid, more=True).worth >= said(valid, more=False).worth
    return Baseline(name=f"{'long' if more else 'short'} functions", test=said(test, more=more))
