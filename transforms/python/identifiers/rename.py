"""Renaming of variables: the words change, but not which words are the same variable.

A renaming keeps the meaning in the sense of Renamer (Ankner et al., section 3): it keeps the view of every
name (a parameter stays a parameter, a private name private) and the referent relation (two occurrences are
the same variable after it exactly if they were before). Only the bytes of the names change. The result is
parsed anew and compared with the original, by its compiled code or else by its tree and its own scopes
(`PythonVariables.proof`). Results that differ in new words only share one proof. A result that cannot be
shown to be alpha-equivalent is refused.

Never renamed:

- names of nested functions and classes, because their `__name__` may be seen (`definitions` renames those
  that are not),
- names that an import chooses, attributes and class-level names, `__dunder__` and mangled names, and `_`,
- globals, and `nonlocal`s of the text around the function,
- names that an f-string prints (`f"{x=}"`), names in annotations that may be kept as text or in type
  comments,
- names that a class with a metaclass reads.

A function that can look at its own names (`locals()`, `eval`, frames) is refused as a whole. So is every
function of a file that reads frames, code objects or source, or gives such a function another name
(`show = locals`). What builtins mean does not
matter otherwise, but for parameters.

Not promised: the text of an UnboundLocalError or NameError that the file does not look at, the source lines
of a traceback, `co_varnames`, `co_freevars`, the order of `__closure__`, and anything that a callee reads
from its caller's frame; with parameters also signatures, `__annotations__`, and the text of a TypeError for
wrong arguments.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import CodeType
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.naming import Lexicon
from codeaudit.transforms.patches import Edit, splice
from codeaudit.transforms.python.analysis.capabilities import (
    SOURCE_READ,
    LinesRead,
    Sees,
    passed_by_keyword,
    shown_together,
)
from codeaudit.transforms.python.analysis.scopes import (
    OUTER,
    PythonBinding,
    PythonScopes,
    resolve,
    resolve_anew,
)
from codeaudit.transforms.python.identifiers.names import PYTHON, usable
from codeaudit.transforms.python.identifiers.obstacles import (
    BY_KEYWORD,
    MOVABLE_VIEWS,
    REFLECTION,
    WORDS,
    RenameGuard,
    reflects,
)
from codeaudit.transforms.python.identifiers.proofs import NameMapping, has_cells, is_renaming, same_code
from codeaudit.transforms.python.parsing import compiled
from codeaudit.transforms.records import Evidence
from codeaudit.transforms.renaming import NewWords, RenamableNames, RenameVariables, VariableNames

NOT_A_MOVE: Final = "not a move of this function"
NO_PARAMETER: Final = "no parameter to rename"
NO_LOCAL: Final = "no local to rename"
_EMPTY_REASONS: Final = frozenset({NO_PARAMETER, NO_LOCAL, "receiver of a method", "throwaway name"})
"""Reasons that are replaced by the more informative reason of another variable."""


class PythonVariables:
    """The facts that all renamings of one function share.

    These are the variables that may change, the places where they stand, and the compiled original.
    """

    lexicon: Final[Lexicon] = PYTHON

    def __init__(self, source: str) -> None:
        self.source = source
        self.scopes = resolve(source)
        self._movable: dict[bool, Mapping[int, PythonBinding] | Refused] = {}
        self._new_words = NewWords(self.lexicon)

    @property
    def bindings(self) -> Sequence[PythonBinding]:
        """All variables, also those that keep their names."""
        return self.scopes.bindings

    def movable(self, *, parameters: bool) -> Mapping[int, PythonBinding] | Refused:
        """The variables that may be renamed, by number, or the reason why there is none."""
        bindings = self._movable.get(parameters)
        if bindings is None:
            bindings = self._movable[parameters] = movable(self.scopes, parameters=parameters)
        return bindings

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the text, also those of strings and comments."""
        return frozenset(WORDS.findall(self.source))

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name of a variable, also of variables from outside."""
        return frozenset(binding.name for binding in self.scopes.bindings)

    def usable(self, name: str, own: Collection[str]) -> bool:
        """Whether a name can be given; `own` are names already in use."""
        return usable(name, own)

    def collides(self, names: Mapping[int, str]) -> bool:
        """Whether with these names some occurrence would belong to another variable than before."""
        fresh = set(names.values())
        # The usual case, which needs no look at the scopes.
        if len(fresh) == len(names) and self.names.isdisjoint(fresh):
            return False  # names that occur nowhere cannot collide
        return collides(self.scopes, names)

    def rewritten(self, names: Mapping[int, str]) -> str:
        """The text with new names at every occurrence of these variables, and nothing else changed."""
        edits = [
            Edit(use.start, use.end, name)
            for number, name in names.items()
            for use in self.scopes.bindings[number].occurrences
        ]
        return self._new_words.remember(splice(self.scopes.source, edits).decode(), names)

    def proof(self, text: str, names: Mapping[int, str]) -> Evidence | None:
        """The evidence that a text is this function with exactly these new names; `None` if it cannot be
        shown.

        - `compiled`: its code is equal (`same_code`).
        - `analysis`: its tree and its variables are equal (`is_renaming`). This is tried if the code does not
          compile by itself, and if the order of the cells of closures changes with the names.

        Texts with new words share one compiled proof (`NewWords`).
        """
        if self._new_words.shows(text, names, self.words):
            return "compiled"
        # A function that uses `nonlocal` of the text around it does not compile alone.
        if self.code is not None:
            code = compiled(text)
            if code is None:
                return None
            if same_code(self.code, code, self._image(names)):
                # The compiler sorts the cells of closures by name, so each such text needs its own proof. It
                # takes `ﬁ` and `fi` for one name.
                if not has_cells(self.code) and self.source.isascii():
                    self._new_words.show(names, self.words)
                return "compiled"
        try:
            return "analysis" if is_renaming(self.scopes, resolve_anew(text), names) else None
        except SourceError:
            return None

    def _image(self, names: Mapping[int, str]) -> NameMapping:
        image: dict[str, set[str]] = {}
        keys: dict[str, str] = {}
        titles: dict[str, str] = {}
        for number, name in names.items():
            binding = self.scopes.bindings[number]
            image.setdefault(binding.name, set()).add(name)
            # The compiler stores the names of annotated parameters as constants. A string of the text that
            # equals one must not be taken for it.
            if binding.view == "parameter" and binding.name not in self.scopes.strings:
                keys[binding.name] = name
            elif binding.view == "function":
                titles[binding.name] = name
        for binding in self.scopes.bindings:
            # Another variable of the same name keeps it, so both names may follow the old one.
            if binding.name in image and binding.number not in names:
                image[binding.name].add(binding.name)
        return NameMapping(image, titles, keys)

    @cached_property
    def code(self) -> CodeType | None:
        """The compiled original; `None` if it does not compile by itself."""
        return compiled(self.source)


@lru_cache(maxsize=4)
def variables(source: str) -> PythonVariables:
    """The variables of one function. The last four results are cached, because a transform asks many times.

    Raises:
        SourceError: the source does not parse or is not one function.
    """
    return PythonVariables(source)


def movable(scopes: PythonScopes, *, parameters: bool) -> Mapping[int, PythonBinding] | Refused:
    """The variables that may be renamed, by number, or the reason why there is none."""
    if reflects(scopes):
        return Refused(REFLECTION)
    guard = RenameGuard(scopes)
    bindings: dict[int, PythonBinding] = {}
    obstacles = {"parameter": NO_PARAMETER, "other": NO_LOCAL}
    met: set[str] = set()
    for binding in scopes.bindings:
        is_parameter = binding.view == "parameter"
        if binding.view not in MOVABLE_VIEWS or (is_parameter and not parameters):
            continue
        obstacle = guard.obstacle(binding)
        sort = "parameter" if is_parameter else "other"
        if obstacle is None:
            bindings[binding.number] = binding
            met.add(sort)
        elif obstacles[sort] in _EMPTY_REASONS:
            obstacles[sort] = obstacle
    needed = "parameter" if parameters else "other"
    return bindings if needed in met else Refused(obstacles[needed])


def collides(scopes: PythonScopes, names: Mapping[int, str]) -> bool:
    """Whether with these names some occurrence would belong to another variable than before."""
    owned: dict[tuple[int, str], int] = {}
    declared: dict[tuple[int, str], int] = {}
    for binding in scopes.bindings:
        name = names.get(binding.number, binding.name)
        # Two variables of one scope would become one.
        if owned.setdefault((binding.scope, name), binding.number) != binding.number:
            return True
        for occurrence in binding.occurrences:
            if occurrence.use == "declare":
                declared[occurrence.scope, name] = binding.number
    return any(
        _captured(scopes, binding, names.get(binding.number, binding.name), (owned, declared))
        for binding in scopes.bindings
    )


def _captured(
    scopes: PythonScopes,
    binding: PythonBinding,
    name: str,
    tables: tuple[Mapping[tuple[int, str], int], Mapping[tuple[int, str], int]],
) -> bool:
    """Whether a scope between an occurrence and the owner of its variable would claim the new name."""
    owned, declared = tables
    for start in {occurrence.scope for occurrence in binding.occurrences}:
        here = start
        while here != binding.scope:
            scope = scopes.scopes[here]
            claims = {declared.get((here, name), binding.number)}
            # A class body hides its names from the functions in it.
            if scope.kind != "class" or here == start or scopes.scopes[start].kind == "type parameters":
                claims.add(owned.get((here, name), binding.number))
            if claims != {binding.number}:
                return True
            if binding.scope == OUTER and (here, name) in declared:
                break  # `global` skips the scopes in between
            here = scope.parent
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonRename(RenameVariables):
    """Gives other names to the variables of a Python function. One variable is one move."""

    foreign: str = NOT_A_MOVE
    languages: frozenset[str] = field(default=frozenset({"python"}))
    around: str = field(default="", repr=False)
    """The text of the file around the function, as far as it is known."""

    @property
    def trusts_names(self) -> bool:
        """Whether builtins must mean what they say: a lambda's parameters are renamed if `map` calls it. See
        `BaseTransform.trusts_names`.
        """
        return self.parameters

    def within(self, file: str) -> "PythonRename":
        """The transform for functions of this file."""
        return replace(self, around=file)

    def names(self, source: str) -> RenamableNames | Refused:
        """The names of the variables that may change, or why none may."""
        # `super()` would mean the class that `slots` replaces.
        names = RenameVariables.names(self, source)
        # The file is only read for a function that has something to rename.
        if not isinstance(names, Refused) and (sees := _sees(source, self.around)).variables:
            return Refused(SOURCE_READ if sees.lines is LinesRead.TEXT else REFLECTION)
        return self._unnamed(source, names) if isinstance(names, VariableNames) and self.parameters else names

    def _unnamed(self, source: str, names: VariableNames) -> VariableNames | Refused:
        """The names without those of parameters that a call in the file passes by keyword."""
        if shown_together(source, self.around, mask=Sees.PARAMETERS) & Sees.PARAMETERS:
            return Refused(REFLECTION)
        keywords = passed_by_keyword(self.around or source, variables(source).scopes.function.name)
        bindings = {
            number: binding
            for number, binding in names.movable.items()
            if binding.view != "parameter" or (keywords is not None and binding.name not in keywords)
        }
        if all(binding.view != "parameter" for binding in bindings.values()):
            return Refused(BY_KEYWORD)
        return replace(
            names, movable=bindings, current={number: binding.name for number, binding in bindings.items()}
        )

    def variables(self, source: str) -> PythonVariables:
        """The variables of the function.

        Raises:
            SourceError: the source does not parse or is not one function.
        """
        return variables(source)


def _sees(source: str, around: str) -> Sees:
    return shown_together(source, around, mask=Sees.LOCALS | Sees.SOURCE)


RENAME: Final = PythonRename()
RENAME_RANDOM: Final = PythonRename(name="rename-random", strategy="random")
RENAME_SHUFFLE: Final = PythonRename(name="rename-shuffle", strategy="shuffle")
RENAME_MISLEADING: Final = PythonRename(name="rename-misleading", strategy="misleading")
RENAME_CANONICAL: Final = PythonRename(name="rename-canonical", strategy="canonical")
RENAME_PARAMETERS: Final = PythonRename(name="rename-parameters", parameters=True)
