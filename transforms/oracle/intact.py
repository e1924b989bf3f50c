"""Notices that a program has replaced a part of the modules that observe it."""

import builtins
from collections.abc import Iterator, Mapping
from operator import attrgetter, is_
from types import FunctionType
from typing import Any, Final

# The functions here have builtins of their own: programs may replace those that all modules share.
globals()["__builtins__"] = dict(vars(builtins))

_code: Final = attrgetter("__code__")


class IntactParts:
    """The parts of some modules: their names, their builtins, their classes, and the code of functions."""

    __slots__ = ("_codes", "_functions", "_held", "_spaces")

    def __init__(self) -> None:
        self._spaces: tuple[Mapping[str, Any], ...] = ()
        self._held: tuple[tuple[Any, ...], ...] = ()
        self._functions: tuple[FunctionType, ...] = ()
        self._codes: tuple[Any, ...] = ()

    def watch(self, *modules: dict[str, Any]) -> None:
        """Remember the parts of modules, which are given by their namespaces."""
        for module in modules:
            module.setdefault("__warningregistry__", {})  # programs that warn would add it
        self._spaces = tuple(space for module in modules for space in _spaces(module))
        self._held = tuple(tuple(space.values()) for space in self._spaces)
        self._functions = tuple(one for values in self._held for one in values if type(one) is FunctionType)
        self._codes = tuple(map(_code, self._functions))

    def are_intact(self) -> bool:
        """Whether all parts are still the same objects, and no others have come."""
        return all(map(_are_same, self._spaces, self._held)) and all(
            map(is_, map(_code, self._functions), self._codes)
        )


def _are_same(space: Mapping[str, Any], held: tuple[Any, ...]) -> bool:
    return len(space) == len(held) and all(map(is_, space.values(), held))


def _spaces(module: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield module
    yield module["__builtins__"]
    for one in module.values():
        if isinstance(one, type) and one.__module__ == module["__name__"]:
            yield vars(one)
