"""The trunk of the decoders: everything except attention.

A decoder of Llama's kind (Touvron et al. 2023), as CoDE and its baselines are ("Beyond Sequences", Zhang et
al., section 4): blocks with a norm before each branch (RMSNorm), SwiGLU, no biases, and one table of tokens
for reading and predicting. Tensors of read tokens are cached, so the next token costs one row.

A line break ends the line in which it stands. The token that starts a text is a line by itself, line 0. The
anchor of a line is the token that ended the line before it (section 3.2).

Dimension key: B batch, T new tokens, S tokens in all, D width, H heads, K = D / H, V vocabulary, C features.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from codeaudit.audit.papers.lines.attention import Causal

SPREAD: Final = 0.02
"""Standard deviation of the initial weights; ways out of a block have less.
It suits widths of a few hundred."""
SCORES: Final = 2**24
"""How many attention scores are held at once: 64 MiB in float32."""
PORTION: Final = 64
"""New tokens at once: keys that come after all of them are not compared at all."""
LONG: Final = 1024
"""With more tokens, half as many at once where no gradient is wanted: it saves memory, and costs time."""
NORM_EPSILON: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderSizes:
    """The sizes of a decoder."""

    vocabulary: int
    newline: int
    """The id of the line break."""
    start: int
    """The id of the token that every text starts with."""
    width: int = 192
    layers: int = 4
    heads: int = 6
    inner: int = 512
    """Inner width of the feed-forward branch."""
    window: int = 256
    """Tokens of an input in training. Longer ones are extrapolation."""
    features: int = 64
    """Entries of CoDE's dictionaries."""
    dropout: float = 0.0
    spread: float = SPREAD
    """Standard deviation of the initial weights of blocks."""
    scores: int = SCORES
    """See `SCORES`."""
    tied: bool = True
    """Whether one table serves for reading and predicting. In Llama there are two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPlaces:
    """Where the tokens of an input stand, those that are remembered included."""

    new: int
    """T: the number of new tokens, which are the last ones."""
    lines: Tensor
    """(B, S) the line of each token."""
    anchors: Tensor
    """(B, S) the position of the anchor of each token's line; 0 where there is none before."""
    ends: Tensor
    """(B, S) whether a token ends its line."""
    codes: list[Tensor] = field(default_factory=list)
    """(B, T, C) of each line-wise layer: the features of every new token as an anchor."""
    shared: dict[bool, Causal] = field(default_factory=dict)
    """What the layers that see one line share, and those that see everything."""

    @classmethod
    def of(cls, ids: Tensor, new: int, sizes: DecoderSizes) -> "TokenPlaces":
        """Those of (B, S) ids."""
        ends = (ids == sizes.newline) | (ids == sizes.start)
        count = ends.long()
        numbers = torch.arange(ids.shape[1], device=ids.device)
        # The running maximum of the places of ends is the last end so far. Shifted by one, because the anchor
        # ended the line *before*; a line break is a token of the line that it ends (section 3.1).
        last = torch.where(ends, numbers, 0).cummax(1).values
        return cls(new=new, lines=count.cumsum(1) - count, anchors=F.pad(last, (1, -1)), ends=ends)

    def causal(self, slopes: Tensor | None, *, in_line: bool) -> Causal:
        """What a layer's tokens see, where nothing is remembered; all layers have the same `slopes`."""
        if in_line not in self.shared:
            # A line begins behind its anchor, line 0 with the text.
            begins = torch.where(self.lines == 0, 0, self.anchors + 1)
            self.shared[in_line] = Causal(begins if in_line else torch.zeros_like(begins), slopes)
        return self.shared[in_line]

    @property
    def total(self) -> int:
        """S."""
        return self.lines.shape[1]

    @property
    def before(self) -> int:
        """How many tokens are remembered."""
        return self.total - self.new

    @property
    def positions(self) -> Tensor:
        """(S,) from 0."""
        return torch.arange(self.total, device=self.lines.device)

    def portion(self, each: int, budget: int) -> int:
        """How many new tokens at once keep `each` numbers per pair of tokens within a budget."""
        # 4,096 tokens and 9 · 8 numbers per pair would take 4.8 GB at once.
        most = PORTION // 2 if self.total > LONG and not torch.is_grad_enabled() else PORTION
        return min(most, budget // (each * self.total))

    def rows(self, part: slice, *, in_line: bool) -> "Rows":
        """Some of the new tokens, and which keys they may see at all."""
        absolute = slice(self.before + part.start, self.before + part.stop)
        # A line begins behind its anchor, or with it where that is the first token.
        first = int(self.anchors[:, absolute].amin()) if in_line else 0
        return Rows(absolute, slice(first, absolute.stop))

    def allowed(self, rows: "Rows", *, in_line: bool) -> Tensor:
        """(B or 1, 1, R, S) which of the keys that they may see each row attends to."""
        positions = self.positions
        causal = positions[None, rows.seen] <= positions[rows.absolute, None]
        if not in_line:
            return causal[None, None]
        same = self.lines[:, rows.absolute, None] == self.lines[:, None, rows.seen]
        return (same & causal)[:, None]


class Rows(NamedTuple):
    """Some of the new tokens, one after the other."""

    absolute: slice
    """Among all tokens."""
    seen: slice
    """The keys that they may see, among all tokens."""


class Memory:
    """The tensors that one layer keeps of the tokens that it has read."""

    def __init__(self) -> None:
        self._tensors: dict[str, Tensor] = {}

    def keep(self, texts: Tensor) -> None:
        """Keep of the texts of the batch only these, in this order; one may stand there several times."""
        self._tensors = {name: tensor[texts] for name, tensor in self._tensors.items()}

    def extended(self, name: str, new: Tensor) -> Tensor:
        """(…, T, size) appended to the tensor kept under that name: (…, S, size)."""
        before = self._tensors.get(name)
        tensor = new if before is None else torch.cat((before, new), -2)
        self._tensors[name] = tensor
        return tensor


class Cache:
    """The state of a decoder after reading a batch of texts; with it the decoder reads on."""

    def __init__(self) -> None:
        self.ids: Tensor | None = None
        """(B, S) the tokens read."""
        self._layers: list[Memory] = []

    def read(self, ids: Tensor) -> Tensor:
        """(B, T) new tokens; gives all (B, S)."""
        self.ids = ids if self.ids is None else torch.cat((self.ids, ids), 1)
        return self.ids

    def keep(self, texts: Sequence[int]) -> None:
        """Keep of the texts of the batch only these, in this order; one may stand there several times."""
        if self.ids is None:
            return
        places = torch.tensor(texts, dtype=torch.long, device=self.ids.device)
        self.ids = self.ids[places]
        for layer in self._layers:
            layer.keep(places)

    def layer(self, number: int) -> Memory:
        """The memory of a layer."""
        while len(self._layers) <= number:
            self._layers.append(Memory())
        return self._layers[number]


class DecoderAttention(nn.Module):
    """Multi-head attention; a network file derives its own from it, and only `forward` is left to it."""

    def __init__(self, sizes: DecoderSizes) -> None:
        super().__init__()
        if sizes.width % sizes.heads:
            raise ValueError(f"{sizes.heads} heads do not divide the width {sizes.width}")
        self.heads, self.budget = sizes.heads, sizes.scores
        self.query, self.key, self.value, self.outward = (
            nn.Linear(sizes.width, sizes.width, bias=False) for _ in range(4)
        )

    def split(self, x: Tensor) -> Tensor:
        """(B, T, D) to (B, H, T, K)."""
        batch, tokens, width = x.shape
        return x.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)

    def join(self, heads: Tensor) -> Tensor:
        """(B, H, T, K) to (B, T, D), on the way out."""
        joined: Tensor = self.outward(heads.transpose(1, 2).flatten(2))
        return joined

    def forward(self, h: Tensor, places: TokenPlaces, memory: Memory) -> Tensor:
        """(B, T, D) normed states of the new tokens to the (B, T, D) addition to the residual stream."""
        raise NotImplementedError


class SwiGLU(nn.Module):
    """SwiGLU (Shazeer 2020)."""

    def __init__(self, sizes: DecoderSizes) -> None:
        super().__init__()
        self.gate = nn.Linear(sizes.width, sizes.inner, bias=False)
        self.up = nn.Linear(sizes.width, sizes.inner, bias=False)
        self.down = nn.Linear(sizes.inner, sizes.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(…, D) to (…, D)."""
        fed: Tensor = self.down(F.silu(self.gate(x)) * self.up(x))
        return fed


class DecoderBlock(nn.Module):
    """x + attention(norm(x)), then x + feed(norm(x))."""

    def __init__(self, sizes: DecoderSizes, attention: DecoderAttention) -> None:
        super().__init__()
        self.before_attention = nn.RMSNorm(sizes.width, eps=NORM_EPSILON)
        self.attention = attention
        self.before_feed = nn.RMSNorm(sizes.width, eps=NORM_EPSILON)
        self.feed = SwiGLU(sizes)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(self, x: Tensor, places: TokenPlaces, memory: Memory | None = None) -> Tensor:
        """(B, T, D) to (B, T, D); without a memory nothing was read before, and nothing is kept."""
        # Made here: a block that is computed again in the backward pass must not find what it kept before.
        memory = Memory() if memory is None else memory
        x = x + self.dropout(self.attention(self.before_attention(x), places, memory))
        fed: Tensor = x + self.dropout(self.feed(self.before_feed(x)))
        return fed


class Decoder(nn.Module):
    """Tokens to the logits of the next one."""

    def __init__(self, sizes: DecoderSizes, attentions: Sequence[Callable[[], DecoderAttention]]) -> None:
        """One block for each attention, made in order.

        Raises:
            ValueError: sizes that do not fit together.
        """
        super().__init__()
        self.sizes = sizes
        self.tokens = nn.Embedding(sizes.vocabulary, sizes.width)
        self.blocks = nn.ModuleList(DecoderBlock(sizes, make()) for make in attentions)
        self.norm = nn.RMSNorm(sizes.width, eps=NORM_EPSILON)
        self.out = None if sizes.tied else nn.Linear(sizes.width, sizes.vocabulary, bias=False)
        self._initialise()

    def forward(self, ids: Tensor, cache: Cache | None = None) -> Tensor:
        """(B, T) ids, behind those that the cache holds, to (B, T, V) logits.

        A row may be padded at its end with anything: no token sees a later one.
        """
        return self.logits(self.hidden(ids, cache)[0])

    def hidden(self, ids: Tensor, cache: Cache | None = None) -> tuple[Tensor, TokenPlaces]:
        """(B, T) ids to the (B, T, D) states before the logits, and the places of the tokens."""
        read = ids if cache is None else cache.read(ids)
        places = TokenPlaces.of(read, ids.shape[1], self.sizes)
        x = self.tokens(ids)
        for number, block in enumerate(self.blocks):
            x = block(x, places, None if cache is None else cache.layer(number))
        return self.norm(x), places

    def logits(self, hidden: Tensor) -> Tensor:
        """(…, D) to (…, V)."""
        if self.out is not None:
            logits: Tensor = self.out(hidden)
            return logits
        # One table for both ends: at a few million weights a second one would be most of the network.
        return F.linear(hidden, self.tokens.weight)

    @torch.no_grad()
    def _initialise(self) -> None:
        # As in GPT-2: each block adds to the stream twice, so the last layers of its branches start smaller
        # the deeper the network is.
        ways_out = (2 * len(self.blocks)) ** -0.5
        nn.init.normal_(self.tokens.weight, std=SPREAD)
        if self.out is not None:
            nn.init.normal_(self.out.weight, std=SPREAD)
        for name, module in self.blocks.named_modules():
            # Only layers without a bias are Llama's; those of CoDE's dictionary and MLP have set their own
            # weights.
            if isinstance(module, nn.Linear) and "bias" not in dict(module.named_parameters()):
                out = name.endswith((".outward", ".down"))
                nn.init.normal_(module.weight, std=self.sizes.spread * (ways_out if out else 1.0))


def pace(positions: Tensor, window: int) -> Tensor:
    """PACE: log_m(max(l, m)) of (T,) positions l for a training length of m tokens, in float64; 1 within it.

    The paper says "clip(l, m) … capped at a maximum of m", which would let it do nothing beyond.
    """
    base = max(2, window)
    return positions.clamp(min=base).double().log() / positions.new_tensor(base).double().log()


def each_pair(layer: nn.Linear, x: Tensor) -> Tensor:
    """(B, I, N) to (B, O, N). Batched, it takes half the time of `weight @ x`, which copies x first."""
    return torch.baddbmm(layer.bias[None, :, None], layer.weight.expand(len(x), -1, -1), x)


def added_pairs(layer: nn.Linear, x: Tensor, to: Tensor) -> Tensor:
    """As `each_pair`, plus (B, O, N) numbers, which change."""
    return torch.baddbmm(to.add_(layer.bias[None, :, None]), layer.weight.expand(len(x), -1, -1), x)
