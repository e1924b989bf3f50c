"""The witness of Python: original and variant run in a sandbox.

The inputs are the sample's own tests, or else arguments that are drawn to fit its text.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from codeaudit.audit.evidence_check import (
    DIFFERS,
    BehavesDifferently,
    BehavesSame,
    Judge,
    Undecided,
    WitnessFinding,
)
from codeaudit.audit.interface import LabelSource
from codeaudit.transforms.oracle.oracle import Agreed, Differed, Inconclusive, Oracle, Verdict
from codeaudit.transforms.records import Perturbed


@dataclass(frozen=True, slots=True)
class PythonSandbox:
    """Differential execution of functions."""

    # One at a time: each pair of programs has its own inputs, so nothing is gained by asking together.
    together: int = 1
    tools: Sequence[Mapping[str, object]] = ({"tool": "sandbox"},)
    missing: Sequence[str] = ()

    @contextmanager
    def judging(self) -> Iterator[Judge]:
        """A judge with its own sandbox.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        with Oracle() as oracle:

            def judge(variants: Sequence[Perturbed]) -> Iterator[WitnessFinding]:
                for one in variants:
                    sample = one.sample
                    yield _finding(
                        oracle.judge(sample.source, one.source, tests=sample.tests, setup=sample.context)
                    )

            yield judge


def witness(labels: LabelSource) -> PythonSandbox:
    """The witness. It ignores `labels`."""
    return PythonSandbox()


def _finding(verdict: Verdict) -> WitnessFinding:
    match verdict:
        case Agreed():
            return BehavesSame("executed")
        case Differed():
            return BehavesDifferently("executed", DIFFERS)
        case Inconclusive(reason):
            return Undecided(reason)
