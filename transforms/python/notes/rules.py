"""Notes are removed or inserted: docstrings and annotations.

Some notes no outside code can see: annotations of locals, and docstrings of inner functions. The docstring
and the annotations of an outermost function could be read by its callers. The meaning is kept for callers
that read neither. Assumed: the annotations of a function that was defined once were evaluated without an
exception, and looking up their names, attributes and subscripts only computes.
"""

import ast
from bisect import bisect_left
from collections.abc import Iterator, Set
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.analysis.facts import own_nodes
from codeaudit.transforms.python.analysis.index import index_of
from codeaudit.transforms.python.layout.lexemes import comment_inside, docstring, solid
from codeaudit.transforms.python.parsing import FunctionNode, parameter_names, parameter_nodes
from codeaudit.transforms.python.rewriting import PythonRule, edit
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import SHARED, block_of, continued, line_start, reflects

COMMENT: Final = "comment between"
NEXT_IS_TEXT: Final = "next statement would become the docstring"
NOT_LOCAL: Final = "annotation outside of a function is kept for readers"
REFLECTION: Final = "reflection on names"
ONLY_BINDING: Final = "annotation makes the name local"
ESCAPES: Final = "function is used otherwise than called"
DECORATED: Final = "function is decorated"
CLASS: Final = "class can be reached through its instances"
READ: Final = "text reads docstrings or annotations"
DECORATOR_READS: Final = "decorator may read docstring or annotations"
ACTS: Final = "annotation does more than name a type"

PHRASES: Final = (
    "Do the work.",
    "See the notes.",
    "Part of the whole.",
    "Used by its callers.",
    "What the name says.",
)
"""Docstrings that are true of every function."""

_READERS: Final = frozenset(
    {
        "__doc__", "__annotations__", "__annotate__", "get_type_hints", "get_annotations", "signature",
        "getfullargspec", "getdoc", "getsource", "help", "doctest", "singledispatch", "singledispatchmethod",
        "create_function", "get_overloads", "validate_call", "register", "co_consts", "__code__", "f_code",
        "pydoc",
    }
)  # fmt: skip
"""Names through which code may read docstrings or annotations."""
_DECORATORS: Final = frozenset(
    {
        "staticmethod", "classmethod", "property", "abstractmethod", "lru_cache", "cache", "cached_property",
        "contextmanager", "asynccontextmanager", "wraps", "final", "override", "setter", "getter", "deleter",
    }
)  # fmt: skip
"""Decorators that read neither docstring nor annotations, or only pass them on."""
_TYPES: Final = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.BitOr,
    ast.Starred, ast.Load,
)  # fmt: skip
"""The nodes of annotations that only name a type."""


def _words(text: str) -> Set[str]:
    """What a text mentions in any way; nothing if it cannot be read."""
    try:
        index = index_of(text)
    except SourceError:
        return frozenset()
    # `add_argument(help="…")` is no call of `help`.
    return (
        index.names | index.members | index.imported_names | index.imported | index.patterns | index.spelled
    )


def _removal(code: PythonSource, node: ast.stmt, *, leave_pass: bool) -> Patch:
    """A patch that removes a statement with its lines; a comment behind it stays on its line.

    `leave_pass`: the block holds nothing else, so it gets a `pass`.
    """
    start, end = code.start(node), code.end(node)
    if leave_pass:
        return Patch(start, end, ("pass",))
    stop = code.source.find(b"\n", end)
    stop = len(code.source) if stop < 0 else stop
    after = code.source[end:stop]
    if after.strip():
        return Patch(start, end + len(after) - len(after.lstrip()), ())
    begin = line_start(code, start)
    # At the end of a text without a last line break, the one before the statement goes.
    if stop == len(code.source):
        return Patch(max(begin - len(code.newline), 0), stop, ())
    return Patch(begin, stop + 1, ())


# ── notes of locals and inner functions ──────────────────────────────────────────────────────────────────


def _local_annotations(code: PythonSource) -> Iterator[Site | Refused]:
    """Every annotated assignment in a function's own scope.

    Annotations are never evaluated there. Two effects matter: an annotation may make a name local, and it may
    capture a variable of the enclosing function, which only `locals()` and the like can see.
    """
    watched = reflects(code)
    for node in code.nodes():
        if not isinstance(node, ast.AnnAssign):
            continue
        function = code.function(node)
        # In a class or module, `x: int` is kept in `__annotations__`; a dataclass makes a field of it.
        if function is None:
            yield Refused(NOT_LOCAL)
        elif watched:
            yield Refused(REFLECTION)
        elif comment_inside(code, code.end(node.target), code.end(node)):
            yield Refused(COMMENT)
        elif node.value is not None:
            patch = Patch(code.full(node.target).end, code.full(node.annotation).end, ())
            yield edit("annotation of a local", code.line(node), patch)
        # A bare `x: int` alone makes `x` local; without it, reads of `x` would look for a global.
        elif not isinstance(node.target, ast.Name) or node.target.id not in _assigned(function):
            yield Refused(ONLY_BINDING)
        elif not code.alone(node):
            yield Refused(SHARED)
        else:
            block, _ = block_of(code, node) or ([], 0)
            # Other bare annotations of the block may be removed too, so they do not count.
            alone = all(isinstance(inner, ast.AnnAssign) and inner.value is None for inner in block)
            patch = _removal(code, node, leave_pass=alone)
            yield edit("annotation of a local", code.line(node), patch)


def _assigned(function: FunctionNode) -> frozenset[str]:
    """The names that a function's own scope binds in other ways than by a bare annotation."""
    names = set(parameter_names(function.args))
    apart: set[int] = set()
    for node in own_nodes(function.body):
        match node:
            case ast.AnnAssign(target=target, value=None):
                apart.add(id(target))
            # `[x for x in xs]` binds an `x` of its own.
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                apart.update(id(inner) for part in node.generators for inner in ast.walk(part.target))
            case ast.Name(id=name, ctx=ast.Store()) if id(node) not in apart:
                names.add(name)
    return frozenset(names)


def _inner_docstrings(code: PythonSource) -> Iterator[Site | Refused]:
    """Every docstring of a function inside a function that is only ever called by its name."""
    watched = reflects(code)
    called = {id(node.func) for node in ast.walk(code.tree) if isinstance(node, ast.Call)}
    # `return f` or `g(f)` gives the function to others, who may read `f.__doc__`.
    escaping = {
        node.id for node in ast.walk(code.tree) if isinstance(node, ast.Name) and id(node) not in called
    }
    for node in code.nodes():
        if docstring(node) is None or isinstance(node, ast.Module):
            continue
        if isinstance(node, ast.ClassDef):
            # `type(x).__doc__` reads it, wherever an instance `x` has gone.
            if code.function(node) is not None:
                yield Refused(CLASS)
            continue
        if not isinstance(node, FunctionNode) or _is_outermost(code, node):
            continue
        # A method of an inner class.
        if code.function(node) is None:
            yield Refused(CLASS)
        elif node.decorator_list:
            yield Refused(DECORATED)
        elif watched:
            yield Refused(REFLECTION)
        elif node.name in escaping or _is_shared(code, node.name):
            yield Refused(ESCAPES)
        else:
            yield _without_docstring(code, node)


def _is_shared(code: PythonSource, name: str) -> bool:
    """Whether a name is also a variable of another scope, or the name of more than one function."""
    definitions = 0
    for node in ast.walk(code.tree):
        match node:
            case ast.Global(names=names) | ast.Nonlocal(names=names) if name in names:
                return True
            case ast.FunctionDef(name=other) | ast.AsyncFunctionDef(name=other) | ast.ClassDef(name=other):
                definitions += other == name
    return definitions > 1


def _without_docstring(code: PythonSource, node: FunctionNode) -> Site | Refused:
    """The site that removes the docstring's lines, or puts `pass` in its place if the body holds nothing
    else.
    """
    text = node.body[0]
    if not code.alone(text):
        return Refused(SHARED)
    match node.body[1:]:
        case [ast.Expr(value=ast.Constant(value=str())), *_]:
            return Refused(NEXT_IS_TEXT)
        case rest:
            return edit("docstring", code.line(text), _removal(code, text, leave_pass=not rest))


REMOVE_LOCAL_ANNOTATIONS: Final = PythonRule(
    "remove-local-annotations", _local_annotations, "no annotated assignment"
)
REMOVE_INNER_DOCSTRINGS: Final = PythonRule(
    "remove-inner-docstrings", _inner_docstrings, "no inner function with a docstring"
)


# ── notes that callers could read ────────────────────────────────────────────────────────────────────────


def _docstrings(code: PythonSource) -> Iterator[Site | Refused]:
    """Every docstring of an outermost function or method."""
    for node in _outermost(code):
        if docstring(node) is not None:
            reason = _reader(code, node)
            yield Refused(reason) if reason else _without_docstring(code, node)


def _undocumented(code: PythonSource) -> Iterator[Site | Refused]:
    """Every outermost function or method without a docstring."""
    for node in _outermost(code):
        if docstring(node) is not None:
            continue
        if reason := _reader(code, node):
            yield Refused(reason)
            continue
        first = code.start(node.body[0])
        at = line_start(code, first)
        indent = code.source[at:first].decode()
        # In `def f(): return 1` there is no line for it.
        if indent.strip(" \t") or continued(code, at):
            yield Refused(SHARED)
            continue
        options = tuple((Patch(at, at, (f'{indent}"""{phrase}"""{code.newline}',)),) for phrase in PHRASES)
        yield Site(options, "docstring", code.line(node.body[0]))


def _annotations(code: PythonSource) -> Iterator[Site | Refused]:
    """Every annotation of a parameter or a result of an outermost function or method."""
    for node in _outermost(code):
        reason = _reader(code, node)
        for start, annotation in _annotated(code, node):
            end = code.full(annotation).end
            if reason:
                yield Refused(reason)
            # `x: register(int)` calls `register` when the function is defined.
            elif any(not isinstance(inner, _TYPES) for inner in ast.walk(annotation)):
                yield Refused(ACTS)
            elif comment_inside(code, start, end):
                yield Refused(COMMENT)
            else:
                yield edit("annotation", code.line(annotation), Patch(start, end, ()))


def _annotated(code: PythonSource, node: FunctionNode) -> Iterator[tuple[int, ast.expr]]:
    """Each annotation, with the offset behind the parameter's name or the list of parameters that it belongs
    to.
    """
    tokens = solid(code)
    begins = [token.start for token in tokens]
    for parameter in parameter_nodes(node.args):
        if parameter.annotation is not None:
            yield tokens[bisect_left(begins, code.start(parameter))].end, parameter.annotation
    if node.returns is not None:
        arrow = bisect_left(begins, code.full(node.returns).start) - 1
        yield tokens[arrow - 1].end, node.returns


def _outermost(code: PythonSource) -> Iterator[FunctionNode]:
    """Functions and methods that are not inside another function."""
    return (node for node in code.nodes() if isinstance(node, FunctionNode) and _is_outermost(code, node))


def _is_outermost(code: PythonSource, node: FunctionNode) -> bool:
    return not any(isinstance(above, FunctionNode) for above in code.ancestors(node))


def is_read(code: PythonSource) -> bool:
    """Whether a text, or the file around it, may read docstrings or annotations."""
    return not (_READERS.isdisjoint(_words(code.text)) and _READERS.isdisjoint(_words(code.around)))


def _reader(code: PythonSource, node: FunctionNode) -> str | None:
    """Why the notes of a function stay; `None` if nothing reads them."""
    if is_read(code):
        return READ
    # A foreign decorator may use the annotations, as that of a command line or a web server does.
    known = all(_decorator(decorator) in _DECORATORS for decorator in node.decorator_list)
    return None if known else DECORATOR_READS


def _decorator(node: ast.expr) -> str | None:
    """The name of a decorator, without its module and arguments."""
    match node:
        case ast.Call(func=func):
            return _decorator(func)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return None


REMOVE_DOCSTRINGS: Final = PythonRule("remove-docstrings", _docstrings, "no docstring")
INSERT_DOCSTRINGS: Final = PythonRule("insert-docstrings", _undocumented, "every function has a docstring")
REMOVE_ANNOTATIONS: Final = PythonRule("remove-annotations", _annotations, "no annotation")
