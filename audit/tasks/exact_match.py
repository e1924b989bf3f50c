"""The base of tasks for which only equal answers are right."""

from collections.abc import Sequence
from dataclasses import dataclass

from codeaudit.audit.interface import Task
from codeaudit.audit.records import Answer, Predicted
from codeaudit.audit.tasks.numbers import mean
from codeaudit.transforms.records import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactMatch(Task):
    """A task whose score is the share of answers that equal the label."""

    def same(self, before: Predicted, after: Predicted) -> bool:
        """Equal answers, in the task's normal form."""
        return before.answer == after.answer

    def score(self, answer: Answer, sample: Sample) -> float | None:
        """1 for the right answer, 0 for a wrong one; `None` without a label."""
        return None if sample.label is None else float(answer == sample.label)

    def corpus_score(self, answers: Sequence[tuple[Answer, Sample]]) -> float | None:
        """The share of right answers among those to samples with a label."""
        return mean(self.score(answer, sample) for answer, sample in answers)
