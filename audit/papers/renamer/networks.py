"""Renamer: transformers that are invariant to renaming ("Renamer", Ankner, Renda and Carbin).

Two changes to BERT (section 4): a term is embedded by its view, and in the first layer a term attends only to
terms with the same referent. So the input is the same for a text and its renamings, and equal inputs of
equal shape have bit-identical outputs. One layer alone would never mix terms with different referents, so
there must be two. Without the two changes this is the plain BERT of the paper's baselines.

`Renamer` is the paper's network for the paper's tasks. Two differences:

- In the first layer of Renamer an operand does not see the opcode that it belongs to. So the embedding of a
  term includes that of its context (for blocks the opcode and the operand's place), and positions count
  steps (instructions) where the language has them. The baselines get the same.
- Three readouts. `cls` is the paper's. With two layers its `<cls>` sees other terms in one layer only, so
  `sum` is the default: the exponentials of all terms' scores are added, as the costs of instructions are.
  `mean` averages the hidden states instead.

`Referents` applies the idea to functions, under the trunk that all networks that read lines share. The
order of the tokens is seen through absolute positions, as by the vanilla network.

Dimension key: B batch, T terms or tokens, D width, H heads, K labels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from codeaudit.audit.papers.lines.attention import HeadGroup, SameKind, attend, hidden_padding
from codeaudit.audit.papers.lines.trunk import (
    PAD,
    Batch,
    BiasedAttention,
    Groups,
    LineNetwork,
    LineShape,
    Projections,
    Trunk,
    feed_forward,
    score_type,
)
from codeaudit.audit.papers.renamer.terms import CONTEXT, Reading, TermInput

Readout: TypeAlias = Literal["sum", "mean", "cls"]
Counting: TypeAlias = Literal["steps", "terms"]

SPREAD: Final = 0.02
"""Standard deviation of BERT's initial weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermSizes:
    """The sizes of a network; the defaults are BERT-Tiny's."""

    vocabulary: int
    width: int = 128
    layers: int = 2
    heads: int = 2
    window: int = 128
    """Most terms of an input."""
    readout: Readout = "sum"
    dropout: float = 0.0
    inner: int | None = None
    """Inner width of the feed-forward branch; without one 4 D, as in BERT."""
    context: bool = True
    """Whether terms include their contexts; not in the paper, see above."""
    positions: Counting = "steps"
    """What positions count; in the paper `terms`."""


BERT: Final[Mapping[str, tuple[int, int, int]]] = {
    "tiny": (128, 2, 2),
    "mini": (256, 4, 4),
    "small": (512, 4, 8),
}
"""Width, layers and heads of the small BERT models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermBatch:
    """Padded inputs."""

    ids: Tensor
    """(B, T) ids of words, 0 for padding."""
    referents: Tensor
    """(B, T) equal for coreferential terms of a row, 0 for padding."""
    context: Tensor
    """(B, T, 2) ids of words, 0 for none."""
    steps: Tensor
    """(B, T) numbers of steps, 0 for padding."""

    def to(self, device: str) -> "TermBatch":
        """On another device."""
        return replace(self, **{name: getattr(self, name).to(device) for name in self.__slots__})

    def rows(self, chosen: Tensor) -> "TermBatch":
        """Some of the inputs; `chosen` is (B,) true for these."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in self.__slots__})


def collate(inputs: Sequence[TermInput]) -> TermBatch:
    """Inputs of any lengths, padded to the longest."""
    shape = len(inputs), max(len(encoded.ids) for encoded in inputs)
    ids, referents, steps = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    context = np.zeros((*shape, CONTEXT), dtype=np.int64)
    for row, encoded in enumerate(inputs):
        count = len(encoded.ids)
        ids[row, :count], referents[row, :count] = encoded.ids, encoded.referents
        context[row, :count], steps[row, :count] = encoded.context, encoded.steps
    ids_, referents_, context_, steps_ = map(torch.from_numpy, (ids, referents, context, steps))
    return TermBatch(ids=ids_, referents=referents_, context=context_, steps=steps_)


class BertLayer(nn.Module):
    """BERT's: normalised after each residual sum."""

    def __init__(self, width: int, heads: int, dropout: float, inner: int | None = None) -> None:
        super().__init__()
        self.projections = Projections(width, heads)
        self.after_attention = nn.LayerNorm(width)
        self.feed = feed_forward(width, inner)
        self.after_feed = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, groups: Groups) -> Tensor:
        """(B, T, D) and what the heads know, to (B, T, D)."""
        mixed = self.projections.join(attend(*self.projections.split(x), groups))
        # Normalised behind the sum, as in BERT, where the trunk of `lines` normalises before each branch.
        x = self.after_attention(x + self.dropout(mixed))
        fed: Tensor = self.after_feed(x + self.dropout(self.feed(x)))
        return fed


class Renamer(nn.Module):
    """BERT with one number for an answer; with `referents`, the first layer is bound to them."""

    def __init__(self, sizes: TermSizes, *, referents: bool) -> None:
        super().__init__()
        if sizes.layers < 2:
            raise ValueError("with one layer no term would see another; take two or more")
        if sizes.width % sizes.heads:
            raise ValueError(f"{sizes.heads} heads do not divide the width {sizes.width}")
        self.referents = referents
        self.heads, self.readout = sizes.heads, sizes.readout
        self.context, self.by_step = sizes.context, sizes.positions == "steps"
        self.words = nn.Embedding(sizes.vocabulary, sizes.width, padding_idx=PAD)
        self.positions = nn.Embedding(sizes.window, sizes.width)
        self.norm = nn.LayerNorm(sizes.width)
        self.dropout = nn.Dropout(sizes.dropout)
        self.layers = nn.ModuleList(
            BertLayer(sizes.width, sizes.heads, sizes.dropout, sizes.inner) for _ in range(sizes.layers)
        )
        self.head = nn.Linear(sizes.width, 1)
        self.apply(_initialise)

    def forward(self, batch: TermBatch) -> Tensor:
        """(B,) the logarithm of the answer."""
        # The context is not in the paper, see above. Its words are no names, so the input stays invariant.
        x = self.words(batch.ids)
        if self.context:
            x = x + self.words(batch.context).sum(2)
        steps = torch.arange(x.shape[1], device=x.device)[None]
        x = x + self.positions(batch.steps if self.by_step else steps)
        x = self.dropout(self.norm(x))
        real = batch.ids != PAD
        free = (HeadGroup(self.heads, hidden_padding(real, score_type(self.words.weight))),)
        bound = free
        if self.referents:
            # Padding is like padding only.
            bound = (HeadGroup(self.heads, SameKind(batch.referents).ready()),)
        # Section 4.1: A_jk = q_j k_k / √d where j and k are coreferential, else minus infinity, in the first
        # layer alone. Later layers see everything, or terms with different referents would never meet.
        for number, layer in enumerate(self.layers):
            x = layer(x, free if number else bound)
        return self._read(x, real)

    def _read(self, x: Tensor, real: Tensor) -> Tensor:
        """(B, T, D) to (B,)."""
        if self.readout == "cls":
            x = x[:, 0]
        elif self.readout == "mean":
            weight = real.to(x.dtype)
            x = torch.einsum("btd,bt->bd", x, weight) / weight.sum(1, keepdim=True)
        with torch.autocast(x.device.type, enabled=False):  # in bfloat16 a cost would be one of few
            scores: Tensor = self.head(x.to(self.head.weight.dtype)).squeeze(-1)
        # The log of Σ exp(score): a cost is the sum of the parts' costs, and the network answers its
        # logarithm.
        if self.readout == "sum":
            return scores.masked_fill(~real, -torch.inf).logsumexp(1)
        return scores


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=SPREAD)
    if isinstance(module, nn.Embedding) and module.padding_idx is not None:
        nn.init.zeros_(module.weight[module.padding_idx])
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


@dataclass(frozen=True, slots=True, kw_only=True)
class TermArchitecture:
    """A network of the paper. They differ in their reading and their training."""

    reading: Reading
    summary: str
    referents: bool = False
    """Whether the first layer is bound to coreferential terms."""
    augmented: bool = False
    """Whether every epoch shows another renaming of each text."""

    def make(self, sizes: TermSizes) -> Renamer:
        """A network with BERT's initial weights.

        Raises:
            ValueError: sizes that do not fit together.
        """
        return Renamer(sizes, referents=self.referents)


NETWORKS: Final[Mapping[str, TermArchitecture]] = {
    "renamer": TermArchitecture(
        reading="views",
        referents=True,
        summary="Renamer: views and referents, invariant to renaming",
    ),
    "vanilla": TermArchitecture(reading="names", summary="a plain BERT, which sees names"),
    "augmented": TermArchitecture(
        reading="names", augmented=True, summary="a plain BERT, trained on random renamings"
    ),
    "canonicalized": TermArchitecture(
        reading="first use", summary="a plain BERT, shown names in the order of first use"
    ),
}
"""The four models of tables 1 and 2."""


class Referents(LineNetwork):
    """The naming network with Renamer's reading and first layer."""

    def __init__(self, shape: LineShape) -> None:
        super().__init__()
        if shape.layers < 2:
            raise ValueError(f"Renamer needs at least 2 layers, got {shape.layers}")
        self.heads = shape.heads
        layers = count()  # the first attention takes the head groups of referents, the later ones of padding
        self.trunk = Trunk(shape, lambda: BiasedAttention(shape.width, shape.heads, min(next(layers), 1)))
        self.positions: nn.Embedding = nn.Embedding(shape.window, shape.width)

    def forward(self, batch: Batch) -> Tensor:
        """(B, K) logits of the labels.

        Raises:
            ValueError: the batch was made for a network that does not know variables.
        """
        places = torch.arange(batch.ids.shape[1], device=batch.ids.device)
        logits: Tensor = self.trunk(batch, self.positions(places)[None], self.relate)
        return logits

    def relate(self, batch: Batch, dtype: torch.dtype) -> tuple[Groups, Groups]:
        """The head groups of the first layer, bound to referents, and those of the later ones.

        Raises:
            ValueError: as of `forward`.
        """
        if batch.referents is None:
            raise ValueError("the batch has no referents; encode for the relation 'referents'")
        # A token that names no variable is coreferential with equal tokens, so the relation is on the
        # vocabulary. Variables are numbered from 1, so as negative numbers they are no word's.
        kind = torch.where(batch.referents > 0, -batch.referents, batch.ids)
        free = hidden_padding(batch.real, dtype)
        # Padding is like padding only.
        return (HeadGroup(self.heads, SameKind(kind).ready()),), (HeadGroup(self.heads, free),)
