"""Tells progress on stderr: how much is done, how fast, and the time left."""

import time
from types import TracebackType
from typing import Final, Self

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

LINE_EVERY: Final = 10.0
"""Seconds between two lines if stderr is no terminal."""


def note(message: str) -> None:
    """Write one line for the user to stderr."""
    click.echo(f"codeaudit: {message}", err=True)


class _Rate(ProgressColumn):
    """Answers per second."""

    def render(self, task: Task) -> Text:
        """The speed of the last seconds."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="dim")


class ProgressMonitor:
    """Shows how many units are done: a bar on a terminal, else a line every `LINE_EVERY` seconds."""

    def __init__(self, label: str, total: int | None, *, unit: str = "answers") -> None:
        self._asked = 0
        self._recalled = 0
        self._label = label
        self._total = total
        self._unit = unit
        self._began = self._told = time.monotonic()
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(label, total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
        if kind is None:
            note(self._done())

    def answered(self, count: int, *, recalled: bool) -> None:
        """As `codeaudit.audit.run.AnswerMonitor.answered`."""
        self._recalled += count if recalled else 0
        self._asked += 0 if recalled else count
        self._bar.advance(self._task, count)
        now = time.monotonic()
        if self._bar.disable and now - self._told >= LINE_EVERY:
            self._told = now
            note(self._line(now))

    def _line(self, now: float) -> str:
        done = self._asked + self._recalled
        rate = self._asked / (now - self._began)
        if self._total is None:
            return f"{self._label}: {done:,} {self._unit}, {rate:,.0f}/s"
        left = f", {max(0, self._total - done) / rate:,.0f} s left" if rate else ""
        return f"{self._label}: {done:,} of {self._total:,} {self._unit}, {rate:,.0f}/s{left}"

    def _done(self) -> str:
        seconds = time.monotonic() - self._began
        kept = f", {self._recalled:,} from the cache" if self._recalled else ""
        return f"{self._label}: {self._asked:,} {self._unit} in {seconds:,.1f} s{kept}"


class _Stderr:
    """A `codeaudit.audit.run.RunProgress` on stderr."""

    def note(self, message: str) -> None:
        """As `note`."""
        note(message)

    def counting(self, label: str, total: int | None, *, unit: str = "answers") -> ProgressMonitor:
        """A bar, or lines."""
        return ProgressMonitor(label, total, unit=unit)


PROGRESS: Final = _Stderr()
