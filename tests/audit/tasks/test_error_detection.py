"""Error detection: which samples are examples, what answers are read as, what controls do, and the F1."""

from dataclasses import replace

import pytest

from codeaudit.audit.records import Held, Predicted, Unjudged
from codeaudit.audit.registry import TASKS
from codeaudit.audit.run import judge
from codeaudit.audit.tasks.error_detection import BUGGY, CLEAN, ERROR_DETECTION
from codeaudit.transforms.records import Kind, Origin, Perturbed, Sample

JAVA = "int half(int x) {\n    int y = x / 2;\n    return y;\n}"
PYTHON = "def half(x):\n    y = x / 2\n    return y\n"


def sample(source: str = JAVA, label: str | float | None = 1.0, language: str = "java") -> Sample:
    return Sample(id="s", language=language, source=source, label=label, origin=Origin(path="a", line=1))


def perturbed(original: Sample, kind: Kind) -> Perturbed:
    return Perturbed(
        sample=original, transform="t", kind=kind, variant=0, source="other", moves=(), evidence="analysis"
    )


@pytest.mark.parametrize(
    ("given", "label"),
    [
        (1.0, BUGGY), (0.0, CLEAN), ("1", BUGGY), (" Buggy ", BUGGY), ("fixed", CLEAN), ("true", BUGGY),
        (None, None), ("half", None), ("maybe", None), (2.0, None),
    ],
)  # fmt: skip
def test_an_example_has_its_label_as_a_word_and_keeps_its_name(
    given: str | float | None, label: str | None
) -> None:
    for raw in (sample(label=given), sample(PYTHON, given, "python")):
        prepared = ERROR_DETECTION.prepare(raw)
        assert isinstance(prepared, Sample)
        assert prepared == replace(raw, label=label)


@pytest.mark.parametrize("name", ["clean", "bug", "correct", "no"])
def test_the_name_of_a_function_is_no_label(name: str) -> None:
    """Corpora of source files give names as labels, and `clean` is a common one."""
    for raw in (
        sample(JAVA.replace("half", name), name),
        sample(PYTHON.replace("half", name), name, "python"),
    ):
        prepared = ERROR_DETECTION.prepare(raw)
        assert isinstance(prepared, Sample)
        assert prepared.label is None


def test_what_is_no_example() -> None:
    assert ERROR_DETECTION.prepare(sample("nop", language="x86")) == "neither Python nor Java"
    assert ERROR_DETECTION.prepare(sample("int f( {")) == "source does not parse"
    assert ERROR_DETECTION.prepare(sample("def f(", language="python")) == "source does not parse"


def test_the_right_answer_changes_only_where_a_control_breaks_clean_code() -> None:
    buggy, clean, unknown = sample(label=BUGGY), sample(label=CLEAN), sample(label=None)
    for unit in (buggy, clean, unknown):
        assert ERROR_DETECTION.expects(unit, perturbed(unit, "preserving")) == "same"
        assert ERROR_DETECTION.expects(unit, perturbed(unit, "identity")) == "same"
    by_label = {
        unit.label: ERROR_DETECTION.expects(unit, perturbed(unit, "control"))
        for unit in (buggy, clean, unknown)
    }
    assert by_label == {BUGGY: "same", CLEAN: "other", None: "unknown"}


def test_controls_of_buggy_code_count_for_no_sensitivity() -> None:
    answer = Predicted(answer=BUGGY)
    for label, kind in ((BUGGY, Unjudged), (CLEAN, Held), (None, Unjudged)):
        unit = sample(label=label)
        verdict = judge(perturbed(unit, "control"), answer, answer, unit, task=ERROR_DETECTION, noise=0.0)
        assert isinstance(verdict, kind)


def test_the_score_is_the_f1_of_the_buggy_class() -> None:
    answers = [(BUGGY, BUGGY), (BUGGY, BUGGY), (BUGGY, CLEAN), (CLEAN, BUGGY), (CLEAN, CLEAN), (BUGGY, None)]
    pairs = [(answer, sample(label=label)) for answer, label in answers]
    assert ERROR_DETECTION.corpus_score(pairs) == pytest.approx(2 * 2 / (3 + 3))
    assert ERROR_DETECTION.score(BUGGY, sample(label=CLEAN)) == 0
    assert ERROR_DETECTION.score(CLEAN, sample(label=CLEAN)) == 1
    assert ERROR_DETECTION.score(CLEAN, sample(label=None)) is None
    assert ERROR_DETECTION.corpus_score([(CLEAN, sample(label=CLEAN))]) is None


def test_one_answer_to_everything_reaches_two_thirds_on_balanced_data() -> None:
    balanced = [(BUGGY, sample(label=label)) for label in (BUGGY, CLEAN) * 5]
    assert ERROR_DETECTION.corpus_score(balanced) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("given", "answer"), [(True, BUGGY), (0, CLEAN), ("Yes", BUGGY), ("", None), ([], None)]
)
def test_answers_from_outside(given: object, answer: str | None) -> None:
    assert ERROR_DETECTION.normalise(given) == answer


def test_it_is_registered() -> None:
    assert TASKS.get("error-detection") is ERROR_DETECTION
