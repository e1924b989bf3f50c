"""The formats: one set of numbers, three forms."""

import io
import itertools
import json
import re
from collections.abc import Iterator

import pytest
from rich.console import Console

from codeaudit.audit.records import Audited
from codeaudit.reports.compare import compare
from codeaudit.reports.records import Comparison, ModelHeader, RunHeader, Summary
from codeaudit.reports.registry import FORMATS
from codeaudit.reports.summarise import summarise
from codeaudit.reports.wording import lines
from tests.reports.test_compare import MODELS, run
from tests.support.audited import Subtokens, audited, sample

GOOD, BAD = ("get", "name"), ("set",)

GOLDEN = """\
reorder: spe-checkpoint kept every answer on 10 samples; vanilla-checkpoint
changed 5/10 (50.0 %, 23.7–76.3).

function-name on stdlib, seed 0: violation rates
model                 reorder         F1  sensitivity  unsteady
───────────────────────────────────────────────────────────────
spe-checkpoint            0 %      100.0       35.0 %       0 %
1.72 M params          0–27.8   drop 0.0    18.1–56.7    <9.2 %
38 of 40 samples         0/10                    7/20      0/38

vanilla-checkpoint     50.0 %      100.0       35.0 %       0 %
1.72 M params       23.7–76.3  drop 10.2    18.1–56.7    <9.2 %
38 of 40 samples         5/10                    7/20      0/38

violation rate: samples with another answer, of those that an edit changed in
text but not in meaning (95 % interval, counts). sensitivity: answers that
changed with the meaning; more is better. unsteady: samples with another answer
to the same input. drop: F1 lost with each sample's worst answer.
left out: 2 models: skipped: 2 × input too long; unjudged: 2 × input too long;
no example of the task: 7 × no label.

function-name on stdlib, seed 0: all transforms together
                                                   over
                              attack violation      all
model                 F1          F1      rate  samples sensitivity unsteady
────────────────────────────────────────────────────────────────────────────
spe-checkpoint     100.0       100.0       0 %      0 %      35.0 %      0 %
1.72 M params               drop 0.0    0–27.8    0–9.2   18.1–56.7   <9.2 %
40 samples               round 100.0      0/10     0/38        7/20     0/38
2 skipped
2 unjudged

vanilla-checkpoint 100.0        89.8    50.0 %   13.2 %      35.0 %      0 %
1.72 M params              drop 10.2 23.7–76.3 5.8–27.3   18.1–56.7   <9.2 %
40 samples                round 89.8      5/10     5/38        7/20     0/38
2 skipped
2 unjudged

spe-checkpoint kept every answer on all 10 movable samples (0 %, 0–27.8).
vanilla-checkpoint changed its answer on 5 of 10 movable samples (50.0 %,
23.7–76.3).
violated movable samples: Cochran's Q 5, p = 0.062 (exact binomial; 0.025 by
chi-square); the models disagree on only 5 inputs.
"""


def records(model: str, flips: bool) -> Iterator[Audited]:
    for n in range(40):
        movable, failed = n % 4 == 0, n % 20 == 19
        after = {"identity": [GOOD]}
        missing = {}
        if movable:
            after["reorder"] = [BAD if flips and n % 8 == k % 2 == 0 else GOOD for k in range(4)]  # type: ignore[misc]
        else:
            missing["reorder"] = ("no other legal order", 4)
        if n % 2 == 0:
            after["reorder-breaking"] = [BAD if n % 3 == 0 else GOOD]  # type: ignore[list-item]
        yield audited(
            model, sample(f"s{n:02}"), before=None if failed else GOOD, after=after, missing=missing
        )


def summary(first: str = "spe-checkpoint", second: str = "vanilla-checkpoint") -> Summary:
    header = RunHeader(
        task="function-name",
        corpus="stdlib",
        seed=0,
        models=tuple(
            ModelHeader(name=name, parameters=1_723_400, fingerprint=name, noise=1e-6)
            for name in (first, second)
        ),
        skipped={"no label": 7},
    )
    stream = [*records(first, False), *records(second, True)]
    return summarise([(0, stream)], task=Subtokens(), header=header)


def shown(report: Summary | Comparison, form: str, width: int = 80) -> str:
    target = io.StringIO()
    FORMATS.get(form)(report, Console(file=target, width=width, color_system=None))
    return target.getvalue()


def tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def test_golden_table_at_80_columns() -> None:
    assert tidy(shown(summary(), "rich")).startswith(GOLDEN)


@pytest.mark.thinned(1)
@pytest.mark.parametrize("width", [80, 100, 200])
def test_every_table_fits_the_console_and_cuts_nothing(width: int) -> None:
    for report in (summary(), compare([run("r", MODELS, seeds=range(3))])):
        text = shown(report, "rich", width)
        assert max(map(len, text.splitlines())) <= width
        assert "…" not in text


def test_a_wide_console_has_one_line_for_each_model() -> None:
    text = shown(summary(), "rich", 200)
    row = next(line for line in text.splitlines() if line.startswith("vanilla-checkpoint"))
    assert "1.72 M params" in row
    assert ", ".join(lines(summary().models[1].violations)) in row


@pytest.mark.parametrize("width", [80, 200])
def test_markup_in_names_is_printed_literally(width: int) -> None:
    text = shown(summary("[red]x", ":smile: [/]"), "rich", width)
    assert "[red]x" in text
    assert ":smile: [/]" in text


def test_names_cannot_drive_the_terminal_or_break_a_row() -> None:
    text = shown(summary("a\x1b[31mb", "c\nd|e"), "markdown")
    assert "\x1b" not in text
    assert "c\ufffdd\\|e" in text


def test_long_names_leave_the_numbers_whole() -> None:
    text = shown(summary("models/" + "deep/" * 30, "b"), "rich")
    assert max(map(len, text.splitlines())) <= 80
    assert "18.1–56.7" in text


@pytest.mark.thinned(3)
@pytest.mark.parametrize("width", range(68, 100, 4))
def test_a_name_that_does_not_fit_breaks_at_a_hyphen(width: int) -> None:
    words = shown(summary("vanilla-java-bugs-checkpoint", "spe-checkpoint"), "rich", width).split()
    whole = "vanilla-java-bugs-checkpoint"
    ends = [0, *(hyphen.end() for hyphen in re.finditer("-", whole)), len(whole)]
    parts = {whole[start:end] for start, end in itertools.combinations(range(len(whole) + 1), 2)}
    pieces = {whole[start:end] for start, end in itertools.combinations(ends, 2)}
    broken = {word for word in words if word in parts and len(word) > 3} - {whole, "bugs"}
    assert broken <= pieces
    assert broken or whole in words


def table_rows(text: str) -> list[list[str]]:
    return [
        [cell.strip().strip("*") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def test_markdown_and_json_and_rich_have_the_same_numbers() -> None:
    report = summary()
    read_back = Summary.from_json(shown(report, "json"))
    assert read_back == report
    cells = {row[0]: row for row in table_rows(shown(report, "markdown")) if len(row) == 9}
    screen = shown(report, "rich", 200)
    for model in read_back.models:
        row = cells[model.model]
        rates = (model.violations, model.all_samples, model.sensitivity)
        assert row[5:8] == [", ".join(lines(rate)) for rate in rates]
        # None of the samples is unsteady: the upper end of the interval is the bound.
        assert row[8] == "0 %, \\<9.2 %, 0/38"
        assert row[3] == f"{100 * model.score.original:.1f}"
        assert row[4].startswith(f"{100 * model.score.attack_worst_sample:.1f}, drop")
        assert all(cell.replace("\\", "") in screen for cell in row)


@pytest.mark.slow
def test_every_markdown_row_has_as_many_cells_as_its_head() -> None:
    for report in (summary("a|b", "c"), compare([run("r", MODELS, seeds=range(3))])):
        width = None
        for line in shown(report, "markdown").splitlines():
            cells = len(re.split(r"(?<!\\)\|", line)) if line.startswith("|") else None
            assert width is None or cells is None or cells == width
            width = cells


def test_transforms_are_shown_with_what_they_could_not_do() -> None:
    text = shown(summary(), "markdown")
    assert "| reorder | keeps meaning | 40/160 | 40 × compiled | 120 × no other legal order |" in text
    assert "no example of the task: 7 × no label" in text


def test_json_is_written_unwrapped() -> None:
    assert json.loads(shown(summary(), "json", width=80))["schema"] == 3


def test_best_is_bold_in_a_comparison() -> None:
    report = compare([run("r", MODELS, seeds=range(5))])
    text = shown(report, "markdown")
    assert "| **1 spe** | **0.0 ± 0.0** | 5 |" in text
    target = io.StringIO()
    console = Console(file=target, width=80, color_system="standard", force_terminal=True)
    FORMATS.get("rich")(report, console)
    assert re.search(r"\x1b\[1m1 spe", target.getvalue())


@pytest.mark.slow
def test_a_comparison_says_its_tests() -> None:
    text = shown(compare([run("r", MODELS, seeds=range(3))]), "markdown")
    assert (
        "Kruskal-Wallis 4.35, p = 0.1, epsilon² 0.87 (exact permutation; 0.037 by chi-square; "
        "smallest reachable 0.1)" in text
    )
    assert "so few trials" in text
    assert "Cochran's Q" in text


def test_an_empty_comparison_is_said() -> None:
    report = summary().statistics.__class__()
    assert "Nothing to compare" in shown(report, "rich")
    assert "Nothing to compare" in shown(report, "markdown")


def test_an_empty_run_prints_dashes() -> None:
    header = RunHeader(
        task="function-name",
        corpus="empty",
        seed=0,
        models=(ModelHeader(name="m", parameters=None, fingerprint="m", noise=0.0),),
    )
    report = summarise([(0, [])], task=Subtokens(), header=header)
    rows = [row[3:] for row in table_rows(shown(report, "markdown")) if row[0] == "m"]
    assert rows[:2] == [["-"] * 3, ["-"] * 6]
    assert "nothing could be judged" in shown(report, "rich")
