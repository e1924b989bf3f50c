"""An OpenAI-compatible server for tests, over real sockets on loopback, that answers and fails as it is told."""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

LONGEST_HANG = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it arrived."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    at: float
    beside: int
    """How many were under way, itself included."""

    @property
    def text(self) -> str:
        return str(self.body.get("prompt") or self.body["messages"][-1]["content"])


Act: TypeAlias = Callable[["Handler"], None]
Script: TypeAlias = Callable[[Asked], Act]


@dataclass
class Endpoint:
    """A server with its script, and what it was asked."""

    script: Script
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    active: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def most_at_once(self) -> int:
        return max((request.beside for request in self.asked), default=0)


class Handler(BaseHTTPRequestHandler):
    """Hands each request to the script."""

    protocol_version = "HTTP/1.1"
    endpoint: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.endpoint.lock:
            self.endpoint.active += 1
            asked = Asked(
                number=len(self.endpoint.asked),
                path=self.path,
                headers={name.lower(): value for name, value in self.headers.items()},
                body=body,
                at=time.monotonic(),
                beside=self.endpoint.active,
            )
            self.endpoint.asked.append(asked)
        try:
            self.endpoint.script(asked)(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with self.endpoint.lock:
                self.endpoint.active -= 1

    def send(
        self, status: int, text: str, kind: str = "application/json", headers: Mapping[str, str] | None = None
    ) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that go away in the middle are part of the tests."""


@contextmanager
def serving(script: Script, port: int = 0) -> Iterator[Endpoint]:
    endpoint = Endpoint(script=script)
    handler = type("BoundHandler", (Handler,), {"endpoint": endpoint})
    server = Server(("127.0.0.1", port), handler)
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def completion(text: str | None, *, finish: str = "stop", usage: object = (7, 3)) -> str:
    """A completion as JSON, for the chat and for the other API alike."""
    counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1]} if isinstance(usage, tuple) else usage
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "text": text,
        "finish_reason": finish,
    }
    return json.dumps(
        {"id": "1", "object": "chat.completion", "model": "tiny-1", "choices": [choice], "usage": counts}
    )


def says(text: str | None, *, after: float = 0.0, **about: Any) -> Act:
    def act(handler: Handler) -> None:
        handler.endpoint.closing.wait(after)
        handler.send(200, completion(text, **about))

    return act


def sends(status: int, text: str, kind: str = "application/json", **headers: str) -> Act:
    """Any response; `retry_after` is the header `retry-after`."""
    return lambda handler: handler.send(
        status, text, kind, {name.replace("_", "-"): value for name, value in headers.items()}
    )


def refuses(
    status: int, message: str = "no", *, param: str | None = None, code: str | None = None, **headers: str
) -> Act:
    error = {"message": message, "type": "error", "param": param, "code": code}
    return sends(status, json.dumps({"error": error}), **headers)


def hangs(handler: Handler) -> None:
    """Take the request and say nothing."""
    handler.endpoint.closing.wait(LONGEST_HANG)
    handler.close_connection = True


def disconnects(handler: Handler) -> None:
    """Close without a word."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def resets(handler: Handler) -> None:
    """Close with a reset, as a killed server does."""
    handler.close_connection = True
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.rfile.close()
    handler.wfile.close()
    handler.connection.close()


def halves(handler: Handler) -> None:
    """Promise a body and send half of it."""
    data = completion("[half] [h]").encode()
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[: len(data) // 2])
    disconnects(handler)


def drips(handler: Handler) -> None:
    """Send a right answer, a byte at a time, too slowly for any patience."""
    data = completion("[slow] [s]").encode()
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    for byte in data:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        if handler.endpoint.closing.wait(0.1):
            break
    handler.close_connection = True


def packs(data: bytes, coding: str) -> Act:
    """A completion that is packed already."""

    def act(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-encoding", coding)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return act


def floods(part: bytes, *, coding: str = "", status: int = 200, **headers: str) -> tuple[Act, list[int]]:
    """Send `part` again and again, up to 256 MiB in all; and the number of bytes that were sent so far."""
    sent = [0]

    def act(handler: Handler) -> None:
        handler.close_connection = True
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        for name, value in {**({"content-encoding": coding} if coding else {}), **headers}.items():
            handler.send_header(name, value)
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        while sent[0] < 256 << 20 and not handler.endpoint.closing.is_set():
            handler.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
            sent[0] += len(part)
        handler.wfile.write(b"0\r\n\r\n")

    return act, sent
