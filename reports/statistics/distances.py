"""How far an edit moves the distribution of a sampled model's answers.

At a temperature above 0 an answer is a draw, so the original and each variant are drawn several times. The
*distance* of a sample is the mean disagreement across (a draw for the original against one for a variant),
minus half the sum of the mean disagreements within each. It is unbiased for half the squared distance (L2)
of the two distributions, which is 0 only where they are equal. So it may be below 0 by chance.

Draws of one number may share their random numbers, as those of a model of this machine do. So no draw is
compared with that of its own number, and the test shuffles the draws of one number only.

References
----------
Székely and Rizzo (2013), Energy statistics: a class of statistics based on distances. Gretton, Borgwardt,
Rasch, Schölkopf and Smola (2012), A kernel two-sample test, for the unbiased estimate and its test.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from codeaudit.reports.records import Excess
from codeaudit.reports.statistics.adjustment import holm
from codeaudit.reports.statistics.excess import estimated

if TYPE_CHECKING:
    import numpy as np

Draws: TypeAlias = tuple[tuple[int, ...], ...]
"""One sample: a row for the original, then one for each variant. A row has a number for each draw; draws with
equal numbers are the same answer."""

SHUFFLES: Final = 4_999
"""Number of shuffles, where that is not too many for the size of the draws."""
CELLS: Final = 50_000_000
"""Largest number of draws in all shuffles together."""
LEAST_SHUFFLES: Final = 199
CLOSE: Final = 1e-9
"""Distances that differ by less are equal."""
LEVEL: Final = 0.05
LEAST, MOST = Fraction(-1, 2), Fraction(1)
"""The range of a distance."""


def numbered(original: Sequence[Hashable], variants: Sequence[Sequence[Hashable]]) -> Draws | None:
    """The draws of a sample; `None` without a variant, or with fewer than two draws.

    All must be drawn equally often.
    """
    rows = [original, *(variant for variant in variants if len(variant) == len(original))]
    if len(original) < 2 or len(rows) < 2:
        return None
    numbers: dict[Hashable, int] = {}
    return tuple(tuple(numbers.setdefault(answer, len(numbers)) for answer in row) for row in rows)


def distance(draws: Draws) -> Fraction:
    """The distance of a sample; with several variants, the mean over them."""
    first, *others = draws
    size = len(first)
    own = _agreeing(first, first)
    total = sum(own + _agreeing(other, other) - 2 * _agreeing(first, other) for other in others)
    return Fraction(total, 2 * size * (size - 1) * len(others))


def _agreeing(one: Sequence[int], other: Sequence[int]) -> int:
    """Number of pairs of draws with different numbers and the same answer."""
    pairs = sum(one.count(answer) * other.count(answer) for answer in set(one))
    return pairs - sum(mine == its for mine, its in zip(one, other, strict=True))


class Moved(NamedTuple):
    """How far the answers of a model moved."""

    distance: Excess = Excess()
    """The mean over samples, with its 95 % interval and the p of all samples together."""
    samples: int = 0
    """Number of samples whose own test has p at most 0.05, adjusted by Holm's method over all."""


def mean_distance(samples: Sequence[Draws], *, seed: int = 0) -> Moved:
    """The mean distance over samples, tested together and one by one.

    Notes
    -----
    Without an effect the draws of one number are exchangeable: which was the original's is as if dealt out.
    So they are shuffled within each sample, and p is how often the (mean) distance of shuffled draws is at
    least the one that was found (one-sided). The interval is that of the pair excess.
    """
    import numpy as np

    if not samples:
        return Moved()
    # Sorted, so that drawn numbers do not depend on the order of the samples.
    ordered = sorted(samples)
    distances = [distance(draws) for draws in ordered]
    cells = sum(len(draws) * len(draws[0]) for draws in ordered)
    times = max(LEAST_SHUFFLES, min(SHUFFLES, CELLS // cells))
    rng, total, single = np.random.default_rng(seed), np.zeros(times), []
    for draws, apart in zip(ordered, distances, strict=True):
        if len(set(draws)) > 1:
            shuffled = _shuffled(np.array(draws), times, rng)
            single.append(_share(shuffled, apart))
            total += shuffled
        else:
            single.append(1.0)
    estimate = estimated(distances, _share(total, sum(distances, Fraction(0))), least=LEAST, most=MOST)
    return Moved(estimate, sum(p <= LEVEL for p in holm(single)))


def _share(shuffled: "np.ndarray[tuple[int], np.dtype[np.float64]]", apart: Fraction) -> float:
    """Return the share of distances that reach the one that was found, which is one of them."""
    return (int((shuffled >= float(apart) - CLOSE).sum()) + 1) / (len(shuffled) + 1)


def _shuffled(
    draws: "np.ndarray[tuple[int, int], np.dtype[np.int64]]", times: int, rng: "np.random.Generator"
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return the distances of shuffled draws."""
    import numpy as np

    every = rng.permuted(np.broadcast_to(draws, (times, *draws.shape)), axis=1)
    rows, size = draws.shape
    across, within = np.zeros((times, rows - 1)), np.zeros((times, rows))
    for answer in range(int(draws.max()) + 1):
        counts = (every == answer).sum(axis=2)
        across += counts[:, :1] * counts[:, 1:]
        within += counts * (counts - 1)
    across -= (every[:, :1] == every[:, 1:]).sum(axis=2)
    moved = (within[:, :1] + within[:, 1:] - 2 * across).mean(axis=1)
    return np.asarray(moved / (2 * size * (size - 1)))
