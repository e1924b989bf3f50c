"""The pictures of a paper's figures: points, curves, or matrices, ours and the paper's."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from codeaudit.audit.papers.experiments import PaperTrial
from codeaudit.audit.papers.published import Item
from codeaudit.reports.records import Metric
from codeaudit.transforms.errors import RunError

PICTURE: Final = "figure"

Metrics: TypeAlias = Mapping[str, Metric]
"""The trials of each column by row."""


def draw(
    found: Item, source: Item, metrics: Metrics, trials: Sequence[PaperTrial], folder: Path
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
            if found.matrix:
                figure = _pictures(found, trials)
            else:
                figure, axes = pyplot.subplots(figsize=(6.4, 4.2))
                if found.series:
                    _curves(axes, found, trials, colours)
                else:
                    _points(axes, found, source, metrics, colours)
            figure.suptitle(found.title, fontsize=10)
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


def _colours(found: Colours) -> dict[str, Any]:
    text = dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), found.text
    )
    return {**text, **dict.fromkeys(("figure.facecolor", "axes.facecolor"), found.ground)}


def _points(axes: Any, found: Item, source: Item, metrics: Metrics, colours: Colours) -> None:
    """One column over another, ours and the paper's."""
    points = [
        (f"{name} (paper)", entry[found.x], entry[found.y], "o", colours.faint)
        for name, entry in source.published.items()
        if found.x in entry and found.y in entry
    ]
    for group in metrics[found.x].groups:
        x, y = (_mean(metrics[head], group.name) for head in (found.x, found.y))
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
    for name, label in ((found.x, axes.set_xlabel), (found.y, axes.set_ylabel)):
        label(name if units[name] == "share" else f"{name} ({units[name]})")
    axes.margins(0.1)
    axes.grid(alpha=0.3)


def _curves(axes: Any, found: Item, trials: Sequence[PaperTrial], colours: Colours) -> None:
    """A curve of each row, of its first seed."""
    names: list[str] = []
    for one in trials:
        if found.series in one.series and one.row not in names:
            colour = colours.lines[len(names) % len(colours.lines)]
            dash = (
                "o" if found.dots or len(one.series[found.series]) == 1 else DASHES[len(names) % len(DASHES)]
            )  # curves that lie on each other are all seen
            axes.plot(*zip(*one.series[found.series], strict=True), dash, color=colour, label=one.row)
            names.append(one.row)
    axes.set_xlabel(found.x)
    axes.set_ylabel(found.y)
    if all(float(line.get_xdata()[0]).is_integer() for line in axes.lines):  # steps
        axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=8)


def _pictures(found: Item, trials: Sequence[PaperTrial]) -> Any:
    """The matrix of each row, one below the other."""
    from matplotlib import pyplot

    shown = {one.row: one.matrices[found.matrix] for one in trials if found.matrix in one.matrices}
    values = [value for matrix in shown.values() for line in matrix for value in line]
    ends = {"vmin": min(values), "vmax": max(values)}  # one scale for all rows
    wide = 6.4 if len(shown) > 1 else 5.0  # beside one matrix stands its scale
    height = sum(wide * len(matrix) / len(matrix[0]) + 0.3 for matrix in shown.values())
    figure, axes = pyplot.subplots(len(shown), 1, figsize=(6.4, height + 0.6), squeeze=False)
    for axis, (name, matrix) in zip(axes[:, 0], shown.items(), strict=True):
        image = axis.imshow(matrix, cmap="gray" if len(shown) > 1 else "viridis", aspect="equal", **ends)
        if len(shown) == 1:
            figure.colorbar(image, ax=axis, shrink=0.8)
        axis.set_title(name, fontsize=8, loc="left")
        axis.set_xticks([])
        axis.set_yticks([])
    return figure


def _mean(metric: Metric, name: str) -> float | None:
    mean = next(group.mean for group in metric.groups if group.name == name)
    return None if mean is None else mean * (100 if metric.percent else 1)
