"""Why a build ended.

The files in `recorded` are what Maven 3.8.7, Gradle 4.4.1 and pytest 8.4.2 printed, with other paths and
without their advice at the end. The texts below were typed after the tools' manuals.
"""

from pathlib import Path

import pytest

from codeaudit.audit.projects.build_output import STRIP_TYPES, build_output

JAVAC = """\
Note: Some input files use unchecked operations.
src/p/A.java:5: error: incompatible types: String cannot be converted to int
        int a = "x";
                ^
src/p/B.java:9: error: cannot find symbol
        b();
        ^
2 errors
"""

MAVEN_CHECKSTYLE = """\
[ERROR] src/main/java/p/A.java:[5,101] (sizes) LineLength: Line is longer than 100 characters (found 132).
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-checkstyle-plugin:3.3.1:check (validate) on project p: \
You have 1 Checkstyle violation. -> [Help 1]
"""

MAVEN_NO_POM = """\
[ERROR] The goal you specified requires a project to execute but there is no POM in this directory (/home/me/p). -> \
[Help 1]
[ERROR]
[ERROR] [Help 1] http://cwiki.apache.org/confluence/display/MAVEN/MissingProjectException
"""

GRADLE_STARTUP = """\

FAILURE: Build failed with an exception.

* What went wrong:
Could not determine java version from '25.0.1'.

* Exception is:
org.gradle.api.GradleException: Could not determine java version
\tat org.gradle.launcher.Main.main(Main.java:30)
"""

GRADLE_SPOTLESS = """\
* What went wrong:
Execution failed for task ':spotlessJavaCheck'.
> The following files had format violations:

* Try:
"""

TYPED = {
    "javac": (JAVAC, "src/p/A.java:5: error: incompatible types: String cannot be converted to int"),
    "maven, no project": (
        MAVEN_NO_POM,
        "The goal you specified requires a project to execute but there is no POM",
    ),
    "maven, checkstyle": (MAVEN_CHECKSTYLE, "You have 1 Checkstyle violation."),
    "gradle, start": (GRADLE_STARTUP, "Could not determine java version from '25.0.1'."),
    "gradle, spotless": (GRADLE_SPOTLESS, ":spotlessJavaCheck: The following files had format violations:"),
    "pytest": ("E   ImportError: no module\n=== short test summary ===\n", "ImportError: no module"),
    "other": ("working\n\033[31mout of paper\033[0m\n\033[0m\n", "out of paper"),
    "nothing": ("", ""),
}

CANNOT_CONVERT = "Cart.java:20: error: incompatible types:"
RECORDED = {
    "maven-compiler": CANNOT_CONVERT,
    "maven-compiler-of-tests": "CartTest.java:12: error: cannot find symbol",
    "maven-failing-test": "There are test failures.",
    "maven-raising-test": "test: Tests run: 2, Failures: 0, Errors: 1, Skipped: 0",
    "maven-exit-in-test": "test: The forked VM terminated without properly saying goodbye. VM crash or System.exit called?",
    "maven-dependency": "the artifact org.junit.jupiter:junit-jupiter:jar:5.11.9 has not been downloaded",
    "maven-plug-in": "the artifact org.codehaus.plexus:plexus-utils:jar:1.1 has not been downloaded",
    "maven-pom": "Non-parseable POM /home/me/p/pom.xml: start tag unexpected character <",
    "maven-werror": "warnings found and -Werror specified",
    "gradle-compiler": CANNOT_CONVERT,
    "gradle-failing-test": "task ':test'. > There were failing tests. See the report at: file:///home/me/p/",
    "gradle-script": "A problem occurred evaluating root project 'p'. > Plugin with id 'nosuch' not found.",
    "gradle-task": "Task 'tset' not found in root project 'p'.",
    "gradle-dependency": "> Could not find a:b:1.0.",
    "gradle-checkstyle": ":checkstyleMain: Checkstyle rule violations were found. See the report at: file:///",
    "gradle-werror": "warnings found and -Werror specified: /home/me/p/src/main/java/p/Cart.java:20: warning:",
    "pytest-arguments": "__main__.py: error: unrecognized arguments: --cov=x",
    "pytest-conftest": "ModuleNotFoundError: No module named 'nosuch'",
    "pytest-internal-error": "ZeroDivisionError: division by zero",
    "maven-release": "compile: Fatal error compiling: error: release version 30 not supported",
}
GATES = {
    "maven, checkstyle": "org.apache.maven.plugins:maven-checkstyle-plugin:3.3.1:check",
    "gradle, spotless": ":spotlessJavaCheck",
    "maven-werror": "javac -Werror",
    "gradle-werror": "javac -Werror",
    "gradle-checkstyle": ":checkstyleMain",
}
"""Where the style of the code is refused, by what."""
COMPILERS = {"javac", "maven-compiler", "maven-compiler-of-tests", "gradle-compiler"}


def recorded(name: str) -> str:
    return (Path(__file__).with_name("recorded") / f"{name}.txt").read_text(encoding="utf-8")


OUTPUTS = TYPED | {name: (recorded(name), reason) for name, reason in RECORDED.items()}


@pytest.mark.parametrize(("output", "told"), OUTPUTS.values(), ids=OUTPUTS)
def test_the_reason(output: str, told: str) -> None:
    reason = build_output(output).reason
    assert told in reason
    assert bool(told) == bool(reason)
    assert not {"\033", "\n"} & set(reason)
    assert "[Help 1]" not in reason


@pytest.mark.parametrize("name", OUTPUTS)
def test_what_the_compiler_says_and_which_gate(name: str) -> None:
    output = build_output(OUTPUTS[name][0])
    assert bool(output.compiler) == (name in COMPILERS)
    assert output.style_gate == GATES.get(name, "")


def test_the_compilers_first_error_begins_with_its_file() -> None:
    """Gradle's plain output has the name of the task before it; the search for the unit needs the path."""
    expected = "/home/me/p/src/main/java/p/Cart.java:20: error: incompatible types: String cannot be converted to int"
    assert build_output(recorded("gradle-compiler")).compiler.splitlines()[0] == expected
    assert build_output(recorded("maven-compiler")).compiler == expected.replace("String", "java.lang.String")


def test_every_recording_is_used() -> None:
    assert {path.stem for path in Path(__file__).with_name("recorded").iterdir()} == set(RECORDED)


@pytest.mark.parametrize("task", [":license-server:test", ":checkstyle:core:compileJava"])
def test_a_gradle_project_named_like_a_gate_is_none(task: str) -> None:
    output = f"* What went wrong:\nExecution failed for task '{task}'.\n> There were failing tests.\n"
    assert build_output(output).style_gate == ""


def test_the_line_and_the_caret_stand_with_the_first_error() -> None:
    assert build_output(JAVAC).compiler == "\n".join(JAVAC.splitlines()[1:4])


def test_an_error_of_tsc_has_a_remedy() -> None:
    output = build_output("src/a.ts(158,63): error TS2532: Object is possibly 'undefined'.\n")
    assert output.reason == "src/a.ts:158: error: TS2532: Object is possibly 'undefined'."
    assert output.remedy == STRIP_TYPES
    assert output.compiler == f"{output.reason}\n{STRIP_TYPES}"
    assert build_output(JAVAC).remedy == ""
