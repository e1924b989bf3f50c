"""Progress on stderr: how much, how fast, how long still."""

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
"""Seconds between lines where stderr is no terminal."""


def note(message: str) -> None:
    """A line for people, on stderr."""
    click.echo(f"codeaudit: {message}", err=True)


class _Rate(ProgressColumn):
    """Answers a second."""

    def render(self, task: Task) -> Text:
        """The speed of the last seconds."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="dim")


class ProgressMonitor:
    """Shows the answers of one model coming in; a bar on a terminal, lines elsewhere."""

    def __init__(self, label: str, total: int) -> None:
        self.asked = 0
        self.recalled = 0
        self._label = label
        self._total = total
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
        """Count answers and show them."""
        self.recalled += count if recalled else 0
        self.asked += 0 if recalled else count
        self._bar.advance(self._task, count)
        now = time.monotonic()
        if self._bar.disable and now - self._told >= LINE_EVERY:
            self._told = now
            note(self._line(now))

    def _line(self, now: float) -> str:
        rate = self.asked / (now - self._began)
        left = max(0, self._total - self.asked - self.recalled)
        ahead = f", {left / rate:,.0f} s left" if rate else ""
        return (
            f"{self._label}: {self.asked + self.recalled:,} of {self._total:,} answers, {rate:,.0f}/s{ahead}"
        )

    def _done(self) -> str:
        seconds = time.monotonic() - self._began
        kept = f", {self.recalled:,} from the cache" if self.recalled else ""
        return f"{self._label}: {self.asked:,} answers in {seconds:,.1f} s{kept}"
