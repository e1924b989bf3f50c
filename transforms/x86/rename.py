"""`rename`: registers become other registers of their class (Renamer, Ankner et al., sections 2 and 3).

A renaming is a bijection of bases within each class, so every register keeps its view (width and class) and
two registers name the same base after it exactly if they did before. It is drawn uniformly among the legal
ones (`legality.py`). Only register names in the text change; the result is read anew, encoded, and compared
with the original instruction by instruction (`proof.py`).

What is kept is the block's effect on registers and memory, up to the renaming of the registers in which it
takes its input and leaves its output, and its cost on a machine whose registers are alike. Not promised: the
length of the code (a high register costs a prefix), and so what a front end makes of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from codeaudit.transforms.interface import NOT_A_MOVE, Refused
from codeaudit.transforms.records import Evidence
from codeaudit.transforms.renaming import Rename
from codeaudit.transforms.x86.legality import RegisterChoices, choices
from codeaudit.transforms.x86.proof import Different, compare
from codeaudit.transforms.x86.reading import BasicBlock, read
from codeaudit.transforms.x86.registers import part

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
    """Why no register of a block may be renamed at all; empty if some may.

    - A called function finds its arguments in fixed registers.
    - An instruction that saves all registers stores each of them at a fixed place.
    - An address relative to the instruction pointer moves with the length of the code.
    """
    for operation in block.operations:
        if operation.leaves:
            return LEAVES
        if operation.saves_state:
            return SAVES
        if operation.is_relative:
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
        for token in operation.tokens:
            target = renaming.get(token.register.base)
            if target is None:
                continue
            register = part(target, token.register)
            if register is None:
                return None
            pieces += (source[done : start + token.start], f"%{register.name}")
            done = start + token.end
    return "".join(pieces) + source[done:]


RENAME: Final = RegisterRename()
