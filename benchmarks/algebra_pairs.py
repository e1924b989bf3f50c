"""What do generated pairs of expressions cost, and can a model answer without comparing their meaning?

    python benchmarks/algebra_pairs.py [--train 20000] [--test 5000] [--seed 0]

Prints processor milliseconds per pair, what pairs look like, and the accuracy of readers that do not compare
the expressions. These readers are rules, and logistic regressions on counts of tokens in the candidate or in
both expressions. The same numbers follow for the paper's false pairs: the derivative of any other function.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from statistics import fmean

import numpy as np
from scipy.optimize import minimize

from codeaudit.transforms.algebra.calculus import derivative, holds, values
from codeaudit.transforms.algebra.expressions import (
    ASKED,
    COEFFICIENTS,
    INPUTS,
    ExpressionPair,
    names,
    tokens,
)
from codeaudit.transforms.algebra.generate import SPLITS, Example, example, examples, tree
from codeaudit.transforms.algebra.views import TOKENS
from codeaudit.transforms.seeding import stream

Rule = Callable[[Example], bool]
Featurer = Callable[[Example], Sequence[float]]

RULES: dict[str, Rule] = {
    "no new variable in the candidate": lambda e: names(e.pair.candidate) <= names(e.pair.function),
    "the same variables": lambda e: names(e.pair.candidate) == names(e.pair.function),
}


def counts(e: Example, *, both: bool) -> list[float]:
    """Counts of each token on one side or both, with the lengths."""
    sides = (e.pair.function, e.pair.candidate) if both else (e.pair.candidate,)
    features: list[float] = []
    for side in sides:
        words = Counter(tokens(side))
        total = sum(words.values())
        features += [words[token] for token in TOKENS if token != ASKED]
        features += [words[token] / total for token in TOKENS if token != ASKED]
        features += [total**0.5]
        features += [float(token in words) for token in TOKENS if token != ASKED]
    if both:
        one, two = (len(tokens(side)) for side in sides)
        function, candidate = (Counter(tokens(side)) for side in sides)
        features += [two / one, two - one]
        features += [float(candidate[token] > function[token]) for token in TOKENS]
        features += [float(bool(candidate[token]) and not function[token]) for token in TOKENS]
    return features


@dataclass(kw_only=True)
class Reader:
    """A logistic regression on features of a pair."""

    features: Featurer
    penalty: float = 1e-3

    def accuracy(self, train: Sequence[Example], test: Sequence[Example]) -> float:
        """The accuracy on one set after fitting on another."""
        x, y = self._table(train)
        middle, width = x.mean(axis=0), x.std(axis=0) + 1e-9
        x = np.hstack([(x - middle) / width, np.ones((len(x), 1))])

        def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
            score = x @ weights
            value = np.logaddexp(0, -y * score).mean() + self.penalty * (weights**2).sum()
            slope = -(y / (1 + np.exp(np.clip(y * score, -50, 50)))) @ x / len(y)
            return float(value), slope + 2 * self.penalty * weights

        weights = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x
        a, b = self._table(test)
        a = np.hstack([(a - middle) / width, np.ones((len(a), 1))])
        return float(((a @ weights > 0) == (b > 0)).mean())

    def _table(self, drawn: Sequence[Example]) -> tuple[np.ndarray, np.ndarray]:
        return np.array([self.features(e) for e in drawn]), np.array([1 if e.label else -1 for e in drawn])


def as_in_the_paper(drawn: Sequence[Example], seed: int) -> list[Example]:
    """The same functions with the paper's false candidates: the derivative of any other function."""
    rng = Random(seed)
    truths = [derivative(e.pair.function) for e in drawn]
    pairs = []
    accidental = 0
    for e, truth in zip(drawn, truths, strict=True):
        candidate = truth if e.label else rng.choice(truths)
        pair = ExpressionPair(e.pair.function, candidate)
        if not e.label and holds(pair) is not False:
            accidental += 1
            continue
        pairs.append(Example(pair, e.label, "derivative" if e.label else "other"))
    print(
        f"\nfalse pairs at random: {accidental} of {sum(not e.label for e in drawn):,} not shown to be false"
    )
    return pairs


def milliseconds(step: Callable[[int], object], count: int) -> float:
    """Processor time of a step, each with its number."""
    step(0)
    begin = time.process_time()
    for number in range(count):
        step(number)
    return (time.process_time() - begin) / count * 1000


def costs(seed: int) -> None:
    """Print what each part of a pair costs."""
    rng = stream(seed, "benchmark")
    some = list(examples("train", 500, seed=seed))
    print("milliseconds")
    grown = milliseconds(lambda _: derivative(tree(rng, COEFFICIENTS[:-1], INPUTS)), 2000)
    print(f"  tree and derivative     {grown:6.3f}")
    print(f"  derivative              {milliseconds(lambda n: derivative(some[n].pair.function), 500):6.3f}")
    print(f"  values of one side      {milliseconds(lambda n: values(some[n].pair.candidate), 500):6.3f}")
    for split in SPLITS:
        made = milliseconds(partial(example, split, seed=seed), 2000)
        print(f"  pair of {split:16}{made:6.3f}")


def shape(drawn: Sequence[Example]) -> None:
    """Print what pairs look like."""
    sides = [[len(tokens(side)) for side in e.pair] for e in drawn]
    print(f"\n{len(drawn):,} pairs, {sum(e.label for e in drawn) / len(drawn):.1%} true")
    print(f"  tokens of the function {fmean(length for length, _ in sides):.1f}, of the candidate", end=" ")
    print(f"{fmean(two for _, two in sides):.1f}; both over 125: {fmean(a + b > 125 for a, b in sides):.1%}")
    for origin, count in Counter(e.origin for e in drawn).most_common():
        length = fmean(len(tokens(e.pair.candidate)) for e in drawn if e.origin == origin)
        print(f"  {origin:12}{count:7,}  candidate {length:.1f} tokens")
    print(f"  distinct {len({e.source for e in drawn}):,}; functions", end=" ")
    print(f"{len({tuple(tokens(e.pair.function)) for e in drawn}):,}")


def shortcuts(train: Sequence[Example], test: Sequence[Example]) -> None:
    """Print the accuracy of readers that do not differentiate."""
    for name, rule in RULES.items():
        print(f"  {name:36}{fmean(rule(e) == e.label for e in test):7.1%}")
    alone = Reader(features=lambda e: counts(e, both=False))
    both = Reader(features=lambda e: counts(e, both=True))
    print(f"  {'tokens of the candidate':36}{alone.accuracy(train, test):7.1%}")
    print(f"  {'tokens of both':36}{both.accuracy(train, test):7.1%}")


def main() -> None:
    """Read the arguments and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", type=int, default=20_000)
    parser.add_argument("--test", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    costs(asked.seed)
    train = list(examples("train", asked.train, seed=asked.seed))
    test = list(examples("test", asked.test, seed=asked.seed))
    shape(train)
    print("\naccuracy without comparing the expressions")
    shortcuts(train, test)
    shortcuts(as_in_the_paper(train, asked.seed), as_in_the_paper(test, asked.seed))


if __name__ == "__main__":
    main()
