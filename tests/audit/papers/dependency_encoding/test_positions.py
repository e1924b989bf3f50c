"""The baselines' positions against their formulas, written as loops."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from codeaudit.audit.papers.dependency_encoding.networks import (
    FIRE,
    ALiBi,
    Position,
    PositionedAttention,
    Rotary,
    nope,
    sharpen,
    slopes,
)
from codeaudit.audit.papers.dependency_encoding.trunk import Cache, DecoderBlock, TokenPlaces
from tests.audit.papers.dependency_encoding.test_decoders import SIZES, network, texts

WIDE = replace(SIZES, width=32, heads=2, window=64)


def scores(position: Position, query: Tensor, key: Tensor) -> Tensor:
    """(H, T, T) scores of (1, H, T, K) queries and keys at positions 0, 1, …"""
    numbers = torch.arange(query.shape[2])
    compared = position.turned(query, numbers) @ position.turned(key, numbers).transpose(-2, -1)
    bias = position.bias(numbers, numbers)
    return compared[0] if bias is None else compared[0] + bias


@torch.no_grad()
def test_attention_is_what_a_loop_says() -> None:
    """One softmax over the tokens before for each token and head; λ counts outside training alone."""
    torch.manual_seed(2)
    layer = PositionedAttention(SIZES, Position(1.7)).eval()
    h, places = torch.randn(1, 9, SIZES.width), TokenPlaces.of(texts(1, 9), 9, SIZES)
    size = SIZES.width // SIZES.heads
    for factor in (1.7, 1.0):
        expected = torch.zeros(1, 9, SIZES.width)
        query, key, value = ((linear(h)[0]) for linear in (layer.query, layer.key, layer.value))
        for head in range(SIZES.heads):
            part = slice(head * size, (head + 1) * size)
            for i in range(9):
                raw = [float(query[i, part] @ key[j, part]) / math.sqrt(size) * factor for j in range(i + 1)]
                total = sum(math.exp(score) for score in raw)
                for j, score in enumerate(raw):
                    expected[0, i, part] += math.exp(score) / total * value[j, part]
        torch.testing.assert_close(layer(h, places, Cache().layer(0)), layer.outward(expected))
        layer.train()


def test_nope_has_no_positions() -> None:
    """It asks for none, and its first layer gives a token the same wherever the same tokens stand before."""
    assert Position().bias(torch.arange(3), torch.arange(3)) is None
    x = torch.randn(1, 2, 3, 4)
    assert Position().turned(x, torch.arange(3)) is x
    net = network("nope")
    ids = texts(1, 12)
    shuffled = ids.clone()
    shuffled[0, 1:11] = ids[0, 1:11].flip(0)
    with torch.no_grad():
        block = net.blocks[0]
        assert isinstance(block, DecoderBlock)
        h, other = (block.before_attention(net.tokens(tokens)) for tokens in (ids, shuffled))
        places = TokenPlaces.of(ids, 12, SIZES)
        output, again = (block.attention(states, places, Cache().layer(0))[0, -1] for states in (h, other))
    torch.testing.assert_close(output, again)


@torch.no_grad()
@pytest.mark.parametrize("longest", [math.inf, 64.0])
def test_rope_and_hope_turn_pairs(longest: float) -> None:
    """A score is Σ over pairs of |q| |k| cos(angle between + Δ θ); HoPE's long waves have no Δ."""
    torch.manual_seed(3)
    query, key = torch.randn(2, 1, 2, 7, 16)
    actual = scores(Rotary(WIDE, longest), query, key)
    waves = 0
    for head in range(2):
        for i in range(7):
            for j in range(7):
                total = 0.0
                for k in range(8):
                    theta = 10_000 ** (-2 * k / 16)
                    if 2 * math.pi / theta > longest:
                        theta, waves = 0.0, waves + 1
                    q = complex(*query[0, head, i, 2 * k : 2 * k + 2].tolist())
                    r = complex(*key[0, head, j, 2 * k : 2 * k + 2].tolist())
                    turned = q * r.conjugate() * complex(math.cos((i - j) * theta), math.sin((i - j) * theta))
                    total += turned.real
                assert float(actual[head, i, j]) == pytest.approx(total, abs=1e-4)
    assert bool(waves) == (longest != math.inf)


@torch.no_grad()
def test_rope_depends_on_differences_only() -> None:
    """All positions moved by as much give the same scores."""
    rotary, x = Rotary(WIDE), torch.randn(2, 1, 2, 6, 16)
    numbers = torch.arange(6)
    one, other = (
        rotary.turned(x[0], numbers + by) @ rotary.turned(x[1], numbers + by).transpose(-2, -1)
        for by in (0, 50)
    )
    torch.testing.assert_close(one, other, rtol=0, atol=1e-4)


def test_slopes_of_alibi() -> None:
    """Powers of two by the formula; others interleaved, as the authors' code has them."""
    assert slopes(8) == [2.0**-h for h in range(1, 9)]
    assert slopes(4) == [0.25, 0.0625, 0.015625, 0.00390625]
    assert slopes(6) == [*slopes(4), slopes(8)[0], slopes(8)[2]]
    assert slopes(12) == [*slopes(8), *slopes(16)[0:8:2]]
    assert slopes(1) == [2.0**-8]


def test_alibi_and_fire_are_what_loops_say() -> None:
    """-m Δ, and f(ψ(Δ) / ψ(max(L, i)))."""
    torch.manual_seed(4)
    alibi, fire = ALiBi(SIZES), FIRE(SIZES)
    with torch.no_grad():
        fire.scale.fill_(0.37)
        fire.threshold.fill_(-0.5)
    queries, keys = torch.tensor([5, 6, 40]), torch.arange(41)
    straight, curved = alibi.bias(queries, keys), fire.bias(queries, keys)

    def psi(x: float) -> float:
        return math.log(abs(0.37 * x) + 1)

    for row, i in enumerate(queries.tolist()):
        for j in range(i + 1):
            share = psi(i - j) / (psi(max(0.5 * SIZES.window, i)) + 1e-6)
            expected = fire.shape(torch.tensor([share]))
            torch.testing.assert_close(curved[:, row, j], expected, rtol=1e-4, atol=1e-5)
            for head, slope in enumerate(slopes(SIZES.heads)):
                assert float(straight[head, row, j]) == pytest.approx(-slope * (i - j))


@torch.no_grad()
def test_a_network_is_sharpened_in_place() -> None:
    """NoPE and NoPE_λ differ in λ alone."""
    ids = texts()
    torch.manual_seed(0)
    plain = nope(SIZES).eval()
    torch.manual_seed(0)
    sharp = nope(SIZES, sharpness=1.4).eval()
    assert not torch.equal(plain(ids), sharp(ids))
    sharpen(plain, 1.4)
    assert torch.equal(plain(ids), sharp(ids))
