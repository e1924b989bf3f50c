"""Transforms of plug-ins and projects: their results are checked, and their exceptions are reported."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from codeaudit.audit.suite import SuitePlan, case
from codeaudit.transforms.errors import RESULT_NOT_PARSED, CannotAudit
from codeaudit.transforms.interface import BaseTransform, Refused, Rewritten, Transform
from codeaudit.transforms.mixing import Mixed
from codeaudit.transforms.permission import permit
from codeaudit.transforms.perturb import WRONG_PROPOSAL, failure, perturb_one, reapply
from codeaudit.transforms.python.order.reorder import REORDER
from codeaudit.transforms.records import Kind, Move, NotApplied, Origin, Perturbed, Sample, Unit
from codeaudit.transforms.registry import TRANSFORMS

SOURCES = {
    "python": "def f(a):\n    b = a\n    c = 1\n    return b, c\n",
    "java": "int f(int a) {\n    int b = a;\n    return b;\n}\n",
}


@dataclass(frozen=True)
class Theirs(BaseTransform):
    """A transform that returns what the function `made` gives."""

    made: Callable[[str], Any]
    name: str = "theirs"
    kind: Kind = "preserving"
    languages: frozenset[str] = frozenset()
    unit: Unit = "module"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        return (Move(kind="theirs", site=0, value=str(rng.random()), note=""),)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        rewritten: Rewritten | Refused = self.made(source)
        return rewritten


def sample(language: str) -> Sample:
    return Sample(
        id="a", language=language, source=SOURCES[language], label=None, origin=Origin(path="a", line=1)
    )


def outcome(transform: Transform, language: str) -> Perturbed | NotApplied:
    (attempt,) = perturb_one(sample(language), transform, variants=1, seed=0)
    return attempt


@pytest.mark.parametrize("language", SOURCES)
def test_a_result_that_does_not_parse_is_not_applied(language: str) -> None:
    broken = Theirs(lambda source: Rewritten(source=source + "((", evidence="analysis"))
    attempt = outcome(broken, language)
    assert isinstance(attempt, NotApplied)
    assert attempt.reason == RESULT_NOT_PARSED
    again = reapply(sample(language), broken, (Move(kind="theirs", site=0, value="0", note=""),))
    assert isinstance(again, NotApplied)
    assert again.reason == RESULT_NOT_PARSED
    whole = Theirs(lambda source: Rewritten(source=source + "\n", evidence="analysis"))
    assert isinstance(outcome(whole, language), Perturbed)


def test_so_it_is_in_a_mixture() -> None:
    broken = Theirs(lambda source: Rewritten(source=source + "((", evidence="analysis"))
    mixed = Mixed(name="mixed/x", parts=(REORDER, broken), language="python", languages=frozenset({"python"}))
    assert not isinstance(outcome(mixed, "python"), Perturbed)


def test_a_result_of_another_type_is_told() -> None:
    attempt = outcome(Theirs(lambda source: source), "python")
    assert isinstance(attempt, NotApplied)
    assert attempt.reason == "`apply` returned a str, neither Rewritten nor Refused"


def test_unknown_evidence_is_told() -> None:
    sure = Theirs(lambda source: Rewritten(source=source + "\n", evidence="proven"))  # type: ignore[arg-type]
    attempt = outcome(sure, "python")
    assert isinstance(attempt, NotApplied)
    assert attempt.reason.startswith(
        "of what `apply` returned its evidence is 'proven'; it must be one of none,"
    )


@pytest.mark.parametrize("proposal", [[], None, ("rename",), [Move(kind="a", site=0, value="", note="")]])
def test_a_proposal_of_another_type_is_told(proposal: object) -> None:
    class Proposes(Theirs):
        def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
            return proposal  # type: ignore[return-value]

    attempt = outcome(Proposes(lambda source: Rewritten(source=source + "\n", evidence="analysis")), "python")
    assert isinstance(attempt, NotApplied)
    assert attempt.reason == WRONG_PROPOSAL


def test_what_a_transform_of_the_project_raises_is_told_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("crashing.py").write_text(
        "class Crash:\n    name = 'crash'\n    kind = 'preserving'\n    languages = frozenset()\n    unit = 'module'\n"
        "    def propose(self, source, rng):\n        raise ValueError('oops')\n"
        "    def apply(self, source, moves):\n        pass\n"
        "class Wrong(Crash):\n    kind = 'keeping'\n",
        encoding="utf-8",
    )
    permit("py/crashing:Crash", "py/crashing:Wrong")
    plan = SuitePlan(transforms=("py/crashing:Crash",), variants=2, seed=0)
    reason = "transform failed: ValueError: oops (crashing.py:7, in propose)"
    assert [
        attempt.reason for attempt in case(sample("python"), plan).outcomes if isinstance(attempt, NotApplied)
    ] == [reason] * 2
    with pytest.raises(
        CannotAudit, match="transform 'py/crashing:Wrong': its kind is 'keeping'; it must be one of pre"
    ):
        TRANSFORMS.get("py/crashing:Wrong")


def test_a_text_that_is_too_deep_is_no_mistake_of_a_transform() -> None:
    assert failure(RecursionError()) == "nested too deeply"
