"""What the trainings of all networks share on the command line: progress, and an end when it is asked for."""

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any, Final, Protocol

from codeaudit.cli.progress import note

LINE_EVERY: Final = 20.0
"""Seconds between lines where stderr is no terminal."""


class Standing(Protocol):
    """Where a training stands."""

    @property
    def step(self) -> int:
        """Steps done."""
        ...

    @property
    def seconds(self) -> float:
        """Wall time of all sittings."""
        ...

    @property
    def epochs(self) -> Sequence[Mapping[str, float]]:
        """Of each finished epoch its number, its loss, and what validation gave."""
        ...


@contextmanager
def asked_to_stop() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C is heard after the step in hand, so that what is saved is whole."""
    asked = False
    before: dict[signal.Signals, Any] = {}

    def restore() -> None:
        for each, handler in before.items():
            signal.signal(each, handler)

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        restore()
        note("finishing this step; Ctrl-C again ends without saving")

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

    def __init__(self, label: str, total: int, tell: Callable[[Mapping[str, float]], str]) -> None:
        """`tell` says what a finished epoch has to say beside its loss."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._label, self._total, self._tell = label, total, tell
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
        )
        self._shown = console.is_terminal
        self._task = self._bar.add_task(label, total=total)
        self._told = 0.0
        self._first: tuple[int, float] | None = None
        self._loss = 0.0

    def __enter__(self) -> "TrainingMonitor":
        self._live = self._bar if self._shown else nullcontext()
        self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)

    def stepped(self, progress: Standing, loss: float) -> None:
        """Show the step."""
        self._loss = loss if self._first is None else 0.98 * self._loss + 0.02 * loss
        self._first = self._first or (progress.step, progress.seconds)
        if self._shown:
            self._bar.update(self._task, completed=progress.step, description=self._line(progress))
        elif progress.seconds - self._told >= LINE_EVERY:
            self._told = progress.seconds
            note(self._line(progress))

    def epoch(self, progress: Standing) -> None:
        """Tell the validation score."""
        last = progress.epochs[-1]
        note(f"{self._label}: epoch {last['epoch'] + 1:.0f}, loss {last['loss']:.2f}, {self._tell(last)}")

    def _line(self, progress: Standing) -> str:
        since, began = self._first or (0, 0.0)
        steps, seconds = progress.step - since, progress.seconds - began
        ahead = ""
        if steps and seconds:
            left = (self._total - progress.step) * seconds / steps
            ahead = f", {steps / seconds:.1f} steps/s, {left:,.0f} s left"
        return f"{self._label}: step {progress.step:,} of {self._total:,}, loss {self._loss:.2f}{ahead}"


@contextmanager
def watched(
    label: str, total: int, tell: Callable[[Mapping[str, float]], str], out: Path
) -> Iterator[tuple[TrainingMonitor, Callable[[], bool]]]:
    """Who watches a training into a folder, and whether it was asked to stop.

    Raises:
        KeyboardInterrupt: it was, and has saved its state.
    """
    from codeaudit.audit.training.state import Interrupted  # brings torch

    try:
        with TrainingMonitor(label, total, tell) as monitor, asked_to_stop() as stop:
            yield monitor, stop
    except Interrupted:
        raise KeyboardInterrupt(f"interrupted; the same command resumes from {str(out)!r}") from None
