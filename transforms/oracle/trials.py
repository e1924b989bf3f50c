"""Programs with their tests: each pair is executed in the sandbox, in a process of its own.

Used to grade answers by execution. The module that runs inside the sandbox is `trial`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeAlias

from codeaudit.transforms.oracle.containment import RunLimits
from codeaudit.transforms.oracle.sandbox import Answer, Lost, Sandbox
from codeaudit.transforms.oracle.server import IDLE

TOGETHER: Final = 32
"""Most programs in one request."""
_BROKEN: Final = "something else was written to the channel"
"""Reason for an answer that is not in the format of the server."""


@dataclass(frozen=True, slots=True)
class Passed:
    """Program and tests ran to their end."""


@dataclass(frozen=True, slots=True)
class TrialFailed:
    """Program or tests did not run to their end."""

    reason: str
    """The name of the exception's type, or the reason why the sandbox ended them."""
    certain: bool = True
    """Whether another attempt would give the same; False if a busy machine may have caused the failure."""


Outcome: TypeAlias = Passed | TrialFailed


class Trials:
    """Owns a sandbox; a context manager. Not for use by several threads at once."""

    def __init__(self, *, cpu_seconds: float) -> None:
        """Prepare a sandbox. Each program with its tests may use `cpu_seconds` of processor time.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        self._sandbox = Sandbox("codeaudit.transforms.oracle.trial", RunLimits(cpu_seconds=cpu_seconds))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the sandbox. The next request starts another one."""
        self._sandbox.close()

    def outcomes(self, pairs: Sequence[tuple[str, str]]) -> list[Outcome]:
        """The outcome of each pair (program, tests), in order.

        Raises:
            CannotAudit: the sandbox cannot be started.
        """
        found: list[Outcome] = []
        for start in range(0, len(pairs), TOGETHER):
            found += self._asked(pairs[start : start + TOGETHER])
        return found

    def _asked(self, pairs: Sequence[tuple[str, str]]) -> list[Outcome]:
        jobs = [{"source": source, "tests": tests, "count": 1} for source, tests in pairs]
        try:
            return [_outcome(answer) for (answer,) in self._sandbox.ask(jobs)]
        except Lost as lost:
            if len(pairs) == 1:
                return [TrialFailed(str(lost), certain=False)]
            return [one for pair in pairs for one in self._asked([pair])]


def _outcome(answer: Answer) -> Outcome:
    kind, told = answer
    if kind == "lost":
        return TrialFailed(told, certain=told != IDLE)
    try:
        match json.loads(told):
            case {"passed": True}:
                return Passed()
            case {"kind": str(name)}:
                return TrialFailed(name)
    except (ValueError, RecursionError):
        pass
    return TrialFailed(_BROKEN)
