"""Python files as texts: a coding cookie in the first two lines tells their encoding."""

import io
import tokenize
import warnings
from dataclasses import dataclass

from codeaudit.transforms.decoding import DecodedFile
from codeaudit.transforms.errors import SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedPython(DecodedFile):
    """A Python file's text, with the facts needed to write it back byte for byte."""

    @staticmethod
    def encoding_of(data: bytes) -> str:
        """The encoding that the file itself declares (UTF-8 by default).

        Raises:
            SourceError: the encoding is unknown, or the first lines are not in it.
        """
        try:
            return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        except SyntaxError as error:
            unknown = "unknown encoding" in str(error)
            raise SourceError("unknown encoding" if unknown else "not UTF-8") from error

    def compiles(self, text: str) -> bool:
        """Whether Python reads the bytes of this text as a file in the same encoding, and compiles them."""
        try:
            data = self.write(text)
            if self.encoding_of(data) != self.encoding:
                return False
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(data, "<file>", "exec", dont_inherit=True)
        except (SourceError, SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        return True
