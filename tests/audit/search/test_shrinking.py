"""The smallest edit that flips an answer, found with models that read one thing only."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from codeaudit.audit.cache import NoMemory
from codeaudit.audit.interface import BaseModel
from codeaudit.audit.records import Explained, Gone, Predicted, Prediction, Query, Violated
from codeaudit.audit.run import AuditSetup
from codeaudit.audit.search.shrinking import explain
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.perturb import perturb_one, reapply
from codeaudit.transforms.records import Move, Origin, Perturbed, Sample
from codeaudit.transforms.registry import rests_on, transform_for
from tests.audit.test_run import Silent

SOURCE = """def MASK(rows, limit):
    total = 0
    count = 0
    best = None
    seen = 0
    extra = 1
    for row in rows:
        total += row
        count += 1
        seen += extra
    best = total
    return total, count, best, seen
"""
SAMPLE = Sample(id="s", language="python", source=SOURCE, label=("a",), origin=Origin(path="a.py", line=1))


class Reader(BaseModel):
    """Answers what a function of the text says, and keeps the texts."""

    name = "reader"
    task = None
    parameters = None
    fingerprint = "reader"
    noise = 0.0

    def __init__(self, read: Callable[[str], object]) -> None:
        self.read = read
        self.asked: list[str] = []

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        self.asked += [query.source for query in queries]
        return [Predicted(answer=(str(self.read(query.source)).lower(),)) for query in queries]


def violation(transform: str, seed: int = 0) -> Perturbed:
    """An edit at every place that the transform finds."""
    engine = transform_for(transform, "python")
    moves = engine.propose(SOURCE, Random(seed))
    assert not isinstance(moves, Refused)
    made = reapply(SAMPLE, engine, moves)
    assert isinstance(made, Perturbed)
    return made


def shrunk(made: Perturbed, model: Reader, *, batch_size: int = 4) -> Explained | Gone:
    setup = AuditSetup(
        model=model, task=FUNCTION_NAME, memory=NoMemory(), monitor=Silent(), batch_size=batch_size
    )
    answer = Predicted(answer=("x",))
    recorded = Violated(perturbed=made, before=answer, after=answer, deviation=0.0)
    return explain(recorded, setup, seed=3)


def has(*names: str) -> Callable[[str], object]:
    """Whether any of these names is still there."""
    return lambda text: any(re.search(rf"\b{name}\b", text) for name in names)


def notes(explained: Explained | Gone) -> list[str]:
    assert isinstance(explained, Explained)
    return [move.note.partition(" ")[0] for move in explained.minimal.perturbed.moves]


def test_the_one_variable_that_a_model_reads_is_found() -> None:
    made = violation("rename")
    assert len(made.moves) == 6
    outcome = shrunk(made, Reader(has("count")))
    assert notes(outcome) == ["count"]
    assert isinstance(outcome, Explained)
    assert outcome.smallest
    assert outcome.minimal.before.answer == ("true",)
    assert outcome.minimal.after.answer == ("false",)
    assert outcome.minimal.perturbed.sample == SAMPLE
    assert (outcome.model, outcome.seed) == ("reader", 3)


def test_two_variables_that_flip_only_together() -> None:
    outcome = shrunk(violation("rename"), Reader(has("seen", "best")))
    assert sorted(notes(outcome)) == ["best", "seen"]
    assert isinstance(outcome, Explained)
    assert outcome.smallest


def test_more_moves_are_taken_away_until_each_is_needed() -> None:
    wanted = ["count", "extra", "row", "seen"]
    outcome = shrunk(violation("rename"), Reader(has(*wanted)))
    assert sorted(notes(outcome)) == wanted
    assert isinstance(outcome, Explained)
    assert not outcome.smallest


@pytest.mark.parametrize("batch_size", [1, 3, 32])
def test_each_text_is_asked_once_and_counted(batch_size: int) -> None:
    made = violation("rename")
    model = Reader(has("seen", "best"))
    outcome = shrunk(made, model, batch_size=batch_size)
    assert isinstance(outcome, Explained)
    assert len(model.asked) == len(set(model.asked))
    assert outcome.queries == len(set(model.asked) - {SOURCE, made.source})


def test_an_order_comes_down_to_two_neighbours() -> None:
    first = lambda text: text.index("extra = 1") < text.index("seen = 0")  # noqa: E731
    for seed in range(40):
        made = violation("reorder", seed)
        if first(made.source) != first(SOURCE):
            break
    outcome = shrunk(made, Reader(first))
    assert isinstance(outcome, Explained)
    before, after = SOURCE.splitlines(), outcome.minimal.perturbed.source.splitlines()
    moved = [number for number, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    assert [before[number].strip() for number in moved] == ["seen = 0", "extra = 1"]


def test_what_no_longer_flips_is_said() -> None:
    outcome = shrunk(violation("rename"), Reader(lambda text: "same"))
    assert isinstance(outcome, Gone)
    assert outcome.reason == "the answer no longer changes, or the edit is no longer legal"


def test_the_smallest_is_the_smallest_of_all_subsets() -> None:
    made = violation("rename")
    engine = transform_for("rename", "python")
    read = lambda text: (has("count")(text) or has("best")(text)) and has("seen", "total")(text)  # noqa: E731
    flipping = []
    for size in range(1, len(made.moves) + 1):
        for moves in combinations(made.moves, size):
            tried = reapply(SAMPLE, engine, moves)
            if isinstance(tried, Perturbed) and read(tried.source) != read(SOURCE):
                flipping.append(size)
    outcome = shrunk(made, Reader(read))
    assert len(notes(outcome)) == min(flipping) == 2


def test_a_part_of_what_only_execution_confirmed_is_not_tried() -> None:
    rows = (
        "def MASK(a):\n    one = min(a)\n    two = max(a)\n    three = sum(a)\n    return one, two, three\n"
    )
    sample = replace(SAMPLE, source=rows)
    engine = transform_for("confirmed/reorder", "python")
    move = Move(kind="order", site=1, value=(2, 1, 0, 3), note="")
    made = reapply(sample, engine, (move,), unconfirmed=True)
    assert isinstance(made, Perturbed)
    assert made.evidence == "none"
    ran = replace(made, evidence="executed", rests_on=("looks-quiet",))
    outcome = shrunk(ran, Reader(lambda text: text.index("one =") < text.index("two =")))
    assert isinstance(outcome, Explained)
    least = outcome.minimal.perturbed
    assert (least.moves, least.evidence, least.rests_on) == ((move,), "executed", ("looks-quiet",))


def test_a_part_keeps_what_the_file_showed_of_the_whole_edit() -> None:
    rows = "int MASK(int a) {\n    int b = a;\n    int c = a;\n    return b - c;\n}\n"
    sample = replace(SAMPLE, language="c", source=rows, context=f"{rows}int other;\n")
    (variant,) = perturb_one(sample, transform_for("rename", "c"), variants=1, seed=0)
    assert isinstance(variant, Perturbed)
    assert len(variant.moves) == 2
    frozen = replace(variant, sample=replace(sample, context=""))  # a suite has no texts of files
    outcome = shrunk(frozen, Reader(has("b")))
    assert isinstance(outcome, Explained)
    assert len(outcome.minimal.perturbed.moves) == 1
    assert outcome.minimal.perturbed.evidence == variant.evidence == "analysis"
    assert not rests_on(outcome.minimal.perturbed)
