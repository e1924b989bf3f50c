"""LaTeX and CSV: the numbers of the other formats in other clothes."""

import csv
import io
import re

import pytest

from codeaudit.reports.compare import compare
from codeaudit.reports.first_screen import every_sheet
from codeaudit.reports.records import Summary
from codeaudit.reports.render.csv import tables
from codeaudit.reports.render.latex import escape, latex
from codeaudit.reports.render.markdown import markdown
from codeaudit.reports.summarise import with_attacks
from tests.reports.test_attacks import FOUND
from tests.reports.test_compare import MODELS, run


def summary() -> Summary:
    return with_attacks(run("r", MODELS, seeds=range(3)).summary, FOUND)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_latex_has_every_table_and_cell() -> None:
    text = latex(summary())
    sheets = every_sheet(summary())
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == len(sheets)
    for sheet in sheets:
        assert rf"\caption{{{escape(sheet.title)}}}" in text
        for row in sheet.rows:
            assert all(escape(", ".join(cell.lines)) in text for cell in row)
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    for line in body:
        columns = len(re.findall(r"(?<!\\)&", line)) + 1
        assert columns in {len(sheet.columns) for sheet in sheets}


@pytest.mark.slow
def test_the_best_are_bold_in_latex_as_in_markdown() -> None:
    report = compare([run("r", MODELS, seeds=range(5))])
    assert r"\textbf{1 spe}" in latex(report)
    assert latex(report).count(r"\textbf{") == markdown(report).count("**") // 2


def test_no_name_is_obeyed_by_latex() -> None:
    hostile = r"\input{/etc/passwd} 50% $x_1^2$ a&b #~{}"
    escaped = escape(hostile)
    assert not re.search(r"\\input", escaped)
    left = re.sub(r"\\text[a-z]+\{\}|\\[{}$&#%_]", "", escaped)
    assert not set(left) & set("\\{}$&#%_^~")


def test_csv_holds_the_numbers_of_the_summary() -> None:
    made = summary()
    files = tables(made)
    models = rows(files["models.csv"])
    for row, model in zip(models, made.models, strict=True):
        assert row["model"] == model.model
        assert float(row["original"]) == model.score.original
        assert float(row["violations_rate"]) == model.violations.rate
        assert int(row["sensitivity_total"]) == model.sensitivity.total
    trials = rows(files["trials.csv"])
    own = [(model.model, trial) for model in made.models for trial in model.trials]
    for row, (name, trial) in zip(trials, own, strict=True):
        assert (row["model"], int(row["seed"])) == (name, trial.seed)
        assert float(row["original"]) == trial.score.original
        assert int(row["violations_count"]) == trial.violations.count
    by_transform = rows(files["transforms.csv"])
    assert len(by_transform) == sum(len(model.by_transform) for model in made.models)
    attacks = rows(files["attacks.csv"])
    assert [int(row["violated"]) for row in attacks] == list(made.models[0].attacks[0].curve)
    assert "attacks.csv" not in tables(run("r", MODELS).summary)


def test_no_name_is_a_formula_in_a_spreadsheet() -> None:
    made = run("r", {"=cmd()": ("1", 0.0)}).summary
    assert rows(tables(made)["models.csv"])[0]["model"] == "'=cmd()"
