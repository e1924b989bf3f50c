"""Notes which units the tests of a project execute. It is on the import path of those tests.

It runs in the project's own Python, so it imports only `os`. It keeps references to the functions it needs,
because a test may replace them.
"""

import os

_seen = set()  # type: set[int]
_place = os.environ.get("_CODEAUDIT_HITS")
_open, _write, _close = os.open, os.write, os.close
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT


def hit(number: int) -> None:
    """Write a unit's number to the hits file, once per process."""
    if number not in _seen:
        _seen.add(number)
        if _place:
            file = _open(_place, _FLAGS, 0o600)
            _write(file, b"%d\n" % number)
            _close(file)
