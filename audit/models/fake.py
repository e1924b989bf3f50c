"""`fake/NAME`: models that answer without understanding, for dry runs and tests."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from codeaudit.audit.interface import OneLabel, OneNumber, OneWordOf
from codeaudit.audit.models.provider import Provider, Settings
from codeaudit.audit.records import Answer, Predicted, Prediction, Query
from codeaudit.audit.registry import answer_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeModel:
    """A pure function of the query. It fits every task whose answers are texts or numbers."""

    name: str
    answer: Callable[[Query], Answer]
    task: None = None
    parameters: int | None = 0
    noise: float = 0.0

    @property
    def fingerprint(self) -> str:
        """Its name: nothing else decides its answers."""
        return self.name

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One answer per query."""
        return [Predicted(answer=self.answer(query)) for query in queries]


def _answer(query: Query, *, number: float, place: int, text: str) -> Answer:
    """The number, the word at this place, or the text, whichever the query's task takes."""
    match answer_kind(query.task):
        case OneNumber():
            return number
        case OneWordOf(words=words):
            return words[place % len(words)]
        case OneLabel():
            return query.labels[place % len(query.labels)] if query.labels else text
        case _:
            return text


def _constant(query: Query) -> Answer:
    return _answer(query, number=1.0, place=0, text="get_value")


def _hash(query: Query) -> Answer:
    """A word, a number or four made-up words that depend on every character of the source."""
    # A source may hold lone surrogates, which UTF-8 refuses.
    digest = hashlib.sha256(query.source.encode("utf-8", "surrogatepass")).digest()
    letters = "".join(chr(ord("a") + byte % 26) for byte in digest[:16])
    return _answer(
        query,
        # From 1 to 2, because a relative error needs a number above 0.
        number=1 + int.from_bytes(digest[:4], "big") / 2**32,
        place=digest[0],
        text="_".join(letters[start : start + 4] for start in range(0, 16, 4)),
    )


def _length(query: Query) -> Answer:
    lines, size = query.source.count("\n") + 1, len(query.source)
    return _answer(query, number=lines + size / 1e6, place=size, text=f"lines_{lines}_characters_{size}")


FAKES: Final[Mapping[str, Callable[[Query], Answer]]] = {
    "constant": _constant,
    "hash": _hash,
    "length": _length,
}


def load(name: str, settings: Settings) -> FakeModel:
    """The fake of that name, which exists (the catalogue has checked it)."""
    return FakeModel(name=f"fake/{name}", answer=FAKES[name])


PROVIDER: Final = Provider(
    form="fake/NAME",
    summary="answers without understanding",
    load=load,
    names={
        "constant": "always the same answer: never flips, and sees no control either",
        "hash": "an answer that depends on every character: always flips",
        "length": "an answer by the number of lines and characters",
    },
)
