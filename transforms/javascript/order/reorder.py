"""`reorder` for JavaScript and TypeScript (`strategies.reorder`). The assumptions are those of
`analysis.effects`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.javascript.analysis.program import JavaScriptProgram, analyse, pieces_of
from codeaudit.transforms.javascript.parsing import JAVASCRIPT, read_unit
from codeaudit.transforms.javascript.types import need_compiler
from codeaudit.transforms.strategies.reorder import CodeOrdering, CodeReorder, CodeReorderBreaking


class JavaScriptOrdering(CodeOrdering):
    """The blocks of one function."""

    program: JavaScriptProgram

    def __init__(self, program: JavaScriptProgram, language: str) -> None:
        super().__init__(program, program.scopes.bindings, program.obstacle)
        self._language = language

    def text(self, orders: Mapping[int, Sequence[int]]) -> str | None:
        """The text with the blocks in these orders; `None` if its statements are others.

        Where semicolons are left out, a statement may go on with what stands behind it.
        """
        made = super().text(orders)
        if made is None or self.program.is_ended:
            return made
        try:
            reading, found = read_unit(made, self._language)
        except SourceError:
            return None
        same = pieces_of(tuple(found.node.walk()), reading.source) == self.program.pieces
        return made if same else None


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaScriptReorder(CodeReorder):
    """Puts the statements of a function into another legal order."""

    languages: frozenset[str] = field(default_factory=lambda: frozenset({JAVASCRIPT}))
    language: str = JAVASCRIPT

    def under(self, dependence: Dependence) -> Self:
        """As of any language; types need a compiler.

        Raises:
            CannotAudit: there is none.
        """
        if dependence == "types":
            need_compiler()
        return CodeReorder.under(self, dependence)

    def ordering(self, source: str) -> JavaScriptOrdering:
        """The blocks of the function.

        Raises:
            SourceError: the source does not parse or is not one function.
        """
        program = analyse(source, self.language, dependence=self.dependence)
        return JavaScriptOrdering(program, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaScriptReorderBreaking(CodeReorderBreaking):
    """Puts one statement directly before another that it depends on."""

    languages: frozenset[str] = field(default_factory=lambda: frozenset({JAVASCRIPT}))
    language: str = JAVASCRIPT

    def ordering(self, source: str) -> JavaScriptOrdering:
        """The blocks of the function.

        Raises:
            SourceError: the source does not parse or is not one function.
        """
        return JavaScriptOrdering(analyse(source, self.language), self.language)


REORDER: Final = JavaScriptReorder()
REORDER_BREAKING: Final = JavaScriptReorderBreaking()
