"""CoDE: a decoder that knows lines and what they do, not positions ("Beyond Sequences", Zhang et al.).

The first layers see one line at a time (section 3.1), one layer sees everything, and in the others every line
has a dependency encoding, made from the state of its anchor (section 3.2):

    c_r = ReLU(E h_a + b),   d_r = D c_r,   d_i = log_m(max(l_i, m)) · d_r      for a token i of line r

with h the normed states, a the anchor of line r, m the training length, and l_i the position of token i from
1. With the four scores, each divided by sqrt(K),

    (a) q(h_i) · k(h_j)   (b) q(h_i) · k(d_j)   (c) q(d_i) · k(h_j)   (d) q(d_i) · k(d_j)

attention is softmax((a) + (b) + (c) + MLP([a | b | c | d])), and values are made of h + d. The MLP works on
each pair of tokens and mixes the heads: 4H -> 4H -> H.

Where the paper is silent or slips:

- PACE: "clip(l, m) … capped at a maximum of m" would make the factor at most 1, and 1 beyond the training
  length. Table 7 has no change within it and one beyond, so m is a lower bound here.
- x <- x + d is local: queries, keys and values have it, the stream does not (`residual_add` adds it there).
- The dictionary has no reconstruction loss, and its L1 term can be escaped by larger columns of D, which
  `unit_columns` forbids.
- MLP: of width 4H with GELU, and its last layer starts at zero.
- `direct` (the ablation "w (d)") adds (d) to the other three and keeps the MLP.

No network of these is invariant to the order of lines: anchors and causality depend on it.

Dimension key as in `trunk`; R rows, which are some of the new tokens.
"""

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from codeaudit.audit.papers.dependency_encoding.positions import PositionedAttention
from codeaudit.audit.papers.dependency_encoding.trunk import (
    Decoder,
    DecoderAttention,
    DecoderSizes,
    Memory,
    Rows,
    TokenPlaces,
)


class Dictionary(nn.Module):
    """c = ReLU(E h + b) and d = D c."""

    def __init__(self, sizes: DecoderSizes, *, unit_columns: bool = False) -> None:
        super().__init__()
        self.unit_columns = unit_columns
        self.encode = nn.Linear(sizes.width, sizes.features)
        self.decode = nn.Parameter(torch.empty(sizes.width, sizes.features))
        nn.init.normal_(self.decode, std=sizes.features**-0.5)
        nn.init.normal_(self.encode.weight, std=sizes.width**-0.5)
        nn.init.zeros_(self.encode.bias)

    @property
    def columns(self) -> Tensor:
        """(D, C) one column for each feature."""
        return F.normalize(self.decode, dim=0) if self.unit_columns else self.decode

    def forward(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """(…, D) anchors to (…, C) features and (…, D) encodings."""
        features = F.relu(self.encode(h))
        return features, F.linear(features, self.columns)


class Mixer(nn.Module):
    """The MLP over the scores of a pair of tokens: 4H -> 4H -> H."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.inward = nn.Linear(4 * heads, 4 * heads)
        self.outward = nn.Linear(4 * heads, heads)
        nn.init.zeros_(self.outward.weight)
        nn.init.zeros_(self.outward.bias)

    def forward(self, scores: Tensor) -> Tensor:
        """(B, 4H, R, S) to (B, H, R, S)."""
        inner = F.gelu(_each(self.inward, scores.flatten(2)))
        return _each(self.outward, inner).view(len(scores), -1, *scores.shape[2:])


def _each(layer: nn.Linear, x: Tensor) -> Tensor:
    """(B, I, N) to (B, O, N). Batched, it takes half the time of `weight @ x`, which copies x first."""
    return torch.baddbmm(layer.bias[None, :, None], layer.weight.expand(len(x), -1, -1), x)


class LineAttention(DecoderAttention):
    """Attention with dependency encodings of lines (section 3.2)."""

    def __init__(
        self,
        sizes: DecoderSizes,
        *,
        pace: bool = True,
        mixer: bool = True,
        direct: bool = False,
        residual_add: bool = False,
        unit_columns: bool = False,
    ) -> None:
        super().__init__(sizes)
        if sizes.window < 2:
            raise ValueError("PACE needs a training length of 2 or more")
        self.window, self.pace, self.direct, self.residual_add = sizes.window, pace, direct, residual_add
        self.dictionary = Dictionary(sizes, unit_columns=unit_columns)
        self.mixer = Mixer(sizes.heads) if mixer else None

    def forward(self, h: Tensor, places: TokenPlaces, memory: Memory) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        d = self._encodings(h, places, memory)
        queries = [
            self.split(self.query(one)) * (self.query.in_features // self.heads) ** -0.5 for one in (h, d)
        ]
        keys = [
            memory.extended(name, self.split(self.key(one)))
            for name, one in (("key", h), ("key of encoding", d))
        ]
        value = memory.extended("value", self.split(self.value(h + d)))
        each = len(h) * self.heads * (9 if self.mixer is not None else 4)
        mixed = [
            self._scores(queries, keys, places, rows).softmax(-1) @ value[:, :, : rows.seen]
            for rows in places.rows(each, self.budget)
        ]
        out = self.join(torch.cat(mixed, 2))
        return out + d if self.residual_add else out

    def enhancement(self, positions: Tensor) -> Tensor:
        """PACE: (T,) positions from 0 to log_m(max(l, m)), which is 1 within the training length."""
        if not self.pace:
            return torch.ones_like(positions, dtype=torch.float32)
        return (positions + 1).clamp(min=self.window).float().log() / math.log(self.window)

    def _encodings(self, h: Tensor, places: TokenPlaces, memory: Memory) -> Tensor:
        """(B, T, D) of the new tokens; each token's as an anchor is remembered."""
        features, own = self.dictionary(h)
        places.codes.append(features)
        known = memory.extended("encoding", own)
        anchors = places.anchors[:, places.before :, None].expand(-1, -1, known.shape[-1])
        factor = self.enhancement(places.positions[places.before :]).to(known.dtype)
        return known.gather(1, anchors) * factor[:, None]

    def _scores(self, queries: list[Tensor], keys: list[Tensor], places: TokenPlaces, rows: Rows) -> Tensor:
        """(B, H, R, S), minus infinity after the row."""
        some, seen = [one[:, :, rows.new] for one in queries], [one[:, :, : rows.seen] for one in keys]
        a, b, c, d = (query @ key.transpose(-2, -1) for query in some for key in seen)
        scores = a + b + c
        if self.direct:
            scores = scores + d
        if self.mixer is not None:
            scores = scores + self.mixer(torch.cat((a, b, c, d), 1))
        return scores.masked_fill(~places.allowed(rows, in_line=False), -torch.inf)


def code(
    sizes: DecoderSizes, *, in_line: int = 1, plain: int = 1, in_line_mask: bool = True, **variant: bool
) -> Decoder:
    """CoDE with `in_line` in-line layers, then `plain` causal ones, then line-wise ones.

    The paper's table 5 has one plain layer in the model of 71 M weights (2 + 1 + 5), and none in that of 10 M
    (1 + 3). Without the `in_line_mask` (the ablation "w/o In-line Modeling") the first layers see everything.
    The other options are those of `LineAttention`.

    Raises:
        ValueError: sizes that do not fit together.
    """
    if sizes.layers <= in_line + plain:
        raise ValueError(f"{sizes.layers} layers leave no line-wise one; take {in_line + plain + 1} or more")
    first = partial(PositionedAttention, sizes, in_line=in_line_mask)
    rest = partial(LineAttention, sizes, **variant)
    whole = partial(PositionedAttention, sizes)
    return Decoder(sizes, [first] * in_line + [whole] * plain + [rest] * (sizes.layers - in_line - plain))


def sparsity(places: TokenPlaces, real: Tensor) -> Tensor:
    """The L1 term: the mean over line-wise layers and lines of Σ |c|; 0 without line-wise layers.

    `real` is (B, T), false for padding. Within the training length PACE leaves features as they are.
    """
    if not places.codes:
        return real.new_zeros((), dtype=torch.float32)
    ends = places.ends[:, places.before :] & real
    sums = torch.stack([features.float().sum(-1)[ends].mean() for features in places.codes])
    return sums.mean()
