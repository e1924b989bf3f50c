"""The inputs of a run: samples drawn from a corpus and perturbed now, or a suite that was written earlier.

`codeaudit.auditing` and `codeaudit.perturbed_files` call it. Both kinds of inputs have the same properties.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from codeaudit.audit import suite
from codeaudit.audit.cache import default_folder
from codeaudit.audit.corpora.records import Corpus, CorpusResources
from codeaudit.audit.corpora.selection import Selection, select, units
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.evidence_check import FindingCounts, Witness, execute, witnesses
from codeaudit.audit.interface import Task
from codeaudit.audit.labels import LabelSource, labels
from codeaudit.audit.rows import read_suite
from codeaudit.audit.run import Case, RunProgress
from codeaudit.audit.tables import read_about, suite_contents
from codeaudit.run_options import RunOptions
from codeaudit.transforms.errors import CorpusError, UsageError
from codeaudit.transforms.records import Sites


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnInputs:
    """Samples of a corpus, perturbed now."""

    name: str
    """The corpus as the user named it."""
    noun: str | None
    """What the task calls its samples; `None`: as in their language."""
    selections: tuple[Selection, ...]
    """The draw of each trial."""
    transforms: tuple[str, ...]
    variants: int
    workers: int
    sites: Sites = "auto"
    witnesses: Mapping[str, Witness] | None = None
    """Confirm the variants, by language; `None` if nothing is executed."""
    labels: LabelSource
    progress: RunProgress

    @property
    def seeds(self) -> tuple[int, ...]:
        """One seed per trial."""
        return tuple(selection.seed for selection in self.selections)

    @property
    def language(self) -> str:
        """The language of most samples in all trials."""
        return _commonest(sample.language for one in self.selections for sample in one.samples)

    @property
    def skipped(self) -> Mapping[str, int]:
        """Samples that the first trial left out, by reason."""
        return dict(self.selections[0].skipped)

    @property
    def about(self) -> Mapping[str, object]:
        """The entry of the manifest: the draw of the first trial, and the hash of each."""
        first = self.selections[0]
        tools = {language: list(one.tools) for language, one in (self.witnesses or {}).items()}
        return {
            "spec": self.name,
            "hash": first.hash,
            "samples": len(first.samples),
            "available": first.available,
            "skipped": self.skipped,
            "labels": self.labels.about,
            **({"witnesses": tools} if tools else {}),
            "trials": [
                {"seed": one.seed, "hash": one.hash, "samples": len(one.samples)} for one in self.selections
            ],
        }

    @property
    def headline(self) -> str:
        """One line for the user: how many samples were drawn and left out."""
        first = self.selections[0]
        noun = self.noun or units({sample.language for sample in first.samples})
        size = f"{len(first.samples):,} of {first.available:,} {noun}"
        left_out = f"; left out: {most(self.skipped, 6)}" if self.skipped else ""
        return f"corpus {self.name}: {size}{left_out}"

    def size(self, seed: int) -> int:
        """The number of samples in a trial."""
        return len(self._selection(seed).samples)

    def cases(self, seed: int) -> Iterator[Case]:
        """The samples of one trial with their variants; a line to the user tells what the witnesses found."""
        plan = suite.SuitePlan(
            transforms=self.transforms,
            variants=self.variants,
            seed=seed,
            sites=self.sites,
            executed=self.witnesses is not None,
        )
        made = suite.cases(self._selection(seed).samples, plan, workers=self.workers)
        judged = made if self.witnesses is None else _judged(made, self.witnesses, self.progress)
        return self.labels.relabelled(judged)

    def _selection(self, seed: int) -> Selection:
        return next(one for one in self.selections if one.seed == seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenInputs:
    """The cases of a suite file."""

    path: Path
    name: str
    seeds: tuple[int, ...]
    transforms: tuple[str, ...]
    hash: str

    @property
    def skipped(self) -> Mapping[str, int]:
        """Nothing: a suite holds no sample that was left out."""
        return {}

    @property
    def language(self) -> str:
        """The language of most samples in all trials."""
        return _commonest(case.sample.language for seed in self.seeds for case in self.cases(seed))

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

    def cases(self, seed: int) -> Iterator[Case]:
        """The cases of one trial."""
        return read_suite(self.path, seed=seed)


Inputs: TypeAlias = DrawnInputs | FrozenInputs


def _commonest(languages: Iterable[str]) -> str:
    return Counter(languages).most_common(1)[0][0]


def prepare_inputs(options: RunOptions, task: Task, samples: Corpus | None, progress: RunProgress) -> Inputs:
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
            samples = corpus(
                options.corpus or task.corpus, source.column, CorpusResources(cache=options.cache, note=note)
            )
        drawn = draw(options, task, samples, source, progress)
        if drawn.labels.follows_variants:
            note(f"labels: {drawn.labels}")
        return with_witnesses(drawn) if options.execute else drawn
    if (made_for := suite_task(options.suite)) != task.name:
        raise UsageError(
            f"suite {str(options.suite)!r} was made for the task {made_for!r}, not {task.name!r}"
        )
    return _frozen(options.suite)


def suite_task(path: Path) -> str:
    """The task that a suite was made for.

    Raises:
        RunError: there is no such suite.
    """
    return str(read_about(path).get("task"))


def draw(
    options: RunOptions, task: Task, samples: Corpus, source: LabelSource, progress: RunProgress
) -> DrawnInputs:
    """The samples of every trial with their labels; nothing is perturbed yet.

    Raises:
        CorpusError: the corpus has no example of the task, or no transform is known for its language.
    """
    seeds = range(options.seed, options.seed + options.trials)
    drawn = select(
        *source.examples(samples, task),
        limit=options.limit or None,
        seeds=seeds,
        unit=task.noun,
    )
    truth = source.settled(sample for one in drawn for sample in one.samples)
    selections = tuple(replace(one, samples=truth.filled(one.samples)) for one in drawn)
    languages = {sample.language for selection in selections for sample in selection.samples}
    if options.transforms is None:
        transforms = suite.standard_transforms(languages, controls=options.controls)
        if transforms == ("identity",):
            raise CorpusError(f"no transform is known for {', '.join(sorted(languages))} in {samples.spec!r}")
    else:
        transforms = suite.with_noise_floor(options.transforms, languages, controls=options.controls)
    return DrawnInputs(
        name=samples.spec,
        noun=task.noun,
        selections=selections,
        transforms=transforms,
        variants=options.variants,
        workers=options.workers,
        sites=options.sites,
        labels=truth,
        progress=progress,
    )


def with_witnesses(inputs: DrawnInputs) -> DrawnInputs:
    """The inputs with witnesses for their languages; a line to the user tells each tool that is missing."""
    languages = {sample.language for one in inputs.selections for sample in one.samples}
    found = witnesses(languages, inputs.labels)
    for one in found.values():
        for line in one.missing:
            inputs.progress.note(f"--execute goes on without it: {line}")
    return replace(inputs, witnesses=found)


def _judged(cases: Iterator[Case], known: Mapping[str, Witness], progress: RunProgress) -> Iterator[Case]:
    findings = FindingCounts()
    yield from execute(cases, known, findings)
    tools = [
        ", ".join(f"{key} {value}" for key, value in tool.items())
        for one in known.values()
        for tool in one.tools
    ]
    if not tools:
        progress.note("no variant was executed: there is no tool for it")
        return
    progress.note(
        f"judged {findings.total:,} variants ({'; '.join(tools)}): "
        f"{findings.kept:,} agree with their original, {findings.broken:,} do not (left out); "
        f"{findings.changed:,} controls differ from it, {findings.unchanged:,} could not be shown to"
    )
    if findings.open:
        progress.note(f"undecided: {most(findings.open)}")


def most(reasons: Mapping[str, int], number: int = 3) -> str:
    """The most frequent reasons with their counts, in words."""
    ranked = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{count:,} × {reason}" for reason, count in ranked[:number]]
    more = sum(count for _, count in ranked[number:])
    return ", ".join([*told, f"{more:,} others"] if more else told) or "no samples"


def _frozen(path: Path) -> FrozenInputs:
    about = read_about(path)
    seeds, transforms = suite_contents(path)
    if not seeds:
        raise CorpusError(f"no samples in suite {str(path)!r}")
    return FrozenInputs(
        path=path,
        name=str(about.get("corpus", path)),
        seeds=seeds,
        transforms=transforms,
        hash=hashlib.sha256(path.read_bytes()).hexdigest(),
    )
