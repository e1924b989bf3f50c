"""What edits did beyond noise: each number by hand, from answers."""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from codeaudit.audit.records import Audited, Predicted
from codeaudit.reports.observations import observe
from codeaudit.reports.records import ByTransform, Excess, ModelSummary, Repeats, Summary
from codeaudit.reports.statistics.excess import flips, pair_excess, sample_excess
from codeaudit.reports.summarise import summarise
from tests.reports.test_summarise import header, shares
from tests.support.audited import Error, Subtokens, audited, sample

ROOT = Path(__file__).parents[2]
A, B, C, D = (("get", "name"), ("set",), ("get",), ("put",))


def made(*records: Audited, hosted: bool = True, task: Subtokens | Error | None = None) -> ModelSummary:
    named = header("m")
    named = replace(named, models=(replace(named.models[0], hosted=hosted),))
    return summarise([(0, records)], task=task or Subtokens(), header=named).models[0]


def asked(
    id: str, variants: Sequence[object], repeats: Sequence[object], **more: Sequence[object]
) -> Audited:
    after = {"rename": variants, "identity": repeats, **more}
    return audited("m", sample(id), before=A, after=after)  # type: ignore[arg-type]


def row(model: ModelSummary, name: str = "rename") -> ByTransform:
    return next(entry for entry in model.by_transform if entry.transform == name)


def test_pairs_of_one_sample_by_hand() -> None:
    # Originals A, A, B; variants B, C. Pairs (original, variant) that differ: A against B and C twice each,
    # B against C: 5 of 6. Pairs of originals that differ: the first A and B, the second A and B: 2 of 3.
    model = made(asked("a", [B, C], [A, B]))
    assert row(model).pair_excess.points == pytest.approx(5 / 6 - 2 / 3)
    # With variants and repeats exchanged, originals A, B, C and variants A, B: 4 of 6, minus 3 of 3.
    model = made(asked("a", [A, B], [B, C]))
    assert row(model).pair_excess.points == pytest.approx(4 / 6 - 1)


def test_a_sample_is_compared_on_as_many_variants_as_repeats() -> None:
    model = made(
        asked("only-the-third", [A, A, B], [A, A]),  # the third variant has no repeat to compare with
        asked("second", [A, B, A], [A, A]),
        asked("late-repeat", [B], [A, B]),  # nor has the second repeat a variant
        asked("both", [B, A], [B, A]),
        asked("noise", [A, A], [A, B]),
    )
    entry = row(model)
    assert shares(entry.violations) == (4, 5)
    assert shares(entry.noise) == (2, 5)
    assert entry.excess == sample_excess([(0, 0), (1, 0), (1, 0), (1, 1), (0, 1)])
    assert entry.excess.points == pytest.approx(1 / 5)
    assert (entry.violated_steady, entry.unsteady_kept) == (2, 1)
    assert model.repeats == Repeats(per_sample=2, stages=2)


def test_variants_and_repeats_count_in_their_order_and_not_in_that_of_the_records() -> None:
    record = asked("a", [A, A, B], [A, A])
    turned = replace(record, verdicts=record.verdicts[::-1], after_scores=record.after_scores[::-1])
    assert made(turned) == made(record)


def test_of_several_transforms_the_first_variants_are_compared() -> None:
    # Two repeats: variant 0 of both transforms. Variant 1 of `rename` has none to be compared with.
    model = made(asked("a", [A, B], [A, A], reorder=[A, A]))
    assert shares(model.violations) == (1, 1)
    assert model.excess.points == 0
    # Over pairs all four variants count: one differs from all three originals.
    assert model.pair_excess.points == pytest.approx(1 / 4)
    model = made(asked("a", [B, A], [A, A], reorder=[A, A]))
    assert model.excess.points == 1


def test_a_local_model_without_an_unsteady_sample_has_no_noise_at_any_number_of_variants() -> None:
    records = [asked("a", [A, A, B], [A]), asked("b", [A, A, A], [A])]
    local, hosted = made(*records, hosted=False), made(*records, hosted=True)
    assert row(local).excess.points == row(local).violations.rate == 1 / 2
    assert (row(local).violated_steady, row(local).unsteady_kept) == (1, 0)
    assert shares(row(local).noise) == (0, 2)
    assert row(local).pair_excess.points == pytest.approx((1 / 3 + 0) / 2)
    # A hosted model may hide its noise: with one repeat only the first variant compares.
    assert row(hosted).excess.points == 0
    assert row(hosted).violated_steady == 0
    assert (local.hosted, hosted.hosted) == (False, True)
    assert local.repeats == hosted.repeats == Repeats(per_sample=1, stages=1)


def test_one_unsteady_sample_ends_that() -> None:
    model = made(asked("a", [A, A, B], [A]), asked("b", [A, A, A], [B]), hosted=False)
    assert row(model).excess.points == pytest.approx((0 - 1) / 2)
    assert (row(model).violated_steady, row(model).unsteady_kept) == (0, 1)


def test_a_run_without_repeats_has_no_excess_and_all_its_violations() -> None:
    model = made(audited("m", sample("a"), before=A, after={"rename": [A, B]}), hosted=False)
    entry = row(model)
    assert (entry.noise.total, entry.excess, entry.pair_excess) == (0, Excess(), Excess())
    assert (entry.violated_steady, entry.unsteady_kept) == (1, 0)
    assert model.repeats == Repeats()
    assert model.score.drop_excess == Excess()


def test_a_sample_whose_repeats_failed_is_in_no_excess() -> None:
    model = made(asked("a", [B, B], [None, None]), asked("b", [A, A], [A, A]))
    entry = row(model)
    assert shares(entry.violations) == (1, 2)
    assert (entry.noise.total, entry.excess.samples, entry.excess.points) == (1, 1, 0.0)
    # Nothing shows that it is unsteady.
    assert entry.violated_steady == 1
    assert model.repeats.per_sample == 2


def test_controls_have_an_excess_of_their_own() -> None:
    more: Mapping[str, Sequence[object]] = {"reorder-breaking": [B, A]}
    model = made(asked("a", [A], [A, A], **more))
    assert model.sensitivity_excess.points == pytest.approx(1 / 2)
    assert model.pair_excess.points == 0
    assert row(model, "reorder-breaking").excess.points == 1
    assert row(model, "identity").excess == Excess()


def test_the_criterion_of_the_task_compares_repeats_and_variants() -> None:
    near = audited("m", sample("a"), before=A, after={"rename": [B], "identity": [C]})

    def same(before: Predicted, after: Predicted) -> bool:
        return {before.answer, after.answer} <= {B, C} or before.answer == after.answer

    (variant, _) = observe(near, seed=0).pairs
    assert variant.apart == 1
    (variant, _) = observe(near, seed=0, same=same).pairs
    assert variant.apart == 0


def test_the_trials_of_a_sample_are_one_cluster() -> None:
    first = [asked("a", [B], [A]), asked("b", [A], [A])]
    second = [asked("a", [B], [B]), asked("b", [B], [A])]
    model = summarise([(0, first), (1, second)], task=Subtokens(), header=header("m")).models[0]
    # Violated 1, 0, 1, 1 and unsteady 0, 0, 1, 0, so a has (1 + 0) / 2, and b (0 + 1) / 2.
    assert row(model).excess.points == pytest.approx(3 / 4 - 1 / 4)
    assert row(model).excess == pair_excess([Fraction(1, 2), Fraction(1, 2)])
    assert shares(row(model).noise) == (1, 4)
    assert row(model).noise.clusters == 2
    assert (model.trials[0].excess.points, model.trials[1].excess.points) == (0.5, 0.5)


def test_the_drop_beyond_noise_compares_the_worst_of_as_many() -> None:
    # The right answer is 2.0, so errors are 0 (first), 1 and 0.5 (variants), 0.5 and 0 (repeats).
    record = audited(
        "m",
        sample("a", 2.0),
        before=2.0,
        after={"rename": [1.0, 4.0, 20.0], "identity": [3.0, 2.0]},
        task=Error(),
    )
    score = made(record, task=Error()).score
    assert score.drop == pytest.approx(9.0)
    assert score.repeat_worst_sample == pytest.approx(0.5)
    # The first two variants: errors 0.5 and 1.
    assert score.drop_excess.points == pytest.approx(1.0 - 0.5)
    steady = audited(
        "m", sample("a", 2.0), before=2.0, after={"rename": [1.0, 4.0, 20.0], "identity": [2.0]}, task=Error()
    )
    score = made(steady, task=Error(), hosted=False).score
    assert (score.drop_excess.points, score.repeat_worst_sample) == (score.drop, 0.0)


def test_a_drop_of_many_samples_has_a_paired_interval_and_a_test() -> None:
    records = [asked(f"s{n:02}", [B if n < 12 else A], [A]) for n in range(40)]
    excess = made(*records).score.drop_excess
    assert excess.points == made(*records).score.drop
    assert excess.low is not None
    assert excess.high is not None
    assert 0.1 < excess.low < (excess.points or 0) < excess.high < 0.5
    # Twelve samples lose, none gains.
    assert excess.p == pytest.approx(2 * 0.5**12)
    assert (excess.samples, excess.interval) == (40, "bootstrap")
    # As many lose by repeats: no effect.
    even = [asked(f"s{n:02}", [B if n < 12 else A], [B if 12 <= n < 24 else A]) for n in range(40)]
    assert made(*even).score.drop_excess.points == pytest.approx(0)
    assert made(*even).score.drop_excess.p == 1


def noisy(share: float, effect: float, *, samples: int = 200, seed: int = 0) -> Iterator[Audited]:
    """A model with another answer to this share of its queries, and of samples that a renaming moves."""
    rng = random.Random(seed)
    for n in range(samples):
        moved = rng.random() < effect

        def said(answer: object) -> object:
            return ("x", str(rng.random())) if rng.random() < share else answer

        yield audited(
            "m",
            sample(f"s{n:03}"),
            before=said(A),  # type: ignore[arg-type]
            after={
                "rename": [said(D if moved else A) for _ in range(4)],  # type: ignore[misc]
                "reorder-breaking": [said(A) for _ in range(4)],  # type: ignore[misc]
                "identity": [said(A) for _ in range(4)],  # type: ignore[misc]
            },
        )


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("seed", range(5))
def test_noise_alone_shows_no_effect_and_an_effect_is_shown_through_noise(seed: int) -> None:
    alone, moved = made(*noisy(0.05, 0.0, seed=seed)), made(*noisy(0.05, 0.1, seed=seed))
    assert (alone.violations.rate or 0) > 0.15
    assert (alone.pair_excess.p or 0) > 0.01
    assert abs(alone.excess.points or 0) < 0.09
    assert (moved.pair_excess.p or 0) < 0.01
    assert moved.pair_excess.points == pytest.approx(0.09, abs=0.05)


def test_a_summary_of_schema_2_is_read_without_an_excess() -> None:
    summary = summarise([(0, list(noisy(0.05, 0.1, samples=20)))], task=Subtokens(), header=header("m"))
    fields = json.loads(summary.to_json())
    new = ("noise_samples", "excess", "pair_excess", "sensitivity_excess")
    for model in fields["models"]:
        for part in (model, *model["trials"]):
            for name in new:
                del part[name]
            del part["score"]["drop_excess"], part["score"]["repeat_worst_sample"]
        del model["hosted"], model["repeats"]
        for each in model["by_transform"]:
            for name in ("noise", "excess", "pair_excess", "violated_steady", "unsteady_kept"):
                del each[name]
    read = Summary.from_json(json.dumps(fields | {"schema": 2}))
    (model,) = read.models
    assert model.violations == summary.models[0].violations
    assert model.repeats == Repeats(per_sample=1, stages=1)
    assert model.excess == row(model).excess == model.score.drop_excess == Excess()
    assert Summary.from_json(read.to_json()) == read


def test_the_example_of_the_documentation_has_these_numbers() -> None:
    text = (ROOT / "docs/statistics.md").read_text("utf-8")
    rows = re.findall(
        r"^\| (\d) \| (\w) (\w) \| (\w) (\w) \| (yes|no) \| (yes|no) \| (\d).* \| (\S+) \|$", text, re.M
    )
    assert len(rows) == 4
    records, expected = [], []
    for kind, (times, one, two, first, second, violated, unsteady, _, difference) in enumerate(rows):
        # A stands for the first answer.
        words = [A if letter == "A" else (letter,) for letter in (one, two, first, second)]
        group = [asked(f"{kind} {n}", words[:2], words[2:]) for n in range(int(times))]
        alone = row(made(*group))
        assert (alone.violations.rate, alone.noise.rate) == (violated == "yes", unsteady == "yes")
        assert alone.pair_excess.points == pytest.approx(float(Fraction(difference)))
        records += group
        expected += [Fraction(difference)] * int(times)
    whole = row(made(*records))
    assert shares(whole.violations) == (4, 10)
    assert shares(whole.noise) == (2, 10)
    assert f"excess is {100 * (whole.excess.points or 0):.0f} points" in text
    assert f"= {100 * (whole.pair_excess.points or 0):.0f} points" in text
    assert whole.pair_excess.p == pytest.approx(flips(expected)) == pytest.approx(0.25)


def test_ten_samples_by_hand() -> None:
    """Two variants and two repeats each."""
    records = [
        *(asked(f"moved{n}", [B, B], [A, A]) for n in range(3)),
        *(asked(f"both{n}", [C, A], [A, D]) for n in range(1)),
        *(asked(f"noisy{n}", [A, A], [B, A]) for n in range(1)),
        *(asked(f"held{n}", [A, A], [A, A]) for n in range(5)),
    ]
    entry = row(made(*records))
    assert shares(entry.violations) == (4, 10)
    assert shares(entry.noise) == (2, 10)
    assert entry.excess.points == pytest.approx(0.2)
    assert (entry.violated_steady, entry.unsteady_kept) == (3, 1)
    # moved: 6 of 6 pairs, 0 of 3 originals: 1. both: C differs from all three originals, A from D: 4 of 6,
    # minus 2 of 3: 0. noisy: A differs from B, twice: 2 of 6, minus 2 of 3: -1/3.
    differences = [Fraction(1)] * 3 + [Fraction(0)] * 6 + [Fraction(-1, 3)]
    assert entry.pair_excess == pair_excess(sorted(differences))
    assert entry.pair_excess.points == pytest.approx(0.2667, abs=1e-4)
    # Of the 16 signs of four differences, those with a sum of at least 8/3: + + + + and + + + -; twice.
    assert entry.pair_excess.p == pytest.approx(4 / 16)
    assert flips(differences) == pytest.approx(0.25)
