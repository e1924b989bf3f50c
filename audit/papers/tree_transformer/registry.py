"""The schemes by name: the paper's positions and the baselines."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from codeaudit.audit.papers.tree_transformer.baselines import Kim, Sequential, Shaw, Shiv
from codeaudit.audit.papers.tree_transformer.network import Completer, Namer, TreeShape
from codeaudit.audit.papers.tree_transformer.nodes import Degree
from codeaudit.audit.papers.tree_transformer.positions import Scheme, TreePositions
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.registration import unknown

Purpose: TypeAlias = Literal["names", "completion"]

REACH: Final[Mapping[Purpose, int]] = {"names": 250, "completion": 32}
"""Shaw's farthest distances, as in the paper's code."""
RELATIONS: Final[Mapping[Purpose, int]] = {"names": 600, "completion": 10_405}
"""Kim's relations with a number of their own, as in the paper's code; there are 4096 relations here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeArchitecture:
    """One entry."""

    summary: str
    options: Mapping[str, object]
    """Settings beside the shape, with their defaults."""
    make: Callable[..., Scheme]


TREE_NETWORKS: Final[Mapping[str, TreeArchitecture]] = {
    "tree": TreeArchitecture(
        summary="a tree transformer with two-dimensional tree positions",
        options={"terms": "both", "dimension": "both", "nonadjacent": "zero"},
        make=lambda shape, purpose, **options: TreePositions(
            shape.width, shape.heads, levels=shape.levels, embedding=shape.embedding, **options
        ),
    ),
    "tree-vanilla": TreeArchitecture(
        summary="a plain transformer over the nodes of a tree in depth-first order",
        options={},
        make=lambda shape, purpose: Sequential(shape.width, shape.window),
    ),
    "tree-shaw": TreeArchitecture(
        summary="a transformer with relative distances in depth-first order",
        options={},
        make=lambda shape, purpose: Shaw(shape.width, shape.heads, reach=min(REACH[purpose], shape.window)),
    ),
    "tree-shiv": TreeArchitecture(
        summary="a transformer with Shiv and Quirk's paths to the root",
        options={},
        make=lambda shape, purpose: Shiv(shape.width),
    ),
    "tree-kim": TreeArchitecture(
        summary="a transformer with Kim's steps up and down",
        options={"combination": "additive"},
        make=lambda shape, purpose, **options: Kim(
            shape.heads, relations=min(RELATIONS[purpose], 4096), **options
        ),
    ),
}
"""Of tables 1 and 2. The ablations are options of `tree`."""
DEGREES: Final[tuple[Degree, ...]] = ("full", "prefix")


def tree_architecture(name: str) -> TreeArchitecture:
    """The entry of that name.

    Raises:
        UsageError: there is none; the message holds the nearest.
    """
    if name not in TREE_NETWORKS:
        raise UsageError(unknown("network", name, list(TREE_NETWORKS)))
    return TREE_NETWORKS[name]


def scheme(name: str, shape: TreeShape, options: Mapping[str, object], purpose: Purpose) -> Scheme:
    """How a network knows where nodes are.

    Raises:
        UsageError: an unknown name, or an option that it does not take.
    """
    entry = tree_architecture(name)
    for option in options:
        if option not in entry.options:
            raise UsageError(unknown(f"option of network {name!r}", option, list(entry.options)))
    return entry.make(shape, purpose, **{**entry.options, **options})


def namer(name: str, shape: TreeShape, options: Mapping[str, object]) -> Namer:
    """A network that names functions.

    Raises:
        UsageError: as `scheme`.
    """
    return Namer(shape, scheme(name, shape, options, "names"))


def completer(name: str, shape: TreeShape, options: Mapping[str, object]) -> Completer:
    """A network that completes trees.

    Raises:
        UsageError: as `scheme`.
    """
    return Completer(shape, scheme(name, shape, options, "completion"))
