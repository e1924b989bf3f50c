"""Names on the hub: a server that answers, one that refuses, one that is silent, and none at all."""

import hashlib
import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import huggingface_hub.constants as hub
import pytest

from codeaudit.audit.models.hf import load as loading
from codeaudit.audit.models.hf.load import find_folder
from codeaudit.audit.records import Predicted
from codeaudit.transforms.errors import ModelError
from tests.audit.models.hf.conftest import Load, asked

COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAME = "someone/tiny"


class Hub(BaseHTTPRequestHandler):
    """What the hub says of one public and one gated model."""

    folder: Path
    fetched: list[str]

    def do_GET(self) -> None:
        self._serve(body=True)

    def do_HEAD(self) -> None:
        self._serve(body=False)

    def log_message(self, *_: object) -> None:
        return

    def _serve(self, *, body: bool) -> None:
        path = self.path.partition("?")[0]
        files = sorted(
            path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()
        )
        if path in (f"/api/models/{NAME}", *(f"/api/models/{NAME}/revision/{at}" for at in ("main", COMMIT))):
            reply = {"id": NAME, "sha": COMMIT, "siblings": [{"rfilename": file} for file in files]}
            self._send(json.dumps(reply).encode(), body=body)
        elif path == f"/api/models/{NAME}/tree/{COMMIT}":
            unread_files_line = [
                {
                    "type": "file",
                    "path": file,
                    "oid": self._tag(file),
                    "size": (self.folder / file).stat().st_size,
                }
                for file in files
            ]
            self._send(json.dumps(unread_files_line).encode(), body=body)
        elif path.startswith(prefix := f"/{NAME}/resolve/{COMMIT}/"):
            file = path.removeprefix(prefix)
            self.fetched.append(file)
            self._send((self.folder / file).read_bytes(), body=body, tag=self._tag(file))
        elif path.startswith("/api/models/someone/gated"):
            self._send(b"{}", body=body, status=403, error="GatedRepo")
        elif path.startswith(f"/api/models/{NAME}/revision"):
            self._send(b"{}", body=body, status=404, error="RevisionNotFound")
        else:
            self._send(b"{}", body=body, status=404, error="RepoNotFound")

    def _tag(self, file: str) -> str:
        return hashlib.sha1((self.folder / file).read_bytes()).hexdigest()

    def _send(self, content: bytes, *, body: bool, status: int = 200, error: str = "", tag: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Repo-Commit", COMMIT)
        if error:
            self.send_header("X-Error-Code", error)
        if tag:
            self.send_header("ETag", f'"{tag}"')
        self.end_headers()
        if body:
            self.wfile.write(content)


def points_to(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        hub, "HUGGINGFACE_CO_URL_TEMPLATE", hub.HUGGINGFACE_CO_URL_TEMPLATE.replace(hub.ENDPOINT, url)
    )
    monkeypatch.setattr(hub, "ENDPOINT", url)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def served(folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    """A hub with the encoder, beside files that nobody needs."""
    folder = shutil.copytree(folders["bert"], tmp_path / "served")
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    (folder / "own.py").write_text("raise SystemExit\n")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.safetensors").write_bytes(b"large")
    handler = type("Handler", (Hub,), {"folder": folder, "fetched": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    points_to(f"http://127.0.0.1:{server.server_port}", monkeypatch)
    yield handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_name_is_fetched_without_pickles_and_code(
    served: type[Hub], folders: dict[str, Path], load: Load, capfd: pytest.CaptureFixture[str]
) -> None:
    model = load(NAME)
    assert set(served.fetched) == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert isinstance(model.predict(asked("error-detection"))[0], Predicted)
    assert model.fingerprint == load("bert").fingerprint
    assert capfd.readouterr() == ("", "")


def test_code_is_fetched_where_it_is_trusted(served: type[Hub]) -> None:
    find_folder(NAME, revision=None, code=True)
    assert "own.py" in served.fetched
    assert "pytorch_model.bin" not in served.fetched


def test_a_gguf_file_is_fetched_without_the_other_weights(served: type[Hub]) -> None:
    (served.folder / "m.gguf").write_bytes(b"GGUF")
    assert (find_folder(NAME, revision=None, code=False, gguf="m.gguf") / "m.gguf").is_file()
    assert "m.gguf" in served.fetched
    assert "model.safetensors" not in served.fetched


def test_what_was_fetched_before_needs_no_hub(
    served: type[Hub], load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = find_folder(NAME, revision=None, code=False)
    count = len(served.fetched)
    assert find_folder(NAME, revision=COMMIT, code=False) == first
    points_to("http://127.0.0.1:9", monkeypatch)
    assert find_folder(NAME, revision=None, code=False) == first
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    assert find_folder(NAME, revision=None, code=False) == first
    assert len(served.fetched) == count


@pytest.mark.parametrize(
    ("name", "revision", "message"),
    [
        ("someone/else", None, "no folder 'someone/else' here, and no model of that name on the hub"),
        (NAME, "v9", "has no revision 'v9' on the hub"),
        ("someone/gated", None, "is gated; ask for access on the hub, and set HF_TOKEN"),
    ],
)
def test_what_the_hub_refuses(served: type[Hub], name: str, revision: str | None, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        find_folder(name, revision=revision, code=False)


def test_no_hub_is_one_line_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "TIMEOUT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for url in (
            "http://127.0.0.1:9",
            f"http://127.0.0.1:{silent.getsockname()[1]}",
            "http://no-such-host.invalid",
        ):
            points_to(url, monkeypatch)
            began = time.monotonic()
            with pytest.raises(ModelError, match=r"the hub gave no answer .*; go online, or name a folder"):
                find_folder("someone/else", revision=None, code=False)
            assert time.monotonic() - began < 10
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=r"the hub gave no answer .*offline"):
        find_folder("someone/else", revision=None, code=False)
