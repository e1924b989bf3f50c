"""`rename-merging` for JavaScript and TypeScript: the control of renaming. Two variables become one."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from codeaudit.transforms.javascript.identifiers.rename import NOT_A_MOVE, JavaScriptVariables, variables
from codeaudit.transforms.javascript.parsing import JAVASCRIPT
from codeaudit.transforms.renaming import Merging
from codeaudit.transforms.strategies.merging import CodeMerges
from codeaudit.transforms.syntax.scopes import Binding


class _Merges(CodeMerges):
    """The merges of one function."""

    variables: JavaScriptVariables

    def description(self, binding: Binding) -> bytes | None:
        """The same for all variables that are declared once, first of all, and may be assigned again."""
        node, uses = binding.node, binding.occurrences
        if (
            node is None
            or not uses
            or uses[0].use != "declare"
            or any(use.use == "declare" for use in uses[1:])
        ):
            return None
        if any(use.start in self.variables.properties for use in uses):
            return None  # `{ a }`
        if binding.view == "parameter":
            named = (node.child("pattern") or node).kind == "identifier" and node.child("value") is None
            return b"variable" if named else None
        declaration = node.parent
        if binding.view != "local" or node.kind != "variable_declarator" or declaration is None:
            return None
        plain = node.part("name").kind == "identifier"
        return b"variable" if plain and not declaration.has("const") else None


@lru_cache(maxsize=8)
def _merges(source: str, language: str) -> _Merges:
    return _Merges(variables(source, language))


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaScriptMerging(Merging):
    """Makes one variable of a JavaScript function another one. One merge is one move."""

    languages: frozenset[str] = field(default=frozenset({JAVASCRIPT}))
    language: str = JAVASCRIPT
    foreign: str = NOT_A_MOVE

    def merges(self, source: str) -> _Merges:
        """The merges of a function, computed once for all of its variants.

        Raises:
            SourceError: the source does not parse or is not one function.
        """
        return _merges(source, self.language)


RENAME_MERGING: Final = JavaScriptMerging()
