"""Values of calls: each text ends with a call, which the sandbox executes in a process of its own.

Used by the task `output-prediction` for its labels. The module that runs inside the sandbox is `results`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeAlias

from codeaudit.transforms.oracle.containment import RunLimits
from codeaudit.transforms.oracle.sandbox import Answer, Lost, Sandbox
from codeaudit.transforms.oracle.server import IDLE

TOGETHER: Final = 64
"""Most texts in one request."""
_BROKEN: Final = "something else was written to the channel"
"""Reason for an answer that is not in the format of the server."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The call returned a value of builtin types."""

    text: str
    """Its `repr`."""


@dataclass(frozen=True, slots=True)
class Raised:
    """The call raised an exception."""

    kind: str
    """The name of the exception's type."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """The result of the call cannot be stated."""

    reason: str
    """A short phrase without names or numbers of the text, so that equal reasons are counted together."""
    certain: bool = True
    """Whether another attempt would give the same; False if a busy machine may have caused the loss."""


Result: TypeAlias = Returned | Raised | Unknown


class Caller:
    """Owns a sandbox; a context manager. Not for use by several threads at once."""

    def __init__(self, *, hashes: int = 0, limits: RunLimits | None = None) -> None:
        """Prepare a sandbox. It starts with the first request.

        `hashes` seeds the hashes of strings, which decide the order of sets.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        self._sandbox = Sandbox("codeaudit.transforms.oracle.results", limits, hashes=hashes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the sandbox. The next request starts another one."""
        self._sandbox.close()

    def results(self, sources: Sequence[str], *, cpu_seconds: float) -> list[Result]:
        """The result of the last expression of each text, in order. Each text may use `cpu_seconds` of
        processor time.

        Raises:
            CannotAudit: the sandbox cannot be started.
        """
        found: list[Result] = []
        for start in range(0, len(sources), TOGETHER):
            found += self._asked(sources[start : start + TOGETHER], cpu_seconds)
        return found

    def _asked(self, sources: Sequence[str], cpu_seconds: float) -> list[Result]:
        jobs = [{"source": source, "count": 1, "cpu_seconds": cpu_seconds} for source in sources]
        try:
            return [_result(answer) for (answer,) in self._sandbox.ask(jobs)]
        except Lost as lost:
            if len(sources) == 1:
                return [Unknown(str(lost), certain=False)]
            return [one for source in sources for one in self._asked([source], cpu_seconds)]


def _result(answer: Answer) -> Result:
    kind, told = answer
    if kind == "lost":
        return Unknown(told, certain=told != IDLE)
    try:
        match json.loads(told):
            case {"text": str(text)}:
                return Returned(text)
            case {"kind": str(name)}:
                return Raised(name)
            case {"unfit": str(reason)}:
                return Unknown(reason)
    except (ValueError, RecursionError):
        pass
    return Unknown(_BROKEN)
