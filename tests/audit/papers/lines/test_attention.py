"""Attention in blocks against the whole formula, and what it never holds."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from codeaudit.audit.papers.dependency_encoding import naming
from codeaudit.audit.papers.dependency_encoding import trunk as decoders
from codeaudit.audit.papers.dependency_encoding.networks import build as build_decoder
from codeaudit.audit.papers.dependency_encoding.trunk import DecoderSizes
from codeaudit.audit.papers.lines import attention, trunk
from codeaudit.audit.papers.lines.attention import HeadGroup, attend, hidden_padding
from codeaudit.audit.papers.lines.encoding import EncodedLines
from codeaudit.audit.papers.lines.trunk import Batch, LineNetwork, collate
from codeaudit.audit.papers.spe_attention.networks import NETWORKS, SPE, head_plan
from tests.support.networks import CHAIN, SMALL, encoded, network

KINDS = [
    ("spe", {}),
    ("spe", {"mask_mode": "additive"}),
    ("spe", {"all_heads": True}),
    ("symc", {"sign": 1}),
    ("symc", {"sign": -1}),
    ("vanilla", {}),
    ("renamer", {}),
]
HEADS = 4


def long(kind: str) -> EncodedLines:
    """A function of 200 to 256 tokens, the window of the networks."""
    bodies = ("    value = value + 1\n" * lines for lines in count(20))
    texts = (encoded(kind, f"def MASK(value):\n{body}") for body in bodies)
    return next(text for text in texts if len(text.ids) >= 200)


def by_token(batch: Batch, number: int) -> Tensor:
    """(B, T, T) a relation between lines for all pairs of tokens."""
    rows = [
        plane[line[:, None], line] for plane, line in zip(batch.relation[:, number], batch.line, strict=True)
    ]
    return torch.stack(rows).double()


def whole(kind: str, options: dict[str, object], batch: Batch) -> Iterator[tuple[Tensor, Tensor]]:
    """The factor and the bias of all pairs, (B, H or 1, T, T), of each layer."""
    padding = torch.zeros(batch.ids.shape, dtype=torch.float64).masked_fill(~batch.real, -torch.inf)
    bias = padding[:, None, None]
    ones = torch.ones_like(bias)
    if kind == "spe":
        mask = by_token(batch, 0)
        plan = head_plan(HEADS, all_heads=bool(options.get("all_heads")))
        masks = [mask] * plan.mask + [mask.mT] * plan.transposed + [torch.ones_like(mask)] * plan.plain
        factor = torch.stack(masks, 1)
        if options.get("mask_mode") == "additive":
            yield from [(ones, bias.masked_fill(factor == 0, -torch.inf))] * 2
        else:
            yield from [(factor, bias)] * 2
    elif kind == "symc":
        near, far = by_token(batch, 0), by_token(batch, 1)
        yield from [(ones, options["sign"] * torch.stack([near, near, far, far], 1) + bias)] * 2
    elif kind == "vanilla":
        yield from [(ones, bias)] * 2
    else:
        assert batch.referents is not None
        variable = batch.referents > 0
        same = torch.where(
            variable[:, :, None] | variable[:, None],
            batch.referents[:, :, None] == batch.referents[:, None],
            batch.ids[:, :, None] == batch.ids[:, None],
        )
        yield ones, torch.zeros_like(same, dtype=torch.float64).masked_fill(~same, -torch.inf)[:, None]
        yield ones, bias


def told(made: LineNetwork, batch: Batch) -> list[Tensor]:
    """The logits, and the gradient of every weight."""
    made.zero_grad()
    logits = made(batch)
    # An input with fewer words to copy than another has minus infinity for the others.
    logits = logits.clamp_min(-100)
    (logits * torch.arange(logits.numel()).view_as(logits)).sum().backward()
    return [
        logits.detach(),
        *(weight.grad.clone() for weight in made.parameters() if weight.grad is not None),
    ]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("budget", [1, 3000, attention.PAIRS])
@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_blocks_of_rows_are_the_whole_formula(
    kind: str, options: dict[str, object], budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the whole network, gradients included, for a batch with padding, however small the blocks are."""
    made = network(kind, **options)
    batch = collate([encoded(kind, source) for source in (SMALL[1], CHAIN, "def MASK(): pass\n")])
    monkeypatch.setattr(attention, "PAIRS", budget)
    actual = told(made, batch)
    layers = whole(kind, options, batch)

    def dense(query: Tensor, key: Tensor, value: Tensor, groups: Sequence[HeadGroup]) -> Tensor:
        factor, bias = next(layers)
        scores = query @ key.mT / query.shape[-1] ** 0.5
        tensor: Tensor = (scores * factor + bias).softmax(-1) @ value
        return tensor

    monkeypatch.setattr(trunk, "attend", dense)
    for one, other in zip(actual, told(made, batch), strict=True):
        assert (one - other).abs().max() <= 1e-12 * max(1, other.abs().max())
    assert next(layers, None) is None, "every layer was compared"


@pytest.mark.parametrize("budget", [1, 30_000])
def test_codes_blocks_are_one_block(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole formula is compared in the tests of CoDE."""
    made = network("code")
    batch = collate([encoded("code", source) for source in (SMALL[1], CHAIN, "def MASK(): pass\n")])
    expected = told(made, batch)
    monkeypatch.setattr(attention, "PAIRS", budget)
    monkeypatch.setattr(naming, "SCORES", budget)
    for one, other in zip(told(made, batch), expected, strict=True):
        assert (one - other).abs().max() <= 1e-12 * max(1, other.abs().max())


@pytest.mark.parametrize("keys", [7, attention.PLAIN, attention.PLAIN + 1])
@pytest.mark.parametrize("hidden", [False, True])
def test_training_in_bfloat16_has_the_gradients_of_float32(keys: int, hidden: bool) -> None:
    torch.manual_seed(0)
    query, key, value = exact = [
        torch.randn(2, 3, keys, 8).bfloat16().float().requires_grad_() for _ in range(3)
    ]
    short_query, short_key, short_value = half = [part.detach().bfloat16().requires_grad_() for part in exact]
    bias = torch.zeros(2, 1, 1, keys)
    bias[1, :, :, keys // 2 :] = -torch.inf
    mask = bias if hidden else None
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    groups = [HeadGroup(3, None if mask is None else mask.bfloat16())]
    actual = attention.attend(short_query, short_key, short_value, groups)
    assert actual.dtype == torch.bfloat16
    for result in (expected, actual):
        (result.float() * torch.arange(result.numel()).view_as(result) / result.numel()).sum().backward()
    assert (actual - expected).abs().max() <= 0.02
    for one, other in zip(half, exact, strict=True):
        assert one.grad is not None
        assert other.grad is not None
        assert (one.grad - other.grad).abs().max() <= 0.02 * max(1, other.grad.abs().max())


class Largest(TorchDispatchMode):
    """Notes the size of the largest tensor that an operation gives."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        output = func(*args, **(kwargs or {}))
        for tensor in output if isinstance(output, tuple | list) else (output,):
            # A view of fewer numbers, such as an expanded one, holds no more than what it shows.
            if isinstance(tensor, Tensor):
                self.numbers = max(self.numbers, tensor.untyped_storage().nbytes() // tensor.element_size())
        return output


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(NETWORKS))
def test_no_tensor_holds_all_pairs_of_tokens(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "PAIRS", 2**12)
    monkeypatch.setattr(naming, "SCORES", 2**14)
    made = network(kind)
    batch = collate([long(kind)])
    largest, kept = held(lambda: made(batch))
    pairs = batch.ids.shape[1] ** 2
    assert 0 < kept <= pairs / 2
    assert largest <= pairs / 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["code", "nope", "alibi"])
def test_decoders_hold_no_tensor_of_all_pairs_either(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoders, "PORTION", 4)
    sizes = DecoderSizes(
        vocabulary=50, newline=3, start=2, width=16, layers=3, heads=4, inner=32, features=5, window=64
    )
    ids = torch.randint(3, 50, (1, 300), generator=torch.Generator().manual_seed(0))
    made = build_decoder(name, sizes, {})
    largest, kept = held(lambda: made(ids))
    assert 0 < kept <= 300**2 / 2
    assert largest <= 300**2 / 2


def held(forward: Callable[[], Tensor]) -> tuple[int, int]:
    """The numbers of the largest tensor in a training step, and of the largest kept for its backward pass."""
    kept = 0

    def counted(tensor: Tensor) -> Tensor:
        nonlocal kept
        kept = max(kept, tensor.numel())
        return tensor

    with Largest() as largest, torch.autograd.graph.saved_tensors_hooks(counted, lambda tensor: tensor):
        forward().sum().backward()
    return largest.numbers, kept


def test_padding_is_hidden_where_there_is_some() -> None:
    real = torch.tensor([[True, True, False], [True, True, True]])
    assert hidden_padding(real[1:], torch.float32) is None
    bias = hidden_padding(real, torch.float64)
    assert bias is not None
    assert bias.dtype == torch.float64
    assert bias.tolist() == [[[[0, 0, -torch.inf]]], [[[0, 0, 0]]]]


def test_groups_take_the_heads_in_their_order() -> None:
    query, key, value = torch.randn(3, 1, 3, 5, 4).unbind(0)
    hidden = torch.tensor([0, 0, -torch.inf, 0, 0])[None, None, None]
    actual = attend(query, key, value, [HeadGroup(2, hidden), HeadGroup(1)])
    scores = query @ key.mT / 2
    scores[:, :2] += hidden
    assert torch.allclose(actual, scores.softmax(-1) @ value, atol=1e-6)


@pytest.mark.parametrize("kind", sorted(NETWORKS))
def test_a_bag_of_tokens_makes_no_relation(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = network(kind)
    calls = count(1)
    monkeypatch.setattr(made, "relate", lambda *given: next(calls))
    made.trunk.bag = True
    made(collate([encoded(kind, CHAIN)]))
    assert next(calls) == 1, "never called"
    if isinstance(made, SPE):
        made.trunk.bag = False
        with pytest.raises(TypeError):
            made(collate([encoded(kind, CHAIN)]))
