"""What a gate decides."""

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import pytest

from codeaudit.audit.records import ANSWER_CHANGES, Answer, Audited, Unjudged
from codeaudit.reports.cases import Place
from codeaudit.reports.checks import Gate, gate_sheets, verdict
from codeaudit.reports.gate import AskedVariant, Judged, Limits, gate, lasting
from codeaudit.reports.observations import observe
from codeaudit.reports.records import ModelHeader, RunHeader
from codeaudit.reports.summarise import summarise
from codeaudit.transforms.errors import UsageError
from tests.support.audited import Error, Subtokens, audited, sample

GOOD, BAD = ("get", "name"), ("set",)


def judged(*records: Audited, name: str = "now", task: Subtokens | Error | None = None) -> Judged:
    """A run as a gate reads it, from audited samples of one trial."""
    names = list(dict.fromkeys(record.model for record in records))
    headers = tuple(ModelHeader(name=one, parameters=None, fingerprint=one, noise=0.0) for one in names)
    header = RunHeader(task="function-name", corpus="stdlib", seed=0, models=headers)
    unjudged = defaultdict(Counter)  # type: ignore[var-annotated]
    for record in records:
        for one in record.verdicts:
            if isinstance(one, Unjudged):
                unjudged[record.model, one.perturbed.kind, one.perturbed.transform][one.reason] += 1
    return Judged(
        name=name,
        summary=summarise([(0, records)], task=task or Subtokens(), header=header),
        flips=tuple(flip for one in records for flip in observe(one, seed=0).flips()),
        originals={one.sample.id: one.sample.source for one in records},
        unjudged=unjudged,
        gaps={
            one.model: [
                AskedVariant(0, each.sample.id, pair.transform, pair.variant, pair.input)
                for each in (observe(record, seed=0) for record in records if record.model == one.model)
                for pair in each.pairs
                if pair.changed is None and pair.kind == "preserving"
            ]
            for one in records
        },
    )


def crowd(
    violated: int,
    samples: int = 100,
    *,
    variants: int = 1,
    model: str = "m",
    transform: str = "rename",
    **options: Any,
) -> list[Audited]:
    """Samples of which the first ones are violated in all variants."""
    return [
        audited(
            model,
            sample(f"s{n:03}"),
            after={
                "identity": [GOOD],
                transform: [BAD if n < violated else GOOD] * variants,
                "rename-merging": [BAD if n % 2 else GOOD],
            },
            **options,
        )
        for n in range(samples)
    ]


def outcomes(found: Gate) -> dict[str, str]:
    return {check.title: check.outcome for check in found.checks}


@pytest.mark.parametrize(("limit", "outcome"), [(0.04, "failed"), (0.05, "passed"), (0.06, "passed")])
def test_a_rate_fails_above_its_limit_and_not_at_it(limit: float, outcome: str) -> None:
    found = gate(judged(*crowd(5)), Limits(max_violation_rate=limit))
    assert outcomes(found) == {"violations under rename": outcome}
    assert found.outcome == outcome
    assert "limit lies within" in found.checks[0].notes[0], "5 of 100 has an interval around all three"


@pytest.mark.parametrize(("limit", "outcome"), [(0.5, "passed"), (0.51, "failed")])
def test_sensitivity_fails_below_its_limit(limit: float, outcome: str) -> None:
    assert outcomes(gate(judged(*crowd(5)), Limits(min_sensitivity=limit))) == {"sensitivity": outcome}


def test_the_drop_of_a_score_fails_above_its_limit() -> None:
    run = judged(*crowd(10))
    drop = run.summary.models[0].score.drop
    assert outcomes(gate(run, Limits(max_f1_drop=drop + 1e-9))) == {"f1 drop": "passed"}
    assert outcomes(gate(run, Limits(max_f1_drop=drop - 1e-9))) == {"f1 drop": "failed"}


def test_a_rising_error_is_a_drop() -> None:
    record = audited("m", sample("a", 10.0), before=11.0, after={"rename": [15.0]}, task=Error())
    found = gate(judged(record, task=Error()), Limits(max_f1_drop=0.3))
    assert outcomes(found) == {"mape drop": "failed"}
    assert found.checks[0].value == pytest.approx(0.4)


def test_what_is_asked_for_and_cannot_be_had_is_unknown() -> None:
    record = audited("m", sample("a", None), after={"rename": [GOOD]})
    found = gate(judged(record), Limits(max_violation_rate=0.1, max_f1_drop=0.1, min_sensitivity=0.1))
    assert outcomes(found) == {
        "violations under rename": "passed",
        "f1 drop": "unknown",
        "sensitivity": "unknown",
    }
    assert found.outcome == "unknown"
    assert verdict(found) == "gate cannot tell: 2 of 3 checks could not be judged"


def test_a_failure_counts_more_than_a_gap() -> None:
    record = audited("m", sample("a", None), after={"rename": [BAD]})
    assert gate(judged(record), Limits(max_violation_rate=0.1, max_f1_drop=0.1)).outcome == "failed"


def test_a_run_without_verdicts_does_not_pass() -> None:
    record = audited("m", sample("a"), before=None, after={"rename": [GOOD]})
    found = gate(judged(record), Limits(max_violation_rate=1.0))
    assert found.outcome == "unknown"
    assert "input too long 1" in found.checks[0].found


def unanswered(number: int, samples: int = 10) -> list[Audited]:
    return [
        audited("m", sample(f"s{n}"), after={"rename": [None if n < number else GOOD]})
        for n in range(samples)
    ]


def test_unjudged_answers_are_no_violations_and_too_many_of_them_decide_nothing() -> None:
    few = gate(judged(*unanswered(2)), Limits(max_violation_rate=0.0))
    assert few.outcome == "passed"
    assert few.notes == ("m: 2 pairs unjudged, counted nowhere (numeric noise 2)",)
    many = gate(judged(*unanswered(3)), Limits(max_violation_rate=0.0))
    assert outcomes(many) == {"answers": "unknown", "violations under rename": "passed"}
    assert many.outcome == "unknown"


def test_a_right_answer_that_changes_is_no_gap() -> None:
    run = judged(*unanswered(9))
    other = {key: {ANSWER_CHANGES: found.total()} for key, found in run.unjudged.items()}  # type: ignore[attr-defined]
    assert gate(replace(run, unjudged=other), Limits(max_violation_rate=0.0)).outcome == "passed"


# ── the baseline ─────────────────────────────────────────────────────────────────────────────────────────


def test_an_unchanged_run_passes_against_itself() -> None:
    found = gate(judged(*crowd(5)), Limits(), baseline=judged(*crowd(5), name="before"))
    assert outcomes(found) == {"rise": "passed"}
    assert (found.checks[0].rise.appeared, found.checks[0].rise.p) == (0, 1.0)


def test_a_rise_fails_where_it_is_shown_and_above_the_margin() -> None:
    before = judged(*crowd(5), name="before")
    assert gate(judged(*crowd(11)), Limits(), baseline=before).outcome == "passed", "0.5**6 > 0.01"
    assert gate(judged(*crowd(12)), Limits(), baseline=before).outcome == "failed"
    assert gate(judged(*crowd(12)), Limits(margin=0.07), baseline=before).outcome == "passed"
    assert gate(judged(*crowd(12)), Limits(alpha=0.001), baseline=before).outcome == "passed"
    assert gate(judged(*crowd(0)), Limits(), baseline=before).outcome == "passed"


def test_it_says_the_smallest_rise_that_could_have_failed() -> None:
    found = gate(judged(*crowd(5)), Limits(), baseline=judged(*crowd(5)))
    assert found.checks[0].rise.detectable == 0.07
    assert "A rise below 7.0 points cannot fail here" in found.checks[0].notes[0]


def test_variants_of_a_sample_are_one_witness() -> None:
    """Twelve new violations in three samples: certain over pairs, and by samples one in eight."""
    before, now = judged(*crowd(0, variants=4)), judged(*crowd(3, variants=4))
    check = gate(now, Limits(), baseline=before).checks[0]
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
    found = gate(judged(*two(0, 8)), Limits(), baseline=judged(*two(0, 0)))
    assert outcomes(found) == {
        "rise": "passed",
        "rise under reorder": "passed",
        "rise under rename": "passed",
    }
    assert found.checks[0].p_adjusted == pytest.approx(3 * 0.5**8)
    found = gate(judged(*two(0, 9)), Limits(), baseline=judged(*two(0, 0)))
    assert found.outcome == "failed"
    assert outcomes(found)["rise under rename"] == "passed"


def test_a_transform_with_few_samples_is_not_tested_alone() -> None:
    def records(reordered: Answer) -> list[Audited]:
        return [
            *crowd(0, 50),
            *(audited("m", sample(f"r{n}"), after={"reorder": [reordered]}) for n in range(5)),
        ]

    found = gate(judged(*records(BAD)), Limits(), baseline=judged(*records(GOOD)))
    assert outcomes(found) == {
        "rise": "passed",
        "rise under reorder": "untested",
        "rise under rename": "passed",
    }
    assert found.checks[0].p_adjusted == pytest.approx(2 * 0.5**5)


def test_too_few_samples_are_told_and_do_not_pass() -> None:
    found = gate(judged(*crowd(6, 6)), Limits(), baseline=judged(*crowd(0, 6)))
    assert outcomes(found) == {"rise": "unknown"}
    assert "so few samples could not have shown any rise" in found.checks[0].notes[0]


def test_a_baseline_without_anything_left_to_break_passes() -> None:
    found = gate(judged(*crowd(50, 50)), Limits(), baseline=judged(*crowd(50, 50)))
    assert outcomes(found) == {"rise": "passed"}
    assert "no more could be" in found.checks[0].notes[0]


def test_a_model_that_got_much_better_passes() -> None:
    found = gate(judged(*crowd(5)), Limits(), baseline=judged(*crowd(90)))
    assert outcomes(found) == {"rise": "passed"}
    assert found.checks[0].rise.gone == 85


def test_only_the_very_same_inputs_are_paired_and_lost_ones_are_told() -> None:
    now, before = judged(*crowd(5)), judged(*crowd(5), name="before")
    half = tuple(flip for flip in before.flips if flip.sample < "s050")
    found = gate(now, Limits(), baseline=replace(before, flips=half))
    assert found.checks[0].rise.pairs == 50
    assert found.notes == (
        "m: 50 pairs are shared, of 100 judged now and 50 in the baseline; only these are compared",
    )
    for other in (
        replace(before, flips=tuple(replace(flip, input="x") for flip in before.flips)),
        replace(before, flips=tuple(replace(flip, variant=9) for flip in before.flips)),
        replace(before, flips=tuple(replace(flip, seed=9) for flip in before.flips)),
        replace(before, originals=dict.fromkeys(before.originals, "another text")),
    ):
        found = gate(now, Limits(), baseline=other)
        assert found.outcome == "unknown"
        assert "the suites differ" in found.checks[0].found


def kept(run: Judged, number: int) -> Judged:
    """The run with the pairs of the first samples only."""
    names = {f"s{n:03}" for n in range(number)}
    return replace(run, flips=tuple(flip for flip in run.flips if flip.sample in names))


@pytest.mark.parametrize(
    ("number", "outcome"), [(100, "passed"), (90, "passed"), (89, "unknown"), (12, "unknown")]
)
def test_a_run_on_fewer_inputs_than_the_baseline_does_not_pass(number: int, outcome: str) -> None:
    before = judged(*crowd(0))
    now = kept(judged(*crowd(0)), number)
    found = gate(now, Limits(), baseline=before)
    assert found.outcome == outcome
    assert outcomes(found) == {"rise": "passed", **({"shared": "unknown"} if outcome == "unknown" else {})}
    assert gate(now, Limits(min_shared=0.1), baseline=before).outcome == "passed"
    # Inputs that the baseline had not do no harm.
    assert gate(before, Limits(), baseline=now).outcome == "passed"


def test_a_transform_or_a_model_that_the_run_lacks_is_not_shared() -> None:
    before = judged(*two(0, 0))
    found = gate(judged(*crowd(0)), Limits(), baseline=before)
    assert outcomes(found) == {"rise": "passed", "shared": "unknown"}
    assert gate(judged(*crowd(0)), Limits(), baseline=before, transforms=frozenset({"rename"})).passed
    pair = judged(*crowd(0, model="a"), *crowd(0, model="b"))
    found = gate(judged(*crowd(0, model="a")), Limits(), baseline=pair)
    assert [(check.model, check.name, check.outcome) for check in found.checks] == [
        ("a", "rise", "passed"),
        ("b", "shared", "unknown"),
    ]
    assert gate(judged(*crowd(0, model="a")), Limits(min_shared=0.0), baseline=pair).passed


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

    assert gate(silent(5), Limits(), baseline=before).outcome == "passed"
    found = gate(silent(6), Limits(), baseline=before)
    assert outcomes(found) == {"rise": "passed", "newly unjudged": "unknown"}
    assert found.checks[1].found == "6 of 100 pairs of the baseline are unjudged now"
    assert gate(silent(6), Limits(max_newly_unjudged=0.06), baseline=before).outcome == "passed"
    # What the baseline did not judge either is not new.
    assert gate(silent(15), Limits(), baseline=silent(15)).outcome == "passed"


def test_models_are_paired_by_name_or_alone() -> None:
    alone = gate(judged(*crowd(20, model="new")), Limits(), baseline=judged(*crowd(0, model="old")))
    assert alone.outcome == "failed"
    assert alone.notes == ("new is held against old, the only model of the baseline",)
    both = judged(*crowd(0, model="a"), *crowd(0, model="b"))
    found = gate(both, Limits(), baseline=judged(*crowd(0, model="a")))
    assert [(check.model, check.outcome) for check in found.checks] == [("a", "passed"), ("b", "unknown")]
    assert found.checks[1].found == "not in the baseline"


def test_more_models_are_adjusted_for() -> None:
    before = judged(*crowd(0, model="a"), *crowd(0, model="b"))
    now = judged(*crowd(7, model="a"), *crowd(0, model="b"))
    found = gate(now, Limits(), baseline=before)
    assert found.checks[0].p_adjusted == pytest.approx(2 * 0.5**7)
    assert found.outcome == "passed"


def test_another_task_is_refused() -> None:
    before = judged(*crowd(0))
    other = replace(before, summary=replace(before.summary, task="throughput"))
    with pytest.raises(UsageError, match="'throughput'"):
        gate(judged(*crowd(0)), Limits(), baseline=other)


def test_chosen_transforms_alone_are_judged() -> None:
    now, before = judged(*two(20, 0)), judged(*two(0, 0))
    assert gate(now, Limits(), baseline=before, transforms=frozenset({"rename"})).outcome == "failed"
    found = gate(now, Limits(), baseline=before, transforms=frozenset({"reorder"}))
    assert outcomes(found) == {"rise": "passed"}
    assert found.transforms == ("reorder",)


def test_lasting_violations_are_those_of_both_runs() -> None:
    assert lasting(judged(*crowd(3)), judged(*crowd(2))) == {
        Place("m", 0, "s000", "rename", 0),
        Place("m", 0, "s001", "rename", 0),
    }


# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────


def test_the_gate_round_trips_through_json() -> None:
    found = gate(judged(*two(0, 9)), Limits(max_violation_rate=0.1), baseline=judged(*two(0, 0)))
    assert Gate.from_json(found.to_json()) == found


def test_the_table_has_a_row_for_each_check_and_ends_with_the_verdict() -> None:
    found = gate(
        judged(*two(0, 9)), Limits(max_violation_rate=0.1), baseline=judged(*two(0, 0), name="before")
    )
    (sheet,) = gate_sheets(found)
    assert sheet.title == "gate: now against before"
    assert [row[1].lines[0] for row in sheet.rows] == [check.title for check in found.checks]
    assert sheet.notes[-1] == "gate FAILED: 2 of 4 checks"
