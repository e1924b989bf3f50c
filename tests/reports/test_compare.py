"""Runs beside each other."""

import dataclasses
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest

from codeaudit.reports.compare import compare
from codeaudit.reports.observations import observe
from codeaudit.reports.records import ComparedRun, Comparison, Metric, ModelHeader, RunHeader
from codeaudit.reports.shared_inputs import SharedInputs, input_key
from codeaudit.reports.statistics.paired import SampleOutcome, compare_excess
from codeaudit.reports.summarise import summarise
from codeaudit.reports.verdict import verdict
from codeaudit.transforms.errors import UsageError
from tests.reports.test_summarise import crowd
from tests.support.audited import Subtokens, audited, sample


def run(
    name: str,
    models: Mapping[str, tuple[str, float]],
    seeds: Sequence[int] = (0,),
    *,
    corpus: str = "stdlib",
    flips: bool = True,
) -> ComparedRun:
    """A run of models, each given as name -> (fingerprint, flip rate)."""
    trials = [
        (
            seed,
            [each for m, (_, rate) in models.items() for each in crowd(m, f"{m}{seed}", rate)],
        )
        for seed in seeds
    ]
    header = RunHeader(
        task="function-name",
        corpus=corpus,
        seed=seeds[0],
        models=tuple(
            ModelHeader(name=m, parameters=None, fingerprint=print_, noise=0.0)
            for m, (print_, _) in models.items()
        ),
    )
    rows = [flip for seed, records in trials for each in records for flip in observe(each, seed=seed).flips()]
    summary = summarise(trials, task=Subtokens(), header=header)
    return ComparedRun(name=name, summary=summary, flips=tuple(rows) if flips else ())


MODELS = {"spe": ("1", 0.0), "vanilla": ("2", 0.3)}


def metric(comparison: Comparison, name: str) -> Metric:
    return next(each for each in comparison.metrics if each.name == name)


def test_trials_of_one_run_are_tested_and_the_best_is_marked() -> None:
    found = metric(compare([run("r", MODELS, seeds=range(5))]), "changed, per pair")
    assert found.test.p == pytest.approx(2 / 252)
    assert {group.name: group.best for group in found.groups} == {"spe": True, "vanilla": False}
    assert len(found.groups[1].values) == 5


@pytest.mark.slow
def test_runs_of_other_seeds_are_trials_of_the_same_models() -> None:
    several = compare([run(f"r{seed}", MODELS, seeds=(seed,)) for seed in range(5)])
    together = compare([run("r", MODELS, seeds=range(5))])
    assert metric(several, "f1").groups == metric(together, "f1").groups


def test_the_same_seed_twice_is_one_trial() -> None:
    found = compare([run("r0", MODELS), run("r1", MODELS)])
    assert all(len(group.values) == 1 for group in metric(found, "f1").groups)


def test_one_name_with_two_fingerprints_is_two_models() -> None:
    found = compare([run("old", {"m": ("1", 0.1)}), run("new", {"m": ("2", 0.4)})])
    assert [group.name for group in metric(found, "f1").groups] == ["m (old)", "m (new)"]
    assert [each.model for each in found.paired[0].standings] == ["m (old)", "m (new)"]


@pytest.mark.slow
def test_groups_put_training_seeds_together() -> None:
    models = {f"{kind}{n}": (f"{kind}{n}", rate) for kind, rate in (("s", 0), ("v", 0.3)) for n in range(5)}
    found = compare([run("r", models)], groups={name: name[0] for name in models})
    groups = metric(found, "changed, per pair").groups
    assert [(group.name, len(group.values)) for group in groups] == [("s", 5), ("v", 5)]
    assert len(found.paired[0].standings) == 10


def test_paired_rows_are_samples_and_only_the_same_inputs_count() -> None:
    left, right = run("a", {"m": ("1", 0.0)}), run("b", {"n": ("2", 0.5)})
    shared = compare([left, right]).paired[0]
    assert sum(each.changed.total for each in shared.standings) == 60
    moved = tuple(dataclasses.replace(flip, input=f"other {flip.input}") for flip in right.flips)
    assert compare([left, dataclasses.replace(right, flips=moved)]).paired == ()


def test_a_run_without_verdicts_is_left_out_of_the_paired_tests_and_said() -> None:
    found = compare([run("a", MODELS), run("b", {"m": ("3", 0.1)}, flips=False)])
    assert [each.model for each in found.paired[0].standings] == ["spe", "vanilla"]
    assert any("no table of verdicts" in note for note in found.notes)


def test_a_model_that_was_never_judged_leaves_the_others_their_test() -> None:
    dead = run("b", {"dead": ("3", 0.1)})
    silent = dataclasses.replace(dead, flips=())
    found = compare([run("a", MODELS), silent])
    assert [each.model for each in found.paired[0].standings] == ["spe", "vanilla"]


def test_different_corpora_are_said() -> None:
    found = compare([run("a", MODELS), run("b", {"m": ("3", 0.1)}, corpus="package:x")])
    assert any("package:x, stdlib" in note for note in found.notes)
    # First of all, and no verdict on the scores follows.
    (first, *others) = verdict(found)
    assert first.startswith(
        "The runs have different corpora (package:x, stdlib): only their shared inputs compare."
    )
    assert not any("F1" in told for told in others)


def test_different_tasks_are_refused() -> None:
    other = run("b", MODELS)
    other = dataclasses.replace(other, summary=dataclasses.replace(other.summary, task="throughput"))
    with pytest.raises(UsageError, match="function-name, throughput"):
        compare([run("a", MODELS), other])


def test_a_model_alone_is_refused() -> None:
    with pytest.raises(UsageError, match=r"the one model here is m; .*gate NEW --baseline OLD"):
        compare([run("a", {"m": ("1", 0.1)})])
    with pytest.raises(UsageError, match="no model"):
        compare([])


def test_a_run_named_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="'a' is named twice"):
        compare([run("a", MODELS), run("a", MODELS)])


def test_single_trials_are_compared_on_shared_inputs_only() -> None:
    found = compare([run("a", MODELS)])
    assert all(each.test.p is None for each in found.metrics)
    assert found.paired[0].test.p is not None


def test_comparison_round_trips_through_json() -> None:
    found = compare([run("r", MODELS, seeds=range(3))])
    assert Comparison.from_json(found.to_json()) == found


def noisy_run(name: str, models: Mapping[str, tuple[float, float]], *, samples: int = 200) -> ComparedRun:
    """A run of hosted models, each given as name -> (noise of a query, share of renamed samples that move)."""
    rng = random.Random(0)

    def said(noise: float, *, moved: bool = False) -> tuple[str, ...]:
        return ("x", str(rng.random())) if rng.random() < noise else ("set",) if moved else ("get", "name")

    records = []
    for model, (noise, effect) in models.items():
        for number in range(samples):
            moved = rng.random() < effect
            after = {
                "rename": [said(noise, moved=moved) for _ in range(4)],
                "reorder-breaking": [said(noise, moved=number % 2 == 0) for _ in range(4)],
                "identity": [said(noise) for _ in range(4)],
            }
            records.append(audited(model, sample(f"s{number:03}"), before=said(noise), after=after))
    header = RunHeader(
        task="function-name",
        corpus="stdlib",
        seed=0,
        models=tuple(
            ModelHeader(name=model, parameters=None, fingerprint=model, noise=0.0, hosted=True)
            for model in models
        ),
    )
    rows = tuple(flip for each in records for flip in observe(each, seed=0).flips())
    return ComparedRun(
        name=name, summary=summarise([(0, records)], task=Subtokens(), header=header), flips=rows
    )


def test_noise_does_not_rank_models() -> None:
    # By the violation rate the noisy model would come last: 8 variants and one first answer may be noise.
    made = noisy_run("r", {"moves": (0.0, 0.08), "noisy": (0.05, 0.0)})
    (moves, noisy) = made.summary.models
    assert (noisy.violations.rate or 0) > (moves.violations.rate or 0)
    found = compare([made]).paired[0]
    assert found.by_excess
    assert found.ranks["noisy"] < found.ranks["moves"]
    assert {each.model: each.best for each in found.standings} == {"moves": False, "noisy": True}
    (contrast,) = found.contrasts
    assert (contrast.difference or 0) > 0
    assert contrast.p == contrast.p_adjusted == found.test.p
    assert contrast.p < 0.05
    excess = {each.model: each.excess for each in found.standings}
    assert excess["noisy"].p is not None
    assert excess["noisy"].p > 0.05 > (excess["moves"].p or 1.0)
    assert compare([made]).paired == made.summary.statistics.paired
    sentences = list(verdict(compare([made])))
    assert sentences[0].startswith("noisy is more robust than moves: excess of violated samples over noise")
    assert [each.name for each in compare([made]).metrics][3:5] == [
        "excess of violations",
        "sensitivity beyond noise",
    ]


@pytest.mark.slow
def test_runs_without_an_unsteady_sample_are_compared_as_ever() -> None:
    made = noisy_run("r", {"a": (0.0, 0.2), "b": (0.0, 0.0)})
    found = compare([made])
    assert not any(each.by_excess for each in found.paired)
    assert found.paired[0].test.name == "Cochran's Q"
    assert "excess of violations" not in [each.name for each in found.metrics]


def test_one_pair_of_models_by_hand() -> None:
    def outcome(violated: bool, unsteady: bool, changed: Fraction, again: Fraction) -> SampleOutcome:
        return SampleOutcome(violated, unsteady, changed - again)

    half, none, whole = Fraction(1, 2), Fraction(0), Fraction(1)
    first = [outcome(True, False, whole, none)] * 3 + [
        outcome(False, True, none, half),
        outcome(True, True, half, half),
    ]
    second = [outcome(False, False, none, none)] * 4 + [outcome(True, False, half, none)]
    found = compare_excess("violated", "lower", {"a": first, "b": second})
    (contrast,) = found.contrasts
    # Violated minus unsteady: 1, 1, 1, -1, 0 against 0, 0, 0, 0, 1.
    assert contrast.difference == pytest.approx((3 - 1 - 1) / 5)
    # Differences of single answers: 1, 1, 1, -1/2, 0 against 0, 0, 0, 0, 1/2. Of the 32 signs of 1, 1, 1, 1/2 and
    # 1/2 those with a sum of 2 or more: three ones up (4), or two ones and both halves (3). Twice.
    assert contrast.p == pytest.approx(14 / 32)
    # Ranks by the same numbers: a is second, second, second, first, first.
    assert found.ranks == {"a": pytest.approx(8 / 5), "b": pytest.approx(7 / 5)}
    assert [each.excess.points for each in found.standings] == [pytest.approx(2 / 5), pytest.approx(1 / 5)]


def test_only_shared_inputs_count_beside_repeats_and_variants_in_their_order() -> None:
    inputs = SharedInputs()
    for model, answers, again in (("a", "..x.", "x."), ("b", "x..", ".")):
        # The last variant comes first, and `b` was never judged on variant 3.
        for variant in reversed(range(len(answers))):
            key = input_key("preserving", "rename", f"text {variant}", variant)
            inputs.add(model, "preserving", "s", key, violated=answers[variant] == "x", variant=variant)
        for variant, answer in enumerate(again):
            key = input_key("identity", "identity", "same", variant)
            inputs.add(model, "identity", "s", key, violated=answer == "x", variant=variant)
    found = inputs.beyond_noise("preserving", steady=())
    # `b` has one repeat, so one variant counts: variant 0.
    assert found == {
        "a": [SampleOutcome(False, True, Fraction(1, 3) - Fraction(1, 2))],
        "b": [SampleOutcome(True, False, Fraction(1, 3))],
    }
    # The noise of a steady model counts as zero, so `b` limits nothing.
    found = inputs.beyond_noise("preserving", steady=("b",))
    assert found["a"] == [SampleOutcome(False, True, Fraction(1, 3) - Fraction(1, 2))]
    assert found["b"] == [SampleOutcome(True, False, Fraction(1, 3))]
    assert inputs.beyond_noise("control", steady=()) == {}
