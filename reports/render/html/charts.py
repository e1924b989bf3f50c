"""Draws charts of a summary as SVG text. Every chart has a title and a description in words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, inf, log, sqrt
from typing import Final, NamedTuple

from codeaudit.reports import wording
from codeaudit.reports.records import ByTransform, Comparison, Metric, ModelSummary, Paired, Summary
from codeaudit.reports.statistics.adjustment import ranked
from codeaudit.transforms.grammar import counted


def escaped(text: str) -> str:
    """Return a text as markup that shows it; nothing in it is obeyed."""
    return escape(wording.plain(text))


def _unbroken(text: str) -> str:
    """Return markup in which no line ends between a number and its sign of percent."""
    return re.sub(r"(?<=\d) %", "\u00a0%", text)


def items(texts: Iterable[str]) -> str:
    """Return texts as the items of a list."""
    return "".join(f"<li>{_unbroken(escaped(text))}</li>" for text in texts)


def sentences(texts: Iterable[str], otherwise: str) -> str:
    """Return the sentences of a verdict as a list, or `otherwise` if there are none."""
    return f'<ul class="verdict">{items([*texts] or [otherwise])}</ul>'


WIDTH: Final = 400
LEFT: Final = 56
RIGHT: Final = 12
LETTER: Final = 8.4
"""Estimated width of a letter, to keep names inside the chart and apart from each other."""
NAME: Final = 34
"""Maximum number of letters of a name in a chart."""
MARKS: Final = ("circle", "square", "triangle", "diamond")
"""Shapes that repeat the information of the colours, for readers who cannot distinguish the colours."""
COLOURS: Final = 8
"""Classes `c0` to `c7` of the style sheet."""
BINS: Final = 40
NARROWEST: Final = (0.99, 1.01)
WIDEST: Final = (0.5, 2.0)
"""Range of the histogram's axis. Values outside are counted in the first or last bin."""

Place = tuple[float, float]
ModelRow = tuple[int, ModelSummary, ByTransform]


@dataclass(frozen=True, slots=True)
class Chart:
    """One figure of the page."""

    name: str
    """Anchor for links: letters, digits and hyphens."""
    title: str
    words: str
    """Alt text: the content of the chart in words."""
    height: float
    parts: tuple[str, ...]

    @property
    def svg(self) -> str:
        """Return the drawing. The page must contain elements `t-NAME` and `w-NAME` for its title and
        description.
        """
        return (
            f'<svg viewBox="0 0 {WIDTH} {self.height:.0f}" role="img" aria-labelledby="t-{self.name}" '
            f'aria-describedby="w-{self.name}">{"".join(self.parts)}</svg>'
        )


def charts(summary: Summary, predictions: Mapping[str, Sequence[float]]) -> list[Chart]:
    """Return the figures for which the run has numbers.

    `predictions` holds, by model, the ratios of real-valued answers to variants over the answer to their
    original.
    """
    pictures = [
        _scatter(summary),
        _bars(summary, "preserving", "Violations by transform"),
        _bars(summary, "control", "Sensitivity by control"),
        *diagrams(summary.statistics),
        _curves(summary),
        _histogram(summary, predictions),
    ]
    return [chart for chart in pictures if chart is not None]


def diagrams(comparison: Comparison) -> list[Chart]:
    """Return the critical-difference diagrams of a comparison."""
    pictures = [
        *(_diagram(metric, "trials") for metric in comparison.metrics),
        *(_diagram(paired, "shared") for paired in comparison.paired),
    ]
    return [chart for chart in pictures if chart is not None]


def legend(models: Sequence[str]) -> str:
    """Return the legend: colour and mark of each model."""
    items = (
        f'<li><svg width="14" height="14" aria-hidden="true">{mark(number, 7, 7)}</svg> {escaped(model)}</li>'
        for number, model in enumerate(models)
    )
    return f'<ul class="legend">{"".join(items)}</ul>'


def _scatter(summary: Summary) -> Chart | None:
    """Draw quality against violations, with areas by model size (SPE paper, figures 6 and 7)."""
    points = [
        (number, model, model.score.original, rate)
        for number, model in enumerate(summary.models)
        if model.score.original is not None and (rate := _violated(model)) is not None
    ]
    if not points:
        return None
    score = points[0][1].score
    name, share = wording.score_name(score.name), wording.is_share(score)
    values = [value for _, _, value, _ in points]
    # One model, or equal scores, have no range: a quarter of the value stands in for it.
    room = (max(values) - min(values)) / 4 or abs(values[0]) / 4 or 0.1
    most = 1.0 if share and score.better == "higher" else inf
    low, high = max(0.0, min(values) - room), min(most, max(values) + room)
    top = min(1.0, max(rate for _, _, _, rate in points) * 1.25) or 0.1
    largest = max(model.parameters or 0 for _, model, _, _ in points) or 1
    height = 300
    better = ", lower is better" if score.better == "lower" else ""
    beyond = " beyond noise" if any(wording.is_noisy(model) for _, model, _, _ in points) else ""
    start = f", axis from {wording.value(low, share=share)}" if low > 0 else ""
    parts = _axes(height, top, f"violation rate{beyond}", f"{name}{better}{start} →")
    for n in range(4):
        value = low + (high - low) * n / 3
        parts.append(_label(_x(n / 3), height - 22, wording.value(value, share=share), anchor="middle"))
    labels, words = [], []
    boxes: list[tuple[float, float, float]] = []
    for number, model, value, rate in points:
        x, y = _x((value - low) / (high - low)), _y(rate / top, height)
        # The area grows with the number of weights, so the radius with its root. 4 is still visible.
        radius = max(4.0, 22 * sqrt((model.parameters or 0) / largest))
        both = f"{wording.value(value, share=share)} and {wording.percent(rate)}"
        words.append(f"{model.model} {both} ({wording.size(model.parameters)})")
        parts.append(
            f'<circle class="c{number % COLOURS} {"blob" if model.parameters else "hollow"}" cx="{x:.1f}" '
            f'cy="{y:.1f}" r="{radius:.1f}"><title>{escaped(words[-1])}</title></circle>'
        )
        text = _short(model.model)
        half = len(text) * LETTER / 2
        u = min(max(x, half), WIDTH - half)
        # Above and below in turn, a little further away each time, until the name overlaps no other. A name
        # without room is left out; the legend has it.
        for n in range(2 * len(points)):
            v = y + radius + 14 + 7 * (n - 1) if n % 2 else y - radius - 5 - 7 * n
            if 26 < v < height - 40 and not any(
                abs(v - b) < 14 and abs(u - a) < half + c for a, b, c in boxes
            ):
                boxes.append((u, v, half))
                labels.append(_label(u, v, text, anchor="middle", name="strong"))
                break
    return Chart(
        name="quality",
        title=f"{name} against the violation rate",
        words=f"{name} to the right{better}, violation rate upwards, areas by number of weights: "
        f"{'; '.join(words)}.",
        height=height,
        parts=(*parts, *labels),
    )


def _violated(model: ModelSummary) -> float | None:
    """The violation rate; of a noisy model what is beyond noise, at least 0."""
    if wording.is_noisy(model) and model.excess.points is not None:
        return max(0.0, model.excess.points)
    return model.violations.rate


class _Bar(NamedTuple):
    """A rate, or the excess of a noisy model, as a chart shows it."""

    share: float | None
    low: float | None
    high: float | None
    told: str
    about: str


def _bar(model: ModelSummary, row: ByTransform) -> _Bar:
    rate, excess = row.violations, row.excess
    if not wording.is_noisy(model) or excess.points is None:
        text = wording.percent(rate.rate)
        about = f"{text} ({wording.interval(rate)}; {wording.counts(rate)})"
        return _Bar(rate.rate, rate.low, rate.high, text, about)
    text, _, counts = wording.excess_lines(excess, row.noise)
    share, low, high = (max(0.0, end or 0.0) for end in (excess.points, excess.low, excess.high))
    about = f"{text} points beyond noise ({wording.ends(excess)}; {counts})"
    return _Bar(share, low, high, text, about)


def _bars(summary: Summary, kind: str, title: str) -> Chart | None:
    """Draw rates with their intervals, one bar per model below each transform's name."""
    groups: dict[str, list[ModelRow]] = {}
    for number, model in enumerate(summary.models):
        for row in model.by_transform:
            if row.kind == kind and row.violations.rate is not None:
                groups.setdefault(row.transform, []).append((number, model, row))
    if not groups:
        return None
    line, left, right = 16, 14, WIDTH - 62
    height = 26 + sum(22 + line * len(rows) for rows in groups.values())

    def place(share: float | None) -> float:
        return left + (right - left) * _or_zero(share)

    parts, words = [], []
    for n in range(5):
        x = place(n / 4)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="18" y2="{height}"/>')
        parts.append(_label(x, 12, f"{25 * n} %", anchor="start" if n == 0 else "middle"))
    y = 20.0
    for transform, rows in groups.items():
        parts.append(_label(left, y + 14, transform, name="strong", most=WIDTH - left))
        y += 18
        for number, model, row in rows:
            bar, middle = _bar(model, row), y + line / 2
            about = f"{transform}, {model.model} {bar.about}"
            words.append(about)
            parts.append(
                f'<g class="c{number % COLOURS}"><title>{escaped(about)}</title><line class="whisker" '
                f'x1="{place(bar.low):.1f}" x2="{place(bar.high):.1f}" y1="{middle}" y2="{middle}"/>'
                f"{mark(number, place(bar.share), middle)}</g>"
            )
            parts.append(_label(WIDTH, middle + 4, bar.told, anchor="end"))
            y += line
        y += 4
    return Chart(
        name=f"by-{kind}",
        title=title,
        words=f"Share of changed answers with 95 % intervals: {'; '.join(words)}.",
        height=height,
        parts=tuple(parts),
    )


def _diagram(result: Metric | Paired, over: str) -> Chart | None:
    """Draw the critical-difference diagram: models by mean rank on an axis, bars through indistinguishable
    models.
    """
    ranking = ranked(result)
    if ranking is None:
        return None
    names, bars = ranking
    left, right, axis = 236, WIDTH - 14, 30
    last = max(2, ceil(max(result.ranks.values())))
    below = axis + 8 + 9 * len(bars)
    height = below + 20 * len(names) + 6

    def place(rank: float) -> float:
        return left + (right - left) * (rank - 1) / (last - 1)

    parts = [f'<line class="axis" x1="{left}" x2="{right}" y1="{axis}" y2="{axis}"/>']
    for rank in range(1, last + 1, max(1, ceil(last / 8))):
        x = place(rank)
        parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{axis - 5}" y2="{axis}"/>')
        parts.append(_label(x, axis - 9, str(rank), anchor="middle"))
    for number, bar in enumerate(bars, 1):
        y, first, end = axis + 9 * number, place(result.ranks[bar[0]]), place(result.ranks[bar[-1]])
        parts.append(f'<line class="bar" x1="{first - 3:.1f}" x2="{end + 3:.1f}" y1="{y}" y2="{y}"/>')
    labels = []
    for number, name in enumerate(names):
        x, y = place(result.ranks[name]), below + 20 * number + 10
        parts.append(f'<polyline class="lead" points="{x:.1f},{axis} {x:.1f},{y} {x - 8:.1f},{y}"/>')
        text = f"{name} {result.ranks[name]:.2f}"
        labels.append(_label(x - 12, y + 4, text, anchor="end", most=x - 16))
    slug = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in result.name)
    ranks = ", ".join(f"{name} {result.ranks[name]:.2f}" for name in names)
    alike = (
        f"Not significantly different at 0.05: {'; '.join(map(' and '.join, bars))}."
        if bars
        else "All differ significantly."
    )
    return Chart(
        name=f"cd-{over}-{slug}",
        title=f"Critical differences: {result.name}",
        words=f"Mean ranks, 1 is best: {ranks}. {alike}",
        height=height,
        parts=(*parts, *labels),
    )


def _curves(summary: Summary) -> Chart | None:
    """Draw violated samples against queries for each search."""
    attacks = [
        (f"{model.model}, {attack.strategy}", attack)
        for model in summary.models
        for attack in model.attacks
        if attack.violated.total
    ]
    if not attacks:
        return None
    above, most = 18 * len(attacks), max(attack.budget for _, attack in attacks)
    height = 270 + above
    top = max(attack.curve[-1] / attack.violated.total for _, attack in attacks) or 0.1

    def place(queries: int) -> float:
        return _x(log(queries) / log(most)) if most > 1 else _x(1)

    parts = _axes(height, top, "violated samples", "queries →", above=above)
    # Powers of two on a logarithmic axis, at most about nine of them.
    ticks = [2**n for n in range(0, most.bit_length(), 1 + most.bit_length() // 9)]
    parts += [_label(place(tick), height - 22, str(tick), anchor="middle") for tick in ticks]
    words = []
    for number, (name, attack) in enumerate(attacks):
        total = attack.violated.total
        points = [
            (place(n), _y(count / total / top, height, above=above))
            for n, count in enumerate(attack.curve, 1)
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        words.append(f"{name} {attack.curve[-1]} of {total} within {attack.budget}")
        parts.append(
            f'<polyline class="c{number % COLOURS} curve" points="{path}"><title>{escaped(name)}</title>'
            f"</polyline>{mark(number, *points[-1])}{mark(number, 14, 10 + 18 * number)}"
            f"{_label(26, 14 + 18 * number, _short(name, 50))}"
        )
    return Chart(
        name="attacks",
        title="Violated samples against queries",
        words=f"Share of samples with a violation found, by queries: {'; '.join(words)}.",
        height=height,
        parts=tuple(parts),
    )


def _histogram(summary: Summary, predictions: Mapping[str, Sequence[float]]) -> Chart | None:
    """Draw the spread of real-valued answers over variants (Renamer paper, figure 2), over all samples."""
    filled = [
        (number, model.model, predictions[model.model])
        for number, model in enumerate(summary.models)
        if predictions.get(model.model)
    ]
    if not filled:
        return None
    every = [value for _, _, values in filled for value in values]
    # An axis from 0.99 to 1.01 at least, so that noise of 1e-7 does not fill the figure.
    low = max(min(*every, NARROWEST[0]), WIDEST[0])
    high = min(max(*every, NARROWEST[1]), WIDEST[1])
    row, left = 84, 8
    height = 22 + row * len(filled)

    def share(value: float) -> float:
        return (min(max(value, low), high) - low) / (high - low)

    wide = WIDTH - 2 * left
    middle = left + wide * share(1.0)
    parts = [f'<line class="axis" x1="{middle:.1f}" x2="{middle:.1f}" y1="20" y2="{height - 18}"/>']
    words = []
    for line, (number, model, values) in enumerate(filled):
        counts = [0] * BINS
        for value in values:
            counts[min(int(share(value) * BINS), BINS - 1)] += 1
        base = row * (line + 1)
        for spot, count in enumerate(counts):
            if count:
                # At least 3 high: a single answer among thousands is what the figure is for.
                tall = 3 + (row - 32) * count / max(counts)
                parts.append(
                    f'<rect class="c{number % COLOURS} blob" x="{left + wide * spot / BINS:.1f}" '
                    f'y="{base - tall:.1f}" width="{wide / BINS - 1:.1f}" height="{tall:.1f}"/>'
                )
        answers = counted(len(values), "answer")
        parts.append(_label(left, base - row + 18, f"{_short(model)}, {answers}"))
        same = sum(value == 1 for value in values)
        words.append(f"{model} {answers}, {same} equal, {min(values):.3f} to {max(values):.3f}")
    parts.append(_label(left, height - 4, f"{'≤ ' * (min(every) < low)}{low:.2f}"))
    parts.append(_label(WIDTH - left, height - 4, f"{'≥ ' * (max(every) > high)}{high:.2f}", anchor="end"))
    # Near the ends the label would overlap that of the axis.
    if 0.15 < share(1.0) < 0.85:
        parts.append(_label(middle, height - 4, "1", anchor="middle"))
    return Chart(
        name="predictions",
        title="Answers to variants over the answer to the original",
        words=f"As a multiple of the answer to the original: {'; '.join(words)}.",
        height=height,
        parts=tuple(parts),
    )


def _axes(height: float, top: float, upwards: str, across: str, *, above: float = 0) -> list[str]:
    parts = [
        _label(0, above + 12, upwards, name="soft"),
        _label(WIDTH, height - 4, across, anchor="end", name="soft"),
    ]
    for n in range(5):
        y = _y(n / 4, height, above=above)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_label(LEFT - 6, y + 4, wording.percent(top * n / 4), anchor="end"))
    return parts


def _x(share: float) -> float:
    return LEFT + 24 + (WIDTH - LEFT - RIGHT - 48) * share


def _y(share: float, height: float, *, above: float = 0) -> float:
    top, bottom = above + 58, height - 56
    return bottom - (bottom - top) * share


def mark(number: int, x: float, y: float) -> str:
    """Return the mark of a model, by its number, at a place of a drawing."""
    # Shifted by one after each round of colours, so that no two of 32 models share both.
    match MARKS[(number + number // COLOURS) % len(MARKS)]:
        case "circle":
            shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        case "square":
            shape = f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7"/>'
        case "triangle":
            shape = _polygon((x, y - 4.5), (x - 4.5, y + 3.5), (x + 4.5, y + 3.5))
        case _:
            shape = _polygon((x, y - 5), (x - 5, y), (x, y + 5), (x + 5, y))
    return f'<g class="c{number % COLOURS}">{shape}</g>'


def _polygon(*corners: Place) -> str:
    return f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}"/>'


def _label(x: float, y: float, text: str, *, anchor: str = "start", name: str = "", most: float = inf) -> str:
    """A text; letters of one that may be wider than `most` move together, so that no name is cut."""
    styled = f' class="{name}"' if name else ""
    if len(text) * LETTER > most:
        styled += f' textLength="{most:.0f}" lengthAdjust="spacingAndGlyphs"'
    return f'<text{styled} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escaped(text)}</text>'


def _short(text: str, most: int = NAME) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _or_zero(value: float | None) -> float:
    return 0.0 if value is None else value
