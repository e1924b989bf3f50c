"""Two-dimensional tree positions in attention, `tree-transformer`, section 3.2.

    a_i    = LN(W_a [h_1(i); …; h_D(i)])                 from the root on, without the deep end, zero-padded
    r_ij   = LN(W_r (±h(own coordinate of the child)))   for parent and child, else 0
    β_ij   = (a_i U_q)(a_j U_k) / √d_k                   global; the same in all layers
    γ_ij   = ((x_i W_q)(r_ij R_k) + (r_ij R_q)(x_j W_k)) / √d_k      local
    A_ij   = (α_ij + β_ij + γ_ij) / √2

The difference of the sums of two lists, from which the paper takes r_ij, is plus or minus the child's own
vector: plus where j is the parent of i. So there are twice as many r as coordinates, and γ takes four
products per node, never one per pair. Where a list is cut, the own vector still counts.

Dimension key: B batch, n nodes, D levels, H heads, k width of a head, d width.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import torch
from torch import Tensor, nn

from codeaudit.audit.papers.lines import fused
from codeaudit.audit.papers.lines.fused import Described, PairRule
from codeaudit.audit.papers.tree_transformer.batches import CLIP, COORDINATES, NEAREST, TreeBatch

Terms: TypeAlias = Literal["both", "local", "global"]
"""Which of γ and β are added."""
Dimension: TypeAlias = Literal["both", "first", "second"]
"""The parts of a coordinate that are read: which child it is, how many there are, or both."""
Nonadjacent: TypeAlias = Literal["zero", "learned"]
"""r of nodes that are not parent and child: zero as the paper says, or LN(W_r 0) as its code has it."""

SCALE: Final = math.sqrt(2.0)
"""Of the scores, as in the paper's Eq. 10."""


class Scheme(nn.Module):
    """How a transformer knows where nodes are. The base knows nothing."""

    def enter(self, x: Tensor, batch: TreeBatch) -> Tensor:
        """(B, n, d) embedded nodes, of about unit variance, with the positions added."""
        return x

    def prepare(self, batch: TreeBatch) -> "Prepared":
        """The tensors that all layers share."""
        return Prepared()

    def layer(self) -> "LayerScheme":
        """The scheme's part of one layer."""
        return LayerScheme()


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Tensors that all layers share. Each scheme sets those that it reads."""

    constant: Tensor | None = None
    """(B, H, n, n) added to the scores."""
    factor: Tensor | None = None
    """(B, H, n, n) the scores are multiplied with."""
    between: tuple[Tensor, Tensor] | None = None
    """(B, H, n, k) queries and keys whose product is divided by √k and added."""
    relations: "tuple[Tensor, Tensor, Combination] | None" = None
    """(B, n, n) numbers of relations, the (K, H) number that each stands for, and how it joins a score."""
    divisor: float = 1.0
    """Of the scores."""
    local: "Local | None" = None
    seen: Described | None = None
    """Which pairs are seen, where the fused kernel is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """The r of parents and children, and where these are."""

    up_key: Tensor
    """(B, H, n, k) r_ij R_k where j is the parent of i, by i."""
    up_query: Tensor
    """(B, H, n, k) r_ij R_q, in the same order."""
    down_key: Tensor
    """(B, H, n, k) r_ij R_k where i is the parent of j, by j."""
    down_query: Tensor
    other_key: Tensor | None
    """(H, k) r R_k of all other pairs; absent where r is zero. The four above are then less this one."""
    other_query: Tensor | None
    parents: Tensor
    """(B, n)"""
    orphan: Tensor
    """(B, n)"""

    def by_node(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """(B, H, n) twice: γ of each node and its parent, and of the parent and the node."""
        # Eq. 9, for adjacent pairs only: each node has one parent, so γ has at most 2 n entries that are not
        # 0.
        above = self.parents[:, None, :, None].expand(query.shape)
        up = (query * self.up_key + self.up_query * key.gather(2, above)).sum(-1)
        down = (query.gather(2, above) * self.down_key + self.down_query * key).sum(-1)
        nothing = self.orphan[:, None, :]
        return up.masked_fill(nothing, 0), down.masked_fill(nothing, 0)

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """(B, H, n, k) queries and keys to γ, (B, H, n, n), before it is divided by √k."""
        shape = query.shape
        up, down = self.by_node(query, key)
        scores = query.new_zeros(*shape[:3], shape[2])
        at = self.parents[:, None, :].expand(shape[:3])
        scores = scores.scatter(3, at[..., None], up[..., None])
        scores = scores.scatter_add(2, at[:, :, None, :], down[:, :, None, :])
        if self.other_key is not None and self.other_query is not None:
            scores = scores + (query @ self.other_key[:, :, None])
            scores = scores + (key @ self.other_query[:, :, None]).transpose(2, 3)
        return scores


class LayerScheme(nn.Module):
    """A scheme's part of one layer. The base has no parameters, and uses the shared tensors."""

    def scores(self, scores: Tensor, query: Tensor, key: Tensor, prepared: Prepared) -> Tensor:
        """(B, H, n, n) scores q k / √k of (B, H, n, k) queries and keys, as they enter the softmax."""
        # Eq. 10. γ is computed per layer from its queries and keys; β, which is `constant`, is shared.
        if prepared.local is not None:
            scores = scores + prepared.local.scores(query, key) / math.sqrt(query.shape[-1])
        if prepared.between is not None:
            scores = scores + product(*prepared.between)
        if prepared.factor is not None:
            scores = scores * prepared.factor
        if prepared.constant is not None:
            scores = scores + prepared.constant
        return scores / prepared.divisor if prepared.divisor != 1.0 else scores

    def gain(self, weights: Tensor) -> Tensor | None:
        """(B, H, n, n) attention to the addition to its result, (B, H, n, k)."""
        return None

    def attended(self, query: Tensor, key: Tensor, value: Tensor, prepared: Prepared) -> Tensor | None:
        """All of attention in the fused kernel; `None` where that cannot be."""
        if prepared.seen is None:
            return None
        scale = query.shape[-1] ** -0.5 / prepared.divisor
        rule = pair_rule(prepared, query, key, scale)
        if prepared.between is not None:
            # α + β is one product of queries and keys that are twice as wide.
            query, key = (torch.cat(pair, -1) for pair in zip((query, key), prepared.between, strict=True))
        return fused.attended(query, key, value, Described(rule, prepared.seen.blocks), scale)


def product(query: Tensor, key: Tensor) -> Tensor:
    """(B, H, n, n) q k / √k."""
    scores: Tensor = query @ key.transpose(2, 3) / math.sqrt(query.shape[-1])
    return scores


def pair_rule(prepared: Prepared, query: Tensor, key: Tensor, scale: float) -> PairRule:
    """What enters the scores beside products, of one pair; `scale` multiplies γ."""
    if prepared.relations is not None:
        relations, weights, combination = prepared.relations
        weights = fused.exact(weights)

        def weight(batch: Tensor, head: Tensor, row: Tensor, node: Tensor) -> Tensor:
            return weights[relations[batch, row, node], head]

        return PairRule(added=weight) if combination == "additive" else PairRule(factor=weight)
    local = prepared.local
    if local is None:
        return PairRule()
    # In float32: gradients of what the kernel looks up are summed one by one.
    up, down = (fused.exact(part) * scale for part in local.by_node(query, key))
    parents = local.parents
    rest: tuple[Tensor, Tensor] | None = None
    if local.other_key is not None and local.other_query is not None:
        by_row, by_node = (
            fused.exact((one * other[:, None]).sum(-1)) * scale
            for one, other in ((query, local.other_key), (key, local.other_query))
        )
        rest = by_row, by_node

    def gamma(batch: Tensor, head: Tensor, row: Tensor, node: Tensor) -> Tensor:
        score = torch.where(parents[batch, row] == node, up[batch, head, row], 0.0)
        score = score + torch.where(parents[batch, node] == row, down[batch, head, node], 0.0)
        if rest is not None:
            score = score + rest[0][batch, head, row] + rest[1][batch, head, node]
        return score

    return PairRule(added=gamma)


class TreePositions(Scheme):
    """The paper's."""

    remap: Tensor
    """(COORDINATES,) the number under which a coordinate is looked up."""

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        levels: int,
        embedding: int,
        terms: Terms = "both",
        dimension: Dimension = "both",
        nonadjacent: Nonadjacent = "zero",
    ) -> None:
        super().__init__()
        self.heads, self.terms, self.nonadjacent = heads, terms, nonadjacent
        self.table = nn.Embedding(COORDINATES, embedding, padding_idx=0)
        if terms != "local":
            self.absolute = nn.Linear(levels * embedding, width)
            self.absolute_norm = nn.LayerNorm(width)
            self.absolute_query = nn.Linear(width, width, bias=False)
            self.absolute_key = nn.Linear(width, width, bias=False)
        if terms != "global":
            self.relative = nn.Linear(embedding, width)
            self.relative_norm = nn.LayerNorm(width)
            self.relative_query = nn.Linear(width, width, bias=False)
            self.relative_key = nn.Linear(width, width, bias=False)
        self.register_buffer("remap", _remap(dimension), persistent=False)

    def prepare(self, batch: TreeBatch) -> Prepared:
        """β, and the r of this batch."""
        between = None if self.terms == "local" else self._between(batch)
        whole = between is not None and not fused.pays(batch.types)
        return Prepared(
            constant=product(*between) if between is not None and whole else None,
            between=None if whole else between,
            local=None if self.terms == "global" else self._local(batch),
            divisor=SCALE,
        )

    def absolute_positions(self, batch: TreeBatch) -> Tensor:
        """(B, n, d) a."""
        # Eq. 6.
        positions: Tensor = self.absolute_norm(self.absolute(self.table(self.remap[batch.paths]).flatten(2)))
        return positions

    def relative_positions(self) -> Tensor:
        """(2 · COORDINATES, d) r: of children towards parents, then of parents towards children.

        The first row of each half is LN(W_r 0).
        """
        vectors = self.table(self.remap)
        # Eq. 7. All r that there are: the sums of two lists differ by the child's coordinate, plus or minus.
        positions: Tensor = self.relative_norm(self.relative(torch.cat([vectors, -vectors])))
        return positions

    def _between(self, batch: TreeBatch) -> tuple[Tensor, Tensor]:
        position = self.absolute_positions(batch)
        # Eq. 8. Both factors come from the positions alone, so all layers share them.
        query, key = (self._heads(part(position)) for part in (self.absolute_query, self.absolute_key))
        return query, key

    def _local(self, batch: TreeBatch) -> Local:
        positions = self.relative_positions()
        keys, queries = self.relative_key(positions), self.relative_query(positions)
        # Eq. 7 has r = 0 for pairs that are not parent and child. The paper's code looks row 0 up, whose
        # embedding is zero, but bias and norm make a constant vector of it; `learned` is that.
        learned = self.nonadjacent == "learned"
        other_key, other_query = keys[0].view(self.heads, -1), queries[0].view(self.heads, -1)
        if learned:
            keys, queries = keys - keys[0], queries - queries[0]
        down = batch.own + COORDINATES
        return Local(
            up_key=self._heads(nn.functional.embedding(batch.own, keys)),
            up_query=self._heads(nn.functional.embedding(batch.own, queries)),
            down_key=self._heads(nn.functional.embedding(down, keys)),
            down_query=self._heads(nn.functional.embedding(down, queries)),
            other_key=other_key if learned else None,
            other_query=other_query if learned else None,
            parents=batch.parents,
            orphan=batch.orphan,
        )

    def _heads(self, x: Tensor) -> Tensor:
        """(B, n, d) to (B, H, n, k)."""
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)


def _remap(dimension: Dimension) -> Tensor:
    numbers = [0]
    for second in range(1, CLIP + 1):
        for first in range(1, second + 1):
            a, f = {"both": (first, second), "first": (first, first), "second": (1, second)}[dimension]
            numbers.append(a + f * (f - 1) // 2)
    return torch.tensor(numbers)


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
        # One product with each distinct distance, looked up per pair; never (n, n, k) vectors.
        near = query @ self.keys.weight[rows].T / math.sqrt(query.shape[-1])
        return scores + near.gather(3, distances.expand(*query.shape[:2], -1, -1))

    def gain(self, weights: Tensor) -> Tensor:
        """Σ α_ij a^V."""
        distances, rows = self._distances(weights.shape[2], weights.device)
        size = int(rows.stop) - int(rows.start)
        # Attention is summed by distance first: (n, distances) numbers instead of a vector for each pair.
        heard = weights.new_zeros(*weights.shape[:3], size)
        heard = heard.scatter_add(3, distances.expand_as(weights), weights)
        return heard @ self.values.weight[rows].to(weights.dtype)

    def attended(self, query: Tensor, key: Tensor, value: Tensor, prepared: Prepared) -> None:
        """Never: `gain` needs the weights, which the kernel keeps to itself."""

    def _distances(self, nodes: int, device: torch.device) -> tuple[Tensor, slice]:
        """(n, n) row numbers of the distances j - i, and the rows of the tables that `nodes` nodes need."""
        reach = min(self.reach, nodes - 1)
        place = torch.arange(nodes, device=device)
        distances = (place[None, :] - place[:, None]).clamp(-reach, reach) + reach
        return distances, slice(self.reach - reach, self.reach + reach + 1)


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
        # Neutral at first: 0 is added, or scores are multiplied with 1.
        start = 0.0 if combination == "additive" else 1.0
        self.weights = nn.Parameter(torch.full((relations + 1, heads), start))
        self.register_buffer("known", torch.zeros(STEPS * STEPS, dtype=torch.long))

    def learn(self, counts: Tensor) -> None:
        """Choose the frequent relations, given how often each occurs; ties by their numbers."""
        order = torch.argsort(counts, descending=True, stable=True)[: self.relations]
        # A relation that never occurred has nothing to learn from and shares number 0.
        order = order[counts[order] > 0]
        self.known.zero_()
        self.known[order] = torch.arange(1, len(order) + 1)

    def prepare(self, batch: TreeBatch) -> Prepared:
        """The number of each pair."""
        numbers = self.known[between(batch.depths)]
        if fused.pays(batch.types):
            return Prepared(relations=(numbers.to(torch.int32), self.weights, self.combination))
        weights = self.weights[numbers].permute(0, 3, 1, 2)
        additive = self.combination == "additive"
        return Prepared(constant=weights if additive else None, factor=None if additive else weights)


def between(depths: Tensor) -> Tensor:
    """(B, n) depths in depth-first order to (B, n, n) relations: steps up from i times STEPS plus down to j.

    Between i and a later j, the shallowest node after i hangs on the lowest common ancestor.
    """
    nodes = depths.shape[1]
    # In depth-first order the nodes between i and j are below their lowest common ancestor or its children,
    # so a running minimum of depths finds it without walking up.
    later = torch.ones(nodes, nodes, dtype=torch.bool, device=depths.device).triu(1)
    after = depths[:, None, :].expand(-1, nodes, -1).masked_fill(~later, _FAR)
    shallowest = after.cummin(2).values - 1
    forward = torch.where(later, shallowest, 0)
    common = forward + forward.transpose(1, 2) + torch.diag_embed(depths)
    up = (depths[:, :, None] - common).clamp(0, STEPS - 1)
    down = (depths[:, None, :] - common).clamp(0, STEPS - 1)
    return up * STEPS + down
