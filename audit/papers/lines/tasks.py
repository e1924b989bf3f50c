"""The tasks of the networks that read lines: the labels to learn, and the answers that chosen labels mean.

A network gives a logit for each label. A name is a set of subtokens, so any number of labels is chosen. For
bugs there is one label, and choosing none is an answer, too.

Dimension key: B batch, K labels.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import torch
from torch import Tensor

from codeaudit.audit.papers.lines.trunk import Pooling
from codeaudit.audit.records import Answer
from codeaudit.audit.tasks.error_detection import BUGGY, CLEAN, ERROR_DETECTION
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.transforms.errors import CorpusError

THRESHOLDS: Final = tuple(round(-4 + step / 10, 1) for step in range(51))
"""Logits between which validation chooses."""
MARK: Final = "<buggy>"
"""The label of a function with a bug. No word of code is spelled so."""


@dataclass(frozen=True, slots=True)
class Naming:
    """Names: those labels that are above a threshold, or the best one."""

    name: str = FUNCTION_NAME.name
    thresholds: tuple[float, ...] = THRESHOLDS
    """The candidates of validation."""
    pooling: Pooling = "mean"
    """How a network's tokens become its answer: a name is about all of a function."""

    def truth(self, label: Answer | None) -> tuple[str, ...] | None:
        """A sample's label as labels of the network; `None` for a sample without one."""
        return tuple(sorted(set(map(str, label)))) if isinstance(label, tuple) else None

    def labels(self, truths: Collection[tuple[str, ...]], *, rarest: int) -> tuple[str, ...]:
        """The subtokens of at least `rarest` names, in alphabetical order.

        Raises:
            CorpusError: there is none.
        """
        counts = Counter(part for truth in truths for part in truth)
        found = tuple(sorted(part for part, count in counts.items() if count >= rarest))
        if not found:
            raise CorpusError(
                f"no subtoken stands in {rarest} of the {len(truths)} names; take a larger corpus, "
                "or a smaller --rarest-label"
            )
        return found

    def decide(self, logits: Tensor, threshold: float) -> Tensor:
        """(B, K) to a (B, K) mask of the chosen labels."""
        return decide(logits, threshold)

    def margin(self, logits: Tensor, threshold: float) -> Tensor:
        """(B, K) to (B,): by how much all logits may move without another choice."""
        return margin(logits, threshold)

    def answer(self, chosen: Sequence[str]) -> Answer:
        """The answer that the chosen labels mean."""
        return tuple(sorted(chosen))

    def shown(self, label: str) -> str:
        """The name of a label in the scores of an answer."""
        return label


@dataclass(frozen=True, slots=True)
class Detection:
    """Bugs: one label, chosen where its logit is above 0, which is a probability of a half.

    A threshold tuned for F1 would call everything buggy as long as a network knows little: that reaches two
    thirds on balanced data.
    """

    name: str = ERROR_DETECTION.name
    thresholds: tuple[float, ...] = (0.0,)
    """No choice."""
    pooling: Pooling = "votes"
    """A bug is at one place."""

    def truth(self, label: Answer | None) -> tuple[str, ...] | None:
        """As `Naming.truth`."""
        return {BUGGY: (MARK,), CLEAN: ()}.get(label) if isinstance(label, str) else None

    def labels(self, truths: Collection[tuple[str, ...]], *, rarest: int) -> tuple[str, ...]:
        """The one label.

        Raises:
            CorpusError: all functions are buggy, or all clean.
        """
        if len(set(truths)) < 2:
            raise CorpusError("a detector needs functions with bugs and functions without; there is one kind")
        return (MARK,)

    def decide(self, logits: Tensor, threshold: float) -> Tensor:
        """As `Naming.decide`."""
        return logits > threshold

    def margin(self, logits: Tensor, threshold: float) -> Tensor:
        """As `Naming.margin`."""
        return (logits - threshold).abs().amin(1)

    def answer(self, chosen: Sequence[str]) -> Answer:
        """As `Naming.answer`."""
        return BUGGY if chosen else CLEAN

    def shown(self, label: str) -> str:
        """As `Naming.shown`."""
        return BUGGY


def decide(logits: Tensor, threshold: float) -> Tensor:
    """(B, K) to a (B, K) mask of the chosen labels; of equal best ones the first in the alphabet's order."""
    best = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, logits.argmax(1, keepdim=True), True)
    return (logits > threshold) | best


def margin(logits: Tensor, threshold: float) -> Tensor:
    """(B, K) to (B,).

    With two or more labels above the threshold t, one logit must cross it. With one or none the answer is
    the best label alone, and changes when the second crosses t, or when it overtakes the best below t.
    """
    if logits.shape[1] == 1:
        return torch.full_like(logits[:, 0], torch.inf)
    first, second = logits.topk(2, dim=1).values.unbind(1)
    crossing = (logits - threshold).abs().amin(1)
    overtaking = torch.maximum((first - second) / 2, first - threshold)
    alone = torch.minimum(threshold - second, overtaking)
    return torch.where(second > threshold, crossing, alone)


LineTask: TypeAlias = Naming | Detection
NAMING: Final = Naming()
DETECTION: Final = Detection()
TASKS: Final[Mapping[str, LineTask]] = {task.name: task for task in (NAMING, DETECTION)}
