"""How well the excess of an edit over noise is estimated, tested and bounded.

    python benchmarks/noise_simulation.py [--fast] [--runs 2000] [--markdown FILE]

Only the answers are simulated; intervals and tests are the tool's own. A model answers a query with its stable
answer or, by chance, with another one at random. An edit changes the stable answer for a share of the samples.
Each sample is asked once, then again as often as it has variants. What is varied:

- *noise*: 0, 1, 5 and 20 % of answers; *equal* for all samples, or in a few *hard* samples whose answers are
  random half of the time, or equal in a task with *two labels* only;
- *effect*: 0, 3 and 10 % of the samples, on all variants or on one of them;
- variants: 1 to 8; samples: 50 to 1,000.

A last table simulates *drift*: the model or its noise changes while it is asked.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import lcm
from pathlib import Path
from typing import Final, Literal, NamedTuple

import numpy as np

from codeaudit.reports.statistics.excess import flips, pair_excess, sample_excess
from codeaudit.reports.statistics.intervals import Z

Whole = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Real = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Answers = np.ndarray[tuple[int, ...], np.dtype[np.int8]]
"""Runs x samples x answers. 0 is the stable answer, 1 that after an effect."""
Noise = Literal["equal", "hard", "two labels"]

NAMES: Final = 20
"""Number of different answers; 2 for labels."""
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
    found = np.broadcast_to(np.asarray(stable, dtype=np.int8), shape).copy()
    shift = rng.integers(1, names, size=int(noisy.sum()), dtype=np.int8)
    found[noisy] = (found[noisy] + shift) % names
    return found


def drawn(rng: np.random.Generator, setting: NoiseSetting, runs: int) -> tuple[Answers, Answers]:
    """All answers to originals (the first and the repeats) and to variants."""
    shape = (runs, setting.samples, 1)
    chance: Real | float = setting.noise
    if setting.spread == "hard":
        chance = np.where(rng.random(shape) < 2 * setting.noise, 0.5, 0.0)
    moved = np.repeat(rng.random(shape) < setting.effect, setting.variants, axis=2)
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
        one = originals[..., n : n + 1]
        cross += (variants != one).sum(axis=2)
        within += (originals[..., n + 1 :] != one).sum(axis=2)
    pairs = cross * (unit // (number * variants.shape[2])) - within * (unit // (number * (number - 1) // 2))
    return Differences(whole, pairs)
