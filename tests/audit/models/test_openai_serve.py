"""`codeaudit run` against a real server: `transformers serve` with a model made on the spot."""

import json
import os
import string
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from codeaudit.audit.store import read_rows
from codeaudit.cli.main import main
from tests.support.bigrams import save_bigrams
from tests.support.endpoints import free_port
from tests.support.waiting import until

NEEDED = ("fastapi", "uvicorn", "accelerate", "transformers.cli.serve")
LONGEST_START = 180.0

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in NEEDED), reason="transformers[serving] is not installed"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Names by the last letter of what it is told; code that ends with a digit gets none."""
    folder = tmp_path_factory.mktemp("served") / "tiny"
    names = dict.fromkeys(string.ascii_letters, "[run_it] [run]")
    names |= dict.fromkeys(")]}", "**[stop_it] [stop]**\nIt stops.")
    save_bigrams(folder, names | {":": "[colon] [c]"})
    return folder


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[str]:
    """Its address."""
    port = free_port()
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(model)]
    log = model.with_name("log.txt")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
            env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        until(lambda: process.poll() is not None or _healthy(port), seconds=LONGEST_START)
        assert process.poll() is None, log.read_text(encoding="utf-8")[-2000:]
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _healthy(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as response:
            return bool(response.status == 200)
    except (URLError, OSError):
        return False


CODE = """\
def total(values, start):
    result = start
    for value in values:
        result = result + value
    return sum(values[:1], result)


def longest(words, least):
    found = least
    for word in words:
        found = max(found, len(word))
    return found


def half(number):
    part = number
    print(part)
    return part / 2
"""


@pytest.mark.thinned(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("api", "names"), [("chat", [("it", "run"), ("it", "stop")]), ("completions", [("colon",)])]
)
def test_a_real_server_is_audited(
    api: str,
    names: list[tuple[str, ...]],
    server: str,
    model: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    code = tmp_path / "code.py"
    code.write_text(CODE, encoding="utf-8")
    out = tmp_path / "out"
    few = ["--transform", "rename", "--variants", "1", "--no-controls", "--workers", "1", "--out", str(out)]
    asked = ["--base-url", server, "-M", f"api={api}", "-M", "max_tokens=16"]
    assert main(["run", "--corpus", str(code), "--model", f"openai/{model}", *asked, *few]) == 0
    err = capfd.readouterr().err
    assert ("no readable answer x3" in err) == (api == "chat")
    judged = [row for row in read_rows(out / "verdicts.parquet") if row["outcome"] != "unjudged"]
    assert sorted({tuple(json.loads(str(row["before"]))) for row in judged}) == names
    assert {row["outcome"] for row in judged} == {"held"}
    (used,) = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["usage"]
    assert used["replies_without_tokens"] == 0
    assert used["tokens_in"] > 1000
    assert used["served"] in ([str(model)], [f"{model}@main"])  # as the version of the server has it
