"""The witnesses of x86: llvm-mca, which computes the cost of a block, and an emulator, which executes it.

Either may be missing. After a renaming, all costs are compared: cycles, micro-operations, instructions and
reciprocal throughput. After a reordering, cycles are not, because they may change although the behaviour
does not. Equal costs do not show equal behaviour, so they are no evidence against a control.

The emulator compares final registers, flags and memory; after a renaming, with the registers renamed. Its
results for AVX, x87 and MMX are ignored.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from codeaudit.audit.evidence_check import (
    BehavesDifferently,
    BehavesSame,
    Judge,
    Undecided,
    WitnessFinding,
    combined,
)
from codeaudit.audit.interface import LabelSource
from codeaudit.audit.labels import MCA, CostLabels
from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.seeding import stream
from codeaudit.transforms.x86.legality import Equivalent, compare
from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.witnesses.emulator import (
    BlocksAgreed,
    BlocksDiffered,
    BlocksFaulted,
    Emulator,
    NotTrusted,
)
from codeaudit.transforms.x86.witnesses.mca import Mca, Measured, Measurement, find

CASES_AT_ONCE: Final = 100
"""With the usual number of variants, a thousand blocks: as many as one llvm-mca process measures."""
COST_DIFFERS: Final = "llvm-mca's cost differs"
EMULATION_DIFFERS: Final = "emulation differs"
NOT_MEASURED: Final = "no result of llvm-mca"
FAULTS: Final = "emulation ends in a fault"
ORDER: Final = "order"
"""The kind of the moves that reorder instructions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class X86Tools:
    """The installed ones of the two tools."""

    mca: Mca | None
    emulator: str
    """The version of Unicorn; empty if it is not installed."""
    missing: Sequence[str] = ()
    together: int = CASES_AT_ONCE

    @property
    def tools(self) -> Sequence[Mapping[str, object]]:
        """Version, processor and iterations of llvm-mca; version of Unicorn."""
        found: list[Mapping[str, object]] = []
        if (one := self.mca) is not None:
            found.append({"tool": MCA, "version": one.version, "cpu": one.cpu, "iterations": one.iterations})
        if self.emulator:
            found.append({"tool": "unicorn", "version": self.emulator})
        return found

    @contextmanager
    def judging(self) -> Iterator[Judge]:
        """A judge with its own emulator."""
        emulator = Emulator() if self.emulator else None

        def judge(variants: Sequence[Perturbed]) -> Iterator[WitnessFinding]:
            costs = {} if self.mca is None else _costs(self.mca, variants)
            for one in variants:
                told: list[WitnessFinding] = []
                if self.mca is not None:
                    told.append(compared(one, costs.get(one.sample.source), costs.get(one.source)))
                if emulator is not None:
                    told.append(emulated(one, emulator))
                yield combined(told)

        yield judge


def witness(labels: LabelSource) -> X86Tools:
    """The installed tools. llvm-mca measures for the processor of the labels, if these are measured."""
    missing: list[str] = []
    # One llvm-mca for labels and evidence: costs of two processors cannot be compared.
    mca, version = (labels.mca if isinstance(labels, CostLabels) else None), ""
    if mca is None:
        try:
            mca = find()
        except CannotAudit as error:
            missing.append(str(error))
    try:
        version = Emulator().version
    except CannotAudit as error:
        missing.append(str(error))
    return X86Tools(mca=mca, emulator=version, missing=tuple(missing))


def compared(variant: Perturbed, before: Measurement | None, after: Measurement | None) -> WitnessFinding:
    """The finding from the costs of a block and of its variant."""
    if not (isinstance(before, Measured) and isinstance(after, Measured)):
        return Undecided(NOT_MEASURED)
    # Cycles depend on the order in which instructions reach the scheduler. The other costs do not.
    if _is_reordered(variant):
        before, after = replace(before, cycles=0), replace(after, cycles=0)
    return BehavesSame("measured") if before == after else BehavesDifferently("measured", COST_DIFFERS)


def emulated(variant: Perturbed, emulator: Emulator) -> WitnessFinding:
    """The finding from executing a block and its variant from the same states."""
    before, after = read(variant.sample.source), read(variant.source)
    reordered = _is_reordered(variant)
    # After `rax` became `rbx`, the final value of one is compared with that of the other. A control renames
    # nothing.
    renaming: Mapping[str, str] = {}
    if variant.kind == "preserving" and not reordered:
        found = compare(before, after)
        renaming = found.renaming if isinstance(found, Equivalent) else {}
    rng = stream(0, variant.sample.id, variant.transform, variant.variant)
    verdict = emulator.compare(before, after, renaming, rng, same_fault=not reordered)
    match verdict:
        case BlocksAgreed():
            return BehavesSame("executed")
        case BlocksDiffered():
            return BehavesDifferently("executed", EMULATION_DIFFERS)
        case BlocksFaulted():
            return Undecided(FAULTS)
        case NotTrusted(reason):
            return Undecided(f"not emulated: {reason}")


def _costs(mca: Mca, variants: Sequence[Perturbed]) -> Mapping[str, Measurement]:
    """The cost of every block; empty if the tool fails as a whole."""
    texts = list(dict.fromkeys(text for one in variants for text in (one.sample.source, one.source)))
    try:
        return dict(zip(texts, mca.measure(texts), strict=True))
    except CannotAudit:
        return {}


def _is_reordered(variant: Perturbed) -> bool:
    return any(move.kind == ORDER for move in variant.moves)
