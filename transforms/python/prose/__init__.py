"""The family `prose`: other words in the docstring that says what a function is for."""

from typing import Final

from codeaudit.transforms.language import TransformFamily
from codeaudit.transforms.prose import EVERY, SUMMARY, rephrases

_WIDEST: Final = '''\
def widest(values: list[int], least: int) -> int:
    """Return the largest of the given values that is greater than a number.

    >>> widest([3, 8, 5], 4)
    8
    """
    return max(value for value in values if value > least)
'''

FAMILY: Final = TransformFamily.of(
    __name__,
    "prose",
    SUMMARY,
    *(
        rephrases(f"rules:{name.upper().replace('-', '_')}", summary, _WIDEST)
        for name, (_, summary) in EVERY.items()
    ),
)
