"""Evidence for variants from witnesses: independent tools that run, compile or measure code.

`execute` gives the variants of a run to the witness of their language beside their originals. A witness
answers with one of three findings: the variant behaves as its original, it behaves differently, or neither
can be shown. `confirm` turns a finding into the outcome of the variant. The witnesses are in
`codeaudit.audit.witnesses`, one module per language; nothing here depends on a language.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import Final, Protocol, TypeAlias, TypeGuard, get_args

from codeaudit.audit.interface import LabelSource
from codeaudit.audit.languages import audit_of
from codeaudit.audit.records import Case
from codeaudit.transforms.dependence.relations import related_name
from codeaudit.transforms.perturb import promised
from codeaudit.transforms.records import KEEPS_TEXT, Evidence, Outcome, Perturbed
from codeaudit.transforms.registration import load_target
from codeaudit.transforms.registry import rests_on

DIFFERS: Final = "execution differs"
"""Why a variant whose execution differed from its original's is not applied."""


def disproves(transform: str, reason: str) -> bool:
    """Whether a variant that was left out for a reason shows that its transform does not keep the meaning.

    A measured cost is no meaning, and under `confirmed` the tests decide which orders are kept.
    """
    return reason == DIFFERS and not transform.startswith(related_name("", "confirmed"))


_STRENGTH: Final[Mapping[str, int]] = {name: place for place, name in enumerate(get_args(Evidence))}


@dataclass(frozen=True, slots=True)
class BehavesSame:
    """The variant does, or costs, the same as its original."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class BehavesDifferently:
    """The variant does, or costs, something else than its original."""

    evidence: Evidence
    reason: str
    """Why a meaning-keeping variant is not applied."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """The witness can show neither."""

    reason: str


WitnessFinding: TypeAlias = BehavesSame | BehavesDifferently | Undecided

Judge: TypeAlias = Callable[[Sequence[Perturbed]], Iterable[WitnessFinding]]
"""From variants, grouped by original, to one finding per variant, in order."""


class Witness(Protocol):
    """Runs, compiles or measures the code of one language with the tools of this machine."""

    @property
    def together(self) -> int:
        """Number of samples whose variants are judged at once."""
        ...

    @property
    def tools(self) -> Sequence[Mapping[str, object]]:
        """The tools, for manifests: `tool`, and everything that a finding depends on, such as the version."""
        ...

    @property
    def missing(self) -> Sequence[str]:
        """One line per tool that is not installed."""
        ...

    def judging(self) -> AbstractContextManager[Judge]:
        """The judge. Its processes end with the context.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        ...


@dataclass(slots=True)
class FindingCounts:
    """Numbers of findings."""

    kept: int = 0
    """Meaning-keeping variants that behave as their original."""
    broken: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Meaning-keeping variants that behave differently, by transform and reason. They are not applied."""
    changed: int = 0
    """Controls that behave differently."""
    unchanged: int = 0
    """Controls that behave as their original."""
    open: Counter[str] = field(default_factory=Counter)
    """Undecided variants by reason."""

    @property
    def total(self) -> int:
        """Number of variants that a witness was asked about."""
        return self.kept + self.broken.total() + self.changed + self.unchanged + self.open.total()


def witnesses(languages: Iterable[str], labels: LabelSource) -> Mapping[str, Witness]:
    """The witnesses of these languages, by language. No process starts yet.

    If labels are measured, costs are measured with the same tool, so that they are comparable.
    """
    by_language: dict[str, Witness] = {}
    for name in sorted(set(languages)):
        if witness := audit_of(name).witness:
            by_language[name] = load_target(witness)(labels)
    return by_language


def execute(
    cases: Iterable[Case], by_language: Mapping[str, Witness], findings: FindingCounts
) -> Iterator[Case]:
    """The cases in order, with the evidence that the witness of their language found; counts go into
    `findings`.

    A meaning-keeping variant without evidence that no witness confirmed is not applied.

    Raises:
        CannotAudit: this machine cannot contain programs.
    """
    with ExitStack() as stack:
        # A judge starts processes, so it lives as long as the run. Cases of one language mostly stand
        # together.
        judges: dict[str, Judge] = {}
        for language, run in groupby(cases, key=lambda case: case.sample.language):
            if language not in by_language or not by_language[language].tools:
                # No tool: variants that only a witness could have confirmed are not applied (`promised`).
                for case in run:
                    yield replace(case, outcomes=tuple(map(promised, case.outcomes)))
                continue
            if language not in judges:
                judges[language] = stack.enter_context(by_language[language].judging())
            while chunk := list(islice(run, by_language[language].together)):
                yield from _judged(chunk, judges[language], findings)


def confirm(outcome: Perturbed, finding: WitnessFinding, findings: FindingCounts) -> Outcome:
    """The outcome of a variant after a finding.

    - A meaning-keeping variant that behaves the same, and a control that behaves differently, get the
      evidence of the finding, unless theirs is stronger.
    - A meaning-keeping variant that behaves differently is not applied.
    - Every other variant stays as it is. A control without the evidence may change nothing.
    """
    control = outcome.kind == "control"
    match finding:
        # No evidence for a control that behaves the same: other inputs may show a difference.
        case BehavesSame(evidence):
            findings.unchanged += control
            findings.kept += not control
            return outcome if control else _lifted(outcome, evidence)
        case BehavesDifferently(evidence, reason):
            findings.changed += control
            if not control:
                findings.broken[outcome.transform, reason] += 1
            return _lifted(outcome, evidence) if control else outcome.left_out(reason)
        case Undecided(reason):
            findings.open[reason] += 1
            return outcome


def combined(witness_findings: Iterable[WitnessFinding]) -> WitnessFinding:
    """The finding of several tools about one variant.

    A difference found by one tool outweighs sameness found by the others; then the strongest evidence counts.
    """
    findings = list(witness_findings)
    # One execution that differs is a proof; no number of equal executions is one.
    for kind in (BehavesDifferently, BehavesSame):
        of_kind = [finding for finding in findings if isinstance(finding, kind)]
        if of_kind:
            return max(of_kind, key=lambda finding: _STRENGTH[finding.evidence])
    return Undecided("; ".join(finding.reason for finding in findings if isinstance(finding, Undecided)))


def _judged(cases: Sequence[Case], judge: Judge, findings: FindingCounts) -> Iterator[Case]:
    variants = [outcome for case in cases for outcome in case.outcomes if _is_variant(outcome)]
    pairs = zip(variants, judge(variants), strict=True)
    judged = iter([promised(confirm(variant, finding, findings)) for variant, finding in pairs])
    for case in cases:
        outcomes = [next(judged) if _is_variant(outcome) else outcome for outcome in case.outcomes]
        yield replace(case, outcomes=tuple(outcomes))


def _is_variant(outcome: Outcome) -> TypeGuard[Perturbed]:
    # Execution says nothing of words: with other ones the code is the same.
    return isinstance(outcome, Perturbed) and outcome.kind not in KEEPS_TEXT and outcome.kind != "prose"


def _lifted(outcome: Perturbed, evidence: Evidence) -> Perturbed:
    # Where more units than the source were rewritten a witness looks at the source alone.
    stronger = _STRENGTH[evidence] > _STRENGTH[outcome.evidence] and not (outcome.other or outcome.candidates)
    if not stronger:
        return outcome
    lifted = replace(outcome, evidence=evidence)
    # What the analysis has shown of the file stays shown.
    before = rests_on(outcome)
    return replace(lifted, rests_on=tuple(row.id for row in rests_on(lifted) if row in before))
