"""The witnesses of x86: llvm-mca, which tells what a block costs, and an emulator, which runs it.

Either may be missing. Costs are compared in full after a renaming: cycles, micro-operations, instructions and
reciprocal throughput. In another order a block's cycles may change while it does the same, so there they do
not count. Equal costs do not show that two blocks do the same, and are so no word against a control.

The emulator compares what is left in registers, flags and memory, after a renaming with the registers
renamed. It is not believed on AVX, x87 and MMX.
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
from codeaudit.audit.labels import MCA, CostLabels, LabelSource
from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.seeding import stream
from codeaudit.transforms.x86.proof import Equivalent, compare
from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.witnesses.emulator import Agreed, Differed, Emulator, Faulted, NotTrusted
from codeaudit.transforms.x86.witnesses.mca import Mca, Measured, Measurement, find

CASES_AT_ONCE: Final = 100
"""With the usual number of variants these are a thousand blocks, as many as one process measures."""
COST_DIFFERS: Final = "llvm-mca's cost differs"
EMULATION_DIFFERS: Final = "emulation differs"
NOT_MEASURED: Final = "no result of llvm-mca"
FAULTS: Final = "emulation ends in a fault"
ORDER: Final = "order"
"""The kind of the moves that give instructions another order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What there is of the two."""

    mca: Mca | None
    emulator: str
    """Unicorn's version; empty without it."""
    missing: Sequence[str] = ()
    together: int = CASES_AT_ONCE

    @property
    def tools(self) -> Sequence[Mapping[str, object]]:
        """Version, processor and iterations of llvm-mca, version of Unicorn."""
        found: list[Mapping[str, object]] = []
        if (one := self.mca) is not None:
            found.append({"tool": MCA, "version": one.version, "cpu": one.cpu, "iterations": one.iterations})
        if self.emulator:
            found.append({"tool": "unicorn", "version": self.emulator})
        return found

    @contextmanager
    def judging(self) -> Iterator[Judge]:
        """A judge with an engine of its own."""
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


def witness(labels: LabelSource) -> Tools:
    """What is installed, with the processor by which labels are measured where they are."""
    missing: list[str] = []
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
    return Tools(mca=mca, emulator=version, missing=tuple(missing))


def compared(variant: Perturbed, before: Measurement | None, after: Measurement | None) -> WitnessFinding:
    """What the costs of a block and its variant say."""
    if not (isinstance(before, Measured) and isinstance(after, Measured)):
        return Undecided(NOT_MEASURED)
    if _is_reordered(variant):
        before, after = replace(before, cycles=0), replace(after, cycles=0)
    return BehavesSame("measured") if before == after else BehavesDifferently("measured", COST_DIFFERS)


def emulated(variant: Perturbed, emulator: Emulator) -> WitnessFinding:
    """What running a block and its variant from the same states says."""
    before, after = read(variant.sample.source), read(variant.source)
    reordered = _is_reordered(variant)
    renaming: Mapping[str, str] = {}
    if variant.kind == "preserving" and not reordered:
        found = compare(before, after)
        renaming = found.renaming if isinstance(found, Equivalent) else {}
    rng = stream(0, variant.sample.id, variant.transform, variant.variant)
    verdict = emulator.compare(before, after, renaming, rng, same_fault=not reordered)
    match verdict:
        case Agreed():
            return BehavesSame("executed")
        case Differed():
            return BehavesDifferently("executed", EMULATION_DIFFERS)
        case Faulted():
            return Undecided(FAULTS)
        case NotTrusted(reason):
            return Undecided(f"not emulated: {reason}")


def _costs(mca: Mca, variants: Sequence[Perturbed]) -> Mapping[str, Measurement]:
    """The cost of every block; none where the tool fails as a whole."""
    texts = list(dict.fromkeys(text for one in variants for text in (one.sample.source, one.source)))
    try:
        return dict(zip(texts, mca.measure(texts), strict=True))
    except CannotAudit:
        return {}


def _is_reordered(variant: Perturbed) -> bool:
    return any(move.kind == ORDER for move in variant.moves)
