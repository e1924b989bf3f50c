"""Two-dimensional tree positions against the formulas, written out node by node and pair by pair."""

import math
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from codeaudit.audit.papers.tree_transformer.batches import (
    CLIP,
    COORDINATES,
    Piece,
    TreeBatch,
    collate,
    coordinate,
    whole,
)
from codeaudit.audit.papers.tree_transformer.nodes import TreeInput
from codeaudit.audit.papers.tree_transformer.positions import TreePositions
from tests.audit.papers.tree_transformer.support import random_parents, random_tree, tree

WIDTH, HEADS, LEVELS, EMBEDDING = 8, 2, 5, 3


def positions(seed: int = 0, **options: object) -> TreePositions:
    torch.manual_seed(seed)
    made = TreePositions(WIDTH, HEADS, levels=LEVELS, embedding=EMBEDDING, **options)  # type: ignore[arg-type]
    for norm in (getattr(made, "absolute_norm", None), getattr(made, "relative_norm", None)):
        if norm is not None:  # the trained ones are not the identity either
            torch.nn.init.normal_(norm.weight)
            torch.nn.init.normal_(norm.bias)
    return made.double()


def one(flat: TreeInput) -> TreeBatch:
    return collate([whole(flat)], levels=LEVELS, degree="full")


# ── coordinates ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_table_has_a_row_for_each_coordinate_and_none_twice() -> None:
    pairs = [(a, f) for f in range(1, CLIP + 1) for a in range(1, f + 1)]
    orders, counts = (np.array(numbers, dtype=np.int32) for numbers in zip(*pairs, strict=True))
    assert sorted(coordinate(orders, counts)) == list(range(1, 137))
    assert COORDINATES == 137


@pytest.mark.parametrize(
    ("pair", "clipped"), [((3, 16), (3, 16)), ((3, 40), (3, 16)), ((17, 40), (16, 16)), ((40, 40), (16, 16))]
)
def test_both_dimensions_are_clipped(pair: tuple[int, int], clipped: tuple[int, int]) -> None:
    def number(a: int, f: int) -> int:
        return int(coordinate(np.array([a], dtype=np.int32), np.array([f], dtype=np.int32))[0])

    assert number(*pair) == number(*clipped) == clipped[0] + clipped[1] * (clipped[1] - 1) // 2


def test_paths_of_a_tree_made_by_hand() -> None:
    #      0
    #    1   4
    #   2 3
    made = tree([-1, 0, 1, 1, 0], Random(0))
    batch = one(made)

    def number(a: int, f: int) -> int:
        return a + f * (f - 1) // 2

    root = number(1, 1)
    assert batch.own[0].tolist() == [root, number(1, 2), number(1, 2), number(2, 2), number(2, 2)]
    assert batch.paths[0].tolist() == [
        [root, 0, 0, 0, 0],
        [root, number(1, 2), 0, 0, 0],
        [root, number(1, 2), number(1, 2), 0, 0],
        [root, number(1, 2), number(2, 2), 0, 0],
        [root, number(2, 2), 0, 0, 0],
    ]
    assert batch.nearest[0, :, :4].tolist() == [
        [1, 0, 0, 0],
        [1, 1, 0, 0],
        [1, 1, 1, 0],
        [2, 1, 1, 0],
        [2, 1, 0, 0],
    ]
    assert batch.depths[0].tolist() == [0, 1, 2, 2, 1]
    assert batch.parents[0].tolist() == [0, 0, 1, 1, 0]
    assert batch.orphan[0].tolist() == [True, False, False, False, False]


def test_with_the_degree_of_the_prefix_a_coordinate_tells_only_which_child_it_is() -> None:
    made = tree([-1, 0, 0, 0], Random(0))
    batch = collate([whole(made)], levels=LEVELS, degree="prefix")
    assert batch.own[0].tolist() == [1, 1, 2 + 1, 3 + 3]


def test_of_a_deep_path_the_deep_end_is_left_out() -> None:
    chain = [-1, *range(LEVELS + 3)]
    batch = one(tree(chain, Random(0)))
    assert (batch.paths[0, LEVELS - 1 :] == batch.paths[0, LEVELS - 1]).all()
    assert (batch.paths[0, LEVELS - 1] > 0).all()
    assert batch.depths[0].tolist() == list(range(LEVELS + 4))


def test_positions_in_a_piece_are_those_in_the_whole_tree() -> None:
    made = random_tree(30, Random(1))
    full = one(made)
    piece = collate([Piece(made, 7, 19)], levels=LEVELS, degree="full")
    for name in ("types", "values", "own", "paths", "nearest", "depths"):
        assert torch.equal(getattr(piece, name)[0], getattr(full, name)[0, 7:19])
    inside = full.parents[0, 7:19] >= 7
    assert torch.equal(piece.parents[0][inside], full.parents[0, 7:19][inside] - 7)
    assert piece.orphan[0][~inside].all()


# ── the terms, naively ───────────────────────────────────────────────────────────────────────────────────


def lists(made: TreeInput) -> list[list[tuple[int, int]]]:
    """F of Eq. 1 for every node."""
    paths: list[list[tuple[int, int]]] = []
    for node, parent in enumerate(made.parents.tolist()):
        own = (int(made.orders[node]), int(made.counts[node]))
        paths.append([*(paths[parent] if parent >= 0 else []), own])
    return paths


def vector(scheme: TreePositions, pair: tuple[int, int], dimension: str = "both") -> Tensor:
    a, f = min(pair[0], CLIP), min(pair[1], CLIP)
    a, f = {"both": (a, f), "first": (a, a), "second": (1, f)}[dimension]
    return scheme.table.weight[a + f * (f - 1) // 2]


def normed(norm: torch.nn.LayerNorm, x: Tensor) -> Tensor:
    mean, variance = x.mean(), ((x - x.mean()) ** 2).mean()
    return (x - mean) / torch.sqrt(variance + norm.eps) * norm.weight + norm.bias


def part(x: Tensor, head: int) -> Tensor:
    size = WIDTH // HEADS
    return x[head * size : (head + 1) * size]


def naive(
    scheme: TreePositions, made: TreeInput, query: Tensor, key: Tensor, dimension: str, nonadjacent: str
) -> tuple[Tensor, Tensor]:
    """β and γ, (H, n, n), in a loop over all pairs; `query` and `key` are (n, d)."""
    nodes, size = len(made.types), WIDTH // HEADS
    paths, parents = lists(made), made.parents.tolist()
    beta, gamma = (torch.zeros(HEADS, nodes, nodes, dtype=torch.double) for _ in range(2))
    absolute = []
    for path in paths:
        levels = [vector(scheme, pair, dimension) for pair in path[:LEVELS]]
        levels += [torch.zeros(EMBEDDING, dtype=torch.double)] * (LEVELS - len(levels))
        a = scheme.absolute.weight @ torch.cat(levels) + scheme.absolute.bias
        absolute.append(normed(scheme.absolute_norm, a))
    for i in range(nodes):
        for j in range(nodes):
            near = parents[i] == j or parents[j] == i
            sums = [
                torch.stack([vector(scheme, pair, dimension) for pair in paths[node]]).sum(0)
                for node in (i, j)
            ]
            difference = sums[0] - sums[1] if near else torch.zeros(EMBEDDING, dtype=torch.double)
            r = normed(scheme.relative_norm, scheme.relative.weight @ difference + scheme.relative.bias)
            if not near and nonadjacent == "zero":
                r = torch.zeros_like(r)
            for head in range(HEADS):
                asked, keyed = (
                    part(matrix.weight @ absolute[node], head)
                    for matrix, node in ((scheme.absolute_query, i), (scheme.absolute_key, j))
                )
                beta[head, i, j] = asked @ keyed / math.sqrt(size)
                first = part(query[i], head) @ part(scheme.relative_key.weight @ r, head)
                second = part(scheme.relative_query.weight @ r, head) @ part(key[j], head)
                gamma[head, i, j] = (first + second) / math.sqrt(size)
    return beta, gamma


def split(x: Tensor) -> Tensor:
    return x.view(1, len(x), HEADS, -1).transpose(1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", ["both", "first", "second"])
@pytest.mark.parametrize("nonadjacent", ["zero", "learned"])
@torch.no_grad()
def test_every_term_is_that_of_the_formulas(dimension: str, nonadjacent: str) -> None:
    rng = Random(7)
    wide = [-1, *[0] * 19, 19]  # more children than the clip, the last with a child of its own
    for parents in (random_parents(14, rng), [-1, *range(8)], wide):
        made = tree(parents, rng)
        scheme = positions(dimension=dimension, nonadjacent=nonadjacent)
        query, key = (torch.randn(len(parents), WIDTH, dtype=torch.double) for _ in range(2))
        prepared = scheme.prepare(one(made))
        beta, gamma = naive(scheme, made, query, key, dimension, nonadjacent)
        assert prepared.constant is not None
        assert prepared.local is not None
        assert torch.allclose(prepared.constant[0], beta, atol=1e-12)
        local = prepared.local.scores(split(query), split(key))[0] / math.sqrt(WIDTH // HEADS)
        assert torch.allclose(local, gamma, atol=1e-12)
        alpha = torch.randn(1, HEADS, len(parents), len(parents), dtype=torch.double)
        actual = scheme.layer().scores(alpha, split(query), split(key), prepared)
        assert torch.allclose(actual[0], (alpha[0] + beta + gamma) / math.sqrt(2), atol=1e-12)


@torch.no_grad()
def test_the_ablations_have_one_term_and_not_the_other() -> None:
    made = random_tree(9, Random(3))
    for terms in ("local", "global"):
        scheme = positions(terms=terms)
        prepared = scheme.prepare(one(made))
        assert (prepared.constant is None) == (terms == "local")
        assert (prepared.local is None) == (terms == "global")
        assert not any(
            ("absolute" if terms == "local" else "relative") in name for name, _ in scheme.named_parameters()
        )


@torch.no_grad()
def test_nodes_that_are_not_parent_and_child_have_no_local_score_unless_it_is_learned() -> None:
    made = random_tree(12, Random(5))
    query, key = (split(torch.randn(12, WIDTH, dtype=torch.double)) for _ in range(2))
    parents = made.parents.tolist()
    far = [(i, j) for i in range(12) for j in range(12) if parents[i] != j and parents[j] != i]
    for nonadjacent, silent in (("zero", True), ("learned", False)):
        local = positions(nonadjacent=nonadjacent).prepare(one(made)).local
        assert local is not None
        scores = local.scores(query, key)[0]
        assert all((scores[:, i, j] == 0).all() == silent for i, j in far)


def test_r_of_a_child_and_of_its_parent_differ_in_sign_before_they_are_normed() -> None:
    scheme = positions()
    torch.nn.init.zeros_(scheme.relative.bias)
    torch.nn.init.zeros_(scheme.relative_norm.bias)
    table = scheme.relative_positions()
    assert torch.allclose(table[1:COORDINATES], -table[COORDINATES + 1 :], atol=1e-9)
    assert len(table) == 2 * 137


def test_no_tensor_has_a_vector_for_every_pair() -> None:
    nodes = 40
    scheme = positions()
    batch = one(random_tree(nodes, Random(2)))
    largest = 0

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            nonlocal largest
            output = function(*args, **(kwargs or {}))
            largest = max(largest, output.numel() if isinstance(output, Tensor) else 0)
            return output

    with Watch():
        prepared = scheme.prepare(batch)
        query = split(torch.randn(nodes, WIDTH, dtype=torch.double))
        assert prepared.local is not None
        prepared.local.scores(query, query)
    assert largest <= max(HEADS * nodes * nodes, nodes * LEVELS * EMBEDDING, 2 * COORDINATES * WIDTH)
    assert largest < nodes * nodes * WIDTH
