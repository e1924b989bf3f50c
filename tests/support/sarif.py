"""What code scanning needs of a SARIF 2.1.0 log, beyond its being JSON."""

import json
from typing import Any

LOG = {"$schema", "version", "runs"}
RUN = {"tool", "automationDetails", "invocations", "results"}
RESULT = {
    *("ruleId", "ruleIndex", "level", "message", "locations"),
    *("partialFingerprints", "baselineState", "properties"),
}
LEVELS = {"none", "note", "warning", "error"}
STATES = {"new", "unchanged", "updated", "absent"}


def check_sarif(text: str) -> dict[str, Any]:
    """The one run of the log.

    Raises:
        AssertionError: a property is missing, unknown, or of a wrong type; or a reference leads nowhere.
    """
    log = json.loads(text)
    assert set(log) == LOG
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert set(run) <= RUN
    driver = run["tool"]["driver"]
    assert driver["name"]
    rules = driver["rules"]
    for rule in rules:
        assert all(rule[key]["text"] for key in ("shortDescription", "fullDescription", "help"))
    for result in run["results"]:
        assert set(result) <= RESULT
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in LEVELS
        assert result.get("baselineState", "new") in STATES
        assert result["message"]["text"]
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert physical["region"]["endLine"] >= physical["region"]["startLine"] >= 1
        uri = physical["artifactLocation"]["uri"]
        assert uri
        assert not set(uri) & set(' <>"\\^`{|}'), "a URI reference"
        assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
    assert all(isinstance(invocation["executionSuccessful"], bool) for invocation in run["invocations"])
    return run  # type: ignore[no-any-return]
