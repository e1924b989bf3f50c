"""Decodes the bytes of a source file to text, and encodes the text again without losing a byte.

An unchanged text is encoded to exactly the bytes that it came from, byte order mark and line ends included. A
file for which this does not hold is refused when it is decoded.
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
    """A file's text, and how to write it back. Each language extends it with its rules for encodings."""

    text: str
    """The line ends are `\\n` if all were equal; a mixture stays as it is."""
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
            SourceError: the text holds a character that the encoding lacks.
        """
        try:
            return text.replace("\n", self.newline).encode(self.encoding)
        except UnicodeError as error:
            raise SourceError("not in the file's encoding") from error

    @staticmethod
    @abstractmethod
    def encoding_of(data: bytes) -> str:
        """The encoding of a file by the rules of its language.

        Raises:
            SourceError: the file names an encoding that does not exist.
        """

    @abstractmethod
    def compiles(self, text: str) -> bool:
        """Whether the language accepts a file with this text."""


def _newline(text: str) -> str:
    """The line end of a text in which all line ends are equal; `\\n` for a mixture."""
    pairs = text.count("\r\n")
    feeds, returns = text.count("\n") - pairs, text.count("\r") - pairs
    if pairs and not feeds and not returns:
        return "\r\n"
    return "\r" if returns and not feeds and not pairs else "\n"
