"""The transformers over trees: what cannot matter does not, and what leaks is known to."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
import torch
from torch import Tensor

from codeaudit.audit.papers.tree_transformer.batches import collate, whole
from codeaudit.audit.papers.tree_transformer.networks import (
    BEGIN_ID,
    END_ID,
    LONGEST,
    TREE_NETWORKS,
    Completer,
    Namer,
    TreeShape,
    completer,
    namer,
    scheme,
    sizes,
)
from codeaudit.audit.papers.tree_transformer.nodes import TreeInput
from codeaudit.transforms.errors import UsageError
from tests.audit.papers.tree_transformer.support import TYPES, VALUES, random_tree, tree

SHAPE = TreeShape(
    types=TYPES, values=VALUES, names=6, width=16, layers=2, heads=2, levels=6, embedding=4, dropout=0.0
)
VARIANTS = [(name, {}) for name in TREE_NETWORKS] + [  # type: ignore[var-annotated]
    ("tree", {"terms": "local"}),
    ("tree", {"terms": "global"}),
    ("tree", {"dimension": "first"}),
    ("tree", {"dimension": "second"}),
    ("tree", {"nonadjacent": "learned"}),
    ("tree-kim", {"combination": "multiplicative"}),
]


def shaken(network: Namer | Completer) -> Namer | Completer:
    """With weights of which none is zero or one by design."""
    with torch.no_grad():
        for weight in network.parameters():
            weight += 0.1 * torch.randn_like(weight)  # type: ignore[misc]
    return network.double().eval()


def made_namer(name: str, options: dict[str, object]) -> Namer:
    torch.manual_seed(0)
    net = namer(name, SHAPE, options)
    net.spoken.copy_(torch.tensor([END_ID, 10, 11, 12, 13, 14, 15]))
    made = shaken(net)
    assert isinstance(made, Namer)
    return made


def made_completer(name: str, options: dict[str, object]) -> Completer:
    torch.manual_seed(0)
    made = shaken(completer(name, SHAPE, options))
    assert isinstance(made, Completer)
    return made


@pytest.mark.thinned(1)
@pytest.mark.parametrize(("name", "options"), VARIANTS)
@torch.no_grad()
def test_padding_never_matters(name: str, options: dict[str, object]) -> None:
    rng = Random(1)
    trees = [random_tree(size, rng) for size in (3, 17, 1, 8)]
    naming, completing = made_namer(name, options), made_completer(name, options)
    given = torch.tensor([[BEGIN_ID, 10, 12]])
    together = collate([whole(flat) for flat in trees], levels=SHAPE.levels, degree="full")
    named, completed = naming(together, given.expand(4, -1)), completing(together)
    said = naming.say(together)
    for row, flat in enumerate(trees):
        alone = collate([whole(flat)], levels=SHAPE.levels, degree="full")
        assert torch.allclose(naming(alone, given)[0], named[row], atol=1e-12)
        types, values = completing(alone)
        size = len(flat.types)
        assert torch.allclose(types[0], completed.types[row, :size], atol=1e-12)
        assert torch.allclose(values[0], completed.values[row, :size], atol=1e-12)
        words = naming.say(alone).words[0].tolist()
        assert [word for word in said.words[row].tolist() if word] == [word for word in words if word]


def grown(before: TreeInput, parent: int) -> TreeInput:
    """With one more node at the end, a child of `parent`."""
    counts = before.counts.copy()
    siblings = np.flatnonzero(before.parents == parent)
    counts[siblings] += 1
    last = len(siblings) + 1
    return TreeInput(
        types=np.append(before.types, 3),
        values=np.concatenate([before.values, [[4, 0]]]).astype(np.int32),
        parents=np.append(before.parents, parent).astype(np.int32),
        orders=np.append(before.orders, last).astype(np.int32),
        counts=np.append(counts, last).astype(np.int32),
    )


@pytest.mark.parametrize(("name", "options"), VARIANTS)
@torch.no_grad()
def test_the_completer_sees_no_later_node(name: str, options: dict[str, object]) -> None:
    network = made_completer(name, options)
    flat = random_tree(20, Random(2))
    batch = collate([whole(flat)], levels=SHAPE.levels, degree="full")
    before = network(batch)
    for at in (1, 9, 19):
        types, values = batch.types.clone(), batch.values.clone()
        types[0, at:] = types[0, at:] % (TYPES - 1) + 1
        values[0, at:] = values[0, at:] % (VALUES - 1) + 1
        after = network(replace(batch, types=types, values=values))
        assert torch.equal(before.types[0, :at], after.types[0, :at])
        assert torch.equal(before.values[0, :at], after.values[0, :at])
        assert not torch.allclose(before.types[0, at:], after.types[0, at:])


@pytest.mark.parametrize(("name", "options"), VARIANTS)
@torch.no_grad()
def test_of_a_finished_tree_the_number_of_children_leaks_what_is_to_come_and_of_a_prefix_it_does_not(
    name: str, options: dict[str, object]
) -> None:
    network = made_completer(name, options)
    before = tree([-1, 0, 1, 0, 3], Random(3))
    after = grown(before, 0)  # a third child of the root, behind everything

    def told(made: TreeInput, degree: str) -> Tensor:
        batch = collate([whole(made)], levels=SHAPE.levels, degree=degree)  # type: ignore[arg-type]
        return network(batch).types[0, :5]  # type: ignore[no-any-return]

    assert torch.allclose(told(before, "prefix"), told(after, "prefix"), atol=1e-12)
    leaks = name == "tree" and options.get("dimension") != "first"
    assert torch.allclose(told(before, "full"), told(after, "full"), atol=1e-12) != leaks


@torch.no_grad()
def test_the_degree_of_the_prefix_tells_no_more_than_the_first_dimension() -> None:
    flat = random_tree(25, Random(8))
    first, both = made_completer("tree", {"dimension": "first"}), made_completer("tree", {})
    both.load_state_dict(first.state_dict())
    full, prefix = (
        collate([whole(flat)], levels=SHAPE.levels, degree=degree) for degree in ("full", "prefix")
    )
    assert torch.allclose(both(prefix).types, first(full).types, atol=1e-12)
    assert not torch.allclose(both(full).types, first(full).types)


@pytest.mark.parametrize("name", list(TREE_NETWORKS))
@torch.no_grad()
def test_every_scheme_but_the_bag_sees_where_nodes_stand(name: str) -> None:
    network = made_namer(name, {})
    if name == "tree-kim":
        network.scheme.learn(torch.ones(4096, dtype=torch.long))
    nodes = random_tree(15, Random(4))
    batch = collate([whole(nodes)], levels=SHAPE.levels, degree="full")
    flat = tree([-1, *[0] * 14], Random(0))
    other = collate(
        [whole(replace(flat, types=nodes.types, values=nodes.values))], levels=SHAPE.levels, degree="full"
    )
    swapped = collate(
        [whole(replace(nodes, types=nodes.types[::-1].copy(), values=nodes.values[::-1].copy()))],
        levels=SHAPE.levels,
        degree="full",
    )
    given = torch.tensor([[BEGIN_ID]])
    blind = name in ("tree-vanilla", "tree-shaw")
    assert torch.allclose(network(batch, given), network(other, given)) == blind
    assert not torch.allclose(network(batch, given), network(swapped, given))


@torch.no_grad()
def test_what_is_said_is_the_most_probable_word_each_time() -> None:
    network = made_namer("tree", {})
    rng = Random(5)
    batch = collate([whole(random_tree(9, rng)) for _ in range(5)], levels=SHAPE.levels, degree="full")
    said = network.say(batch)
    for row in range(5):
        given, words, gaps = [BEGIN_ID], [], []
        for place in range(LONGEST):
            logits = network(batch, torch.tensor([given] * 5))[row, -1]
            if place == 0:
                logits[0] = -torch.inf
            best, second = logits.topk(2).values.tolist()
            gaps.append((best - second) / 2)
            word = int(logits.argmax())
            if word == 0:
                break
            words.append(word)
            given.append(int(network.spoken[word]))
        assert [word for word in said.words[row].tolist() if word] == words
        assert words
        assert said.margins[row].item() == pytest.approx(min(gaps))


def test_networks_of_one_shape_differ_only_in_what_they_know_of_places() -> None:
    shapes = {
        name: {
            part: weight.shape
            for part, weight in namer(name, SHAPE, {}).named_parameters()
            if "scheme" not in part
        }
        for name in TREE_NETWORKS
    }
    assert len({str(shape) for shape in shapes.values()}) == 1
    counts = {name: sizes(namer(name, SHAPE, {})) for name in TREE_NETWORKS}
    assert len({count["all"] - count["scheme"] for count in counts.values()}) == 1
    assert counts["tree-vanilla"]["scheme"] == 0 < counts["tree-shaw"]["scheme"]


def test_unknown_names_and_options_are_told() -> None:
    with pytest.raises(UsageError, match=r"tree-show.*did you mean 'tree'"):
        namer("tree-show", SHAPE, {})
    with pytest.raises(UsageError, match="terms"):
        scheme("tree", SHAPE, {"term": "local"}, "names")
