"""The shape of an instruction: everything that it does except the choice of registers.

Two instructions of equal shape do the same to the registers in corresponding places. The shape does not
contain the choice among equivalent encodings: `cmp r, r/m` for `cmp r/m, r`, or a long displacement for a
short one. The registers themselves are in two parts: those in operands (`mentioned`), and those that the
instruction uses because of its mnemonic or its encoding (`implicit`).
"""

from typing import Final, TypeAlias

import iced_x86 as iced

from codeaudit.transforms.x86.registers import BASES, base_of, register_names, registers, untyped, view_of

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
        elif kind >= _KINDS.MEMORY_SEG_SI:  # string instructions: the address registers are implied
            parts.append((kind, _segment(instruction), instruction.memory_size))
        elif kind >= _KINDS.IMMEDIATE8:
            # Modulo the width, because the short encoding of -1 and the long one of 2^32 - 1 do the same.
            parts.append(instruction.immediate(number) % (1 << _WIDTHS[kind]))
        else:
            parts.append(("branch", instruction.near_branch_target))
    # Also of the VEX form, which cannot have them: a built one with a mask must differ from its own bytes.
    decorations = (
        bool(instruction.op_mask),
        instruction.zeroing_masking,
        instruction.is_broadcast,
        instruction.rounding_control,
        instruction.suppress_all_exceptions,
    )
    if any(decorations):  # Without decorations the EVEX form does the same as the VEX form.
        parts.append(decorations)
    return tuple(parts)


def mentioned(instruction: iced.Instruction) -> tuple[str, ...]:
    """The names of the renamable registers in the operands, in the order of their places in the shape."""
    numbers: list[int] = []
    for number in range(instruction.op_count):
        kind = instruction.op_kind(number)
        if kind == _KINDS.REGISTER:
            numbers.append(instruction.op_register(number))
        elif kind == _KINDS.MEMORY:
            numbers += (instruction.memory_base, instruction.memory_index)
    numbers.append(instruction.op_mask)
    names = register_names()
    by_name = registers()
    return tuple(name for number in numbers if number and (name := names[number]) in by_name)


def _address(instruction: iced.Instruction) -> Shape:
    value = instruction.memory_displacement
    if instruction.is_ip_rel_memory_operand:
        value -= instruction.next_ip  # the shape must not depend on where the instruction stands
    narrow = view_of(instruction.memory_base) == "gp32" or view_of(instruction.memory_index) == "gp32"
    if not (instruction.memory_base or instruction.memory_index):
        narrow = instruction.memory_displ_size == 4  # without registers only this shows the address size
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


_OPERANDS: Final = iced.OpCodeOperandKind
_FIXED: Final = frozenset(
    {_OPERANDS.AL, _OPERANDS.CL, _OPERANDS.AX, _OPERANDS.DX, _OPERANDS.EAX, _OPERANDS.RAX}
)
_GROUPS: Final = frozenset({_OPERANDS.KP1_REG, _OPERANDS.XMMP3_VVVV, _OPERANDS.ZMMP3_VVVV})
"""Operands that name the first of several consecutive registers."""
_FRESH: Final = {
    "gp8": iced.Register.R8L,
    "gp8h": iced.Register.R8L,
    "gp16": iced.Register.R8W,
    "gp32": iced.Register.R8D,
    "gp64": iced.Register.R8,
    "vec128": iced.Register.XMM20,
    "vec256": iced.Register.YMM20,
    "vec512": iced.Register.ZMM20,
    "mmx64": iced.Register.MM2,
    "k64": iced.Register.K2,
}
"""The first fresh register of each view; the numbers behind it are free, too."""


def implicit(instruction: iced.Instruction, factory: iced.InstructionInfoFactory) -> frozenset[str]:
    """The bases that no renaming may change, whether or not the text names them.

    Returns all vector and mask registers for an instruction that uses several consecutive ones.
    """
    # `vp4dpwssd` reads four registers in a row, so renaming one would change three others.
    kinds = iced.OpCodeInfo(instruction.code).op_kinds()
    if _GROUPS.intersection(kinds):
        return frozenset((*BASES["vec"], *BASES["k"]))
    copy = instruction.copy()
    fresh: set[str] = set()
    fixed: set[str] = set()
    count = 0

    def other(number: int) -> int:
        nonlocal count
        begin = _FRESH.get(view_of(number))
        if begin is None:
            return number
        chosen = begin + count
        count += 1
        fresh.add(base_of(chosen))
        return chosen

    for number in range(instruction.op_count):
        kind = instruction.op_kind(number)
        if kind == iced.OpKind.REGISTER:
            register = instruction.op_register(number)
            if kinds[number] in _FIXED:
                fixed.add(base_of(register))
            copy.set_op_register(number, untyped(other(register)))
        elif kind == iced.OpKind.MEMORY:
            # A base and an index of one register become two, so nothing coincides in the copy.
            copy.memory_base = untyped(other(instruction.memory_base))
            copy.memory_index = untyped(other(instruction.memory_index))
    if instruction.op_mask:
        copy.op_mask = untyped(other(instruction.op_mask))
    used = {base_of(use.register) for use in factory.info(copy).used_registers()}
    return frozenset(base for base in (used - fresh) | fixed if base)
