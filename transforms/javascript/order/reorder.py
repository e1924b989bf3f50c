"""`reorder` for JavaScript and TypeScript (`strategies.reorder`). The assumptions are those of
`analysis.effects`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, Self

from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.javascript.analysis.program import JavaScriptProgram, analyse, pieces_of
from codeaudit.transforms.javascript.parsing import JAVASCRIPT, Outline, outline, read_unit
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
        text = super().text(orders)
        if text is None or self.program.is_ended or self._is_outlined(text, orders):
            return text
        try:
            reading, unit = read_unit(text, self._language)
        except SourceError:
            return None
        same = pieces_of(tuple(unit.node.walk()), reading.source) == self.program.pieces
        return text if same else None

    @cached_property
    def _outline(self) -> Outline | None:
        return outline(self.program.source, self._language, whole=self.program.facts.reading.whole)

    def _is_outlined(self, text: str, orders: Mapping[int, Sequence[int]]) -> bool:
        """Whether the outline of a text is that of the function, with the statements in these orders. If not,
        a whole reading may still show that they are the same."""
        before = self._outline
        after = before and outline(text, self._language, whole=self.program.facts.reading.whole)
        if before is None or after is None:
            return False
        expected, runs = before.text, list[tuple[str, str]]()
        for site in sorted(orders, reverse=True):  # inner blocks come first
            parts = before.parts([(piece.start, piece.end) for piece in self.blocks[site].statements])
            for run in runs:
                parts = [part.replace(*run) for part in parts]
            run = " ".join(parts), " ".join(parts[number] for number in orders[site])
            if run[0] != run[1]:
                if expected.count(run[0]) != 1:
                    return False
                expected = expected.replace(*run)
                runs.append(run)
        return expected == after.text


@lru_cache(maxsize=8)
def _ordering(source: str, language: str, dependence: Dependence) -> JavaScriptOrdering:
    return JavaScriptOrdering(analyse(source, language, dependence=dependence), language)


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
        return _ordering(source, self.language, self.dependence)


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
        return _ordering(source, self.language, "strict")


REORDER: Final = JavaScriptReorder()
REORDER_BREAKING: Final = JavaScriptReorderBreaking()
