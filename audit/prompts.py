"""What models of text are asked about a sample, and how their replies are read.

A task owns its prompt (`Task.prompt`); the adapters of endpoints and of Hugging Face models use it
(`codeaudit.audit.models.text_models`). There are two kinds:

- `QuestionPrompt`: the reply states an answer. It is read by the table of forms in `codeaudit.audit.replies`:
  exactly one candidate, or no readable answer, because nothing is guessed.
- `ContinuationPrompt`: the reply continues the source and is the answer as a whole; the task says which
  part of it is code. A model without a chat template continues the source alone.
"""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from codeaudit.audit.records import Predicted, Prediction, Query, RawReply, kept_reply, malformed
from codeaudit.audit.replies import AnswerShape, read, without_thoughts
from codeaudit.audit.replies import ReplyReader as ReplyReader
from codeaudit.transforms.language import find_language

VERSION: Final = 3
"""Of the readers of replies; part of every digest, because another reader finds other answers."""

CODE: Final = "{code}"
"""In a template: the source in a fence that no line of it closes."""
SOURCE: Final = "{source}"
"""In a template: the source as it is."""
LANGUAGE: Final = "{language}"
"""In a template: the language by its name for people."""
_PLACES: Final = re.compile("|".join(map(re.escape, (CODE, SOURCE, LANGUAGE))))

WHOLE: Final = "whole"
"""How a reply is read that is an answer as a whole."""

Role: TypeAlias = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prompt(ABC):
    """A template with an optional system turn."""

    template: str
    """The user's turn, with the places `{source}` or `{code}`, and `{language}`."""
    system: str | None = None
    """The turn before it, if any."""
    usual: int | None = None
    """Tokens of a usual reply, for estimates; `None` if it is as long as the label."""

    def messages(self, query: Query) -> tuple[Message, ...]:
        """The chat that asks a query."""
        user = Message("user", filled(self.template, query))
        return (user,) if self.system is None else (Message("system", self.system), user)

    def text(self, query: Query) -> str:
        """The same for a model without chats, which continues a text: it ends where the answer begins."""
        return "\n\n".join([*(message.content for message in self.messages(query)), "Answer:"])

    @abstractmethod
    def read(self, text: str, *, cut: bool = False) -> Prediction:
        """The answer in a reply, or `Failed('no readable answer')`; both with the reply as it came.

        `cut` says that a limit on its length ended the reply.
        """

    @property
    @abstractmethod
    def digest(self) -> str:
        """A hash of the prompt's text and of how replies are read, for fingerprints of models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPrompt(_Prompt):
    """Asks for an answer in a format that `reader` understands."""

    reader: AnswerShape | ReplyReader
    """What an answer looks like; a function alone reads a line without decoration."""

    @property
    def candidate(self) -> AnswerShape:
        """What an answer looks like."""
        return self.reader if isinstance(self.reader, AnswerShape) else AnswerShape(alone=self.reader)

    def read(self, text: str, *, cut: bool = False) -> Prediction:
        """As `_Prompt.read`. The last line of a cut reply does not count, because it may be incomplete."""
        found = read(text.rpartition("\n")[0] if cut else text, self.candidate)
        if found is None:
            return malformed(text, is_reply=True)
        return Predicted(answer=found.answer, replies=(RawReply(kept_reply(text), found.form),))

    @property
    def digest(self) -> str:
        """As `_Prompt.digest`."""
        return _digest(self.template, self.system)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuationPrompt(_Prompt):
    """Asks for what follows the source."""

    extent: Literal["line", "code"]
    """Where a continuation ends: with its line, or with the code that belongs to the last function."""
    longest: int | None = None
    """Tokens that an answer may take, if more than other answers may."""
    bare: bool = True
    """Whether a model without chats continues the source alone; not if the user gave the template."""

    def text(self, query: Query) -> str:
        """As `_Prompt.text`."""
        # `super()` does not work here: a dataclass with slots is another class than the one written down.
        return query.source if self.bare else _Prompt.text(self, query)

    def read(self, text: str, *, cut: bool = False) -> Prediction:
        """The whole reply without its thoughts, also if it was cut; nothing if it was cut in its thoughts."""
        return Predicted(answer=without_thoughts(text), replies=(RawReply(kept_reply(text), WHOLE),))

    @property
    def digest(self) -> str:
        """As `_Prompt.digest`."""
        return _digest(self.template, self.system, self.extent, self.longest)


Prompt: TypeAlias = QuestionPrompt | ContinuationPrompt


def customised(prompt: Prompt, *, template: str | None, system: str | None) -> Prompt:
    """The prompt with the user's template or system turn, where given; replies are read as before."""
    if system is not None:
        prompt = replace(prompt, system=system)
    if template is None:
        return prompt
    if isinstance(prompt, ContinuationPrompt):
        return replace(prompt, template=template, bare=False)
    return replace(prompt, template=template)


def knowing(prompt: Prompt, words: Mapping[str, str]) -> Prompt:
    """The prompt that reads the words of `--label-map` in replies, too."""
    if not words or isinstance(prompt, ContinuationPrompt):
        return prompt
    return replace(prompt, reader=prompt.candidate.knowing(words))


def filled(template: str, query: Query) -> str:
    """A template with the source and the language of a query in their places."""
    language = find_language(query.language)
    name, tag = (language.title, language.fence) if language else (query.language, "")
    values = {CODE: _fenced(query.source, tag), SOURCE: query.source, LANGUAGE: name}
    # Not `str.format`: code and templates have braces of their own, and a source that contains "{language}"
    # must stay as it is.
    return _PLACES.sub(lambda place: values[place.group()], template)


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps([VERSION, *parts]).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _fenced(source: str, tag: str) -> str:
    # A docstring may contain a fence; a longer one around it is not closed by it (CommonMark, section 4.5).
    longest = max((len(run) for run in re.findall("`+", source)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{tag}\n{source.rstrip(chr(10))}\n{fence}"


def one_of(*words: str) -> ReplyReader:
    """Reads one of these words, alone or in front of a reason that does not name another one."""
    quotes = "[\"'*_`]*"
    # "buggy: it divides by zero" states an answer, "buggy or clean" does not: `read` looks for the other
    # words.
    reason = rf"(?:[.,;:!]{quotes}(?:\s.*)?|\s+[-(\u2013\u2014].*)?"
    asked = re.compile(rf"{quotes}({'|'.join(words)}){quotes}{reason}", re.I)
    named = re.compile(rf"\b(?:{'|'.join(words)})\b", re.I)

    def read(line: str) -> str | None:
        found = asked.fullmatch(line)
        word = found[1].lower() if found else None
        others = {other.lower() for other in named.findall(line)} - {word}
        return None if others else word

    return read
