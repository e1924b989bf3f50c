"""What runners tell, read back: pytest's lines, unittest's words."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.projects.runner import (
    ProjectTestCommand,
    ProjectTestResult,
    junit_results,
    pytest_results,
    unittest_results,
)
from codeaudit.transforms.errors import RunError
from tests.support.waiting import until

UNITTESTS = """\
import unittest


class Kinds(unittest.TestCase):
    def test_passes(self):
        "A line of words."
        print("said between ... ok")

    def test_fails(self):
        self.assertEqual(1, 2)

    def test_breaks(self):
        "Another line of words."
        raise KeyError("x")

    def test_with_parts(self):
        for number in range(2):
            with self.subTest(number=number):
                self.assertEqual(number, 0)

    @unittest.skip("no reason")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

    @unittest.expectedFailure
    def test_unexpected(self):
        pass


class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no server")

    def test_never_run(self):
        pass
"""


def test_the_words_of_unittest(tmp_path: Path) -> None:
    (tmp_path / "test_kinds.py").write_text(UNITTESTS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "unittest", "-v", "test_kinds"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    results = unittest_results(done.stdout)
    states = {name.split(" ")[0]: result.state for name, result in results.items()}
    assert states == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_breaks": "failed",
        "test_with_parts": "failed",
        "test_skipped": "skipped",
        "test_expected": "skipped",
        "test_unexpected": "failed",
        "setUpClass": "failed",
    }
    texts = {name.split(" ")[0]: result.text for name, result in results.items()}
    assert "AssertionError: 1 != 2" in texts["test_fails"]
    assert "KeyError: 'x'" in texts["test_breaks"]
    assert "KeyError" not in texts["test_fails"]


def test_words_of_others_are_not_unittests() -> None:
    assert unittest_results("all good\nRun complete\n") == {}


PYTESTS = """\
import pytest

def test_passes(): pass
def test_fails(): assert 1 == 2
@pytest.fixture
def broken(): raise OSError("no server")
@pytest.fixture
def leaky():
    yield
    raise OSError("late")
def test_setup(broken): pass
def test_teardown(leaky): pass
@pytest.mark.xfail
def test_expected(): assert 0
@pytest.mark.parametrize("x", [1, "a::b ]"])
def test_many(x): pass
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProjectTestCommand:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    project, scratch = tmp_path / "project", tmp_path / "scratch"
    project.mkdir()
    scratch.mkdir()
    (project / "test_kinds.py").write_text(PYTESTS, encoding="utf-8")
    return ProjectTestCommand(
        words=(sys.executable, "-m", "pytest", "-q"),
        folder=project,
        scratch=scratch,
        roots=(project,),
        timeout=60,
    )


def test_the_results_of_pytest_and_of_a_part_of_its_tests(command: ProjectTestCommand) -> None:
    run = command.run()
    states = {name.partition("::")[2]: result.state for name, result in run.results.items()}
    assert (run.told_by, run.code, run.timed_out) == ("pytest", 1, False)
    assert states == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_setup": "failed",
        "test_teardown": "failed",
        "test_expected": "skipped",
        "test_many[1]": "passed",
        "test_many[a::b ]]": "passed",
    }
    assert "assert 1 == 2" in run.results["test_kinds.py::test_fails"].text
    only = {"test_kinds.py::test_many[a::b ]]", "test_kinds.py::test_fails"}
    assert set(command.run(only).results) == only


def test_a_run_goes_on_behind_a_failure(command: ProjectTestCommand) -> None:
    (command.folder / "pytest.ini").write_text("[pytest]\naddopts = -x\n", encoding="utf-8")
    assert len(command.run().results) == 7
    (command.folder / "test_kinds.py").write_text(UNITTESTS, encoding="utf-8")
    stopping = (sys.executable, "-m", "unittest", "-f", "test_kinds")
    run = replace(command, words=stopping).run()
    assert run.told_by == "unittest"
    assert len(run.passed()) == 1
    assert len(run.results) > 7


@pytest.mark.slow
def test_a_file_that_cannot_be_collected_is_told_of(command: ProjectTestCommand) -> None:
    (command.folder / "test_kinds.py").write_text("import no_such_module\n", encoding="utf-8")
    run = command.run()
    assert run.passed() == frozenset()
    (result,) = run.results.values()
    assert "no_such_module" in result.text


@pytest.mark.slow
def test_a_run_over_its_time_is_ended_with_all_that_it_started(command: ProjectTestCommand) -> None:
    (command.folder / "test_kinds.py").write_text(
        "import subprocess, time\n"
        "def test_quick(): pass\n"
        "def test_slow():\n    subprocess.Popen(['sleep', '61.7'])\n    time.sleep(60)\n",
        encoding="utf-8",
    )
    run = ProjectTestCommand(
        words=command.words, folder=command.folder, scratch=command.scratch, roots=command.roots, timeout=5
    ).run()
    assert run.timed_out
    assert {name.partition("::")[2]: r.state for name, r in run.results.items()} == {
        "test_quick": "passed",
        "test_slow": "failed",
    }
    assert run.results["test_kinds.py::test_slow"].text == "the test did not finish"
    until(lambda: not _runs(b"sleep\x0061.7\x00"), seconds=10)  # killed; the system may take a moment


def _runs(words: bytes) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if path.read_bytes() == words:
                return True
    return False


def test_a_line_cut_off_by_a_kill_is_no_result() -> None:
    row = {"id": "a", "when": "call", "outcome": "passed", "text": ""}
    assert list(pytest_results([json.dumps(row), '{"id": "b", "wh'])) == ["a"]


def test_a_command_that_does_not_exist(command: ProjectTestCommand) -> None:
    missing = ProjectTestCommand(
        words=("no-such-command",), folder=command.folder, scratch=command.scratch, roots=(), timeout=None
    )
    with pytest.raises(RunError, match="cannot run the test command 'no-such-command'"):
        missing.run()


def test_what_junit_tells() -> None:
    jupiter = b"""\
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="JUnit Jupiter" tests="5">
<testcase name="adds()" classname="p.SumTest" time="0.1"><system-out><![CDATA[unique-id]]></system-out></testcase>
<testcase name="each(int)" classname="p.SumTest"></testcase>
<testcase name="each(int)" classname="p.SumTest">
<failure message="1 != 2" type="E"><![CDATA[E: 1 != 2
\tat p.SumTest.each(SumTest.java:9)]]></failure></testcase>
<testcase name="each(int)" classname="p.SumTest"></testcase>
<testcase name="later()" classname="p.SumTest"><skipped/></testcase>
</testsuite>
"""
    maven = b"<testsuites><testcase name='b' classname='C'><error message='m'/></testcase></testsuites>"
    assert junit_results([jupiter, b"<no", b"<other/>", maven]) == {
        "p.SumTest::adds()": ProjectTestResult("passed"),
        "p.SumTest::each(int)": ProjectTestResult("failed", "E: 1 != 2\n\tat p.SumTest.each(SumTest.java:9)"),
        "p.SumTest::later()": ProjectTestResult("skipped"),
        "C::b": ProjectTestResult("failed", "m"),
    }
    assert junit_results([]) == {}


def test_a_long_trace_of_java_keeps_its_error_and_its_innermost_cause() -> None:
    frames = "\n".join(f"\tat a.long.name.of.a.Runner.run(Runner.java:{number})" for number in range(100))
    trace = f"E: outer\n{frames}\nCaused by: E: middle\n{frames}\nCaused by: E: inner\n\tat p.A.f(A.java:3)\n{frames}"
    for text, kept in ((trace, ("E: outer", "E: inner", "A.java:3")), (f"E: alone\n{frames}", ("E: alone",))):
        report = f"<t><testcase classname='C' name='a'><failure>{text}</failure></testcase></t>".encode()
        shown = junit_results([report])["C::a"].text
        assert all(part in shown for part in kept)
        assert shown.startswith("E: ")
        assert len(shown) <= 4000


def test_only_what_this_run_wrote_is_its_result(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    old = tmp_path / "reports" / "TEST-old.xml"
    old.write_text("<testsuite><testcase name='a' classname='Old'/></testsuite>", encoding="utf-8")
    os.utime(old, (1, 1))
    (tmp_path / "new.xml").write_text(
        "<testsuite><testcase name='a' classname='New'/></testsuite>", encoding="utf-8"
    )
    words = ("sh", "-c", "cat new.xml > reports/TEST-new.xml; touch -d @1 reports/*; exit 1")
    command = ProjectTestCommand(words=words, folder=tmp_path, scratch=tmp_path, roots=(), timeout=60)
    run = command.run()
    assert run.told_by == "junit"
    assert set(run.results) == run.passed() == {"New::a"}
    # Another run may leave the tests out where their reports are still there.
    assert [report.name for report in (tmp_path / "reports").iterdir()] == ["TEST-old.xml"]
    silent = replace(command, words=("sh", "-c", "exit 1")).run()
    assert silent.told_by == "exit code"
    assert not silent.passed()
