"""The protocol of heads, which turn a network's outputs into answers, and the network that they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

import torch

from codeaudit.audit.models.hf.batches import Row, TokenizedQuery, padded
from codeaudit.audit.models.hf.texts import WindowedTokenizer
from codeaudit.audit.records import Failed, Prediction, Query

KEPT: Final = 16
"""Largest number of scores that an answer carries."""
NOT_FINITE: Final = Failed(reason="scores that are not finite")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedNetwork:
    """A loaded network on its device, and its tokenizer."""

    name: str
    """The SPEC of the model, for messages."""
    network: Any
    texts: WindowedTokenizer
    device: str
    pad: int
    """The token that pads rows; the attention mask hides it."""

    def tensors(
        self, rows: Sequence[Row], side: Literal["left", "right"] = "right"
    ) -> dict[str, torch.Tensor]:
        """The inputs of the network for these rows; `side` is that of the padding."""
        ids, mask = padded(rows, self.pad, side, self.device)
        return {"input_ids": ids, "attention_mask": mask}


class Head(Protocol):
    """Turns queries into rows of tokens, and the network's outputs into answers."""

    kind: str
    """Its name in fingerprints, which must never change, because cached answers would be lost."""

    @property
    def task(self) -> str | None:
        """The only task that it can answer; `None` if it can answer several."""
        ...

    @property
    def decides(self) -> Mapping[str, object]:
        """Everything except the model's files that decides answers, for the fingerprint."""
        ...

    def ask(self, query: Query) -> TokenizedQuery | Failed:
        """The query as tokens, or why it has no answer.

        Raises:
            ModelError: the model does not answer the query's task.
        """
        ...

    def answer(self, batch: Sequence[TokenizedQuery]) -> list[Prediction]:
        """One prediction per query, computed in one batch."""
        ...

    def scores(self, rows: Sequence[Row]) -> torch.Tensor:
        """(B, K) the scores that decide the answers, in float64 on the CPU. Noise is measured on them."""
        ...


def ranked(labels: Sequence[str], scores: torch.Tensor) -> tuple[tuple[tuple[str, float], ...], float | None]:
    """The highest scores by label, and the difference between the first and the second."""
    top = scores.topk(min(KEPT, len(labels)))
    values, indices = top.values.tolist(), top.indices.tolist()
    margin = values[0] - values[1] if len(values) > 1 else None
    return tuple(sorted((labels[index], value) for index, value in zip(indices, values, strict=True))), margin
