"""JUnit, SARIF, annotations and step summaries of the same cases."""

import dataclasses
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.audit.records import ANSWER_CHANGES, Answer, Audited
from codeaudit.reports.cases import Place, ReportedCase, answer_line, cases, diff
from codeaudit.reports.gate import Limits, gate
from codeaudit.reports.render import github
from codeaudit.reports.render.junit import junit, legal
from codeaudit.reports.render.sarif import MOST, sarif
from codeaudit.transforms.records import Origin
from tests.reports.test_gate import BAD, GOOD, crowd, judged
from tests.support.audited import audited, sample
from tests.support.junit import check_junit
from tests.support.sarif import check_sarif

STARTED = "2026-01-02T03:04:05+00:00"
NASTY = 'f"\x08\x00\ud800\ufffe]]>" # <&> \r\n `````'


def records() -> list[Audited]:
    """Violated, held, unjudged, not applied; with a control, whose change is none."""
    return [
        audited(
            "m", sample("a"), after={"rename": [GOOD, BAD, BAD], "rename-merging": [BAD], "identity": [GOOD]}
        ),
        audited("m", sample("b"), after={"rename": [GOOD, None, GOOD]}),
        audited("m", sample("c"), after={"rename": [None, None, None]}),
        audited("m", sample("d"), before=None, after={"rename": [GOOD, GOOD, GOOD]}),
        audited("m", sample("e"), missing={"rename": ("no local to rename", 3)}, after={"identity": [GOOD]}),
    ]


def found(*trials: tuple[int, Audited]) -> list[ReportedCase]:
    return list(cases(trials or [(0, record) for record in records()]))


def violated(number: int = 1, source: str = "x = 1\n", path: str = "a b/ü.py") -> Iterator[ReportedCase]:
    (first,) = [case for case in found() if case.state == "violated"]
    for n in range(number):
        text = dataclasses.replace(first.sample, id=f"s{n}", source=source, origin=Origin(path=path, line=7))
        yield dataclasses.replace(first, sample=text)


def inside(path: str) -> str:
    return f"src/{path}"


# ── cases ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_case_has_one_state_and_controls_are_none() -> None:
    assert [(case.sample.id, case.state) for case in found()] == [
        ("a", "violated"),
        ("b", "held"),
        ("c", "unjudged"),
        ("d", "unjudged"),
        ("e", "not applied"),
    ]
    assert found()[0].headline == "'get name' became 'set' under rename in 2 of 3 variants"


def test_a_diff_shows_the_edit() -> None:
    (case,) = violated(source="def f():\n    return 1")
    variant = dataclasses.replace(case.variants[1], source="def f():\n    return 2")
    assert diff(case, variant).splitlines()[:2] == ["--- a b/ü.py:7", "+++ a b/ü.py:7 rename"]
    assert diff(case, variant).splitlines()[-2:] == ["-    return 1", "+    return 2"]


@pytest.mark.parametrize(
    ("answer", "shown"),
    [(("get", "name"), "get name"), (1.5, "1.5"), ("a\n b\x1b", "a b\ufffd"), ("x" * 300, "x" * 199 + "…")],
)
def test_an_answer_is_one_short_line(answer: Answer, shown: str) -> None:
    assert answer_line(answer) == shown


# ── JUnit ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_broken_invariance_is_a_failed_test_with_its_diff() -> None:
    root = check_junit(junit(found(), started=STARTED))
    (suite,) = root
    assert (suite.get("name"), suite.get("timestamp")) == ("m rename", "2026-01-02T03:04:05")
    assert {case.get("name"): [child.tag for child in case] for case in suite.findall("testcase")} == {
        "a.py f a": ["failure"],
        "a.py f b": [],
        "a.py f c": ["error"],
        "a.py f d": ["error"],
        "a.py f e": ["skipped"],
    }
    failure = suite.find("testcase/failure")
    assert failure.get("message") == "a.py:1: 'get name' became 'set' under rename in 2 of 3 variants"
    assert "variant 1: 'get name' became 'set'" in failure.text
    assert "+# rename 1" in failure.text
    assert suite.find("testcase/skipped").get("message") == "no local to rename"
    counts = {entry.get("name"): entry.get("value") for entry in suite.find("properties")}
    assert counts == {
        "variants held": "3",
        "variants violated": "2",
        "variants unjudged": "7",
        "variants not applied": "3",
    }


def test_a_right_answer_that_changes_is_skipped() -> None:
    (case,) = [case for case in found() if case.sample.id == "c"]
    variants = tuple(
        dataclasses.replace(variant, reason=ANSWER_CHANGES, fault=False) for variant in case.variants
    )
    root = check_junit(junit([dataclasses.replace(case, variants=variants)], started=STARTED))
    assert root.find("testsuite/testcase/skipped").get("message") == ANSWER_CHANGES


def test_trials_are_suites_of_their_own() -> None:
    (record, *_) = records()
    root = check_junit(junit(found((0, record), (1, record)), started=STARTED))
    assert [suite.get("name") for suite in root] == ["m rename seed 0", "m rename seed 1"]


def test_the_checks_of_a_gate_are_tests() -> None:
    result = gate(
        judged(*crowd(9)),
        Limits(max_violation_rate=0.01, max_f1_drop=1.0, min_sensitivity=0.1),
        baseline=judged(*crowd(9)),
    )
    report = dataclasses.replace(
        result, checks=(*result.checks, dataclasses.replace(result.checks[0], outcome="unknown", name="n"))
    )
    suite = check_junit(junit([], started=STARTED, checks=report.checks))[0]
    tags = {case.get("name"): [child.tag for child in case] for case in suite.findall("testcase")}
    assert tags == {
        "violations under rename": ["failure"],
        "f1 drop": [],
        "sensitivity": [],
        "reaction": [],
        "one answer": [],
        "rise": [],
        "sensitivity kept": [],
        "n under rename": ["error"],
    }
    assert "9.0 %" in suite.find("testcase/failure").get("message")


def test_what_xml_cannot_hold_is_written_out() -> None:
    (case,) = violated(source=NASTY)
    case = dataclasses.replace(
        case,
        model="m\x0b<>",
        variants=tuple(dataclasses.replace(variant, before=NASTY) for variant in case.variants),
    )
    root = check_junit(junit([case], started=STARTED))
    text = root.find("testsuite/testcase/failure").text
    assert "\\x08\\x00\\ud800\\ufffe]]>" in text
    assert "<&> \\r" in text
    assert root[0].get("name") == "m\\x0b<> rename"


@pytest.mark.slow
@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=30))
def test_any_text_survives_xml(text: str) -> None:
    element = Xml.Element("x")
    element.text = legal(text)
    assert (Xml.fromstring(Xml.tostring(element, encoding="unicode")).text or "") == legal(text)


def test_a_run_without_cases_is_a_valid_report() -> None:
    assert len(check_junit(junit([], started=STARTED))) == 0


# ── SARIF ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_violated_case_is_a_result_at_its_lines() -> None:
    (case,) = violated(source="a\nb\nc")
    (result,) = check_sarif(sarif([*found()[1:], case], locate=inside, version="0.1.0"))["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "src/a%20b/%C3%BC.py", "uriBaseId": "%SRCROOT%"}
    assert physical["region"] == {"startLine": 7, "endLine": 9}
    assert result["ruleId"] == "rename"
    assert "'get name' became 'set'" in result["message"]["text"]
    assert "baselineState" not in result


def test_a_fingerprint_outlives_its_line_and_not_its_text() -> None:
    def prints(**options: Any) -> Any:
        (result,) = check_sarif(sarif(violated(**options), locate=inside, version="1"))["results"]
        return result["partialFingerprints"]

    assert prints(path="one.py") == prints(path="two.py")
    assert prints(source="x") != prints(source="y")


def test_results_say_whether_they_are_new_and_new_ones_come_first() -> None:
    lasting = {Place("m", 0, "s0", "rename", 1)}
    results = check_sarif(sarif(violated(2), locate=inside, version="1", lasting=lasting))["results"]
    assert [(finding["properties"]["sample"], finding["baselineState"]) for finding in results] == [
        ("s1", "new"),
        ("s0", "unchanged"),
    ]


@pytest.mark.slow
def test_what_code_scanning_would_not_show_is_left_out_and_said() -> None:
    run = check_sarif(sarif(violated(MOST + 3), locate=inside, version="1"))
    assert len(run["results"]) == MOST
    assert "3 more results" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_a_case_of_no_file_of_the_repository_is_left_out_and_counted() -> None:
    """Code scanning refuses the whole report for one result without a place."""
    cases = [*violated(source=NASTY, path="\ud800.py"), *violated(2, path="../outside.py")]
    run = check_sarif(sarif(cases, locate=lambda path: None if ".." in path else path, version="1"))
    (result,) = run["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "%3F.py"
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("2 more results are left out: their samples are of no file")


def test_a_case_says_that_its_answer_also_changed_without_an_edit() -> None:
    steady = audited("m", sample("a"), after={"rename": [BAD], "identity": [GOOD, GOOD, None]})
    unsteady = audited("m", sample("b"), after={"rename": [BAD, BAD], "identity": [GOOD, BAD, None]})
    both = found((0, unsteady), (0, steady))
    assert [(case.repeats, case.unsteady) for case in both] == [(2, 1), (2, 0)]
    ending = "under rename in 2 of 2 variants, and without an edit in 1 of 2 repeats"
    assert both[0].headline.endswith(ending)
    assert both[1].headline.endswith("under rename in 1 of 1 variant")
    assert ending in junit(both, started=STARTED)
    # Findings to act on come first, and an answer that changes by itself is none.
    results = check_sarif(sarif(both, locate=inside, version="1"))["results"]
    assert [(finding["properties"]["sample"], finding["level"]) for finding in results] == [
        ("a", "warning"),
        ("b", "note"),
    ]
    assert results[1]["properties"]["unsteadyRepeats"] == 1
    assert [case.sample.id for case in github.first(both, ())] == ["a", "b"]


# ── GitHub ───────────────────────────────────────────────────────────────────────────────────────────────

COMMAND = re.compile(r"::(error|warning) ((?:[a-z]+=[^,:\r\n]*,?)+)::([^\r\n]*)")


def lines(*, limit: float, number: int) -> list[tuple[str, ...]]:
    result = gate(judged(*crowd(9)), Limits(max_violation_rate=limit))
    made = github.annotations(result, list(violated(number, source=NASTY, path="a,b:c.py")), locate=inside)
    return [COMMAND.fullmatch(line).groups() for line in made]


def test_a_failed_gate_has_ten_errors_its_checks_first() -> None:
    made = lines(limit=0.01, number=30)
    assert [level for level, _, _ in made] == ["error"] * 10
    assert made[0][1] == "title=codeaudit gate"
    assert "violations FAILED%3A" not in made[0][2]
    assert "9.0 %25" in made[0][2]
    assert made[1][1] == "file=src/a%2Cb%3Ac.py,line=7,title=answer changed under rename"
    assert "%0A" in made[1][2]


def test_a_passed_gate_has_ten_warnings() -> None:
    assert [level for level, _, _ in lines(limit=0.5, number=30)] == ["warning"] * 10
    assert lines(limit=0.5, number=0) == []


def test_a_message_is_cut_where_github_would() -> None:
    assert len(github.command("error", "x" * 9000, title="t")) == len("::error title=t::") + github.LONGEST


def test_what_is_new_comes_first() -> None:
    lasting = {Place("m", 0, "s0", "rename", 1)}
    assert [case.sample.id for case in github.first(violated(3), lasting)] == ["s1", "s2", "s0"]


def test_the_summary_fits_and_says_what_it_leaves_out() -> None:
    text = github.summary("table\n", list(violated(300, source="long line " * 3000)))
    assert len(text.encode("utf-8", "replace")) <= github.SUMMARY
    shown = text.count("```diff")
    assert 1 <= shown < 50
    assert f"{300 - shown} more are in the run folder" in text
    assert text.rstrip().endswith("</details>")
    assert github.summary("table\n", []) == "table\n"
    assert len(github.summary("x" * 50, [], room=10)) == 10


def test_code_cannot_leave_its_fence() -> None:
    (case,) = violated(source="```\n</details>\n`````")
    text = github.summary("", [case])
    fences = re.findall(r"^(`{3,})(?:diff)?$", text, re.MULTILINE)
    assert fences[0] == fences[-1] == "`" * 6
