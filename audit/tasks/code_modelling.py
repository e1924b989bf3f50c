"""Code modelling: how well does a language model predict this text?

The answer is a number of bits per byte: minus the binary logarithm of the text's probability, divided by its
size in UTF-8. Bytes are counted, not tokens, so that models with different tokens are comparable ("Beyond
Sequences", Zhang et al., section 4, has the perplexity of tokens; for one vocabulary both say the same). No
label is needed: the answer is the score, and lower is better. The score of a corpus is all bits by all bytes.
The answer for a perturbed text counts with the size of the original, so that every text has the same weight
before and after.

Two answers are the same if they differ by at most a millionth, as in `throughput`. A language model sees
every letter, so nearly every perturbation counts as a violation. What distinguishes models is the shift:
the bits under attack, compared with the original.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import Task, TextLikelihood
from codeaudit.audit.records import Answer, Predicted
from codeaudit.audit.tasks.scoring import nearly_equal, number
from codeaudit.transforms.records import Sample

EMPTY: Final = "empty text"
"""Why a text without content is no example, or has no answer."""


def size_of(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def bits_per_byte(nats: float, text: str) -> float:
    """The answer for a text that is not empty; `nats` is minus the natural logarithm of its probability."""
    return nats / math.log(2) / size_of(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeModelling(Task):
    """The type of `CODE_MODELLING`."""

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The text as it is, without the label that a corpus may give it for other tasks."""
        return replace(sample, label=None) if sample.source.strip() else EMPTY

    @override
    def normalise(self, answer: object) -> Answer | None:
        """A number that is not negative, or the text of one."""
        bits = number(answer)
        return bits if bits is not None and bits >= 0 else None

    @override
    def same(self, before: Predicted, after: Predicted) -> bool:
        """Equal up to `TOLERANCE`."""
        return nearly_equal(before, after)

    @override
    def score(self, answer: Answer, sample: Sample) -> float | None:
        """The answer itself."""
        return answer if isinstance(answer, float) else None

    @override
    def part(self, answer: Answer, sample: Sample) -> tuple[float, ...] | None:
        """The bits of the text and its bytes; `None` if the answer is no number."""
        if not isinstance(answer, float):
            return None
        size = size_of(sample.source)
        return answer * size, size

    @override
    def whole(self, columns: Sequence[Sequence[float]]) -> float | None:
        """All bits by all bytes; `None` if all texts are empty."""
        # Not the mean of the answers: a long text has more bits to guess than a short one.
        bits, sizes = map(sum, columns)
        return bits / sizes if sizes else None


CODE_MODELLING: Final = CodeModelling(
    name="code-modelling",
    question="How likely is this text?",
    answers=TextLikelihood(),
    score_name="bits per byte",
    better="lower",
)
