"""Reading data imports and starts nothing that the data names, and sends nothing anywhere.

Each artefact that a command reads is made hostile in each of its fields that name something. Every command that
reads it is run under an audit hook of Python that records modules, processes and connections.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from codeaudit.audit.store import MANIFEST, SUITE, SUMMARY, VERDICTS, read_about
from codeaudit.cli.main import COMMANDS, main
from codeaudit.retyping import words
from tests.support.checkpoints import write_checkpoint
from tests.support.commands import ROOT, environment
from tests.support.forgery import edit_json, edit_rows, rebind

CODE = "".join(
    f"def spread_{letter}(values):\n    low = min(values)\n    high = max(values)\n    return high - low, '{letter}'\n\n\n"
    for letter in "abcdef"
)
EVIL = """\
from pathlib import Path
Path(__file__).with_name("EXECUTED").touch()
def predict(queries):
    return ["evil" for query in queries]
X = T = C = L = predict
"""
TASK, TRANSFORM, MODEL = "py/evil:X", "py/evil:T", "py/evil:predict"

READERS = (
    "gate {run} --max-violation-rate 50%",
    "gate {run} --max-violation-rate 50% --transform rename",
    "gate --plan {run}",
    "gate good --baseline {run}",
    "gate {run} --write-limits limits.toml",
    "gate {run} --baseline good.parquet --junit g.xml --sarif g.sarif --github",
    "report {run}",
    "report {run} --html r.html --markdown r.md --latex r.tex --junit r.xml --csv csv",
    "report {run} --baseline b.parquet",
    "view {run} --no-browser --out v.html",
    "compare {run} good --html c.html",
    "compare {run} --model fake/constant --out {run}-compared",
    "explain {run}",
    "merge {run} good --out merged",
    "run --suite {run}/suite.parquet --model fake/constant --out {run}-again",
    "run --config {run}/manifest.json --out {run}-repeated",
    "run --config {run}/manifest.json --model fake/constant --out {run}-other",
    "compare good --config {run}/manifest.json --model fake/constant --out {run}-other-2",
    "run --corpus {run}/suite.parquet --model fake/constant --out {run}-corpus",
    "transform {run}/suite.parquet --transform rename --suite {run}.jsonl",
    "train spe --corpus {run}/suite.parquet --out {run}-trained --epochs 1 --rarest-label 1",
)
"""Commands that read a run folder or a part of it."""
OTHERS = (
    "gate good --baseline evil.parquet",
    "gate --plan evil.parquet",
    "gate good --max-violation-rate 50% --sign-key evil.key",
    "run --corpus evil.jsonl --model fake/constant --out o1",
    "run --corpus evil.jsonl --columns source=source,language=language --model fake/constant --out o2",
    "run --corpus code.py --model file/evil.jsonl --out o3",
    "papers run spe/table-1 --data evil-hub --out o16",
    "transform evil.jsonl --transform rename --suite o4.jsonl",
    "run --suite evil-suite.jsonl --model fake/constant --out o5",
    "run --corpus code.py --model ./evil-checkpoint --limit 2 --out o6",
    "run --corpus code.py --model ./evil-hub --limit 2 --out o7",
    "run --corpus code.py --model hf/./evil-hub --limit 2 --out o8",
    "train spe --from ./evil-checkpoint --corpus code.py --out o9 --epochs 1 --rarest-label 1",
    "seal ./evil-checkpoint --key evil.key --out o10",
    "unseal ./evil-checkpoint --key evil.key --out o11",
    "list models",
    "list tasks",
    "doctor",
    "init new",
    "verify no-project --test-command true",
)
"""Commands that read other files, or list what is installed."""


def hostile(folder: Path) -> Iterator[str]:
    """Copies of the run `good`, hostile in one field each; their names."""

    def copy(name: str) -> Path:
        shutil.copytree(folder / "good", folder / name)
        return folder / name

    def manifest(place: Path, **options: object) -> None:
        found = json.loads((place / MANIFEST).read_text("utf-8"))
        edit_json(place / MANIFEST, options={**found["options"], **options})

    def renamed(place: Path, column: str, old: str, new: str) -> None:
        for name in (SUITE, VERDICTS):
            edit_rows(
                place / name,
                lambda rows: [{**row, **({column: new} if row.get(column) == old else {})} for row in rows],
            )

    place = copy("evil-task")
    edit_json(place / MANIFEST, task=TASK)
    for name in (SUITE, VERDICTS):
        _about(place / name, task=TASK)
    edit_json(place / SUMMARY, task=TASK)
    rebind(place)
    yield place.name
    # An earlier version recorded nothing of the task.
    place = copy("evil-old-task")
    found = json.loads((place / MANIFEST).read_text("utf-8"))
    found.pop("task_facts")
    (place / MANIFEST).write_text(json.dumps({**found, "task": TASK}), "utf-8")
    rebind(place)
    yield place.name
    for name, spec in (
        ("evil-model", MODEL),
        ("evil-program", "exec/./evil.sh"),
        ("evil-folder", "./evil-checkpoint"),
        ("evil-hub-model", "hf/./evil-hub"),
        ("evil-file", "file/evil.jsonl"),
        ("evil-wrapped", f"canonical/{MODEL}"),
        ("evil-endpoint", "openai/tiny"),
    ):
        place = copy(name)
        found = json.loads((place / MANIFEST).read_text("utf-8"))
        old = found["models"][0]["name"]
        edit_json(place / MANIFEST, models=[{**found["models"][0], "name": spec}])
        manifest(place, model=[spec])
        if spec.startswith("openai/"):
            url = f"http://127.0.0.1:{(folder / 'port').read_text()}/v1"
            manifest(place, model=[spec], base_url=url)
        if spec.startswith("hf/"):
            manifest(place, model=[spec], model_argument=["trust_remote_code=true"])
        renamed(place, "model", old, spec)
        summary = json.loads((place / SUMMARY).read_text("utf-8"))
        summary["models"][0]["model"] = spec
        (place / SUMMARY).write_text(json.dumps(summary), "utf-8")
        rebind(place)
        yield place.name
    for name, transform in (("evil-transform", TRANSFORM), ("evil-codemod", "codemod/evil:C")):
        place = copy(name)
        found = json.loads((place / MANIFEST).read_text("utf-8"))
        named = [transform if word == "rename" else word for word in found["transforms"]]
        edit_json(place / MANIFEST, transforms=named)
        manifest(place, transform=transform)
        renamed(place, "transform", "rename", transform)
        summary = json.loads((place / SUMMARY).read_text("utf-8"))
        for row in summary["models"][0]["by_transform"]:
            row["transform"] = transform if row["transform"] == "rename" else row["transform"]
        (place / SUMMARY).write_text(json.dumps(summary), "utf-8")
        rebind(place)
        yield place.name
    place = copy("evil-language")
    renamed(place, "language", "python", "py/evil:L")
    rebind(place)
    yield place.name
    for name, options in (
        ("evil-labels", {"labels": "py/evil:L"}),
        ("evil-corpus", {"corpus": "package:evil"}),
        ("evil-format", {"format": "py/evil:F"}),
        ("evil-ray", {"engine": "ray", "address": "127.0.0.1:1"}),
        ("evil-mixture", {"mixed": "py/evil:T,rename"}),
        ("evil-cache", {"cache": str(folder / "evil-cache-folder")}),
        ("evil-key", {"sign_key": str(folder / "evil.key")}),
    ):
        place = copy(name)
        manifest(place, **options)
        rebind(place)
        yield place.name


def _about(path: Path, **fields: object) -> None:
    """Replace facts in the head of a table."""
    table = pq.read_table(path)
    head = json.dumps({**read_about(path), **fields}).encode()
    kept = {key: value for key, value in (table.schema.metadata or {}).items() if not value.startswith(b"{")}
    named = next(key for key, value in table.schema.metadata.items() if value.startswith(b"{"))
    pq.write_table(table.replace_schema_metadata({**kept, named: head}), path)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "code.py").write_text(CODE, "utf-8")
    (folder / "evil.py").write_text(EVIL, "utf-8")
    (folder / "evil.key").write_text("0123456789abcdef0123456789abcdef\n", "utf-8")
    (folder / "evil.sh").write_text("#!/bin/sh\ntouch EXECUTED\n", "utf-8")
    (folder / "evil.sh").chmod(0o755)
    (folder / "no-project").mkdir()
    (folder / "evil-cache-folder").mkdir()
    rows = [
        {"source": CODE.split("\n\n\n")[n], "language": "py/evil:L", "label": "a", "id": "x", "answer": "y"}
        for n in range(4)
    ]
    (folder / "evil.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    checkpoint = write_checkpoint(folder / "evil-checkpoint")
    edit_json(
        checkpoint / "config.json", network="evil:X", architecture="evil:X", auto_map={"AutoModel": "evil.X"}
    )
    hub = folder / "evil-hub"
    hub.mkdir()
    config = {
        "model_type": "evil",
        "architectures": ["Evil"],
        "auto_map": {"AutoConfig": "evil.X", "AutoModel": "evil.X"},
    }
    (hub / "config.json").write_text(json.dumps(config), "utf-8")
    shutil.copy(folder / "evil.py", hub / "evil.py")
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.MonkeyPatch.context() as patch:
        (folder / "port").write_text(str(listener.getsockname()[1]))
        patch.chdir(folder)
        options = ["--corpus", "code.py", "--model", "fake/hash", "--transform", "rename", "--workers", "1"]
        assert main(["run", *options, "--out", "good"]) == 0
        assert main(["report", "good", "--baseline", "good.parquet"]) == 0
        shutil.copy("good.parquet", "evil.parquet")
        _about(Path("evil.parquet"), task=TASK)
        assert main(["transform", "code.py", "--transform", "rename", "--suite", "evil-suite.jsonl"]) == 0
        text = Path("evil-suite.jsonl").read_text("utf-8")
        Path("evil-suite.jsonl").write_text(
            text.replace("function-name", TASK).replace('"rename"', f'"{TRANSFORM}"'), "utf-8"
        )
        (folder / "names").write_text(json.dumps(list(hostile(folder))))
        yield folder


def watched(place: Path, lines: list[str]) -> list[dict[str, Any]]:
    """What each command started, and its exit code."""
    done = subprocess.run(
        [
            sys.executable,
            "-P",
            str(ROOT / "tests/support/acting.py"),
            json.dumps([line.split() for line in lines]),
        ],
        cwd=place,
        env=environment({"OPENAI_API_KEY": "sk-secret", "CODEAUDIT_CACHE": str(place / "cache")}),
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    seen: list[dict[str, Any]] = json.loads(done.stdout)
    return [{"line": line, **answer} for line, answer in zip(lines, seen, strict=True)]


@pytest.mark.weekly
def test_the_watch_sees_what_is_started(place: Path) -> None:
    """The test of the test: what the user typed is imported, started and asked."""
    port = (place / "port").read_text()
    model, program, endpoint = watched(
        place,
        [
            f"run --corpus code.py --model {MODEL} --limit 2 --transform rename --workers 1 --out typed-1",
            "run --corpus code.py --model exec/./evil.sh --limit 2 --transform rename --workers 1 --out typed-2",
            f"run --corpus code.py --model openai/x --base-url http://127.0.0.1:{port}/v1 -M patience=0.1 -M retries=0 "
            "-M timeout=0.2 --limit 1 --transform rename --workers 1 --out typed-3",
        ],
    )
    assert model["events"] == ["executed evil.py"], model
    assert any("evil.sh" in event for event in program["events"]), program
    assert any(event.startswith("socket.connect") for event in endpoint["events"]), endpoint
    (place / "EXECUTED").unlink()


DEEP = ("gate", "report", "view", "compare")
"""Commands that read a run to its end although they do not know its task or its transforms."""


@pytest.fixture(scope="module")
def answers(place: Path) -> Mapping[str, dict[str, Any]]:
    """What every command started for every field, and how it ended, by its line."""
    names = json.loads((place / "names").read_text())
    lines = [reader.format(run=name) for name in names for reader in READERS]
    return {answer["line"]: answer for answer in watched(place, [*lines, *OTHERS])}


@pytest.mark.weekly
def test_no_command_starts_anything_for_any_field(place: Path, answers: Mapping[str, dict[str, Any]]) -> None:
    assert len(answers) > 15 * len(READERS)
    for answer in answers.values():
        assert not answer["events"], answer
        assert answer["code"] in (0, 1, 2, 3), answer
        assert "unexpected error" not in answer["last"], answer
        assert "your code raised" not in answer["last"], answer
    assert not list(place.rglob("EXECUTED"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["evil-task", pytest.param("evil-transform", marks=pytest.mark.weekly)])
def test_a_run_of_an_unknown_task_is_read_to_its_end(
    name: str, answers: Mapping[str, dict[str, Any]]
) -> None:
    """What the run recorded is enough, so these commands do their work."""
    # Another task is no baseline, and a model is asked about a known task only.
    unable = ("--model", "limits", " good", "--transform")
    lines = [
        reader
        for reader in READERS
        if reader.split()[0] in DEEP and not any(word in reader for word in unable)
    ]
    assert len(lines) > 5
    for line in lines:
        answer = answers[line.format(run=name)]
        assert answer["code"] in (0, 1, 3), answer
        assert answer["code"] != 3 or "gate cannot tell" in answer["last"], answer


def test_every_command_is_tried() -> None:
    # `papers` and others that are added later must be added here, too.
    assert {line.split()[0] for line in (*READERS, *OTHERS)} == set(COMMANDS)


def test_what_a_manifest_may_say_without_the_user() -> None:
    harmless = {"model": ["spe-checkpoint", "fake/hash"], "seed": 3, "transform": "rename", "limit": 7}
    assert not list(words({**harmless, "model_argument": ["temperature=0.5", "samples=3", "chat=false"]}))
    named = {
        name
        for name, _ in words({"model": [MODEL], "model_argument": ["template=x"], "base_url": "http://a/v1"})
    }
    assert named == {"model", "model_argument", "base_url"}
    assert os.environ.get("OPENAI_BASE_URL") is None
