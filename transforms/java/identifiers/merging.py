"""`rename-merging` for Java: the control of renaming. Two variables become one (`strategies.merging`)."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from codeaudit.transforms.java.identifiers.rename import NOT_A_MOVE, variables
from codeaudit.transforms.renaming import Merging
from codeaudit.transforms.strategies.merging import CodeMerges
from codeaudit.transforms.syntax.scopes import Binding


class _JavaMerges(CodeMerges):
    """The merges of one method."""

    def description(self, binding: Binding) -> bytes | None:
        """The type of a variable as its declaration writes it; `None` if it is final or the text is not its
        type.
        """
        node = binding.node
        if binding.view not in ("parameter", "local") or node is None:
            return None
        declaration = node.parent if node.kind == "variable_declarator" else node
        assert declaration is not None
        if declaration.first("modifiers", "annotated_type") or node.child("dimensions"):
            return None
        if declaration.kind not in ("local_variable_declaration", "formal_parameter"):
            return None
        kind = declaration.part("type")
        words = self.scopes.reading.source[kind.start : kind.end]
        return None if words == b"var" else words


@lru_cache(maxsize=8)
def _merges(source: str) -> _JavaMerges:
    return _JavaMerges(variables(source))


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaMerging(Merging):
    """Makes one variable of a Java method another one. One merge is one move."""

    languages: frozenset[str] = field(default=frozenset({"java"}))
    foreign: str = NOT_A_MOVE

    def merges(self, source: str) -> _JavaMerges:
        """The merges of a method, computed once for all of its variants.

        Raises:
            SourceError: the source does not parse or is not one method.
        """
        return _merges(source)


RENAME_MERGING: Final = JavaMerging()
