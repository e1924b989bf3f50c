"""What every transform is, and the simplest transform: the identity.

A transform proposes an edit as a tuple of moves (`propose`) and makes any part of it (`apply`). The driver in
`perturb.py` trusts none of them: it drops variants that equal their input or one another, and it writes the
records.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final, Protocol, Self, cast

from typing_extensions import override

from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.levels import MacroLevel
from codeaudit.transforms.records import Evidence, Kind, Move, Unit
from codeaudit.transforms.registration import overrides

NO_OTHER_SIDE: Final = "no other side of a fix is known"
NOT_A_MOVE: Final = "not a move of this transform"
"""The reason to refuse a move that the transform would not propose for the text."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A transform has nothing legal to do."""

    reason: str
    """A short phrase without names or numbers of the text, so that equal reasons count together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """The result of `Transform.apply`."""

    source: str
    """The new text."""
    evidence: Evidence
    """What the transform itself knows; a witness may add stronger evidence later."""


class BaseTransform(Protocol):
    """Base of transforms, with a default for each ability that a transform may lack.

    Implementations are immutable and keep no state.
    """

    __slots__ = ()

    @abstractmethod
    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """Draw the moves of one variant, at as many sites as fit together. `rng` is the only source of
        chance.

        Raises:
            SourceError: the source cannot be parsed.
        """

    @abstractmethod
    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """The text after these moves: any subset of a proposal. An illegal subset is refused."""

    def within(self, text: str) -> Self:
        """The same transform for the functions of this text, if it uses what the text around a function
        shows. A text that cannot be read shows nothing.

        For a language with macros the text ends with the place of its file (`placed`), where that is known.
        """
        return self

    @property
    def trusts_names(self) -> bool:
        """Whether a transform with `within` takes a builtin's name for the builtin.

        Such a transform is not used where the name means something else. Any other one with `within`
        considers by itself what the text around a function binds anew.
        """
        return False

    @property
    def needs_names(self) -> bool:
        """Whether it matters what builtins mean where the transform is used."""
        return True

    def places(self, source: str) -> Mapping[int, str]:
        """What stands at each site, as mixed variants need it. A site of another text with the same answer
        can be edited in its place.

        Raises:
            SourceError: the source cannot be parsed.
        """
        return {}

    def under(self, dependence: Dependence) -> Self:
        """The same transform under this relation between statements, if its moves depend on one; its evidence
        is that of the relation."""
        return self

    @property
    def macros(self) -> MacroLevel | None:
        """What is assumed of macros; `None` for a transform that assumes nothing of them."""
        return None

    def at_level(self, level: MacroLevel) -> Self:
        """The same transform, by the same name, where this is assumed of macros."""
        return self if self.macros is None else replace(cast("Any", self), macros=level)

    def count(self, source: str) -> int | None:
        """The number of variants without the text itself, as exhaustive attacks need it; `None` if counting
        costs too much.

        Raises:
            SourceError: the source cannot be parsed.
        """
        return None

    def every(self, source: str) -> Iterator[tuple[Move, ...]]:
        """The moves of each variant, each variant once.

        Raises:
            SourceError: the source cannot be parsed.
        """
        return iter(())


class Transform(BaseTransform, Protocol):
    """A rewriting of one unit of code."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name on the command line, such as `reorder`."""

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """Whether the meaning is kept."""

    @property
    @abstractmethod
    def languages(self) -> frozenset[str]:
        """The languages that it rewrites; empty for all."""

    @property
    @abstractmethod
    def unit(self) -> Unit:
        """What its methods are given: one function, or the whole text."""


_PLACE: Final = "\0"


def placed(text: str, file: str) -> str:
    """A text of a file with where it lies. No source has a null byte."""
    return f"{text}{_PLACE}{file}" if file else text


def of_place(text: str) -> tuple[str, str]:
    """The text of a file, and where it lies; empty if that is not known."""
    content, _, file = text.partition(_PLACE)
    return content, file


def is_surrounded(transform: BaseTransform) -> bool:
    """Whether a transform uses what the text around a function shows."""
    return overrides(transform, BaseTransform.within)


def knows_names(transform: BaseTransform) -> bool:
    """Whether a transform considers by itself what the text around a function binds anew."""
    return is_surrounded(transform) and not transform.trusts_names


def is_located(transform: BaseTransform) -> bool:
    """Whether a transform says what stands at its sites."""
    return overrides(transform, BaseTransform.places)


def uses_relation(transform: BaseTransform) -> bool:
    """Whether the moves of a transform depend on a relation between statements."""
    return overrides(transform, BaseTransform.under)


@dataclass(frozen=True, slots=True)
class Identity(BaseTransform):
    """Returns the input byte for byte, for every language: to ask the same again, or a changed network."""

    name: str = "identity"
    kind: Kind = "identity"
    languages: frozenset[str] = field(default_factory=frozenset)
    unit: Unit = "module"

    @override
    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """No moves at all."""
        return ()

    @override
    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """The source itself."""
        return Rewritten(source=source, evidence="analysis")


@dataclass(frozen=True, slots=True)
class OtherSide(BaseTransform):
    """A control for samples with a fix: the text before it, or behind it. The driver gives it that text."""

    text: str = ""
    name: str = "other-side"
    kind: Kind = "control"
    languages: frozenset[str] = field(default_factory=frozenset)
    unit: Unit = "module"

    @override
    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One move, if the other side is known."""
        return (_FIX,) if self.text else Refused(NO_OTHER_SIDE)

    @override
    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """The other side. Only the corpus vouches for it."""
        return Rewritten(source=self.text, evidence="none") if moves == (_FIX,) else Refused(NOT_A_MOVE)


_FIX: Final = Move(kind="fix", site=0, value="", note="the other side of the fix")
OTHER_SIDE = OtherSide()
IDENTITY = Identity()
SWAP_SIDES = Identity(name="swap-sides", kind="swap")
COLUMNS = Identity(name="columns", kind="network")
COLUMNS_BROKEN = Identity(name="columns-broken", kind="network-control")
ROWS = Identity(name="rows", kind="network")
ROWS_BROKEN = Identity(name="rows-broken", kind="network-control")
