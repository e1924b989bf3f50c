"""Next line: which line of the function comes next?

The source of a query is the beginning of a Python file, to be continued unchanged: a function's head and
docstring, and the first half of the statements of its body, each complete. It ends with a line end. The
right answer is the line that follows, the first of the next statement:

    def repeated(word, times=2):
        parts = [word] * times

The answer is a text. Its first non-empty line counts, without fences, each run of blanks as one blank:
`return '-'.join(parts)`.

A variant is asked about only if the shown lines changed and the next line did not, so that the right answer
is the same. Controls have no verdict, because nobody knows which line should follow changed code. The score
is the share of lines that match exactly. Reports add the mean edit similarity and corpus BLEU-4. CodeBLEU,
which the evaluations of LCC and RepoBench use, is not computed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import Expectation, FreeText
from codeaudit.audit.labels import prompt_labels
from codeaudit.audit.prompt_cut import (
    HALF,
    ONE_LINE,
    askable_variants,
    cut_of,
    same_cut,
    uncut,
)
from codeaudit.audit.prompts import ContinuationPrompt
from codeaudit.audit.records import Answer
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.scoring import ExactMatch, bleu, edit_similarity
from codeaudit.transforms.records import KEEPS_TEXT, Outcome, Perturbed, Sample

_FENCE: Final = re.compile(r"\s*(?:`{3,}|~{3,})[\w+-]*\s*$")

OTHER_LINE: Final = "the next line is another one"


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLine(ExactMatch):
    """The type of `NEXT_LINE`."""

    share: float = HALF
    """The share of a function's statements that is shown; at least one, at most all but one."""

    @override
    def showing(self, share: float) -> "NextLine":
        """The task with another share."""
        return replace(self, share=share)

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The function with the line after the cut as its label and the shown part in `asked`; or why it is
        no example.
        """
        cut = cut_of(sample, self.share)
        if isinstance(cut, str):
            return cut
        body, asked = cut
        if not body.places.index(len(asked)):
            return ONE_LINE  # nothing of the body is shown, so the task would be to guess its beginning
        return replace(sample, label=_next(sample.source, asked), asked=asked)

    @override
    def refuses(self, language: str) -> str:
        return uncut(language)

    @override
    def normalise(self, answer: object) -> str | None:
        """The first non-empty line of a text, or of its fence where prose stands in front of that."""
        return _line_of(answer) if isinstance(answer, str) else None

    @override
    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """The same if the meaning is kept and the line after the cut did not change."""
        if perturbed.kind in KEEPS_TEXT:
            return "same"
        asked = _same_cut(sample, perturbed.source)
        if perturbed.kind == "control" or asked is None:
            return "unknown"
        return "same" if _next(perturbed.source, asked) == _next(sample.source, sample.asked) else "other"

    @override
    def askable(self, sample: Sample, outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
        """The outcomes; only variants with the same next line and another shown part than earlier ones are
        applied."""
        return tuple(
            outcome.left_out(OTHER_LINE)
            if isinstance(outcome, Perturbed)
            and outcome.kind == "preserving"
            and self.expects(sample, outcome) != "same"
            else outcome
            for outcome in askable_variants(sample, outcomes)
        )

    @override
    def likeness(self, answers: Sequence[tuple[Answer, Sample]]) -> Mapping[str, float]:
        """The mean edit similarity, and BLEU over the corpus."""
        pairs = [(str(answer), str(sample.label)) for answer, sample in answers if sample.label is not None]
        if not pairs:
            return {}
        near = sum(edit_similarity(text, right) for text, right in pairs) / len(pairs)
        return {"edit similarity": near, "BLEU-4": bleu(pairs)}


def _same_cut(sample: Sample, source: str) -> str | None:
    if not sample.asked:
        return None
    return same_cut(sample.source, sample.asked, source, sample.language)


def _next(source: str, asked: str) -> str:
    """The line after the cut."""
    return _first(source[len(asked) :]) or ""


def _line_of(text: str) -> str | None:
    """The line that a reply gives; `None` if it gives several fences that begin with different ones."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    # An indented line is code, and prose is not indented.
    if first[:1].isspace() or not (fences := _fenced(text)):
        return _first(text)
    lines = {_first(fence) for fence in fences}
    return lines.pop() if len(lines) == 1 else None


def _fenced(text: str) -> list[str]:
    """What stands in the fences of a reply."""
    parts: list[list[str]] = []
    inside = False
    for line in text.splitlines():
        if _FENCE.match(line):
            inside = not inside
            if inside:
                parts.append([])
        elif inside:
            parts[-1].append(line)
    return ["\n".join(part) for part in parts if any(map(str.strip, part))]


def _first(text: str) -> str | None:
    # Indentation does not count: a model that continues a prompt after a line end may leave it out.
    lines = (" ".join(line.split()) for line in text.splitlines() if not _FENCE.match(line))
    return next((plain for line in lines if (plain := line.strip("`"))), None)


NEXT_LINE: Final = NextLine(
    name="next-line",
    question="Which line of the function comes next?",
    answers=FreeText(empty="no line"),
    score_name="exact match",
    labels=prompt_labels,
    reacts=False,
    wordings=wordings.NEXT_LINE,
    prompt=ContinuationPrompt(
        template=(
            "This {language} code breaks off in the middle of its last function. Write the one line that "
            "comes next. No additional text.\n\n{code}"
        ),
        extent="line",
    ),
)
