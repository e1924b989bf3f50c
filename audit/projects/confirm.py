"""Orders that a project's own tests confirm: `codeaudit transform PROJECT --dependence confirmed`.

Candidates come from a relaxed relation (`transforms.python.analysis.relaxed`), one for each function. Each is
tried alone: its code replaces the function's in the running tests, and the tests that execute the moved
statements run again. It is kept if all of them pass, and dropped otherwise. A function whose moved statements
no test executes is not changed.

The tests are halved by a hash of the seed and their names. A candidate that passes the first half, which
confirms, may fail the second, which judges. The rate of these, the residual, estimates how often code that
passes its tests is broken all the same; a test in neither half would see it. It is counted over functions
of which the first half executes every moved statement and the second half some, before failing ones are
dropped.
"""

import ast
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from codeaudit.audit.projects.files import FileResult, file_format, read_file
from codeaudit.audit.projects.working_copy import WorkingCopy
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import CannotAudit, SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Edit, splice
from codeaudit.transforms.python.analysis.relaxed import PackageSummary, summary
from codeaudit.transforms.python.order.reorder import REORDER, PythonReorder
from codeaudit.transforms.records import Move
from codeaudit.transforms.seeding import stream
from codeaudit.transforms.source_files import Applied, Declined, FunctionLocation, SourceUnit, UnitRecord

PLUGIN: Final = "_codeaudit_confirm"
MOST: Final = 60
"""Tests of each half that try a candidate: enough to execute all that moved, then drawn by their names."""
PATIENCE: Final = (10.0, 10.0)
"""The limit for the tests of one candidate: seconds, plus this multiple of their time before."""
LIMIT: Final = 3600.0
"""Seconds for all tests together, if the user gives no limit."""

UNTESTED: Final = "no steady test executes the moved statements"
FAILS: Final = "tests fail with it"
HANGS: Final = "tests hang or crash with it"
UNREACHABLE: Final = "its code cannot be replaced in the running tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCandidate:
    """A function in another order."""

    unit: SourceUnit
    place: FunctionLocation
    moves: tuple[Move, ...]
    statements: tuple[tuple[int, int], ...]
    """The first and last line, in the file, of each moved statement."""
    of_move: tuple[tuple[int, ...], ...]
    """For each move the numbers of its statements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What the tests say of the candidates."""

    files: tuple[FileResult, ...]
    """Every source file, with the confirmed functions changed."""
    functions: int
    """Functions and methods of the files."""
    candidates: int
    """Functions with another order under the relaxed relation."""
    tests: int
    """Tests that passed in both runs of the unchanged project."""
    unsteady: int
    """Tests that passed in the first run only."""
    tried: int
    """Candidates whose moved statements tests execute."""
    kept: int
    judged: int
    """Functions that passed the confirming half of the tests and that both halves execute."""
    broken: int
    """Judged functions that failed the judging half."""
    failures: tuple[tuple[SourceUnit, str, str], ...]
    """Each dropped function with the half and the name of the first test that failed."""


def confirm(copy: WorkingCopy, seed: int, dependence: Dependence = "confirmed") -> Confirmation:
    """Find, try and judge one candidate for each function of the copy.

    Another `dependence` than the relaxed one shows what the tests reject: the paper's breaks many functions.

    Raises:
        CannotAudit: there is no Python function, or pytest does not run the tests.
        RunError: the command cannot be started, or a file cannot be read.
    """
    if not hasattr(os, "fork"):
        raise CannotAudit("--dependence confirmed needs a system that can fork; use Linux or macOS")
    paths = [path for path in copy.paths if path.endswith(".py")]
    if not paths:
        raise CannotAudit("no Python file to reorder; --dependence confirmed knows Python alone")
    before = {path: read_file(copy.folder / path) for path in paths}
    files, records = _candidates(before, seed, dependence)
    candidates = [candidate for group in files.values() for candidate in group]
    copy.say(f"{len(candidates):,} functions have another order under the relaxed relation")
    tests = _covered(copy, candidates) if candidates else _Covered()
    drawn = [_restricted(candidate, tests.hits(number), seed) for number, candidate in enumerate(candidates)]
    tried = {number: attempt for number, attempt in enumerate(drawn) if attempt is not None}
    copy.say(f"{len(tests.steady):,} tests pass twice; they execute {len(tried):,} of these functions")
    results = _tried(copy, before, tried, tests, dependence)
    kept: dict[str, list[_Tried]] = defaultdict(list)
    failures = []
    judged = broken = 0
    for number, candidate in enumerate(candidates):
        attempt, result = tried.get(number), results.get(number)
        half = result[0] if isinstance(result, list) else ""
        reason = UNTESTED if attempt is None else _reason(result)
        if attempt is not None and attempt.both and (result == "passed" or half == "judge"):
            judged += 1
            broken += half == "judge"
        if isinstance(result, list):
            failures.append((candidate.unit, half, result[1]))
        if attempt is not None and not reason:
            kept[candidate.unit.path].append(attempt)
            records[candidate.unit.path].append(_applied(candidate, attempt.moves))
        else:
            records[candidate.unit.path].append(_declined(candidate.unit, reason))
    return Confirmation(
        files=tuple(
            FileResult(
                path=path,
                before=before[path],
                after=_rewritten(
                    path, before[path], [(attempt.candidate, attempt.text) for attempt in kept[path]]
                ),
                records=tuple(records[path]),
            )
            for path in paths
        ),
        functions=sum(map(len, records.values())),
        candidates=len(candidates),
        tests=len(tests.steady),
        unsteady=tests.unsteady,
        tried=len(tried),
        kept=sum(map(len, kept.values())),
        judged=judged,
        broken=broken,
        failures=tuple(failures),
    )


# ── candidates ───────────────────────────────────────────────────────────────────────────────────────────


def _candidates(
    files: Mapping[str, bytes], seed: int, dependence: Dependence
) -> tuple[dict[str, list[OrderCandidate]], dict[str, list[UnitRecord]]]:
    """A candidate for each function that has one, and the records of the others, by path."""
    package = _summary(files.values())
    by_path: dict[str, list[OrderCandidate]] = {}
    declined: dict[str, list[UnitRecord]] = {path: [] for path in files}
    for path, data in files.items():
        form = file_format(path, data)
        try:
            text = form.decode(data).text
            places = form.places(text)
        except SourceError:
            continue
        transform = _transform(text, package, dependence)
        by_path[path] = []
        for place in places:
            unit = SourceUnit(path=path, name=place.name, line=place.first)
            candidate = place.obstacle or _candidate(text, place, unit, transform, seed)
            if isinstance(candidate, str):
                declined[path].append(_declined(unit, candidate))
            else:
                by_path[path].append(candidate)
    return by_path, declined


def _summary(files: Iterable[bytes]) -> PackageSummary:
    trees = []
    for data in files:
        try:
            trees.append(ast.parse(data))
        except (SyntaxError, ValueError, RecursionError):
            continue  # it is left as it is
    return summary(trees)


def _transform(text: str, package: PackageSummary, dependence: Dependence) -> PythonReorder:
    return replace(REORDER.under(dependence), around=text, package=package)


def _source(text: str, place: FunctionLocation) -> str:
    return place.wrapper + text.encode()[place.start : place.end].decode()


def _candidate(
    text: str, place: FunctionLocation, unit: SourceUnit, transform: PythonReorder, seed: int
) -> OrderCandidate | str:
    """A uniform order of each block, or the reason why there is none."""
    source = _source(text, place)
    try:
        moves = transform.propose(source, stream(seed, f"{unit.path} {unit.name}", "confirmed"))
        if isinstance(moves, Refused):
            return moves.reason
        blocks = transform.ordering(source).blocks
    except (SourceError, RecursionError) as error:
        return "nested too deeply" if isinstance(error, RecursionError) else str(error)
    data = source.encode()
    above = place.first - 1 - place.wrapper.count("\n")
    statements: list[tuple[int, int]] = []
    of_move = []
    for move in moves:
        numbers = []
        for number, old in enumerate(move.value):
            if number != old:
                statement = blocks[move.site].statements[number]
                first, last = (
                    data.count(b"\n", 0, offset) + 1 + above for offset in (statement.start, statement.end)
                )
                numbers.append(len(statements))
                statements.append((first, last))
        of_move.append(tuple(numbers))
    return OrderCandidate(
        unit=unit, place=place, moves=moves, statements=tuple(statements), of_move=tuple(of_move)
    )


def _applied(candidate: OrderCandidate, moves: tuple[Move, ...]) -> Applied:
    return Applied(
        unit=candidate.unit, transform=REORDER.name, kind=REORDER.kind, evidence="executed", moves=moves
    )


def _declined(unit: SourceUnit, reason: str) -> Declined:
    return Declined(unit=unit, transform=REORDER.name, kind=REORDER.kind, reason=reason)


def _rewritten(path: str, data: bytes, changed: Sequence[tuple[OrderCandidate, str]]) -> bytes:
    """A file with these functions in their new text."""
    if not changed:
        return data
    decoded = file_format(path, data).decode(data)
    edits = [
        Edit(candidate.place.start, candidate.place.end, text.removeprefix(candidate.place.wrapper))
        for candidate, text in changed
    ]
    return decoded.write(splice(decoded.text.encode(), edits).decode())


# ── tests ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Covered:
    """The tests of the unchanged project, and the statements that they execute."""

    seconds: dict[str, float] = field(default_factory=dict)
    """Seconds of each test that passed."""
    executed: dict[int, dict[str, frozenset[int]]] = field(default_factory=dict)
    """By candidate and test, the moved statements that the test executes."""
    steady: frozenset[str] = frozenset()
    unsteady: int = 0

    def hits(self, number: int) -> dict[str, frozenset[int]]:
        """The steady tests of a candidate with what they execute."""
        executed = self.executed.get(number, {})
        return {test: executed[test] for test in sorted(executed) if test in self.steady}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """A candidate with the moves that tests execute."""

    candidate: OrderCandidate
    moves: tuple[Move, ...]
    text: str = ""
    confirm: tuple[str, ...]
    judge: tuple[str, ...]
    both: bool
    """Whether the half that confirms executes every moved statement, and the other half some."""


def _restricted(candidate: OrderCandidate, hits: Mapping[str, frozenset[int]], seed: int) -> _Tried | None:
    """The candidate with those of its moves whose statements tests execute; `None` if there is none."""
    seen = frozenset[int]().union(*hits.values())
    pairs = [
        (move, numbers)
        for move, numbers in zip(candidate.moves, candidate.of_move, strict=True)
        if seen.issuperset(numbers)
    ]
    if not pairs:
        return None
    moved = {number for _, numbers in pairs for number in numbers}
    halves: dict[bool, list[str]] = {True: [], False: []}
    for test, executed in hits.items():
        if executed & moved:
            halves[_confirms(test, seed)].append(test)
    halves = {half: _chosen(tests, hits, moved, seed) for half, tests in halves.items()}
    confirmed = frozenset[int]().union(*(hits[test] for test in halves[True]))
    return _Tried(
        candidate=candidate,
        moves=tuple(move for move, _ in pairs),
        confirm=tuple(halves[True]),
        judge=tuple(halves[False]),
        both=confirmed.issuperset(moved) and bool(halves[False]),
    )


def _chosen(
    tests: Sequence[str], hits: Mapping[str, frozenset[int]], moved: Collection[int], seed: int
) -> list[str]:
    """At most `MOST` of these tests, which execute as much of what moved as all of them."""
    if len(tests) <= MOST:
        return list(tests)
    drawn = sorted(tests, key=lambda test: hashlib.sha256(f"{seed}\0order\0{test}".encode()).digest())
    chosen = []
    seen = set[int]()
    for test in drawn:
        if not seen.issuperset(hits[test].intersection(moved)):
            chosen.append(test)
            seen |= hits[test]
    others = [test for test in drawn if test not in chosen]
    return chosen + others[: max(0, MOST - len(chosen))]


def _confirms(test: str, seed: int) -> bool:
    """Whether a test is in the half that confirms."""
    return hashlib.sha256(f"{seed}\0{test}".encode()).digest()[0] % 2 == 0


def _covered(copy: WorkingCopy, candidates: Sequence[OrderCandidate]) -> _Covered:
    job = {
        "mode": "cover",
        "limit": copy.request.timeout or LIMIT,
        "targets": [
            {
                "file": str((copy.folder / candidate.unit.path).resolve()),
                "first": candidate.place.first,
                "last": candidate.place.last,
                "statements": candidate.statements,
            }
            for candidate in candidates
        ],
    }
    covered = _Covered()
    passed = set[str]()
    rows, late, ending = _worked(copy, job, 0, "tests")
    if late:
        raise CannotAudit("the tests ran into the time limit; give --test-command fewer of them")
    steady: object = None
    for row in rows:
        if "steady" in row:
            steady = row["steady"]
        elif row["passed"]:
            passed.add(row["test"])
            covered.seconds[row["test"]] = row["seconds"]
            for number, places in row["hits"].items():
                covered.executed.setdefault(int(number), {})[row["test"]] = frozenset(places)
    if not passed:
        raise CannotAudit(
            f"no test passes on the unchanged project ({ending}); --test-command must start pytest in one "
            "process, such as 'python -m pytest -q tests'"
        )
    if not isinstance(steady, list):
        raise CannotAudit(
            "the tests do not run twice in one process; give --test-command a part of them that does"
        )
    covered.steady = frozenset(steady)
    covered.unsteady = len(passed) - len(covered.steady)
    return covered


def _tried(
    copy: WorkingCopy,
    before: Mapping[str, bytes],
    tried: dict[int, _Tried],
    tests: _Covered,
    dependence: Dependence,
) -> dict[int, object]:
    """What the tests say of each candidate: `passed`, a word of failure, or [half, test]."""
    package = _summary(before.values())
    job: dict[str, Any] = {"mode": "try", "candidates": []}
    constant, factor = PATIENCE
    for number, attempt in tried.items():
        path, place = attempt.candidate.unit.path, attempt.candidate.place
        text = file_format(path, before[path]).decode(before[path]).text
        applied = _transform(text, package, dependence).apply(_source(text, place), attempt.moves)
        if isinstance(applied, Refused):
            continue  # never: the moves are a part of a proposal
        tried[number] = replace(attempt, text=applied.source)
        new = copy.command.scratch / f"candidate-{number}"
        new.write_bytes(_rewritten(path, before[path], [(attempt.candidate, applied.source)]))
        seconds = sum(tests.seconds[test] for test in (*attempt.confirm, *attempt.judge))
        job["candidates"].append(
            {
                "number": number,
                "file": str((copy.folder / path).resolve()),
                "first": place.first,
                "name": place.name.rpartition(".")[2].partition("#")[0],
                "source": str(new),
                "confirm": attempt.confirm,
                "judge": attempt.judge,
                "limit": constant + factor * seconds,
            }
        )
    if not job["candidates"]:
        return {}
    rows, _, _ = _worked(copy, job, len(job["candidates"]), "functions")
    return {row["candidate"]: row["result"] for row in rows}


def _worked(
    copy: WorkingCopy, job: dict[str, Any], total: int, unit: str
) -> tuple[list[dict[str, Any]], bool, str]:
    """The rows that the plug-in writes for a job, whether it ran into the time limit, and the end of the
    command's output.
    """
    results, place = copy.command.scratch / "confirmed", copy.command.scratch / "job"
    results.unlink(missing_ok=True)
    place.write_text(json.dumps({**job, "results": str(results)}), encoding="utf-8")
    shown = 0
    limit = copy.request.timeout or LIMIT
    limit = limit + sum(candidate["limit"] for candidate in job.get("candidates", ()))
    with copy.progress.counting("confirm", total or 1, unit=unit) as monitor:

        def tick() -> None:
            nonlocal shown
            done = len(_lines(results)) if total else 0
            if done > shown:
                monitor.answered(done - shown, recalled=False)
                shown = done

        late, output = copy.command.work(PLUGIN, {"_CODEAUDIT_CONFIRM": str(place)}, limit, tick)
    return [json.loads(line) for line in _lines(results)], late, " ".join(output.split())[-200:]


def _lines(path: Path) -> list[str]:
    text = path.read_text(encoding="ascii") if path.exists() else ""
    return text[: text.rfind("\n") + 1].splitlines()


def _reason(result: object) -> str:
    """Why a candidate is dropped; empty if it is kept."""
    match result:
        case "passed":
            return ""
        case [_, _]:
            return FAILS
        case "unreachable":
            return UNREACHABLE
        case _:
            return HANGS
