"""Records of a gate's result: one check per model and limit, and the measured rise against the baseline."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from codeaudit.reports.codec import decode, encode

SCHEMA: Final = 1

Outcome: TypeAlias = Literal["passed", "failed", "unknown", "untested"]
"""`unknown`: the check was requested and could not be judged. `untested`: too few samples for a separate test
of this transform; the check over all transforms covers it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """Violations of one model, now and in the baseline."""

    method: str
    paired: bool
    """Whether the test pairs answers of the two runs. If not, it compares two independent counts of
    samples.
    """
    pairs: int
    """Number of (sample, transform, variant) pairs that both runs judged. Unpaired: number of samples now."""
    samples: int
    """Number of independent units (samples) behind them."""
    before: int
    """Pairs violated in the baseline. Unpaired: violated samples among `baseline`."""
    now: int
    baseline: int
    """Total of which `before` is a part; equals `pairs` if paired."""
    appeared: int | None = None
    """Pairs violated now that held before; absent if unpaired."""
    gone: int | None = None
    """Pairs violated before that hold now; absent if unpaired."""
    rise: float
    """Rate now minus rate before."""
    p: float
    """One-sided p-value: probability of a rise at least this large under no change."""
    p_pairs: float | None = None
    """p-value of McNemar's test over pairs. Not used for decisions, because pairs of one sample are not
    independent.
    """
    detectable: float | None = None
    """The smallest rise that could have failed the gate; absent if no rise could have."""
    likely: float | None = None
    """The smallest true rise that fails in four of five runs, even if all pairs of a sample change together.
    Absent if unpaired, or if there is no such rise.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One limit applied to one model."""

    model: str
    name: str
    """`violations`, `f1 drop`, `sensitivity`, `rise`, `answers`."""
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

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return self.outcome == "passed"

    @property
    def exit_code(self) -> int:
        """The exit code of `codeaudit gate`: 0 passed, 1 failed, 3 could not be judged."""
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
