"""The task `code-modelling`: no labels, bits per byte, sameness, and scores over a corpus."""

import pytest

from codeaudit.audit.records import Audited, Predicted, Violated
from codeaudit.audit.registry import TASKS
from codeaudit.audit.run import judge
from codeaudit.audit.tasks.code_modelling import CODE_MODELLING
from codeaudit.reports.observations import observe
from codeaudit.reports.scores import score as corpus_scores
from codeaudit.transforms.records import Kind, Origin, Perturbed, Sample


def sample(source: str = "x = 1\n", label: object = "main") -> Sample:
    return Sample(
        id=source,
        language="python",
        source=source,
        label=label,  # type: ignore[arg-type]
        origin=Origin(path="a.py", line=1),
    )


def perturbed(kind: Kind = "preserving") -> Perturbed:
    return Perturbed(
        sample=sample(), transform="t", kind=kind, variant=0, source="y = 1\n", moves=(), evidence="analysis"
    )


def test_it_is_registered() -> None:
    assert TASKS.get("code-modelling") is CODE_MODELLING
    assert CODE_MODELLING.score_name == "bits per byte"


def test_any_text_is_an_example() -> None:
    """What a corpus says of it is no label; nothing is masked."""
    prepared = CODE_MODELLING.prepare(sample())
    assert isinstance(prepared, Sample)
    assert (prepared.label, prepared.source) == (None, "x = 1\n")
    assert CODE_MODELLING.prepare(sample(" \n\t")) == "empty text"


@pytest.mark.parametrize(
    ("answer", "read"),
    [(1.5, 1.5), ("1.5", 1.5), (0, 0.0), (-1.0, None), ("many", None), (True, None), (float("nan"), None)],
)
def test_answers_are_numbers_that_are_not_negative(answer: object, read: float | None) -> None:
    assert CODE_MODELLING.normalise(answer) == read


def test_a_millionth_is_no_change() -> None:
    before = Predicted(answer=2.0)
    assert CODE_MODELLING.same(before, Predicted(answer=2.0000001))
    assert not CODE_MODELLING.same(before, Predicted(answer=2.0001))


def test_what_keeps_the_meaning_should_keep_the_bits() -> None:
    assert CODE_MODELLING.expects(sample(), perturbed()) == "same"
    assert CODE_MODELLING.expects(sample(), perturbed("identity")) == "same"
    assert CODE_MODELLING.expects(sample(), perturbed("control")) == "other"


def test_a_corpus_counts_all_bits_by_all_bytes() -> None:
    """Not the mean over texts."""
    answers = [(1.0, sample("x" * 30)), (4.0, sample("y" * 10))]
    assert CODE_MODELLING.corpus_score(answers) == pytest.approx(70 / 40)
    assert CODE_MODELLING.corpus_score([(2.0, sample("é"))]) == 2.0
    assert CODE_MODELLING.corpus_score([]) is None


def test_a_report_tells_the_shift() -> None:
    """More bits under attack are worse, so the drop is positive."""
    verdict = judge(
        perturbed(), Predicted(answer=2.0), Predicted(answer=2.5), sample(), task=CODE_MODELLING, noise=0.0
    )
    assert isinstance(verdict, Violated)
    audited = Audited(
        model="m",
        sample=sample(label=None),
        before=Predicted(answer=2.0),
        score=2.0,
        verdicts=(verdict,),
        after_scores=(2.5,),
        not_applied=(),
    )
    scores = corpus_scores([observe(audited, seed=0)], CODE_MODELLING)
    assert (scores.better, scores.original, scores.attack_worst_sample) == ("lower", 2.0, 2.5)
    assert scores.drop == pytest.approx(0.5)
