"""Which units stand in the text of a traceback."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from transforms.errors import SourceError
from transforms.python.encoding import Decoded
from transforms.python.tree import MODULE, places

_FRAMES: Final = (
    re.compile(r'File "([^"\n]+\.py)", line (\d+)'),
    re.compile(r"^([^\s:][^:\n]*\.py):(\d+): ", re.MULTILINE),
)
"""How Python and how pytest write a frame."""


def units_in_traceback(text: str, folder: Path, files: Mapping[str, bytes]) -> tuple[tuple[str, str], ...]:
    """The units of files, by path below `folder`, in which frames lie: path and name, innermost first."""
    found: dict[tuple[str, str], None] = {}
    frames = [match for pattern in _FRAMES for match in pattern.finditer(text)]
    for frame in sorted(frames, key=lambda match: match.start(), reverse=True):
        path = _relative(frame[1], folder)
        if path in files:
            found[path, _unit(files[path], int(frame[2]))] = None
    return tuple(found)


def _relative(name: str, folder: Path) -> str:
    absolute = os.path.normpath(os.path.join(folder, name))
    for root in (folder, folder.resolve()):
        if absolute.startswith(f"{root}{os.sep}"):
            return Path(absolute).relative_to(root).as_posix()
    return name


def _unit(data: bytes, line: int) -> str:
    try:
        found = places(Decoded.read(data).text)
    except SourceError:
        return MODULE
    return next((place.name for place in found if place.first <= line <= place.last), MODULE)
