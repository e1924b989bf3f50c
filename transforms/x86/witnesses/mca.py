"""The cost of blocks by LLVM's machine code analyzer (llvm-mca), on a model of a processor.

The number in the papers is `cycles / iterations`. It depends on the version of the tool, the processor and
the number of iterations, so each result contains all three. One process measures 1,000 blocks. If the tool
rejects a block, the others are measured again without it.

llvm-mca assumes that memory accesses are independent, and it does not model the front end. So neither
addresses nor the length of the code change the cost. Names of registers do not either, with one exception:
for processors whose move elimination it models (btver2), the copy of a zeroed register can make the cycles
depend on them.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeAlias

from codeaudit.transforms.errors import CannotAudit, SourceError
from codeaudit.transforms.x86.reading import read

BATCH: Final = 1000
"""The number of blocks that one process measures."""
ITERATIONS: Final = 100
"""The value in the papers, and the tool's default."""
HASWELL: Final = "haswell"
"""The processor for which the tool gives the cycles in Renamer's Figure 1."""
TIMEOUT: Final = 300
"""The most seconds of one process."""
NEWEST, OLDEST = 30, 11
"""The versions that `find` looks for if there is no plain `llvm-mca`."""

_ERROR: Final = re.compile(r"^[^\n:]*:(\d+):\d+: error: (.*)$", re.MULTILINE)
_ANY_ERROR: Final = re.compile(r"error: (.*)")
_VERSION: Final = re.compile(r"LLVM version (\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The cost of a block. Equal measurements are equal records."""

    cycles: int
    """The cycles of all iterations together."""
    uops: int
    """The micro-operations of all iterations together."""
    instructions: int
    """The instructions of one iteration."""
    reciprocal_throughput: float
    """`BlockRThroughput`: cycles per iteration if only the ports of the processor limit the block."""
    iterations: int
    cpu: str
    version: str

    @property
    def throughput(self) -> float:
        """Cycles per iteration, the target of Renamer's surrogate model."""
        return self.cycles / self.iterations


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """The tool has no result for a block."""

    reason: str


Measurement: TypeAlias = Measured | NotMeasured


@dataclass(frozen=True, slots=True, kw_only=True)
class Mca:
    """An installed llvm-mca with the processor that it models."""

    program: str
    version: str
    cpu: str = HASWELL
    iterations: int = ITERATIONS

    def measure(self, blocks: Iterable[str]) -> Iterator[Measurement]:
        """The cost of every block of AT&T text, in order.

        Raises:
            CannotAudit: the tool fails on everything or takes too long.
        """
        stream = iter(blocks)
        while batch := list(islice(stream, BATCH)):
            yield from self._batch(batch)

    def _batch(self, blocks: Sequence[str]) -> list[Measurement]:
        measured: dict[int, Measurement] = {}
        texts: dict[int, list[str]] = {}
        for number, block in enumerate(blocks):
            try:
                texts[number] = lines_of(block)
            except SourceError as error:
                measured[number] = NotMeasured(str(error))
        self._fill(texts, measured)
        return [measured[number] for number in range(len(blocks))]

    def _fill(self, texts: dict[int, list[str]], measured: dict[int, Measurement]) -> None:
        """Measure the blocks together.

        If the tool names the blocks that it rejects, measure the others again; else measure two halves.
        """
        rest = dict(texts)
        # Starting the tool takes most of the time, so blocks are measured together whatever a few of them do.
        while rest:
            source, owners = _together(rest)
            done = self._run(source)
            named = {
                owners[int(line)]: reason
                for line, reason in _ERROR.findall(done.stderr)
                if int(line) in owners
            }
            regions = None if named or done.returncode else _regions(done.stdout)
            if regions is not None:
                measured.update(
                    {number: self._read(regions.get(f"b{number}"), rest[number]) for number in rest}
                )
                return
            if named:  # some versions report the error and go on without the line
                for number, reason in named.items():
                    measured[number] = NotMeasured(reason)
                    del rest[number]
            elif len(rest) == 1:
                (number,) = rest
                match = _ANY_ERROR.search(done.stderr)
                measured[number] = NotMeasured(match[1] if match else "llvm-mca failed")
                return
            else:
                # The tool names no line: bisect.
                items = list(rest.items())
                self._fill(dict(items[::2]), measured)
                self._fill(dict(items[1::2]), measured)
                return

    def _run(self, source: str) -> subprocess.CompletedProcess[str]:
        command = [
            self.program,
            "-mtriple=x86_64",
            f"-mcpu={self.cpu}",
            f"-iterations={self.iterations}",
            "-json",
            "--instruction-info=false",
            "--resource-pressure=false",
        ]
        try:
            return subprocess.run(
                command, input=source, capture_output=True, text=True, timeout=TIMEOUT, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise CannotAudit(f"{self.program} took more than {TIMEOUT} s") from error
        except OSError as error:
            raise CannotAudit(f"cannot run {self.program}: {error.strerror}") from error

    def _read(self, region: dict[str, Any] | None, lines: list[str]) -> Measurement:
        if region is None:
            return NotMeasured("llvm-mca left the block out")
        summary = region["SummaryView"]
        # If the tool skipped a line, this is the cost of another block.
        if summary["Instructions"] != len(lines) * self.iterations:
            return NotMeasured("llvm-mca counts other instructions")
        return Measured(
            cycles=summary["TotalCycles"],
            uops=summary["TotaluOps"],
            instructions=len(lines),
            reciprocal_throughput=summary["BlockRThroughput"],
            iterations=self.iterations,
            cpu=self.cpu,
            version=self.version,
        )


def find(*, cpu: str = HASWELL, iterations: int = ITERATIONS, program: str | None = None) -> Mca:
    """The llvm-mca of this machine: the one named, the plain one, or the newest `llvm-mca-NN`.

    Raises:
        CannotAudit: there is none, it does not run, or it does not know the processor.
    """
    names = [program] if program else ["llvm-mca", *(f"llvm-mca-{n}" for n in range(NEWEST, OLDEST - 1, -1))]
    path = next((file for name in names if (file := shutil.which(name))), None)
    if path is None:
        raise CannotAudit(f"{program or 'llvm-mca'} is not installed; try: apt-get install llvm")
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotAudit(f"cannot run {path}: {error}") from error
    version = _VERSION.search(done.stdout)
    if version is None:
        raise CannotAudit(f"{path} does not report its version; is it LLVM's?")
    tool = Mca(program=path, version=version[1], cpu=cpu, iterations=iterations)
    # An unknown processor is only a warning: the tool would go on with its default.
    probe = tool._run("nop\n")
    if probe.returncode or "not a recognized processor" in probe.stderr:
        reason = probe.stderr.strip().split("\n")[0]
        raise CannotAudit(f"{path} cannot model {cpu!r}: {reason}")
    return tool


def lines_of(block: str) -> list[str]:
    """The instructions of a block, one a line. A prefix joins its line, because the tool would count it as
    one more.

    Raises:
        SourceError: a line is no instruction.
    """
    return [" ".join(operation.text.split()) for operation in read(block).operations]


def _together(texts: dict[int, list[str]]) -> tuple[str, dict[int, int]]:
    """One input for all blocks, and for each of its lines, from 1, the number of the block."""
    lines: list[str] = []
    owners: dict[int, int] = {}
    for number, text in texts.items():
        lines.append(f"# LLVM-MCA-BEGIN b{number}")
        for line in text:
            lines.append(line)
            owners[len(lines)] = number
        lines.append(f"# LLVM-MCA-END b{number}")
    return "\n".join(lines) + "\n", owners


def _regions(output: str) -> dict[str, dict[str, Any]] | None:
    try:
        return {region["Name"]: region for region in json.loads(output)["CodeRegions"]}
    except (ValueError, KeyError):
        return None
