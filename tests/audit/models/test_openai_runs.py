"""`codeaudit run --model openai/MODEL`: whole runs against a server of the tests' own."""

import json
import re
import signal
import threading
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from codeaudit.cli.main import main
from tests.support.commands import codeaudit, start
from tests.support.endpoints import (
    Act,
    Asked,
    Endpoint,
    disconnects,
    halves,
    hangs,
    refuses,
    resets,
    says,
    sends,
    serving,
)
from tests.support.waiting import until

KEY = "sk-FAKEfakeFAKEfake0123456789"
PASSWORD = "hunter2hunter2"


@pytest.fixture(autouse=True)
def _own_environment_of_endpoints(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def words(sources: Path, url: str, *more: str) -> list[str]:
    few = ["--transform", "rename", "--variants", "1", "--no-controls", "--workers", "1"]
    model = ["--model", "openai/tiny", "--base-url", url, "-M", "backoff=0.01", "-M", "timeout=30"]
    return ["run", "--corpus", str(sources), *few, *model, "--out", "out", *more]


def manifest() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))
    return content


def models_of(folder: str) -> list[dict[str, Any]]:
    """What the summary says of each model, without its address."""
    models = json.loads(Path(folder, "summary.json").read_text(encoding="utf-8"))["models"]
    return [{**model, "fingerprint": None} for model in models]


def port_of(url: str) -> int:
    return int(url.split(":")[2].split("/")[0])


def kept(folder: Path) -> bytes:
    """All that lies in a folder, byte by byte, with the names."""
    return b"".join(
        str(path).encode() + path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    )


def test_a_run_is_told_kept_and_not_paid_for_twice(
    sources: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def script(asked: Asked) -> Act:
        return says("[total] [t]" if "value" in asked.text else "no idea")

    with serving(script) as endpoint:
        assert main(words(sources, endpoint.url, "-M", "price_in=1000", "-M", "seed=7")) == 0
        first = len(endpoint.asked)
        summary = json.loads(Path("out/summary.json").read_text(encoding="utf-8"))["models"][0]
        assert summary["unjudged"] > 0
        assert summary["pairs"]["total"] > 0
        (used,) = manifest()["usage"]
        assert used["requests"] == first
        assert used["tokens_in"] == 7 * first
        assert used["cost"] == pytest.approx(7 * first / 1000)
        fingerprint = str(manifest()["models"][0]["fingerprint"])
        assert "temperature=0.0&seed=7&" in fingerprint
        err = capfd.readouterr().err
        assert f"openai/tiny: {first} requests; {7 * first} tokens in, {3 * first} out; cost " in err
        assert "no readable answer x" in err
        problem = "the reply 'no idea' has no readable answer; function-name takes a name or a list of its subtokens"
        assert err.count(" has no readable answer") == err.count(f"codeaudit: openai/tiny: {problem}\n") == 1

        asked = [request.text for request in endpoint.asked]
        assert (
            main([*words(sources, endpoint.url, "-M", "price_in=1000", "-M", "seed=7"), "--out", "more"]) == 0
        )
        again = [request.text for request in endpoint.asked[first:]]
    repeats = {text for text in asked if asked.count(text) > 1}
    answered = [text for text in again if "value" in text]
    assert sorted(answered) == sorted(text for text in repeats if "value" in text), "the noise alone is new"


@pytest.mark.slow
def test_a_run_goes_on_where_queries_fail(sources: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def script(asked: Asked) -> Act:
        return refuses(500, "no memory left") if "count" in asked.text else says("[total] [t]")

    with serving(script) as endpoint:
        assert main(words(sources, endpoint.url, "-M", "retries=1")) == 0
    summary = json.loads(Path("out/summary.json").read_text(encoding="utf-8"))["models"][0]
    assert summary["unjudged_reasons"]["endpoint: 500"] == summary["unjudged"] > 0
    assert summary["pairs"]["total"] > 0
    lost = summary["unjudged_reasons"]["endpoint: 500"]
    err = capfd.readouterr().err
    assert "endpoint: 500 x" in err
    (again,) = re.findall(
        rf"openai/tiny gave no answer to .*{lost} variants? \(endpoint: 500\); to ask again: (.*)\n", err
    )
    assert again.startswith(f"codeaudit run --config out --out out --base-url {endpoint.url}")

    audited = ["run", "--suite", "out/suite.parquet", "--model", "fake/hash", "--out", "other"]
    assert main(audited) == 0
    assert main(["compare", "out", "other"]) == 0
    assert f"{lost} variants (endpoint: 500); to ask again: {again}\n" in capfd.readouterr().err

    with serving(lambda asked: says("[total] [t]"), port=port_of(endpoint.url)) as endpoint:
        assert main(again.split()[1:]) == 0
        assert endpoint.asked, "what had no answer is asked again"
    summary = json.loads(Path("out/summary.json").read_text(encoding="utf-8"))["models"][0]
    assert summary["unjudged"] == 0
    assert "gave no answer" not in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("after", [3, 9])
def test_an_endpoint_that_goes_away_ends_the_run_and_the_same_command_goes_on(
    after: int,
    sources: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Whether it goes away in the middle or before the last query."""
    with serving(lambda asked: says("[total] [t]")) as endpoint:
        assert main([*words(sources, endpoint.url, "-M", "concurrency=1"), "--out", "whole"]) == 0
    whole = models_of("whole")
    asked = len(endpoint.asked)
    assert asked > 9
    capfd.readouterr()

    gone = threading.Event()

    def script(asked: Asked) -> Act:
        if asked.number >= after:
            gone.set()
            return resets
        return says("[total] [t]")

    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "fresh"))
    few = ["-M", "concurrency=1", "-M", "retries=4"]
    codes: list[int] = []
    with serving(script) as endpoint:
        port = port_of(endpoint.url)
        running = threading.Thread(target=lambda: codes.append(main(words(sources, endpoint.url, *few))))
        running.start()
        assert gone.wait(60)
    running.join(60)
    assert codes == [3]
    err = capfd.readouterr().err
    assert "no reply, at last 'endpoint: unreachable' (Connection refused); start again to go on" in err
    (again,) = re.findall(r"every answer so far is kept; go on with: codeaudit (.*)\n", err)
    assert again.startswith(f"run --config out --out out --base-url {endpoint.url}")
    with serving(lambda asked: says("[total] [t]"), port=port) as endpoint:
        assert main(again.split()) == 0
        assert len(endpoint.asked) <= asked - after
    assert models_of("out") == whole


def test_an_endpoint_that_fails_every_query_is_not_asked_to_the_end(
    sources: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    few = ["-M", "retries=0", "-M", "concurrency=1", "-M", "failures=4"]
    with serving(lambda asked: refuses(500, "no memory left")) as endpoint:
        assert main(words(sources, endpoint.url, *few)) == 3
        assert len(endpoint.asked) == 4
    err = capfd.readouterr().err
    assert "the last 4 queries have no reply, at last 'endpoint: 500' (no memory left); start again" in err
    with serving(lambda asked: refuses(500, "no memory left")) as endpoint:
        assert main([*words(sources, endpoint.url, *few[:-1], "failures=0"), "--out", "more"]) == 3
        assert len(endpoint.asked) > 4
    assert (
        "nothing could be judged: 'openai/tiny' gave no usable answer (8 × endpoint: 500)"
        in capfd.readouterr().err
    )


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("act", "opener"),
    [(says(f"[total] [{KEY}]\n{KEY}"), ""), (refuses(401, KEY), f"user:{PASSWORD}@")],
    ids=["done, by a key", "failed, by a URL"],
)
def test_no_byte_of_a_key_is_left_anywhere(
    act: Act, opener: str, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every log of the client turned on."""

    def script(asked: Asked) -> Act:
        if asked.number == 1:
            return refuses(400, f"{asked.headers['authorization']} {PASSWORD if opener else ''} {KEY}")
        return act

    with serving(script) as endpoint:
        url = endpoint.url.replace("//", f"//{opener}")
        done = codeaudit(*words(sources, url), cwd=tmp_path, CODEAUDIT_DEBUG="1", OPENAI_LOG="debug")
    assert done.returncode == (3 if "401" in done.stderr else 0)
    everything = kept(tmp_path / "out") + kept(tmp_path / "cache") + (done.stdout + done.stderr).encode()
    # A start that got no answer leaves no folder.
    assert b"openai/tiny" in everything or done.returncode == 3
    assert b"DEBUG" in everything
    for secret in (KEY, KEY[3:], PASSWORD, "aHVudGVyMmh1bnRlcjI", "dXNlcjpo"):
        assert secret.encode() not in everything
    if opener and done.returncode == 0:
        assert manifest()["options"]["base_url"] == endpoint.url.replace("//", "//***@")


@pytest.mark.slow
def test_nobody_there_is_one_line_and_the_run_can_go_on(
    sources: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(lambda asked: says("[total] [t]")) as endpoint:
        url = endpoint.url
    assert main(words(sources, url)) == 3
    err = capfd.readouterr().err.splitlines()
    assert (
        f"codeaudit: cannot reach {url} (Connection refused); is the server up? --base-url says where it is"
        in err
    )
    with serving(lambda asked: says("[total] [t]"), port=int(url.split(":")[2].split("/")[0])):
        assert main(words(sources, url)) == 0


@pytest.mark.slow
def test_the_address_of_the_environment_repeats_a_run_and_another_is_typed(
    sources: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with serving(lambda asked: says("[total] [t]")) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        few = ["--transform", "rename", "--variants", "1", "--no-controls", "--workers", "1", "--out", "out"]
        assert main(["run", "--corpus", str(sources), "--model", "openai/tiny", *few]) == 0
        first = len(endpoint.asked)
        monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "a new cache"))
        assert main(["run", "--config", "out", "--out", "again"]) == 0
        second = len(endpoint.asked)
        assert second > first
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "a third cache"))
        capfd.readouterr()
        assert main(["run", "--config", "out", "--out", "third"]) == 2
        typed = ["--base-url", endpoint.url]
        assert f"type them again: {' '.join(typed)}" in capfd.readouterr().err
        assert len(endpoint.asked) == second
        assert main(["run", "--config", "out", "--out", "third", *typed]) == 0
        assert len(endpoint.asked) > second


def wait_for(endpoint: Endpoint, count: int) -> None:
    until(lambda: len(endpoint.asked) >= count)


@pytest.mark.slow
def test_ctrl_c_loses_what_is_under_way_and_no_more(sources: Path, tmp_path: Path) -> None:
    answered, at_once = 6, ["-M", "concurrency=3"]

    def script(asked: Asked) -> Act:
        return hangs if slow and asked.number >= answered else says("[total] [t]")

    slow = True
    with serving(script) as endpoint:
        process = start(*words(sources, endpoint.url, *at_once), cwd=tmp_path)
        wait_for(endpoint, answered + 3)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert time.monotonic() - began < 8
        assert "interrupted; every answer so far is kept" in err
        assert "Traceback" not in err
        (used,) = manifest()["usage"]
        assert used["tokens_in"] == 7 * answered
        before = [request.text for request in endpoint.asked]
        slow = False
        assert main(words(sources, endpoint.url)) == 0
        after = [request.text for request in endpoint.asked[len(before) :]]
        assert len(manifest()["usage"]) == 2
        assert main([*words(sources, endpoint.url), "--cache", "fresh", "--out", "whole"]) == 0
        whole = len(endpoint.asked) - len(before) - len(after)
    assert len(after) == whole - answered


def test_an_address_without_a_model_that_has_one_is_a_mistake_on_the_command_line(
    sources: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (
        main(["run", "--corpus", str(sources), "--model", "fake/hash", "--base-url", "http://host/v1"]) == 2
    )
    assert "--base-url: no model here accepts it; it goes with openai/MODEL" in capfd.readouterr().err
    monkeypatch.setenv("CODEAUDIT_BASE_URL", "http://host/v1")
    few = ["--limit", "2", "--workers", "1", "--no-controls", "--transform", "rename"]
    assert main(["run", "--corpus", str(sources), "--model", "fake/hash", *few]) == 0


@pytest.mark.slow
def test_a_bad_endpoint_changes_no_verdict(sources: Path) -> None:
    """Delays, refusals, errors, broken connections and garbage, each again and again; and late answers."""
    faults = [
        refuses(429, retry_after_ms="20"),
        refuses(500),
        refuses(503, retry_after="0"),
        disconnects,
        resets,
        halves,
        sends(200, "<html>busy</html>", "text/html"),
        sends(200, '{"choices": [{'),
        hangs,
    ]
    chance = Random(3)

    def bad(asked: Asked) -> Act:
        if chance.random() < 0.5:
            return chance.choice(faults)
        return says(f"[total_{sum(asked.text.encode()) % 3}] [t]", after=chance.expovariate(50))

    patient = ["-M", "retries=40", "-M", "timeout=1", "--variants", "3", "--cache"]
    with serving(bad) as endpoint:
        assert main(words(sources, endpoint.url, *patient, "bad")) == 0
        asked = len(endpoint.asked)
    with serving(lambda asked: says(f"[total_{sum(asked.text.encode()) % 3}] [t]")) as endpoint:
        assert main([*words(sources, endpoint.url, *patient, "good"), "--out", "good"]) == 0
        assert len(endpoint.asked) < asked
    one, other = (
        json.loads(Path(place, "summary.json").read_text(encoding="utf-8"))["models"][0]
        for place in ("out", "good")
    )
    assert one.pop("fingerprint") != other.pop("fingerprint"), "the ports differ"
    assert one == other
    assert one["unjudged"] == 0
    assert one["violations"]["count"] > 0
