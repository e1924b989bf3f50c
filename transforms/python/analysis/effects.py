"""What Python expressions may do, calls included, and the types of locals. `expressions` holds the rest.

Builtins, methods of builtin types, and a few functions of standard modules are known; the tables are in
`knowledge`. A call of anything else may do anything.

What is assumed of other files stands in the ledger (`python/ledger.py`). Here are the details, by entry.
Iteration, unpacking, conversion to a number, imports and calls are not among them: these may do anything,
unless the types are certain.

`looks-quiet`
   Looking at a foreign object does not act, unless the text shows that it does. It may depend on any state
   and may raise, but changes nothing that another statement of the function sees. To look is
   - to read an attribute or an item: `x.size`, `x[0]`, `case Point(x=0)`, `super().name`;
   - to compare, or to ask an object with a `__contains__`: `x == y`, `x < y`; bytes ask the other side for
     its `__buffer__`;
   - to calculate: `x + y`, `-x`, `abs(x)`, `round(x)`, `operator.add(x, y)`;
   - to hash: `{x}`, `d[x]`;
   - to test for truth, and `len`: `if x`, `not x`, `len(x)`;
   - to make text: `f"{x}"`, `str(x)`, `"%s" % x`, `os.path.join(x)`;
   - to ask for the class: `isinstance(x, C)`, `issubclass(C, D)`. `x.__class__` does not raise.

   The class of `x` also decides what it makes of the other object. With `x` of unknown type, `x[n]`, `x * n`,
   `x % n` and `x < n` may ask `n` for a number, and `x | y` may ask `y` for its keys.

   The text shows that it does where one of its classes has a property or a method of the data model that is
   not certain only to look: `def __eq__(self, other): self.asked += 1`, `@cached_property`. A method that a
   decorator or a base of another file brings may read such a property. `shown` finds them in the whole file
   of the function, or in the text that was given. A class of another file is not seen: after
   `from models import Row`, `row.size` looks. The class of an object is state like any other: what
   `type(x)`, `callable(x)` and `super()` give is only known until unknown code runs, or until a store to
   `x.__class__` or to an attribute of the class.
`attributes-plain`
   A private attribute of `self` (`self._x`) is plain, unless the text shows a property, a descriptor or a
   `__setattr__`: storing it changes nothing else and does not raise, and reading one that the function
   stores gives what was stored. The text shows a `__setattr__`, too, where one of its classes has a base, a
   metaclass or a decorator from elsewhere (`torch.nn.Module`, `ctypes.Union`). A public attribute is plain
   only if the file holds the whole hierarchy of its class and gives it no code (`classes`): then `self` is
   an instance of this class, and no class of another file that derives from it gives the attribute code.
   Other attributes may be properties with setters.
`lookups-exist`
   What a function looks up exists where it looks it up: globals (`LIMIT`), attributes of modules (`os.sep`)
   and of `self` (`self.size`, unless the text shows a property of this name that may raise), modules that it
   imports, and the class that `super()` needs. This is not assumed in a function that tests what exists
   (`try`, `hasattr`) or that may swallow an exception (a `with`, unless `NEVER_SWALLOWING` has its manager),
   and a look-up and a deliberate exit keep their order.
`release-unseen`, `imports-independent`, `namespaces-unlisted`, `runs-through`, `nobody-between`
   Nobody observes the order in which values are dropped (`x = y` may run the `__del__` of the old value), but
   a variable that certainly has a value made in the function loses it in place for a constant or by `del`
   (`file = None`, `a = b = -1`, `pair = ()`). Nobody observes the order in which two standard modules are
   first imported (`import json`, `import csv`), or in which attributes first came into an object's
   `__dict__`, unless the text asks for all of them (`vars(x).items()`). Loops and calls end
   (`while not x: pass`, `os._exit(1)`). No other thread and no signal handler looks in between: of
   `self._rows = rows` and `self._ready = True` any may come first. Where a file has a `__del__`, threads, or
   a handler of `RecursionError` or `KeyboardInterrupt`, `reorder` leaves the statements in their order that
   this is about, and other transforms are not used (`capabilities.DENIED`).
`runs-through`, `positions-unread`
   Not counted as effects: MemoryError (`[0] * n`), RecursionError, KeyboardInterrupt, warnings of
   `re.compile`, and the texts and line numbers in tracebacks (`error.__traceback__.tb_lineno`).
`annotations-hold`
   An annotation of builtin types holds: to iterate over the parameter `xs: list[int]`, or to convert
   `n: int | None` to a number, only looks. The keys of `**kw` are plain strings: in `f(**{Key("size"): 1})`,
   `Key.__eq__` and `Key.__hash__` do not act.
`builtins-meant`, `definitions-kept`
   Names of builtins and of standard modules mean what they say: `len(xs)`, `math.sqrt(x)`. Where the text
   binds such a name anew (`def len(x)`, `from tools import *`), it is a name like any other. A name that the
   file binds once, by an import, means what is imported: `deque()` after `from collections import deque`.
   Nothing is known of one that its top level binds in several ways. One that it binds once, by a plain `def`,
   means this function, unless the text shows that it may be replaced (`functions`): no other file binds
   `tools.clean` anew.
`frames-unread`
   No callee reads the variables of its caller, but for those whose names say so (`locals()`, `sys._getframe`;
   `frame.query("size > @limit")`, which evaluates a text) and for functions that the text shows to read
   `f_locals` (`reflection`).
"""

import ast
import builtins
from collections.abc import Sequence
from string import Formatter
from typing import Final

from codeaudit.transforms.dependence.effects import ANYTHING, BARRIER, LOOKS_UP, OBSERVES, RAISES
from codeaudit.transforms.python.analysis.capabilities import BARRIERS
from codeaudit.transforms.python.analysis.expressions import LOOKS, UNSETTLED, ExpressionEffects, is_constant
from codeaudit.transforms.python.analysis.facts import (
    VariableFacts,
    method_effect,
    own_nodes,
    settle_ownership,
)
from codeaudit.transforms.python.analysis.knowledge import (
    BUILTINS,
    CLASS_READERS,
    CONSUMING,
    CONSUMING_KEYWORDS,
    CONTAINERS,
    CONVERSIONS,
    CONVERTS_ITEMS,
    EMPTY_CALLS,
    ENCODINGS,
    ERROR_HANDLERS,
    EXCEPTION_KEYWORDS,
    EXCEPTIONS,
    INDICES,
    KNOWN,
    LAZY,
    MODULES,
    NEVER_SWALLOWING,
    NUMBERS,
    PATH_PAIRS,
    PLAIN,
    PURE,
    RAISING_STR_METHODS,
    READ_ONLY,
    SEQUENCES,
    STATE_TESTS,
    STR_ARGUMENTS,
    STR_METHODS,
    VIEWS,
    WELL_KNOWN,
    ArgumentUse,
    MethodEffect,
)
from codeaudit.transforms.python.analysis.looks import CLASS_OF
from codeaudit.transforms.python.parsing import FunctionNode, dotted, last_name
from codeaudit.transforms.python.walking import below

_ASKED_FOR_TEXT: Final = frozenset({"str", "repr", "ascii", "format"})
"""Builtins whose result comes from a method of the argument, and may therefore be of a subclass of `str`."""
_KEY_FUNCTIONS: Final = frozenset({"len", "str", "repr", "abs", "id", "hash", "ord"})
"""Builtins that only look at their argument, so that `sorted(…, key=len)` runs no unknown code."""
_GROUPS: Final = frozenset({"ExceptionGroup", "BaseExceptionGroup"})
_UNPACKING_EXCEPTIONS: Final = _GROUPS | {
    *("SyntaxError", "IndentationError", "TabError"),
    "_IncompleteInputError",  # since Python 3.13
}
"""Exceptions that iterate over their second argument."""


class PythonEffects(ExpressionEffects):
    """Collects the effects of the expressions of one statement, calls included."""

    __slots__ = ()

    def call(self, node: ast.Call) -> str | None:
        """Collect a call; returns the builtin type of its result if it is certain."""
        func = node.func
        name = func.id if isinstance(func, ast.Name) else getattr(func, "attr", None)
        if name in BARRIERS:
            # `y = locals()` sees every binding above it, so it stays where it is, whatever `locals` means.
            self.flags |= BARRIER
        if isinstance(func, ast.Attribute):
            return self._method(node, func)
        if isinstance(func, ast.Name) and func.id in BUILTINS and not self.is_local(func.id):
            return self._builtin(node, func.id)
        if isinstance(func, ast.Name) and (use := self._module_function(func)) is not None:
            return self._known_function(node, use)
        quiet = self.quiet_function(func)
        if quiet is None:
            self.visit(func)
            self._arguments(node)
            self.flags |= ANYTHING
            return None
        self._arguments(node)
        # Nothing binds the name anew (`definitions-kept`), but it may be called before it is defined.
        self.expect(quiet.flags & ~RAISES, last_name(func) or "")
        self.flags |= RAISES if quiet.flags & RAISES or not quiet.fits(node) else 0
        return quiet.gives

    def passes_items_on(self, node: ast.expr) -> bool:
        """Collect an expression whose items are consumed at once, if it is a call that only passes items on.

        Covers `zip`, `enumerate`, `reversed`, `iter` and the views of a dict. Returns False, with nothing
        collected, for any other expression.
        """
        if not isinstance(node, ast.Call) or any(isinstance(part, ast.Starred) for part in node.args):
            return False
        match node.func:
            case ast.Name(id=name) if name in LAZY and not self.is_local(name) and node.args:
                if any(keyword.arg not in ("start", "strict") for keyword in node.keywords):
                    return False
                # `zip(a, b, strict=True)` raises if the lengths differ, `reversed` if there is no order.
                self.flags |= RAISES
                for argument in node.args[: 1 if name == "enumerate" else None]:
                    self.iterate(argument)
                counted = node.args[1:] if name == "enumerate" else []
                for value in (*counted, *(keyword.value for keyword in node.keywords)):
                    self.convert(value, self.visit(value))
                return True
            case ast.Attribute(value=container, attr=attr) if attr in VIEWS and not (
                node.args or node.keywords
            ):
                # `items()` of a foreign object may return an iterator, which the loop then exhausts.
                if self.visit(container) == "dict":
                    self.contents(container)
                else:
                    self.flags |= LOOKS if self.is_annotated(container) else ANYTHING
                return True
            case _:
                return False

    def passes_exceptions_on(self, manager: ast.expr) -> bool:
        """Whether no exception ends at a `with` of this context manager, as far as its call shows."""
        if not isinstance(manager, ast.Call):
            return False
        root = dotted(manager.func).partition(".")[0]
        # A name that is not of the standard library means the module only if it is imported.
        known = root in WELL_KNOWN or root in self.facts.looks.bindings.imports
        return known and self.dotted(manager.func) in NEVER_SWALLOWING

    def _arguments(self, node: ast.Call) -> list[str | None]:
        """Collect the arguments of a call; returns the types of the positional ones."""
        kinds: list[str | None] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                self.spread(argument.value)
                kinds.append(None)
            else:
                kinds.append(self.visit(argument))
        for keyword in node.keywords:
            kind = self.visit(keyword.value)
            if keyword.arg is None and kind != "dict":
                self.flags |= ANYTHING  # `**mapping` calls the mapping's `keys` and `__getitem__`
        return kinds

    # ── builtins ─────────────────────────────────────────────────────────────────────────────────────────

    def _builtin(self, node: ast.Call, name: str) -> str | None:
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        count = len(node.args)
        if not (count or node.keywords) and name in EMPTY_CALLS:
            return name
        if name in EXCEPTIONS:
            self._exception(node, name)
            return None
        if name == "dict":
            self._pairs(node, node.args)
            return "dict"
        if name in LAZY and count and not starred and self._begin(node, name):
            return None
        if name in CONSUMING and not starred and count == 1 and self._plain_keywords(node, name):
            self.iterate(node.args[0])
            # `list` and `tuple` only collect the items. The others test them for truth (`any`), compare
            # (`sorted`), hash (`set`) or add them (`sum`), which calls methods of foreign objects.
            if name not in ("list", "tuple"):
                self.look()
            elif self.flags & OBSERVES:
                self.flags |= LOOKS
            if name in ("list", "tuple", "sorted") and self.may_be_long(node.args[0]):
                self.flags |= RAISES
            return CONSUMING[name]
        if node.keywords or starred:
            self._arguments(node)
            self.flags |= ANYTHING  # `max(a, b, key=f)` calls `f`
            return None
        kinds = self._arguments(node)
        exact = self._exact(node, name, kinds)
        if exact is not None:
            return exact
        if (name, count) in PURE:
            if name == "super":
                # It reads the first parameter; which one that is does not matter, if none is bound again.
                for parameter in self.facts.parameters:
                    self.read(parameter)
            # The class of a builtin value never changes; that of another object, like a plain attribute.
            if name in CLASS_READERS and not KNOWN.issuperset(kinds or [None]):
                self.flags |= LOOKS_UP
            return PURE[name, count]
        if name in STATE_TESTS:
            self._test_state(node, kinds)
            return STATE_TESTS[name]
        if name in ("str", "bytes", "bytearray") and count > 1:
            # The text of any buffer, or the bytes of a text, by a codec.
            plain = kinds[0] in PLAIN and _is_quiet_codec(node.args[1:])
            self.flags |= RAISES if plain else ANYTHING
            return None
        if name in CONVERSIONS:
            self._convert(node.args, kinds, items=name in CONVERTS_ITEMS)
            return CONVERSIONS[name]
        if name == "round":
            self._convert(node.args[1:], kinds[1:])
        if name in ("min", "max") and count > 1:
            if set(kinds) not in ({"int"}, {"float"}, {"str"}):
                self.look()
            # Of two containers it gives one, which is not new.
            return kinds[0] if len(set(kinds)) == 1 and kinds[0] not in CONTAINERS else None
        if name in READ_ONLY:
            self.look()
            return None if name in _ASKED_FOR_TEXT else READ_ONLY[name]
        self.flags |= ANYTHING
        return None

    def _begin(self, node: ast.Call, name: str) -> bool:
        """Collect a call of `zip`, `enumerate`, `reversed` or `iter`, which asks its arguments for iterators;
        False, with nothing collected, if it has unknown keywords.
        """
        if any(keyword.arg not in ("start", "strict") for keyword in node.keywords):
            return False
        for number, argument in enumerate(node.args):
            kind = self.visit(argument)
            if number and name == "enumerate":
                self.convert(argument, kind)
            elif not isinstance(argument, ast.GeneratorExp):
                self.ask_for_items(argument, kind)
        for keyword in node.keywords:
            if keyword.arg == "start":
                self.convert(keyword.value, self.visit(keyword.value))
            else:
                self.truth(keyword.value)
        self.flags |= LOOKS
        return True

    def _pairs(self, node: ast.Call, arguments: Sequence[ast.expr]) -> None:
        """Collect a call that fills a new dict from an iterable of pairs, as `dict` does."""
        for argument in arguments:
            match argument:
                case ast.GeneratorExp(elt=pair) | ast.ListComp(elt=pair) if _is_pair(pair):
                    self.visit(argument)
                    self.look()
                case ast.List(elts=items) | ast.Tuple(elts=items) if all(map(_is_pair, items)):
                    self.visit(argument)
                    self.look()
                case _ if (item := self.item(argument)) and _is_pair(item):
                    self.iterate(argument)
                    self.look()
                case _:
                    kind = self.visit(argument)
                    if kind == "dict":
                        self.contents(argument)
                    else:
                        # `keys` and `__getitem__` of a mapping, or the `__iter__` of every item.
                        self.flags |= ANYTHING
        self.flags |= RAISES if len(arguments) > 1 else 0
        if arguments and node.keywords:
            self.look()  # a foreign key may have the same hash
        for keyword in node.keywords:
            kind = self.visit(keyword.value)
            if keyword.arg is None:
                self.look()  # a key may be no text
                self.flags |= 0 if kind == "dict" else ANYTHING

    def _exception(self, node: ast.Call, name: str) -> None:
        """Collect a call of a builtin exception. Most only store their arguments."""
        kinds = self._arguments(node)
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        plain = not starred and all(kind in PLAIN for kind in kinds)
        if any(keyword.arg not in EXCEPTION_KEYWORDS.get(name, ()) for keyword in node.keywords):
            self.flags |= LOOKS
        exception = getattr(builtins, name)
        if issubclass(exception, UnicodeDecodeError | UnicodeEncodeError | UnicodeTranslateError):
            self.flags |= RAISES if plain else ANYTHING
        elif issubclass(exception, OSError) and (starred or len(kinds) > 1):
            self.flags |= RAISES
            if not plain:
                self.look()  # the class depends on the error number
            if starred:
                self.flags |= ANYTHING
            elif exception in (OSError, BlockingIOError) and len(kinds) > 2:
                self.convert(node.args[2], kinds[2])  # the number of characters written
        elif name in _UNPACKING_EXCEPTIONS and (starred or len(kinds) == 2):
            # The second argument is copied: the exceptions of a group, the place of a SyntaxError.
            self.flags |= LOOKS
            if starred:
                self.flags |= ANYTHING
            else:
                self.ask_for_items(node.args[1], kinds[1])
        elif name in _GROUPS:
            self.flags |= RAISES

    def _test_state(self, node: ast.Call, kinds: Sequence[str | None]) -> None:
        """`isinstance`, `hasattr` or `getattr`, with its arguments collected already."""
        # `isinstance(x, Sized)` runs `__instancecheck__`, which may look at any state, and
        # `isinstance(x, "int")` raises. `hasattr` and `getattr` pass on what a property raises.
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, class_]) if self._is_builtin_type(class_):
                looks = self.facts.looks
                if kinds[0] in PLAIN:
                    pass
                elif not looks.acting.isdisjoint(CLASS_OF):
                    self.flags |= ANYTHING
                else:
                    self.flags |= OBSERVES if looks.raising.isdisjoint(CLASS_OF) else LOOKS
            # A protocol that is checked at run time reads the attributes that it names.
            case ast.Call(func=ast.Name(id="isinstance")):
                self.look_anyhow()
            case ast.Call(args=[_, ast.Constant(value=str(attribute)), *_]):
                self.look_at(attribute)
            case _:
                self.look_anyhow()

    def _is_builtin_type(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return not self.is_local(name) and isinstance(getattr(builtins, name, None), type)
            case ast.Tuple(elts=elements):
                return all(map(self._is_builtin_type, elements))
            case _:
                return False

    def _convert(
        self, arguments: Sequence[ast.expr], kinds: Sequence[str | None], *, items: bool = False
    ) -> None:
        """Arguments of these types, collected already, are converted to numbers; with `items`, the items of
        containers are, too.
        """
        self.flags |= RAISES
        for argument, kind in zip(arguments, kinds, strict=True):
            if isinstance(argument, ast.Tuple | ast.List):
                elements = [self.visit(element) for element in argument.elts]
                self._convert(argument.elts, elements, items=items)
            elif items and self.is_annotated(argument) and not self._is_annotated_plain(argument):
                self.flags |= ANYTHING
            else:
                self.convert(argument, kind)

    def _is_annotated_plain(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.facts.annotated_plain

    def _exact(self, node: ast.Call, name: str, kinds: list[str | None]) -> str | None:
        """The result type of a builtin whose argument types it accepts without raising; `None` for any other
        call.
        """
        first = kinds[0] if kinds else None
        match name, len(kinds):
            case "len", 1 if first in SEQUENCES:
                self.flags |= RAISES if first == "range" else 0  # it may hold more items than fit a C integer
                return "int"
            case "len", 1 if first in CONTAINERS:
                # Other code may change a container that is not this function's own.
                self.flags |= 0 if self.is_own(node.args[0]) else OBSERVES
                return "int"
            case "range", 1 | 2 if all(kind == "int" for kind in kinds):
                return "range"  # a third argument could be 0, which raises
            case "bool", 1 if first in PLAIN:
                return "bool"
            case "str" | "repr", 1 if first in PLAIN:
                # An int of more than 4300 digits has no decimal text: ValueError.
                self.flags |= RAISES if first == "int" else 0
                return "str"
            case "int", 1 if first in ("int", "bool"):
                return "int"
            case "float", 1 if first in ("float", "bool"):
                return "float"  # of an int it may raise OverflowError
            case "abs", 1 if first in NUMBERS:
                return "float" if first == "float" else "int"
            case _:
                return None

    def _plain_keywords(self, node: ast.Call, name: str) -> bool:
        """Collect the keywords of `sorted`, `min`, `max` or `sum`; False if one may run unknown code."""
        for keyword in node.keywords:
            value = keyword.value
            if keyword.arg not in CONSUMING_KEYWORDS.get(name, ()):
                return False
            if keyword.arg == "reverse":
                self.convert(value, self.visit(value))
            elif keyword.arg != "key":
                self.visit(value)
            elif isinstance(value, ast.Lambda):
                outer = self.shadow
                self.visit(value)
                # Its body runs now, once for each item, with the parameters as names of its own.
                self.shadow |= {inner.arg for inner in below(value.args) if isinstance(inner, ast.arg)}
                self.visit(value.body)
                self.shadow = outer
            elif not self._is_builtin_function(value):
                return False
            else:
                self.look_anyhow()
        return True

    def _is_builtin_function(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in _KEY_FUNCTIONS and not self.is_local(name)
            case ast.Attribute(value=ast.Name(id="str" as name)):
                return not self.is_local(name)
            case _:
                return isinstance(node, ast.Constant) and node.value is None

    # ── methods ──────────────────────────────────────────────────────────────────────────────────────────

    def _method(self, node: ast.Call, func: ast.Attribute) -> str | None:
        use = self._module_function(func)
        if use is not None:
            return self._known_function(node, use)
        receiver = self.visit(func.value)
        self.touch(func.value)
        if receiver == "str":
            return self._text_method(node, func.attr)
        effect = method_effect(receiver, node)
        if receiver is not None and effect is not None:
            return self._container_method(node, receiver, func, effect)
        self._arguments(node)
        self.flags |= ANYTHING
        return None

    def _module_function(self, func: ast.expr) -> ArgumentUse | None:
        module, _, name = self.dotted(func).rpartition(".")
        return MODULES.get(module, {}).get(name)

    def _known_function(self, node: ast.Call, use: ArgumentUse) -> str | None:
        """Collect a call of a function of `MODULES`."""
        self.visit(node.func)
        name = self.dotted(node.func)
        if self._is_certain(node, name):
            return None
        self._use(node, use, name)
        if use == "keeps":
            self.flags |= LOOKS
        else:
            self.look_anyhow()
        module, _, last = name.rpartition(".")
        return "tuple" if module == "os.path" and last in PATH_PAIRS else None

    def _is_certain(self, node: ast.Call, name: str) -> bool:
        """Collect a call that only makes a new object and certainly does not raise; False, with nothing
        collected, for any other one.
        """
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            return False
        match name, node.args:
            case ("collections.deque" | "collections.OrderedDict" | "collections.Counter", []):
                return True
            case ("collections.defaultdict" | "itertools.count", []):
                return True
            case "collections.defaultdict", [ast.Name() as kind]:
                return self._is_builtin_type(kind)
            case "collections.deque", [ast.List() | ast.Tuple() as items]:
                self.visit(items)
                return True
            case "itertools.chain", arguments:
                for argument in arguments:
                    self.visit(argument)
                return True
            case (("operator.itemgetter" | "operator.attrgetter"), [_, *_] as arguments):
                return all(
                    isinstance(part, ast.Constant) and isinstance(part.value, str) for part in arguments
                )
            case _:
                return False

    def _use(self, node: ast.Call, use: ArgumentUse, name: str) -> None:
        """Collect the arguments of a known function of this name."""
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if use == "pairs" and not starred:
            first = 1 if name == "collections.defaultdict" else 0
            for argument in node.args[:first]:
                self.visit(argument)
            self._pairs(node, node.args[first:])
            return
        if use == "item" and not starred and len(node.args) == 2:
            self.visit(ast.Subscript(node.args[0], node.args[1], ast.Load()))
            return
        kinds = self._arguments(node)
        match use:
            case "item":
                self.flags |= ANYTHING if starred else RAISES
            case "describes":
                self._describe([*node.args, *(keyword.value for keyword in node.keywords)])
            case "first" | "each":
                for keyword in node.keywords:
                    self.convert(keyword.value, self.visit(keyword.value))
                for argument, kind in zip(node.args, kinds, strict=True):
                    if isinstance(argument, ast.Starred):
                        self.flags |= ANYTHING
                    elif use == "first" and argument is not node.args[0]:
                        self.convert(argument, kind)
                    elif not (isinstance(argument, ast.GeneratorExp) or self.passes_items_on(argument)):
                        self.ask_for_items(argument, kind)
            case "converts":
                items = name.partition(".")[0] in CONVERTS_ITEMS
                self._convert(node.args, kinds, items=items)
                for keyword in node.keywords:
                    if keyword.arg == "dtype":
                        self._describe([keyword.value])
                    else:
                        self._convert([keyword.value], [self.visit(keyword.value)], items=items)
            case "pairs":
                self.flags |= ANYTHING
            case "compiles":
                pattern = next(iter(node.args), None)
                # A pattern of another type may act: its hash, and since Python 3.12 its `__buffer__`.
                known = pattern is not None and (
                    self.visit(pattern) in PLAIN or self._is_annotated_plain(pattern)
                )
                if node.keywords or not known or not all(map(_is_quiet_flag, node.args[1:])):
                    self.flags |= ANYTHING

    def _describe(self, arguments: Sequence[ast.expr]) -> None:
        """A type of NumPy is read from each of these expressions, collected already."""
        for node in arguments:
            constant = isinstance(node, ast.Attribute) and self.is_module(node.value)
            if not (constant or self._is_builtin_type(node) or self.visit(node) in PLAIN):
                # A tuple or dict of parts, such as a shape, which are converted.
                self.flags |= LOOKS if self._is_annotated_plain(node) else ANYTHING

    def _text_method(self, node: ast.Call, attr: str) -> str | None:
        if attr == "join" and len(node.args) == 1 and not node.keywords:
            self.iterate(node.args[0])
            self.flags |= RAISES  # an item may be no string
            return "str"
        kinds = self._arguments(node)
        self._indices("str", node, attr, kinds)
        if attr in STR_METHODS and not node.keywords:
            fits = len(kinds) in STR_ARGUMENTS.get(attr, (0,)) or (
                attr in ("partition", "rpartition") and _is_separator(node.args)
            )
            self.flags |= 0 if fits and all(kind == "str" for kind in kinds) else LOOKS
            return STR_METHODS[attr]
        if attr == "encode" and not _is_quiet_codec([*node.args, *(part.value for part in node.keywords)]):
            self.flags |= ANYTHING
            return None
        # `"{}".format(x)` formats foreign objects, and `"a".index(x)` raises if `x` is missing.
        if attr not in RAISING_STR_METHODS:
            self.flags |= ANYTHING
        elif all(kind in PLAIN for kind in kinds) and not node.keywords:
            self.flags |= LOOKS
        else:
            self.look_anyhow()
        # Like `%`, it may give the very object that `x.__format__` returns.
        formats = attr in ("format", "format_map")
        if formats and not (node.args and not node.keywords and set(kinds) <= PLAIN):
            return "str" if isinstance(node.func, ast.Attribute) and _has_text(node.func.value) else None
        return RAISING_STR_METHODS.get(attr)

    def _indices(self, kind: str, node: ast.Call, attr: str, kinds: Sequence[str | None]) -> None:
        """The arguments of a method that are indices are converted to numbers."""
        place = INDICES.get((kind, attr))
        if place is None:
            return
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            self.flags |= ANYTHING
        elif len(node.args) > (place.start or 0):
            for argument, own_kind in zip(node.args[place], kinds[place], strict=True):
                self.convert(argument, own_kind)
        for keyword in node.keywords:
            if keyword.arg != "sep":
                self.convert(keyword.value, self.visit(keyword.value))

    def _container_method(
        self, node: ast.Call, kind: str, func: ast.Attribute, use: MethodEffect
    ) -> str | None:
        container, attr = func.value, func.attr
        kinds: list[str | None] = []
        if use.flags == "iterates":
            self.iterate(node.args[0])
        else:
            kinds = self._arguments(node)
            self._indices(kind, node, attr, kinds)
        match use.flags:
            case "raises":
                plain = all(kind in PLAIN for kind in kinds)
                exact = plain and (
                    not kinds or self.visit(container) == "list" or self.has_plain_keys(container)
                )
                self.flags |= RAISES
                if not exact:
                    self.look()
            case "hashes":
                if not (kinds[0] in PLAIN and self.has_plain_keys(container)):
                    self.look()
            case "compares" | "iterates":
                self.look()
        if use.changes:
            self.change(container)
        elif not self.is_owned(container):
            self.flags |= OBSERVES
        return use.gives


def _has_text(node: ast.expr) -> bool:
    """Whether a template of `format` holds more than fields, so that its result is a new string."""
    match node:
        case ast.Constant(value=str(text)):
            try:
                return any(literal for literal, *_ in Formatter().parse(text))
            except ValueError:
                return False
        case _:
            return False


def _is_pair(node: ast.expr) -> bool:
    """Whether an expression is a display of two items."""
    return (
        isinstance(node, ast.Tuple | ast.List)
        and len(node.elts) == 2
        and not any(isinstance(element, ast.Starred) for element in node.elts)
    )


def _is_separator(arguments: Sequence[ast.expr]) -> bool:
    """Whether the arguments are one text that is not empty."""
    return len(arguments) == 1 and isinstance(arguments[0], ast.Constant) and bool(arguments[0].value)


def _is_quiet_codec(arguments: Sequence[ast.expr]) -> bool:
    """Whether the arguments are the names of a codec and of an error handler that run no foreign code."""
    return all(
        isinstance(node, ast.Constant) and node.value in ENCODINGS | ERROR_HANDLERS for node in arguments
    )


def _is_quiet_flag(node: ast.expr) -> bool:
    """Whether a flag of `re.compile` is certainly not `DEBUG`, which prints."""
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _is_quiet_flag(left) and _is_quiet_flag(right)
        case ast.Attribute(value=ast.Name(id="re"), attr=attr):
            return attr != "DEBUG"
        case _:
            return False


def settle_types(function: FunctionNode, facts: VariableFacts) -> None:
    """Complete the facts with types and ownership: a least fixed point over all values bound to each local.

    A captured variable that a nested function rebinds (`nonlocal`) has no certain type, because its values
    are not all seen here.
    """
    rebound = set[str]()
    if facts.captured:
        declared = (node for node in below(function) if isinstance(node, ast.Nonlocal | ast.Global))
        rebound = {name for node in declared for name in node.names}
    candidates = {
        name: [value for value in bound if value is not None]
        for name, bound in facts.values.items()
        if name not in rebound and name not in facts.fragile and None not in bound
    }
    # The lattice is unsettled < type < None. `x = 0; x = x + y` starts with `x` unsettled, so that the first
    # value decides. Moving upwards only makes the loop end.
    types: dict[str, str | None] = dict.fromkeys(candidates, UNSETTLED)
    facts.types = types
    changed = True
    while changed:
        changed = False
        for name, bound in candidates.items():
            if types[name] is None:
                continue
            kinds = {PythonEffects(facts, facts.local).visit(value) for value in bound} - {UNSETTLED}
            kind = UNSETTLED if not kinds else kinds.pop() if len(kinds) == 1 else None
            if kind != types[name]:
                types[name] = kind if types[name] == UNSETTLED else None
                changed = True
    facts.types = {name: kind for name, kind in types.items() if kind is not None and kind != UNSETTLED}
    # The caller holds what it gave to a parameter, and another name holds what it stands for.
    facts.unshared = frozenset(
        name
        for name, bound in facts.values.items()
        if name not in facts.types and not all(map(_is_kept, bound[name in facts.parameters :]))
    )
    if any(kind in CONTAINERS for kind in facts.types.values()):
        facts.owned = settle_ownership(function, facts)
        facts.plain_keys = _plain_keys(function, facts)


def _is_kept(value: ast.expr | None) -> bool:
    """Whether something else keeps what a variable is bound to: a literal, or the value of another name."""
    return value is not None and (isinstance(value, ast.Name) or is_constant(value))


def _plain_keys(function: FunctionNode, facts: VariableFacts) -> frozenset[str]:
    """The owned dicts and sets that only ever get keys of plain types: no look-up in them compares foreign
    objects.
    """
    names = {name for name in facts.owned if facts.types[name] in ("dict", "set")}
    if not names:
        return frozenset()

    def plain(key: ast.expr | None) -> bool:
        return key is not None and PythonEffects(facts, facts.local).visit(key) in PLAIN

    for name in list(names):
        for value in facts.values[name]:
            match value:
                case ast.Dict(keys=keys) if all(map(plain, keys)):
                    pass
                case ast.Set(elts=elements) if all(map(plain, elements)):
                    pass
                case ast.Call(func=ast.Name(id="dict" | "set"), args=[], keywords=[]):
                    pass
                case _:
                    names.discard(name)
    for node in own_nodes(function.body):
        match node:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store(), slice=key):
                keys = [key]
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="add" | "setdefault"), args=[key, *_]
            ):
                keys = [key]
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="update")):
                keys = [None]
            case _:
                continue
        # A name of a comprehension may hide a variable, so its type is not that of the variable.
        hidden = any(
            isinstance(part, ast.Name) and (part.id not in facts.values or part.id in facts.hiding)
            for key in keys
            for part in below(key or node)
        )
        if name in names and (hidden or not all(map(plain, keys))):
            names.discard(name)
    return frozenset(names)
