"""Error detection: does this function have a bug? (spe-attention, section 5.2)

An answer is `buggy` or `clean`. The score is the F1 of the class `buggy` over the corpus. A detector must be
compared with one that always answers `buggy`: if a share p of the corpus is buggy, that one reaches
2p / (1 + p), which is two thirds for p = 1/2.

A transform that keeps the meaning keeps the right answer. What a control does to it depends on the label:

- clean code becomes buggy, because a control changes what the code does;
- buggy code stays buggy, because one more change repairs it by accident only;
- without a label nobody knows.

So sensitivity counts controls of clean code only. As for other tasks, every change of the answer counts, also
that of a detector that called the clean code buggy.
"""

from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import Expectation, OneWordOf
from codeaudit.audit.prompts import QuestionPrompt
from codeaudit.audit.replies import closed
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.vulnerability_detection import FlawTask
from codeaudit.transforms.records import Perturbed, Sample

BUGGY: Final = "buggy"
CLEAN: Final = "clean"
_WORDS: Final = OneWordOf(
    (BUGGY, CLEAN),
    spellings=dict.fromkeys(("bug", "1", "1.0", "true", "yes"), BUGGY)
    | dict.fromkeys(("fixed", "correct", "0", "0.0", "false", "no"), CLEAN),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDetection(FlawTask):
    """The type of `ERROR_DETECTION`."""

    flaw = BUGGY
    no_code = "neither Python nor Java"

    @override
    def normalise(self, answer: object) -> str | None:
        """`buggy` or `clean`, from a word, a truth value or a number."""
        return _WORDS.read(answer)

    @override
    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """The same, except under a control of clean code; see the module."""
        if perturbed.kind != "control":
            return "same"
        return {BUGGY: "same", CLEAN: "other"}.get(str(sample.label), "unknown")  # type: ignore[return-value]


ERROR_DETECTION: Final = ErrorDetection(
    name="error-detection",
    question="Does this function have a bug?",
    answers=_WORDS,
    score_name="f1",
    corpus="bugs:stdlib:bisect,colorsys,textwrap",
    wordings=wordings.ERROR_DETECTION,
    prompt=QuestionPrompt(
        template=(
            "Does this {language} function have a bug? Answer with one word on the first line: buggy if it "
            "does something else than it is meant to, clean if it is right. No additional text.\n\n{code}"
        ),
        reader=closed((BUGGY, CLEAN), spellings=tuple(_WORDS.spellings.items()), any_case=True),
    ),
)
