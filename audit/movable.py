"""Draws samples until each transform of a run has enough movable ones.

A sample is movable under a transform if the transform changes it and every model of the run can read its
unchanged text and a variant. The plain random draw comes first, and every transform is asked about it. Then
candidates follow in the order of their ranks. Each is kept only for the transforms that still lack samples
and that change it. So a rate over all samples stays a rate over the plain draw, and a rate over the samples
that one transform changes has enough of them.

The result depends on the seed, the corpus and the models, and never on the number of worker processes: a
worker may still try a transform that has enough by then, and what it found is dropped here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final, NamedTuple, TypeAlias

from codeaudit.audit.interface import BaseModel, Model, Task
from codeaudit.audit.records import Case, DrawnSize, MovableDraw, MovableSize
from codeaudit.audit.run import AnswerMonitor, NoMonitor, query_of
from codeaudit.transforms.language import find_language
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.registration import load_target, overrides

Readable: TypeAlias = Callable[[Sample, str], bool]
"""Whether every model of the run can read a text of a sample."""


def readable_by(models: Iterable[Model], task: Task) -> Readable:
    """The texts that all these models can read. A model that cannot tell counts as one that reads all."""
    checking = [model for model in models if overrides(model, BaseModel.unreadable)]

    def readable(sample: Sample, source: str) -> bool:
        query = query_of(sample, source, task)
        return all(model.unreadable(query) is None for model in checking)

    return readable


class _Size(NamedTuple):
    lines: int
    statements: int | None


@dataclass
class _TransformTally:
    """What is known of one transform so far."""

    sizes: list[_Size]
    extra: int = 0
    tried: int = 0


class MovableChooser:
    """Counts the movable samples of one trial, and chooses among candidates for more."""

    def __init__(self, transforms: Iterable[str], *, wanted: int, readable: Readable) -> None:
        self.monitor: AnswerMonitor = NoMonitor()
        """Is told of each candidate."""
        self.wanted: Final = wanted
        self._readable = readable
        self._tallies = {name: _TransformTally([]) for name in transforms}
        self._plain: list[_Size] = []

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of movable samples, by transform."""
        return {name: len(tally.sizes) for name, tally in self._tallies.items()}

    @property
    def short(self) -> tuple[str, ...]:
        """The transforms that still lack movable samples."""
        return tuple(name for name, tally in self._tallies.items() if len(tally.sizes) < self.wanted)

    def count(self, case: Case) -> None:
        """Count a case of the plain draw."""
        self._plain.append(_size(case.sample))
        self._moved(case, tuple(self._tallies))

    def chosen(self, case: Case) -> Case | None:
        """A candidate with the outcomes that it is drawn for; `None` if it is not drawn."""
        names = self._moved(case, self.short)
        for name in names:
            self._tallies[name].extra += 1
        self.monitor.answered(1, recalled=False)
        outcomes = tuple(outcome for outcome in case.outcomes if outcome.transform in names)
        return replace(case, outcomes=outcomes, extra=True) if outcomes else None

    def frozen(self, case: Case) -> None:
        """Count a case that a suite holds. Which other samples were tried for it is not known."""
        if not case.extra:
            self.count(case)
            return
        for name in self._moved(
            case, tuple({outcome.transform for outcome in case.outcomes} & set(self._tallies))
        ):
            self._tallies[name].extra += 1

    def result(self, seed: int) -> MovableDraw | None:
        """The record of the draw of this trial; `None` for a suite that holds its plain draw alone."""
        if not self.wanted and not any(tally.extra for tally in self._tallies.values()):
            return None
        return MovableDraw(
            seed=seed,
            wanted=self.wanted,
            plain=_medians(self._plain),
            by_transform=tuple(
                MovableSize(
                    transform=name, movable=_medians(tally.sizes), extra=tally.extra, tried=tally.tried
                )
                for name, tally in self._tallies.items()
            ),
        )

    def _moved(self, case: Case, names: Sequence[str]) -> frozenset[str]:
        """The transforms among these under which the sample is movable; they are counted."""
        texts: dict[str, list[str]] = {}
        for outcome in case.outcomes:
            if isinstance(outcome, Perturbed):
                texts.setdefault(outcome.transform, []).append(outcome.source)
        for name in names:
            self._tallies[name].tried += 1
        moved = [name for name in names if name in texts]
        # The models read what a transform changed only: reading takes longer than most transforms.
        if not moved or not self._readable(case.sample, case.sample.source):
            return frozenset()
        kept = [name for name in moved if any(self._readable(case.sample, text) for text in texts[name])]
        for name in kept:
            self._tallies[name].sizes.append(_size(case.sample))
        return frozenset(kept)


def _size(sample: Sample) -> _Size:
    language = find_language(sample.language)
    counted = language.statements if language is not None else ""
    return _Size(
        lines=len(sample.source.splitlines()),
        statements=load_target(counted)(sample.source) if counted else None,
    )


def _medians(sizes: Sequence[_Size]) -> DrawnSize:
    counted = [size.statements for size in sizes if size.statements is not None]
    return DrawnSize(
        samples=len(sizes),
        lines=float(median(size.lines for size in sizes)) if sizes else None,
        statements=float(median(counted)) if counted else None,
    )
