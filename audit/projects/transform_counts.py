"""Counts, by transform, of changed units or samples and of the reasons why others were not changed.

Used by `codeaudit transform` and `codeaudit verify`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from codeaudit.transforms.records import Kind, NotApplied, Outcome, Perturbed
from codeaudit.transforms.registry import entry_of
from codeaudit.transforms.source_files import Applied, Declined, UnitRecord


@dataclass(slots=True)
class TransformCounts:
    """The counts of one transform."""

    kind: Kind
    changed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Why it was not applied."""
    evidence: Counter[str] = field(default_factory=Counter)
    """Of the changed ones."""

    @property
    def units(self) -> int:
        """The number of units that it was given."""
        return self.changed + self.reasons.total()


CountsByTransform = dict[str, TransformCounts]
"""By transform name, in the order of the first record."""


def prepare(counts: CountsByTransform, names: Iterable[str]) -> None:
    """Add a zero count for each of these transforms, so that the table lists all of them."""
    for name in names:
        counts.setdefault(name, TransformCounts(entry_of(name).kind))


def count(counts: CountsByTransform, records: Iterable[UnitRecord | Outcome]) -> None:
    """Add the outcomes for units of a project, or for samples."""
    for record in records:
        found = counts.setdefault(record.transform, TransformCounts(record.kind))
        match record:
            case Applied() | Perturbed():
                found.changed += 1
                found.evidence[record.evidence] += 1
            case Declined() | NotApplied():
                found.reasons[record.reason] += 1
