"""Corpora of basic blocks: the machine code of a program, and files of assembly text."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from codeaudit.audit.corpora.functions import decode
from codeaudit.audit.corpora.records import raw_sample
from codeaudit.transforms.errors import CorpusError, SourceError
from codeaudit.transforms.records import Sample
from codeaudit.transforms.x86.language import X86

FIRST: Final = 10_000
"""How many blocks of the running Python are looked at, so that a first run begins soon."""
ASSEMBLY: Final = frozenset(X86.named_endings)
_MAGIC: Final = b"\x7fELF"
_INTEL: Final = re.compile(r"^\s*\.intel_syntax\b", re.MULTILINE)
_NOT_CODE: Final = re.compile(r"\s*(?:\.|[\w.$]+:)")
"""A directive or a label; a block ends there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The distinct basic blocks of an ELF file, by their addresses."""

    spec: str
    path: Path | None
    """`None` for the file that holds the running Python's code."""
    limit: int | None = None

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """As `Corpus.read`; a block's line is its address."""
        from codeaudit.transforms.x86.blocks import cut, running_program

        path = self.path or running_program()
        for block in islice(cut(path), self.limit):
            yield raw_sample(block.source, language=X86.name, label=None, path=path.name, line=block.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """A file of assembly text: AT&T, or Intel after `.intel_syntax`. Blocks end at empty lines and labels."""

    spec: str
    path: Path

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """As `Corpus.read`; a block that cannot be read is left out."""
        from codeaudit.transforms.x86.reading import from_intel, read

        try:
            text = decode(self.path.read_bytes())
        except OSError as error:
            raise CorpusError(f"cannot read {str(self.path)!r}: {error.strerror}") from error
        convert = from_intel if _INTEL.search(text) else read
        for line, block in _paragraphs(text):
            try:
                source = convert(block).source
            except SourceError:
                skipped["block that cannot be read"] += 1
                continue
            yield raw_sample(source, language=X86.name, label=None, path=self.path.name, line=line)


def is_program(path: Path) -> bool:
    """Whether a file begins as an ELF file does."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Runs of lines that hold code, each with the number of its first line from 1."""
    begin, lines = 0, list[str]()
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.partition("#")[0].strip() and not _NOT_CODE.match(line):
            begin = begin or number
            lines.append(line)
        elif lines and not line.lstrip().startswith("#"):
            yield begin, "\n".join(lines)
            begin, lines = 0, []
