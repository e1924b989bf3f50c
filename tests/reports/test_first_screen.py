"""The first screen of a run: its sentences, its table, and its size."""

import io
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from codeaudit.audit.models.endpoints.model import is_undated
from codeaudit.audit.records import Audited
from codeaudit.reports import wording
from codeaudit.reports.first_screen import MOST, first_screen
from codeaudit.reports.records import ByFamily, ByTransform, Excess, ModelSummary, Rate, Score, Summary
from codeaudit.reports.render.table import show_sheets
from codeaudit.reports.statistics.intervals import rate
from codeaudit.reports.summarise import summarise
from codeaudit.reports.wording import relations
from codeaudit.transforms.records import Kind
from tests.reports.test_summarise import header
from tests.support.audited import Subtokens, audited, sample

STANDARD = ("reorder", "rename", "rename-parameters")


def of(count: int, total: int) -> Rate:
    return rate({f"s{n}": (int(n < count), 1) for n in range(total)}, seed=0)


def row(transform: str, changed: Rate, kind: Kind = "preserving") -> ByTransform:
    return ByTransform(
        transform=transform,
        kind=kind,
        violations=changed,
        pairs=changed,
        applied=changed.total,
        unjudged=0,
        not_applied={},
        evidence={},
        max_deviation=0.0,
    )


def model(
    name: str,
    rows: Sequence[ByTransform],
    *,
    sensitivity: Rate | None = None,
    noise: Rate | None = None,
    families: Sequence[ByFamily] = (),
) -> ModelSummary:
    pooled = of(sum(entry.violations.count for entry in rows), sum(entry.violations.total for entry in rows))
    return ModelSummary(
        model=name,
        fingerprint=name,
        parameters=1_200_000,
        samples=200,
        score=Score(name="f1", original=0.21, drop=0.03),
        violations=pooled,
        pairs=pooled,
        all_samples=pooled,
        sensitivity=sensitivity or of(30, 100),
        noise_floor=noise or of(0, 200),
        max_deviation=0.0,
        noise_deviation=0.0,
        noise=0.0,
        unjudged=76,
        unjudged_reasons={"input too long": 76},
        skipped={"input too long": 6},
        truncated=0,
        by_transform=tuple(rows),
        by_family=tuple(families),
        trials=(),
    )


def summary(*models: ModelSummary) -> Summary:
    left = {"dunder name": 2846, "function under 3 lines": 1738, "no label": 400, "test": 20}
    return Summary(task="function-name", corpus="stdlib", seed=0, models=models, skipped=left)


def lead(*models: ModelSummary) -> tuple[str, ...]:
    return first_screen(summary(*models)).lead


def shown(report: Summary, width: int) -> list[str]:
    target = io.StringIO()
    show_sheets([first_screen(report)], Console(file=target, width=width, color_system=None))
    return target.getvalue().splitlines()


def test_a_transform_that_executions_disprove_is_named() -> None:
    wrong = replace(
        row("theirs", of(8, 8)),
        not_applied={"execution differs": 10, "no return": 3},
        evidence={"executed": 5, "analysis": 3},
    )
    some = replace(row("confirmed/reorder", of(0, 9)), not_applied={"execution differs": 4})
    lines = lead(model("spe", [wrong, some]), model("symc", [wrong, some]))
    warnings = [line for line in lines if "does not keep the meaning" in line]
    assert warnings == [
        "theirs does not keep the meaning: 10 of 15 executed variants behaved differently and were left out. "
        "Its rate may count others that were not executed."
    ]


def test_a_sentence_says_who_kept_every_answer_and_who_did_not() -> None:
    lines = lead(
        model("spe", [row("reorder", of(0, 112))]),
        model("symc", [row("reorder", of(0, 112))]),
        model("vanilla", [row("reorder", of(31, 112))]),
    )
    assert lines == (
        "reorder: spe and symc kept every answer on 112 samples; vanilla changed 31/112 (27.7 %, 20.2–36.6).",
    )


def test_of_many_that_changed_the_least_and_the_most_are_named() -> None:
    models = [model(name, [row("rename", of(count, 50))]) for name, count in (("b", 9), ("a", 4), ("c", 20))]
    assert lead(*models) == (
        "rename: all 3 models changed answers, from a 4/50 (8.0 %, 3.2–18.8) to c 20/50 (40.0 %, 27.6–53.8).",
    )
    kept = [model(name, [row("rename", of(0, 50))]) for name in "abc"]
    assert lead(*kept) == ("rename: every model kept every answer on 50 samples.",)


def test_what_makes_a_low_rate_worthless_is_said() -> None:
    (_, blind) = lead(model("m", [row("reorder", of(0, 9))], sensitivity=of(0, 40)))
    assert blind == "m changed no answer where the meaning changed either: it may not read the edits."
    # It changed answers, so it reads something; only the sentence about the edits would be wrong.
    (_, unmoved) = lead(model("m", [row("reorder", of(3, 9))], sensitivity=of(0, 40)))
    assert unmoved == "m changed no answer where the meaning changed."
    (_, noisy) = lead(model("m", [row("reorder", of(3, 9))], noise=of(5, 100)))
    # Of an earlier version, which has no excess.
    assert noisy == (
        "m is noisy: it changed 5/100 (5.0 %, 2.2–11.2) when asked the same again. Noise is part of its rates, "
        "since this summary has no excess."
    )
    (nothing,) = lead(model("m", [row("reorder", Rate(count=0, total=0))]))
    assert nothing.startswith("m: nothing could be judged")


def test_a_transform_that_no_sample_could_be_judged_under_is_named() -> None:
    rows = [row("reorder", Rate(count=0, total=0)), row("rename", of(1, 9))]
    (nothing, _) = lead(model("m", rows))
    assert nothing == "reorder: no sample could be judged."


def test_many_transforms_become_their_worst_families() -> None:
    names = [f"t{n}" for n in range(MOST + 1)]
    families = [ByFamily(family=f"f{n}", violations=of(n, 20)) for n in range(MOST + 2)]
    sheet = first_screen(summary(model("m", [row(name, of(1, 9)) for name in names], families=families)))
    assert [column.head for column in sheet.columns[3:-3]] == ["f2", "f3", "f4", "f5"]
    assert sheet.lead[-1].startswith("No model changed more answers under 2 other families of edits")


def test_orders_by_names_only_have_their_column_and_their_warning() -> None:
    sheet = first_screen(summary(model("m", [row("paper/reorder", of(2, 9), "paper")])))
    assert [column.head for column in sheet.columns[3:4]] == ["paper/reorder"]
    assert "which may change the meaning" in sheet.lead[-1]


@pytest.mark.parametrize("name", ["confirmed/reorder", "hygienic/rename"])
def test_what_a_relation_promises_is_not_said_of_edits_that_were_not_made(name: str) -> None:
    (promise,) = relations([name])
    without, made = (first_screen(summary(model("m", [row(name, of(0, total))]))) for total in (0, 9))
    assert promise not in without.lead
    assert promise in made.lead


@pytest.mark.parametrize("number", [1, 2, 4, 6])
def test_it_has_at_most_40_lines_of_80_columns(number: int) -> None:
    rates = [(0, 112), (31, 112), (100, 103), (126, 127), (9, 120), (72, 103)]
    models = [
        model(
            f"a-long-checkpoint-{n}", [row(name, of(*rates[(n + k) % 6])) for k, name in enumerate(STANDARD)]
        )
        for n in range(number)
    ]
    lines = shown(summary(*models), 80)
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    text = " ".join(lines)
    for subject in models:
        assert subject.model in text
        for entry in subject.by_transform:
            assert f"{entry.violations.count}/{entry.violations.total}" in text


@pytest.mark.parametrize(
    ("skipped", "extra", "told"),
    [({}, 0, "8 samples"), ({"not Python": 4}, 0, "4 of 8 samples"), ({"not Python": 4}, 3, "8 samples")],
)
def test_samples_that_a_model_cannot_read_do_not_count_as_asked(
    skipped: dict[str, int], extra: int, told: str
) -> None:
    made = replace(model("m", [row("rename", of(1, 4))]), samples=8, skipped=skipped, extra=extra)
    sheet = first_screen(summary(made))
    (cells,) = sheet.rows
    assert cells[[column.head for column in sheet.columns].index("asked")].lines == (told,)


@pytest.mark.parametrize("width", [40, 60, 72, 100, 200])
def test_no_number_is_cut_at_any_width(width: int) -> None:
    made = model(
        "m", [row(name, of(count, 400)) for name, count in zip(STANDARD, (0, 111, 399), strict=True)]
    )
    lines = shown(summary(made, replace(made, model="another-model")), width)
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    assert all(word in text for word in ("0/400", "111/400", "399/400", "another-model", "21.0"))


def repeated(name: str, share: float, effect: float, *, seed: int = 0, repeats: int = 4) -> list[Audited]:
    """A model with another answer to this share of its queries, and to this share of renamed samples."""
    rng = random.Random(seed)

    def said(*, moved: bool = False) -> tuple[str, ...]:
        return ("x", str(rng.random())) if rng.random() < share else ("set",) if moved else ("get", "name")

    records = []
    for number in range(200):
        moved = rng.random() < effect
        after = {
            "rename": [said(moved=moved) for _ in range(4)],
            "reorder": [said() for _ in range(4)],
            "reorder-breaking": [said(moved=number % 3 == 0) for _ in range(4)],
            "identity": [said() for _ in range(repeats)],
        }
        records.append(audited(name, sample(f"s{number:03}"), before=said(), after=after))
    return records


def screen(*models: list[Audited], hosted: bool = True) -> Summary:
    named = header(*(each[0].model for each in models))
    named = replace(named, models=tuple(replace(subject, hosted=hosted) for subject in named.models))
    return summarise([(0, [record for each in models for record in each])], task=Subtokens(), header=named)


def test_without_noise_the_screen_has_rates_and_the_bound_of_the_noise() -> None:
    report = screen(repeated("m", 0.0, 0.2, repeats=1), hosted=False)
    text = "\n".join(shown(report, 80))
    assert "rename: m changed 28/200 (14.0 %, 9.9–19.5)." in text
    assert "beyond" not in text
    assert [cell.lines for cell in first_screen(report).rows[0]][-1] == ("0 %", "<1.9 %", "0/200")


def test_noise_without_an_effect_is_said_to_show_none() -> None:
    report = screen(repeated("m", 0.05, 0.0))
    (row,) = (entry for entry in report.models[0].by_transform if entry.transform == "rename")
    assert (row.violations.rate or 0) > 0.15
    sheet = first_screen(report)
    assert sheet.lead[1].startswith("rename: m changed ")
    assert sheet.lead[1].endswith("), so no effect is shown.")
    assert sheet.lead[-1] == "m is noisy: its numbers are what edits changed beyond what asking again did."
    assert sheet.rows[0][4].lines == wording.excess_lines(row.excess, row.noise)


@pytest.mark.slow
def test_an_effect_is_shown_through_noise_and_the_other_edit_shows_none() -> None:
    report = screen(repeated("m", 0.05, 0.15))
    sheet = first_screen(report)
    rename, reorder, *_ = sorted(sheet.lead)[1:]
    assert rename.startswith("rename: m changed ")
    assert rename.endswith("), so an effect is shown.")
    assert reorder.endswith("), so no effect is shown.")


def test_where_the_two_scales_disagree_one_sentence_says_it() -> None:
    wide = Excess(points=0.045, low=-0.037, high=0.126, p=0.3, samples=200)
    assert wording.beyond(wide, Excess(points=0.04, p=0.007)) == (
        "changed 4.5 points more answers than asking again did (95 %: -3.7 to 12.6); an effect is shown by its "
        "pairs of answers (p 0.007), and not by this count of samples"
    )
    above = replace(wide, low=0.001)
    assert wording.beyond(above, Excess(points=0.04, p=0.07)).endswith(
        "but its pairs of answers, which decide, show no effect (p 0.07)"
    )
    # Fewer changes than by asking again are no effect, however sure.
    fewer = replace(wide, points=-0.1, low=-0.2, high=-0.05)
    assert wording.beyond(fewer, Excess(points=-0.1, p=0.001)) == (
        "changed 10.0 points fewer answers than asking again did (95 %: -20.0 to -5.0), so no effect is shown"
    )
    assert wording.span(fewer) == "-20.0 to -5.0"


def test_a_noisy_model_that_ignores_controls_is_told() -> None:
    deaf = [
        audited(
            "m",
            sample(f"s{number:03}"),
            after={
                "rename": [("get", "name")],
                "identity": [("x",) if number < 10 else ("get", "name")],
                "reorder-breaking": [("x",) if 8 <= number < 20 else ("get", "name")],
            },
        )
        for number in range(200)
    ]
    model_ = screen(deaf).models[0]
    assert model_.sensitivity.count > 0
    assert wording.ignores(model_)
    assert any("may not read the edits" in sentence for sentence in first_screen(screen(deaf)).lead)


def test_a_sentence_does_not_contradict_the_interval_beside_it() -> None:
    """Of few samples the interval may be above 0 although the test of pairs, which decides, shows nothing."""
    above = Excess(points=0.442, low=0.144, high=0.717, p=0.125, samples=4)
    assert wording.unproved(above) == (
        "by its pairs of answers, which decide (p 0.12), though the interval is above 0"
    )
    assert wording.unread(above) == "more than 4 samples would tell"
    assert wording.unproved(replace(above, low=-0.1)) == "(p 0.12)"
    assert wording.unread(replace(above, low=-0.1)) == "it may not read the edits"


@pytest.mark.thinned(1)
@pytest.mark.parametrize("number", [1, 3, 6])
def test_noisy_models_fit_the_screen(number: int) -> None:
    models = [repeated(f"a-long-checkpoint-{n}", 0.05, 0.1 * (n % 2), seed=n) for n in range(number)]
    lines = shown(screen(*models), 80)
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


def test_a_name_without_a_version_is_told_with_the_version_that_answered() -> None:
    moving = replace(
        model("openai/gpt-4o", [row("rename", of(1, 9))]), may_move=True, served=("gpt-4o-2024-08-06",)
    )
    lead = " ".join(first_screen(summary(moving)).lead)
    assert "openai/gpt-4o names no version, and its vendor may move it to another one" in lead
    assert "gpt-4o-2024-08-06 answered" in lead
    fixed = replace(moving, may_move=False)
    assert "answered" not in " ".join(first_screen(summary(fixed)).lead)
    for name, undated in (
        ("claude-sonnet-4-5", True), ("claude-sonnet-4-5-20250929", False), ("mistral-large-latest", True),
        ("gpt-4-0613", False), ("gpt-4o-2024-08-06", False), ("gemini-2.0-flash-001", False),
    ):  # fmt: skip
        assert is_undated(name) is undated, name
