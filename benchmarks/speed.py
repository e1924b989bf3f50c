"""All ratios of speed side by side; fails where one is a tenth above the stored one.

    python benchmarks/speed.py                     measure all, and compare with speed.json
    python benchmarks/speed.py suite attention     those whose names begin so
    python benchmarks/speed.py --write             store what was measured

A ratio is the processor time of ours over that of a unit of comparison, in one run. Each round does both, one
after the other, so that a busy moment meets both; the median of the rounds counts. A unit that is not
installed (rope, LibCST) is named and left out: `pip install rope libcst`. So are files that rope cannot read.
"""

import argparse
import ast
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import checkout  # noqa: F401 - `tests` is found

from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.engines.collector import collect_rarely
from codeaudit.audit.suite import SuitePlan, case
from codeaudit.transforms.records import Sample

STORED: Final = Path(__file__).with_suffix(".json")
ALLOWED: Final = 1.1
"""Times the stored ratio that a ratio may be."""
TIMES: Final = 20
"""How often functions are parsed in a round: once is too short for the clock of processes."""
FILES: Final = (
    "argparse",
    "configparser",
    "csv",
    "difflib",
    "fractions",
    "gettext",
    "heapq",
    "shlex",
    "textwrap",
)
"""Modules of the standard library that are renamed in."""

Work: TypeAlias = Callable[[], object]


class Pair(NamedTuple):
    """What is compared."""

    name: str
    ours: Work
    unit: Work
    rounds: int = 5
    children: bool = False
    """Whether processes are started, whose time counts."""


def ratio(pair: Pair) -> float:
    """The median over the rounds, after one that does not count."""
    spent = [
        [_seconds(work, pair.children) for work in (pair.ours, pair.unit)] for _ in range(1 + pair.rounds)
    ]
    return statistics.median(ours / unit for ours, unit in spent[1:])


def _seconds(work: Work, children: bool) -> float:
    def used() -> float:
        times = os.times()
        return times.user + times.system + children * (times.children_user + times.children_system)

    began = used()
    seconds = work()
    # Work that has a part to leave out gives its own seconds.
    return seconds if isinstance(seconds, float) else used() - began


# ── suite, rename ────────────────────────────────────────────────────────────────────────────────────────


def suites(stack: ExitStack) -> Iterator[Pair]:
    """`reorder` and `rename`, four variants each, of functions alone and with their files.

    Each round has other functions, so that files are known as rarely as in a run.
    """
    resources = CorpusResources(cache=None, note=lambda _: None)
    samples = list(corpus("stdlib", None, resources).read(Counter()))
    random.Random(0).shuffle(samples)
    plan = SuitePlan(transforms=("reorder", "rename"), variants=4, seed=0)
    for kind, alone in (("functions alone", True), ("functions with their files", False)):
        rounds = (samples[at : at + 100] for at in count(0, 100))
        shown: list[Sample] = []

        def made(
            rounds: Iterator[list[Sample]] = rounds, alone: bool = alone, shown: list[Sample] = shown
        ) -> None:
            shown[:] = [replace(sample, context="") if alone else sample for sample in next(rounds)]
            for sample in shown:
                case(sample, plan)

        yield Pair(f"suite of {kind} / ast.parse of them", made, partial(_parsed, shown), rounds=5)


def _parsed(samples: Sequence[Sample]) -> float:
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(TIMES):
            for sample in samples:
                ast.parse(sample.source)
    return (time.process_time() - began) / TIMES


def renames(stack: ExitStack) -> Iterator[Pair]:
    """Local variables of some modules under new names, against rope and LibCST."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    if find_spec("libcst") is None:
        print("not installed: libcst", file=sys.stderr)
    else:
        project = _project(folder / "all", FILES)
        ours, unit = partial(_renamed, project, folder), partial(_by_libcst, project)
        yield Pair("transform --transform rename / LibCST, all locals", ours, unit, 3, True)
    if find_spec("rope") is None:
        print("not installed: rope", file=sys.stderr)
    else:
        readable = [name for name in FILES if _rope_reads(name)]
        if unread := [name for name in FILES if name not in readable]:
            print(f"rope cannot read: {', '.join(unread)}", file=sys.stderr)
        project = _project(folder / "readable", readable)
        ours, unit = partial(_renamed, project, folder), partial(_by_rope, project)
        yield Pair("transform --transform rename / rope, one local of each file", ours, unit, 3, True)


def _project(folder: Path, names: Sequence[str]) -> Path:
    """A folder with these modules of the standard library."""
    folder.mkdir()
    for name in names:
        (folder / f"{name}.py").write_text(_module(name), "utf-8")
    return folder


def _module(name: str) -> str:
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text("utf-8")


def _rope_reads(name: str) -> bool:
    """Whether rope finds each node of the module in its text, as a renaming asks."""
    from rope.base.exceptions import RopeError
    from rope.refactor import patchedast

    try:
        patchedast.get_patched_ast(_module(name))
    except (AttributeError, RopeError):
        # It calls a method of a match without asking whether its pattern matched.
        return False
    return True


def _renamed(project: Path, folder: Path) -> None:
    # A process each time: this one would remember what it found in the files.
    with tempfile.TemporaryDirectory(dir=folder) as out:
        words = ("--transform", "rename", "--seed", "0", "--workers", "1", "--out", f"{out}/x")
        _called("-m", "codeaudit", "transform", str(project), *words)


def _by_libcst(project: Path) -> None:
    """New names for what each function assigns, as its scopes say."""
    import libcst
    from libcst import metadata

    class Renamed(libcst.CSTTransformer):
        METADATA_DEPENDENCIES = (metadata.ScopeProvider,)

        def leave_Name(self, original_node: Any, updated_node: Any) -> Any:  # noqa: N802 - LibCST's
            scope = self.get_metadata(metadata.ScopeProvider, original_node, None)
            if isinstance(scope, metadata.FunctionScope) and original_node.value in scope.assignments:
                return updated_node.with_changes(value=f"{original_node.value}_0")
            return updated_node

    for path in sorted(project.glob("*.py")):
        _ = metadata.MetadataWrapper(libcst.parse_module(path.read_text("utf-8"))).visit(Renamed()).code


def _by_rope(project: Path) -> None:
    """A new name for the first variable that a function of each file assigns."""
    from rope.base.project import Project
    from rope.refactor.rename import Rename

    opened = Project(str(project), ropefolder=None)
    for path in sorted(project.glob("*.py")):
        text = path.read_text("utf-8")
        functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
        assigned = (
            target
            for function in functions
            for statement in function.body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name)
        )
        first = next(assigned)
        before = "".join(text.splitlines(keepends=True)[: first.lineno - 1])
        place = len(before) + first.col_offset
        Rename(opened, opened.get_resource(path.name), place).get_changes(f"{first.id}_0")
    opened.close()


# ── driver, endpoint, attention, commands ────────────────────────────────────────────────────────────────


def drivers(stack: ExitStack) -> Iterator[Pair]:
    """The driver against `predict` of the same queries, whose texts were read before."""
    from codeaudit.audit.cache import NoMemory
    from codeaudit.audit.papers.registry import load
    from codeaudit.audit.records import Query
    from codeaudit.audit.registry import DEFAULT_TASK, TASKS
    from codeaudit.audit.run import AuditSetup, NoMonitor, first_answers

    samples = list(
        corpus("stdlib:argparse,ast,inspect", None, CorpusResources(cache=None, note=lambda _: None)).read(
            Counter()
        )
    )
    wanted = [Query(task=DEFAULT_TASK, language="python", source=sample.source) for sample in samples[:150]]
    model = load("vanilla-checkpoint", device="cpu", precision=None)
    task = TASKS.get(DEFAULT_TASK)
    setup = AuditSetup(model=model, task=task, memory=NoMemory(), monitor=NoMonitor(), batch_size=32)

    def asked() -> None:
        for start in range(0, len(wanted), 32):
            model.predict(wanted[start : start + 32])

    yield Pair("driver / predict, vanilla-checkpoint", lambda: first_answers(wanted, setup), asked)


def endpoints(stack: ExitStack) -> Iterator[Pair]:
    """An audit of an endpoint against its client library, on a local server without delays."""
    os.environ.setdefault("OPENAI_API_KEY", "none")
    import endpoint_throughput as endpoint

    url = stack.enter_context(endpoint.serving(endpoint.Kind(name="all"), 0.0))

    def ours() -> float:
        speed, _ = endpoint.driver(url, 1000, 32, endpoint.Clock())
        return float(speed.cpu / speed.answers)

    def theirs() -> float:
        speed = endpoint.peer(url, 1000, 32)
        return float(speed.cpu / speed.answers)

    yield Pair("audit of an endpoint / AsyncOpenAI, an answer", ours, theirs, rounds=3)


def attentions(stack: ExitStack) -> Iterator[Pair]:
    """Forward passes of 2,048 tokens, and training steps of 512, against dense attention; one thread."""
    import attention
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    stack.callback(torch.set_num_threads, threads)
    for what, tokens, backward in (("forward", 2048, False), ("training", 512, True)):
        dense = attention.forward(attention.DENSE, tokens)
        unit = partial(attention.seconds, dense, backward=backward)
        for name in attention.NAMES:
            step = partial(attention.seconds, attention.forward(name, tokens), backward=backward)
            yield Pair(f"attention, {name}, {what} of {tokens:,} tokens / dense", step, unit, rounds=7)


def commands(stack: ExitStack) -> Iterator[Pair]:
    """Processes: `--help` against Python with click, a report against reading its verdicts."""
    import large_runs

    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    python = partial(_called, "-c")
    yield Pair(
        "codeaudit --help / python that imports click",
        partial(_called, "-m", "codeaudit", "--help"), partial(python, "import click"), children=True,
    )  # fmt: skip
    run = folder / "run"
    large_runs.make(run, 4_640, ["fake/hash"])
    read = f"import pyarrow.parquet as p; p.read_table({str(run / 'verdicts.parquet')!r}).to_pylist()"
    yield Pair(
        "codeaudit report of 100,000 verdicts / reading them with pyarrow",
        partial(_called, "-m", "codeaudit", "report", str(run)), partial(python, read), 3, children=True,
    )  # fmt: skip


def _called(*words: str) -> None:
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


GROUPS: Final = {
    "suite": suites,
    "rename": renames,
    "driver": drivers,
    "endpoint": endpoints,
    "attention": attentions,
    "command": commands,
}


def main() -> int:
    """Print the ratios; 1 where one has risen too far."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("groups", nargs="*", default=list(GROUPS), metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--write", action="store_true", help="store the ratios that are measured")
    asked = parser.parse_args()
    if unknown := set(asked.groups) - set(GROUPS):
        parser.error(f"no such group: {', '.join(sorted(unknown))}; known: {', '.join(GROUPS)}")
    collect_rarely()
    stored = json.loads(STORED.read_text("utf-8")) if STORED.is_file() else {}
    ratios, risen = {}, []
    print(f"{'ours / unit':75}{'ratio':>8}{'stored':>8}")
    for group in asked.groups:
        with ExitStack() as stack:
            for pair in GROUPS[group](stack):
                began = time.monotonic()
                ratios[pair.name] = value = ratio(pair)
                before = stored.get(pair.name)
                cell = f"{before:8.2f}" if before is not None else f"{'–':>8}"
                print(f"{pair.name:75}{value:8.2f}{cell}   ({time.monotonic() - began:.0f} s)", flush=True)
                if before is not None and value > before * ALLOWED:
                    risen.append(pair.name)
    if asked.write:
        STORED.write_text(
            json.dumps(stored | {name: round(value, 3) for name, value in ratios.items()}, indent=2) + "\n"
        )
        return 0
    for name in risen:
        print(f"risen by more than {ALLOWED - 1:.0%}: {name}", file=sys.stderr)
    return 1 if risen else 0


if __name__ == "__main__":
    sys.exit(main())
