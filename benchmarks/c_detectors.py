"""How well detectors of faults in C do on projects that they have not seen.

    python benchmarks/c_detectors.py TRAIN TEST [CHECKPOINT ...]

The tables are those of `c_faults.py`. TEST must hold no project of TRAIN. Beside the checkpoints of
`codeaudit train` stands a regression on counts of tokens and of their pairs, learned from TRAIN. The score is
the balanced accuracy, the mean of both recalls. Its interval (95 %) draws whole projects again
(bootstrap, 2,000 times), because the functions of one project resemble each other.

`codeaudit run` audits the regression as `--model py/c_detectors:counts`, with the folder of this file on
PYTHONPATH and COUNTS_TRAIN=TRAIN.
"""

import argparse
import json
import os
import re
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from codeaudit.audit.papers.spe_attention.model import LineModel
from codeaudit.audit.records import Predicted, Query
from codeaudit.audit.tasks.vulnerability_detection import SAFE, VULNERABILITY_DETECTION, VULNERABLE

_TOKEN: Final = re.compile(r"[A-Za-z_]\w*|\d+|[-+<>=!&|]{1,2}|\S")
_COLUMNS: Final = 1 << 15
_DRAWS: Final = 2_000


class Row(NamedTuple):
    """A function of a table."""

    project: str
    source: str
    label: int


class Judged(NamedTuple):
    """What a detector says of a row; `None` if it fails."""

    row: Row
    said: bool | None


def read(path: Path) -> list[Row]:
    """The rows of a table; the two sides of a fault are neighbours."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Row(str(row["project"]), str(row["func"]), int(row["target"])) for row in rows]


# ── the regression ───────────────────────────────────────────────────────────────────────────────────────


def features(source: str) -> dict[int, float]:
    """Logarithms of the counts of tokens and of pairs of neighbours."""
    tokens = _TOKEN.findall(source)
    pairs = (f"{one} {other}" for one, other in pairwise(tokens))
    counts = Counter(zlib.crc32(text.encode()) % _COLUMNS for text in (*tokens, *pairs))
    return {place: float(np.log1p(count)) for place, count in counts.items()}


class Regression:
    """A logistic regression on counts, learned by steps of one example."""

    def __init__(self, rows: Sequence[Row], *, epochs: int = 8, rate: float = 0.05) -> None:
        self._weights: npt.NDArray[np.float64] = np.zeros(_COLUMNS)
        self._bias = 0.0
        known = [(features(row.source), row.label) for row in rows]
        order = Random(0)
        for _ in range(epochs):
            order.shuffle(known)
            for counts, label in known:
                step = rate * (label - 1 / (1 + np.exp(-self._logit(counts))))
                self._bias += step
                for place, value in counts.items():
                    self._weights[place] += step * value - 1e-5 * self._weights[place]

    def _logit(self, counts: dict[int, float]) -> float:
        return float(self._bias + sum(self._weights[place] * value for place, value in counts.items()))

    def says(self, source: str) -> bool:
        """Whether it calls a function vulnerable."""
        return bool(self._logit(features(source)) > 0)


@cache
def _learned() -> Regression:
    return Regression(read(Path(os.environ["COUNTS_TRAIN"])))


def counts(queries: Sequence[Query]) -> list[str]:
    """The regression as a model of `codeaudit run`."""
    return [VULNERABLE if _learned().says(query.source) else SAFE for query in queries]


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────


@cache
def _loaded(folder: str) -> LineModel:
    return LineModel.load(folder)


def network(folder: str, rows: Sequence[Row]) -> list[Judged]:
    """What a checkpoint says."""
    name = VULNERABILITY_DETECTION.name
    queries = [Query(task=name, language="c", source=row.source) for row in rows]
    predictions = _loaded(folder).predict(queries)
    return [
        Judged(row, prediction.answer == VULNERABLE if isinstance(prediction, Predicted) else None)
        for row, prediction in zip(rows, predictions, strict=True)
    ]


def balanced(judged: Sequence[Judged]) -> float:
    """The mean of both recalls; an answer that is missing is wrong."""
    recalls = [
        np.mean([answer.said == bool(side) for answer in judged if answer.row.label == side])
        for side in (0, 1)
    ]
    return float(np.mean(recalls))


def interval(judged: Sequence[Judged]) -> tuple[float, float]:
    """The middle 95 % of the balanced accuracy over drawn projects."""
    by_project: dict[str, list[Judged]] = defaultdict(list)
    for answer in judged:
        by_project[answer.row.project].append(answer)
    names, rng = sorted(by_project), Random(0)
    drawn = [balanced([answer for name in rng.choices(names, k=len(names)) for answer in by_project[name]])
             for _ in range(_DRAWS)]  # fmt: skip
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def pairs(judged: Sequence[Judged]) -> Counter[str]:
    """PrimeVul's pairs: both right, both called vulnerable, both safe, both wrong."""
    names = {(True, False): "right", (True, True): "both vulnerable", (False, False): "both safe"}
    sides = zip(judged[::2], judged[1::2], strict=True)
    return Counter(names.get((bool(one.said), bool(other.said)), "reversed") for one, other in sides)


def main() -> int:
    """Print Markdown."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("train", type=Path, metavar="TRAIN.jsonl")
    parser.add_argument("test", type=Path, metavar="TEST.jsonl")
    parser.add_argument("checkpoints", nargs="*", metavar="CHECKPOINT")
    asked = parser.parse_args()
    train, test = read(asked.train), read(asked.test)
    if shared := {row.project for row in train} & {row.project for row in test}:
        parser.error(f"in both tables: {', '.join(sorted(shared))}")
    regression = Regression(train)
    by_detector = {"counts of tokens and pairs": [Judged(row, regression.says(row.source)) for row in test]}
    by_detector |= {folder: network(folder, test) for folder in asked.checkpoints}
    projects = len({row.project for row in test})
    print(f"learned from {len(train):,} rows; tested on {len(test):,} rows of {projects} other projects\n")
    print(
        "| detector | balanced accuracy | interval | pairs right | both vulnerable | both safe | reversed |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, judged in by_detector.items():
        low, high = interval(judged)
        sides = pairs(judged)
        cells = [f"{balanced(judged):.1%}", f"{low:.1%} to {high:.1%}"]
        cells += [str(sides[kind]) for kind in ("right", "both vulnerable", "both safe", "reversed")]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
