"""Rows of well-known data sets in their own columns, as files and as copies of the hub's folders."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from codeaudit.audit.corpora import native
from codeaudit.audit.corpora.calls import Calls, find
from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.selection import select
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.corpora.tables import renaming
from codeaudit.audit.evidence_check import BehavesDifferently
from codeaudit.audit.labels import GivenLabels
from codeaudit.audit.registry import TASKS
from codeaudit.audit.tasks.solutions import unrunnable
from codeaudit.audit.tasks.solving import FAILS_ITSELF, solutions
from codeaudit.audit.witnesses.python import witness
from codeaudit.cli.main import main
from codeaudit.transforms.errors import CorpusError, UsageError
from codeaudit.transforms.oracle.calls import Passed
from codeaudit.transforms.oracle.containment import offered
from codeaudit.transforms.oracle.tested import trial
from codeaudit.transforms.records import Perturbed, Sample

Row = Mapping[str, object]

ADD = "def add(first, second):\n    both = first + second\n    return both\n"
MBPP: Row = {
    "task_id": 2,
    "text": "Write a function to add.",
    "code": "def add(first, second):\r\n    both = first + second\r\n    return both",
    "test_list": ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"],
    "test_setup_code": "",
    "challenge_test_list": [],
}
MBPP_SANITIZED: Row = {
    "source_file": "a.json",
    "task_id": 2,
    "prompt": "Write a function to add.",
    "code": ADD,
    "test_imports": ["import math"],
    "test_list": ["assert math.isclose(add(1, 2), 3)", "assert add(-1, 1) == 0"],
}
MBPP_PLUS: Row = {
    "task_id": 2,
    "code": ADD,
    "prompt": "Write a function to add.",
    "source_file": "a.json",
    "test_imports": [],
    "test_list": ["assert add(1, 2) == 3"],
    "test": "import numpy as np\n\ndef assertion(out, exp, atol):\n    assert out == exp\n\n"
    "inputs = [[1, 2], [5, 6], [[1], [2]]]\nresults = [3, 11, [1, 2]]\n"
    "for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion(add(*inp), exp, 0)\n",
}
PLUS: Row = {
    "task_id": "HumanEval/53",
    "prompt": 'def add(first, second):\n    """Add two numbers."""\n',
    "entry_point": "add",
    "canonical_solution": "    both = first + second\n    return both\n",
    "contract": "",
    "base_input": [[1, 2], [2.5, 3]],
    "plus_input": [[5, 6], ["a", 3], ["b", "c"]],
    "atol": 0,
}
MBPP_PLUS_FILE: Row = {
    **PLUS,
    "task_id": "Mbpp/2",
    "prompt": '"""\nWrite a function to add.\nassert add(1, 2) == 3\n"""\n',
    "canonical_solution": f"\n{ADD}",
}
CRUX: Row = {"id": "sample_0", "code": "def f(x):\n    y = x + 1\n    return y", "input": "4", "output": "5"}
LIVE: Row = {
    "question_id": 1,
    "id": "sample_1",
    "function_name": "longest",
    "code": "def longest(words: List[str], least: int) -> int:\n"
    "    kept = [word for word in words if len(word) >= least]\n    return max(map(len, kept), default=0)\n",
    "input": "longest(least = 2, words = ['a', 'bcd'])",
    "output": "3",
}
SEARCH_NET: Row = {
    "repository_name": "who/what",
    "func_path_in_repository": "a/b.py",
    "func_name": "Adder.add",
    "whole_func_string": ADD,
    "language": "python",
    "func_code_string": ADD,
    "func_documentation_string": "Adds.",
    "split_name": "test",
}
SEARCH_NET_FILE: Row = {
    "repo": "who/what",
    "path": "a/B.java",
    "func_name": "Adder.add",
    "original_string": "int add(int a, int b) { int both = a + b; return both; }",
    "language": "java",
    "code": "int add(int a, int b) { int both = a + b; return both; }",
    "partition": "valid",
}
X_PYTHON: Row = {
    "task_id": "Python/53",
    "prompt": 'def add(first, second):\n    """Add."""\n',
    "declaration": "def add(first, second):\n",
    "canonical_solution": "    both = first + second\n    return both\n",
    "test": "def check(add):\n    assert add(1, 2) == 3\n\ncheck(add)\n",
    "example_test": "",
}
X_JAVA: Row = {
    "task_id": "Java/53",
    "prompt": "import java.util.*;\n\nclass Solution {\n    /**\n    Add.\n     */\n    public int add(int x, int y) {\n",
    "declaration": "import java.util.*;\n\nclass Solution {\n    public int add(int x, int y) {\n",
    "canonical_solution": "        int both = x + y;\n        return both;\n    }\n}",
    "test": "public class Main { }",
    "example_test": "",
}
X_GO: Row = {**X_JAVA, "task_id": "Go/53"}
BIG_CODE: Row = {
    "task_id": "BigCodeBench/0",
    "complete_prompt": 'import math\n\n\ndef task_func(first, second):\n    """Add two numbers."""\n',
    "instruct_prompt": "Add two numbers.",
    "canonical_solution": "    both = first + second\n    return math.floor(both)",
    "code_prompt": "import math\ndef task_func(first, second):\n",
    "test": "import unittest\nfrom unittest.mock import patch\n\n\nclass TestCases(unittest.TestCase):\n"
    "    def setUp(self):\n        self.wanted = 3\n\n    def test_one(self):\n"
    "        self.assertEqual(task_func(1, 2), self.wanted)\n\n    def test_two(self):\n"
    "        with self.assertRaises(TypeError):\n            task_func(1, 'a')\n",
    "entry_point": "task_func",
    "doc_struct": "{}",
    "libs": "['math']",
}
MBXP: Row = {
    "task_id": "MBPP/2",
    "language": "python",
    "prompt": '\n\ndef add(first, second):\n\t"""\n\tAdd.\n\t"""\n',
    "test": "\n\nMETADATA = {}\n\n\ndef check(candidate):\n    assert candidate(1, 2) == 3\n\n",
    "entry_point": "add",
    "canonical_solution": "\tboth = first + second\n\treturn both",
    "description": "Add.",
}
MBXP_JAVASCRIPT: Row = {
    **MBXP,
    "task_id": "MBJSP/2",
    "language": "javascript",
    "prompt": "/**\n * Add.\n */\nfunction add(first, second) {\n",
    "test": '\nconst _ = require("lodash")\n\nfunction compare(object1, object2){\n'
    "    return _.isEqual(object1, object2)\n}\n\nvar x0 = [add(1, 2), { a: [add(-0, -0)] }];\n"
    "var v0 = [3, { a: [0] }];\nif(!compare(x0, v0)){\n    throw 'Error'\n}\n",
    "canonical_solution": "    var both = first + second;\n    return both;\n}",
}
MBXP_JAVA: Row = {
    **MBXP,
    "task_id": "MBJP/2",
    "language": "java",
    "prompt": "import java.util.*;\n\n\nclass Add {\n    /**\n     * Add.\n     */\n"
    "    public static int add(int x, int y) {\n",
    "canonical_solution": "        int both = x + y;\n        return both;\n    }\n}",
}
CLASS_EVAL: Row = {
    "task_id": "ClassEval_0",
    "skeleton": "class Adder:\n    ...\n",
    "test": "import unittest\n",
    "solution_code": "class Adder:\n    def add(self, x):\n        both = self.by + x\n        return both\n",
    "import_statement": [],
    "class_description": "class Adder:\n",
    "methods_info": [
        {
            "method_name": "add",
            "method_description": 'def add(self, x):\n        """Add."""\n',
            "test_class": "AdderTestAdd",
            "test_code": "class AdderTestAdd(unittest.TestCase): ...",
            "solution_code": "def add(self, x):\n        both = self.by + x\n        return both",
            "dependencies": {"Standalone": False},
        }
    ],
    "class_name": "Adder",
    "test_classes": ["AdderTestAdd"],
    "class_constructor": "class Adder:\n",
    "fields": [],
}
CODE_NET: Row = {
    "s_id": "s300682070",
    "p_id": "p00001",
    "u_id": "u558969155",
    "date": "1480319506",
    "language": "Python",
    "original_language": "Python3",
    "filename_ext": "py",
    "status": "Accepted",
    "cpu_time": "20",
    "memory": "7644",
    "code_size": "97",
    "code": "number = int(input())\nprint(number + 1)\n",
}


def read(rows: Sequence[Row], folder: Path, **columns: str) -> tuple[list[Sample], Counter[str]]:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    skipped: Counter[str] = Counter()
    return list(corpus(str(path), None, CorpusResources(columns=columns)).read(skipped)), skipped


def only(row: Row, folder: Path) -> Sample:
    (sample,), skipped = read([row], folder)
    assert not skipped
    return sample


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (MBPP, "MBPP"),
        (MBPP_SANITIZED, "MBPP"),
        (MBPP_PLUS, "MBPP+"),
        (PLUS, "HumanEval+ and MBPP+ (EvalPlus files)"),
        (MBPP_PLUS_FILE, "HumanEval+ and MBPP+ (EvalPlus files)"),
        (CRUX, "CRUXEval"),
        (LIVE, "LiveCodeBench, execution"),
        (SEARCH_NET, "CodeSearchNet"),
        (SEARCH_NET_FILE, "CodeSearchNet (its own files), CodeXGLUE code-to-text (its own files)"),
        (X_PYTHON, "HumanEval-X"),
        (X_JAVA, "HumanEval-X"),
        (BIG_CODE, "BigCodeBench"),
        (MBXP, "MBXP, Multi-HumanEval, MathQA-X"),
        (CLASS_EVAL, "ClassEval"),
        (CODE_NET, "CodeNet, with code"),
    ],
)
def test_a_data_set_is_recognised_by_its_columns(row: Row, name: str) -> None:
    assert next(data_set.name for data_set in native.DATA_SETS if row.keys() >= set(data_set.columns)) == name


@pytest.mark.parametrize(
    ("row", "broken"),
    [
        (MBPP, "first - second"),
        (MBPP_SANITIZED, "first - second"),
        (MBPP_PLUS, "first * second"),
        (PLUS, "first - second"),
        (MBPP_PLUS_FILE, "first * second"),
        (X_PYTHON, "first - second"),
        (BIG_CODE, "first - second"),
        (MBXP, "first - second"),
        (MBXP_JAVASCRIPT, "first - second"),
    ],
)
def test_the_tests_pass_the_reference_and_fail_another_function(
    row: Row, broken: str, tmp_path: Path
) -> None:
    sample = only(row, tmp_path)
    if (reason := unrunnable(sample.language)) is not None:
        pytest.skip(reason)
    ready = TASKS.get("generation").prepare(sample)
    assert isinstance(ready, Sample), ready
    wrong = ready.source.replace("first + second", broken)
    assert wrong != ready.source
    right, other = solutions().outcomes(
        [trial(text, ready.source, str(ready.label), ready.language) for text in (ready.source, wrong)]
    )
    assert isinstance(right, Passed)
    assert not isinstance(other, Passed)


@pytest.mark.parametrize(
    ("row", "calls"),
    [
        (MBPP, ["add(1, 2)", "add(-1, 1)"]),
        (MBPP_PLUS, ["add(1, 2)"]),
        (PLUS, ["add(1, 2)", "add(2.5, 3)"]),
        (MBPP_PLUS_FILE, ["add(1, 2)", "add(2.5, 3)"]),
        (CRUX, ["f(4)"]),
        (LIVE, ["longest(['a', 'bcd'], 2)"]),
    ],
)
def test_the_calls_are_those_of_the_data_set(row: Row, calls: list[str], tmp_path: Path) -> None:
    collected = find(only(row, tmp_path), longest=200)
    assert isinstance(collected, Calls), collected
    assert collected.given
    assert list(collected.calls) == calls


WITH_TESTS = (MBPP, MBPP_SANITIZED, MBPP_PLUS, PLUS, MBPP_PLUS_FILE, X_PYTHON, BIG_CODE, MBXP)


@pytest.mark.skipif(not offered().enough, reason="no sandbox here")
@pytest.mark.parametrize("task", ["error-detection", "function-name"])
@pytest.mark.parametrize("row", WITH_TESTS, ids=lambda row: str(row["task_id"]))
def test_an_execution_judges_variants_of_a_data_set_with_tests(row: Row, task: str, tmp_path: Path) -> None:
    """Whatever form its tests have, and whether the task hides the name of the function or not."""
    sample = TASKS.get(task).prepare(only(row, tmp_path))
    assert isinstance(sample, Sample), sample
    wrong = Perturbed(
        sample=sample, transform="operands-swapped-wrong", kind="control", variant=0, moves=(),
        source=sample.source.replace("first + ", "first - 2 * "), evidence="analysis",
    )  # fmt: skip
    with witness(GivenLabels()).judging() as judge:
        (finding,) = judge([wrong])
    assert isinstance(finding, BehavesDifferently), finding


def test_the_calls_of_tests_are_those_of_their_parameter(tmp_path: Path) -> None:
    collected = find(only(X_PYTHON, tmp_path), longest=200)
    assert isinstance(collected, Calls), collected
    assert collected.calls[0] == "add(1, 2)"


def test_a_solution_that_is_a_whole_function_is_the_source_alone(tmp_path: Path) -> None:
    assert only(MBPP_PLUS_FILE, tmp_path).source == ADD
    assert only(PLUS, tmp_path).source == f"{PLUS['prompt']}{PLUS['canonical_solution']}"


def test_live_code_bench_gets_the_imports_that_it_is_executed_with(tmp_path: Path) -> None:
    assert only(LIVE, tmp_path).source.startswith("from typing import List\n\n\ndef longest(")


def test_functions_of_code_search_net_have_their_names_groups_and_splits(tmp_path: Path) -> None:
    python, java = read([SEARCH_NET, SEARCH_NET_FILE], tmp_path)[0]
    assert (python.language, python.label, python.group) == ("python", "add", "who/what")
    assert (java.language, java.label, java.group) == ("java", "add", "who/what")
    path = tmp_path / "rows.jsonl"
    assert [sample.language for sample in corpus(f"{path}:valid").read(Counter())] == ["java"]


def test_java_of_humaneval_x_is_its_method_and_other_languages_are_counted(tmp_path: Path) -> None:
    samples, skipped = read([X_JAVA, X_GO], tmp_path)
    (java,) = samples
    assert (java.language, java.label) == ("java", "add")
    assert java.source.startswith("public int add(int x, int y) {")
    assert skipped == {"row in Go (no transform yet)": 1}
    assert isinstance(TASKS.get("function-name").prepare(java), Sample)


def test_a_row_of_java_that_does_not_parse_is_counted_and_the_others_are_read(tmp_path: Path) -> None:
    broken = {**X_JAVA, "canonical_solution": "        return x +;\n    }\n}"}
    samples, skipped = read([broken, X_JAVA], tmp_path)
    assert [sample.label for sample in samples] == ["add"]
    assert skipped == {"source does not parse": 1}


def test_a_data_set_whose_tasks_name_the_language_is_not_said_to_name_none(tmp_path: Path) -> None:
    read([{**X_PYTHON, "canonical_solution": "    return first +\n"}], tmp_path)
    task = TASKS.get("function-name")
    with pytest.raises(CorpusError) as raised:
        select(corpus(str(tmp_path / "rows.jsonl")), task.prepare, limit=1, seeds=[0])
    assert "names no language" not in str(raised.value)


def test_unit_tests_that_do_not_run_prove_nothing(tmp_path: Path) -> None:
    skips = str(BIG_CODE["test"]).replace(
        "    def setUp", "    def setUp(self):\n        self.skipTest('')\n\n    def up"
    )
    for test in (skips, "import unittest\n"):
        sample = only({**BIG_CODE, "test": test}, tmp_path)
        assert TASKS.get("generation").prepare(sample) == FAILS_ITSELF


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            {**BIG_CODE, "complete_prompt": f"import pandas as pd\n{BIG_CODE['complete_prompt']}"},
            "row that needs libraries beyond Python's own, which the sandbox does not have",
        ),
        (
            {**BIG_CODE, "test": f"from numpy.testing import assert_equal\n{BIG_CODE['test']}"},
            "row that needs libraries beyond Python's own, which the sandbox does not have",
        ),
        ({**BIG_CODE, "test": None}, "row without source"),
        ({**MBXP_JAVASCRIPT, "canonical_solution": None}, "problem without a solution"),
        ({**MBXP, "language": "kotlin"}, "row in Kotlin (no transform yet)"),
        ({**MBXP_JAVA, "entry_point": "other"}, "no method"),
        ({**CLASS_EVAL, "methods_info": None}, "class without methods"),
        ({**CODE_NET, "status": "Runtime Error"}, "submission that was not accepted"),
        ({**CODE_NET, "status": 0}, "status that is no word"),
        ({**CODE_NET, "language": "Go", "filename_ext": "go"}, "row in Go (no transform yet)"),
    ],
)
def test_a_row_that_is_no_sample_is_counted_with_its_reason(row: Row, reason: str, tmp_path: Path) -> None:
    assert read([row], tmp_path) == ([], Counter({reason: 1}))


def test_methods_of_java_and_of_a_class_are_texts_of_their_own(tmp_path: Path) -> None:
    java, method = read([MBXP_JAVA, CLASS_EVAL], tmp_path)[0]
    assert (java.language, java.label, java.tests) == ("java", "add", None)
    assert java.source.startswith("public static int add(int x, int y) {")
    assert method.source == "def add(self, x):\n    both = self.by + x\n    return both\n"
    assert (method.label, method.group, method.tests) == ("add", "ClassEval_0", None)
    assert isinstance(TASKS.get("function-name").prepare(method), Sample)


def test_the_label_of_a_submission_is_its_problem(tmp_path: Path) -> None:
    first, second = read([CODE_NET, {**CODE_NET, "p_id": None, "problem_id": "p04052"}], tmp_path)[0]
    assert (first.language, first.label, second.label) == ("python", 1, 4052)


# ── columns that are not known ───────────────────────────────────────────────────────────────────────────

DEVIGN: Row = {"id": 0, "func": ADD, "target": True, "project": "p"}


def test_unknown_columns_are_answered_with_the_option_that_names_them(tmp_path: Path) -> None:
    with pytest.raises(CorpusError) as raised:
        read([DEVIGN], tmp_path)
    message = str(raised.value)
    assert "looked for source, code, asm, hex, prompt with canonical_solution" in message
    assert "it has id, func, target, project" in message
    assert message.endswith("--columns source=func,label=target")


LIVE_PROBLEM: Row = {
    **dict.fromkeys(
        ("question_title", "question_content", "platform", "question_id", "starter_code"), "text"
    ),
    **dict.fromkeys(("public_test_cases", "private_test_cases", "metadata"), "[]"),
}
LIVE_TEST: Row = {"question_content": "text", "test_id": 0, "function_name": "add", "test": "[]"}
REFINEMENT: Row = {"id": 0, "buggy": "void METHOD_1 ( ) { }", "fixed": "void METHOD_1 ( ) { return ; }"}
SWE_BENCH: Row = {
    **dict.fromkeys(("repo", "instance_id", "base_commit", "patch", "test_patch"), "text"),
    **dict.fromkeys(("problem_statement", "hints_text", "FAIL_TO_PASS", "PASS_TO_PASS"), "text"),
}
CODE_NET_METADATA: Row = {
    **dict.fromkeys(("submission_id", "problem_id", "user_id", "date", "language"), "text"),
    **dict.fromkeys(("original_language", "filename_ext", "status", "cpu_time", "memory"), "text"),
}
LIVE_ANSWERS: Row = {"question_id": "1", "code_list": [ADD]}


@pytest.mark.parametrize(
    ("row", "remedy"),
    [
        (LIVE_PROBLEM, "hfds:livecodebench/execution-v2@test"),
        (LIVE_TEST, "hfds:livecodebench/execution-v2@test"),
        (LIVE_ANSWERS, "write one row for each, with a column `code`"),
        (SWE_BENCH, "check out a repository at base_commit and name its folder"),
        (CODE_NET_METADATA, "name their folder, such as data/p00001/Python"),
    ],
)
def test_a_known_table_without_code_gets_a_remedy(row: Row, remedy: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError) as raised:
        read([row], tmp_path)
    assert remedy in str(raised.value)
    assert "--columns" not in str(raised.value), "no column holds code"


def test_pairs_without_tests_are_read_for_tasks_by_exact_match(tmp_path: Path) -> None:
    (sample,) = read([REFINEMENT], tmp_path)[0]
    assert (sample.language, sample.source, sample.other_side) == (
        "java",
        REFINEMENT["fixed"],
        REFINEMENT["buggy"],
    )
    (sample,) = read([REFINEMENT], tmp_path, source="buggy", language="java")[0]
    assert sample.source == REFINEMENT["buggy"], "a column that is named comes first"


def test_solutions_beside_such_problems_are_read(tmp_path: Path) -> None:
    assert only({**LIVE_PROBLEM, "code": ADD}, tmp_path).source == ADD
    whole = {
        **LIVE_PROBLEM,
        "prompt": "def add(first, second):\n",
        "canonical_solution": "    return first\n",
    }
    assert only(whole, tmp_path).source.endswith("return first\n")


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_named_columns_are_read_in_every_format(ending: str, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    path = tmp_path / f"rows.{ending}"
    frame = pd.DataFrame([DEVIGN])
    match ending:
        case "jsonl":
            frame.to_json(path, orient="records", lines=True)
        case "csv":
            frame.to_csv(path, index=False)
        case _:
            frame.to_parquet(path)
    with pytest.raises(CorpusError, match=r"--columns source=func,label=target"):
        list(corpus(str(path)).read(Counter()))
    resources = CorpusResources(columns=renaming("source=func, label=target"))
    (sample,) = corpus(str(path), None, resources).read(Counter())
    assert sample.source == ADD
    assert sample.label in (1, "true", "True")
    with pytest.raises(CorpusError, match=r"'func'|it has id, func,"):
        list(corpus(str(path), None, CorpusResources(columns={"source": "fun"})).read(Counter()))


@pytest.mark.parametrize("text", ["source", "source=", "=func", "sourc=func"])
def test_a_wrong_list_of_columns_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="--columns"):
        renaming(text)


def test_a_corpus_that_is_no_table_has_no_columns() -> None:
    with pytest.raises(CorpusError, match="is no table"):
        corpus("stdlib", None, CorpusResources(columns={"source": "func"}))


def test_run_and_transform_take_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text(json.dumps(DEVIGN) + "\n")
    words = ["--columns", "source=func", "--transform", "rename"]
    assert main(["run", "--corpus", "rows.jsonl", "--model", "fake/hash", "--out", "run", *words]) == 0
    assert main(["transform", "rows.jsonl", "--suite", "suite.jsonl", *words]) == 0
    assert json.loads(Path("run/manifest.json").read_text())["options"]["columns"] == "source=func"
    capsys.readouterr()


# ── the hub ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A data set with two configurations and splits, laid out as on the hub."""
    pytest.importorskip("datasets")
    import pandas as pd

    place = tmp_path / "copy"
    for config, rows in {"full": [MBPP, CRUX_LIKE], "sanitized": [MBPP_SANITIZED]}.items():
        (place / config).mkdir(parents=True)
        pd.DataFrame([dict(row) for row in rows]).to_parquet(place / config / "test-00000-of-00001.parquet")
    (place / "README.md").write_text(
        "---\nconfigs:\n- config_name: full\n  data_files:\n  - split: test\n    path: full/test-*\n"
        "- config_name: sanitized\n  data_files:\n  - split: test\n    path: sanitized/test-*\n---\n"
    )
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    return str(place)


CRUX_LIKE: Row = {**MBPP, "task_id": 3, "code": ADD.replace("add", "sum_of"), "test_list": []}


def test_a_copy_of_the_hub_is_read_by_configuration_and_split(copy: str) -> None:
    full = list(corpus(f"hfds:{copy}:full@test").read(Counter()))
    assert [bool(sample.calls) for sample in full] == [True, False]
    (sanitized,) = corpus(f"hfds:{copy}:sanitized@test").read(Counter())
    assert sanitized.tests is not None
    assert sanitized.tests.startswith("import math\n")


@pytest.mark.parametrize(
    ("rest", "told"),
    [(":full@valid", "valid"), (":nothing@test", "nothing"), ("/nowhere:full@test", "no such folder")],
)
def test_what_a_data_set_lacks_is_one_line(copy: str, rest: str, told: str) -> None:
    with pytest.raises(CorpusError, match=told):
        list(corpus(f"hfds:{copy}{rest}").read(Counter()))


@pytest.mark.parametrize("spec", ["hfds:", "hfds:mbpp", "hfds:@test", "hfds:mbpp@"])
def test_a_data_set_needs_a_name_and_a_split(spec: str) -> None:
    with pytest.raises(UsageError, match="must be hfds:NAME@SPLIT"):
        corpus(spec)


def test_the_list_shows_columns_licence_and_known_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "corpora", "--verbose"]) == 0
    text = capsys.readouterr().out
    for data_set in native.DATA_SETS:
        assert data_set.name in text
        assert data_set.licence in text
        assert ", ".join(data_set.columns) in text
        assert data_set.known_errors in text
