"""Finds the text of a reply in what a server sends: one object, a stream of events, parts, channels.

Servers that call themselves OpenAI-compatible differ in this more than in anything else. Nothing here asks a
server, and nothing reads an answer out of the text: that is the prompt's (`codeaudit.audit.prompts`).
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, NamedTuple, TypeAlias

from codeaudit.audit.checks import is_number

THOUGHTS: Final = ("reasoning_content", "reasoning", "reasoning_details", "thinking")
"""Fields of a message beside `content` in which servers put what a model thought."""
CALLS: Final = ("tool_calls", "function_call")
"""Fields of a message with calls of tools, which no request offers."""
_TEXT: Final = (None, "text", "output_text")
"""The types of parts that are text of the reply. Others are thoughts, pictures and calls of tools."""

_CHANNEL: Final = re.compile(
    r"<\|channel\|>\s*(?P<name>\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
    r"(?P<text>.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL,
)
_CHANNELS: Final = re.compile(r"\s*(?:<\|start\|>\s*\w*\s*)?<\|channel\|>")
_BARE: Final = re.compile(r"\s*analysis(?=\S).*assistant\s*final", re.DOTALL)
"""The same where a server has dropped the marks and kept the names between them."""
_THINKING: Final = (
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("◁think▷", "◁/think▷"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
)
"""Marks around thoughts, by model family. `<think>` is read by the prompts, for all models of text."""
_END: Final = re.compile(
    r"(?:\s*(?:<\|(?:return|end|im_end|eot_id|eom_id|endoftext|end_of_text|END_RESPONSE)\|>"
    r"|</s>|<end_of_turn>))+\s*\Z"
)
_START: Final = re.compile(r"\A\s*<\|START_RESPONSE\|>")
_LINE: Final = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidText:
    """What a model said."""

    text: str | None
    """The text of the reply; `None` if there is none."""
    thought: str = ""
    """The field, or the channel, that holds a text of the reply though nothing else does."""
    refused: bool = False
    """Whether the reply is a refusal by a filter."""


def whole(body: object) -> object:
    """The completion in a reply's body: an object as it is, a stream of events as one object.

    Texts that are neither stay texts.
    """
    if not isinstance(body, str):
        return body
    text = body.lstrip("\ufeff \t\r\n")
    if text.startswith(("{", "[")):  # JSON that calls itself `text/plain`
        return _json(text, body)
    if not re.match(r"(?:data|event|id|retry)?:", text):
        return body
    return _joined(_events(text), body)


def choice_of(completion: object) -> Mapping[str, Any] | None:
    """The first answer of a completion; `None` if this is no completion of the protocol."""
    choices = completion.get("choices") if isinstance(completion, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else None


def text_of(choice: Mapping[str, Any], *, chat: bool) -> SaidText:
    """What the model said in an answer, without thoughts and without marks of its template."""
    message = choice.get("message")
    message = message if isinstance(message, Mapping) else {}
    if message.get("refusal"):
        return SaidText(text=None, refused=True)
    content = message.get("content") if chat else choice.get("text")
    if any(_type(part) == "refusal" for part in _parts(content)):
        return SaidText(text=None, refused=True)
    text = _text(content)
    if text:
        return _unmarked(text)
    thought = next((name for name in (*CALLS, *THOUGHTS) if message.get(name)), "")
    if not thought and any(_type(part) not in _TEXT for part in _parts(content)):
        thought = "content"
    return SaidText(text=text, thought=thought)


def _unmarked(text: str) -> SaidText:
    if _CHANNELS.match(text):
        channels = list(_CHANNEL.finditer(text))
        final = "".join(channel["text"] for channel in channels if channel["name"] == "final")
        names = [channel["name"] for channel in channels] or ["analysis"]
        return SaidText(text=final, thought="" if final else f"channel {names[-1]}")
    if bare := _BARE.match(text):
        return SaidText(text=text[bare.end() :])
    for begin, end in _THINKING:
        if end in text:
            text = text.rpartition(end)[2]
        elif text.lstrip().startswith(begin):
            return SaidText(text="", thought=begin)
    return SaidText(text=_END.sub("", _START.sub("", text)))


def _parts(content: object) -> list[object]:
    return content if isinstance(content, list) else [content]


def _type(part: object) -> object:
    return part.get("type") if isinstance(part, Mapping) else None


def _text(content: object) -> str | None:
    """The text of a content: a text, a part, or a list of both; `None` if no part of it is text."""
    texts = []
    for part in _parts(content):
        value = part
        if isinstance(part, Mapping) and _type(part) in _TEXT:
            value = part.get("text")
            value = value.get("value") if isinstance(value, Mapping) else value
        if isinstance(value, str):
            texts.append(value)
    return "".join(texts) if texts else None


# ── the interface `responses` ────────────────────────────────────────────────────────────────────────────

_ENDED: Final = {"max_output_tokens": "length", "content_filter": "content_filter"}
"""Why a response is incomplete, in the words of a chat."""


def of_responses(body: object) -> object:
    """A response of the interface `responses` as a completion of a chat; everything else as it is."""
    items = body.get("output") if isinstance(body, Mapping) else None
    if not isinstance(body, Mapping) or not isinstance(items, list):
        return body
    if body.get("status") == "failed" or body.get("error"):
        return {"error": body.get("error") or "the response failed"}
    parts: list[object] = []
    message: dict[str, object] = {}
    for item in items:
        kind = _type(item)
        if kind == "message":
            parts += _parts(item.get("content"))
        elif kind == "reasoning":
            message["reasoning"] = "reasoning"
        elif kind is not None:
            message["tool_calls"] = kind
    usage = body.get("usage")
    why = body.get("incomplete_details")
    ended = _ENDED.get(str(why.get("reason")) if isinstance(why, Mapping) else "", "stop")
    completion: dict[str, object] = {
        "model": body.get("model"),
        "choices": [
            {
                "message": {**message, "content": parts or None},
                "finish_reason": ended,
                "logprobs": {"content": [place for part in parts for place in _likely(part)]},
            }
        ],
    }
    if isinstance(usage, Mapping):
        completion["usage"] = {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
        }
    return completion


def _likely(part: object) -> list[object]:
    """The log-probabilities of a part of a response."""
    places = part.get("logprobs") if isinstance(part, Mapping) else None
    return places if isinstance(places, list) else []


# ── streams ──────────────────────────────────────────────────────────────────────────────────────────────


def _events(text: str) -> Iterator[str]:
    """The data of each event of a stream (WHATWG, Server-sent events)."""
    data: list[str] = []
    for line in (*_LINE.split(text), ""):
        name, _, value = line.partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


def _joined(events: Iterator[str], body: str) -> object:
    """All events as one completion. It has no answer if the stream broke off or is of another protocol."""
    completion: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    message: dict[str, Any] = {"content": []}
    done = False
    for data in events:
        if data.strip() == "[DONE]":
            done = True
            break
        event = _json(data, None)
        if not isinstance(event, Mapping):
            return body
        completion |= {
            name: event[name] for name in ("error", "model", "system_fingerprint") if event.get(name)
        }
        completion |= {"usage": event["usage"]} if event.get("usage") else {}
        if (piece := choice_of(event)) is None or piece.get("index", 0) != 0:
            continue
        _add(message, piece.get("delta") or piece.get("message"))
        if isinstance(piece.get("text"), str):
            choice["text"] = choice.get("text", "") + piece["text"]
        if piece.get("finish_reason"):
            choice["finish_reason"] = piece["finish_reason"]
    if not (done or "finish_reason" in choice):
        return {"error": completion["error"]} if "error" in completion else {"detail": "the stream broke off"}
    if "error" in completion or not (message["content"] or len(message) > 1 or choice):
        return completion or body
    if not message["content"]:
        message["content"] = None if len(message) > 1 else ""
    return {**completion, "choices": [{**choice, "message": message}]}


def _add(message: dict[str, Any], delta: object) -> None:
    """Add what one event brings to a message."""
    if not isinstance(delta, Mapping):
        return
    message["content"] += [part for part in _parts(delta.get("content")) if part is not None]
    for name in ("refusal", *THOUGHTS):
        if value := delta.get(name):
            before = message.get(name, "")
            message[name] = before + value if isinstance(before, str) and isinstance(value, str) else value


def _json(text: str, otherwise: object) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise


Place: TypeAlias = tuple[str, float, Mapping[str, float]]
"""A token that was written, its log-probability, and those of the likeliest tokens there."""


class Lead(NamedTuple):
    """What log-probabilities say of an answer."""

    margin: float | None = None
    """The smallest lead; `None` if a place has none."""
    scores: tuple[tuple[str, float], ...] = ()
    """Log-probabilities of the first token, sorted by token."""


NO_LEAD: Final = Lead()


def leads(choice: Mapping[str, object]) -> Lead:
    """What the log-probabilities of a choice say; nothing if it has none, or no alternatives.

    Servers put them into two shapes: a list of tokens with their alternatives (chats, responses), and columns
    (completions). As for `hf/` models, the margin is the smallest lead of a written token over the likeliest
    other one, and the scores are the log-probabilities of the first token.
    """
    logprobs = choice.get("logprobs")
    places = list(_places(logprobs)) if isinstance(logprobs, Mapping) else []
    if not places:
        return NO_LEAD
    gaps = [
        value - max(others)
        for token, value, likely in places
        if (others := [logprob for other, logprob in likely.items() if other != token])
    ]
    # One place without an alternative leaves the smallest lead unknown.
    margin = max(0.0, min(gaps)) if len(gaps) == len(places) else None
    return Lead(margin, tuple(sorted(places[0][2].items())))


def _places(logprobs: Mapping[str, object]) -> Iterator[Place]:
    content = logprobs.get("content")
    if isinstance(content, list):
        for place in content:
            if not isinstance(place, Mapping):
                return
            several = place.get("top_logprobs")
            pairs = (
                (top.get("token"), top.get("logprob"))
                for top in (several if isinstance(several, list) else [])
                if isinstance(top, Mapping)
            )
            yield from _place(place.get("token"), place.get("logprob"), pairs)
        return
    columns = [logprobs.get(name) for name in ("tokens", "token_logprobs", "top_logprobs")]
    if all(isinstance(column, list) for column in columns):
        for token, value, likely in zip(*columns, strict=False):
            yield from _place(token, value, iter(likely.items()) if isinstance(likely, Mapping) else iter(()))


def _place(token: object, value: object, pairs: Iterator[tuple[object, object]]) -> Iterator[Place]:
    if isinstance(token, str) and (number := _number(value)) is not None:
        known = ((name, _number(logprob)) for name, logprob in pairs)
        likely = {name: logprob for name, logprob in known if isinstance(name, str) and logprob is not None}
        yield token, number, likely


def _number(value: object) -> float | None:
    number = float(value) if isinstance(value, int | float) and is_number(value) else None
    return number if number is not None and isfinite(number) else None
