"""Forms of replies of servers that call themselves OpenAI-compatible: each gives the text that the model said."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from codeaudit.audit.records import Failed, Predicted
from codeaudit.transforms.errors import ModelError
from tests.audit.models.test_openai import MEAN, PAIR, load, queries, query
from tests.support.endpoints import Act, completion, says, sends, serving


def message(content: object, **more: object) -> str:
    """A completion whose message has this content."""
    body = json.loads(completion(""))
    body["choices"][0]["message"] = {"role": "assistant", "content": content, **more}
    return json.dumps(body)


def streamed(
    *deltas: Mapping[str, Any], end: str = "data: [DONE]\n\n", line: str = "\n", **last: object
) -> str:
    """A completion as a stream of events."""
    chunks: list[dict[str, Any]] = [
        {"id": "1", "model": "tiny-1", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    if last:
        chunks.append({"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **last})
    text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + end
    return text.replace("\n", line)


def events(text: str, kind: str = "text/event-stream") -> Act:
    return sends(200, text, kind)


def parts(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


HALVES = (PAIR[:9], PAIR[9:])
HARMONY = "<|channel|>analysis<|message|>[wrong] [w]<|end|><|start|>assistant<|channel|>final<|message|>"
JSON = "application/json"
FORMS: dict[str, Act] = {
    "a text": says(PAIR),
    "a list of parts": sends(200, message(parts(*HALVES))),
    "a list of texts": sends(200, message(list(HALVES))),
    "one part": sends(200, message(parts(PAIR)[0])),
    "parts of output": sends(200, message([{"type": "output_text", "text": PAIR}])),
    "a part whose text is an object": sends(200, message([{"type": "text", "text": {"value": PAIR}}])),
    "parts with thoughts": sends(
        200, message([{"type": "thinking", "thinking": parts("[wrong] [w]")}, *parts(PAIR)])
    ),
    "thoughts beside the text": sends(200, message(PAIR, reasoning_content="[wrong] [w]")),
    "channels": says(f"{HARMONY}{PAIR}<|return|>"),
    "channels without an end": says(f"{HARMONY}{PAIR}"),
    "channels after a start": says(f"<|start|>assistant{HARMONY}{PAIR}<|return|>"),
    "a constrained channel": says(f"<|channel|>final <|constrain|>text<|message|>{PAIR}<|return|>"),
    "channels without their marks": says(f"analysisThe code adds.assistantfinal{PAIR}"),
    "other marks of thoughts": says(f"[THINK]It may be [wrong] [w].[/THINK]{PAIR}"),
    "marks of thoughts whose beginning the template has": says(f"It adds.<|END_THINKING|>{PAIR}"),
    "an end mark": says(f"{PAIR}<|im_end|>\n"),
    "two end marks": says(f"{PAIR}</s><|endoftext|>"),
    "JSON as text": sends(200, completion(PAIR), "text/plain"),
    "JSON behind a byte order mark": sends(200, "\ufeff" + completion(PAIR), "text/plain"),
    "JSON without a type": sends(200, completion(PAIR), ""),
    "a stream": events(streamed(*({"content": half} for half in HALVES), usage=None)),
    "a stream with a role, a comment and names": events(
        ": ping\n\nevent: message\nid: 1\n"
        + streamed({"role": "assistant", "content": None}, {"content": PAIR}, usage=None)
    ),
    "a stream that calls itself JSON": events(streamed({"content": PAIR}, usage=None), JSON),
    "a stream with other line ends": events(streamed({"content": PAIR}, line="\r\n", usage=None)),
    "a stream without blanks": events(streamed({"content": PAIR}, usage=None).replace("data: ", "data:")),
    "a stream without its last mark": events(streamed({"content": PAIR}, end="", usage=None)),
    "a stream without a reason for its end": events(streamed({"content": PAIR})),
    "a stream whose last event has no line end": events(streamed({"content": PAIR}, usage=None).rstrip()),
    "a stream of parts": events(streamed(*({"content": parts(half)} for half in HALVES), usage=None)),
    "a stream with thoughts": events(
        streamed({"reasoning": "[wro"}, {"reasoning": "ng] [w]"}, {"content": PAIR}, usage=None)
    ),
    "a stream with channels": events(streamed({"content": HARMONY}, {"content": PAIR}, usage=None)),
    "a stream of one whole message": events(f"data: {completion(PAIR)}\n\ndata: [DONE]\n\n"),
    "a stream with an event of usage alone": events(
        streamed({"content": PAIR}, usage=None, end="")
        + 'data: {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}\n\ndata: [DONE]\n\n'
    ),
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("form", FORMS)
def test_the_text_of_a_reply_is_found_in_every_form(form: str) -> None:
    with serving(lambda asked: FORMS[form]) as endpoint:
        model = load(endpoint.url)
        assert model.predict([query(0)]) == [MEAN]
    assert len(endpoint.asked) == 1
    assert model.usage["failed"] == {}


@pytest.mark.parametrize("form", ["a stream", "a text"])
def test_continued_texts_are_found_in_streams_too(form: str) -> None:
    text = completion(f" {PAIR}\n\nAnd so on")
    if form == "a stream":
        first = {"choices": [{"index": 0, "text": f" {PAIR[:9]}", "finish_reason": None}]}
        last = {"choices": [{"index": 0, "text": PAIR[9:], "finish_reason": "stop"}]}
        text = f"data: {json.dumps(first)}\n\ndata: {json.dumps(last)}\n\ndata: [DONE]\n\n"
    with serving(lambda asked: events(text)) as endpoint:
        assert load(endpoint.url, api="completions").predict([query(0)]) == [MEAN]


def test_the_usage_and_the_model_of_a_stream_are_counted() -> None:
    text = streamed({"content": PAIR}, usage={"prompt_tokens": 1000, "completion_tokens": 10})
    with serving(lambda asked: events(text)) as endpoint:
        model = load(endpoint.url, stream="true", price_in="1", price_out="2")
        model.predict([query(0)])
    assert endpoint.asked[0].body["stream"] is True
    assert (model.usage["tokens_in"], model.usage["tokens_out"]) == (1000, 10)
    assert model.usage["served"] == ["tiny-1"]
    assert (
        load("http://127.0.0.1:1/v1").fingerprint == load("http://127.0.0.1:1/v1", stream="true").fingerprint
    )


THOUGHTS: dict[str, tuple[Act, str]] = {
    "reasoning_content": (sends(200, message(None, reasoning_content=PAIR)), "'reasoning_content'"),
    "reasoning": (sends(200, message("", reasoning=PAIR)), "'reasoning'"),
    "a list of thoughts": (sends(200, message([{"type": "thinking", "thinking": PAIR}])), "'content'"),
    "details": (sends(200, message(None, reasoning_details=[{"text": PAIR}])), "'reasoning_details'"),
    "a channel": (says(f"<|channel|>analysis<|message|>{PAIR}<|end|>"), "'channel analysis'"),
    "marks": (says(f"[THINK]{PAIR}"), r"'\[THINK\]'"),
    "a stream": (events(streamed({"reasoning": PAIR}, usage=None)), "'reasoning'"),
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("form", THOUGHTS)
def test_thoughts_alone_are_no_answer_and_the_run_says_where_they_came(form: str) -> None:
    act, field = THOUGHTS[form]
    with serving(lambda asked: act) as endpoint:
        model = load(endpoint.url, unreadable="3", concurrency="1")
        with pytest.raises(ModelError, match=rf"no text but in {field}.*the model only thinks.*max_tokens"):
            model.predict(queries(9))
    assert len(endpoint.asked) == 3, "none is asked again"
    assert model.usage["tokens_out"] == (9 if form != "a stream" else 0), "they are paid for"


def test_thoughts_that_the_limit_on_tokens_ended_are_cut_off() -> None:
    body = json.loads(message(None, reasoning_content="It may"))
    body["choices"][0]["finish_reason"] = "length"
    with serving(lambda asked: sends(200, json.dumps(body))) as endpoint:
        assert load(endpoint.url).predict([query(0)]) == [Failed(reason="answer cut off by max_tokens")]


@pytest.mark.parametrize(
    "text",
    [
        streamed({"content": PAIR}, end=""),
        streamed({"content": PAIR}, end='data: {"error": {"message": "overloaded"}}\n\n'),
        streamed({"content": PAIR}, end="data: {\n\n"),
        "data: [DONE]\n\n",
    ],
    ids=["broken off", "an error", "no JSON", "nothing"],
)
def test_half_a_stream_is_no_reply(text: str) -> None:
    with serving(lambda asked: events(text) if asked.number == 1 else says(PAIR)) as endpoint:
        model = load(endpoint.url, concurrency="1")
        assert model.predict(queries(2)) == [MEAN, MEAN]
    assert len(endpoint.asked) == 3, "it is asked again"


@pytest.mark.parametrize("content", [[{"type": "refusal", "refusal": "I cannot"}], None])
def test_a_refusal_in_a_part_is_one(content: object) -> None:
    text = message(content, **({} if content else {"refusal": "I cannot"}))
    with serving(lambda asked: sends(200, text)) as endpoint:
        assert load(endpoint.url).predict([query(0)]) == [Failed(reason="endpoint: refused by its filter")]


def test_code_that_only_looks_like_marks_stays_as_it_is() -> None:
    code = '    mark = "<|channel|>final<|message|>"\n    return mark, "[THINK]"\n'
    with serving(lambda asked: says(code)) as endpoint:
        (prediction,) = load(endpoint.url).predict([query(1, "generation")])
    assert prediction == Predicted(answer=code)
