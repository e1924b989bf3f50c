"""Robust pass@k for tasks whose answers are attempts, with intervals over problems.

References
----------
Chen et al. (2021), Evaluating large language models trained on code, arXiv 2107.03374: pass@k.
Wang et al. (2022), ReCode: robustness evaluation of code generation models, arXiv 2212.10264: robust pass,
robust drop and robust relative over s perturbed prompts.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Final, TypeAlias

from codeaudit.audit.records import Answer
from codeaudit.reports.observations import Observation, Pair
from codeaudit.reports.records import UNKNOWN, Estimate, Excess, RobustPass
from codeaudit.reports.statistics.excess import excess_of
from codeaudit.reports.statistics.intervals import FEW_CLUSTERS, RESAMPLES, wilson


def pass_at(attempts: int, passed: int, k: int) -> float:
    """Return the unbiased pass@k for n attempts of which c passed: 1 - C(n - c, k) / C(n, k).

    Requires `1 <= k <= attempts` (Chen et al. 2021, equation 1).
    """
    # The share of the sets of k attempts in which none passes, taken from 1. Whole numbers, so that no factor
    # is lost to rounding; `comb` is 0 where fewer than k attempts failed.
    return 1 - comb(attempts - passed, k) / comb(attempts, k)


@dataclass(frozen=True, slots=True)
class Problem:
    """The attempts at one problem: for its own prompt and for each perturbed prompt, the same number each."""

    nominal: tuple[bool, ...]
    perturbed: tuple[tuple[bool, ...], ...]
    """One tuple per perturbed prompt; at least one."""
    first: tuple[tuple[bool, ...], ...] = ()
    """As many perturbed prompts as repeats, in their order."""
    repeats: tuple[tuple[bool, ...], ...] = ()
    """As many repeats of the prompt as `first` has prompts; of a steady model its own attempts, once."""

    def lost(self, k: int) -> tuple[Fraction, Fraction]:
        """Return robust pass@k over the repeats, and what the first perturbed prompts lose against it."""
        number = len(self.nominal)
        again, perturbed = (
            1 - Fraction(comb(number - sum(map(all, zip(*several, strict=True))), k), comb(number, k))
            for several in (self.repeats, self.first)
        )
        return again, again - perturbed

    def at(self, k: int) -> tuple[float, float, float]:
        """Return pass@k, robust pass@k and robust relative@k.

        Attempt n is robust if attempt n passes on every perturbed prompt. Attempt n changed if its result
        differs on some perturbed prompt; changes for the worse and for the better are counted separately and
        added.
        """
        number = len(self.nominal)
        # Attempt n of the prompt is compared with attempt n of each variant: column n.
        columns = list(zip(*self.perturbed, strict=True))
        robust = sum(map(all, columns))
        pairs = list(zip(self.nominal, columns, strict=True))
        worse = sum(before and not all(after) for before, after in pairs)
        better = sum(not before and any(after) for before, after in pairs)
        # RR counts both directions, so a model that gets better under an edit is not robust either. The sum
        # may exceed 1 for k above 1.
        changed = pass_at(number, worse, k) + pass_at(number, better, k)
        return pass_at(number, sum(self.nominal), k), pass_at(number, robust, k), changed


def mean(values: Sequence[float], *, seed: int) -> Estimate:
    """Return the mean of shares over problems with its 95 % interval.

    Wilson's interval is used for outcomes of 0 and 1 and for few problems; otherwise a bootstrap over
    problems.
    """
    if not values:
        return UNKNOWN
    value = sum(values) / len(values)
    # A bootstrap of equal values has no width, and outcomes of 0 and 1 are counts, which Wilson's interval
    # fits.
    if len(values) < FEW_CLUSTERS or set(values) <= {0.0, 1.0} or len(set(values)) == 1:
        # Robust relative may have a mean above 1, which is no proportion.
        low, high = wilson(min(value, 1.0) * len(values), len(values))
    else:
        low, high = _resampled([values], lambda means: means[0], seed=seed) or (value, value)
    return Estimate(value=value, low=min(low, value), high=max(high, value))


def drop(nominal: Sequence[float], robust: Sequence[float], *, seed: int) -> Estimate:
    """Return the relative loss of `robust` against `nominal`, with a bootstrap interval over problems.

    The value is unknown if `nominal` is 0. The interval is unknown for fewer than `FEW_CLUSTERS` problems.
    """
    # A model that solves nothing can lose nothing: 0 / 0.
    if not sum(nominal):
        return UNKNOWN
    value = 1 - sum(robust) / sum(nominal)
    if len(nominal) < FEW_CLUSTERS:
        return Estimate(value=value)
    interval = _resampled([nominal, robust], lambda means: 1 - means[1] / means[0], seed=seed)
    low, high = interval or (value, value)
    return Estimate(value=value, low=min(low, value), high=max(high, value))


def _resampled(
    columns: Sequence[Sequence[float]], statistic: Callable[[Sequence[float]], float], *, seed: int
) -> tuple[float, float] | None:
    """Return both ends of the bootstrap interval over rows; `None` if no draw has a positive first mean."""
    import numpy as np

    table = np.array(columns, dtype=float)
    size = table.shape[1]
    # One draw of rows for all columns: nominal and robust results of a problem stay together.
    rows = np.random.default_rng(seed).integers(size, size=(RESAMPLES, size))
    means = table[:, rows].mean(axis=2).T
    drawn = [statistic(row) for row in means if len(columns) == 1 or row[0] > 0]
    if not drawn:
        return None
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


Attempts: TypeAlias = Callable[[Answer], tuple[bool, ...]]
"""Whether each attempt of an answer succeeded: `Task.attempts`."""

COUNTS: Final = (1, 5, 10, 100)
"""Values of k to report, if that many attempts were made."""


def robust(
    observations: Iterable[Observation], attempts: Attempts, *, seed: int, steady: bool = False
) -> tuple[RobustPass, ...]:
    """Return the results of one model over all trials; those under all transforms together come first.

    Each result covers the problems that have a judged variant, so all its numbers are over the same problems.
    Where no problem has one, several attempts still have their pass@k, over all problems.
    Variants with equal text, for example from two trials, count once. If prompts got different numbers of
    attempts, the first ones count. As many repeats of the prompt as variants show what noise alone loses; the
    noise of a `steady` model counts as zero.
    """
    firsts: dict[str, tuple[bool, ...]] = {}
    by_transform: dict[str, dict[str, dict[str, tuple[bool, ...]]]] = defaultdict(lambda: defaultdict(dict))
    repeats: dict[str, list[tuple[bool, ...]]] = defaultdict(list)
    for observation in observations:
        if observation.answer is None or observation.score is None:
            continue
        repeats[observation.sample.id] += [
            attempts(answer) for answer in _in_order(observation.judged("identity"))
        ]
        # The original prompt is the same in every trial; its first answer counts.
        firsts.setdefault(observation.sample.id, attempts(observation.answer))
        for pair in sorted(observation.judged("preserving"), key=lambda pair: (pair.variant, pair.transform)):
            if pair.answer is not None:
                tried = attempts(pair.answer)
                by_transform[""][observation.sample.id][pair.input] = tried
                by_transform[pair.transform][observation.sample.id][pair.input] = tried
    if not by_transform:
        return _unperturbed(list(firsts.values()), seed)
    return tuple(
        block
        for transform in ["", *sorted(by_transform.keys() - {""})]
        for block in _blocks(transform, firsts, by_transform[transform], None if steady else repeats, seed)
    )


def _unperturbed(problems: Sequence[tuple[bool, ...]], seed: int) -> tuple[RobustPass, ...]:
    """pass@k alone, for each value of k; nothing for single attempts, whose share is the score."""
    attempts = min(map(len, problems), default=0)
    if attempts < 2:
        return ()
    return tuple(
        RobustPass(
            transform="",
            k=k,
            attempts=attempts,
            problems=len(problems),
            variants=0,
            most_variants=0,
            nominal=mean([pass_at(attempts, sum(problem[:attempts]), k) for problem in problems], seed=seed),
            robust=UNKNOWN,
            drop=UNKNOWN,
            relative=UNKNOWN,
        )
        for k in COUNTS
        if k <= attempts
    )


def _in_order(pairs: Iterable[Pair]) -> list[Answer]:
    ordered = sorted(pairs, key=lambda pair: pair.variant)
    return [pair.answer for pair in ordered if pair.answer is not None]


def _blocks(
    transform: str,
    firsts: Mapping[str, tuple[bool, ...]],
    by_sample: Mapping[str, Mapping[str, tuple[bool, ...]]],
    repeats: Mapping[str, Sequence[tuple[bool, ...]]] | None,
    seed: int,
) -> list[RobustPass]:
    """One result per value of k."""
    if not by_sample:
        return []
    # pass@k compares equal numbers of attempts: an endpoint may have returned fewer for one prompt.
    again = repeats or {}
    attempts = min(
        len(tried)
        for key, variants in by_sample.items()
        for tried in (firsts[key], *variants.values(), *again.get(key, ()))
    )
    problems = [
        # Of a steady model each prompt is its own repeat, as often as it has variants.
        _problem(
            firsts[key], list(by_sample[key].values()), again.get(key, ()), attempts, steady=repeats is None
        )
        for key in sorted(by_sample)
    ]
    return [_block(transform, problems, k, attempts, seed) for k in COUNTS if k <= attempts]


def _problem(
    original: tuple[bool, ...],
    variants: Sequence[tuple[bool, ...]],
    repeats: Sequence[tuple[bool, ...]],
    attempts: int,
    *,
    steady: bool,
) -> Problem:
    nominal, perturbed = original[:attempts], tuple(variant[:attempts] for variant in variants)
    if steady:
        return Problem(nominal, perturbed, perturbed, (nominal,))
    most = min(len(variants), len(repeats))
    return Problem(
        nominal, perturbed, perturbed[:most], tuple(repeat[:attempts] for repeat in repeats[:most])
    )


def _block(transform: str, problems: Sequence[Problem], k: int, attempts: int, seed: int) -> RobustPass:
    nominal, kept, changed = zip(*(problem.at(k) for problem in problems), strict=True)
    sizes = [len(problem.perturbed) for problem in problems]
    repeated, excess = _beyond_noise(problems, k, seed)
    return RobustPass(
        transform=transform,
        k=k,
        attempts=attempts,
        problems=len(problems),
        variants=sum(sizes),
        most_variants=max(sizes),
        nominal=mean(nominal, seed=seed),
        robust=mean(kept, seed=seed),
        drop=drop(nominal, kept, seed=seed),
        relative=mean(changed, seed=seed),
        repeated=repeated,
        excess=excess,
    )


def _beyond_noise(problems: Sequence[Problem], k: int, seed: int) -> tuple[Estimate, Excess]:
    """Robust pass@k over the repeats, and what as many variants lose against it."""
    losses = [problem.lost(k) for problem in problems if problem.repeats]
    if not losses:
        return UNKNOWN, Excess()
    again, lost = zip(*losses, strict=True)
    return mean([float(share) for share in again], seed=seed), excess_of(lost)
