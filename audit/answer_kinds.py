"""The kinds of answers that tasks have.

A task names its kind (`Task.answers`). Models that work differently for different kinds read it there: a
classifier, a mask filler, a fake. No model has to know a task by name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class OneWordOf:
    """One of a few words."""

    words: tuple[str, ...]
    """Lower-cased, in the order in which models list them."""
    spellings: Mapping[str, str] = field(default_factory=dict)
    """Other lower-cased spellings, `yes` or `1.0`, with the word that each means."""

    def read(self, answer: object) -> str | None:
        """The word that a text, a truth value or a number means; `None` if it means none."""
        if isinstance(answer, bool | int | float):
            answer = str(float(answer))
        if not isinstance(answer, str):
            return None
        text = answer.strip().lower()
        return text if text in self.words else self.spellings.get(text)


@dataclass(frozen=True, slots=True)
class OneNumber:
    """A finite number that a network with one output can give."""


@dataclass(frozen=True, slots=True)
class NameOfCode:
    """A name, compared as a set of subtokens. In the source a placeholder stands for it."""

    placeholder: Callable[[str, str], str | None]
    """From a source and its language to the placeholder; `None` if the source has none."""


@dataclass(frozen=True, slots=True)
class FreeText:
    """Any text: a value, or code."""


@dataclass(frozen=True, slots=True)
class TextLikelihood:
    """A number that only a language model can give, because it sums over the probabilities of all tokens."""


AnswerKind: TypeAlias = OneWordOf | OneNumber | NameOfCode | FreeText | TextLikelihood
