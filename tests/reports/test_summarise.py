"""From audited samples to the summary."""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from codeaudit.audit.records import Audited
from codeaudit.reports.records import ModelHeader, ModelSummary, Rate, RunHeader, Summary
from codeaudit.reports.render.csv import tables
from codeaudit.reports.render.markdown import markdown
from codeaudit.reports.statistics.intervals import wilson
from codeaudit.reports.summarise import summarise
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.records import Sample
from tests.support.audited import Error, Subtokens, audited, sample

GOOD, BAD, HALF = ("get", "name"), ("set",), ("get", "x")


def header(*names: str, **options: Any) -> RunHeader:
    return RunHeader(
        task="function-name",
        corpus="stdlib",
        seed=0,
        models=tuple(
            ModelHeader(name=name, parameters=1_700_000, fingerprint=name, noise=1e-6) for name in names
        ),
        **options,
    )


def summary_of(
    *records: Audited, models: Sequence[str] = ("m",), task: Subtokens | Error | None = None, **options: Any
) -> Summary:
    return summarise([(0, records)], task=task or Subtokens(), header=header(*models, **options))


def shares(rate: Rate) -> tuple[int, int]:
    return rate.count, rate.total


@pytest.fixture
def small() -> ModelSummary:
    """Four samples: one flips on 1 of 2, one holds, one cannot be moved, one got no answer."""
    return summary_of(
        audited(
            "m",
            sample("a"),
            after={"reorder": [BAD, GOOD], "reorder-breaking": [BAD, BAD], "identity": [GOOD]},
        ),
        audited("m", sample("b"), after={"reorder": [GOOD, GOOD], "rename": [HALF], "identity": [GOOD]}),
        audited(
            "m", sample("c"), after={"identity": [GOOD]}, missing={"reorder": ("no other legal order", 2)}
        ),
        audited("m", sample("d"), before=None, after={"reorder": [GOOD]}),
        skipped={"no label": 7},
    ).models[0]


def test_pairs_count_judged_pairs_of_meaning_keeping_transforms(small: ModelSummary) -> None:
    assert shares(small.pairs) == (2, 5)
    assert small.pairs.clusters == 2


def test_a_sample_that_cannot_be_moved_is_kept_among_all_and_absent_among_movable(
    small: ModelSummary,
) -> None:
    assert shares(small.all_samples) == (2, 3)
    assert shares(small.violations) == (2, 2)


def test_controls_and_identity_have_rates_of_their_own(small: ModelSummary) -> None:
    assert shares(small.sensitivity) == (2, 2)
    assert shares(small.noise_floor) == (0, 3)
    assert (small.noise_floor.low, small.noise_floor.high) == wilson(0, 3)


def test_a_failed_original_is_skipped_and_its_pairs_are_unjudged(small: ModelSummary) -> None:
    assert small.samples == 4
    assert small.skipped == {"input too long": 1}
    assert (small.unjudged, small.unjudged_reasons) == (1, {"input too long": 1})


def test_scores_by_hand(small: ModelSummary) -> None:
    # Answers have 2 subtokens, labels 2. Original: all right. Worst: a -> BAD (0 of 1 + 2), b -> HALF (1 of 2 + 2).
    assert small.score.original == 1.0
    assert small.score.attack_worst_sample == pytest.approx(2 * (0 + 1 + 2) / (3 + 4 + 4))
    # Rounds: (rename, 0) spoils b, (reorder, 0) spoils a, (reorder, 1) nothing.
    assert small.score.attack_worst_round == pytest.approx(2 * (0 + 2 + 2) / (3 + 4 + 4))
    assert small.score.drop == pytest.approx(1 - 6 / 11)
    assert small.score.drop_worst_round == pytest.approx(1 - 8 / 11)
    assert (small.score.rounds, small.score.scored, small.score.macro) == (3, 3, 1.0)


def test_transforms_are_listed_with_reasons_and_evidence(small: ModelSummary) -> None:
    rows = {row.transform: row for row in small.by_transform}
    assert list(rows) == ["reorder", "rename", "reorder-breaking", "identity"]
    assert shares(rows["reorder"].pairs) == (1, 4)
    assert shares(rows["reorder"].violations) == (1, 2)
    assert (rows["reorder"].applied, rows["reorder"].unjudged) == (5, 1)
    assert rows["reorder"].not_applied == {"no other legal order": 2}
    assert rows["reorder"].evidence == {"compiled": 5}
    assert rows["reorder"].max_deviation == 0.25
    assert small.max_deviation == 0.25
    assert small.noise_deviation == 0.0


def test_numeric_noise_is_unjudged_and_never_a_violation() -> None:
    model = summary_of(audited("m", sample("a"), after={"reorder": [None, None]})).models[0]
    assert model.pairs == model.violations == model.all_samples == Rate(count=0, total=0)
    assert model.unjudged_reasons == {"numeric noise": 2}


def test_a_run_without_records_has_null_rates_and_scores() -> None:
    summary = summary_of()
    model = summary.models[0]
    assert summary.judged == 0
    for rate in (model.pairs, model.all_samples, model.violations, model.sensitivity):
        assert (rate.count, rate.total, rate.rate, rate.low, rate.high) == (0, 0, None, None, None)
    assert model.score.original is None
    assert json.loads(summary.to_json())["models"][0]["violations"]["rate"] is None


def test_a_run_of_the_identity_alone_says_nothing_about_violations() -> None:
    model = summary_of(audited("m", sample("a"), after={"identity": [GOOD]})).models[0]
    assert model.all_samples.rate is None
    assert model.score.attack_worst_sample is None
    assert model.score.original == 1.0


def test_samples_without_label_are_judged_but_not_scored() -> None:
    model = summary_of(audited("m", sample("a", label=None), after={"reorder": [BAD]})).models[0]
    assert shares(model.pairs) == (1, 1)
    assert model.score.original is None


def test_the_worst_of_an_error_is_the_highest() -> None:
    records = [
        audited("m", sample("a", 2.0), before=2.0, after={"reorder": [1.0, 3.0]}, task=Error()),
        audited("m", sample("b", 4.0), before=5.0, after={"reorder": [4.0, 5.0]}, task=Error()),
    ]
    score = summary_of(*records, task=Error()).models[0].score
    assert (score.better, score.original) == ("lower", 0.125)
    assert score.attack_worst_sample == pytest.approx((0.5 + 0.25) / 2)
    assert score.attack_worst_round == pytest.approx((0.5 + 0.25) / 2)
    assert score.drop == pytest.approx(0.25)


def crowd(model: str, seed: int | str, flips: float, count: int = 30) -> Iterator[Audited]:
    rng = random.Random(seed)
    for n in range(count):
        after = {"reorder": [BAD if rng.random() < flips else GOOD for _ in range(3)], "identity": [GOOD]}
        yield audited(model, sample(f"s{n}"), after=after)  # type: ignore[arg-type]


def test_each_language_of_a_mixed_folder_has_its_rates() -> None:
    def of(name: str, language: str) -> Sample:
        return replace(sample(name), language=language)

    records = [
        audited("m", of("a", "java"), after={"reorder": [BAD, GOOD], "reorder-breaking": [BAD]}),
        audited("m", of("b", "java"), after={"reorder": [GOOD]}),
        audited("m", of("c", "c"), after={"reorder-breaking": [GOOD]}),
        audited("m", of("d", "python"), before=None, after={"reorder": [GOOD]}),
    ]
    summary = summary_of(*records)
    languages = summary.models[0].languages
    assert {name: language.samples for name, language in languages.items()} == {"java": 2, "c": 1}
    assert [shares(language.edited.violations) for language in languages.values()] == [(1, 2), (0, 0)]
    assert [shares(language.sensitivity) for language in languages.values()] == [(1, 1), (0, 1)]
    assert "By language, all transforms together" in markdown(summary)
    assert tables(summary)["languages.csv"].splitlines()[1].startswith("m,java,2,1,2,0.5,")
    alone = summary_of(*records[:2])
    assert not alone.models[0].languages
    assert "By language" not in markdown(alone)
    assert "languages.csv" not in tables(alone)


def test_order_and_company_change_no_number() -> None:
    one = list(crowd("m", 1, 0.3))
    other = list(crowd("other", 2, 0.5))
    mixed = one + other
    random.Random(4).shuffle(mixed)
    alone = summary_of(*one).models[0]
    together = summary_of(*mixed, models=("other", "m")).models[1]
    assert alone == together


def test_streams_are_consumed_lazily_and_in_turn() -> None:
    seen = []

    def stream(name: str) -> Iterator[Audited]:
        seen.append(name)
        yield audited("m", sample(name), after={"reorder": [GOOD]})

    summarise(((seed, stream(f"s{seed}")) for seed in range(3)), task=Subtokens(), header=header("m"))
    assert seen == ["s0", "s1", "s2"]


def test_trials_are_pooled_by_sample_and_kept_apart() -> None:
    trials = [(seed, list(crowd("m", seed, 0.2))) for seed in range(3)]
    model = summarise(trials, task=Subtokens(), header=header("m")).models[0]
    assert [trial.seed for trial in model.trials] == [0, 1, 2]
    assert model.samples == 30
    assert model.pairs.total == sum(trial.pairs.total for trial in model.trials) == 270
    assert model.pairs.count == sum(trial.pairs.count for trial in model.trials)
    assert model.violations.total == 90
    assert model.violations.clusters == 30
    assert model.score.attack_worst_sample == pytest.approx(
        sum(trial.score.attack_worst_sample for trial in model.trials) / 3  # type: ignore[misc]
    )


def test_an_excess_over_trials_that_share_some_samples_stays_a_share() -> None:
    flipped: Mapping[str, Sequence[Any]] = {"reorder": [BAD], "identity": [GOOD]}
    trials = [(seed, [audited("m", sample(name), after=flipped) for name in f"{seed}z"]) for seed in range(4)]
    model = summarise(trials, task=Subtokens(), header=header("m")).models[0]
    (reorder,) = (entry for entry in model.by_transform if entry.transform == "reorder")
    for excess in (model.excess, model.pair_excess, reorder.excess, reorder.pair_excess):
        assert excess.points == excess.high == 1
        assert excess.low is not None
        assert -1 <= excess.low < 1


def test_one_trial_has_the_numbers_of_the_whole() -> None:
    model = summary_of(*crowd("m", 3, 0.4)).models[0]
    assert model.trials[0].pairs == model.pairs
    assert model.trials[0].score == model.score


def test_models_on_the_same_inputs_are_tested_pairwise() -> None:
    summary = summary_of(*crowd("spe", 0, 0.0), *crowd("vanilla", 1, 0.4), models=("spe", "vanilla"))
    paired = summary.statistics.paired[0]
    changed = {each.model: each.changed.count for each in paired.standings}
    assert changed["spe"] == 0
    assert changed["vanilla"] == summary.models[1].violations.count
    assert paired.contrasts[0].only_second == changed["vanilla"]
    assert paired.test.method == "exact binomial"


def test_a_single_model_has_empty_statistics() -> None:
    statistics = summary_of(*crowd("m", 0, 0.1)).statistics
    assert statistics.metrics == statistics.paired == ()  # type: ignore[comparison-overlap]


def test_json_has_the_fixed_keys_and_round_trips() -> None:
    summary = summary_of(
        *crowd("spe", 0, 0.0), *crowd("vanilla", 1, 0.4), models=("spe", "vanilla"), skipped={"no label": 7}
    )
    text = summary.to_json()
    assert Summary.from_json(text) == summary
    fields = json.loads(text)
    assert {"schema", "task", "corpus", "seed", "models", "statistics"} <= set(fields)
    assert fields["schema"] == 3
    assert fields["skipped"] == {"no label": 7}
    model = fields["models"][1]
    assert set(model) >= {
        "model",
        "samples",
        "score",
        "violations",
        "sensitivity",
        "max_deviation",
        "unjudged",
        "by_transform",
    }
    assert set(model["score"]) >= {"name", "original", "attack_worst_sample", "attack_worst_round", "drop"}
    assert set(model["violations"]) >= {"count", "total", "rate", "low", "high"}
    assert set(model["by_transform"][0]) >= {"transform", "kind", "violations", "not_applied", "evidence"}


def test_a_summary_of_schema_1_is_read_with_todays_names() -> None:
    summary = summary_of(*crowd("spe", 0, 0.0), *crowd("vanilla", 1, 0.4), models=("spe", "vanilla"))
    fields = json.loads(summary.to_json())
    for model in fields["models"]:
        for part in (model, *model["trials"]):
            pairs, every, movable = part.pop("pairs"), part.pop("all_samples"), part.pop("violations")
            part |= {"violations": pairs, "violated_samples": every, "violated_movable": movable}
        for row in model["by_transform"]:
            row["samples"], row["violations"] = row["violations"], row.pop("pairs")
    assert Summary.from_json(json.dumps(fields | {"schema": 1})) == summary


def test_unknown_keys_are_ignored_so_that_the_schema_can_grow() -> None:
    summary = summary_of(*crowd("m", 0, 0.1, count=3))
    fields = json.loads(summary.to_json()) | {"novel": 1}
    assert Summary.from_json(json.dumps(fields)) == summary


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda fields: fields | {"schema": 4}, "schema 4"),
        (lambda fields: {k: v for k, v in fields.items() if k != "models"}, "lacks Summary.models"),
        (lambda fields: fields | {"seed": "zero"}, "'zero' at Summary.seed"),
        (lambda fields: fields | {"models": 3}, "3 at Summary.models"),
        (lambda fields: [fields], "schema None"),
    ],
)
def test_a_malformed_summary_is_refused_by_name(spoil: Callable[[Any], Any], message: str) -> None:
    fields = json.loads(summary_of().to_json())
    with pytest.raises(RunError, match=message):
        Summary.from_json(json.dumps(spoil(fields)))


def test_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(RunError, match="not JSON"):
        Summary.from_json("{")


def test_importing_the_summary_imports_no_heavy_library() -> None:
    import subprocess
    import sys

    code = "import sys, codeaudit.reports.summarise, codeaudit.reports.registry, codeaudit.reports.records; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "scipy", "pandas", "torch", "rich"} & set(loaded.split())
