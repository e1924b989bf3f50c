"""The inputs of an audit: samples with their variants, made once and shared by all models."""

import os
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from typing import Final

from audit.run import Case
from transforms.perturb import perturb_one
from transforms.records import NotApplied, Outcome, Sample
from transforms.registry import CONTROLS, STANDARD, TRANSFORMS

CHUNK: Final = 8
"""Samples that a worker takes at a time."""
FEW: Final = 32
"""Up to so many samples are done sooner than workers start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is done to each sample. Names, not transforms, so that it can be sent to a worker."""

    transforms: tuple[str, ...]
    variants: int
    seed: int


def standard_transforms(languages: Iterable[str], *, controls: bool) -> tuple[str, ...]:
    """The transforms of a default run for these languages, the identity first."""
    tables = [STANDARD, CONTROLS] if controls else [STANDARD]
    names = [name for table in tables for language in sorted(languages) for name in table.get(language, ())]
    return tuple(dict.fromkeys(["identity", *names]))


def with_noise_floor(names: Sequence[str], languages: Iterable[str], *, controls: bool) -> tuple[str, ...]:
    """The named transforms, the identity that measures noise, and the controls where they are wanted.

    Raises:
        UsageError: there is no such transform; the message holds the nearest.
    """
    for name in names:
        TRANSFORMS.summary(name)
    added = sorted(languages) if controls else []
    wanted = [name for language in added for name in CONTROLS.get(language, ())]
    return tuple(dict.fromkeys(["identity", *names, *wanted]))


def cases(samples: Iterable[Sample], plan: Plan, *, workers: int) -> Iterator[Case]:
    """One case per sample, in the order of the samples; equal for every number of workers."""
    pending = iter(samples)
    first = list(islice(pending, FEW + 1))
    if workers <= 1 or len(first) <= FEW:
        yield from (case(sample, plan) for sample in chain(first, pending))
        return
    pending = chain(first, pending)
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_serve) as pool:
        while window := list(islice(pending, workers * CHUNK * 4)):
            yield from pool.map(case, window, [plan] * len(window), chunksize=CHUNK)


def case(sample: Sample, plan: Plan) -> Case:
    """One sample under every transform of the plan."""
    found = [outcome for name in plan.transforms for outcome in _outcomes(sample, name, plan)]
    return Case(sample=sample, outcomes=tuple(found))


def _outcomes(sample: Sample, name: str, plan: Plan) -> list[Outcome]:
    transform = TRANSFORMS.get(name)
    try:
        return list(perturb_one(sample, transform, variants=plan.variants, seed=plan.seed))
    except Exception as error:  # one sample on which an engine breaks must not end the run; it is counted
        deep = isinstance(error, RecursionError)
        reason = "nested too deeply" if deep else f"transform failed: {type(error).__name__}"
        return [
            NotApplied(sample=sample, transform=name, kind=transform.kind, variant=number, reason=reason)
            for number in range(1 if transform.kind == "identity" else plan.variants)
        ]


def _serve() -> None:
    """Leave Ctrl-C, which reaches the whole process group, to the parent, and end when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)
