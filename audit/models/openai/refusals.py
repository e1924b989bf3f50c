"""Finds what a refusal says: the server's own words, and the field of the request that it rejects.

Every server has another form for that. The words are looked for in all of them.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

_WORDS: Final = (
    "message",
    "msg",
    "detail",
    "error",
    "errors",
    "error_description",
    "error_message",
    "errormessage",
    "description",
    "reason",
    "faultstring",
    "fault",
    "title",
    "details",
    "code",
    "type",
)
"""Names, in small letters, under which servers put their words: the plainest first."""
_PLACES: Final = ("param", "parameter", "field", "loc", "path", "pointer", "property", "argument")
"""Names under which they put the rejected field."""
_BODY: Final = ("body", "$", "query")
SYSTEM: Final = "system"
"""How the system turn of a request is called where the fields of a request are."""
_OF_SYSTEM: Final = re.compile(r"\bsystem\b.{0,20}\b(?:role|message|prompt|instruction|turn)", re.I)
_QUOTED: Final = re.compile(r"[`'\"“‘]([\w.]+)[`'\"”’]")
_PLAIN: Final = ("temperature", "seed", "stream", "logprobs")
"""Fields whose names are no words of other sentences."""
_DEEPEST: Final = 8
_MOST: Final = 3
"""Largest number of messages that a refusal shows."""
CHAT: Final = "chat"
"""The same for the chat itself, where a model has no template for one."""
_OF_CHAT: Final = re.compile(r"chat[ _]template|template not found", re.I)
_SIZE: Final = re.compile(r"\bcontext|\bprompt\b|too long|messages|inputs?\W* (?:tokens|length)", re.I)
_EXCEEDED: Final = re.compile(r"context (?:size|length|window).{0,40}exceeded|exceeds .{0,40}context", re.I)
_LOADING: Final = re.compile(r"\bloading\b.{0,20}\bmodel\b|\bmodel\b.{0,20}\bloading\b", re.I)
_UNLOADABLE: Final = re.compile(
    r"requires more (?:system )?memory|runner process (?:has terminated|no longer running)"
    r"|(?:failed|unable|error)(?: to)? load(?:ing)?\b.{0,20}\bmodel|insufficient system resources",
    re.I,
)


def server_words(body: object, depth: int = 0) -> str:
    """The server's words in the body of a refusal; empty if there are none, or if it is a web page."""
    if depth > _DEEPEST:
        return ""
    if isinstance(body, Mapping):
        return _of_mapping(body, depth)
    if isinstance(body, list):
        texts = list(dict.fromkeys(filter(None, (server_words(part, depth + 1) for part in body))))
        return "; ".join(texts[:_MOST])
    text = str(body).strip() if isinstance(body, str | int | float) and not isinstance(body, bool) else ""
    if text.startswith(("{", "[")):  # a proxy hands on the refusal of the server behind it as a text
        inner = _json(text)
        return text if inner is None else server_words(inner, depth + 1)
    return "" if is_page(text) else text


def _of_mapping(body: Mapping[str, object], depth: int) -> str:
    by_name = {str(name).lower(): value for name, value in body.items()}
    for name in _WORDS:
        value = by_name.get(name)
        if isinstance(value, Mapping) and name == "errors":  # {"seed": ["Unknown field."]}
            value = [
                f"{key}: {words}" for key, fault in value.items() if (words := server_words(fault, depth + 1))
            ]
        if text := server_words(value, depth + 1):
            places = [
                place for place in _places(by_name.get("loc")) if place not in _BODY and not place.isdecimal()
            ]
            return f"{'.'.join(places)}: {text}" if places else text
    return ""


_STATUSES: Final[Mapping[int, re.Pattern[str]]] = {
    401: re.compile(r"api.?key|authenti|unauthorized", re.I),
    402: re.compile(r"insufficient.?quota|credit|billing|payment", re.I),
    429: re.compile(r"rate.?limit|too many requests", re.I),
    500: re.compile(r"(?:server|internal).?error", re.I),
    503: re.compile(r"overload|unavailable|try again|time.?out|timed out|capacity", re.I),
}
"""What the words of an error without a status mean."""


def status_in(fault: Mapping[str, object], words: str) -> int:
    """The status that an error under status 200 stands for: that in it, else by its words, else 400."""
    for name in ("code", "status", "http_code", "status_code"):
        text = str(fault.get(name, ""))
        if len(text) == 3 and text.isdecimal() and text[0] in "45":
            return int(text)
    message = " ".join((words, str(fault.get("type", "")), str(fault.get("code", ""))))
    return next((status for status, pattern in _STATUSES.items() if pattern.search(message)), 400)


def is_page(text: str) -> bool:
    """Whether a body is a web page."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def rejected(body: object, words: str, sent: Collection[str]) -> str:
    """The field of the request that a refusal rejects, one of `sent`; empty if it names none.

    What a server names by a field of its own counts first, then a quoted word, then any word.
    """
    for place in _named(body):
        for part in re.split(r"[.\[\]/]+", place):
            if part in sent:
                return part
    for quoted in _QUOTED.finditer(words):
        if quoted[1] in sent:
            return str(quoted[1])
    if SYSTEM in sent and _OF_SYSTEM.search(words):
        return SYSTEM
    if CHAT in sent and _OF_CHAT.search(words):
        return CHAT
    # `model` and the like are words of any sentence.
    bare = [
        word for word in re.findall(r"\w+", words.lower()) if word in sent and ("_" in word or word in _PLAIN)
    ]
    return bare[0] if bare else ""


def is_of_size(words: str) -> bool:
    """Whether a refusal may be of one long query alone."""
    return _SIZE.search(words) is not None


def exceeds(words: str) -> bool:
    """Whether a server failed because a query does not fit its context: llama.cpp says that with 500."""
    return _EXCEEDED.search(words) is not None


def is_loading(words: str) -> bool:
    """Whether a server is not ready because it still loads its model."""
    return _LOADING.search(words) is not None


def is_unloadable(words: str) -> bool:
    """Whether a server has no memory for its model, or its model's process has ended."""
    return _UNLOADABLE.search(words) is not None


def _named(body: object, depth: int = 0) -> Iterator[str]:
    """All places in the request that a body names."""
    if depth > _DEEPEST:
        return
    if isinstance(body, Mapping):
        for name, value in body.items():
            if str(name).lower() in _PLACES:
                yield from _places(value)
            elif str(name).lower() == "errors" and isinstance(value, Mapping):
                yield from map(str, value)
        for value in body.values():
            yield from _named(value, depth + 1)
    elif isinstance(body, list):
        for value in body:
            yield from _named(value, depth + 1)
    elif isinstance(body, str) and body.lstrip().startswith(("{", "[")):
        yield from _named(_json(body), depth + 1)


def _places(value: object) -> list[str]:
    several = value if isinstance(value, list) else [value]
    return [str(place) for place in several if isinstance(place, str | int)]


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
