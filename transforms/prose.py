"""Edits of the words that say what code is for, in any language: letter case, blanks, typos and paraphrases.

ReCode perturbs docstrings in this way (Wang et al. 2022, arXiv 2212.10264, section 3.1). The code stays as it
is. That people still read the same request in the words is assumed and not shown. So these transforms are a
kind of their own (`prose`), with the evidence `assumed`, and count in no rate but their own.

Only plain words of sentences are edited. Examples and all that stands behind the first of them stay, and so
do lines that hold code, names of the code, and words in upper case. A few words are edited and not each of
them: `propose` draws one edit in each stretch of `SPARSE` words.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from codeaudit.transforms.language import TransformEntry
from codeaudit.transforms.patches import Patch, Site

ASSUMES: Final = "readers still take the words for the same request"
UNPROVED: Final = "other words for the same code; that they ask for the same is assumed and not shown"
NO_WORDS: Final = "no documentation with words that can be edited"

SPARSE: Final = 4
"""Words of a stretch in which one place is edited."""
SHORTEST: Final = 4
"""Letters of the shortest word that gets a typo or a blank inside: shorter ones would be other words."""

_EXAMPLES: Final = re.compile(
    r"\W*(?:>>>|(?:(?:for|some)\s+)?(?:examples?|instance|e\.g|input|output|constraints?|tests?|usage)\b)",
    re.IGNORECASE,
)
"""How the line begins with which examples begin."""
_CODE: Final = re.compile(r"[=<>(){}\[\]`#\\|]|➞|→|::")
"""What only lines with code have."""
_WORD: Final = re.compile(r"(?<![^\s])[A-Za-z][a-z]*(?=[,.;!?]*(?:\s|$))")
_NEIGHBOURS: Final[Mapping[str, str]] = {
    letter: "".join(row[place] for place in (at - 1, at + 1) if 0 <= place < len(row))
    for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    for at, letter in enumerate(row)
}
"""The letters beside each letter on a keyboard."""

PARAPHRASES: Final[Mapping[str, tuple[str, ...]]] = {
    "all of the": ("every one of the",),
    "all the": ("all of the", "every one of the"),
    "and return": ("and give back", "and then return"),
    "are given": ("are provided with", "get"),
    "as well as": ("and also",),
    "at least": ("no less than",),
    "at most": ("no more than",),
    "biggest": ("largest",),
    "calculate": ("compute", "work out"),
    "check if": ("check whether", "find out whether", "test whether"),
    "check whether": ("check if", "find out whether"),
    "checks if": ("checks whether", "finds out whether"),
    "compute": ("calculate", "work out"),
    "computes": ("calculates", "works out"),
    "consisting of": ("made up of",),
    "consists of": ("is made up of",),
    "contains": ("holds", "has in it"),
    "containing": ("that holds", "that contains"),
    "create a function": ("write a function", "define a function"),
    "determine if": ("find out whether", "decide whether"),
    "does not": ("doesn't",),
    "each of": ("every one of",),
    "find": ("look for", "determine"),
    "finds": ("looks for", "determines"),
    "for each": ("for every",),
    "for every": ("for each",),
    "given a": ("provided with a", "for a given"),
    "given an": ("provided with an", "for a given"),
    "greater than": ("larger than",),
    "greatest": ("largest", "biggest"),
    "if there is no": ("when there is no", "where there is no"),
    "if there are no": ("when there are no", "where there are no"),
    "implement a function": ("write a function", "define a function"),
    "in order to": ("to",),
    "is not": ("isn't",),
    "largest": ("biggest", "greatest"),
    "larger than": ("greater than",),
    "less than": ("smaller than",),
    "make a": ("build a", "create a"),
    "otherwise": ("if not", "in any other case"),
    "remove": ("delete", "take away"),
    "return": ("give back", "hand back"),
    "returns": ("gives back", "hands back"),
    "should return": ("is to return", "must return"),
    "smaller than": ("less than",),
    "smallest": ("lowest",),
    "such that": ("so that",),
    "takes": ("accepts", "gets"),
    "that takes": ("which takes", "that accepts"),
    "that contains": ("which contains", "containing"),
    "that returns": ("which returns", "returning"),
    "the number of": ("the count of",),
    "using": ("by using", "with the help of"),
    "which is": ("that is",),
    "which returns": ("that returns", "returning"),
    "with the same": ("that have the same",),
    "write a function": ("create a function", "implement a function", "define a function"),
    "you are given": ("you are provided with", "you get", "you have"),
    "you have to": ("you must", "you need to"),
    "you need to": ("you have to", "you must"),
    "your task is to": ("what you have to do is to",),
}
"""Phrases, in lower case, with others that say the same. Of two that begin at one place the longer counts."""


@dataclass(frozen=True, slots=True)
class WordEdit:
    """The letters from `start` up to but not including `end` become `text`."""

    start: int
    end: int
    text: str


Edits: TypeAlias = Callable[[str, Set[str]], Iterator[tuple[WordEdit, ...]]]
"""From a text of words, and the names of the code, to its places; each has the edits to choose from. `names`
are not edited."""


def place(words: str, options: Sequence[WordEdit], start: int, line: int) -> Site:
    """The site of edits in words that begin at byte `start`, on line `line` of a text."""
    edges = [
        (start + len(words[: option.start].encode()), start + len(words[: option.end].encode()))
        for option in options
    ]
    patches = tuple((Patch(*edge, (option.text,)),) for edge, option in zip(edges, options, strict=True))
    return Site(patches, "words", line + words[: options[0].start].count("\n"))


def plain_words(text: str, names: Set[str]) -> list[list[re.Match[str]]]:
    """The words of the sentences of a text, line by line."""
    lines = []
    at = 0
    for line in text.splitlines(keepends=True):
        if _EXAMPLES.match(line):
            break
        # A name in upper case, such as NULL, is no word; `A` and `I` are.
        if not _CODE.search(line):
            words = [word for word in _WORD.finditer(text, at, at + len(line)) if word[0] not in names]
            lines.append(words)
        at += len(line)
    return [line for line in lines if line]


def letter_case(text: str, names: Set[str]) -> Iterator[tuple[WordEdit, ...]]:
    """Words in upper case, with another first letter, or with every second letter in upper case."""
    for stretch in _stretches(text, names):
        yield tuple(
            WordEdit(word.start(), word.end(), other)
            for word in stretch
            for other in dict.fromkeys(_cases(word[0]))
            if other != word[0]
        )


def blanks(text: str, names: Set[str]) -> Iterator[tuple[WordEdit, ...]]:
    """Two blanks for one, no blank between two words, or a blank inside of a word."""
    for stretch in _stretches(text, names):
        gaps = [(one.end(), other.start()) for one, other in pairwise(stretch)]
        yield tuple(
            WordEdit(start, end, other)
            for start, end in gaps
            if text[start:end] == " "
            for other in ("  ", "")
        ) + tuple(
            WordEdit(place, place, " ")
            for word in stretch
            if len(word[0]) >= SHORTEST
            for place in range(word.start() + 2, word.end() - 1)
        )


def typos(text: str, names: Set[str]) -> Iterator[tuple[WordEdit, ...]]:
    """A word with two letters exchanged, one left out, one doubled, or one that is beside it on the keyboard.

    The first letter and the last one stay. No word becomes another word of the text.
    """
    known = {word[0].lower() for line in plain_words(text, frozenset()) for word in line} | names
    for stretch in _stretches(text, names):
        yield tuple(
            WordEdit(word.start(), word.end(), other)
            for word in stretch
            if len(word[0]) >= SHORTEST
            for other in dict.fromkeys(_slips(word[0]))
            if other != word[0] and other.lower() not in known
        )


def paraphrases(text: str, names: Set[str]) -> Iterator[tuple[WordEdit, ...]]:
    """Phrases of `PARAPHRASES` in other words."""
    for line in plain_words(text, names):
        done = 0
        for number, word in enumerate(line):
            if number < done:
                continue
            for length in range(_LONGEST, 0, -1):
                part = line[number : number + length]
                phrase = text[word.start() : part[-1].end()]
                if len(part) == length and (others := PARAPHRASES.get(phrase.lower())):
                    yield tuple(
                        WordEdit(word.start(), part[-1].end(), _as_begun(phrase, other)) for other in others
                    )
                    done = number + length
                    break


_LONGEST: Final = max(phrase.count(" ") + 1 for phrase in PARAPHRASES)


def _as_begun(phrase: str, other: str) -> str:
    return other[0].upper() + other[1:] if phrase[0].isupper() else other


def _stretches(text: str, names: Set[str]) -> Iterator[list[re.Match[str]]]:
    for line in plain_words(text, names):
        for start in range(0, len(line), SPARSE):
            yield line[start : start + SPARSE]


def _cases(word: str) -> Iterator[str]:
    yield word.upper()
    yield word.swapcase() if len(word) == 1 else word[0].swapcase() + word[1:]
    yield "".join(letter.upper() if place % 2 else letter.lower() for place, letter in enumerate(word))


def _slips(word: str) -> Iterator[str]:
    for at in range(1, len(word) - 1):
        before, letter, after = word[:at], word[at], word[at + 1 :]
        yield before + after
        yield before + letter + letter + after
        for other in _NEIGHBOURS[letter.lower()]:
            yield before + other + after
        if len(after) > 1:
            yield before + after[0] + letter + after[1:]


def rephrases(target: str, summary: str, example: str) -> TransformEntry:
    """The row of a transform of prose; `target` is `module:ATTRIBUTE` inside the family's package."""
    return TransformEntry(target, summary, kind="prose", example=example, interface=True, assumes=ASSUMES)


SUMMARY: Final = (
    "Words of the documentation that say what code is for: assumed, never shown, to mean the same."
)
EVERY: Final[Mapping[str, tuple[Edits, str]]] = {
    "prose-case": (letter_case, "letters of some words in another case"),
    "prose-spacing": (blanks, "blanks between some words, or in them, come or go"),
    "prose-typos": (typos, "a typo in some words"),
    "prose-paraphrase": (paraphrases, "phrases in other words, from a fixed table"),
}
"""The transforms of the family `prose` by name, each with a summary."""
