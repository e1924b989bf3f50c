"""The driver of all transforms: samples in, outcomes out.

It trusts no transform:
- a variant that equals its input or an earlier variant is not counted;
- a text that does not parse is not applied, with that reason;
- a meaning-keeping edit for which nothing vouches is not applied (`promised`);
- each record says how it is known that the meaning was kept.

The audit calls it for suites and searches, `source_files.py` for files in place.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from random import Random
from typing import Final

from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import (
    NOT_PARSED,
    RESULT_NOT_PARSED,
    NoFunctionError,
    ReaderLimitError,
    SourceError,
    UnknownSyntaxError,
    raised_at,
)
from codeaudit.transforms.grammar import with_article
from codeaudit.transforms.interface import (
    OtherSide,
    Refused,
    Rewritten,
    Transform,
    is_surrounded,
    knows_names,
    placed,
    uses_relation,
)
from codeaudit.transforms.language import find_language
from codeaudit.transforms.records import (
    KEEPS_TEXT,
    FunctionContext,
    Move,
    NotApplied,
    Outcome,
    Perturbed,
    Sample,
    Sites,
)
from codeaudit.transforms.registration import fits, load_target, wrong_member
from codeaudit.transforms.seeding import stream

DRAWS_PER_VARIANT: Final = 8
"""Draws per variant; if all of them are duplicates, the variant is not applied."""

EXHAUSTED: Final = "no further distinct variant"
TOLD: Final = 100
"""Number of letters that are shown of somebody else's error."""
WRONG_PROPOSAL: Final = "`propose` returned neither a tuple of Move nor Refused"
DENIED: Final = "the file shows that an assumption does not hold: "
"""Beginning of the reasons to leave a file alone because of an entry of the ledger."""
NO_FUNCTION: Final = "the text is not one function"
UNCHANGED: Final = "nothing would change"
UNCONFIRMED: Final = "not confirmed by execution"
"""Why an edit without a promise (evidence `none`, as a codemod's) is not applied after an execution."""
NOT_EXECUTED: Final = f"{UNCONFIRMED} (--execute)"
"""The same without an execution; it names the option that executes variants."""


def perturb(
    samples: Iterable[Sample],
    transforms: Sequence[Transform],
    *,
    variants: int,
    seed: int,
    sites: Sites = "auto",
) -> Iterator[Outcome]:
    """The outcomes of every sample under every transform, sample by sample. Memory does not grow with the
    samples.

    An outcome depends only on the seed, the sample's id and text, the transform and the variant's number. The
    identity has one variant, because more would repeat the same text.

    Args:
        variants: the number of outcomes per sample and transform.
        sites: how many of the proposed moves make a variant; see `records.Sites`.
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
    """The variants of one sample under one transform. They differ from the sample and from one another.

    `unconfirmed` lets meaning-keeping edits without evidence pass. Only a caller that executes the variants
    afterwards may set it.
    """
    # These would repeat one text, so they have one variant.
    count = 1 if transform.kind in KEEPS_TEXT else variants
    if transform.languages and sample.language not in transform.languages:
        yield from (_refused(sample, transform, number, "other language") for number in range(count))
        return
    # Some are meant to repeat the text of the sample; every other variant must be a new text.
    seen = {sample.source} if transform.kind not in KEEPS_TEXT else set()
    transform = within(sample, transform)
    try:
        context = part_of(sample, transform)
    except SourceError as error:
        reason = _unread(error)
        yield from (_refused(sample, transform, number, reason) for number in range(count))
        return
    if context.obstacle is not None:
        yield from (_refused(sample, transform, number, context.obstacle) for number in range(count))
        return
    for number in range(count):
        outcome = _variant(sample, context, transform, number, seed=seed, seen=seen, sites=sites)
        if not unconfirmed:
            outcome = promised(outcome, NOT_EXECUTED)
        yield outcome
        if isinstance(outcome, Perturbed):
            seen.add(outcome.source)
            continue
        # A refusal is permanent, and eight draws without a new text mean that there is none: later variants
        # would end the same way.
        yield from (_refused(sample, transform, rest, outcome.reason) for rest in range(number + 1, count))
        return


def _unread(error: SourceError) -> str:
    """The reason to count for a text that cannot be read."""
    if isinstance(error, NoFunctionError):
        return NO_FUNCTION
    return str(error) if isinstance(error, UnknownSyntaxError | ReaderLimitError) else NOT_PARSED


FAILED: Final = "transform failed"
"""Beginning of the reasons where a transform raised."""


def failure(error: Exception) -> str:
    """The reason to count where a transform raised; of somebody else's with the text and the place."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    reason = f"{FAILED}: {type(error).__name__}"
    place = raised_at(error)
    text = " ".join(str(error).split())[:TOLD]
    return f"{reason}: {text}{place}" if place else reason


def promised(outcome: Outcome, reason: str = UNCONFIRMED) -> Outcome:
    """The outcome, unless it is a meaning-keeping edit for which nothing vouches: that is not applied."""
    if isinstance(outcome, Perturbed) and outcome.kind == "preserving" and outcome.evidence == "none":
        return outcome.left_out(reason)
    return outcome


def reapply(
    sample: Sample,
    transform: Transform,
    moves: tuple[Move, ...],
    *,
    variant: int = 0,
    unconfirmed: bool = False,
) -> Perturbed | NotApplied:
    """A sample rewritten by given moves: some of a proposal's, or milder ones. Searches and shrinking call
    this.

    The transform refuses illegal moves. A text that stays the same is not applied.
    `unconfirmed` lets edits without evidence pass, for a variant that execution has confirmed before.
    """
    try:
        context = part_of(sample, transform)
        if context.obstacle is not None:
            return _refused(sample, transform, variant, context.obstacle)
        rewritten = within(sample, transform).apply(context.source, moves)
    except SourceError as error:
        return _refused(sample, transform, variant, _unread(error))
    # No subset is left to try here: the caller chose the moves.
    if isinstance(rewritten, Refused):
        return _refused(sample, transform, variant, rewritten.reason)
    if _is_theirs(transform) and (wrong := _wrong(rewritten, context, sample.language)):
        return _refused(sample, transform, variant, wrong)
    source = context.before + rewritten.source + context.after
    if source == sample.source:
        return _refused(sample, transform, variant, UNCHANGED)
    outcome = Perturbed(
        sample=sample,
        transform=transform.name,
        kind=transform.kind,
        variant=variant,
        source=source,
        moves=moves,
        evidence=rewritten.evidence,
    )
    return outcome if unconfirmed else promised(outcome)


def within(sample: Sample, transform: Transform) -> Transform:
    """The transform with what the file of a sample shows, or else the text of the sample."""
    if isinstance(transform, OtherSide):
        return replace(transform, text=sample.other_side)
    if is_surrounded(transform):
        record = find_language(sample.language)
        file = sample.file if sample.context and record is not None and record.has_macros else ""
        return transform.within(placed(sample.context or sample.source, file))
    return transform


def under(transform: Transform, dependence: Dependence) -> Transform:
    """The transform under this relation, if it depends on one."""
    return transform.under(dependence) if uses_relation(transform) else transform


def part_of(sample: Sample, transform: Transform) -> FunctionContext:
    """The part of a sample that a transform is given, with the text around it, and what forbids the
    transform.

    Raises:
        SourceError: the text cannot be parsed, or holds no single function.
    """
    return part_for(transform, sample.source, sample.language, file=sample.context)


def part_for(transform: Transform, source: str, language: str, *, file: str) -> FunctionContext:
    """The part of a text that a transform is given, with the text around it, and what forbids the transform.

    Args:
        transform: whose unit decides what it is given.
        source: the whole text of a sample.
        language: that of the text.
        file: the text of the file around it; empty if that is unknown.

    Raises:
        SourceError: the text cannot be parsed, or holds no single function.
    """
    # The identity must give back every byte, and it fits texts that do not parse.
    if transform.kind in KEEPS_TEXT:
        return FunctionContext("", source, "")
    if denied := _denied(transform, language, file or source):
        return FunctionContext("", source, "", denied)
    if transform.unit != "function":
        return FunctionContext("", source, "")
    context = function_context_of(source, language)
    if knows_names(transform):
        return context if context.obstacle is None else replace(context, obstacle=None)
    record = find_language(language)
    if context.obstacle is None and file and record is not None and record.obstacle_in_file:
        # Layout does not depend on what builtins mean.
        options = {} if transform.needs_names else {"names_count": False}
        obstacle: str | None = load_target(record.obstacle_in_file)(context.source, file, **options)
        return replace(context, obstacle=obstacle)
    return context


def _denied(transform: Transform, language: str, file: str) -> str | None:
    """Why a transform is not used in a file: its edits rest on what the file shows not to hold."""
    record = find_language(language)
    entry = record and record.transforms.get(transform.name.rpartition("/")[2])
    if record is None or not entry or not record.shown_in:
        return None
    lines: Mapping[str, int] = load_target(record.shown_in)(file)
    judged: Set[str] = getattr(transform, "judges", frozenset())
    return next((f"{DENIED}{id}" for id in entry.rests_on if id not in judged and id in lines), None)


def shown_at(sample: Sample, reason: str) -> str:
    """Where the file of a sample shows that an assumption does not hold, as `path:line`; of a sample of a
    table, its row. Empty for other reasons."""
    record = find_language(sample.language)
    if not reason.startswith(DENIED) or record is None:
        return ""
    origin = sample.origin
    if not origin.path.endswith((*record.endings, *record.named_endings)):
        return f"{origin.path}:{origin.line}"
    lines: Mapping[str, int] = load_target(record.shown_in)(sample.context or sample.source)
    line = lines.get(reason.removeprefix(DENIED), 0)
    return f"{origin.path}:{line}" if line else origin.path


def function_context_of(source: str, language: str) -> FunctionContext:
    """The one function of a text and the text around it. In a language without functions: the whole text.

    Raises:
        SourceError: the text cannot be parsed, or holds no single function.
    """
    record = find_language(language)
    if record is None or not record.function_context:
        return FunctionContext("", source, "")
    context: FunctionContext = load_target(record.function_context)(source)
    return context


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
    # The number is part of the stream, so more variants never change the first ones.
    rng = stream(seed, sample.id, transform.name, number)
    theirs = _is_theirs(transform)
    for draw in range(DRAWS_PER_VARIANT):
        try:
            proposed = transform.propose(context.source, rng)
            if isinstance(proposed, Refused):
                return _refused(sample, transform, number, proposed.reason)
            if theirs and not fits(proposed, tuple[Move, ...]):
                return _refused(sample, transform, number, WRONG_PROPOSAL)
            moves = _chosen(proposed, rng, sites, first=draw == 0)
            rewritten = transform.apply(context.source, moves)
        except SourceError as error:
            return _refused(sample, transform, number, _unread(error))
        if isinstance(rewritten, Refused):
            if moves == proposed:
                return _refused(sample, transform, number, rewritten.reason)
            continue  # the moves are legal together, but this subset is not
        if theirs and (wrong := _wrong(rewritten, context, sample.language)):
            return _refused(sample, transform, number, wrong)
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


def _wrong(rewritten: object, context: FunctionContext, language: str) -> str:
    """Why what somebody else's transform returned is no variant; empty if it is one.

    Ours make texts that parse, and looking would take longer than most of them.
    """
    if not isinstance(rewritten, Rewritten):
        return f"`apply` returned {with_article(type(rewritten).__name__)}, neither Rewritten nor Refused"
    if wrong := wrong_member(rewritten, Rewritten):
        return f"of what `apply` returned {wrong}"
    record = find_language(language)
    source = context.before + rewritten.source + context.after
    return "" if record is None or record.parses(source) else RESULT_NOT_PARSED


def _is_theirs(transform: Transform) -> bool:
    """Whether a transform, or one of those that it mixes, is of a plug-in or of the user's project."""
    home = type(transform).__module__.partition(".")[0]
    return home != __name__.partition(".")[0] or any(map(_is_theirs, getattr(transform, "parts", ())))


def _chosen(proposed: tuple[Move, ...], rng: Random, sites: Sites, *, first: bool) -> tuple[Move, ...]:
    """The moves of this draw. Without subsets a transform without random choices would repeat itself."""
    if len(proposed) < 2 or sites == "all" or (sites == "auto" and first):
        return proposed
    if sites == "one":
        return (rng.choice(proposed),)
    # Each move with probability 1/2: every subset is equally likely, and the empty one would change nothing.
    kept = tuple(move for move in proposed if rng.random() < 0.5)
    return kept or (rng.choice(proposed),)


def _refused(sample: Sample, transform: Transform, number: int, reason: str) -> NotApplied:
    return NotApplied(
        sample=sample, transform=transform.name, kind=transform.kind, variant=number, reason=reason
    )
