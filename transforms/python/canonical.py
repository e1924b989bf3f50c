"""The canonical form of a function: the same text for every legal order and every renaming of it.

Put before a model (`--wrap canonical`), it makes any model exactly invariant to `reorder`, `rename` and
`rename-parameters`. Statements are sorted by a colour that no order and no renaming changes
(`dependence.colours`): every block takes the legal order that is first by (layer, colour). Then variables are
named v0, v1, … in the order in which the sorted text names them.
"""

import ast
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from codeaudit.transforms.dependence.colours import colours, first_orders
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.python.analysis.program import PythonProgram, analyse
from codeaudit.transforms.python.analysis.scopes import OUTER, PythonBinding, PythonScopes
from codeaudit.transforms.python.identifiers.rename import PythonVariables, variables
from codeaudit.transforms.reordering import reordered

NAMELESS: Final = "_v"
"""Stands for every variable in the text of a line when only the shape of the line counts."""


def canonicalise(source: str) -> str:
    """The canonical form. It has the meaning of the source; comments above a statement move with it.

    Two functions that differ by a legal order of statements or by names of variables (as far as the
    transforms change them) have one canonical form. The exception: lines that not even their whole
    surroundings distinguish keep their order.

    Raises:
        SourceError: the source does not parse or is not one function.
    """
    facts = variables(source)
    program = analyse(source)
    chosen = first_orders(program.blocks, _colours(facts, program))
    if chosen:
        facts = variables(reordered(program.source.encode(), program.blocks, chosen))
    return _with_canonical_names(facts)


def _movable(facts: PythonVariables) -> Mapping[int, PythonBinding]:
    """The variables that the renaming transforms may rename, by number."""
    # With parameters if they may change; a function whose parameters must stay may still have locals.
    for parameters in (True, False):
        bindings = facts.movable(parameters=parameters)
        if not isinstance(bindings, Refused):
            return bindings
    return {}


def _with_canonical_names(facts: PythonVariables) -> str:
    movable = _movable(facts)
    kept = {binding.name for binding in facts.bindings if binding.number not in movable}
    # A global called `v0` would be hidden by a variable of that name.
    kept |= {binding.name for binding in facts.scopes.bindings if binding.scope == OUTER}
    prefix = "v"
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in kept):
        prefix += "v"
    return facts.rewritten({number: f"{prefix}{place}" for place, number in enumerate(sorted(movable))})


def _colours(facts: PythonVariables, program: PythonProgram) -> Sequence[str]:
    """A colour for every line that no legal order and no renaming changes."""
    movable = _movable(facts)
    starts = _line_offsets(program, facts.scopes)
    # Every occurrence of a variable, in the order of the text: (offset, number of the variable).
    occurrences = sorted(
        (occurrence.start, number)
        for number, binding in movable.items()
        for occurrence in binding.occurrences
    )
    named: dict[int, list[int]] = defaultdict(list)
    for start, number in occurrences:
        named[bisect_right(starts, start) - 1].append(number)
    lines = analyse(facts.rewritten(dict.fromkeys(movable, NAMELESS))).lines
    if len(lines) != len(program.lines):
        raise SourceError("not readable: the shape of the function is not its own")
    looks = [(line.text, line.depth) for line in lines]
    return colours(looks, [line.parent for line in lines], program.graph.predecessors, named)


def _line_offsets(program: PythonProgram, scopes: PythonScopes) -> list[int]:
    """The offset at which each logical line begins; `else` and `finally` contain no names and begin with the
    next line.
    """
    offsets: list[int] = []
    for node, clause in reversed(program.nodes):
        if clause in ("else", "finally"):
            offsets.append(offsets[-1])
            continue
        places = [node, *getattr(node, "decorator_list", [])]
        if isinstance(node, ast.match_case):
            places = [node.pattern]
        offsets.append(min(scopes.positions.offset(place.lineno, place.col_offset) for place in places))
    # Backwards, because `else` takes the offset of the line behind it.
    return offsets[::-1]
