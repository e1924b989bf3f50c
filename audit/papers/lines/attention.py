"""Attention whose heads know something about pairs of tokens, without a tensor of all pairs.

What a head knows is kept by line, as a table of all pairs of lines, or by token, as one number that equal
tokens share. On a GPU, long inputs go through one kernel (`fused`). Elsewhere attention goes through the rows
(the queries) in blocks. Only the biases of one block exist at a time, and torch's dense attention adds them
to the scores. With gradients, the blocks are computed again in the backward pass, so that they need not be
kept.

Dimension key: B batch, T tokens, S keys, R rows of a block, N lines, H heads, K numbers of a head.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final, NamedTuple, Self, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from typing_extensions import override

from codeaudit.audit.papers.lines import fused
from codeaudit.audit.papers.lines.fused import Described, PairRule

PAIRS: Final = 2**19
"""How many biases exist at once: 2 MiB in float32, which a processor's cache can hold."""
ON_DEVICE: Final = 16
"""Blocks on a GPU are so many times larger: it is slow to start, and has no cache to stay in."""


PLAIN: Final = 256
"""Keys up to which the plain formula trains faster in bfloat16 on a processor."""


class PairBias(ABC):
    """What heads know about pairs of tokens: a rule, and biases of some rows that are the same."""

    @property
    @abstractmethod
    def tokens(self) -> Tensor:
        """(B, T, …) one of its tensors."""

    @abstractmethod
    def rule(self) -> PairRule:
        """The description for the fused kernel, without the keys of `extended`."""

    @cached_property
    def described(self) -> Described:
        """The rule with the blocks of pairs that it allows."""
        batch, tokens = self.tokens.shape[:2]
        return fused.described(self.rule(), batch, tokens, tokens, self.tokens.device)

    def ready(self) -> Self:
        """Itself; what all layers share is made now, where no graph is compiled."""
        if fused.pays(self.tokens):
            _ = self.described
        return self

    def block(self, rows: slice, seen: slice, dtype: torch.dtype) -> Tensor:
        """The biases (B, 1, R, S) of some rows for the keys that they see."""
        tokens = self.tokens
        return fused.biases(self.rule(), len(tokens), 1, rows, seen, tokens.device, dtype)

    def visible(self, rows: slice, keys: int) -> slice:
        """The keys that some rows may see at all, out of `keys`."""
        return slice(0, keys)

    def extended(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (B, H, T, K) with those that the biases need beside them, (B, H, S, K)."""
        return key, value


ScoreBias: TypeAlias = PairBias | Tensor | None
"""Biases of pairs; a (B, 1, 1, T) tensor that hides padding from every row; or none."""


class HeadGroup(NamedTuple):
    """Neighbouring heads that know the same."""

    heads: int
    bias: ScoreBias = None


def attend(query: Tensor, key: Tensor, value: Tensor, groups: Sequence[HeadGroup]) -> Tensor:
    """softmax(Q Kᵀ / √K + bias) V of all heads, (B, H, T, K); the groups cover the heads in their order."""
    outputs, first = [], 0
    for heads, bias in groups:
        part = slice(first, first + heads)
        outputs.append(_attended(query[:, part], key[:, part], value[:, part], bias))
        first += heads
    return outputs[0] if len(outputs) == 1 else torch.cat(outputs, 1)


def _attended(query: Tensor, key: Tensor, value: Tensor, bias: ScoreBias) -> Tensor:
    if not isinstance(bias, PairBias):
        return _mixed(query, key, value, bias)
    if isinstance(bias, Causal) and bias.whole:
        return _mixed(query, key, value, None, causal=True)
    if fused.pays(bias.tokens) and (output := fused.attended(query, key, value, bias.described)) is not None:
        return output
    key, value = bias.extended(key, value)

    def block(query: Tensor, key: Tensor, value: Tensor, rows: slice) -> Tensor:
        seen = bias.visible(rows, key.shape[2])
        mask = bias.block(rows, seen, query.dtype)
        key, value = key[:, :, seen], value[:, :, seen]
        return _mixed(query[:, :, rows], key, value, mask)

    return in_blocks(block, (query, key, value), query.shape[2], PAIRS // (len(key) * key.shape[2]))


def _mixed(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, *, causal: bool = False) -> Tensor:
    """softmax(Q Kᵀ / √K + bias) V, in the way that trains fastest; `causal` has no bias."""
    half = query.dtype == torch.bfloat16 and query.device.type == "cpu"
    if not (half and query.requires_grad and torch.is_grad_enabled()):
        return F.scaled_dot_product_attention(query, key, value, attn_mask=bias, is_causal=causal)
    # On a processor the backward pass of torch's fused attention is slow in bfloat16. At 100 tokens both
    # passes take 4.5 times as long as the plain formula, at 400 tokens 1.3 times as long as in float32.
    if key.shape[2] > PLAIN:
        wide = None if bias is None else bias.float()
        parts = query.float(), key.float(), value.float()
        return F.scaled_dot_product_attention(*parts, attn_mask=wide, is_causal=causal).to(value.dtype)
    scores = (query * query.shape[-1] ** -0.5) @ key.mT
    if causal:
        bias = torch.full_like(scores[0, 0], -torch.inf).triu(1)
    weights: Tensor = (scores if bias is None else scores + bias).softmax(-1)
    return weights.to(value.dtype) @ value


def in_blocks(block: Callable[..., Tensor], inputs: Sequence[Tensor], rows: int, size: int) -> Tensor:
    """(B, H, T, K) from `block(*inputs, rows)` for all rows, at most `size` at a time, or one if that is 0.

    With gradients, several blocks keep their inputs alone and are computed again in the backward pass. A
    compiled graph has one block, of any size.
    """
    if torch.compiler.is_compiling():
        # A loop over blocks would fix the number of tokens in the compiled graph.
        return block(*inputs, slice(0, rows))
    size = max(1, size) * (1 if inputs[0].device.type == "cpu" else ON_DEVICE)
    blocks = [slice(first, min(first + size, rows)) for first in range(0, rows, size)]
    if len(blocks) == 1:
        return block(*inputs, blocks[0])
    computed = partial(block, *inputs)
    if torch.is_grad_enabled():
        # No block draws random numbers, so there is no state of a generator to restore.
        computed = partial(checkpoint, block, *inputs, use_reentrant=False, preserve_rng_state=False)
    # From the last block on. Under causality it sees the most keys, so the tensors of each block fit into the
    # memory of the block before; in the other direction the heap would grow with every block.
    outputs = [computed(block) for block in reversed(blocks)]
    return torch.cat(outputs[::-1], 2)


def hidden_padding(real: Tensor, dtype: torch.dtype) -> Tensor | None:
    """(B, T) true for tokens, to the (B, 1, 1, T) bias that hides padding; `None` where there is none."""
    # Without a bias, torch takes its fastest attention. A traced graph has to be one for all inputs.
    unpadded = not torch.compiler.is_compiling() and bool(real.all())
    return None if unpadded else unless(real, dtype)[:, None, None]


def unless(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where allowed, else minus infinity."""
    return torch.zeros_like(allowed, dtype=dtype).masked_fill(~allowed, -torch.inf)


@dataclass(frozen=True)
class LineTable(PairBias):
    """What heads know about pairs of lines."""

    table: Tensor
    """(B, N, N) of lines."""
    line: Tensor
    """(B, T) line of each token."""
    real: Tensor
    """(B, T) whether there is a token. Padding is hidden, and is no member of a line."""

    @property
    @override
    def tokens(self) -> Tensor:
        return self.line

    @property
    @abstractmethod
    def by_token(self) -> Tensor:
        """(B, N, S) the biases of a line's tokens for all keys; computed once."""

    @override
    def ready(self) -> Self:
        if not fused.pays(self.line):
            _ = self.by_token
        return super().ready()

    @override
    def block(self, rows: slice, seen: slice, dtype: torch.dtype) -> Tensor:
        return _rows(self.by_token, self.line[:, rows], dtype)


@dataclass(frozen=True)
class LineBias(LineTable):
    """Biases that are equal for all tokens of a line."""

    @override
    def rule(self) -> PairRule:
        table, line, real = self.table, self.line, self.real
        return PairRule(
            allowed=lambda batch, head, row, key: real[batch, key],
            added=lambda batch, head, row, key: table[batch, line[batch, row], line[batch, key]],
        )

    @cached_property
    @override
    def by_token(self) -> Tensor:
        return _by_token(self.table, self.line, self.real)


def _by_token(table: Tensor, line: Tensor, real: Tensor) -> Tensor:
    """(B, N, N) biases of lines to (B, N, T) biases of a line's tokens for all tokens."""
    columns = line[:, None].expand(-1, table.shape[1], -1)
    return table.gather(2, columns).masked_fill(~real[:, None], -torch.inf)


def _rows(table: Tensor, line: Tensor, dtype: torch.dtype) -> Tensor:
    """The (B, 1, R, S) biases of (B, R) lines out of (B, N, S)."""
    batch, lines, keys = table.shape
    # Rows of one flat table, because whole rows are copied fast.
    place = line + lines * torch.arange(batch, device=line.device)[:, None]
    rows = table.view(-1, keys).index_select(0, place.flatten())
    return rows.view(batch, 1, -1, keys).to(dtype)


@dataclass(frozen=True)
class MaskedScores(LineTable):
    """The scores multiplied by a mask of zeros and ones by line: softmax(Q Kᵀ / √K ∘ M) V.

    A masked pair has the score 0, whatever its key. So all masked tokens of a line together act as one key of
    zeros with their mean as its value and the logarithm of their number as its bias. In blocks each line gets
    such a key beside the tokens. Then a pair is either seen as it is, or through its line's key, and biases
    of 0, log(number) and minus infinity say which: exactly the formula.
    """

    dtype: torch.dtype
    """The type of the scores."""

    @override
    def rule(self) -> PairRule:
        mask, line, real = self.table, self.line, self.real
        return PairRule(
            allowed=lambda batch, head, row, key: real[batch, key],
            factor=lambda batch, head, row, key: mask[batch, line[batch, row], line[batch, key]],
        )

    @property
    @override
    def by_token(self) -> Tensor:
        return self.keyed[0]

    @cached_property
    def keyed(self) -> tuple[Tensor, Tensor]:
        """(B, N, T + N) biases of the tokens, then of the lines' keys; (B, T) the share of each token in its
        line's mean.
        """
        real = self.real.to(self.dtype)
        count = real.new_zeros(self.table.shape[:2]).scatter_add(1, self.line, real)
        # A line without tokens has the logarithm minus infinity: its key is hidden.
        through = count.log()[:, None].expand_as(self.table).masked_fill(self.table, -torch.inf)
        tokens = _by_token(unless(self.table, self.dtype), self.line, self.real)
        return torch.cat([tokens, through], 2), real / count.clamp(min=1).gather(1, self.line)

    @override
    def extended(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        batch, heads, _, size = value.shape
        parts = value * self.keyed[1][:, None, :, None].to(value.dtype)
        means = value.new_zeros(batch, heads, self.table.shape[1], size)
        means = means.scatter_add(2, self.line[:, None, :, None].expand_as(parts), parts)
        return torch.cat([key, torch.zeros_like(means)], 2), torch.cat([value, means], 2)


@dataclass(frozen=True)
class SameKind(PairBias):
    """Each token sees those of its own kind alone."""

    kind: Tensor
    """(B, T) equal for tokens that see each other."""

    @property
    @override
    def tokens(self) -> Tensor:
        return self.kind

    @override
    def rule(self) -> PairRule:
        kind = self.kind
        return PairRule(allowed=lambda batch, head, row, key: kind[batch, row] == kind[batch, key])


@dataclass(frozen=True)
class Causal(PairBias):
    """Each token sees itself and those before it, from a first one on."""

    starts: Tensor
    """(B, T) the place of the first token that each token sees."""
    slopes: Tensor | None = None
    """(H,) by how much the scores of each head fall with the distance."""
    whole: bool = False
    """Whether all tokens see from the first one on, without slopes."""

    @property
    @override
    def tokens(self) -> Tensor:
        return self.starts

    @override
    def rule(self) -> PairRule:
        starts, slopes = self.starts, self.slopes
        allowed: fused.Look = lambda batch, head, row, key: (key <= row) & (key >= starts[batch, row])  # noqa: E731
        if slopes is None:
            return PairRule(allowed)
        return PairRule(allowed, added=lambda batch, head, row, key: (key - row) * slopes[head])

    @override
    def visible(self, rows: slice, keys: int) -> slice:
        return slice(int(self.starts[:, rows].amin()), rows.stop)
