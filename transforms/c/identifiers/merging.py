"""`rename-merging` for C: the control of renaming. Two variables become one."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from codeaudit.transforms.c.identifiers.rename import NOT_A_MOVE, CVariables, variables
from codeaudit.transforms.c.macros import InFile, Surroundings
from codeaudit.transforms.c.parsing import C
from codeaudit.transforms.c.types import declared_type
from codeaudit.transforms.renaming import Merging
from codeaudit.transforms.strategies.merging import CodeMerges
from codeaudit.transforms.syntax.scopes import Binding


class _Merges(CodeMerges):
    """The merges of one function."""

    variables: CVariables

    def description(self, binding: Binding) -> bytes | None:
        """The type as the declaration writes it, for variables that are no arrays and may be assigned."""
        words = declared_type(self.scopes, binding)
        return None if words is None or "const" in words.split() else words.encode()


@lru_cache(maxsize=8)
def _merges(source: str, around: Surroundings) -> _Merges:
    return _Merges(variables(source, around))


@dataclass(frozen=True, slots=True, kw_only=True)
class CMerging(InFile, Merging):
    """Makes one variable of a C function another one. One merge is one move."""

    foreign: str = NOT_A_MOVE
    language: str = C
    around: str = field(default="", repr=False)

    def merges(self, source: str) -> _Merges:
        """As in all languages, computed once for all variants."""
        return _merges(source, self.surroundings)


RENAME_MERGING: Final = CMerging()
