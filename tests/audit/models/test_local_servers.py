"""Servers that people run themselves, each with its odd replies, against a server that speaks as it does.

The bodies follow what these servers send: llama.cpp (`llama-server`), Ollama, LM Studio, vLLM, text-generation-
inference and `transformers serve`.
"""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from codeaudit.audit.models.endpoints.session import KNOCKS
from codeaudit.audit.models.endpoints.throttle import START
from codeaudit.audit.records import Failed, Prediction, Query
from codeaudit.transforms.errors import ModelError
from tests.audit.models.test_openai import FEW_SECONDS, MEAN, PAIR, load, queries
from tests.support.endpoints import Act, Asked, sends, serving


def body(
    content: str | None, *, model: str = "tiny", ended: str = "stop", used: object = (300, 9), **more: object
) -> str:
    """A reply with the fields that these servers add."""
    usage = {"prompt_tokens": used[0], "completion_tokens": used[1]} if isinstance(used, tuple) else used
    message = {"role": "assistant", "content": content, **more}
    choice = {"index": 0, "message": message, "finish_reason": ended, "logprobs": None}
    return json.dumps({"object": "chat.completion", "model": model, "choices": [choice], "usage": usage})


def error(status: int, words: str, **more: object) -> Act:
    """An error as most servers have it."""
    return sends(status, json.dumps({"error": {"message": words, **more}}))


def llama(status: int, words: str, kind: str, *, sent: int | None = None, **more: object) -> Act:
    """An error of llama.cpp, whose code is the status, whatever status the reply has."""
    return error(sent or status, words, code=status, type=kind, **more)


def chunk(delta: dict[str, object] | None, ended: str | None = None, **more: object) -> str:
    """An event of a stream."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": ended}]
    return f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': choices, **more})}\n\n"


def stream(*chunks: str, end: str = "data: [DONE]\n\n") -> Act:
    return sends(200, "".join(chunks) + end, "text/event-stream")


VLLM: dict[str, Any] = {
    "reasoning_content": None,
    "tool_calls": [],
    "function_call": None,
    "audio": None,
    "annotations": None,
}
VLLM_REPLY = json.dumps(
    {
        **json.loads(body(PAIR, **VLLM)),
        "prompt_logprobs": None,
        "kv_transfer_params": None,
        "service_tier": None,
    }
)
TIMINGS: dict[str, Any] = {"timings": {"prompt_n": 9, "predicted_n": 9, "predicted_per_second": 70.0}}
ANSWERS: dict[str, Act] = {
    "llama.cpp: timings": sends(200, json.dumps({**json.loads(body(PAIR)), **TIMINGS, "__verbose": {}})),
    "llama.cpp: thoughts beside the text": sends(200, body(PAIR, reasoning_content="I see [wrong] [w].")),
    "llama.cpp: a stream with timings at its end": stream(
        chunk({"role": "assistant", "content": None}), chunk({"content": PAIR}), chunk({}, "stop"),
        chunk(None, **TIMINGS, usage={"prompt_tokens": 300, "completion_tokens": 9}),
    ),
    "Ollama: thoughts": sends(200, body(PAIR, reasoning="I see [wrong] [w].")),
    "Ollama: marks of thoughts in the text": sends(200, body(f"<think>\nIt is [wrong] [w].\n</think>\n\n{PAIR}")),
    "Ollama: a stream that ends in one event": stream(chunk({"content": PAIR}, "stop")),
    "LM Studio: statistics": sends(200, json.dumps({**json.loads(body(PAIR)), "stats": {}})),
    "LM Studio: a stream with a named event": stream(
        "event: message\n", chunk({"role": "assistant"}), chunk({"content": PAIR}), chunk({}, "stop")
    ),
    "vLLM: fields that are null": sends(200, VLLM_REPLY),
    "vLLM: a newer name of thoughts": sends(200, body(PAIR, reasoning="I see [wrong] [w].", tool_calls=[])),
    "TGI: a stream without blanks": stream(
        f"data:{chunk({'role': 'assistant', 'content': PAIR}, 'stop').removeprefix('data: ')}"
    ),
    "TGI: another word for the end": sends(200, body(PAIR, ended="eos_token")),
    "transformers serve: a stream without an end mark": stream(
        chunk({"role": "assistant"}, model="tiny@main"), chunk({"content": PAIR}), chunk({}, "stop"), end=""
    ),
}  # fmt: skip
"""Replies with an answer."""


@pytest.mark.thinned(4)
@pytest.mark.parametrize("mode", ANSWERS)
def test_the_answer_is_read(mode: str) -> None:
    with serving(lambda asked: ANSWERS[mode]) as endpoint:
        assert load(endpoint.url).predict(queries(1)) == [MEAN]
    assert len(endpoint.asked) == 1


TOO_LONG = "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it"
NO_TEMPLATE = (
    "As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template "
    "if the tokenizer does not define one."
)
ENDS: dict[str, tuple[Act, str]] = {
    "llama.cpp: too long": (llama(400, TOO_LONG, "exceed_context_size_error", n_ctx=4096), r"refuses every query .*\(4096 tokens\), try"),
    "llama.cpp: too long, with status 200": (
        llama(400, "the request exceeds the available context size", "exceed_context_size_error", sent=200),
        r"refuses every query .*\(400\) \(the request exceeds .*-M max_tokens=N leaves",
    ),
    "llama.cpp: too long, as a fault of its own": (
        llama(500, "Context size has been exceeded.", "server_error"),
        r"refuses every query .*\(Context size has been exceeded.\).*-M max_tokens=N leaves",
    ),
    "llama.cpp: a key": (llama(401, "Invalid API Key", "authentication_error"), r"asks for a key \(401\) \(Invalid API Key\)|does not accept"),
    "llama.cpp: no such route": (llama(404, "File Not Found", "not_found_error"), "has no model 'tiny', or it is"),
    "Ollama: no such model": (
        error(404, 'model "tiny" not found, try pulling it first', type="api_error"),
        'has no model .*try pulling it first',
    ),
    "Ollama: no memory": (
        error(500, "model requires more system memory (5.3 GiB) than is available (4.7 GiB)", type="api_error"),
        r"cannot load the model .*more system memory \(5.3 GiB\)",
    ),
    "Ollama: its runner died": (
        error(500, "llama runner process has terminated: exit status 2", type="api_error"),
        "cannot load the model .*runner process has terminated",
    ),
    "LM Studio: no model is loaded": (
        error(404, "No models loaded. Please load a model in the developer page or use the lms load command.",
              type="invalid_request_error", param="model", code="model_not_found"),
        "has no model .*No models loaded",
    ),
    "LM Studio: too long, in words": (
        sends(400, json.dumps({"error": "Trying to keep the first 10136 tokens when context the overflows."})),
        "refuses every query .*Trying to keep the first",
    ),
    "LM Studio: a model that crashed, in words": (
        sends(400, json.dumps({"error": "The model has crashed without additional information."})),
        "refuses every query .*The model has crashed",
    ),
    "vLLM: no such model": (
        sends(404, json.dumps({"object": "error", "message": "The model `tiny` does not exist.",
                               "type": "NotFoundError", "param": None, "code": 404})),
        "has no model .*does not exist",
    ),
    "vLLM: too long": (
        sends(400, json.dumps({"object": "error", "message": "This model's maximum context length is 128 tokens.",
                               "type": "BadRequestError", "param": None, "code": 400})),
        "maximum context length is 128 tokens.*-M max_tokens=N leaves",
    ),
    "vLLM: a base model": (
        error(400, NO_TEMPLATE, type="BadRequestError", param=None, code=400),
        "does not take 'chat' .*-M api=completions",
    ),
    "TGI: a base model": (
        sends(422, json.dumps({"error": "Template error: template not found", "error_type": "template_error"})),
        "does not take 'chat' .*-M api=completions",
    ),
    "TGI: too long": (
        sends(422, json.dumps({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be "
                               "<= 128. Given: 90 and 256", "error_type": "validation"})),
        "`inputs` tokens.*-M max_tokens=N leaves",
    ),
    "TGI: an error with status 200": (
        sends(200, json.dumps({"error": "Input validation error: `inputs` must be short",
                               "error_type": "validation"})),
        "refuses every query .*Input validation error",
    ),
    "transformers serve: another model": (
        sends(404, json.dumps({"detail": "Server is pinned to 'other', and 'tiny' was requested."})),
        "has no model .*pinned to 'other'",
    ),
}  # fmt: skip
"""Replies that every query would get: the run ends, with the words of the server and what helps."""


@pytest.mark.thinned(3)
@pytest.mark.parametrize("mode", ENDS)
def test_what_every_query_would_meet_ends_the_run_soon(mode: str) -> None:
    act, message = ENDS[mode]
    began = time.monotonic()
    with serving(lambda asked: act) as endpoint, pytest.raises(ModelError, match=message):
        load(endpoint.url, backoff="0.05").predict(queries(40))
    assert time.monotonic() - began < FEW_SECONDS / 2
    # The third failure of one query ends it; until then, each may fail twice, and some are under way.
    assert len(endpoint.asked) <= (KNOCKS - 1) * 40 + START


@dataclass(frozen=True, kw_only=True)
class Course:
    """How a server behaves from one request to the next."""

    script: Callable[[Asked], Act]
    found: Prediction = MEAN
    told: str = ""
    """What the user reads at the end, or on the way."""


LOADING = llama(503, "Loading model", "unavailable_error")
BUSY = sends(429, json.dumps({"error": "Model is overloaded", "error_type": "overloaded"}))


def first(count: int, act: Act) -> Callable[[Asked], Act]:
    """A server that sends one thing to the first requests, and then an answer."""
    return lambda asked: act if asked.number < count else sends(200, body(PAIR))


def always(act: Act) -> Callable[[Asked], Act]:
    return lambda asked: act


COURSES: dict[str, Course] = {
    "llama.cpp: it loads for longer than retries last": Course(
        script=first(9, LOADING), told="loads its model"
    ),
    "vLLM: it sleeps while it loads": Course(
        script=first(9, sends(503, "Service Unavailable: model is loading", "text/plain")), told="loads its model"
    ),
    "TGI: overloaded": Course(script=first(2, BUSY)),
    "TGI: a failure while it writes": Course(
        script=lambda asked: sends(200, body(PAIR)) if asked.number else sends(
            424, json.dumps({"error": "Request failed during generation", "error_type": "generation"})
        ),
        found=Failed(reason="endpoint: 424"),
    ),
    "Ollama: content null and nothing counted, once": Course(
        script=first(1, sends(200, body(None, used=(0, 0)))),
    ),
    "Ollama: the prompt fills its context": Course(
        script=always(sends(200, body("", ended="length", used=(4095, 1)))),
        found=Failed(reason="answer cut off by the server's window"),
    ),
    "llama.cpp: thoughts fill the limit": Course(
        script=always(sends(200, body("", ended="length", used=(300, 256), reasoning_content="Hm"))),
        found=Failed(reason="answer cut off by max_tokens"),
    ),
    "LM Studio: another model answers": Course(
        script=always(sends(200, body(PAIR, model="gemma-3-1b-it-qat:2"))),
        told="'gemma-3-1b-it-qat:2' answered in the place of 'tiny'",
    ),
    "LM Studio: an empty stream for a long prompt": Course(
        script=always(stream(chunk({"role": "assistant"}), chunk({}, "stop"))),
        found=Failed(reason="no readable answer"),
    ),
}  # fmt: skip


@pytest.mark.thinned(3)
@pytest.mark.parametrize("mode", COURSES)
def test_a_server_behaves_as_it_does(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    course = COURSES[mode]
    with caplog.at_level(logging.WARNING), serving(course.script) as endpoint:
        model = load(endpoint.url, concurrency="1", retries="2")
        said, *_ = model.predict(queries(2))
    assert course.found == (Failed(reason=said.reason) if isinstance(said, Failed) else said)
    assert course.told in f"{caplog.text} {model.bill}"


def replaced(query: Query, letters: int) -> Query:
    """A query with a source of so many letters."""
    return replace(query, source="def MASK(a):\n" + "    a += 1\n" * (letters // 11))


def test_prompts_that_a_server_cuts_without_a_word_are_told_of(caplog: pytest.LogCaptureFixture) -> None:
    """Ollama keeps the last 4,096 tokens of a longer prompt."""

    def script(asked: Asked) -> Act:
        return sends(200, body(PAIR, used=(min(len(asked.text) // 3, 4096), 9)))

    few, many = queries(6), queries(6)
    long = [replaced(query, 20_000 + 3_000 * number) for number, query in enumerate(many)]
    with caplog.at_level(logging.WARNING), serving(script) as endpoint:
        load(endpoint.url).predict(few)
        assert caplog.messages == []
        load(endpoint.url).predict([*few, *long])
    (line,) = caplog.messages
    assert "prompts of different lengths count 4,096 tokens each" in line
    assert "num_ctx" in line


def test_a_chat_template_behind_a_server_is_told_what_the_user_says() -> None:
    with serving(lambda asked: sends(200, body(PAIR))) as endpoint:
        model = load(endpoint.url, **{"chat_template_kwargs.enable_thinking": "false"})
        assert model.predict(queries(1)) == [MEAN]
        assert model.fingerprint != load(endpoint.url).fingerprint
    assert endpoint.asked[0].body["chat_template_kwargs"] == {"enable_thinking": False}
