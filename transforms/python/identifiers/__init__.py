"""Names: what may be called otherwise, and what it is called then."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

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

ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "rename": TransformEntry(
        "codeaudit.transforms.python.identifiers.rename:RENAME",
        "local variables get other names",
        family="identifiers",
        example=_TOTAL,
        twin="rename-merging",
    ),
    "rename-random": TransformEntry(
        "codeaudit.transforms.python.identifiers.rename:RENAME_RANDOM",
        "local variables get pronounceable names without meaning",
        family="identifiers",
        example=_CLAMP,
        twin="rename-merging",
    ),
    "rename-shuffle": TransformEntry(
        "codeaudit.transforms.python.identifiers.rename:RENAME_SHUFFLE",
        "local variables swap their names",
        family="identifiers",
        example=_CLAMP,
        twin="rename-merging",
    ),
    "rename-misleading": TransformEntry(
        "codeaudit.transforms.python.identifiers.rename:RENAME_MISLEADING",
        "local variables get names that say something else",
        family="identifiers",
        example=_TOTAL,
        twin="rename-merging",
    ),
    "rename-canonical": TransformEntry(
        "codeaudit.transforms.python.identifiers.rename:RENAME_CANONICAL",
        "local variables become v0, v1, …",
        family="identifiers",
        example=_CLAMP,
        twin="rename-merging",
    ),
    "rename-inner-functions": TransformEntry(
        "codeaudit.transforms.python.identifiers.functions:RENAME_INNER_FUNCTIONS",
        "functions inside a function that are only called get other names",
        family="identifiers",
        example=_SCALED,
    ),
    "rename-parameters": TransformEntry(
        "codeaudit.transforms.python.identifiers.rename:RENAME_PARAMETERS",
        "locals and parameters get other names (keeps the meaning for positional callers)",
        family="identifiers",
        example=_TOTAL,
        twin="rename-merging",
        interface=True,
    ),
    "rename-functions": TransformEntry(
        "codeaudit.transforms.python.identifiers.modules:RENAME_FUNCTIONS",
        "a module's private functions get other names (keeps the meaning where nobody imports them)",
        family="identifiers",
        example=_HALVES,
        twin="rename-functions-merging",
        interface=True,
    ),
    "rename-classes": TransformEntry(
        "codeaudit.transforms.python.identifiers.modules:RENAME_CLASSES",
        "a module's private namespaces of literals get other names (where nobody imports them)",
        family="identifiers",
        example=_LIMITS,
        interface=True,
    ),
    "rename-merging": TransformEntry(
        "codeaudit.transforms.python.identifiers.merging:RENAME_MERGING",
        "control: two variables become one",
        family="identifiers",
        kind="control",
        example=_SPAN,
    ),
    "rename-functions-merging": TransformEntry(
        "codeaudit.transforms.python.identifiers.swapping:RENAME_FUNCTIONS_MERGING",
        "control: two functions of a module swap their names",
        family="identifiers",
        kind="control",
        example=_HALVES,
    ),
}
