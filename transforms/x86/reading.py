"""Blocks: AT&T text, Intel text and machine code are read into the same instructions.

The text that a model sees is AT&T, one instruction a line; blank lines and `#` comments are let be. A block
is straight-line code: nothing in it has a label or a branch target.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Final

import iced_x86 as iced

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.x86 import encoding
from codeaudit.transforms.x86.implicit import base_of, implicit
from codeaudit.transforms.x86.printing import att_text
from codeaudit.transforms.x86.registers import Register, registers
from codeaudit.transforms.x86.shapes import Shape, mentioned, shape, view_of
from codeaudit.transforms.x86.statements import PREFIXES, Syntax

LINES: Final = 1 << 15
"""Read lines that are remembered: blocks repeat one another's."""

_TOKEN: Final = re.compile(r"%([A-Za-z][A-Za-z0-9]*)")
_HEX: Final = re.compile(r"(?:0[xX])?((?:[0-9a-fA-F]{2}\s*)+)")


@dataclass(frozen=True, slots=True)
class Token:
    """A register where it stands in the text of an operation."""

    start: int
    end: int
    register: Register


class Operation:
    """One instruction, read from its text; what is derived from it is worked out when first asked for."""

    def __init__(self, text: str, instruction: iced.Instruction, code: bytes) -> None:
        self.text = text
        """The line without comment and margins."""
        self.instruction = instruction
        """As decoded from its bytes at address 0."""
        self.code = code
        """Its bytes."""

    @cached_property
    def shape(self) -> Shape:
        """What it does, apart from which registers it does it to."""
        return shape(self.instruction)

    @cached_property
    def registers(self) -> tuple[Register, ...]:
        """The registers that its operands name, by place."""
        known = registers()
        return tuple(known[name] for name in mentioned(self.instruction))

    @cached_property
    def implicit(self) -> frozenset[str]:
        """The bases that it uses without a choice."""
        return implicit(self.instruction, _factory())

    @cached_property
    def effects(self) -> frozenset[tuple[str, str, int]]:
        """Every register used: view, base and access (iced's `OpAccess`); the name for one without base."""
        return frozenset(
            (view_of(one.register), base_of(one.register), int(one.access))
            for one in _factory().info(self.instruction).used_registers()
        )

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The registers in the text that may be renamed."""
        known = registers()
        return tuple(
            Token(found.start(), found.end(), known[name])
            for found in _TOKEN.finditer(self.text)
            if (name := found[1].lower()) in known
        )

    @property
    def index(self) -> str:
        """The base of the index of its address, empty without."""
        return base_of(self.instruction.memory_index)

    @cached_property
    def leaves(self) -> bool:
        """Whether control may go elsewhere: a call, a return, a trap."""
        return self.instruction.flow_control != iced.FlowControl.NEXT

    @cached_property
    def saves_state(self) -> bool:
        """Whether it stores or loads registers that no operand names, each at a place of its own."""
        return self.instruction.is_save_restore_instruction

    @cached_property
    def is_relative(self) -> bool:
        """Whether an address counts from the end of the instruction."""
        return self.instruction.is_ip_rel_memory_operand


@dataclass(frozen=True, slots=True)
class BasicBlock:
    """A basic block."""

    source: str
    """AT&T text."""
    operations: tuple[Operation, ...]
    """Its instructions in order."""
    starts: tuple[int, ...]
    """Where in the source the text of each begins."""

    @property
    def code(self) -> bytes:
        """The machine code of the whole block."""
        return b"".join(operation.code for operation in self.operations)


@lru_cache(maxsize=256)
def read(source: str) -> BasicBlock:
    """A block of AT&T text.

    Raises:
        SourceError: a line that is no instruction of a basic block, which the message names; or no line is.
    """
    operations, starts = [], []
    for start, text, line in _instructions(source):
        try:
            operations.append(operation(text, "att"))
        except SourceError as error:
            raise SourceError(f"line {line}: {error}") from error
        starts.append(start)
    if not operations:
        raise SourceError("no instruction")
    return BasicBlock(source, tuple(operations), tuple(starts))


def from_hex(text: str) -> BasicBlock:
    """A block of machine code in hexadecimal digits.

    Raises:
        SourceError: these are no digits, or some byte begins no instruction.
    """
    found = _HEX.fullmatch(text.strip())
    if found is None:
        raise SourceError("machine code is pairs of hexadecimal digits")
    return from_code(bytes.fromhex(found[1]))


def from_code(code: bytes) -> BasicBlock:
    """A block of machine code.

    Raises:
        SourceError: some byte begins no instruction, or the instruction cannot be written as text.
    """
    return written([instruction for instruction, _ in encoding.decode(code)])


def written(instructions: Sequence[iced.Instruction]) -> BasicBlock:
    """The block of decoded instructions, each as if it stood at address 0.

    Raises:
        SourceError: an instruction cannot be written as text that reads back as the same one.
    """
    block = read("\n".join(map(att_text, instructions)))
    for instruction, found in zip(instructions, block.operations, strict=True):
        names = tuple(register.name for register in found.registers)
        if found.shape != shape(instruction) or names != mentioned(instruction):
            raise SourceError(f"{found.text!r} does not say which instruction it is")
    return block


def from_intel(source: str) -> BasicBlock:
    """A block of Intel text; its own text is AT&T.

    Raises:
        SourceError: a line that is no instruction of a basic block, which the message names.
    """
    found = []
    for _, text, line in _instructions(source):
        try:
            found.append(operation(text, "intel").instruction)
        except SourceError as error:
            raise SourceError(f"line {line}: {error}") from error
    return written(found)


@lru_cache(maxsize=LINES)
def operation(text: str, syntax: Syntax) -> Operation:
    """One line's instruction.

    Raises:
        SourceError: it is none; the message does not name the line.
    """
    return Operation(text, *encoding.encode(text, syntax))


def _instructions(source: str) -> Iterator[tuple[int, str, int]]:
    """Where each instruction begins, its text, its line from 1; a prefix on its own line joins the next."""
    place, waiting, begin = 0, "", 0
    for number, line in enumerate(source.split("\n"), 1):
        code = line.partition("#")[0]
        text = code.strip()
        if text:
            start = place + code.index(text)
            if waiting:
                start, text = begin, source[begin : start + len(text)]
            if text.lower() in PREFIXES:
                waiting, begin = text, start
            else:
                waiting = ""
                yield start, text, number
        place += len(line) + 1
    if waiting:
        raise SourceError(f"line {number}: {waiting!r} stands before no instruction")


@cache
def _factory() -> iced.InstructionInfoFactory:
    return iced.InstructionInfoFactory()
