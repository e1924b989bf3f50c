"""SPE attention and its baselines, and the table of all networks that read lines.

Jiao, Chen and Zhang, "SPE Attention: Making Attention Equivariant to Semantic-Preserving Permutation for
Code Processing". All networks share the trunk (`lines.trunk`) and the recipe and training of this folder.
The table names each class as text, because papers do not import each other.

**SPE attention**, section 4.3. Some heads multiply their scores by the symmetry mask M of the lines, some by
its transpose, the others by nothing. Positions start again in every line (section 5.2). So a legal order of
the lines permutes the hidden states and changes nothing else, and pooling makes the prediction invariant
(Theorem 4.6).

The mask is multiplied in *before* the softmax (`hadamard`, Definition 4.5). A masked pair therefore gets the
logit 0 and the weight exp(0) = 1, not 0: with scores near 0 a masked head is uniform, whatever the mask.
`additive` sets masked pairs to minus infinity instead. Both are equivariant.

**SYMC** (Pei et al. 2023, "Exploiting Code Symmetries for Learning Program Semantics", arXiv 2308.03312).
For lines i and j let a be their lowest common ancestor in the program dependence graph, p_ij the longest
path from a to i and n_ij that from a to j. Half of the heads add p to the scores, the other half n. The
distances move with the lines, so the network is equivariant too; positions start again in every line.

**Vanilla** (section 5.1; Vaswani et al. 2017) knows nothing of code. It sees the order of the lines.

Dimension key: B batch, T tokens, N lines, D width, H heads, K labels.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final, Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from codeaudit.audit.papers.lines.attention import HeadGroup, LineBias, MaskedScores, hidden_padding, unless
from codeaudit.audit.papers.lines.encoding import Relation
from codeaudit.audit.papers.lines.trunk import (
    Batch,
    BiasedAttention,
    Groups,
    LineNetwork,
    LineShape,
    Trunk,
)
from codeaudit.audit.papers.registry import entry_of

MaskMode: TypeAlias = Literal["hadamard", "additive"]
Sign: TypeAlias = Literal[1, -1]


class HeadPlan(NamedTuple):
    """How many heads take the mask, its transpose, and none."""

    mask: int
    transposed: int
    plain: int


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
        # Without plain heads the other two keep their published ratio of 6 to 3.
        transposed = max(1, round(heads / 3))
        return HeadPlan(heads - transposed, transposed, 0)
    # The upper limits leave a head for each kind that is still to come.
    mask = max(1, min(round(heads / 2), heads - 2))
    transposed = max(1, min(round(heads / 4), heads - mask - 1))
    return HeadPlan(mask, transposed, heads - mask - transposed)


class SPE(LineNetwork):
    """The naming network with SPE attention, and with the ablations of Table 3.

    `all_heads` is `SPE (all)`: no plain heads. Without `line_positions` it is `SPE (w.o. pe)`: no positions
    at all, so the tokens inside a line become a bag too.
    """

    def __init__(
        self,
        shape: LineShape,
        *,
        mask_mode: MaskMode = "hadamard",
        all_heads: bool = False,
        line_positions: bool = True,
    ) -> None:
        super().__init__()
        self.mask_mode = mask_mode
        self.plan = head_plan(shape.heads, all_heads=all_heads)
        self.trunk = Trunk(shape, lambda: BiasedAttention(shape.width, shape.heads))
        # The index inside the line, not in the text: a legal order moves a line and keeps its inside (section
        # 5.2).
        self.line_positions = line_positions
        own = line_positions and shape.encoder is None
        self.positions = nn.Embedding(shape.line, shape.width) if own else None

    def forward(self, batch: Batch) -> Tensor:
        """(B, K) logits of the labels."""
        places = batch.position if self.line_positions else torch.zeros_like(batch.position)
        logits: Tensor = self.trunk(batch, self.trunk.placed(self.positions, places), self.relate)
        return logits

    def relate(self, batch: Batch, dtype: torch.dtype) -> tuple[Groups]:
        """softmax(Q Kᵀ / √d ∘ M) V with one mask per head (Definition 4.5)."""
        # Definition 4.4: M_ij = 1 on one layer or where j depends on i. So heads with the mask let a
        # definition look at its uses, heads with the transpose let a use look at its definitions.
        mask = batch.relation[:, 0] > 0
        groups = [
            HeadGroup(heads, self._bias(allowed, batch, dtype))
            for heads, allowed in ((self.plan.mask, mask), (self.plan.transposed, mask.transpose(1, 2)))
        ]
        if self.plan.plain:
            groups.append(HeadGroup(self.plan.plain, hidden_padding(batch.real, dtype)))
        return (tuple(groups),)

    def _bias(self, mask: Tensor, batch: Batch, dtype: torch.dtype) -> LineBias | MaskedScores:
        # Padding is hidden, never multiplied: a factor of 0 would give each padded token the weight
        # exp(0) = 1, and the prediction would depend on the longest input of the batch.
        if self.mask_mode == "additive":
            return LineBias(unless(mask, dtype), batch.line, batch.real).ready()
        return MaskedScores(mask, batch.line, batch.real, dtype).ready()


class SYMC(LineNetwork):
    """The naming network with SYMC's attention: softmax(Q Kᵀ / √d ± distance) V.

    The bias is positive as written in the paper, which favours far lines. `sign=-1` favours near ones, and is
    the default of `codeaudit train`.
    """

    def __init__(self, shape: LineShape, sign: Sign = 1) -> None:
        super().__init__()
        if shape.heads < 2:
            raise ValueError(f"SYMC needs at least 2 heads, got {shape.heads}")
        self.sign = sign
        self.heads = shape.heads
        self.trunk = Trunk(shape, lambda: BiasedAttention(shape.width, shape.heads))
        self.positions = nn.Embedding(shape.line, shape.width) if shape.encoder is None else None

    def forward(self, batch: Batch) -> Tensor:
        """(B, K) logits of the labels."""
        logits: Tensor = self.trunk(batch, self.trunk.placed(self.positions, batch.position), self.relate)
        return logits

    def relate(self, batch: Batch, dtype: torch.dtype) -> tuple[Groups]:
        """p for the first half of the heads, n for the others."""
        half = self.heads // 2
        distances = self.sign * batch.relation.to(dtype)
        biases = (LineBias(distances[:, number], batch.line, batch.real).ready() for number in (0, 1))
        return (tuple(map(HeadGroup, (half, self.heads - half), biases)),)


class Vanilla(LineNetwork):
    """The naming network with plain attention and learned absolute positions."""

    def __init__(self, shape: LineShape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.trunk = Trunk(shape, lambda: BiasedAttention(shape.width, shape.heads))
        # One position for each place of the window, where the other networks count inside the line.
        self.positions = nn.Embedding(shape.window, shape.width) if shape.encoder is None else None

    def forward(self, batch: Batch) -> Tensor:
        """(B, K) logits of the labels."""
        places = torch.arange(batch.ids.shape[1], device=batch.ids.device)[None]
        # It knows no lines, so its neighbours are those of the text.
        line = torch.zeros_like(batch.line)
        logits: Tensor = self.trunk(batch, self.trunk.placed(self.positions, places), self.relate, line)
        return logits

    def relate(self, batch: Batch, dtype: torch.dtype) -> tuple[Groups]:
        """Nothing but padding."""
        return ((HeadGroup(self.heads, hidden_padding(batch.real, dtype)),),)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineArchitecture:
    """One network."""

    target: str
    """FOLDER.MODULE:CLASS under the folder of all papers, called with the shape and the options."""
    relation: Relation
    """The relation between lines that it reads."""
    summary: str
    options: Mapping[str, object]
    """Settings beside the shape, with their defaults."""
    neighbours: int = 2
    """Of a recipe that says nothing, see `LineShape`."""


NETWORKS: Final[Mapping[str, LineArchitecture]] = {
    "spe": LineArchitecture(
        target="spe_attention.networks:SPE",
        relation="mask",
        summary="SPE attention: equivariant to legal reorderings",
        options={"mask_mode": "hadamard", "all_heads": False, "line_positions": True},
    ),
    "symc": LineArchitecture(
        target="spe_attention.networks:SYMC",
        relation="distances",
        summary="SYMC: attention biased by distances in the dependence graph",
        options={"sign": -1},
    ),
    "vanilla": LineArchitecture(
        target="spe_attention.networks:Vanilla",
        relation="none",
        summary="a plain transformer with absolute positions",
        options={},
    ),
    "renamer": LineArchitecture(
        target="renamer.networks:Referents",
        relation="referents",
        summary="Renamer's views and referents: invariant to renaming variables",
        options={},
        neighbours=0,
    ),
    "code": LineArchitecture(
        target="dependency_encoding.naming:CoDE",
        relation="none",
        summary="CoDE: in-line and line-wise attention without positions",
        options={"features": 64},
        neighbours=0,
    ),
}


def build(name: str, shape: LineShape, options: Mapping[str, object]) -> LineNetwork:
    """A network with torch's initial weights.

    Raises:
        UsageError: an unknown name, or an option that it does not take.
        ValueError: sizes that do not fit together.
    """
    entry = entry_of("network", NETWORKS, name, options)
    # Imported by name: the import contract keeps the papers apart, and only a network in use is loaded.
    module, _, kind = entry.target.partition(":")
    make = getattr(import_module(f"codeaudit.audit.papers.{module}"), kind)
    network: LineNetwork = make(shape, **{**entry.options, **options})
    return network
