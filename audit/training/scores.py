"""How good a network is: F1 of subtoken sets, and the threshold at which it is best.

Dimension key: B examples, K labels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor

from audit.features.lines import Relation
from audit.nets.decision import decide
from audit.nets.trunk import Batch
from audit.training.examples import Examples, Integers

THRESHOLDS: Final = tuple(round(-4 + step / 10, 1) for step in range(51))
"""Logits between which validation chooses."""
AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """F1 two ways. Subtokens that are no labels count as missed."""

    micro: float
    """From hits, extras and misses summed over the examples."""
    macro: float
    """The mean of the examples' own."""
    count: int


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


def scores(found: Judged, threshold: float) -> Scores:
    """The F1 at a threshold."""
    return f1(decide(found.logits, threshold), found.truth, found.wanted)


def f1(said: Tensor, truth: Tensor, wanted: Tensor) -> Scores:
    """(B, K) answers against the (B, K) truth, of (B,) subtokens with the unknown ones."""
    hits = (said & truth).sum(1).double()
    total = said.sum(1).double() + wanted.double()
    return Scores(
        micro=float(2 * hits.sum() / total.sum()), macro=float((2 * hits / total).mean()), count=len(said)
    )


def tune(found: Judged) -> float:
    """The threshold with the highest micro-averaged F1; the lowest of equal ones."""
    return max(THRESHOLDS, key=lambda threshold: (scores(found, threshold).micro, -threshold))
