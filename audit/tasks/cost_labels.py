"""Labels of throughput: cycles of basic blocks that llvm-mca measures.

The cycles depend on its version, the processor and the iterations. So all three are kept with the labels, and
results are cached on disk.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from codeaudit.audit.checks import is_number, load_json
from codeaudit.audit.interface import LabelRequest, LabelSource
from codeaudit.audit.labels import MCA, SYNTAX, GivenLabels, given_labels, may_cost_otherwise, with_costs
from codeaudit.audit.records import Case
from codeaudit.transforms.errors import CannotAudit, UsageError
from codeaudit.transforms.records import Sample

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
        one = self.mca
        return {"tool": MCA, "version": one.version, "cpu": one.cpu, "iterations": one.iterations}

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
        given = not self.replaces and any(sample.label is not None for sample in samples)
        return GivenLabels(found=True, costs=True) if given else self

    @override
    def filled(self, samples: Sequence[Sample]) -> tuple[Sample, ...]:
        found = self._measured([sample.source for sample in samples])
        return tuple(replace(sample, label=found[sample.source]) for sample in samples)

    @override
    def relabelled(self, cases: Iterator[Case]) -> Iterator[Case]:
        """The cases; variants whose cost may differ from their sample's are measured."""
        # Starting llvm-mca takes longer than measuring a block, so many blocks share one process.
        while chunk := list(islice(cases, CASES_AT_ONCE)):
            texts = {one.source for case in chunk for one in case.outcomes if may_cost_otherwise(one)}
            found = self._measured(sorted(texts))
            yield from (with_costs(case, found) for case in chunk)

    def _measured(self, sources: Sequence[str]) -> Mapping[str, float | None]:
        from codeaudit.transforms.x86.witnesses.mca import Measured

        path = None if self.cache is None else self.cache / f"{self._key(sources)}.json"
        if path is not None and (known := _read(path, len(sources))) is not None:
            return dict(zip(sources, known, strict=True))
        results = self.mca.measure(sources)
        found = [one.throughput if isinstance(one, Measured) else None for one in results]
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Renamed when complete: a killed run must not leave half a list of cycles.
            part = path.with_suffix(".part")
            part.write_text(json.dumps(found), encoding="utf-8")
            part.replace(path)
        return dict(zip(sources, found, strict=True))

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
        found = load_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(found, list) and len(found) == count
    return found if whole and all(one is None or is_number(one) for one in found) else None
