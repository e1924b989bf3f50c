"""Reasons why a variable must keep its name."""

import ast
import re
from typing import Final

from codeaudit.transforms.python.analysis.scopes import OUTER, PythonBinding, PythonScopes
from codeaudit.transforms.python.identifiers.parameters import Parameters
from codeaudit.transforms.python.parsing import FunctionNode

REFLECTION: Final = "reflection on names"

_READING_NAMES: Final = frozenset(
    {"locals", "eval", "exec", "_getframe", "_getframemodulename", "currentframe", "getouterframes"}
)
_READING_ATTRIBUTES: Final = frozenset(
    {
        "_getframe", "_getframemodulename", "currentframe", "getouterframes", "getinnerframes",
        "getframeinfo", "inspect.stack", "inspect.trace", "getclosurevars", "getfullargspec", "getargvalues",
        "getcallargs", "f_locals", "f_back", "tb_frame", "gi_frame", "cr_frame", "ag_frame", "__code__",
        "__closure__", "co_varnames", "co_freevars", "co_cellvars", "builtins.locals", "builtins.vars",
        "builtins.dir", "builtins.eval", "builtins.exec",
    }
)  # fmt: skip
_EVALUATING_METHODS: Final = frozenset({"query", "eval", "evaluate"})
"""Methods that evaluate text with the caller's variables in it (pandas, numexpr)."""

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
            if isinstance(scope.node, ast.ClassDef) and any(prepares(word) for word in scope.node.keywords)
        }
        self._evaluated: frozenset[str] = frozenset()
        if scopes.attributes & _EVALUATING_METHODS:
            self._evaluated = frozenset(WORDS.findall(" ".join(scopes.strings)))

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
        if not name.strip("_"):
            return "throwaway name"
        if not binding.located:
            return "name not found in the text"
        contexts = {occurrence.context for occurrence in binding.occurrences}
        if "printed" in contexts:
            return "name is printed by an f-string"
        if "annotation" in contexts or name in self._scopes.quoted or name in self._in_comments:
            return "name stands in an annotation"
        if name in self._evaluated or name in self._in_decorators:
            return "name may be read from text"
        if any(use.scope in self._prepared for use in binding.occurrences):
            return "name is read in a class with a metaclass"
        return None


def mangled(name: str) -> bool:
    """Whether a name is special, mangled in a class, or looks mangled: `_C__x` is `__x` in `C`."""
    return name.startswith("_") and "__" in name


def reflects(scopes: PythonScopes) -> bool:
    """Whether the function can look at the names of its variables."""
    outer = {binding.name for binding in scopes.bindings if binding.scope == OUTER}
    if outer & _READING_NAMES or scopes.attributes & _READING_ATTRIBUTES:
        return True
    if not _READING_ATTRIBUTES.isdisjoint(scopes.strings) or not _READING_NAMES.isdisjoint(scopes.strings):
        return True
    return bool(outer & {"vars", "dir"}) and _lists_own_names(scopes)


def _lists_own_names(scopes: PythonScopes) -> bool:
    """Whether `vars` or `dir` is used in any other way than in a call with an argument."""
    harmless = {
        id(node.func) for node in ast.walk(scopes.function) if isinstance(node, ast.Call) and node.args
    }
    return any(
        isinstance(node, ast.Name) and node.id in {"vars", "dir"} and id(node) not in harmless
        for node in ast.walk(scopes.function)
    )


def prepares(word: ast.keyword) -> bool:
    """Whether a keyword of a class header may name a metaclass, which sees every name bound in the class
    body.
    """
    return word.arg is None or word.arg == "metaclass"


def type_comment_words(source: bytes) -> frozenset[str]:
    """The words of type comments, which tools read as annotations."""
    found = [match[1].decode() for match in _TYPE_COMMENT.finditer(source)]
    return frozenset(WORDS.findall(" ".join(found)))


def _decorator_words(function: FunctionNode) -> frozenset[str]:
    """Names that decorators mention as keywords or text, such as `numba.jit(locals={"x": …})`."""
    words: set[str] = set()
    for node in (inner for decorator in function.decorator_list for inner in ast.walk(decorator)):
        if isinstance(node, ast.keyword) and node.arg is not None:
            words.add(node.arg)
        elif isinstance(node, ast.Constant) and _LIST_OF_WORDS.fullmatch(str(node.value)):
            words.update(WORDS.findall(str(node.value)))
    return frozenset(words)
