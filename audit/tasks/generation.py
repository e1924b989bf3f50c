"""Generation: write the rest of a function, so that it passes its tests.

The source of a query is the beginning of a file, to be continued unchanged: the code that the
function needs, its head and docstring, and the first half of the statements of its body, each complete. It
ends with a line end; the next line is the next statement:

    def repeated(word, times=2):
        \"\"\"Repeat a word.\"\"\"
        parts = [word] * times

The answer is the text that follows (`    return '-'.join(parts)`), as a base model continues it, or the
whole function again, as chat models write it; see `codeaudit.audit.tasks.solutions`. A list of texts is a
list of attempts.

The completed program is executed with the tests of the problem, which no model sees. A program of Python runs
in one process and its tests in another, so arguments and results are carried between the two. If a value
cannot be carried (an object of a class of the program, a generator, a function), the answer is unjudged. In
other languages both share a process (`codeaudit.transforms.oracle.programs`). A graded answer is a
tuple of `Attempt`: each text with the type of the exception or the limit that ended its tests, or with none
if it passes. Two answers are the same if both hold a passing attempt, or neither does. The score is pass@1:
the share of attempts that pass, as a mean over problems.

Which variants are asked about:

- A meaning-keeping variant must be solvable: the whole rewritten reference still passes its own tests.
- A variant must keep the docstring, because it says what the function is for.
- Other words in the docstring (`prose`) leave the code as it is, so tests say nothing of the edit. That they
  ask for the same is assumed.
- A control counts if no known continuation passes: neither the rewritten reference, nor the rest of the
  original behind the part that is shown now. An answer that passed before and fails now shows that the
  model saw the change. If one of the two passes, there is no verdict.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

from typing_extensions import override

from codeaudit.audit.interface import Expectation, FreeText
from codeaudit.audit.prompt_cut import HALF, askable_variants, body_of, cut_of, shown, uncut
from codeaudit.audit.prompts import ContinuationPrompt
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.solutions import completed, never_run, tests_of, unrunnable
from codeaudit.audit.tasks.solving import (
    CARRIES_NOT,
    FAILS_ITSELF,
    NO_TESTS,
    Solving,
    label_of,
    labels_by_tests,
    originals,
    solutions,
)
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.oracle.calls import Outcome as TrialOutcome
from codeaudit.transforms.oracle.calls import Passed, ProgramTrial, TrialUnjudged
from codeaudit.transforms.oracle.tested import trial
from codeaudit.transforms.records import KEEPS_TEXT, Outcome, Perturbed, Sample

FAILS_NOW: Final = "the rewritten reference fails its tests"
NO_TEXT: Final = "the docstring is gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation(Solving):
    """The type of `GENERATION`."""

    share: float = HALF
    """The share of a function's statements that is shown; 0 for its head and docstring alone."""

    @override
    def showing(self, share: float) -> "Generation":
        """The task with another share."""
        return replace(self, share=share)

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The problem with its tests as the label and its shown part in `asked`; or why it is no example.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        if (reason := unrunnable(sample.language)) is not None:
            return reason
        if not sample.tests:
            return NO_TESTS
        cut = cut_of(sample, self.share)
        if isinstance(cut, str):
            return cut
        body, asked = cut
        tests = tests_of(sample, body.name)
        (outcome,) = originals().outcomes([trial(sample.source, sample.source, tests, sample.language)])
        if not isinstance(outcome, Passed):
            return CARRIES_NOT if isinstance(outcome, TrialUnjudged) else FAILS_ITSELF
        return replace(sample, label=tests, asked=asked, context="")

    @override
    def refuses(self, language: str) -> str:
        return never_run(language) or uncut(language)

    @override
    def trial_of(self, text: str, asked: str, sample: Sample) -> ProgramTrial:
        """The completed program with the tests."""
        program = completed(asked, text, sample.language)
        return trial(program, sample.source, str(sample.label), sample.language)

    @override
    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """Another answer if all known references fail the tests; see `_references`.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        tests = label_of(sample)
        control = perturbed.kind == "control"
        if perturbed.kind in KEEPS_TEXT or perturbed.kind == "prose":
            return "same"
        if tests is None or (not control and _loses_text(sample, perturbed)):
            return "unknown"
        if not control and perturbed.evidence == "executed":
            return "same"  # `askable` ran it on these tests; suites keep the evidence
        outcomes = _outcomes(sample, tests, _references(sample, perturbed))
        if Passed() in outcomes:
            return "same"
        return "unknown" if any(isinstance(outcome, TrialUnjudged) for outcome in outcomes) else "other"

    @override
    def askable(self, sample: Sample, outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
        """The outcomes; only variants that can be solved and show another part than earlier ones are applied.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        tests = label_of(sample)
        if tests is None:
            return tuple(outcomes)
        chosen = [
            outcome.left_out(NO_TEXT)
            if isinstance(outcome, Perturbed) and _loses_text(sample, outcome)
            else outcome
            for outcome in askable_variants(sample, outcomes)
        ]
        # Execution of many programs at once is faster; `_proved` then finds the results in the cache.
        variants = [outcome for outcome in chosen if _is_executed(outcome)]
        _outcomes(sample, tests, [text for variant in variants for text in _references(sample, variant)])
        return tuple(self._proved(sample, outcome) for outcome in chosen)

    def _proved(self, sample: Sample, outcome: Outcome) -> Outcome:
        """A variant with evidence from its tests, or not applied if it must keep the meaning and fails
        them."""
        if not _is_executed(outcome):
            return outcome
        expected = self.expects(sample, replace(outcome, evidence="none"))
        if outcome.kind == "preserving" and expected != "same":
            return outcome.left_out(FAILS_NOW if expected == "other" else CARRIES_NOT)
        if outcome.kind == "control" and expected != "other":
            return outcome
        return replace(outcome, evidence="executed")


def _is_executed(outcome: Outcome) -> TypeGuard[Perturbed]:
    """Whether the tests of a variant say something of it: of other words for the same code they do not."""
    return isinstance(outcome, Perturbed) and outcome.kind not in KEEPS_TEXT and outcome.kind != "prose"


def _references(sample: Sample, perturbed: Perturbed) -> tuple[str, ...]:
    """The right answer stays the same if at least one of these programs passes."""
    if perturbed.kind != "control":
        return (perturbed.source,)
    # A control may lie behind the cut: then the model never sees it, and the old continuation still passes.
    return perturbed.source, shown(sample, perturbed.source) + sample.source[len(sample.asked) :]


def _loses_text(sample: Sample, perturbed: Perturbed) -> bool:
    """Whether a variant lost the docstring, which says what to write."""
    try:
        before = body_of(sample.source, sample.language)
        after = body_of(perturbed.source, sample.language)
    except SourceError:  # possible in a suite that another program wrote
        return True
    if isinstance(before, str) or isinstance(after, str):
        return True
    return before.documented and not after.documented


def _outcomes(sample: Sample, tests: str, programs: Sequence[str]) -> list[TrialOutcome]:
    return solutions().outcomes([trial(text, sample.source, tests, sample.language) for text in programs])


GENERATION: Final = Generation(
    name="generation",
    question="What is the rest of this function, so that it passes its tests?",
    answers=FreeText(),
    score_name="pass@1",
    noun="problems",
    prose=True,
    labels=labels_by_tests,
    wordings=wordings.GENERATION,
    prompt=ContinuationPrompt(
        template=(
            "This {language} code breaks off in the middle of its last function. Write what follows the last "
            "line, to the end of that function, with its indentation. Answer with that code in one fence. No "
            "additional text.\n\n{code}"
        ),
        extent="code",
        longest=512,
        usual=100,
    ),
)
