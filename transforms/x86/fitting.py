"""The encodings that a statement may mean, found by its mnemonic and the kinds of its operands.

`encoding.encode` asks for them. This filter only saves time: `encoding` checks every candidate by decoding.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.x86.catalogue import FAMILIES, Candidate, candidates, family, register_names
from codeaudit.transforms.x86.statements import (
    AssemblyStatement,
    ImmediateOperand,
    Operand,
    RegisterOperand,
    RoundingOperand,
    Syntax,
)

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
    for stem in ("cmov", "set")
    for name, condition in _CONDITIONS.items()
}
_ALIASES: Final[Mapping[Syntax, Mapping[str, str]]] = {
    "att": _COMMON | {f"{word}{size}": f"{name}{size}" for word, name in _COMMON.items() for size in "bwlq"},
    "intel": _COMMON | {"movabs": "mov"},
}
"""Mnemonics of other assemblers, with the mnemonic that iced's printer writes."""


def fitting(statement: AssemblyStatement, syntax: Syntax) -> tuple[Candidate, ...]:
    """The encodings that a statement may mean, in the order of iced's table.

    Raises:
        SourceError: the mnemonic is unknown.
    """
    tags = tuple(_tag(one) for one in statement.operands if not isinstance(one, RoundingOperand))
    return _fitting(statement.mnemonic, tags, syntax)


@lru_cache(maxsize=1 << 12)
def _fitting(word: str, tags: tuple[str, ...], syntax: Syntax) -> tuple[Candidate, ...]:
    table = candidates(syntax)
    known = table.get(word) or table.get(_ALIASES[syntax].get(word, ""))
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
    found = {names[number]: name for name in FAMILIES for number in family(name)}
    return found | {"st": "st"}
