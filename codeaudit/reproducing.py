"""Makes a table or figure of a paper: carries out its commands, and sets what was measured beside the paper.

Every command is a process of its own. What is complete is not done again, so the same call goes on after an
interruption.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from codeaudit.audit.papers.published import Item, Request, Step, item, steps
from codeaudit.reports.records import Metric
from codeaudit.reports.statistics.trials import compare_trials
from codeaudit.reports.wording import verdict
from codeaudit.transforms.errors import RunError, UsageError
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.registration import load_target

TABLE: Final = "table.md"
VALUES: Final = "table.json"
PICTURE: Final = "figure"
SUMMARY: Final = "summary.json"
CONFIG: Final = "config.json"
"""What a training writes last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeItem:
    """An item that was made."""

    item: Item
    request: Request
    metrics: Mapping[str, Metric]
    """The trials of each column by row."""

    @property
    def text(self) -> str:
        """The table in Markdown: a row a network, ours and the paper's figures side by side, in percent."""
        found = self.item
        heads = list(self.metrics)
        columns = [word for head in heads for word in (head, f"paper: {head}")]
        lines = [
            f"### {found.paper}, {found.name.partition('/')[2].replace('-', ' ')}: {found.title}",
            "",
            f"| | {' | '.join(columns)} |",
            f"|---|{'---:|' * len(columns)}",
        ]
        ours = list(dict.fromkeys(one.name for metric in self.metrics.values() for one in metric.groups))
        for name in [*ours, *(name for name in found.published if name not in ours)]:
            cells = [text for head in heads for text in (self._cell(head, name), self._printed(head, name))]
            lines.append(f"| {name} | {' | '.join(cells)} |")
        lines += ["", f"In {found.unit}. {self._setting}"]
        lines += [f"- {head}: {text}." for head in heads if (text := self._tested(head))]
        lines += [f"- {text}" for text in found.differences]
        return "\n".join(lines) + "\n"

    @property
    def values(self) -> dict[str, dict[str, list[float]]]:
        """The value of each seed, by column and row."""
        return {
            head: {group.name: list(group.values) for group in metric.groups}
            for head, metric in self.metrics.items()
        }

    @property
    def _setting(self) -> str:
        if self.item.target:
            return "± is the standard error."
        seeds = max((len(one.values) for metric in self.metrics.values() for one in metric.groups), default=0)
        size = {
            "small": "Networks and data are smaller than the paper's (--preset small).",
            "paper": "Sizes and settings are the paper's (--preset paper).",
        }[self.request.preset]
        return f"{size} {counted(seeds, 'training')} of each network; ± is the standard error."

    def _cell(self, head: str, name: str) -> str:
        group = next((one for one in self.metrics[head].groups if one.name == name), None)
        if group is None or group.mean is None:
            return "–"
        text = self._number(group.mean) + ("" if group.error is None else f" ± {self._number(group.error)}")
        return f"**{text}**" if group.best else text

    def _number(self, value: float) -> str:
        return f"{100 * value:.2f}" if self.item.unit == "percent" else f"{value:.3g}"

    def _printed(self, head: str, name: str) -> str:
        value = self.item.published.get(name, {}).get(head)
        return "–" if value is None else f"{value:g}"

    def _tested(self, head: str) -> str:
        metric = self.metrics[head]
        if metric.test.p is None:
            return ""
        pairs = ", ".join(f"{one.first}/{one.second} {one.p_adjusted:.2g}" for one in metric.pairs)
        return verdict(metric.test) + (f"; Conover, Holm-adjusted p: {pairs}" if pairs else "")


def source_of(found: Item) -> Item:
    """The item whose commands make this one: itself, or the table that a figure shows.

    Raises:
        UsageError: no command makes it.
    """
    if found.state == "drawing":
        raise UsageError(f"{found.name} shows no experiment: {found.title}")
    if found.state == "script":
        raise UsageError(f"{found.name} is made by a script of the repository: python {found.reason}")
    if found.state == "missing":
        raise UsageError(f"{found.name} cannot be made: {found.reason}")
    return item(found.of) if found.of else found


def is_done(step: Step) -> bool:
    """Whether a step's folder is complete."""
    return (step.out / (SUMMARY if step.kind == "run" else CONFIG)).is_file()


def carried_out(step: Step) -> int:
    """The exit code of a step's command, a process of its own whose progress and notes go to stderr."""
    command = [sys.executable, "-m", "codeaudit", *step.words]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode


def make(found: Item, request: Request, tell: Callable[[str], None]) -> MadeItem:
    """Carry out what is missing of an item, and write `table.md` and `table.json` (and a figure's picture).

    Raises:
        UsageError: no command makes the item.
        CorpusError: a table of data is not there.
        RunError: a command failed; its own message stands above.
        KeyboardInterrupt: a command was interrupted; the same call goes on.
    """
    source = source_of(found)
    planned = [] if source.target else steps(source, request)
    for number, step in enumerate(planned, start=1):
        if is_done(step):
            continue
        tell(f"step {number} of {len(planned)}: codeaudit {' '.join(step.words)}")
        code = carried_out(step)
        if code in (130, -2):
            raise KeyboardInterrupt("interrupted; the same command goes on")
        if code != 0:
            raise RunError(f"step {number} of {len(planned)} failed with exit code {code}")
    measured = _measured(source, request, tell) if source.target else _read(source, request, planned)
    folder = found.folder(request.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TABLE).write_text(measured.text, encoding="utf-8")
    (folder / VALUES).write_text(json.dumps(measured.values, indent=2) + "\n", encoding="utf-8")
    if found.of:
        for path in _draw(found, measured, folder):
            tell(f"picture: {path}")
    return measured


def _read(found: Item, request: Request, planned: Sequence[Step]) -> MadeItem:
    values: dict[str, dict[str, list[float]]] = {
        head: {row.name: [] for row in found.rows} for head, _, _ in found.heads
    }
    for step in planned:
        if step.kind != "run":
            continue
        models: Sequence[Mapping[str, Any]] = json.loads((step.out / SUMMARY).read_text("utf-8"))["models"]
        for head, group, column in found.heads:
            if group != step.group:
                continue
            for name, model in zip(step.networks, models, strict=True):
                if (value := column.of(model)) is not None:
                    values[head][name].append(value)
    better = {head: column.better for head, _, column in found.heads}
    metrics = {head: compare_trials(head, better[head], rows) for head, rows in values.items()}
    return MadeItem(item=found, request=request, metrics=metrics)


def _measured(found: Item, request: Request, tell: Callable[[str], None]) -> MadeItem:
    measure: Callable[[Callable[[str], None]], Mapping[str, Mapping[str, Sequence[float]]]]
    measure = load_target(found.target)
    metrics = {
        head: compare_trials(head, "lower", rows, percent=False) for head, rows in measure(tell).items()
    }
    return MadeItem(item=found, request=request, metrics=metrics)


def _draw(found: Item, measured: MadeItem, folder: Path) -> Iterator[Path]:
    """The points of a figure, ours and the paper's, as SVG and PNG.

    Raises:
        RunError: matplotlib is not installed.
    """
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        raise RunError(
            f"the table is in {str(folder / TABLE)!r}; its picture needs matplotlib: "
            'pip install "codeaudit-ml[figures]"'
        ) from error
    matplotlib.use("svg")
    from matplotlib import pyplot

    with matplotlib.rc_context({"svg.hashsalt": "codeaudit"}):  # equal data make equal files
        figure, axes = pyplot.subplots(figsize=(6.4, 4.2))
        for name, entry in measured.item.published.items():
            if found.x in entry and found.y in entry:
                axes.plot(entry[found.x], entry[found.y], "o", color="#9aa4b2")
                axes.annotate(
                    f"{name} (paper)", (entry[found.x], entry[found.y]), fontsize=7, color="#6b7686"
                )
        for row in measured.item.rows:
            x, y = (_mean(measured.metrics[head], row.name) for head in (found.x, found.y))
            if x is not None and y is not None:
                axes.plot(x, y, "s", color="#2f6fde")
                axes.annotate(row.name, (x, y), fontsize=8)
        axes.set_xlabel(f"{found.x} (%)")
        axes.set_ylabel(f"{found.y} (%)")
        axes.set_title(found.title, fontsize=10)
        axes.grid(alpha=0.3)
        figure.tight_layout()
        for ending in ("svg", "png"):
            path = folder / f"{PICTURE}.{ending}"
            figure.savefig(path, dpi=160, metadata={"Date": None} if ending == "svg" else None)
            yield path
        pyplot.close(figure)


def _mean(metric: Metric, name: str) -> float | None:
    mean = next(group.mean for group in metric.groups if group.name == name)
    return None if mean is None else 100 * mean
