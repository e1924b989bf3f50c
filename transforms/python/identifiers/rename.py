"""Renaming of variables: the words change, which words are the same variable does not.

A renaming is semantics-preserving in the sense of Renamer (Ankner et al., section 3): it keeps the view
of every name (a parameter stays a parameter, a private name private) and the referent relation (two
occurrences are the same variable after it exactly if they were before). Only the bytes of the names
change. After the splice both texts are resolved and compared (`equivalence.renamed`), so what cannot be
shown to be alpha-equivalent is refused.

Never renamed: names of nested functions and classes (their `__name__` may be seen), names that an import
chooses, attributes and class-level names, globals and `nonlocal`s of the text around the function,
`__dunder__` and mangled names, `_`, names that an f-string prints (`f"{x=}"`), names in annotations that
may be kept as text, and names in type comments. A function that can look at its own names (`locals()`,
`eval`, frames) is refused as a whole.

What is not promised: the text of an UnboundLocalError or NameError, the source lines of a traceback,
`co_varnames`, `co_freevars`, the order of `__closure__`, and whatever a callee reads from its caller's
frame; with parameters also signatures, `__annotations__`, and the text of a TypeError for wrong arguments.
"""

import ast
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from transforms.edits import Edit, splice
from transforms.errors import SourceError
from transforms.interface import Refused, Rewritten
from transforms.python.analysis.scopes import OUTER, Binding, Definition, Scopes, resolve
from transforms.python.identifiers.equivalence import renamed
from transforms.python.identifiers.names import Strategy, draw, reserved, shuffle
from transforms.python.identifiers.parameters import Parameters
from transforms.records import Kind, Move, Unit

REFLECTION: Final = "reflection on names"
COLLISION: Final = "name collision"
UNVERIFIED: Final = "verification failed"

_READING_NAMES: Final = frozenset(
    {"locals", "eval", "exec", "_getframe", "_getframemodulename", "currentframe", "getouterframes"}
)
_READING_ATTRIBUTES: Final = frozenset(
    {
        "_getframe", "_getframemodulename", "currentframe", "getouterframes", "getinnerframes",
        "getframeinfo", "inspect.stack", "inspect.trace", "getclosurevars", "getfullargspec", "getargvalues",
        "getcallargs", "f_locals", "f_back", "tb_frame", "gi_frame", "cr_frame", "ag_frame", "__code__",
        "__closure__", "co_varnames", "co_freevars", "co_cellvars", "builtins.locals", "builtins.vars",
        "builtins.dir", "builtins.eval", "builtins.exec",
    }
)  # fmt: skip
_EVALUATING_METHODS: Final = frozenset({"query", "eval", "evaluate"})
"""Methods that evaluate text with names of the caller in it (pandas, numexpr)."""

_MOVABLE_VIEWS: Final = frozenset(
    {"parameter", "import alias", "except", "capture", "comprehension", "walrus", "local"}
)
_TYPE_COMMENT: Final = re.compile(rb"#[ \t]*type:([^\r\n]*)")
_WORDS: Final = re.compile(r"\w+")
_LIST_OF_WORDS: Final = re.compile(r"\w+(?:\s*,\s*\w+)*")
_NO_PARAMETER: Final = "no parameter to rename"
_NO_LOCAL: Final = "no local to rename"
_EMPTY_REASONS: Final = frozenset({_NO_PARAMETER, _NO_LOCAL, "receiver of a method", "throwaway name"})
"""Reasons that give way to a better one of another variable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename:
    """Gives other names to variables of a function; one variable is one move, applied or left at will."""

    name: str
    parameters: bool
    """Whether parameters are renamed too: this keeps the meaning for callers that pass by position."""
    strategy: Strategy = "natural"
    kind: Kind = "preserving"
    languages: frozenset[str] = field(default=frozenset({"python"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """New names for every variable that may have one.

        Raises:
            SourceError: the source does not parse or is not one function.
        """
        scopes = resolve(source)
        movable = self.movable(scopes)
        if isinstance(movable, Refused):
            return movable
        fresh = self._draw(scopes, movable, rng)
        moves = tuple(
            Move(kind="rename", site=number, value=name, note=f"{movable[number].name} -> {name}")
            for number, name in fresh.items()
            if name != movable[number].name
        )
        if moves:
            return moves
        return Refused("no two names to shuffle" if self.strategy == "shuffle" else "names are canonical")

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Rename with any of the moves; refuses a name that would be captured or taken twice."""
        if not moves:
            return Rewritten(source=source, evidence="analysis")
        scopes = resolve(source)
        movable = self.movable(scopes)
        if isinstance(movable, Refused):
            return movable
        names = {move.site: move.value for move in moves if isinstance(move.value, str)}
        if len(names) != len(moves) or not names.keys() <= movable.keys():
            return Refused("not a move of this function")
        own = {binding.name for binding in movable.values()}
        if not all(_usable(name, own) for name in names.values()) or collides(scopes, names):
            return Refused(COLLISION)
        text = rewrite(scopes, names)
        try:
            verified = renamed(scopes, resolve(text), names)
        except SourceError:
            verified = False
        return Rewritten(source=text, evidence="analysis") if verified else Refused(UNVERIFIED)

    def movable(self, scopes: Scopes) -> dict[int, Binding] | Refused:
        """The variables that may be renamed, by number, or why there is none."""
        if reflects(scopes):
            return Refused(REFLECTION)
        guard = Guard(scopes)
        found: dict[int, Binding] = {}
        obstacles = {"parameter": _NO_PARAMETER, "other": _NO_LOCAL}
        met: set[str] = set()
        for binding in scopes.bindings:
            wanted = binding.view == "parameter"
            if binding.view not in _MOVABLE_VIEWS or (wanted and not self.parameters):
                continue
            obstacle = guard.obstacle(binding)
            sort = "parameter" if wanted else "other"
            if obstacle is None:
                found[binding.number] = binding
                met.add(sort)
            elif obstacles[sort] in _EMPTY_REASONS:
                obstacles[sort] = obstacle
        needed = "parameter" if self.parameters else "other"
        return found if needed in met else Refused(obstacles[needed])

    def _draw(self, scopes: Scopes, movable: Mapping[int, Binding], rng: Random) -> dict[int, str]:
        names = {number: binding.name for number, binding in movable.items()}
        kept = {binding.name for binding in scopes.bindings if binding.number not in movable}
        if self.strategy == "shuffle":
            return shuffle(names, kept, rng)
        if self.strategy == "canonical":
            return draw("canonical", names, kept, rng)
        # Not even words of strings and attributes: what reads names as text must not find new ones.
        return draw(self.strategy, names, _WORDS.findall(scopes.source.decode()), rng)


class Guard:
    """Says why a variable has to keep its name."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._parameters = Parameters(scopes)
        self._in_comments = _type_comment_words(scopes.source)
        self._in_decorators = _decorator_words(scopes.function)
        self._evaluated: frozenset[str] = frozenset()
        if scopes.attributes & _EVALUATING_METHODS:
            self._evaluated = frozenset(_WORDS.findall(" ".join(scopes.strings)))

    def obstacle(self, binding: Binding) -> str | None:
        """A short reason to count, `None` for a variable that may be renamed."""
        name = binding.name
        if binding.view not in _MOVABLE_VIEWS:
            return "not a variable of the function"
        if name.startswith("__"):
            return "mangled or special name"
        if not name.strip("_"):
            return "throwaway name"
        if not binding.located:
            return "name not found in the text"
        contexts = {occurrence.context for occurrence in binding.occurrences}
        if "printed" in contexts:
            return "name is printed by an f-string"
        if "annotation" in contexts or name in self._scopes.quoted or name in self._in_comments:
            return "name stands in an annotation"
        if name in self._evaluated or name in self._in_decorators:
            return "name may be read from text"
        return self._parameters.obstacle(binding) if binding.view == "parameter" else None


def reflects(scopes: Scopes) -> bool:
    """Whether the function can look at the names of its variables."""
    outer = {binding.name for binding in scopes.bindings if binding.scope == OUTER}
    if outer & _READING_NAMES or scopes.attributes & _READING_ATTRIBUTES:
        return True
    if not _READING_ATTRIBUTES.isdisjoint(scopes.strings) or not _READING_NAMES.isdisjoint(scopes.strings):
        return True
    return bool(outer & {"vars", "dir"}) and _lists_own_names(scopes)


def collides(scopes: Scopes, names: Mapping[int, str]) -> bool:
    """Whether with these names some occurrence would belong to another variable than before."""
    owned: dict[tuple[int, str], int] = {}
    declared: dict[tuple[int, str], int] = {}
    for binding in scopes.bindings:
        name = names.get(binding.number, binding.name)
        if owned.setdefault((binding.scope, name), binding.number) != binding.number:
            return True
        for occurrence in binding.occurrences:
            if occurrence.use == "declare":
                declared[occurrence.scope, name] = binding.number
    return any(
        _captured(scopes, binding, names.get(binding.number, binding.name), (owned, declared))
        for binding in scopes.bindings
    )


def rewrite(scopes: Scopes, names: Mapping[int, str]) -> str:
    """The text with new names at every occurrence of these variables, and nothing else changed."""
    edits = [
        Edit(occurrence.start, occurrence.end, name)
        for number, name in names.items()
        for occurrence in scopes.bindings[number].occurrences
    ]
    return splice(scopes.source, edits).decode()


def _captured(
    scopes: Scopes,
    binding: Binding,
    name: str,
    tables: tuple[Mapping[tuple[int, str], int], Mapping[tuple[int, str], int]],
) -> bool:
    owned, declared = tables
    for start in {occurrence.scope for occurrence in binding.occurrences}:
        here = start
        while here != binding.scope:
            scope = scopes.scopes[here]
            claims = {declared.get((here, name), binding.number)}
            if scope.kind != "class" or here == start or scopes.scopes[start].kind == "type parameters":
                claims.add(owned.get((here, name), binding.number))
            if claims != {binding.number}:
                return True
            if binding.scope == OUTER and (here, name) in declared:
                break  # `global` leads outside at once
            here = scope.parent
    return False


def _usable(name: str, own: set[str]) -> bool:
    word = keyword.iskeyword(name) or keyword.issoftkeyword(name)
    if word or not name.isidentifier() or not name.isascii():
        return False
    return name in own or not reserved(name)


def _lists_own_names(scopes: Scopes) -> bool:
    """Whether `vars` or `dir` stands anywhere but in a call with an argument."""
    harmless = {
        id(node.func) for node in ast.walk(scopes.function) if isinstance(node, ast.Call) and node.args
    }
    return any(
        isinstance(node, ast.Name) and node.id in {"vars", "dir"} and id(node) not in harmless
        for node in ast.walk(scopes.function)
    )


def _type_comment_words(source: bytes) -> frozenset[str]:
    found = [match[1].decode() for match in _TYPE_COMMENT.finditer(source)]
    return frozenset(_WORDS.findall(" ".join(found)))


def _decorator_words(function: Definition) -> frozenset[str]:
    """Names that decorators mention as keywords or text, such as `numba.jit(locals={"x": …})`."""
    words: set[str] = set()
    for node in (inner for decorator in function.decorator_list for inner in ast.walk(decorator)):
        if isinstance(node, ast.keyword) and node.arg is not None:
            words.add(node.arg)
        elif isinstance(node, ast.Constant) and _LIST_OF_WORDS.fullmatch(str(node.value)):
            words.update(_WORDS.findall(str(node.value)))
    return frozenset(words)


RENAME: Final = Rename(name="rename", parameters=False)
RENAME_PARAMETERS: Final = Rename(name="rename-parameters", parameters=True)
