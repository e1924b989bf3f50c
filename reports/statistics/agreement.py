"""How answers go with labels, for tasks with a closed set of labels: Matthews' correlation, and whether
chance explains it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import fmean
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np

Table = Mapping[str, Mapping[str, int]]
"""Number of samples by label, then by answer."""

DRAWS: Final = 9_999
"""Permutations for more than two classes."""
FEW: Final = 2_000
"""Up to this number of samples answers are permuted; beyond it the normal distribution is used."""


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """What happened to one label."""

    label: str
    true: int
    """Samples that have it."""
    answers: int
    """Samples whose answer it is."""
    hits: int
    """Samples of both kinds."""

    @property
    def f1(self) -> float | None:
        """`None` if it is neither right nor said anywhere."""
        return 2 * self.hits / (self.true + self.answers) if self.true + self.answers else None


def by_label(table: Table) -> tuple[LabelCounts, ...]:
    """The counts of each label, the commonest first."""
    answers = Counter[str]()
    for row in table.values():
        answers.update(row)
    names = table.keys() | answers.keys()
    counts = [
        LabelCounts(name, sum(table.get(name, {}).values()), answers[name], table.get(name, {}).get(name, 0))
        for name in names
    ]
    return tuple(sorted(counts, key=lambda count: (-count.true, count.label)))


def accuracy(table: Table) -> float:
    """Share of samples whose answer is their label."""
    counts = by_label(table)
    return sum(count.hits for count in counts) / sum(count.true for count in counts)


def macro_f1(table: Table) -> float:
    """Mean over labels of the F1 of each."""
    return fmean(count.f1 for count in by_label(table) if count.f1 is not None)


def correlation(table: Table) -> float | None:
    """Matthews' correlation coefficient of answers and labels, -1 to 1, for any number of classes.

    `None` if there is one label or one answer only: then nothing varies.

    References
    ----------
    Gorodkin (2004), Comparing two K-category assignments by a K-category correlation coefficient, equation 8.
    """
    counts = _matrix(table)
    total, hits = float(counts.sum()), float(counts.trace())
    labels, answers = counts.sum(axis=1), counts.sum(axis=0)
    spread = sqrt((total**2 - float(labels @ labels)) * (total**2 - float(answers @ answers)))
    return (total * hits - float(labels @ answers)) / spread if spread else None


def chance(table: Table) -> float:
    """Return the one-sided p-value of a correlation: how often answers that are dealt out to the samples at
    random agree with the labels at least as often. 1 if nothing varies.

    With two classes it is Fisher's exact test; with more, a permutation test with fixed draws; for many
    samples the normal distribution with the same mean and variance.

    References
    ----------
    Fisher (1935), The logic of inductive inference.
    """
    import numpy as np
    from scipy.stats import hypergeom, norm

    counts = _matrix(table)
    total, hits = int(counts.sum()), int(counts.trace())
    labels, answers = counts.sum(axis=1), counts.sum(axis=0)
    if correlation(table) is None:
        return 1.0
    if len(counts) == 2:
        # With the margins fixed, one cell decides the number of agreements.
        return float(hypergeom.sf(counts[0, 0] - 1, total, labels[0], answers[0]))
    if total <= FEW:
        rng = np.random.default_rng(total)
        wanted, given = np.repeat(np.arange(len(counts)), labels), np.repeat(np.arange(len(counts)), answers)
        reached = sum(int((rng.permutation(given) == wanted).sum()) >= hits for _ in range(DRAWS))
        return (reached + 1) / (DRAWS + 1)
    share = labels * answers / total
    # The cells of a table with fixed margins are hypergeometric, and their covariances are those of one.
    scale = total**2 * (total - 1.0)
    own = float((labels * answers * (total - labels) * (total - answers)).sum()) / scale
    pairs = float((labels * answers).sum()) ** 2 - float(((labels * answers) ** 2).sum())
    # Half an agreement less, because agreements are whole numbers.
    return float(norm.sf((hits - 0.5 - float(share.sum())) / sqrt(own + pairs / scale)))


def _matrix(table: Table) -> "np.ndarray[tuple[int, int], np.dtype[np.int_]]":
    """The counts with the same classes in both directions."""
    import numpy as np

    names = sorted(table.keys() | {answer for row in table.values() for answer in row})
    return np.array([[table.get(label, {}).get(answer, 0) for answer in names] for label in names], dtype=int)
