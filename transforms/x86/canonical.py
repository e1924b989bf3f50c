"""The canonical form of a block: one text for all of its legal orders and renamings.

A model that sees only canonical forms is invariant to `rename` and `reorder` (`--wrap canonical`). The form
is made in two steps:

1. Order. The colours of instructions and registers are refined together until they no longer split
   (Weisfeiler and Leman 1968, on the graph of conflicts and occurrences). If instructions of one colour name
   different registers, one of them gets a colour of its own, and the refinement continues. Sorting by layer
   of the conflicts, then colour, gives a legal order.
2. Names. Registers are named in the order of their first use. Each gets the first name that the rules of
   renaming allow (`legality.py`). Fixed registers keep their names.

For renamings the form is exact, because legal names depend on the places of a register, not on its name. For
orders it is exact if instructions of equal colours are interchangeable.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from codeaudit.transforms.dependence.graph import bits, layers
from codeaudit.transforms.x86.effects import conflicts
from codeaudit.transforms.x86.legality import RegisterChoices, choices
from codeaudit.transforms.x86.reading import BasicBlock, Operation, read
from codeaudit.transforms.x86.registers import BASES, Register, part
from codeaudit.transforms.x86.rename import obstacle

_PLACES: Final[Mapping[str, int]] = {
    base: place for place, base in enumerate(base for bases in BASES.values() for base in bases)
}


def canonicalise(source: str) -> str:
    """The canonical form: one instruction a line, without comments. It is the block up to order and
    registers.

    Raises:
        SourceError: a line of the source is no instruction.
    """
    block = read(source)
    # Where no register may be renamed, each keeps its name, and the form is only about the order.
    options = RegisterChoices({}) if obstacle(block) else choices(block)
    lines = [block.operations[number] for number in canonical_order(block, options)]
    used = dict.fromkeys(token.register.base for line in lines for token in line.tokens)
    names = canonical_names(tuple(used), options)

    def spelled(register: Register) -> str:
        named = part(names[register.base], register)
        assert named is not None, "a legal name has the view"
        return f"%{named.name}"

    return "\n".join(_written(line, spelled) for line in lines)


def canonical_names(used: Sequence[str], options: RegisterChoices) -> Mapping[str, str]:
    """The canonical name of each base in use: the legal renaming that is lexicographically first in this
    order.

    A legal renaming exists, because the current names are one.
    """
    # The greedy choice of the first name is right only if the rest can still be named: a matching is kept.
    owners = {base: base for base in used}
    settled: set[str] = set()
    names: dict[str, str] = {}
    for base in used:
        for target in sorted(options.targets.get(base, {base}), key=_PLACES.__getitem__):
            moved = None if target in settled else _owners_after(base, target, owners, options, settled)
            if moved is not None:
                owners, names[base] = moved, target
                settled.add(target)
                break
    return names


def _owners_after(
    base: str, target: str, owners: Mapping[str, str], options: RegisterChoices, settled: set[str]
) -> dict[str, str] | None:
    """The owner of each name after `base` gets `target` and all other bases get a legal name; `None` if
    impossible.

    It follows an augmenting path: a base that loses its name takes another one, whose owner takes another
    one.
    """
    moved = {name: owner for name, owner in owners.items() if owner != base}
    loser = moved.get(target)
    moved[target] = base
    if loser is None or _housed(loser, moved, options, settled | {target}):
        return moved
    return None


def _housed(base: str, moved: dict[str, str], options: RegisterChoices, tried: set[str]) -> bool:
    for target in options.targets.get(base, frozenset({base})):
        if target in tried:
            continue
        tried.add(target)
        loser = moved.get(target)
        if loser is None or _housed(loser, moved, options, tried):
            moved[target] = base
            return True
    return False


def _written(line: Operation, spelled: Callable[[Register], str]) -> str:
    """The text of an instruction with single blanks, with `spelled` giving the text of each register."""
    return " ".join(line.spelled(spelled(token.register) for token in line.tokens).split())


def canonical_order(block: BasicBlock, options: RegisterChoices) -> list[int]:
    """The numbers of the instructions sorted by layer, then colour.

    This order is legal: no two instructions of a layer conflict, and the conflicting instructions before an
    instruction are in earlier layers.
    """
    predecessors = conflicts(block)
    depth = layers(predecessors)

    def shape(register: Register) -> str:
        # A register that keeps its name has a colour of its own from the beginning.
        return register.view if _is_free(register.base, options) else f"%{register.name}"

    lines = [_written(line, shape) for line in block.operations]
    colours = _ranks(list(zip(depth, lines, strict=True)))
    while True:
        colours = _refined(colours, block, predecessors, options)
        cells: dict[int, list[int]] = defaultdict(list)
        for number, colour in enumerate(colours):
            cells[colour].append(number)
        tied = [cells[colour] for colour in sorted(cells) if _differ(block, cells[colour])]
        if not tied:  # Python's sort is stable: interchangeable instructions keep the order of the text
            return sorted(range(len(colours)), key=colours.__getitem__)
        # Doubled, there is room for a colour just before that of the tied ones.
        colours = [2 * colour for colour in colours]
        colours[tied[0][0]] -= 1


def _differ(block: BasicBlock, cell: Sequence[int]) -> bool:
    """Whether the order of these instructions of one colour matters, because they name different
    registers.
    """
    named = {tuple(token.register.base for token in block.operations[number].tokens) for number in cell}
    return len(named) > 1


def _refined(
    colours: Sequence[int], block: BasicBlock, predecessors: Sequence[int], options: RegisterChoices
) -> list[int]:
    """The coarsest refinement of the colours in which equal colours have equally coloured neighbours."""
    bases = [
        [token.register.base for token in line.tokens if _is_free(token.register.base, options)]
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


def _is_free(base: str, options: RegisterChoices) -> bool:
    return len(options.targets.get(base, ())) > 1


def _ranks(keys: Sequence[Any]) -> list[int]:
    """The rank of each key among the distinct keys, from 0."""
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return [ranks[key] for key in keys]
