"""The generator: the same pairs always, half of them true, no false one by accident, no shortcut, no leak."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise

import pytest

from codeaudit.transforms.algebra.calculus import compare, derivative, holds, points, value, values
from codeaudit.transforms.algebra.expressions import (
    COEFFICIENTS,
    VARIABLES,
    Expression,
    names,
    parse,
    text,
    tokens,
)
from codeaudit.transforms.algebra.generate import MOST_TOKENS, SPLITS, Example, Split, example, examples
from codeaudit.transforms.algebra.views import EXTRA, canonical
from tests.transforms.algebra.support import some

COUNT = 1500


def length(expression: Expression) -> int:
    return len(tokens(expression))


@pytest.mark.parametrize("split", SPLITS)
def test_a_pair_depends_on_seed_split_and_index_alone(split: Split) -> None:
    assert some(split, 40)[7] == example(split, 7)
    assert list(examples(split, 3, start=5)) == list(some(split, 40)[5:8])
    assert example(split, 7, seed=1) != example(split, 7)
    others = {example(other, 7).source for other in SPLITS}
    assert len(others) == len(SPLITS)


def test_another_process_draws_the_same_pairs() -> None:
    program = (
        "from hashlib import sha256; from codeaudit.transforms.algebra.generate import examples;"
        "print(sha256('\\n'.join(e.source for e in examples('test', 40)).encode()).hexdigest())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    here = sha256("\n".join(sample.source for sample in some("test", 40)).encode()).hexdigest()
    assert done.stdout.strip() == here


@pytest.mark.slow
@pytest.mark.parametrize("split", SPLITS)
def test_half_are_true_and_all_are_short_enough(split: Split) -> None:
    samples = some(split, COUNT if split == "train" else 300)
    share = sum(sample.label for sample in samples) / len(samples)
    assert abs(share - 0.5) < 4 * 0.5 / len(samples) ** 0.5
    assert all(length(side) <= MOST_TOKENS for sample in samples for side in sample.pair)
    assert all("x" in names(sample.pair.function) for sample in samples)
    assert len({sample.source for sample in samples}) > 0.99 * len(samples)


def test_a_true_pair_holds_by_rule_and_a_false_one_by_no_value() -> None:
    for sample in some("train", COUNT):
        assert holds(sample.pair) is sample.label
        if sample.label:
            assert sample.origin == "derivative"
            assert derivative(sample.pair.function) == sample.pair.candidate
        else:
            assert sample.origin != "derivative"
            assert (
                compare(values(derivative(sample.pair.function)), values(sample.pair.candidate))
                == "different"
            )


@pytest.mark.slow
def test_a_false_pair_is_false_on_the_real_numbers_too() -> None:
    """A hyperbolic tangent may be one there but for rounding, and so hide a difference; hardly more may."""
    hidden = shown = 0
    for sample in some("train", COUNT):
        gaps = []
        for start in (0.37, 0.61, 1.43):
            place = {name: complex(start + 0.171 * number) for number, name in enumerate(sorted(VARIABLES))}
            left, right = value(derivative(sample.pair.function), place), value(sample.pair.candidate, place)
            if left is not None and right is not None and not left.imag and not right.imag:
                gaps.append(abs(left - right) / max(abs(left), abs(right), 1e-300))
        if gaps and not sample.label:
            shown += max(gaps) > 1e-9
            hidden += max(gaps) <= 1e-9
    assert shown > 200
    assert hidden <= shown / 100


def test_what_cancels_is_no_pair() -> None:
    """The derivative of x times its reciprocal is rounding; a wrong one that is zero too would be true."""
    truth = derivative(parse("mul mul asinh cosh INT- 1 x div a1 x"))
    assert sum(value(truth, point) != 0 for point in points()) >= 2
    assert not any(values(truth))


def test_wrong_derivatives_of_every_kind() -> None:
    origins = Counter(sample.origin for sample in some("train", COUNT) if not sample.label)
    shares = {origin: count / origins.total() for origin, count in origins.items()}
    assert shares["nearby"] > 0.25
    assert shares["changed"] > 0.25
    assert shares["partial"] > 0.05
    assert shares["other"] > 0.02


RULES: dict[str, Callable[[Example], bool]] = {
    "no variable is new": lambda sample: names(sample.pair.candidate) <= names(sample.pair.function),
    "the same variables": lambda sample: names(sample.pair.candidate) == names(sample.pair.function),
    "the variables of the true one": lambda sample: (
        names(sample.pair.candidate) == names(derivative(sample.pair.function))
    ),
    "longer than usual": lambda sample: length(sample.pair.candidate) > 45,
    "longer for its function": lambda sample: (
        length(sample.pair.candidate) > 2.6 * length(sample.pair.function)
    ),
    "the same coefficients": lambda sample: (
        not (names(sample.pair.candidate) ^ names(sample.pair.function)) & {*COEFFICIENTS}
    ),
    "shares its first operator": lambda sample: (
        tokens(sample.pair.candidate)[0] == tokens(sample.pair.function)[0]
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_no_simple_rule_tells_true_from_false(rule: str) -> None:
    samples = some("train", COUNT)
    right = sum(RULES[rule](sample) == sample.label for sample in samples) / len(samples)
    assert max(right, 1 - right) < 0.58


def test_the_variables_say_nothing_at_all() -> None:
    for sample in some("train", COUNT):
        assert names(sample.pair.candidate) == names(derivative(sample.pair.function))


def test_the_rule_of_variables_would_decide_random_pairs() -> None:
    """The contrast: candidates that belong to another function give themselves away."""
    true = [sample for sample in some("train", COUNT) if sample.label]
    fits = [names(b.pair.candidate) <= names(a.pair.function) for a, b in pairwise(true)]
    assert (1 + sum(not fit for fit in fits) / len(fits)) / 2 > 0.75


@pytest.mark.slow
def test_no_function_is_a_renaming_of_one_of_another_split() -> None:
    classes = {
        split: {
            canonical(text(sample.pair.function))
            for sample in some(split, COUNT if split == "train" else 300)
        }
        for split in SPLITS
    }
    for split in SPLITS:
        for other in SPLITS:
            assert split == other or not classes[split] & classes[other]


def test_small_functions_would_leak_without_classes_of_their_own() -> None:
    small = [
        canonical(text(sample.pair.function))
        for sample in some("train", COUNT)
        if length(sample.pair.function) < 8
    ]
    assert len(set(small)) < len(small)


@pytest.mark.slow
def test_the_extra_coefficient_stands_in_every_extended_function_and_nowhere_else() -> None:
    for split in SPLITS:
        for sample in some(split, 300):
            used = names(sample.pair.function)
            assert (EXTRA in used) == (split == "extended")
            assert split != "extended" or used >= {*COEFFICIENTS}
