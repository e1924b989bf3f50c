"""Renamer's idea for functions: variables are read as their view, and bound to their other occurrences.

"Renamer" (Ankner, Renda and Carbin) changes two things in a transformer (section 4). Every occurrence of a
local variable or parameter is read as one token, the same for all, so no name enters. And in the first layer
a token attends only to tokens with the same referent: to the occurrences of its variable, or for any other
token to equal tokens. What enters is so the same for a function and its renamings, bit for bit, and equal
inputs of equal shape have equal outputs. With one layer no token would see another one; there must be two.

The order of the tokens is seen through absolute positions, as by the vanilla network. The paper's own model,
for the paper's own tasks, is in `renamer`.

Dimension key: B batch, T tokens, D width, H heads, K labels.
"""

from itertools import count
from typing import Final

import torch
from torch import Tensor, nn

from codeaudit.audit.papers.lines.trunk import Attention, Batch, Shape, Trunk, padding_bias, score_type

RELATION: Final = "referents"


class BoundAttention(Attention):
    """softmax(Q Kᵀ / √d + bias) V: the bias of referents in the first layer, of padding in the others."""

    def __init__(self, width: int, heads: int, layer: int) -> None:
        super().__init__(width, heads)
        self.bias = min(layer, 1)

    def forward(self, x: Tensor, relation: tuple[Tensor, Tensor]) -> Tensor:
        """(B, T, D) and the biases of `Referents.relate`, to (B, T, D)."""
        query, key, value = self.projections.split(x)
        scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-2, -1)
        weights = scores.add_(relation[self.bias]).softmax(-1)
        return self.projections.join(weights.to(value.dtype) @ value)


class Referents(nn.Module):
    """The naming network with Renamer's reading and first layer."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        if shape.layers < 2:
            raise ValueError(f"Renamer needs at least 2 layers, got {shape.layers}")
        layers = count()
        self.trunk = Trunk(shape, lambda: BoundAttention(shape.width, shape.heads, next(layers)))
        self.positions = nn.Embedding(shape.window, shape.width)

    def forward(self, batch: Batch) -> Tensor:
        """(B, K) logits of the labels.

        Raises:
            ValueError: the batch was made for a network that does not know variables.
        """
        places = torch.arange(batch.ids.shape[1], device=batch.ids.device)
        relation = self.relate(batch, score_type(self.trunk.tokens.weight))
        logits: Tensor = self.trunk(batch, self.positions(places)[None], relation)
        return logits

    def relate(self, batch: Batch, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """The bias of referents, (B, 1, T, T), and that of padding, (B, 1, 1, T).

        Raises:
            ValueError: as of `forward`.
        """
        if batch.referents is None:
            raise ValueError("the batch has no referents; encode for the relation 'referents'")
        # Variables are numbered from 1, so as negative numbers they are no word's.
        kind = torch.where(batch.referents > 0, -batch.referents, batch.ids)
        other = kind[:, :, None] != kind[:, None, :]  # padding is like padding only
        bound = torch.zeros_like(other, dtype=dtype).masked_fill(other, -torch.inf)
        return bound[:, None], padding_bias(batch.real, dtype)
