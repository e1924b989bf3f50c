"""How good a network that reads terms is, beside rules without a network."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from codeaudit.audit.papers.renamer.material import TermExamples
from codeaudit.audit.papers.renamer.network import TermBatch
from codeaudit.audit.papers.renamer.tasks import Cost, Truth
from codeaudit.audit.papers.renamer.terms import Term, spelled
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


LEARNED: Final = 20_000
"""Examples that a regression is fitted to."""
PENALTY: Final = 1e-3
"""Of squared weights, on standardised counts."""
STEPS: Final = 200

Numbers: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TermRule:
    """A rule, and how good it is on the test set."""

    name: str
    test: float
    """Its score, as networks have it."""
    factor: float | None = None
    """The constant answer, or the factor, fitted to the training set."""


def rules(train: TermExamples, test: TermExamples) -> tuple[TermRule, ...]:
    """The rules of a task, fitted to the training set."""
    match train.task.target:
        case Cost():
            return _costs(train, test)
        case Truth():
            return _truths(train, test)


# ── costs ────────────────────────────────────────────────────────────────────────────────────────────────


def _costs(train: TermExamples, test: TermExamples) -> tuple[TermRule, ...]:
    """The best constant, and the best multiple of the number of instructions."""
    sizes = {"the best constant": _one, "a multiple of the instructions": _instructions}
    found = []
    for name, size in sizes.items():
        factor = _factor(size(train), train.labels.double().numpy())
        truth = test.labels.double().numpy()
        error = float(np.mean(np.abs(factor * size(test) - truth) / truth))
        found.append(TermRule(name=name, factor=factor, test=error))
    return tuple(found)


def _one(examples: TermExamples) -> Numbers:
    return np.ones(len(examples))


def _instructions(examples: TermExamples) -> Numbers:
    counts = [sum(term.view == ";" for term in one.terms) for one in examples.examples]
    return np.array(counts, dtype=np.float64)


def _factor(sizes: Numbers, labels: Numbers) -> float:
    """The factor c with the least Σ |c·size - y| / y: the median of y / size, weighted with size / y."""
    ratios, weights = labels / sizes, sizes / labels
    order = np.argsort(ratios)
    half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
    return float(ratios[order][min(int(half), len(ratios) - 1)])


# ── truths ───────────────────────────────────────────────────────────────────────────────────────────────


def _truths(train: TermExamples, test: TermExamples) -> tuple[TermRule, ...]:
    """The more frequent answer, and a logistic regression on how often each word stands on either side."""
    frequent = float(train.labels.mean() >= 0.5)
    words = {word: number for number, word in enumerate(sorted(train.task.language.words("names")))}
    table, labels = _counts(train, words)[:LEARNED], train.labels[:LEARNED]
    middle, width = table.mean(0), table.std(0) + 1e-9
    weights = _regression((table - middle) / width, labels)
    told = ((_counts(test, words) - middle) / width) @ weights[:-1] + weights[-1]
    return (
        TermRule(name="the more frequent answer", test=float((test.labels == frequent).double().mean())),
        TermRule(
            name="a regression on counts of words",
            test=float(((told > 0) == (test.labels > 0)).double().mean()),
        ),
    )


def _counts(examples: TermExamples, words: dict[str, int]) -> Tensor:
    """(N, 6 W + 2): of each word how often it stands on each side of the divider, whether it does, whether
    there are more on the right, and whether there are some there alone; then the lengths.
    """
    divider = examples.task.language.divider
    left, right = (np.zeros((len(examples), len(words) + 1)) for _ in range(2))
    for row, example in enumerate(examples.examples):
        place = next(n for n, term in enumerate(example.terms) if term.view == divider)
        for side, some in ((left, example.terms[:place]), (right, example.terms[place:])):
            _count(side[row], some, words)
    found = [left, right, left > 0, right > 0, right > left, (right > 0) & (left == 0)]
    return torch.from_numpy(np.hstack(found)).float()


def _count(row: Numbers, terms: Sequence[Term], words: dict[str, int]) -> None:
    for word in spelled(terms, "names"):
        if word in words:
            row[words[word]] += 1
    row[-1] = len(terms)


def _regression(table: Tensor, labels: Tensor) -> Tensor:
    """The weights of the columns, and the constant last."""
    weights = torch.zeros(table.shape[1] + 1, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=STEPS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimiser.zero_grad()
        told = table @ weights[:-1] + weights[-1]
        found = F.binary_cross_entropy_with_logits(told, labels) + PENALTY * weights.square().sum()
        found.backward()  # type: ignore[no-untyped-call]
        return found

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    return weights.detach()
