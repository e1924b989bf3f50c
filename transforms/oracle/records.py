"""What differential execution finds: a closed union, frozen."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """Both programs did the same wherever a comparison was possible."""

    inputs: int
    """Inputs (or calls by the sample's own tests) that ran to a usable and equal end; at least one."""
    returned: int
    """How many of them returned; the others raised."""
    skipped: int
    """Inputs that say nothing: the original needs what is not there, or is not deterministic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differed:
    """An input on which the programs do not do the same; the original did the same again when run again."""

    input: str
    """The arguments as text, or the words `its own tests`."""
    before: str
    """What the original did, as far as it differs."""
    after: str
    """What the perturbed program did instead."""
    returned: bool = True
    """Whether the original returned there; else it raised."""


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """No input ran to a usable end in both programs."""

    reason: str
    """A short phrase without names or numbers of the sample, so that equal reasons count together."""


Verdict: TypeAlias = Agreed | Differed | Inconclusive


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two programs to compare."""

    original: str
    perturbed: str
    function: str | None = None
    """The function to call; by default the last one at the top of the text."""
    tests: str | None = None
    """A text that defines `check(candidate)`: then both programs run it, and nothing else."""
    inputs: tuple[str, ...] | None = None
    """Argument lists such as `(1, 'a')`; drawn to fit the function where there are none."""
    setup: str = ""
    """What both programs need: executed before them, in their namespace."""
    seed: int = 0
    """For the inputs that are drawn."""
