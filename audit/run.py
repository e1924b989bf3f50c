"""The driver: cases in, verdicts out. It knows no concrete model, task or transform.

It batches, deduplicates and remembers, so that models need not, and trusts none of them. What it finds
for a sample depends on that sample and the model alone, not on batch size, cache or the other samples.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Final, NamedTuple, Protocol

from codeaudit.audit.cut import shown
from codeaudit.audit.interface import Expectation, Grading, Model, Rechecked, Task, Written
from codeaudit.audit.records import (
    ANSWER_CHANGES,
    ANSWER_STAYS,
    ANSWER_UNKNOWN,
    CUT_OFF,
    MALFORMED,
    Answer,
    Audited,
    Failed,
    Held,
    Predicted,
    Prediction,
    Query,
    Unjudged,
    Verdict,
    Violated,
)
from codeaudit.transforms.errors import ModelError
from codeaudit.transforms.records import NotApplied, Outcome, Perturbed, Sample

WINDOW: Final = 4096
"""Queries that are sorted by length together; bounds the memory of a run over a large corpus."""

NOISE_FACTOR: Final = 10.0
"""A flip whose margin is within this many times the model's arithmetic noise is no verdict."""

NUMERIC_NOISE: Final = "numeric noise"
FINAL: Final = frozenset({MALFORMED, CUT_OFF})
"""Failures that are what a model said: asking again would cost as much and give as little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One sample, as the task asks about it, with everything that was tried on it."""

    sample: Sample
    outcomes: tuple[Outcome, ...]


class Memory(Protocol):
    """Answers of one model that were had before."""

    def recall(self, queries: Sequence[Query], *, again: bool) -> Mapping[Query, Prediction]:
        """Those of the queries whose answers are known, answers that cannot be used among them.

        `again` asks for the answers to repeated queries of this very run, which no other run may serve:
        they measure the model's noise.
        """
        ...

    def remember(self, answers: Mapping[Query, Prediction], *, again: bool) -> None:
        """Keep answers durably before the next batch is asked."""
        ...


class Monitor(Protocol):
    """Watches a run."""

    def answered(self, count: int, *, recalled: bool) -> None:
        """So many queries were answered, from memory or by the model."""
        ...


class Unwatched:
    """Watches nothing: where nobody looks on, or progress is told in other units than answers."""

    def answered(self, count: int, *, recalled: bool) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the driver works with while it audits one model."""

    model: Model
    task: Task
    memory: Memory
    monitor: Monitor
    batch_size: int


class Batch(NamedTuple):
    """Queries that are asked together; the answers to the first `company` of them are not wanted."""

    queries: Sequence[Query]
    company: int = 0


def audit(cases: Iterable[Case], desk: Desk) -> Iterator[Audited]:
    """The verdicts on every case, in the order of the cases.

    Raises:
        ModelError: the model as a whole cannot answer, or does not keep its contract.
    """
    for window in _windows(cases):
        firsts = list(dict.fromkeys(query for case in window for query in queries(case, desk.task.name)))
        repeated = list(dict.fromkeys(query for case in window for query in repeats(case, desk.task.name)))
        answers = first_answers(firsts, desk)
        second = _second_answers(repeated, firsts, desk)
        for case in window:
            yield _audited(case, answers, second, desk)


def queries(case: Case, task: str) -> tuple[Query, ...]:
    """What a case asks apart from its repeated original: the original first, then each variant."""
    variants = [outcome for outcome in case.outcomes if isinstance(outcome, Perturbed)]
    texts = [outcome.source for outcome in variants if outcome.kind != "identity"]
    return tuple(query_of(case.sample, text, task) for text in [case.sample.source, *texts])


def repeats(case: Case, task: str) -> tuple[Query, ...]:
    """What a case asks a second time: the unchanged input of each identity outcome."""
    variants = [outcome for outcome in case.outcomes if isinstance(outcome, Perturbed)]
    return tuple(query_of(case.sample, one.source, task) for one in variants if one.kind == "identity")


def batches(rest: Sequence[Query], size: int) -> Iterator[Batch]:
    """Queries of similar length together, longest first, so that little is padded and memory fails early."""
    ordered = sorted(rest, key=lambda query: (-len(query.source), query.source))
    for start in range(0, len(ordered), size):
        yield Batch(ordered[start : start + size])


def rebatches(rest: Sequence[Query], company: Sequence[Query], size: int) -> Iterator[Batch]:
    """The same queries in batches of another size, each in another place of its batch than `batches` gives.

    A query that would be alone gets company where the batch size allows it, so that it meets another shape.
    """
    other = size // 2 + 1
    for batch in batches(rest, other):
        if len(batch.queries) > 1 or size == 1:
            yield Batch([*batch.queries[1:], batch.queries[0]])
        else:
            alone = batch.queries[0]
            beside = max((query for query in company if query != alone), key=_length, default=alone)
            yield Batch([beside, alone], company=1)


def query_of(sample: Sample, source: str, task: str) -> Query:
    """What a model is asked about a text of a sample: all of it, or the part that is shown."""
    return Query(task=task, language=sample.language, source=shown(sample, source))


def answer_to(sample: Sample, source: str, answers: Mapping[Query, Prediction], task: Task) -> Prediction:
    """The answer to a text of a sample, as the task judges it; the sample brings the label."""
    query = query_of(sample, source, task.name)
    found = answers[query]
    if isinstance(task, Grading) and isinstance(found, Predicted):
        return task.graded(found, query.source, sample)
    return found


def _length(query: Query) -> tuple[int, str]:
    return len(query.source), query.source


def _windows(cases: Iterable[Case]) -> Iterator[list[Case]]:
    window: list[Case] = []
    size = 0
    for case in cases:
        window.append(case)
        size += 1 + len(case.outcomes)
        if size >= WINDOW:
            yield window
            window, size = [], 0
    if window:
        yield window


def first_answers(wanted: Sequence[Query], desk: Desk) -> dict[Query, Prediction]:
    """The answers to distinct queries, remembered ones first; what a search asks on its way.

    Raises:
        ModelError: the model as a whole cannot answer, or does not keep its contract.
    """
    answers = _recalled(wanted, desk, again=False)
    rest = [query for query in wanted if query not in answers]
    return answers | _asked(batches(rest, desk.batch_size), desk, again=False)


def _second_answers(wanted: Sequence[Query], company: Sequence[Query], desk: Desk) -> dict[Query, Prediction]:
    if isinstance(desk.model, Written):
        desk.monitor.answered(len(wanted), recalled=False)
        return dict.fromkeys(wanted, Failed(reason=desk.model.once))
    answers = _recalled(wanted, desk, again=True)
    rest = [query for query in wanted if query not in answers]
    return answers | _asked(rebatches(rest, company, desk.batch_size), desk, again=True)


def _recalled(wanted: Sequence[Query], desk: Desk, *, again: bool) -> dict[Query, Prediction]:
    answers: dict[Query, Prediction] = dict(desk.memory.recall(wanted, again=again))
    if answers:
        desk.monitor.answered(len(answers), recalled=True)
    return answers


def _asked(plan: Iterable[Batch], desk: Desk, *, again: bool) -> dict[Query, Prediction]:
    answers: dict[Query, Prediction] = {}
    model = desk.model
    ask = model.again if again and isinstance(model, Rechecked) else model.predict
    for batch in plan:
        predictions = ask(batch.queries)
        if len(predictions) != len(batch.queries):
            raise ModelError(
                f"model {desk.model.name!r} gave {len(predictions)} answers to {len(batch.queries)} queries"
            )
        checked = [_checked(desk.task, prediction) for prediction in predictions]
        found = dict(zip(batch.queries[batch.company :], checked[batch.company :], strict=True))
        desk.memory.remember({query: one for query, one in found.items() if _is_final(one)}, again=again)
        desk.monitor.answered(len(found), recalled=False)
        answers |= found
    return answers


def _is_final(prediction: Prediction) -> bool:
    return isinstance(prediction, Predicted) or prediction.reason in FINAL


def _checked(task: Task, prediction: Prediction) -> Prediction:
    """The prediction in the task's normal form, or a failure where it has none."""
    match prediction:
        case Failed():
            return prediction
        case Predicted():
            answer = task.normalise(prediction.answer)
            if answer is None or not all(isfinite(score) for _, score in prediction.scores):
                return Failed(reason=MALFORMED)
            return replace(prediction, answer=answer)


def _audited(
    case: Case, answers: Mapping[Query, Prediction], second: Mapping[Query, Prediction], desk: Desk
) -> Audited:
    before = answer_to(case.sample, case.sample.source, answers, desk.task)
    verdicts: list[Verdict] = []
    scores: list[float | None] = []
    for outcome in case.outcomes:
        if isinstance(outcome, Perturbed):
            book = second if outcome.kind == "identity" else answers
            after = answer_to(case.sample, outcome.source, book, desk.task)
            verdicts.append(
                judge(outcome, before, after, case.sample, task=desk.task, noise=desk.model.noise)
            )
            scores.append(_score(desk.task, after, outcome.sample))
    return Audited(
        model=desk.model.name,
        sample=case.sample,
        before=before,
        score=_score(desk.task, before, case.sample),
        verdicts=tuple(verdicts),
        after_scores=tuple(scores),
        not_applied=tuple(outcome for outcome in case.outcomes if isinstance(outcome, NotApplied)),
    )


def _score(task: Task, prediction: Prediction, sample: Sample) -> float | None:
    return task.score(prediction.answer, sample) if isinstance(prediction, Predicted) else None


def judge(
    perturbed: Perturbed,
    before: Prediction,
    after: Prediction,
    sample: Sample,
    *,
    task: Task,
    noise: float,
) -> Verdict:
    """Whether the answer held; no verdict without both answers, where a flip is as small as noise, or where
    the right answer did not do what a perturbation of its kind stands for.
    """
    if isinstance(before, Failed):
        return Unjudged(perturbed=perturbed, before=before, after=after, reason=before.reason)
    if isinstance(after, Failed):
        return Unjudged(perturbed=perturbed, before=before, after=after, reason=after.reason)
    if reason := _off(perturbed, task.expects(sample, perturbed)):
        return Unjudged(perturbed=perturbed, before=before, after=after, reason=reason)
    moved = deviation(before, after)
    if task.same(before, after):
        return Held(perturbed=perturbed, before=before, after=after, deviation=moved)
    if _within_noise(before, after, NOISE_FACTOR * noise):
        return Unjudged(perturbed=perturbed, before=before, after=after, reason=NUMERIC_NOISE)
    return Violated(perturbed=perturbed, before=before, after=after, deviation=moved)


def _off(perturbed: Perturbed, expected: Expectation) -> str:
    """Why neither staying nor changing is a fault; empty where one of them is."""
    if expected == "unknown":
        return ANSWER_UNKNOWN
    if perturbed.kind == "control":
        return ANSWER_STAYS if expected == "same" else ""
    return ANSWER_CHANGES if expected == "other" else ""


def deviation(before: Predicted, after: Predicted) -> float:
    """The largest absolute difference of the scores of labels present on both sides; 0 without any."""
    old, new = dict(before.scores), dict(after.scores)
    return max((abs(old[label] - new[label]) for label in old.keys() & new.keys()), default=0.0)


def _within_noise(before: Predicted, after: Predicted, bound: float) -> bool:
    """Whether both margins, or else the moves of every label that came or went, are at most `bound`."""
    if bound <= 0:
        return False
    if before.margin is not None and after.margin is not None:
        return max(before.margin, after.margin) <= bound
    old, new = dict(before.scores), dict(after.scores)
    changed = _labels(before.answer) ^ _labels(after.answer)
    known = changed and changed <= old.keys() & new.keys()
    return bool(known) and all(abs(old[label] - new[label]) <= bound for label in changed)


def _labels(answer: Answer) -> set[str]:
    return set(answer) if isinstance(answer, tuple) else {str(answer)}
