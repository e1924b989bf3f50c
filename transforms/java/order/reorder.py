"""`reorder` for Java (`strategies.reorder`). The assumptions are those of `analysis.effects`."""

from dataclasses import dataclass, field
from typing import Final

from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.java.analysis.library import BUILDERS
from codeaudit.transforms.java.analysis.program import JavaProgram, analyse
from codeaudit.transforms.java.files import ESCAPED, escaped, obstacle_in_file
from codeaudit.transforms.strategies.reorder import CodeOrdering, CodeReorder, CodeReorderBreaking
from codeaudit.transforms.syntax.reader import DISPUTED
from codeaudit.transforms.syntax.scopes import Binding

_LISTS: Final = frozenset({"ArrayList", "LinkedList"})


class JavaOrdering(CodeOrdering):
    """The blocks of a Java method."""

    program: JavaProgram

    @property
    def sets_fields(self) -> bool:
        """A constructor may set final fields."""
        return self.program.constructor

    def keeps_order(self, container: Binding) -> bool:
        """Whether it is a string builder or a list."""
        exact = self.program.facts.exact(container)
        return exact in BUILDERS or exact in _LISTS


def _ordering(source: str, around: str, dependence: Dependence = "strict") -> JavaOrdering:
    program = analyse(source, dependence=dependence, around=around)
    return JavaOrdering(program, program.facts.scopes.bindings, _obstacle(program, around))


def _obstacle(program: JavaProgram, around: str) -> str | None:
    """Why Java may read the text otherwise than it was read here; `None` if it does not."""
    if escaped(program.source):
        return ESCAPED
    if program.reading.disputed:
        return DISPUTED
    return obstacle_in_file(program.source, around) if around else None


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaReorder(CodeReorder):
    """Puts the statements of a Java method into another legal order."""

    languages: frozenset[str] = field(default_factory=lambda: frozenset({"java"}))

    def ordering(self, source: str) -> JavaOrdering:
        """The blocks of the method.

        Raises:
            SourceError: the source does not parse or is not one method.
        """
        return _ordering(source, self.around, self.dependence)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaReorderBreaking(CodeReorderBreaking):
    """Puts one statement directly before another that it depends on."""

    languages: frozenset[str] = field(default_factory=lambda: frozenset({"java"}))

    def ordering(self, source: str) -> JavaOrdering:
        """The blocks of the method.

        Raises:
            SourceError: the source does not parse or is not one method.
        """
        return _ordering(source, self.around)


REORDER: Final = JavaReorder()
REORDER_BREAKING: Final = JavaReorderBreaking()
