"""The HTML page of a comparison of runs: what can be said, the runs beside each other, and the tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codeaudit.reports import wording
from codeaudit.reports.compare import labels
from codeaudit.reports.first_screen import first_screen
from codeaudit.reports.records import ComparedRun, Comparison, ModelSummary, Summary
from codeaudit.reports.render.html.charts import charts, diagrams, escaped, sentences
from codeaudit.reports.render.html.document import document, drawn, facts, table, violations_first
from codeaudit.reports.sheets import sheets
from codeaudit.reports.verdict import verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOnPage:
    """A compared run on the page."""

    run: ComparedRun
    about: Mapping[str, str]
    """Origin of its numbers: versions, seed, hashes, machine."""


def comparison_html(comparison: Comparison, runs: Sequence[RunOnPage]) -> str:
    """Return the page as text. `comparison` is the comparison of these runs."""
    models = _models([page.run for page in runs])
    title = f"codeaudit: {wording.listed(list(models))} compared"
    # The verdict has their lead.
    tests = "".join(table(replace(sheet, lead=())) for sheet in sheets(comparison))
    sections = {
        "summary": ("Verdict", "Verdict", sentences(verdict(comparison), "Nothing could be compared.")),
        "runs": ("Runs", "The runs", "".join(map(_run, runs))),
        "figures": ("Figures", "Figures", _figures(comparison, runs, models)),
        "comparison": ("Comparison", "Comparison of the models", tests),
        "about": ("About", "About these runs", "".join(map(_about, runs))),
    }
    return document(title, sections, printed="Printed comparison. The page itself also has the tests.")


def _models(runs: Sequence[ComparedRun]) -> dict[str, ModelSummary]:
    """The models under the names of the comparison; of one that stands in several runs the first summary."""
    label_of = labels(runs)
    by_name: dict[str, ModelSummary] = {}
    for run in runs:
        for model in run.summary.models:
            name = label_of[run.name, model.model]
            by_name.setdefault(name, replace(model, model=name))
    return by_name


def _run(page: RunOnPage) -> str:
    sheet = violations_first(replace(first_screen(page.run.summary), lead=()))
    return table(replace(sheet, title=f"{page.run.name}: {sheet.title}"))


def _figures(comparison: Comparison, runs: Sequence[RunOnPage], models: Mapping[str, ModelSummary]) -> str:
    first = runs[0].run.summary
    # Rates of different corpora do not belong into one picture.
    if any(page.run.summary.corpus != first.corpus for page in runs):
        return drawn(list(models), diagrams(comparison))
    together = Summary(
        task=first.task,
        corpus=first.corpus,
        seed=first.seed,
        models=tuple(models.values()),
        statistics=comparison,
    )
    return drawn(list(models), charts(together, {}))


def _about(page: RunOnPage) -> str:
    return f"<h3>{escaped(page.run.name)}</h3>{facts(page.about)}"
