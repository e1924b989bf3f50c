"""Throughput: how many cycles does an iteration of this basic block take?

The target of Renamer (Ankner et al., section 2) and of its forerunners: the block is run in a loop, and all
cycles are divided by the iterations. Quality is the mean absolute percentage error, lower is better.

Two answers are the same if they differ by at most a millionth. Equal inputs have equal answers; what remains
is the noise of float32 arithmetic (measured: 4e-7 of the answer), which is no change of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from codeaudit.audit.interface import Expectation
from codeaudit.audit.records import Answer, Predicted
from codeaudit.audit.tasks.numbers import mean, nearly_equal, number
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.x86.reading import read

ORDER: Final = "order"
"""The kind of the moves that give instructions another order, on which the cost of a block depends."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """The task `throughput`."""

    name: str = "throughput"
    score_name: str = "mape"

    def prepare(self, sample: Sample) -> Sample | str:
        """The block as it is; a label that is no positive number is none."""
        if sample.language != "x86":
            return "not x86"
        try:
            read(sample.source)
        except SourceError:
            return "block that cannot be read"
        label = self.normalise(sample.label)
        return replace(sample, label=label if isinstance(label, float) else None)

    def normalise(self, answer: object) -> Answer | None:
        """A positive number, or the text of one."""
        found = number(answer)
        return found if found is not None and found > 0 else None

    def same(self, before: Predicted, after: Predicted) -> bool:
        """Equal up to `TOLERANCE`."""
        return nearly_equal(before, after)

    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """By the labels where the order of instructions or the meaning changed; else the same.

        Another order keeps the meaning of a block and not always its cost. A change of the meaning need not
        change the cost, and without labels is taken to.
        """
        before, after = sample.label, perturbed.sample.label
        if perturbed.kind == "control":
            return "same" if before is not None and before == after else "other"
        if any(move.kind == ORDER for move in perturbed.moves):
            if before is None or after is None:
                return "unknown"
            return "same" if before == after else "other"
        return "same"

    def score(self, answer: Answer, sample: Sample) -> float | None:
        """|f - y| / y."""
        if not isinstance(answer, float) or not isinstance(sample.label, float):
            return None
        return abs(answer - sample.label) / sample.label

    def corpus_score(self, answers: Sequence[tuple[Answer, Sample]]) -> float | None:
        """The mean over the blocks with a label."""
        return mean(self.score(answer, sample) for answer, sample in answers)


THROUGHPUT = Throughput()
