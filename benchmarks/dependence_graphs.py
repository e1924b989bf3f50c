"""Time to build DLG, PDG and PIG (SPE attention, Table 2), as ratios over one set of files.

    python benchmarks/dependence_graphs.py [--files 50]

The paper gives seconds per file: DLG is below PDG, and PIG is hundreds of times slower. Here the files are
the first ones of the standard library, in alphabetical order, that have functions. Parsing and reading
effects is common to all three and timed apart. DLG: conflicts, layers, symmetry mask. PDG: the same
conflicts, control edges, and SYMC's longest paths and common ancestors. PIG: every execution path of each
function that takes no edge twice, at most 100,000 paths a function. Functions with more paths are counted;
their true cost is higher.
"""

import argparse
import ast
import sysconfig
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

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


class Times(NamedTuple):
    """Seconds for one file."""

    reading: float
    dlg: float
    pdg: float
    pig: float
    functions: int
    capped: int


def functions(path: Path) -> Iterator[str]:
    """The functions and methods of a file, dedented."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno]))


def measure(path: Path, cap: int) -> Times:
    """Time all three graphs of all functions of a file."""
    programs = []
    started = time.perf_counter()
    for source in functions(path):
        try:
            programs.append(analyse(source))
        except SourceError:
            continue
    reading = time.perf_counter() - started
    dlg = pdg = pig = 0.0
    capped = 0
    for program in programs:
        dlg += timed(lambda program=program: build_dlg(program))
        pdg += timed(lambda program=program: build_pdg(program))
        started = time.perf_counter()
        capped += not build_pig(program, cap)
        pig += time.perf_counter() - started
    return Times(reading, dlg, pdg, pig, len(programs), capped)


def timed(work: object) -> float:
    """Seconds that a call takes."""
    started = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - started


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


def build_pig(program: PythonProgram, cap: int) -> bool:
    """Pairs over all execution paths; whether all paths were followed."""
    flow, effects = control_flow(program)
    return interpretation_graph(flow, effects, most=cap).complete


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


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--cap", type=int, default=100_000)
    arguments = parser.parse_args()
    root = Path(sysconfig.get_path("stdlib"))
    rows = []
    for path in sorted(root.glob("*.py")):
        row = measure(path, arguments.cap)
        if row.functions:
            rows.append(row)
        if len(rows) == arguments.files:
            break
    count = sum(row.functions for row in rows)
    print(
        f"{len(rows)} files, {count} functions, {sum(row.capped for row in rows)} of them over the PIG's cap"
    )
    dlg = sum(row.dlg for row in rows)
    for name in ("reading", "dlg", "pdg", "pig"):
        total = sum(getattr(row, name) for row in rows)
        print(
            f"{name:8} {total / len(rows):10.5f} s a file {1000 * total / count:9.4f} ms a function"
            f" {total / dlg:10.1f} × DLG"
        )


if __name__ == "__main__":
    main()
