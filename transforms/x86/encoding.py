"""From assembly text to an instruction with its bytes, and from bytes to instructions.

`encode` builds a candidate for each encoding that the statement may mean, encodes it, decodes the bytes, and
keeps it only if the decoded instruction equals the built one. Of several encodings of one instruction it
takes the shortest, among equals the first one in iced's table. As assemblers do, it takes EVEX encodings and
pushes of less than eight bytes only if there is no other encoding.
"""

from collections.abc import Iterator
from typing import Final

import iced_x86 as iced

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.x86.building import arrangements, built
from codeaudit.transforms.x86.catalogue import Candidate, formatter
from codeaudit.transforms.x86.fitting import fitting
from codeaudit.transforms.x86.shapes import shape
from codeaudit.transforms.x86.statements import (
    AssemblyStatement,
    MemoryOperand,
    Operand,
    RegisterOperand,
    Syntax,
    split,
)

BITS: Final = 64
_LIMIT: Final = 1 << 64


def encode(text: str, syntax: Syntax) -> tuple[iced.Instruction, bytes]:
    """The instruction of one line, decoded from its bytes at address 0, and the bytes.

    Raises:
        SourceError: the line is not an instruction that a basic block may hold, or the size of its operand is
            ambiguous. The message does not contain the line number.
    """
    statement = split(text, syntax)
    found: dict[object, tuple[tuple[bool, int, int], iced.Instruction, bytes]] = {}
    for rank, candidate in enumerate(fitting(statement, syntax)):
        for operands in arrangements(statement.operands, candidate, syntax):
            made = built(candidate, operands, statement.prefixes)
            if made is None or (read := _confirmed(made)) is None:
                continue
            if _is_doubtful(candidate) and not _printed_alike(read[0], statement, syntax):
                continue
            key = read[0].memory_size if _unsized(statement.operands) and not candidate.wide else None
            cost = (_is_unusual(read[0]), len(read[1]), rank)
            if key not in found or cost < found[key][0]:
                found[key] = (cost, *read)
            break
    if not found:
        raise SourceError(f"no instruction {statement.mnemonic!r} with these operands")
    if len(found) > 1:
        remedy = "write the suffix" if syntax == "att" else "write `dword ptr` or the like"
        raise SourceError(f"{statement.mnemonic!r} leaves the size of its operand open; {remedy}")
    ((_, instruction, code),) = found.values()
    return instruction, code


def decode(code: bytes) -> Iterator[tuple[iced.Instruction, bytes]]:
    """The instructions of machine code, each decoded as if it stood at address 0.

    Raises:
        SourceError: the bytes at some place are not an instruction of 64-bit mode.
    """
    place = 0
    while place < len(code):
        decoder = iced.Decoder(BITS, code[place : place + 15])
        instruction = decoder.decode()
        if instruction.is_invalid:
            raise SourceError(f"byte {place} begins no instruction")
        yield instruction, code[place : place + instruction.len]
        place += instruction.len


def encoded(instruction: iced.Instruction) -> bytes | None:
    """The bytes of an instruction at address 0; `None` if it cannot be encoded."""
    encoder = iced.Encoder(BITS)
    try:
        encoder.encode(instruction, 0)
    except ValueError:
        return None
    return encoder.take_buffer()


def _is_doubtful(candidate: Candidate) -> bool:
    """Whether the text may mean something else than the built instruction: implied operands, or two
    immediates.
    """
    return -1 in candidate.places or sum(slot.bits > 0 for slot in candidate.slots) > 1


def _is_unusual(instruction: iced.Instruction) -> bool:
    """Whether assemblers take this encoding only on demand: EVEX, or a push of less than eight bytes."""
    return instruction.encoding == iced.EncodingKind.EVEX or instruction.stack_pointer_increment % 8 != 0


# Confirmation by decoding


def _confirmed(made: iced.Instruction) -> tuple[iced.Instruction, bytes] | None:
    """The instruction as decoded from its own bytes, with the bytes; `None` if they decode to another one."""
    if made.is_ip_rel_memory_operand:
        return _confirmed_relative(made)
    code = encoded(made)
    return None if code is None else _read_back(made, code)


def _confirmed_relative(made: iced.Instruction) -> tuple[iced.Instruction, bytes] | None:
    """As `_confirmed`, for an address relative to the instruction pointer.

    The displacement counts from the end of the instruction. So the instruction is encoded twice: first to
    learn its length, then with the displacement corrected by it.
    """
    wanted = made.memory_displacement
    code = encoded(made)
    if code is None:
        return None
    limit = _LIMIT if made.memory_base == iced.Register.RIP else 1 << 32
    made.memory_displacement = (wanted + len(code)) % limit
    code = encoded(made)
    return None if code is None else _read_back(made, code)


def _read_back(made: iced.Instruction, code: bytes) -> tuple[iced.Instruction, bytes] | None:
    read = iced.Decoder(BITS, code).decode()
    made.len, made.ip = read.len, 0
    same = read.len == len(code) and read.code == made.code
    return (read, code) if same and shape(read) == shape(made) else None


def _printed_alike(instruction: iced.Instruction, statement: AssemblyStatement, syntax: Syntax) -> bool:
    """Whether the operands of the text equal those that the printer writes, implied ones included."""
    printed = split(formatter(syntax).format(instruction), syntax)
    return tuple(map(_plain, statement.operands)) == tuple(map(_plain, printed.operands))


def _plain(operand: Operand) -> Operand:
    if isinstance(operand, RegisterOperand) and operand.register == "st":
        return RegisterOperand("st(0)")
    return operand


def _unsized(operands: tuple[Operand, ...]) -> bool:
    """Whether only the mnemonic can tell the width of a memory operand, because the operand has no size."""
    memory = [one for one in operands if isinstance(one, MemoryOperand)]
    return bool(memory) and memory[0].size is None
