"""`reorder-imports` and `reorder-import-names`: imports from the standard library in another order.

Only modules whose import is known to have no visible effect change places. Any other import stays where it
is, and no import moves past it.

Assumed: names imported from the standard library exist, unless a `try` or `with` could notice that they do
not; a module with a standard name is the standard module; and no code reads the order of `sys.modules`.
"""

import ast
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from codeaudit.transforms.dependence.effects import ACTS, BARRIER, Effects, conflicts
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Site
from codeaudit.transforms.python.analysis.facts import bound_by
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import bodies, heading, line_above, rearranged, runs, stacked

Import: TypeAlias = ast.Import | ast.ImportFrom

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

UNKNOWN: Final = "a module that may do anything when it is imported"
GUARDED: Final = "an import in a try or with may fail"
SHARED: Final = "statements share a line"
ONE_ORDER: Final = "imports of one name keep their order"


def find_imports(code: PythonSource) -> Iterator[Site | Refused]:
    """Runs of import statements, in modules and functions."""
    dropped = _dropped(code.tree)
    for node in code.nodes():
        # A metaclass may see in which order a class body binds its names.
        if isinstance(node, ast.ClassDef):
            continue
        for body in bodies(node):
            yield from _body(code, node, body, dropped)


def find_names(code: PythonSource) -> Iterator[Site | Refused]:
    """The names of one import statement."""
    dropped = _dropped(code.tree)
    for node in code.nodes():
        if not isinstance(node, Import) or len(node.names) < 2:
            continue
        if _guarded(code, node):
            yield Refused(GUARDED)
            continue
        effects = [_effects(node, [alias], dropped) for alias in node.names]
        if any(effect.flags & BARRIER for effect in effects):
            yield Refused(UNKNOWN)
            continue
        parts = [code.span(alias) for alias in node.names]
        yield rearranged(code, parts, conflicts(effects), "imported names") or Refused(ONE_ORDER)


def _body(
    code: PythonSource, holder: ast.AST, body: list[ast.stmt], dropped: frozenset[str]
) -> Iterator[Site | Refused]:
    """The sites of one list of statements."""
    above = heading(code) if isinstance(holder, ast.Module) else line_above(code, body)
    for start, end, line in runs(body, _is_import, above):
        if end - start > 1:
            yield _run(code, [node for node in body[start:end] if isinstance(node, Import)], line, dropped)


def _is_import(node: ast.stmt) -> bool:
    # `from __future__ import …` must stay first in its module.
    return isinstance(node, Import) and not (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _run(code: PythonSource, run: list[Import], above: int, dropped: frozenset[str]) -> Site | Refused:
    """The site of one run of imports, or the reason why it keeps its order."""
    if _guarded(code, run[0]):
        return Refused(GUARDED)
    if not all(code.alone(node) for node in run):
        return Refused(SHARED)
    effects = [_effects(node, node.names, dropped) for node in run]
    parts = stacked(code, run, above)
    # The reason tells what would have to change: with two known modules it is the names that they bind.
    known = [effect for effect in effects if not effect.flags & BARRIER]
    site = rearranged(code, parts, conflicts(effects), f"{len(run)} imports")
    return site or Refused(ONE_ORDER if len(known) > 1 else UNKNOWN)


def _effects(node: Import, names: Iterable[ast.alias], dropped: frozenset[str]) -> Effects:
    """The effects of importing these names of a statement."""
    names = list(names)
    bound = frozenset(alias.asname or alias.name.partition(".")[0] for alias in names)
    if isinstance(node, ast.Import):
        modules = {alias.name.partition(".")[0] for alias in names}
    else:
        modules = {(node.module or "").partition(".")[0]} if not node.level else {""}
    # `import *` binds names that are not in the text; a relative import (`.x`) is no standard module.
    if not modules <= SILENT | REGISTERING or "*" in bound:
        return Effects(writes=bound, flags=BARRIER)
    # Functions registered to run at exit run in the reverse order of the imports.
    acts = bool(modules & REGISTERING) or bool(bound & dropped)
    return Effects(writes=bound, flags=ACTS if acts else 0)


def _dropped(tree: ast.Module) -> frozenset[str]:
    """Names that are also bound in other ways than by an import: rebinding them may drop an object with a
    finaliser.
    """
    return frozenset(
        name for node in ast.walk(tree) if not isinstance(node, Import) for name in bound_by(node)
    )


# The except clause of `try: import a; import b` sees which of the two was bound before the other one failed.
def _guarded(code: PythonSource, node: ast.AST) -> bool:
    """Whether a statement around it may catch its exception and go on."""
    guards = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)
    return any(isinstance(above, guards) for above in code.ancestors(node))


REORDER_IMPORTS: Final = PythonRule(
    name="reorder-imports", find=find_imports, nothing="no two imports side by side", unit="module"
)
REORDER_IMPORT_NAMES: Final = PythonRule(
    name="reorder-import-names", find=find_names, nothing="no import of two names", unit="module"
)
