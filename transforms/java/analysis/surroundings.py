"""What the text around a method shows of its class: the types of its fields, and what its own methods do.

A fact is used only where Java can mean nothing else:

- A field that a class declares hides every field of that name that the class inherits, or that stands around.
- A call means a method of the innermost class that has one of that name. If the class names no supertype,
  the text shows all methods of that name. Otherwise it means the declared method whose parameters have
  exactly the types of the arguments: no inherited method goes before that one (JLS 15.12.2.5).
- The body of a private, static or final method, or of a method of a final class, is the code that runs.
- To create an object of a class that names no supertype runs its constructor and the values of its fields. If
  these only store arguments and literals in fields of the new object, nobody sees it.
- The class of a running method is initialised, or is being initialised by this thread, so a call of its own
  static method initialises nothing. That holds for the class around it, too, if an object of that one is
  needed; a nested static class can run before the class around it is initialised.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from codeaudit.transforms.dependence.effects import RAISES, Effects
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.java.analysis.library import HOMES, PRIMITIVES
from codeaudit.transforms.java.files import INSERTED, mentions, misread, rebound
from codeaudit.transforms.java.parsing import BODIES, TYPES, callables, read_file
from codeaudit.transforms.remembering import FILES
from codeaudit.transforms.syntax.reader import Node, ParsedText

Summarise: TypeAlias = "Callable[[str, OwnClass], Effects | None]"
"""Gives the effects that a call of a method has, by its text; `None` if it may do anything."""

_BLANKS: Final = re.compile(rb"\s+")
_PRIMITIVE_TYPES: Final = frozenset({"integral_type", "floating_point_type", "boolean_type"})
_LITERALS: Final = frozenset(
    {"decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal",
     "decimal_floating_point_literal", "character_literal", "null_literal", "true", "false", "string_literal"}
)  # fmt: skip
_OF_OBJECTS: Final = frozenset(
    {"clone", "compareTo", "describeConstable", "equals", "finalize", "getClass", "getDeclaringClass",
     "hashCode", "name", "notify", "notifyAll", "ordinal", "toString", "valueOf", "values", "wait"}
)  # fmt: skip
"""The methods that a class has although it names no supertype."""


@dataclass(frozen=True, slots=True)
class OwnMethod:
    """A method that a class declares."""

    start: int
    """Its first byte in the file."""
    text: str
    """Its text, if `runs`."""
    calls: tuple[str, ...]
    """The names of the methods that it calls, if `runs`."""
    parameters: tuple[str | None, ...]
    """The types of its parameters; `None` for an unknown one."""
    written: tuple[str | None, ...]
    """The names of these types, whatever they mean; `None` for a type with arguments and a type parameter."""
    result: str | None
    """The type of its result; `None` if unknown."""
    runs: bool
    """Whether a call that means this method certainly runs this body, and nothing else."""
    varies: bool
    """Whether it takes any number of arguments."""


class OwnClass:
    """A class with what its text shows. A text of members alone is a class with unknown supertypes.

    It keeps no nodes: the trees of many files would not fit into memory, and a run meets functions of one
    file far apart.
    """

    def __init__(self, file: "_FileReader", node: Node, called: "_CalledMethods") -> None:
        self._called = called
        self._final = _is_final(node)
        self.closed = node.kind in TYPES and not any(
            child.kind in ("superclass", "super_interfaces", "extends_interfaces") for child in node.children
        )
        """Whether the class names no supertype."""
        self.fields: dict[str, str | None] = {}
        """The types of the fields that it declares; `None` for an unknown type."""
        self._methods: dict[str, list[OwnMethod]] = {}
        modifiers = node.first("modifiers")
        above = file.type_around(node) if node.kind == "class_declaration" else None
        self._inner = (
            above is not None
            and above.kind in ("class_declaration", "enum_declaration", "record_declaration")
            and not (modifiers is not None and modifiers.has("static"))
        )
        """Whether every object of the class belongs to an object of the class around it."""
        self._around = file.around(node) if self.closed else None
        """The class around this one, if no supertype of this one has members that hide those."""
        named = node.child("name")
        self._name = file.text(named) if named is not None else None
        self.variables = _type_parameters(file, node)
        """The names in its type parameters."""
        if node.kind == "record_declaration":
            for parameter in node.part("parameters").children:
                if (name := parameter.child("name")) is not None:
                    self.fields[file.text(name)] = file.type_of(
                        parameter.child("type"), parameter.child("dimensions")
                    )
        for member in _members(node):
            if member.kind in ("field_declaration", "constant_declaration"):
                for declarator in member.all("declarator"):
                    kind = file.type_of(member.child("type"), declarator.child("dimensions"))
                    self.fields[file.text(declarator.part("name"))] = kind
            elif member.kind == "enum_constant":
                self.fields[file.text(member.part("name"))] = None
            elif member.kind == "method_declaration":
                method = file.text(member.part("name"))
                self._methods.setdefault(method, []).append(self._method(file, member))
        self._constructors = None if "finalize" in self._methods else file.constructors(node, self.closed)

    def _method(self, file: "_FileReader", node: Node) -> OwnMethod:
        variables = _type_parameters(file, node)
        parameters = [
            child for child in node.part("parameters").children if child.kind != "receiver_parameter"
        ]
        kinds = [
            file.type_of(parameter.child("type"), parameter.child("dimensions"), variables)
            for parameter in parameters
        ]
        names = [_written(file, parameter, variables | self.variables) for parameter in parameters]
        modifiers = node.first("modifiers")
        words = {word for word, _, _ in modifiers.tokens} if modifiers else set()
        runs = (
            node.child("body") is not None
            and not words & {"synchronized", "native", "abstract"}
            and (self._final or bool(words & {"private", "static", "final"}))
            and not file.is_strange(node)
        )
        called = [inner for inner in node.walk() if inner.kind == "method_invocation"] if runs else []
        return OwnMethod(
            node.start,
            file.text(node) if runs else "",
            tuple(dict.fromkeys(file.text(call.part("name")) for call in called)),
            tuple(kinds),
            tuple(names),
            # The caller decides what a type parameter means: `<T> T f()` may give an Integer.
            file.type_of(node.child("type"), node.child("dimensions"), variables),
            runs,
            any(parameter.kind == "spread_parameter" for parameter in parameters),
        )

    def field(self, name: str) -> str | None:
        """The type of the field that a name alone means; `None` if it is unknown."""
        owner = self._declaring(name)
        return None if owner is None else owner.fields[name]

    def declares(self, name: str) -> bool:
        """Whether the text declares the field that a name alone means, in the class or in one around it."""
        return self._declaring(name) is not None

    def _declaring(self, name: str) -> "OwnClass | None":
        owner: OwnClass | None = self
        while owner is not None and name not in owner.fields:
            owner = owner._around
        return owner

    def named_in(self, method: OwnMethod) -> Iterator[OwnMethod]:
        """The methods of the class whose name stands in a method as that of a called one."""
        for name in method.calls:
            yield from self._methods.get(name, ())

    def called(
        self, name: str, kinds: Sequence[str | None], *, here: bool = False
    ) -> Sequence[tuple[OwnMethod, Effects]]:
        """The methods that a call may run, with what it does; empty if the text does not show them.

        Args:
            name: the name of the method; it stands alone, or behind `this`.
            kinds: the types of the arguments; `None` for an unknown one.
            here: the method is one of this class, not of a class around.
        """
        owner: OwnClass | None = self
        while owner is not None and name not in owner._methods:
            owner = owner._around if owner._inner and not here and name not in _OF_OBJECTS else None
        if owner is None or name in _OF_OBJECTS:
            return ()
        same = owner._methods[name]
        if any(method.varies for method in same):
            return ()
        fitting = [method for method in same if len(method.parameters) == len(kinds)]
        exact = [method for method in fitting if None not in kinds and method.written == tuple(kinds)]
        if len(exact) == 1:
            fitting = exact
        elif not owner.closed:
            return ()
        pairs = []
        for method in fitting:
            effects = owner._called.effects(method, owner)
            if effects is None:
                return ()
            pairs.append((method, effects))
        return pairs

    def makes(self, name: str, kinds: Sequence[str | None]) -> int | None:
        """What `new name(…)` in a method of this very class does; `None` if it may do anything.

        Args:
            name: the simple name of the created class.
            kinds: the types of the arguments; `None` for an unknown one.
        """
        if self._name != name or self._constructors is None:
            return None
        # A null that is unboxed raises, and a value of an unknown type may be cast.
        unboxes = any(
            kind is None or (primitive and kind not in PRIMITIVES)
            for parameters in self._constructors
            if len(parameters) == len(kinds)
            for primitive, kind in zip(parameters, kinds, strict=True)
        )
        return RAISES if unboxes else 0


class _CalledMethods:
    """The effects of the methods of a file that were asked for."""

    def __init__(self, summarise: Summarise) -> None:
        self._summarise = summarise
        self._effects: dict[int, Effects | None] = {}
        self._open: set[int] = set()

    def effects(self, method: OwnMethod, owner: OwnClass) -> Effects | None:
        """What a call of a method does beside giving its result; `None` if it may do anything."""
        # What it calls comes first, so that a long chain of methods does not nest as deep as it is long.
        pending, seen = [method], set()
        while pending and not self._open:
            current = pending[-1]
            if current.start in seen or not current.runs:
                self._own_effects(pending.pop(), owner)
                continue
            seen.add(current.start)
            pending += [other for other in owner.named_in(current) if other.start not in seen]
        return self._own_effects(method, owner)

    def _own_effects(self, method: OwnMethod, owner: OwnClass) -> Effects | None:
        place = method.start
        if not method.runs or place in self._open:
            return None  # a method that calls itself does more than its text shows
        if place not in self._effects:
            self._open.add(place)
            try:
                self._effects[place] = self._summarise(method.text, owner)
            except (SourceError, RecursionError):
                self._effects[place] = None
            finally:
                self._open.discard(place)
        return self._effects[place]


class _FileReader:
    """Reads the classes of a text from its tree."""

    def __init__(self, reading: ParsedText, summarise: Summarise) -> None:
        self.reading = reading
        self.text = reading.text
        self._called = _CalledMethods(summarise)
        self._rebound = rebound(reading)
        # A file beside this one may declare a type with a well-known name, which this text does not show.
        # If it declares one of those that transforms insert, no method of this text is rewritten at all.
        self._unclear = (HOMES.keys() - set(INSERTED)) | self._rebound
        self._classes: dict[int, OwnClass] = {}

    def classes(self) -> Mapping[bytes, OwnClass | None]:
        """The class that declares a method, by the words of the method; `None` if several have the same."""
        classes: dict[bytes, OwnClass | None] = {}
        for node in callables(self.reading):
            words = _words(self.reading.source[node.start : node.end])
            classes[words] = None if words in classes else self.around(node)
        return classes

    def is_strange(self, method: Node) -> bool:
        """Whether a method may mean something else than its text says."""
        return self.reading.is_disputed(method) or mentions(self.reading, method, self._rebound)

    def around(self, node: Node) -> OwnClass | None:
        """The innermost class around a node."""
        for above in node.ancestors():
            if above.kind == "enum_constant":
                return None  # its members belong to a class without a name
            if above is self.reading.root and above.kind != "class_body":
                return None
            if above.kind in TYPES or above is self.reading.root:
                class_ = self._classes.get(above.start)
                if class_ is None:
                    class_ = self._classes[above.start] = OwnClass(self, above, self._called)
                return class_
        return None

    def type_around(self, node: Node) -> Node | None:
        """The declaration of the type around a node; `None` if the text does not show it."""
        for above in node.ancestors():
            if above is self.reading.root:
                return None
            if above.kind in TYPES:
                return above
        return None

    def type_of(
        self, node: Node | None, dimensions: Node | None, unclear: Set[str] = frozenset()
    ) -> str | None:
        """The simple name of a type, with `[]` for arrays; `None` if it may mean another type elsewhere."""
        extra = self.text(dimensions).count("[") if dimensions else 0
        while node is not None and node.kind in ("generic_type", "annotated_type", "array_type"):
            if node.kind == "array_type":
                extra += self.text(node.part("dimensions")).count("[")
                node = node.child("element")
            else:
                node = next((child for child in node.children if not child.kind.endswith("annotation")), None)
        if node is None or node.kind == "scoped_type_identifier":
            return None
        name = self.text(node)
        return None if name in self._unclear or name in unclear else name + "[]" * extra

    def constructors(self, node: Node, closed: bool) -> Sequence[Sequence[bool]] | None:
        """For each constructor of a class whether its parameters are primitive; `None` if one may do
        anything. `closed`: whether the class names no supertype."""
        if not closed or node.kind not in ("class_declaration", "record_declaration"):
            return None
        if self.reading.is_disputed(node):
            return None
        constructors = []
        fields: dict[str, bool] = {}
        for member in _members(node):
            modifiers = member.first("modifiers")
            static = modifiers is not None and modifiers.has("static")
            if member.kind == "block" or member.kind == "compact_constructor_declaration":
                return None
            if member.kind == "field_declaration" and not static:
                for declarator in member.all("declarator"):
                    value = declarator.child("value")
                    if value is not None and value.kind not in _LITERALS:
                        return None
                    fields[self.text(declarator.part("name"))] = _is_primitive(member, declarator)
            elif member.kind == "constructor_declaration":
                constructors.append(member)
        if node.kind == "record_declaration":
            if constructors:
                return None
            constructors = [node]
        elif not all(self._only_stores(constructor, fields) for constructor in constructors):
            return None
        parameters = [constructor.part("parameters").children for constructor in constructors]
        if any(parameter.kind != "formal_parameter" for many in parameters for parameter in many):
            return None
        return [tuple(map(_is_primitive, many)) for many in parameters]

    def _only_stores(self, constructor: Node, fields: Mapping[str, bool]) -> bool:
        """Whether a constructor only stores parameters and literals in fields of its object.

        `fields` are these fields, with whether each is primitive.
        """
        text = self.text
        parameters = {
            text(parameter.part("name")): _is_primitive(parameter)
            for parameter in constructor.part("parameters").children
            if parameter.kind == "formal_parameter"
        }
        for statement in constructor.part("body").children:
            if statement.kind == "explicit_constructor_invocation" and text(statement) == "super();":
                continue
            stored = statement.children[0] if statement.kind == "expression_statement" else statement
            if stored.kind != "assignment_expression" or stored.operator != "=":
                return False
            target, right = text(stored.part("left")), stored.part("right")
            # A parameter hides the field of its name.
            name = target.removeprefix("this.") if target not in parameters else None
            if name is None or name not in fields:
                return False
            # A box that is stored as a number is unboxed.
            fits = right.kind in _LITERALS or (
                right.kind == "identifier"
                and text(right) in parameters
                and (parameters[text(right)] or not fields[name])
            )
            if not fits:
                return False
        return True


@lru_cache(maxsize=FILES)
def _classes(text: str, summarise: Summarise) -> Mapping[bytes, OwnClass | None]:
    try:
        reading = read_file(text)
    except SourceError:
        return {}
    return {} if misread(reading, text) else _FileReader(reading, summarise).classes()


def own_class(source: str, around: str, summarise: Summarise) -> OwnClass | None:
    """The class of a method, as far as the text around shows it; `None` if it does not."""
    return _classes(around, summarise).get(_words(source.encode())) if around else None


def _is_primitive(declared: Node, declarator: Node | None = None) -> bool:
    """Whether a declaration is one of a primitive value; an array is none."""
    kind = declared.child("type")
    arrays = (declarator or declared).child("dimensions") is not None
    return kind is not None and kind.kind in _PRIMITIVE_TYPES and not arrays


def _words(source: bytes) -> bytes:
    """A text without blanks: a sample has another indentation than its file."""
    return _BLANKS.sub(b"", source)


def _members(node: Node) -> Iterator[Node]:
    body = node if node.kind == "class_body" else node.child("body")
    for member in body.children if body else ():
        if member.kind == "enum_body_declarations":
            yield from member.children
        else:
            yield member


def _is_final(node: Node) -> bool:
    """Whether a class has no subclasses."""
    modifiers = node.first("modifiers")
    if node.kind == "enum_declaration":
        body = node.child("body")
        return body is not None and not any(
            member.kind == "enum_constant" and member.child("body") is not None for member in body.children
        )
    return node.kind == "record_declaration" or (modifiers is not None and modifiers.has("final"))


def _type_parameters(file: "_FileReader", node: Node) -> frozenset[str]:
    """The names in the type parameters of a class or method."""
    return frozenset(
        file.text(name)
        for child in node.children
        if child.kind == "type_parameters"
        for name in child.walk()
        if name.kind == "type_identifier"
    )


def _written(file: "_FileReader", parameter: Node, variables: Set[str]) -> str | None:
    """The name of the type of a parameter, as `Facts.type_of` gives it for an argument."""
    kind, dimensions = parameter.child("type"), parameter.child("dimensions")
    if kind is None or any(inner.kind.endswith(("arguments", "annotation")) for inner in kind.walk()):
        return None
    name = "".join(file.text(kind).split()) + "".join(file.text(dimensions).split() if dimensions else ())
    return None if name.partition("[")[0] in variables else name


def in_own_class(node: Node, unit: Node) -> bool:
    """Whether a node of a method belongs to the class of the method, not to a class within the method."""
    for above in node.ancestors():
        if above is unit:
            return True
        if above.kind in BODIES:
            return False
    return False
