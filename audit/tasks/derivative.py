"""Derivatives: is the second expression the derivative of the first by x? (Renamer, appendix E)

The text of a sample is `FUNCTION =? CANDIDATE` in prefix notation. The label and the answer are `true` or
`false`; the score is the accuracy. The paper's tables show the error, which is 1 minus the accuracy.
"""

from dataclasses import dataclass, replace
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import OneWordOf
from codeaudit.audit.prompts import QuestionPrompt, one_of
from codeaudit.audit.replies import AnswerShape
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.scoring import ExactMatch
from codeaudit.transforms.algebra import ALGEBRA
from codeaudit.transforms.algebra.expressions import parse_pair
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.records import Sample

TRUE: Final = "true"
FALSE: Final = "false"
_WORDS: Final = OneWordOf(
    (FALSE, TRUE),
    spellings=dict.fromkeys(("yes", "1", "1.0"), TRUE) | dict.fromkeys(("no", "0", "0.0"), FALSE),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivative(ExactMatch):
    """The type of `DERIVATIVE`."""

    # `expects` is the default: the transform keeps only controls whose values show the change.

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The sample with its label in normal form, or why it is no example; it may lack a label."""
        if reason := self.refuses(sample.language):
            return reason
        try:
            parse_pair(sample.source)
        except SourceError:
            return NOT_PARSED
        if sample.label is None:
            return sample
        label = self.normalise(sample.label)
        return "label neither true nor false" if label is None else replace(sample, label=label)

    @override
    def refuses(self, language: str) -> str:
        return "" if language == ALGEBRA.name else "no pair of expressions"

    @override
    def normalise(self, answer: object) -> str | None:
        """`true` or `false`, from a word, a truth value or a number."""
        return _WORDS.read(answer)


DERIVATIVE: Final = Derivative(
    name="derivative",
    question="Is one expression the derivative of another?",
    answers=_WORDS,
    score_name="accuracy",
    reacts=False,
    noun="expressions",
    corpus="algebra:test",
    wordings=wordings.DERIVATIVE,
    prompt=QuestionPrompt(
        template=(
            "Two expressions in prefix notation stand on the left and on the right of =? below. An operator "
            "stands before its operands; INT+ and INT- begin an integer, whose decimal digits follow; x is "
            "the variable, all other names are constants. Is the right expression the derivative of the "
            "left one by x, in whatever form it is written? Answer with one word on the first line: true or "
            "false. No additional text.\n\n{source}"
        ),
        reader=AnswerShape(alone=one_of(TRUE, FALSE), labels=("verdict", "result"), is_word=True),
    ),
    language=ALGEBRA.name,
)
