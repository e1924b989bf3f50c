"""Renaming in any language: `rename` and its strategies, and the control `rename-merging`.

A renaming keeps the meaning in the sense of Renamer (Ankner et al., section 3): it keeps the view of every
name (a parameter stays a parameter, a 64-bit register stays a 64-bit register) and the referent relation (two
occurrences mean the same variable after the renaming exactly if they did before).

`Rename` draws the new names and rewrites; a language gives it `RenamableNames`, the names of one text. Every
result is parsed again and proved equal to the original up to these names, or shares the proof of another
one (`NewWords`); a result without a proof is refused. `RenameVariables` is the part that languages with
variables share: names are made by a strategy of `naming`.

`Merging` is the control: two variables become one, which breaks the referent relation. A language gives it
`Merges`, the possible merges of one text.
"""

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from random import Random
from typing import Final, Protocol

from codeaudit.transforms.interface import BaseTransform, Refused, Rewritten
from codeaudit.transforms.naming import Lexicon, Strategy, draw, shuffle
from codeaudit.transforms.records import Evidence, Kind, Move, Unit

DRAWS: Final = 32
"""Draws before the identity is taken to be the only renaming."""

COLLISION: Final = "name collision"
UNVERIFIED: Final = "verification failed"


class RenamableNames(Protocol):
    """The names of one text that may change. The number of a name is the site of its move."""

    @property
    def current(self) -> Mapping[int, str]:
        """The name of each variable (or register) in the text."""

    @property
    def unchanged(self) -> str:
        """The reason to refuse where no draw changes a name."""

    def draw(self, rng: Random) -> Mapping[int, str] | Refused:
        """New names by number; some may be the current ones."""

    def allows(self, names: Mapping[int, str]) -> bool:
        """Whether these names may be given while all others stay. No name is captured or given twice."""

    def text(self, names: Mapping[int, str]) -> str | None:
        """The text with these names and nothing else changed; `None` if a name does not fit its place."""

    def proof(self, text: str, names: Mapping[int, str]) -> Evidence | None:
        """The evidence that a text is the original with exactly these names; `None` if it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename(BaseTransform):
    """Gives other names to the variables of a unit. One variable is one move; any subset can be applied."""

    name: str = "rename"
    kind: Kind = "preserving"
    unit: Unit = "function"
    foreign: str
    """The reason to refuse moves that do not belong to the text."""
    illegal: str = COLLISION
    """The reason to refuse names that `Names.allows` does not allow."""

    @abstractmethod
    def names(self, source: str) -> RenamableNames | Refused:
        """The names of a text, or why none of them may change.

        Raises:
            SourceError: the source cannot be parsed.
        """

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """New names for all variables that may have one.

        Raises:
            SourceError: the source cannot be parsed.
        """
        names = self.names(source)
        if isinstance(names, Refused):
            return names
        current = names.current
        # A language with few names (two registers) often draws the identity, which is no variant.
        for _ in range(DRAWS):
            drawn = names.draw(rng)
            if isinstance(drawn, Refused):
                return drawn
            moves = tuple(
                Move(kind="rename", site=number, value=new, note=f"{current[number]} -> {new}")
                for number, new in drawn.items()
                if new != current[number]
            )
            if moves:
                return moves
        return Refused(names.unchanged)

    def places(self, source: str) -> Mapping[int, str]:
        """The name of each variable that may be renamed.

        Raises:
            SourceError: the source cannot be parsed.
        """
        names = self.names(source)
        return {} if isinstance(names, Refused) else names.current

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Rename with any subset of the moves; refuses names that collide and results without a proof.

        Raises:
            SourceError: the source cannot be parsed.
        """
        names = self.names(source)  # before the moves: a source that cannot be parsed raises in any case
        if not moves:
            return Rewritten(source=source, evidence="analysis")
        if isinstance(names, Refused):
            return names
        new = {
            move.site: move.value for move in moves if isinstance(move.value, str) and move.kind == "rename"
        }
        # Two moves of one variable would leave one entry, so the counts differ.
        if len(new) != len(moves) or not new.keys() <= names.current.keys():
            return Refused(self.foreign)
        text = names.text(new) if names.allows(new) else None
        if text is None:
            return Refused(self.illegal)
        # Nothing above is trusted: the proof looks at the finished text only.
        evidence = names.proof(text, new)
        return Refused(UNVERIFIED) if evidence is None else Rewritten(source=text, evidence=evidence)


class RenamableVariable(Protocol):
    """A variable of a function, with all of its occurrences."""

    @property
    def number(self) -> int:
        """Its number in the function."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def view(self) -> str:
        """Its view: `parameter`, `local`, `label`, …"""


class RenamableVariables(Protocol):
    """The variables of one function. A language analyses a function once for all of its variants."""

    @property
    def lexicon(self) -> Lexicon:
        """How names look in the language."""

    @property
    def bindings(self) -> Sequence[RenamableVariable]:
        """All variables, also those that keep their names."""

    @property
    def words(self) -> Collection[str]:
        """Every word of the text, also those of strings and comments."""

    def movable(self, *, parameters: bool) -> Mapping[int, RenamableVariable] | Refused:
        """The variables that may be renamed, by number, or why there is none."""

    def usable(self, name: str, own: Collection[str]) -> bool:
        """Whether a name may be given. `own` are names already in use, which may be reserved ones."""

    def collides(self, names: Mapping[int, str]) -> bool:
        """Whether with these names an occurrence would mean another variable than before."""

    def rewritten(self, names: Mapping[int, str]) -> str:
        """The text with new names at every occurrence of these variables, and nothing else changed."""

    def proof(self, text: str, names: Mapping[int, str]) -> Evidence | None:
        """The evidence that a text is this function with exactly these new names; `None` if it is not."""


class NewWords:
    """The proofs that the texts of one function with new words for its variables can share.

    A compiler sees in a name only which other names it equals. A new word is no word of the function, and no
    word of the language. It equals nothing else in the text. So if one text is shown to give new words to
    these variables, then so do all texts with other new words at the same places, also for fewer variables.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._last: tuple[str, Mapping[int, str]] = "", {}
        self._variables: Set[int] = frozenset()

    def remember(self, text: str, names: Mapping[int, str]) -> str:
        """The same text; remembers that it was made by a change of these names, and of nothing else."""
        self._last = text, dict(names)
        return text

    def show(self, names: Mapping[int, str], words: Collection[str]) -> None:
        """Note that the text with these names has a proof; `words` are all words of the function."""
        if len(names) > len(self._variables) and self._are_new(names, words):
            self._variables = frozenset(names)

    def shows(self, text: str, names: Mapping[int, str], words: Collection[str]) -> bool:
        """Whether the text that was made last has a proof, because another text has one."""
        return names.keys() <= self._variables and self._last == (text, names) and self._are_new(names, words)

    def _are_new(self, names: Mapping[int, str], words: Collection[str]) -> bool:
        fresh = set(names.values())
        return len(fresh) == len(names) and all(
            name not in words and name.isascii() and name.isidentifier() and not self._lexicon.reserved(name)
            for name in fresh
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableNames:
    """The names of a function's variables, for one strategy."""

    variables: RenamableVariables
    movable: Mapping[int, RenamableVariable]
    """The variables that may be renamed, by number."""
    current: Mapping[int, str]
    """Their names."""
    strategy: Strategy

    @property
    def unchanged(self) -> str:
        """The reason to refuse where no draw changes a name."""
        return "no two names to shuffle" if self.strategy == "shuffle" else "names are canonical"

    def draw(self, rng: Random) -> Mapping[int, str]:
        """Names by the strategy."""
        lexicon, names = self.variables.lexicon, dict(self.current)
        if self.strategy not in ("shuffle", "canonical"):
            # No new name is a word of a string or an attribute: code that looks names up by text must not
            # find a new one.
            return draw(lexicon, self.strategy, names, self.variables.words, rng)
        kept = {binding.name for binding in self.variables.bindings if binding.number not in self.movable}
        if self.strategy == "canonical":
            return draw(lexicon, "canonical", names, kept, rng)
        # A label never changes names with a variable: labels have a name space of their own.
        kept |= {names.pop(number) for number, binding in self.movable.items() if binding.view == "label"}
        return shuffle(lexicon, names, kept, rng)

    def allows(self, names: Mapping[int, str]) -> bool:
        """Whether every name is usable and no occurrence would mean another variable."""
        # A function may call a variable `list`: its own names stay usable although they are reserved.
        own = set(self.current.values())
        usable = all(self.variables.usable(name, own) for name in names.values())
        return usable and not self.variables.collides(names)

    def text(self, names: Mapping[int, str]) -> str:
        """The text with these names."""
        return self.variables.rewritten(names)

    def proof(self, text: str, names: Mapping[int, str]) -> Evidence | None:
        """The evidence of the language."""
        return self.variables.proof(text, names)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameVariables(Rename):
    """Gives other names to local variables, and to parameters on demand, by a strategy."""

    parameters: bool = False
    """Whether parameters are renamed too. This keeps the meaning for callers that pass arguments by position.
    """
    strategy: Strategy = "natural"

    @abstractmethod
    def variables(self, source: str) -> RenamableVariables:
        """The variables of a function.

        Raises:
            SourceError: the source does not parse or is not one function.
        """

    def names(self, source: str) -> RenamableNames | Refused:
        """The names of the variables that may change, or why none may."""
        variables = self.variables(source)
        movable = variables.movable(parameters=self.parameters)
        if isinstance(movable, Refused):
            return movable
        current = {number: binding.name for number, binding in movable.items()}
        return VariableNames(variables=variables, movable=movable, current=current, strategy=self.strategy)


NO_PAIR: Final = "no two variables to merge"


@dataclass(frozen=True, slots=True, order=True)
class VariableMerge:
    """The merge of variable `gone` into variable `into`, by their numbers in source order."""

    gone: int
    into: int


class Merges(Protocol):
    """The possible merges of one text."""

    @property
    def obstacle(self) -> str:
        """Why no variables may be merged; empty if they may."""

    @property
    def certain(self) -> Sequence[VariableMerge]:
        """Merges after which some read certainly finds another value."""

    @property
    def likely(self) -> Sequence[VariableMerge]:
        """The other merges: a read may find another value."""

    def names(self, pair: VariableMerge) -> tuple[str, str]:
        """The names of the two variables."""

    def text(self, pair: VariableMerge) -> str | None:
        """The merged text; `None` if the new text would not be exactly this one merge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging(BaseTransform):
    """Merges a variable into one whose value is still needed. One merge is one move."""

    name: str = "rename-merging"
    kind: Kind = "control"
    unit: Unit = "function"
    foreign: str
    """The reason to refuse a move that does not belong to the text."""

    @abstractmethod
    def merges(self, source: str) -> Merges:
        """The merges of a text.

        Raises:
            SourceError: the source does not parse or is not one function.
        """

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One merge; a certain one if the text has any.

        Raises:
            SourceError: the source does not parse or is not one function.
        """
        merges = self.merges(source)
        if merges.obstacle:
            return Refused(merges.obstacle)
        # The evidence of a certain merge is stronger, so a likely one is taken only if no certain one works.
        for candidates in (merges.certain, merges.likely):
            remaining = list(candidates)
            while remaining:
                pair = remaining.pop(rng.randrange(len(remaining)))
                if merges.text(pair) is not None:
                    old, new = merges.names(pair)
                    note = f"{old} -> {new} (two variables become one)"
                    return (Move(kind="merge", site=pair.gone, value=new, note=note),)
        return Refused(NO_PAIR)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """The text after the merge. A certain merge has evidence `analysis`, another one `parsed`."""
        if not moves:
            return Rewritten(source=source, evidence="parsed")
        merges = self.merges(source)
        if len(moves) == 1:  # a second merge could undo what the first one breaks
            for pair in (*merges.certain, *merges.likely):
                if (pair.gone, merges.names(pair)[1]) == (moves[0].site, moves[0].value):
                    text = merges.text(pair)
                    if text is not None:
                        certain = pair in merges.certain
                        return Rewritten(source=text, evidence="analysis" if certain else "parsed")
        return Refused(self.foreign)
