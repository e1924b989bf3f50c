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

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.records import Kind, Move, Unit
from codeaudit.transforms.x86.legality import choices
from codeaudit.transforms.x86.proof import Different, compare
from codeaudit.transforms.x86.reading import Block, read
from codeaudit.transforms.x86.registers import part

DRAWS: Final = 32
"""Draws of a renaming before the identity is taken for the only one."""

NO_REGISTER: Final = "no register in an operand"
ALL_FIXED: Final = "no register may be renamed"
ONLY_IDENTITY: Final = "no other renaming found"
RELATIVE: Final = "an address counts from the end of its instruction"
LEAVES: Final = "control leaves the block"
SAVES: Final = "an instruction saves or restores all registers"
NOT_A_MOVE: Final = "not a move of this transform"
ILLEGAL: Final = "two registers would become one, or one may not be renamed so"
UNVERIFIED: Final = "verification failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename:
    """Gives the registers of a block other names; one base is one move, applied or left at will."""

    name: str = "rename"
    stack: bool = False
    """Whether `rsp` may be renamed where no instruction uses it as the stack pointer."""
    kind: Kind = "preserving"
    languages: frozenset[str] = field(default=frozenset({"x86"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """A legal renaming other than the identity.

        Raises:
            SourceError: a line of the source is no instruction.
        """
        block = read(source)
        if reason := obstacle(block):
            return Refused(reason)
        found = choices(block, stack=self.stack)
        if not found.targets:
            return Refused(NO_REGISTER)
        if not found.movable:
            return Refused(ALL_FIXED)
        for _ in range(DRAWS):
            moves = tuple(
                Move(kind="rename", site=site, value=target, note=f"{base} -> {target}")
                for site, (base, target) in enumerate(found.draw(rng).items())
                if base != target
            )
            if moves:
                return moves
        return Refused(ONLY_IDENTITY)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Rename with any of the moves; refuses what is not an injection of the registers in use."""
        if not moves:
            return Rewritten(source=source, evidence="analysis")
        block = read(source)
        if reason := obstacle(block):
            return Refused(reason)
        found = choices(block, stack=self.stack)
        renaming = renaming_of(moves, tuple(found.targets))
        if renaming is None:
            return Refused(NOT_A_MOVE)
        if not found.allows(renaming):
            return Refused(ILLEGAL)
        text = renamed(block, renaming)
        if text is None:
            return Refused(ILLEGAL)
        judged = compare(block, read(text))
        if isinstance(judged, Different):
            return Refused(UNVERIFIED)
        return Rewritten(source=text, evidence="analysis")


def obstacle(block: Block) -> str:
    """Why no register of a block may be renamed, whichever it is; empty where nothing stands in the way.

    Who is called finds its arguments in registers, and who saves all registers stores each at its place.
    """
    for operation in block.operations:
        if operation.leaves:
            return LEAVES
        if operation.saves_state:
            return SAVES
        if operation.is_relative:
            return RELATIVE
    return ""


def renaming_of(moves: tuple[Move, ...], bases: tuple[str, ...]) -> dict[str, str] | None:
    """What the moves say, by base; `None` where one of them is none of these bases or stands twice."""
    renaming: dict[str, str] = {}
    for move in moves:
        if not isinstance(move.value, str) or not 0 <= move.site < len(bases):
            return None
        if bases[move.site] in renaming:
            return None
        renaming[bases[move.site]] = move.value
    return renaming


def renamed(block: Block, renaming: Mapping[str, str]) -> str | None:
    """The text with other register names and nothing else changed; `None` where a base has no such view."""
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


RENAME: Final = Rename()
