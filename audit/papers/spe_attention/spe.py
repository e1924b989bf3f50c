"""SPE attention: attention that is equivariant to semantics-preserving permutations of code.

Jiao, Chen and Zhang, "SPE Attention: Making Attention Equivariant to Semantic-Preserving Permutation for Code
Processing", section 4.3. Some heads multiply their scores by the symmetry mask M of the lines, some by its
transpose, the others by nothing. Positions start again in every line (section 5.2). So a legal order of the
lines permutes the hidden states and changes nothing else, and pooling makes the prediction invariant
(Theorem 4.6).

The mask is multiplied in *before* the softmax (`hadamard`, Definition 4.5). A masked pair therefore gets the
logit 0 and the weight exp(0) = 1, not 0: with scores near 0 a masked head is uniform, whatever the mask.
`additive` sets masked pairs to minus infinity instead. Both are equivariant. Padding always gets minus
infinity, because a multiplied padding would make predictions depend on the batch.

Dimension key: B batch, T tokens, N lines, D width, H heads, K labels.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from codeaudit.audit.papers.lines.trunk import (
    Batch,
    LineNetwork,
    LineShape,
    Trunk,
    TrunkAttention,
    padding_bias,
    score_type,
)

MaskMode: TypeAlias = Literal["hadamard", "additive"]


class HeadPlan(NamedTuple):
    """How many heads take the mask, its transpose, and none."""

    mask: int
    transposed: int
    plain: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SPEVariant:
    """The paper's ablations (Table 3) and the choice of the mask's place."""

    mask_mode: MaskMode = "hadamard"
    all_heads: bool = False
    """`SPE (all)`: no plain heads; the mask and its transpose in the published ratio of two to one."""
    line_positions: bool = True
    """Without them, `SPE (w.o. pe)`: no positions at all, so tokens inside a line become a bag too."""


def head_plan(heads: int, *, all_heads: bool = False) -> HeadPlan:
    """6, 3 and 3 of the paper's 12 heads; for other numbers round(h/2), round(h/4) and the rest, each ≥ 1.

    >>> head_plan(12), head_plan(4)
    (HeadPlan(mask=6, transposed=3, plain=3), HeadPlan(mask=2, transposed=1, plain=1))

    Raises:
        ValueError: fewer heads than kinds.
    """
    kinds = 2 if all_heads else 3
    if heads < kinds:
        raise ValueError(f"SPE needs at least {kinds} heads, got {heads}")
    if all_heads:
        transposed = max(1, round(heads / 3))
        return HeadPlan(heads - transposed, transposed, 0)
    mask = max(1, min(round(heads / 2), heads - 2))
    transposed = max(1, min(round(heads / 4), heads - mask - 1))
    return HeadPlan(mask, transposed, heads - mask - transposed)


class SPEAttention(TrunkAttention):
    """softmax(Q Kᵀ / √d ∘ M + padding) V with one mask per head."""

    def forward(self, x: Tensor, relation: tuple[Tensor, Tensor]) -> Tensor:
        """(B, T, D) and the factor and bias of `SPE.relate`, to (B, T, D)."""
        query, key, value = self.projections.split(x)
        factor, bias = relation
        scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-2, -1)
        # In place, because the scores are by far the largest tensor of a step: saves three copies.
        weights = scores.mul_(factor).add_(bias).softmax(-1)
        return self.projections.join(weights.to(value.dtype) @ value)


class SPE(LineNetwork):
    """The naming network with SPE attention."""

    def __init__(self, shape: LineShape, variant: SPEVariant | None = None) -> None:
        super().__init__()
        self.variant = variant or SPEVariant()
        self.plan = head_plan(shape.heads, all_heads=self.variant.all_heads)
        self.trunk = Trunk(shape, lambda: SPEAttention(shape.width, shape.heads))
        self.positions = nn.Embedding(shape.line, shape.width) if self.variant.line_positions else None

    def forward(self, batch: Batch) -> Tensor:
        """(B, K) logits of the labels."""
        weight = self.trunk.tokens.weight
        positions = weight.new_zeros(()) if self.positions is None else self.positions(batch.position)
        logits: Tensor = self.trunk(batch, positions, self.relate(batch, score_type(weight)))
        return logits

    def relate(self, batch: Batch, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """The factor of the scores, (B, H, T, T), and the bias added after it, (B, 1 or H, 1 or T, T)."""
        mask = batch.between_tokens(0).to(dtype)
        one = torch.ones_like(mask)
        masks = [mask] * self.plan.mask + [mask.transpose(1, 2)] * self.plan.transposed
        factor = torch.stack([*masks, *[one] * self.plan.plain], 1)
        bias = padding_bias(batch.real, dtype)
        if self.variant.mask_mode == "additive":
            bias = bias.masked_fill(factor == 0, -torch.inf)
            factor = torch.ones_like(factor[:1, :1, :1, :1])
        return factor, bias


def made(shape: LineShape, **options: Any) -> SPE:
    """The network with the ablations of `SPEVariant` as options."""
    return SPE(shape, SPEVariant(**options))
