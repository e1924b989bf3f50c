"""Legal renamings of registers, and the proof that one block is a renaming of another.

A renaming to the legal targets of each base keeps the block encodable, its meaning and its cost. A *fixed*
base corresponds to itself and is no target of another base. Fixed bases are:

- the implied registers of all instructions of the block;
- `k0`;
- the MMX registers in a block with x87 code, because both are the same physical registers;
- `rsp`, unless the stack pointer may be renamed.

The targets of all other bases are restricted by:

- an index of an address: never `rsp`, because the encoding has no value for it;
- an instruction with a high byte (`ah`): the base of the high byte stays among the bases that have one. The
  other registers of the instruction stay among the eight that need no REX prefix, low bytes among the first
  four;
- `add`, `or`, `adc`, `sbb`, `and`, `sub`, `xor`, `cmp`, `test` with an immediate, and `xchg`: the accumulator
  stays the accumulator and no other register becomes it, because assemblers choose another opcode with
  another cost;
- vector registers 16 to 31, which only EVEX can encode: they stay among themselves.

The proof (`compare`) is alpha-equivalence, decided on decoded machine code. Two blocks are alpha-equivalent
if one bijection of bases maps every instruction of one block to the instruction at the same place of the
other. Mapped instructions have the same shape (`shapes.py`), corresponding registers in corresponding places,
the same implied registers, and the same reads and writes as iced-x86 sees them. An implied register
corresponds to itself only, also if the text does not name it (`push` and `rsp`).

Assumed equal: all segments that begin at 0 (`rbp` as a base implies `ss`, `rbx` implies `ds`). So an address
that is not canonical may raise a different fault. The lengths of encodings are not compared.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain
from random import Random
from typing import Final, TypeAlias

import iced_x86 as iced

from codeaudit.transforms.x86.reading import BasicBlock, Operation
from codeaudit.transforms.x86.registers import BASES, HIGH_BYTES, base_of, class_of, numbers

ACCUMULATOR: Final = "rax"
STACK: Final = "rsp"

_LEGACY: Final = frozenset(BASES["gp"][:8])
_LOW: Final = frozenset(BASES["vec"][:16])
_HIGH: Final = frozenset(BASES["vec"][16:])
_SHORT: Final = "ADD OR ADC SBB AND SUB XOR CMP TEST"
"""Instructions with an encoding for the accumulator and an immediate alone."""


@dataclass(frozen=True)
class RegisterChoices:
    """The legal targets of the bases of a block."""

    targets: Mapping[str, frozenset[str]]
    """For each base that the text names, in the order of the text, its legal targets, itself included."""

    @property
    def movable(self) -> tuple[str, ...]:
        """The bases that have another target than themselves."""
        return tuple(base for base, targets in self.targets.items() if len(targets) > 1)

    def allows(self, renaming: Mapping[str, str]) -> bool:
        """Whether a renaming of some bases is legal while all other bases stay."""
        full = {base: renaming.get(base, base) for base in self.targets}
        return (
            renaming.keys() <= full.keys()
            and len(set(full.values())) == len(full)
            and all(target in self.targets[base] for base, target in full.items())
        )

    def draw(self, rng: Random) -> Mapping[str, str]:
        """A legal renaming, drawn uniformly among all of them, the identity included.

        Bases with fewer targets choose first. If the sets of targets are nested, the number of choices at
        each step does not depend on earlier choices, so the draw is uniform. If they are not nested,
        rejection sampling makes it uniform.
        """
        while True:
            drawn = self._attempt(rng)
            if drawn is not None:
                return {base: drawn[base] for base in self.targets}

    @cached_property
    def _bounds(self) -> tuple[tuple[str, int], ...]:
        """The bases in the order in which they choose, each with an upper bound on its number of choices."""
        ordered = sorted(self.targets, key=lambda base: len(self.targets[base]))
        sets = [self.targets[base] for base in ordered]
        return tuple(
            (base, len(targets) - _certain(targets, sets[:place]))
            for place, (base, targets) in enumerate(zip(ordered, sets, strict=True))
        )

    def _attempt(self, rng: Random) -> dict[str, str] | None:
        drawn: dict[str, str] = {}
        taken: set[str] = set()
        for base, bound in self._bounds:
            # Sorted, because the order of a set of strings differs from process to process.
            free = sorted(self.targets[base] - taken)
            # Rejection: where fewer names are free than the bound, the attempt survives with the probability
            # free / bound. So every renaming has the same probability, 1 / product of the bounds.
            if not free or (len(free) < bound and rng.random() * bound >= len(free)):
                return None
            drawn[base] = rng.choice(free)
            taken.add(drawn[base])
        return drawn


def _certain(targets: frozenset[str], earlier: list[frozenset[str]]) -> int:
    """The number of `targets` that are certainly taken after bases with the `earlier` sets have chosen.

    If k of these bases have all of their targets in `targets` and a set `outside`, at most |outside| of them
    choose outside, so at least k - |outside| of `targets` are taken.
    """
    outside: set[str] = set()
    best = 0
    for count, other in enumerate(sorted(earlier, key=lambda choice: len(choice - targets)), 1):
        outside |= other - targets
        best = max(best, count - len(outside))
    return best


@lru_cache(maxsize=256)
def choices(block: BasicBlock, *, stack: bool = False) -> RegisterChoices:
    """The legal targets of the bases of a block. With `stack`, `rsp` may change if no instruction implies
    it.
    """
    fixed = _fixed(block, stack=stack)
    named = dict.fromkeys(token.register.base for operation in block.operations for token in operation.tokens)
    targets = {base: _all(class_of(base)) - fixed | {base} for base in named}
    for base in named.keys() & fixed:
        targets[base] = frozenset({base})
    for operation in block.operations:
        _narrow(operation, targets)
    return RegisterChoices(targets)


@cache
def _all(name: str) -> frozenset[str]:
    return frozenset(BASES[name])  # type: ignore[index]


def _fixed(block: BasicBlock, *, stack: bool) -> frozenset[str]:
    fixed = set(chain.from_iterable(operation.implicit for operation in block.operations))
    fixed.add("k0")  # as a write mask, the encoding of k0 means "no mask"
    if not stack:
        fixed.add(STACK)
    if any(_is_x87(operation) for operation in block.operations):
        fixed.update(BASES["mmx"])
    for operation in block.operations:
        # The text may name a register that is not an operand: in a no-op, or where the register is implied.
        named = {token.register.base for token in operation.tokens}
        fixed |= named - {register.base for register in operation.registers}
    return frozenset(fixed)


def _is_x87(operation: Operation) -> bool:
    return any(base == "" and view.startswith("st(") for view, base, _ in operation.effects) or (
        iced.CpuidFeature.FPU in operation.instruction.cpuid_features()
    )


def _narrow(operation: Operation, targets: dict[str, frozenset[str]]) -> None:
    instruction = operation.instruction
    used = operation.registers
    if any(register.high for register in used):
        for register in used:
            if register.kind == "gp":
                # With a REX prefix the encodings of ah, ch, dh and bh mean spl, bpl, sil and dil.
                _keep(targets, register.base, HIGH_BYTES if register.width == 8 else _LEGACY)
    if index := base_of(instruction.memory_index):
        _drop(targets, index, STACK)
    if _may_be_short(instruction):
        for register in used:
            _drop(targets, register.base, ACCUMULATOR)
    for register in used:
        if register.kind == "vec":
            _keep(targets, register.base, _HIGH if register.base in _HIGH else _LOW)


def _keep(targets: dict[str, frozenset[str]], base: str, among: Iterable[str]) -> None:
    targets[base] = targets[base] & frozenset(among)


def _drop(targets: dict[str, frozenset[str]], base: str, target: str) -> None:
    """Remove a target, so only the base of this name keeps it; that base becomes fixed."""
    targets[base] = frozenset({base}) if base == target else targets[base] - {target}


def _may_be_short(instruction: iced.Instruction) -> bool:
    if instruction.mnemonic == iced.Mnemonic.XCHG:
        return True
    return (
        instruction.mnemonic in numbers(iced.Mnemonic, _SHORT)
        and instruction.op0_kind == iced.OpKind.REGISTER
        and instruction.op1_kind >= iced.OpKind.IMMEDIATE8
        and instruction.op1_kind <= iced.OpKind.IMMEDIATE32TO64
    )


LENGTH: Final = "another number of instructions"
SHAPE: Final = "an instruction or a view changed"
REFERENT: Final = "two registers became one or one became two"
EFFECTS: Final = "an instruction reads or writes something else"
IMPLIED: Final = "an implied register corresponds to another one"
RELATIVE: Final = "an address counts from another place"


@dataclass(frozen=True, slots=True)
class Equivalent:
    """The blocks are alpha-equivalent."""

    renaming: Mapping[str, str]
    """The base in the second block, by the base in the first block."""


@dataclass(frozen=True, slots=True)
class Different:
    """The blocks are not alpha-equivalent, or equivalence cannot be shown."""

    reason: str
    place: int
    """The number of the first instruction that differs, from 0."""


Judgement: TypeAlias = Equivalent | Different


def compare(before: BasicBlock, after: BasicBlock) -> Judgement:
    """Whether `after` is a renaming of `before`, with the renaming or the first difference."""
    if len(before.operations) != len(after.operations):
        return Different(LENGTH, min(len(before.operations), len(after.operations)))
    forth: dict[str, str] = {}
    back: dict[str, str] = {}
    offsets = [0, 0]
    for place, pair in enumerate(zip(before.operations, after.operations, strict=True)):
        if reason := _obstacle(*pair, forth, back):
            return Different(reason, place)
        # With equal offsets the two addresses differ by the displacements alone, which are in the shape.
        offsets = [offset + len(operation.code) for offset, operation in zip(offsets, pair, strict=True)]
        if pair[0].instruction.is_ip_rel_memory_operand and offsets[0] != offsets[1]:
            return Different(RELATIVE, place)
    # The bijection is complete only now: a register that is implied may be named in a later instruction.
    for place, pair in enumerate(zip(before.operations, after.operations, strict=True)):
        one, other = pair
        if {(view, forth.get(base, base), access) for view, base, access in one.effects} != other.effects:
            return Different(EFFECTS, place)
    return Equivalent(forth)


def _obstacle(one: Operation, other: Operation, forth: dict[str, str], back: dict[str, str]) -> str:
    """Why two instructions do not correspond; empty if they do. Extends the bijection in `forth` and
    `back`.
    """
    if one.shape != other.shape:
        return SHAPE
    for left, right in zip(one.registers, other.registers, strict=True):
        if forth.setdefault(left.base, right.base) != right.base:
            return REFERENT
        if back.setdefault(right.base, left.base) != left.base:
            return REFERENT
    if one.implicit != other.implicit:
        return IMPLIED
    for base in one.implicit:
        if forth.setdefault(base, base) != base or back.setdefault(base, base) != base:
            return IMPLIED
    return ""
