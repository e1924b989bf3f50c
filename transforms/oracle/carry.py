"""Carries values of builtin types between two processes that do not trust each other, as JSON.

`ValueWriter` takes values apart, and `ValueReader` rebuilds them. What is rebuilt consists of exact builtin
types (and a few containers of `collections`), so no method of the sender's classes reaches the receiver.
Objects that can change keep their identity: an object that is sent back is the receiver's own object again.

`ValueText` writes a carried value as `repr` would, for a reader that wants no more than its text.

A message holds items and nodes. An item is a JSON scalar, or an object with one key, a kind. A node is a pair
of a kind and the list of its items. `{"node": 3}` stands for the node with number 3, and `{"own": 3}` for the
object that the receiver sent as its node 3.
"""

import builtins
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, Final

# The functions here have builtins of their own: programs may replace those that all modules share.
globals()["__builtins__"] = dict(vars(builtins))

_SCALARS: Final = frozenset({type(None), bool, float, str})
_SMALL_BITS: Final = 63
"""Most bits of an integer that is written in decimal; that takes quadratic time for large ones."""
_DICTS: Final = frozenset({dict, Counter, OrderedDict, defaultdict})
_CHANGEABLE: Final[Mapping[str, Callable[[], Any]]] = {
    kind.__name__: kind for kind in (list, set, deque, bytearray, *_DICTS)
}  # fmt: skip
_SCALAR_IDS: Final = frozenset(map(id, _SCALARS))
_CHANGEABLE_IDS: Final = frozenset(map(id, _CHANGEABLE.values()))
"""By identity: looking up a type itself would call code of its metaclass."""
_FIXED: Final = {"tuple": tuple, "frozenset": frozenset}
_FACTORIES: Final = frozenset({int, float, str, list, dict, set, tuple, bool})
"""The functions of a `defaultdict` that are carried."""


class CannotCarry(Exception):  # noqa: N818 - it names what a value is
    """A value has no form for another process: it is of a class of the program, a function, an iterator, …"""


class ValueWriter:
    """Takes values apart for one message."""

    def __init__(self, theirs: Mapping[int, object] | None = None) -> None:
        """`theirs` are the objects that the receiver sent, by their numbers."""
        self.nodes: list[object] = []
        """The nodes of the message."""
        self.own: dict[int, Any] = {}
        """The objects that can change, by the numbers of their nodes."""
        self._met: dict[int, dict[str, int]] = {
            id(value): {"own": number} for number, value in (theirs or {}).items()
        }
        self._alive: list[object] = [theirs]  # the address of a freed object may be reused

    def item(self, value: Any) -> object:
        """The item that stands for a value.

        Raises:
            CannotCarry: the value has a part that is not of a builtin type.
            RecursionError: it is nested too deeply.
        """
        # The type, and never `isinstance`: that reads `__class__`, which may be code of the program.
        kind = type(value)
        if id(kind) in _SCALAR_IDS:
            return value
        if kind is int:
            return value if value.bit_length() <= _SMALL_BITS else {"int": hex(value)}
        if kind is bytes:
            return {"bytes": value.hex()}
        if kind is complex:
            return {"complex": [value.real, value.imag]}
        if kind is range:
            return {"range": [self.item(value.start), self.item(value.stop), self.item(value.step)]}
        if value is ...:
            return {"ellipsis": 0}
        reference = self._met.get(id(value))
        if reference is not None:
            return reference
        self._alive.append(value)
        if kind is tuple or kind is frozenset:
            # Behind its parts, because it can only be made when they are there.
            items = [self.item(part) for part in value]
            self.nodes.append([kind.__name__, items])
            number = len(self.nodes) - 1
        elif id(kind) in _CHANGEABLE_IDS:
            # Before its parts, because it may hold itself.
            number = len(self.nodes)
            self.nodes.append(None)
            self.own[number] = value
            self._met[id(value)] = {"node": number}
            self.nodes[number] = self.content(value)
        else:
            raise CannotCarry
        return self._met.setdefault(id(value), {"node": number})

    def content(self, value: Any) -> list[object]:
        """The kind and the items of an object that can change.

        Raises:
            CannotCarry: the value has a part that is not of a builtin type.
            RecursionError: it is nested too deeply.
        """
        kind = type(value)
        if kind is bytearray:
            return ["bytearray", [value.hex()]]
        if kind is deque:
            return ["deque", [value.maxlen, *map(self.item, value)]]
        if kind not in _DICTS:
            return [kind.__name__, [self.item(part) for part in value]]
        items = [self.item(part) for pair in value.items() for part in pair]
        if kind is defaultdict:
            factory = value.default_factory
            if factory is not None and all(factory is not maker for maker in _FACTORIES):
                raise CannotCarry
            items.insert(0, None if factory is None else factory.__name__)
        return [kind.__name__, items]


class ValueReader:
    """Rebuilds the values of one message."""

    def __init__(self, nodes: Any, mine: Mapping[int, Any] | None = None) -> None:
        """Rebuild the nodes. `mine` are the objects that this process has sent, by their numbers.

        Raises:
            ValueError: the message is not in the format of this module.
        """
        self._mine = mine or {}
        self.theirs: dict[int, Any] = {}
        """The rebuilt objects that can change, by the numbers of their nodes."""
        self._values: dict[int, Any] = {}
        checked = [_node(node) for node in _list(nodes)]
        for number, (kind, items) in enumerate(checked):
            if kind in _CHANGEABLE:
                empty = deque(maxlen=_length(items)) if kind == "deque" else _CHANGEABLE[kind]()
                self._values[number] = self.theirs[number] = empty
        for number, (kind, items) in enumerate(checked):
            if kind not in _CHANGEABLE:
                # A fixed node can only hold what is made already, so it can't hold itself.
                self._values[number] = self._checked(lambda: _FIXED[kind](map(self.item, items)))  # noqa: B023
        for number, (kind, items) in enumerate(checked):
            if kind in _CHANGEABLE:
                self._fill(self._values[number], items)

    def item(self, item: Any) -> Any:
        """The value that an item stands for.

        Raises:
            ValueError: the item is not in the format of this module.
        """
        if type(item) in _SCALARS or type(item) is int:
            return item
        if type(item) is not dict or len(item) != 1:
            raise ValueError("no item")
        ((kind, content),) = item.items()
        match kind, content:
            case "node", int():
                return self._value(self._values, content)
            case "own", int():
                return self._value(self._mine, content)
            case "int", str():
                return int(content, 16)
            case "bytes", str():
                return bytes.fromhex(content)
            case "complex", [float(real), float(imaginary)]:
                return complex(real, imaginary)
            case "range", [_, _, _]:
                bounds = [self.item(bound) for bound in content]
                if all(type(bound) is int for bound in bounds):
                    return range(*bounds)
            case "ellipsis", 0:
                return ...
        raise ValueError("no item")

    def change(self, number: object, content: object) -> None:
        """Give an object of this process another content.

        Raises:
            ValueError: the content is not in the format of this module, or of another kind than the object.
        """
        value = self._value(self._mine, number)
        kind, items = _node(content)
        if type(value).__name__ != kind:
            raise ValueError("content of another kind")
        value.clear()
        self._fill(value, items)

    def _fill(self, value: Any, items: list[Any]) -> None:
        self._checked(lambda: self._filled(value, items))

    def _filled(self, value: Any, items: list[Any]) -> None:
        kind = type(value)
        if kind is bytearray:
            (text,) = items
            value += bytes.fromhex(text)
        elif kind is list or kind is deque:
            value.extend(self.item(item) for item in items[kind is deque :])
        elif kind is set:
            value.update(self.item(item) for item in items)
        else:
            if kind is defaultdict:
                name, *items = items
                value.default_factory = None if name is None else _factory(name)
            keys, values = items[::2], items[1::2]
            for key, part in zip(keys, values, strict=True):
                # `dict`, so that a missing key of a `defaultdict` or `Counter` plays no part.
                value[self.item(key)] = self.item(part)

    @staticmethod
    def _checked(make: Callable[[], Any]) -> Any:
        try:
            return make()
        except (TypeError, AttributeError, KeyError) as error:  # a list as a key, a number for a text, …
            raise ValueError("no node") from error

    @staticmethod
    def _value(values: Mapping[int, Any], number: object) -> Any:
        if type(number) is not int or number not in values:
            raise ValueError("no such object")
        return values[number]


_DISPLAYS: Final = {
    "list": ("[", "]"),
    "dict": ("{", "}"),
    "set": ("{", "}"),
    "tuple": ("(", ")"),
    "frozenset": ("frozenset({", "})"),
}


class ValueText:
    """Writes the value of a message as `repr` would.

    The value is not rebuilt: a message can describe one whose hash takes forever to compute.
    """

    def __init__(self, nodes: Any, *, parts: int, bits: int) -> None:
        """`parts` is the largest number of parts of the value, `bits` the size of its largest integer.

        Raises:
            ValueError: the message is not in the format of this module.
        """
        self._nodes = [_node(node) for node in _list(nodes)]
        self._parts = parts
        self._bits = bits

    def item(self, item: Any, *, fixed: bool = False) -> str:
        """The text of an item; `fixed` if it must be a value that has a hash.

        Raises:
            ValueError: the item is not in the format of this module, of another type than `repr` describes
                completely, or too large.
            RecursionError: it is nested too deeply.
        """
        if type(item) is dict and item.keys() == {"node"}:
            number = item["node"]
            if type(number) is not int or not 0 <= number < len(self._nodes):
                raise ValueError("no such node")
            self._count(1)
            return self._display(*self._nodes[number], fixed=fixed)
        value = ValueReader([]).item(item)
        if type(value) not in (*_SCALARS, int, bytes, complex):
            raise ValueError("a value of another type")
        if type(value) is int and value.bit_length() > self._bits:
            raise ValueError("an integer that is too large")
        self._count(1 + (len(value) // 8 if type(value) in (str, bytes) else 0))
        return repr(value)

    def _display(self, kind: str, items: list[Any], *, fixed: bool) -> str:
        if kind not in _DISPLAYS or (fixed and kind not in _FIXED):
            raise ValueError("a value of another type")
        begin, end = _DISPLAYS[kind]
        if not items and kind in ("set", "frozenset"):
            return f"{kind}()"
        texts = [
            self.item(item, fixed=fixed or kind in ("set", "frozenset") or (kind == "dict" and not place % 2))
            for place, item in enumerate(items)
        ]
        if kind == "dict":
            texts = [f"{key}: {text}" for key, text in zip(texts[::2], texts[1::2], strict=True)]
        return f"{begin}{', '.join(texts)}{',' if kind == 'tuple' and len(texts) == 1 else ''}{end}"

    def _count(self, parts: int) -> None:
        self._parts -= parts
        if self._parts < 0:
            raise ValueError("too many parts")


def message(part: Any) -> str:
    """A message as JSON. A program can replace functions of the library that writes JSON, but not this one.

    Raises:
        TypeError: a part is not of an exact builtin type that JSON has.
    """
    kind = type(part)
    if kind is str:
        return quoted(part)
    if kind is dict:
        return "{" + ", ".join([f"{quoted(name)}: {message(value)}" for name, value in part.items()]) + "}"
    if kind is list:
        return "[" + ", ".join(map(message, part)) + "]"
    if part is None or kind is bool:
        return "null" if part is None else "true" if part else "false"
    if kind is float:
        return _NO_NUMBERS.get(repr(part), repr(part))
    if kind is int:
        return repr(part)
    raise TypeError("no message")


_NO_NUMBERS: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def exception_of(name: object, builtin: object, arguments: Sequence[Any]) -> BaseException:
    """The exception that a program raised, as one of this process.

    `name` is the name of its type and `builtin` that of the nearest builtin type. A type of the program
    becomes an empty class of the same name.

    Raises:
        ValueError: there is no such type.
    """
    base = getattr(builtins, builtin, None) if isinstance(builtin, str) else None
    if not isinstance(base, type) or not issubclass(base, BaseException) or not is_name(name):
        raise ValueError("no exception")
    kind: type[BaseException] = base if name == builtin else type(str(name), (base,), {})
    try:
        return kind(*arguments)
    except (TypeError, ValueError):  # an exception group, or an error of Unicode with other arguments
        other: BaseException = type(kind.__name__, (Exception,), {})()
        return other


def is_name(text: object) -> bool:
    """Whether a text can be the name of a type."""
    return isinstance(text, str) and text.isidentifier() and len(text) <= 100


def _list(part: Any) -> list[Any]:
    if type(part) is not list:
        raise ValueError("no list")
    return part


def _node(node: Any) -> tuple[str, list[Any]]:
    kind, items = _list(node)
    if type(kind) is not str or (kind not in _CHANGEABLE and kind not in _FIXED):
        raise ValueError("no node")
    return kind, _list(items)


def _length(items: list[Any]) -> int | None:
    if not items or not (items[0] is None or (type(items[0]) is int and 0 <= items[0] <= sys.maxsize)):
        raise ValueError("no length")
    return None if items[0] is None else int(items[0])


def _factory(name: object) -> Any:
    factory = next((maker for maker in _FACTORIES if maker.__name__ == name), None)
    if factory is None:
        raise ValueError("no factory")
    return factory
