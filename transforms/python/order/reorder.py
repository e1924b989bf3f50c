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
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, pairwise
from random import Random
from typing import ClassVar, Final

from codeaudit.transforms.dependence.blocks import NO_BLOCK, SHARE, BlockStatement, StatementBlock, obstacle
from codeaudit.transforms.dependence.blocks import OBSTACLES as SHARED_OBSTACLES
from codeaudit.transforms.dependence.effects import (
    ACTS,
    BARRIER,
    ENDS_CALL,
    EXITS,
    LOOKS_UP,
    OBSERVES,
    RAISES,
    STORES,
    Effects,
    conflicts,
)
from codeaudit.transforms.dependence.relations import EVIDENCE, KINDS, Dependence, related_name
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import line_starts
from codeaudit.transforms.python.analysis.builder import is_string_statement
from codeaudit.transforms.python.analysis.capabilities import (
    DENIED,
    LIVES_SEEN,
    NAMES_SEEN,
    POSITIONS_READ,
    SOURCE_READ,
    LinesRead,
    Sees,
    shown_together,
)
from codeaudit.transforms.python.analysis.classes import imports_of
from codeaudit.transforms.python.analysis.knowledge import (
    BUILTINS,
    METHOD_EFFECTS,
    MODULE_NAMES,
    MODULES,
    PLAIN,
    RAISING_STR_METHODS,
    STR_METHODS,
    VIEWS,
)
from codeaudit.transforms.python.analysis.looks import PlainAttributes, QuietFunction, ShownLooks
from codeaudit.transforms.python.analysis.program import PythonProgram, analyse, analyse_tree
from codeaudit.transforms.python.analysis.relaxed import NO_PACKAGE, PackageSummary
from codeaudit.transforms.python.comments import bounds
from codeaudit.transforms.python.order.spelling import TWO_SPELLINGS, spells_twice
from codeaudit.transforms.python.parsing import DOCUMENTED, FunctionNode, first_line, parse, shared_tree
from codeaudit.transforms.python.rewriting import SECTION
from codeaudit.transforms.python.suites import bodies
from codeaudit.transforms.python.walking import below
from codeaudit.transforms.records import Move
from codeaudit.transforms.remembering import digest, fact
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
_OWN: Final = frozenset({SHARE, OBSTACLES[-1]})
"""Those that no text around the function removes, but between two tests."""


LOOKED_BETWEEN: Final = "somebody may look between two statements"
"""The reason to leave the order of statements in a file with threads, finalisers, or limits that it meets."""
_BEYOND_LINES: Final = re.compile(rb"\\(?:\n|\Z)|[\r\f\0]")
"""A continued line, a lone carriage return, a form feed, which resets an indentation."""


def _why_fixed(sees: Sees, *, looking: bool) -> str:
    """Why no statement of a function may move: somebody may list its variables in their order."""
    if sees.lines is LinesRead.TEXT:
        return SOURCE_READ
    if looking or sees.variables:
        return NAMES_SEEN
    return LIVES_SEEN if sees.lives else ""


class PythonOrdering(StatementOrdering):
    """The blocks of a Python function, with their statements as elements."""

    def __init__(self, program: PythonProgram, around: str = "") -> None:
        source = program.source.encode()
        blocks = [_bounded(source, block) for block in program.blocks]
        movable = any(map(is_movable, blocks))
        reason = TWO_SPELLINGS if movable and spells_twice(program.source) else ""
        sees = shown_together(program.source, around, mask=_ASKED) if movable else Sees.NOTHING
        if not reason:
            reason = _why_fixed(sees, looking=program.looking)
        if sees & _BETWEEN:
            own = shown_together(program.source, mask=_ASKED)
            blocks = [_in_between(program, block, sees, own) for block in blocks]
            if not (reason or any(map(is_movable, blocks))):
                reason = LOOKED_BETWEEN
        if lines := sees.lines:
            blocks = [_on_its_lines(program, block, lines) for block in blocks]
            if not (reason or any(map(is_movable, blocks))):
                reason = SOURCE_READ if lines == LinesRead.TEXT else POSITIONS_READ
        if reason:
            blocks = [block._replace(fixed=reason) for block in blocks]
        self.unclear = bool(reason)
        super().__init__(source, blocks, OBSTACLES)
        self.program = program

    @property
    def immovable(self) -> str:
        """The reason to count where no block has another legal order."""
        if self.unclear or not any(map(is_movable, self.program.blocks)):
            return super().immovable
        return SECTION

    def numbers(self, site: int) -> Sequence[int]:
        """The first line of each statement, from 1."""
        nodes, starts = self.program.nodes, line_starts(self.source)
        numbers: list[int] = []
        for statement in self.blocks[site].statements:
            node = nodes[statement.lines.start][0] if statement.lines else None
            # A docstring has no logical line, and no comments above it are counted to it.
            numbers.append(
                first_line(node) if isinstance(node, ast.stmt) else bisect_right(starts, statement.start)
            )
        return numbers

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
    for number, (mask, statement) in enumerate(zip(block.predecessors, block.statements, strict=True)):
        if number and bounds(source, block.statements[number - 1].end, statement.start):
            above = (1 << number) - 1
        masks.append(mask | above)
    return block._replace(predecessors=tuple(masks)) if above else block


def _on_its_lines(program: PythonProgram, block: StatementBlock, lines: LinesRead) -> StatementBlock:
    """The block, in which every statement whose line may be read keeps its place, and so its line."""
    masks: list[int] = []
    above = 0
    for number, mask in enumerate(block.predecessors):
        statement = block.statements[number]
        node = program.nodes[statement.lines.start][0] if statement.lines else None
        fixed = lines >= LinesRead.ALL or (node is not None and _holds_code(node))
        if lines == LinesRead.RUNNING:
            fixed = fixed or bool(block.effects[number].flags & _SHOWN)
        masks.append(mask | ((1 << number) - 1 if fixed else above))
        if fixed:
            above = (2 << number) - 1
    return block._replace(predecessors=tuple(masks)) if above else block


_BETWEEN: Final = Sees.DROPS | Sees.IMPORTS | Sees.MOMENTS | Sees.DEPTH | Sees.STOPS
_ASKED: Final = (
    Sees.LOCALS | Sees.SOURCE | Sees.BEGINNINGS | Sees.RUNNING | Sees.LINES | Sees.LIVES | _BETWEEN
)
"""What keeps statements in their order."""
_SHARED: Final = ACTS | STORES | OBSERVES | LOOKS_UP


def _in_between(program: PythonProgram, block: StatementBlock, sees: Sees, own: Sees) -> StatementBlock:
    """The block, in which those statements keep their order between which somebody may look.

    `sees` is what the whole file shows, `own` what the function itself does.
    """
    if block.fixed:
        return block
    drops = _Drops(program) if sees & Sees.DROPS else None
    effects: list[Effects] = []
    for number, effect in enumerate(block.effects):
        lines, flags = block.statements[number].lines, effect.flags
        parts = below(program.nodes[lines.start][0]) if lines else []
        acts = (
            (sees & Sees.MOMENTS and flags & _SHARED)
            or (sees & Sees.STOPS and flags & STORES)
            # Its handler may see any variable.
            or (own & (Sees.DEPTH | Sees.STOPS) and parts)
            or (sees & Sees.IMPORTS and _holds(parts, ast.Import, ast.ImportFrom))
            or (drops is not None and drops.at(block.statements[number], flags))
        )
        ends = sees & (Sees.DEPTH | Sees.STOPS) and _holds(parts, ast.Call)
        effects.append(effect._replace(flags=flags | (ACTS if acts else 0) | (OBSERVES if ends else 0)))
    masks = zip(block.predecessors, conflicts(effects), strict=True)
    return block._replace(predecessors=tuple(mask | more for mask, more in masks))


def _holds(parts: Sequence[ast.AST], *kinds: type[ast.AST]) -> bool:
    return any(isinstance(part, kinds) for part in parts)


class _Drops:
    """Which statements of a function may drop the last hold on an object."""

    def __init__(self, program: PythonProgram) -> None:
        self._program = program
        # The attributes of a new object hold nothing yet.
        self._new = getattr(program.nodes[0][0], "name", "") in ("__init__", "__post_init__")

    def at(self, statement: BlockStatement, flags: int) -> bool:
        """Whether this statement stores an attribute, or binds a variable that may hold an object."""
        if flags & STORES and not self._new:
            return True
        if not statement.lines:
            return False
        node = self._program.nodes[statement.lines.start][0]
        place = self._program.places.get(id(node))
        if place is None:
            return True
        facts = place.facts
        # Of `if x is None: x = []`, nobody sees what `x` was.
        plain = facts.types.keys() & {name for name, kind in facts.types.items() if kind in PLAIN}
        plain = plain | facts.annotated_plain | _bound_where_none(node)
        return any(
            self._bound_above(name, line, facts.parameters)
            for line in statement.lines
            for name in self._program.effects[line].writes - plain
        )

    def _bound_above(self, name: str, line: int, parameters: Set[str]) -> bool:
        """Whether a variable may be bound where a line binds it."""
        around = self._around(line)
        if name in parameters or any(isinstance(self._program.nodes[line][0], _LOOPS) for line in around):
            return True
        return any(
            name in self._program.effects[other].writes and not self._parted(other, around)
            for other in range(line)
        )

    def _around(self, line: int) -> Sequence[int]:
        """A line, and the lines under which it is nested."""
        lines: list[int] = []
        while line >= 0:
            lines.append(line)
            line = self._program.parents[line]
        return lines

    def _parted(self, other: int, around: Sequence[int]) -> bool:
        """Whether a line stands under an `if` whose `else` these lines are."""
        above = self._around(other)
        return any(
            self._program.nodes[line][1] == "else"
            and isinstance(self._program.nodes[line][0], ast.If)
            and line not in above
            and self._program.parents[line] in above[1:]
            for line in around
        )


_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)


def _bound_where_none(node: ast.AST) -> frozenset[str]:
    """The variable that a statement binds where it is `None`."""
    match node:
        case ast.If(
            test=ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(None)])
        ):
            return frozenset([name])
        case _:
            return frozenset()


_SHOWN: Final = ACTS | RAISES | BARRIER | EXITS | ENDS_CALL
"""The flags of statements at whose lines a frame may be seen."""


def _holds_code(node: ast.AST) -> bool:
    """Whether a statement holds a function, class or comprehension, which knows its first line."""
    return any(isinstance(part, _CODE) for part in below(node))


_CODE: Final = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonReorder(Reorder):
    """Puts the statements of a Python function into another legal order."""

    judges: ClassVar[Set[str]] = frozenset(DENIED.values())
    """What a file shows not to hold binds those statements only that it is about."""
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

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """A uniform legal order. A third of all functions hold no two statements in a row: no analysis is
        needed.

        Raises:
            SourceError: the source cannot be parsed.
        """
        body = shared_tree(source).body
        if len(body) == 1 and not _holds_neighbours(body[0]):
            return Refused(NO_BLOCK)
        # `super()` would mean the class that `slots` replaces.
        return Reorder.propose(self, source, rng)

    def ordering(self, source: str) -> PythonOrdering:
        """The blocks of the function.

        Raises:
            SourceError: the source cannot be parsed.
        """
        return _ordering(source, self.dependence, self.around, self.package)


def _holds_neighbours(top: ast.stmt) -> bool:
    """Whether a statement may hold two statements in a row that are no docstrings."""
    pending = [top]
    while pending:
        statement = pending.pop()
        clauses = (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ()))
        for body in chain.from_iterable(map(bodies, (statement, *clauses))):
            documented = isinstance(statement, DOCUMENTED) and is_string_statement(body[0])
            if len(body) - documented > 1:
                return True
            pending += body
    return False


@lru_cache(maxsize=4)
def _ordering(source: str, dependence: Dependence, around: str, package: PackageSummary) -> PythonOrdering:
    key = source, dependence, around, package
    needed = _FILE_NEEDED.get(key)
    if needed or 0 < len(around) < _AT_ONCE * len(source):
        program = analyse_tree(source, shared_tree(source), dependence, around, package)
        return PythonOrdering(program, around)
    program = analyse(source, dependence=dependence, package=package)
    if needed is None:
        # A function that is all of its text tells the same twice, unless it has the name of a builtin.
        informed = bool(around) and (around != source or bool(program.rebound))
        # To read a whole file takes forty times as long as to read one of its functions.
        needed = informed and (any(map(is_movable, program.blocks)) or _file_frees(program, around, package))
        while len(_FILE_NEEDED) >= _KEPT:
            _FILE_NEEDED.pop(next(iter(_FILE_NEEDED)), None)
        _FILE_NEEDED[key] = needed
        if needed:
            program = analyse_tree(source, program.tree, dependence, around, package)
    return PythonOrdering(program, around)


_FILE_NEEDED: Final[dict[tuple[str, Dependence, str, PackageSummary], bool]] = {}
"""Whether the file around a function had to be read. Later draws of the same function know it."""
_KEPT: Final = 4096
_AT_ONCE: Final = 32
"""A file that is at most so many times longer than its function is read without a question: to ask whether it
is needed, the function is analysed alone.
"""


def _file_frees(program: PythonProgram, around: str, package: PackageSummary) -> bool:
    if package != NO_PACKAGE:
        return _file_may_free(program, around, package)
    question = f"may free {program.dependence} {digest(program.source)}"
    frees: bool = fact(around, question, lambda: _file_may_free(program, around, package))
    return frees


def _file_may_free(program: PythonProgram, around: str, package: PackageSummary) -> bool:
    """Whether the text around may free an order of a function that has none.

    It can show that attributes of `self` are plain, what imported names stand for, and that functions only
    look. The analysis is told that it shows all of that. If it finds no order then, the text is not read.
    """
    if not any(_waits_for_calls(program, block) for block in program.blocks):
        return False
    words = frozenset(_WORD.findall(program.source))
    imports, unclear = _imports_in(around)
    if not words.isdisjoint(unclear):
        return True
    functions = _looking(around, words)
    if len(functions) > 1:  # each may give another type
        return True
    # The type of a result frees, too: a new container is nobody else's, and numbers and texts run no code.
    for gives in ("list", "tuple", "int", "str", "bytes") if functions else (None,):
        supposed = ShownLooks(bindings=_Most(imports, functions, _fitting(program.tree, gives)))
        most = analyse_tree(
            program.source, program.tree, program.dependence, package=package, supposed=supposed
        )
        if any(map(is_movable, most.blocks)):
            return True
    return False


def _waits_for_calls(program: PythonProgram, block: StatementBlock) -> bool:
    """Whether two neighbours may keep their order only because of what is not known of code elsewhere."""
    if block.fixed:
        return False
    if any(obstacle(first, second, OBSTACLES[-1]) not in _OWN for first, second in pairwise(block.effects)):
        return True
    # The type of a result may show that of two tests one fails: `if n == 1: …`, `if n == 2: …`.
    tests = [
        bool(statement.lines) and isinstance(program.nodes[statement.lines.start][0], ast.If)
        for statement in block.statements
    ]
    return any(first and second for first, second in pairwise(tests))


@dataclass(frozen=True, slots=True)
class _Most:
    """The most that a file can show: `looks.Bindings`."""

    imports: Mapping[str, str]
    functions: frozenset[str]
    quiet: QuietFunction
    """What each of these is."""

    def called(self, name: str) -> QuietFunction | None:
        """As of `Bindings`."""
        return self.quiet if name in self.functions else None

    def of_receiver(self, _: FunctionNode) -> Sequence[PlainAttributes]:
        """As of `Bindings`."""
        return (PlainAttributes(frozenset(), None),)


def _fitting(tree: ast.Module, gives: str | None) -> QuietFunction:
    """A function that accepts every call of the text and gives a result of this type."""
    calls = (node for node in below(tree) if isinstance(node, ast.Call))
    words = [word.arg for call in calls for word in call.keywords if word.arg]
    return QuietFunction((), words, (), True, 0, gives)


_IMPORT: Final = re.compile(r"import\b[ \t]*(?:\([^)]*\)|(?:[^\n]*\\\n)*[^\n]*)")
"""An import, from that word on."""
_FROM: Final = re.compile(r"[ \t]*(?:from\b.*\W)?")
"""What stands before that word on its line."""
_WORD: Final = re.compile(r"\w+")
_DEFINED: Final = re.compile(r"^def[ \t]+(\w+)", re.MULTILINE)
_FUNCTION: Final = re.compile(r"^def[ \t]+(\w+)(.*(?:\n(?:[ \t)].*)?)*)", re.MULTILINE)
"""A function of the top level: its name, and its text from the parameters on."""
_CALL: Final = re.compile(r"(\w+)\s*\(")
_INSIDE: Final = re.compile(r"\bdef\b|\blambda\b")
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


def _looking(around: str, words: frozenset[str]) -> frozenset[str]:
    """Those of the words that are functions of a file and may only look; none is missing."""
    named = words & _defined(around)
    if not named:
        return named
    known = _KNOWN_CALLS | _defined(around)
    return frozenset(
        name
        for name, text in _FUNCTION.findall(around)
        # What a function inside calls does not run.
        if name in named and (_INSIDE.search(text) or known.issuperset(_CALL.findall(text)))
    )


@lru_cache(maxsize=256)
def _imports_in(text: str) -> tuple[Mapping[str, str], frozenset[str]]:
    """The names that the imports of a text bind, each with what it stands for. The text is not parsed.

    Second: names that may stand for something else.
    """
    imports: dict[str, str] = {}
    unclear = set[str]()
    for name, full in _imports_of([*_import_statements(text)]):
        # Without an import that binds it, the name of a module stands for that module.
        if imports.setdefault(name, full) != full or (name in MODULE_NAMES and name != full):
            unclear.add(name)
    return imports, frozenset(unclear)


def _import_statements(text: str) -> Iterator[str]:
    """The imports that begin a line; words of docstrings may be among them."""
    at = text.find("import")
    while at >= 0:
        begin = text.rfind("\n", 0, at) + 1
        rest = _IMPORT.match(text, at) if _FROM.fullmatch(text, begin, at) else None
        if rest:
            yield text[begin:at].lstrip(" \t") + rest[0]
        at = text.find("import", rest.end() if rest else at + 1)


def _imports_of(statements: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The names that those of the statements import that are no words of a docstring."""
    try:
        yield from imports_of(parse("\n".join(statements)).body)
    except SourceError:
        middle = len(statements) // 2
        if middle:
            yield from _imports_of(statements[:middle])
            yield from _imports_of(statements[middle:])


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
        # The relation that `reorder` keeps.
        full = _ordering(source, "strict", self.around, NO_PACKAGE).program
        return PythonBreakable(full, analyse(source, dependence="paper"))


REORDER_BREAKING: Final = PythonReorderBreaking()
