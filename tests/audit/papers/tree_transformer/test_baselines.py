"""The compared schemes against their formulas, written out pair by pair."""

import math
from random import Random

import pytest
import torch
from torch import Tensor

from codeaudit.audit.papers.tree_transformer.batches import NEAREST, TreeBatch, collate, whole
from codeaudit.audit.papers.tree_transformer.nodes import TreeInput
from codeaudit.audit.papers.tree_transformer.positions import (
    STEPS,
    Kim,
    Prepared,
    Sequential,
    Shaw,
    Shiv,
    between,
)
from tests.audit.papers.tree_transformer.support import random_tree, tree

WIDTH, HEADS = 16, 2


def one(flat: TreeInput) -> TreeBatch:
    return collate([whole(flat)], levels=4, degree="full")


def split(x: Tensor) -> Tensor:
    return x.view(1, len(x), HEADS, -1).transpose(1, 2)


@torch.no_grad()
def test_sinusoids_of_the_place_are_added() -> None:
    scheme = Sequential(WIDTH, 20).double()
    x = torch.randn(1, 9, WIDTH, dtype=torch.double)
    added = (scheme.enter(x, one(random_tree(9, Random(0)))) - x)[0]
    for place in range(9):
        for half in range(WIDTH // 2):
            angle = place / 10_000 ** (2 * half / WIDTH)
            assert added[place, 2 * half].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert added[place, 2 * half + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


@pytest.mark.parametrize("reach", [3, 50])
@torch.no_grad()
def test_shaw_adds_vectors_of_the_clipped_distance_to_keys_and_values(reach: int) -> None:
    torch.manual_seed(1)
    nodes, size = 11, WIDTH // HEADS
    layer = Shaw(WIDTH, HEADS, reach=reach).layer().double()
    query, key = (torch.randn(nodes, WIDTH, dtype=torch.double) for _ in range(2))
    scores = torch.randn(1, HEADS, nodes, nodes, dtype=torch.double)
    weights = torch.rand(1, HEADS, nodes, nodes, dtype=torch.double)
    actual = layer.scores(scores, split(query), split(key), Prepared())
    gain = layer.gain(weights)
    for head in range(HEADS):
        for i in range(nodes):
            total = torch.zeros(size, dtype=torch.double)
            for j in range(nodes):
                row = max(-reach, min(reach, j - i)) + reach
                near = split(query)[0, head, i] @ layer.keys.weight[row] / math.sqrt(size)
                assert torch.allclose(actual[0, head, i, j], scores[0, head, i, j] + near)
                total += weights[0, head, i, j] * layer.values.weight[row]
            assert torch.allclose(gain[0, head, i], total)


@torch.no_grad()
def test_shiv_and_quirk_weigh_the_path_to_the_root() -> None:
    torch.manual_seed(2)
    width = 2 * NEAREST * 4  # two learned decays would need a table of 4 children
    scheme = Shiv(width)
    scheme.wide, scheme.copies = 4, 2
    scheme.decay = torch.nn.Parameter(torch.tensor([0.8, 0.9]))
    made = tree([-1, 0, 1, 1, 1, 1, 1, 6, 7], Random(0))
    x = torch.zeros(1, 9, width)
    states = scheme.enter(x, one(made))[0]
    parents, orders = made.parents.tolist(), made.orders.tolist()
    for node in range(9):
        expected = torch.zeros(NEAREST, scheme.wide, scheme.copies)
        here, level = node, 0
        while here >= 0:
            for copy, decay in enumerate(scheme.decay.tolist()):
                p = math.tanh(decay)
                child = min(orders[here], scheme.wide) - 1
                expected[level, child, copy] = p**level * math.sqrt((1 - p * p) * width / 2)
            here, level = parents[here], level + 1
        assert torch.allclose(states[node], expected.flatten(), atol=1e-5)


def test_shiv_and_quirk_fit_any_width() -> None:
    for width in (6, 32, 128, 130):
        x = torch.zeros(1, 5, width)
        assert Shiv(width).enter(x, one(random_tree(5, Random(0)))).shape == x.shape


def steps(parents: list[int], i: int, j: int) -> tuple[int, int]:
    """Up and down, by walking."""

    def above(node: int) -> list[int]:
        return [node] if parents[node] < 0 else [node, *above(parents[node])]

    common = next(node for node in above(i) if node in above(j))
    return above(i).index(common), above(j).index(common)


def test_relations_are_the_steps_up_and_down() -> None:
    rng = Random(4)
    for _ in range(20):
        made = random_tree(rng.randint(1, 18), rng)
        relations = between(one(made).depths)[0]
        parents = made.parents.tolist()
        for i in range(len(parents)):
            for j in range(len(parents)):
                up, down = steps(parents, i, j)
                assert relations[i, j] == up * STEPS + down


@pytest.mark.parametrize("combination", ["additive", "multiplicative"])
@torch.no_grad()
def test_kim_has_a_number_for_each_frequent_relation_and_one_for_all_others(combination: str) -> None:
    made = random_tree(12, Random(6))
    batch = one(made)
    scheme = Kim(HEADS, relations=3, combination=combination).double()  # type: ignore[arg-type]
    counts = torch.bincount(between(batch.depths).flatten(), minlength=STEPS * STEPS)
    scheme.learn(counts)
    scheme.weights.copy_(torch.randn_like(scheme.weights))
    frequent = sorted(range(STEPS * STEPS), key=lambda number: (-counts[number], number))[:3]
    scores = torch.randn(1, HEADS, 12, 12, dtype=torch.double)
    query = split(torch.randn(12, WIDTH, dtype=torch.double))
    actual = scheme.layer().scores(scores, query, query, scheme.prepare(batch))
    for i in range(12):
        for j in range(12):
            up, down = steps(made.parents.tolist(), i, j)
            number = up * STEPS + down
            weight = scheme.weights[1 + frequent.index(number) if number in frequent else 0]
            before = scores[0, :, i, j]
            after = before + weight if combination == "additive" else before * weight
            assert torch.allclose(actual[0, :, i, j], after)


def test_kim_learns_nothing_of_relations_that_never_occur() -> None:
    scheme = Kim(HEADS, relations=100, combination="additive")
    counts = torch.zeros(STEPS * STEPS, dtype=torch.long)
    counts[[5, 9]] = torch.tensor([1, 7])
    scheme.learn(counts)
    assert scheme.known.nonzero().flatten().tolist() == [5, 9]
    assert scheme.known[[5, 9]].tolist() == [2, 1]
