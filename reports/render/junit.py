"""Writes cases as JUnit XML: each violated case is a failed test with its diff.

JUnit XML has no standard. The output is valid by the schemas of Jenkins (`junit-10.xsd`) and of Ant's JUnit
task. They require the empty `system-out` and the times of 0, and they allow neither `file` nor `line`.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final
from xml.etree import ElementTree as Xml

from codeaudit.reports.cases import ReportedCase, Variant, diff
from codeaudit.reports.checks import Check, sentence
from codeaudit.transforms.grammar import visible

SHOWN: Final = 3
"""Number of violated variants of a case whose diffs are included."""

_ILLEGAL: Final = re.compile("[^\\t\\n\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""Characters that XML 1.0 cannot represent, and the carriage return, which readers turn into a newline."""


def junit(cases: Iterable[ReportedCase], *, started: str, checks: Sequence[Check] = ()) -> str:
    """Return the report as text: a suite per model and transform and a test per sample, after the gate's
    checks.

    A case with a violated variant is a failure. A case without any verdict is an error, or is skipped if the
    transform was not applied or the right answer changes. `started` is an ISO 8601 time, with or without a
    zone.
    """
    root = Xml.Element("testsuites")
    stamp = started[:19]
    if checks:
        _suite(root, "codeaudit gate", stamp, [_check(check) for check in checks])
    suites: dict[tuple[str, str, int], list[ReportedCase]] = {}
    for case in cases:
        suites.setdefault((case.model, case.transform, case.seed), []).append(case)
    # With one trial the seed in the name would make another series in CI for each seed.
    several = len({seed for _, _, seed in suites}) > 1
    for (model, transform, seed), group in suites.items():
        name = f"{model} {transform}"
        _suite(
            root,
            f"{name} seed {seed}" if several else name,
            stamp,
            [_test(f"{model}.{transform}", case) for case in group],
            _counts(group),
        )
    # Readable when it is opened in an editor; white space between elements means nothing.
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def legal(text: str) -> str:
    r"""Return the text with characters that XML cannot hold, or that nobody sees, as `\x08` or `\ud800`."""
    return _ILLEGAL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), visible(text))


def _suite(
    root: Xml.Element,
    name: str,
    started: str,
    tests: Sequence[Xml.Element],
    counts: dict[str, int] | None = None,
) -> None:
    ended = [child.tag for test in tests for child in test]
    suite = Xml.SubElement(
        root,
        "testsuite",
        {
            "name": legal(name),
            "package": "codeaudit",
            "id": str(len(root)),
            "timestamp": started,
            "hostname": "localhost",
            "tests": str(len(tests)),
            "failures": str(ended.count("failure")),
            "errors": str(ended.count("error")),
            "skipped": str(ended.count("skipped")),
            "time": "0",
        },
    )
    properties = Xml.SubElement(suite, "properties")
    for key, number in (counts or {}).items():
        Xml.SubElement(properties, "property", {"name": key, "value": str(number)})
    suite.extend(tests)
    # Ant's schema requires both, also if they are empty.
    Xml.SubElement(suite, "system-out")
    Xml.SubElement(suite, "system-err")


def _counts(cases: Sequence[ReportedCase]) -> dict[str, int]:
    """Count the variants of a suite by their outcome."""
    states = [variant.state for case in cases for variant in case.variants]
    return {
        f"variants {state}": states.count(state) for state in ("held", "violated", "unjudged", "not applied")
    }


def _element(name: str, classname: str) -> Xml.Element:
    return Xml.Element("testcase", {"name": legal(name), "classname": legal(classname), "time": "0"})


def _test(classname: str, case: ReportedCase) -> Xml.Element:
    # Without the line, which other edits of the file change: CI would take it for another test. It stands
    # in the message.
    named = (case.sample.origin.path, case.function, case.sample.id)
    test = _element(" ".join(filter(None, named)), classname)
    match case.state:
        case "violated":
            _ended(test, "failure", "invariance", f"{_place(case)}: {case.headline}", _details(case))
        case "unjudged":
            # An error asks for a repair: the model gave no answer. If the edit changes the right answer there
            # is nothing to repair.
            tag = "error" if any(variant.fault for variant in case.variants) else "skipped"
            _ended(test, tag, "unjudged", _reasons(case.of("unjudged")), _place(case))
        case "not applied":
            _ended(test, "skipped", "not applied", _reasons(case.variants), "")
        case "held":
            pass
    return test


def _check(check: Check) -> Xml.Element:
    test = _element(check.title, f"gate.{check.model}")
    tags = {
        "failed": ("failure", "gate"),
        "unknown": ("error", "unjudged"),
        "untested": ("skipped", "untested"),
    }
    if check.outcome in tags:
        tag, kind = tags[check.outcome]
        _ended(test, tag, kind, sentence(check), "\n".join(check.notes))
    return test


def _ended(test: Xml.Element, tag: str, kind: str, message: str, text: str) -> None:
    Xml.SubElement(test, tag, {"type": kind, "message": legal(message)}).text = legal(text)


def _place(case: ReportedCase) -> str:
    return f"{case.sample.origin.path}:{case.sample.origin.line}"


def _reasons(variants: Iterable[Variant]) -> str:
    return "; ".join(dict.fromkeys(variant.reason for variant in variants))


def _details(case: ReportedCase) -> str:
    violated = case.of("violated")
    parts = [_place(case)]
    for variant in violated[:SHOWN]:
        parts.append(f"\nvariant {variant.number}: {variant.before!r} became {variant.after!r}")
        parts += [*(f"  {note}" for note in variant.notes), diff(case, variant)]
    if len(violated) > SHOWN:
        parts.append(f"\n{len(violated) - SHOWN} more variants violated")
    return "\n".join(parts)
