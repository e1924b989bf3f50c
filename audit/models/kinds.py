"""Which kinds of models answer a task: for people who choose a model. Models themselves decide when they are
loaded and asked."""

from collections.abc import Mapping
from typing import Final

from codeaudit.audit.interface import (
    CLOSED,
    AnswerKind,
    NameOfCode,
    OneNumber,
    OneWordOf,
    Ranking,
    Task,
    TextLikelihood,
)

BY_ANSWER: Final[Mapping[str, tuple[type[AnswerKind], ...]]] = {
    "classifier": (*CLOSED, OneNumber, NameOfCode),
    "mask filler": (OneWordOf, NameOfCode),
    "embeddings": (NameOfCode, Ranking),
    "reranker": (Ranking,),
    "causal network": (TextLikelihood,),
}
"""By the kind of model: the kinds of answers that it gives."""


def kinds_for(task: Task) -> tuple[str, ...]:
    """The kinds of models that answer a task.

    A program of one's own answers every task, a language model each that has a prompt. A causal network is a
    language model here that also shows the probabilities of all tokens.
    """
    kinds = [name for name, answers in BY_ANSWER.items() if isinstance(task.answers, answers)]
    return ("program", *(("language model",) if task.prompt else ()), *kinds)
