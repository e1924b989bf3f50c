"""Log-probabilities in a reply (`-M logprobs=true`): how far its tokens lead, and what could have begun it.

As for `hf/` models, the margin is the smallest lead of a written token over the likeliest other one, and the
scores are the log-probabilities of the first token. Servers put them into two shapes: a list of tokens with
their alternatives (chats, responses), and columns (completions).
"""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Final, NamedTuple, TypeAlias

from codeaudit.audit.checks import is_number

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
    """What the log-probabilities of a choice say; nothing if it has none, or no alternatives."""
    found = choice.get("logprobs")
    places = list(_places(found)) if isinstance(found, Mapping) else []
    if not places:
        return NO_LEAD
    gaps = [
        value - max(others)
        for token, value, likely in places
        if (others := [one for other, one in likely.items() if other != token])
    ]
    # One place without an alternative leaves the smallest lead unknown.
    margin = max(0.0, min(gaps)) if len(gaps) == len(places) else None
    return Lead(margin, tuple(sorted(places[0][2].items())))


def _places(found: Mapping[str, object]) -> Iterator[Place]:
    content = found.get("content")
    if isinstance(content, list):
        for one in content:
            if not isinstance(one, Mapping):
                return
            several = one.get("top_logprobs")
            pairs = (
                (top.get("token"), top.get("logprob"))
                for top in (several if isinstance(several, list) else [])
                if isinstance(top, Mapping)
            )
            yield from _place(one.get("token"), one.get("logprob"), pairs)
        return
    columns = [found.get(name) for name in ("tokens", "token_logprobs", "top_logprobs")]
    if all(isinstance(one, list) for one in columns):
        for token, value, likely in zip(*columns, strict=False):
            yield from _place(token, value, iter(likely.items()) if isinstance(likely, Mapping) else iter(()))


def _place(token: object, value: object, pairs: Iterator[tuple[object, object]]) -> Iterator[Place]:
    if isinstance(token, str) and (number := _number(value)) is not None:
        known = ((name, _number(one)) for name, one in pairs)
        likely = {name: one for name, one in known if isinstance(name, str) and one is not None}
        yield token, number, likely


def _number(value: object) -> float | None:
    number = float(value) if isinstance(value, int | float) and is_number(value) else None
    return number if number is not None and isfinite(number) else None
