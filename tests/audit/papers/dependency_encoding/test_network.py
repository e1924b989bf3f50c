"""CoDE's line-wise layer against its equations, written as loops; PACE; the L1 term."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from codeaudit.audit.papers.dependency_encoding.networks import LineAttention, code, sparsity
from codeaudit.audit.papers.dependency_encoding.trunk import Cache, TokenPlaces
from tests.audit.papers.dependency_encoding.test_decoders import NEWLINE, SIZES, START, network, texts

LENGTH = 13
IDS = torch.tensor([[START, 5, 6, NEWLINE, 7, 8, 9, NEWLINE, NEWLINE, 10, 11, 4, 2]])
OPTIONS: list[dict[str, bool]] = [
    {},
    {"pace": False},
    {"mixer": False},
    {"direct": True},
    {"residual_add": True},
    {"unit_columns": True},
]


def layer(**options: bool) -> LineAttention:
    torch.manual_seed(7)
    made = LineAttention(SIZES, **options).eval()
    with torch.no_grad():
        for weight in made.parameters():
            weight.add_(0.2 * torch.randn(weight.shape))
    return made


def by_loops(net: LineAttention, h: Tensor, **options: bool) -> Tensor:
    """Section 3.2 for one row, token by token, head by head."""
    size, heads = SIZES.width // SIZES.heads, SIZES.heads
    dictionary = net.dictionary
    columns: Tensor = dictionary.decode
    if options.get("unit_columns"):
        columns = torch.stack([column / column.norm() for column in columns.T], 1)
    d, anchor = torch.zeros_like(h), 0
    for i, token in enumerate(IDS[0].tolist()):
        c = torch.clamp(dictionary.encode.weight @ h[anchor] + dictionary.encode.bias, min=0)
        factor = math.log(max(i + 1, SIZES.window)) / math.log(SIZES.window)
        d[i] = (columns @ c) * (factor if options.get("pace", True) else 1.0)
        if token in (NEWLINE, START):
            anchor = i
    out = torch.zeros_like(h)
    value = (h + d) @ net.value.weight.T
    for i in range(LENGTH):
        raw: list[Tensor] = []
        for j in range(i + 1):
            parts = []
            for q, k in ((h[i], h[j]), (h[i], d[j]), (d[i], h[j]), (d[i], d[j])):
                query, key = net.query.weight @ q, net.key.weight @ k
                parts.append((query.view(heads, size) * key.view(heads, size)).sum(1) / math.sqrt(size))
            score = parts[0] + parts[1] + parts[2]
            if options.get("direct"):
                score = score + parts[3]
            if net.mixer is not None:
                inner = net.mixer.inward(torch.cat(parts))
                score = score + net.mixer.outward(torch.nn.functional.gelu(inner))
            raw.append(score)
        weights = torch.stack(raw).softmax(0)
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            out[i, part] = weights[:, head] @ value[: i + 1, part]
    tensor: Tensor = net.outward(out)
    return tensor + d if options.get("residual_add") else tensor


@torch.no_grad()
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_line_wise_layer_is_what_loops_say(options: dict[str, bool]) -> None:
    """With the training length exceeded, so that PACE counts."""
    assert SIZES.window < LENGTH
    net = layer(**options)
    h = torch.randn(LENGTH, SIZES.width)
    output = net(h[None], TokenPlaces.of(IDS, LENGTH, SIZES), Cache().layer(0))
    torch.testing.assert_close(output[0], by_loops(net, h, **options), rtol=1e-4, atol=1e-4)


def test_pace_is_1_within_the_training_length_and_grows_beyond() -> None:
    """The token that fills the training length is the last with 1."""
    factor = layer().enhancement(torch.arange(100))
    assert (factor[: SIZES.window] == 1).all()
    assert (factor[SIZES.window :] > 1).all()
    assert (factor[SIZES.window :].diff() > 0).all()
    expected = [math.log(max(place, SIZES.window)) / math.log(SIZES.window) for place in range(1, 101)]
    assert factor.tolist() == pytest.approx(expected, rel=1e-15), "in float64, whatever the model takes of it"
    assert (layer(pace=False).enhancement(torch.arange(100)) == 1).all()


@torch.no_grad()
def test_without_pace_nothing_changes_within_the_training_length() -> None:
    """Table 7: the ablation differs beyond it only."""
    whole, without = network("code"), network("code without PACE")
    ids = texts(2, 20)
    one, other = whole(ids), without(ids)
    assert torch.equal(one[:, : SIZES.window], other[:, : SIZES.window])
    assert (one[:, SIZES.window :] - other[:, SIZES.window :]).abs().max() > 1e-3


@torch.no_grad()
def test_the_mixer_begins_without_effect() -> None:
    """So a new network is one without it."""
    ids = texts()
    outputs = []
    for mixer in (True, False):
        torch.manual_seed(0)
        net = code(SIZES).eval()
        if not mixer:
            for block in net.blocks:
                if isinstance(block.attention, LineAttention):
                    block.attention.mixer = None
        outputs.append(net(ids))
    torch.testing.assert_close(*outputs)


@torch.no_grad()
def test_order_within_earlier_lines_is_all_that_in_line_layers_lose() -> None:
    """CoDE is no invariant network: other orders of lines give other logits."""
    net = network("code")
    ids = torch.tensor([[START, 5, NEWLINE, 6, NEWLINE, 7, 8]])
    swapped = torch.tensor([[START, 6, NEWLINE, 5, NEWLINE, 7, 8]])
    assert (net(ids)[0, -1] - net(swapped)[0, -1]).abs().max() > 1e-3


@torch.no_grad()
def test_sparsity_is_the_mean_over_lines_and_layers() -> None:
    """Of what anchors have active, padding left out."""
    net = network("code")
    _, places = net.hidden(IDS)
    real = torch.ones_like(IDS, dtype=torch.bool)
    real[0, 8] = False
    assert len(places.codes) == 2
    anchors = [0, 3, 7]
    expected = sum(float(codes[0, at].sum()) for codes in places.codes for at in anchors) / 6
    assert float(sparsity(places, real)) == pytest.approx(expected, rel=1e-5)
    assert float(sparsity(network("rope").hidden(IDS)[1], real)) == 0


def test_unit_columns_close_the_way_out_of_sparsity() -> None:
    """Larger columns of D, which let features shrink, change nothing there."""
    h = torch.randn(4, SIZES.width)
    for unit in (False, True):
        dictionary = layer(unit_columns=unit).dictionary
        before = dictionary(h)[1]
        with torch.no_grad():
            dictionary.decode.mul_(3)
        after = dictionary(h)[1]
        torch.testing.assert_close(after, before * (1 if unit else 3))


def test_a_training_length_of_1_has_no_logarithm() -> None:
    """It would be the base of the logarithm."""
    with pytest.raises(ValueError, match="2 or more"):
        code(replace(SIZES, window=1))
