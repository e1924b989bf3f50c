"""The drop of the score on a public set beside the drop on held-out code."""

import dataclasses
import json
from collections.abc import Mapping, Sequence

import pytest

from codeaudit.reports.compare import compare
from codeaudit.reports.held_out import SHOWS, SHOWS_NOT, difference
from codeaudit.reports.records import ComparedRun, Comparison, Estimate, Flip, ScoredPair
from codeaudit.reports.render.markdown import markdown
from codeaudit.reports.verdict import verdict
from codeaudit.transforms.errors import UsageError
from tests.reports.test_compare import run

Scores = Mapping[str, Sequence[float]]
"""Of each sample the scores on its variants; that on the original is 1."""


def scored(name: str, rename: Scores, *, fingerprint: str = "1", **others: Scores) -> ComparedRun:
    pairs = [
        ScoredPair(model="m", sample=sample, transform=transform, before=1.0, after=after)
        for transform, samples in {"rename": rename, **others}.items()
        for sample, scores in samples.items()
        for after in scores
    ]
    made = run(name, {"m": (fingerprint, 0.0)}, corpus=name, flips=False)
    return dataclasses.replace(made, scored=tuple(pairs))


def samples(lost: int, kept: int) -> dict[str, list[float]]:
    """Samples that lose half of their variants' score, and samples that lose nothing."""
    return {f"s{n}": [1.0, 0.0] if n < lost else [1.0, 1.0] for n in range(lost + kept)}


def test_the_drops_and_their_difference_are_over_samples() -> None:
    public, held = scored("public", samples(80, 20)), scored("own", samples(20, 80))
    (row,) = compare([public], held_out=held).held_out
    assert (row.public_drop.points, row.held_out_drop.points) == (0.4, 0.1)
    assert (row.public_drop.samples, row.public_original) == (100, 1.0)
    assert row.difference.value == pytest.approx(0.3)
    # Each variant counted as a sample of its own would give the same means and another interval.
    more = scored("public", {name: [*scores, *scores] for name, scores in samples(80, 20).items()})
    assert compare([more], held_out=held).held_out == (row,)


def test_the_interval_joins_those_of_both_drops() -> None:
    estimate = difference(Estimate(value=0.4, low=0.36, high=0.5), Estimate(value=0.1, low=0.04, high=0.13))
    # 0.05 = √(0.04² + 0.03²), and 0.1166 = √(0.1² + 0.06²).
    assert [estimate.value, estimate.low, estimate.high] == pytest.approx([0.3, 0.25, 0.41662], abs=1e-5)


def test_equal_drops_are_not_told_apart() -> None:
    comparison = compare([scored("public", samples(30, 70))], held_out=scored("own", samples(28, 72)))
    (sentence,) = verdict(comparison)
    assert "drops by amounts that are not told apart: +15.0 points on public against +14.0 on own" in sentence


def test_every_format_has_the_rows_and_what_they_show() -> None:
    comparison = compare([scored("public", samples(80, 20))], held_out=scored("own", samples(20, 80)))
    text = markdown(comparison)
    assert "drops more on the public set: +40.0 points on public against +10.0 on own, 30.0 apart" in text
    assert SHOWS in text
    assert SHOWS_NOT in text
    data = json.loads(comparison.to_json())
    assert data["notes"][-2:] == [SHOWS, SHOWS_NOT]
    assert data["held_out"][0]["difference"]["low"] > 0
    assert Comparison.from_json(comparison.to_json()) == comparison


def test_the_shift_of_probability_stands_beside_the_drop() -> None:
    def shifted(compared: ComparedRun, by: float) -> ComparedRun:
        pairs = tuple(dataclasses.replace(pair, shift=by) for pair in compared.scored)
        return dataclasses.replace(compared, scored=pairs)

    public, held = scored("public", samples(80, 20)), scored("own", samples(20, 80))
    assert "shift" not in markdown(compare([public], held_out=held))
    comparison = compare([shifted(public, 0.5)], held_out=shifted(held, 0.125))
    (row,) = comparison.held_out
    assert (row.public_shift.value, row.held_out_shift.value) == (0.5, 0.125)
    assert row.shift_difference.value == pytest.approx(0.375)
    assert "+37.5, " in markdown(comparison)


def test_only_edits_of_both_sets_count() -> None:
    public = scored("public", samples(80, 20), reorder={"s0": [0.0]})
    comparison = compare([public], held_out=scored("own", samples(20, 80)))
    assert comparison.held_out[0].public_drop.points == 0.4
    assert comparison.held_out[0].transforms == ("rename",)
    assert "m: only edits of both sets count, so not reorder" in comparison.notes


def test_held_out_samples_with_a_published_text_do_not_count() -> None:
    def asked(compared: ComparedRun, inputs: Mapping[str, str]) -> ComparedRun:
        flip = Flip(
            model="m",
            seed=0,
            sample="",
            transform="identity",
            kind="identity",
            variant=0,
            input="",
            violated=False,
        )
        flips = [dataclasses.replace(flip, sample=name, input=text) for name, text in inputs.items()]
        return dataclasses.replace(compared, flips=tuple(flips))

    public = asked(scored("public", samples(80, 20)), {"s7": "known"})
    held = asked(scored("own", samples(20, 80)), {"s0": "known", "s1": "own"})
    comparison = compare([public], held_out=held)
    assert comparison.held_out[0].held_out_drop.samples == 99
    assert any(note.startswith("1 sample of own has the text of one of public") for note in comparison.notes)


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (scored("public", samples(1, 1)), "'public' is also compared"),
        (scored("own", samples(1, 1), fingerprint="2"), "their fingerprints differ"),
        (run("own", {"n": ("1", 0.0)}), "no model answered both sets; 'own' has n, the others have m"),
        (scored("own", {}), "no edit in common under which m has scores"),
    ],
)
def test_what_cannot_stand_beside_is_refused(held: ComparedRun, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        compare([scored("public", samples(1, 1))], held_out=held)
