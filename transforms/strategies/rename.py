"""`rename` and its strategies: the variables of a unit get other names.

A renaming keeps the meaning in the sense of Renamer (`transforms.renaming`). Only the bytes of the names
change. The result is resolved again and compared with the original (`syntax.scopes.renamed`). A result that
is not shown to be alpha-equivalent is refused.

A new name is not a word of the text, so it hides nothing that the text uses.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.naming import Lexicon
from codeaudit.transforms.patches import splice
from codeaudit.transforms.records import Evidence
from codeaudit.transforms.renaming import NewWords
from codeaudit.transforms.syntax.scopes import Binding, Scopes, clashes, renamed, respelled

NO_PARAMETER: Final = "no parameter to rename"
NO_LOCAL: Final = "no local to rename"

_WORDS: Final = re.compile(r"[\w$]+")


class CodeVariables(ABC):
    """The variables of one unit, for all renamings of it. Implements `renaming.RenamableVariables`.

    A language subclasses it and says which variables keep their names, and which names are its own.
    """

    lexicon: Lexicon
    """How names look in the language."""

    def __init__(self, source: str, scopes: Scopes) -> None:
        self.source = source
        self.scopes = scopes
        self._movable: dict[bool, Mapping[int, Binding] | Refused] = {}
        self._new_words = NewWords(self.lexicon)

    @property
    def bindings(self) -> Sequence[Binding]:
        """All variables, also those that keep their names."""
        return self.scopes.bindings

    def movable(self, *, parameters: bool) -> Mapping[int, Binding] | Refused:
        """The variables that may be renamed, by number, or why there is none."""
        movable = self._movable.get(parameters)
        if movable is None:
            movable = self._movable[parameters] = self._find_movable(parameters=parameters)
        return movable

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the text, also those of strings and comments."""
        return frozenset(_WORDS.findall(self.source))

    def usable(self, name: str, own: Collection[str]) -> bool:
        """Whether a name is an ASCII identifier, and reserved for nothing unless it is in `own`."""
        return name.isascii() and name.isidentifier() and (name in own or not self.lexicon.reserved(name))

    def collides(self, names: Mapping[int, str]) -> bool:
        """Whether a name is used for something else, or two variables of one block would have one name."""
        fresh = set(names.values())
        if len(fresh) == len(names) and self.words.isdisjoint(fresh):
            return False  # names that are nowhere meet none
        return not fresh.isdisjoint(self._fixed) or clashes(self.scopes.bindings, names)

    @cached_property
    def _fixed(self) -> frozenset[str]:
        """The names of things outside of the unit, and of fields of classes in it."""
        return frozenset(binding.name for binding in self.bindings if binding.view in ("outer", "field"))

    def rewritten(self, names: Mapping[int, str]) -> str:
        """The text with new names at every occurrence of these variables, and nothing else changed."""
        return self._new_words.remember(self.text_with(names), names)

    def text_with(self, names: Mapping[int, str]) -> str:
        """The text in which these variables have these names."""
        scopes = self.scopes
        edits = [
            (start, end, self.written(start, scopes.bindings[number].name, names[number]))
            for (start, end), number in zip(scopes.spans, scopes.slots, strict=True)
            if number in names
        ]
        return splice(scopes.reading.source, edits).decode()

    def proof(self, text: str, names: Mapping[int, str]) -> Evidence | None:
        """`analysis` if a text is this unit with exactly these new names, by its own tree and scopes.

        Texts with new words share one proof (`NewWords`).
        """
        try:
            if self._new_words.shows(text, names, self.words):
                return "analysis"
            if self.proves_briefly(text, names):
                self._new_words.show(names, self.words)
                return "analysis"
            before = self.compared(names)
            # Not through the cache: most results are asked for once.
            if before is None or not renamed(before, self.resolve(text), names):
                return None
            self._new_words.show(names, self.words)
            return "analysis"
        except SourceError:
            return None

    def proves_briefly(self, text: str, names: Mapping[int, str]) -> bool:
        """Whether a shorter proof holds, which makes no new tree; if not, the long one may still hold.

        The text differs from the compared one in words at places of names, and in nothing else. The parser
        finds the same nodes in both, so the trees are equal. Then the variables are resolved with the words.
        """
        plain = all(name.isascii() and name.isidentifier() for name in names.values())
        before = self.compared(names) if plain else None
        if before is None:
            return False
        places = zip(before.spans, before.slots, strict=True)
        words = {place: names[number] for place, number in places if number in names}
        source = before.reading.source
        if text != splice(source, [(*place, word) for place, word in words.items()]).decode():
            return False
        outline = self.outline(text)
        if outline is None or outline != self.outline(source.decode()):
            return False
        return renamed(before, respelled(before, words), names)

    def _find_movable(self, *, parameters: bool) -> Mapping[int, Binding] | Refused:
        if (reason := self.obstacle) is not None:
            return Refused(reason)
        movable: dict[int, Binding] = {}
        obstacles = {True: NO_PARAMETER, False: NO_LOCAL}
        met: set[bool] = set()
        for binding in self.scopes.bindings:
            is_parameter = binding.view == "parameter"
            if binding.view in ("outer", "field") or (is_parameter and not parameters):
                continue
            obstacle = self.keeps_name(binding)
            if obstacle is None:
                movable[binding.number] = binding
                met.add(is_parameter)
            elif obstacles[is_parameter] in (NO_PARAMETER, NO_LOCAL):
                obstacles[is_parameter] = obstacle  # only the first reason is counted
        return movable if parameters in met else Refused(obstacles[parameters])

    # ── what a language answers ──────────────────────────────────────────────────────────────────────────

    @property
    @abstractmethod
    def obstacle(self) -> str | None:
        """Why all variables keep their names, as a short reason to count; `None` if some may change."""

    @abstractmethod
    def keeps_name(self, binding: Binding) -> str | None:
        """Why a variable keeps its name, as a short reason to count; `None` if it may be renamed."""

    @abstractmethod
    def resolve(self, text: str) -> Scopes:
        """The variables of another text, which is not remembered.

        Raises:
            SourceError: the text does not parse or is not one unit.
        """

    def written(self, start: int, old: str, new: str) -> str:
        """What stands at an occurrence of a variable, given by its first byte, if the variable gets a new
        name."""
        return new

    def compared(self, names: Mapping[int, str]) -> Scopes | None:
        """The unit that a renaming of these variables is compared with. A language in which a name stands for
        something else, too, spells that out first; `None` if it cannot."""
        return self.scopes

    def outline(self, text: str) -> str | None:
        """The kinds, fields and order of all nodes of a text, as far as they can be had without a whole
        reading; `None` if they cannot.
        """
        return None
