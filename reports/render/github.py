"""Writes a gate for GitHub Actions: annotations as workflow commands, and the summary of a step.

GitHub shows at most 10 errors and 10 warnings of a step and 50 of a job, cuts messages after 4,096
characters, and rejects a summary above 1 MiB. This module therefore selects what to print: checks first, then
cases violated for the first time, then the other violated cases.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final, Literal, TypeAlias

from codeaudit.reports.cases import Locate, Place, ReportedCase, diff
from codeaudit.reports.checks import Gate, sentence
from codeaudit.reports.wording import plain
from codeaudit.transforms.grammar import counted, visible

Level: TypeAlias = Literal["error", "warning"]

MOST: Final = 10
"""Maximum number of annotations of one level in one step."""
LONGEST: Final = 4096
"""Maximum number of characters of a message."""
SUMMARY: Final = 1024 * 1024
"""Maximum number of bytes of a step's summary."""
DETAILED: Final = 50
"""Number of violated cases shown with their diffs in a summary."""


def annotations(
    gate: Gate, violated: Sequence[ReportedCase], *, locate: Locate, lasting: Collection[Place] = ()
) -> list[str]:
    """Return the lines to print: at most ten errors and ten warnings.

    Failed and unjudged checks are errors. Violated cases are errors if the gate failed and warnings if it
    passed.
    """
    # Both stop the pipeline: a check that could not be judged has exit code 3.
    stopped = [check for check in gate.checks if check.outcome in ("failed", "unknown")]
    lines = [command("error", sentence(check), title="codeaudit gate") for check in stopped[:MOST]]
    level: Level = "error" if gate.outcome == "failed" else "warning"
    # Errors and warnings have separate limits of ten.
    room = MOST - len(lines) if level == "error" else MOST
    for case in first(violated, lasting)[:room]:
        place = locate(case.sample.origin.path)
        # Without a file GitHub shows the annotation at the step, which is better than at a wrong line.
        where = {} if place is None else {"file": place, "line": str(max(1, case.sample.origin.line))}
        text = f"{plain(case.model)}: {case.headline}\n{diff(case, case.of('violated')[0])}"
        lines.append(command(level, text, **where, title=f"answer changed under {case.transform}"))
    return lines


def summary(
    table: str, violated: Sequence[ReportedCase], *, lasting: Collection[Place] = (), room: int = SUMMARY
) -> str:
    """Return Markdown of at most `room` bytes: the gate's table, then as many violated cases as fit."""
    table = visible(table)
    if not violated:
        return _cut(table, room)
    ordered = first(violated, lasting)
    title = f"{counted(len(ordered), 'sample')} with a changed answer"
    parts = [table, f"\n<details><summary>{title}</summary>\n\n"]
    end = "\n</details>\n"
    # 100 bytes for the line about what is left out.
    rest = room - len("".join(parts).encode("utf-8", "replace")) - len(end) - 100
    count = 0
    for case in ordered[:DETAILED]:
        part = _detail(case)
        size = len(part.encode("utf-8", "replace"))
        # The cases are sorted by importance: the first one that does not fit ends the list.
        if size > rest:
            break
        parts.append(part)
        rest -= size
        count += 1
    if count < len(ordered):
        parts.append(f"\n{len(ordered) - count} more are in the run folder.\n")
    return _cut("".join([*parts, end]), room)


def first(violated: Iterable[ReportedCase], lasting: Collection[Place]) -> list[ReportedCase]:
    """Sort cases by importance: steady samples, violated for the first time, then by number of violated
    variants."""
    return sorted(
        violated, key=lambda case: (case.unsteady > 0, case.is_lasting(lasting), -len(case.of("violated")))
    )


def command(level: Level, message: str, **properties: str) -> str:
    """Return a workflow command on one line. Special characters of the message are escaped."""
    named = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    # Cut before the escaping: the limit of GitHub is on the message, and a cut escape such as %0 would be
    # shown.
    short = message if len(message) <= LONGEST else f"{message[: LONGEST - 1]}…"
    return f"::{level} {named}::{_data(short)}"


def _data(text: str) -> str:
    # Percent signs first, because the escapes contain them.
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _detail(case: ReportedCase) -> str:
    origin = case.sample.origin
    text = visible(diff(case, case.of("violated")[0]))
    fence = "`" * max(3, _longest_run(text) + 1)
    head = _code(f"{plain(case.model)}, {plain(origin.path)}:{origin.line}: {visible(case.headline)}")
    return f"\n{head}\n\n{fence}diff\n{text}\n{fence}\n"


def _code(text: str) -> str:
    """Return text as inline code that no character of the text can end."""
    ticks = "`" * (_longest_run(text) + 1)
    return f"{ticks} {text} {ticks}"


def _longest_run(text: str) -> int:
    longest = run = 0
    for letter in text:
        run = run + 1 if letter == "`" else 0
        longest = max(longest, run)
    return longest


def _cut(text: str, room: int) -> str:
    data = text.encode("utf-8", "replace")
    # `ignore` drops the letter that the cut went through.
    return text if len(data) <= room else data[: max(0, room)].decode("utf-8", "ignore")
