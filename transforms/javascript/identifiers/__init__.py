"""Transforms that rename the variables of JavaScript functions, and their control."""

from typing import Final

from codeaudit.transforms.javascript.ledger import LOCAL_NAMES
from codeaudit.transforms.language import MERGING, TransformFamily, changes, keeps, renamings

_TOTAL: Final = """\
function total(prices, tax) {
    let result = 0;
    for (const price of prices) {
        result += price * tax;
    }
    return { result, count: prices.length };
}
"""

_SPAN: Final = """\
function span(first, last) {
    let low = first;
    let high = last;
    return high - low;
}
"""

_CLAMP: Final = """\
function clamp(value, low, high) {
    const start = Math.min(low, high);
    const end = Math.max(low, high);
    return Math.min(Math.max(value, start), end);
}
"""


FAMILY: Final = TransformFamily.of(
    __name__,
    "identifiers",
    "Names of JavaScript's variables: what may be called otherwise, and what it is called then.",
    *renamings(_TOTAL, _CLAMP),
    keeps(
        "rename:RENAME_PARAMETERS",
        "locals and parameters get other names (keeps the meaning where nobody reads the text of a function)",
        _TOTAL,
        MERGING,
        interface=True,
        rests_on=(*LOCAL_NAMES, "parameter-names-unread"),
    ),
    changes("merging:RENAME_MERGING", "two variables become one", _SPAN),
    rests_on=LOCAL_NAMES,
)
