"""Equivalence: do these two programs do the same?

A sample is a unit, which is shown first; a variant of it is shown second. The right answer is `same` for an
edit that keeps the meaning, and `different` for a control that execution has shown to change it. Beside the
unchanged unit stands the unit itself.

The evidence of an edit decides what is right, and not the model's answer to another query. So a violation is
an answer `different` to an edit that keeps the meaning, whatever the model says about the unchanged unit; and
a control is noticed if the answer is `different`. Repeats show how often the unit is called different from
itself.

A control counts only if its evidence is `executed`: execution found another result (`--execute`). No kind of
control proves by itself that the meaning changed: an order that breaks a dependence may give the same result.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import NO_LABELS, Expectation, LabelRequest, LabelSource, OneWordOf
from codeaudit.audit.languages import is_programming
from codeaudit.audit.prompts import QuestionPrompt
from codeaudit.audit.records import Case, Predicted
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.pairs import two_words
from codeaudit.audit.tasks.scoring import ExactMatch
from codeaudit.transforms.errors import NOT_PARSED, UsageError
from codeaudit.transforms.language import LANGUAGES
from codeaudit.transforms.records import Label, Outcome, Perturbed, Sample

SAME: Final = "same"
DIFFERENT: Final = "different"
NO_PROGRAM: Final = "no program of a programming language"
_SENTENCES: Final = dict.fromkeys(("not different", "equivalent", "identical"), SAME) | dict.fromkeys(
    ("not the same", "not equivalent", "not identical", "inequivalent", "non-equivalent"), DIFFERENT
)
_WORDS: Final = OneWordOf(
    (SAME, DIFFERENT),
    spellings=_SENTENCES
    | dict.fromkeys(("equal", "the same", "1", "1.0", "true", "yes"), SAME)
    | dict.fromkeys(("0", "0.0", "false", "no"), DIFFERENT),
)


@dataclass(frozen=True, slots=True)
class EvidenceLabels(LabelSource):
    """The right answer is what is known of the edit."""

    @property
    @override
    def about(self) -> Mapping[str, object]:
        return {"evidence": "of the edits"}

    @property
    @override
    def follows_variants(self) -> bool:
        """True: a control has another right answer."""
        return True

    @override
    def relabelled(self, cases: Iterator[Case]) -> Iterator[Case]:
        """The cases; controls have the label `different` if execution showed it, and else none."""
        for case in cases:
            yield replace(case, outcomes=tuple(map(_labelled, case.outcomes)))

    def __str__(self) -> str:
        return (
            "the evidence of the edits; only controls that execution has shown to change the meaning count "
            "(--execute), and without any there is no sensitivity"
        )


def _labelled(outcome: Outcome) -> Outcome:
    if not isinstance(outcome, Perturbed) or outcome.kind != "control":
        return outcome
    label: Label = DIFFERENT if outcome.evidence == "executed" else None
    return replace(outcome, sample=replace(outcome.sample, label=label))


def evidence_labels(request: LabelRequest) -> LabelSource:
    """The labels of this task, which no column has.

    Raises:
        UsageError: `--labels` names another source.
    """
    if request.spec not in (None, NO_LABELS):
        raise UsageError(
            f"--labels {request.spec}: the labels of task {request.task.name!r} are what is known of edits"
        )
    return EvidenceLabels()


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence(ExactMatch):
    """The type of `EQUIVALENCE`."""

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The sample as a pair of the unit with itself, or why it is no example."""
        if reason := self.refuses(sample.language):
            return reason
        if not LANGUAGES.get(sample.language).parses(sample.source):
            return NOT_PARSED
        return replace(sample, label=SAME, other=sample.source, sides="second")

    @override
    def refuses(self, language: str) -> str:
        """Blocks of x86 and terms: an edit keeps what they do up to a renaming."""
        return "" if is_programming(language) else NO_PROGRAM

    @override
    def normalise(self, answer: object) -> str | None:
        """`same` or `different`, from a word, a truth value or a number."""
        return _WORDS.read(answer)

    @override
    def holds(self, before: Predicted, after: Predicted) -> bool:
        """Whether the variant is called the same."""
        return after.answer == SAME

    @override
    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """The same, except under a control; unknown if no execution showed what that does."""
        if perturbed.kind != "control":
            return "same"
        return "other" if perturbed.sample.label == DIFFERENT else "unknown"


EQUIVALENCE: Final = Equivalence(
    name="equivalence",
    question="Do these two programs do the same?",
    answers=_WORDS,
    score_name="accuracy",
    labels=evidence_labels,
    beside=True,
    edits_decide=True,
    tells_apart=DIFFERENT,
    wordings=wordings.EQUIVALENCE,
    prompt=QuestionPrompt(
        template=(
            "Do these two {language} programs do the same for every input: the same results, the same "
            "exceptions, the same effects? Answer with one word on the first line: same or different. No "
            "additional text.\n\nThe first:\n\n{code}\n\nThe second:\n\n{other}"
        ),
        reader=two_words(_WORDS, _SENTENCES),
    ),
)
