"""`reorder`: the instructions of a block in another legal order.

The legal orders are the linear extensions of the conflicts of registers, flags and memory (`effects.py`); one
is drawn uniformly. The block's effect is kept. Its cost is not: `BlockRThroughput` stays, but llvm-mca's
cycles change for about a fifth of blocks, so for throughput the label is to be worked out anew.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.records import Kind, Move, Unit
from codeaudit.transforms.x86.effects import conflicts
from codeaudit.transforms.x86.reading import Block, read

DRAWS: Final = 32
"""Draws before two neighbours that may change places are taken."""

ONE: Final = "no two instructions"
TOTAL: Final = "one legal order only"
NOT_A_MOVE: Final = "not a move of this transform"
ILLEGAL: Final = "illegal order"


@dataclass(frozen=True, slots=True)
class Reorder:
    """Draws a legal order other than the text's own. The whole order is one move."""

    name: str = "reorder"
    kind: Kind = "preserving"
    languages: frozenset[str] = field(default_factory=lambda: frozenset({"x86"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """A uniform legal order that changes the text.

        Raises:
            SourceError: a line of the source is no instruction.
        """
        block = read(source)
        if len(block.operations) < 2:
            return Refused(ONE)
        predecessors = conflicts(block)
        free = [number for number in range(1, len(predecessors)) if is_free(block, number)]
        if not free:
            return Refused(TOTAL)
        own = texts(block, range(len(predecessors)))
        for _ in range(DRAWS):
            order = orders.sample(predecessors, rng)
            if texts(block, order) != own:
                return (order_move(order),)
        number = rng.choice(free)
        swapped = list(range(len(predecessors)))
        swapped[number - 1], swapped[number] = number, number - 1
        return (order_move(swapped),)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Put the instructions into the order of the move."""
        if not moves:
            return Rewritten(source=source, evidence="analysis")
        block = read(source)
        if len(moves) > 1 or isinstance(moves[0].value, str) or moves[0].site:
            return Refused(NOT_A_MOVE)
        if not orders.is_legal(conflicts(block), moves[0].value):
            return Refused(ILLEGAL)
        return Rewritten(source=reordered(block, moves[0].value), evidence="analysis")

    def count(self, source: str) -> int | None:
        """How many legal orders there are besides the text's own."""
        number = orders.count(conflicts(read(source)))
        return None if number is None else number - 1

    def every(self, source: str) -> Iterator[tuple[Move, ...]]:
        """The moves of each legal order besides the text's own."""
        found = orders.enumerate_orders(conflicts(read(source)))
        next(found, None)
        yield from ((order_move(order),) for order in found)


def is_free(block: Block, number: int) -> bool:
    """Whether an instruction may change places with the one before it, and that changes the text."""
    before, after = block.operations[number - 1 : number + 1]
    return not conflicts(block)[number] >> (number - 1) & 1 and before.text != after.text


def order_move(order: Sequence[int]) -> Move:
    """The move that puts a block into an order of old numbers."""
    moved = [number for number, old in enumerate(order) if number != old]
    lines = ", ".join(str(number + 1) for number in moved)
    note = f"instructions {lines} -> {', '.join(str(order[number] + 1) for number in moved)}"
    return Move(kind="order", site=0, value=tuple(order), note=note)


def texts(block: Block, order: Sequence[int]) -> list[str]:
    """The instructions in an order."""
    return [block.operations[number].text for number in order]


def reordered(block: Block, order: Sequence[int]) -> str:
    """The text in an order; a line takes the comment lines above it along."""
    source = block.source
    pieces: list[str] = []
    done = 0
    for start, operation in zip(block.starts, block.operations, strict=True):
        end = source.find("\n", start + len(operation.text))
        end = len(source) if end < 0 else end
        pieces.append(source[done:end])
        done = min(end + 1, len(source))
    return (
        "\n".join(pieces[number] for number in order)
        + source[done - 1 if source[done - 1] == "\n" else done :]
    )


REORDER: Final = Reorder()
