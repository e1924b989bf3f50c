"""Repair and translation by exact match, for rows without tests that run here.

`repair-match`: mend a unit; the reference is its published fix. `translation-match`: write a unit in another
language; the reference is the row's own text there. An answer is kept as whether it is the reference. Nothing
is executed, so a right answer in other words counts as wrong: this says how often a model gives the published
text, and whether edits change that, and not how often it is right. Reports say so.

What does not count: layout and comments, and, where the answer is in the language of the unit, the order of
independent statements and the names of locals (the canonical form of the language). Of the reply, the first
fence counts, or else all of it.

A variant is asked about only if the same reference is still right for it: if its canonical form, or for a
translation its text without layout and comments, is that of the original. Controls have no verdict.

Rows with both sides of a fix are read, in one row or in two: CodeXGLUE's code refinement; Defects4J as a
table or as `defects4j:FOLDER`; HumanEvalPack and QuixBugs, too, for which `repair` runs tests.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from typing_extensions import override

from codeaudit.audit.corpora.records import Corpus, CorpusAround, Prepare
from codeaudit.audit.interface import Expectation, FreeText, LabelRequest, LabelSource, Task
from codeaudit.audit.languages import NO_CODE, is_programming
from codeaudit.audit.prompts import ContinuationPrompt
from codeaudit.audit.records import Answer, Predicted, Prediction, as_label
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.function_name import name_of
from codeaudit.audit.tasks.repair import REPAIR
from codeaudit.audit.tasks.scoring import ExactMatch
from codeaudit.audit.tasks.solutions import fences
from codeaudit.audit.tasks.solving import VariantLabels
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.language import find_language, without_engine
from codeaudit.transforms.records import KEEPS_TEXT, Outcome, Perturbed, Sample
from codeaudit.transforms.registration import load_target

REFERENCE: Final = "the reference"
OTHER: Final = "another text"
NO_FIX: Final = "no second side of a fix"
MENDED: Final = "the mended side of a fix"
NO_REFERENCE: Final = "no text in another language: CodeXGLUE's code translation has the columns java and cs"
OTHER_REFERENCE: Final = "another reference would be right"
UNTESTED: Final = (
    "graded by exact match alone, nothing is executed: a right answer in other words counts as wrong"
)
_FAULTY: Final = frozenset({"1", "1.0", "true", "yes", "buggy", "bug", "vulnerable"})
_MENDED: Final = frozenset({"0", "0.0", "false", "no", "clean", "fixed", "safe"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching(ExactMatch):
    """Base of both tasks."""

    @override
    def refuses(self, language: str) -> str:
        return "" if is_programming(language) else NO_CODE

    @override
    def normalise(self, answer: object) -> str | None:
        """The first fence of a text, or the text."""
        if not isinstance(answer, str) or not answer.strip():
            return None
        return next(iter(fences(answer)), answer)

    def form(self, text: str, sample: Sample) -> str | None:
        """What counts of an answer or a reference; `None` if it cannot be read."""
        return _form(text, sample.language, deep=True)

    def same_reference(self, sample: Sample, source: str) -> bool:
        """Whether the reference of a sample is right for its rewritten text, too."""
        form = _form(sample.source, sample.language, deep=True)
        return form is not None and form == _form(source, sample.language, deep=True)

    @override
    def graded(self, predicted: Predicted, asked: str, sample: Sample) -> Prediction:
        """The answer as whether it is the reference; unchanged without one. Nothing is executed."""
        if not isinstance(sample.label, str):
            return predicted
        right = self.form(sample.label, sample)

        def grade(answer: Answer) -> str:
            form = self.form(str(answer), sample)
            return REFERENCE if form is not None and form == right else OTHER

        return replace(
            predicted, answer=grade(predicted.answer), draws=tuple(map(grade, predicted.draws)), scores=()
        )

    @override
    def score(self, answer: Answer, sample: Sample) -> float | None:
        """1 for the reference, else 0; `None` without one."""
        return None if sample.label is None else float(answer == REFERENCE)

    @override
    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """The same if the meaning is kept."""
        return "unknown" if perturbed.kind == "control" else "same"

    @override
    def askable(self, sample: Sample, outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
        """The outcomes; variants for which the same reference is right are applied."""
        return tuple(
            outcome.left_out(OTHER_REFERENCE)
            if isinstance(outcome, Perturbed)
            and outcome.kind not in KEEPS_TEXT
            and not self.same_reference(sample, outcome.source)
            else outcome
            for outcome in outcomes
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairMatch(Matching):
    """The type of `REPAIR_MATCH`."""

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The faulty side, with the mended one as its label; or why it is no example."""
        if reason := self.refuses(sample.language):
            return reason
        if not sample.other_side:
            return NO_FIX
        side = _side(sample)
        if side is False:
            return MENDED
        # Without a label of a side, the source is the mended one, as in tables of problems with a fault.
        faulty, mended = sample.source, sample.other_side
        if side is None:
            faulty, mended = mended, faulty
        if any(_form(text, sample.language, deep=True) is None for text in (faulty, mended)):
            return NOT_PARSED
        return replace(sample, source=faulty, other_side=mended, label=mended, context="")


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationMatch(Matching):
    """The type of `TRANSLATION_MATCH`."""

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The unit, with the text in the other language as its label; or why it is no example."""
        if reason := self.refuses(sample.language):
            return reason
        chosen = next((target for target in sample.targets if target.solution), None)
        if chosen is None:
            return NO_REFERENCE
        if _form(sample.source, sample.language, deep=False) is None:
            return NOT_PARSED
        # The prompt names the language: `{text}`.
        return replace(sample, label=chosen.head + chosen.solution, text=_title(chosen.language), targets=())

    @override
    def form(self, text: str, sample: Sample) -> str | None:
        return _tokens(text)

    @override
    def same_reference(self, sample: Sample, source: str) -> bool:
        form = _form(sample.source, sample.language, deep=False)
        return form is not None and form == _form(source, sample.language, deep=False)


def _form(text: str, language: str, *, deep: bool) -> str | None:
    """The canonical form of a text if `deep`, without layout and comments; `None` if it cannot be read."""
    record = find_language(language)
    if record is None or not record.parses(text):
        return None
    try:
        if deep and record.canonical:
            text = load_target(record.canonical)(text)
        form: str = load_target(record.content)(text) if record.content else _tokens(text)
    except SourceError:
        return None
    return form


_TOKEN: Final = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\w+|[^\w\s]""", re.DOTALL
)


def _tokens(text: str) -> str:
    """A text of a language with braces, without layout and comments."""
    return " ".join(token for token in _TOKEN.findall(text) if not token.startswith(("//", "/*")))


def _title(language: str) -> str:
    record = find_language(language)
    return record.title if record is not None else without_engine(name=language) or language


def _side(sample: Sample) -> bool | None:
    """Whether a sample is the faulty side of its fix; `None` if its label does not say."""
    word = (as_label(sample.label) or "").lower()
    return True if word in _FAULTY else False if word in _MENDED else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedUnits(CorpusAround):
    """A corpus in which two neighbours of one group and one name, one faulty and one mended, are one fix."""

    whole: Corpus

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        pending: Sample | None = None
        for sample in self.whole.read(skipped):
            if pending is not None and _are_sides(pending, sample):
                faulty, mended = (pending, sample) if _side(pending) else (sample, pending)
                yield replace(faulty, other_side=mended.source)
                pending = None
                continue
            if pending is not None:
                yield pending
            pending = sample
        if pending is not None:
            yield pending


def _are_sides(one: Sample, other: Sample) -> bool:
    if one.other_side or other.other_side or one.group != other.group or one.language != other.language:
        return False
    if {_side(one), _side(other)} != {True, False}:
        return False
    names = {name_of(side.source, side.language) for side in (one, other)}
    return len(names) == 1 and None not in names


@dataclass(frozen=True, slots=True)
class ReferenceLabels(VariantLabels):
    """References of the corpus, which decide which variants are asked about."""

    @property
    @override
    def about(self) -> Mapping[str, object]:
        return {"corpus": "its own texts", "graded by": "exact match"}

    @override
    def examples(self, source: Corpus, task: Task) -> tuple[Corpus, Prepare]:
        return (FixedUnits(whole=source) if task.name == "repair-match" else source), task.prepare


def _labels(request: LabelRequest) -> LabelSource:
    """The references.

    Raises:
        UsageError: `--labels` names another source.
    """
    task = request.task
    assert isinstance(task, Matching)
    request.refuse(f"the labels of task {task.name!r} are its references")
    return ReferenceLabels(task, request.note)


_PROMPT: Final = ContinuationPrompt(
    template=(
        "This {language} code has a bug. Write it again without the bug, with the same names. Answer with "
        "that code in one fence. No additional text.\n\n{code}"
    ),
    extent="code",
    bare=False,
    longest=1024,
    usual=200,
)
REPAIR_MATCH: Final = RepairMatch(
    name="repair-match",
    question="What is the published fix of this function?",
    answers=FreeText(),
    score_name="exact match",
    corpus="",
    reacts=False,
    labels=_labels,
    told=UNTESTED,
    wordings=REPAIR.wordings,
    prompt=_PROMPT,
)
TRANSLATION_MATCH: Final = TranslationMatch(
    name="translation-match",
    question="What is this function in another language, as the data set has it?",
    answers=FreeText(),
    score_name="exact match",
    corpus="",
    reacts=False,
    beside=True,
    labels=_labels,
    told=UNTESTED,
    wordings=wordings.TRANSLATION_MATCH,
    prompt=replace(
        _PROMPT,
        template=(
            "Translate this {language} code into {text}, with the same behaviour. Answer with that code in "
            "one fence. No additional text.\n\n{code}"
        ),
    ),
)
