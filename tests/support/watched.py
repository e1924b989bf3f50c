"""Objects that write down whatever is done to them, and what a function does when it is given them."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tests.support.compiled import compiled

MOST = 300
"""Events after which a run is cut off."""

_UNARY = ("neg", "invert", "abs")
_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
_ORDERS = ("lt", "le", "gt", "ge", "eq", "ne")


class CutOff(BaseException):
    """The run is long enough."""


class World:
    """The events of one run, and the chance that decides what objects answer."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.events: list[object] = []
        self.failing = seed % 3 == 0

    def note(self, *event: object) -> None:
        self.events.append(event)
        if len(self.events) >= MOST:
            raise CutOff
        if self.failing and self.rng.random() < 0.02:
            raise KeyError(str(event))

    def emit(self, *values: object) -> object:
        """A function to call: what it is given is written down with its types."""
        self.note("emit", describe(values))
        return values[0] if values else None


class Watched:
    """Answers by chance, so that one question more or less changes all that follows."""

    name: str
    world: World

    def __init__(self, name: str, world: World) -> None:
        self.__dict__.update(name=name, world=world)

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __bool__(self) -> bool:
        self.world.note(self.name, "bool")
        return self.world.rng.random() < 0.5

    def __contains__(self, item: object) -> bool:
        self.world.note(self.name, "contains", describe(item))
        return self.world.rng.random() < 0.5

    def __iter__(self) -> Iterator[object]:
        self.world.note(self.name, "iter")
        return iter([Watched(f"{self.name}[{number}]", self.world) for number in range(2)])

    def __len__(self) -> int:
        self.world.note(self.name, "len")
        return self.world.rng.randrange(4)

    def __getitem__(self, key: object) -> object:
        self.world.note(self.name, "getitem", describe(key))
        return Watched(f"{self.name}[]", self.world)

    def __setitem__(self, key: object, value: object) -> None:
        self.world.note(self.name, "setitem", describe(key), describe(value))

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        self.world.note(self.name, "getattr", name)
        return Watched(f"{self.name}.{name}", self.world)

    def __setattr__(self, name: str, value: object) -> None:
        self.world.note(self.name, "setattr", name, describe(value))

    def __call__(self, *values: object) -> object:
        self.world.note(self.name, "call", describe(values))
        return Watched(f"{self.name}()", self.world)

    def __enter__(self) -> object:
        self.world.note(self.name, "enter")
        return self

    def __exit__(self, kind: type | None, error: object, trace: object) -> bool:
        self.world.note(self.name, "exit", kind)
        return kind is not None and kind is not CutOff and self.world.rng.random() < 0.3

    __hash__ = object.__hash__


def _method(name: str, *, defers: bool = False) -> Callable[..., Any]:
    def method(self: Watched, *others: object) -> object:
        self.world.note(self.name, name, describe(others))
        if defers and self.world.rng.random() < 0.02:
            return NotImplemented
        return Watched(f"{self.name}.{name}", self.world)

    return method


for _name in _UNARY:
    setattr(Watched, f"__{_name}__", _method(_name))
for _name in _ORDERS:
    setattr(Watched, f"__{_name}__", _method(_name, defers=True))
for _name in _BINARY:
    for _kind in ("", "r", "i"):
        setattr(Watched, f"__{_kind}{_name}__", _method(_kind + _name, defers=True))


def describe(value: object) -> object:
    """What a value is, told by types and texts, so that `True` is not 1 and NaN is itself."""
    if isinstance(value, tuple | list):
        return type(value).__name__, [describe(item) for item in value]
    if isinstance(value, bool | int | float | str | bytes | type(None) | Watched):
        return type(value).__name__, repr(value)
    return type(value).__name__


def behaviour(source: str, seed: int) -> object:
    """What the function `f(a, b, c)` of a text does, all events included."""
    world = World(seed)
    namespace: dict[str, Any] = {
        "emit": world.emit, "g": Watched("g", world), "NAN": float("nan"), "__name__": "f",
    }  # fmt: skip
    exec(compiled(source), namespace)
    arguments = [Watched(name, world) for name in "abc"]
    try:
        result = describe(namespace["f"](*arguments))
    except CutOff:
        result = "cut off"
    except Exception as error:
        result = type(error).__name__, str(error), describe(error.__context__ is None)
    return result, world.events
