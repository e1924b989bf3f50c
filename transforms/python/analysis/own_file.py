"""Whether a file reads its own text, as data.

The path of the file is followed through variables, attributes, parameters and results of functions of the
file, through what makes another path of it (`Path(__file__).resolve()`), and through a listing of its folder
(`Path(__file__).parent.glob("*.py")`). Two variables with one name count as one, even in two functions.

Not seen: a path that another file gives back, and a listing of a folder below or beside the own one.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Final

from codeaudit.transforms.python.analysis.facts import own_nodes
from codeaudit.transforms.python.analysis.index import TextIndex, text_of
from codeaudit.transforms.python.parsing import FunctionNode, last_name

_PLACES: Final = frozenset({"__file__", "co_filename", "getsourcefile", "getfile"})
"""What gives the path of a file."""
_ARGUMENTS: Final = "argv"
"""The first of them is the path of the script."""
_SPECIFIED: Final = frozenset({("__spec__", "origin"), ("__loader__", "path")})
"""Attributes that are the path of the file."""
NAMING: Final = _PLACES | {_ARGUMENTS, "__spec__", "__loader__"}
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
_LISTING: Final = frozenset({"glob", "iglob", "rglob", "iterdir", "listdir", "scandir", "walk"})
_ORDERING: Final = frozenset({"sorted", "list", "tuple", "set", "reversed", "enumerate"})
_OTHER_FILES: Final = re.compile(r"\.(?!pyw?$)\w+$")
"""The end of a pattern that no file of Python matches."""


def reads_own_file(index: TextIndex) -> bool:
    """Whether a file may open itself, ask for its size, or have a program do so."""
    if index.words.isdisjoint(NAMING):
        return False
    paths = _Paths(index)
    return any(map(paths.are_read_by, index(ast.Call)))


class _Paths:
    """The names that may hold a path of the file, a folder around it, or a listing of that."""

    def __init__(self, index: TextIndex) -> None:
        self.files: set[str] = set()
        self.folders: set[str] = set()
        self.listings: set[str] = set()
        self.imported: Final = {
            alias.asname: alias.name for node in index(ast.ImportFrom) for alias in node.names if alias.asname
        }
        self.starts: Final = not index.imported.isdisjoint(_STARTERS)
        self.packs: Final = not index.imported.isdisjoint(_ARCHIVES)
        functions = {function.name: function for function in index.functions}
        for kind in index(ast.ClassDef):
            for part in kind.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    functions[kind.name] = part
        self.functions: Final = functions.keys()
        loops = index.loops
        unpacked = [
            (target, several.value)
            for several in index(ast.Assign)
            for target in several.targets
            if isinstance(target, ast.Tuple | ast.List)
        ]
        by_name: dict[str, list[ast.expr]] = {}
        for name, value in (*index.bindings, *_passed(index, functions), *_returned(index.functions)):
            by_name.setdefault(name, []).append(value)
        # A path that is asked for, mostly of another file, is not followed.
        self._flowing = True
        size = -1
        while size < (size := len(self.files) + len(self.folders) + len(self.listings)):
            for name, values in by_name.items():
                self._note(name, values)
            for target, value in unpacked:
                if self.is_listing(value):
                    parts = {first for part in target.elts if (first := last_name(part))}
                    self.files |= parts
                    self.folders |= parts
            for loop in loops:
                if self.is_listing(loop.iter):
                    names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
                    self.files |= names
                    # `for folder, folders, names in os.walk(path)`
                    self.listings |= names if isinstance(loop.target, ast.Tuple) else set()
        self._flowing = False

    def _note(self, name: str, values: Sequence[ast.expr]) -> None:
        if any(map(self.is_file, values)):
            self.files.add(name)
        # `path = os.path.join(path, "scripts")` is another folder.
        if all(map(self.is_folder, values)):
            self.folders.add(name)
        if any(map(self.is_listing, values)):
            self.listings.add(name)

    @property
    def _places(self) -> Set[str]:
        return {"__file__"} if self._flowing else _PLACES

    def _named(self, node: ast.expr) -> str | None:
        """What an expression is called where it comes from: `open` after `from io import open as read`."""
        name = last_name(node)
        return self.imported.get(name, name) if name else None

    def is_file(self, node: ast.expr) -> bool:
        """Whether an expression may be the path of the file, or end with its name."""
        match node:
            case ast.Subscript(value=value):
                return self.is_listing(value)
            case ast.Attribute(value=owner, attr=name) if (last_name(owner), name) in _SPECIFIED:
                return True
            case ast.Attribute(value=value, attr="name"):
                return self.is_file(value)
            case ast.Attribute(value=owner, attr="__file__"):
                # That of `sys.modules[__name__]`, and not of a module that is imported.
                return not self._flowing or isinstance(owner, ast.Subscript)
            case ast.Name() | ast.Attribute():
                return last_name(node) in self._places | self.files
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args):
                if name in _JOINING:
                    return bool(args) and self.is_file(args[-1])
                if name in _ENDING and any(_OTHER_FILES.search(text_of(part) or "") for part in args[-1:]):
                    return False
                return (name in _SAME | _ENDING and self.is_file(owner)) or self._is_made(name, args)
            case ast.Call(func=function, args=args):
                return self._is_made(self._named(function), args)
            case ast.BinOp(op=ast.Div() | ast.Add() | ast.Mod(), right=right):
                return self.is_file(right) or (
                    isinstance(right, ast.Tuple) and any(map(self.is_file, right.elts))
                )
            case ast.JoinedStr(values=[*_, ast.FormattedValue(value=last)]):
                return self.is_file(last)
            case ast.IfExp(body=one, orelse=other):
                return self.is_file(one) or self.is_file(other)
            case ast.BoolOp(values=values):
                return any(map(self.is_file, values))
            case ast.NamedExpr(value=value):
                return self.is_file(value)
            case _:
                return False

    def _is_made(self, name: str | None, args: Sequence[ast.expr]) -> bool:
        return name in self._places | self.files or (name in _SAME and bool(args) and self.is_file(args[-1]))

    def _is_script(self, node: ast.expr) -> bool:
        """Whether an expression is `sys.argv[0]`. It mostly goes into messages, so it is not followed."""
        match node:
            case ast.Subscript(value=value, slice=ast.Constant(value=0)):
                return self._named(value) == _ARGUMENTS
            case _:
                return False

    def is_folder(self, node: ast.expr) -> bool:
        """Whether an expression may be a folder around the file."""
        match node:
            case ast.Attribute(value=value, attr="parent"):
                return self.is_file(value) or self.is_folder(value)
            case ast.Subscript(value=ast.Attribute(value=value, attr="parents")):
                return self.is_file(value) or self.is_folder(value)
            case ast.Name() | ast.Attribute():
                return last_name(node) in self.folders
            case ast.Call(func=function, args=[place]) if self._named(function) == "dirname":
                return self.is_file(place) or self.is_folder(place)
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _SAME and self.is_folder(
                owner
            ):
                return True
            case ast.Call(func=function, args=[place, *_]) if self._named(function) in _SAME:
                return self.is_folder(place)
            case _:
                return False

    def is_listing(self, node: ast.expr) -> bool:
        """Whether an expression may list the folder of the file."""
        match node:
            case ast.Name() | ast.Attribute():
                return last_name(node) in self.listings
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
                return any(map(self.is_file, parts))
            case ast.Call(func=function, args=[place]) if self._named(function) == "split":
                return self.is_file(place)
            case ast.BoolOp(values=parts):
                return any(map(self.is_listing, parts))
            case ast.IfExp(body=one, orelse=other):
                return self.is_listing(one) or self.is_listing(other)
            case ast.Call(func=function, args=args) if self._named(function) in _ORDERING:
                return any(map(self.is_listing, args))
            case ast.Call(func=function, args=args) if self._named(function) in _LISTING:
                parts = [part for arg in args for part in (arg, *getattr(arg, "args", ()))]
                if any(_OTHER_FILES.search(text_of(part) or "") for part in parts):
                    return False
                owner = [function.value] if isinstance(function, ast.Attribute) else []
                return any(map(self.is_folder, (*owner, *parts)))
            case _:
                return False

    def are_read_by(self, call: ast.Call) -> bool:
        """Whether a call may read the file."""
        name = self._named(call.func)
        parts = [*call.args, *(word.value for word in call.keywords)]
        for part in tuple(parts):
            parts += part.elts if isinstance(part, ast.List | ast.Tuple) else ()
        if name in _OPENING:
            owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            inner = [part for place in (*owner, *parts) for part in (place, *getattr(place, "args", ()))]
            return any(map(self.is_file, (*owner, *parts))) or any(map(self._is_script, inner))
        if name in _PACKING and self.packs and any(map(self.is_file, parts)):
            return True
        if name in _STARTING and self.starts and any(map(self.is_file, parts)):
            # Python runs the file again; `-c` and `-m` may read it.
            again = any(last_name(part) == "executable" for part in parts)
            return not again or not {"-c", "-m"}.isdisjoint(map(text_of, parts))
        if name in _DIRECT and any(last_name(getattr(part, "func", part)) in _PLACES for part in parts):
            return True
        # `load(__file__, "rates.csv")` reads another file.
        if any(_OTHER_FILES.search(text_of(part) or "") for part in parts):
            return False
        # Nobody knows what another function does with the path: `partial(read, __file__)`.
        harmless = _QUIET | _SAME | _ENDING | _JOINING | _STARTING | self.functions
        return name not in harmless and any(map(_is_written, parts))


def _passed(index: TextIndex, functions: Mapping[str, FunctionNode]) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of these functions, with what calls and defaults give them."""
    for arguments in [node.args for node in (*functions.values(), *index(ast.Lambda))]:
        named = [*arguments.posonlyargs, *arguments.args]
        behind = named[len(named) - len(arguments.defaults) :]
        pairs = (
            *zip(behind, arguments.defaults, strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        )
        yield from ((parameter.arg, value) for parameter, value in pairs if value is not None)
    for call in index(ast.Call):
        if (target := functions.get(last_name(call.func) or "")) is None:
            continue
        names = [parameter.arg for parameter in (*target.args.posonlyargs, *target.args.args)]
        yield from zip(names[1:] if names[:1] in (["self"], ["cls"]) else names, call.args, strict=False)
        yield from ((word.arg, word.value) for word in call.keywords if word.arg)


def _returned(functions: Sequence[FunctionNode]) -> Iterator[tuple[str, ast.expr]]:
    """The names of functions, with what they return."""
    for function in functions:
        for node in own_nodes(function.body):
            if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
                yield function.name, node.value


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
