"""Paths of others in reports for other programs: inside the repository, or not there."""

import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from codeaudit.cli.main import main
from tests.support.sarif import check_sarif

INSIDE = {"": "table.jsonl", "src/a.py": "src/a.py", "./src/../src/a.py": "src/a.py", "a:b.py": "a:b.py"}
OUTSIDE = (
    *(
        "/etc/passwd",
        "/etc/hostname",
        "../outside.py",
        "src/../../outside.py",
        "link/outside.py",
        "linked.py",
    ),
    *("file:///etc/passwd", "https://example.org/a.py", "//host/a.py", "C:\\a.py", "..\\outside.py"),
    *("src", ".", "gone.py", "\x1b[31m.py", "a\nb.py", "%2e%2e/outside.py"),
)


def test_every_place_is_a_file_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "repository"
    (root / "src").mkdir(parents=True)
    for file in (root / "src" / "a.py", root / "a:b.py", tmp_path / "outside.py"):
        file.write_text("pass\n", "utf-8")
    (root / "link").symlink_to(tmp_path)
    (root / "linked.py").symlink_to(tmp_path / "outside.py")
    monkeypatch.chdir(root)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(root))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    code = "def total{0}(values, start):\n    result = start\n    count = {0}\n    return result, count, values\n"
    with open("table.jsonl", "w", encoding="utf-8") as table:
        for number, path in enumerate((*INSIDE, *OUTSIDE)):
            row = {"id": str(number), "code": code.format(number), "label": "x", "file": path, "line": 1}
            table.write(json.dumps(row) + "\n")
    run = [
        "run",
        "--corpus",
        "table.jsonl",
        "--model",
        "fake/hash",
        "--transform",
        "rename",
        "--variants",
        "1",
    ]
    assert main([*run, "--workers", "1", "--out", "run"]) == 0
    capsys.readouterr()
    assert main(["gate", "run", "--max-violation-rate", "0", "--sarif", "gate.sarif", "--github"]) == 1
    log = check_sarif(Path("gate.sarif").read_text("utf-8"))
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in log["results"]]
    assert {place["uriBaseId"] for place in places} == {"%SRCROOT%"}
    named = {urlsplit(place["uri"]) for place in places}
    assert not any(url.scheme or url.netloc for url in named)
    assert {unquote(url.path) for url in named} == set(INSIDE.values())
    assert f"{len(OUTSIDE)} more results are left out" in json.dumps(log["invocations"])
    # There are ten annotations at most, and those of samples without a file name none.
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::error ")]
    assert len(lines) == 10
    files = re.findall(r"\bfile=([^,]*),", "\n".join(lines))
    assert {file.replace("%3A", ":") for file in files} <= set(INSIDE.values())
