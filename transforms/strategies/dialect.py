"""What a strategy asks of a language: how things are spelt (`Dialect`), and what is known of a text
(`CodeText`).

A `Dialect` is data. A language subclasses `CodeText` and answers its questions from its analysis. The answer
of a question that a language does not answer is the one that forbids an edit, so a language may begin with
none. `lacking` says which questions of a strategy a language leaves open; such a strategy is not offered.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import count
from typing import Final, Self, TypeAlias, TypeVar

from codeaudit.transforms.errors import RESULT_NOT_PARSED, SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.patches import HARD, Part, Patch, Site, Span, patched
from codeaudit.transforms.records import Kind
from codeaudit.transforms.rules import OTHER_TREE, Proof, SiteRule
from codeaudit.transforms.syntax.flow import BLOCKS, Flow
from codeaudit.transforms.syntax.reader import DISPUTED, Node, ParsedText
from codeaudit.transforms.syntax.scopes import Binding, Scopes
from codeaudit.transforms.syntax.text import Precedence, outline, shifted

COMMENT: Final = "comment between the parts"
UNKNOWN: Final = "operands of unknown type"


@dataclass(frozen=True, kw_only=True)
class Fillers:
    """What dead code is made of. `{}` stands for a variable."""

    constants: Sequence[tuple[str, str]] = ()
    """What a declaration begins with, and a constant: `int`, `0`."""
    forms: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    """By the type of a variable: what can be computed from it without failing, behind the beginning of a
    declaration of the result."""
    of_objects: Sequence[tuple[str, str]] = ()
    """The same for variables of all other types."""
    others: Mapping[str, str] = field(default_factory=dict)
    """By the type of a variable: another value for it."""

    def __bool__(self) -> bool:
        return bool(self.constants)


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a language spells what all of these languages have."""

    precedence: Precedence
    flow: Flow
    types: frozenset[str] = frozenset()
    """Kinds of nodes that declare a type or a function among statements."""
    left_alone: frozenset[str] = frozenset()
    """Kinds of nodes in which no rule edits, such as annotations and labels of a `switch`."""
    opposites: Mapping[str, str] = field(default_factory=lambda: {"==": "!=", "!=": "=="})
    """The tests for equality, each with its opposite. `<` and the like are opposites only of ordered
    values."""
    numbers: frozenset[str] = frozenset()
    """Kinds of nodes that are whole numbers in base 10 or 16."""
    commuting: frozenset[str] = frozenset({"+", "*", "&", "|", "^", "==", "!="})
    """The operators whose operands may commute (`CodeText.commutes`)."""
    truth: tuple[str, str] = ("true", "false")
    """The words for a condition that always holds, and for one that never does."""
    never: Sequence[str] = ("if ({1})", "if (1 > 2)", "if (!{0})", "if (0 == 1)")
    """Heads of branches that are never taken, with the words for true and false."""
    booleans: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)
    """For `true` and `false` other expressions of the same value, with the precedence for which they are put
    in parentheses."""
    targets: frozenset[str] = frozenset()
    """Types of variables of which an assignment with an operator may be written out."""
    for_a_tool: re.Pattern[str] = re.compile("")
    """A comment that a tool may read."""
    texts: frozenset[str] = frozenset({"string_literal"})
    """Kinds of nodes that are strings."""
    joint: str = " + "
    """What makes one string of two that stand around it."""
    fractions: frozenset[str] = frozenset()
    """Kinds of nodes that are numbers with a point."""
    wrapped: frozenset[str] = frozenset()
    """Kinds of expressions around which parentheses change nothing."""
    owners: frozenset[str] = frozenset()
    """Kinds of nodes in a unit whose statements are not the unit's own: functions and classes."""
    fillers: Fillers = field(default_factory=Fillers)
    """What dead code is made of."""
    wide: frozenset[str] = frozenset()
    """Types of numbers that an operation with a narrower one keeps."""
    whole: frozenset[str] = frozenset()
    """Types of whole numbers to which 0 may be added."""
    numeric: frozenset[str] = frozenset()
    """All types of numbers."""
    primitive: frozenset[str] = frozenset()
    """Types whose values are no objects."""
    nothing: str | None = None
    """The type of `null`."""


class CodeText:
    """A unit with the facts that strategies ask for. It does not change after its creation."""

    def __init__(self, scopes: Scopes, dialect: Dialect) -> None:
        self.scopes: Final = scopes
        self.dialect: Final = dialect
        self.precedence: Final = dialect.precedence
        self.reading: Final = scopes.reading
        self.source: Final = self.reading.source
        self.unit: Final = scopes.unit

    # ── the text ─────────────────────────────────────────────────────────────────────────────────────────

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self.reading.text(node)

    def line(self, node: Node) -> int:
        """The line on which a node begins, from 1."""
        return self.source.count(b"\n", 0, node.start) + 1

    @cached_property
    def newline(self) -> str:
        """The line break of this text."""
        return "\r\n" if b"\r\n" in self.source else "\n"

    def indentation(self, offset: int) -> str:
        """The blanks with which the line of an offset begins."""
        begin = self.source.rfind(b"\n", 0, offset) + 1
        line = self.source[begin:offset]
        return line[: len(line) - len(line.lstrip(b" \t"))].decode()

    def starts_line(self, offset: int) -> bool:
        """Whether only blanks stand before an offset on its line."""
        return not self.source[self.source.rfind(b"\n", 0, offset) + 1 : offset].strip()

    def deeper(self, outer: Node, inner: Node) -> str:
        """The indentation that the line of an inner node has beyond that of an outer one."""
        outside, inside = self.indentation(outer.start), self.indentation(inner.start)
        return inside[len(outside) :] if inside.startswith(outside) else ""

    @cached_property
    def step(self) -> str:
        """The indentation that one level of blocks adds; four blanks if no block shows it."""
        for node in self.unit.walk():
            if node.kind in BLOCKS and node.children:
                inner, last = node.children[0], node.end - 1
                if self.starts_line(inner.start) and self.starts_line(last):
                    outside, inside = self.indentation(last), self.indentation(inner.start)
                    if len(inside) > len(outside) and inside.startswith(outside):
                        return inside[len(outside) :]
        return "    "

    def commented(self, start: int, end: int) -> bool:
        """Whether a comment stands in a range."""
        return any(start < stop and begin < end for _, begin, stop in self.reading.comments)

    def comments_between(self, start: int, *nodes: Node) -> bool:
        """Whether a comment stands between `start` and these nodes (in text order), or between them."""
        ends = (start, *(node.end for node in nodes))
        return any(self.commented(end, node.start) for end, node in zip(ends, nodes, strict=False))

    def comments_outside(self, node: Node, *kept: Node | Span) -> bool:
        """Whether a comment of a node stands outside of these parts, so that a rewriting would lose it."""
        return any(
            node.start <= start < node.end and not any(n.start <= start and stop <= n.end for n in kept)
            for _, start, stop in self.reading.comments
        )

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes in the order of the text, without those that are left alone and what is in them."""
        nodes: list[Node] = []
        pending = [self.unit]
        left_alone = self.dialect.left_alone
        while pending:
            node = pending.pop()
            nodes.append(node)
            pending += [child for child in reversed(node.children) if child.kind not in left_alone]
        return tuple(nodes)

    def site(self, node: Node, note: str, *patches: Patch) -> Site:
        """A site at a node with one option: these patches, which belong together."""
        return Site((patches,), note, self.line(node))

    def operand(self, node: Node, least: int) -> tuple[Part, ...]:
        """An expression at a place that needs at least this precedence, in parentheses if necessary."""
        return self.precedence.operand(node, least)

    def is_multiline(self, node: Node) -> bool:
        """Whether a node is a literal with line breaks, whose indentation is part of its value."""
        return False

    # ── names ────────────────────────────────────────────────────────────────────────────────────────────

    def fresh(self, *stems: str) -> Iterator[str]:
        """Names that occur nowhere in the text: the stems, then the stems with numbers. Endless.

        Only where `closed` is `None`: else names are known here that stand outside of the text.
        """
        text = self.source.decode()
        for number in count():
            for stem in stems:
                name = stem if number == 0 else f"{stem}{number}"
                if name not in text:  # not even as part of another word, a string or a comment
                    yield name

    def binding(self, node: Node) -> Binding | None:
        """The variable that an identifier names; `None` for other nodes and other names."""
        return self.scopes.binding(node)

    def name_of(self, declarator: Node) -> Node:
        """The name that a part of a declaration declares, which may be all of it."""
        return declarator.child("name") or declarator

    def names(self, node: Node) -> frozenset[str]:
        """Every word in a part of the text that may be a variable, a method or a type."""
        return frozenset(self.text(inner) for inner in node.walk() if inner.kind.endswith("identifier"))

    def declared_in(self, node: Node) -> frozenset[str]:
        """Every name that is declared anywhere in a part of the text."""
        kinds, bindings = self.dialect.types, self.scopes.bindings
        names = (inner.child("name") for inner in node.walk() if inner.kind in kinds)
        types = {self.text(name) for name in names if name is not None}
        return frozenset(types | {local.name for local in bindings if node.start <= local.start < node.end})

    def declares(self, statements: Sequence[Node]) -> frozenset[str]:
        """The names that statements of one block make known behind themselves.

        `if (!(o instanceof String s)) return;` makes `s` known, too; every such variable is counted.
        """
        names: set[str] = set()
        for node in statements:
            if node.kind == "local_variable_declaration":
                names |= {self.text(self.name_of(declarator)) for declarator in node.all("declarator")}
            elif node.kind in self.dialect.types:
                names.add(self.text(node.part("name")))
            else:
                names |= set(self.patterns(node))
        return frozenset(names)

    def assigned(self, node: Node) -> frozenset[int]:
        """The numbers of the variables that an expression or statement assigns."""
        targets = (
            self.scopes.binding(inner.children[0].unparenthesized)
            for inner in node.walk()
            if inner.kind in ("assignment_expression", "update_expression")
        )
        return frozenset(binding.number for binding in targets if binding is not None)

    # ── the ways of control ──────────────────────────────────────────────────────────────────────────────

    def leaves(self, node: Node) -> bool:
        """Whether control never comes to the end of a statement, as far as the text shows for certain."""
        return self.dialect.flow.completes(node, self.reading) is False

    def ends(self, node: Node) -> bool:
        """Whether control can come to the end of a statement for certain.

        More is known here than in `Flow.completes`: a condition that varies is no constant.
        """
        completes = self.dialect.flow.completes(node, self.reading)
        if completes is not None:
            return completes
        match node.kind:
            case "block" | "constructor_body":
                return all(self.ends(child) for child in node.children)
            case "while_statement" | "for_statement":
                condition = node.child("condition")
                return condition is not None and self.varies(condition)
            case "if_statement":
                return any(self.ends(node.part(field)) for field in ("consequence", "alternative"))
            case "labeled_statement" | "synchronized_statement":
                return self.ends(node.children[-1])
            case _:
                return False

    # ── questions that a language answers ────────────────────────────────────────────────────────────────

    @property
    def obstacle(self) -> str | None:
        """Why no rule may change this text, as a short reason to count; `None` if rules may."""
        return DISPUTED if self.reading.disputed else None

    @property
    def closed(self) -> str | None:
        """Why no new name may be declared; `None` if one may."""
        return None

    def type(self, node: Node) -> str | None:
        """The static type of an expression; `None` if the text does not determine it."""
        return None

    def type_of_variable(self, binding: Binding) -> str | None:
        """The type of a variable; `None` if the text does not determine it."""
        return None

    def is_plain_parameter(self, binding: Binding) -> bool:
        """Whether a parameter is a variable with a value, and nothing else."""
        return False

    def gives_nothing(self, function: Node) -> bool:
        """Whether a node is a function at whose end `return;` may stand."""
        return False

    def leaving(self, at: Node) -> str | None:
        """A `return` with some value that may stand before a statement; `None` if there is none."""
        return None

    def is_for_tool(self, comment: str) -> bool:
        """Whether a tool may read a comment, so that it must stay."""
        return self.dialect.for_a_tool.search(comment) is not None

    def spellings(self, node: Node) -> list[str]:
        """Other spellings of a number, of the same type and value."""
        return []

    def shared_head(self, declaration: Node) -> str | None:
        """The text before the first variable of a declaration; `None` if it does not hold for all of them."""
        return None

    def varies(self, node: Node) -> bool:
        """Whether an expression is certainly none that a compiler evaluates, on which reachability and the
        like depend."""
        return False

    def patterns(self, node: Node) -> list[str]:
        """The names of variables in a part of the text that are known only where a condition holds."""
        bindings = self.scopes.bindings
        return [local.name for local in bindings if local.start > 0 and node.start <= local.start < node.end]

    def binds(self, node: Node) -> bool:
        """Whether a variable may be known or set only under a condition, so that another condition may not
        compile."""
        return bool(self.patterns(node)) or any(part.kind == "assignment_expression" for part in node.walk())

    def is_inferred(self, node: Node) -> bool:
        """Whether a whole condition may have its type or value from its place alone, so that it must not
        become an operand."""
        return True

    def is_boolean(self, node: Node) -> bool:
        """Whether an operation gives a boolean, or only its truth is used: then `!` and `!` cancel out."""
        return False

    def has_opposite(self, node: Node) -> bool:
        """Whether of a comparison and the one with the opposite operator exactly one holds.

        Not so for `<` and `>=` where an operand may be NaN, nor where an operator may be overloaded.
        """
        return False

    def commutes(self, node: Node) -> str | None:
        """Why the operands of an operator in `Dialect.commuting` may have an order; `None` if they have
        none."""
        return UNKNOWN

    def is_unordered(self, node: Node) -> bool:
        """Whether nobody sees which operand of an operation is evaluated first."""
        return False

    def is_value(self, node: Node) -> bool:
        """Whether an identifier or number may be an operand: no name of a declaration, member or label."""
        return False

    def writes_out(self, target: Node, operator: str, value: Node) -> bool:
        """Whether `target op= value` means exactly `target = target op value`."""
        return False

    def contracts(self, target: Node, operator: str) -> bool:
        """Whether `target = target op value` means exactly `target op= value`."""
        return False

    def steps_by_one(self, node: Node) -> bool:
        """Whether `x++` and `++x` do the same where nobody uses the value."""
        return False

    def keep_their_types(self, first: Node, second: Node) -> bool:
        """Whether arms of `?:` are what they would be in a statement each."""
        return False

    def is_narrowed(self, target: Node | None, first: Node, last: Node) -> bool:
        """Whether two values are converted to their target (`None`: the result) one by one, and would not be
        as arms of `?:`."""
        return True

    def is_final(self, declaration: Node | None) -> bool:
        """Whether a declaration says that its variables are never assigned again."""
        return True

    def is_typed_by_value(self, declaration: Node) -> bool:
        """Whether a declaration needs a value to have a type: `var x = 1;`."""
        return True

    def may_be_unset(self, declaration: Node) -> bool:
        """Whether to declare a variable and to assign its value right behind is the same as to declare it
        with the value: no constructor runs, and it is no reference or constant."""
        return False

    @property
    def turns_share_variables(self) -> bool:
        """Whether a function that is made in a `for` sees one variable in all turns, not one for each."""
        return False

    def in_nameless_function(self, node: Node) -> bool:
        """Whether a `return` is that of a function whose type the text does not show."""
        return True

    def is_selector(self, node: Node) -> bool:
        """Whether an expression is one by which a `switch` can select as `==` compares, without failing."""
        return False

    def comparison(self, selector: Node, label: Node) -> tuple[Part, ...] | None:
        """The condition that holds where a `switch` jumps to a label; `None` if there is none."""
        return None

    def compared(self, node: Node) -> tuple[Node, Node] | None:
        """The selector and the constant that a condition compares as a `switch` would."""
        return None

    def constant(self, node: Node) -> int | str | None:
        """The value of a whole number, character or string that is spelt out; none of what has two
        spellings."""
        return None

    def fits_label(self, value: int | str | None, selector: Node) -> bool:
        """Whether a value may be a label of a `switch` by this selector."""
        return False


# ── rules ────────────────────────────────────────────────────────────────────────────────────────────────

T = TypeVar("T", bound=CodeText)
Find: TypeAlias = Callable[[T], Iterable[Site | Refused]]
"""What finds the sites of a rule in a text."""
Rewrite: TypeAlias = Callable[[T, Node], Site | Refused | None]
"""What a rule does at one node: a site, a refusal with its reason, or `None` where it is no candidate."""


def each(*kinds: str) -> Callable[[Rewrite[T]], Find[T]]:
    """Makes the `find` of a rule from what it does at one node of these kinds."""

    def finder(rewrite: Rewrite[T]) -> Find[T]:
        def find(code: T) -> Iterator[Site | Refused]:
            for node in code.nodes:
                if node.kind in kinds and (result := rewrite(code, node)) is not None:
                    yield result

        return find

    return finder


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeStrategy:
    """A rewriting that is written once. `TextRule.of` makes a language's transform of it."""

    name: str
    find: Find[CodeText]
    nothing: str
    """As in `SiteRule`, and so are the others."""
    kind: Kind = "preserving"
    proof: Proof = "analysis"
    needs: tuple[str, ...] = ()
    """The questions of `CodeText`, and the fields of `Dialect`, without which it finds nothing."""


def lacking(strategy: CodeStrategy, text: type[CodeText], dialect: Dialect) -> tuple[str, ...]:
    """What a language leaves open of what a strategy needs; empty if the strategy can be offered."""
    return tuple(
        name
        for name in strategy.needs
        if getattr(text, name, None) is getattr(CodeText, name, None) and not getattr(dialect, name, None)
    )


_SHARED: Final = (
    *("assignments", "branches", "conditions", "dead_code", "declarations", "layout", "literals", "logic"),
    *("loops", "operands", "switches"),
)
"""The modules of this package that hold strategies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRule(SiteRule):
    """A rule about one unit. A language gives it its reading of a text.

    Evidence is `parsed` if the proof is an equal syntax tree (without parentheses), else `analysis`.
    """

    @classmethod
    def of(cls, strategy: CodeStrategy) -> Self:
        """The transform of a language that follows a strategy."""
        return cls(
            name=strategy.name,
            find=strategy.find,
            nothing=strategy.nothing,
            kind=strategy.kind,
            proof=strategy.proof,
        )

    @classmethod
    def named(cls, name: str, *modules: str) -> Self:
        """The transform of a language that follows the strategy of this name, such as `DE_MORGAN`.

        `modules` are modules of the language with strategies, which come before the shared ones.

        Raises:
            AttributeError: there is no such strategy.
        """
        for module in (*modules, *(f"{__package__}.{shared}" for shared in _SHARED)):
            strategy = vars(import_module(module)).get(name)
            if isinstance(strategy, CodeStrategy):
                return cls.of(strategy)
        raise AttributeError(f"no strategy {name!r}")

    @abstractmethod
    def study(self, source: str) -> CodeText:
        """A text with what is known of it.

        Raises:
            SourceError: the text does not parse, or is not exactly one unit.
        """

    @abstractmethod
    def reread(self, text: str) -> ParsedText:
        """A result as the language reads it.

        Raises:
            SourceError: as in `study`.
        """

    def sites(self, source: str) -> Iterable[Site | Refused]:
        """The sites of the rule in a unit.

        Raises:
            SourceError: the source cannot be parsed, or is not one unit.
        """
        code = self.study(source)
        return self.find(code) if code.obstacle is None else (Refused(code.obstacle),)

    def rewritten(self, source: str, patches: Sequence[Patch]) -> Rewritten | Refused:
        """The patched text; refused if it is not a unit, or if its tree differs where it must be equal."""
        code = self.study(source)
        text = patched(_hardened(code), patches, shifted).decode()
        try:
            result = self.reread(text)
        except SourceError:
            return Refused(RESULT_NOT_PARSED)
        if result.disputed:
            return Refused(DISPUTED)
        if self.proof == "analysis":
            return Rewritten(source=text, evidence="analysis")
        if outline(result) != outline(code.reading):
            return Refused(OTHER_TREE)
        return Rewritten(source=text, evidence="parsed")


def _hardened(code: CodeText) -> bytes:
    """The text with the line breaks of literals marked, because their indentation is part of their value."""
    source = bytearray(code.source)
    for node in code.unit.walk():
        if code.is_multiline(node):
            piece = bytes(source[node.start : node.end])
            source[node.start : node.end] = piece.replace(b"\n", HARD)
    return bytes(source)
