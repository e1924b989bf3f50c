"""What is known of Python's builtins: which calls do nothing but compute, and what they give.

Assumed, and part of what is promised: the builtin names below mean the builtins. A function that binds one
of them itself is seen; a module that rebinds one is not visible from inside a function.
"""

import builtins
from typing import Final

BUILTINS: Final = frozenset(dir(builtins))

NUMBERS: Final = frozenset({"int", "float", "bool"})
PLAIN: Final = NUMBERS | {"str", "bytes", "none", "ellipsis"}
"""Types whose values hold no references: dropping one runs no code; their comparison and hash are exact."""
CONTAINERS: Final = frozenset({"list", "dict", "set"})
KNOWN: Final = PLAIN | CONTAINERS | {"tuple", "range", "function"}
"""Types whose truth value runs no foreign code."""

REFLECTION: Final = frozenset({"locals", "vars", "eval", "exec", "dir", "_getframe", "currentframe", "stack"})
"""Calls that may see any variable of their caller: barriers, whatever they are called on."""

EMPTY_CALLS: Final = {
    "int": "int", "float": "float", "bool": "bool", "str": "str", "bytes": "bytes", "list": "list",
    "dict": "dict", "set": "set", "tuple": "tuple",
}  # fmt: skip
"""Constructors without arguments, and the type that they give."""

STR_METHODS: Final = {
    "upper": "str", "lower": "str", "strip": "str", "lstrip": "str", "rstrip": "str", "title": "str",
    "capitalize": "str", "casefold": "str", "swapcase": "str", "replace": "str", "removeprefix": "str",
    "removesuffix": "str", "expandtabs": "str", "startswith": "bool", "endswith": "bool", "isdigit": "bool",
    "isalpha": "bool", "isalnum": "bool", "isspace": "bool", "isupper": "bool", "islower": "bool",
    "isidentifier": "bool", "isdecimal": "bool", "isnumeric": "bool", "istitle": "bool", "isascii": "bool",
    "isprintable": "bool", "find": "int", "rfind": "int", "count": "int", "splitlines": "list",
}  # fmt: skip
"""Methods of `str` that compute only and never raise when every argument is a `str`."""

OWNED_USES: Final = {
    "list": {"append": 1, "copy": 0, "reverse": 0},
    "dict": {"copy": 0, "keys": 0, "values": 0, "items": 0},
    "set": {"copy": 0},
}
"""Methods of an unshared container that never raise and run no foreign code, with their arity."""
OWNED_MUTATIONS: Final = frozenset({"append", "reverse"})
