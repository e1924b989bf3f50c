"""The bytes of a source file as a text, and back without losing one of them.

A text that was decoded and not changed is encoded to the very bytes it came from: byte order mark and line
ends included. What cannot promise that is refused when it is decoded.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final, Self

from codeaudit.transforms.errors import SourceError

LARGEST: Final = 2_000_000
"""Bytes. Larger files are generated tables, and a parser's tree takes a hundred times their size."""

NO_RETURN: Final = "encoding cannot be written back"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedFile(ABC):
    """A file's text with what it takes to write it back."""

    text: str
    """With `\\n` for the line end where all line ends are equal, else as they are."""
    encoding: str
    newline: str
    """What `\\n` in the text stands for."""

    @classmethod
    def read(cls, data: bytes) -> Self:
        """The text of a file.

        Raises:
            SourceError: the file is too big, holds null bytes, is not in its encoding, or could not be
                written back. The message is a phrase without the file's name.
        """
        if len(data) > LARGEST:
            raise SourceError(f"file over {LARGEST // 1_000_000} MB")
        if b"\0" in data:
            raise SourceError("null bytes")
        encoding = cls.encoding_of(data)
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            raise SourceError("not UTF-8" if encoding.startswith("utf-8") else NO_RETURN) from error
        newline = _newline(text)
        found = cls(text=text.replace(newline, "\n"), encoding=encoding, newline=newline)
        if found.write(found.text) != data:
            raise SourceError(NO_RETURN)
        return found

    def write(self, text: str) -> bytes:
        """The bytes of a text in this file's encoding and line ends.

        Raises:
            SourceError: the text holds what the encoding cannot say.
        """
        try:
            return text.replace("\n", self.newline).encode(self.encoding)
        except UnicodeError as error:
            raise SourceError("not in the file's encoding") from error

    @staticmethod
    @abstractmethod
    def encoding_of(data: bytes) -> str:
        """The encoding of a file, as its language tells it.

        Raises:
            SourceError: there is none of this name.
        """

    @abstractmethod
    def compiles(self, text: str) -> bool:
        """Whether the language takes a file with this text."""


def _newline(text: str) -> str:
    """The line end of a text in which all line ends are equal; `\\n` for a mixture."""
    pairs = text.count("\r\n")
    feeds, returns = text.count("\n") - pairs, text.count("\r") - pairs
    if pairs and not feeds and not returns:
        return "\r\n"
    return "\r" if returns and not feeds and not pairs else "\n"
