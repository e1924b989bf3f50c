"""The records of this package: samples, moves, and the two outcomes of a perturbation.

Records are immutable and contain the records that they were made from. An outcome is either
`Perturbed` or `NotApplied`, never `None` and never the unchanged input.
"""

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "preserving", "paper", "control", "identity", "swap", "network", "network-control", "prose"
]
"""`preserving` keeps the meaning, `control` changes it, `identity` is the unchanged input again. `paper` is
an order by names only, as published: it should keep the answer, may change the meaning, and counts in no rate
but its own. `swap` shows the two units of a pair in the other order and counts in no rate but its own.
`network` permutes the model and not the text, `network-control` breaks the model; they count in
no rate but their own, too. `prose` rewrites words that say what code is for; that they still mean the same is
assumed and never shown, and it counts in no rate but its own."""

KEEPS_TEXT: Final[frozenset[Kind]] = frozenset({"identity", "swap", "network", "network-control"})
"""The kinds whose text is the unchanged input."""

Evidence: TypeAlias = Literal[
    "none",
    "assumed",
    "analysis (assumed)",
    "analysis (macros hygienic, fields disjoint)",
    "analysis (fields disjoint)",
    "analysis (macros hygienic)",
    "analysis (returning)",
    "analysis (types hold)",
    "analysis",
    "parsed",
    "compiled",
    "executed",
    "measured",
]
"""How it is known that the meaning was kept (for a control: changed), weakest first. `none`: nothing vouches
for the edit, and a meaning-keeping variant with it is not applied. `assumed`: nothing was
shown but that only words changed (`prose`). `analysis (assumed)`: the analysis, under
what the transform's registration says that it assumes. `analysis (macros hygienic)`: the analysis, if macros
of C that are not seen touch no name and no control of a function (the ledger of C). `analysis (fields
disjoint)`: the analysis, if fields of other names are different memory. `analysis (returning)`: the analysis,
for calls that raise nothing. `analysis (types hold)`: the analysis, where values have the types that
TypeScript gives them. `measured`: an independent tool agreed."""

Unit: TypeAlias = Literal["function", "module"]
"""The input of a transform: one function, or a whole text (a file or a single function)."""

Label: TypeAlias = str | float | tuple[str, ...] | None
"""The right answer for a task; `None` if it is unknown."""

Sites: TypeAlias = Literal["auto", "all", "one"]
"""How many of the proposed moves make a variant. `auto`: all of them first, then random subsets, so that
variants differ. `all`: always all. `one`: a single one."""


Sides: TypeAlias = Literal["first", "second", "both", "all"]
"""Which units of a sample are rewritten. The source is always one of them. `first`: the source, which a model
sees first. `second`: the source, which a model sees second. `both`: both units of the pair. `all`: the source
and every other candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a sample came from."""

    path: str
    """The file as the corpus names it."""
    line: int
    """First line of the unit in that file, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationTarget:
    """What a sample is to be translated into."""

    language: str
    head: str
    """The beginning of the program, up to the head of its function."""
    tests: str
    solution: str = ""
    """The rest of a program that passes the tests; empty: not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One unit of code that a model is asked about."""

    id: str
    """Stable over runs and machines: derived from the content, never from the position in a corpus."""
    language: str
    """`python`, `java`, `x86`, …"""
    source: str
    """The whole text."""
    label: Label
    """The right answer of the task: for function names the subtokens in order; `None` if unknown."""
    origin: Origin
    """The place in the corpus."""
    tests: str | None = field(default=None, compare=False, repr=False)
    """Its own tests, if any: a Python text that defines `check(candidate)`. No model sees them."""
    context: str = field(default="", compare=False, repr=False)
    """The text of the file around it, which its execution may need. No model sees it."""
    file: str = field(default="", compare=False, repr=False)
    """Where its file lies on this machine, if headers beside it may be asked; empty if unknown."""
    group: str = field(default="", compare=False, repr=False)
    """Samples of one group, for example a bug and its fix, stay on one side of a split. Empty: no group."""
    calls: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)
    """Calls that its table gives, each with the text of its result, or an empty text. No model sees them."""
    other_side: str = field(default="", compare=False, repr=False)
    """The other side of a fix: the text without the flaw, or with it. Empty: not known. No model sees it."""
    documentation: str = field(default="", compare=False, repr=False)
    """Words about it that its table gives beside the code: its documentation. No model sees them."""
    targets: tuple["TranslationTarget", ...] = field(default=(), compare=False, repr=False)
    """The same program in other languages, as its table has it. No model sees more of them than heads."""
    asked: str = ""
    """The beginning of the text, if a model sees only that; empty if it sees everything."""
    other: str = ""
    """The second unit of a pair, which a model sees beside the source. Empty: no pair."""
    sides: Sides = "first"
    """Which units are rewritten, and so where a model sees the source of a pair."""
    candidates: tuple[str, ...] = ()
    """Units to choose from, the source among them."""
    text: str = ""
    """A query in words, which a model sees beside the code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One indivisible edit. A perturbation can be applied again with any legal subset of its moves."""

    kind: str
    """`order` (one block's permutation), `rename` (one variable), …"""
    site: int
    """Which block or binding of the original, numbered in source order."""
    value: str | tuple[int, ...]
    """The new name, or the new order of the block's statements as indices into the old one."""
    note: str
    """For people: `total -> count`, `lines 3, 4 -> 4, 3`."""
    transform: str = ""
    """In a mixed variant the transform that makes the edit; else empty, because the variant names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbed:
    """A sample rewritten by a transform."""

    sample: Sample
    transform: str
    kind: Kind
    variant: int
    """Number of this variant, from 0."""
    source: str
    """The rewritten text; equal to the sample's only for the kinds of `KEEPS_TEXT`."""
    moves: tuple[Move, ...]
    evidence: Evidence
    """The strongest evidence for it so far."""
    other: str = ""
    """The second unit of the pair, if it was rewritten, too; else empty."""
    candidates: tuple[str, ...] = ()
    """The candidates without the source, in their order, if they were rewritten, too. Those to which the
    transform does not apply stay as they are. Empty if all are those of the sample."""
    rests_on: tuple[str, ...] | None = field(default=None, compare=False, repr=False)
    """Ids of what it assumes of code that it cannot see, as a suite tells them. `None`: they follow from the
    edit and its sample, which has the text of its file."""

    def left_out(self, reason: str) -> "NotApplied":
        """The record of this variant if it is not used after all."""
        return NotApplied(
            sample=self.sample,
            transform=self.transform,
            kind=self.kind,
            variant=self.variant,
            reason=reason,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotApplied:
    """A transform that could not, or should not, rewrite this sample; counted by reason.

    `codeaudit.NotApplied` is not this record but the error of `codeaudit.transform`. Match outcomes with
    `isinstance(outcome, codeaudit.Perturbed)`.
    """

    sample: Sample
    transform: str
    kind: Kind
    variant: int
    reason: str
    """A short phrase without names or numbers of the sample, so that equal reasons count together."""


Outcome: TypeAlias = Perturbed | NotApplied


@dataclass(frozen=True, slots=True)
class FunctionContext:
    """One function of a text."""

    before: str
    """The text in front of it."""
    source: str
    """The function, which a transform is given."""
    after: str
    """The text behind it."""
    obstacle: str | None = None
    """Why the function cannot be rewritten without a look at that text; `None` where it can."""
