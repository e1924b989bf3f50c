"""Providers of installed packages: their models are named, checked, loaded and asked as ours are."""

import json
from pathlib import Path

import pytest

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.model import EndpointModel
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.records import Predicted, Query
from codeaudit.cli.main import main
from codeaudit.transforms.errors import CannotAudit, UsageError
from tests.support.plugins import install

ACME = """
from codeaudit.audit.models.endpoints.client import EndpointAddress
from codeaudit.audit.models.endpoints.arguments import ENDPOINT_ARGUMENTS, Patience, Prices
from codeaudit.audit.models.endpoints.client import Reply, RequestError
from codeaudit.audit.models.endpoints.model import EndpointModel
from codeaudit.audit.models.endpoints.session import Endpoint
from codeaudit.audit.models.provider import Provider

class Client:
    def __init__(self, depth):
        self.depth, self.asked, self.busy = depth, [], 0
    async def ask(self, prompt, query, attempt=0):
        self.asked.append(query)
        if len(self.asked) == 2:
            raise RequestError("429", message="slowly", again=True, busy=True, status=429)
        return Reply(text="[get_" + "x" * self.depth + "]", tokens=(10, 2), served="acme-9")
    async def close(self):
        pass

def load(name, settings):
    assert settings.device == "auto", "this provider does not accept --device"
    depth = settings.arguments.get("depth", 1)
    url = settings.base_url or "http://acme.example"
    endpoint = Endpoint(model=name, address=EndpointAddress(url=url, key=""), connect=lambda: Client(depth),
                        patience=Patience.read(settings), prices=Prices.read(settings))
    return EndpointModel(endpoint, name=f"acme/{name}", fingerprint=f"acme/{name}@{url}?depth={depth}")

ACME = Provider(form="acme/MODEL", summary="a model of Acme", load=load,
                accepts=frozenset({"base_url"}),
                arguments={**ENDPOINT_ARGUMENTS, "depth": int, "deep": bool})
"""


@pytest.fixture(autouse=True)
def acme(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    points = {"acme": "acme_models:ACME", "fake": "acme_models:ACME", "broken": "acme_missing:X"}
    folder = install(
        tmp_path_factory.mktemp("site"), "acme", {"codeaudit.models": points}, {"acme_models": ACME}
    )
    monkeypatch.syspath_prepend(folder)


def query(number: int) -> Query:
    return Query(task="function-name", language="python", source=f"def _(): return {number}")


def test_retries_throttle_and_meter_serve_the_provider_of_a_package() -> None:
    given = {"depth": "3", "backoff": "0.01", "price_in": "1000"}
    model = catalogue.load("acme/large", Settings(device="cuda", base_url="http://there"), given)
    assert model.fingerprint == "acme/large@http://there?depth=3"
    assert model.predict([query(number) for number in range(4)]) == [Predicted(answer="get_xxx")] * 4
    assert isinstance(model, EndpointModel)
    assert model.usage["requests"] == 5
    assert model.usage["retries"] == 1
    assert model.usage["cost"] == pytest.approx(0.04)
    assert model.usage["served"] == ["acme-9"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"depht": "3"}, "takes no argument 'depht'; known: backoff, concurrency, deep, depth"),
        ({"depth": "many"}, "-M depth=many must be a whole number"),
        ({"deep": "1"}, "must be true or false"),
        ({"concurrency": "0"}, "-M concurrency=0 must be a whole number of at least 1"),
    ],
)
def test_arguments_are_typed_by_their_schema_and_never_guessed(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        catalogue.load("acme/large", Settings(), given)


WRONG = """
from codeaudit.audit.models.provider import Provider

class Plain:
    name, task, parameters, fingerprint, noise = "wrong/a", None, None, "volatile:wrong", 0.0
    def predict(self, queries):
        return ["a name" for _ in queries]

NAMED = Provider(form="named/A", summary="", load=lambda name, settings: Plain(), names=("a", "b"))
BARE = Provider(form="bare/A", summary="", load=lambda name, settings: object())
PLAIN = Provider(form="plain/A", summary="", load=lambda name, settings: Plain())
"""


def test_a_provider_that_breaks_its_contract_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    points = {name: f"wrong_models:{name.upper()}" for name in ("named", "bare", "plain")}
    folder = install(tmp_path, "wrong", {"codeaudit.models": points}, {"wrong_models": WRONG})
    monkeypatch.syspath_prepend(folder)
    assert main(["list", "models"]) == 0
    printed = capsys.readouterr()
    assert "plug-in 'named' (codeaudit.models) of 'wrong' is broken: its names is ('a', 'b');" in printed.err
    assert "plain/A" in printed.out
    source = tmp_path / "source.py"
    source.write_text("def f(a):\n    b = a\n    c = b\n    return b + c\n", "utf-8")
    wanted = {
        "named/a": "its names is ('a', 'b'); it must be a mapping from text to text",
        "bare/a": "model 'bare/a': an object is no model: it lacks",
        "plain/a": "model 'wrong/a' gave a str; `predict` must give a Predicted or a Failed",
    }
    for model, message in wanted.items():
        words = ("--model", model, "--corpus", str(source), "--out", str(tmp_path / "run"))
        assert main(["run", *words]) == 3
        assert message in capsys.readouterr().err


def test_a_built_in_provider_wins_and_a_broken_one_stops_only_its_models(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert catalogue.load("fake/hash", Settings(), {}).name == "fake/hash"
    with pytest.raises(CannotAudit, match=r"plug-in 'broken' .codeaudit.models. of 'acme' is broken"):
        catalogue.check("broken/x")
    with pytest.raises(UsageError, match=r"unknown model 'acmee/x'; did you mean 'acme/x'\?"):
        catalogue.check("acmee/x")
    assert main(["list", "models", "--verbose"]) == 0
    shown, errors = capfd.readouterr()
    assert "acme/MODEL" in shown
    assert "a model of Acme (-M concurrency, timeout" in shown
    assert "broken" not in shown
    assert sum("plug-in 'broken' (codeaudit.models)" in line for line in errors.splitlines()) == 1


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "code").mkdir()
    text = "def add(left, right):\n    total = left + right\n    print(total)\n    return total\n"
    (tmp_path / "code" / "a.py").write_text(text, encoding="utf-8")
    return tmp_path / "code"


def test_a_run_asks_a_model_of_a_package(sources: Path) -> None:
    words = ["run", "--corpus", str(sources), "--out", "out", "--transform", "rename", "--workers", "1"]
    model = ["--model", "acme/large", "--base-url", "http://user:secret12@there", "-M", "backoff=0.01"]
    assert main([*words, *model, "--variants", "1", "--no-controls"]) == 0
    manifest = json.loads(Path("out", "manifest.json").read_text(encoding="utf-8"))
    assert manifest["options"]["base_url"] == "http://***@there"
    assert manifest["usage"][0]["model"] == "acme/large"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fake/hash", "--base-url", "http://x/v1"], "--base-url: no model here accepts it; it goes with "),
        (["acme/large", "-M", "deeper=1"], "no model here takes the argument 'deeper'"),
    ],
)
def test_an_address_or_argument_without_effect_is_refused(
    words: list[str], message: str, sources: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--corpus", str(sources), "--model", *words]) == 2
    assert message in capfd.readouterr().err


@pytest.mark.parametrize("option", [("--device", "cpu"), ("--precision", "float32")])
def test_an_option_without_effect_is_noted(
    option: tuple[str, str], sources: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words = ["--corpus", str(sources), "--transform", "rename", "--workers", "1", "--out", "out"]
    assert main(["run", *words, "--model", "fake/hash", *option]) == 0
    assert f"{option[0]}: no model here accepts it; it goes with hf/NAME_OR_PATH" in caplog.text
