"""The task `throughput`: labels, sameness, error, and what becomes of the right answer."""

from dataclasses import replace

import pytest

from codeaudit.audit.interface import Expectation
from codeaudit.audit.records import (
    ANSWER_CHANGES,
    ANSWER_STAYS,
    ANSWER_UNKNOWN,
    Audited,
    Held,
    Predicted,
    Unjudged,
    Violated,
)
from codeaudit.audit.registry import TASKS
from codeaudit.audit.run import judge
from codeaudit.audit.tasks.throughput import THROUGHPUT
from codeaudit.reports.observations import observe
from codeaudit.reports.scores import score as corpus_scores
from codeaudit.transforms.records import Kind, Move, Origin, Perturbed, Sample

ORDER = Move(kind="order", site=0, value=(1, 0), note="1, 2 -> 2, 1")
RENAME = Move(kind="rename", site=0, value="rbx", note="rax -> rbx")


def block(label: object = 2.0, source: str = "addq %rax, %rbx\nincq %rcx", language: str = "x86") -> Sample:
    return Sample(
        id=source[:8],
        language=language,
        source=source,
        label=label,  # type: ignore[arg-type]
        origin=Origin(path="a.s", line=1),
    )


def perturbed(move: Move, label: float | None, kind: Kind = "preserving") -> Perturbed:
    return Perturbed(
        sample=block(label),
        transform="t",
        kind=kind,
        variant=0,
        source="incq %rcx\naddq %rax, %rbx",
        moves=(move,),
        evidence="analysis",
    )


def test_it_is_registered() -> None:
    assert TASKS.get("throughput") is THROUGHPUT
    assert THROUGHPUT.score_name == "mape"


@pytest.mark.parametrize(
    ("label", "read"),
    [
        (1.68, 1.68),
        ("1.68", 1.68),
        (3, 3.0),
        (None, None),
        ("x", None),
        (-1.0, None),
        (0.0, None),
        ("", None),
    ],
)
def test_a_label_is_a_positive_number_or_none(label: object, read: float | None) -> None:
    example = THROUGHPUT.prepare(block(label))
    assert isinstance(example, Sample)
    assert example.label == read


def test_what_is_no_block_is_no_example() -> None:
    assert THROUGHPUT.prepare(block(language="python")) == "not x86"
    assert THROUGHPUT.prepare(block(source="nonsense here")) == "block that cannot be read"
    assert THROUGHPUT.prepare(block(source="")) == "block that cannot be read"


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        (2, 2.0),
        ("2.5", 2.5),
        (float("nan"), None),
        (float("inf"), None),
        (-2.0, None),
        (True, None),
        ("2 cycles", None),
        (("2",), None),
        (None, None),
    ],
)
def test_an_answer_is_a_positive_number(answer: object, read: float | None) -> None:
    assert THROUGHPUT.normalise(answer) == read


@pytest.mark.parametrize(("other", "same"), [(1.0, True), (1 + 4e-7, True), (1 + 2e-6, False), (2.0, False)])
@pytest.mark.parametrize("scale", [0.26, 1.0, 380.0])
def test_sameness_is_relative(other: float, same: bool, scale: float) -> None:
    one, two = Predicted(answer=scale), Predicted(answer=scale * other)
    assert THROUGHPUT.same(one, two) is THROUGHPUT.same(two, one) is same


def test_the_error_is_a_share_of_the_truth() -> None:
    pairs = [(3.0, block(2.0)), (1.0, block(4.0)), (9.0, block(None))]
    assert [THROUGHPUT.score(answer, sample) for answer, sample in pairs] == [0.5, 0.75, None]
    assert THROUGHPUT.corpus_score(pairs) == 0.625
    assert THROUGHPUT.corpus_score(pairs[2:]) is None


@pytest.mark.parametrize(
    ("before", "case", "expected"),
    [
        (2.0, perturbed(RENAME, 2.0), "same"),
        (None, perturbed(RENAME, None), "same"),
        (2.0, perturbed(ORDER, 2.0), "same"),
        (2.0, perturbed(ORDER, 2.1), "other"),
        (2.0, perturbed(ORDER, None), "unknown"),
        (None, perturbed(ORDER, None), "unknown"),
        (2.0, perturbed(RENAME, 2.1, "control"), "other"),
        (2.0, perturbed(RENAME, 2.0, "control"), "same"),
        (None, perturbed(RENAME, None, "control"), "other"),
    ],
)
def test_labels_decide_where_order_or_meaning_changed(
    before: float | None, case: Perturbed, expected: Expectation
) -> None:
    assert THROUGHPUT.expects(block(before), case) == expected


@pytest.mark.parametrize(
    ("case", "after", "outcome"),
    [
        (perturbed(ORDER, 2.0), 1.0, Held),
        (perturbed(ORDER, 2.0), 3.0, Violated),
        (perturbed(ORDER, 2.5), 3.0, ANSWER_CHANGES),
        (perturbed(ORDER, None), 3.0, ANSWER_UNKNOWN),
        (perturbed(RENAME, 2.0), 3.0, Violated),
        (perturbed(RENAME, 2.0, "control"), 3.0, ANSWER_STAYS),
        (perturbed(RENAME, 2.5, "control"), 3.0, Violated),
        (perturbed(RENAME, 2.5, "control"), 1.0, Held),
    ],
)
def test_a_change_of_the_right_answer_is_no_fault(
    case: Perturbed, after: float, outcome: type[Held | Violated] | str
) -> None:
    answers = Predicted(answer=1.0), Predicted(answer=after)
    verdict = judge(case, *answers, block(2.0), task=THROUGHPUT, noise=0.0)
    if isinstance(outcome, str):
        assert isinstance(verdict, Unjudged)
        assert verdict.reason == outcome
    else:
        assert isinstance(verdict, outcome)


def test_an_attack_scores_another_order_against_its_own_label() -> None:
    """The answer 3 is wrong by half for the original's 2, and right for the 3 that the new order costs."""
    changed = perturbed(ORDER, 3.0)
    unknown = replace(perturbed(ORDER, None), variant=1)
    before, after = Predicted(answer=2.0), Predicted(answer=3.0)
    verdicts = tuple(
        judge(edit, before, after, block(2.0), task=THROUGHPUT, noise=0.0) for edit in (changed, unknown)
    )
    audited = Audited(
        model="m",
        sample=block(2.0),
        before=before,
        score=0.0,
        verdicts=verdicts,
        after_scores=tuple(THROUGHPUT.score(3.0, edit.sample) for edit in (changed, unknown)),
        not_applied=(),
    )
    scores = corpus_scores([observe(audited, seed=0)], THROUGHPUT)
    assert (scores.original, scores.attack_worst_round, scores.attack_worst_sample) == (0.0, 0.0, 0.0)
    assert scores.rounds == 1, "the order of unknown cost is not scored"
    assert scores.better == "lower"
