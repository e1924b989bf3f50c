"""How often is an order broken although half of a project's tests confirmed it?

    python benchmarks/confirmed_orders.py --work DIR [--project NAME ...] [--seed 0] [--dependence paper]

Each project is prepared as in `soundness_projects.py`. Each of its functions gets one other order under the
relaxed relation of `--dependence confirmed`, and is tried alone. One half of the tests confirms, the other
judges. Prints a row per project, and on stderr every function that a test rejects. With
`--dependence paper` the orders are those of the paper's relation, which shows that tests reject some.
Downloads and environments in DIR are used again.
"""

import argparse
import shlex
import subprocess
import sys
import time
from pathlib import Path

from soundness_projects import PROJECTS, prepare
from verifying import write_table

from codeaudit.audit.projects.confirm import Confirmation, confirm
from codeaudit.audit.projects.working_copy import VerifyRequest, WorkingCopy
from codeaudit.cli.output import PROGRESS
from codeaudit.reports.statistics.intervals import wilson
from codeaudit.transforms.dependence.blocks import NO_BLOCK
from codeaudit.transforms.dependence.relations import DEPENDENCES, Dependence
from codeaudit.transforms.errors import CannotAudit, RunError
from codeaudit.transforms.folders import scratch_folder
from codeaudit.transforms.source_files import Declined

MEASURED = ("boltons", "click", "jinja2", "marshmallow", "more-itertools", "networkx", "parso", "toolz")
HEADS = (
    *("project", "tests", "functions with a block", "other order", "executed", "kept", "yield"),
    *("confirmed by half", "fail in the other half", "residual (95 %)", "time"),
)


def main() -> int:
    """Measure the projects and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder for downloads and environments")
    parser.add_argument("--project", nargs="*", choices=sorted(PROJECTS), default=MEASURED)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dependence", choices=DEPENDENCES, default="confirmed")
    asked = parser.parse_args()
    work = asked.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    rows, failed = [], False
    total = [0] * 6
    for name in asked.project:
        began = time.monotonic()
        try:
            orders = measured(name, work, asked.seed, asked.dependence)
        except (subprocess.CalledProcessError, OSError, ValueError, CannotAudit, RunError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
            continue
        counts = numbers(orders)
        total = [count + more for count, more in zip(total, counts, strict=True)]
        title = f"{name} {PROJECTS[name].version}"
        rows.append(row(title, f"{orders.tests:,}", counts, time.monotonic() - began))
        write_table(HEADS, [*rows, row("all", "", total, 0)])
        for unit, half, test in orders.failures:
            print(f"{name}: {unit.path}:{unit.line} {unit.name}: {half}: {test}", file=sys.stderr)
    return int(failed)


def measured(name: str, work: Path, seed: int, dependence: Dependence) -> Confirmation:
    """The confirmed orders of a project."""
    project = prepare(name, PROJECTS[name], work)
    request = VerifyRequest(
        project=project.folder,
        words=tuple(shlex.split(project.command)),
        transforms=("reorder",),
        seeds=(seed,),
        sources=project.sources,
    )
    with scratch_folder("confirm") as scratch:
        return confirm(WorkingCopy.make(request, scratch, PROGRESS), seed, dependence)


def numbers(orders: Confirmation) -> list[int]:
    """The functions with a block, with another order, executed, kept, judged, and broken."""
    records = [record for file in orders.files for record in file.records]
    blocks = len(records) - sum(
        isinstance(record, Declined) and record.reason == NO_BLOCK for record in records
    )
    return [blocks, orders.candidates, orders.tried, orders.kept, orders.judged, orders.broken]


def row(name: str, tests: str, counts: list[int], seconds: float) -> list[str]:
    """A line of the table of `HEADS`."""
    blocks, _, _, kept, judged, broken = counts
    residual = ""
    if judged:
        low, high = wilson(broken, judged)
        residual = f"{broken / judged:.1%} ({low:.1%} to {high:.1%})"
    share = f"{kept / blocks:.1%}" if blocks else ""
    cells = [f"{number:,}" for number in counts]
    return [name, tests, *cells[:4], share, *cells[4:], residual, f"{seconds:,.0f} s" if seconds else ""]


if __name__ == "__main__":
    sys.exit(main())
