"""What holds for every decoder: no look ahead, cached as uncached, chunked as unchunked."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from codeaudit.audit.papers.dependency_encoding.networks import DECODERS, PositionedAttention, build
from codeaudit.audit.papers.dependency_encoding.trunk import Cache, Decoder, DecoderSizes, TokenPlaces
from codeaudit.transforms.errors import UsageError

NEWLINE, START = 3, 19
SIZES = DecoderSizes(
    vocabulary=20, newline=NEWLINE, start=START, width=24, heads=6, layers=4, inner=32, window=8, features=10
)
VARIANTS: dict[str, tuple[str, dict[str, object]]] = {
    **{name: (name, {}) for name in DECODERS},
    "nope, sharper": ("nope", {"sharpness": 1.3}),
    "code without lines": ("code", {"in_line_mask": False}),
    "code without PACE": ("code", {"pace": False}),
    "code without MLP": ("code", {"mixer": False}),
    "code with (d)": ("code", {"direct": True}),
    "code with d in the stream": ("code", {"residual_add": True}),
    "code with unit columns": ("code", {"unit_columns": True}),
    "code, two in-line layers, one line-wise": ("code", {"in_line": 2}),
    "code, no plain layer": ("code", {"plain": 0}),
}

Make: TypeAlias = Callable[[], Decoder]


def network(variant: str, sizes: DecoderSizes = SIZES) -> Decoder:
    """A network all of whose weights matter: none is as small or as even as it starts."""
    name, options = VARIANTS[variant]
    torch.manual_seed(0)
    net = build(name, sizes, options).double().eval()
    with torch.no_grad():
        for weight in net.parameters():
            weight.add_(0.3 * torch.randn(weight.shape))
    return net


def texts(count: int = 3, length: int = 21) -> Tensor:
    """(B, S) ids with line breaks, behind a start."""
    rng = torch.Generator().manual_seed(5)
    ids = torch.randint(0, START, (count, length), generator=rng)
    ids[torch.rand(ids.shape, generator=rng) < 0.2] = NEWLINE
    ids[:, 0] = START
    return ids


@pytest.mark.thinned(3)
@pytest.mark.parametrize("variant", VARIANTS)
@torch.no_grad()
def test_a_later_token_changes_no_earlier_logit(variant: str) -> None:
    """Not even one that ends a line."""
    net, ids = network(variant), texts()
    before = net(ids)
    for place, other in ((5, NEWLINE), (12, 7), (20, START)):
        changed = ids.clone()
        changed[:, place] = torch.where(ids[:, place] == other, 11, other)
        after = net(changed)
        torch.testing.assert_close(after[:, :place], before[:, :place], rtol=0, atol=1e-9)
        assert (after[:, place] - before[:, place]).abs().max() > 1e-2


@pytest.mark.thinned(6)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("parts", [[21], [1] * 21, [4, 9, 1, 7]])
@torch.no_grad()
def test_what_is_remembered_answers_as_what_is_read_again(variant: str, parts: list[int]) -> None:
    """Token by token, and in pieces that cut lines, beyond the training length too."""
    net, ids = network(variant), texts()
    cache = Cache()
    logits = torch.cat([net(part, cache) for part in torch.split(ids, parts, 1)], 1)
    torch.testing.assert_close(logits, net(ids), rtol=0, atol=1e-9)


@pytest.mark.thinned(2)
@torch.no_grad()
@pytest.mark.parametrize("name", list(DECODERS))
def test_so_it_does_in_single_precision(name: str) -> None:
    """With the weights that a training begins with."""
    torch.manual_seed(0)
    net, cache, ids = build(name, SIZES, {}).eval(), Cache(), texts()
    logits = torch.cat([net(part, cache) for part in torch.split(ids, 1, 1)], 1)
    torch.testing.assert_close(logits, net(ids), rtol=0, atol=1e-5)


@pytest.mark.thinned(1)
@pytest.mark.parametrize("variant", VARIANTS)
@torch.no_grad()
def test_portions_of_queries_change_nothing(variant: str) -> None:
    """However few scores are held at once."""
    whole, one_by_one = network(variant), network(variant, replace(SIZES, scores=1))
    ids = texts(2, 70)
    torch.testing.assert_close(one_by_one(ids), whole(ids), rtol=0, atol=1e-9)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("variant", VARIANTS)
@torch.no_grad()
def test_padding_at_the_end_of_a_row_is_not_seen(variant: str) -> None:
    """So rows of different lengths may share a batch."""
    net, ids = network(variant), texts(1)
    padded = torch.cat((ids, torch.zeros(1, 6, dtype=torch.long)), 1)
    torch.testing.assert_close(net(padded)[:, :21], net(ids), rtol=0, atol=1e-9)


class _Largest(TorchDispatchMode):
    """Notes how many numbers the largest tensor has that anything makes."""

    size = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        output = function(*args, **(kwargs or {}))
        for tensor in output if isinstance(output, tuple) else (output,):
            if isinstance(tensor, Tensor):
                self.size = max(self.size, tensor.numel())
        return output


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("variant", VARIANTS)
@torch.no_grad()
def test_memory_of_scores_has_a_bound(variant: str) -> None:
    """No tensor has more numbers than the budget, where all scores at once would have many times as many."""
    length, budget = 400, 80_000
    net = network(variant, replace(SIZES, scores=budget))
    with _Largest() as largest:
        net(texts(1, length))
    assert largest.size <= budget < SIZES.heads * length**2 / 4


@pytest.mark.parametrize("name", list(DECODERS))
def test_a_baseline_has_one_layer_more(name: str) -> None:
    """Appendix A.3."""
    assert len(build(name, SIZES, {}).blocks) == SIZES.layers + (name != "code")


def test_lines_and_anchors_are_those_of_a_naive_loop() -> None:
    """A line break belongs to the line that it ends, and is the anchor of the next."""
    for row in texts(4, 30):
        places = TokenPlaces.of(row[None], 1, SIZES)
        line = anchor = 0
        for number, token in enumerate(row.tolist()):
            assert (int(places.lines[0, number]), int(places.anchors[0, number])) == (line, anchor)
            assert bool(places.ends[0, number]) == (token in (NEWLINE, START))
            if token in (NEWLINE, START):
                line, anchor = line + 1, number


@torch.no_grad()
def test_an_in_line_layer_sees_one_line() -> None:
    """A token of another line never changes what it gives."""
    torch.manual_seed(1)
    layer = PositionedAttention(SIZES, in_line=True).eval()
    ids = torch.tensor([[START, 5, 6, NEWLINE, 7, 8, 9, NEWLINE, 10, 11]])
    places = TokenPlaces.of(ids, ids.shape[1], SIZES)
    h = torch.randn(1, ids.shape[1], SIZES.width)
    before = layer(h, places, Cache().layer(0))
    for place in range(ids.shape[1]):
        changed = h.clone()
        changed[0, place] += 1
        moved = (layer(changed, places, Cache().layer(0)) - before)[0].abs().amax(1) > 1e-6
        same = (places.lines[0] == places.lines[0, place]) & (torch.arange(ids.shape[1]) >= place)
        assert moved.tolist() == same.tolist()


def test_names_and_options_that_are_wrong() -> None:
    """With the nearest that are right."""
    with pytest.raises(UsageError, match="'rope'"):
        build("ropes", SIZES, {})
    with pytest.raises(UsageError, match="'pace'"):
        build("code", SIZES, {"pase": True})
    with pytest.raises(UsageError, match="option"):
        build("alibi", SIZES, {"pace": True})
    with pytest.raises(ValueError, match="divide"):
        build("nope", replace(SIZES, heads=7), {})
    with pytest.raises(ValueError, match="even"):
        build("rope", replace(SIZES, heads=8), {})
    with pytest.raises(ValueError, match="line-wise"):
        build("code", replace(SIZES, layers=2), {})


@pytest.mark.thinned(3)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_weight_learns(variant: str) -> None:
    """None is without effect on what is predicted."""
    net = network(variant).train()
    net(texts()).square().mean().backward()
    idle = [name for name, weight in net.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert not idle


@pytest.mark.parametrize("variant", ["code", "alibi"])
@torch.no_grad()
def test_kept_texts_read_on_by_themselves(variant: str) -> None:
    """As if each had been read alone, whatever stands beside it, also when one of them ends."""
    net, ids = network(variant), texts(1)
    cache = Cache()
    net.hidden(ids[:, :12], cache)
    cache.keep([0, 0, 0])
    after = torch.cat((ids[:, 12:], ids[:, 12:].flip(1), ids[:, 12:].roll(1, 1)))
    wholes = torch.cat((ids[:, :12].expand(3, -1), after), 1)
    hidden, _ = net.hidden(after[:, :3], cache)
    assert torch.allclose(net.logits(hidden), net(wholes)[:, 12:15], atol=1e-10)
    cache.keep([0, 2])
    hidden, _ = net.hidden(after[[0, 2], 3:], cache)
    assert torch.allclose(net.logits(hidden), net(wholes)[[0, 2], 15:], atol=1e-10)
