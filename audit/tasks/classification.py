"""Classification: which of these labels does this function have?

The labels are those of a column: two to some hundred texts, numbers or truth values, such as `CWE-79`, `1` or
`true`. They are case-sensitive. The set of labels is that of the corpus, so the task is `fitted` to it before
models are asked; models see it in `Query.labels`, and chat models in the prompt.

The score is the accuracy. Reports also show MCC, macro F1 and the rates of each label.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from codeaudit.audit.interface import OneLabel
from codeaudit.audit.prompts import Prompt, QuestionPrompt, ReplyReader
from codeaudit.audit.tasks.scoring import ExactMatch
from codeaudit.transforms.records import Sample

MOST: Final = 500
"""Largest number of labels. A column with more of them holds something else, such as names."""


def as_label(value: object) -> str | None:
    """A cell or an answer as a label: `1`, `1.0` and `"1"` are one label, and so are `True` and `"true"`.

    `None` if it is none: an empty text, a list, a number that is not finite.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        # NaN is an empty cell, and infinity no label.
        return None if value != value or value in (float("inf"), float("-inf")) else f"{value:.15g}"
    if not isinstance(value, str) or not (text := " ".join(value.split())):
        return None
    # A table of texts writes a whole number as 1.0.
    return text.removesuffix(".0") if re.fullmatch(r"-?\d+\.0", text) else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification(ExactMatch):
    """The type of `CLASSIFICATION`."""

    words: Mapping[str, str] = field(default_factory=dict)
    """Words of models by the label that each means (`--label-map`)."""

    def prepare(self, sample: Sample) -> Sample | str:
        """The sample with its label, or the reason that there is none."""
        label = as_label(sample.label)
        return "no label" if label is None else replace(sample, label=self.words.get(label, label))

    def fitted(self, labels: Sequence[str]) -> "Classification":
        """The task with these labels."""
        return replace(self, answers=OneLabel(labels=tuple(labels)), prompt=_prompt(tuple(labels)))

    def normalise(self, answer: object) -> str | None:
        """One of the labels; `None` for everything else. Before it is fitted, every text is a label."""
        found = as_label(answer)
        if found is None:
            return None
        found = self.words.get(found, found)
        known = self.answers.labels if isinstance(self.answers, OneLabel) else ()
        return found if not known or found in known else None


_WRAPPING: Final = "\"'`*_.,;:!()[] "


@cache
def _prompt(labels: tuple[str, ...]) -> Prompt:
    listed = "\n".join(f"- {label}" for label in labels)
    template = (
        "Classify this {language} function. These are the labels:\n\n"
        f"{listed}\n\n"
        "Answer with one of them on the first line, exactly as it stands there. No additional text.\n\n{code}"
    )
    return QuestionPrompt(template=template, reader=_reader(labels))


def _reader(labels: Sequence[str]) -> ReplyReader:
    """Reads a line that is one label, or that names exactly one label and no other."""
    known = frozenset(labels)
    # The longest first: CWE-790 is not CWE-79 with a 0.
    ordered = sorted(labels, key=len, reverse=True)
    named = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, ordered))})(?![\w-])")

    def read(line: str) -> str | None:
        plain = line.strip(_WRAPPING)
        if plain in known or not known:
            return plain or None
        found = set(named.findall(line))
        return found.pop() if len(found) == 1 else None

    return read


CLASSIFICATION: Final = Classification(
    name="classification",
    question="Which label does this function have?",
    answers=OneLabel(labels=()),
    score_name="accuracy",
    prompt=_prompt(()),
)
