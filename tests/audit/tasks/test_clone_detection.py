"""Clone detection: which unit is rewritten, what is shown, and what answers and replies are read as."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from codeaudit.audit.records import Failed, Predicted, Query
from codeaudit.audit.registry import TASKS
from codeaudit.audit.rows import suite_rows
from codeaudit.audit.run import asked_of, query_of
from codeaudit.audit.suite import SuitePlan, case
from codeaudit.audit.tasks.clone_detection import CLONE, CLONE_DETECTION, DIFFERENT
from codeaudit.audit.tasks.pairs import PairedUnits
from codeaudit.transforms.errors import OTHER_NOT_PARSED, UsageError
from codeaudit.transforms.records import NotApplied, Origin, Perturbed, Sample
from codeaudit.transforms.registry import SWAP_SIDES

FIRST = "def half(x):\n    y = x / 2\n    return y\n"
SECOND = "def part(a):\n    b = a * 0.5\n    return b\n"
PAIR = Sample(
    id="s", language="python", source=FIRST, label="1", origin=Origin(path="a", line=1), other=SECOND
)


def asked(name: str, *transforms: str) -> list[tuple[Sample, Perturbed | NotApplied, Query | None]]:
    task = TASKS.get(name)
    pair = task.prepare(PAIR)
    assert isinstance(pair, Sample)
    made = case(pair, SuitePlan(transforms=transforms, variants=2, seed=0))
    return [
        (pair, outcome, asked_of(pair, outcome, task) if isinstance(outcome, Perturbed) else None)
        for outcome in made.outcomes
    ]


def test_either_unit_or_both_are_rewritten_and_stand_at_their_places() -> None:
    original = Query(task="clone-detection", language="python", source=FIRST, other=SECOND)
    for name in ("clone-detection", "clone-detection:second", "clone-detection:both"):
        rows = asked(name, "rename")
        assert query_of(rows[0][0], rows[0][0].source, CLONE_DETECTION) == original
        for _, _, query in rows:
            assert query is not None
            assert (query.source != FIRST) == (name != "clone-detection:second")
            assert (query.other != SECOND) == (name != "clone-detection")
    with pytest.raises(UsageError, match="unknown side 'third'; known: both, first, second"):
        TASKS.get("clone-detection:third")
    with pytest.raises(UsageError, match="takes no share"):
        TASKS.get("equivalence:both")


def test_a_pair_that_is_made_keeps_what_is_known_of_its_first_unit() -> None:
    fields = {"tests": "def check(candidate): ...", "context": FIRST, "file": "/a", "group": "g"}
    unit = replace(PAIR, other="", label="problem", **fields)  # type: ignore[arg-type]

    class Programs:
        spec = "programs"

        def read(self, skipped: Counter[str]) -> Iterator[Sample]:
            yield unit
            for n in range(5):
                yield replace(unit, id=str(n), source=f"{SECOND}# {n}\n", label=f"problem {n}")

    pair = next(iter(PairedUnits(whole=Programs(), same=CLONE, apart=DIFFERENT).read(Counter())))
    made = CLONE_DETECTION.prepare(pair)
    assert isinstance(made, Sample)
    assert {name: getattr(made, name) for name in fields} == fields
    assert made.other
    assert made.id != unit.id
    second = TASKS.get("clone-detection:second").prepare(pair)
    assert isinstance(second, Sample)
    assert (second.source, second.tests, second.context, second.file) == (pair.other, None, "", "")


def test_a_variant_of_both_needs_both() -> None:
    # Only the first unit has a statement that can move.
    first = replace(PAIR, sides="both", source="def f(x):\n    a = x + 1\n    b = x + 2\n    return a, b\n")
    made = case(first, SuitePlan(transforms=("reorder",), variants=1, seed=0)).outcomes
    assert all(isinstance(outcome, NotApplied) for outcome in made)


def test_swapping_the_sides_is_asked_once_and_rewrites_nothing() -> None:
    ((pair, swapped, query),) = asked("clone-detection", SWAP_SIDES)
    assert isinstance(swapped, Perturbed)
    assert query is not None
    assert (swapped.kind, swapped.source) == ("swap", FIRST)
    assert (query.source, query.other) == (SECOND, FIRST)
    ((second, _, other),) = asked("clone-detection:second", SWAP_SIDES)
    assert other == query
    (row,) = suite_rows(0, case(second, SuitePlan(transforms=(SWAP_SIDES,), variants=1, seed=0)))
    (plain,) = suite_rows(0, case(pair, SuitePlan(transforms=(SWAP_SIDES,), variants=1, seed=0)))
    assert row["input"] == plain["input"]
    assert row["sides"] == "second"


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (1, CLONE), (True, CLONE), ("true", CLONE), ("Yes", CLONE), ("clones", CLONE), ("0.0", DIFFERENT),
        (False, DIFFERENT), ("no", DIFFERENT), ("not a clone", DIFFERENT), ("same", None), (2, None), (None, None),
    ],
)  # fmt: skip
def test_answers_and_labels_are_read_as_one_of_two_words(given: object, word: str | None) -> None:
    assert CLONE_DETECTION.normalise(given) == word


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ("clone", CLONE), ("**Different**", DIFFERENT), ("They are clones.", CLONE), ("0", DIFFERENT),
        ("The two functions are not clones.", DIFFERENT), ("Answer: clone (type 4)", CLONE),
        ("clone or different", None), ("They could be clones.", None),
    ],
)  # fmt: skip
def test_a_reply_gives_one_word_or_none(reply: str, word: str | None) -> None:
    prompt = CLONE_DETECTION.prompt
    assert prompt is not None
    prediction = prompt.read(reply)
    assert isinstance(prediction, Predicted if word else Failed)
    assert not isinstance(prediction, Predicted) or CLONE_DETECTION.normalise(prediction.answer) == word


def test_an_example_is_a_pair_that_parses() -> None:
    example = CLONE_DETECTION.prepare(PAIR)
    assert isinstance(example, Sample)
    assert example.label == CLONE
    assert CLONE_DETECTION.prepare(replace(PAIR, other="")) == "no second unit"
    assert CLONE_DETECTION.prepare(replace(PAIR, other="def f(")) == OTHER_NOT_PARSED
    assert CLONE_DETECTION.prepare(replace(PAIR, language="cobol")) == "no function of a programming language"
