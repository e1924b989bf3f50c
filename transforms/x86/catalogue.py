"""The encodings that a mnemonic may mean, taken from iced-x86's formatter.

For every encoding of 64-bit mode a specimen is built and printed. The printed mnemonic, with and without a
size suffix, becomes the key under which the encoding is found. So this code base has no table of mnemonics
that could be wrong or incomplete.

`fitting` finds the encodings that a statement may mean by its mnemonic and the kinds of its operands. This
only saves time: `encoding` checks every candidate by decoding.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import iced_x86 as iced

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.x86.registers import register_names, untyped
from codeaudit.transforms.x86.statements import (
    PREFIXES,
    AssemblyStatement,
    ImmediateOperand,
    Operand,
    RegisterOperand,
    RoundingOperand,
    Syntax,
)


@dataclass(frozen=True, slots=True)
class Slot:
    """The possible values of one operand of an encoding."""

    kind: int
    """iced's operand kind (`OpKind`)."""
    family: str = ""
    """The family of registers that it may be: `r32`, `xmm`, …; empty if it cannot be a register."""
    memory: bool = False
    """Whether it may be a memory operand."""
    fixed: int = 0
    """iced's number of the one register that the encoding allows; 0 if there is a choice."""
    bits: int = 0
    """For an immediate: the number of bits that are stored; else 0."""
    width: int = 0
    """For an immediate: the number of bits after sign extension; else 0."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One encoding as one syntax prints it."""

    code: int
    """iced's number of the encoding (`Code`)."""
    slots: tuple[Slot, ...]
    """Its operands in iced's order."""
    places: tuple[int, ...]
    """For each operand of the text the number of the slot that it fills; -1 for an implied operand."""
    last: int | None = None
    """The value of the last immediate if the mnemonic contains it (`cmpeqps`); else `None`."""
    wide: bool = False
    """Whether this spelling of the mnemonic gives the width of a memory operand."""


_REGISTERS: Final = {
    "r8": ("AL", "CL", "DL", "BL", "AH", "CH", "DH", "BH", "SPL", "BPL", "SIL", "DIL"),
    "r16": ("AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI"),
    "r32": ("EAX", "ECX", "EDX", "EBX", "ESP", "EBP", "ESI", "EDI"),
    "r64": ("RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI"),
}
_NUMBERED: Final = {
    "r8": ("R", "L", range(8, 16)),
    "r16": ("R", "W", range(8, 16)),
    "r32": ("R", "D", range(8, 16)),
    "r64": ("R", "", range(8, 16)),
    "mm": ("MM", "", range(8)),
    "xmm": ("XMM", "", range(32)),
    "ymm": ("YMM", "", range(32)),
    "zmm": ("ZMM", "", range(32)),
    "k": ("K", "", range(8)),
    "bnd": ("BND", "", range(4)),
    "cr": ("CR", "", range(16)),
    "dr": ("DR", "", range(16)),
    "tmm": ("TMM", "", range(8)),
    "st": ("ST", "", range(8)),
}
FAMILIES: Final = (*_NUMBERED, "seg")
"""The families of registers: an operand allows one of them."""
_SEGMENTS: Final = ("ES", "CS", "SS", "DS", "FS", "GS")
_IMMEDIATES: Final = {
    "IMM4_M2Z": ("IMMEDIATE8", 4, 4),
    "IMM8": ("IMMEDIATE8", 8, 8),
    "IMM8_CONST_1": ("IMMEDIATE8", 8, 8),
    "IMM8SEX16": ("IMMEDIATE8TO16", 8, 16),
    "IMM8SEX32": ("IMMEDIATE8TO32", 8, 32),
    "IMM8SEX64": ("IMMEDIATE8TO64", 8, 64),
    "IMM16": ("IMMEDIATE16", 16, 16),
    "IMM32": ("IMMEDIATE32", 32, 32),
    "IMM32SEX64": ("IMMEDIATE32TO64", 32, 64),
    "IMM64": ("IMMEDIATE64", 64, 64),
}
_STRINGS: Final = {
    "SEG_RSI": "MEMORY_SEG_RSI",
    "ES_RDI": "MEMORY_ESRDI",
    "SEG_RDI": "MEMORY_SEG_RDI",
}
_SPELLINGS: Final = {"sti": "st", "kp1": "k", "xmmp3": "xmm", "zmmp3": "zmm", "seg": "seg"}
_UNDOCUMENTED: Final = re.compile("_D[0-9A-F]{3}$|^FSTPNCE|^SAL_")
"""Alternative encodings of x87 instructions and shifts that assemblers do not produce."""
_PREDICATES: Final = ("cmp", "vcmp", "vpcmp", "vpcom", "pclmul", "vpclmul")
"""Prefixes of mnemonics that may contain the value of the last immediate."""


@cache
def family(name: str) -> frozenset[int]:
    """iced's numbers of the registers of a family of `FAMILIES`."""
    if name == "seg":
        return frozenset(getattr(iced.Register, segment) for segment in _SEGMENTS)
    head, tail, numbers = _NUMBERED[name]
    names = (*_REGISTERS.get(name, ()), *(f"{head}{number}{tail}" for number in numbers))
    return frozenset(getattr(iced.Register, name) for name in names)


@cache
def candidates(syntax: Syntax) -> Mapping[str, tuple[Candidate, ...]]:
    """All mnemonics of a syntax, each with the encodings that it may mean, in iced's order."""
    by_name: dict[str, dict[Candidate, None]] = {}
    for code_name, code in vars(iced.Code).items():
        if not isinstance(code, int) or _UNDOCUMENTED.search(code_name):
            continue
        if (slots := _slots(iced.OpCodeInfo(untyped(code)))) is not None:
            for name, candidate in _spellings(code, slots, syntax):
                by_name.setdefault(name, {})[candidate] = None
    return {name: tuple(group) for name, group in by_name.items()}


def formatter(syntax: Syntax) -> iced.Formatter:
    """A formatter whose output `statements.split` can parse: decimal numbers, signed immediates, explicit
    sizes.
    """
    gas = syntax == "att"
    printer = iced.Formatter(iced.FormatterSyntax.GAS if gas else iced.FormatterSyntax.INTEL)
    printer.number_base = 10
    printer.space_after_operand_separator = True
    printer.signed_immediate_operands = True
    printer.rip_relative_addresses = True
    printer.show_useless_prefixes = True
    if gas:
        printer.gas_show_mnemonic_size_suffix = True
    else:
        printer.memory_size_options = iced.MemorySizeOptions.ALWAYS
    return printer


def _slots(info: iced.OpCodeInfo) -> tuple[Slot, ...] | None:
    """The operands of an encoding; `None` if a basic block of 64-bit mode cannot hold it."""
    if not info.mode64 or not info.is_instruction or info.is_reserved_nop:
        return None
    if info.encoding == iced.EncodingKind.MVEX:  # Knights Corner only; its bytes collide with EVEX
        return None
    slots = [_slot(kind) for kind in info.op_kinds()]
    return None if None in slots else tuple(slot for slot in slots if slot is not None)


@cache
def _slot(kind: int) -> Slot | None:
    name = _kind_names()[kind]
    if name in _IMMEDIATES:
        op_kind, bits, width = _IMMEDIATES[name]
        return Slot(getattr(iced.OpKind, op_kind), bits=bits, width=width)
    if name in _STRINGS:
        return Slot(getattr(iced.OpKind, _STRINGS[name]))
    if name.startswith(("MEM", "SIBMEM")):
        return Slot(iced.OpKind.MEMORY, memory=True)
    # Encodings without a number of the register: `addl $1000, %eax` is one byte shorter than `%ebx`'s.
    if name in ("AL", "CL", "AX", "DX", "EAX", "RAX", "ST0", *_SEGMENTS):
        return Slot(iced.OpKind.REGISTER, fixed=getattr(iced.Register, name))
    head = name.partition("_")[0].lower()
    head = _SPELLINGS.get(head, head)
    if head in _NUMBERED or head == "seg":
        return Slot(iced.OpKind.REGISTER, family=head, memory="OR_MEM" in name)
    return None


@cache
def _kind_names() -> Mapping[int, str]:
    return {kind: name for name, kind in vars(iced.OpCodeOperandKind).items() if isinstance(kind, int)}


def _spellings(code: int, slots: tuple[Slot, ...], syntax: Syntax) -> Iterator[tuple[str, Candidate]]:
    # An operand that may be memory is printed in both forms, because the size suffix is for memory only.
    forms = {False, True} if any(slot.memory and slot.family for slot in slots) else {False}
    for memory in forms:
        specimen = _specimen(code, slots, memory=memory)
        for printer in _printers(syntax):
            word = _mnemonic(printer, specimen)
            if word is None:
                continue
            places = _places(printer, specimen)
            wide = syntax == "att" and printer.gas_show_mnemonic_size_suffix
            wide = wide and word != _mnemonic(_printers(syntax)[-1], specimen)
            yield word, Candidate(code, slots, places, wide=wide)
            if not (word.startswith(_PREDICATES) and slots and slots[-1].bits == 8):
                continue
            for last in range(32):  # AVX has 32 predicates, the largest number
                specimen.set_immediate_u64(len(slots) - 1, last)
                named = _mnemonic(_pseudo(syntax), specimen)
                if named is not None and named != word and not named.startswith(f"{word}$"):
                    yield named, Candidate(code, slots, _places(_pseudo(syntax), specimen), last, wide)


@cache
def _printers(syntax: Syntax) -> tuple[iced.Formatter, ...]:
    """Formatters that write every operand: with the size suffix, and for AT&T also without it."""
    full = formatter(syntax)
    full.use_pseudo_ops = False
    full.show_useless_prefixes = False
    if syntax == "intel":
        return (full,)
    bare = formatter(syntax)
    bare.use_pseudo_ops = False
    bare.gas_show_mnemonic_size_suffix = False
    return full, bare


@cache
def _pseudo(syntax: Syntax) -> iced.Formatter:
    return formatter(syntax)


def _mnemonic(printer: iced.Formatter, specimen: iced.Instruction) -> str | None:
    words = [word for word in printer.format_mnemonic(specimen).split() if word not in PREFIXES]
    return words[-1] if words else None


def _places(printer: iced.Formatter, specimen: iced.Instruction) -> tuple[int, ...]:
    return tuple(
        -1 if (place := printer.get_instruction_operand(specimen, number)) is None else place
        for number in range(printer.operand_count(specimen))
    )


def _specimen(code: int, slots: tuple[Slot, ...], *, memory: bool) -> iced.Instruction:
    """An arbitrary instruction of an encoding, complete enough to be printed."""
    instruction = iced.Instruction()
    instruction.code = untyped(code)
    instruction.code_size = iced.CodeSize.CODE64
    for number, slot in enumerate(slots):
        if slot.bits:
            instruction.set_op_kind(number, untyped(immediate_kind(slots, number)))
        elif slot.fixed:
            instruction.set_op_kind(number, iced.OpKind.REGISTER)
            instruction.set_op_register(number, untyped(slot.fixed))
        elif slot.family and not (memory and slot.memory):
            instruction.set_op_kind(number, iced.OpKind.REGISTER)
            # Distinct registers: some encodings print less where two are equal.
            instruction.set_op_register(number, untyped(sorted(family(slot.family))[1 + number]))
        else:
            instruction.set_op_kind(number, untyped(slot.kind))
            if slot.memory:
                instruction.memory_base = iced.Register.RBX
    return instruction


def immediate_kind(slots: tuple[Slot, ...], number: int) -> int:
    """iced's kind of an immediate operand; a second immediate of eight bits has a kind of its own."""
    if slots[number].bits == 8 and number and slots[number - 1].bits:
        return iced.OpKind.IMMEDIATE8_2ND
    return slots[number].kind


_CONDITIONS: Final = {
    "c": "b",
    "nae": "b",
    "nc": "ae",
    "nb": "ae",
    "z": "e",
    "nz": "ne",
    "na": "be",
    "nbe": "a",
    "pe": "p",
    "po": "np",
    "nge": "l",
    "nl": "ge",
    "ng": "le",
    "nle": "g",
}
"""Other names of conditions, with the name that iced's printer uses."""
_COMMON: Final = {"wait": "fwait", "fucompi": "fucomip", "fcompi": "fcomip", "sal": "shl"} | {
    f"{stem}{name}": f"{stem}{condition}"
    for stem in ("cmov", "set", "j", "loop")
    for name, condition in _CONDITIONS.items()
}
_ALIASES: Final[Mapping[Syntax, Mapping[str, Sequence[str]]]] = {
    "att": {word: (name,) for word, name in _COMMON.items()}
    | {f"{word}{size}": (f"{name}{size}",) for word, name in _COMMON.items() for size in "bwlq"},
    "intel": {word: (name,) for word, name in _COMMON.items()}
    | {"movabs": ("mov",)}
    # iced writes `pushf` for 16 bits. Other assemblers mean 64 bits by it, and write `pushfw` for 16.
    | {word + width: (word + name,) for word in ("pushf", "popf") for width, name in (("", "q"), ("w", ""))}
    # `stos byte ptr es:[rdi], al` is `stosb`.
    | {word: tuple(word + size for size in "bwdq") for word in ("movs", "cmps", "stos", "lods", "scas")},
}
"""Mnemonics of other assemblers, each with those that iced's printer writes for it."""


@cache
def transfers() -> frozenset[str]:
    """The mnemonics of both syntaxes, without prefixes, that may pass control elsewhere."""
    words = set[str]()
    instruction = iced.Instruction()
    instruction.code_size = iced.CodeSize.CODE64
    for code in (value for value in vars(iced.Code).values() if isinstance(value, int)):
        instruction.code = untyped(code)
        if instruction.flow_control != iced.FlowControl.NEXT:
            words |= {
                str(_mnemonic(printer, instruction)) for printer in (*_printers("att"), *_printers("intel"))
            }
    return frozenset(words | {word for word, name in _COMMON.items() if name in words})


def fitting(statement: AssemblyStatement, syntax: Syntax) -> tuple[Candidate, ...]:
    """The encodings that a statement may mean, in the order of iced's table.

    Raises:
        SourceError: the mnemonic is unknown.
    """
    tags = tuple(_tag(operand) for operand in statement.operands if not isinstance(operand, RoundingOperand))
    return _fitting(statement.mnemonic, tags, syntax)


@lru_cache(maxsize=1 << 12)
def _fitting(word: str, tags: tuple[str, ...], syntax: Syntax) -> tuple[Candidate, ...]:
    # iced prints each instruction under one name; other assemblers have more (`jz`, `je`), which come second.
    table = candidates(syntax)
    known = [
        candidate for name in (word, *_ALIASES[syntax].get(word, ())) for candidate in table.get(name, ())
    ]
    if not known:
        raise SourceError(f"unknown mnemonic {word!r}")
    return tuple(candidate for candidate in known if _may_take(candidate, tags))


def _may_take(candidate: Candidate, tags: tuple[str, ...]) -> bool:
    """Whether the operands, whose kinds are given in the order of the text, may be those of an encoding."""
    places, slots = candidate.places, candidate.slots
    if len(tags) != len(places) or len(places) != len(slots) or -1 in places:
        return True  # The encoding has implied operands: the number of operands does not decide.
    return all(
        tag in (slots[place].family, "m" if slots[place].memory else "")
        if slots[place].family or slots[place].memory
        else (tag == "i") == bool(slots[place].bits)
        for place, tag in zip(places, tags, strict=True)
    )


def _tag(operand: Operand) -> str:
    """The kind of an operand: `i` (immediate), `m` (memory), or a family of registers."""
    if isinstance(operand, RegisterOperand):
        return _families().get(operand.register, "")
    return "i" if isinstance(operand, ImmediateOperand) else "m"


@cache
def _families() -> Mapping[str, str]:
    """The family of each register, by its name."""
    names = register_names()
    families = {names[number]: name for name in FAMILIES for number in family(name)}
    return families | {"st": "st"}
