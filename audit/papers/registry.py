"""The networks by name: how each is built, and what it must know about lines or terms.

There are two families: those that read a function's lines and answer with labels, and those that read terms
and answer with a number. `vanilla` and `renamer` are names in both, so a task decides which is meant.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from torch import Tensor, nn

from codeaudit.audit.papers.dependency_encoding import naming as code
from codeaudit.audit.papers.lines.encoding import Relation
from codeaudit.audit.papers.lines.trunk import Batch, Shape, Trunk
from codeaudit.audit.papers.renamer import naming as referents
from codeaudit.audit.papers.renamer import network as renamer
from codeaudit.audit.papers.renamer.terms import Reading
from codeaudit.audit.papers.spe_attention import spe, symc, vanilla
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.registration import unknown


class Network(nn.Module):
    """What every entry builds; for the type checker, no network derives from it."""

    trunk: Trunk

    def forward(self, batch: Batch) -> Tensor:
        """(B, K) logits of the labels."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """One entry."""

    relation: Relation
    summary: str
    options: Mapping[str, object]
    """What may vary besides the shape, with the defaults."""
    make: Callable[..., nn.Module]


NETWORKS: Final[Mapping[str, Architecture]] = {
    "spe": Architecture(
        relation="mask",
        summary="SPE attention: equivariant to legal reorderings",
        options={"mask_mode": "hadamard", "all_heads": False, "line_positions": True},
        make=lambda shape, **options: spe.SPE(shape, spe.Variant(**options)),
    ),
    "symc": Architecture(
        relation="distances",
        summary="SYMC: attention biased by distances in the dependence graph",
        options={"sign": -1},
        make=lambda shape, **options: symc.SYMC(shape, **options),
    ),
    "vanilla": Architecture(
        relation="none",
        summary="a plain transformer with absolute positions",
        options={},
        make=lambda shape, **options: vanilla.Vanilla(shape, **options),
    ),
    "renamer": Architecture(
        relation="referents",
        summary="Renamer's views and referents: invariant to renaming variables",
        options={},
        make=lambda shape, **options: referents.Referents(shape, **options),
    ),
    "code": Architecture(
        relation="none",
        summary="CoDE: in-line and line-wise attention without positions",
        options={"features": code.FEATURES},
        make=lambda shape, **options: code.CoDE(shape, **options),
    ),
}


def architecture(name: str) -> Architecture:
    """The entry of that name.

    Raises:
        UsageError: there is none; the message holds the nearest.
    """
    if name not in NETWORKS:
        raise UsageError(unknown("network", name, list(NETWORKS)))
    return NETWORKS[name]


def build(name: str, shape: Shape, options: Mapping[str, object]) -> Network:
    """A network with torch's initial weights.

    Raises:
        UsageError: an unknown name, or an option that it does not take.
        ValueError: sizes that do not fit together.
    """
    entry = architecture(name)
    for option in options:
        if option not in entry.options:
            raise UsageError(unknown(f"option of network {name!r}", option, list(entry.options)))
    network: Network = entry.make(shape, **{**entry.options, **options})  # type: ignore[assignment]
    return network


@dataclass(frozen=True, slots=True, kw_only=True)
class TermArchitecture:
    """A network of the Renamer paper; they differ in what they read and how they are trained."""

    reading: Reading
    summary: str
    referents: bool = False
    """Whether the first layer is bound to coreferential terms."""
    augmented: bool = False
    """Whether it is shown another renaming of each text in every epoch."""

    def make(self, sizes: renamer.Sizes) -> renamer.Renamer:
        """A network with BERT's initial weights.

        Raises:
            ValueError: sizes that do not fit together.
        """
        return renamer.Renamer(sizes, referents=self.referents)


TERM_NETWORKS: Final[Mapping[str, TermArchitecture]] = {
    "renamer": TermArchitecture(
        reading="views",
        referents=True,
        summary="Renamer: views and referents, invariant to renaming",
    ),
    "vanilla": TermArchitecture(reading="names", summary="a plain BERT, which sees names"),
    "augmented": TermArchitecture(
        reading="names", augmented=True, summary="a plain BERT, trained on random renamings"
    ),
    "canonicalized": TermArchitecture(
        reading="first use", summary="a plain BERT, shown names in the order of first use"
    ),
}
"""The four models of tables 1 and 2."""
