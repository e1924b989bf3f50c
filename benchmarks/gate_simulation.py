"""How often `codeaudit gate` fails an unchanged model, and how often it catches a worse one.

    python benchmarks/gate_simulation.py [--runs 1000] [--inputs 500] [--part NAME] [--markdown FILE]

Only the answers are simulated; the decisions come from the gate's own code. Two runs of a model meet the same
inputs. An input has `variants` variants under each of `transforms` transforms. What can differ between the
runs:

- *noise*: the answer to one variant flips, each on its own (`0.5 %` of answers in each run);
- *noise in originals*: the one answer that all variants of an input are compared with flips, so that they
  change together;
- *retrained*: another training of the same quality. Which inputs are violated is drawn anew for a part of
  them; the variants of an input agree with each other (Beta-distributed rates, intra-class correlation 0.5);
- a *rise*: so many points more, either in any pair alike or in whole inputs.

A second table simulates the whole gate: violations, sensitivity and score against a baseline, in one
family of tests. A third one simulates the checks without a baseline, whether a model reacts at all.

The other tables are about models whose answers to the same input differ. Each query gets the model's stable
answer, or by chance another one; the chance is equal for all samples, or one half in a few hard samples, or
one half in a burst of consecutive queries. Each sample is repeated four times, as often as it has variants.

Beside the gate's rule the first table has two others: "must not rise" (any larger rate fails) and the
exact McNemar test over pairs, which takes the variants of an input as independent.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from codeaudit.reports.gate import (
    Limits,
    LossTest,
    PairedTest,
    Repeated,
    RiseTest,
    Subject,
    adjusted,
    gate,
    rejected,
)
from codeaudit.reports.judged import Judged, PairKey
from codeaudit.reports.matching import Matched
from codeaudit.reports.reaction import lower
from codeaudit.reports.records import (
    Agreement,
    ByTransform,
    Flip,
    ModelSummary,
    Rate,
    Score,
    Summary,
)
from codeaudit.reports.statistics.agreement import chance, correlation
from codeaudit.reports.statistics.excess import explained, flips
from codeaudit.reports.statistics.intervals import wilson
from codeaudit.reports.statistics.mcnemar import SampleChange, paired_loss, paired_rise

Answers = np.ndarray[tuple[int, int, int], np.dtype[np.bool_]]
"""Whether an input is violated, by transform and variant: inputs x transforms x variants."""

BASE: Final = 0.05
NOISE: Final = 0.005
CORRELATION: Final = 0.5
LIMITS: Final = Limits()


class Shape(NamedTuple):
    """The pairs of a run."""

    transforms: int
    variants: int

    def __str__(self) -> str:
        return f"{self.transforms} × {self.variants}"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One way in which two runs differ."""

    name: str
    draw: Callable[[np.random.Generator, int, Shape], tuple[Answers, Answers]]
    rise: bool
    """Whether the model really got worse."""


class Verdicts(NamedTuple):
    """For each rule, whether it failed the second run."""

    any_rise: bool
    over_pairs: bool
    gate: bool


def violated(rng: np.random.Generator, inputs: int, shape: Shape, rate: float = BASE) -> Answers:
    """A model's violations: each input has a rate of its own, from a Beta distribution."""
    spread = 1 / CORRELATION - 1
    own = rng.beta(rate * spread, (1 - rate) * spread, size=(inputs, 1, 1))
    return rng.random((inputs, *shape)) < own


def noisy(rng: np.random.Generator, answers: Answers, rate: float = NOISE) -> Answers:
    """Each answer flipped by chance."""
    return answers ^ (rng.random(answers.shape) < rate)


def shaken(rng: np.random.Generator, answers: Answers, rate: float = NOISE) -> Answers:
    """Each input's original answer flipped by chance: what held is violated, in all of its pairs."""
    return answers | (rng.random((len(answers), 1, 1)) < rate)


def unchanged(rng: np.random.Generator, inputs: int, shape: Shape) -> tuple[Answers, Answers]:
    """The same model twice, with noise in each answer."""
    base = violated(rng, inputs, shape)
    return noisy(rng, base), noisy(rng, base)


def unchanged_originals(rng: np.random.Generator, inputs: int, shape: Shape) -> tuple[Answers, Answers]:
    """The same model twice, with noise in the answers to originals and to variants."""
    base = violated(rng, inputs, shape)
    return noisy(rng, shaken(rng, base)), noisy(rng, shaken(rng, base))


def retrained(share: float) -> Callable[[np.random.Generator, int, Shape], tuple[Answers, Answers]]:
    """Two trainings of equal quality, which disagree on a share of the inputs."""

    def draw(rng: np.random.Generator, inputs: int, shape: Shape) -> tuple[Answers, Answers]:
        first, second = violated(rng, inputs, shape), violated(rng, inputs, shape)
        anew = rng.random((inputs, 1, 1)) < share
        return noisy(rng, first), noisy(rng, np.where(anew, second, first))

    return draw


def risen(
    points: float, *, whole: bool, only: int | None = None
) -> Callable[[np.random.Generator, int, Shape], tuple[Answers, Answers]]:
    """A model that got worse by so many points: in any pair, or in whole inputs; in all transforms or one."""

    def draw(rng: np.random.Generator, inputs: int, shape: Shape) -> tuple[Answers, Answers]:
        base = violated(rng, inputs, shape)
        size = (inputs, 1, 1) if whole else base.shape
        # Violated pairs cannot become violated again: the rate among the others is raised to make up for it.
        worse = rng.random(size) < points / 100 / (1 - BASE)
        if only is not None:
            worse = worse & (np.arange(shape.transforms) == only)[None, :, None]
        return noisy(rng, base), noisy(rng, base | worse)

    return draw


SCENARIOS: Final = (
    Scenario("unchanged, noise 0.5 %", unchanged, rise=False),
    Scenario("unchanged, noise 0.5 % in originals too", unchanged_originals, rise=False),
    Scenario("retrained, 20 % of inputs anew", retrained(0.2), rise=False),
    Scenario("retrained, all inputs anew", retrained(1.0), rise=False),
    Scenario("3 points worse", risen(3, whole=False), rise=True),
    Scenario("3 points worse, whole inputs", risen(3, whole=True), rise=True),
    Scenario("5 points worse, one transform only", risen(5, whole=True, only=0), rise=True),
)

SHAPES: Final = (Shape(1, 1), Shape(1, 4), Shape(3, 4))


def judged(before: Answers, now: Answers) -> Verdicts:
    """The verdict of each rule on a pair of runs."""
    tests = [_test("", before, now)]
    if before.shape[1] > 1:
        tests += [_test(f"t{n}", before[:, n : n + 1], now[:, n : n + 1]) for n in range(before.shape[1])]
    whole = tests[0].rise
    over_pairs = _test("", before.reshape(-1, 1, 1), now.reshape(-1, 1, 1))
    ps = adjusted(tests, LIMITS)
    return Verdicts(
        any_rise=whole.rise > 0,
        over_pairs=rejected(over_pairs, over_pairs.p, LIMITS),
        gate=any(rejected(test, p, LIMITS) for test, p in zip(tests, ps, strict=True)),
    )


def _test(transform: str, before: Answers, now: Answers, subject: Subject = "violations") -> RiseTest:
    columns = [answers.reshape(len(answers), -1).any(axis=1) for answers in (before, now)]
    changes = [
        SampleChange(bool(one), bool(other), before[0].size) for one, other in zip(*columns, strict=True)
    ]
    return RiseTest("model", transform, paired_rise(changes), subject)


def simulate(scenario: Scenario, shape: Shape, *, inputs: int, runs: int, seed: int = 0) -> Verdicts:
    """How often each rule failed the second of two runs."""
    rng = np.random.default_rng([seed, *scenario.name.encode(), *shape])
    counts = np.sum([judged(*scenario.draw(rng, inputs, shape)) for _ in range(runs)], axis=0)
    return Verdicts(*(count / runs for count in counts))


def table(*, inputs: int, runs: int) -> str:
    """The rules' rates as Markdown."""
    lines = [
        f"{inputs} inputs, {100 * BASE:g} % violated, {runs:,} simulated pairs of runs a row; alpha "
        f"{LIMITS.alpha:g}, margin {100 * LIMITS.margin:g} point. Share of runs that failed:",
        "",
        "| second run | transforms × variants | must not rise | McNemar over pairs | gate | 95 % |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for scenario in SCENARIOS:
        for shape in SHAPES:
            if shape.transforms == 1 and "one transform" in scenario.name:
                continue
            verdicts = simulate(scenario, shape, inputs=inputs, runs=runs)
            low, high = wilson(verdicts.gate * runs, runs)
            shares = " | ".join(f"{100 * share:.1f} %" for share in verdicts)
            lines.append(f"| {scenario.name} | {shape} | {shares} | {100 * low:.1f}–{100 * high:.1f} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


# ── the whole gate ───────────────────────────────────────────────────────────────────────────────────────


class SimulatedRun(NamedTuple):
    """What a gate compares of a run."""

    violations: Answers
    reactions: Answers
    """Whether a control changed the answer: inputs x 2 controls x 4 variants."""
    scores: np.ndarray[tuple[int], np.dtype[np.float64]]
    """Of the originals, 0 to 1."""


REACTING: Final = 0.3
"""Share of controls that change an answer."""
SCORES: Final = ((0.0, 0.5), (0.5, 0.2), (2 / 3, 0.1), (1.0, 0.2))
"""F1 of single names, with their shares."""
CONTROLS: Final = Shape(2, 4)


def drawn(rng: np.random.Generator, inputs: int) -> SimulatedRun:
    """A model's run."""
    values, shares = zip(*SCORES, strict=True)
    scores = rng.choice(values, size=inputs, p=shares)
    return SimulatedRun(violated(rng, inputs, SHAPES[-1]), violated(rng, inputs, CONTROLS, REACTING), scores)


def shown(rng: np.random.Generator, run: SimulatedRun, noise: float) -> SimulatedRun:
    """What a gate sees of a run: every answer is another one by chance."""
    other = drawn(rng, len(run.scores))
    return SimulatedRun(
        noisy(rng, run.violations, noise),
        noisy(rng, run.reactions, noise),
        np.where(rng.random(len(run.scores)) < noise, other.scores, run.scores),
    )


def trained_again(rng: np.random.Generator, run: SimulatedRun, anew: float) -> SimulatedRun:
    """Another training of the same quality that differs on a share of the inputs."""
    other = drawn(rng, len(run.scores))
    chosen = rng.random(len(run.scores)) < anew
    return SimulatedRun(
        np.where(chosen[:, None, None], other.violations, run.violations),
        np.where(chosen[:, None, None], other.reactions, run.reactions),
        np.where(chosen, other.scores, run.scores),
    )


def damaged(
    rng: np.random.Generator, run: SimulatedRun, *, worse: float = 0.0, deaf: float = 0.0
) -> SimulatedRun:
    """A model that lost so much of its mean score, and that no longer reacts on a share of its inputs."""
    lost = rng.random(len(run.scores)) < worse / float(np.mean(run.scores))
    silent = rng.random((len(run.scores), 1, 1)) < deaf
    return SimulatedRun(run.violations & ~silent, run.reactions & ~silent, np.where(lost, 0.0, run.scores))


Second = Callable[[np.random.Generator, SimulatedRun], SimulatedRun]
SECOND: Final[Sequence[tuple[str, float, Second]]] = (
    ("unchanged, no noise", 0.0, lambda rng, run: run),
    ("unchanged, noise 0.5 %", NOISE, lambda rng, run: run),
    ("unchanged, noise 5 %", 0.05, lambda rng, run: run),
    ("retrained, 20 % of inputs anew", NOISE, lambda rng, run: trained_again(rng, run, 0.2)),
    ("retrained, all inputs anew", NOISE, lambda rng, run: trained_again(rng, run, 1.0)),
    ("score 3 points lower", NOISE, lambda rng, run: damaged(rng, run, worse=0.03)),
    ("score 5 points lower", NOISE, lambda rng, run: damaged(rng, run, worse=0.05)),
    ("deaf on 5 % of inputs", NOISE, lambda rng, run: damaged(rng, run, deaf=0.05)),
    ("deaf on 10 % of inputs", NOISE, lambda rng, run: damaged(rng, run, deaf=0.1)),
    ("dead", 0.0, lambda rng, run: damaged(rng, run, worse=1.0, deaf=1.0)),
)
"""Second runs, with the noise in the answers of both runs."""


class Failures(NamedTuple):
    """Which parts of the gate failed the second run."""

    violations: bool
    sensitivity: bool
    score: bool
    gate: bool


def compared(before: SimulatedRun, now: SimulatedRun) -> Failures:
    """The verdict of the whole gate on a pair of runs."""
    old, new = before.violations, now.violations
    rises = [_test("", old, new)]
    rises += [_test(f"t{n}", old[:, n : n + 1], new[:, n : n + 1]) for n in range(old.shape[1])]
    was, is_now = (np.logical_not(run.reactions.any(axis=(1, 2), keepdims=True)) for run in (before, now))
    rises.append(_test("", was, is_now, "insensitivity"))
    pairs = list(zip(before.scores.tolist(), now.scores.tolist(), strict=True))
    loss = LossTest("model", "f1", paired_loss(pairs, better="higher"), 1.0)
    tests: list[PairedTest] = [*rises, loss]
    ps = adjusted(tests, LIMITS)
    failed = [rejected(test, p, LIMITS) for test, p in zip(rises, ps, strict=False)]
    lost = ps[-1] is not None and ps[-1] <= LIMITS.alpha and loss.loss.loss > LIMITS.margin
    return Failures(any(failed[:-1]), failed[-1], lost, any(failed) or lost)


def whole_table(*, inputs: int, runs: int) -> str:
    """How often the parts of the gate failed, as Markdown."""
    lines = [
        f"The whole gate: {inputs} inputs, 3 × 4 variants, 2 × 4 controls that change {100 * REACTING:g} % "
        "of answers, mean score 0.37. Share of runs that failed:",
        "",
        "| second run | violations | sensitivity | score | gate | 95 % |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, noise, second in SECOND:
        rng = np.random.default_rng([1, *name.encode()])
        total = np.zeros(len(Failures._fields))
        for _ in range(runs):
            first = drawn(rng, inputs)
            total += compared(shown(rng, first, noise), shown(rng, second(rng, first), noise))
        low, high = wilson(total[-1], runs)
        shares = " | ".join(f"{100 * count / runs:.1f} %" for count in total)
        lines.append(f"| {name} | {shares} | {100 * low:.1f}–{100 * high:.1f} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


# ── noise ────────────────────────────────────────────────────────────────────────────────────────────────

REPEATS: Final = 4
"""Of each sample, and its variants under each transform."""
BURST: Final = 40
"""Consecutive queries in a burst."""
NoiseKind = Literal["equal", "hard", "burst"]


class Asked(NamedTuple):
    """Whether each answer is another one than the sample's first."""

    repeats: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
    variants: Answers


def ask(
    rng: np.random.Generator,
    inputs: int,
    noise: float,
    kind: NoiseKind,
    *,
    effect: float = 0.0,
    transforms: int = 1,
    only: bool = False,
    repeats: int = REPEATS,
) -> Asked:
    """The answers of a model. The edits have an effect on a share of the samples, in all variants or, if
    `only`, in one of them."""
    asked = 1 + repeats + transforms * REPEATS
    if kind == "equal":
        chances = np.full((inputs, asked), noise)
    elif kind == "hard":
        hard = np.arange(inputs) < round(2 * noise * inputs)
        chances = np.where(hard[:, None], 0.5, np.zeros((inputs, asked)))
    else:
        row = np.zeros(inputs * asked)
        for start in rng.integers(0, len(row), rng.poisson(2 * noise * len(row) / BURST)):
            row[start : start + BURST] = 0.5
        # After the first answer of a sample its repeats and variants come in any order.
        order = [0, *(1 + rng.permutation(asked - 1))]
        chances = row.reshape(inputs, asked)[:, order]
    noisy = rng.random((inputs, asked)) < chances
    answers = np.where(noisy, rng.integers(2, 2**40, noisy.shape), 0)
    moved = rng.permutation(inputs) < round(effect * inputs)
    variants = answers[:, 1 + repeats :].reshape(inputs, transforms, REPEATS)
    here = moved[:, None, None] & (np.arange(REPEATS) < (1 if only else REPEATS))
    variants = np.where(here & (variants == 0), 1, variants)
    first = answers[:, :1]
    return Asked(answers[:, 1 : 1 + repeats] != first, variants != first[:, :, None])


def differences(variants: np.ndarray, repeats: np.ndarray) -> list[Fraction]:
    """Each sample's share of changed variants minus that of changed repeats."""
    pairs = zip(variants.sum(axis=1).tolist(), repeats.sum(axis=1).tolist(), strict=True)
    return [Matched(variants.shape[1], *pair).difference for pair in pairs]


NOISE_SIZES: Final = (50, 158, 500)
NOISES: Final[Sequence[tuple[float, NoiseKind]]] = (
    (0.0, "equal"),
    (0.01, "equal"),
    (0.05, "equal"),
    (0.2, "equal"),
    (0.01, "hard"),
    (0.05, "hard"),
    (0.2, "hard"),
    (0.05, "burst"),
)
RULES: Final = ("(b − B(c))/n", "gate")


def above_limit(answers: Asked, limit: float) -> tuple[bool, bool]:
    """Whether a transform fails: by counts of samples, and by the gate's rule."""
    inputs = len(answers.repeats)
    changed, unsteady = answers.variants[:, 0].any(axis=1), answers.repeats.any(axis=1)
    b, c = int((changed & ~unsteady).sum()), int((unsteady & ~changed).sum())
    # `affected` is above the limit just where the test without so many samples rejects.
    ordered = sorted(differences(answers.variants[:, 0], answers.repeats), reverse=True)
    rejects = flips(ordered[int(limit * inputs + 1e-9) :], above=True) <= LIMITS.alpha
    return (b - explained(c, LIMITS.alpha)) / inputs > limit, rejects


def noise_table(*, runs: int) -> str:
    """False alarms and power of the rule for limits, as Markdown."""
    settings = (
        ("no effect, limit 0", 0.0, 0.0, False),
        ("no effect, limit 10 %", 0.0, 0.1, False),
        ("effect on 10 %, limit 10 %", 0.1, 0.1, False),
        ("effect on 20 %, limit 10 %", 0.2, 0.1, False),
        ("effect on 30 %, limit 10 %", 0.3, 0.1, False),
        ("effect on 30 %, in one of four variants, limit 10 %", 0.3, 0.1, True),
    )
    lines = [
        f"A limit for a noisy model: one transform, {REPEATS} variants, {REPEATS} repeats, {runs:,} runs a "
        f"cell; alpha {LIMITS.alpha:g}. Share of runs that fail, by counts of samples ({RULES[0]}) / by the "
        "gate's rule:",
        "",
        "| effect and limit | noise | " + " | ".join(f"n = {size}" for size in NOISE_SIZES) + " |",
        "|---|---|" + "---:|" * len(NOISE_SIZES),
    ]
    for name, effect, limit, only in settings:
        for noise, kind in NOISES:
            rng = np.random.default_rng([3, *name.encode(), round(100 * noise), len(kind)])
            cells = []
            for size in NOISE_SIZES:
                fails = np.sum(
                    [
                        above_limit(ask(rng, size, noise, kind, effect=effect, only=only), limit)
                        for _ in range(runs)
                    ],
                    axis=0,
                )
                cells.append(" / ".join(f"{100 * count / runs:.1f}" for count in fails) + " %")
            lines.append(f"| {name} | {_named(noise, kind)} | " + " | ".join(cells) + " |")
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


def _named(noise: float, kind: NoiseKind) -> str:
    shape = {"equal": "", "hard": ", in few samples", "burst": ", in bursts"}[kind]
    return f"{100 * noise:g} %{shape}"


def several_table(*, runs: int, transforms: int = 5) -> str:
    """False alarms with several transforms, which share their repeats, as Markdown."""
    lines = [
        f"The same with {transforms} transforms, no effect, limit 0; {runs:,} runs a cell. Share of runs in "
        "which one of them fails, each at alpha / each at its part of alpha, as in the gate:",
        "",
        "| noise | " + " | ".join(f"n = {size}" for size in NOISE_SIZES) + " |",
        "|---|" + "---:|" * len(NOISE_SIZES),
    ]
    for noise, kind in NOISES:
        rng = np.random.default_rng([4, round(100 * noise), len(kind)])
        cells = []
        for size in NOISE_SIZES:
            fails = np.zeros(2)
            for _ in range(runs):
                answers = ask(rng, size, noise, kind, transforms=transforms)
                least = min(
                    flips(differences(answers.variants[:, n], answers.repeats), above=True)
                    for n in range(transforms)
                )
                fails += [least <= LIMITS.alpha, least <= LIMITS.alpha / transforms]
            cells.append(" / ".join(f"{100 * count / runs:.1f}" for count in fails) + " %")
        lines.append(f"| {_named(noise, kind)} | " + " | ".join(cells) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


# Two runs of a noisy model: the noise and the effect before, then now.
NOISY_RUNS: Final[Sequence[tuple[str, float, float, float, float]]] = (
    ("unchanged, noise 5 %", 0.05, 0.1, 0.05, 0.1),
    ("unchanged, noise 20 %", 0.2, 0.1, 0.2, 0.1),
    ("noise rose from 1 to 5 %", 0.01, 0.1, 0.05, 0.1),
    ("noise rose from 0 to 20 %", 0.0, 0.1, 0.2, 0.1),
    ("noise rose from 0 to 20 %, no effect", 0.0, 0.0, 0.2, 0.0),
    ("noise fell from 20 to 1 %", 0.2, 0.1, 0.01, 0.1),
    ("10 points worse, noise 1 %", 0.01, 0.1, 0.01, 0.2),
    ("10 points worse, noise 5 %", 0.05, 0.1, 0.05, 0.2),
    ("10 points worse, noise 20 %", 0.2, 0.1, 0.2, 0.2),
    ("20 points worse, noise 5 %", 0.05, 0.1, 0.05, 0.3),
    ("20 points worse, noise 20 %", 0.2, 0.1, 0.2, 0.3),
)


def keyed(transform: str, answers: np.ndarray) -> dict[PairKey, bool]:
    """The answers to variants, or to repeats, as a gate pairs them."""
    return {
        PairKey(0, f"{sample}", "", transform, variant, ""): bool(answer)
        for sample, row in enumerate(answers)
        for variant, answer in enumerate(row)
    }


def noisy_baseline_table(*, inputs: int, runs: int) -> str:
    """How often violations of a noisy model count as risen, as Markdown."""
    lines = [
        f"Against a baseline: {inputs} inputs, one transform, {REPEATS} variants and repeats, an effect on "
        f"10 % of samples before; {runs:,} pairs of runs a row. Share of runs that failed:",
        "",
        "| second run | violated samples (McNemar) | changed variants and excess (gate) | 95 % |",
        "|---|---:|---:|---:|",
    ]
    for name, noise, effect, noise_now, effect_now in NOISY_RUNS:
        rng = np.random.default_rng([5, *name.encode()])
        total = np.zeros(2)
        for _ in range(runs):
            old = ask(rng, inputs, noise, "equal", effect=effect)
            new = ask(rng, inputs, noise_now, "equal", effect=effect_now)
            test = _test("", old.variants, new.variants)
            after, before = (keyed("rename", run.variants[:, 0]) for run in (new, old))
            repeated = Repeated(keyed("identity", new.repeats), keyed("identity", old.repeats))
            both = RiseTest("model", "", test.rise, noisy=repeated.rise(after.keys(), after, before))
            total += [rejected(rise, rise.p, LIMITS) for rise in (test, both)]
        low, high = wilson(total[-1], runs)
        shares = " | ".join(f"{100 * count / runs:.1f} %" for count in total)
        lines.append(f"| {name} | {shares} | {100 * low:.1f}–{100 * high:.1f} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


# ── the gate on four models ──────────────────────────────────────────────────────────────────────────────

NAMES: Final = ("rename", "rename-parameters", "reorder")


def run_of(rng: np.random.Generator, inputs: int, noise: float, effect: float, sensitivity: float) -> Judged:
    """A run of one model, as a gate reads it: three transforms and one control."""
    answers = ask(rng, inputs, noise, "equal", transforms=len(NAMES), effect=effect)
    controls = ask(rng, inputs, noise, "equal", effect=sensitivity).variants[:, 0]
    # A model that runs here and has no noise is repeated once.
    repeats = answers.repeats if noise else answers.repeats[:, :1]
    tables = [(name, answers.variants[:, n]) for n, name in enumerate(NAMES)]
    made = [("identity", repeats), *tables, ("rename-merging", controls)]
    pairs = tuple(
        Flip(
            model="m",
            seed=0,
            sample=f"{sample}",
            transform=name,
            kind="identity" if name == "identity" else "preserving" if name in NAMES else "control",
            variant=variant,
            input=f"{sample} {name} {variant}",
            violated=bool(changed),
        )
        for name, table in made
        for sample, row in enumerate(table)
        for variant, changed in enumerate(row)
    )
    rows = tuple(
        ByTransform(
            transform=name,
            kind="preserving",
            violations=_rate(table.any(axis=1)),
            pairs=_rate(table.ravel()),
            applied=table.size,
            unjudged=0,
            not_applied={},
            evidence={},
            max_deviation=0.0,
        )
        for name, table in tables
    )
    moved = np.concatenate([table for _, table in tables], axis=1)
    model = ModelSummary(
        model="m",
        fingerprint="m",
        parameters=None,
        samples=inputs,
        score=Score(name="f1"),
        violations=_rate(moved.any(axis=1)),
        pairs=_rate(moved.ravel()),
        all_samples=_rate(moved.any(axis=1)),
        sensitivity=replace(_rate(controls.ravel()), clusters=inputs),
        noise_floor=_rate(repeats.ravel()),
        max_deviation=0.0,
        noise_deviation=0.0,
        noise=0.0,
        unjudged=0,
        unjudged_reasons={},
        skipped={},
        truncated=0,
        by_transform=rows,
        trials=(),
        agreement=Agreement(),
    )
    summary = Summary(task="function-name", corpus="simulated", seed=0, models=(model,))
    return Judged(name="simulated", summary=summary, flips=pairs)


def _rate(changes: Any) -> Rate:
    answers = np.asarray(changes)
    count, total = int(answers.sum()), int(answers.size)
    low, high = wilson(count, total)
    return Rate(count=count, total=total, rate=count / total, low=low, high=high, clusters=total)


FOUR: Final[Sequence[tuple[str, float, float, float]]] = (
    ("deterministic, no effect", 0.0, 0.0, 0.6),
    ("deterministic, effect on 30 % of samples", 0.0, 0.3, 0.6),
    ("noise 5 %, ignores the code", 0.05, 0.0, 0.0),
    ("noise 5 %, no effect of edits", 0.05, 0.0, 0.6),
    ("noise 5 %, effect on 30 % of samples", 0.05, 0.3, 0.6),
    ("sampled (noise 30 %), no effect", 0.3, 0.0, 0.6),
    ("sampled (noise 30 %), effect on 30 % of samples", 0.3, 0.3, 0.6),
)
"""Noise, effect of the edits, and share of samples that react to controls."""


class Whole(NamedTuple):
    """How often a gate at a limit of 10 % ended in which way."""

    rate_alone: float
    """Some violation rate is above the limit."""
    limit_failed: float
    dead: float
    """It does not react."""
    undecided: float
    failed: float


def four_table(*, inputs: int, runs: int) -> str:
    """The whole gate on models, as Markdown."""
    lines = [
        f"The whole gate at `--max-violation-rate 10%`: {inputs} samples, three transforms with {REPEATS} "
        f"variants, one control, {runs} seeds. Share of runs:",
        "",
        "| model | a rate above the limit | fails the limit | does not react | not decided | gate fails |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, noise, effect, sensitivity in FOUR:
        shares = whole(name, noise, effect, sensitivity, inputs=inputs, runs=runs)
        lines.append(f"| {name} | " + " | ".join(f"{100 * share:.1f} %" for share in shares) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


def whole(
    name: str, noise: float, effect: float, sensitivity: float, *, inputs: int, runs: int, limit: float = 0.1
) -> Whole:
    """The shares of one model."""
    rng = np.random.default_rng([6, *name.encode()])
    counts = np.zeros(len(Whole._fields))
    for _ in range(runs):
        run = run_of(rng, inputs, noise, effect, sensitivity)
        decision = gate(run, replace(LIMITS, max_violation_rate=limit))
        rates = [row.violations.rate or 0.0 for row in run.summary.models[0].by_transform]
        failed = {check.name for check in decision.of("failed")}
        open_ = any(note.startswith("not decided") for check in decision.checks for note in check.notes)
        counts += [
            max(rates) > limit,
            "violations" in failed,
            "reaction" in failed,
            open_,
            decision.outcome == "failed",
        ]
    return Whole(*(counts / runs))


# ── does a model react at all? ───────────────────────────────────────────────────────────────────────────


def reacts(rng: np.random.Generator, inputs: int, sensitivity: float) -> bool:
    """Whether the check of the sensitivity passes: 8 controls an input, of which a part changes the
    answer."""
    moved = violated(rng, inputs, CONTROLS, sensitivity) if sensitivity else np.zeros((inputs, *CONTROLS))
    count, total = int(moved.sum()), int(moved.size)
    return lower(Rate(count=count, total=total, rate=count / total, clusters=inputs), LIMITS.alpha) > 0


def reacts_beyond(
    rng: np.random.Generator, inputs: int, sensitivity: float, noise: float, kind: NoiseKind
) -> bool:
    """The same for a noisy model, by each sample's controls and repeats."""
    answers = ask(rng, inputs, noise, kind, effect=sensitivity, transforms=CONTROLS.transforms)
    # Variants of the controls in turn, as many as there are repeats.
    some = answers.variants.transpose(0, 2, 1).reshape(inputs, -1)[:, :REPEATS]
    return flips(differences(some, answers.repeats), above=True) <= LIMITS.alpha


def correlates(rng: np.random.Generator, inputs: int, flawed: float, recall: float, alarms: float) -> bool:
    """Whether the check of MCC passes: a share of the inputs is flawed; the detector finds a share of
    these, and gives so many false alarms."""
    true = rng.random(inputs) < flawed
    said = np.where(true, rng.random(inputs) < recall, rng.random(inputs) < alarms)
    counts = {
        str(label): {str(answer): int(((true == label) & (said == answer)).sum()) for answer in (False, True)}
        for label in (False, True)
    }
    mcc = correlation(counts)
    return mcc is not None and mcc > 0 and chance(counts) <= LIMITS.alpha


SIZES: Final = (50, 200, 500)
REACTIONS: Final[Sequence[tuple[str, Callable[[np.random.Generator, int], bool]]]] = (
    ("names: dead, no noise", lambda rng, size: reacts(rng, size, 0.0)),
    ("names: dead, noise 1 %", lambda rng, size: reacts_beyond(rng, size, 0.0, 0.01, "equal")),
    ("names: dead, noise 5 %", lambda rng, size: reacts_beyond(rng, size, 0.0, 0.05, "equal")),
    ("names: dead, noise 20 %", lambda rng, size: reacts_beyond(rng, size, 0.0, 0.2, "equal")),
    ("names: dead, noise 5 %, hard samples", lambda rng, size: reacts_beyond(rng, size, 0.0, 0.05, "hard")),
    ("names: dead, noise 5 %, bursts", lambda rng, size: reacts_beyond(rng, size, 0.0, 0.05, "burst")),
    ("names: sensitivity 5 %, no noise", lambda rng, size: reacts(rng, size, 0.05)),
    ("names: sensitivity 20 %, noise 5 %", lambda rng, size: reacts_beyond(rng, size, 0.2, 0.05, "equal")),
    ("names: sensitivity 30 %, noise 20 %", lambda rng, size: reacts_beyond(rng, size, 0.3, 0.2, "equal")),
    ("labels: coin, half are flawed", lambda rng, size: correlates(rng, size, 0.5, 0.5, 0.5)),
    ("labels: `clean` in 97 %, 5 % are flawed, by chance", lambda rng, size: correlates(rng, size, 0.05,
    0.03, 0.03)), ("labels: finds 30 % of flaws, 1 % false alarms, 5 % are flawed",
     lambda rng, size: correlates(rng, size, 0.05, 0.3, 0.01)),
    ("labels: right in 60 %, half are flawed", lambda rng, size: correlates(rng, size, 0.5, 0.6, 0.4)),
    ("labels: right in 70 %, half are flawed", lambda rng, size: correlates(rng, size, 0.5, 0.7, 0.3)),
)  # fmt: skip


def reaction_table(*, runs: int) -> str:
    """How often a model passes the checks without a baseline, as Markdown."""
    lines = [
        "Without a baseline. Share of runs in which the model passes as one that reacts, by samples:",
        "",
        "| model | " + " | ".join(map(str, SIZES)) + " |",
        "|---|" + "---:|" * len(SIZES),
    ]
    for name, passes in REACTIONS:
        rng = np.random.default_rng([2, *name.encode()])
        shares = [sum(passes(rng, size) for _ in range(runs)) / runs for size in SIZES]
        lines.append(f"| {name} | " + " | ".join(f"{100 * share:.1f} %" for share in shares) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


def main(words: Sequence[str] | None = None) -> int:
    """Run all scenarios and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--inputs", type=int, default=500)
    parser.add_argument("--markdown", type=Path)
    parts: dict[str, Callable[[int, int], str]] = {
        "rises": lambda inputs, runs: table(inputs=inputs, runs=runs),
        "whole": lambda inputs, runs: whole_table(inputs=inputs, runs=runs),
        "reaction": lambda _, runs: reaction_table(runs=runs),
        "noise": lambda _, runs: noise_table(runs=runs),
        "several": lambda _, runs: several_table(runs=runs),
        "baseline": lambda inputs, runs: noisy_baseline_table(inputs=inputs, runs=runs),
        "models": lambda _, runs: four_table(inputs=158, runs=min(runs, 200)),
    }
    parser.add_argument("--part", choices=parts, action="append", help="Make this table only; repeatable.")
    asked = parser.parse_args(words)
    chosen = [make for name, make in parts.items() if not asked.part or name in asked.part]
    text = "\n".join(make(asked.inputs, asked.runs) for make in chosen)
    if asked.markdown:
        asked.markdown.write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
