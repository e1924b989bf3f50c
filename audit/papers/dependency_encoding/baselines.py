"""What is reached without a network: tables of how often a token stands anywhere, and behind another."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from codeaudit.audit.papers.dependency_encoding.material import NOTHING, StreamMaterial, byte_counts
from codeaudit.audit.papers.dependency_encoding.scores import NextTokens

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
