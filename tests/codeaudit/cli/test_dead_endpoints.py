"""An endpoint that cannot answer is told within seconds, in one line, before a suite is made."""

import json
import time
from pathlib import Path

import pytest

from codeaudit import auditing
from codeaudit.cli.main import main
from codeaudit.transforms.errors import RunError
from tests.support.endpoints import Act, Asked, free_port, refuses, says, serving

REFUSALS = {
    401: "does not accept OPENAI_API_KEY (401)",
    403: "refuses to serve model 'tiny' (403)",
    404: "has no model 'tiny', or it is the wrong address (404)",
}
WRITE_SUITE = auditing._write_suite
SECONDS = 10.0
"""On a busy machine; three failed connections take two seconds."""


@pytest.fixture(autouse=True)
def _nothing_long(monkeypatch: pytest.MonkeyPatch, sources: Path) -> None:
    def refuse(*_: object) -> None:
        raise RunError("a suite is made")

    monkeypatch.chdir(sources.parent)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-FAKE")
    monkeypatch.setattr(auditing, "_write_suite", refuse)


def told(url: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """The last line of a run against an endpoint that is not there."""
    began = time.monotonic()
    code = main(["run", "--model", "openai/tiny", "--base-url", url, "--corpus", "sources", *more])
    assert code == 3
    assert time.monotonic() - began < SECONDS
    printed = capsys.readouterr().err
    assert "Traceback" not in printed
    return printed.splitlines()[-1]


@pytest.mark.slow
def test_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    line = told(url, capsys)
    assert f"cannot reach {url}" in line
    assert "--base-url says where it is" in line


def test_a_host_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert "cannot reach http://nobody.invalid/v1" in told(
        "http://nobody.invalid/v1", capsys, "-M", "backoff=0.01"
    )


@pytest.mark.parametrize("status", REFUSALS)
def test_a_refused_key_or_model(status: int, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(lambda asked: refuses(status)) as endpoint:
        assert REFUSALS[status] in told(endpoint.url, capsys)
        assert len(endpoint.asked) == 1


def test_the_second_of_two_models(capsys: pytest.CaptureFixture[str]) -> None:
    def script(asked: Asked) -> Act:
        return says("[total] [t]") if asked.body["model"] == "tiny" else refuses(404)

    with serving(script) as endpoint:
        assert "has no model 'lost'" in told(endpoint.url, capsys, "--model", "openai/lost")


def test_behind_a_wrapper(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(lambda asked: refuses(404)) as endpoint:
        assert "has no model 'tiny'" in told(endpoint.url, capsys, "--wrap", "canonical")


def test_a_frozen_suite(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transform", "sources", "--transform", "rename", "--suite", "suite.jsonl"]) == 0
    words = ["run", "--model", "openai/tiny", "--suite", "suite.jsonl"]
    with serving(lambda asked: refuses(404)) as endpoint:
        assert main([*words, "--base-url", endpoint.url]) == 3
    assert "has no model 'tiny'" in capsys.readouterr().err.splitlines()[-1]


def test_the_answer_is_not_paid_for_twice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(auditing, "_write_suite", WRITE_SUITE)
    with serving(lambda asked: says("[total] [t]")) as endpoint:
        few = ["--transform", "rename", "--variants", "1", "--no-controls"]
        model = ["--model", "openai/tiny", "--base-url", endpoint.url]
        assert main(["run", *model, "--corpus", "sources", *few, "--out", "out"]) == 0
    texts = [request.text for request in endpoint.asked]
    (used,) = json.loads(Path("out/manifest.json").read_text("utf-8"))["usage"]
    assert used["requests"] == len(texts)
    # Each sample is asked once, its variant once, and its original again for the noise floor.
    assert sorted(map(texts.count, set(texts))) == [1, 1, 1, 1, 2, 2, 2, 2]
