"""Registers that an instruction uses without a choice: implied by the mnemonic, or fixed by the encoding.

Taking the operands from the registers used does not work, since an operand may coincide with an implied
register (`cmpxchg %ecx, %eax`, `mul %rax`). So the operands are replaced by fresh registers in a copy, and
what the copy uses beside the fresh ones is implied.
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
"""Operands that stand for several registers in a row."""
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
"""Where the fresh registers of each view begin."""


def implicit(instruction: iced.Instruction, factory: iced.InstructionInfoFactory) -> frozenset[str]:
    """The bases that must stay as they are, whether or not the text names them."""
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
    """The base of a register of iced's; empty for one that cannot be renamed."""
    found = registers().get(register_names().get(number, ""))
    return found.base if found else ""
