"""Tasks that are graded by execution, in C: a row of one's own, replies, variants."""

import json
from collections import Counter
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.labels import labels
from codeaudit.audit.prompt_cut import shown
from codeaudit.audit.records import Attempt, Predicted
from codeaudit.audit.tasks.generation import FAILS_NOW, GENERATION
from codeaudit.audit.tasks.solving import FAILS_ITSELF
from codeaudit.transforms.oracle.containment import offered
from codeaudit.transforms.oracle.toolchains import TOOLCHAINS
from codeaudit.transforms.records import NotApplied, Perturbed, Sample
from tests.support.audited import variant

pytestmark = pytest.mark.skipif(
    bool(TOOLCHAINS["c"].missing) or not offered().enough, reason="no gcc, or no sandbox on this machine"
)
HEAD = "/* Add the squares of numbers. */\nint squares(const int *numbers, int count) {\n"
FIRST = "  int total = 0;\n  int i = 0;\n"
REST = "  for (; i < count; i++) {\n    total += numbers[i] * numbers[i];\n  }\n  return total;\n}\n"
ROW = {
    "language": "c",
    "prompt": HEAD,
    "canonical_solution": FIRST + REST,
    "entry_point": "squares",
    "test": "int main(void) {\n  int given[] = {1, 2};\n  assert(squares(given, 2) == 5);\n  return 0;\n}\n",
}


def problem(folder: Path, row: dict[str, str]) -> Sample | str:
    labels(None, GENERATION, cache=folder)
    path = folder / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n", "utf-8")
    (sample,) = corpus(str(path), None, CorpusResources()).read(Counter())
    return GENERATION.prepare(sample)


def test_a_row_in_c_is_compiled_and_graded(tmp_path: Path) -> None:
    example = problem(tmp_path, ROW)
    assert isinstance(example, Sample), example
    assert (example.language, example.asked) == ("c", HEAD + FIRST)
    replies = (REST, f"```c\n{HEAD}{FIRST}{REST}```", REST.replace("+=", "="), "  return count\n}\n")
    graded = GENERATION.graded(Predicted(answer=replies), example.asked, example)
    assert isinstance(graded, Predicted)
    assert isinstance(graded.answer, tuple)
    failures = [each.failure for each in graded.answer if isinstance(each, Attempt)]
    assert failures == [None, None, "Assertion", "it does not compile"]
    kept, broken = GENERATION.askable(
        example,
        [variant(example, old, new) for old, new in (("total", "sum"), ("i = 0", "i = 1"))],
    )
    assert isinstance(kept, Perturbed)
    assert kept.evidence == "executed"
    assert shown(example, kept.source) == HEAD + FIRST.replace("total", "sum")
    assert isinstance(broken, NotApplied)
    assert broken.reason == FAILS_NOW
    assert problem(tmp_path, {**ROW, "test": "int main(void) { return squares(0, 0) + 1; }"}) == FAILS_ITSELF
