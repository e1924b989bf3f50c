"""Code without blanks: every transform makes of it the words that it makes of the same code with blanks."""

import re
from random import Random
from typing import Final

import pytest

from codeaudit.transforms.interface import Refused, Rewritten, is_surrounded
from codeaudit.transforms.language import find_language
from codeaudit.transforms.registry import transform_for

_RETURNED: Final = re.compile(r"\breturn ([^;(){}\"'`\n]+);")
_BLANKS: Final = re.compile(r"(?<=\w) +(?=[^\w\s\"'`/])|(?<=[^\w\s\"'`/,]) +(?=\w)")
"""Blanks between a word and a sign."""
_WORDS: Final = re.compile(r"\w+|[^\w\s]")
_BODY: Final = "{ if (a > 9) { if (a == b) return (1); else return (2); } return (a * 2) + b; }"
_HEADS: Final = {"javascript": "function f(a, b)", "typescript": "function f(a: number, b: number)"}
_DRAWN: Final = frozenset(
    {"unused-locals", "dead-stores", "unreachable-branches", "no-op-statements", "spacing", "indentation"}
)
"""What they insert is drawn with the text, or is blanks."""


def words(name: str, language: str, source: str) -> list[str] | str:
    """The words and signs of a text after an edit at every site, or why there is none."""
    transform = transform_for(name, language)
    if not source:
        return "no example"
    if is_surrounded(transform):
        transform = transform.within(source)
    moves = transform.propose(source, Random(0))
    made = moves if isinstance(moves, Refused) else transform.apply(source, moves)
    return _WORDS.findall(made.source) if isinstance(made, Rewritten) else made.reason


@pytest.mark.parametrize(
    "language",
    [
        "javascript",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("c", "cpp", "java", "typescript")),
    ],
)
def test_a_word_never_runs_together_with_what_was_behind_a_sign(language: str) -> None:
    record = find_language(language)
    assert record is not None
    own = f"{_HEADS.get(language, 'int f(int a, int b)')} {_BODY}\n"
    joined = []
    for name, entry in record.transforms.items():
        for example in (own, entry.example):
            plain = _RETURNED.sub(r"return (\1);", example)
            tight = _BLANKS.sub("", plain)
            if name not in _DRAWN and words(name, language, tight) != words(name, language, plain):
                joined.append(name)
    assert not joined
