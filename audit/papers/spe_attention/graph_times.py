"""Time to build DLG, PDG and PIG (SPE attention, Table 2), on files of the standard library.

The paper averages over fifty files of Python150k. Here the files are the first fifty of the standard
library, in alphabetical order, that have functions. Parsing and reading effects is common to all three and
not counted. DLG: conflicts, layers, symmetry mask. PDG: the same conflicts, control edges, and SYMC's longest
paths and common ancestors. PIG: every execution path of each function that takes no edge twice, at most `CAP`
paths a function. Functions with more paths cost more than is measured.
"""

import ast
import sysconfig
import textwrap
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from codeaudit.audit.papers.experiments import Bench, PaperTrial
from codeaudit.transforms.dependence.effects import Effects
from codeaudit.transforms.dependence.graph import (
    common_ancestor_distances,
    interpretation_graph,
    layers,
    program_dependence,
    symmetry_mask,
)
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis.program import PythonProgram, analyse

FILES: Final = 50
CAP: Final = 100_000
"""Paths of a function."""


class GraphTimes(NamedTuple):
    """Seconds for one file."""

    dlg: float
    pdg: float
    pig: float
    functions: int
    """Number of its functions."""
    capped: int
    """Of these, those with more paths than `CAP`."""


def table(bench: Bench) -> Iterator[PaperTrial]:
    """The seconds of each file, a trial for each graph; the number of the file stands for the seed."""
    paths = list(islice(files(), FILES))

    def timed(_: str, number: int) -> list[PaperTrial]:
        times = measure(paths[number])
        counts = {"functions": float(times.functions), "capped": float(times.capped)}
        return [
            PaperTrial(row=name, seed=number, scores={"seconds": seconds, **counts})
            for name, seconds in (("DLG", times.dlg), ("PIG", times.pig), ("PDG", times.pdg))
        ]

    settings = {**bench.settings, "files": FILES, "paths": CAP, "python": sysconfig.get_python_version()}
    trials = list(replace(bench, settings=settings, seeds=len(paths)).trials(timed))
    by_file = [trial.scores for trial in trials if trial.row == bench.rows[0]]
    count, capped = (sum(scores[name] for scores in by_file) for name in ("functions", "capped"))
    note = (
        f"{len(paths)} files with {count:,.0f} functions; "
        f"{capped:,.0f} of these have more than {CAP:,} paths."
    )
    yield from (replace(trial, notes=[note]) for trial in trials)


def files() -> Iterator[Path]:
    """The files of the standard library that have functions, in alphabetical order."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        if any(True for _ in programs(path)):
            yield path


def functions(path: Path) -> Iterator[str]:
    """The functions and methods of a file, dedented."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno]))


def programs(path: Path) -> Iterator[PythonProgram]:
    """The functions of a file that can be read."""
    for source in functions(path):
        with suppress(SourceError):
            yield analyse(source)


def measure(path: Path) -> GraphTimes:
    """Time all three graphs of all functions of a file, in seconds of the processor."""
    read = list(programs(path))
    capped = 0
    seconds = dict.fromkeys(("dlg", "pdg", "pig"), 0.0)
    for program in read:
        begin = time.process_time()
        build_dlg(program)
        seconds["dlg"] += time.process_time() - begin
        begin = time.process_time()
        build_pdg(program)
        seconds["pdg"] += time.process_time() - begin
        begin = time.process_time()
        capped += not build_pig(program)
        seconds["pig"] += time.process_time() - begin
    return GraphTimes(**seconds, functions=len(read), capped=capped)


def build_dlg(program: PythonProgram) -> None:
    """Edges, layers by longest path, symmetry mask."""
    predecessors = program.dependences().predecessors
    symmetry_mask(predecessors, layers(predecessors))


def build_pdg(program: PythonProgram) -> None:
    """Data and control edges, and the distances that SYMC takes from them."""
    predecessors = program.dependences().predecessors
    control = tuple(1 << parent if parent >= 0 else 0 for parent in program.parents)
    graph = program_dependence(predecessors, control)
    common_ancestor_distances(graph)


def build_pig(program: PythonProgram) -> bool:
    """Pairs over all execution paths; whether all paths were followed."""
    flow, effects = control_flow(program)
    return interpretation_graph(flow, effects, most=CAP).complete


def control_flow(program: PythonProgram) -> tuple[list[list[int]], list[Effects]]:
    """Which line may run after which; a loop's header follows its body, a condition skips its body."""
    count = len(program.parents)
    following: list[list[int]] = [[] for _ in range(count)]
    children: list[list[int]] = [[] for _ in range(count)]
    for line in range(1, count):
        children[program.parents[line]].append(line)

    def link(line: int, after: int) -> int:
        """Connect a line whose continuation is `after`; gives the first line to run."""
        node, _ = program.nodes[line]
        if isinstance(node, ast.Return | ast.Raise):
            following[line] = [-1]
            return line
        loop = isinstance(node, ast.For | ast.AsyncFor | ast.While)
        entry = chain(children[line], line if loop else after)
        following[line] = sorted({entry, after}) if children[line] else [after]
        return line

    def chain(lines: list[int], after: int) -> int:
        for line in reversed(lines):
            after = link(line, after)
        return after

    following[0] = [chain(children[0], -1)]
    return following, list(program.effects)
