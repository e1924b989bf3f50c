"""What an object can do beyond what its base class asks for.

A base class has a default for each ability, and the default stands for “cannot”. A plug-in's object needs no
base class: `adapted` gives it the defaults that it lacks.
"""

from collections.abc import Callable
from functools import cache
from typing import Any


def overrides(value: object, default: Callable[..., Any]) -> bool:
    """Whether an object's class replaces a default method, as in `overrides(task, Task.graded)`."""
    return getattr(type(value), default.__name__) is not default


def adapted(value: Any, base: Any) -> Any:
    """An object as one of a base class, with the base class's defaults for what it lacks.

    An object of the base class is returned as it is.
    """
    if base in type(value).__mro__:
        return value
    own = frozenset(name for name in dir(base) if _has(value, base, name))
    return _adapter(base, own, type(value).__doc__)(value)


def _has(value: object, base: type, name: str) -> bool:
    """Whether an object has a member of the base class; a method only if it can be called."""
    if name.startswith("_") or not hasattr(value, name):
        return False
    return callable(getattr(value, name)) or not callable(getattr(base, name))


@cache
def _adapter(base: Any, own: frozenset[str], doc: str | None) -> Any:
    """A subclass of the base class whose instances ask the object inside for these members."""

    def asking(name: str) -> property:
        return property(lambda self: getattr(self.adapted, name))

    members: dict[str, Any] = {name: asking(name) for name in own}
    # What the base class does not know, such as the network of a model, is the object's, too.
    members["__getattr__"] = lambda self, name: getattr(object.__getattribute__(self, "adapted"), name)
    members["__reduce__"] = lambda self: (adapted, (self.adapted, base))
    members["__eq__"] = lambda self, other: type(self) is type(other) and self.adapted == other.adapted
    members["__hash__"] = lambda self: hash(self.adapted)
    made = type(f"Adapted{base.__name__}", (base,), {"__doc__": doc, **members})

    def initialise(self: Any, value: object) -> None:
        object.__setattr__(self, "adapted", value)

    made.__init__ = initialise  # type: ignore[misc]
    made.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]
    return made
