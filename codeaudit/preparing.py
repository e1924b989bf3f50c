"""What a run needs before it starts: its models, matched with one task, and its inputs.

The inputs are samples drawn from a corpus and perturbed now, or a suite that was written earlier. Both have
 the same properties.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from codeaudit.audit import suite
from codeaudit.audit.cache import default_folder
from codeaudit.audit.corpora.native import told_errors
from codeaudit.audit.corpora.records import Corpus, CorpusResources, unread_files_line
from codeaudit.audit.corpora.selection import Selection, select, units
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.corpora.tables import renaming
from codeaudit.audit.engines.local import Engine, LocalEngine
from codeaudit.audit.engines.shards import WHOLE, Shard
from codeaudit.audit.evidence_check import FindingCounts, Witness, disproves, execute, witnesses
from codeaudit.audit.interface import (
    BaseModel,
    LabelSource,
    Model,
    OneLabel,
    Task,
    as_label,
)
from codeaudit.audit.labels import (
    SANDBOX,
    NamedLabels,
    SeenLabels,
    are_closed,
    check_words,
    labels,
    which_task,
    without_labels,
)
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.callable import CallableModel, answering
from codeaudit.audit.models.endpoints.spending import Spending
from codeaudit.audit.models.fake import FakeModel
from codeaudit.audit.models.provider import BINDING, OPTIONS, Settings
from codeaudit.audit.models.text_models import shown_prompt
from codeaudit.audit.models.wrappers import innermost
from codeaudit.audit.movable import MovableChooser, Readable
from codeaudit.audit.records import Case
from codeaudit.audit.registry import DEFAULT_TASK, TASKS
from codeaudit.audit.rows import read_suite
from codeaudit.audit.run import RunProgress
from codeaudit.audit.store import TOLD, read_about, suite_contents
from codeaudit.bound_arguments import check_arguments, of_model
from codeaudit.options import RunOptions, demand_no_secrets
from codeaudit.prompting import PROMPT, check_prompts
from codeaudit.transforms.errors import CorpusError, ModelError, RunError, UsageError
from codeaudit.transforms.grammar import counted, counted_reasons
from codeaudit.transforms.language import DEFAULT, LANGUAGES
from codeaudit.transforms.oracle.toolchains import runners
from codeaudit.transforms.records import KEEPS_TEXT, Sample
from codeaudit.transforms.registration import adapted, overrides
from codeaudit.transforms.registry import (
    OF_NETWORKS,
    expand,
    kind_of,
    left_out,
    levelled,
    of_network,
    related,
)
from codeaudit.transforms.suites import SUITE

LOCAL: Final = LocalEngine()
NAME: Final = "name"
"""The `-M` argument that tells models of one SPEC apart."""
RAW: Final = "raw"
"""An entry of the corpus in the manifest of a shard that drew its own samples alone: a hash of all raw
samples, and what could not be read. It is equal in all shards of a run.
"""
CANDIDATES_AT_ONCE: Final = 64
"""Samples whose labels are found together, where samples are drawn in addition."""
CANDIDATES_PER_MOVABLE: Final = 64
"""Raw samples that are kept for each movable one. A corpus that needs more is read again: of the functions of
the standard library a transform of the standard set changes at least one in 20."""


def own_corpus(task: Task) -> str:
    """The SPEC of the corpus of a run that names none.

    Raises:
        UsageError: the task has none.
    """
    if not task.corpus:
        raise UsageError(f"task {task.name!r} has no corpus of its own; name your table with --corpus")
    return task.corpus


def check_names(options: RunOptions, given: Mapping[str, Model], *, corpus_given: bool = False) -> None:
    """Check the task, the models and their arguments by name. Nothing is loaded.

    `given` are the models that are objects already, by name; `corpus_given` says that the samples are, too.

    Raises:
        UsageError: a task, model or argument does not exist, a model is named twice, there is none, or an
            option has an effect on none of the models.
        ModelError: the folder of a checkpoint does not exist.
    """
    demand_no_secrets(options)
    if options.task is not None:
        TASKS.summary(options.task)
    task = options.task or DEFAULT_TASK
    if options.task is not None and not (options.corpus or options.suite or corpus_given):
        own_corpus(TASKS.get(task))
    # Before the corpus is read. Whether there is one for the language is seen later, in `bundled_models`.
    if not options.model and not catalogue.bundled_for(TASKS.plain(task)):
        raise UsageError(f"no bundled model for task {task!r}; name one with --model")
    # Objects of the caller have names that the catalogue does not know.
    specs = [spec for spec in options.model if spec not in given]
    for spec in specs:
        catalogue.check(spec)
    judges = () if options.judge is None else (options.judge,)
    for spec in judges:
        catalogue.check(spec)
        if options.shard is not None:
            raise UsageError("--judge sees whole runs; leave out --shard")
    check_arguments(options.arguments, (*options.model, *judges), given, options.base_url)
    names = [_name_of(options, place) for place in range(1, len(options.model) + 1)]
    for spec, name in (pair for number, pair in enumerate(names) if pair in names[:number]):
        # Two vendors may offer one model.
        can = spec not in given and catalogue.is_among(NAME, catalogue.accepted(spec))
        how = f"; if two endpoints have it, name them apart: -M 1:{NAME}=A -M 2:{NAME}=B" if can else ""
        raise UsageError(f"model {f'{spec} ({name})' if name else spec!r} is named twice{how}")
    # With given models only what must have an effect is checked: the batch size has one on each of them, and
    # a note about a device would be useless, because the caller put the model on its device.
    named = [name for name in options.model_options if name in BINDING or not given]
    catalogue.check_options([*(specs if options.model else catalogue.bundled()), *judges], named)


def _name_of(options: RunOptions, place: int) -> tuple[str, str]:
    """The SPEC of the model at a place, and what tells it from others with this SPEC: name and prompt."""
    own = of_model(options.arguments, place, None)
    prompt = f"@{shown_prompt(own[PROMPT])}" if PROMPT in own else ""
    return options.model[place - 1], own.get(NAME, "") + prompt


def bundled_models(task: str, language: str) -> tuple[str, ...]:
    """The names of the bundled models for a task in a language.

    Raises:
        UsageError: there is none.
    """
    specs = catalogue.bundled_for(task, language)
    if not specs:
        raise UsageError(f"no bundled model for task {task!r} in {language}; name one with --model")
    return specs


def load_models(
    options: RunOptions,
    specs: tuple[str, ...],
    given: Mapping[str, Model],
    engine: Engine = LOCAL,
    *,
    spending: Spending | None = None,
    sends: bool = True,
    places: Sequence[int] | None = None,
) -> tuple[Model, ...]:
    """The models in the order of `specs`, each behind the wrapper of `options.wrap`.

    Those that are objects already stay in this process. `spending` counts what they spend together; without
    `sends` they will not be asked. `places` are the numbers that bind arguments to the models, from 1; by
    default those of `specs`.

    Raises:
        ModelError: one of them cannot be loaded.
        UsageError: two of them are one.
    """
    settings = Settings(
        **{name: getattr(options, name) for name in OPTIONS},
        spending=spending or spending_of(options),
        sends=sends,
    )
    models = []
    several = len(options.model) > 1
    for place, spec in zip(places or range(1, len(specs) + 1), specs, strict=True):
        if spec in given:
            models.append(_wrapped(given[spec], options.wrap, options.seed))
            continue
        # `check_names` found a model for each argument.
        own = of_model(options.arguments, place, catalogue.accepted(spec))
        here = replace(settings, place=place if several else 0)
        load = partial(_loaded, spec, here, own, options.wrap, options.seed)
        # Keys are in the environment of this process only, and the requests leave from it.
        models.append(load() if catalogue.key_of(spec) else engine.model(load))
    # `DIR`, `./DIR` and `DIR/` are one model, and would be counted twice under one name.
    named: dict[str, str] = {}
    for spec, model in zip(specs, models, strict=True):
        if (first := named.setdefault(model.name, spec)) != spec:
            raise UsageError(f"models {first!r} and {spec!r} are one, {model.name!r}; name it once")
    return tuple(models)


def spending_of(options: RunOptions) -> Spending:
    """The limits on what a run spends, with nothing spent yet."""
    return Spending(
        max_requests=options.max_requests, max_tokens=options.max_tokens, max_cost=options.max_cost
    )


def _loaded(
    spec: str, settings: Settings, arguments: Mapping[str, str], wrap: str | None, seed: int
) -> Model:
    return _wrapped(catalogue.load(spec, settings, arguments), wrap, seed)


def _wrapped(model: Model, wrap: str | None, seed: int) -> Model:
    if wrap == catalogue.CANONICAL:
        return catalogue.wrapped(model)
    return model if wrap is None else catalogue.permuted(model, wrap, seed=seed)


def as_model(model: object, *, name: str = "") -> Model:
    """A callable, an object with a method `predict`, or a model, as a model; by default named after itself.

    The cache keeps the answers of a callable within one run only, because nothing shows when it changes.

    Raises:
        UsageError: it is none of them.
    """
    # A full model has a fingerprint, which the cache needs; an object with `predict` alone has none.
    if hasattr(model, "predict") and hasattr(model, "fingerprint"):
        fitted: Model = adapted(model, BaseModel)
        return fitted
    function = answering(model)
    if function is None:
        raise UsageError(f"{model!r} is no model: give a callable, a model's name, or a model")
    # A function has a name of its own. An object with `__call__` or `predict` is named after its class.
    own = getattr(model, "__qualname__", type(model).__name__)
    return CallableModel(name=name or own, function=function, fingerprint=f"volatile:{name or own}")


@contextmanager
def usage_noted(model: Model, progress: RunProgress) -> Iterator[None]:
    """Tell the usage of a model at the end, also after an error."""
    try:
        yield
    finally:
        inner = innermost(model)
        if inner.usage:
            progress.note(f"{model.name}: {inner.bill}")


def common_task(named: str | None, models: tuple[Model, ...]) -> Task:
    """The named task, else the task of the models, else the default.

    Raises:
        UsageError: the models were made for different tasks; or the task continues a text and a model sees
            another text (its canonical form).
        ModelError: a model was made for another task than the named one.
    """
    # Models that take every task, such as callables, have no task of their own.
    own = {model.name: model.task for model in models if model.task is not None}
    inside = {model.name: innermost(model) for model in models}
    accepted = {name: model.tasks for name, model in inside.items()}
    if named is None and len(set(own.values())) > 1:
        tasks = ", ".join(f"{name} for {task}" for name, task in own.items())
        raise UsageError(f"the models were made for different tasks: {tasks}; audit them apart")
    task = named or next(iter(own.values()), DEFAULT_TASK)
    # A task may be followed by a share, which what a model was made for has not.
    plain = TASKS.plain(task)
    for name, made_for in own.items():
        if made_for != plain and plain not in accepted.get(name, ()):
            raise ModelError(f"model {name!r} was made for the task {made_for!r}, not for {task!r}")
    common = TASKS.get(task)
    for model in models:
        if overrides(common, Task.showing) and model.name.startswith(f"{catalogue.CANONICAL}/"):
            raise UsageError(
                f"{model.name!r} sees canonical code, and an answer to the task {task!r} goes on with "
                "the code itself; audit the model without the wrapper"
            )
    return common


class PlacedCase(NamedTuple):
    """A case of a shard, with what puts it in its place in the whole run."""

    place: int
    """Ascends in the order of the whole run."""
    content: str
    """A hash that copies of its sample share, in any shard; empty if copies are left out already."""
    case: Case


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnInputs:
    """Samples of a corpus, perturbed now."""

    name: str
    """The corpus as the user named it."""
    task: Task
    """With the labels of the corpus, if the task has none of its own."""
    noun: str | None
    """What the task calls its samples; `None`: as in their language."""
    selections: tuple[Selection, ...]
    """The draw of each trial."""
    transforms: tuple[str, ...]
    options: RunOptions
    """The options that decide how samples are perturbed. Samples and transforms are chosen already."""
    witnesses: Mapping[str, Witness] | None = None
    """Confirm the variants, by language; `None` if nothing is executed."""
    labels: LabelSource
    progress: RunProgress
    engine: Engine | None = None
    """What makes the variants; `None`: processes of this machine."""
    shard: Shard = WHOLE
    """The part of the samples that the run audits. Without a limit and without movable samples, no others are
    drawn.
    """

    @property
    def repeats(self) -> int:
        """The least number of repeats that the suite holds of each sample."""
        return self.options.repeats or 1

    @property
    def seeds(self) -> tuple[int, ...]:
        """One seed per trial."""
        return tuple(selection.seed for selection in self.selections)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that have examples; the most raw samples come first."""
        known = _languages(self.selections)
        counts = sorted(((count, name) for name, count in self.selections[0].languages), reverse=True)
        return tuple(name for _, name in counts if name in known)

    @property
    def skipped(self) -> Mapping[str, int]:
        """Samples that the first trial left out, by reason."""
        return dict(sorted(self.selections[0].left_out.items()))

    @property
    def told_errors(self) -> tuple[str, ...]:
        """How answers are graded, if a reader must know, and a sentence on the labels of each known data set
        among the samples, where a run tells them."""
        grading = (f"{self.task.name}: {self.task.told}.",) if self.task.told else ()
        return grading + told_errors(name for selection in self.selections for name in selection.data_sets)

    @property
    def _runners(self) -> Mapping[str, str]:
        """What runs the programs that labels come from, by name, with its version."""
        return runners(self.languages) if self.labels.about.get("tool") == SANDBOX else {}

    @property
    def label_source(self) -> str:
        """Where the labels come from, in words."""
        return ", ".join(
            [str(self.labels), *(f"{tool} {version}" for tool, version in self._runners.items())]
        )

    @property
    def has_more(self) -> bool:
        """Whether the corpus has samples that the draw did not reach."""
        return self.selections[0].not_drawn > 0

    @property
    def about(self) -> Mapping[str, object]:
        """The entry of the manifest: the draw of the first trial, and the hash of each."""
        first = self.selections[0]
        tools = {language: list(witness.tools) for language, witness in (self.witnesses or {}).items()}
        return {
            "spec": self.name,
            "hash": first.hash,
            "samples": len(first.samples),
            "available": first.available,
            "skipped": self.skipped,
            "labels": {**self.labels.about, **self._runners},
            **({"movable": self.options.movable} if self.options.movable else {}),
            **({"witnesses": tools} if tools else {}),
            **({RAW: {"hash": first.part.raw, "unread": dict(first.unread)}} if first.part else {}),
            "trials": [
                {"seed": selection.seed, "hash": selection.hash, "samples": len(selection.samples)}
                for selection in self.selections
            ],
        }

    @property
    def headline(self) -> str:
        """One line for the user: how many samples were drawn and left out."""
        first = self.selections[0]
        noun = self.noun or units(_languages([first]))
        size = f"{len(first.samples):,} of {first.available:,} {noun}"
        if first.part is not None:
            size = f"shard {self.shard} with {size}"
        parts = [f"corpus {self.name}: {size}"]
        if left_out := first.units_left_out:
            parts.append(f"left out: {', '.join(counted_reasons(left_out, most=6))}")
        if first.not_drawn:
            why = "not drawn" if first.part is None else "of other shards"
            parts.append(f"{why}: {first.not_drawn:,}")
        if files := first.unread_files:
            reasons = counted_reasons(Counter(files.values()), most=6)
            parts.append(f"{counted(len(files), 'file')} not read: {', '.join(reasons)}")
        return "; ".join(parts)

    def size(self, seed: int) -> int:
        """The number of samples in a trial whose variants are made."""
        return len(self._plain(seed))

    def example(self) -> Sample | None:
        """A sample of the first trial; `None` if this shard has none of the plain draw."""
        samples = (sample for _, sample in self._plain(self.seeds[0]) if self.shard.has(sample.id))
        return next(samples, None)

    def chooser(self, readable: Readable) -> MovableChooser | None:
        """What chooses the samples of a trial beyond the plain draw; `None` if there shall be none."""
        if not self.options.movable:
            return None
        return MovableChooser(_moving(self.transforms), wanted=self.options.movable, readable=readable)

    def cases(self, seed: int, chooser: MovableChooser | None = None) -> Iterator[Case]:
        """The samples of one trial with their variants: first those of the plain draw, then those that
        `chooser` draws in addition. A line to the user says what the witnesses found.
        """
        plan = suite.SuitePlan(
            transforms=self.transforms,
            variants=self.options.variants,
            seed=seed,
            sites=self.options.sites,
            executed=self.witnesses is not None,
        )
        # One stream, so that the worker processes start once.
        chosen = self._candidates(seed, chooser)
        cases = suite.chosen_cases(chosen, plan, engine=self.engine or LocalEngine(self.options.workers))
        judged = cases if self.witnesses is None else _judged(cases, self.witnesses, self.progress)
        # After the witnesses, so that no variant is measured that they left out.
        relabelled = self.labels.relabelled(judged)
        if chooser is None:
            yield from relabelled
            return
        for case in islice(relabelled, self.size(seed)):
            chooser.count(case)
            yield case
        yield from filter(None, map(chooser.chosen, relabelled))

    def _candidates(
        self, seed: int, chooser: MovableChooser | None
    ) -> Iterator[tuple[Sample, tuple[str, ...]]]:
        """Samples with the transforms to try on them."""
        selection = self._selection(seed)
        for _, sample in self._plain(seed):
            yield sample, self.transforms
        if chooser is None:
            return
        further = iter(selection.further)
        # Some at a time, because a tool that measures labels takes long to start.
        while chooser.short and (batch := list(islice(further, CANDIDATES_AT_ONCE))):
            for sample in self.labels.filled(batch):
                if short := chooser.short:
                    yield sample, short

    def placed(self, seed: int, cases: Iterable[Case]) -> Iterator[PlacedCase]:
        """The cases of this shard among `cases`, each with its place in the trial of the whole run."""
        if self.options.movable:
            return _numbered(cases, self.shard)
        part = self._selection(seed).part
        if part is not None:
            return map(PlacedCase._make, zip(part.places, part.contents, cases, strict=True))
        return (
            PlacedCase(place, "", case) for (place, _), case in zip(self._plain(seed), cases, strict=True)
        )

    def _plain(self, seed: int) -> Sequence[tuple[int, Sample]]:
        """The samples of the plain draw whose variants are made, with their numbers."""
        numbered = enumerate(self._selection(seed).samples)
        # Which samples are drawn in addition depends on the variants of all samples before them.
        return [
            (place, sample) for place, sample in numbered if self.options.movable or self.shard.has(sample.id)
        ]

    def _selection(self, seed: int) -> Selection:
        return next(selection for selection in self.selections if selection.seed == seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenInputs:
    """The cases of a suite file."""

    path: Path
    name: str
    seeds: tuple[int, ...]
    transforms: tuple[str, ...]
    """The transforms of the suite, and those of `network`."""
    hash: str
    task: Task
    """With the labels of the suite, if the task has none of its own."""
    shard: Shard = WHOLE
    network: tuple[str, ...] = ()
    """The transforms of the network that the run adds. Those of the run that wrote the file are left out."""
    repeats: int = 1
    """As of `DrawnInputs`."""
    told_errors: tuple[str, ...] = ()
    """As of `DrawnInputs`; a suite in lines does not say it."""

    @property
    def skipped(self) -> Mapping[str, int]:
        """Nothing: a suite holds no sample that was left out."""
        return {}

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the samples of all trials; the most samples come first."""
        # Read from the cases, because a suite does not record its languages.
        counts = Counter(case.sample.language for seed in self.seeds for case in self.cases(seed))
        return tuple(name for name, _ in counts.most_common())

    @property
    def about(self) -> Mapping[str, object]:
        """The entry of the manifest: the suite's file and hash."""
        return {"spec": self.name, "suite": str(self.path), "hash": self.hash}

    @property
    def headline(self) -> str:
        """One line for the user."""
        return f"corpus {self.name}: frozen suite"

    def size(self, seed: int) -> None:
        """Unknown before the suite is read."""
        return

    def example(self) -> Sample | None:
        """A sample of the first trial, if the suite has one."""
        cases = self.placed(self.seeds[0], self.cases(self.seeds[0]))
        return next((placed.case.sample for placed in cases), None)

    def chooser(self, readable: Readable) -> MovableChooser:
        """What counts the movable samples; it draws none, because a suite fixes the samples."""
        # What a suite was drawn for is what its transforms change: its models were not known then.
        return MovableChooser(_moving(self.transforms), wanted=0, readable=lambda sample, source: True)

    def cases(self, seed: int, chooser: MovableChooser | None = None) -> Iterator[Case]:
        """The cases of one trial; `chooser` counts them."""
        for case in read_suite(self.path, seed=seed):
            if chooser is not None:
                chooser.frozen(case)
            yield self._with_network(case)

    def _with_network(self, case: Case) -> Case:
        kept = tuple(outcome for outcome in case.outcomes if outcome.transform not in OF_NETWORKS)
        if case.extra or not (self.network or len(kept) < len(case.outcomes)):
            return case
        plan = suite.SuitePlan(transforms=self.network, variants=1, seed=0)
        return replace(case, outcomes=kept + suite.case(case.sample, plan).outcomes)

    def placed(self, seed: int, cases: Iterable[Case]) -> Iterator[PlacedCase]:
        """The cases of this shard among `cases`, each with its place in the trial of the whole run."""
        return _numbered(cases, self.shard)


def _numbered(cases: Iterable[Case], shard: Shard) -> Iterator[PlacedCase]:
    return (PlacedCase(place, "", case) for place, case in enumerate(cases) if shard.has(case.sample.id))


Inputs: TypeAlias = DrawnInputs | FrozenInputs


def _moving(transforms: Iterable[str]) -> list[str]:
    """The transforms that may change the text of a sample."""
    return [name for name in transforms if kind_of(name) not in KEEPS_TEXT]


def watched_cases(
    inputs: Inputs, seed: int, chooser: MovableChooser | None, progress: RunProgress
) -> Iterator[Case]:
    """The cases of one trial with their repeats; the user sees how far the two draws are, and what the second
    one found.
    """
    cases = inputs.cases(seed, chooser)
    if "identity" in inputs.transforms:
        cases = (suite.with_repeats(case, least=inputs.repeats) for case in cases)
    drawing = chooser if isinstance(inputs, DrawnInputs) else None
    with progress.counting("suite", inputs.size(seed), unit="samples") as monitor:
        # Without a second draw to its end, because what was executed is told there.
        for case in cases if drawing is None else islice(cases, inputs.size(seed)):
            yield case
            monitor.answered(1, recalled=False)
    if drawing is None:
        return
    with progress.counting("movable", None, unit="candidates") as monitor:
        drawing.monitor = monitor
        yield from cases
    progress.note(
        f"movable samples, {drawing.wanted} wanted: "
        + ", ".join(f"{name} {count}" for name, count in drawing.counts.items())
        + ("; the corpus has no more" if drawing.short else "")
    )


def prepare_inputs(
    options: RunOptions,
    task: Task,
    samples: Corpus | None,
    progress: RunProgress,
    *,
    spoken: Mapping[str, Sequence[str]] | None = None,
) -> Inputs:
    """Draw the samples, or open the suite. `samples` replaces the SPEC in `options.corpus`.

    Raises:
        CorpusError: there is no such corpus, or it has no example of the task.
        RunError: there is no such suite.
        UsageError: the suite was made for another task.
    """
    if options.suite is None:
        note = progress.note
        folder = options.cache or default_folder()
        source = labels(options.labels, task, cache=folder / "labels", note=note)
        if samples is None:
            resources = CorpusResources(cache=options.cache, note=note, columns=renaming(options.columns))
            samples = corpus(options.corpus or own_corpus(task), source.column, resources)
        drawn = draw(options, task, samples, source, progress, spoken=spoken)
        if drawn.labels.follows_variants:
            note(f"labels: {drawn.label_source}")
        return with_witnesses(drawn) if options.execute else drawn
    if (made_for := suite_task(options.suite)) != task.name:
        raise UsageError(
            f"suite {str(options.suite)!r} was made for the task {made_for!r}, not {task.name!r}"
        )
    frozen = _frozen(options.suite, task)
    added = of_network(options.wrap)
    kept = tuple(name for name in frozen.transforms if name not in OF_NETWORKS)
    return replace(frozen, shard=options.part, network=added, transforms=(*kept, *added))


def label_map(text: str | None) -> dict[str, str]:
    """The words of `--label-map WORD=LABEL,…` with the label that each means.

    Raises:
        UsageError: a part has no `=`, or a word stands twice.
    """
    by_word: dict[str, str] = {}
    for part in filter(None, (text or "").split(",")):
        word, equals, label = (side.strip() for side in part.partition("="))
        if not (word and equals and label):
            raise UsageError(f"--label-map {part!r} must be WORD=LABEL, as in vulnerable=1,safe=0")
        word = as_label(word) or word
        label = as_label(label) or label
        if by_word.setdefault(word, label) != label:
            raise UsageError(f"--label-map names {word!r} twice: {by_word[word]} and {label}")
    return by_word


def labels_of(model: Model) -> tuple[str, ...]:
    """The labels of a classifier; empty for every other model."""
    labels = getattr(innermost(model), "labels", ())
    return tuple(map(str, labels)) if isinstance(labels, tuple) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRun:
    """The models of a run with their task and their inputs."""

    specs: tuple[str, ...]
    """The names of the models, defaults filled in."""
    task: Task
    models: tuple[Model, ...]
    inputs: Inputs
    judge: Model | None = None
    """The model of `--judge`."""


def load_all(
    options: RunOptions,
    given: Mapping[str, Model],
    samples: Corpus | None,
    progress: RunProgress,
    *,
    engine: Engine,
    spending: Spending,
    sends: bool = True,
) -> LoadedRun:
    """Load the models and draw the samples. `samples` replaces the SPEC in `options.corpus`.

    Raises:
        UsageError: the options do not fit one another.
        CannotAudit: a model, the corpus or the suite cannot be used.
    """
    # A suite was made for one task, so it names the task if the user does not.
    named = options.task or (suite_task(options.suite) if options.suite else None)
    models = load_models(options, options.model, given, engine, spending=spending, sends=sends)
    task = common_task(named, models).mapped(label_map(options.label_map))
    # A task that nobody chose must fit the data: the model of five labels is no namer of functions.
    chosen = named is not None or any(model.task is not None for model in models)
    spoken = None if chosen else {model.name: labels for model in models if (labels := labels_of(model))}
    inputs = prepare_inputs(options, task, samples, progress, spoken=spoken)
    if isinstance(inputs, DrawnInputs):
        inputs = replace(inputs, engine=engine)
    task = inputs.task
    check_prompts(models, task)
    specs = options.model
    # The bundled models depend on the language, which is known only when the samples are drawn.
    if not specs:
        read = [language for language in inputs.languages if catalogue.bundled_for(task.name, language)]
        language = read[0] if read else inputs.languages[0]
        specs = bundled_models(task.name, language)
        others = (other for other in inputs.languages if other != language)
        for line in _unread_languages(specs, task.name, language, others):
            progress.note(line)
        models = load_models(options, specs, given, engine, spending=spending, sends=sends)
    fakes = [model.name for model in models if isinstance(innermost(model), FakeModel)]
    if fakes and overrides(task, Task.attempts):
        progress.note(
            f"{', '.join(fakes)}: a fake solves no problem, so every answer fails, and none counts as "
            "another one"
        )
    judge = None
    if options.judge is not None:
        if not overrides(task, Task.judged_by):
            raise UsageError(f"--judge: whether two answers to {task.name!r} are the same needs no judge")
        place = len(specs) + 1
        (judge,) = load_models(
            replace(options, wrap=None),
            (options.judge,),
            given,
            engine,
            spending=spending,
            sends=sends,
            places=(place,),
        )
    return LoadedRun(specs=specs, task=task, models=models, inputs=inputs, judge=judge)


def _unread_languages(specs: Sequence[str], task: str, language: str, others: Iterable[str]) -> Iterator[str]:
    """A line for each language of the inputs that none of the bundled models reads."""
    for other in others:
        bundled = catalogue.bundled_for(task, other)
        if not set(bundled) & set(specs):
            title, here = (LANGUAGES.get(name).title for name in (other, language))
            more = "".join(f" --model {name}" for name in bundled)
            named = f"; these read {title}:{more}" if more else ""
            yield f"the bundled models for {here} skip the samples in {title}{named}"


def suite_task(path: Path) -> str:
    """The task that a suite was made for.

    Raises:
        UsageError: the task is code that only the suite names.
        RunError: there is no such suite, or no such task.
    """
    task = str(read_about(path).get("task"))
    try:
        TASKS.get(task)
    except UsageError as error:
        if task in TASKS:  # it is code of a project, which the user has not named
            raise
        raise RunError(f"suite {str(path)!r} is of an {error}") from error
    return task


def draw(
    options: RunOptions,
    task: Task,
    samples: Corpus,
    source: LabelSource,
    progress: RunProgress,
    *,
    spoken: Mapping[str, Sequence[str]] | None = None,
) -> DrawnInputs:
    """The samples of every trial with their labels; nothing is perturbed yet.

    `spoken` is given if nobody chose the task: the labels of the classifiers among the models.

    Raises:
        UsageError: nobody chose the task, and the corpus or a model has labels of a classification; or
            `--label-map` names a label that the task does not have.
        CorpusError: the corpus has no example of the task, or no transform is known for its language.
    """
    seeds = range(options.seed, options.seed + options.trials)
    part = options.part
    language: str = getattr(samples, "language", "")
    if language and (reason := task.refuses(language)):
        raise CorpusError(
            f"task {task.name!r} has no example in corpus {samples.spec!r}, which is in {language}: {reason}"
        )
    # A large corpus takes seconds, in which nothing else is told.
    progress.note(f"reading corpus {samples.spec}")
    seen = SeenLabels(samples, task)
    read, prepare = source.examples(seen, task)
    column = source.column.name if source.column else renaming(options.columns).get("label")
    named = None
    if column is not None or are_closed(source, task):
        named = NamedLabels(column, samples.spec, task, prepare)
    try:
        drawn = select(
            read,
            prepare if named is None else named.prepare,
            limit=options.limit or None,
            seeds=seeds,
            unit=task.noun,
            spare=CANDIDATES_PER_MOVABLE * options.movable,
            own=None if part == WHOLE or options.movable else part.has,
        )
    except CorpusError as error:
        usual = usual_task(samples)
        if options.task is not None or usual in (task.name, DEFAULT_TASK):
            raise
        raise CorpusError(f"{error}; the task is {task.name}: --task {usual} fits this corpus") from None
    if spoken is not None and (seen.few or spoken):
        raise which_task(samples.spec, seen.few, spoken)
    task = seen.fitted()
    check_words(task)
    if line := unread_files_line(drawn[0].unread_files, drawn[0].details):
        progress.note(line)
    for line in drawn[0].notes:
        progress.note(line)
    if column is None and not seen.labelled:
        named = None
    if named is not None and (line := named.summary_line(drawn[0].samples)):
        progress.note(line)
    # Over all trials, so that each has labels of the same source: those of a table and of a tool are not
    # comparable.
    truth = source.settled(sample for selection in drawn for sample in selection.shown)
    if named is None and (line := without_labels(truth, task, samples)):
        progress.note(line)
    selections = tuple(
        replace(selection, samples=_filled(truth, selection.samples, part)) for selection in drawn
    )
    languages = _languages(drawn)
    # Where a task has controls of its own, those of the language cannot be judged.
    controls = options.controls and task.controls is None
    if options.transforms is None:
        transforms = suite.standard_transforms(languages, controls=controls)
        transforms = levelled(related(transforms, options.dependence), options.macros)
        # Only noise would be measured, which is no audit.
        if transforms == ("identity",):
            raise CorpusError(f"no transform is known for {', '.join(sorted(languages))} in {samples.spec!r}")
    else:
        names, families = suite.of_task(options.transforms, task, languages)
        for family in families:
            progress.note(f"all without the family {family}, unless you name it: {task.leaves_out[family]}")
        for name in (name for name in names if name.startswith(f"{SUITE}/")):
            if lacking := left_out(name, languages):
                progress.note(
                    f"{name} without {', '.join(lacking)}: no counterpart in {', '.join(sorted(languages))} "
                    f"(codeaudit list suites {name.partition('/')[2]})"
                )
        _demand_members(names, languages, progress)
        transforms = suite.named_transforms(names, languages, controls=controls)
    if not task.prose and (words := [name for name in transforms if kind_of(name) == "prose"]):
        fitting = [name for name, other in TASKS.working() if other.prose]
        raise UsageError(
            f"{', '.join(words)}: words that say what to write are no part of task {task.name!r}; "
            f"take --task {' or '.join(fitting)}"
        )
    transforms = suite.with_controls_of(task, transforms, controls=options.controls)
    transforms = (*transforms, *task.adds, *of_network(options.wrap))
    return DrawnInputs(
        name=samples.spec,
        task=task,
        noun=task.noun,
        selections=selections,
        transforms=transforms,
        options=options,
        labels=truth,
        progress=progress,
        shard=options.part,
    )


def usual_task(samples: Corpus) -> str:
    """The task that is asked of a corpus, by the language of its first sample."""
    first = next(iter(samples.read(Counter())), None)
    if first is None or first.language == DEFAULT:
        return DEFAULT_TASK
    names = (name for name in TASKS.built_in if TASKS.get(name).language == first.language)
    return next(names, DEFAULT_TASK)


def _languages(selections: Iterable[Selection]) -> set[str]:
    return {sample.language for selection in selections for sample in selection.shown}


def _demand_members(names: Sequence[str], languages: Collection[str], progress: RunProgress) -> None:
    """Tell which of the named families and suites have no transform in these languages.

    Raises:
        CorpusError: none of them has one, so nothing would be rewritten.
    """
    empty = [name for name in names if not expand([name], languages=tuple(languages))]
    if not empty:
        return
    message = f"no transform of {', '.join(empty)} in {', '.join(sorted(languages))}"
    if len(empty) == len(names):
        raise CorpusError(message)
    progress.note(message)


def _filled(truth: LabelSource, samples: Sequence[Sample], shard: Shard) -> tuple[Sample, ...]:
    """The samples with their labels; of other shards without."""
    mine = [sample for sample in samples if shard.has(sample.id)]
    filled = {sample.id: sample for sample in (truth.filled(mine) if mine else ())}
    return tuple(filled.get(sample.id, sample) for sample in samples)


def with_witnesses(inputs: DrawnInputs) -> DrawnInputs:
    """The inputs with witnesses for their languages; a line to the user names each missing tool."""
    by_language = witnesses(_languages(inputs.selections), inputs.labels)
    for witness in by_language.values():
        for line in witness.missing:
            inputs.progress.note(f"{line}; --execute goes on without it")
    return replace(inputs, witnesses=by_language)


def _judged(
    cases: Iterator[Case], by_language: Mapping[str, Witness], progress: RunProgress
) -> Iterator[Case]:
    findings = FindingCounts()
    yield from execute(cases, by_language, findings)
    # Languages share tools, as JavaScript and TypeScript do.
    tools = dict.fromkeys(
        ", ".join(f"{key} {value}" for key, value in tool.items())
        for witness in by_language.values()
        for tool in witness.tools
    )
    if not tools:
        progress.note("no variant was executed: there is no tool for it")
        return
    total, undecided = findings.total, findings.open.total()
    judged = f"{total - undecided:,} of {total:,}" if undecided else f"{total:,}"
    progress.note(
        f"judged {judged} variants ({'; '.join(tools)}): "
        f"{findings.kept:,} agree with their original, {findings.broken.total():,} do not (left out); "
        f"{counted(findings.changed, 'control')} differed from it, {findings.unchanged:,} not visibly"
    )
    for (name, reason), number in findings.broken.most_common():
        if disproves(name, reason):
            progress.note(f"{name} does not keep the meaning: {number:,} of its variants behave differently")
    if findings.open:
        progress.note(f"undecided: {', '.join(counted_reasons(findings.open, most=3))}")


def _suite_labels(path: Path, seeds: Iterable[int]) -> list[str]:
    """The labels of a suite's samples."""
    known = {case.sample.label for seed in seeds for case in read_suite(path, seed=seed)}
    return sorted(label for label in known if isinstance(label, str))


def _frozen(path: Path, task: Task) -> FrozenInputs:
    about = read_about(path)
    seeds, transforms = suite_contents(path)
    if not seeds:
        raise CorpusError(f"no samples in suite {str(path)!r}")
    texts = about.get(TOLD)
    fitted = task.fitted(_suite_labels(path, seeds)) if isinstance(task.answers, OneLabel) else task
    check_words(fitted)
    return FrozenInputs(
        path=path,
        name=str(about.get("corpus", path)),
        seeds=seeds,
        transforms=transforms,
        task=fitted,
        hash=hashlib.sha256(path.read_bytes()).hexdigest(),
        told_errors=tuple(text for text in texts if isinstance(text, str)) if isinstance(texts, list) else (),
    )
