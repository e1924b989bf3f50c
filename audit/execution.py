"""Variants executed beside their originals, so that they carry the evidence of it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from audit.run import Case
from transforms.oracle.oracle import Oracle, confirm
from transforms.oracle.records import Agreed, Differed, Inconclusive
from transforms.records import Outcome, Perturbed


@dataclass(slots=True)
class Findings:
    """What executing variants showed, counted."""

    kept: int = 0
    """Meaning-keeping variants that did the same as their original."""
    broken: int = 0
    """Those that did something else. They are not applied."""
    changed: int = 0
    """Controls that did something else."""
    unchanged: int = 0
    """Controls of which no input showed a change."""
    open: Counter[str] = field(default_factory=Counter)
    """Variants of which nothing could be said, by reason."""

    @property
    def total(self) -> int:
        """How many variants were executed, or were to be."""
        return self.kept + self.broken + self.changed + self.unchanged + self.open.total()


def execute(cases: Iterable[Case], findings: Findings) -> Iterator[Case]:
    """The cases, their Python variants judged by execution in a sandbox; counts go into `findings`.

    A variant that agreed with its original, and a control that did not, earn `executed`. A meaning-keeping
    variant that did not agree is not applied. The sample's own tests decide where it has some, inputs that
    are drawn from its text elsewhere.

    Raises:
        CannotAudit: this machine can't contain programs.
    """
    with Oracle() as oracle:
        for case in cases:
            yield replace(case, outcomes=tuple(_judged(oracle, one, findings) for one in case.outcomes))


def _judged(oracle: Oracle, outcome: Outcome, findings: Findings) -> Outcome:
    sample = outcome.sample
    if not isinstance(outcome, Perturbed) or outcome.kind == "identity" or sample.language != "python":
        return outcome
    verdict = oracle.judge(sample.source, outcome.source, tests=sample.tests, setup=sample.context)
    control = outcome.kind == "control"
    match verdict:
        case Agreed():
            findings.unchanged += control
            findings.kept += not control
        case Differed():
            findings.changed += control
            findings.broken += not control
        case Inconclusive(reason):
            findings.open[reason] += 1
    return confirm(outcome, verdict)
