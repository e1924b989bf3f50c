"""Next line: examples, answers, and variants whose next line is still the same."""

from dataclasses import replace

import pytest

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.interface import Task
from codeaudit.audit.prompt_cut import NO_CUT, NOT_CUT, ONE_LINE, SAME_PROMPT
from codeaudit.audit.records import malformed
from codeaudit.audit.registry import TASKS
from codeaudit.audit.run import malformed_message
from codeaudit.audit.tasks.next_line import NEXT_LINE, OTHER_LINE
from codeaudit.transforms.records import NotApplied, Sample
from codeaudit.transforms.registration import overrides
from tests.support.audited import variant

SOURCE = "def f(a, b):\n    low = a - b\n    high = a + b\n    # both\n    return [low,   high]\n"


def example(source: str = SOURCE) -> Sample:
    prepared = NEXT_LINE.prepare(raw_sample(source, language="python", label="f", path="a.py", line=1))
    assert isinstance(prepared, Sample), prepared
    return prepared


def test_it_is_a_task_of_the_registry() -> None:
    assert TASKS.get("next-line") is NEXT_LINE
    assert overrides(NEXT_LINE, Task.showing)
    assert overrides(NEXT_LINE, Task.likeness)
    assert not overrides(NEXT_LINE, Task.graded)


def test_the_right_answer_is_the_first_line_behind_the_cut() -> None:
    assert example().asked == "def f(a, b):\n    low = a - b\n"
    assert example().label == "high = a + b"
    last = example(SOURCE.replace("    high = a + b\n", ""))
    assert last.label == "return [low, high]"
    assert last.asked.endswith("    # both\n"), "comments are shown"


@pytest.mark.parametrize(
    ("source", "language", "reason"),
    [
        ("def f(a):\n    return a\n", "python", ONE_LINE),
        ('def f(a):\n    """Say."""\n    return a\n', "python", ONE_LINE),
        ("def f(a):\n    a += 1; return a\n", "python", ONE_LINE),
        ("x = 1\n", "python", "no function at the end of the text"),
        ("def f(", "python", "source does not parse"),
        ("int f() { return 1; }", "java", NOT_CUT),
    ],
)
def test_what_is_no_example(source: str, language: str, reason: str) -> None:
    assert NEXT_LINE.prepare(raw_sample(source, language=language, label=None, path="a", line=1)) == reason


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ("    high = a + b\n    return high\n", "high = a + b"),
        ("\n\n  x  =   1", "x = 1"),
        ("```python\n    high = a + b\n```", "high = a + b"),
        ("`high = a + b`", "high = a + b"),
        ("~~~\nx = 1", "x = 1"),
        ("", None),
        ("```\n```", None),
        (1.0, None),
        (("a", "b"), None),
    ],
)
def test_the_first_line_that_says_something_is_the_answer(answer: object, line: str | None) -> None:
    assert NEXT_LINE.normalise(answer) == line


def test_an_empty_text_is_told_to_be_no_line() -> None:
    message = malformed_message(malformed(""), NEXT_LINE)
    assert message == "the answer '' is malformed; next-line takes a text, and an empty text is no line"


def test_scores() -> None:
    one, other = example(), example(SOURCE.replace("a + b", "a * b"))
    answers = [("high = a + b", one), ("high = a + b", other)]
    assert [NEXT_LINE.score(*each) for each in answers] == [1.0, 0.0]
    assert NEXT_LINE.corpus_score(answers) == 0.5
    near = NEXT_LINE.likeness(answers)
    assert near["edit similarity"] == pytest.approx((1 + 11 / 12) / 2)
    assert 0 < near["BLEU-4"] < 1
    nothing = [("x", replace(one, label=None))]
    assert NEXT_LINE.corpus_score(nothing) is None
    assert NEXT_LINE.likeness(nothing) == {}


def test_variants_change_what_is_shown_and_not_the_line_behind_it() -> None:
    original = example()
    given = [
        variant(original, "def f(a, b):\n", "def f(a, b):\n    x = 0\n"),
        variant(original, "low", "lowest"),
        variant(original, "a - b", "a-b"),
        variant(original, "(a, b)", "(a, c)"),
        variant(original, "a", "c"),
        variant(original, "return [low,   high]", "return [high]"),
        variant(original, SOURCE.partition("\n")[2], "    with a:\n        pass\n"),
        variant(original, "a - b", "b - a", "control"),
        replace(variant(original, "", "", "identity"), source=SOURCE),
    ]
    outcomes = NEXT_LINE.askable(original, given)
    assert [each.reason if isinstance(each, NotApplied) else "" for each in outcomes] == [
        *("", "", "", "", OTHER_LINE, SAME_PROMPT, NO_CUT, "", "")
    ]
    assert [NEXT_LINE.expects(original, each) for each in given] == [
        *("same", "same", "same", "same", "other", "same", "unknown", "unknown", "same")
    ]
