"""Basic blocks, parsed from AT&T text, Intel text or machine code.

The text that a model sees is AT&T syntax with one instruction a line, in the style of LLVM, so LLVM's tools
parse the same instruction. Blank lines and `#` comments are allowed and kept. A block is straight-line code
without labels.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Final

import iced_x86 as iced

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.x86 import encoding
from codeaudit.transforms.x86.catalogue import formatter
from codeaudit.transforms.x86.registers import Register, base_of, registers, view_of
from codeaudit.transforms.x86.shapes import Shape, implicit, mentioned, shape
from codeaudit.transforms.x86.statements import PREFIXES, Syntax

_COMPARES: Final = ("cmp", "vcmp", "vpcmp", "vpcom")
"""Compares may be written with the predicate in the mnemonic: `cmpeqps` for `cmpps $0`."""


def att_text(instruction: iced.Instruction) -> str:
    """One instruction on one line, without indentation or trailing blanks."""
    # With pseudo-operations iced would print other mnemonics for more than compares: `pclmullqlqdq`.
    full, short = _printers()
    text = full.format(instruction)
    if text.startswith(_COMPARES):
        text = short.format(instruction)
    return " ".join(text.split())


@cache
def _printers() -> tuple[iced.Formatter, iced.Formatter]:
    full = formatter("att")
    full.use_pseudo_ops = False
    return full, formatter("att")


LINES: Final = 1 << 15
"""Size of the cache of parsed lines. It pays because blocks of one corpus share many lines."""

_TOKEN: Final = re.compile(r"%([A-Za-z][A-Za-z0-9]*)")
_HEX: Final = re.compile(r"(?:0[xX])?((?:[0-9a-fA-F]{2}\s*)+)")


@dataclass(frozen=True, slots=True)
class Token:
    """A register at its place in the text of an operation."""

    start: int
    """Its first character in the operation's text, the `%`."""
    end: int
    """The character behind its last one."""
    register: Register
    """The register that the text names."""


class Operation:
    """One instruction with its text and bytes. Derived properties are computed on first use and kept."""

    def __init__(self, text: str, instruction: iced.Instruction, code: bytes) -> None:
        self.text = text
        """The line without its comment and surrounding blanks."""
        self.instruction = instruction
        """The instruction as decoded from its bytes at address 0."""
        self.code = code
        """The bytes."""

    @cached_property
    def shape(self) -> Shape:
        """Everything that it does except the choice of registers (`shapes.shape`)."""
        return shape(self.instruction)

    @cached_property
    def registers(self) -> tuple[Register, ...]:
        """The renamable registers in its operands, in the order of their places in the shape."""
        by_name = registers()
        return tuple(by_name[name] for name in mentioned(self.instruction))

    @cached_property
    def implicit(self) -> frozenset[str]:
        """The bases that it uses whatever its operands are (`shapes.implicit`)."""
        return implicit(self.instruction, _factory())

    @cached_property
    def effects(self) -> frozenset[tuple[str, str, int]]:
        """All registers in use as (view, base, iced's `OpAccess`).

        A register that cannot be renamed has its name as the view, and an empty base.
        """
        return frozenset(
            (view_of(use.register), base_of(use.register), int(use.access))
            for use in _factory().info(self.instruction).used_registers()
        )

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The renamable registers in the text, in the order of the text."""
        by_name = registers()
        return tuple(
            Token(match.start(), match.end(), by_name[name])
            for match in _TOKEN.finditer(self.text)
            if (name := match[1].lower()) in by_name
        )

    def spelled(self, names: Iterable[str]) -> str:
        """The text with these names in place of the tokens, each with its `%`."""
        pieces: list[str] = []
        done = 0
        for token, name in zip(self.tokens, names, strict=True):
            pieces += (self.text[done : token.start], name)
            done = token.end
        return "".join(pieces) + self.text[done:]


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
    """The block of an AT&T text. The last blocks are cached.

    Raises: SourceError: a line is not an instruction of a basic block (the message contains the line number),
        or the text has no instruction.
    """
    operations, starts = [], []
    for start, text, line in _instructions(source):
        try:
            operations.append(read_operation(text, "att"))
        except SourceError as error:
            raise SourceError(f"line {line}: {error}") from error
        starts.append(start)
    if not operations:
        raise SourceError("no instruction")
    return BasicBlock(source, tuple(operations), tuple(starts))


def from_hex(text: str) -> BasicBlock:
    """The block of machine code given as hexadecimal digits.

    Raises:
        SourceError: the text is not pairs of hexadecimal digits, or the bytes are not instructions.
    """
    match = _HEX.fullmatch(text.strip())
    if match is None:
        raise SourceError("machine code is pairs of hexadecimal digits")
    return from_code(bytes.fromhex(match[1]))


def from_code(code: bytes) -> BasicBlock:
    """The block of machine code given as bytes.

    Raises:
        SourceError: the bytes are not instructions, or an instruction cannot be written as text.
    """
    return written([instruction for instruction, _ in encoding.decode(code)])


def written(instructions: Sequence[iced.Instruction]) -> BasicBlock:
    """The block of decoded instructions, each decoded at address 0.

    Raises:
        SourceError: an instruction cannot be written as text that reads back as the same one.
    """
    # The text is what counts later, so it is parsed again and must give the same instructions.
    block = read("\n".join(map(att_text, instructions)))
    for instruction, operation in zip(instructions, block.operations, strict=True):
        names = tuple(register.name for register in operation.registers)
        if operation.shape != shape(instruction) or names != mentioned(instruction):
            raise SourceError(f"{operation.text!r} does not say which instruction it is")
    return block


def from_intel(source: str) -> BasicBlock:
    """The block of an Intel text. The text of the block is AT&T.

    Raises:
        SourceError: a line is not an instruction of a basic block; the message contains the line number.
    """
    instructions = []
    for _, text, line in _instructions(source):
        try:
            instructions.append(read_operation(text, "intel").instruction)
        except SourceError as error:
            raise SourceError(f"line {line}: {error}") from error
    return written(instructions)


@lru_cache(maxsize=LINES)
def read_operation(text: str, syntax: Syntax) -> Operation:
    """The instruction of one line, cached.

    Raises:
        SourceError: the line is not an instruction. The message does not contain the line number.
    """
    return Operation(text, *encoding.encode(text, syntax))


def _instructions(source: str) -> Iterator[tuple[int, str, int]]:
    """For each instruction its first character, its text, and its line from 1.

    A prefix on a line of its own belongs to the next instruction.
    """
    place, waiting, begin = 0, "", 0
    for number, line in enumerate(source.split("\n"), 1):
        code = line.partition("#")[0]  # no instruction of AT&T text contains a `#`
        text = code.strip()
        if text:
            start = place + code.index(text)
            if waiting:
                start, text = begin, source[begin : start + len(text)]
            if text.lower() in PREFIXES:  # some disassemblers print `lock` on a line of its own
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
