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
    found = GENERATION.prepare(raw(source))
    assert isinstance(found, Sample), found
    return found


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
    one = problem()
    assert one.asked + REST == one.source == SOURCE
    assert one.label == f"{CHECK}\n\ncheck(weigh)\n"
    assert one.id == raw().id


def test_the_share_that_is_shown_is_a_setting() -> None:
    found = GENERATION.showing(0).prepare(raw())
    assert isinstance(found, Sample)
    assert found.asked.endswith('"""Weigh words."""\n')


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
    found = GENERATION.prepare(raw(label=label))
    assert isinstance(found, Sample)
    assert str(found.label).endswith("check(weigh)\n")


def test_tests_may_be_plain_statements() -> None:
    found = GENERATION.prepare(raw(tests="assert weigh(['ab']) == 2"))
    assert isinstance(found, Sample)
    assert found.label == "assert weigh(['ab']) == 2\n"


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────


def graded(answer: object, asked: str | None = None) -> Predicted:
    one = problem()
    given = GENERATION.normalise(answer)
    assert given is not None
    found = GENERATION.graded(Predicted(answer=given), one.asked if asked is None else asked, one)
    assert isinstance(found, Predicted)
    return found


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
    found = graded(reply)
    assert found.answer == (Attempt(text=reply, failure=failure),)
    assert GENERATION.attempts(found.answer) == (failure is None,)
    assert GENERATION.score(found.answer, problem()) == float(failure is None)


@pytest.mark.slow
def test_an_answer_without_an_end_fails() -> None:
    """By its processor time, or by the clock where the machine is busy."""
    (found,) = graded("    while True:\n        pass\n").answer  # type: ignore[misc, str-unpack]
    assert found.failure.startswith("out of ")


@pytest.mark.parametrize("answer", ["    yield 5\n", ("    return 5\n", "    return print\n")])
def test_an_answer_whose_results_cannot_be_carried_has_no_grade(answer: Answer) -> None:
    one = problem()
    assert GENERATION.graded(Predicted(answer=answer), one.asked, one) == Failed(reason=NO_PLAIN_RESULT)


def test_several_attempts_keep_their_order() -> None:
    found = graded(["    return 4", REST, "    return 5", "x = ("])
    assert GENERATION.attempts(found.answer) == (False, True, True, False)
    assert GENERATION.score(found.answer, problem()) == 0.5
    assert GENERATION.same(found, graded(REST))
    assert not GENERATION.same(found, graded("    return 4"))
    assert GENERATION.same(graded(["    return 3", ""]), graded("    return 4"))


@pytest.mark.parametrize("answer", [1.0, None, [], [1], {"a": "b"}])
def test_what_is_no_text_is_no_answer(answer: object) -> None:
    assert GENERATION.normalise(answer) is None


def test_the_score_of_a_corpus_is_the_mean() -> None:
    right, wrong = graded(REST).answer, graded("").answer
    several = graded([REST, ""]).answer
    one = problem()
    assert GENERATION.corpus_score([(right, one), (wrong, one), (several, one)]) == 0.5
    assert GENERATION.corpus_score([(right, replace(one, label=None))]) is None


# ── variants ─────────────────────────────────────────────────────────────────────────────────────────────


def reasons(sample: Sample, *variants: Perturbed) -> list[str]:
    found = GENERATION.askable(sample, variants)
    return [one.reason if isinstance(one, NotApplied) else one.evidence for one in found]


def test_a_variant_is_asked_about_if_it_shows_something_else_and_its_reference_passes() -> None:
    one = problem()
    assert reasons(
        one,
        variant(one, "total", "sum_"),
        variant(one, "total", "sum_", number=1),
        variant(one, "total", "sum_", transform="u"),
        variant(one, "word)", "word )"),
        variant(one, "total = 0", "total = 1"),
        variant(one, "weigh", "measure"),
        variant(one, "def weigh(words", "def weigh(letters"),
        variant(one, '    """Weigh words."""\n', ""),
        variant(one, SOURCE.partition("\n")[2], "    with words:\n        return 5\n"),
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
    one = problem()
    same = variant(one, "total = 0", "total = 0 * 1", "control")
    changed = variant(one, "total = 0", "total = 1", "control")
    behind = variant(one, 'longest = ""', "longest = 1\n    word = 2", "control")
    hidden = replace(behind, source=behind.source.replace("return total", "return -total"))
    assert reasons(one, same, changed, hidden) == ["analysis", "executed", "analysis"]
    assert [GENERATION.expects(one, each) for each in (same, changed, hidden)] == ["same", "other", "same"]


def test_what_is_expected_of_variants_that_nobody_settled() -> None:
    """As searches make them."""
    one = problem()
    idle = replace(variant(one, "", "", "identity"), source=one.source)
    assert GENERATION.expects(one, idle) == "same"
    assert GENERATION.expects(one, variant(one, "total", "sum_")) == "same"
    assert GENERATION.expects(one, variant(one, "weigh", "measure")) == "other"
    assert GENERATION.expects(one, variant(one, '    """Weigh words."""\n', "")) == "unknown"
    assert GENERATION.expects(one, variant(one, "def weigh", "def weigh(")) == "unknown"
    assert GENERATION.expects(replace(one, label=None), variant(one, "total", "sum_")) == "unknown"


def test_two_problems_with_one_beginning_are_two(tmp_path: Path) -> None:
    """Their answers are asked once and run with the tests of each."""
    other = GENERATION.prepare(raw(tests=CHECK.replace("5", "4")[:-1] + " or True\n"))
    assert isinstance(other, Sample)
    answer = Predicted(answer="    return 4\n")
    found = [GENERATION.graded(answer, one.asked, one) for one in (problem(), other)]
    told = [one.answer for one in found if isinstance(one, Predicted)]
    assert [one.failure for (one,) in told] == ["AssertionError", None]  # type: ignore[misc, str-unpack]


@pytest.mark.parametrize("answer", ["passes\n    return 5\n", ("fails: NameError\n    return totl\n",)])
def test_answers_of_an_earlier_version_are_refused_in_one_line(answer: Answer) -> None:
    with pytest.raises(RunError, match="earlier version; run the audit again"):
        GENERATION.attempts(answer)
    with pytest.raises(RunError, match="earlier version"):
        GENERATION.same(Predicted(answer=answer), graded(REST))
