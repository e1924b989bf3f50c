"""What a statement touches, and when two statements may not change places.

The relation is the full conflict relation, oriented by the text: read after write, write after read and
write after write on names, plus the order of effects. With the read-after-write reading of SPE attention
(section 3.2) alone, most "legal" orders of random programs change the result; with this one none does, and
its Theorem 4.3 holds exactly. Two statements conflict by what they are, never by where they stand, so that
the relation of a legally permuted program is the permuted relation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

OBSERVES: Final = 1
"""Reads state that others can change: globals, attributes, captured variables, shared containers."""
ACTS: Final = 2
"""Changes such state, performs I/O, or may run unknown code."""
RAISES: Final = 4
"""May raise an exception."""
BARRIER: Final = 8
"""Suspends the straight line (yield, await), or must stay where it is."""
LEAVES_LOOP: Final = 16
"""`break` or `continue`: a barrier until its loop encloses it."""
ENDS_CALL: Final = 32
"""`return` or `raise`: a barrier in its own block. Seen from outside the statement that holds it, it is what
raising is: the rest may not run, and the variables of the call are gone unless somebody catches."""
STORES: Final = 64
"""Changes one known place of such state and does nothing else: an attribute of `self`, a captured variable.
A name among the writes tells which place, so that stores to different places do not conflict."""
EXITS: Final = 128
"""May leave on purpose (`if …: return`, `assert`): what stands behind may rely on what was tested."""
EXPECTS: Final = 256
"""Looks up what is taken to exist where it is looked up, as an attribute of `self`: stays behind exits."""
LOOKS_UP: Final = 512
"""Reads a global name or a plain attribute: only acts, or a store to that very place, can change it."""
ANYTHING: Final = OBSERVES | ACTS | RAISES
"""What an unknown call may do."""

_BARRIERS: Final = BARRIER | LEAVES_LOOP | ENDS_CALL
_CONFLICTS: Final = (
    (ACTS, OBSERVES | ACTS | RAISES | STORES | LOOKS_UP),
    (LOOKS_UP, ACTS),
    (OBSERVES, ACTS | STORES),
    (RAISES, ACTS | STORES | RAISES),
    (STORES, ACTS | OBSERVES | RAISES),
    (EXITS, EXPECTS),
    (EXPECTS, EXITS),
)
"""Which effects may not change places with which."""


@dataclass(frozen=True, slots=True)
class Effects:
    """What one statement (or one line) touches."""

    reads: frozenset[str] = frozenset()
    """Variables of the function that it may read."""
    writes: frozenset[str] = frozenset()
    """Variables of the function that it may bind or unbind."""
    flags: int = 0
    """A union of the flags above."""

    def enclosed(self) -> "Effects":
        """The effects as seen from outside the block."""
        if not self.flags & ENDS_CALL:
            return self
        return Effects(self.reads, self.writes, self.flags & ~ENDS_CALL | RAISES | EXITS)

    def __or__(self, other: "Effects") -> "Effects":
        """The effects of both."""
        return Effects(self.reads | other.reads, self.writes | other.writes, self.flags | other.flags)


def conflicts(effects: Sequence[Effects], *, guarded: bool = False) -> tuple[int, ...]:
    """Predecessor masks: bit i of mask j is set iff statements i < j conflict.

    In a `guarded` sequence somebody may catch an exception and then look at the variables (a `try` or
    `with` around it), so there the order of binding a variable and raising counts too.
    """
    readers: dict[str, int] = {}
    writers: dict[str, int] = {}
    having: dict[int, int] = dict.fromkeys((one for one, _ in _CONFLICTS), 0)
    barriers = binders = 0
    predecessors = []
    for number, effect in enumerate(effects):
        bit = 1 << number
        flags = effect.flags
        before = barriers
        if flags & _BARRIERS:
            before = bit - 1
            barriers |= bit
        for name in effect.reads:
            before |= writers.get(name, 0)
        for name in effect.writes:
            before |= writers.get(name, 0) | readers.get(name, 0)
        if flags:
            for one, others in _CONFLICTS:
                if flags & one:
                    for other, mask in having.items():
                        if others & other:
                            before |= mask
        if guarded and flags & RAISES:
            before |= binders
        if guarded and effect.writes:
            before |= having[RAISES]
        for one in having:
            if flags & one:
                having[one] |= bit
        if effect.writes:
            binders |= bit
        for name in effect.reads:
            readers[name] = readers.get(name, 0) | bit
        for name in effect.writes:
            writers[name] = writers.get(name, 0) | bit
        predecessors.append(before)
    return tuple(predecessors)


def reaching_reads(effects: Sequence[Effects], *, kills: Sequence[bool]) -> tuple[int, ...]:
    """Predecessor masks of the papers' relation: j depends on i iff j reads a name whose last write is i.

    `kills[i]` says whether i writes its names for sure, so that earlier writes no longer reach past it.
    This relation does not keep the meaning; it exists to reproduce the papers' set-up and figures.
    """
    writers: dict[str, int] = {}
    predecessors = []
    for number, (effect, certain) in enumerate(zip(effects, kills, strict=True)):
        before = 0
        for name in effect.reads:
            before |= writers.get(name, 0)
        predecessors.append(before)
        for name in effect.writes:
            writers[name] = 1 << number | (0 if certain else writers.get(name, 0))
    return tuple(predecessors)
