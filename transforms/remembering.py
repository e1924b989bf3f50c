"""Remembers facts about long texts in a folder, for other processes and later runs.

A fact follows from the text and from our code, and from nothing else. So the folder has a part for each state
of the code and of Python, and in it a file for each text, named by the text's hash. The files are JSON:
to read one runs nothing. One that was cut or changed by accident counts as none. It only saves time: a full
disk is no error.

Nothing is remembered outside of `remembering`.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import mkstemp
from typing import Any, Final, TypeAlias

SHARED: Final = ("dependence", "syntax", "x86")
"""Folders that decide dependences in every language, or in their own."""
ANALYSIS: Final = "analysis"
"""A language with such a folder decides them there and in the modules beside it."""


@cache
def analysis_digest(transforms: Path = Path(__file__).parent) -> str:
    """A hash of the code in the folder of the transforms that finds dependences.

    With other code, a text may have other dependences: other features of a network, another drawing.
    """
    folders = {transforms / part for part in SHARED}
    for analysis in transforms.glob(f"*/{ANALYSIS}"):
        folders |= {analysis, analysis.parent}
    return digest_of((path for folder in sorted(folders) for path in sorted(folder.glob("*.py"))), transforms)


def digest_of(paths: Iterable[Path], root: Path) -> str:
    """A hash of files: of their names below `root`, and of their content."""
    hasher = hashlib.sha256()
    for path in paths:
        hasher.update(f"{path.relative_to(root).as_posix()}\0".encode())
        hasher.update(path.read_bytes())
    return hasher.hexdigest()


FILES: Final = 512
"""Files that a process remembers small facts of. The functions of a draw come from files in random order."""
Plain: TypeAlias = bool | int | str | Sequence["Plain"] | Mapping[str, "Plain"] | None
"""A value of JSON."""

SHORT: Final = 2_000
"""Letters of a text whose facts are found about as fast as they are read."""
HELD: Final = 32
"""Texts whose facts are in memory; those of others are written."""
MOST: Final = 20_000
"""Texts in a folder. If it holds more, the older half goes."""
STATES: Final = 3
"""States of the code whose facts are kept, the newest ones."""
_FACTS: Final = 4_000
"""Facts about one text."""
_TIDIED: Final = 500
"""Files that are written between two looks at the size of the folder."""


@dataclass(slots=True)
class _Known:
    """What is known of one text."""

    facts: dict[str, Any]
    new: bool = False
    """Whether some of it is not yet written."""


@dataclass(slots=True)
class _Memory:
    """The facts of this process."""

    folder: Path | None = None
    held: dict[str, _Known] = field(default_factory=dict)
    """By the text, that of the last question last."""
    written: int = 0


_MEMORY: Final = _Memory()


@contextmanager
def remembering(folder: Path | None) -> Iterator[None]:
    """Remember facts in this folder; nowhere, if it is `None`."""
    flush()
    before = _MEMORY.folder
    _MEMORY.folder = folder
    _MEMORY.written = 0
    try:
        yield
    finally:
        flush()
        _MEMORY.folder = before


def remember_to_the_end(folder: Path | None) -> None:
    """Remember facts in this folder until this process, a worker, ends."""
    from multiprocessing.util import Finalize

    _MEMORY.folder = folder
    # Workers run no functions of `atexit`.
    Finalize(None, flush, exitpriority=1)


def remembered_in() -> Path | None:
    """The folder, for a worker process."""
    return _MEMORY.folder


def fact(text: str, question: str, find: Callable[[], Plain]) -> Any:
    """The answer to a question about a text: what `find` gives, now or earlier.

    A question names one function of the text, with all of its other arguments.
    """
    if _MEMORY.folder is None or len(text) < SHORT:
        return find()
    held = _MEMORY.held
    known = held.pop(text, None)
    if known is None:
        known = _Known(_read(_path(text)))
    held[text] = known
    if question in known.facts:
        return known.facts[question]
    answer = find()
    if len(known.facts) < _FACTS:
        known.facts[question] = answer
        known.new = True
    # `find` may have asked about other texts.
    while len(held) > HELD:
        oldest = next(iter(held))
        _write(oldest, held.pop(oldest))
    return answer


def flush() -> None:
    """Write what is not yet written."""
    for text, known in _MEMORY.held.items():
        _write(text, known)
    _MEMORY.held.clear()


def digest(text: str) -> str:
    """A short name for a text, for a question that has one as its argument."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def _state() -> str:
    """A hash of the code that finds facts, and of the Python that reads the texts."""
    root = Path(__file__).parent
    paths = sorted([*root.glob("*.py"), *root.glob("dependence/*.py"), *root.glob("python/**/*.py")])
    return digest(f"{sys.version}\0{digest_of(paths, root)}")[:32]


def _path(text: str) -> Path:
    assert _MEMORY.folder is not None
    return _MEMORY.folder / _state() / f"{digest(text)}.json"


def _read(path: Path) -> dict[str, Any]:
    """The facts in a file; none if it is missing or damaged."""
    with suppress(OSError, ValueError, RecursionError):
        check, _, body = path.read_bytes().partition(b"\n")
        if check.decode() == hashlib.sha256(body).hexdigest():
            facts = json.loads(body)
            return facts if isinstance(facts, dict) else {}
    return {}


def _write(text: str, known: _Known) -> None:
    if not known.new or _MEMORY.folder is None:
        return
    known.new = False
    path = _path(text)
    # Another process may have found other facts meanwhile.
    body = json.dumps({**_read(path), **known.facts}).encode()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            raise
        if _MEMORY.written % _TIDIED == 0:
            _tidy(path.parent)
        _MEMORY.written += 1


def _tidy(folder: Path) -> None:
    """Bound the number of texts, and of states of the code."""
    states = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in states[STATES:]:
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
    entries = list(os.scandir(folder))
    if len(entries) > MOST:
        for entry in sorted(entries, key=lambda path: path.stat().st_mtime)[: len(entries) - MOST // 2]:
            with suppress(OSError):
                os.unlink(entry)
