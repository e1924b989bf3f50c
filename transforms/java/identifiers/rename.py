"""Renaming of variables: the words change, which words are the same variable does not.

A renaming is semantics-preserving in the sense of Renamer (Ankner et al., section 3): it keeps the view of
every name and the referent relation (two occurrences are the same variable after it exactly if they were
before). Only the bytes of the names change. The result is read and resolved anew and compared with the
original (`equivalence`); what is not shown to be alpha-equivalent is refused.

A new name is no word of the text, so it hides nothing there: neither a field nor a type nor a package. Names
that stand elsewhere in the file, or that are inherited, cannot be meant in the method unless they stand in
it, since a local variable goes before every field. The one exception is a class in the method that inherits
from what is not seen: a local that is used in there keeps its name, and so none new comes to stand there.

Never renamed: fields, methods, types, components of records, constants, names with `$`; a local that a `case`
may mean as a constant of an enum; variables with annotations that may read the name; with parameters also
those of methods with such annotations or without a body, and of constructors that may be a record's.

What is not promised: the text that Java makes up for a NullPointerException (it names variables where the
code was compiled with `-g`), names of synthetic fields in which classes keep captured variables, and with
parameters what is read by reflection from code that was compiled with `-parameters`. Comments stay, and so a
`@param` may name a parameter that is called otherwise now.
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
