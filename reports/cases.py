"""Groups verdicts into test cases for JUnit, SARIF and GitHub.

A test case is one sample of one model under one meaning-keeping transform, with all its variants.
"""

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, assert_never

from codeaudit.audit.records import (
    EXCUSES,
    Answer,
    Audited,
    Failed,
    Held,
    Prediction,
    Unjudged,
    Verdict,
    Violated,
)
from codeaudit.audit.tasks.function_name import MASK, name_of
from codeaudit.reports.wording import plain
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.records import Kind, NotApplied, Sample

State: TypeAlias = Literal["held", "violated", "unjudged", "not applied"]

Locate: TypeAlias = Callable[[str], str | None]
"""Maps a sample's path to a path relative to the repository; `None` if the file is outside it."""

# A generated program as an answer would fill an annotation; the report stays readable without it.
LONGEST: Final = 200
"""Maximum number of characters of an answer in a report."""


class Place(NamedTuple):
    """A variant within one run."""

    model: str
    seed: int
    sample: str
    transform: str
    variant: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The outcome of one variant."""

    number: int
    state: State
    reason: str = ""
    """Why there is no verdict, or why the transform was not applied; otherwise empty."""
    fault: bool = False
    """Whether a verdict is missing because an answer is missing. False if the right answer itself changes."""
    before: str = ""
    after: str = ""
    source: str = ""
    """The rewritten text."""
    notes: tuple[str, ...] = ()
    """Descriptions of its moves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedCase:
    """All variants of one sample under one transform."""

    model: str
    seed: int
    transform: str
    kind: Kind
    sample: Sample
    variants: tuple[Variant, ...]
    repeats: int = 0
    """Number of judged repeats of the sample's unchanged input."""
    unsteady: int = 0
    """How many of them got another answer than the first."""

    @property
    def function(self) -> str:
        """The name of the function; empty if the text says none."""
        name = name_of(self.sample.source, self.sample.language) or ""
        if not name.startswith(MASK):
            return name
        # Where the name is what the model is asked for, the label has it, as a text or as its subtokens.
        label = self.sample.label
        if isinstance(label, tuple):
            return "_".join(map(str, label))
        return label if isinstance(label, str) else ""

    def of(self, state: State) -> tuple[Variant, ...]:
        """Return the variants in this state."""
        return tuple(variant for variant in self.variants if variant.state == state)

    def is_lasting(self, lasting: Collection[Place]) -> bool:
        """Whether a variant of this case was already violated in the baseline."""
        named = (self.model, self.seed, self.sample.id, self.transform)
        return any(Place(*named, variant.number) in lasting for variant in self.of("violated"))

    @property
    def state(self) -> State:
        """`violated` if any variant is; else `held` if any is; else `unjudged`, else `not applied`."""
        # One violated variant is enough: the meaning was kept in each of them. Held before unjudged: some
        # evidence before none.
        order: tuple[State, ...] = ("violated", "held", "unjudged")
        return next((state for state in order if self.of(state)), "not applied")

    @property
    def headline(self) -> str:
        """Summary of a violated case, such as `'get name' became 'set' under rename in 2 of 4 variants`.

        It says if the answer also changed without an edit.
        """
        violated = self.of("violated")
        judged = len(violated) + len(self.of("held"))
        first = violated[0]
        # Where edits decide what is right, the answer to the original may be the same.
        change = (
            f"{first.before!r} became {first.after!r}" if first.before != first.after else f"{first.after!r}"
        )
        sentence = f"{change} under {self.transform} in {len(violated)} of {counted(judged, 'variant')}"
        if not self.unsteady:
            return sentence
        return f"{sentence}, and without an edit in {self.unsteady} of {counted(self.repeats, 'repeat')}"


def cases(
    trials: Iterable[tuple[int, Audited]], *, transforms: frozenset[str] | None = None
) -> Iterator[ReportedCase]:
    """Yield the cases of meaning-keeping transforms, sample by sample.

    Controls give no cases, because their answers should change. `trials` yields (seed, audited sample) pairs;
    `transforms` restricts the cases to these transforms.
    """
    for seed, audited in trials:
        by_transform: dict[tuple[str, Kind], list[Variant]] = {}
        repeats = [
            isinstance(verdict, Violated)
            for verdict in audited.verdicts
            if verdict.perturbed.kind == "identity" and not isinstance(verdict, Unjudged)
        ]
        for verdict in audited.verdicts:
            named = verdict.perturbed
            by_transform.setdefault((named.transform, named.kind), []).append(_judged(verdict))
        for gap in audited.not_applied:
            by_transform.setdefault((gap.transform, gap.kind), []).append(_missing(gap))
        for (transform, kind), variants in by_transform.items():
            if kind in ("preserving", "paper") and (transforms is None or transform in transforms):
                yield ReportedCase(
                    model=audited.model,
                    seed=seed,
                    transform=transform,
                    kind=kind,
                    sample=audited.sample,
                    variants=tuple(sorted(variants, key=lambda variant: variant.number)),
                    repeats=len(repeats),
                    unsteady=sum(repeats),
                )


def diff(case: ReportedCase, variant: Variant) -> str:
    """Return the edit of a variant as a unified diff; empty if nothing changed."""
    name = f"{case.sample.origin.path}:{case.sample.origin.line}"
    texts = (case.sample.source.splitlines(), variant.source.splitlines())
    return "\n".join(difflib.unified_diff(*texts, name, f"{name} {case.transform}", lineterm=""))


def answer_line(answer: Answer) -> str:
    """Return an answer as one line of at most `LONGEST` characters."""
    text = (
        " ".join(map(str, answer))
        if isinstance(answer, tuple)
        # Six digits distinguish two throughputs; repr would print sixteen.
        else f"{answer:g}"
        if isinstance(answer, float)
        else answer
    )
    line = plain(" ".join(text.split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _judged(verdict: Verdict) -> Variant:
    reason, fault = "", False
    state: State
    match verdict:
        case Held():
            state = "held"
        case Violated():
            state = "violated"
        case Unjudged():
            # No fault of the model if the edit changes the right answer, or if nobody knows it.
            state, reason = "unjudged", verdict.reason
            fault = reason not in EXCUSES
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
    return "" if isinstance(prediction, Failed) else answer_line(prediction.answer)
