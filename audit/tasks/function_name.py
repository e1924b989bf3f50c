"""Function-name prediction: which subtokens does the name of this function have?

Label and score are those of code2vec and its successors, as `spe-attention` uses them: a name is the set of
its lower-cased subtokens, and the score is the micro-averaged F1 of predicted against true subtokens.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from typing_extensions import override

from codeaudit.audit.interface import NameOfCode, Task
from codeaudit.audit.languages import audit_of, is_programming
from codeaudit.audit.prompts import QuestionPrompt
from codeaudit.audit.records import Answer
from codeaudit.audit.replies import AnswerShape
from codeaudit.audit.tasks import wordings
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.parsing import FunctionNode, drawn_tree
from codeaudit.transforms.records import Sample
from codeaudit.transforms.registration import load_target

MASK: Final = "MASK"
"""Replaces the name in the source. If the source has this word already, `MASK_1`, `MASK_2`, … are tried."""

NO_FUNCTION: Final = "no function to name"
_CHUNKS: Final = re.compile(r"[^\W\d_]+|\d+")
# "parseHTTPResponse": before an upper-case letter after a lower-case one, and before the last letter of a run
# of upper-case letters that begins a word.
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TEST: Final = re.compile(r"tests?$|test_|test[A-Z]|.*_test$")
_PREFIXES: Final = frozenset({"f", "r", "b", "u", "fr", "rf", "br", "rb"})


@lru_cache(maxsize=16_384)  # the texts of a run share their words
def subtokens(name: str) -> tuple[str, ...]:
    """The lower-cased parts of a snake_case or camelCase name, in order; runs of digits are parts too.

    >>> subtokens("parseHTTPResponse_v2")
    ('parse', 'http', 'response', 'v', '2')
    """
    return tuple(part.lower() for chunk in _CHUNKS.findall(name) for part in _CAMEL.split(chunk))


def name_of(source: str, language: str) -> str | None:
    """The name of the one function that a text defines; `None` if there is none, or if the language's record
    does not say where a name stands.
    """
    target = audit_of(language).unit_name
    name: str | None = load_target(target)(source) if target else None
    return name


def tells_name(language: str) -> bool:
    """Whether the texts of a language contain the name of their function."""
    return bool(audit_of(language).unit_name)


def function_name(source: str) -> str | None:
    """The name of the last function at the top level of a Python text; `None` if there is none."""
    try:
        tree = drawn_tree(source)
    except SourceError:
        return None
    # The last one, because a problem of HumanEval has its helpers above the function that it is about.
    functions = [node for node in tree.body if isinstance(node, FunctionNode)]
    return functions[-1].name if functions else None


def masked(source: str, name: str) -> str:
    """The source with the name replaced wherever it is a whole word, also in strings and comments."""
    mask = MASK
    number = 0
    while next(_whole_words(source, mask), None) is not None:
        number += 1
        mask = f"{MASK}_{number}"
    # A function called `f` must not turn the prefix of an f-string into the mask.
    quotes = "'\"" if name.lower() in _PREFIXES else ""
    parts, end = [], 0
    for start in _whole_words(source, name, quotes):
        parts += [source[end:start], mask]
        end = start + len(name)
    return "".join(parts) + source[end:]


def _whole_words(source: str, word: str, others: str = "") -> Iterator[int]:
    """Where a word stands with no letter, digit or `_` beside it, and with none of `others` behind it."""
    # Not a regular expression: each name would need one of its own, and making it takes longer than this.
    start = source.find(word)
    while start >= 0:
        end = start + len(word)
        before, behind = source[start - 1 : start], source[end : end + 1]
        if not (_in_word(before) or _in_word(behind) or (behind and behind in others)):
            yield start
            start = source.find(word, end)
        else:
            start = source.find(word, start + 1)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


class Counts(NamedTuple):
    """True positives (hits), false positives (extras) and false negatives (misses) among subtokens."""

    hits: int
    extras: int
    misses: int

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; `None` if nothing was true and nothing was predicted."""
        total = 2 * self.hits + self.extras + self.misses
        return 2 * self.hits / total if total else None


def counts(answer: Answer, sample: Sample) -> Counts | None:
    """The counts of one answer against the label, both as sets; `None` without a label."""
    if not isinstance(sample.label, tuple) or not isinstance(answer, tuple):
        return None
    true, said = set(sample.label), set(answer)
    return Counts(len(true & said), len(said - true), len(true - said))


_ARGUMENTS: Final = re.compile(r"\([^()]*\)")
_IDENTIFIER: Final = re.compile(r"(?=.*[^\W\d_])\w[\w$]*")
"""In languages of plug-ins a name may begin with a digit."""
_WORDS: Final = re.compile(r"(?=.*[^\W\d_])[\w$ -]+")
_CAPITALISED: Final = re.compile(r"[^\W\d_a-z][^\W\d_A-Z]*")
"""One word with a capital, as sentences and headings begin: `Sure`, `Explanation`."""
_NOTHING: Final = frozenset({"none", "null", "nil", "undefined", "unknown", "nan", "na"})
"""Words for no name, also in backticks, quotes and brackets."""
_TALK: Final = _NOTHING | {"true", "false", "yes", "no", "ok", "okay", "sure", "sorry", "here", "i", "the"}
_PLACEHOLDER: Final = re.compile(
    rf"{MASK.lower()}(?:_?\d+)?|(?:your|the|new|some)?_?(?:full|function|method)_?name|abbreviation"
)
"""What stands for the name in the prompt and in the code, in small letters with `_` for a blank."""
_SPELLED: Final = re.compile(r"[a-z][a-z0-9]*(?: [a-z0-9]+){1,5}")
"""Subtokens with blanks between them, as some models write a name."""
_PROSE: Final = frozenset(
    (
        "a",
        "an",
        "the",
        "this",
        "that",
        "it",
        "its",
        "i",
        "my",
        "you",
        "your",
        "which",
        "no",
        "not",
        "cannot",
        "or",
    )
) | frozenset(("sorry", "unknown", "would", "should", "could", "function", "name", "named", "answer", "is"))
"""Words that a sentence has and a name rarely has."""


def _is_name(text: str) -> bool:
    plain = "_".join(text.lower().split())
    return plain not in _NOTHING and not _PLACEHOLDER.fullmatch(plain)


def _alone(text: str) -> str | None:
    """A name that stands on a line without decoration: one identifier, and no word of prose."""
    name = _quoted(text.removesuffix("."))
    return None if name is None or _CAPITALISED.fullmatch(name) or name.lower() in _TALK else name


def _quoted(text: str) -> str | None:
    """A name in backticks: one identifier."""
    name = _ARGUMENTS.sub("", text.strip().replace("\\_", "_"), count=1).strip()
    return name if _IDENTIFIER.fullmatch(name) and _is_name(name) else None


def _boxed(text: str) -> str | None:
    """A name in brackets, where the prompt wants it: an identifier, or words with blanks between them."""
    name = _ARGUMENTS.sub("", text.strip().replace("\\_", "_"), count=1).strip()
    return "_".join(name.split()) if _WORDS.fullmatch(name) and _is_name(name) else None


def _spelled(text: str) -> str | None:
    """The subtokens of a name with blanks between them, which are no sentence."""
    words = text.split()
    spelled = _SPELLED.fullmatch(" ".join(words)) and _PROSE.isdisjoint(words)
    return "_".join(words) if spelled and _is_name(text) else None


def _parts(texts: Sequence[str]) -> str | None:
    """The name whose subtokens these are; `None` if one of them is a name of several."""
    parts = [subtokens(text) for text in texts]
    return (
        "_".join(part[0] for part in parts)
        if len(parts) > 1 and all(len(part) == 1 for part in parts)
        else None
    )


_NAME: Final = AnswerShape(
    alone=_alone,
    quoted=_quoted,
    boxed=_boxed,
    words=_spelled,
    labels=("name",),
    asides=("function", "method", "output", "result", "suggestion"),
    others=("alternatives?(?: names?)?", "others?(?: names?)?", "another(?: name)?", "second(?: choice)?"),
    parts=_parts,
    is_name=True,
    key=lambda answer: frozenset(subtokens(str(answer))),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionName(Task):
    """The type of `FUNCTION_NAME`."""

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The sample with the name as its label and masked in the source; or why it is no example.

        In a language whose texts do not contain the name, the raw sample's label must be the name.
        """
        if reason := self.refuses(sample.language):
            return reason
        text = sample.label if isinstance(sample.label, str) else None
        name = name_of(sample.source, sample.language) if tells_name(sample.language) else text
        if name is None:
            return NO_FUNCTION
        if name.startswith("__") and name.endswith("__"):
            return "dunder name"  # the language gave it, not the programmer
        if _TEST.match(name):
            return "test"
        label = subtokens(name)
        if not label:
            return "name without letters"
        source = masked(sample.source, name)
        if tells_name(sample.language) and not (name_of(source, sample.language) or "").startswith(MASK):
            return "name cannot be masked"
        return replace(sample, source=source, label=label)

    @override
    def refuses(self, language: str) -> str:
        return "" if tells_name(language) or is_programming(language) else NO_FUNCTION

    @override
    def normalise(self, answer: object) -> Answer | None:
        """A name or a list of subtokens as the sorted tuple of distinct subtokens.

        Subtokens may have blanks between them. A sentence is no name.
        """
        # Sorted sets, because the score of code2vec ignores order: `read_file` equals `fileRead`.
        if isinstance(answer, str):
            name = _quoted(answer) or _spelled(answer)
            return None if name is None else tuple(sorted(set(subtokens(name)))) or None
        if isinstance(answer, list | tuple) and all(isinstance(part, str) for part in answer):
            return tuple(sorted({token for part in answer for token in subtokens(part)}))
        return None

    @override
    def score(self, answer: Answer, sample: Sample) -> float | None:
        """The F1 of one answer's subtokens against the name's, as sets."""
        overlap = counts(answer, sample)
        return overlap.f1 if overlap else None

    @override
    def part(self, answer: Answer, sample: Sample) -> tuple[float, ...] | None:
        """The counts of one answer."""
        return counts(answer, sample)

    @override
    def whole(self, columns: Sequence[Sequence[float]]) -> float | None:
        """The micro-averaged F1: counts are summed over the corpus first."""
        # Micro-averaged: a name of five subtokens weighs five times as much as a name of one.
        return Counts(*(int(sum(column)) for column in columns)).f1


def _placeholder(source: str, language: str) -> str | None:
    name = name_of(source, language)
    return name if name is not None and name.startswith(MASK) else None


FUNCTION_NAME: Final = FunctionName(
    name="function-name",
    question="Which subtokens does the name of this function have?",
    answers=NameOfCode(placeholder=_placeholder),
    score_name="f1",
    wordings=wordings.FUNCTION_NAME,
    prompt=QuestionPrompt(
        template=wordings.APPENDIX_B,
        reader=_NAME,
        usual=10,
    ),
)
