"""What a text shows of its classes: which methods and attributes act when somebody looks at an object.

No types are known. If one class has a property `size` that acts, then `x.size` acts, whatever `x` is. If one
class has a method of the data model that acts, such as `__eq__`, then every other look at a foreign object
acts. A method only looks if the analysis shows it of its body; a body that calls unknown code acts. So does
what an unknown decorator makes.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import Any, Final

from codeaudit.transforms.dependence.effects import ACTS, BARRIER, RAISES, STORES
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis.builder import PythonProgramBuilder
from codeaudit.transforms.python.analysis.capabilities import (
    ANY_NAME,
    FILE,
    METACLASSES,
    STATES,
    namespaces_in,
    patched_in,
    removed_names,
)
from codeaudit.transforms.python.analysis.classes import (
    HOMES,
    PLAIN_BASES,
    PLAIN_DECORATORS,
    PLAIN_VALUES,
    TextBindings,
    bases_of,
    called_name,
    imports_of,
    own_statements,
)
from codeaudit.transforms.python.analysis.facts import bound_by, bound_names, own_nodes, stored_names
from codeaudit.transforms.python.analysis.functions import body_flags
from codeaudit.transforms.python.analysis.index import TextIndex, index_in, index_of, text_of
from codeaudit.transforms.python.analysis.looks import (
    CALLED,
    CLASS_OF,
    METHODS,
    READING,
    RUN_BY_LOOKS,
    STORING,
    Bindings,
    NoBindings,
    PlainAttributes,
    QuietFunction,
    ShownLooks,
)
from codeaudit.transforms.python.function_context import rebound_in, rebound_names
from codeaudit.transforms.python.parsing import FunctionNode, dotted, file_tree, last_name, parameter_names
from codeaudit.transforms.python.walking import HOLDERS, below, reached
from codeaudit.transforms.remembering import Plain, digest, fact

_REMOVED: Final = re.compile(r"\bdel\b|delattr|globals|vars|locals|__dict__")
"""A text without this deletes no global and no attribute."""
_HINT: Final = re.compile(
    r"^[ \t\f]*class\b|__\w+__|@|property|\b[dD]efault[dD]ict\b|\bcls\b|\btype\([^)\n]*,"
    r"|new_class|PropertyMock|\bvars\b",
    re.MULTILINE,
)
"""What stands in every text that shows anything."""
_HINTS: Final = ("class", "__", "@", "property", "efault", "cls", "type(", "PropertyMock", "vars")
"""One of these stands in what `_HINT` finds."""
_WRAPPER: Final = "class _:\n"
_PLAIN_DECORATORS: Final = frozenset({"staticmethod", "classmethod"})
"""They make nothing that runs the function when it is read as an attribute; neither does `abstractmethod`."""
_PROPERTIES: Final = frozenset({"property", "cached_property", "abstractproperty"})
_DEFAULTING: Final = frozenset({"defaultdict", "DefaultDict"})
"""Names of classes whose `__missing__` calls a function."""
_PART: Final = re.compile(r"(?!__\w+__$)\S*__\S*")
"""A text of which the name of a method may be made: `f"__{name}__"`, `"__%s__" % name`."""
_FILLING: Final = frozenset({"new_class", "PropertyMock"})
"""Names of functions that make a class, or what is put into one under a computed name."""
_ASKING_CLASSES: Final = frozenset({"isinstance", "issubclass", "super", "hasattr", "getattr", "cast", "id"})
"""Functions that change no class."""
_ASKING: Final = frozenset({"hasattr", "getattr", "isinstance", "issubclass"})
_KEEPING_STORES: Final = PLAIN_DECORATORS | {"dataclass", "unique"}
"""Decorators of classes after which storing an attribute still runs no code."""
_NAMESPACES: Final = frozenset({"__dict__", "vars"})
"""What gives the attributes of an object in the order in which they were first stored."""
ANY_ATTRIBUTE: Final = "__getattribute__"
_ANY_METHOD: Final = "__eq__"
_ATTACHED: Final = METHODS - {"__class__"}
"""Methods that a store to an attribute may give a class; `x.__class__ = C` makes `x` one of another class."""


@dataclass(slots=True)
class _Definition:
    """One method or attribute that runs code when somebody looks."""

    bodies: list[FunctionNode] = field(default_factory=list)
    runs: set[str] = field(default_factory=set)
    """Names of functions, methods and attributes of the text that it may run, too."""
    calls: list[ast.Call] = field(default_factory=list)
    """Calls that give the value, or a part of it."""
    unknown: bool = False
    """Whether it may run anything."""

    def mention(self, parts: Iterable[ast.AST]) -> None:
        """These nodes are of what it may run."""
        for part in parts:
            match part:
                case ast.Lambda():
                    self.bodies.append(_function(part))
                case ast.Call():
                    self.calls.append(part)
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                    self.runs.add(name)

    def add(self, other: "_Definition") -> None:
        """What another one may run, this one may run."""
        self.bodies += other.bodies
        self.runs |= other.runs
        self.calls += other.calls

    def note_objects(self, values: Mapping[str, Sequence[ast.expr]]) -> None:
        """If one of the calls may be of an object, its `__call__` runs."""
        # `make()`, where `make = Maker()`
        if any(call.func.id in values for call in self.calls if isinstance(call.func, ast.Name)) or any(
            not isinstance(call.func, ast.Name | ast.Attribute) for call in self.calls
        ):
            self.runs.add("__call__")


def _singles(
    target: ast.expr, value: ast.expr | None
) -> Iterator[tuple[ast.Name | ast.Attribute, ast.expr | None]]:
    """The names and attributes in a target, each with what it gets; `None` for a part of an unknown value."""
    match target:
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            items: Sequence[ast.expr | None] = value.elts if isinstance(value, ast.Tuple | ast.List) else ()
            paired = len(items) == len(targets) and not any(
                isinstance(element, ast.Starred) for element in (*targets, *items)
            )
            # The items of a text are texts.
            parts = items if paired else [value if isinstance(value, ast.Constant) else None] * len(targets)
            for nested, part in zip(targets, parts, strict=True):
                yield from _singles(nested, part)
        case ast.Starred(value=inner):
            yield from _singles(inner, None)
        case ast.Name() | ast.Attribute():
            yield target, value
        case _:
            pass


def shown_looks(source: str, tree: ast.Module) -> ShownLooks:
    """What a text shows; `tree` must be its syntax tree."""
    return _looks(source, tree, lambda: index_in(tree))


def _looks(source: str, tree: ast.Module, walked: Callable[[], TextIndex]) -> ShownLooks:
    rebound = rebound_in(source, tree, walked)
    start = len(_WRAPPER) if source.startswith(_WRAPPER) else 0
    # Looking for plain text first saves most searches.
    if any(map(source.__contains__, _HINTS)) and _HINT.search(source, start) is not None:
        looks = _Text(source, walked(), rebound).looks()
    else:
        looks = ShownLooks(rebound=rebound)
        # Only a text of several statements binds names for its functions.
        if len(tree.body) > 1:
            looks = replace(looks, bindings=TextBindings(source, walked(), looks))
    return replace(looks, removed=frozenset(removed_names(walked()))) if _REMOVED.search(source) else looks


@lru_cache(maxsize=1024)
def looks_around(text: str) -> ShownLooks:
    """What the text of a file shows; little if it does not parse. No tree is kept with the answer."""
    stored = fact(text, "looks", lambda: _stored_looks(_file_looks(text)))
    values: dict[str, Any] = {
        name: frozenset(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    bindings = _Remembered(text) if values.pop("bindings") else NoBindings()
    return ShownLooks(**values, bindings=bindings)


def _stored_looks(looks: ShownLooks) -> dict[str, Plain]:
    """All that is shown; of the bindings, whether there are any."""
    stored = {entry.name: getattr(looks, entry.name) for entry in fields(looks)}
    stored["bindings"] = not isinstance(looks.bindings, NoBindings)
    return {name: [*value] if isinstance(value, frozenset) else value for name, value in stored.items()}


@lru_cache(maxsize=2)
def _file_looks(text: str) -> ShownLooks:
    try:
        return _looks(text, file_tree(text), lambda: index_of(text))
    except (SourceError, RecursionError, MemoryError):
        return ShownLooks(rebound=rebound_names(text))


class _Remembered:
    """What the names of a file stand for, as far as it was asked. A new question reads the file again."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._called: dict[str, QuietFunction | None] = {}
        self._receivers: dict[str, Sequence[PlainAttributes]] = {}

    @property
    def _bindings(self) -> Bindings:
        return _file_looks(self._text).bindings

    @cached_property
    def imports(self) -> Mapping[str, str]:
        """As in `looks.Bindings`."""
        return dict(fact(self._text, "imports", lambda: dict(self._bindings.imports)))

    @cached_property
    def _functions(self) -> Mapping[str, int]:
        """How many functions of the file have each name."""
        counts: Mapping[str, int] = fact(
            self._text, "functions", lambda: Counter(node.name for node in index_of(self._text).functions)
        )
        return counts

    def called(self, name: str) -> QuietFunction | None:
        """As in `looks.Bindings`."""
        if name not in self._functions:
            return None
        if name not in self._called:
            stored = fact(self._text, f"called {name}", lambda: self._bindings.called(name))
            self._called[name] = stored and QuietFunction(*stored)
        return self._called[name]

    def of_receiver(self, function: FunctionNode) -> Sequence[PlainAttributes]:
        """As in `looks.Bindings`."""
        count = self._functions.get(function.name)
        if not count:
            return ()
        # Of several functions with one name, the text tells which one is meant.
        key = function.name if count == 1 else digest(ast.dump(function))
        if key not in self._receivers:
            stored = fact(
                self._text,
                f"receiver {key}",
                lambda: [([*plain.bound], plain.slots) for plain in self._bindings.of_receiver(function)],
            )
            self._receivers[key] = [PlainAttributes(frozenset(bound), slots) for bound, slots in stored]
        return self._receivers[key]


class _Text:
    """The definitions of a text."""

    def __init__(self, source: str, nodes: TextIndex, rebound: frozenset[str]) -> None:
        self._source = source
        self._own_rebound: Final = rebound
        self._rebound = rebound
        self._classes: set[str] = {"cls"}
        self._properties: set[str] = set(_PROPERTIES)
        """Names of functions that make properties."""
        self._functions: dict[str, list[FunctionNode]] = {}
        self._definitions: dict[str, _Definition] = {}
        self._computed: set[str] = set()
        self._attached: set[str] = set()
        """Names that get a value from outside of the bodies of their classes."""
        self._handled: set[int] = set()
        self._stored: set[int] = set()
        """Targets that `_store` has read."""
        self._nodes = nodes
        for node in nodes.functions:
            self._functions.setdefault(node.name, []).append(node)
            # A class inside may take such a name from the function: `def f(len): class C: …`.
            if id(node) in nodes.holders:
                self._rebound |= bound_names(node.body) | {*parameter_names(node.args)}
        classes = nodes(ast.ClassDef)
        self._classes.update(node.name for node in classes)
        self._find_properties(classes)
        self._find_other_names(nodes)
        self._passed = _passed_names(nodes) if classes else frozenset[str]()
        self._generated = _read_by_others(classes, self._passed)
        derived = (bound_names(node.body) for node in classes if node.bases)
        self._run_by_looks = RUN_BY_LOOKS & frozenset[str]().union(*derived)
        self._imported: dict[str, set[str]] = {}
        for name, full in imports_of((*nodes(ast.Import), *nodes(ast.ImportFrom))):
            self._imported.setdefault(name, set()).add(full)
        for node in nodes.functions:
            self._function(node)
        for owner in classes:
            for statement in own_statements(owner.body):
                self._member(statement)
            if _is_frozen(owner) or self._stores_unseen(owner):
                self._define("__setattr__").unknown = True
        stores = [(target, node.value) for node in nodes(ast.Assign) for target in node.targets]
        stores += [(node.target, node.value) for node in nodes(ast.AnnAssign) if node.value is not None]
        for target, value in (pair for store in stores for pair in _singles(*store)):
            self._store(target, value)
        self._mentions(nodes)
        self._follow(nodes)

    def _stores_unseen(self, node: ast.ClassDef) -> bool:
        """Whether what binds an attribute of an instance may be in another file: a foreign base
        (`torch.nn.Module`, `ctypes.Union`), metaclass or decorator (`@attrs.define`).
        """
        bases = {last_name(base) for base in bases_of(node)}
        return (
            not _KEEPING_STORES.issuperset(map(called_name, node.decorator_list))
            or not bases - self._classes <= PLAIN_BASES
            # `from pydantic import dataclasses`, `from tools import Protocol`
            or any(map(self._is_from_elsewhere, (*bases_of(node), *node.decorator_list)))
            or node.name in self._passed
            or any(word.arg != "metaclass" or last_name(word.value) != "ABCMeta" for word in node.keywords)
        )

    def _is_from_elsewhere(self, node: ast.expr) -> bool:
        """Whether a base or decorator with a known name is imported from an unknown module."""
        if isinstance(node, ast.Call):
            node = node.func
        name = last_name(node) or ""
        home = HOMES.get(name)
        if home is None or name in self._classes:
            return False
        root, dot, rest = dotted(node).partition(".")
        homes = {f"{home}.{name}", f"typing_extensions.{name}"}
        return any(f"{full}{dot}{rest}" not in homes for full in self._imported.get(root, ()))

    def _find_properties(self, classes: Sequence[ast.ClassDef]) -> None:
        """Note the classes that derive from `property`, directly or through one another."""
        by_name = {node.name: node for node in classes}
        _grow(self._properties, [(name, last_name(base)) for name in by_name for base in by_name[name].bases])

    def _find_other_names(self, nodes: TextIndex) -> None:
        """Note other names of classes and properties: `prop = property`, `K = C`."""
        self._properties |= {
            alias.asname for alias in nodes(ast.alias) if alias.asname and alias.name in self._properties
        }
        pairs = [
            (target.id, node.value.id)
            for node in nodes(ast.Assign)
            if isinstance(node.value, ast.Name)
            for target in node.targets
            if isinstance(target, ast.Name)
        ]
        for names in (self._classes, self._properties):
            _grow(names, pairs)

    # ── definitions ──────────────────────────────────────────────────────────────────────────────────

    def _define(self, name: str) -> _Definition:
        return self._definitions.setdefault(name, _Definition())

    def _function(self, node: FunctionNode) -> None:
        foreign = [decorator for decorator in node.decorator_list if not self._is_plain(decorator)]
        method = _is_method(node.name) or node.name in self._run_by_looks
        if not foreign:
            if method:
                self._define(node.name).bodies.append(node)
            return
        if not method:
            self._computed.add(node.name)
        match foreign:
            case [ast.Name(id="property")] if "property" not in self._rebound:
                self._define(node.name).bodies.append(node)
            # `@size.setter`: the body runs at a store.
            case [ast.Attribute(value=ast.Name(id=name), attr="setter" | "deleter")] if name == node.name:
                pass
            case _:
                self._define(node.name).unknown = True

    def _is_plain(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in _PLAIN_DECORATORS and name not in self._rebound
            case ast.Attribute(value=ast.Name(id="abc"), attr="abstractmethod"):
                return "abc" not in self._rebound
            case _:
                return False

    def _member(self, node: ast.stmt) -> None:
        """A statement of a class body."""
        match node:
            case ast.Assign(targets=targets, value=value):
                for single, part in (pair for target in targets for pair in _singles(target, value)):
                    if isinstance(single, ast.Name):
                        self._bound(single.id, part)
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                if value is not None:
                    self._bound(name, value)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                pass
            case _:
                for name in _bound_here(node):
                    self._bound(name, None)

    def _store(self, target: ast.Name | ast.Attribute, value: ast.expr | None) -> None:
        """`C.size = property(f)`, `C.__eq__ = f`, and `__getattr__ = f` in a module."""
        match target:
            case ast.Name(id=name):
                counts = name in METHODS and value is not None
            case ast.Attribute(value=owner, attr=name):
                counts = name in _ATTACHED or last_name(owner) in self._classes
                if value is not None:
                    self._stored.add(id(target))
                    counts |= self._is_property(value) or _is_class_of(owner)
                    # `kind._x = Desc()`: `kind` may be a class.
                    counts |= isinstance(value, ast.Call) and last_name(owner) != "self"
                if counts:
                    self._attached.add(name)
        if counts:
            self._bound(name, value)

    def _unknown(self, name: str) -> None:
        """An attribute of this name may run anything."""
        self._attached.add(name)
        self._define(name).unknown = True

    def _bound(self, name: str, value: ast.expr | None) -> None:
        """A value is bound to a name of a class; `None` for an unknown one."""
        self._handled.add(id(value))
        match value:
            case None:
                self._computed.add(name)
                self._define(name).unknown = True
            case _ if name not in METHODS:
                if not isinstance(value, PLAIN_VALUES):
                    self._computed.add(name)
                    self._value(self._define(name), value)
            case ast.Constant():
                pass
            case ast.Call(func=ast.Name(id="classmethod"), args=[ast.Name(id="GenericAlias")]) if (
                "GenericAlias" not in self._classes | self._functions.keys()
            ):
                pass
            case ast.Lambda():
                self._define(name).bodies.append(_function(value))
            case ast.Call() if self._is_property(value):
                self._value(self._define(name), value)
            case ast.Name(id=other) if other in self._functions:
                self._define(name).runs.add(other)
            case ast.Attribute(attr=other) if other in METHODS:
                self._define(name).runs.add(other)
            case _:
                self._define(name).unknown = True

    def _value(self, definition: _Definition, value: ast.expr) -> None:
        """What may run when a name with this value is read: what the value mentions."""
        if self._is_property(value) and isinstance(value, ast.Call):
            getters = [*value.args[:1], *(word.value for word in value.keywords if word.arg == "fget")]
            known = all(
                isinstance(getter, ast.Lambda | ast.Constant) or self._knows(getter) for getter in getters
            )
            starred = any(isinstance(argument, ast.Starred) for argument in value.args)
            definition.unknown |= not known or starred or any(word.arg is None for word in value.keywords)
            definition.unknown |= last_name(value.func) != "property"  # it may keep what it found
            parts: Iterable[ast.AST] = (part for getter in getters for part in below(getter))
        else:
            parts = below(value)
        definition.mention(parts)

    def _knows(self, node: ast.expr) -> bool:
        """Whether an expression is a function of the text, and nothing else of its name."""
        name = last_name(node)
        return name in self._functions and name not in self._bound_otherwise

    @cached_property
    def _bound_otherwise(self) -> frozenset[str]:
        """The names that the text binds other than by `def`."""
        nodes = self._nodes
        names = {node.id for node in nodes(ast.Name) if isinstance(node.ctx, ast.Store)}
        names |= {node.attr for node in nodes(ast.Attribute) if isinstance(node.ctx, ast.Store)}
        names |= {parameter.arg for parameter in nodes(ast.arg)}
        for kind in (ast.alias, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping):
            names.update(name for node in nodes(kind) for name in bound_by(node))
        return frozenset(names)

    def _follow(self, nodes: TextIndex) -> None:
        """What a name stands for runs, too: `shared = Base.length`, then `size = shared` in another class."""
        followed = [
            definition
            for definition in self._definitions.values()
            if definition.runs and not definition.unknown
        ]
        if not followed:
            return
        values = _values(nodes, self._functions)
        # By name and by value, because many definitions mention the same ones.
        parts: dict[str, _Definition] = {}
        mentioned: dict[int, _Definition] = {}
        for definition in followed:
            definition.note_objects(values)
            pending = list(definition.runs)
            while pending:
                name = pending.pop()
                if name not in values:
                    continue
                if name not in parts:
                    parts[name] = _Definition()
                    for number, value in {id(value): value for value in values[name]}.items():
                        if number not in mentioned:
                            mentioned[number] = _Definition()
                            mentioned[number].mention(below(value))
                        parts[name].add(mentioned[number])
                    parts[name].note_objects(values)
                definition.bodies += parts[name].bodies
                pending += parts[name].runs - definition.runs
                definition.runs |= parts[name].runs

    def _is_property(self, node: ast.expr | None) -> bool:
        return isinstance(node, ast.Call) and last_name(node.func) in self._properties

    def _mentions(self, nodes: TextIndex) -> None:
        """Properties and methods that are made, and attached to a class somewhere else."""
        texts = [(node, node.value) for node in nodes(ast.Constant) if isinstance(node.value, str)]
        texts = [(node, text) for node, text in texts if "__" in text]
        spelled = any(_PART.fullmatch(text) for _, text in texts)
        making = _ASKING | self._properties | {"setattr", "type"}
        for call in nodes(ast.Call):
            if last_name(call.func) not in making:
                continue
            match call:
                case ast.Call(func=ast.Name(id=name), args=args) if name in _ASKING:
                    self._handled.update(id(argument) for argument in args)
                case ast.Call() if self._is_property(call) and id(call) not in self._handled:
                    self._attached.add(ANY_ATTRIBUTE)
                    self._value(self._define(ANY_ATTRIBUTE), call)
                case ast.Call(func=ast.Name(id="setattr"), args=[owner, key, value]) if last_name(
                    owner
                ) in self._classes and not isinstance(value, PLAIN_VALUES):
                    attribute = text_of(key)
                    if attribute is None:
                        self._anything()
                    else:
                        self._attached.add(attribute)
                        self._bound(attribute, value)
                # `setattr(kind, f"__{name}__", method)`
                case ast.Call(func=ast.Name(id="setattr"), args=[_, key, _]) if spelled and not isinstance(
                    key, ast.Constant
                ):
                    self._anything()
                case ast.Call(func=ast.Name(id="type"), args=[_, _, namespace]):
                    self._namespace(namespace)
                case _:
                    pass
        for node, text in texts:
            # `patch("__main__.A.__eq__")`
            name = text.rpartition(".")[2]
            if name in METHODS and id(node) not in self._handled:
                self._unknown(name)
        # `dict(space, __eq__=f)`
        for word in nodes(ast.keyword):
            if word.arg in METHODS and id(word.value) not in self._handled:
                self._unknown(word.arg)
        self._unseen_stores(nodes)
        names = nodes.names | nodes.imported_names | nodes.members
        states = not STATES.isdisjoint(nodes.words) or nodes.asks("pickle", FILE.paths["pickle"].keys())
        self._listed = states or any(True for _ in namespaces_in(nodes, _NAMESPACES))
        if not names.isdisjoint(_DEFAULTING):
            self._define("__missing__").unknown = True
        if not names.isdisjoint(_FILLING) or any(
            _fills_itself(node, nodes.names) for node in nodes(ast.ClassDef)
        ):
            self._anything()

    def _unseen_stores(self, nodes: TextIndex) -> None:
        """Stores of methods and descriptors that no plain assignment shows: `for C.__eq__ in …`,
        `put = setattr`, `patch.object(C, "_x", Desc())`.
        """
        for node in nodes(ast.Attribute):
            stored = node.attr in _ATTACHED and node.ctx.__class__ is ast.Store
            if stored and id(node) not in self._stored:
                self._unknown(node.attr)
        setters = "setattr" in nodes.names and any(
            node.id == "setattr" and id(node) not in nodes.called for node in nodes(ast.Name)
        )
        aliases = {
            alias.asname for node in nodes(ast.ImportFrom) for alias in node.names if alias.name == "setattr"
        }
        if setters or aliases:
            self._anything()
        names = set(patched_in(self._nodes))
        for call in nodes(ast.Call) if "__setattr__" in nodes.members else ():
            match call:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="type"), attr="__setattr__"), args=[_, key, value]
                ):
                    if not isinstance(value, PLAIN_VALUES):
                        names.add(text_of(key) or ANY_NAME)
                case _:
                    pass
        if ANY_NAME in names:
            self._anything()
        for name in names:
            self._unknown(name)
            self._computed.add(name)

    def _namespace(self, node: ast.expr) -> None:
        """What `type(name, bases, node)` gives a class."""
        match node:
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        self._bound(key.value, value)
                    else:
                        self._anything()
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=words):
                for word in words:
                    if word.arg is not None:
                        self._bound(word.arg, word.value)
                    else:
                        self._anything()
            case _:
                self._anything()

    def _anything(self) -> None:
        """Some class gets an attribute of any name, which may be a method."""
        self._unknown(ANY_ATTRIBUTE)
        self._define(_ANY_METHOD).unknown = True

    # ── what they do ─────────────────────────────────────────────────────────────────────────────────

    def looks(self) -> ShownLooks:
        """A least fixed point, because a body may look at other objects of the text."""
        attributes = READING | CLASS_OF | self._computed
        stores = not STORING.isdisjoint(self._definitions) or ANY_ATTRIBUTE in self._definitions
        flags = dict.fromkeys(self._definitions, 0)
        settled: dict[int, int] = {}
        before: ShownLooks | None = None
        while True:
            acting = {name for name, flag in flags.items() if flag & ACTS}
            raising = frozenset(name for name, flag in flags.items() if flag & RAISES)
            methods = any(_is_method(name) or name in RUN_BY_LOOKS for name in acting - READING - STORING)
            methods |= not (acting & self._generated).isdisjoint(attributes)
            looks = ShownLooks(
                methods,
                frozenset(acting & attributes),
                raising & attributes,
                computed=frozenset(self._computed),
                stores=stores,
            )
            builder = PythonProgramBuilder(
                self._source, dependence="strict", rebound=self._rebound, looks=looks
            )
            # What can act and raise can do no more.
            same = looks == before
            seen = {number: flag for number, flag in settled.items() if same or flag == ACTS | RAISES}
            again = {
                name: self._flags(definition, flags, builder, seen)
                for name, definition in self._definitions.items()
            }
            if again == flags:
                looks = replace(looks, rebound=self._own_rebound, listed=self._listed)
                body = self._nodes.tree.body
                # A function alone says nothing of the names around it.
                if len(body) == 1 and isinstance(body[0], FunctionNode):
                    return looks
                return replace(looks, bindings=TextBindings(self._source, self._nodes, looks, self._attached))
            flags, settled, before = again, seen, looks

    def _flags(
        self,
        definition: _Definition,
        by_name: Mapping[str, int],
        builder: PythonProgramBuilder,
        seen: dict[int, int],
    ) -> int:
        """`ACTS` and `RAISES`, as far as they hold; `seen` has them for the bodies that were read already."""
        if definition.unknown:
            return ACTS | RAISES
        flags = 0
        called = list(definition.bodies)
        for name in definition.runs:
            flags |= by_name.get(name, 0)
            called += self._functions.get(name, ())
        for node in called:
            if flags == ACTS | RAISES:
                break
            if id(node) not in seen:
                body = body_flags(builder, node, passes_over=_is_missing)
                seen[id(node)] = body & RAISES | (ACTS if body & (ACTS | STORES | BARRIER) else 0)
            flags |= seen[id(node)]
        return flags


def _grow(names: set[str], pairs: Iterable[tuple[str, str | None]]) -> None:
    """Add the first name of each pair whose second one is among the names."""
    while more := {name for name, value in pairs if value in names} - names:
        names |= more


def _values(nodes: TextIndex, functions: Mapping[str, Sequence[FunctionNode]]) -> dict[str, list[ast.expr]]:
    """What may be, or be in, a variable or an attribute: expressions by its name, in whatever scope it is."""
    by_name: dict[str, list[ast.expr]] = {}

    def bind(target: ast.expr, value: ast.expr | None) -> None:
        if value is None or value.__class__ is ast.Constant:
            return
        if name := last_name(target):
            by_name.setdefault(name, []).append(value)
        elif isinstance(target, ast.Subscript | ast.Starred):
            bind(target.value, value)
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                bind(part, value)

    for assignment in nodes(ast.Assign):
        for target in assignment.targets:
            bind(target, assignment.value)
    single: tuple[ast.AnnAssign | ast.AugAssign | ast.NamedExpr, ...] = (
        *nodes(ast.AnnAssign),
        *nodes(ast.AugAssign),
        *nodes(ast.NamedExpr),
    )
    for store in single:
        bind(store.target, store.value)
    loops: tuple[ast.For | ast.AsyncFor | ast.comprehension, ...] = (
        *nodes(ast.For),
        *nodes(ast.AsyncFor),
        *nodes(ast.comprehension),
    )
    for loop in loops:
        bind(loop.target, loop.iter)
    for item in nodes(ast.withitem):
        if item.optional_vars is not None:
            bind(item.optional_vars, item.context_expr)
    for choice in nodes(ast.Match):
        for case in choice.cases:
            for name in stored_names(case.pattern):
                by_name.setdefault(name, []).append(choice.subject)
    passed: dict[str, list[ast.expr]] = {}
    for call in nodes(ast.Call):
        values = [argument for argument in call.args if argument.__class__ is not ast.Constant]
        values += [word.value for word in call.keywords if word.value.__class__ is not ast.Constant]
        # `kinds.append(Base.length)` puts something into `kinds`.
        if isinstance(call.func, ast.Attribute):
            for value in values:
                bind(call.func.value, value)
        if values and (called := last_name(call.func)) in functions:
            passed.setdefault(called or "", []).extend(values)
    for function in nodes.functions:
        defaults = (
            node for node in (*function.args.defaults, *function.args.kw_defaults) if node is not None
        )
        values = [default for default in defaults if default.__class__ is not ast.Constant]
        values += passed.get(function.name, ())
        for name in parameter_names(function.args) if values else ():
            by_name.setdefault(name, []).extend(values)
    return by_name


def _is_class_of(node: ast.expr) -> bool:
    """Whether an expression gives the class of an object: `type(x)`, `x.__class__`."""
    match node:
        case ast.Call(func=ast.Name(id="type"), args=[_]) | ast.Attribute(attr="__class__"):
            return True
        case _:
            return False


def _is_frozen(node: ast.ClassDef) -> bool:
    """Whether a decorator makes stores to an instance raise: `@dataclass(frozen=True)`."""
    words = [word for call in node.decorator_list if isinstance(call, ast.Call) for word in call.keywords]
    return any(
        word.arg is None or (word.arg == "frozen" and getattr(word.value, "value", None) is not False)
        for word in words
    )


def _fills_itself(node: ast.ClassDef, names: Set[str]) -> bool:
    """Whether a class body, or a metaclass, binds names that are computed; `names` are those of its text."""
    for inner in () if names.isdisjoint(("locals", "vars", "exec")) else own_nodes(node.body):
        match inner:
            case ast.Call(func=ast.Name(id="locals" | "vars"), args=[]) | ast.Call(func=ast.Name(id="exec")):
                return True
            case _:
                pass
    if not any(last_name(base) in METACLASSES for base in node.bases):
        return False
    return any(
        isinstance(inner, ast.Subscript)
        and isinstance(inner.ctx, ast.Store)
        and not isinstance(inner.slice, ast.Constant)
        for inner in below(node)
    )


def _passed_names(nodes: TextIndex) -> frozenset[str]:
    """The names that a text hands to functions which may change a class: `P = dataclass(P)`."""
    calls = (call for call in nodes(ast.Call) if last_name(call.func) not in _ASKING_CLASSES)
    return frozenset(value.id for call in calls for value in call.args if isinstance(value, ast.Name))


def _read_by_others(classes: Sequence[ast.ClassDef], passed: frozenset[str]) -> frozenset[str]:
    """The attributes of classes that also have methods from elsewhere, which may read these attributes.

    A decorator may make them (`@dataclass`), or a function that gets the class; and a base of another file or
    of the library has its own (`UserDict`).
    """
    by_name = {node.name: node for node in classes}
    names: set[str] = set()
    for node in classes:
        bases = [last_name(base) for base in bases_of(node)]
        decorators = [called_name(decorator) for decorator in node.decorator_list]
        plain = by_name.keys() | PLAIN_BASES >= {*bases} and {*decorators} <= PLAIN_DECORATORS
        if plain and not node.keywords and node.name not in passed:
            continue
        above = reached(
            [node.name, *filter(None, bases)],
            lambda name: filter(None, map(last_name, by_name[name].bases)) if name in by_name else (),
        )
        names = names.union(*(bound_names(by_name[name].body) for name in above & by_name.keys()))
    return frozenset(names)


def _is_method(name: str) -> bool:
    """Whether a look may run a method of this name."""
    return name in METHODS or (name.startswith("__") and name.endswith("__") and name not in CALLED)


def _is_missing(node: ast.Raise) -> bool:
    """Whether a statement says that an attribute does not exist; it is assumed that it does."""
    match node.exc:
        case ast.Name(id="AttributeError") | ast.Call(func=ast.Name(id="AttributeError")):
            return True
        case _:
            return False


def _function(node: ast.Lambda) -> ast.FunctionDef:
    """The function that a lambda is."""
    result = ast.copy_location(ast.Return(value=node.body), node.body)
    function = ast.FunctionDef(name="_", args=node.args, body=[result], decorator_list=[])
    return ast.copy_location(function, node)


def _bound_here(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of a class body binds itself. A class is no attribute with code."""
    if not isinstance(node, ast.ClassDef):
        yield from bound_by(node)
        for part in ast.iter_child_nodes(node):
            if not isinstance(part, HOLDERS):
                yield from stored_names(part)
            elif not isinstance(part, ast.stmt):  # a clause: `case __eq__:`, `except E as __eq__:`
                yield from bound_by(part)
                for head in ast.iter_child_nodes(part):
                    if not isinstance(head, HOLDERS):
                        yield from stored_names(head)
