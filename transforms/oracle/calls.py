"""Runs texts once each: calls for their values, and programs with their tests.

`Caller` gives the labels of the task `output-prediction`; `single` runs inside its sandbox. `Trials` grades
answers by execution; `trial` runs inside its sandbox, the program in one process and the tests in another.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from codeaudit.transforms.oracle.carry import ValueText, is_name
from codeaudit.transforms.oracle.containment import RunLimits
from codeaudit.transforms.oracle.sandbox import RESTARTED, Answer, Lost, Sandbox
from codeaudit.transforms.oracle.server import BROKEN, CPU, IDLE
from codeaudit.transforms.oracle.single import MOST_BITS, MOST_PARTS, REASONS

_TARGET: Final = "codeaudit.transforms.oracle.single"
_PAIRS: Final = "codeaudit.transforms.oracle.trial"


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


@dataclass(frozen=True, slots=True)
class Passed:
    """Program and tests ran to their end."""

    calls: int = field(default=0, compare=False)
    """Calls of the program by the tests, counted in the process of the tests."""


@dataclass(frozen=True, slots=True)
class TrialFailed:
    """Program or tests did not run to their end."""

    reason: str
    """The name of the exception's type, or the reason why the sandbox ended them."""
    certain: bool = True
    """Whether another attempt would give the same; False if a busy machine may have caused the failure."""


@dataclass(frozen=True, slots=True)
class TrialUnjudged:
    """The tests exchange values with the program that cannot be carried between two processes."""

    reason: str
    """A short phrase without names or numbers of the texts."""


Outcome: TypeAlias = Passed | TrialFailed | TrialUnjudged


@dataclass(frozen=True, slots=True)
class ProgramTrial:
    """A program with its tests. Those of Python are executed in different processes."""

    program: str
    tests: str
    names: tuple[str, ...]
    """The functions of the program that the tests call; they find no other name of the program."""
    language: str = "python"
    """Another language has its program and its tests in one process (`programs`)."""


class Caller(Sandbox):
    """Evaluates calls; a context manager. Not for use by several threads at once."""

    def __init__(self, *, hashes: int = 0, limits: RunLimits | None = None) -> None:
        """Prepare a sandbox. It starts with the first request.

        `hashes` seeds the hashes of strings, which decide the order of sets.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        super().__init__(_TARGET, limits, hashes=hashes)

    def results(self, sources: Sequence[str], *, cpu_seconds: float) -> list[Result]:
        """The result of the last expression of each text, in order.

        Each text may use `cpu_seconds` of processor time.

        Raises:
            CannotAudit: the sandbox cannot be started.
        """
        return [self._result(source, cpu_seconds) for source in sources]

    def _result(self, source: str, cpu_seconds: float) -> Result:
        try:
            ((answer,),) = self.ask([{"source": source, "cpu_seconds": cpu_seconds, "count": 1}])
        except Lost as lost:
            answer = ("lost", str(lost))
        return _result(answer)


class Trials(Sandbox):
    """Runs programs with their tests; a context manager. Not for use by several threads at once."""

    def __init__(self, *, cpu_seconds: float) -> None:
        """Prepare a sandbox. Each program with its tests may use `cpu_seconds` of processor time.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        super().__init__(_PAIRS, RunLimits(cpu_seconds=cpu_seconds), paired=True)

    def outcomes(self, trials: Sequence[ProgramTrial]) -> list[Outcome]:
        """The outcome of each trial, in order.

        Raises:
            CannotAudit: the sandbox cannot be started.
        """
        return [self._outcome(trial) for trial in trials]

    def _outcome(self, trial: ProgramTrial) -> Outcome:
        names = list(trial.names)
        try:
            kind, text = self.ask_pair(
                {"program": trial.program, "names": names}, {"tests": trial.tests, "names": names}
            )
        except Lost as lost:
            kind, text = "lost", str(lost)
        if kind == "lost":
            if text in (CPU, IDLE):
                self.close()  # a process that was ended early may have left a part of its text in the pipe
            return TrialFailed(text, certain=_is_certain(text))
        match _read(text):
            case {"passed": True, "calls": int(calls)}:
                return Passed(calls)
            case {"kind": str(name)}:
                return TrialFailed(name)
            case {"unjudged": str(reason)}:
                return TrialUnjudged(reason)
        return TrialFailed(BROKEN)


def _is_certain(reason: str) -> bool:
    # A sleeping program and a slow machine look the same, and so does a server that was ended by the machine.
    return reason not in (IDLE, RESTARTED)


def _read(text: str) -> object:
    """The content of an answer; `None` if a program has written something else to the channel."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _result(answer: Answer) -> Result:
    kind, text = answer
    if kind == "lost":
        return Unknown(text, certain=_is_certain(text))
    match _read(text):
        # A program can write its message itself, so nothing in it is taken for granted.
        case {"value": value, "nodes": nodes}:
            try:
                return Returned(ValueText(nodes, parts=MOST_PARTS, bits=MOST_BITS).item(value))
            except (ValueError, RecursionError):
                return Unknown(BROKEN)
        case {"kind": str(name)} if is_name(name):
            return Raised(name)
        case {"unfit": str(reason)} if reason in REASONS:
            return Unknown(reason)
    return Unknown(BROKEN)
