"""`reorder`: the statements of a function in another legal order; and its control `reorder-breaking`.

The legal orders of a block are the linear extensions of the conflict relation (SPE attention, section 3.2,
with the relation made sound); each block is drawn uniformly and independently, nested blocks inside their
statement. Only whole statements move: every byte of every statement, its comments included, survives.

The control reverses exactly one true dependence: a statement that reads a variable is put before the
statement whose value it read.
"""

import ast
import keyword
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import Final

from codeaudit.transforms.dependence.blocks import NO_BLOCK, StatementBlock
from codeaudit.transforms.dependence.blocks import OBSTACLES as SHARED_OBSTACLES
from codeaudit.transforms.dependence.effects import conflicts
from codeaudit.transforms.dependence.relations import EVIDENCE, KINDS, Dependence, related_name
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.patches import line_starts
from codeaudit.transforms.python.analysis.knowledge import (
    BUILTINS,
    METHOD_EFFECTS,
    MODULE_NAMES,
    MODULES,
    RAISING_STR_METHODS,
    STR_METHODS,
    VIEWS,
)
from codeaudit.transforms.python.analysis.program import PythonProgram, analyse, analyse_tree
from codeaudit.transforms.python.analysis.relaxed import NO_PACKAGE, PackageSummary
from codeaudit.transforms.python.comments import bounds
from codeaudit.transforms.python.parsing import FunctionNode, first_line, parse
from codeaudit.transforms.python.rewriting import SECTION
from codeaudit.transforms.reordering import (
    Reorder,
    ReorderBreaking,
    StatementOrdering,
    is_movable,
    reordered,
    reversible,
)

OBSTACLES: Final = (*SHARED_OBSTACLES, "neighbours leave or suspend the block")
"""Why a function has one legal order only; the first would be the easiest to remove."""


_BEYOND_LINES: Final = re.compile(rb"\\(?:\n|\Z)|[\r\f\0]")
"""A continued line, a lone carriage return, a form feed, which resets an indentation."""


class PythonOrdering(StatementOrdering):
    """The blocks of a Python function, with their statements as elements."""

    def __init__(self, program: PythonProgram) -> None:
        source = program.source.encode()
        super().__init__(source, [_bounded(source, block) for block in program.blocks], OBSTACLES)
        self.program = program

    @property
    def immovable(self) -> str:
        """The reason to count where no block has another legal order."""
        return SECTION if any(map(is_movable, self.program.blocks)) else super().immovable

    def numbers(self, site: int) -> Sequence[int]:
        """The first line of each statement, from 1."""
        nodes, starts = self.program.nodes, line_starts(self.source)
        found: list[int] = []
        for statement in self.blocks[site].statements:
            node = nodes[statement.lines.start][0] if statement.lines else None
            # A docstring has no logical line, and no comments above it are counted to it.
            found.append(
                first_line(node) if isinstance(node, ast.stmt) else bisect_right(starts, statement.start)
            )
        return found

    def text(self, orders: Mapping[int, Sequence[int]]) -> str | None:
        """The text with the blocks in these orders; `None` if it does not parse."""
        text = reordered(self.source, self.program.blocks, orders)
        # Whole lines of one block are exchanged, each with its own indentation. Only what reaches beyond its
        # line could tell them apart.
        if _BEYOND_LINES.search(self.source) is None:
            return text
        try:
            parse(text)
        except SourceError:
            return None
        return text


def _bounded(source: bytes, block: StatementBlock) -> StatementBlock:
    """The block, in which no statement moves past a comment that stays between two statements."""
    masks: list[int] = []
    above = 0
    for number, (mask, one) in enumerate(zip(block.predecessors, block.statements, strict=True)):
        if number and bounds(source, block.statements[number - 1].end, one.start):
            above = (1 << number) - 1
        masks.append(mask | above)
    return replace(block, predecessors=tuple(masks)) if above else block


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonReorder(Reorder):
    """Puts the statements of a Python function into another legal order."""

    languages: frozenset[str] = field(default_factory=lambda: frozenset({"python"}))
    dependence: Dependence = "strict"
    around: str = field(default="", repr=False)
    """The text of the file around the function, as far as it is known."""
    package: PackageSummary = field(default=NO_PACKAGE, repr=False)
    """What the files of the project show, for candidates under `confirmed`."""

    def within(self, text: str) -> "PythonReorder":
        """The same transform for the functions of this text."""
        return replace(self, around=text)

    def under(self, dependence: Dependence) -> "PythonReorder":
        """The same transform under another relation."""
        return replace(
            self,
            name=related_name(self.name, dependence),
            kind=KINDS[dependence],
            dependence=dependence,
            evidence=EVIDENCE[dependence],
        )

    def ordering(self, source: str) -> PythonOrdering:
        """The blocks of the function.

        Raises:
            SourceError: the source cannot be parsed.
        """
        return _ordering(source, self.dependence, self.around, self.package)


@lru_cache(maxsize=4)
def _ordering(source: str, dependence: Dependence, around: str, package: PackageSummary) -> PythonOrdering:
    program = analyse(source, dependence=dependence, package=package)
    # A function that is all of its text tells the same twice, unless it has the name of a builtin.
    told = bool(around) and (around != source or bool(program.rebound))
    # To read a whole file takes ten times as long as to read one of its functions.
    if told and (any(map(is_movable, program.blocks)) or _file_may_free(program, around)):
        program = analyse_tree(source, program.tree, dependence, around, package)
    return PythonOrdering(program)


def _file_may_free(program: PythonProgram, around: str) -> bool:
    """Whether the text around may show something that gives a function without another order one.

    It can show that attributes of the first parameter are plain, what imported names stand for, and that
    functions only look. So statements without any of these, and without a variable that one of them binds,
    keep their effects; so do those that call a method of the first parameter, which no file shows. Of the
    others, variables and exits stay.
    """
    function = program.tree.body[0]
    if not isinstance(function, FunctionNode):
        return True
    first = next((one.arg for one in (*function.args.posonlyargs, *function.args.args)), "")
    words = "|".join(map(re.escape, sorted(_named_in(around, program.source))))
    told = re.compile(rf"\b(?:{first or 'self'}\s*\.|(?:{words or 'import'})\b)")
    called = re.compile(rf"\b{first or 'self'}(?:\s*\.\s*\w+)+\s*\(")
    source = program.source.encode()
    bound = set[str]()
    """Variables of which the file may show more."""

    def open_(block: StatementBlock) -> bool:
        effects = []
        for one, effect in zip(block.statements, block.effects, strict=True):
            text = source[one.start : one.end].decode()
            if effect.reads & bound or told.search(text):
                bound.update(effect.writes)
                effect = effect if called.search(text) else effect.bound()
            effects.append(effect)
        returning = program.dependence == "returning"
        return is_movable(replace(block, predecessors=conflicts(effects, returning=returning)))

    return any(block.fixed is None and len(block.statements) > 1 and open_(block) for block in program.blocks)


_IMPORT: Final = re.compile(
    r"^[ \t]*(from\b[^\n]*?)?\bimport\b[ \t]*(\([^)]*\)|(?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE
)
"""An import, from its first word on: what stands before `import`, and the names behind it."""
_WORD: Final = re.compile(r"\w+")
_DEFINED: Final = re.compile(r"^def[ \t]+(\w+)", re.MULTILINE)
_FUNCTION: Final = re.compile(r"^def[ \t]+(\w+)(.*(?:\n(?:[ \t)].*)?)*)", re.MULTILINE)
"""A function of the top level: its name, and its text from the parameters on."""
_CALL: Final = re.compile(r"(\w+)\s*\(")
_INSIDE: Final = re.compile(r"\bdef\b|\blambda\b")
_KNOWN_MODULES: Final = frozenset(name.partition(".")[0] for name in MODULES.keys() | MODULE_NAMES) | {
    "numpy"
}
_KNOWN_CALLS: Final = (
    BUILTINS
    | VIEWS
    | frozenset(
        chain(
            keyword.kwlist,
            STR_METHODS,
            RAISING_STR_METHODS,
            *METHOD_EFFECTS.values(),
            *MODULES.values(),
            ["join"],
        )
    )
)
"""What may stand before a parenthesis in a function that only looks, beside other functions of its file."""


def _named_in(around: str, source: str) -> Iterator[str]:
    """The names in a function about which its file may tell more; none is missing.

    They are names imported from known modules, other names of such modules, and functions of the file that
    may only look.
    """
    words = frozenset(_WORD.findall(source))
    yield from words & _imported(around)
    if words.isdisjoint(_defined(around)):
        return
    known = _KNOWN_CALLS | _defined(around)
    for found in _FUNCTION.finditer(around):
        # What a function inside calls does not run.
        if found[1] in words and (_INSIDE.search(found[2]) or known.issuperset(_CALL.findall(found[2]))):
            yield found[1]


@lru_cache(maxsize=256)
def _imported(text: str) -> frozenset[str]:
    found = set[str]()
    for source, names in _IMPORT.findall(text):
        words = _WORD.findall(names)
        modules = _WORD.findall(source)[1:2] if source else words
        if (source or " as " in names) and not _KNOWN_MODULES.isdisjoint(modules):
            found.update(words)
    return frozenset(found)


@lru_cache(maxsize=256)
def _defined(text: str) -> frozenset[str]:
    return frozenset(_DEFINED.findall(text))


REORDER: Final = PythonReorder()


NO_PAIR: Final = "no true dependence that stands alone"


class PythonBreakable(PythonOrdering):
    """The blocks of a Python function, with the true dependences that may be reversed."""

    def __init__(self, program: PythonProgram, names: PythonProgram) -> None:
        super().__init__(program)
        self._names = names
        """The program with effects on names only."""

    @property
    def unbreakable(self) -> str:
        """The reason to count where no dependence may be reversed."""
        return NO_PAIR if self.large else NO_BLOCK

    def pairs(self, site: int) -> Iterator[tuple[int, int]]:
        """Pairs (definition, use) of a variable."""
        block = self.blocks[site]
        # In a block with a fixed order no statement may move, so none can be reversed.
        if block.fixed is None:
            yield from reversible(block.predecessors, self._names.true_dependences(self._names.blocks[site]))

    def breaks(self, site: int, pair: tuple[int, int]) -> bool:
        """Only the pairs that `pairs` offers: another conflict may be one of effects that no run shows."""
        return pair in set(self.pairs(site))


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonReorderBreaking(ReorderBreaking):
    """Puts one reader directly before the statement that defined what it reads."""

    languages: frozenset[str] = field(default_factory=lambda: frozenset({"python"}))
    around: str = field(default="", repr=False)
    """As in `PythonReorder`."""

    def within(self, text: str) -> "PythonReorderBreaking":
        """The same control for the functions of this text."""
        return replace(self, around=text)

    def ordering(self, source: str) -> PythonBreakable:
        """The blocks of the function.

        Raises:
            SourceError: the source cannot be parsed.
        """
        full = analyse(source, around=self.around)
        return PythonBreakable(full, analyse(source, dependence="paper"))


REORDER_BREAKING: Final = PythonReorderBreaking()
