"""Facts about one function's variables that hold whatever the order of its statements.

No fact here depends on the order of statements, so a legal reordering leaves every fact unchanged. This makes
the dependence relation equivariant: it does not matter whether a function is reordered before or after the
analysis. `builder` gathers the facts of each function; `effects` completes them with types and ownership.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Final

from codeaudit.transforms.python.analysis.knowledge import (
    CONSUMING,
    CONSUMING_KEYWORDS,
    CONTAINERS,
    KNOWN,
    METHOD_EFFECTS,
    PLAIN,
    VIEWS,
    MethodEffect,
)
from codeaudit.transforms.python.analysis.looks import NOTHING_SHOWN, PlainAttributes, ShownLooks
from codeaudit.transforms.python.parsing import FunctionNode, parameter_names, parameter_nodes
from codeaudit.transforms.python.walking import PARTS, below, children

_SCOPES: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef})
_SILENT: Final = frozenset({
    ast.Assert, ast.Attribute, ast.Await, ast.BinOp, ast.BoolOp, ast.Break, ast.Compare, ast.Constant,
    ast.Continue, ast.Dict, ast.Expr, ast.FormattedValue, ast.If, ast.IfExp, ast.JoinedStr, ast.List,
    ast.Pass, ast.Raise, ast.Return, ast.Set, ast.Slice, ast.Starred, ast.Subscript, ast.Tuple, ast.UnaryOp,
    ast.While, ast.With, ast.Yield, ast.YieldFrom, ast.comprehension, ast.keyword,
})  # fmt: skip
"""Kinds of nodes that bind, declare and hide nothing themselves."""
_ALIAS: tuple[type[ast.AST], ...] = tuple(
    kind for kind in ast.stmt.__subclasses__() if kind.__name__ == "TypeAlias"
)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True)
class VariableFacts:
    """What is known of a function's own variables."""

    local: frozenset[str] = frozenset()
    """Names bound in the function's own scope."""
    captured: frozenset[str] = frozenset()
    """Locals that a nested function, class, lambda or generator expression may see."""
    parameters: frozenset[str] = frozenset()
    fragile: frozenset[str] = frozenset()
    """Locals that may become unbound again (`del`, `except … as`)."""
    values: dict[str, list[ast.expr | None]] = field(default_factory=dict)
    """Every value bound to a local; `None` for a binding without an expression of its own."""
    types: dict[str, str | None] = field(default_factory=dict)
    """The builtin type of each local that always has the same one."""
    owned: frozenset[str] = frozenset()
    """Locals that only ever hold a container made in this function that no other code can reach."""
    unshared: frozenset[str] = frozenset()
    """Variables that may hold an object of unknown type that nobody else holds."""
    plain_keys: frozenset[str] = frozenset()
    """Owned dicts and sets whose keys are all of plain types."""
    annotated: frozenset[str] = frozenset()
    """Parameters that are never bound again, with an annotation of builtin types only: `list[int] | None`."""
    annotated_plain: frozenset[str] = frozenset()
    """Those of them whose values hold no other objects: `int | None`."""
    receiver: str | None = None
    """The first parameter, if it is called `self` or `cls` and is never bound again."""
    plain: Sequence[PlainAttributes] = ()
    """What is known of the receiver, for each class that it may belong to; empty if nothing is."""
    stored_attributes: frozenset[str] = frozenset()
    """The attributes of the receiver that the function stores."""
    doubts: bool = False
    """Whether the function tests what exists (`try`, `hasattr`) or may swallow an exception (`with`), so that
    a look-up may fail.
    """
    managers: Sequence[ast.expr] = ()
    """The context managers of its `with` statements."""
    rebound: frozenset[str] = frozenset()
    """Builtin names that mean something else, because the text around the function binds them."""
    hiding: frozenset[str] = frozenset()
    """Variables of comprehensions: in some part of the function they hide what else is called so."""
    looks: ShownLooks = field(default=NOTHING_SHOWN)
    """What the text around shows of its classes."""
    prefix: str = ""
    """Put before names in effects, so that equal names of different functions stay different."""

    @property
    def unlike(self) -> frozenset[str]:
        """Names that mean no builtin, at least somewhere in the function."""
        return self.local | self.rebound | self.hiding


def own_nodes(body: Sequence[ast.AST]) -> list[ast.AST]:
    """All nodes evaluated in a function's own scope; the bodies of nested scopes are left out.

    Decorators, defaults and annotations of a nested function belong to the outer scope and are included.
    """
    nodes: list[ast.AST] = []
    pending: list[ast.AST] = list(reversed(body))
    pop, node_type = pending.pop, ast.AST
    while pending:
        node = pop()
        nodes.append(node)
        kind = node.__class__
        if kind in _SCOPES:
            pending += reversed(_outer_expressions(node))
            continue
        for name in reversed(PARTS[kind]):
            value = getattr(node, name, None)
            if value.__class__ is list:
                pending += [child for child in reversed(value) if child is not None]
            elif isinstance(value, node_type):
                pending.append(value)
    return nodes


def is_generator(function: FunctionNode) -> bool:
    """Whether a function is a generator; of an `async` one, whether it is an asynchronous one."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(function.body))


@lru_cache(maxsize=512)
def nodes_inside(function: FunctionNode | ast.ClassDef) -> tuple[ast.AST, ...]:
    """The own nodes of a body. Several facts read them; nobody changes the tree."""
    return tuple(own_nodes(function.body))


def outer_parts(args: ast.arguments) -> Sequence[ast.expr]:
    """The defaults and annotations of parameters, which are evaluated outside of their function."""
    notes = [arg.annotation for arg in parameter_nodes(args)]
    return [part for part in (*args.defaults, *args.kw_defaults, *notes) if part is not None]


def gather_facts(function: FunctionNode, rebound: frozenset[str] = frozenset()) -> VariableFacts:
    """The facts of one function, without types and ownership, which `effects.settle_types` adds.

    `rebound` are the names of builtins that mean something else around the function.
    """
    nodes = nodes_inside(function)
    names = _Names(function.args)
    names.gather(nodes)
    names.doubt_mangled()
    rebound_inside, unbound_inside = _changed_inside(names.nested)
    values = {name: bound for name, bound in names.values.items() if name not in names.outer}
    facts = VariableFacts(
        parameters=frozenset(parameter_names(function.args)),
        values=values,
        local=frozenset(values),
        fragile=frozenset(names.fragile | unbound_inside),
        managers=names.managers,
        doubts=names.doubts,
        hiding=frozenset(names.hiding),
        rebound=rebound,
    )
    # A consumer with such a name is no builtin, and may keep its argument.
    unlike = facts.unlike
    seen = (
        names_seen for consumer, names_seen in names.seen_by.items() if not consumer or consumer in unlike
    )
    facts.captured = facts.local & set[str]().union(*seen)
    steady = [
        arg
        for arg in parameter_nodes(function.args)
        if values.get(arg.arg) == [None] and arg.arg not in rebound_inside
    ]
    if not (facts.local | rebound) & _ANNOTATIONS:
        notes = {arg.arg: arg.annotation for arg in steady if arg.annotation is not None}
        facts.annotated = frozenset(name for name, note in notes.items() if _names_builtins(note))
        facts.annotated_plain = frozenset(
            name for name, note in notes.items() if _names_builtins(note, PLAIN)
        )
    # Only the spelling says that the function is a method; it may be given without its class.
    first = [*function.args.posonlyargs, *function.args.args][:1]
    if first and first[0] in steady and first[0].arg in ("self", "cls"):
        facts.receiver = first[0].arg
        facts.stored_attributes = frozenset(
            node.attr
            for node in nodes
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == facts.receiver
        )
    return facts


class _Names:
    """What the nodes of a function's own scope say of its names."""

    def __init__(self, parameters: ast.arguments) -> None:
        self.values: dict[str, list[ast.expr | None]] = {name: [None] for name in parameter_names(parameters)}
        # No caller can hand in the tuple of `*args` or the dict of `**kwargs` itself.
        if parameters.vararg is not None:
            self.values[parameters.vararg.arg] = [ast.Tuple(elts=[], ctx=ast.Load())]
        if parameters.kwarg is not None:
            self.values[parameters.kwarg.arg] = [ast.Dict(keys=[], values=[])]
        self.outer: set[str] = set()
        """Declared `global` or `nonlocal`."""
        self.fragile: set[str] = set()
        self.hiding: set[str] = set()
        self.nested: list[ast.AST] = []
        """Functions, classes and generator expressions inside."""
        self.seen_by: dict[str, set[str]] = {}
        """The names that a nested scope may see, by the builtin that uses the scope at once; "" for none."""
        self.managers: list[ast.expr] = []
        self.doubts = False
        self._counted: set[int] = set()
        """Targets whose value is known, or which belong to a comprehension, by `id`."""
        self._inside: set[int] = set()
        """Walruses in comprehensions, by `id`."""
        self._immediate: dict[int, str] = {}
        """The builtin that uses a nested scope at once, by the `id` of the scope."""

    def gather(self, nodes: Sequence[ast.AST]) -> None:
        """Read the nodes in their order."""
        values, counted = self.values, self._counted
        for node in nodes:
            kind = node.__class__
            if kind is ast.Name:
                assert isinstance(node, ast.Name)
                if node.id == "hasattr":
                    self.doubts = True
                if node.ctx.__class__ is not ast.Load and id(node) not in counted:
                    values.setdefault(node.id, []).append(None)
            elif kind is ast.Call:
                self._immediate.update((id(inner), consumer) for inner, consumer in _consumed_at_once(node))
            elif kind not in _SILENT:
                self._bind(node)
                self._note(node)

    def doubt_mangled(self) -> None:
        """In a class, `__x` is `_C__x`, so this spelling need not show all that happens to the variable."""
        for name, bound in self.values.items():
            if name.startswith("_") and "__" in name:
                bound.append(None)
                self.fragile.add(name)
                self.seen_by.setdefault("", set()).add(name)

    def _bind(self, node: ast.AST) -> None:
        """Note the values that a node binds."""
        if isinstance(node, _COMPREHENSIONS):
            self._counted |= comprehension_targets(node)
            self.hiding.update(name for part in node.generators for name in stored_names(part.target))
            self._inside.update(id(inner) for inner in below(node) if inner.__class__ is ast.NamedExpr)
        for target, value in _assigned_values(node):
            self._counted.add(id(target))
            # `[(y := x) for x in xs]`: this `x` is not the variable of the function.
            self.values.setdefault(target.id, []).append(None if id(node) in self._inside else value)
        if id(node) not in self._counted:
            for name in bound_by(node):
                self.values.setdefault(name, []).append(None)

    def _note(self, node: ast.AST) -> None:
        """Note what else a node says."""
        match node:
            case ast.Global(names) | ast.Nonlocal(names):
                self.outer.update(names)
            case ast.Delete(targets):
                self.fragile.update(name for target in targets for name in stored_names(target))
            case ast.ExceptHandler(name=str(name)):
                self.fragile.add(name)
            case ast.Try() | ast.TryStar():
                self.doubts = True
            case ast.withitem():
                self.managers.append(node.context_expr)
            case (
                ast.FunctionDef()
                | ast.AsyncFunctionDef()
                | ast.Lambda()
                | ast.ClassDef()
                | ast.GeneratorExp()
            ):
                self.nested.append(node)
                self.seen_by.setdefault(self._immediate.get(id(node), ""), set()).update(free_names(node))
            # The value of a type alias is evaluated when somebody asks for it.
            case _ if isinstance(node, _ALIAS):
                self.seen_by.setdefault("", set()).update(_used(node))


def _changed_inside(scopes: Sequence[ast.AST]) -> tuple[set[str], set[str]]:
    """Names that nested scopes declare `nonlocal`, and those of them that they may unbind."""
    bound: set[str] = set()
    unbound: set[str] = set()
    for node in chain.from_iterable(map(below, scopes)):
        match node:
            case ast.Nonlocal(names=names):
                bound.update(names)
            case ast.Name(id=name, ctx=ast.Del()) | ast.ExceptHandler(name=str(name)):
                unbound.add(name)
            case _:
                pass
    return bound, bound & unbound


_ANNOTATIONS: Final = KNOWN - {"none", "ellipsis", "function"} | {
    "frozenset", "List", "Dict", "Set", "FrozenSet", "Tuple",
}  # fmt: skip
"""Names in annotations that mean builtin types; their iterators and conversions run no foreign code."""


def _names_builtins(node: ast.expr, types: frozenset[str] = _ANNOTATIONS) -> bool:
    """Whether an annotation names these types and `None` only: `str`, `list[T]`, `int | None`."""
    match node:
        case ast.Name(id=name):
            return name in types
        case ast.Constant(value=value):
            return value is None
        case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
            return _names_builtins(inner, types)
        case ast.Subscript(value=ast.Name(id="Union"), slice=ast.Tuple(elts=parts)):
            return all(_names_builtins(part, types) for part in parts)
        case ast.Subscript(value=ast.Name(id=name)):
            return name in types
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _names_builtins(left, types) and _names_builtins(right, types)
        case _:
            return False


def _consumed_at_once(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Generator expressions and lambdas that only the call that takes them uses, each with the name of that
    builtin.

    Methods are named `.method`, which no variable is called.
    """
    match node:
        case ast.Call(func=ast.Name(id=name), args=[only], keywords=keywords) if name in CONSUMING:
            if isinstance(only, ast.GeneratorExp):
                yield only, name
            # What `default` and `start` hold may be the result.
            yield from (
                (part.value, name)
                for part in keywords
                if part.arg == "key"
                and part.arg in CONSUMING_KEYWORDS.get(name, ())  # `dict(xs, key=f)` keeps `f`
                and isinstance(part.value, ast.Lambda)
                # None of its values can see the variables around it.
                and not any(
                    isinstance(node, ast.Lambda | ast.GeneratorExp) for node in below(part.value.body)
                )
            )
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str()), attr="join"),
            args=[ast.GeneratorExp() as part],
        ):
            yield part, ".method"


def comprehension_targets(node: ast.AST) -> set[int]:
    """The `id` of every name in the targets of a comprehension, which are variables of its own."""
    if not isinstance(node, _COMPREHENSIONS):
        return set()
    return {id(inner) for generator in node.generators for inner in below(generator.target)}


@lru_cache(maxsize=512)
def free_names(scope: ast.AST) -> frozenset[str]:
    """The names that a nested function, lambda, class or comprehension takes from the scope around it.

    Decided by scopes and not by spelling: a name that the nested scope binds is its own. Renaming a variable
    therefore changes nothing in the result but the name.
    """
    match scope:
        case ast.FunctionDef(args=args, body=body) | ast.AsyncFunctionDef(args=args, body=body):
            own, inner = set(parameter_names(args)), list[ast.AST](body)
        case ast.Lambda(args=args, body=value):
            own, inner = set(parameter_names(args)), [value]
        case ast.ClassDef(body=body):
            own, inner = set(), list[ast.AST](body)
        case _:
            own, inner = set(), []
    # Type parameters are scopes of their own, which are evaluated late; so are annotations from Python 3.14
    # on.
    deferred: list[ast.AST] = [*getattr(scope, "type_params", [])]
    if isinstance(scope, FunctionNode):
        notes = [*(arg.annotation for arg in parameter_nodes(scope.args)), scope.returns]
        deferred += [note for note in notes if note is not None]
    late = set[str]().union(*(_used(part) for part in deferred))
    outer: set[str] = set()
    counted: set[int] = set()
    for node in nodes_inside(scope) if isinstance(scope, FunctionNode | ast.ClassDef) else own_nodes(inner):
        counted |= comprehension_targets(node)
        if isinstance(node, ast.Global | ast.Nonlocal):
            outer.update(node.names)
        elif id(node) not in counted:
            own.update(bound_by(node))
    if isinstance(scope, ast.ClassDef):
        # The names of a class body are hidden from everything inside it that is a scope of its own.
        used = set[str]().union(*(_used(node, frozenset(own)) for node in inner))
    else:
        used = (set[str]().union(*(_used(node) for node in inner)) if inner else _used(scope)) - own
    return frozenset(used | outer | late)


def _used(node: ast.AST, members: frozenset[str] = frozenset()) -> set[str]:
    """The names that evaluating a node takes from its scope.

    `members` are the names of a class body that holds the node itself, which nested scopes do not see.
    """
    match node:
        case ast.Name(id=name):
            return {name} - members if isinstance(node.ctx, ast.Load) else set()
        # In a comprehension it binds a variable of the scope around it: whenever it runs.
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            return _used(value, members) | {name} - members
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
            return set(free_names(node)).union(*(_used(part, members) for part in _outer_expressions(node)))
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            # The first iterable is evaluated outside of the comprehension, where its targets are not bound
            # yet.
            targets = {name for part in node.generators for name in stored_names(part.target)}
            parts = [part for part in children(node) if not isinstance(part, ast.comprehension)]
            parts += [condition for part in node.generators for condition in part.ifs]
            parts += [part.iter for part in node.generators[1:]]
            parts += [part.target for part in node.generators]  # `for xs[i] in …` reads `xs` and `i`
            inside = set[str]().union(*(_used(part) for part in parts))
            return (inside - targets) | _used(node.generators[0].iter, members)
        case _:
            return set[str]().union(*(_used(child, members) for child in children(node)))


def _outer_expressions(node: ast.AST) -> list[ast.AST]:
    """The expressions of a definition that are evaluated in the scope around it."""
    match node:
        case ast.FunctionDef(decorator_list=decorators) | ast.AsyncFunctionDef(decorator_list=decorators):
            result = [node.returns] if node.returns else []
            return [*decorators, *outer_parts(node.args), *result]
        case ast.Lambda(args=args):
            return [*outer_parts(args)]
        case ast.ClassDef():
            return [*node.decorator_list, *node.bases, *node.keywords]
        case _:
            return []


def _assigned_values(node: ast.AST) -> Iterator[tuple[ast.Name, ast.expr | None]]:
    """The Name nodes that a node binds, each with the expression bound to it."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name() as target, value=value):
            # Without a value nothing is bound, though the name is local.
            if value is not None:
                yield target, value
        # `x += y` binds `x` to a value of the type of `x + y`.
        case ast.AugAssign(target=ast.Name(id=name) as target):
            left = ast.copy_location(ast.Name(id=name, ctx=ast.Load()), target)
            yield target, ast.copy_location(ast.BinOp(left=left, op=node.op, right=node.value), node)
        case ast.NamedExpr(target=ast.Name() as target, value=value):
            yield target, value
        # The item of a `range` is an int: `range(…)[0]` has its type.
        case ast.For(target=ast.Name() as target, iter=ast.Call(func=ast.Name(id="range"))):
            first = ast.copy_location(ast.Constant(value=0), target)
            yield target, ast.copy_location(ast.Subscript(node.iter, first, ast.Load()), target)


def bound_by(node: ast.AST) -> Sequence[str]:
    """The names that this very node binds or unbinds."""
    place = BINDING.get(node.__class__)
    if place is None or (place == "id" and node.ctx.__class__ is ast.Load):  # type: ignore[attr-defined]
        return ()
    bound: str | list[ast.alias] | None = getattr(node, place)
    if isinstance(bound, list):
        return [alias.asname or alias.name.partition(".")[0] for alias in bound]
    return () if bound is None else (bound,)


BINDING: Final[Mapping[type[ast.AST], str]] = {
    ast.Name: "id", ast.arg: "arg", ast.FunctionDef: "name", ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name", ast.Import: "names", ast.ImportFrom: "names", ast.ExceptHandler: "name",
    ast.MatchAs: "name", ast.MatchStar: "name", ast.MatchMapping: "rest",
}  # fmt: skip
"""The kinds of nodes that may bind names, each with the field that has them."""


def bound_names(body: Sequence[ast.AST]) -> frozenset[str]:
    """The names that statements bind in their own scope."""
    return frozenset(name for node in own_nodes(body) for name in bound_by(node))


def stored_names(node: ast.AST) -> Iterator[str]:
    """The names that a target, pattern or statement binds, those bound in nested scopes included."""
    for inner in below(node):
        yield from bound_by(inner)


def settle_ownership(function: FunctionNode, facts: VariableFacts) -> frozenset[str]:
    """Locals that only ever hold containers made here (displays, empty calls, `**kwargs`) and never escape.

    Uses that cannot leak the container: a method of `METHOD_EFFECTS` (a view of it only where it is iterated
    over), subscription, iteration, `len` and other builtins that consume it, membership, truth, `return`. Any
    other use of the name disqualifies it.
    """
    owned = {
        name
        for name, kind in facts.types.items()
        if kind in CONTAINERS
        # `f = lambda: x` keeps the container where later code finds it.
        and name not in facts.captured
        and all(_makes_container(value, facts) for value in facts.values[name])
    }
    if not owned:
        return frozenset()
    nodes = nodes_inside(function)
    # A lambda that sees an owned container is used up by its call, but what it does with it counts.
    lambdas = [node for node in nodes if isinstance(node, ast.Lambda)]
    if lambdas:
        nodes = (*nodes, *own_nodes([node.body for node in lambdas]))
    unlike = facts.unlike.union(*(parameter_names(node.args) for node in lambdas))
    harmless = {id(use) for node in nodes for use in _harmless_uses(node, facts, unlike)}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in owned and id(node) not in harmless:
            owned.discard(node.id)
    return frozenset(owned)


def method_effect(kind: str | None, node: ast.Call) -> MethodEffect | None:
    """What calling this method of a builtin container does, if it is known; `kind` is the type of the
    container.
    """
    if not isinstance(node.func, ast.Attribute) or node.keywords:
        return None
    use = METHOD_EFFECTS.get(kind or "", {}).get(node.func.attr)
    if use is None or any(isinstance(argument, ast.Starred) for argument in node.args):
        return None
    return use if use.least <= len(node.args) <= use.most else None


def _makes_container(value: ast.expr | None, facts: VariableFacts) -> bool:
    match value:
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id="list" | "dict" | "set" as name), keywords=[]):
            # A function of the text may be called `list`.
            return name not in facts.unlike
        case ast.Call(func=ast.Name(id=name)) if name not in facts.unlike:
            quiet = facts.looks.bindings.called(name)
            return quiet is not None and quiet.gives in CONTAINERS
        case _:
            return False


def _harmless_uses(node: ast.AST, facts: VariableFacts, unlike: frozenset[str]) -> Iterator[ast.AST]:
    match node:
        case ast.Assign(targets=[ast.Name() as target]) | ast.AnnAssign(target=ast.Name() as target):
            yield target
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name) as use, attr=attr)):
            if method_effect(facts.types.get(name), node) is not None and attr not in VIEWS:
                yield use
        case ast.Call(func=ast.Name(id=name), args=[use], keywords=[]) if (
            name == "len" or name in CONSUMING
        ) and name not in unlike:
            yield from _iterated_names(use, unlike)
        case ast.Subscript(value=ast.Name() as use):
            yield use
        case ast.For(iter=use) | ast.comprehension(iter=use):
            yield from _iterated_names(use, unlike)
        case ast.Return(value=ast.Name() as use):
            yield use
        # What a `return` hands out can be changed only after the call.
        case ast.Return(value=ast.Tuple(elts=elements)):
            yield from (element for element in elements if isinstance(element, ast.Name))
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[ast.Name() as use]):
            # `x in x` compares the container with its own items, whose `__eq__` then gets it.
            if not (isinstance(left, ast.Name) and left.id == use.id):
                yield use
        case ast.If(test=ast.Name() as use) | ast.UnaryOp(op=ast.Not(), operand=ast.Name() as use):
            yield use


def _iterated_names(node: ast.expr, unlike: frozenset[str]) -> Iterator[ast.AST]:
    """The name of a container that is iterated over, directly or through a view of it.

    `unlike` are the names that mean no builtin in this function.
    """
    match node:
        case ast.Name():
            yield node
        case ast.Call(func=ast.Attribute(value=ast.Name() as use, attr=attr), args=[], keywords=[]):
            # `for k in d.keys()` iterates over the view and drops it; `v = d.keys()` would keep it.
            if attr in VIEWS:
                yield use
        case ast.Call(func=ast.Name(id="enumerate" | "zip" | "reversed" as name), args=args):
            if name not in unlike:  # `enumerate` of this file may keep the container
                for argument in args:
                    yield from _iterated_names(argument, unlike)
