"""Clone detection: do these two units do the same job?

A sample is a pair. An answer is `clone` or `different`; the score is the F1 of `clone`, and reports also show
accuracy and MCC.

An edit that keeps the meaning of a unit keeps what the unit does, and so the right answer. `clone-detection`
rewrites the first unit of each pair, `clone-detection:second` the second one, and `clone-detection:both` both
with the same transform. `swap-sides` shows the pair in the other order; it counts apart, because no code is
rewritten.

What another meaning does to a pair is not known: in the data sets clones need not be equal. So there are no
controls.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from typing_extensions import override

from codeaudit.audit.corpora.records import Corpus, Prepare
from codeaudit.audit.interface import Expectation, LabelRequest, LabelSource, OneWordOf, Task
from codeaudit.audit.labels import GivenLabels, corpus_labels
from codeaudit.audit.languages import NO_CODE, is_programming
from codeaudit.audit.prompts import QuestionPrompt
from codeaudit.audit.records import Answer
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.pairs import PairedUnits, two_words
from codeaudit.audit.tasks.scoring import ExactMatch, f1, said_true_both
from codeaudit.transforms.errors import NOT_PARSED, OTHER_NOT_PARSED
from codeaudit.transforms.language import LANGUAGES
from codeaudit.transforms.records import Perturbed, Sample, Sides
from codeaudit.transforms.registry import SWAP_SIDES

CLONE: Final = "clone"
DIFFERENT: Final = "different"
NO_PAIR: Final = "no second unit"
_SENTENCES: Final = dict.fromkeys(("clones", "code clones", "code clone"), CLONE) | dict.fromkeys(
    ("not clones", "not a clone", "not code clones", "no clones", "no clone", "non-clone", "not similar"),
    DIFFERENT,
)
_WORDS: Final = OneWordOf(
    (DIFFERENT, CLONE),
    spellings=_SENTENCES
    | dict.fromkeys(("a clone", "1", "1.0", "true", "yes"), CLONE)
    | dict.fromkeys(("0", "0.0", "false", "no"), DIFFERENT),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLabels(GivenLabels):
    """Labels of the corpus; programs with the number of their problem become pairs."""

    @override
    def examples(self, source: Corpus, task: Task) -> tuple[Corpus, Prepare]:
        return PairedUnits(whole=source, same=CLONE, apart=DIFFERENT), task.prepare


def pair_labels(request: LabelRequest) -> LabelSource:
    """The labels of pairs.

    Raises:
        UsageError: `--labels` names a tool.
    """
    labels = corpus_labels(request)
    assert isinstance(labels, GivenLabels)
    return PairLabels(column=labels.column, ignored=labels.ignored)


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneDetection(ExactMatch):
    """The type of `CLONE_DETECTION`."""

    sides: Sides = field(default="first")
    """Which units are rewritten."""
    choices: ClassVar[tuple[Sides, ...]] = ("first", "second", "both")

    @override
    def rewriting(self, sides: Sides) -> "CloneDetection":
        return replace(self, sides=sides)

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The pair with its label as a word, or why it is no example. The source is what is rewritten."""
        if reason := self.refuses(sample.language):
            return reason
        language = LANGUAGES.get(sample.language)
        if not sample.other:
            return NO_PAIR
        if not language.parses(sample.source):
            return NOT_PARSED
        if not language.parses(sample.other):
            return OTHER_NOT_PARSED
        pair = replace(sample, label=self.normalise(sample.label), sides=self.sides)
        if self.sides != "second":
            return pair
        # Tests and file are those of the first unit.
        return replace(pair, source=sample.other, other=sample.source, tests=None, context="", file="")

    @override
    def refuses(self, language: str) -> str:
        return "" if is_programming(language) else NO_CODE

    @override
    def normalise(self, answer: object) -> str | None:
        """`clone` or `different`, from a word, a truth value or a number."""
        return _WORDS.read(answer)

    @override
    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """The same; unknown under a control that the user names."""
        return "unknown" if perturbed.kind == "control" else "same"

    @override
    def part(self, answer: Answer, sample: Sample) -> tuple[float, ...] | None:
        """Whether the answer, the label and both are `clone`, as 0 or 1; `None` without a label."""
        return said_true_both(answer, sample, CLONE)

    @override
    def whole(self, columns: Sequence[Sequence[float]]) -> float | None:
        """The F1 of `clone`; `None` if no label and no answer is that word."""
        return f1(columns)


CLONE_DETECTION: Final = CloneDetection(
    name="clone-detection",
    question="Are these two functions clones?",
    answers=_WORDS,
    score_name="f1",
    corpus="",
    noun="pairs",
    labels=pair_labels,
    beside=True,
    reacts=False,
    controls=(),
    adds=(SWAP_SIDES,),
    wordings=wordings.CLONE_DETECTION,
    prompt=QuestionPrompt(
        template=(
            "Are these two {language} functions clones, that is, do they implement the same functionality? "
            "Answer with one word on the first line: clone or different. No additional text."
            "\n\nThe first:\n\n{code}\n\nThe second:\n\n{other}"
        ),
        reader=two_words(_WORDS, _SENTENCES),
    ),
)
