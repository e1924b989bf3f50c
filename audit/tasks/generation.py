"""Generation: write the rest of a function, so that it passes its tests.

The source of a query is the beginning of a Python file, to be continued as it is: what the function needs,
its head and docstring, and the first half of the statements of its body, each whole. It ends with a line end,
and the next line is the next statement:

    def repeated(word, times=2):
        \"\"\"Repeat a word.\"\"\"
        parts = [word] * times

The answer is the text that follows (`    return '-'.join(parts)`), as a base model continues it, or the whole
function same_cut, as chat models like to write it; see `codeaudit.audit.completions`. A list of texts is
as many attempts.

The completed program is executed with the tests of the problem, which no model sees. A graded answer is a
tuple of `Attempt`: each text with the type of the exception or the limit that ended its tests, or with none
if it passes. Two answers are the same if both hold a passing attempt, or neither does. A variant is asked
about only if the whole rewritten reference still passes its own tests, so that a passing answer exists. The
score is pass@1: the share of attempts that pass, as a mean over problems.

Variants without the docstring are left out: it says what the function is for.

A control changes the meaning of the code that is shown: the rewritten reference fails its tests, and so does
the rest of the original behind what is shown now. An answer that passed and does not any more has seen it. A
control of which either passes is no test of that: no verdict.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from codeaudit.audit.answer_kinds import FreeText
from codeaudit.audit.completions import completed
from codeaudit.audit.interface import Expectation, Task
from codeaudit.audit.labels import LabelRequest, LabelSource, prompt_labels
from codeaudit.audit.prompt_cut import (
    HALF,
    NO_FUNCTION,
    NOT_PYTHON,
    ONE_LINE,
    askable_variants,
    body_of,
    shown,
    shown_part,
)
from codeaudit.audit.prompts import ContinuationPrompt
from codeaudit.audit.records import Answer, Attempt, Predicted
from codeaudit.audit.solutions import Solutions
from codeaudit.audit.tasks.numbers import mean
from codeaudit.transforms.errors import RunError, SourceError
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import Outcome, Perturbed, Sample

REFERENCE_SECONDS: Final = 1.0
"""Of processor time that a reference may take for its tests."""
SECONDS: Final = 4.0
"""The same for variants and answers: much more, so that none of equal cost is lost."""

_CHECK: Final = re.compile(r"^def check\b", re.MULTILINE)

NO_TESTS: Final = "no tests"
FAILS_ITSELF: Final = "the reference fails its own tests"
FAILS_NOW: Final = "the rewritten reference fails its tests"
NO_TEXT: Final = "the docstring is gone"
OLD_ANSWERS: Final = "the answers of this run were written by an earlier version; run the audit again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation(Task):
    """The type of `GENERATION`."""

    share: float = HALF
    """The share of a function's statements that is shown; 0 for its head and docstring alone."""

    def showing(self, share: float) -> "Generation":
        """The task with another share."""
        return replace(self, share=share)

    def prepare(self, sample: Sample) -> Sample | str:
        """The problem, its tests as the label and the beginning of its text as what is asked; or why it is
        no example.

        Raises:
            CannotAudit: this machine can't contain programs.
        """
        if sample.language != PYTHON.name:
            return NOT_PYTHON
        if not sample.tests:
            return NO_TESTS
        try:
            found = body_of(sample.source)
            asked = shown_part(sample.source, self.share)
        except SourceError:
            return "source does not parse"
        if isinstance(found, str):
            return NO_FUNCTION
        if asked is None:
            return ONE_LINE
        tests = f"{sample.tests.rstrip()}\n"
        if _CHECK.search(tests):
            named = isinstance(sample.label, str) and sample.label.isidentifier()
            tests += f"\n\ncheck({sample.label if named else found.name})\n"
        if _originals().failures([(sample.source, tests)]) != [None]:
            return FAILS_ITSELF
        return replace(sample, label=tests, asked=asked, context="")

    def normalise(self, answer: object) -> Answer | None:
        """A text as it is, or several."""
        if isinstance(answer, str):
            return answer
        if isinstance(answer, list | tuple) and answer and all(isinstance(one, str) for one in answer):
            return tuple(answer)
        return None

    def graded(self, predicted: Predicted, asked: str, sample: Sample) -> Predicted:
        """The answer as attempts with what their tests say; unchanged if the sample has no tests.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        tests = _tests(sample)
        if tests is None:
            return predicted
        given = predicted.answer if isinstance(predicted.answer, tuple) else (predicted.answer,)
        texts = [str(one) for one in given]
        found = solutions().failures([(completed(asked, text), tests) for text in texts])
        attempts = (Attempt(text=text, failure=failure) for text, failure in zip(texts, found, strict=True))
        return replace(predicted, answer=tuple(attempts))

    def attempts(self, answer: Answer) -> tuple[bool, ...]:
        """Whether each attempt passes.

        Raises:
            RunError: the answer is not graded, because an earlier version wrote the run.
        """
        graded = _graded(answer)
        if graded is None:
            raise RunError(OLD_ANSWERS)
        return tuple(one.failure is None for one in graded)

    def same(self, before: Predicted, after: Predicted) -> bool:
        """Both solve the problem in at least one attempt, or neither does.

        Raises:
            RunError: one answer is not graded, because an earlier version wrote the run.
        """
        if _graded(before.answer) is None and _graded(after.answer) is None:
            return True  # without tests no answer solves anything
        return any(self.attempts(before.answer)) == any(self.attempts(after.answer))

    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """By what the tests say of the whole rewritten text, and of a control also of the original's rest.

        Raises:
            CannotAudit: this machine can't contain programs.
        """
        tests = _tests(sample)
        control = perturbed.kind == "control"
        if perturbed.kind == "identity":
            return "same"
        if tests is None or (not control and _loses_text(sample, perturbed)):
            return "unknown"
        if not control and perturbed.evidence == "executed":
            return "same"
        found = solutions().failures([(text, tests) for text in _references(sample, perturbed)])
        return "same" if None in found else "other"

    def askable(self, sample: Sample, outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
        """Variants whose reference passes its tests, with another beginning than all before them.

        Raises:
            CannotAudit: this machine can't contain programs.
        """
        tests = _tests(sample)
        if tests is None:
            return tuple(outcomes)
        chosen = [
            one.left_out(NO_TEXT) if isinstance(one, Perturbed) and _loses_text(sample, one) else one
            for one in askable_variants(sample, outcomes)
        ]
        # All at once, so that each verdict below is known already.
        variants = [one for one in chosen if isinstance(one, Perturbed) and one.kind != "identity"]
        solutions().failures([(text, tests) for one in variants for text in _references(sample, one)])
        return tuple(self._proved(sample, one) for one in chosen)

    def _proved(self, sample: Sample, outcome: Outcome) -> Outcome:
        """A variant with what its tests say of it."""
        if not isinstance(outcome, Perturbed) or outcome.kind == "identity":
            return outcome
        found = self.expects(sample, replace(outcome, evidence="none"))
        if outcome.kind == "preserving" and found != "same":
            return outcome.left_out(FAILS_NOW)
        return (
            outcome
            if outcome.kind == "control" and found == "same"
            else replace(outcome, evidence="executed")
        )

    def score(self, answer: Answer, sample: Sample) -> float | None:
        """The share of attempts that pass."""
        if _tests(sample) is None:
            return None
        tried = self.attempts(answer)
        return sum(tried) / len(tried)

    def corpus_score(self, answers: Sequence[tuple[Answer, Sample]]) -> float | None:
        """The mean over the problems."""
        return mean(self.score(answer, sample) for answer, sample in answers)


def _references(sample: Sample, perturbed: Perturbed) -> tuple[str, ...]:
    """The programs of which one at least has to pass where the right answer is to stay."""
    if perturbed.kind != "control":
        return (perturbed.source,)
    return perturbed.source, shown(sample, perturbed.source) + sample.source[len(sample.asked) :]


def _loses_text(sample: Sample, perturbed: Perturbed) -> bool:
    """Whether a variant lacks the docstring that says what is to be written."""
    try:
        before, after = body_of(sample.source), body_of(perturbed.source)
    except SourceError:  # of a suite from elsewhere
        return True
    if isinstance(before, str) or isinstance(after, str):
        return True
    return before.documented and not after.documented


def _graded(answer: Answer) -> tuple[Attempt, ...] | None:
    """The attempts of a graded answer; `None` if it is not graded."""
    if not isinstance(answer, tuple):
        return None
    attempts = tuple(one for one in answer if isinstance(one, Attempt))
    return attempts if len(attempts) == len(answer) else None


def _tests(sample: Sample) -> str | None:
    return sample.label if isinstance(sample.label, str) else None


@cache
def solutions() -> Solutions:
    """Who runs variants and answers."""
    return Solutions(cpu_seconds=SECONDS)


@cache
def _originals() -> Solutions:
    return Solutions(cpu_seconds=REFERENCE_SECONDS)


def _labels(request: LabelRequest) -> LabelSource:
    if request.cache is not None:
        for each in (solutions(), _originals()):
            each.keep(request.cache)
    return prompt_labels(request)


GENERATION: Final = Generation(
    name="generation",
    question="What is the rest of this function, so that it passes its tests?",
    answers=FreeText(),
    score_name="pass@1",
    noun="problems",
    labels=_labels,
    prompt=ContinuationPrompt(
        template=(
            "This {language} code breaks off in the middle of its last function. Write what follows the last "
            "line, to the end of that function, with its indentation. Answer with that code in one fence. No "
            "additional text.\n\n{code}"
        ),
        extent="code",
        longest=512,
    ),
)
