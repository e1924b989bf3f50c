"""Generation: what is shown, what passes, and which variants can be asked about."""

from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.interface import Task
from codeaudit.audit.labels import labels
from codeaudit.audit.prompt_cut import KNOWN_PROMPT, NO_CUT, ONE_LINE, SAME_PROMPT
from codeaudit.audit.records import Answer, Attempt, Failed, Predicted
from codeaudit.audit.registry import TASKS
from codeaudit.audit.tasks.generation import (
    FAILS_NOW,
    GENERATION,
    NO_TEXT,
)
from codeaudit.audit.tasks.solutions import NOT_RUN
from codeaudit.audit.tasks.solving import CARRIES_NOT, FAILS_ITSELF, NO_TESTS
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.oracle.trial import NO_PLAIN_RESULT
from codeaudit.transforms.records import Kind, NotApplied, Perturbed, Sample
from codeaudit.transforms.registration import overrides

SOURCE = '''\
def weigh(words, least=2):
    """Weigh words."""
    total = 0
    longest = ""
    for word in words:
        if len(word) >= least:
            total += len(word)
    return total
'''
CHECK = "def check(candidate):\n    assert candidate(['ab', 'c', 'def']) == 5\n"
REST = SOURCE.partition('longest = ""\n')[2]


@pytest.fixture(scope="module", autouse=True)
def _kept(tmp_path_factory: pytest.TempPathFactory) -> None:
    labels(None, GENERATION, cache=tmp_path_factory.mktemp("kept"))


def raw(source: str = SOURCE, tests: str | None = CHECK, label: str | None = "weigh") -> Sample:
    return raw_sample(source, language="python", label=label, path="a.jsonl", line=1, tests=tests)


def problem(source: str = SOURCE) -> Sample:
    prepared = GENERATION.prepare(raw(source))
    assert isinstance(prepared, Sample), prepared
    return prepared


def variant(
    sample: Sample, old: str, new: str, kind: Kind = "preserving", transform: str = "t", number: int = 0
) -> Perturbed:
    return Perturbed(
        sample=sample,
        transform=transform,
        kind=kind,
        variant=number,
        source=sample.source.replace(old, new),
        moves=(),
        evidence="analysis",
    )


def test_it_is_a_task_of_the_registry() -> None:
    assert TASKS.get("generation") is GENERATION
    assert overrides(GENERATION, Task.graded)
    assert overrides(GENERATION, Task.attempts)
    assert overrides(GENERATION, Task.showing)


def test_a_problem_shows_its_beginning_and_keeps_its_tests() -> None:
    example = problem()
    assert example.asked + REST == example.source == SOURCE
    assert example.label == f"{CHECK}\n\ncheck(weigh)\n"
    assert example.id == raw().id


def test_the_share_that_is_shown_is_a_setting() -> None:
    example = GENERATION.showing(0).prepare(raw())
    assert isinstance(example, Sample)
    assert example.asked.endswith('"""Weigh words."""\n')


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (raw(tests=None), NO_TESTS),
        (raw("def f(:\n"), "source does not parse"),
        (raw("x = 1\n"), "no function at the end of the text"),
        (raw("def weigh(words): return 5\n"), ONE_LINE),
        (raw(tests="def check(candidate):\n    assert False\n"), FAILS_ITSELF),
        (raw(tests="def check(candidate):\n    while True: pass\n"), FAILS_ITSELF),
        (raw(tests="def check(candidate):\n    candidate(object())\n"), CARRIES_NOT),
        (replace(raw(), language="java"), NOT_RUN),
    ],
)
def test_what_is_no_problem(sample: Sample, reason: str) -> None:
    assert GENERATION.prepare(sample) == reason


@pytest.mark.parametrize("label", [None, "no name", "weigh"])
def test_tests_call_the_function_that_is_named_or_else_the_last(label: str | None) -> None:
    example = GENERATION.prepare(raw(label=label))
    assert isinstance(example, Sample)
    assert str(example.label).endswith("check(weigh)\n")


def test_tests_may_be_plain_statements() -> None:
    example = GENERATION.prepare(raw(tests="assert weigh(['ab']) == 2"))
    assert isinstance(example, Sample)
    assert example.label == "assert weigh(['ab']) == 2\n"


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────


def graded(answer: object, asked: str | None = None) -> Predicted:
    example = problem()
    given = GENERATION.normalise(answer)
    assert given is not None
    said = GENERATION.graded(Predicted(answer=given), example.asked if asked is None else asked, example)
    assert isinstance(said, Predicted)
    return said


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (REST, None),
        (f"```python\n{SOURCE}```", None),
        ("    return 5\n", None),
        ("    return 4\n", "AssertionError"),
        ("    return totl\n", "NameError"),
        ("", "AssertionError"),
        ("    return (\n", "SyntaxError"),
        ("    import os\n    os._exit(0)\n", "left without an answer"),
        ("    raise SystemExit\n", "SystemExit"),
    ],
)
def test_an_answer_carries_what_its_tests_say(reply: str, failure: str | None) -> None:
    prediction = graded(reply)
    assert prediction.answer == (Attempt(text=reply, failure=failure),)
    assert GENERATION.attempts(prediction.answer) == (failure is None,)
    assert GENERATION.score(prediction.answer, problem()) == float(failure is None)


@pytest.mark.slow
def test_an_answer_without_an_end_fails() -> None:
    """By its processor time, or by the clock where the machine is busy."""
    (attempt,) = graded("    while True:\n        pass\n").answer  # type: ignore[misc, str-unpack]
    assert attempt.failure.startswith("out of ")


@pytest.mark.parametrize("answer", ["    yield 5\n", ("    return 5\n", "    return print\n")])
def test_an_answer_whose_results_cannot_be_carried_has_no_grade(answer: Answer) -> None:
    example = problem()
    assert GENERATION.graded(Predicted(answer=answer), example.asked, example) == Failed(
        reason=NO_PLAIN_RESULT
    )


def test_several_attempts_keep_their_order() -> None:
    prediction = graded(["    return 4", REST, "    return 5", "x = ("])
    assert GENERATION.attempts(prediction.answer) == (False, True, True, False)
    assert GENERATION.score(prediction.answer, problem()) == 0.5
    assert GENERATION.same(prediction, graded(REST))
    assert not GENERATION.same(prediction, graded("    return 4"))
    assert GENERATION.same(graded(["    return 3", ""]), graded("    return 4"))


@pytest.mark.parametrize("answer", [1.0, None, [], [1], {"a": "b"}])
def test_what_is_no_text_is_no_answer(answer: object) -> None:
    assert GENERATION.normalise(answer) is None


def test_the_score_of_a_corpus_is_the_mean() -> None:
    right, wrong = graded(REST).answer, graded("").answer
    several = graded([REST, ""]).answer
    example = problem()
    assert GENERATION.corpus_score([(right, example), (wrong, example), (several, example)]) == 0.5
    assert GENERATION.corpus_score([(right, replace(example, label=None))]) is None


# ── variants ─────────────────────────────────────────────────────────────────────────────────────────────


def reasons(sample: Sample, *variants: Perturbed) -> list[str]:
    outcomes = GENERATION.askable(sample, variants)
    return [outcome.reason if isinstance(outcome, NotApplied) else outcome.evidence for outcome in outcomes]


def test_a_variant_is_asked_about_if_it_shows_something_else_and_its_reference_passes() -> None:
    example = problem()
    assert reasons(
        example,
        variant(example, "total", "sum_"),
        variant(example, "total", "sum_", number=1),
        variant(example, "total", "sum_", transform="u"),
        variant(example, "word)", "word )"),
        variant(example, "total = 0", "total = 1"),
        variant(example, "weigh", "measure"),
        variant(example, "def weigh(words", "def weigh(letters"),
        variant(example, '    """Weigh words."""\n', ""),
        variant(example, SOURCE.partition("\n")[2], "    with words:\n        return 5\n"),
    ) == [
        "executed",
        KNOWN_PROMPT,
        "executed",
        SAME_PROMPT,
        FAILS_NOW,
        FAILS_NOW,
        FAILS_NOW,
        NO_TEXT,
        NO_CUT,
    ]


def test_a_control_is_one_if_what_it_shows_has_no_right_rest_that_is_known() -> None:
    example = problem()
    same = variant(example, "total = 0", "total = 0 * 1", "control")
    changed = variant(example, "total = 0", "total = 1", "control")
    behind = variant(example, 'longest = ""', "longest = 1\n    word = 2", "control")
    hidden = replace(behind, source=behind.source.replace("return total", "return -total"))
    assert reasons(example, same, changed, hidden) == ["analysis", "executed", "analysis"]
    assert [GENERATION.expects(example, each) for each in (same, changed, hidden)] == [
        "same",
        "other",
        "same",
    ]


def test_what_is_expected_of_variants_that_nobody_settled() -> None:
    """As searches make them."""
    example = problem()
    idle = replace(variant(example, "", "", "identity"), source=example.source)
    assert GENERATION.expects(example, idle) == "same"
    assert GENERATION.expects(example, variant(example, "total", "sum_")) == "same"
    assert GENERATION.expects(example, variant(example, "weigh", "measure")) == "other"
    assert GENERATION.expects(example, variant(example, '    """Weigh words."""\n', "")) == "unknown"
    assert GENERATION.expects(example, variant(example, "def weigh", "def weigh(")) == "unknown"
    assert GENERATION.expects(replace(example, label=None), variant(example, "total", "sum_")) == "unknown"


def test_two_problems_with_one_beginning_are_two(tmp_path: Path) -> None:
    """Their answers are asked once and run with the tests of each."""
    other = GENERATION.prepare(raw(tests=CHECK.replace("5", "4")[:-1] + " or True\n"))
    assert isinstance(other, Sample)
    answer = Predicted(answer="    return 4\n")
    predictions = [GENERATION.graded(answer, example.asked, example) for example in (problem(), other)]
    answers = [prediction.answer for prediction in predictions if isinstance(prediction, Predicted)]
    assert [attempt.failure for (attempt,) in answers] == ["AssertionError", None]  # type: ignore[misc, str-unpack]


@pytest.mark.parametrize("answer", ["passes\n    return 5\n", ("fails: NameError\n    return totl\n",)])
def test_answers_of_an_earlier_version_are_refused_in_one_line(answer: Answer) -> None:
    with pytest.raises(RunError, match="earlier version; run the audit again"):
        GENERATION.attempts(answer)
    with pytest.raises(RunError, match="earlier version"):
        GENERATION.same(Predicted(answer=answer), graded(REST))
