"""Runs beside each other."""

import dataclasses
from collections.abc import Mapping, Sequence

import pytest

from codeaudit.reports.compare import compare
from codeaudit.reports.observations import observe
from codeaudit.reports.records import ComparedRun, Comparison, Metric, ModelHeader, RunHeader
from codeaudit.reports.summarise import summarise
from codeaudit.reports.verdict import verdict
from codeaudit.transforms.errors import UsageError
from tests.reports.test_summarise import crowd
from tests.support.audited import Subtokens


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
