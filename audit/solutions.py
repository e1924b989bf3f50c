"""Whether programs pass the tests of their problem, found by execution in a sandbox.

Results are cached on disk by the texts of program and tests, so nothing is executed twice. A program that a
limit ends does not pass. A result that a busy machine may have caused is tried once more and not cached.
"""

import hashlib
import sys
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from codeaudit.audit.cache import AnswerCache, default_folder
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.oracle.trials import Outcome, Passed, TrialFailed, Trials

SCHEMA: Final = 1
"""Counts up whenever programs are executed otherwise."""
FILE: Final = "solutions.sqlite"
_PASSES: Final = "passes"
_FAILS: Final = "fails: "
"""How results are written on disk."""


class Solutions:
    """Runs programs. The sandbox starts when it is first needed, and ends with this object."""

    def __init__(self, *, cpu_seconds: float) -> None:
        """`cpu_seconds` is the processor time that each program with its tests may take."""
        self._seconds = cpu_seconds
        self._stack = ExitStack()
        weakref.finalize(self, self._stack.close)
        self._trials: Trials | None = None
        self._folder: Path | None = None
        self._kept: AnswerCache | None = None
        self._opened = False
        self._known: dict[bytes, str] = {}

    def keep(self, folder: Path) -> None:
        """Cache results in this folder from now on, not in the user's cache."""
        if folder != self._folder:
            self._folder, self._opened, self._kept = folder, False, None

    def failures(self, pairs: Sequence[tuple[str, str]]) -> list[str | None]:
        """Why each program fails its tests: the type of an exception or a limit; `None` if it passes.

        Raises:
            CannotAudit: this machine can't contain programs.
        """
        keys = {pair: self._key(*pair) for pair in pairs}
        wanted = [key for key in keys.values() if key not in self._known]
        if wanted and (kept := self._disk()) is not None:
            self._known |= kept.fetch(wanted)
        rest = [pair for pair, key in keys.items() if key not in self._known]
        found = dict(zip(rest, self._executed(rest), strict=True)) if rest else {}
        certain = {keys[pair]: _encode(one) for pair, one in found.items() if _is_certain(one)}
        self._known |= certain
        if certain and (kept := self._disk()) is not None:
            kept.store(certain, run="")
        return [
            _failure(_encode(found[pair]) if pair in found else self._known[keys[pair]]) for pair in pairs
        ]

    def _executed(self, pairs: Sequence[tuple[str, str]]) -> list[Outcome]:
        if self._trials is None:
            self._trials = self._stack.enter_context(Trials(cpu_seconds=self._seconds))
        found = self._trials.outcomes(pairs)
        doubtful = [number for number, one in enumerate(found) if not _is_certain(one)]
        again = self._trials.outcomes([pairs[number] for number in doubtful])
        for number, one in zip(doubtful, again, strict=True):
            found[number] = one
        return found

    def _disk(self) -> AnswerCache | None:
        if not self._opened:
            self._opened = True
            try:
                self._kept = AnswerCache((self._folder or default_folder() / "labels") / FILE)
            except RunError:  # it only saves time
                return None
            self._stack.callback(self._kept.close)
        return self._kept

    def _key(self, program: str, tests: str) -> bytes:
        digest = hashlib.sha256(repr((SCHEMA, sys.version_info[:2], self._seconds)).encode())
        for text in (program, tests):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        return digest.digest()


def _encode(outcome: Outcome) -> str:
    match outcome:
        case Passed():
            return _PASSES
        case TrialFailed(reason):
            return f"{_FAILS}{reason}"


def _failure(encoded: str) -> str | None:
    return None if encoded == _PASSES else encoded.removeprefix(_FAILS)


def _is_certain(outcome: Outcome) -> bool:
    return not isinstance(outcome, TrialFailed) or outcome.certain
