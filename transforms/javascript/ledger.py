"""What the transforms of JavaScript assume of code that they cannot see: the ledger of JavaScript.

The families name the entries on which their transforms rest. Each entry has its programs in
`tests/transforms/javascript/test_ledger.py`. Nothing is assumed of getters, proxies and `valueOf`: no edit
moves what may run them.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from codeaudit.transforms.assumptions import Assumption, first_lines, ledger, signs_of
from codeaudit.transforms.remembering import FILES

LEDGER: Final[Mapping[str, Assumption]] = ledger(
    (
        Assumption(
            id="source-unread",
            assumed="No program reads the text of a function: its names, comments and layout.",
            shown="The file names `Function.prototype` to call its `toString`, or cuts the text of a "
            "function with `toString().match` and the like.",
            sign=r"\bFunction\s*\.\s*prototype\b(?!\s*\.\s*(?:call|apply|bind)\b)"
            r"|\.toString\(\)\s*\.\s*(?:match|replace|split|slice|substring)\b",
            words=("prototype", "toString"),
            of_text=True,
            example="`sum` becomes `count`, and a caller prints `String(total)`",
        ),
        Assumption(
            id="positions-unread",
            assumed="No program acts on line numbers in stack traces.",
            shown="The file reads or makes stack traces: `error.stack`, `captureStackTrace`.",
            sign=r"\.\s*stack\b|\b(?:captureStackTrace|prepareStackTrace|stackTraceLimit)\b",
            words=("stack", "Stack"),
            of_text=True,
            example="a blank line is inserted, and a caller prints the line in `new Error().stack`",
        ),
        Assumption(
            id="messages-unread",
            assumed="No program acts on the text of errors that the engine makes, which names variables.",
            shown="The file tells such an error by its class and reads its message.",
            sign=r"(?:\binstanceof\s+|[\"'])(?:TypeError|ReferenceError)\b.*\.\s*message\b",
            words=("TypeError", "ReferenceError"),
            of_text=True,
            example="`list` becomes `lines`, and a caller prints the message `list is not iterable`",
        ),
        Assumption(
            id="parameter-names-unread",
            assumed="No program reads the names of parameters from the text of a function.",
            shown="The file uses an injector that does: `$inject`, `$injector`.",
            sign=r"\$inject(?:or)?\b",
            of_text=True,
            example="`f(rates)` becomes `f(values)`, and a framework looks for a service `rates`",
        ),
        Assumption(
            id="frames-unread",
            assumed="No called function reads the parameters of its caller (`f.arguments`).",
            shown="The file reads a property `arguments` of something.",
            sign=r"\.\s*arguments\b",
            of_text=True,
            example="`a = 2` moves behind a loop, in which a called function prints `f.arguments[0]`",
        ),
    )
)

LOCAL_NAMES: Final = ("source-unread", "messages-unread")
"""Of edits that change what variables are called."""
LAYOUT: Final = ("source-unread", "positions-unread")
"""Of edits that change what the text looks like."""
EFFECTS: Final = (*LAYOUT, "messages-unread", "frames-unread")
"""Of edits that change when something is evaluated."""

_SIGNS: Final = signs_of(LEDGER, re.DOTALL)


@lru_cache(maxsize=FILES)
def shown_in(file: str) -> Mapping[str, int]:
    """The entries that a file shows not to hold, by what is written in it.

    Comments and strings count, too: where they end is not told without a parser, and `/"/` is no string.
    """
    return first_lines(_SIGNS, file)
