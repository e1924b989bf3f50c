"""CoDE's attention: code dependencies encoded by line.

The paper's model is a decoder that predicts the next token. This is its attention under the head that all
networks that read lines share, so that it can name functions; norms and feed-forward layers are the trunk's.
There are no positions: the order comes from causality and from the lines.

The first layers are in-line, where a token sees the tokens of its own line up to itself. Then, with three
layers or more, comes a plain causal one. The rest are line-wise. There each token reads from the anchor of
its line, the last token of the line before (the first line has a learned anchor), its dependences:
c = ReLU(E h + b) with F features, d = D c. With that the scores have four terms,

    a = q(h) k(h),  b = q(h) k(d),  c = q(d) k(h),  d = q(d) k(d),

and the score is a + b + c + MLP([a | b | c | d]), the values are those of h + d. PACE makes d stronger by
log_m(position) beyond the m tokens of the training window; within it the factor is 1.

The penalty on the features, α · Σ|c|, is left out, because the shared training has no loss except that of the
labels. The network is not invariant to the order of the lines; audits measure by how much.

Dimension key: B batch, T tokens, D width, H heads, F features.
"""

from itertools import chain, repeat
from typing import Final, NamedTuple, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from codeaudit.audit.papers.dependency_encoding.trunk import added_pairs, each_pair, pace
from codeaudit.audit.papers.lines.attention import Causal, HeadGroup, in_blocks
from codeaudit.audit.papers.lines.trunk import (
    Batch,
    BiasedAttention,
    Groups,
    LineNetwork,
    LineShape,
    Trunk,
    TrunkAttention,
)

FEATURES: Final = 64

Lines: TypeAlias = tuple[Groups, Groups, Tensor, Tensor]
"""From `CoDE.relate` to the layers: the in-line heads, the causal heads, anchors, and PACE's factors."""

SCORES: Final = 2**21
"""How many terms and hidden numbers of the MLP exist at once: 8 MiB in float32."""


class Stages(NamedTuple):
    """The number of layers of each kind, in their order."""

    in_line: int
    causal: int
    line_wise: int


def stages(layers: int) -> Stages:
    """A quarter in-line, at least one; a causal one where there are three or more; the rest line-wise.

    >>> stages(8), stages(4), stages(2)
    (Stages(in_line=2, causal=1, line_wise=5), Stages(in_line=1, causal=1, line_wise=2), \
Stages(in_line=1, causal=0, line_wise=1))

    Raises:
        ValueError: fewer than two layers.
    """
    if layers < 2:
        raise ValueError(f"CoDE needs at least 2 layers, got {layers}")
    in_line = max(1, round(layers / 4))
    causal = int(layers >= 3)
    return Stages(in_line, causal, layers - in_line - causal)


class LineWiseAttention(TrunkAttention):
    """Attention with a dictionary of the dependences of lines."""

    def __init__(self, width: int, heads: int, features: int) -> None:
        super().__init__(width, heads)
        self.first_anchor = nn.Parameter(torch.randn(width) * width**-0.5)
        self.encode = nn.Linear(width, features)
        self.decode = nn.Linear(features, width, bias=False)
        self.mixed = nn.Linear(4 * heads, 4 * heads)
        self.mix = nn.Linear(4 * heads, heads)
        # From zero: at first the scores are a + b + c.
        nn.init.zeros_(self.mix.weight)
        nn.init.zeros_(self.mix.bias)

    def forward(self, x: Tensor, relation: Lines) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        _, _, anchors, pace = relation
        depended = self.dependences(x, anchors) * pace[:, None].to(x.dtype)
        query, key, value = self.projections.split(x)
        # The projections are linear: their bias stands in the terms of h and not again in those of d.
        more = F.linear(depended, self.projections.inward.weight)
        parts = more.view(*x.shape[:2], 3, self.projections.heads, -1)
        query_d, key_d, value_d = parts.permute(2, 0, 3, 1, 4)
        # The four terms as four times as many heads of one product: a, b, c and d in this order.
        left = torch.cat([query, query, query_d, query_d], 1) * query.shape[-1] ** -0.5
        right = torch.cat([key, key_d, key, key_d], 1)
        per_row = 2 * left.shape[1] * len(x) * x.shape[1]
        inputs = left, right, value + value_d
        return self.projections.join(in_blocks(self._block, inputs, x.shape[1], SCORES // per_row))

    def _block(self, left: Tensor, right: Tensor, value: Tensor, rows: slice) -> Tensor:
        """(B, H, R, K) of some rows from the (B, 4 H, T, K) factors of the terms and (B, H, T, K) values."""
        # The keys after the last row are not compared at all.
        terms = left[:, :, rows] @ right[:, :, : rows.stop].transpose(-2, -1)
        scores = self.combined(terms)
        # All rows see the keys before the first row.
        near = scores[..., rows.start :]
        near.masked_fill_(torch.ones_like(near[0, 0], dtype=torch.bool).triu(1), -torch.inf)
        weights = scores.softmax(-1)
        return weights.to(value.dtype) @ value[:, :, : rows.stop]

    def dependences(self, x: Tensor, anchors: Tensor) -> Tensor:
        """(B, T, D) states and the (B, T) anchors, 0 for the learned one, to d of each token."""
        # No token stands before the first line, so its anchor is learned; the decoder has `start` there.
        first = self.first_anchor.to(x.dtype).expand(len(x), 1, -1)
        read: Tensor = self.decode(F.relu(self.encode(torch.cat([first, x], 1))))
        return read.gather(1, anchors[:, :, None].expand(-1, -1, read.shape[-1]))

    def combined(self, terms: Tensor) -> Tensor:
        """(B, 4 H, R, S) terms a, b, c and d to the (B, H, R, S) scores."""
        inner = F.gelu(each_pair(self.mixed, terms.flatten(2)))
        a, b, c, _ = terms.chunk(4, 1)
        return added_pairs(self.mix, inner, (a + b).add_(c).flatten(2)).view_as(a)


class CoDE(LineNetwork):
    """The naming network with CoDE's attention."""

    def __init__(self, shape: LineShape, features: int = FEATURES) -> None:
        super().__init__()
        if features < 1:
            raise ValueError(f"CoDE needs at least 1 feature, got {features}")
        plan = stages(shape.layers)
        kinds = chain(repeat(0, plan.in_line), repeat(1, plan.causal), repeat(2, plan.line_wise))

        def attention() -> TrunkAttention:
            kind = next(kinds)
            if kind < 2:
                return BiasedAttention(shape.width, shape.heads, kind)
            return LineWiseAttention(shape.width, shape.heads, features)

        self.window, self.heads = shape.window, shape.heads
        self.trunk = Trunk(shape, attention)
        self.positions = None

    def forward(self, batch: Batch) -> Tensor:
        """(B, K) logits of the labels."""
        weight = self.trunk.tokens.weight
        logits: Tensor = self.trunk(batch, weight.new_zeros(()), self.relate)
        return logits

    def relate(self, batch: Batch, dtype: torch.dtype) -> Lines:
        """The in-line and causal heads, anchors (B, T), and PACE's factors (T,)."""
        places = torch.arange(batch.ids.shape[1], device=batch.ids.device)
        # Section 3.1 forgets causality: its mask lets a token see the rest of its line. Both are required
        # here, as in the paper's decoder. Padding stands at the end, so causality hides it from all tokens.
        in_line = Causal(places - batch.position).ready()
        causal = Causal(torch.zeros_like(batch.position), whole=True)
        groups = ((HeadGroup(self.heads, in_line),), (HeadGroup(self.heads, causal),))
        return *groups, anchors(batch), pace(places, self.window)


def anchors(batch: Batch) -> Tensor:
    """(B, T) the place of the anchor of each token's line, counted from 1; 0 for the first line's."""
    places = torch.arange(batch.ids.shape[1], device=batch.ids.device)
    # The first token of a line stands at p, its anchor at p - 1, which is p when counted from 1.
    return (places - batch.position) * batch.real
