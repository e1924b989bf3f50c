"""Several sampled answers to one query, for models that write text. Imports no framework.

The draws of an attempt depend on its number alone. So equal queries have equal answers, in whatever batch and
order, and a model to which two texts are the same answers both alike: what changes between an original and
its variants is the model's doing, not chance (common random numbers).
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from codeaudit.audit.models.answers import MALFORMED
from codeaudit.audit.records import Failed, Predicted, Prediction
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.seeding import stream

MOST: Final = 1000
"""Answers to one query."""
TEMPERATURE: Final = 0.8
"""Of several answers where none is named: the one that Chen et al. (2021) found best for pass@100."""


def samples(text: str) -> int:
    """The number of answers to a query, read.

    Raises:
        UsageError: it is none, or too many.
    """
    number = int(text) if text.isdecimal() and len(text) <= len(str(MOST)) else 0
    if not 1 <= number <= MOST:
        raise UsageError(f"-M samples={text} must be a whole number from 1 to {MOST}")
    return number


def draws(attempt: int, *, seed: int = 0) -> Random:
    """The random stream of an attempt; the first one is number 0."""
    return stream(seed, "samples", attempt)


def joined(attempts: Sequence[Prediction]) -> Prediction:
    """The attempts at one query as one answer, in their order.

    None may be left out, since the rest would be others than were drawn: where one could not be had, there is
    no answer.
    """
    if len(attempts) == 1:
        return attempts[0]
    texts: list[str] = []
    for one in attempts:
        match one:
            case Failed():
                return one
            case Predicted(answer=str(text)):
                texts.append(text)
            case Predicted():
                return MALFORMED
    return Predicted(answer=tuple(texts))
