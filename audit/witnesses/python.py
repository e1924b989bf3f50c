"""The witness of Python: original and variant run in a sandbox.

The inputs are the sample's own tests, or else arguments that are drawn to fit its text. An order under the
relation `confirmed` is kept only if the tests execute the last statement that moved in each block, and so all
statements before it.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from codeaudit.audit.corpora.calls import CHECK
from codeaudit.audit.evidence_check import (
    DIFFERS,
    BehavesDifferently,
    BehavesSame,
    Judge,
    Undecided,
    WitnessFinding,
)
from codeaudit.audit.interface import LabelSource
from codeaudit.audit.tasks.function_name import name_of
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.oracle.oracle import Agreed, Differed, Inconclusive, Oracle, Verdict
from codeaudit.transforms.patches import line_starts
from codeaudit.transforms.python.analysis.program import analyse
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.python.order.reorder import REORDER
from codeaudit.transforms.python.parsing import first_line, parse
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.registry import in_relation

UNREACHED: Final = "no test executes the moved statements"


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
                for variant in variants:
                    sample = variant.sample
                    tests = runnable(sample)
                    relations = {
                        in_relation(move.transform or variant.transform)[0] for move in variant.moves
                    }
                    if tests is None and "confirmed" in relations:  # drawn inputs show too little
                        yield Undecided(UNREACHED)
                        continue
                    finding = _finding(
                        oracle.judge(sample.source, variant.source, tests=tests, setup=sample.context)
                    )
                    if isinstance(finding, BehavesSame) and not _tests_reach(oracle, variant):
                        finding = Undecided(UNREACHED)
                    yield finding

            yield judge


def runnable(sample: Sample) -> str | None:
    """The tests of a sample with a function `check`, as an oracle runs them. A data set may have a script of
    assertions that names the function; `None` if it asserts nothing or the task hides the name."""
    return None if sample.tests is None else _runnable(sample.tests, sample.source)


@lru_cache(maxsize=64)  # a sample has many variants
def _runnable(tests: str, source: str) -> str | None:
    try:
        tree = parse(tests)
    except SourceError:
        return tests
    if any(isinstance(node, ast.FunctionDef) and node.name == CHECK for node in tree.body):
        return tests
    words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    asserts = any(isinstance(node, ast.Assert) for node in ast.walk(tree))
    if not asserts or name_of(source, PYTHON.name) not in words:
        return None
    return f"{tests.rstrip()}\n\n\ndef {CHECK}(candidate):\n    pass\n"


def _tests_reach(oracle: Oracle, variant: Perturbed) -> bool:
    """Whether the sample's tests execute what moved in an order that only tests confirm; else True.

    They execute it if they notice that it raises.
    """
    sample = variant.sample
    # A caught exception hides that a statement ran. Then the order is not confirmed, which is safe.
    verdicts = (
        oracle.judge(sample.source, text, tests=runnable(sample), setup=sample.context)
        for text in _raising(variant)
    )
    return all(isinstance(verdict, Differed) for verdict in verdicts)


def _raising(variant: Perturbed) -> Iterator[str]:
    """For each block that a `confirmed` order permutes, the original that raises before the last statement
    that moved."""
    orders = [
        move
        for move in variant.moves
        if in_relation(move.transform or variant.transform) == ("confirmed", REORDER.name)
        and isinstance(move.value, tuple)
    ]
    if not orders:
        return
    source = variant.sample.source
    program = analyse(source, dependence="confirmed")
    for move in orders:
        last = max(place for place, old in enumerate(move.value) if place != old)
        node = program.nodes[program.blocks[move.site].statements[last].lines.start][0]
        assert isinstance(node, ast.stmt)
        text = source.encode()
        start = line_starts(text)[first_line(node) - 1]
        indent = text[start:][: len(text[start:]) - len(text[start:].lstrip())]
        yield (text[:start] + indent + b"raise BaseException\n" + text[start:]).decode()


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
