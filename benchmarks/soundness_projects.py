"""Do real projects' own tests still pass when every meaning-keeping transform has rewritten the project?

    python benchmarks/soundness_projects.py --work DIR [--project NAME ...] [--seeds 5]

Each project is fetched as a source distribution (with its tests), gets a virtual environment with what its
tests need, and is then verified with `codeaudit verify`: all meaning-keeping transforms together, once a
seed. (sortedcontainers has no tests in its distribution; cachetools stands in for it.) Downloads and
environments in DIR are used again. Exit code 1 where some test that passed fails.
"""

import argparse
import subprocess
import sys
import tarfile
import time
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verifying import verified


@dataclass(frozen=True, kw_only=True)
class Project:
    """Where a project's code and tests are, and what the tests need."""

    version: str
    sources: tuple[str, ...]
    tests: tuple[str, ...] = ("tests",)
    needs: tuple[str, ...] = ()
    runner: str = "pytest -q"
    """The module that runs the tests, with what stands before their places."""


PROJECTS: Mapping[str, Project] = {
    "attrs": Project(version="25.3.0", sources=("src",), needs=("hypothesis", "cloudpickle", "packaging")),
    "boltons": Project(version="25.0.0", sources=("boltons",)),
    "cachetools": Project(version="5.5.2", sources=("src",)),
    "click": Project(version="8.1.8", sources=("src",)),
    "jinja2": Project(version="3.1.6", sources=("src",), needs=("markupsafe", "trio")),
    "markdown": Project(version="3.7", sources=("markdown",), needs=("pyyaml",), runner="unittest discover"),
    "more-itertools": Project(version="10.6.0", sources=("more_itertools",)),
    "networkx": Project(
        version="3.4.2",
        sources=("networkx/algorithms/shortest_paths", "networkx/algorithms/flow", "networkx/classes"),
        tests=("networkx/algorithms/shortest_paths", "networkx/algorithms/flow", "networkx/classes"),
    ),
    "packaging": Project(version="24.2", sources=("src",), needs=("pretend",)),
    "requests": Project(
        version="2.32.3",
        sources=("src",),
        needs=(
            "urllib3<2.4",
            "idna",
            "certifi",
            "charset-normalizer",
            "pytest-httpbin",
            "pytest-mock",
            "trustme",
        ),
    ),
    "sqlparse": Project(version="0.5.3", sources=("sqlparse",)),
    "toolz": Project(version="1.0.0", sources=("toolz",), tests=("toolz",)),
}


def main() -> int:
    """Verify the projects and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder for downloads and environments")
    parser.add_argument("--project", nargs="*", choices=sorted(PROJECTS), default=sorted(PROJECTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--transform", default="all")
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    rows, failed = [], False
    for name in asked.project:
        began = time.monotonic()
        try:
            folder, python = prepare(name, PROJECTS[name], asked.work)
            report = judged(name, folder, python, asked)
        except (subprocess.CalledProcessError, OSError, ValueError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
            continue
        failed = failed or not report["held"]
        rows.append(row(name, report, time.monotonic() - began))
        write_table(rows)
    return int(failed)


def prepare(name: str, project: Project, work: Path) -> tuple[Path, Path]:
    """The unpacked source distribution of a project, and a Python in which its tests can run."""
    sdists = work / "sdists"
    folder = work / "projects" / f"{name}-{project.version}"
    if not folder.exists():
        wanted = f"{name}=={project.version}"
        download = ["download", "--no-deps", "--no-binary", name, "--dest", str(sdists), wanted]
        subprocess.run([sys.executable, "-m", "pip", "-q", *download], check=True)
        stem = f"{name}-{project.version}".lower().replace("-", "_")
        archive = next(
            path for path in sdists.glob("*.tar.gz") if path.name.lower().replace("-", "_").startswith(stem)
        )
        with tarfile.open(archive) as tar:
            tar.extractall(folder.parent / f"{name}.partial", filter="data")
        (top,) = (folder.parent / f"{name}.partial").iterdir()
        top.rename(folder)
    missing = [place for place in (*project.sources, *project.tests) if not (folder / place).exists()]
    if missing:
        raise ValueError(f"the source distribution has no {', '.join(missing)}")
    environment = work / "environments" / name
    python = environment / "bin/python"
    if not (environment / "ready").exists():
        venv.create(environment, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "-q", "install", "pytest<9", *project.needs], check=True)
        (environment / "ready").touch()
    return folder, python


def judged(name: str, folder: Path, python: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """What `codeaudit verify` says of a project."""
    project = PROJECTS[name]
    words = [str(folder), "--transform", asked.transform]
    words += ["--seeds", str(asked.seeds), "--workers", str(asked.workers)]
    words += ["--test-command", f"{python} -m {project.runner} {' '.join(project.tests)}"]
    for source in project.sources:
        words += ["--source", source]
    return verified(name, words, asked.work)


def row(name: str, report: Mapping[str, Any], seconds: float) -> list[str]:
    """A project's line of the table."""
    power = report["power"]
    return [
        name,
        PROJECTS[name].version,
        f"{report['before']['passed']:,}",
        f"{power['units']:,}",
        f"{power['changed']:,}",
        f"{power['executed']:,}",
        " ".join(str(len(trial["failures"])) for trial in report["trials"]),
        f"{seconds:,.0f} s",
    ]


def write_table(rows: Sequence[Sequence[str]]) -> None:
    """All lines so far, as Markdown."""
    heads = ["project", "version", "tests passing", "units", "changed", "executed", "new failures", "time"]
    print()
    for cells in (heads, ["---", "---", *["---:"] * 6], *rows):
        print(f"| {' | '.join(cells)} |")
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main())
