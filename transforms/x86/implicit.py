"""Implied registers: those that an instruction uses because of its mnemonic or its encoding.

Removing the operands from the registers in use does not find them, because an operand may coincide with an
implied register (`cmpxchg %ecx, %eax`, `mul %rax`). So the operands of a copy are replaced by fresh
registers. A register that the copy uses and that is not fresh is implied.
"""

from functools import cache
from typing import Final

import iced_x86 as iced

from codeaudit.transforms.x86.catalogue import register_names, untyped
from codeaudit.transforms.x86.registers import BASES, registers
from codeaudit.transforms.x86.shapes import view_of

_KINDS: Final = iced.OpCodeOperandKind
_FIXED: Final = frozenset({_KINDS.AL, _KINDS.CL, _KINDS.AX, _KINDS.DX, _KINDS.EAX, _KINDS.RAX})
_GROUPS: Final = frozenset({_KINDS.KP1_REG, _KINDS.XMMP3_VVVV, _KINDS.ZMMP3_VVVV})
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
            copy.memory_base = untyped(other(instruction.memory_base))
            copy.memory_index = untyped(other(instruction.memory_index))
    if instruction.op_mask:
        copy.op_mask = untyped(other(instruction.op_mask))
    used = {base_of(one.register) for one in factory.info(copy).used_registers()}
    return frozenset(base for base in (used - fresh) | fixed if base)


@cache
def base_of(number: int) -> str:
    """The base of a register, given by iced's number; empty for a register that cannot be renamed."""
    found = registers().get(register_names().get(number, ""))
    return found.base if found else ""
