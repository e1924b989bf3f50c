"""The shape of an instruction: everything that it does except the choice of registers.

Two instructions of equal shape do the same to the registers in corresponding places. The shape does not
contain the choice among equivalent encodings: `cmp r, r/m` for `cmp r/m, r`, or a long displacement for a
short one.
"""

from functools import cache
from typing import Final, TypeAlias

import iced_x86 as iced

from codeaudit.transforms.x86.catalogue import register_names
from codeaudit.transforms.x86.registers import Register, registers

Shape: TypeAlias = tuple[object, ...]
"""Only equality has a meaning."""

_KINDS: Final = iced.OpKind
_WIDTHS: Final = {
    _KINDS.IMMEDIATE8: 8,
    _KINDS.IMMEDIATE8_2ND: 8,
    _KINDS.IMMEDIATE16: 16,
    _KINDS.IMMEDIATE8TO16: 16,
    _KINDS.IMMEDIATE32: 32,
    _KINDS.IMMEDIATE8TO32: 32,
    _KINDS.IMMEDIATE64: 64,
    _KINDS.IMMEDIATE8TO64: 64,
    _KINDS.IMMEDIATE32TO64: 64,
}
"""The number of bits of each kind of immediate after sign extension."""
_FLAT: Final = frozenset(
    {iced.Register.NONE, iced.Register.DS, iced.Register.SS, iced.Register.ES, iced.Register.CS}
)
"""Segments that begin at 0 in 64-bit mode; all of them give the same address."""


def shape(instruction: iced.Instruction) -> Shape:
    """The shape of a decoded instruction.

    It contains the names of registers that cannot be renamed, and the views of all others.
    """
    parts: list[object] = [
        instruction.mnemonic,
        instruction.has_lock_prefix,
        instruction.has_rep_prefix,
        instruction.has_repne_prefix,
        instruction.has_xacquire_prefix,
        instruction.has_xrelease_prefix,
        instruction.stack_pointer_increment,
    ]
    for number in range(instruction.op_count):
        kind = instruction.op_kind(number)
        if kind == _KINDS.REGISTER:
            parts.append(view_of(instruction.op_register(number)))
        elif kind == _KINDS.MEMORY:
            parts.append(_address(instruction))
        elif kind >= _KINDS.MEMORY_SEG_SI:
            parts.append((kind, _segment(instruction), instruction.memory_size))
        elif kind >= _KINDS.IMMEDIATE8:
            parts.append(instruction.immediate(number) % (1 << _WIDTHS[kind]))
        else:
            parts.append(("branch", instruction.near_branch_target))
    if instruction.encoding == iced.EncodingKind.EVEX:
        decorations = (
            bool(instruction.op_mask),
            instruction.zeroing_masking,
            instruction.is_broadcast,
            instruction.rounding_control,
            instruction.suppress_all_exceptions,
        )
        if any(decorations):  # Without decorations it does the same as the VEX form.
            parts.append(decorations)
    return tuple(parts)


def mentioned(instruction: iced.Instruction) -> tuple[str, ...]:
    """The names of the renamable registers in the operands, in the order of their places in the shape."""
    found: list[int] = []
    for number in range(instruction.op_count):
        kind = instruction.op_kind(number)
        if kind == _KINDS.REGISTER:
            found.append(instruction.op_register(number))
        elif kind == _KINDS.MEMORY:
            found += (instruction.memory_base, instruction.memory_index)
    found.append(instruction.op_mask)
    names = register_names()
    known = registers()
    return tuple(name for number in found if number and (name := names[number]) in known)


@cache
def view_of(number: int) -> str:
    """The view of a register, given by iced's number; the name of a register that cannot be renamed."""
    if not number:
        return ""
    name = register_names()[number]
    known: Register | None = registers().get(name)
    return name if known is None else known.view


def _address(instruction: iced.Instruction) -> Shape:
    value = instruction.memory_displacement
    if instruction.is_ip_rel_memory_operand:
        value -= instruction.next_ip
    narrow = view_of(instruction.memory_base) == "gp32" or view_of(instruction.memory_index) == "gp32"
    if not (instruction.memory_base or instruction.memory_index):
        narrow = instruction.memory_displ_size == 4
    return (
        narrow,
        value % (1 << (32 if narrow else 64)),
        view_of(instruction.memory_base),
        view_of(instruction.memory_index),
        instruction.memory_index_scale,
        _segment(instruction),
        instruction.memory_size,
    )


def _segment(instruction: iced.Instruction) -> int:
    segment = instruction.memory_segment
    return 0 if segment in _FLAT else segment
