"""The baselines of the paper: other ways for a transformer to know the positions of nodes.

Dimension key: B batch, n nodes, H heads, k width of a head, d width.
"""

import math
from typing import Final, Literal, TypeAlias

import torch
from torch import Tensor, nn

from codeaudit.audit.papers.tree_transformer.batches import CLIP, NEAREST, TreeBatch
from codeaudit.audit.papers.tree_transformer.positions import LayerScheme, Prepared, Scheme

Combination: TypeAlias = Literal["additive", "multiplicative"]
"""How a relation's number joins a score."""

STEPS: Final = 64
"""Steps up or down are clamped to STEPS − 1."""
_LONGEST_WAVE: Final = 10_000.0
_FAR: Final = 1 << 20


class Sequential(Scheme):
    """Vaswani et al. (2017): sinusoids of the place in depth-first order are added to the nodes."""

    waves: Tensor

    def __init__(self, width: int, window: int) -> None:
        super().__init__()
        place = torch.arange(window)[:, None]
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(_LONGEST_WAVE) / width))
        waves = torch.zeros(window, width)
        waves[:, 0::2] = torch.sin(place * rate)
        waves[:, 1::2] = torch.cos(place * rate)[:, : width // 2]
        self.register_buffer("waves", waves, persistent=False)

    def enter(self, x: Tensor, batch: TreeBatch) -> Tensor:
        """x + sinusoids."""
        return x + self.waves[: x.shape[1]].to(x.dtype)


class Shaw(Scheme):
    """Shaw et al. (2018): vectors of the clipped distance in depth-first order join keys and values.

    e_ij = q_i (k_j + a^K) / √k and z_i = Σ α_ij (v_j + a^V), both of the distance j - i; one table of each
    for every layer, shared by its heads.
    """

    def __init__(self, width: int, heads: int, *, reach: int) -> None:
        super().__init__()
        self._size, self._reach = width // heads, reach

    def layer(self) -> LayerScheme:
        """The tables of a layer."""
        return _Distances(self._size, self._reach)


class _Distances(LayerScheme):
    def __init__(self, size: int, reach: int) -> None:
        super().__init__()
        self.reach = reach
        self.keys = nn.Embedding(2 * reach + 1, size)
        self.values = nn.Embedding(2 * reach + 1, size)
        for table in (self.keys, self.values):
            nn.init.normal_(table.weight, std=size**-0.5)

    def scores(self, scores: Tensor, query: Tensor, key: Tensor, prepared: Prepared) -> Tensor:
        """Adds q_i a^K / √k."""
        distances, rows = self._distances(query.shape[2], query.device)
        near = query @ self.keys.weight[rows].T / math.sqrt(query.shape[-1])
        return scores + near.gather(3, distances.expand(*query.shape[:2], -1, -1))

    def gain(self, weights: Tensor) -> Tensor:
        """Σ α_ij a^V."""
        distances, rows = self._distances(weights.shape[2], weights.device)
        size = int(rows.stop) - int(rows.start)
        heard = weights.new_zeros(*weights.shape[:3], size)
        heard = heard.scatter_add(3, distances.expand_as(weights), weights)
        return heard @ self.values.weight[rows].to(weights.dtype)

    def _distances(self, nodes: int, device: torch.device) -> tuple[Tensor, slice]:
        """(n, n) row numbers of the distances j - i, and the rows of the tables that `nodes` nodes need."""
        reach = min(self.reach, nodes - 1)
        place = torch.arange(nodes, device=device)
        found = (place[None, :] - place[:, None]).clamp(-reach, reach) + reach
        return found, slice(self.reach - reach, self.reach + reach + 1)


class Shiv(Scheme):
    """Shiv and Quirk (2019): the path from a node to the root as one-hot vectors, with learned decays.

    Every level of the path, the node's own first, is a one-hot vector of which child stands there; level t
    is weighed with tanh(p)^t √((1 - tanh(p)²) d / 2) for each learned p. The result is added to x.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.wide = max(1, min(CLIP, width // NEAREST))
        self.copies = width // (self.wide * NEAREST)
        self.decay = nn.Parameter(torch.empty(self.copies).uniform_(0.7, 0.999))

    def enter(self, x: Tensor, batch: TreeBatch) -> Tensor:
        """x + the weighed path, with zeros where it does not fill the width."""
        levels = torch.arange(NEAREST, device=x.device)
        decay = torch.tanh(self.decay)[:, None]
        weights = decay**levels * torch.sqrt((1 - decay**2) * self.width / 2)
        hot = nn.functional.one_hot(batch.nearest.clamp(max=self.wide), self.wide + 1)[..., 1:]
        placed = torch.einsum("bnlw,cl->bnlwc", hot.to(weights.dtype), weights).flatten(2)
        placed = nn.functional.pad(placed, (0, self.width - placed.shape[-1]))
        return x + placed.to(x.dtype)


class Kim(Scheme):
    """Kim et al. (2021): a number for each relation and head, by the steps up and down between two nodes.

    It is added to the score, or multiplied with it as in the original. The most frequent relations have one
    of their own; all others share one.
    """

    known: Tensor
    """(STEPS², ) the number of each relation (up, down); 0 for those that are not frequent."""

    def __init__(self, heads: int, *, relations: int, combination: Combination) -> None:
        super().__init__()
        self.combination = combination
        self.relations = relations
        start = 0.0 if combination == "additive" else 1.0
        self.weights = nn.Parameter(torch.full((relations + 1, heads), start))
        self.register_buffer("known", torch.zeros(STEPS * STEPS, dtype=torch.long))

    def learn(self, counts: Tensor) -> None:
        """Choose the frequent relations, given how often each occurs; ties by their numbers."""
        order = torch.argsort(counts, descending=True, stable=True)[: self.relations]
        order = order[counts[order] > 0]
        self.known.zero_()
        self.known[order] = torch.arange(1, len(order) + 1)

    def prepare(self, batch: TreeBatch) -> Prepared:
        """The number of each pair."""
        found = self.weights[self.known[between(batch.depths)]].permute(0, 3, 1, 2)
        additive = self.combination == "additive"
        return Prepared(constant=found if additive else None, factor=None if additive else found)


def between(depths: Tensor) -> Tensor:
    """(B, n) depths in depth-first order to (B, n, n) relations: steps up from i times STEPS plus down to j.

    Between i and a later j, the shallowest node after i hangs on the lowest common ancestor.
    """
    nodes = depths.shape[1]
    later = torch.ones(nodes, nodes, dtype=torch.bool, device=depths.device).triu(1)
    after = depths[:, None, :].expand(-1, nodes, -1).masked_fill(~later, _FAR)
    shallowest = after.cummin(2).values - 1
    forward = torch.where(later, shallowest, 0)
    common = forward + forward.transpose(1, 2) + torch.diag_embed(depths)
    up = (depths[:, :, None] - common).clamp(0, STEPS - 1)
    down = (depths[:, None, :] - common).clamp(0, STEPS - 1)
    return up * STEPS + down
