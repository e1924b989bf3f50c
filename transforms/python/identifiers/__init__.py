"""The family `identifiers`: other names for variables, functions and classes, and the controls that merge or
swap them.
"""

from typing import Final

from codeaudit.transforms.language import MERGING, TransformFamily, changes, keeps, renamings
from codeaudit.transforms.python.ledger import LOCAL_NAMES

_TOTAL: Final = """\
def total(prices, tax):
    result = 0
    for price in prices:
        result += price * tax
    return result
"""

_SPAN: Final = """\
def span(first, last):
    low = first
    high = last
    return high - low
"""

_CLAMP: Final = """\
def clamp(values, low, high):
    start = low
    end = high
    return [min(max(value, start), end) for value in values]
"""

_SCALED: Final = """\
def scaled(values):
    def scale(value, by=2):
        return value * by
    return [scale(value) for value in values]
"""

_HALVES: Final = """\
def _half(number):
    return number / 2


def _double(number):
    return number * 2


def around(number):
    return _half(number), _double(number)
"""

_LIMITS: Final = """\
class _Limits:
    LOW = 0
    HIGH = 9


def clamp(value):
    return min(max(value, _Limits.LOW), _Limits.HIGH)
"""


FAMILY: Final = TransformFamily.of(
    __name__,
    "identifiers",
    "Names: what may be called otherwise, and what it is called then.",
    *renamings(_TOTAL, _CLAMP),
    keeps(
        "definitions:RENAME_INNER_FUNCTIONS",
        "functions inside a function that are only called get other names",
        _SCALED,
        rests_on=(*LOCAL_NAMES, "definition-names-unread"),
    ),
    keeps(
        "rename:RENAME_PARAMETERS",
        "locals and parameters get other names (keeps the meaning for positional callers)",
        _TOTAL,
        MERGING,
        interface=True,
        rests_on=(*LOCAL_NAMES, "calls-by-position"),
    ),
    keeps(
        "definitions:RENAME_FUNCTIONS",
        "a module's private functions get other names (keeps the meaning where nobody imports them)",
        _HALVES,
        "rename-functions-merging",
        interface=True,
        rests_on=(*LOCAL_NAMES, "definition-names-unread"),
    ),
    keeps(
        "definitions:RENAME_CLASSES",
        "a module's private namespaces of literals get other names (where nobody imports them)",
        _LIMITS,
        interface=True,
        rests_on=(*LOCAL_NAMES, "definition-names-unread"),
    ),
    changes("merging:RENAME_MERGING", "two variables become one", _SPAN),
    changes("definitions:RENAME_FUNCTIONS_MERGING", "two functions of a module swap their names", _HALVES),
    rests_on=LOCAL_NAMES,
)
