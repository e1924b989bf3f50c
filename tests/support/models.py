"""Models and cases made by hand, for tests of the driver."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from codeaudit.audit.interface import BaseModel
from codeaudit.audit.records import Case, Failed, Predicted, Prediction, Query
from codeaudit.transforms.records import Kind, NotApplied, Origin, Perturbed, Sample


@dataclass
class Recorder(BaseModel):
    """A model that writes down every batch it is asked."""

    answer: Callable[[Query], Prediction]
    name: str = "recorder"
    fingerprint: str = "recorder"
    task: str | None = None
    parameters: int | None = None
    noise: float = 0.0
    batches: list[list[Query]] = field(default_factory=list)

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        self.batches.append(list(queries))
        return [self.answer(query) for query in queries]

    @property
    def asked(self) -> list[str]:
        return [query.source for batch in self.batches for query in batch]


def echo(query: Query) -> Prediction:
    """Another answer for every source."""
    return Predicted(answer=f"answer_{''.join(filter(str.isalnum, query.source))}")


def refuse(query: Query) -> Prediction:
    return Failed(reason="endpoint: 429")


def sample(source: str, label: tuple[str, ...] | None = ("a",)) -> Sample:
    return Sample(
        id=f"id-{source}", language="python", source=source, label=label, origin=Origin(path="a.py", line=1)
    )


def perturbed(
    original: Sample, source: str, *, transform: str = "rename", kind: Kind = "preserving", variant: int = 0
) -> Perturbed:
    return Perturbed(
        sample=original,
        transform=transform,
        kind=kind,
        variant=variant,
        source=source,
        moves=(),
        evidence="analysis",
    )


def case(source: str, *variants: str, refused: str | None = None) -> Case:
    """A sample with its identity, its variants under `rename`, and maybe a refusal."""
    original = sample(source)
    outcomes = [
        perturbed(original, source, transform="identity", kind="identity"),
        *(perturbed(original, text, variant=number) for number, text in enumerate(variants)),
    ]
    gone = [
        NotApplied(sample=original, transform="reorder", kind="preserving", variant=0, reason=reason)
        for reason in [refused]
        if reason
    ]
    return Case(sample=original, outcomes=(*outcomes, *gone))
