"""The one driver of all engines: samples in, outcomes out.

It trusts no engine. A variant that equals its input or an earlier variant never counts, text that no
longer parses is refused, and every record says how it is known that the meaning was kept.
"""

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.function_context import FunctionContext
from codeaudit.transforms.interface import Refused, Transform
from codeaudit.transforms.languages import find_language
from codeaudit.transforms.loading import load_target
from codeaudit.transforms.records import Move, NotApplied, Outcome, Perturbed, Sample, Sites
from codeaudit.transforms.seeding import stream

DRAWS_PER_VARIANT: Final = 8
"""How often another draw is tried before a variant is given up as a duplicate."""

EXHAUSTED: Final = "no further distinct variant"
NOT_PARSED: Final = "source does not parse"
UNCHANGED: Final = "nothing would change"
UNCONFIRMED: Final = "not confirmed by execution"
"""Why an edit without a promise (evidence `none`, as a codemod's) is not applied."""


def perturb(
    samples: Iterable[Sample],
    transforms: Sequence[Transform],
    *,
    variants: int,
    seed: int,
    sites: Sites = "auto",
) -> Iterator[Outcome]:
    """Every sample under every transform, `variants` times; streams, so memory stays flat.

    Outcomes of one sample depend on (seed, sample id, transform, variant) alone. The identity has one
    variant, since more would be the same text again.
    """
    for sample in samples:
        for transform in transforms:
            yield from perturb_one(sample, transform, variants=variants, seed=seed, sites=sites)


def perturb_one(
    sample: Sample,
    transform: Transform,
    *,
    variants: int,
    seed: int,
    sites: Sites = "auto",
    unconfirmed: bool = False,
) -> Iterator[Outcome]:
    """The variants of one sample under one transform, distinct from it and from each other.

    `unconfirmed` lets meaning-keeping edits without evidence pass. Only a caller that executes the variants
    afterwards may set it.
    """
    count = 1 if transform.kind == "identity" else variants
    if transform.languages and sample.language not in transform.languages:
        yield from (_refused(sample, transform, number, "other language") for number in range(count))
        return
    seen = {sample.source} if transform.kind != "identity" else set()
    try:
        context = _context(sample, transform)
    except SourceError:
        yield from (_refused(sample, transform, number, NOT_PARSED) for number in range(count))
        return
    if context.obstacle is not None:
        yield from (_refused(sample, transform, number, context.obstacle) for number in range(count))
        return
    for number in range(count):
        outcome = _variant(sample, context, transform, number, seed=seed, seen=seen, sites=sites)
        if not unconfirmed:
            outcome = promised(outcome)
        yield outcome
        if isinstance(outcome, Perturbed):
            seen.add(outcome.source)
            continue
        # What one draw refuses for good, or eight draws could not find, later variants will not find.
        yield from (_refused(sample, transform, rest, outcome.reason) for rest in range(number + 1, count))
        return


def promised(outcome: Outcome) -> Outcome:
    """The outcome, unless it is a meaning-keeping edit for which nothing vouches: that is not applied."""
    if isinstance(outcome, Perturbed) and outcome.kind == "preserving" and outcome.evidence == "none":
        return outcome.left_out(UNCONFIRMED)
    return outcome


def reapply(
    sample: Sample,
    transform: Transform,
    moves: tuple[Move, ...],
    *,
    variant: int = 0,
    unconfirmed: bool = False,
) -> Perturbed | NotApplied:
    """A sample rewritten by these moves of a transform, any of a proposal's or milder ones; for searches.

    The moves are legal or refused, as the transform says; text that stays as it is counts as not applied.
    `unconfirmed` lets edits without evidence pass, for a variant that execution has confirmed before.
    """
    try:
        context = _context(sample, transform)
        if context.obstacle is not None:
            return _refused(sample, transform, variant, context.obstacle)
        rewritten = transform.apply(context.source, moves)
    except SourceError:
        return _refused(sample, transform, variant, NOT_PARSED)
    if isinstance(rewritten, Refused):
        return _refused(sample, transform, variant, rewritten.reason)
    source = context.before + rewritten.source + context.after
    if source == sample.source:
        return _refused(sample, transform, variant, UNCHANGED)
    made = Perturbed(
        sample=sample,
        transform=transform.name,
        kind=transform.kind,
        variant=variant,
        source=source,
        moves=moves,
        evidence=rewritten.evidence,
    )
    return made if unconfirmed else promised(made)


def _context(sample: Sample, transform: Transform) -> FunctionContext:
    """What a transform is given of a sample: of Python and Java, one function."""
    if transform.unit == "function" and transform.kind != "identity":
        return function_context_of(sample.source, sample.language)
    return FunctionContext("", sample.source, "")


def function_context_of(source: str, language: str) -> FunctionContext:
    """The one function of a text and what stands around it; the whole text in languages without functions.

    Raises:
        SourceError: the text cannot be parsed, or is not one function with what belongs to it.
    """
    record = find_language(language)
    if record is None or not record.function_context:
        return FunctionContext("", source, "")
    found: FunctionContext = load_target(record.function_context)(source)
    return found


def _variant(
    sample: Sample,
    context: FunctionContext,
    transform: Transform,
    number: int,
    *,
    seed: int,
    seen: set[str],
    sites: Sites,
) -> Outcome:
    rng = stream(seed, sample.id, transform.name, number)
    for draw in range(DRAWS_PER_VARIANT):
        try:
            proposed = transform.propose(context.source, rng)
            if isinstance(proposed, Refused):
                return _refused(sample, transform, number, proposed.reason)
            moves = _chosen(proposed, rng, sites, first=draw == 0)
            rewritten = transform.apply(context.source, moves)
        except SourceError:
            return _refused(sample, transform, number, NOT_PARSED)
        if isinstance(rewritten, Refused):
            if moves == proposed:
                return _refused(sample, transform, number, rewritten.reason)
            continue  # this subset does not stand alone
        source = context.before + rewritten.source + context.after
        if source not in seen:
            return Perturbed(
                sample=sample,
                transform=transform.name,
                kind=transform.kind,
                variant=number,
                source=source,
                moves=moves,
                evidence=rewritten.evidence,
            )
    return _refused(sample, transform, number, EXHAUSTED)


def _chosen(proposed: tuple[Move, ...], rng: Random, sites: Sites, *, first: bool) -> tuple[Move, ...]:
    """The moves that make this draw: a deterministic transform would repeat itself without subsets."""
    if len(proposed) < 2 or sites == "all" or (sites == "auto" and first):
        return proposed
    if sites == "one":
        return (rng.choice(proposed),)
    kept = tuple(move for move in proposed if rng.random() < 0.5)
    return kept or (rng.choice(proposed),)


def _refused(sample: Sample, transform: Transform, number: int, reason: str) -> NotApplied:
    return NotApplied(
        sample=sample, transform=transform.name, kind=transform.kind, variant=number, reason=reason
    )
