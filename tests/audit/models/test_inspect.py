"""Models of every vendor through inspect-ai, against servers that speak the vendors' protocols and their faults.

Skipped where the extra `inspect` is not installed; a job of its own installs it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.batches import BatchRecords
from codeaudit.audit.models.endpoints.model import EndpointModel
from codeaudit.audit.models.endpoints.spending import Spending
from codeaudit.audit.models.inspect.model import ARGUMENTS, OPTIONS, VENDORS
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.records import CUT_OFF, MALFORMED, Failed, Predicted, Prediction
from codeaudit.transforms.errors import ModelError, UsageError
from tests.audit.models.test_openai import queries
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
    found = WIRES[request.param]
    pytest.importorskip(found.needs)
    for vendor in VENDORS.values():
        if vendor.key:
            monkeypatch.setenv(vendor.key, KEY)
    return found


def load(wire: Wire, endpoint: Endpoint, **given: str) -> EndpointModel:
    url = endpoint.url.removesuffix("/v1") + wire.whole
    quick = {"backoff": "0.01", "timeout": "5", "concurrency": "2", **given}
    found = catalogue.load(wire.spec, Settings(base_url=url), quick)
    assert isinstance(found, EndpointModel)
    return found


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
        found = model.predict(queries(3))
    assert all(isinstance(one, Predicted) for one in found), found
    usage = model.usage
    assert (usage["requests"], usage["retries"]) == (3, 0)
    assert (usage["tokens_in"], usage["tokens_out"]) == (21, 9)
    assert usage["cost"] == 30.0
    assert usage["served"] == [wire.served]
    assert all(wire.path in one.path for one in endpoint.asked)
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
        found = model.predict(queries(3))
    assert all(isinstance(one, Predicted) for one in found), found
    assert model.usage["retries"] == 1, "our own counts every request"
    assert len(endpoint.asked) == 4, "the vendor's library repeats nothing"


@pytest.mark.parametrize("act", [hangs, drips], ids=["silence", "slow bytes"])
def test_a_slow_reply_is_given_up(wire: Wire, act: Act) -> None:
    def script(asked: Asked) -> Act:
        return act if asked.number == 1 else says(wire)

    found = answered(wire, script, 3, concurrency="1", timeout="1")
    assert all(isinstance(one, Predicted) for one in found), found


ENDS: Mapping[str, tuple[int, str, str]] = {
    "a wrong key": (401, "invalid x-api-key", "401"),
    "no credit": (402, "credit is used up", "nothing is left to pay with"),
    "no such model": (404, "model: claude-nine", "404"),
    "all refused alike": (400, "the request is wrong", "refuses every query"),
}


@pytest.mark.parametrize("end", ENDS)
def test_what_all_queries_would_meet_ends_the_run_with_the_words(wire: Wire, end: str) -> None:
    status, words, told = ENDS[end]
    with serving(lambda _: refuses(wire, status, words)) as endpoint, pytest.raises(ModelError) as caught:
        load(wire, endpoint).predict(queries(40))
    assert told in str(caught.value)
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
    found = answered(wire, lambda _: says(wire, "it may be", wire.cut))
    assert {one.reason for one in found if isinstance(one, Failed)} == {CUT_OFF}


def test_a_filtered_reply_has_no_answer(wire: Wire) -> None:
    def script(asked: Asked) -> Act:
        return says(wire, "", wire.filtered) if asked.number == 1 else says(wire)

    found = answered(wire, script, 3, concurrency="1")
    (failed,) = [one for one in found if isinstance(one, Failed)]
    assert failed.reason == "endpoint: refused by its filter"


def test_prose_without_an_answer_is_malformed(wire: Wire) -> None:
    found = answered(wire, lambda _: says(wire, "I would rather not say."))
    assert all(isinstance(one, Failed) and one.reason == MALFORMED for one in found), found


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
                    "token": one, "logprob": value, "bytes": None,
                    "top_logprobs": [
                        {"token": one, "logprob": value, "bytes": None},
                        {"token": other, "logprob": least, "bytes": None},
                    ],
                }
                for one, value, other, least in tokens
            ]
        }  # fmt: skip
    (found,) = answered(wire, lambda _: sends(200, json.dumps(body)), 1, logprobs="true")
    assert isinstance(found, Predicted)
    if wire.spec.startswith("anthropic"):
        assert (found.scores, found.margin) == ((), None)
        assert "gives no log-probabilities" in caplog.text
    else:
        assert dict(found.scores) == {"[mean]": -0.25, "[sum]": -2.0}
        assert found.margin == 0.5


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

    def do_POST(self) -> None:  # noqa: N802
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert self.headers["x-api-key"] == KEY
        assert self.path == "/v1/messages/batches"
        lines = []
        for number, one in enumerate(body["requests"]):
            assert one["params"]["model"] == "claude-x"
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": "too long"}}
            result = {"type": "succeeded", "message": _anthropic(RIGHT, "end_turn")}
            results = [result, {"type": "errored", "error": error}, {"type": "expired"}, result]
            again = len(self.made) > 0
            lines.append({"custom_id": one["custom_id"], "result": result if again else results[number]})
        counts = {"processing": 0, "succeeded": len(lines), "errored": 0, "canceled": 0, "expired": 0}
        if len(lines) == 4:
            counts |= {"succeeded": 2, "errored": 1, "expired": 1}
        now = datetime.now(UTC).isoformat()
        about = {"id": f"msgbatch_{len(self.made)}", "created_at": now, "request_counts": counts}
        self.made.append({"about": about | {"processing_status": "ended"}, "lines": lines[::-1]})
        self.reply("POST", self.made[-1]["about"])

    def do_GET(self) -> None:  # noqa: N802
        name = self.path.partition("/batches")[2].strip("/")
        if name.startswith("?"):
            self.reply("LIST", {"data": [one["about"] for one in self.made[::-1]], "has_more": False})
        elif name.endswith("/results"):
            lines = next(one["lines"] for one in self.made if name.startswith(one["about"]["id"]))
            self.send(200, "\n".join(map(json.dumps, lines)))
        else:
            self.reply("GET", next(one["about"] for one in self.made if one["about"]["id"] == name))

    def reply(self, call: str, body: object) -> None:
        if call in self.gone:
            self.gone.remove(call)
            disconnects(self)
        else:
            self.send(200, json.dumps(body))


@pytest.mark.parametrize("wire", ["anthropic"], indirect=True)
def test_a_batch_of_anthropics_is_found_again_and_costs_half(wire: Wire, tmp_path: Path) -> None:
    handler: Any = type("Bound", (Messages,), {"made": [], "gone": ["POST"]})
    server = Server(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    spending = Spending()
    spending.batches = BatchRecords(tmp_path, "run")
    settings = Settings(base_url=f"http://127.0.0.1:{server.server_address[1]}", spending=spending)
    told = {"batch": "true", "backoff": "0.01", "price_in": "1000000", "price_out": "1000000"}
    asked = queries(4)
    for _ in range(2):  # the second has the answers of the first, as after a kill
        model = catalogue.load(wire.spec, settings, told)
        assert isinstance(model, EndpointModel)
        stream = model.stream()
        stream.ask(asked)
        found: dict[int, Prediction] = {}
        while len(found) < 4:
            found |= stream.arrived()
        stream.stop()
        assert [isinstance(found[at], Predicted) for at in range(4)] == [True, False, True, True]
        assert found[1] == Failed(reason="endpoint: 400")
        assert [len(one["lines"]) for one in handler.made] == [4, 1], "what expired is sent again"
        if not _:
            assert model.usage["cost"] == pytest.approx(0.5 * 3 * 10)
    server.shutdown()
    server.server_close()
