"""What reports count of an audited sample, in one record: `summarise` turns each into numbers at once."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import combinations
from typing import TypeAlias, assert_never

from codeaudit.audit.interface import SameAnswer
from codeaudit.audit.records import (
    ANSWER_CHANGES,
    NOT_REPEATED,
    Answer,
    Audited,
    Failed,
    Held,
    Predicted,
    Prediction,
    Unjudged,
    Verdict,
    Violated,
)
from codeaudit.reports.records import Flip
from codeaudit.reports.statistics.calibration import probability
from codeaudit.transforms.records import Kind, Perturbed, Sample

Places: TypeAlias = tuple[tuple[int, int], ...]
"""Ranges of lines, from 0 to one behind the last; an empty range is the place in front of its line."""


def touches_fix(source: str, other_side: str, rewritten: str) -> bool:
    """Whether an edit of a text changes, removes or moves a line of its fix, or adds one at it.

    A line of the fix is one that differs between its sides, blanks at the ends aside. Where the fix adds
    lines, those on both sides of that place are of the fix, too: there something is missing.
    """
    fix, edit = _changed(source, other_side, str.strip), _changed(source, rewritten, str)
    # Ranges that only share an end touch, too: an empty one lies between two lines.
    return any(
        start <= last and first <= end if start == end or first == last else start < last and first < end
        for start, end in fix
        for first, last in edit
    )


@lru_cache(maxsize=1024)
def _changed(text: str, other: str, shown: Callable[[str], str]) -> Places:
    """The lines of a text that another text has otherwise."""
    before, after = ([shown(line) for line in side.splitlines()] for side in (text, other))
    opcodes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return tuple((start, end) for tag, start, end, _, _ in opcodes if tag != "equal")


Same: TypeAlias = Callable[[Predicted, Predicted], bool]
"""Whether two answers count as the same (`Task.same`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One variant of a sample that exists, judged or not."""

    transform: str
    kind: Kind
    variant: int
    input: str
    """Hash of the perturbed source."""
    evidence: str
    changed: bool | None
    """Whether the answer changed; `None` if there is no verdict."""
    reason: str
    """Why there is no verdict; empty if there is one."""
    deviation: float
    sample: Sample
    """The sample with the label of the perturbed text; the answer is scored against it."""
    answer: Answer | None
    """The answer to score; `None` if it must not be scored."""
    score: float | None
    apart: int = 0
    """Number of judged repeats with another answer than this variant; 0 for a repeat."""
    moved: bool | None = None
    """Where edits decide what is right: whether the answer is another one than the first; else `changed` says
    that."""
    draws: tuple[Answer, ...] = ()
    """All answers that a sampled model drew."""
    marked: bool = False
    """Whether the edit touches a line of the sample's fix."""
    shift: float | None = None
    """As of a verdict; `None` without one."""
    sure: float | None = None
    """The probability that the model gives its answer; `None` if its scores do not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """One variant that could not be made."""

    transform: str
    kind: Kind
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One sample under one model in one trial."""

    model: str
    seed: int
    sample: Sample
    answer: Answer | None
    """`None` if the original got no answer."""
    failure: str
    """Why the original got no answer; empty if it got one."""
    score: float | None
    pairs: tuple[Pair, ...]
    missing: tuple[Missing, ...]
    extra: bool = False
    """Whether the sample was drawn in addition to the plain draw."""
    within: int = 0
    """Number of pairs of originals, the first answer and the judged repeats, with different answers."""
    draws: tuple[Answer, ...] = ()
    """As of `Pair`, to the original."""

    def repeats(self) -> list[Pair]:
        """The judged repeats in their order."""
        return sorted(self.judged("identity"), key=lambda pair: pair.variant)

    def judged(self, kind: Kind) -> list[Pair]:
        """Return the pairs of this kind that have a verdict."""
        return [pair for pair in self.pairs if pair.kind == kind and pair.changed is not None]

    def scored(self, kind: Kind) -> list[Pair]:
        """Return the pairs of this kind whose answers are scored, including those whose right answer
        changes.
        """
        return [pair for pair in self.pairs if pair.kind == kind and pair.answer is not None]

    def flips(self) -> Iterable[Flip]:
        """Return the judged pairs as rows of the table of verdicts."""
        for pair in self.pairs:
            if pair.changed is not None:
                yield Flip(
                    model=self.model,
                    seed=self.seed,
                    sample=self.sample.id,
                    transform=pair.transform,
                    kind=pair.kind,
                    variant=pair.variant,
                    input=pair.input,
                    violated=pair.changed,
                    extra=self.extra,
                )


def equal(before: Predicted, after: Predicted) -> bool:
    """Whether two answers are equal, as most tasks ask."""
    return before.answer == after.answer


def observe(audited: Audited, *, seed: int, same: Same = equal, decided: bool = False) -> Observation:
    """Return the digest of an audited sample in the trial with this seed.

    `same` compares the answers to repeats with those to variants and with each other. The verdicts have
    compared all of them with the first answer, but for those of variants where edits decide what is right
    (`decided`): there a violation is a wrong answer, and noise is compared with the answers that changed.
    """
    before = audited.before
    # A failure without a reason must still differ from an answer: `failure` is also the flag.
    failure = (before.reason or "no answer") if isinstance(before, Failed) else ""
    repeats = _repeats(audited.verdicts)
    return Observation(
        model=audited.model,
        seed=seed,
        sample=audited.sample,
        answer=None if isinstance(before, Failed) else before.answer,
        failure=failure,
        score=None if failure else audited.score,
        pairs=tuple(
            _beside(_pair(verdict, score), verdict, repeats, same, decided=decided)
            for verdict, score in zip(audited.verdicts, audited.after_scores, strict=True)
            if not (isinstance(verdict, Unjudged) and verdict.reason == NOT_REPEATED)
        ),
        missing=tuple(
            Missing(transform=gap.transform, kind=gap.kind, reason=gap.reason) for gap in audited.not_applied
        ),
        extra=audited.extra,
        draws=() if isinstance(before, Failed) else before.draws,
        within=sum(isinstance(repeat, Violated) for repeat in repeats)
        + sum(_differ(one, other.after, same) for one, other in combinations(repeats, 2)),
    )


def _repeats(verdicts: Iterable[Verdict]) -> list[Held | Violated]:
    """The judged repeats in their order."""
    repeats = [
        verdict
        for verdict in verdicts
        if verdict.perturbed.kind == "identity" and not isinstance(verdict, Unjudged)
    ]
    return sorted(repeats, key=lambda repeat: repeat.perturbed.variant)


def _beside(
    pair: Pair, verdict: Verdict, repeats: Sequence[Held | Violated], same: Same, *, decided: bool
) -> Pair:
    """The pair with the number of repeats that it differs from."""
    if pair.kind == "identity" or isinstance(verdict, Unjudged) or not repeats:
        return pair
    changed = isinstance(verdict, Violated)
    if decided:
        changed = not same(verdict.before, verdict.after)
        pair = replace(pair, moved=changed)
    # A repeat with the very first answer differs from what the first answer differs from.
    apart = sum(
        changed if repeat.after.answer == repeat.before.answer else _differ(repeat, verdict.after, same)
        for repeat in repeats
    )
    return replace(pair, apart=apart) if apart else pair


def _differ(repeat: Held | Violated, other: Predicted, same: Same) -> bool:
    return not same(repeat.after, other)


def _pair(verdict: Verdict, score: float | None) -> Pair:
    judged: Held | Violated | None = None
    answer: Answer | None = None
    reason = ""
    match verdict:
        case Held() | Violated():
            judged, answer = verdict, verdict.after.answer
        case Unjudged():
            reason = verdict.reason
            # The edit changes the right answer: there is no verdict on invariance, but the answer is scored
            # against the new label, which `perturbed.sample` holds.
            if reason == ANSWER_CHANGES and not isinstance(verdict.after, Failed):
                answer = verdict.after.answer
        case _:
            assert_never(verdict)
    perturbed = verdict.perturbed
    return Pair(
        transform=perturbed.transform,
        kind=perturbed.kind,
        variant=perturbed.variant,
        # A hash in place of the text, because all observations of a run are in memory at once. Python sources
        # may hold lone surrogates, which strict UTF-8 refuses. 64 bits are plenty for one run.
        input=hashlib.sha256(perturbed.source.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        evidence=perturbed.evidence,
        changed=isinstance(judged, Violated) if judged else None,
        reason=reason,
        deviation=judged.deviation if judged else 0.0,
        shift=judged.shift if judged else None,
        sample=perturbed.sample,
        answer=answer,
        score=None if answer is None else score,
        draws=() if isinstance(verdict.after, Failed) else verdict.after.draws,
        marked=_is_marked(perturbed),
        sure=_sure(verdict.after),
    )


def _sure(prediction: Prediction) -> float | None:
    if isinstance(prediction, Failed) or not prediction.scores:
        return None
    return probability(str(prediction.answer), dict(prediction.scores))


def _is_marked(perturbed: Perturbed) -> bool:
    other = perturbed.sample.other_side
    if not other or perturbed.kind != "preserving":
        return False
    return touches_fix(perturbed.sample.source, other, perturbed.source)


def judged_by(observation: Observation, same: SameAnswer) -> Observation:
    """The observation as another rule of when two answers are the same judges its pairs."""
    repeats = [pair.answer for pair in observation.repeats()]

    def changed(before: Answer | None, after: Answer | None) -> bool:
        # Of a judged pair both are there.
        return before is not None and after is not None and same(before, after) is False

    def judged(pair: Pair) -> Pair:
        if pair.changed is None or observation.answer is None or pair.answer is None:
            return pair
        again = () if pair.kind == "identity" else repeats
        apart = sum(changed(repeat, pair.answer) for repeat in again)
        alike = same(observation.answer, pair.answer)
        return replace(pair, changed=None if alike is None else not alike, apart=apart)

    within = sum(changed(before, after) for before, after in combinations([observation.answer, *repeats], 2))
    return replace(observation, pairs=tuple(map(judged, observation.pairs)), within=within)
