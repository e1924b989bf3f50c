"""The counts of what transforms did to units, as a table and as JSON."""

from collections.abc import Mapping
from typing import Final

from codeaudit.audit.projects.transform_counts import TransformCounts
from codeaudit.reports.sheets import KIND_WORDS, Cell, Column, Sheet

MOST: Final = 4
"""Reasons shown for a transform."""


def tally_sheet(tallies: Mapping[str, TransformCounts], *, title: str, units: str) -> Sheet:
    """How many units each transform changed, and why it left the others."""
    return Sheet(
        title=title,
        columns=(
            Column(head="transform"),
            Column(head="kind"),
            Column(head=units, number=True),
            Column(head="changed", number=True),
            Column(head="why not"),
        ),
        rows=tuple(_row(name, tally) for name, tally in tallies.items()),
        stacked=2,
    )


def tally_json(tallies: Mapping[str, TransformCounts]) -> list[dict[str, object]]:
    """The same for programs, with every reason."""
    return [
        {
            "transform": name,
            "kind": tally.kind,
            "units": tally.units,
            "changed": tally.changed,
            "evidence": dict(tally.evidence.most_common()),
            "not_applied": dict(tally.reasons.most_common()),
        }
        for name, tally in tallies.items()
    ]


def _row(name: str, tally: TransformCounts) -> tuple[Cell, ...]:
    changed = 0 if tally.kind == "identity" else tally.changed
    ranked = sorted(tally.reasons.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{count:,} × {reason}" for reason, count in ranked[:MOST]]
    if rest := sum(count for _, count in ranked[MOST:]):
        told.append(f"{rest:,} others")
    return (
        Cell(lines=(name,)),
        Cell(lines=(KIND_WORDS[tally.kind],)),
        Cell(lines=(f"{tally.units:,}",)),
        Cell(lines=(f"{changed:,}",)),
        Cell(lines=tuple(told) or ("",)),
    )
