"""Transforms of the names of C's variables."""

from typing import Final

from codeaudit.transforms.c.ledger import NAMES
from codeaudit.transforms.language import MERGING, TransformFamily, changes, keeps, renamings

_TOTAL: Final = """\
int total(const int *prices, int count, int tax) {
    int result = 0;
    for (int i = 0; i < count; i++) {
        int price = prices[i];
        result += price * tax;
    }
    return result;
}
"""

CLAMP: Final = """\
int clamp(int value, int low, int high) {
    int start = low < high ? low : high;
    int end = low < high ? high : low;
    return value < start ? start : value > end ? end : value;
}
"""

FAMILY: Final = TransformFamily.of(
    __name__,
    "identifiers",
    "Names of C's variables: what may be called otherwise, and what it is called then.",
    *renamings(_TOTAL, CLAMP),
    keeps("rename:RENAME_PARAMETERS", "locals and parameters get other names", _TOTAL, MERGING,
        interface=True),
    changes("merging:RENAME_MERGING", "two variables become one", CLAMP),
    rests_on=NAMES,
)  # fmt: skip
