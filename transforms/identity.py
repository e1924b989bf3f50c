"""The identity: the unchanged input again, asked about in another batch.

An answer that changes under it shows the noise of the model, which is the floor for all other transforms.
"""

from dataclasses import dataclass, field
from random import Random

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.records import Kind, Move, Unit


@dataclass(frozen=True, slots=True)
class Identity:
    """Returns the input byte for byte, for every language."""

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


IDENTITY = Identity()
