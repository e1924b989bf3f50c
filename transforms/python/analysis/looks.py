"""The methods that looking at a foreign object may run, and what a text shows of them.

`expressions` and `effects` name the methods of each look; `shown` finds what their bodies do.
"""

from dataclasses import dataclass
from typing import Final

READING: Final = frozenset({"__getattr__", "__getattribute__", "__get__"})
"""To read any attribute."""
STORING: Final = frozenset({"__setattr__", "__set__"})
"""To bind any attribute."""
ITEMS: Final = frozenset({"__getitem__", "__missing__", "__class_getitem__"})
TRUTH: Final = frozenset({"__bool__", "__len__"})
HASHING: Final = frozenset({"__hash__", "__eq__"})
"""To look up a key, which is hashed and compared with keys of the same hash."""
COMPARING: Final = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
TEXT: Final = frozenset({"__str__", "__repr__", "__format__"})
TYPES: Final = frozenset(
    {"__instancecheck__", "__subclasscheck__", "__subclasshook__", "__class__", "__bases__"}
)
_BINARY: Final = (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and",
    "or", "xor",
)  # fmt: skip
CALCULATING: Final = frozenset(
    {"__neg__", "__pos__", "__invert__", "__abs__", "__round__"}
    | {f"__{side}{name}__" for name in _BINARY for side in ("", "r")}
)
MAPPING: Final = frozenset({"get", "keys"})
"""Methods of a mapping that `case {"k": v}` calls."""
OTHERS: Final = frozenset({"__contains__", "__fspath__"})
METHODS: Final = (
    READING | STORING | ITEMS | TRUTH | HASHING | COMPARING | TEXT | TYPES | CALCULATING | MAPPING | OTHERS
)  # fmt: skip
"""All of them. The other methods of the data model (`__iter__`, `__int__`, `__enter__`, …) may do anything
wherever they are called.
"""


@dataclass(frozen=True, slots=True)
class ShownLooks:
    """What a text shows of the classes in it. A name counts whatever class it belongs to."""

    acting: frozenset[str] = frozenset()
    """Methods among `METHODS` that act, and attributes that act when they are read."""
    raising: frozenset[str] = frozenset()
    """Methods among `READING` that may raise, and attributes that may raise when they are read."""
    computed: frozenset[str] = frozenset()
    """Attributes that may be properties or other descriptors: a store may run code."""
    stores: bool = False
    """Whether every store to an attribute may run code."""

    def __or__(self, other: "ShownLooks") -> "ShownLooks":
        """What two texts show."""
        return ShownLooks(
            self.acting | other.acting,
            self.raising | other.raising,
            self.computed | other.computed,
            self.stores or other.stores,
        )


NOTHING_SHOWN: Final = ShownLooks()
