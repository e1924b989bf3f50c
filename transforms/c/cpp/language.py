"""The record of C++: the transforms of C, which read and write C++ here.

`__getattr__` gives each transform by its name in C's modules.
"""

import re
from dataclasses import replace
from functools import cache
from typing import Any, Final

from codeaudit.transforms.c import language
from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.cpp.ledger import LEDGER, RESTS_ON
from codeaudit.transforms.language import Language, TransformFamily

_NAMED: Final = re.compile(r"\bC\b")
"""The language in the summary of a family."""


def _family(of: TransformFamily) -> TransformFamily:
    rows = {
        name: replace(
            entry,
            target=f"{__name__}:{entry.target.partition(':')[2]}",
            rests_on=tuple(dict.fromkeys(new for old in entry.rests_on for new in RESTS_ON.get(old, (old,)))),
        )
        for name, entry in of.transforms.items()
    }
    return TransformFamily(of.name, _NAMED.sub("C++", of.summary), rows)


RECORD: Final[Language] = replace(
    language.C,
    name=CPP,
    title="C++",
    statements="codeaudit.transforms.c.parsing:statements_of_cpp",
    fence="cpp",
    families=tuple(_family(family) for family in language.C.families),
    ledger=LEDGER,
    shown_in="codeaudit.transforms.c.cpp.ledger:shown_in",
    canonical="codeaudit.transforms.c.canonical:canonicalise_cpp",
    parse="codeaudit.transforms.c.parsing:read_cpp",
    function_context="codeaudit.transforms.c.files:function_context_of_cpp",
    endings=(".cc", ".cpp", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++"),
    named_endings=(".h",),
    files="codeaudit.transforms.c.files:CPP_FILES",
)
"""C++: what an operator or a call may do is asked before each edit."""


@cache
def __getattr__(name: str) -> Any:
    """A transform of C, for C++.

    Raises:
        AttributeError: C has none of this name.
    """
    from codeaudit.transforms.c import rules
    from codeaudit.transforms.c.identifiers import merging, rename
    from codeaudit.transforms.c.order import reorder

    for module in (rules, rename, merging, reorder):
        value: Any = getattr(module, name, None)
        if hasattr(value, "languages"):
            return replace(value, language=CPP)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
