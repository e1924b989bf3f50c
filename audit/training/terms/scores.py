"""How good such a network is: its mean absolute percentage error, beside that of rules without a network."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np
import torch
from torch import Tensor

from audit.nets.renamer import TermBatch
from audit.training.terms.material import Integers, TermExamples

AT_ONCE: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule's error on the test set."""

    name: str
    factor: float
    """What it answers, or multiplies by, chosen on the training set."""
    test: float


@torch.no_grad()
def mape(
    network: Callable[[TermBatch], Tensor],
    examples: TermExamples,
    chosen: Integers,
    *,
    device: str = "cpu",
    renaming: Random | None = None,
) -> float:
    """The error on the chosen blocks, or on a legal renaming of each."""
    ordered = chosen[np.argsort(examples.lengths[chosen], kind="stable")]
    total = 0.0
    for start in range(0, len(ordered), AT_ONCE):
        batch, labels = examples.batch(ordered[start : start + AT_ONCE], renaming)
        total += float(errors(network(batch.to(device)).float().cpu(), labels).sum())
    return total / len(ordered)


def errors(logs: Tensor, labels: Tensor) -> Tensor:
    """(B,) logarithms of the answers and (B,) labels y to (B,) errors |f - y| / y."""
    return (logs.exp() - labels).abs() / labels


def rules(train: TermExamples, test: TermExamples) -> tuple[Rule, ...]:
    """The best constant, and the best multiple of the number of instructions."""
    sizes = {"the best constant": _one, "a multiple of the instructions": _instructions}
    found = []
    for name, size in sizes.items():
        factor = _factor(size(train), train.labels.double().numpy())
        truth = test.labels.double().numpy()
        error = float(np.mean(np.abs(factor * size(test) - truth) / truth))
        found.append(Rule(name=name, factor=factor, test=error))
    return tuple(found)


def _one(examples: TermExamples) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.ones(len(examples))


def _instructions(examples: TermExamples) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    counts = [sum(term.view == ";" for term in one.terms) for one in examples.examples]
    return np.array(counts, dtype=np.float64)


def _factor(
    sizes: np.ndarray[tuple[int], np.dtype[np.float64]], labels: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> float:
    """The factor c with the least Σ |c·size - y| / y: the median of y / size, weighted with size / y."""
    ratios, weights = labels / sizes, sizes / labels
    order = np.argsort(ratios)
    half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
    return float(ratios[order][min(int(half), len(ratios) - 1)])
