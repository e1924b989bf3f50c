"""What the kinds of models have in common: a network with what it reads, and what a kind has to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

import torch

from codeaudit.audit.models.hf.batches import Asked, Row, padded
from codeaudit.audit.models.hf.texts import Texts
from codeaudit.audit.records import Failed, Prediction, Query

KEPT: Final = 16
"""How many scores an answer carries."""
NOT_FINITE: Final = Failed(reason="scores that are not finite")


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A loaded network on its device, and its tokenizer."""

    name: str
    """As the user named the model, for messages."""
    network: Any
    texts: Texts
    device: str
    pad: int
    """The token that fills rows up; the mask hides it."""

    def tensors(
        self, rows: Sequence[Row], side: Literal["left", "right"] = "right"
    ) -> dict[str, torch.Tensor]:
        """Rows as the network takes them."""
        ids, mask = padded(rows, self.pad, side, self.device)
        return {"input_ids": ids, "attention_mask": mask}


class Head(Protocol):
    """How one kind of model answers."""

    @property
    def task(self) -> str | None:
        """The only task that it can answer; `None` where the query decides."""
        ...

    @property
    def decides(self) -> Mapping[str, object]:
        """What of it decides answers, besides the files of the model: for the fingerprint."""
        ...

    def ask(self, query: Query) -> Asked | Failed:
        """A query as tokens.

        Raises:
            ModelError: the model does not answer the query's task.
        """
        ...

    def answer(self, batch: Sequence[Asked]) -> list[Prediction]:
        """One prediction each, computed together."""
        ...

    def scores(self, rows: Sequence[Row]) -> torch.Tensor:
        """(B, K) the scores by which rows are answered, in float64 on the CPU: what noise is measured on."""
        ...


def ranked(labels: Sequence[str], scores: torch.Tensor) -> tuple[tuple[tuple[str, float], ...], float | None]:
    """The highest of a row of scores by label, and how far the second lies behind the first."""
    top = scores.topk(min(KEPT, len(labels)))
    values, indices = top.values.tolist(), top.indices.tolist()
    margin = values[0] - values[1] if len(values) > 1 else None
    return tuple(sorted((labels[index], value) for index, value in zip(indices, values, strict=True))), margin
