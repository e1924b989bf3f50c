"""Variants given to witnesses beside their originals, so that they carry the evidence of it.

A witness runs or measures the code of one language. What it says of a variant is one of three: the same as
the original, something else, or nothing. The driver here knows no language.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import groupby, islice
from typing import Final, Protocol, TypeAlias, TypeGuard, get_args

from audit.labels import Labels
from audit.run import Case
from transforms.records import Evidence, NotApplied, Outcome, Perturbed

WITNESSES: Final[Mapping[str, str]] = {
    "python": "audit.witnesses.python:witness",
    "java": "audit.witnesses.java:witness",
    "x86": "audit.witnesses.x86:witness",
}
"""By language, the function that finds what this machine has, imported when first asked for."""

_STRENGTH: Final[Mapping[str, int]] = {name: place for place, name in enumerate(get_args(Evidence))}


@dataclass(frozen=True, slots=True)
class Same:
    """The variant does, or costs, the same."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Other:
    """The variant does, or costs, something else."""

    evidence: Evidence
    reason: str
    """Why a variant that was to keep the meaning is not applied."""


@dataclass(frozen=True, slots=True)
class Silent:
    """The witness can say nothing of this variant."""

    reason: str


Testimony: TypeAlias = Same | Other | Silent

Judge: TypeAlias = Callable[[Sequence[Perturbed]], Iterable[Testimony]]
"""A testimony for each variant, in order. The variants of one original stand together."""


class Witness(Protocol):
    """What runs or measures the code of one language on this machine."""

    @property
    def together(self) -> int:
        """How many samples' variants are judged at once."""
        ...

    @property
    def tools(self) -> Sequence[Mapping[str, object]]:
        """What it works with, as manifests tell it: `tool`, and what its word depends on."""
        ...

    @property
    def missing(self) -> Sequence[str]:
        """A line for each tool that is not here."""
        ...

    def judging(self) -> AbstractContextManager[Judge]:
        """The judge, and its processes for as long as it is needed.

        Raises:
            CannotAudit: this machine can't contain programs.
        """
        ...


@dataclass(slots=True)
class Findings:
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


def witnesses(languages: Iterable[str], labels: Labels) -> Mapping[str, Witness]:
    """The witnesses of these languages. Nothing runs yet. Where labels are measured, costs are measured with
    the same tool.
    """
    found: dict[str, Witness] = {}
    for language in sorted(set(languages)):
        if language in WITNESSES:
            module, _, function = WITNESSES[language].partition(":")
            found[language] = getattr(import_module(module), function)(labels)
    return found


def execute(cases: Iterable[Case], known: Mapping[str, Witness], findings: Findings) -> Iterator[Case]:
    """The cases in order, their variants judged by the witness of their language; counts go into `findings`.

    Raises:
        CannotAudit: this machine can't contain programs.
    """
    with ExitStack() as stack:
        judges: dict[str, Judge] = {}
        for language, run in groupby(cases, key=lambda case: case.sample.language):
            if language not in known or not known[language].tools:
                yield from run
                continue
            if language not in judges:
                judges[language] = stack.enter_context(known[language].judging())
            while chunk := list(islice(run, known[language].together)):
                yield from _judged(chunk, judges[language], findings)


def _judged(cases: Sequence[Case], judge: Judge, findings: Findings) -> Iterator[Case]:
    variants = [one for case in cases for one in case.outcomes if _is_variant(one)]
    told = zip(variants, judge(variants), strict=True)
    judged = iter([confirm(one, testimony, findings) for one, testimony in told])
    for case in cases:
        outcomes = [next(judged) if _is_variant(one) else one for one in case.outcomes]
        yield replace(case, outcomes=tuple(outcomes))


def _is_variant(outcome: Outcome) -> TypeGuard[Perturbed]:
    return isinstance(outcome, Perturbed) and outcome.kind != "identity"


def confirm(outcome: Perturbed, testimony: Testimony, findings: Findings) -> Outcome:
    """The outcome with the evidence that the testimony gave it.

    A meaning-keeping variant that is the same, and a control that is not, earn the witness's evidence, or
    keep a stronger one. A meaning-keeping variant that is not the same is not applied. All else stays as it
    was: a control without that evidence could not be confirmed to change anything.
    """
    control = outcome.kind == "control"
    match testimony:
        case Same(evidence):
            findings.unchanged += control
            findings.kept += not control
            return outcome if control else _lifted(outcome, evidence)
        case Other(evidence, reason):
            findings.changed += control
            findings.broken += not control
            return _lifted(outcome, evidence) if control else _left_out(outcome, reason)
        case Silent(reason):
            findings.open[reason] += 1
            return outcome


def combined(testimonies: Iterable[Testimony]) -> Testimony:
    """What several tools say together of one variant: a difference that one of them saw counts, then a
    sameness, each with the strongest evidence.
    """
    told = list(testimonies)
    others = [one for one in told if isinstance(one, Other)]
    if others:
        return max(others, key=lambda one: _STRENGTH[one.evidence])
    same = [one for one in told if isinstance(one, Same)]
    if same:
        return max(same, key=lambda one: _STRENGTH[one.evidence])
    return Silent(", ".join(one.reason for one in told if isinstance(one, Silent)))


def _lifted(outcome: Perturbed, evidence: Evidence) -> Perturbed:
    stronger = _STRENGTH[evidence] > _STRENGTH[outcome.evidence]
    return replace(outcome, evidence=evidence) if stronger else outcome


def _left_out(outcome: Perturbed, reason: str) -> NotApplied:
    return NotApplied(
        sample=outcome.sample,
        transform=outcome.transform,
        kind=outcome.kind,
        variant=outcome.variant,
        reason=reason,
    )
