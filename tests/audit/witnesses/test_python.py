"""Execution of Python as evidence, from corpus to outcome."""

from collections import Counter
from typing import Any

import pytest

from codeaudit.audit.corpora.functions import functions
from codeaudit.audit.evidence_check import DIFFERS, FindingCounts, execute
from codeaudit.audit.labels import GivenLabels
from codeaudit.audit.records import Case
from codeaudit.audit.suite import SuitePlan, case
from codeaudit.audit.witnesses.python import UNREACHED, witness
from codeaudit.transforms.records import Evidence, Kind, NotApplied, Origin, Perturbed, Sample

MODULE = """\
STEP = 2

def climb(values: list[int], start: int = 0) -> int:
    total = start * STEP
    for value in values:
        total += value
    return total
"""


def sample(source: str, **known: Any) -> Sample:
    return Sample(
        id="x", language="python", source=source, label=None, origin=Origin(path="-", line=1), **known
    )


def outcome(
    original: Sample, source: str, kind: Kind = "preserving", evidence: Evidence = "analysis"
) -> Perturbed:
    return Perturbed(
        sample=original, transform="t", kind=kind, variant=0, source=source, moves=(), evidence=evidence
    )


def executed(*outcomes: Perturbed) -> tuple[list[object], FindingCounts]:
    findings = FindingCounts()
    case = Case(sample=outcomes[0].sample, outcomes=outcomes)
    (judged,) = execute([case], {"python": witness(GivenLabels())}, findings)
    return list(judged.outcomes), findings


def evidence(judged: object) -> str:
    return judged.evidence if isinstance(judged, Perturbed) else f"not applied: {judged.reason}"  # type: ignore[attr-defined]


def test_each_kind_earns_what_it_shows() -> None:
    original = sample("def f(x: int):\n    y = x + 1\n    return y\n")
    same, other = original.source.replace("y", "z"), original.source.replace("+", "-")
    outcomes, findings = executed(
        outcome(original, same),
        outcome(original, other),
        outcome(original, other, kind="control", evidence="none"),
        outcome(original, same, kind="control", evidence="none"),
        outcome(original, original.source, kind="identity", evidence="none"),
    )
    assert [evidence(each) for each in outcomes] == [
        "executed", f"not applied: {DIFFERS}", "executed", "none", "none",
    ]  # fmt: skip
    assert (findings.kept, findings.broken.total(), findings.changed, findings.unchanged) == (1, 1, 1, 1)
    assert findings.total == 4


def test_a_function_of_a_file_is_executed_in_that_file() -> None:
    (original,) = functions(MODULE, "m.py", Counter())
    assert original.context == MODULE
    outcomes, _ = executed(outcome(original, original.source.replace("value", "item")))
    assert evidence(outcomes[0]) == "executed"
    alone, findings = executed(outcome(sample(original.source), original.source.replace("value", "item")))
    assert evidence(alone[0]) == "analysis"
    assert findings.open == {"a global name is missing": 1}


def test_own_tests_decide_where_there_are_some() -> None:
    tests = "def check(candidate):\n    assert candidate(2) == 4\n"
    original = sample("def f(x):\n    return x * x\n", tests=tests)
    outcomes, _ = executed(
        outcome(original, "def f(x):\n    return x + x\n"), outcome(original, "def f(x):\n    return x\n")
    )
    assert [type(each) for each in outcomes] == [Perturbed, NotApplied]  # 2 + 2 == 2 * 2: the tests decide


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("candidate(1, [1, 2]) == (1, 0)", "executed"),
        ("candidate(0, [1, 2]) == (-1, -1)", "not applied: not confirmed by execution"),
        ("candidate(-1, [1, 2]) == (1, 2)", "not applied: not confirmed by execution"),
    ],
)
def test_an_order_is_confirmed_by_tests_that_execute_what_moved(call: str, found: str) -> None:
    """The first test runs the moved calls; the others return before them."""
    source = """\
def f(x, log):
    if x == 0:
        return -1, -1
    if x < 0:
        return 1, 2
    low = log.count(x)
    high = log.index(x)
    return low, high
"""
    original = sample(source, tests=f"def check(candidate):\n    assert {call}\n")
    plan = SuitePlan(transforms=("confirmed/reorder",), variants=1, seed=0, executed=True)
    (variant,) = case(original, plan).outcomes
    assert isinstance(variant, Perturbed)
    (judged,), findings = executed(variant)
    assert [evidence(judged)] == [found]
    assert findings.open == ({} if found == "executed" else {UNREACHED: 1})
