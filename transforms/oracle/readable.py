"""The files that contained programs may read, by name: the standard library and what it loads.

Nothing else of the folders around them: beside the standard library lie installed packages, with what their
metadata tells of the user, and beside the shared libraries those of other programs. The server looks this up
before it is closed in.
"""

import ctypes
import os
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from glob import glob
from importlib.util import find_spec
from typing import Final

EXTENSIONS: Final = "lib-dynload"
"""The folder of the extension modules."""
_COMPILED: Final = "__pycache__"
_SETTINGS: Final = "_sysconfigdata"
"""The beginning of the name of a module that `sysconfig` reads."""
_DATA: Final = ("/etc/ld.so.cache", "/usr/lib/locale", "/usr/share/zoneinfo")
"""What the loader, `locale` and `zoneinfo` read."""
_LATE: Final = "libgcc_s.so.1"
"""The C library loads it when a thread ends."""


def readable() -> tuple[str, ...]:
    """The files, and the folders with all that is in them.

    Afterwards this process finds modules of the standard library although their folder cannot be listed: its
    importer has read the names.
    """
    find_spec("no_module_of_this_name")
    return tuple(dict.fromkeys([*standard_library(), *shared_libraries(), *_DATA]))


def standard_library() -> Iterator[str]:
    """The modules and packages of the standard library, compiled ones too, and the extension modules."""
    # Not those of a virtual environment, which has packages only.
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix, "installed_base": sys.base_prefix}
    for folder in {sysconfig.get_path(name, vars=base) for name in ("stdlib", "platstdlib")}:
        for place in (folder, os.path.join(folder, _COMPILED)):
            if os.path.isdir(place):
                yield from (entry.path for entry in os.scandir(place) if _is_standard(entry.name))


def _is_standard(name: str) -> bool:
    module = name.partition(".")[0]
    return module in sys.stdlib_module_names or name == EXTENSIONS or module.startswith(_SETTINGS)


def shared_libraries() -> list[str]:
    """The shared libraries that the interpreter and the extension modules load.

    They are loaded in a process of its own, so that this one stays as it is.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            with open(writing, "w") as answer:
                answer.write("\n".join(_loaded()))
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as answer:
        paths = answer.read().split("\n")
    os.waitpid(child, 0)
    return list(filter(None, paths))


def _loaded() -> set[str]:
    for path in (*(path for folder in sys.path for path in glob(os.path.join(folder, "*.so"))), _LATE):
        with suppress(OSError):  # a library that is not installed
            ctypes.CDLL(path)
    with open("/proc/self/maps") as maps:
        places = (line.rstrip("\n").split(maxsplit=5) for line in maps)
        return {row[5] for row in places if len(row) == 6 and row[5].startswith("/") and ".so" in row[5]}
