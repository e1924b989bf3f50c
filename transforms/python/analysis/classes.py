"""What the names of a file stand for: imports, functions that only look, and classes with plain attributes.

An import counts if it stands at the top level and the whole text binds its name once.

An attribute of `self` is plain if the file holds the whole hierarchy of its class: the class, the classes
from which it derives, those that derive from it, and those from which these derive. All of them must stand at
the top level of the file, with names that the text binds once and bases that are known, too. No class body of
the hierarchy may give the attribute code, nothing in the text may run code at every look or store, and the
text hands none of the classes to other code.
"""

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Final

from codeaudit.transforms.python.analysis.facts import bound_by, bound_names, own_nodes, stored_names
from codeaudit.transforms.python.analysis.functions import QuietFunctions
from codeaudit.transforms.python.analysis.index import TextIndex, text_of
from codeaudit.transforms.python.analysis.knowledge import EXCEPTIONS, MODULE_NAMES
from codeaudit.transforms.python.analysis.looks import (
    READING,
    STORING,
    PlainAttributes,
    QuietFunction,
    ShownLooks,
)
from codeaudit.transforms.python.parsing import FunctionNode, dotted, last_name
from codeaudit.transforms.python.walking import reached

BUILTIN_CLASSES: Final = EXCEPTIONS | {
    "object", "list", "dict", "set", "frozenset", "tuple", "str", "bytes", "int", "float",
}  # fmt: skip
"""Classes whose metaclass is `type`."""
_WITH_DICT: Final = BUILTIN_CLASSES - {"object"}
"""Bases that are builtin types; their instances get a `__dict__` in a class without slots."""
_EMPTY_BASES: Final = {"ABC": "abc", "Generic": "typing", "Protocol": "typing"}
"""Bases of the standard library that give their instances no attributes, by name, with their module."""
_DECORATORS: Final = {"final": "typing", "runtime_checkable": "typing", "total_ordering": "functools"}
"""Decorators that change nothing about attributes."""
_DATACLASS: Final = {"dataclass": "dataclasses"}
HOMES: Final = _EMPTY_BASES | _DECORATORS | _DATACLASS | {"unique": "enum"}
"""The modules of the bases and decorators that are known."""
UNKNOWN: Final = "?"
"""Stands for what a name is that a text binds in several ways."""
PLAIN_BASES: Final = BUILTIN_CLASSES | _EMPTY_BASES.keys()
"""Bases without methods that read attributes which a derived class defines."""
PLAIN_DECORATORS: Final = frozenset(_DECORATORS)
"""Decorators that add no such methods."""
_OPTIONS: Final = frozenset({"init", "repr", "eq", "order", "unsafe_hash", "kw_only", "match_args"})
"""Arguments of `dataclass` that change nothing about storing attributes."""
_METHOD_DECORATORS: Final = frozenset({
    "property", "cached_property", "setter", "deleter", "abstractmethod", "override", "overload", "final",
    "contextmanager", "cache", "lru_cache",
})  # fmt: skip
"""Decorators that pass on the `self` that they get."""
_CHANGING: Final = frozenset({"__class__", "__bases__", "__dict__"})
"""Attributes by which a text may give an object or a class other attributes, unseen."""
_MAKERS: Final = frozenset({"new_class", "make_dataclass"})
"""Functions that make classes."""
_MAKING: Final = frozenset({"__init_subclass__", "__set_name__", "__prepare__", "__class__", "__dict__"})
"""What may change classes, or the attributes of their instances, as a whole."""
_GET_A_CLASS: Final = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
"""Methods whose first argument is a class without a decorator that says so."""
_NAMESPACE: Final = frozenset({"locals", "vars", "exec", "eval"})
"""By these, a class body may bind any name."""
PLAIN_VALUES: Final = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.JoinedStr, ast.Lambda, ast.Compare,
)  # fmt: skip
"""Expressions whose values are no descriptors with code of their own."""


class TextBindings:
    """What the names of a text stand for; found on first use."""

    def __init__(
        self, source: str, nodes: TextIndex, looks: ShownLooks, attached: Iterable[str] = ()
    ) -> None:
        """`looks` is what the text shows of its classes. `attached` are names that it binds to classes from
        outside of their bodies, or that stand for anything.
        """
        self._nodes = nodes
        self._functions = QuietFunctions(source, nodes, looks)
        self._attached = frozenset(attached)

    @cached_property
    def imports(self) -> Mapping[str, str]:
        """As in `looks.Bindings`."""
        bound = self._nodes.bound
        if bound["*"]:  # it may bind any name
            return {}
        imported = {name: full for name, full in imports_of(self._nodes.tree.body) if bound[name] == 1}
        # `from fastlib import math`, where `math` is bound a second time: it is not known what it stands for.
        if unsure := MODULE_NAMES & bound.keys() - imported.keys():
            imported.update(dict.fromkeys(_bound_otherwise(self._nodes.tree) & unsure, UNKNOWN))
        return imported

    @cached_property
    def _classes(self) -> "_Classes":
        return _Classes(self._nodes, self._attached, self.imports)

    def called(self, name: str) -> QuietFunction | None:
        """As in `looks.Bindings`."""
        return self._functions.called(name, self)

    def of_receiver(self, function: FunctionNode) -> Sequence[PlainAttributes]:
        """As in `looks.Bindings`."""
        return self._classes.of_receiver(function)


class _Classes:
    """The classes of a text."""

    def __init__(self, nodes: TextIndex, attached: frozenset[str], imports: Mapping[str, str]) -> None:
        bound = self._bound = nodes.bound
        self._imports = imports
        self._classes = {
            node.name: node
            for node in nodes.tree.body
            if isinstance(node, ast.ClassDef) and self._bound[node.name] == 1
        }
        self._attached = attached | frozenset(_stored_elsewhere(nodes))
        self._fluid = bool(bound["*"]) or _makes_classes(nodes)
        self._derived: dict[str, set[str]] = {}
        self._methods: dict[str, list[tuple[FunctionNode, str | None]]] = {}
        self._unbound = set[str]()
        self._known: dict[str, PlainAttributes | None] = {}
        self._texts = cache(ast.dump)
        # Whoever gets a class may derive from it, or give it attributes with code.
        used = [
            node for node in nodes(ast.Name) if node.id in self._classes and node.ctx.__class__ is ast.Load
        ]
        allowed = set(_plain_uses(nodes)) if used else set[int]()
        self._passed = {node.id for node in used if id(node) not in allowed}
        for node in nodes.functions:
            self._methods.setdefault(node.name, []).append((node, None))
        classes = nodes(ast.ClassDef)
        for owner in classes:
            for part in (inner for base in owner.bases for inner in ast.walk(base)):
                if isinstance(part, ast.Name | ast.Attribute):
                    self._derived.setdefault(called_name(part) or "", set()).add(owner.name)
        self._named = {node.name for node in classes}
        # `Base = C` and `class D(Base)`: such a class may derive from any class of the text.
        self._wild = [node for node in classes if not self._says_bases(node)]
        self._read_methods(nodes)

    def _read_methods(self, nodes: TextIndex) -> None:
        """Note the class of each method, and the methods that run with other objects as `self`."""
        handled = set[int]()
        for name, owner in self._classes.items():
            for method in owner.body:
                if isinstance(method, FunctionNode):
                    self._methods[method.name].remove((method, None))
                    self._methods[method.name].append((method, name))
            for call in nodes.inside(owner, ast.Call):
                match call:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=base)) as func, args=[first, *_]):
                        # `Base.close(self)` counts as if the class derived from `Base`.
                        if isinstance(first, ast.Name) and first.id == "self":
                            self._derived.setdefault(base, set()).add(name)
                            handled.add(id(func))
                    case _:
                        pass
        for node in nodes(ast.Attribute):
            value = node.value
            if isinstance(value, ast.Name) and value.id in self._named and id(node) not in handled:
                self._unbound.add(node.attr)

    def _says_bases(self, node: ast.ClassDef) -> bool:
        """Whether each base of a class is one of the text, a builtin, or imported."""
        for root in (dotted(base).partition(".")[0] for base in bases_of(node)):
            known = root in self._named and self._bound[root] == 1
            if not (known or self._is_builtin(root) or root in self._imports):
                return False
        return True

    def of_receiver(self, function: FunctionNode) -> Sequence[PlainAttributes]:
        """What is known of the `self` of a function, by the classes that it may belong to."""
        methods = self._methods.get(function.name, [])
        if len(methods) > 1:
            text = ast.dump(function)
            # A variant of the function is not in the text; then every function of its name counts.
            methods = [method for method in methods if self._texts(method[0]) == text] or methods
        plain = [self._plain(owner, node) for node, owner in methods]
        known = [attributes for attributes in plain if attributes is not None]
        return known if len(known) == len(plain) else []

    def _plain(self, owner: str | None, method: FunctionNode) -> PlainAttributes | None:
        decorators = {called_name(node) for node in method.decorator_list}
        if owner is None or self._fluid or not decorators <= _METHOD_DECORATORS:
            return None
        # `C.method(other)` runs the method with any object as `self`; others get a class.
        if method.name in self._unbound or method.name in _GET_A_CLASS:
            return None
        if owner not in self._known:
            self._known[owner] = self._hierarchy(owner)
        return self._known[owner]

    def _hierarchy(self, name: str) -> PlainAttributes | None:
        """What is known of the instances of a class and of all that derive from it."""
        ancestors = self._ancestors([name])
        everything = self._ancestors(reached([name], lambda base: self._derived.get(base, ())))
        if ancestors is None or everything is None:
            return None
        if not self._passed.isdisjoint(node.name for node in everything):
            return None
        bound = set[str]()
        for node in (*everything, *self._wild):
            for member, plain in self._body_names(node):
                # A method of the data model may run at every look or store; others make what they like.
                if member in READING | STORING | _MAKING:
                    return None
                if not plain:
                    bound.add(member)
        # Methods that the text attaches to some class from outside may belong to this one.
        if not self._attached.isdisjoint(READING | STORING):
            return None
        slots = self._slots(ancestors)
        if slots is None:
            return None
        builtin = {
            base for node in everything for base in map(called_name, bases_of(node)) if base in vars(builtins)
        }
        fixed = {attribute for base in builtin for attribute in dir(getattr(builtins, base))}
        return PlainAttributes(frozenset(bound | fixed | self._attached), None if "" in slots else [*slots])

    def _ancestors(self, names: Iterable[str]) -> Sequence[ast.ClassDef] | None:
        """These classes and all that they derive from; `None` if one of them is not known."""

        def bases(name: str) -> Iterator[str]:
            for base in bases_of(self._classes[name]) if name in self._classes else ():
                if isinstance(base, ast.Name) and base.id in self._classes:
                    yield base.id

        classes = [self._classes.get(name) for name in reached(names, bases)]
        known = [node for node in classes if node is not None and self._is_plain_class(node)]
        return known if len(known) == len(classes) else None

    def _is_plain_class(self, node: ast.ClassDef) -> bool:
        metaclasses = all(
            word.arg == "metaclass" and self._is_from(word.value, {"ABCMeta": "abc"})
            for word in node.keywords
        )
        return (
            metaclasses
            and all(
                self._is_from(base, _EMPTY_BASES)
                or (isinstance(base, ast.Name) and (base.id in self._classes or self._is_builtin(base.id)))
                for base in bases_of(node)
            )
            and all(map(self._is_plain_decorator, node.decorator_list))
        )

    def _is_plain_decorator(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            options = {word.arg for word in node.keywords}
            return not node.args and options <= _OPTIONS and self._is_from(node.func, _DATACLASS)
        return self._is_from(node, _DATACLASS | _DECORATORS)

    def _is_builtin(self, name: str) -> bool:
        return name in BUILTIN_CLASSES and not self._bound[name]

    def _is_from(self, node: ast.expr, names: Mapping[str, str]) -> bool:
        """Whether an expression is one of these names, each of which belongs to a module."""
        root, dot, rest = dotted(node).partition(".")
        module, _, last = f"{self._imports.get(root, '')}{dot}{rest}".rpartition(".")
        return names.get(last) == module

    def _slots(self, classes: Sequence[ast.ClassDef]) -> frozenset[str] | None:
        """The attributes that instances may have; with an empty text among them, any. `None`: unknown."""
        slots = set[str]()
        for node in classes:
            values = [value for key, value in _class_values(node) if key == "__slots__"]
            if not values or any(called_name(base) in _WITH_DICT for base in bases_of(node)):
                slots.add("")
            for value in values:
                match value:
                    case ast.Constant(value=str(slot)):
                        slots.add(slot)
                    case ast.Tuple(elts=elements) | ast.List(elts=elements):
                        names = [part.value for part in elements if isinstance(part, ast.Constant)]
                        texts = [name for name in names if isinstance(name, str) and name]
                        if len(texts) != len(elements):
                            return None
                        slots.update(texts)
                    case _:
                        return None
        return frozenset(slots | ({""} if "__dict__" in slots else set()))

    def _body_names(self, node: ast.ClassDef) -> Iterator[tuple[str, bool]]:
        """The names that a class body binds, each with whether this value is certainly plain."""
        if any(map(_reaches_namespace, own_statements(node.body))):
            yield "__dict__", False
        for name, value in _class_values(node):
            field = isinstance(value, ast.Call) and self._is_from(value.func, {"field": "dataclasses"})
            if field and isinstance(value, ast.Call):
                # What is given as `default` becomes an attribute of the class.
                defaults = [word for word in value.keywords if word.arg in (None, "default")]
                yield name, not value.args and not defaults
            else:
                yield name, name == "__slots__" or isinstance(value, PLAIN_VALUES)


def imports_of(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, str]]:
    """The names that those of the statements bind that are imports, each with what it stands for."""
    for node in statements:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    first = alias.name.partition(".")[0]
                    yield alias.asname or first, _common(alias.name if alias.asname else first)
            case ast.ImportFrom(names=names):
                module = "." * node.level + (node.module or "")
                yield from ((name.asname or name.name, _common(f"{module}.{name.name}")) for name in names)
            case _:
                pass


def _bound_otherwise(tree: ast.Module) -> set[str]:
    """The names that the top level of a text binds to something else than the module of this name."""
    names: set[str] = set()
    for node in own_nodes(tree.body):
        if isinstance(node, ast.Import):
            names.update(alias.asname for alias in node.names if alias.asname)
        else:
            names.update(bound_by(node))
    return names


def _common(name: str) -> str:
    """A name under which the tables of `knowledge` have it: they call NumPy `np`."""
    return "np" + name[len("numpy") :] if name == "numpy" or name.startswith("numpy.") else name


def _class_values(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that a class body binds, each with its value; `None` if the value is no expression."""
    for statement in own_statements(node.body):
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    single = isinstance(target, ast.Name)
                    yield from ((name, value if single else None) for name in stored_names(target))
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                if value is not None:  # without a value nothing is bound
                    yield name, value
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, None
            case _:
                yield from ((name, None) for name in bound_names([statement]))


def _reaches_namespace(node: ast.stmt) -> bool:
    """Whether a statement of a class body itself may bind any name of the class."""
    if isinstance(node, FunctionNode | ast.ClassDef):
        return False
    return any(isinstance(part, ast.Name) and part.id in _NAMESPACE for part in ast.walk(node))


def _stored_elsewhere(nodes: TextIndex) -> Iterator[str]:
    """The attributes that a text stores to objects other than `self`, which may be classes, if the values may
    have code. `__getattribute__` stands for all of them.
    """
    plain = set[int]()
    for several in nodes(ast.Assign):
        if isinstance(several.value, PLAIN_VALUES):
            plain.update(map(id, several.targets))
    for single in nodes(ast.AnnAssign):
        if isinstance(single.value, PLAIN_VALUES):
            plain.add(id(single.target))
    for node in nodes(ast.Attribute):
        if isinstance(node.ctx, ast.Store) and id(node) not in plain and not _is_self(node.value):
            yield node.attr
    for call in nodes(ast.Call):
        match call:
            case ast.Call(func=func, args=[owner, key, *_]) if called_name(func) in _SETTERS:
                if not _is_self(owner):
                    yield text_of(key) or "__getattribute__"
            case _:
                pass


_SETTERS: Final = frozenset({"setattr", "__setattr__"})


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def own_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that bind names of a class: those of its body, and those nested in them."""
    for node in body:
        yield node
        if not isinstance(node, FunctionNode | ast.ClassDef):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.stmt):
                    yield from own_statements([child])
                elif isinstance(child, ast.ExceptHandler | ast.match_case):
                    yield from own_statements(child.body)


def _makes_classes(nodes: TextIndex) -> bool:
    """Whether a text may make a hierarchy that no class statement shows: `x.__class__ = C`,
    `type("D", (C,), {})`.
    """
    if any(node.attr in _CHANGING and not isinstance(node.ctx, ast.Load) for node in nodes(ast.Attribute)):
        return True
    if any(node.id in _MAKERS for node in nodes(ast.Name)) or any(
        alias.name in _MAKERS for alias in nodes(ast.alias)
    ):
        return True
    return any(
        isinstance(call.func, ast.Name)
        and call.func.id == "type"
        and (
            len(call.args) + len(call.keywords) > 1
            or any(isinstance(part, ast.Starred) for part in call.args)
        )
        for call in nodes(ast.Call)
    )


def _plain_uses(nodes: TextIndex) -> Iterator[int]:
    """The expressions, by `id`, that are only asked, called, or derived from if they are classes."""
    for call in nodes(ast.Call):
        yield id(call.func)
        match call:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, classes]):
                yield from map(id, classes.elts if isinstance(classes, ast.Tuple) else [classes])
            case _:
                pass
    for owner in nodes(ast.ClassDef):
        yield from map(id, bases_of(owner))
    for attribute in nodes(ast.Attribute):
        yield id(attribute.value)
    for handler in nodes(ast.ExceptHandler):
        kind = handler.type
        yield from map(id, kind.elts if isinstance(kind, ast.Tuple) else [kind])
    for exit_ in nodes(ast.Raise):
        yield id(exit_.exc)
    for compared in nodes(ast.Compare):
        yield from map(id, (compared.left, *compared.comparators))
    notes = [
        *(arg.annotation for arg in nodes(ast.arg)),
        *(node.annotation for node in nodes(ast.AnnAssign)),
        *(function.returns for function in nodes.functions),
    ]
    for note in notes:
        if note is not None:
            yield from map(id, ast.walk(note))


def bases_of(node: ast.ClassDef) -> Sequence[ast.expr]:
    """The bases of a class; that of `Box[T]` is `Box`."""
    return [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]


def called_name(node: ast.expr) -> str | None:
    """The last part of a name such as `abc.ABC`; of a call, that of its function."""
    return last_name(node.func if isinstance(node, ast.Call) else node)
