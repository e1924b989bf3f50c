"""Trains on the command line: shows progress, and stops on Ctrl-C with the state saved."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from codeaudit.cli.progress import note
from codeaudit.transforms.errors import UsageError
from codeaudit.versions import versions

if TYPE_CHECKING:
    from codeaudit.audit.papers.checkpoint import CheckpointLearner
    from codeaudit.audit.papers.registry import TrainingRequest
    from codeaudit.audit.training.state import TrainingProgress

LINE_EVERY: Final = 20.0
"""Seconds between lines where stderr is no terminal."""


@contextmanager
def asked_to_stop() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C takes effect after the current step, so that the saved state is complete."""
    asked = False
    before: dict[signal.Signals, Any] = {}

    def restore() -> None:
        for each, handler in before.items():
            signal.signal(each, handler)

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        restore()
        # Not by `note`: the signal may arrive while sys.stderr is writing, which must not be entered twice.
        os.write(2, b"codeaudit: finishing this step; Ctrl-C again ends without saving\n")

    try:
        for each in (signal.SIGINT, signal.SIGTERM):
            before[each] = signal.signal(each, on_interrupt)
    except ValueError:  # not the main thread, where no signal arrives
        yield lambda: False
        return
    try:
        yield lambda: asked
    finally:
        restore()


class TrainingMonitor:
    """Loss, validation score, rate and time left: a bar on a terminal, lines elsewhere."""

    def __init__(self, label: str, learner: "CheckpointLearner[Any, Any]") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._label, self._total, self._tell = label, learner.total, learner.told
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
        )
        self._shown = console.is_terminal
        self._task = self._bar.add_task(label, total=learner.total)
        self._told = 0.0
        self._first: tuple[int, float] | None = None
        self._loss = 0.0

    def __enter__(self) -> "TrainingMonitor":
        self._live = self._bar if self._shown else nullcontext()
        self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)

    def stepped(self, progress: "TrainingProgress", loss: float) -> None:
        """Show the step."""
        self._loss = loss if self._first is None else 0.98 * self._loss + 0.02 * loss
        self._first = self._first or (progress.step, progress.seconds)
        if self._shown:
            self._bar.update(self._task, completed=progress.step, description=self._line(progress))
        elif progress.seconds - self._told >= LINE_EVERY:
            self._told = progress.seconds
            note(self._line(progress))

    def epoch(self, progress: "TrainingProgress") -> None:
        """Tell the validation score."""
        last = progress.epochs[-1]
        note(f"{self._label}: epoch {last['epoch'] + 1:.0f}, loss {last['loss']:.2f}, {self._tell(last)}")

    def _line(self, progress: "TrainingProgress") -> str:
        since, began = self._first or (0, 0.0)
        steps, seconds = progress.step - since, progress.seconds - began
        ahead = ""
        if steps and seconds:
            left = (self._total - progress.step) * seconds / steps
            ahead = f", {steps / seconds:.1f} steps/s, {left:,.0f} s left"
        return f"{self._label}: step {progress.step:,} of {self._total:,}, loss {self._loss:.2f}{ahead}"


def trained(
    learner: "CheckpointLearner[Any, Any]", network: str, request: "TrainingRequest", out: Path
) -> Sequence[str]:
    """Train into a folder with progress on stderr, and write the checkpoint. Returns the results as lines.

    Raises:
        UsageError: the sizes of the network do not fit together.
        KeyboardInterrupt: the user pressed Ctrl-C; the state is saved.
    """
    from codeaudit.audit.training import state, trainer  # these bring torch

    out.mkdir(parents=True, exist_ok=True)
    note(f"{network}: {learner.size}, {learner.total:,} steps")
    try:
        with TrainingMonitor(network, learner) as monitor, asked_to_stop() as stop:
            found = trainer.train(learner, folder=out, monitor=monitor, stop=stop)
    except state.Interrupted:
        raise KeyboardInterrupt(f"interrupted; the same command resumes from {str(out)!r}") from None
    except ValueError as error:
        raise UsageError(f"these sizes do not fit together: {error}") from error
    corpora = {"train": request.train, "valid": request.valid, "test": request.test}
    told = learner.write(out, found, about={"corpora": corpora, "versions": versions()})
    (out / state.FILE).unlink(missing_ok=True)
    return told
