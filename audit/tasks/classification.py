"""Classification: which of these labels does this function have?

The labels are those of a column: two to some hundred texts, numbers or truth values, such as `CWE-79`, `1` or
`true`. They are case-sensitive. The set of labels is that of the corpus, so a run fits the task to it
before a model is asked. Models see the labels in `Query.labels`, and chat models in the prompt.

The score is the accuracy. Reports also show MCC, macro F1 and the rates of each label.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from codeaudit.audit.interface import OneLabel, as_label
from codeaudit.audit.prompts import Prompt, QuestionPrompt, ReplyReader
from codeaudit.audit.tasks.function_name import name_of
from codeaudit.audit.tasks.scoring import ExactMatch
from codeaudit.transforms.records import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification(ExactMatch):
    """The type of `CLASSIFICATION`."""

    def prepare(self, sample: Sample) -> Sample | str:
        """The sample with its label, or the reason that there is none."""
        label = as_label(sample.label)
        # Corpora of sources give the function's own name as its label.
        named = label is not None and label == name_of(sample.source, sample.language)
        return "no label" if label is None or named else replace(sample, label=label)

    def fitted(self, labels: Sequence[str]) -> "Classification":
        """The task with these labels, in its prompt and in what it takes as an answer."""
        return replace(self, answers=OneLabel(labels=tuple(labels)), prompt=prompt_for(tuple(labels)))

    def normalise(self, answer: object) -> str | None:
        """One of the labels; `None` for everything else. Before it is fitted, every text is a label."""
        found = as_label(answer)
        known = self.answers.labels if isinstance(self.answers, OneLabel) else ()
        return found if not known or found in known else None


@cache
def prompt_for(labels: tuple[str, ...]) -> Prompt:
    """What chat models are asked, with these labels."""
    listed = "\n".join(f"- {label}" for label in labels)
    template = (
        f"Classify this {{language}} function. These are the labels:\n\n{listed}\n\n"
        "Answer with one of them on the first line, exactly as it stands there. No additional text.\n\n{code}"
    )
    return QuestionPrompt(template=template, reader=_reader(labels))


_WRAPPING: Final = "\"'`*_.,;:!()[] "


def _reader(labels: Sequence[str]) -> ReplyReader:
    """Reads a line that is one label, or that names exactly one label and no other."""
    known = frozenset(labels)
    # The longest first, so that no label is found inside of a longer one.
    ordered = sorted(labels, key=len, reverse=True)
    named = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, ordered))})(?![\w-])")

    def read(line: str) -> str | None:
        plain = line.strip(_WRAPPING)
        if not known or plain in known:
            return plain or None
        found = set(named.findall(line))
        return found.pop() if len(found) == 1 else None

    return read


CLASSIFICATION: Final = Classification(
    name="classification",
    question="Which label does this function have?",
    answers=OneLabel(labels=()),
    score_name="accuracy",
    prompt=prompt_for(()),
)
