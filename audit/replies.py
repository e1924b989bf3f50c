"""How a reply is read: one table of forms for all tasks, and one rule.

The rule: a reply states exactly one candidate, or it has no readable answer. Two that differ are never chosen
between. A task says what a candidate looks like (`AnswerShape`): a name, one of its words, a number, a value.
The table `FORMS` says in which forms of a reply candidates are found. So a task knows no form, and a form
knows no task.

Which candidates count:

- The opening: the first line with content, and what stands in one paragraph, list or block with it.
- What is marked as the answer (`Answer: …`, `The answer is …`), wherever it stands. For names also
  `[full name] [abbreviation]` and sentences that name the function.
- Later lines that are nothing but a candidate, against the opening only: they make a reply ambiguous.
- If none of these is there: other labelled lines, sentences, blocks and decorated lines, and a line that is
  introduced (`Here it is:`).

Explanations are prose. A word in prose is no candidate, with one exception: for a closed set of labels, a
sentence that names exactly one of them, without `not` or `if` (`closed`). Words of `--label-map` are
candidates like the labels themselves.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, Literal, NamedTuple, TypeAlias

from codeaudit.audit.records import Answer, as_label

ReplyReader: TypeAlias = Callable[[str], Answer | None]
"""From a text to the answer that it is as a whole; `None` if it is none."""

Rank: TypeAlias = Literal["opening", "marked", "shown", "weak", "rival", "told"]
"""How much a candidate says; see the module."""


def _itself(answer: Answer) -> object:
    return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerShape:
    """What an answer of a task looks like."""

    alone: ReplyReader
    """Reads a line without decoration. It must refuse prose."""
    quoted: ReplyReader | None = None
    """Reads a text in backticks or quotes, or behind a label; `None`: as `alone`."""
    boxed: ReplyReader | None = None
    """Reads a text in brackets, a value of JSON, or the end of a sentence; `None`: as `quoted`."""
    words: ReplyReader | None = None
    """Reads a whole reply in several words that is one answer; `None` if there is no such reply."""
    sentence: ReplyReader | None = None
    """Reads a sentence that names exactly one of a closed set of labels; `None` without a closed set."""
    mentions: Callable[[str], Sequence[Answer]] | None = None
    """All labels of a closed set that a line names."""
    labels: tuple[str, ...] = ()
    """Words in front of a colon, or keys of JSON, besides `answer`."""
    asides: tuple[str, ...] = ()
    """As `labels`, but words that stand in explanations, too: they count on the first line only, or where
    nothing else does."""
    others: tuple[str, ...] = ()
    """As `labels`: what stands behind them is another candidate (`Alternative: …`)."""
    parts: Callable[[Sequence[str]], Answer | None] | None = None
    """Reads a list of texts in JSON as one answer; `None` if each text is a candidate."""
    states: tuple[str, ...] = ()
    """Patterns of what stands in front of an answer in a sentence about the code: `The call returns …`."""
    is_word: bool = False
    """Whether it is one of a few known words, none of which is a heading."""
    is_name: bool = False
    """Whether it names the function: then pairs, sentences that name, and definitions are forms, too."""
    key: Callable[[Answer], object] = field(default=_itself)
    """Two candidates with equal keys are one."""
    mapped: "Callable[[tuple[tuple[str, str], ...]], AnswerShape] | None" = None
    """The same shape with the words of `--label-map`, for a closed set; `None`: see `knowing`."""

    def of_quoted(self, text: str) -> Answer | None:
        """The answer that a text in quotes is."""
        return (self.quoted or self.alone)(text)

    def of_boxed(self, text: str) -> Answer | None:
        """The answer that a text in brackets is."""
        return (self.boxed or self.quoted or self.alone)(text)

    @property
    def keys(self) -> tuple[str, ...]:
        """All words in front of a colon, and keys of JSON."""
        return (*ANSWERS, *self.labels, *self.asides, *self.others)

    def knowing(self, words: Mapping[str, str]) -> "AnswerShape":
        """The shape in which the words of `--label-map` are candidates, too. They are read as they stand; the
        driver puts the label in the place of a word."""
        if not words:
            return self
        pairs = tuple(words.items())
        return _with_words(self, pairs) if self.mapped is None else self.mapped(pairs)


class Reading(NamedTuple):
    """What a reply was read as."""

    answer: Answer
    form: str
    """The name of the form."""


class _Place(NamedTuple):
    """Where a text stands in a reply."""

    opening: bool
    """In the first block, whose first line has a candidate or is this line."""
    first: bool
    """The first line with content, or a text behind a label."""
    introduced: bool
    """Behind a line that ends with a colon, an exclamation mark or a question mark."""
    fenced: bool
    whole: bool = False
    """The only line of the reply."""
    listed: bool = False
    """An item of a list that the reply begins with."""


class _RankedAnswer(NamedTuple):
    """A candidate in a reply."""

    answer: Answer
    form: str
    rank: Rank


@dataclass(frozen=True, slots=True)
class Form:
    """A row of the table."""

    name: str
    recognised: str
    """How it is recognised, in words."""
    example: str
    find: Callable[[str, AnswerShape, _Place], Iterable[Answer]]
    """The candidates in a text that has the form; nothing if it has not."""
    rank: Callable[[_Place], Rank | None]
    """How much they say at a place; `None` if the form does not count there."""
    block: bool = False
    """Whether it is recognised in whole blocks (a fence, a paragraph), not in lines."""


# ── decoration ───────────────────────────────────────────────────────────────────────────────────────────

_FENCE: Final = re.compile(r"\s*(?:`{3,}|~{3,})[\w+-]*\s*")
_CLOSED_BEHIND: Final = re.compile(r"(.*\S)\s*(?:`{3,}|~{3,})\s*")
_THOUGHT: Final = re.compile(r"\s*<(?:think(?:ing)?|thought|reasoning)>", re.I)
THOUGHT_ENDS: Final = re.compile(r"</(?:think(?:ing)?|thought|reasoning)>", re.I)
_WRAPPED: Final = re.compile(r"(\*{1,3}|_{2,3}|`+)(?P<inner>.+)\1\.?")
_QUOTED: Final = re.compile(
    r"\"([^\"]+)\"\.?|'([^']+)'\.?|\u201c([^\u201d]+)\u201d\.?|\u2018([^\u2019]+)\u2019\.?"
)
_HEADING: Final = re.compile(r"\s*(?:#{1,6}|>)\s+")
_ITEM: Final = re.compile(r"\s*(?:[-*+\u2022]|\(?\d{1,2}[.)])\s+(?=\S)")
_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+[.!]?")
_LONGEST: Final = 20_000
"""Characters of a text that is parsed as JSON, or that is nothing but the answer."""
_LONGEST_LINE: Final = 1_000
"""Characters of a line that has another form. Patterns take time with the square of the length."""
_LONGEST_SENTENCE: Final = 300


def without_thoughts(text: str) -> str:
    """A reply without its thoughts; empty if it was cut off in them."""
    *thoughts, rest = THOUGHT_ENDS.split(text)
    return "" if not thoughts and _THOUGHT.match(text) else rest


_ANSWER_LINE: Final = re.compile(r"[\s>#*_`-]*(?:(?:final|my|the)\s+)?answer(?:\s+is)?\s*[*_`]*\s*:", re.I)


def last_of(text: str) -> str:
    """The end of a reply that may think aloud before its last line: from the last `Answer:` on, else the last
    line with content."""
    lines = [line for line in without_thoughts(text).splitlines() if line.strip()]
    starts = [place for place, line in enumerate(lines) if _ANSWER_LINE.match(line)]
    if starts:
        return "\n".join(lines[starts[-1] :])
    plain = [line for line in lines if not _FENCE.fullmatch(line)]
    return plain[-1] if plain else ""


def plain_line(line: str) -> str:
    """A line without the emphasis or backticks around it."""
    return _peeled(line)[0]


def _peeled(line: str) -> tuple[str, bool]:
    """A line without the emphasis or backticks around it, and whether there were backticks."""
    line, ticks = line.strip(), False
    while len(line) <= _LONGEST_LINE and (wrapped := _WRAPPED.fullmatch(line)):
        line = wrapped["inner"].strip()
        ticks = ticks or wrapped[1][0] == "`"
    return line, ticks


# ── forms of lines ───────────────────────────────────────────────────────────────────────────────────────


def _as_tuple(answer: Answer | None) -> tuple[Answer, ...]:
    return () if answer is None else (answer,)


def _alone(text: str, candidate: AnswerShape, place: _Place) -> tuple[Answer, ...]:
    return _as_tuple(candidate.alone(text.strip()))


def _emphasised(text: str, candidate: AnswerShape, place: _Place) -> tuple[Answer, ...]:
    inner, ticks = _peeled(text)
    return () if ticks or inner == text.strip() else _as_tuple(candidate.alone(inner))


def _in_backticks(text: str, candidate: AnswerShape, place: _Place) -> tuple[Answer, ...]:
    inner, ticks = _peeled(text)
    return _as_tuple(candidate.of_quoted(inner)) if ticks else ()


def _in_quotes(text: str, candidate: AnswerShape, place: _Place) -> tuple[Answer, ...]:
    match = _QUOTED.fullmatch(_peeled(text)[0])
    return _as_tuple(candidate.of_quoted(next(filter(None, match.groups())))) if match else ()


_TAGGED: Final = re.compile(r"<(?P<tag>[A-Za-z][\w-]*)>\s*(?P<inside>[^<>]+?)\s*</(?P=tag)>")
_TEX: Final = re.compile(r"\$*\\boxed\{(?:\\text(?:tt)?\{)?(?P<inside>[^{}]+?)\}?\}\$*\.?")


def _in_tag(text: str, candidate: AnswerShape, place: _Place) -> tuple[Answer, ...]:
    plain = _peeled(text)[0]
    if (tex := _TEX.fullmatch(plain)) is not None:
        return _as_tuple(candidate.of_quoted(tex["inside"].replace("\\_", "_")))
    match = _TAGGED.fullmatch(plain)
    if match is None or not _is_label(match["tag"], candidate):
        return ()
    return _as_tuple(candidate.of_quoted(plain_line(match["inside"])))


def _in_words(text: str, candidate: AnswerShape, place: _Place) -> tuple[Answer, ...]:
    return _as_tuple(candidate.words(text.strip())) if candidate.words and place.whole else ()


def _of_closed(text: str, candidate: AnswerShape, place: _Place) -> tuple[Answer, ...]:
    if candidate.sentence is None or place.fenced or len(text) > _LONGEST_LINE:
        return ()
    if not place.first and candidate.mentions is not None:
        return tuple(candidate.mentions(text))
    return _as_tuple(candidate.sentence(text))


_BRACKETS: Final = re.compile(
    r"\[(?P<name>[^\[\]]+)\](?P<short>\s*[,;/|]?\s*\[[^\[\]]*\])?(?P<rest>.*)", re.DOTALL
)
_ROUND_BRACKETS: Final = re.compile(r"[*`_\"']*(\[[^\[\]]*\])[*`_\"']*")


def _in_brackets(text: str, candidate: AnswerShape, place: _Place) -> tuple[Answer, ...]:
    match = _bracketed(text, candidate)
    if match is None or match["short"] is not None or match["rest"].strip(" .[]"):
        return ()
    return _as_tuple(candidate.of_boxed(plain_line(match["name"]).strip("\"'")))


def _pair(text: str, candidate: AnswerShape, place: _Place) -> tuple[Answer, ...]:
    if not candidate.is_name:
        return ()
    match = _bracketed(text, candidate)
    if match is None or match["short"] is None or "[" in match["rest"]:
        return ()
    return _as_tuple(candidate.of_boxed(plain_line(match["name"]).strip("\"'")))


def _bracketed(text: str, candidate: AnswerShape) -> re.Match[str] | None:
    plain = _ROUND_BRACKETS.sub(r"\1", _peeled(text)[0])
    return _BRACKETS.fullmatch(plain)


_BARE: Final = r"[^\W\d]\w*_\w+(?:\(\))?|[a-z]+[a-z0-9]*[A-Z]\w*(?:\(\))?|[^\W\d]\w*\(\)"
"""A name that no word of prose looks like."""
_CITED: Final = (
    rf"(?:`+(?P<ticks>[^`\n]+)`+|\*{{1,3}}(?P<bold>[^*\n]+?)\*{{1,3}}|\"(?P<double>[^\"\n]+)\"|'(?P<single>[^'\n]+)'"
    rf"|\u201c(?P<curly>[^\u201d\n]+)\u201d|\[(?P<box>[^\[\]\n]+)\](?:\s*,?\s*\[[^\[\]\n]*\])?|(?P<bare>{_BARE}))"
)
_STYLED: Final = re.compile(r"(?:\*{1,3}|_{2,3})(`+[^`\n]+`+|\[[^\[\]\n]+\])(?:\*{1,3}|_{2,3})")
_OTHERS: Final = re.compile(r"\b(?:or|alternatively|alternatives?|also|instead|not|rather)\b", re.I)
"""Words behind a candidate that bring another one."""
_ABBREVIATION: Final = re.compile(
    r"[\s,;|.(]*(?:\b(?:and|with|where|its)\b[\s,]*)*(?:\b(?:the|an?|common|short)\b\s*)*\**\babbrev.*",
    re.I | re.DOTALL,
)

_REASON: Final = re.compile(
    rf"{_CITED}(?:\s*\(|\s*:\s|\s+[-\u2013\u2014]\s|\s*,?\s(?:because|since|as|which)\b|[.!]\s)(?P<rest>.*)",
    re.DOTALL,
)


_KEY: Final = re.compile(r"\s*(?:\"[^\"\n]*\"|'[^'\n]*')\s*:")


def _with_reason(text: str, candidate: AnswerShape, place: _Place) -> tuple[Answer, ...]:
    if not (candidate.is_name and (place.first or place.listed)):
        return ()
    # `"title": "read_file"` is a line of JSON, and the text in front of the colon is a key.
    match = None if _KEY.match(text) else _REASON.fullmatch(_STYLED.sub(r"\1", text.strip()))
    return () if not match or _OTHERS.search(match["rest"]) else _as_tuple(_cited(match, candidate))


def _cited(match: re.Match[str], candidate: AnswerShape) -> Answer | None:
    if (box := match["box"]) is not None:
        return candidate.of_boxed(plain_line(box).strip("\"'"))
    if (text := match["bold"] or match["bare"]) is not None:
        return candidate.alone(plain_line(text))
    text = match["ticks"] or match["double"] or match["single"] or match["curly"]
    return candidate.of_quoted(text.strip())


def _json(text: str, candidate: AnswerShape, place: _Place) -> tuple[Answer, ...]:
    plain = text.strip().removeprefix("json").strip()
    if _KEY.match(plain):  # a line of an object whose braces are missing
        plain = f"{{{plain.rstrip().removesuffix(',')}}}"
    if not plain or plain[0] not in '{["' or len(plain) > _LONGEST:
        return ()
    try:
        value = json.loads(plain)
    except (ValueError, RecursionError):
        # Many models write the braces and quotes of Python.
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = ast.literal_eval(plain)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return ()
    return tuple(_of_value(value, candidate, depth=3))


def _of_value(value: object, candidate: AnswerShape, *, depth: int) -> Iterator[Answer]:
    """The candidates in a value of JSON."""
    match value:
        case bool():
            yield from _as_tuple(candidate.of_boxed(str(value).lower()))
        case str() | int() | float():
            yield from _as_tuple(candidate.of_boxed(str(value)))
        case Mapping() if depth:
            for key, inner in value.items():
                if isinstance(key, str) and _is_label(key, candidate):
                    yield from _of_value(inner, candidate, depth=depth - 1)
        case list() | tuple() if depth:
            if candidate.parts is not None and value and all(isinstance(part, str) for part in value):
                answer = candidate.parts([str(part) for part in value])
                if answer is not None:
                    yield answer
                    return
            for inner in value:
                yield from _of_value(inner, candidate, depth=depth - 1)


ANSWERS: Final = (
    "answer",
    "antwort",
    "respuesta",
    "r\u00e9ponse",
    "risposta",
    "resposta",
    "\u043e\u0442\u0432\u0435\u0442",
    "\u7b54\u6848",
    "\u56de\u7b54",
)
"""The word that marks an answer, in the languages in which models reply."""
_ADJECTIVES: Final = (
    r"(?:full|complete|function(?:'s)?|method(?:'s)?|suggested|suitable|proposed|recommended|best|better|good|possible|"
    r"final|correct|right|new|descriptive|appropriate|fitting|likely|most|predicted|concise|clear|missing|original|"
    r"masked|hidden|actual|real)"
)


def _is_label(key: str, candidate: AnswerShape) -> bool:
    # `functionName`, `function_name` and "Function name" are one key.
    plain = " ".join(re.findall(r"[A-Z]?[a-z']+|[A-Z]+", key)).lower()
    return any(re.fullmatch(rf"(?:{_ADJECTIVES}\s+)*{word}", plain) for word in candidate.keys)


def _label_of(candidate: AnswerShape) -> re.Pattern[str]:
    words = "|".join(re.sub(r"\s+", r"[\\s_-]+", word) for word in candidate.keys)
    return re.compile(
        rf"(?P<mark>[#>*_\s]*)(?:(?:the|my|a|an)\s+)?(?:{_ADJECTIVES}[\s_-]+)*(?P<word>{words})"
        r"(?:\s+(?:for|of)\s+(?:this|the|your)\s+\w+)?(?:\s+(?:is|would\s+be|should\s+be))?[*_`\"\s]*"
        r"(?:[:=][*_]*(?:\s+|$|(?=[`\[\"']))|\uff1a[*_]*\s*|$)",
        re.I,
    )


_COPULA: Final = r"(?:is|(?:would|should|could|might|may|can|will)\s+be)"
_END: Final = (
    r"(?P<rest>\s*[.!]?\s*$|\s*[,;:]?\s*(?:because|since|as|which|given|based|for)\b.*|\s+\(.*"
    r"|\s+[-\u2013\u2014]\s.*)"
)
_NAMING: Final = tuple(
    re.compile(pattern, re.I | re.DOTALL)
    for pattern in (
        rf".*?\b(?:the|an?|my|its|this)\s+(?:{_ADJECTIVES},?\s+)*name(?:\s+(?:for|of)\s+(?:this|the|that|your)"
        rf"(?:\s+\w+){{1,4}}?)?\s+{_COPULA}\s*:?\s*(?:simply\s+|probably\s+|likely\s+)?(?-i:{_CITED}){_END}",
        r".*?\b(?:should|could|would|can|might|may|will)\s+be\s+(?:named|called|renamed(?:\s+to)?)\s+"
        rf"(?-i:{_CITED}){_END}",
        r".*?\b(?:I|we)(?:\s+would|\s+will|\s+can|\s*['\u2019](?:d|ll))?\s+(?:suggest|recommend|propose|choose|pick|"
        r"go\s+with|name|call)\s+(?:(?:naming|calling)\s+)?(?:(?:it|this|the)\s+(?:(?:function|method)\s+)?)?"
        rf"(?:(?:the\s+)?(?:{_ADJECTIVES}\s+)*name\s+)?(?:as\s+)?:?\s*(?-i:{_CITED}){_END}",
        r".*?\byou\s+(?:can|could|may|might)\s+(?:call|name)\s+(?:it|this|the\s+(?:function|method))\s+"
        rf"(?-i:{_CITED}){_END}",
        r".*?\b(?:I|we)\s+(?:think|believe|guess|assume)\s+(?:that\s+)?(?:it|this|the\s+(?:function|method|name))"
        rf"(?:\s+is|\s*['\u2019]s|\s+(?:would|should|could|might|may)\s+be)\s+(?:called\s+|named\s+)?:?\s*"
        rf"(?-i:{_CITED}){_END}",
        r"(?:(?:sure|certainly|of\s+course|okay|ok|great)\b[,!.]?\s*)?here\b(?:['\u2019]s\b)?[^:`\"'*\[]*:\s*"
        rf"(?-i:{_CITED}){_END}",
        rf"(?-i:{_CITED})\s+(?:{_COPULA}|seems|sounds)\s+(?:like\s+)?(?:an?|the|my)\s+(?:\w+\s+){{0,4}}name\b"
        r"(?P<rest>.*)",
        rf".*?\b(?:alternatively|another\s+(?:\w+\s+)?(?:option|name|possibility))\b[^`\"'\[*]*?(?-i:{_CITED})"
        r"(?P<rest>).*",
    )
)
"""Sentences that name the function; the last one names it otherwise."""


@cache
def _stating(keys: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(re.sub(r"\s+", r"\\s+", word) for word in keys)
    return re.compile(
        r"(?:.*?[,;:]\s+)?(?:so\s+|thus\s+|hence\s+)?(?:the|my)\s+(?:final\s+|correct\s+|right\s+)*"
        rf"(?:{words})\s+is\s*:?\s*(?P<said>.+)",
        re.I,
    )


def _states(candidate: AnswerShape) -> re.Pattern[str]:
    """Sentences that state the answer: `The answer is …`; for a closed set `The label is …`, too."""
    return _stating(("answer", *(candidate.labels if candidate.sentence else ())))


_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z]|[`\"'*\[])")


def _sentence(text: str, candidate: AnswerShape, place: _Place) -> Iterator[Answer]:
    if place.fenced:
        return
    emphasised = _EMPHASISED.fullmatch(text.strip())
    plain = emphasised["inner"] if emphasised else text.strip()
    for sentence in _SENTENCES.split(_STYLED.sub(r"\1", plain)):
        if len(sentence) > _LONGEST_SENTENCE:
            continue
        if candidate.is_name:
            yield from _named(sentence, candidate)
        if match := _states(candidate).fullmatch(sentence):
            inner, ticks = _peeled(match["said"].strip().removesuffix("."))
            yield from _as_tuple(candidate.of_quoted(inner) if ticks else candidate.of_boxed(inner))


def _statement(text: str, candidate: AnswerShape, place: _Place) -> Iterator[Answer]:
    if place.fenced or not candidate.states:
        return
    for sentence in _SENTENCES.split(text.strip()):
        if len(sentence) > _LONGEST_SENTENCE:
            continue
        for pattern in candidate.states:
            if match := re.fullmatch(rf"{pattern}\s*:?\s*(?P<said>.+)", sentence, re.I):
                inner, ticks = _peeled(match["said"].strip().removesuffix("."))
                yield from _as_tuple(candidate.of_quoted(inner) if ticks else candidate.of_boxed(inner))


_EMPHASISED: Final = re.compile(r"(\*{1,3}|_{2,3})(?P<inner>.+)\1\.?")
_DOUBTS: Final = re.compile(
    r"\b(?:thought|considered|but|however|although|though|while|instead|rather|or|either|first|initially|could|"
    r"might|may|maybe|perhaps|not)\b",
    re.I,
)
"""Words in front of a candidate that say that a name before them is another candidate."""
_ANY_CITED: Final = re.compile(_CITED)


def _named(sentence: str, candidate: AnswerShape) -> Iterator[Answer]:
    plain = _ABBREVIATION.sub("", sentence)
    for pattern in _NAMING:
        match = pattern.fullmatch(plain)
        if match and not _OTHERS.search(match["rest"]):
            answer = _cited(match, candidate)
            if answer is not None:
                yield answer
                # "I first thought of `a`, but the name should be `b`" has two candidates.
                front = plain[: min(match.start(name) for name in _CITED_BY if match[name] is not None)]
                if _DOUBTS.search(front):
                    cited = (_cited(mention, candidate) for mention in _ANY_CITED.finditer(front))
                    yield from (other for other in cited if other is not None)
                return


_CITED_BY: Final = ("ticks", "bold", "double", "single", "curly", "box", "bare")


# ── forms of blocks ──────────────────────────────────────────────────────────────────────────────────────

_DEFINITION: Final = re.compile(
    r"^(?P<indent>[ \t]*)(?:async[ \t]+)?(?:def[ \t]+(?P<python>[^\W\d]\w*)[ \t]*\("
    r"|(?:(?:public|private|protected|static|final|abstract|synchronized|native)[ \t]+)+"
    r"[\w<>\[\], .?]+?[ \t]+"
    r"(?P<java>[^\W\d]\w*)[ \t]*\([^;{}]*\)[^;{}]*\{?[ \t]*$)",
    re.MULTILINE,
)
_MASKED: Final = re.compile(r"MASK(?:_\d+)?")


def _definition(text: str, candidate: AnswerShape, place: _Place) -> Iterator[Answer]:
    """The names of the outermost functions that a code defines, without the one that is to be named."""
    if not candidate.is_name or len(text) > _LONGEST:
        return
    definitions = list(_DEFINITION.finditer(text))
    least = min((len(definition["indent"].expandtabs()) for definition in definitions), default=0)
    for definition in definitions:
        name = definition["python"] or definition["java"]
        if len(definition["indent"].expandtabs()) == least and not _MASKED.fullmatch(name):
            yield from _as_tuple(candidate.of_quoted(name))


def _whole(text: str, candidate: AnswerShape, place: _Place) -> tuple[Answer, ...]:
    plain = text.strip()
    return _as_tuple(candidate.alone(plain)) if place.fenced or plain[:1] in "[{(" else ()


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────


def _line_rank(place: _Place) -> Rank:
    if place.opening or place.fenced:
        return "opening" if place.opening else "weak"
    return "shown" if place.introduced else "rival"


def _shown_rank(place: _Place) -> Rank:
    return "opening" if place.opening else "weak"


def _opening_only(place: _Place) -> Rank | None:
    return "opening" if place.opening else None


def _marked(place: _Place) -> Rank:
    return "opening" if place.opening else "marked"


ALONE: Final = "alone"
LABELLED: Final = "labelled line"
ITEM: Final = "list item"
CLOSED_SENTENCE: Final = "sentence with one label"
FORMS: Final = (
    Form(ALONE, "the line is nothing but the answer", "read_file", _alone, _line_rank),
    Form("emphasis", "it stands in asterisks or underscores", "**read_file**", _emphasised, _shown_rank),
    Form("backticks", "it stands in backticks", "`read_file`", _in_backticks, _shown_rank),
    Form("quotes", "it stands in quotes", '"read_file"', _in_quotes, _shown_rank),
    Form(
        "tag",
        r"it stands in a tag with a label as its name, or in `\boxed{}`",
        "<name>read_file</name>",
        _in_tag,
        _shown_rank,
    ),
    Form("brackets", "it stands in brackets", "[read_file]", _in_brackets, _shown_rank),
    Form(
        "pair",
        "two brackets, a full name and its abbreviation (names only)",
        "[read_file] [rf]",
        _pair,
        _marked,
    ),
    Form(
        "JSON",
        "an object with a label as a key, or a list (for names, its parts)",
        '{"name": "read_file"}',
        _json,
        _shown_rank,
    ),
    Form(
        "reason",
        "a reason stands behind it on the first line (names only)",
        "`read_file` - it reads a file",
        _with_reason,
        _opening_only,
    ),
    Form(
        "sentence",
        "a sentence that says `the answer is …`; for names, one that names the function",
        "The function name should be `read_file`.",
        _sentence,
        lambda place: "marked",
    ),
    Form(
        "statement",
        "a sentence that says what the code does: returns, raises, takes (values and numbers only)",
        "The call returns `[1, 2]`.",
        _statement,
        lambda place: "weak",
    ),
    Form(
        "words",
        "the whole reply is the subtokens of a name, with blanks between them (names only)",
        "read file",
        _in_words,
        _opening_only,
    ),
    Form(
        CLOSED_SENTENCE,
        "the first line names one label and no other, without `not` or `if` (closed sets of labels only)",
        "The function is buggy.",
        _of_closed,
        lambda place: "opening" if place.first else "told",
    ),
    Form(
        "block",
        "a fence around it, over several lines",
        "```\n[1,\n 2]\n```",
        _whole,
        _shown_rank,
        block=True,
    ),
    Form(
        "JSON",
        "an object over several lines",
        '{\n  "name": "read_file"\n}',
        _json,
        _shown_rank,
        block=True,
    ),
    Form(
        "code",
        "code that defines one function (names only)",
        "def read_file(path):\n    return open(path).read()",
        _definition,
        lambda place: "weak",
        block=True,
    ),
)
"""The forms of lines and of blocks; of each text the first one counts. A list marker or a label in front of a
line is taken off before (`list item`, `labelled line`), and so are fences, headings and thoughts."""


def read(text: str, candidate: AnswerShape) -> Reading | None:
    """The one answer that a reply states; `None` if it states none, or several that differ."""
    candidates = list(_candidates(without_thoughts(text), candidate))
    leaders = [entry for entry in candidates if entry.rank in ("opening", "marked")]
    against = {"shown", "rival"}
    # What only a sentence says, another sentence can take back.
    if all(entry.form == CLOSED_SENTENCE for entry in leaders):
        against.add("told")
    rivals = [entry for entry in candidates if entry.rank in against] if leaders else []
    leaders = leaders or [entry for entry in candidates if entry.rank in ("shown", "weak")]
    if len({candidate.key(entry.answer) for entry in (*leaders, *rivals)}) != 1 or not leaders:
        return None
    return Reading(leaders[0].answer, leaders[0].form)


@dataclass(slots=True)
class _Block:
    """Lines of a reply that stand together: a paragraph, or a fence."""

    lines: list[str]
    fenced: bool

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def _blocks(text: str) -> Iterator[_Block]:
    """The blocks with content."""
    lines: list[str] = []
    fenced = False
    for raw in text.splitlines():
        if _FENCE.fullmatch(raw) or (not raw.strip() and not fenced):
            if any(map(str.strip, lines)):
                yield _Block(lines, fenced)
            lines = []
            fenced = not fenced if raw.strip() else False
            continue
        closed = _CLOSED_BEHIND.fullmatch(raw) if fenced else None
        lines.append(closed[1] if closed else raw)
        if closed:
            yield _Block(lines, True)
            lines, fenced = [], False
    if any(map(str.strip, lines)):
        yield _Block(lines, fenced)


class _State:
    """What was read of a reply so far."""

    def __init__(self) -> None:
        self.begun = False
        """Whether a line with content was read."""
        self.opening: bool | None = None
        """Whether the first block began with a candidate; `None` before it."""
        self.label: str | None = None
        """The label that the next text stands behind."""
        self.introduced = False
        self.listed = False
        """Whether the first line is an item of a list."""
        self.questioned = False
        """Whether a question names a label, so that `no` may mean every label."""


def _candidates(text: str, candidate: AnswerShape) -> Iterator[_RankedAnswer]:
    label = _label_of(candidate)
    state = _State()
    blocks = list(_blocks(text))
    only = len(blocks) == 1 and sum(bool(line.strip()) for line in blocks[0].lines) == 1
    for number, block in enumerate(blocks):
        place = _Place(number == 0, not state.begun, state.introduced, block.fenced)
        candidates = list(_of_block(block, candidate, place, state.label))
        if candidates:
            yield from candidates
            state.begun, state.label, state.introduced = True, None, False
            continue
        for line in _joined(block.lines, candidate):
            if line.strip():
                yield from _of_line(
                    line, candidate, label, state, first_block=number == 0, fenced=block.fenced, only=only
                )


_INTRODUCES: Final = (":", "!", "?", "\uff1a", "\uff1f")
"""How a line ends that introduces the next one. Some models repeat the question first."""
_QUESTION: Final = re.compile(r"(?!.*\b(?:or)\b)[^?.!:`\"'\[\]]{12,200}\?\s+(?=\S)")
"""A repeated question in front of its answer, on one line."""
_BOX: Final = re.compile(r"\s*[*`]*\[[^\[\]]+\][*`]*\s*")


def _joined(lines: Sequence[str], candidate: AnswerShape) -> Iterator[str]:
    """The lines; the two brackets of a pair may stand on two of them."""
    rest = list(lines)
    while rest:
        line = rest.pop(0)
        if candidate.is_name and rest and _BOX.fullmatch(line) and _BOX.fullmatch(rest[0]):
            line = f"{line.strip()} {rest.pop(0).strip()}"
        yield line


def _of_block(
    block: _Block, candidate: AnswerShape, place: _Place, label: str | None
) -> Iterator[_RankedAnswer]:
    for form in FORMS:
        # A single line of code is a definition, too; all else of one line has the forms of lines.
        if not form.block or (len(block.lines) < 2 and form.find is not _definition):
            continue
        answers = tuple(form.find(block.text, candidate, place))
        if answers:
            rank = form.rank(place) if label is None else _rank_of(label, candidate)
            if rank is not None:
                yield from (_RankedAnswer(answer, form.name, rank) for answer in answers)
            return


def _of_line(
    raw: str,
    candidate: AnswerShape,
    label: re.Pattern[str],
    state: _State,
    *,
    first_block: bool,
    fenced: bool,
    only: bool,
) -> Iterator[_RankedAnswer]:
    heading = _HEADING.match(raw)
    line = raw[heading.end() :] if heading else raw
    if not state.begun and (question := _QUESTION.match(line)):
        state.questioned = _names_label(question[0], candidate)
        line = line[question.end() :]
    first, state.begun = not state.begun, True
    behind, state.label = state.label, None
    introduced, state.introduced = state.introduced, line.rstrip().rstrip("*_").endswith(_INTRODUCES)
    # The decoration may be around the label and the answer: **Answer: buggy**.
    item = _ITEM.match(line)
    for text in dict.fromkeys((line, plain_line(line), line[item.end() :] if item else line)):
        match = label.match(text) if len(text) <= _LONGEST else None
        if match and (
            match["word"].lower() in ANSWERS
            or match[0].rstrip(" *_").endswith((":", "=", "\uff1a"))
            or heading
            or "*" in raw
        ):
            behind, line = match["word"].lower(), _closed_before(text[match.end() :])
            if candidate.is_name and len(line) <= _LONGEST_LINE:
                line = _ABBREVIATION.sub("", line)
            if not line.strip(" *_"):
                state.label = behind
                return
            break
    if behind is not None:
        place = _Place(True, True, False, fenced, only)
        answers_behind = [answer for answer, _, _ in _of_text(line, candidate, place, quoted=True)]
        rank = _rank_of(behind, candidate, first=first)
        yield from (_RankedAnswer(answer, LABELLED, rank) for answer in answers_behind)
        if answers_behind and first_block and state.opening is None:
            state.opening = True
        return
    opening = first_block and (first or state.opening is True)
    if first:
        state.listed = _ITEM.match(line) is not None
    listed = opening and state.listed and _ITEM.match(line) is not None
    place = _Place(opening, first, introduced, fenced, only, listed)
    answers = [
        (answer, name, rank)
        for answer, name, rank in _of_text(line, candidate, place)
        if not (heading and rank == "rival")
    ]
    if first_block and state.opening is None:
        state.opening = any(rank == "opening" for _, _, rank in answers)
    if line.rstrip().endswith(("?", "\uff1f")):
        state.questioned = state.questioned or _names_label(line, candidate)
    for answer, name, rank in answers:
        if state.questioned and _BARE_VALUE.match(plain_line(line)):
            continue
        # A word alone on a later line may be a heading.
        if rank in ("rival", "shown") and not candidate.is_word and _PLAIN_WORD.fullmatch(plain_line(line)):
            if rank == "rival":
                continue
            rank = "weak"
        yield _RankedAnswer(answer, name, rank)
    # A list that follows an introduction is introduced as a whole.
    if introduced and answers and _ITEM.match(line):
        state.introduced = True


def _of_text(
    line: str, candidate: AnswerShape, place: _Place, *, quoted: bool = False
) -> Iterator[tuple[Answer, str, Rank]]:
    """The candidates of a line by the first form that it has."""
    item = _ITEM.match(line)
    for text, prefix in ((line, ""), (line[item.end() :], ITEM)) if item else ((line, ""),):
        for form in FORMS:
            if form.block or (len(text) > _LONGEST_LINE and form.find not in (_alone, _json)):
                continue
            answers = tuple(form.find(text, candidate, place))
            if not answers and quoted and form.name == ALONE:
                answers = _as_tuple(candidate.of_quoted(text.strip().removesuffix(".")))
            rank = form.rank(place) if answers else None
            if rank is not None:
                if prefix and rank == "rival":
                    rank = "weak"
                yield from ((answer, prefix or form.name, rank) for answer in answers)
                return


def _names_label(text: str, candidate: AnswerShape) -> bool:
    return candidate.mentions is not None and bool(candidate.mentions(text))


def _closed_before(text: str) -> str:
    """What stands behind a label, without the end of an emphasis that began in front of the label."""
    plain = text.rstrip(" .")
    return plain.removesuffix("**") if plain.endswith("**") and plain.count("**") == 1 else text


def _rank_of(label: str, candidate: AnswerShape, *, first: bool = False) -> Rank:
    """How much a candidate behind a label says."""
    # "Result: 6" stands in explanations of values, too.
    if any(re.fullmatch(word, label) for word in candidate.asides):
        return "opening" if first else "weak"
    return "marked" if label in ANSWERS or candidate.is_name else "weak"


# ── closed sets ──────────────────────────────────────────────────────────────────────────────────────────

CLASS_LABELS: Final = ("label", "class(?:ification)?", "category", "prediction", "verdict", "result")
"""Words in front of a label of a closed set."""
_WRAPPING: Final = "\"'`*_.,;:!()[] "
_QUOTES: Final = "[\"'*_`]*"
_BARE_VALUE: Final = re.compile(r"-?\d+(?:\.\d+)?\b|(?:true|false|yes|no)\b", re.I)
"""Labels that prose has with another meaning: they are read alone, or behind a word such as `Label:`."""


def is_value(label: str) -> bool:
    """Whether a label is a number or a truth value, which says nothing of what it means."""
    return _BARE_VALUE.fullmatch(label) is not None


_NEGATED: Final = re.compile(
    r"\b(?:not|no|non|never|neither|nor|without|cannot|free\s+of|lacks?|hardly)\b|n['\u2019]t\b"
    r"|\b(?:if|unless|whether|would|could|might|may|maybe|perhaps|either|or)\b|\?",
    re.I,
)


_SAYS: Final = re.compile(
    r"\b(?:is|are|be|has|have|contains?|looks?|seems?|appears?|labell?ed|labels?|class|classified|category|as|"
    r"belongs|falls|suffers|shows|exhibits)\b|['\u2019]s\b|:",
    re.I,
)
"""Words in front of a label in a sentence that gives it."""


class Closed:
    """A closed set of labels, as texts may say them."""

    def __init__(
        self,
        labels: Sequence[str],
        *,
        spellings: Mapping[str, str],
        words: Mapping[str, str],
        any_case: bool,
    ) -> None:
        """`spellings` say a label where they stand alone; `words` are those of `--label-map`."""
        self._words = words
        self._by_text = {**spellings, **{text: text for text in (*labels, *words)}}
        folded: dict[str, set[str]] = {}
        for text in self._by_text:
            folded.setdefault(text.casefold(), set()).add(text)
        # A label must stand as it is. A word of `--label-map` may begin a sentence with a capital.
        free = self._by_text.keys() if any_case else words.keys()
        self._folded = {
            fold: texts.pop() for fold, texts in folded.items() if len(texts) == 1 and texts <= set(free)
        }
        alone = [text for text in self._by_text if text not in spellings or text in words]
        parts = [text for text in sorted(alone, key=len, reverse=True) if not _BARE_VALUE.fullmatch(text)]
        patterns = [
            f"(?i:{re.escape(part)})" if self._folded.get(part.casefold()) == part else re.escape(part)
            for part in parts
        ]
        self._in_prose = re.compile(rf"(?<![\w-])(?:{'|'.join(patterns)})(?![\w-])" if patterns else r"(?!)")
        numbers = [re.escape(text) for text in alone if _BARE_VALUE.fullmatch(text)]
        self._opening = re.compile(
            rf"{_QUOTES}(?P<said>{'|'.join([*patterns, *numbers]) or '(?!)'}){_QUOTES}"
            rf"(?P<rest>[.,;:!]{_QUOTES}(?:\s.*)?|\s+[-(\u2013\u2014].*|\uff08.*)?",
            re.DOTALL,
        )

    def label_of(self, text: str) -> str | None:
        """The label or the word that a text is as a whole."""
        plain = " ".join(text.split())
        for form in (plain, plain.strip(_WRAPPING)):
            for way in (form, as_label(form) or ""):
                key = way if way in self._by_text else self._folded.get(way.casefold())
                if key is not None:
                    return self._by_text[key]
        return None

    def meaning(self, answer: object) -> object:
        """The label that a label or a word means to the driver."""
        return self._words.get(str(answer), answer)

    def named(self, text: str) -> list[str]:
        """The labels and words in a text, in order."""
        labels = (self.label_of(word) for word in self._in_prose.findall(text))
        return [label for label in labels if label is not None]

    def alone(self, line: str) -> str | None:
        """A label with nothing beside it, or in front of a reason that does not name another one."""
        if (label := self.label_of(line)) is not None:
            return label
        match = self._opening.fullmatch(line.strip()) if len(line) <= _LONGEST_LINE else None
        first = None if match is None else self.label_of(match["said"])
        if match is None or first is None:
            return None
        rest = match["rest"] or ""
        # "1. The loop" begins a list.
        if match["said"].strip("-.").isdigit() and not re.fullmatch(r"\s+\(.*", rest, re.DOTALL):
            return None
        others = [self.label_of(word) for word in re.findall(r"true|false|yes|no", rest, re.I)]
        labels = [other for other in others if other is not None]
        return first if self._agree([first, *labels, *self.named(rest), *self._in_brackets(rest)]) else None

    def sentence(self, line: str) -> str | None:
        """A line that names one label and no other, and does not deny it or doubt it."""
        labels = self.named(line)
        if not labels or not self._agree(labels):
            return None
        first = self._in_prose.search(line)
        assert first is not None
        begins = max(line.rfind(end, 0, first.start()) for end in (". ", "! "))
        sentence = line[begins + 1 : first.start()]
        if _NEGATED.search(sentence) or line.rstrip().endswith("?"):
            return None
        # "Clean code is important" says nothing of this code. `CWE-79` is no word of prose.
        is_code = re.search(r"[\d_-]", first[0]) is not None
        return labels[0] if is_code or _SAYS.search(sentence) else None

    def _in_brackets(self, rest: str) -> list[str]:
        inner = re.match(r"\s+\(([^()]*)\)", rest)
        label = self.label_of(inner[1]) if inner else None
        return [] if label is None else [label]

    def _agree(self, labels: Sequence[str]) -> bool:
        return len({self.meaning(label) for label in labels}) == 1


@cache
def closed(
    labels: tuple[str, ...],
    *,
    spellings: tuple[tuple[str, str], ...] = (),
    words: tuple[tuple[str, str], ...] = (),
    any_case: bool = False,
    keys: tuple[str, ...] = CLASS_LABELS,
) -> AnswerShape:
    """The shape of an answer that is one of these labels. `keys` stand in front of one (`Label: …`)."""
    label_set = Closed(labels, spellings=dict(spellings), words=dict(words), any_case=any_case)

    def with_words(more: tuple[tuple[str, str], ...]) -> AnswerShape:
        return closed(labels, spellings=spellings, words=more, any_case=any_case, keys=keys)

    return AnswerShape(
        alone=label_set.alone,
        boxed=label_set.alone,
        sentence=label_set.sentence,
        mentions=label_set.named,
        labels=keys,
        is_word=True,
        key=label_set.meaning,
        mapped=with_words,
    )


@cache
def _with_words(shape: AnswerShape, words: tuple[tuple[str, str], ...]) -> AnswerShape:
    """A shape that is no closed set, with the words of `--label-map` as they stand."""
    label_set = Closed((), spellings={}, words=dict(words), any_case=False)

    def either(read: ReplyReader) -> ReplyReader:
        def first(text: str) -> Answer | None:
            label = label_set.label_of(text)
            return read(text) if label is None else label

        return first

    return replace(
        shape,
        alone=either(shape.alone),
        quoted=None if shape.quoted is None else either(shape.quoted),
        boxed=None if shape.boxed is None else either(shape.boxed),
        key=lambda answer: shape.key(dict(words).get(str(answer), answer)),
    )
