"""The protocols and records that models, tasks, answers and sources of labels implement.

The driver (`codeaudit.audit.run`) and the reports call them. What not every model or task can do is a method
with a default on `BaseModel` or `Task`. A model knows no transform and no task; a task knows no transform and
no model. What a model has to know of a task is the kind of its answers (`AnswerKind`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Final, Literal, Protocol, TypeAlias, TypeVar

from codeaudit.audit.corpora.records import Corpus, LabelColumn, Note, Prepare
from codeaudit.audit.probabilities import Scale
from codeaudit.audit.prompts import PLAIN, Prompt, Wording, knowing, worded
from codeaudit.audit.records import Answer, Case, Failed, Predicted, Prediction, Query
from codeaudit.audit.records import as_label as as_label
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.language import DEFAULT
from codeaudit.transforms.records import Outcome, Perturbed, Sample, Sides
from codeaudit.transforms.registration import overrides

T = TypeVar("T")


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
            # `True`, `1` and `1.0` are one class of a classifier: all become "1.0", as `spellings` has it.
            answer = str(float(answer))
        if not isinstance(answer, str):
            return None
        text = answer.strip().lower()
        return text if text in self.words else self.spellings.get(text)

    @property
    def accepted(self) -> str:
        """In words, for a message."""
        return f"one of the words {', '.join(self.words)}"


@dataclass(frozen=True, slots=True)
class OneNumber:
    """A finite number that a network with one output can give."""

    accepted: ClassVar = "a number"


@dataclass(frozen=True, slots=True)
class NameOfCode:
    """A name, compared as a set of subtokens. In the source a placeholder stands for it."""

    placeholder: Callable[[str, str], str | None]
    """From a source and its language to the placeholder; `None` if the source has none."""
    accepted: ClassVar = "a name or a list of its subtokens"


@dataclass(frozen=True, slots=True)
class FreeText:
    """Any text: a value, or code."""

    empty: str = ""
    """What an empty text is, if it is no answer: `no line`."""

    @property
    def accepted(self) -> str:
        """In words, for a message."""
        return f"a text, and an empty text is {self.empty}" if self.empty else "a text"


@dataclass(frozen=True, slots=True)
class TextLikelihood:
    """A number that only a language model can give, because it sums over the probabilities of all tokens."""

    accepted: ClassVar = "a number"


@dataclass(frozen=True, slots=True)
class OneLabel:
    """One of the labels of a corpus, case-sensitive."""

    labels: tuple[str, ...]
    """Empty before the corpus is read."""

    @property
    def accepted(self) -> str:
        """In words, for a message."""
        labels = ", ".join(f"{label:.40}" for label in self.labels[:8]) + (
            ", …" if len(self.labels) > 8 else ""
        )
        return f"one of the labels {labels}" if labels else "a label"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates of the query by their numbers from 1, the best first; it need not name all."""

    accepted: ClassVar = "the number of a candidate, or a list of their numbers, the best first"


AnswerKind: TypeAlias = OneWordOf | OneLabel | OneNumber | NameOfCode | FreeText | TextLikelihood | Ranking
CLOSED: Final = (OneWordOf, OneLabel)
"""The kinds of answers that are one of a closed set."""


NO_LABELS: Final = "none"
"""The value of `--labels` for no labels at all."""

Expectation: TypeAlias = Literal["same", "other", "unknown"]
"""Whether the right answer stays the same under a perturbation, becomes another one, or may do either."""


SameAnswer: TypeAlias = Callable[[Answer, Answer], bool | None]
"""A rule by which two answers count as the same; `None` if it does not decide."""


class AnswerStream(Protocol):
    """Queries under way to one model, and their answers, each as soon as it is there."""

    def ask(self, queries: Sequence[Query]) -> None:
        """Ask more queries. They are numbered in the order in which the stream is asked, from 0.

        Raises:
            ModelError: the model cannot answer one of them; none was asked.
        """
        ...

    def arrived(self) -> list[tuple[int, Prediction]]:
        """The next answers, with the numbers of their queries; waits for one. Empty if none is under way.

        Raises:
            ModelError: no further query will be answered. Every answer that arrived was given before.
        """
        ...

    def stop(self) -> list[tuple[int, Prediction]]:
        """Drop what is under way, and end. Gives the answers that arrived since the last call of `arrived`.
        It also repeats those of that call, in case an interrupt lost them.
        """
        ...


class BaseModel(Protocol):
    """Base of models, with a default for each ability that a model may lack."""

    __slots__ = ()

    # A failure is a value, because one query that is too long must not lose the answers to its whole batch.
    @abstractmethod
    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query, in the same order. A query that fails gives a `Failed`, not an exception.

        Raises:
            ModelError: the model cannot answer any query (it is gone, or does not fit the task).
        """

    @property
    def tasks(self) -> frozenset[str]:
        """Names of the tasks that it accepts, if they are more than `Model.task`; that one included."""
        return frozenset()

    @property
    def samples(self) -> int:
        """Number of answers that it draws for each query. Of several, the answer is a tuple of texts."""
        return 1

    @property
    def scale(self) -> Scale:
        """What its scores are; empty if they cannot be read as probabilities."""
        return ""

    def unreadable(self, query: Query) -> Failed | None:
        """The failure that `predict` would give because of the text alone; `None` if it would be read.

        A draw of movable samples leaves out what a model of the run cannot read.
        """
        return None

    @property
    def at_once(self) -> int:
        """Number of batches that keep it busy, in threads, processes or on other machines; 0 for one."""
        return 0

    def answers(self, batches: Iterable[Sequence[Query]]) -> Iterator[tuple[int, list[Prediction]]]:
        """The answers to each batch with its number from 0, in the order in which they arrive.

        Raises:
            ModelError: as `predict`.
        """
        for number, queries in enumerate(batches):
            yield number, self.predict(queries)

    def stream(self) -> AnswerStream:
        """A stream of queries, of a model that answers each query by itself and many at once, as endpoints
        do. The driver asks it on without waiting for whole batches. One stream at a time is open.

        Raises:
            ModelError: no query will be answered.
        """
        raise TypeError(f"{type(self).__name__} has no stream")

    @property
    def ahead(self) -> int:
        """How many queries a stream is asked before any answer is needed, as answers may come hours later; 0
        if they come at once. It answers a few queries at once by `predict`."""
        return 0

    @property
    def usage(self) -> Mapping[str, object]:
        """Requests, tokens and cost so far, for the manifest; empty before the first request."""
        return {}

    @property
    def bill(self) -> str:
        """The usage as one line for the user."""
        return ""

    def forecast(self, query: Query, reply: int) -> tuple[int, int, int]:
        """Requests, tokens of prompts, and tokens of replies that a query will need, if a reply has `reply`
        tokens.

        Raises:
            ModelError: the model cannot answer the query.
        """
        return 0, 0, 0

    def cost(self, into: int, out: int) -> float | None:
        """The cost of so many tokens; `None` if nobody told prices."""
        return None

    def has_learned(self, source: str, language: str) -> bool:
        """Whether it learned from a near copy of this text (`codeaudit.audit.training.learned`)."""
        return False

    @property
    def repeats(self) -> int | None:
        """Of a model that reads its answers from a file: the largest number of repeats of an input in it."""
        return None

    def fit(self, queries: Iterable[Query], *, part: bool = False) -> str:
        """One line for the user: how many of these queries have an answer in the file, and how many of its
        answers are unused.

        The queries may be only a `part` of a run: then other answers belong to other parts.

        Raises:
            ModelError: none of the queries of a whole run has an answer.
        """
        return ""


class Model(BaseModel, Protocol):
    """Answers queries. The driver batches by length and caches; wrappers retry and throttle."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The SPEC with which the user named it; unique within a run."""

    @property
    @abstractmethod
    def task(self) -> str | None:
        """The name of the task that the model was made for; `None` if it accepts every task."""

    @property
    @abstractmethod
    def parameters(self) -> int | None:
        """Number of weights; `None` if unknown."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Hash of everything that decides its answers: weights, tokenizer, decoding, precision.

        The cache shares answers between models with equal fingerprints. One that begins with `volatile:` is
        shared within one run only, because it does not cover everything that decides the answers.
        """

    @property
    @abstractmethod
    def noise(self) -> float:
        """Largest change of a score that arithmetic alone may cause (reduction order, batch composition)."""


def is_rolling(model: BaseModel) -> bool:
    """Whether a model answers queries in a stream (`BaseModel.stream`)."""
    return overrides(model, BaseModel.stream)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRequest:
    """What the command line asks of a task's labels."""

    task: "Task"
    spec: str | None
    """The value of `--labels`."""
    cache: Path | None
    """A folder for results of tools."""
    note: Note | None
    """Receives lines about work that takes long."""

    def refuse(self, why: str) -> None:
        """Refuse a `--labels`; `why` says where the labels of the task are.

        Raises:
            UsageError: `--labels` names a source.
        """
        if self.spec is not None:
            raise UsageError(f"--labels {self.spec}: {why}")


class LabelSource:
    """Labels as the corpus brings them; variants keep the label of their sample. Base of all sources."""

    __slots__ = ()

    @property
    def column(self) -> LabelColumn | None:
        """The column that a table is read with."""
        return None

    @property
    def about(self) -> Mapping[str, object]:
        """Where the labels come from, for manifests and model cards."""
        return {}

    @property
    def follows_variants(self) -> bool:
        """Whether a variant may have another label than its sample."""
        return False

    def examples(self, source: Corpus, task: "Task") -> tuple[Corpus, Prepare]:
        """The corpus to draw from, and the function that makes an example of a sample, or gives the reason
        against it.
        """
        return source, task.prepare

    def settled(self, samples: Iterable[Sample]) -> "LabelSource":
        """The source for a corpus with these samples."""
        return self

    def filled(self, samples: Sequence[Sample]) -> tuple[Sample, ...]:
        """The samples with their labels; `None` where there is none.

        Raises:
            CannotAudit: a tool fails as a whole.
        """
        return tuple(samples)

    def relabelled(self, cases: Iterator[Case]) -> Iterator[Case]:
        """The cases with the label of each variant; `None` where it is not known.

        Raises:
            CannotAudit: a tool fails as a whole, or this machine cannot contain programs.
        """
        return cases

    def __str__(self) -> str:
        return ", ".join(f"{key} {value}" for key, value in self.about.items()) or NO_LABELS


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(ABC):
    """What is asked of a model about a sample, how labels are read, and when two answers are the same.

    The record holds every fact about a task. The driver, models, reports and the command line read them here
    and know no task by name. Implementers are frozen dataclasses that extend this class, or `ExactMatch` if
    only equal answers are right (`codeaudit.audit.tasks.scoring`).
    """

    name: str
    """The name on the command line. A plug-in is given the name under which it was asked for."""
    question: str
    """What is asked, as one line for people."""
    # A task names the kind, and models that work differently for different kinds read it here: a
    # classifier, a mask filler, a fake. So no model has to know a task by name.
    answers: AnswerKind
    """What an answer is."""
    score_name: str
    """The name of the score in tables: `f1`, `mape`, …"""
    better: Literal["higher", "lower"] = "higher"
    """Which scores are better."""
    prompt: Prompt | None = None
    """What models of text are asked; `None` if they cannot answer."""
    wordings: Mapping[str, Wording] = field(default_factory=dict)
    """Other ways to ask the same, by name (`--prompt`)."""
    noun: str | None = None
    """What samples are called in messages; `None`: functions."""
    corpus: str = "stdlib"
    """The SPEC of the corpus of a run that names none; empty if the user must name one."""
    labels: Callable[[LabelRequest], LabelSource] | None = None
    """Where labels come from; `None`: from the corpus, or from a column of a table."""
    reacts: bool = True
    """Whether a good model answers otherwise under controls. False where another meaning often has the same
    right answer (the cycles of a block): a gate then expects no reaction."""
    language: str = DEFAULT
    """The language in which a network whose checkpoint names no language is traced."""
    controls: tuple[str, ...] | None = None
    """The controls of a run; `None` for the controls of the language and the twins of what a user names."""
    adds: tuple[str, ...] = ()
    """Transforms of samples, no rewritings of code, that every run of the task adds: `swap-sides`."""
    leaves_out: Mapping[str, str] = field(default_factory=dict)
    """Families of transforms that a run takes only where the user names them, each with the reason."""
    prose: bool = False
    """Whether words in the code say what is wanted, so that transforms of the kind `prose` fit."""
    beside: bool = False
    """Whether a query has more than a source: a second unit, candidates, or a query in words. `prepare` puts
    them into the sample (`Sample.other`, `candidates`, `text`)."""
    edits_decide: bool = False
    """Whether what is known of an edit decides the right answer to its variant (`holds`). Reports then show
    how many answers to variants are right, and how well scores tell it."""
    tells_apart: str = ""
    """Where edits decide: the answer that calls a variant another program (`different`). Reports count it."""
    finding: str = ""
    """The answer that reports something, of two: `vulnerable`. Edits that lose it, or bring it, are counted
    apart. Empty: neither of them does."""
    told: str = ""
    """What reports say of how answers are graded, if a reader must know; a sentence without its full stop."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Words of models, and of columns of labels, with the word of this task that each means
    (`--label-map`)."""
    choices: ClassVar[tuple[Sides, ...]] = ()
    """Of a task about a pair or candidates: which units can be rewritten, the usual choice first."""
    version: str = ""
    """The version of a plug-in. It changes whenever its questions or its reading of answers do. Answers to
    a plug-in without one are remembered within one run only, because nothing shows whether it has changed."""

    @abstractmethod
    def prepare(self, sample: Sample) -> Sample | str:
        """The sample as the task asks about it (for function names: label read, name masked), or the reason
        why it is no example of the task.
        """

    @abstractmethod
    def normalise(self, answer: object) -> Answer | None:
        """An answer from outside in the task's normal form; `None` if it is malformed."""

    def refuses(self, language: str) -> str:
        """Why no sample of this language is an example; empty if some may be. A corpus of one language is
        then not read."""
        return ""

    def meant(self, answer: T) -> T | str:
        """An answer or a label from outside, with the word of the task in the place of a word of `words`."""
        return self.words.get(as_label(answer) or "", answer) if self.words else answer

    def mapped(self, words: Mapping[str, str]) -> "Task":
        """The task with the words of `--label-map`, which its prompt reads, too."""
        if not words:
            return self
        return replace(self, words=words, prompt=None if self.prompt is None else knowing(self.prompt, words))

    def speaking(self, language: str) -> "Task":
        """The task for samples of this language: how it asks, and how it reads answers. By default it is the
        same task for all."""
        return self

    def asked(self, name: str) -> Prompt | None:
        """The prompt of this name; `None` if the task has none."""
        if name == PLAIN or self.prompt is None:
            return self.prompt
        wording = self.wordings.get(name)
        return None if wording is None else worded(self.prompt, wording)

    def fitted(self, labels: Sequence[str]) -> "Task":
        """The task for a corpus with these labels; by default the same task."""
        return self

    @property
    def accepted(self) -> str:
        """What `normalise` takes, in words, for a message about a malformed answer."""
        return self.answers.accepted

    @abstractmethod
    def score(self, answer: Answer, sample: Sample) -> float | None:
        """The score of one answer against the sample's label; `None` without a label."""

    def same(self, before: Predicted, after: Predicted) -> bool:
        """The criterion: whether two answers count as the same. By default equal ones do."""
        return before.answer == after.answer

    def holds(self, before: Predicted, after: Predicted) -> bool:
        """Whether the answer to a variant holds beside the original's. By default if both count as the
        same.

        A task whose right answer is known for each variant asks for that answer. Answers to the unchanged
        input are compared by `same`.
        """
        return self.same(before, after)

    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """What a perturbation does to the right answer.

        By default a control changes it and every other perturbation keeps it. Tasks whose right answer
        depends on more than the meaning of the code compare the label of the perturbed sample.
        """
        return "other" if perturbed.kind == "control" else "same"

    def corpus_score(self, answers: Sequence[tuple[Answer, Sample]]) -> float | None:
        """The score over a corpus; `None` without labels. By default that of `whole` over the `part`s."""
        parts = [part for answer, sample in answers if (part := self.part(answer, sample)) is not None]
        return self.whole(list(zip(*parts, strict=True))) if parts else None

    def part(self, answer: Answer, sample: Sample) -> tuple[float, ...] | None:
        """What an answer adds to the score over a corpus, as numbers; `None` if it does not count.

        By default its score. A summary keeps these numbers in place of answers and samples.
        """
        score = self.score(answer, sample)
        return None if score is None else (score,)

    def whole(self, columns: Sequence[Sequence[float]]) -> float | None:
        """The score over a corpus from the parts of at least one answer: first numbers, second numbers, …

        By default the mean. A task whose score is no function of such parts overrides `corpus_score`.
        """
        # Not every score can be averaged: the F1 of a corpus is computed from summed counts.
        (scores,) = columns
        return sum(scores) / len(scores)

    def graded(self, predicted: Predicted, asked: str, sample: Sample) -> Prediction:
        """The answer with its grade, or why it has none; by default the answer itself. The cache keeps
        answers without grades.

        `asked` is the source that the model saw; the sample has the label.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        return predicted

    def attempts(self, answer: Answer) -> tuple[bool, ...]:
        """Whether each attempt of an answer succeeded (pass@k). Answers of most tasks are no attempts."""
        raise NotImplementedError

    def showing(self, share: float) -> "Task":
        """The task that shows another share of each function's statements, from 0 to 1. Most tasks show
        all."""
        raise NotImplementedError

    def askable(self, sample: Sample, outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
        """The outcomes of a sample; by default as they are. Variants that cannot be asked about become
        `NotApplied`: the shown part did not change, or another answer is right.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        return tuple(outcomes)

    def rewriting(self, sides: Sides) -> "Task":
        """The task with these units rewritten, one of `choices`."""
        raise NotImplementedError

    def likeness(self, answers: Sequence[tuple[Answer, Sample]]) -> Mapping[str, float]:
        """How close wrong answers are to the right ones over a corpus, by measures from 0 to 1; by default
        nothing is measured."""
        return {}

    @property
    def criteria(self) -> Mapping[str, SameAnswer]:
        """Several rules for when two answers are the same, by their names; the first is `same`. Reports
        count by each."""
        return {}

    def judged_by(self, name: str, same: SameAnswer) -> "Task":
        """The task with one more rule for when two answers are the same: what a model says, the judge. The
        answers of most tasks need none."""
        raise NotImplementedError
