"""Do CPython's own tests still pass when one function of a standard module, or all of them, are rewritten?

    python benchmarks/soundness_stdlib.py [--transform all] [--module textwrap ...] [--seed 0] [--jobs 1]

The protocol by which other tools were measured: the top-level functions of ten modules, one at a time; the
tests that execute a function (told by a profile) judge its rewriting, each test with the random generator
seeded, 14 s of processor time a run, isolated by a fork. The oracle's power is shown by a control that puts
`raise` first in a function: it must be caught. Then all functions of a module at once, judged by its whole
test suite. Exit code 1 where anything fails.
"""

import argparse
import importlib
import importlib.util
import json
import os
import random
import resource
import shutil
import sys
import sysconfig
import tempfile
import time
import unittest
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.interface import Transform
from codeaudit.transforms.python.files import PYTHON_FILES, places
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.registry import ENTRIES, TRANSFORMS, expand, one_way
from codeaudit.transforms.source_files import Applied, TransformSeries, perturb_file

MODULES = (
    *("textwrap", "statistics", "heapq", "bisect", "fnmatch"),
    *("shlex", "difflib", "string", "colorsys", "calendar"),
)
LIBRARY = Path(sysconfig.get_paths()["stdlib"])
CPU_LIMIT = 14
"""Seconds of processor time for the tests of one function."""
SUITE_LIMIT = 240
TEST_BUDGET = 8.0
"""Seconds that the tests chosen for one function may take together; the quickest come first."""

PEERS = (
    ("python-minifier 3.4", "rename locals", "0/86"),
    ("NatGen", "VarRenamer", "82/188"),
    ("NatGen", "DeadCodeInserter", "64/178"),
    ("NatGen", "ForWhile", "2/4"),
    ("NatGen", "OperandSwap", "3/104"),
    ("NatGen", "identity", "2/94"),
    ("ReCode", "VarRenamerNaive", "16/92"),
    ("ReCode", "ForWhile", "12/26"),
    ("ReCode", "DeadCodeInserter", "12/174"),
    ("ReCode", "new_line_afterdoc", "26/99"),
    ("ALERT", "rename one identifier", "18/95"),
    ("averloc", "rename locals", "14/80"),
    ("averloc", "insert print", "29/93"),
    ("CodeCrash", "rename all", "27/95"),
    ("llm-code-watermark", "rename locals", "69/69"),
    ("PyMutate", "For2While", "10/21"),
    ("PyMutate", "regex renamer", "94/94"),
)
"""Unsound of tested by this protocol on CPython 3.11.7, other public tools; unparsable counts as unsound."""


@dataclass(kw_only=True)
class Suite:
    """The tests of one module, and which functions each of them executes."""

    module: str
    seconds: dict[str, float] = field(default_factory=dict)
    executed: dict[str, set[str]] = field(default_factory=dict)

    def covering(self, function: str) -> list[str]:
        """The tests that execute a function, the quickest first, within the budget."""
        tests = sorted(
            (name for name, seen in self.executed.items() if function in seen), key=self.seconds.__getitem__
        )
        chosen: list[str] = []
        spent = 0.0
        for name in tests:
            spent += self.seconds[name]
            if chosen and spent > TEST_BUDGET:
                break
            chosen.append(name)
        return chosen


@dataclass(frozen=True, kw_only=True)
class Task:
    """A rewritten module and the tests that judge it; no tests for all of them."""

    transform: str
    module: str
    function: str
    source: bytes
    tests: tuple[str, ...]


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--transform", default="all", help="names or families, separated by commas")
    parser.add_argument("--module", action="append", choices=MODULES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=5, help="how many lists of several transforms")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    try:
        names = expand(asked.transform.split(","), languages=[PYTHON.name])
    except UsageError as error:
        parser.error(str(error))
    modules = tuple(asked.module or MODULES)
    seeds = range(asked.seed, asked.seed + asked.seeds)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        suites = {module: profile(module, work) for module in modules}
        tasks = [*controls(suites), *single(suites, names, asked.seed), *whole(suites, names, seeds)]
        results = list(judged(tasks, suites, work, asked.jobs))
    return report([*names, *map(together, seeds)], suites, results)


def profile(module: str, work: Path) -> Suite:
    """Run a module's tests once and note what each executes, how long it takes, and whether it passes."""
    by_test = in_child(lambda: _profiled(module), work, SUITE_LIMIT * 2)
    if not isinstance(by_test, dict):
        raise SystemExit(f"the tests of {module} do not run here")
    return Suite(
        module=module,
        seconds={name: value[0] for name, value in by_test.items()},
        executed={name: set(value[1]) for name, value in by_test.items()},
    )


def controls(suites: Mapping[str, Suite]) -> Iterator[Task]:
    """Every covered function with `raise` as its first statement."""
    for module, suite in suites.items():
        data = source_of(module)
        for place in functions(module):
            lines = data.decode().split("\n")
            body = place.node.body
            first = body[0]
            line = "\n" + " " * 4 + 'raise RuntimeError("control")'
            if len(body) > 1 and isinstance(getattr(getattr(first, "value", None), "value", None), str):
                at = first.end_lineno or 0
                lines[at - 1] += line
            else:
                lines[first.lineno - 2] += line
            tests = suite.covering(place.name)
            if tests:
                text = "\n".join(lines).encode()
                yield Task(
                    transform="raise", module=module, function=place.name, source=text, tests=tuple(tests)
                )


def single(suites: Mapping[str, Suite], names: Sequence[str], seed: int) -> Iterator[Task]:
    """Every function alone under every transform that works on functions."""
    for name in names:
        transform = TRANSFORMS.get(name)
        if transform.unit != "function":
            continue
        for module, suite in suites.items():
            data = source_of(module)
            for place in functions(module):
                only = frozenset({(place.name, name)})
                done = perturb_file(
                    PYTHON_FILES,
                    data,
                    f"{module}.py",
                    TransformSeries(transforms=(transform,), seed=seed),
                    only=only,
                )
                if any(isinstance(record, Applied) for record in done.records):
                    tests = tuple(suite.covering(place.name))
                    yield Task(
                        transform=name, module=module, function=place.name, source=done.data, tests=tests
                    )


def whole(suites: Mapping[str, Suite], names: Sequence[str], seeds: Sequence[int]) -> Iterator[Task]:
    """Every module with all of it rewritten by one transform, and by several together for each seed.

    Of transforms that undo each other, each seed draws one.
    """
    inside = [name for name in names if not ENTRIES[name].interface]
    groups: list[tuple[str, int, tuple[Transform, ...]]] = [
        (name, seeds[0], (TRANSFORMS.get(name),)) for name in inside
    ]
    for seed in seeds:
        drawn = one_way(inside, seed, languages=[PYTHON.name])
        groups.append((together(seed), seed, tuple(map(TRANSFORMS.get, drawn))))
    for name, seed, transforms in groups:
        for module in suites:
            data = source_of(module)
            done = perturb_file(
                PYTHON_FILES, data, f"{module}.py", TransformSeries(transforms=transforms, seed=seed)
            )
            if done.data != data:
                yield Task(transform=name, module=module, function="", source=done.data, tests=())


def together(seed: int) -> str:
    """The name in the table of the transforms that a seed draws."""
    return f"together, seed {seed}"


def functions(module: str) -> list[Any]:
    """The top-level functions of a module."""
    known = places(source_of(module).decode())
    return [place for place in known if "." not in place.name and "#" not in place.name and not place.wrapper]


def source_of(module: str) -> bytes:
    """A module's own text."""
    return (LIBRARY / f"{module}.py").read_bytes()


# ── running tests ────────────────────────────────────────────────────────────────────────────────────────


def judged(
    tasks: Sequence[Task], suites: Mapping[str, Suite], work: Path, jobs: int
) -> Iterator[tuple[Task, str]]:
    """Each task with `passed`, `failed`, or `untested`."""
    running: dict[int, tuple[Task, Path]] = {}
    started = time.monotonic()
    for number, task in enumerate(tasks):
        if task.function and not task.tests:
            yield task, "untested"
            continue
        while len(running) >= jobs:
            yield reaped(running)
        folder = work / str(number)
        folder.mkdir()
        (folder / f"{task.module}.py").write_bytes(task.source)
        limit = CPU_LIMIT if task.function else SUITE_LIMIT
        child = fork(partial(_verdict, task, folder, suites[task.module]), folder / "out", limit)
        running[child] = (task, folder)
        if sys.stderr.isatty() or number % 200 == 0:
            print(f"{number} of {len(tasks)} runs, {time.monotonic() - started:.0f} s", file=sys.stderr)
    while running:
        yield reaped(running)


def reaped(running: dict[int, tuple[Task, Path]]) -> tuple[Task, str]:
    """The next task that ends, with its result."""
    child, _ = os.wait()
    task, folder = running.pop(child)
    out = folder / "out"
    outcome = json.loads(out.read_text()) if out.exists() else "failed"
    shutil.rmtree(folder)
    return task, str(outcome)


def in_child(work_to_do: Any, work: Path, limit: int) -> Any:
    """What a function gives in a forked process; `None` where that died."""
    out = work / "told"
    out.unlink(missing_ok=True)
    os.waitpid(fork(work_to_do, out, limit), 0)
    return json.loads(out.read_text()) if out.exists() else None


def fork(work_to_do: Any, out: Path, limit: int) -> int:
    """Start a process that writes what a function gives to a file as JSON."""
    child = os.fork()
    if child:
        return child
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        with open(os.devnull, "w") as quiet, redirect_stdout(quiet), redirect_stderr(quiet):
            text = json.dumps(work_to_do())
        out.with_suffix(".new").write_text(text)
        out.with_suffix(".new").rename(out)
    finally:
        os._exit(0)


def loaded(module: str) -> list[unittest.TestCase]:
    """The tests of a module, from a fresh import of both."""
    for name in [module, f"test.test_{module}"]:
        sys.modules.pop(name, None)
    tests = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(f"test.test_{module}"))
    return list(flat(tests))


def flat(tests: Any) -> Iterator[unittest.TestCase]:
    """The single tests of a suite."""
    if isinstance(tests, unittest.TestSuite):
        for test in tests:
            yield from flat(test)
    else:
        yield tests


def run(test: unittest.TestCase) -> bool:
    """Whether a test passes, with the random generator seeded and the fixtures of its class and module."""
    random.seed(0)
    result = unittest.TestResult()
    unittest.TestSuite([test]).run(result)
    return result.wasSuccessful()


def _profiled(module: str) -> dict[str, tuple[float, list[str]]]:
    names = {place.name for place in functions(module)}
    file = importlib.util.find_spec(module)
    assert file is not None
    path = file.origin
    by_test = {}
    for test in loaded(module):
        seen: set[str] = set()

        def note(frame: FrameType, event: str, _: object, seen: set[str] = seen) -> None:
            code = frame.f_code
            if event == "call" and code.co_filename == path:
                seen.add(code.co_qualname.partition(".")[0] if hasattr(code, "co_qualname") else code.co_name)

        begin = time.process_time()
        sys.setprofile(note)
        passed = run(test)
        sys.setprofile(None)
        if passed:
            by_test[test.id()] = (time.process_time() - begin, sorted(seen & names))
    return by_test


def _verdict(task: Task, folder: Path, suite: Suite) -> str:
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    sys.modules.pop(task.module, None)
    spec = importlib.util.find_spec(task.module)
    assert spec is not None
    assert spec.origin == str(folder / f"{task.module}.py")
    tests = {test.id(): test for test in loaded(task.module)}
    chosen = task.tests or tuple(suite.seconds)
    return "passed" if all(name in tests and run(tests[name]) for name in chosen) else "failed"


def report(names: Sequence[str], suites: Mapping[str, Suite], results: Sequence[tuple[Task, str]]) -> int:
    """Print the tables; 1 where a rewriting failed, or a control did not."""
    single_counts: dict[str, Counter[str]] = defaultdict(Counter)
    whole_counts: dict[str, Counter[str]] = defaultdict(Counter)
    for task, result in results:
        (single_counts if task.function else whole_counts)[task.transform][result] += 1
    total = sum(len(functions(module)) for module in suites)
    power = single_counts.pop("raise")
    covered = power["failed"] + power["passed"]
    print(f"{total} functions of {len(suites)} modules, {covered} executed by a test")
    print(f"control: raise as first statement, noticed {power['failed']}/{covered}\n")
    print(f"{'transform':28} {'rewritten':>10} {'unsound/tested':>15} {'modules failing/changed':>24}")
    failures = 0
    for name in names:
        alone, all_ = single_counts[name], whole_counts[name]
        tested = alone["passed"] + alone["failed"]
        changed = all_["passed"] + all_["failed"]
        failures += alone["failed"] + all_["failed"]
        rewritten = str(tested + alone["untested"]) if alone else "–"
        unsound = f"{alone['failed']}/{tested}" if alone else "–"
        modules = f"{all_['failed']}/{changed}" if changed else "–"
        print(f"{name:28} {rewritten:>10} {unsound:>15} {modules:>24}")
    print("\nother public tools, by the same protocol")
    for tool, edit, count in PEERS:
        print(f"{tool:20} {edit:24} {count:>9}")
    for task, result in results:
        if task.transform != "raise" and result == "failed":
            print(f"FAILED {task.transform}: {task.module}.{task.function or '*'}")
        elif task.transform == "raise" and result == "passed":
            print(f"not noticed: raise in {task.module}.{task.function}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
