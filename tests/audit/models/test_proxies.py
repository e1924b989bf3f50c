"""Which proxy a request goes through: with a real proxy on loopback that writes down what it is sent."""

import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints import proxies
from codeaudit.audit.models.endpoints.proxies import is_loopback, proxy_for, wrong_proxy
from codeaudit.audit.models.provider import Settings
from codeaudit.cli.main import main
from codeaudit.transforms.errors import ModelError
from tests.audit.models.test_openai import KEY, MEAN, PAIR, query
from tests.support.endpoints import Endpoint, refuses, says, serving

VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
AWAY = "http://models.invalid/v1"
"""Nobody has this name, so only a proxy can answer."""


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*VARIABLES, *map(str.lower, VARIABLES), "OPENAI_BASE_URL", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def address(proxy: Endpoint) -> str:
    return proxy.url.removesuffix("/v1")


def asked(url: str, proxy: str | None = None) -> object:
    settings = Settings(base_url=url, proxy=proxy)
    return catalogue.load("openai/tiny", settings, {"retries": "0", "timeout": "5"}).predict([query(0)])


@pytest.mark.thinned(4)
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.9.8.7"])
def test_no_proxy_of_the_environment_sees_what_is_sent_to_this_machine(
    variable: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda sent: says(PAIR)) as endpoint, serving(lambda sent: says("proxied")) as proxy:
        monkeypatch.setenv(variable, address(proxy))
        # The server listens at 127.0.0.1 only; at 127.9.8.7 nobody is.
        url = endpoint.url.replace("127.0.0.1", host)
        if host == "127.9.8.7":
            with pytest.raises(ModelError, match=r"cannot reach http://127\.9\.8\.7"):
                asked(url)
        else:
            assert asked(url) == [MEAN]
    assert not proxy.asked


@pytest.mark.thinned(2)
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("scheme", ["http://", ""])
def test_the_proxy_of_the_environment_is_used_for_other_machines(
    variable: str, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda sent: says(PAIR)) as proxy:
        monkeypatch.setenv(variable, address(proxy).replace("http://", scheme))
        assert asked(AWAY) == [MEAN]
    assert [sent.path for sent in proxy.asked] == [f"{AWAY}/chat/completions"]


@pytest.mark.parametrize("exempt", ["models.invalid", ".invalid", "x.example, models.invalid:80", "a,*", "*"])
def test_no_proxy_is_used_where_the_environment_says_so(exempt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", exempt)
    assert proxy_for("http://models.invalid:80/v1", None) is None
    assert proxy_for("http://models.example/v1", None) is None or "*" not in exempt


def test_the_option_wins_also_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        serving(lambda sent: says("direct")) as endpoint,
        serving(lambda sent: says(PAIR)) as proxy,
        serving(lambda sent: says("other")) as other,
    ):
        monkeypatch.setenv("ALL_PROXY", address(other))
        monkeypatch.setenv("NO_PROXY", "*")
        with_user = address(proxy).replace("://", "://me:pass%20word@")
        assert asked(endpoint.url, with_user) == [MEAN]
        assert asked(AWAY, address(proxy)) == [MEAN]
    assert not endpoint.asked
    assert not other.asked
    assert [sent.path for sent in proxy.asked] == [f"{url}/chat/completions" for url in (endpoint.url, AWAY)]
    assert proxy.asked[0].headers["proxy-authorization"] == "Basic bWU6cGFzcyB3b3Jk"
    assert "proxy-authorization" not in proxy.asked[1].headers


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True), ("LOCALHOST.", True), ("x.localhost", True), ("127.0.0.1", True),
        ("127.255.0.9", True), ("::1", True), ("0:0:0:0:0:0:0:1", True), ("::ffff:127.0.0.1", True),
        ("128.0.0.1", False), ("::2", False), ("localhost.example", False), ("127.0.0.1.example", False),
        ("10.0.0.1", False), ("", False), ("fe80::1%eth0", False), ("mylocalhost", False),
    ],
)  # fmt: skip
def test_this_machine_is_known_by_name_and_number(host: str, here: bool) -> None:
    assert is_loopback(host) == here


@pytest.mark.parametrize(
    ("url", "variables", "wanted"),
    [
        ("https://h/v1", {"HTTPS_PROXY": "http://p:1"}, "HTTPS_PROXY='http://p:1'"),
        ("https://h/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://h/v1", {"HTTPS_PROXY": "http://p:1"}, None),
        ("https://h/v1", {"HTTP_PROXY": "::::", "ALL_PROXY": "http://p:1"}, "ALL_PROXY='http://p:1'"),
        ("https://h/v1", {"HTTPS_PROXY": "http://p:1", "ALL_PROXY": "::::"}, "HTTPS_PROXY='http://p:1'"),
        ("https://h/v1", {"HTTPS_PROXY": "http://p:1", "https_proxy": "http://q:1"}, "https_proxy='http://q:1'"),
        ("https://h/v1", {"HTTPS_PROXY": ""}, None),
        ("https://h/v1", {"https_proxy": "https://u:w@p/"}, "https_proxy='https://***@p/'"),
    ],
)  # fmt: skip
def test_the_variable_of_the_scheme_comes_before_that_of_all(
    url: str, variables: dict[str, str], wanted: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    proxy = proxy_for(url, None)
    assert (None if proxy is None else proxy.shown) == wanted


JUNK = ["::::junk", "http://", "http://p:x", "http://p:99999", "ftp://p:1", "socks://p:1", "http://p:1/path"]
JUNK += ["http://p q:1", "http://p\t:1", "http://[::1", "http://p:1?a", "http://p<:1", "http://.:1", "a/b"]


@pytest.mark.thinned(1)
@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "all_proxy", "--proxy"])
def test_a_wrong_proxy_is_one_line_that_names_its_variable(
    junk: str,
    variable: str,
    sources: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    run = ["run", "--corpus", str(sources), "--model", "openai/tiny", "--limit", "1", "--base-url"]
    if variable == "--proxy":
        assert main([*run, AWAY, "--proxy", junk]) == 2
    else:
        monkeypatch.setenv(variable, junk)
        assert main([*run, AWAY]) == 2
        assert wrong_proxy(AWAY)
        assert not wrong_proxy("http://127.0.0.1:9")
    (line,) = [line for line in capfd.readouterr().err.splitlines() if "proxy" in line.lower()]
    assert line.startswith(f"codeaudit: {variable}=")
    assert "is no address of a proxy; write http://HOST:PORT" in line
    if variable != "--proxy":
        assert main(["doctor"]) == 0
    assert not list(Path().glob("codeaudit-runs/*"))


def test_a_proxy_with_socks_says_what_to_install(
    sources: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(proxies, "find_spec", lambda name: None)
    monkeypatch.setenv("ALL_PROXY", "socks5://me:secret@proxy.invalid:1080")
    assert main(["run", "--corpus", str(sources), "--model", "openai/tiny", "--base-url", AWAY]) == 3
    err = capfd.readouterr().err
    assert (
        "codeaudit: ALL_PROXY='socks5://***@proxy.invalid:1080' needs the package socksio, which is not"
        in err
    )
    assert 'try: pip install "codeaudit-ml[socks]"' in err
    assert "secret" not in err
    monkeypatch.setattr(proxies, "find_spec", lambda name: object())
    proxy = proxy_for(AWAY, "socks5h://proxy.invalid:1080")
    assert proxy is not None
    assert urlsplit(proxy.url).scheme == "socks5h"


def test_a_dead_proxy_is_named_without_its_password() -> None:
    with pytest.raises(ModelError) as caught:
        asked(AWAY, "http://me:secret@127.0.0.1:9")
    assert f"cannot reach {AWAY} through the proxy of --proxy='http://***@127.0.0.1:9'" in str(caught.value)


def test_a_proxy_that_asks_for_a_password_is_told() -> None:
    with serving(lambda sent: refuses(407, "who are you")) as proxy, pytest.raises(ModelError, match="407"):
        asked(AWAY, address(proxy))


@pytest.mark.slow
def test_a_proxy_goes_with_endpoints_only_and_is_kept_by_no_run(
    sources: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "--corpus", str(sources), "--limit", "1", "--workers", "1", "--no-controls"]
    assert main([*run, "--model", "fake/hash", "--proxy", "http://127.0.0.1:9"]) == 2
    assert "--proxy: no model here accepts it; it goes with openai/MODEL" in capfd.readouterr().err
    with serving(lambda sent: says("[total] [t]")) as proxy:
        few = ["--transform", "rename", "--variants", "1", "--model", "openai/tiny", "--base-url", AWAY]
        assert main([*run, *few, "--out", "out", "--proxy", address(proxy)]) == 0
        assert proxy.asked
        place = address(proxy).removeprefix("http://")
        assert place not in Path("out/manifest.json").read_text(encoding="utf-8")
        capfd.readouterr()
        # Without the option it is not used again: who names a proxy reads what is sent.
        before = len(proxy.asked)
        again = ["run", "--config", "out", "--out", "again", "--cache", "new", "-M", "retries=0"]
        again += ["--base-url", AWAY]
        assert main(again) == 3
        assert len(proxy.asked) == before
        assert main([*again, "--proxy", address(proxy)]) == 0
        assert len(proxy.asked) > before


@pytest.mark.slow
def test_explain_takes_a_proxy(sources: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    answers = (says(f"[answer_{number}] [a]") for number in range(1000))
    with serving(lambda sent: next(answers)) as proxy:
        run = ["run", "--corpus", str(sources), "--limit", "2", "--workers", "1", "--no-controls"]
        few = ["--transform", "rename", "--variants", "1", "--model", "openai/tiny", "--base-url", AWAY]
        assert main([*run, *few, "--out", "out", "--proxy", address(proxy)]) == 0
        before = len(proxy.asked)
        explain = ["explain", "out", "--model", "openai/tiny", "--base-url", AWAY, "--proxy"]
        assert main([*explain, address(proxy)]) == 0
        assert len(proxy.asked) > before
    capfd.readouterr()
    shutil.rmtree(tmp_path / "cache")
    assert main([*explain, "http://127.0.0.1:9"]) == 3
    assert "through the proxy of --proxy='http://127.0.0.1:9'" in capfd.readouterr().err
