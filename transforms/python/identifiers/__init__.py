"""Names: what may be called otherwise, and what it is called then."""

from collections.abc import Mapping
from typing import Final

from transforms.entries import TransformEntry

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

ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "rename": TransformEntry(
        "transforms.python.identifiers.rename:RENAME",
        "local variables get other names",
        family="identifiers",
        example=_TOTAL,
        twin="rename-merging",
    ),
    "rename-parameters": TransformEntry(
        "transforms.python.identifiers.rename:RENAME_PARAMETERS",
        "locals and parameters get other names (keeps the meaning for positional callers)",
        family="identifiers",
        example=_TOTAL,
        twin="rename-merging",
        interface=True,
    ),
    "rename-merging": TransformEntry(
        "transforms.python.identifiers.merging:RENAME_MERGING",
        "control: two variables become one",
        family="identifiers",
        kind="control",
        example=_SPAN,
    ),
}
