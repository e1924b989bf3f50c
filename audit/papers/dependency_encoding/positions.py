"""How the baselines of CoDE know where a token stands (appendix A.3), and the attention that asks them.

Scores are s(i, j) = q_i · k_j / sqrt(K) for j <= i. Positions count from 0; Δ = i - j.

NoPE (Haviv et al. 2022) adds nothing: the causal mask alone gives the order. NoPE_λ (Wang
et al. 2024) multiplies all scores by one λ > 1 when the trained network is used. RoPE (Su et al. 2024) turns
the k-th pair of numbers of queries and keys by the angle i · θ_k with θ_k = 10000^(-2k/K). HoPE (Chen et al.
2024) does so where the wavelength 2π / θ_k is at most the training length, and leaves the other pairs without
positions. ALiBi (Press et al. 2021) subtracts m_h · Δ. FIRE (Li et al. 2023) adds f(ψ(Δ) / ψ(max(L, i))).

Dimension key as in `trunk`; R rows, which are some of the new tokens.
"""

import math
from collections.abc import Callable
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from codeaudit.audit.papers.dependency_encoding.trunk import (
    Decoder,
    DecoderAttention,
    DecoderSizes,
    Memory,
    TokenPlaces,
)

BASE: Final = 10_000.0
"""Of the angles of RoPE."""
FIRE_WIDTH: Final = 32
FIRE_SCALE: Final = 0.1
"""Initial c of FIRE."""
EPSILON: Final = 1e-6


class Position(nn.Module):
    """The positions of an attention. The base has none: NoPE, or NoPE_λ with another `sharpness` than 1."""

    held = 0
    """How many numbers a bias takes for each pair of tokens while it is made."""

    def __init__(self, sharpness: float = 1.0) -> None:
        super().__init__()
        self.sharpness = sharpness
        """λ: scores are multiplied by it outside training."""

    def turned(self, x: Tensor, positions: Tensor) -> Tensor:
        """(B, H, T, K) queries or keys at (T,) positions, as they are compared."""
        return x

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor | None:
        """The bias (H, R, S) of the scores of (R,) and (S,) positions; `None` for none."""
        return None


class Rotary(Position):
    """RoPE; with a `longest` wavelength, HoPE."""

    angles: Tensor
    """(K / 2,) θ_k, 0 for pairs without positions."""

    def __init__(self, sizes: DecoderSizes, longest: float = math.inf) -> None:
        super().__init__()
        size = sizes.width // sizes.heads
        if size % 2:
            raise ValueError(f"heads of {size} numbers cannot be turned in pairs; take an even number")
        angles = BASE ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
        angles = torch.where(2 * math.pi / angles <= longest, angles, 0.0)
        self.register_buffer("angles", angles.float(), persistent=False)

    def turned(self, x: Tensor, positions: Tensor) -> Tensor:
        """The numbers 2k and 2k + 1 are a pair."""
        turn = positions[:, None].to(self.angles.dtype) * self.angles
        cosine, sine = turn.cos().to(x.dtype), turn.sin().to(x.dtype)
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1).flatten(-2)


class ALiBi(Position):
    """A penalty that grows with the distance, for each head with another slope."""

    slopes: Tensor
    """(H,)"""

    def __init__(self, sizes: DecoderSizes) -> None:
        super().__init__()
        self.held = sizes.heads
        self.register_buffer("slopes", torch.tensor(slopes(sizes.heads)), persistent=False)

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        """-m_h Δ."""
        apart = (queries[:, None] - keys).to(self.slopes.dtype)
        return -self.slopes[:, None, None] * apart


def slopes(heads: int) -> list[float]:
    """m_h = 2^(-8h/H) for h = 1 … H, if H is a power of two. Else those of the next lower power, and between
    them every other one of the next higher, as the authors have it.
    """
    power = 2 ** int(math.log2(heads))
    found = [2.0 ** (-8 * number / power) for number in range(1, power + 1)]
    between = [2.0 ** (-8 * number / (2 * power)) for number in range(1, 2 * power + 1, 2)]
    return found + between[: heads - power]


class FIRE(Position):
    """A learned function of the distance, as a share of how far back there is anything.

    f has one hidden layer of 32 with ReLU, ψ(x) = log(|c x| + 1), and L = |l · window|: the authors' first L
    is 512, which is the window of their small models.
    """

    def __init__(self, sizes: DecoderSizes) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(FIRE_SCALE))
        self.threshold = nn.Parameter(torch.tensor(1.0))
        """L as a multiple of the window."""
        self.window = float(sizes.window)
        self.held = FIRE_WIDTH + sizes.heads
        self.shape = nn.Sequential(nn.Linear(1, FIRE_WIDTH), nn.ReLU(), nn.Linear(FIRE_WIDTH, sizes.heads))

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        """f(ψ(Δ) / ψ(max(L, i))). Keys after the query, which the mask takes out, count as Δ = 0."""
        apart = (queries[:, None] - keys).clamp(min=0).to(self.scale.dtype)
        reach = torch.maximum((self.threshold * self.window).abs(), queries.to(self.scale.dtype))
        share = self._squeezed(apart) / (self._squeezed(reach)[:, None] + EPSILON)
        biases: Tensor = self.shape(share[..., None])
        return biases.permute(2, 0, 1)

    def _squeezed(self, x: Tensor) -> Tensor:
        return torch.log((self.scale * x).abs() + 1)


class PositionedAttention(DecoderAttention):
    """Causal attention that asks a position; with `in_line`, to tokens of the same line only (section 3.1).

    The paper's mask of section 3.1 allows later tokens of the line too; for a decoder it has to be causal.
    """

    def __init__(
        self, sizes: DecoderSizes, position: Position | None = None, *, in_line: bool = False
    ) -> None:
        super().__init__(sizes)
        self.position = Position() if position is None else position
        self.in_line = in_line

    def forward(self, h: Tensor, places: TokenPlaces, memory: Memory) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        positions = places.positions
        new = positions[places.before :]
        query = self.position.turned(self.split(self.query(h)), new)
        key = memory.extended("key", self.position.turned(self.split(self.key(h)), new))
        value = memory.extended("value", self.split(self.value(h)))
        scale = query.shape[-1] ** -0.5 * (1.0 if self.training else self.position.sharpness)
        mixed = []
        for rows in places.rows(len(h) * self.heads + self.position.held, self.budget):
            mask = places.allowed(rows, in_line=self.in_line)
            bias = self.position.bias(positions[rows.absolute], positions[: rows.seen])
            if bias is not None:
                mask = bias.to(query.dtype)[None].masked_fill(~mask, -torch.inf)
            mixed.append(
                F.scaled_dot_product_attention(
                    query[:, :, rows.new],
                    key[:, :, : rows.seen],
                    value[:, :, : rows.seen],
                    attn_mask=mask,
                    scale=scale,
                )
            )
        return self.join(torch.cat(mixed, 2))


def positioned(sizes: DecoderSizes, position: Callable[[], Position]) -> Decoder:
    """A baseline: one layer more than CoDE has, which stands for CoDE's dictionaries (appendix A.3)."""
    return Decoder(sizes, [lambda: PositionedAttention(sizes, position())] * (sizes.layers + 1))


def nope(sizes: DecoderSizes, *, sharpness: float = 1.0) -> Decoder:
    """NoPE; with a `sharpness` above 1, NoPE_λ."""
    return positioned(sizes, lambda: Position(sharpness))


def rope(sizes: DecoderSizes) -> Decoder:
    """RoPE."""
    return positioned(sizes, lambda: Rotary(sizes))


def hope(sizes: DecoderSizes) -> Decoder:
    """HoPE."""
    return positioned(sizes, lambda: Rotary(sizes, longest=sizes.window))


def alibi(sizes: DecoderSizes) -> Decoder:
    """ALiBi."""
    return positioned(sizes, lambda: ALiBi(sizes))


def fire(sizes: DecoderSizes) -> Decoder:
    """FIRE."""
    return positioned(sizes, lambda: FIRE(sizes))


def sharpen(network: Decoder, sharpness: float) -> None:
    """Make NoPE NoPE_λ, in place."""
    for module in network.modules():
        if isinstance(module, Position):
            module.sharpness = sharpness
