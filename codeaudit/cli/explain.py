"""The command `codeaudit explain`: the smallest edit that still changes the answer, for violations of a run.

The run's models are loaded again and asked; answers come from the cache if they are there.
"""

import json
import re
import shlex
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from heapq import nsmallest
from pathlib import Path
from typing import Any, Final, TypeAlias

import click
from rich.syntax import Syntax
from rich.text import Text

from codeaudit.audit.bound_files import Table
from codeaudit.audit.cache import ModelMemory, answers_scope
from codeaudit.audit.checks import DAMAGED
from codeaudit.audit.integrity import VARIANT
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.provider import BASE_URL
from codeaudit.audit.records import Explained, Gone, Predicted, Violated
from codeaudit.audit.registry import TASKS
from codeaudit.audit.rows import explanation_row, keep_explanations, prediction_of, read_suite
from codeaudit.audit.run import AuditSetup, NoMonitor, RunProgress
from codeaudit.audit.search.shrinking import explain as shrink
from codeaudit.audit.store import MANIFEST, SUITE, VERDICTS, RunFolder, read_rows
from codeaudit.auditing import answer_cache
from codeaudit.bound_arguments import of_model
from codeaudit.cli.options import (
    FORMATS,
    POSITIVE,
    PROXY,
    OneAddress,
    Whole,
    format_option,
    limit_options,
    option,
    path_option,
    transform_option,
)
from codeaudit.cli.output import PROGRESS, note, note_unbound, show_parts, show_sheet, show_text
from codeaudit.finished_runs import Run, read_run
from codeaudit.gating import named_transforms
from codeaudit.options import RunOptions, listed
from codeaudit.preparing import load_models, spending_of, usage_noted
from codeaudit.reports.explanations import (
    RepeatCounts,
    answers,
    diff,
    grounds,
    headline,
    moves,
    now_first,
    other_unit,
    replies,
    reply_text,
    searched,
    shifted,
    steadiness,
    tally,
)
from codeaudit.reports.render.markdown import escape, of_sheets
from codeaudit.retyping import is_bundled, words
from codeaudit.transforms.assumptions import Assumption
from codeaudit.transforms.errors import RunError, UsageError
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.records import Kind, Perturbed
from codeaudit.transforms.registry import rests_on


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedViolation:
    """A violation as the run recorded it."""

    model: str
    seed: int
    """The seed of the trial."""
    violated: Violated
    asked: RepeatCounts
    """The repeats of its sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanations:
    """The results for some violations of a run."""

    explained: tuple[Explained, ...]
    gone: tuple[Gone, ...]
    """Violations that the model does not show any more."""


EXPLAINED: Final[tuple[Kind, ...]] = ("preserving", "paper", "prose")
"""The kinds of transforms whose changed answers are violations."""


def violations(
    run: Run,
    *,
    models: Sequence[str] = (),
    sample: str | None = None,
    transforms: Sequence[str] = (),
    limit: int = 0,
) -> list[RecordedViolation]:
    """The chosen violations of a run; of each sample and transform the first variants come first.

    Those of steady samples come before those of unsteady ones, because an answer that also changed without
    any edit explains nothing.

    `sample` is a sample's id or the beginning of one. Without it, `limit` is the largest number of violations
    per model; 0 for all. Empty `models` or `transforms` choose all of them.

    Raises:
        RunError: the run has no verdicts, or no such sample.
        UsageError: the run has no such model, or several samples whose ids begin so.
    """
    names = _models(run, models)
    place = run.files / VERDICTS
    if sample is not None:
        every = read_rows(place, columns=("model", "sample"))
        sample = _whole(sample, {row["sample"] for row in every if row["model"] in names})

    repeats = _repeats(place)

    def keys(model: str) -> Iterator[tuple[Any, ...]]:
        for row in read_rows(place, columns=("model", "kind", "outcome", *VARIANT)):
            if (
                row["model"] == model
                and row["kind"] in EXPLAINED
                and row["outcome"] == "violated"
                and (sample is None or row["sample"] == sample)
                and (not transforms or row["transform"] in transforms)
            ):
                # By variant first: with a limit each sample and transform has its turn before second
                # variants do.
                unsteady = repeats[model, row["seed"], row["sample"]].changed > 0
                yield unsteady, row["variant"], row["seed"], row["sample"], row["transform"]

    # Only what is chosen is kept, because the rows of a large run do not fit into memory.
    most = limit if sample is None else 0
    chosen = {name: nsmallest(most, keys(name)) if most else sorted(keys(name)) for name in names}
    wanted = {(name, *key[2:], key[1]) for name, group in chosen.items() for key in group}
    rows = {
        key: row
        for row in read_rows(place)
        if (key := tuple(row[name] for name in ("model", *VARIANT))) in wanted
    }
    perturbed = _variants(run, {key[1:] for key in wanted})
    records = []
    for name, group in chosen.items():
        for _, variant, *others in group:
            key = (*others, variant)
            if key not in perturbed:
                raise RunError(
                    f"{SUITE} and {VERDICTS} in {str(run.path)!r} are of different runs; run the audit again"
                )
            violated = _violated(place, rows[name, *key], perturbed[key])
            if violated is not None:
                asked = repeats[name, key[0], key[1]]
                records.append(RecordedViolation(model=name, seed=key[0], violated=violated, asked=asked))
    return records


def _repeats(place: Table) -> Mapping[tuple[str, int, str], RepeatCounts]:
    """The judged repeats by model, trial and sample."""
    repeats: defaultdict[tuple[str, int, str], RepeatCounts] = defaultdict(RepeatCounts)
    for row in read_rows(place, kind="identity", columns=("model", "kind", "outcome", *VARIANT)):
        if row["outcome"] != "unjudged":
            key = (row["model"], row["seed"], row["sample"])
            old = repeats[key]
            repeats[key] = RepeatCounts(old.repeats + 1, old.changed + (row["outcome"] == "violated"))
    return repeats


def explain_violations(
    run: Run,
    chosen: Sequence[RecordedViolation],
    *,
    device: str,
    batch_size: int,
    given: Mapping[str, Any],
    progress: RunProgress,
) -> Explanations:
    """Shrink each violation, and keep the results in the run folder; after an interruption, too.

    `given` are fields of `RunOptions` and replace those of the run; limits are spent anew. What else the run
    recorded acts only if it is harmless (`codeaudit.retyping`). Violations of a model that has changed since
    are not kept: its answers are not those of the run.

    Raises:
        UsageError: something that acts is named by the run only.
        ModelError: a model cannot be loaded or cannot answer.
    """
    # Only where the models run may differ; everything that decides their answers is that of the run.
    options = replace(
        RunOptions.of_manifest(_field(run, "options"), run.path / MANIFEST),
        **{"device": device, "batch_size": batch_size, "cache": None, **given},
    )
    _demand_typed(options, run, {violation.model for violation in chosen}, given)
    results: list[Explained | Gone] = []
    changed: set[str] = set()
    try:
        results.extend(_shrunk(options, run, chosen, progress, changed))
    finally:
        explained = tuple(shrunk for shrunk in results if isinstance(shrunk, Explained))
        try:
            keep_explanations(
                RunFolder(run.path), [shrunk for shrunk in explained if shrunk.model not in changed]
            )
        except RunError as error:
            # A run may lie in a folder of somebody else, or of a finished job.
            progress.note(f"the explanations are shown and not kept: {error}")
    return Explanations(explained=explained, gone=tuple(gone for gone in results if isinstance(gone, Gone)))


def _shrunk(
    options: RunOptions,
    run: Run,
    chosen: Sequence[RecordedViolation],
    progress: RunProgress,
    changed: set[str],
) -> Iterator[Explained | Gone]:
    """Each violation at its smallest; `changed` receives the models that are not as they were in the run."""
    recorded = {str(entry["name"]): entry["fingerprint"] for entry in _field(run, "models")}
    specs = _specs(run)
    numbers = {name: place for place, name in enumerate(specs, start=1)}
    task = TASKS.get(_field(run, "task"))
    spending = spending_of(options)
    with answer_cache(options, RunFolder(run.path), progress) as cache:
        for name in dict.fromkeys(violation.model for violation in chosen):
            place = [numbers[name]]
            (model,) = load_models(options, (specs[name],), {}, spending=spending, places=place)
            # A checkpoint may have been trained further since. Its answers are then asked again, under its
            # new fingerprint.
            if model.fingerprint != recorded[name]:
                changed.add(name)
                progress.note(
                    f"{name} is not as it was in the run: its violations are looked at anew, not kept there"
                )
            memory = ModelMemory(
                cache=cache,
                fingerprint=answers_scope(model.fingerprint, task),
                run=str(_field(run, "codeaudit")),
            )
            setup = AuditSetup(
                model=model, task=task, memory=memory, monitor=NoMonitor(), batch_size=options.batch_size
            )
            mine = [violation for violation in chosen if violation.model == name]
            with (
                usage_noted(model, progress),
                progress.counting(name, len(mine), unit="violations") as monitor,
            ):
                for violation in mine:
                    yield shrink(violation.violated, setup, seed=violation.seed)
                    monitor.answered(1, recalled=False)


def _specs(run: Run) -> dict[str, str]:
    """The SPEC of each model of a run, by its name.

    Raises:
        RunError: the manifest is damaged.
    """
    names = [str(entry["name"]) for entry in _field(run, "models")]
    specs = RunOptions.of_manifest(_field(run, "options"), run.path / MANIFEST).model
    if len(specs) != len(names):
        raise RunError(
            f"{str(run.path / MANIFEST)!r} is damaged: it has another number of models than options"
        )
    return dict(zip(names, specs, strict=True))


def _permitted(run: Run, chosen: Sequence[RecordedViolation]) -> list[RecordedViolation]:
    """The violations of models that come with codeaudit: they may be asked again though no user named them.

    A run may be a stranger's. Its other models are code, folders and addresses that only its manifest names.

    Raises:
        UsageError: there is none.
    """
    specs = _specs(run)
    bundled = [violation for violation in chosen if is_bundled(specs[violation.model])]
    others = dict.fromkeys(
        f"--model {shlex.quote(violation.model)}" for violation in chosen if violation not in bundled
    )
    if not bundled:
        raise UsageError(
            "explain asks the models again, and only the run names them; if you trust it, type which: "
            + " ".join(others)
        )
    if others:
        note(f"only models that come with codeaudit are asked again; for the others add {' '.join(others)}")
    return bundled


def _demand_typed(options: RunOptions, run: Run, models: AbstractSet[str], given: Mapping[str, Any]) -> None:
    """Check that nothing that the run recorded of these models acts unless it was typed.

    Raises:
        UsageError: something would; the message has the words to type.
    """
    specs = list(enumerate(_specs(run).items(), start=1))
    places = [place for place, (name, _) in specs if name in models]
    chosen = [spec for place, (_, spec) in specs if place in places]
    recorded: dict[str, Any] = {"model": chosen, "task": _field(run, "task")}
    # A model with an address of its own is not asked at that of the run.
    hosted = [
        "base_url" in catalogue.accepted_options([spec])
        and BASE_URL not in of_model(options.arguments, place, None)
        for place, spec in zip(places, chosen, strict=True)
    ]
    if any(hosted) and "base_url" not in given:
        recorded["base_url"] = options.base_url
    if any(map(catalogue.accepted, chosen)) and "model_argument" not in given:
        recorded["model_argument"] = [
            argument.text for argument in options.arguments if argument.place in (0, *places)
        ]
    needed = [word for name, word in words(recorded) if name != "model"]
    if needed:
        raise UsageError(
            f"{str(run.path / MANIFEST)!r} names addresses or files, and a file starts nothing; if you trust "
            f"it, type them again: {' '.join(needed)}"
        )


def _field(run: Run, name: str) -> Any:
    """A field of the manifest.

    Raises:
        RunError: the manifest lacks it.
    """
    if name not in run.manifest:
        raise RunError(f"{str(run.path / MANIFEST)!r} is damaged: it has no {name!r}")
    return run.manifest[name]


def _models(run: Run, wanted: Sequence[str]) -> tuple[str, ...]:
    known = [str(entry["name"]) for entry in _field(run, "models")]
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise UsageError(f"the run has no model {name!r}; {hint}")
    return tuple(wanted or known)


def _whole(start: str, known: set[str]) -> str:
    """The id of the one sample that begins with `start`."""
    # Ids are long hashes, so the beginning of one is enough if it is the only one.
    fits = sorted(sample for sample in known if sample.startswith(start))
    if start in known or len(fits) == 1:
        return start if start in known else fits[0]
    if fits:
        raise UsageError(
            f"{len(fits)} samples begin with {start!r}: {', '.join(fits[:3])} …; give more of the id"
        )
    hint = f"it has {len(known):,}, such as {', '.join(sorted(known)[:3])}" if known else "it has none"
    raise RunError(f"the run has no sample {start!r} with a verdict; {hint}")


def _variants(run: Run, wanted: set[tuple[Any, ...]]) -> dict[tuple[Any, ...], Perturbed]:
    """The variants with these seeds, samples, transforms and numbers, read from the suite."""
    variants: dict[tuple[Any, ...], Perturbed] = {}
    for seed in sorted({key[0] for key in wanted}):
        for case in read_suite(run.files / SUITE, seed=seed):
            for outcome in case.outcomes:
                key = (seed, case.sample.id, outcome.transform, outcome.variant)
                if isinstance(outcome, Perturbed) and key in wanted:
                    variants[key] = outcome
    return variants


def _violated(path: Table, row: Mapping[str, Any], perturbed: Perturbed) -> Violated | None:
    try:
        before, after = prediction_of(row, "before"), prediction_of(row, "after")
    except (RunError, *DAMAGED) as error:
        raise RunError(f"table {str(path)!r} is damaged: sample {row['sample']!r}: {error}") from error
    if isinstance(before, Predicted) and isinstance(after, Predicted):
        moved = {"deviation": row["deviation"], "shift": row.get("shift")}
        return Violated(perturbed=perturbed, before=before, after=after, **moved)
    return None


REPLY_LINES: Final = 12
REPLY_WIDTH: Final = 300
"""Lines of a reply that are shown, and characters of each."""
SPREAD: Final = 50
"""Violations of each model that are explained if no sample is named."""


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("sample", required=False, metavar="[SAMPLE_ID]")
@option(
    "--model",
    multiple=True,
    metavar="NAME",
    help="Only violations of this model, which is asked again; repeatable. Models that come with codeaudit "
    "need not be named; others are asked only if they are.",
)
@option("--task", metavar="NAME", help="The run's task, where it is py/MODULE:OBJECT: permits its code.")
@option(
    "-M",
    "--model-argument",
    multiple=True,
    metavar="KEY=VALUE",
    help="Arguments of the models, in place of those of the run; needed where these are more than numbers. "
    "2:KEY=VALUE is for the second model of the run.",
)
@option(
    "--base-url",
    cls=OneAddress,
    metavar="URL",
    help="Address of the endpoint. Needed if the run's is not that of your environment.",
)
@transform_option("Only violations under these transforms.")
@option(
    "--limit",
    type=Whole(min=0),
    default=SPREAD,
    metavar="N",
    help="Largest number of violations per model, taken from the samples in turn; 0 for all.",
)
@option(
    "--show",
    type=Whole(min=0),
    default=5,
    metavar="N",
    help="Diffs shown; the table counts all.",
)
@format_option(*FORMATS)
@option(
    "--evidence",
    is_flag=True,
    help="Also show how it is known of each edit that it keeps the meaning, and what is assumed of code "
    "elsewhere.",
)
@option("--device", default="auto", metavar="NAME", help="Where models run: auto, cpu, cuda, …")
@option("--batch-size", type=POSITIVE, default=32, metavar="N", help="Number of queries asked at once.")
@path_option("--cache", "DIR", "Folder of answers that runs share.  [default: the user's cache folder]")
@PROXY
@limit_options
def explain(
    run: Path,
    sample: str | None,
    model: tuple[str, ...],
    task: str | None,
    transform: str | None,
    limit: int,
    show: int,
    form: str,
    evidence: bool,
    device: str,
    batch_size: int,
    **replacing: Any,
) -> int:
    """Shrink the violations of a run to the smallest edit that still flips the answer.

    Each violation is an edit of several moves (renamed variables, blocks in another order). Moves are taken
    away, and orders brought nearer to the original, while the answer stays flipped; every step is a legal
    perturbation. Without a sample, violations of the whole run are explained, and a table shows which moves
    flip most. The results are kept in the run folder.

    Each step asks the model. Models that come with codeaudit are asked without more; name others with
    --model, because a run may be somebody else's, and reading it must not start what it names. A limit of
    the run on requests, tokens or cost holds here, too, and is spent anew; --max-requests, --max-tokens
    and --max-cost replace it.

    \b
    Examples:
      codeaudit explain codeaudit-runs/20260101-120000-function-name
      codeaudit explain RUN 4f1d2c --model vanilla-checkpoint --transform reorder
      codeaudit explain RUN --limit 0 --show 0
    """
    opened = read_run(run)
    note_unbound(opened)
    opened.check_verdicts()
    if task is not None and task != _field(opened, "task"):
        raise UsageError(f"the run is of the task {_field(opened, 'task')!r}, not {task!r}")
    names = sorted(named_transforms(listed(transform), opened)) if transform else ()
    chosen = violations(opened, models=model, sample=sample, transforms=names, limit=limit)
    if not chosen:
        if not any(model.pairs.total for model in opened.summary.models):
            reason = f"nothing was judged in {str(run)!r}; codeaudit report tells why"
            raise RunError(f"nothing to explain: {reason}")
        where = f"on sample {sample}" if sample else "in the run"
        whose = f" of {' and '.join(model)}" if model else ""
        edit = f"under {transform}" if transform else "under an edit that keeps the meaning"
        note(f"nothing to explain: no answer{whose} changed {edit} {where}")
        return 0
    if not model:
        chosen = _permitted(opened, chosen)
        model = tuple(dict.fromkeys(violation.model for violation in chosen))
    if limit and sample is None:
        every = _violated_pairs(opened, model, names)
        if every > len(chosen):
            note(f"{len(chosen):,} of {counted(every, 'violation')} are explained; --limit 0 for all")
    done = explain_violations(
        opened,
        chosen,
        device=device,
        batch_size=batch_size,
        given={name: value for name, value in replacing.items() if value not in (None, ())},
        progress=PROGRESS,
    )
    for gone in done.gone[:3]:
        note(
            f"no violation any more: {gone.model}, sample {gone.violated.perturbed.sample.id}: {gone.reason}"
        )
    if len(done.gone) > 3:
        note(f"{len(done.gone):,} violations in all are none any more: the model is not the one of the run")
    repeats = {
        (violation.model, violation.seed, violation.violated.perturbed.sample.id): violation.asked
        for violation in chosen
    }
    most = len(done.explained) if sample else show
    _show(done.explained, repeats, form, most, evidence=evidence)
    if form != "json" and most < len(done.explained):
        note(f"diffs shown: {most:,} of {len(done.explained):,}; --show {len(done.explained)} for all")
    return 0


def _violated_pairs(run: Run, models: Sequence[str], transforms: Sequence[str]) -> int:
    """The number of violations, from the summary: the table of a large run takes long to read."""
    return sum(
        row.pairs.count
        for model in run.summary.models
        if not models or model.model in models
        for row in model.by_transform
        if row.kind in EXPLAINED and (not transforms or row.transform in transforms)
    )


Repeated: TypeAlias = Mapping[tuple[str, int, str], RepeatCounts]
"""The repeats by model, trial and sample."""


def _repeat_counts(shrunk: Explained, repeats: Repeated) -> RepeatCounts:
    return repeats.get((shrunk.model, shrunk.seed, shrunk.violated.perturbed.sample.id), RepeatCounts())


def _show(explained: Sequence[Explained], repeats: Repeated, form: str, most: int, *, evidence: bool) -> None:
    if form == "json":
        rows = [_row(shrunk, _repeat_counts(shrunk, repeats), evidence=evidence) for shrunk in explained]
        show_text(json.dumps(rows, indent=2) + "\n")
        return
    for shrunk in explained[:most]:
        steady = steadiness(_repeat_counts(shrunk, repeats))
        basis = grounds(shrunk) if evidence else []
        show_text(_markdown(shrunk, steady, basis)) if form == "markdown" else _show_diff(
            shrunk, steady, basis
        )
    if len(explained) > 1:
        sheet = tally(explained)
        if form == "markdown":
            show_text(of_sheets([sheet]))
        else:
            show_sheet(sheet)


def _show_diff(shrunk: Explained, steady: str, basis: Sequence[str]) -> None:
    before, after = answers(shrunk)
    lines = "\n".join(diff(shrunk))
    show_parts(Text(headline(shrunk), style="bold"), Text(moves(shrunk), style="dim"), *map(Text, basis))
    if sys.stdout.isatty():
        show_parts(Syntax(lines, "diff", background_color="default", word_wrap=True))
    else:
        # A diff whose long lines are wrapped is none for the next program.
        show_text(f"{lines}\n")
    if other := other_unit(shrunk):
        show_parts(Text(f"beside it\n{_indented(_short(other))}\n", style="dim"))
    repeats = f"repeats {steady}\n" if steady else ""
    moved = f"shift   {shift}\n" if (shift := shifted(shrunk)) else ""
    query = f"query   {asked}\n" if (asked := searched(shrunk)) else ""
    show_parts(Text(f"{query}before  {before}\nafter   {after}\n{moved}{repeats}"))
    number, first = now_first(shrunk)
    if first:
        show_parts(Text(f"now first: candidate {number}\n{_indented(_short(first))}\n", style="dim"))
    for side, reply in zip(("before", "after"), replies(shrunk), strict=True):
        if reply:
            show_parts(Text(f"reply {side}\n{_indented(_short(reply))}\n", style="dim"))


def _assumption(row: Assumption) -> dict[str, Any]:
    """An entry of a ledger as JSON."""
    return asdict(row) | {"settled_by": sorted(row.settled_by)}


def _row(shrunk: Explained, counts: RepeatCounts, *, evidence: bool) -> dict[str, Any]:
    """An explanation as JSON, with the repeats of its sample, and what the model wrote, if that was kept."""
    sides = {"before": shrunk.minimal.before, "after": shrunk.minimal.after}
    edit = shrunk.minimal.perturbed
    basis = {"evidence": edit.evidence, "rests_on": [_assumption(row) for row in rests_on(edit)]}
    query, (number, first) = searched(shrunk), now_first(shrunk)
    return {
        **explanation_row(shrunk),
        **({"query": query} if query else {}),
        **({"now_first": int(number), "now_first_source": first} if number else {}),
        **({} if shrunk.minimal.shift is None else {"shift": shrunk.minimal.shift}),
        "repeats": counts.repeats,
        "repeats_changed": counts.changed,
        **(basis if evidence else {}),
        **{f"reply_{name}": reply_text(side) for name, side in sides.items() if side.replies},
    }


def _short(reply: str) -> str:
    """The first lines of a reply; `answers.parquet` has all of it."""
    lines = reply.splitlines()
    more = f"\n… {counted(len(lines) - REPLY_LINES, 'line')} more" if len(lines) > REPLY_LINES else ""
    return "\n".join(line[:REPLY_WIDTH] for line in lines[:REPLY_LINES]) + more


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _markdown(shrunk: Explained, steady: str, basis: Sequence[str]) -> str:
    before, after = answers(shrunk)
    body = "\n".join(diff(shrunk))
    # Code with ``` in a docstring would end the block: the fence is longer than each run of backticks.
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`+", body))])
    text = f"- {escape(moves(shrunk))}\n"
    text += f"- query: {escape(asked)}\n" if (asked := searched(shrunk)) else ""
    text += f"- before: {escape(before)}\n- after: {escape(after)}"
    text += f"\n- shift: {moved}" if (moved := shifted(shrunk)) else ""
    text += f"\n- repeats: {escape(steady)}" if steady else ""
    text += "".join(f"\n- {escape(line)}" for line in basis)
    other = other_unit(shrunk)
    beside = f"beside it:\n\n{_indented(_indented(_short(other)))}\n\n" if other else ""
    number, first = now_first(shrunk)
    if first:
        beside += f"now first: candidate {number}\n\n{_indented(_indented(_short(first)))}\n\n"
    tail = beside + "".join(
        f"reply {side}:\n\n{_indented(_indented(_short(reply)))}\n\n"
        for side, reply in zip(("before", "after"), replies(shrunk), strict=True)
        if reply
    )
    return f"#### {escape(headline(shrunk))}\n\n{text}\n\n{fence}diff\n{body}\n{fence}\n\n{tail}"
