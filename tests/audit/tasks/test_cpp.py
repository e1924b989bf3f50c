"""Tasks that are graded by execution, in C++: rows of HumanEval-X and of MultiPL-E, replies, variants."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.labels import labels
from codeaudit.audit.prompt_cut import shown
from codeaudit.audit.records import Attempt, Predicted
from codeaudit.audit.tasks.generation import FAILS_NOW, GENERATION
from codeaudit.transforms.oracle.containment import offered
from codeaudit.transforms.oracle.toolchains import TOOLCHAINS
from codeaudit.transforms.records import NotApplied, Perturbed, Sample
from tests.support.audited import variant

pytestmark = pytest.mark.skipif(
    bool(TOOLCHAINS["cpp"].missing) or not offered().enough, reason="no g++, or no sandbox on this machine"
)
WORDS = "/*\nAdd the squares of numbers.\n*/\n"
BEFORE = "#include<stdio.h>\n#include<vector>\nusing namespace std;\n"
HEAD = "int squares(vector<int> numbers){\n"
FIRST = "    int total=0;\n    int i=0;\n"
REST = (
    "    for (;i<numbers.size();i++) {\n        total+=numbers[i]*numbers[i];\n    }\n    return total;\n}\n"
)
X = {
    "task_id": "CPP/7",
    "prompt": WORDS + BEFORE + HEAD,
    "declaration": BEFORE + HEAD,
    "canonical_solution": FIRST + REST,
    "test": "#undef NDEBUG\n#include<assert.h>\nint main(){\n    assert (squares({1, 2}) == 5);\n}\n",
    "example_test": "",
}
MULTI = {
    "name": "HumanEval_7_squares",
    "language": "cpp",
    "prompt": "#include<assert.h>\n#include<bits/stdc++.h>\n// Add the squares of numbers.\nlong squares(std::vector<long> numbers) {\n",
    "canonical_solution": "    long total = 0;\n    for (auto one : numbers) total += one * one;\n    return total;\n",
    "tests": "}\nint main() {\n    auto candidate = squares;\n    assert(candidate((std::vector<long>({(long)1, (long)2}))) == (5));\n}\n",
    "stop_tokens": ["\n}"],
    "doctests": "keep",
    "original": "a.py",
    "prompt_terminology": "reworded",
}


def problem(folder: Path, row: Mapping[str, object]) -> Sample:
    labels(None, GENERATION, cache=folder)
    path = folder / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n", "utf-8")
    (sample,) = corpus(str(path), None, CorpusResources()).read(Counter())
    prepared = GENERATION.prepare(sample)
    assert isinstance(prepared, Sample), prepared
    return prepared


def failures(sample: Sample, *replies: str) -> list[str | None]:
    graded = GENERATION.graded(Predicted(answer=replies), sample.asked, sample)
    assert isinstance(graded, Predicted)
    assert isinstance(graded.answer, tuple)
    return [each.failure for each in graded.answer if isinstance(each, Attempt)]


def test_a_row_of_humaneval_x_is_compiled_and_graded(tmp_path: Path) -> None:
    example = problem(tmp_path, X)
    assert (example.language, example.asked) == ("cpp", WORDS + BEFORE + HEAD + FIRST)
    whole = f"Here it is:\n```cpp\n#include <vector>\nstd::vector<int> kept;\n{HEAD}{FIRST}{REST}```"
    assert failures(example, REST, whole, REST.replace("+=", "=")) == [None, None, "Assertion"]
    kept, broken = GENERATION.askable(
        example,
        [variant(example, old, new) for old, new in (("total", "sum"), ("i=0", "i=1"))],
    )
    assert isinstance(kept, Perturbed)
    assert kept.evidence == "executed"
    assert shown(example, kept.source).endswith(HEAD + FIRST.replace("total", "sum"))
    assert isinstance(broken, NotApplied)
    assert broken.reason == FAILS_NOW


@pytest.mark.weekly
def test_the_last_brace_of_a_row_of_multipl_e_stands_in_its_tests(tmp_path: Path) -> None:
    example = problem(tmp_path, MULTI)
    assert example.source.endswith("return total;\n}\n")
    rest = "    for (auto one : numbers) total += one * one;\n    return total;\n}\n"
    assert failures(example, rest, "    return 0;\n}\n") == [None, "Assertion"]
