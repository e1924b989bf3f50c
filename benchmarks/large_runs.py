"""What it costs to summarise, show, gate, compare and explain a large run: processor time and peak memory.

    python benchmarks/large_runs.py make FOLDER --samples 3600
    python benchmarks/large_runs.py measure FOLDER [--other FOLDER] [--only gate ...]

`make` audits functions of the standard library with `fake/hash` and `fake/length`, six transforms and four
variants, and repeats the tables of that small run under new ids. Each copy has the texts of the original, so
pages and tables are as large as those of a real run, but they compress better. `measure` runs each command in
a process of its own. Its processor time is told without that of a process that only imports the same modules.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import compute
from pyarrow.parquet import ParquetWriter, read_table

from codeaudit.audit.integrity import bound
from codeaudit.audit.store import BOUND, SUITE, SUMMARY, VERDICTS, RunFolder

MODELS: Final = ("fake/hash", "fake/length")
TRANSFORMS: Final = "rename,reorder,insert-comments,insert-blank-lines,insert-parentheses,spacing"
PART: Final = 200
"""Functions that are really audited."""

IMPORTED: Final = """
import codeaudit.gating, codeaudit.finished_runs, codeaudit.reports.compare, codeaudit.cli.explain
import codeaudit.reports.render.html.document, pyarrow.parquet, pyarrow.compute, numpy, scipy.stats
from codeaudit.audit.registry import TASKS
TASKS.get("function-name")
from pathlib import Path
import sys
run, other = Path(sys.argv[1]), Path(sys.argv[2])
"""
GATE: Final = "codeaudit.gating.gate({}, max_violation_rate=1.0)"
WORK: Final = {
    "nothing": "",
    "open": "codeaudit.finished_runs.read_run(run)",
    "summarise": "codeaudit.gating.recomputed(codeaudit.finished_runs.Run(run))",
    "html": "codeaudit.finished_runs.read_run(run).to_html(sys.argv[3])",
    "compare": """
found = [codeaudit.gating.read_compared(each) for each in (run, other)]
print(len(codeaudit.reports.compare.compare(found).paired))
""",
    "explain": """
found = codeaudit.finished_runs.read_run(run)
found.check_verdicts()
print(len(codeaudit.cli.explain.violations(found, limit=50)))
""",
    "gate": GATE.format("run"),
    # From here on this machine has checked the run, and keeps its summary.
    "gate, known": GATE.format("run"),
    "gate of the other": GATE.format("other"),
    "gate, baseline": "codeaudit.gating.gate(run, other, margin=0.01)",
    "html, known": "codeaudit.finished_runs.read_run(run).to_html(sys.argv[3])",
}


def make(folder: Path, samples: int, models: Sequence[str]) -> None:
    """Write a finished run of these models with so many samples."""
    from codeaudit.finished_runs import Run
    from codeaudit.gating import recomputed

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        small = Path(place) / "run"
        named = [word for name in models for word in ("--model", name)]
        number = ["--limit", str(min(PART, samples)), "--transform", TRANSFORMS]
        command = ["codeaudit", "run", *named, *number, "--out", str(small), "--cache", place]
        subprocess.run([sys.executable, "-m", *command], check=True, stdout=subprocess.DEVNULL)
        for name in (SUITE, VERDICTS):
            _repeat(small / name, folder / name, samples)
        manifest = dict(RunFolder(small).manifest())
    for name in ("files", "digest"):
        manifest.pop(name)
    target = RunFolder(folder)
    target.write_manifest({**manifest, "schema": 1})
    target.write_text(SUMMARY, recomputed(Run(folder)).to_json())
    target.write_manifest(bound(target, manifest, sorted(BOUND)))


def _repeat(source: Path, target: Path, samples: int) -> None:
    """Write a table again and again, each time under other ids, model by model."""
    table = read_table(source)
    names = dict.fromkeys(table["model"].to_pylist()) if "model" in table.column_names else (None,)
    with ParquetWriter(target, table.schema, compression="zstd") as writer:
        for name in names:
            rows = table if name is None else table.filter(compute.equal(table["model"], name))
            for part in _copies(rows, samples):
                writer.write_table(part, row_group_size=1024)  # as a run writes them


def _copies(rows: pa.Table, samples: int) -> Iterator[pa.Table]:
    place = rows.column_names.index("sample")
    ids = list(dict.fromkeys(rows["sample"].to_pylist()))
    for copy in range(-(-samples // len(ids))):
        left = samples - copy * len(ids)
        part = rows if left >= len(ids) else rows.filter(compute.is_in(rows["sample"], pa.array(ids[:left])))
        # In front, so that the order of the ids is not the order of the samples, as in a real run.
        named = compute.binary_join_element_wise(part["sample"].cast(pa.string()), f"{copy:05}", "-")
        yield part.set_column(place, rows.schema.field("sample"), named)


def measure(folder: Path, other: Path, only: Sequence[str]) -> None:
    """Print what each command costs."""
    print(f"{'':20}{'CPU s':>8}{'MB':>8}")
    idle = 0.0
    with tempfile.TemporaryDirectory() as place:
        for name, code in WORK.items():
            if name != "nothing" and only and name not in only:
                continue
            command = [sys.executable, "-c", IMPORTED + code, str(folder), str(other), f"{place}/page.html"]
            seconds, megabytes = _cost(command, cache=place)
            idle = seconds if name == "nothing" else idle
            cost = seconds if name == "nothing" else seconds - idle
            print(f"{name:20}{cost:8.2f}{megabytes:8.0f}", flush=True)


def _cost(command: Sequence[str], *, cache: str) -> tuple[float, float]:
    """Processor seconds and peak memory in megabytes of a command with this folder as its cache."""
    environment = {**os.environ, "CODEAUDIT_CACHE": cache}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"it ended with {child.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def main() -> None:
    """Make or measure, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("make", "measure"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=3600)
    parser.add_argument("--model", action="append", help="by default two")
    parser.add_argument("--other", type=Path, help="a run to compare with; by default the same under a link")
    parser.add_argument("--only", nargs="*", default=(), choices=[name for name in WORK if name != "nothing"])
    given = parser.parse_args()
    if given.what == "make":
        make(given.folder, given.samples, given.model or MODELS)
        return
    measure(given.folder, given.other or given.folder, given.only)


if __name__ == "__main__":
    main()
