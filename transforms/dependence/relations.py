"""The named dependence relations: what an order of statements promises, and on what evidence.

A relation says which statements may not change places. The legal orders of a block are its linear extensions.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, get_args

from codeaudit.transforms.records import Evidence

Dependence: TypeAlias = Literal["strict", "returning", "paper", "confirmed"]
"""The name of a relation."""

DEPENDENCES: Final[tuple[Dependence, ...]] = get_args(Dependence)

PROMISES: Final[Mapping[Dependence, str]] = {
    "strict": "same result and same exception",
    "returning": "same behaviour whenever the original raises nothing",
    "paper": "names only, as published (SPE attention, section 3.2); does not keep the meaning",
    "confirmed": "the project's own tests ran the moved lines and passed",
}
"""What each relation promises, in one line."""

EVIDENCE: Final[Mapping[Dependence, Evidence]] = {
    "strict": "analysis",
    "returning": "analysis (returning)",
    "paper": "parsed",
    "confirmed": "none",
}
"""What vouches for an order under each relation. Of the paper's only that the result is a program.
Under `confirmed` a transform only gives candidates: `executed` is for those that tests confirm."""
