"""What importing a module does: nothing that other code sees, or anything.

A module runs its text when it is imported for the first time: a plug-in may register itself. Of many modules
of the standard library it is known that their import has no visible effect.
"""

import ast
from collections.abc import Iterable
from typing import Final

_SILENT: Final = """
    abc argparse array ast atexit base64 bdb binascii bisect builtins bz2 cProfile calendar cmath cmd code
    codecs codeop collections colorsys compileall configparser contextlib contextvars copy copyreg csv
    ctypes curses dataclasses datetime dbm decimal difflib dis email enum errno faulthandler fcntl filecmp
    fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp
    gzip hashlib heapq hmac html http imaplib importlib inspect io ipaddress itertools json keyword
    linecache locale lzma mailbox marshal math mimetypes mmap modulefinder netrc ntpath numbers operator
    optparse os pathlib pickle pickletools pkgutil platform plistlib poplib posix posixpath pprint profile
    pstats pty pwd py_compile pyclbr pydoc pyexpat queue quopri random re reprlib resource runpy sched
    secrets select selectors shelve shlex shutil signal smtplib socket socketserver sqlite3 ssl stat
    statistics string stringprep struct subprocess symtable sys sysconfig syslog tabnanny tarfile tempfile
    termios textwrap threading time timeit token tokenize tomllib trace traceback tracemalloc tty types
    typing unicodedata urllib uuid warnings wave weakref webbrowser wsgiref xml xmlrpc zipapp zipfile
    zipimport zlib zoneinfo
"""

SILENT: Final = frozenset(_SILENT.split())
"""Modules whose import changes nothing that other code can see.

The modules are the public ones of Python 3.11, 3.12 and 3.13. Each was imported (with every submodule) by a
fresh interpreter under Linux. Importing it left unchanged: exit and signal handlers, the builtins,
`sys.path`, import hooks, the standard streams and hooks of `sys`, the locale, the environment, warning
filters, open files, threads.

Left out are modules that changed one of these (`this`), that warn because they are deprecated, that start or
configure something on purpose (`antigravity`, `idlelib`, `readline`, `site`, `tkinter`, `turtle`), and those
of other platforms.
"""

REGISTERING: Final = frozenset(
    ["asyncio", "concurrent", "doctest", "logging", "multiprocessing", "pdb", "unittest", "venv"]
)
"""Modules with a submodule that registers a function to run at exit: the order among these modules counts."""


def imported_modules(node: ast.Import | ast.ImportFrom, names: Iterable[ast.alias]) -> set[str]:
    """The top-level names of the modules that a statement imports for these of its names; empty text for a
    relative import, which is never one of the standard library.
    """
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in names}
    return {""} if node.level else {(node.module or "").partition(".")[0]}


PACKAGES: Final = frozenset(
    [
        "asyncio", "concurrent", "ctypes", "curses", "dbm", "email", "html", "http", "importlib", "json",
        "logging", "multiprocessing", "sqlite3", "unittest", "urllib", "wsgiref", "xml", "xmlrpc", "zoneinfo",
    ]
)  # fmt: skip
"""Modules of the standard library that have modules of their own."""
_LOADED: Final = frozenset({"os.path", "collections.abc"})
"""Modules inside another one that its import loads."""


def binds_submodule(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether the import may give a module an attribute: `import xml.dom` binds `dom` in `xml`."""
    if isinstance(node, ast.Import):
        return any("." in alias.name and alias.name not in _LOADED for alias in node.names)
    module = node.module or ""
    if "." in module or node.level:
        return module not in _LOADED
    return module in PACKAGES and any(alias.name.islower() for alias in node.names)


def is_harmless(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether the import runs no code whose effects another statement sees."""
    return imported_modules(node, node.names) <= SILENT | REGISTERING
