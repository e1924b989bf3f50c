"""The protocol that every transform implements, and the simplest transform: the identity.

A transform proposes an edit as a tuple of moves (`propose`) and makes any part of it (`apply`). The driver in
`perturb.py` trusts none of them: it drops variants that equal their input or one another, and it writes the
records.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final, Protocol, TypeGuard, runtime_checkable

from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.records import Evidence, Kind, Move, Unit

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


class Transform(Protocol):
    """A rewriting of one unit of code. Implementations are immutable and keep no state."""

    @property
    def name(self) -> str:
        """The name on the command line, such as `reorder`."""

    @property
    def kind(self) -> Kind:
        """Whether the meaning is kept."""

    @property
    def languages(self) -> frozenset[str]:
        """The languages that it rewrites; empty for all."""

    @property
    def unit(self) -> Unit:
        """What its methods are given: one function, or the whole text."""

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """Draw the moves of one variant, at as many sites as fit together. `rng` is the only source of
        chance.

        Raises:
            SourceError: the source cannot be parsed.
        """

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """The text after these moves: any subset of a proposal. An illegal subset is refused."""


@runtime_checkable
class Surrounded(Protocol):
    """Optional: a transform of functions that uses what the text around a function shows."""

    def within(self, text: str) -> Transform:
        """The same transform for the functions of this text. A text that cannot be read shows nothing.

        For a language with macros the text ends with the place of its file (`placed`), where that is known.
        """


_PLACE: Final = "\0"


def placed(text: str, file: str) -> str:
    """A text of a file with where it lies. No source has a null byte."""
    return f"{text}{_PLACE}{file}" if file else text


def of_place(text: str) -> tuple[str, str]:
    """The text of a file, and where it lies; empty if that is not known."""
    own, _, file = text.partition(_PLACE)
    return own, file


def is_surrounded(transform: Transform) -> TypeGuard[Surrounded]:
    """As `isinstance`, which takes long for a protocol."""
    return hasattr(transform, "within")


def knows_names(transform: Transform) -> bool:
    """Whether a transform considers by itself what the text around a function binds anew.

    A rule is only told what looking at objects may do there; it is not used where a builtin's name means
    something else.
    """
    return is_surrounded(transform) and not getattr(transform, "trusts_names", False)


@runtime_checkable
class Locating(Protocol):
    """Optional: a transform that says what stands at its sites, as mixed variants need."""

    def places(self, source: str) -> Mapping[int, str]:
        """What stands at each site. A site of another text with the same answer can be edited in its place.

        Raises:
            SourceError: the source cannot be parsed.
        """


@runtime_checkable
class Related(Protocol):
    """Optional: a transform whose moves depend on a relation between statements."""

    def under(self, dependence: Dependence) -> Transform:
        """The same transform under this relation; its evidence is that of the relation."""


@runtime_checkable
class Finite(Protocol):
    """Optional: a transform that can count and list all variants of a text, as exhaustive attacks need."""

    def count(self, source: str) -> int | None:
        """The number of variants without the text itself; `None` if counting costs too much.

        Raises:
            SourceError: the source cannot be parsed.
        """

    def every(self, source: str) -> Iterator[tuple[Move, ...]]:
        """The moves of each variant, each variant once.

        Raises:
            SourceError: the source cannot be parsed.
        """


@dataclass(frozen=True, slots=True)
class Identity:
    """Returns the input byte for byte, for every language: to ask the same again, or a changed network."""

    name: str = "identity"
    kind: Kind = "identity"
    languages: frozenset[str] = field(default_factory=frozenset)
    unit: Unit = "module"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """No moves at all."""
        return ()

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """The source itself."""
        return Rewritten(source=source, evidence="analysis")


@dataclass(frozen=True, slots=True)
class OtherSide:
    """A control for samples with a fix: the text before it, or behind it. The driver gives it that text."""

    text: str = ""
    name: str = "other-side"
    kind: Kind = "control"
    languages: frozenset[str] = field(default_factory=frozenset)
    unit: Unit = "module"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One move, if the other side is known."""
        return (_FIX,) if self.text else Refused(NO_OTHER_SIDE)

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
