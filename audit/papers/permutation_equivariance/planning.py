"""Plans the sealing of a checkpoint by columns: found by tracing, proved before anything is written."""

from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Final

from torch import nn

from codeaudit.audit.papers.permutation_equivariance.opening import Opened
from codeaudit.transforms.columns.groups import AxisGroups, infer
from codeaudit.transforms.columns.keys import Key
from codeaudit.transforms.columns.layout import Layout, draw
from codeaudit.transforms.columns.permute import permute_module
from codeaudit.transforms.columns.proof import EXACT, SINGLE, Deviation, change, deviation, exactly
from codeaudit.transforms.columns.sealing import Seal
from codeaudit.transforms.errors import ModelError

LARGE: Final = 200_000_000
"""Parameters from which the proof is in single precision, since memory is short."""
USELESS: Final = 0.01
"""Least change of the outputs without the key, relative to the largest output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a checkpoint is sealed by columns."""

    layout: Layout
    """By the names of the tensors in the files."""
    outside: frozenset[str]
    """The tensors that stay as they are."""
    locking: int
    """The groups, the first ones of the layout, that no longer fit the outside."""
    proved: Deviation
    """Of the module with everything permuted."""
    double: bool
    """Whether that is in double precision."""
    change: float
    """Of the outputs without the key, relative to the largest."""


def plan(opened: Opened, *, inner: bool = True) -> Plan:
    """Find the axes that may be permuted, and prove it on random input.

    With `inner` the groups that stand inside the blocks only are permuted too.

    Raises:
        ModelError: there is nothing to permute, or the permuted module does not compute the same.
    """
    groups = infer(opened.module, opened.call, free_outputs=not opened.answers)
    wanted = [*groups.locking, *(groups.inner if inner else ())]
    if not groups.locking:
        unknown = f" ({', '.join(groups.unknown)})" if groups.unknown else ""
        raise ModelError(
            f"no columns of {type(opened.module).__name__} can be permuted against its embeddings{unknown}; "
            "use --scheme cipher"
        )
    chosen = AxisGroups(
        layout=groups.layout.only({old: new for new, old in enumerate(wanted)}),
        outputs=(),
        inside=groups.inside,
        unknown=groups.unknown,
        untraced=groups.untraced,
    )
    proved, double = prove(opened, groups)
    locked = chosen.layout.only(
        {number: number for number in range(len(wanted))}, {name: name for name in groups.inside}
    )
    changed = change(opened.module, locked, draw(locked.sizes, Random(1)), opened.call)
    if not changed > USELESS:
        raise ModelError("without the key the outputs would hardly change; use --scheme cipher")
    layout = _in_files(opened, chosen.layout)
    return Plan(
        layout=layout,
        outside=frozenset(name for name in layout.tensors if opened.names[name] not in groups.inside),
        locking=len(groups.locking),
        proved=proved,
        double=double,
        change=changed,
    )


def prove(opened: Opened, groups: AxisGroups) -> tuple[Deviation, bool]:
    """How far the fully permuted module is from the plain one, forward and backward.

    Raises:
        ModelError: further than rounding explains.
    """
    permutations = draw(groups.layout.sizes, Random(0))
    found: Deviation | None = None
    if sum(one.numel() for one in opened.module.parameters()) <= LARGE:
        with suppress(RuntimeError):  # some fused operations know no double precision
            found = exactly(opened.module, groups, permutations, opened.call)
    double = found is not None
    if found is None:
        found = deviation(deepcopy(opened.module).float(), groups, permutations, opened.call)
    if not found.within(EXACT if double else SINGLE):
        raise ModelError(
            f"the permuted {type(opened.module).__name__} does not compute the same: outputs differ by "
            f"{found.forward:.1e}, gradients by {found.backward:.1e}; nothing was written"
        )
    return found, double


def _in_files(opened: Opened, layout: Layout) -> Layout:
    """The layout by the files' names.

    Raises:
        ModelError: a parameter that has to move is in no file.
    """
    groups = {number: number for number in range(len(layout.sizes))}
    found = layout.only(groups, opened.names)
    stored = {id(one) for one in _parameters(opened.module, {opened.names[name] for name in found.tensors})}
    for name, weight in opened.module.named_parameters():
        if (
            name in layout.tensors
            and id(weight) not in stored
            and not bool((weight == weight.flatten()[0]).all())
        ):
            raise ModelError(
                f"no tensor in the files has the numbers of {name!r}, so they cannot be permuted; "
                "use --scheme cipher"
            )
    return found


def _parameters(module: nn.Module, names: set[str]) -> list[nn.Parameter]:
    return [one for name, one in module.named_parameters(remove_duplicate=False) if name in names]


def authorise(opened: Opened, key: Key) -> None:
    """Permute the outside of a sealed module in place, so that it answers as before it was sealed.

    Raises:
        ModelError: another key, another scheme, or a module that gives hidden states.
    """
    found = Seal.read(opened.folder)
    salted = found.opened(key)
    if found.scheme != "columns":
        raise ModelError("a checkpoint sealed by cipher cannot run; unseal it")
    if not opened.answers:
        raise ModelError(
            f"{type(opened.module).__name__} gives hidden states, which stay permuted; unseal it"
        )
    every = {number: number for number in range(len(found.layout.sizes))}
    names = {opened.names[name]: name for name in found.outside}
    permute_module(opened.module, found.layout.only(every, names), salted.permutations(found.layout.sizes))
