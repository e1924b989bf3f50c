"""What commands write: results to stdout, notes and progress to stderr.

A reader that closes stdout early, as `head` does, is no error. `codeaudit.cli.streams` cleans texts of
others; `Terminal` cleans those that are shown with colours.
"""

import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Final, Self

from rich.console import Console, RenderableType
from rich.file_proxy import FileProxy
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Column
from rich.text import Text

from codeaudit.audit.models.endpoints.client import may_pass
from codeaudit.audit.projects.files import TransformCounts
from codeaudit.audit.store import RunFolder
from codeaudit.cli.streams import CleanStream, beneath, silence_stdout
from codeaudit.reports.first_screen import first_screen
from codeaudit.reports.records import Comparison, Summary
from codeaudit.reports.registry import FORMATS
from codeaudit.reports.render.markdown import of_sheets
from codeaudit.reports.render.table import show_sheets as print_sheets
from codeaudit.reports.sheets import KIND_WORDS, Cell, Sheet, asked_for, numbers, words
from codeaudit.transforms.grammar import counted, counted_reasons, first_of, visible
from codeaudit.transforms.perturb import DENIED
from codeaudit.transforms.records import KEEPS_TEXT

if TYPE_CHECKING:
    from codeaudit.finished_runs import Run


def show(report: Summary | Comparison, form: str) -> None:
    """Write a report in a format of `FORMATS`. It is no error if the reader closes the pipe early."""
    with _unbroken():
        FORMATS.get(form)(report, Terminal(beneath(sys.stdout)))


def show_run(summary: Summary, form: str, *, verbose: bool) -> None:
    """Write what a run shows at its end: as `rich` the first screen and what the user asked for by options,
    unless all is asked for."""
    if form == "rich" and not verbose:
        show_sheets([first_screen(summary), *asked_for(summary)], form)
    else:
        show(summary, form)


def show_sheet(sheet: Sheet, *, stderr: bool = False) -> None:
    """Write one table for a terminal, with its notes and legend."""
    with _unbroken():
        print_sheets([sheet], Terminal(beneath(sys.stderr if stderr else sys.stdout)))


def show_sheets(sheets: Iterable[Sheet], form: str) -> None:
    """Write tables with their notes, as `rich` or as `markdown`."""
    if form == "markdown":
        show_text(of_sheets(sheets))
        return
    with _unbroken():
        print_sheets(sheets, Terminal(beneath(sys.stdout)))


def show_text(text: str) -> None:
    """Write text as it is."""
    with _unbroken():
        sys.stdout.write(text)


def show_bytes(data: bytes) -> None:
    """Write bytes as they are."""
    with _unbroken():
        sys.stdout.flush()
        out = beneath(sys.stdout).buffer
        out.write(data)
        out.flush()


STDOUT: Final = Path("-")
"""Stands for stdout where a file is asked for."""


def write_or_show(path: Path, text: str) -> None:
    """Write a file and tell its size; or show the text for `STDOUT`.

    Raises:
        RunError: the file cannot be written.
    """
    from codeaudit.finished_runs import write_file  # brings the tables of runs

    if path == STDOUT:
        show_text(text)
        return
    write_file(path, text)
    note(f"{path}: {len(text.encode('utf-8', 'replace')):,} bytes")


def show_parts(*parts: RenderableType) -> None:
    """Write rich objects for a terminal, one below the other."""
    with _unbroken():
        out = Terminal(beneath(sys.stdout))
        for part in parts:
            out.print(part)


@contextmanager
def _unbroken() -> Iterator[None]:
    """Flush stdout at the end; stay silent after the reader has closed the pipe."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


class Terminal(Console):
    """A console whose colours are its own: control characters in a text are shown as escapes."""

    def __init__(self, file: IO[str], **settings: Any) -> None:
        super().__init__(file=file, **settings)

    def on_broken_pipe(self) -> None:
        """Raise; rich would end the process with exit code 1."""
        raise BrokenPipeError

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        # The last step before text becomes one with the codes of colours.
        return super()._render_buffer(
            part if part.control else Segment(visible(part.text), part.style) for part in buffer
        )


# Often enough for a log of CI to show life, and few enough lines to read it.
LINE_EVERY: Final = 10.0
"""Seconds between two lines if stderr is no terminal."""


def note(message: str) -> None:
    """Write one line for the user to stderr, above the bar if there is one."""
    # While a bar is drawn, `sys.stderr` is rich's; `click.echo` would write past it, into the bar's line.
    print(f"codeaudit: {visible(message)}", file=sys.stderr, flush=True)


def note_unbound(run: "Run") -> None:
    """Tell that the files of a run are not checked, if they are not."""
    if not run.is_bound:
        note(
            f"{run.path} is of an earlier version, which did not bind its files together: "
            "an edited file is not found"
        )


def note_unanswered(summary: Summary, folder: Path) -> None:
    """Tell which questions of a finished run may be answered if they are asked again, and how to ask them."""
    from codeaudit.retyping import words as typed_again

    place = shlex.quote(str(folder))
    typed = "".join(f" {word}" for _, word in typed_again(RunFolder(folder).manifest().get("options", {})))
    for model in summary.models:
        samples, variants = (
            {reason: count for reason, count in lost.items() if may_pass(reason)}
            for lost in (model.skipped, model.unjudged_reasons)
        )
        missing = [
            counted(sum(lost.values()), what)
            for lost, what in ((samples, "sample"), (variants, "variant"))
            if lost
        ]
        if missing:
            why = ", ".join({**samples, **variants})
            note(
                f"{model.model} gave no answer to {' and '.join(missing)} ({why}); "
                f"to ask again: codeaudit run --config {place} --out {place}{typed}"
            )


def keep_clean() -> None:
    """Clean texts while a bar is drawn, too. Call it when rich has replaced our streams by its own, which
    take the colours of others for ours; rich puts ours back."""
    if isinstance(sys.stderr, FileProxy):
        streams: tuple[Any, Any] = CleanStream(sys.stdout), CleanStream(sys.stderr)
        sys.stdout, sys.stderr = streams


class _Label(ProgressColumn):
    """What is counted. It and the bar give way on a narrow terminal."""

    def render(self, task: Task) -> Text:
        """On one line, cut if it must be."""
        return Text(task.description, no_wrap=True, overflow="ellipsis")


def _whole() -> Column:
    """A column of numbers: it keeps its width as long as others can give way."""
    return Column(no_wrap=True)


class _Rate(ProgressColumn):
    """Answers per second."""

    def render(self, task: Task) -> Text:
        """The speed of the last seconds."""
        return Text(_rate(task.speed) if task.speed else "", style="dim")


def _rate(speed: float) -> str:
    """Units per second; a slow one is not told as 0."""
    return f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.2g}/s"


class ProgressMonitor:
    """Shows how many units are done: a bar on a terminal, else a line every `LINE_EVERY` seconds."""

    def __init__(self, label: str, total: int | None, *, unit: str = "answers") -> None:
        self._asked = 0
        self._recalled = 0
        self._malformed = False
        self._label = label
        self._total = total
        self._unit = unit
        self._began = time.monotonic()
        console = Terminal(beneath(sys.stderr))
        self._bar = Progress(
            _Label(),
            BarColumn(bar_width=20),
            MofNCompleteColumn(table_column=_whole()),
            _Rate(table_column=_whole()),
            TimeRemainingColumn(compact=True, table_column=_whole()),
            console=console,
            # The bar disappears at the end; one line with the totals stays in the scrollback.
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(label, total=total)
        self._ended = Event()

    def __enter__(self) -> Self:
        self._bar.start()
        if self._bar.disable:
            Thread(target=self._tell, daemon=True).start()
        keep_clean()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
        self._ended.set()
        # After an error the totals would look like those of a finished run.
        if kind is None:
            note(self._done())

    def answered(self, count: int, *, recalled: bool) -> None:
        """Count answers, those of the model and those of the memory."""
        self._recalled += count if recalled else 0
        self._asked += 0 if recalled else count
        self._bar.advance(self._task, count)

    def _tell(self) -> None:
        """Write a line now and then, also while one unit takes long."""
        while not self._ended.wait(LINE_EVERY):
            note(self._line(time.monotonic()))

    def malformed(self, message: str) -> None:
        """Tell the first malformed answer; others would look alike."""
        if not self._malformed:
            self._malformed = True
            note(message)

    def expect(self, total: int) -> None:
        """Count up to another total from now on."""
        self._total = total
        self._bar.update(self._task, total=total)

    def _line(self, now: float) -> str:
        done = self._asked + self._recalled
        # Answers from the cache cost no time: with them the time left would be far too short.
        rate = self._asked / (now - self._began)
        if self._total is None:
            return f"{self._label}: {self._counted(done)}" + (f", {_rate(rate)}" if rate else "")
        pace = f", {_rate(rate)}, {max(0, self._total - done) / rate:,.0f} s left" if rate else ""
        return f"{self._label}: {done:,} of {self._total:,} {self._unit}{pace}"

    def _done(self) -> str:
        seconds = time.monotonic() - self._began
        cached = f", {self._recalled:,} from the cache" if self._recalled else ""
        return f"{self._label}: {self._counted(self._asked)} in {seconds:,.1f} s{cached}"

    def _counted(self, count: int) -> str:
        return counted(count, self._unit.removesuffix("s"))


class _Stderr:
    """A `codeaudit.audit.run.RunProgress` on stderr."""

    def note(self, message: str) -> None:
        """Write a line to stderr."""
        note(message)

    def counting(self, label: str, total: int | None, *, unit: str = "answers") -> ProgressMonitor:
        """A bar, or lines."""
        return ProgressMonitor(label, total, unit=unit)


PROGRESS: Final = _Stderr()


LONG: Final = 12
"""A table of more transforms shows one reason for each, and names those that changed nothing below it."""
MOST: Final = 4
"""Number of reasons shown for a transform."""
PROMISES: Final = "docs/promises.md"
"""The page that says what each entry of a ledger assumes."""
DENIED_SHORT: Final = "this does not hold: "
"""The beginning of the reason in a cell. A note below the table says more."""
SHOWN_PLACES: Final = 3
"""Number of places that a note on an assumption shows."""
SHOWN_NAMES: Final = 5
"""Number of transforms that it names."""


def counts_sheet(counts: Mapping[str, TransformCounts], *, title: str, units: str) -> Sheet:
    """A row per transform: how many units it changed, and why it left the others."""
    rows = []
    unchanged: dict[str, list[str]] = {}  # names by their reasons
    # 77 transforms would take 180 lines.
    long = len(counts) > LONG
    for name, row in counts.items():
        # The identity makes variants, and none of them is changed.
        changed = 0 if row.kind in KEEPS_TEXT else row.changed
        if long and not changed:
            others = {why: number for why, number in row.reasons.items() if not why.startswith(DENIED)}
            if others or not row.reasons:  # a note tells the rest
                unchanged.setdefault(", ".join(counted_reasons(others, most=1)), []).append(name)
            continue
        shown = {reason.replace(DENIED, DENIED_SHORT): count for reason, count in row.reasons.items()}
        reasons = counted_reasons(shown, most=1 if long else MOST)
        texts = (name, KIND_WORDS[row.kind], f"{row.units:,}", f"{changed:,}")
        why = Cell(lines=(", ".join(reasons),) if long else reasons or ("",))
        rows.append((*(Cell(lines=(text,)) for text in texts), why))
    resting = dict.fromkeys(id for row in counts.values() for id in row.rests_on)
    notes = list(_denied_notes(counts, units))
    nothing = [", ".join(names) + (f" ({why})" if why else "") for why, names in unchanged.items()]
    notes += [f"changed nothing: {'; '.join(nothing)}."] if nothing else []
    notes += [f"the edits rest on: {', '.join(resting)} ({PROMISES})."] if resting else []
    return Sheet(
        title=title,
        columns=(*words("transform", "kind"), *numbers(units, "changed"), *words("why not")),
        rows=tuple(rows),
        notes=tuple(notes),
        stacked=2,
    )


def _denied_notes(counts: Mapping[str, TransformCounts], units: str) -> Iterator[str]:
    """A sentence for each assumption that files show not to hold: where, and which transforms it stopped."""
    for reason in dict.fromkeys(
        reason for row in counts.values() for reason in row.reasons if reason.startswith(DENIED)
    ):
        stopped = {name: row for name, row in counts.items() if row.reasons[reason]}
        places = list(dict.fromkeys(at for row in stopped.values() for at in row.shown_at.get(reason, ())))
        number = sum(row.reasons[reason] for row in stopped.values())
        yield (
            f"{first_of(places, SHOWN_PLACES)} show{'s'[: len(places) == 1]} that the assumption "
            f"{reason.removeprefix(DENIED)} ({PROMISES}) does not hold. This stopped "
            f"{counted(len(stopped), 'transform')} ({counted(number, units.removesuffix('s'))} in all): "
            f"{first_of(list(stopped), SHOWN_NAMES)}."
        )


def counts_json(counts: Mapping[str, TransformCounts]) -> list[dict[str, object]]:
    """The same for programs, with all reasons."""
    return [
        {
            "transform": name,
            "kind": row.kind,
            "units": row.units,
            "changed": row.changed,
            "evidence": dict(row.evidence.most_common()),
            "rests_on": dict(row.rests_on.most_common()),
            "not_applied": dict(row.reasons.most_common()),
            "shown_at": {reason: list(places) for reason, places in row.shown_at.items()},
        }
        for name, row in counts.items()
    ]
