"""Why a build ended, from recorded outputs of javac, Maven, Gradle and pytest."""

import pytest

from codeaudit.audit.projects.build_output import build_output

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

MAVEN_COMPILER = """\
[\033[1;34mINFO\033[m] --- \033[0;32mmaven-compiler-plugin:3.11.0:compile\033[m \033[1m(default-compile)\033[m @ p ---
[\033[1;31mERROR\033[m] COMPILATION ERROR :
[\033[1;34mINFO\033[m] -------------------------------------------------------------
[\033[1;31mERROR\033[m] /home/me/p/src/main/java/p/A.java:[5,17] incompatible types: String cannot be converted to int
[\033[1;31mERROR\033[m] /home/me/p/src/main/java/p/B.java:[9,9] cannot find symbol
[\033[1;31mERROR\033[m] Failed to execute goal \033[32morg.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile\033[m \
\033[1m(default-compile)\033[m on project \033[36mp\033[m: \033[1;31mCompilation failure\033[m -> \033[1m[Help 1]\033[m
[\033[1;31mERROR\033[m] \033[1m[Help 1]\033[m http://cwiki.apache.org/confluence/display/MAVEN/MojoFailureException
\033[0m\033[0m
"""

MAVEN_OFFLINE = """\
[ERROR] Failed to execute goal on project p: Could not resolve dependencies for project p:p:jar:1: Cannot access central \
in offline mode -> [Help 1]
[ERROR]
[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.
\033[0m\033[0m
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

GRADLE_COMPILER = """\
> Task :compileJava FAILED
/home/me/p/src/main/java/p/A.java:5: error: incompatible types: String cannot be converted to int
        int a = "x";
                ^
1 error

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':compileJava'.
> Compilation failed; see the compiler error output for details.

* Try:
> Run with --stacktrace option to get the stack trace.

BUILD FAILED in 2s
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

RECORDED = {
    "javac": (JAVAC, "src/p/A.java:5: error: incompatible types: String cannot be converted to int"),
    "maven, compiler": (
        MAVEN_COMPILER,
        "/home/me/p/src/main/java/p/A.java:5: error: incompatible types: String cannot be converted to int",
    ),
    "maven, offline": (
        MAVEN_OFFLINE,
        "Could not resolve dependencies for project p:p:jar:1: Cannot access central",
    ),
    "maven, no project": (
        MAVEN_NO_POM,
        "The goal you specified requires a project to execute but there is no POM",
    ),
    "maven, checkstyle": (MAVEN_CHECKSTYLE, "You have 1 Checkstyle violation."),
    "gradle, compiler": (GRADLE_COMPILER, "/home/me/p/src/main/java/p/A.java:5: error: incompatible types"),
    "gradle, start": (GRADLE_STARTUP, "Could not determine java version from '25.0.1'."),
    "gradle, spotless": (GRADLE_SPOTLESS, ":spotlessJavaCheck: The following files had format violations:"),
    "pytest": ("E   ImportError: no module\n=== short test summary ===\n", "ImportError: no module"),
    "other": ("working\n\033[31mout of paper\033[0m\n\033[0m\n", "out of paper"),
    "nothing": ("", ""),
}


@pytest.mark.parametrize(("output", "told"), RECORDED.values(), ids=RECORDED)
def test_the_reason(output: str, told: str) -> None:
    reason = build_output(output).reason
    assert told in reason
    assert bool(told) == bool(reason)
    assert not {"\033", "\n"} & set(reason)
    assert "[Help 1]" not in reason


@pytest.mark.parametrize("name", RECORDED)
def test_what_the_compiler_says_and_which_gate(name: str) -> None:
    found = build_output(RECORDED[name][0])
    assert bool(found.compiler) == (name in ("javac", "maven, compiler", "gradle, compiler"))
    gates = {
        "maven, checkstyle": "maven-checkstyle-plugin:3.3.1:check",
        "gradle, spotless": ":spotlessJavaCheck",
    }
    assert found.style_gate.endswith(gates.get(name, ""))
    assert bool(found.style_gate) == (name in gates)


def test_the_line_and_the_caret_stand_with_the_first_error() -> None:
    assert build_output(JAVAC).compiler == "\n".join(JAVAC.splitlines()[1:4])
