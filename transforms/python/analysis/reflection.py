"""Whether a text may look at its own variables other than by their names: `locals()`, `eval`, frames, code
objects.

Renaming changes what such a look finds, and so does moving a statement that binds a variable. Whatever name
the looker goes by in the text counts: `show = locals` and `from builtins import locals as show` hide the
call.
"""

import ast
from collections.abc import Set
from typing import Final

_LISTING: Final = frozenset({"vars", "dir"})
"""They list the variables only if they are called without an argument."""
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


def looks_at_variables(tree: ast.AST, outer: Set[str] | None = None) -> bool:
    """Whether code in a tree may read variables or constants of the code around it as data.

    `outer` are the names that the tree takes from outside; if it is `None`, any spelling counts, whatever it
    means.
    """
    imported: set[str] = set()
    names: set[str] = set()
    attributes: set[str] = set()
    texts: set[str] = set()
    bare: set[str] = set()
    called: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name() as func, args=[_, *_]):
                called.add(id(func))
            case ast.Name(id=name):
                names.add(name)
                if name in _LISTING and id(node) not in called:
                    bare.add(name)
            case ast.Attribute(attr=name):
                attributes.add(name)
            case ast.Import(names=aliases):
                imported.update(alias.name for alias in aliases)
            case ast.ImportFrom(module=module, names=aliases):
                imported.add(module or "")
                attributes.update(alias.name for alias in aliases)
            case ast.Constant(value=str() as text):
                texts.add(text)
    wanted = _ATTRIBUTES
    if "builtins" in imported | names:
        wanted |= _OF_BUILTINS
    if "inspect" in imported | names:
        wanted |= _OF_INSPECT
    # `getattr(frame, "f_locals")` names the attribute in a text.
    spelled = texts & (wanted | _NAMES)
    if outer is None:
        wanted |= _OF_BUILTINS | _OF_INSPECT
    else:
        names, bare = names & outer, bare & outer
    return bool(bare or names & (_NAMES | _ATTRIBUTES) or attributes & wanted or spelled)
