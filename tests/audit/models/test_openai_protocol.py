"""OpenAI's protocol as it is today: each model gets its fields without a flag, or one line names the flag."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import codeaudit
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.model import EndpointModel
from codeaudit.audit.models.openai.decoding import reasons
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.records import CUT_OFF, Predicted, Prediction, Query
from codeaudit.transforms.errors import ModelError, UsageError
from tests.support.endpoints import Act, Asked, completion, refuses, says, sends, serving

PAIR = "[compute_mean] [mean]"
MEAN = "compute_mean"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-FAKEfakeFAKEfake0123456789")


def load(url: str, name: str = "tiny", **given: str) -> EndpointModel:
    quick = {"backoff": "0.01", "timeout": "20", "retries": "1", "concurrency": "1", **given}
    model = catalogue.load(f"openai/{name}", Settings(base_url=url), quick)
    assert isinstance(model, EndpointModel)
    return model


def query(task: str = "function-name", number: int = 1) -> Query:
    return Query(task=task, language="python", source=f"def MASK(a):\n    return a + {number}\n")


def answer(predictions: list[Prediction]) -> object:
    (prediction,) = predictions
    return prediction.answer if isinstance(prediction, Predicted) else prediction.reason


def sent(body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request beside the model and the text."""
    return {
        name: value for name, value in body.items() if name not in ("model", "messages", "input", "stream")
    }


@pytest.mark.parametrize(
    ("name", "thinks"),
    [
        ("o1", True), ("o3-mini", True), ("o4-mini-2025-04-16", True), ("gpt-5", True), ("gpt-5-mini", True),
        ("gpt-5.1", True), ("openai/o3", True), ("my-o3", True), ("gpt-4o", False), ("gpt-4.1", False),
        ("gpt-5-chat-latest", False), ("gpt-oss-20b", False), ("o1000", False), ("solo1", False),
        ("Qwen3-8B", False), ("proto3", False),
    ],
)  # fmt: skip
def test_models_that_think_are_known_by_their_names(name: str, thinks: bool) -> None:
    assert reasons(name) == thinks


def strict(asked: Asked) -> Act:
    """A server of a model that thinks: it refuses what these models do not take."""
    if "max_tokens" in asked.body:
        text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        return refuses(400, text, param="max_tokens", code="unsupported_parameter")
    if asked.body.get("temperature", 1) != 1:
        text = "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is supported."
        return refuses(400, text, param="temperature", code="unsupported_value")
    return says(PAIR)


def test_a_model_that_thinks_gets_its_fields_without_a_flag() -> None:
    with serving(strict) as endpoint:
        model = load(endpoint.url, "o4-mini")
        assert answer(model.predict([query()])) == MEAN
        assert len(endpoint.asked) == 1
        assert sent(endpoint.asked[0].body) == {"seed": 0}
        assert "temperature=none&seed=0&max_completion_tokens=none" in model.fingerprint
        limited = load(endpoint.url, "o4-mini", max_tokens="900", reasoning_effort="low")
        assert answer(limited.predict([query()])) == MEAN
        fields = sent(endpoint.asked[-1].body)
        assert fields == {"seed": 0, "max_completion_tokens": 900, "reasoning_effort": "low"}
        assert "reasoning_effort=low" in limited.fingerprint
        several = load(endpoint.url, "o4-mini", samples="3")
        assert answer(several.predict([query()])) == MEAN
        assert {"temperature"} & endpoint.asked[-1].body.keys() == set()


def test_a_server_that_calls_the_limit_otherwise_is_asked_so() -> None:
    def script(asked: Asked) -> Act:
        return strict(asked) if "max_tokens" in asked.body else says(PAIR)

    with serving(script) as endpoint:
        model = load(endpoint.url, "deployment")
        assert [answer([said]) for said in model.predict([query(number=n) for n in range(4)])] == [MEAN] * 4
        assert endpoint.asked[-1].body["max_completion_tokens"] == 256
        assert len(endpoint.asked) == 5, "one refusal"


def test_one_line_names_the_flag_of_a_value_that_decides_answers() -> None:
    """Another temperature would give other answers than the fingerprint says."""
    with serving(strict) as endpoint, pytest.raises(ModelError, match="-M temperature=none") as caught:
        load(endpoint.url, "deployment").predict([query()])
    assert "\n" not in str(caught.value)


def response(text: str | None, *, status: str = "completed", why: str = "", **more: Any) -> Act:
    """A response of the interface `responses`, with thoughts before its text."""
    output: list[dict[str, Any]] = [{"type": "reasoning", "id": "rs_1", "summary": []}]
    if text is not None:
        part = {"type": "output_text", "text": text, "annotations": []}
        output.append({"type": "message", "role": "assistant", "content": [part]})
    body = {
        "id": "resp_1", "object": "response", "status": status, "model": "o4-mini-2025-04-16", "error": None,
        "incomplete_details": {"reason": why} if why else None, "output": output,
        "usage": {"input_tokens": 20, "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 5}},
        **more,
    }  # fmt: skip
    return sends(200, json.dumps(body))


def test_the_interface_responses() -> None:
    with serving(lambda asked: response(PAIR)) as endpoint:
        model = load(endpoint.url, "o4-mini", api="responses", system="Be brief.", reasoning_effort="high")
        assert answer(model.predict([query()])) == MEAN
        (asked,) = endpoint.asked
        assert asked.path == "/v1/responses"
        assert sent(asked.body) == {"store": False, "reasoning": {"effort": "high"}}
        assert [turn["role"] for turn in asked.body["input"]] == ["system", "user"]
        assert (model.usage["tokens_in"], model.usage["tokens_out"]) == (20, 9)
        assert "o4-mini-2025-04-16" in str(model.usage)
        assert "api=responses" in model.fingerprint
        plain = load(endpoint.url, "gpt-4.1", api="responses")
        assert answer(plain.predict([query()])) == MEAN
        assert sent(endpoint.asked[-1].body) == {"store": False, "temperature": 0.0, "max_output_tokens": 256}


REFUSAL = {"type": "message", "content": [{"type": "refusal", "refusal": "I can't help with that."}]}
CALL = {"type": "function_call", "name": "search", "arguments": "{}"}


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (response(None, status="incomplete", why="max_output_tokens"), CUT_OFF),
        (response(None, status="incomplete", why="content_filter"), "endpoint: refused by its filter"),
        (response(None), "endpoint: no text but in 'reasoning'"),
        (response(""), "endpoint: no text but in 'reasoning'"),
        (response(None, output=[REFUSAL]), "endpoint: refused by its filter"),
        (response(None, output=[CALL]), "endpoint: no text but in 'tool_calls'"),
        (response(None, output=[]), "endpoint: unreadable reply"),
        (response(None, status="failed", error={"code": "server_error", "message": "no"}), "endpoint: 500"),
        (sends(200, completion(PAIR)), None),
    ],
)
def test_what_a_response_may_hold_besides(act: Act, reason: str | None) -> None:
    def script(asked: Asked) -> Act:
        return response(PAIR) if "+ 2" in json.dumps(asked.body) else act

    with serving(script) as endpoint:
        model = load(endpoint.url, "o4-mini", api="responses")
        first, second = model.predict([query(number=2), query(number=1)])
        assert answer([first]) == MEAN
        assert answer([second]) == (reason or MEAN)


def message(finish: str = "stop", **fields: Any) -> Act:
    body = json.loads(completion("", finish=finish))
    body["choices"][0]["message"] = {"role": "assistant", **fields}
    return sends(200, json.dumps(body))


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("act", "reason", "requests"),
    [
        (message(content=None, refusal="I can't help with that."), "endpoint: refused by its filter", 1),
        (message("content_filter", content="[a"), "endpoint: refused by its filter", 1),
        (message("length", content=""), CUT_OFF, 1),
        (message("length", content=None, reasoning_content="Let me see"), CUT_OFF, 1),
        (message(content=""), "no readable answer", 1),
        (message(content=None), "endpoint: unreadable reply", 2),
        (message("tool_calls", content=None, tool_calls=[CALL]), "endpoint: no text but in 'tool_calls'", 1),
        (
            message("function_call", content=None, function_call=CALL),
            "endpoint: no text but in 'function_call'",
            1,
        ),
        (message("tool_calls", content=PAIR, tool_calls=[CALL]), None, 1),
        (message("eos", content=PAIR), None, 1),
    ],
)
def test_what_a_chat_may_hold_besides_a_text(act: Act, reason: str | None, requests: int) -> None:
    def script(asked: Asked) -> Act:
        return says(PAIR) if "+ 2" in asked.text else act

    with serving(script) as endpoint:
        model = load(endpoint.url)
        assert answer(model.predict([query(number=2)])) == MEAN
        assert answer(model.predict([query(number=1)])) == (reason or MEAN)
        assert len(endpoint.asked) - 1 == requests, "what would come again is not paid for twice"


def test_thinking_that_uses_up_the_limit_is_told_with_the_flag() -> None:
    with serving(lambda asked: message("length", content="")) as endpoint:
        model = load(endpoint.url, "o4-mini", max_tokens="8", unreadable="3")
        asked = [query(number=n) for n in range(6)]
        with pytest.raises(ModelError, match="a larger -M max_tokens leaves more room"):
            model.predict(asked)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize(
    ("task", "value", "wanted", "found"),
    [
        ("function-name", "compute_mean", {"type": "string"}, MEAN),
        ("error-detection", "buggy", {"type": "string", "enum": ["buggy", "clean"]}, "buggy"),
        ("throughput", 2.5, {"type": "number"}, 2.5),
        ("output-prediction", "{'answer': 3}", {"type": "string"}, "{'answer': 3}"),
        ("derivative", "true", {"type": "string", "enum": ["false", "true"]}, "true"),
    ],
)
def test_structured_output(api: str, task: str, value: object, wanted: object, found: object) -> None:
    text = json.dumps({"answer": value})
    with serving(lambda asked: response(text) if api == "responses" else says(text)) as endpoint:
        model = load(endpoint.url, api=api, structured="true")
        (prediction,) = model.predict([query(task)])
        assert isinstance(prediction, Predicted)
        assert prediction.answer == found
        assert prediction.replies[0].text == text, "the reply is kept as it came"
        body = endpoint.asked[0].body
        about = body["text"]["format"] if api == "responses" else body["response_format"]["json_schema"]
        assert about["schema"]["properties"] == {"answer": wanted}
        assert about["strict"] is True
        assert "structured=true" in model.fingerprint
        thinking = load(endpoint.url, api=api, structured="true", prompt="reasoning")
        thinking.predict([query(task)])
        body = endpoint.asked[-1].body
        about = body["text"]["format"] if api == "responses" else body["response_format"]["json_schema"]
        assert list(about["schema"]["properties"]) == ["thoughts", "answer"]


def test_a_server_without_structured_output() -> None:
    with serving(lambda asked: says(PAIR)) as endpoint:
        assert answer(load(endpoint.url, structured="true").predict([query()])) == MEAN, (
            "it ignores the field"
        )

    def script(asked: Asked) -> Act:
        text = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
        return refuses(400, text, param="response_format")

    with serving(script) as endpoint, pytest.raises(ModelError, match="leave out -M structured"):
        load(endpoint.url, structured="true").predict([query()])


def lead(first: float, second: float) -> list[dict[str, Any]]:
    """Log-probabilities of a reply of two tokens: the first one is sure, the second one leads by a little."""
    sure = [{"token": "[", "logprob": -0.01}, {"token": "`", "logprob": -5.0}]
    close = [{"token": "compute", "logprob": first}, {"token": "get", "logprob": second}]
    return [{**top[0], "top_logprobs": top} for top in (sure, close)]


def with_lead(api: str, text: str, first: float, second: float) -> Act:
    tokens = lead(first, second)
    if api == "responses":
        part = {"type": "output_text", "text": text, "logprobs": tokens}
        return response(None, output=[{"type": "message", "content": [part]}])
    body = json.loads(completion(text))
    if api == "chat":
        body["choices"][0]["logprobs"] = {"content": tokens}
    else:
        body["choices"][0]["logprobs"] = {
            "tokens": [token["token"] for token in tokens],
            "token_logprobs": [token["logprob"] for token in tokens],
            "top_logprobs": [
                {top["token"]: top["logprob"] for top in token["top_logprobs"]} for token in tokens
            ],
        }
    return sends(200, json.dumps(body))


@pytest.mark.parametrize("api", ["chat", "completions", "responses"])
def test_log_probabilities_give_a_margin_and_scores(api: str) -> None:
    with serving(lambda asked: with_lead(api, PAIR, -0.6, -0.85)) as endpoint:
        model = load(endpoint.url, api=api, logprobs="true", noise="0.02")
        (prediction,) = model.predict([query()])
        assert isinstance(prediction, Predicted)
        assert prediction.answer == MEAN
        assert prediction.margin == pytest.approx(0.25)
        assert dict(prediction.scores) == {"[": -0.01, "`": -5.0}
        assert model.noise == 0.02
        assert "logprobs=5" in model.fingerprint
        body = endpoint.asked[0].body
        wanted = {
            "chat": ("logprobs", True),
            "completions": ("logprobs", 5),
            "responses": ("top_logprobs", 5),
        }
        assert body[wanted[api][0]] == wanted[api][1]
        if api == "responses":
            assert body["include"] == ["message.output_text.logprobs"]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "logprobs",
    [None, {}, {"content": None}, {"content": []}, {"content": [{"token": "[", "logprob": None}]}, [1], "x",
     {"content": [{"token": "[", "logprob": -0.1, "top_logprobs": []}]},
     {"content": [{"token": 1, "logprob": "a", "top_logprobs": [{"token": None}, 3]}]}],
)  # fmt: skip
def test_an_answer_without_log_probabilities_is_an_answer(logprobs: object) -> None:
    body = json.loads(completion(PAIR))
    body["choices"][0]["logprobs"] = logprobs
    with serving(lambda asked: sends(200, json.dumps(body))) as endpoint:
        (prediction,) = load(endpoint.url, logprobs="true").predict([query()])
        assert isinstance(prediction, Predicted)
        assert prediction.margin is None


@pytest.mark.slow
def test_a_flip_within_the_noise_is_no_verdict_and_a_clear_one_is_a_violation() -> None:
    def script(asked: Asked) -> Act:
        changed = "alpha" not in asked.text
        near = "+ 1" in asked.text
        lead = 0.05 if near else 3.0
        return with_lead("chat", "[other_name] [o]" if changed else "[first_name] [f]", -0.1, -0.1 - lead)

    sources = [
        f"def f{n}(alpha, beta):\n    one = alpha + {n}\n    two = beta * alpha\n    return one - two\n"
        for n in (1, 2, 3)
    ]
    with serving(script) as endpoint:
        options: dict[str, Any] = {
            "corpus": sources, "transforms": "rename-parameters", "controls": False, "workers": 1,
            "base_url": endpoint.url,
        }  # fmt: skip
        strict_run = codeaudit.run("openai/a", model_arguments={"logprobs": True}, out="strict", **options)
        run = codeaudit.run(
            "openai/a", model_arguments={"logprobs": True, "noise": 0.01}, out="noisy", **options
        )
    (every,) = strict_run.summary.models
    (model,) = run.summary.models
    assert every.unjudged == 0
    assert model.unjudged_reasons == {"numeric noise": model.unjudged}
    assert 0 < model.unjudged < every.pairs.count
    assert model.pairs.count == every.pairs.count - model.unjudged


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"logprobs": "true", "stream": "true"}, "-M logprobs does not go with -M stream"),
        ({"api": "embeddings", "batch": "true"}, "-M batch has no effect on embeddings"),
        ({"noise": "0.1"}, "-M noise needs -M logprobs=true"),
        ({"api": "responses", "seed": "3"}, "-M seed: the interface `responses` has no seed"),
        ({"api": "responses", "stream": "true"}, "-M stream does not go with -M api=responses"),
        ({"api": "responses", "tokens_field": "max_tokens"}, "-M tokens_field does not go with"),
        ({"api": "completions", "structured": "true"}, "-M structured goes with chats only"),
        ({"reasoning_effort": "much"}, "must be one of: none, minimal, low, medium, high, xhigh"),
        ({"extra_body": '{"store": true}'}, "-M extra_body cannot set store"),
    ],
)
def test_arguments_that_do_not_go_together_are_told_before_anything_is_asked(
    given: dict[str, str], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        load("http://127.0.0.1:9/v1", **given)
