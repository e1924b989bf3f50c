"""Several vendors in one command: each model has its address, key, headers, query and prices."""

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from codeaudit.cli.main import main
from tests.audit.models.test_secret_urls import everything
from tests.support.endpoints import Act, Asked, Endpoint, says, sends, serving

KEYS = {"ONE_KEY": "first-secret-word", "TWO_KEY": "second-secret-word"}


class Vendors(NamedTuple):
    one: Endpoint
    two: Endpoint

    @property
    def asked(self) -> tuple[int, int]:
        return len(self.one.asked), len(self.two.asked)


def answer(asked: Asked) -> Act:
    """An answer that depends on the text, so that edits change it, and tells the headers back."""
    number = int(hashlib.sha256(asked.text.encode()).hexdigest(), 16) % 5
    return says(f"[name_{number}] [n]\n{asked.headers.get('api-key')}")


@pytest.fixture
def vendors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sources: Path) -> Iterator[Vendors]:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with serving(answer) as one, serving(answer) as two:
        Path("vendors.toml").write_text(
            f"""
            [run]
            corpus = "{sources}"
            transform = "rename"
            variants = 1
            workers = 1

            [[models]]
            model = "openai/one"
            base-url = "{one.url}"
            key-env = "ONE_KEY"
            price-in = 1000
            price-out = 0

            [[models]]
            model = "openai/two"
            base-url = "{two.url}"
            price-in = 2000
            price-out = 0
            temperature = "none"
            extra-body = {{ top_k = 1 }}
            query.api-version = "2024-10-21"
            headers = {{ api-key = "$TWO_KEY" }}
            """,
            encoding="utf-8",
        )
        yield Vendors(one, two)


def manifest(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(folder, "manifest.json").read_text(encoding="utf-8"))
    return found


def typed(folder: str) -> list[str]:
    """The arguments of a run as its user types them again."""
    return [word for text in manifest(folder)["options"]["model_argument"] for word in ("-M", text)]


def told(words: list[str], capfd: pytest.CaptureFixture[str], code: int = 0) -> str:
    assert main(words) == code
    return " ".join("".join(capfd.readouterr()).split())


@pytest.mark.slow
def test_each_model_is_asked_at_its_vendor_with_its_own_key_and_price(
    vendors: Vendors, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", "--config", "vendors.toml", "--out", "out", "--max-cost", "99", "--html", "page.html"]
    monkeypatch.setattr(sys, "argv", ["codeaudit", *words])
    printed = told(words, capfd)
    one, two = vendors.one.asked[0], vendors.two.asked[0]
    assert (one.path, two.path) == (
        "/v1/chat/completions",
        "/v1/chat/completions?api-version=2024-10-21",
    )
    assert one.headers["authorization"] == f"Bearer {KEYS['ONE_KEY']}"
    assert "authorization" not in two.headers, "no key of another vendor, and none that is none"
    assert two.headers["api-key"] == KEYS["TWO_KEY"]
    assert ("temperature" in one.body, "temperature" in two.body) == (True, False)
    assert two.body["top_k"] == 1
    first, second = manifest("out")["usage"]
    assert (first["cost"], second["cost"]) == (
        pytest.approx(first["tokens_in"] / 1000),
        pytest.approx(second["tokens_in"] / 500),
    )
    assert manifest("out")["options"]["base_url"] is None, "nothing was asked at the default address"
    # No secret is anywhere, though the second vendor tells it back in each of its answers.
    for text in (printed, *everything(tmp_path)):
        assert not any(secret in text for secret in KEYS.values())


@pytest.mark.slow
def test_a_run_of_several_vendors_is_repeated_explained_and_resumed(
    vendors: Vendors, capfd: pytest.CaptureFixture[str]
) -> None:
    told(["run", "--config", "vendors.toml", "--out", "out"], capfd)
    before = vendors.asked
    refused = told(["run", "--config", "out", "--out", "again"], capfd, 2)
    assert vendors.asked == before, "a manifest sends nothing anywhere"
    for word in ("1:base_url=", "1:key_env=ONE_KEY", "2:query.api-version=", "'2:headers.api-key=$TWO_KEY'"):
        assert word in refused
    told(["run", "--config", "out", "--out", "again", *typed("out")], capfd)
    assert vendors.asked > before, "the noise is measured again"
    assert [model["fingerprint"] for model in manifest("again")["models"]] == [
        model["fingerprint"] for model in manifest("out")["models"]
    ]
    asked = told(["explain", "out", "--model", "openai/two"], capfd, 2)
    assert "2:headers.api-key" in asked
    assert "1:base_url" not in asked, "only what the chosen model needs"
    first = len(vendors.one.asked)
    told(["explain", "out", "--model", "openai/two", *typed("out")], capfd)
    assert len(vendors.one.asked) == first


@pytest.mark.slow
def test_the_models_of_a_file_keep_their_arguments_where_some_are_chosen(
    vendors: Vendors, capfd: pytest.CaptureFixture[str]
) -> None:
    told(["run", "--config", "vendors.toml", "--model", "openai/two", "--out", "out"], capfd)
    assert vendors.one.asked == []
    assert vendors.two.asked[0].headers["api-key"] == KEYS["TWO_KEY"]
    told(["run", "--config", "vendors.toml", "--model", "fake/hash", "--out", "other"], capfd)
    assert manifest("other")["options"]["model_argument"] == []


def test_the_command_line_wins_over_the_file_argument_by_argument(
    vendors: Vendors, capfd: pytest.CaptureFixture[str]
) -> None:
    plan = ["run", "--config", "vendors.toml", "--dry-run", "--format", "json"]

    def costs(*more: str) -> list[float]:
        assert main([*plan, *more]) == 0
        return [model["cost"] for model in json.loads(capfd.readouterr().out)["models"]]

    one, two = costs()
    assert two == pytest.approx(2 * one)
    assert costs("-M", "2:price_in=1000") == [one, one]
    assert costs("-M", "price_in=4000") == [pytest.approx(4 * one), pytest.approx(4 * one)]
    assert vendors.asked == (0, 0)


def test_two_addresses_without_models_are_no_guess(
    vendors: Vendors, capfd: pytest.CaptureFixture[str]
) -> None:
    two = ["run", "--model", "openai/one", "--model", "openai/two"]
    twice = ["--base-url", vendors.one.url, "--base-url", vendors.two.url]
    printed = told([*two, *twice], capfd, 2)
    assert f"-M 1:base_url={vendors.one.url} -M 2:base_url={vendors.two.url}" in printed
    told(["explain", "out", *twice], capfd, 2)
    assert "--proxy is given 2 times" in told([*two, "--proxy", "http://a", "--proxy", "http://b"], capfd, 2)
    assert vendors.asked == (0, 0)


@pytest.mark.slow
def test_one_model_of_two_vendors_is_two_models(
    vendors: Vendors, sources: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = [
        "compare",
        "--corpus",
        str(sources),
        "--transform",
        "rename",
        "--variants",
        "1",
        "--workers",
        "1",
    ]
    for place, (name, endpoint) in enumerate(zip(("Acme", "Best Co"), vendors, strict=True), start=1):
        words += ["--model", "openai/llama", "-M", f"{place}:base_url={endpoint.url}"]
        words += ["-M", f"{place}:name={name}"]
    printed = told([*words, "--out", "out"], capfd)
    assert min(vendors.asked) > 0
    assert "openai/llama (Acme)" in printed
    named = [model["name"] for model in manifest("out")["models"]]
    assert named == ["openai/llama (Acme)", "openai/llama (Best Co)"]
    first = len(vendors.one.asked)
    told(["explain", "out", "--model", named[1], *typed("out")], capfd)
    assert len(vendors.one.asked) == first


@pytest.mark.weekly
def test_shards_of_several_vendors_are_joined(vendors: Vendors, capfd: pytest.CaptureFixture[str]) -> None:
    for part in ("1/2", "2/2"):
        told(["run", "--config", "vendors.toml", "--out", part[0], "--shard", part], capfd)
    told(["merge", "1", "2", "--out", "merged"], capfd)
    assert [model["name"] for model in manifest("merged")["models"]] == ["openai/one", "openai/two"]
    assert manifest("merged")["options"]["model_argument"] == manifest("1")["options"]["model_argument"]


def test_the_refusal_of_one_vendor_names_the_flag_of_its_model(
    vendors: Vendors, capfd: pytest.CaptureFixture[str]
) -> None:
    body = json.dumps({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs"}]})
    vendors.two.script = lambda asked: sends(422, body)
    printed = told(["run", "--config", "vendors.toml", "--out", "out"], capfd, 3)
    assert (
        "does not take 'seed' for model 'two' (seed: Extra inputs); leave it out with -M 2:seed=none"
        in printed
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[models]\nmodel = 'a'", "write [[models]] above each model"),
        ("models = 3", "write [[models]] above each model"),
        ("[[models]]\nprice-in = 1", "[[models]] number 1 in 'v.toml' has no model"),
        ("[[model]]\nmodel = 'openai/a'", "'model'"),
        ("[modles]\nmodel = 'openai/a'", "did you mean [[models]]?"),
        (
            "[run]\nmodel = 'fake/hash'\n[[models]]\nmodel = 'openai/a'",
            "names models in [run] and in [[models]]",
        ),
        (
            "[[models]]\nmodel = 'openai/a'\nbase-url = ['a']",
            "base_url must be a text, a number, or true or false",
        ),
        (
            "[[models]]\nmodel = 'openai/a'\nprise-in = 1",
            "-M 1:prise_in: model 'openai/a' takes no such argument",
        ),
        ("[[models]]\nmodel = 'openai/a'\nheaders.api-key = 'plain'", "headers.api-key='$NAME'"),
        ("[[models]]\nmodel = 'openai/a'\nheaders = 'a'", "-M headers has a name behind it"),
        ("[[models]]\nmodel = 'openai/a'\nstream = 'yes'", "-M stream=yes must be true or false"),
        ("[[models]]\nmodel = 'nope/a'", "unknown model 'nope/a'"),
    ],
)
def test_a_table_that_describes_no_model_is_told_in_one_line(
    text: str, message: str, vendors: Vendors, sources: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("v.toml").write_text(text, encoding="utf-8")
    printed = told(["run", "--config", "v.toml", "--corpus", str(sources)], capfd, 2)
    assert message in printed
    assert vendors.asked == (0, 0)


def test_truths_and_nested_tables_of_a_file_are_arguments(
    vendors: Vendors, sources: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("v.toml").write_text(
        f"[run]\nmodel = 'openai/a'\nbase-url = '{vendors.one.url}'\nlimit = 1\ntransform = 'rename'\n"
        "[run.model-argument]\nstream = true\nheaders.x-team = 'blue'\n",
        encoding="utf-8",
    )
    told(["run", "--config", "v.toml", "--corpus", str(sources), "--workers", "1", "--out", "out"], capfd)
    asked = vendors.one.asked[0]
    assert (asked.body["stream"], asked.headers["x-team"]) == (True, "blue")
