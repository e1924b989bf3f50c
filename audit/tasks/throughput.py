"""Throughput: how many cycles does an iteration of this basic block take?

The target of Renamer (Ankner et al., section 2) and its predecessors: the block runs in a loop, and the
cycles are divided by the iterations. The score is the mean absolute percentage error; lower is better.

Two answers are the same if they differ by at most a millionth, because a model's answers to equal inputs
differ by the noise of float32 arithmetic (measured: 4e-7 of the answer).
"""

import re
from dataclasses import dataclass, replace
from math import isfinite
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import Expectation, OneNumber, Task
from codeaudit.audit.prompts import QuestionPrompt
from codeaudit.audit.records import Answer, Predicted
from codeaudit.audit.replies import AnswerShape
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.cost_labels import cost_labels
from codeaudit.audit.tasks.scoring import nearly_equal, number
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.x86 import X86

ORDER: Final = "order"
"""The kind of the moves that reorder instructions. The cost of a block depends on their order."""


_CYCLES: Final = r"(?:clock\s+)?cycles?(?:\s*(?:per|/)\s*iter(?:ation)?)?"
_NUMBER: Final = re.compile(
    rf"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?:\s*{_CYCLES}(?:\.|[.,;:]\s.*|\s+\(.*)?)?", re.I | re.ASCII
)


def _cycles(line: str) -> float | None:
    """A number, alone or with its unit. A reason may follow the unit."""
    found = _NUMBER.fullmatch(line)
    value = float(found[1]) if found else None
    return value if value is not None and isfinite(value) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput(Task):
    """The type of `THROUGHPUT`."""

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The block as it is. A label that is no positive number is dropped."""
        if reason := self.refuses(sample.language):
            return reason
        # Here, because every endpoint reads the prompts of all tasks, and few are asked about blocks.
        from codeaudit.transforms.x86.reading import read

        try:
            read(sample.source)
        except SourceError:
            return "block that cannot be read"
        # The percentage error divides by the label, so a block of 0 cycles cannot be scored.
        label = self.normalise(sample.label)
        return replace(sample, label=label if isinstance(label, float) else None)

    @override
    def refuses(self, language: str) -> str:
        return "" if language == X86.name else "not x86"

    @override
    def normalise(self, answer: object) -> Answer | None:
        """A positive number, or the text of one."""
        found = number(answer)
        return found if found is not None and found > 0 else None

    @property
    @override
    def accepted(self) -> str:
        return "a positive number"

    @override
    def same(self, before: Predicted, after: Predicted) -> bool:
        """Equal up to `TOLERANCE`."""
        return nearly_equal(before, after)

    @override
    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """Decided by the labels if the order of instructions or the meaning changed; else the same.

        - Another order keeps the meaning of a block, but not always its cost: unknown without both labels.
        - A control need not change the cost; without labels it is assumed to.
        """
        before, after = sample.label, perturbed.sample.label
        if perturbed.kind == "control":
            # `addq` for `subq` is another block with the same cost: the label shows that nothing should move.
            return "same" if before is not None and before == after else "other"
        if any(move.kind == ORDER for move in perturbed.moves):
            if before is None or after is None:
                return "unknown"
            return "same" if before == after else "other"
        return "same"

    @override
    def score(self, answer: Answer, sample: Sample) -> float | None:
        """|f - y| / y."""
        if not isinstance(answer, float) or not isinstance(sample.label, float):
            return None
        return abs(answer - sample.label) / sample.label


THROUGHPUT: Final = Throughput(
    name="throughput",
    question="How many cycles does an iteration of this basic block take?",
    answers=OneNumber(),
    score_name="mape",
    better="lower",
    reacts=False,
    noun="blocks",
    corpus="interpreter",
    labels=cost_labels,
    wordings=wordings.THROUGHPUT,
    prompt=QuestionPrompt(
        template=(
            "This basic block of {language} (AT&T syntax) is run in a loop on an Intel Haswell processor. "
            "Nothing misses the first-level cache. How many cycles does one iteration take on average, in "
            "the steady state? Answer with one number on the first line, for example 2.25. No additional "
            "text.\n\n{code}"
        ),
        reader=AnswerShape(
            alone=_cycles,
            labels=("cycles", "cycles per iteration", "throughput", "result"),
            states=(
                r"(?:the|this)\s+(?:basic\s+)?(?:block|loop)\s+takes",
                r"(?:one|an|each)\s+iteration\s+takes",
            ),
        ),
    ),
    language=X86.name,
)
