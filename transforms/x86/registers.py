"""The registers of x86-64 with class, view and base, in the words of Renamer (Ankner et al., section 2).

The *view* of a register is its class and bit width. Two registers are coreferential if they have the same
*base*. The name of a base is `rax`, `xmm3`, `mm0` or `k2`: the full general register, the 128-bit vector
register, the MMX or the mask register.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias

import iced_x86 as iced

RegisterClass: TypeAlias = Literal["gp", "vec", "mmx", "k"]
"""General purpose, vector, MMX and mask registers. A renaming never leaves the class."""

_LEGACY: Final = ("ax", "cx", "dx", "bx", "sp", "bp", "si", "di")
HIGH_BYTES: Final = ("rax", "rcx", "rdx", "rbx")
"""Bases that have a high byte (`ah` …), in the order of their encoding."""
GENERAL: Final = (*(f"r{name}" for name in _LEGACY), *(f"r{number}" for number in range(8, 16)))
VECTOR: Final = tuple(f"xmm{number}" for number in range(32))
MMX: Final = tuple(f"mm{number}" for number in range(8))
MASK: Final = tuple(f"k{number}" for number in range(8))
BASES: Final[Mapping[RegisterClass, tuple[str, ...]]] = {
    "gp": GENERAL,
    "vec": VECTOR,
    "mmx": MMX,
    "k": MASK,
}
"""The bases of each class, in the order of their numbers."""


@dataclass(frozen=True, slots=True)
class Register:
    """A register as an operand names it."""

    name: str
    """The name in AT&T text, without `%`."""
    base: str
    """The base that it is a part of."""
    kind: RegisterClass
    """Its class."""
    width: int
    """The width in bits."""
    high: bool = False
    """Whether it is the second-lowest byte of its base (`ah`)."""

    @property
    def view(self) -> str:
        """Class and width, such as `gp32` or `gp8h`: the part of a register that a renaming keeps."""
        return f"{self.kind}{self.width}{'h' if self.high else ''}"


@cache
def registers() -> Mapping[str, Register]:
    """All registers that a renaming may change, by name."""
    return {register.name: register for register in _all()}


@cache
def _by_view() -> Mapping[tuple[str, int, bool], Register]:
    return {(register.base, register.width, register.high): register for register in _all()}


@cache
def class_of(base: str) -> RegisterClass:
    """The class that a base belongs to."""
    return registers()[base].kind


def part(base: str, like: Register) -> Register | None:
    """The register of a base with the view of `like`; `None` if the base has no part with this view."""
    return _by_view().get((base, like.width, like.high))


def _all() -> Iterator[Register]:
    for number, base in enumerate(GENERAL):
        yield Register(base, base, "gp", 64)
        if number < 8:  # the eight old registers have names of their own for each width
            short = base[1:]
            yield Register(f"e{short}", base, "gp", 32)
            yield Register(short, base, "gp", 16)
            yield Register(f"{short[0]}l" if base in HIGH_BYTES else f"{short}l", base, "gp", 8)
            if base in HIGH_BYTES:
                yield Register(f"{short[0]}h", base, "gp", 8, high=True)
        else:
            for letter, width in (("d", 32), ("w", 16), ("b", 8)):
                yield Register(f"{base}{letter}", base, "gp", width)
    for number, base in enumerate(VECTOR):
        for letter, width in (("x", 128), ("y", 256), ("z", 512)):
            yield Register(f"{letter}mm{number}", base, "vec", width)
    yield from (Register(base, base, "mmx", 64) for base in MMX)
    # An instruction uses 8 to 64 bits of a mask register, but no name shows how many.
    yield from (Register(base, base, "k", 64) for base in MASK)


@cache
def numbers(where: object, names: str) -> frozenset[int]:
    """The numbers of names in one of iced's lists: `numbers(iced.Mnemonic, "IN OUT")`."""
    return frozenset(getattr(where, name) for name in names.split())


@cache
def register_numbers() -> Mapping[str, int]:
    """iced's number of each register, by its name in AT&T text."""
    return {name: number for number, name in register_names().items()}


@cache
def register_names() -> Mapping[int, str]:
    """The name of each register in AT&T text, by iced's number."""
    printer = iced.Formatter(iced.FormatterSyntax.GAS)
    printer.gas_naked_registers = True
    codes = [value for value in vars(iced.Register).values() if isinstance(value, int) and value]
    return {number: printer.format_register(untyped(number)) for number in codes}


def untyped(value: int) -> Any:
    """The number with type `Any`: iced's type stubs expect enumerations, which are plain numbers at run
    time.
    """
    return value


@cache
def view_of(number: int) -> str:
    """The view of a register, given by iced's number; the name of a register that cannot be renamed."""
    if not number:
        return ""
    name = register_names()[number]
    register: Register | None = registers().get(name)
    return name if register is None else register.view


@cache
def base_of(number: int) -> str:
    """The base of a register, given by iced's number; empty for a register that cannot be renamed."""
    register = registers().get(register_names().get(number, ""))
    return register.base if register else ""


def construct(line: str) -> tuple[str, frozenset[str]]:
    """The mnemonic of a line and its registers, each by its full name: `rax` for `%al`."""
    by_name = registers()
    named = frozenset(by_name[name].base for name in re.findall(r"%(\w+)", line) if name in by_name)
    return next(iter(line.partition("#")[0].split()), "other"), named
