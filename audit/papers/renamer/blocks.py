"""Basic blocks as terms.

An instruction is its prefixes and opcode, the registers that it uses without a choice, its operands in the
order of AT&T text, and `;`. An opcode is a mnemonic with the kinds of its operands (`addq mr`), for by that
costs are known. The context of a term is its opcode and its place in the instruction, counted from the
destination. The view of a register is its class and width, its referent the base. Constants are the words
`IMM` and `D`: no cost that llvm-mca tells depends on their values. A register that a mnemonic implies is a
term of its own, so that `push` depends on `rsp` visibly; the paper leaves out blocks with implied registers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from codeaudit.audit.papers.renamer.terms import START, Reading, Term, TermChoices, TermLanguage, word
from codeaudit.transforms.x86.language import X86
from codeaudit.transforms.x86.legality import choices as legal
from codeaudit.transforms.x86.printing import att_text
from codeaudit.transforms.x86.reading import LINES, Operation, operation, read
from codeaudit.transforms.x86.registers import BASES, class_of, registers
from codeaudit.transforms.x86.statements import (
    ImmediateOperand,
    MemoryOperand,
    Operand,
    RegisterOperand,
    RoundingOperand,
    split,
)

IMMEDIATE: Final = Term("IMM")
DISPLACEMENT: Final = Term("D")
END: Final = Term(";")
INDEX: Final = "x"
"""The place of an index, which is else like a base."""
MOST_IMPLIED: Final = 6
"""An instruction that implies more registers (`vzeroupper`) is known by its mnemonic alone."""

_FORMS: Final[Mapping[type[Operand], str]] = {
    RegisterOperand: "r",
    MemoryOperand: "m",
    ImmediateOperand: "i",
    RoundingOperand: "",
}
_PLACES: Final = tuple(f"@{place}{part}" for place in range(1, 6) for part in ("", INDEX))
_ORDER: Final = {base: number for number, base in enumerate(base for row in BASES.values() for base in row)}


def terms(source: str) -> tuple[Term, ...]:
    """The terms of a block of AT&T text.

    Raises:
        SourceError: a line is no instruction.
    """
    found = [Term(START)]
    for one in read(source).operations:
        found += _of(one.text)
    return tuple(found)


def implied(source: str) -> bool:
    """Whether some instruction uses a register without a choice.

    Raises:
        SourceError: a line is no instruction.
    """
    return any(one.implicit for one in read(source).operations)


def words(reading: Reading) -> Iterator[str]:
    """The places, and every word that a register may be, whether or not a corpus has it."""
    yield from _PLACES
    views = {(one.view, one.kind, one.base) for one in registers().values()}
    views |= {(_implied(base).view, class_of(base), base) for base in _ORDER}
    for view, kind, base in views:
        match reading:
            case "views":
                yield view
            case "names":
                yield word(view, base)
            case "first use":
                yield from (word(view, f"#{number}") for number in range(len(BASES[kind])))


def choices(source: str) -> TermChoices:
    """The legal renamings of the bases of a block.

    Raises:
        SourceError: a line is no instruction.
    """
    return legal(read(source))


@lru_cache(maxsize=LINES)
def _of(text: str) -> tuple[Term, ...]:
    one = operation(text, "att")
    told = split(att_text(one.instruction), "att")
    form = "".join(_FORMS[type(operand)] for operand in told.operands)
    opcode = f"{told.mnemonic} {form}".rstrip()
    found = [Term(name) for name in (*told.prefixes, opcode)]
    found += _implied_terms(one)
    for place, operand in zip(range(len(told.operands), 0, -1), told.operands, strict=True):
        found += (
            replace(term, context=("".join((f"@{place}", *term.context)),)) for term in _operand(operand)
        )
    return tuple(replace(term, context=(opcode, *term.context)) for term in (*found, END))


def _implied_terms(one: Operation) -> list[Term]:
    bases = sorted(one.implicit, key=lambda base: _ORDER[base])
    return [_implied(base) for base in bases] if len(bases) <= MOST_IMPLIED else []


def _implied(base: str) -> Term:
    return Term(f"implied {class_of(base)}", class_of(base), base)


def _operand(operand: Operand) -> Iterator[Term]:
    match operand:
        case RegisterOperand(register=name, mask=mask, zeroing=zeroing):
            yield _register(name)
            yield from _decorations(mask, zeroing=zeroing, broadcast=0)
        case ImmediateOperand():
            yield IMMEDIATE
        case RoundingOperand(mode=mode):
            yield Term(mode)
        case MemoryOperand():
            if operand.segment in ("fs", "gs"):
                yield Term(f"{operand.segment}:")
            yield Term("[")
            if operand.displacement:
                yield DISPLACEMENT
            if operand.base:
                yield _register(operand.base)
            if operand.index:
                yield replace(_register(operand.index), context=(INDEX,))
                yield Term(f"*{operand.scale}")
            yield Term("]")
            yield from _decorations(operand.mask, zeroing=operand.zeroing, broadcast=operand.broadcast)


def _decorations(mask: str, *, zeroing: bool, broadcast: int) -> Iterator[Term]:
    if broadcast:
        yield Term(f"1to{broadcast}")
    if mask:
        yield Term("mask")
        yield _register(mask)
    if zeroing:
        yield Term("{z}")


def _register(name: str) -> Term:
    found = registers().get(name)
    return Term(name) if found is None else Term(found.view, found.kind, found.base)


BLOCKS: Final = TermLanguage(
    name=X86.name, terms=terms, words=words, choices=choices, implied=implied, end=END.view
)
