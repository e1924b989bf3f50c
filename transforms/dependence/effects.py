"""The effects of a statement, and the conflict relation: which statements may not change places.

The relation is the full conflict relation, oriented by the text: read after write, write after read and
write after write on names, plus the order of effects. Under it no order changes the result.

SPE attention (section 3.2) knows names only. The relation `paper` keeps all three on names: calls may change
places. `reaching_reads` gives the arrows of the paper, read after write alone. They are too few for orders:
with them alone a write may move before an earlier read, and then the new text has other arrows.

Whether two statements conflict depends on their effects only, never on their places. So the relation of a
legally permuted program is the permuted relation.

The analyses of Python and Java compute the effects (their assumptions stand in their `effects` modules).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

OBSERVES: Final = 1
"""Reads state that others can change: globals, attributes, captured variables, shared containers."""
ACTS: Final = 2
"""Changes such state, performs I/O, or may run unknown code."""
RAISES: Final = 4
"""May raise an exception."""
BARRIER: Final = 8
"""Suspends the function (yield, await), or must keep its place for another reason."""
LEAVES_LOOP: Final = 16
"""`break` or `continue`: a barrier until its loop encloses it."""
ENDS_CALL: Final = 32
"""`return` or `raise`: a barrier in its own block. Seen from outside the statement that holds it, it is like
an exception: the rest may not run, and the variables of the call are gone unless a handler catches it.
"""
STORES: Final = 64
"""Changes one known place of shared state and does nothing else: an attribute of `self`, a captured variable.
A name among the writes identifies the place, so stores to different places do not conflict."""
EXITS: Final = 128
"""May leave on purpose (`if …: return`, `assert`): the statements behind it may rely on the test."""
EXPECTS: Final = 256
"""Looks up an attribute of `self`, which is assumed to exist there: stays behind the exits before it."""
LOOKS_UP: Final = 512
"""Reads a global name or a plain attribute: only unknown code, or a store to that very place, can change
it.
"""
ANYTHING: Final = OBSERVES | ACTS | RAISES
"""The effects of an unknown call."""

_BARRIERS: Final = BARRIER | LEAVES_LOOP | ENDS_CALL
_Pairs: TypeAlias = tuple[tuple[int, int], ...]
_CONFLICTS: Final[_Pairs] = (
    (ACTS, OBSERVES | ACTS | RAISES | STORES | LOOKS_UP),
    (LOOKS_UP, ACTS),
    (OBSERVES, ACTS | STORES),
    (RAISES, ACTS | STORES | RAISES),
    (STORES, ACTS | OBSERVES | RAISES),
    (EXITS, EXPECTS),
    (EXPECTS, EXITS),
)
"""Pairs (one, others): a statement with effect `one` may not change places with one that has any of
`others`.
"""
_RETURNING: Final[_Pairs] = (
    (ACTS, OBSERVES | ACTS | STORES | LOOKS_UP | EXITS),
    (LOOKS_UP, ACTS),
    (OBSERVES, ACTS | STORES),
    (RAISES, EXITS),
    (STORES, ACTS | OBSERVES | EXITS),
    (EXITS, ACTS | STORES | RAISES | EXITS | EXPECTS),
    (EXPECTS, EXITS),
)
"""The pairs for calls that raise nothing. A statement that might raise did not, so it may change places with
one that acts or raises. What may leave on purpose keeps its place: what follows may rely on its test."""


class Effects(NamedTuple):
    """The effects of one statement (or of one line)."""

    reads: frozenset[Any] = frozenset()
    """The variables of the function, and the known places of shared state, that it may read. A language names
    them as it likes: by words, or by `syntax.effects.StatePlace`."""
    writes: frozenset[Any] = frozenset()
    """The variables and places that it may bind, unbind or change."""
    flags: int = 0
    """A union of the flags above."""

    def enclosed(self) -> "Effects":
        """The effects as seen from outside the compound statement: leaving the call looks like an
        exception.
        """
        if not self.flags & ENDS_CALL:
            return self
        # `if x: return` raises nothing, but like an exception it keeps what follows from running.
        return Effects(self.reads, self.writes, self.flags & ~ENDS_CALL | RAISES | EXITS)

    def bound(self) -> "Effects":
        """What stays whatever is known about objects: the variables, and the exits."""
        return Effects(self.reads, self.writes, self.flags & (_BARRIERS | EXITS | EXPECTS))

    def __or__(self, other: "Effects") -> "Effects":
        """The effects of both."""
        return Effects(self.reads | other.reads, self.writes | other.writes, self.flags | other.flags)

    @classmethod
    def of_all(cls, effects: Sequence["Effects"]) -> "Effects":
        """The effects of all of these."""
        if len(effects) == 1:
            return effects[0]
        flags = 0
        for effect in effects:
            flags |= effect.flags
        nothing = frozenset[Any]()
        reads = nothing.union(*(effect.reads for effect in effects))
        return cls(reads, nothing.union(*(effect.writes for effect in effects)), flags)


@dataclass(frozen=True, slots=True)
class Guard:
    """A test before everything that a statement does: it does nothing unless a variable passes."""

    variable: Any
    """As among the reads and writes."""
    test: str
    """The kind of test; two kinds may pass together."""
    value: object = None
    """What the variable is compared with."""
    passes: bool = True
    """Whether the variable passes if it is this value, or if it is not."""

    def excludes(self, other: "Guard") -> bool:
        """Whether no value of the variable passes both tests."""
        if (self.variable, self.test) != (other.variable, other.test):
            return False
        same = self.value == other.value
        return not same if self.passes and other.passes else same and self.passes != other.passes


@cache  # there are few combinations of flags
def _against(flags: int, pairs: _Pairs) -> int:
    """The effects that conflict with these."""
    mask = 0
    for flag, others in pairs:
        if flags & flag:
            mask |= others
    return mask


def conflicts(
    effects: Sequence[Effects],
    *,
    guarded: bool = False,
    returning: bool = False,
    guards: Sequence[Guard | None] = (),
) -> tuple[int, ...]:
    """Predecessor masks of the conflict relation: bit i of mask j is set iff statements i < j conflict.

    Args:
        effects: the effects of the statements, in the order of the text.
        guarded: whether a handler may catch an exception of these statements and then read the variables (a
            `try` or `with` around them). If so, the order of binding a variable and raising counts, too.
        returning: whether only calls count that raise nothing, not even an exception that is caught.
        guards: the guard of each statement, if it has one. Two statements with guards that exclude each other
            may change places: of the two, one at most does anything.
    """
    if len(effects) < 2:
        return (0,) * len(effects)
    pairs = _RETURNING if returning else _CONFLICTS
    readers: dict[Any, int] = {}
    writers: dict[Any, int] = {}
    having: dict[int, int] = dict.fromkeys((flag for flag, _ in pairs), 0)
    barriers = binders = 0
    predecessors = []
    # The tables hold only earlier statements, so each conflict is found once and oriented by the text.
    for number, effect in enumerate(effects):
        bit = 1 << number
        flags = effect.flags
        before = barriers
        # A barrier keeps its place among all statements, whatever these do.
        if flags & _BARRIERS:
            before = bit - 1
            barriers |= bit
        for name in effect.reads:
            before |= writers.get(name, 0)
        for name in effect.writes:
            before |= writers.get(name, 0) | readers.get(name, 0)
        if flags:
            others = _against(flags, pairs)
            for other, mask in having.items():
                if others & other:
                    before |= mask
        # `try: x = 1; f()` with `except E: print(x)`: the handler sees whether x was bound before f raised.
        if guarded and flags & RAISES:
            before |= binders
        if guarded and effect.writes:
            before |= having[RAISES]
        if flags:
            for flag in having:
                if flags & flag:
                    having[flag] |= bit
        if effect.writes:
            binders |= bit
        for name in effect.reads:
            readers[name] = readers.get(name, 0) | bit
        for name in effect.writes:
            writers[name] = writers.get(name, 0) | bit
        predecessors.append(before)
    rows = [(number, guard, effects[number]) for number, guard in enumerate(guards) if guard is not None]
    for place, (later, guard, effect) in enumerate(rows):
        for earlier, test, before_it in rows[:place]:
            # Neither may change the variable that both ask for.
            if guard.excludes(test) and guard.variable not in effect.writes | before_it.writes:
                predecessors[later] &= ~(1 << earlier)
    return tuple(predecessors)


def reaching_reads(effects: Sequence[Effects], *, kills: Sequence[bool]) -> tuple[int, ...]:
    """Predecessor masks of the true dependences: j depends on i iff j reads a name that i wrote last.

    Masks under `paper` are made of them, and controls reverse them.

    Args:
        effects: the effects of the statements, in the order of the text.
        kills: for each statement whether it writes its names in every run, so earlier writes end there.
    """
    writers: dict[Any, int] = {}
    predecessors = []
    for number, (effect, certain) in enumerate(zip(effects, kills, strict=True)):
        before = 0
        # Reads come first: `x = x + 1` depends on an earlier write of x, not on itself.
        for name in effect.reads:
            before |= writers.get(name, 0)
        predecessors.append(before)
        for name in effect.writes:
            writers[name] = 1 << number | (0 if certain else writers.get(name, 0))
    return tuple(predecessors)
