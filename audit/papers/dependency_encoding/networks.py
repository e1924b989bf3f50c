"""CoDE and its baselines, by name: decoders that differ in how they know where a token stands.

"Beyond Sequences: Two-dimensional Representation and Dependency Encoding for Code Generation" (Zhang et al.).

**CoDE.** The first layers see one line at a time (section 3.1), one layer sees everything, and in the others
every line has a dependency encoding, made from the state of its anchor (section 3.2):

    c_r = ReLU(E h_a + b),   d_r = D c_r,   d_i = log_m(max(l_i, m)) · d_r      for a token i of line r

with h the normed states, a the anchor of line r, m the training length, and l_i the position of token i from
1. With the four scores, each divided by sqrt(K),

    (a) q(h_i) · k(h_j)   (b) q(h_i) · k(d_j)   (c) q(d_i) · k(h_j)   (d) q(d_i) · k(d_j)

attention is softmax((a) + (b) + (c) + MLP([a | b | c | d])), and values are made of h + d. The MLP works on
each pair of tokens and mixes the heads: 4H -> 4H -> H.

Where the paper is silent or slips:

- PACE: "clip(l, m) … capped at a maximum of m" would make the factor at most 1, and 1 beyond the training
  length. Table 7 has no change within it and one beyond, so m is a lower bound here.
- x <- x + d is local: queries, keys and values have it, the stream does not (`residual_add` adds it there).
- The dictionary has no reconstruction loss, and its L1 term can be escaped by larger columns of D, which
  `unit_columns` forbids.
- MLP: of width 4H with GELU, and its last layer starts at zero.
- `direct` (the ablation "w (d)") adds (d) to the other three and keeps the MLP.

**Baselines** (appendix A.3). Scores are s(i, j) = q_i · k_j / sqrt(K) for j <= i. Positions count from 0; Δ
= i - j. NoPE (Haviv et al. 2022) adds nothing: the causal mask alone gives the order. NoPE_λ (Wang et al.
2024) multiplies all scores by one λ > 1 when the trained network is used. RoPE (Su et al. 2024) turns the
k-th pair of numbers of queries and keys by the angle i · θ_k with θ_k = 10000^(-2k/K). HoPE (Chen et al.
2024) does so where the wavelength 2π / θ_k is at most the training length, and leaves the other pairs
without positions. ALiBi (Press et al. 2021) subtracts m_h · Δ. FIRE (Li et al. 2023) adds f(ψ(Δ) / ψ(max(L,
i))).

No network of these is invariant to the order of lines: anchors and causality depend on it.

Dimension key as in `trunk`; R rows, which are some of the new tokens.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
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
    added_pairs,
    each_pair,
    pace,
)
from codeaudit.audit.papers.lines import fused
from codeaudit.audit.papers.lines.attention import in_blocks
from codeaudit.audit.papers.registry import entry_of

BASE: Final = 10_000.0
"""Of the angles of RoPE."""
FIRE_WIDTH: Final = 32
FIRE_SCALE: Final = 0.1
"""Initial c of FIRE."""
EPSILON: Final = 1e-6


class Position(nn.Module):
    """The positions of an attention. The base has none: NoPE, or NoPE_λ with another `sharpness` than 1."""

    per_pair = 0
    """How many numbers a bias takes for each pair of tokens while it is made."""
    learned = False
    """Whether the bias is more than slopes."""

    def __init__(self, sharpness: float = 1.0) -> None:
        super().__init__()
        self.sharpness = sharpness
        """λ: scores are multiplied by it outside training."""
        self.slopes: Tensor | None = None
        """(H,) by how much scores fall with the distance."""

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
        # HoPE: a pair whose wavelength exceeds the training length has never turned fully in training, and
        # its angles beyond are new to the network. A zero angle leaves it without a position.
        angles = torch.where(2 * math.pi / angles <= longest, angles, 0.0)
        self.register_buffer("angles", angles.float(), persistent=False)

    def turned(self, x: Tensor, positions: Tensor) -> Tensor:
        """The numbers 2k and 2k + 1 are a pair."""
        turn = positions[:, None].to(self.angles.dtype) * self.angles
        cosine, sine = turn.cos().to(x.dtype), turn.sin().to(x.dtype)
        # Neighbours are a pair, as in the paper; other code pairs the two halves, which is a fixed
        # permutation.
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1).flatten(-2)


class ALiBi(Position):
    """A penalty that grows with the distance, for each head with another slope."""

    slopes: Tensor

    def __init__(self, sizes: DecoderSizes) -> None:
        super().__init__()
        self.per_pair = sizes.heads
        del self.slopes
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
    lower = [2.0 ** (-8 * number / power) for number in range(1, power + 1)]
    between = [2.0 ** (-8 * number / (2 * power)) for number in range(1, 2 * power + 1, 2)]
    return lower + between[: heads - power]


class FIRE(Position):
    """A learned function of the distance, as a share of how far back there is anything.

    f has one hidden layer of 32 with ReLU, ψ(x) = log(|c x| + 1), and L = |l · window|: the authors' first L
    is 512, which is the window of their small models.
    """

    learned = True

    def __init__(self, sizes: DecoderSizes) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(FIRE_SCALE))
        self.threshold = nn.Parameter(torch.tensor(1.0))
        """L as a multiple of the window."""
        self.window = float(sizes.window)
        self.per_pair = FIRE_WIDTH + sizes.heads
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
        # NoPE_λ sharpens the trained network only: λ is no part of the training.
        scale = query.shape[-1] ** -0.5 * (1.0 if self.training else self.position.sharpness)
        alone = places.before == 0 and not self.position.learned
        if alone and not self.in_line and self.position.slopes is None:
            return self.join(F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=scale))
        if alone and fused.pays(places.lines):
            described = places.causal(self.position.slopes, in_line=self.in_line).described
            attended = fused.attended(query, key, value, described, scale)
            if attended is not None:
                return self.join(attended)

        def block(query: Tensor, key: Tensor, value: Tensor, part: slice) -> Tensor:
            rows = places.rows(part, in_line=self.in_line)
            mask = places.allowed(rows, in_line=self.in_line)
            bias = self.position.bias(positions[rows.absolute], positions[rows.seen])
            if bias is not None:
                mask = bias.to(query.dtype)[None].masked_fill(~mask, -torch.inf)
            key, value = key[:, :, rows.seen], value[:, :, rows.seen]
            return F.scaled_dot_product_attention(query[:, :, part], key, value, attn_mask=mask, scale=scale)

        size = places.portion(len(h) * self.heads + self.position.per_pair, self.budget)
        return self.join(in_blocks(block, (query, key, value), places.new, size))


def positioned(sizes: DecoderSizes, position: Callable[[], Position]) -> Decoder:
    """A baseline: one layer more than CoDE has, which stands for CoDE's dictionaries (appendix A.3)."""
    # Each layer calls `position` anew, so FIRE's function is learned per layer.
    return Decoder(sizes, [lambda: PositionedAttention(sizes, position())] * (sizes.layers + 1))


def nope(sizes: DecoderSizes, *, sharpness: float = 1.0) -> Decoder:
    """NoPE; with a `sharpness` above 1, NoPE_λ."""
    return positioned(sizes, lambda: Position(sharpness))


def sharpen(network: Decoder, sharpness: float) -> None:
    """Make NoPE NoPE_λ, in place."""
    for module in network.modules():
        if isinstance(module, Position):
            module.sharpness = sharpness


class Dictionary(nn.Module):
    """c = ReLU(E h + b) and d = D c."""

    def __init__(self, sizes: DecoderSizes, *, unit_columns: bool = False) -> None:
        super().__init__()
        self.unit_columns = unit_columns
        self.encode = nn.Linear(sizes.width, sizes.features)
        self.decode = nn.Parameter(torch.empty(sizes.width, sizes.features))
        nn.init.normal_(self.decode, std=sizes.features**-0.5)
        nn.init.normal_(self.encode.weight, std=sizes.width**-0.5)
        nn.init.zeros_(self.encode.bias)

    @property
    def columns(self) -> Tensor:
        """(D, C) one column for each feature."""
        return F.normalize(self.decode, dim=0) if self.unit_columns else self.decode

    def forward(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """(…, D) anchors to (…, C) features and (…, D) encodings."""
        features = F.relu(self.encode(h))
        return features, F.linear(features, self.columns)


class Mixer(nn.Module):
    """The MLP over the scores of a pair of tokens: 4H -> 4H -> H."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.inward = nn.Linear(4 * heads, 4 * heads)
        self.outward = nn.Linear(4 * heads, heads)
        # From zero: at first the scores are (a) + (b) + (c), as without the MLP. The paper does not say.
        nn.init.zeros_(self.outward.weight)
        nn.init.zeros_(self.outward.bias)

    def forward(self, scores: Tensor, to: Tensor) -> Tensor:
        """(B, 4H, R, S) to (B, H, R, S), plus such numbers, which change."""
        inner = F.gelu(each_pair(self.inward, scores.flatten(2)))
        return added_pairs(self.outward, inner, to.flatten(2)).view_as(to)


class LineAttention(DecoderAttention):
    """Attention with dependency encodings of lines (section 3.2)."""

    def __init__(
        self,
        sizes: DecoderSizes,
        *,
        pace: bool = True,
        mixer: bool = True,
        direct: bool = False,
        residual_add: bool = False,
        unit_columns: bool = False,
    ) -> None:
        super().__init__(sizes)
        if sizes.window < 2:
            raise ValueError("PACE needs a training length of 2 or more")
        self.window, self.pace, self.direct, self.residual_add = sizes.window, pace, direct, residual_add
        self.dictionary = Dictionary(sizes, unit_columns=unit_columns)
        self.mixer = Mixer(sizes.heads) if mixer else None

    def forward(self, h: Tensor, places: TokenPlaces, memory: Memory) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        # q and k of h + d without adding: (h + d) W = h W + d W, which gives the four terms of section 3.2.
        d = self._encodings(h, places, memory)
        queries = [
            self.split(self.query(part)) * (self.query.in_features // self.heads) ** -0.5 for part in (h, d)
        ]
        keys = [
            memory.extended(name, self.split(self.key(part)))
            for name, part in (("key", h), ("key of encoding", d))
        ]
        value = memory.extended("value", self.split(self.value(h + d)))
        # The four terms as four times as many heads of one product, in their order.
        query = torch.cat([query for query in queries for _ in keys], 1)
        key = torch.cat([*keys, *keys], 1)
        size = places.portion(len(h) * self.heads * (9 if self.mixer is not None else 4), self.budget)
        block = partial(self._block, places)
        out = self.join(in_blocks(block, (query, key, value), places.new, size))
        # The paper's x <- x + d before the norm would make q and k those of norm(x + d), which is no sum of
        # the four terms. So d is local; the option adds it to the stream behind the attention.
        return out + d if self.residual_add else out

    def enhancement(self, positions: Tensor) -> Tensor:
        """PACE: (T,) positions from 0 to log_m(max(l, m)), which is 1 within the training length."""
        if not self.pace:
            return torch.ones_like(positions, dtype=torch.float64)
        return pace(positions + 1, self.window)

    def _encodings(self, h: Tensor, places: TokenPlaces, memory: Memory) -> Tensor:
        """(B, T, D) of the new tokens; each token's as an anchor is remembered."""
        features, encoding = self.dictionary(h)
        places.codes.append(features)
        encodings = memory.extended("encoding", encoding)
        # Features of every token are computed, those of anchors are used: a line's anchor may lie in an
        # earlier call, so its encoding must be in the memory already.
        anchors = places.anchors[:, places.before :, None].expand(-1, -1, encodings.shape[-1])
        factor = self.enhancement(places.positions[places.before :]).to(encodings.dtype)
        return encodings.gather(1, anchors) * factor[:, None]

    def _block(self, places: TokenPlaces, query: Tensor, key: Tensor, value: Tensor, part: slice) -> Tensor:
        """(B, H, R, K) of some rows from (B, 4H, T or S, K) factors of the terms and (B, H, S, K) values."""
        rows = places.rows(part, in_line=False)
        terms = query[:, :, part] @ key[:, :, rows.seen].transpose(-2, -1)
        a, b, c, d = terms.chunk(4, 1)
        scores = (a + b).add_(c)
        if self.direct:
            scores = scores.add_(d)
        if self.mixer is not None:
            scores = self.mixer(terms, scores)
        # All rows see the keys before the first row.
        near = scores[..., rows.absolute.start :]
        near.masked_fill_(torch.ones_like(near[0, 0], dtype=torch.bool).triu(1), -torch.inf)
        return scores.softmax(-1) @ value[:, :, rows.seen]


def code(
    sizes: DecoderSizes, *, in_line: int = 1, plain: int = 1, in_line_mask: bool = True, **variant: bool
) -> Decoder:
    """CoDE with `in_line` in-line layers, then `plain` causal ones, then line-wise ones.

    The paper's table 5 has one plain layer in the model of 71 M weights (2 + 1 + 5), and none in that of 10 M
    (1 + 3). Without the `in_line_mask` (the ablation "w/o In-line Modeling") the first layers see everything.
    The other options are those of `LineAttention`.

    Raises:
        ValueError: sizes that do not fit together.
    """
    if sizes.layers <= in_line + plain:
        raise ValueError(f"{sizes.layers} layers leave no line-wise one; take {in_line + plain + 1} or more")
    # The plain layer in between gives each line break the context that its line's encoding is made from
    # (footnote 1 of the paper).
    first = partial(PositionedAttention, sizes, in_line=in_line_mask)
    rest = partial(LineAttention, sizes, **variant)
    whole = partial(PositionedAttention, sizes)
    return Decoder(sizes, [first] * in_line + [whole] * plain + [rest] * (sizes.layers - in_line - plain))


def sparsity(places: TokenPlaces, real: Tensor) -> Tensor:
    """The L1 term: the mean over line-wise layers and lines of Σ |c|; 0 without line-wise layers.

    `real` is (B, T), false for padding. Within the training length PACE leaves features as they are.
    """
    if not places.codes:
        return real.new_zeros((), dtype=torch.float32)
    # Only a token that ends a line is an anchor; the features of others are never read.
    ends = places.ends[:, places.before :] & real
    sums = torch.stack([features.float().sum(-1)[ends].mean() for features in places.codes])
    return sums.mean()


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderArchitecture:
    """One decoder."""

    summary: str
    make: Callable[..., Decoder]
    """Called with the sizes and the options."""
    options: tuple[str, ...] = ()
    """Settings beside the sizes."""


DECODERS: Final[Mapping[str, DecoderArchitecture]] = {
    "code": DecoderArchitecture(
        summary="CoDE: lines and their dependencies, no positions",
        make=code,
        options=(
            *("in_line", "plain", "in_line_mask"),
            *("pace", "mixer", "direct", "residual_add", "unit_columns"),
        ),
    ),
    "rope": DecoderArchitecture(
        summary="RoPE: queries and keys turned by their positions",
        make=lambda sizes: positioned(sizes, lambda: Rotary(sizes)),
    ),
    "nope": DecoderArchitecture(summary="NoPE: no positions at all", make=nope, options=("sharpness",)),
    "fire": DecoderArchitecture(
        summary="FIRE: a learned function of the relative distance",
        make=lambda sizes: positioned(sizes, lambda: FIRE(sizes)),
    ),
    "hope": DecoderArchitecture(
        summary="HoPE: RoPE without its long wavelengths",
        make=lambda sizes: positioned(sizes, lambda: Rotary(sizes, longest=sizes.window)),
    ),
    "alibi": DecoderArchitecture(
        summary="ALiBi: a penalty that grows with the distance",
        make=lambda sizes: positioned(sizes, lambda: ALiBi(sizes)),
    ),
}


def build(name: str, sizes: DecoderSizes, options: Mapping[str, object]) -> Decoder:
    """A decoder with random weights.

    Raises:
        UsageError: an unknown name, or an option that it does not take.
        ValueError: sizes that do not fit together.
    """
    return entry_of("decoder", DECODERS, name, options).make(sizes, **options)
