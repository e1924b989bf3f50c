"""Notices that a program has replaced a part of the modules that observe it."""

import builtins
from collections.abc import Iterator, Mapping
from itertools import chain
from operator import attrgetter, is_, methodcaller
from types import FunctionType
from typing import Any, Final

# The functions here have builtins of their own: programs may replace those that all modules share.
globals()["__builtins__"] = dict(vars(builtins))

_code: Final = attrgetter("__code__")
_values: Final = methodcaller("values")


class IntactParts:
    """The parts of some modules: their names, their builtins, their classes, and the code of functions."""

    __slots__ = ("_codes", "_functions", "_parts", "_sizes", "_spaces")

    def __init__(self) -> None:
        self._spaces: tuple[Mapping[str, Any], ...] = ()
        self._sizes: list[int] = []
        self._parts: tuple[Any, ...] = ()
        self._functions: tuple[FunctionType, ...] = ()
        self._codes: tuple[Any, ...] = ()

    def watch(self, *modules: dict[str, Any]) -> None:
        """Remember the parts of modules, which are given by their namespaces."""
        for module in modules:
            module.setdefault("__warningregistry__", {})  # programs that warn would add it
        spaces = {id(space): space for module in modules for space in _spaces(module)}
        self._spaces = tuple(spaces.values())
        self._sizes = list(map(len, self._spaces))
        self._parts = tuple(chain.from_iterable(map(_values, self._spaces)))
        self._functions = tuple(part for part in self._parts if type(part) is FunctionType)
        self._codes = tuple(map(_code, self._functions))

    def are_intact(self) -> bool:
        """Whether all parts are still the same objects, and no others have come."""
        return (
            list(map(len, self._spaces)) == self._sizes
            and all(map(is_, chain.from_iterable(map(_values, self._spaces)), self._parts))
            and all(map(is_, map(_code, self._functions), self._codes))
        )


def _spaces(module: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield module
    yield module["__builtins__"]
    for part in module.values():
        if isinstance(part, type) and part.__module__ == module["__name__"]:
            yield vars(part)
