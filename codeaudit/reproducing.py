"""Makes a table or figure of a paper: carries out its commands, and sets what was measured beside the paper.

Every command is a process of its own. What is complete is not done again, so the same call goes on after an
interruption.
"""

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from codeaudit.audit.papers.experiments import Bench, PaperTrial
from codeaudit.audit.papers.published import Experiment, Item, Request, Step, data_sets, item, steps
from codeaudit.paper_pictures import draw
from codeaudit.reports.records import Metric
from codeaudit.reports.statistics.trials import compare_trials
from codeaudit.reports.wording import verdict
from codeaudit.transforms.errors import RunError, UsageError
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.registration import load_target

TABLE: Final = "table.md"
VALUES: Final = "table.json"
SUMMARY: Final = "summary.json"
CONFIG: Final = "config.json"
"""What a training writes last."""
CARD_FILE: Final = "model-card.json"
"""What it tells of itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeItem:
    """An item that was made."""

    item: Item
    request: Request
    metrics: Mapping[str, Metric]
    """The trials of each column by row."""
    trials: Sequence[PaperTrial] = ()
    """The trials of an experiment."""

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
        lines += ["", self._setting]
        lines += [f"- {head}: {text}." for head in heads if (text := self._tested(head))]
        lines += [f"- {text}" for text in dict.fromkeys(note for one in self.trials for note in one.notes)]
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
        in_percent = [head for head, _, column in self.item.heads if column.unit == "percent"]
        if not in_percent:
            unit = ""
        elif len(in_percent) == len(self.item.heads):
            unit = "In percent. "
        else:
            unit = f"{', '.join(in_percent)}: in percent. "
        seeds = max((len(one.values) for metric in self.metrics.values() for one in metric.groups), default=0)
        if self.item.experiment is not None and "paper" not in self.item.experiment.scales:
            return f"{unit}± is the standard error."
        if self.request.steps is not None:
            ended = counted(self.request.steps, "step")
            return f"{unit}This is a try of --preset {self.request.preset}: trainings ended after {ended}."
        size = {
            "small": "Networks and data are smaller than the paper's (--preset small).",
            "paper": "Sizes and settings are the paper's (--preset paper).",
        }[self.request.preset]
        return f"{unit}{size} {counted(seeds, 'training')} of each network; ± is the standard error."

    def _cell(self, head: str, name: str) -> str:
        group = next((one for one in self.metrics[head].groups if one.name == name), None)
        if group is None or group.mean is None:
            return "–"
        percent = self.metrics[head].percent
        text = _number(group.mean, percent)
        text += "" if group.error is None else f" ± {_number(group.error, percent)}"
        return f"**{text}**" if group.best else text

    def _printed(self, head: str, name: str) -> str:
        value = self.item.published.get(name, {}).get(head)
        if value is None:
            return "–"
        return "> 100" if math.isinf(value) else f"{value:g}"

    def _tested(self, head: str) -> str:
        metric = self.metrics[head]
        if metric.test.p is None:
            return ""
        pairs = ", ".join(f"{one.first}/{one.second} {one.p_adjusted:.2g}" for one in metric.pairs)
        return verdict(metric.test) + (f"; Conover, Holm-adjusted p: {pairs}" if pairs else "")


def _number(value: float, percent: bool) -> str:
    return f"{100 * value:.2f}" if percent else f"{value:.3g}"


def source_of(found: Item) -> Item:
    """The item whose commands make this one: itself, or the table that a figure shows, or a part of it.

    Raises:
        UsageError: no command makes it.
    """
    if found.state == "drawing":
        raise UsageError(f"{found.name} shows no experiment: {found.title}")
    if found.state == "missing":
        raise UsageError(f"{found.name} cannot be made: {found.reason}")
    source = item(found.of) if found.of else found
    if not found.part:
        return source
    # networks of the other groups are not drawn
    groups = tuple(group for group in source.groups if group.name == found.part)
    return replace(source, name=found.name, groups=groups)


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
    planned = [] if source.experiment else steps(source, request)
    for number, step in enumerate(planned, start=1):
        if is_done(step):
            continue
        tell(f"step {number} of {len(planned)}: codeaudit {' '.join(step.words)}")
        code = carried_out(step)
        if code in (130, -2):
            raise KeyboardInterrupt("interrupted; the same command goes on")
        if code != 0:
            raise RunError(f"step {number} of {len(planned)} failed with exit code {code}")
    if source.experiment is not None:
        measured = _measured(source, source.experiment, request, tell)
    else:
        measured = _read(source, request, planned)
    if found.drawn:
        measured = _drawn(found, request, planned)
    folder = found.folder(request.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TABLE).write_text(measured.text, encoding="utf-8")
    (folder / VALUES).write_text(json.dumps(measured.values, indent=2) + "\n", encoding="utf-8")
    if found.x or found.series or found.matrix:
        for path in draw(found, measured.item, measured.metrics, measured.trials, folder):
            tell(f"picture: {path}")
    return measured


def _read(found: Item, request: Request, planned: Sequence[Step]) -> MadeItem:
    values: dict[str, dict[str, list[float]]] = {
        head: {row.name: [] for row in found.rows} for head, _, _ in found.heads
    }
    for step in planned:
        audited = step.kind == "run"
        told = json.loads((step.out / (SUMMARY if audited else CARD_FILE)).read_text("utf-8"))
        models: Sequence[Mapping[str, Any]] = told["models"] if audited else [told]
        for head, group, column in found.heads:
            if group != step.group or column.of_card == audited:
                continue
            for name, model in zip(step.networks, models, strict=True):
                if (value := column.of(model)) is not None:
                    values[head][name].append(value)
    better = {head: column.better for head, _, column in found.heads}
    metrics = {head: compare_trials(head, better[head], rows) for head, rows in values.items()}
    return MadeItem(item=found, request=request, metrics=metrics)


def bench_of(found: Item, experiment: Experiment, request: Request, tell: Callable[[str], None]) -> Bench:
    """What an experiment is asked for.

    Raises:
        CorpusError: its table of data is not there.
        UsageError: it has no such preset.
    """
    settings = request.settings(experiment)
    seeds = request.seeds or int(settings.pop("seeds"))
    settings.pop("seeds", None)
    data = None
    if name := experiment.data_of(request.preset):
        data = data_sets()[name].place(request.data, must_exist=not request.dry)
    return Bench(
        name=experiment.name,
        rows=found.names,
        settings=settings,
        seeds=seeds,
        device=request.device or "cpu",
        data=data,
        folder=request.out / "trials",
        tell=tell,
    )


def _measured(found: Item, experiment: Experiment, request: Request, tell: Callable[[str], None]) -> MadeItem:
    measure: Callable[[Bench], Iterable[PaperTrial]] = load_target(experiment.target)
    return _compared(found, request, list(measure(bench_of(found, experiment, request, tell))))


def _drawn(found: Item, request: Request, planned: Sequence[Step]) -> MadeItem:
    draw: Callable[[Mapping[str, Path], str], Iterable[PaperTrial]] = load_target(found.drawn)
    networks = {step.networks[0]: step.out for step in reversed(planned) if step.kind == "train"}
    return _compared(found, request, list(draw(dict(reversed(networks.items())), request.device or "cpu")))


def _compared(found: Item, request: Request, trials: Sequence[PaperTrial]) -> MadeItem:
    metrics = {}
    measures = {column.measure for _, _, column in found.heads}
    for head, _, column in found.heads:
        values = {
            name: [
                1 - value if column.complement else value
                for one in trials
                if one.row == name and (value := one.scores.get(column.measure)) is not None
            ]
            for name in dict.fromkeys(one.row for one in trials if measures & set(one.scores))
        }
        metrics[head] = compare_trials(head, column.better, values, percent=column.unit == "percent")
    return MadeItem(item=found, request=request, metrics=metrics, trials=trials)
