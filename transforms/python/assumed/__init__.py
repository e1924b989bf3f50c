"""The family `assumed`: orders inside statements that keep the meaning only if an announced assumption holds.

`all` does not contain it. Its evidence is `analysis (assumed)`.
"""

from typing import Final

from codeaudit.transforms.language import TransformFamily, keeps
from codeaudit.transforms.python.ledger import EFFECTS

_CALL: Final = """\
def drawn(draw, size):
    return draw(width=size, height=2)
"""

_DISPLAY: Final = """\
from fractions import Fraction


def known(value):
    table = {"one": 1, "two": 2}
    return len(table), isinstance(value, (Fraction, int)), value in (1, "one")
"""

_OPERANDS: Final = """\
def area(one, other):
    width, height = max(len(str(one)), 1), max(len(str(other)), 1)
    if width == height:
        return width + 1
    return width * height
"""

FAMILY: Final = TransformFamily.of(
    __name__,
    "assumed",
    "Other orders inside statements, under an announced assumption.",
    keeps(
        "orders:REORDER_ANY_KEYWORDS",
        "keywords of any call in another order",
        _CALL,
        "arguments-swapped",
        assumes="no callee sees the order of its keywords, and no value raises",
    ),
    keeps(
        "orders:REORDER_ANY_ITEMS",
        "items of any dict or set, and of tuples asked for one of them, in another order",
        _DISPLAY,
        "items-swapped",
        assumes="keys differ, and nobody sees the order of a dict or set, or of comparisons with its items",
    ),
    keeps(
        "orders:SWAP_ANY_OPERANDS",
        "operands of *, ^, == and the like of any type, and of + with a number, in the other order",
        _OPERANDS,
        "operands-swapped-wrong",
        assumes="operators of numbers commute, comparisons have mirrors, and no operand raises",
        rests_on=(*EFFECTS, "operands-commute"),
    ),
    rests_on=(*EFFECTS, "parts-unordered"),
)
