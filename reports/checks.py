"""The result of a gate: one check per model and limit, its table and its sentences."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from codeaudit.reports import wording
from codeaudit.reports.records import Rise, decode, encode
from codeaudit.reports.sheets import Cell, Sheet, words
from codeaudit.transforms.grammar import counted

SCHEMA: Final = 1

Outcome: TypeAlias = Literal["passed", "failed", "unknown", "untested"]
"""`unknown`: the check was requested and could not be judged. `untested`: too few samples for a separate test
of this transform; the check over all transforms covers it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One limit applied to one model."""

    model: str
    name: str
    """`violations`, `f1 drop`, `sensitivity`, `rise`, `answers`, `reaction`, `MCC`, `one answer`, …"""
    transform: str = ""
    """The transform that the check is about; empty for all transforms together."""
    outcome: Outcome
    found: str
    """The measured result, as text."""
    wanted: str
    """The limit, as text."""
    value: float | None = None
    limit: float | None = None
    p_adjusted: float | None = None
    """p-value after Holm's adjustment over all tests of the gate."""
    rise: Rise | None = None
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Name of the check, such as `rise under rename`."""
        return f"{self.name} under {self.transform}" if self.transform else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The decision of a gate with all its checks."""

    schema: int = SCHEMA
    outcome: Outcome
    """`failed` if any check failed, else `unknown` if any could not be judged, else `passed`."""
    run: str
    baseline: str | None
    transforms: tuple[str, ...]
    """The meaning-keeping transforms that were judged."""
    alpha: float
    margin: float
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What makes the decision worth little. They stand in the last line."""

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return self.outcome == "passed"

    def __bool__(self) -> bool:
        return self.passed

    @property
    def exit_code(self) -> int:
        """The exit code of `codeaudit gate`: 0 passed, 1 failed, 3 could not be judged."""
        # 3 is the exit code of `CannotAudit`: CI must not take a run that could not be judged for a good one.
        return {"passed": 0, "failed": 1}.get(self.outcome, 3)

    def of(self, outcome: Outcome) -> tuple[Check, ...]:
        """Return the checks with this outcome."""
        return tuple(check for check in self.checks if check.outcome == outcome)

    def to_json(self) -> str:
        """Return the gate as JSON text."""
        return encode(self)

    @classmethod
    def from_json(cls, text: str) -> "Gate":
        """Read a gate from the text that `to_json` wrote.

        Raises:
            RunError: the text is not a gate.
        """
        return decode(cls, text, schema=SCHEMA)


WORDS: Final[dict[Outcome, str]] = {
    "passed": "passed",
    "failed": "FAILED",
    "unknown": "cannot tell",
    "untested": "not tested",
}

VIOLATIONS: Final = (
    "violations: of the samples that an edit changed in text but not in meaning, those with another answer."
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
    # A table of scores alone has no violations.
    legend = (VIOLATIONS,) if any(check.name in ("violations", "rise") for check in gate.checks) else ()
    return (
        Sheet(
            title=title,
            columns=words("model", "check", "found", "wanted", "verdict"),
            rows=tuple(_check_row(check) for check in gate.checks),
            notes=tuple(notes),
            legend=(*legend, *(() if gate.baseline is None else (_rise(gate),))),
            stacked=2,
        ),
    )


SIGN_FLIPS: Final = "sign flips over samples"
"""The method of a rise where noise was found."""


def _rise(gate: Gate) -> str:
    """Return what a rise is, and when it fails."""
    noisy = any(check.rise is not None and check.rise.method == SIGN_FLIPS for check in gate.checks)
    return (
        "rise: their rate now less that of the baseline; it fails where it is above the margin and an exact "
        f"McNemar test rejects (p at most {gate.alpha:g}). It takes each sample as one unit; p is adjusted "
        "over all tests (Holm)."
        + (
            " Where repeats changed, too, it fails if the share of changed variants and its excess over that "
            "of changed repeats have both risen by more than the margin (sign flips over samples)."
            if noisy
            else ""
        )
    )


def verdict(gate: Gate) -> str:
    """Return the last line, such as `gate failed: 2 of 6 checks`."""
    failed, unknown = gate.of("failed"), gate.of("unknown")
    # Transforms without a test of their own are in the table, but no check was made that could have failed.
    tested = len(gate.checks) - len(gate.of("untested"))
    warned = "".join(f"; {warning}" for warning in gate.warnings)
    if failed:
        also = f", and {len(unknown)} could not be judged" if unknown else ""
        return f"gate FAILED: {len(failed)} of {counted(tested, 'check')}{also}{warned}"
    if unknown:
        return f"gate cannot tell: {len(unknown)} of {counted(tested, 'check')} could not be judged{warned}"
    return f"gate passed: {counted(tested, 'check')}{warned}"


def sentence(check: Check) -> str:
    """Return a check as one line, for places without tables."""
    name = f"{wording.plain(check.model)}: {check.title}"
    return f"{name} {WORDS[check.outcome]}: {check.found}; wanted {check.wanted}"


def _check_row(check: Check) -> tuple[Cell, ...]:
    return (
        Cell(lines=(wording.plain(check.model),)),
        Cell(lines=(check.title,)),
        Cell(lines=(check.found,)),
        Cell(lines=(check.wanted,)),
        Cell(lines=(WORDS[check.outcome],), bold=check.outcome == "failed"),
    )
