"""Error detection: does this function have a bug? (spe-attention, section 5.2)

An answer is `buggy` or `clean`, and quality is the F1 of the class `buggy` over the corpus. An answer of
`buggy` to everything reaches 2p / (1 + p) where a share p is buggy, two thirds where that is half: a detector
has to be read against it.

What a perturbation does to the right answer depends on the label. What keeps the meaning keeps it. A control
changes what the code does, so code that was right becomes wrong: `clean` is to become `buggy`. Code that is
wrong already stays wrong, since one more change repairs it by accident only. So sensitivity counts controls
of clean code, those of buggy code are left without a verdict, and without a label nobody knows. As for other
tasks, any change of the answer counts, also that of a detector that called the clean code buggy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from codeaudit.audit.interface import Expectation
from codeaudit.audit.records import Answer, Predicted
from codeaudit.audit.tasks.function_name import name_of
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.records import Perturbed, Sample

BUGGY: Final = "buggy"
CLEAN: Final = "clean"
LANGUAGES: Final = frozenset({"python", "java"})
_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys((BUGGY, "bug", "1", "1.0", "true", "yes"), BUGGY),
    **dict.fromkeys((CLEAN, "fixed", "correct", "0", "0.0", "false", "no"), CLEAN),
}


@dataclass(frozen=True, slots=True)
class ErrorDetection:
    """The task `error-detection`."""

    name: str = "error-detection"
    score_name: str = "f1"

    def prepare(self, sample: Sample) -> Sample | str:
        """The sample with its label as a word, or why it is no example; names stay as they are.

        A label that is neither is none, and so is the function's own name, which corpora of sources give.
        """
        if sample.language not in LANGUAGES:
            return "neither Python nor Java"
        if not _parses(sample):
            return "source does not parse"
        named = sample.label == name_of(sample.source, sample.language)
        return replace(sample, label=None if named else self.normalise(sample.label))

    def normalise(self, answer: object) -> str | None:
        """`buggy` or `clean`, from a word, a truth value or a number."""
        if isinstance(answer, bool | int | float):
            answer = str(float(answer))
        return _WORDS.get(answer.strip().lower()) if isinstance(answer, str) else None

    def same(self, before: Predicted, after: Predicted) -> bool:
        """Equal answers."""
        return before.answer == after.answer

    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """The same, but under a control that makes clean code buggy; see the module."""
        if perturbed.kind != "control":
            return "same"
        return {BUGGY: "same", CLEAN: "other"}.get(str(sample.label), "unknown")  # type: ignore[return-value]

    def score(self, answer: Answer, sample: Sample) -> float | None:
        """1 for the right answer, 0 for the wrong one."""
        return None if sample.label is None else float(answer == sample.label)

    def corpus_score(self, answers: Sequence[tuple[Answer, Sample]]) -> float | None:
        """The F1 of `buggy` among the samples with a label; `None` where nothing is or is called buggy."""
        pairs = [(answer == BUGGY, sample.label == BUGGY) for answer, sample in answers if sample.label]
        total = sum(said + true for said, true in pairs)
        return 2 * sum(said and true for said, true in pairs) / total if total else None


def _parses(sample: Sample) -> bool:
    try:
        if sample.language == "python":
            from codeaudit.transforms.python.parsing import parse

            parse(sample.source)
        else:
            from codeaudit.transforms.java.parsing import read

            read(sample.source)
    except SourceError:
        return False
    return True


ERROR_DETECTION: Final = ErrorDetection()
