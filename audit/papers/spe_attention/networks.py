"""The networks that read lines, by name: SPE attention, its baselines, and two other papers' attention.

They share the trunk (`lines.trunk`) and the recipe and training of this folder. A row names its class as
text, because papers do not import each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from codeaudit.audit.papers.lines.encoding import Relation
from codeaudit.audit.papers.lines.trunk import LineNetwork, LineShape
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.registration import unknown

_PAPERS: Final = "codeaudit.audit.papers"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineArchitecture:
    """One network."""

    target: str
    """MODULE:CALLABLE, called with the shape and the options."""
    relation: Relation
    """The relation between lines that it reads."""
    summary: str
    options: Mapping[str, object]
    """Settings beside the shape, with their defaults."""


NETWORKS: Final[Mapping[str, LineArchitecture]] = {
    "spe": LineArchitecture(
        target=f"{_PAPERS}.spe_attention.spe:made",
        relation="mask",
        summary="SPE attention: equivariant to legal reorderings",
        options={"mask_mode": "hadamard", "all_heads": False, "line_positions": True},
    ),
    "symc": LineArchitecture(
        target=f"{_PAPERS}.spe_attention.symc:SYMC",
        relation="distances",
        summary="SYMC: attention biased by distances in the dependence graph",
        options={"sign": -1},
    ),
    "vanilla": LineArchitecture(
        target=f"{_PAPERS}.spe_attention.vanilla:Vanilla",
        relation="none",
        summary="a plain transformer with absolute positions",
        options={},
    ),
    "renamer": LineArchitecture(
        target=f"{_PAPERS}.renamer.naming:Referents",
        relation="referents",
        summary="Renamer's views and referents: invariant to renaming variables",
        options={},
    ),
    "code": LineArchitecture(
        target=f"{_PAPERS}.dependency_encoding.naming:CoDE",
        relation="none",
        summary="CoDE: in-line and line-wise attention without positions",
        options={"features": 64},
    ),
}


def build(name: str, shape: LineShape, options: Mapping[str, object]) -> LineNetwork:
    """A network with torch's initial weights.

    Raises:
        UsageError: an unknown name, or an option that it does not take.
        ValueError: sizes that do not fit together.
    """
    if name not in NETWORKS:
        raise UsageError(unknown("network", name, list(NETWORKS)))
    entry = NETWORKS[name]
    for option in options:
        if option not in entry.options:
            raise UsageError(unknown(f"option of network {name!r}", option, list(entry.options)))
    module, _, made = entry.target.partition(":")
    network: LineNetwork = getattr(import_module(module), made)(shape, **{**entry.options, **options})
    return network
