"""What the transforms of C++ assume of code that they cannot see: the ledger of C, and what C++ adds.

Nothing is assumed of operators and conversions: what is not certainly built in may be a function. Where a
compiler of this machine reads the file and all its headers, their declarations say what is built in.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Final

from codeaudit.transforms.assumptions import Assumption, first_lines, ledger, signs_of
from codeaudit.transforms.c import ledger as of_c
from codeaudit.transforms.remembering import FILES

_OWN: Final[Mapping[str, Mapping[str, Any]]] = {
    "fields-disjoint": {
        "assumed": "Under `--dependence disjoint` members of other names are different memory.",
        "shown": "A union with a member of this name is found, or no declaration says that the member is a "
        "number or a pointer.",
    },
}
"""What differs in entries of C."""

LEDGER: Final[Mapping[str, Assumption]] = ledger(
    (
        *(replace(row, **_OWN.get(id, {})) for id, row in of_c.LEDGER.items() if id != "later-than-c89"),
        Assumption(
            id="columns-unread",
            assumed="No program acts on columns of its text, which a longer name moves.",
            shown="The file uses `source_location` or `__builtin_COLUMN`.",
            sign=r"source_location\b|\b__builtin_COLUMN\b",
            words=("source_location", "__builtin_COLUMN"),
            of_text=True,
            example="`n` becomes `count`, and a header prints `std::source_location::current().column()`",
        ),
        Assumption(
            id="names-of-code-unread",
            assumed="No program acts on the names that compilers give to lambdas and local classes.",
            shown="The file uses `typeid`.",
            sign=r"\btypeid\b",
            words=("typeid",),
            example="a statement with a lambda moves before another one, and a test prints "
            "`typeid(f).name()`",
        ),
    )
)

RESTS_ON: Final[Mapping[str, tuple[str, ...]]] = {
    "later-than-c89": (),
    "macros-hygienic": ("macros-hygienic", "columns-unread"),
    "nobody-between": ("nobody-between", "names-of-code-unread"),
}
"""The entries on which a transform of C++ rests in place of one of C."""

shown_in: Final = lru_cache(maxsize=FILES)(partial(first_lines, signs_of(LEDGER)))
"""The entries that a file shows not to hold, by what is written in it; comments and strings count."""
