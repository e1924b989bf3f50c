"""The variables of one Java method, analysed once for all of its variants."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.scopes import JavaBinding, JavaScopes, resolve
from codeaudit.transforms.java.function_context import ESCAPED, escaped
from codeaudit.transforms.java.identifiers.equivalence import clashes, renamed
from codeaudit.transforms.java.identifiers.names import JAVA, reserved
from codeaudit.transforms.java.identifiers.obstacles import COMPACT, JavaGuard
from codeaudit.transforms.naming import Lexicon
from codeaudit.transforms.records import Evidence

NOT_A_MOVE: Final = "not a move of this method"
NO_PARAMETER: Final = "no parameter to rename"
NO_LOCAL: Final = "no local to rename"

_WORDS: Final = re.compile(r"[\w$]+")


class JavaVariables:
    """The variables of one method, for all renamings of it. Implements `renaming.RenamableVariables`."""

    lexicon: Final[Lexicon] = JAVA

    def __init__(self, source: str) -> None:
        self.source = source
        self.scopes = resolve(source)
        self._movable: dict[bool, Mapping[int, JavaBinding] | Refused] = {}

    @property
    def bindings(self) -> Sequence[JavaBinding]:
        """All variables, also those that keep their names."""
        return self.scopes.bindings

    def movable(self, *, parameters: bool) -> Mapping[int, JavaBinding] | Refused:
        """The variables that may be renamed, by number, or why there is none."""
        found = self._movable.get(parameters)
        if found is None:
            found = self._movable[parameters] = movable(self.scopes, parameters=parameters)
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the text, also those of strings and comments."""
        return frozenset(_WORDS.findall(self.source))

    def usable(self, name: str, own: Collection[str]) -> bool:
        """Whether a name is an ASCII identifier, and reserved for nothing unless it is in `own`."""
        return name.isascii() and name.isidentifier() and (name in own or not reserved(name))

    def collides(self, names: Mapping[int, str]) -> bool:
        """Whether a name is used for something else, or two variables of one block would have one name."""
        fresh = set(names.values())
        if len(fresh) == len(names) and self.words.isdisjoint(fresh):
            return False  # names that are nowhere meet none
        return not fresh.isdisjoint(self._fixed) or clashes(self.scopes.bindings, names)

    @cached_property
    def _fixed(self) -> frozenset[str]:
        """The names of things outside of the method, and of fields of classes in it."""
        bindings = self.scopes.bindings
        return frozenset(binding.name for binding in bindings if binding.view in ("outer", "field"))

    def rewritten(self, names: Mapping[int, str]) -> str:
        """The text with new names at every occurrence of these variables, and nothing else changed."""
        scopes = self.scopes
        source = scopes.reading.source
        pieces: list[bytes] = []
        done = 0
        for (start, end), number in self._places:
            if number in names:
                pieces += (source[done:start], names[number].encode())
                done = end
        pieces.append(source[done:])
        return b"".join(pieces).decode()

    @cached_property
    def _places(self) -> list[tuple[tuple[int, int], int]]:
        return sorted(zip(self.scopes.spans, self.scopes.slots, strict=True))

    def proof(self, text: str, names: Mapping[int, str]) -> Evidence | None:
        """`analysis` if a text is this method with exactly these new names, by its own tree and scopes."""
        try:
            return "analysis" if renamed(self.scopes, resolve.__wrapped__(text), names) else None
        except SourceError:
            return None


@lru_cache(maxsize=8)
def variables(source: str) -> JavaVariables:
    """The variables of one method, cached because a transform asks for the last methods many times.

    Raises:
        SourceError: the source does not parse or is not one method.
    """
    return JavaVariables(source)


def movable(scopes: JavaScopes, *, parameters: bool) -> Mapping[int, JavaBinding] | Refused:
    """The variables that may be renamed, by number, or why there is none."""
    if escaped(scopes.reading.source.decode()):
        return Refused(ESCAPED)
    if scopes.unit.kind == "compact_constructor_declaration":
        return Refused(COMPACT)
    guard = JavaGuard(scopes)
    found: dict[int, JavaBinding] = {}
    obstacles = {True: NO_PARAMETER, False: NO_LOCAL}
    met: set[bool] = set()
    for binding in scopes.bindings:
        wanted = binding.view == "parameter"
        if binding.view in ("outer", "field") or (wanted and not parameters):
            continue
        obstacle = guard.obstacle(binding)
        if obstacle is None:
            found[binding.number] = binding
            met.add(wanted)
        elif obstacles[wanted] in (NO_PARAMETER, NO_LOCAL):
            obstacles[wanted] = obstacle
    return found if parameters in met else Refused(obstacles[parameters])
