"""`rename` and its strategies for Java: the variables of a method get other names.

A renaming keeps the meaning in the sense of Renamer (`transforms.renaming`). Only the bytes of the names
change. The result is parsed and resolved again and compared with the original (`equivalence`). A result that
is not shown to be alpha-equivalent is refused.

A new name is not a word of the text, so it hides no field, type or package that the text uses. Names
elsewhere in the file, and inherited names, have no meaning in the method unless they occur in it, because a
local variable hides every field. The one exception is a class in the method that inherits from a class
outside of the text: a local that is used in it keeps its name, so no new name occurs there.

Never renamed:

- fields, methods, types, components of records, constants, names with `$`;
- a local that a `case` may mean as a constant of an enum;
- variables with annotations that may read the name;
- with parameters: those of methods with annotations that may read them or without a body, and those of
  constructors that may be the canonical one of a record.

Not promised to stay: the text that Java generates for a NullPointerException (it names variables if the code
was compiled with `-g`); names of synthetic fields in which classes keep captured variables; with parameters,
names that reflection reads from code compiled with `-parameters`. Comments stay, so a `@param` may mention an
old name.
"""

from dataclasses import dataclass, field
from typing import Final

from codeaudit.transforms.java.identifiers.variables import NOT_A_MOVE, JavaVariables, variables
from codeaudit.transforms.renaming import RenameVariables


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaRename(RenameVariables):
    """Gives other names to the variables of a Java method. One variable is one move."""

    foreign: str = NOT_A_MOVE
    languages: frozenset[str] = field(default=frozenset({"java"}))

    def variables(self, source: str) -> JavaVariables:
        """The variables of the method.

        Raises:
            SourceError: the source does not parse or is not one method.
        """
        return variables(source)


RENAME: Final = JavaRename()
RENAME_RANDOM: Final = JavaRename(name="rename-random", strategy="random")
RENAME_SHUFFLE: Final = JavaRename(name="rename-shuffle", strategy="shuffle")
RENAME_MISLEADING: Final = JavaRename(name="rename-misleading", strategy="misleading")
RENAME_CANONICAL: Final = JavaRename(name="rename-canonical", strategy="canonical")
RENAME_PARAMETERS: Final = JavaRename(name="rename-parameters", parameters=True)
