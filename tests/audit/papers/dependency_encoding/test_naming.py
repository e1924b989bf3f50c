"""CoDE's attention against a slow reading of its formulas, and what it can and cannot see."""

import math

import pytest
import torch

from codeaudit.audit.papers.dependency_encoding.naming import (
    CoDE,
    LineWiseAttention,
    anchors,
    stages,
)
from codeaudit.audit.papers.dependency_encoding.trunk import pace
from codeaudit.audit.papers.lines.trunk import Batch, BiasedAttention, collate
from codeaudit.audit.papers.spe_attention.networks import build
from tests.support.networks import CHAIN, SMALL, encoded, legal_orders, logits, network, shape


def made(*, layers: int = 3, features: int = 5, window: int = 256) -> CoDE:
    """A network with generic weights in float64."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = CoDE(shape(layers=layers, window=window), features).double().eval()
        with torch.no_grad():
            for weight in net.parameters():
                weight.normal_(0, 0.5)
    return net


def states(batch: Batch) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(*batch.ids.shape, 16, dtype=torch.float64, generator=generator)


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("layers", "plan"), [(2, (1, 0, 1)), (3, (1, 1, 1)), (4, (1, 1, 2)), (8, (2, 1, 5)), (12, (3, 1, 8))]
)
def test_layers_are_split_as_published(layers: int, plan: tuple[int, int, int]) -> None:
    assert stages(layers) == plan
    kinds = [type(block.attention) for block in made(layers=layers).trunk.blocks]
    assert kinds == [BiasedAttention] * sum(plan[:2]) + [LineWiseAttention] * plan[2]


@pytest.mark.slow
def test_sizes_without_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 layers, got 1"):
        stages(1)
    with pytest.raises(ValueError, match="at least 1 feature, got 0"):
        build("code", shape(), {"features": 0})


def test_the_anchor_of_a_line_is_the_last_token_of_the_line_before() -> None:
    batch = collate([encoded("code", CHAIN), encoded("code", "def MASK(): pass\n")])
    places = anchors(batch).tolist()
    for row, lines in enumerate(batch.line.tolist()):
        count = int(batch.real[row].sum())
        for token in range(count):
            before = [place for place in range(count) if lines[place] == lines[token] - 1]
            assert places[row][token] == (before[-1] + 1 if before else 0)


def test_pace_is_one_within_the_window_and_grows_beyond() -> None:
    factors = pace(torch.arange(40), 8)
    assert (factors[:9] == 1).all()
    assert factors[16] == pytest.approx(math.log(16) / math.log(8))
    assert (factors[9:].diff() > 0).all()


@pytest.mark.thinned(1)
@pytest.mark.parametrize("window", [256, 8])
def test_line_wise_attention_is_the_formula(window: int) -> None:
    net = made(window=window)
    batch = collate([encoded("code", CHAIN)])
    attention = net.trunk.blocks[2].attention
    assert isinstance(attention, LineWiseAttention)
    x = states(batch)
    with torch.no_grad():
        actual = attention(x, net.relate(batch, torch.float64))[0]
        weight, bias = attention.projections.inward.weight, attention.projections.inward.bias
        line = batch.line[0].tolist()
        count, heads, size = len(line), 4, 4
        d = []
        for token in range(count):
            before = [place for place in range(count) if line[place] == line[token] - 1]
            anchor = x[0, before[-1]] if before else attention.first_anchor
            c = torch.relu(attention.encode.weight @ anchor + attention.encode.bias)
            factor = math.log(max(token, window)) / math.log(window)
            d.append(factor * (attention.decode.weight @ c))
        rows = []
        for i in range(count):
            scores = torch.empty(heads, i + 1, dtype=torch.float64)
            values = []
            for j in range(i + 1):
                (q, _, _), (_, k, v) = ((weight @ x[0, at] + bias).chunk(3) for at in (i, j))
                (qd, _, _), (_, kd, vd) = ((weight @ d[at]).chunk(3) for at in (i, j))
                values.append(v + vd)
                terms = torch.stack(
                    [
                        (one[size * h : size * h + size] @ other[size * h : size * h + size])
                        / math.sqrt(size)
                        for one, other in ((q, k), (q, kd), (qd, k), (qd, kd))
                        for h in range(heads)
                    ]
                )
                inner = torch.nn.functional.gelu(attention.mixed.weight @ terms + attention.mixed.bias)
                learned = attention.mix.weight @ inner + attention.mix.bias
                scores[:, j] = (
                    terms[:heads] + terms[heads : 2 * heads] + terms[2 * heads : 3 * heads] + learned
                )
            shares = scores.softmax(1)
            stacked = torch.stack(values)
            heard = [shares[h] @ stacked[:, size * h : size * h + size] for h in range(heads)]
            rows.append(torch.cat(heard))
        expected = attention.projections.outward(torch.stack(rows))
    assert (actual - expected).abs().max() <= 1e-9


def test_no_token_sees_a_later_one_and_in_line_layers_see_their_line_only() -> None:
    net = made()
    batch = collate([encoded("code", CHAIN)])
    relation, x = net.relate(batch, torch.float64), states(batch)
    line, changed = batch.line[0], 9
    other = x.clone()
    other[0, changed] += 1
    for number, block in enumerate(net.trunk.blocks):
        moved = (block.attention(x, relation) - block.attention(other, relation))[0].abs().amax(1) > 1e-12
        assert not moved[:changed].any()
        assert moved[changed]
        beyond = moved[line > line[changed]]
        assert bool(beyond.any()) is (number > 0)


def test_the_mixing_of_terms_starts_at_zero() -> None:
    fresh = CoDE(shape(layers=3))
    attention = fresh.trunk.blocks[2].attention
    assert isinstance(attention, LineWiseAttention)
    assert not attention.mix.weight.any()
    assert attention.encode.out_features == 64


def test_padding_and_the_rest_of_the_batch_change_nothing() -> None:
    net = network("code")
    inputs = [encoded("code", source) for source in (*SMALL, CHAIN, "def MASK(): pass\n")]
    for row, features in zip(logits(net, *inputs), inputs, strict=True):
        alone = logits(net, features)[0]
        assert (row[: len(alone)] - alone).abs().max() <= 1e-9
        assert (row[len(alone) :] == -torch.inf).all()


def test_code_is_not_invariant_to_orders_of_lines() -> None:
    net = network("code")
    first, second = (encoded("code", order.source) for order in legal_orders(CHAIN))
    assert (logits(net, first) - logits(net, second)).abs().max() > 1e-3
