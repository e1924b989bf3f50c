"""Makes a table or figure of a paper: carries out its commands, and sets what was measured beside the paper.

Every command is a process of its own. What is complete is not done again, so the same call goes on after an
interruption.
"""

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from codeaudit.audit.papers.experiments import Bench, PaperTrial
from codeaudit.audit.papers.published import Experiment, Item, Request, Step, data_sets, item, steps
from codeaudit.reports.records import Metric
from codeaudit.reports.statistics.trials import compare_trials
from codeaudit.reports.wording import verdict
from codeaudit.transforms.errors import RunError, UsageError
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.registration import load_target

PICTURE: Final = "figure"

Metrics: TypeAlias = Mapping[str, Metric]
"""The trials of each column by row."""


def draw(
    wanted: Item, source: Item, metrics: Metrics, trials: Sequence[PaperTrial], folder: Path
) -> Iterator[Path]:
    """Draw a figure from the measurements of its source item, as SVG and PNG, for a light and a dark ground.

    Raises:
        RunError: matplotlib is not installed.
    """
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        raise RunError(
            f"the table is in {str(folder)!r}; its picture needs matplotlib: "
            'pip install "codeaudit-ml[figures]"'
        ) from error
    matplotlib.use("svg")
    from matplotlib import pyplot

    for style, colours in STYLES.items():
        # equal data make equal files
        settings: Any = {"svg.hashsalt": "codeaudit", **_colours(colours)}
        with matplotlib.rc_context(settings):
            if wanted.matrix:
                figure = _pictures(wanted, trials)
            else:
                figure, axes = pyplot.subplots(figsize=(6.4, 4.2))
                if wanted.series:
                    _curves(axes, wanted, trials, colours)
                else:
                    _points(axes, wanted, source, metrics, colours)
            figure.suptitle(wanted.title, fontsize=10)
            figure.tight_layout()
            for ending in ("svg", "png"):
                path = folder / f"{PICTURE}{style}.{ending}"
                figure.savefig(path, dpi=160, metadata={"Date": None} if ending == "svg" else None)
                yield path
            pyplot.close(figure)


class Colours(NamedTuple):
    """The colours of a picture, as on the pages."""

    ground: str
    text: str
    faint: str
    lines: Sequence[str]


STYLES: Final[Mapping[str, Colours]] = {
    "": Colours("#ffffff", "#1f2733", "#6b7686", ("#2f6fde", "#c2410c", "#15803d", "#9333ea", "#b45309")),
    "-dark": Colours(
        "#14181f", "#e6eaf0", "#9aa4b2", ("#7aa7ff", "#fb923c", "#4ade80", "#d8b4fe", "#fbbf24")
    ),
}
"""By what stands behind the name of the file."""
DASHES: Final = ("-", "--", "-.", ":")


def _colours(colours: Colours) -> dict[str, Any]:
    text = dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), colours.text
    )
    return {**text, **dict.fromkeys(("figure.facecolor", "axes.facecolor"), colours.ground)}


def _points(axes: Any, wanted: Item, source: Item, metrics: Metrics, colours: Colours) -> None:
    """One column over another, ours and the paper's."""
    points = [
        (f"{name} (paper)", entry[wanted.x], entry[wanted.y], "o", colours.faint)
        for name, entry in source.published.items()
        if wanted.x in entry and wanted.y in entry
    ]
    for group in metrics[wanted.x].groups:
        x, y = (_mean(metrics[head], group.name) for head in (wanted.x, wanted.y))
        if x is not None and y is not None:
            points.append((group.name, x, y, "s", colours.lines[0]))
    places = [x for _, x, _, _, _ in points]
    for name, x, y, sign, colour in points:
        axes.plot(x, y, sign, color=colour)
        # a name stands inside the picture
        side, aligned = (-1, "right") if x > (min(places) + max(places)) / 2 else (1, "left")
        axes.annotate(
            name, (x, y), xytext=(6 * side, 3), textcoords="offset points", ha=aligned, fontsize=7,
            color=colours.faint if sign == "o" else colours.text,
        )  # fmt: skip
    units = {head: column.unit.replace("percent", "%") for head, _, column in source.heads}
    for name, label in ((wanted.x, axes.set_xlabel), (wanted.y, axes.set_ylabel)):
        label(name if units[name] == "share" else f"{name} ({units[name]})")
    axes.margins(0.1)
    axes.grid(alpha=0.3)


def _curves(axes: Any, wanted: Item, trials: Sequence[PaperTrial], colours: Colours) -> None:
    """A curve of each row, of its first seed."""
    names: list[str] = []
    for trial in trials:
        if wanted.series in trial.series and trial.row not in names:
            colour = colours.lines[len(names) % len(colours.lines)]
            dash = (
                "o"
                if wanted.dots or len(trial.series[wanted.series]) == 1
                else DASHES[len(names) % len(DASHES)]
            )  # curves that lie on each other are all seen
            axes.plot(*zip(*trial.series[wanted.series], strict=True), dash, color=colour, label=trial.row)
            names.append(trial.row)
    axes.set_xlabel(wanted.x)
    axes.set_ylabel(wanted.y)
    if all(float(line.get_xdata()[0]).is_integer() for line in axes.lines):  # steps
        axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=8)


def _pictures(wanted: Item, trials: Sequence[PaperTrial]) -> Any:
    """The matrix of each row, one below the other."""
    from matplotlib import pyplot

    matrices = {
        trial.row: trial.matrices[wanted.matrix] for trial in trials if wanted.matrix in trial.matrices
    }
    values = [value for matrix in matrices.values() for line in matrix for value in line]
    ends = {"vmin": min(values), "vmax": max(values)}  # one scale for all rows
    wide = 6.4 if len(matrices) > 1 else 5.0  # beside one matrix stands its scale
    height = sum(wide * len(matrix) / len(matrix[0]) + 0.3 for matrix in matrices.values())
    figure, axes = pyplot.subplots(len(matrices), 1, figsize=(6.4, height + 0.6), squeeze=False)
    for axis, (name, matrix) in zip(axes[:, 0], matrices.items(), strict=True):
        image = axis.imshow(matrix, cmap="gray" if len(matrices) > 1 else "viridis", aspect="equal", **ends)
        if len(matrices) == 1:
            figure.colorbar(image, ax=axis, shrink=0.8)
        axis.set_title(name, fontsize=8, loc="left")
        axis.set_xticks([])
        axis.set_yticks([])
    return figure


def _mean(metric: Metric, name: str) -> float | None:
    mean = next(group.mean for group in metric.groups if group.name == name)
    return None if mean is None else mean * (100 if metric.percent else 1)


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
        wanted = self.item
        heads = list(self.metrics)
        columns = [word for head in heads for word in (head, f"paper: {head}")]
        lines = [
            f"### {wanted.paper}, {wanted.name.partition('/')[2].replace('-', ' ')}: {wanted.title}",
            "",
            f"| | {' | '.join(columns)} |",
            f"|---|{'---:|' * len(columns)}",
        ]
        ours = list(dict.fromkeys(group.name for metric in self.metrics.values() for group in metric.groups))
        for name in [*ours, *(name for name in wanted.published if name not in ours)]:
            cells = [text for head in heads for text in (self._cell(head, name), self._printed(head, name))]
            lines.append(f"| {name} | {' | '.join(cells)} |")
        lines += ["", self._setting]
        lines += [f"- {head}: {text}." for head in heads if (text := self._tested(head))]
        lines += [
            f"- {text}" for text in dict.fromkeys(note for trial in self.trials for note in trial.notes)
        ]
        lines += [f"- {text}" for text in wanted.differences]
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
        seeds = max(
            (len(group.values) for metric in self.metrics.values() for group in metric.groups), default=0
        )
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
        group = next((group for group in self.metrics[head].groups if group.name == name), None)
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
        pairs = ", ".join(f"{pair.first}/{pair.second} {pair.p_adjusted:.2g}" for pair in metric.pairs)
        return verdict(metric.test) + (f"; Conover, Holm-adjusted p: {pairs}" if pairs else "")


def _number(value: float, percent: bool) -> str:
    return f"{100 * value:.2f}" if percent else f"{value:.3g}"


def source_of(wanted: Item) -> Item:
    """The item whose commands make this one: itself, or the table that a figure shows, or a part of it.

    Raises:
        UsageError: no command makes it.
    """
    if wanted.state == "drawing":
        raise UsageError(f"{wanted.name} shows no experiment: {wanted.title}")
    if wanted.state == "missing":
        raise UsageError(f"{wanted.name} cannot be made: {wanted.reason}")
    source = item(wanted.of) if wanted.of else wanted
    if not wanted.part:
        return source
    # networks of the other groups are not drawn
    groups = tuple(group for group in source.groups if group.name == wanted.part)
    return replace(source, name=wanted.name, groups=groups)


def is_done(step: Step) -> bool:
    """Whether a step's folder is complete."""
    return (step.out / (SUMMARY if step.kind == "run" else CONFIG)).is_file()


def carried_out(step: Step) -> int:
    """The exit code of a step's command, a process of its own whose progress and notes go to stderr."""
    command = [sys.executable, "-m", "codeaudit", *step.words]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode


def make(wanted: Item, request: Request, tell: Callable[[str], None]) -> MadeItem:
    """Carry out what is missing of an item, and write `table.md` and `table.json` (and a figure's picture).

    Raises:
        UsageError: no command makes the item.
        CorpusError: a table of data is not there.
        RunError: a command failed; its own message stands above.
        KeyboardInterrupt: a command was interrupted; the same call goes on.
    """
    source = source_of(wanted)
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
    if wanted.drawn:
        measured = _drawn(wanted, request, planned)
    folder = wanted.folder(request.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TABLE).write_text(measured.text, encoding="utf-8")
    (folder / VALUES).write_text(json.dumps(measured.values, indent=2) + "\n", encoding="utf-8")
    if wanted.x or wanted.series or wanted.matrix:
        for path in draw(wanted, measured.item, measured.metrics, measured.trials, folder):
            tell(f"picture: {path}")
    return measured


def _read(wanted: Item, request: Request, planned: Sequence[Step]) -> MadeItem:
    values: dict[str, dict[str, list[float]]] = {
        head: {row.name: [] for row in wanted.rows} for head, _, _ in wanted.heads
    }
    for step in planned:
        audited = step.kind == "run"
        written = json.loads((step.out / (SUMMARY if audited else CARD_FILE)).read_text("utf-8"))
        models: Sequence[Mapping[str, Any]] = written["models"] if audited else [written]
        for head, group, column in wanted.heads:
            if group != step.group or column.of_card == audited:
                continue
            for name, model in zip(step.networks, models, strict=True):
                if (value := column.of(model)) is not None:
                    values[head][name].append(value)
    better = {head: column.better for head, _, column in wanted.heads}
    metrics = {head: compare_trials(head, better[head], rows) for head, rows in values.items()}
    return MadeItem(item=wanted, request=request, metrics=metrics)


def bench_of(wanted: Item, experiment: Experiment, request: Request, tell: Callable[[str], None]) -> Bench:
    """What an experiment is asked for.

    Raises:
        CorpusError: its table of data is not there.
        UsageError: it has no such preset.
    """
    settings = request.settings(experiment)
    seeds = request.trainings(int(settings.pop("seeds")))
    data = None
    if name := experiment.data_of(request.preset):
        data = data_sets()[name].place(request.data, must_exist=not request.dry)
    return Bench(
        name=experiment.name,
        rows=wanted.names,
        settings=settings,
        seeds=seeds,
        device=request.device or "cpu",
        data=data,
        folder=request.out / "trials",
        tell=tell,
    )


def _measured(
    wanted: Item, experiment: Experiment, request: Request, tell: Callable[[str], None]
) -> MadeItem:
    measure: Callable[[Bench], Iterable[PaperTrial]] = load_target(experiment.target)
    return _compared(wanted, request, list(measure(bench_of(wanted, experiment, request, tell))))


def _drawn(wanted: Item, request: Request, planned: Sequence[Step]) -> MadeItem:
    draw: Callable[[Mapping[str, Path], str], Iterable[PaperTrial]] = load_target(wanted.drawn)
    networks = {step.networks[0]: step.out for step in reversed(planned) if step.kind == "train"}
    return _compared(wanted, request, list(draw(dict(reversed(networks.items())), request.device or "cpu")))


def _compared(wanted: Item, request: Request, trials: Sequence[PaperTrial]) -> MadeItem:
    metrics = {}
    measures = {column.measure for _, _, column in wanted.heads}
    for head, _, column in wanted.heads:
        values = {
            name: [
                1 - value if column.complement else value
                for trial in trials
                if trial.row == name and (value := trial.scores.get(column.measure)) is not None
            ]
            for name in dict.fromkeys(trial.row for trial in trials if measures & set(trial.scores))
        }
        metrics[head] = compare_trials(head, column.better, values, percent=column.unit == "percent")
    return MadeItem(item=wanted, request=request, metrics=metrics, trials=trials)
