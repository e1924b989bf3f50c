"""What flows out of this package: predictions, and the verdicts on them.

Both are closed unions, matched exhaustively. A verdict carries the perturbation and both predictions by
value, so that a report needs nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from codeaudit.transforms.errors import RunError
from codeaudit.transforms.records import NotApplied, Perturbed, Sample

ANSWER_CHANGES: Final = "the right answer changes"
ANSWER_STAYS: Final = "the right answer stays"
ANSWER_UNKNOWN: Final = "unknown whether the right answer changes"
"""Why there is no verdict on two answers, though both were had."""

MALFORMED: Final = "malformed answer"
CUT_OFF: Final = "answer cut off by max_tokens"
"""Why an answer that was given cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A text of a model, and what execution found of it."""

    text: str
    failure: str | None
    """The type of the exception or the limit that ended its tests; `None` if it passes them."""

    def __str__(self) -> str:
        return f"{'passes' if self.failure is None else f'fails: {self.failure}'}\n{self.text}"


Answer: TypeAlias = str | float | tuple[str, ...] | tuple[Attempt, ...]
"""A text, a number, or several texts: a set of labels as a sorted tuple, or attempts in their order.

Attempts that execution has graded are records.
"""


def answer_to_json(answer: Answer) -> object:
    """The answer as a value for JSON: graded attempts become objects, other answers stay."""
    if not isinstance(answer, tuple):
        return answer
    return [{"text": one.text, "failure": one.failure} if isinstance(one, Attempt) else one for one in answer]


def answer_from_json(value: object) -> Answer:
    """The answer that `answer_to_json` wrote.

    Raises:
        RunError: it is no answer.
    """
    if isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
        return tuple(Attempt(text=str(part["text"]), failure=part["failure"]) for part in value)
    return label_from_json(value)


def label_from_json(value: object) -> str | float | tuple[str, ...]:
    """A label, or an answer that is not graded, from its value in JSON.

    Raises:
        RunError: it is neither.
    """
    match value:
        case str() | float():
            return value
        case int():
            return float(value)
        case list():
            return tuple(str(part) for part in value)
        case _:
            raise RunError(f"no answer: {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One input of a model. Equal queries are asked once."""

    task: str
    language: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """A model's answer."""

    answer: Answer
    """Normalised by the task."""
    scores: tuple[tuple[str, float], ...] = ()
    """The labels with the highest scores and those scores, where the model gives them, sorted by label."""
    margin: float | None = None
    """How far the nearest score is from changing the answer, in the unit of the scores; absent if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """No answer could be had. Never counted as a violation."""

    reason: str
    """A short phrase that counts together: `endpoint: 429`, `input too long`, `malformed answer`."""


Prediction: TypeAlias = Predicted | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The answer is the same before and after."""

    perturbed: Perturbed
    before: Predicted
    after: Predicted
    deviation: float
    """Largest absolute difference of the scores of labels present on both sides; 0 where there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violated:
    """The answer changed. For a control this is the sensitivity that one wants."""

    perturbed: Perturbed
    before: Predicted
    after: Predicted
    deviation: float
    """As in `Held`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """No verdict: an answer could not be had, or its flip lies within numeric noise."""

    perturbed: Perturbed
    before: Prediction
    after: Prediction
    reason: str
    """`numeric noise`, what the failed prediction says, or what became of the right answer."""


Verdict: TypeAlias = Held | Violated | Unjudged


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """Everything about one sample and one model: what a report is made from."""

    model: str
    sample: Sample
    before: Prediction
    score: float | None
    """The task's score of the original answer for this sample; absent where there is no label or answer."""
    verdicts: tuple[Verdict, ...]
    after_scores: tuple[float | None, ...]
    """The task's score of each perturbed answer, one per verdict, in the same order."""
    not_applied: tuple[NotApplied, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A violation and the smallest one that was found within it."""

    model: str
    seed: int
    """That of the trial."""
    violated: Violated
    minimal: Violated
    """Some of its moves, or milder ones: an order of statements that is nearer to the original."""
    queries: int
    """Texts that the model had to answer for on the way, remembered ones among them; the original and the
    violation itself aside."""
    smallest: bool
    """Whether no fewer of the moves flip the answer: all smaller sets were tried. Else none of its moves can
    be taken away alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A violation that the model as it is today does not show."""

    model: str
    seed: int
    violated: Violated
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """What a worst-case search found for one sample and one model."""

    model: str
    seed: int
    sample: Sample
    strategy: str
    budget: int
    """How many texts it might ask about."""
    queries: int
    """How many it asked about, the original aside; up to the first violation, where it found one."""
    violated: Violated | None
    certified: bool
    """Whether every perturbation was tried, and none flips the answer."""
    reason: str
    """Why nothing was tried; empty where something was."""
