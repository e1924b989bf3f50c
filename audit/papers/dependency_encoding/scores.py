"""How well a decoder predicts: bits, and how often the most likely token is the right one."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from codeaudit.audit.papers.dependency_encoding.material import NOTHING, Windows
from codeaudit.audit.papers.dependency_encoding.streams import Integers
from codeaudit.audit.papers.dependency_encoding.trunk import Decoder


@dataclass(frozen=True, slots=True, kw_only=True)
class NextTokens:
    """What was predicted, summed up."""

    nats: float
    tokens: int
    right: int
    """Tokens that were the most likely ones."""
    bytes: int

    @property
    def perplexity(self) -> float:
        """exp of the mean nats of a token."""
        return math.exp(min(self.nats / max(1, self.tokens), 700.0))

    @property
    def accuracy(self) -> float:
        """The share of tokens that were the most likely ones."""
        return self.right / max(1, self.tokens)

    @property
    def bits_per_byte(self) -> float:
        """Of the text."""
        return self.nats / math.log(2) / max(1, self.bytes)

    def __add__(self, other: "NextTokens") -> "NextTokens":
        return NextTokens(
            nats=self.nats + other.nats,
            tokens=self.tokens + other.tokens,
            right=self.right + other.right,
            bytes=self.bytes + other.bytes,
        )

    def as_json(self) -> dict[str, float]:
        """For a card."""
        return {
            "bits_per_byte": self.bits_per_byte,
            "perplexity": self.perplexity,
            "accuracy": self.accuracy,
            "tokens": self.tokens,
        }


EMPTY = NextTokens(nats=0.0, tokens=0, right=0, bytes=0)


@torch.no_grad()
def judged(
    network: Decoder,
    windows: Windows,
    chosen: Integers | None = None,
    *,
    at_once: int = 16,
    device: str = "cpu",
) -> NextTokens:
    """Of the chosen windows, or of all."""
    chosen = np.arange(len(windows)) if chosen is None else chosen
    found = EMPTY
    for first in range(0, len(chosen), at_once):
        some = chosen[first : first + at_once]
        inputs, targets = windows.batch(some)
        told = of_logits(network(inputs.to(device)).float().cpu(), targets)
        found += NextTokens(nats=told.nats, tokens=told.tokens, right=told.right, bytes=windows.bytes(some))
    return found


def of_logits(logits: Tensor, targets: Tensor) -> NextTokens:
    """(…, V) logits against (…) tokens, `NOTHING` aside; bytes are left at 0."""
    real = targets != NOTHING
    nats = F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=NOTHING, reduction="sum")
    right = (logits.argmax(-1) == targets) & real
    return NextTokens(nats=float(nats), tokens=int(real.sum()), right=int(right.sum()), bytes=0)


@torch.no_grad()
def of_texts(
    network: Decoder, texts: Iterable[Sequence[int]], lengths: Integers, *, longest: int
) -> NextTokens:
    """Of texts, each alone behind a `start`; `lengths` are the bytes of each token. Longer ones are cut."""
    found = EMPTY
    for text in texts:
        ids = [network.sizes.start, *text[:longest]]
        if len(ids) > 1:
            row = torch.tensor([ids])
            told = of_logits(network(row[:, :-1]).float(), row[:, 1:])
            size = int(lengths[np.array(ids[1:])].sum())
            found += NextTokens(nats=told.nats, tokens=told.tokens, right=told.right, bytes=size)
    return found
