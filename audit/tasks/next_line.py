"""Next line: which line of the function comes next?

The source of a query is the beginning of a Python file, to be continued as it is: a function's head and
docstring and the first half of the statements of its body, each whole. It ends with a line end, and the right
answer is the line that follows, the first of the next statement:

    def repeated(word, times=2):
        parts = [word] * times

The answer is a text. Its first line counts that says something, without fences, and with one blank where it
has several: `return '-'.join(parts)`.

A variant is asked about only if the lines before the cut changed and the line after it did not, so that the
right answer is the same. What a control makes of the right answer nobody knows: no verdict. Quality is the
share of lines that match exactly; beside it stand the mean edit similarity and corpus BLEU-4, and, in the
papers' evaluations of LCC and RepoBench, CodeBLEU, which is not computed here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from codeaudit.audit.answer_kinds import FreeText
from codeaudit.audit.interface import Expectation
from codeaudit.audit.labels import prompt_labels
from codeaudit.audit.prompt_cut import (
    HALF,
    NO_FUNCTION,
    NOT_PYTHON,
    ONE_LINE,
    askable_variants,
    body_of,
    same_cut,
    shown_part,
)
from codeaudit.audit.prompts import ContinuationPrompt
from codeaudit.audit.records import Answer
from codeaudit.audit.tasks.exact_match import ExactMatch
from codeaudit.audit.tasks.likeness import bleu, edit_similarity
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import Outcome, Perturbed, Sample

_FENCE: Final = re.compile(r"\s*(?:`{3,}|~{3,})[\w+-]*\s*$")

OTHER_LINE: Final = "the next line is another one"


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLine(ExactMatch):
    """The type of `NEXT_LINE`."""

    share: float = HALF
    """The share of a function's statements that is shown; at least one, at most all but one."""

    def showing(self, share: float) -> "NextLine":
        """The task with another share."""
        return replace(self, share=share)

    def prepare(self, sample: Sample) -> Sample | str:
        """The function, the line behind the cut as the label and what stands before as what is asked; or why
        it is no example.
        """
        if sample.language != PYTHON.name:
            return NOT_PYTHON
        try:
            found = body_of(sample.source)
            asked = shown_part(sample.source, self.share)
        except SourceError:
            return "source does not parse"
        if isinstance(found, str):
            return NO_FUNCTION
        if asked is None or not found.places.index(len(asked)):
            return ONE_LINE
        return replace(sample, label=_next(sample.source, asked), asked=asked)

    def normalise(self, answer: object) -> str | None:
        """The first line of a text that says something."""
        return _first(answer) if isinstance(answer, str) else None

    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """By the line behind the cut, where the meaning is kept."""
        if perturbed.kind == "identity":
            return "same"
        asked = same_cut(sample.source, sample.asked, perturbed.source) if sample.asked else None
        if perturbed.kind == "control" or asked is None:
            return "unknown"
        return "same" if _next(perturbed.source, asked) == _next(sample.source, sample.asked) else "other"

    def askable(self, sample: Sample, outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
        """Variants with the same next line after another beginning than all before them."""
        return tuple(
            one.left_out(OTHER_LINE)
            if isinstance(one, Perturbed) and one.kind == "preserving" and self.expects(sample, one) != "same"
            else one
            for one in askable_variants(sample, outcomes)
        )

    def likeness(self, answers: Sequence[tuple[Answer, Sample]]) -> Mapping[str, float]:
        """The mean edit similarity, and BLEU over the corpus."""
        pairs = [(str(answer), str(sample.label)) for answer, sample in answers if sample.label is not None]
        if not pairs:
            return {}
        near = sum(edit_similarity(said, right) for said, right in pairs) / len(pairs)
        return {"edit similarity": near, "BLEU-4": bleu(pairs)}


def _next(source: str, asked: str) -> str:
    """The line behind the cut."""
    return _first(source[len(asked) :]) or ""


def _first(text: str) -> str | None:
    lines = (" ".join(line.split()) for line in text.splitlines() if not _FENCE.match(line))
    return next((plain for line in lines if (plain := line.strip("`"))), None)


NEXT_LINE: Final = NextLine(
    name="next-line",
    question="Which line of the function comes next?",
    answers=FreeText(),
    score_name="exact match",
    labels=prompt_labels,
    prompt=ContinuationPrompt(
        template=(
            "This {language} code breaks off in the middle of its last function. Write the one line that "
            "comes next. No additional text.\n\n{code}"
        ),
        extent="line",
    ),
)
