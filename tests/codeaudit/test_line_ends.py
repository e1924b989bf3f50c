"""Files of text are read the same with the ends of lines of Windows, and with a mark of their encoding."""

import hashlib
import json
import shutil
from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path

import pytest

from codeaudit.audit.integrity import DIGEST, EXPLAINED, FILES, bound
from codeaudit.audit.store import EXPLANATIONS, MANIFEST, SUMMARY, RunFolder
from codeaudit.cli.main import main
from tests.support.forgery import edit_json

WRITTEN: dict[str, Callable[[bytes], bytes]] = {
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "marked": lambda data: BOM_UTF8 + data,
    "both": lambda data: BOM_UTF8 + data.replace(b"\n", b"\r\n"),
}
FILES_OF = (
    f"run/{MANIFEST}",
    f"run/{SUMMARY}",
    f"run/{EXPLANATIONS}",
    "suite.jsonl",
    "options.toml",
    "key",
    "seal.key",
)
COMMANDS = {
    "gate": ["gate", "run", "--sign-key", "key", "--config", "options.toml", "--allow-insensitive"],
    "report": ["report", "run", "--html", "page.html"],
    "compare": ["compare", "run", "other"],
    "explain": ["explain", "run"],
    "run": ["run", "--suite", "suite.jsonl", "--model", "fake/length", "--out", "again", "--workers", "1"],
    "resume": ["run", "--config", f"run/{MANIFEST}", "--out", "resumed", "--sign-key", "key"],
    "unseal": ["unseal", "sealed", "--key", "seal.key", "--out", "unsealed"],
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    (folder / "key").write_text("0123456789abcdef\n0123456789abcdef\n", "utf-8")
    (folder / "options.toml").write_text('[gate]\nmax-violation-rate = "100%"\n', "utf-8")
    (folder / "f.py").write_text(
        "def total(values, start):\n    result = start\n    count = 0\n    return result, count, values\n",
        "utf-8",
    )
    few = ["--transform", "rename", "--variants", "1", "--workers", "1"]
    words = ["run", "--corpus", str(folder / "f.py"), *few, "--sign-key", str(folder / "key")]
    assert main([*words, "--model", "fake/hash", "--out", str(folder / "run")]) == 0
    assert main([*words, "--model", "fake/length", "--out", str(folder / "other")]) == 0
    assert main(["explain", str(folder / "run")]) == 0
    assert (folder / "run" / EXPLANATIONS).exists()
    made = ["transform", str(folder / "f.py"), "--suite", str(folder / "suite.jsonl")]
    assert main([*made, "--transform", "rename", "--variants", "1"]) == 0
    key, sealed = str(folder / "seal.key"), str(folder / "sealed")
    assert main(["seal", "renamer-checkpoint", "--scheme", "cipher", "--key", key, "--out", sealed]) == 0
    return folder


@pytest.mark.thinned(1)
@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reads_them(
    command: str,
    how: str,
    world: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "world"
    shutil.copytree(world, folder)
    monkeypatch.chdir(folder)
    for name in FILES_OF:
        path = folder / name
        data = path.read_bytes()
        path.write_bytes(WRITTEN[how](data))
        assert path.read_bytes() != data
    assert main(COMMANDS[command]) == 0, capsys.readouterr().err


@pytest.mark.thinned(1)
@pytest.mark.parametrize("how", [*WRITTEN, "indented"])
def test_runs_of_earlier_versions_too(
    how: str, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They bound JSON by the hash of its bytes: other ends of lines are found to be the same, other JSON is not."""
    run = tmp_path / "run"
    shutil.copytree(world / "run", run)
    manifest = json.loads((run / MANIFEST).read_text("utf-8"))
    old = {name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in manifest[FILES]}
    lines = hashlib.sha256((run / EXPLANATIONS).read_bytes()).hexdigest()
    again = {**bound(RunFolder(run), manifest, manifest[FILES]), FILES: old}
    inside = {name: value for name, value in again.items() if name not in (DIGEST, "signature", EXPLAINED)}
    digest = hashlib.sha256(json.dumps(inside, sort_keys=True).encode()).hexdigest()
    edit_json(run / MANIFEST, **{FILES: old, DIGEST: digest, EXPLAINED: [lines]})
    gate = ["gate", str(run), "--max-violation-rate", "100%", "--allow-insensitive"]
    assert main(gate) == 0, capsys.readouterr().err
    for name in (SUMMARY, EXPLANATIONS):
        data = (run / name).read_bytes()
        (run / name).write_bytes(
            json.dumps(json.loads(data)).encode()
            if how == "indented" and name == SUMMARY
            else WRITTEN.get(how, bytes)(data)
        )
    assert main(gate) == (3 if how == "indented" else 0), capsys.readouterr().err


def test_other_json_of_the_same_content_is_the_same(world: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(world / "run", run)
    summary = json.loads((run / SUMMARY).read_text("utf-8"))
    (run / SUMMARY).write_text(json.dumps(summary, indent=7, sort_keys=True, ensure_ascii=False), "utf-8")
    assert main(["gate", str(run), "--max-violation-rate", "100%", "--allow-insensitive"]) == 0
    summary["seed"] += 1
    (run / SUMMARY).write_text(json.dumps(summary), "utf-8")
    assert main(["gate", str(run), "--max-violation-rate", "100%", "--allow-insensitive"]) == 3
