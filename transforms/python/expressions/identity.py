"""Whether a text may tell an object from an equal one.

The interpreter may give one integer or text to two expressions, or two that are equal. `is` and `id` see the
difference.
"""

import ast
import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis.capabilities import IDENTITY
from codeaudit.transforms.python.analysis.knowledge import BUILTINS
from codeaudit.transforms.python.parsing import parse
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import bound_in

_SHOWING: Final = IDENTITY.builtins.keys()
"""Functions that compare objects, or tell which object one is."""
_OF_OBJECT: Final = IDENTITY.paths["object"].keys()
"""Methods that tell which object one is if they are those of `object`: `object.__eq__(x, y)`."""
_WORD: Final = re.compile(rf"\bis(?:_|_not)?\b|\bid\b|assertIs|{'|'.join(_OF_OBJECT)}")
_SMALL: Final = range(-5, 257)
"""The integers of which there is one object each."""
_CONTAINERS: Final = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_KINDS: Final[dict[str, type[object]]] = {"int": int, "str": str}


def is_cached(value: int | None) -> bool:
    """Whether there is one object alone of an integer; `None` stands for an unknown one."""
    return value is not None and value in _SMALL


@lru_cache(maxsize=8)
def compares_objects(code: PythonSource, kind: str) -> bool:
    """Whether a text, or the file around it, may tell an object of a builtin type from an equal one; the type
    is `int` or `str`.
    """
    if _compares(code.tree, kind, code):
        return True
    return code.around not in ("", code.text) and _compared_around(code.around, kind)


@lru_cache(maxsize=8)
def _compared_around(text: str, kind: str) -> bool:
    if _WORD.search(text) is None:
        return False
    try:
        return _compares(parse(text), kind, None)
    except SourceError:
        return True


def _compares(tree: ast.Module, kind: str, code: PythonSource | None) -> bool:
    """Whether one tree may tell an object from an equal one; the types of its expressions are known if it is
    that of `code`."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                pairs = zip(pairwise([left, *comparators]), ops, strict=True)
                if any(
                    isinstance(op, ast.Is | ast.IsNot)
                    and all(_may_be(side, kind, tree, code) for side in sides)
                    for sides, op in pairs
                ):
                    return True
            case ast.Name(id=name, ctx=ast.Load()):
                facts = code.facts(node) if code is not None and name in _SHOWING else None
                if name in _SHOWING and (facts is None or name not in facts.local):
                    return True
            # That of a number or text itself, `x.__eq__`, compares values.
            case (
                ast.Attribute(value=owner, attr=name)
                | ast.Call(args=[owner, ast.Constant(value=str(name)), *_])
            ) if name in _OF_OBJECT and _is_object(owner, tree):
                return True
            case ast.Attribute(attr=name):
                # `row.id` is common, and no function.
                if name in _SHOWING and (name != "id" or ast.unparse(node.value) == "builtins"):
                    return True
            case ast.alias(name=name):
                if name in _SHOWING:
                    return True
    return False


def _is_object(node: ast.expr, tree: ast.Module) -> bool:
    """Whether an expression is the class `object`, or a name that the text binds to it."""
    match node:
        case ast.Name(id="object") | ast.Attribute(attr="object"):
            return True
        case ast.Name(id=name):
            return any(
                isinstance(node, ast.Assign)
                and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
                and isinstance(node.value, ast.Name | ast.Attribute)
                and ast.unparse(node.value).rpartition(".")[2] == "object"
                for node in ast.walk(tree)
            )
        case _:
            return False


def _may_be(node: ast.expr, kind: str, tree: ast.Module, code: PythonSource | None) -> bool:
    """Whether an expression of a tree may give an object of a builtin type."""
    match node:
        case ast.Constant(value=value):
            return type(value) is _KINDS[kind]
        # Of builtins such as `str` and `NotImplemented`, none is a number or text.
        case ast.Name(id=name) if name in BUILTINS and not name.startswith("__"):
            return bound_in(tree, name)
        case ast.Call(func=ast.Name(id="type"), args=[_], keywords=[]):
            return bound_in(tree, "type")
        case _ if isinstance(node, _CONTAINERS):
            return False
        case _:
            return code is None or code.kind(node) in (None, kind)
