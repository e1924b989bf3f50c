"""Variants given to witnesses beside their originals, so that they carry the evidence of it.

A witness runs or measures the code of one language; what it may say is in
`codeaudit.audit.evidence_check`. The driver here knows no language.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from itertools import groupby, islice
from typing import Protocol, TypeGuard

from codeaudit.audit.evidence_check import FindingCounts, Judge, confirm
from codeaudit.audit.labels import LabelSource
from codeaudit.audit.run import Case
from codeaudit.transforms.languages import find_language
from codeaudit.transforms.loading import load_target
from codeaudit.transforms.perturb import promised
from codeaudit.transforms.records import Outcome, Perturbed


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


def witnesses(languages: Iterable[str], labels: LabelSource) -> Mapping[str, Witness]:
    """The witnesses of these languages. Nothing runs yet. Where labels are measured, costs are measured with
    the same tool.
    """
    found: dict[str, Witness] = {}
    for name in sorted(set(languages)):
        language = find_language(name)
        if language is not None and language.witness:
            found[name] = load_target(language.witness)(labels)
    return found


def execute(cases: Iterable[Case], known: Mapping[str, Witness], findings: FindingCounts) -> Iterator[Case]:
    """The cases in order, their variants judged by the witness of their language; counts go into `findings`.

    A meaning-keeping variant without evidence that no witness confirmed is not applied.

    Raises:
        CannotAudit: this machine can't contain programs.
    """
    with ExitStack() as stack:
        judges: dict[str, Judge] = {}
        for language, run in groupby(cases, key=lambda case: case.sample.language):
            if language not in known or not known[language].tools:
                for case in run:
                    yield replace(case, outcomes=tuple(map(promised, case.outcomes)))
                continue
            if language not in judges:
                judges[language] = stack.enter_context(known[language].judging())
            while chunk := list(islice(run, known[language].together)):
                yield from _judged(chunk, judges[language], findings)


def _judged(cases: Sequence[Case], judge: Judge, findings: FindingCounts) -> Iterator[Case]:
    variants = [one for case in cases for one in case.outcomes if _is_variant(one)]
    told = zip(variants, judge(variants), strict=True)
    judged = iter([promised(confirm(one, finding, findings)) for one, finding in told])
    for case in cases:
        outcomes = [next(judged) if _is_variant(one) else one for one in case.outcomes]
        yield replace(case, outcomes=tuple(outcomes))


def _is_variant(outcome: Outcome) -> TypeGuard[Perturbed]:
    return isinstance(outcome, Perturbed) and outcome.kind != "identity"
