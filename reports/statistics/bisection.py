"""Where a condition begins to hold, by bisection.

Each search assumes that the condition is monotone. Where it goes up and down a little, the result is one of
the places where it begins to hold.
"""

from collections.abc import Callable


def lowest(low: int, high: int, holds: Callable[[int], bool], *, percent: int = 0) -> int:
    """Return the smallest whole number for which a condition holds, or one that is larger by at most so many
    percent. It holds for `high`, and `low` is below the smallest; neither is asked.
    """
    while high - low > max(1, low * percent // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def grown(start: int, most: int, holds: Callable[[int], bool]) -> int | None:
    """Return the smallest whole number for which a condition holds, to about 1 %; `None` above `most`. It is
    not looked for below the half of `start`, and not above the double of a number that is too small.
    """
    high = start
    while not holds(high):
        if high >= most:
            return None
        high = min(most, 2 * high)
    return lowest(high // 2, high, holds, percent=1)


def crossing(low: float, high: float, precision: float, holds: Callable[[float], bool]) -> float:
    """Return a number for which a condition holds, at most `precision` above one for which it does not. It
    holds for `high` and does not hold for `low`; neither is asked.
    """
    while high - low > precision:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
