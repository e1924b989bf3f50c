"""What a run would ask and what that would need, found without asking: `codeaudit run --dry-run`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import islice

from codeaudit.audit.cache import AnswerCache, ModelMemory, answers_scope, default_folder
from codeaudit.audit.engines.local import LocalEngine
from codeaudit.audit.interface import BaseModel, Model, Task
from codeaudit.audit.models.endpoints.spending import Spending, tokens_of
from codeaudit.audit.models.wrappers import Canonical, innermost
from codeaudit.audit.movable import readable_by
from codeaudit.audit.records import Case, Failed, Query
from codeaudit.audit.run import ONCE, RunProgress, queries, repeats
from codeaudit.audit.store import RunFolder
from codeaudit.auditing import CACHE_FILE
from codeaudit.options import DEFAULT_MOVABLE, RunOptions
from codeaudit.preparing import DrawnInputs, LoadedRun, check_names, load_all, watched_cases
from codeaudit.prompting import prompt_of
from codeaudit.repeating import RepeatStages, fixed, is_hosted
from codeaudit.reports.sheets import Cell, Sheet, numbers, words
from codeaudit.reports.statistics.power import detectable
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.registration import overrides
from codeaudit.transforms.registry import kind_of

CASES: int = 256
"""Cases whose answers are looked up in the cache together."""
USUAL_NOISE: float = 0.05
"""The chance of noise for which a forecast says what a run can show."""
UNKNOWN: int = 10
"""Tokens of a reply if neither the task nor a label tells how long it is."""


@dataclass(slots=True, kw_only=True)
class ModelPlan:
    """What one model would be asked."""

    model: str
    queries: int = 0
    """Distinct queries, those of the first stage of repeats included."""
    repeats: int = 0
    """Queries that ask an unchanged input again."""
    second_stage: int = 0
    """Further repeats, asked only if one of the first shows noise."""
    samples: int = 0
    """Number of samples that the transform with the most of them changes."""
    shown: float | None = None
    """The smallest effect beyond noise, a fraction, that these samples show in four of five runs, if a single
    answer is noise with the chance `USUAL_NOISE`; `None` for a model of this machine, here and below."""
    saved: int | None = None
    """Number of queries that `--repeats 1` would spare."""
    shown_with_one: float | None = None
    """The effect that these samples show with one repeat each."""
    kept: int = 0
    """Queries whose answers are in the cache."""
    requests: int | None = None
    """`None` for a model that is not behind an endpoint, here and below."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    """In the currency of the prices; `None` also without prices."""


@dataclass(slots=True)
class _Counting:
    """A plan while it is made."""

    model: Model
    plan: ModelPlan
    memory: ModelMemory | None
    stages: RepeatStages | None
    """`None` if they depend on the answers."""
    seen: set[int] = field(default_factory=set)
    """Hashes of the queries so far, because the queries of a large run take much memory."""

    def count(self, cases: Sequence[Case], task: Task) -> None:
        """Add the queries of some cases."""
        new = list(self._new(cases, task))
        self.plan.queries += len(new)
        for again in (False, True):
            replies = {query: reply for query, reply, repeated in new if repeated is again}
            known = self.memory.recall(list(replies), again=again) if self.memory else {}
            self.plan.kept += len(known)
            for query, reply in replies.items():
                if query not in known:
                    self._add(query, reply)

    def _new(self, cases: Sequence[Case], task: Task) -> Iterator[tuple[Query, int, bool]]:
        for case in cases:
            reply = usual_reply(case, task, prompt_of(self.model))
            repeating = ONCE if self.stages is None else self.stages.repeating
            again_asked = repeats(case, task, repeating)
            if self.stages is None:
                self.plan.second_stage += len(repeats(case, task)) - len(again_asked)
            for again, group in ((False, queries(case, task)), (True, again_asked)):
                for query in group:
                    # Of canonical code, equal forms are one query.
                    form = self.model.form(query) if isinstance(self.model, Canonical) else query
                    if not isinstance(form, Failed) and (key := hash((form, again))) not in self.seen:
                        self.seen.add(key)
                        self.plan.repeats += again
                        yield query, reply, again

    def _add(self, query: Query, reply: int) -> None:
        inner, plan = innermost(self.model), self.plan
        if not overrides(inner, BaseModel.forecast):
            return
        form = self.model.form(query) if isinstance(self.model, Canonical) else query
        requests, into, out = inner.forecast(form if isinstance(form, Query) else query, reply)
        plan.requests = (plan.requests or 0) + requests
        plan.tokens_in = (plan.tokens_in or 0) + into
        plan.tokens_out = (plan.tokens_out or 0) + out


def usual_reply(case: Case, task: Task, prompt: str = "") -> int:
    """About how many tokens a reply about a case has: as many as usual, or as the right answer. `prompt` is
    what the prompt is called that the user named."""
    wording = task.asked(prompt) or task.prompt
    if wording is not None and wording.usual is not None:
        return wording.usual
    label = case.sample.label
    text = " ".join(label) if isinstance(label, tuple) else "" if label is None else str(label)
    return tokens_of(text) + 1 if text else UNKNOWN


def plan_run(options: RunOptions, progress: RunProgress, *, chosen: bool = False) -> list[ModelPlan]:
    """What each model of a run would be asked. Nothing is asked and nothing is written; no key is needed.

    `chosen` says that the user gave a number of movable samples. If not, a line tells if few are movable.

    Raises:
        UsageError, CannotAudit: as `codeaudit.auditing.audit_models`, before the first query.
    """
    check_names(options, {})
    engine = LocalEngine(options.workers)
    loaded = load_all(options, {}, None, progress, engine=engine, spending=Spending(), sends=False)
    progress.note(loaded.inputs.headline)
    place = (options.cache or default_folder()) / CACHE_FILE
    if not place.exists():
        return _plans(loaded, options, None, "", progress, chosen=chosen)
    with closing(AnswerCache(place)) as cache:
        return _plans(loaded, options, cache, _unfinished(options), progress, chosen=chosen)


def _unfinished(options: RunOptions) -> str:
    """The name of the unfinished run that would be gone on with; empty without one."""
    if options.out is not None and options.out.is_dir():
        with suppress(RunError):
            manifest = RunFolder(options.out).manifest()
            if manifest.get("state") == "running":
                return str(manifest.get("codeaudit", ""))
    return ""


def _plans(
    loaded: LoadedRun,
    options: RunOptions,
    cache: AnswerCache | None,
    run: str,
    progress: RunProgress,
    *,
    chosen: bool,
) -> list[ModelPlan]:
    counting = []
    for model in loaded.models:
        if model.repeats is not None:
            continue
        memory = None
        if cache is not None:
            scope = answers_scope(model.fingerprint, loaded.task)
            memory = ModelMemory(cache=cache, fingerprint=scope, run=run)
        plan = ModelPlan(model=model.name)
        if overrides(innermost(model), BaseModel.forecast):
            plan.requests = plan.tokens_in = plan.tokens_out = 0
        stages = fixed(model, repeats=options.repeats, shard=options.shard is not None)
        counting.append(_Counting(model, plan, memory, stages))
    moved: list[Counter[str]] = []
    for seed in loaded.inputs.seeds:
        moved.append(Counter())
        chooser = loaded.inputs.chooser(readable_by(loaded.models, loaded.task))
        every = watched_cases(loaded.inputs, seed, chooser, progress)
        cases = (placed.case for placed in loaded.inputs.placed(seed, every))
        while batch := list(islice(cases, CASES)):
            for tally in counting:
                tally.count(batch, loaded.task)
            for case in batch:
                moved[-1].update(_movers(case))
    drawn = loaded.inputs
    if isinstance(drawn, DrawnInputs) and not (options.movable or options.shard or chosen) and drawn.has_more:
        none = {name: 0 for name in loaded.inputs.transforms if kind_of(name) == "preserving"}
        if line := few_movable({**none, **moved[0]}, len(drawn.selections[0].samples)):
            progress.note(line)
    together = sum(moved, Counter[str]())
    for tally in counting:
        _promise(tally, max(together.values(), default=0), options)
        tally.plan.cost = innermost(tally.model).cost(tally.plan.tokens_in or 0, tally.plan.tokens_out or 0)
    return [tally.plan for tally in counting]


def _promise(counting: _Counting, samples: int, options: RunOptions) -> None:
    """Note what the repeats of a hosted model are good for. `samples`: as of `ModelPlan`."""
    plan = counting.plan
    if counting.stages is None or not is_hosted(counting.model) or not samples:
        return
    plan.samples = samples
    repeats = options.repeats or options.variants
    plan.shown = detectable(plan.samples, options.variants, USUAL_NOISE, repeats=repeats)
    if repeats > 1:
        plan.saved = plan.repeats - plan.repeats // repeats
        plan.shown_with_one = detectable(plan.samples, options.variants, USUAL_NOISE, repeats=1)


def _promised(plan: ModelPlan) -> Iterator[str]:
    """The sentences for the user."""
    if plan.shown is None:
        return
    phrase = "sample shows" if plan.samples == 1 else "samples show"
    promise = f"{plan.model}: {plan.samples:,} {phrase} an effect of {_points(plan.shown)} beyond noise"
    yield f"{promise} in four of five runs, if {100 * USUAL_NOISE:g} % of its answers are noise."
    if plan.saved is not None and plan.shown_with_one is not None:
        yield f"--repeats 1 would spare {plan.saved:,} queries, and show {_points(plan.shown_with_one)}."


def _points(share: float) -> str:
    return f"{100 * share:.1f} points"


FEW: int = 3
"""Transforms that the line about few movable samples names."""


def _movers(case: Case) -> Iterator[str]:
    """The meaning-keeping transforms that change a sample."""
    yield from {
        outcome.transform
        for outcome in case.outcomes
        if isinstance(outcome, Perturbed) and outcome.kind == "preserving"
    }


def few_movable(counts: Mapping[str, int], drawn: int) -> str:
    """One line on the transforms that change few of the drawn samples; empty if there are none.

    `counts` are the numbers of movable samples by transform.
    """
    few = sorted(
        (number, name) for name, number in counts.items() if number < min(drawn / 2, DEFAULT_MOVABLE)
    )
    if not few:
        return ""
    named = ", ".join(f"{name} {number}" for number, name in few[:FEW])
    return f"of {drawn:,} samples few were movable: {named}; --movable {DEFAULT_MOVABLE} draws more"


def total(plans: Sequence[ModelPlan]) -> Mapping[str, float | None]:
    """Requests, tokens and cost of all models together; a cost only if it is known of each that spends."""
    spending = [plan for plan in plans if plan.requests is not None]
    costs = [plan.cost for plan in spending]
    return {
        "requests": sum(plan.requests or 0 for plan in spending),
        "tokens": sum((plan.tokens_in or 0) + (plan.tokens_out or 0) for plan in spending),
        "cost": sum(cost or 0.0 for cost in costs) if None not in costs else None,
    }


def exceeded(plans: Sequence[ModelPlan], options: RunOptions) -> list[str]:
    """The limits of the run that the estimate exceeds."""
    needs = total(plans)
    limits = {name: getattr(options, f"max_{name}") for name in needs}
    return [
        f"--max-{name} {limit:g}"
        for name, limit in limits.items()
        if limit is not None and (needs[name] or 0) > limit
    ]


def plan_sheet(plans: Sequence[ModelPlan], options: RunOptions) -> Sheet:
    """The table for the user."""

    def cell(number: int | None) -> str:
        return "" if number is None else f"{number:,}"

    notes = []
    spends = [plan for plan in plans if plan.requests is not None]
    if not spends:
        notes.append("No model here is behind an endpoint: nothing costs requests or tokens.")
    elif any(plan.cost is None for plan in spends):
        notes.append("Without -M price_in and -M price_out (per million tokens) there is no cost.")
    notes += [
        f"{plan.model}: {plan.second_stage:,} repeats more if a first one changes an answer."
        for plan in plans
        if plan.second_stage
    ]
    notes += [sentence for plan in plans for sentence in _promised(plan)]
    if passed := exceeded(plans, options):
        notes.append(f"This is more than {' and '.join(passed)}: the run would stop there (exit code 3).")
    if options.attacks:
        notes.append(
            f"--attack asks more: up to {options.budget} queries for each sample and strategy, not counted."
        )
    rows = [
        (
            plan.model,
            f"{plan.queries:,}",
            f"{plan.repeats:,}",
            f"{plan.kept:,}",
            cell(plan.requests),
            cell(plan.tokens_in),
            cell(plan.tokens_out),
            "" if plan.cost is None else f"{plan.cost:,.4f}",
        )
        for plan in plans
    ]
    return Sheet(
        title="Dry run: nothing was asked",
        columns=(
            *words("model"),
            *numbers("queries", "repeats", "in the cache", "requests", "tokens in", "tokens out", "cost"),
        ),
        rows=tuple(tuple(Cell(lines=(text,)) for text in row) for row in rows),
        notes=tuple(notes),
        legend=(
            "repeats: queries that ask an unchanged input again, to measure noise. "
            "requests: without repetitions after failures; tokens: estimated from the texts of prompts, and "
            "from usual replies (a model that thinks aloud needs more).",
        ),
    )
