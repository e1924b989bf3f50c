"""Says why a test command ended without results, from what it printed. Called by `codeaudit verify`.

Knows the words of javac, gcc, tsc, Maven, Gradle and pytest; of any other command the last line is the
reason.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
"""Colours and other control sequences of a terminal (ECMA-48, section 5.4)."""
_COMPILER: Final = re.compile(
    r"^(?:\[ERROR\] |(?::[\w.-]+)+(?=/))?(?P<path>\S[^\n:(]*\.(?:java|[ch]|[cm]?tsx?))"
    r"(?::(?P<line>\d+):(?:\d+:)? error:|:\[(?P<place>\d+)(?:,\d+)?\]|\((?P<at>\d+),\d+\): error) ?"
    r"(?P<told>.+)$",
    re.MULTILINE,
)
"""An error as javac, Gradle and gcc write it, as Maven does, and as tsc does.

Old Gradle writes no line end behind a task's name.
"""
_MAVEN: Final = re.compile(
    r"Failed to execute goal (?:(?P<what>[^\s:]+:\S+) )?(?P<where>.*?on project [^\n:]+: )?"
    r"(?P<why>(?:.|\n\[ERROR\])*?)(?=-> \[Help \d+\]|\n(?!\[ERROR\])|\Z)"
)
"""The step at which Maven stops; the reason may have several lines."""
_GRADLE: Final = re.compile(r"Execution failed for task '(?P<what>[^'\n]+)'\.?(?P<why>(?:\n> .*)?)")
"""The step at which Gradle stops."""
_SAYS_NOTHING: Final = re.compile(
    r"Please refer to |Compilation failure:?\s*$|Some problems were encountered while processing the POMs:"
)
"""Lines of Maven that announce a reason, or say where to read it."""
_NAMED_AGAIN: Final = re.compile(r"Execution \S+ of goal \S+ failed: ")
_WERROR: Final = "warnings found and -Werror specified"
"""What javac says last where warnings, and no errors, end it."""
_WARNING: Final = re.compile(
    r"^(?:\[WARNING\] |(?::[\w.-]+)+(?=/))?"
    r"(?P<warning>\S[^\n:]*\.java:(?:\d+: warning:|\[\d+(?:,\d+)?\]).*)$",
    re.MULTILINE,
)
_STYLE: Final = re.compile(
    r"checkstyle|spotless|googleformatter|formatter-maven|fmt-maven|pmd|cpd|spotbugs|findbugs|apache-rat|license"
    r"|impsort|sortpom|animal-sniffer|forbiddenapis|modernizer|javadoc|jacoco|codenarc",
    re.IGNORECASE,
)
"""Steps of a build that look at the text of the code, and not at what it does."""
_RAISED: Final = re.compile(r"^(?:E|INTERNALERROR>) +(\S.*)$", re.MULTILINE)
"""Errors as pytest shows them; the last line says which."""
_REFUSED: Final = re.compile(r"^\S+: error: .+$", re.MULTILINE)
"""How programs refuse their arguments, pytest too; its last lines only name folders."""
_WENT_WRONG: Final = re.compile(r"^\* What went wrong:\n(.+?)(?=\n\n|\n\* )", re.MULTILINE | re.DOTALL)
_HELP: Final = re.compile(r"\s*-> \[Help \d+\]")
_TYPES: Final = re.compile(r"\.[cm]?tsx?$")
STRIP_TYPES: Final = (
    "a test command that strips the types without checking them (esbuild, tsx, vitest, node "
    "--experimental-strip-types) runs the project where tsc refuses it"
)
_MOST: Final = 400
"""Characters of a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOutput:
    """What the output of a test command says about its end."""

    reason: str
    """One line: the first error of the compiler, the step that failed, or the last line."""
    compiler: str = ""
    """The first error of a compiler with the lines that belong to it; empty if there is none."""
    remedy: str = ""
    """What to do about the error; empty where nothing general can be said."""
    style_gate: str = ""
    """The step that refused the style of the code; empty if there was none."""


def build_output(output: str) -> BuildOutput:
    """Read the whole output of a test command."""
    text = _ESCAPE.sub("", output).replace("\r\n", "\n")
    step, why = next(_failed_steps(text), ("", ""))
    # The path of a Gradle task begins with the names of projects, which may be any words.
    if _STYLE.search(step.rpartition(":")[2] if step.startswith(":") else step):
        return BuildOutput(reason=_line(": ".join(filter(None, (step, why)))), style_gate=step)
    error = _COMPILER.search(text)
    if error is None and _WERROR in text:
        warning = _WARNING.search(text)
        cause = f"{_WERROR}: {warning['warning']}" if warning else _WERROR
        return BuildOutput(reason=_line(cause), style_gate="javac -Werror")
    if error is not None and "[-Werror" in error["told"]:
        return BuildOutput(reason=_line(error[0]), style_gate="-Werror")
    if error is not None:
        # Behind javac's error stand the line of the code and a caret under the place.
        behind = text[error.end() :].split("\n")[1:3]
        report = [f"{error['path']}:{error['line'] or error['place'] or error['at']}: error: {error['told']}"]
        report += behind if len(behind) == 2 and behind[1].strip() == "^" else []
        remedy = STRIP_TYPES if _TYPES.search(error["path"]) else ""
        report += [remedy] if remedy else []
        return BuildOutput(reason=_line(report[0]), compiler="\n".join(report), remedy=remedy)
    wrong = _WENT_WRONG.search(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if wrong is not None:
        reason = wrong[1]
    elif step or why:
        reason = ": ".join(filter(None, (step, why)))
    else:
        raised = _RAISED.findall(text)[-1:]
        refused = _REFUSED.findall(text)[:1]
        reason = next(_errors(lines), (raised or refused or lines or [""])[-1])
    return BuildOutput(reason=_line(reason))


def _failed_steps(text: str) -> Iterator[tuple[str, str]]:
    """The steps that failed, with the reasons: the plug-in or task, and what it says."""
    for step in _MAVEN.finditer(text):
        why = _NAMED_AGAIN.sub("", step["why"])
        lines = [line.removeprefix("[ERROR]").strip() for line in why.split("\n")]
        telling = [line for line in lines if line and not _SAYS_NOTHING.match(line)]
        # Surefire tells of failing tests before Maven's line, and then names its reports only.
        before = [*_errors(text[: step.start()].splitlines())]
        yield step["what"] or "", (telling or before[-1:] or lines)[0]
    for step in _GRADLE.finditer(text):
        yield step["what"], step["why"].strip().lstrip(">").strip()


def _errors(lines: Iterable[str]) -> Iterator[str]:
    """What the lines that Maven marks as errors say."""
    for line in lines:
        mark, _, text = line.partition("] ")
        text = text.removeprefix("[ERROR]").strip()
        if mark in ("[ERROR", "[FATAL") and text and not _SAYS_NOTHING.match(text):
            yield text


def _line(text: str) -> str:
    line = " ".join(_HELP.sub("", text).split())
    return line if len(line) <= _MOST else f"{line[:_MOST]} …"
