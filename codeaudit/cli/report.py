"""`codeaudit report`: a finished run in other clothes."""

import shlex
from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from codeaudit.audit.records import Audited, Held, Violated
from codeaudit.audit.store import EXPLANATIONS, SUMMARY, Manifest
from codeaudit.audit.tables import read_rows
from codeaudit.cli.judged import finished, read_summary, trials
from codeaudit.cli.options import option
from codeaudit.cli.output import show, show_text
from codeaudit.cli.progress import note
from codeaudit.reports.cases import cases
from codeaudit.reports.records import Summary
from codeaudit.reports.registry import FORMATS
from codeaudit.transforms.errors import RunError, SourceError, UsageError
from codeaudit.transforms.records import Sample

if TYPE_CHECKING:
    from codeaudit.reports.render.html.browser import Drawing

MOST_LINES: Final = 60
"""Lines of a function whose dependence graph is drawn."""
STDOUT: Final = Path("-")

FILE: Final = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@option("--html", type=FILE, metavar="FILE", help="One page with everything, that needs nothing else.")
@option("--markdown", type=FILE, metavar="FILE", help="Tables for a README or a pull request.")
@option("--latex", type=FILE, metavar="FILE", help="Tables for a paper: booktabs, the best in bold.")
@option(
    "--csv", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Plain numbers, a file a table."
)
@option(
    "--junit", type=FILE, metavar="FILE", help="A test case for each sample, with the diff of what failed."
)
@option("--format", "form", type=click.Choice(tuple(FORMATS)), default="rich", help="What goes to stdout.")
def report(
    run: Path,
    html: Path | None,
    markdown: Path | None,
    latex: Path | None,
    folder: Path | None,
    junit: Path | None,
    form: str,
) -> int:
    """Render a finished run: as files, or on stdout where none is named. FILE may be `-` for stdout.

    \b
    Examples:
      codeaudit report RUN --html audit.html
      codeaudit report RUN --latex tables.tex --csv numbers/
      codeaudit report RUN --format markdown | gh pr comment --body-file -
    """
    manifest = finished(run)
    summary = read_summary(run / SUMMARY)
    files: dict[Path | None, Callable[[], str]] = {
        markdown: lambda: _markdown(summary),
        latex: lambda: _latex(summary),
        junit: lambda: _junit(run, summary, str(manifest.get("started", ""))),
        html: lambda: _html(run, summary, manifest),
    }
    named = [path for path in (markdown, latex, junit, html) if path is not None]
    if len(set(named)) < len(named):
        raise UsageError("two formats have the same FILE; name one for each")
    for path in named:
        _write(path, files[path]())
    if folder is not None:
        from codeaudit.reports.render.csv import tables

        for name, text in tables(summary).items():
            _write(folder / name, text)
    if not named and folder is None:
        show(summary, form)
    return 0


def _markdown(summary: Summary) -> str:
    from codeaudit.reports.render.markdown import markdown

    return markdown(summary)


def _latex(summary: Summary) -> str:
    from codeaudit.reports.render.latex import latex

    return latex(summary)


def _junit(run: Path, summary: Summary, started: str) -> str:
    from codeaudit.reports.render.junit import junit

    pairs = ((seed, one) for seed, audited in trials(run, summary, None) for one in audited)
    return junit(cases(pairs), started=started)


def _html(run: Path, summary: Summary, manifest: Manifest) -> str:
    from codeaudit.reports.render.html.browser import browser
    from codeaudit.reports.render.html.document import Page, html

    explanations = list(read_rows(run / EXPLANATIONS)) if (run / EXPLANATIONS).exists() else []
    pairs = ((seed, one) for seed, audited in trials(run, summary, None) for one in audited)
    ratios: dict[str, list[float]] = {}
    found = browser(_watched(pairs, ratios), explanations, _drawing)
    return html(Page(summary=summary, browser=found, about=_about(manifest, summary), predictions=ratios))


def _watched(
    pairs: Iterable[tuple[int, Audited]], ratios: dict[str, list[float]]
) -> Iterator[tuple[int, Audited]]:
    """The audited samples; on the way, real-valued answers to variants over those to their originals."""
    for seed, one in pairs:
        for verdict in one.verdicts:
            if verdict.perturbed.kind == "preserving" and isinstance(verdict, Held | Violated):
                before, after = verdict.before.answer, verdict.after.answer
                if (
                    isinstance(before, float)
                    and isinstance(after, float)
                    and before
                    and isfinite(after / before)
                ):
                    ratios.setdefault(one.model, []).append(after / before)
        yield seed, one


def _drawing(sample: Sample) -> "Drawing | None":
    """The dependence graph of a function, where its language can be read and it is not too large to draw."""
    from codeaudit.audit.papers.lines.programs import analyse
    from codeaudit.reports.render.html.browser import Drawing
    from codeaudit.transforms.dependence.layers import bits, layers, reduction

    try:
        program = analyse(sample.source, sample.language)
    except SourceError:
        return None
    before = program.graph.predecessors
    if not 1 < len(before) <= MOST_LINES:
        return None
    return Drawing(
        lines=tuple(line.text for line in program.lines),
        after=tuple(tuple(bits(mask)) for mask in reduction(before)),
        layers=tuple(layers(before)),
    )


def _about(manifest: Manifest, summary: Summary) -> dict[str, str]:
    corpus = manifest.get("corpus", {})
    versions = manifest.get("versions", {})
    trials = int(manifest.get("trials", 1))
    told = {
        "command": shlex.join(map(str, manifest.get("command", ()))),
        "started": str(manifest.get("started")),
        "corpus": f"{summary.corpus}, hash {str(corpus.get('hash', ''))[:16]}",
        "seed": f"{summary.seed}, {trials} trial{'s'[: trials != 1]}",
        "transforms": ", ".join(map(str, manifest.get("transforms", ()))),
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items() if version),
        "machine": str(manifest.get("machine", {}).get("system")),
    }
    for model in summary.models:
        told[f"fingerprint of {model.model}"] = model.fingerprint[:32]
    told |= {f"usage of {name}": text for name, text in _usage(manifest)}
    return told


def _usage(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """What asking each model took, over all sittings."""
    sittings: dict[str, list[Manifest]] = {}
    for each in manifest.get("usage", ()):
        sittings.setdefault(str(each["model"]), []).append(each)
    for name, used in sittings.items():
        requests, read, written = (
            sum(int(each.get(key) or 0) for each in used) for key in ("requests", "tokens_in", "tokens_out")
        )
        costs = [float(each["cost"]) for each in used if each.get("cost") is not None]
        cost = f"; cost {sum(costs):.4g}, in the unit of the prices given" if costs else ""
        yield name, f"{requests:,} requests, {read:,} tokens in, {written:,} out{cost}"


def _write(path: Path, text: str) -> None:
    """Write a file and say so; `-` is stdout.

    Raises:
        RunError: it cannot be written.
    """
    if path == STDOUT:
        show_text(text)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise RunError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
    note(f"{path}: {len(text.encode('utf-8', 'replace')):,} bytes")
