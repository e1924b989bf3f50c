"""The driver of an audit: asks one model about cases and yields a verdict for each variant.

The Python API (`codeaudit.run`), `assert_invariant` and the search for violations call it. It batches
queries, asks equal queries once and keeps answers in a memory, so that models need not. It checks answers.
Guarantee: the verdicts on a sample depend on that sample and the model alone, not on batch size, cache or the
other samples. The company in which a query is repeated depends on the samples of its bucket alone, so that
shards measure the noise of the whole run (`codeaudit.audit.engines.shards`). The driver knows no
concrete model, task or transform, and it writes no files.
"""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from math import isfinite
from typing import Any, Final, NamedTuple, Protocol, TypeVar, get_args

from typing_extensions import override

from codeaudit.audit import checks
from codeaudit.audit.engines.shards import bucket_of
from codeaudit.audit.interface import (
    CLOSED,
    Expectation,
    Model,
    OneLabel,
    Task,
    as_label,
    is_rolling,
)
from codeaudit.audit.probabilities import Scale, shift
from codeaudit.audit.prompt_cut import shown_of
from codeaudit.audit.prompts import WHOLE, QuestionPrompt
from codeaudit.audit.records import (
    ANSWER_CHANGES,
    ANSWER_STAYS,
    ANSWER_UNKNOWN,
    CUT_OFF,
    EXCUSES,
    MALFORMED,
    NOT_REPEATED,
    UNREAD,
    Answer,
    Audited,
    Case,
    Failed,
    Held,
    NetworkQuery,
    Predicted,
    Prediction,
    Query,
    RawReply,
    Repeat,
    Unjudged,
    Verdict,
    Violated,
    malformed,
)
from codeaudit.audit.replies import ALONE
from codeaudit.transforms.errors import CannotAudit, ModelError, WordsError
from codeaudit.transforms.records import KEEPS_TEXT, NotApplied, Perturbed, Sample
from codeaudit.transforms.registration import overrides

_T = TypeVar("_T")

WINDOW: Final = 4096
"""Number of queries that are sorted by length together; bounds the memory of a run over a large corpus."""
ROLLING_WINDOW: Final = 512
"""The same for a model that answers in any order: the number that is looked up in the memory together."""
AHEAD: Final = 1024
"""Queries that such a model is asked before the answers to them are needed; more than run at once."""
BUSY: Final = 16
"""Batches in a window for each that a model answers at once."""
GROUP: Final = 4
"""Number of batches of repeated queries of one bucket that are sorted by length together."""

NOISE_FACTOR: Final = 10.0
"""A changed answer whose margin is at most this many times the model's arithmetic noise is unjudged."""

EXPECTATIONS: Final[tuple[str, ...]] = get_args(Expectation)

NUMERIC_NOISE: Final = "numeric noise"
FINAL: Final = frozenset({MALFORMED, CUT_OFF})
"""Failures that are kept in the memory: the model did answer, and a repeated query would fail again."""


class AnswerMemory(Protocol):
    """Keeps the answers of one model."""

    def recall(self, queries: Sequence[Query], *, again: bool) -> Mapping[Query, Prediction]:
        """The known answers, by query; failures in `FINAL` are known answers, too.

        With `again`, only answers to repeated queries of this run: they measure the model's noise, so the
        answers of another run must not be used.
        """
        ...

    def remember(self, answers: Mapping[Query, Prediction], *, again: bool) -> None:
        """Store answers durably; the driver calls it after every batch."""
        ...


class AnswerMonitor(Protocol):
    """Receives the number of answers that have arrived."""

    def answered(self, count: int, *, recalled: bool) -> None:
        """`count` more queries were answered: from memory if `recalled`, else by the model."""
        ...

    def malformed(self, message: str) -> None:
        """The model gave an answer that the task does not take; `message` says which, and what it takes."""
        ...

    def expect(self, total: int) -> None:
        """So many answers are expected in all, more than was known at first."""
        ...


class NoMonitor(AnswerMonitor):
    """Ignores progress: nobody watches, or the caller counts other units than answers."""

    @override
    def answered(self, count: int, *, recalled: bool) -> None:
        """Do nothing."""

    @override
    def malformed(self, message: str) -> None:
        """Do nothing."""

    @override
    def expect(self, total: int) -> None:
        """Do nothing."""


class RunProgress(Protocol):
    """Tells the user about long work. The command line shows it on stderr."""

    def note(self, message: str) -> None:
        """Tell one line of text."""
        ...

    def counting(
        self, label: str, total: int | None, *, unit: str = "answers"
    ) -> AbstractContextManager[AnswerMonitor]:
        """Show how many units are done while the context lasts. `total` is `None` if unknown."""
        ...


class SilentProgress(RunProgress):
    """Tells nothing."""

    @override
    def note(self, message: str) -> None:
        """Do nothing."""

    @override
    def counting(
        self, label: str, total: int | None, *, unit: str = "answers"
    ) -> AbstractContextManager[AnswerMonitor]:
        """Show nothing."""
        return nullcontext(NoMonitor())


STRANGE: Final = 20
"""So many answers without a usable one show that a model speaks of other labels."""


class Vocabulary:
    """Counts a model's answers to a task with a closed set of labels until one of them is a label."""

    def __init__(self) -> None:
        self.known = False
        """Whether one was."""
        self._strange = Counter[str]()

    def check(self, predictions: Iterable[Prediction], setup: "AuditSetup") -> None:
        """Look at more answers.

        Raises:
            WordsError: no answer so far is a label of the task; the message has both vocabularies.
        """
        if self.known or not isinstance(setup.task.answers, CLOSED):
            return
        for prediction in predictions:
            self.known = self.known or isinstance(prediction, Predicted)
            if isinstance(prediction, Failed) and prediction.given:
                self._strange[prediction.given] += 1
        # Fakes answer alike whatever they are asked.
        fake = setup.model.name.startswith("fake/")
        if not self.known and not fake and self._strange.total() >= STRANGE:
            strange = ", ".join(answer for answer, _ in self._strange.most_common(5))
            raise WordsError(
                f"none of {self._strange.total()} answers of {setup.model.name!r} is a label: "
                f"it says {strange}, and the task takes {setup.task.answers.accepted}; start again with "
                "--label-map WORD=LABEL,…, which says what each of its words means"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeating:
    """How often the unchanged input of a sample is asked again. The default is as often as the suite says."""

    most: int | None = None
    """The largest number of repeats of a sample; `None` for all in the suite."""
    extra: bool = True
    """Whether samples that were drawn in addition are repeated, too."""

    def has(self, number: int, *, extra: bool) -> bool:
        """Whether the repeat of this number, from 0, is asked of a sample."""
        return (self.extra or not extra) and (self.most is None or number < self.most)


ALL: Final = Repeating()
"""All that the suite holds."""
ONCE: Final = Repeating(most=1, extra=False)
"""The first stage of a local model: one repeat of each sample of the plain draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSetup:
    """One model, with everything that the driver needs to audit it."""

    model: Model
    task: Task
    memory: AnswerMemory
    monitor: AnswerMonitor
    batch_size: int
    repeating: Repeating = ALL
    vocabulary: Vocabulary = field(default_factory=Vocabulary, compare=False, repr=False)


class QueryBatch(NamedTuple):
    """Queries that go to the model in one call."""

    queries: Sequence[Query]
    company: int = 0
    """The answers to this many queries at the start are thrown away; they only fill the batch."""


def audit(
    cases: Iterable[Case], setup: AuditSetup, *, asked: Mapping[Query, Prediction] | None = None
) -> Iterator[Audited]:
    """One record per case, in the order of the cases.

    `asked` is what `ask_again` returned, if the repeated queries of all cases were asked before; then they
    are not counted anew. Without it the company of a repeated query also depends on the window of cases.

    Raises:
        ModelError: the model cannot answer at all, or gives another number of answers than queries.
    """
    if is_rolling(setup.model):
        yield from _rolled(cases, setup)
        return
    for window in _windows(cases, _window(setup)):
        # Equal texts are one query: many variants of short functions are equal, and answers cost money.
        firsts = list(dict.fromkeys(query for case in window for query in queries(case, setup.task)))
        repeated = list(
            dict.fromkeys(repeat for case in window for repeat in repeats(case, setup.task, setup.repeating))
        )
        if setup.model.parameters is None and setup.model.repeats is None:
            answers = _interleaved(firsts, repeated, setup)
        else:
            answers = {**first_answers(firsts, setup), **_second_answers(repeated, setup, asked)}
        for case in window:
            yield _audited(case, answers, setup)


def queries(case: Case, task: Task) -> tuple[Query, ...]:
    """The queries of a case, the original first. The identity is left out: see `repeats`."""
    variants = [outcome for outcome in case.outcomes if isinstance(outcome, Perturbed)]
    others = [asked_of(case.sample, variant, task) for variant in variants if variant.kind != "identity"]
    return (query_of(case.sample, case.sample.source, task), *others)


def repeats(case: Case, task: Task, repeating: Repeating = ALL) -> tuple[Repeat, ...]:
    """The repeated queries of a case: one for each identity outcome that the run asks."""
    return tuple(
        repeat_of(case.sample, outcome.source, task, outcome.variant)
        for outcome in case.outcomes
        if isinstance(outcome, Perturbed)
        and outcome.kind == "identity"
        and repeating.has(outcome.variant, extra=case.extra)
    )


def in_time(case: Case, setup: AuditSetup) -> list[Query]:
    """The distinct queries of a case: the original and its repeats spread among the variants.

    A model that changes with the hour, as a hosted one may, then changes for all of them alike.
    """
    first, *variants = dict.fromkeys(queries(case, setup.task))
    again = dict.fromkeys(repeats(case, setup.task, setup.repeating))
    return _spread(variants, [first, *again])


def _spread(many: Sequence[_T], few: Sequence[_T]) -> list[_T]:
    """Both sequences in their orders, evenly among one another."""
    places = [
        ((number + 0.5) / len(part), entry) for part in (many, few) for number, entry in enumerate(part)
    ]
    return [entry for _, entry in sorted(places, key=lambda place: place[0])]


def batches(rest: Sequence[Query], size: int) -> Iterator[QueryBatch]:
    """Batches of queries of similar length, longest first: little padding, and memory fails early."""
    # The text decides among equal lengths, so that batches do not depend on the order of the corpus.
    ordered = sorted(rest, key=lambda query: (-query.size, query.units))
    for start in range(0, len(ordered), size):
        yield QueryBatch(ordered[start : start + size])


def _other_size(size: int) -> int:
    return size // 2 + 1


def rebatches(company: Sequence[Query], size: int, *, padded: bool) -> Iterator[QueryBatch]:
    """Batches of another size than those of `batches`, with each query at another position in its batch.

    With `padded`, and if `size` allows it, a query that would be alone is asked beside another one, or else
    beside itself, because a batch of one has another shape.
    """
    # Noise is what another batch size and position change: both alter the order of reductions.
    for batch in batches(company, _other_size(size)):
        if len(batch.queries) > 1 or size == 1 or not padded:
            first = batch.queries[0]
            turn = 1 + (first.number if isinstance(first, Repeat) else 0) % max(1, len(batch.queries) - 1)
            yield QueryBatch([*batch.queries[turn:], *batch.queries[:turn]])
        else:
            alone = batch.queries[0]
            others = (query for query in company if query != alone)
            beside = max(others, key=lambda query: (query.size, query.units), default=alone)
            yield QueryBatch([beside, alone], company=1)


def query_of(sample: Sample, source: str, task: Task) -> Query:
    """The query about a text of a sample: the whole text, or the beginning that the task shows."""
    return Query(**_of(sample, source, task))


def _of(sample: Sample, source: str, task: Task, edit: Perturbed | None = None) -> dict[str, Any]:
    """The fields of a query."""
    return {
        "task": task.name,
        "language": sample.language,
        **shown_of(sample, source, edit),
        "labels": task.answers.labels if isinstance(task.answers, OneLabel) else (),
        "words": tuple(task.words.items()),
    }


def asked_of(sample: Sample, perturbed: Perturbed, task: Task) -> Query:
    """The query about a variant of a sample. That about the identity is `repeat_of`."""
    fields = _of(sample, perturbed.source, task, perturbed)
    if perturbed.kind in ("network", "network-control"):
        return NetworkQuery(**fields, network=perturbed.transform)
    return Query(**fields)


def repeat_of(sample: Sample, source: str, task: Task, number: int = 0) -> Repeat:
    """The repeated query of this number about a text of a sample."""
    return Repeat(**_of(sample, source, task), bucket=bucket_of(sample.id), number=number)


def answer_to(query: Query, sample: Sample, answers: Mapping[Query, Prediction], task: Task) -> Prediction:
    """The answer to a query about a sample, graded if the task grades answers."""
    prediction = answers[query]
    return task.graded(prediction, query.source, sample) if isinstance(prediction, Predicted) else prediction


def _window(setup: AuditSetup) -> int:
    """Number of queries that are asked before the first is judged."""
    model = setup.model
    # At the end of a window all processes but one wait. So the window grows with them.
    return max(WINDOW, BUSY * model.at_once * setup.batch_size)


def _windows(cases: Iterable[Case], most: int) -> Iterator[list[Case]]:
    window: list[Case] = []
    size = 0
    for case in cases:
        window.append(case)
        size += 1 + len(case.outcomes)
        if size >= most:
            yield window
            window, size = [], 0
    if window:
        yield window


def first_answers(
    wanted: Sequence[Query], setup: AuditSetup, *, again: bool = False
) -> dict[Query, Prediction]:
    """The answers to distinct queries, from memory or from the model; `again` if all of them are repeats.

    Raises:
        ModelError: the model cannot answer at all, or gives another number of answers than queries.
    """
    answers = _recalled(wanted, setup, again=again)
    rest = [query for query in wanted if query not in answers]
    if is_rolling(setup.model) and not setup.model.ahead:
        with closing(_Rolling(setup)) as rolling:
            rolling.ask(rest)
            while rolling.open:
                rolling.wait()
        return answers | rolling.answers
    return answers | _ask(batches(rest, setup.batch_size), setup)


def _interleaved(
    firsts: Sequence[Query], repeated: Sequence[Repeat], setup: AuditSetup
) -> dict[Query, Prediction]:
    """The answers of a model that is no network of ours: batches of repeats stand among first queries.

    What stands behind a callable or a program may change with the hour.
    """
    answers = _recalled(firsts, setup, again=False) | _recalled(repeated, setup, again=True)
    plan = _spread(
        list(batches([query for query in firsts if query not in answers], setup.batch_size)),
        [
            batch
            for group in _groups([query for query in repeated if query not in answers], setup.batch_size)
            for batch in rebatches(group, setup.batch_size, padded=False)
        ],
    )
    return answers | _ask(plan, setup)


def ask_again(repeated: Iterable[Repeat], setup: AuditSetup) -> dict[Query, Prediction] | None:
    """Ask all repeated queries of a run before its audit, each in the company that its bucket gives it.

    The answers go into the memory. Returns those that a memory does not keep: failures such as
    `endpoint: 429`. `None` if company means nothing to the model, or if nothing is known of it; then nothing
    was asked.

    Raises:
        ModelError: as `audit`.
    """
    model = setup.model
    if is_rolling(model) or model.repeats is not None or model.parameters is None:
        return None
    lost: dict[Query, Prediction] = {}
    groups = _groups(repeated, setup.batch_size)
    while several := list(islice(groups, _window(setup) // (GROUP * _other_size(setup.batch_size)) or 1)):
        answers = _ask_in_groups(several, setup)
        lost |= {query: answer for query, answer in answers.items() if not _is_kept(answer)}
    return lost


def _groups(repeated: Iterable[Repeat], size: int) -> Iterator[list[Repeat]]:
    """The distinct queries in groups of one bucket and number, which no other bucket changes."""
    most = GROUP * _other_size(size)
    opened: dict[tuple[int, int], dict[Repeat, None]] = {}
    for query in repeated:
        named = (query.bucket, query.number)
        group = opened.setdefault(named, {})
        group[query] = None
        if len(group) == most:
            yield list(opened.pop(named))
    yield from map(list, opened.values())


def _ask_in_groups(groups: Sequence[Sequence[Repeat]], setup: AuditSetup) -> dict[Query, Prediction]:
    wanted = list(dict.fromkeys(query for group in groups for query in group))
    answers = _recalled(wanted, setup, again=True)
    every = (batch for group in groups for batch in rebatches(group, setup.batch_size, padded=True))
    # A batch with one open query is asked as a whole: its company must not depend on what is known.
    plan = (batch for batch in every if any(query not in answers for query in batch.queries[batch.company :]))
    return {**_ask(plan, setup, known=answers), **answers}


def _second_answers(
    wanted: Sequence[Repeat], setup: AuditSetup, asked: Mapping[Query, Prediction] | None
) -> Mapping[Query, Prediction]:
    if setup.model.repeats is not None:
        setup.monitor.answered(len(wanted), recalled=False)
        predictions = setup.model.predict(wanted)
        return {
            query: _normal(setup.task, query, answer)
            for query, answer in zip(wanted, predictions, strict=True)
        }
    answers: dict[Query, Prediction] = {}
    if asked is not None:
        answers = {**asked, **setup.memory.recall(wanted, again=True)}
    rest = [query for query in wanted if query not in answers]
    return {**answers, **_ask_in_groups(list(_groups(rest, setup.batch_size)), setup)}


def _recalled(wanted: Sequence[Query], setup: AuditSetup, *, again: bool) -> dict[Query, Prediction]:
    answers: dict[Query, Prediction] = dict(setup.memory.recall(wanted, again=again))
    if answers:
        setup.monitor.answered(len(answers), recalled=True)
    return answers


def _ask(
    plan: Iterable[QueryBatch],
    setup: AuditSetup,
    *,
    known: Collection[Query] = (),
) -> dict[Query, Prediction]:
    """The answers to the queries of a plan, but for those that are known."""
    answers: dict[Query, Prediction] = {}
    for batch, predictions in _predicted(plan, setup.model):
        if len(predictions) != len(batch.queries):
            raise ModelError(
                f"model {setup.model.name!r} gave {len(predictions)} answers to {len(batch.queries)} queries"
            )
        if wrong := [
            type(prediction).__name__
            for prediction in predictions
            if not isinstance(prediction, Predicted | Failed)
        ]:
            raise ModelError(
                f"model {setup.model.name!r} gave a {wrong[0]}; "
                "`predict` must give a Predicted or a Failed (codeaudit.audit.records) for each query"
            )
        given = zip(batch.queries, predictions, strict=True)
        checked = [_normal(setup.task, query, prediction) for query, prediction in given]
        pairs = zip(batch.queries[batch.company :], checked[batch.company :], strict=True)
        new = {query: answer for query, answer in pairs if query not in known}
        # After each batch, so that a killed run loses no more than those under way.
        _keep(new, setup)
        answers |= new
    return answers


def _predicted(plan: Iterable[QueryBatch], model: Model) -> Iterator[tuple[QueryBatch, list[Prediction]]]:
    """Each batch with its answers, in any order."""
    sent: dict[int, QueryBatch] = {}

    def queries_of_each() -> Iterator[Sequence[Query]]:
        for number, batch in enumerate(plan):
            sent[number] = batch
            yield batch.queries

    for number, predictions in model.answers(queries_of_each()):
        yield sent.pop(number), predictions


def _is_kept(prediction: Prediction) -> bool:
    """Whether the memory keeps an answer. A query that failed with `endpoint: 429` may succeed later."""
    return isinstance(prediction, Predicted) or prediction.reason in FINAL


def _keep(answers: Mapping[Query, Prediction], setup: AuditSetup) -> None:
    """Store answers, count them, and tell about a malformed one."""
    for again in (False, True):
        kept = {
            query: answer
            for query, answer in answers.items()
            if isinstance(query, Repeat) is again and _is_kept(answer)
        }
        if kept:
            setup.memory.remember(kept, again=again)
    setup.monitor.answered(len(answers), recalled=False)
    setup.vocabulary.check(answers.values(), setup)
    wrong = next((answer for answer in answers.values() if isinstance(answer, Failed) and answer.given), None)
    if wrong is not None:
        setup.monitor.malformed(f"{setup.model.name}: {malformed_message(wrong, setup.task)}")


def malformed_message(failed: Failed, task: Task) -> str:
    """A malformed answer beside what the task takes."""
    if failed.is_reply:
        return f"the reply {failed.given} has no readable answer; {task.name} takes {task.accepted}"
    if failed.wrong:
        return f"the answer {failed.given} is malformed: {failed.wrong}"
    return f"the answer {failed.given} is malformed; {task.name} takes {task.accepted}"


class _Rolling:
    """The queries under way to a model that answers in any order. Each answer is stored when it arrives."""

    def __init__(self, setup: AuditSetup) -> None:
        self.answers: dict[Query, Prediction] = {}
        self._setup = setup
        self._stream = setup.model.stream()
        self._pending: dict[int, Query] = {}
        """Queries without an answer, by their number in the stream."""
        self._count = 0

    @property
    def open(self) -> int:
        """Number of queries without an answer."""
        return len(self._pending)

    def ask(self, queries: Sequence[Query]) -> None:
        """Ask more queries."""
        self._pending |= {self._count + place: query for place, query in enumerate(queries)}
        self._count += len(queries)
        self._stream.ask(queries)

    def wait(self) -> None:
        """Wait for some answers.

        Raises:
            ModelError: no further query will be answered.
        """
        self._take(self._stream.arrived())

    def close(self) -> None:
        """Drop what is under way; the answers that arrived are stored, also after Ctrl-C."""
        self._take(self._stream.stop())

    def _take(self, arrived: Sequence[tuple[int, Prediction]]) -> None:
        # The stream gives some again when it is closed.
        places = {place: prediction for place, prediction in arrived if place in self._pending}
        pending, task = self._pending, self._setup.task
        new = {
            pending[place]: _normal(task, pending[place], prediction) for place, prediction in places.items()
        }
        if new:
            _keep(new, self._setup)
            self.answers |= new
        # Not before they are stored, because Ctrl-C may come in between.
        for place in places:
            del self._pending[place]


def _rolled(cases: Iterable[Case], setup: AuditSetup) -> Iterator[Audited]:
    """One record per case, in their order, of a model that answers in any order: later cases are asked
    before earlier ones end."""
    waiting: deque[tuple[Case, list[Query]]] = deque()
    needed: Counter[Query] = Counter()
    """How many waiting cases need each answer."""
    with closing(_Rolling(setup)) as rolling:
        for window in _windows(cases, ROLLING_WINDOW):
            fresh: dict[Query, None] = {}
            for case in window:
                asked = in_time(case, setup)
                waiting.append((case, asked))
                for query in asked:
                    if not needed[query]:
                        fresh[query] = None
                    needed[query] += 1
            for again in (False, True):
                group = [query for query in fresh if isinstance(query, Repeat) is again]
                rolling.answers |= _recalled(group, setup, again=again)
            rolling.ask([query for query in fresh if query not in rolling.answers])
            while rolling.open > (setup.model.ahead or AHEAD):
                rolling.wait()
                yield from _complete(waiting, needed, rolling.answers, setup)
            yield from _complete(waiting, needed, rolling.answers, setup)
        while waiting:
            rolling.wait()
            yield from _complete(waiting, needed, rolling.answers, setup)


def _complete(
    waiting: deque[tuple[Case, list[Query]]],
    needed: Counter[Query],
    answers: dict[Query, Prediction],
    setup: AuditSetup,
) -> Iterator[Audited]:
    """The first cases, as long as all their answers are there. What no other case needs is dropped."""
    while waiting and all(query in answers for query in waiting[0][1]):
        case, asked = waiting.popleft()
        yield _audited(case, answers, setup)
        for query in asked:
            needed[query] -= 1
            if not needed[query]:
                del needed[query], answers[query]


def _normal(task: Task, query: Query, prediction: Prediction) -> Prediction:
    """The prediction in the form that the task has in the language of the query."""
    return _checked(task.speaking(query.language), prediction)


def _checked(task: Task, prediction: Prediction) -> Prediction:
    """The prediction in the task's normal form, or a failure where it has none."""
    match prediction:
        case Failed(reason=reason):
            # These reasons excuse a missing verdict, and only `judge` may give them.
            return Failed(reason=f"model: {reason}") if reason in EXCUSES else prediction
        case Predicted() if prediction.draws:
            return _drawn(task, prediction)
        case Predicted():
            read = _read(task, prediction)
            if isinstance(read, Failed):
                return read
            answer = task.normalise(task.meant(read.answer))
            if not isinstance(answer, str | int | float | tuple | None):
                raise _wrong(task, "normalise", answer, "a text, a number, a tuple of texts, or None")
            if answer is None or not all(isfinite(score) for _, score in read.scores):
                failed = malformed(prediction.answer)
                return replace(failed, replies=read.replies or failed.replies)
            return replace(read, answer=answer)


def _drawn(task: Task, predicted: Predicted) -> Prediction:
    """Several answers to one query: attempts, if the task takes them; else draws.

    The commonest draw is the answer, and of equally common ones the first.
    """
    if overrides(task, Task.attempts):
        texts = tuple(draw for draw in predicted.draws if isinstance(draw, str))
        if len(texts) < len(predicted.draws):
            return malformed(next(draw for draw in predicted.draws if not isinstance(draw, str)))
        return _checked(task, replace(predicted, answer=texts, draws=()))
    answers: list[Answer] = []
    for draw in predicted.draws:
        # With the replies, because texts of a model that has replies were read.
        checked = _checked(task, Predicted(answer=draw, replies=predicted.replies))
        if isinstance(checked, Failed):
            return replace(checked, replies=predicted.replies or checked.replies)
        answers.append(checked.answer)
    commonest = max(answers, key=answers.count)
    return Predicted(answer=commonest, draws=tuple(answers), replies=predicted.replies)


def _read(task: Task, predicted: Predicted) -> Prediction:
    """A text that nobody has read is read as a reply of a model of texts. That of foreign code is kept.

    Complete answers are left as they are: a label of a closed set or a word of `--label-map`, and every text
    of a task without a question.
    """
    text = predicted.answer
    fresh = all(reply.read == UNREAD for reply in predicted.replies)
    if not fresh or not isinstance(text, str):
        return predicted
    is_label = isinstance(task.answers, CLOSED) and task.normalise(text) is not None
    if is_label or as_label(text) in task.words or not isinstance(task.prompt, QuestionPrompt):
        form = ALONE if isinstance(task.prompt, QuestionPrompt) else WHOLE
        return replace(predicted, replies=tuple(RawReply(reply.text, form) for reply in predicted.replies))
    reading = task.prompt.read(text)
    if isinstance(reading, Failed):
        return reading if predicted.replies else replace(reading, replies=())
    return replace(predicted, answer=reading.answer, replies=reading.replies if predicted.replies else ())


def _wrong(task: Task, method: str, value: object, expected: str) -> CannotAudit:
    """The error for a plug-in's task that returned a value of a wrong type."""
    return CannotAudit(f"task {task.name!r}: `{method}` gave {checks.shown(value)}; it must give {expected}")


def _audited(case: Case, answers: Mapping[Query, Prediction], setup: AuditSetup) -> Audited:
    noise, scale = setup.model.noise, setup.model.scale
    first = query_of(case.sample, case.sample.source, setup.task)
    before = answer_to(first, case.sample, answers, setup.task)
    verdicts: list[Verdict] = []
    scores: list[float | None] = []
    for outcome in case.outcomes:
        if isinstance(outcome, Perturbed):
            if outcome.kind != "identity":
                query = asked_of(case.sample, outcome, setup.task)
                after = answer_to(query, case.sample, answers, setup.task)
            elif setup.repeating.has(outcome.variant, extra=case.extra):
                repeated = repeat_of(case.sample, outcome.source, setup.task, outcome.variant)
                after = answer_to(repeated, case.sample, answers, setup.task)
            else:
                after = Failed(reason=NOT_REPEATED)
            verdicts.append(
                judge(outcome, before, after, case.sample, task=setup.task, noise=noise, scale=scale)
            )
            scores.append(score_of(setup.task, after, outcome.sample))
    return Audited(
        model=setup.model.name,
        sample=case.sample,
        before=before,
        score=score_of(setup.task, before, case.sample),
        verdicts=tuple(verdicts),
        after_scores=tuple(scores),
        not_applied=tuple(outcome for outcome in case.outcomes if isinstance(outcome, NotApplied)),
        extra=case.extra,
    )


def score_of(task: Task, prediction: Prediction, sample: Sample) -> float | None:
    """The task's score of an answer; `None` without one."""
    return task.score(prediction.answer, sample) if isinstance(prediction, Predicted) else None


def judge(
    perturbed: Perturbed,
    before: Prediction,
    after: Prediction,
    sample: Sample,
    *,
    task: Task,
    noise: float,
    scale: Scale = "",
) -> Verdict:
    """Whether the answer held.

    Unjudged if one of the two answers is missing, if the change is as small as the model's arithmetic noise,
    or if the right answer does not behave as the kind of the perturbation requires: it must stay under a
    meaning-keeping transform and change under a control.
    """
    if isinstance(before, Failed):
        # A repeat that nobody asked is no missing verdict, also where the original has no answer.
        is_open = isinstance(after, Failed) and after.reason == NOT_REPEATED
        reason = NOT_REPEATED if is_open else before.reason
        return Unjudged(perturbed=perturbed, before=before, after=after, reason=reason)
    if isinstance(after, Failed):
        return Unjudged(perturbed=perturbed, before=before, after=after, reason=after.reason)
    expected = task.expects(sample, perturbed)
    if expected not in EXPECTATIONS:
        raise _wrong(task, "expects", expected, f"one of {', '.join(EXPECTATIONS)}")
    if reason := _why_unjudged(perturbed, expected):
        return Unjudged(perturbed=perturbed, before=before, after=after, reason=reason)
    moved, shifted = deviation(before, after), shift(before, after, scale)
    # The unchanged input, asked again or of another network, has no right answer of its own: it is compared.
    same = task.same if perturbed.kind in KEEPS_TEXT else task.holds
    if same(before, after):
        return Held(perturbed=perturbed, before=before, after=after, deviation=moved, shift=shifted)
    # After that, because noise excuses a change and never turns an equal answer into no verdict.
    if _within_noise(before, after, NOISE_FACTOR * noise):
        return Unjudged(perturbed=perturbed, before=before, after=after, reason=NUMERIC_NOISE)
    return Violated(perturbed=perturbed, before=before, after=after, deviation=moved, shift=shifted)


def _why_unjudged(perturbed: Perturbed, expected: Expectation) -> str:
    """The reason why no verdict is possible; empty if one is."""
    # The code stays. What changes is the network, and the right answer does not depend on that.
    if perturbed.kind in ("network", "network-control"):
        return ""
    if expected == "unknown":
        return ANSWER_UNKNOWN
    # A control that keeps the right answer, and a transform that changes it, would count against a model that
    # is right both times.
    if perturbed.kind == "control":
        return ANSWER_STAYS if expected == "same" else ""
    return ANSWER_CHANGES if expected == "other" else ""


def deviation(before: Predicted, after: Predicted) -> float:
    """Largest absolute difference between the scores of labels on both sides; 0 if no label is on both."""
    old, new = dict(before.scores), dict(after.scores)
    return max((abs(old[label] - new[label]) for label in old.keys() & new.keys()), default=0.0)


def _within_noise(before: Predicted, after: Predicted, bound: float) -> bool:
    """Whether both margins are at most `bound`; without margins, the score changes of all changed labels."""
    if bound <= 0:
        return False
    if before.margin is not None and after.margin is not None:
        return max(before.margin, after.margin) <= bound
    old, new = dict(before.scores), dict(after.scores)
    # Labels on both sides did not change. One without a score leaves the size of its change unknown.
    changed = labels_of(before.answer) ^ labels_of(after.answer)
    has_scores = changed and changed <= old.keys() & new.keys()
    return bool(has_scores) and all(abs(old[label] - new[label]) <= bound for label in changed)


def labels_of(answer: Answer) -> set[str]:
    """The labels that an answer consists of, as the keys of scores have them: a set's members, or itself."""
    return set(map(str, answer)) if isinstance(answer, tuple) else {str(answer)}
