"""What Python expressions may do: the names they touch, whether they may raise, observe or act.

An expression does nothing but compute only where that is certain from builtin types and literals; every
attribute access, unknown call, operator on values of unknown type, iteration or truth test of such a value
may run any code at all. Not counted as effects: MemoryError, RecursionError, KeyboardInterrupt, and the
texts and line numbers in tracebacks. Assumed: global names that a function reads exist, unless the function
has a `try` of its own.
"""

import ast
from collections.abc import Callable
from typing import Final

from transforms.dependence.effects import (
    ACTS,
    ANYTHING,
    BARRIER,
    OBSERVES,
    RAISES,
)
from transforms.python.analysis.facts import Facts, FunctionNode, free_names, settle_ownership
from transforms.python.analysis.knowledge import (
    BUILTINS,
    CONTAINERS,
    EMPTY_CALLS,
    KNOWN,
    NUMBERS,
    OWNED_MUTATIONS,
    OWNED_USES,
    PLAIN,
    REFLECTION,
    STR_METHODS,
)

_TYPE_NAMES: Final = {
    int: "int", float: "float", bool: "bool", str: "str", bytes: "bytes", type(None): "none",
    type(...): "ellipsis",
}  # fmt: skip
_EXACT_ARITHMETIC: Final = (ast.Add, ast.Sub, ast.Mult)
_EXACT_BITS: Final = (ast.BitAnd, ast.BitOr, ast.BitXor)
UNSETTLED: Final = "unsettled"


class Reading:
    """Collects the effects of the expressions of one statement."""

    __slots__ = ("definite", "facts", "flags", "maybe", "reads", "shadow", "sometimes", "touched", "writes")

    def __init__(self, facts: Facts, definite: frozenset[str], maybe: frozenset[str]) -> None:
        self.facts = facts
        self.definite = definite
        self.maybe = maybe
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.sometimes: set[str] = set()
        """Names bound by `:=`, which may stand where it is not always evaluated."""
        self.touched: set[str] = set()
        """Names whose objects a method call, attribute or subscript write may change; the papers' relation
        counts them as written."""
        self.flags = 0
        self.shadow: frozenset[str] = frozenset()

    # ── names ────────────────────────────────────────────────────────────────────────────────────────

    def read(self, name: str) -> str | None:
        """A variable is read; gives its type where that is certain."""
        if name in self.shadow:
            return None
        facts = self.facts
        if name not in facts.local:
            if name not in BUILTINS:
                self.flags |= OBSERVES | (RAISES if facts.has_try else 0)
            return None
        self.reads.add(name)
        if name in facts.captured:
            self.flags |= OBSERVES
        if name not in self.definite:
            self.flags |= RAISES
        return facts.types.get(name)

    def write(self, name: str) -> None:
        """A variable is bound. What it held before is dropped, and that may run a finaliser."""
        facts = self.facts
        if name not in facts.local:
            self.flags |= ANYTHING
            return
        self.writes.add(name)
        if name in facts.captured:
            self.flags |= ACTS
        if name in self.maybe and facts.types.get(name) not in PLAIN:
            self.flags |= ACTS

    def truth(self, node: ast.expr) -> None:
        """An expression is tested for truth."""
        if self.visit(node) not in KNOWN:
            self.flags |= ANYTHING

    def touch(self, node: ast.expr) -> None:
        """The object that an attribute or subscript chain hangs on is changed."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        if isinstance(node, ast.Name) and node.id in self.facts.local:
            self.touched.add(node.id)

    # ── expressions ──────────────────────────────────────────────────────────────────────────────────

    def visit(self, node: ast.expr) -> str | None:
        """Collect an expression; gives the builtin type of its value where that is certain."""
        method = _VISITORS.get(type(node))
        if method is None:
            self.flags |= ANYTHING
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.visit(child)
            return None
        return method(self, node)

    def _constant(self, node: ast.Constant) -> str | None:
        return _TYPE_NAMES.get(type(node.value))

    def _name(self, node: ast.Name) -> str | None:
        if isinstance(node.ctx, ast.Load):
            return self.read(node.id)
        self.write(node.id)
        return None

    def _bool_op(self, node: ast.BoolOp) -> str | None:
        kinds = {self.visit(value) for value in node.values[:-1]}
        if not kinds <= KNOWN:
            self.flags |= ANYTHING
        kinds.add(self.visit(node.values[-1]))
        return kinds.pop() if len(kinds) == 1 else None

    def _unary_op(self, node: ast.UnaryOp) -> str | None:
        if isinstance(node.op, ast.Not):
            self.truth(node.operand)
            return "bool"
        kind = self.visit(node.operand)
        if kind not in NUMBERS or (isinstance(node.op, ast.Invert) and kind != "int"):
            self.flags |= ANYTHING
            return None
        return "int" if kind == "bool" else kind

    def _bin_op(self, node: ast.BinOp) -> str | None:
        left, right, op = self.visit(node.left), self.visit(node.right), node.op
        if UNSETTLED in (left, right):
            return UNSETTLED
        if left == right and left in ("str", "bytes", "tuple") and isinstance(op, ast.Add):
            return left
        if left not in NUMBERS or right not in NUMBERS:
            self.flags |= ANYTHING
            return None
        floats = "float" in (left, right)
        if (
            floats
            and left != right
            and not isinstance(node.left if left != "float" else node.right, ast.Constant)
        ):
            self.flags |= RAISES  # a big int does not fit a float
        if isinstance(op, _EXACT_ARITHMETIC) or (isinstance(op, _EXACT_BITS) and not floats):
            return "float" if floats else "int"
        divisor = isinstance(node.right, ast.Constant) and bool(node.right.value)
        if isinstance(op, ast.FloorDiv | ast.Mod) and divisor:
            return "float" if floats else "int"
        self.flags |= RAISES
        return "float" if floats or isinstance(op, ast.Div) else None

    def _compare(self, node: ast.Compare) -> str | None:
        kinds = [self.visit(node.left), *(self.visit(value) for value in node.comparators)]
        exact = all(
            _exact_comparison(op, left, right, value)
            for op, left, right, value in zip(node.ops, kinds, kinds[1:], node.comparators, strict=False)
        )
        if not exact:
            self.flags |= ANYTHING
            return None
        for value in node.comparators:
            self._contents(value)
        return "bool"

    def _if_exp(self, node: ast.IfExp) -> str | None:
        self.truth(node.test)
        kinds = {self.visit(node.body), self.visit(node.orelse)}
        return kinds.pop() if len(kinds) == 1 else None

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set) -> str | None:
        for element in node.elts:
            kind = self.visit(element)
            if isinstance(element, ast.Starred) or (isinstance(node, ast.Set) and kind not in PLAIN):
                self.flags |= ANYTHING
        return type(node).__name__.lower()

    def _dict(self, node: ast.Dict) -> str | None:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None or self.visit(key) not in PLAIN:
                self.flags |= ANYTHING
            self.visit(value)
        return "dict"

    def _lambda(self, node: ast.Lambda) -> str | None:
        self._definition(node.args)
        self._closed_over(node)
        return "function"

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> str | None:
        outer = self.shadow
        for generator in node.generators:
            self.iterate(generator.iter)
            if generator.is_async:
                self.flags |= BARRIER
            targets = frozenset(
                inner.id for inner in ast.walk(generator.target) if isinstance(inner, ast.Name)
            )
            if not isinstance(generator.target, ast.Name):
                self.flags |= ANYTHING
            self.shadow |= targets
            for condition in generator.ifs:
                self.truth(condition)
        if isinstance(node, ast.DictComp):
            kinds = [self.visit(node.key)]
            self.visit(node.value)
        else:
            kinds = [self.visit(node.elt)]
        self.shadow = outer
        if isinstance(node, ast.SetComp | ast.DictComp) and kinds[0] not in PLAIN:
            self.flags |= ANYTHING
        return {"ListComp": "list", "SetComp": "set", "DictComp": "dict"}.get(type(node).__name__)

    def _joined(self, node: ast.JoinedStr) -> str | None:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                kind = self.visit(part.value)
                if kind not in PLAIN:
                    self.flags |= ANYTHING
                elif part.format_spec is not None or kind == "int":
                    self.flags |= RAISES  # a huge int has no decimal text
                if part.format_spec is not None:
                    self.visit(part.format_spec)
        return "str"

    def _subscript(self, node: ast.Subscript) -> str | None:
        kind = self.visit(node.value)
        if not isinstance(node.slice, ast.Slice):
            self.visit(node.slice)
            self.flags |= ANYTHING
            return None
        parts = [part for part in (node.slice.lower, node.slice.upper, node.slice.step) if part is not None]
        bounds = {self.visit(part) for part in parts}
        if kind in ("str", "bytes", "tuple") and node.slice.step is None and bounds <= {"int", "none"}:
            return kind
        self.flags |= ANYTHING
        return None

    def _attribute(self, node: ast.Attribute) -> str | None:
        self.visit(node.value)
        self.flags |= ANYTHING
        return None

    def _named(self, node: ast.NamedExpr) -> str | None:
        kind = self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.write(node.target.id)
            self.sometimes.add(node.target.id)
        return kind

    def _suspended(self, node: ast.Await | ast.Yield | ast.YieldFrom) -> str | None:
        if node.value is not None:
            self.visit(node.value)
        self.flags |= BARRIER
        return None

    # ── calls ────────────────────────────────────────────────────────────────────────────────────────

    def _call(self, node: ast.Call) -> str | None:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
        if name in REFLECTION:
            self.flags |= BARRIER
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func)
        if not isinstance(node.func, ast.Name) or node.func.id not in BUILTINS:
            return self._unknown_call(node)
        if node.func.id in self.facts.local or node.func.id in self.shadow:
            return self._unknown_call(node)
        if not node.args and not node.keywords and node.func.id in EMPTY_CALLS:
            return EMPTY_CALLS[node.func.id]
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            return self._unknown_call(node)
        return self._builtin(node, node.func.id)

    def _unknown_call(self, node: ast.Call) -> str | None:
        self.visit(node.func)
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.visit(argument.value if isinstance(argument, ast.Starred) else argument)
        self.flags |= ANYTHING
        return None

    def _builtin(self, node: ast.Call, name: str) -> str | None:
        kinds = [self.visit(argument) for argument in node.args]
        first = kinds[0] if kinds else None
        match name, len(kinds):
            case "len", 1 if first in ("str", "bytes", "tuple", "range"):
                return "int"
            case "len", 1 if first in CONTAINERS:
                self._contents(node.args[0])
                return "int"
            case "range", 1 | 2 if all(kind == "int" for kind in kinds):
                return "range"
            case "bool", 1 if first in PLAIN:
                return "bool"
            case "str" | "repr", 1 if first in PLAIN:
                self.flags |= RAISES if first == "int" else 0
                return "str"
            case "int", 1 if first in ("int", "bool"):
                return "int"
            case "float", 1 if first in ("float", "bool"):
                return "float"
            case "abs", 1 if first in NUMBERS:
                return "float" if first == "float" else "int"
            case "min" | "max", _ if len(kinds) > 1 and set(kinds) in ({"int"}, {"float"}, {"str"}):
                return first
            case "list", 1 if first in ("range", "str"):
                return "list"
            case "isinstance", 2 if first in PLAIN and _builtin_types(node.args[1]):
                return "bool"
            case "id", 1:
                return "int"
            case _:
                self.flags |= ANYTHING
                return None

    def _method(self, node: ast.Call, func: ast.Attribute) -> str | None:
        receiver = self.visit(func.value)
        self.touch(func.value)
        kinds = [self.visit(argument) for argument in node.args]
        plain = not node.keywords
        if receiver == "str" and plain and func.attr in STR_METHODS and all(kind == "str" for kind in kinds):
            return STR_METHODS[func.attr]
        if (
            isinstance(func.value, ast.Name)
            and func.value.id in self.facts.owned
            and plain
            and OWNED_USES.get(receiver or "", {}).get(func.attr) == len(kinds)
            and not any(isinstance(argument, ast.Starred) for argument in node.args)
        ):
            if func.attr in OWNED_MUTATIONS:
                self.writes.add(func.value.id)
                return "none"
            return receiver if func.attr == "copy" else None
        for keyword in node.keywords:
            self.visit(keyword.value)
        self.flags |= ANYTHING
        return None

    # ── iteration, contents, definitions ─────────────────────────────────────────────────────────────

    def iterate(self, node: ast.expr) -> None:
        """An expression is iterated over."""
        kind = self.visit(node)
        if kind in ("str", "bytes", "tuple", "range"):
            return
        if kind in CONTAINERS:
            self._contents(node)
        else:
            self.flags |= ANYTHING

    def _contents(self, node: ast.expr) -> None:
        """The contents of a container are looked at; others may change them unless it is owned."""
        if isinstance(node, ast.Name) and node.id in self.facts.local and node.id not in self.facts.owned:
            kind = self.facts.types.get(node.id)
            if kind in CONTAINERS:
                self.flags |= OBSERVES | RAISES  # changed while it is iterated over

    def definition(self, node: FunctionNode) -> None:
        """A nested `def` is executed: decorators, defaults and annotations, and what it closes over."""
        for decorator in node.decorator_list:
            self.visit(decorator)
            self.flags |= ANYTHING
        self._definition(node.args)
        if node.returns is not None:
            self.visit(node.returns)
        self._closed_over(node)
        self.write(node.name)

    def _definition(self, args: ast.arguments) -> None:
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        notes = [arg.annotation for arg in every if arg is not None]
        for part in (*args.defaults, *args.kw_defaults, *notes):
            if part is not None:
                self.visit(part)

    def _closed_over(self, scope: ast.AST) -> None:
        self.reads |= (free_names(scope) & self.facts.local) - self.shadow


def _exact_comparison(op: ast.cmpop, left: str | None, right: str | None, value: ast.expr) -> bool:
    match op:
        case ast.Is() | ast.IsNot():
            return True
        case ast.Eq() | ast.NotEq():
            return left in PLAIN and right in PLAIN
        case ast.In() | ast.NotIn():
            if right == "str":
                return left == "str"
            literal = isinstance(value, ast.Tuple | ast.List | ast.Set) and all(
                isinstance(element, ast.Constant) for element in value.elts
            )
            return left in PLAIN and literal
        case _:
            return (left in NUMBERS and right in NUMBERS) or (left == right and left in ("str", "bytes"))


def _builtin_types(node: ast.expr) -> bool:
    names = node.elts if isinstance(node, ast.Tuple) else [node]
    return all(
        isinstance(name, ast.Name) and name.id in ("int", "float", "bool", "str", "bytes") for name in names
    )


_VISITORS: Final[dict[type[ast.expr], Callable[..., str | None]]] = {
    ast.Constant: Reading._constant,
    ast.Name: Reading._name,
    ast.BoolOp: Reading._bool_op,
    ast.UnaryOp: Reading._unary_op,
    ast.BinOp: Reading._bin_op,
    ast.Compare: Reading._compare,
    ast.IfExp: Reading._if_exp,
    ast.List: Reading._sequence,
    ast.Tuple: Reading._sequence,
    ast.Set: Reading._sequence,
    ast.Dict: Reading._dict,
    ast.Lambda: Reading._lambda,
    ast.ListComp: Reading._comprehension,
    ast.SetComp: Reading._comprehension,
    ast.DictComp: Reading._comprehension,
    ast.GeneratorExp: Reading._comprehension,
    ast.JoinedStr: Reading._joined,
    ast.Subscript: Reading._subscript,
    ast.Attribute: Reading._attribute,
    ast.NamedExpr: Reading._named,
    ast.Await: Reading._suspended,
    ast.Yield: Reading._suspended,
    ast.YieldFrom: Reading._suspended,
    ast.Call: Reading._call,
}


def settle_types(function: FunctionNode, facts: Facts) -> None:
    """Complete the facts with types and ownership: a least fixed point over all values bound to each local.

    A captured variable that a nested function rebinds (`nonlocal`) has no certain type.
    """
    rebound = {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.Nonlocal | ast.Global)
        for name in node.names
    }
    candidates = {
        name: bound
        for name, bound in facts.values.items()
        if name not in rebound and name not in facts.fragile and None not in bound
    }
    types: dict[str, str | None] = dict.fromkeys(candidates, UNSETTLED)
    facts.types = types
    everything = facts.local
    changed = True
    while changed:
        changed = False
        for name, bound in candidates.items():
            if types[name] is None:
                continue
            kinds = {_type_of(value, facts, everything) for value in bound if value is not None} - {UNSETTLED}
            kind = UNSETTLED if not kinds else kinds.pop() if len(kinds) == 1 else None
            if kind != types[name]:
                # Upwards only: a type that was settled and then differs is no certain type.
                types[name] = kind if types[name] == UNSETTLED else None
                changed = True
        if not changed:
            break
    facts.types = {name: kind for name, kind in types.items() if kind is not None and kind != UNSETTLED}
    if any(kind in CONTAINERS for kind in facts.types.values()):
        facts.owned = settle_ownership(function, facts)


def _type_of(value: ast.expr, facts: Facts, everything: frozenset[str]) -> str | None:
    return Reading(facts, everything, frozenset()).visit(value)
