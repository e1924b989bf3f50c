"""Evidence of witnesses: what each word makes of an outcome, and that every case keeps its place."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from typing import get_args

import pytest

from codeaudit.audit.evidence_check import (
    BehavesDifferently,
    BehavesSame,
    FindingCounts,
    Judge,
    Undecided,
    WitnessFinding,
    combined,
    confirm,
    execute,
    witnesses,
)
from codeaudit.audit.labels import GivenLabels
from codeaudit.audit.languages import audit_of
from codeaudit.audit.records import Case
from codeaudit.transforms.language import Language, every_language
from codeaudit.transforms.records import Evidence, Kind, Move, NotApplied, Origin, Outcome, Perturbed, Sample
from codeaudit.transforms.registry import rests_on


def sample(source: str, language: str = "python") -> Sample:
    return Sample(id=source, language=language, source=source, label=None, origin=Origin(path="-", line=1))


def perturbed(
    kind: Kind, evidence: Evidence = "analysis", original: Sample | None = None, source: str = "b"
) -> Perturbed:
    return Perturbed(
        sample=original or sample("a"),
        transform="t",
        kind=kind,
        variant=1,
        source=source,
        moves=(),
        evidence=evidence,
    )


@dataclass
class Listener:
    """Says what is listed for a text, and writes down how it was asked."""

    words: Mapping[str, WitnessFinding]
    together: int = 2
    tools: Sequence[Mapping[str, object]] = ({"tool": "listener"},)
    missing: Sequence[str] = ()
    asked: list[list[str]] = field(default_factory=list)
    closed: int = 0

    @contextmanager
    def judging(self) -> Iterator[Judge]:
        def judge(variants: Sequence[Perturbed]) -> Iterator[WitnessFinding]:
            self.asked.append([variant.source for variant in variants])
            for variant in variants:
                yield self.words.get(variant.source, Undecided("not listed"))

        yield judge
        self.closed += 1


@pytest.mark.parametrize(
    ("kind", "finding", "before", "after"),
    [
        ("preserving", BehavesSame("executed"), "analysis", "executed"),
        ("preserving", BehavesSame("executed"), "measured", "measured"),
        ("preserving", BehavesSame("measured"), "executed", "measured"),
        ("preserving", Undecided("x"), "analysis", "analysis"),
        ("control", BehavesDifferently("executed", "y"), "none", "executed"),
        ("control", BehavesDifferently("compiled", "y"), "executed", "executed"),
        ("control", BehavesSame("measured"), "none", "none"),
        ("control", Undecided("x"), "none", "none"),
    ],
)
def test_evidence_is_lifted(kind: Kind, finding: WitnessFinding, before: Evidence, after: Evidence) -> None:
    outcome = confirm(perturbed(kind, before), finding, FindingCounts())
    assert isinstance(outcome, Perturbed)
    assert outcome.evidence == after


@pytest.mark.parametrize("language", every_language(), ids=lambda language: language.name)
def test_stronger_evidence_assumes_nothing_more(language: Language) -> None:
    move = Move(kind="-", site=0, value="", note="")
    for name, before in product(language.transforms, get_args(Evidence)):
        unit = sample("a", language.name)
        edit = replace(perturbed("preserving", before, unit), transform=name, moves=(move,))
        for after in ("compiled", "executed"):
            outcome = confirm(edit, BehavesSame(after), FindingCounts())
            assert isinstance(outcome, Perturbed)
            assert {row.id for row in rests_on(outcome)} <= {row.id for row in rests_on(edit)}, (name, before)


def test_what_was_meant_to_keep_the_meaning_and_did_not_is_not_applied() -> None:
    outcome = confirm(
        perturbed("preserving"), BehavesDifferently("measured", "it costs more"), FindingCounts()
    )
    assert isinstance(outcome, NotApplied)
    assert (outcome.reason, outcome.variant, outcome.transform) == ("it costs more", 1, "t")


def test_each_word_is_counted() -> None:
    findings = FindingCounts()
    for kind in ("preserving", "control"):
        for finding in (BehavesSame("executed"), BehavesDifferently("executed", "y"), Undecided("x")):
            confirm(perturbed(kind), finding, findings)
    assert findings.broken == {("t", "y"): 1}
    assert (findings.kept, findings.changed, findings.unchanged) == (1, 1, 1)
    assert findings.open == {"x": 2}
    assert findings.total == 6


@pytest.mark.parametrize(
    ("findings", "together"),
    [
        ([BehavesSame("measured"), BehavesSame("executed")], BehavesSame("measured")),
        ([BehavesSame("measured"), BehavesDifferently("executed", "y")], BehavesDifferently("executed", "y")),
        (
            [BehavesDifferently("executed", "y"), BehavesDifferently("measured", "z")],
            BehavesDifferently("measured", "z"),
        ),
        ([Undecided("x"), BehavesSame("executed")], BehavesSame("executed")),
        ([Undecided("x"), Undecided("y")], Undecided("x; y")),
    ],
)
def test_several_tools_say_one_thing(findings: list[WitnessFinding], together: WitnessFinding) -> None:
    assert combined(findings) == together


def test_cases_keep_their_order_and_what_is_not_judged_passes_by() -> None:
    listener = Listener({"b": BehavesSame("executed"), "c": BehavesDifferently("executed", "differs")})
    refused = NotApplied(sample=sample("a"), transform="t", kind="preserving", variant=0, reason="none")
    outcomes: tuple[Outcome, ...] = (
        refused,
        perturbed("identity", source="a"),
        perturbed("preserving", source="c"),
        perturbed("preserving", source="b"),
    )
    languages = ["x", "x", "x", "other", "x", "x", "silent"]
    cases = [
        Case(sample=sample(str(place), language), outcomes=outcomes if language != "other" else outcomes[:1])
        for place, language in enumerate(languages)
    ]
    findings = FindingCounts()
    mute = Listener({}, tools=())
    judged = list(execute(cases, {"x": listener, "silent": mute}, findings))
    assert [case.sample for case in judged] == [case.sample for case in cases]
    for before, after in zip(cases, judged, strict=True):
        if before.sample.language != "x":
            assert after == before
            continue
        assert after.outcomes[:2] == before.outcomes[:2]
        assert isinstance(after.outcomes[2], NotApplied)
        assert isinstance(after.outcomes[3], Perturbed)
        assert after.outcomes[3].evidence == "executed"
    assert listener.asked == [["c", "b"] * 2, ["c", "b"], ["c", "b"] * 2], "so many cases at once"
    assert (listener.closed, mute.asked) == (1, [])
    assert (findings.kept, findings.broken.total()) == (5, 5)


def test_a_witness_that_says_too_little_is_an_error_and_not_silence() -> None:
    @contextmanager
    def short() -> Iterator[Judge]:
        yield lambda variants: []

    listener = Listener({})
    listener.judging = short  # type: ignore[method-assign]
    case = Case(sample=sample("a", "x"), outcomes=(perturbed("preserving"),))
    with pytest.raises(ValueError, match="shorter"):
        list(execute([case], {"x": listener}, FindingCounts()))


def test_only_the_languages_that_are_there_have_witnesses() -> None:
    by_language = witnesses(["python", "java", "cobol"], GivenLabels())
    assert "python" in by_language
    assert all(audit_of(name).witness for name in by_language)
    assert by_language["python"].missing == ()
