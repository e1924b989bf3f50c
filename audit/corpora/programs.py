"""Corpora of basic blocks: the machine code of a program, and files of assembly text."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from typing_extensions import override

from codeaudit.audit.corpora.functions import decode
from codeaudit.audit.corpora.records import BaseCorpus, CorpusResources, raw_sample
from codeaudit.transforms.errors import CorpusError, SourceError
from codeaudit.transforms.records import Sample
from codeaudit.transforms.x86 import X86

FIRST: Final = 10_000
"""Number of blocks that are read of the running Python, so that a first run starts soon."""
ASSEMBLY: Final = frozenset(X86.named_endings)
_MAGIC: Final = b"\x7fELF"
_INTEL: Final = re.compile(r"^\s*\.intel_syntax\b", re.MULTILINE)
# A label is a place that other blocks jump to, and a directive changes what follows, so both end a block.
_NOT_CODE: Final = re.compile(r"\s*(?:\.|[\w.$]+:)")
"""A directive or a label."""
_LISTING: Final = re.compile(r"^\s*[0-9a-f]+:\t", re.MULTILINE)
"""An address before an instruction, as of objdump. Where it jumps to is an address, too, and no label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramBlocks(BaseCorpus):
    """The distinct basic blocks of an ELF file, in the order of their addresses."""

    spec: str
    path: Path | None
    """`None` for the file with the running Python's machine code."""
    limit: int | None = None

    @property
    def language(self) -> str:
        """The language of all samples."""
        return X86.name

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """A block's line is its address."""
        from codeaudit.transforms.x86.blocks import cut, running_program

        path = self.path or running_program()
        for block in islice(cut(path), self.limit):
            yield raw_sample(block.source, language=X86.name, label=None, path=path.name, line=block.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyBlocks(BaseCorpus):
    """A file of assembly text: AT&T syntax, or Intel if it has `.intel_syntax`.

    Blocks end at empty lines, labels and directives, and before every transfer of control, which is in none.
    """

    spec: str
    path: Path

    @property
    def language(self) -> str:
        """The language of all samples."""
        return X86.name

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """A block that cannot be read is left out."""
        from codeaudit.transforms.x86.reading import from_intel, read

        try:
            text = decode(self.path.read_bytes())
        except OSError as error:
            raise CorpusError(f"cannot read {str(self.path)!r}: {error.strerror}") from error
        except SourceError as error:
            raise CorpusError(f"cannot read {str(self.path)!r}: {error}") from error
        if _LISTING.search(text):
            raise CorpusError(f"{str(self.path)!r} is a listing of a disassembler: name the program itself")
        convert = from_intel if _INTEL.search(text) else read
        for line, block in _paragraphs(text):
            try:
                source = convert(block).source
            except SourceError:
                skipped["block that cannot be read"] += 1
                continue
            yield raw_sample(source, language=X86.name, label=None, path=self.path.name, line=line)


def interpreter(spec: str, rest: str, resources: CorpusResources) -> ProgramBlocks:
    """The running Python's machine code.

    Raises:
        CorpusError: the SPEC has a REST.
    """
    if rest:
        raise CorpusError(f"corpus {spec!r}: nothing may follow {spec.partition(':')[0]!r}")
    return ProgramBlocks(spec=spec, path=None, limit=FIRST)


def is_program(path: Path) -> bool:
    """Whether a file starts with the magic number of ELF."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Runs of lines with code, each with the number of its first line, from 1."""
    from codeaudit.transforms.x86.catalogue import transfers
    from codeaudit.transforms.x86.statements import PREFIXES

    begin, lines = 0, list[str]()
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        words = line.partition("#")[0].lower().split()
        mnemonic = next((word for word in words if word not in PREFIXES), "")
        if words and mnemonic not in transfers() and not _NOT_CODE.match(line):
            begin = begin or number
            lines.append(line)
        elif lines and not line.lstrip().startswith("#"):  # a comment alone on its line does not end a block
            yield begin, "\n".join(lines)
            begin, lines = 0, []
