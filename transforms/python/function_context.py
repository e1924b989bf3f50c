"""The function in a text that holds other statements too, and what those statements mean for it.

A transform of functions is given one function. It assumes that the names of builtins and modules mean what
they say; that is checked here wherever the text around the function is known. `perturb` calls
`function_context` and, where it knows the file, `obstacle_in_file`. `reorder` needs neither: it takes a
rebound name for an unknown one.
"""

import ast
import re
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.patches import line_starts
from codeaudit.transforms.python.analysis.capabilities import ANY_NAME
from codeaudit.transforms.python.analysis.facts import bound_by, comprehension_targets, own_nodes
from codeaudit.transforms.python.analysis.index import TextIndex, index_of
from codeaudit.transforms.python.analysis.knowledge import BUILTINS, MODULE_NAMES
from codeaudit.transforms.python.parsing import (
    FunctionNode,
    file_tree,
    first_line,
    last_name,
    normalised,
    parse,
    table_of,
)
from codeaudit.transforms.python.unseen_bindings import bound_in
from codeaudit.transforms.python.walking import below, reached
from codeaudit.transforms.records import FunctionContext
from codeaudit.transforms.remembering import fact

REBOUND: Final = "a builtin's name means something else here"
"""The reason why a function is left alone if its text rebinds a builtin or module that the function mentions.
"""
COMPILED: Final = "another compiler reads the source"
"""The reason why a function is left alone that TorchScript, Numba or their like compile. They know a part of
Python, and look at annotations that Python does not evaluate.
"""
_COMPILERS: Final = (
    r"(?:jit|njit|qjit|script|script_method|script_if_tracing|(?<!np\.)(?<!numpy\.)vectorize|guvectorize"
    r"|stencil|cfunc|ccall|kernel|prim_func|jitclass|(?<=tf\.)function|(?<=ti\.)func|(?<=dace\.)program)"
)
"""Of TorchScript, ONNX Script, Numba, Triton, Cython, Taichi, TVM, TensorFlow's AutoGraph, DaCe."""
_COMPILED: Final = re.compile(rf"^[ \t]*@[ \t]*(?:\w+\.)*{_COMPILERS}\b", re.MULTILINE)
_COMPILED_NAME: Final = re.compile(rf"\b{_COMPILERS}(?=\(\s*(\w+))(?:\([^()\n]*\)\(\s*(\w+))?")
"""The names of what may be compiled by a call: `fast = njit(slow)`, `njit(cache=True)(slow)`."""
_SCRIPTED: Final = re.compile(r"\bjit\.script\(\s*(\w+)")
"""What TorchScript compiles together with all that it calls, such as the methods of a model."""

_DEFINITION: Final = re.compile(r"^(?:async )?def ", re.MULTILINE)
_NAMED: Final = re.compile(r"\bdef[ \t]+(\w+)")
_OTHER: Final = re.compile(r"^(?!(?:async )?def |[@#)\]}\s]|$)", re.MULTILINE)
_WRAPPER: Final = re.compile(r"(?:class _|if 1):\n")
_GLOBAL: Final = re.compile(r"global\b((?:[^\n\\]|\\[\s\S])*)")
"""The names of a `global` statement, and what else stands on its line."""
_IMPORT: Final = "__import__"
"""The builtin that import statements call."""
_STARRED: Final = re.compile(r"import[\s\\]*\*")
"""What every star import holds, and perhaps a comment."""
_WORD: Final = re.compile(r"[^\W\d]\w*")
_PLAIN_BUILTINS: Final = frozenset(name for name in BUILTINS if not name.startswith("__"))
_KNOWN: Final = _PLAIN_BUILTINS | MODULE_NAMES
_ANY: Final = _KNOWN | {_IMPORT}
"""The names of a text that may bind any name."""
_IN_STANDARD_MODULES: Final = frozenset({
    "BlockingIOError", "Ellipsis", "TimeoutError", "Warning", "abs", "compile", "copyright", "enumerate",
    "exec", "exit", "filter", "format", "help", "input", "max", "open", "pow", "property", "repr", "slice",
    "str",
})  # fmt: skip
"""Names of builtins that `import *` takes from some module of the standard library."""


@lru_cache(maxsize=4)
def function_context(source: str) -> FunctionContext:
    """The last function at the top level of a text; the whole text if it holds nothing else, or no function.

    Raises:
        SourceError: the text does not parse.
    """
    context = FunctionContext("", source, "") if _is_alone(source) else _cut(source)
    if (
        context.obstacle is None
        and _COMPILED.search(context.source)
        and _COMPILED.search(_code(context.source))
    ):
        return replace(context, obstacle=COMPILED)
    return context


def obstacle_in_file(source: str, file: str, *, names_count: bool = True) -> str | None:
    """Why a function cannot be rewritten in a file with this text; `None` if it can.

    `names_count`: whether the names of builtins must mean what they say. Layout does not depend on them.
    """
    compiled = _compiled_in(file)
    if compiled and (None in compiled or not compiled.isdisjoint(_NAMED.findall(source))):
        return COMPILED
    names = _KNOWN.intersection(_WORD.findall(normalised(source))) if names_count else None
    if not names:
        return None
    # Most files bind none of these names, which is seen without a syntax tree.
    if file not in _REBOUND_IN and names.isdisjoint(_bindable(file)):
        return None
    names &= rebound_names(file)
    # Words of comments and docstrings are no names.
    return REBOUND if names and not names.isdisjoint(_WORD.findall(_code(source))) else None


@lru_cache(maxsize=64)
def _compiled_in(file: str) -> frozenset[str | None]:
    """The names of what calls in a file compile; `None` stands for the methods of a class."""
    return frozenset(fact(file, "compiled", lambda: _find_compiled(file)))


def _find_compiled(file: str) -> list[str | None]:
    if not (_COMPILED.search(file) or _COMPILED_NAME.search(file)):
        return []
    code = _code(file)
    names = {name for pair in _COMPILED_NAME.findall(code) for name in pair if name}
    try:
        index = TextIndex(parse(code))
    except SourceError:
        return [*names]

    def is_compiled(node: FunctionNode | ast.ClassDef) -> bool:
        return any(_COMPILED.match(f"@{ast.unparse(decorator)}") for decorator in node.decorator_list)

    functions = {node.name: node for node in index.functions}
    others = {*_SCRIPTED.findall(code)} - functions.keys()
    if index(ast.ClassDef) and (others or any(map(is_compiled, index(ast.ClassDef)))):
        return [None]
    names |= {name for name, node in functions.items() if is_compiled(node)}
    return [*reached(names, lambda name: _calls_of(functions[name]) if name in functions else ())]


def _calls_of(function: FunctionNode) -> Set[str]:
    """The names of what a function calls."""
    called = (last_name(node.func) for node in below(function) if isinstance(node, ast.Call))
    return {name for name in called if name}


@lru_cache(maxsize=4)
def _code(text: str) -> str:
    """A text without its comments and docstrings; the text itself where it cannot be read."""
    try:
        return ast.unparse(_WithoutDocstrings().visit(parse(text)))
    except (SourceError, RecursionError):
        return normalised(text)


class _WithoutDocstrings(ast.NodeTransformer):
    """Puts `...` in the place of every text that is a statement of its own."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        """Empty a text that stands alone."""
        bare = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return ast.Expr(ast.Constant(...)) if bare else node


def rebound_names(text: str) -> frozenset[str]:
    """Names of builtins and modules to which the text of a file gives another meaning, or `import *` may."""
    names = _REBOUND_IN.get(text)
    if names is not None:
        return names
    return _noted(text, frozenset(fact(text, "rebound", lambda: _find_rebound(text))))


def _find_rebound(text: str) -> list[str]:
    tree = None
    if _bindable(text):
        with suppress(SourceError):  # a text that does not parse is left alone elsewhere
            tree = file_tree(text)
    return [*_rebound_in(text, tree or ast.Module(body=[], type_ignores=[]), lambda: index_of(text))]


@lru_cache(maxsize=64)
def _bindable(text: str) -> frozenset[str]:
    """Names of builtins and modules that a file may rebind."""
    return frozenset(fact(text, "bindable", lambda: _find_bindable(text)))


def _find_bindable(text: str) -> list[str]:
    names = _starred(text) | _declared(text) | _bound_at_top(text)
    with suppress(SourceError):  # a text that does not parse is left alone elsewhere
        names |= _expanded(bound_in(text, lambda: index_of(text)))
    return [*names]


def rebound_in(text: str, tree: ast.Module, walked: Callable[[], TextIndex]) -> frozenset[str]:
    """Names of builtins and modules to which a parsed text gives another meaning, or `import *` may.

    `walked` gives the index of the tree.
    """
    names = _REBOUND_IN.get(text)
    return _noted(text, _rebound_in(text, tree, walked)) if names is None else names


_REBOUND_IN: Final[dict[str, frozenset[str]]] = {}
"""The last answers. A transform that has the tree of a file and one that has not share them."""
_KEPT: Final = 64


def _noted(text: str, names: frozenset[str]) -> frozenset[str]:
    while len(_REBOUND_IN) >= _KEPT:
        _REBOUND_IN.pop(next(iter(_REBOUND_IN)), None)
    _REBOUND_IN[text] = names
    return names


def _rebound_in(text: str, tree: ast.Module, walked: Callable[[], TextIndex]) -> frozenset[str]:
    names = _starred(text) | _rebound_by(own_nodes(tree.body))
    # A local called `list` rebinds nothing for other functions; the analysis sees it in its own function.
    for scope in below(tree) if _declared(text) else ():
        if isinstance(scope, FunctionNode | ast.ClassDef):
            nodes = own_nodes(scope.body)
            declared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
            if declared:
                names |= declared & _rebound_by(nodes)
    names |= _expanded(bound_in(text, walked))
    return frozenset(names)


def _expanded(names: Set[str]) -> Set[str]:
    return _ANY if ANY_NAME in names else names & _ANY


def _rebound_by(nodes: Sequence[ast.AST]) -> Set[str]:
    """The names of builtins and modules that the nodes of one scope bind to something else."""
    bound, imported, defined = set[str](), set[str](), set[str]()
    inner = set[int]()
    for node in nodes:
        inner |= comprehension_targets(node)
        names = set() if id(node) in inner else set(bound_by(node))
        bound |= names
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= names
        elif isinstance(node, FunctionNode | ast.ClassDef):
            defined |= names
    variables = bound - imported - defined
    return bound & _PLAIN_BUILTINS | variables & MODULE_NAMES


def _declared(text: str) -> Set[str]:
    """Names of builtins and modules that some function may declare global."""
    # Looking for the plain word first saves most searches.
    declared = _GLOBAL.findall(normalised(text)) if "global" in text else ()
    return _KNOWN.intersection(_WORD.findall(" ".join(declared)))


def _starred(text: str) -> Set[str]:
    """The names that a star import may bind; what it binds is not in the text."""
    names: set[str] = set()
    # A search that begins with a long plain word is the fastest.
    if not _STARRED.search(text):
        return names
    try:
        imports = index_of(text)(ast.ImportFrom)
    except SourceError:
        return _KNOWN
    for node in imports:
        if node.names[0].name == "*":
            # Assume the worst of modules that are not standard.
            standard = not node.level and node.module in MODULE_NAMES
            names |= _IN_STANDARD_MODULES if standard else _KNOWN
    return names


def _bound_at_top(text: str) -> Set[str]:
    """Names of builtins and modules that the top level of a text may bind.

    What the interpreter's table says of comprehensions differs between versions: since Python 3.12 their
    variables stand there, and an assignment expression inside of them counts as a declaration.
    """
    table = table_of(text)
    if table is None:
        return _KNOWN  # nothing is known of a text that does not compile
    names = set[str]()
    for name in _KNOWN.intersection(table.get_identifiers()):
        symbol = table.lookup(name)
        if (
            symbol.is_assigned()
            or symbol.is_declared_global()
            or (symbol.is_imported() and name in _PLAIN_BUILTINS)
        ):
            names.add(name)
    return names


def _is_alone(source: str) -> bool:
    """Whether the first columns show that a text is one function, possibly under a wrapper line. Saves
    parsing.
    """
    if _WRAPPER.match(source):
        return True
    return len(_DEFINITION.findall(source)) == 1 and _OTHER.search(source) is None


def _cut(source: str) -> FunctionContext:
    """The text split around its last function; needs a parsed text."""
    body = parse(source).body
    functions = [node for node in body if isinstance(node, FunctionNode)]
    if not functions or len(body) == 1:
        return FunctionContext("", source, "")
    # Helpers come first, the function in question last.
    node = functions[-1]
    text = source.encode()
    starts = line_starts(text)
    start = starts[first_line(node) - 1]
    last = node.end_lineno or node.lineno
    end = starts[last] if last < len(starts) else len(text)
    before, inner, after = (piece.decode() for piece in (text[:start], text[start:end], text[end:]))
    try:
        alone = len(parse(inner).body) == 1
    except SourceError:
        alone = False
    if not alone:  # the function shares a line with another statement
        return FunctionContext("", source, "")
    return FunctionContext(before, inner, after, obstacle_in_file(inner, source))
