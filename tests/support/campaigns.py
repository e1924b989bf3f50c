"""The logs of fuzzing campaigns: they grow with each run, and tell what was tried with which engine.

A campaign is a file of lines, one for each chunk of programs. A chunk's programs follow from the seed and
their numbers, so a later run goes on behind the last one. Each line holds a hash of the engine's sources, so
the report tells which pairs met the engine of today.
"""

import argparse
import fcntl
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from codeaudit.transforms.registry import ALL

SOURCES: Final = Path(__file__).resolve().parents[2] / "transforms"
COUNTED: Final = ("pairs", "applied", "equal", "different", "unclear")
"""What a tally counts: pairs of program and transform; those that were changed; and what the oracle said."""


def engine(language: str, root: Path = SOURCES) -> str:
    """A hash of the sources that rewrite a language: those that all languages share, and its own folder."""
    folders = (*("dependence", "strategies", "syntax"), f"{language}/**")
    shared = [*root.glob("*.py"), *(path for folder in folders for path in root.glob(f"{folder}/*.py"))]
    digest = hashlib.sha256()
    for path in sorted(shared):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Chunk:
    """What came of some programs under all transforms."""

    campaign: str
    """What was asked for, such as the language and the options. Chunks of one campaign add up."""
    engine: str
    seed: int
    first: int
    """The number of the first program."""
    programs: int
    seconds: float
    tallies: Mapping[str, Mapping[str, int]]
    """By transform: how often each of `COUNTED`."""
    different: Sequence[str] = field(default=())
    """What differed, each as a text for people."""

    def total(self, what: str) -> int:
        """How often something was counted, over all transforms."""
        return sum(tally.get(what, 0) for tally in self.tallies.values())


class CampaignLog:
    """A file of chunks. Several processes may append at once."""

    def __init__(self, path: Path, campaign: str) -> None:
        self.path: Final = path
        self.campaign: Final = campaign

    def append(self, chunk: Chunk) -> None:
        """Add a chunk as one line."""
        with self.path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # a run was ended while it wrote
                    file.write(b"\n")
            file.write(json.dumps(asdict(chunk)).encode() + b"\n")

    def chunks(self) -> Iterator[Chunk]:
        """The chunks of this campaign, in the order in which they were added. Half a line is no chunk."""
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8") as file:
            for line in file:
                try:
                    chunk = Chunk(**json.loads(line))
                except json.JSONDecodeError:
                    continue
                if chunk.campaign == self.campaign:
                    yield chunk

    def next_program(self, seed: int) -> int:
        """The number of the first program of a seed that no chunk holds, nor any later one."""
        return max((chunk.first + chunk.programs for chunk in self.chunks() if chunk.seed == seed), default=0)

    def report(self, now: str, names: Iterable[str] = ()) -> "Report":
        """What the log shows for the engine `now`; `names` are the transforms that the campaign has."""
        return Report(tuple(self.chunks()), now, tuple(names))


@dataclass(frozen=True)
class Report:
    """What a log shows."""

    chunks: tuple[Chunk, ...]
    now: str
    """The hash of the engine of today."""
    names: tuple[str, ...]

    @cached_property
    def recent(self) -> tuple[Chunk, ...]:
        """The chunks since the last change of the engine: those of today's engine behind all others."""
        kept: list[Chunk] = []
        for chunk in reversed(self.chunks):
            if chunk.engine != self.now:
                break
            kept.append(chunk)
        return tuple(reversed(kept))

    @property
    def applied(self) -> int:
        """How many pairs were applied and run, over all chunks."""
        return _sum(self.chunks, "applied")

    @property
    def steady(self) -> bool:
        """Whether at least the last third of the applied pairs met today's engine, and none of it differs."""
        return (
            self.applied > 0
            and 3 * _sum(self.recent, "applied") >= self.applied
            and not _sum(self.recent, "different")
        )

    def by_transform(self) -> dict[str, Counter[str]]:
        """The sums of all tallies, by transform; with zeros for a transform that no chunk holds."""
        sums: dict[str, Counter[str]] = {name: Counter() for name in self.names}
        for chunk in self.chunks:
            for name, tally in chunk.tallies.items():
                sums.setdefault(name, Counter()).update(tally)
        return sums

    def lines(self) -> Iterator[str]:
        """The report, line by line."""
        sums = self.by_transform()
        yield f"{'transform':30} " + " ".join(f"{what:>9}" for what in COUNTED)
        for name, tally in sums.items():
            yield f"{name:30} " + " ".join(f"{tally[what]:9,}" for what in COUNTED)
        programs = sum(chunk.programs for chunk in self.chunks)
        seconds = sum(chunk.seconds for chunk in self.chunks)
        seeds = {chunk.seed for chunk in self.chunks}
        engines = {chunk.engine for chunk in self.chunks}
        yield (
            f"{self.applied:,} pairs applied and run, of {programs:,} programs ({len(seeds)} seeds), "
            f"in {seconds / 60:,.0f} minutes of work, with {len(engines)} versions of the engine"
        )
        for what in ("different", "unclear"):
            yield f"{what}: {_sum(self.chunks, what):,}"
        if sums:
            least = min(sums, key=lambda name: sums[name]["applied"])
            yield f"applied least: {least}, {sums[least]['applied']:,} times"
        yield (
            f"since the last change of the engine ({self.now}): {_sum(self.recent, 'applied'):,} pairs, "
            f"{_sum(self.recent, 'different'):,} differ"
        )
        yield f"the last third is of this engine, and nothing differs: {'yes' if self.steady else 'no'}"


def _sum(chunks: Iterable[Chunk], what: str) -> int:
    return sum(chunk.total(what) for chunk in chunks)


def campaign_parser(about: str | None) -> argparse.ArgumentParser:
    """The options of a program that runs a campaign; `about` is its docstring."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--log", type=Path, help="the file that keeps the campaign; it goes on where this ends"
    )
    parser.add_argument("--report", action="store_true", help="only tell what the log shows")
    parser.add_argument("--power", action="store_true", help="bring known bugs back, one at a time")
    parser.add_argument("--cause", default="", help="with --power: only causes whose name holds this")
    parser.add_argument("--programs", type=int, default=100, help="how many programs (default: 100)")
    parser.add_argument(
        "--transform", default=ALL, help="names or families, with commas between (default: all)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, help="the number of the first program (default: behind the log)")
    return parser
