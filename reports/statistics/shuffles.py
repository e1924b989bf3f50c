"""Whether variants are answered like originals: answers are shuffled within each sample.

Where an edit has no effect, all answers of a sample are exchangeable: which of them were given to originals
and which to variants is as if dealt out at random. So the test is exact, however noise is spread over samples
and however skewed the differences are. Sign flips over samples need differences that are symmetric around 0.
They are not exact here, and they show less: a sample with five equal answers to originals and four equal
others to variants is one coin for them; for a shuffle it has a chance of 1 in 126.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import comb, lcm, sqrt
from typing import Final, NamedTuple

CELLS: Final = 1_000_000
"""Largest number of cells of an exact distribution; beyond it the sum is taken as normal."""
DIGITS: Final = 12
"""Decimals of an exact p, which is at least one in the last of them."""

Table = tuple[tuple[int, int], ...]
"""One sample: of each different answer, how many originals and how many variants have it."""


class Pool(NamedTuple):
    """The answers of a sample, without who gave them."""

    sizes: tuple[int, ...]
    """How often each different answer occurs, largest first."""
    originals: int
    """Number of answers to the original."""

    @property
    def variants(self) -> int:
        """Number of answers to variants."""
        return sum(self.sizes) - self.originals

    @property
    def unit(self) -> int:
        """A common denominator of all differences."""
        pairs = self.originals * (self.originals - 1) // 2
        return lcm(self.originals * self.variants, pairs)


def tabled(originals: Sequence[object], variants: Sequence[object]) -> Table:
    """The table of a sample; answers that are the same have to be equal."""
    first, second = Counter(originals), Counter(variants)
    return tuple((first[answer], second[answer]) for answer in first | second)


def difference(table: Table) -> Fraction:
    """Share of pairs (original, variant) of answers that differ, minus that of pairs of two originals.

    At least two answers to the original and one to a variant are needed.
    """
    originals, variants = (sum(column) for column in zip(*table, strict=True))
    across = Fraction(sum(one * other for one, other in table), originals * variants)
    within = Fraction(sum(count * (count - 1) for count, _ in table), originals * (originals - 1))
    return within - across


def shuffled(tables: Sequence[Table], *, above: bool = False) -> float:
    """How often shuffled answers give a sum of differences as far out as the one that was found.

    Two-sided: twice the smaller tail; `above`: the upper tail. Exact where the distribution has at most
    `CELLS` cells, else from its exact variance and a normal distribution.

    References
    ----------
    Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, chapter 3. Pesarin (2001),
    Multivariate Permutation Tests, for permutations within blocks.
    """
    pools = Counter(pool for table in tables if len((pool := pooled(table)).sizes) > 1)
    if not pools:
        return 1.0
    unit = lcm(*(pool.unit for pool in pools))
    observed = int(sum((difference(table) for table in tables), Fraction(0)) * unit)
    upper, lower = tails(sorted(pools.items()), unit, observed)
    return upper if above else min(1.0, 2 * min(upper, lower))


def pooled(table: Table) -> Pool:
    """The answers of a sample, without who gave them."""
    sizes = sorted((one + other for one, other in table), reverse=True)
    return Pool(tuple(sizes), sum(count for count, _ in table))


def tails(pools: Sequence[tuple[Pool, int]], unit: int, observed: int) -> tuple[float, float]:
    """The chances of a sum of at least and of at most `observed`, in units.

    `pools` has the number of samples with each pool.
    """
    import numpy as np
    from scipy.fft import irfft, next_fast_len, rfft
    from scipy.special import ndtr

    chances = [(shuffles(pool), unit // pool.unit, times) for pool, times in pools]
    low = sum(min(table) * scale * times for table, scale, times in chances)
    high = sum(max(table) * scale * times for table, scale, times in chances)
    if high - low >= CELLS:
        variance = sum(spread(pool) * times for pool, times in pools) * unit**2
        # Half a unit belongs to the tail, because sums are whole numbers.
        upper, lower = ((total - 0.5) / sqrt(variance) for total in (observed, -observed))
        return float(ndtr(-upper)), float(ndtr(-lower))
    cells = next_fast_len(high - low + 1, real=True)
    waves = np.ones(cells // 2 + 1, dtype=np.complex128)
    for table, scale, times in chances:
        mass = np.zeros(cells)
        for value, chance in table.items():
            mass[value * scale % cells] += chance
        waves *= rfft(mass) ** times
    # Beginning with the lowest sum.
    every = np.roll(irfft(waves, cells), -low)[: high - low + 1]
    both = float(every[observed - low :].sum()), float(every[: observed - low + 1].sum())
    # A Fourier transform leaves errors in the last digits, which differ between computers.
    upper, lower = (min(1.0, max(10.0**-DIGITS, round(chance, DIGITS))) for chance in both)
    return upper, lower


@cache
def shuffles(pool: Pool) -> dict[int, float]:
    """The chance of each difference of a sample, in its units, where its answers are dealt out at random."""
    across = pool.unit // (pool.originals * pool.variants)
    within = pool.unit // (pool.originals * (pool.originals - 1) // 2)
    # Of each answer some go to originals: the ways to deal out the answers so far, by how many originals have
    # one, and by the difference.
    ways = {(0, 0): 1}
    for size in pool.sizes:
        grown: dict[tuple[int, int], int] = {}
        for (dealt, value), number in ways.items():
            for count in range(min(size, pool.originals - dealt) + 1):
                more = within * (count * (count - 1) // 2) - across * count * (size - count)
                key = dealt + count, value + more
                grown[key] = grown.get(key, 0) + number * comb(size, count)
        ways = grown
    every = comb(sum(pool.sizes), pool.originals)
    return {value: number / every for (dealt, value), number in ways.items() if dealt == pool.originals}


@cache
def spread(pool: Pool) -> float:
    """The variance of a sample's difference where its answers are dealt out at random; its mean is 0."""
    return sum(chance * (value / pool.unit) ** 2 for value, chance in shuffles(pool).items())
