"""Copy and Counting, languages that are made (CoDE, appendix A.2)."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from torch import Tensor

SUFFIX: Final = 4
"""Length of the part by which the names of functions differ."""
ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
PIECES: Final = ("def func_", "():", "    return ", "print(func_", "())")
OPERATIONS: Final = ("var0", " = 0", "++", "pass", "print(", ")")
WEIGHTS: Final = (1.0, 5.0)
"""Weights of setting and of incrementing. The weight of `pass` is the number of operations."""
MOST: Final = 60
"""A sample whose variable ends with a larger value is drawn again."""


class Words:
    """The pieces of a made language as tokens; the line break and `start` are the first two."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._ids = {piece: number for number, piece in enumerate(["\n", "", *dict.fromkeys(pieces)])}
        self.size = len(self._ids)

    def ids(self, pieces: Sequence[str]) -> list[int]:
        """The id of `start`, then the ids of the pieces."""
        return [1, *(self._ids[piece] for piece in pieces)]


COPY_WORDS: Final = Words([*PIECES, *ALPHABET])
COUNTING_WORDS: Final = Words([*OPERATIONS, *map(str, range(MOST + 1))])


def copy_sample(
    rng: np.random.Generator, functions: int, suffix: int = SUFFIX, signs: int = len(ALPHABET)
) -> list[str]:
    """Functions that each return a digit, a call of one of them, and its digit (appendix A.2)."""
    names: dict[str, str] = {}
    while len(names) < functions:
        name = "".join(ALPHABET[at] for at in rng.integers(signs, size=suffix))
        names.setdefault(name, str(rng.integers(10)))
    pieces: list[str] = []
    for name, digit in names.items():
        pieces += [PIECES[0], *name, PIECES[1], "\n", PIECES[2], digit, "\n"]
    chosen = list(names)[rng.integers(functions)]
    return [*pieces, PIECES[3], *chosen, PIECES[4], "\n", names[chosen]]


def counting_sample(rng: np.random.Generator, operations: int) -> list[str]:
    """A variable set to 0, operations drawn 1 : 5 : n, and what it holds in the end (appendix A.2)."""
    weights = np.array([*WEIGHTS, operations])
    while True:
        drawn = [0, *rng.choice(3, size=operations - 1, p=weights / weights.sum())]
        last = max(at for at, kind in enumerate(drawn) if kind == 0)
        count = drawn[last:].count(1)
        if count <= MOST:
            break
    lines = (["var0", " = 0", "\n"], ["var0", "++", "\n"], ["pass", "\n"])
    pieces = [piece for kind in drawn for piece in lines[kind]]
    return [*pieces, "print(", "var0", ")", "\n", str(count)]


def commonest(ids: Tensor) -> float:
    """How often the answer is the digit that most functions return, with ties drawn at random.

    A model that ignores the names can do no better. `ids` is (N, T); each row ends with the answer.
    """
    returns = COPY_WORDS.ids([PIECES[2]])[1]
    digits = ids[:, 1:][ids[:, :-1] == returns].view(len(ids), -1)
    counts = (digits[:, :, None] == digits[:, None]).sum(2)
    most = counts == counts.max(1, keepdim=True).values
    right = most & (digits == ids[:, -1:])
    return float((right.sum(1) / most.sum(1)).double().mean())
