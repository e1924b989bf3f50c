"""What tasks share that ask about two units: how replies say one of two words."""

from collections.abc import Mapping
from dataclasses import replace

from codeaudit.audit.interface import OneWordOf
from codeaudit.audit.replies import AnswerShape, closed


def two_words(
    answers: OneWordOf, sentences: Mapping[str, str], words: tuple[tuple[str, str], ...] = ()
) -> AnswerShape:
    """How replies say one of the words. `sentences` are other ways to say them that count in a sentence, too
    (`not the same`); `words` are those of `--label-map`."""
    shape = closed(
        answers.words,
        spellings=tuple(answers.spellings.items()),
        words=(*sentences.items(), *words),
        any_case=True,
    )
    return replace(shape, mapped=lambda more: two_words(answers, sentences, more))
