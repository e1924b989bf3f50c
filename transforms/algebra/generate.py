"""The modified Backward data set (Renamer, appendix E): a function, and its derivative or not.

Functions are drawn as in Lample and Charton: first a tree of unary and binary operators, uniformly among the
trees of its size, then the operators and leaves. In the paper, a false pair holds any other expression of the
data set, and most of these contain a variable that the function does not have. Here a wrong derivative has
exactly the variables of the true one, so the variables alone decide nothing, and most are near the true one:

    nearby     the true derivative of a function that differs at one node
    changed    the true derivative with another operator, variable or constant at one node
    partial    the derivative with respect to another variable
    other      the derivative of an unrelated function of the same variables

No wrong derivative is true by accident: its values differ from those of the true one at points in general
position.

A pair is a function of (seed, split, index) only. No function of one split is a renaming of a function of
another split, because the hash of the canonical form determines the split. The functions of the extended test
set have one coefficient more than all others, so no renaming makes one from the training set.
"""

from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from random import Random
from typing import Final, Literal, NamedTuple, TypeAlias, get_args
from zlib import crc32

from codeaudit.transforms.algebra.calculus import compare, derivative, values
from codeaudit.transforms.algebra.expressions import (
    COEFFICIENTS,
    INPUTS,
    UNARY,
    VARIABLES,
    ZERO,
    Expression,
    ExpressionPair,
    Head,
    Number,
    Variable,
    X,
    binary,
    build,
    heads,
    names,
    pair_text,
    power,
    tokens,
    unary,
)
from codeaudit.transforms.algebra.views import canonical
from codeaudit.transforms.seeding import stream

Split: TypeAlias = Literal["train", "valid", "test", "extended"]
Origin: TypeAlias = Literal["derivative", "nearby", "changed", "partial", "other"]
"""The way a candidate was made; all but the first are wrong."""

SPLITS: Final[tuple[Split, ...]] = get_args(Split)
SIZES: Final[Mapping[Split, int]] = {"train": 300_000, "valid": 9_128, "test": 9_139, "extended": 9_139}
"""The sizes in the paper."""

FEWEST_OPERATORS: Final = 3
MOST_OPERATORS: Final = 15
MOST_TOKENS: Final = 126
"""The most tokens of each expression."""

_CLASSES: Final[Mapping[Split, tuple[int, ...]]] = {
    "train": (0, 1),
    "valid": (2,),
    "test": (3,),
}
"""The quarters of all hashes that belong to each split; those of the extended one have a coefficient more."""
_ORIGINS: Final[tuple[Origin, ...]] = ("nearby", "changed", "partial", "other")
_WEIGHTS: Final = (0.4, 0.3, 0.15, 0.15)
"""The probability of each kind of wrong derivative."""
_TRIES: Final = 24
"""The number of tries for a wrong derivative before another function is drawn."""
_X: Final = Variable(X)
_COEFFICIENTS: Final = tuple(Variable(name) for name in COEFFICIENTS)
_CONSTANTS: Final = (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)
_BINARY: Final = ("add", "sub", "mul", "div")
"""Powers are drawn as unary operators, with these exponents."""
_EXPONENTS: Final = (2, 2, 2, 3, 3, 4)
_POWER_SHARE: Final = 0.15
"""Of unary operators."""
_X_SHARE: Final = 0.42
_INPUT_SHARE: Final = 0.17
_COEFFICIENT_SHARE: Final = 0.26
"""Of leaves; what is left are constants."""


class Example(NamedTuple):
    """One pair with its label."""

    pair: ExpressionPair
    label: bool
    """Whether the candidate is the function's derivative."""
    origin: Origin

    @property
    def source(self) -> str:
        """The text that a model sees."""
        return pair_text(self.pair)


def examples(split: Split, size: int, *, seed: int = 0, start: int = 0) -> Iterator[Example]:
    """The examples `start`, `start + 1`, … of a split, `size` of them; half of them true on average."""
    return (example(split, index, seed=seed) for index in range(start, start + size))


def example(split: Split, index: int, *, seed: int = 0) -> Example:
    """One example of a split."""
    rng = stream(seed, "algebra", split, index)
    label = rng.random() < 0.5
    while True:
        function = _function(rng, split)
        truth = derivative(function)
        if truth == ZERO or len(tokens(truth)) > MOST_TOKENS:
            continue
        # A derivative without values at enough points could not be distinguished from a wrong one.
        expected = values(truth)
        if compare(expected, expected) != "equal":
            continue
        if label:
            return Example(ExpressionPair(function, truth), True, "derivative")
        wrong = _wrong(function, truth, expected, rng)
        if wrong is not None:
            return Example(ExpressionPair(function, wrong[1]), False, wrong[0])


# ── functions ────────────────────────────────────────────────────────────────────────────────────────────


def _function(rng: Random, split: Split) -> Expression:
    """A function of x that belongs to a split."""
    while True:
        function = tree(rng, COEFFICIENTS[:-1], INPUTS)
        words = tokens(function)
        if X not in words or len(words) > MOST_TOKENS:
            continue
        if split == "extended":
            extended = _extended(function, rng)
            if extended is not None:
                return extended
        # The hash is of the canonical form, so all renamings of a function are in one split. crc32 because
        # Python's own hash differs from process to process.
        elif crc32(canonical(" ".join(words)).encode()) % 4 in _CLASSES[split]:
            return function


def _extended(function: Expression, rng: Random) -> Expression | None:
    """The function with all coefficients, also the extra one; `None` if it has too few leaves."""
    contents = heads(function)
    places = [number for number, head in enumerate(contents) if head in _COEFFICIENTS]
    if len(places) < len(COEFFICIENTS):
        return None
    # Each coefficient at least once, so no renaming makes the function from one of another split.
    drawn = [*_COEFFICIENTS, *rng.choices(_COEFFICIENTS, k=len(places) - len(COEFFICIENTS))]
    rng.shuffle(drawn)
    for place, head in zip(places, drawn, strict=True):
        contents[place] = head
    return build(contents)


def tree(rng: Random, coefficients: Sequence[str], inputs: Sequence[str]) -> Expression:
    """A random function of x and some other variables, folded; it may lack any of them."""
    done: list[Expression] = []
    # The shape is in prefix order, so from the right every node finds its operands finished.
    for operands in reversed(_shape(rng)):
        if operands == 0:
            done.append(_leaf(rng, coefficients, inputs))
        elif operands == 2:
            done.append(binary(rng.choice(_BINARY), done.pop(), done.pop()))
        elif rng.random() < _POWER_SHARE:
            done.append(power(done.pop(), Number(rng.choice(_EXPONENTS))))
        else:
            done.append(unary(rng.choice(UNARY), done.pop()))
    return done[0]


def _shape(rng: Random) -> list[int]:
    """The number of operands of each node of a random tree, in prefix order.

    Each operator is put into one of the open slots; the slots before it become leaves.
    """
    counts: list[int] = []
    open_places = 1
    for operators in range(rng.randint(FEWEST_OPERATORS, MOST_OPERATORS), 0, -1):
        # Two entries for each slot (binary, unary), weighted by the number of trees behind that choice: so
        # every tree of the size is equally likely, as in Lample and Charton.
        sums = _sums(open_places, operators)
        passed, single = divmod(bisect(sums, rng.random() * sums[-1]), 2)
        counts += [0] * passed
        counts.append(1 if single else 2)
        open_places += (0 if single else 1) - passed
    return counts + [0] * open_places


@cache
def _sums(open_places: int, operators: int) -> tuple[int, ...]:
    """Cumulative numbers of trees by the next step: for each slot, first with a binary operator, then a unary
    one.
    """
    counts = []
    for remaining in range(open_places, 0, -1):
        counts += [_trees(remaining + 1, operators - 1), _trees(remaining, operators - 1)]
    return tuple(accumulate(counts))


@cache
def _trees(open_places: int, operators: int) -> int:
    """The number of ways to place the operators into the open slots."""
    if operators == 0:
        return 1
    return _sums(open_places, operators)[-1]


def _leaf(rng: Random, coefficients: Sequence[str], inputs: Sequence[str]) -> Expression:
    drawn = rng.random()
    if drawn < _X_SHARE:
        return _X
    if drawn < _X_SHARE + _COEFFICIENT_SHARE:
        return Variable(rng.choice(coefficients)) if coefficients else _X
    if drawn < _X_SHARE + _COEFFICIENT_SHARE + _INPUT_SHARE:
        return Variable(rng.choice(inputs)) if inputs else _X
    return Number(rng.choice(_CONSTANTS))


# ── wrong derivatives ────────────────────────────────────────────────────────────────────────────────────


def _wrong(
    function: Expression, truth: Expression, expected: tuple[complex | None, ...], rng: Random
) -> tuple[Origin, Expression] | None:
    """A wrong derivative with the variables of the true one; `None` after `_TRIES` failures."""
    variables = VARIABLES.intersection(tokens(truth))
    for _ in range(_TRIES):
        (origin,) = rng.choices(_ORIGINS, _WEIGHTS)
        candidate = _candidate(origin, function, truth, rng)
        if candidate is None:
            continue
        words = tokens(candidate)
        # With other variables than the true derivative, the variables alone would show that it is wrong.
        if len(words) > MOST_TOKENS or VARIABLES.intersection(words) != variables:
            continue
        # An edit may give the true derivative in another form (`add x x` for `mul INT+ 2 x`).
        if compare(expected, values(candidate)) == "different":
            return origin, candidate
    return None


def _candidate(origin: Origin, function: Expression, truth: Expression, rng: Random) -> Expression | None:
    variables = sorted(names(function))
    match origin:
        case "nearby":
            nearby = _changed(function, variables, rng)
            return derivative(nearby) if nearby is not None else None
        case "changed":
            return _changed(truth, variables, rng)
        case "partial":
            others = [name for name in variables if name != X]
            return derivative(function, by=rng.choice(others)) if others else None
        case _:
            coefficients = [name for name in variables if name in COEFFICIENTS]
            inputs = [name for name in variables if name in INPUTS]
            return derivative(tree(rng, coefficients, inputs))


def _changed(expression: Expression, variables: Sequence[str], rng: Random) -> Expression | None:
    """The expression with another content at one node, folded; `None` if the node has no alternative."""
    contents = heads(expression)
    place = rng.randrange(len(contents))
    others: Sequence[Head]
    match contents[place]:
        case Variable(name):
            others = [Variable(other) for other in variables if other != name]
        case Number(value):
            others = [Number(other) for other in (value - 1, value + 1, -value) if other != value]
        case head:
            others = [other for other in (UNARY if head in UNARY else _BINARY) if other != head]
    if not others:
        return None
    contents[place] = rng.choice(others)
    return build(contents)
