"""The language `ini`: the sections of INI files, and a transform that reorders their keys."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.languages import LanguageAudit
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.language import Language, TransformFamily, keeps
from codeaudit.transforms.records import Kind, Move, Sample, Unit


def sections(text: str, path: str, left_out: Counter[str]) -> Iterator[Sample]:
    """The sections of a file. The label of a section is its name."""
    lines = text.splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("[")]
    for head, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        source = "\n".join(line for line in lines[head:end] if line.strip()) + "\n"
        if source.count("\n") < 3:
            left_out["section under two keys"] += 1
        else:
            yield raw_sample(source, language="ini", label=name_of(source), path=path, line=head + 1)


def name_of(source: str) -> str | None:
    """The name of a section."""
    return source[1 : source.index("]")].strip() if source.startswith("[") and "]" in source else None


@dataclass(frozen=True, slots=True)
class ReorderKeys:
    """The keys of a section in another order, which means the same."""

    name: str = "reorder"
    kind: Kind = "preserving"
    languages: frozenset[str] = frozenset({"ini"})
    unit: Unit = "module"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One move: the whole new order."""
        order = list(range(source.count("\n") - 1))
        rng.shuffle(order)
        return (Move(kind="order", site=0, value=tuple(order), note=f"order {order}"),)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """The keys in the order of the move."""
        head, *keys = source.splitlines()
        for move in moves:
            keys = [keys[int(place)] for place in move.value]
        return Rewritten(source="\n".join([head, *keys]) + "\n", evidence="analysis")


def sorted_keys(source: str) -> str:
    """The canonical form of a section: its keys in alphabetical order."""
    head, *keys = source.splitlines()
    return "\n".join([head, *sorted(keys)]) + "\n"


REORDER = ReorderKeys()
_EXAMPLE = "[server]\nhost = localhost\nport = 80\n"
_ROW = keeps(f"{__name__}:REORDER", "the keys of a section in another order", _EXAMPLE)
INI = Language(
    name="ini", title="INI", units="sections", endings=(".ini",), standard=("reorder",),
    families=(TransformFamily.of("", "order", "the order of keys", _ROW),), example=_EXAMPLE,
    canonical=f"{__name__}:sorted_keys",
)  # fmt: skip
INI_AUDIT = LanguageAudit(reader=f"{__name__}:sections", unit_name=f"{__name__}:name_of")
