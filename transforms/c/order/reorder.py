"""`reorder` for C (`strategies.reorder`). The assumptions are those of `analysis.effects`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from codeaudit.transforms.c.analysis.program import CProgram, analyse
from codeaudit.transforms.c.analysis.scopes import IS_A_TYPE, TYPE_OR_VARIABLE
from codeaudit.transforms.c.macros import HYGIENIC, InFile, Surroundings
from codeaudit.transforms.c.parsing import C
from codeaudit.transforms.c.rewriting import CSource
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.levels import MacroLevel
from codeaudit.transforms.records import Evidence, Move
from codeaudit.transforms.strategies.reorder import CodeOrdering, CodeReorder, CodeReorderBreaking
from codeaudit.transforms.syntax.reader import Node

JUMPS_BACK: Final = "setjmp or a macro of the file that jumps or names a local"
_KNOWN: Final = "setjmp _setjmp sigsetjmp __sigsetjmp __builtin_setjmp vfork getcontext swapcontext"
_RETURNS_TWICE: Final = frozenset(_KNOWN.split())
_TOGETHER: Final[Mapping[tuple[Evidence, Evidence], Evidence]] = {
    ("analysis", "analysis"): "analysis",
    ("analysis", HYGIENIC): HYGIENIC,
    ("analysis (fields disjoint)", HYGIENIC): "analysis (macros hygienic, fields disjoint)",
}
"""The evidence of an order, by that of its relation and that of what is known of macros."""


class COrdering(CodeOrdering):
    """The blocks of a C function."""

    program: CProgram
    sets_fields = False  # C has no constructors


def _ordering(source: str, around: Surroundings, dependence: Dependence = "strict") -> COrdering:
    program = analyse(source, dependence=dependence, around=around)
    return COrdering(program, program.code.scopes.bindings, _obstacle(program))


def _obstacle(program: CProgram) -> str | None:
    """Why no statement may move; `None` if some may."""
    code = program.code
    if (reason := code.macros.doubt(code.scopes)) is not None:
        return reason
    if code.unusual is not None:
        return code.unusual
    source = code.source.decode()
    words = {code.text(node) for node in code.unit.walk() if node.kind == "identifier"}
    own = {local.name for local in code.scopes.bindings if local.view != "outer" and local.doubt != IS_A_TYPE}
    if words & _RETURNS_TWICE or any(code.macros.is_pasted(name, source) for name in own):
        return JUMPS_BACK
    if own & {code.text(node) for node in code.unit.walk() if _is_type(node) and not _is_value(code, node)}:
        return TYPE_OR_VARIABLE
    names, used = own | _RETURNS_TWICE, code.macros.used_in(source)
    is_odd = any(code.macros.named_by(name) & names or not code.macros.moves_whole(name) for name in used)
    return JUMPS_BACK if is_odd else None


def _is_type(node: Node) -> bool:
    """Whether it is a name of a type, and no tag behind `struct`."""
    above = "" if node.parent is None else node.parent.kind
    is_tag = above.endswith("_specifier") and above != "macro_type_specifier"
    return node.kind == "type_identifier" and not is_tag


def _is_value(code: CSource, node: Node) -> bool:
    """Whether it is `y` in `T x(y);`, which the analysis of effects reads as a value."""
    return node.start in code.scopes.at and any(up.kind == "function_declarator" for up in node.ancestors())


@dataclass(frozen=True, slots=True, kw_only=True)
class CReorder(InFile, CodeReorder):
    """Puts the statements of a C function into another legal order."""

    language: str = C
    macros: MacroLevel = "known"

    def ordering(self, source: str) -> COrdering:
        """As in all languages."""
        return _ordering(source, self.surroundings, self.dependence)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """As in all languages, with an evidence that says what is assumed of macros."""
        rewritten = CodeReorder.apply(self, source, moves)
        if isinstance(rewritten, Refused):
            return rewritten
        evidence = analyse(source, dependence=self.dependence, around=self.surroundings).code.evidence
        return replace(rewritten, evidence=_TOGETHER.get((rewritten.evidence, evidence), rewritten.evidence))


@dataclass(frozen=True, slots=True, kw_only=True)
class CReorderBreaking(InFile, CodeReorderBreaking):
    """Puts one statement directly before another that it depends on."""

    language: str = C

    def ordering(self, source: str) -> COrdering:
        """As in all languages."""
        return _ordering(source, self.surroundings)


REORDER: Final = CReorder()
REORDER_BREAKING: Final = CReorderBreaking()
