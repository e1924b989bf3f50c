"""The smallest set of rewritings that still makes a test fail.

It is looked for among the units of the test's traceback, else among all. First units are left out, then the
transforms of those that stay, by delta debugging (Zeller and Hildebrandt, 2002); each question is one run of
the failing tests. What the budget has no room to ask about is kept.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from codeaudit.audit.trees.verify import Changed, Trial, WorkingCopy, changed_files, new_bytes
from codeaudit.transforms.trees import Choice, Unit

RUNS: Final = 48
"""Runs of the failing tests, at most, for one culprit."""
CULPRITS: Final = 5
"""Culprits that are looked for under one seed."""

T = TypeVar("T")
Rewritten: TypeAlias = tuple[Unit, str]
"""A unit and a transform that rewrote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Culprit:
    """What makes tests fail."""

    tests: tuple[str, ...]
    """Those that fail with nothing but this."""
    rewritten: tuple[Rewritten, ...]
    files: Mapping[str, Changed]
    """The files with nothing but this."""
    runs: int
    """How many runs it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """The culprits of one seed."""

    culprits: tuple[Culprit, ...]
    unexplained: tuple[str, ...]
    """Failing tests that pass when they are run alone, or for which no culprit was looked for."""


def narrow(copy: WorkingCopy, trial: Trial) -> Narrowed:
    """Find what makes each failing test of a trial fail."""
    traced = {failure.test: failure.units for failure in trial.failures}
    left = list(traced)
    culprits: list[Culprit] = []
    unexplained: list[str] = []
    every = [
        (unit, name) for one in trial.files.values() for unit, names in one.applied.items() for name in names
    ]
    while left and len(culprits) < CULPRITS:
        test = left[0]
        search = _Search(copy=copy, seed=trial.seed, test=test, left=frozenset(left))
        copy.say(f"seed {trial.seed}: looking for what makes {test} fail")
        near = [one for one in every if one[0] in traced[test]]
        start = next((part for part in (near, every) if search.fails(part)), None)
        if start is None:
            unexplained.append(left.pop(0))
            continue
        culprit = search.culprit(start)
        culprits.append(culprit)
        left = [one for one in left if one not in culprit.tests]
    return Narrowed(culprits=tuple(culprits), unexplained=(*unexplained, *left))


@dataclass(slots=True)
class _Search:
    """Asks whether one test fails under a part of the rewritings."""

    copy: WorkingCopy
    seed: int
    test: str
    left: frozenset[str]
    runs: int = 0
    _known: dict[frozenset[Rewritten], bool] = field(default_factory=dict)
    _files: dict[str, Changed] = field(default_factory=dict)
    _failing: frozenset[str] = frozenset()

    def fails(self, part: Iterable[Rewritten]) -> bool:
        """Whether the test fails with nothing but these."""
        wanted = frozenset(part)
        if wanted in self._known:
            return self._known[wanted]
        if self.runs >= RUNS or not wanted:
            return False
        self.runs += 1
        found = self._asked(wanted)
        self._known[wanted] = found
        return found

    def culprit(self, every: Sequence[Rewritten]) -> Culprit:
        """The smallest part that was found, of a set that makes the test fail."""

        def of(units: Iterable[Unit]) -> list[Rewritten]:
            wanted = set(units)
            return [one for one in every if one[0] in wanted]

        units = list(dict.fromkeys(unit for unit, _ in every))
        kept = minimal(units, lambda part: self.fails(of(part)))
        smallest = tuple(minimal(of(kept), self.fails))
        self._asked(frozenset(smallest))
        return Culprit(
            tests=tuple(sorted(self._failing | {self.test})),
            rewritten=smallest,
            files=self._files,
            runs=self.runs,
        )

    def _asked(self, wanted: frozenset[Rewritten]) -> bool:
        choices: dict[str, frozenset[Choice]] = {}
        for unit, name in wanted:
            choices[unit.path] = choices.get(unit.path, frozenset()) | {(unit.name, name)}
        self._files = changed_files(self.copy.perturbed(self.seed, choices), {})
        run = self.copy.run(new_bytes(self._files), only=self.left)
        self._failing = self.left - run.passed()
        return self.test in self._failing


def minimal(items: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> list[T]:
    """A part of the items that fails and of which no piece that was tried does; all of them are known to."""
    kept, pieces = list(items), 2
    while len(kept) > 1:
        size = max(1, len(kept) // pieces)
        chunks = [kept[start : start + size] for start in range(0, len(kept), size)]
        smaller = next((chunk for chunk in chunks if fails(chunk)), None)
        if smaller is not None:
            kept, pieces = smaller, 2
            continue
        rests = (
            ([one for one in kept if one not in chunk] for chunk in chunks) if len(chunks) > 2 else iter(())
        )
        smaller = next((rest for rest in rests if fails(rest)), None)
        if smaller is not None:
            kept, pieces = smaller, max(pieces - 1, 2)
        elif size == 1:
            break
        else:
            pieces = min(2 * pieces, len(kept))
    return kept
