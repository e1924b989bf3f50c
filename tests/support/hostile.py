"""Objects of foreign classes that note which of their methods ran.

`LOOKING` names the methods that run when something only looks at an object (assumption 1 of
`codeaudit.transforms.python.analysis.effects`), by the words of that list. Every other method acts.
"""

import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeAlias

LOG: Final[list[str]] = []
"""The methods that ran, in order."""

_OPERATORS: Final = [
    "add",
    "sub",
    "mul",
    "matmul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "xor",
    "or",
]

LOOKING: Final[Mapping[str, frozenset[str]]] = {
    "to read an attribute or an item": frozenset({"__getattr__", "dtype", "__getitem__", "__missing__"}),
    # Bytes ask what they are compared with, or added to, for its buffer (since Python 3.12).
    "to compare": frozenset(
        f"__{name}__" for name in ["eq", "ne", "lt", "le", "gt", "ge", "contains", "buffer", "release_buffer"]
    ),
    "to calculate": frozenset(
        f"__{name}__"
        for name in (
            *_OPERATORS,
            *(f"r{name}" for name in _OPERATORS),
            *["neg", "pos", "invert", "abs", "round"],
        )
    ),
    "to hash": frozenset({"__hash__"}),
    "to test for truth, and len": frozenset({"__bool__", "__len__"}),
    "to make text": frozenset({"__str__", "__repr__", "__format__", "__fspath__"}),
    "to ask for the class": frozenset({"__class__", "__instancecheck__", "__subclasscheck__"}),
}

Mode: TypeAlias = frozenset[tuple[str, str]]
"""Methods that a foreign class lacks (`absent`), or that raise (`raises`)."""


class Text(str):
    """A text that is no plain `str`. A foreign object gives values of such classes where it may."""


class Whole(int):
    """A number that is no plain `int`."""


class Real(float):
    """A number that is no plain `float`."""


class Bits(bytes):
    """Bytes that are no plain `bytes`."""


def items(*values: object) -> Iterator[object]:
    """An iterator that notes when it is asked for an item."""
    for value in values:
        note("__next__")
        yield value


def called(*args: object, **keywords: object) -> int:
    """A function that notes its call."""
    note("__call__")
    return 1


def _item(self: object, key: object = 0) -> object:
    if isinstance(key, int) and not 0 <= key < 2:
        raise IndexError(key)
    return 1


def _results(exact: bool) -> Mapping[str, Callable[..., object]]:
    """What the methods of a foreign object give; not `exact`: values of subclasses of the builtin types."""
    text, whole, real, bits = (str, int, float, bytes) if exact else (Text, Whole, Real, Bits)
    results: dict[str, Callable[..., object]] = {
        **dict.fromkeys(
            ("__bool__", *LOOKING["to compare"] - {"__buffer__", "__release_buffer__"}), lambda *_: True
        ),
        **dict.fromkeys(LOOKING["to calculate"], lambda *_: whole(1)),
        **dict.fromkeys(LOOKING["to make text"], lambda *_: text("ab")),
        **dict.fromkeys(("__index__", "__int__", "__trunc__", "__floor__", "__ceil__"), lambda *_: whole(1)),
        **dict.fromkeys(("__iter__", "__reversed__"), lambda *_: items("ab", "cd")),
        **dict.fromkeys(("__hash__", "__len__", "__length_hint__"), lambda *_: whole(1)),
        "__getitem__": _item,
        "__float__": lambda *_: real(1.0),
        "__complex__": lambda *_: 1j,
        "__bytes__": lambda *_: bits(b"ab"),
        "__buffer__": lambda *_: memoryview(b"ab"),
        "__call__": lambda *_, **__: 1,
        "__next__": lambda *_: 1,
        "__array__": lambda *_, **__: _array(),
        "__array_function__": lambda *_: 1,
        "__array_ufunc__": lambda *_, **__: 1,
        "__enter__": lambda *_: 1,
        "__exit__": lambda *_: None,
        "keys": lambda *_: ["k"],
        **dict.fromkeys((f"__i{name}__" for name in _OPERATORS if name != "divmod"), lambda *_: whole(1)),
        **dict.fromkeys(("__setitem__", "__delitem__"), lambda *_: None),
    }
    return results


def _array() -> object:
    import numpy as np

    return np.array([1.0])


_ALL_LOOKING: Final = frozenset[str]().union(*LOOKING.values())
_looking = 0
"""How many methods that only look are running: what they do themselves is not noted."""


def note(name: str) -> None:
    """Note that a method runs."""
    if not _looking:
        LOG.append(name)


def _noting(name: str, result: Callable[..., object], *, raises: bool) -> Callable[..., object]:
    def method(self: object, *args: object, **keywords: object) -> object:
        global _looking
        note(name)
        if raises:
            raise LookupError(name)
        _looking += name in _ALL_LOOKING
        try:
            return result(self, *args, **keywords)
        finally:
            _looking -= name in _ALL_LOOKING

    return method


def _refuse(self: object, name: str) -> object:
    raise AttributeError(name)


@cache
def foreign_class(mode: Mode = frozenset(), *, exact: bool = False) -> type:
    """A class with every special method that a call may ask for, except as `mode` says."""
    how = dict(mode)
    body: dict[str, Any] = {}
    for name, result in (*_results(exact).items(), ("__getattr__", _refuse)):
        if how.get(name) != "absent":
            body[name] = _noting(name, result, raises=how.get(name) == "raises")
        elif name in ("__eq__", "__hash__", "__bool__"):
            body[name] = getattr(object, name, None)
    for name, gives in (("dtype", lambda self: float), ("__class__", lambda self: object)):
        if how.get(name) != "absent":
            body[name] = property(_noting(name, gives, raises=how.get(name) == "raises"))
    body["__doc__"] = "A foreign class."
    return types.new_class("Foreign", (), {}, lambda space: space.update(body))


_CLASS_METHOD: Final = types.ClassMethodDescriptorType
_KEPT: Final = frozenset({
    "__new__", "__init__", "__class__", "__getattribute__", "__setattr__", "__delattr__", "__doc__", "__dir__",
    "__init_subclass__", "__subclasshook__", "__class_getitem__", "__sizeof__", "__reduce__", "__reduce_ex__",
    "__getnewargs__", "__getstate__", "__setstate__", "__del__",
})  # fmt: skip
"""Methods that a subclass of a builtin type does not replace."""


@cache
def subclass(base: type) -> type:
    """A subclass that notes every method of `base`, and has those special methods that `base` lacks."""
    body: dict[str, Any] = {}
    if base is not dict:  # `__missing__` is of no use without a key that is missing
        body = {
            name: _noting(name, result, raises=False)
            for name, result in _results(False).items()
            if name not in ("__missing__", "__getattr__")
        }
    for name in dir(base):
        method = getattr(base, name)
        bound = inspect.getattr_static(base, name)
        if (
            name in _KEPT
            or not callable(method)
            or isinstance(bound, staticmethod | classmethod | _CLASS_METHOD)
        ):
            continue
        body[name] = _noting(name, method, raises=False)
    return types.new_class(f"{base.__name__.title()}Subclass", (base,), {}, lambda space: space.update(body))


class Asked(type):
    """The class of a class that notes when it is asked for its instances and subclasses."""

    def __instancecheck__(cls, instance: object) -> bool:
        note("__instancecheck__")
        return True

    def __subclasscheck__(cls, subclass: type) -> bool:
        note("__subclasscheck__")
        return True

    def __iter__(cls) -> Iterator[object]:
        note("__iter__")
        return items(1)


class Answering(metaclass=Asked):
    """A class whose class notes what it is asked."""
