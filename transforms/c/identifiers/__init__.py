"""Transforms of the names of C's variables."""

from typing import Final

from codeaudit.transforms.c.ledger import NAMES
from codeaudit.transforms.language import TransformFamily, changes, keeps

_TOTAL: Final = """\
int total(const int *prices, int count, int tax)
{
    int result = 0;
    for (int i = 0; i < count; i++) {
        int price = prices[i];
        result += price * tax;
    }
    return result;
}
"""

_CLAMP: Final = """\
int clamp(int value, int low, int high)
{
    int start = low < high ? low : high;
    int end = low < high ? high : low;
    return value < start ? start : value > end ? end : value;
}
"""

_SPAN: Final = """\
int span(int first, int last)
{
    int low = first;
    int high = last;
    return high - low;
}
"""

_RENAMINGS: Final = (
    "rename", "rename-random", "rename-shuffle", "rename-misleading", "rename-canonical", "rename-parameters",
)  # fmt: skip
"""They rename the same variables: of several in a row, little more than the last can be seen."""

_TWIN: Final = "rename-merging"

FAMILY: Final = TransformFamily.of(
    __name__,
    "identifiers",
    "Names of C's variables: what may be called otherwise, and what it is called then.",
    keeps("rename:RENAME", "local variables get other names", _TOTAL, _TWIN, undoes=_RENAMINGS),
    keeps("rename:RENAME_RANDOM", "local variables get pronounceable names without meaning", _CLAMP, _TWIN,
        undoes=_RENAMINGS),
    keeps("rename:RENAME_SHUFFLE", "local variables swap their names", _CLAMP, _TWIN, undoes=_RENAMINGS),
    keeps("rename:RENAME_MISLEADING", "local variables get names that say something else", _TOTAL, _TWIN,
        undoes=_RENAMINGS),
    keeps("rename:RENAME_CANONICAL", "local variables become v0, v1, …", _CLAMP, _TWIN, undoes=_RENAMINGS),
    keeps("rename:RENAME_PARAMETERS", "locals and parameters get other names", _TOTAL, _TWIN, interface=True,
        undoes=_RENAMINGS),
    changes("merging:RENAME_MERGING", "two variables become one", _SPAN),
    rests_on=NAMES,
)  # fmt: skip
