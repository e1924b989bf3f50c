"""The networks by name: how each is built and what it must know about the lines."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from torch import Tensor, nn

from audit.features.lines import Relation
from audit.nets import spe, symc, vanilla
from audit.nets.trunk import Batch, Shape, Trunk
from transforms.errors import UsageError
from transforms.registry import unknown


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
