"""The tasks of the networks that read terms: their language, and the meaning of the network's one number.

The number is the logarithm of a cost, or the log-odds of a truth. Each meaning has a loss for training, an
error that judges weights (lower is better), and a score for people.

Dimension key: B batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from torch import Tensor
from torch.nn import functional as F

from codeaudit.audit.papers.renamer.blocks import BLOCKS
from codeaudit.audit.papers.renamer.pairs import PAIRS
from codeaudit.audit.papers.renamer.terms import TermLanguage
from codeaudit.audit.records import Answer, Predicted
from codeaudit.audit.tasks.derivative import DERIVATIVE, FALSE, TRUE
from codeaudit.audit.tasks.throughput import THROUGHPUT

LOG: Final = "log"
"""The one score of a cost: the logarithm of the answer. Its change is the relative change of the answer."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A positive number, learned by its mean absolute percentage error."""

    score_name: str = "MAPE"

    def label(self, label: Answer | None) -> float | None:
        """A sample's label as a number."""
        return label if isinstance(label, float) else None

    def losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """(B,) outputs and (B,) labels y to (B,) errors |f - y| / y."""
        return (outputs.exp() - labels).abs() / labels

    def errors(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """The same: the loss is the error."""
        return self.losses(outputs, labels)

    def score(self, error: float) -> float:
        """The mean error."""
        return error

    def outputs(self, labels: Tensor) -> Tensor:
        """(B,) labels to the (B,) outputs that would be right."""
        return labels.log()

    def predicted(self, output: Tensor) -> Predicted:
        """The answer to one text."""
        return Predicted(answer=float(output.exp()), scores=((LOG, float(output)),))


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false`, learned by cross entropy; the error is the share of wrong answers."""

    score_name: str = "accuracy"

    def label(self, label: Answer | None) -> float | None:
        """A sample's label as a number: 1 for `true`, 0 for `false`."""
        return {TRUE: 1.0, FALSE: 0.0}.get(label) if isinstance(label, str) else None

    def losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """(B,) log-odds and (B,) labels to (B,) cross entropies."""
        return F.binary_cross_entropy_with_logits(outputs, labels, reduction="none")

    def errors(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """(B,) log-odds and (B,) labels to 1 where the answer is wrong, else 0."""
        return ((outputs > 0) != (labels > 0)).float()

    def score(self, error: float) -> float:
        """The share of right answers."""
        return 1 - error

    def outputs(self, labels: Tensor) -> Tensor:
        """(B,) labels to where a network begins: undecided."""
        return labels * 0

    def predicted(self, output: Tensor) -> Predicted:
        """The answer to one text, with the log-odds of both answers."""
        odds = float(output)
        answer = TRUE if odds > 0 else FALSE
        return Predicted(answer=answer, scores=((FALSE, -odds), (TRUE, odds)), margin=abs(odds))


Target: TypeAlias = Cost | Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class TermTask:
    """One task."""

    language: TermLanguage
    target: Target
    noun: str
    """Its texts, in the plural."""


TASKS: Final[Mapping[str, TermTask]] = {
    THROUGHPUT.name: TermTask(language=BLOCKS, target=Cost(), noun="blocks"),
    DERIVATIVE.name: TermTask(language=PAIRS, target=Truth(), noun="pairs"),
}
