"""Unified diffs of files, of single units and of texts, for `transform --diff` and `verify`."""

import difflib
from collections.abc import Iterator
from typing import Final

from codeaudit.audit.projects.languages import file_format
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.source_files import MODULE

_NO_END: Final = "\\ No newline at end of file\n"


def file_diff(path: str, before: bytes, after: bytes) -> str:
    """The change of a file as a patch for `patch -p1`; empty if nothing changed."""
    return "".join(_diff(f"a/{path}", f"b/{path}", _text(path, before), _text(path, after)))


def unit_diff(path: str, name: str, before: bytes, after: bytes) -> str:
    """The change of one unit; for the unit `MODULE`, the change of the whole file."""
    if name == MODULE:
        return file_diff(path, before, after)
    here = f"{path} {name}"
    return "".join(_diff(here, here, _unit_text(path, before, name), _unit_text(path, after, name)))


def text_diff(name: str, before: str, after: str) -> str:
    """The change of a text; empty if nothing changed."""
    return "".join(_diff(name, name, before + "\n", after + "\n"))


def _diff(old: str, new: str, before: str, after: str) -> Iterator[str]:
    for line in difflib.unified_diff(_lines(before), _lines(after), old, new):
        yield line if line.endswith("\n") else f"{line}\n{_NO_END}"


def _lines(text: str) -> list[str]:
    """The lines with their ends. Only `\\n` ends a line, unlike in `str.splitlines`."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _text(path: str, data: bytes) -> str:
    try:
        decoded = file_format(path).decode(data)
    except SourceError:
        return data.decode("utf-8", "backslashreplace")
    return decoded.text.replace("\n", decoded.newline)


def _unit_text(path: str, data: bytes, name: str) -> str:
    text = file_format(path).decode(data).text
    source = text.encode()
    found = file_format(path).places(text)
    return next((source[p.start : p.end].decode() + "\n" for p in found if p.name == name), "")
