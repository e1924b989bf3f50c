"""Who can look at a function, or change what it means, from outside of its own statements.

`WAYS` is the one table: each row is a way to look, with how it is spelled, what it sees, and how far it
reaches. Rules ask the questions below and know no spelling: may anyone see the names of locals here, are line
numbers read, is the source read, are names of functions seen, is the order of a namespace seen?

An unresolved use reaches the whole file: of `tb.tb_frame.f_locals` nobody can tell whose variables it reads,
so those of all functions of the file count as read. Names in comments and docstrings mention nothing.

Not counted: a traceback or a warning that is printed or logged (`print_exc`, `warn(stacklevel=2)`). Its
position goes into a text for people, which is assumed to be read by no program (`positions-unread` of the
ledger). It counts where the file takes the text apart: `format_exc().splitlines()`.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from enum import Enum, Flag, IntEnum, auto
from functools import lru_cache, reduce
from itertools import chain
from operator import or_
from typing import Any, Final, NamedTuple

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis import own_file
from codeaudit.transforms.python.analysis.facts import own_nodes
from codeaudit.transforms.python.analysis.index import (
    TextIndex,
    index_in,
    index_of,
    text_of,
    words_of,
)
from codeaudit.transforms.python.analysis.knowledge import NEVER_SWALLOWING
from codeaudit.transforms.python.parsing import FunctionNode, last_name, normalised
from codeaudit.transforms.python.walking import below
from codeaudit.transforms.remembering import fact

POSITIONS_READ: Final = "the file reads line numbers"
"""The reason to leave statements on their lines."""
SOURCE_READ: Final = "the file reads source text"
"""The reason to leave all text as it is."""
NAMES_SEEN: Final = "reflection on names"
"""The reason to leave the names and the order of variables."""
LIVES_SEEN: Final = "the file counts references"
"""The reason to leave which variables hold an object."""


class LinesRead(IntEnum):
    """Whose lines a text reads. Each kind includes those before it."""

    NONE = 0
    BEGINNINGS = 1
    """The lines on which functions and classes begin."""
    RUNNING = 2
    """The lines at which code calls other code, raises or is suspended: those of frames."""
    ALL = 3
    """The lines of all statements."""
    TEXT = 4
    """The text of lines."""


class Sees(Flag):
    """What a way to look shows."""

    NOTHING = 0
    LOCALS = auto()
    """Variables of functions: their names, order or values, and other names in their code objects."""
    FUNCTIONS = auto()
    """The names of functions."""
    BEGINNINGS = auto()
    """The lines on which functions and classes begin."""
    RUNNING = auto()
    """The lines at which code calls other code, raises or is suspended: those of frames."""
    LINES = auto()
    """The lines of all statements."""
    SOURCE = auto()
    """The text of the file."""
    MODULE = auto()
    """The names of a module, in the order in which they were bound."""
    CLASS = auto()
    """The names of a class, or the classes of a module, in the order in which they were bound."""
    OBJECT = auto()
    """The attributes of an object, in the order in which they were first stored."""
    LIVES = auto()
    """Which objects live, and who holds them."""
    DROPS = auto()
    """The moment at which an object is dropped."""
    IMPORTS = auto()
    """Which modules are imported, and in which order."""
    MOMENTS = auto()
    """What stands in objects between two statements of a function."""
    DEPTH = auto()
    """At which call the stack ends."""
    STOPS = auto()
    """Where a function stops halfway, because the memory ends or somebody interrupts."""
    PARAMETERS = auto()
    """The names of parameters, as signatures and annotations have them."""
    SIGNS = auto()
    """The sign of a number, also that of a NaN."""
    IDENTITY = auto()
    """Which of two equal objects one is."""

    @property
    def variables(self) -> bool:
        """Whether anyone may see the names, the order or the values of locals."""
        return bool(self & (Sees.LOCALS | Sees.SOURCE))

    @property
    def functions(self) -> bool:
        """Whether anyone may see the names of functions."""
        return bool(self & (Sees.FUNCTIONS | Sees.LOCALS | Sees.SOURCE))

    @property
    def lives(self) -> bool:
        """Whether anyone counts who holds an object."""
        return bool(self & Sees.LIVES)

    @property
    def lines(self) -> LinesRead:
        """Whose lines are read."""
        return max((lines for what, lines in _LINES.items() if self & what), default=LinesRead.NONE)


_LINES: Final = {
    Sees.BEGINNINGS: LinesRead.BEGINNINGS,
    Sees.RUNNING: LinesRead.RUNNING,
    Sees.LINES: LinesRead.ALL,
    Sees.SOURCE: LinesRead.TEXT,
}


DENIED: Final = {
    Sees.DROPS: "release-unseen",
    Sees.IMPORTS: "imports-independent",
    Sees.MOMENTS: "nobody-between",
    Sees.DEPTH: "runs-through",
    Sees.STOPS: "runs-through",
    Sees.SIGNS: "identity-unread",
}
"""The entries of the ledger that do not hold in a file that shows this."""


class DeniedEntries(Mapping[str, int]):
    """The entries of the ledger that a file shows not to hold, each with the first line that mentions a way
    to see it, or 0 if that is not known.

    The file is read when it is asked for one of `DENIED`. The other entries are asked for one by one.
    """

    def __init__(self, file: str) -> None:
        self._file = file

    def __getitem__(self, id: str) -> int:
        what = reduce(or_, (sees for sees, other in DENIED.items() if other == id), Sees.NOTHING)
        if what and shown_by(self._file, what) & what:
            return _first_line(self._file, what)
        raise KeyError(id)

    def __iter__(self) -> Iterator[str]:
        return (id for id in dict.fromkeys(DENIED.values()) if id in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@lru_cache(maxsize=64)
def _first_line(file: str, what: Sees) -> int:
    """The first line that mentions a way to see this; 0 if it cannot be told, as of a name in a text."""
    words = {
        text.strip("()=")
        for way in WAYS
        for text in (way.spelled.split() if way.sees & what and way.reach is Reach.FILE else ())
    }
    try:
        nodes = index_of(file)
    except SourceError:
        return 0
    lines = [(node.lineno, {node.id}) for node in nodes(ast.Name)]
    lines += [
        (node.lineno, {node.attr, f"{last_name(node.value)}.{node.attr}"}) for node in nodes(ast.Attribute)
    ]
    lines += [(node.lineno, {node.name}) for node in nodes(ast.FunctionDef)]
    lines += [(node.lineno, set(alias.name.split("."))) for node in nodes(ast.Import) for alias in node.names]
    lines += [
        (node.lineno, {*(node.module or "").split("."), alias.name, f"{node.module}.{alias.name}"})
        for node in nodes(ast.ImportFrom)
        for alias in node.names
    ]
    return min((line for line, names in lines if not words.isdisjoint(names)), default=0)


class Reach(Enum):
    """Of whose code a way shows something."""

    DEFINITIONS = auto()
    """The functions and classes of the file that mentions it; nothing else of them."""

    HERE = auto()
    """The function that mentions it."""
    FILE = auto()
    """Every function of the file that mentions it."""
    BINDINGS = auto()
    """What the names of the file that mentions it stand for; nothing else of them."""
    IDENTITY = auto()
    """Whether two equal objects of the file that mentions it are one; nothing else of them."""


class Way(NamedTuple):
    """A way to look at code from outside."""

    kind: str
    sees: Sees
    reach: Reach
    spelled: str
    """Words. `f_locals`: any attribute, import or text. `inspect.stack`: of this module. `locals()`: the
    builtin. `%lineno`: a field of a format. `=__del__`: a name that the text binds. `/format_exc`: a function
    whose text the file takes apart.
    """


_ANY: Final = Sees.LOCALS | Sees.FUNCTIONS | Sees.LINES
WAYS: Final[Sequence[Way]] = (
    # ── variables ────────────────────────────────────────────────────────────────────────────────────
    Way("own variables", Sees.LOCALS, Reach.HERE, "locals() eval() exec() __builtins__()"),
    Way("own variables, without an argument", Sees.LOCALS, Reach.HERE, "vars() dir()"),
    Way("a builtin by another name", Sees.LOCALS, Reach.HERE,
        "builtins.locals builtins.vars builtins.dir builtins.eval builtins.exec inspect.stack inspect.trace"),
    Way("an own frame", Sees.LOCALS, Reach.HERE,
        "_getframe _getframemodulename currentframe getouterframes getinnerframes getframeinfo f_back f_code"
        " gi_frame cr_frame ag_frame tb_frame"
        " gi_code cr_code ag_code getfullargspec getcallargs __code__ __closure__"),
    Way("names from the source", Sees.LOCALS, Reach.HERE, "nameof argname varname"),
    Way("source of an argument", Sees.LOCALS, Reach.HERE, "ic()"),
    Way("variables of frames", Sees.LOCALS, Reach.FILE,
        "f_locals getargvalues capture_locals show_locals _current_frames getgeneratorlocals"
        " getcoroutinelocals getasyncgenlocals"),
    Way("tracing and profiling", Sees.LOCALS | Sees.LINES, Reach.FILE,
        "settrace settrace_all_threads sys.monitoring"),
    Way("profiling", Sees.LOCALS, Reach.FILE, "setprofile setprofile_all_threads"),
    Way("names in code objects", Sees.LOCALS, Reach.FILE,
        "co_varnames co_freevars co_cellvars co_names co_nlocals getclosurevars cell_contents"
        " __static_attributes__"
        " dis.dis dis.code_info dis.show_code dis.distb"),
    Way("instructions", Sees.LOCALS | Sees.SOURCE, Reach.FILE,
        "dis.Bytecode get_instructions co_code co_consts co_stacksize co_exceptiontable _co_code_adaptive"
        " co_lnotab co_linetable co_lines co_positions findlinestarts"),
    Way("all that an object has", Sees.LOCALS | Sees.BEGINNINGS, Reach.FILE,
        "inspect.getmembers inspect.getmembers_static"),
    Way("functions by value", Sees.LOCALS, Reach.FILE, "cloudpickle dill"),
    # ── names of functions ───────────────────────────────────────────────────────────────────────────
    Way("names in code objects, frames and log records", Sees.FUNCTIONS, Reach.FILE,
        "co_name co_qualname funcName extract_stack extract_tb StackSummary FrameSummary TracebackException"
        " getframeinfo getouterframes getinnerframes inspect.stack inspect.trace"),
    # ── positions ────────────────────────────────────────────────────────────────────────────────────
    Way("beginnings", Sees.BEGINNINGS, Reach.FILE, "co_firstlineno __firstlineno__"),
    Way("lines of frames", Sees.RUNNING, Reach.FILE,
        "f_lineno f_lasti tb_lineno tb_lasti extract_stack extract_tb walk_stack walk_tb StackSummary"
        " FrameSummary TracebackException getframeinfo getouterframes getinnerframes inspect.stack"
        " inspect.trace cr_origin capture_call_graph"),
    Way("lines of log records", Sees.RUNNING, Reach.FILE, "%lineno"),
    Way("who writes to a log", Sees.FUNCTIONS | Sees.RUNNING, Reach.FILE, "findCaller"),
    Way("lines of warnings", Sees.RUNNING, Reach.FILE, "=showwarning =formatwarning __warningregistry__()"),
    Way("lines of allocations", Sees.LINES, Reach.FILE,
        "tracemalloc.get_object_traceback tracemalloc.take_snapshot"),
    Way("names and lines of definitions", Sees.FUNCTIONS | Sees.LINES, Reach.FILE,
        "pyclbr.readmodule pyclbr.readmodule_ex getstats create_stats get_stats_profile"),
    # ── parameters ───────────────────────────────────────────────────────────────────────────────────
    Way("signatures", Sees.PARAMETERS, Reach.FILE,
        "__annotations__ __annotate__ __signature__ get_type_hints get_annotations inspect.signature"
        " inspect.Signature getfullargspec getcallargs getargvalues pydoc"),
    # ── source ───────────────────────────────────────────────────────────────────────────────────────
    Way("source", Sees.SOURCE, Reach.FILE,
        "getsource getsourcelines findsource getblock getcomments get_source pydoc.getdoc pydoc.render_doc"
        " linecache.getline linecache.getlines pydoc.doc pydoc.HTMLDoc pydoc.TextDoc DocXMLRPCServer"
        " register_introspection_functions"),
    Way("tracebacks that are taken apart", Sees.RUNNING | Sees.SOURCE, Reach.FILE,
        "/format_exc /format_exception /format_tb /format_stack /format_list /formatException /formatStack"
        " /print_exc /print_exception /print_tb /print_stack /print_last /excepthook /__excepthook__"
        " /_exc_info_to_string /dump_traceback /dump_traceback_later /format_call_graph /print_call_graph"),
    Way("tracebacks in warnings", Sees.RUNNING | Sees.SOURCE, Reach.FILE,
        "set_coroutine_origin_tracking_depth"),
    # ── namespaces ───────────────────────────────────────────────────────────────────────────────────
    Way("names of a module", Sees.MODULE, Reach.FILE, "__globals__ f_globals f_builtins"),
    Way("classes in their order", Sees.CLASS | Sees.MODULE, Reach.FILE, "__subclasses__"),
    Way("state of an object", Sees.OBJECT, Reach.FILE, "__getstate__ __reduce_ex__ pickle.dumps pickle.dump"),
    # ── lives ────────────────────────────────────────────────────────────────────────────────────────
    Way("references", Sees.LIVES, Reach.FILE, "getrefcount get_referrers get_referents get_objects"),
    # ── what happens in between ──────────────────────────────────────────────────────────────────────
    Way("finalisers", Sees.DROPS, Reach.FILE,
        "=__del__ GeneratorExit() weakref.finalize weakref.ref weakref.WeakMethod weakref.proxy"
        " WeakSet WeakKeyDictionary WeakValueDictionary"),
    Way("imports", Sees.IMPORTS, Reach.FILE,
        "meta_path path_hooks addaudithook sys.modules builtins.__import__ =__import__"),
    Way("threads", Sees.MOMENTS, Reach.FILE,
        "threading _thread futures ThreadPool to_thread run_in_executor ThreadingMixIn ThreadingHTTPServer"
        " ThreadingTCPServer ThreadingUDPServer ThreadingUnixStreamServer ThreadingUnixDatagramServer"
        " multiprocessing.dummy multiprocessing.dummy.Pool multiprocessing.dummy.Process"),
    Way("debuggers", Sees.LOCALS | Sees.LINES | Sees.MOMENTS, Reach.FILE, "bdb.Bdb pdb.Pdb trace.Trace"),
    Way("pages of errors", Sees.LOCALS | Sees.RUNNING | Sees.SOURCE, Reach.FILE, "cgitb"),
    Way("signals and tracers", Sees.MOMENTS, Reach.FILE,
        "signal.signal signal.setitimer signal.alarm add_signal_handler settrace setprofile"
        " settrace_all_threads setprofile_all_threads sys.monitoring"),
    Way("the end of the stack", Sees.DEPTH, Reach.FILE,
        "RecursionError() setrecursionlimit stack_size setrlimit"),
    Way("other ends", Sees.STOPS, Reach.FILE, "MemoryError() KeyboardInterrupt() setrlimit"),
    Way("signs", Sees.SIGNS, Reach.FILE,
        "copysign signbit tobytes struct.pack struct.pack_into struct.Struct array.array ctypes.c_double"
        " ctypes.c_float marshal.dumps pickle.dumps pickle.dump"),
    # ── definitions by their names ───────────────────────────────────────────────────────────────────
    Way("names that are looked up", Sees.FUNCTIONS, Reach.DEFINITIONS,
        "globals() locals() vars() dir() eval() exec() __import__() =__getattr__ modules __dict__ __globals__"
        " __subclasses__ f_globals"),
    Way("objects that are stored or found by name", Sees.FUNCTIONS, Reach.DEFINITIONS,
        "builtins cloudpickle copyreg dill doctest gc importlib inspect joblib marshal pickle pkgutil runpy"
        " shelve"),
    Way("texts that run in the main module", Sees.FUNCTIONS, Reach.DEFINITIONS,
        "cProfile.run profile.run timeit.timeit timeit.repeat timeit.Timer code.interact pdb.run"
        " code.InteractiveInterpreter code.InteractiveConsole trace.Trace"),
    # ── what names stand for ─────────────────────────────────────────────────────────────────────────
    Way("namespaces by which names are bound", Sees.MODULE, Reach.BINDINGS,
        "globals() vars() locals() exec() eval() __builtins__()"),
    Way("insides of functions and modules", Sees.MODULE, Reach.BINDINGS,
        "__code__ __defaults__ __kwdefaults__ __globals__ __dict__ f_globals modules"),
    # ── which object it is ───────────────────────────────────────────────────────────────────────────
    Way("comparisons of objects", Sees.IDENTITY, Reach.IDENTITY,
        "id() is_() is_not() assertIs() assertIsNot()"),
    Way("methods that tell objects apart", Sees.IDENTITY, Reach.IDENTITY,
        "object.__eq__ object.__ne__ object.__hash__ object.__repr__"),
    # ── parts of names ───────────────────────────────────────────────────────────────────────────────
    Way("a name that is put together", _ANY, Reach.FILE, "+f_ +co_ +tb_ +gi_ +cr_ +ag_"),
)  # fmt: skip
"""Each way with how it is spelled. A test calls what can be called, and compares what it saw."""


class _Spelled(NamedTuple):
    """How rows of one reach are spelled."""

    words: Mapping[str, Sees]
    builtins: Mapping[str, Sees]
    paths: Mapping[str, Mapping[str, Sees]]
    """By the module."""
    fields: Mapping[str, Sees]
    parts: Mapping[str, Sees]
    bound: Mapping[str, Sees]
    texts: Mapping[str, Sees]


def _spelled(reach: Reach) -> _Spelled:
    rows = _Spelled({}, {}, {}, {}, {}, {}, {})
    marked = {"%": rows.fields, "+": rows.parts, "=": rows.bound, "/": rows.texts}
    for way in WAYS:
        for text in way.spelled.split() if way.reach is reach else ():
            module, _, name = text.rpartition(".")
            if module:
                table = dict(rows.paths.get(module, {}))
                rows.paths[module] = table  # type: ignore[index]
            elif text.endswith("()"):
                table, name = rows.builtins, text[:-2]  # type: ignore[assignment]
            elif text[0] in marked:
                table, name = marked[text[0]], text[1:]  # type: ignore[assignment]
            else:
                table = rows.words  # type: ignore[assignment]
            table[name] = table.get(name, Sees.NOTHING) | way.sees
    return rows


HERE: Final = _spelled(Reach.HERE)
FILE: Final = _spelled(Reach.FILE)
IDENTITY: Final = _spelled(Reach.IDENTITY)
_DEFINITIONS: Final = _spelled(Reach.DEFINITIONS)
_BINDINGS: Final = _spelled(Reach.BINDINGS)
STATES: Final = frozenset(word for word, sees in FILE.words.items() if sees == Sees.OBJECT)
"""Methods that give the attributes of an object in their order; `shown` asks for them."""

_FRAME_NAMES: Final = frozenset(
    {"_getframe", "_getframemodulename", "currentframe", "getouterframes", "getinnerframes"}
)
"""Functions that give frames, or names of modules from frames."""
_FRAMES: Final = frozenset({"currentframe", "_getframe"})
"""They give a frame. If only attributes of it are asked for, these tell what is read."""
_FRAME_ATTRIBUTES: Final = frozenset({"f_back", "tb_frame", "gi_frame", "cr_frame", "ag_frame"})
"""Attributes that give a frame; the last four give those that others hold."""
_CODES: Final = frozenset({"__code__", "f_code", "gi_code", "cr_code", "ag_code"})
"""Attributes that give a code object."""
_WARNED: Final = frozenset(
    {
        "catch_warnings", "showwarning", "formatwarning", "WarningMessage", "recwarn", "warns",
        "deprecated_call", "assertWarns", "assertWarnsRegex", "LogRecord", "makeRecord",
        "setLogRecordFactory", "assertLogs", "caplog", "addFilter", "Filter", "Formatter", "Handler",
        "StreamHandler", "FileHandler", "QueueHandler", "QueueListener", "BufferingHandler", "MemoryHandler",
        "RotatingFileHandler", "WatchedFileHandler", "TimedRotatingFileHandler", "tracemalloc",
        "DocTestFinder",
    }
)  # fmt: skip
"""Where one of these is mentioned, `lineno` may be the line of a statement."""
_COLLECTING: Final = frozenset({"catch_warnings", "warns", "deprecated_call"})
"""Managers that collect warnings."""
_WRITING: Final = frozenset({"str", "repr", "print", "map", "vars", "dir"})
"""Functions that show what they get."""
_HANDLING: Final = frozenset({"emit", "handle", "filter", "format", "formatMessage", "makePickle", "prepare"})
"""Methods of handlers, filters and formatters, which get a record."""
_SIZES: Final = frozenset({"getsizeof", "__sizeof__"})
"""The size of a generator or coroutine depends on how many variables it has."""
_OF_CLASSES: Final = frozenset({"vars", "__dict__", "items", "values"})
"""What lists the namespace of a class, or of one that a metaclass makes."""
METACLASSES: Final = frozenset({"type", "ABCMeta", "EnumMeta", "EnumType"})
"""The classes of classes of Python's own; a class that inherits from one makes classes."""
_LOGGED: Final = frozenset({"logging", "caplog"})
_LOGGING: Final = frozenset({"logging", "Formatter", "formatters", "dictConfig", "basicConfig"})
_NAMING_ERRORS: Final = frozenset({"NameError", "UnboundLocalError"})
"""Exceptions whose message names a variable."""
_LISTING: Final = frozenset({"vars", "dir"})
"""They list the variables only if they are called without an argument."""
_DESCRIBED: Final = frozenset(
    {
        "extract_tb", "extract_stack", "StackSummary", "FrameSummary", "TracebackException", "getframeinfo",
        "getouterframes", "getinnerframes",
    }
)  # fmt: skip
"""Functions and classes that describe a frame, with the text of its line."""
_LINE_TEXTS: Final = frozenset({"line", "_line", "lines", "_lines", "_original_line", "code_context"})
"""Attributes of such a description that give the text."""
_HANDED: Final = _FRAMES | _FRAME_ATTRIBUTES | _CODES | _FRAME_NAMES | {"__builtins__"}
"""What shows something if other code gets it."""
_BEFORE: Final = r"(?<![\w.\"'])(?:"
_BEHIND: Final = (
    r")\b(?![\"'])(?![ \t]*=(?!=|\s*[}!:]))(?![ \t]+(?!(?:and|as|async|else|for|from|if|in|is|not|or)\b)\w)"
)
"""A name in code is next to no text and to no word but a keyword, and is read where no `=` stands behind it,
but in `f"{dir=}"`."""
_UNCALLED: Final = re.compile(rf"{_BEFORE}{'|'.join(HERE.builtins)}{_BEHIND}(?![ \t]*\()")
"""One of the builtins that is not called."""
_HELP: Final = re.compile(f"{_BEFORE}help{_BEHIND}")
_GAP: Final = r"(?:[\s\\)]|#.*\n)*"
_LOGS: Final = re.compile(rf"\bexception{_GAP}\(|\b(?:exception|exc_info|stack_info){_GAP}=")
"""A call of `exception`, or one with a keyword that logs a traceback."""
_CAUGHT: Final = re.compile(
    rf"\b(?:{'|'.join(_NAMING_ERRORS)})\b(?:[^:]*|.*)\bas\b|\bmatch{_GAP}=|\bassertRaisesRegex\b"
)
"""Where a `NameError` gets a name, or its message is compared."""
_PLAIN: Final = re.compile(
    r"^[ \t]*import builtins[ \t]*(?:#.*)?$"
    rf"|^[ \t]*from builtins import (?!.*\b(?:__|(?:{'|'.join(HERE.paths['builtins'])})\b))[\w \t,]+$"
    rf"|(?<!\w)builtins\.(?!__|get\b)(?!(?:{'|'.join(HERE.paths['builtins'])})\b(?!\())\w",
    re.MULTILINE,
)
"""Imports of the builtins, or of some that do not look, and attributes that do not look or are called."""
_INSPECT: Final = re.compile(r"[\"']inspect[\"']|\binspect\s+(?:as\b|import\s*\*)|=\s*inspect\b(?!\.)")
"""The module by another name."""


@lru_cache(maxsize=16)
def _hints(mask: Sees) -> tuple[Set[str], Sequence[tuple[Set[str], Set[str]]]]:
    """What stands in every text that shows some of what is asked for: one of the words, or both of a pair."""
    tables = (FILE.words, FILE.builtins, FILE.fields, FILE.parts, FILE.bound, FILE.texts)
    words = {word for table in tables for word, sees in table.items() if sees & mask} - {"lineno", *STATES}
    pairs: list[tuple[Set[str], Set[str]]] = [
        ({name for name, sees in names.items() if sees & mask}, {module.rpartition(".")[2]})
        for module, names in FILE.paths.items()
    ]
    if mask & Sees.DROPS:
        pairs.append(({"yield"}, {"finally", "with", "except"}))
    if mask & Sees.LOCALS:
        pairs.append((_SIZES, {"yield", "async"}))
    if mask & Sees.SOURCE:
        pairs.append(({"marshal"}, _CODES))
        pairs += own_file.HINTS
        words |= _DESCRIBED
        pairs.append(({"stack", "trace"}, {"inspect"}))
    if mask & (Sees.SOURCE | Sees.RUNNING):
        words |= _RUNNERS
        pairs.append(({"repr", "str"}, _TASKS))
        pairs.append(({"stderr", "STDOUT", "communicate"}, {"executable"}))
        pairs.append(({"Thread", "warn"}, _CAPTURING))
    if mask & (Sees.LOCALS | Sees.RUNNING | Sees.BEGINNINGS):
        words |= _HANDED
        pairs.append((HERE.paths["inspect"].keys(), {"inspect"}))
    if mask & Sees.BEGINNINGS:
        pairs += [({"vars", "__dict__"}, {"class"}), ({"items", "values"}, METACLASSES)]
    if mask & (Sees.FUNCTIONS | Sees.RUNNING):
        words |= {"recwarn", *_COLLECTING} if mask & Sees.RUNNING else set()
        pairs += [
            ({"lineno", "default", "record"}, _WARNED | _LOGGING),
            (_LOGGED, {"vars", "dir", "__dict__", *_HANDLING}),
        ]
    if mask & (Sees.FUNCTIONS | Sees.LINES):
        pairs.append(({"stats"}, {"pstats"}))
    return words, pairs


def _may_show(file: str, mask: Sees) -> bool:
    """Whether a text may show some of what is asked for. Its tree is not read."""
    words, (hints, pairs) = words_of(file), _hints(mask)
    if words is None or not words.isdisjoint(hints):
        return True
    if any(not (words.isdisjoint(one) or words.isdisjoint(other)) for one, other in pairs):
        return True
    plain = normalised(file)
    if mask & Sees.SOURCE and "help" in words and _HELP.search(plain):
        return True
    if mask & (Sees.SOURCE | Sees.RUNNING) and not words.isdisjoint(_KEEPING) and _LOGS.search(plain):
        return True
    if not mask & Sees.LOCALS:
        return False
    if not words.isdisjoint(_NAMING_ERRORS) and _CAUGHT.search(plain):
        return True
    return bool(
        # Pieces of texts may make this word, too.
        ("builtins" in words and ("builtins" not in plain or "builtins" in _PLAIN.sub("", plain)))
        or (not words.isdisjoint(HERE.builtins) and _UNCALLED.search(plain))
        or ("inspect" in words and _INSPECT.search(plain))
    )


ANY: Final = ~Sees.NOTHING
"""Whatever can be shown."""


@lru_cache(maxsize=4096)
def shown_by(file: str, mask: Sees = ANY) -> Sees:
    """What the text of a file shows of its functions; everything, if it cannot be read.

    What is not in `mask` may be left out.
    """
    value = fact(
        file, f"shown {mask.value}", lambda: _shown_by(file, mask).value if _may_show(file, mask) else 0
    )
    return Sees(value)


@lru_cache(maxsize=1024)
def _shown_by(file: str, mask: Sees = ANY) -> Sees:
    try:
        index = index_of(file)
    except SourceError:
        return mask
    sees = _mentioned(index, FILE, mask)
    for words, what, shows in _UNRESOLVED:
        if what & mask & ~sees and (words is None or not words.isdisjoint(index.words)) and shows(index):
            sees |= what
    return sees & mask


def shown_together(*texts: str, mask: Sees = ANY) -> Sees:
    """What several texts show of what is asked for."""
    sees = Sees.NOTHING
    for text in texts:
        sees |= shown_by(text, mask) if text else sees
    return sees


def _mentioned(index: TextIndex, rows: _Spelled, mask: Sees = ANY) -> Sees:
    """What the ways of these rows show that are mentioned. What is not in `mask` may be left out."""
    words = index.parts | index.imported | index.fields - rows.fields.keys()
    # `from inspect import *`
    starred = "*" in words
    if starred:
        words = words | index.names
    tables = (
        (rows.words, words),
        (rows.builtins, index.names | words),
        (rows.bound, index.bound_anyhow if rows.bound else ()),
        (rows.fields, () if _LOGGING.isdisjoint(index.words) else index.fields),
        (rows.parts, index.spelled),
    )
    sees = reduce(
        or_, (table[name] for table, names in tables for name in table.keys() & names), Sees.NOTHING
    )
    for module, names in rows.paths.items():
        for name in names if starred else names.keys() & words:
            if names[name] & mask & ~sees and index.asks(module, frozenset({name})):
                sees |= names[name]
    makers = rows.texts.keys() & (index.names | words)
    what = reduce(or_, (rows.texts[name] for name in makers), Sees.NOTHING)
    return sees | what if what & mask & ~sees and _takes_apart(index, makers) else sees


_SAME_TEXT: Final = frozenset({"strip", "lstrip", "rstrip", "encode", "decode", "join", "getvalue", "read"})
"""Methods that give a text as a whole."""
_ADDING: Final = frozenset({"add", "append", "insert", "put"})
"""Methods that put something into a list."""
_TASKS: Final = frozenset({"create_task", "ensure_future", "current_task"})
_SEARCHING: Final = frozenset(
    {
        "search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn", "fnmatch", "len",
        "list", "enumerate", "reversed", "iter", "assertIn", "assertNotIn", "assertEqual", "assertRegex",
        "assertNotRegex", "assertMultiLineEqual",
    }
)  # fmt: skip
"""Functions that look into a text that they get."""

_CAPTURING: Final = frozenset({"redirect_stderr", "captured_stderr", "captured_output"})
"""Managers that write into a text what is printed for people."""


_RUNNERS: Final = frozenset({"TextTestRunner", "TestResult", "TextTestResult"})
"""Classes that keep the tracebacks of failures, or write them."""
_FAILURES: Final = frozenset({"failures", "errors", "expectedFailures"})
"""Attributes of a result: pairs of a test and a traceback."""
_TO_STREAMS: Final = frozenset({"StreamHandler", "basicConfig"})
_KEEPING: Final = (
    _RUNNERS | _TO_STREAMS | _TASKS | {"Thread", "warn", "exc_text", "assertLogs", "caplog", "executable"}
)
"""Where one of these is mentioned, a file may hold the text of a traceback."""
_LOGGED_TRACEBACKS: Final = frozenset({"exception", "exc_info", "stack_info"})


def _tracebacks(index: TextIndex) -> Set[str]:
    """The names that may hold texts of tracebacks: streams of test runners, and of logs of exceptions."""
    calls = index(ast.Call)
    # Of a log, and not `future.exception()`.
    logs = any(call.args and last_name(call.func) == "exception" for call in calls)
    logs |= any(word.arg in _LOGGED_TRACEBACKS for word in index(ast.keyword))
    runners = _runners(index)
    writers = {*(runners & {"TextTestRunner"}), *(_TO_STREAMS if logs else ())}
    streams = [
        place
        for call in calls
        if last_name(call.func) in writers
        for place in (*call.args[:1], *(word.value for word in call.keywords if word.arg == "stream"))
    ]
    names = {last_name(stream) for stream in streams}
    if logs:
        # `record.exc_text`, and what `assertLogs` and `caplog` keep.
        names |= {"exc_text", *(("output",) if "assertLogs" in index.words else ())}
        names |= {"text"} if "caplog" in index.names else set()
    if not index.words.isdisjoint(runners):
        # `for test, text in result.failures`
        pairs = [loop.target for loop in index.loops if last_name(loop.iter) in _FAILURES]
        names |= {last_name(pair.elts[-1]) for pair in pairs if isinstance(pair, ast.Tuple)}
    names -= {None, "stdout", "stderr", "__stdout__", "__stderr__"}
    # A program that ends by an exception prints it.
    if own_file.runs_itself(index):
        names |= {"stderr", *(("stdout", "check_output") if "STDOUT" in index.words else ())}
    return {name for name in names if name}


def _runners(index: TextIndex) -> Set[str]:
    """The classes that run tests. A file that defines one reads no traceback to act on it."""
    return _RUNNERS - {node.name for node in index(ast.ClassDef)}


def _gives_task(node: ast.expr) -> bool:
    """Whether an expression gives a task, whose `repr` has the line at which it waits."""
    return isinstance(node, ast.Call) and last_name(node.func) in _TASKS


def _is_failure(node: ast.expr) -> bool:
    """Whether an expression is a pair of a test and a traceback: `result.failures[0]`."""
    return isinstance(node, ast.Subscript) and last_name(node.value) in _FAILURES


def _takes_apart(index: TextIndex, makers: Set[str], tracebacks: Set[str] = frozenset()) -> bool:
    """Whether a file cuts, searches or compares a text that one of these functions makes, or that one of the
    names holds.
    """
    aliases = (alias for node in index(ast.ImportFrom) for alias in node.names)
    names = {*makers, *tracebacks, *(each.asname for each in aliases if each.asname and each.name in makers)}
    calls = index(ast.Call)
    written = (word for call in calls if last_name(call.func) in names for word in call.keywords)
    # `print_exc(file=text)`
    holders = {*tracebacks, *(last_name(word.value) for word in written if word.arg == "file")}
    tasks = {name for name, value in index.bindings if _gives_task(value)}
    lists: set[str | None] = {"communicate"} if "stderr" in tracebacks else set()
    # A thread that ends by an exception prints it, and so does a warning its line.
    if makers:
        holders |= {last_name(value) for name, value in index.bindings if name == "stderr"}
    if makers or not index.words.isdisjoint({"Thread", "warn"}):
        for manager in index(ast.withitem):
            if isinstance(call := manager.context_expr, ast.Call) and last_name(call.func) in _CAPTURING:
                holders |= {last_name(text) for text in (*call.args, manager.optional_vars) if text}
    results = not index.words.isdisjoint(_runners(index))
    if not (names or holders or lists or results) and index.words.isdisjoint(_TASKS):
        return False

    def is_text(node: ast.expr) -> bool:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if name in _SAME_TEXT:
                return is_text(owner) or any(map(is_text, args))
            case ast.Call(func=ast.Name(id="repr" | "str"), args=[one]):
                return is_text(one) or last_name(one) in tasks or _gives_task(one)
            case ast.Call(func=function):
                return last_name(function) in names
            case ast.Attribute(value=ast.Name(id="sys")):
                return False
            case ast.Name() | ast.Attribute():
                return last_name(node) in holders
            case ast.Subscript(value=pair, slice=ast.Constant(value=1)) if results and _is_failure(pair):
                return True
            case ast.Subscript(value=several):
                return is_list(several)
            case _:
                return False

    def is_list(node: ast.expr) -> bool:
        match node:
            case ast.List(elts=items):
                return any(map(is_text, items))
            case ast.ListComp(elt=item):
                return is_text(item)
            case _:
                return last_name(getattr(node, "func", node)) in lists

    methods = [(call.func, call.args) for call in calls if isinstance(call.func, ast.Attribute)]
    kept = [(last_name(func.value), items) for func, items in methods if func.attr in _ADDING]
    known = -1
    while known < (known := len(holders) + len(lists)):
        holders |= {name for name, value in (*index.bindings, *index.items) if is_text(value)}
        lists |= {name for name, value in index.bindings if is_list(value)}
        lists |= {name for name, items in kept if any(map(is_text, items))}
    looked = [node.value for node in index(ast.Subscript)]
    looked += [node.value for node in index(ast.Attribute) if node.attr not in _SAME_TEXT]
    looked += [part for node in index(ast.Compare) for part in (node.left, *node.comparators)]
    looked += [loop.iter for loop in index.loops]
    looked += [part for call in index(ast.Call) if last_name(call.func) in _SEARCHING for part in call.args]
    return any(map(is_text, looked))


def _packs_code(index: TextIndex) -> bool:
    """Whether a file writes down code objects, whose bytes hold the places of all instructions."""
    if "marshal" not in index.imported or not _given_away(index, _is_code, _ASKING_CODE):
        return False
    holders = {name for name, value in index.bindings if _is_code(value)}
    packed = [call.args for call in index(ast.Call) if last_name(call.func) in ("dump", "dumps")]
    return any(_is_code(part) or last_name(part) in holders for parts in packed for part in parts)


def _asks_for_statistics(index: TextIndex) -> bool:
    return "stats" in index.attributes and "pstats" in index.imported


def _writes(word: str) -> Callable[[TextIndex], bool]:
    """The question whether a file that gets log records names their attribute: `"msg lineno".split()`."""
    return lambda index: (
        not _WARNED.isdisjoint(index.words | index.members)
        and any(word in text and word in _WORD.findall(text) for text in index.texts)
    )


def _measures_a_generator(index: TextIndex) -> bool:
    """Whether a file asks for the size of a generator of its own, which grows with its variables."""
    steps = {
        function.name
        for function in index.functions
        if isinstance(function, ast.AsyncFunctionDef) or index.own(function, ast.Yield, ast.YieldFrom)
    }
    names = {*_SIZES, *(name for name, value in index.bindings if last_name(value) in _SIZES)}
    holders = {name for name, value in index.bindings if last_name(getattr(value, "func", value)) in steps}
    measured = [
        part
        for call in index(ast.Call)
        if last_name(call.func) in names
        for part in (*call.args, getattr(call.func, "value", None))
    ]
    return any(last_name(getattr(part, "func", part)) in steps | holders for part in measured if part)


def _lists_a_class(index: TextIndex) -> bool:
    """Whether a file may list what a class holds. Since Python 3.13, a number is among it: the line on which
    the class begins. Where names with `_` are told apart, or values of other types, nobody acts on it.
    """
    typed = "isinstance" in index.names and index.names.isdisjoint({"int", "callable"})
    if typed or not index.texts.isdisjoint({"_", "__"}):
        return False
    kinds: set[str | None] = {"cls", "__class__", *(node.name for node in index(ast.ClassDef))}
    given = (*index.bindings, *index.items, *index.passed)
    kinds |= {name for name, value in given if isinstance(value, ast.Name) and value.id in kinds}
    owners = [owner for owner in _listed_objects(index, frozenset({"vars", "__dict__"})) if owner]
    asked = {last_name(owner.func) for owner in owners if isinstance(owner, ast.Call)}
    if "type" in asked or not kinds.isdisjoint(map(last_name, owners)):
        return True
    spaces = {
        method.args.args[3].arg
        for kind in index(ast.ClassDef)
        for method in kind.body
        if isinstance(method, ast.FunctionDef) and method.name in ("__new__", "__init__")
        if len(method.args.args) > 3 and any(last_name(base) in METACLASSES for base in kind.bases)
    }
    return any(
        node.attr in ("items", "values") and last_name(node.value) in spaces for node in index(ast.Attribute)
    )


def _counts_by_line(index: TextIndex) -> bool:
    """Whether a file catches warnings under a filter that shows each once for its line: the one that Python
    begins with, or `simplefilter("default")`.
    """
    catching = (call for call in index(ast.Call) if last_name(call.func) == "catch_warnings")
    records = any(word.arg == "record" for call in catching for word in call.keywords)
    return "default" in index.texts or (records and "always" not in index.texts)


def _lists_records(index: TextIndex) -> bool:
    """Whether a file that handles log records may show all that one of them has: `vars(record)`."""
    if _WARNED.isdisjoint(index.words):
        return False
    methods = [function.args.args for function in index.functions if function.name in _HANDLING]
    records = {parameters[1].arg for parameters in methods if len(parameters) > 1}
    if any(last_name(part) in records for part in _shown(index)):
        return True
    records |= {name for loop in index.loops if (name := last_name(loop.target))}
    return any(
        owner is None or isinstance(owner, ast.Subscript) or last_name(owner) in records
        for owner in _listed_objects(index, frozenset({"vars", "dir", "__dict__"}))
    )


def _listed_objects(index: TextIndex, ways: Set[str]) -> Iterator[ast.expr | None]:
    """The objects whose namespaces a text may list in one of these ways; `None` for one that is unknown."""
    calls = {id(call.func): call for call in index(ast.Call)}
    for mention in namespaces_in(index, ways):
        match mention:
            case ast.Attribute(value=owner, attr="__dict__"):
                yield owner
            case ast.Name(id=name) if name not in index.bound:
                call = calls.get(id(mention))
                yield call.args[0] if call is not None and call.args else None
            case None:
                yield None
            case _:  # a variable or an attribute of this name
                pass


def _shows_warnings(index: TextIndex) -> bool:
    """Whether a file shows warnings that it collects, which hold their lines: `str(caught[0])`."""
    lists = {"recwarn"} & index.names
    for manager in index(ast.withitem):
        if isinstance(call := manager.context_expr, ast.Call) and last_name(call.func) in _COLLECTING:
            lists |= {name for target in [manager.optional_vars] if target and (name := last_name(target))}
    if not lists:
        return False
    items = {last_name(loop.target) for loop in index.loops if last_name(loop.iter) in lists}

    def is_one(node: ast.expr) -> bool:
        match node:
            case ast.Subscript(value=owner) | ast.Starred(value=owner):
                return last_name(owner) in lists
            case ast.Call(func=ast.Attribute(value=owner, attr="pop")):
                return last_name(owner) in lists
            case ast.Name(id=name):
                return name in items | lists
            case _:
                return False

    items |= {name for name, value in index.bindings if is_one(value)}
    return any(map(is_one, _shown(index)))


def _shown(index: TextIndex) -> Sequence[ast.expr]:
    """The expressions of which a file makes texts, or lists what they have."""
    shown = [field.value for field in index(ast.FormattedValue)]
    shown += [node.value for node in index(ast.Attribute) if node.attr == "__dict__"]
    shown += [part for call in index(ast.Call) if last_name(call.func) in _WRITING for part in call.args]
    return shown


def _reads_naming_error(index: TextIndex) -> bool:
    """Whether a file catches a `NameError` to look at it, or compares its message."""
    places = [handler.type for handler in index(ast.ExceptHandler) if handler.name]
    places += [manager.context_expr for manager in index(ast.withitem) if manager.optional_vars]
    compared = (call for call in index(ast.Call) if any(word.arg == "match" for word in call.keywords))
    places += [*compared, *(call for call in index(ast.Call) if last_name(call.func) == "assertRaisesRegex")]
    parts = chain.from_iterable(below(place) for place in places if place)
    return any(isinstance(part, ast.expr) and last_name(part) in _NAMING_ERRORS for part in parts)


_EXHAUSTED: Final = frozenset({"contextmanager", "asynccontextmanager", "fixture", "hookimpl"})
"""Decorators of generators that run to their end before they are dropped."""
_CLOSING: Final = {
    path.rpartition(".")[2] for path, reason in NEVER_SWALLOWING.items() if reason == NEVER_SWALLOWING["open"]
}
"""Managers that do no more at their end than what dropping them does."""


def _cleans_up(index: TextIndex) -> bool:
    """Whether a function is a generator that acts when it is dropped between two of its steps."""
    steps = [each for each in index.functions if index.own(each, ast.Yield, ast.YieldFrom)]
    return any(map(_acts_if_dropped, steps))


def _acts_if_dropped(function: FunctionNode) -> bool:
    if any(last_name(getattr(node, "func", node)) in _EXHAUSTED for node in function.decorator_list):
        return False
    for node in own_nodes(function.body):
        acts = False
        if isinstance(node, ast.Try):
            caught = [last_name(each.type) if each.type else "BaseException" for each in node.handlers]
            acts = bool(node.finalbody) or "BaseException" in caught
        elif isinstance(node, ast.With | ast.AsyncWith):
            managers = [manager.context_expr for manager in node.items]
            acts = any(last_name(getattr(each, "func", each)) not in _CLOSING for each in managers)
        if acts and any(isinstance(part, ast.Yield | ast.YieldFrom) for part in own_nodes([node])):
            return True
    return False


def _reads_described_text(index: TextIndex) -> bool:
    """Whether a file that describes frames reads the text of their lines: by its name, by its place
    (`extract_tb(x)[-1][3]`), or in what `format` makes of it.
    """

    def gives_text(subscript: ast.Subscript) -> bool:
        match subscript:
            case ast.Subscript(slice=ast.Constant(value=3 | 4)):
                return True
            case ast.Subscript(slice=ast.Constant(value=0 | 1 | 2)):
                return False
            case ast.Subscript(slice=ast.Slice(upper=ast.Constant(value=1 | 2 | 3))):
                return False
            case _:
                return isinstance(subscript.value, ast.Subscript)

    if index.words.isdisjoint(_DESCRIBED) and not index.asks("inspect", frozenset({"stack", "trace"})):
        return False
    if not index.words.isdisjoint(_LINE_TEXTS) or _takes_apart(index, frozenset({"format"})):
        return True
    if any(map(gives_text, index(ast.Subscript))):
        return True
    # `for file, number, name, text in extract_tb(x)`
    stores = [node for node in index(ast.Tuple) if isinstance(node.ctx, ast.Store)]
    return any(
        len(node.elts) > 3 or any(isinstance(part, ast.Starred) for part in node.elts) for node in stores
    )


def _looks_under_another_name(index: TextIndex) -> bool:
    """Whether a function that looks at the variables of its caller may be called by another name."""
    names = frozenset(HERE.builtins) - {"__builtins__"}
    if index.handed_on(names) or not _FRAME_NAMES.isdisjoint(index.spelled):
        return True
    called = index.called
    if not _FRAME_NAMES.isdisjoint(index.names | index.attributes):
        mentions: list[ast.Name | ast.Attribute] = [*index(ast.Name), *index(ast.Attribute)]
        if any(
            last_name(node) in _FRAME_NAMES and id(node) not in called and isinstance(node.ctx, ast.Load)
            for node in mentions
        ):
            return True
    for node in index(ast.ImportFrom):
        of_module = HERE.paths.get(node.module or "", {})
        for alias in node.names:
            if alias.name in of_module or (alias.name == "*" and of_module):
                return True
            if alias.name in _FRAME_NAMES and alias.asname not in (None, alias.name):
                return True
    return any(
        _takes_unseen(index, module, frozenset(looking), called)
        for module, looking in HERE.paths.items()
        if module in index.words
    ) or ("__builtins__" in index.words and _takes_unseen(index, "__builtins__", names, called))


def _takes_unseen(index: TextIndex, module: str, looking: Set[str], called: Set[int]) -> bool:
    """Whether a text takes one of these functions out of a module other than by a call under its own name, or
    hands the module to other code.
    """
    aliases = index.aliases(module)
    plain: set[int] = set()
    for attribute in index(ast.Attribute):
        name = last_name(attribute.value)
        if name in aliases:
            if attribute.attr in looking and (name != module or id(attribute) not in called):
                return True
            if not attribute.attr.startswith("__") and attribute.attr != "get":
                plain.add(id(attribute.value))
        # `builtins.__dict__.keys()`
        if attribute.attr == "keys" and isinstance(attribute.value, ast.Attribute):
            plain.add(id(attribute.value.value))
    # `builtins.__dict__["_"] = translate`, `mod.__builtins__ = __builtins__`
    for item in index(ast.Subscript):
        if item.ctx.__class__ is ast.Store and isinstance(item.value, ast.Attribute):
            plain.add(id(item.value.value))
    for several in index(ast.Assign):
        if {last_name(target) for target in several.targets} == {"__builtins__"}:
            plain.add(id(several.value))
    for call in index(ast.Call):
        match call:
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, key, *_]):
                if (text_of(key) or "__") not in looking and not (text_of(key) or "__").startswith("__"):
                    plain.add(id(owner))
            case ast.Call(func=ast.Name(id=asking), args=[owner, *_]) if asking in _ASKING:
                plain.add(id(owner))
            case _:
                pass
    mentions: list[ast.Name | ast.Attribute] = [*index(ast.Name), *index(ast.Attribute)]
    bound = {id(value) for _, value in index.bindings}
    if any(
        last_name(mention) in aliases
        and isinstance(mention.ctx, ast.Load)
        and id(mention) not in plain
        and id(mention) not in bound
        for mention in mentions
    ):
        return True
    used = [arg for call in index(ast.Call) for arg in call.args] + [
        node.slice for node in index(ast.Subscript)
    ]
    return any(text_of(value) == module for value in used)


_ASKING: Final = frozenset({"dir", "hasattr", "isinstance", "id", "repr", "type"})
"""Functions that take nothing out of a module."""


# ── patches ──────────────────────────────────────────────────────────────────────────────────────────────

PATCHING: Final = frozenset({"patch", "mock", "mocker", "monkeypatch"})
"""What a text mentions that replaces things for a test, by names in texts and keywords."""
_BY_TEXT: Final = frozenset(
    {"import_module", "__import__", "modules", "getattr", "attrgetter", "resolve_name"}
)
"""What gives a module or an attribute by its name in a text."""
ANY_NAME: Final = "*"
"""Stands for every name."""


def patched_in(index: TextIndex) -> Set[str]:
    """The names that a text may replace by mock or pytest, whatever it calls them.

    `ANY_NAME` is among them if it computes such a name.
    """
    words = index.names | index.attributes | index.imported
    # To read all texts takes longer, and most texts name nothing.
    if PATCHING.isdisjoint(words) and (_BY_TEXT.isdisjoint(words) or PATCHING.isdisjoint(index.spelled)):
        return frozenset()
    names = set(_WORD.findall(" ".join(index.texts)))
    for call in index(ast.Call):
        names.update(word.arg or ANY_NAME for word in call.keywords)
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        named = 1 if last_name(owner or call) == "patch" else None
        # `monkeypatch.setattr(module, name, told)`
        places = {"patch": 0, "object": named, "setattr": 1, "delattr": 1}
        place = places.get(last_name(call.func) or "")
        if place is not None and len(call.args) > place and text_of(call.args[place]) is None:
            names.add(ANY_NAME)
    return names


SETTERS: Final = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})
"""They bind an attribute that their second argument names."""
_REMOVING_KEYS: Final = frozenset({"pop", "popitem", "clear", "__delitem__"})
_REMOVING: Final = _REMOVING_KEYS | {"delattr", "__delattr__"}


def replaced_names(nodes: TextIndex) -> Iterator[str]:
    """The names to which a text may bind something else than its statements show; `ANY_NAME` for any."""
    yield from patched_in(nodes)
    namespaces, insides = _BINDINGS.builtins.keys(), _BINDINGS.words.keys()
    called = nodes.called
    # `put = setattr` hides the calls.
    if any(
        node.id in namespaces or (node.id in SETTERS and id(node) not in called) for node in nodes(ast.Name)
    ) or any(alias.name in namespaces | insides | SETTERS for alias in nodes(ast.alias)):
        yield ANY_NAME
    for node in nodes(ast.Attribute):
        if node.attr in insides or (node.attr in namespaces and last_name(node.value) == "builtins"):
            yield ANY_NAME
        elif not isinstance(node.ctx, ast.Load):
            yield node.attr
    for call in nodes(ast.Call):
        match last_name(call.func), call.args:
            case setter, [_, ast.Constant(value=str(name)), *_] if setter in SETTERS:
                yield name
            case setter, [ast.Name(id="self"), *_] if setter in SETTERS:
                pass
            case setter, _ if setter in SETTERS:
                yield ANY_NAME


def removed_names(nodes: TextIndex) -> Iterator[str]:
    """The globals and attributes that a text deletes, which another look-up may miss; `ANY_NAME` for any."""
    statements = nodes(ast.Delete)
    top = {id(node) for node in own_nodes(nodes.tree.body)} if statements else frozenset[int]()
    shared = {name for node in nodes(ast.Global) for name in node.names}
    for statement in statements:
        for node in (inner for target in statement.targets for inner in ast.walk(target)):
            match node:
                case ast.Attribute(attr=name, ctx=ast.Del()):
                    yield name
                case ast.Name(id=name, ctx=ast.Del()) if id(statement) in top or name in shared:
                    yield name
                case ast.Subscript(value=owner, slice=key, ctx=ast.Del()) if _holds_names(owner):
                    yield text_of(key) or ANY_NAME
    if _REMOVING.isdisjoint(nodes.names | nodes.members | nodes.imported):
        return
    for call in nodes(ast.Call):
        match call.func:
            case ast.Attribute(value=owner, attr=way) if way in _REMOVING_KEYS and _holds_names(owner):
                yield (text_of(call.args[0]) if call.args else None) or ANY_NAME
            case func if last_name(func) in ("delattr", "__delattr__"):
                yield next(filter(None, map(text_of, call.args[-2:])), ANY_NAME)
    # `drop = delattr` hides the calls.
    if any(node.id == "delattr" and id(node) not in nodes.called for node in nodes(ast.Name)):
        yield ANY_NAME


def _holds_names(node: ast.expr) -> bool:
    """Whether an expression is the namespace of a module or an object: `globals()`, `x.__dict__`."""
    named = last_name(node.func if isinstance(node, ast.Call) else node)
    return named in ("globals", "vars", "locals", "__dict__", "__globals__")


# ── names and namespaces ─────────────────────────────────────────────────────────────────────────────────

_BY_NAME: Final = frozenset({"getattr", "hasattr", "setattr", "delattr"})
"""Builtins that take a name as text: harmless if that text is written there."""


def finds_by_name(tree: ast.Module) -> bool:
    """Whether a module may find its functions and classes by their names."""
    index = index_in(tree)
    if _mentioned(index, _DEFINITIONS) or "*" in index.imported_names:
        return True
    told_apart = {
        id(call.func)
        for call in index(ast.Call)
        if last_name(call.func) in _BY_NAME and len(call.args) > 1 and text_of(call.args[1]) is not None
    }
    return any(node.id in _BY_NAME and id(node) not in told_apart for node in index(ast.Name))


_OF_ONE_KEY: Final = frozenset({"get", "pop", "setdefault", "__getitem__", "__setitem__", "__contains__"})
"""Methods of a dict that are about one key."""


def namespaces_in(index: TextIndex, ways: Set[str]) -> Iterator[ast.Name | ast.Attribute | None]:
    """The mentions of these ways to get a namespace that may list it: `vars(x)`, but not `vars(x)["size"]`.

    `None` stands for one in a text, a pattern or an import: `getattr(x, "__dict__")`,
    `"{0.__dict__}".format(x)`, `case object(__dict__=d)`.
    """
    if not ways.isdisjoint(index.spelled | index.patterns | index.imported_names):
        yield None
    if ways.isdisjoint(index.names | index.attributes):
        return
    of_one = {id(node.value) for node in index(ast.Subscript)}
    of_one |= {id(node.value) for node in index(ast.Attribute) if node.attr in _OF_ONE_KEY}
    for test in index(ast.Compare):
        tests = zip(test.ops, test.comparators, strict=True)
        of_one |= {id(right) for op, right in tests if isinstance(op, ast.In | ast.NotIn)}
    calls = {id(call.func): call for call in index(ast.Call)}
    mentions: list[ast.Name | ast.Attribute] = [*index(ast.Name), *index(ast.Attribute)]
    for mention in mentions:
        name = last_name(mention)
        # `self.__dict__ = shared`
        if name in ways and (name == "__dict__" or mention.ctx.__class__ is ast.Load):
            namespace = mention if name == "__dict__" else calls.get(id(mention))
            if namespace is None or id(namespace) not in of_one:
                yield mention


# ── frames and code that are handed on ───────────────────────────────────────────────────────────────────


_ASKING_CODE: Final = frozenset({"getargs", "isinstance", "type"})
"""Functions that get a code object, and give no more than its kind or a signature."""
_PRINTING: Final = frozenset({"extract_stack", "format_stack", "print_stack", "walk_stack", "isinstance"})
"""Functions that get a frame, and read no variables of it."""


def _given_away(
    nodes: TextIndex, is_one: Callable[[ast.AST | None], bool], known: Set[str] = frozenset()
) -> bool:
    """Whether other code may get such an object, and ask it for anything. Calls of `known` functions do not
    count.
    """
    holders = {
        target.id
        for assignment in nodes(ast.Assign)
        if any(map(is_one, _branches(assignment.value)))
        for target in assignment.targets
        if isinstance(target, ast.Name)
    }
    for kind, fields in _GIVING.items():
        for node in nodes(kind):
            if isinstance(node, ast.Call) and last_name(node.func) in known:
                continue
            # A variable that gets the object is a holder.
            named = isinstance(node, ast.Assign) and all(
                isinstance(target, ast.Name) for target in node.targets
            )
            parts = [part for name in fields for part in _listed(getattr(node, name))]
            for branch in chain.from_iterable(map(_branches, parts)):
                if (is_one(branch) and not named) or (isinstance(branch, ast.Name) and branch.id in holders):
                    return True
    return False


def _listed(value: Any) -> Sequence[ast.AST | None]:
    return value if isinstance(value, list) else [value]


def _branches(node: ast.AST | None) -> Iterator[ast.AST | None]:
    """The expressions of which one gives the value: `a` and `b` of `a if test else b`, and of `a or b`."""
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            yield from _branches(body)
            yield from _branches(orelse)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _branches(value)
        case ast.NamedExpr(value=value) | ast.keyword(value=value):
            yield from _branches(value)
        case _:
            yield node


_GIVING: Final[Mapping[type[ast.AST], Sequence[str]]] = {
    ast.Call: ("args", "keywords"), ast.Return: ("value",), ast.Yield: ("value",), ast.Starred: ("value",),
    ast.Assign: ("value",), ast.NamedExpr: ("value",), ast.AnnAssign: ("value",), ast.Lambda: ("body",),
    ast.List: ("elts",), ast.Tuple: ("elts",), ast.Set: ("elts",), ast.Dict: ("values",),
    ast.ListComp: ("elt",), ast.SetComp: ("elt",), ast.GeneratorExp: ("elt",), ast.DictComp: ("value",),
}  # fmt: skip
"""The fields of nodes whose values other code gets, or that are kept where it may find them."""


def _is_frame(node: ast.AST | None) -> bool:
    """Whether an expression gives a frame: `_getframe()`, `tb.tb_frame`, or the function itself."""
    if isinstance(node, ast.Attribute) and node.attr in _FRAME_ATTRIBUTES:
        return True
    if isinstance(node, ast.Call):
        node = node.func
    return isinstance(node, ast.Name | ast.Attribute) and last_name(node) in _FRAMES


def _is_code(node: ast.AST | None) -> bool:
    """Whether an expression gives a code object."""
    return isinstance(node, ast.Attribute) and node.attr in _CODES


_UNRESOLVED: Final[Sequence[tuple[Set[str] | None, Sees, Callable[[TextIndex], bool]]]] = (
    (_FRAMES | _FRAME_ATTRIBUTES, Sees.RUNNING, lambda index: _given_away(index, _is_frame)),
    (_FRAMES | _FRAME_ATTRIBUTES, Sees.LOCALS, lambda index: _given_away(index, _is_frame, _PRINTING)),
    (_CODES, Sees.LOCALS | Sees.BEGINNINGS, lambda index: _given_away(index, _is_code, _ASKING_CODE)),
    (_CODES, Sees.SOURCE, _packs_code),
    (_OF_CLASSES, Sees.BEGINNINGS, _lists_a_class),
    (_SIZES, Sees.LOCALS, _measures_a_generator),
    ({"catch_warnings"}, Sees.RUNNING, _counts_by_line),
    # `warnings.formatwarning = told`
    ({"lineno"}, Sees.RUNNING, lambda index: not _WARNED.isdisjoint(index.words | index.members)),
    (_LOGGED, Sees.FUNCTIONS | Sees.RUNNING, _lists_records),
    (
        _KEEPING,
        Sees.RUNNING | Sees.SOURCE,
        lambda index: _takes_apart(index, frozenset(), _tracebacks(index)),
    ),
    (_COLLECTING | {"recwarn"}, Sees.RUNNING, _shows_warnings),
    ({"pstats"}, Sees.FUNCTIONS | Sees.LINES, _asks_for_statistics),
    (None, Sees.RUNNING, _writes("lineno")),
    (None, Sees.FUNCTIONS, _writes("funcName")),
    (None, Sees.LOCALS, _looks_under_another_name),
    (own_file.NAMING, Sees.SOURCE, own_file.reads_own_file),
    ({"help"}, Sees.SOURCE, lambda index: "help" in index.names and "help" not in index.bound),
    (_NAMING_ERRORS, Sees.LOCALS, _reads_naming_error),
    (None, Sees.DROPS, _cleans_up),
    (None, Sees.SOURCE, _reads_described_text),
)
"""What cannot be followed, such as frames, code objects and builtins that are handed to other code. A row has
words, of which the file must mention one (`None`: it need not), what the use shows, and the question that
decides."""


# ── one function ─────────────────────────────────────────────────────────────────────────────────────────

_SUPER: Final = "super"
"""It reads the first parameter of its caller. A call by this name shows that, a call by another does not."""
_CLASS: Final = "__class__"
"""The variable around a method that `super()` reads too; `nonlocal` lets a method bind it."""
_LOOKING: Final = HERE.words.keys() | {word for word, sees in FILE.words.items() if sees & Sees.LOCALS}
"""Names and attributes by which a function looks at itself, or at all functions of its file."""
_SPEAKING: Final = frozenset(HERE.builtins) - _LISTING
_LOOKING_WORDS: Final = _SPEAKING.union(_LOOKING, _LISTING, [_SUPER, _CLASS], *HERE.paths.values())
"""One of these stands in every text that looks."""
BARRIERS: Final = frozenset({*HERE.builtins, *_FRAMES, "stack"})
"""Calls that see every binding above them."""


def may_look(source: str) -> bool:
    """Whether code of a text may read variables as data. Its tree is not read, and few texts hold a word that
    counts; `looks_at_variables` tells for these.
    """
    words = words_of(source)
    return words is None or not words.isdisjoint(_LOOKING_WORDS)


def looks_at_variables(tree: ast.AST, outer: Set[str] | None = None) -> bool:
    """Whether code in a tree may read variables or constants of the code around it as data.

    `outer` are the names that the tree takes from outside; if it is `None`, any spelling counts, whatever it
    means.
    """
    index = index_in(tree)
    names = index.names
    modules = [module for module in HERE.paths if outer is None or module in index.words]
    ways = _LOOKING.union(*(HERE.paths[module] for module in modules))
    if not (ways.isdisjoint(index.attributes) and (ways | _SPEAKING).isdisjoint(index.spelled)):
        return True
    bare = _bare_names(index)
    if outer is not None:
        names, bare = names & outer, bare & outer
    return bool(bare) or not names.isdisjoint(_SPEAKING | _LOOKING)


def _bare_names(nodes: TextIndex) -> Set[str]:
    """Names of `_LISTING` that are not called with an argument, `_SUPER` if it is not called, and `_CLASS` if
    it is bound.
    """
    called = {
        id(call.func)
        for call in nodes(ast.Call)
        if isinstance(call.func, ast.Name) and (call.args or call.func.id == _SUPER)
    }
    return {
        node.id
        for node in nodes(ast.Name)
        if ((node.id in _LISTING or node.id == _SUPER) and id(node) not in called)
        or (node.id == _CLASS and node.ctx.__class__ is not ast.Load)
    }


# ── texts that libraries evaluate ────────────────────────────────────────────────────────────────────────

EVALUATING: Final = frozenset(
    {"query", "eval", "evaluate", "sql", "sqldf", "dmatrix", "dmatrices", "from_formula", "model_matrix"}
)
"""Functions and methods that evaluate a text with the variables of their caller: of pandas, numexpr, DuckDB,
pandasql, patsy. What they get is a text, wherever it comes from.
"""
NAMING: Final = frozenset(
    {
        "conditional_logit", "conditional_mnlogit", "conditional_poisson", "execute", "filter_on", "gee",
        "glm", "glmgam", "gls", "glsar", "logit", "mixedlm", "mnlogit", "negativebinomial", "nominal_gee",
        "ols", "ordinal_gee", "phreg", "poisson", "probit", "quantreg", "rlm", "wls",
    }
)  # fmt: skip
"""Others of DuckDB and statsmodels. Their names mean something else elsewhere, so only a text that is written
there counts.
"""
_TAKING_TEXTS: Final = EVALUATING | NAMING
_WORD: Final = re.compile(r"\w+")


def named_in_texts(tree: ast.AST, variables: Set[str]) -> frozenset[str]:
    """Those of the variables that a text may name which code in a tree has a library evaluate: `limit` for
    `frame.query("size > @limit")`. All of them, if the text is not written there.
    """
    written = _evaluate(tree)
    if False in written:
        return frozenset(variables)
    words = frozenset(_WORD.findall(" ".join(index_in(tree).texts))) if written else frozenset[str]()
    return words & variables


def has_text_evaluated(tree: ast.AST) -> bool:
    """Whether code in a tree may have a library evaluate a text with its variables."""
    return bool(_evaluate(tree))


def _evaluate(tree: ast.AST) -> frozenset[bool]:
    """Of each call that may evaluate a text, whether the text is written there."""
    mentioned = index_in(tree)
    if mentioned.names.isdisjoint(_TAKING_TEXTS) and mentioned.attributes.isdisjoint(_TAKING_TEXTS):
        return frozenset()
    answers = set[bool]()
    for node in mentioned(ast.Call):
        name = last_name(node.func)
        arguments = (*node.args, *(word.value for word in node.keywords))
        written = any(map(_is_written, arguments))
        if (name in EVALUATING and arguments) or (name in NAMING and written):
            answers.add(written)
    return frozenset(answers)


def _is_written(node: ast.expr) -> bool:
    """Whether an expression is a text with nothing but values put in: `f"size > {limit}"`."""
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.BinOp(left=left, op=ast.Mod()):
            return _is_written(left)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _is_written(left) and _is_written(right)
        case ast.Call(func=ast.Attribute(value=text, attr="format")):
            return _is_written(text)
        case _:
            return False


# ── keywords of calls ────────────────────────────────────────────────────────────────────────────────────


_KEYWORD: Final = re.compile(r"[(,]\s*(?:(\w+)\s*=(?!=)|\*\*[\w{(])")
"""A keyword of a call in a text; an empty one for `**options`."""


_RUNNING: Final = frozenset(
    {"eval", "exec", "compile", "timeit", "runsource", "runcode", "runctx", "doctest"}
)
"""What runs a text that may call a function by another name than its own."""


@lru_cache(maxsize=64)
def passed_by_keyword(file: str, function: str) -> Set[str] | None:
    """The names of arguments that calls of a function with this name may give in a file; `None`: any.

    A text is read like code: `eval("f(size=1)")`, `>>> f(size=1)`.

    A file that mentions the function other than by a call may call it by any of its keywords; so may one
    whose method of this name Python itself calls, such as `__init__`.
    """
    keywords = fact(file, f"keywords {function}", lambda: _passed_by_keyword(file, function))
    return None if keywords is None else frozenset(keywords)


def _passed_by_keyword(file: str, function: str) -> Sequence[str] | None:
    try:
        index = index_of(file)
    except SourceError:
        return None
    calls = every = index(ast.Call)
    if not (function.startswith("__") or function in index.imported_names or function in index.spelled):
        mentions = {id(node) for node in index(ast.Name) if node.id == function}
        mentions |= {id(node) for node in index(ast.Attribute) if node.attr == function}
        direct = [call for call in calls if id(call.func) in mentions]
        calls = direct if len(direct) == len(mentions) else calls
    words = {word.arg for call in calls for word in call.keywords}
    # Texts that run, and the examples of docstrings.
    written = (node.value for node in index(ast.Constant) if isinstance(node.value, str))
    own_call = re.compile(rf"(?<!\w){re.escape(function)}\s*\(")
    runs = calls is every and not _RUNNING.isdisjoint(index.words)
    for text in {*written, *index.texts}:
        if "(" in text and (runs or own_call.search(text) or (calls is every and ">>>" in text)):
            words.update(word or None for word in _KEYWORD.findall(text))
    # `partial(f, **options)`, `f(**options)`
    return None if None in words else [word for word in words if word is not None]
