"""What Python expressions may do: the names they touch, whether they may raise, observe or act.

Builtin types and literals are known exactly. Every other object is foreign: its class is unknown, so its
methods may run any code. Calls of unknown functions and methods, iteration over foreign objects, and stores
anywhere but on `self` may do anything. The assumptions that this rests on are those of `effects`, which adds
calls.
"""

import ast
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

from codeaudit.transforms.dependence.effects import (
    ANYTHING,
    BARRIER,
    EXPECTS,
    LOOKS_UP,
    OBSERVES,
    RAISES,
    STORES,
)
from codeaudit.transforms.python.analysis.comparisons import gives_bool, is_exact, is_exact_membership
from codeaudit.transforms.python.analysis.facts import VariableFacts, free_names, outer_parts, stored_names
from codeaudit.transforms.python.analysis.knowledge import (
    ATTRIBUTES,
    BUILTINS,
    CONTAINERS,
    KNOWN,
    MODULE_NAMES,
    MODULES,
    NUMBERS,
    PLAIN,
    SEQUENCES,
)
from codeaudit.transforms.python.analysis.looks import READING, QuietFunction
from codeaudit.transforms.python.parsing import FunctionNode, dotted
from codeaudit.transforms.python.walking import below

LOOKS: Final = OBSERVES | RAISES
"""What looking at a foreign object may do."""
SHARED: Final = "[]"
"""Stands, among the places written, for the contents of every container that other code may reach."""
SUBMODULES: Final = ".import"
"""Stands, among the places written, for the modules that are attributes of other modules."""
UNSETTLED: Final = "unsettled"
"""The type of a local whose values have not been typed yet; see `effects.settle_types`."""

_TYPE_NAMES: Final = {
    int: "int", float: "float", bool: "bool", str: "str", bytes: "bytes", type(None): "none",
    type(...): "ellipsis",
}  # fmt: skip
_EXACT_ARITHMETIC: Final = (ast.Add, ast.Sub, ast.Mult)
_REPEATED: Final = frozenset({"str", "bytes", "list", "tuple"})
_NEW: Final = (
    ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.Call, ast.BinOp, ast.Subscript,
)  # fmt: skip
"""Expressions that give a new object whenever they certainly give a builtin container."""
_FIELD: Final = re.compile(r"%(?:\([^)]*\))?[-+ #0]*[\d*]*(?:\.[\d*]+)?[hlL]?.", re.DOTALL)
"""A field of a format of `%`; its last character says what it makes of the value."""
UNKNOWN_ITEM: Final = ast.Constant(value=None)
"""Stands for an item of unknown type."""
_MODULES: Final = MODULES.keys() | MODULE_NAMES
"""Modules whose attributes are plain."""
_EXACT_BITS: Final = (ast.BitAnd, ast.BitOr, ast.BitXor)


class ExpressionEffects(ABC):
    """Collects the effects of the expressions of one statement.

    The methods add to `reads`, `writes`, `stored` and `flags`. Those that return `str | None` return the name
    of the builtin type of the value if it is certain, else `None`.
    """

    __slots__ = (
        "definite", "facts", "flags", "reads", "shadow", "sometimes", "stored", "stored_reads", "touched",
        "writes",
    )  # fmt: skip

    def __init__(self, facts: VariableFacts, definite: frozenset[str]) -> None:
        """`facts` are those of the function around the statement; `definite` are the locals certainly bound
        there.
        """
        self.facts = facts
        self.definite = definite
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.stored: set[str] = set()
        """Places written that are not variables: `.name` (an attribute of `self`) or `SHARED`."""
        self.stored_reads: set[str] = set()
        """Places read that are not variables."""
        self.sometimes: set[str] = set()
        """Names that are written and maybe not bound: `:=` is not always evaluated (`a and (b := c)`), and a
        change of a container binds nothing."""
        self.touched: set[str] = set()
        """Names whose objects a method call, attribute or subscript write may change.

        The relation of the papers counts them as written.
        """
        self.flags = 0
        self.shadow: frozenset[str] = frozenset()

    @abstractmethod
    def call(self, node: ast.Call) -> str | None:
        """Collect a call."""

    @abstractmethod
    def passes_items_on(self, node: ast.expr) -> bool:
        """Collect an expression if it is a call that only passes on items of its arguments, as `zip` does."""

    # ── names ────────────────────────────────────────────────────────────────────────────────────────

    def read(self, name: str) -> str | None:
        """A variable is read; returns its type if it is certain."""
        if name in self.shadow:
            return None
        facts = self.facts
        if name not in facts.local:
            if name not in BUILTINS or name in facts.rebound:
                self.expect(LOOKS_UP, name)
            if name in facts.rebound:
                return None
            return ATTRIBUTES.get(facts.looks.bindings.imports.get(name, ""))
        self.reads.add(name)
        # A closure may rebind a captured variable whenever other code runs.
        if name in facts.captured:
            self.flags |= OBSERVES
        if name not in self.definite:
            self.flags |= RAISES  # UnboundLocalError
        return facts.types.get(name)

    def write(self, name: str) -> None:
        """A variable is bound; a name that is not local may be anybody's global."""
        if name not in self.facts.local:
            self.flags |= ANYTHING
            return
        self.writes.add(name)
        if name in self.facts.captured:
            self.flags |= STORES

    def release(self, target: ast.expr, value: ast.expr | None = None) -> None:
        """A variable loses its value for a constant, or altogether. What was made here may be gone then: a
        file is closed, a buffer may grow again.

        `value` is what the target gets, if it is assigned to.
        """
        if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            for part, item in zip(target.elts, value.elts, strict=False):
                self.release(part, item)
        elif isinstance(target, ast.Name) and target.id in self.definite & self.facts.unshared:
            self.flags |= ANYTHING if value is None or is_constant(value) else 0

    def expect(self, look: int = OBSERVES, name: str = "") -> None:
        """Something that exists is looked up (`lookups-exist`).

        Args:
            look: the flags of the look-up.
            name: that of a global or an attribute, which the file may delete.
        """
        doubts = self.facts.doubts or self.facts.looks.removes(name)
        self.flags |= look | (RAISES if doubts else EXPECTS)

    def look(self) -> None:
        """A foreign object is looked at, which may run methods of it. They act only if the text shows it.

        One method may run another: `x < y` may be that of a foreign base class, which iterates over `x`. It
        may also read a property of `x`; `shown` counts that among the methods.
        """
        self.flags |= ANYTHING if self.facts.looks.methods else LOOKS

    def look_anyhow(self) -> None:
        """A foreign object is looked at, and any of its attributes may be read."""
        self.flags |= ANYTHING if self.facts.looks.methods or self.facts.looks.acting else LOOKS

    def store(self, place: str) -> None:
        """A place that other code may see is changed, and nothing else happens."""
        self.flags |= STORES
        self.stored.add(place)

    def is_local(self, name: str) -> bool:
        """Whether a name is a variable, and therefore neither a builtin nor a module."""
        return name in self.facts.local or name in self.shadow or name in self.facts.rebound

    def quiet_function(self, func: ast.expr) -> QuietFunction | None:
        """The function that a call of this expression runs, if the file shows that it only looks."""
        if not isinstance(func, ast.Name) or self.is_local(func.id):
            return None
        return self.facts.looks.bindings.called(func.id)

    def is_owned(self, node: ast.expr) -> bool:
        """Whether an expression is a variable whose container no other code can reach."""
        return isinstance(node, ast.Name) and node.id in self.facts.owned and node.id not in self.shadow

    def owned_in(self, node: ast.expr) -> frozenset[str]:
        """The owned dicts and sets that an expression mentions."""
        sized = {name for name in self.facts.owned if self.facts.types[name] != "list"}
        return frozenset(part.id for part in below(node) if isinstance(part, ast.Name) and part.id in sized)

    def has_plain_keys(self, node: ast.expr) -> bool:
        """Whether a look-up in a dict or set compares the key with values of plain types only.

        A foreign key of the same hash would be asked by its `__eq__`.
        """
        match node:
            case ast.Name(id=name):
                return name in self.facts.plain_keys and name not in self.shadow
            case ast.Set(elts=keys) | ast.Dict(keys=keys):
                return all(isinstance(key, ast.Constant) for key in keys)
            case _:
                return False

    def truth(self, node: ast.expr) -> None:
        """An expression is tested for truth."""
        kind = self.visit(node)
        if kind not in KNOWN:
            self.look()
        elif kind in CONTAINERS:
            self.contents(node)

    def touch(self, node: ast.expr) -> None:
        """The object at the root of a chain of attributes and subscripts is changed."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        if isinstance(node, ast.Name) and node.id in self.facts.local:
            self.touched.add(node.id)

    def iterate(self, node: ast.expr) -> None:
        """An expression is iterated over from the first item to the last."""
        if isinstance(node, ast.GeneratorExp):
            self.visit(node)
        elif not self.passes_items_on(node):
            self.ask_for_items(node, self.visit(node))

    def spread(self, node: ast.expr) -> None:
        """An expression is iterated over for a list: `[*xs]`."""
        self.iterate(node)
        if self.may_be_long(node):
            self.flags |= RAISES

    def may_be_long(self, node: ast.expr) -> bool:
        """Whether an expression may be a range of more items than a list can have, which raises at once."""
        match node:
            case ast.Name(id=name):
                return name not in self.shadow and self.facts.types.get(name) == "range"
            case ast.Call(func=ast.Name(id="range" as name), args=bounds) if not self.is_local(name):
                return not all(map(_is_moderate, bounds))
            case _:
                return False

    def ask_for_items(self, node: ast.expr, kind: str | None) -> None:
        """An expression of type `kind`, collected already, is asked for an iterator or for its items."""
        if kind in CONTAINERS:
            self.contents(node)
        elif self.is_annotated(node):
            self.flags |= LOOKS
        elif kind not in SEQUENCES:
            self.flags |= ANYTHING  # the `__iter__` of a foreign object, or an iterator that this exhausts

    def convert(self, node: ast.expr, kind: str | None) -> None:
        """An expression of type `kind`, collected already, is converted to a number, as `x` in `s[x]`."""
        if kind in PLAIN:
            self.flags |= RAISES
        else:
            self.flags |= LOOKS if self.is_annotated(node) else ANYTHING

    def is_annotated(self, node: ast.expr) -> bool:
        """Whether an expression is a parameter whose annotation names builtin types (`annotations-hold`)."""
        return isinstance(node, ast.Name) and node.id in self.facts.annotated and node.id not in self.shadow

    def unpack(
        self, target: ast.Tuple | ast.List, value: ast.expr | None, kind: str | None
    ) -> Sequence[ast.expr | None]:
        """A value of type `kind`, collected already, is unpacked into targets that are collected elsewhere.

        Exact from a tuple display of the same length; any other value is iterated over. Returns the value of
        each target, `None` where it is unknown.
        """
        if (
            isinstance(value, ast.Tuple)
            and len(value.elts) == len(target.elts)
            and not any(isinstance(element, ast.Starred) for element in (*target.elts, *value.elts))
        ):
            return value.elts
        self.flags |= RAISES  # there may be more or fewer items
        if isinstance(value, ast.GeneratorExp) or (value is not None and self.passes_items_on(value)):
            self.flags |= LOOKS
        elif value is None:
            self.flags |= ANYTHING
        else:
            self.ask_for_items(value, kind)
        return [None] * len(target.elts)

    def contents(self, node: ast.expr) -> None:
        """The contents of a container are read; other code may change them unless the container is owned."""
        if not self.is_own(node):
            self.flags |= LOOKS  # other code may change it while it is iterated over

    def is_own(self, node: ast.expr) -> bool:
        """Whether no other code can reach the container that an expression gives: it is owned, or new.

        `xs if c else ys` and `(zs := xs)` are neither, whatever `xs` is.
        """
        match node:
            case ast.Name():
                return self.is_owned(node)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_own(body) and self.is_own(orelse)
            case ast.BoolOp(values=values):
                return all(self.is_own(value) for value in values)
            case _:
                return isinstance(node, _NEW)

    # ── expressions ──────────────────────────────────────────────────────────────────────────────────

    def visit(self, node: ast.expr) -> str | None:
        """Collect an expression; returns the builtin type of its value if it is certain."""
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

    def _boolop(self, node: ast.BoolOp) -> str | None:
        kinds = {self.visit(value) for value in node.values[:-1]}
        # All operands but the last are tested for truth, which for a container looks at its contents.
        if not kinds <= KNOWN:
            self.look()
        if kinds & CONTAINERS:
            self.flags |= LOOKS
        kinds.add(self.visit(node.values[-1]))
        return kinds.pop() if len(kinds) == 1 else None

    def _unaryop(self, node: ast.UnaryOp) -> str | None:
        if isinstance(node.op, ast.Not):
            self.truth(node.operand)
            return "bool"
        kind = self.visit(node.operand)
        # `~1.5` raises; `-x` of a foreign object calls its `__neg__`.
        if kind not in NUMBERS or (isinstance(node.op, ast.Invert) and kind != "int"):
            self.look()
            return None
        return "int" if kind == "bool" else kind

    def _binop(self, node: ast.BinOp) -> str | None:
        left, right, op = self.visit(node.left), self.visit(node.right), node.op
        if UNSETTLED in (left, right):
            return UNSETTLED
        if left == right and left in ("str", "bytes", "tuple", "list") and isinstance(op, ast.Add):
            if left == "list":
                self.contents(node.left)
                self.contents(node.right)
            return left
        # `"%s" % x` formats `x`, and raises if the number of values is wrong.
        if left in ("str", "bytes") and isinstance(op, ast.Mod):
            self.look()
            if not _makes_text(node.left):
                for value in node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]:
                    self.convert(value, self.visit(value))
            return left if right in PLAIN or (right in KNOWN and _has_text(node.left)) else None
        if isinstance(op, ast.Mult):
            # `xs * n` repeats a sequence, and asks `n` for its `__index__`.
            for value, kind, other in ((node.right, right, left), (node.left, left, right)):
                if other in _REPEATED:
                    self.convert(value, kind)
        if left not in NUMBERS or right not in NUMBERS:
            self.look()
            return None
        return self._arithmetic(node, left, right)

    def _arithmetic(self, node: ast.BinOp, left: str, right: str) -> str | None:
        op = node.op
        floats = "float" in (left, right)
        whole = node.left if left != "float" else node.right
        if floats and left != right and not _fits_float(whole):
            self.flags |= RAISES  # a big int does not fit a float
        if isinstance(op, _EXACT_BITS) and left == right == "bool":
            return "bool"
        if isinstance(op, _EXACT_ARITHMETIC) or (isinstance(op, _EXACT_BITS) and not floats):
            return "float" if floats else "int"
        # Only a constant divisor is certainly not 0.
        divisor = isinstance(node.right, ast.Constant) and bool(node.right.value)
        if isinstance(op, ast.FloorDiv | ast.Mod) and divisor:
            return "float" if floats else "int"
        # `x / y` may divide by 0 or overflow, `x << y` raises for y < 0.
        self.flags |= RAISES
        if isinstance(op, ast.FloorDiv | ast.Mod | ast.LShift | ast.RShift) and not floats:
            return "int"
        # `(-8.0) ** 0.5` is complex, `2 ** -1` a float.
        return "float" if isinstance(op, ast.Div) or (floats and not isinstance(op, ast.Pow)) else None

    def _compare(self, node: ast.Compare) -> str | None:
        operands = [node.left, *node.comparators]
        kinds = [self.visit(value) for value in operands]
        for op, left, right, value in zip(node.ops, kinds, kinds[1:], node.comparators, strict=False):
            if isinstance(op, ast.In | ast.NotIn):
                exact = is_exact_membership(left, right, value)
                exact &= right not in ("dict", "set") or self.has_plain_keys(value)
                self._search(value, right)
                if right == "bytes" and left not in PLAIN:
                    self.flags |= ANYTHING  # `x in b"ab"` asks `x` for a number
            else:
                exact = is_exact(op, left, right)
            if not exact:
                self.look()
        collected = {id(operand): kind for operand, kind in zip(operands, kinds, strict=True)}
        pairs = zip(node.ops, operands, node.comparators, strict=False)
        boolean = all(
            gives_bool(
                op,
                left,
                right,
                lambda side: collected[id(side)] if id(side) in collected else self.visit(side),
            )
            for op, left, right in pairs
        )
        # `a < b < c` tests `a < b` for truth, and that may be an array.
        if len(node.ops) > 1 and not boolean:
            self.look()
        return "bool" if boolean else None

    def _search(self, node: ast.expr, kind: str | None) -> None:
        """An expression of type `kind`, collected already, is asked with `in` whether it holds a value."""
        if kind not in SEQUENCES:
            self.ask_for_items(node, kind)  # `x in y` iterates over an object that has no `__contains__`

    def _ifexp(self, node: ast.IfExp) -> str | None:
        self.truth(node.test)
        kinds = {self.visit(node.body), self.visit(node.orelse)}
        return kinds.pop() if len(kinds) == 1 else None

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set) -> str | None:
        for element in node.elts:
            kind = None
            if isinstance(element, ast.Starred):
                self.spread(element.value)
            else:
                kind = self.visit(element)
            # A set hashes and compares its elements: `{[]}` raises, and so may `{*xs}`.
            if isinstance(node, ast.Set) and kind not in PLAIN:
                self.look()
        return type(node).__name__.lower()

    _list = _tuple = _set = _sequence

    def _dict(self, node: ast.Dict) -> str | None:
        for key, value in zip(node.keys, node.values, strict=True):
            kind = self.visit(value)
            if key is None:
                self.look()
                self.flags |= 0 if kind == "dict" else ANYTHING
            elif self.visit(key) not in PLAIN:
                self.look()
        return "dict"

    def _lambda(self, node: ast.Lambda) -> str | None:
        self._definition(node)
        return "function"

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> str | None:
        outer = self.shadow
        for generator in node.generators:
            self.iterate(generator.iter)
            # `async for` suspends the function at every item.
            if generator.is_async:
                self.flags |= BARRIER
            self._item_target(generator.target, self.item(generator.iter))
            self.shadow |= frozenset(stored_names(generator.target))
            for condition in generator.ifs:
                self.truth(condition)
        if isinstance(node, ast.DictComp):
            kinds = [self.visit(node.key)]
            self.visit(node.value)
        else:
            kinds = [self.visit(node.elt)]
        self.shadow = outer
        # `[s.add(x) for x in s]`: a dict or set must not change its size under a loop.
        if any(self.owned_in(generator.iter) & self.writes for generator in node.generators):
            self.flags |= RAISES
        if isinstance(node, ast.SetComp | ast.DictComp) and kinds[0] not in PLAIN:
            self.look()
        return {"ListComp": "list", "SetComp": "set", "DictComp": "dict"}.get(type(node).__name__)

    def _item_target(self, target: ast.expr, value: ast.expr | None) -> None:
        """The target of a comprehension gets an item."""
        if isinstance(target, ast.Tuple | ast.List):
            for element, part in zip(target.elts, self.unpack(target, value, None), strict=True):
                self._item_target(element, part)
        elif isinstance(target, ast.Subscript):
            self.assign_item(target)
        elif isinstance(target, ast.Starred):
            self._item_target(target.value, None)
        elif not isinstance(target, ast.Name):
            self.flags |= ANYTHING  # `for x.y in …` stores an attribute

    def item(self, node: ast.expr) -> ast.Tuple | None:
        """What each item of an iterable looks like, if it is certainly a tuple of known length."""
        match node:
            case ast.Call(func=ast.Name(id="enumerate" as name)) if not self.is_local(name):
                count = 2
            case ast.Call(func=ast.Name(id="zip" as name), args=args) if not self.is_local(name):
                if any(isinstance(argument, ast.Starred) for argument in args):
                    return None
                count = len(args)
            case ast.Call(func=ast.Attribute(value=container, attr="items")) if (
                type(self)(self.facts, self.definite).visit(container) == "dict"
            ):
                count = 2
            case _:
                return None
        return ast.Tuple(elts=[UNKNOWN_ITEM] * count, ctx=ast.Load())

    _listcomp = _setcomp = _dictcomp = _generatorexp = _comprehension

    def _joinedstr(self, node: ast.JoinedStr) -> str | None:
        kind: str | None = "str"
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                kind = self.visit(part.value)
                if kind not in PLAIN:
                    self.look()
                elif part.format_spec is not None or kind == "int":
                    self.flags |= RAISES  # a huge int has no decimal text
                if part.format_spec is not None:
                    self.visit(part.format_spec)
        # A single field alone: the result is what `__format__` returns, which may be of a subclass of str.
        return "str" if len(node.values) != 1 or kind in PLAIN else None

    def _subscript(self, node: ast.Subscript) -> str | None:
        kind = self.visit(node.value)
        if not isinstance(node.slice, ast.Slice):
            key = self.visit(node.slice)
            self.flags |= RAISES  # IndexError, KeyError
            if key not in PLAIN:
                self.look()
            if kind in SEQUENCES or kind == "list":
                self.convert(node.slice, key)
            if kind in CONTAINERS:
                self.contents(node.value)
                if kind != "list" and not self.has_plain_keys(node.value):
                    self.look()
            elif kind not in SEQUENCES:
                self.look()
            # `b"ab"[x]` is an int, or bytes if `x` is a slice.
            return "str" if kind == "str" else "int" if kind in ("bytes", "range") and key in PLAIN else None
        parts = [part for part in (node.slice.lower, node.slice.upper, node.slice.step) if part is not None]
        bounds = [self.visit(part) for part in parts]
        if kind in SEQUENCES or kind == "list":
            # A slice with `int` bounds never raises; a step of 0 does, and `__index__` may run any code.
            for part, bound in zip(parts, bounds, strict=True):
                if bound not in ("int", "none"):
                    self.convert(part, bound)
            self.flags |= RAISES if node.slice.step is not None else 0
            if kind == "list":
                self.contents(node.value)
            return kind
        self.look()
        return None

    def _attribute(self, node: ast.Attribute) -> str | None:
        self.visit(node.value)
        if self.dotted(node.value) in _MODULES:
            self.expect(LOOKS_UP, node.attr)
            self.stored_reads.add(SUBMODULES)
            return ATTRIBUTES.get(self.dotted(node))
        else:
            self.look_at(node.attr, of_receiver=self.is_receiver(node.value))
            return None

    def look_at(self, attribute: str, *, of_receiver: bool = False) -> None:
        """An attribute of a foreign object is read."""
        if of_receiver and self._is_known(attribute):
            if attribute in self.facts.stored_attributes:
                self.stored_reads.add(f".{attribute}")
            self.expect(LOOKS_UP, attribute)
            return
        looks = self.facts.looks
        methods = READING | {attribute}
        if not looks.acting.isdisjoint(methods):
            self.flags |= ANYTHING
        elif not of_receiver or not looks.raising.isdisjoint(methods):
            self.flags |= LOOKS
        # Only a store to this very place changes a plain attribute. A public one may be a property, whose
        # getter looks at any state.
        elif self.is_plain(attribute) and attribute in self.facts.stored_attributes:
            self.stored_reads.add(f".{attribute}")
            self.expect(LOOKS_UP, attribute)
        else:
            self.expect(name=attribute)

    def is_plain(self, attribute: str) -> bool:
        """Whether an attribute of the receiver is plain (`attributes-plain`).

        It is private, and nothing in the text shows that storing it runs code; or the text holds the whole
        hierarchy of the class, where nothing gives it code.
        """
        if self._is_known(attribute):
            return True
        looks = self.facts.looks
        return is_private(attribute) and attribute not in looks.computed and not looks.stores

    def _is_known(self, attribute: str) -> bool:
        plain = self.facts.plain
        return bool(plain) and all(attributes.holds(attribute) for attributes in plain)

    def is_receiver(self, node: ast.expr) -> bool:
        """Whether an expression is the `self` or `cls` of the function."""
        return isinstance(node, ast.Name) and node.id == self.facts.receiver and node.id not in self.shadow

    def is_module(self, node: ast.expr) -> bool:
        """Whether an expression is a global name, or a chain of attributes of one."""
        root = dotted(node).partition(".")[0]
        return bool(root) and not self.is_local(root)

    def dotted(self, node: ast.expr) -> str:
        """The name in its module of what a global name, or a chain of attributes of one, stands for:
        `os.path.join` for `path.join` after `from os import path`. Empty for anything else.

        A name that the text does not show to be imported stands for the module that it is called like.
        """
        root, dot, rest = dotted(node).partition(".")
        if not root or self.is_local(root):
            return ""
        return f"{self.facts.looks.bindings.imports.get(root, root)}{dot}{rest}"

    def _namedexpr(self, node: ast.NamedExpr) -> str | None:
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

    _await = _yield = _yieldfrom = _suspended

    def _call(self, node: ast.Call) -> str | None:
        return self.call(node)

    # ── stores ───────────────────────────────────────────────────────────────────────────────────────

    def assign_attribute(self, target: ast.Attribute) -> None:
        """An attribute is bound; plain only for some attributes of the receiver (`attributes-plain`)."""
        self.visit(target.value)
        if self.is_receiver(target.value) and self.is_plain(target.attr):
            self.store(f".{target.attr}")
            # `vars(self)` shows which of two attributes came first.
            if self.facts.looks.listed:
                self.store(_NAMESPACE)
        else:
            self.flags |= ANYTHING

    def assign_item(self, target: ast.Subscript) -> None:
        """An item or a slice is bound."""
        kind = self.visit(target.value)
        key = self.visit(target.slice) if not isinstance(target.slice, ast.Slice) else UNSETTLED
        # First: a container that no other code can reach has no part in `ANYTHING`.
        if kind in CONTAINERS or self.is_owned(target.value):
            self.change(target.value)
        # `x[i:j] = y` iterates over `y`, and a foreign `x` runs its `__setitem__`.
        if kind not in CONTAINERS or key == UNSETTLED:
            if isinstance(target.slice, ast.Slice):
                self.visit(target.slice)
            self.flags |= ANYTHING
            return
        if kind in ("list", "set"):
            self.flags |= RAISES  # IndexError; TypeError of a set
            self.convert(target.slice, key)
        elif key not in PLAIN or not self.has_plain_keys(target.value):
            self.look()

    def change(self, container: ast.expr) -> None:
        """The contents of a builtin container change."""
        if self.is_owned(container) and isinstance(container, ast.Name):
            self.writes.add(container.id)
            # It binds nothing: in `c and xs.append(1)` the name may stay unbound.
            self.sometimes.add(container.id)
        else:
            self.store(SHARED)

    # ── definitions ──────────────────────────────────────────────────────────────────────────────────

    def definition(self, node: FunctionNode) -> None:
        """A nested `def` is executed: decorators, defaults and annotations run, and free variables are
        captured.
        """
        for decorator in node.decorator_list:
            self.visit(decorator)
            self.flags |= ANYTHING  # the decorator is called
        if node.returns is not None:
            self.visit(node.returns)
        self._definition(node)
        self.write(node.name)

    def _definition(self, node: FunctionNode | ast.Lambda) -> None:
        for part in outer_parts(node.args):
            self.visit(part)
        self.reads |= (free_names(node) & self.facts.local) - self.shadow


def is_constant(node: ast.expr) -> bool:
    """Whether an expression is a literal, one with a sign, or a tuple of these: `-1`, `()`."""
    match node:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Tuple(elts=items):
            return all(map(is_constant, items))
        case _:
            return False


_NAMESPACE: Final = ".__dict__"
"""The place that stands for the order of an object's attributes."""


def is_private(attribute: str) -> bool:
    """Whether the spelling of an attribute says that it is no part of an interface: `_x`, but not `__x__`."""
    return attribute.startswith("_") and not attribute.endswith("__")


def _makes_text(node: ast.expr) -> bool:
    """Whether a format of `%` is written out and has no fields for numbers, such as `%d`."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return False
    return all(field[-1] in "sra%" for field in _FIELD.findall(node.value))


_CONVERSION: Final = re.compile(r"%(?:\([^)]*\))?[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?[hlL]?[a-zA-Z]")


def _has_text(node: ast.expr) -> bool:
    """Whether a template for `%` holds more than conversions, so that its result is a new string.

    `"%s" % x` may be the very object that `x.__str__` returns, of a subclass of str.
    """
    match node:
        case ast.Constant(value=str(text)):
            return _CONVERSION.sub("", text) != ""
        case _:
            return False


def _is_moderate(node: ast.expr) -> bool:
    """Whether a bound of a range is certainly not huge: a short literal, a length, or a sum of these."""
    match node:
        case ast.Constant(value=int(value)):
            return abs(value) < 1 << 31
        case ast.Call(func=ast.Name(id="len")):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_moderate(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.FloorDiv(), right=right):
            return _is_moderate(left) and _is_moderate(right)
        case _:
            return False


def _fits_float(node: ast.expr) -> bool:
    """Whether an expression is a constant that a float can hold: an int of 310 digits is too large."""
    match node:
        case ast.Constant(value=int(value)):
            return abs(value) < 2**1023
        case _:
            return False


_VISITORS: Final[dict[type[ast.expr], Callable[..., str | None]]] = {
    kind: getattr(ExpressionEffects, f"_{kind.__name__.lower()}")
    for kind in ast.expr.__subclasses__()
    if hasattr(ExpressionEffects, f"_{kind.__name__.lower()}")
}
"""The method of each kind of expression has its name, in lower case."""
