"""A second reader and the compiler as evidence, from corpus to outcome."""

import shutil

import pytest

from codeaudit.audit.evidence_check import FindingCounts, WitnessFinding, execute
from codeaudit.audit.labels import GivenLabels
from codeaudit.audit.records import Case
from codeaudit.audit.witnesses.java import MISREAD, NOT_COMPILED, OTHER_TREE, compiled, witness
from codeaudit.transforms.java.identifiers.rename import RENAME, RENAME_PARAMETERS
from codeaudit.transforms.java.javac_reader import newest_kit
from codeaudit.transforms.java.order.reorder import REORDER
from codeaudit.transforms.java.witnesses import find
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Kind, Move, NotApplied, Origin, Perturbed, Sample

ALONE = "int f(int a) { int b = a * 2; int c = a + 1; return b - c; }"
FOREIGN = "int f(Foreign a) { int b = a.x(); return b + 1; }"
NEW = "int f(Object a) { int b = switch (a) { case Integer i -> i; default -> 2; }; return b; }"


def sample(source: str) -> Sample:
    return Sample(id=source, language="java", source=source, label=None, origin=Origin(path="-", line=1))


def variant(source: str, after: str, *moves: Move, kind: Kind = "preserving") -> Perturbed:
    return Perturbed(
        sample=sample(source),
        transform="t",
        kind=kind,
        variant=0,
        source=after,
        moves=moves,
        evidence="analysis",
    )


def judged(*outcomes: Perturbed) -> list[str]:
    findings = FindingCounts()
    cases = [Case(sample=outcome.sample, outcomes=(outcome,)) for outcome in outcomes]
    done = execute(cases, {"java": witness(GivenLabels())}, findings)
    firsts = [case.outcomes[0] for case in done]
    return [outcome.reason if isinstance(outcome, NotApplied) else outcome.evidence for outcome in firsts]


def rename(site: int, name: str) -> Move:
    return Move(kind="rename", site=site, value=name, note="")


@pytest.mark.slow
def test_what_the_engines_do_is_confirmed() -> None:
    outcomes = []
    for text in (ALONE, FOREIGN):
        for transform in (RENAME, RENAME_PARAMETERS, REORDER):
            (outcome,) = perturb_one(sample(text), transform, variants=1, seed=1)
            if isinstance(outcome, Perturbed):
                outcomes.append(outcome)
    alone = "compiled" if shutil.which("javac") else "parsed"
    assert judged(*outcomes) == [alone, alone, "parsed", "parsed", "parsed"]


@pytest.mark.slow
def test_another_program_is_not_applied() -> None:
    assert judged(
        variant(FOREIGN, FOREIGN.replace("b", "v"), rename(1, "v")),
        variant(FOREIGN, FOREIGN.replace("b + 1", "v + 1"), rename(1, "w")),
        variant(
            FOREIGN, FOREIGN.replace("b + 1", "b + 2"), Move(kind="order", site=0, value=(1, 0), note="")
        ),
        variant(NEW, NEW.replace("b", "v"), rename(1, "v")),
        variant(FOREIGN, FOREIGN.replace("+ 1", "+ 2"), kind="control"),
    ) == ["parsed", OTHER_TREE, OTHER_TREE, "analysis", "analysis"]


@pytest.mark.slow
def test_what_javac_takes_apart_in_another_way_is_not_applied() -> None:
    if newest_kit() is None:
        pytest.skip("no JDK")
    misread = "int f(P p, int c) { int a = (p.x) - c; return a; }"
    assert judged(
        variant(misread, misread.replace("int a", "int  a")),
        variant(FOREIGN, FOREIGN.replace("b + 1", "(b.c) + 1")),
        variant(FOREIGN, FOREIGN.replace("b + 1", "(b) + 1")),
    ) == [MISREAD, MISREAD, "analysis"]


@pytest.mark.slow
def test_what_no_longer_compiles_is_not_applied() -> None:
    javac = find()
    if javac is None:
        pytest.skip("no javac")
    variants = [
        variant(ALONE, ALONE.replace("int b", "String b")),
        variant(ALONE, ALONE.replace("b", "name")),
        variant(FOREIGN, FOREIGN.replace("b", "name")),
        variant("class A { " + ALONE + " }", "class A { " + ALONE.replace("a", "name") + " }"),
        variant("package p; class A { int f() { return 1; } }", "package p; class A { }"),
    ]
    findings: dict[int, WitnessFinding] = compiled(witness(GivenLabels()).javac or javac, variants)
    words = {
        place: getattr(finding, "reason", "") or getattr(finding, "evidence", "")
        for place, finding in findings.items()
    }
    assert words == {0: NOT_COMPILED, 1: "compiled", 3: "compiled"}
