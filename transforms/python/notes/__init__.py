"""Docstrings and annotations, which Python keeps and does not follow."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

_TOTAL: Final = '''\
def total(values: list[int], start: int = 0) -> int:
    """Add the values up."""
    result: int = start

    def add(value):
        """Add one value."""
        return result + value

    for value in values:
        result = add(value)
    return result
'''

_PRODUCT: Final = """\
def product(values):
    result = 1
    for value in values:
        result *= value
    return result
"""

ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "remove-local-annotations": TransformEntry(
        "codeaudit.transforms.python.notes.local:REMOVE_LOCAL_ANNOTATIONS",
        "annotations of local variables go",
        family="notes",
        example=_TOTAL,
    ),
    "remove-inner-docstrings": TransformEntry(
        "codeaudit.transforms.python.notes.local:REMOVE_INNER_DOCSTRINGS",
        "docstrings of inner functions that nobody else can reach go",
        family="notes",
        example=_TOTAL,
    ),
    "remove-docstrings": TransformEntry(
        "codeaudit.transforms.python.notes.interface:REMOVE_DOCSTRINGS",
        "the function's docstring goes; keeps the meaning for callers that read no docstring",
        family="notes",
        example=_TOTAL,
        interface=True,
    ),
    "insert-docstrings": TransformEntry(
        "codeaudit.transforms.python.notes.interface:INSERT_DOCSTRINGS",
        "a docstring that says nothing; keeps the meaning for callers that read no docstring",
        family="notes",
        example=_PRODUCT,
        interface=True,
    ),
    "remove-annotations": TransformEntry(
        "codeaudit.transforms.python.notes.interface:REMOVE_ANNOTATIONS",
        "annotations of parameters and result go; keeps the meaning for callers that read no annotation",
        family="notes",
        example=_TOTAL,
        interface=True,
    ),
}
