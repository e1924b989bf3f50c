"""Reordering in any language: `reorder`, and the control `reorder-breaking`.

A block is a list of statements (or instructions) that run one after the other. Its legal orders are the
linear extensions of its conflict relation (SPE attention, section 3.2, with the relation made sound). Each
block is drawn uniformly and independently of the others; one permuted block is one move.

`Reorder` draws, checks and counts the orders; a language gives it `Ordering`, the blocks of one text.
`audit.search.shrinking` asks for `milder` moves.

`ReorderBreaking` is the control. The order of one block is legal but for one pair of elements: an element
stands before another one on whose result it depends (the second half of Definition 4.2 in SPE attention asks
a model to notice). A model that answers the same here and everywhere else is not robust: it ignores the
order. A language says with `Breakable` which pairs may be reversed.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Final, Protocol

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.dependence.blocks import BlockStatement, StatementBlock, why_not
from codeaudit.transforms.dependence.graph import bits, closure, reduction
from codeaudit.transforms.errors import RESULT_NOT_PARSED
from codeaudit.transforms.interface import NOT_A_MOVE, BaseTransform, Refused, Rewritten
from codeaudit.transforms.records import Evidence, Kind, Move, Unit

DRAWS: Final = 32
"""Draws of all blocks before one movable block is made to move."""

ILLEGAL: Final = "illegal order"


class Ordered(Protocol):
    """A block whose elements depend on one another."""

    @property
    def fixed(self) -> str | None:
        """Why its elements keep their order whatever they depend on; `None` if they need not."""

    @property
    def predecessors(self) -> Sequence[int]:
        """One bit mask per element: bit i of mask j is set if element i has to stay before element j."""


class Ordering(Protocol):
    """The blocks of one text. The number of a block is the site of its move."""

    @property
    def obstacle(self) -> str:
        """Why the text is left alone as a whole; empty if it need not be."""

    @property
    def blocks(self) -> Sequence[Ordered]:
        """Every block, in the order of the text, outer before inner."""

    @property
    def immovable(self) -> str:
        """The reason to count where no block has another legal order."""

    @property
    def noun(self) -> str:
        """The word for `numbers` in the note of a move: `lines`, `instructions`."""

    def numbers(self, site: int) -> Sequence[int]:
        """For people: the number of each element of a block, such as its line, from 1."""

    def changes(self, site: int, order: Sequence[int]) -> bool:
        """Whether an order other than the identity changes the text: equal instructions may change places."""

    def text(self, orders: Mapping[int, Sequence[int]]) -> str | None:
        """The text with the blocks of these numbers in these orders; `None` if the result does not parse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reorder(BaseTransform):
    """Draws a legal order other than the text's own. One block is one move; any subset can be applied."""

    name: str = "reorder"
    kind: Kind = "preserving"
    unit: Unit = "function"
    evidence: Evidence = "analysis"
    """Weaker if the relation is not the sound one."""

    @abstractmethod
    def ordering(self, source: str) -> Ordering:
        """The blocks of a text.

        Raises:
            SourceError: the source cannot be parsed.
        """

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """A uniform legal order of every block, at least one of them not its own.

        Raises:
            SourceError: the source cannot be parsed.
        """
        ordering = self.ordering(source)
        if ordering.obstacle:
            return Refused(ordering.obstacle)
        movable = [
            site
            for site, block in enumerate(ordering.blocks)
            if any(ordering.changes(site, swap) for swap in swaps(block))
        ]
        if not movable:
            return Refused(ordering.immovable)
        moves: tuple[Move, ...] = ()
        # Rejecting the identity keeps the draw uniform over all other combinations of orders.
        for _ in range(DRAWS):
            if moves := _drawn(ordering, movable, rng):
                return moves
        # A movable block has another order, so this ends; 32 identities in a row mean that it has few.
        while not moves:
            moves = _drawn(ordering, [rng.choice(movable)], rng)
        return moves

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Put the blocks into the orders of the moves. Blocks are independent, so any subset is legal.

        Raises:
            SourceError: the source cannot be parsed.
        """
        ordering = self.ordering(source)
        if ordering.obstacle:
            return Refused(ordering.obstacle)
        chosen = chosen_orders(ordering, moves)
        if isinstance(chosen, Refused):
            return chosen
        for site, order in chosen.items():
            block = ordering.blocks[site]
            # Searches and shrinking pass orders that were never proposed.
            if block.fixed or not orders.is_legal(block.predecessors, order):
                return Refused(ILLEGAL)
        text = ordering.text(chosen)
        return Refused(RESULT_NOT_PARSED) if text is None else Rewritten(source=text, evidence=self.evidence)

    def places(self, source: str) -> Mapping[int, str]:
        """What stays before what in each block.

        Raises:
            SourceError: the source cannot be parsed.
        """
        blocks = self.ordering(source).blocks
        return {site: repr(tuple(block.predecessors)) for site, block in enumerate(blocks)}

    def count(self, source: str) -> int | None:
        """Number of combinations of legal orders without the text's own; `None` if too costly to count.

        Raises:
            SourceError: the source cannot be parsed.
        """
        ordering = self.ordering(source)
        if ordering.obstacle:
            return 0
        total = 1
        for block in ordering.blocks:
            if is_movable(block):
                number = orders.count(block.predecessors)
                if number is None:
                    return None
                total *= number
        return total - 1

    def every(self, source: str) -> Iterator[tuple[Move, ...]]:
        """All that `propose` may draw, each once: the legal orders of all blocks in every combination.

        Raises:
            SourceError: the source cannot be parsed.
        """
        ordering = self.ordering(source)
        if ordering.obstacle:
            return
        options = [
            [
                None,
                *(
                    order_move(ordering, site, order)
                    # The first order is the text's own, for which `None` stands.
                    for order in list(orders.enumerate_orders(block.predecessors))[1:]
                ),
            ]
            for site, block in enumerate(ordering.blocks)
            if is_movable(block)
        ]
        for combination in product(*options):
            if moves := tuple(move for move in combination if move is not None):
                yield moves


def is_movable(block: Ordered) -> bool:
    """Whether a block has a legal order other than its own.

    It has one exactly if two neighbours do not conflict: they can change places, and if every neighbouring
    pair is ordered, the order is total.
    """
    return next(swaps(block), None) is not None


def swaps(block: Ordered) -> Iterator[Sequence[int]]:
    """The legal orders in which only two neighbours have changed places."""
    if block.fixed is None:
        order = list(range(len(block.predecessors)))
        for number in order[1:]:
            if not block.predecessors[number] >> (number - 1) & 1:
                yield [*order[: number - 1], number, number - 1, *order[number + 1 :]]


def _drawn(ordering: Ordering, sites: Sequence[int], rng: Random) -> tuple[Move, ...]:
    """A draw of these blocks, without those that stay as they are."""
    drawn = [(site, orders.sample(ordering.blocks[site].predecessors, rng)) for site in sites]
    return tuple(
        order_move(ordering, site, order)
        for site, order in drawn
        if list(order) != sorted(order) and ordering.changes(site, order)
    )


def order_move(ordering: Ordering, site: int, order: Sequence[int]) -> Move:
    """The move that puts a block into an order, given as old numbers in their new order."""
    note = order_note(ordering.noun, ordering.numbers(site), order)
    return Move(kind="order", site=site, value=tuple(order), note=note)


def chosen_orders(ordering: Ordering, moves: Iterable[Move]) -> dict[int, Sequence[int]] | Refused:
    """The orders of the moves by block; refuses moves of no block, and two of one block."""
    chosen: dict[int, Sequence[int]] = {}
    for move in moves:
        if isinstance(move.value, str) or not 0 <= move.site < len(ordering.blocks) or move.site in chosen:
            return Refused(NOT_A_MOVE)
        chosen[move.site] = move.value
    return chosen


def milder(move: Move) -> Iterator[Move]:
    """The moves that reorder the same block less, down to the exchange of two neighbours.

    First every exchange of two neighbours of the original that the order makes too, then the order itself
    with two of its neighbours put right, by place. All have fewer inversions than the order. Where the
    original and the order are both linear extensions of one relation, two neighbours in the order that stand
    the wrong way round are unrelated, so putting them right is legal. The exchanges at the beginning may be
    illegal; `apply` refuses those.
    """
    if move.kind != "order" or isinstance(move.value, str):
        return
    order = move.value
    place = {statement: number for number, statement in enumerate(order)}
    # Neither the original (no move) nor the order itself (not milder) is yielded.
    original = list(range(len(order)))
    seen = {tuple(original), tuple(order)}
    exchanged = [(original, n) for n in original[:-1] if place[n] > place[n + 1]]
    for start, n in [*exchanged, *((list(order), n) for n in original[:-1] if order[n] > order[n + 1])]:
        less = [*start[:n], start[n + 1], start[n], *start[n + 2 :]]
        if tuple(less) not in seen:
            seen.add(tuple(less))
            yield replace(
                move, value=tuple(less), note=order_note("statements", [n + 1 for n in original], less)
            )


def order_note(noun: str, numbers: Sequence[int], order: Sequence[int]) -> str:
    """The note of an order, for people: the numbers of the moved elements in their old and their new
    order.
    """
    moved = [number for number, old in enumerate(order) if number != old]
    before = ", ".join(str(numbers[number]) for number in moved)
    after = ", ".join(str(numbers[order[number]]) for number in moved)
    return f"{noun} {before} -> {after}"


def reordered(text: bytes, blocks: Sequence[StatementBlock], chosen: Mapping[int, Sequence[int]]) -> str:
    """The text with some blocks in other orders. What stands between two statements stays where it is.

    Args:
        text: the source as UTF-8.
        blocks: all blocks of the text, the outermost first.
        chosen: the new order by the number of the block; the other blocks keep theirs.
    """
    # Blocks are distinguished by identity: two blocks of equal statements are equal records.
    numbers = {id(block): number for number, block in enumerate(blocks)}

    def outermost(block: StatementBlock) -> Iterator[StatementBlock]:
        """The block if it is chosen, else the chosen blocks nested in it."""
        if numbers[id(block)] in chosen:
            yield block
        else:
            yield from nested(block.statements)

    def nested(statements: Iterable[BlockStatement]) -> Iterator[StatementBlock]:
        for statement in statements:
            for part in statement.parts:
                if not isinstance(part, int):
                    yield from outermost(part)

    def render(start: int, end: int, blocks: Iterable[StatementBlock]) -> bytes:
        """The bytes of a range with these blocks reordered, from the inside out."""
        # A statement is rendered before it moves, because a block inside it may be reordered as well.
        out, position = [], start
        for block in blocks:
            pieces = [render(part.start, part.end, nested([part])) for part in block.statements]
            for place, old in zip(block.statements, chosen[numbers[id(block)]], strict=True):
                out += [text[position : place.start], pieces[old]]
                position = place.end
        return b"".join([*out, text[position:end]])

    return render(0, len(text), outermost(blocks[0])).decode()


class StatementOrdering:
    """The blocks of a program, with their statements as elements: `Ordering` in Python and in Java."""

    noun: Final = "lines"

    def __init__(self, source: bytes, blocks: Sequence[StatementBlock], obstacles: Sequence[str]) -> None:
        self.source: Final = source
        self.blocks: Final = blocks
        """Every block, outer before inner."""
        self._obstacles = obstacles

    @property
    def obstacle(self) -> str:
        """No text is left alone as a whole."""
        return ""

    @property
    def large(self) -> Sequence[StatementBlock]:
        """The blocks with at least two statements. A docstring has no parts and is not counted."""
        return [
            block for block in self.blocks if sum(bool(statement.parts) for statement in block.statements) > 1
        ]

    @property
    def immovable(self) -> str:
        """The reason to count where no block has another legal order."""
        return why_not(self.large, self._obstacles)

    def numbers(self, site: int) -> Sequence[int]:
        """The line of each statement, from 1; comments above belong to the statement."""
        statements = self.blocks[site].statements
        return [self.source.count(b"\n", 0, statement.start) + 1 for statement in statements]

    def changes(self, site: int, order: Sequence[int]) -> bool:
        """Every order changes the text, or is counted as if it did."""
        return True

    def text(self, orders: Mapping[int, Sequence[int]]) -> str | None:
        """The text with the blocks in these orders; `None` if the result does not parse."""
        return reordered(self.source, self.blocks, orders)

    def flaw(self, site: int, order: Sequence[int]) -> str:
        """No order of a control is known to keep the meaning after all."""
        return ""


NOT_ONE: Final = "not exactly one broken pair"
NOTHING: Final = "nothing to break"


class Breakable(Ordering, Protocol):
    """The blocks of one text, with the dependences that a control may reverse."""

    @property
    def unbreakable(self) -> str:
        """The reason to count where no pair may be reversed."""

    def pairs(self, site: int) -> Iterable[tuple[int, int]]:
        """Pairs (before, after) of a block whose reversal changes the meaning."""

    def breaks(self, site: int, pair: tuple[int, int]) -> bool:
        """Whether `apply` accepts an order that reverses only this pair of conflicting elements."""

    def flaw(self, site: int, order: Sequence[int]) -> str:
        """Why the order keeps the meaning after all; empty if it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReorderBreaking(BaseTransform):
    """Puts one element directly before another one that it depends on; every other pair keeps its order."""

    name: str = "reorder-breaking"
    kind: Kind = "control"
    unit: Unit = "function"

    @abstractmethod
    def ordering(self, source: str) -> Breakable:
        """The blocks of a text.

        Raises:
            SourceError: the source cannot be parsed.
        """

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """The order of one block with one pair reversed.

        Raises:
            SourceError: the source cannot be parsed.
        """
        ordering = self.ordering(source)
        if ordering.obstacle:
            return Refused(ordering.obstacle)
        # All pairs of all blocks: a large block is not drawn as rarely as a small one.
        pairs = [(site, pair) for site in range(len(ordering.blocks)) for pair in ordering.pairs(site)]
        flaw = ordering.unbreakable
        while pairs:
            site, pair = pairs.pop(rng.randrange(len(pairs)))
            order = reversed_pair(ordering.blocks[site].predecessors, *pair)
            flaw = ordering.flaw(site, order)
            if not flaw:
                return (order_move(ordering, site, order),)
        return Refused(flaw)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Reorder; refuses an order that breaks no pair, another pair, or more than one.

        Raises:
            SourceError: the source cannot be parsed.
        """
        ordering = self.ordering(source)
        if ordering.obstacle:
            return Refused(ordering.obstacle)
        chosen = chosen_orders(ordering, moves)
        if isinstance(chosen, Refused):
            return chosen
        if not chosen:
            return Refused(NOTHING)
        for site, order in chosen.items():
            pairs = broken(ordering.blocks[site].predecessors, order)
            if (
                ordering.blocks[site].fixed
                or pairs is None
                or len(pairs) != 1
                or not ordering.breaks(site, pairs[0])
            ):
                return Refused(NOT_ONE)
            if flaw := ordering.flaw(site, order):
                return Refused(flaw)
        text = ordering.text(chosen)
        return Refused(RESULT_NOT_PARSED) if text is None else Rewritten(source=text, evidence="analysis")


def reversible(predecessors: Sequence[int], true: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs (definition, use) of a true dependence without a third element that has to stand between them.

    Args:
        predecessors: the conflict relation as bit masks.
        true: the true dependences among them, in the same form.
    """
    # An edge that a longer path implies cannot be reversed alone: with a -> b -> c and a -> c, c before a
    # would also break one of the other two.
    for use, mask in enumerate(reduction(predecessors)):
        yield from ((definition, use) for definition in bits(mask & true[use]))


def reversed_pair(predecessors: Sequence[int], definition: int, use: int) -> tuple[int, ...]:
    """An order in which `use` stands directly before `definition` and every other pair keeps its order."""
    ancestors = closure(predecessors)
    # All that the two depend on comes first, then the two, then the rest, each in the order of the text.
    before = (ancestors[use] | ancestors[definition]) & ~(1 << definition)
    rest = ((1 << len(predecessors)) - 1) & ~before & ~(1 << definition) & ~(1 << use)
    return (*bits(before), use, definition, *bits(rest))


def broken(predecessors: Sequence[int], order: Sequence[int]) -> tuple[tuple[int, int], ...] | None:
    """The dependence pairs that an order reverses; `None` if it is not a permutation."""
    if sorted(order) != list(range(len(predecessors))):
        return None
    place = {element: number for number, element in enumerate(order)}
    return tuple(
        (before, element)
        for element, mask in enumerate(predecessors)
        for before in bits(mask)
        if place[before] > place[element]
    )
