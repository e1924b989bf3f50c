"""What the execution of two blocks shows, and what all that execute blocks share."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import iced_x86 as iced

from codeaudit.transforms.x86.reading import Operation
from codeaudit.transforms.x86.registers import numbers

STATES: Final = 3
"""The number of random states from which a pair of blocks is run."""
LEAVES: Final = "control transfer"
UNSTEADY: Final = "not deterministic"
_UNSTEADY: Final = "RDTSC RDTSCP RDRAND RDSEED CPUID XGETBV RDPMC RDPID RDPRU SYSCALL"
"""Instructions whose results differ from run to run or from machine to machine."""


@dataclass(frozen=True, slots=True)
class BlocksAgreed:
    """Both blocks reached the same state whenever they ran to their end."""

    runs: int
    """The number of states from which they did, at least 1; from all other states both ended early."""


@dataclass(frozen=True, slots=True)
class BlocksFaulted:
    """Both blocks ended early from every state, so nothing was compared."""

    reason: str


@dataclass(frozen=True, slots=True)
class BlocksDiffered:
    """The blocks reached different states, or one of them ended early."""

    what: str


@dataclass(frozen=True, slots=True)
class NotTrusted:
    """The result does not count: a block is not run correctly, or not in the same way twice."""

    reason: str


ExecutionVerdict: TypeAlias = BlocksAgreed | BlocksFaulted | BlocksDiffered | NotTrusted


def unfit(operation: Operation) -> str:
    """Why no execution of an instruction alone tells what it does; empty if one does."""
    instruction = operation.instruction
    if instruction.mnemonic in numbers(iced.Mnemonic, _UNSTEADY):
        return UNSTEADY
    return LEAVES if instruction.flow_control != iced.FlowControl.NEXT else ""


def extended(renaming: Mapping[str, str], bases: Iterable[str]) -> Mapping[str, str]:
    """The renaming of some of the `bases` of one class, extended to a permutation of all of them."""
    bases = tuple(bases)
    names = {base: renaming[base] for base in bases if base in renaming}
    targets = set(names.values())
    # A register whose name another one takes gets a name that has become free: the block does not use it,
    # but it must keep its value.
    losers = [base for base in bases if base not in names and base in targets]
    free = [base for base in bases if base in names and base not in targets]
    return {base: base for base in bases} | dict(zip(losers, free, strict=True)) | names
