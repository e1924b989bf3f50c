"""Logs of a training: a table of its steps, and the same for TensorBoard or Weights & Biases.

A resumed training goes on with its logs; steps that were logged but not saved are replaced.
"""

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TextIO

from typing_extensions import override

from codeaudit.audit.training.speed import peak
from codeaudit.audit.training.trainer import Learner, Monitor, TrainingProgress
from codeaudit.transforms.distribution import Extra, how_to_install
from codeaudit.transforms.errors import UsageError

TABLE: Final = "training.csv"
"""The table of steps in the folder of a checkpoint."""
BOARD: Final = "tensorboard"
"""The folder of event files in that of a checkpoint."""
LEFT: Final = frozenset({TABLE, BOARD, "wandb"})
"""What logs leave in the folder of a training that ended before its first state was saved."""
COLUMNS: Final = (
    *("step", "epoch", "examples", "tokens", "seconds"),
    *("loss", "rate", "tokens_per_second", "share_of_peak", "valid"),
)
PROJECT: Final = "codeaudit"
"""Of Weights & Biases."""


@dataclass(frozen=True, slots=True)
class TrainingSpeed:
    """The speed between two moments of a training."""

    tokens: float
    """Per second; 0 where the family does not count tokens."""
    operations: float
    """Floating-point operations per second."""

    @classmethod
    def between(cls, before: "Moment", now: "Moment") -> "TrainingSpeed":
        """The mean speed; 0 where no time has passed."""
        seconds = now.seconds - before.seconds
        if seconds <= 0:
            return cls(0.0, 0.0)
        return cls((now.tokens - before.tokens) / seconds, (now.operations - before.operations) / seconds)


@dataclass(frozen=True, slots=True)
class Moment:
    """What a speed is computed from."""

    seconds: float = 0.0
    tokens: int = 0
    operations: float = 0.0

    @classmethod
    def of(cls, progress: TrainingProgress) -> "Moment":
        """Now."""
        return cls(progress.seconds, progress.tokens, progress.operations)


class TrainingLog(ABC):
    """Receives the rows of a table: one for each step, with the columns `COLUMNS`."""

    def open(self) -> None:
        """Before the training begins.

        Raises:
            UsageError: the log cannot be written.
        """
        return

    @abstractmethod
    def begin(self, step: int) -> None:
        """Before the first row, which is of this step; rows of it and of later steps go."""

    @abstractmethod
    def write(self, row: Mapping[str, float | None]) -> None:
        """A row; `valid` is `None` but for the last step of an epoch."""

    @abstractmethod
    def close(self) -> None:
        """Behind the last row."""


class CsvLog(TrainingLog):
    """`training.csv` in the folder of the checkpoint."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / TABLE
        self._file: TextIO | None = None

    @override
    def begin(self, step: int) -> None:
        kept = [row for row in self._rows() if int(row["step"]) < step]
        self._file = self._path.open("w", encoding="utf-8", newline="")
        self._writer = csv.DictWriter(self._file, COLUMNS, lineterminator="\n")
        self._writer.writeheader()
        self._writer.writerows(kept)

    def _rows(self) -> list[dict[str, str]]:
        """The rows of an earlier part of the training; none where the file is of something else."""
        try:
            with self._path.open(encoding="utf-8", newline="") as file:
                rows = [row for row in csv.DictReader(file) if tuple(row) == COLUMNS]
                return [row for row in rows if str(row["step"]).isdecimal() and None not in row.values()]
        except (OSError, UnicodeDecodeError, csv.Error):
            return []

    @override
    def write(self, row: Mapping[str, float | None]) -> None:
        assert self._file is not None
        self._writer.writerow({name: "" if value is None else f"{value:.9g}" for name, value in row.items()})
        self._file.flush()

    @override
    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class BoardLog(TrainingLog):
    """Event files for TensorBoard, in the folder `tensorboard` of the checkpoint."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / BOARD
        self._writer: Any = None

    @override
    def begin(self, step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(self._folder), purge_step=step)

    @override
    def write(self, row: Mapping[str, float | None]) -> None:
        for name, value in row.items():
            if name != "step" and value is not None:
                self._writer.add_scalar(name, value, int(row["step"] or 0))

    @override
    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


class WandbLog(TrainingLog):
    """A run of Weights & Biases in the project `codeaudit`; its own variables decide where it goes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._run: Any = None

    @override
    def open(self) -> None:
        import wandb

        # The name of the folder finds the run again after an interruption.
        name = self._folder.resolve().name
        try:
            self._run = wandb.init(project=PROJECT, dir=str(self._folder), id=name, name=name, resume="allow")
        except wandb.Error as error:
            reason = " ".join(str(error).split()).rstrip(".")
            raise UsageError(
                f"--log wandb: {reason}; or keep the log on this machine: WANDB_MODE=offline"
            ) from error

    @override
    def begin(self, step: int) -> None:
        """Rows that the server has already stay there."""

    @override
    def write(self, row: Mapping[str, float | None]) -> None:
        values = {name: value for name, value in row.items() if value is not None}
        self._run.log(values, step=int(row["step"] or 0))

    @override
    def close(self) -> None:
        if self._run is not None:
            self._run.finish()


LOGS: Final[Mapping[str, tuple[Callable[[Path], TrainingLog], Extra | None]]] = {
    "csv": (CsvLog, None),
    "tensorboard": (BoardLog, "tensorboard"),
    "wandb": (WandbLog, "wandb"),
}
"""The kinds of logs, and the package that each needs, which is also the name of the extra."""


def log_kinds(text: str) -> tuple[str, ...]:
    """The kinds of logs that a text with commas names.

    Raises:
        UsageError: there is no such kind, or its package is not installed.
    """
    kinds = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for kind in kinds:
        if kind not in LOGS:
            raise UsageError(f"unknown log {kind!r}; known: {', '.join(LOGS)}")
        package = LOGS[kind][1]
        if package is not None and find_spec(package) is None:
            raise UsageError(f"--log {kind} needs a package: {how_to_install(package)}")
    return kinds


class LogWriter(Monitor):
    """Writes a row for every step."""

    def __init__(self, logs: Sequence[TrainingLog], learner: Learner[Any, Any]) -> None:
        self._logs, self._learner = logs, learner
        self._last: Moment | None = None
        self._row: dict[str, float | None] | None = None

    @override
    def stepped(self, progress: TrainingProgress, loss: float) -> None:
        learner, now = self._learner, Moment.of(progress)
        if self._last is None:
            for log in self._logs:
                log.begin(progress.step)
        pace = TrainingSpeed.between(self._last, now) if self._last else TrainingSpeed(0.0, 0.0)
        self._last = now
        self._flush()
        share = pace.operations / peak(learner.device, half=learner.half) if pace.operations else None
        self._row = {
            "step": progress.step,
            "epoch": (progress.step - 1) // learner.per_epoch,
            "examples": progress.samples,
            "tokens": progress.tokens,
            "seconds": progress.seconds,
            "loss": loss,
            "rate": learner.rate(progress.step - 1),
            "tokens_per_second": pace.tokens or None,
            "share_of_peak": share,
            "valid": None,
        }

    @override
    def epoch(self, progress: TrainingProgress) -> None:
        if self._row is not None:
            self._row["valid"] = progress.epochs[-1].get("valid")

    def close(self) -> None:
        """Write what is left."""
        self._flush()
        for log in self._logs:
            log.close()

    def _flush(self) -> None:
        # One step late, because the validation result of a step comes after it.
        if self._row is not None:
            for log in self._logs:
                log.write(self._row)
        self._row = None


@contextmanager
def logged(kinds: Sequence[str], folder: Path, learner: Learner[Any, Any]) -> Iterator[LogWriter]:
    """A monitor that writes these kinds of logs into a folder.

    Raises:
        UsageError: one of them cannot be written.
    """
    with ExitStack() as stack:
        logs = [LOGS[kind][0](folder) for kind in kinds]
        writer = LogWriter(logs, learner)
        stack.callback(writer.close)
        for log in logs:
            log.open()
        yield writer
