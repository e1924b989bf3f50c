"""Delta debugging (ddmin): Zeller and Hildebrandt 2002, Simplifying and Isolating Failure-Inducing Input."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def minimal(
    items: Sequence[T], first: Callable[[Iterator[tuple[T, ...]]], tuple[T, ...] | None]
) -> tuple[T, ...]:
    """A failing subset from which no single item can be removed. The items together must fail.

    `first` returns the first of several candidates that fails, or `None`. It receives all candidates of a
    round at once, so that it may ask a model about them in batches.
    """
    kept, parts = tuple(items), 2
    while len(kept) > 1:
        cuts = [round(number * len(kept) / parts) for number in range(parts + 1)]
        spans = list(pairwise(cuts))
        if (chunk := first(kept[low:high] for low, high in spans)) is not None:
            kept, parts = chunk, 2
        # With two chunks, the rest of one is the other, which was tried above.
        elif parts > 2 and (rest := first(kept[:low] + kept[high:] for low, high in spans)) is not None:
            kept, parts = rest, parts - 1
        elif parts < len(kept):
            parts = min(len(kept), 2 * parts)
        else:
            break
    return kept
