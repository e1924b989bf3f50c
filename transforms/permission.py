"""Which code and which programs the user of this process named.

A name such as `py/MODULE:OBJECT` or `exec/COMMAND` starts code. The same name may stand in a file that
somebody else wrote: in a manifest, a suite, a baseline. Reading a file must not run what the file names.
So everything that loads such a name asks here first, and only names that were typed are permitted:

- the words of the command line, the variables `CODEAUDIT_…`, and the user's TOML file (`codeaudit.cli`);
- the arguments of a function of the Python API.

Whoever adds a reader of files need not think of this: a name that nobody typed is refused.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from codeaudit.transforms.errors import UsageError

_JOINTS: Final = re.compile(r"[,+=]")
"""What stands between the names of a list, of a mixture, and behind the name of an option."""
_HEADS: Final = ("canonical/", "mixed/")
"""What may stand before a name and starts nothing itself."""
_SHARED: Final = re.compile(r"(py/[^:]+:[^:]+):[^:]*")
"""A task with a share: `py/MODULE:OBJECT:0.25`."""

_named: set[str] = set()


def permit(*values: object) -> None:
    """Permit the names in these texts, and in lists of texts. Other values are passed over."""
    for value in values:
        if isinstance(value, str):
            _named.update(_names(value))
        elif isinstance(value, Iterable) and not isinstance(value, bytes):
            permit(*value)


def _names(text: str) -> Iterator[str]:
    for part in (text, *_JOINTS.split(text)):
        name = part.strip()
        while head := next((prefix for prefix in _HEADS if name.startswith(prefix)), ""):
            name = name.removeprefix(head)
        yield name
        if shared := _SHARED.fullmatch(name):
            yield shared[1]


def is_permitted(name: str) -> bool:
    """Whether the user named this code or program."""
    return name in _named


def permitted() -> frozenset[str]:
    """All permitted names, for a worker process: `permit(permitted)` there permits the same."""
    return frozenset(_named)


def demand(name: str, *, noun: str) -> None:
    """Check that the user named this code or program.

    Raises:
        UsageError: only a file names it.
    """
    if not is_permitted(name):
        raise UsageError(
            f"{noun} {name!r} is code that a file names, and reading a file runs nothing; "
            f"if you trust it, type it: --{noun.partition(' ')[0]} {name}"
        )
