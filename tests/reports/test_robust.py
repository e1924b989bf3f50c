"""Robust pass@k: against counting and numbers by hand, and which variants and attempts count."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb

import pytest

from codeaudit.audit.records import Answer
from codeaudit.reports.observations import Observation, Pair
from codeaudit.reports.records import UNKNOWN, RobustPass, Summary
from codeaudit.reports.render.csv import tables
from codeaudit.reports.robust import Problem, drop, mean, pass_at, robust
from codeaudit.reports.sheets import sheets
from codeaudit.reports.statistics.intervals import wilson
from codeaudit.transforms.records import Kind
from tests.reports.test_compare import MODELS, run
from tests.support.audited import sample


@pytest.mark.parametrize("attempts", range(1, 7))
def test_pass_at_k_is_the_share_of_draws_with_a_passing_attempt(attempts: int) -> None:
    for passed in range(attempts + 1):
        for k in range(1, attempts + 1):
            drawn = [min(combination) < passed for combination in combinations(range(attempts), k)]
            assert pass_at(attempts, passed, k) == pytest.approx(sum(drawn) / comb(attempts, k))


def test_one_attempt() -> None:
    kept = Problem((True,), ((True,), (True,)))
    lost = Problem((True,), ((True,), (False,)))
    gained = Problem((False,), ((False,), (True,)))
    never = Problem((False,), ((False,),))
    assert [problem.at(1) for problem in (kept, lost, gained, never)] == [
        (1, 1, 0),
        (1, 0, 1),
        (0, 0, 1),
        (0, 0, 0),
    ]


def test_several_attempts_by_hand() -> None:
    # own: 1 1 0 0; worst of the variants: 1 0 0 0; for the worse: the 2nd; for the better: the 4th
    problem = Problem((True, True, False, False), ((True, True, False, True), (True, False, False, False)))
    assert problem.at(1) == pytest.approx((2 / 4, 1 / 4, 1 / 4 + 1 / 4))
    assert problem.at(2) == pytest.approx((1 - 1 / 6, 1 - 3 / 6, 2 * (1 - 3 / 6)))


def test_means_of_yes_and_no_have_wilsons_interval() -> None:
    estimate = mean([1.0] * 15 + [0.0] * 5, seed=0)
    assert (estimate.low, estimate.high) == pytest.approx(wilson(15, 20))
    assert estimate.value == 0.75
    assert mean([], seed=0) == UNKNOWN
    few = mean([0.5, 0.25], seed=0)
    assert few.value == 0.375
    assert (few.low, few.high) == pytest.approx(wilson(0.75, 2))


def test_other_means_are_resampled_over_problems() -> None:
    values = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] * 10
    estimate = mean(values, seed=1)
    assert estimate == mean(values, seed=1)
    assert estimate.low is not None
    assert estimate.high is not None
    error = 1.96 * 0.3416 / 60**0.5
    assert estimate.low == pytest.approx(0.5 - error, abs=0.015)
    assert estimate.high == pytest.approx(0.5 + error, abs=0.015)


def test_the_drop_is_of_what_there_was() -> None:
    assert drop([0.0, 0.0], [0.0, 1.0], seed=0) == UNKNOWN
    few = drop([1.0, 1.0, 0.0], [1.0, 0.0, 0.0], seed=0)
    assert (few.value, few.low, few.high) == (0.5, None, None)
    many = drop([1.0] * 40, [1.0] * 20 + [0.0] * 20, seed=0)
    assert many.value == 0.5
    assert many.low is not None
    assert many.high is not None
    assert 0.3 < many.low < 0.5 < many.high < 0.7
    nothing = drop([1.0] * 12, [1.0] * 12, seed=0)
    assert (nothing.value, nothing.low, nothing.high) == (0.0, 0.0, 0.0)


class Ticks:
    """Attempts are the signs of a text."""

    def attempts(self, answer: Answer) -> tuple[bool, ...]:
        return tuple(sign == "+" for sign in str(answer))


def pair(
    transform: str, text: str, answer: str | None, *, kind: Kind = "preserving", variant: int = 0
) -> Pair:
    return Pair(
        transform=transform,
        kind=kind,
        variant=variant,
        input=text,
        evidence="executed",
        changed=None if answer is None else True,
        reason="" if answer is not None else "no answer",
        deviation=0.0,
        sample=sample("s"),
        answer=answer,
        score=0.0,
    )


def observation(name: str, answer: str | None, *pairs: Pair, seed: int = 0) -> Observation:
    return Observation(
        model="m",
        seed=seed,
        sample=sample(name),
        answer=answer,
        failure="" if answer is not None else "no answer",
        score=None if answer is None else 0.0,
        pairs=pairs,
        missing=(),
    )


SEEN = [
    observation("a", "+", pair("x", "a1", "+"), pair("x", "a2", "-"), pair("y", "a3", "+")),
    observation("b", "-", pair("x", "b1", "+"), pair("y", "b2", None)),
    observation("c", "+", pair("z", "c1", "-", kind="control")),
    observation("d", None, pair("x", "d1", "+")),
    observation("a", "+", pair("x", "a2", "-"), pair("x", "a4", "+"), seed=1),
]


def blocks(seen: Sequence[Observation]) -> Mapping[tuple[str, int], RobustPass]:
    return {(block.transform, block.k): block for block in robust(seen, Ticks().attempts, seed=0)}


def test_the_numbers_of_one_attempt_by_hand() -> None:
    by_key = blocks(SEEN)
    assert list(by_key) == [("", 1), ("x", 1), ("y", 1)], "z changes the meaning"
    every = by_key["", 1]
    assert (every.problems, every.variants, every.most_variants, every.attempts) == (2, 5, 4, 1)
    assert (every.nominal.value, every.robust.value) == (0.5, 0.5)  # a: + and -; b: - and +
    assert every.drop.value == 0.0
    assert every.relative.value == 1.0
    assert (by_key["x", 1].variants, by_key["x", 1].most_variants) == (4, 3), (
        "a text of two trials counts once"
    )
    assert by_key["y", 1].problems == 1
    assert by_key["y", 1].relative.value == 0.0


def test_several_attempts_have_several_blocks_and_the_fewest_count() -> None:
    seen = [
        observation("a", "++---", pair("x", "a1", "+----")),
        observation("b", "+++++", pair("x", "b1", "++++-+")),
    ]
    by_key = blocks(seen)
    assert list(by_key) == [("", 1), ("", 5), ("x", 1), ("x", 5)]
    one, five = by_key["x", 1], by_key["x", 5]
    assert (one.nominal.value, one.robust.value, one.relative.value) == pytest.approx((0.7, 0.5, 0.2))
    assert (five.nominal.value, five.robust.value, five.relative.value) == (1.0, 1.0, 1.0)


def test_robust_pass_is_held_against_as_many_repeats() -> None:
    def again(variant: int, answer: str) -> Pair:
        return pair("identity", "same", answer, kind="identity", variant=variant)

    def variants(*answers: str) -> list[Pair]:
        return [pair("x", f"x{n}", answer, variant=n) for n, answer in enumerate(answers)]

    seen = [
        # Two repeats, so two of the three variants: 1 and 2 of 4 attempts are left.
        observation("a", "++++", *variants("+++-", "+-+-", "----"), again(1, "+++-"), again(0, "-+++")),
        # One variant, so one repeat, the first: 4 and 3 of 4.
        observation("b", "++++", *variants("+++-"), again(1, "----"), again(0, "++++")),
        # No repeat got an answer: it is in neither number.
        observation("c", "++++", *variants("----")),
    ]
    (block,) = (
        block for block in robust(seen, Ticks().attempts, seed=0) if (block.transform, block.k) == ("x", 1)
    )
    assert block.robust.value == pytest.approx((0 + 3 / 4 + 0) / 3)
    assert block.repeated.value == pytest.approx((2 / 4 + 4 / 4) / 2)
    assert block.excess.points == pytest.approx(((2 / 4 - 2 / 4) + (4 / 4 - 3 / 4)) / 2)
    assert (block.excess.samples, block.excess.p) == (2, 1.0)
    # The noise of a steady model counts as zero: all variants are held against the prompt's own attempts.
    (block,) = (
        block
        for block in robust(seen, Ticks().attempts, seed=0, steady=True)
        if (block.transform, block.k) == ("x", 1)
    )
    assert block.repeated == block.nominal
    assert block.excess.points == pytest.approx(1 - 1 / 4)


def test_without_variants_single_attempts_tell_nothing_more() -> None:
    assert blocks([SEEN[2], SEEN[3]]) == {}
    assert blocks([]) == {}


def test_without_variants_several_attempts_have_their_pass_at_k() -> None:
    repeat = pair("identity", "same", "-----", kind="identity")
    seen = [observation("a", "++---", repeat), observation("b", "+++++"), observation("c", None)]
    by_key = blocks([*seen, replace(seen[0], seed=1, answer="-----")])
    assert list(by_key) == [("", 1), ("", 5)]
    assert by_key["", 1].nominal.value == pytest.approx((2 / 5 + 1) / 2)
    assert by_key["", 5].nominal.value == 1.0
    assert (by_key["", 5].problems, by_key["", 5].variants) == (2, 0)
    assert {by_key["", 1].robust, by_key["", 1].drop, by_key["", 1].relative} == {UNKNOWN}


def test_it_is_shown_and_read_back_and_older_summaries_lack_it() -> None:
    summary = run("r", MODELS).summary
    assert not any(sheet.title == "Robust pass@k" for sheet in sheets(summary))
    first, *rest = summary.models
    made = replace(first, robust=robust(SEEN, Ticks().attempts, seed=0))
    changed = replace(summary, models=(made, *rest))
    assert Summary.from_json(changed.to_json()) == changed
    (sheet,) = [sheet for sheet in sheets(changed) if sheet.title == "Robust pass@k"]
    assert [[" ".join(cell.lines) for cell in row][1:5] for row in sheet.rows] == [
        ["all together", "1 of 1", "2", "2.5 at most 4"],
        ["x", "1 of 1", "2", "2.0 at most 3"],
        ["y", "1 of 1", "1", "1.0 at most 1"],
    ]
    assert sheet.rows[0][7].lines == ("0 %",), "too few problems for an interval"
    assert "robust.csv" not in tables(summary)
    head, every, *_ = tables(changed)["robust.csv"].splitlines()
    assert head.startswith("model,transform,k,attempts,problems,variants,most_variants,pass_value,pass_low")
    assert every.startswith(f"{first.model},,1,1,2,5,4,0.5,")


def test_likeness_is_shown_before_and_under_attack() -> None:
    summary = run("r", MODELS).summary
    first, *rest = summary.models
    score = replace(first.score, likeness={"BLEU-4": 0.5}, attack_likeness={"BLEU-4": 0.25})
    changed = replace(summary, models=(replace(first, score=score), *rest))
    assert Summary.from_json(changed.to_json()) == changed
    (sheet,) = [sheet for sheet in sheets(changed) if sheet.title == "How near the answers are"]
    assert [cell.lines for cell in sheet.rows[0]][1:] == [("50.0", "25.0")]
    assert [cell.lines for cell in sheet.rows[1]][1:] == [("-", "-")]
