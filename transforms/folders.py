"""Folders that belong to one process: a lock on a folder, and temporary folders that the next run cleans up.

A lock is the system's own (`flock`), on the folder itself. It needs no file, and it is free as soon as its
process is gone, also after `kill -9`. Without such locks nothing is locked and nothing is removed.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Final

from codeaudit.transforms.errors import RunError

if sys.platform != "win32":
    import fcntl

SCRATCH: Final = "codeaudit-scratch-"
"""How the names of temporary folders begin; nothing else is called so, because such folders are removed."""


@contextmanager
def reserved(folder: Path) -> Iterator[None]:
    """Keep an existing folder to this caller, while it writes there.

    Raises:
        RunError: another caller writes there, in this process or in another one.
    """
    handle = _opened(folder)
    try:
        if not _lock(handle, wait=False):
            raise RunError(
                f"another codeaudit writes to {str(folder)!r}; wait until it has ended, or give another --out"
            )
        yield
    finally:
        _close(handle)


@contextmanager
def scratch_folder(use: str) -> Iterator[Path]:
    """A new temporary folder, which is gone at the end. Those of killed processes are removed first."""
    _remove_left(Path(gettempdir()))
    while True:
        # What a foreign program leaves may not be removable; that must not end a run.
        with TemporaryDirectory(prefix=f"{SCRATCH}{use}-", ignore_cleanup_errors=True) as name:
            handle = _opened(Path(name))
            try:
                _lock(handle, wait=True)
                # Before it was locked, another process may have taken it for one that was left.
                if Path(name).is_dir():
                    yield Path(name)
                    return
            finally:
                _close(handle)


def _remove_left(place: Path) -> None:
    """Remove the temporary folders of this user whose process is gone."""
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith(SCRATCH) and entry.is_dir(follow_symlinks=False):
                handle = _opened(Path(entry.path))
                try:
                    if handle is not None and _is_own(handle) and _is_free(handle):
                        shutil.rmtree(entry.path, ignore_errors=True)
                finally:
                    _close(handle)


def _opened(folder: Path) -> int | None:
    """A handle to lock a folder by; `None` where that cannot be."""
    if sys.platform == "win32":
        return None
    with suppress(OSError):
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    return None


def _lock(handle: int | None, *, wait: bool) -> bool:
    """Lock a folder; false if another one holds the lock."""
    if handle is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_free(handle: int) -> bool:
    """Lock a folder; false also where there are no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_own(handle: int) -> bool:
    return os.fstat(handle).st_uid == os.getuid()


def _close(handle: int | None) -> None:
    if handle is not None:
        os.close(handle)
