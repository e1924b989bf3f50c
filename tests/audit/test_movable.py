"""The draw of movable samples: enough of them, and each only for the transforms that lack them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pytest

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.corpora.selection import select
from codeaudit.audit.interface import BaseModel
from codeaudit.audit.labels import labels
from codeaudit.audit.models.wrappers import Canonical
from codeaudit.audit.movable import MovableChooser, readable_by
from codeaudit.audit.records import Case, Failed, MovableSize, Prediction, Query
from codeaudit.audit.registry import TASKS
from codeaudit.audit.run import SilentProgress
from codeaudit.audit.suite import SuitePlan, case
from codeaudit.options import RunOptions
from codeaudit.preparing import DrawnInputs, load_models
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.registration import overrides

TASK = TASKS.get("function-name")
TRANSFORMS = ("identity", "reorder", "rename")
PLAIN = 10


def function(number: int) -> Sample:
    """Every function has a local to rename, and every tenth one a second legal order."""
    moving = f"    b = {number}\n" if number % 10 == 3 else ""
    source = f"def get_{number}(x):\n    a = {number}\n{moving}    c = x + a\n    return c\n"
    return raw_sample(source, language="python", label=None, path=f"{number}.py", line=number + 1)


@dataclass
class Numbered:
    """A corpus of such functions that counts how often it is read."""

    size: int
    spec: str = "numbered"
    read_times: int = 0

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        self.read_times += 1
        yield from map(function, range(self.size))


@dataclass
class Narrow(BaseModel):
    """A model that reads texts up to a length only."""

    most: int
    name: str = "narrow"
    task: str | None = None
    parameters: int | None = None
    fingerprint: str = "narrow"
    noise: float = 0.0
    seen: list[Query] = field(default_factory=list)

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        raise AssertionError("a draw asks nothing")

    def unreadable(self, query: Query) -> Failed | None:
        self.seen.append(query)
        return Failed(reason="input too long") if len(query.source) > self.most else None


def inputs(
    corpus: Numbered, *, movable: int, workers: int = 1, limit: int = PLAIN, spare: int = 0
) -> DrawnInputs:
    source = labels("none", TASK)
    selections = select(*source.examples(corpus, TASK), limit=limit, seeds=[0], spare=spare)
    return DrawnInputs(
        name=corpus.spec,
        task=TASK,
        noun=None,
        selections=selections,
        transforms=TRANSFORMS,
        options=RunOptions(variants=2, workers=workers, movable=movable),
        labels=source,
        progress=SilentProgress(),
    )


def drawn(made: DrawnInputs, *models: Narrow) -> tuple[list[Case], list[Case], dict[str, MovableSize]]:
    """The cases of the plain draw, those drawn in addition, and the record of the draw."""
    chooser = made.chooser(readable_by(models, TASK))
    cases = list(made.cases(0, chooser))
    assert chooser is not None
    by_transform = {row.transform: row for row in chooser.result(0).by_transform}
    return (
        [taken for taken in cases if not taken.extra],
        [taken for taken in cases if taken.extra],
        by_transform,
    )


def movable(cases: list[Case], transform: str) -> int:
    return sum(
        any(isinstance(outcome, Perturbed) and outcome.transform == transform for outcome in each.outcomes)
        for each in cases
    )


def test_each_transform_gets_its_samples_and_no_other_is_tried_on_them() -> None:
    plain, extra, by_transform = drawn(inputs(Numbered(400), movable=8))
    assert len(plain) == PLAIN
    assert movable(plain, "rename") == PLAIN >= 8
    assert movable([*plain, *extra], "reorder") == 8 > movable(plain, "reorder")
    assert {outcome.transform for each in extra for outcome in each.outcomes} == {"reorder"}
    assert "identity" not in by_transform
    assert by_transform["reorder"].extra == len(extra)
    assert by_transform["rename"].extra == 0
    assert by_transform["rename"].tried == PLAIN < by_transform["reorder"].tried


def test_the_plain_draw_is_the_same_as_without_more() -> None:
    alone = list(inputs(Numbered(400), movable=0).cases(0))
    plain, extra, _ = drawn(inputs(Numbered(400), movable=8))
    assert plain == alone
    assert not {taken.sample.id for taken in plain} & {taken.sample.id for taken in extra}


def test_more_movable_samples_extend_fewer() -> None:
    fewer, more = (drawn(inputs(Numbered(400), movable=count))[1] for count in (4, 8))
    assert more[: len(fewer)] == fewer
    assert len(more) > len(fewer)


def test_the_corpus_may_end_first() -> None:
    _, extra, by_transform = drawn(inputs(Numbered(60), movable=50))
    # Six of 60 functions have another order, and each one has a local.
    assert by_transform["reorder"].movable.samples == 6
    assert by_transform["rename"].movable.samples == 50
    assert by_transform["reorder"].tried == 60
    assert len({taken.sample.id for taken in extra}) == len(extra)


@pytest.mark.slow
def test_a_corpus_larger_than_what_was_kept_is_read_to_its_end() -> None:
    corpus = Numbered(300)
    _, extra, by_transform = drawn(inputs(corpus, movable=250))
    assert by_transform["rename"].movable.samples == 250
    assert corpus.read_times > 1
    whole = Numbered(300)
    assert drawn(inputs(whole, movable=250, spare=5000))[1] == extra
    assert whole.read_times == 1


@pytest.mark.slow
def test_worker_processes_change_nothing() -> None:
    assert drawn(inputs(Numbered(400), movable=12)) == drawn(inputs(Numbered(400), movable=12, workers=3))


def test_what_a_worker_tried_in_vain_is_dropped() -> None:
    # A worker may have tried a transform that had enough when its result arrives.
    chooser = MovableChooser(["reorder", "rename"], wanted=1, readable=readable_by((), TASK))
    plan = SuitePlan(transforms=("reorder", "rename"), variants=1, seed=0)
    first, second = (case(function(number), plan) for number in (3, 13))
    assert chooser.chosen(first) == replace(first, extra=True)
    assert chooser.chosen(second) is None
    assert chooser.short == ()


def test_what_one_model_cannot_read_does_not_count() -> None:
    # Numbers from 100 up make the text longer than what the second model reads.
    asked = TASK.prepare(function(93))
    assert isinstance(asked, Sample)
    most = len(asked.source)
    _, extra, by_transform = drawn(
        inputs(Numbered(400), movable=5), Narrow(10_000), Narrow(most, name="other")
    )
    assert all(len(taken.sample.source) <= most for taken in extra)
    assert by_transform["reorder"].movable.samples == 5
    _, longer, _ = drawn(inputs(Numbered(400), movable=5), Narrow(10_000))
    assert any(len(taken.sample.source) > most for taken in longer)


@pytest.mark.parametrize(
    ("refused", "counts"), [("the original", False), ("all variants", False), ("one variant", True)]
)
def test_the_original_and_one_variant_must_be_readable(refused: str, counts: bool) -> None:
    made = case(function(3), SuitePlan(transforms=("rename",), variants=2, seed=0))
    texts = [outcome.source for outcome in made.outcomes if isinstance(outcome, Perturbed)]
    assert len(set(texts)) == 2
    closed = {"the original": [made.sample.source], "all variants": texts, "one variant": texts[:1]}[refused]
    chooser = MovableChooser(["rename"], wanted=1, readable=lambda _, source: source not in closed)
    assert (chooser.chosen(made) is not None) is counts


def test_a_wrapper_asks_the_model_inside_about_what_it_will_see() -> None:
    inner = Narrow(10_000)
    source = function(3).source
    readable = readable_by([Canonical(inner)], TASK)
    assert readable(function(3), source)
    assert [query.source != source for query in inner.seen] == [True]
    assert not readable(function(3), "def broken(:")


def test_sizes_say_how_movable_samples_differ() -> None:
    made = inputs(Numbered(400), movable=8)
    chooser = made.chooser(readable_by((), TASK))
    assert chooser is not None
    list(made.cases(0, chooser))
    draw = chooser.result(0)
    (reorder,) = (row.movable for row in draw.by_transform if row.transform == "reorder")
    assert (draw.plain.samples, draw.plain.lines, draw.plain.statements) == (PLAIN, 4, 3)
    assert (reorder.samples, reorder.lines, reorder.statements) == (8, 5, 4)


@pytest.mark.parametrize("name", ["spe-checkpoint", "tree-checkpoint"])
def test_a_model_tells_what_it_would_not_read(name: str) -> None:
    (model,) = load_models(RunOptions(), (name,), {})
    assert overrides(model, BaseModel.unreadable)
    short, broken = function(3).source, "def broken(:"
    long = "def f(x):\n" + "    x = x + 1\n" * 600 + "    return x\n"
    asked = [Query(task=TASK.name, language="python", source=text) for text in (short, broken, long)]
    asked.append(Query(task=TASK.name, language="java", source="int f() { return 1; }"))
    refusals = [model.unreadable(query) for query in asked]
    # In either order: what a model told about a text must not change its answer.
    answers = model.predict(asked)
    assert [answer if isinstance(answer, Failed) else None for answer in answers] == refusals
    assert model.predict(asked) == answers
    assert refusals[0] is None
    assert refusals[1] is not None
    assert refusals[3] is not None
