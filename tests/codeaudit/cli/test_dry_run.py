"""`codeaudit run --dry-run`: what a run would ask, without asking."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from codeaudit.audit.models.endpoints.spending import tokens_of
from codeaudit.cli.main import main
from tests.support.endpoints import Act, Asked, says, serving


@pytest.fixture(autouse=True)
def _own_environment_of_endpoints(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


FEW = ("--transform", "rename", "--variants", "2", "--no-controls", "--workers", "1")


def words(sources: Path, *more: str, model: str = "openai/tiny") -> list[str]:
    return ["run", "--corpus", str(sources), *FEW, "--model", model, *more]


def planned(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*words, "--dry-run", "--format", "json"]) == 0
    plan: dict[str, Any] = json.loads(capsys.readouterr().out)
    return plan


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("something was sent")

    monkeypatch.setattr(socket.socket, "connect", refused)


@pytest.mark.usefixtures("offline")
def test_nothing_is_sent_or_written_and_no_key_is_needed(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert main([*words(sources), "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert "Dry run: nothing was asked" in out
    assert "Without -M price_in and -M price_out" in out
    assert "functions" in err
    assert sorted(tmp_path.rglob("*")) == before
    assert main([*words(sources), "-M", "temprature=1", "--dry-run"]) == 2
    assert main([*words(sources), "--max-cost", "1", "--dry-run"]) == 2
    assert main([*words(sources), "--format", "latex", "--dry-run"]) == 2
    capsys.readouterr()
    assert main(words(sources)) == 3, "without --dry-run it does need a key"
    assert "set OPENAI_API_KEY" in capsys.readouterr().err


@pytest.mark.slow
def test_the_requests_of_the_run_are_those_of_the_plan(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def script(asked: Asked) -> Act:
        prompt = "\n".join(turn["content"] for turn in asked.body["messages"])
        return says("[total] [t]", usage=(tokens_of(prompt) + 6, 6))

    with serving(script) as endpoint:
        asked = words(sources, "--base-url", endpoint.url, "-M", "price_in=2", "-M", "price_out=8")
        first = planned(asked, capsys)
        assert not endpoint.asked
        assert main([*asked, "--out", "out"]) == 0
        (plan,) = first["models"]
        (used,) = json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))["usage"]
        assert plan["requests"] == plan["queries"] == used["requests"] == len(endpoint.asked)
        assert plan["kept"] == 0
        assert plan["tokens_in"] == used["tokens_in"]
        assert plan["cost"] == pytest.approx((plan["tokens_in"] * 2 + plan["tokens_out"] * 8) / 1e6)
        (again,) = planned(asked, capsys)["models"]
        assert again["queries"] == plan["queries"]
        assert 0 < again["requests"] == plan["queries"] - again["kept"], "the noise floor is measured anew"
        sent = len(endpoint.asked)
        assert main([*asked, "--out", "more"]) == 0
        assert len(endpoint.asked) - sent == again["requests"]


def test_an_unfinished_run_has_less_left(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(lambda asked: says("[total] [t]")) as endpoint:
        asked = words(sources, "--base-url", endpoint.url, "--out", "out", "-M", "concurrency=1")
        (plan,) = planned(asked, capsys)["models"]
        most = plan["requests"] - 2
        assert main([*asked, "--max-requests", str(most)]) == 3
        left = planned([*asked, "--max-requests", "1"], capsys)
        assert left["models"][0]["requests"] == 2
        assert left["exceeded"] == ["--max-requests 1"]


@pytest.mark.usefixtures("offline")
def test_models_without_an_endpoint_cost_nothing(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (plan,) = planned(words(sources, model="fake/hash"), capsys)["models"]
    assert plan["queries"] > 0
    assert plan["requests"] is plan["tokens_in"] is plan["cost"] is None
    assert main([*words(sources, model="fake/hash"), "--dry-run"]) == 0
    assert "No model here is behind an endpoint" in capsys.readouterr().out


@pytest.mark.usefixtures("offline")
def test_wrappers_and_attacks_are_told(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, canonical = planned([*words(sources), "--model", "canonical/openai/tiny"], capsys)["models"]
    assert canonical["requests"] < plain["requests"], "equal forms are asked once"
    assert main([*words(sources), "--attack", "random", "--dry-run"]) == 0
    assert "--attack asks more: up to 32 queries" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("offline")
def test_compare_tells_it_too(sources: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ["compare", "--corpus", str(sources), *FEW, "--model", "openai/one", "--model", "openai/two"]
    one, two = planned(asked, capsys)["models"]
    assert one["requests"] == two["requests"] > 0
    assert main(["run", "--corpus", str(sources), *FEW, "--model", "fake/hash", "--out", "out"]) == 0
    (beside,) = planned(["compare", "out", "--model", "openai/one"], capsys)["models"]
    assert beside["requests"] == one["requests"], "on the inputs of the run"
    assert main(["compare", "out", "out", "--dry-run"]) == 2
    assert "--dry-run: finished runs ask nothing; it goes with --model" in capsys.readouterr().err
