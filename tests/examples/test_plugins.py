"""The example plug-ins of docs/howto: each is installed, and a command uses it."""

import http.server
import json
import os
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeaudit.audit.store import read_rows
from tests.support.commands import ROOT, codeaudit
from tests.support.plugins import install

PLUGINS = ROOT / "examples" / "plugins"
NAMES = ("transform", "task", "model-provider", "report-format", "language")
SOURCE = """def total(values):
    result = 0
    for value in values:
        result = result + value
    return result


def scaled(value, factor):
    shifted = value + 1
    return shifted * factor
"""
RUN = ("run", "--out", "out", "--workers", "1", "--variants", "1", "--no-controls")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all example plug-ins, laid out as an installer does it."""
    folder = tmp_path_factory.mktemp("site")
    for name in NAMES:
        project = tomllib.loads((PLUGINS / name / "pyproject.toml").read_text("utf-8"))
        modules = {module: (PLUGINS / name / f"{module}.py").read_text("utf-8")
                   for module in project["tool"]["setuptools"]["py-modules"]}  # fmt: skip
        install(folder, project["project"]["name"], project["project"]["entry-points"], modules)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "sums.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def ran(site: Path, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """A command with the plug-ins installed."""
    return codeaudit(*words, cwd=folder, PYTHONPATH=os.pathsep.join([str(ROOT), str(site)]))


def run(site: Path, folder: Path, *words: str) -> str:
    """What a command prints that has to succeed."""
    done = ran(site, folder, *words)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def test_the_transform_comments_returns(site: Path, folder: Path) -> None:
    run(site, folder, "transform", "code", "--transform", "return-comments", "--out", "new")
    changed = (folder / "new" / "sums.py").read_text("utf-8").splitlines()
    assert [line.partition("#")[0].rstrip() for line in changed] == SOURCE.splitlines()
    assert sum("#" in line for line in changed) == 2
    (folder / "codeaudit_mine.py").write_text((site / "codeaudit_return_comments.py").read_text("utf-8"))
    mine = run(
        ROOT, folder, "transform", "code", "--transform", "py/codeaudit_mine:RETURN_COMMENTS", "--diff"
    )
    assert mine.count("\n+    return") == 2
    shown = run(
        site, folder, *RUN, "--corpus", "code", "--model", "fake/hash", "--transform", "return-comments"
    )
    assert "return-comments" in shown


@pytest.mark.slow
def test_the_task_asks_for_loops(site: Path, folder: Path) -> None:
    words = ("--corpus", "code", "--model", "fake/constant", "--task", "has-loop", "--format", "json")
    summary = json.loads(run(site, folder, *RUN, *words))
    assert summary["models"][0]["violations"]["count"] == 0
    labels = {json.loads(row["label"]) for row in read_rows(folder / "out" / "suite.parquet")}
    assert labels == {"yes", "no"}
    assert "has-loop" in run(site, folder, "list", "tasks")
    (folder / "codeaudit_mine.py").write_text((site / "codeaudit_has_loop.py").read_text("utf-8"))
    mine = ("--corpus", "code", "--model", "fake/constant", "--task", "py/codeaudit_mine:HAS_LOOP")
    run(ROOT, folder, *RUN[:2], "mine", *RUN[3:], *mine)


class _Plain(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_POST(self) -> None:
        type(self).asked += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(503 if self.asked == 1 else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"text": "[compute_total]", "tokens": [40, 4]}).encode())

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    _Plain.asked = 0
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Plain) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.slow
def test_the_model_provider_asks_retries_and_counts(site: Path, folder: Path, endpoint: str) -> None:
    model = ("--model", "plain/small", "--base-url", endpoint, "-M", "backoff=0.01", "-M", "price_in=1")
    run(site, folder, *RUN, "--corpus", "code", "--transform", "rename", *model)
    manifest = json.loads((folder / "out" / "manifest.json").read_text("utf-8"))
    assert manifest["options"]["base_url"] == endpoint
    (usage,) = manifest["usage"]
    assert usage["retries"] == 1
    assert usage["tokens_in"] == 40 * (usage["requests"] - 1)
    refused = ran(site, folder, *RUN, "--corpus", "code", "--model", "fake/hash", "--base-url", endpoint)
    assert refused.returncode == 2
    assert "--base-url: no model here accepts it" in refused.stderr
    assert "plain/MODEL" in refused.stderr


@pytest.mark.slow
def test_the_report_format_writes_a_line_per_model(site: Path, folder: Path) -> None:
    run(site, folder, *RUN, "--corpus", "code", "--model", "fake/hash", "--transform", "rename")
    head, line = run(site, folder, "report", "out", "--format", "tsv").splitlines()
    assert head.split("\t")[0] == "model"
    assert line.split("\t") == ["fake/hash", "2", "2", "1.0000"]


def test_the_language_audits_sections_of_ini_files(site: Path, folder: Path) -> None:
    text = "[database]\nhost = a\nport = 1\nuser = me\n\n[cache]\nsize = 3\nkind = lru\nfolder = x\n"
    (folder / "settings.ini").write_text(text, encoding="utf-8")
    words = ("--corpus", "settings.ini", "--model", "fake/hash", "--format", "json")
    summary = json.loads(run(site, folder, *RUN, *words))
    (row,) = [row for row in summary["models"][0]["by_transform"] if row["transform"] == "reorder"]
    assert row["applied"] == 2
    rows = [row for row in read_rows(folder / "out" / "suite.parquet") if row["transform"] == "reorder"]
    for row in rows:
        assert sorted(row["perturbed"].splitlines()) == sorted(row["source"].splitlines())
        assert row["perturbed"] != row["source"]


@pytest.mark.weekly
def test_pip_installs_every_example(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", reason="builds the examples")
    for name in NAMES:
        copy = tmp_path / "projects" / name
        copy.mkdir(parents=True)
        for path in (PLUGINS / name).glob("*.*"):
            (copy / path.name).write_bytes(path.read_bytes())
        words = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
        done = subprocess.run(
            [sys.executable, "-m", "pip", *words, "--target", str(tmp_path / "site"), str(copy)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    listed = run(tmp_path / "site", tmp_path, "list", "--format", "json")
    installed = {kind: {row["name"] for row in rows} for kind, rows in json.loads(listed).items()}
    assert "return-comments" in installed["transforms"]
    assert "has-loop" in installed["tasks"]
    assert "plain/MODEL" in installed["models"]


@pytest.mark.parametrize("name", NAMES)
def test_each_page_shows_its_example(name: str) -> None:
    """A page quotes the entry point and links the package, so that a renamed example is noticed."""
    page = (ROOT / "docs" / "howto" / f"{name}.md").read_text("utf-8")
    project = tomllib.loads((PLUGINS / name / "pyproject.toml").read_text("utf-8"))
    groups = project["project"]["entry-points"]
    assert groups
    for group, points in groups.items():
        for point, target in points.items():
            assert f'[project.entry-points."{group}"]\n{point} = "{target}"' in page
    assert f"examples/plugins/{name}" in page
    (module,) = project["tool"]["setuptools"]["py-modules"]
    code = (PLUGINS / name / f"{module}.py").read_text("utf-8").splitlines()
    assert sum(bool(line.strip()) for line in code) <= 64, "an example is short"
