"""Derivatives: is the second expression the derivative of the first one by x? (Renamer, appendix E)

The text of a sample is `FUNCTION =? CANDIDATE` in prefix notation, the label and the answer are `true` or
`false`, and quality is the accuracy: what the paper's tables call error is what lacks to one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from codeaudit.audit.interface import Expectation
from codeaudit.audit.records import Answer, Predicted
from codeaudit.audit.tasks.numbers import mean
from codeaudit.transforms.algebra.expressions import parse_pair
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.records import Perturbed, Sample

LANGUAGE: Final = "algebra"
TRUE: Final = "true"
FALSE: Final = "false"
_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys((TRUE, "yes", "1", "1.0"), TRUE),
    **dict.fromkeys((FALSE, "no", "0", "0.0"), FALSE),
}


@dataclass(frozen=True, slots=True)
class Derivative:
    """The task `derivative`."""

    name: str = "derivative"
    score_name: str = "accuracy"

    def prepare(self, sample: Sample) -> Sample | str:
        """The sample with its label in normal form, or why it is no example; it may lack a label."""
        if sample.language != LANGUAGE:
            return "no pair of expressions"
        try:
            parse_pair(sample.source)
        except SourceError:
            return "source does not parse"
        if sample.label is None:
            return sample
        label = self.normalise(sample.label)
        return "label neither true nor false" if label is None else replace(sample, label=label)

    def normalise(self, answer: object) -> str | None:
        """`true` or `false`, as a word, a truth value or a number."""
        if isinstance(answer, bool | int | float):
            answer = str(float(answer))
        return _WORDS.get(answer.strip().lower()) if isinstance(answer, str) else None

    def same(self, before: Predicted, after: Predicted) -> bool:
        """Equal answers."""
        return before.answer == after.answer

    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """The controls of this language are kept only where their values show that the answer changes."""
        return "other" if perturbed.kind == "control" else "same"

    def score(self, answer: Answer, sample: Sample) -> float | None:
        """1 for the right answer, 0 for the wrong one."""
        return None if sample.label is None else float(answer == sample.label)

    def corpus_score(self, answers: Sequence[tuple[Answer, Sample]]) -> float | None:
        """The accuracy: the share of right answers among those to samples with a label."""
        return mean(self.score(answer, sample) for answer, sample in answers)


DERIVATIVE: Final = Derivative()
