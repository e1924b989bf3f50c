"""`fake/NAME`: models that answer without understanding, for dry runs, rehearsals and tests.

`constant`, `hash` and `length` answer in the form of the task. The others fail as real models do: `noisy`
gives another answer now and then, `chatty` wraps its answers into prose, `reasoning` thinks first and is
sometimes cut off. Their answer depends on the canonical form of the code. So renaming and reordering never
change it, and controls do.

No fake solves a problem. Where a task asks only whether an answer passes, as generation, repair and input
prediction do, every answer fails, so none of them ever counts as another one.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeAlias

from typing_extensions import override

from codeaudit.audit.interface import BaseModel, FreeText, NameOfCode, OneLabel, OneNumber, OneWordOf, Ranking
from codeaudit.audit.models.provider import Provider, Settings
from codeaudit.audit.models.text_models import Prompts, named, shown_prompt, with_prompt
from codeaudit.audit.models.wrappers import canonical_query
from codeaudit.audit.prompts import PLAIN
from codeaudit.audit.records import CUT_OFF, Answer, Failed, Predicted, Prediction, Query, RawReply, Repeat
from codeaudit.audit.registry import answer_kind
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.seeding import stream


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeModel(BaseModel):
    """A pure function of the query. It fits every task whose answers are texts or numbers."""

    name: str
    answer: Callable[[Query], Answer]
    speech: "Speech | None" = None
    """How it puts its answers into words; `None`: it gives them as they are."""
    decided: str = ""
    """What else decides its answers, for the fingerprint."""
    task: None = None
    parameters: int | None = 0
    noise: float = 0.0
    prompts: Prompts = field(default_factory=Prompts)
    """How its replies are read."""
    prompt: str = ""
    """What the prompt is called that the user named; empty without one."""

    @property
    def fingerprint(self) -> str:
        """Its name, and what else decides its answers."""
        parts = [self.decided] if self.decided else []
        if self.prompt:
            parts.append(f"prompts={self.prompts.digest}")
        return f"{self.name}?{'&'.join(parts)}" if parts else self.name

    @override
    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One answer per query."""
        return [self._predicted(query) for query in queries]

    def _predicted(self, query: Query) -> Prediction:
        answer = self.answer(query)
        if self.speech is None:
            return Predicted(answer=answer)
        text, cut = self.speech(query, answer)
        prediction = self.prompts.of(query).read(text, cut=cut)
        if cut and isinstance(prediction, Failed):
            return Failed(reason=CUT_OFF, replies=(RawReply(text, CUT_OFF),))
        return prediction


Speech: TypeAlias = Callable[[Query, Answer], tuple[str, bool]]
"""(query, answer) -> the reply, and whether a limit on its length cut it."""


def _answer(query: Query, *, number: float, place: int, text: str) -> Answer:
    """The number, the word at this place, or the text, whichever the query's task takes."""
    match answer_kind(query.task):
        case OneNumber():
            return number
        case OneWordOf(words=words):
            return words[place % len(words)]
        case OneLabel():
            return query.labels[place % len(query.labels)] if query.labels else text
        case Ranking():
            # All of them, so that the rank of the right one shows every change.
            every = len(query.candidates)
            return tuple(str(1 + (place + turn) % every) for turn in range(every)) or "1"
        case _:
            return text


def _constant(query: Query) -> Answer:
    return _answer(query, number=1.0, place=0, text="get_value")


def _hash(query: Query) -> Answer:
    """A word, a number or four made-up words that depend on every character of the source."""
    return _hashed(query, _texts(query))


def _hashed(query: Query, text: str) -> Answer:
    """The same, of another text."""
    # A source may hold lone surrogates, which UTF-8 refuses.
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    letters = "".join(chr(ord("a") + byte % 26) for byte in digest[:16])
    return _answer(
        query,
        # From 1 to 2, because a relative error needs a number above 0.
        number=1 + int.from_bytes(digest[:4], "big") / 2**32,
        place=digest[0],
        text="_".join(letters[start : start + 4] for start in range(0, 16, 4)),
    )


def _length(query: Query) -> Answer:
    lines, size = _texts(query).count("\n") + 1, len(_texts(query))
    return _answer(query, number=lines + size / 1e6, place=size, text=f"lines_{lines}_characters_{size}")


_OPERATOR: Final = re.compile(r"[^\w\s]")
_WORD: Final = re.compile(r"\w+")


def _steady(query: Query) -> Answer:
    """A word, a number or a text that depends on the canonical form of the source.

    A source without one counts by its operators and by how many words it has, in any order.
    """
    form = canonical_query(query)
    if isinstance(form, Query):
        return _hash(form)
    words = len(_WORD.findall(_texts(query)))
    return _hashed(query, "".join(sorted(_OPERATOR.findall(_texts(query)))) + str(words))


def _hash_of_all(words: str, query: Query) -> Answer:
    """An answer that depends on every character of the source and of the prompt."""
    return _hash(replace(query, source=query.source + words))


def _texts(query: Query) -> str:
    """All texts of a query, one after the other."""
    return "\0".join(query.units)


def _noisy(share: float, words: str, query: Query) -> Answer:
    """Another answer for this share of the requests. Equal requests are drawn anew when they are repeated, or
    put into other words."""
    repeat = (query.bucket, query.number) if isinstance(query, Repeat) else ()
    chance = stream(0, _texts(query), f"fake/noisy:{query.task}:{repeat}{words}")
    if chance.random() >= share:
        return _steady(query)
    return _hashed(query, str(chance.random()))


def _reply(query: Query, answer: Answer) -> str:
    """The answer in the form that the task's prompt asks for."""
    if isinstance(answer, tuple):
        return ", ".join(map(str, answer))
    is_name = isinstance(answer_kind(query.task), NameOfCode)
    return f"[{answer}] [{str(answer)[:3]}]" if is_name else str(answer)


_PROSE: Final = (
    "Sure! Here is my answer:\n\n{}",
    "I looked at the code, and it is fairly clear. My answer:\n\n**{}**",
    "{}\n",
    "Let me think about what this code does. It takes its arguments, works on them and returns.\n\n"
    "Final answer: {}",
    "```\n{}\n```",
)
"""Around the answers of a model that likes to talk."""
_CUT: Final = 20
"""One reply in this many is cut off while the model still thinks."""


def _chatty(query: Query, answer: Answer) -> tuple[str, bool]:
    # Where any text is an answer, the prose may be read as part of it, and an edit must not change it either.
    by = str(answer) if isinstance(answer_kind(query.task), FreeText) else _texts(query)
    return stream(0, by, "fake/chatty").choice(_PROSE).format(_reply(query, answer)), False


def _reasoning(query: Query, answer: Answer) -> tuple[str, bool]:
    thought = f"<think>\nThe code has {_texts(query).count(chr(10)) + 1} lines. What do they do?\n"
    if stream(0, _texts(query), "fake/reasoning").randrange(_CUT) == 0:
        return thought, True
    return f"{thought}That settles it.\n</think>\n\n{_reply(query, answer)}", False


FAKES: Final[Mapping[str, Callable[[Query], Answer]]] = {
    "constant": _constant,
    "length": _length,
    "chatty": _steady,
    "reasoning": _steady,
}
SPEECHES: Final[Mapping[str, Speech]] = {"chatty": _chatty, "reasoning": _reasoning}
COUNTED: Final = "by=canonical-forms"
"""What the steady fakes go by, for their fingerprints: earlier ones counted words, or left out candidates."""
DECIDED: Final = {
    "noisy": f"p={{:g}}&{COUNTED}",
    "chatty": f"{COUNTED}&prose=by-answer",
    "reasoning": COUNTED,
}
"""What else decides the answers of those that rehearse; the field is the share of noise."""
NOISE: Final = 0.05
"""The default share of other answers."""


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(f"-M p={text} must be a number from 0 to 1")
    return value


def load(name: str, settings: Settings) -> FakeModel:
    """The fake of that name, which exists (the catalogue has checked it)."""
    text = str(settings.arguments.get("prompt", ""))
    prompts, prompt = named(text), shown_prompt(text)
    # In the task's own words as without a prompt.
    words = "" if text in ("", PLAIN) else prompts.digest
    share = float(settings.arguments.get("p", NOISE))
    by_name = {"noisy": partial(_noisy, share, words), "hash": partial(_hash_of_all, words)}
    return FakeModel(
        name=with_prompt(f"fake/{name}", prompt),
        answer=by_name.get(name) or FAKES[name],
        speech=SPEECHES.get(name),
        decided=DECIDED[name].format(share) if name in DECIDED else "",
        prompts=prompts,
        prompt=prompt,
    )


PROVIDER: Final = Provider(
    form="fake/NAME",
    summary="answers without understanding",
    load=load,
    names={
        "constant": "always the same answer: never flips, and sees no control either",
        "hash": "an answer that depends on every character, of the prompt too: always flips",
        "length": "an answer by the number of lines and characters",
        "noisy": "steady under edits, but another answer for a share -M p=P of all requests (0.05)",
        "chatty": "steady under edits, with prose around its answers",
        "reasoning": "steady under edits; it thinks first, and one reply in twenty is cut off",
    },
    arguments={"p": _share, "prompt": str},
)
