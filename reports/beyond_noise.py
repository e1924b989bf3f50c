"""What edits did beyond noise, for the rows of a model under some transforms.

Called by `summarise`. The estimates and their tests are in `codeaudit.reports.statistics.excess`.

A sample's variants are compared with as many of its repeats: of V judged variants and R judged repeats, with
the first min(V, R) of both. A model is *steady* if it runs here, each sample was repeated at most once, and
no repeat changed: its noise counts as zero, however many variants a sample has.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from codeaudit.reports.digests import ClusterRow, Clusters, TrialDigest
from codeaudit.reports.records import NOTHING, Excess, Rate, Repeats
from codeaudit.reports.statistics.differences import excess_of
from codeaudit.reports.statistics.excess import sample_excess
from codeaudit.reports.statistics.intervals import rate_of
from codeaudit.reports.statistics.shuffles import shuffled


class BeyondNoise(NamedTuple):
    """The numbers of some transforms; the fields are those of `ByTransform`."""

    noise: Rate = NOTHING
    excess: Excess = Excess()
    pair_excess: Excess = Excess()
    violated_steady: int = 0
    unsteady_kept: int = 0


def is_steady(trials: Sequence[TrialDigest], *, hosted: bool) -> bool:
    """Whether the noise of a model counts as zero.

    A model that nobody asked again is not known to be steady. Of a hosted model noise may go unseen.
    """
    again = [table for one in trials for key, table in one.clusters.items() if key[:2] == ("identity", None)]
    asked = any(table.samples for table in again)
    return (
        not hosted
        and asked
        and repeats_of(trials).per_sample <= 1
        and not any(any(table.changed) for table in again)
    )


def repeats_of(trials: Iterable[TrialDigest]) -> Repeats:
    """How often the samples of a model were asked again."""
    most = max((one.most_repeats for one in trials), default=0)
    return Repeats(per_sample=most, stages=min(most, 2))


def beyond_noise(tables: Iterable[Clusters], *, steady: bool, seed: int) -> BeyondNoise:
    """The noise and the excess over samples. Of several trials a sample is one cluster.

    Rows without a repeat count only if the model is steady. `seed` is that of the resampling.
    """
    samples: dict[int, list[ClusterRow]] = defaultdict(list)
    bare = 0
    for row in (row for table in tables for row in table.rows()):
        if row.repeats or steady:
            samples[row.sample].append(row)
        else:
            bare += row.violated
    if not samples:
        return BeyondNoise(violated_steady=bare)
    units = {key: [_unit(row, steady=steady) for row in rows] for key, rows in samples.items()}
    asked = [unit for rows in units.values() for unit in rows]
    again = {key: [row.unsteady for row in rows if row.repeats] for key, rows in samples.items()}
    return BeyondNoise(
        noise=rate_of(Counter((sum(each), len(each)) for each in again.values() if each), seed=seed),
        excess=_sample_excess(units),
        pair_excess=_pair_excess(units, samples),
        violated_steady=bare + sum(one.violated and not one.unsteady for one in asked),
        unsteady_kept=sum(one.unsteady and not one.violated for one in asked),
    )


class _Unit(NamedTuple):
    """One observation: whether it is violated and unsteady, and its difference over pairs of answers."""

    violated: bool
    unsteady: bool
    pairs: Fraction


def _unit(row: ClusterRow, *, steady: bool) -> _Unit:
    if steady:
        return _Unit(row.changed > 0, False, Fraction(row.changed, row.judged))
    originals = row.repeats + 1
    across = Fraction(row.across, originals * row.judged)
    return _Unit(row.violated, row.unsteady, across - Fraction(row.within, originals * row.repeats // 2))


def _pair_excess(units: Mapping[int, Sequence[_Unit]], samples: Mapping[int, Sequence[ClusterRow]]) -> Excess:
    found = excess_of(_shares({key: [one.pairs for one in each] for key, each in units.items()}))
    rows = [row for each in samples.values() for row in each]
    # Several trials ask one sample again: its answers in all of them are not exchangeable.
    if len(rows) > len(samples) or not all(row.table for row in rows):
        return found
    return replace(found, p=shuffled([row.table for row in rows]))


def _sample_excess(units: Mapping[int, Sequence[_Unit]]) -> Excess:
    if all(len(each) == 1 for each in units.values()):
        return sample_excess(sorted((one.violated, one.unsteady) for each in units.values() for one in each))
    differences = {
        key: [Fraction(int(one.violated) - int(one.unsteady)) for one in each] for key, each in units.items()
    }
    return excess_of(_shares(differences))


def _shares(differences: Mapping[int, Sequence[Fraction]]) -> list[Fraction]:
    """One difference for each sample, whose mean is that of all observations."""
    scale = Fraction(len(differences), sum(map(len, differences.values())))
    return [sum(each, Fraction(0)) * scale for each in differences.values()]
