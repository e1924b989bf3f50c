"""A run as a gate reads it, and how the answers of two runs are paired."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from codeaudit.reports.records import Flip, Summary
from codeaudit.transforms.records import Kind

Unjudged: TypeAlias = Mapping[tuple[str, Kind, str], Mapping[str, int]]
"""Number of pairs without a verdict, by (model, kind, transform), then by reason."""


DIGITS: Final = 12
"""Digits of a hash that are compared, and that baseline files hold. Two different texts look equal once in
10^14 pairs."""


class PairKey(NamedTuple):
    """The key by which answers of two runs are paired: the same question about the same text."""

    seed: int
    sample: str
    original: str
    """Hash of the sample's source."""
    transform: str
    variant: int
    input: str
    """Hash of the perturbed source."""


class AskedVariant(NamedTuple):
    """A variant of a sample, in one run."""

    seed: int
    sample: str
    transform: str
    variant: int
    input: str
    """Hash of the perturbed source."""


Pairs: TypeAlias = Mapping[str, Mapping[PairKey, bool]]
"""By model, whether each judged pair is violated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A run as a gate reads it."""

    name: str
    run: str = ""
    """The identifier in its manifest; empty if it is unknown."""
    summary: Summary
    kinds: frozenset[Kind] = frozenset()
    """The kinds of its pairs, judged or not."""
    flips: tuple[Flip, ...] = ()
    originals: Mapping[str, str] = field(default_factory=dict)
    """Hash of the unchanged text, by sample."""
    scores: Mapping[str, Mapping[tuple[int, str], float]] = field(default_factory=dict)
    """By model, the score of the original of each sample of the plain draw, by trial and sample."""
    older: bool = False
    """Whether an earlier version wrote the file, without controls and scores."""
    unjudged: Unjudged = field(default_factory=dict)
    found: frozenset[tuple[str, int, str]] = frozenset()
    """For a task with a finding, the samples that the original answer rightly found one in, or that have no
    label, as (model, trial, sample)."""
    gaps: Mapping[str, Sequence[AskedVariant]] = field(default_factory=dict)
    """Pairs without a verdict under meaning-keeping transforms, by model."""


def pairs_of(run: Judged, kind: Kind) -> Pairs:
    """Whether the answer changed on each judged pair under transforms of a kind."""
    pairs: defaultdict[str, dict[PairKey, bool]] = defaultdict(dict)
    for flip in run.flips:
        if flip.kind == kind:
            pairs[flip.model][key_of(run, flip)] = flip.violated
    return pairs


def key_of(run: Judged, pair: AskedVariant | Flip) -> PairKey:
    """The key of a pair of this run."""
    return PairKey(
        pair.seed,
        pair.sample,
        run.originals.get(pair.sample, "")[:DIGITS],
        pair.transform,
        pair.variant,
        pair.input[:DIGITS],
    )
