"""Tables that bring their own calls: CRUXEval's columns and MBPP's are asked as they stand, or left out aloud."""

import json
from collections import Counter
from pathlib import Path

import pytest

from codeaudit.audit.corpora.selection import select
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.tasks.output_prediction import OTHER_RESULT, Outputs
from codeaudit.transforms.records import Sample

F = "def f(a, b):\n    return a + b\n"
CALLS = [("1, 2", "3"), ("3, 4", "7"), ("1, 2", "3")]


def asked(folder: Path, row: dict[str, object]) -> Sample | str:
    """What becomes of a row."""
    path = folder / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (sample,) = corpus(str(path)).read(Counter())
    return Outputs().prepared(sample)


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("row", "call", "result"),
    [
        ({"code": F, "input": "1, 2", "output": "3"}, "f(1, 2)", "3"),
        ({"code": F, "input": "'a', \"b\"", "output": "'ab'"}, "f('a', 'b')", "'ab'"),
        (
            {"code": F + "\ndef g(a):\n    return a\n", "input": "[1], []", "output": "[1]"},
            "f([1], [])",
            "[1]",
        ),
        ({"code": "def f(a):\n    return None\n", "input": "1", "output": "None"}, "f(1)", "None"),
        (
            {
                "text": "Add.",
                "code": "def h(a):\n    return a + 1\n\ndef k(b):\n    return b\n",
                "test_list": ["assert h(4) == 5"],
            },
            "h(4)",
            "5",
        ),
        ({"code": F, "test_list": ["assert f(1, 2) == 3.0"]}, "f(1, 2)", "3"),
    ],
)
def test_the_call_of_a_table_is_asked(tmp_path: Path, row: dict[str, object], call: str, result: str) -> None:
    example = asked(tmp_path, row)
    assert isinstance(example, Sample), example
    assert example.source.splitlines()[-1] == call
    assert example.label == result


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"code": F, "input": "1, 2", "output": "4"}, OTHER_RESULT),
        ({"code": F, "input": "1 2", "output": "3"}, "is no call of a function"),
        ({"code": F, "input": "1, b=2", "output": "3"}, "no literals by position"),
        ({"code": F, "input": "x, 2", "output": "3"}, "no literals by position"),
        ({"code": F.replace("f(", "g("), "input": "1, 2", "output": "3"}, "is no call of a function"),
        ({"code": F, "test_list": ["assert f(1, 2) == 4"]}, OTHER_RESULT),
        ({"code": F, "test_list": ["assert h(1, 2) == 3"]}, "is no call of a function"),
    ],
)
def test_no_other_call_is_asked_in_its_place(tmp_path: Path, row: dict[str, object], reason: str) -> None:
    message = asked(tmp_path, row)
    assert isinstance(message, str), message
    assert reason in message


def test_rows_of_one_function_are_a_question_for_each_call(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"code": F, "input": given, "output": result} for given, result in CALLS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (selection,) = select(corpus(str(path)), Outputs().prepared, limit=None, seeds=[0])
    assert sorted(sample.source.splitlines()[-1] for sample in selection.samples) == ["f(1, 2)", "f(3, 4)"]
    assert len({sample.id for sample in selection.samples}) == 2
    assert dict(selection.skipped) == {"duplicate": 1}
    # A task that does not show the call asks about the function once.
    (named,) = select(corpus(str(path)), lambda sample: sample, limit=None, seeds=[0])
    assert len(named.samples) == 1
    assert dict(named.skipped) == {"duplicate": 2}
