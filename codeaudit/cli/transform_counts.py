"""The counts of changed units by transform, as a table and as JSON, for `transform` and `verify`."""

from collections.abc import Mapping
from typing import Final

from codeaudit.audit.projects.transform_counts import TransformCounts
from codeaudit.reports.sheets import KIND_WORDS, Cell, Column, Sheet

MOST: Final = 4
"""Number of reasons shown for a transform."""


def counts_sheet(counts: Mapping[str, TransformCounts], *, title: str, units: str) -> Sheet:
    """A row per transform: how many units it changed, and why it left the others."""
    return Sheet(
        title=title,
        columns=(
            Column(head="transform"),
            Column(head="kind"),
            Column(head=units, number=True),
            Column(head="changed", number=True),
            Column(head="why not"),
        ),
        rows=tuple(_row(name, one) for name, one in counts.items()),
        stacked=2,
    )


def counts_json(counts: Mapping[str, TransformCounts]) -> list[dict[str, object]]:
    """The same for programs, with all reasons."""
    return [
        {
            "transform": name,
            "kind": one.kind,
            "units": one.units,
            "changed": one.changed,
            "evidence": dict(one.evidence.most_common()),
            "not_applied": dict(one.reasons.most_common()),
        }
        for name, one in counts.items()
    ]


def _row(name: str, one: TransformCounts) -> tuple[Cell, ...]:
    changed = 0 if one.kind == "identity" else one.changed
    ranked = sorted(one.reasons.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{count:,} × {reason}" for reason, count in ranked[:MOST]]
    if rest := sum(count for _, count in ranked[MOST:]):
        told.append(f"{rest:,} others")
    return (
        Cell(lines=(name,)),
        Cell(lines=(KIND_WORDS[one.kind],)),
        Cell(lines=(f"{one.units:,}",)),
        Cell(lines=(f"{changed:,}",)),
        Cell(lines=tuple(told) or ("",)),
    )
