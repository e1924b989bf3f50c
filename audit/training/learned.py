"""Which functions a checkpoint learned from: the file learned.bin of its folder.

A run tells how many of its samples are near copies of them. Two texts are near copies if they have the same
tokens, except for comments, blanks, docstrings, and other names for the same thing. Copies with small edits
are not found. The file has a hash of 32 bits for each text, so none of the texts can be read from it; of
50,000 hashes a new text has one by chance once in 86,000 times.

Allamanis (2019), The adverse effects of code duplication in machine learning models of code, says why this
matters; it also counts copies with small edits.
"""

import hashlib
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from codeaudit.transforms.records import Sample

FILE: Final = "learned.bin"
LEAST: Final = 20
"""Shorter texts, in tokens, are alike by chance."""

_COMMENTS: Final = {"python": r"#[^\n]*", "x86": r"#[^\n]*"}
"""What a comment looks like where it does not begin as in C; in Python `//` divides."""
_COMMENT_AS_IN_C: Final = r"//[^\n]*|/\*.*?\*/"
_OTHERS: Final = (
    r"(?P<text>[rRbBuUfF]{0,2}(?:\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'))"
    r"|(?P<name>[^\W\d]\w*)|(?P<other>\d[\w.]*|[^\w\s])"
)
_WORDS: Final = frozenset(
    {"and", "as", "async", "await", "break", "case", "catch", "class", "const", "continue", "def",
     "default", "del", "delete", "do", "elif", "else", "enum", "except", "extends", "final", "finally",
     "for", "from", "function", "global", "goto", "if", "implements", "import", "in", "instanceof",
     "interface", "is", "lambda", "let", "new", "nonlocal", "not", "of", "or", "pass", "private",
     "protected", "public", "raise", "return", "static", "struct", "super", "switch", "this", "throw",
     "throws", "try", "typedef", "typeof", "union", "var", "void", "while", "with", "yield", "True",
     "False", "None", "true", "false", "null", "self", "cls", "int", "long", "char", "float", "double",
     "bool", "boolean", "byte", "short", "unsigned", "signed", "string", "String"}
)  # fmt: skip
"""Words of the languages, which are no variables."""


@cache
def _tokens(language: str) -> re.Pattern[str]:
    comment = _COMMENTS.get(language, _COMMENT_AS_IN_C)
    return re.compile(f"(?P<comment>{comment})|{_OTHERS}", re.DOTALL)


@lru_cache(maxsize=4)  # each model of a run asks about the same text
def near_copy_hash(source: str, language: str) -> int | None:
    """A number of 32 bits that near copies share; `None` for a short text."""
    names: dict[str, str] = {}
    parts: list[str] = []
    last = ""
    for match in _tokens(language).finditer(source):
        text = match[0]
        if match.lastgroup == "comment":
            continue
        if match.lastgroup == "text" and language == "python" and _is_alone(source, match):
            continue
        # The function's own name counts as any other, because it is often masked. What stands behind a dot is
        # no name of this text.
        free, last = last != ".", text
        if match.lastgroup == "name" and text not in _WORDS and free:
            text = names.setdefault(text, f"v{len(names)}")
        parts.append(text)
    if len(parts) < LEAST:
        return None
    digest = hashlib.sha256("\0".join([language, *parts]).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "little")


def _is_alone(source: str, match: re.Match[str]) -> bool:
    """Whether nothing else stands on the lines of a text: a docstring."""
    before = source[source.rfind("\n", 0, match.start()) + 1 : match.start()]
    end = source.find("\n", match.end())
    behind = source[match.end() : end if end >= 0 else len(source)]
    return not before.strip() and not behind.strip()


def learned_hashes(samples: Iterable[Sample]) -> bytes:
    """The content of the file for these samples."""
    hashes = {near_copy_hash(sample.source, sample.language) for sample in samples}
    return np.array(sorted(number for number in hashes if number is not None), dtype="<u4").tobytes()


class Learned:
    """The texts that a checkpoint learned from."""

    def __init__(self, hashes: NDArray[np.uint32]) -> None:
        self._hashes = hashes

    @classmethod
    def read(cls, folder: Path) -> "Learned | None":
        """Of a checkpoint; `None` without a readable file."""
        try:
            content = (folder / FILE).read_bytes()
        except OSError:
            return None
        return cls(np.frombuffer(content, dtype="<u4")) if len(content) % 4 == 0 else None

    def has(self, source: str, language: str) -> bool:
        """Whether one of them is a near copy of this text."""
        number = near_copy_hash(source, language)
        if number is None or not len(self._hashes):
            return False
        place = int(np.searchsorted(self._hashes, number))
        return place < len(self._hashes) and int(self._hashes[place]) == number
