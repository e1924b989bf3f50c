"""Values as text, so that equal texts mean values that a program cannot distinguish.

The text distinguishes 1 from True and 1.0, 0.0 from -0.0, a list from a tuple, the order of a dict, and which
parts are the same object. Addresses of objects of this process are left out. Iterators, generators and
coroutines are run to their end (or a limit), as their user would run them; functions that a program returns
are called with small numbers. No other code of the program under test runs while values are encoded. What
cannot be described completely is marked (`ValueEncoder.cut`).

At the end of a run, `ValueEncoder.unseen` calls these functions, and the methods of objects that the program
returned, with further arguments. A difference there is no difference of the programs yet (a function that
only ever gets numbers may treat texts in another way), but programs with different texts do not agree.

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
from functools import lru_cache, partial
from gc import get_referents
from hashlib import sha256
from io import BytesIO, StringIO
from opcode import opmap
from operator import itemgetter
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CodeType,
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
BUILTINS: Final = dict(vars(builtins))
"""The builtins as they were when the observer started."""
globals()["__builtins__"] = BUILTINS

PROGRAM: Final = "sample"
"""The name of the module that a program is executed as."""
DEPTH: Final = 40
"""Deepest nesting that is encoded."""
NODES: Final = 20_000
"""Most objects that are encoded."""
ITEMS: Final = 2_000
"""Most items that are taken from an iterator; one that has more is not described completely."""
TEXT: Final = 20_000
"""Number of characters after which a text is cut; a hash of all of it follows."""
CALLED: Final = ((2, 1, 3, 5, 4, 7), (3, 2, 1, 4, 7, 5), (0, 3, 2, 1, 5, 4), (1.5, 0.5, 2.5, 4.5, 3.5, 5.5))
"""The arguments for functions that a program returns, one tuple for each call."""
LATER: Final = 200
"""Most functions, methods and classes that are called with further arguments."""
CALLS: Final = 3
"""Most calls within each other: a function may return a function that returns a function, …"""
CONSTANTS: Final = 8
"""Most constants of a function that become arguments of it."""

_ADDRESS: Final = re.compile(r" at 0x([1-9a-f][0-9a-f]{5,15})(?![0-9a-zA-Z])")
_HEAP: Final = 1 << 29
"""Bytes around a known object in which other objects of this process lie: its memory is limited to them."""


class _OfAKind:
    """A class is an object of more than 512 bytes, which the C library allocates."""


# Small objects, objects of the C library's heap and objects of the interpreter's own memory.
_PLACES: Final = (id(_OfAKind()), id(_OfAKind), id(int), id(None))


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
_CONTEXT: Final[Any] = BaseException.__dict__["__context__"]
_CACHING: Final = type(lru_cache(len))
_INFO: Final[Any] = _CACHING.cache_info
_REDUCE: Final[Any] = object.__dict__["__reduce_ex__"]
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


def hashed(text: str, most: int) -> str:
    """A text; of one with more than `most` characters the beginning, the length, and a hash of all of it."""
    if len(text) <= most:
        return text
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text[:most]}… {len(text)} characters, {digest}"


def parts_of_function(value: FunctionType) -> tuple[Any, ...]:
    """What a function object holds besides its code."""
    attributes = {name: part for name, part in value.__dict__.items() if name != "__wrapped__"}
    return value.__defaults__, value.__kwdefaults__, attributes


class ValueEncoder:
    """Encodes the values that one call left behind; remembers which objects it has met."""

    __slots__ = (
        "_addresses",
        "_alive",
        "_calls",
        "_classes",
        "_known",
        "_later",
        "_messages",
        "_met",
        "_named",
        "_nodes",
        "cut",
    )

    def __init__(self, *, messages: bool) -> None:
        """Without `messages`, errors about unbound names have no text, because it contains the names."""
        self.cut = False
        """Whether a part of a value is not described: equal texts do not mean equal values then."""
        self._messages = messages
        self._met: dict[int, int] = {}
        self._alive: list[object] = []
        self._nodes = 0
        self._calls = 0
        self._known: frozenset[int] = frozenset()
        self._classes: set[int] = set()
        self._later: list[_Later] = []
        self._addresses: dict[str, int] = {}
        self._named: list[str] = []

    def encode(self, value: object, *, known: frozenset[int] = frozenset()) -> str:
        """The text of a value. `known` functions and classes (by identity) are not called further."""
        self._known = known
        try:
            return self.short(self._value(value, 0))
        except RecursionError:
            return self._more()

    def error(self, error: BaseException) -> str:
        """The text of an exception: kind, arguments, attributes, class, and the exceptions behind it."""
        self._known = frozenset()
        try:
            return self.short(self._value(error, 0))
        except RecursionError:
            return self._more()

    def short(self, text: str) -> str:
        """A text without addresses; a long one is cut, and a hash of all of it follows."""
        return hashed(self._text(text), TEXT)

    @property
    def has_more(self) -> bool:
        """Whether there is anything for `unseen`."""
        return len(self._named) > 1 or bool(self._later)

    def unseen(self, probe: Callable[[str], Any], log: list[str]) -> str:
        """What functions, methods and classes do with further arguments; docstrings, annotations, addresses.

        `probe` makes arguments that write what is done with them to `log`. This changes objects, so it comes
        last.
        """
        self._known = frozenset()
        texts = [f"addresses {self._named}"] if len(self._named) > 1 else []
        for number, call in enumerate(self._later):  # it grows while functions give functions
            if number == LATER:
                return self._more()
            try:
                texts += call(self, lambda name: probe(name), log)
            except RecursionError:
                texts.append(self._more())
        return self.short("\n".join([*texts, *log]))

    def _text(self, text: str) -> str:
        """A text without the addresses of objects of this process."""
        return _ADDRESS.sub(self._unaddressed, text) if " at 0x" in text else text

    def _unaddressed(self, match: re.Match[str]) -> str:
        address = int(match[1], 16)
        if address % 8 or min(abs(address - place) for place in _PLACES) > _HEAP:
            return match[0]
        # Which texts name the same object. An earlier object may have had the address, so this can hinder
        # agreement only.
        self._named.append(str(self._addresses.setdefault(match[1], len(self._addresses))))
        return " at 0x"

    def _value(self, value: Any, depth: int) -> str:
        # The type, and never `isinstance`: that reads `__class__`, which may be code of the program.
        kind = type(value)
        if id(kind) in _PLAIN:
            return repr(value)
        if kind is str:
            return self._text(repr(value))
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
            return f"{kind.__name__} {self._text(repr(value))}"
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
            if _is_of_library(value):
                return f"<function {value.__module__}.{value.__qualname__}>"
            return f"<function {self._function(value, depth)} {self._called(value, value, 0, depth)}>"
        if kind is MethodType:
            owner = self._value(value.__self__, depth)
            return f"<method of {owner} {self._called(value, value.__func__, 1, depth)}>"
        if kind is BuiltinFunctionType and type(value.__self__) is not ModuleType:
            return f"<{value.__name__} of {self._value(value.__self__, depth)}>"
        if kind is BuiltinFunctionType or (kind is ModuleType and self._is_imported(value)):
            return f"<{kind.__name__} {value.__name__}>"
        if issubclass(kind, type):
            if _MODULE(value) == PROGRAM and id(value) not in self._known:
                self._later.append(partial(_instances, value))
            return f"<class {_name(value)} {self._class(value, depth)}>"
        if issubclass(kind, BaseException):
            return self._error(value, depth)
        return self._instance(value, kind, depth)

    @staticmethod
    def _is_imported(module: ModuleType) -> bool:
        return sys.modules.get(_OF_MODULE(module).get("__name__")) is module

    def _instance(self, value: Any, kind: type, depth: int) -> str:
        parts = [_name(kind)]
        contents: Callable[[ValueEncoder, Any, int], str] = _object_contents
        for base, write in _CONTENTS:
            if issubclass(kind, base):
                contents = write
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
            parts.append(self._reduced(value, kind, depth))
        parts.append(self._of_class(value, kind, depth))
        return f"<{' '.join(filter(None, parts))}>"

    def _reduced(self, value: Any, kind: type, depth: int) -> str:
        """What a copy of an object would be made from, for types of the standard library."""
        if kind is _CACHING:
            return self._remembered(value, depth)
        try:
            if PROGRAM not in map(_MODULE, _MRO(kind)):
                made_from = _REDUCE(value, 2)
                if type(made_from) is tuple:  # not a name, which says nothing of the object
                    return self._all(made_from, depth)
        except Exception:  # it cannot be copied
            pass
        return self._more()

    def _of_class(self, value: Any, kind: type, depth: int) -> str:
        """The class of an object, where the program made it; once. Its methods are called at the end."""
        if id(kind) in self._known or id(kind) in self._classes or PROGRAM not in map(_MODULE, _MRO(kind)):
            return ""
        self._classes.add(id(kind))
        self._alive.append(kind)
        self._later.append(partial(_methods_called, value, kind))
        return f"of {self._class(kind, depth)}"

    def _class(self, kind: type, depth: int) -> str:
        """The bases of a class and what the program's classes among them hold besides functions."""
        by_class = {_name(base): data_of_class(base) for base in _MRO(kind)}
        return self._pairs(by_class, depth) if PROGRAM in map(_MODULE, _MRO(kind)) else ""

    def _function(self, value: FunctionType, depth: int) -> str:
        """What a function object holds besides its code."""
        parts = parts_of_function(value)
        return self._all(parts, depth) if any(parts) else ""

    def _error(self, error: BaseException, depth: int) -> str:
        kind = type(error)
        name = f"{_MODULE(kind)}.{_QUALNAME(kind)}"
        parts = [name]
        if id(kind) not in _NAMING or self._messages:  # the attributes hold the name, too
            parts.append(self._value(_ARGUMENTS.__get__(error), depth + 1))
            attributes = _attributes(error, kind) | _of_builtin_error(error, kind)
            if attributes:
                parts.append(self._pairs(attributes, depth + 1))
        cause, context = _CAUSE.__get__(error), _CONTEXT.__get__(error)
        if cause is not None:
            parts.append(f"from {self._value(cause, depth + 1)}")
        if context is not None and context is not cause:
            parts.append(f"while {self._value(context, depth + 1)}")
        if issubclass(kind, BaseExceptionGroup):
            parts.append(self._all(_EXCEPTIONS(error), depth + 1))
        parts.append(self._of_class(error, kind, depth))
        return f"<{' '.join(filter(None, parts))}>"

    def _remembered(self, value: Any, depth: int) -> str:
        """What a function with a cache remembers, the oldest use first, and how often it was asked."""
        parts, info = get_referents(value), _INFO(value)
        entries = parts[1 : 1 + 3 * info.currsize]  # a key, what it gave, and the type of the entry
        if info.maxsize is None:
            entries = [
                part for memo in parts[1:2] if type(memo) is dict for entry in memo.items() for part in entry
            ]
        elif len({*map(id, entries[2::3])}) > 1:
            return self._more()
        return f"{info} {self._all(entries, depth)}"

    def _all(self, values: Any, depth: int) -> str:
        texts = []
        for value in values:
            texts.append(self._value(value, depth + 1))
            if self._nodes > NODES:
                texts.append(self._more())
                break
        return ", ".join(texts)

    def _sorted(self, values: Any, depth: int) -> str:
        # Sorted by their texts: the order of a set depends on hashes and on addresses.
        return "{" + ", ".join(sorted(self._value(value, depth + 1) for value in values)) + "}"

    def _pairs(self, values: dict[Any, Any], depth: int) -> str:
        texts = (
            f"{self._value(key, depth + 1)}: {self._value(value, depth + 1)}"
            for key, value in dict.items(values)
        )
        return "{" + ", ".join(texts) + "}"

    def _drained(self, values: Iterator[Any], depth: int) -> str:
        texts: list[str] = []
        try:
            if type(values) is GeneratorType:
                self._answers(values.gi_code)
            while len(texts) <= ITEMS:
                texts.append(self._value(next(values), depth + 1))
            texts[-1] = self._more()
        except StopIteration as end:
            if end.value is not None:
                texts.append(f"returned {self._value(end.value, depth + 1)}")
        except BaseException as error:
            texts.append(f"raised {self._value(error, depth + 1)}")
        return ", ".join(texts)

    def _answers(self, code: CodeType) -> None:
        """Nothing is sent to generators here: those that use what is sent need equal code to agree."""
        if _uses_what_is_sent(code):
            self._later.append(lambda *_: [_fingerprint(code)])

    def _awaited(self, value: Any, depth: int) -> str:
        import asyncio  # a large module, rarely needed: a process that forks often should stay small

        if type(value) is AsyncGeneratorType:
            self._answers(value.ag_code)

        async def collected() -> tuple[list[Any], BaseException | None]:
            parts: list[Any] = []
            try:
                if type(value) is CoroutineType:
                    parts.append(await value)
                    return parts, None
                async for part in value:
                    parts.append(part)
                    if len(parts) > ITEMS:
                        break
            except BaseException as error:
                return parts, error
            return parts, None

        async def ours() -> object:
            return found_by_us

        found_by_us = object()
        if asyncio.run(ours()) is not found_by_us:
            raise SystemError("the program has replaced what runs coroutines")
        values, error = asyncio.run(collected())
        text = self._all(values[:ITEMS], depth)
        if len(values) > ITEMS:
            text += self._more()
        return text if error is None else f"{text} raised {self._value(error, depth + 1)}"

    def _called(self, value: Callable[..., Any], function: object, given: int, depth: int) -> str:
        """What a function gives for small numbers; distinguishes closures. `given` arguments are bound."""
        if self._calls >= CALLS or type(function) is not FunctionType:
            self.cut = True
            return "not called"
        code = function.__code__
        count = code.co_argcount - len(function.__defaults__ or ()) - given
        named = _required(function)
        if not 0 <= count <= len(CALLED[0]):
            self.cut = True
            return "not called"
        texts = [
            self._result(value, arguments[:count], dict.fromkeys(named, arguments[-1]), depth)
            for arguments in (CALLED if count or named else CALLED[:2])
        ]
        if id(function) not in self._known:
            self._later.append(partial(_called_further, value, function, given))
        return f"-> {'; '.join(texts)}"

    def _result(
        self, value: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any], depth: int
    ) -> str:
        """What one call gives. Of an argument of a wrong kind, only that it is one."""
        self._calls += 1
        try:
            try:
                result = value(*arguments, **named)
            except BaseException as error:
                # Its text names operators and kinds: `a < b` and `b > a` have different ones.
                if type(error) is TypeError or type(error) is AttributeError:
                    return _WRONG_KIND
                return f"raised {self._value(error, depth + 1)}"
            return self._value(result, depth + 1)
        finally:
            self._calls -= 1


_Later = Callable[[ValueEncoder, Callable[[str], Any], list[str]], list[str]]
"""A call that is made at the end of a run, and gives texts."""
_WRONG_KIND: Final = "raised for a wrong kind"
_VARIABLE: Final = 4
"""Flag of a code object that takes any number of arguments (CO_VARARGS)."""
_NAMED: Final = 8
"""Flag of a code object that takes arguments of any name (CO_VARKEYWORDS)."""
_CODE_PLACES: Final = ("<setup>",)


def _required(function: FunctionType) -> list[str]:
    """The keyword-only parameters of a function that have no default."""
    code = function.__code__
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return [name for name in names if name not in (function.__kwdefaults__ or ())]


def _is_of_library(function: FunctionType) -> bool:
    """Whether a function is the one that a loaded module (not the program's) has under its name."""
    module, name = function.__module__, function.__qualname__
    if type(module) is not str or module == PROGRAM:
        return False
    return _OF_MODULE(sys.modules.get(module, _NOTHING)).get(name) is function


_NOTHING: Final = ModuleType("nothing")


def _called_further(
    value: Callable[..., Any],
    function: FunctionType,
    given: int,
    encoder: ValueEncoder,
    probe: Callable[[str], Any],
    log: list[str],
) -> list[str]:
    """What a function gives for texts, lists, its own constants and probes; its docstring and annotations."""
    code = function.__code__
    most = code.co_argcount - given
    least = most - len(function.__defaults__ or ())
    rest = 2 if code.co_flags & _VARIABLE else 0
    constants = _constants(code)
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    texts = [f"doc {function.__doc__!r}", f"annotations {encoder._value(function.__annotations__, 2)}"]
    results = []
    for count in dict.fromkeys((least, most, most + rest)):
        names = _required(function) if count == least and least != most else list(named)
        for drawn in _drawn(max(count, 1), constants if count or names else [], probe, len(names)):
            extra = dict(zip(names, drawn[count:], strict=False))
            if code.co_flags & _NAMED:
                extra |= {name: 1 for name in constants if type(name) is str and name.isidentifier()} | {
                    "more": 1
                }
            results.append(encoder._result(value, tuple(drawn[:count]), extra, 2))
            if not count and not names and len(results) > 1:
                break
    if all(text == _WRONG_KIND for text in results):
        encoder.cut = True
    return [*texts, *results]


def _drawn(count: int, constants: list[Any], probe: Callable[[str], Any], names: int) -> Iterator[list[Any]]:
    """Lists of `count` arguments, and of values for as many `names`."""
    total = count + names
    yield [probe(f"p{place}") for place in range(total)]
    yield [("ab", "c", "Ba ", "12", "", "x")[place % 6] for place in range(total)]
    yield [[[3, 1, 2], [2], [], [5, 5]][place % 4] for place in range(total)]
    yield [(-3, 12, 100, -1, 8)[place % 5] for place in range(total)]
    yield [(None, True, (1, "a"), {"a": 1}, {2})[place % 5] for place in range(total)]
    for constant in constants:
        near = (constant, constant + 1, constant - 1) if type(constant) is int else (constant,)
        for value in near:
            yield [value] * total
            if total > 1:
                yield [value, *[2] * (total - 1)]
                yield [2, value, *[2] * (total - 2)]


def _constants(code: CodeType) -> list[Any]:
    """Numbers and texts of a function: its branches probably ask for them."""
    constants: list[Any] = []
    for constant in code.co_consts:
        for part in constant if type(constant) is tuple or type(constant) is frozenset else (constant,):
            if type(part) in (int, float, str, bytes) and part not in constants:
                small = type(part) in (str, bytes) or abs(part) < 10_000
                if small:
                    constants.append(part)
    return constants[:CONSTANTS]


def _methods_called(
    value: Any, kind: type, encoder: ValueEncoder, probe: Callable[[str], Any], log: list[str]
) -> list[str]:
    """What the methods and properties of an object give, as far as its classes are the program's."""
    texts = []
    for base in _MRO(kind):
        if _MODULE(base) != PROGRAM:
            continue
        for name, member in sorted(
            (k, v) for k, v in _DICT(base).items() if type(k) is str and k not in _ADDED
        ):
            texts.append(name)
            for function in _functions_of(member):
                if function.__code__.co_filename in _CODE_PLACES or "/" in function.__code__.co_filename:
                    continue  # equal in both programs
                bound = type(member) is not staticmethod
                first = kind if type(member) is classmethod else value
                call = partial(function, first) if bound else function
                if function.__code__.co_argcount >= bound:
                    texts += _called_further(call, function, int(bound), encoder, probe, log)
    return texts


def _functions_of(member: Any) -> list[FunctionType]:
    kind = type(member)
    if kind is property:
        parts = [member.fget, member.fset, member.fdel]
    elif kind is staticmethod or kind is classmethod:
        parts = [member.__func__]
    else:
        parts = [member]
    return [part for part in parts if type(part) is FunctionType]


def _instances(kind: type, encoder: ValueEncoder, probe: Callable[[str], Any], log: list[str]) -> list[str]:
    """The objects that a class makes."""
    making = [
        _DICT(base)[name] for base in _MRO(kind) for name in ("__init__", "__new__") if name in _DICT(base)
    ]
    function = making[0] if type(making[0]) is FunctionType else None
    count = 0 if function is None else function.__code__.co_argcount - len(function.__defaults__ or ()) - 1
    if not 0 <= count <= len(CALLED[0]):
        encoder.cut = True
        return []
    texts = [encoder._result(kind, arguments[:count], {}, 2) for arguments in CALLED]
    if all(text == _WRONG_KIND for text in texts):
        encoder.cut = True
    return texts


def _fingerprint(code: CodeType) -> str:
    """A text that functions with equal code have, whatever their locals are called."""
    parts = [
        code.co_code.hex(),
        str((code.co_names, code.co_argcount, code.co_kwonlyargcount, code.co_flags)),
        *(_fingerprint(part) if type(part) is CodeType else repr(part) for part in code.co_consts),
    ]
    return sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _uses_what_is_sent(code: CodeType) -> bool:
    """Whether a generator uses the value of a `yield` of its own."""
    codes = code.co_code[::2]
    return any(
        opcode == _YIELD and codes[place + 1 : place + 2] == _RESUME and codes[place + 2 : place + 3] != _POP
        and code.co_code[2 * place + 3] & 3 == 1  # resumed behind `yield`, not behind `yield from` or `await`
        for place, opcode in enumerate(codes)
    )  # fmt: skip


_YIELD: Final = opmap["YIELD_VALUE"]
_RESUME: Final = bytes([opmap["RESUME"]])
_POP: Final = bytes([opmap["POP_TOP"]])


def _integer(value: int) -> str:
    # `repr` of a large integer takes quadratic time, and raises ValueError above 4,300 digits.
    return repr(value) if value.bit_length() < 10_000 else hex(value)


def _is_iterator(kind: type) -> bool:
    return any("__next__" in _DICT(base) for base in _MRO(kind))


def _name(kind: type) -> str:
    """The name of a class, with its module where the program did not make it."""
    module = _MODULE(kind)
    return _QUALNAME(kind) if module == PROGRAM or module == "builtins" else f"{module}.{_QUALNAME(kind)}"


def data_of_class(kind: type) -> dict[str, Any]:
    """What a class of the program holds besides functions and what Python adds."""
    if _MODULE(kind) != PROGRAM:
        return {}
    rows = [(name, value) for name, value in _DICT(kind).items() if type(name) is str and name not in _ADDED]
    return {
        name: value
        for name, value in sorted(rows, key=_first)
        if (name[:2] != "__" or name in _OF_PROGRAM) and not hasattr(type(value), "__get__")
    }


_first: Final = itemgetter(0)
_ADDED: Final = frozenset({"_abc_impl", "__dict__", "__weakref__", "__module__", "__doc__"})
_OF_PROGRAM: Final = frozenset({"__hash__", "__match_args__", "__slots__"})


def _is_open(kind: type) -> bool:
    """Whether the objects of a class hold nothing but their contents and attributes, which are described."""
    kinds = [type(_DICT(base).get("__dict__")) for base in _MRO(kind)]
    if _DICT_OFFSET(kind) and GetSetDescriptorType not in kinds and MemberDescriptorType not in kinds:
        return False
    while id(kind) not in _DESCRIBED:
        if _MODULE(kind) in _CLOSED:
            return False
        base = _BASE(kind)
        members = sum(
            type(part) is MemberDescriptorType or (name in _POINTERS and type(part) is GetSetDescriptorType)
            for name, part in _DICT(kind).items()
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
    id(partial): lambda value: (value.func, value.args, value.keywords, value.__dict__),
    id(datetime.datetime): lambda value: (str(value.replace(tzinfo=None)), value.fold, value.tzinfo),
    id(datetime.time): lambda value: (str(value.replace(tzinfo=None)), value.fold, value.tzinfo),
    id(re.Pattern): lambda value: (value.pattern, value.flags),
    id(re.Match): lambda value: (value.string, value.regs, value.re, value.pos, value.endpos),
    id(StringIO): lambda value: (value.closed or value.getvalue(), value.closed or value.tell()),
    id(BytesIO): lambda value: (value.closed or value.getvalue(), value.closed or value.tell()),
    id(memoryview): lambda value: (value.tobytes(), value.format, value.shape),
}
_ORDERED: Final = collections.OrderedDict
_DEQUE: Final = collections.deque
_MOST: Final[Any] = vars(_DEQUE)["maxlen"].__get__


def _object_contents(encoder: ValueEncoder, value: Any, depth: int) -> str:
    return ""


_CONTENTS: Final[tuple[tuple[type, Callable[[ValueEncoder, Any, int], str]], ...]] = (
    (_ORDERED, lambda encoder, value, depth: f"[{encoder._all(_ORDERED.items(value), depth)}]"),
    (dict, lambda encoder, value, depth: encoder._pairs(value, depth)),
    (list, lambda encoder, value, depth: f"[{encoder._all(list.__iter__(value), depth)}]"),
    (tuple, lambda encoder, value, depth: f"({encoder._all(tuple.__iter__(value), depth)},)"),
    (set, lambda encoder, value, depth: encoder._sorted(set.__iter__(value), depth)),
    (frozenset, lambda encoder, value, depth: encoder._sorted(frozenset.__iter__(value), depth)),
    (_DEQUE, lambda encoder, value, depth: f"[{encoder._all(_DEQUE.__iter__(value), depth)}] {_MOST(value)}"),
    (int, lambda encoder, value, depth: _integer(int.__int__(value))),
    (str, lambda encoder, value, depth: encoder._text(str.__repr__(value))),
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
    attributes: dict[Any, Any] = {}
    for base in reversed(_MRO(kind)):
        members = _DICT(base)
        for name, member in members.items():
            if type(member) is MemberDescriptorType and _MODULE(base) not in _CLOSED:
                try:
                    attributes[name] = member.__get__(value)
                except AttributeError:
                    continue
        holder = members.get("__dict__")
        if type(holder) is GetSetDescriptorType:
            content = holder.__get__(value)
            if type(content) is dict:
                attributes.update(content)
    return attributes


def _of_builtin_error(error: BaseException, kind: type) -> dict[str, Any]:
    """The members that a builtin exception has beside its arguments, such as a file's name."""
    attributes: dict[str, Any] = {}
    for base in _MRO(kind):
        if _MODULE(base) == "builtins":
            for name, member in _DICT(base).items():
                if type(member) is MemberDescriptorType and name not in _OBJECTS_OF_ERRORS:
                    value = member.__get__(error)
                    if value is not None and value is not False:
                        attributes[name] = value
    return attributes


_OBJECTS_OF_ERRORS: Final = frozenset({"obj", "exceptions", "print_file_and_line"})
"""Members that say nothing more than the arguments, or that may be any object."""
