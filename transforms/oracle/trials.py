"""Whether programs pass their tests: each pair is executed in the sandbox, in a process of its own."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeAlias

from codeaudit.transforms.oracle.containment import Limits
from codeaudit.transforms.oracle.sandbox import Answer, Lost, Sandbox
from codeaudit.transforms.oracle.server import IDLE

TOGETHER: Final = 32
"""Programs that are sent at once."""
_BROKEN: Final = "something else was written to the channel"


@dataclass(frozen=True, slots=True)
class Passed:
    """Program and tests ran to their end."""


@dataclass(frozen=True, slots=True)
class Failed:
    """They did not."""

    reason: str
    """The name of the type of the exception that ended them, or what the sandbox ended them for."""
    certain: bool = True
    """Whether it would be said again; a busy machine may let pass what it ended this time."""


Outcome: TypeAlias = Passed | Failed


class Trials:
    """Owns a sandbox; a context manager. Not for use by several threads at once."""

    def __init__(self, *, cpu_seconds: float) -> None:
        """Each program with its tests may take so many seconds of processor time.

        Raises:
            CannotAudit: this machine can't contain programs.
        """
        self._sandbox = Sandbox("codeaudit.transforms.oracle.trial", Limits(cpu_seconds=cpu_seconds))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the sandbox; the next request starts another."""
        self._sandbox.close()

    def outcomes(self, pairs: Sequence[tuple[str, str]]) -> list[Outcome]:
        """What becomes of each program with its tests.

        Raises:
            CannotAudit: the sandbox can't be started.
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
                return [Failed(str(lost), certain=False)]
            return [one for pair in pairs for one in self._asked([pair])]


def _outcome(answer: Answer) -> Outcome:
    kind, told = answer
    if kind == "lost":
        return Failed(told, certain=told != IDLE)
    try:
        match json.loads(told):
            case {"passed": True}:
                return Passed()
            case {"kind": str(name)}:
                return Failed(name)
    except (ValueError, RecursionError):
        pass
    return Failed(_BROKEN)
