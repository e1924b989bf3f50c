"""The transformer that knows nothing of code: learned absolute positions over the whole token sequence.

The baseline of SPE attention, section 5.1 (Vaswani et al. 2017). It sees the order of the lines.

Dimension key: B batch, T tokens, D width, H heads, K labels.
"""

from typing import Final

import torch
from torch import Tensor, nn

from codeaudit.audit.papers.lines.trunk import Attention, Batch, Shape, Trunk, padding_bias, score_type

RELATION: Final = "none"


class PlainAttention(Attention):
    """softmax(Q Kᵀ / √d + padding) V."""

    def forward(self, x: Tensor, relation: Tensor) -> Tensor:
        """(B, T, D) and the (B, 1, 1, T) bias of padding, to (B, T, D)."""
        query, key, value = self.projections.split(x)
        scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-2, -1)
        weights = scores.add_(relation).softmax(-1)
        return self.projections.join(weights.to(value.dtype) @ value)


class Vanilla(nn.Module):
    """The naming network with plain attention."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.trunk = Trunk(shape, lambda: PlainAttention(shape.width, shape.heads))
        self.positions = nn.Embedding(shape.window, shape.width)

    def forward(self, batch: Batch) -> Tensor:
        """(B, K) logits of the labels."""
        places = torch.arange(batch.ids.shape[1], device=batch.ids.device)
        bias = padding_bias(batch.real, score_type(self.trunk.tokens.weight))
        logits: Tensor = self.trunk(batch, self.positions(places)[None], bias)
        return logits
