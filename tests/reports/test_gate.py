"""What a gate decides."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from codeaudit.audit.interface import Task
from codeaudit.audit.records import ANSWER_CHANGES, Answer, Audited, Unjudged
from codeaudit.reports.cases import Place
from codeaudit.reports.checks import Check, Gate, gate_sheets, verdict
from codeaudit.reports.gate import Limits, gate, lasting
from codeaudit.reports.judged import AskedVariant, Judged
from codeaudit.reports.observations import observe
from codeaudit.reports.records import ModelHeader, RunHeader, Summary
from codeaudit.reports.summarise import summarise
from codeaudit.transforms.errors import UsageError
from tests.support.audited import Error, Subtokens, audited, sample

GOOD, BAD = ("get", "name"), ("set",)

SWITCHED = "whether the models react was not checked: --allow-insensitive"


def rules(**given: Any) -> Limits:
    """Limits of a gate that does not ask whether the models react; `test_reaction.py` has those that do."""
    return Limits(allow_insensitive=True, **given)


def judged(*records: Audited, name: str = "now", task: Task | None = None) -> Judged:
    """A run as a gate reads it, from audited samples of one trial."""
    names = list(dict.fromkeys(record.model for record in records))
    headers = tuple(ModelHeader(name=name, parameters=None, fingerprint=name, noise=0.0) for name in names)
    header = RunHeader(task="function-name", corpus="stdlib", seed=0, models=headers)
    unjudged = defaultdict(Counter)  # type: ignore[var-annotated]
    for record in records:
        for judgement in record.verdicts:
            if isinstance(judgement, Unjudged):
                unjudged[record.model, judgement.perturbed.kind, judgement.perturbed.transform][
                    judgement.reason
                ] += 1
    return Judged(
        name=name,
        summary=summarise([(0, records)], task=task or Subtokens(), header=header),
        flips=tuple(flip for record in records for flip in observe(record, seed=0).flips()),
        originals={record.sample.id: record.sample.source for record in records},
        unjudged=unjudged,
        gaps={
            name: [
                AskedVariant(0, each.sample.id, pair.transform, pair.variant, pair.input)
                for each in (observe(record, seed=0) for record in records if record.model == name)
                for pair in each.pairs
                if pair.changed is None and pair.kind == "preserving"
            ]
            for name in names
        },
    )


def crowd(
    violated: int,
    samples: int = 100,
    *,
    variants: int = 1,
    model: str = "m",
    transform: str = "rename",
    reacting: int | None = None,
    **options: Any,
) -> list[Audited]:
    """Samples of which the first ones are violated in all variants. Controls change the answer of the first
    `reacting` ones, or of every second one.
    """
    return [
        audited(
            model,
            sample(f"s{n:03}"),
            after={
                "identity": [GOOD],
                transform: [BAD if n < violated else GOOD] * variants,
                "rename-merging": [BAD if (n % 2 if reacting is None else n < reacting) else GOOD],
            },
            **options,
        )
        for n in range(samples)
    ]


def outcomes(decision: Gate) -> dict[str, str]:
    return {check.title: check.outcome for check in decision.checks}


@pytest.mark.parametrize(("limit", "outcome"), [(0.04, "failed"), (0.05, "passed"), (0.06, "passed")])
def test_a_rate_fails_above_its_limit_and_not_at_it(limit: float, outcome: str) -> None:
    decision = gate(judged(*crowd(5)), rules(max_violation_rate=limit))
    assert outcomes(decision) == {"violations under rename": outcome}
    assert decision.outcome == outcome
    assert "limit lies within" in decision.checks[0].notes[0], "5 of 100 has an interval around all three"


@pytest.mark.parametrize(("limit", "outcome"), [(0.5, "passed"), (0.51, "failed")])
def test_sensitivity_fails_below_its_limit(limit: float, outcome: str) -> None:
    assert outcomes(gate(judged(*crowd(5)), rules(min_sensitivity=limit))) == {"sensitivity": outcome}


def test_the_drop_of_a_score_fails_above_its_limit() -> None:
    run = judged(*crowd(10))
    drop = run.summary.models[0].score.drop
    assert outcomes(gate(run, rules(max_f1_drop=drop + 1e-9))) == {"f1 drop": "passed"}
    assert outcomes(gate(run, rules(max_f1_drop=drop - 1e-9))) == {"f1 drop": "failed"}


def test_a_rising_error_is_a_drop() -> None:
    record = audited("m", sample("a", 10.0), before=11.0, after={"rename": [15.0]}, task=Error())
    decision = gate(judged(record, task=Error()), rules(max_f1_drop=0.3))
    assert outcomes(decision) == {"mape drop": "failed"}
    assert decision.checks[0].value == pytest.approx(0.4)


def test_what_is_asked_for_and_cannot_be_had_is_unknown() -> None:
    record = audited("m", sample("a", None), after={"rename": [GOOD]})
    decision = gate(judged(record), rules(max_violation_rate=0.1, max_f1_drop=0.1, min_sensitivity=0.1))
    assert outcomes(decision) == {
        "violations under rename": "passed",
        "f1 drop": "unknown",
        "sensitivity": "unknown",
    }
    assert decision.outcome == "unknown"
    assert (
        verdict(decision)
        == "gate cannot tell: 2 of 3 checks could not be judged; 1 sample only, fewer than 30"
    )


def test_a_failure_counts_more_than_a_gap() -> None:
    record = audited("m", sample("a", None), after={"rename": [BAD]})
    assert gate(judged(record), rules(max_violation_rate=0.1, max_f1_drop=0.1)).outcome == "failed"


def test_a_run_without_verdicts_does_not_pass() -> None:
    record = audited("m", sample("a"), before=None, after={"rename": [GOOD]})
    decision = gate(judged(record), rules(max_violation_rate=1.0))
    assert decision.outcome == "unknown"
    assert "1 × input too long" in decision.checks[0].found


def unanswered(number: int, samples: int = 10) -> list[Audited]:
    return [
        audited("m", sample(f"s{n}"), after={"rename": [None if n < number else GOOD]})
        for n in range(samples)
    ]


def test_unjudged_answers_are_no_violations_and_too_many_of_them_decide_nothing() -> None:
    few = gate(judged(*unanswered(2)), rules(max_violation_rate=0.0))
    assert few.outcome == "passed"
    assert few.notes == ("m: 2 pairs unjudged, counted nowhere (2 × numeric noise)", SWITCHED)
    many = gate(judged(*unanswered(3)), rules(max_violation_rate=0.0))
    assert outcomes(many) == {"answers": "unknown", "violations under rename": "passed"}
    assert many.outcome == "unknown"


def test_a_right_answer_that_changes_is_no_gap() -> None:
    run = judged(*unanswered(9))
    other = {key: {ANSWER_CHANGES: counts.total()} for key, counts in run.unjudged.items()}  # type: ignore[attr-defined]
    assert gate(replace(run, unjudged=other), rules(max_violation_rate=0.0)).outcome == "passed"


# ── the baseline ─────────────────────────────────────────────────────────────────────────────────────────


def test_an_unchanged_run_passes_against_itself() -> None:
    decision = gate(judged(*crowd(5)), rules(), baseline=judged(*crowd(5), name="before"))
    assert outcomes(decision) == {"rise": "passed"}
    assert (decision.checks[0].rise.appeared, decision.checks[0].rise.p) == (0, 1.0)


def test_a_rise_fails_where_it_is_shown_and_above_the_margin() -> None:
    before = judged(*crowd(5), name="before")
    assert gate(judged(*crowd(11)), rules(), baseline=before).outcome == "passed", "0.5**6 > 0.01"
    assert gate(judged(*crowd(12)), rules(), baseline=before).outcome == "failed"
    assert gate(judged(*crowd(12)), rules(margin=0.07), baseline=before).outcome == "passed"
    assert gate(judged(*crowd(12)), rules(alpha=0.001), baseline=before).outcome == "passed"
    assert gate(judged(*crowd(0)), rules(), baseline=before).outcome == "passed"


def test_it_says_the_smallest_rise_that_could_have_failed() -> None:
    decision = gate(judged(*crowd(5)), rules(), baseline=judged(*crowd(5)))
    assert decision.checks[0].rise.detectable == 0.07
    assert "A rise below 7.0 points cannot fail here" in decision.checks[0].notes[0]


def test_variants_of_a_sample_are_one_witness() -> None:
    """Twelve new violations in three samples: certain over pairs, and by samples one in eight."""
    before, now = judged(*crowd(0, variants=4)), judged(*crowd(3, variants=4))
    check = gate(now, rules(), baseline=before).checks[0]
    assert (check.rise.appeared, check.rise.pairs, check.rise.p) == (3, 400, 0.125)
    assert check.outcome == "passed"


def two(first: int, second: int, samples: int = 100) -> list[Audited]:
    return [
        audited(
            "m",
            sample(f"s{n:03}"),
            after={"rename": [BAD if n < first else GOOD], "reorder": [BAD if n < second else GOOD]},
        )
        for n in range(samples)
    ]


def test_each_transform_is_tested_too_and_adjusted_for() -> None:
    decision = gate(judged(*two(0, 8)), rules(), baseline=judged(*two(0, 0)))
    assert outcomes(decision) == {
        "rise": "passed",
        "rise under reorder": "passed",
        "rise under rename": "passed",
    }
    assert decision.checks[0].p_adjusted == pytest.approx(3 * 0.5**8)
    decision = gate(judged(*two(0, 9)), rules(), baseline=judged(*two(0, 0)))
    assert decision.outcome == "failed"
    assert outcomes(decision)["rise under rename"] == "passed"


def test_a_transform_with_few_samples_is_not_tested_alone() -> None:
    def records(reordered: Answer) -> list[Audited]:
        return [
            *crowd(0, 50),
            *(audited("m", sample(f"r{n}"), after={"reorder": [reordered]}) for n in range(5)),
        ]

    decision = gate(judged(*records(BAD)), rules(), baseline=judged(*records(GOOD)))
    assert outcomes(decision) == {
        "rise": "passed",
        "rise under reorder": "untested",
        "rise under rename": "passed",
    }
    assert decision.checks[0].p_adjusted == pytest.approx(2 * 0.5**5)


def test_too_few_samples_are_told_and_do_not_pass() -> None:
    decision = gate(judged(*crowd(6, 6)), rules(), baseline=judged(*crowd(0, 6)))
    assert outcomes(decision) == {"rise": "unknown"}
    assert "So few samples cannot show any rise" in decision.checks[0].notes[0]


def test_a_baseline_without_anything_left_to_break_passes() -> None:
    decision = gate(judged(*crowd(50, 50)), rules(), baseline=judged(*crowd(50, 50)))
    assert outcomes(decision) == {"rise": "passed"}
    assert "All were violated before, so none could be new" in decision.checks[0].notes[0]


def test_a_model_that_got_much_better_passes() -> None:
    decision = gate(judged(*crowd(5)), rules(), baseline=judged(*crowd(90)))
    assert outcomes(decision) == {"rise": "passed"}
    assert decision.checks[0].rise.gone == 85


def test_only_the_very_same_inputs_are_paired_and_lost_ones_are_told() -> None:
    now, before = judged(*crowd(5)), judged(*crowd(5), name="before")
    half = tuple(flip for flip in before.flips if flip.sample < "s050")
    decision = gate(now, rules(), baseline=replace(before, flips=half))
    assert decision.checks[0].rise.pairs == 50
    assert decision.notes == (
        "m: 50 pairs are shared, of 100 judged now and 50 in the baseline; only these are compared",
        SWITCHED,
    )
    for other in (
        replace(before, flips=tuple(replace(flip, input="x") for flip in before.flips)),
        replace(before, flips=tuple(replace(flip, variant=9) for flip in before.flips)),
        replace(before, flips=tuple(replace(flip, seed=9) for flip in before.flips)),
        replace(before, originals=dict.fromkeys(before.originals, "another text")),
    ):
        decision = gate(now, rules(), baseline=other)
        assert decision.outcome == "unknown"
        assert "the suites differ" in decision.checks[0].found


def kept(run: Judged, number: int) -> Judged:
    """The run with the pairs of the first samples only."""
    names = {f"s{n:03}" for n in range(number)}
    return replace(run, flips=tuple(flip for flip in run.flips if flip.sample in names))


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("number", "outcome"), [(100, "passed"), (90, "passed"), (89, "unknown"), (12, "unknown")]
)
def test_a_run_on_fewer_inputs_than_the_baseline_does_not_pass(number: int, outcome: str) -> None:
    before = judged(*crowd(0))
    now = kept(judged(*crowd(0)), number)
    decision = gate(now, rules(), baseline=before)
    assert decision.outcome == outcome
    assert outcomes(decision) == {"rise": "passed", **({"shared": "unknown"} if outcome == "unknown" else {})}
    assert gate(now, rules(min_shared=0.1), baseline=before).outcome == "passed"
    # Inputs that the baseline had not do no harm.
    assert gate(before, rules(), baseline=now).outcome == "passed"


@pytest.mark.slow
def test_a_transform_or_a_model_that_the_run_lacks_is_not_shared() -> None:
    before = judged(*two(0, 0))
    decision = gate(judged(*crowd(0)), rules(), baseline=before)
    assert outcomes(decision) == {"rise": "passed", "shared": "unknown"}
    assert gate(judged(*crowd(0)), rules(), baseline=before, transforms=frozenset({"rename"})).passed
    pair = judged(*crowd(0, model="a"), *crowd(0, model="b"))
    decision = gate(judged(*crowd(0, model="a")), rules(), baseline=pair)
    assert [(check.model, check.name, check.outcome) for check in decision.checks] == [
        ("a", "rise", "passed"),
        ("b", "shared", "unknown"),
    ]
    assert gate(judged(*crowd(0, model="a")), rules(min_shared=0.0), baseline=pair).passed


@pytest.mark.slow
def test_a_model_that_does_not_answer_where_it_would_flip_does_not_pass() -> None:
    before = judged(*crowd(0))

    def silent(number: int) -> Judged:
        answers = [None if n < number else GOOD for n in range(100)]
        return judged(
            *(
                audited("m", sample(f"s{n:03}"), after={"identity": [GOOD], "rename": [answer]})
                for n, answer in enumerate(answers)
            )
        )

    assert gate(silent(5), rules(), baseline=before).outcome == "passed"
    decision = gate(silent(6), rules(), baseline=before)
    assert outcomes(decision) == {"rise": "passed", "newly unjudged": "unknown"}
    assert decision.checks[1].found == "6 of 100 pairs of the baseline are unjudged now"
    assert gate(silent(6), rules(max_newly_unjudged=0.06), baseline=before).outcome == "passed"
    # What the baseline did not judge either is not new.
    assert gate(silent(15), rules(), baseline=silent(15)).outcome == "passed"


@pytest.mark.slow
def test_models_are_paired_by_name_or_alone() -> None:
    alone = gate(judged(*crowd(20, model="new")), rules(), baseline=judged(*crowd(0, model="old")))
    assert alone.outcome == "failed"
    assert alone.notes == ("new is held against old, the only model of the baseline", SWITCHED)
    both = judged(*crowd(0, model="a"), *crowd(0, model="b"))
    decision = gate(both, rules(), baseline=judged(*crowd(0, model="a")))
    assert [(check.model, check.outcome) for check in decision.checks] == [("a", "passed"), ("b", "unknown")]
    assert decision.checks[1].found == "not in the baseline"


@pytest.mark.slow
def test_more_models_are_adjusted_for() -> None:
    before = judged(*crowd(0, model="a"), *crowd(0, model="b"))
    now = judged(*crowd(7, model="a"), *crowd(0, model="b"))
    decision = gate(now, rules(), baseline=before)
    assert decision.checks[0].p_adjusted == pytest.approx(2 * 0.5**7)
    assert decision.outcome == "passed"


def test_another_task_is_refused() -> None:
    before = judged(*crowd(0))
    other = replace(before, summary=replace(before.summary, task="throughput"))
    with pytest.raises(UsageError, match="'throughput'"):
        gate(judged(*crowd(0)), rules(), baseline=other)


def test_chosen_transforms_alone_are_judged() -> None:
    now, before = judged(*two(20, 0)), judged(*two(0, 0))
    assert gate(now, rules(), baseline=before, transforms=frozenset({"rename"})).outcome == "failed"
    decision = gate(now, rules(), baseline=before, transforms=frozenset({"reorder"}))
    assert outcomes(decision) == {"rise": "passed"}
    assert decision.transforms == ("reorder",)


def test_lasting_violations_are_those_of_both_runs() -> None:
    assert lasting(judged(*crowd(3)), judged(*crowd(2))) == {
        Place("m", 0, "s000", "rename", 0),
        Place("m", 0, "s001", "rename", 0),
    }


# ── what a model keeps ───────────────────────────────────────────────────────────────────────────────────


def lively(
    violated: int = 0,
    samples: int = 100,
    *,
    reacting: int = 60,
    wrong: int = 0,
    scores: tuple[float, float] = (1.0, 0.0),
    task: Task | None = None,
) -> Judged:
    """A run that reacts to the controls of its first samples, and whose last `wrong` samples have the second
    of two scores.
    """
    made = judged(*crowd(violated, samples, reacting=reacting), task=task)
    given = {(0, f"s{n:03}"): scores[n >= samples - wrong] for n in range(samples)}
    return replace(made, scores={"m": given})


def check_of(decision: Gate, name: str) -> Check:
    (check,) = (check for check in decision.checks if check.title == name)
    return check


def test_a_run_keeps_all_of_itself() -> None:
    decision = gate(lively(), Limits(), baseline=lively())
    assert outcomes(decision) == dict.fromkeys(
        ("reaction", "one answer", "rise", "sensitivity kept", "f1 kept"), "passed"
    )
    assert check_of(decision, "f1 kept").found == "100 % to 100 %, mean of samples, p 1"
    # "At most −1.0 points" would be kept by a fall of 2.2 points.
    assert check_of(decision, "sensitivity kept").wanted == "a fall of at most 1.0 points"


@pytest.mark.thinned(1)
@pytest.mark.parametrize(("wrong", "outcome"), [(8, "passed"), (9, "failed"), (100, "failed")])
def test_a_lost_score_fails_where_it_is_shown(wrong: int, outcome: str) -> None:
    """Of three tests the smallest p counts three times: 3 / 2**9 is below 1 %, 3 / 2**8 is not."""
    decision = gate(lively(wrong=wrong), Limits(), baseline=lively())
    check = check_of(decision, "f1 kept")
    assert (check.outcome, decision.outcome) == (outcome, outcome)
    assert check.value == pytest.approx(wrong / 100)
    assert check.p_adjusted == pytest.approx(3 * 0.5**wrong)
    if outcome == "failed":
        assert check.notes == (f"of 100 samples {wrong} are worse, 0 better",)
        assert [check.title for check in decision.of("failed")] == ["f1 kept"]
    # The other way round it is won.
    assert gate(lively(), Limits(), baseline=lively(wrong=wrong)).outcome == "passed"


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        ({}, "failed"),
        ({"max_score_drop": 0.19}, "failed"),
        ({"max_score_drop": 0.2}, "passed"),
        ({"max_score_drop": 0.0}, "failed"),
        ({"margin": 0.2}, "passed"),
        ({"margin": 0.2, "max_score_drop": 0.1}, "failed"),
        ({"alpha": 2e-6}, "passed"),
        ({"allow_insensitive": True}, "failed"),
    ],
    ids=str,
)
def test_the_limit_of_a_lost_score_is_its_own_or_the_margin(given: dict[str, Any], outcome: str) -> None:
    decision = gate(lively(wrong=20), Limits(**given), baseline=lively())
    check = check_of(decision, "f1 kept")
    assert check.outcome == outcome
    assert check.limit == given.get("max_score_drop", given.get("margin", 0.01))
    assert check.wanted == f"at most {100 * check.limit:.1f} points worse"


def test_a_score_with_a_unit_is_held_to_a_share_of_that_of_the_baseline() -> None:
    """A tenth of the samples is 1.5 times as far off: 5 % more than before, in whatever unit."""
    task, scores = Error(), (40.0, 60.0)
    numbers = [
        audited(
            "m",
            sample(f"s{n:03}", 10.0),
            before=11.0,
            after={"identity": [11.0], "rename": [11.0]},
            task=task,
        )
        for n in range(100)
    ]
    before, now = (
        replace(
            judged(*numbers, task=task),
            scores={"m": {(0, f"s{n:03}"): scores[n < wrong] for n in range(100)}},
        )
        for wrong in (0, 10)
    )
    unit = [replace(run, summary=_with_score_name(run, "perplexity")) for run in (before, now)]
    for limit, outcome in ((0.049, "failed"), (0.05, "passed")):
        decision = gate(unit[1], rules(max_score_drop=limit), baseline=unit[0])
        check = check_of(decision, "perplexity kept")
        assert check.outcome == outcome
        assert check.value == pytest.approx(0.05)
        assert check.wanted.endswith("points of the baseline worse")
        assert check.found.startswith("40 to 42, mean of samples")
    # Of a share the limit is in points: 0.4 to 0.42.
    shares = [
        replace(run, scores={"m": {key: score / 100 for key, score in run.scores["m"].items()}})
        for run in (before, now)
    ]
    for limit, outcome in ((0.019, "failed"), (0.02, "passed")):
        check = check_of(gate(shares[1], rules(max_score_drop=limit), baseline=shares[0]), "mape kept")
        assert check.outcome == outcome
        assert check.value == pytest.approx(0.02)
        assert check.wanted == f"at most {100 * limit:.1f} points worse"


def _with_score_name(run: Judged, name: str) -> Summary:
    (model,) = run.summary.models
    return replace(run.summary, models=(replace(model, score=replace(model.score, name=name)),))


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize(("lost", "outcome"), [(8, "passed"), (9, "failed"), (60, "failed")])
def test_a_lost_sensitivity_fails_where_it_is_shown(lost: int, outcome: str) -> None:
    decision = gate(lively(reacting=60 - lost), Limits(), baseline=lively())
    check = check_of(decision, "sensitivity kept")
    assert check.outcome == outcome
    assert check.value == pytest.approx(lost / 100)
    assert check.p_adjusted == pytest.approx(3 * 0.5**lost)
    assert check.found.startswith(f"60.0 % to {60 - lost}")
    if outcome == "failed":
        note = f"of 100 samples {lost} no longer react to any control, 0 react for the first time"
        assert check.notes == (note,)
    assert gate(lively(), Limits(), baseline=lively(reacting=60 - lost)).outcome == "passed"
    assert "sensitivity kept" not in outcomes(gate(lively(reacting=60 - lost), rules(), baseline=lively()))
    wide = gate(lively(reacting=60 - lost), Limits(margin=0.6), baseline=lively())
    assert check_of(wide, "sensitivity kept").outcome == "passed"


def test_a_sample_reacts_if_any_of_its_controls_changes_the_answer() -> None:
    def run(answers: list[Answer]) -> Judged:
        return judged(
            *(
                audited("m", sample(f"s{n:03}"), after={"rename": [GOOD], "rename-merging": answers})
                for n in range(40)
            )
        )

    decision = gate(run([GOOD, BAD]), Limits(), baseline=run([BAD, BAD]))
    assert check_of(decision, "sensitivity kept").value == 0
    decision = gate(run([GOOD, GOOD]), Limits(), baseline=run([GOOD, BAD]))
    assert check_of(decision, "sensitivity kept").value == 1


@pytest.mark.slow
def test_all_that_is_compared_with_a_baseline_is_one_family() -> None:
    """Holm: the smallest p times all three tests, the next times two, never below the one before."""
    now = lively(violated=12, reacting=60 - 11, wrong=10)
    decision = gate(now, Limits(), baseline=lively())
    ps = {title: check_of(decision, title).p_adjusted for title in ("rise", "sensitivity kept", "f1 kept")}
    assert ps == {
        "rise": pytest.approx(3 * 0.5**12),
        "sensitivity kept": pytest.approx(2 * 0.5**11),
        "f1 kept": pytest.approx(0.5**10),
    }
    # With each transform and another model there are ten.
    records = [*two(0, 8), *(replace(record, model="n") for record in two(0, 0))]
    run = judged(*records)
    given = {(0, f"s{n:03}"): 1.0 for n in range(100)}
    run = replace(run, scores={"m": given, "n": given})
    before = judged(*two(0, 0), *(replace(record, model="n") for record in two(0, 0)))
    before = replace(before, scores=run.scores)
    decision = gate(run, Limits(), baseline=before)
    assert len([check for check in decision.checks if check.p_adjusted is not None]) == 8, "no controls here"
    assert decision.checks[-8].title == "rise"
    assert decision.checks[-8].p_adjusted == pytest.approx(8 * 0.5**8)
    # What the run has not is not adjusted for.
    assert check_of(
        gate(lively(12), rules(), baseline=judged(*crowd(0))), "rise"
    ).p_adjusted == pytest.approx(0.5**12)


def test_few_samples_have_no_test_of_what_is_kept() -> None:
    decision = gate(lively(samples=8, reacting=0, wrong=8), Limits(), baseline=lively(samples=8, reacting=8))
    kept = [check_of(decision, name) for name in ("sensitivity kept", "f1 kept")]
    assert [check.outcome for check in kept] == ["untested", "untested"]
    assert all("too few samples (8) for a test" in check.found for check in kept)


def test_only_the_same_samples_are_compared() -> None:
    before = lively()
    for other in (
        replace(before, scores={"m": {(9, key): 1.0 for _, key in before.scores["m"]}}),
        replace(before, scores={"m": {(0, f"x{key}"): 1.0 for _, key in before.scores["m"]}}),
    ):
        check = check_of(gate(lively(wrong=100), Limits(), baseline=other), "f1 kept")
        assert (check.outcome, check.found) == ("unknown", "no score is shared")
    half = {key: score for key, score in before.scores["m"].items() if key[1] >= "s050"}
    check = check_of(
        gate(lively(wrong=50), Limits(), baseline=replace(before, scores={"m": half})), "f1 kept"
    )
    assert check.value == 1.0
    # A text of the same sample that is another one is no partner, for scores as for answers.
    changed = {**before.originals, **{f"s{n:03}": "another text" for n in range(50, 100)}}
    decision = gate(lively(wrong=50), Limits(min_shared=0.0), baseline=replace(before, originals=changed))
    assert check_of(decision, "f1 kept").value == 0.0


def test_without_labels_there_is_no_score_to_keep() -> None:
    decision = gate(replace(lively(), scores={}), Limits(), baseline=replace(lively(), scores={}))
    assert list(outcomes(decision)) == ["reaction", "one answer", "rise", "sensitivity kept"]
    # The baseline had labels, the run has none: somebody took them away.
    decision = gate(replace(lively(), scores={}), Limits(), baseline=lively())
    assert (check_of(decision, "f1 kept").outcome, decision.outcome) == ("unknown", "unknown")


def test_a_task_without_a_reaction_keeps_none() -> None:
    task = Subtokens(reacts=False)
    decision = gate(lively(reacting=0, task=task), Limits(), baseline=lively(task=task))
    assert list(outcomes(decision)) == ["one answer", "rise", "f1 kept"]
    assert decision.outcome == "passed"


def test_a_baseline_of_an_earlier_version_has_nothing_to_keep() -> None:
    before = replace(lively(), older=True, scores={})
    decision = gate(lively(), Limits(), baseline=before)
    check = check_of(decision, "sensitivity and score")
    assert (check.outcome, decision.outcome) == ("untested", "passed")
    assert check.found.endswith("write it again: codeaudit report RUN --baseline FILE")


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("now", "before", "start"),
    [
        (lively, lively, "gate passed: 5 checks"),
        (lambda: lively(reacting=0), lambda: lively(reacting=0), "gate FAILED: 1 of 5 checks"),
        (
            lambda: replace(lively(), scores={}),
            lively,
            "gate cannot tell: 1 of 5 checks could not be judged",
        ),
    ],
    ids=["passed", "failed", "cannot tell"],
)
def test_a_baseline_that_is_the_run_itself_is_said_in_the_last_line(
    now: Callable[[], Judged], before: Callable[[], Judged], start: str
) -> None:
    present, past = replace(now(), run="one"), before()
    for name, ending in (("one", "; the baseline is this run itself"), ("two", ""), ("", "")):
        decision = gate(present, Limits(), baseline=replace(past, run=name))
        assert verdict(decision) == f"{start}{ending}"
        assert gate_sheets(decision)[0].notes[-1] == verdict(decision)
    # Runs of which nobody knows the name are not the same.
    assert verdict(gate(replace(present, run=""), Limits(), baseline=replace(past, run=""))) == start


# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────


def test_the_gate_round_trips_through_json() -> None:
    decision = gate(judged(*two(0, 9)), rules(max_violation_rate=0.1), baseline=judged(*two(0, 0)))
    assert Gate.from_json(decision.to_json()) == decision


def test_the_table_has_a_row_for_each_check_and_ends_with_the_verdict() -> None:
    decision = gate(
        judged(*two(0, 9)), rules(max_violation_rate=0.1), baseline=judged(*two(0, 0), name="before")
    )
    (sheet,) = gate_sheets(decision)
    assert sheet.title == "gate: now against before"
    assert [row[1].lines[0] for row in sheet.rows] == [check.title for check in decision.checks]
    assert sheet.notes[-1] == "gate FAILED: 2 of 4 checks"
