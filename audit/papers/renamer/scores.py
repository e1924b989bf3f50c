"""How good such a network is: its mean error, as its task counts errors."""

from collections.abc import Callable
from random import Random
from typing import Final

import numpy as np
import torch
from torch import Tensor

from codeaudit.audit.papers.renamer.material import TermExamples
from codeaudit.audit.papers.renamer.network import TermBatch
from codeaudit.audit.training.trainer import Integers

AT_ONCE: Final = 256


@torch.no_grad()
def mean_error(
    network: Callable[[TermBatch], Tensor],
    examples: TermExamples,
    chosen: Integers | None = None,
    *,
    device: str = "cpu",
    renaming: Random | None = None,
) -> float:
    """The error on the chosen texts or on all, or on a legal renaming of each."""
    target = examples.task.target
    chosen = np.arange(len(examples)) if chosen is None else chosen
    ordered = chosen[np.argsort(examples.lengths[chosen], kind="stable")]
    total = 0.0
    for start in range(0, len(ordered), AT_ONCE):
        batch, labels = examples.batch(ordered[start : start + AT_ONCE], renaming)
        total += float(target.errors(network(batch.to(device)).float().cpu(), labels).sum())
    return total / len(ordered)
