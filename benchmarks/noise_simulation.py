"""How well the excess of an edit over noise is estimated, tested and bounded.

    python benchmarks/noise_simulation.py [--fast] [--runs 2000] [--markdown FILE]

Only the answers are simulated; intervals and tests are the tool's own. A model answers a query with its
stable answer or, by chance, with another one at random. An edit changes the stable answer for a share of the
samples. Each sample is asked once, then again as often as it has variants. What is varied:

- *noise*: 0, 1, 5 and 20 % of answers; *equal* for all samples, or in a few *hard* samples whose answers are
  random half of the time, or equal in a task with *two labels* only;
- *effect*: 0, 3 and 10 % of the samples, on all variants or on one of them;
- variants: 1 to 8; samples: 50 to 1,000.

A second part simulates *drift*: the model, or its noise, changes while it is asked. A third one checks the
plan: the effect that so many samples show in four of five runs.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import lcm
from pathlib import Path
from typing import Final, Literal, NamedTuple

import numpy as np

from codeaudit.reports.statistics.excess import AT_LEAST, AT_MOST, ENOUGH, LEAST, MOST, flips, sample_excess
from codeaudit.reports.statistics.intervals import Z
from codeaudit.reports.statistics.mcnemar import coin
from codeaudit.reports.statistics.power import detectable
from codeaudit.reports.statistics.shuffles import Pool, spread, tails

Whole = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Real = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Answers = np.ndarray[tuple[int, ...], np.dtype[np.int8]]
"""Runs x samples x answers. 0 is the stable answer, 1 that after an effect."""
Noise = Literal["equal", "hard", "two labels"]

NAMES: Final = 20
"""Number of different answers; 2 for labels."""
ALPHA: Final = 0.05
NOISES: Final = (0.0, 0.01, 0.05, 0.2)
EFFECTS: Final = (0.0, 0.03, 0.1)
DRIFT: Final = 0.1
"""Share of samples whose stable answer changes at some moment."""
FEW: Final = 10
"""Below this number of samples that differ an interval may be wider."""
CERTAIN: Final = 40
"""From this number of unsteady samples on a normal distribution decides where its answer is clear."""
NORMAL: Final = 150
"""From this number on it decides always, in this simulation."""
Z95: Final = 1.6448536269514722
"""The 95 % quantile of the normal distribution."""
CELLS: Final = 20_000_000
"""Answers that are drawn at once."""


@dataclass(frozen=True, slots=True)
class NoiseSetting:
    """A model, an edit, and how many answers are asked."""

    noise: float
    """Share of answers that are random."""
    effect: float
    """Share of samples whose stable answer is changed."""
    variants: int
    samples: int
    spread: Noise = "equal"
    one: bool = False
    """Whether the effect is on one variant only."""
    repeats: int = 0
    """0: as many as variants."""
    counted: bool = False
    """Whether exactly this share of the samples is affected, instead of each by chance."""

    @property
    def again(self) -> int:
        """Number of repeats."""
        return self.repeats or self.variants

    @property
    def names(self) -> int:
        """Number of different answers."""
        return 2 if self.spread == "two labels" else NAMES

    @property
    def unit(self) -> int:
        """Denominator of the differences of pairs."""
        return lcm((self.again + 1) * self.variants, (self.again + 1) * self.again // 2)

    def __str__(self) -> str:
        where = "" if not self.effect else " on one variant" if self.one else " on all variants"
        return (
            f"noise {100 * self.noise:g} % ({self.spread}), effect {100 * self.effect:g} %{where}, "
            f"{self.variants} variants, {self.samples} samples"
        )


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────


def answered(
    rng: np.random.Generator, stable: Whole | int, chance: Real | float, names: int, shape: tuple[int, ...]
) -> Answers:
    """The stable answer or, by chance, another one; all others are equally likely."""
    noisy = rng.random(shape, dtype=np.float32) < chance
    answers = np.broadcast_to(np.asarray(stable, dtype=np.int8), shape).copy()
    shift = rng.integers(1, names, size=int(noisy.sum()), dtype=np.int8)
    answers[noisy] = (answers[noisy] + shift) % names
    return answers


def drawn(rng: np.random.Generator, setting: NoiseSetting, runs: int) -> tuple[Answers, Answers]:
    """All answers to originals (the first and the repeats) and to variants."""
    shape = (runs, setting.samples, 1)
    chance: Real | float = setting.noise
    if setting.spread == "hard":
        chance = np.where(rng.random(shape) < 2 * setting.noise, 0.5, 0.0)
    affected = rng.random(shape) < setting.effect
    if setting.counted:
        first = np.arange(setting.samples)[None, :, None] < round(setting.effect * setting.samples)
        affected = np.broadcast_to(first, shape)
    moved = np.repeat(affected, setting.variants, axis=2)
    if setting.one:
        moved = moved & (np.arange(setting.variants) == 0)
    originals = answered(rng, 0, chance, setting.names, (*shape[:2], setting.again + 1))
    variants = answered(rng, moved.astype(np.int64), chance, setting.names, (*shape[:2], setting.variants))
    return originals, variants


def expected(setting: NoiseSetting) -> tuple[float, float]:
    """What the sample excess and the pair excess estimate: the difference of the two shares."""
    kinds = [(1.0, setting.noise)]
    if setting.spread == "hard":
        kinds = [(2 * setting.noise, 0.5), (1 - 2 * setting.noise, 0.0)]
    whole = pairs = 0.0
    for share, chance in kinds:
        before = np.full(setting.names, chance / (setting.names - 1))
        before[0] = 1 - chance
        after = before.copy()
        after[[0, 1]] = after[[1, 0]]
        for part, moved in ((setting.effect, True), (1 - setting.effect, False)):
            number = (1 if setting.one else setting.variants) if moved else 0
            kept = before ** (setting.variants - number) * after**number
            whole += share * part * float(np.sum(before ** (setting.again + 1)) - np.sum(before * kept))
            differ = np.sum(before**2) - np.sum(before * after)
            pairs += share * part * float(differ) * number / setting.variants
    return whole, pairs


class Differences(NamedTuple):
    """Of each run and sample."""

    whole: Whole
    """1: violated and steady, -1: unsteady and not violated."""
    pairs: Whole
    """Difference of pairs times `NoiseSetting.unit`."""


def measured(originals: Answers, variants: Answers, unit: int) -> Differences:
    """The differences of each sample on both scales."""
    first = originals[..., :1]
    whole = (variants != first).any(axis=2).astype(np.int64) - (originals != first).any(axis=2)
    cross = np.zeros(originals.shape[:2], dtype=np.int64)
    within = np.zeros_like(cross)
    number = originals.shape[2]
    for n in range(number):
        answer = originals[..., n : n + 1]
        cross += (variants != answer).sum(axis=2)
        within += (originals[..., n + 1 :] != answer).sum(axis=2)
    pairs = cross * (unit // (number * variants.shape[2])) - within * (unit // (number * (number - 1) // 2))
    return Differences(whole, pairs)


# ── what the tool says of it ─────────────────────────────────────────────────────────────────────────────


class Limits95(NamedTuple):
    """The ends of an interval in each run."""

    low: Real
    high: Real

    def hold(self, value: float) -> float:
        """How often the interval holds a value."""
        return float(np.mean((self.low <= value + 1e-12) & (self.high >= value - 1e-12)))


def sums(values: Real) -> tuple[Real, Real, Real]:
    """The sums of the first three powers over samples."""
    return values.sum(axis=1), (values**2).sum(axis=1), (values**3).sum(axis=1)


def wald(values: Real, added: float) -> Limits95:
    """Wald's interval after `added` samples with 1 and as many with -1: with one, Bonett and Price's."""
    number = values.shape[1]
    total, squares, _ = sums(values)
    middle = total / (number + 2 * added)
    variance = (squares + 2 * added) / (number + 2 * added) - middle**2
    spread = Z * np.sqrt(np.maximum(0.0, variance) / (number + 2 * added))
    return around(total / number, middle - spread, middle + spread, -1.0)


def around(points: Real, low: Real, high: Real, least: float) -> Limits95:
    """An interval within the range and around the estimate."""
    return Limits95(np.maximum(least, np.minimum(points, low)), np.minimum(1.0, np.maximum(points, high)))


def bootstrapped(values: Real) -> Limits95:
    """The interval of `pair_excess`, for all runs at once."""
    number = values.shape[1]
    first, squares, cubes = sums(values)
    total = first
    share = np.minimum(1.0, ENOUGH / np.maximum((values != 0).sum(axis=1), 1))
    for value, times in ((float(LEAST), AT_LEAST * share), (float(MOST), AT_MOST * share)):
        first, squares, cubes = (
            moment + times * value**power for power, moment in enumerate((first, squares, cubes), 1)
        )
    weight = number + (AT_LEAST + AT_MOST) * share
    mean = first / weight
    second = squares / weight - mean**2
    third = cubes / weight - 3 * mean * squares / weight + 2 * mean**3
    spread = np.sqrt(second / (weight + 1))
    shift = (Z**2 - 1) / 6 * 2 * np.sqrt(weight + 1) / (weight + 2) * third / second**1.5
    return around(total / number, mean + spread * (shift - Z), mean + spread * (shift + Z), float(LEAST))


@cache
def mcnemar_p(more: int, less: int) -> tuple[float, float]:
    """The two-sided p of the sample excess, and the one-sided one for an excess above 0."""
    return sample_excess([(1, 0)] * more + [(0, 1)] * less).p or 1.0, coin(more, less)


@cache
def flips_p(kinds: tuple[tuple[int, int], ...]) -> tuple[float, float]:
    """The same of the pair excess, from how often each difference occurs."""
    differences = [Fraction(value) for value, times in kinds for _ in range(times)]
    return flips(differences), flips(differences, above=True)


def whole_rejections(whole: Whole) -> Real:
    """How often the two-sided and the one-sided test of the sample excess reject."""
    more, less = ((whole == sign).sum(axis=1).tolist() for sign in (1, -1))
    ps = np.array([mcnemar_p(*counts) for counts in zip(more, less, strict=True)])
    return np.asarray((ps <= ALPHA).mean(axis=0))


def flip_rejections(pairs: Whole) -> Real:
    """How often sign flips on the pair excess reject, two-sided and one-sided.

    Where many samples moved and the sum is far from the limits of a normal distribution, that decides.
    """
    first, squares, _ = sums(pairs.astype(np.float64))
    moved = (pairs != 0).sum(axis=1)
    size = first / np.sqrt(np.maximum(squares, 1.0))
    certain = (moved >= CERTAIN) & ((np.abs(size) > 2.4) | (np.abs(size) < 1.3)) | (moved >= NORMAL)
    rejected = np.stack([np.abs(size) > Z, size > Z95], axis=1)
    for run in np.flatnonzero(~certain):
        values, times = np.unique(pairs[run][pairs[run] != 0], return_counts=True)
        kinds = tuple(zip(values.tolist(), times.tolist(), strict=True))
        rejected[run] = np.less_equal(flips_p(kinds), ALPHA)
    return np.asarray(rejected.mean(axis=0))


@cache
def shuffled_p(pools: tuple[tuple[Pool, int], ...], unit: int, excess: int) -> tuple[float, float]:
    """The two-sided and the one-sided p of the pair excess, from how often each pool of answers occurs."""
    if not pools:
        return 1.0, 1.0
    upper, lower = tails(pools, unit, excess)
    return 2 * min(upper, lower), upper


def weights(answers: int) -> list[int]:
    """What an answer that occurs 0, 1, 2, … times adds to the code of a pool with so many answers."""
    added = [0, 1]
    for size in range(1, answers):
        added.append(added[-1] * (answers // size + 1))
    return added


@cache
def pool_of(code: int, answers: int, originals: int) -> Pool:
    """The pool with this code."""
    sizes: list[int] = []
    for size, weight in reversed(list(enumerate(weights(answers)))[1:]):
        times, code = divmod(code, weight)
        sizes += [size] * times
    return Pool(tuple(sizes), originals)


def pooled_codes(originals: Answers, variants: Answers, names: int) -> Whole:
    """A code for the pool of each sample: how many answers occur once, twice, and so on."""
    pooled = np.concatenate([originals, variants], axis=2)
    weight = np.array(weights(pooled.shape[2]))
    codes = np.zeros(pooled.shape[:2], dtype=np.int64)
    for name in range(names):
        codes += weight[(pooled == name).sum(axis=2)]
    return codes


def shuffle_rejections(pairs: Whole, codes: Whole, setting: NoiseSetting) -> Real:
    """How often shuffled answers reject, two-sided and one-sided.

    Where many samples are unsteady and the sum is far from the limits of a normal distribution, that decides.
    """
    answers = setting.again + 1 + setting.variants
    every, place = np.unique(codes, return_inverse=True)
    pools = [pool_of(int(code), answers, setting.again + 1) for code in every]
    moving = np.array([len(pool.sizes) > 1 for pool in pools])
    variances = np.array([spread(pool) for pool in pools]) * setting.unit**2
    place = place.reshape(codes.shape)
    moved = moving[place].sum(axis=1)
    size = pairs.sum(axis=1) / np.sqrt(np.maximum(variances[place].sum(axis=1), 1.0))
    certain = (moved >= CERTAIN) & ((np.abs(size) > 2.8) | (np.abs(size) < 1.2)) | (moved >= NORMAL)
    rejected = np.stack([np.abs(size) > Z, size > Z95], axis=1)
    for run in np.flatnonzero(~certain):
        numbers = np.bincount(place[run], minlength=len(pools))
        kinds = tuple((pools[n], int(numbers[n])) for n in np.flatnonzero(numbers) if moving[n])
        rejected[run] = np.less_equal(shuffled_p(kinds, setting.unit, int(pairs[run].sum())), ALPHA)
    return np.asarray(rejected.mean(axis=0))


class Simulated(NamedTuple):
    """How good estimates, intervals and tests were; means over runs."""

    setting: NoiseSetting
    runs: int
    whole: float
    """The sample excess."""
    pairs: float
    whole_expected: float
    pairs_expected: float
    whole_moved: float
    """Number of samples whose difference is not 0."""
    pairs_moved: float
    whole_cover: float
    pairs_cover: float
    wald_cover: float
    """Of the interval for pairs that adds one sample with 1 and one with -1."""
    plain_cover: float
    """Of the interval for pairs that adds nothing."""
    whole_reject: float
    whole_above: float
    """Rejections of the one-sided test."""
    pairs_reject: float
    """Of the test that shuffles answers."""
    pairs_above: float
    flips_reject: float
    """Of sign flips over samples; 0 where they were not asked for."""
    flips_above: float


def chunks(runs: int, setting: NoiseSetting) -> Iterable[int]:
    """Numbers of runs whose answers fit into memory."""
    most = max(1, CELLS // (setting.samples * (setting.variants + setting.again + 1)))
    while runs > 0:
        yield min(runs, most)
        runs -= most


def quality(setting: NoiseSetting, runs: int, seed: int = 0, *, flipped: bool = False) -> Simulated:
    """Simulate one setting; `flipped`: with sign flips, for comparison."""
    rng = np.random.default_rng([seed, *str(setting).encode()])
    whole, pairs = expected(setting)
    parts, sizes = [], list(chunks(runs, setting))
    for some in sizes:
        answers = drawn(rng, setting, some)
        differences = measured(*answers, setting.unit)
        codes = pooled_codes(*answers, setting.names)
        values = differences.pairs / setting.unit
        changes = differences.whole.astype(np.float64)
        numbers = (
            changes.mean(),
            values.mean(),
            whole,
            pairs,
            (changes != 0).sum(axis=1).mean(),
            (values != 0).sum(axis=1).mean(),
            wald(changes, 1).hold(whole),
            bootstrapped(values).hold(pairs),
            wald(values, 1).hold(pairs),
            wald(values, 0).hold(pairs),
            *whole_rejections(differences.whole),
            *shuffle_rejections(differences.pairs, codes, setting),
            *(flip_rejections(differences.pairs) if flipped else (0.0, 0.0)),
        )
        parts.append([float(number) for number in numbers])
    return Simulated(setting, runs, *np.average(parts, axis=0, weights=sizes).tolist())


def settings(sizes: Sequence[int], numbers: Sequence[int]) -> Iterable[NoiseSetting]:
    """All settings that differ."""
    kinds: tuple[Noise, ...] = ("equal", "hard", "two labels")
    for kind, noise, effect, variants, samples, single in product(
        kinds, NOISES, EFFECTS, numbers, sizes, (False, True)
    ):
        if (single and (variants == 1 or not effect)) or (not noise and kind != "equal"):
            continue
        yield NoiseSetting(noise, effect, variants, samples, kind, single)


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────


def table(head: str, rows: Iterable[str]) -> str:
    """A Markdown table; columns but the first are numbers."""
    columns = head.count("|") - 1
    return "\n".join([head, "|---|" + "---:|" * (columns - 1), *rows]) + "\n"


def points(share: float, digits: int = 1) -> str:
    """A share in percent."""
    return f"{100 * share:.{digits}f}"


def requirements(outcomes: Sequence[Simulated]) -> str:
    """What is required of both excesses, with the worst setting of each.

    The worst of many settings is worse than it is, by chance. So it is drawn again, with ten times the runs.
    """
    lines = []
    quiet = [outcome for outcome in outcomes if not outcome.setting.effect]
    for name, key in (("sample excess", "whole"), ("pair excess", "pairs")):
        bias, where = max(biases(outcomes, key))
        lines.append(f"| {name}: largest bias, points | {points(bias, 2)} | | below 0.2 | {where} |")
        many = [outcome for outcome in outcomes if getattr(outcome, f"{key}_moved") >= FEW]
        over = [outcome for outcome in many if getattr(outcome, f"{key}_cover") > 0.97]
        again = [quality(outcome.setting, 10 * outcome.runs, seed=9) for outcome in over]
        still = [outcome.setting for outcome in again if getattr(outcome, f"{key}_cover") > 0.97]
        noisy = sum(bool(setting.noise) for setting in still)
        for what, some, field, sign, limit in (
            ("lowest coverage", outcomes, f"{key}_cover", -1, "93"),
            (
                "highest coverage where ten samples or more differ",
                *(many, f"{key}_cover", 1),
                f"97; above in {len(still)} of {len(many)} settings, {noisy} of them with noise",
            ),
            ("most rejections without an effect", quiet, f"{key}_reject", 1, "6"),
        ):
            lines.append(_worst(f"{name}: {what}, %", some, field, sign, limit))
    lines.append(_worst("sign flips, not used: most rejections, %", quiet, "flips_reject", 1, "6"))
    head = "| | worst | drawn again | required | where |"
    return table(head, lines).replace("|---|---:|---:|---:|---:|", "|---|---:|---:|---|---|")


def _worst(title: str, outcomes: Sequence[Simulated], field: str, sign: int, limit: str) -> str:
    """Return a row for the setting with the largest value, or with the smallest."""
    worst = max(outcomes, key=lambda each: sign * float(getattr(each, field)))
    again = quality(worst.setting, 10 * worst.runs, seed=9, flipped=field == "flips_reject")
    values = " | ".join(points(getattr(each, field)) for each in (worst, again))
    return f"| {title} | {values} | {limit} | {worst.setting} |"


def biases(outcomes: Sequence[Simulated], key: str) -> Iterable[tuple[float, str]]:
    """The bias for each model and edit, over all numbers of samples: it does not depend on them."""
    groups: dict[str, list[tuple[float, int]]] = {}
    for outcome in outcomes:
        bias = getattr(outcome, key) - getattr(outcome, f"{key}_expected")
        name = str(replace(outcome.setting, samples=0)).replace(", 0 samples", "")
        groups.setdefault(name, []).append((bias, outcome.runs * outcome.setting.samples))
    for name, values in groups.items():
        mean = sum(bias * weight for bias, weight in values) / sum(weight for _, weight in values)
        yield abs(mean), name


def estimates(outcomes: Sequence[Simulated]) -> str:
    """What both excesses estimate, and their mean."""
    rows = []
    for outcome in outcomes:
        setting = outcome.setting
        if setting.variants == 4 and setting.samples == max(each.setting.samples for each in outcomes):
            name = str(setting).replace(", 4 variants", "").rpartition(",")[0]
            numbers = (outcome.whole_expected, outcome.whole, outcome.pairs_expected, outcome.pairs)
            rows.append(f"| {name} | " + " | ".join(points(each, 2) for each in numbers) + " |")
    return table("| 4 variants | sample excess expected | mean | pair excess expected | mean |", rows)


def coverage(outcomes: Sequence[Simulated]) -> str:
    """Coverage by how many samples differ."""
    rows = []
    for low, high in ((0, 3), (3, 10), (10, 30), (30, 100), (100, 1001)):
        cells = []
        for moved, *covers in (
            ("whole_moved", "whole_cover"),
            ("pairs_moved", "pairs_cover", "wald_cover", "plain_cover"),
        ):
            some = [
                outcome
                for outcome in outcomes
                if low <= getattr(outcome, moved) < high and getattr(outcome, moved)
            ]
            cells.append(str(len(some)))
            for cover in covers:
                values = [getattr(outcome, cover) for outcome in some]
                cells.append(f"{points(min(values))}–{points(max(values))}" if values else "")
        rows.append(f"| {low} to {high} | " + " | ".join(cells) + " |")
    head = (
        "| samples that differ | settings | sample excess: Bonett–Price | settings | pair excess: as it is "
        "| one sample with 1, one with −1 added | nothing added |"
    )
    return table(head, rows)


def power_table(runs: int) -> str:
    """How often a single test rejects at 0.05: two-sided, as the tool tests, and one-sided."""
    rows = []
    models: list[tuple[float, Noise]] = [(noise, "equal") for noise in NOISES[1:]]
    models += [(0.05, "hard"), (0.05, "two labels")]
    for (noise, kind), (effect, single) in product(
        models, ((0.0, False), (0.03, False), (0.1, False), (0.1, True))
    ):
        setting = NoiseSetting(noise, effect, 4, 200, kind, single)
        outcome = quality(setting, runs, seed=1, flipped=True)
        numbers = (
            *(outcome.whole_reject, outcome.flips_reject, outcome.pairs_reject),
            *(outcome.whole_above, outcome.flips_above, outcome.pairs_above),
        )
        name = str(setting).rpartition(", 4")[0]
        rows.append(f"| {name} | " + " | ".join(map(points, numbers)) + " |")
    head = (
        "| 4 variants, 200 samples | sample excess, McNemar, % | pair excess, sign flips | shuffled answers "
        "| one-sided: McNemar | sign flips | shuffled answers |"
    )
    return table(head, rows)


def repeats_table(runs: int) -> str:
    """What fewer repeats than variants cost."""
    rows = []
    for noise, effect in product((0.01, 0.05, 0.2), (0.03, 0.1)):
        cells = []
        for again in (1, 2, 4):
            outcome = quality(NoiseSetting(noise, effect, 4, 200, repeats=again), runs)
            cells.append(points(outcome.pairs_reject))
        rows.append(f"| noise {100 * noise:g} %, effect {100 * effect:g} % | " + " | ".join(cells) + " |")
    return table("| 4 variants, 200 samples | 1 repeat | 2 | 4 |", rows)


# ── drift ────────────────────────────────────────────────────────────────────────────────────────────────

ORDERS: Final = (
    "all originals, all repeats, all variants",
    "all originals, all variants, all repeats",
    "all originals, then repeats and variants of each sample together",
    "original, repeats and variants of each sample together, in a random order",
)


def moments(rng: np.random.Generator, order: str, runs: int, setting: NoiseSetting) -> Real:
    """When each answer is asked, from 0 to 1: the original, repeats, variants."""
    samples, again = setting.samples, setting.again
    asked = 1 + again + setting.variants
    # A sample's place in the order of samples is its place in the corpus; its label does not depend on it.
    place = np.arange(samples)[None, :, None] / samples
    parts = [1, again, setting.variants]
    if order == ORDERS[1]:
        parts = [1, setting.variants, again]
    ends = np.cumsum([0, *parts]) / asked
    blocks = [
        np.broadcast_to(start + place * (end - start), (runs, samples, size))
        for start, end, size in zip(ends, ends[1:], parts, strict=False)
    ]
    if order == ORDERS[1]:
        blocks = [blocks[0], blocks[2], blocks[1]]
    if order in ORDERS[:2]:
        return np.concatenate(blocks, axis=2)
    if order == ORDERS[2]:
        rest = np.arange(asked - 1) / (asked - 1)
        mixed = rng.permuted(np.broadcast_to(rest, (runs, samples, asked - 1)), axis=2) / samples
        return np.concatenate([blocks[0], ends[1] + (place + mixed) * (1 - ends[1])], axis=2)
    mixed = rng.permuted(np.broadcast_to(np.arange(asked) / asked, (runs, samples, asked)), axis=2)
    return place + mixed / samples


def drifted(
    rng: np.random.Generator, setting: NoiseSetting, order: str, runs: int, *, noisier: bool
) -> tuple[Answers, Answers]:
    """Answers of a model that drifts: its noise grows from 0 to twice the mean, or a tenth of its stable
    answers change, each at some moment."""
    when = moments(rng, order, runs, setting)
    shape = (runs, setting.samples, 1)
    changed: Whole | int = 0
    chance: Real | float = setting.noise
    if noisier:
        chance = 2 * setting.noise * when
    else:
        # Answer 2, which no edit gives.
        changed = np.where((rng.random(shape) < DRIFT) & (rng.random(shape) < when), 2, 0)
    moved = rng.random(shape) < setting.effect
    stable = np.broadcast_to(np.asarray(changed), when.shape).copy()
    stable[..., setting.again + 1 :][np.broadcast_to(moved, (*shape[:2], setting.variants))] = 1
    answers = answered(rng, stable, chance, setting.names, when.shape)
    return answers[..., : setting.again + 1], answers[..., setting.again + 1 :]


def drift_table(runs: int) -> str:
    """Means and rejections where nothing but time has an effect."""
    rows = []
    setting = NoiseSetting(0.05, 0.0, 4, 200)
    for noisier, order in product((True, False), ORDERS):
        rng = np.random.default_rng([3, noisier, *order.encode()])
        parts, sizes = [], list(chunks(runs, setting))
        for some in sizes:
            answers = drifted(rng, setting, order, some, noisier=noisier)
            differences = measured(*answers, setting.unit)
            codes = pooled_codes(*answers, setting.names)
            whole = (differences.whole.mean(), whole_rejections(differences.whole)[0])
            pairs = (
                differences.pairs.mean() / setting.unit,
                shuffle_rejections(differences.pairs, codes, setting)[0],
            )
            parts.append([float(number) for number in (*whole, *pairs)])
        numbers = np.average(parts, axis=0, weights=sizes).tolist()
        name = "noise grows" if noisier else "answers change"
        rows.append(f"| {name}: {order} | " + " | ".join(points(number) for number in numbers) + " |")
    head = (
        "| no effect, mean noise 5 %, 4 variants, 200 samples | sample excess, points | rejected, % "
        "| pair excess, points | rejected, % |"
    )
    return table(head, rows)


# ── the plan ─────────────────────────────────────────────────────────────────────────────────────────────


def plan_table(runs: int, sizes: Sequence[int]) -> str:
    """The smallest effect that is shown in four of five runs, and how often it was."""
    rows = []
    for samples, variants, noise, again in product(sizes, (1, 4), NOISES, (0, 1)):
        if again and variants == 1:
            continue
        least = detectable(samples, variants, noise, repeats=again or None)
        if least is None:
            rows.append(f"| {samples} | {variants} | {again or variants} | {100 * noise:g} % | | | | |")
            continue
        scale = (1 - noise) ** (variants + 1)
        shown = []
        for effect in (least - 0.01, least, least + 0.01):
            share = min(1.0, max(0.0, effect / scale))
            setting = NoiseSetting(noise, share, variants, samples, repeats=again)
            shown.append(points(quality(setting, runs, seed=4).pairs_reject) if 0 < share < 1 else "")
        cells = (
            str(samples),
            str(variants),
            str(again or variants),
            f"{100 * noise:g} %",
            points(least),
            *shown,
        )
        rows.append("| " + " | ".join(cells) + " |")
    head = (
        "| samples | variants | repeats | noise | smallest effect, points | shown: one point less, % "
        "| this effect | one point more |"
    )
    return table(head, rows)


def main(words: Sequence[str] | None = None) -> int:
    """Run all simulations and print their tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--fast", action="store_true", help="fewer runs and settings: about a minute")
    parser.add_argument("--markdown", type=Path)
    asked = parser.parse_args(words)
    runs = min(asked.runs, 300) if asked.fast else asked.runs
    sizes = (50, 200) if asked.fast else (50, 200, 1000)
    outcomes = []
    for setting in settings(sizes, (1, 4) if asked.fast else range(1, 9)):
        # Rates of false alarms are compared with a limit, so they are drawn more often.
        # A thousand samples take long, and each run says more.
        quiet, less = not setting.effect, setting.samples >= 1000
        outcomes.append(quality(setting, runs * (2 if quiet else 1) // (2 if less else 1), flipped=quiet))
        print(f"{len(outcomes)}: {setting}", file=sys.stderr, flush=True)
    number = f"{len(outcomes)} settings, {runs:,} runs each: twice as many without an effect, half with 1,000"
    parts = {
        f"{number} samples.": requirements(outcomes),
        "## What both excesses estimate": estimates(outcomes),
        "## Coverage of the 95 % intervals": coverage(outcomes),
        "## Power at 0.05": power_table(runs),
        "## Fewer repeats than variants": repeats_table(runs),
        "## Drift while a model is asked": drift_table(runs),
        "## Which effect is shown in four of five runs": plan_table(runs, sizes),
    }
    text = "\n".join(f"{title}\n\n{body}" for title, body in parts.items())
    if asked.markdown:
        asked.markdown.write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
