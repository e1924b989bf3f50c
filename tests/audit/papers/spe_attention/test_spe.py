"""SPE attention against a slow reading of its formula, and the choices around it."""

import math

import pytest
import torch
import torch.nn.functional as F

from codeaudit.audit.papers.lines.attention import LineBias
from codeaudit.audit.papers.lines.trunk import BiasedAttention, Pooling, collate
from codeaudit.audit.papers.spe_attention.networks import (
    NETWORKS,
    SPE,
    SYMC,
    Vanilla,
    build,
    head_plan,
)
from codeaudit.transforms.errors import UsageError
from tests.support.networks import CHAIN, LABELS, SMALL, encoded, logits, network, shape


@pytest.mark.parametrize(
    ("heads", "plan"),
    [(3, (1, 1, 1)), (4, (2, 1, 1)), (5, (2, 1, 2)), (6, (3, 2, 1)), (8, (4, 2, 2)), (12, (6, 3, 3))],
)
def test_heads_are_split_as_published(heads: int, plan: tuple[int, int, int]) -> None:
    assert head_plan(heads) == plan


@pytest.mark.parametrize(("heads", "plan"), [(2, (1, 1, 0)), (4, (3, 1, 0)), (12, (8, 4, 0))])
def test_all_heads_are_masked_in_the_ablation(heads: int, plan: tuple[int, int, int]) -> None:
    assert head_plan(heads, all_heads=True) == plan


def test_too_few_heads_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 3 heads, got 2"):
        head_plan(2)
    with pytest.raises(ValueError, match="at least 2 heads, got 1"):
        SYMC(shape(heads=1))


def slow_head(
    query: torch.Tensor, key: torch.Tensor, mask: list[list[float]], mode: str
) -> list[list[float]]:
    """Attention weights of one head, number by number."""
    rows = []
    for i in range(len(query)):
        scores = []
        for j in range(len(key)):
            score = float(query[i] @ key[j]) / math.sqrt(len(query[i]))
            if mode == "additive":
                scores.append(score if mask[i][j] else -math.inf)
            else:
                scores.append(score * mask[i][j])
        total = sum(math.exp(score) for score in scores)
        rows.append([math.exp(score) / total for score in scores])
    return rows


@pytest.mark.parametrize("mode", ["hadamard", "additive"])
def test_attention_is_the_formula(mode: str) -> None:
    made = SPE(shape(), mask_mode=mode).double()  # type: ignore[arg-type]
    batch = collate([encoded("spe", CHAIN)])
    attention = made.trunk.blocks[0].attention
    assert isinstance(attention, BiasedAttention)
    x = torch.randn(
        1, batch.ids.shape[1], 16, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    with torch.no_grad():
        actual = attention(x, made.relate(batch, torch.float64))
        query, key, value = attention.projections.split(x)
        line = batch.line[0]
        mask = batch.relation[0, 0][line[:, None], line].double()
        masks = [mask, mask, mask.T, torch.ones_like(mask)]
        heads = [
            torch.tensor(
                slow_head(query[0, head], key[0, head], masks[head].tolist(), mode), dtype=torch.float64
            )
            @ value[0, head]
            for head in range(4)
        ]
        expected = attention.projections.join(torch.stack(heads)[None])
    assert (actual - expected).abs().max() <= 1e-9


def test_the_mask_lets_a_definition_look_at_its_users() -> None:
    """Definition 4.4: M_ij = 1 for an edge i -> j, where j depends on i; not the other way round."""
    mask = encoded("spe", CHAIN).relation[0]
    # first = 1: itself, second on its layer, third that reads it, and the return that comes after all
    assert mask[1].tolist() == [0, 1, 1, 1, 1]
    assert mask[3, 1] == 0


def test_a_masked_pair_keeps_the_weight_one_in_hadamard_mode() -> None:
    """With scores of zero a masked head is uniform, whatever the mask: the paper's formula, literally."""
    batch = collate([encoded("spe", CHAIN)])
    x = torch.randn(1, batch.ids.shape[1], 16, dtype=torch.float64)
    for mode, uniform in (("hadamard", True), ("additive", False)):
        made = SPE(shape(), mask_mode=mode).double()  # type: ignore[arg-type]
        attention = made.trunk.blocks[0].attention
        assert isinstance(attention, BiasedAttention)
        with torch.no_grad():
            attention.projections.inward.weight[:32].zero_()  # queries and keys
            attention.projections.inward.bias[:32].zero_()
            seen = attention(x, made.relate(batch, torch.float64))[0]
        assert bool((seen - seen[0]).abs().max() < 1e-9) is uniform


def test_a_line_relation_is_looked_up_for_pairs_of_tokens() -> None:
    table, line = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]), torch.tensor([[0, 1, 1, 0]])
    bias = LineBias(table, line, torch.tensor([[True, True, True, False]]))
    hidden = -math.inf  # padding
    rows = [[1, 2, 2, hidden], [3, 4, 4, hidden], [3, 4, 4, hidden], [1, 2, 2, hidden]]
    assert bias.block(slice(0, 4), slice(0, 4), torch.float32).tolist() == [[rows]]
    assert bias.block(slice(1, 3), slice(0, 4), torch.float32).tolist() == [[rows[1:3]]]


def test_symc_adds_one_distance_to_each_half_of_the_heads() -> None:
    made = SYMC(shape(), sign=1)
    batch = collate([encoded("symc", CHAIN)])
    (groups,) = made.relate(batch, torch.float64)
    everything, line = slice(0, batch.ids.shape[1]), batch.line[0]
    near, far = (batch.relation[0, number][line[:, None], line] for number in (0, 1))
    assert [group.heads for group in groups] == [2, 2]
    for group, expected in zip(groups, (near, far), strict=True):
        assert isinstance(group.bias, LineBias)
        assert (group.bias.block(everything, everything, torch.float64)[0, 0] == expected).all()
    assert (near == far.T).all()  # p_ij = n_ji


def test_networks_differ_in_their_positions_only() -> None:
    sizes = {
        kind: {name: weight.shape for name, weight in network(kind).named_parameters()} for kind in NETWORKS
    }
    for shapes in sizes.values():
        shapes.pop("positions.weight", None)
    assert sizes["spe"] == sizes["symc"] == sizes["vanilla"] == sizes["renamer"]
    assert sizes["spe"].items() < sizes["code"].items(), "CoDE adds a dictionary and what mixes the terms"


@pytest.mark.parametrize("pooling", ["max", "votes"])
def test_other_poolings_ignore_padding(pooling: Pooling) -> None:
    made = Vanilla(shape()).double().eval()
    made.trunk.pooling = pooling
    inputs = [encoded("vanilla", source) for source in (CHAIN, SMALL[0])]
    with torch.no_grad():
        together = made(collate(inputs))
        alone = made(collate(inputs[:1]))
    count = alone.shape[1]
    assert (together[:1, :count] - alone).abs().max() <= 1e-9
    assert (together[:1, count:] == -torch.inf).all()


@pytest.mark.parametrize("kind", ["spe", "vanilla"])
def test_neighbours_are_those_of_the_line(kind: str) -> None:
    """The formula of `Neighbours`, token by token; vanilla knows no lines."""
    made = network(kind)
    features = encoded(kind, CHAIN)
    layer = made.trunk.neighbours
    assert layer is not None
    line = torch.from_numpy(features.line)[None].long()
    if kind == "vanilla":
        line = torch.zeros_like(line)
    x = torch.randn(1, len(features.ids), 16, dtype=torch.float64)
    real = torch.ones(1, len(features.ids), dtype=torch.bool)
    with torch.no_grad():
        output, normal = layer(x, line, real)[0], layer.norm(x)[0]
        for place in range(len(features.ids)):
            mixed = torch.zeros(16, dtype=torch.float64)
            for distance in range(-2, 3):
                other = place + distance
                if 0 <= other < len(features.ids) and line[0, other] == line[0, place]:
                    mixed += layer.weight[distance + 2] * normal[other]
            expected = x[0, place] + layer.outward(F.gelu(mixed))
            assert (output[place] - expected).abs().max() <= 1e-12
    seen: list[torch.Tensor] = []
    layer.register_forward_pre_hook(lambda module, given: seen.append(given[1]))
    logits(made, features)
    assert torch.equal(seen[0], line), "the network hands over these lines"


def test_the_votes_of_a_word_to_copy_are_those_of_its_tokens() -> None:
    made = network("spe")
    features = encoded("spe", SMALL[0])
    assert features.copies is not None
    seen: list[torch.Tensor] = []
    made.trunk.vote.register_forward_hook(lambda module, given, result: seen.append(result))
    with torch.no_grad():
        outputs = logits(made, features)[0, len(LABELS) :]
        strength = F.softplus(seen[0][0, :, 0])
        for number in range(1, features.spoken + 1):
            heard = strength[torch.from_numpy(features.copies == number)].sum()
            expected = made.trunk.copy_bias + made.trunk.vote_weight * torch.log1p(heard)
            assert abs(outputs[number - 1] - expected) <= 1e-12
    assert len(outputs) == features.spoken > 0


def test_an_unknown_network_or_option_is_named() -> None:
    with pytest.raises(UsageError, match="unknown network 'spee'; did you mean 'spe'"):
        build("spee", shape(), {})
    with pytest.raises(UsageError, match="unknown option of network 'symc' 'sgn'; did you mean 'sign'"):
        build("symc", shape(), {"sgn": 1})
