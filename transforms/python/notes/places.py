"""Checks and edits that the rules on docstrings and annotations share."""

import ast
from collections.abc import Set
from typing import Final

from codeaudit.transforms.patches import Patch
from codeaudit.transforms.python.parsing import FunctionNode
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import line_start

SHARED_LINE: Final = "statement shares its line"
COMMENT: Final = "comment between"
NEXT_IS_TEXT: Final = "next statement would become the docstring"

_READERS: Final = frozenset(
    {
        "__doc__", "__annotations__", "__annotate__", "get_type_hints", "get_annotations", "signature",
        "getfullargspec", "getdoc", "getsource", "help", "doctest", "singledispatch", "singledispatchmethod",
        "create_function", "get_overloads", "validate_call", "register",
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


def mentions(code: PythonSource, names: Set[str]) -> bool:
    """Whether a text contains one of these names as a variable, an attribute, an import, or a string."""
    for node in ast.walk(code.tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) if name in names:
                return True
            case ast.Constant(value=str() as text) if text in names:
                return True
    return False


def reads_notes(code: PythonSource) -> bool:
    """Whether the text itself may read docstrings or annotations."""
    return mentions(code, _READERS)


def known_decorators(node: FunctionNode) -> bool:
    """Whether no decorator of a function could read its docstring or annotations."""
    return all(_decorator(one) in _DECORATORS for one in node.decorator_list)


def _decorator(node: ast.expr) -> str | None:
    match node:
        case ast.Call(func=func):
            return _decorator(func)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return None


def removal(code: PythonSource, node: ast.stmt) -> Patch:
    """A patch that removes a statement with its lines; a comment behind it stays on its line."""
    start, end = line_start(code, code.start(node)), code.end(node)
    stop = code.source.find(b"\n", end)
    stop = len(code.source) if stop < 0 else stop
    if code.source[end:stop].strip():
        after = code.source[end:stop]
        return Patch(code.start(node), end + len(after) - len(after.lstrip()), ())
    if stop == len(code.source):
        return Patch(max(start - len(code.newline), 0), stop, ())
    return Patch(start, stop + 1, ())
