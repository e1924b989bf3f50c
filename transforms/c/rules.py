"""The strategies that C shares with other languages, and its own, as transforms of C.

`__getattr__` gives each by the name that it has where it is written.
"""

from functools import cache
from typing import Final

from codeaudit.transforms.c import spellings
from codeaudit.transforms.c.rewriting import CRewriting
from codeaudit.transforms.strategies import (
    assignments,
    branches,
    conditions,
    dead_code,
    declarations,
    layout,
    literals,
    logic,
    loops,
    operands,
    switches,
)
from codeaudit.transforms.strategies.dialect import CodeStrategy

_WRITTEN_IN: Final = (
    spellings,  # first, because C's strings stand side by side and are not added
    assignments,
    branches,
    conditions,
    dead_code,
    declarations,
    layout,
    literals,
    logic,
    loops,
    operands,
    switches,
)


@cache
def __getattr__(name: str) -> CRewriting:
    """The strategy of this name, for C.

    Raises:
        AttributeError: there is none.
    """
    for module in _WRITTEN_IN:
        found = vars(module).get(name)
        if isinstance(found, CodeStrategy):
            return CRewriting.of(found)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
