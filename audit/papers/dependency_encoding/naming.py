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

from codeaudit.audit.papers.lines.trunk import (
    Batch,
    BiasedAttention,
    LineNetwork,
    LineShape,
    Trunk,
    TrunkAttention,
    padding_bias,
    score_type,
)

FEATURES: Final = 64

Lines: TypeAlias = tuple[Tensor, Tensor, Tensor, Tensor]
"""From `CoDE.relate` to the layers: the in-line bias, the causal bias, anchors, and PACE's factors."""


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
        _, causal, anchors, pace = relation
        depended = self.dependences(x, anchors) * pace[:, None].to(x.dtype)
        query, key, value = self.projections.split(x)
        # The projections are linear: their bias stands in the terms of h and not again in those of d.
        more = F.linear(depended, self.projections.inward.weight)
        parts = more.view(*x.shape[:2], 3, self.projections.heads, -1)
        query_d, key_d, value_d = parts.permute(2, 0, 3, 1, 4)
        # The four terms as four times as many heads of one product: a, b, c and d in this order.
        left = torch.cat([query, query, query_d, query_d], 1) * query.shape[-1] ** -0.5
        right = torch.cat([key, key_d, key, key_d], 1)
        terms = left @ right.transpose(-2, -1)
        scores = self.combined(terms) + causal
        weights = scores.softmax(-1)
        return self.projections.join(weights.to(value.dtype) @ (value + value_d))

    def dependences(self, x: Tensor, anchors: Tensor) -> Tensor:
        """(B, T, D) states and the (B, T) anchors, 0 for the learned one, to d of each token."""
        # No token stands before the first line, so its anchor is learned; the decoder has `start` there.
        first = self.first_anchor.to(x.dtype).expand(len(x), 1, -1)
        read: Tensor = self.decode(F.relu(self.encode(torch.cat([first, x], 1))))
        return read.gather(1, anchors[:, :, None].expand(-1, -1, read.shape[-1]))

    def combined(self, terms: Tensor) -> Tensor:
        """(B, 4 H, T, T) terms a, b, c and d to the (B, H, T, T) scores."""
        learned: Tensor = self.mix(F.gelu(self.mixed(terms.permute(0, 2, 3, 1)))).permute(0, 3, 1, 2)
        a, b, c, _ = terms.chunk(4, 1)
        return a + b + c + learned


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

        self.window = shape.window
        self.trunk = Trunk(shape, attention)
        self.positions = None

    def forward(self, batch: Batch) -> Tensor:
        """(B, K) logits of the labels."""
        weight = self.trunk.tokens.weight
        logits: Tensor = self.trunk(batch, weight.new_zeros(()), self.relate(batch, score_type(weight)))
        return logits

    def relate(self, batch: Batch, dtype: torch.dtype) -> Lines:
        """The in-line and causal biases, each (B, 1, T, T), anchors (B, T), and PACE's factors (T,)."""
        places = torch.arange(batch.ids.shape[1], device=batch.ids.device)
        later = places[:, None] < places
        other = batch.line[:, :, None] != batch.line[:, None, :]
        causal = padding_bias(batch.real, dtype).masked_fill(later, -torch.inf)
        # Section 3.1 forgets causality: its mask lets a token see the rest of its line. Both are required
        # here, as in the paper's decoder. Rows of padding keep the causal mask, or their softmax would divide
        # 0 by 0.
        in_line = causal.masked_fill((other & batch.real[:, :, None])[:, None], -torch.inf)
        return in_line, causal, anchors(batch), pace(places, self.window)


def anchors(batch: Batch) -> Tensor:
    """(B, T) the place of the anchor of each token's line, counted from 1; 0 for the first line's."""
    places = torch.arange(batch.ids.shape[1], device=batch.ids.device)
    # The first token of a line stands at p, its anchor at p - 1, which is p when counted from 1.
    return (places - batch.position) * batch.real


def pace(places: Tensor, window: int) -> Tensor:
    """log_m(max(place, m)) for a window of m tokens: 1 within it.

    The paper says that positions are capped at most at m, which would let it do nothing beyond.
    """
    base = max(2, window)
    return torch.log(places.clamp(min=base).double()) / torch.log(torch.tensor(float(base)).double())
