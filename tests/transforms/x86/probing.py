"""Does an instruction do no more than `effects.touch` declares? Asked of this processor, or of an emulator.

An instruction runs twice, from two states that agree in everything that it declares to read or write, and in
nothing else: other registers, other flags, other memory. Then what it declares to write must be equal in both
ends, and everything else must be as it was. A part that is read, but not declared, would show as a difference;
a part that is written, but not declared, as a change.

Of an instruction that conflicts with all others only the flags are asked about: which flags the instructions
around it have to keep depends on them.

`probed` runs in the sandbox; this module asks it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import iced_x86 as iced

from codeaudit.transforms.oracle.sandbox import Answer
from codeaudit.transforms.x86.effects import Access, Touch, touch
from codeaudit.transforms.x86.reading import BasicBlock, Operation
from codeaudit.transforms.x86.registers import BASES, register_names, registers
from codeaudit.transforms.x86.witnesses import native
from codeaudit.transforms.x86.witnesses.processor import GLOBAL, LOCAL

TARGET = "tests.transforms.x86.probed"
STATES = 8
"""The number of states from which each specimen runs."""
_BITS = {
    iced.RflagsBits.CF: 0x1,
    iced.RflagsBits.PF: 0x4,
    iced.RflagsBits.AF: 0x10,
    iced.RflagsBits.ZF: 0x40,
    iced.RflagsBits.SF: 0x80,
    iced.RflagsBits.DF: 0x400,
    iced.RflagsBits.OF: 0x800,
}
_CLASSES = ("gp", "vec", "k")


def question(operation: Operation, seed: int, abilities: frozenset[str]) -> Mapping[str, Any]:
    """What the sandbox has to know about an instruction, and about the processor that runs it."""
    claim = touch(operation)
    ((widest, count),) = native._vectors(abilities)
    return {
        "vectors": (count, {"x": 16, "y": 32, "z": 64}[widest]),
        "code": operation.code.hex(),
        "kept": _numbers(claim.reads | claim.writes),
        "written": _numbers(claim.writes),
        "flags_read": _hardware(claim.flags_read),
        "flags_written": _hardware(claim.flags_written),
        "flags_defined": ~_hardware(operation.instruction.rflags_undefined),
        "memory": None
        if any(not place.size for place in claim.memory)
        else [_place(place) for place in claim.memory],
        "flags_only": claim.barrier,
        "seed": seed,
        "states": STATES,
        **native.hints(BasicBlock("", (operation,), (0,))),
    }


def _numbers(bases: Iterable[str]) -> Mapping[str, list[int]]:
    return {kind: [n for n, base in enumerate(BASES[kind]) if base in bases] for kind in _CLASSES}


def _hardware(flags: int) -> int:
    return sum(bit for flag, bit in _BITS.items() if flags & flag)


def _place(access: Access) -> Mapping[str, Any]:
    segment, base, index, scale, bits = access.place
    origin = {iced.Register.FS: LOCAL, iced.Register.GS: GLOBAL}.get(segment, 0)  # type: ignore[call-overload]
    return {
        "origin": origin,
        "parts": [_part(base, 1), _part(index, scale)],
        "displacement": access.displacement,
        "bits": bits,
        "size": access.size,
        "writes": access.writes,
    }


def _part(register: Any, scale: Any) -> list[int] | None:
    known = registers().get(register_names().get(register, ""))
    return None if known is None else [BASES["gp"].index(known.base), known.width, scale]


@dataclass(frozen=True)
class Probe:
    """What was seen of one specimen."""

    runs: int
    """The states from which it ran to its end."""
    wrong: tuple[str, ...]
    """What it did and does not declare."""
    fault: str = ""
    """The last signal."""
    ends: tuple[str, ...] = ()
    """What each run left, two from each pair of states: equal texts mean equal ends."""


class Asker(Protocol):
    """What runs instructions: this processor, or an emulator."""

    def ask(self, groups: Sequence[Sequence[Mapping[str, Any]]]) -> list[Answer]:
        """One answer of `probed` for each input."""
        ...


def probe(
    asker: Asker, operations: Sequence[Operation], abilities: frozenset[str] | None = None
) -> list[Probe]:
    """What a processor shows of each instruction; a `NativeProcessor` must have been made for `TARGET`.

    `abilities` are the vector registers that the states fill, in the words of Linux; by default this
    processor's.
    """
    able = native.abilities() if abilities is None else abilities
    asked = [question(operation, number, able) for number, operation in enumerate(operations)]
    groups = [asked[at : at + 200] for at in range(0, len(asked), 200)]
    probes = []
    for group in groups:
        for kind, text in asker.ask([group]):
            lost = {"runs": 0, "wrong": [], "fault": text, "ends": []}
            answer: Mapping[str, Any] = json.loads(text) if kind == "seen" else lost
            probes.append(
                Probe(answer["runs"], tuple(answer["wrong"]), answer["fault"], tuple(answer["ends"]))
            )
    return probes


def can_probe(operation: Operation) -> bool:
    """Whether the sandbox shows all that is asked about an instruction."""
    return not (touch(operation).barrier and native._distrust(operation))


def declares_all_registers(operation: Operation, claim: Touch) -> bool:
    """Whether each register in use is named by an operand or implied: a renaming knows of all of them."""
    named = {register.base for register in operation.registers}
    return (claim.reads | claim.writes) & registers().keys() <= named | operation.implicit
