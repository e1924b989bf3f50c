"""The seams that models and tasks implement. Neither knows a transform; neither knows the other's insides."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from codeaudit.audit.records import Answer, Predicted, Prediction, Query
from codeaudit.transforms.records import Outcome, Perturbed, Sample

Expectation: TypeAlias = Literal["same", "other", "unknown"]
"""What becomes of the right answer under a perturbation."""


class Model(Protocol):
    """Anything that answers queries. Batching by length, caching and retrying belong to the driver."""

    @property
    def name(self) -> str:
        """As the user named it."""
        ...

    @property
    def task(self) -> str | None:
        """The task it was made for; `None` if it takes any."""
        ...

    @property
    def parameters(self) -> int | None:
        """How many weights it has; `None` if unknown."""
        ...

    @property
    def fingerprint(self) -> str:
        """A hash over everything that decides its answers: weights, tokenizer, decoding, precision."""
        ...

    @property
    def noise(self) -> float:
        """How far its scores may move by arithmetic alone (reduction order, batch composition)."""
        ...

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query, in the same order. A failed query is a `Failed`, never an exception.

        Raises:
            ModelError: the model as a whole cannot answer (it is gone, or does not fit the task).
        """
        ...


@runtime_checkable
class Written(Protocol):
    """What a model has besides if its answers stand written: to ask it again would measure no noise."""

    @property
    def once(self) -> str:
        """Why a repeated query has no answer; counts together."""
        ...

    def fit(self, queries: Iterable[Query]) -> str:
        """How well its answers and these queries cover each other, as a line for people.

        Raises:
            ModelError: it answers none of them.
        """
        ...


@runtime_checkable
class Metered(Protocol):
    """What a model has besides if every answer costs something."""

    @property
    def usage(self) -> Mapping[str, object]:
        """What asking it took so far, as a manifest keeps it; empty where nothing was asked."""
        ...

    @property
    def bill(self) -> str:
        """The same as a line for people."""
        ...


@runtime_checkable
class Rechecked(Protocol):
    """What a model has besides if repeated queries go another way, which has to lead to the same answers."""

    def again(self, queries: Sequence[Query]) -> list[Prediction]:
        """As `predict`, the other way.

        Raises:
            ModelError: as `predict`; also where the other way is not one.
        """
        ...


@runtime_checkable
class Versatile(Protocol):
    """What a model has besides if it takes more tasks than its own."""

    @property
    def tasks(self) -> frozenset[str]:
        """All of them, its own included."""
        ...


class Task(Protocol):
    """What is asked, how a label is read, and when two answers are the same."""

    @property
    def name(self) -> str:
        """As on the command line."""
        ...

    @property
    def score_name(self) -> str:
        """`f1`, `mape`, …"""
        ...

    def prepare(self, sample: Sample) -> Sample | str:
        """The sample as this task asks about it (for function names: label read off, name masked).

        A string is the reason why this sample is no example of the task.
        """
        ...

    def normalise(self, answer: object) -> Answer | None:
        """An answer from outside in the task's normal form; `None` where it is malformed."""
        ...

    def same(self, before: Predicted, after: Predicted) -> bool:
        """Whether two answers count as the same one."""
        ...

    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """What becomes of the right answer: by the kind of the perturbation, or by the label that the
        perturbed sample carries where the task's answer depends on more than the meaning.
        """
        ...

    def score(self, answer: Answer, sample: Sample) -> float | None:
        """The quality of one answer against the sample's label; `None` without a label."""
        ...

    def corpus_score(self, answers: Sequence[tuple[Answer, Sample]]) -> float | None:
        """The quality over a corpus (for function names the micro-averaged F1); `None` without labels."""
        ...


@runtime_checkable
class Grading(Protocol):
    """What a task has besides if an answer is judged by what it does. Remembered are the answers as given."""

    def graded(self, predicted: Predicted, asked: str, sample: Sample) -> Predicted:
        """The answer with what came of it. `asked` is the text that was shown; the sample has the label.

        Raises:
            CannotAudit: nothing can be executed on this machine.
        """
        ...


@runtime_checkable
class Attempted(Protocol):
    """What a task has besides if its answers are attempts that succeed or fail."""

    def attempts(self, answer: Answer) -> tuple[bool, ...]:
        """Whether each attempt of an answer succeeded."""
        ...


@runtime_checkable
class Sampling(Protocol):
    """What a model has besides if it may answer a query several times: its answer is then a list of texts."""

    @property
    def samples(self) -> int:
        """How many answers a query has."""
        ...


@runtime_checkable
class Choosy(Protocol):
    """What a task has besides if models go on with the beginning of a text: not every variant has another
    beginning, or the same right answer.
    """

    def showing(self, share: float) -> Task:
        """The task with another share of each function's statements shown, from 0 to 1."""
        ...

    def settled(self, sample: Sample, outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
        """The outcomes of a sample, those aside that cannot be asked about: they are not applied.

        Raises:
            CannotAudit: nothing can be executed on this machine.
        """
        ...


@runtime_checkable
class Nearly(Protocol):
    """What a task has besides if a wrong answer may be near to the right one."""

    def likeness(self, answers: Sequence[tuple[Answer, Sample]]) -> Mapping[str, float]:
        """How near the answers are, over a corpus, by measures from 0 to 1."""
        ...
