"""Structured output (`-M structured=true`): the reply must be a JSON object with the answer in it."""

import json
from collections.abc import Mapping
from typing import Any, Final

from codeaudit.audit.interface import OneLabel, OneNumber, OneWordOf, Ranking
from codeaudit.audit.prompts import Prompt, thinks
from codeaudit.audit.records import Query
from codeaudit.audit.registry import answer_kind

ANSWER: Final = "answer"


def structured(prompt: Prompt, query: Query, *, flat: bool) -> dict[str, object]:
    """The field of a request that asks for the object; `flat` as the interface `responses` has it."""
    # In this order, because a model writes the object from its beginning.
    members: dict[str, object] = {"thoughts": {"type": "string"}} if thinks(prompt) else {}
    members[ANSWER] = _answer(query)
    schema = {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }
    about: dict[str, Any] = {"name": ANSWER, "strict": True, "schema": schema}
    if flat:
        return {"text": {"format": {"type": "json_schema", **about}}}
    return {"response_format": {"type": "json_schema", "json_schema": about}}


def _answer(query: Query) -> dict[str, object]:
    match answer_kind(query.task):
        case OneNumber():
            return {"type": "number"}
        case Ranking():
            return {"type": "integer"}
        case OneWordOf(words=words):
            return {"type": "string", "enum": list(words)}
        case OneLabel() if query.labels:
            return {"type": "string", "enum": list(query.labels)}
        case _:
            return {"type": "string"}


def answer_in(text: str) -> str | None:
    """The answer in such a reply; `None` if it is no such object, as of a server that ignores the field."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    answer = found.get(ANSWER) if isinstance(found, Mapping) else None
    if isinstance(answer, bool):
        return str(answer).lower()
    return str(answer) if isinstance(answer, str | int | float) else None
