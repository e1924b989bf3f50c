"""`rename-views`: the control that breaks a view (Renamer, Figure 1(c): `%rbp` becomes `%ebp`).

In one instruction, registers become narrower or wider parts of the same bases, and the mnemonic stays. For
example, an address is computed with 32 bits, or a vector operation on 128 bits becomes one on 256 bits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import NOT_A_MOVE, Refused, Rewritten
from codeaudit.transforms.records import Kind, Move, Unit
from codeaudit.transforms.x86.proof import Different, compare
from codeaudit.transforms.x86.reading import BasicBlock, Operation, Token, operation, read
from codeaudit.transforms.x86.registers import part

NO_VIEW: Final = "no register that could have another width"
_WIDTHS: Final = {"gp": (64, 32, 16, 8), "vec": (128, 256)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterWidths:
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
            found = list(broken(block, site))
            if found:
                names = rng.choice(found)
                own = [token.register.name for token in block.operations[site].tokens]
                changed = [
                    f"{old} -> {new}" for old, new in zip(own, names.split(","), strict=True) if old != new
                ]
                note = f"instruction {site + 1}: {', '.join(dict.fromkeys(changed))}"
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
        one = block.operations[move.site]
        start = block.starts[move.site]
        text = _spliced(one, move.value.split(","))
        changed = source[:start] + text + source[start + len(one.text) :]
        if not isinstance(compare(block, read(changed)), Different):
            return Refused(NO_VIEW)
        return Rewritten(source=changed, evidence="analysis")


def broken(block: BasicBlock, site: int) -> Iterator[str]:
    """The ways to change views in one instruction, each as the names of its registers joined by commas."""
    one = block.operations[site]
    for group in _groups(one.tokens):
        for width in _WIDTHS.get(group[0].register.kind, ()):
            names = [_other(token, width) if token in group else token.register.name for token in one.tokens]
            if None in names or names == [token.register.name for token in one.tokens]:
                continue
            chosen = [name for name in names if name is not None]
            if _is_another(one, chosen):
                yield ",".join(chosen)


def _groups(tokens: tuple[Token, ...]) -> Iterator[tuple[Token, ...]]:
    """The sets of registers that may change together: one register, all of one view, or all of one class."""
    found: dict[tuple[Token, ...], None] = {}
    for token in tokens:
        found[(token,)] = None
        found[tuple(one for one in tokens if one.register.view == token.register.view)] = None
        found[tuple(one for one in tokens if one.register.kind == token.register.kind)] = None
    yield from found


def _other(token: Token, width: int) -> str | None:
    found = part(token.register.base, replace(token.register, width=width, high=False))
    return None if found is None else found.name


def _is_another(one: Operation, names: list[str]) -> bool:
    try:
        other = operation(_spliced(one, names), "att")
    except SourceError:
        return False
    return other.shape != one.shape


def _spliced(one: Operation, names: list[str]) -> str:
    pieces: list[str] = []
    done = 0
    for token, name in zip(one.tokens, names, strict=True):
        pieces += (one.text[done : token.start], f"%{name}")
        done = token.end
    return "".join(pieces) + one.text[done:]


RENAME_VIEWS: Final = RegisterWidths()
