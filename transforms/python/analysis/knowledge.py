"""Tables of what Python's builtins, their methods and a few functions of standard modules do and return.

`calls` and `effects` read them. Assumed, and part of what is promised: the builtin names below mean the
builtins, and the module names below the modules. A function that binds one of them itself is seen; a module
that rebinds one is not visible from inside a function (`function_context` checks it wherever the whole text
is known).
"""

import builtins
import sys
from collections.abc import Mapping
from typing import Final, NamedTuple

BUILTINS: Final = frozenset(dir(builtins))

NUMBERS: Final = frozenset({"int", "float", "bool"})
PLAIN: Final = NUMBERS | {"str", "bytes", "none", "ellipsis"}
"""Types whose values hold no references: their comparison and hash are exact and run no foreign code."""
CONTAINERS: Final = frozenset({"list", "dict", "set"})
KNOWN: Final = PLAIN | CONTAINERS | {"tuple", "range", "function"}
"""Types whose truth value runs no foreign code."""
SEQUENCES: Final = frozenset({"str", "bytes", "tuple", "range"})
"""Types whose contents never change, and whose iteration has no effect."""

REFLECTION: Final = frozenset({"locals", "vars", "eval", "exec", "dir", "_getframe", "currentframe", "stack"})
"""Calls that may see any variable of their caller. They are barriers, whatever they are called on."""

EMPTY_CALLS: Final = PLAIN - {"none", "ellipsis"} | CONTAINERS | {"tuple"}
"""Types whose constructor, without arguments, returns an empty value of the type."""

PURE: Final[Mapping[str, str | None]] = {
    "id": "int", "type": None, "callable": "bool", "super": None, "object": None,
}  # fmt: skip
"""Builtins that only compute, whatever they are called on, and never raise when written as assumed here:
`super` and `object` without arguments, `type` with one.
"""

STATE_TESTS: Final[Mapping[str, str | None]] = {"isinstance": "bool", "hasattr": "bool"}
"""Builtins that look at state and never raise."""

READ_ONLY: Final[Mapping[str, str | None]] = {
    "len": "int", "repr": "str", "str": "str", "ascii": "str", "format": "str", "int": "int",
    "float": "float",
    "bool": "bool", "abs": None, "round": None, "divmod": "tuple", "pow": None, "hash": "int", "ord": "int",
    "chr": "str", "hex": "str", "bin": "str", "oct": "str", "issubclass": "bool", "getattr": None,
    "complex": None, "slice": None, "range": "range", "iter": None, "zip": None, "enumerate": None,
    "reversed": None,
}  # fmt: skip
"""Builtins that look at their arguments, may raise, and change nothing."""

CONSUMING: Final[Mapping[str, str | None]] = {
    "list": "list", "tuple": "tuple", "set": "set", "frozenset": None, "dict": "dict", "sorted": "list",
    "sum": None, "any": "bool", "all": "bool", "min": None, "max": None, "bytes": None, "bytearray": None,
}  # fmt: skip
"""Builtins that iterate over their one argument at once, and so exhaust an iterator."""

LAZY: Final = frozenset({"zip", "enumerate", "reversed", "iter"})
"""Builtins whose result iterates over their arguments later."""

EXCEPTIONS: Final = frozenset(
    name for name in BUILTINS if isinstance(getattr(builtins, name), type)
    and issubclass(getattr(builtins, name), BaseException)
)  # fmt: skip

STR_METHODS: Final = {
    "upper": "str", "lower": "str", "strip": "str", "lstrip": "str", "rstrip": "str", "title": "str",
    "capitalize": "str", "casefold": "str", "swapcase": "str", "replace": "str", "removeprefix": "str",
    "removesuffix": "str", "startswith": "bool", "endswith": "bool", "isdigit": "bool",
    "isalpha": "bool", "isalnum": "bool", "isspace": "bool", "isupper": "bool", "islower": "bool",
    "isidentifier": "bool", "isdecimal": "bool", "isnumeric": "bool", "istitle": "bool", "isascii": "bool",
    "isprintable": "bool", "find": "int", "rfind": "int", "count": "int", "splitlines": "list",
    "partition": "tuple", "rpartition": "tuple",
}  # fmt: skip
"""Methods of `str` that only compute; they raise only for an argument of a type that they do not take."""

RAISING_STR_METHODS: Final = {
    "split": "list", "rsplit": "list", "format": "str", "encode": "bytes", "center": "str", "ljust": "str",
    "rjust": "str", "zfill": "str", "index": "int", "rindex": "int", "translate": "str", "expandtabs": "str",
    "format_map": "str",
}  # fmt: skip
"""Methods of `str` that only compute and may raise for other reasons too."""


class MethodEffect(NamedTuple):
    """What a method of a builtin container does."""

    least: int
    """Fewest positional arguments."""
    most: int
    """Most positional arguments."""
    changes: bool
    """Whether the method changes the contents of the container."""
    flags: str = ""
    """`raises`: it may raise. `hashes`: it raises if the first argument cannot be hashed. `iterates`: it
    iterates over its argument. `compares`: comparisons of foreign objects may run.
    """
    gives: str | None = None
    """The type of the result, if it is certain."""


METHOD_EFFECTS: Final[Mapping[str, Mapping[str, MethodEffect]]] = {
    "list": {
        "append": MethodEffect(1, 1, True, gives="none"),
        "extend": MethodEffect(1, 1, True, "iterates", "none"),
        "insert": MethodEffect(2, 2, True, "raises", "none"),
        "pop": MethodEffect(0, 1, True, "raises"),
        "clear": MethodEffect(0, 0, True, gives="none"),
        "reverse": MethodEffect(0, 0, True, gives="none"),
        "sort": MethodEffect(0, 0, True, "compares", "none"),
        "remove": MethodEffect(1, 1, True, "compares", "none"),
        "index": MethodEffect(1, 3, False, "compares", "int"),
        "count": MethodEffect(1, 1, False, "compares", "int"),
        "copy": MethodEffect(0, 0, False, gives="list"),
    },
    "dict": {
        "get": MethodEffect(1, 2, False, "hashes"),
        "setdefault": MethodEffect(1, 2, True, "hashes"),
        "pop": MethodEffect(1, 2, True, "raises"),
        "popitem": MethodEffect(0, 0, True, "raises", "tuple"),
        "clear": MethodEffect(0, 0, True, gives="none"),
        "copy": MethodEffect(0, 0, False, gives="dict"),
        "keys": MethodEffect(0, 0, False),
        "values": MethodEffect(0, 0, False),
        "items": MethodEffect(0, 0, False),
    },
    "set": {
        "add": MethodEffect(1, 1, True, "hashes", "none"),
        "discard": MethodEffect(1, 1, True, "hashes", "none"),
        "remove": MethodEffect(1, 1, True, "raises", "none"),
        "update": MethodEffect(1, 1, True, "iterates", "none"),
        "pop": MethodEffect(0, 0, True, "raises"),
        "clear": MethodEffect(0, 0, True, gives="none"),
        "copy": MethodEffect(0, 0, False, gives="set"),
    },
}  # fmt: skip
"""The methods of the builtin containers, by type and name."""

VIEWS: Final = frozenset({"keys", "values", "items"})
"""Methods whose result keeps showing the current contents of the container."""

MODULE_NAMES: Final = sys.stdlib_module_names | {"np"}
"""A global with one of these names is assumed to be a module, whose attributes are plain."""

MODULES: Final[Mapping[str, frozenset[str]]] = {
    "math": frozenset(),
    "operator": frozenset(),
    "os.path": frozenset({
        "join", "basename", "dirname", "split", "splitext", "normpath", "normcase", "isabs", "commonprefix",
        "splitdrive",
    }),
    "re": frozenset({"compile", "escape"}),
    "itertools": frozenset({"count", "repeat", "chain", "cycle", "product", "combinations", "permutations"}),
    "functools": frozenset({"partial"}),
    "collections": frozenset({"defaultdict", "OrderedDict", "deque", "Counter"}),
    "np": frozenset({
        "zeros", "ones", "empty", "full", "arange", "linspace", "eye", "identity", "zeros_like", "ones_like",
        "empty_like", "full_like", "dtype", "shape", "ndim", "size", "isscalar", "iinfo", "finfo",
    }),
}  # fmt: skip
"""Functions that only compute, but may raise, by the name that their module commonly has in a text. An empty
set means every function of the module.
"""
