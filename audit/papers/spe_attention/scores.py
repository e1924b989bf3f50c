"""How good a network is: F1 of sets of labels, and the threshold at which it is best.

Dimension key: B examples, K labels, C words to copy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from codeaudit.audit.papers.lines.encoding import Relation
from codeaudit.audit.papers.lines.tasks import NAMING, Detection, LineTask
from codeaudit.audit.papers.lines.trunk import Batch
from codeaudit.audit.papers.spe_attention.material import Examples
from codeaudit.audit.papers.spe_attention.twins import pairs_right
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
    def headline(self) -> float:
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
    pairs_right: float | None = None
    """The share of twins whose buggy one has the higher logit; `None` without twins."""
    pairs: int = 0

    @property
    def headline(self) -> float:
        """The one number to show."""
        return self.f1

    @property
    def line(self) -> str:
        """In words. Accuracy and share also expose a detector with one answer to everything."""
        text = f"F1 {self.f1:.1%}, accuracy {self.accuracy:.1%}, {self.called_buggy:.1%} called buggy"
        if self.pairs_right is not None:
            text += f", {self.pairs_right:.1%} of {self.pairs:,} pairs right"
        return text

    @property
    def worth(self) -> float:
        """Chooses the weights: balanced accuracy, because a constant answer can reach a high F1."""
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
    twins: Tensor | None = None
    """(P, 2) places of twins, the clean one first; `None` where the task has none."""


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
        part = ordered[start : start + AT_ONCE]
        logits.append(network(examples.batch(part, relation).to(device)).float().cpu())
        truth.append(examples.targets(part, labels) > 0)
    return JudgedLogits(
        logits=_joined(logits, -torch.inf),
        truth=_joined(truth, 0),
        wanted=torch.from_numpy(examples.wanted[ordered]),
        twins=torch.from_numpy(examples.pairs(ordered)),
    )


def _joined(parts: Sequence[Tensor], empty: float) -> Tensor:
    """(B, K + C) parts as one, where a part with fewer words to copy has `empty` for the others."""
    most = max(part.shape[1] for part in parts)
    return torch.cat([F.pad(part, (0, most - part.shape[1]), value=empty) for part in parts])


def scores(outputs: JudgedLogits, threshold: float, task: LineTask = NAMING) -> Scores:
    """The scores at a threshold."""
    reached = of_answers(task, task.decide(outputs.logits, threshold), outputs.truth, outputs.wanted)
    if outputs.twins is None or isinstance(reached, NameScores):
        return reached
    return with_pairs(reached, outputs.logits[:, 0], outputs.twins)


def with_pairs(reached: BugScores, values: Tensor, twins: Tensor) -> BugScores:
    """The scores with those of (P, 2) pairs, by (B,) values that are higher for bugs."""
    return replace(reached, pairs_right=pairs_right(values, twins), pairs=len(twins))


def of_answers(task: LineTask, answers: Tensor, truth: Tensor, wanted: Tensor) -> Scores:
    """The scores of (B, K) answers against the (B, K) truth; `wanted` as for `f1`."""
    return bugs(answers[:, 0], truth[:, 0]) if isinstance(task, Detection) else f1(answers, truth, wanted)


def f1(answers: Tensor, truth: Tensor, wanted: Tensor) -> NameScores:
    """(B, K) answers against the (B, K) truth, of (B,) subtokens with the unknown ones."""
    hits = (answers & truth).sum(1).double()
    # F1 = 2 hits / (answers + wanted). `wanted` counts unknown subtokens too, so a small vocabulary of labels
    # cannot raise the score.
    total = answers.sum(1).double() + wanted.double()
    return NameScores(
        micro=float(2 * hits.sum() / total.sum()), macro=float((2 * hits / total).mean()), count=len(answers)
    )


def bugs(answers: Tensor, truth: Tensor) -> BugScores:
    """(B,) answers against the (B,) truth; the F1 of a class that nobody has or names is 0."""
    hits, misses = int((answers & truth).sum()), int((answers != truth).sum())
    passes = len(answers) - hits - misses
    buggy, clean = (2 * right / max(1, 2 * right + misses) for right in (hits, passes))
    return BugScores(
        f1=buggy,
        balanced=(buggy + clean) / 2,
        accuracy=(hits + passes) / len(answers),
        called_buggy=float(answers.double().mean()),
        count=len(answers),
    )


def tune(outputs: JudgedLogits, task: LineTask = NAMING) -> float:
    """The threshold with the best scores; the lowest of equal ones."""
    return max(task.thresholds, key=lambda threshold: (scores(outputs, threshold, task).worth, -threshold))
