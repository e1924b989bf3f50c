"""Effects on typed places: what a statement reads and writes.

`EffectCollector` collects the effects of the expressions of one statement. A language subclasses it with a
method `_KIND` for each kind of expression; what has none may do anything. `dependence.effects` makes the
conflict relation of the effects.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from codeaudit.transforms.dependence.effects import ANYTHING, LOOKS_UP, STORES
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import Binding, Scopes

PlaceKind: TypeAlias = Literal[
    "variable", "declaration", "doubt", "field", "element", "contents", "narrowing"
]


class StatePlace(NamedTuple):
    """A part of a program's state that statements read and write. Two places are apart if they differ."""

    kind: PlaceKind
    """`variable`: of the unit. `declaration`: where a name is declared, so that no use of the name moves past
    it. `doubt`: a name that may mean several variables. `field`: of any object. `element`: of any array.
    `contents`: of a container. `narrowing`: what a compiler knows of a name behind a test."""
    key: int | str
    """The number of the variable, also of the one that holds a container that nobody else reaches; the name;
    the type of the elements. Empty for what has no more to tell it by."""


OUTSIDE: Final = ("outer", "field")
"""The views of variables that are no variables of the unit."""


class ScopeFacts:
    """The variables of one unit, as the effects ask for them."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self.reading = scopes.reading
        self.source = scopes.reading.source
        self.text = scopes.text
        self._starts = sorted(scopes.at)
        named: dict[str, int] = {}
        self.doubtful: set[str] = set()
        """Names with an occurrence that may mean another variable."""
        for binding in scopes.bindings:
            if binding.view != "label":
                named[binding.name] = named.get(binding.name, 0) + 1
                if binding.doubt:
                    self.doubtful.add(binding.name)
        self.shared = {name for name, count in named.items() if count > 1}
        """Names that several variables have."""
        self._places: dict[int, StatePlace] = {}
        self.nests = False
        """Whether the unit contains a function or a class."""

    def binding(self, node: Node) -> Binding | None:
        """The variable that an identifier means."""
        return self.scopes.at.get(node.start)

    def place(self, binding: Binding) -> StatePlace:
        """The place of a variable. Variables that may be confused share one place."""
        place = self._places.get(binding.number)
        if place is None:
            if binding.name in self.doubtful:
                # In a class with an unknown supertype `x` may be an inherited field or the local around it.
                place = StatePlace("doubt", binding.name)
            elif binding.view in OUTSIDE:
                place = StatePlace("field", binding.name)
            else:
                place = StatePlace("variable", binding.number)
            self._places[binding.number] = place
        return place

    def inside(self, start: int, end: int) -> Sequence[tuple[int, Binding]]:
        """Every occurrence in a range of bytes, as (first byte, variable)."""
        starts, at = self._starts, self.scopes.at
        first = bisect_left(starts, start)
        return [(place, at[place]) for place in starts[first : bisect_left(starts, end, first)]]


class EffectCollector:
    """Collects the effects of the expressions of one statement."""

    __slots__ = ("flags", "guard", "names", "reads", "writes")

    def __init__(self, names: ScopeFacts, guard: int = -1) -> None:
        self.names = names
        self.guard = guard
        """The first byte of the `try` whose handlers see the effects before an exception; -1 without one."""
        self.reads: set[StatePlace] = set()
        self.writes: set[StatePlace] = set()
        self.flags = 0

    def named(self, binding: Binding) -> None:
        """Record that a name is mentioned: a declaration of the same name must not move before it."""
        if binding.name in self.names.shared:
            self.reads.add(StatePlace("declaration", binding.name))

    def read(self, binding: Binding) -> None:
        """Record that the value of a variable is read."""
        self.named(binding)
        place = self.names.place(binding)
        self.reads.add(place)
        if binding.view in OUTSIDE:
            self.flags |= LOOKS_UP
            if place.kind == "doubt":
                self.reads.add(StatePlace("field", binding.name))

    def write(self, binding: Binding) -> None:
        """Record that a variable gets a value."""
        self.named(binding)
        place = self.names.place(binding)
        self.writes.add(place)
        if binding.view in OUTSIDE:
            self.flags |= STORES
            if place.kind == "doubt":
                self.writes.add(StatePlace("field", binding.name))
        elif binding.start < self.guard:
            # `int n = 0; try { n = 1; f(); } catch (E e) { g(n); }`: the handler sees how far the body came.
            self.flags |= STORES

    def declare(self, binding: Binding, *, inner: bool = False) -> None:
        """Record a declaration. With `inner` its scope is inside the statement, else the rest of the
        block.
        """
        self.writes.add(self.names.place(binding))
        if inner:
            self.named(binding)
        elif binding.name in self.names.shared:
            self.writes.add(StatePlace("declaration", binding.name))

    def declare_inside(self, start: int, end: int, *, inner: bool = False) -> None:
        """Record all declarations in a range of bytes."""
        for _, binding in self.names.inside(start, end):
            if start <= binding.start < end:
                self.declare(binding, inner=inner)

    def anything(self, node: Node) -> None:
        """Collect a part of unknown kind: it may do anything, also with the variables in it."""
        self.flags |= ANYTHING
        self.captured(node, runs=True)

    def captured(self, node: Node, *, runs: bool = False) -> None:
        """Record the variables that a part takes from outside; with `runs` its writes count, too."""
        names = self.names
        for start, binding in names.inside(node.start, node.end):
            if binding.view == "label":
                continue
            self.named(binding)
            if node.start <= binding.start < node.end:
                continue  # its own
            if binding.view in OUTSIDE:
                if binding.name in names.doubtful:
                    self.reads.add(self.names.place(binding))
                continue
            self.reads.add(self.names.place(binding))
            if runs and any(use.start == start and use.use != "read" for use in binding.occurrences):
                self.write(binding)

    def condition(self, node: Node) -> None:
        """Collect an expression that is used as a condition."""
        self.visit(node)

    def visit(self, node: Node) -> object:
        """Collect the effects of an expression. A language may return what it knows of the value."""
        self.anything(node)
        return None
