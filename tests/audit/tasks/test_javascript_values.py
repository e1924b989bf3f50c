"""Output and input prediction in JavaScript: questions, answers, variants."""

import json
from collections import Counter
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.evidence_check import DIFFERS
from codeaudit.audit.models.text_models import Prompts
from codeaudit.audit.records import Attempt, Case, Predicted, Query
from codeaudit.audit.tasks.input_prediction import INPUT_PREDICTION, NO_ARGUMENTS, Inputs, arguments
from codeaudit.audit.tasks.output_prediction import OTHER_RESULT, OUTPUT_PREDICTION, Outputs
from codeaudit.transforms.oracle.containment import offered
from codeaudit.transforms.oracle.toolchains import TOOLCHAINS
from codeaudit.transforms.records import NotApplied, Perturbed, Sample
from tests.support.audited import variant
from tests.support.prepared_rows import prepared_row

runs = pytest.mark.skipif(
    bool(TOOLCHAINS["javascript"].missing) or not offered().enough,
    reason="no node, or no sandbox on this machine",
)
CODE = "const f = (word, times) => {\n  const parts = Array(times).fill(word);\n  return { all: parts, times };\n};\n"
VALUE = '{all: ["ab", "ab"], times: 2}'
ROW = {"code": CODE, "input": "'ab', 2", "output": "{times: 2, all: ['ab', 'ab']}", "language": "javascript"}
QUESTION = f"{CODE.rstrip()}\n\n\nassert.deepStrictEqual(f(/* arguments */), {VALUE});\n"
TESTED = {
    "task_id": "a/1",
    "entry_point": "squares",
    "prompt": "// squares([3]) gives [9.0]\nfunction squares(a) {\n",
    "canonical_solution": "  return a.map((b) => b * b);\n}\n",
    "test": "console.assert(squares([3.0])[0] === 9);\nconsole.assert(squares(\n  [-0, 2]\n)[1] === 4);\n",
    "language": "javascript",
}


def prepared(source: Outputs, folder: Path, **columns: str) -> Sample | str:
    return prepared_row(source, folder, {**ROW, **columns})


@pytest.mark.slow
@runs
def test_the_call_of_a_table_is_asked(outputs: Outputs, tmp_path: Path) -> None:
    example = prepared(outputs, tmp_path)
    assert isinstance(example, Sample), example
    assert (example.source, example.label) == (f'{CODE.rstrip()}\n\n\nf("ab", 2)', VALUE)
    assert prepared(outputs, tmp_path, output="{all: ['ab'], times: 2}") == OTHER_RESULT
    raised = prepared(outputs, tmp_path, input="'a', -1", output="RangeError")
    assert isinstance(raised, Sample)
    assert raised.label == "RangeError"
    strange = CODE.replace("{ all: parts, times }", "new Map()")
    assert prepared(outputs, tmp_path, code=strange) == "a result of no plain values"


@runs
def test_calls_of_tests_are_asked_unless_the_text_shows_them(outputs: Outputs, tmp_path: Path) -> None:
    path = tmp_path / "tested.jsonl"
    path.write_text(json.dumps(TESTED) + "\n", "utf-8")
    (raw,) = corpus(str(path), None, CorpusResources()).read(Counter())
    example = outputs.prepared(raw)
    assert isinstance(example, Sample), example
    assert (example.source.splitlines()[-1], example.label) == ("squares([-0, 2])", "[0, 4]")


@pytest.mark.slow
@runs
def test_each_variant_is_executed(outputs: Outputs, tmp_path: Path) -> None:
    example = prepared(outputs, tmp_path)
    assert isinstance(example, Sample)
    given = (
        variant(example, "parts", "pieces"),
        variant(example, "fill(word)", "fill(other)"),
        variant(example, "Array(times)", "Array(times + 1)", "control"),
    )
    (case,) = outputs.relabelled(iter([Case(sample=example, outcomes=given)]))
    kept, broken, control = case.outcomes
    assert isinstance(kept, Perturbed)
    assert kept.evidence == "executed"
    assert isinstance(broken, NotApplied)  # the name is not there
    assert broken.reason == DIFFERS
    assert isinstance(control, Perturbed)
    assert control.sample.label == '{all: ["ab", "ab", "ab"], times: 2}'
    assert OUTPUT_PREDICTION.expects(example, control) == "other"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("{ times: 2, all: [ 'ab', 'ab' ] }", VALUE),
        ("```js\n[1, -0, 10n]\n```", "[1, -0, 10n]"),
        ("`[1.0, null]`", "[1, null]"),
        ("The call throws a TypeError.", "TypeError"),
        ("Answer: undefined", "undefined"),
    ],
)
def test_replies_are_read_as_values_of_the_language(reply: str, answer: str) -> None:
    query = Query(task="output-prediction", language="javascript", source="f(1)")
    prompt = Prompts().of(query)
    assert "repr" not in prompt.text(query)
    read = prompt.read(reply)
    assert isinstance(read, Predicted), read
    assert OUTPUT_PREDICTION.speaking("javascript").normalise(read.answer) == answer


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("'ab', 3", '"ab", 3'),
        ("assert.deepStrictEqual(f({b: 1, a: -0}), 'x');", "{b: 1, a: -0}"),
        ("It is:\n```js\nconsole.assert(f(`a`) === 1)\n```", '"a"'),
        ("f()", ""),
        ("f(/* arguments */)", None),
        ("f(process.exit())", None),
        ("f(1)(2)", None),
        ("g(1)", None),
    ],
)
def test_answers_are_literal_arguments(text: str, found: str | None) -> None:
    assert arguments(text, "f", "javascript") == found


@runs
def test_arguments_that_give_the_value_are_right(inputs: Inputs, tmp_path: Path) -> None:
    example = prepared(inputs, tmp_path)
    assert isinstance(example, Sample), example
    assert (example.source, example.label) == (QUESTION, VALUE)
    answers = ("f('ab', 2)", "'ab', 3", "f(x)")
    graded = INPUT_PREDICTION.graded(Predicted(answer=answers), example.source, example)
    assert isinstance(graded, Predicted)
    assert isinstance(graded.answer, tuple)
    failures = [each.failure for each in graded.answer if isinstance(each, Attempt)]
    assert failures == [None, "AssertionError", NO_ARGUMENTS]
    given = (variant(example, "parts", "pieces"), variant(example, "fill(word)", "fill(1)"))
    (case,) = inputs.relabelled(iter([Case(sample=example, outcomes=given)]))
    kept, broken = case.outcomes
    assert isinstance(kept, Perturbed)
    assert kept.evidence == "executed"
    assert isinstance(broken, NotApplied)
    assert broken.reason == DIFFERS
