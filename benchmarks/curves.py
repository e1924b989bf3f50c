"""Learning curves as a picture.

    python benchmarks/curves.py FOLDER … --out curves.svg

Each FOLDER is what `codeaudit train … --log csv --out FOLDER` wrote. The left part shows the training loss
(means of a hundredth of the steps), the right part the validation score after each epoch.
"""

import argparse
import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

LOG: Final = "training.csv"
STYLES: Final = ("-", "--", "-.", ":")
PARTS: Final = 100
"""The number of means on a curve of losses."""


class Panel(NamedTuple):
    """One part of a picture."""

    x: str
    y: str
    curves: Mapping[str, Sequence[tuple[float, float]]]
    """Points (x, y) by name."""


def draw(panels: Sequence[Panel], path: Path) -> None:
    """Draw panels side by side; a curve has the same colour in each."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "codeaudit"  # equal data make equal files
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(panels), figsize=(4.6 * len(panels), 3.2), squeeze=False)
    for axis, panel in zip(axes[0], panels, strict=True):
        for number, (name, points) in enumerate(panel.curves.items()):
            few = len(points) < PARTS // 5
            style = STYLES[number % len(STYLES)]  # curves that lie on each other are all seen
            axis.plot(*zip(*points, strict=True), style, label=name, linewidth=1.6, marker="o" if few else "")
        axis.set_xlabel(panel.x)
        axis.set_ylabel(panel.y)
        axis.grid(alpha=0.3)
    axes[0][0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def means(values: Sequence[float], parts: int = PARTS) -> list[tuple[float, float]]:
    """The mean of each part of a series, at the number of its last value, counted from 1."""
    size = max(1, len(values) // parts)
    whole = range(0, len(values) - size + 1, size)
    return [(first + size, sum(values[first : first + size]) / size) for first in whole]


def read(folder: Path) -> tuple[list[float], list[tuple[float, float]]]:
    """The training losses, and (step, validation score).

    Raises:
        OSError: no such log.
        KeyError: not a log of `codeaudit train`.
    """
    with (folder / LOG).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    valid = [(float(row["step"]), float(row["valid"])) for row in rows if row["valid"]]
    return [float(row["loss"]) for row in rows if row["loss"]], valid


def main(words: Sequence[str] | None = None) -> int:
    """Draw the curves of some trainings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.svg")
    asked = parser.parse_args(words)
    try:
        trainings = {folder.name: read(folder) for folder in asked.folders}
    except (OSError, KeyError) as error:
        parser.error(f"no {LOG} of codeaudit train: {error}; train with --log csv")
    losses = {name: means(each) for name, (each, _) in trainings.items()}
    scores = {name: valid for name, (_, valid) in trainings.items() if valid}
    draw([Panel("step", "training loss", losses), Panel("step", "validation score", scores)], asked.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
