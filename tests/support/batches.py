"""A server for tests that speaks OpenAI's Files and Batches, over real sockets on loopback.

It answers the requests of a batch as soon as the batch is made. What it says of a batch, and what stands in
its files, can be changed by a test.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any, TypeAlias

from tests.support.endpoints import Handler, Server, completion

Line: TypeAlias = dict[str, Any]


@dataclass
class Batches:
    """What the server holds, and how it misbehaves."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, Line] = field(default_factory=dict)
    paid: list[str] = field(default_factory=list)
    """The names of all requests that were worked on."""
    single: int = 0
    """Requests outside of batches."""
    calls: list[str] = field(default_factory=list)
    before: Callable[[str], None] = lambda call: None
    """Called with `POST /files` and the like before it is served."""
    after: Callable[[str], None] = lambda call: None
    """Called when it was served, before the reply is sent."""
    answer: Callable[[Line], Line] = lambda line: {
        "status_code": 200,
        "body": json.loads(completion("[a] [a]")),
    }
    """The response to a request of a batch."""
    status: Callable[[int], str] = lambda looks: "completed"
    """What a batch is at a look, counted from 0."""
    shuffled: Callable[[list[Line]], list[Line]] = lambda lines: lines
    """The lines of the file of answers, in another order or with others among them."""
    fault: str = ""
    """The code of the refusal of every batch with more requests than `most`."""
    most: int = 0
    looks: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def made(self, body: Line) -> Line:
        """A new batch."""
        number = f"batch_{len(self.batches)}"
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        made = {"id": number, "object": "batch", "metadata": body["metadata"], "status": "validating"}
        self.batches[number] = made | {"lines": lines}
        if not (self.fault and len(lines) > self.most):
            self.paid += [line["custom_id"] for line in lines]
        return made

    def seen(self, number: str) -> Line:
        """A batch as it is told."""
        batch = self.batches[number]
        look = self.looks[number] = self.looks.get(number, -1) + 1
        status, lines = self.status(look), batch["lines"]
        reply = {key: batch[key] for key in ("id", "object", "metadata")}
        if self.fault and len(lines) > self.most:
            errors = {"object": "list", "data": [{"code": self.fault, "message": "too much of it"}]}
            return reply | {"status": "failed", "errors": errors}
        if status in ("completed", "expired", "cancelled"):
            good: list[Line] = []
            bad: list[Line] = []
            for line in lines:
                row = {"id": "r", "custom_id": line["custom_id"], "error": None}
                response = self.answer(line)
                if "code" in response:
                    bad.append(row | {"response": None, "error": response})
                elif response.get("status_code"):
                    (good if response["status_code"] < 400 else bad).append(row | {"response": response})
            for name, some in (("output", self.shuffled(good)), ("error", bad)):
                if some:
                    self.files[f"{name}-{number}"] = "\n".join(map(json.dumps, some)).encode()
                    reply[f"{name}_file_id"] = f"{name}-{number}"
        counts = {"total": len(lines), "completed": 0, "failed": 0}
        return reply | {"status": status, "request_counts": counts}


class BatchHandler(Handler):
    batches: Batches

    def do_GET(self) -> None:  # noqa: N802 - the library calls it
        self._serve("GET", {})

    def do_POST(self) -> None:  # noqa: N802
        data = self.rfile.read(int(self.headers["content-length"]))
        kind = self.headers["content-type"]
        if kind.startswith("multipart/"):
            parts = message_from_bytes(f"content-type: {kind}\r\n\r\n".encode() + data).get_payload()
            assert isinstance(parts, list)
            named = {str(part.get_param("name", header="content-disposition")): part for part in parts}
            assert named["purpose"].get_payload() == "batch"
            self._serve("POST", {"file": named["file"].get_payload(decode=True)})
        else:
            self._serve("POST", json.loads(data))

    def _serve(self, method: str, body: Line) -> None:
        held = self.batches
        path = self.path.removeprefix("/v1").partition("?")[0]
        call = f"{method} {re.sub(r'/(?:batch_|output-|error-|file_)[^/]*', '/ID', path)}"
        held.calls.append(call)
        held.before(call)
        with held.lock:
            reply: object
            match call:
                case "POST /files":
                    name = f"file_{len(held.files)}"
                    held.files[name] = body["file"]
                    reply = {"id": name, "object": "file", "purpose": "batch"}
                case "POST /batches":
                    assert body["endpoint"] == "/v1/chat/completions"
                    reply = held.made(body)
                case "GET /batches":
                    listed = [
                        {key: batch[key] for key in ("id", "metadata")} for batch in held.batches.values()
                    ]
                    reply = {"object": "list", "data": listed[::-1], "has_more": False}
                case "GET /batches/ID":
                    reply = held.seen(path.rpartition("/")[2])
                case "GET /files/ID/content":
                    reply = held.files[path.split("/")[2]]
                case _:
                    held.single += 1
                    reply = json.loads(completion("[a] [a]"))
        held.after(call)
        try:
            self.send(200, reply.decode() if isinstance(reply, bytes) else json.dumps(reply))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


@contextmanager
def serving_batches() -> Iterator[Batches]:
    held = Batches()
    server = Server(("127.0.0.1", 0), type("BoundHandler", (BatchHandler,), {"batches": held}))
    held.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield held
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
