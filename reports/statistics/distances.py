"""How far an edit moves the distribution of a sampled model's answers.

At a temperature above 0 an answer is a draw. The original and each variant are asked several times. The
*distance* of a sample is the mean disagreement across (an answer to the original against one to a variant),
minus half the sum of the mean disagreements within each. It is unbiased for half the squared distance
(L2) of the two distributions, which is 0 only where they are equal. So it may be below 0 by chance.

References
----------
Székely and Rizzo (2013), Energy statistics: a class of statistics based on distances. Gretton, Borgwardt,
Rasch, Schölkopf and Smola (2012), A kernel two-sample test, for the unbiased estimate and its test.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import factorial, prod
from typing import TYPE_CHECKING, Final, NamedTuple

from codeaudit.reports.records import Excess
from codeaudit.reports.statistics.excess import estimated

if TYPE_CHECKING:
    import numpy as np

ARRANGEMENTS: Final = 2_000
"""Largest number of ways to deal out a sample's answers for its exact test."""
SHUFFLES: Final = 4_999
"""Number of ways that are drawn where there are more, and for the test over samples."""
CLOSE: Final = 1e-9
"""Distances that differ by less are equal."""

Draws = tuple[tuple[int, ...], ...]
"""One sample: of each different answer, how often the original got it, and how often each variant did."""


class Distance(NamedTuple):
    """How far one sample's answers moved."""

    points: Fraction
    p: float
    """How often shuffled answers have at least this distance."""


def counted(originals: Sequence[object], variants: Sequence[Sequence[object]]) -> Draws | None:
    """The draws of a sample; `None` if the original or all variants have fewer than two answers.

    Answers that are the same have to be equal. A variant with fewer than two answers is left out.
    """
    groups = [Counter(one) for one in (originals, *(each for each in variants if len(each) > 1))]
    if len(originals) < 2 or len(groups) < 2:
        return None
    every = Counter(answer for group in groups for answer in group.elements())
    # Sorted, so that no number depends on the order or on the words of the answers.
    return tuple(sorted(tuple(group[answer] for group in groups) for answer in every))


def distance(draws: Draws) -> Fraction:
    """The distance of a sample; with several variants, the mean over them."""
    sizes = _sizes(draws)
    first = sizes[0]
    total = Fraction(0)
    for n, size in enumerate(sizes[1:], 1):
        # Shares of pairs that agree. The ones cancel.
        across = Fraction(sum(row[0] * row[n] for row in draws), first * size)
        before = Fraction(sum(row[0] * (row[0] - 1) for row in draws), first * (first - 1))
        after = Fraction(sum(row[n] * (row[n] - 1) for row in draws), size * (size - 1))
        total += (before + after) / 2 - across
    return total / (len(sizes) - 1)


def sample_distance(draws: Draws, *, seed: int = 0) -> Distance:
    """The distance of one sample with its test, one-sided: answers are dealt out anew.

    Exact where there are at most `ARRANGEMENTS` ways to do so, else from `SHUFFLES` drawn ones.
    """
    import numpy as np

    found = distance(draws)
    every, exact = _dealt(_pool(draws), _sizes(draws), seed)
    reached = every >= float(found) - CLOSE
    # The answers that were found are one of the drawn orders, so that p is never 0.
    return Distance(found, float(np.mean(reached)) if exact else (int(reached.sum()) + 1) / (SHUFFLES + 1))


def mean_distance(samples: Sequence[Draws], *, seed: int = 0) -> Excess:
    """The mean distance over samples, with its 95 % interval and a combined test.

    Notes
    -----
    Under no effect the answers of each sample are exchangeable. So they are shuffled within each sample, and
    p is how often the mean of shuffled answers is at least the one that was found, one-sided. Signs cannot
    be flipped: a distance is not symmetric around 0. The interval is that of `pair_excess`.
    """
    import numpy as np

    # Sorted, so that drawn numbers do not depend on the order of the samples.
    ordered = sorted(samples)
    distances = [distance(draws) for draws in ordered]
    rng = np.random.default_rng(seed)
    total = np.zeros(SHUFFLES)
    for draws in ordered:
        pool = _pool(draws)
        # Answers that are all equal have a distance of 0, however they are dealt out.
        if len(pool) > 1:
            total += _distances(_shuffled(pool, rng), _sizes(draws))
    found = float(sum(distances, Fraction(0)))
    return estimated(distances, (int((total >= found - CLOSE).sum()) + 1) / (SHUFFLES + 1))


def _pool(draws: Draws) -> tuple[int, ...]:
    """Return how often each different answer was given."""
    return tuple(sorted(map(sum, draws)))


def _sizes(draws: Draws) -> tuple[int, ...]:
    """Return the number of answers to the original and to each variant."""
    return tuple(map(sum, zip(*draws, strict=True)))


@lru_cache(maxsize=256)
def _dealt(
    pool: tuple[int, ...], sizes: tuple[int, ...], seed: int
) -> tuple["np.ndarray[tuple[int], np.dtype[np.float64]]", bool]:
    """Return the distances of answers that are dealt out anew, and whether in all ways."""
    import numpy as np

    ways = factorial(sum(pool)) // prod(map(factorial, pool))
    if ways <= ARRANGEMENTS:
        return _distances(np.array(list(_arrangements(pool))), sizes), True
    return _distances(_shuffled(pool, np.random.default_rng([seed, *pool])), sizes), False


def _shuffled(
    pool: tuple[int, ...], rng: "np.random.Generator"
) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    """Return the answers in random orders, one in each row."""
    import numpy as np

    answers = np.repeat(np.arange(len(pool)), pool)
    return rng.permuted(np.broadcast_to(answers, (SHUFFLES, len(answers))), axis=1)


def _arrangements(pool: tuple[int, ...]) -> Iterator[list[int]]:
    """Yield the answers in all orders that differ."""

    def placed(answer: int, free: tuple[int, ...]) -> Iterator[dict[int, int]]:
        if answer == len(pool):
            yield {}
            return
        for places in combinations(free, pool[answer]):
            for rest in placed(answer + 1, tuple(sorted({*free} - {*places}))):
                yield {**dict.fromkeys(places, answer), **rest}

    for order in placed(0, tuple(range(sum(pool)))):
        yield [order[place] for place in range(len(order))]


def _distances(
    answers: "np.ndarray[tuple[int, int], np.dtype[np.int64]]", groups: tuple[int, ...]
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return the distance of each row, whose answers belong to groups of these sizes."""
    import numpy as np

    sizes = np.array(groups)
    starts = np.cumsum(sizes) - sizes
    across = np.zeros((len(answers), len(sizes) - 1))
    within = np.zeros((len(answers), len(sizes)))
    for answer in range(int(answers.max()) + 1):
        counts = np.add.reduceat((answers == answer).astype(np.int64), starts, axis=1)
        across += counts[:, :1] * counts[:, 1:]
        within += counts * (counts - 1)
    within /= sizes * (sizes - 1)
    across /= sizes[0] * sizes[1:]
    return np.asarray((within[:, 0] + within[:, 1:].mean(axis=1)) / 2 - across.mean(axis=1))
