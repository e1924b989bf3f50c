"""What models of text are asked about a sample, and how their replies are read.

A task owns its prompt (`Task.prompt`); the adapters of endpoints and of Hugging Face models use it
(`codeaudit.audit.models.text_models`). There are two kinds:

- `QuestionPrompt`: the reply states an answer. It is read by the table of forms in `codeaudit.audit.replies`:
  exactly one candidate, or no readable answer, because nothing is guessed.
- `ContinuationPrompt`: the reply continues the source and is the answer as a whole; the task says which
  part of it is code. A model without a chat template continues the source alone.

A task may be asked in other words, too (`Wording`, `--prompt`). Replies are read in the same way.
"""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple, TypeAlias

from typing_extensions import override

from codeaudit.audit.records import Predicted, Prediction, Query, RawReply, kept_reply, malformed
from codeaudit.audit.replies import AnswerShape, last_of, read, without_thoughts
from codeaudit.audit.replies import ReplyReader as ReplyReader
from codeaudit.transforms.language import DEFAULT, find_language

VERSION: Final = 4
"""Version of the readers of replies; part of every digest, because another reader reads other answers."""

CODE: Final = "{code}"
"""In a template: the source in a fence that no line of it closes."""
SOURCE: Final = "{source}"
"""In a template: the source as it is."""
LANGUAGE: Final = "{language}"
"""In a template: the language by its name for people."""
EXAMPLES: Final = "{examples}"
"""In the template of a wording with examples: these, in the language of the query."""
UNIT: Final = "{unit}"
"""In a template: what people call a unit of the language, such as `method`."""
STYLE: Final = "{style}"
"""In a template: how names are written in the language, such as `camelCase`."""
OTHER: Final = "{other}"
"""In a template of a task about pairs: the second unit, in a fence."""
CANDIDATES: Final = "{candidates}"
"""In a template of a task with candidates: these, numbered from 1, each in a fence."""
TEXT: Final = "{text}"
"""In a template of a task with a query in words: these words."""
_PLACES: Final = re.compile(
    "|".join(map(re.escape, (CODE, SOURCE, LANGUAGE, EXAMPLES, UNIT, STYLE, OTHER, CANDIDATES, TEXT)))
)

WHOLE: Final = "whole"
"""How a reply is read that is an answer as a whole."""

Role: TypeAlias = Literal["system", "user", "assistant"]


PLAIN: Final = "plain"
"""The name of the prompt that a task is asked with unless the user names another one."""


class WordsOf(NamedTuple):
    """The words of the people who write a language."""

    unit: str
    style: str


WORDS: Final[Mapping[str, WordsOf]] = {
    "python": WordsOf("function", "snake_case"),
    "java": WordsOf("method", "camelCase"),
    "javascript": WordsOf("function", "camelCase"),
    "typescript": WordsOf("function", "camelCase"),
    "c": WordsOf("function", "snake_case"),
    "cpp": WordsOf("function", "snake_case"),
    "x86": WordsOf("basic block", "AT&T syntax"),
    "algebra": WordsOf("pair of terms", "prefix notation"),
}
"""By language. A language without an entry has the words of `_ANY`."""
_ANY: Final = WordsOf("function", "the style of the code")


class SolvedExample(NamedTuple):
    """A source and the right answer, as the prompt asks for it."""

    source: str
    answer: str
    other: str = ""
    """The second unit, for a task about pairs."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Another way to ask the question of a task. The answers are read as those of the task's own prompt."""

    template: str
    """The user's turn, with the places of a task's own prompt; `{examples}` stands for the examples."""
    examples: Mapping[str, tuple[SolvedExample, ...]] = field(default_factory=dict)
    """By language. Languages without examples have those of Python, or the only ones."""
    thinks: bool = False
    """Whether the reply may be of any length, and its last line is the answer."""


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
    longest: int | None = None
    """Tokens that a reply may take, if more than other replies may."""
    examples: Mapping[str, tuple[SolvedExample, ...]] = field(default_factory=dict)
    """Solved examples by language."""

    def messages(self, query: Query) -> tuple[Message, ...]:
        """The chat that asks a query."""
        user = Message("user", filled(self.template, query, self.examples))
        return (user,) if self.system is None else (Message("system", self.system), user)

    def text(self, query: Query) -> str:
        """The same for a model without chats, which continues a text: it ends where the answer begins."""
        return "\n\n".join([*(message.content for message in self.messages(query)), self.begun])

    @property
    def begun(self) -> str:
        """The beginning of an answer, for a model without chats."""
        return "Answer:"

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
    thinks: bool = False
    """Whether the reply may be of any length, and its last line is the answer."""

    @property
    @override
    def begun(self) -> str:
        return "Thoughts:" if self.thinks else "Answer:"

    @property
    def candidate(self) -> AnswerShape:
        """What an answer looks like."""
        return self.reader if isinstance(self.reader, AnswerShape) else AnswerShape(alone=self.reader)

    @override
    def read(self, text: str, *, cut: bool = False) -> Prediction:
        """The last line of a cut reply does not count, because it may be incomplete."""
        if self.thinks:
            # What stands before the last line is thought, and a cut reply has no last line.
            reading = None if cut else read(last_of(text), self.candidate)
        else:
            reading = read(text.rpartition("\n")[0] if cut else text, self.candidate)
        if reading is None:
            return malformed(text, is_reply=True)
        return Predicted(answer=reading.answer, replies=(RawReply(kept_reply(text), reading.form),))

    @property
    @override
    def digest(self) -> str:
        more = [THINKS] if self.thinks else []
        return _digest(self.template, self.system, *more, *_of_examples(self.examples))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuationPrompt(_Prompt):
    """Asks for what follows the source."""

    extent: Literal["line", "code"]
    """Where a continuation ends: with its line, or with the code that belongs to the last function."""
    bare: bool = True
    """Whether a model without chats continues the source alone; not if the user gave the template."""

    @override
    def text(self, query: Query) -> str:
        # `super()` does not work here: a dataclass with slots is another class than the one written down.
        return query.source if self.bare else _Prompt.text(self, query)

    @override
    def read(self, text: str, *, cut: bool = False) -> Prediction:
        """The whole reply without its thoughts, also if it was cut; nothing if it was cut in its thoughts."""
        return Predicted(answer=without_thoughts(text), replies=(RawReply(kept_reply(text), WHOLE),))

    @property
    @override
    def digest(self) -> str:
        return _digest(self.template, self.system, self.extent, self.longest)


Prompt: TypeAlias = QuestionPrompt | ContinuationPrompt


def thinks(prompt: Prompt) -> bool:
    """Whether a reply to a prompt may think before its last line."""
    return isinstance(prompt, QuestionPrompt) and prompt.thinks


def customised(prompt: Prompt, *, template: str | None, system: str | None) -> Prompt:
    """The prompt with the user's template or system turn, where given; replies are read as before."""
    if system is not None:
        prompt = replace(prompt, system=system)
    if template is None:
        return prompt
    if isinstance(prompt, ContinuationPrompt):
        return replace(prompt, template=template, bare=False)
    return replace(prompt, template=template)


THINKS: Final = "thinks"
THOUGHT: Final = 400
"""Tokens of a usual reply with thoughts, for estimates."""
LONGEST_THOUGHT: Final = 2048
"""Tokens that such a reply may take."""


def worded(prompt: Prompt, wording: Wording) -> Prompt:
    """The prompt in other words."""
    reworded = replace(
        customised(prompt, template=wording.template, system=None), examples=dict(wording.examples)
    )
    if not wording.thinks or isinstance(reworded, ContinuationPrompt):
        return reworded
    return replace(reworded, thinks=True, usual=THOUGHT, longest=LONGEST_THOUGHT)


def knowing(prompt: Prompt, words: Mapping[str, str]) -> Prompt:
    """The prompt that reads the words of `--label-map` in replies, too."""
    if not words or isinstance(prompt, ContinuationPrompt):
        return prompt
    return replace(prompt, reader=prompt.candidate.knowing(words))


def filled(
    template: str, query: Query, examples: Mapping[str, tuple[SolvedExample, ...]] | None = None
) -> str:
    """A template with the source and the language of a query in their places."""
    language = find_language(query.language)
    name, tag = (language.title, language.fence) if language else (query.language, "")
    words = WORDS.get(query.language, _ANY)
    values = {
        CODE: _fenced(query.source, tag),
        SOURCE: query.source,
        LANGUAGE: name,
        EXAMPLES: _examples_text(query.language, examples or {}),
        UNIT: words.unit,
        STYLE: words.style,
    }
    # A query without them leaves these places as they are: a template of an earlier version may have them.
    if query.other:
        values[OTHER] = _fenced(query.other, tag)
    if query.candidates:
        numbered = enumerate(query.candidates, start=1)
        values[CANDIDATES] = "\n\n".join(f"{number}.\n{_fenced(unit, tag)}" for number, unit in numbered)
    if query.text:
        values[TEXT] = query.text
    # Not `str.format`: code and templates have braces of their own, and a source that contains "{language}"
    # must stay as it is.
    return _PLACES.sub(lambda place: values.get(place.group(), place.group()), template)


def _examples_text(language: str, examples: Mapping[str, tuple[SolvedExample, ...]]) -> str:
    """The examples in a language, each with its answer behind it."""
    key = next((name for name in (language, DEFAULT, *examples) if name in examples), "")
    record = find_language(key)
    tag = record.fence if record else ""
    return "\n\n".join(
        "\n".join(
            [
                *(_fenced(text, tag) for text in filter(None, (example.source, example.other))),
                f"Answer: {example.answer}",
            ]
        )
        for example in examples.get(key, ())
    )


def _of_examples(examples: Mapping[str, tuple[SolvedExample, ...]]) -> list[object]:
    return (
        # Without the empty `other` of an example that has none: the digests of such prompts stay.
        [
            sorted(
                (language, [[*example[:2], *filter(None, example[2:])] for example in group])
                for language, group in examples.items()
            )
        ]
        if examples
        else []
    )


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
    pattern = re.compile(rf"{quotes}({'|'.join(words)}){quotes}{reason}", re.I)
    named = re.compile(rf"\b(?:{'|'.join(words)})\b", re.I)

    def read(line: str) -> str | None:
        match = pattern.fullmatch(line)
        word = match[1].lower() if match else None
        others = {other.lower() for other in named.findall(line)} - {word}
        return None if others else word

    return read
