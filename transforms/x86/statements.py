"""One line of assembly text, parsed into prefixes, mnemonic and operands.

Operands have the order of the text. This module does not know mnemonics or encodings; `encoding`
finds out which instruction the line is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from codeaudit.transforms.errors import SourceError

Syntax: TypeAlias = Literal["att", "intel"]
"""The two syntaxes of assembly text."""

PREFIXES: Final = frozenset(
    {"lock", "rep", "repe", "repz", "repne", "repnz", "xacquire", "xrelease", "notrack", "bnd"}
)
"""Words before a mnemonic. `lock` may stand on a line of its own, because some disassemblers print it
there.
"""

_REDUNDANT: Final = frozenset({"addr32", "data16", "data64", "rex64", "rex", "rex.w"})
"""Prefixes that the mnemonic or an operand implies where they have a meaning. They are refused as separate
words, because tools count these as instructions.
"""


@dataclass(frozen=True, slots=True)
class RegisterOperand:
    """A register operand, with the masking of EVEX text (`%zmm1 {%k2} {z}`)."""

    register: str
    """Its name without `%`, in lower case."""
    mask: str = ""
    """The mask register; empty without one."""
    zeroing: bool = False
    """Whether masked elements become 0."""


@dataclass(frozen=True, slots=True)
class ImmediateOperand:
    """An immediate operand."""

    value: int


@dataclass(frozen=True, slots=True)
class MemoryOperand:
    """A memory operand: `segment:displacement(base, index, scale)`."""

    segment: str = ""
    """The name of the segment register; empty if the text names none."""
    displacement: int = 0
    """The constant in the address, in bytes."""
    base: str = ""
    """The name of the base register; empty without one."""
    index: str = ""
    """The name of the index register; empty without one."""
    scale: int = 1
    """The factor of the index."""
    size: int | None = None
    """Bytes that are accessed, if the text says so (Intel's `dword ptr`); else `None`."""
    mask: str = ""
    """The mask register; empty without one."""
    zeroing: bool = False
    """Whether masked elements become 0."""
    broadcast: int = 0
    """The N of `{1toN}`; 0 without a broadcast."""


@dataclass(frozen=True, slots=True)
class RoundingOperand:
    """A rounding or exception control of EVEX text, such as `{rn-sae}`."""

    mode: str
    """The text between the braces."""


Operand: TypeAlias = RegisterOperand | ImmediateOperand | MemoryOperand | RoundingOperand


@dataclass(frozen=True, slots=True)
class AssemblyStatement:
    """One parsed line."""

    prefixes: tuple[str, ...]
    """In the order of the text, in lower case."""
    mnemonic: str
    """In lower case; empty for a prefix alone on its line."""
    operands: tuple[Operand, ...]
    """In the order of the text."""


_WORDS: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9_.]*)(?:\s+|$)")
_NUMBER: Final = re.compile(
    r"([+-]?)\s*(?:(0[xX][0-9a-fA-F]+)|([0-9][0-9a-fA-F]*)[hH]|(0[bB][01]+)|(0|[1-9][0-9]*))"
)
"""No `010`: GNU's and LLVM's assemblers read it as octal, others as decimal."""
_REGISTER: Final = re.compile(r"%?(st\([0-7]\)|[a-z][a-z0-9]*)", re.IGNORECASE)
_CONTROL: Final = re.compile(r"(?<=\w)\s*(\{(?:sae|r[nduz]-sae)\})")
"""A rounding or exception control behind a register of Intel text, as objdump has it."""
_BRACES: Final = re.compile(r"\{\s*([^{}]*?)\s*\}")
_SIZES: Final = {
    "byte": 1,
    "word": 2,
    "dword": 4,
    "fword": 6,
    "qword": 8,
    "mmword": 8,
    "tbyte": 10,
    "xword": 10,
    "oword": 16,
    "xmmword": 16,
    "ymmword": 32,
    "zmmword": 64,
}
_SIZE: Final = re.compile(rf"({'|'.join(_SIZES)})\s+(?:(?:ptr|bcst)\b\s*)?(?=.*\[|.*:)", re.IGNORECASE)
_INTEL_PLACE: Final = re.compile(r"(?:([a-z]s)\s*:\s*)?([^\[\]:]*)\[(.*)\]", re.IGNORECASE)
_INTEL_ABSOLUTE: Final = re.compile(r"([a-z]s)\s*:\s*([^\[\]]+)", re.IGNORECASE)
_TERM: Final = re.compile(r"\s*([+-]?)\s*([^+\-\s][^+\-]*)")


def split(text: str, syntax: Syntax) -> AssemblyStatement:
    """Parse one line without comment.

    Raises:
        SourceError: the line is not an instruction. The message does not contain the line number.
    """
    prefixes: list[str] = []
    place = 0
    while True:
        word = _WORDS.match(text, place)
        if word is None:
            raise SourceError(f"{text[place:].strip() or text.strip()!r} is no instruction")
        place = word.end()
        if word[1].lower() in _REDUNDANT:
            raise SourceError(f"prefix {word[1]!r} is not read")
        if word[1].lower() not in PREFIXES:
            break
        prefixes.append(word[1].lower())
        if place >= len(text):
            return AssemblyStatement(tuple(prefixes), "", ())
    read = _att if syntax == "att" else _intel
    rest = text[place:] if syntax == "att" else _CONTROL.sub(r", \1", text[place:])
    return AssemblyStatement(tuple(prefixes), word[1].lower(), tuple(read(piece) for piece in _pieces(rest)))


def number(text: str) -> int:
    """Parse an integer in decimal, `0x…`, `0b…` or `…h` notation.

    Raises:
        SourceError: the text is not an integer.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise SourceError(f"{text.strip()!r} is no number")
    sign, prefixed, suffixed, binary, decimal = match.groups()
    digits = prefixed or suffixed or binary or decimal
    value = int(digits, 16 if prefixed or suffixed else 2 if binary else 10)
    return -value if sign == "-" else value


def _pieces(text: str) -> Sequence[str]:
    """The operands: the pieces between commas outside of brackets."""
    if not text.strip():
        return ()
    # A comma in brackets belongs to an address: `8(%rax,%rcx,4)` is one operand.
    pieces, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and not depth:
            pieces.append(text[begin:place].strip())
            begin = place + 1
    return (*pieces, text[begin:].strip())


def _decorations(text: str) -> tuple[str, str, bool, int]:
    """The text without braces, and the content of the braces: mask, zeroing, broadcast."""
    mask, zeroing, broadcast = "", False, 0
    if "{" not in text:
        return text, mask, zeroing, broadcast
    for word in _BRACES.findall(text):
        if word == "z":
            zeroing = True
        elif re.fullmatch(r"%?k[0-7]", word):
            mask = word.lstrip("%")
        elif re.fullmatch(r"1to(2|4|8|16|32)", word):
            broadcast = int(word[3:])
        else:
            raise SourceError(f"unknown decoration {{{word}}}")
    return _BRACES.sub("", text).strip(), mask, zeroing, broadcast


def _rounding(text: str) -> RoundingOperand | None:
    match = re.fullmatch(r"\{(sae|r[nduz]-sae)\}", text)
    return RoundingOperand(match[1]) if match else None


# AT&T


def _att(piece: str) -> Operand:
    if rounding := _rounding(piece):
        return rounding
    if piece.startswith("*"):  # AT&T marks the target of an indirect jump so
        raise SourceError("a jump or call has no place in a basic block")
    text, mask, zeroing, broadcast = _decorations(piece)
    if text.startswith("$"):
        return ImmediateOperand(number(text[1:]))
    if text.startswith("%") and ":" not in text:
        return RegisterOperand(_name(text), mask, zeroing)
    segment = ""
    if text.startswith("%"):
        name, _, text = text.partition(":")
        segment, text = _name(name), text.strip()
    front, bracket, inside = text.partition("(")
    displacement = number(front) if front.strip() else 0
    if not bracket:
        if not front.strip():
            raise SourceError(f"operand {piece!r} cannot be read")
        return MemoryOperand(segment, displacement, mask=mask, zeroing=zeroing, broadcast=broadcast)
    if not inside.endswith(")"):
        raise SourceError(f"operand {piece!r} cannot be read")
    # Padded, because index and scale may be missing: `(%rax)`, `(%rax,%rcx)`, `(,%rcx,4)`.
    base, index, scale, *rest = [part.strip() for part in inside[:-1].split(",")] + ["", ""]
    if any(rest):
        raise SourceError(f"operand {piece!r} cannot be read")
    return MemoryOperand(
        segment,
        displacement,
        _name(base) if base else "",
        _name(index) if index else "",
        number(scale) if scale else 1,
        mask=mask,
        zeroing=zeroing,
        broadcast=broadcast,
    )


def _name(text: str) -> str:
    match = _REGISTER.fullmatch(text.strip())
    if match is None or not text.strip().startswith("%"):
        raise SourceError(f"{text.strip()!r} is no register")
    return match[1].lower()


# Intel


def _intel(piece: str) -> Operand:
    if rounding := _rounding(piece):
        return rounding
    text, mask, zeroing, broadcast = _decorations(piece)
    size = None
    if match := _SIZE.match(text):
        size, text = _SIZES[match[1].lower()], text[match.end() :].strip()
    if match := _INTEL_PLACE.fullmatch(text):
        address = _sum(match[3], (match[1] or "").lower())
        if match[2].strip():  # GCC writes `8[rsp]` for `[rsp+8]`
            address = replace(address, displacement=address.displacement + number(match[2]))
    elif (match := _INTEL_ABSOLUTE.fullmatch(text)) is not None:
        address = MemoryOperand(match[1].lower(), number(match[2]))
    elif _NUMBER.fullmatch(text):
        return ImmediateOperand(number(text))
    else:
        name = _REGISTER.fullmatch(text)
        if name is None:
            raise SourceError(f"operand {piece!r} cannot be read")
        return RegisterOperand(name[1].lower(), mask, zeroing)
    return replace(address, size=size, mask=mask, zeroing=zeroing, broadcast=broadcast)


def _sum(text: str, segment: str) -> MemoryOperand:
    """Parse the address between Intel's brackets: registers, one of them scaled, and numbers."""
    plain: list[str] = []
    index, scale, displacement, done = "", 1, 0, 0
    for term in _TERM.finditer(text):
        if term.start() != done:
            raise SourceError(f"address [{text}] cannot be read")
        done = term.end()
        sign, value = term[1], term[2].strip()
        if "*" in value:  # both `rax*4` and `4*rax` are in use
            one, _, other = (part.strip() for part in value.partition("*"))
            name, factor = (other, one) if _NUMBER.fullmatch(one) else (one, other)
            if index or sign == "-":
                raise SourceError(f"address [{text}] cannot be read")
            index, scale = name.lower(), number(factor)
        elif _NUMBER.fullmatch(value):
            displacement += number(sign + value)
        elif sign != "-" and _REGISTER.fullmatch(value):
            plain.append(value.lower())
        else:
            raise SourceError(f"address [{text}] cannot be read")
    if done != len(text) or len(plain) > (1 if index else 2):
        raise SourceError(f"address [{text}] cannot be read")
    base = plain[0] if plain else ""
    if len(plain) == 2:
        index = plain[1]
        if index in ("rsp", "esp"):  # The stack pointer cannot be an index, so it is the base.
            base, index = index, base
    return MemoryOperand(segment, displacement, base, index, scale)
