"""The strategies that C shares with other languages, and its own, as transforms of C.

`__getattr__` gives each by the name that it has where it is written.
"""

from functools import cache
from importlib import import_module
from typing import Final

from codeaudit.transforms.c.rewriting import CRewriting
from codeaudit.transforms.strategies.dialect import CodeStrategy

_MODULES: Final = """
    c.spellings strategies.assignments strategies.branches strategies.conditions strategies.dead_code
    strategies.declarations strategies.layout strategies.literals strategies.logic strategies.loops
    strategies.operands strategies.switches
"""
"""Where strategies are written; C's own first, because its strings stand side by side and are not added."""


@cache
def __getattr__(name: str) -> CRewriting:
    """The strategy of this name, for C.

    Raises:
        AttributeError: there is none.
    """
    for module in _MODULES.split():
        found = vars(import_module(f"codeaudit.transforms.{module}")).get(name)
        if isinstance(found, CodeStrategy):
            return CRewriting.of(found)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
