"""Whether a text reads line numbers: of frames, tracebacks, code objects, log records and caught warnings.

pyparsing takes the line of one statement from its own stack and compares it with that of a caught traceback.
Which code such a reader describes cannot be told, so in its whole file nothing that it may describe changes
its line, and no line is added or removed. Where the text of lines is read, no rule edits it. Names in
comments and docstrings mention nothing.

Not counted: a traceback or a warning that is printed (`print_exc`, `warn(stacklevel=2)`). Its position goes
into a text for people, which is assumed to be read by no program (assumption 5 of `effects`).
"""

import ast
import re
from collections.abc import Iterator, Mapping
from enum import IntEnum
from functools import lru_cache
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.parsing import file_tree, last_name
from codeaudit.transforms.python.walking import below

POSITIONS_READ: Final = "the file reads line numbers"
"""The reason to leave statements on their lines."""
SOURCE_READ: Final = "the file reads source text"
"""The reason to leave all text as it is."""


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


_WAYS: Final[Mapping[LinesRead, str]] = {
    LinesRead.BEGINNINGS: "co_firstlineno",
    LinesRead.RUNNING: """
        f_lineno f_lasti tb_lineno tb_lasti extract_stack extract_tb walk_stack walk_tb StackSummary
        FrameSummary TracebackException getframeinfo getouterframes getinnerframes
    """,
    LinesRead.ALL: """
        co_lnotab co_linetable co_lines co_positions findlinestarts get_instructions settrace
        settrace_all_threads
    """,
    LinesRead.TEXT: "getsource getsourcelines findsource getblock getcomments getline getlines",
}
READERS: Final[Mapping[str, LinesRead]] = {
    name: lines for lines, names in _WAYS.items() for name in names.split()
}
"""Names of functions and attributes that give line numbers, each with whose lines these are."""
_LINECACHE: Final = frozenset({"getline", "getlines"})
"""Readers only in a text that mentions the module `linecache`."""
_OF_MODULES: Final[Mapping[str, frozenset[str]]] = {
    "inspect": frozenset({"stack", "trace"}),
    "sys": frozenset({"monitoring"}),
}
"""Readers whose names mean something else elsewhere."""
_FRAMES: Final = frozenset({"currentframe", "_getframe"})
"""They give a frame. If only attributes of it are asked for, these tell what is read."""
_LINE: Final = "lineno"
"""An attribute of what a file catches or formats, and of much else: syntax trees, tokens, options."""
_WITH_LINE: Final = frozenset({"catch_warnings", "showwarning", "LogRecord", "makeRecord", "recwarn"})
"""Where one of these is mentioned, `lineno` may be the line of a statement."""
_FORMAT: Final = re.compile(r"%\(lineno\)|\$\{?lineno\b|\{lineno\b")
"""A field of a format of `logging`."""
_LOGGING: Final = frozenset({"logging", "Formatter", "formatters", "dictConfig", "basicConfig"})
_FIELD: Final = re.compile(r"\{[^{}]*?\.(\w+)[^{}]*\}")
"""An attribute in a field of `format`: `"{0.tb_lineno}"`."""
_PATH: Final = re.compile(r"[A-Za-z_][\w.]*")
_HINT: Final = re.compile(
    "|".join((*READERS, *_FRAMES, *(name for names in _OF_MODULES.values() for name in names), _LINE))
)
"""One of these words stands in every text that reads line numbers."""


@lru_cache(maxsize=64)
def lines_read(text: str) -> LinesRead:
    """Whose lines code of this text may read. Their text, if this one holds one of the words and cannot
    be read.
    """
    if not _HINT.search(text):
        return LinesRead.NONE
    try:
        return _lines_read(below(file_tree(text)))
    except SourceError:
        return LinesRead.TEXT


def _lines_read(nodes: list[ast.AST]) -> LinesRead:
    # A text that stands alone, such as a docstring, mentions nothing.
    bare = {id(one.value) for one in nodes if isinstance(one, ast.Expr)} & {
        id(one) for one in nodes if isinstance(one, ast.Constant)
    }
    mentioned = {name for one in nodes if id(one) not in bare for name in _names(one)}
    if "linecache" not in mentioned:
        mentioned -= _LINECACHE
    found = max((READERS[name] for name in mentioned & READERS.keys()), default=LinesRead.NONE)
    texts = (one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str))
    running = (
        (_LINE in mentioned and not mentioned.isdisjoint(_WITH_LINE))
        or (not mentioned.isdisjoint(_LOGGING) and any(map(_FORMAT.search, texts)))
        or _asks_module(nodes)
        or (not mentioned.isdisjoint(_FRAMES) and _gives_frames_away(nodes))
    )
    return max(found, LinesRead.RUNNING) if running else found


def _names(node: ast.AST) -> Iterator[str]:
    """The names that one node mentions."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            for alias in aliases:
                yield from alias.name.split(".")
            if isinstance(node, ast.ImportFrom) and node.module:
                yield from node.module.split(".")
        case ast.Constant(value=str(text)):
            # `getattr(frame, "f_lineno")`, `attrgetter("tb_frame.f_lineno")`
            if _PATH.fullmatch(text):
                yield from text.split(".")
            yield from _FIELD.findall(text)
        case ast.MatchClass(kwd_attrs=names):
            yield from names
        case _:
            pass


def _asks_module(nodes: list[ast.AST]) -> bool:
    """Whether a module is asked for one of its readers: `inspect.stack()`, `from inspect import stack`."""
    named = dict(_OF_MODULES)
    for node in nodes:
        match node:
            case ast.ImportFrom(module=str(module), names=aliases) if module in _OF_MODULES:
                if any(alias.name in {*_OF_MODULES[module], "*"} for alias in aliases):
                    return True
            case ast.Import(names=aliases):
                given = {alias.asname or alias.name: alias.name for alias in aliases}
                named |= {own: _OF_MODULES[module] for own, module in given.items() if module in _OF_MODULES}
            case _:
                pass
    return any(name in named.get(owner or "", ()) for owner, name in _asked(nodes))


def _asked(nodes: list[ast.AST]) -> Iterator[tuple[str | None, object]]:
    """The attributes that a text reads, each with the last name of its owner."""
    for node in nodes:
        match node:
            case ast.Attribute(value=owner, attr=name):
                yield last_name(owner), name
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=name), *_]):
                yield last_name(owner), name
            case _:
                pass


def _gives_frames_away(nodes: list[ast.AST]) -> bool:
    """Whether other code may get a frame, and ask it for its line."""
    holders = {
        target.id
        for one in nodes
        if isinstance(one, ast.Assign) and _is_frame(one.value)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    return any(
        _is_frame(given) or (isinstance(given, ast.Name) and given.id in holders | _FRAMES)
        for one in nodes
        for given in _given(one)
    )


def _given(node: ast.AST) -> Iterator[ast.expr | None]:
    """The expressions whose values a node hands to other code, or keeps where other code may find them."""
    match node:
        case ast.Call(args=args, keywords=keywords):
            yield from args
            yield from (one.value for one in keywords)
        case ast.Return(value=value) | ast.Yield(value=value) | ast.Starred(value=value):
            yield value
        case ast.Assign(targets=targets, value=value):
            if not all(isinstance(target, ast.Name) for target in targets) or not _is_frame(value):
                yield value
        case ast.Lambda(body=value) | ast.NamedExpr(value=value) | ast.AnnAssign(value=value):
            yield value
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items) | ast.Dict(values=items):
            yield from items
        case ast.BoolOp(values=items):
            yield from items
        case ast.IfExp(body=then, orelse=otherwise):
            yield from (then, otherwise)
        case _:
            pass


def _is_frame(node: ast.AST | None) -> bool:
    """Whether an expression gives a frame: a call of `_getframe`, `f_back` of it, or the function itself."""
    while isinstance(node, ast.Attribute) and node.attr in ("f_back", "tb_frame"):
        node = node.value
    if isinstance(node, ast.Call):
        node = node.func
    return isinstance(node, ast.Name | ast.Attribute) and not _FRAMES.isdisjoint(_names(node))
