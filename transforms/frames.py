"""Finds the line of the user's own code at which an exception was raised."""

import os
import sysconfig
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path


def raised_at(error: BaseException) -> str:
    """The place as ` (model.py:3, in predict)`; empty if no frame is the user's.

    It is the innermost frame that lies neither in this package, nor in the standard library, nor in an
    installed package.
    """
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f" ({shown(error.filename)}:{error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [one for one in frames if not one.filename.startswith("<") and not _is_foreign(one.filename)]
    if not theirs:
        return ""
    last = theirs[-1]
    inside = "" if last.name.startswith("<") else f", in {last.name}"
    return f" ({shown(last.filename)}:{last.lineno}{inside})"


def shown(path: str) -> str:
    """A path as seen from the working directory, if it lies in it."""
    with suppress(ValueError, OSError):
        return str(Path(os.path.realpath(path)).relative_to(os.path.realpath(Path.cwd())))
    return path


def _is_foreign(path: str) -> bool:
    place = Path(os.path.realpath(path))
    # Compiled modules tell names of their sources, which are not here.
    if not place.is_file():
        return True
    # An environment may take packages of another one.
    if not {"site-packages", "dist-packages"}.isdisjoint(place.parts):
        return True
    return any(place.is_relative_to(folder) for folder in _foreign_folders())


@cache
def _foreign_folders() -> tuple[str, ...]:
    """The folders of this package, of installed packages and of the standard library."""
    ours = Path(__file__).absolute().parent.parent
    # In a checkout the subpackages are links to folders outside.
    parts = [ours, *(one for one in ours.iterdir() if one.is_symlink())]
    known = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return tuple(os.path.realpath(place) for place in [*map(str, parts), *known])
