"""Throughput: how many cycles does an iteration of this basic block take?

The target of Renamer (Ankner et al., section 2) and its predecessors: the block runs in a loop, and the
cycles are divided by the iterations. The score is the mean absolute percentage error; lower is better.

Two answers are the same if they differ by at most a millionth, because a model's answers to equal inputs
differ by the noise of float32 arithmetic (measured: 4e-7 of the answer).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from codeaudit.audit.checks import is_number, load_json
from codeaudit.audit.interface import Expectation, LabelRequest, LabelSource, OneNumber, Task
from codeaudit.audit.labels import MCA, SYNTAX, GivenLabels, given_labels, may_cost_otherwise, with_costs
from codeaudit.audit.prompts import QuestionPrompt
from codeaudit.audit.records import Answer, Case, Predicted
from codeaudit.audit.replies import AnswerShape
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.scoring import nearly_equal, number
from codeaudit.transforms.errors import CannotAudit, SourceError, UsageError
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.x86 import X86

if TYPE_CHECKING:
    from codeaudit.transforms.x86.witnesses.mca import Mca

CASES_AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLabels(LabelSource):
    """Cycles of basic blocks, measured by llvm-mca."""

    mca: "Mca"
    replaces: bool
    """Whether labels of the corpus do not count."""
    cache: Path | None

    @property
    @override
    def about(self) -> Mapping[str, object]:
        """Tool, version, processor and iterations."""
        tool = self.mca
        return {"tool": MCA, "version": tool.version, "cpu": tool.cpu, "iterations": tool.iterations}

    @property
    @override
    def follows_variants(self) -> bool:
        """True: another order of instructions may have another cost."""
        return True

    @override
    def settled(self, samples: Iterable[Sample]) -> LabelSource:
        """The corpus's own labels if it has any, because those of a table and those of a tool are not
        comparable."""
        # Any: a corpus that labels some blocks was measured, and the others are left without a label.
        has_labels = not self.replaces and any(sample.label is not None for sample in samples)
        return GivenLabels(found=True, costs=True) if has_labels else self

    @override
    def filled(self, samples: Sequence[Sample]) -> tuple[Sample, ...]:
        costs = self._measured([sample.source for sample in samples])
        return tuple(replace(sample, label=costs[sample.source]) for sample in samples)

    @override
    def relabelled(self, cases: Iterator[Case]) -> Iterator[Case]:
        """The cases; variants whose cost may differ from their sample's are measured."""
        # Starting llvm-mca takes longer than measuring a block, so many blocks share one process.
        while chunk := list(islice(cases, CASES_AT_ONCE)):
            texts = {
                outcome.source for case in chunk for outcome in case.outcomes if may_cost_otherwise(outcome)
            }
            costs = self._measured(sorted(texts))
            yield from (with_costs(case, costs) for case in chunk)

    def _measured(self, sources: Sequence[str]) -> Mapping[str, float | None]:
        from codeaudit.transforms.x86.witnesses.mca import Measured

        path = None if self.cache is None else self.cache / f"{self._key(sources)}.json"
        if path is not None and (earlier := _read(path, len(sources))) is not None:
            return dict(zip(sources, earlier, strict=True))
        results = self.mca.measure(sources)
        costs = [measured.throughput if isinstance(measured, Measured) else None for measured in results]
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Renamed when complete: a killed run must not leave half a list of cycles.
            part = path.with_suffix(".part")
            part.write_text(json.dumps(costs), encoding="utf-8")
            part.replace(path)
        return dict(zip(sources, costs, strict=True))

    def _key(self, sources: Sequence[str]) -> str:
        # Another version of llvm-mca has other tables of instructions, and so other cycles.
        about = (self.mca.version, self.mca.cpu, self.mca.iterations)
        digest = sha256(repr(about).encode())
        for source in sources:
            digest.update(b"\0" + source.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:24]


def cost_labels(request: LabelRequest) -> LabelSource:
    """Labels that are costs of x86 blocks: measured unless the corpus or a column has them.

    Raises:
        UsageError: a processor or divisor is missing or wrong.
        CannotAudit: llvm-mca is named and not installed, or does not know the processor.
    """
    from codeaudit.transforms.x86.witnesses.mca import HASWELL, find

    # The default measures if it can. A named tool that is missing is an error.
    spec = request.spec
    if spec is None:
        try:
            return CostLabels(mca=find(), replaces=False, cache=request.cache)
        except CannotAudit:  # not installed: nothing is measured
            return GivenLabels(costs=True)
    head, colon, cpu = (spec or "").partition(":")
    if head != MCA:
        return given_labels(request, costs=True)
    if colon and not cpu:
        raise UsageError(f"--labels {spec!r} names no processor; known: {SYNTAX}")
    return CostLabels(mca=find(cpu=cpu or HASWELL), replaces=True, cache=request.cache)


def _read(path: Path, count: int) -> list[float | None] | None:
    try:
        costs = load_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    fits = isinstance(costs, list) and len(costs) == count
    return costs if fits and all(cost is None or is_number(cost) for cost in costs) else None


ORDER: Final = "order"
"""The kind of the moves that reorder instructions. The cost of a block depends on their order."""


_CYCLES: Final = r"(?:clock\s+)?cycles?(?:\s*(?:per|/)\s*iter(?:ation)?)?"
_NUMBER: Final = re.compile(
    rf"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?:\s*{_CYCLES}(?:\.|[.,;:]\s.*|\s+\(.*)?)?", re.I | re.ASCII
)


def _cycles(line: str) -> float | None:
    """A number, alone or with its unit. A reason may follow the unit."""
    match = _NUMBER.fullmatch(line)
    value = float(match[1]) if match else None
    return value if value is not None and isfinite(value) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput(Task):
    """The type of `THROUGHPUT`."""

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The block as it is. A label that is no positive number is dropped."""
        if reason := self.refuses(sample.language):
            return reason
        # Here, because every endpoint reads the prompts of all tasks, and few are asked about blocks.
        from codeaudit.transforms.x86.reading import read

        try:
            read(sample.source)
        except SourceError:
            return "block that cannot be read"
        # The percentage error divides by the label, so a block of 0 cycles cannot be scored.
        label = self.normalise(sample.label)
        return replace(sample, label=label if isinstance(label, float) else None)

    @override
    def refuses(self, language: str) -> str:
        return "" if language == X86.name else "not x86"

    @override
    def normalise(self, answer: object) -> Answer | None:
        """A positive number, or the text of one."""
        cycles = number(answer)
        return cycles if cycles is not None and cycles > 0 else None

    @property
    @override
    def accepted(self) -> str:
        return "a positive number"

    @override
    def same(self, before: Predicted, after: Predicted) -> bool:
        """Equal up to `TOLERANCE`."""
        return nearly_equal(before, after)

    @override
    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """Decided by the labels if the order of instructions or the meaning changed; else the same.

        - Another order keeps the meaning of a block, but not always its cost: unknown without both labels.
        - A control need not change the cost; without labels it is assumed to.
        """
        before, after = sample.label, perturbed.sample.label
        if perturbed.kind == "control":
            # `addq` for `subq` is another block with the same cost: the label shows that nothing should move.
            return "same" if before is not None and before == after else "other"
        if any(move.kind == ORDER for move in perturbed.moves):
            if before is None or after is None:
                return "unknown"
            return "same" if before == after else "other"
        return "same"

    @override
    def score(self, answer: Answer, sample: Sample) -> float | None:
        """|f - y| / y."""
        if not isinstance(answer, float) or not isinstance(sample.label, float):
            return None
        return abs(answer - sample.label) / sample.label


THROUGHPUT: Final = Throughput(
    name="throughput",
    question="How many cycles does an iteration of this basic block take?",
    answers=OneNumber(),
    score_name="mape",
    better="lower",
    reacts=False,
    noun="blocks",
    corpus="interpreter",
    labels=cost_labels,
    wordings=wordings.THROUGHPUT,
    prompt=QuestionPrompt(
        template=(
            "This basic block of {language} (AT&T syntax) is run in a loop on an Intel Haswell processor. "
            "Nothing misses the first-level cache. How many cycles does one iteration take on average, in "
            "the steady state? Answer with one number on the first line, for example 2.25. No additional "
            "text.\n\n{code}"
        ),
        reader=AnswerShape(
            alone=_cycles,
            labels=("cycles", "cycles per iteration", "throughput", "result"),
            states=(
                r"(?:the|this)\s+(?:basic\s+)?(?:block|loop)\s+takes",
                r"(?:one|an|each)\s+iteration\s+takes",
            ),
        ),
    ),
    language=X86.name,
)
