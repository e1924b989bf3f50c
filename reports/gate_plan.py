"""How many samples a gate needs to see a rise, computed before a run is made."""

from dataclasses import dataclass
from typing import Final

from codeaudit.reports import wording
from codeaudit.reports.records import encode
from codeaudit.reports.sheets import Cell, Sheet, numbers
from codeaudit.reports.statistics.mcnemar import power, samples_needed
from codeaudit.transforms.grammar import counted

RISES: Final = (0.02, 0.03, 0.05, 0.1, 0.2)
POWERS: Final = (0.5, 0.8, 0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRise:
    """One true rise."""

    rise: float
    samples: tuple[int | None, ...]
    """Number of samples for each power of the plan; `None` if no number up to `MOST` is enough."""
    power: float | None
    """Chance that the planned gate fails on this rise with the samples of the run; `None` without a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePlan:
    """What a gate against a baseline can see."""

    alpha: float
    margin: float
    tests: int
    """Number of tests that the gate makes; p-values are adjusted for it."""
    churn: float
    """Share of samples that change by chance in each direction."""
    powers: tuple[float, ...] = POWERS
    samples: int | None
    """Samples of the run; `None` without a run."""
    rows: tuple[PlannedRise, ...]
    excess: float | None = None
    """The smallest effect beyond noise, a fraction, that a run of this size shows in four of five; `None`
    without a run."""

    def to_json(self) -> str:
        """Return the plan as JSON text."""
        return encode(self)


def plan(
    *,
    alpha: float,
    margin: float,
    tests: int,
    churn: float = 0.0,
    samples: int | None = None,
    excess: float | None = None,
) -> GatePlan:
    """Plan a gate.

    All pairs of a sample are taken to change together. That is the worst case: with the same number of pairs
    a rise that is spread over more samples is seen earlier. Holm's adjustment is taken at its strictest.
    """
    strict = alpha / tests
    rows = tuple(
        PlannedRise(
            rise=rise,
            samples=tuple(
                samples_needed(rise, chance, churn=churn, alpha=strict, margin=margin) for chance in POWERS
            ),
            power=None if samples is None else power(samples, rise, churn=churn, alpha=strict, margin=margin),
        )
        for rise in RISES
        if rise > margin
    )
    return GatePlan(
        alpha=alpha, margin=margin, tests=tests, churn=churn, samples=samples, rows=rows, excess=excess
    )


def plan_sheets(planned: GatePlan) -> tuple[Sheet, ...]:
    """Return the plan's table: a row per rise."""
    heads = [f"{100 * chance:g} % power" for chance in planned.powers]
    if planned.samples is not None:
        heads.append(f"power with {planned.samples:,}")
    tests = counted(planned.tests, "test")
    churn = "no" if not planned.churn else wording.percent(planned.churn)
    return (
        Sheet(
            title="gate: samples that a rise needs",
            columns=numbers("true rise, points", *heads),
            rows=tuple(_row(row, known=planned.samples is not None) for row in planned.rows),
            notes=(
                f"alpha {planned.alpha:g} over {tests}, margin {100 * planned.margin:g} percentage points, "
                f"{churn} samples change by chance.",
                *_one_run(planned),
            ),
            legend=(
                "power: how often a gate against a baseline fails if violations truly rose by that many.",
                "All variants of a sample are taken to change together, which is the worst case.",
            ),
        ),
    )


def _one_run(planned: GatePlan) -> list[str]:
    if planned.excess is None or planned.samples is None:
        return []
    points = f"{100 * planned.excess:.1f} points"
    return [
        f"One run: {planned.samples:,} samples show an excess of {points} over noise in four of five runs."
    ]


def _row(row: PlannedRise, *, known: bool) -> tuple[Cell, ...]:
    counts = ["-" if number is None else f"{number:,}" for number in row.samples]
    last = [wording.percent(row.power)] if known else []
    return tuple(Cell(lines=(text,)) for text in (f"{100 * row.rise:g}", *counts, *last))
