"""Notes inside of a function that no outside code can see: annotations of locals, docstrings of inner
functions.
"""

import ast
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.analysis.facts import own_nodes
from codeaudit.transforms.python.notes.places import COMMENT, NEXT_IS_TEXT, SHARED_LINE, mentions, removal
from codeaudit.transforms.python.parsing import FunctionNode, parameter_names
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.strings.templates import has_comment
from codeaudit.transforms.python.suites import block_of

NOT_LOCAL: Final = "annotation outside of a function is kept for readers"
REFLECTION: Final = "reflection on names"
ONLY_BINDING: Final = "annotation makes the name local"
ESCAPES: Final = "function is used otherwise than called"
DECORATED: Final = "function is decorated"
CLASS: Final = "class can be reached through its instances"

_LOOKING: Final = frozenset({"locals", "vars", "dir", "eval", "exec"})


def find_annotations(code: PythonSource) -> Iterator[Site | Refused]:
    """Every annotated assignment in a function's own scope.

    Annotations are never evaluated there. Two effects matter: an annotation may make a name local, and it may
    capture a variable of the enclosing function, which only `locals()` and the like can see.
    """
    reflects = mentions(code, _LOOKING)
    for node in code.nodes():
        if not isinstance(node, ast.AnnAssign):
            continue
        function = code.function(node)
        if function is None:
            yield Refused(NOT_LOCAL)
        elif reflects:
            yield Refused(REFLECTION)
        elif has_comment(code, code.end(node.target), code.end(node)):
            yield Refused(COMMENT)
        elif node.value is not None:
            patch = Patch(code.full(node.target).end, code.full(node.annotation).end, ())
            yield Site(((patch,),), "annotation of a local", code.line(node))
        # A bare `x: int` alone makes `x` local; without it, reads of `x` would look for a global.
        elif not isinstance(node.target, ast.Name) or node.target.id not in _assigned(function):
            yield Refused(ONLY_BINDING)
        elif not code.alone(node):
            yield Refused(SHARED_LINE)
        else:
            held = block_of(code, node)
            rest = [
                one
                for one in (held[0] if held else ())
                if not isinstance(one, ast.AnnAssign) or one.value is not None
            ]
            patch = removal(code, node) if rest else Patch(code.start(node), code.end(node), ("pass",))
            yield Site(((patch,),), "annotation of a local", code.line(node))


def find_inner(code: PythonSource) -> Iterator[Site | Refused]:
    """Every docstring of a function inside a function that is only ever called by its name."""
    reflects = mentions(code, _LOOKING)
    uses = [node for node in ast.walk(code.tree) if isinstance(node, ast.Name)]
    called = {id(node.func) for node in ast.walk(code.tree) if isinstance(node, ast.Call)}
    for node in code.nodes():
        if not isinstance(node, FunctionNode | ast.ClassDef):
            continue
        if not documented(node):
            continue
        if isinstance(node, ast.ClassDef):
            if code.function(node) is not None:
                yield Refused(CLASS)
            continue
        if not any(isinstance(one, FunctionNode) for one in code.ancestors(node)):
            continue
        if code.function(node) is None:
            yield Refused(CLASS)
        elif node.decorator_list:
            yield Refused(DECORATED)
        elif reflects:
            yield Refused(REFLECTION)
        elif _is_shared(code, node.name) or any(
            use.id == node.name and id(use) not in called for use in uses
        ):
            yield Refused(ESCAPES)
        else:
            yield without_docstring(code, node)


def documented(node: FunctionNode | ast.ClassDef) -> bool:
    """Whether a function or class has a docstring."""
    match node.body[0]:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case _:
            return False


def without_docstring(code: PythonSource, node: FunctionNode) -> Site | Refused:
    """The site that removes the docstring's lines, or puts `pass` in its place if the body holds nothing
    else.
    """
    text = node.body[0]
    line = code.line(text)
    if not code.alone(text):
        return Refused(SHARED_LINE)
    if len(node.body) == 1:
        return Site(((Patch(code.start(text), code.end(text), ("pass",)),),), "docstring", line)
    match node.body[1]:
        case ast.Expr(value=ast.Constant(value=str())):
            return Refused(NEXT_IS_TEXT)
        case _:
            return Site(((removal(code, text),),), "docstring", line)


def _assigned(function: FunctionNode) -> frozenset[str]:
    """The names that a function's own scope binds in other ways than by a bare annotation."""
    found = set(parameter_names(function.args))
    apart: set[int] = set()
    for node in own_nodes(function.body):
        match node:
            case ast.AnnAssign(target=target, value=None):
                apart.add(id(target))
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                apart.update(id(one) for part in node.generators for one in ast.walk(part.target))
            case ast.Name(id=name, ctx=ast.Store()) if id(node) not in apart:
                found.add(name)
    return frozenset(found)


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


REMOVE_LOCAL_ANNOTATIONS: Final = PythonRule(
    name="remove-local-annotations", find=find_annotations, nothing="no annotated assignment"
)
REMOVE_INNER_DOCSTRINGS: Final = PythonRule(
    name="remove-inner-docstrings", find=find_inner, nothing="no inner function with a docstring"
)
