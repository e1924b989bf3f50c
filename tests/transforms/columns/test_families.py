"""The theorems on eight families: forward, backward and in training, columns and rows."""

from collections import Counter
from copy import deepcopy
from random import Random

import numpy as np
import pytest
import torch
from torch import nn

from codeaudit.transforms.columns.layout import Member, Product, draw, members
from codeaudit.transforms.columns.permute import permuted, permuting_rows, stacks
from codeaudit.transforms.columns.proof import (
    EXACT,
    DoubleThroughout,
    change,
    deviation,
    exactly,
    noise_floor,
    training_deviation,
    try_rows,
)
from codeaudit.transforms.columns.tracing import Call, inside, tensors, watched
from tests.support.families import FAMILIES, TOKENS, family

RELATIVE = {"t5", "llama", "qwen2", "gpt2", "modernbert"}
"""Families whose blocks know where a token stands."""
BIASED = {"t5"}
"""Those that compute it inside the blocks."""
each_family = pytest.mark.parametrize("name", FAMILIES)


@pytest.mark.slow
@pytest.mark.thinned(2)
@each_family
def test_columns_are_equivariant_forward_and_backward(name: str) -> None:
    module, call, groups = family(name)
    permutations = draw(groups.layout.sizes, Random(1))
    difference = exactly(module, groups, permutations, call)
    assert difference.scale > 0.1
    assert difference.within(EXACT), difference


@pytest.mark.slow
@each_family
def test_in_single_precision_the_rest_is_rounding(name: str) -> None:
    module, call, groups = family(name)
    difference = deviation(module, groups, draw(groups.layout.sizes, Random(1)), call)
    assert difference.forward <= 20 * noise_floor(module, call)
    assert difference.within(1e-5), difference


@pytest.mark.slow
@each_family
@pytest.mark.thinned(1)
def test_every_group_is_needed_by_the_others(name: str) -> None:
    module, call, groups = family(name)
    permutations = draw(groups.layout.sizes, Random(1))
    residual = groups.layout.only({groups.locking[0]: 0})
    half = dict(list(residual.tensors.items())[::2])
    broken = type(residual)(sizes=residual.sizes, tensors=half)
    assert change(module, residual, [permutations[groups.locking[0]]], call) < 1e-5
    assert change(module, broken, [permutations[groups.locking[0]]], call) > 0.05


@each_family
@pytest.mark.thinned(1)
def test_one_group_runs_through_the_residual_and_locks(name: str) -> None:
    _, _, groups = family(name)
    assert [groups.layout.sizes[group] for group in groups.locking] == [32]
    sizes = Counter(groups.layout.sizes)
    layers = {"modernbert": 3, "t5": 4}.get(name, 2)
    assert sizes[48] == layers, "the hidden units of each feed-forward layer"
    assert not groups.untraced
    assert not groups.unknown


@pytest.mark.slow
@each_family
def test_training_keeps_the_weights_equivariant(name: str) -> None:
    module, call, groups = family(name)
    exact = call.double()

    def train(module: nn.Module) -> None:
        optimiser = torch.optim.AdamW(module.parameters(), lr=1e-2, eps=1e-4)
        for _ in range(3):
            optimiser.zero_grad()
            torch.stack([output.square().mean() for output in tensors(exact(module))]).sum().backward()
            nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimiser.step()

    with DoubleThroughout():
        apart, moved = training_deviation(
            deepcopy(module).double(), groups, draw(groups.layout.sizes, Random(2)), train
        )
    assert moved > 0.01
    assert apart <= EXACT, apart


@each_family
@pytest.mark.thinned(1)
def test_rows_are_equivariant_where_no_block_knows_a_place(name: str) -> None:
    module, call, _ = family(name)
    order = np.array(Random(3).sample(range(5 if name == "vit" else TOKENS), 5 if name == "vit" else TOKENS))
    encoder = [stack.name for stack in stacks(module)].index("encoder.block") if name == "t5" else 0
    with DoubleThroughout():
        difference = try_rows(deepcopy(module).double(), call.double(), order, stack=encoder)
    if name in RELATIVE:
        assert difference.forward > 0.05
    else:
        assert max(difference.forward, difference.backward) <= EXACT
    if name in BIASED:
        assert difference.forward_with_company > 0.05
    else:
        assert difference.forward_with_company <= EXACT


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "vit"])
def test_equation_5_with_hooks_around_the_blocks(name: str) -> None:
    """F1 and F2 stay: the hidden state is permuted where it enters, the blocks' weights are permuted."""
    module, call, groups = family(name)
    layout = groups.layout.only({groups.locking[0]: 0}, {name: name for name in inside(module)})
    order = draw(layout.sizes, Random(4))
    turned = deepcopy(module).double()
    turned.load_state_dict(permuted(turned.state_dict(), layout, order))
    with DoubleThroughout(), torch.no_grad():
        wanted = tensors(call.double()(deepcopy(module).double()))
        with permuting_rows(stacks(turned)[0], columns=order[0]):
            actual = tensors(call.double()(turned))
        without = tensors(call.double()(turned))
    assert max(float((a - b).abs().max()) for a, b in zip(wanted, actual, strict=True)) <= EXACT
    assert max(float((a - b).abs().max()) for a, b in zip(wanted, without, strict=True)) > 0.1


@pytest.mark.slow
def test_heads_are_found_in_separate_and_fused_projections() -> None:
    for name, weight in (
        ("bert", "bert.encoder.layer.0.attention.self.query.weight"),
        ("modernbert", "model.layers.0.attn.Wo.weight"),
    ):
        places = family(name).groups.layout.tensors[weight]
        assert any(isinstance(place, Product) and place.parts[0].size == 4 for place in places), places


def test_rotary_positions_keep_the_order_within_queries_and_keys() -> None:
    _, _, groups = family("llama")
    layer = "model.layers.0.self_attn"
    query = groups.layout.tensors[f"{layer}.q_proj.weight"][0]
    value = groups.layout.tensors[f"{layer}.v_proj.weight"][0]
    assert isinstance(query, Product)
    assert isinstance(value, Product)
    assert not isinstance(query.parts[-1], Member), "RoPE pairs columns by their place"
    assert isinstance(value.parts[-1], Member)


def test_grouped_queries_move_within_their_group_and_groups_as_a_whole() -> None:
    _, _, groups = family("llama")
    layer = "model.layers.0.self_attn"
    shared = set(members(groups.layout.tensors[f"{layer}.q_proj.weight"][0]))
    keys = set(members(groups.layout.tensors[f"{layer}.k_proj.weight"][0]))
    assert keys < shared, "whole groups move with their keys, queries of one group among themselves"
    assert sorted(groups.layout.sizes[group] for group in shared) == [2, 2]


def test_the_relative_bias_moves_with_the_heads() -> None:
    _, _, groups = family("t5")
    table = groups.layout.tensors["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
    query = groups.layout.tensors["encoder.block.1.layer.0.SelfAttention.q.weight"]
    assert set(members(table[1])) <= set(members(query[0]))


def test_tied_weights_move_once_and_together() -> None:
    module, _, groups = family("gpt2")
    tensors_ = groups.layout.tensors
    assert tensors_["transformer.wte.weight"] == tensors_["lm_head.weight"]
    assert "lm_head.weight" not in inside(module)


def test_what_enters_a_block_is_seen() -> None:
    module, call, _ = family("gpt2")
    with torch.no_grad(), watched(stacks(module)[0].blocks[0]) as calls:
        call(module)
    assert len(calls) == 1
    assert isinstance(calls[0], Call)
