"""The protocols that models and tasks implement.

The driver (`codeaudit.audit.run`) and the reports call them. `Model` and `Task` are required. The others are
optional abilities: the driver asks with `isinstance` whether a model or a task has one. A model knows no
transform and no task; a task knows no transform and no model.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from codeaudit.audit.records import Answer, Predicted, Prediction, Query
from codeaudit.transforms.records import Outcome, Perturbed, Sample

Expectation: TypeAlias = Literal["same", "other", "unknown"]
"""Whether the right answer stays the same under a perturbation, becomes another one, or may do either."""


class Model(Protocol):
    """Answers queries. The driver batches by length and caches; wrappers retry and throttle."""

    @property
    def name(self) -> str:
        """The SPEC with which the user named it; unique within a run."""
        ...

    @property
    def task(self) -> str | None:
        """The name of the task that the model was made for; `None` if it accepts every task."""
        ...

    @property
    def parameters(self) -> int | None:
        """Number of weights; `None` if unknown."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash of everything that decides its answers: weights, tokenizer, decoding, precision.

        The cache shares answers between models with equal fingerprints. One that begins with `volatile:` is
        shared within one run only, because it does not cover everything that decides the answers.
        """
        ...

    @property
    def noise(self) -> float:
        """Largest change of a score that arithmetic alone may cause (reduction order, batch composition)."""
        ...

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query, in the same order. A query that fails gives a `Failed`, not an exception.

        Raises:
            ModelError: the model cannot answer any query (it is gone, or does not fit the task).
        """
        ...


@runtime_checkable
class RecordedAnswers(Protocol):
    """Optional: a model that reads its answers from a file. Asking it twice would measure no noise."""

    @property
    def once(self) -> str:
        """The reason with which every repeated query is recorded as failed."""
        ...

    def fit(self, queries: Iterable[Query]) -> str:
        """One line for the user: how many of these queries have an answer, and how many answers are unused.

        Raises:
            ModelError: none of the queries has an answer.
        """
        ...


@runtime_checkable
class HasUsage(Protocol):
    """Optional: a model whose answers cost requests, tokens or money."""

    @property
    def usage(self) -> Mapping[str, object]:
        """Requests, tokens and cost so far, for the manifest; empty before the first request."""
        ...

    @property
    def bill(self) -> str:
        """The usage as one line for the user."""
        ...


@runtime_checkable
class SecondComputation(Protocol):
    """Optional: a model with a second, equivalent computation. The driver uses it for repeated queries."""

    def again(self, queries: Sequence[Query]) -> list[Prediction]:
        """As `predict`, by the second computation.

        Raises:
            ModelError: as `predict`; also if the two computations are not equivalent.
        """
        ...


@runtime_checkable
class SeveralTasks(Protocol):
    """Optional: a model that accepts more tasks than the one in `Model.task`."""

    @property
    def tasks(self) -> frozenset[str]:
        """Names of all accepted tasks, that of `Model.task` included."""
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
class GradesByExecution(Protocol):
    """What a task has besides if an answer is judged by what it does. Remembered are the answers as given."""

    def graded(self, predicted: Predicted, asked: str, sample: Sample) -> Predicted:
        """The answer with what came of it. `asked` is the text that was shown; the sample has the label.

        Raises:
            CannotAudit: nothing can be executed on this machine.
        """
        ...


@runtime_checkable
class HasAttempts(Protocol):
    """What a task has besides if its answers are attempts that succeed or fail."""

    def attempts(self, answer: Answer) -> tuple[bool, ...]:
        """Whether each attempt of an answer succeeded."""
        ...


@runtime_checkable
class SamplesAnswers(Protocol):
    """Optional: a model that can draw several answers to one query; the answer is then a tuple of texts."""

    @property
    def samples(self) -> int:
        """Number of answers that it draws for each query."""
        ...


@runtime_checkable
class ContinuesPrompt(Protocol):
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
class GivesPartialCredit(Protocol):
    """What a task has besides if a wrong answer may be near to the right one."""

    def likeness(self, answers: Sequence[tuple[Answer, Sample]]) -> Mapping[str, float]:
        """How near the answers are, over a corpus, by measures from 0 to 1."""
        ...
