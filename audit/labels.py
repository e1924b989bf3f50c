"""Where the truth of a task comes from, if the corpus does not bring it, and that of variants.

Of a numeric task it is a table's column, or llvm-mca where it is installed; of output prediction and of
generation execution.
Cycles that llvm-mca tells depend on its version, the processor and the iterations, so all three are kept with
the labels. What it told once is remembered on disk.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeGuard

from codeaudit.audit.corpora.records import Corpus
from codeaudit.audit.corpora.selection import Prepare
from codeaudit.audit.corpora.tables import Column
from codeaudit.audit.interface import ContinuesPrompt, Task
from codeaudit.audit.run import Case
from codeaudit.transforms.errors import CannotAudit, UsageError
from codeaudit.transforms.records import Outcome, Perturbed, Sample

if TYPE_CHECKING:
    from codeaudit.audit.outputs import Note, Outputs
    from codeaudit.transforms.x86.witnesses.mca import Mca

MEASURED: Final = frozenset({"throughput"})
"""Tasks whose labels llvm-mca can tell."""
EXECUTED: Final = frozenset({"output-prediction", "generation"})
"""Tasks whose labels execution tells."""
NONE: Final = "none"
MCA: Final = "llvm-mca"
SYNTAX: Final = f"{MCA}[:PROCESSOR], COLUMN[/DIVISOR] of a table, or {NONE}"
CASES_AT_ONCE: Final = 100
"""How many samples' variants are measured together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """One source of labels for one task."""

    column: Column | None = None
    witness: "Mca | None" = None
    """Measures what has no label; `None` where nothing is measured."""
    overrides: bool = False
    """Whether labels of the corpus do not count: what has one is measured too."""
    own: bool = False
    """Whether the labels are those that the corpus brings by itself."""
    cache: Path | None = None
    """A folder for what was measured."""
    changing: bool = False
    """Whether the right answer may change with a perturbation, so that variants need their own labels."""
    outputs: "Outputs | None" = None
    """Finds calls and their results; `None` where nothing is executed for labels."""
    chooser: ContinuesPrompt | None = None
    """The task, if it cannot ask about every variant."""

    def examples(self, source: Corpus, task: Task) -> tuple[Corpus, Prepare]:
        """The corpus to draw from, and what makes an example of a sample, with its label where that is found
        one by one.
        """
        if self.outputs is None:
            return source, task.prepare
        from codeaudit.audit.corpora.calls import Callables

        return Callables(source), self.outputs.prepared

    def settled(self, samples: Iterable[Sample]) -> "Labels":
        """What applies to a corpus with these samples.

        If one came with a label, nothing is measured: what stands in a table and what a tool tells are not
        to be compared.
        """
        found = self.overrides or self.column is not None or self.outputs is not None
        if found or all(sample.label is None for sample in samples):
            return self
        return replace(self, witness=None, own=True)

    def filled(self, samples: Sequence[Sample]) -> tuple[Sample, ...]:
        """The samples with their labels; `None` stays where the witness knows none.

        Raises:
            CannotAudit: the witness fails as a whole.
        """
        if not self.overrides and self.witness is None:
            return tuple(samples)
        found = self._measured([sample.source for sample in samples])
        return tuple(replace(sample, label=found.get(sample.source)) for sample in samples)

    def relabelled(self, cases: Iterator[Case]) -> Iterator[Case]:
        """The cases with the label of each variant whose right answer may be another one; `None` where it is
        not measured.

        Raises:
            CannotAudit: the witness fails as a whole.
        """
        if self.outputs is not None:
            yield from self.outputs.relabelled(cases)
            return
        if (chooser := self.chooser) is not None:
            for case in cases:
                yield replace(case, outcomes=chooser.settled(case.sample, case.outcomes))
            return
        if not self.changing:
            yield from cases
            return
        while chunk := list(islice(cases, CASES_AT_ONCE)):
            texts = {one.source for case in chunk for one in case.outcomes if _may_change(one)}
            found = self._measured(sorted(texts))
            for case in chunk:
                yield replace(case, outcomes=tuple(_with_label(one, found) for one in case.outcomes))

    @property
    def about(self) -> Mapping[str, object]:
        """Where the labels come from, as manifests and model cards tell it."""
        if self.outputs is not None:
            return self.outputs.about
        if self.chooser is not None and self.changing:
            return {"tool": "sandbox", "python": f"{sys.version_info.major}.{sys.version_info.minor}"}
        if self.column is not None:
            return {"column": self.column.name, "divisor": self.column.divisor}
        if self.own:
            return {"corpus": "its own"}
        if self.witness is not None:
            one = self.witness
            return {"tool": MCA, "version": one.version, "cpu": one.cpu, "iterations": one.iterations}
        return {}

    def __str__(self) -> str:
        return ", ".join(f"{key} {value}" for key, value in self.about.items()) or NONE

    def _measured(self, sources: Sequence[str]) -> Mapping[str, float | None]:
        from codeaudit.transforms.x86.witnesses.mca import Measured

        witness = self.witness
        if witness is None:
            return {}
        path = None if self.cache is None else self.cache / f"{_key(witness, sources)}.json"
        if path is not None and (known := _read(path, len(sources))) is not None:
            return dict(zip(sources, known, strict=True))
        told = witness.measure(sources)
        found = [one.throughput if isinstance(one, Measured) else None for one in told]
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            part.write_text(json.dumps(found), encoding="utf-8")
            part.replace(path)
        return dict(zip(sources, found, strict=True))


def labels(spec: str | None, task: Task, *, cache: Path | None = None, note: "Note | None" = None) -> Labels:
    """The source that a SPEC names. Without one, llvm-mca for what has no label, if it is installed.
    Work that takes long is told to `note`.

    Raises:
        UsageError: the task's labels cannot be measured, or a divisor is no positive number.
        CannotAudit: llvm-mca is named and not installed, or does not know the processor.
    """
    if task.name in EXECUTED:
        if spec is not None:
            raise UsageError(f"--labels {spec}: the labels of task {task.name!r} are found by execution")
        return _executed(task, cache, note)
    changing = task.name in MEASURED
    if isinstance(task, ContinuesPrompt):
        if spec is not None:
            raise UsageError(f"--labels {spec}: the labels of task {task.name!r} stand in the code")
        return Labels(own=True, chooser=task)
    if spec is None:
        return Labels(witness=_installed() if changing else None, cache=cache, changing=changing)
    if spec == NONE:
        return Labels(overrides=True, changing=changing)
    head, colon, cpu = spec.partition(":")
    if head == MCA:
        if not changing:
            raise UsageError(f"--labels {spec}: {MCA} knows no labels of task {task.name!r}")
        if colon and not cpu:
            raise UsageError(f"--labels {spec!r} names no processor; known: {SYNTAX}")
        from codeaudit.transforms.x86.witnesses.mca import HASWELL, find

        witness = find(cpu=cpu or HASWELL)
        return Labels(witness=witness, overrides=True, cache=cache, changing=True)
    return Labels(column=_column(spec), changing=changing)


def of_corpus(task: Task, *, cache: Path | None = None, note: "Note | None" = None) -> Labels:
    """The labels that a corpus brings; others only where labels are found by execution."""
    if task.name in EXECUTED:
        return _executed(task, cache, note)
    chooser = task if isinstance(task, ContinuesPrompt) else None
    return Labels(own=True, changing=task.name in MEASURED, chooser=chooser)


def _executed(task: Task, cache: Path | None, note: "Note | None") -> Labels:
    if isinstance(task, ContinuesPrompt):
        from codeaudit.audit.tasks.generation import keep

        if cache is not None:
            keep(cache)
        return Labels(chooser=task, changing=True)
    from codeaudit.audit.outputs import Outputs

    return Labels(outputs=Outputs(cache=cache, note=note), changing=True)


def _installed() -> "Mca | None":
    from codeaudit.transforms.x86.witnesses.mca import find

    try:
        return find()
    except CannotAudit:
        return None


def _column(spec: str) -> Column:
    name, slash, told = spec.rpartition("/")
    if not slash:
        return Column(name=spec)
    try:
        divisor = float(told)
    except ValueError:
        return Column(name=spec)
    if not 0 < divisor < float("inf"):
        raise UsageError(f"--labels {spec!r}: the divisor must be a positive number")
    return Column(name=name, divisor=divisor)


def _may_change(outcome: Outcome) -> TypeGuard[Perturbed]:
    """Whether a variant's right answer may differ: its meaning does, or the order of what it does."""
    if not isinstance(outcome, Perturbed):
        return False
    return outcome.kind == "control" or any(move.kind == "order" for move in outcome.moves)


def _with_label(outcome: Outcome, found: Mapping[str, float | None]) -> Outcome:
    if not _may_change(outcome):
        return outcome
    return replace(outcome, sample=replace(outcome.sample, label=found.get(outcome.source)))


def _key(witness: "Mca", sources: Sequence[str]) -> str:
    about = (witness.version, witness.cpu, witness.iterations)
    digest = sha256(repr(about).encode())
    for source in sources:
        digest.update(b"\0" + source.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:24]


def _read(path: Path, count: int) -> list[float | None] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, list) and len(found) == count else None
