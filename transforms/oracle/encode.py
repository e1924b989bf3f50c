"""Values as text, so that equal texts mean values that a program cannot distinguish.

The text distinguishes 1 from True and 1.0, 0.0 from -0.0, a list from a tuple, the order of a dict, and which
parts are the same object. Addresses are left out. Iterators, generators and coroutines are run to their end
(or a limit), as their user would run them; functions that a program returns are called once with small
numbers. No other code of the program under test runs here.

What is needed is bound when this module is imported, because a program may replace the attributes of modules.
"""

import builtins
import collections
import datetime
import decimal
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
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

DEPTH: Final = 40
"""Deepest nesting that is encoded."""
NODES: Final = 20_000
"""Most objects that are encoded."""
ITEMS: Final = 500
"""Most items that are taken from an iterator."""
TEXT: Final = 20_000
"""Number of characters after which a text is cut; a hash of all of it follows."""
CALLED: Final = (2, 1, 3)
"""The arguments for functions that a program returns."""

_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]{6,}")
_PLAIN: Final = frozenset(
    {type(None), bool, float, complex, bytes, range, slice, type(...), type(NotImplemented)}
)
_TOLD_BY_REPR: Final = frozenset(
    {
        bytearray, decimal.Decimal, datetime.date, datetime.datetime, datetime.time,
        datetime.timedelta, datetime.timezone, re.Pattern, re.Match, itertools.count,
    }
)  # fmt: skip
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
_STANDARD_ITERATORS: Final = frozenset(map(type, _ITERATORS))
_ARGUMENTS: Final[Any] = BaseException.__dict__["args"]
_CAUSE: Final[Any] = BaseException.__dict__["__cause__"]
_DICT: Final[Any] = type.__dict__["__dict__"].__get__
_MRO: Final[Any] = type.__dict__["__mro__"].__get__
_MODULE: Final[Any] = type.__dict__["__module__"].__get__
_QUALNAME: Final[Any] = type.__dict__["__qualname__"].__get__
_NAMING: Final = frozenset({NameError, UnboundLocalError})


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
        """Whether a part of a value was left out: equal texts do not mean equal values then."""
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
        if kind in _PLAIN:
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
        if kind in _TOLD_BY_REPR:
            return f"{kind.__name__} {_ADDRESS.sub(' at 0x', repr(value))}"
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
        if kind in _STANDARD_ITERATORS or kind is GeneratorType:
            return f"<{kind.__name__} {self._drained(value, depth)}>"
        if kind in (CoroutineType, AsyncGeneratorType):
            return f"<{kind.__name__} {self._awaited(value, depth)}>"
        if kind in (FunctionType, partial, MethodType):
            return f"<{kind.__name__} {self._called(value, depth)}>"
        if kind in (BuiltinFunctionType, ModuleType):
            return f"<{kind.__name__} {value.__name__}>"
        if issubclass(kind, type):
            return f"<class {_QUALNAME(value)}>"
        if issubclass(kind, BaseException):
            return self._error(value, depth)
        return self._instance(value, kind, depth)

    def _instance(self, value: Any, kind: type, depth: int) -> str:
        parts = [_QUALNAME(kind)]
        for base, told in _CONTENTS:
            if issubclass(kind, base):
                parts.append(told(self, value, depth))
                break
        if issubclass(kind, defaultdict):
            parts.append(self._value(value.default_factory, depth))
        attributes = _attributes(value, kind)
        if attributes:
            parts.append(self._pairs(attributes, depth))
        if _MODULE(kind) in ("itertools", "builtins") and _is_iterator(kind):
            parts.append(self._drained(value, depth))
        return f"<{' '.join(parts)}>"

    def _error(self, error: BaseException, depth: int) -> str:
        kind = type(error)
        name = f"{_MODULE(kind)}.{_QUALNAME(kind)}"
        if kind in _NAMING and not self._messages:  # the attributes hold the name, too
            return f"<{name}>"
        parts = [name, self._value(_ARGUMENTS.__get__(error), depth + 1)]
        attributes = _attributes(error, kind)
        if attributes:
            parts.append(self._pairs(attributes, depth + 1))
        cause = _CAUSE.__get__(error)
        if cause is not None and depth < DEPTH:
            parts.append(f"from {self._error(cause, depth + 1)}")
        if isinstance(error, BaseExceptionGroup):
            parts.append(self._all(error.exceptions, depth + 1))
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

    def _called(self, value: Callable[..., Any], depth: int) -> str:
        """The result of a function for small numbers; distinguishes closures."""
        if depth > 3:  # a function may return a function that returns a function, …
            return "deep"
        wanted = 0
        if type(value) is FunctionType:
            wanted = value.__code__.co_argcount - len(value.__defaults__ or ())
            if value.__code__.co_kwonlyargcount:
                return "with keywords"
        if type(value) is not FunctionType or not 0 <= wanted <= len(CALLED):
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


_DEQUE: Final = collections.deque
_CONTENTS: Final[tuple[tuple[type, Callable[[ValueEncoder, Any, int], str]], ...]] = (
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


def _attributes(value: Any, kind: type) -> dict[Any, Any]:
    """The attributes of an object, read without calling any code of the object."""
    # By the descriptors of each class, because `getattr`, `vars` and `dir` can be overridden by the program.
    found: dict[Any, Any] = {}
    for base in reversed(_MRO(kind)):
        own = _DICT(base)
        for name, member in own.items():
            if type(member) is MemberDescriptorType and _MODULE(base) not in ("builtins", "_thread"):
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
