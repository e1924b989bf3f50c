"""Alpha-equivalence of blocks, decided on decoded machine code: the proof of every renaming.

Two blocks are alpha-equivalent if one bijection of bases maps every instruction of one block to the
instruction at the same place of the other. Mapped instructions have the same shape (`shapes.py`),
corresponding registers in corresponding places, the same implied registers, and the same reads and writes as
iced-x86 sees them. An implied register corresponds to itself only, also if the text does not name it (`push`
and `rsp`).

Assumed equal: all segments that begin at 0 (`rbp` as a base implies `ss`, `rbx` implies `ds`). So an address
that is not canonical may raise a different fault. The lengths of encodings are not compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from codeaudit.transforms.x86.reading import BasicBlock, Operation

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
        offsets = [offset + len(one.code) for offset, one in zip(offsets, pair, strict=True)]
        if pair[0].is_relative and offsets[0] != offsets[1]:
            return Different(RELATIVE, place)
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
