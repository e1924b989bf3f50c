"""Renaming of variables: the words change, but not which words are the same variable.

A renaming keeps the meaning in the sense of Renamer (Ankner et al., section 3): it keeps the view of every
name (a parameter stays a parameter, a private name private) and the referent relation (two occurrences are
the same variable after it exactly if they were before). Only the bytes of the names change. The result is
parsed anew and compared with the original, by its compiled code or else by its tree and its own scopes
(`PythonVariables.proof`). A result that cannot be shown to be alpha-equivalent is refused.

Never renamed:

- names of nested functions and classes, because their `__name__` may be seen (`functions` renames those that
  are not),
- names that an import chooses, attributes and class-level names, `__dunder__` and mangled names, and `_`,
- globals, and `nonlocal`s of the text around the function,
- names that an f-string prints (`f"{x=}"`), names in annotations that may be kept as text or in type
  comments,
- names that a class with a metaclass reads.

A function that can look at its own names (`locals()`, `eval`, frames) is refused as a whole.

Not promised: the text of an UnboundLocalError or NameError, the source lines of a traceback, `co_varnames`,
`co_freevars`, the order of `__closure__`, and anything that a callee reads from its caller's frame; with
parameters also signatures, `__annotations__`, and the text of a TypeError for wrong arguments.
"""

from dataclasses import dataclass, field
from typing import Final

from codeaudit.transforms.python.identifiers.variables import NOT_A_MOVE, PythonVariables, variables
from codeaudit.transforms.renaming import RenameVariables


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonRename(RenameVariables):
    """Gives other names to the variables of a Python function. One variable is one move."""

    foreign: str = NOT_A_MOVE
    languages: frozenset[str] = field(default=frozenset({"python"}))

    def variables(self, source: str) -> PythonVariables:
        """The variables of the function.

        Raises:
            SourceError: the source does not parse or is not one function.
        """
        return variables(source)


RENAME: Final = PythonRename()
RENAME_RANDOM: Final = PythonRename(name="rename-random", strategy="random")
RENAME_SHUFFLE: Final = PythonRename(name="rename-shuffle", strategy="shuffle")
RENAME_MISLEADING: Final = PythonRename(name="rename-misleading", strategy="misleading")
RENAME_CANONICAL: Final = PythonRename(name="rename-canonical", strategy="canonical")
RENAME_PARAMETERS: Final = PythonRename(name="rename-parameters", parameters=True)
