"""Facts about the standard library: which modules may be imported in any order, and which functions take
their keywords without seeing an order.

The modules are the public ones of Python 3.11, 3.12 and 3.13. Each was imported (with every submodule) by a
fresh interpreter under Linux. Importing a `SILENT` module left unchanged: exit and signal handlers, the
builtins, `sys.path`, import hooks, the standard streams and hooks of `sys`, the locale, the environment,
warning filters, open files, threads.

Left out are modules that changed one of these (`this`), that warn because they are deprecated, that start or
configure something on purpose (`antigravity`, `idlelib`, `readline`, `site`, `tkinter`, `turtle`), and those
of other platforms.
"""

from collections.abc import Mapping
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SILENT: Final = _words(
    """
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
)
"""Modules whose import changes nothing that other code can see."""

REGISTERING: Final = frozenset(
    ["asyncio", "concurrent", "doctest", "logging", "multiprocessing", "pdb", "unittest", "venv"]
)
"""Modules with a submodule that registers a function to run at exit: the order among these modules counts."""

KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    name: _words(words)
    for name, words in {
        "bytearray": "source encoding errors",
        "bytes": "source encoding errors",
        "compile": "source filename mode flags dont_inherit optimize",
        "complex": "real imag",
        "enumerate": "iterable start",
        "max": "key default",
        "min": "key default",
        "open": "file mode buffering encoding errors newline closefd opener",
        "pow": "base exp mod",
        "print": "sep end file flush",
        "property": "fget fset fdel doc",
        "round": "number ndigits",
        "sorted": "key reverse",
        "str": "object encoding errors",
    }.items()
}
"""Builtins that take no other keywords than these, and see no order in them."""

FUNCTIONS: Final[Mapping[str, frozenset[str]]] = {
    name: _words(words)
    for name, words in {
        "collections.namedtuple": "typename field_names rename defaults module",
        "csv.reader": "delimiter quotechar escapechar doublequote skipinitialspace lineterminator quoting",
        "csv.writer": "delimiter quotechar escapechar doublequote skipinitialspace lineterminator quoting",
        "dataclasses.dataclass": "init repr eq order unsafe_hash frozen match_args kw_only slots",
        "dataclasses.field": "default default_factory init repr hash compare metadata kw_only",
        "datetime.datetime": "year month day hour minute second microsecond tzinfo fold",
        "datetime.time": "hour minute second microsecond tzinfo fold",
        "datetime.timedelta": "days seconds microseconds milliseconds minutes hours weeks",
        "difflib.SequenceMatcher": "isjunk a b autojunk",
        "difflib.unified_diff": "a b fromfile tofile fromfiledate tofiledate n lineterm",
        "functools.lru_cache": "maxsize typed",
        "heapq.nlargest": "n iterable key",
        "heapq.nsmallest": "n iterable key",
        "itertools.groupby": "iterable key",
        "json.dump": "skipkeys ensure_ascii check_circular allow_nan indent separators default sort_keys",
        "json.dumps": "skipkeys ensure_ascii check_circular allow_nan indent separators default sort_keys",
        "logging.FileHandler": "filename mode encoding delay errors",
        "math.isclose": "rel_tol abs_tol",
        "os.makedirs": "name mode exist_ok",
        "os.walk": "top topdown onerror followlinks",
        "pprint.pformat": "object indent width depth compact sort_dicts underscore_numbers",
        "random.choices": "population weights cum_weights k",
        "re.compile": "pattern flags",
        "re.sub": "pattern repl string count flags",
        "shutil.copytree": "src dst symlinks ignore copy_function ignore_dangling_symlinks dirs_exist_ok",
        "shutil.rmtree": "path ignore_errors onerror",
        "socket.create_connection": "address timeout source_address all_errors",
        "subprocess.Popen": "stdin stdout stderr env cwd shell bufsize close_fds text encoding",
        "subprocess.run": "stdin stdout stderr env cwd shell timeout check text capture_output input",
        "subprocess.check_output": "stdin stderr env cwd shell timeout text encoding universal_newlines",
        "tempfile.NamedTemporaryFile": "mode buffering encoding newline suffix prefix dir delete errors",
        "tempfile.TemporaryDirectory": "suffix prefix dir ignore_cleanup_errors",
        "tempfile.mkdtemp": "suffix prefix dir",
        "tempfile.mkstemp": "suffix prefix dir text",
        "threading.Thread": "group target name args kwargs daemon",
        "urllib.parse.urlencode": "query doseq safe encoding errors quote_via",
        "urllib.request.Request": "url data headers origin_req_host unverifiable method",
        "warnings.warn": "message category stacklevel source",
    }.items()
}
"""Functions and classes of `SILENT` and `REGISTERING` modules, with keywords among which they see no order.
"""

METHODS: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    ("bytes", "decode"): frozenset(["encoding", "errors"]),
    ("bytes", "rsplit"): frozenset(["sep", "maxsplit"]),
    ("bytes", "split"): frozenset(["sep", "maxsplit"]),
    ("list", "sort"): frozenset(["key", "reverse"]),
    ("str", "encode"): frozenset(["encoding", "errors"]),
    ("str", "rsplit"): frozenset(["sep", "maxsplit"]),
    ("str", "split"): frozenset(["sep", "maxsplit"]),
}
"""Methods of builtin types, with their keywords."""

DISJOINT: Final = (
    _words(
        """
        OSError IOError EnvironmentError BlockingIOError ChildProcessError ConnectionError BrokenPipeError
        ConnectionAbortedError ConnectionRefusedError ConnectionResetError FileExistsError FileNotFoundError
        InterruptedError IsADirectoryError NotADirectoryError PermissionError ProcessLookupError TimeoutError
        """
    ),
    frozenset(["ImportError", "ModuleNotFoundError"]),
    frozenset(["SyntaxError", "IndentationError", "TabError"]),
    frozenset(["NameError", "UnboundLocalError"]),
    frozenset(["AttributeError"]),
    frozenset(["StopIteration"]),
    frozenset(["SystemExit"]),
    frozenset(["UnicodeDecodeError", "UnicodeEncodeError", "UnicodeTranslateError"]),
    frozenset(["BaseExceptionGroup", "ExceptionGroup"]),
)
"""Builtin exceptions, grouped by the memory layout of their objects. No class can derive from two classes
with different layouts, so no exception belongs to two groups. `KeyError` and `ValueError`, for example, have
the same layout and may have a common subclass.
"""
