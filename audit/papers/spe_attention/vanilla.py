"""The transformer that knows nothing of code: learned absolute positions over the whole token sequence.

The baseline of SPE attention, section 5.1 (Vaswani et al. 2017). It sees the order of the lines.

Dimension key: B batch, T tokens, D width, H heads, K labels.
"""

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


class Vanilla(LineNetwork):
    """The naming network with plain attention."""

    def __init__(self, shape: LineShape) -> None:
        super().__init__()
        self.trunk = Trunk(shape, lambda: BiasedAttention(shape.width, shape.heads))
        self.positions: nn.Embedding = nn.Embedding(shape.window, shape.width)

    def forward(self, batch: Batch) -> Tensor:
        """(B, K) logits of the labels."""
        bias = padding_bias(batch.real, score_type(self.trunk.tokens.weight))
        positions = self.positions(torch.arange(batch.ids.shape[1], device=batch.ids.device))
        logits: Tensor = self.trunk(batch, positions[None], (bias,))
        return logits
