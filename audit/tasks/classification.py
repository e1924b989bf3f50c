"""Classification: which of these labels does this function have?

The labels are those of a column: two to some hundred texts, numbers or truth values, such as `CWE-79`, `1` or
`true`. They are case-sensitive. The set of labels is that of the corpus, so a run fits the task to it
before a model is asked. Models see the labels in `Query.labels`, and chat models in the prompt.

The score is the accuracy. Reports also show MCC, macro F1 and the rates of each label.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import OneLabel, as_label
from codeaudit.audit.prompts import Prompt, QuestionPrompt
from codeaudit.audit.replies import closed
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.function_name import name_of
from codeaudit.audit.tasks.scoring import ExactMatch
from codeaudit.transforms.records import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification(ExactMatch):
    """The type of `CLASSIFICATION`."""

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The sample with its label, or the reason that there is none."""
        label = as_label(sample.label)
        # Corpora of sources give the function's own name as its label.
        named = label is not None and label == name_of(sample.source, sample.language)
        return "no label" if label is None or named else replace(sample, label=label)

    @override
    def fitted(self, labels: Sequence[str]) -> "Classification":
        """The task with these labels, in its prompt and in what it takes as an answer."""
        words = tuple(self.words.items())
        return replace(
            self,
            answers=OneLabel(labels=tuple(labels)),
            prompt=prompt_for(tuple(labels), words),
            wordings=wordings.classification(_listed(tuple(labels), words)),
        )

    @override
    def normalise(self, answer: object) -> str | None:
        """One of the labels; `None` for everything else. Before it is fitted, every text is a label."""
        label = as_label(answer)
        labels = self.answers.labels if isinstance(self.answers, OneLabel) else ()
        return label if not labels or label in labels else None


@cache
def prompt_for(labels: tuple[str, ...], words: tuple[tuple[str, str], ...] = ()) -> Prompt:
    """What chat models are asked, with these labels, each with its words of `--label-map` in brackets."""
    template = (
        f"Classify this {{language}} function. These are the labels:\n\n{_listed(labels, words)}\n\n"
        "Answer with one of them on the first line, exactly as it stands there. No additional text.\n\n{code}"
    )
    return QuestionPrompt(template=template, reader=closed(labels, words=words) if labels else _any_label)


def _listed(labels: tuple[str, ...], words: tuple[tuple[str, str], ...]) -> str:
    return "\n".join(f"- {label}{_in_brackets(label, words)}" for label in labels)


def _in_brackets(label: str, words: tuple[tuple[str, str], ...]) -> str:
    spoken = [word for word, meant in words if as_label(meant) == label and word != label]
    return f" ({', '.join(spoken)})" if spoken else ""


def _any_label(line: str) -> str | None:
    """Before the labels are known, every text is one."""
    return line.strip("\"'`*_.,;:!()[] ") or None


CLASSIFICATION: Final = Classification(
    name="classification",
    question="Which label does this function have?",
    answers=OneLabel(labels=()),
    score_name="accuracy",
    corpus="",
    wordings=wordings.classification(""),
    prompt=prompt_for(()),
)
