"""Several sampled answers to one query, for models that write text. Imports no framework.

The random draws of an answer depend only on its number (common random numbers). So equal queries have equal
answers in every batch and order, and a difference between an original and its variant comes from the model
and not from chance.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from codeaudit.audit.models.answers import MALFORMED
from codeaudit.audit.records import Failed, Predicted, Prediction
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.seeding import stream

MOST: Final = 1000
"""Largest number of answers to one query."""
TEMPERATURE: Final = 0.8
"""The default for several answers: the best one for pass@100 in Chen et al. (2021)."""


def samples(text: str) -> int:
    """The number of answers to a query, from the text of an argument.

    Raises:
        UsageError: it is not a whole number from 1 to `MOST`.
    """
    number = int(text) if text.isdecimal() and len(text) <= len(str(MOST)) else 0
    if not 1 <= number <= MOST:
        raise UsageError(f"-M samples={text} must be a whole number from 1 to {MOST}")
    return number


def draws(attempt: int, *, seed: int = 0) -> Random:
    """The random stream of the answer with this number, from 0."""
    return stream(seed, "samples", attempt)


def joined(attempts: Sequence[Prediction]) -> Prediction:
    """All answers to one query as one, in their order; the first failure if there is one.

    No answer may be left out, because the remaining ones would no longer be the sample that was drawn.
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
