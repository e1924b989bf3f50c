"""What a gate found: one check per model and limit, and the rise of violations that a baseline is held to."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from codeaudit.reports.codec import decode, encode

SCHEMA: Final = 1

Outcome: TypeAlias = Literal["passed", "failed", "unknown", "untested"]
"""`unknown`: it was asked for and could not be judged. `untested`: too few samples for a test of its own, and
another check covers them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """Violations of one model now and in the baseline."""

    method: str
    paired: bool
    """Whether the two runs were compared answer by answer."""
    pairs: int
    """Shared (sample, transform, variant) triples that both runs judged; unpaired: samples now."""
    samples: int
    """Independent units behind them."""
    before: int
    """Violated in the baseline; unpaired: of `baseline` samples."""
    now: int
    baseline: int
    """What `before` is counted among; equals `pairs` where paired."""
    appeared: int | None = None
    """Violated now and held before; absent where unpaired."""
    gone: int | None = None
    """Held now and violated before."""
    rise: float
    """Rate now minus rate before."""
    p: float
    """One-sided: how often as large a rise would come by chance."""
    p_pairs: float | None = None
    """The same if the pairs of a sample were independent of each other, which they are not."""
    detectable: float | None = None
    """The smallest rise that could have failed; absent where none could have."""
    likely: float | None = None
    """The smallest true rise that fails in four of five runs, even if a sample changes as a whole;
    absent where unpaired, or where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was asked of one model."""

    model: str
    name: str
    """`violations`, `f1 drop`, `sensitivity`, `rise`, `answers`."""
    transform: str = ""
    """The one transform that it is about; empty for all together."""
    outcome: Outcome
    found: str
    """What was found, in words."""
    wanted: str
    """What was asked for, in words."""
    value: float | None = None
    limit: float | None = None
    p_adjusted: float | None = None
    """Holm, over all tests of the gate."""
    rise: Rise | None = None
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """`rise under rename`."""
        return f"{self.name} under {self.transform}" if self.transform else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What a gate decided, and from what."""

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

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return self.outcome == "passed"

    @property
    def exit_code(self) -> int:
        """The exit code of `codeaudit gate`: 0 passed, 1 failed, 3 could not be judged."""
        return {"passed": 0, "failed": 1}.get(self.outcome, 3)

    def of(self, outcome: Outcome) -> tuple[Check, ...]:
        """The checks that ended so."""
        return tuple(check for check in self.checks if check.outcome == outcome)

    def to_json(self) -> str:
        """The gate as JSON text."""
        return encode(self)

    @classmethod
    def from_json(cls, text: str) -> "Gate":
        """The gate that `to_json` wrote.

        Raises:
            RunError: the text is no such gate.
        """
        return decode(cls, text, schema=SCHEMA)
