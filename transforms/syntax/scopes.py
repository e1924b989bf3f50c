"""The variables of a text: which names are the same variable, and where they occur.

This is the referent relation of Renamer (Ankner et al., section 3): two occurrences are coreferential if they
belong to one `Binding`. A language subclasses `ScopeWalk` with a method `visit_KIND` for each kind of node
that declares names or opens a scope; all other nodes are walked through.

`renamed` is the proof of a renaming: the finished text is resolved again and compared. `respelled` resolves a
tree with other words at some places, without parsing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.patches import Edit, splice
from codeaudit.transforms.syntax.reader import Node, ParsedText

View: TypeAlias = Literal[
    "outer", "field", "parameter", "lambda", "local", "loop", "resource", "catch", "pattern", "label"
]
"""The view of a name. `outer`: bound outside of the unit; `field`: field of a class in the unit; `parameter`:
of a function; `lambda`: parameter of a function without a name; `loop`: variable of a loop over items.
"""

LOCAL_VIEWS: Final = frozenset({"parameter", "lambda", "local", "loop", "resource", "catch", "pattern"})
"""The views of variables that live in the frame of a function."""

Use: TypeAlias = Literal["declare", "read", "write", "update"]
"""`write`: by `=`; `update`: by `+=`, `++` and so on; `declare`: a declaration, with or without a value."""

HIDDEN: Final = "name may be a field of an unknown supertype"


class Occurrence(NamedTuple):
    """One occurrence of a variable's name."""

    start: int
    """Its first byte in the UTF-8 source, from 0."""
    end: int
    use: Use
    depth: int
    """The number of the class body or inner function that contains it; 0 for the unit itself."""


@dataclass(slots=True, eq=False)
class Binding:
    """One variable. It does not change after `resolve`."""

    number: int
    """Its index in `Scopes.bindings`, in the order of the walk."""
    name: str
    view: View
    owner: int
    """The number of the class body or inner function that declares it; 0 for the unit itself."""
    node: Node | None
    """The node that declares it, such as `formal_parameter` or `variable_declarator`; `None` for `outer`."""
    start: int
    """The first byte of its declaration; -1 for `outer`."""
    until: int
    """A byte behind its scope, usually the end of the block; beyond it the variable is certainly unknown."""
    doubt: str | None = None
    """Why some occurrence may mean something else, as a short reason to count; `None` if all are certain."""
    occurrences: list[Occurrence] = field(default_factory=list)
    """All occurrences, in the order of the walk, which is nearly the order of the text."""

    @property
    def captured(self) -> bool:
        """Whether a class or lambda inside its owner uses it."""
        return any(use.depth != self.owner for use in self.occurrences)


@dataclass(frozen=True, kw_only=True)
class Scopes:
    """A unit, or a whole text, with its variables."""

    reading: ParsedText
    unit: Node
    """The function; the root of a text that is resolved as a whole."""
    bindings: tuple[Binding, ...]
    """The variables, by number."""
    slots: tuple[int, ...]
    """The binding of every occurrence, in the order of a fixed walk of the tree."""
    spans: tuple[tuple[int, int], ...]
    """The bytes (start, end) of every occurrence, in the same order."""
    rules: "type[ScopeWalk]"
    """The rules of the language by which the names were resolved."""

    @cached_property
    def at(self) -> dict[int, Binding]:
        """The variable of each occurrence, by the first byte of the occurrence."""
        starts = (start for start, _ in self.spans)
        return {start: self.bindings[number] for start, number in zip(starts, self.slots, strict=True)}

    @cached_property
    def nodes(self) -> Sequence[Node]:
        """All nodes of the unit, in the order of the text."""
        return self.unit.nodes()

    def binding(self, node: Node) -> Binding | None:
        """The variable that an identifier names; `None` for other nodes and other names."""
        return self.at.get(node.start) if node.kind == "identifier" else None

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self.reading.text(node)


Introduced: TypeAlias = tuple[list[Binding], list[Binding]]
"""The variables that an expression introduces if it is true, and those if it is false."""


class ScopeFrame:
    """The names that are known in one region of the text, while the walk is inside it."""

    __slots__ = ("names", "opaque", "types", "until")

    def __init__(self, until: int, *, opaque: bool = False) -> None:
        self.names: dict[str, Binding] = {}
        self.types: dict[str, ScopeFrame | None] = {}
        """The bodies of the classes that the region declares; `None` for one that is not read yet, or that it
        inherits."""
        self.until = until
        self.opaque = opaque
        """Whether it may have names that the text does not show, such as inherited fields."""


class ScopeWalk:
    """One pass over a unit, in the order in which names become known. A language adds its rules."""

    _handlers: dict[str, Callable[[Any, Node], Introduced | None] | None]

    def __init_subclass__(cls) -> None:
        cls._handlers = {}

    def __init__(self, reading: ParsedText, unit: Node) -> None:
        self.reading = reading
        self.text: Callable[[Node], str] = reading.text
        self.unit = unit
        self.frames = [ScopeFrame(unit.end)]
        self.labels: list[Binding] = []
        self.bindings: list[Binding] = []
        self.outer: dict[str, Binding] = {}
        self.slots: list[int] = []
        self.spans: list[tuple[int, int]] = []
        self.types: set[str] = set()
        self.depth = 0
        self.deepest = 0

    def result(self) -> Scopes:
        """The variables of the unit."""
        self.start()
        return Scopes(
            reading=self.reading,
            unit=self.unit,
            bindings=tuple(self.bindings),
            slots=tuple(self.slots),
            spans=tuple(self.spans),
            rules=type(self),
        )

    def start(self) -> None:
        """Visit the unit."""
        self.visit(self.unit)

    # Names

    def declare(
        self, name: Node, view: View, node: Node, *, known: bool = True, doubt: str | None = None
    ) -> Binding | None:
        """Make a new variable. Without `known` the caller opens its scope."""
        text = self.text(name)
        if self.nameless(name, text):
            return None
        frame = self.frames[-1]
        binding = Binding(len(self.bindings), text, view, self.depth, node, name.start, frame.until, doubt)
        self.bindings.append(binding)
        self.note(binding, name, "declare")
        if known:
            frame.names[text] = binding
        return binding

    def nameless(self, name: Node, text: str) -> bool:
        """Whether what stands for a name makes no variable."""
        return False

    def note(self, binding: Binding, node: Node, use: Use) -> None:
        """Record an occurrence of a variable."""
        binding.occurrences.append(Occurrence(node.start, node.end, use, self.depth))
        self.slots.append(binding.number)
        self.spans.append((node.start, node.end))

    def find(self, name: str) -> Binding:
        """The variable that a name means at this place; a new `outer` variable if it is bound nowhere."""
        # Between the use and the variable there may be a class with inherited fields of the same name.
        hidden = False
        for frame in reversed(self.frames):
            binding = frame.names.get(name)
            if binding is not None:
                if hidden and binding.doubt is None:
                    binding.doubt = HIDDEN
                return binding
            hidden = hidden or frame.opaque
        binding = self.outer.get(name)
        if binding is None:
            binding = self.outer[name] = Binding(len(self.bindings), name, "outer", -1, None, -1, -1)
            self.bindings.append(binding)
        return binding

    def use(self, node: Node, use: Use) -> None:
        """Record an occurrence of the variable that a name means at this place."""
        self.note(self.find(self.text(node)), node, use)

    # The walk

    def visit(self, node: Node) -> Introduced | None:
        """Visit a node by the rule for its kind, or else its parts."""
        kind, handlers = node.kind, self._handlers
        if kind not in handlers:
            handlers[kind] = getattr(type(self), f"visit_{kind}", None)
        handler = handlers[kind]
        if handler is not None:
            return handler(self, node)
        for child in node.children:
            # Many leaves are no names; a call for each of them would cost more than all else.
            if child.children or handlers.get(child.kind, self) is not None:
                self.visit(child)
        return None

    def visit_all(self, nodes: Iterable[Node]) -> None:
        """Visit nodes in this order."""
        for node in nodes:
            self.visit(node)

    def inside(self, node: Node, bindings: Iterable[Binding] = ()) -> Introduced | None:
        """Visit a part in which these variables are known; names declared in it are unknown outside."""
        self.frames.append(ScopeFrame(self.frames[-1].until))
        self.know(bindings)
        introduced = self.visit(node)
        self.frames.pop()
        return introduced

    def know(self, bindings: Iterable[Binding]) -> None:
        """Make variables known in the region at hand."""
        names = self.frames[-1].names
        for binding in bindings:
            names[binding.name] = binding

    def enter_part(self) -> int:
        """Begin a class body or a function inside; returns the number of the enclosing one."""
        before = self.depth
        self.deepest += 1
        self.depth = self.deepest
        return before

    # What many languages share

    def visit_identifier(self, node: Node) -> None:
        """Visit a name that is read."""
        self.use(node, "read")

    def visit_block(self, node: Node) -> None:
        """Visit statements with a scope of their own."""
        self.frames.append(ScopeFrame(node.end))
        self.visit_all(node.children)
        self.frames.pop()

    def visit_assignment_expression(self, node: Node) -> None:
        """Visit an assignment."""
        left, right = node.children
        self.target(left, "write" if node.operator == "=" else "update")
        self.visit(right)

    def visit_update_expression(self, node: Node) -> None:
        """Visit `++` or `--`."""
        self.target(node.children[0], "update")

    def target(self, node: Node, use: Use) -> None:
        """Visit what is assigned to; only a name alone is written, of `a[i]` both names are read."""
        node = node.unparenthesized
        if node.kind == "identifier":
            self.use(node, use)
        else:
            self.visit(node)

    def visit_labeled_statement(self, node: Node) -> None:
        """Visit a label and its statement."""
        name, *statement = node.children
        label = Binding(len(self.bindings), self.text(name), "label", self.depth, node, name.start, node.end)
        self.bindings.append(label)
        self.note(label, name, "declare")
        self.labels.append(label)
        self.visit_all(statement)
        self.labels.pop()

    def visit_break_statement(self, node: Node) -> None:
        """Visit a jump, which may name a label."""
        for child in node.children:
            text = self.text(child)
            label = next((label for label in reversed(self.labels) if label.name == text), None)
            if label is not None:
                self.note(label, child, "read")

    visit_continue_statement = visit_break_statement


def resolved(rules: type[ScopeWalk], reading: ParsedText, unit: Node, noun: str) -> Scopes:
    """The variables of a unit by the rules of a language.

    Raises:
        SourceError: the text is nested too deeply; `noun` says what to give instead.
    """
    try:
        return rules(reading, unit).result()
    except RecursionError as error:
        raise SourceError(f"the text is nested too deeply; give a smaller {noun}") from error


# ── proofs ───────────────────────────────────────────────────────────────────────────────────────────────


def respelled(scopes: Scopes, words: Mapping[tuple[int, int], str]) -> Scopes:
    """The variables of the same tree with other words at these places, given by their first byte and the one
    behind them.

    All offsets stay those of the text as it was.
    """
    source = scopes.reading.source

    def text(node: Node) -> str:
        word = words.get((node.start, node.end))
        if word is not None or not node.children:
            return scopes.reading.text(node) if word is None else word
        begin = max(node.start, 0)
        edits = [
            Edit(start - begin, end - begin, word)
            for (start, end), word in words.items()
            if begin <= start and end <= node.end
        ]
        return splice(source[begin : node.end], edits).decode()

    walk = scopes.rules(scopes.reading, scopes.unit)
    walk.text = text
    try:
        return walk.result()
    except RecursionError as error:
        raise SourceError("the text is nested too deeply; give a smaller one") from error


def renamed(before: Scopes, after: Scopes, names: Mapping[int, str]) -> bool:
    """Whether `after` is `before` with exactly these variables renamed and all others as they were."""
    # Equal slots: at each place the two texts name the same variable, so no new name is captured.
    if before.slots != after.slots or len(before.bindings) != len(after.bindings):
        return False
    # `var` as a name may become a type: the trees show if the text is read in another way.
    if before.reading.shape != after.reading.shape:
        return False
    for old, new in zip(before.bindings, after.bindings, strict=True):
        if new.name != names.get(old.number, old.name) or (old.view, old.owner) != (new.view, new.owner):
            return False
        if new.doubt != old.doubt:
            return False  # a name that may mean an inherited field now
    same = before.reading is after.reading and before.spans == after.spans
    return (same or _gaps(before) == _gaps(after)) and not clashes(before.bindings, names)


def clashes(bindings: Iterable[Binding], names: Mapping[int, str]) -> bool:
    """Whether with these names two variables of different old names get one name in one block.

    A variable is assumed to be known from its declaration to the end of the block around it, and in the
    classes in between. This range is never too short, so a clash is never missed.
    """
    groups: dict[tuple[str, bool], list[Binding]] = {}
    keys: set[tuple[str, bool]] = set()
    for binding in bindings:
        if binding.view in ("outer", "field"):
            continue
        name = names.get(binding.number)
        # Labels have names of their own: `n: while (n > 0) …` is legal.
        key = (name or binding.name, binding.view == "label")
        if name is not None:
            keys.add(key)
        groups.setdefault(key, []).append(binding)
    return any(_meet(groups[key]) for key in keys)


def _meet(group: list[Binding]) -> bool:
    """Whether two variables of the group that have different old names have overlapping ranges."""
    for place, one in enumerate(group):
        for other in group[place + 1 :]:
            first, second = (one, other) if one.start <= other.start else (other, one)
            if one.name != other.name and second.start < first.until:
                return True
    return False


def _gaps(scopes: Scopes) -> list[bytes]:
    """The text between all names of variables."""
    source = scopes.reading.source
    gaps, done = list[bytes](), 0
    for start, end in sorted(scopes.spans):
        gaps.append(source[done:start])
        done = end
    gaps.append(source[done:])
    return gaps
