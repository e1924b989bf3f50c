"""Models of every vendor through inspect-ai, against servers that speak the vendors' protocols and their faults.

Skipped where the extra `inspect` is not installed; a job of its own installs it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.batch_records import BatchRecords
from codeaudit.audit.models.endpoints.model import EndpointModel
from codeaudit.audit.models.endpoints.spending import Spending
from codeaudit.audit.models.inspect.decoding import OPTIONS
from codeaudit.audit.models.inspect.model import ARGUMENTS, VENDORS
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.records import CUT_OFF, MALFORMED, Failed, Predicted, Prediction
from codeaudit.transforms.errors import ModelError, UsageError
from tests.audit.models.test_openai import queries
from tests.support.commands import codeaudit, start
from tests.support.endpoints import (
    Act,
    Asked,
    Endpoint,
    Handler,
    Server,
    disconnects,
    drips,
    halves,
    hangs,
    packs,
    resets,
    sends,
    serving,
)
from tests.support.preloaded import Forked

pytest.importorskip("inspect_ai", reason="the extra `inspect`")
# The vendors' packages warn of their own.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
KEY = "sk-test-0123456789abcdef"


@dataclass(frozen=True, kw_only=True)
class Wire:
    """A protocol: how its replies and its refusals look."""

    spec: str
    needs: str
    """The package that speaks it."""
    says: Callable[[str, str], dict[str, Any]]
    """The body of a reply with this text and this reason to stop."""
    refuses: Callable[[int, str], object]
    """The body of a refusal with this status and these words."""
    cut: str
    filtered: str
    stop: str
    path: str
    """A part of the path of a request."""
    whole: str = ""
    """Of the address behind the host."""
    served: str
    """What it calls the model that answers."""
    tokens: tuple[int, int] = (7, 3)


def _anthropic(text: str, why: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}] if text else []
    usage = {"input_tokens": 7, "output_tokens": 3}
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x-1", "content": content,
        "stop_reason": why, "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def _google(text: str, why: str) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text}] if text else []}
    return {
        "candidates": [{"content": content, "finishReason": why, "index": 0}],
        "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10},
        "modelVersion": "gemini-x-1",
    }


def _chat(text: str, why: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "1", "object": "chat.completion", "created": 1, "model": "gpt-x-1",
        "choices": [{"index": 0, "message": message, "finish_reason": why}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }  # fmt: skip


def _responses(text: str, why: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}] if text else []
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}
    return {
        "id": "r", "object": "response", "created_at": 1, "model": "gpt-x-1", "output": [message],
        "status": "completed" if why == "stop" else "incomplete",
        "incomplete_details": None if why == "stop" else {"reason": why},
        "parallel_tool_calls": True, "tool_choice": "none", "tools": [], "error": None,
        "usage": {
            "input_tokens": 7, "output_tokens": 3, "total_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        },
    }  # fmt: skip


def _openai_error(status: int, words: str) -> object:
    return {"error": {"message": words, "type": "invalid_request_error", "param": None, "code": None}}


WIRES: Mapping[str, Wire] = {
    "anthropic": Wire(
        spec="anthropic/claude-x", needs="anthropic", says=_anthropic, stop="end_turn", cut="max_tokens",
        filtered="refusal", path="/messages", served="claude-x-1",
        refuses=lambda _, words: {"type": "error", "error": {"type": "error", "message": words}},
    ),
    "google": Wire(
        spec="google/gemini-x", needs="google.genai", says=_google, stop="STOP", cut="MAX_TOKENS", filtered="SAFETY",
        path=":generateContent", served="gemini-x-1",
        refuses=lambda status, words: {"error": {"code": status, "message": words, "status": "ERROR"}},
    ),
    "openai": Wire(
        spec="inspect/openai/gpt-4o", needs="openai", says=_chat, stop="stop", cut="length", filtered="content_filter",
        path="/chat/completions", whole="/v1", served="gpt-x-1", refuses=_openai_error,
    ),
    "responses": Wire(
        spec="inspect/openai/o4-mini", needs="openai", says=_responses, stop="stop", cut="max_output_tokens",
        filtered="content_filter", path="/responses", whole="/v1", served="gpt-x-1", refuses=_openai_error,
    ),
    "ollama": Wire(
        spec="ollama/tiny", needs="openai", says=_chat, stop="stop", cut="length", filtered="content_filter",
        path="/chat/completions", whole="/v1", served="gpt-x-1", refuses=_openai_error,
    ),
}  # fmt: skip
RIGHT = "[mean] [m]"


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Wire:
    chosen = WIRES[request.param]
    pytest.importorskip(chosen.needs)
    for vendor in VENDORS.values():
        if vendor.key:
            monkeypatch.setenv(vendor.key, KEY)
    return chosen


def load(wire: Wire, endpoint: Endpoint, **given: str) -> EndpointModel:
    url = endpoint.url.removesuffix("/v1") + wire.whole
    quick = {"backoff": "0.01", "timeout": "5", "concurrency": "2", **given}
    model = catalogue.load(wire.spec, Settings(base_url=url), quick)
    assert isinstance(model, EndpointModel)
    return model


def says(wire: Wire, text: str = RIGHT, why: str | None = None) -> Act:
    return sends(200, json.dumps(wire.says(text, wire.stop if why is None else why)))


def refuses(wire: Wire, status: int, words: str = "no", **headers: str) -> Act:
    return sends(status, json.dumps(wire.refuses(status, words)), **headers)


def answered(
    wire: Wire, script: Callable[[Asked], Act], number: int = 2, **given: str
) -> Sequence[Prediction]:
    with serving(script) as endpoint:
        return load(wire, endpoint, **given).predict(queries(number))


def test_a_reply_is_read_with_its_tokens_and_its_model(wire: Wire) -> None:
    with serving(lambda _: says(wire)) as endpoint:
        model = load(wire, endpoint, price_in="1000000", price_out="1000000")
        predictions = model.predict(queries(3))
    assert all(isinstance(prediction, Predicted) for prediction in predictions), predictions
    usage = model.usage
    assert (usage["requests"], usage["retries"]) == (3, 0)
    assert (usage["tokens_in"], usage["tokens_out"]) == (21, 9)
    assert usage["cost"] == 30.0
    assert usage["served"] == [wire.served]
    assert all(wire.path in request.path for request in endpoint.asked)
    assert KEY not in model.fingerprint + model.bill + str(usage)


FAULTS: Mapping[str, Callable[[Wire], Act]] = {
    "a timeout of the server": lambda wire: refuses(wire, 408),
    "too many requests": lambda wire: refuses(wire, 429),
    "too many requests, with a time": lambda wire: refuses(wire, 429, retry_after="0.01"),
    "an error of the server": lambda wire: refuses(wire, 500),
    "a bad gateway": lambda wire: sends(502, "<html>bad gateway</html>", "text/html"),
    "no capacity": lambda wire: refuses(wire, 503),
    "overloaded": lambda wire: refuses(wire, 529),
    "no word": lambda _: disconnects,
    "a reset": lambda _: resets,
    "half of a body": lambda _: halves,
    "no JSON": lambda _: sends(200, "{"),
    "nothing": lambda _: sends(200, ""),
    "a bad packing": lambda _: packs(b"no gzip", "gzip"),
}
"""Faults that pass."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_passes_is_asked_again(wire: Wire, fault: str) -> None:
    def script(asked: Asked) -> Act:
        return FAULTS[fault](wire) if asked.number == 1 else says(wire)

    with serving(script) as endpoint:
        model = load(wire, endpoint, concurrency="1")
        predictions = model.predict(queries(3))
    assert all(isinstance(prediction, Predicted) for prediction in predictions), predictions
    assert model.usage["retries"] == 1, "our own counts every request"
    assert len(endpoint.asked) == 4, "the vendor's library repeats nothing"


@pytest.mark.parametrize("act", [hangs, drips], ids=["silence", "slow bytes"])
def test_a_slow_reply_is_given_up(wire: Wire, act: Act) -> None:
    def script(asked: Asked) -> Act:
        return act if asked.number == 1 else says(wire)

    predictions = answered(wire, script, 3, concurrency="1", timeout="1")
    assert all(isinstance(prediction, Predicted) for prediction in predictions), predictions


ENDS: Mapping[str, tuple[int, str, str]] = {
    "a wrong key": (401, "invalid x-api-key", "401"),
    "no credit": (402, "credit is used up", "nothing is left to pay with"),
    "no such model": (404, "model: claude-nine", "404"),
    "all refused alike": (400, "the request is wrong", "refuses every query"),
}


@pytest.mark.parametrize("end", ENDS)
def test_what_all_queries_would_meet_ends_the_run_with_the_words(wire: Wire, end: str) -> None:
    status, words, message = ENDS[end]
    with serving(lambda _: refuses(wire, status, words)) as endpoint, pytest.raises(ModelError) as caught:
        load(wire, endpoint).predict(queries(40))
    assert message in str(caught.value)
    assert words in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(endpoint.asked) < 40


def test_a_redirect_sends_nothing_elsewhere(wire: Wire) -> None:
    with serving(lambda _: says(wire)) as other:
        away = other.url.replace("127.0.0.1", "localhost") + "/elsewhere"
        with (
            serving(lambda _: sends(307, "", location=away)) as endpoint,
            pytest.raises(ModelError) as caught,
        ):
            load(wire, endpoint).predict(queries(40))
        assert other.asked == []
    assert "\n" not in str(caught.value)


def test_a_cut_reply_has_no_answer(wire: Wire) -> None:
    predictions = answered(wire, lambda _: says(wire, "it may be", wire.cut))
    assert {prediction.reason for prediction in predictions if isinstance(prediction, Failed)} == {CUT_OFF}


def test_a_filtered_reply_has_no_answer(wire: Wire) -> None:
    def script(asked: Asked) -> Act:
        return says(wire, "", wire.filtered) if asked.number == 1 else says(wire)

    predictions = answered(wire, script, 3, concurrency="1")
    (failed,) = [prediction for prediction in predictions if isinstance(prediction, Failed)]
    assert failed.reason == "endpoint: refused by its filter"


def test_prose_without_an_answer_is_malformed(wire: Wire) -> None:
    predictions = answered(wire, lambda _: says(wire, "I would rather not say."))
    assert all(isinstance(said, Failed) and said.reason == MALFORMED for said in predictions), predictions


def test_nobody_at_the_address_is_said_in_a_line(wire: Wire) -> None:
    with serving(lambda _: says(wire)) as endpoint:
        model = load(wire, endpoint, retries="1")
    with pytest.raises(ModelError) as caught:
        model.predict(queries(9))
    assert "cannot reach" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_options_reach_the_vendor(wire: Wire) -> None:
    with serving(lambda _: says(wire)) as endpoint:
        load(wire, endpoint, max_tokens="99", top_p="0.5").predict(queries(1))
    (asked,) = endpoint.asked
    assert "99" in json.dumps(asked.body)
    assert "0.5" in json.dumps(asked.body) or "responses" in asked.path or "messages" in asked.path


@pytest.mark.parametrize("wire", ["google", "ollama", "anthropic"], indirect=True)
def test_log_probabilities_become_margins_and_scores(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    tokens = [("[mean]", -0.25, "[sum]", -2.0), (" [m]", -0.5, " [x]", -1.0)]
    body = wire.says(RIGHT, wire.stop)
    if wire.spec.startswith("google"):
        first, other = (
            [{"token": row[at], "logProbability": row[at + 1]} for row in tokens] for at in (0, 2)
        )
        top = [{"candidates": list(pair)} for pair in zip(first, other, strict=True)]
        body["candidates"][0]["logprobsResult"] = {"chosenCandidates": first, "topCandidates": top}
    elif wire.spec.startswith("ollama"):
        body["choices"][0]["logprobs"] = {
            "content": [
                {
                    "token": token, "logprob": value, "bytes": None,
                    "top_logprobs": [
                        {"token": token, "logprob": value, "bytes": None},
                        {"token": other, "logprob": least, "bytes": None},
                    ],
                }
                for token, value, other, least in tokens
            ]
        }  # fmt: skip
    (prediction,) = answered(wire, lambda _: sends(200, json.dumps(body)), 1, logprobs="true")
    assert isinstance(prediction, Predicted)
    if wire.spec.startswith("anthropic"):
        assert (prediction.scores, prediction.margin) == ((), None)
        assert "gives no log-probabilities" in caplog.text
    else:
        assert dict(prediction.scores) == {"[mean]": -0.25, "[sum]": -2.0}
        assert prediction.margin == 0.5


def test_every_option_is_one_of_inspect() -> None:
    from inspect_ai.model import GenerateConfig

    assert OPTIONS.keys() <= GenerateConfig.model_fields.keys()


def test_an_unknown_vendor_is_said_in_a_line() -> None:
    model = catalogue.load("inspect/nobody/x", Settings(), {})
    with pytest.raises(ModelError, match="inspect-ai cannot use 'nobody/x'") as caught:
        model.predict(queries(1))
    assert "\n" not in str(caught.value)


def test_arguments_are_listed_and_checked() -> None:
    assert "reasoning_effort" in ARGUMENTS
    with pytest.raises(UsageError, match="must be one of"):
        catalogue.load("anthropic/x", Settings(sends=False), {"reasoning_effort": "enormous"})


# ── batches ──────────────────────────────────────────────────────────────────────────────────────────────


class Messages(Handler):
    """Anthropic's Message Batches: each batch is answered when it is made."""

    made: ClassVar[list[dict[str, Any]]] = []
    gone: ClassVar[list[str]] = []
    """Calls whose reply is lost."""
    fails: ClassVar[Mapping[int, dict[str, Any]]] = {}
    """What becomes of a request of the first batch, by its number; all others succeed."""
    status: ClassVar[list[str]] = ["ended"]
    """The server gives the last entry as the status of every batch."""

    def do_POST(self) -> None:  # noqa: N802
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert KEY in (self.headers["x-api-key"], self.headers["authorization"].removeprefix("Bearer "))
        if self.path.partition("?")[0] == "/v1/messages":
            self.send(200, json.dumps(_anthropic(RIGHT, "end_turn")))
            return
        assert self.path == "/v1/messages/batches"
        lines = []
        for number, request in enumerate(body["requests"]):
            assert request["params"]["model"] == "claude-x"
            result = {"type": "succeeded", "message": _anthropic(RIGHT, "end_turn")}
            failed = None if self.made else self.fails.get(number)
            lines.append({"custom_id": request["custom_id"], "result": failed or result})
        kinds = Counter(line["result"]["type"] for line in lines)
        counts = {kind: kinds[kind] for kind in ("processing", "succeeded", "errored", "canceled", "expired")}
        now = datetime.now(UTC).isoformat()
        about = {"id": f"msgbatch_{len(self.made)}", "created_at": now, "request_counts": counts}
        self.made.append({"about": about, "lines": lines[::-1]})
        self.reply("POST", self.told(self.made[-1]))

    def told(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        return {**batch["about"], "processing_status": self.status[-1]}

    def do_GET(self) -> None:  # noqa: N802
        name = self.path.partition("/batches")[2].strip("/")
        if name.startswith("?"):
            self.reply("LIST", {"data": [self.told(batch) for batch in self.made[::-1]], "has_more": False})
        elif name.endswith("/results"):
            lines = next(batch["lines"] for batch in self.made if name.startswith(batch["about"]["id"]))
            self.send(200, "\n".join(map(json.dumps, lines)))
        else:
            self.reply("GET", next(self.told(batch) for batch in self.made if batch["about"]["id"] == name))

    def reply(self, call: str, body: object) -> None:
        if call in self.gone:
            self.gone.remove(call)
            disconnects(self)
        else:
            self.send(200, json.dumps(body))


@contextmanager
def serving_messages(**attributes: object) -> Iterator[Any]:
    """The class whose attributes say what the server does, with its address as `url`."""
    fresh = {"made": [], "gone": [], "status": ["ended"], **attributes}
    handler: Any = type("Bound", (Messages,), fresh)
    server = Server(("127.0.0.1", 0), handler)
    handler.url = f"http://127.0.0.1:{server.server_address[1]}"
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield handler
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("wire", ["anthropic"], indirect=True)
def test_a_batch_of_anthropics_is_found_again_and_costs_half(wire: Wire, tmp_path: Path) -> None:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "too long"}}
    fails = {1: {"type": "errored", "error": error}, 2: {"type": "expired"}}
    with serving_messages(gone=["POST"], fails=fails) as handler:
        spending = Spending()
        spending.batches = BatchRecords(tmp_path, "run")
        settings = Settings(base_url=handler.url, spending=spending)
        options = {"batch": "true", "backoff": "0.01", "price_in": "1000000", "price_out": "1000000"}
        asked = queries(4)
        for first in (True, False):  # the second has the answers of the first, as after a kill
            model = catalogue.load(wire.spec, settings, options)
            assert isinstance(model, EndpointModel)
            stream = model.stream()
            stream.ask(asked)
            predictions: dict[int, Prediction] = {}
            while len(predictions) < 4:
                predictions |= stream.arrived()
            stream.stop()
            assert [isinstance(predictions[at], Predicted) for at in range(4)] == [True, False, True, True]
            assert predictions[1] == Failed(reason="endpoint: 400")
            assert [len(batch["lines"]) for batch in handler.made] == [4, 1], "what expired is sent again"
            if first:
                assert model.usage["cost"] == pytest.approx(0.5 * 3 * 10)


# ── the commands that a buyer types ──────────────────────────────────────────────────────────────────────

FEW = ("--transform", "rename", "--variants", "1", "--no-controls", "--workers", "1", "--out", "out")
PRICES = ("-M", "price_in=1", "-M", "price_out=5")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    path = tmp_path / "sources" / "totals.py"
    path.parent.mkdir()
    function = "def {0}_of(values):\n    result = {0}(values)\n    return result + 1\n"
    path.write_text("\n\n".join(function.format(name) for name in ("sum", "min", "max", "len")))
    return path.parent


def spent(folder: Path) -> tuple[int, float]:
    """The tokens and the cost that the run's manifest tells."""
    spending = json.loads((folder / "out/manifest.json").read_text())["spent"]
    return spending["tokens"], spending["cost"]


def test_a_killed_command_goes_on_and_forgets_no_cost(
    wire: Wire, tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    running: list[Forked] = []

    def script(asked: Asked) -> Act:
        if asked.number == 5:  # the first four were answered before
            running[-1].kill()
        return says(wire)

    with serving(script) as endpoint:
        url = endpoint.url.removesuffix("/v1") + wire.whole
        words = ["run", "--corpus", str(sources), "--model", wire.spec, "--base-url", url, *FEW, *PRICES]
        words += ["-M", "concurrency=1"]
        running.append(start(*words, cwd=tmp_path))
        running[-1].communicate(timeout=120)
        assert running[-1].wait() < 0
        done = codeaudit(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert KEY not in done.stdout + done.stderr
    tokens, cost = spent(tmp_path)
    paid = len(endpoint.asked) - 1  # the one that was open at the kill has no reply
    assert tokens >= 10 * paid, "what was paid before the kill counts"
    assert cost >= 0.999e-6 * (7 * 1 + 3 * 5) * paid


@pytest.mark.parametrize("wire", ["anthropic"], indirect=True)
def test_a_command_leaves_its_batch_and_finds_it_again(
    wire: Wire, tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    with serving_messages(status=["in_progress"]) as handler:
        words = [
            "run",
            "--corpus",
            str(sources),
            "--model",
            wire.spec,
            "--base-url",
            handler.url,
            *FEW,
            *PRICES,
        ]
        words += ["-M", "batch=true", "-M", "backoff=0.01"]
        left = codeaudit(*words, "-M", "batch_wait=0", cwd=tmp_path)
        assert left.returncode == 3, left.stderr
        assert "the same command" in left.stderr
        handler.status.append("ended")
        done = codeaudit(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(handler.made) == 1
    tokens, cost = spent(tmp_path)
    single = 1e-6 * (7 * 1 + 3 * 5)
    asked = len(handler.made[0]["lines"])
    assert tokens == 10 * (asked + 1), "the first one is a test"
    assert cost == pytest.approx(single * (1 + asked / 2))
