"""Robust pass@k from verdicts: which variants and attempts count, and how it is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from codeaudit.audit.interface import HasAttempts
from codeaudit.audit.records import Answer
from codeaudit.reports.observations import Observation, Pair
from codeaudit.reports.records import RobustPass, Summary
from codeaudit.reports.render.csv import tables
from codeaudit.reports.robust import robust
from codeaudit.reports.sheets import sheets
from codeaudit.transforms.records import Kind
from tests.reports.test_compare import MODELS, run
from tests.support.audited import sample


class Ticks:
    """Attempts are the signs of a text."""

    def attempts(self, answer: Answer) -> tuple[bool, ...]:
        return tuple(sign == "+" for sign in str(answer))


def pair(transform: str, text: str, answer: str | None, *, kind: Kind = "preserving") -> Pair:
    return Pair(
        transform=transform,
        kind=kind,
        variant=0,
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
    task = Ticks()
    assert isinstance(task, HasAttempts)
    return {(one.transform, one.k): one for one in robust(seen, task, seed=0)}


def test_the_numbers_of_one_attempt_by_hand() -> None:
    found = blocks(SEEN)
    assert list(found) == [("", 1), ("x", 1), ("y", 1)], "z changes the meaning"
    every = found["", 1]
    assert (every.problems, every.variants, every.most_variants, every.attempts) == (2, 5, 4, 1)
    assert (every.nominal.value, every.robust.value) == (0.5, 0.5)  # a: + and -; b: - and +
    assert every.drop.value == 0.0
    assert every.relative.value == 1.0
    assert (found["x", 1].variants, found["x", 1].most_variants) == (4, 3), "a text of two trials counts once"
    assert found["y", 1].problems == 1
    assert found["y", 1].relative.value == 0.0


def test_several_attempts_have_several_blocks_and_the_fewest_count() -> None:
    seen = [
        observation("a", "++---", pair("x", "a1", "+----")),
        observation("b", "+++++", pair("x", "b1", "++++-+")),
    ]
    found = blocks(seen)
    assert list(found) == [("", 1), ("", 5), ("x", 1), ("x", 5)]
    one, five = found["x", 1], found["x", 5]
    assert (one.nominal.value, one.robust.value, one.relative.value) == pytest.approx((0.7, 0.5, 0.2))
    assert (five.nominal.value, five.robust.value, five.relative.value) == (1.0, 1.0, 1.0)


def test_without_variants_there_is_nothing_to_tell() -> None:
    assert blocks([SEEN[2], SEEN[3]]) == {}
    assert blocks([]) == {}


def test_it_is_shown_and_read_back_and_older_summaries_lack_it() -> None:
    summary = run("r", MODELS).summary
    assert not any(sheet.title == "Robust pass@k" for sheet in sheets(summary))
    first, *rest = summary.models
    made = replace(first, robust=robust(SEEN, Ticks(), seed=0))
    told = replace(summary, models=(made, *rest))
    assert Summary.from_json(told.to_json()) == told
    (sheet,) = [sheet for sheet in sheets(told) if sheet.title == "Robust pass@k"]
    assert [[" ".join(cell.lines) for cell in row][1:5] for row in sheet.rows] == [
        ["all together", "1 of 1", "2", "2.5 at most 4"],
        ["x", "1 of 1", "2", "2.0 at most 3"],
        ["y", "1 of 1", "1", "1.0 at most 1"],
    ]
    assert sheet.rows[0][7].lines == ("0 %",), "too few problems for an interval"
    assert "robust.csv" not in tables(summary)
    head, every, *_ = tables(told)["robust.csv"].splitlines()
    assert head.startswith("model,transform,k,attempts,problems,variants,most_variants,pass_value,pass_low")
    assert every.startswith(f"{first.model},,1,1,2,5,4,0.5,")


def test_likeness_is_shown_before_and_under_attack() -> None:
    summary = run("r", MODELS).summary
    first, *rest = summary.models
    score = replace(first.score, likeness={"BLEU-4": 0.5}, attack_likeness={"BLEU-4": 0.25})
    told = replace(summary, models=(replace(first, score=score), *rest))
    assert Summary.from_json(told.to_json()) == told
    (sheet,) = [sheet for sheet in sheets(told) if sheet.title == "How near the answers are"]
    assert [cell.lines for cell in sheet.rows[0]][1:] == [("50.0", "25.0")]
    assert [cell.lines for cell in sheet.rows[1]][1:] == [("-", "-")]
