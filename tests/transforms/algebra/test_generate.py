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
    told = (
        "from hashlib import sha256; from codeaudit.transforms.algebra.generate import examples;"
        "print(sha256('\\n'.join(e.source for e in examples('test', 40)).encode()).hexdigest())"
    )
    found = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    here = sha256("\n".join(one.source for one in some("test", 40)).encode()).hexdigest()
    assert found.stdout.strip() == here


@pytest.mark.slow
@pytest.mark.parametrize("split", SPLITS)
def test_half_are_true_and_all_are_short_enough(split: Split) -> None:
    found = some(split, COUNT if split == "train" else 300)
    share = sum(one.label for one in found) / len(found)
    assert abs(share - 0.5) < 4 * 0.5 / len(found) ** 0.5
    assert all(length(side) <= MOST_TOKENS for one in found for side in one.pair)
    assert all("x" in names(one.pair.function) for one in found)
    assert len({one.source for one in found}) > 0.99 * len(found)


def test_a_true_pair_holds_by_rule_and_a_false_one_by_no_value() -> None:
    for one in some("train", COUNT):
        assert holds(one.pair) is one.label
        if one.label:
            assert one.origin == "derivative"
            assert derivative(one.pair.function) == one.pair.candidate
        else:
            assert one.origin != "derivative"
            assert compare(values(derivative(one.pair.function)), values(one.pair.candidate)) == "different"


@pytest.mark.slow
def test_a_false_pair_is_false_on_the_real_numbers_too() -> None:
    """A hyperbolic tangent may be one there but for rounding, and so hide a difference; hardly more may."""
    hidden = shown = 0
    for one in some("train", COUNT):
        gaps = []
        for start in (0.37, 0.61, 1.43):
            place = {name: complex(start + 0.171 * number) for number, name in enumerate(sorted(VARIABLES))}
            left, right = value(derivative(one.pair.function), place), value(one.pair.candidate, place)
            if left is not None and right is not None and not left.imag and not right.imag:
                gaps.append(abs(left - right) / max(abs(left), abs(right), 1e-300))
        if gaps and not one.label:
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
    found = Counter(one.origin for one in some("train", COUNT) if not one.label)
    shares = {origin: count / found.total() for origin, count in found.items()}
    assert shares["nearby"] > 0.25
    assert shares["changed"] > 0.25
    assert shares["partial"] > 0.05
    assert shares["other"] > 0.02


RULES: dict[str, Callable[[Example], bool]] = {
    "no variable is new": lambda one: names(one.pair.candidate) <= names(one.pair.function),
    "the same variables": lambda one: names(one.pair.candidate) == names(one.pair.function),
    "the variables of the true one": lambda one: (
        names(one.pair.candidate) == names(derivative(one.pair.function))
    ),
    "longer than usual": lambda one: length(one.pair.candidate) > 45,
    "longer for its function": lambda one: length(one.pair.candidate) > 2.6 * length(one.pair.function),
    "the same coefficients": lambda one: (
        not (names(one.pair.candidate) ^ names(one.pair.function)) & {*COEFFICIENTS}
    ),
    "shares its first operator": lambda one: tokens(one.pair.candidate)[0] == tokens(one.pair.function)[0],
}


@pytest.mark.parametrize("rule", RULES)
def test_no_simple_rule_tells_true_from_false(rule: str) -> None:
    found = some("train", COUNT)
    right = sum(RULES[rule](one) == one.label for one in found) / len(found)
    assert max(right, 1 - right) < 0.58


def test_the_variables_say_nothing_at_all() -> None:
    for one in some("train", COUNT):
        assert names(one.pair.candidate) == names(derivative(one.pair.function))


def test_the_rule_of_variables_would_decide_random_pairs() -> None:
    """The contrast: candidates that belong to another function give themselves away."""
    true = [one for one in some("train", COUNT) if one.label]
    fits = [names(b.pair.candidate) <= names(a.pair.function) for a, b in pairwise(true)]
    assert (1 + sum(not fit for fit in fits) / len(fits)) / 2 > 0.75


@pytest.mark.slow
def test_no_function_is_a_renaming_of_one_of_another_split() -> None:
    classes = {
        split: {canonical(text(one.pair.function)) for one in some(split, COUNT if split == "train" else 300)}
        for split in SPLITS
    }
    for split in SPLITS:
        for other in SPLITS:
            assert split == other or not classes[split] & classes[other]


def test_small_functions_would_leak_without_classes_of_their_own() -> None:
    small = [
        canonical(text(one.pair.function)) for one in some("train", COUNT) if length(one.pair.function) < 8
    ]
    assert len(set(small)) < len(small)


@pytest.mark.slow
def test_the_extra_coefficient_stands_in_every_extended_function_and_nowhere_else() -> None:
    for split in SPLITS:
        for one in some(split, 300):
            used = names(one.pair.function)
            assert (EXTRA in used) == (split == "extended")
            assert split != "extended" or used >= {*COEFFICIENTS}
