"""Derivatives: which samples are examples, what answers are read as, and the accuracy."""

import pytest

from codeaudit.audit.records import Predicted
from codeaudit.audit.registry import TASKS
from codeaudit.audit.tasks.derivative import DERIVATIVE
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.registry import transform_for

PAIR = "mul a0 sin mul y x =? mul a0 mul y cos mul y x"


def sample(source: str = PAIR, label: str | float | None = "true", language: str = "algebra") -> Sample:
    return Sample(id="s", language=language, source=source, label=label, origin=Origin(path="a", line=1))


@pytest.mark.parametrize(
    ("given", "label"),
    [
        ("true", "true"),
        (" False ", "false"),
        ("yes", "true"),
        ("no", "false"),
        (1.0, "true"),
        (0.0, "false"),
        (None, None),
    ],
)
def test_a_pair_is_an_example_with_its_label(given: str | float | None, label: str | None) -> None:
    prepared = DERIVATIVE.prepare(sample(label=given))
    assert isinstance(prepared, Sample)
    assert prepared.label == label


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (sample(language="python"), "no pair of expressions"),
        (sample("sin x"), "source does not parse"),
        (sample("sine x =? x"), "source does not parse"),
        (sample(label="perhaps"), "label neither true nor false"),
        (sample(label=2.0), "label neither true nor false"),
    ],
)
def test_what_is_no_example_says_why(one: Sample, reason: str) -> None:
    assert DERIVATIVE.prepare(one) == reason


@pytest.mark.parametrize(
    ("answer", "normal"),
    [
        ("TRUE", "true"),
        ("No", "false"),
        ("1", "true"),
        (0.0, "false"),
        (1, "true"),
        (True, "true"),
        (0.5, None),
        ("maybe", None),
        (("true",), None),
        (None, None),
        (float("nan"), None),
    ],
)
def test_answers_have_one_form(answer: object, normal: str | None) -> None:
    assert DERIVATIVE.normalise(answer) == normal


def test_accuracy() -> None:
    true, false, unknown = sample(), sample(label="false"), sample(label=None)
    assert DERIVATIVE.score("true", true) == 1.0
    assert DERIVATIVE.score("true", false) == 0.0
    assert DERIVATIVE.score("true", unknown) is None
    answers = [("true", true), ("true", false), ("false", false), ("true", unknown)]
    assert DERIVATIVE.corpus_score(answers) == pytest.approx(2 / 3)
    assert DERIVATIVE.corpus_score([("true", unknown)]) is None
    assert DERIVATIVE.same(Predicted(answer="true"), Predicted(answer="true"))
    assert not DERIVATIVE.same(Predicted(answer="true"), Predicted(answer="false"))


@pytest.mark.parametrize(
    ("name", "expected"), [("rename", "same"), ("rename-views", "other"), ("identity", "same")]
)
def test_controls_change_the_right_answer(name: str, expected: str) -> None:
    (variant,) = perturb_one(sample(), transform_for(name, "algebra"), variants=1, seed=0)
    assert isinstance(variant, Perturbed)
    assert TASKS.get("derivative").expects(sample(), variant) == expected
