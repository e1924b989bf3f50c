"""The canonical form of a block: the same text for every legal order and every renaming of it.

Put before a model, it makes any model exactly invariant to `rename` and `reorder`. The order comes first.
Colours of instructions and registers are refined together until they no longer split (Weisfeiler and Leman
1968, on the graph of conflicts and occurrences); of instructions that still look alike one is told apart, and
the colours are refined again. Sorted by layer of the conflicts, then colour, instructions stand in a legal
order. Registers are then named in the order of their first use, each by the first name that the rules of
renaming leave it (`legality.py`); what may not be renamed keeps its name.

For renamings this is exact: legal names depend on where a register stands, not on what it is called. For
orders it is as far as instructions that the colours cannot tell apart are interchangeable.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from codeaudit.transforms.dependence.layers import bits, layers
from codeaudit.transforms.x86.effects import conflicts
from codeaudit.transforms.x86.legality import RegisterChoices, choices
from codeaudit.transforms.x86.reading import BasicBlock, Operation, read
from codeaudit.transforms.x86.registers import BASES, Register, part
from codeaudit.transforms.x86.rename import obstacle

_PLACES: Final[Mapping[str, int]] = {
    base: place for place, base in enumerate(base for bases in BASES.values() for base in bases)
}


def canonicalise(source: str) -> str:
    """The canonical form: one instruction a line, without comments. It does what the block does, up to the
    names of registers.

    Raises:
        SourceError: a line of the source is no instruction.
    """
    block = read(source)
    found = RegisterChoices({}) if obstacle(block) else choices(block)
    lines = [block.operations[number] for number in canonical_order(block, found)]
    used = dict.fromkeys(token.register.base for line in lines for token in line.tokens)
    names = canonical_names(tuple(used), found)

    def spelled(register: Register) -> str:
        named = part(names[register.base], register)
        assert named is not None, "a legal name has the view"
        return f"%{named.name}"

    return "\n".join(_written(line, spelled) for line in lines)


def canonical_names(used: Sequence[str], found: RegisterChoices) -> Mapping[str, str]:
    """For each base in use its canonical name: of all legal renamings that which comes first when the bases
    are named in this order. The names that they have show that there is a legal one.
    """
    owners = {base: base for base in used}
    settled: set[str] = set()
    names: dict[str, str] = {}
    for base in used:
        for target in sorted(found.targets.get(base, {base}), key=_PLACES.__getitem__):
            moved = None if target in settled else _given(base, target, owners, found, settled)
            if moved is not None:
                owners, names[base] = moved, target
                settled.add(target)
                break
    return names


def _given(
    base: str, target: str, owners: Mapping[str, str], found: RegisterChoices, settled: set[str]
) -> dict[str, str] | None:
    """Who has which name once `base` has `target` and all others have a legal one, too; `None` where that
    cannot be. An augmenting path: who loses a name takes another, whose owner takes another.
    """
    moved = {name: owner for name, owner in owners.items() if owner != base}
    loser = moved.get(target)
    moved[target] = base
    if loser is None or _housed(loser, moved, found, settled | {target}):
        return moved
    return None


def _housed(base: str, moved: dict[str, str], found: RegisterChoices, tried: set[str]) -> bool:
    for target in found.targets.get(base, frozenset({base})):
        if target in tried:
            continue
        tried.add(target)
        loser = moved.get(target)
        if loser is None or _housed(loser, moved, found, tried):
            moved[target] = base
            return True
    return False


def _written(line: Operation, spelled: Callable[[Register], str]) -> str:
    """The text of an instruction with its registers spelled otherwise."""
    pieces: list[str] = []
    done = 0
    for token in line.tokens:
        pieces += (line.text[done : token.start], spelled(token.register))
        done = token.end
    return " ".join(("".join(pieces) + line.text[done:]).split())


def canonical_order(block: BasicBlock, found: RegisterChoices) -> list[int]:
    """The instructions by layer, then colour. Within a layer none conflicts with another, and what an
    instruction conflicts with before it lies in earlier layers, so this is a legal order.
    """
    predecessors = conflicts(block)
    depth = layers(predecessors)

    def shape(register: Register) -> str:
        return register.view if _is_free(register.base, found) else f"%{register.name}"

    lines = [_written(line, shape) for line in block.operations]
    colours = _ranks(list(zip(depth, lines, strict=True)))
    while True:
        colours = _refined(colours, block, predecessors, found)
        cells: dict[int, list[int]] = defaultdict(list)
        for number, colour in enumerate(colours):
            cells[colour].append(number)
        tied = [cells[colour] for colour in sorted(cells) if _differ(block, cells[colour])]
        if not tied:
            return sorted(range(len(colours)), key=colours.__getitem__)
        colours = [2 * colour for colour in colours]
        colours[tied[0][0]] -= 1


def _differ(block: BasicBlock, cell: Sequence[int]) -> bool:
    """Whether it matters in which order these instructions of one colour stand: they name other registers."""
    named = {tuple(token.register.base for token in block.operations[number].tokens) for number in cell}
    return len(named) > 1


def _refined(
    colours: Sequence[int], block: BasicBlock, predecessors: Sequence[int], found: RegisterChoices
) -> list[int]:
    """The coarsest colours that agree with the given ones and with those of all neighbours."""
    bases = [
        [token.register.base for token in line.tokens if _is_free(token.register.base, found)]
        for line in block.operations
    ]
    before = [list(bits(mask)) for mask in predecessors]
    after: dict[int, list[int]] = defaultdict(list)
    for number, earlier in enumerate(before):
        for other in earlier:
            after[other].append(number)
    used = dict.fromkeys(base for line in bases for base in line)
    hues = dict.fromkeys(used, 0)
    while True:
        places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, line in enumerate(bases):
            for place, base in enumerate(line):
                places[base].append((colours[number], place))
        ranks = _ranks([(hues[base], tuple(sorted(places[base]))) for base in used])
        hues = dict(zip(used, ranks, strict=True))
        split = _ranks(
            [
                (
                    colour,
                    tuple(hues[base] for base in bases[number]),
                    tuple(sorted(colours[other] for other in before[number])),
                    tuple(sorted(colours[other] for other in after[number])),
                )
                for number, colour in enumerate(colours)
            ]
        )
        if len(set(split)) == len(set(colours)):
            return split
        colours = split


def _is_free(base: str, found: RegisterChoices) -> bool:
    return len(found.targets.get(base, ())) > 1


def _ranks(keys: Sequence[Any]) -> list[int]:
    """Numbers for comparable keys: equal ones for equal keys, in their order."""
    known = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return [known[key] for key in keys]
