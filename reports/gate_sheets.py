"""The table and the sentences of a gate, for every format."""

from typing import Final

from codeaudit.reports import wording
from codeaudit.reports.checks import Check, Gate, Outcome
from codeaudit.reports.sheets import Cell, Column, Sheet

WORDS: Final[dict[Outcome, str]] = {
    "passed": "passed",
    "failed": "FAILED",
    "unknown": "cannot tell",
    "untested": "not tested",
}

LEGEND: Final = (
    "violations: answers that changed although an edit kept the meaning, per sample and variant.",
    "rise: their rate now less that of the baseline; it fails where it is above the margin and an exact "
    "McNemar test rejects, which takes each sample as one unit; p is adjusted over all tests (Holm).",
)


def gate_sheets(gate: Gate) -> tuple[Sheet, ...]:
    """Return the gate's table: a row per check."""
    title = f"gate: {wording.plain(gate.run)}"
    if gate.baseline is not None:
        title += f" against {wording.plain(gate.baseline)}"
    notes = [
        f"{wording.plain(check.model)}, {check.title}: {note}."
        for check in gate.checks
        for note in check.notes
    ]
    notes += [f"{note}." for note in gate.notes]
    notes.append(verdict(gate))
    return (
        Sheet(
            title=title,
            columns=(
                Column(head="model"),
                Column(head="check"),
                Column(head="found"),
                Column(head="wanted"),
                Column(head="verdict"),
            ),
            rows=tuple(_row(check) for check in gate.checks),
            notes=tuple(notes),
            legend=LEGEND if gate.baseline is not None else LEGEND[:1],
            stacked=2,
        ),
    )


def verdict(gate: Gate) -> str:
    """Return the last line, such as `gate failed: 2 of 6 checks`."""
    failed, unknown = gate.of("failed"), gate.of("unknown")
    tested = len(gate.checks) - len(gate.of("untested"))
    if failed:
        also = f", and {len(unknown)} could not be judged" if unknown else ""
        return f"gate FAILED: {len(failed)} of {tested} checks{also}"
    if unknown:
        return f"gate cannot tell: {len(unknown)} of {tested} checks could not be judged"
    return f"gate passed: {tested} check{'s'[: tested != 1]}"


def sentence(check: Check) -> str:
    """Return a check as one line, for places without tables."""
    name = f"{wording.plain(check.model)}: {check.title}"
    return f"{name} {WORDS[check.outcome]}: {check.found}; wanted {check.wanted}"


def _row(check: Check) -> tuple[Cell, ...]:
    return (
        Cell(lines=(wording.plain(check.model),)),
        Cell(lines=(check.title,)),
        Cell(lines=(check.found,)),
        Cell(lines=(check.wanted,)),
        Cell(lines=(WORDS[check.outcome],), bold=check.outcome == "failed"),
    )
