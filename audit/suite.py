"""Makes the cases of an audit: each sample under every transform, once for all models, in worker processes.

Results and their order do not depend on the number of workers.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final, get_args

from codeaudit.audit.engines.local import Engine, LocalEngine
from codeaudit.audit.interface import Task
from codeaudit.audit.records import Case
from codeaudit.transforms.interface import Transform
from codeaudit.transforms.language import Language, find_language
from codeaudit.transforms.perturb import failure, perturb_one
from codeaudit.transforms.records import (
    KEEPS_TEXT,
    Evidence,
    NotApplied,
    Origin,
    Outcome,
    Perturbed,
    Sample,
    Sites,
)
from codeaudit.transforms.registry import ALL, expand, families, in_relation, transform_for

CHUNK: Final = 8
"""Samples that a worker process takes at a time."""
NO_TESTS: Final = "no tests to confirm it"
FEW: Final = 32
"""Up to this number of samples no worker is started, because starting takes longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePlan:
    """The transforms for each sample, by name, because workers cannot receive transform objects."""

    transforms: tuple[str, ...]
    variants: int
    seed: int
    sites: Sites = "auto"
    executed: bool = False
    """Whether `execution.execute` judges the variants afterwards, and may confirm edits without evidence."""


def standard_transforms(languages: Iterable[str], *, controls: bool) -> tuple[str, ...]:
    """The transforms of a default run for these languages, the identity first."""
    records = _records(languages)
    names = [name for language in records for name in language.standard]
    names += [name for language in records for name in language.controls if controls]
    return tuple(dict.fromkeys(["identity", *names]))


def of_task(
    names: Sequence[str], task: Task, languages: Collection[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The named transforms with `all` replaced by what the task takes of it, and the families that it leaves
    out.

    Raises:
        UsageError: there is no such transform or family.
    """
    if ALL not in names or not task.leaves_out:
        return tuple(names), ()
    everything = expand([ALL], languages=tuple(languages))
    family_of = {member: family.name for family in families(languages) for member in family.transforms}
    others = [name for name in names if name != ALL]
    left_out = {family_of[member] for member in everything} & task.leaves_out.keys() - {*others}
    kept = (member for member in everything if family_of[member] not in task.leaves_out)
    return (*kept, *others), tuple(sorted(left_out))


def with_controls_of(task: Task, names: Sequence[str], *, controls: bool) -> tuple[str, ...]:
    """The transforms of a run with the task's own controls, if it has some."""
    return tuple(dict.fromkeys([*names, *((task.controls or ()) if controls else ())]))


def _records(names: Iterable[str]) -> list[Language]:
    return [language for name in sorted(names) if (language := find_language(name)) is not None]


def named_transforms(names: Sequence[str], languages: Collection[str], *, controls: bool) -> tuple[str, ...]:
    """The transforms of a run for which the user named some.

    - The identity, which measures noise.
    - The named transforms; a family stands for its members in these languages.
    - With `controls`: those of a default run, so that runs can be compared, and the twin of each named
      transform.

    Raises:
        UsageError: there is no such transform or family; the message names the nearest one.
    """
    records = _records(languages)
    expanded = expand(names, languages=tuple(languages))
    extra: list[str] = []
    if controls:
        extra += (name for language in records for name in language.controls)
        extra += (
            twin
            for name in expanded
            for language in records
            if (entry := language.transforms.get(in_relation(name)[1])) and (twin := entry.twin) is not None
        )
    return tuple(dict.fromkeys(["identity", *expanded, *extra]))


def cases(samples: Iterable[Sample], plan: SuitePlan, *, workers: int) -> Iterator[Case]:
    """One case per sample, in the order of the samples; equal for every number of workers."""
    engine = LocalEngine(workers)
    yield from chosen_cases(((sample, plan.transforms) for sample in samples), plan, engine=engine)


def chosen_cases(
    chosen: Iterable[tuple[Sample, tuple[str, ...]]], plan: SuitePlan, *, engine: Engine
) -> Iterator[Case]:
    """One case per sample, each under transforms of its own. The pairs are read while cases are taken."""
    yield from engine.spread(partial(_chosen_case, plan=plan), chosen, chunk=CHUNK, few=FEW)


def _chosen_case(pair: tuple[Sample, tuple[str, ...]], plan: SuitePlan) -> Case:
    sample, transforms = pair
    return case(sample, replace(plan, transforms=transforms))


def case(sample: Sample, plan: SuitePlan) -> Case:
    """One sample under every transform of the plan."""
    outcomes = [outcome for name in plan.transforms for outcome in _outcomes(sample, name, plan)]
    return Case(sample=sample, outcomes=tuple(outcomes))


def with_repeats(case: Case, *, least: int = 1) -> Case:
    """The case with as many outcomes of the identity as a transform has variants, or `least` if that is more.

    Each is one repeat of the unchanged input. Where an edit has no effect, as many repeats change the answer
    as often as the variants do.
    """
    others = [outcome for outcome in case.outcomes if outcome.kind != "identity"]
    identities = [outcome for outcome in case.outcomes if outcome.kind == "identity"]
    count = max([least, len(identities), *(other.variant + 1 for other in others)])
    first = identities[0] if identities else None
    if first is None:  # samples that were drawn for some transforms lack it
        (first,) = perturb_one(
            case.sample, transform_for("identity", case.sample.language), variants=1, seed=0
        )
    repeats = [replace(first, variant=number) for number in range(count)]
    return replace(case, outcomes=(*repeats, *others))


def _outcomes(sample: Sample, name: str, plan: SuitePlan) -> list[Outcome]:
    transform = transform_for(name, sample.language)
    # Drawn inputs show too little: only the sample's own tests confirm an order.
    if in_relation(name)[0] == "confirmed" and not (sample.tests and plan.executed):
        return [
            NotApplied(sample=sample, transform=name, kind=transform.kind, variant=number, reason=NO_TESTS)
            for number in range(plan.variants)
        ]
    try:
        outcomes = _perturbed(sample, transform, plan)
        if transform.kind in KEEPS_TEXT:
            return outcomes
        if sample.sides == "both":
            # The second unit is drawn from a stream of its own.
            second = replace(sample, id=f"{sample.id} second", source=sample.other, context="")
            return [_both(*pair) for pair in zip(outcomes, _perturbed(second, transform, plan), strict=True)]
        if sample.sides == "all" and transform.kind != "control":
            # A control shows if the right candidate is looked at, so the others stay as they are.
            rest = [candidate for candidate in sample.candidates if candidate != sample.source]
            others = [_rewritten(candidate, sample.language, name, plan) for candidate in rest]
            return [
                _all(outcome, [other[number] for other in others]) for number, outcome in enumerate(outcomes)
            ]
        return outcomes
    except Exception as error:  # one sample on which an engine breaks must not end the run; it is counted
        reason = failure(error)
        return [
            NotApplied(sample=sample, transform=name, kind=transform.kind, variant=number, reason=reason)
            for number in range(1 if transform.kind in KEEPS_TEXT else plan.variants)
        ]


def _perturbed(sample: Sample, transform: Transform, plan: SuitePlan) -> list[Outcome]:
    return list(
        perturb_one(
            sample,
            transform,
            variants=plan.variants,
            seed=plan.seed,
            sites=plan.sites,
            unconfirmed=plan.executed,
        )
    )


@lru_cache(maxsize=8192)  # a unit is a candidate of many samples
def _rewritten(source: str, language: str, name: str, plan: SuitePlan) -> tuple[Outcome, ...]:
    """The variants of a candidate. Its text and nothing of the sample decides the stream."""
    sample = Sample(
        id=f"candidate {source}",
        language=language,
        source=source,
        label=None,
        origin=Origin(path="", line=1),
    )
    return tuple(_perturbed(sample, transform_for(name, language), plan))


def _all(outcome: Outcome, others: Sequence[Outcome]) -> Outcome:
    """The variant with the other candidates rewritten, where the transform applies to them."""
    if isinstance(outcome, NotApplied):
        return outcome
    applied = [other for other in others if isinstance(other, Perturbed)]
    return replace(
        outcome,
        candidates=tuple(
            other.source if isinstance(other, Perturbed) else other.sample.source for other in others
        ),
        evidence=_weakest(outcome, *applied),
    )


def _both(first: Outcome, second: Outcome) -> Outcome:
    """The variant of a pair with both units rewritten. Its moves are the first unit's."""
    if isinstance(first, NotApplied):
        return first
    if isinstance(second, NotApplied):
        return first.left_out(second.reason)
    return replace(first, other=second.source, evidence=_weakest(first, second))


def _weakest(*edits: Perturbed) -> Evidence:
    return min((edit.evidence for edit in edits), key=get_args(Evidence).index)
