"""Embeddings in a reply (`-M api=embeddings`), and how near two of them are."""

from collections.abc import Mapping, Sequence
from math import hypot
from operator import mul

from codeaudit.audit.checks import is_number, is_whole


def vectors_in(reply: object) -> list[list[float]] | None:
    """The vectors of a reply by their indices, all of one length; `None` if it has no such list."""
    rows = reply.get("data") if isinstance(reply, Mapping) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return None
    # Servers may answer in any order. One that gives no indices keeps that of the texts.
    found: dict[object, list[float]] = {}
    for place, row in enumerate(rows):
        vector, index = row.get("embedding"), row.get("index", place)
        if not (isinstance(vector, list) and all(map(is_number, vector)) and any(vector) and is_whole(index)):
            return None
        found[index] = list(map(float, vector))
    sizes = set(map(len, found.values()))
    return (
        [found[place] for place in range(len(rows))]
        if found.keys() == set(range(len(rows))) and len(sizes) < 2
        else None
    )


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors, none of which is zero."""
    return float(sum(map(mul, one, other))) / (hypot(*one) * hypot(*other))
