"""Audited samples made by hand, and a task to score them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from codeaudit.audit.interface import AnswerKind, Expectation, FreeText, OneNumber, Task
from codeaudit.audit.records import Answer, Audited, Failed, Held, Predicted, Unjudged, Verdict, Violated
from codeaudit.transforms.records import Evidence, Kind, NotApplied, Origin, Perturbed, Sample

KINDS: Mapping[str, Kind] = {
    "identity": "identity",
    "reorder-breaking": "control",
    "rename-merging": "control",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtokens(Task):
    """Function names as sets of subtokens, scored by micro-averaged F1."""

    name: str = "function-name"
    question: str = "?"
    answers: AnswerKind = field(default_factory=FreeText)
    score_name: str = "f1"

    def prepare(self, sample: Sample) -> Sample | str:
        return sample

    def normalise(self, answer: object) -> Answer | None:
        return answer if isinstance(answer, tuple) else None

    def same(self, before: Predicted, after: Predicted) -> bool:
        return before.answer == after.answer

    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        return "other" if perturbed.kind == "control" else "same"

    def score(self, answer: Answer, sample: Sample) -> float | None:
        return self.corpus_score([(answer, sample)])

    def corpus_score(self, answers: Sequence[tuple[Answer, Sample]]) -> float | None:
        labelled = [(answer, sample.label) for answer, sample in answers if sample.label is not None]
        if not labelled:
            return None
        pairs = [(set(answer), set(label)) for answer, label in labelled]  # type: ignore[arg-type]
        hits = sum(len(answer & label) for answer, label in pairs)
        return 2 * hits / (sum(len(answer) + len(label) for answer, label in pairs) or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Error(Task):
    """Numbers scored by mean absolute percentage error: lower is better."""

    name: str = "throughput"
    question: str = "?"
    answers: AnswerKind = field(default_factory=OneNumber)
    score_name: str = "mape"
    better: Literal["higher", "lower"] = "lower"

    def prepare(self, sample: Sample) -> Sample | str:
        return sample

    def normalise(self, answer: object) -> Answer | None:
        return answer if isinstance(answer, float) else None

    def same(self, before: Predicted, after: Predicted) -> bool:
        return before.answer == after.answer

    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        return "other" if perturbed.kind == "control" else "same"

    def score(self, answer: Answer, sample: Sample) -> float | None:
        return self.corpus_score([(answer, sample)])

    def corpus_score(self, answers: Sequence[tuple[Answer, Sample]]) -> float | None:
        errors = [abs(float(a) - float(s.label)) / float(s.label) for a, s in answers]  # type: ignore[arg-type]
        return sum(errors) / len(errors) if errors else None


def sample(id: str, label: Answer | None = ("get", "name")) -> Sample:
    """A sample with a source of its own."""
    return Sample(
        id=id,
        language="python",
        source=f"def f():\n    return {id!r}\n",
        label=label,  # type: ignore[arg-type]
        origin=Origin(path="a.py", line=1),
    )


def variant(of: Sample, old: str, new: str, kind: Kind = "preserving") -> Perturbed:
    """The sample with another text, as an engine gives it."""
    source = of.source.replace(old, new)
    return Perturbed(
        sample=of, transform="t", kind=kind, variant=0, source=source, moves=(), evidence="analysis"
    )


def audited(
    model: str,
    of: Sample,
    *,
    before: Answer | None = ("get", "name"),
    after: Mapping[str, Sequence[Answer | None]] | None = None,
    missing: Mapping[str, tuple[str, int]] | None = None,
    task: Task | None = None,
) -> Audited:
    """One sample under one model.

    `before` is the original answer, `None` if it failed; `after` has per transform the answer to each
    variant, `None` for an unjudged one; `missing` has per transform a reason and how many variants.
    """
    judge = task or Subtokens()
    verdicts: list[Verdict] = []
    scores: list[float | None] = []
    for transform, answers in (after or {}).items():
        for variant, answer in enumerate(answers):
            verdicts.append(_verdict(_perturbed(of, transform, variant), before, answer))
            scores.append(None if answer is None else judge.score(answer, of))
    return Audited(
        model=model,
        sample=of,
        before=Failed(reason="input too long") if before is None else Predicted(answer=before),
        score=None if before is None or of.label is None else judge.score(before, of),
        verdicts=tuple(verdicts),
        after_scores=tuple(scores),
        not_applied=tuple(
            NotApplied(
                sample=of,
                transform=transform,
                kind=KINDS.get(transform, "preserving"),
                variant=variant,
                reason=reason,
            )
            for transform, (reason, number) in (missing or {}).items()
            for variant in range(number)
        ),
    )


def _perturbed(of: Sample, transform: str, variant: int) -> Perturbed:
    kind = KINDS.get(transform, "preserving")
    evidence: Evidence = "none" if kind == "identity" else "compiled"
    return Perturbed(
        sample=of,
        transform=transform,
        kind=kind,
        variant=variant,
        source=of.source if kind == "identity" else f"{of.source}# {transform} {variant}\n",
        moves=(),
        evidence=evidence,
    )


def _verdict(perturbed: Perturbed, before: Answer | None, answer: Answer | None) -> Verdict:
    if before is None:
        failed = Failed(reason="input too long")
        return Unjudged(perturbed=perturbed, before=failed, after=failed, reason=failed.reason)
    first = Predicted(answer=before)
    if answer is None:
        return Unjudged(
            perturbed=perturbed, before=first, after=Predicted(answer=before), reason="numeric noise"
        )
    made = Held if before == answer else Violated
    deviation = 0.0 if before == answer else 0.25
    return made(perturbed=perturbed, before=first, after=Predicted(answer=answer), deviation=deviation)
