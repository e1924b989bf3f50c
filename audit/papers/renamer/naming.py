"""Renamer's idea for functions: variables are read as their view, and bound to their other occurrences.

"Renamer" (Ankner, Renda and Carbin) changes two things in a transformer (section 4). Every occurrence of a
local variable or parameter is read as one token, the same for all, so no name enters. And in the first layer
a token attends only to tokens with the same referent: to the occurrences of its variable, or for any other
token to equal tokens. So the input is the same for a function and its renamings, bit for bit, and equal
inputs of equal shape have equal outputs. With one layer no token would see another one; there must be two.

The order of the tokens is seen through absolute positions, as by the vanilla network. The paper's own model,
for the paper's own tasks, is in `renamer`.

Dimension key: B batch, T tokens, D width, H heads, K labels.
"""

from itertools import count

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


class Referents(LineNetwork):
    """The naming network with Renamer's reading and first layer."""

    def __init__(self, shape: LineShape) -> None:
        super().__init__()
        if shape.layers < 2:
            raise ValueError(f"Renamer needs at least 2 layers, got {shape.layers}")
        layers = count()
        self.trunk = Trunk(shape, lambda: BiasedAttention(shape.width, shape.heads, min(next(layers), 1)))
        self.positions: nn.Embedding = nn.Embedding(shape.window, shape.width)

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
