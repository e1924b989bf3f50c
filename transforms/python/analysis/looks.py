"""The methods that looking at a foreign object may run, and what a text shows of them."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from codeaudit.transforms.python.parsing import FunctionNode

READING: Final = frozenset({"__getattr__", "__getattribute__", "__get__"})
"""To read any attribute."""
STORING: Final = frozenset({"__setattr__", "__set__"})
"""To bind any attribute."""
CLASS_OF: Final = frozenset({"__class__", "__getattribute__"})
"""To give the class of an object to `isinstance`."""

_BINARY: Final = (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and",
    "or", "xor",
)  # fmt: skip
METHODS: Final = (
    READING
    | STORING
    | CLASS_OF
    | {f"__{side}{name}__" for name in _BINARY for side in ("", "r")}
    | {
        "__neg__", "__pos__", "__invert__", "__abs__", "__round__", "__floor__", "__ceil__", "__trunc__",
        "__int__", "__float__", "__complex__", "__index__", "__bool__", "__len__", "__hash__", "__eq__",
        "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__str__", "__repr__", "__format__", "__bytes__",
        "__fspath__", "__getitem__", "__missing__", "__class_getitem__", "__contains__", "__iter__",
        "__next__", "__reversed__", "__length_hint__", "__instancecheck__", "__subclasscheck__",
        "__subclasshook__", "__bases__", "__buffer__", "__release_buffer__",
    }
)  # fmt: skip
"""All that a look may run, also through a foreign base class: its `__eq__` may iterate over `self`."""
RUN_BY_LOOKS: Final = frozenset({
    "OutputString", "_from_iterable", "_get_args", "_get_kwargs", "_missing_", "adjusted", "as_bytes",
    "as_posix", "as_string", "clone", "convert_with_key", "copy", "copy_abs", "copy_negate", "copy_with",
    "decodekey", "decodevalue", "dst", "encodekey", "fileno", "fromutc", "get", "getColumnNumber",
    "getEffectiveLevel", "getLineNumber", "getNamedItem", "getNamedItemNS", "getSystemId", "get_debug",
    "get_file", "get_message", "get_name", "get_write_buffer_size", "getpeername", "getsockname",
    "has_section", "id", "is_active", "is_alive", "is_closed", "is_dir", "is_nan", "is_running", "is_set",
    "is_snan", "isoformat", "items", "iterkeys", "joinpath", "keys", "locked", "lower", "make_comparable",
    "most_common", "quantize", "quote", "replace", "select", "strftime", "toordinal", "tzname", "utcoffset",
    "values",
})  # fmt: skip
"""Other methods, that looks of classes in the standard library run, also those of a derived class:
`Counter.__repr__` asks `most_common`, and equality of `UserDict` asks `items`."""
CALLED: Final = frozenset({
    "__init__", "__new__", "__call__", "__enter__", "__exit__", "__aenter__", "__aexit__", "__del__",
    "__delattr__", "__delete__", "__setitem__", "__delitem__", "__init_subclass__", "__set_name__",
    "__prepare__", "__mro_entries__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__",
    "__getnewargs__", "__getnewargs_ex__", "__copy__", "__deepcopy__", "__post_init__", "__dir__",
    "__sizeof__", "__await__", "__aiter__", "__anext__",
} | {f"__i{name}__" for name in _BINARY})  # fmt: skip
"""Methods that no look runs. Libraries have methods of their own that one does, such as `__array__`."""


class PlainAttributes(NamedTuple):
    """What is known of the attributes of an object whose class is known."""

    bound: frozenset[str]
    """Attributes that its class or another one of its hierarchy may give code."""
    slots: Sequence[str] | None
    """The attributes that it may have; `None` if it may have any."""

    def holds(self, attribute: str) -> bool:
        """Whether an attribute is a value and nothing else, which any code may bind."""
        hidden = attribute.startswith("__")
        if hidden and (attribute.endswith("__") or self.slots is not None):
            return False
        return attribute not in self.bound and (self.slots is None or attribute in self.slots)


class QuietFunction(NamedTuple):
    """A function that only looks: a call of it changes nothing that another statement sees."""

    places: Sequence[str]
    """The parameters that arguments are given to by their place."""
    named: Sequence[str]
    """Those that they may be given to by name."""
    required: Sequence[str]
    """Those without a default."""
    variadic: bool
    """Whether it takes any further arguments by place."""
    flags: int
    """What a call does, a union of `OBSERVES`, `LOOKS_UP` and `RAISES`, if the arguments fit."""
    gives: str | None
    """The builtin type of its result, if it is certain; a container is a new one."""

    @classmethod
    def of(cls, args: ast.arguments, flags: int, gives: str | None) -> "QuietFunction":
        """The function with these parameters."""
        places = [arg.arg for arg in (*args.posonlyargs, *args.args)]
        required = places[: len(places) - len(args.defaults)] + [
            arg.arg for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default is None
        ]
        named = [arg.arg for arg in (*args.args, *args.kwonlyargs)]
        return cls(places, named, required, args.vararg is not None, flags, gives)

    def fits(self, call: ast.Call) -> bool:
        """Whether a call certainly gives each parameter one value."""
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            return False
        words = {keyword.arg for keyword in call.keywords}
        by_place = set(self.places[: len(call.args)])
        return (
            None not in words
            and (len(call.args) <= len(self.places) or self.variadic)
            and words.issubset(self.named)
            and by_place.isdisjoint(words)
            and (by_place | words).issuperset(self.required)
        )


class Bindings(Protocol):
    """What the names of a text stand for."""

    @property
    def imports(self) -> Mapping[str, str]:
        """The names that stand for one module, or one name of a module: `{"deque": "collections.deque"}`."""

    def called(self, name: str) -> QuietFunction | None:
        """The function of the text with this name, if it is certain and only looks."""

    def of_receiver(self, function: FunctionNode) -> Sequence[PlainAttributes]:
        """What is known of the `self` of a function: one entry for each class that it may belong to; empty if
        it may belong to any.
        """


class NoBindings:
    """Nothing is known of the text."""

    imports: Final[Mapping[str, str]] = {}

    def called(self, _: str) -> None:
        """Nothing."""

    def of_receiver(self, _: FunctionNode) -> Sequence[PlainAttributes]:
        """Nothing."""
        return ()


@dataclass(frozen=True, slots=True)
class ShownLooks:
    """What a text shows of the classes in it. A name counts whatever class it belongs to."""

    methods: bool = False
    """Whether one of `METHODS` acts."""
    acting: frozenset[str] = frozenset()
    """Attributes that act when they are read; one of `READING` if all of them may."""
    raising: frozenset[str] = frozenset()
    """Attributes that may raise when they are read."""
    removed: frozenset[str] = frozenset()
    """Globals and attributes that the text deletes; `*` among them if they may be any."""
    computed: frozenset[str] = frozenset()
    """Attributes that may be properties or other descriptors: a store may run code."""
    stores: bool = False
    """Whether every store to an attribute may run code."""
    bindings: Bindings = field(default=NoBindings(), compare=False)
    """What the names of the text stand for."""
    rebound: frozenset[str] = frozenset()
    """Names of builtins and modules to which the text gives another meaning."""
    listed: bool = False
    """Whether the text asks an object for all of its attributes, in the order in which they came."""

    def removes(self, name: str) -> bool:
        """Whether the text may delete a global or an attribute of this name; of no name: never."""
        return bool(self.removed) and bool(name) and (name in self.removed or "*" in self.removed)

    def __or__(self, other: "ShownLooks") -> "ShownLooks":
        """What two texts show."""
        return ShownLooks(
            self.methods or other.methods,
            self.acting | other.acting,
            self.raising | other.raising,
            self.removed | other.removed,
            self.computed | other.computed,
            self.stores or other.stores,
            other.bindings if isinstance(self.bindings, NoBindings) else self.bindings,
            self.rebound | other.rebound,
            self.listed or other.listed,
        )


NOTHING_SHOWN: Final = ShownLooks()
