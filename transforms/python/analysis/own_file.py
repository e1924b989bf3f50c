"""Whether a file reads its own text, as data, or runs itself as another program.

What an expression may hold is followed through variables, attributes, parameters and results of functions of
the file, through what makes another path of it (`Path(__file__).resolve()`), and through listings of its
folder and of the current one (`Path(__file__).parent.glob("*.py")`). Two variables with one name count as
one, even in two functions.

Not seen: a path that another file gives back, and a listing of a folder below or beside the own one.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import reduce
from operator import or_
from typing import Final

from codeaudit.transforms.python.analysis.index import TextIndex, text_of
from codeaudit.transforms.python.parsing import last_name

_PLACES: Final = frozenset({"__file__", "co_filename", "getsourcefile", "getfile", "get_filename"})
"""What gives the path of a file."""
_ARGUMENTS: Final = "argv"
"""The first of them is the path of the script."""
_SPECIFIED: Final = frozenset({("__spec__", "origin"), ("__loader__", "path"), ("loader", "path")})
"""Attributes that are the path of the file: `__spec__.loader.path`."""
_LISTING: Final = frozenset({"glob", "iglob", "rglob", "iterdir", "listdir", "scandir", "walk"})
NAMING: Final = _PLACES | _LISTING | {_ARGUMENTS, "__spec__", "__loader__"}
"""One of these stands in every text that reads itself."""
_PACKING: Final = frozenset({"write", "add"})
"""Methods of archives that read a file."""
_ARCHIVES: Final = frozenset({"zipfile", "tarfile"})
_OPENING: Final = frozenset({
    "open", "open_code", "get_data", "FileInput", "FileIO", "stat", "getsize", "cmp", "copy", "copy2",
    "copyfile", "updatecache", "read_text", "read_bytes", "lstat",
})  # fmt: skip
"""What gets the text of a file, or its size: `filecmp.cmp`, `Path.read_text`."""
_STARTING: Final = frozenset({
    "run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput", "system", "popen",
    "create_subprocess_exec", "create_subprocess_shell",
})  # fmt: skip
"""What starts a program, which may read the files that its command names."""
_DIRECT: Final = frozenset({"input", "compile", "write", "add"})
"""What reads a file, if it gets its path at that place; others of these names get no path."""
HINTS: Final[Sequence[tuple[Set[str], Set[str]]]] = (
    (NAMING, _OPENING | _STARTING | _ARCHIVES | {"__file__"}),
    (_PLACES, _DIRECT),
)
"""Of one of these pairs, a word of each side stands in every text that reads itself."""
_QUIET: Final = frozenset({
    "append", "chdir", "commonpath", "critical", "debug", "dirname", "endswith", "error", "execl", "execlp",
    "execv", "execvp", "exists", "format", "getLogger", "getmtime", "info", "insert", "is_dir", "is_file",
    "isdir", "isfile", "isinstance", "islink", "len", "log", "main", "match", "print", "repr", "run_module",
    "run_path", "samefile", "spec_from_file_location", "split", "splitext", "startswith", "warning", "write",
})  # fmt: skip
"""Functions that read no file whose path they get, or run it as it is."""
_STARTERS: Final = frozenset({"subprocess", "os", "asyncio"})
_SAME: Final = frozenset({
    "Path", "PurePath", "PosixPath", "WindowsPath", "str", "fspath", "abspath", "realpath", "normpath",
    "relpath", "expanduser", "basename", "resolve", "absolute", "as_posix", "relative_to", "rstrip",
})  # fmt: skip
"""Functions and methods that make a path of the same file, or its name."""
_ENDING: Final = frozenset({"with_suffix", "replace"})
"""Methods that may change the end of a path: `__file__.replace(".pyc", ".py")`."""
_JOINING: Final = frozenset({"join", "joinpath"})
_ORDERING: Final = frozenset({"sorted", "list", "tuple", "set", "reversed", "enumerate"})
_OTHER_FILES: Final = re.compile(r"\.(?!pyw?$)\w+$")
"""The end of a pattern that no file of Python matches."""
_WORKING: Final = frozenset({"curdir", "getcwd", "cwd"})
"""What gives the current folder, which may be that of the file."""
_BESIDE: Final = re.compile(r"(?:\./|\*\*/)*[^/]*[*?\[][^/]*")
"""A pattern of files in the current folder, or below it."""


def reads_own_file(index: TextIndex) -> bool:
    """Whether a file may open itself, ask for its size, or have a program do so."""
    # In most texts no call says that it reads.
    imported = {alias.asname for alias in index(ast.alias) if alias.asname}
    named = imported | _OPENING | _STARTING | _PACKING | _DIRECT
    calls = [call for call in index(ast.Call) if last_name(call.func) in named or "__file__" in index.names]
    paths = _Paths(index) if calls else None
    return paths is not None and any(map(paths.are_read_by, calls))


def runs_itself(index: TextIndex) -> bool:
    """Whether a file may have Python run it again, as another program."""
    if index.words.isdisjoint(_PLACES | {_ARGUMENTS}) or "executable" not in index.words:
        return False
    paths = _Paths(index)
    return any(map(paths.are_run_by, index(ast.Call)))


class _Holds:
    """What an expression may hold: a sum of these. An enumeration would take half of the time here."""

    NOTHING: Final = 0
    FILE: Final = 1
    """The path of the file, or its name."""
    ASKED: Final = 2
    """A path that is asked for, mostly of another file. It is not followed."""
    SCRIPT: Final = 4
    """`sys.argv[0]`, which mostly goes into messages."""
    FOLDER: Final = 8
    """A folder around the file."""
    LISTING: Final = 16
    """Several paths, of which one may be that of the file."""
    ARGUMENTS: Final = 32
    """`sys.argv`."""


_OF_FILE: Final = _Holds.FILE | _Holds.ASKED
_PATH: Final = _OF_FILE | _Holds.SCRIPT
_AROUND: Final = _Holds.FILE | _Holds.FOLDER


class _Paths:
    """What the names of a text may hold of these."""

    def __init__(self, index: TextIndex) -> None:
        self.imported: Final = {
            alias.asname: alias.name for node in index(ast.ImportFrom) for alias in node.names if alias.asname
        }
        self.starts: Final = not index.imported.isdisjoint(_STARTERS)
        self.packs: Final = not index.imported.isdisjoint(_ARCHIVES)
        self.written: Final = "__file__" in index.names
        self.patterns: Final = index.aliases("glob")
        self.harmless: Final = _QUIET | _SAME | _ENDING | _JOINING | _STARTING | index.run_by_calls.keys()
        """What does not read a path that it is given."""
        by_name: dict[str, list[ast.expr]] = {}
        for name, value in (*index.bindings, *index.items, *index.passed, *_returned(index)):
            by_name.setdefault(name, []).append(value)
        self._held: dict[str, int] = {}
        grows = True
        while grows:
            grows = False
            for name, values in by_name.items():
                parts = list(map(self.of, values))
                before = self._held.get(name, _Holds.NOTHING)
                holds = before | reduce(or_, parts) & ~_Holds.ASKED
                # `path = os.path.join(path, "scripts")` is another folder.
                if not all(part & _Holds.FOLDER for part in parts):
                    holds = before | holds & ~_Holds.FOLDER
                if holds != before:
                    self._held[name], grows = holds, True

    def of(self, node: ast.expr) -> int:
        """What an expression may hold."""
        match node:
            case ast.Name():
                return self._of_name(self._named(node))
            case ast.Constant(value=value):
                return _Holds.FOLDER if value == "." else _Holds.NOTHING
            case ast.Call(func=function, args=args):
                return self._of_call(function, args)
            case ast.Attribute(value=owner, attr=name):
                return self._of_attribute(node, owner, name)
            case ast.Subscript(value=value, slice=key):
                return _of_item(self.of(value), key)
            case ast.BinOp(op=ast.Div() | ast.Add() | ast.Mod(), right=right):
                # `".%s.py" % name` has the name of the script in it, and is another file.
                return self._any(right.elts if isinstance(right, ast.Tuple) else [right]) & _OF_FILE
            case ast.JoinedStr(values=[*_, ast.FormattedValue(value=last)]):
                return self.of(last) & _OF_FILE
            case ast.IfExp(body=one, orelse=other):
                return self.of(one) | self.of(other)
            case ast.BoolOp(values=values):
                return self._any(values)
            case ast.NamedExpr(value=value):
                return self.of(value)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
                return _Holds.LISTING if self._any(parts) & _OF_FILE else _Holds.NOTHING
            case _:
                return _Holds.NOTHING

    def _of_attribute(self, node: ast.Attribute, owner: ast.expr, name: str) -> int:
        """What an attribute of this name may hold."""
        if (last_name(owner), name) in _SPECIFIED:
            return _Holds.FILE
        if name == "name":
            return self.of(owner) & _PATH
        if name in ("parent", "parents"):
            return _Holds.FOLDER if self.of(owner) & _AROUND else _Holds.NOTHING
        if name == "__file__":
            # That of `sys.modules[__name__]`, and not of a module that is imported.
            own = isinstance(owner, ast.Subscript) or last_name(owner) == "__main__"
            return _Holds.FILE if own else _Holds.ASKED
        return self._of_name(self._named(node))

    def _any(self, nodes: Iterable[ast.expr]) -> int:
        return reduce(or_, map(self.of, nodes), _Holds.NOTHING)

    def _named(self, node: ast.expr) -> str:
        """What an expression is called where it comes from: `open` after `from io import open as read`."""
        name = last_name(node) or ""
        return self.imported.get(name, name)

    def _of_name(self, name: str) -> int:
        holds = self._held.get(name, _Holds.NOTHING)
        if name == "__file__":
            return holds | _Holds.FILE
        if name in _PLACES:
            return holds | _Holds.ASKED
        if name in _WORKING:
            return holds | _Holds.FOLDER
        return holds | _Holds.ARGUMENTS if name == _ARGUMENTS else holds

    def _of_call(self, function: ast.expr, args: Sequence[ast.expr]) -> int:
        """What a call gives."""
        name = self._named(function)
        owner = [function.value] if isinstance(function, ast.Attribute) else []
        if name in _JOINING and owner:
            return self._any(args[-1:]) & _PATH
        if name in _ENDING and owner:
            return _Holds.NOTHING if _names_others(args[-1:]) else self._any(owner) & _PATH
        if name == "dirname":
            return _Holds.FOLDER if self._any(args) & _AROUND else _Holds.NOTHING
        if name == "split" and len(args) == 1:
            return _Holds.LISTING if self._any(args) & _Holds.FILE else _Holds.NOTHING
        if name in _ORDERING:
            return self._any(args) & (_Holds.LISTING | _Holds.ARGUMENTS)
        if name in _LISTING:
            parts = [part for arg in args for part in (arg, *getattr(arg, "args", ()))]
            if _names_others(parts):
                return _Holds.NOTHING
            # `os.listdir()`, `glob.glob("*.py")`
            here = name in ("listdir", "scandir") and not args
            if name in ("glob", "iglob") and (not owner or last_name(owner[0]) in self.patterns):
                here = any(_BESIDE.fullmatch(text_of(part) or "") for part in args[:1])
            return _Holds.LISTING if here or self._any([*owner, *parts]) & _Holds.FOLDER else _Holds.NOTHING
        if name in _SAME:
            if name == "Path" and not args:
                return _Holds.FOLDER
            return (
                self._any(args[-1:]) & _PATH
                | self._any(args[:1]) & _Holds.FOLDER
                | self._any(owner) & (_PATH | _Holds.FOLDER)
            )
        return self._of_name(name)

    def are_read_by(self, call: ast.Call) -> bool:
        """Whether a call may read the file."""
        name = self._named(call.func)
        if name in _OPENING:
            owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            return bool(self._any([*owner, *_parts(call)]) & _PATH)
        if name in _PACKING and self.packs and self._any(_parts(call)) & _PATH:
            return True
        if name in _STARTING and self.starts and self._any(_parts(call)) & _OF_FILE:
            # `-c` and `-m` may read it.
            return not self.are_run_by(call) or not {"-c", "-m"}.isdisjoint(map(text_of, _parts(call)))
        if name in _DIRECT and any(
            last_name(getattr(part, "func", part)) in _PLACES for part in _parts(call)
        ):
            return True
        # Nobody knows what another function does with the path: `partial(read, __file__)`. But
        # `load(__file__, "rates.csv")` reads another file.
        if not self.written or name in self.harmless:
            return False
        parts = _parts(call)
        return any(map(_is_written, parts)) and not _names_others(parts)

    def are_run_by(self, call: ast.Call) -> bool:
        """Whether a call has Python run the file again."""
        if self._named(call.func) not in _STARTING or not self.starts:
            return False
        parts = _parts(call)
        return any(last_name(part) == "executable" for part in parts) and bool(self._any(parts) & _PATH)


def _of_item(holds: int, key: ast.expr) -> int:
    """What an item holds; a slice of all counts as one."""
    items = holds & _Holds.FOLDER
    if holds & _Holds.LISTING:
        items |= _AROUND | _Holds.LISTING
    if holds & _Holds.ARGUMENTS:
        match key:
            case ast.Constant(value=0):
                items |= _Holds.SCRIPT
            case ast.Slice(lower=None | ast.Constant(value=0)):
                items |= _Holds.SCRIPT | _Holds.ARGUMENTS
            case _:
                pass
    return items


def _names_others(parts: Sequence[ast.expr]) -> bool:
    """Whether one of these texts ends like the name of a file that is none of Python."""
    return any(_OTHER_FILES.search(text_of(part) or "") for part in parts)


def _parts(call: ast.Call) -> Sequence[ast.expr]:
    """The arguments of a call, and the items of those that are displays."""
    parts = [*call.args, *(word.value for word in call.keywords)]
    return [*parts, *(item for part in parts if isinstance(part, ast.List | ast.Tuple) for item in part.elts)]


def _returned(index: TextIndex) -> Iterator[tuple[str, ast.expr]]:
    """The names of functions, with what they return."""
    for function in index.functions:
        given = index.own(function, ast.Return, ast.Yield)
        yield from ((function.name, node.value) for node in given if node.value is not None)


def _is_written(node: ast.expr) -> bool:
    """Whether an expression is the path of this very file, without a variable: `Path(__file__)`."""
    match node:
        case ast.Name(id=name):
            return name == "__file__"
        case ast.Call(func=ast.Attribute(value=owner, attr="resolve" | "absolute" | "as_posix")):
            return _is_written(owner)
        case ast.Call(func=function, args=[place]) if last_name(function) in _SAME - {"basename"}:
            return _is_written(place)
        case _:
            return False
