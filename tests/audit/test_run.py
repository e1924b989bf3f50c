"""The driver: what it asks, in which batches, and what it makes of the answers."""

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from random import Random

import pytest

from codeaudit.audit.cache import NoMemory
from codeaudit.audit.engines.shards import Shard, bucket_of
from codeaudit.audit.interface import Model
from codeaudit.audit.records import (
    EXCUSES,
    NOT_REPEATED,
    Audited,
    Case,
    Failed,
    Held,
    Predicted,
    Prediction,
    Query,
    Repeat,
    Unjudged,
    Violated,
)
from codeaudit.audit.run import (
    ALL,
    ONCE,
    AnswerMemory,
    AuditSetup,
    Repeating,
    ask_again,
    audit,
    batches,
    in_time,
    judge,
    query_of,
    rebatches,
    repeats,
)
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.transforms.errors import ModelError
from tests.support.models import Recorder, case, echo, perturbed, refuse, sample


class Silent:
    def answered(self, count: int, *, recalled: bool) -> None:
        pass

    def malformed(self, message: str) -> None:
        pass

    def expect(self, total: int) -> None:
        pass


class Counting:
    def __init__(self) -> None:
        self.asked = 0
        self.recalled = 0

    def answered(self, count: int, *, recalled: bool) -> None:
        if recalled:
            self.recalled += count
        else:
            self.asked += count

    def malformed(self, message: str) -> None:
        pass

    def expect(self, total: int) -> None:
        pass


class Remembering:
    """A memory without a file."""

    def __init__(self) -> None:
        self.known: dict[tuple[Query, bool], Prediction] = {}

    def recall(self, queries: Sequence[Query], *, again: bool) -> dict[Query, Prediction]:
        return {query: self.known[query, again] for query in queries if (query, again) in self.known}

    def remember(self, answers: Mapping[Query, Prediction], *, again: bool) -> None:
        self.known |= {(query, again): answer for query, answer in answers.items()}


def run(
    cases: Sequence[Case], model: Model, *, batch_size: int = 4, memory: AnswerMemory | None = None
) -> list[Audited]:
    setup = AuditSetup(
        model=model,
        task=FUNCTION_NAME,
        memory=memory or NoMemory(),
        monitor=Silent(),
        batch_size=batch_size,
    )
    return list(audit(cases, setup))


CASES = [case("aaaa", "aab", "aac"), case("bb", "bbb", refused="no way"), case("cccccc", "aab", "bb")]


def test_every_case_comes_back_in_order_with_its_verdicts() -> None:
    audits = run(CASES, Recorder(echo))
    assert [audited.sample for audited in audits] == [given.sample for given in CASES]
    assert [len(audited.verdicts) for audited in audits] == [3, 2, 3]
    assert [type(verdict) for verdict in audits[0].verdicts] == [Held, Violated, Violated]
    assert [refusal.reason for refusal in audits[1].not_applied] == ["no way"]


def test_equal_queries_are_asked_once_and_the_original_once_more() -> None:
    model = Recorder(echo)
    run(CASES, model)
    distinct = {"aaaa", "aab", "aac", "bb", "bbb", "cccccc"}
    assert sorted(model.asked) == sorted([*distinct, "aaaa", "bb", "cccccc"])


def test_batches_hold_similar_lengths() -> None:
    queries = [Query(task="t", language="python", source="x" * length) for length in (5, 1, 9, 2, 8)]
    assert [[len(query.source) for query in batch.queries] for batch in batches(queries, 2)] == [
        [9, 8],
        [5, 2],
        [1],
    ]


@pytest.mark.thinned(12)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 32])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 40])
def test_repeated_queries_meet_another_place(size: int, count: int) -> None:
    queries = [Query(task="t", language="python", source="x" * length) for length in range(1, count + 1)]
    first = {
        query: (batch.queries, batch.queries.index(query))
        for batch in batches(queries, size)
        for query in batch.queries
    }
    second = {}
    for batch in rebatches(queries, size, padded=True):
        for query in batch.queries[batch.company :]:
            place = len(batch.queries) - 1 - list(reversed(batch.queries)).index(query)
            second[query] = (batch.queries, place)
    assert second.keys() == first.keys()
    if size > 1:
        assert all(second[query] != first[query] for query in queries)
        assert all(len(batch) > 1 for batch, _ in second.values())


SEVERAL = [case(f"{'x' * (number % 40)}{number}") for number in range(2000)]


def repeated_batches(cases: Sequence[Case], *, whole: bool) -> dict[str, list[list[str]]]:
    """The batches in which each repeated query was asked, of a run in one part or in windows."""
    model = Recorder(echo, parameters=1)
    memory = Remembering()
    setup = AuditSetup(model=model, task=FUNCTION_NAME, memory=memory, monitor=Silent(), batch_size=4)
    if whole:
        again = (repeat for each in cases for repeat in repeats(each, FUNCTION_NAME))
        list(audit(cases, setup, asked=ask_again(again, setup)))
    else:
        list(audit(cases, setup))
    by_source: dict[str, list[list[str]]] = {}
    for batch in model.batches:
        if isinstance(batch[0], Repeat):
            for repeat in batch:
                by_source.setdefault(repeat.source, []).append([query.source for query in batch])
    return by_source


@pytest.mark.slow
def test_the_company_of_a_repeated_query_is_the_same_in_every_division_into_shards() -> None:
    alone = repeated_batches(SEVERAL, whole=True)
    assert len(alone) == len(SEVERAL)
    for of in (2, 15, 240):
        together: dict[str, list[list[str]]] = {}
        for number in range(1, of + 1):
            own = [each for each in SEVERAL if Shard(number, of).has(each.sample.id)]
            together |= repeated_batches(own, whole=True)
        assert together == alone


@pytest.mark.slow
def test_repeated_queries_keep_their_company_when_a_run_resumes() -> None:
    memory = Remembering()
    again = [repeat for each in SEVERAL for repeat in repeats(each, FUNCTION_NAME)]
    whole = Recorder(echo, parameters=1)
    setup = AuditSetup(model=whole, task=FUNCTION_NAME, memory=NoMemory(), monitor=Silent(), batch_size=4)
    ask_again(again, setup)
    memory.remember({query: echo(query) for query in again[::7]}, again=True)
    resumed = Recorder(echo, parameters=1)
    ask_again(again, replace(setup, model=resumed, memory=memory))
    assert {*map(tuple, resumed.batches)} < {*map(tuple, whole.batches)}
    assert len(memory.known) == len(again)


def test_repeated_queries_are_asked_once_and_failures_are_handed_on() -> None:
    model = Recorder(refuse, parameters=1)
    again = [repeat for each in SEVERAL for repeat in repeats(each, FUNCTION_NAME)]
    monitor = Counting()
    setup = AuditSetup(model=model, task=FUNCTION_NAME, memory=Remembering(), monitor=monitor, batch_size=4)
    lost = ask_again(again, setup)
    assert lost is not None
    assert lost.keys() == set(again)
    audits = list(audit(SEVERAL, setup, asked=lost))
    assert len(audits) == len(SEVERAL)
    assert monitor.asked == 2 * len(SEVERAL)


def test_only_a_network_is_asked_beside_a_copy() -> None:
    for parameters, times in ((None, 1), (9, 2)):
        model = Recorder(echo, parameters=parameters)
        run([case("aaaa")], model)
        assert [len(batch) for batch in model.batches] == [1, times]


def repeated(times: int, *texts: str) -> Case:
    """A case with so many repeats."""
    made = case(*texts)
    first, *others = made.outcomes
    return replace(made, outcomes=(*(replace(first, variant=n) for n in range(times)), *others))


def numbered(words: Iterator[str], query: Query) -> Prediction:
    return Predicted(answer=next(words))


def test_each_repeat_is_a_query_of_its_own() -> None:
    for parameters in (None, 1):
        words = iter(map("word {}".format, range(99)))
        model = Recorder(partial(numbered, words), parameters=parameters)
        (audited,) = run([repeated(3, "aaaa", "ab")], model)
        assert len({judged.after.answer for judged in audited.verdicts}) == 4, (
            "each verdict has an answer of its own"
        )
        assert model.asked.count("aaaa") >= 4


@pytest.mark.parametrize(
    ("repeating", "plain", "extra"), [(ALL, 3, 3), (ONCE, 1, 0), (Repeating(most=2), 2, 2)]
)
def test_repeats_that_are_not_wanted_are_not_asked(repeating: Repeating, plain: int, extra: int) -> None:
    for drawn_in_addition, wanted in ((False, plain), (True, extra)):
        each = replace(repeated(3, "aaaa", "ab"), extra=drawn_in_addition)
        model = Recorder(echo)
        setup = AuditSetup(
            model=model,
            task=FUNCTION_NAME,
            memory=NoMemory(),
            monitor=Silent(),
            batch_size=4,
            repeating=repeating,
        )
        (audited,) = audit([each], setup)
        assert model.asked.count("aaaa") == 1 + wanted
        left = [judged for judged in audited.verdicts if isinstance(judged, Unjudged)]
        assert [judged.reason for judged in left] == [NOT_REPEATED] * (3 - wanted)

        setup = replace(setup, model=Recorder(lambda query: Failed(reason="not Python")))
        (audited,) = audit([each], setup)
        reasons = Counter(judged.reason for judged in audited.verdicts if isinstance(judged, Unjudged))
        assert reasons == +Counter({"not Python": 1 + wanted, NOT_REPEATED: 3 - wanted})


def test_repeats_are_asked_among_the_variants() -> None:
    """A model whose answers turn in the middle of a run shows no effect of edits, and none of repeats."""
    each = repeated(4, "aaaa", *(f"aa{letter}" for letter in "bcdefghi"))
    order = in_time(each, AuditSetup(
        model=Recorder(echo), task=FUNCTION_NAME, memory=NoMemory(), monitor=Silent(), batch_size=4
    ))  # fmt: skip
    places = [place for place, query in enumerate(order) if query.source == "aaaa"]
    assert [query.number for query in order if isinstance(query, Repeat)] == [0, 1, 2, 3]
    assert not isinstance(order[places[0]], Repeat), "the original is the first of them"
    assert abs(sum(places) / 5 - (len(order) - 1) / 2) < 1
    assert max(later - earlier for earlier, later in itertools.pairwise(places)) <= 3


@pytest.mark.parametrize("times", [1, 3, 4])
def test_the_batches_of_repeats_differ(times: int) -> None:
    """Each repeat of a network stands at another place of its batch."""
    cases = [repeated(times, text) for text in ("aaaa", "bbb", "cc", "d", "eeeee")]
    asked = [Repeat(**asdict(query_of(given.sample, given.sample.source, FUNCTION_NAME)), bucket=0, number=number)
             for given in cases for number in range(times)]  # fmt: skip
    places: dict[str, set[int]] = {}
    for number in range(times):
        for batch in rebatches([repeat for repeat in asked if repeat.number == number], 8, padded=True):
            for place, query in enumerate(batch.queries):
                places.setdefault(query.source, set()).add(place)
    assert {len(place) for place in places.values()} == {times}


def test_equal_texts_of_two_buckets_are_repeated_for_each() -> None:
    first = case("aaaa")
    other = next(name for name in map(str, range(9)) if bucket_of(name) != bucket_of(first.sample.id))
    twin = replace(first.sample, id=other)
    same = replace(first, sample=twin, outcomes=(replace(first.outcomes[0], sample=twin),))
    model = Recorder(echo)
    run([first, same], model)
    assert model.asked == ["aaaa"] * 3


def test_the_identity_is_really_asked_again() -> None:
    answers = iter(range(100))
    fickle = Recorder(lambda query: Predicted(answer="abcdefgh"[next(answers) % 8]))
    (audited,) = run([case("aaaa")], fickle)
    assert isinstance(audited.verdicts[0], Violated)


def test_the_identity_is_never_served_from_the_first_answer_in_memory() -> None:
    memory = Remembering()
    model = Recorder(echo)
    run([case("aaaa", "ab")], model, memory=memory)
    assert sorted(set(model.asked)) == ["aaaa", "ab"]
    assert {again for _, again in memory.known} == {False, True}


@pytest.mark.parametrize("batch_size", [1, 2, 3, 100])
def test_results_do_not_depend_on_batch_size(batch_size: int) -> None:
    assert run(CASES, Recorder(echo), batch_size=batch_size) == run(CASES, Recorder(echo))


def test_results_do_not_depend_on_the_other_samples() -> None:
    together = run(CASES, Recorder(echo))
    assert together == [audited for single in CASES for audited in run([single], Recorder(echo))]
    shuffled = CASES[:]
    Random(3).shuffle(shuffled)
    assert {audited.sample.id: audited for audited in together} == {
        audited.sample.id: audited for audited in run(shuffled, Recorder(echo))
    }


def test_what_is_remembered_is_not_asked_and_changes_nothing() -> None:
    memory = Remembering()
    first = run(CASES, Recorder(echo), memory=memory)
    model = Recorder(echo)
    assert run(CASES, model, memory=memory) == first
    assert model.asked == []


def test_failures_are_not_remembered_and_never_violations() -> None:
    memory = Remembering()
    audits = run(CASES, Recorder(refuse), memory=memory)
    assert memory.known == {}
    verdicts = [verdict for audited in audits for verdict in audited.verdicts]
    assert {type(verdict) for verdict in verdicts} == {Unjudged}
    assert {verdict.reason for verdict in verdicts if isinstance(verdict, Unjudged)} == {"endpoint: 429"}
    assert [audited.score for audited in audits] == [None, None, None]


def test_malformed_answers_are_failures() -> None:
    (audited,) = run([case("aaaa", "ab")], Recorder(lambda query: Predicted(answer=1.5)))
    assert audited.before == Failed(reason="no readable answer")
    not_finite = Recorder(lambda query: Predicted(answer="a", scores=(("a", float("nan")),)))
    assert run([case("aaaa")], not_finite)[0].before == Failed(reason="no readable answer")


def test_answers_are_normalised_and_scored() -> None:
    original = sample("aaaa", ("get", "value"))
    given = Case(sample=original, outcomes=(perturbed(original, "bbbb"),))
    model = Recorder(lambda query: Predicted(answer="getValue" if query.source == "aaaa" else "get"))
    (audited,) = run([given], model)
    assert audited.before == Predicted(answer=("get", "value"))
    assert audited.score == 1.0
    assert audited.after_scores == (2 / 3,)


def test_a_model_that_loses_answers_is_an_error() -> None:
    class Short(Recorder):
        def predict(self, queries: Sequence[Query]) -> list[Prediction]:
            return super().predict(queries)[1:]

    with pytest.raises(ModelError, match="gave 2 answers to 3 queries"):
        run([case("aaaa", "ab", "ac")], Short(echo))


def test_batches_are_remembered_before_the_next_is_asked() -> None:
    memory = Remembering()
    calls = 0

    def breaks(query: Query) -> Prediction:
        nonlocal calls
        calls += 1
        if calls > 4:
            raise KeyboardInterrupt
        return echo(query)

    with pytest.raises(KeyboardInterrupt):
        run(CASES, Recorder(breaks, parameters=1), batch_size=2, memory=memory)
    assert len(memory.known) == 4
    model = Recorder(echo)
    assert run(CASES, model, memory=memory) == run(CASES, Recorder(echo))
    assert len(model.asked) == 6 + 3 - 4


def test_the_monitor_counts_what_was_asked_and_recalled() -> None:
    memory, monitor = Remembering(), Counting()
    for _ in range(2):
        setup = AuditSetup(
            model=Recorder(echo), task=FUNCTION_NAME, memory=memory, monitor=monitor, batch_size=4
        )
        list(audit(CASES, setup))
    assert (monitor.asked, monitor.recalled) == (9, 9)


def verdict(before: Predicted, after: Predicted, noise: float) -> Held | Violated | Unjudged:
    original = sample("x")
    return judge(perturbed(original, "y"), before, after, original, task=FUNCTION_NAME, noise=noise)


def test_a_flip_within_numeric_noise_is_no_verdict() -> None:
    before = Predicted(answer=("a",), margin=5e-6)
    after = Predicted(answer=("a", "b"), margin=4e-6)
    assert verdict(before, after, 1e-6) == Unjudged(
        perturbed=perturbed(sample("x"), "y"), before=before, after=after, reason="numeric noise"
    )
    assert isinstance(verdict(before, after, 0.0), Violated)
    far = Predicted(answer=("a", "b"), margin=0.3)
    assert isinstance(verdict(before, far, 1e-6), Violated), "one small margin alone is no excuse"


def test_without_margins_the_moved_scores_decide_about_noise() -> None:
    before = Predicted(answer="a", scores=(("a", 0.5000001), ("b", 0.5)))
    near = Predicted(answer="b", scores=(("a", 0.5), ("b", 0.5000001)))
    far = Predicted(answer="b", scores=(("a", 0.4), ("b", 0.6)))
    unseen = Predicted(answer="c", scores=(("a", 0.5), ("c", 0.6)))
    assert isinstance(verdict(before, near, 1e-6), Unjudged)
    assert isinstance(verdict(before, far, 1e-6), Violated)
    assert isinstance(verdict(before, unseen, 1e-6), Violated)


def test_the_deviation_is_over_labels_on_both_sides() -> None:
    before = Predicted(answer="a", scores=(("a", 0.5), ("b", 0.1)))
    after = Predicted(answer="a", scores=(("a", 0.25), ("c", 0.9)))
    for one, other in ((before, after), (after, before)):
        held = verdict(one, other, 0.0)
        assert isinstance(held, Held)
        assert held.deviation == 0.25
    bare = verdict(Predicted(answer="a"), after, 0.0)
    assert isinstance(bare, Held)
    assert bare.deviation == 0.0


def test_a_model_whose_noise_depends_on_the_batch_shows_it_in_the_identity() -> None:
    class Positional(Recorder):
        """Answers by the place in the batch, as no model should."""

        def predict(self, queries: Sequence[Query]) -> list[Prediction]:
            digest = hashlib.sha256(repr([query.source for query in queries]).encode()).hexdigest()
            return [Predicted(answer=f"{digest[:8].translate(LETTERS)}") for _ in queries]

    audits = run([case("a" * length) for length in range(1, 9)], Positional(echo), batch_size=4)
    assert all(isinstance(audited.verdicts[0], Violated) for audited in audits)


LETTERS = str.maketrans("0123456789", "ghijklmnop")


def test_an_answer_that_cannot_be_used_is_remembered_and_one_that_was_not_had_is_asked_again() -> None:
    for answer, again in ((Predicted(answer="!"), 0), (Failed(reason="endpoint: 429"), 1)):
        memory = Remembering()
        model = Recorder(lambda query, answer=answer: answer)  # type: ignore[misc]
        first = run([case("a", "b")], model, memory=memory)
        asked = len(model.asked)
        assert run([case("a", "b")], model, memory=memory) == first
        assert (len(model.asked) > asked) == again


@pytest.mark.parametrize("excuse", sorted(EXCUSES))
def test_a_model_cannot_excuse_a_missing_answer(excuse: str) -> None:
    silent = Recorder(lambda query: Failed(reason=excuse) if "aab" in query.source else echo(query))
    (audited,) = run([case("aaaa", "aab")], silent)
    reasons = [verdict.reason for verdict in audited.verdicts if isinstance(verdict, Unjudged)]
    assert reasons == [f"model: {excuse}"]
