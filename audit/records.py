"""The records of an audit: queries, predictions, verdicts, and the results of searches.

Predictions and verdicts are closed unions; match them exhaustively. A verdict holds the perturbation and both
predictions, so that a report needs nothing else.
"""

import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Final, NamedTuple, TypeAlias

from codeaudit.audit.checks import is_number, shown
from codeaudit.transforms.errors import NOT_PARSED, RunError
from codeaudit.transforms.records import NotApplied, Outcome, Perturbed, Sample

ANSWER_CHANGES: Final = "the right answer changes"
ANSWER_STAYS: Final = "the right answer stays"
ANSWER_UNKNOWN: Final = "unknown whether the right answer changes"
"""Reasons for no verdict although both answers are there."""
NOT_REPEATED: Final = "not asked again"
"""Why a repeat has no verdict: the first stage showed no noise, or fewer repeats were wanted."""
EXCUSES: Final = frozenset({ANSWER_CHANGES, ANSWER_STAYS, ANSWER_UNKNOWN, NOT_REPEATED})
"""These reasons: such a verdict is missing by design and by no fault of the model."""

UNREAD: Final = ""
"""In `RawReply.read`: the driver will read this text."""
MALFORMED: Final = "no readable answer"
"""Why an answer of the model cannot be used. In runs of earlier versions it is called `malformed answer`."""
CUT_OFF: Final = "answer cut off by max_tokens"
"""The same, if a limit on the length of the reply is to blame."""
CUT_BY_WINDOW: Final = "answer cut off by the server's window"
"""The same, if the prompt left no room for it."""
SHOWN: Final = 160
"""Largest number of characters shown of a malformed answer, or of another value from outside."""


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


_TRUTH: Final = re.compile(r"True|TRUE|False|FALSE")
"""Truth values as Python, pandas and spreadsheets write them."""
_WHOLE: Final = re.compile(r"-?\d+\.0")


def as_label(value: object) -> str | None:
    """A cell or an answer as a label: `1`, `1.0` and `"1"` are one label, and so are the truth value and the
    texts `true`, `True` and `TRUE`.

    `None` if it is none: an empty text, a list, a number that is not finite.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:.15g}" if isfinite(value) else None
    if not isinstance(value, str) or not (text := " ".join(value.split())):
        return None
    if _TRUTH.fullmatch(text):
        return text.lower()
    # A table of texts writes a whole number as 1.0.
    return text.removesuffix(".0") if _WHOLE.fullmatch(text) else text


def answer_to_json(answer: Answer) -> object:
    """The answer as a value for JSON: graded attempts become objects, other answers stay."""
    if not isinstance(answer, tuple):
        return answer
    return [
        {"text": part.text, "failure": part.failure} if isinstance(part, Attempt) else part for part in answer
    ]


def answer_from_json(value: object) -> Answer:
    """The answer that `answer_to_json` wrote.

    Raises:
        RunError: it is no answer.
    """
    # Attempts and sets of labels are both lists in JSON; only graded attempts are lists of objects.
    if isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
        return tuple(_attempt(part) for part in value)
    return label_from_json(value)


def _attempt(value: Mapping[str, object]) -> Attempt:
    text, failure = value.get("text"), value.get("failure", "")
    if not (isinstance(text, str) and (failure is None or isinstance(failure, str))):
        raise RunError(f"no answer: {shown(value)}")
    return Attempt(text=text, failure=failure)


def label_from_json(value: object) -> str | float | tuple[str, ...]:
    """A label, or an answer that is not graded, from its value in JSON.

    Raises:
        RunError: it is neither.
    """
    match value:
        case str():
            return value
        # `2` and `2.0` are one answer, and JSON writers drop the fraction.
        case int() | float() if is_number(value):
            return float(value)
        case list() if all(isinstance(part, str) for part in value):
            return tuple(value)
        case _:
            raise RunError(f"no answer: {shown(value)}")


def predicted_to_json(predicted: "Predicted") -> object:
    """The answer as a value for JSON; with its draws, if there are some, an object."""
    answer = answer_to_json(predicted.answer)
    return {"answer": answer, "draws": list(predicted.draws)} if predicted.draws else answer


def predicted_from_json(value: object) -> tuple[Answer, tuple[Answer, ...]]:
    """The answer and its draws that `predicted_to_json` wrote.

    Raises:
        RunError: it is no answer.
    """
    if not isinstance(value, Mapping):
        return answer_from_json(value), ()
    return answer_from_json(value.get("answer")), draws_from_json(value.get("draws"))


def draws_from_json(value: object) -> tuple[Answer, ...]:
    """The draws of an answer.

    Raises:
        RunError: they are none.
    """
    if not isinstance(value, list):
        raise RunError(f"no draws: {shown(value)}")
    return tuple(map(label_from_json, value))


def failed_from_json(value: Mapping[str, object]) -> "Failed":
    """The failure that `{"failed": REASON}` stands for.

    Raises:
        RunError: it is none.
    """
    reason = value.get("failed")
    if not isinstance(reason, str):
        raise RunError(f"no answer: {shown(value)}")
    return Failed(reason=reason)


def scores_from_json(value: object) -> tuple[tuple[str, float], ...]:
    """The scores of labels, from a list of pairs.

    Raises:
        RunError: it is none.
    """
    if not isinstance(value, list):
        raise RunError(f"no scores: {shown(value)}")
    for pair in value:
        if not (
            isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and is_number(pair[1])
        ):
            raise RunError(f"no score of a label: {shown(pair)}")
    return tuple((label, float(score)) for label, score in value)


def replies_from_json(value: object) -> "tuple[RawReply, ...]":
    """The replies of a prediction, from a list of pairs.

    Raises:
        RunError: it is none.
    """
    if not isinstance(value, list):
        raise RunError(f"no replies: {shown(value)}")
    for pair in value:
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise RunError(f"no reply: {shown(pair)}")
    return tuple(RawReply(text, read) for text, read in value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One input of a model. Equal queries are asked once."""

    task: str
    language: str
    source: str
    labels: tuple[str, ...] = ()
    """The labels to choose from, for a task whose corpus decides the labels."""
    words: tuple[tuple[str, str], ...] = ()
    """Words of models with the word of the task that each means (`--label-map`)."""
    other: str = ""
    """The second unit, for a task about pairs."""
    candidates: tuple[str, ...] = ()
    """Units to choose from, for a task that ranks them."""
    text: str = ""
    """A query in words, for a task that has one."""

    @property
    def beside(self) -> dict[str, str | tuple[str, ...]]:
        """What is asked beside the source: `other`, `candidates` and `text`, as far as the query has them."""
        parts: dict[str, str | tuple[str, ...]] = {
            "other": self.other,
            "candidates": self.candidates,
            "text": self.text,
        }
        return {name: value for name, value in parts.items() if value}

    @property
    def units(self) -> tuple[str, ...]:
        """All texts that a model is shown, the source first."""
        return tuple(filter(None, (self.source, self.other, *self.candidates, self.text)))

    @property
    def size(self) -> int:
        """Number of characters of these texts."""
        return sum(map(len, self.units))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat(Query):
    """A query that is asked again, to measure the model's own noise."""

    bucket: int
    """The bucket of the sample. Only repeated queries of one bucket are asked together. The bucket is part of
    the identity: equal texts in two buckets are two queries."""
    number: int = 0
    """Which repeat it is, from 0. Repeats of one text are queries of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkQuery(Query):
    """A query that is asked of a changed network, such as one with permuted columns."""

    network: str
    """The name of the transform that changes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkProof:
    """What is known of a permuted network (`--wrap columns` or `rows`) before it is asked anything."""

    wrap: str
    """`columns` or `rows`."""
    groups: int
    """Groups of axes, each permuted by a permutation of its own."""
    bits: float
    """log2 of the number of ways to permute them; of rows, for the tokens of a short text."""
    forward: float
    """The largest difference of an output in double precision, relative to the largest output."""
    backward: float
    """The same for gradients."""
    broken: float
    """The largest difference of an output of the broken network, relative to the largest output."""


LONGEST_REPLY: Final = 16_384
"""Characters that are kept of a reply."""


class RawReply(NamedTuple):
    """What a model wrote, and how that was read."""

    text: str
    """What `kept_reply` gives."""
    read: str
    """The form in which it states the answer, or the reason why it states none."""


def kept_reply(text: str) -> str:
    """A reply as it is kept: without surrogates, which Parquet cannot store; of a long one the beginning, and
    a last line that says so."""
    plain = text.encode("utf-8", "replace").decode()
    if len(plain) <= LONGEST_REPLY:
        return plain
    return f"{plain[:LONGEST_REPLY]}\n[codeaudit kept {LONGEST_REPLY:,} of {len(plain):,} characters]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """A model's answer."""

    answer: Answer
    """Normalised by the task."""
    scores: tuple[tuple[str, float], ...] = ()
    """The labels with the highest scores and those scores, where the model gives them, sorted by label."""
    margin: float | None = None
    """Smallest change of a score that would change the answer, in the unit of the scores; None if unknown."""
    draws: tuple[Answer, ...] = ()
    """The answers that were drawn to one query, of a sampled model; `answer` is the commonest. Empty if one
    answer was asked, or if the task's answers are attempts."""
    replies: tuple[RawReply, ...] = field(default=(), compare=False)
    """What a model of texts wrote, one for each attempt; empty if it writes none, or if nobody kept it."""
    first: str = field(default="", compare=False)
    """The number of the first candidate in a graded ranking; kept in no file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The model gave no usable answer. Never counted as a violation."""

    reason: str
    """A short phrase that counts together: `endpoint: 429`, `input too long`, `no readable answer`."""
    given: str = field(default="", compare=False)
    """The beginning of a malformed answer, for a message to the user; kept in no file."""
    wrong: str = field(default="", compare=False)
    """What is wrong with it, for the same message; empty where the task does not take the answer."""
    is_reply: bool = field(default=False, compare=False)
    """Whether the model answered a prompt, which asks for a form of its own."""
    replies: tuple[RawReply, ...] = field(default=(), compare=False)
    """As of `Predicted`."""


UNPARSABLE: Final = Failed(reason=NOT_PARSED)
"""The answer of a model that reads code, for a text that is none."""

Prediction: TypeAlias = Predicted | Failed


def brief(value: object) -> str:
    """A value from outside in at most `SHOWN` characters, for a message to the user."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = SHOWN // 2
    try:
        text = short.repr(value)
    except Exception:  # an object of foreign code, or a number of thousands of digits
        text = type(value).__name__
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def malformed(answer: object, wrong: str = "", *, is_reply: bool = False) -> Failed:
    """The failure for an answer that the task does not take, or for a reply that is no answer."""
    # A whole number was read as a float, and is shown as it was given.
    if isinstance(answer, float) and answer.is_integer():
        answer = int(answer)
    replies = (RawReply(kept_reply(answer), MALFORMED),) if isinstance(answer, str) else ()
    return Failed(reason=MALFORMED, given=brief(answer), wrong=wrong, is_reply=is_reply, replies=replies)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """A perturbation with the answers before and after it."""

    perturbed: Perturbed
    before: Predicted
    after: Predicted
    deviation: float
    """Largest absolute difference between the scores of labels on both sides; 0 if no label is on both."""
    shift: float | None = field(default=None, compare=False)
    """By how much the probability of the original's answer differs (`codeaudit.audit.probabilities`).
    Not compared: exponential functions of two machines may differ in the last digit."""


# Two classes and not a flag, so that a `match` over verdicts is exhaustive and mypy shows a forgotten case.
@dataclass(frozen=True, slots=True, kw_only=True)
class Held(_Judged):
    """The answer is the same before and after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violated(_Judged):
    """The answer changed. Under a control that is wanted: it is sensitivity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """No verdict: an answer is missing, or its change is as small as numeric noise."""

    perturbed: Perturbed
    before: Prediction
    after: Prediction
    reason: str
    """`numeric noise`, the reason of the failed prediction, or what happened to the right answer."""


Verdict: TypeAlias = Held | Violated | Unjudged


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One sample with its variants under all transforms."""

    sample: Sample
    """The sample that the task prepared."""
    outcomes: tuple[Outcome, ...]
    """In the order of the transforms, then of the variants."""
    extra: bool = False
    """Whether it was drawn in addition, for the transforms of its outcomes only. It is then no part of the
    plain random draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnSize:
    """How many samples there are, and how large they are."""

    samples: int
    lines: float | None
    """Median number of lines; `None` without a sample."""
    statements: float | None
    """Median number of statements; `None` also if nothing counts them in the language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovableSize:
    """The samples of a trial that one transform changes and all models of the run can read."""

    transform: str
    movable: DrawnSize
    extra: int
    """Number of them that were drawn in addition to the plain draw."""
    tried: int
    """Number of samples that the transform was tried on, with the plain draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovableDraw:
    """How the samples of a trial were drawn, if samples were drawn in addition to the plain draw."""

    seed: int
    wanted: int
    """Number of movable samples that each transform should have; 0 if a suite had fixed them before."""
    plain: DrawnSize
    """All samples of the plain draw."""
    by_transform: tuple[MovableSize, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """Everything about one sample and one model. Reports are made from these records."""

    model: str
    sample: Sample
    before: Prediction
    score: float | None
    """The task's score of the original answer; None without a label or an answer."""
    verdicts: tuple[Verdict, ...]
    after_scores: tuple[float | None, ...]
    """The task's score of each perturbed answer, in the order of the verdicts."""
    not_applied: tuple[NotApplied, ...]
    extra: bool = False
    """As of `Case`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A violation with the smallest violation that was found within it."""

    model: str
    seed: int
    """The seed of the trial."""
    violated: Violated
    minimal: Violated
    """With some of its moves, or with milder ones: an order of statements nearer to the original."""
    queries: int
    """Number of texts that the search asked, those in the cache included, without the original and the
    violation."""
    smallest: bool
    """True: all smaller sets of moves were tried, and none changes the answer. False: no single move can be
    left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A violation that the model does not show any more."""

    model: str
    seed: int
    violated: Violated
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """The result of a worst-case search on one sample and one model."""

    model: str
    seed: int
    sample: Sample
    strategy: str
    budget: int
    """Number of texts that it was allowed to ask."""
    queries: int
    """Number of texts that it asked, without the original; the search stops at the first violation."""
    violated: Violated | None
    certified: bool
    """Whether every perturbation was tried, and none changes the answer."""
    reason: str
    """Why nothing was tried; empty if something was."""

    @property
    def searched(self) -> "Searched":
        """What the summary counts."""
        return Searched(
            model=self.model,
            sample=self.sample.id,
            strategy=self.strategy,
            budget=self.budget,
            queries=self.queries,
            violated=self.violated is not None,
            certified=self.certified,
            reason=self.reason,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """A worst-case search without its texts. The fields mean the same as in `Attacked`."""

    model: str
    sample: str
    """The id."""
    strategy: str
    budget: int
    queries: int
    violated: bool
    certified: bool
    reason: str
