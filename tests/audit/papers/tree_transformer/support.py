"""Random trees, as sources would give them."""

from random import Random

import numpy as np

from codeaudit.audit.papers.tree_transformer.nodes import TreeInput

TYPES, VALUES = 12, 30


def tree(parents: list[int], rng: Random, *, words: int = 2) -> TreeInput:
    """A tree of these parents, in depth-first order, with random types and values."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(parent, []).append(node)
    orders = [children[parent].index(node) + 1 for node, parent in enumerate(parents)]
    values = [
        [rng.randrange(1, VALUES) if at < size else 0 for at in range(words)]
        for size in (rng.randint(1, words) for _ in parents)
    ]

    def array(numbers: object) -> np.ndarray:
        return np.array(numbers, dtype=np.int32)

    return TreeInput(
        types=array([rng.randrange(1, TYPES) for _ in parents]),
        values=array(values),
        parents=array(parents),
        orders=array(orders),
        counts=array([len(children[parent]) for parent in parents]),
    )


def random_parents(nodes: int, rng: Random) -> list[int]:
    """Parents of a random tree in depth-first order."""
    parents, open_nodes = [-1], [0]
    for node in range(1, nodes):
        while len(open_nodes) > 1 and rng.random() < 0.45:
            open_nodes.pop()
        parents.append(open_nodes[-1])
        open_nodes.append(node)
    return parents


def random_tree(nodes: int, rng: Random) -> TreeInput:
    """A random tree."""
    return tree(random_parents(nodes, rng), rng)
