"""Reasons why a variable must keep its name.

Parameters may change their names for callers that pass arguments by position. Calls inside the function are
visible, so nothing is assumed about nested functions and lambdas: every call of them has to be seen and to
pass by position.
"""

import ast
import re
from typing import Final, TypeAlias

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis.capabilities import (
    NAMES_SEEN,
    looks_at_variables,
    may_look,
    named_in_texts,
    replaced_names,
)
from codeaudit.transforms.python.analysis.classes import BUILTIN_CLASSES as PLAIN_CLASSES
from codeaudit.transforms.python.analysis.index import index_in
from codeaudit.transforms.python.analysis.knowledge import BUILTINS, MODULE_NAMES
from codeaudit.transforms.python.analysis.scopes import OUTER, PythonBinding, PythonScopes, Scope
from codeaudit.transforms.python.parsing import FunctionNode, dotted
from codeaudit.transforms.python.source import read
from codeaudit.transforms.python.walking import below

REFLECTION: Final = NAMES_SEEN
BY_KEYWORD: Final = "parameter passed by keyword"

MOVABLE_VIEWS: Final = frozenset(
    {"parameter", "import alias", "except", "capture", "comprehension", "walrus", "local"}
)
"""The views of variables that a renaming may change."""
_TYPE_COMMENT: Final = re.compile(rb"#[ \t]*type:([^\r\n]*)")
WORDS: Final = re.compile(r"\w+")
"""Words of a text, with names in every script."""
_LIST_OF_WORDS: Final = re.compile(r"\w+(?:\s*,\s*\w+)*")


class RenameGuard:
    """Says why a variable must keep its name. Reads the function once; ask about any of its variables."""

    def __init__(self, scopes: PythonScopes) -> None:
        self._scopes = scopes
        self._parameters = Parameters(scopes)
        self._in_comments = type_comment_words(scopes.source)
        self._in_decorators = _decorator_words(scopes.function)
        self._prepared = {
            scope.number
            for scope in scopes.scopes
            if isinstance(scope.node, ast.ClassDef) and prepared(scope.node)
        }
        names = frozenset(binding.name for binding in scopes.bindings)
        self._evaluated = named_in_texts(scopes.function, names)

    def obstacle(self, binding: PythonBinding) -> str | None:
        """A short reason for the statistics; `None` if the variable may be renamed."""
        if binding.view not in MOVABLE_VIEWS:
            return "not a variable of the function"
        if reason := self.spelling(binding):
            return reason
        return self._parameters.obstacle(binding) if binding.view == "parameter" else None

    def spelling(self, binding: PythonBinding) -> str | None:
        """Why the name must stay because of where it is written, whatever it is the name of."""
        name = binding.name
        if mangled(name):
            return "mangled or special name"
        # By convention `_` says that a value is not used; in a `match` it is the wildcard.
        if not name.strip("_"):
            return "throwaway name"
        if not binding.located:
            return "name not found in the text"
        # `f"{x=}"` prints its own text; annotations may be kept as text (`from __future__ import
        # annotations`).
        contexts = {occurrence.context for occurrence in binding.occurrences}
        if "printed" in contexts:
            return "name is printed by an f-string"
        if "annotation" in contexts or name in self._scopes.quoted or name in self._in_comments:
            return "name stands in an annotation"
        if name in self._evaluated or name in self._in_decorators:
            return "name may be read from text"
        # `__prepare__` may return a mapping that gives any name a value: `class C(metaclass=M): y = x`.
        if any(use.scope in self._prepared for use in binding.occurrences):
            return "name is read in a class with a metaclass"
        return None


def mangled(name: str) -> bool:
    """Whether a name is special, mangled in a class, or looks mangled: `_C__x` is `__x` in `C`."""
    # Inside `class C`, the compiler turns `__x` into `_C__x`.
    return name.startswith("_") and "__" in name


def reflects(scopes: PythonScopes) -> bool:
    """Whether the function can look at the names of its variables."""
    if not may_look(scopes.source.decode()):
        return False
    outer = {binding.name for binding in scopes.bindings if binding.scope == OUTER}
    return looks_at_variables(scopes.function, outer)


def prepared(node: ast.ClassDef) -> bool:
    """Whether the body of a class may run in a mapping that a metaclass gives: its own or that of a base."""
    return any(word.arg in (None, "metaclass") for word in node.keywords) or not all(
        isinstance(base, ast.Name) and base.id in PLAIN_CLASSES for base in node.bases
    )


def type_comment_words(source: bytes) -> frozenset[str]:
    """The words of type comments, which tools read as annotations."""
    comments = [match[1].decode() for match in _TYPE_COMMENT.finditer(source)]
    return frozenset(WORDS.findall(" ".join(comments)))


def _decorator_words(function: FunctionNode) -> frozenset[str]:
    """Names that decorators mention as keywords or text, such as `numba.jit(locals={"x": …})`."""
    words: set[str] = set()
    for node in (inner for decorator in function.decorator_list for inner in below(decorator)):
        if isinstance(node, ast.keyword) and node.arg is not None:
            words.add(node.arg)
        elif isinstance(node, ast.Constant) and _LIST_OF_WORDS.fullmatch(str(node.value)):
            words.update(WORDS.findall(str(node.value)))
    return frozenset(words)


Callee: TypeAlias = FunctionNode | ast.Lambda

RECEIVERS: Final = frozenset({"self", "cls", "mcs", "mcls", "metacls", "metaclass"})
"""Names of first parameters that stand for the object or class of a method."""

_BLIND_DECORATORS: Final = frozenset(
    {
        "abc.abstractmethod", "abstractmethod", "asynccontextmanager", "cache", "cached_property",
        "classmethod", "contextlib.asynccontextmanager", "contextlib.contextmanager", "contextmanager",
        "functools.cache", "functools.cached_property", "functools.lru_cache", "functools.wraps", "final",
        "lru_cache", "overload", "override", "property", "staticmethod", "typing.final",
        "typing.overload", "typing.override", "wraps",
    }
)  # fmt: skip
"""Decorators that never look at the names of parameters."""

_POSITIONAL_CALLERS: Final[dict[str, int]] = {"map": 0, "filter": 0, "functools.reduce": 0}
"""Functions that call one of their arguments by position, with the index of that argument."""

_KEY_CALLERS: Final = frozenset({"sorted", "min", "max", "itertools.groupby"})
"""Functions that call their `key` by position. The method `sort` of a list does so too."""


class Parameters:
    """Answers for the parameters of one resolved function. Cheap to make: reads the tree on demand."""

    def __init__(self, scopes: PythonScopes) -> None:
        self._scopes = scopes
        self._parents: dict[int, ast.AST] | None = None

    def obstacle(self, binding: PythonBinding) -> str | None:
        """Why a parameter must keep its name; `None` if it need not."""
        scope = self._scopes.scopes[binding.scope]
        node = scope.node
        assert isinstance(node, Callee)
        place = _place(node, binding.name)
        if place == "first" and (binding.name in RECEIVERS or self._is_bound(scope, node)):
            return "receiver of a method"
        if isinstance(node, FunctionNode):
            if not all(_blind(decorator) for decorator in node.decorator_list):
                return "decorator may read parameter names"
            # pytest passes fixtures and hook arguments by the names of parameters.
            if node is self._scopes.function and node.name.startswith(("test", "pytest_")):
                return "test parameters are read by name"
        # No caller can name `*args` or `**kwargs`.
        if place == "gathering":
            return None
        # Callers name it, which no positional promise covers.
        if place == "keyword-only":
            return "keyword-only parameter"
        # Before `/`, a parameter cannot be given by name.
        if any(parameter.arg == binding.name for parameter in node.args.posonlyargs):
            return None
        # A caller's keyword equal to the new name would no longer land in `**kwargs`.
        if node.args.kwarg is not None:
            return "parameter beside gathered keywords"
        if node is self._scopes.function:
            return self._own_calls(node, binding.name)
        return None if self._called_by_position(scope, node) else "nested function called out of sight"

    def _is_method(self, scope: Scope) -> bool:
        parent = self._scopes.scopes[scope.parent]
        if parent.kind == "type parameters":
            parent = self._scopes.scopes[parent.parent]
        return parent.kind == "class" or (parent.number == OUTER and self._scopes.method)

    def _is_bound(self, scope: Scope, node: Callee) -> bool:
        """Whether the first parameter is the object or class of a method."""
        if isinstance(node, ast.Lambda):
            return self._is_method(scope)
        return self._is_method(scope) and "staticmethod" not in map(dotted, node.decorator_list)

    def _own_calls(self, function: FunctionNode, name: str) -> str | None:
        """An obstacle if the function may call itself, or the method it overrides, by keyword."""
        for node in below(function):
            if not isinstance(node, ast.Call):
                continue
            callee = node.func
            itself = callee.id if isinstance(callee, ast.Name) else getattr(callee, "attr", None)
            # `super().f(x=1)` calls the method that this one overrides: its parameters are called alike.
            if itself == function.name and any(word.arg in {None, name} for word in node.keywords):
                return BY_KEYWORD
        return None

    def _called_by_position(self, scope: Scope, node: Callee) -> bool:
        """Whether every call of a nested function or lambda is seen and passes by position."""
        if isinstance(node, ast.Lambda):
            return self._lambda_called_by_position(node)
        # Methods are called through objects, and decorated functions by their decorators, out of sight.
        if self._is_method(scope) or node.decorator_list:
            return False
        return self._name_called_by_position(self._at(node.name, scope.parent))

    def _at(self, name: str, scope: int) -> PythonBinding | None:
        """The binding of a nested function's name in the scope around it."""
        if self._scopes.scopes[scope].kind == "type parameters":
            scope = self._scopes.scopes[scope].parent
        for binding in self._scopes.bindings:
            if (binding.name, binding.scope) == (name, scope):
                return binding
        return None

    def _name_called_by_position(self, binding: PythonBinding | None) -> bool:
        if binding is None or binding.view not in {"function", "local"} or not binding.located:
            return False
        # Every mention that is not a call may hand the function to code that calls it by keyword.
        places = {use.start for use in binding.occurrences if use.use == "read"}
        for call in below(self._scopes.function):
            match call:
                case ast.Call(func=ast.Name(id=binding.name) as callee, keywords=[]):
                    places.discard(self._scopes.positions.offset(callee.lineno, callee.col_offset))
        return not places

    def _lambda_called_by_position(self, node: ast.Lambda) -> bool:
        parent = self._parent(node)
        match parent:
            case ast.Call(func=func) if func is node:
                return not parent.keywords
            case ast.Call(func=func, args=arguments) if node in arguments:
                return _POSITIONAL_CALLERS.get(self._callee(func)) == arguments.index(node)
            case ast.keyword(arg="key"):
                call = self._parent(parent)
                if not isinstance(call, ast.Call):
                    return False
                if isinstance(call.func, ast.Attribute) and call.func.attr == "sort":
                    return self._kind(call.func.value) == "list"
                return self._callee(call.func) in _KEY_CALLERS
            case _:
                return False

    def _callee(self, func: ast.expr) -> str:
        """The builtin, or the function of a standard module, that an expression stands for; empty if it may
        be something else.
        """
        name = dotted(func)
        root, _, rest = name.partition(".")
        if not name or root not in (MODULE_NAMES if rest else BUILTINS):
            return ""
        owners = [binding for binding in self._scopes.bindings if binding.name == root]
        # A variable of the function may be called so, or one that it declares `global`.
        if any(
            owner.scope != OUTER or any(use.use != "read" for use in owner.occurrences) for owner in owners
        ):
            return ""
        changed = replaced_names(index_in(self._scopes.tree))
        return "" if {"*", *name.split(".")}.intersection(changed) else name

    def _kind(self, node: ast.expr) -> str | None:
        """The builtin type that an expression certainly has; `None` if that is not certain."""
        try:
            code = read(self._scopes.source.decode())
        except SourceError:
            return None
        # The types belong to another tree of the same text.
        for own, other in zip(ast.walk(self._scopes.tree), ast.walk(code.tree), strict=False):
            if own is node:
                return code.kind(other) if isinstance(other, ast.expr) else None
        return None

    def _parent(self, node: ast.AST) -> ast.AST | None:
        if self._parents is None:
            self._parents = {
                id(child): parent
                for parent in below(self._scopes.function)
                for child in ast.iter_child_nodes(parent)
            }
        return self._parents.get(id(node))


def _place(node: Callee, name: str) -> str:
    """The kind of a parameter: `first`, `other`, `keyword-only`, or `gathering` (`*args`, `**kwargs`)."""
    arguments = node.args
    if name in {getattr(arguments.vararg, "arg", None), getattr(arguments.kwarg, "arg", None)}:
        return "gathering"
    if any(parameter.arg == name for parameter in arguments.kwonlyargs):
        return "keyword-only"
    first = [*arguments.posonlyargs, *arguments.args][0]
    return "first" if first.arg == name else "other"


def _blind(decorator: ast.expr) -> bool:
    """Whether a decorator is known not to look at the names of parameters."""
    callee = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(callee, ast.Attribute) and callee.attr in {"setter", "getter", "deleter"}:
        return True
    return dotted(callee) in _BLIND_DECORATORS
