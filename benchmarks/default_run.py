"""Where does the time of the default run go?

    python benchmarks/default_run.py               seconds by stage, with an empty cache
    python benchmarks/default_run.py --profile     functions by their own time, everything in one process

Times are CPU seconds of this process and of its workers, and wall seconds. Workers are counted where they
end, with the suite. Other work on the machine makes CPU seconds longer, too; compare numbers of one session.
"""

import argparse
import cProfile
import pstats
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

BEGAN = time.monotonic() - time.process_time()
"""When this process began, nearly: it has done nothing but import so far."""


@dataclass
class StageClock:
    """A progress that notes when each stage ends."""

    stages: list[tuple[str, float, float]] = field(default_factory=list)
    """Names, with CPU and wall seconds of each."""
    first: float | None = None
    """Wall seconds until the user saw the first line."""
    _cpu: float = 0.0
    _wall: float = BEGAN

    def note(self, message: str) -> None:
        """The first line ends the start, the headline of the corpus ends the draw."""
        if self.first is None:
            self.first = time.monotonic() - BEGAN
            self.ended("start: imports, options")
        elif message.startswith("corpus "):
            self.ended("corpus, models")
        elif message.startswith("suite: "):
            self.ended("suite, written")

    @contextmanager
    def counting(self, label: str, total: int | None, *, unit: str = "answers") -> Iterator["Ignoring"]:
        """A stage; what came before it and is not noted belongs to it."""
        yield Ignoring()
        if unit == "answers":
            self.ended(label)

    def ended(self, stage: str) -> None:
        """Note the time since the last stage ended."""
        used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        cpu, wall = sum(usage.ru_utime + usage.ru_stime for usage in used), time.monotonic()
        self.stages.append((stage, cpu - self._cpu, wall - self._wall))
        self._cpu, self._wall = cpu, wall


class Ignoring:
    """A monitor of no use here."""

    def malformed(self, message: str) -> None:
        """Do nothing."""

    def expect(self, total: int) -> None:
        """Do nothing."""

    def answered(self, count: int, *, recalled: bool) -> None:
        """Do nothing."""


def stages(workers: int | None, folder: Path) -> StageClock:
    """Carry out the default run in an empty folder."""
    # Not above: workers import this file, and those of the command import nothing of this.
    from codeaudit.audit.engines.collector import collect_rarely
    from codeaudit.auditing import audit_models
    from codeaudit.options import DEFAULT_MOVABLE, RunOptions, default_workers

    collect_rarely()
    clock = StageClock()
    options = RunOptions(
        movable=DEFAULT_MOVABLE,
        workers=workers or default_workers(),
        cache=folder / "cache",
        out=folder / "run",
    )
    audit_models(options, command=["benchmark"], progress=clock)
    clock.ended("summary, manifest")
    return clock


def by_stage(workers: int | None, folder: Path) -> str:
    """Markdown: one row for each stage."""
    clock = stages(workers, folder)
    cpu, wall = (
        sum(times) for times in zip(*((used, passed) for _, used, passed in clock.stages), strict=True)
    )
    rows = [*clock.stages, ("**all**", cpu, wall)]
    lines = ["| stage | CPU s | wall s |", "|---|---|---|"]
    lines += [f"| {name} | {used:.1f} | {passed:.1f} |" for name, used, passed in rows]
    return "\n".join([*lines, "", f"first line after {clock.first or 0:.2f} s"])


def profile(folder: Path) -> None:
    """Print the functions that take longest."""
    with cProfile.Profile() as profiler:
        stages(1, folder)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(40)


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--workers", type=int, help="processes that make the suite")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if asked.profile:
            profile(Path(folder))
        else:
            print(by_stage(asked.workers, Path(folder)))


if __name__ == "__main__":
    main()
