"""What models of text are asked, task by task, and how their answers are read.

An answer is read in the format that its prompt asks for, or it is malformed: nothing is guessed. Around the
asked line may stand what models like to add: a closed `<think>` block and code fences before it, `Answer:` in
front of it, emphasis or backticks about it, and prose in the lines after it. Where the first line is not the
answer, one line that is marked as the answer counts; two that differ do not.

Where the answer is code that goes on with the source, a model of text is given the source alone to continue,
and the whole reply is the answer: what of it is code, the task says.
"""

import ast
import hashlib
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Final, Literal, TypeAlias

from codeaudit.audit.models.answers import MALFORMED
from codeaudit.audit.records import Answer, Predicted, Prediction, Query
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.languages import find_language

VERSION: Final = 1
"""Of the readers of answers. A part of every prompt's digest: answers read otherwise are other answers."""

CODE: Final = "{code}"
"""In a template: the source in a fence that no line of it closes."""
SOURCE: Final = "{source}"
"""In a template: the source as it is."""
LANGUAGE: Final = "{language}"
"""In a template: the language by its name for people."""
_PLACES: Final = re.compile("|".join(map(re.escape, (CODE, SOURCE, LANGUAGE))))

Role: TypeAlias = Literal["system", "user", "assistant"]
Reader: TypeAlias = Callable[[str], Answer | None]
"""From one line without decoration to the answer that it is; `None` where it is none."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """How one task is asked and how its answer is read."""

    template: str
    """The user's turn, with the places `{source}` or `{code}`, and `{language}`."""
    reader: Reader
    marked: re.Pattern[str] | None = None
    """A line after the first that is an answer by its very form; without, it needs `Answer:` in front."""
    continued: Literal["line", "code"] | None = None
    """How far a model goes on with the source, where that is the answer; where not, `reader` reads it."""
    longest: int | None = None
    """Tokens that an answer may take, where that is more than answers take elsewhere."""
    system: str | None = None
    """The turn before it, if any."""

    def messages(self, query: Query) -> tuple[Message, ...]:
        """The chat that asks a query."""
        asked = Message("user", self._filled(query))
        return (asked,) if self.system is None else (Message("system", self.system), asked)

    def text(self, query: Query) -> str:
        """The same for a model that continues a text: it ends where the answer begins."""
        if self.continued is not None and self.template == PROMPTS[query.task].template:
            return query.source
        turns = [message.content for message in self.messages(query)]
        return "\n\n".join([*turns, "Answer:"])

    def read(self, text: str, *, cut: bool = False) -> Prediction:
        """The answer in a reply, or `Failed('malformed answer')`.

        Of a reply that was cut off, as by a limit on its length, the last line does not count, unless the
        reply goes on with the source.
        """
        if self.continued is not None:
            return Predicted(answer=_spoken(text))
        lines = list(_lines(text.rpartition("\n")[0] if cut else text))
        if not lines:
            return MALFORMED
        _, first = lines[0]
        found = self.reader(first)
        if found is None:
            later = {self.reader(line) for labelled, line in lines if labelled or self._is_marked(line)}
            later.discard(None)
            found = later.pop() if len(later) == 1 else None
        return MALFORMED if found is None else Predicted(answer=found)

    @property
    def digest(self) -> str:
        """A hash of what is asked and of how it is read, for fingerprints."""
        marked = self.marked.pattern if self.marked else None
        parts = [VERSION, self.template, self.system, marked]
        parts += [] if self.continued is None else [self.continued, self.longest]
        return hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def _filled(self, query: Query) -> str:
        language = find_language(query.language)
        name, tag = (language.title, language.fence) if language else (query.language, "")
        values = {CODE: _fenced(query.source, tag), SOURCE: query.source, LANGUAGE: name}
        return _PLACES.sub(lambda place: values[place.group()], self.template)

    def _is_marked(self, line: str) -> bool:
        return self.marked is not None and self.marked.fullmatch(line) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """The prompts of all tasks, as one model uses them."""

    by_task: Mapping[str, Prompt] = field(default_factory=lambda: PROMPTS)

    def of(self, query: Query) -> Prompt:
        """The prompt of a query's task.

        Raises:
            ModelError: models of text are not asked this task.
        """
        if query.task not in self.by_task:
            known = ", ".join(self.by_task)
            raise ModelError(f"no prompt for the task {query.task!r}; there is one for {known}")
        return self.by_task[query.task]

    @property
    def digest(self) -> str:
        """A hash over all of them, for fingerprints: a model is loaded before its task is known."""
        parts = [f"{task}:{prompt.digest}" for task, prompt in sorted(self.by_task.items())]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def customised(*, template: str | None = None, system: str | None = None) -> Prompts:
    """The prompts with another template or system turn. Answers are read in the task's own format still.

    Raises:
        UsageError: the template has no place for the source.
    """
    if template is not None and CODE not in template and SOURCE not in template:
        raise UsageError(f"the template has no place for the code; write {CODE} or {SOURCE} in it")
    return Prompts(
        by_task={
            task: replace(
                one,
                template=one.template if template is None else template,
                system=one.system if system is None else system,
            )
            for task, one in PROMPTS.items()
        }
    )


_FENCE: Final = re.compile(r"\s*(?:`{3,}|~{3,})[\w+-]*\s*")
_LABEL: Final = re.compile(
    r"[#>*_\s]*(?:the\s+)?(?:final\s+)?answer(?:\s+is)?[*_\s]*(?::[*_]*(?:\s+|$)|$)", re.I
)
_THOUGHT: Final = re.compile(r"\s*<think(?:ing)?>")
_THOUGHT_ENDS: Final = re.compile(r"</think(?:ing)?>")
_WRAPPED: Final = re.compile(r"(\*{1,3}|_{2,3}|`+)(?P<inner>.+)\1\.?")


def _fenced(source: str, tag: str) -> str:
    longest = max((len(run) for run in re.findall("`+", source)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{tag}\n{source.rstrip(chr(10))}\n{fence}"


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """The lines that say something, plain, and whether `Answer:` stood in front of each."""
    text = _THOUGHT_ENDS.split(text)[-1]
    if _THOUGHT.match(text):  # cut off before it came to an answer
        return
    labelled = False
    for raw in text.splitlines():
        if _FENCE.fullmatch(raw):
            continue
        line = _plain(raw)
        if label := _LABEL.match(line):
            labelled = True
            line = _plain(line[label.end() :])
        if line:
            yield labelled, line
            labelled = False


def _spoken(text: str) -> str:
    """A reply without its thoughts; nothing of one that was cut off in them."""
    *thoughts, said = _THOUGHT_ENDS.split(text)
    return "" if not thoughts and _THOUGHT.match(text) else said


def _plain(line: str) -> str:
    line = line.strip()
    while wrapped := _WRAPPED.fullmatch(line):
        line = wrapped["inner"].strip()
    return line


_NAMES: Final = re.compile(r"\[(?P<name>[^\[\]]+)\](?P<short>\s*\[[^\[\]]*\])?(?P<rest>.*)")
_PAIR: Final = re.compile(r"\[[^\[\]]+\]\s*\[[^\[\]]*\]\.?")
_NAME: Final = re.compile(r"(?=.*[^\W\d_])[\w$ -]+(?:\(\))?")
_PLACEHOLDERS: Final = frozenset({"full_name", "full name", "fullname"})


def _name(line: str) -> str | None:
    """The full name of `[full_name] [abbreviation]`; the abbreviation may lack where it ends the line."""
    found = _NAMES.fullmatch(line.replace("\\_", "_"))
    if not found or (found["short"] is None and found["rest"].strip(" .[]")):
        return None
    name = _plain(found["name"]).strip("\"'")
    return name if _NAME.fullmatch(name) and name.lower() not in _PLACEHOLDERS else None


def _one_of(*words: str) -> Reader:
    """Reads one of these words, alone or in front of a reason that does not name another one."""
    quotes = "[\"'*_`]*"
    reason = rf"(?:[.,;:!]{quotes}(?:\s.*)?|\s+[-(\u2013\u2014].*)?"
    asked = re.compile(rf"{quotes}({'|'.join(words)}){quotes}{reason}", re.I)
    named = re.compile(rf"\b(?:{'|'.join(words)})\b", re.I)

    def read(line: str) -> str | None:
        found = asked.fullmatch(line)
        word = found[1].lower() if found else None
        others = {other.lower() for other in named.findall(line)} - {word}
        return None if others else word

    return read


_CYCLES: Final = r"(?:clock\s+)?cycles?(?:\s*(?:per|/)\s*iter(?:ation)?)?"
_NUMBER: Final = re.compile(
    rf"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?:\s*{_CYCLES}(?:\.|[.,;:]\s.*|\s+\(.*)?)?", re.I | re.ASCII
)


def _number(line: str) -> float | None:
    """A number, alone or with its unit; only after the unit may a reason follow."""
    found = _NUMBER.fullmatch(line)
    value = float(found[1]) if found else None
    return value if value is not None and isfinite(value) else None


_RAISED: Final = re.compile(
    r"(?:raises?\s+)?([\w.]*(?:Error|Exception|Exit|Group|Interrupt|Iteration|Warning))(?::\s.*|\.)?"
)
_OBJECT: Final = re.compile(r"<[^<>]+.*>")
_SHOWN: Final = (
    *(ast.Expression, ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Name, ast.Attribute),
    *(ast.UnaryOp, ast.USub, ast.UAdd, ast.BinOp, ast.Add, ast.Sub, ast.Call, ast.keyword, ast.Load),
)
"""What the text of a value is made of: displays, and calls as `Counter({'a': 1})`."""


def _value(line: str) -> str | None:
    """The text of a value, or an exception's type, of which the message may follow."""
    if raised := _RAISED.fullmatch(line):
        return raised[1]
    if _OBJECT.fullmatch(line):
        return line
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)
            tree = ast.parse(line, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError, SyntaxWarning):
        return None
    nodes = list(ast.walk(tree))
    known = all(isinstance(node, _SHOWN) for node in nodes)
    called = all(
        isinstance(node.func, ast.Name | ast.Attribute) for node in nodes if isinstance(node, ast.Call)
    )
    return line if known and called else None


def _unread(line: str) -> None:
    """Of a reply that goes on with the source, lines are not read by themselves."""


PROMPTS: Final[Mapping[str, Prompt]] = {
    # The words are those of spe-attention, appendix B, with the language in the place of "Python".
    "function-name": Prompt(
        template=(
            "I have a segment of {language} function code and need help determining a suitable name for it. "
            "Analyze the function's logic, inputs/outputs, and purpose, then suggest a suitable full name. "
            "Then, generate a common abbreviation (if applicable) based on the full name. Return the format: "
            "[full_name] [abbreviation], with each enclosed in separate brackets. Only provide the two "
            "names, no additional text. Here is the code:\n{source}"
        ),
        reader=_name,
        marked=_PAIR,
    ),
    "error-detection": Prompt(
        template=(
            "Does this {language} function have a bug? Answer with one word on the first line: buggy if it "
            "does something else than it is meant to, clean if it is right. No additional text.\n\n{code}"
        ),
        reader=_one_of("buggy", "clean"),
    ),
    "throughput": Prompt(
        template=(
            "This basic block of {language} (AT&T syntax) is run in a loop on an Intel Haswell processor. "
            "Nothing misses the first-level cache. How many cycles does one iteration take on average, in "
            "the steady state? Answer with one number on the first line, for example 2.25. No additional "
            "text.\n\n{code}"
        ),
        reader=_number,
    ),
    "derivative": Prompt(
        template=(
            "Two expressions in prefix notation stand on the left and on the right of =? below. An operator "
            "stands before its operands; INT+ and INT- begin an integer, whose decimal digits follow; x is "
            "the variable, all other names are constants. Is the right expression the derivative of the "
            "left one by x, in whatever form it is written? Answer with one word on the first line: true or "
            "false. No additional text.\n\n{source}"
        ),
        reader=_one_of("true", "false"),
    ),
    "output-prediction": Prompt(
        template=(
            "This {language} code ends with a call. What does the call return? Answer with one line: the "
            "value as repr() writes it, or, if the call raises an exception, the name of the exception's "
            "type alone. No additional text.\n\n{code}"
        ),
        reader=_value,
    ),
    "generation": Prompt(
        template=(
            "This {language} code breaks off in the middle of its last function. Write what follows the last "
            "line, to the end of that function, with its indentation. Answer with that code in one fence. No "
            "additional text.\n\n{code}"
        ),
        reader=_unread,
        continued="code",
        longest=512,
    ),
    "next-line": Prompt(
        template=(
            "This {language} code breaks off in the middle of its last function. Write the one line that "
            "comes next. No additional text.\n\n{code}"
        ),
        reader=_unread,
        continued="line",
    ),
}
"""By the name of the task."""
