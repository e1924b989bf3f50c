"""Stands on the path of a project under test: notes which units its tests execute.

It runs in the project's own Python, so it imports nothing but `os`, whose functions it keeps in case that
a test replaces them.
"""

import os

_seen = set()  # type: set[int]
_place = os.environ.get("_CODEAUDIT_HITS")
_open, _write, _close = os.open, os.write, os.close
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT


def hit(number: int) -> None:
    """Note a unit when it is executed for the first time in this process."""
    if number not in _seen:
        _seen.add(number)
        if _place:
            file = _open(_place, _FLAGS, 0o600)
            _write(file, b"%d\n" % number)
            _close(file)
