"""The family `notes`: docstrings and annotations, which Python keeps and does not follow."""

from typing import Final

from codeaudit.transforms.language import TransformFamily, keeps
from codeaudit.transforms.python.ledger import LAYOUT

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


FAMILY: Final = TransformFamily.of(
    __name__,
    "notes",
    "Docstrings and annotations, which Python keeps and does not follow.",
    keeps("rules:REMOVE_LOCAL_ANNOTATIONS", "annotations of local variables go", _TOTAL),
    keeps(
        "rules:REMOVE_INNER_DOCSTRINGS", "docstrings of inner functions that nobody else can reach go", _TOTAL
    ),
    keeps(
        "rules:REMOVE_DOCSTRINGS",
        "the function's docstring goes; keeps the meaning for callers that read no docstring",
        _TOTAL,
        interface=True,
        undoes=("insert-docstrings",),
    ),
    keeps(
        "rules:INSERT_DOCSTRINGS",
        "a docstring that says nothing; keeps the meaning for callers that read no docstring",
        _PRODUCT,
        interface=True,
    ),
    keeps(
        "rules:REMOVE_ANNOTATIONS",
        "annotations of parameters and result go; keeps the meaning for callers that read no annotation",
        _TOTAL,
        interface=True,
        rests_on=(*LAYOUT, "lookups-exist", "looks-quiet", "notes-unread"),
    ),
    rests_on=(*LAYOUT, "notes-unread"),
)
