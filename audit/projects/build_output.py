"""Says why a test command ended without results, from what it printed. Called by `codeaudit verify`.

Knows the words of javac, Maven, Gradle and pytest; of any other command the last line is the reason.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
"""Colours and other control sequences of a terminal (ECMA-48, section 5.4)."""
_COMPILER: Final = re.compile(
    r"^(?:\[ERROR\] )?(?P<path>\S[^\n:]*\.java):"
    r"(?:(?P<line>\d+): error:|\[(?P<place>\d+)(?:,\d+)?\]) ?(?P<told>.+)$",
    re.MULTILINE,
)
"""An error as javac and Gradle write it, and as Maven does."""
_FAILED: Final = (
    re.compile(r"Failed to execute goal (?P<what>\S+:\S+)?(?P<why>.*)"),
    re.compile(r"Execution failed for task '(?P<what>[^'\n]+)'\.?(?P<why>(?:\n> .*)?)"),
)
"""The step at which Maven and Gradle stop."""
_STYLE: Final = re.compile(
    r"checkstyle|spotless|googleformatter|formatter-maven|fmt-maven|pmd|cpd|spotbugs|findbugs|apache-rat|license"
    r"|impsort|sortpom|animal-sniffer|forbiddenapis|modernizer|javadoc|jacoco|codenarc",
    re.IGNORECASE,
)
"""Steps of a build that look at the text of the code, and not at what it does."""
_WENT_WRONG: Final = re.compile(r"^\* What went wrong:\n(.+?)(?=\n\n|\n\* )", re.MULTILINE | re.DOTALL)
_HELP: Final = re.compile(r"\s*-> \[Help \d+\]")
_MOST: Final = 400
"""Characters of a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOutput:
    """What the output of a test command says about its end."""

    reason: str
    """One line: the first error of the compiler, the step that failed, or the last line."""
    compiler: str = ""
    """The first error of a compiler with the lines that belong to it; empty if there is none."""
    style_gate: str = ""
    """The step that refused the style of the code; empty if there was none."""


def build_output(output: str) -> BuildOutput:
    """Read the whole output of a test command."""
    text = _ESCAPE.sub("", output).replace("\r\n", "\n")
    step, why = next(_failed_steps(text), ("", ""))
    if _STYLE.search(step):
        return BuildOutput(reason=_line(": ".join(filter(None, (step, why)))), style_gate=step)
    if error := _COMPILER.search(text):
        # Behind javac's error stand the line of the code and a caret under the place.
        behind = text[error.end() :].split("\n")[1:3]
        shown = [f"{error['path']}:{error['line'] or error['place']}: error: {error['told']}"]
        shown += behind if len(behind) == 2 and behind[1].strip() == "^" else []
        return BuildOutput(reason=_line(shown[0]), compiler="\n".join(shown))
    wrong = _WENT_WRONG.search(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if wrong is not None:
        reason = wrong[1]
    elif step or why:
        reason = ": ".join(filter(None, (step, why)))
    else:
        errors = [line.removeprefix("[ERROR]") for line in lines if line.startswith("[ERROR] ")]
        pytest = [line.removeprefix("E ") for line in lines if line.startswith("E ")]
        reason = errors[0] if errors else (pytest or lines or [""])[-1]
    return BuildOutput(reason=_line(reason))


def _failed_steps(text: str) -> Iterator[tuple[str, str]]:
    """The steps that failed, with the reasons: the plug-in or task, and what it says."""
    for pattern in _FAILED:
        for found in pattern.finditer(text):
            why = _HELP.sub("", found["why"]).strip().lstrip(">").strip()
            # Maven: `(default-test) on project p: There are test failures.`
            yield found["what"] or "", why.partition(": ")[2] or why


def _line(text: str) -> str:
    told = " ".join(_HELP.sub("", text).split())
    return told if len(told) <= _MOST else f"{told[:_MOST]} …"
