"""From assembly text to an instruction with its bytes, and from bytes to instructions.

`encode` builds a candidate for each encoding that the statement may mean, encodes it, decodes the bytes, and
keeps it only if the decoded instruction equals the built one. Of several encodings of one instruction it
takes the shortest, among equals the first one in iced's table. As assemblers do, it takes EVEX encodings and
pushes of less than eight bytes only if there is no other encoding.

`built` makes an instruction of one encoding from the operands of the text. An encoding that cannot hold an
operand (a displacement that is too large, a register of another family) gives no instruction.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import iced_x86 as iced

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.x86.catalogue import Candidate, Slot, family, fitting, formatter, immediate_kind
from codeaudit.transforms.x86.registers import register_numbers, untyped
from codeaudit.transforms.x86.shapes import shape
from codeaudit.transforms.x86.statements import (
    AssemblyStatement,
    ImmediateOperand,
    MemoryOperand,
    Operand,
    RegisterOperand,
    RoundingOperand,
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
    cheapest: dict[object, tuple[tuple[bool, int, int], iced.Instruction, bytes]] = {}
    for rank, candidate in enumerate(fitting(statement, syntax)):
        for operands in arrangements(statement.operands, candidate, syntax):
            draft = built(candidate, operands, statement.prefixes)
            if draft is None or (read := _confirmed(draft)) is None:
                continue
            # Another arrangement of these operands would be an instruction as well: the printer decides.
            if _is_doubtful(candidate) and not _printed_alike(read[0], candidate, statement, syntax):
                continue
            # `add $1, (%rax)` fits encodings of four sizes. They mean different things, so none is preferred.
            key = read[0].memory_size if _unsized(statement.operands) and not candidate.wide else None
            cost = (_is_unusual(read[0]), len(read[1]), rank)
            if key not in cheapest or cost < cheapest[key][0]:
                cheapest[key] = (cost, *read)
            break
    if not cheapest:
        raise SourceError(f"no instruction {statement.mnemonic!r} with these operands")
    if len(cheapest) > 1:
        remedy = "write the suffix" if syntax == "att" else "write `dword ptr` or the like"
        raise SourceError(f"{statement.mnemonic!r} leaves the size of its operand open; {remedy}")
    ((_, instruction, code),) = cheapest.values()
    return instruction, code


def decode(code: bytes) -> Iterator[tuple[iced.Instruction, bytes]]:
    """The instructions of machine code, each decoded as if it stood at address 0.

    Raises:
        SourceError: the bytes at some place are not an instruction of 64-bit mode.
    """
    place = 0
    while place < len(code):
        decoder = iced.Decoder(BITS, code[place : place + 15])  # no instruction is longer than 15 bytes
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


def _confirmed(draft: iced.Instruction) -> tuple[iced.Instruction, bytes] | None:
    """The instruction as decoded from its own bytes, with the bytes; `None` if they decode to another one."""
    code = encoded(draft)
    if code is not None and draft.is_ip_rel_memory_operand:
        # The displacement counts from the end of the instruction, whose length is known only now.
        limit = _LIMIT if draft.memory_base == iced.Register.RIP else 1 << 32
        draft.memory_displacement = (draft.memory_displacement + len(code)) % limit
        code = encoded(draft)
    if code is None:
        return None
    read = iced.Decoder(BITS, code).decode()
    # The built instruction has no place and no length yet, and `shape` of a relative address needs both.
    draft.len, draft.ip = read.len, 0
    # An operand that the encoder dropped (a segment, a mask) is missing in what is decoded.
    same = read.len == len(code) and read.code == draft.code and shape(read) == shape(draft)
    return (read, code) if same else None


def _printed_alike(
    instruction: iced.Instruction, candidate: Candidate, statement: AssemblyStatement, syntax: Syntax
) -> bool:
    """Whether the operands of the text equal those that the printer writes, with the implied ones or without
    (iced's `fld st, dword ptr [rax]` is `fld dword ptr [rax]` elsewhere).
    """
    stated, printed = (
        [_plain(operand) for operand in line.operands]
        for line in (statement, split(formatter(syntax).format(instruction), syntax))
    )
    named = [operand for place, operand in zip(candidate.places, printed, strict=False) if place >= 0]
    return stated == printed or (bool(named) and stated == named)


def _plain(operand: Operand) -> Operand:
    if isinstance(operand, RegisterOperand) and operand.register == "st":
        return RegisterOperand("st(0)")
    return operand


def _unsized(operands: tuple[Operand, ...]) -> bool:
    """Whether only the mnemonic can give the width of a memory operand, because the operand has no size."""
    memory = [operand for operand in operands if isinstance(operand, MemoryOperand)]
    return bool(memory) and memory[0].size is None


_ROUNDINGS: Final = {
    "rn-sae": "ROUND_TO_NEAREST",
    "rd-sae": "ROUND_DOWN",
    "ru-sae": "ROUND_UP",
    "rz-sae": "ROUND_TOWARD_ZERO",
}
_PREFIX_FLAGS: Final = {
    "lock": "has_lock_prefix",
    **dict.fromkeys(("rep", "repe", "repz"), "has_rep_prefix"),
    # `bnd` and `repne` are one byte.
    **dict.fromkeys(("repne", "repnz", "bnd"), "has_repne_prefix"),
    "xacquire": "has_xacquire_prefix",
    "xrelease": "has_xrelease_prefix",
}
"""iced's flag for each prefix that may stand before an instruction of a block."""
_STRING_PLACES: Final[Mapping[int, tuple[str, str]]] = {
    iced.OpKind.MEMORY_SEG_RSI: ("", "rsi"),
    iced.OpKind.MEMORY_SEG_RDI: ("", "rdi"),
    iced.OpKind.MEMORY_ESRDI: ("es", "rdi"),
}


class _DoesNotFitError(Exception):
    """The operands do not fit this encoding."""


def _require(fits: bool) -> None:
    if not fits:
        raise _DoesNotFitError


def arrangements(
    operands: tuple[Operand, ...], candidate: Candidate, syntax: Syntax
) -> Iterator[list[Operand | None]]:
    """The ways to assign the operands of the text to the operands of the encoding.

    Each result lists the operands in the order of the encoding, with `None` for one that the text leaves out.
    A rounding operand comes last.
    """
    rounding = [operand for operand in operands if isinstance(operand, RoundingOperand)]
    rest = [operand for operand in operands if not isinstance(operand, RoundingOperand)]
    if len(rounding) > 1:
        return
    slots = candidate.slots
    arranged: list[Operand | None] = [None] * len(slots)
    if len(rest) == len(candidate.places):
        for place, operand in zip(candidate.places, rest, strict=True):
            if place >= 0:
                arranged[place] = operand
        yield [*arranged, *rounding]
    ordered = rest[::-1] if syntax == "att" else rest  # AT&T text has the target last, iced has it first
    if len(rest) == len(slots) and (len(candidate.places) != len(slots) or -1 in candidate.places):
        yield [*ordered, *rounding]
    elif len(rest) < len(slots):
        yield from _implied(ordered, slots)


def _implied(ordered: Sequence[Operand], slots: tuple[Slot, ...]) -> Iterator[list[Operand | None]]:
    """Arrangements with an operand that the text leaves out.

    The text may leave out the count 1 of a shift, the top of the x87 stack, the addresses of string
    instructions, and the first source of a multiplication if it equals the target.
    """
    if not ordered and all(slot.kind in _STRING_PLACES or slot.fixed for slot in slots):
        yield [None] * len(slots)
        return
    if len(ordered) == len(slots) - 1:
        string = any(slot.kind in _STRING_PLACES for slot in slots)
        for gone, slot in enumerate(slots):
            constant = slot.bits == 8 and slot.kind == iced.OpKind.IMMEDIATE8
            if constant or slot.fixed == iced.Register.ST0 or (slot.fixed and string):
                yield [*ordered[:gone], None, *ordered[gone:]]
        # `imul $3, %rax` is `imul $3, %rax, %rax`.
        if len(slots) == 3 and slots[2].bits and isinstance(ordered[0], RegisterOperand):
            yield [ordered[0], *ordered]
    elif not ordered and {slot.family for slot in slots} == {"", "st"}:  # `faddp` is `faddp %st, %st(1)`
        yield [None if slot.fixed else RegisterOperand("st(1)") for slot in slots]


def built(
    candidate: Candidate, operands: list[Operand | None], prefixes: tuple[str, ...]
) -> iced.Instruction | None:
    """An instruction of this encoding with these operands; `None` if they do not fit it."""
    draft = iced.Instruction()
    draft.code = untyped(candidate.code)
    slots = candidate.slots
    try:
        for number, slot in enumerate(slots):
            operand = operands[number]
            if slot.bits:
                _put_immediate(draft, candidate, number, operand)
            elif slot.fixed:
                _put_fixed(draft, slot, number, operand)
            elif isinstance(operand, RegisterOperand) and slot.family:
                _put_register(draft, slot, number, operand)
            elif isinstance(operand, MemoryOperand) and slot.memory:
                _put_address(draft, number, operand)
            elif slot.kind in _STRING_PLACES:
                _put_string(draft, slot, number, operand)
            else:
                return None
        for operand in operands[len(slots) :]:
            if isinstance(operand, RoundingOperand):
                if operand.mode == "sae":
                    draft.suppress_all_exceptions = True
                else:
                    draft.rounding_control = getattr(iced.RoundingControl, _ROUNDINGS[operand.mode])
        for prefix in prefixes:
            _require(prefix in _PREFIX_FLAGS)
            setattr(draft, _PREFIX_FLAGS[prefix], True)
    except _DoesNotFitError:
        return None
    return draft


def _put_immediate(
    draft: iced.Instruction, candidate: Candidate, number: int, operand: Operand | None
) -> None:
    slot = candidate.slots[number]
    last = number == len(candidate.slots) - 1
    if operand is None and last and candidate.last is not None:
        value = candidate.last
    elif operand is None and _is_one(candidate, number):
        value = 1
    elif isinstance(operand, ImmediateOperand) and candidate.last is None:
        value = _stored(operand.value, slot)
        # `shl $1` has an encoding without an immediate; `shl $2` does not fit it.
        _require(value == 1 or not _is_one(candidate, number))
    else:
        raise _DoesNotFitError
    draft.set_op_kind(number, untyped(immediate_kind(candidate.slots, number)))
    draft.set_immediate_i64(number, value)


def _is_one(candidate: Candidate, number: int) -> bool:
    kind = iced.OpCodeInfo(untyped(candidate.code)).op_kind(number)
    return bool(kind == iced.OpCodeOperandKind.IMM8_CONST_1)


def _stored(value: int, slot: Slot) -> int:
    """The value as it is stored: signed where it is extended, of the operand's width elsewhere."""
    # Both ways to write a value of the width are read: `$-1` and `$255` are the same byte.
    _require(-(1 << slot.width - 1) <= value < 1 << slot.width)
    if slot.bits < slot.width:
        value %= 1 << slot.width
        value -= (1 << slot.width) if value >> slot.width - 1 else 0
        _require(-(1 << slot.bits - 1) <= value < 1 << slot.bits - 1)
    value %= _LIMIT
    return value - _LIMIT if value >= _LIMIT >> 1 else value


def _put_fixed(draft: iced.Instruction, slot: Slot, number: int, operand: Operand | None) -> None:
    if operand is not None:  # the text may leave the register out
        named = isinstance(operand, RegisterOperand) and not operand.mask and _number(operand.register)
        _require(named == slot.fixed)
    draft.set_op_kind(number, iced.OpKind.REGISTER)
    draft.set_op_register(number, untyped(slot.fixed))


def _put_register(draft: iced.Instruction, slot: Slot, number: int, operand: RegisterOperand) -> None:
    register = _number(operand.register)
    _require(register in family(slot.family))
    draft.set_op_kind(number, iced.OpKind.REGISTER)
    draft.set_op_register(number, untyped(register))
    _put_mask(draft, operand)


def _put_mask(draft: iced.Instruction, operand: RegisterOperand | MemoryOperand) -> None:
    if operand.mask:
        draft.op_mask = untyped(_number(operand.mask))
    if operand.zeroing:
        draft.zeroing_masking = True


def _put_address(draft: iced.Instruction, number: int, operand: MemoryOperand) -> None:
    draft.set_op_kind(number, iced.OpKind.MEMORY)
    base = _number(operand.base) if operand.base else 0
    index = _number(operand.index) if operand.index else 0
    _require(operand.scale in (1, 2, 4, 8))
    narrow = any(register in family("r32") or register == iced.Register.EIP for register in (base, index))
    # Beside a register the displacement has 32 bits. They are extended with their sign to 64 bits, but an
    # address of 32 bits wraps around, so there the upper half may also be written without a sign.
    if base or index:
        _require(-(1 << 31) <= operand.displacement < 1 << (32 if narrow else 31))
    draft.memory_base = untyped(base)
    draft.memory_index = untyped(index)
    draft.memory_index_scale = operand.scale
    moffs = iced.OpCodeInfo(draft.code).op_kind(number) == iced.OpCodeOperandKind.MEM_OFFS
    _require(not moffs or not (base or index))
    if base in (iced.Register.RIP, iced.Register.EIP):
        draft.memory_displ_size = 8 if base == iced.Register.RIP else 4
        draft.memory_displacement = operand.displacement % _LIMIT
    elif not base or moffs:  # an absolute address, or an index without a base, has a full displacement
        draft.memory_displ_size = 4 if narrow else 8
        draft.memory_displacement = operand.displacement % _LIMIT
    else:
        draft.memory_displ_size = 1 if operand.displacement else 0  # the encoder takes 1 or 4 bytes as needed
        draft.memory_displacement = operand.displacement % (1 << 32 if narrow else _LIMIT)
    if operand.segment:
        draft.segment_prefix = untyped(_number(operand.segment))
    if operand.broadcast:
        draft.is_broadcast = True
    _put_mask(draft, operand)
    _require_size(draft, operand)


def _require_size(draft: iced.Instruction, operand: MemoryOperand) -> None:
    # Of an operand of unknown size iced gives 0, and any size of the text fits.
    if operand.size is not None and draft.memory_size:
        _require(iced.MemorySizeExt.size(draft.memory_size) in (0, operand.size))


def _put_string(draft: iced.Instruction, slot: Slot, number: int, operand: Operand | None) -> None:
    segment, base = _STRING_PLACES[slot.kind]
    if isinstance(operand, MemoryOperand):
        plain = (operand.base, operand.index, operand.displacement) == (base, "", 0)
        # The target of a string instruction is always in `es`; only the source may have another segment.
        _require(plain and (not segment or operand.segment in ("", segment)))
        if operand.segment and not segment:
            draft.segment_prefix = untyped(_number(operand.segment))
    else:
        _require(operand is None)
    draft.set_op_kind(number, untyped(slot.kind))
    if isinstance(operand, MemoryOperand):
        _require_size(draft, operand)


def _number(name: str) -> int:
    number = register_numbers().get({"st": "st(0)"}.get(name, name))
    if number is None:
        raise _DoesNotFitError
    return number
