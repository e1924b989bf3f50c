"""The named dependence relations: what an order of statements promises, and on what evidence.

A relation says which statements may not change places. The legal orders of a block are its linear extensions.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, get_args

from codeaudit.transforms.records import Evidence, Kind

Dependence: TypeAlias = Literal["strict", "returning", "paper", "confirmed", "disjoint", "types"]
"""The name of a relation."""

DEPENDENCES: Final[tuple[Dependence, ...]] = get_args(Dependence)

TRAINABLE: Final[tuple[Dependence, ...]] = ("strict", "returning", "paper")
"""Relations that the analysis alone decides, so that masks can be made of them."""

PROMISES: Final[Mapping[Dependence, str]] = {
    "strict": "same result and same exception",
    "returning": "same behaviour whenever the original raises nothing",
    "paper": "orders by names only, as published (SPE attention, section 3.2), which may change the meaning",
    "confirmed": "own tests ran the function in its new order and passed",
    "disjoint": "same behaviour if fields of other names are different memory",
    "types": "same result and same exception where values have the types that TypeScript gives them",
}
"""What each relation promises, in one line."""

EVIDENCE: Final[Mapping[Dependence, Evidence]] = {
    "strict": "analysis",
    "returning": "analysis (returning)",
    "paper": "parsed",
    "confirmed": "none",
    "disjoint": "analysis (fields disjoint)",
    "types": "analysis (types hold)",
}
"""What vouches for an order under each relation. Of the paper's only that the result is a program.
Under `confirmed` a transform only gives candidates: `executed` is for those that tests confirm."""


SPOKEN: Final[Mapping[Dependence, frozenset[str]]] = {
    "disjoint": frozenset({"c", "cpp"}),
    "types": frozenset({"typescript"}),
}
"""The languages of a relation that only some languages have."""


def speaks(dependence: Dependence, language: str) -> bool:
    """Whether a language has a relation."""
    return dependence not in SPOKEN or language in SPOKEN[dependence]


def related_name(name: str, dependence: Dependence) -> str:
    """The name of a transform under a relation: `paper/reorder`. Under the strict one it is its own name."""
    return name if dependence == "strict" else f"{dependence}/{name}"


KINDS: Final[Mapping[Dependence, Kind]] = {
    "strict": "preserving",
    "returning": "preserving",
    "paper": "paper",
    "confirmed": "preserving",
    "disjoint": "preserving",
    "types": "preserving",
}
"""Whether an order under each relation keeps the meaning."""
