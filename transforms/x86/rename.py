"""`rename` for x86 and its two controls: registers become other registers (Renamer, Ankner et al.).

A renaming is a bijection of bases within each class, so every register keeps its view (width and class) and
two registers name the same base after it exactly if they did before. It is drawn uniformly among the legal
ones. Only register names in the text change; the result is parsed anew, encoded, and compared with the
original instruction by instruction (`legality.py`).

What is kept is the block's effect on registers and memory, up to the renaming of the registers in which it
takes its input and leaves its output, and its cost on a machine whose registers are alike. Not promised: the
length of the code (a high register costs a prefix), and so what a front end makes of it.

`rename-merging` breaks the referent relation (Figure 1(c)): one register takes the name of another register
of the block, so two places that named different registers name the same one.

`rename-views` breaks a view (Figure 1(c): `%rbp` becomes `%ebp`): in one instruction, registers become
narrower or wider parts of the same bases, and the mnemonic stays. For example, an address is computed with 32
bits, or a vector operation on 128 bits becomes one on 256 bits.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

import iced_x86 as iced

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import NOT_A_MOVE, BaseTransform, Refused, Rewritten
from codeaudit.transforms.records import Evidence, Kind, Move, Unit
from codeaudit.transforms.renaming import Rename
from codeaudit.transforms.x86.effects import touch
from codeaudit.transforms.x86.legality import REFERENT, Different, RegisterChoices, choices, compare
from codeaudit.transforms.x86.reading import BasicBlock, Operation, read, read_operation
from codeaudit.transforms.x86.registers import Register, class_of, part

NO_REGISTER: Final = "no register in an operand"
ALL_FIXED: Final = "no register may be renamed"
ONLY_IDENTITY: Final = "no other renaming found"
RELATIVE: Final = "an address counts from the end of its instruction"
LEAVES: Final = "control leaves the block"
SAVES: Final = "an instruction saves or restores all registers"
ILLEGAL: Final = "two registers would become one, or one may not be renamed so"


@dataclass(frozen=True, slots=True)
class RegisterNames:
    """The registers of a block, numbered in the order in which the text names their bases first."""

    block: BasicBlock
    choices: RegisterChoices
    unchanged: str = ONLY_IDENTITY

    @property
    def current(self) -> Mapping[int, str]:
        """The base of each register."""
        return dict(enumerate(self.choices.targets))

    def draw(self, rng: Random) -> Mapping[int, str] | Refused:
        """A legal renaming, uniformly among all of them, the identity included."""
        if not self.choices.targets:
            return Refused(NO_REGISTER)
        if not self.choices.movable:
            return Refused(ALL_FIXED)
        return dict(enumerate(self.choices.draw(rng).values()))

    def allows(self, names: Mapping[int, str]) -> bool:
        """Whether the renaming is legal while the other bases stay."""
        return self.choices.allows(self._by_base(names))

    def text(self, names: Mapping[int, str]) -> str | None:
        """The text with other registers; `None` where one of them has no part of the width."""
        return renamed(self.block, self._by_base(names))

    def proof(self, text: str, names: Mapping[int, str]) -> Evidence | None:
        """`analysis` if the text, read anew, is the block up to a renaming."""
        return None if isinstance(compare(self.block, read(text)), Different) else "analysis"

    def _by_base(self, names: Mapping[int, str]) -> dict[str, str]:
        return {self.current[number]: target for number, target in names.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterRename(Rename):
    """Gives the registers of a block other names. One base is one move."""

    foreign: str = NOT_A_MOVE
    illegal: str = ILLEGAL
    stack: bool = False
    """Whether `rsp` may be renamed where no instruction uses it as the stack pointer."""
    languages: frozenset[str] = field(default=frozenset({"x86"}))

    def names(self, source: str) -> RegisterNames | Refused:
        """The registers of a block, or why none may be renamed.

        Raises:
            SourceError: a line of the source is no instruction.
        """
        block = read(source)
        if reason := obstacle(block):
            return Refused(reason)
        return RegisterNames(block, choices(block, stack=self.stack))


def obstacle(block: BasicBlock) -> str:
    """Why no register of a block may be renamed at all; empty if some may."""
    for operation in block.operations:
        instruction = operation.instruction
        # A called function finds its arguments in fixed registers.
        if instruction.flow_control != iced.FlowControl.NEXT:
            return LEAVES
        # `xsave` stores each register at a place of its own, whatever the registers are called elsewhere.
        if instruction.is_save_restore_instruction:
            return SAVES
        # `movq 8(%rip), %rax` names another place when `%r8` makes an instruction before it longer.
        if instruction.is_ip_rel_memory_operand:
            return RELATIVE
    return ""


def renamed(block: BasicBlock, renaming: Mapping[str, str]) -> str | None:
    """The text with other register names and nothing else changed.

    Returns `None` if a new base has no part with the view of the old register.
    """
    source = block.source
    pieces: list[str] = []
    done = 0
    for start, operation in zip(block.starts, block.operations, strict=True):
        names: list[str] = []
        for token in operation.tokens:
            name = operation.text[token.start : token.end]  # a register that stays may be in upper case
            if token.register.base in renaming:
                register = part(renaming[token.register.base], token.register)
                if register is None:
                    return None
                name = f"%{register.name}"
            names.append(name)
        pieces += (source[done:start], operation.spelled(names))
        done = start + len(operation.text)
    return "".join(pieces) + source[done:]


RENAME: Final = RegisterRename()


NO_PAIR: Final = "no two registers to merge"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterMerging(BaseTransform):
    """Gives one register the name of another. One merge is one move."""

    name: str = "rename-merging"
    kind: Kind = "control"
    languages: frozenset[str] = field(default=frozenset({"x86"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One merge, of those that make a new dependence where there are any.

        Raises:
            SourceError: a line of the source is no instruction.
        """
        block = read(source)
        bases = tuple(choices(block).targets)
        for pairs in candidates(block, bases):
            while pairs:
                gone, into = pairs.pop(rng.randrange(len(pairs)))
                if merged(block, gone, into) is not None:
                    note = f"{gone} -> {into} (two registers become one)"
                    return (Move(kind="merge", site=bases.index(gone), value=into, note=note),)
        return Refused(NO_PAIR)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Merge two registers; refuses a move that keeps the referent relation.

        Raises:
            SourceError: a line of the source is no instruction.
        """
        block = read(source)
        bases = tuple(choices(block).targets)
        if len(moves) != 1 or isinstance(moves[0].value, tuple) or not 0 <= moves[0].site < len(bases):
            return Refused(NOT_A_MOVE)
        gone, into = bases[moves[0].site], moves[0].value
        if not any((gone, into) in pairs for pairs in candidates(block, bases)):
            return Refused(NOT_A_MOVE)
        text = merged(block, gone, into)
        return Refused(NO_PAIR) if text is None else Rewritten(source=text, evidence="analysis")


def candidates(block: BasicBlock, bases: tuple[str, ...]) -> Iterator[list[tuple[str, str]]]:
    """Pairs (gone, into) of registers of one class, in three groups in the order of preference.

    The register that goes is one that the block reads before it writes it.

    1. The register in an address becomes the register that is loaded through it, as in Renamer's Figure 1(c),
       where `rsp` becomes `rax`. When the block runs repeatedly, each load waits for the one before. This
       changes the cost and the meaning.
    2. The register becomes another one that the block writes, which adds a dependence.
    3. Both registers are read before they are written.
    """
    read_first, written = _uses(block)
    # A register that is written before it is read takes no input: another name may change nothing.
    pairs = [
        (gone, into)
        for gone in bases
        for into in bases
        if gone != into and class_of(gone) == class_of(into) and gone in read_first
    ]
    new = [(gone, into) for gone, into in pairs if gone not in written and into in written]
    loads = _loads(block)
    yield [pair for pair in new if pair in loads]
    yield [pair for pair in new if pair not in loads]
    yield [pair for pair in pairs if pair not in new and pair[1] in read_first]


def merged(block: BasicBlock, gone: str, into: str) -> str | None:
    """The text after the merge; `None` if it is not a block, or if it is a renaming of the original."""
    text = renamed(block, {gone: into})
    if text is None:
        return None
    # `read` fails where no instruction has this register at this place: an index cannot be `%rsp`.
    try:
        judged = compare(block, read(text))
    except SourceError:
        return None
    return text if isinstance(judged, Different) and judged.reason == REFERENT else None


def _uses(block: BasicBlock) -> tuple[set[str], set[str]]:
    """The registers that are read before they are written, and those that are written at all."""
    read_first: set[str] = set()
    written: set[str] = set()
    for operation in block.operations:
        touched = touch(operation)
        read_first |= touched.reads - written
        written |= touched.writes
    return read_first, written


def _loads(block: BasicBlock) -> set[tuple[str, str]]:
    """Pairs (address register, target) of loads whose target no other instruction of the block writes."""
    touches = [touch(operation) for operation in block.operations]
    # If another instruction writes the target behind the load, the next run does not wait for the load.
    writers = Counter(base for touched in touches for base in touched.writes)
    return {
        (address, target)
        for touched in touches
        for access in touched.memory
        for address in access.bases
        for target in touched.writes
        if not access.writes and writers[target] == 1
    }


RENAME_MERGING: Final = RegisterMerging()


NO_VIEW: Final = "no register that could have another width"
_WIDTHS: Final = {"gp": (64, 32, 16, 8), "vec": (128, 256)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterWidths(BaseTransform):
    """Changes the width of registers in one instruction, which is one move."""

    name: str = "rename-views"
    kind: Kind = "control"
    languages: frozenset[str] = field(default=frozenset({"x86"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One instruction with other views.

        Raises:
            SourceError: a line of the source is no instruction.
        """
        block = read(source)
        sites = list(range(len(block.operations)))
        rng.shuffle(sites)
        for site in sites:
            if options := list(broken(block, site)):
                names = rng.choice(options)
                old = [token.register.name for token in block.operations[site].tokens]
                pairs = dict.fromkeys(zip(old, names.split(","), strict=True))
                changed = ", ".join(f"{one} -> {other}" for one, other in pairs if one != other)
                note = f"instruction {site + 1}: {changed}"
                return (Move(kind="view", site=site, value=names, note=note),)
        return Refused(NO_VIEW)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Rewrite one instruction; refuses a move that does not change a view.

        Raises:
            SourceError: a line of the source is no instruction.
        """
        block = read(source)
        if len(moves) != 1 or not 0 <= moves[0].site < len(block.operations):
            return Refused(NOT_A_MOVE)
        (move,) = moves
        if not isinstance(move.value, str) or move.value not in broken(block, move.site):
            return Refused(NOT_A_MOVE)
        operation = block.operations[move.site]
        start = block.starts[move.site]
        text = _respelled(operation, move.value.split(","))
        changed = source[:start] + text + source[start + len(operation.text) :]
        return Rewritten(source=changed, evidence="analysis")


def broken(block: BasicBlock, site: int) -> Iterator[str]:
    """The ways to change views in one instruction, each as the names of its registers joined by commas."""
    operation = block.operations[site]
    current = [token.register for token in operation.tokens]
    for group in _groups(current):
        for width in _WIDTHS.get(current[group[0]].kind, ()):
            wanted = [
                replace(register, width=width, high=False) if number in group else register
                for number, register in enumerate(current)
            ]
            registers = [part(register.base, register) for register in wanted]
            names = [register.name for register in registers if register is not None]
            if len(names) == len(current) and registers != current and _is_another(operation, names):
                yield ",".join(names)


def _groups(registers: Sequence[Register]) -> Iterable[tuple[int, ...]]:
    """The numbers of registers that may change together: one, all of one view, or all of one class.

    Most instructions want equal widths (`addq %rax, %rbx`), so one register alone often gives no instruction.
    """
    groups: dict[tuple[int, ...], None] = {}
    for number, register in enumerate(registers):
        groups[(number,)] = None
        groups[tuple(n for n, other in enumerate(registers) if other.view == register.view)] = None
        groups[tuple(n for n, other in enumerate(registers) if other.kind == register.kind)] = None
    return groups


def _is_another(operation: Operation, names: Sequence[str]) -> bool:
    """Whether with these registers the line is an instruction of another shape.

    A register that is no operand, as in some no-ops, may change without a change of the shape.
    """
    try:
        return read_operation(_respelled(operation, names), "att").shape != operation.shape
    except SourceError:
        return False


def _respelled(operation: Operation, names: Iterable[str]) -> str:
    return operation.spelled(f"%{name}" for name in names)


RENAME_VIEWS: Final = RegisterWidths()
