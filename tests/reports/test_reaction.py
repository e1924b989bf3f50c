"""A model that does not react passes no gate, and one that has reasons to answer alike does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from random import Random
from statistics import NormalDist
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.audit.interface import AnswerKind, OneNumber, OneWordOf, Task
from codeaudit.audit.records import Answer, Audited
from codeaudit.reports.checks import Check, Gate, verdict
from codeaudit.reports.gate import Limits, gate
from codeaudit.reports.judged import Judged
from codeaudit.reports.reaction import CONTROLS, lower
from codeaudit.reports.records import NOTHING, Rate
from codeaudit.transforms.records import Sample
from tests.reports.test_gate import SWITCHED, judged
from tests.support.audited import Subtokens, audited, sample

LIMITS = Limits(max_violation_rate=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector(Subtokens):
    """One of three words, scored by accuracy."""

    answers: AnswerKind = field(default_factory=lambda: OneWordOf(("clean", "bug", "odd")))
    score_name: str = "accuracy"

    def score(self, answer: Answer, sample: Sample) -> float | None:
        return float(answer == sample.label)

    def corpus_score(self, answers: Sequence[tuple[Answer, Sample]]) -> float | None:
        return sum(float(answer == sample.label) for answer, sample in answers) / len(answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts(Detector):
    """A number, scored by its error."""

    answers: AnswerKind = field(default_factory=OneNumber)
    score_name: str = "mape"
    better: Literal["higher", "lower"] = "lower"


Given = tuple[Answer, Answer | None]
"""The answer to an original, and its label."""


def answered(
    pairs: Sequence[Given],
    task: Task | None = None,
    *,
    reacting: int = 0,
    restless: int = 0,
    controls: int = 1,
    model: str = "m",
    trials: int = 1,
) -> Judged:
    """A run on samples with these answers and labels. The first `reacting` ones answer otherwise to each of
    their `controls`, the first `restless` ones to the unchanged text; no other edit changes an answer.
    """
    task = task or Subtokens()

    def other(answer: Answer) -> Answer:
        return ("other",) if isinstance(answer, tuple) else "odd" if isinstance(answer, str) else -1.0

    def one(number: int, answer: Answer, label: Answer | None) -> Audited:
        after: dict[str, list[Answer | None]] = {
            "identity": [other(answer) if number < restless else answer],
            "rename": [answer],
        }
        if controls:
            after["rename-merging"] = [other(answer) if number < reacting else answer] * controls
        return audited(model, sample(f"s{number:04}", label), before=answer, after=after, task=task)

    return judged(*(one(number, *pair) for number, pair in enumerate(pairs)), task=task)


def names(number: int, *, dull: int = 0) -> list[Given]:
    """Right names, of which the first `dull` ones are answered alike."""
    return [(("get",) if n < dull else (f"n{n}",), (f"n{n}",)) for n in range(number)]


def reactions(decision: Gate) -> dict[str, str]:
    return {check.name: check.outcome for check in decision.checks if check.name != "violations"}


def only(decision: Gate, name: str) -> Check:
    (check,) = (check for check in decision.checks if check.name == name)
    return check


# ── the dead model ───────────────────────────────────────────────────────────────────────────────────────

DEAD: dict[str, tuple[Callable[[], Judged], dict[str, str]]] = {
    "names": (lambda: answered(names(60, dull=60)), {"reaction": "failed", "one answer": "failed"}),
    "names without labels": (
        lambda: answered([(("get",), None)] * 60),
        {"reaction": "failed"},
    ),
    "words": (
        lambda: answered([("clean", "bug" if n % 3 else "clean") for n in range(60)], Detector()),
        {"MCC": "failed"},
    ),
    "words of three classes": (
        lambda: answered([("odd", ("bug", "clean", "odd")[n % 3]) for n in range(60)], Detector()),
        {"MCC": "failed"},
    ),
    "words that are no label": (
        lambda: answered([("odd", "bug" if n % 3 else "clean") for n in range(60)], Detector()),
        {"MCC": "failed"},
    ),
    "words of one class": (lambda: answered([("clean", "clean")] * 60, Detector()), {"reaction": "failed"}),
    "numbers": (
        lambda: answered([(1.0, float(n)) for n in range(60)], Counts()),
        {"reaction": "failed", "one answer": "failed"},
    ),
    "numbers of a task without a reaction": (
        lambda: answered([(1.0, float(n)) for n in range(60)], Counts(reacts=False)),
        {"one answer": "failed"},
    ),
}


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("run", "wanted"), DEAD.values(), ids=DEAD)
def test_one_answer_to_everything_fails(run: Callable[[], Judged], wanted: dict[str, str]) -> None:
    decision = gate(run(), LIMITS)
    assert (reactions(decision), decision.outcome) == (wanted, "failed")
    for check in decision.of("failed"):
        assert "--allow-insensitive switches this check off" in check.notes[0]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("run", "wanted"), DEAD.values(), ids=DEAD)
def test_what_is_switched_off_is_said(run: Callable[[], Judged], wanted: dict[str, str]) -> None:
    decision = gate(run(), replace(LIMITS, allow_insensitive=True))
    assert (reactions(decision), decision.outcome) == ({}, "passed")
    assert decision.notes == (SWITCHED,)
    assert SWITCHED not in gate(run(), LIMITS).notes


def test_each_model_is_asked_for_itself() -> None:
    alive, dead = (
        [
            audited(
                model,
                sample(f"s{n:02}", (f"n{n}",)),
                before=("get",) if model == "dead" else (f"n{n}",),
                after={"rename-merging": [("get",) if model == "dead" else ("other",)]},
            )
            for n in range(40)
        ]
        for model in ("alive", "dead")
    )
    decision = gate(judged(*alive, *dead), LIMITS)
    assert {(check.model, check.name) for check in decision.of("failed")} == {
        ("dead", "reaction"),
        ("dead", "one answer"),
    }
    assert len([check for check in decision.of("passed") if check.model == "alive"]) == 2


# ── closed sets of labels ────────────────────────────────────────────────────────────────────────────────


def detected(hits: int, misses: int, alarms: int, quiet: int) -> list[Given]:
    """Bugs that are found and missed, clean code with and without an alarm."""
    return [
        *[("bug", "bug")] * hits,
        *[("clean", "bug")] * misses,
        *[("bug", "clean")] * alarms,
        *[("clean", "clean")] * quiet,
    ]


def test_an_honest_detector_on_a_set_with_few_bugs_passes_though_no_control_changes_it() -> None:
    run = answered(detected(6, 4, 4, 186), Detector())
    assert run.summary.models[0].sensitivity.rate == 0
    said = run.summary.models[0].agreement
    assert (said.commonest, said.commonest_answers / said.answers) == ("clean", 0.95)
    decision = gate(run, LIMITS)
    assert reactions(decision) == {"MCC": "passed"}
    assert decision.outcome == "passed"
    check = only(decision, "MCC")
    assert check.value == pytest.approx((6 * 186 - 4 * 4) / sqrt(10 * 10 * 190 * 190))
    assert check.found.startswith("0.58, p <0.0001 (200 labelled samples)"), check.found


def test_a_detector_that_rolls_dice_fails() -> None:
    chance = Random(5)
    pairs: list[Given] = [
        (chance.choice(("bug", "clean")), chance.choice(("bug", "clean"))) for _ in range(200)
    ]
    # Controls change its answers all the time.
    decision = gate(answered(pairs, Detector(), reacting=200), LIMITS)
    assert reactions(decision) == {"MCC": "failed"}
    assert only(decision, "MCC").notes[0].startswith("its answers do not go with the labels")


def test_a_detector_that_says_the_opposite_fails() -> None:
    decision = gate(answered(detected(5, 45, 45, 5), Detector()), LIMITS)
    assert only(decision, "MCC").value == pytest.approx(-0.8)
    assert decision.outcome == "failed"
    # However much chance is let through.
    weak = answered(detected(24, 26, 26, 24), Detector())
    assert gate(weak, replace(LIMITS, alpha=0.9)).outcome == "failed"


def test_what_chance_explains_at_alpha_is_no_correlation() -> None:
    run = answered(detected(30, 20, 19, 31), Detector())
    p = run.summary.models[0].agreement.p
    assert p is not None
    assert 0.01 < p < 0.05
    assert gate(run, LIMITS).outcome == "failed"
    assert gate(run, replace(LIMITS, alpha=0.05)).outcome == "passed"
    assert gate(run, replace(LIMITS, alpha=p)).outcome == "passed", "at most alpha"


@pytest.mark.parametrize(
    ("hits", "quiet", "outcome"),
    [(1, 40, "unknown"), (1, 100, "passed"), (2, 12, "unknown"), (2, 13, "passed")],
)
def test_where_even_right_answers_could_be_chance_nothing_is_said(
    hits: int, quiet: int, outcome: str
) -> None:
    """Of all 105 ways to place two alarms on 15 samples one is right: 1 in 105 is below 1 %, 1 in 91 is not."""
    right = gate(answered(detected(hits, 0, 0, quiet), Detector()), LIMITS)
    assert reactions(right) == {"MCC": outcome}
    dead = gate(answered(detected(0, hits, 0, quiet), Detector()), LIMITS)
    assert dead.outcome == ("unknown" if outcome == "unknown" else "failed")
    if outcome == "unknown":
        assert right.exit_code == 3
        assert "right answers to all of them could be chance" in only(right, "MCC").found
        assert only(right, "MCC").notes[0].startswith("audit more samples")


# ── sensitivity ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("controls", "outcome"), [(0, "unknown"), (19, "unknown"), (20, "passed")])
def test_fewer_than_twenty_judged_controls_say_nothing(controls: int, outcome: str) -> None:
    run = answered(names(controls or 30), reacting=controls, controls=int(bool(controls)))
    check = only(gate(run, LIMITS), "reaction")
    assert check.outcome == outcome
    if outcome == "unknown":
        counted = "19 judged controls" if controls else "no judged control"
        assert check.found == f"{counted}, fewer than 20"
        assert check.notes == (
            "audit more samples, with --controls, or say that this is meant: "
            "--allow-insensitive switches this check off",
        )
        assert gate(run, LIMITS).exit_code == 3


def test_controls_that_only_execution_could_judge_ask_for_execution() -> None:
    run = answered(names(30), controls=1)
    (model,) = run.summary.models
    undecided = replace(model, sensitivity=NOTHING)
    for decided, advice in ((True, "--execute"), (False, "audit more samples, with --controls")):
        summary = replace(run.summary, edits_decide=decided, models=(undecided,))
        check = only(gate(replace(run, summary=summary), LIMITS), "reaction")
        assert check.outcome == "unknown"
        assert advice in check.notes[0]


def test_twenty_controls_that_change_nothing_fail() -> None:
    check = only(gate(answered(names(20)), LIMITS), "reaction")
    assert (check.outcome, check.value, check.limit) == ("failed", 0.0, 0.0)
    assert check.found == "sensitivity 0 % (0/20), not shown to lie above"


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("reacting", "restless", "outcome"),
    [
        (30, 0, "passed"),
        (30, 40, "failed"),
        (30, 30, "failed"),
        (30, 24, "failed"),
        (30, 23, "passed"),
        (1, 0, "passed"),
    ],
)
def test_what_asking_again_changes_too_is_no_reaction(reacting: int, restless: int, outcome: str) -> None:
    """Without noise, 30 of 100 controls say that surely more than 20.6 % change an answer. With noise, each
    sample's control is held against its repeat: 7 of 7 that differ are shown at 1 %, 6 of 6 are not."""
    run = answered(names(100), reacting=reacting, restless=restless)
    check = only(gate(run, LIMITS), "reaction")
    assert check.limit == 0
    assert check.outcome == outcome
    if (reacting, restless) == (30, 0):
        assert check.value == pytest.approx(0.2059, abs=1e-4)
    noise = f" of {restless}.0 %, p at most 0.01" if restless else ""
    assert check.wanted == f"above the noise{noise}"


def test_alpha_is_that_of_the_test() -> None:
    run = answered(names(100), reacting=30, restless=24)
    assert gate(run, LIMITS).outcome == "failed"
    assert gate(run, replace(LIMITS, alpha=0.1)).outcome == "passed"


RATES = st.integers(1, 400).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))


@given(RATES, st.sampled_from([0.001, 0.01, 0.05, 0.2]))
def test_the_lower_end_is_that_of_wilson(counts: tuple[int, int], alpha: float) -> None:
    """Written out; and by its definition: the smallest share that a score test does not reject."""
    count, total = counts
    share, z = count / total, NormalDist().inv_cdf(1 - alpha)
    bound = lower(Rate(count=count, total=total, rate=share, clusters=total), alpha)
    written = (
        share + z * z / (2 * total) - z * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    )
    assert bound == pytest.approx(written / (1 + z * z / total), abs=1e-12)
    assert 0 <= bound <= share
    if share in (0, 1):
        assert bound == pytest.approx(share * total / (total + z * z))
    else:
        from scipy.optimize import brentq

        defined = brentq(lambda p: (share - p) * sqrt(total) - z * sqrt(p * (1 - p)), 0.0, share, xtol=1e-13)
        assert bound == pytest.approx(defined, abs=1e-9)


def test_controls_of_one_sample_are_one_witness() -> None:
    """80 of 200 controls, in 50 samples: the total is 50."""
    many = answered(names(50), reacting=20, controls=4)
    few = answered(names(50), reacting=20, controls=1)
    assert many.summary.models[0].sensitivity.total == 200
    one, other = (only(gate(run, LIMITS), "reaction").value for run in (many, few))
    assert one == pytest.approx(other)
    spread = sqrt(0.24 / 50 + NormalDist().inv_cdf(0.99) ** 2 / 10_000) * NormalDist().inv_cdf(0.99)
    assert one == pytest.approx(
        (0.4 + NormalDist().inv_cdf(0.99) ** 2 / 100 - spread) / (1 + NormalDist().inv_cdf(0.99) ** 2 / 50)
    )


@pytest.mark.parametrize("task", [Counts(), Counts(reacts=False)], ids=["reacts", "does not"])
def test_a_task_says_that_sensitivity_makes_no_sense(task: Task) -> None:
    run = answered([(float(n), float(n)) for n in range(60)], task)
    assert run.summary.reacts is task.reacts
    wanted = {"one answer": "passed", **({"reaction": "failed"} if task.reacts else {})}
    assert reactions(gate(run, LIMITS)) == wanted
    # Without a control there is nothing to miss either.
    bare = gate(answered([(float(n), float(n)) for n in range(60)], task, controls=0), LIMITS)
    assert bare.outcome == ("unknown" if task.reacts else "passed")


# ── one answer ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("number", "dull", "outcome"),
    [(100, 94, "passed"), (100, 95, "failed"), (20, 19, "failed"), (20, 18, "passed")],
)
def test_one_answer_stands_for_95_percent(number: int, dull: int, outcome: str) -> None:
    decision = gate(answered(names(number, dull=dull), reacting=number), LIMITS)
    assert reactions(decision) == {"reaction": "passed", "one answer": outcome}
    check = only(decision, "one answer")
    assert check.value == dull / number
    share = f"{100 * dull / number:.1f} % of its answers ({dull}/{number})"
    assert check.found == (f"'get' is {share}" if outcome == "failed" else f"the commonest is {share}")


@pytest.mark.parametrize(("alike", "outcome"), [(49, "failed"), (50, "passed")])
def test_a_label_that_covers_half_explains_one_answer(alike: int, outcome: str) -> None:
    pairs: list[Given] = [(("get",), ("get",) if n < alike else (f"n{n}",)) for n in range(100)]
    assert reactions(gate(answered(pairs, reacting=100), LIMITS))["one answer"] == outcome
    # Any label explains it, not that of the answer alone.
    others: list[Given] = [(("get",), ("set",) if n < alike else (f"n{n}",)) for n in range(100)]
    assert reactions(gate(answered(others, reacting=100), LIMITS))["one answer"] == outcome


@pytest.mark.parametrize(("labels", "asked"), [(19, False), (20, True)])
def test_few_labels_say_nothing_of_variety(labels: int, asked: bool) -> None:
    pairs: list[Given] = [(("get",), (f"n{n}",) if n < labels else None) for n in range(40)]
    assert ("one answer" in reactions(gate(answered(pairs, reacting=40), LIMITS))) is asked


def test_an_answer_in_another_order_of_words_is_another() -> None:
    """And one of others is shown as text that cannot act on a terminal."""
    pairs: list[Given] = [(("a", "\x1b[31m") if n % 2 else ("\x1b[31m", "a"), (f"n{n}",)) for n in range(40)]
    assert reactions(gate(answered(pairs, reacting=40), LIMITS))["one answer"] == "passed"
    same: list[Given] = [(("a", "\x1b[31m"), (f"n{n}",)) for n in range(40)]
    check = only(gate(answered(same, reacting=40), LIMITS), "one answer")
    assert check.outcome == "failed"
    assert "\x1b" not in check.found


# ── the last line ────────────────────────────────────────────────────────────────────────────────────────

VERDICTS: dict[str, Callable[[int], Judged]] = {
    "gate passed: 2 checks": lambda number: answered(names(number), reacting=number),
    "gate FAILED: 1 of 2 checks": lambda number: answered(names(number)),
    "gate cannot tell: 1 of 2 checks could not be judged": lambda number: answered(names(number), controls=0),
}


@pytest.mark.parametrize(("start", "make"), VERDICTS.items(), ids=VERDICTS)
def test_few_samples_are_said_in_the_last_line(start: str, make: Callable[[int], Judged]) -> None:
    def last(number: int) -> str:
        decision = gate(make(number), LIMITS)
        return verdict(
            replace(decision, checks=tuple(check for check in decision.checks if check.name != "one answer"))
        )

    assert last(30) == start
    assert last(29) == f"{start}; 29 samples only, fewer than 30"


def test_controls_that_are_needed_are_those_that_decide() -> None:
    """With so many controls one reaction in ten is above a noise of 0."""
    assert CONTROLS == 20
    assert gate(answered(names(20), reacting=2), LIMITS).outcome == "passed"
