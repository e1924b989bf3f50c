"""Repair: mend a unit, so that it passes its tests.

The source of a query is a whole text whose last function has a fault: it fails tests that no model sees. The
answer is the mended function, with its imports, as chat models write it. The program consists of the code
before the function and of that answer; see `codeaudit.audit.tasks.solutions`. A text without the function
fails without being executed.

Samples come from tables that have both sides of a fix and tests. The unit without the fault must pass them,
and the unit with it must fail.

A meaning-keeping variant of the unit must fail its tests in the same way as the original; another one is not
asked about. Controls have no verdict, because nobody knows whether a unit with another meaning is still the
same fault to mend.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import Expectation, FreeText
from codeaudit.audit.prompt_cut import NO_FUNCTION, body_of, uncut
from codeaudit.audit.prompts import ContinuationPrompt
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.solutions import never_run, rewritten, tests_of, unrunnable
from codeaudit.audit.tasks.solving import (
    CARRIES_NOT,
    FAILS_ITSELF,
    NO_TESTS,
    Solving,
    label_of,
    labels_by_variants,
    originals,
    solutions,
)
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.oracle.calls import Passed, ProgramTrial, TrialUnjudged
from codeaudit.transforms.oracle.tested import trial
from codeaudit.transforms.records import Outcome, Perturbed, Sample

NO_FIX: Final = "no second side of a fix: HumanEvalPack and QuixBugs have columns for it"
BY_MATCH: Final = "without any, --task repair-match grades by exact match"
NO_FAULT: Final = "the unit with the fault passes its tests, so they do not show the fault"
FAILS_OTHERWISE: Final = "the rewritten unit does not fail its tests as the original does"
NOT_WRITTEN: Final = "the function is not in the answer"
"""The failure of an answer that is not executed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair(Solving):
    """The type of `REPAIR`."""

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The unit with the fault, and its tests as the label; or why it is no example.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        if (reason := unrunnable(sample.language)) is not None:
            return reason
        if not sample.tests:
            return f"{NO_TESTS}; {BY_MATCH}" if sample.other_side else NO_TESTS
        if not sample.other_side:
            return NO_FIX
        if reason := uncut(sample.language):
            return reason
        try:
            body = body_of(sample.other_side, sample.language)
        except SourceError:
            return NOT_PARSED
        if isinstance(body, str):
            return NO_FUNCTION
        tests = tests_of(sample, body.name)
        trials = [
            trial(side, sample.source, tests, sample.language) for side in (sample.source, sample.other_side)
        ]
        mended, faulty = originals().outcomes(trials)
        if isinstance(mended, TrialUnjudged) or isinstance(faulty, TrialUnjudged):
            return CARRIES_NOT
        if mended != Passed():
            return FAILS_ITSELF
        if faulty == Passed():
            return NO_FAULT
        # The sides change places: what is asked about, and rewritten, is the unit with the fault.
        return replace(sample, source=sample.other_side, other_side=sample.source, label=tests, context="")

    @override
    def refuses(self, language: str) -> str:
        return never_run(language) or uncut(language)

    @override
    def trial_of(self, text: str, asked: str, sample: Sample) -> ProgramTrial | str:
        """The mended program with the tests."""
        program = rewritten(asked, text, sample.language)
        if program is None:
            return NOT_WRITTEN
        return trial(program, sample.source, str(sample.label), sample.language)

    @override
    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """The same if the meaning is kept."""
        return "unknown" if perturbed.kind == "control" else "same"

    @override
    def askable(self, sample: Sample, outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
        """The outcomes; a variant that must keep the meaning is applied only if it fails as the original.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        tests = label_of(sample)
        if tests is None:
            return tuple(outcomes)
        variants = [
            outcome for outcome in outcomes if isinstance(outcome, Perturbed) and outcome.kind == "preserving"
        ]
        texts = [sample.source, *(variant.source for variant in variants)]
        first, *rest = solutions().outcomes(
            [trial(text, sample.source, tests, sample.language) for text in texts]
        )
        failing = {id(variant) for variant, ending in zip(variants, rest, strict=True) if ending == first}
        return tuple(
            outcome.left_out(FAILS_OTHERWISE)
            if isinstance(outcome, Perturbed) and outcome.kind == "preserving" and id(outcome) not in failing
            else outcome
            for outcome in outcomes
        )


REPAIR: Final = Repair(
    name="repair",
    question="What is this function without its fault?",
    answers=FreeText(),
    score_name="pass@1",
    noun="problems",
    reacts=False,
    labels=labels_by_variants,
    wordings=wordings.REPAIR,
    prompt=ContinuationPrompt(
        template=(
            "The last function of this {language} code has a bug. Write this function again without it, "
            "under the same name. Answer with that code in one fence. No additional text.\n\n{code}"
        ),
        extent="code",
        bare=False,
        longest=1024,
        usual=200,
    ),
)
