"""Attention over pairs that a rule describes, as one kernel without a tensor of all pairs: `flex_attention`.

A `PairRule` describes what a head knows, in functions of the numbers of a pair. `attended` gives it to
torch's kernel, which asks for each pair that it visits. `biases` asks for some rows at once. Both are one
formula.

The kernel is compiled for a GPU when it is first used. On a processor torch has no backward pass of it.

Dimension key: B batch, T tokens, S keys, R rows, H heads, K numbers of a head, Q and C blocks of rows and
keys.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, flex_attention

Look: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""From the numbers of an example, a head, a row and a key, of shapes that fit together, to a value each."""

FROM: Final = 512
"""Tokens from which the kernel is taken on a GPU; shorter inputs have few pairs."""
NARROWEST: Final = 16
"""Numbers of a head that the kernel needs; narrower heads are filled up with zeros."""
BLOCK: Final = 128
"""Rows and keys of a block of the kernel. It passes over blocks without a pair that is seen."""


class PairRule(NamedTuple):
    """softmax(score · factor + added) over allowed pairs; without a function 1, 0 and all pairs."""

    allowed: Look | None = None
    added: Look | None = None
    factor: Look | None = None

    def scored(self, score: Tensor, batch: Tensor, head: Tensor, row: Tensor, key: Tensor) -> Tensor:
        """Scores as they enter the softmax."""
        if self.factor is not None:
            score = score * self.factor(batch, head, row, key)
        return score if self.added is None else score + self.added(batch, head, row, key)


class Described(NamedTuple):
    """A rule, and the blocks of pairs that it allows."""

    rule: PairRule
    blocks: BlockMask | None


def pays(tokens: Tensor) -> bool:
    """Whether attention over (B, T, …) tokens takes the kernel: long inputs, on a GPU that can compile it."""
    return tokens.is_cuda and tokens.shape[1] >= FROM and not _failed


_failed: list[str] = []
"""Why the kernel cannot be compiled here."""


def attended(
    query: Tensor, key: Tensor, value: Tensor, described: Described, scale: float | None = None
) -> Tensor | None:
    """(B, H, T, K) from queries, keys, and values of any width; `None` where it cannot be compiled."""
    kind, wide = value.dtype, value.shape[-1]
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    query, key, value = (_filled(tensor.to(kind)) for tensor in (query, key, value))
    try:
        output = _kernel(query.device.type)(query, key, value, described, scale)
    except Exception as error:
        # By name: the compiler is imported when it is used.
        if not type(error).__module__.startswith(("torch._dynamo", "torch._inductor", "triton")):
            raise
        _failed.append(" ".join(str(error).split())[:200])
        warnings.warn(f"attention is not fused: {_failed[-1]}", stacklevel=2)
        return None
    return output[..., :wide]


@cache
def _kernel(device: str) -> Callable[[Tensor, Tensor, Tensor, Described, float], Tensor]:
    compiled: Any = torch.compile(flex_attention, dynamic=True) if device == "cuda" else flex_attention

    def called(query: Tensor, key: Tensor, value: Tensor, described: Described, scale: float) -> Tensor:
        rule, blocks = described
        plain = rule.factor is None and rule.added is None
        score = None if plain else rule.scored
        output: Tensor = compiled(query, key, value, score_mod=score, block_mask=blocks, scale=scale)
        return output

    # `--compile` compiles the blocks around it; the kernel is compiled by itself.
    outside: Any = torch.compiler.disable(recursive=False)  # type: ignore[no-untyped-call]
    apart: Callable[[Tensor, Tensor, Tensor, Described, float], Tensor] = outside(called)
    return apart


def _filled(x: Tensor) -> Tensor:
    return F.pad(x, (0, max(0, NARROWEST - x.shape[-1])))


def exact(x: Tensor) -> Tensor:
    """In float32 at least."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def described(rule: PairRule, batch: int, rows: int, keys: int, device: torch.device) -> Described:
    """A rule with its blocks; they do not differ between heads."""
    return Described(rule, None if rule.allowed is None else _blocks(rule.allowed, batch, rows, keys, device))


def _blocks(allowed: Look, batch: int, rows: int, keys: int, device: torch.device) -> BlockMask:
    # torch's own function makes a tensor of all pairs first; here it is one row of blocks at a time.
    some, every = [], []
    fill = -keys % BLOCK
    for first in range(0, rows, BLOCK):
        seen = _values(allowed, batch, slice(first, min(first + BLOCK, rows)), slice(0, keys), device)
        seen = seen.broadcast_to(batch, 1, -1, keys)[:, 0]
        some.append(F.pad(seen.any(1), (0, fill)).view(batch, -1, BLOCK).any(2))
        # A last block with fewer rows or keys is never taken as whole.
        whole = seen.all(1) if first + BLOCK <= rows else torch.zeros_like(seen[:, 0])
        every.append(F.pad(whole, (0, fill)).view(batch, -1, BLOCK).all(2))
    any_, all_ = (torch.stack(flags, 1)[:, None] for flags in (some, every))
    (partly, places), (wholly, whole_places) = _listed(any_ & ~all_), _listed(all_)
    return BlockMask.from_kv_blocks(
        *(partly, places, wholly, whole_places), BLOCK_SIZE=BLOCK, mask_mod=allowed, seq_lengths=(rows, keys)
    )


def _listed(present: Tensor) -> tuple[Tensor, Tensor]:
    """(B, 1, Q, C) blocks that are there, to how many a row of blocks has, and their numbers first."""
    order = present.int().argsort(dim=-1, descending=True, stable=True)
    return present.sum(-1, dtype=torch.int32), order.to(torch.int32)


def _values(look: Look, batch: int, rows: slice, keys: slice, device: torch.device, heads: int = 1) -> Tensor:
    """(B, H, R, S) of some rows and keys."""
    example, head, row, key = (
        torch.arange(part.start, part.stop, device=device)
        for part in (slice(0, batch), slice(0, heads), rows, keys)
    )
    return look(example[:, None, None, None], head[:, None, None], row[:, None], key)


def biases(
    rule: PairRule, batch: int, heads: int, rows: slice, keys: slice, device: torch.device, dtype: torch.dtype
) -> Tensor:
    """What is added to the scores, (B or 1, H or 1, R, S), of a rule without a factor."""
    assert rule.factor is None
    bias = torch.zeros((), device=device, dtype=dtype)
    if rule.added is not None:
        bias = _values(rule.added, batch, rows, keys, device, heads).to(dtype)
    if rule.allowed is None:
        return bias
    allowed = _values(rule.allowed, batch, rows, keys, device)
    return torch.where(allowed, bias, -torch.inf)
