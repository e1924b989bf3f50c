"""`reorder-functions` and `reorder-methods`: neighbouring definitions in another order.

A definition binds its name and evaluates decorators, defaults and annotations; a class also evaluates its
body. If all of this only computes, the definition may stand anywhere among its neighbours, but behind the
names it reads.

No other file lists a namespace in its order (`namespaces-unlisted`): `dir`, `inspect.getmembers`, unittest
and doctest sort names; `vars`, `__subclasses__` and pytest's order of tests do not. A text that reads such an
order itself is refused.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from codeaudit.transforms.dependence.effects import BARRIER, Effects, conflicts
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Site
from codeaudit.transforms.python.analysis.capabilities import Sees, namespaces_in
from codeaudit.transforms.python.analysis.classes import BUILTIN_CLASSES
from codeaudit.transforms.python.analysis.facts import bound_by, own_nodes, stored_names
from codeaudit.transforms.python.analysis.index import index_in
from codeaudit.transforms.python.analysis.knowledge import BUILTINS
from codeaudit.transforms.python.identifiers.obstacles import mangled
from codeaudit.transforms.python.order.spelling import spelled_once
from codeaudit.transforms.python.parsing import FunctionNode, parameter_nodes
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import binders, heading, line_above, rearranged, runs, stacked

Definition: TypeAlias = FunctionNode | ast.ClassDef

NAMESPACE_READ: Final = "the text reads a namespace in its order"
ONE_ORDER: Final = "definitions depend on each other or run unknown code"
UNKNOWN_CLASS: Final = "a metaclass, decorator or base may see the order"

FUNCTIONS: Final = "functions"
METHODS: Final = "methods"

_PLAIN_DECORATORS: Final = frozenset(["staticmethod", "classmethod", "property"])
_ACCESSORS: Final = frozenset(["getter", "setter", "deleter"])
_GENERICS: Final = frozenset(["list", "dict", "set", "frozenset", "tuple", "type"])
_TYPES: Final = _GENERICS | {"int", "float", "str", "bytes", "bool", "complex", "object", "bytearray"}


@dataclass(slots=True)
class _ModuleNames:
    """What the whole text says about its names."""

    code: PythonSource
    binders: Mapping[str, int]
    """How often the text binds each name."""
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    """Classes of the module whose name is bound only once."""
    fragile: frozenset[str] = frozenset()
    """Names that may become unbound again."""
    lazy: bool = False
    """Whether annotations are not evaluated (`from __future__ import annotations`)."""

    @classmethod
    def of(cls, code: PythonSource) -> "_ModuleNames":
        names = cls(code, binders(code.tree), fragile=frozenset(_unbound(code.tree)))
        for node in code.tree.body:
            if isinstance(node, ast.ClassDef) and names.binders[node.name] == 1:
                names.classes[node.name] = node
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                names.lazy |= any(alias.name == "annotations" for alias in node.names)
        return names

    def builtin(self, name: str) -> bool:
        """Whether a name means the builtin."""
        return name in BUILTINS and name not in self.binders and "*" not in self.binders

    def surely_bound(self, node: ast.stmt) -> set[str]:
        """The names that a statement certainly binds and no statement unbinds."""
        match node:
            case (
                ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef()
            ):
                names = set(bound_by(node))
            case ast.Assign(targets=targets):
                names = {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                names = {name}
            case _:
                names = set()
        return names - self.fragile

    def bound_above(self, body: Sequence[ast.stmt]) -> set[str]:
        """Names of the module that are certainly bound where the body of one of its classes begins."""
        names: set[str] = set()
        for node in self.code.tree.body:
            if isinstance(node, ast.ClassDef) and node.body is body:
                return names
            names |= self.surely_bound(node)
        return set()

    def plain(self, node: ast.ClassDef, depth: int = 8) -> bool:
        """Whether only `type` sees the body of a class: no decorator, metaclass, or base with a hook."""
        # A metaclass gets the class body as a dict, in the order of the text.
        special = [*node.decorator_list, *node.keywords, *getattr(node, "type_params", [])]
        return not special and all(self._plain_base(base, depth) for base in node.bases)

    def _plain_base(self, base: ast.expr, depth: int) -> bool:
        if not isinstance(base, ast.Name):
            return False
        if base.id in BUILTIN_CLASSES and self.builtin(base.id):
            return True
        above = self.classes.get(base.id)
        # `__init_subclass__` of a base gets the finished class, with its `__dict__` in the order of the text.
        hooks = ("__init_subclass__", "__mro_entries__")
        return (
            above is not None
            and depth > 0
            and self.plain(above, depth - 1)
            and not any(isinstance(part, FunctionNode) and part.name in hooks for part in above.body)
            and not any(isinstance(part, ast.Name) and part.id in hooks for part in ast.walk(above))
        )


@spelled_once
def find_functions(code: PythonSource) -> Iterator[Site | Refused]:
    """Runs of neighbouring functions and classes of a module."""
    module = _ModuleNames.of(code)
    refused = Refused(NAMESPACE_READ) if _reads_namespace(code, module, classes=False) else None
    yield from _runs(module, code.tree.body, FUNCTIONS, above=heading(code), refused=refused)


@spelled_once
def find_methods(code: PythonSource) -> Iterator[Site | Refused]:
    """Runs of neighbouring methods of a class."""
    module = _ModuleNames.of(code)
    watched = _reads_namespace(code, module, classes=True)
    for node in code.nodes():
        if not isinstance(node, ast.ClassDef):
            continue
        if watched:
            refused = Refused(NAMESPACE_READ)
        # `global x` in a class body binds names of the module.
        elif not module.plain(node) or any(isinstance(part, ast.Global) for part in node.body):
            refused = Refused(UNKNOWN_CLASS)
        else:
            refused = None
        yield from _runs(module, node.body, METHODS, above=line_above(code, node.body), refused=refused)


def _runs(
    module: _ModuleNames,
    body: Sequence[ast.stmt],
    noun: str,
    *,
    above: int,
    refused: Refused | None,
) -> Iterator[Site | Refused]:
    """The sites of one body. `above` is a line behind which all its comments stand; `refused` applies to
    every run.
    """
    kind = FunctionNode if noun == METHODS else Definition

    def wanted(node: ast.stmt) -> bool:
        return isinstance(node, kind) and module.code.alone(node)

    for start, end, line in runs(body, wanted, above):
        run = [node for node in body[start:end] if isinstance(node, kind)]
        certain = module.bound_above(body)
        for node in body[:start]:
            certain |= {node.name} if isinstance(node, kind) and wanted(node) else module.surely_bound(node)
        yield from _run(module, run, noun, frozenset(certain), line, refused)


def _run(
    module: _ModuleNames,
    run: Sequence[Definition],
    noun: str,
    certain: frozenset[str],
    above: int,
    refused: Refused | None,
) -> Iterator[Site | Refused]:
    """The site of one run of definitions, or the reason why it keeps its order."""
    if len(run) < 2:
        return
    if refused is not None:
        yield refused
        return
    names = certain | {node.name for node in run}
    effects = [_DefinitionEffects(module, names).effects(node) for node in run]
    parts = stacked(module.code, run, above)
    yield rearranged(module.code, parts, conflicts(effects), f"{len(run)} {noun}") or Refused(ONE_ORDER)


def _unbound(tree: ast.Module) -> Iterator[str]:
    """Names that a `del` or the end of an `except` clause unbinds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            yield node.id
        elif isinstance(node, ast.ExceptHandler) and node.name is not None:
            yield node.name


@dataclass(slots=True)
class _DefinitionEffects:
    """The effects of executing a definition, without the binding of its name."""

    module: _ModuleNames
    certain: frozenset[str]
    """Names that its execution binds, if it comes after the definitions of the names that it reads."""
    known: set[str] = field(default_factory=set)
    """Functions that the class body at hand has defined."""

    def effects(self, node: Definition) -> Effects:
        """The effects on the scope around it: a barrier unless everything it evaluates only computes."""
        certain = self._class(node) if isinstance(node, ast.ClassDef) else self._function(node)
        outside = node.bases if isinstance(node, ast.ClassDef) else _evaluated(node, lazy=self.module.lazy)
        inside = own_nodes(node.body) if isinstance(node, ast.ClassDef) else ()
        every = [*inside, *(deep for part in outside for deep in ast.walk(part))]
        # Bodies of functions run later, so a definition depends only on the names that it reads at once.
        reads = {part.id for part in every if isinstance(part, ast.Name)}
        return Effects(frozenset(reads), frozenset([node.name]), 0 if certain else BARRIER)

    def _function(self, node: FunctionNode) -> bool:
        return all(self._decorator(part) for part in node.decorator_list) and all(
            self._computes(part) for part in _evaluated(node, lazy=self.module.lazy, decorators=False)
        )

    def _decorator(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in _PLAIN_DECORATORS and self.module.builtin(name)
            case ast.Attribute(value=ast.Name(id=name), attr=attr):
                # `@x.setter` makes a new property from the one that `x` is, and calls nothing else.
                return attr in _ACCESSORS and name in self._properties(node)
            case _:
                return False

    def _properties(self, node: ast.AST) -> set[str]:
        """Names of the class around a decorator that are only ever bound to properties."""
        above = self.module.code.ancestors(node)
        holder = next((outer for outer in above if isinstance(outer, ast.ClassDef)), None)
        by_name: dict[str, bool] = {}
        for part in holder.body if holder else ():
            for name in [part.name] if isinstance(part, Definition) else stored_names(part):
                # The first decorator is applied last, so it decides what the name is bound to.
                first = (
                    part.decorator_list[0] if isinstance(part, FunctionNode) and part.decorator_list else None
                )
                accessor = isinstance(first, ast.Attribute) and first.attr in _ACCESSORS
                getter = (
                    isinstance(first, ast.Name) and first.id == "property" and self.module.builtin("property")
                )
                by_name[name] = (getter or accessor) and by_name.get(name, getter)
        return {name for name, only in by_name.items() if only}

    def _class(self, node: ast.ClassDef) -> bool:
        # With two bases, computing the method resolution order may raise.
        if not self.module.plain(node) or len(node.bases) > 1:
            return False
        if not all(self._computes(base) for base in node.bases):
            return False
        names, inner = set(self.certain), _DefinitionEffects(self.module, self.certain)
        for part in node.body:
            inner.certain = frozenset(names)
            if not inner._member(part):
                return False
            names |= self.module.surely_bound(part)
            inner.known |= {part.name} if isinstance(part, FunctionNode) else set()
        return True

    def _member(self, node: ast.stmt) -> bool:
        """Whether a statement of a class body only computes, and makes no object with a `__set_name__`."""
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self._function(node)
            case ast.Assign(targets=targets, value=value):
                return all(isinstance(target, ast.Name) for target in targets) and self._value(value)
            case ast.AnnAssign(target=ast.Name(), annotation=note, value=value):
                return (self.module.lazy or self._computes(note)) and (value is None or self._value(value))
            case _:
                return False

    def _value(self, node: ast.expr) -> bool:
        # `x = y` may store a descriptor, whose `__set_name__` then runs in the order of the body. A function
        # has none.
        if isinstance(node, ast.Name):
            return node.id in self.known
        return self.module.code.harmless(node)

    def _computes(self, node: ast.expr) -> bool:
        """Whether an expression, in a scope without types of its own, can only give a value."""
        match node:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                # In a class, `__x` is `_C__x`.
                return (name in self.certain and not mangled(name)) or self.module.builtin(name)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return all(self._computes(element) for element in elements)
            case ast.Lambda(args=args):
                defaults = [*args.defaults, *(part for part in args.kw_defaults if part is not None)]
                return all(self._computes(default) for default in defaults)
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                # `list[x]` makes an alias whatever `x` is; `Foreign[x]` calls `__class_getitem__`.
                return name in _GENERICS and self.module.builtin(name) and self._computes(index)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                # `None | None` raises: one side must be a type.
                types = not (isinstance(left, ast.Constant) and isinstance(right, ast.Constant))
                return types and self._type(left) and self._type(right)
            case _:
                return self.module.code.harmless(node)

    def _type(self, node: ast.expr) -> bool:
        """Whether an expression is certainly a type or `None`, so that `|` makes a union and runs no foreign
        code.
        """
        match node:
            case ast.Constant(value=None):
                return True
            case ast.Name(id=name):
                return name in _TYPES and self.module.builtin(name)
            case ast.Subscript(slice=index):
                names = {part.id for part in ast.walk(index) if isinstance(part, ast.Name)}
                return names <= _TYPES and self._computes(node)
            case ast.BinOp(op=ast.BitOr()):
                return self._computes(node)
            case _:
                return False


def _evaluated(node: FunctionNode, *, lazy: bool, decorators: bool = True) -> Iterator[ast.expr]:
    """The expressions that executing a `def` evaluates."""
    args = node.args
    yield from node.decorator_list if decorators else ()
    yield from args.defaults
    yield from (part for part in args.kw_defaults if part is not None)
    notes = [arg.annotation for arg in parameter_nodes(args)]
    yield from (note for note in (*notes, node.returns) if note is not None and not lazy)


_LISTING: Final = frozenset({"__dict__", "vars", "locals", "globals"})
"""What gives a namespace in its order."""


def reads_module(code: PythonSource) -> bool:
    """Whether a text reads the names of its module in their order."""
    return _reads_namespace(code, _ModuleNames.of(code), classes=False)


def _reads_namespace(code: PythonSource, module: _ModuleNames, *, classes: bool) -> bool:
    """Whether a text reads the names of a module (or, with `classes`, of a class) in their order."""
    if code.sees & (Sees.MODULE | Sees.CLASS | Sees.LOCALS | Sees.SOURCE | Sees.BEGINNINGS):
        return True
    index = index_in(code.tree)
    for mention in namespaces_in(index, _LISTING):
        match mention:
            # In a function, `locals()` gives the names of the call.
            case ast.Name(id="locals") if code.function(mention) is not None:
                pass
            case ast.Attribute(attr="__dict__", value=value) if _own_instance(
                code, module, value, classes=classes
            ):
                pass
            case _:
                return True
    # What they run reads this namespace, if they get no other.
    runs = (code.parent(node) for node in index(ast.Name) if node.id in ("exec", "eval"))
    return any(not isinstance(call, ast.Call) or len(call.args) < 2 for call in runs)


def _own_instance(code: PythonSource, module: _ModuleNames, node: ast.expr, *, classes: bool) -> bool:
    """Whether an expression is the `self` of a method, whose `__dict__` belongs to no module and no class."""
    function = code.function(node)
    holder = code.parent(function) if function is not None else None
    if function is None or not isinstance(node, ast.Name) or not isinstance(holder, ast.ClassDef):
        return False
    every = [*function.args.posonlyargs, *function.args.args]
    if function.decorator_list or not every or every[0].arg != node.id:
        return False
    # The first parameter of these is the class, though no decorator says so.
    if function.name in ("__new__", "__init_subclass__", "__class_getitem__"):
        return False
    # `self` of a metaclass is a class, and that of a subclass of `ModuleType` a module.
    return module.plain(holder) if classes else "ModuleType" not in ast.dump(holder)


REORDER_FUNCTIONS: Final = PythonRule(
    name="reorder-functions", find=find_functions, nothing="no two definitions side by side", unit="module"
)
REORDER_METHODS: Final = PythonRule(
    name="reorder-methods", find=find_methods, nothing="no two methods side by side", unit="module"
)
