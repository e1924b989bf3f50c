"""The witnesses of x86: llvm-mca, which computes the cost of a block, and this processor, which executes it.

Each may be missing. Where the processor cannot be used (another machine or system), an emulator takes its
place if it is installed; its results for AVX, x87 and MMX are ignored. After a renaming, all costs are
compared: cycles, micro-operations, instructions and reciprocal throughput. After a reordering, cycles are
not, because they may change although the behaviour does not. Equal costs do not show equal behaviour, so they
are no evidence against a control.

Execution compares final registers, flags and memory; after a renaming, with the registers renamed.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from random import Random
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
from codeaudit.audit.labels import MCA
from codeaudit.audit.tasks.throughput import CostLabels
from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.seeding import stream
from codeaudit.transforms.x86.legality import Equivalent, compare
from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.witnesses.emulator import Emulator
from codeaudit.transforms.x86.witnesses.mca import Mca, Measured, Measurement, find
from codeaudit.transforms.x86.witnesses.native import BlockPair, NativeProcessor, processor_name
from codeaudit.transforms.x86.witnesses.verdicts import (
    BlocksAgreed,
    BlocksDiffered,
    BlocksFaulted,
    ExecutionVerdict,
    NotTrusted,
)

CASES_AT_ONCE: Final = 100
"""With the usual number of variants, a thousand blocks: as many as one llvm-mca process measures."""
COST_DIFFERS: Final = "llvm-mca's cost differs"
EXECUTION_DIFFERS: Final = "execution differs"
NOT_MEASURED: Final = "no result of llvm-mca"
FAULTS: Final = "execution ends in a fault"
ORDER: Final = "order"
"""The kind of the moves that reorder instructions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class X86Tools:
    """What is installed."""

    mca: Mca | None
    native: str = ""
    """The model of this processor; empty if blocks cannot be executed on it."""
    emulator: str = ""
    """The version of Unicorn; empty if it is not installed or not needed."""
    missing: Sequence[str] = ()
    together: int = CASES_AT_ONCE

    @property
    def tools(self) -> Sequence[Mapping[str, object]]:
        """Version, processor and iterations of llvm-mca; this processor, or the version of Unicorn."""
        tools: list[Mapping[str, object]] = []
        if (mca := self.mca) is not None:
            tools.append({"tool": MCA, "version": mca.version, "cpu": mca.cpu, "iterations": mca.iterations})
        if self.native:
            tools.append({"tool": "execution", "cpu": self.native})
        if self.emulator:
            tools.append({"tool": "unicorn", "version": self.emulator})
        return tools

    @contextmanager
    def judging(self) -> Iterator[Judge]:
        """A judge with its own sandbox or emulator.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        emulator = Emulator() if self.emulator else None
        with NativeProcessor() if self.native else nullcontext() as processor:

            def judge(variants: Sequence[Perturbed]) -> Iterator[WitnessFinding]:
                costs = {} if self.mca is None else _costs(self.mca, variants)
                run = iter(() if processor is None else processor.compare(map(_pair, variants)))
                for variant in variants:
                    findings: list[WitnessFinding] = []
                    if self.mca is not None:
                        findings.append(
                            compared(variant, costs.get(variant.sample.source), costs.get(variant.source))
                        )
                    if processor is not None:
                        findings.append(_finding(next(run)))
                    if emulator is not None:
                        findings.append(emulated(variant, emulator))
                    yield combined(findings)

            yield judge


def witness(labels: LabelSource) -> X86Tools:
    """The installed tools. llvm-mca measures for the processor of the labels, if these are measured."""
    missing: list[str] = []
    # One llvm-mca for labels and evidence: costs of two processors cannot be compared.
    mca, native, version = (labels.mca if isinstance(labels, CostLabels) else None), "", ""
    if mca is None:
        try:
            mca = find()
        except CannotAudit as error:
            missing.append(str(error))
    try:
        NativeProcessor()
        native = processor_name()
    except CannotAudit as error:
        missing.append(str(error))
        try:
            version = Emulator().version
        except CannotAudit as other:
            missing.append(str(other))
    return X86Tools(mca=mca, native=native, emulator=version, missing=tuple(missing))


def compared(variant: Perturbed, before: Measurement | None, after: Measurement | None) -> WitnessFinding:
    """The finding from the costs of a block and of its variant."""
    if not (isinstance(before, Measured) and isinstance(after, Measured)):
        return Undecided(NOT_MEASURED)
    # Cycles depend on the order in which instructions reach the scheduler. The other costs do not.
    if _is_reordered(variant):
        before, after = replace(before, cycles=0), replace(after, cycles=0)
    return BehavesSame("measured") if before == after else BehavesDifferently("measured", COST_DIFFERS)


def emulated(variant: Perturbed, emulator: Emulator) -> WitnessFinding:
    """The finding from emulating a block and its variant from the same states."""
    pair = _pair(variant)
    rng = Random(pair.seed)
    verdict = emulator.compare(pair.before, pair.after, pair.renaming, rng, same_fault=pair.same_fault)
    return _finding(verdict)


def _pair(variant: Perturbed) -> BlockPair:
    before, after = read(variant.sample.source), read(variant.source)
    reordered = _is_reordered(variant)
    # After `rax` became `rbx`, the final value of one is compared with that of the other. A control renames
    # nothing.
    renaming: Mapping[str, str] = {}
    if variant.kind == "preserving" and not reordered:
        comparison = compare(before, after)
        renaming = comparison.renaming if isinstance(comparison, Equivalent) else {}
    seed = stream(0, variant.sample.id, variant.transform, variant.variant).getrandbits(64)
    return BlockPair(before=before, after=after, renaming=renaming, seed=seed, same_fault=not reordered)


def _finding(verdict: ExecutionVerdict) -> WitnessFinding:
    match verdict:
        case BlocksAgreed():
            return BehavesSame("executed")
        case BlocksDiffered():
            return BehavesDifferently("executed", EXECUTION_DIFFERS)
        case BlocksFaulted():
            return Undecided(FAULTS)
        case NotTrusted(reason):
            return Undecided(f"not executed: {reason}")


def _costs(mca: Mca, variants: Sequence[Perturbed]) -> Mapping[str, Measurement]:
    """The cost of every block; empty if the tool fails as a whole."""
    texts = list(
        dict.fromkeys(text for variant in variants for text in (variant.sample.source, variant.source))
    )
    try:
        return dict(zip(texts, mca.measure(texts), strict=True))
    except CannotAudit:
        return {}


def _is_reordered(variant: Perturbed) -> bool:
    return any(move.kind == ORDER for move in variant.moves)
