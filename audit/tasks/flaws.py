"""What tasks share that ask whether a function has a flaw: reading labels, and the F1 of the flaw's word."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from typing_extensions import override

from codeaudit.audit.languages import is_programming
from codeaudit.audit.records import Answer
from codeaudit.audit.tasks.function_name import name_of
from codeaudit.audit.tasks.scoring import ExactMatch, f1, said_true_both
from codeaudit.transforms.errors import NOT_PARSED
from codeaudit.transforms.language import LANGUAGES
from codeaudit.transforms.records import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class FlawTask(ExactMatch):
    """A task with two words for answers, one of which says that there is a flaw."""

    flaw: ClassVar[str]
    """This word."""
    no_code: ClassVar[str]
    """Why a sample is no example whose language has no parser."""

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The sample with its label as a word, or why it is no example. Names stay as they are.

        A label that is no such word is dropped. So is the function's own name, which corpora of sources give
        as the label.
        """
        if reason := self.refuses(sample.language):
            return reason
        language = LANGUAGES.get(sample.language)
        if not language.parses(sample.source):
            return NOT_PARSED
        # A function called `clean` is not thereby labelled clean.
        named = sample.label == name_of(sample.source, sample.language)
        return replace(sample, label=None if named else self.normalise(sample.label))

    @override
    def refuses(self, language: str) -> str:
        return "" if is_programming(language) else self.no_code

    @abstractmethod
    @override
    def normalise(self, answer: object) -> str | None:
        """One of the two words; `None` if the answer means none of them."""

    @override
    def part(self, answer: Answer, sample: Sample) -> tuple[float, ...] | None:
        """Whether the answer, the label and both name the flaw, as 0 or 1; `None` without a label."""
        return said_true_both(answer, sample, self.flaw)

    @override
    def whole(self, columns: Sequence[Sequence[float]]) -> float | None:
        """The F1 of the flaw's word; `None` if no label and no answer is that word."""
        return f1(columns)
