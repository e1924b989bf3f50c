"""Training, validation and test sets that do not overlap, for all papers.

Hashes decide the held-out part, so it depends neither on the order of a corpus nor on a seed.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

PARTS: Final = 20
"""Validation and test each get one part in 20 where they have no corpus of their own."""
NAMES: Final = ("train", "valid", "test")

T = TypeVar("T")
K = TypeVar("K")


class Splits(NamedTuple, Generic[T]):
    """Examples to learn from, to choose the best weights with, and to test."""

    train: list[T]
    valid: list[T]
    test: list[T]


def held_out(keys: Iterable[K], spelled: Callable[[K], str]) -> tuple[set[K], set[K]]:
    """Two disjoint sets of keys, each 1 / PARTS of the distinct ones but at least one; hashes choose them."""
    # The smallest hashes, not a random draw: a corpus in another order or with another seed holds out the
    # same.
    ranked = sorted(set(keys), key=lambda key: hashlib.sha256(_bytes(spelled(key))).digest())
    size = max(1, len(ranked) // PARTS)
    return set(ranked[:size]), set(ranked[size : 2 * size])


def split(
    train: Sequence[T],
    valid: Sequence[T] | None,
    test: Sequence[T] | None,
    *,
    group: Callable[[T], K],
    same: Callable[[T], object],
    spelled: Callable[[K], str],
) -> tuple[Splits[T], int]:
    """The splits, and how many examples were left out because they are also learned.

    Splits that are `None` are groups held out of `train`. Examples of equal `same` count as one.
    """
    for_valid, for_test = held_out(map(group, train), spelled)
    splits: Splits[T] = Splits([], [], [])
    for example in train:
        key = group(example)
        if valid is None and key in for_valid:
            splits.valid.append(example)
        elif test is None and key in for_test:
            splits.test.append(example)
        else:
            splits.train.append(example)
    # Also within one corpus: two files with one text are two groups, and both sides may have one.
    known = {same(example) for example in splits.train}
    left_out = 0
    for examples, place in ((valid, splits.valid), (test, splits.test)):
        wanted = place if examples is None else examples
        fresh = [example for example in wanted if same(example) not in known]
        left_out += len(wanted) - len(fresh)
        place[:] = fresh
    return splits, left_out


def content(texts: Iterable[str]) -> str:
    """A hash of texts."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(_bytes(text))
    return digest.hexdigest()


def _bytes(text: str) -> bytes:
    # A source may hold halves of characters, which plain UTF-8 refuses.
    return text.encode("utf-8", "surrogatepass")
