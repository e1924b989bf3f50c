"""Values as text, so that equal texts mean values that a program cannot distinguish.

The text distinguishes 1 from True and 1.0, 0.0 from -0.0, a list from a tuple, the order of a dict, and which
parts are the same object. Addresses are left out. Iterators, generators and coroutines are run to their end
(or a limit), as their user would run them; functions that a program returns are called once with small
numbers. No other code of the program under test runs here. What cannot be described completely is marked.

What is needed is bound when this module is imported, because a program may replace the attributes of modules.
"""

import builtins
import collections
import datetime
import decimal
import itertools
import re
import struct
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from itertools import islice
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, Final

# The functions here have builtins of their own: programs may replace those that all modules share.
globals()["__builtins__"] = dict(vars(builtins))

PROGRAM: Final = "sample"
"""The name of the module that a program is executed as."""
DEPTH: Final = 40
"""Deepest nesting that is encoded."""
NODES: Final = 20_000
"""Most objects that are encoded."""
ITEMS: Final = 500
"""Most items that are taken from an iterator."""
TEXT: Final = 20_000
"""Number of characters after which a text is cut; a hash of all of it follows."""
CALLED: Final = (2, 1, 3, 5, 4, 7)
"""The arguments for functions that a program returns."""

_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]{6,}")


def _ids(*kinds: type) -> frozenset[int]:
    """The kinds by their identity: looking up a type itself would call code of its metaclass."""
    return frozenset(map(id, kinds))


_PLAIN: Final = _ids(type(None), bool, float, complex, bytes, type(...), type(NotImplemented))
_TOLD_BY_REPR: Final = _ids(
    bytearray, decimal.Decimal, datetime.date, datetime.timedelta, datetime.timezone, itertools.count
)
_ITERATORS: Final[tuple[Any, ...]] = (
    iter([]), iter(()), iter("a"), iter("é"), iter({}), iter({}.values()), iter({}.items()), iter(set()),
    iter(range(0)), iter(range(1 << 70)), iter(b""), iter(bytearray()), reversed([]), reversed({}),
    reversed(range(0)), map(str, []), filter(None, []), zip(), enumerate([]), iter(int, 0),
    iter(collections.deque()), *(
        kind([]) for kind in (itertools.chain, itertools.cycle, itertools.accumulate, itertools.groupby,
                              itertools.pairwise, itertools.permutations, itertools.product)
    ),
    itertools.repeat(0, 0), itertools.islice([], 0), itertools.takewhile(bool, []),
    itertools.dropwhile(bool, []), itertools.starmap(max, []), itertools.zip_longest([]),
    itertools.combinations([], 0), itertools.compress([], []), itertools.filterfalse(None, []),
)  # fmt: skip
_STANDARD_ITERATORS: Final = _ids(*map(type, _ITERATORS), GeneratorType)
_ARGUMENTS: Final[Any] = BaseException.__dict__["args"]
_CAUSE: Final[Any] = BaseException.__dict__["__cause__"]
_DICT: Final[Any] = type.__dict__["__dict__"].__get__
_MRO: Final[Any] = type.__dict__["__mro__"].__get__
_MODULE: Final[Any] = type.__dict__["__module__"].__get__
_QUALNAME: Final[Any] = type.__dict__["__qualname__"].__get__
_BASE: Final[Any] = type.__dict__["__base__"].__get__
_SIZE: Final[Any] = type.__dict__["__basicsize__"].__get__
_ITEM_SIZE: Final[Any] = type.__dict__["__itemsize__"].__get__
_DICT_OFFSET: Final[Any] = type.__dict__["__dictoffset__"].__get__
_EXCEPTIONS: Final[Any] = BaseExceptionGroup.__dict__["exceptions"].__get__
_OF_MODULE: Final[Any] = vars(ModuleType)["__dict__"].__get__
_NAMING: Final = _ids(NameError, UnboundLocalError)
_POINTER: Final = struct.calcsize("P")


def short(text: str) -> str:
    """A text without addresses; a long one is cut, and a hash of all of it follows."""
    text = _ADDRESS.sub(" at 0x", text)
    if len(text) <= TEXT:
        return text
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text[:TEXT]}… {len(text)} characters, {digest}"


class ValueEncoder:
    """Encodes the values that one call left behind; remembers which objects it has met."""

    __slots__ = ("_alive", "_messages", "_met", "_nodes", "cut")

    def __init__(self, *, messages: bool) -> None:
        """Without `messages`, errors about unbound names have no text, because it contains the names."""
        self.cut = False
        """Whether a part of a value is not described: equal texts do not mean equal values then."""
        self._messages = messages
        self._met: dict[int, int] = {}
        self._alive: list[object] = []
        self._nodes = 0

    def encode(self, value: object) -> str:
        """The text of a value."""
        try:
            return short(self._value(value, 0))
        except RecursionError:
            return self._more()

    def error(self, error: BaseException) -> str:
        """The text of an exception: kind, arguments, attributes, and the exception it was raised from."""
        return short(self._error(error, 0))

    def _value(self, value: Any, depth: int) -> str:
        # The type, and never `isinstance`: that reads `__class__`, which may be code of the program.
        kind = type(value)
        if id(kind) in _PLAIN:
            return repr(value)
        if kind is str:
            return _ADDRESS.sub(" at 0x", repr(value))
        if kind is int:
            return _integer(value)
        self._nodes += 1
        if self._nodes > NODES or depth > DEPTH:
            return self._more()
        if kind is tuple:
            return f"({self._all(value, depth)},)"
        if kind is frozenset:
            return f"frozenset({self._sorted(value, depth)})"
        if id(kind) in _TOLD_BY_REPR:
            return f"{kind.__name__} {_ADDRESS.sub(' at 0x', repr(value))}"
        parts = _PARTS.get(id(kind))
        if parts is not None:
            return f"<{kind.__name__} {self._all(parts(value), depth)}>"
        number = self._met.get(id(value))
        if number is not None:
            return f"<same as {number}>"
        number = self._met[id(value)] = len(self._met)
        self._alive.append(value)  # keep it alive: the address of a freed object may be reused
        return f"{number}:{self._object(value, kind, depth + 1)}"

    def _more(self) -> str:
        self.cut = True
        return "<more>"

    def _object(self, value: Any, kind: type, depth: int) -> str:
        if kind is list:
            return f"[{self._all(value, depth)}]"
        if kind is dict:
            return self._pairs(value, depth)
        if kind is set:
            return self._sorted(value, depth)
        if id(kind) in _STANDARD_ITERATORS:
            return f"<{kind.__name__} {self._drained(value, depth)}>"
        if kind is CoroutineType or kind is AsyncGeneratorType:
            return f"<{kind.__name__} {self._awaited(value, depth)}>"
        if kind is FunctionType:
            return f"<function {self._called(value, value, 0, depth)}>"
        if kind is MethodType:
            own = self._value(value.__self__, depth)
            return f"<method of {own} {self._called(value, value.__func__, 1, depth)}>"
        if kind is BuiltinFunctionType and type(value.__self__) is not ModuleType:
            return f"<{value.__name__} of {self._value(value.__self__, depth)}>"
        if kind is BuiltinFunctionType or (kind is ModuleType and self._is_imported(value)):
            return f"<{kind.__name__} {value.__name__}>"
        if issubclass(kind, type):
            return f"<class {_QUALNAME(value)} {self._pairs(_data_of_class(value), depth)}>"
        if issubclass(kind, BaseException):
            return self._error(value, depth)
        return self._instance(value, kind, depth)

    @staticmethod
    def _is_imported(module: ModuleType) -> bool:
        return sys.modules.get(_OF_MODULE(module).get("__name__")) is module

    def _instance(self, value: Any, kind: type, depth: int) -> str:
        parts = [_QUALNAME(kind)]
        contents: Callable[[ValueEncoder, Any, int], str] = _object_contents
        for base, told in _CONTENTS:
            if issubclass(kind, base):
                contents = told
                break
        parts.append(contents(self, value, depth))
        if issubclass(kind, defaultdict):
            parts.append(self._value(value.default_factory, depth))
        attributes = _attributes(value, kind)
        if attributes:
            parts.append(self._pairs(attributes, depth))
        if _MODULE(kind) in ("itertools", "builtins") and _is_iterator(kind):
            parts.append(self._drained(value, depth))
        elif not _is_open(kind):
            self.cut = True
        return f"<{' '.join(filter(None, parts))}>"

    def _error(self, error: BaseException, depth: int) -> str:
        kind = type(error)
        name = f"{_MODULE(kind)}.{_QUALNAME(kind)}"
        if id(kind) in _NAMING and not self._messages:  # the attributes hold the name, too
            return f"<{name}>"
        parts = [name, self._value(_ARGUMENTS.__get__(error), depth + 1)]
        attributes = _attributes(error, kind)
        if attributes:
            parts.append(self._pairs(attributes, depth + 1))
        cause = _CAUSE.__get__(error)
        if cause is not None and depth < DEPTH:
            parts.append(f"from {self._error(cause, depth + 1)}")
        if issubclass(kind, BaseExceptionGroup):
            parts.append(self._all(_EXCEPTIONS(error), depth + 1))
        return f"<{' '.join(parts)}>"

    def _all(self, values: Any, depth: int) -> str:
        found = []
        for value in values:
            found.append(self._value(value, depth + 1))
            if self._nodes > NODES:
                found.append(self._more())
                break
        return ", ".join(found)

    def _sorted(self, values: Any, depth: int) -> str:
        # Sorted by their texts: the order of a set depends on hashes and on addresses.
        return "{" + ", ".join(sorted(self._value(value, depth + 1) for value in values)) + "}"

    def _pairs(self, values: dict[Any, Any], depth: int) -> str:
        found = (
            f"{self._value(key, depth + 1)}: {self._value(value, depth + 1)}"
            for key, value in dict.items(values)
        )
        return "{" + ", ".join(found) + "}"

    def _drained(self, values: Iterator[Any], depth: int) -> str:
        found: list[str] = []
        try:
            for value in islice(values, ITEMS):
                found.append(self._value(value, depth + 1))  # noqa: PERF401 - what came before an error stays
            if len(found) == ITEMS:
                found.append("<more>")
        except BaseException as error:
            found.append(f"raised {self._error(error, depth + 1)}")
        return ", ".join(found)

    def _awaited(self, value: Any, depth: int) -> str:
        import asyncio  # a large module, rarely needed: a process that forks often should stay small

        async def collected() -> list[Any]:
            if type(value) is CoroutineType:
                return [await value]
            found: list[Any] = []
            async for one in value:
                found.append(one)
                if len(found) == ITEMS:
                    break
            return found

        async def ours() -> object:
            return found_by_us

        found_by_us = object()
        if asyncio.run(ours()) is not found_by_us:
            raise SystemError("the program has replaced what runs coroutines")
        try:
            return self._all(asyncio.run(collected()), depth)
        except BaseException as error:
            return f"raised {self._error(error, depth + 1)}"

    def _called(self, value: Callable[..., Any], function: object, given: int, depth: int) -> str:
        """What a function gives for small numbers; distinguishes closures. `given` arguments are bound."""
        wanted = -1
        if type(function) is FunctionType:
            code, named = function.__code__, function.__kwdefaults__ or ()
            if code.co_kwonlyargcount == len(named):
                wanted = code.co_argcount - len(function.__defaults__ or ()) - given
        # A function may return a function that returns a function, …
        if depth > 3 or not 0 <= wanted <= len(CALLED):
            self.cut = True
            return "not called"
        try:
            return f"-> {self._value(value(*CALLED[:wanted]), depth + 1)}"
        except BaseException as error:
            return f"-> raised {self._error(error, depth + 1)}"


def _integer(value: int) -> str:
    # `repr` of a large integer takes quadratic time, and raises ValueError above 4,300 digits.
    return repr(value) if value.bit_length() < 10_000 else hex(value)


def _is_iterator(kind: type) -> bool:
    return any("__next__" in _DICT(base) for base in _MRO(kind))


def _data_of_class(kind: type) -> dict[str, Any]:
    """What a class of the program holds besides functions and what Python adds."""
    if _MODULE(kind) != PROGRAM:
        return {}
    held = [(name, one) for name, one in _DICT(kind).items() if type(name) is str and name[:2] != "__"]
    return {name: one for name, one in sorted(held) if not hasattr(type(one), "__get__")}


def _is_open(kind: type) -> bool:
    """Whether the objects of a class hold nothing but their contents and attributes, which are described."""
    held = [type(_DICT(base).get("__dict__")) for base in _MRO(kind)]
    if _DICT_OFFSET(kind) and GetSetDescriptorType not in held and MemberDescriptorType not in held:
        return False
    while id(kind) not in _DESCRIBED:
        if _MODULE(kind) in _CLOSED:
            return False
        base = _BASE(kind)
        members = sum(
            type(one) is MemberDescriptorType or (name in _POINTERS and type(one) is GetSetDescriptorType)
            for name, one in _DICT(kind).items()
        )
        if _SIZE(kind) - _SIZE(base) > members * _POINTER or _ITEM_SIZE(kind) != _ITEM_SIZE(base):
            return False
        kind = base
    return True


_POINTERS: Final = ("__dict__", "__weakref__")
_CLOSED: Final = ("builtins", "_thread")
"""Modules with classes whose members are no attributes of the program's."""
_PARTS: Final[Mapping[int, Callable[[Any], tuple[Any, ...]]]] = {
    id(range): lambda value: (value.start, value.stop, value.step),
    id(slice): lambda value: (value.start, value.stop, value.step),
    id(partial): lambda value: (value.func, value.args, value.keywords),
    id(datetime.datetime): lambda value: (str(value.replace(tzinfo=None)), value.fold, value.tzinfo),
    id(datetime.time): lambda value: (str(value.replace(tzinfo=None)), value.fold, value.tzinfo),
    id(re.Pattern): lambda value: (value.pattern, value.flags),
    id(re.Match): lambda value: (value.string, value.regs, value.re, value.pos, value.endpos),
    id(memoryview): lambda value: (value.tobytes(), value.format, value.shape),
}
_ORDERED: Final = collections.OrderedDict
_DEQUE: Final = collections.deque


def _object_contents(encoder: ValueEncoder, value: Any, depth: int) -> str:
    return ""


_CONTENTS: Final[tuple[tuple[type, Callable[[ValueEncoder, Any, int], str]], ...]] = (
    (_ORDERED, lambda encoder, value, depth: f"[{encoder._all(_ORDERED.items(value), depth)}]"),
    (dict, lambda encoder, value, depth: encoder._pairs(value, depth)),
    (list, lambda encoder, value, depth: f"[{encoder._all(list.__iter__(value), depth)}]"),
    (tuple, lambda encoder, value, depth: f"({encoder._all(tuple.__iter__(value), depth)},)"),
    (set, lambda encoder, value, depth: encoder._sorted(set.__iter__(value), depth)),
    (frozenset, lambda encoder, value, depth: encoder._sorted(frozenset.__iter__(value), depth)),
    (collections.deque, lambda encoder, value, depth: f"[{encoder._all(_DEQUE.__iter__(value), depth)}]"),
    (int, lambda encoder, value, depth: _integer(int.__int__(value))),
    (str, lambda encoder, value, depth: _ADDRESS.sub(" at 0x", str.__repr__(value))),
    (float, lambda encoder, value, depth: float.__repr__(value)),
    (bytes, lambda encoder, value, depth: bytes.__repr__(value)),
    (type({}.keys()), lambda encoder, value, depth: f"[{encoder._all(value, depth)}]"),
    (type({}.values()), lambda encoder, value, depth: f"[{encoder._all(value, depth)}]"),
    (type({}.items()), lambda encoder, value, depth: f"[{encoder._all(value, depth)}]"),
)  # fmt: skip
_DESCRIBED: Final = _ids(object, *(kind for kind, _ in _CONTENTS), defaultdict)


def _attributes(value: Any, kind: type) -> dict[Any, Any]:
    """The attributes of an object, read without calling any code of the object."""
    # By the descriptors of each class, because `getattr`, `vars` and `dir` can be overridden by the program.
    found: dict[Any, Any] = {}
    for base in reversed(_MRO(kind)):
        own = _DICT(base)
        for name, member in own.items():
            if type(member) is MemberDescriptorType and _MODULE(base) not in _CLOSED:
                try:
                    found[name] = member.__get__(value)
                except AttributeError:
                    continue
        holder = own.get("__dict__")
        if type(holder) is GetSetDescriptorType:
            held = holder.__get__(value)
            if type(held) is dict:
                found.update(held)
    return found
