"""The outcomes of differential execution: a closed union of frozen records."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """Both programs did the same wherever a comparison was possible."""

    inputs: int
    """Inputs (or calls by the sample's own tests) that ran to a usable and equal end; at least one."""
    returned: int
    """Number of these inputs on which the programs returned; on the others they raised."""
    skipped: int
    """Inputs that say nothing: the original needs something that is missing here, or is not deterministic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differed:
    """An input on which the programs do not do the same; the original did the same again when run again."""

    input: str
    """The arguments as text, or the words `its own tests`."""
    before: str
    """The differing part of what the original did."""
    after: str
    """The same part of what the perturbed program did."""
    returned: bool = True
    """Whether the original returned on this input; otherwise it raised."""


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """No input ran to a usable end in both programs."""

    reason: str
    """A short phrase without names or numbers of the sample, so that equal reasons are counted together."""


Verdict: TypeAlias = Agreed | Differed | Inconclusive


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramPair:
    """Two programs to compare."""

    original: str
    """The text of the original program."""
    perturbed: str
    """The text of the variant."""
    function: str | None = None
    """The function to call; `None` for the last one at the top level of the text."""
    tests: str | None = None
    """A text that defines `check(candidate)`. If given, both programs run it and nothing else."""
    inputs: tuple[str, ...] | None = None
    """Argument lists such as `(1, 'a')`; `None` to draw inputs that fit the function."""
    setup: str = ""
    """Code executed before each program, in its namespace."""
    seed: int = 0
    """Seed for the inputs that are drawn."""
