"""Transforms that rename the variables of Java methods, and their control."""

from typing import Final

from codeaudit.transforms.java.ledger import LOCAL_NAMES
from codeaudit.transforms.language import TransformFamily, changes, keeps

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
    keeps("rename:RENAME", "local variables get other names", _TOTAL, "rename-merging"),
    keeps(
        "rename:RENAME_RANDOM",
        "local variables get pronounceable names without meaning",
        _CLAMP,
        "rename-merging",
    ),
    keeps("rename:RENAME_SHUFFLE", "local variables swap their names", _CLAMP, "rename-merging"),
    keeps(
        "rename:RENAME_MISLEADING",
        "local variables get names that say something else",
        _TOTAL,
        "rename-merging",
    ),
    keeps("rename:RENAME_CANONICAL", "local variables become v0, v1, …", _CLAMP, "rename-merging"),
    keeps(
        "rename:RENAME_PARAMETERS",
        "locals and parameters get other names (keeps the meaning where no reflection reads parameters)",
        _TOTAL,
        "rename-merging",
        interface=True,
        rests_on=(*LOCAL_NAMES, "parameter-names-unread"),
    ),
    changes("merging:RENAME_MERGING", "two variables become one", _SPAN),
    rests_on=LOCAL_NAMES,
)
