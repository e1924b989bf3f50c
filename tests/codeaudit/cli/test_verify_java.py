"""`codeaudit verify` and `transform` on a small Java project: a real compiler, real runs."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from codeaudit.cli.main import main
from tests.support.commands import codeaudit

SHAPES = """\
package p;

public class Shapes {
    public static int area(int width) {
        int side = width;
        side = side + 2;
        width = side * width;
        return side * width;
    }

    public int volume(int height) {
        int base = 3;
        int depth = 5;
        return base * depth * height;
    }

    static int unused(int width) {
        int side = width;
        return side * 2;
    }
}
"""

TESTS = """\
package p;

import java.io.PrintWriter;
import java.io.StringWriter;

public class ShapesTest {
    static String told = "";

    static void check(String name, Runnable test) {
        String failure = "";
        try {
            test.run();
        } catch (Throwable error) {
            StringWriter text = new StringWriter();
            error.printStackTrace(new PrintWriter(text));
            failure = "<failure><![CDATA[" + text + "]]></failure>";
        }
        told += "<testcase classname='p.ShapesTest' name='" + name + "'>" + failure + "</testcase>";
    }

    static void same(int one, int other) {
        if (one != other) throw new AssertionError(one + " " + other);
    }

    public static void main(String[] args) throws Exception {
        check("area", () -> same(Shapes.area(2), 32));
        check("volume", () -> same(new Shapes().volume(2), 30));
        try (PrintWriter out = new PrintWriter("TEST-shapes.xml")) {
            out.println("<testsuite>" + told + "</testsuite>");
        }
    }
}
"""

COMMAND = """\
set -e
mkdir -p out
javac -J-XX:TieredStopAtLevel=1 -d out src/main/java/p/Shapes.java src/test/java/p/ShapesTest.java
java -XX:TieredStopAtLevel=1 -cp out p.ShapesTest
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    if shutil.which("javac") is None or shutil.which("java") is None:
        pytest.skip("no Java")
    folder = tmp_path / "project"
    for path, text in (
        ("src/main/java/p/Shapes.java", SHAPES),
        ("src/test/java/p/ShapesTest.java", TESTS),
        ("test.sh", COMMAND),
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def report(project: Path, *words: str, code: int) -> Any:
    command = ("verify", "project", "--test-command", "sh test.sh", "--format", "json", *words)
    done = codeaudit(*command, cwd=project.parent)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_what_keeps_the_meaning_keeps_the_tests(project: Path) -> None:
    verified = report(project, "--transform", "reorder,rename-parameters,reorder-imports", code=0)
    assert verified["before"]["told_by"] == "junit"
    assert verified["before"]["passed"] == 2
    assert verified["power"] == {"units": 3, "changed": 3, "executed": 2, "caught": 2, "stopped": False}
    rows = {row["transform"]: row["changed"] for row in verified["trials"][0]["by_transform"]}
    assert rows == {"reorder": 1, "rename-parameters": 3}  # the third is none of Java


@pytest.mark.slow
def test_what_changes_it_is_found_with_its_unit(project: Path) -> None:
    verified = report(project, "--transform", "reorder-breaking", "--seed", "1", code=1)
    (trial,) = verified["trials"]
    failures = {failure["test"]: failure["text"] for failure in trial["failures"]}
    assert "p.ShapesTest::area" in failures
    assert "AssertionError" in failures["p.ShapesTest::area"]
    (culprit,) = trial["culprits"]
    assert [unit["name"] for unit in culprit["rewritten"]] == ["Shapes.area"]
    assert "side" in culprit["diff"]


@pytest.mark.slow
def test_a_build_that_ends_before_the_tests_is_one_finding(project: Path) -> None:
    (project / "test.sh").write_text(
        COMMAND.replace("mkdir", "grep -q 'int depth' src/main/java/p/Shapes.java\nmkdir"), encoding="utf-8"
    )
    verified = report(project, "--transform", "rename", "--no-narrow", code=1)
    (failure,) = verified["trials"][0]["failures"]
    assert failure["test"] == "the perturbed project does not build or start its tests"
    assert failure["tests"] == 2


BUILD = """\
source=src/main/java/p/Shapes.java
if [ -n "$MODULES" ]; then echo "<t><testcase classname='q.T' name='first'/></t>" > TEST-q.xml; fi
fail() { printf '%s\\n' "$@"; exit 1; }
if grep -q "$STYLE" $source; then
    fail "[\033[1;31mERROR\033[m] Failed to execute goal \033[32morg.apache:maven-checkstyle-plugin:3.3.1:check\033[m \
(validate) on project p: You have 1 Checkstyle violation. -> [Help 1]" "\033[0m"
fi
grep -q 'int depth' $source || fail "$source:14: error: cannot find symbol" "        return depth;" "               ^" \
    "$source:15: error: another"
told=
grep -q 'power check' $source && told='<failure>raised</failure>'
echo "<t><testcase classname='p.T' name='a'>$told</testcase><testcase classname='p.T' name='b'/></t>" > TEST-p.xml
"""
"""A build without a compiler: a renamed variable breaks it, and a style gate may refuse a text."""


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src/main/java/p").mkdir(parents=True)
    (folder / "src/main/java/p/Shapes.java").write_text(SHAPES, encoding="utf-8")
    (folder / "test.sh").write_text(BUILD, encoding="utf-8")
    return folder


@pytest.mark.weekly
def test_a_build_that_breaks_is_one_finding_with_the_compilers_first_error(built: Path) -> None:
    words = ("verify", "project", "--transform", "rename", "--test-command")
    command = "env STYLE=nothing sh test.sh"
    done = codeaudit(*words, command, "--format", "json", cwd=built.parent)
    assert done.returncode == 1, done.stderr
    (trial,) = json.loads(done.stdout)["trials"]
    (failure,) = trial["failures"]
    assert failure["test"] == "the perturbed project does not build or start its tests"
    assert failure["tests"] == 2
    assert failure["text"].splitlines()[0].endswith("Shapes.java:14: error: cannot find symbol")
    assert "another" not in failure["text"]
    assert [unit["name"] for unit in failure["units"]] == ["Shapes.volume"]
    (culprit,) = trial["culprits"]
    assert [(unit["name"], unit["transform"]) for unit in culprit["rewritten"]] == [
        ("Shapes.volume", "rename")
    ]
    printed = codeaudit(*words, command, "--no-narrow", cwd=built.parent).stdout
    assert printed.count("FAILS NOW") == 1
    assert "seed 0: the perturbed project does not build or start its tests; 0 tests fail" in printed


@pytest.mark.thinned(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("style", "why"),
    [
        (
            "int area",
            "a style gate of the build, org.apache:maven-checkstyle-plugin:3.3.1:check, stops the tests",
        ),
        ("power check", "a style gate of the build refuses changed code: org.apache:maven-checkstyle"),
    ],
    ids=["before", "with probes"],
)
def test_a_style_gate_is_named(built: Path, style: str, why: str) -> None:
    _names_the_gate(built, f"env STYLE='{style}' sh test.sh", why)


@pytest.mark.thinned(1)
@pytest.mark.slow
@pytest.mark.parametrize("style", ["power check", "renamed"])
def test_a_style_gate_behind_the_tests_of_another_module_is_named(built: Path, style: str) -> None:
    if style == "renamed":
        # The probes leave the name, the transform does not.
        build = BUILD.replace('if grep -q "$STYLE" $source', "if ! grep -q 'int depth' $source")
        (built / "test.sh").write_text(build, encoding="utf-8")
    why = "a style gate of the build refuses changed code: org.apache:maven-checkstyle"
    _names_the_gate(built, f"env MODULES=2 STYLE='{style}' sh test.sh", why)


def _names_the_gate(built: Path, command: str, why: str) -> None:
    done = codeaudit(
        "verify", "project", "--transform", "rename", "--test-command", command, cwd=built.parent
    )
    assert done.returncode == 3
    assert why in done.stderr.splitlines()[-1]
    assert "You have 1 Checkstyle violation." in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_the_error_of_a_java_test_is_shown_and_not_the_end_of_its_frames(built: Path) -> None:
    frames = "\\n".join(f"\tat org.runner.Runner.run{number}(Runner.java:{number})" for number in range(40))
    trace = f"java.lang.AssertionError: area\\n{frames}\\nCaused by: java.lang.Error: no side\\n{frames}"
    fails = f"if ! grep -q 'int depth' $source; then told=$(printf '<failure>{trace}</failure>'); fi"
    build = BUILD.replace("told=\n", f"told=\n{fails}\n").replace(
        "grep -q 'int depth' $source || fail", ": ||"
    )
    (built / "test.sh").write_text(build, encoding="utf-8")
    words = ("verify", "project", "--transform", "rename", "--no-narrow", "--test-command")
    done = codeaudit(*words, "env STYLE=nothing sh test.sh", cwd=built.parent)
    assert done.returncode == 1, done.stderr
    assert "java.lang.AssertionError: area" in done.stdout
    assert "Caused by: java.lang.Error: no side" in done.stdout
    assert done.stdout.count("org.runner.Runner") == 11


@pytest.mark.slow
def test_a_build_that_leaves_out_what_did_not_change_is_run_each_time(built: Path) -> None:
    """Gradle runs no tests where neither the sources nor the reports changed since its last run."""
    build = BUILD.replace(
        "source=src/main/java/p/Shapes.java",
        "source=src/main/java/p/Shapes.java\nif [ -e TEST-p.xml ] && cmp -s $source last; then exit 0; fi\ncp $source last",
    )
    (built / "test.sh").write_text(build, encoding="utf-8")
    (built / "TEST-of-the-project.xml").write_text("<t/>", encoding="utf-8")
    words = ("verify", "project", "--transform", "rename", "--no-narrow", "--keep", "kept", "--test-command")
    done = codeaudit(*words, "env STYLE=nothing sh test.sh", cwd=built.parent)
    assert done.returncode == 1, done.stderr
    assert "before: 2 tests pass" in done.stdout
    assert (built.parent / "kept/seed-0/TEST-of-the-project.xml").exists()


@pytest.mark.thinned(1)
@pytest.mark.slow
@pytest.mark.parametrize(("file", "usual"), [("pom.xml", "mvn "), ("gradlew", "./gradlew "), ("x", "mvn ")])
def test_java_without_a_test_command_is_told_so(built: Path, file: str, usual: str) -> None:
    (built / file).touch()
    done = codeaudit("verify", "project", cwd=built.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"give --test-command, such as '{usual}" in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_where_nothing_changes_the_reasons_are_told(built: Path) -> None:
    (built / "src/main/java/p/Shapes.java").write_text(
        "package p;\n\nclass Shapes { int f() { return 1; } }\n"
    )
    command = ("--test-command", "env STYLE=nothing sh -c 'touch TEST-p.xml'")
    done = codeaudit("verify", "project", "--transform", "rename", *command, cwd=built.parent)
    assert done.returncode == 3
    assert "nothing could be perturbed" in done.stderr.splitlines()[-1]
    assert "(most frequent reasons: no local to rename: 1)" in done.stderr.splitlines()[-1]


def test_a_copy_of_a_tree_of_java(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "src"
    (source / "p").mkdir(parents=True)
    (source / "p" / "Shapes.java").write_bytes(SHAPES.replace("\n", "\r\n").encode())
    (source / "p" / "Shape.java").write_text(
        "package p;\n\ninterface Shape { int area(); }\n", encoding="utf-8"
    )
    out = tmp_path / "out"
    assert main(["transform", str(source), "--out", str(out), "--format", "json"]) == 0
    rows = {row["transform"]: row for row in json.loads(capsys.readouterr().out)["by_transform"]}
    assert rows.keys() == {"reorder", "rename"}
    assert (rows["rename"]["units"], rows["rename"]["changed"]) == (4, 3)
    after = (out / "p" / "Shapes.java").read_bytes()
    assert after != (source / "p" / "Shapes.java").read_bytes()
    assert after.count(b"\r\n") == after.count(b"\n") == SHAPES.count("\n")
    assert (out / "p" / "Shape.java").read_bytes() == (source / "p" / "Shape.java").read_bytes()
    assert main(["transform", str(source / "p" / "Shapes.java"), "--diff", "--transform", "rename"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("--- a/Shapes.java\n+++ b/Shapes.java\n")


def test_each_language_has_its_own_transforms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "Shapes.java").write_text(SHAPES, encoding="utf-8")
    (source / "shapes.py").write_text(
        "def area(side):\n    twice = side * 2\n    return twice\n", encoding="utf-8"
    )
    words = ["transform", str(source), "--out", str(tmp_path / "out"), "--format", "json"]
    assert main([*words, "--transform", "rename,reorder-imports,remove-braces"]) == 0
    rows = {row["transform"]: row for row in json.loads(capsys.readouterr().out)["by_transform"]}
    assert rows["rename"]["units"] == 4
    assert rows["reorder-imports"]["units"] == 1
    assert rows["remove-braces"]["units"] == 3
    assert all("other language" not in row["not_applied"] for row in rows.values())
