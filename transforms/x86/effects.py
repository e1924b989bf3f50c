"""The effects of the instructions of a block, and their conflicts: which of them may not change places.

Two instructions conflict if one writes a register, a status flag or memory that the other reads or writes. An
instruction that is not an ordinary computation conflicts with every other one. The effects are those of
iced-x86, on whole registers: a write to `al` conflicts with a read of `rax`.

- Two writes of a flag may change places if no instruction reads the flag before it is written again. At the
  end of the block every flag counts as read. An instruction that leaves a flag undefined may leave its old
  value, so it counts as a read of the flag.
- Two accesses to memory conflict if one of them writes. They do not if both use the same address registers,
  no instruction changes these in between, and the two places do not overlap.

Guarantee: an order that respects these conflicts gives the same registers, flags and memory whenever the
block runs to its end. If an instruction faults, an instruction faults in every order, but not always the same
one first.

No other thread looks at the memory meanwhile (`nobody-between`), and the block neither reads nor changes its
own code (`code-unread`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import iced_x86 as iced

from codeaudit.transforms.x86.reading import BasicBlock, Operation
from codeaudit.transforms.x86.registers import base_of, numbers, register_names

_ACCESS: Final = iced.OpAccess
_READS: Final = frozenset({_ACCESS.READ, _ACCESS.COND_READ, _ACCESS.READ_WRITE, _ACCESS.READ_COND_WRITE})
_WRITES: Final = frozenset({_ACCESS.WRITE, _ACCESS.COND_WRITE, _ACCESS.READ_WRITE, _ACCESS.READ_COND_WRITE})
_ORDINARY: Final = """
    INTEL8086 INTEL186 INTEL386 INTEL486 X64 CMOV MULTIBYTENOP MMX SSE SSE2 SSE3 SSSE3 SSE4_1 SSE4_2 SSE4A
    AVX AVX2 FMA F16C BMI1 BMI2 ADX LZCNT POPCNT MOVBE AES PCLMULQDQ SHA GFNI VAES VPCLMULQDQ CX8 CMPXCHG16B
    PREFETCHW AVX512F AVX512CD AVX512DQ AVX512BW AVX512VL AVX512_IFMA AVX512_VBMI AVX512_VBMI2 AVX512_VNNI
    AVX512_BITALG AVX512_VPOPCNTDQ AVX512_BF16
"""
"""Instruction sets that only compute, and whose effects were compared with execution on a processor. The
instructions of sets that are neither here nor in `_EMULATED` (clocks, random numbers, processor state, ports)
keep their places.
"""
_EMULATED: Final = "XOP FMA4 TBM AVX512_FP16 AVX_VNNI"
"""Instruction sets that only compute, and whose effects were compared with execution by an emulator (Bochs),
because the processors at hand lack them.
"""
_NOT_EMULATED: Final = """
    VPSHAB VPSHAW VPSHAD VPSHAQ BLCFILL BLSFILL BLCS TZMSK BLCIC BLSIC T1MSKC BLCMSK BLCI
"""
"""Instructions of these sets that the emulator does not know. Nothing ran them, so they keep their places."""
_SPECIAL: Final = """
    LFENCE MFENCE SFENCE LDMXCSR STMXCSR VLDMXCSR VSTMXCSR EMMS FEMMS MASKMOVQ HLT INT INT1 INT3 INTO WAIT
    IN OUT INSB INSW INSD OUTSB OUTSW OUTSD CLI STI PUSHF PUSHFQ POPF POPFQ ENTER LFS LGS LSS
"""
"""Instructions of these sets that do not only compute; they keep their places."""
_BY_COUNT: Final = "SHL SAL SHR SAR ROL ROR RCL RCR SHLD SHRD"
"""Shifts and rotations. They change no flag if the count is 0, so with a count in a register they also
read.
"""
_THROUGH_CARRY: Final = "RCL RCR"
"""Rotations through the carry flag. After a whole number of turns (`rclb $9, %al`) the operand and the carry
are what they were, but the overflow flag is undefined.
"""
_BY_BIT: Final = "BT BTS BTR BTC"
"""Tests of single bits. A bit number in a register may reach beyond the addressed memory operand."""


@dataclass(frozen=True, slots=True)
class Access:
    """One access to memory."""

    place: tuple[object, ...]
    """Segment, base, index, scale and address size. Accesses with equal `place` differ in displacement
    only.
    """
    bases: frozenset[str]
    """The registers in the address."""
    displacement: int
    """The constant in the address, in bytes."""
    size: int
    """Bytes that are accessed; 0 if unknown."""
    writes: bool
    """Whether it may write."""
    bits: int
    """Width of the address: 32 or 64."""


@dataclass(frozen=True, slots=True)
class Touch:
    """The effects of one instruction."""

    reads: frozenset[str]
    """Registers that it may read, by base; by name if they have no base."""
    writes: frozenset[str]
    """Registers that it may write."""
    flags_read: int
    """Status flags that it may read, as iced's `RflagsBits`."""
    flags_written: int
    """Status flags that it may change or leave undefined."""
    memory: tuple[Access, ...]
    """Its accesses to memory."""
    barrier: bool
    """Whether it conflicts with every other instruction."""


@lru_cache(maxsize=256)
def conflicts(block: BasicBlock) -> tuple[int, ...]:
    """Predecessor masks of the conflicts: bit i of mask j is set iff instructions i < j may not change
    places.
    """
    touches = [touch(operation) for operation in block.operations]
    flags = _flag_conflicts(touches)
    masks = []
    for later, second in enumerate(touches):
        mask = flags[later]
        for earlier, first in enumerate(touches[:later]):
            if (
                first.barrier
                or second.barrier
                or first.writes & (second.reads | second.writes)
                or first.reads & second.writes
                or _overlap(touches[earlier:later], second)
            ):
                mask |= 1 << earlier
        masks.append(mask)
    return tuple(masks)


@lru_cache(maxsize=256)
def flow(block: BasicBlock) -> tuple[int, ...]:
    """Predecessor masks of the true dependences: j reads a register or a flag that i wrote last.

    Memory is left out.
    """
    writers: dict[str | int, int] = {}
    masks = []
    for number, operation in enumerate(block.operations):
        touched = touch(operation)
        read = operation.instruction.rflags_read
        mask = 0
        for place in (*touched.reads, *_bits(read)):  # reads first: `incq %rax` does not depend on itself
            if place in writers:
                mask |= 1 << writers[place]
        masks.append(mask)
        writers.update(dict.fromkeys((*touched.writes, *_bits(touched.flags_written)), number))
    return tuple(masks)


@lru_cache(maxsize=1 << 14)
def touch(operation: Operation) -> Touch:
    """The effects of an instruction."""
    instruction = operation.instruction
    info = iced.InstructionInfoFactory().info(instruction)
    names = [(_name(use.register), use.access) for use in info.used_registers()]
    modified = instruction.rflags_modified
    turns = instruction.mnemonic in numbers(iced.Mnemonic, _THROUGH_CARRY)
    if turns:
        modified |= iced.RflagsBits.CF | iced.RflagsBits.OF
    # A processor may leave an undefined flag as it was, so the old value may pass through.
    read = instruction.rflags_read | instruction.rflags_undefined
    counted = instruction.mnemonic in numbers(iced.Mnemonic, _BY_COUNT) and _is_counted(instruction)
    # `repne scasb` compares nothing and changes no flag if the count is 0.
    if turns or counted or instruction.has_rep_prefix or instruction.has_repne_prefix:
        read |= modified
    return Touch(
        reads=frozenset(name for name, access in names if access in _READS),
        writes=frozenset(name for name, access in names if access in _WRITES),
        flags_read=read,
        flags_written=modified,
        memory=tuple(_accesses(instruction, info)),
        barrier=_is_barrier(instruction),
    )


def _name(register: int) -> str:
    return base_of(register) or register_names()[register]


def _is_counted(instruction: iced.Instruction) -> bool:
    """Whether the count or bit number of the instruction is in a register."""
    return instruction.op_kind(instruction.op_count - 1) == iced.OpKind.REGISTER


def _accesses(instruction: iced.Instruction, info: iced.InstructionInfo) -> Iterator[Access]:
    # A bit number in a register reaches any distance from the address.
    anywhere = instruction.mnemonic in numbers(iced.Mnemonic, _BY_BIT) and _is_counted(instruction)
    for use in info.used_memory():
        reads, writes = use.access in _READS, use.access in _WRITES
        if not (reads or writes):  # `lea` computes an address and uses no memory
            continue
        bits = 32 if use.address_size == iced.CodeSize.CODE32 else 64
        # A gather or scatter has a vector of indices, and so several addresses.
        unknown = anywhere or base_of(use.index).startswith("xmm")
        bases = frozenset(_name(register) for register in (use.base, use.index) if register)
        # The other segments begin at 0, so they do not separate two places.
        segment = use.segment if use.segment in (iced.Register.FS, iced.Register.GS) else 0
        yield Access(
            place=(segment, use.base, use.index, use.scale, bits),
            bases=bases,
            displacement=use.displacement,
            size=0 if unknown else iced.MemorySizeExt.size(use.memory_size),
            writes=writes,
            bits=bits,
        )


def _is_barrier(instruction: iced.Instruction) -> bool:
    features = instruction.cpuid_features()
    return (
        instruction.flow_control != iced.FlowControl.NEXT
        or instruction.has_lock_prefix
        or instruction.has_rep_prefix  # the number of accesses is known only when it runs
        or instruction.has_repne_prefix
        or instruction.is_privileged
        or instruction.is_ip_rel_memory_operand
        or not numbers(iced.CpuidFeature, f"{_ORDINARY} {_EMULATED}").issuperset(features)
        or instruction.mnemonic in numbers(iced.Mnemonic, f"{_SPECIAL} {_NOT_EMULATED}")
        # With memory `xchg` locks the bus without a prefix.
        or (instruction.mnemonic == iced.Mnemonic.XCHG and instruction.op0_kind == iced.OpKind.MEMORY)
        # A segment, control or x87 register has no base; MMX registers share their storage with x87.
        or any(
            instruction.op_kind(number) == iced.OpKind.REGISTER
            and (not (base := base_of(instruction.op_register(number))) or base.startswith("mm"))
            for number in range(instruction.op_count)
        )
    )


def _overlap(between: Sequence[Touch], second: Touch) -> bool:
    """Whether the first of `between` and `second` may access the same memory while one of them writes.

    `between` holds the first instruction and all instructions from there to `second`.
    """
    return any(
        (one.writes or other.writes) and not _apart(one, other, between)
        for one in between[0].memory
        for other in second.memory
    )


def _apart(one: Access, other: Access, between: Sequence[Touch]) -> bool:
    if one.place != other.place or not one.size or not other.size:
        return False
    # `movq (%rax), %rbx; addq $8, %rax; movq %rcx, (%rax)`: the same text of an address, another place.
    if any(touched.writes & one.bases for touched in between):
        return False
    # Addresses wrap around, so the two places need room on both sides.
    limit = 1 << one.bits
    distance = (other.displacement - one.displacement) % limit
    return one.size <= distance <= limit - other.size


def _flag_conflicts(touches: Sequence[Touch]) -> list[int]:
    """Predecessor masks by status flags alone."""
    live = _live_writes(touches)
    masks = [0] * len(touches)
    every = 0
    for touched in touches:
        every |= touched.flags_written | touched.flags_read
    for flag in _bits(every):
        # Nearly every instruction writes flags, and nearly no flag is read. Two writes that nothing reads
        # (`dead`) may change places; a write that something reads (`kept`) stays between its neighbours.
        readers = dead = kept = 0
        for number, touched in enumerate(touches):
            bit = 1 << number
            if touched.flags_read & flag:
                masks[number] |= kept | dead
                readers |= bit
            if live[number] & flag:
                masks[number] |= kept | dead | readers
                kept |= bit
            elif touched.flags_written & flag:
                masks[number] |= kept | readers
                dead |= bit
        for number in range(len(touches)):  # an instruction that reads and writes a flag found itself
            masks[number] &= (1 << number) - 1
    return masks


def _live_writes(touches: Sequence[Touch]) -> list[int]:
    """For each instruction the flags that it writes and a later one reads; the end of the block reads all."""
    needed = -1  # what runs after the block may read every flag
    live = [0] * len(touches)
    for number in range(len(touches) - 1, -1, -1):
        touched = touches[number]
        live[number] = touched.flags_written & needed
        needed = needed & ~touched.flags_written | touched.flags_read
    return live


def _bits(mask: int) -> list[int]:
    return [1 << place for place in range(mask.bit_length()) if mask >> place & 1]
