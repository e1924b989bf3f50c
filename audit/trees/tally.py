"""How many units each transform changed, and why it left the others."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from codeaudit.transforms.records import Kind, NotApplied, Outcome, Perturbed
from codeaudit.transforms.registry import ENTRIES
from codeaudit.transforms.trees import Applied, Declined, Record


@dataclass(slots=True)
class Tally:
    """Counts of one transform."""

    kind: Kind
    changed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    evidence: Counter[str] = field(default_factory=Counter)

    @property
    def units(self) -> int:
        """How many units it was given."""
        return self.changed + self.reasons.total()


Tallies = dict[str, Tally]
"""By transform, in the order of their first record."""


def prepare(tallies: Tallies, names: Iterable[str]) -> None:
    """Let these transforms be told of even where there is nothing that they could be given."""
    for name in names:
        tallies.setdefault(name, Tally(ENTRIES[name].kind))


def count(tallies: Tallies, records: Iterable[Record | Outcome]) -> None:
    """Add what happened to units of a tree, or to samples."""
    for record in records:
        tally = tallies.setdefault(record.transform, Tally(record.kind))
        match record:
            case Applied() | Perturbed():
                tally.changed += 1
                tally.evidence[record.evidence] += 1
            case Declined() | NotApplied():
                tally.reasons[record.reason] += 1
