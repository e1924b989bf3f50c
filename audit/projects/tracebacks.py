"""Finds the perturbed units named in a failure's traceback (Python, pytest, javac, JVM formats)."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from codeaudit.audit.projects.languages import file_format
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.source_files import MODULE

_FRAMES: Final = (
    re.compile(r'File "([^"\n]+\.py)", line (\d+)'),
    re.compile(r"^([^\s:][^:\n]*\.(?:py|java)):(\d+): ", re.MULTILINE),
)
"""A frame as Python writes it, and as pytest and javac write it: file, line."""
_JVM: Final = re.compile(r"\bat (?:[\w.@-]*/)*([\w$.]+)\.[\w$<>]+\((\w+\.java):(\d+)\)")
"""A frame as the JVM writes it: class, file without its folder, line."""
_CAUSE: Final = re.compile(r"^\s*Caused by: ", re.MULTILINE)


def units_in_traceback(text: str, folder: Path, files: Mapping[str, bytes]) -> tuple[tuple[str, str], ...]:
    """The units that contain a frame of the traceback, innermost first, as (path, unit name).

    `files` are the candidates by path relative to `folder`. Frames in other files are ignored.
    """
    found: dict[tuple[str, str], None] = {}
    frames = [match for pattern in _FRAMES for match in pattern.finditer(text)]
    for frame in sorted(frames, key=lambda match: match.start(), reverse=True):
        path = _relative(frame[1], folder)
        if path in files:
            found[path, _unit(path, files[path], int(frame[2]))] = None
    for part in reversed(_CAUSE.split(text)):  # the last cause is the innermost
        for frame in _JVM.finditer(part):
            package = frame[1].rpartition(".")[0].replace(".", "/")
            name = f"{package}/{frame[2]}".lstrip("/")
            for path in [path for path in files if f"/{path}".endswith(f"/{name}")]:
                found[path, _unit(path, files[path], int(frame[3]))] = None
    return tuple(found)


def _relative(name: str, folder: Path) -> str:
    absolute = os.path.normpath(os.path.join(folder, name))
    for root in (folder, folder.resolve()):
        if absolute.startswith(f"{root}{os.sep}"):
            return Path(absolute).relative_to(root).as_posix()
    return name


def _unit(path: str, data: bytes, line: int) -> str:
    try:
        known = file_format(path)
        found = known.places(known.decode(data).text)
    except SourceError:
        return MODULE
    return next((place.name for place in found if place.first <= line <= place.last), MODULE)
