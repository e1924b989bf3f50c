"""Transforms that rename the variables of Java methods, and their control."""

from typing import Final

from codeaudit.transforms.java.ledger import LOCAL_NAMES
from codeaudit.transforms.language import MERGING, TransformFamily, changes, keeps, renamings

_TOTAL: Final = """\
static int total(int[] prices, int tax) {
    int result = 0;
    for (int price : prices) {
        result += price * tax;
    }
    return result;
}
"""

_SPAN: Final = """\
static int span(int first, int last) {
    int low = first;
    int high = last;
    return high - low;
}
"""

_CLAMP: Final = """\
static int clamp(int value, int low, int high) {
    int start = Math.min(low, high);
    int end = Math.max(low, high);
    return Math.min(Math.max(value, start), end);
}
"""


FAMILY: Final = TransformFamily.of(
    __name__,
    "identifiers",
    "Names of Java's variables: what may be called otherwise, and what it is called then.",
    *renamings(_TOTAL, _CLAMP),
    keeps(
        "rename:RENAME_PARAMETERS",
        "locals and parameters get other names (keeps the meaning where no reflection reads parameters)",
        _TOTAL,
        MERGING,
        interface=True,
        rests_on=(*LOCAL_NAMES, "parameter-names-unread"),
    ),
    changes("merging:RENAME_MERGING", "two variables become one", _SPAN),
    rests_on=LOCAL_NAMES,
)
