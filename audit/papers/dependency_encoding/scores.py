"""How well a decoder predicts: bits, and how often the most likely token is the right one."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from codeaudit.audit.papers.dependency_encoding.material import NOTHING, StreamMaterial, Windows, byte_counts
from codeaudit.audit.papers.dependency_encoding.streams import Integers
from codeaudit.audit.papers.dependency_encoding.trunk import Decoder


@dataclass(frozen=True, slots=True, kw_only=True)
class NextTokens:
    """Sums over predicted tokens."""

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
    """(…, V) logits against (…) tokens, without `NOTHING`; bytes stay 0."""
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


BLEND: Final = 5.0
"""As how many sightings tokens alone count beside those behind a token."""
SMOOTHING: Final = 0.5
"""Sightings that every token gets for nothing."""

Counts = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRule:
    """A rule, and how good it is on the test texts."""

    name: str
    test: NextTokens

    def as_json(self) -> dict[str, object]:
        """For a card."""
        return {"name": self.name, "test": self.test.as_json()}


def rules(material: StreamMaterial) -> tuple[StreamRule, ...]:
    """How often tokens stand anywhere, and behind the one before, counted in the training windows."""
    size = material.streams.vocabulary
    alone = np.full(size, SMOOTHING)
    after: Counts = np.zeros((size, size))
    for row in material.train.rows:
        real = row[row != NOTHING]
        np.add.at(alone, real[1:], 1)
        np.add.at(after, (real[:-1], real[1:]), 1)
    alone /= alone.sum()
    seen = after.sum(1, keepdims=True)
    blended: Counts = (after + BLEND * alone) / (seen + BLEND)
    texts = [[material.streams.start, *text] for text in material.test]
    lengths = byte_counts(material.streams)
    everywhere = np.broadcast_to(alone, after.shape)
    return (
        StreamRule(name="frequencies of tokens", test=_told(everywhere, texts, lengths)),
        StreamRule(name="frequencies of pairs of tokens", test=_told(blended, texts, lengths)),
    )


def _told(table: Counts, texts: Iterable[Sequence[int]], lengths: npt.NDArray[np.int64]) -> NextTokens:
    """`table` has the probability of each token behind each."""
    pairs = np.array([pair for text in texts for pair in pairwise(text)]).reshape(-1, 2)
    best = table.argmax(1)
    return NextTokens(
        nats=float(-np.log(table[pairs[:, 0], pairs[:, 1]]).sum()),
        tokens=len(pairs),
        right=int((best[pairs[:, 0]] == pairs[:, 1]).sum()),
        bytes=int(lengths[pairs[:, 1]].sum()),
    )
