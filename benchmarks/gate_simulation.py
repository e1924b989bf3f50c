"""How often `codeaudit gate` fails an unchanged model, and how often it catches a worse one.

    python benchmarks/gate_simulation.py [--runs 1000] [--inputs 500] [--markdown FILE]

Only the answers are simulated; the decisions come from the gate's own code. Two runs of a model meet the same
inputs. An input has `variants` variants under each of `transforms` transforms. What can differ between the
runs:

- *noise*: the answer to one variant flips, each on its own (`0.5 %` of answers in each run);
- *noise in originals*: the one answer that all variants of an input are compared with flips, so that they
  change together;
- *retrained*: another training of the same quality. Which inputs are violated is drawn anew for a part of
  them; the variants of an input agree with each other (Beta-distributed rates, intra-class correlation 0.5);
- a *rise*: so many points more, either in any pair alike or in whole inputs.

Beside the gate's rule the table has two others: "must not rise" (any larger rate fails) and the exact McNemar
test over pairs, which takes the variants of an input as independent.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from codeaudit.reports.gate import Limits, RiseTest, adjusted, rejected
from codeaudit.reports.statistics.intervals import wilson
from codeaudit.reports.statistics.mcnemar import SampleChange, paired_rise

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
    over_pairs = _test("", before.reshape(-1, 1, 1), now.reshape(-1, 1, 1)).rise
    ps = adjusted(tests, LIMITS)
    return Verdicts(
        any_rise=whole.rise > 0,
        over_pairs=rejected(over_pairs, over_pairs.p, LIMITS),
        gate=any(rejected(test.rise, p, LIMITS) for test, p in zip(tests, ps, strict=True)),
    )


def _test(transform: str, before: Answers, now: Answers) -> RiseTest:
    columns = [one.reshape(len(one), -1).any(axis=1) for one in (before, now)]
    changes = [
        SampleChange(bool(one), bool(other), before[0].size) for one, other in zip(*columns, strict=True)
    ]
    return RiseTest("model", transform, paired_rise(changes))


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
            found = simulate(scenario, shape, inputs=inputs, runs=runs)
            low, high = wilson(found.gate * runs, runs)
            shares = " | ".join(f"{100 * one:.1f} %" for one in found)
            lines.append(f"| {scenario.name} | {shape} | {shares} | {100 * low:.1f}–{100 * high:.1f} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


def main(words: Sequence[str] | None = None) -> int:
    """Run all scenarios and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--inputs", type=int, default=500)
    parser.add_argument("--markdown", type=Path)
    asked = parser.parse_args(words)
    text = table(inputs=asked.inputs, runs=asked.runs)
    if asked.markdown:
        asked.markdown.write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
