"""Finds the smallest set of rewrites that still makes a test fail, by delta debugging.

Called by `codeaudit verify`. The search starts with the units in the test's traceback; if these do not make
the test fail, with all changed units. It first removes units, then transforms of the remaining units. Each
question is one run of the failing tests. When the budget of runs is used up, the remaining rewrites are kept,
so the answer makes the test fail but may not be minimal.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from codeaudit.audit.projects.verify import STOPPED, VerifyTrial, without_result
from codeaudit.audit.projects.working_copy import ChangedFile, WorkingCopy, changed_files, new_bytes
from codeaudit.audit.search.shrinking import minimal
from codeaudit.transforms.source_files import Choice, SourceUnit

RUNS: Final = 48
"""Maximal number of test runs for one culprit."""
CULPRITS: Final = 5
"""Maximal number of culprits that are searched for under one seed."""

Rewrite: TypeAlias = tuple[SourceUnit, str]
"""A unit and the name of a transform that rewrote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Culprit:
    """A small set of rewrites that makes tests fail."""

    tests: tuple[str, ...]
    """The tests that fail with these rewrites alone."""
    rewritten: tuple[Rewrite, ...]
    files: Mapping[str, ChangedFile]
    """The files with these rewrites alone, by path."""
    runs: int
    """How many test runs the search took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bisection:
    """The culprits of one seed."""

    culprits: tuple[Culprit, ...]
    unexplained: tuple[str, ...]
    """Failing tests without a culprit: they pass when run alone, or there were too many culprits."""


def bisect(copy: WorkingCopy, trial: VerifyTrial, known: frozenset[str]) -> Bisection:
    """Find the rewrites that make each failing test of a trial fail.

    `known` are the tests that passed before.

    Raises:
        RunError: a file cannot be read or written, or the test command cannot be started.
    """
    units_of = {failure.test: failure.units for failure in trial.failures}
    left = list(units_of)
    culprits: list[Culprit] = []
    unexplained: list[str] = []
    every = [
        (unit, name)
        for file in trial.files.values()
        for unit, names in file.applied.items()
        for name in names
    ]
    # One wrong rewrite mostly fails many tests, so a culprit is found for one test and checked against the
    # others.
    while left and len(culprits) < CULPRITS:
        test = left[0]
        search = _CulpritSearch(copy=copy, seed=trial.seed, test=test, left=frozenset(left), known=known)
        copy.say(f"seed {trial.seed}: looking for what makes {test} fail")
        # Most failures name their culprit in the traceback, and a few units take fewer runs than hundreds.
        near = [rewrite for rewrite in every if rewrite[0] in units_of[test]]
        start = next((part for part in (near, every) if search.fails(part)), None)
        if start is None:
            unexplained.append(left.pop(0))
            continue
        culprit = search.culprit(start)
        culprits.append(culprit)
        left = [test for test in left if test not in culprit.tests]
    return Bisection(culprits=tuple(culprits), unexplained=(*unexplained, *left))


@dataclass(slots=True)
class _CulpritSearch:
    """Runs one failing test under subsets of the rewrites; remembers the answers."""

    copy: WorkingCopy
    seed: int
    test: str
    left: frozenset[str]
    """The tests without a culprit so far; all are run, because one culprit may explain several."""
    known: frozenset[str]
    """The tests that passed before."""
    runs: int = 0
    _outcomes: dict[frozenset[Rewrite], bool] = field(default_factory=dict)
    _files: dict[str, ChangedFile] = field(default_factory=dict)
    _failing: frozenset[str] = frozenset()

    def fails(self, part: Iterable[Rewrite]) -> bool:
        """Whether the test fails with only these rewrites. Also false when the budget is used up."""
        rewrites = frozenset(part)
        if rewrites in self._outcomes:
            return self._outcomes[rewrites]
        if self.runs >= RUNS or not rewrites:
            return False  # not kept in `_outcomes`: nothing was learned
        self.runs += 1
        self._outcomes[rewrites] = failed = self._run(rewrites)
        return failed

    def culprit(self, every: Sequence[Rewrite]) -> Culprit:
        """The smallest failing subset found of rewrites that make the test fail."""

        def of(units: Iterable[SourceUnit]) -> list[Rewrite]:
            chosen = set(units)
            return [rewrite for rewrite in every if rewrite[0] in chosen]

        # First whole units: a unit of ten transforms leaves or stays with one run.
        units = list(dict.fromkeys(unit for unit, _ in every))
        kept = minimal(units, lambda parts: next((part for part in parts if self.fails(of(part))), None))
        smallest = minimal(of(kept), lambda parts: next(filter(self.fails, parts), None))
        # Run it again: the last subset that `minimal` tried need not be the smallest one.
        self._run(frozenset(smallest))
        return Culprit(
            tests=tuple(sorted(self._failing | {self.test})),
            rewritten=smallest,
            files=self._files,
            runs=self.runs,
        )

    def _run(self, rewrites: frozenset[Rewrite]) -> bool:
        choices: dict[str, frozenset[Choice]] = {}
        for unit, name in rewrites:
            choices[unit.path] = choices.get(unit.path, frozenset()) | {(unit.name, name)}
        self._files = changed_files(self.copy.perturbed(self.seed, choices), {})
        if self.test == STOPPED:
            # No test is chosen: the question is whether the run reports any of them.
            run = self.copy.run(new_bytes(self._files))
            self._failing = frozenset({STOPPED}) if without_result(run, self.known) else frozenset()
        else:
            run = self.copy.run(new_bytes(self._files), only=self.left)
            self._failing = self.left - run.passed()
        return self.test in self._failing
