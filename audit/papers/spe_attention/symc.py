"""SYMC: attention biased by distances in the dependence graph (Pei et al. 2023, arXiv 2308.03312).

For lines i and j let a be their lowest common ancestor in the program dependence graph, p_ij the longest
path from a to i and n_ij that from a to j. Half of the heads add p to the scores, the other half n. The
distances move with the lines, so the network is equivariant too; positions start again in every line.

The bias is positive as written in the paper, which favours far lines; `sign=-1` favours near ones, and is
the default of `codeaudit train`.

Dimension key: B batch, T tokens, N lines, D width, H heads, K labels.
"""

from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

from codeaudit.audit.papers.lines.trunk import (
    Batch,
    BiasedAttention,
    LineNetwork,
    LineShape,
    Trunk,
    padding_bias,
    score_type,
)

Sign: TypeAlias = Literal[1, -1]


class SYMC(LineNetwork):
    """The naming network with SYMC's attention."""

    def __init__(self, shape: LineShape, sign: Sign = 1) -> None:
        super().__init__()
        if shape.heads < 2:
            raise ValueError(f"SYMC needs at least 2 heads, got {shape.heads}")
        self.sign = sign
        self.heads = shape.heads
        self.trunk = Trunk(shape, lambda: BiasedAttention(shape.width, shape.heads))
        self.positions: nn.Embedding = nn.Embedding(shape.line, shape.width)

    def forward(self, batch: Batch) -> Tensor:
        """(B, K) logits of the labels."""
        relation = self.relate(batch, score_type(self.trunk.tokens.weight))
        logits: Tensor = self.trunk(batch, self.positions(batch.position), (relation,))
        return logits

    def relate(self, batch: Batch, dtype: torch.dtype) -> Tensor:
        """The bias of the scores, (B, H, T, T)."""
        near, far = (batch.between_tokens(number).to(dtype) for number in (0, 1))
        half = self.heads // 2
        bias = torch.stack([near] * half + [far] * (self.heads - half), 1)
        return self.sign * bias + padding_bias(batch.real, dtype)
