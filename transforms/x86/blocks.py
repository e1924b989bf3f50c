"""Basic blocks of a program on this machine: the default corpus of x86, which needs no download.

The executable sections of an ELF file are decoded from their start. A block ends before every transfer of
control and at every branch target, and does not contain the transfer (as in BHive). The following are left
out: padding; blocks with an address relative to the instruction pointer, because it changes when the block
moves; and blocks that cannot be written as text and read back.
"""

import struct
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import iced_x86 as iced

from codeaudit.transforms.errors import CorpusError, SourceError
from codeaudit.transforms.x86.encoding import BITS
from codeaudit.transforms.x86.reading import written
from codeaudit.transforms.x86.registers import numbers

WINDOW: Final = 1 << 16
"""Bytes that are decoded at a time. A branch from outside this window does not end a block."""
LEAST: Final = 2
"""The fewest instructions of a block."""
SMALL: Final = 1 << 18
"""A Python program with fewer bytes of code only starts a shared library, which holds the interpreter."""

_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_X86_64: Final = 62
_CODE: Final = 4
"""The flag of a section that is executable."""
_CONTENT: Final = 1
"""The type of a section whose content is in the file."""
_HIGHEST: Final = 2**63 - 1
_IDLE: Final = "NOP ENDBR64 INT3 UD2 PAUSE"


@dataclass(frozen=True, slots=True)
class ProgramBlock:
    """A basic block of a program."""

    address: int
    """Its address if the program is loaded at its preferred place."""
    code: bytes
    """Its machine code, as in the file."""
    source: str
    """AT&T text."""


def running_program() -> Path:
    """The file that holds the running Python's machine code: the program or its shared library.

    Raises:
        CorpusError: there is no such file on this machine.
    """
    places = [Path(sys.executable).resolve()]
    library = sysconfig.get_config_var("INSTSONAME")
    folder = sysconfig.get_config_var("LIBDIR")
    if isinstance(library, str) and isinstance(folder, str) and ".so" in library:
        places.append(Path(folder, library))
    for place in places:
        try:
            if sum(len(code) for _, code in sections(place)) >= SMALL:
                return place
        except CorpusError:
            continue
    raise CorpusError(f"no x86-64 ELF file holds the code of {sys.executable}; name one")


def cut(path: Path, *, least: int = LEAST) -> Iterator[ProgramBlock]:
    """The distinct basic blocks of an ELF file in the order of their addresses.

    Raises:
        CorpusError: the file cannot be read or is no x86-64 ELF file.
    """
    # Compilers repeat prologues and padding thousands of times; a corpus needs each text once.
    seen: set[str] = set()
    for address, code in sections(path):
        for start, instructions in _straight(address, code):
            block = _block(start, instructions, code[start - address :])
            if block is None or len(instructions) < least or block.source in seen:
                continue
            seen.add(block.source)
            yield block


def sections(path: Path) -> list[tuple[int, bytes]]:
    """Address and content of the executable sections of an ELF file.

    Raises:
        CorpusError: the file cannot be read or is no x86-64 ELF file.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"cannot read {str(path)!r}: {error.strerror}") from error
    try:
        ident, _, machine, _, _, _, offset, _, _, _, _, size, count, _ = _HEADER.unpack_from(content)
        if ident[:6] != b"\x7fELF\x02\x01" or machine != _X86_64 or size != _SECTION.size:
            raise CorpusError(f"{str(path)!r} is no x86-64 ELF file")
        pieces = []
        for number in range(count):
            header = _SECTION.unpack_from(content, offset + number * size)
            _, kind, flags, address, begin, length = header[:6]
            if kind == _CONTENT and flags & _CODE:
                # A table of a run holds addresses as 64 bits with a sign.
                if address + length > _HIGHEST:
                    raise CorpusError(f"{str(path)!r} is damaged: a section at {address:#x}")
                pieces.append((address, content[begin : begin + length]))
    except (struct.error, OverflowError) as error:
        raise CorpusError(f"{str(path)!r} is no x86-64 ELF file, or is cut short") from error
    return pieces


def _straight(address: int, code: bytes) -> Iterator[tuple[int, list[iced.Instruction]]]:
    """The straight-line runs of instructions, each with its address."""
    place = 0
    while place < len(code):
        window = code[place : place + WINDOW]
        decoder = iced.Decoder(BITS, window, ip=address + place)
        last = place + WINDOW >= len(code)
        instructions = []
        # The last 15 bytes may hold half of an instruction; the next window begins there.
        while decoder.can_decode and (last or decoder.position < WINDOW - 15):
            instructions.append(decoder.decode())
        yield from _runs(instructions)
        place += decoder.position


def _runs(instructions: list[iced.Instruction]) -> Iterator[tuple[int, list[iced.Instruction]]]:
    # A block begins at a branch target even if control also arrives from above.
    targets = {
        instruction.near_branch_target for instruction in instructions if instruction.near_branch_target
    }
    run: list[iced.Instruction] = []
    lost = False
    for instruction in instructions:
        ends = instruction.is_invalid or instruction.flow_control != iced.FlowControl.NEXT
        if ends:
            lost = instruction.is_invalid  # after data, where instructions begin is a guess
        if run and (ends or instruction.ip in targets):
            while _is_idle(run[-1]):
                run.pop()
            yield run[0].ip, run
            run = []
        # Padding before a function is none of its code.
        if not (ends or lost) and (run or not _is_idle(instruction)):
            run.append(instruction)
    # What the window cuts off is no whole block.


def _block(start: int, instructions: list[iced.Instruction], code: bytes) -> ProgramBlock | None:
    if any(instruction.is_ip_rel_memory_operand for instruction in instructions):
        return None
    try:
        block = written([_alone(instruction) for instruction in instructions])
    except SourceError:
        return None
    length = sum(instruction.len for instruction in instructions)
    return ProgramBlock(start, code[:length], block.source)


def _alone(instruction: iced.Instruction) -> iced.Instruction:
    """A copy of the instruction at address 0."""
    copy = instruction.copy()
    copy.ip = 0
    return copy


def _is_idle(instruction: iced.Instruction) -> bool:
    return instruction.mnemonic in numbers(iced.Mnemonic, _IDLE)
