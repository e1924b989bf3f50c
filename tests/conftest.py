"""What every test runs under, and which tests run.

Environment: no variable of the user's that could change a result, a cache of its own, untouched global generators,
no module that another test wrote.

Selection: `pytest` leaves out tests marked `slow` or `weekly` and all but a few cases of tests marked `thinned`, and
draws fewer examples.
`--full` runs the slow tests too, and of the others `WIDER` times as many cases; `--rest` runs what it has more than
`pytest`.
`--all` runs everything, and so does a test named by its node id (`tests/test_x.py::test_y`).
Where pytest-xdist is installed, many test files run on all cores; `-n 0` or a single file runs them in this process.
"""

import gc
import inspect
import itertools
import os
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import rich.style  # noqa: F401 - it draws from the global generator when it is first imported
from hypothesis import HealthCheck, settings

from codeaudit.transforms import permission
from tests.support import environment

environment.isolate()

# Reproducible, and without a clock: a busy machine is no failure.
settings.register_profile(
    "codeaudit", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("codeaudit")
settings.register_profile("quick", settings.get_profile("codeaudit"), max_examples=25)

WIDER = 3
"""How many cases `--full` runs of a test whose cases are thinned, for one that `pytest` runs."""
FEW_FILES = 20
"""Fewer test files than this run faster in one process: each worker imports torch and collects for itself."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full", action="store_true", help="run the slow tests too, and more cases of large tables"
    )
    parser.addoption("--rest", action="store_true", help="run the tests that only --full runs")
    parser.addoption("--all", action="store_true", help="run all tests with all cases")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Use all cores for many files, unless the command line says how many workers there should be."""
    options = config.option
    if hasattr(config, "workerinput") or options.usepdb or options.collectonly:
        return
    if getattr(options, "numprocesses", 0) is None:
        named = [Path(argument.partition("::")[0]) for argument in config.args]
        files = sum(1 for path in named for _ in (path.rglob("test_*.py") if path.is_dir() else [path]))
        if files >= FEW_FILES and (cores := len(os.sched_getaffinity(0))) > 1:
            # Some tests wait for clocks and servers, most of them slow ones.
            options.numprocesses = cores + 1 if options.full or options.rest or options.all else cores
            options.dist = "worksteal"


def pytest_configure(config: pytest.Config) -> None:
    """Draw fewer examples where few cases run, before a test is read that would keep the number."""
    option = config.option
    if not (option.full or option.rest or _all_run(config)):
        settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart() -> None:
    environment.forget_screen()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Nothing that is collected is garbage: looking for it costs a second, and seconds more during the tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)  # as runs set it: workers hold millions of objects


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> list[pytest.Item] | None:
    """Make no items of a function if none of them would run: that takes each worker seconds."""
    if _all_run(collector.config) or not inspect.isfunction(obj):
        return None
    marks: list[pytest.Mark] = [*getattr(obj, "pytestmark", ()), *collector.iter_markers()]
    # Cases may have marks of their own. A list of them that can be read only once is not read here.
    sets = [mark.args[1] for mark in marks if mark.name == "parametrize" and len(mark.args) > 1]
    cases = [case for group in sets if isinstance(group, Sequence) for case in group]
    names = {mark.name for mark in marks}
    if "weekly" in names:
        return []
    if collector.config.option.full:
        return None
    if collector.config.option.rest:
        names |= {mark.name for case in cases for mark in getattr(case, "marks", ())}
        return None if {"slow", "thinned"} & names else []
    return [] if "slow" in names else None


def _all_run(config: pytest.Config) -> bool:
    """Whether nothing is left out."""
    return config.option.all or any("::" in argument for argument in config.args)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the selection."""
    if _all_run(config):
        return
    option = config.option
    runs = {id(item) for item in items if not item.get_closest_marker("weekly")}
    if option.full or option.rest:
        runs -= _thinned(items, WIDER)
    if not option.full:
        quick = runs - _thinned(items, 1) - {id(item) for item in items if item.get_closest_marker("slow")}
        runs = runs - quick if option.rest else quick
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in runs])
    items[:] = [item for item in items if id(item) in runs]


def _thinned(items: list[pytest.Item], times: int) -> set[int]:
    """The ids of cases that `thinned(N, per=ARGUMENT)` leaves out: all but `times` N, evenly spread, of each value.

    Of a slow test all but N are left out, whatever `times` is.
    """
    groups = defaultdict(list)
    for item in items:
        if (mark := item.get_closest_marker("thinned")) and isinstance(item, pytest.Function):
            value = item.callspec.params[mark.kwargs["per"]] if "per" in mark.kwargs else None
            count = mark.args[0] * (1 if item.get_closest_marker("slow") else times)
            groups[item.nodeid.partition("[")[0], repr(value), count].append(item)
    left_out = set()
    for (_, _, count), cases in groups.items():
        kept = {number * len(cases) // count for number in range(count)}
        left_out |= {id(case) for number, case in enumerate(cases) if number not in kept}
    return left_out


@pytest.fixture(scope="session")
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Paths for the caches of single tests. None exists yet: thousands of folders would cost seconds."""
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_environment(_caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEAUDIT_CACHE", str(next(_caches)))
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(autouse=True)
def _own_permissions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what the test permitted: another one may rest on that nobody did."""
    monkeypatch.setattr(permission, "_named", set(permission.permitted()))


@pytest.fixture(autouse=True)
def _untouched_generator() -> Iterator[None]:
    before = random.getstate()
    yield
    assert random.getstate() == before, "the product drew from Python's global generator"


@pytest.fixture(autouse=True)
def _own_modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Forget the modules that the test wrote: another test of this process may write one of the same name."""
    last = next(reversed(sys.modules))
    yield
    written = str(tmp_path_factory.getbasetemp())
    # New modules stand at the end: to compare thousands of names after each test would take seconds.
    for name in list(itertools.takewhile(lambda name: name != last, reversed(sys.modules))):
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(written):
            del sys.modules[name]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder with two files of ordinary functions."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "totals.py").write_text(TOTALS, encoding="utf-8")
    (folder / "words.py").write_text(WORDS, encoding="utf-8")
    return folder


TOTALS = '''\
def sum_values(values, start):
    """Add them up with sum_values."""
    total = start
    count = 0
    for value in values:
        total += value
        count += 1
    if not values:
        return sum_values([0], start)
    return total, count


class Account:
    def __init__(self, owner):
        self.owner = owner
        self.entries = []

    @property
    def openBalance(self):
        first = 1
        second = 2
        return first + second


def stub():
    ...


def short(x): return x
'''

WORDS = """\
async def join_words(words, separator):
    left = "<"
    right = ">"
    joined = separator.join(words)
    return left + joined + right


def count_letters(text):
    upper = 0
    lower = 0
    for letter in text:
        if letter == "A":
            upper += 1
        else:
            lower += 1
    return upper, lower
"""
