"""Repair: rows as published, which answers pass, and which variants are asked about."""

import json
from collections import Counter
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.labels import labels
from codeaudit.audit.records import Attempt, Case, Predicted
from codeaudit.audit.registry import TASKS
from codeaudit.audit.tasks.repair import FAILS_OTHERWISE, NO_FAULT, NO_FIX, NOT_WRITTEN, REPAIR
from codeaudit.audit.tasks.solutions import NOT_RUN
from codeaudit.audit.tasks.solving import FAILS_ITSELF, NO_TESTS
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.oracle.containment import offered
from codeaudit.transforms.oracle.toolchains import TOOLCHAINS
from codeaudit.transforms.records import NotApplied, Perturbed, Sample
from tests.support.audited import variant

HEAD = 'import math\n\n\ndef above(values, least):\n    """Count values above."""\n'
RIGHT = "    return len([one for one in values if one > least])\n"
WRONG = RIGHT.replace(">", "<")
PACK = {
    "task_id": "Python/7",
    "prompt": HEAD,
    "declaration": "def above(values, least):\n",
    "canonical_solution": RIGHT,
    "buggy_solution": WRONG,
    "bug_type": "operator misuse",
    "failure_symptoms": "incorrect output",
    "entry_point": "above",
    "import": "import math\n",
    "test_setup": "",
    "test": "def check(above):\n    assert above([1, 2, 3], 2) == 1\n    assert above([1, 5, 2], 0) == 3\n\ncheck(above)",
    "example_test": "",
    "signature": "",
    "docstring": "",
    "instruction": "",
}
PACK_JS = {
    **PACK,
    "task_id": "JavaScript/7",
    "prompt": "const above = (values, least) => {\n",
    "declaration": "const above = (values, least) => {\n",
    "canonical_solution": "  return values.filter((one) => one > least).length;\n}\n",
    "buggy_solution": "  return values.filter((one) => one < least).length;\n}\n",
    "import": "",
    "test": "console.assert(above([1, 5, 2], 1) === 2);\n",
}
QUIX = {
    "name": "above",
    "buggy_program": f"def above(values, least):\n{WRONG}",
    "docstring": '"""\nCount values above.\n"""',
    "solution": f"def above(values, least):\n{RIGHT}",
    "tests": "assert above([1, 2, 3], 2) == 1\nassert above([1, 5, 2], 0) == 3",
}
node = pytest.mark.skipif(
    bool(TOOLCHAINS["javascript"].missing) or not offered().enough,
    reason="no node, or no sandbox on this machine",
)


@pytest.fixture(scope="module", autouse=True)
def _kept(tmp_path_factory: pytest.TempPathFactory) -> None:
    labels(None, REPAIR, cache=tmp_path_factory.mktemp("kept"))


def prepared(row: dict[str, str], folder: Path) -> Sample | str:
    path = folder / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n", "utf-8")
    (raw,) = corpus(str(path), None, CorpusResources()).read(Counter())
    return REPAIR.prepare(raw)


def failures(sample: Sample, *texts: str) -> list[str | None]:
    said = REPAIR.graded(Predicted(answer=texts), sample.source, sample)
    assert isinstance(said, Predicted)
    assert isinstance(said.answer, tuple)
    return [attempt.failure if isinstance(attempt, Attempt) else "not graded" for attempt in said.answer]


@pytest.mark.parametrize(
    ("row", "source"),
    [(PACK, HEAD + WRONG), (QUIX, QUIX["buggy_program"]), pytest.param(PACK_JS, None, marks=node)],
)
def test_the_side_with_the_fault_is_asked_about(
    row: dict[str, str], source: str | None, tmp_path: Path
) -> None:
    example = prepared(row, tmp_path)
    assert isinstance(example, Sample), example
    assert example.source == (source or row["prompt"] + row["buggy_solution"])
    assert failures(example, f"Sure:\n```\n{example.other_side}\n```", example.source, "It is fine.") == [
        None,
        "AssertionError",
        NOT_WRITTEN,
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"buggy_solution": RIGHT}, NO_FAULT),
        ({"canonical_solution": WRONG}, FAILS_ITSELF),
        ({"buggy_solution": ""}, NO_FIX),
        ({"test": ""}, NO_TESTS),
        (
            {
                "task_id": "Java/7",
                "declaration": "class Solution {\n    public int one(int a) {\n",
                "canonical_solution": "        int b = a;\n        return b;\n    }\n}",
            },
            NOT_RUN,
        ),
    ],
)
def test_what_is_no_problem(change: dict[str, str], reason: str, tmp_path: Path) -> None:
    assert prepared({**PACK, **change}, tmp_path) == reason


def test_variants_fail_as_the_original(tmp_path: Path) -> None:
    example = prepared(PACK, tmp_path)
    assert isinstance(example, Sample)

    given = (
        variant(example, "one", "each"),
        variant(example, "<", ">"),
        variant(example, "def above", "def over"),
        variant(example, "<", ">=", "control"),
    )
    (case,) = labels(None, REPAIR).relabelled(iter([Case(sample=example, outcomes=given)]))
    kept, passing, renamed, control = case.outcomes
    assert kept == given[0]
    assert [each.reason for each in (passing, renamed) if isinstance(each, NotApplied)] == [
        FAILS_OTHERWISE
    ] * 2
    assert isinstance(control, Perturbed)
    assert REPAIR.expects(example, control) == "unknown"


def test_it_is_a_task_of_the_registry() -> None:
    assert TASKS.get("repair") is REPAIR
    with pytest.raises(UsageError, match="the labels of task 'repair' are its tests"):
        labels("column", REPAIR)
