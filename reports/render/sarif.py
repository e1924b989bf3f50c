"""Writes violated cases as SARIF 2.1.0 for code scanning: one result per case, at the lines of its sample."""

import hashlib
import json
from collections.abc import Collection, Iterable
from typing import Any, Final
from urllib.parse import quote

from codeaudit.reports.cases import Locate, Place, ReportedCase, diff
from codeaudit.transforms.grammar import visible
from codeaudit.transforms.registry import ENTRIES

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
MOST: Final = 5000
"""Maximum number of results per run that GitHub shows. New results come first."""


def sarif(
    cases: Iterable[ReportedCase],
    *,
    locate: Locate,
    version: str,
    lasting: Collection[Place] | None = None,
) -> str:
    """Return the report as JSON text.

    `lasting` holds the variants that were already violated in the baseline; with it, each result says whether
    it is new. A case whose file is not in the repository has no result: code scanning refuses a report with a
    result that has no place, and a path out of the repository is none. A note tells how many there are. A
    fingerprint depends on the model, the transform and the sample's text only, so a result keeps
    its identity if the lines above it change.
    """
    violated = [case for case in cases if case.state == "violated"]
    places = {path: locate(path) for path in {case.sample.origin.path for case in violated}}
    placed = [case for case in violated if places[case.sample.origin.path] is not None]
    # False before True: steady samples and new results first, because only the first 5,000 are shown. The
    # sort is stable, so the rest keeps its order.
    placed.sort(key=lambda case: (case.unsteady > 0, case.is_lasting(lasting or ())))
    shown = placed[:MOST]
    rules = list(dict.fromkeys(case.transform for case in shown))
    results = [
        _result(case, rules.index(case.transform), places[case.sample.origin.path] or "", lasting)
        for case in shown
    ]
    notes = [
        f"{number:,} more results are left out: {why}."
        for number, why in (
            (len(placed) - len(shown), f"code scanning shows {MOST}"),
            (len(violated) - len(placed), "their samples are of no file in this repository"),
        )
        if number
    ]
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver(rules, version)},
                "automationDetails": {"id": "codeaudit/"},
                "invocations": [{"executionSuccessful": True, **_notified(notes)}],
                "results": results,
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _driver(rules: Iterable[str], version: str) -> dict[str, Any]:
    return {
        "name": "codeaudit",
        "semanticVersion": version,
        "rules": [_rule(name) for name in rules],
    }


def _rule(name: str) -> dict[str, Any]:
    summary = ENTRIES[name].summary if name in ENTRIES else name  # a plug-in need not be installed here
    text = f"The model's answer changed although this edit keeps the meaning: {summary}."
    return {
        "id": name,
        "shortDescription": {"text": f"answer changed under {name}"},
        "fullDescription": {"text": text},
        "help": {"text": f"{text} `codeaudit explain` shows the smallest part of the edit that changes it."},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["invariance"]},
    }


def _result(case: ReportedCase, rule: int, place: str, lasting: Collection[Place] | None) -> dict[str, Any]:
    first = case.of("violated")[0]
    message = f"{case.model}: {case.headline}\n\n{diff(case, first)}"
    # \0 keeps the parts apart: without it model `a` with transform `bc` equals `ab` with `c`.
    text = f"{case.model}\0{case.transform}\0{case.sample.language}\0{case.sample.source}"
    if case.sample.other:  # two pairs may have one unit in common
        text += f"\0{case.sample.other}"
    fingerprint = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    state = {}
    if lasting is not None:
        state["baselineState"] = "unchanged" if case.is_lasting(lasting) else "new"
    return {
        "ruleId": case.transform,
        "ruleIndex": rule,
        # An answer that also changed without an edit is no finding to act on.
        "level": "note" if case.unsteady else "warning",
        "message": {"text": _encodable(message)},
        "locations": [{"physicalLocation": _location(case, place)}],
        "partialFingerprints": {
            "codeauditCase/v1": fingerprint,
            # GitHub takes this name and computes its own hash of the line if it is missing, which would
            # change with the code above.
            "primaryLocationLineHash": f"{fingerprint}:1",
        },
        **state,
        "properties": {
            "model": _encodable(case.model),
            "sample": _encodable(case.sample.id),
            "repeats": case.repeats,
            "unsteadyRepeats": case.unsteady,
        },
    }


def _location(case: ReportedCase, place: str) -> dict[str, Any]:
    line = max(1, case.sample.origin.line)
    artifact = {"uri": quote(place.encode("utf-8", "replace")), "uriBaseId": "%SRCROOT%"}
    last = line + len(case.sample.source.splitlines()) - 1
    return {"artifactLocation": artifact, "region": {"startLine": line, "endLine": max(line, last)}}


def _notified(notes: Iterable[str]) -> dict[str, Any]:
    messages = [{"level": "note", "message": {"text": text}} for text in notes]
    return {"toolExecutionNotifications": messages} if messages else {}


def _encodable(text: str) -> str:
    """Return the text without lone surrogates, which JSON readers may reject, and without hidden marks."""
    return visible(text)
