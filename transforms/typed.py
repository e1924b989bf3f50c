"""Does a value fit the type that a record or a protocol declares? For objects of plug-ins."""

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from codeaudit.transforms.grammar import with_article

_WORDS: Final[Mapping[Any, str]] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    NoneType: "None",
    frozenset: "a set",
    tuple: "a tuple",
    Mapping: "a mapping",
    Sequence: "a sequence",
    Callable: "a function",
}
"""The types that are looked at, in words."""
_HOLDERS: Final[Mapping[Any, type]] = {frozenset: Set, tuple: tuple, Mapping: Mapping, Sequence: Sequence}
"""The containers, and what serves as one: a `set` does for a `frozenset`."""


def wrong_member(value: object, declared: type) -> str:
    """Which attribute of an object is not of the type that its record or protocol declares, in words.

    Empty if all are. Types that this module does not know, such as protocols, fit everything.
    """
    for name, hint in _declared(declared).items():
        found = getattr(value, name)
        if not fits(found, hint):
            return f"its {name} is {_shown(found)}; it must be {_wanted(hint)}"
    return ""


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type, the elements of containers included."""
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in arguments)
    if origin is Literal:
        return value in arguments
    if origin is Callable:
        return callable(value)
    if origin is float:
        return isinstance(value, float | int)
    if origin not in _HOLDERS:
        if origin is Any or getattr(origin, "_is_protocol", False):
            return True
        return not isinstance(origin, type) or isinstance(value, origin)
    # A text is a sequence of texts, and never meant to be one.
    if isinstance(value, str) or not isinstance(value, _HOLDERS[origin]):
        return False
    if not arguments:
        return True
    parts: Any = value
    if isinstance(value, Mapping):
        return all(fits(key, arguments[0]) and fits(one, arguments[1]) for key, one in value.items())
    if origin is tuple and arguments[-1] is not ...:
        return len(parts) == len(arguments) and all(map(fits, parts, arguments))
    return all(fits(one, arguments[0]) for one in parts)


@cache
def _declared(kind: Any) -> dict[str, Any]:
    """The attributes of a record, or the properties of a protocol, with their types."""
    try:
        if getattr(kind, "__dataclass_fields__", None):
            hints = get_type_hints(kind)
            return {name: hints[name] for name in kind.__dataclass_fields__}
        found = {name: one.fget for name, one in vars(kind).items() if isinstance(one, property)}
        return {name: get_type_hints(read)["return"] for name, read in found.items() if read is not None}
    except (NameError, KeyError, TypeError):  # a name that exists for type checkers only
        return {}


def _wanted(hint: Any) -> str:
    """A type in words: `a mapping from text to whole number`."""
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(map(_wanted, arguments))
    if origin is Literal:
        return f"one of {', '.join(map(str, arguments))}"
    word = _WORDS.get(origin) or with_article(str(getattr(origin, "__name__", origin)))
    if origin is Callable:
        return word
    parts = [_plain(each) for each in arguments if each is not ...]
    if not parts:
        return word
    return f"{word} from {' to '.join(parts)}" if origin is Mapping else f"{word} of {', '.join(parts)}"


def _plain(hint: Any) -> str:
    """A type in words without its article."""
    return _wanted(hint).removeprefix("a ").removeprefix("an ")


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:60]}…"
