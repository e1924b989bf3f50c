"""What a witness says of a variant, and what becomes of the variant by it.

A witness runs or measures code. What it says is one of three: the variant does the same as its original,
something else, or nothing is known.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, get_args

from codeaudit.transforms.records import Evidence, Outcome, Perturbed

DIFFERS: Final = "execution differs"
"""Why a variant that was executed beside its original is not applied."""

_STRENGTH: Final[Mapping[str, int]] = {name: place for place, name in enumerate(get_args(Evidence))}


@dataclass(frozen=True, slots=True)
class BehavesSame:
    """The variant does, or costs, the same."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class BehavesDifferently:
    """The variant does, or costs, something else."""

    evidence: Evidence
    reason: str
    """Why a variant that was to keep the meaning is not applied."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """The witness can say nothing of this variant."""

    reason: str


WitnessFinding: TypeAlias = BehavesSame | BehavesDifferently | Undecided

Judge: TypeAlias = Callable[[Sequence[Perturbed]], Iterable[WitnessFinding]]
"""A finding for each variant, in order. The variants of one original stand together."""


@dataclass(slots=True)
class FindingCounts:
    """What witnesses said of variants, counted."""

    kept: int = 0
    """Meaning-keeping variants that did the same as their original."""
    broken: int = 0
    """Those that did something else. They are not applied."""
    changed: int = 0
    """Controls that did something else."""
    unchanged: int = 0
    """Controls of which nobody could show a change."""
    open: Counter[str] = field(default_factory=Counter)
    """Variants of which nothing could be said, by reason."""

    @property
    def total(self) -> int:
        """How many variants were judged, or were to be."""
        return self.kept + self.broken + self.changed + self.unchanged + self.open.total()


def confirm(outcome: Perturbed, finding: WitnessFinding, findings: FindingCounts) -> Outcome:
    """The outcome with the evidence that the finding gave it.

    A meaning-keeping variant that is the same, and a control that is not, earn the witness's evidence, or
    keep a stronger one. A meaning-keeping variant that is not the same is not applied. All else stays as it
    was: a control without that evidence could not be confirmed to change anything.
    """
    control = outcome.kind == "control"
    match finding:
        case BehavesSame(evidence):
            findings.unchanged += control
            findings.kept += not control
            return outcome if control else _lifted(outcome, evidence)
        case BehavesDifferently(evidence, reason):
            findings.changed += control
            findings.broken += not control
            return _lifted(outcome, evidence) if control else outcome.left_out(reason)
        case Undecided(reason):
            findings.open[reason] += 1
            return outcome


def combined(witness_findings: Iterable[WitnessFinding]) -> WitnessFinding:
    """What several tools say together of one variant: a difference that one of them saw counts, then a
    sameness, each with the strongest evidence.
    """
    told = list(witness_findings)
    others = [one for one in told if isinstance(one, BehavesDifferently)]
    if others:
        return max(others, key=lambda one: _STRENGTH[one.evidence])
    same = [one for one in told if isinstance(one, BehavesSame)]
    if same:
        return max(same, key=lambda one: _STRENGTH[one.evidence])
    return Undecided(", ".join(one.reason for one in told if isinstance(one, Undecided)))


def _lifted(outcome: Perturbed, evidence: Evidence) -> Perturbed:
    stronger = _STRENGTH[evidence] > _STRENGTH[outcome.evidence]
    return replace(outcome, evidence=evidence) if stronger else outcome
