"""Translation: pairs in a table, which answers pass, and which variants are asked about."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.labels import labels
from codeaudit.audit.records import Attempt, Case, Predicted
from codeaudit.audit.registry import TASKS
from codeaudit.audit.tasks.solutions import NOT_RUN
from codeaudit.audit.tasks.solving import FAILS_ITSELF
from codeaudit.audit.tasks.translation import (
    FAILS_NOW,
    FAILS_OWN,
    NO_OWN,
    NO_QUESTION,
    NO_TARGET,
    NOT_WRITTEN,
    TRANSLATION,
)
from codeaudit.transforms.oracle.containment import offered
from codeaudit.transforms.oracle.toolchains import TOOLCHAINS
from codeaudit.transforms.records import NotApplied, Perturbed, Sample
from tests.support.audited import variant

node = pytest.mark.skipif(
    bool(TOOLCHAINS["javascript"].missing) or not offered().enough,
    reason="no node, or no sandbox on this machine",
)
HEAD = "from typing import List\n\n\ndef largest(values: List[int]) -> int:\n"
PYTHON = {
    "task_id": "Python/7",
    "prompt": HEAD + '    """Largest value."""\n',
    "declaration": HEAD,
    "canonical_solution": "    best = max(values)\n    return best\n",
    "test": "def check(largest):\n    assert largest([1, 3, 2]) == 3\n\ncheck(largest)\n",
    "example_test": "",
}
SCRIPT = {
    **PYTHON,
    "task_id": "JavaScript/7",
    "prompt": "/* Largest value.\n */\nconst largest = (values) => {\n",
    "declaration": "\nconst largest = (values) => {\n",
    "canonical_solution": "  const best = Math.max(...values);\n  return best;\n}\n\n",
    "test": "console.assert(largest([1, 3, 2]) === 3)\n",
}
OWN = {
    "source": "int largest(int a, int b) {\n  return a > b ? a : b;\n}\n",
    "language": "java",
    "target_language": "python",
    "target_prompt": "def largest(a, b):\n",
    "target_test": "assert largest(1, 3) == 3",
}


@pytest.fixture(scope="module", autouse=True)
def _kept(tmp_path_factory: pytest.TempPathFactory) -> None:
    labels(None, TRANSLATION, cache=tmp_path_factory.mktemp("kept"))


def prepared(rows: Sequence[dict[str, str]], folder: Path) -> list[Sample | str]:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return [TRANSLATION.prepare(raw) for raw in corpus(str(path), None, CorpusResources()).read(Counter())]


def failures(sample: Sample, *texts: str) -> list[str | None]:
    said = TRANSLATION.graded(Predicted(answer=texts), sample.source, sample)
    assert isinstance(said, Predicted)
    assert isinstance(said.answer, tuple)
    return [attempt.failure if isinstance(attempt, Attempt) else "not graded" for attempt in said.answer]


@node
def test_rows_of_humaneval_x_are_translations_of_each_other(tmp_path: Path) -> None:
    to_script, to_python = prepared([PYTHON, SCRIPT], tmp_path)
    assert isinstance(to_script, Sample), to_script
    assert isinstance(to_python, Sample), to_python
    assert to_script.source.endswith("\n\n# Translate into JavaScript:\n# const largest = (values) => {\n")
    assert to_python.source.endswith(
        "}\n\n// Translate into Python:\n// from typing import List\n"
        "// def largest(values: List[int]) -> int:\n"
    )
    whole = SCRIPT["declaration"] + SCRIPT["canonical_solution"]
    wrong = whole.replace("max", "min")
    assert failures(to_script, f"```js\n{whole}```", wrong, "No.") == [None, "AssertionError", NOT_WRITTEN]
    # The import stands before the head, so the answer need not repeat it.
    right = "def largest(values: List[int]) -> int:\n    return sorted(values)[-1]\n"
    assert failures(to_python, f"It is:\n```python\n{right}```\n") == [None]
    broken = {**SCRIPT, "canonical_solution": SCRIPT["canonical_solution"].replace("max", "min")}
    assert prepared([PYTHON, broken], tmp_path)[0] == FAILS_ITSELF


def test_a_table_names_its_targets(tmp_path: Path) -> None:
    (example,) = prepared([OWN], tmp_path)
    assert isinstance(example, Sample), example
    assert example.source.endswith("}\n\n// Translate into Python:\n// def largest(a, b):\n")
    assert failures(example, "def largest(a, b):\n    return max(a, b)\n", "def other(): pass") == [
        None,
        NOT_WRITTEN,
    ]
    assert prepared([PYTHON], tmp_path) == [NO_TARGET]
    assert prepared([{**OWN, "target_language": "cobol"}], tmp_path) == [NOT_RUN]
    assert TASKS.get("translation") is TRANSLATION


@pytest.mark.skipif(not offered().enough, reason="no sandbox on this machine")
@pytest.mark.parametrize(
    ("test", "reason"),
    [("assert half(5) == 2", ""), ("assert half(5) == 3", FAILS_OWN), ("", NO_OWN)],
)
def test_tests_in_the_language_of_the_unit_judge_controls(test: str, reason: str, tmp_path: Path) -> None:
    row = {**OWN, "source": "def half(a):\n    return a // 2\n", "language": "python", "test": test}
    (example,) = prepared([row], tmp_path)
    assert isinstance(example, Sample), example
    control = variant(example, "//", "*", "control")
    notes: list[str] = []
    source = labels(None, TRANSLATION, note=notes.append)
    (case,) = source.relabelled(iter([Case(sample=example, outcomes=(control,))]))
    (outcome,) = case.outcomes
    if reason:
        assert isinstance(outcome, NotApplied)
        assert outcome.reason == reason
        assert notes == [f"variants that are not asked about: 1 × {reason}"]
    else:
        assert isinstance(outcome, Perturbed)
        assert TRANSLATION.expects(example, outcome) == "other"
        assert notes == []


@node
def test_variants_pass_the_tests_of_their_own_language(tmp_path: Path) -> None:
    example, _ = prepared([PYTHON, SCRIPT], tmp_path)
    assert isinstance(example, Sample)

    given = (
        variant(example, "best", "most"),
        variant(example, "max(", "min("),
        variant(example, "# Translate", "# Write"),
        variant(example, "max(", "min(", "control"),
        variant(example, "best", "most", "control"),
    )
    (case,) = labels(None, TRANSLATION).relabelled(iter([Case(sample=example, outcomes=given)]))
    kept, broken, silent, changed, unchanged = case.outcomes
    assert isinstance(kept, Perturbed)
    assert kept.evidence == "executed"
    assert [each.reason for each in (broken, silent) if isinstance(each, NotApplied)] == [
        FAILS_NOW,
        NO_QUESTION,
    ]
    assert isinstance(changed, Perturbed)
    assert isinstance(unchanged, Perturbed)
    assert TRANSLATION.expects(example, changed) == "other"
    assert unchanged.kind == "control"
