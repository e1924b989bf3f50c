"""One sample of one model under one transform: what a test report or a code scanner calls a case."""

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, assert_never

from codeaudit.audit.records import (
    ANSWER_CHANGES,
    ANSWER_STAYS,
    ANSWER_UNKNOWN,
    Answer,
    Audited,
    Failed,
    Held,
    Prediction,
    Unjudged,
    Verdict,
    Violated,
)
from codeaudit.reports.wording import plain
from codeaudit.transforms.records import Kind, NotApplied, Sample

State: TypeAlias = Literal["held", "violated", "unjudged", "not applied"]

Locate: TypeAlias = Callable[[str], str | None]
"""From a sample's path to one relative to the repository; `None` where it is not in it."""

LONGEST: Final = 200
"""Characters of an answer that are shown."""


class Place(NamedTuple):
    """A variant within one run."""

    model: str
    seed: int
    sample: str
    transform: str
    variant: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """What became of one variant."""

    number: int
    state: State
    reason: str = ""
    """Why there is no verdict, or no variant."""
    fault: bool = False
    """Whether a verdict is missing that should be there; not where the right answer is known to change."""
    before: str = ""
    after: str = ""
    source: str = ""
    """The rewritten text."""
    notes: tuple[str, ...] = ()
    """Its moves, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """All variants of one sample under one transform."""

    model: str
    seed: int
    transform: str
    kind: Kind
    sample: Sample
    variants: tuple[Variant, ...]

    def of(self, state: State) -> tuple[Variant, ...]:
        """The variants that ended so."""
        return tuple(variant for variant in self.variants if variant.state == state)

    def known(self, lasting: Collection[Place]) -> bool:
        """Whether some variant was violated in the baseline already."""
        named = (self.model, self.seed, self.sample.id, self.transform)
        return any(Place(*named, variant.number) in lasting for variant in self.of("violated"))

    @property
    def state(self) -> State:
        """`violated` if any variant is; else `held` if any is; else `unjudged`, else `not applied`."""
        order: tuple[State, ...] = ("violated", "held", "unjudged")
        return next((state for state in order if self.of(state)), "not applied")

    @property
    def headline(self) -> str:
        """Of a violated case: `'get name' became 'set' under rename in 2 of 4 variants`."""
        violated = self.of("violated")
        judged = len(violated) + len(self.of("held"))
        change = f"{violated[0].before!r} became {violated[0].after!r}"
        return f"{change} under {self.transform} in {len(violated)} of {judged} variants"


def cases(
    trials: Iterable[tuple[int, Audited]], *, transforms: frozenset[str] | None = None
) -> Iterator[Case]:
    """The cases of meaning-keeping transforms, sample by sample; each audited sample comes with its seed."""
    for seed, audited in trials:
        found: dict[tuple[str, Kind], list[Variant]] = {}
        for verdict in audited.verdicts:
            named = verdict.perturbed
            found.setdefault((named.transform, named.kind), []).append(_judged(verdict))
        for gap in audited.not_applied:
            found.setdefault((gap.transform, gap.kind), []).append(_missing(gap))
        for (transform, kind), variants in found.items():
            if kind == "preserving" and (transforms is None or transform in transforms):
                yield Case(
                    model=audited.model,
                    seed=seed,
                    transform=transform,
                    kind=kind,
                    sample=audited.sample,
                    variants=tuple(sorted(variants, key=lambda variant: variant.number)),
                )


def diff(case: Case, variant: Variant) -> str:
    """What was changed, as a unified diff; empty where nothing was."""
    name = f"{case.sample.origin.path}:{case.sample.origin.line}"
    texts = (case.sample.source.splitlines(), variant.source.splitlines())
    return "\n".join(difflib.unified_diff(*texts, name, f"{name} {case.transform}", lineterm=""))


def told(answer: Answer) -> str:
    """An answer on one line, cut where it is long."""
    text = (
        " ".join(answer)
        if isinstance(answer, tuple)
        else f"{answer:g}"
        if isinstance(answer, float)
        else answer
    )
    shown = plain(" ".join(text.split()))
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def _judged(verdict: Verdict) -> Variant:
    reason, fault = "", False
    state: State
    match verdict:
        case Held():
            state = "held"
        case Violated():
            state = "violated"
        case Unjudged():
            state, reason = "unjudged", verdict.reason
            fault = reason not in (ANSWER_CHANGES, ANSWER_STAYS, ANSWER_UNKNOWN)
        case _:
            assert_never(verdict)
    return Variant(
        number=verdict.perturbed.variant,
        state=state,
        reason=reason,
        fault=fault,
        before=_answer(verdict.before),
        after=_answer(verdict.after),
        source=verdict.perturbed.source,
        notes=tuple(move.note for move in verdict.perturbed.moves if move.note),
    )


def _missing(gap: NotApplied) -> Variant:
    return Variant(number=gap.variant, state="not applied", reason=gap.reason)


def _answer(prediction: Prediction) -> str:
    return "" if isinstance(prediction, Failed) else told(prediction.answer)
