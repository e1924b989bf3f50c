"""Finished runs, read back from their folders: tables for pandas, the summary, reports.

`codeaudit.open_run` and `codeaudit.run` return a `Run`. The commands gate, report, compare and explain read
runs here, too. Nothing here asks a model or writes into a run folder.
"""

import os
import shlex
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import StringIO
from itertools import groupby
from math import isclose, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from codeaudit.audit.bound_files import BoundFolder, Table, TableFolder
from codeaudit.audit.checks import is_whole, load_json, shown
from codeaudit.audit.integrity import VARIANT, RowCounts, check_files, check_rows, repeated, restored
from codeaudit.audit.interface import Task
from codeaudit.audit.records import NOT_REPEATED, Audited, Held, Unjudged, Verdict, Violated
from codeaudit.audit.rows import read_audited, read_by_sample, with_replies
from codeaudit.audit.run import judge, score_of
from codeaudit.audit.store import (
    ANALYSIS,
    EXPLANATIONS,
    MANIFEST,
    REPEATS,
    SCHEMA,
    SUITE,
    SUMMARY,
    VERDICTS,
    Manifest,
    RunFolder,
    TableRow,
    is_extra,
    read_rows,
)
from codeaudit.audit.tasks.recorded import RecordedTask, recorded_task
from codeaudit.keywords import says_what_is_meant
from codeaudit.known_runs import recall
from codeaudit.reports import wording
from codeaudit.reports.records import ComparedRun, Comparison, ModelSummary, Rate, Summary
from codeaudit.transforms.errors import RunError, SourceError
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.records import KEEPS_TEXT, Sample
from codeaudit.transforms.registry import kind_of
from codeaudit.transforms.remembering import analysis_digest

COLUMNS: Final = ("seed", "sample", "transform", "kind", "variant", "status", "input", "draw")


def check_suite(suite: Table, folder: Path, manifest: Manifest) -> None:
    """Check a suite against itself, the registered transforms and the manifest.

    - A transform is of the kind that is registered for it.
    - A control and a meaning-keeping variant are other texts than the original; kinds that keep the text
      do not.
    - In a suite that the run drew itself, each sample stands under every transform with all variants,
      applied or not. A sample that was drawn in addition has all variants of the transforms that it was
      drawn for.
    - Trials are those of the manifest, and so are the models that the command asked for.

    Raises:
        RunError: one of these does not hold.
    """
    for fault in _faults(suite, manifest):
        raise RunError(f"{fault}; {restored(folder)}")


def _faults(suite: Table, manifest: Manifest) -> Iterator[str]:
    place = f"{str(suite)!r}"
    models = manifest.get("options", {}).get("model") or []
    if isinstance(models, list) and models and len(models) != len(manifest.get("models", ())):
        yield f"{MANIFEST} beside {place} has another number of models than were asked for"
    drawn = "suite" not in manifest.get("corpus", {})
    transforms, seeds = manifest.get("transforms", ()), set[object]()
    kinds: dict[str, object] = {}
    for (seed, sample), group in groupby(
        read_rows(suite, columns=COLUMNS), key=lambda row: (row["seed"], row["sample"])
    ):
        seeds.add(seed)
        rows = list(group)
        for row in rows:
            name, kind = row["transform"], row["kind"]
            if name not in kinds:
                kinds[name] = kind_of(name) or kind
            if kinds[name] != kind:
                yield f"{place} has {name!r} as {kind!r}; it is {kinds[name]!r}"
        yield from _texts(place, sample, rows)
        if drawn:
            yield from _gaps(place, sample, rows, transforms, manifest)
    trials = manifest.get("trials", 1)
    if is_whole(trials) and len(seeds) != trials:
        yield f"{place} has {len(seeds)} trials of {shown(trials)}"


def _texts(place: str, sample: str, rows: Sequence[TableRow]) -> Iterator[str]:
    """Whether what should be the original is, and nothing else."""
    perturbed = [row for row in rows if row["status"] == "perturbed" and row["input"] is not None]
    originals = {row["input"] for row in perturbed if row["kind"] in KEEPS_TEXT - {"swap"}}
    if len(originals) > 1:
        yield f"{place} has two originals of sample {sample!r}"
    for row in perturbed:
        if row["kind"] not in KEEPS_TEXT and row["input"] in originals:
            yield f"{place} has the original of sample {sample!r} as a variant under {row['transform']!r}"


def _gaps(
    place: str, sample: str, rows: Sequence[TableRow], transforms: Sequence[str], manifest: Manifest
) -> Iterator[str]:
    """Whether every transform was tried, and with all variants."""
    numbers: dict[str, Counter[int]] = {}
    for row in rows:
        numbers.setdefault(row["transform"], Counter())[row["variant"]] += 1
    kinds: Mapping[str, str] = {row["transform"]: row["kind"] for row in rows}
    missing = [] if any(map(is_extra, rows)) else [name for name in transforms if name not in numbers]
    if missing:
        yield f"{place} lacks the variants of sample {sample!r} under {missing[0]!r}"
    variants, repeats = manifest.get("variants"), manifest.get("asked_again")
    number = variants if isinstance(variants, int) else 0
    # Earlier versions asked the original again once.
    again = max(number, repeats if isinstance(repeats, int) else 0) if REPEATS in manifest else 1
    for name, counts in numbers.items():
        expected = again if kinds[name] == "identity" else 1 if kinds[name] in KEEPS_TEXT else number
        if expected and counts != Counter(range(expected)):
            yield f"{place} has {counts.total()} variants of sample {sample!r} under {name!r}, not {expected}"


if TYPE_CHECKING:
    import pandas as pd

    from codeaudit.reports.render.html.document import Drawing

FINISHED: Final = "finished"
MOST_LINES: Final = 60
"""Longest function, in lines, whose dependence graph is drawn."""
NOT_DRAWN: Final = "not drawn, because the run was made with another version of the analysis"
SAMPLE: Final = ("seed", "sample", "language", "path", "line", "source", "label")


@dataclass(frozen=True)
class Run:
    """A finished run. Tables are read from its folder when they are asked for.

    Attributes
    ----------
    path
        The run folder; absolute, if `codeaudit.run` or `codeaudit.open_run` made the record.
    """

    path: Path
    known: Summary | None = field(default=None, repr=False, compare=False)
    """The summary that follows from its verdicts, if this machine made or checked the run before."""
    bound: BoundFolder | None = field(default=None, repr=False, compare=False)
    """Its files as they were compared with the manifest, if they were."""

    @cached_property
    def manifest(self) -> Manifest:
        """The content of `manifest.json`: options, versions, corpus, fingerprints of the models."""
        return RunFolder(self.path).manifest() if self.bound is None else self.bound.manifest

    @property
    def files(self) -> TableFolder:
        """Where its tables are read from. What was compared is read as it was then."""
        return self.path if self.bound is None else self.bound

    @property
    def is_bound(self) -> bool:
        """Whether the manifest binds the files by their hashes; runs of the first schema do not."""
        return self.manifest.get("schema") == SCHEMA

    @property
    def task(self) -> Task:
        """The task; where it is neither built in nor installed, what the run recorded of it.

        Raises
        ------
        RunError
            The manifest names no task, or an earlier version recorded nothing of it.
        """
        try:
            return recorded_task(str(self.manifest["task"]), self.manifest)
        except KeyError as error:
            raise RunError(f"{str(self.path / MANIFEST)!r} lacks the field {error}") from error

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """The kind of each transform of the run, as its suite has it."""
        rows = read_rows(self.files / SUITE, columns=("transform", "kind"))
        return {row["transform"]: row["kind"] for row in rows}

    @cached_property
    def summary(self) -> Summary:
        """The content of `summary.json` as a record; `summary.models[0].violations.rate` is a rate.

        Raises
        ------
        RunError
            The file is missing or damaged.
        """
        return read_summary(self.files / SUMMARY)

    def samples(self) -> "pd.DataFrame":
        """One row per sample and trial.

        Returns
        -------
        Columns `seed`, `sample` (its id), `language`, `path`, `line`, `source` (the text that was perturbed)
        and `label` (a text, a number, a list of texts, or None).

        Raises
        ------
        RunError
            The suite is missing or damaged.
        """
        import pandas as pd

        # The suite has a row per variant; those of one sample repeat its columns.
        rows = {(row["seed"], row["sample"]): row for row in read_rows(self.files / SUITE)}
        table = pd.DataFrame(list(rows.values()), columns=list(SAMPLE))
        table["label"] = table["label"].map(_decoded)
        return table

    def verdicts(self) -> "pd.DataFrame":
        """One row per model, sample, transform and variant.

        Returns
        -------
        The columns of `verdicts.parquet`. `outcome` is `held`, `violated` or `unjudged`. `before` and `after`
        are the answers (a text, a number or a list of texts), None if the model gave none. `reason` says why
        a row is unjudged. `kind` is `preserving`, `control` or `identity`.

        Raises
        ------
        RunError
            The table is missing or damaged.
        """
        import pandas as pd

        table = pd.DataFrame(list(read_rows(self.files / VERDICTS)))
        for name in ("before", "after"):
            table[name] = table[name].map(_decoded)
        return table

    def violations(self) -> "pd.DataFrame":
        """The rows of `verdicts` in which a meaning-keeping transform changed the answer.

        Returns
        -------
        Those rows with the columns `path`, `line`, `source` and `perturbed`: the text before and after.

        Raises
        ------
        RunError
            A table is missing or damaged.
        """
        import pandas as pd

        verdicts = self.verdicts()
        violated = verdicts[(verdicts["outcome"] == "violated") & (verdicts["kind"] == "preserving")]
        perturbed = [row for row in read_rows(self.files / SUITE) if row["status"] == "perturbed"]
        texts = pd.DataFrame(perturbed, columns=[*VARIANT, "path", "line", "source", "perturbed"])
        return violated.merge(texts, on=list(VARIANT), how="left")

    def to_html(self, path: str | Path | None = None) -> str:
        """The report as one HTML page that needs no other file.

        Parameters
        ----------
        path
            Also write the page to this file.

        Raises
        ------
        RunError
            A table is missing or damaged, or the file cannot be written.
        """
        from codeaudit.reports.render.html.document import Page, browser, html

        explained = self.files / EXPLANATIONS
        explanations = list(read_rows(explained)) if explained.exists() else []
        # Filled while the browser reads the records: one pass over the tables for both.
        ratios: dict[str, list[float]] = {}
        records = with_replies(self.files, self.audited(by_sample=True))
        same = self.manifest.get(ANALYSIS) == analysis_digest()
        content = browser(_watched(records, ratios), explanations, _drawing if same else _no_drawing)
        about = _about(self.manifest, self.summary) | ({} if same else {"dependence graphs": NOT_DRAWN})
        lines = tuple(_opening(self.manifest, self.summary))
        text = html(Page(summary=self.summary, browser=content, asked=lines, about=about, predictions=ratios))
        if path is not None:
            write_file(Path(path), text)
        return text

    def to_junit(self) -> str:
        """The report as JUnit XML: a test case for each sample, with the diff of each violation."""
        from codeaudit.reports.cases import cases
        from codeaudit.reports.render.junit import junit

        return junit(cases(self.audited()), started=str(self.manifest.get("started", "")))

    def audited(
        self, transforms: frozenset[str] | None = None, *, by_sample: bool = False
    ) -> Iterator[tuple[int, Audited]]:
        """The seed of the trial and the record, for every model and sample.

        `transforms` restricts the verdicts, and `by_sample` orders the records, as in `trials`.
        """
        for seed, records in self.trials(transforms, by_sample=by_sample):
            for record in records:
                yield seed, record

    def trials(
        self, transforms: frozenset[str] | None, *, by_sample: bool = False
    ) -> Iterator[tuple[int, Iterable[Audited]]]:
        """The records by the seed of their trial, with the chosen transforms only.

        The identity stays. All controls stay, unless one of them is chosen. They stand model by model, or,
        which costs less to read, sample by sample.

        Raises
        ------
        RunError
            A table is missing or damaged, or a verdict does not follow from its answers.
        """
        # The rules of runs of the first schema may have been others.
        checks = self.is_bound and self.known is None
        # In the order of the trials.
        for seed in dict.fromkeys(row["seed"] for row in read_rows(self.files / SUITE, columns=("seed",))):
            if by_sample:
                models = [str(model.get("name")) for model in self.manifest["models"]]
                audited = read_by_sample(self.files, models, seed=seed)
            else:
                audited = read_audited(self.files, seed=seed)
            records = self._followed(audited) if checks else audited
            if transforms is not None:
                # `--transform rename` must not drop the controls, which the sensitivity needs. A named
                # control replaces all others.
                others = not any(self.kinds.get(name) == "control" for name in transforms)
                records = (_only(record, transforms, controls=others) for record in records)
            yield seed, records

    def check_verdicts(self) -> None:
        """Check that every verdict and score follows from the answers beside it, as `trials` does.

        Raises
        ------
        RunError
            One does not.
        """
        if self.known is not None:
            return
        for _, records in self.trials(None, by_sample=True):
            for _ in records:
                pass

    def _followed(self, records: Iterable[Audited]) -> Iterator[Audited]:
        """The records unchanged; each verdict is judged again from its answers.

        Somebody who edits a table can compute the hashes anew, but then has to change the answers, too.
        """
        task = self.task
        # The verdicts of a task that is not here are believed as they were recorded.
        if isinstance(task, RecordedTask):
            yield from records
            return
        try:
            models = self.manifest["models"]
            noise = {str(model["name"]): float(model.get("noise", 0.0)) for model in models}
            scales = {str(model["name"]): model.get("scale", "") for model in models}
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(f"{str(self.path / MANIFEST)!r} lacks a field: {error}") from error
        for record in records:
            scored = not record.verdicts or record.score == score_of(task, record.before, record.sample)
            for verdict, score in zip(record.verdicts, record.after_scores, strict=True):
                perturbed = verdict.perturbed
                again = judge(
                    perturbed,
                    record.before,
                    verdict.after,
                    record.sample,
                    task=task,
                    noise=noise[record.model],
                    scale=scales[record.model],
                )
                same = again == verdict and _shifted_alike(again, verdict)
                same = same and score == score_of(task, verdict.after, perturbed.sample)
                if not same or not scored:
                    raise RunError(
                        f"{str(self.path / VERDICTS)!r}: a verdict on sample {record.sample.id!r} under "
                        f"{perturbed.transform!r} does not follow from its answers: it was edited, or an "
                        f"earlier version judged it; run the audit again: {repeated(self.path)}"
                    )
            yield record

    def _repr_html_(self) -> str:
        """The tables of the summary, for notebooks."""
        from rich.console import Console

        from codeaudit.reports.render.table import render

        # `force_jupyter=False`, because rich would otherwise display the table itself, besides returning it.
        console = Console(record=True, file=StringIO(), width=120, force_jupyter=False)
        render(self.summary, console)
        return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


@says_what_is_meant
def open_run(folder: str | Path) -> Run:
    """Open a finished run.

    Parameters
    ----------
    folder
        The run folder, which `codeaudit run --out` or `codeaudit.run` wrote.

    Raises
    ------
    RunError
        There is no run, it is not finished, or its files do not belong together.

    Examples
    --------
    >>> run = codeaudit.open_run("codeaudit-runs/monday")  # doctest: +SKIP
    >>> run.summary.models[0].violations.rate  # doctest: +SKIP
    0.12
    """
    opened = read_run(Path(folder))
    return replace(opened, path=opened.path.absolute())


def read_run(path: Path) -> Run:
    """Open a finished run; its messages name the folder as `path` does.

    Raises:
        RunError: there is no such run, it is not finished, or its files do not belong together.
    """
    run = Run(path)
    manifest = run.manifest
    if manifest.get("state") != FINISHED or not (path / SUMMARY).exists():
        # The tables of an unfinished run may be those of an earlier one.
        raise RunError(f"the run at {str(path)!r} is not finished; go on with it first: {repeated(path)}")
    # Runs of the first schema hold no hashes. They can be read; a gate does not believe them.
    if run.is_bound:
        run = Run(path, known=recall(manifest), bound=check_files(path, manifest))
        if run.known is None:
            _check_tables(run)
    return run


def _check_tables(run: Run) -> None:
    """Check that suite, verdicts and summary of a run are of the same models and have the same numbers.

    Raises:
        RunError: they have not, or nothing was audited.
    """
    names = [(str(entry["name"]), entry.get("fingerprint")) for entry in run.manifest.get("models", ())]
    if not names:
        raise RunError(f"{str(run.path / MANIFEST)!r} names no model: nothing was audited")
    if len({name for name, _ in names}) < len(names):
        raise RunError(f"{str(run.path / MANIFEST)!r} is damaged: it names a model twice")
    check_suite(run.files / SUITE, run.path, run.manifest)
    rows = check_rows(run.files, [name for name, _ in names])
    if [(model.model, model.fingerprint) for model in run.summary.models] != names:
        other = f"{str(run.path / MANIFEST)!r} and {SUMMARY} are of different models"
        raise RunError(f"{other}; {restored(run.path)}")
    for model in run.summary.models:
        counts = rows[model.model]
        rates = {"preserving": model.pairs, "control": model.sensitivity, "identity": model.noise_floor}
        recorded = {kind: (rate.count, rate.total - rate.count) for kind, rate in rates.items()}
        unjudged = sum(number for row, number in counts.items() if row.outcome == "unjudged")
        counted = {kind: (_pooled(counts, kind, "violated"), _pooled(counts, kind, "held")) for kind in rates}
        same = (
            recorded == counted and unjudged == model.unjudged and _by_transform(model) == _by_outcome(counts)
        )
        parts = [(part.violations, part.pairs) for part in model.by_transform]
        if not same or not all(_agree(*part) for part in [(model.violations, model.pairs), *parts]):
            raise RunError(
                f"{str(run.path / SUMMARY)!r} and {VERDICTS} have different counts; {restored(run.path)}"
            )


def _by_transform(model: ModelSummary) -> Counter[tuple[str, str]]:
    """The number of pairs that a summary has of each transform and outcome."""
    counts: Counter[tuple[str, str]] = Counter()
    for part in model.by_transform:
        counts[part.transform, "violated"] = part.pairs.count
        counts[part.transform, "held"] = part.pairs.total - part.pairs.count
        counts[part.transform, "unjudged"] = part.unjudged
    return counts


def _by_outcome(rows: Mapping[RowCounts, int]) -> Counter[tuple[str, str]]:
    """The number of verdicts of each transform and outcome."""
    counts: Counter[tuple[str, str]] = Counter()
    for row, number in rows.items():
        if row.outcome != NOT_REPEATED:
            counts[row.transform, row.outcome] += number
    return counts


def _agree(samples: Rate, pairs: Rate) -> bool:
    """Whether the counts of samples can be of the pairs, and each share is that of its counts."""
    return (
        (samples.count > 0) == (pairs.count > 0)
        and samples.count <= pairs.count
        and samples.total <= pairs.total
        and all(rate.total == 0 or rate.rate == rate.count / rate.total for rate in (samples, pairs))
    )


def _pooled(rows: Mapping[RowCounts, int], kind: str, outcome: str) -> int:
    """The number of verdicts with an outcome in the rate over all transforms of a kind.

    Samples drawn in addition are in that rate only if the kind has one transform (`reports.summarise`).
    """
    single = len({row.transform for row in rows if row.kind == kind}) == 1
    return sum(
        number
        for row, number in rows.items()
        if row.kind == kind and row.outcome == outcome and (single or not row.extra)
    )


def read_summary(path: Table) -> Summary:
    """The summary in a file.

    Raises:
        RunError: the file cannot be read, or holds no summary.
    """
    try:
        return Summary.from_json(path.read_bytes().decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}") from error
    except RunError as error:
        raise RunError(f"{str(path)!r}: {error}") from error


def write_file(path: Path, text: str) -> None:
    """Write a text, making the folder if needed. A lone surrogate is written as an escape.

    The file appears as a whole or not at all, and an earlier one stays if the new one cannot be written.

    Raises:
        RunError: the file cannot be written.
    """
    # Sources of a corpus may hold lone surrogates, which UTF-8 cannot write.
    data = text.encode("utf-8", "backslashreplace")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A device or a pipe, such as /dev/stdout, must not be replaced by a file.
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        # Where the path is a link, the file that it leads to is replaced.
        place = Path(os.path.realpath(path))
        with RunFolder(place.parent).replacing(place.name) as partial:
            partial.write_bytes(data)
            if place.exists():
                shutil.copymode(place, partial)
    except OSError as error:
        raise RunError(f"cannot write {str(path)!r}: {error.strerror or error}") from error


def _decoded(text: str | None) -> object:
    """An answer or a label from its JSON; None for a failed answer, whose reason has its own column."""
    try:
        value = None if text is None else load_json(text)
    except ValueError as error:
        raise RunError(f"a table of the run is damaged: {error}") from error
    # A failure is an object without an answer, and draws stand beside the answer.
    return value.get("answer") if isinstance(value, dict) else value


# ── restricted to some transforms ────────────────────────────────────────────────────────────────────────


def _only(audited: Audited, transforms: frozenset[str], *, controls: bool) -> Audited:
    """The record with these transforms and the identity; with all `controls`, if that is wanted."""
    kinds = {verdict.perturbed.transform: verdict.perturbed.kind for verdict in audited.verdicts}
    kinds |= {gap.transform: gap.kind for gap in audited.not_applied}

    def chosen(name: str) -> bool:
        kind = kinds[name]
        return name in transforms or kind == "identity" or (kind == "control" and controls)

    pairs = [
        (verdict, score)
        for verdict, score in zip(audited.verdicts, audited.after_scores, strict=True)
        if chosen(verdict.perturbed.transform)
    ]
    return replace(
        audited,
        verdicts=tuple(verdict for verdict, _ in pairs),
        after_scores=tuple(score for _, score in pairs),
        not_applied=tuple(gap for gap in audited.not_applied if chosen(gap.transform)),
    )


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────


def _watched(
    pairs: Iterable[tuple[int, Audited]], ratios: dict[str, list[float]]
) -> Iterator[tuple[int, Audited]]:
    """The records unchanged. On the way, ratios of numeric answers (after / before) go into `ratios`."""
    for seed, record in pairs:
        for verdict in record.verdicts:
            if verdict.perturbed.kind == "preserving" and isinstance(verdict, Held | Violated):
                before, after = verdict.before.answer, verdict.after.answer
                if (
                    isinstance(before, float)
                    and isinstance(after, float)
                    and before
                    and isfinite(after / before)
                ):
                    ratios.setdefault(record.model, []).append(after / before)
        yield seed, record


def _shifted_alike(one: Verdict, other: Verdict) -> bool:
    """Whether two verdicts have the same shift of probability but for arithmetic."""
    if isinstance(one, Unjudged) or isinstance(other, Unjudged) or one.shift == other.shift:
        return True
    return one.shift is not None and other.shift is not None and isclose(one.shift, other.shift, abs_tol=1e-9)


def _no_drawing(_: Sample) -> None:
    """None: a graph that the run did not see would not explain it."""


def _drawing(sample: Sample) -> "Drawing | None":
    """The dependence graph of a function; None if it cannot be parsed or has more than `MOST_LINES` lines."""
    from codeaudit.audit.papers.lines.words import analyse
    from codeaudit.reports.render.html.document import Drawing
    from codeaudit.transforms.dependence.graph import bits, layers, reduction

    try:
        program = analyse(sample.source, sample.language)
    except SourceError:
        return None
    before = program.graph.predecessors
    # A single line has no order, and the drawing of a long function cannot be read.
    if not 1 < len(before) <= MOST_LINES:
        return None
    return Drawing(
        lines=tuple(line.text for line in program.lines),
        after=tuple(tuple(bits(mask)) for mask in reduction(before)),
        layers=tuple(layers(before)),
    )


def comparison_page(comparison: Comparison, compared: Sequence[tuple[Run, ComparedRun]]) -> str:
    """The page of a comparison of runs. Each run stands beside what was compared of it."""
    from codeaudit.reports.render.html.comparison import RunOnPage, comparison_html

    pages = [RunOnPage(run=side, about=_about(run.manifest, side.summary)) for run, side in compared]
    return comparison_html(comparison, pages)


def _about(manifest: Manifest, summary: Summary) -> dict[str, str]:
    """The facts about a run for the foot of the page."""
    corpus = manifest.get("corpus", {})
    versions = manifest.get("versions", {})
    number = int(manifest.get("trials", 1))
    about = {
        "command": shlex.join(map(str, manifest.get("command", ()))),
        "started": str(manifest.get("started")),
        "corpus": f"{summary.corpus}, hash {str(corpus.get('hash', ''))[:16]}",
        "seed": f"{summary.seed}, {counted(number, 'trial')}",
        "transforms": ", ".join(map(str, manifest.get("transforms", ()))),
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items() if version),
        "machine": str(manifest.get("machine", {}).get("system")),
    }
    for model in summary.models:
        about[f"fingerprint of {model.model}"] = model.fingerprint[:32]
    about |= {f"usage of {name}": text for name, text in _usage(manifest)}
    return about


def _opening(manifest: Manifest, summary: Summary) -> Iterator[str]:
    """When which models were asked what, and what that cost."""
    started = str(manifest.get("started") or "")
    when = f"{started[:10]}, {started[11:16]} UTC: " if len(started) > 15 else ""
    samples = max((model.samples for model in summary.models), default=0)
    names = wording.listed([wording.plain(model.model) for model in summary.models])
    kinds = {row.transform: row.kind for model in summary.models for row in model.by_transform}
    kept = [name for name, kind in kinds.items() if kind in ("preserving", "paper", "prose")]
    changed = [name for name, kind in kinds.items() if kind == "control"]
    edits = f"before and after {wording.listed(kept)}" if kept else "as they are"
    if changed:
        edits += f", and the controls {wording.listed(changed)}, which change the meaning"
    yield (
        f"{when}{names} answered {summary.task} for {samples:,} samples of {wording.plain(summary.corpus)}, "
        f"{edits}."
    )
    used = [f"{name}: {text}" for name, text in _usage(manifest)]
    yield f"Cost: {'; '.join(used)}." if used else "Cost: none, because the models ran without requests."


def _usage(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """The usage of each model, summed over all processes that worked on the run."""
    by_model: dict[str, list[Mapping[str, Any]]] = {}
    for entry in manifest.get("usage", ()):
        by_model.setdefault(str(entry["model"]), []).append(entry)
    for name, used in by_model.items():
        requests, read, written = (
            sum(int(entry.get(key) or 0) for entry in used) for key in ("requests", "tokens_in", "tokens_out")
        )
        costs = [float(entry["cost"]) for entry in used if entry.get("cost") is not None]
        cost = f"; cost {sum(costs):.4g}, in the unit of the prices given" if costs else ""
        yield name, f"{counted(requests, 'request')}, {counted(read, 'token')} in, {written:,} out{cost}"
