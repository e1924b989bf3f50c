"""Tasks that are graded by execution, in JavaScript: rows as published, replies, variants."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import CorpusResources, raw_sample
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.labels import labels
from codeaudit.audit.prompt_cut import NO_FUNCTION, shown
from codeaudit.audit.records import Attempt, Predicted
from codeaudit.audit.tasks.generation import FAILS_NOW, GENERATION, NO_TEXT
from codeaudit.audit.tasks.solutions import completed
from codeaudit.audit.tasks.solving import FAILS_ITSELF
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.oracle.containment import offered
from codeaudit.transforms.oracle.toolchains import TOOLCHAINS
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import NotApplied, Perturbed, Sample
from codeaudit.transforms.registry import transform_for
from tests.support.audited import variant

runs = pytest.mark.skipif(
    bool(TOOLCHAINS["javascript"].missing) or not offered().enough,
    reason="no node, or no sandbox on this machine",
)

HEAD = "/* Add the squares of numbers.\n  */\nconst squares = (numbers) => {\n"
FIRST = "  let total = 0;\n  const count = numbers.length;\n"
REST = "  for (let i = 0; i < count; i++) {\n    total += numbers[i] * numbers[i];\n  }\n  return total;\n"
TESTS = "const testSquares = () => {\n  console.assert(squares([1, 2]) === 5)\n}\ntestSquares()\n"
ROW = {
    "task_id": "JavaScript/7",
    "prompt": HEAD,
    "declaration": HEAD,
    "canonical_solution": f"{FIRST}{REST}}}\n\n",
    "test": TESTS,
    "example_test": "",
}


@pytest.fixture(scope="module", autouse=True)
def _kept(tmp_path_factory: pytest.TempPathFactory) -> None:
    labels(None, GENERATION, cache=tmp_path_factory.mktemp("kept"))


def read(row: Mapping[str, object], folder: Path) -> Sample:
    path = folder / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n", "utf-8")
    (sample,) = corpus(str(path), None, CorpusResources()).read(Counter())
    return sample


def problem(folder: Path) -> Sample:
    prepared = GENERATION.prepare(read(ROW, folder))
    assert isinstance(prepared, Sample), prepared
    return prepared


@runs
def test_a_row_of_humaneval_x_shows_half_of_its_statements(tmp_path: Path) -> None:
    example = problem(tmp_path)
    assert (example.language, example.label, example.asked) == ("javascript", TESTS, HEAD + FIRST)
    row = {**ROW, "test": TESTS.replace("5", "6")}
    assert GENERATION.prepare(read(row, tmp_path)) == FAILS_ITSELF


MULTI = {
    "name": "HumanEval_7_squares",
    "language": "js",
    "prompt": "//Add the squares of numbers.\nfunction squares(numbers){\n",
    "doctests": "transform",
    "tests": "const assert = require('node:assert');\n\n\nfunction test() {\n  let candidate = squares;\n"
    "  assert.deepEqual(candidate([1, 2]),5);\n}\n\ntest();",
    "stop_tokens": ["\nfunction ", "\n/*", "\n//", "\nconsole.log"],
}


@runs
def test_a_row_of_multipl_e_needs_a_solution(tmp_path: Path) -> None:
    example = GENERATION.prepare(read({**MULTI, "canonical_solution": f"{FIRST}{REST}}}\n"}, tmp_path))
    assert isinstance(example, Sample), example
    assert (example.language, example.label) == ("javascript", f"{MULTI['tests']}\n")
    with pytest.raises(CorpusError, match="rows of MultiPL-E have no solutions"):
        read(MULTI, tmp_path)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("const a = 1;\n", NO_FUNCTION),
        ("const f = (a) => a;\n", NO_FUNCTION),
        ("(() => {\n  f();\n});\n", NO_FUNCTION),
    ],
)
@runs
def test_what_is_no_problem(source: str, reason: str) -> None:
    sample = raw_sample(source, language="javascript", label=None, path="a", line=1, tests="f()")
    assert GENERATION.prepare(sample) == reason


WHOLE = HEAD.split("\n", 2)[2] + FIRST + REST + "};\n"
PROMPT = f"const half = (a) => a / 2;\n{HEAD}{FIRST}"


@pytest.mark.parametrize(
    ("reply", "program"),
    [
        (f"{REST}}}\n", f"{PROMPT}{REST}}}\n"),
        (f"{REST}}};\n\nconsole.log(squares([1]));\n", f"{PROMPT}{REST}}};\n"),
        (f"{REST}}}\n\nfunction other() {{\n  return (\n", f"{PROMPT}{REST}}}\n"),
        (f"The rest:\n```js\n{REST}}}\n```\n", f"{PROMPT}{REST}}}\n"),
        (
            f"```js\n{WHOLE}console.log(1);\n```\nUse:\n```js\nsquares([])\n```",
            f"{PROMPT.split('const sq')[0]}{WHOLE}",
        ),
        (f"Here it is.\n\n{WHOLE}\nIt adds.", f"{PROMPT.split('const sq')[0]}{WHOLE}"),
        (f"```js\nexport {WHOLE}```", f"{PROMPT.split('const sq')[0]}{WHOLE}"),
        (f"```js\nconst half = (b) => b / 2;\n{WHOLE}```", f"const half = (b) => b / 2;\n{WHOLE}"),
        ("I cannot.", f"{PROMPT}I cannot."),
    ],
)
def test_a_reply_becomes_a_program(reply: str, program: str) -> None:
    assert completed(PROMPT, reply, "javascript") == program


def test_without_node_problems_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = replace(TOOLCHAINS["javascript"], find=lambda: None)
    monkeypatch.setattr("codeaudit.audit.tasks.solutions.toolchain", {"javascript": absent}.get)
    monkeypatch.setattr("shutil.which", {}.get)
    assert GENERATION.prepare(read(ROW, tmp_path)) == (
        "node, which runs JavaScript, is not on this machine: install version 16 or newer; codeaudit doctor "
        "shows what is found"
    )


@runs
def test_attempts_are_graded_by_the_tests(tmp_path: Path) -> None:
    example = problem(tmp_path)
    replies = (REST + "}", REST.replace("total;", "0;") + "}", "  return count.a.b;\n}", REST)
    graded = GENERATION.graded(Predicted(answer=replies), example.asked, example)
    assert isinstance(graded, Predicted)
    assert isinstance(graded.answer, tuple)
    failures = [attempt.failure for attempt in graded.answer if isinstance(attempt, Attempt)]
    assert failures == [None, "AssertionError", "TypeError", "SyntaxError"]


@pytest.mark.slow
@runs
def test_other_words_of_the_request_are_asked_about(tmp_path: Path) -> None:
    example = problem(tmp_path)
    variants = tuple(perturb_one(example, transform_for("prose-case", "javascript"), variants=2, seed=0))
    assert GENERATION.askable(example, variants) == variants
    for each in variants:
        assert isinstance(each, Perturbed)
        assert shown(example, each.source) != example.asked
        assert shown(example, each.source).partition("*/")[2] == example.asked.partition("*/")[2]
        assert GENERATION.expects(example, each) == "same"


@runs
def test_variants_must_pass_and_keep_the_comment(tmp_path: Path) -> None:
    example = problem(tmp_path)
    given = [
        variant(example, "total", "sum"),
        variant(example, "count = numbers.length", "count = 1"),
        variant(example, HEAD.split("const")[0], ""),
        variant(example, "total = 0", "total = 1", "control"),
    ]
    kept, broken, bare, control = GENERATION.askable(example, given)
    assert isinstance(kept, Perturbed)
    assert kept.evidence == "executed"
    assert shown(example, kept.source) == HEAD + FIRST.replace("total", "sum")
    assert isinstance(broken, NotApplied)
    assert broken.reason == FAILS_NOW
    assert isinstance(bare, NotApplied)
    assert bare.reason == NO_TEXT
    assert isinstance(control, Perturbed)
    assert GENERATION.expects(example, control) == "other"
