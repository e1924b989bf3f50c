"""Whether a text may look at its own variables other than by their names: `locals()`, `eval`, frames, code
objects, and libraries that evaluate a text where they are called: `frame.query("size > @limit")`.

Renaming changes what such a look finds, and so does moving a statement that binds a variable. Whatever name
the looker goes by in the text counts: `show = locals` and `from builtins import locals as show` hide the
call.
"""

import ast
import re
from collections.abc import Callable, Iterator, Set
from functools import lru_cache
from typing import Final, NamedTuple

from codeaudit.transforms.python.parsing import last_name, normalised
from codeaudit.transforms.python.walking import below

_LISTING: Final = frozenset({"vars", "dir"})
"""They list the variables only if they are called without an argument."""
_SUPER: Final = "super"
"""It reads the first parameter of its caller. A call by this name shows that, a call by another does not."""
_CLASS: Final = "__class__"
"""The variable around a method that `super()` reads too; `nonlocal` lets a method bind it."""
_NAMES: Final = frozenset(
    {
        "locals", "eval", "exec", "__builtins__", "_getframe", "_getframemodulename", "currentframe",
        "getouterframes",
    }
)  # fmt: skip
_OF_BUILTINS: Final = frozenset({"locals", "vars", "dir", "eval", "exec"})
_OF_INSPECT: Final = frozenset({"stack", "trace"})
_ATTRIBUTES: Final = frozenset(
    {
        "_getframe", "_getframemodulename", "_current_frames", "currentframe", "getouterframes",
        "getinnerframes", "getframeinfo", "getclosurevars", "getfullargspec", "getargvalues", "getcallargs",
        "settrace", "setprofile", "f_locals", "f_back", "f_code", "tb_frame", "gi_frame", "cr_frame",
        "ag_frame", "gi_code", "cr_code", "ag_code", "__code__", "__closure__", "co_varnames", "co_freevars",
        "co_cellvars", "co_nlocals", "co_consts", "co_names",
    }
)  # fmt: skip
"""Attributes that give a frame or a code object, or belong to one."""
_SPELLING: Final = frozenset({"nameof", "argname", "varname"})
"""Functions that give the names of what they get, from the source (varname)."""
_PRINTING: Final = frozenset({"ic"})
"""Functions that print the source of what they get (icecream)."""
_SPOKEN: Final = _NAMES | _ATTRIBUTES | _SPELLING | _PRINTING
"""Names that look at variables wherever they stand alone."""
_EVALUATING: Final = frozenset(
    {"query", "eval", "evaluate", "sql", "sqldf", "dmatrix", "dmatrices", "from_formula"}
)
"""Functions and methods that evaluate a text with the variables of their caller: of pandas, numexpr, DuckDB,
pandasql, patsy. What they get is a text, wherever it comes from.
"""
_NAMING: Final = frozenset(
    {
        "conditional_logit", "conditional_mnlogit", "conditional_poisson", "execute", "filter_on", "gee",
        "glm", "glmgam", "gls", "glsar", "logit", "mixedlm", "mnlogit", "negativebinomial", "nominal_gee",
        "ols", "ordinal_gee", "phreg", "poisson", "probit", "quantreg", "rlm", "wls",
    }
)  # fmt: skip
"""Others of DuckDB and statsmodels. Their names mean something else elsewhere, so only a text that is written
there counts.
"""
_TAKING_TEXTS: Final = _EVALUATING | _NAMING
_WORD: Final = re.compile(r"\w+")


class _Mentions(NamedTuple):
    """What a tree mentions."""

    imported: frozenset[str]
    names: frozenset[str]
    attributes: frozenset[str]
    texts: frozenset[str]
    bare: frozenset[str]
    """Names of `_LISTING` that are not called with an argument, `_SUPER` if it is not called, and `_CLASS` if
    it is bound.
    """


def _is_bound(node: ast.Name) -> bool:
    return node.ctx.__class__ is not ast.Load


@lru_cache(maxsize=4)
def _mentions(tree: ast.AST) -> _Mentions:
    """What this very tree mentions; several transforms ask about one."""
    imported: set[str] = set()
    names: set[str] = set()
    attributes: set[str] = set()
    texts: set[str] = set()
    bare: set[str] = set()
    called: set[int] = set()
    for node in below(tree):
        kind = node.__class__
        if kind is ast.Name:
            assert isinstance(node, ast.Name)
            names.add(node.id)
            shown = node.id in _LISTING or node.id == _SUPER
            if (shown and id(node) not in called) or (node.id == _CLASS and _is_bound(node)):
                bare.add(node.id)
        elif kind is ast.Attribute:
            assert isinstance(node, ast.Attribute)
            attributes.add(node.attr)
        elif kind is ast.Call:
            assert isinstance(node, ast.Call)
            if isinstance(node.func, ast.Name) and (node.args or node.func.id == _SUPER):
                called.add(id(node.func))
        elif kind is ast.Constant:
            assert isinstance(node, ast.Constant)
            if isinstance(node.value, str):
                texts.add(node.value)
        elif kind is ast.Import:
            assert isinstance(node, ast.Import)
            imported.update(alias.name for alias in node.names)
        elif kind is ast.ImportFrom:
            assert isinstance(node, ast.ImportFrom)
            imported.add(node.module or "")
            attributes.update(alias.name for alias in node.names)
    return _Mentions(*map(frozenset, (imported, names, attributes, texts, bare)))


def looks_at_variables(tree: ast.AST, outer: Set[str] | None = None) -> bool:
    """Whether code in a tree may read variables or constants of the code around it as data.

    `outer` are the names that the tree takes from outside; if it is `None`, any spelling counts, whatever it
    means.
    """
    imported, names, attributes, texts, bare = _mentions(tree)
    wanted = _ATTRIBUTES
    if "builtins" in imported or "builtins" in names:
        wanted |= _OF_BUILTINS
    if "inspect" in imported or "inspect" in names:
        wanted |= _OF_INSPECT
    # `getattr(frame, "f_locals")` names the attribute in a text.
    spelled = not (texts.isdisjoint(wanted) and texts.isdisjoint(_NAMES))
    if outer is None:
        wanted |= _OF_BUILTINS | _OF_INSPECT
    else:
        names, bare = names & outer, bare & outer
    named = not (attributes.isdisjoint(wanted) and attributes.isdisjoint(_SPELLING))
    return bool(bare) or spelled or named or not names.isdisjoint(_SPOKEN)


def named_in_texts(tree: ast.AST, variables: Set[str]) -> frozenset[str]:
    """Those of the variables that a text may name which code in a tree has a library evaluate: `limit` for
    `frame.query("size > @limit")`. All of them, if the text is not written there.
    """
    written = _evaluate(tree)
    if False in written:
        return frozenset(variables)
    words = frozenset(_WORD.findall(" ".join(_mentions(tree).texts))) if written else frozenset[str]()
    return words & variables


def has_text_evaluated(tree: ast.AST) -> bool:
    """Whether code in a tree may have a library evaluate a text with its variables."""
    return bool(_evaluate(tree))


def _evaluate(tree: ast.AST) -> frozenset[bool]:
    """Of each call that may evaluate a text, whether the text is written there."""
    mentioned = _mentions(tree)
    if mentioned.names.isdisjoint(_TAKING_TEXTS) and mentioned.attributes.isdisjoint(_TAKING_TEXTS):
        return frozenset()
    found = set[bool]()
    for node in below(tree):
        if not isinstance(node, ast.Call):
            continue
        name = last_name(node.func)
        given = (*node.args, *(word.value for word in node.keywords))
        written = any(map(_is_written, given))
        if (name in _EVALUATING and given) or (name in _NAMING and written):
            found.add(written)
    return frozenset(found)


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


_OF_CALLERS: Final = frozenset({"f_locals", "getargvalues"})


def readers_of_callers(text: str, tree: Callable[[], ast.Module]) -> frozenset[str] | None:
    """The functions and methods of a file that may read the variables of their callers, such as
    `sys._getframe(1).f_locals`, and those that call them; `None` if any code may run one.
    """
    if not any(map(text.__contains__, _OF_CALLERS)):
        return frozenset()
    words = dict[str, set[str]]()
    for node in below(tree()):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                words.setdefault(name, set()).update(_words_in(node))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                words.setdefault(name, set()).update(_words_in(value))
            case _:
                pass
    found = set[str]()
    grown = {name for name, seen in words.items() if not _OF_CALLERS.isdisjoint(seen)}
    while grown - found:
        found |= grown
        grown = {name for name, seen in words.items() if not found.isdisjoint(seen)}
    # Nobody spells the name of what `with`, `+` and the making of an object call.
    return None if any(name.startswith("__") for name in found) else frozenset(found)


def mentions_any(tree: ast.AST, names: Set[str] | None) -> bool:
    """Whether code in a tree mentions one of these names; `None` stands for all names."""
    if not names:
        return names is None
    mentioned = _mentions(tree)
    return not (names.isdisjoint(mentioned.names) and names.isdisjoint(mentioned.attributes))


def _words_in(top: ast.AST) -> Iterator[str]:
    for node in below(top):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                yield name


_PRIVATE: Final = re.compile(r"\b_\w*")


@lru_cache(maxsize=4)
def spells_twice(text: str) -> bool:
    """Whether a text may spell one name in two ways: inside `class C`, `__x` means `_C__x`.

    Any word counts, also in strings: `getattr(self, "_C__x")`.
    """
    words = set(_PRIVATE.findall(normalised(text)))
    hidden = tuple(word for word in words if word.startswith("__") and not word.endswith("__"))
    return any(word.endswith(hidden) and not word.startswith("__") for word in words)
