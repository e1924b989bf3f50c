"""The relation of `confirmed`: candidates for orders that tests then confirm or reject.

It assumes what the strict relation (`effects`) does not, so it is no proof:

1. A call as a statement acts on its receiver and its arguments only. A call of a plain function also acts on
   the program's state outside, so that two of them keep their order: `log(a)`, `send(b)`.
2. A call whose value is used only looks. It acts on its receiver and its arguments if its method is known to
   (`stack.pop()`), or if a function of this name in the package stores something in them.
3. To iterate, to construct, and to store an item or a plain attribute touches that object only. An attribute
   that is a property anywhere in the package is a call.
4. What may raise can change places with what else may raise, except inside `try`.

Guards, `assert`, `try`, `with` and everything that leaves or suspends the function keep their places.
"""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.dependence.effects import (
    BARRIER,
    ENDS_CALL,
    EXITS,
    LEAVES_LOOP,
    OBSERVES,
    RAISES,
    STORES,
    Effects,
)
from codeaudit.transforms.python.analysis.facts import VariableFacts
from codeaudit.transforms.python.analysis.knowledge import BUILTINS, METHOD_EFFECTS, PLAIN
from codeaudit.transforms.python.parsing import FunctionNode, last_name, parameter_names

OUTSIDE: Final = "()"
"""Stands, among the places, for the program's state outside of the objects that a function names."""
_MUTATORS: Final = {"appendleft", "extendleft", "popleft", "move_to_end"}.union(
    *({name for name, effects in methods.items() if effects.changes} for methods in METHOD_EFFECTS.values())
)
"""Methods of containers that change the container and nothing else."""
_ADVANCE: Final = frozenset({
    "read", "readline", "readlines", "readinto", "write", "writelines", "seek", "send", "recv", "throw",
    "next", "__next__", "get_nowait", "put", "acquire", "release", "close", "feed", "flush", "random",
    "randint", "randrange", "shuffle", "choice", "choices", "sample", "uniform",
})  # fmt: skip
"""Methods that change their receiver although their value is used."""
_OUTPUT: Final = frozenset({"print", "input", "exec", "eval", "open", "compile", "__import__", "breakpoint"})
_ON_ARGUMENTS: Final = frozenset({"next", "setattr", "delattr", "anext"})
_KEPT: Final = BARRIER | LEAVES_LOOP | ENDS_CALL
_PINNED: Final = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.ClassDef, ast.Import, ast.ImportFrom)
_NO_TEXT: Final = Effects(flags=BARRIER)


@dataclass(frozen=True, slots=True)
class PackageSummary:
    """What the files of a package show of their functions, by name."""

    acting: frozenset[str] = frozenset()
    """Functions, methods and classes that change an object which they are given, or state outside."""
    properties: frozenset[str] = frozenset()
    """Attributes that are computed, in some class."""


NO_PACKAGE: Final = PackageSummary()
"""Where no files are known."""


def summary(trees: Iterable[ast.Module]) -> PackageSummary:
    """The summary of these files: a least fixed point over all calls, by the names of the callees."""
    acting, properties = set[str](), set[str]()
    calls = defaultdict[str, set[str]](set)

    def note(name: str, function: FunctionNode, without: int = 0) -> None:
        acts, called = _defined(function, without)
        acting.update([name] if acts else ())
        calls[name] |= called

    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                properties.update(_computed(node))
                for inner in node.body:
                    # `C(x)` constructs: what `__init__` does to `self` is no effect, the rest is one.
                    if isinstance(inner, FunctionNode) and inner.name in ("__init__", "__new__"):
                        note(node.name, inner, without=1)
            elif isinstance(node, FunctionNode):
                note(node.name, node)
    while more := {name for name, called in calls.items() if name not in acting and called & acting}:
        acting |= more
    return PackageSummary(frozenset(acting), frozenset(properties))


def _computed(node: ast.ClassDef) -> Iterator[str]:
    for inner in node.body:
        if isinstance(inner, FunctionNode):
            parts = [part for decorator in inner.decorator_list for part in ast.walk(decorator)]
            words = {last_name(part) or "" for part in parts if isinstance(part, ast.Name | ast.Attribute)}
            if any("property" in word or word in ("setter", "getter", "deleter") for word in words):
                yield inner.name
            if inner.name in ("__setattr__", "__getattribute__"):
                yield inner.name
        elif isinstance(inner, ast.Assign | ast.AnnAssign) and isinstance(inner.value, ast.Call):
            # It may be a descriptor.
            for target in inner.targets if isinstance(inner, ast.Assign) else [inner.target]:
                if isinstance(target, ast.Name):
                    yield target.id


def _defined(node: FunctionNode, without: int) -> tuple[bool, set[str]]:
    """Whether a function acts by itself, and the names that it calls on what it is given, or without a
    receiver. `without` leaves out its first parameters.
    """
    parameters = list(parameter_names(node.args))
    bound = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and _stores(part)}
    local = (bound - set(parameters)) | set(parameters[:without])
    acts, calls = False, set[str]()
    for part in ast.walk(node):
        match part:
            case ast.Global() | ast.Nonlocal():
                acts = True
            case ast.Attribute() | ast.Subscript() if _stores(part):
                acts |= _root(part) not in local
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=receiver))):
                acts |= _root(receiver) not in local
            case ast.Expr(value=ast.Call(func=ast.Name())):
                acts = True
            case ast.Call(func=ast.Attribute(value=receiver, attr=name)):
                if _root(receiver) not in local:
                    acts |= name in _MUTATORS | _ADVANCE
                    calls.add(name)
            case ast.Call(func=ast.Name(id=name)):
                acts |= name in _ON_ARGUMENTS | _OUTPUT
                calls.add(name)
            case _:
                pass
    return acts, calls


def _stores(node: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _root(node: ast.expr) -> str | None:
    """The variable from which an expression gets to its object; `None` if there is none."""
    while True:
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Await(value=inner):
                node = inner
            case ast.Call(func=ast.Name(id="super")):
                return "self"
            case ast.Call(func=ast.Attribute(value=inner)):
                node = inner
            case ast.Name(id=name):
                return name
            case _:
                return None


def relaxed_effects(
    node: ast.stmt, strict: Effects, facts: VariableFacts, package: PackageSummary, *, guarded: bool
) -> Effects:
    """The effects of a statement, with all nested in it, under the assumptions above.

    Args:
        strict: its effects under the strict relation, as its block sees them.
        facts: those of the function in whose scope it runs.
        guarded: whether a `try` or `with` may observe an exception.
    """
    if isinstance(node, _PINNED) or strict.flags & EXITS:
        return strict | _NO_TEXT
    collector = _Collector(facts, package)
    collector.walk(node)
    names = {facts.prefix + name for name in facts.local}
    flags = collector.flags | strict.flags & _KEPT
    if guarded:
        flags |= strict.flags & RAISES
    return Effects(
        frozenset(strict.reads & names | collector.places(collector.reads)),
        frozenset(strict.writes & names | collector.places(collector.writes)),
        flags,
    )


class _Collector:
    """Collects the effects of one statement. Variables and places stand in `reads` and `writes`."""

    def __init__(self, facts: VariableFacts, package: PackageSummary) -> None:
        self._facts = facts
        self._package = package
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.flags = 0

    def places(self, names: Collection[str]) -> set[str]:
        """These variables and places as effects name them."""
        prefix = self._facts.prefix
        return {prefix + name if name in self._facts.local else name for name in names}

    def walk(self, node: ast.AST, *, statement: bool = False) -> None:
        """Collect a node and all in it, without the bodies of functions that are defined there."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for expression in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
                    if expression is not None:
                        self.walk(expression)
                return
            case ast.Expr(value=ast.Call() as call) | ast.Expr(value=ast.Await(value=ast.Call() as call)):
                self._call(call, statement=True)
                for part in ast.iter_child_nodes(call):
                    self.walk(part)
                return
            case ast.ClassDef() | ast.Global() | ast.Nonlocal() | ast.With() | ast.AsyncWith() | ast.Try():
                # Nested in a loop or a branch: it keeps its place there, and acts as a call of anything does.
                self.flags |= OBSERVES | STORES
                self.writes.add(OUTSIDE)
            case ast.Call():
                self._call(node, statement=False)
            case ast.Attribute():
                self._attribute(node)
            case ast.Subscript() if _stores(node):
                self._change(node.value)
            case ast.AugAssign(target=ast.Name(id=name)):
                self.writes.add(name)  # `xs += ys` changes a list
            case ast.Name(id=name) if name not in self._facts.local:
                if not isinstance(node.ctx, ast.Load):
                    self.flags |= BARRIER
            case _:
                pass
        for part in ast.iter_child_nodes(node):
            self.walk(part)

    def _attribute(self, node: ast.Attribute) -> None:
        computed = node.attr in self._package.properties
        if _stores(node):
            self.writes.add(f".{node.attr}")
            self.flags |= STORES
            if computed or "__setattr__" in self._package.properties:
                self._act_on(node.value)
                self.flags |= OBSERVES
            if _root(node) not in self._facts.local:
                self.writes.add(OUTSIDE)
            return
        self.reads.add(f".{node.attr}")
        if computed:
            self.flags |= OBSERVES
            self.reads.add(OUTSIDE)
            if node.attr in self._package.acting:
                self._act_on(node.value)

    def _change(self, node: ast.expr) -> None:
        """The container that an expression gives is changed, and nothing else."""
        match node:
            case ast.Attribute(attr=attr):
                self.writes.add(f".{attr}")
                self.flags |= STORES
            case ast.Name(id=name) if name in self._facts.local:
                self.writes.add(name)
                # It may be an attribute of another object, too.
                self.flags |= 0 if name in self._facts.owned else STORES
            case _:
                self._act_on(node)

    def _act_on(self, node: ast.expr) -> None:
        """The object that an expression gives is changed in any way."""
        root = _root(node)
        if root in self._facts.local and root is not None:
            self.writes.add(root)
            self.flags |= OBSERVES | STORES if root == self._facts.receiver else OBSERVES
        elif not isinstance(node, ast.Constant):
            self.writes.add(OUTSIDE)

    def _call(self, node: ast.Call, *, statement: bool) -> None:
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        match node.func:
            case ast.Attribute(value=receiver, attr=name):
                if name in _MUTATORS and name not in self._package.acting:
                    self._change(receiver)
                    return
                self.flags |= OBSERVES
                self.reads.add(OUTSIDE)
                acting = name in self._package.acting
                if statement or acting or name in _MUTATORS | _ADVANCE:
                    self._act_on(receiver)
                if statement or acting:
                    self._act_on_all(arguments)
            case ast.Name(id=name) if name in BUILTINS and name not in self._facts.local:
                if name in _OUTPUT:
                    self.writes.add(OUTSIDE)
                if name in _ON_ARGUMENTS:
                    self._act_on_all(arguments[:1])
                self.flags |= OBSERVES
            case ast.Name(id=name):
                self.flags |= OBSERVES
                self.reads.add(OUTSIDE)
                if statement or name in self._package.acting:
                    self.writes.add(OUTSIDE)
                    self._act_on_all(arguments)
                if name in self._facts.local:
                    # It may be a function that is defined here, which sees and rebinds captured variables.
                    self.reads |= self._facts.captured
                    self.writes |= self._facts.captured - {name}
            case _:
                self.flags |= OBSERVES
                self.reads.add(OUTSIDE)
                if statement:
                    self._act_on(node.func)
                    self._act_on_all(arguments)

    def _act_on_all(self, arguments: Iterable[ast.expr]) -> None:
        for argument in arguments:
            node = argument.value if isinstance(argument, ast.Starred) else argument
            root = _root(node)
            # Plain values cannot be changed; what is no variable's object is new or outside.
            if root is not None and root in self._facts.local and self._facts.types.get(root) not in _VALUES:
                self._act_on(node)


_VALUES: Final = PLAIN - {"ellipsis"} | {"function"}
