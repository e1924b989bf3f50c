"""The truth of output prediction, found by execution: examples, variants, controls, and what is kept."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.cache import AnswerCache
from codeaudit.audit.corpora.calls import parted, with_call
from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.evidence_check import DIFFERS
from codeaudit.audit.labels import labels
from codeaudit.audit.records import Case
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.audit.tasks.output_prediction import (
    FILE,
    OUTPUT_PREDICTION,
    TRIVIAL,
    Outputs,
    _key,
    answer_of,
)
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.oracle.calls import Caller, Raised, Result, Returned, Unknown
from codeaudit.transforms.oracle.single import UNSTABLE
from codeaudit.transforms.records import NotApplied, Perturbed, Sample
from tests.support.audited import variant

CLIMB = "def climb(a: int, b: int):\n    low = a - b\n    high = a + b\n    return [low, high, a * b]"


@pytest.fixture(scope="module")
def outputs() -> Iterator[Outputs]:
    source = Outputs()
    yield source
    del source


def sample(source: str, tests: str | None = None) -> Sample:
    return raw_sample(
        source, language="python", label=None, path="a.py", line=1, tests=tests, context="x = 1"
    )


def example(outputs: Outputs, source: str, tests: str | None = None) -> Sample:
    prepared = outputs.prepared(sample(source, tests))
    assert isinstance(prepared, Sample), prepared
    return prepared


def test_a_function_becomes_an_example_by_a_call_and_its_result(outputs: Outputs) -> None:
    question = example(outputs, CLIMB)
    before = sample(CLIMB)
    parts = parted(question.source)
    assert parts is not None
    assert parts[0] == CLIMB
    space: dict[str, object] = {}
    exec(CLIMB, space)
    assert question.label == repr(eval(parts[1], space))
    assert replace(question, source=CLIMB, label=None, context="x = 1") == before
    assert question.context == ""
    assert example(outputs, CLIMB) == question


@pytest.mark.parametrize(
    ("source", "call", "label"),
    [
        ("def f(a):\n    raise KeyError(a)", "f(1)", "KeyError"),
        ("def f(a):\n    return None", "f(1)", "None"),
        ("def f(a):\n    return {'b', a}", "f('a')", "{'a', 'b'}"),
        ("def f(a):\n    return {'b': 1, a: 0}", "f('a')", "{'a': 0, 'b': 1}"),
        ("def f(*a):\n    return a", "f()", "()"),
    ],
)
def test_a_call_that_is_given_is_executed_as_it_is(
    outputs: Outputs, source: str, call: str, label: str
) -> None:
    question = example(outputs, f"{source}\n{call}")
    assert question.source == f"{source}\n\n\n{call}"
    assert question.label == label


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(a: int):\n    import random\n    return random.random()", UNSTABLE),
        ("def f(a: int):\n    return list({str(a), 'b', 'c', 'd', 'e', 'f'})", UNSTABLE),
        ("def f(a: int):\n    return id(f)", UNSTABLE),
        ("def f(a: int):\n    print(a)", TRIVIAL),
        ("def f(a: int):\n    return 'abc' * 100", TRIVIAL),
        ("def f(a: int):\n    return a.missing", TRIVIAL),
        ("def f(a: int):\n    return range(a)", "a result of no plain values"),
        ("def f(a: int):\n    return open(str(a))", "it needs what is not there"),
    ],
)
def test_functions_without_a_result_to_ask_about(outputs: Outputs, source: str, reason: str) -> None:
    assert outputs.prepared(sample(source)) == reason


@pytest.mark.slow
def test_a_function_without_an_end(outputs: Outputs) -> None:
    reason = outputs.prepared(sample("def f(a: int):\n    while True:\n        pass"))
    assert reason in ("out of processor time", "out of time")


def test_what_returns_goes_before_what_raises(outputs: Outputs) -> None:
    tests = "def check(candidate):\n" + "".join(f"    candidate({number})\n" for number in (0, 0.0, False, 4))
    question = example(outputs, "def f(a):\n    return 8 // a", tests)
    assert question.source.endswith("f(4)")
    assert question.label == "2"


# ── variants ─────────────────────────────────────────────────────────────────────────────────────────────


def executed(outputs: Outputs, *outcomes: Perturbed | NotApplied) -> Sequence[object]:
    (case,) = outputs.relabelled(iter([Case(sample=outcomes[0].sample, outcomes=outcomes)]))
    return case.outcomes


def test_each_variant_is_executed_on_the_call(outputs: Outputs) -> None:
    question = example(outputs, CLIMB + "\nclimb(5, 2)")
    idle = variant(question, "climb", "climb", "identity")
    refused = NotApplied(sample=question, transform="t", kind="preserving", variant=0, reason="no")
    kept, broken, changed, same, again, untouched = executed(
        outputs,
        variant(question, "low", "lowest"),
        variant(question, "a - b", "b - a"),
        variant(question, "a - b", "b - a", "control"),
        variant(question, "a * b", "b * a", "control"),
        idle,
        refused,
    )
    assert isinstance(kept, Perturbed)
    assert (kept.evidence, kept.sample) == ("executed", question)
    assert isinstance(broken, NotApplied)
    assert broken.reason == DIFFERS
    assert isinstance(changed, Perturbed)
    assert (changed.evidence, changed.sample.label) == ("executed", "[-3, 7, 10]")
    assert OUTPUT_PREDICTION.expects(question, changed) == "other"
    assert isinstance(same, Perturbed)
    assert (same.evidence, same.sample.label) == ("analysis", question.label)
    assert OUTPUT_PREDICTION.expects(question, same) == "same"
    assert (again, untouched) == (idle, refused)


@pytest.mark.parametrize(
    ("body", "label", "expected"),
    [
        ("raise ValueError", "ValueError", "other"),
        ("return x", "NameError", "other"),
        ("return range(3)", "<a result of no plain values>", "other"),
        ("return 'a' * 9999", "<a result that is too long>", "other"),
        ("return id(f)", None, "unknown"),
        ("return list(map(str, {'a', 'b', 'c', 'd', 'e', 'f'}))", None, "unknown"),
        ("while True: pass", None, "unknown"),
    ],
)
@pytest.mark.thinned(4)
def test_what_a_control_gives(outputs: Outputs, body: str, label: str | None, expected: str) -> None:
    question = example(outputs, "def f(a):\n    return a\n\n\nf(3)")
    (outcome,) = executed(outputs, variant(question, "return a", body, "control"))
    assert isinstance(outcome, Perturbed)
    assert outcome.sample.label == label
    assert OUTPUT_PREDICTION.expects(question, outcome) == expected


def test_a_variant_without_a_result_stays_as_it_was(outputs: Outputs) -> None:
    question = example(outputs, "def f(a):\n    return a\n\n\nf(3)")
    lost = variant(question, "return a", "while True: pass")
    assert executed(outputs, lost) == (lost,)


# ── what is kept ─────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_executed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    results = Caller.results

    def counted(self: Caller, sources: Sequence[str], *, cpu_seconds: float) -> list[Result]:
        asked.extend(sources)
        return results(self, sources, cpu_seconds=cpu_seconds)

    monkeypatch.setattr(Caller, "results", counted)
    first = example(Outputs(cache=tmp_path), CLIMB)
    assert asked
    asked.clear()
    assert example(Outputs(cache=tmp_path), CLIMB) == first
    assert asked == []
    control = variant(first, "a - b", "b - a", "control")
    outcomes = [executed(Outputs(cache=tmp_path), control) for _ in range(2)]
    assert outcomes[0] == outcomes[1]
    assert asked == [control.source] * 2, "a control runs in two processes, once in all"


@pytest.mark.slow
def test_what_a_busy_machine_lost_is_not_kept(tmp_path: Path) -> None:
    texts = [f"import time\ndef f(a):\n    {end}" for end in ("time.sleep(60)", "return range(a)")]
    reasons = [Outputs(cache=tmp_path).prepared(sample(with_call(text, "f(1)"))) for text in texts]
    assert reasons == ["out of time", "a result of no plain values"]
    lost, known = (_key(with_call(text, "f(1)"), 0) for text in texts)
    with closing(AnswerCache(tmp_path / FILE)) as kept:
        assert list(kept.fetch([lost, known])) == [known]


@pytest.mark.slow
def test_a_folder_that_cannot_be_used_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert example(Outputs(cache=tmp_path / "file"), CLIMB).label is not None


@pytest.mark.slow
def test_long_work_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codeaudit.audit.tasks.output_prediction.NOTE_SECONDS", 0.0)
    notes: list[str] = []
    source = Outputs(note=notes.append)
    for _ in range(2):
        source.prepared(sample("def f(self): pass"))
    assert notes == ["looked for calls of 2 functions, found 0; 2 × method"]
    made = example(source, "def f(a):\n    return a\n\n\nf(3)")
    assert notes[-1] == "looked for calls of 3 functions, found 1; 2 × method"
    list(
        source.relabelled(
            iter([Case(sample=made, outcomes=(variant(made, "return a", "return 4", "control"),))])
        )
    )
    assert notes[-1].startswith("executed 1 variants: 0 give what their original gives, 0 do not")


@pytest.mark.slow
def test_results_mean_answers() -> None:
    assert answer_of(Returned("{2, 1}")) == "{1, 2}"
    assert answer_of(Raised("ValueError")) == "ValueError"
    assert answer_of(Unknown("out of processor time")) is None


@pytest.mark.slow
def test_labels_of_this_task_come_from_execution_alone(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="--labels column: the labels of task 'output-prediction' are found by"
    ):
        labels("column", OUTPUT_PREDICTION)
    assert labels(None, OUTPUT_PREDICTION).about["tool"] == "sandbox"
    assert isinstance(labels(None, OUTPUT_PREDICTION, cache=tmp_path), Outputs)
    assert not isinstance(labels(None, FUNCTION_NAME), Outputs)
