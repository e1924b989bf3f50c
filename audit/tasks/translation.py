"""Translation: write a program again in another language, so that it passes the tests there.

The source of a query is a whole text. Its last lines are comments, which name the other language and give the
beginning of the program there, up to the head of its function:

    const half = (value) => {
      return Math.floor(value / 2);
    }

    // Translate into Python:
    // def half(value):

The answer is the function in the other language. The program consists of that beginning without its head, and
of the function; the tests of the other language run it in the sandbox.

A meaning-keeping variant must keep the comments. If the sample has tests of its own, the variant must pass
them; this is its evidence. A control that fails them counts: its faithful translation fails the tests of the
other language. A control that passes them has no verdict. Without such tests no control is asked about.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import Expectation, FreeText
from codeaudit.audit.languages import NO_CODE, audit_of, is_programming
from codeaudit.audit.prompt_cut import NO_FUNCTION, NOT_CUT, FunctionBody, body_of
from codeaudit.audit.prompts import ContinuationPrompt
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.solutions import opened_name, rewritten, tests_of, unrunnable
from codeaudit.audit.tasks.solving import (
    FAILS_ITSELF,
    Solving,
    label_of,
    labels_by_variants,
    originals,
    solutions,
)
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.language import every_language
from codeaudit.transforms.oracle.calls import Passed, ProgramTrial, TrialUnjudged
from codeaudit.transforms.oracle.tested import trial
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import KEEPS_TEXT, Outcome, Perturbed, Sample, TranslationTarget

NO_TARGET: Final = (
    "no target: its columns are target_language, target_prompt and target_test; or take HumanEval-X in two "
    "languages"
)
NOT_TESTED: Final = "a translation without tests: --task translation-match grades it by exact match"
NO_HEAD: Final = "target_prompt does not end with the head of a function"
NO_OWN: Final = "no tests in the language of the unit, which a control has to fail: column test"
FAILS_OWN: Final = "the unit fails its own tests, so no control is judged"
FAILS_NOW: Final = "the rewritten unit fails its own tests"
NO_QUESTION: Final = "the comment that asks is gone"
NOT_WRITTEN: Final = "the function is not in the answer"
"""The failure of an answer that is not executed."""
_ASKS: Final = "Translate into "


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation(Solving):
    """The type of `TRANSLATION`."""

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The sample with the comments that ask, and the tests of the other language as its label; or why it
        is no example.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        if reason := self.refuses(sample.language):
            return reason
        targets = [target for target in sample.targets if target.tests]
        if sample.targets and not targets:
            return NOT_TESTED
        chosen = next((target for target in targets if unrunnable(target.language) is None), None)
        if chosen is None:
            reasons = (unrunnable(target.language) for target in targets)
            return next(filter(None, reasons), NO_TARGET)
        name = opened_name(chosen.head, chosen.language)
        if name is None:
            return NO_HEAD
        like = replace(sample, tests=chosen.tests, language=chosen.language, label=name)
        tests = tests_of(like, name)
        if chosen.solution:
            program = chosen.head + chosen.solution
            if originals().outcomes([trial(program, program, tests, chosen.language)]) != [Passed()]:
                return FAILS_ITSELF
        source = f"{sample.source.rstrip()}\n\n{_question(sample.language, chosen)}"
        return replace(sample, source=source, label=tests, context="")

    @override
    def refuses(self, language: str) -> str:
        return "" if is_programming(language) else NO_CODE

    @override
    def trial_of(self, text: str, asked: str, sample: Sample) -> ProgramTrial | str:
        """The program in the other language with its tests."""
        question = _target_of(sample)
        if question is None:
            return NOT_WRITTEN
        language, head = question
        program = rewritten(head, text, language)
        if program is None:
            return NOT_WRITTEN
        # Helpers of the tests come from the head alone, so that a program cannot replace them.
        return trial(program, f"{head}    pass\n", str(sample.label), language)

    @override
    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """Another answer under a control that fails the sample's own tests."""
        if perturbed.kind != "control":
            return "same"
        return "other" if perturbed.evidence == "executed" else "unknown"

    @override
    def askable(self, sample: Sample, outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
        """The outcomes; a variant is applied only if it still asks, and passes the sample's own tests.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        asking = sample.source[sample.source.rindex(f" {_ASKS}") :] if f" {_ASKS}" in sample.source else None
        if label_of(sample) is None or asking is None:
            return tuple(outcomes)
        tests = _own_tests(sample)
        askable: list[Outcome] = []
        for outcome in outcomes:
            if not isinstance(outcome, Perturbed) or outcome.kind in KEEPS_TEXT:
                askable.append(outcome)
            elif not outcome.source.rstrip().endswith(asking.rstrip()):
                askable.append(outcome.left_out(NO_QUESTION))
            else:
                askable.append(_proved(sample, outcome, tests))
        return tuple(askable)


@dataclass(frozen=True, slots=True)
class _Lacking:
    """Why no tests of a sample's own judge its variants."""

    reason: str


def _proved(sample: Sample, variant: Perturbed, tests: str | _Lacking) -> Outcome:
    """A variant with evidence from the sample's own tests. Without these a control has no verdict."""
    if isinstance(tests, _Lacking):
        return variant.left_out(tests.reason) if variant.kind == "control" else variant
    (ran,) = solutions().outcomes([trial(variant.source, sample.source, tests, sample.language)])
    if isinstance(ran, TrialUnjudged) or (variant.kind == "control" and ran == Passed()):
        return variant
    if variant.kind == "control" or ran == Passed():
        return replace(variant, evidence="executed")
    return variant.left_out(FAILS_NOW)


def _own_tests(sample: Sample) -> str | _Lacking:
    """The tests of a sample in its own language, if they run here and it passes them."""
    if not sample.tests:
        return _Lacking(NO_OWN)
    if (reason := unrunnable(sample.language)) is not None:
        return _Lacking(f"own tests: {reason}")
    if not audit_of(sample.language).body:
        return _Lacking(f"own tests: {NOT_CUT}")
    try:
        body = body_of(sample.source, sample.language)
    except SourceError:
        return _Lacking(f"own tests: {NOT_PARSED}")
    if not isinstance(body, FunctionBody):
        return _Lacking(f"own tests: {NO_FUNCTION}")
    tests = tests_of(replace(sample, label=None), body.name)
    passed = originals().outcomes([trial(sample.source, sample.source, tests, sample.language)])
    return tests if passed == [Passed()] else _Lacking(FAILS_OWN)


def _question(language: str, target: TranslationTarget) -> str:
    """The comments that ask for a target, in a language."""
    mark = "#" if language == PYTHON.name else "//"
    lines = [line for line in target.head.splitlines() if line.strip()]
    title = next(record.title for record in every_language() if record.name == target.language)
    comments = [f"{_ASKS}{title}:", *lines]
    return "".join(f"{mark} {line}\n" for line in comments)


def _target_of(sample: Sample) -> tuple[str, str] | None:
    """The language that the comments of a sample name, and the beginning of the program there."""
    before, _, question = sample.source.rpartition(f" {_ASKS}")
    title, _, rest = question.partition(":\n")
    language = next((record.name for record in every_language() if record.title == title), None)
    if not before or language is None:
        return None
    mark = f"{before.rpartition(chr(10))[2]} "
    return language, "".join(f"{line.removeprefix(mark)}\n" for line in rest.splitlines())


TRANSLATION: Final = Translation(
    name="translation",
    question="What is this program in another language?",
    answers=FreeText(),
    score_name="pass@1",
    noun="problems",
    labels=labels_by_variants,
    wordings=wordings.TRANSLATION,
    prompt=ContinuationPrompt(
        template=(
            "The comments at the end of this {language} code name another language and the head of a "
            "function there. Write that function, with its head, so that it does the same. Answer with "
            "that code in one fence. No additional text.\n\n{code}"
        ),
        extent="code",
        bare=False,
        longest=1024,
        usual=200,
    ),
)
