"""Judges a finished run against limits and against a baseline: `codeaudit.gate`, `codeaudit gate`."""

import json
import os
import shlex
from codecs import BOM_UTF8
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from functools import lru_cache
from math import isinf
from pathlib import Path
from typing import Final

from codeaudit.audit.checks import load_json
from codeaudit.audit.integrity import DIGEST, check_signature, read_key, repeated
from codeaudit.audit.records import ANSWER_CHANGES, Answer, Audited, Verdict, predicted_from_json
from codeaudit.audit.rows import original_hash
from codeaudit.audit.store import (
    BESIDE_COLUMNS,
    MANIFEST,
    MOVABLE,
    SUITE,
    SUMMARY,
    VERDICTS,
    count_rows,
    is_extra,
    read_about,
    read_rows,
)
from codeaudit.audit.suite import standard_transforms
from codeaudit.audit.tasks.recorded import RecordedTask
from codeaudit.baselines import read_baseline_file, write_baseline
from codeaudit.finished_runs import Run, read_run
from codeaudit.keywords import says_what_is_meant, taking
from codeaudit.known_runs import remember
from codeaudit.option_table import declared
from codeaudit.options import DEFAULTS, check_values, listed
from codeaudit.reports.checks import Gate
from codeaudit.reports.compare import compare as compare_runs
from codeaudit.reports.gate import Limits
from codeaudit.reports.gate import gate as decide
from codeaudit.reports.gate_plan import GatePlan, plan
from codeaudit.reports.judged import AskedVariant, Judged
from codeaudit.reports.matching import may_be_noisy
from codeaudit.reports.records import (
    ComparedRun,
    Comparison,
    Flip,
    ModelHeader,
    RunHeader,
    ScoredPair,
    Summary,
)
from codeaudit.reports.statistics.power import chance_of_noise, detectable
from codeaudit.reports.summarise import summarise
from codeaudit.reports.wording import is_share
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import RunError, UsageError
from codeaudit.transforms.permission import permit
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import Kind
from codeaudit.transforms.registry import expand, kind_of

PAIR: Final = (
    "model",
    "seed",
    "sample",
    "transform",
    "kind",
    "variant",
    "input",
    "outcome",
    "draw",
    "score_before",
)
"""The columns of verdicts that a gate reads."""
SCORES: Final = ("score_before", "score_after")
"""The columns of verdicts with the scores of a pair."""
SOURCE: Final = ("sample", "language", "path", "line", "source", "asked", "draw", *BESIDE_COLUMNS)
"""The columns of the suite that tell which text was asked about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedRun:
    """The result of a gate with the runs that it was decided from."""

    gate: Gate
    run: Run
    now: Judged
    """With the chosen transforms only."""
    baseline: Judged | None
    chosen: frozenset[str] | None
    """The transforms that are judged; `None` for all that keep the meaning."""


@dataclass(frozen=True, slots=True)
class GateArguments(Limits):
    """The arguments of `gate`, the limits among them."""

    run: Run | str | Path
    baseline: Run | str | Path | None = None
    _: KW_ONLY
    transforms: str | Sequence[str] | None = None
    dependence: Dependence = DEFAULTS.dependence
    sign_key: str | Path | None = None


@says_what_is_meant
@taking(GateArguments)
def gate(arguments: GateArguments) -> Gate:
    """Judge a finished run against limits, and against an earlier run.

    Parameters
    ----------
    run
        A run or its folder.
    baseline
        An earlier run, its folder, or the file that `codeaudit report RUN --baseline FILE` wrote: the gate
        fails if violations rose.
    transforms
        Names or families, in a list or with commas between. By default all that keep the meaning.
    max_violation_rate, min_sensitivity
        Limits for the share of changed answers, from 0 to 1: under meaning-keeping transforms and under
        controls.
    max_f1_drop
        Limit for the loss of the task's score under attack, in the unit of the score.
    max_missed
        Limit for the share of flaws that are found before an edit and missed after it, from 0 to 1: for tasks
        that find flaws.
    max_score_drop
        Limit for the loss of the score without attack, against the baseline; in points for a score that is a
        share, else as a share of the baseline's. By default `margin`.
    margin
        A rise against the baseline up to this share passes.
    alpha
        Probability that an unchanged model fails by chance, between 0 and 1.
    max_unjudged
        Nothing is decided if a larger share of the answers is missing.
    max_newly_unjudged, min_shared
        Nothing is decided if, of the pairs that the baseline judged, a larger share is unjudged now, or a
        smaller share is in the run at all.
    allow_insensitive
        Pass models that do not react to their input: whose answers no control changes, do not go with the
        labels, or are nearly all equal. By default such a model fails, and a run without 20 judged controls
        cannot be judged.
    must_decide
        Do not pass a model whose noise leaves open if it exceeds a limit: it cannot be judged. By default it
        passes, and a note says how many more samples would decide it.
    dependence
        `"paper"` judges the orders by names only of a run under that relation, and nothing else. They may
        change the meaning, so such a run is not judged otherwise.
    sign_key
        A file with the secret that both runs were signed with. By default signatures are not checked.

    Returns
    -------
    A record with `passed`, `exit_code` (0 passed, 1 failed, 3 could not be judged) and `checks`.

    Raises
    ------
    UsageError
        Neither a baseline nor a limit is given, the baseline is a bare `summary.json`, a value is out of
        range, a transform is not in the run, or there is no such key.
    RunError
        A run does not exist, is not finished, its files do not belong together, the baseline file was
        edited or cut, or one of them was not signed with the key.

    Examples
    --------
    >>> codeaudit.gate("codeaudit-runs/monday", max_violation_rate=0.05).passed  # doctest: +SKIP
    True
    """
    limits = Limits(**{name: getattr(arguments, name) for name in declared(Limits)})
    check_values(transforms=arguments.transforms, dependence=arguments.dependence)
    check_values(declared(Limits), **asdict(limits))
    if arguments.baseline is None and not limits.hold_alone:
        raise UsageError(f"{NOTHING}: give baseline, max_violation_rate, max_f1_drop or min_sensitivity")
    permit(arguments.transforms)
    names = None if arguments.transforms is None else listed(arguments.transforms)
    key = None if arguments.sign_key is None else Path(arguments.sign_key)
    before = None if arguments.baseline is None else _path(arguments.baseline)
    return decided(
        _path(arguments.run), before, limits, names, dependence=arguments.dependence, sign_key=key
    ).gate


def decided(
    run: Path,
    baseline: Path | None,
    limits: Limits,
    transforms: Sequence[str] | None,
    *,
    dependence: Dependence = DEFAULTS.dependence,
    sign_key: Path | None = None,
    bare: bool = False,
) -> GatedRun:
    """The work of `gate`. A `bare` gate needs no limit: it only asks whether the models react.

    Raises:
        UsageError, RunError: as `gate`.
    """
    # First, because a path that does not exist is told before options that do not fit.
    opened = read_run(run)
    _check_limits(limits, baseline, bare=bare)
    key = None if sign_key is None else read_key(sign_key)
    now = read_judged(opened, key, pairs=baseline is not None)
    _check_relation(now, dependence)
    chosen = None if transforms is None else named_transforms(transforms, opened)
    if chosen is not None:
        # The other kinds stay: answers under controls are needed for the limit of the sensitivity.
        unjudged = {
            key: reasons
            for key, reasons in now.unjudged.items()
            if key[1] != "preserving" or key[2] in chosen
        }
        now = replace(now, unjudged=unjudged)
    # From the verdicts: the numbers of `summary.json` decide nothing. Those of a known run did not change.
    if opened.known is None or chosen is not None or dependence == "paper":
        now = replace(now, summary=recomputed(opened, chosen, dependence))
        if chosen is None and dependence == "strict":
            remember(opened.manifest, now.summary)
    if baseline is None and any(may_be_noisy(model) for model in now.summary.models):
        # The gate needs the answers of each sample to know what noise can explain.
        now = _with_pairs(opened, now)
    _check_drop(now, limits)
    if limits.max_missed is not None and not now.summary.finding:
        raise UsageError(f"--max-missed is for tasks that find flaws; the run asked {now.summary.task}")
    before = None if baseline is None else read_baseline(baseline, key)
    if dependence == "paper":
        now, before = _by_names(now), None if before is None else _by_names(before)
    decision = decide(now, limits, baseline=before, transforms=chosen)
    return GatedRun(gate=decision, run=opened, now=now, baseline=before, chosen=chosen)


def _check_relation(judged: Judged, dependence: Dependence) -> None:
    if "paper" in judged.kinds and dependence != "paper":
        raise RunError(
            f"{judged.name!r} has orders by names only, which may change the meaning; "
            "give --dependence paper to judge these, or run the audit without it"
        )
    if dependence == "paper" and "paper" not in judged.kinds:
        raise RunError(f"{judged.name!r} has no orders by names only; leave out --dependence paper")


def _by_names(judged: Judged) -> Judged:
    """The verdicts on orders by names only, as if they kept the meaning, and none that do keep it."""
    flips = tuple(
        replace(flip, kind="preserving") if flip.kind == "paper" else flip
        for flip in judged.flips
        if flip.kind != "preserving"
    )
    unjudged: dict[tuple[str, Kind, str], Mapping[str, int]] = {
        (model, "preserving" if kind == "paper" else kind, name): reasons
        for (model, kind, name), reasons in judged.unjudged.items()
        if kind != "preserving"
    }
    return replace(judged, flips=flips, unjudged=unjudged)


def _records_by_names(audited: Audited) -> Audited:
    """The verdicts of a record on orders by names only (`_by_names`)."""
    pairs = [
        (_keeping(verdict), score)
        for verdict, score in zip(audited.verdicts, audited.after_scores, strict=True)
        if verdict.perturbed.kind != "preserving"
    ]
    gaps = [
        replace(gap, kind="preserving") if gap.kind == "paper" else gap
        for gap in audited.not_applied
        if gap.kind != "preserving"
    ]
    return replace(
        audited,
        verdicts=tuple(verdict for verdict, _ in pairs),
        after_scores=tuple(score for _, score in pairs),
        not_applied=tuple(gaps),
    )


def _keeping(verdict: Verdict) -> Verdict:
    if verdict.perturbed.kind != "paper":
        return verdict
    return replace(verdict, perturbed=replace(verdict.perturbed, kind="preserving"))


def _path(run: Run | str | Path) -> Path:
    return run.path if isinstance(run, Run) else Path(run)


NOTHING: Final = "nothing to hold the run to"


def _check_limits(limits: Limits, baseline: Path | None, *, bare: bool = False) -> None:
    if baseline is None and not limits.hold_alone and not bare:
        raise UsageError(
            f"{NOTHING}: give --baseline RUN, --max-violation-rate, --max-f1-drop, --max-missed or "
            "--min-sensitivity"
        )
    if baseline is None and limits.max_score_drop is not None:
        raise UsageError("--max-score-drop is against a baseline: give --baseline RUN")
    _check_alpha(limits)


def _check_alpha(limits: Limits) -> None:
    if not 0 < limits.alpha < 1:
        raise UsageError(f"--alpha {limits.alpha:g} must lie between 0 and 1")


def _check_drop(now: Judged, limits: Limits) -> None:
    limit = limits.max_f1_drop
    if limit is None or limit <= 1:
        return
    if isinf(limit):
        raise UsageError("--max-f1-drop inf allows every drop; leave it out")
    # A score from 0 to 1 cannot lose more than 1, so `--max-f1-drop 5` was meant as 5 %. An error such as
    # MAPE, or a score with a unit of its own, can lose more.
    if any(model.score.better == "higher" and is_share(model.score) for model in now.summary.models):
        raise UsageError(f"--max-f1-drop {limit:g} is more than a whole score; write {limit:g}%")


def read_judged(run: Run, key: bytes | None = None, *, pairs: bool = True) -> Judged:
    """The verdicts of a finished run, as the gate takes them. Its summary has the models, but numbers only if
    the run is known. Without `pairs` it has the counts of unjudged pairs alone, which suffice for limits.

    Raises:
        RunError: the run is of an earlier version, was not signed with the key, has no model or no verdict,
            or its tables do not fit each other.
    """
    if not run.is_bound:
        raise RunError(
            f"the run at {str(run.path)!r} is of an earlier version, which did not bind its files together; "
            f"run the audit again: {repeated(run.path)}"
        )
    # A part passes or fails by chance: it has few samples.
    if (shard := run.manifest.get("shard")) is not None:
        raise RunError(
            f"the run at {str(run.path)!r} is shard {shard.get('number')}/{shard.get('of')} of a run; join "
            "all shards first: codeaudit merge FOLDER… --out DIR"
        )
    if key is not None:
        check_signature(run.path, run.manifest, key)
    header = _header(run)
    summary = run.known or summarise([], task=run.task, header=header)
    return _judged(run, summary, pairs=pairs)


def _header(run: Run) -> RunHeader:
    """The facts of a run from its manifest, without its summary."""
    try:
        return RunHeader(
            task=str(run.manifest["task"]),
            corpus=str(read_about(run.files / VERDICTS)["corpus"]),
            seed=int(run.manifest["seed"]),
            models=tuple(ModelHeader.of(facts) for facts in run.manifest["models"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(
            f"{str(run.path / MANIFEST)!r} lacks a field or holds no such value: {error}"
        ) from error


def _judged(run: Run, summary: Summary, *, pairs: bool = True) -> Judged:
    unjudged: defaultdict[tuple[str, Kind, str], Counter[str]] = defaultdict(Counter)
    kinds = set[Kind]()
    counted = count_rows(run.files / VERDICTS, ("model", "kind", "transform", "outcome", "reason"))
    for (model, kind, transform, outcome, reason), number in counted.items():
        kinds.add(kind)
        if outcome == "unjudged":
            unjudged[model, kind, transform][reason] += number
    judged = Judged(
        name=str(run.path),
        run=str(run.manifest.get("codeaudit", "")),
        summary=summary,
        kinds=frozenset(kinds),
        unjudged=unjudged,
    )
    return _with_pairs(run, judged) if pairs else judged


def _with_pairs(run: Run, judged: Judged) -> Judged:
    flips: list[Flip] = []
    originals: dict[str, str] = {}
    gaps: defaultdict[str, list[AskedVariant]] = defaultdict(list)
    scores: defaultdict[str, dict[tuple[int, str], float]] = defaultdict(dict)
    finding = run.task.finding
    detected = set[tuple[str, int, str]]()
    # Answers are read only where a flaw that an edit hides counts apart.
    for row in read_rows(run.files / VERDICTS, columns=(*PAIR, "before") if finding else PAIR):
        if finding and _answer_of(row["before"]) == finding:
            detected.add((row["model"], row["seed"], row["sample"]))
        # The unchanged input of a sample: its hash shows that both runs asked about the same text.
        if row["kind"] == "identity":
            originals[row["sample"]] = row["input"]
        if row["score_before"] is not None and not is_extra(row):
            scores[row["model"]][row["seed"], row["sample"]] = row["score_before"]
        if row["outcome"] != "unjudged":
            flips.append(Flip.of(row))
        elif row["kind"] in ("preserving", "paper"):
            gaps[row["model"]].append(AskedVariant(*(row[name] for name in AskedVariant._fields)))
    # A sample that was drawn in addition has no repeated query.
    for row in read_rows(run.files / SUITE, draw=MOVABLE, columns=SOURCE):
        if row["sample"] not in originals:
            originals[row["sample"]] = original_hash(row)
    if detected:
        labels = read_rows(run.files / SUITE, columns=("sample", "label"))
        other = {row["sample"] for row in labels if row["label"] not in (None, json.dumps(finding))}
        detected = {key for key in detected if key[2] not in other}
    return replace(
        judged, flips=tuple(flips), originals=originals, gaps=gaps, scores=scores, found=frozenset(detected)
    )


@lru_cache(maxsize=64)
def _answer_of(text: str) -> Answer | None:
    """The answer in a cell of the verdicts; `None` for a failure."""
    value = load_json(text)
    failed = isinstance(value, dict) and "failed" in value
    return None if failed else predicted_from_json(value)[0]


def read_baseline(path: Path, key: bytes | None) -> Judged:
    """The verdicts of a baseline, as the gate takes them: of a run folder or of a baseline file.

    Raises:
        UsageError: it is a `summary.json`, which has no verdicts.
        RunError: there is no such run or file, or it cannot be judged, as in `read_judged`.
    """
    if path.is_file():
        if _is_summary(path):
            raise UsageError(
                f"{str(path)!r} has no verdicts to compare with; keep the whole run folder and give that: "
                f"--baseline {shlex.quote(str(path.parent))}, or give a baseline file: codeaudit report "
                f"{shlex.quote(str(path.parent))} --baseline FILE"
            )
        return read_baseline_file(path, key)
    if not os.path.exists(path):
        raise RunError(f"no baseline at {str(path)!r}: no such folder or file")
    return _checked(read_run(path), key)


def _is_summary(path: Path) -> bool:
    """Whether a file is the summary of a run, under any name."""
    try:
        with path.open("rb") as file:
            if file.read(4).removeprefix(BOM_UTF8)[:1] != b"{":
                return path.name == SUMMARY
        value = load_json(path.read_bytes())
    except (OSError, ValueError):
        return path.name == SUMMARY
    return isinstance(value, dict) and value.keys() >= {"schema", "task", "models"} and DIGEST not in value


def _checked(run: Run, key: bytes | None) -> Judged:
    """The verdicts of a run whose summary is not computed anew, which would check them."""
    judged = read_judged(run, key)
    run.check_verdicts()
    return judged


def keep_baseline(run: Run, path: Path, sign_key: Path | None) -> None:
    """Write the baseline file of a run.

    Raises:
        UsageError: there is no such key.
        RunError: the run cannot be judged, was not signed with the key, or the file cannot be written.
    """
    key = None if sign_key is None else read_key(sign_key)
    names = ("codeaudit", "started", "digest")
    write_baseline(path, _checked(run, key), run.task, {name: run.manifest.get(name) for name in names}, key)


@says_what_is_meant
def compare(*runs: Run | str | Path, held_out: Run | str | Path | None = None) -> Comparison:
    """Compare the models of finished runs, as `codeaudit compare RUN RUN` does.

    Kruskal-Wallis and Conover across trials; Cochran's Q and exact McNemar tests where models met the same
    inputs.

    Parameters
    ----------
    runs
        Runs or their folders: two, or one with several models. With `held_out`, one is enough.
    held_out
        A run of the same models on held-out code of the same kind: the drop of each score under edits that
        keep the meaning stands beside the drop on that code.

    Returns
    -------
    The tests with their effect sizes; `to_json()` gives all of them as text.

    Raises
    ------
    UsageError
        There is no run, or the drops cannot stand beside those on held-out code.
    CannotAudit
        A run does not exist, is not finished or is damaged, or there are fewer than two models.

    Examples
    --------
    >>> found = codeaudit.compare("codeaudit-runs/old", "codeaudit-runs/new")  # doctest: +SKIP
    >>> found.paired[0].p  # doctest: +SKIP
    0.004
    """
    if not runs:
        raise UsageError("nothing to compare: give runs or their folders")
    scores = held_out is not None
    compared = [read_compared(read_run(_path(run)), scores=scores) for run in runs]
    held = None if held_out is None else read_compared(read_run(_path(held_out)), scores=True)
    return compare_runs(compared, held_out=held)


def read_compared(run: Run, *, scores: bool = False) -> ComparedRun:
    """A finished run, as the comparison takes it; with the scores of its pairs if they are compared.

    Raises:
        RunError: its files are damaged.
    """
    run.check_verdicts()
    judged = _judged(run, run.summary)
    # As in the statistics of a run: among several transforms only the plain draw weighs them alike.
    several = len({flip.transform for flip in judged.flips if flip.kind == "preserving"}) > 1
    flips = tuple(flip for flip in judged.flips if not (several and flip.extra))
    scored = tuple(_scored(run)) if scores else ()
    return ComparedRun(name=judged.name, summary=judged.summary, flips=flips, scored=scored)


def _scored(run: Run) -> Iterator[ScoredPair]:
    """The pairs that count for the drop of the score, as in `codeaudit.reports.scores`."""
    columns = ("kind", "outcome", "reason", "draw", "model", "sample", "transform", "shift", *SCORES)
    for row in read_rows(run.files / VERDICTS, columns=columns):
        before, after = (row[name] for name in SCORES)
        counts = row["outcome"] != "unjudged" or row["reason"] == ANSWER_CHANGES
        if row["kind"] != "preserving" or not counts or is_extra(row) or before is None or after is None:
            continue
        yield ScoredPair(
            model=row["model"],
            sample=row["sample"],
            transform=row["transform"],
            before=before,
            after=after,
            shift=row.get("shift"),
        )


def named_transforms(names: Iterable[str], run: Run) -> frozenset[str]:
    """The transforms of a run among the named transforms and families.

    Raises:
        UsageError: a name is unknown or not in the run, or no name is of a meaning-keeping transform.
    """
    return chosen_transforms(names, run.kinds)


def chosen_transforms(names: Iterable[str], known: Mapping[str, str]) -> frozenset[str]:
    """The known transforms among the named transforms and families; `known` has their kinds.

    Raises:
        UsageError: a name is unknown, or no name is of a meaning-keeping transform.
    """
    chosen: set[str] = set()
    for name in names:
        # `expand` gives all members of a family; the run has those of its language.
        named = {name} if name in known else known.keys() & set(expand([name]))
        if not named:
            raise UsageError(f"the run has no transform {name!r}; it has: {', '.join(sorted(known))}")
        chosen |= named
    # A gate judges violations, which controls cannot have.
    if not any(known[name] in ("preserving", "paper") for name in chosen):
        raise UsageError("--transform names no transform that keeps the meaning")
    return frozenset(chosen)


def recomputed(
    run: Run, transforms: frozenset[str] | None = None, dependence: Dependence = "strict"
) -> Summary:
    """The summary of a run from its verdicts, as if it had had the chosen transforms only; under `paper`, as
    if orders by names only kept the meaning, and without those that do keep it.

    Raises:
        RunError: a table of the run is missing or damaged.
    """
    header = _header(run)
    trials = run.trials(transforms, by_sample=True)
    if dependence == "paper":
        trials = ((seed, map(_records_by_names, audited)) for seed, audited in trials)
    task = run.task
    summary = summarise(trials, task=task, header=header)
    if isinstance(task, RecordedTask) and not task.averages and transforms is None:
        # Its score is no mean of the recorded ones, and the task that computes it is not here.
        scores = {model.model: model.score for model in run.summary.models}
        models = (replace(model, score=scores.get(model.model, model.score)) for model in summary.models)
        summary = replace(summary, models=tuple(models))
    return summary


def planned(
    path: Path | None, limits: Limits, transforms: Sequence[str] | None, *, sign_key: Path | None = None
) -> GatePlan:
    """What a gate against a baseline can see: with the models, transforms and samples of a run or a baseline
    file; or, without one, with one model and the standard transforms of Python.

    Raises:
        UsageError: a transform is unknown or not in the run, or there is no such key.
        RunError: the run cannot be judged, or was not signed with the key.
    """
    key = None if sign_key is None else read_key(sign_key)
    _check_alpha(limits)
    if path is None:
        known = expand(transforms or standard_transforms([PYTHON.name], controls=False))
        names = {name for name in known if kind_of(name) == "preserving"}
        return plan(alpha=limits.alpha, margin=limits.margin, tests=_tests(1, len(names)))
    now = read_baseline(path, key) if path.is_file() else _checked(read_run(path), key)
    # Of the pairs, because a baseline file has no suite.
    audited = {flip.transform: flip.kind for flip in now.flips}
    chosen = None if transforms is None else chosen_transforms(transforms, audited)
    flips = [
        flip for flip in now.flips if flip.kind == "preserving" and (not chosen or flip.transform in chosen)
    ]
    models = [model.model for model in now.summary.models]
    idle = [flip for flip in now.flips if flip.kind == "identity"]
    repeats = [[flip for flip in idle if flip.model == model] for model in models]
    # What the noisiest model changes for the unchanged input: of all samples, and of all answers.
    unsteady = max((_share_of_samples(group) for group in repeats if group), default=0.0)
    floor = max(
        (sum(flip.violated for flip in group) / len(group) for group in repeats if group), default=0.0
    )
    samples = len({flip.sample for flip in flips})
    variants = max((flip.variant + 1 for flip in flips), default=1)
    return plan(
        alpha=limits.alpha,
        margin=limits.margin,
        tests=_tests(len(models), len({flip.transform for flip in flips})),
        # A sample changes by chance if it is unsteady in one run and not in the other.
        churn=unsteady * (1 - unsteady),
        samples=samples,
        excess=detectable(samples, variants, chance_of_noise(floor)) if samples else None,
    )


def _share_of_samples(repeats: Sequence[Flip]) -> float:
    """The share of samples with a changed answer among their repeats."""
    samples = {(repeat.seed, repeat.sample) for repeat in repeats}
    return len({(repeat.seed, repeat.sample) for repeat in repeats if repeat.violated}) / len(samples)


KEPT: Final = 2
"""Tests of each model of what it should keep: its sensitivity and its score."""


def _tests(models: int, transforms: int) -> int:
    """The number of tests of a gate: each transform alone, all of them together if there are several, and
    what is kept."""
    return models * ((1 if transforms < 2 else transforms + 1) + KEPT)
