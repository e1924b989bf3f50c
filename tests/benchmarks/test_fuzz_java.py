"""Fuzzing Java: programs compile, differences are noticed and told, and known causes are found."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from codeaudit.transforms.interface import BaseTransform, Refused, Rewritten
from codeaudit.transforms.java.parsing import read
from codeaudit.transforms.records import Evidence, Kind, Move
from codeaudit.transforms.registry import transform_for
from tests.support.campaigns import COUNTED, CampaignLog
from tests.support.java_fuzzing import WHOLE, JavaTally
from tests.support.java_fuzzing import fuzz_java as fuzz
from tests.support.java_grammar import METHODS, Writer, program_around
from tests.support.java_judge import JavaJudge, JavaUnit, Told, jdks, unclear

needs_java = pytest.mark.skipif(not jdks(), reason="no JDK")


@pytest.fixture(scope="module")
def judge() -> Iterator[JavaJudge]:
    release = min(jdks())
    with JavaJudge(release, jdks()[release]) as made:
        yield made


@dataclass(frozen=True, slots=True)
class Replacing(BaseTransform):
    """Replaces a text in every method, right or wrong."""

    old: str
    new: str
    name: str = "replacing"
    kind: Kind = "preserving"
    evidence: Evidence = "analysis"
    unit: str = "function"
    languages: frozenset[str] = field(default_factory=lambda: frozenset({"java"}))

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        if self.old not in source:
            return Refused("absent")
        return (Move(kind="replace", site=0, value="", note=""),)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        return Rewritten(source=source.replace(self.old, self.new), evidence="analysis")


@pytest.mark.weekly
@pytest.mark.parametrize("release", [17, 25])
def test_programs_are_java_and_follow_from_the_seed(release: int) -> None:
    met = set()
    for number in range(60):
        program = Writer(Random(number), release).program()
        assert program == Writer(Random(number), release).program()
        assert len(program.targets) == METHODS
        met |= {node.kind for node in read(program.text).root.walk()}
    assert {"record_pattern" in met, "guard" in met} == {release == 25}
    assert met >= {
        "try_with_resources_statement", "lambda_expression", "labeled_statement", "switch_expression", "cast_expression",
        "method_reference", "do_statement", "ternary_expression", "finally_clause", "synchronized_statement", "static_initializer",
        "enhanced_for_statement", "assert_statement", "class_body", "constructor_body", "generic_type", "yield_statement",
    }  # fmt: skip


@needs_java
@pytest.mark.weekly
@pytest.mark.parametrize("release", sorted(jdks()))
def test_nearly_all_programs_compile_and_many_methods_end_without_an_exception(release: int) -> None:
    programs = [Writer(Random(number), release).program().text for number in range(30)]
    with JavaJudge(release, jdks()[release]) as judge:
        reports = judge.told([JavaUnit(text, tuple(range(METHODS))) for text in programs])
        assert judge.told([JavaUnit(text, tuple(range(METHODS))) for text in programs[:4]]) == reports[:4]
    good = [report for report in reports if not report.error]
    assert len(good) > 0.9 * len(reports), [report.error for report in reports if report.error]
    runs = [run for report in good for outcome in report.outcomes for run in outcome.splitlines()]
    assert sum("Exception" in run.partition("|")[0] for run in runs) < 0.6 * len(runs)


@needs_java
@pytest.mark.weekly
def test_the_judge_tells_what_methods_do_and_what_the_compiler_says(judge: JavaJudge) -> None:
    def told(body: str) -> Told:
        method = f"Object run0(int a, int b, String s, int[] arr, Base other, Object o) throws Throwable {{ {body} }}"
        (report,) = judge.told([JavaUnit(program_around(method), (0,))])
        return report

    assert told('f = 5; log("x"); return a + b;').outcomes[0].splitlines()[0].startswith("4|x;|0w|5,2,")
    assert (
        told("return a / b;")
        .outcomes[0]
        .splitlines()[1]
        .startswith("java.lang.ArithmeticException:/ by zero|")
    )
    assert told("return Lazy.value;") == told("return Lazy.value;"), "initialisers run again"
    assert told("return new Object();") == told("return new Object();")
    assert told("return s.length() + x;").error.startswith("line 7: cannot find symbol")
    assert told("return 1;") != told("return 2;")
    assert unclear(told("while (true) { f++; }").outcomes[0])
    assert told("return 3;").outcomes[0].startswith("3|"), "a new machine goes on"


@needs_java
@pytest.mark.weekly
def test_what_differs_and_what_does_not_compile_is_told(judge: JavaJudge) -> None:
    release = min(jdks())
    wrong = Replacing("final int c = a - b;", "final int c = b - a;")
    broken = Replacing("final int c = a - b;", "final int c = nobody;", name="broken")
    right = Replacing("final int c = a - b;", "final int c = 0 + a - b;", name="right")
    tallies, failed = fuzz(judge, [wrong, broken, right], range(4), seed=3, release=release)  # type: ignore[list-item]
    assert failed < 2
    assert tallies["right"].applied == tallies["right"].equal > 10
    assert len(tallies["broken"].different) == tallies["broken"].applied > 10
    assert "does not compile" in str(tallies["broken"].different[0])
    assert 5 < len(tallies["replacing"].different) < tallies["replacing"].applied
    shown = str(tallies["replacing"].different[0])
    assert "+" in shown
    assert "before" in shown


@needs_java
@pytest.mark.weekly
def test_files_are_units_too(judge: JavaJudge) -> None:
    release = min(jdks())
    transform = transform_for("reorder-methods", "java")
    tallies, _ = fuzz(judge, [transform], range(3), seed=3, release=release)
    assert tallies["reorder-methods"].applied == tallies["reorder-methods"].equal > 1
    assert WHOLE < 0


@needs_java
@pytest.mark.weekly
def test_a_campaign_goes_on_where_its_log_ends(
    script: Callable[[str], ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    main = script("fuzz_java").main
    log = tmp_path / "log"
    for _ in range(2):
        monkeypatch.setattr(
            sys, "argv", ["fuzz_java", "--log", str(log), "--programs", "10", "--transform", "rename"]
        )
        assert main() == 0
    chunks = list(CampaignLog(log, "java").chunks())
    assert [chunk.first for chunk in chunks] == [0, 10]
    assert all(
        chunk.total("applied") == chunk.total("equal") + chunk.total("unclear") > 40 for chunk in chunks
    )
    monkeypatch.setattr(sys, "argv", ["fuzz_java", "--log", str(log), "--report"])
    assert main() == 0
    assert "20 programs" in capsys.readouterr().out


def test_each_program_meets_reorder_and_some_others(script: Callable[[str], ModuleType]) -> None:
    fuzzer = script("fuzz_java")
    names = ("reorder", *(f"t{number}" for number in range(60)))
    chosen = [fuzzer.drawn(names, 1, first) for first in range(0, 1000, 10)]
    assert all(draw[0] == "reorder" and len(set(draw)) == fuzzer.DOZEN + 1 for draw in chosen)
    assert {name for draw in chosen for name in draw} == set(names)
    assert fuzzer.drawn(names[:5], 1, 0) == names[:5]


def test_counts_are_those_of_the_log() -> None:
    assert tuple(JavaTally().counts()) == COUNTED
