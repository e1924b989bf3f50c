"""Input prediction: the question, which answers count, and which variants are asked about."""

from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.evidence_check import DIFFERS
from codeaudit.audit.labels import labels
from codeaudit.audit.records import Attempt, Case, Predicted
from codeaudit.audit.registry import TASKS
from codeaudit.audit.tasks.input_prediction import (
    INPUT_PREDICTION,
    NO_ARGUMENTS,
    NO_QUESTION,
    OTHER_QUESTION,
    RAISES,
    Inputs,
    arguments,
)
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.records import NotApplied, Perturbed, Sample
from tests.support.audited import variant
from tests.support.prepared_rows import prepared_row

CODE = "def f(word, times=2):\n    parts = [word] * times\n    return '-'.join(parts)\n"
ROW = {"code": CODE, "input": "'ab', 3", "output": "'ab-ab-ab'", "id": "sample_0"}
QUESTION = f"{CODE}\n\nassert f(...) == 'ab-ab-ab'\n"


def prepared(source: Inputs, folder: Path, **columns: str) -> Sample | str:
    return prepared_row(source, folder, {**ROW, **columns})


def test_a_row_of_cruxeval_asks_for_its_arguments(inputs: Inputs, tmp_path: Path) -> None:
    example = prepared(inputs, tmp_path)
    assert isinstance(example, Sample)
    assert (example.source, example.label) == (QUESTION, "'ab-ab-ab'")
    assert prepared(inputs, tmp_path, output="'ab'") == "its table says another result than execution"
    assert prepared(inputs, tmp_path, input="1, 2", output="TypeError") == RAISES


def test_what_is_no_example() -> None:
    raw = raw_sample(CODE, language="python", label="'a'", path="a", line=1)
    assert INPUT_PREDICTION.prepare(raw) == NO_QUESTION
    with pytest.raises(UsageError, match="are found by execution"):
        labels("column", INPUT_PREDICTION)
    assert TASKS.get("input-prediction") is INPUT_PREDICTION


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("'ab', 3", "'ab', 3"),
        ("f('ab',3)", "'ab', 3"),
        ("f(word='ab', times=3)", "word='ab', times=3"),
        ("assert f('ab', 3) == 'ab-ab-ab'", "'ab', 3"),
        ("It is:\n```python\nf('ab', 3)\n```\nDone.", "'ab', 3"),
        ("Because of that,\nf([1, {'a': -2}])", "[1, {'a': -2}]"),
        ("`f(1)`", "1"),
        ("f()", ""),
        ("f(...)", None),
        ("f(open('a'))", None),
        ("g(1)", None),
        ("f(*[1])", None),
        ("I do not know.", None),
        ("", None),
    ],
)
def test_arguments_are_literals(text: str, found: str | None) -> None:
    assert arguments(text, "f") == found


def test_every_right_input_counts(inputs: Inputs, tmp_path: Path) -> None:
    example = prepared(inputs, tmp_path)
    assert isinstance(example, Sample)
    given = ("'ab', 3", "f('ab-ab', 2)", "f('ab-ab-ab', times=1)", "'ab', 2", "f(__import__('os'))")
    prediction = INPUT_PREDICTION.graded(Predicted(answer=given), example.source, example)
    assert isinstance(prediction, Predicted)
    assert isinstance(prediction.answer, tuple)
    failures = [each.failure if isinstance(each, Attempt) else "not graded" for each in prediction.answer]
    assert failures == [None, "AssertionError", None, "AssertionError", NO_ARGUMENTS]


def test_variants_are_executed_with_the_known_arguments(inputs: Inputs, tmp_path: Path) -> None:
    example = prepared(inputs, tmp_path)
    assert isinstance(example, Sample)

    given = (
        variant(example, "f(", "g("),
        variant(example, "* times", "* 2"),
        variant(example, "== 'ab-ab-ab'", "== 'ab'"),
        variant(example, "'-'", "'+'", "control"),
        variant(example, "times=2", "times=4", "control"),
    )
    (case,) = inputs.relabelled(iter([Case(sample=example, outcomes=given)]))
    kept, broken, other, changed, unchanged = case.outcomes
    assert isinstance(kept, Perturbed)
    assert kept.evidence == "executed"
    assert [each.reason for each in (broken, other) if isinstance(each, NotApplied)] == [
        DIFFERS,
        OTHER_QUESTION,
    ]
    assert isinstance(changed, Perturbed)
    assert isinstance(unchanged, Perturbed)
    assert [INPUT_PREDICTION.expects(example, each) for each in (kept, changed, unchanged)] == [
        "same",
        "other",
        "unknown",
    ]
