"""How good a network is: F1 of sets of labels, and the threshold at which it is best.

Dimension key: B examples, K labels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import torch
from torch import Tensor

from codeaudit.audit.papers.lines.encoding import Relation
from codeaudit.audit.papers.lines.tasks import NAMING, Detection, LineTask
from codeaudit.audit.papers.lines.trunk import Batch
from codeaudit.audit.papers.spe_attention.examples import Examples
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
        """The one number to tell."""
        return self.micro

    @property
    def line(self) -> str:
        """In words."""
        return f"F1 {self.micro:.1%}"

    @property
    def worth(self) -> float:
        """By which weights are chosen."""
        return self.micro


@dataclass(frozen=True, slots=True, kw_only=True)
class BugScores:
    """How well bugs are told."""

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
        """As of names, with what tells a detector from one answer to everything."""
        return f"F1 {self.f1:.1%}, accuracy {self.accuracy:.1%}, {self.called_buggy:.1%} called buggy"

    @property
    def worth(self) -> float:
        """As of names: not the F1, which is high for one answer to everything."""
        return self.balanced


Scores: TypeAlias = NameScores | BugScores


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Logits beside the truth."""

    logits: Tensor
    """(B, K)."""
    truth: Tensor
    """(B, K) boolean."""
    wanted: Tensor
    """(B,) distinct subtokens of the name."""


@torch.no_grad()
def judged(
    network: Callable[[Batch], Tensor], examples: Examples, chosen: Integers, relation: Relation, labels: int
) -> Judged:
    """The logits of the chosen examples, computed in batches of like length."""
    ordered = chosen[np.argsort(examples.tokens[chosen], kind="stable")]
    logits, truth = [], []
    for start in range(0, len(ordered), AT_ONCE):
        some = ordered[start : start + AT_ONCE]
        logits.append(network(examples.batch(some, relation)).float())
        truth.append(examples.targets(some, labels) > 0)
    wanted = torch.from_numpy(examples.wanted[ordered])
    return Judged(logits=torch.cat(logits), truth=torch.cat(truth), wanted=wanted)


def scores(found: Judged, threshold: float, task: LineTask = NAMING) -> Scores:
    """The scores at a threshold."""
    return of_answers(task, task.decide(found.logits, threshold), found.truth, found.wanted)


def of_answers(task: LineTask, said: Tensor, truth: Tensor, wanted: Tensor) -> Scores:
    """The scores of (B, K) answers against the (B, K) truth; `wanted` as for `f1`."""
    return bugs(said[:, 0], truth[:, 0]) if isinstance(task, Detection) else f1(said, truth, wanted)


def f1(said: Tensor, truth: Tensor, wanted: Tensor) -> NameScores:
    """(B, K) answers against the (B, K) truth, of (B,) subtokens with the unknown ones."""
    hits = (said & truth).sum(1).double()
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


def tune(found: Judged, task: LineTask = NAMING) -> float:
    """The threshold with the best scores; the lowest of equal ones."""
    return max(task.thresholds, key=lambda threshold: (scores(found, threshold, task).worth, -threshold))
