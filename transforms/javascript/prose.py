"""Transforms of JavaScript that change the words which say what a function is for."""

from typing import Final

from codeaudit.transforms.language import TransformFamily
from codeaudit.transforms.prose import EVERY, SUMMARY, rephrases

_REQUEST: Final = """\
// Return the sum of all values that are greater than a number.
function above(values, least) {
    return values.filter((value) => value > least).reduce((a, b) => a + b, 0);
}
"""

FAMILY: Final = TransformFamily.of(
    __package__,
    "prose",
    SUMMARY,
    *(
        rephrases(f"rules:{name.upper().replace('-', '_')}", summary, _REQUEST)
        for name, (_, summary) in EVERY.items()
    ),
)
