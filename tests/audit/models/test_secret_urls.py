"""No secret in a URL is printed or kept, wherever the URL is from and however it is written."""

import base64
import json
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest

import codeaudit
from codeaudit.audit.models.endpoints.urls import has_credentials, redacted, redacted_url, server_of
from codeaudit.cli.main import main
from codeaudit.transforms.errors import CodeauditError
from tests.support.endpoints import Endpoint, completion, says, serving

SECRET = "S3cr3tW0rd"
FORMS = {
    # What an endpoint can be asked with.
    "password": "http://user:S3cr3tW0rd@HOST/v1",
    "user": "http://S3cr3tW0rd@HOST/v1",
    "user without a password": "http://S3cr3tW0rd:@HOST/v1/",
    "quoted blank": "http://user:S3cr3tW0rd%20x@HOST/v1",
    "quoted signs": "http://user:%40%2F%3A%3FS3cr3tW0rd@HOST/v1",
    "two signs": "http://user:a:S3cr3tW0rd@HOST/v1",
    "two ats": "http://user:S3cr3tW0rd@x@HOST/v1",
    "capitals": "HTTP://user:S3cr3tW0rd@HOST/v1",
    "blanks around": "  http://user:S3cr3tW0rd@HOST/v1 ",
    "quotes": "http://user:'\"S3cr3tW0rd'@HOST/v1",
    "another script": "http://user:éS3cr3tW0rd@HOST/v1",
    "recorded and changed": "http://***:S3cr3tW0rd@HOST/v1",
    # What cannot be asked.
    "blank": "http://user:S3cr3tW0rd w@HOST/v1",
    "blank before": "http://user:w S3cr3tW0rd@HOST/v1",
    "tab": "http://user:w\tS3cr3tW0rd@HOST/v1",
    "line": "http://user:w\nS3cr3tW0rd@HOST/v1",
    "carriage return": "http://user:w\rS3cr3tW0rd@HOST/v1",
    "escape": "http://user:w\x1b[31mS3cr3tW0rd@HOST/v1",
    "blank of another script": "http://user:w\u3000S3cr3tW0rd@HOST/v1",
    "invisible": "http://user:w\u200bS3cr3tW0rd@HOST/v1",
    "control in percent signs": "http://user:S3cr3tW0rd%0A@HOST/v1",
    "slash": "http://user:w/S3cr3tW0rd@HOST/v1",
    "slash after digits": "http://user:80/S3cr3tW0rd@HOST/v1",
    "backslash": "http:\\\\user:S3cr3tW0rd@HOST/v1",
    "hash": "http://user:w#S3cr3tW0rd@HOST/v1",
    "question": "http://user:w?S3cr3tW0rd@HOST/v1",
    "quoted at": "http://user:S3cr3tW0rd%40HOST/v1",
    "wide at": "http://user:S3cr3tW0rd\uff20HOST/v1",
    "small at": "http://user:S3cr3tW0rd\ufe6bHOST/v1",
    "no host": "http://user:S3cr3tW0rd",
    "no host, an at": "http://user:S3cr3tW0rd@",
    "no scheme": "user:S3cr3tW0rd@HOST/v1",
    "one slash": "http:/user:S3cr3tW0rd@HOST/v1",
    "no slash": "http:user:S3cr3tW0rd@HOST/v1",
    "no sign": "http//user:S3cr3tW0rd@HOST/v1",
    "no number": "http://user:S3cr3tW0rd@[::1/v1",
    "another scheme": "ftp://user:S3cr3tW0rd@HOST/v1",
    "no port": "http://user:S3cr3tW0rd@HOST0000/v1",
    "query": "http://HOST/v1?api_key=S3cr3tW0rd",
    "query without a name": "http://HOST/v1?S3cr3tW0rd",
    "query with an at": "http://HOST/v1?token=S3cr3tW0rd@x",
    "wide question": "http://HOST/v1\uff1fkey=S3cr3tW0rd",
    "fragment": "http://HOST/v1#S3cr3tW0rd",
}
WORK = {name for name in FORMS if name not in list(FORMS)[list(FORMS).index("blank") :]}
KINDS = {SECRET, quote(SECRET), SECRET[2:]}


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with serving(lambda asked: says("[total] [t]")) as server:
        yield server


def everything(place: Path) -> Iterator[str]:
    """The names and contents of all files."""
    for path in place.rglob("*"):
        yield str(path.relative_to(place))
        if path.suffix == ".parquet":
            table = pq.read_table(path)
            yield str(table.schema.metadata)
            yield json.dumps(table.to_pylist(), default=str)
        elif path.is_file():
            yield path.read_bytes().decode("utf-8", "replace")


def hides(places: Path, *texts: str) -> None:
    for text in chain(texts, everything(places)):
        assert not [kind for kind in KINDS if kind in text], text
        assert base64.b64encode(SECRET.encode()).decode()[:8] not in text


def audit(sources: Path, *more: str) -> list[str]:
    few = ["--transform", "rename", "--variants", "1", "--no-controls", "--workers", "1", "--limit", "1"]
    quick = ["-M", "retries=0", "-M", "timeout=5", "-M", "patience=5"]
    return ["run", "--corpus", str(sources), "--model", "openai/tiny", "--out", "out", *few, *quick, *more]


def test_the_forms_are_those_that_a_request_can_and_cannot_be_made_of() -> None:
    for name, form in FORMS.items():
        server = server_of(form.replace("HOST", "127.0.0.1:9").strip())
        asked = server is not None and server.scheme in ("http", "https") and bool(server.user)
        assert asked == (name in WORK or name == "control in percent signs"), name


@pytest.mark.thinned(15)
@pytest.mark.parametrize("form", [pytest.param(form, id=name) for name, form in FORMS.items()])
def test_no_secret_is_printed(form: str) -> None:
    for text in (redacted_url(form), redacted_url(f" {form}"), repr(redacted_url(form))):
        assert SECRET not in text
    if "://" in form:
        for text in (f"--base-url={form}", f"see {form} and {form}"):
            assert SECRET not in redacted(text)
    assert redacted_url(redacted_url(form)) == redacted_url(form)


def test_what_holds_no_secret_is_shown_as_it_is() -> None:
    for url in (
        "http://127.0.0.1:8000/v1",
        "https://api.example.com/v1/",
        "http://[::1]:8000/v1",
        "http://[::1]/v1",
        "HTTP://host",
        "::::junk",
        "localhost:8000",
    ):
        assert redacted_url(url) == url
        assert not has_credentials(url)
    for word in ("--out", "a@b", "user:word", "f'{a}'@x", "C:\\x", "src/a.py:3", "hfds:NAME:CONFIG@SPLIT"):
        assert redacted(word) == word
        assert not has_credentials(word)


def given(way: str, url: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words that name a URL in some way."""
    match way:
        case "word":
            return ["--base-url", url]
        case "words":
            return [f"--base-url={url}"]
        case "proxy":
            return ["--base-url", "http://example.invalid/v1", "--proxy", url]
        case "file":
            Path("options.toml").write_text(f"base-url = {json.dumps(url)}\n", encoding="utf-8")
            words = ["--config", "options.toml"]
        case "manifest":
            options = {"options": {"base_url": url}, "codeaudit": "x", "schema": 2}
            Path("manifest.json").write_text(json.dumps(options), encoding="utf-8")
            words = ["--config", "manifest.json"]
        case _:
            monkeypatch.setenv(way, url)
            words = [] if way.endswith("BASE_URL") else ["--base-url", "http://example.invalid/v1"]
    return words


WAYS = ["word", "words", "file", "manifest", "CODEAUDIT_BASE_URL", "OPENAI_BASE_URL", "proxy", "HTTP_PROXY"]
WAYS += ["all_proxy"]


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("way", WAYS)
def test_no_url_leaves_a_secret_anywhere(
    way: str,
    sources: Path,
    endpoint: Endpoint,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    tried = []
    for number, (name, form) in enumerate(FORMS.items()):
        # Whole runs take long; one form for each way is asked for real.
        if name in WORK and number != WAYS.index(way):
            continue
        tried.append(name)
        with monkeypatch.context() as patched:
            url = form.replace("HOST", endpoint.url.split("/")[2])
            words = audit(sources, *given(way, url, patched))
            patched.setattr(sys, "argv", ["codeaudit", *words])
            before = len(endpoint.asked)
            code = main(words)
        written = "".join(capfd.readouterr())
        for path in (tmp_path / "here").glob("*.*"):  # the user's own file holds it
            path.unlink()
        assert "unexpected" not in written, (name, written)
        assert "Traceback" not in written, (name, written)
        hides(tmp_path / "here", written)
        hides(tmp_path / "cache")
        if name not in WORK:
            assert code in (2, 3), (name, written)
            # A proxy may have an address without a path, and is no place for a path.
            assert len(endpoint.asked) == before, name
    assert set(FORMS) - set(tried) <= set(WORK)


@pytest.mark.parametrize("name", sorted(WORK))
@pytest.mark.thinned(1)
def test_a_whole_run_with_a_password_keeps_none(
    name: str,
    sources: Path,
    endpoint: Endpoint,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    url = FORMS[name].replace("HOST", endpoint.url.split("/")[2])
    words = audit(sources, "--base-url", url)
    monkeypatch.setattr(sys, "argv", ["codeaudit", *words])
    before = len(endpoint.asked)
    assert main(words) == 0
    for command in (["report", "out", "--html", "page.html"], ["report", "out", "--markdown", "page.md"]):
        assert main(command) == 0
    sent = [request.headers["authorization"] for request in endpoint.asked[before:]]
    assert sent, "it was asked for real"
    assert all(SECRET in base64.b64decode(header.removeprefix("Basic ")).decode() for header in sent)
    # Repeated from its record, it must be typed again, and as it is recorded it is refused: the user `***` is
    # not sent.
    assert main(["run", "--config", "out", "--out", "again"]) == 2
    recorded = json.loads((tmp_path / "here" / "out" / "manifest.json").read_text())["options"]["base_url"]
    assert main(["run", "--config", "out", "--out", "again", "--base-url", recorded]) == 2
    written = "".join(capfd.readouterr())
    assert "was recorded without its user and password; give it anew" in written
    hides(tmp_path / "here", written)
    hides(tmp_path / "cache")


def test_an_endpoint_that_tells_the_password_back_is_not_kept(
    sources: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = f"[total] {SECRET}%20{SECRET} at http://user:{SECRET}@host/ {SECRET} {SECRET}"
    with serving(lambda asked: lambda handler: handler.send(200, completion(text))) as endpoint:
        url = f"http://user:{SECRET}@{endpoint.url.removeprefix('http://')}"
        main(audit(sources, "--base-url", url, "-M", "unreadable=1"))
    hides(tmp_path / "here", "".join(capfd.readouterr()))
    hides(tmp_path / "cache")


@pytest.mark.parametrize(
    "words",
    [
        ["--corpus", "https://user:S3cr3tW0rd w@host/x.jsonl"],
        ["--model", "exec/curl https://user:S3cr3tW0rd@host/"],
        ["--model", "exec/curl https://host/?api_key=S3cr3tW0rd"],
        ["--model=exec/curl https://user:S3cr3tW0rd@host/"],
        ["-M", 'extra_body={"x": "https://user:S3cr3tW0rd@host"}'],
        ["--out", "https://user:S3cr3tW0rd@host"],
        ["--suite", "https://user:S3cr3tW0rd@host"],
        ["--cache", "https://user:S3cr3tW0rd@host"],
        ["--nonsense", "https://user:S3cr3tW0rd@host"],
        ["https://user:S3cr3tW0rd@host"],
    ],
    ids=str,
)
def test_an_address_with_a_password_anywhere_else_is_refused(
    words: list[str], sources: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*audit(sources, "--base-url", "http://127.0.0.1:9/v1"), *words]) == 2
    written = "".join(capfd.readouterr())
    assert "which would be kept in the run folder; only --base-url and --proxy may" in written
    hides(tmp_path, written)
    if words[0].startswith("--") and words[0] not in ("--nonsense", "--out", "--cache") and len(words) > 1:
        name = words[0].removeprefix("--")
        Path("options.toml").write_text(f"{name} = {json.dumps(words[1])}\n", encoding="utf-8")
        asked = ["run", "--config", "options.toml", "--limit", "1"]
        assert main(asked) == 2
        assert SECRET not in "".join(capfd.readouterr())


@pytest.mark.parametrize("command", ["transform", "verify", "report", "view", "gate", "explain", "merge"])
def test_no_command_shows_an_address_with_a_password(
    command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([command, f"https://user:{SECRET} w@host/x"]) == 2
    hides(tmp_path, "".join(capfd.readouterr()))


def test_the_python_api_refuses_and_hides_the_same() -> None:
    for name, form in FORMS.items():
        if name not in WORK:
            with pytest.raises(CodeauditError) as caught:
                codeaudit.run("openai/tiny", base_url=form.replace("HOST", "127.0.0.1:9"), corpus="none.py")
            assert SECRET not in str(caught.value)
    with pytest.raises(CodeauditError, match="only --base-url and --proxy may"):
        codeaudit.run(f"exec/curl https://user:{SECRET}@host", corpus="none.py")
