"""An example of a plug-in: a language, with its reader, two transforms and a canonical form.

A file of notes (`.notes`) holds blocks between empty lines. A block begins with its name in brackets; each further
line is `key = value`. The order of these lines means nothing; a line that begins with `#` is a remark.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.transforms.entries import TransformFamily, changes, keeps
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.language import Language
from codeaudit.transforms.records import Kind, Move, Sample, Unit

LINE = re.compile(r"#.*|\w+ = \S.*")
HEAD = re.compile(r"\[(\w+)\]")


def parse(source: str) -> list[str]:
    """The lines of a block below its name.

    Raises:
        SourceError: a line is neither a pair nor a remark.
    """
    head, *lines = source.split("\n")
    if not HEAD.fullmatch(head) or not all(LINE.fullmatch(line) for line in lines):
        raise SourceError("syntax error")
    return lines


def blocks(text: str, path: str, left_out: Counter[str]) -> Iterator[Sample]:
    """The blocks of a file."""
    line = 1
    for block in text.split("\n\n"):
        try:
            parse(block.strip("\n"))
        except SourceError:
            left_out["block that cannot be read"] += 1
        else:
            yield raw_sample(
                block.strip("\n"), language="notes", label=unit_name(block), path=path, line=line
            )
        line += block.count("\n") + 2


def unit_name(source: str) -> str | None:
    """The name of a block."""
    found = HEAD.match(source.strip("\n"))
    return found[1] if found else None


def canonical(source: str) -> str:
    """The lines in alphabetical order, without remarks."""
    head = source.partition("\n")[0]
    return "\n".join([head, *sorted(line for line in parse(source) if not line.startswith("#"))])


@dataclass(frozen=True, slots=True)
class ReorderPairs:
    """Lines in another order."""

    name: str = "reorder-pairs"
    kind: Kind = "preserving"
    unit: Unit = "module"
    languages: frozenset[str] = field(default=frozenset({"notes"}))

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One permutation of all lines."""
        order = list(range(len(parse(source))))
        if len(order) < 2:
            return Refused("fewer than two lines")
        rng.shuffle(order)
        return (Move(kind="order", site=0, value=tuple(order), note="lines in another order"),)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """The lines in the order of the move."""
        lines = parse(source)
        for move in moves:
            if sorted(move.value) != list(range(len(lines))):
                return Refused("not a move of this transform")
            lines = [lines[int(number)] for number in move.value]
        return Rewritten(source="\n".join([source.partition("\n")[0], *lines]), evidence="analysis")


@dataclass(frozen=True, slots=True)
class ValueChanged:
    """Control: one value becomes another."""

    name: str = "value-changed"
    kind: Kind = "control"
    unit: Unit = "module"
    languages: frozenset[str] = field(default=frozenset({"notes"}))

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One line."""
        pairs = [number for number, line in enumerate(parse(source)) if not line.startswith("#")]
        if not pairs:
            return Refused("no pair")
        number = rng.choice(pairs)
        value = f"{rng.randrange(1000)}"
        return (Move(kind="value", site=number, value=value, note=f"line {number + 2} says {value}"),)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """The value of each move."""
        head, *lines = source.split("\n")
        for move in moves:
            lines[move.site] = f"{lines[move.site].partition(' = ')[0]} = {move.value}"
        return Rewritten(source="\n".join([head, *lines]), evidence="analysis")


@dataclass(frozen=True, slots=True)
class AddRemark:
    """A remark at the end of a block."""

    name: str = "add-remark"
    kind: Kind = "preserving"
    unit: Unit = "module"
    languages: frozenset[str] = field(default=frozenset({"notes"}))

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One remark."""
        parse(source)
        text = f"# {rng.choice(('see below', 'as agreed', 'to be checked'))}"
        return (Move(kind="remark", site=0, value=text, note="a remark"),)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """The block with the remarks."""
        lines = [source, *(str(move.value) for move in moves)]
        return Rewritten(source="\n".join(lines), evidence="analysis")


REORDER_PAIRS = ReorderPairs()
VALUE_CHANGED = ValueChanged()

_EXAMPLE = "[order]\nitem = pencil\ncount = 3"

NOTES = Language(
    name="notes",
    title="notes",
    units="blocks",
    example=_EXAMPLE,
    families=(
        TransformFamily.of(
            "",
            "pairs",
            "The pairs of a block.",
            keeps("notes_language:REORDER_PAIRS", "lines in another order", _EXAMPLE, "value-changed"),
            changes("notes_language:VALUE_CHANGED", "one value changes", _EXAMPLE),
        ),
    ),
    standard=("reorder-pairs",),
    controls=("value-changed",),
    parse="notes_language:parse",
    unit_name="notes_language:unit_name",
    canonical="notes_language:canonical",
    endings=(".notes",),
    reader="notes_language:blocks",
)
