"""Which names of a Python function are the same variable, and where in the text they stand.

`resolve` gives the referent relation of Renamer (Ankner et al., section 3) for one function: two occurrences
of a name are coreferential if they belong to one `PythonBinding`. The `view` of a binding is what a renaming
has to keep: the kind of thing that the name is. The rules are those of the language reference, "Naming and
binding": class bodies are invisible to the functions in them, the first iterable of a comprehension is read
outside of it, a walrus binds outside of comprehensions.

Everything around the function (globals, builtins, variables of enclosing functions, the function's own name)
belongs to the scope `OUTER`, number 0. The renaming transforms, `canonical` and the renamer's features use
this module.
"""

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from codeaudit.transforms.errors import NoFunctionError, SourceError
from codeaudit.transforms.patches import Positions
from codeaudit.transforms.python.analysis.fstrings import PARSER_KNOWS, fix_positions, prints_itself
from codeaudit.transforms.python.parsing import FunctionNode, parameter_nodes, parse, shared_tree
from codeaudit.transforms.python.walking import PARTS

OUTER: Final = 0
"""The number of the scope that stands for everything outside of the function."""

ScopeKind: TypeAlias = Literal["outer", "function", "lambda", "class", "comprehension", "type parameters"]

View: TypeAlias = Literal[
    "outer", "attribute", "function", "class", "import", "type parameter", "parameter", "import alias",
    "except", "capture", "comprehension", "walrus", "local",
]  # fmt: skip
"""What a name is. `outer`: bound outside of the function; `attribute`: bound in a class body; `class`: a
class or type alias; `import`: bound by an import that does not choose the name; `local`: bound by assignment,
`for` or `with`. A name that is bound in several ways has the view that comes first here.
"""

NameUse: TypeAlias = Literal["read", "write", "delete", "declare"]
"""What an occurrence does to the name; `declare`: named by `global` or `nonlocal`."""

NameContext: TypeAlias = Literal["code", "printed", "annotation"]
"""`printed`: in a field such as `f"{x=}"`, which prints the name; `annotation`: in an annotation; else
`code`.
"""

_RANK: Final[dict[View, int]] = {view: rank for rank, view in enumerate(get_args(View))}

_GAP: Final = rb"(?:[ \t\f\r\n]|\\\r?\n|\\\r|#[^\r\n]*)*"
_WORD: Final = rb"([A-Za-z_\x80-\xff][0-9A-Za-z_\x80-\xff]*)"
DEFINITION: Final = re.compile(rb"(?:async" + _GAP + rb")?(?:def|class)" + _GAP + _WORD)
_AS: Final = re.compile(rb"(?:" + _GAP + rb"\))*" + _GAP + rb"as" + _GAP + _WORD)
_STAR: Final = re.compile(_GAP + rb"\*\*?" + _GAP + _WORD)
_REST: Final = re.compile(rb"(?:" + _GAP + rb"[{,)])*" + _GAP + rb"\*\*" + _GAP + _WORD)
_NEXT: Final = re.compile(_GAP + rb",?" + _GAP + _WORD)
_HERE: Final = re.compile(_WORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A region of text in which names have one meaning."""

    number: int
    """Place in `PythonScopes.scopes`."""
    kind: ScopeKind
    parent: int
    """The number of the scope around it; -1 for `OUTER`."""
    node: ast.AST
    """The definition, lambda, class or comprehension; the module for `OUTER`."""


class NameOccurrence(NamedTuple):
    """One place at which a name stands. A tuple and not a dataclass, because a function has hundreds."""

    start: int
    """Byte offset in the UTF-8 source; -1 if the text at this place does not spell the name."""
    end: int
    """Byte offset behind the name; -1 if `start` is."""
    scope: int
    """The scope in whose text it stands, which may lie inside the scope that owns the name."""
    use: NameUse
    context: NameContext


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonBinding:
    """One variable: a name in the scope that owns it."""

    number: int
    """Position among all bindings, in the order of their first occurrence."""
    name: str
    view: View
    scope: int
    """The number of the scope that owns the name."""
    occurrences: tuple[NameOccurrence, ...]
    """In the order of the text."""

    @property
    def located(self) -> bool:
        """Whether the text shows every occurrence, each spelled like the name."""
        return all(occurrence.start >= 0 for occurrence in self.occurrences)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonScopes:
    """A function, its scopes and its variables."""

    source: bytes
    positions: Positions
    tree: ast.Module
    function: FunctionNode
    method: bool
    """Whether the function stands in a class."""
    scopes: tuple[Scope, ...]
    """By number; the first is `OUTER`."""
    body: int
    """The number of the function's own scope."""
    bindings: tuple[PythonBinding, ...]
    """By number."""
    slots: tuple[int, ...]
    """The number of the binding of every occurrence, in the order of a fixed walk of the tree."""
    attributes: frozenset[str]
    """The name of every attribute; also `name.attribute` for attributes of a plain name."""
    strings: tuple[str, ...]
    """Every string constant."""
    quoted: frozenset[str]
    """The words of annotations that are given as strings."""


Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


@lru_cache(maxsize=4)
def resolve(source: str) -> PythonScopes:
    """Resolve every name of one function, given as its text (with its decorators).

    An indented function is given under one wrapper line, `class _:` or `if 1:`, which stands for the text
    around it, so that none of its bytes has to move; that line names nothing. Offsets are those of the whole
    text. The last four results are cached, because a transform proposes and applies many times to one text.

    Raises:
        SourceError: the text does not parse, or is not exactly one function.
    """
    return _resolved(source, shared_tree(source))


def resolve_anew(source: str) -> PythonScopes:
    """As `resolve`, for a text that nobody asks for again."""
    return _resolved(source, parse(source))


def _resolved(source: str, tree: ast.Module) -> PythonScopes:
    function = only_function(tree)
    if function is None:
        raise NoFunctionError("the text is not one function definition; give one function at a time")
    try:
        return _ScopeWalk(source.encode(), tree, function).result()
    except (RecursionError, MemoryError) as error:
        raise SourceError("the text is nested too deeply; give a smaller function") from error


def only_function(tree: ast.Module) -> FunctionNode | None:
    """The one function of a text, alone or under a wrapper line; `None` if the text is anything else."""
    match tree.body:
        case [ast.FunctionDef() | ast.AsyncFunctionDef() as function]:
            return function
        case [ast.If(test=ast.Constant(value=1), body=[function], orelse=[])]:
            return function if isinstance(function, FunctionNode) else None
        case [ast.ClassDef(name="_", bases=[], keywords=[], decorator_list=[], body=[function]) as around]:
            bare = isinstance(function, FunctionNode) and not getattr(around, "type_params", [])
            return function if bare and isinstance(function, FunctionNode) else None
        case _:
            return None


class _ScopeNames:
    """The names of one scope, collected during the walk."""

    __slots__ = ("bound", "globals", "kind", "node", "nonlocals", "parent")

    def __init__(self, kind: ScopeKind, parent: int, node: ast.AST) -> None:
        self.kind: ScopeKind = kind
        self.parent = parent
        self.node = node
        self.bound: dict[str, View] = {}
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()


class _ScopeWalk:
    """One pass over the tree that notes every occurrence. Names are resolved at the end (`result`)."""

    def __init__(self, source: bytes, tree: ast.Module, function: FunctionNode) -> None:
        self.source = source
        self.tree = tree
        self.function = function
        self.positions = Positions(source)
        self.tables = [_ScopeNames("outer", -1, tree)]
        self.scope = OUTER
        self.body = OUTER
        self.context: NameContext = "code"
        self.in_fstring = False
        self.printing: set[int] = set()
        self.noted: list[tuple[str, NameOccurrence]] = []
        self.attributes: set[str] = set()
        self.strings: list[str] = []
        self.quoted: set[str] = set()

    # The walk

    def visit(self, node: ast.AST) -> None:
        handler = _HANDLERS.get(node.__class__)
        if handler is not None:
            handler(self, node)
            return
        for name in PARTS[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                for child in value:
                    if isinstance(child, ast.AST):
                        self.visit(child)
            elif isinstance(value, ast.AST):
                self.visit(value)

    def visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def enter(self, kind: ScopeKind, node: ast.AST) -> int:
        """Begin a scope; returns the number of the scope to go back to."""
        self.tables.append(_ScopeNames(kind, self.scope, node))
        before, self.scope = self.scope, len(self.tables) - 1
        return before

    # Noting names

    def note(self, name: str, start: int, use: NameUse, view: View | None = None) -> None:
        """Note an occurrence; with a `view` it also binds the name in the current scope."""
        if view is not None:
            self.bind(name, view, self.scope)
        spelled = name.encode()
        end = start + len(spelled)
        # The parser normalises names (NFKC): `ﬁ` in the text is `fi` in the tree. Such a name cannot be
        # replaced.
        if start < 0 or _word(self.source, start) != spelled:
            start = end = -1
        self.noted.append((name, NameOccurrence(start, end, self.scope, use, self.context)))

    def bind(self, name: str, view: View, scope: int) -> None:
        bound = self.tables[scope].bound
        earlier = bound.get(name)
        # A parameter that is also assigned stays a parameter: the strictest view decides.
        if earlier is None or _RANK[view] < _RANK[earlier]:
            bound[name] = view

    def start(self, node: ast.expr | ast.stmt | ast.arg | ast.alias | ast.pattern) -> int:
        return self.positions.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.arg | ast.alias | ast.pattern) -> int:
        return self.positions.offset(node.end_lineno or 0, node.end_col_offset or 0)

    def after(self, pattern: re.Pattern[bytes], at: int) -> int:
        """The offset of the word that a pattern finds from `at` on; -1 if it does not match."""
        match = pattern.match(self.source, at) if at >= 0 else None
        return match.start(1) if match else -1

    # Definitions

    def visit_functiondef(self, node: FunctionNode) -> None:
        self.visit_all(node.decorator_list)
        self.note(node.name, self.after(DEFINITION, self.start(node)), "write", "function")
        self.defaults(node.args)
        outside = self.scope
        if parameters := getattr(node, "type_params", None):
            self.type_parameters(node, parameters)
        self.annotations(node)
        self.enter("function", node)
        if node is self.function:
            self.body = self.scope
        self.parameters(node.args)
        self.visit_all(node.body)
        self.scope = outside

    visit_asyncfunctiondef = visit_functiondef

    def visit_lambda(self, node: ast.Lambda) -> None:
        self.defaults(node.args)
        outside = self.enter("lambda", node)
        self.parameters(node.args)
        self.visit(node.body)
        self.scope = outside

    def defaults(self, arguments: ast.arguments) -> None:
        self.visit_all(arguments.defaults)
        self.visit_all(arguments.kw_defaults)

    def annotations(self, node: FunctionNode) -> None:
        for parameter in parameter_nodes(node.args):
            self.annotation(parameter.annotation)
        self.annotation(node.returns)

    def annotation(self, node: ast.expr | None) -> None:
        if node is not None:
            before, self.context = self.context, "annotation"
            self.visit(node)
            self.context = before

    def parameters(self, arguments: ast.arguments) -> None:
        for parameter in parameter_nodes(arguments):
            self.note(parameter.arg, self.start(parameter), "write", "parameter")

    def type_parameters(self, node: ast.AST, parameters: Sequence[ast.AST]) -> None:
        """Begin the scope of type parameters and note them; the caller leaves the scope."""
        self.enter("type parameters", node)
        for parameter in parameters:
            name: str = parameter.name  # type: ignore[attr-defined]
            at = self.positions.offset(parameter.lineno, parameter.col_offset)  # type: ignore[attr-defined]
            starred = self.source.startswith(b"*", at)
            self.note(name, self.after(_STAR, at) if starred else at, "write", "type parameter")
        for parameter in parameters:
            self.annotation(getattr(parameter, "bound", None))
            self.annotation(getattr(parameter, "default_value", None))

    def visit_typealias(self, node: ast.AST) -> None:
        outside = self.scope
        name: ast.Name = node.name  # type: ignore[attr-defined]
        self.note(name.id, self.start(name), "write", "class")
        self.type_parameters(node, node.type_params)  # type: ignore[attr-defined]
        self.annotation(node.value)  # type: ignore[attr-defined]
        self.scope = outside

    def visit_classdef(self, node: ast.ClassDef) -> None:
        self.visit_all(node.decorator_list)
        self.note(node.name, self.after(DEFINITION, self.start(node)), "write", "class")
        outside = self.scope
        if parameters := getattr(node, "type_params", None):
            self.type_parameters(node, parameters)
        # Bases are evaluated outside of the class, but see its type parameters.
        self.visit_all(node.bases)
        self.visit_all(node.keywords)
        self.enter("class", node)
        self.visit_all(node.body)
        self.scope = outside

    def visit_listcomp(self, node: Comprehension) -> None:
        first, *rest = node.generators
        # The first iterable belongs to the scope around: in `[x for x in x]` the last `x` is another
        # variable.
        self.visit(first.iter)
        outside = self.enter("comprehension", node)
        self.visit(first.target)
        self.visit_all(first.ifs)
        for generator in rest:
            self.visit(generator.target)
            self.visit(generator.iter)
            self.visit_all(generator.ifs)
        self.visit_all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self.scope = outside

    visit_setcomp = visit_dictcomp = visit_generatorexp = visit_listcomp

    # Names

    def visit_name(self, node: ast.Name) -> None:
        use = _USES[node.ctx.__class__]
        if use != "read":
            view: View = "comprehension" if self.tables[self.scope].kind == "comprehension" else "local"
            self.bind(node.id, view, self.scope)
        spelled = node.id.encode()
        start = self.positions.offset(node.lineno, node.col_offset)
        end = start + len(spelled)
        # Compare the width with the parser's, so that a longer word in the text is not taken for the name.
        width = (node.end_col_offset or 0) - node.col_offset
        if start < 0 or width != len(spelled) or not self.source.startswith(spelled, start):
            start = end = -1
        self.noted.append((node.id, NameOccurrence(start, end, self.scope, use, self.context)))

    def visit_namedexpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        target = self.scope
        # PEP 572: a walrus in a comprehension binds in the scope around all comprehensions.
        while self.tables[target].kind == "comprehension":
            target = self.tables[target].parent
        self.bind(node.target.id, "walrus", target)
        self.note(node.target.id, self.start(node.target), "write")

    def visit_excepthandler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self.visit(node.type)
            if node.name is not None:
                self.note(node.name, self.after(_AS, self.end(node.type)), "write", "except")
        self.visit_all(node.body)

    def visit_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.asname is not None:
                # The name behind `as` is the last word; before it, the same word may stand as the module.
                start = self.end(alias) - len(alias.asname.encode())
                self.note(alias.asname, start, "write", "import alias")
            # `import os.path` binds `os`.
            elif alias.name != "*":
                self.note(alias.name.partition(".")[0], self.start(alias), "write", "import")

    visit_importfrom = visit_import

    def visit_global(self, node: ast.Global | ast.Nonlocal) -> None:
        table = self.tables[self.scope]
        (table.globals if isinstance(node, ast.Global) else table.nonlocals).update(node.names)
        at = self.start(node) + len("global" if isinstance(node, ast.Global) else "nonlocal")
        for name in node.names:
            start = self.after(_NEXT, at)
            at = start + len(_word(self.source, start)) if start >= 0 else -1
            self.note(name, start, "declare")

    visit_nonlocal = visit_global

    def visit_matchas(self, node: ast.MatchAs) -> None:
        if node.pattern is not None:
            self.visit(node.pattern)
        if node.name is not None:
            self.note(node.name, self.end(node) - len(node.name.encode()), "write", "capture")

    def visit_matchstar(self, node: ast.MatchStar) -> None:
        if node.name is not None:
            self.note(node.name, self.after(_STAR, self.start(node)), "write", "capture")

    def visit_matchmapping(self, node: ast.MatchMapping) -> None:
        self.visit_all(node.keys)
        self.visit_all(node.patterns)
        if node.rest is not None:
            at = self.end(node.patterns[-1]) if node.patterns else self.start(node)
            self.note(node.rest, self.after(_REST, at), "write", "capture")

    # The rest

    def visit_annassign(self, node: ast.AnnAssign) -> None:
        self.annotation(node.annotation)
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_joinedstr(self, node: ast.JoinedStr) -> None:
        outermost = not self.in_fstring
        if outermost and not PARSER_KNOWS:
            self.printing |= fix_positions(node, self.source, self.positions)
        self.in_fstring = True
        self.visit_all(node.values)
        self.in_fstring = not outermost

    def visit_formattedvalue(self, node: ast.FormattedValue) -> None:
        before = self.context
        if id(node) in self.printing or (PARSER_KNOWS and prints_itself(node, self.source, self.positions)):
            self.context = "printed"
        self.visit(node.value)
        self.context = before
        if node.format_spec is not None:
            self.visit(node.format_spec)

    def visit_constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.strings.append(node.value)
            if self.context == "annotation":
                self.quoted.update(re.findall(r"\w+", node.value))

    def visit_attribute(self, node: ast.Attribute) -> None:
        self.attributes.add(node.attr)
        if isinstance(node.value, ast.Name):
            self.attributes.add(f"{node.value.id}.{node.attr}")
        self.visit(node.value)

    # The result

    def result(self) -> PythonScopes:
        self.visit(self.function)
        uses: dict[tuple[int, str], list[NameOccurrence]] = {}
        keys = [(self.owner(occurrence.scope, name), name) for name, occurrence in self.noted]
        for key, (_, occurrence) in zip(keys, self.noted, strict=True):
            uses.setdefault(key, []).append(occurrence)
        for occurrences in uses.values():
            occurrences.sort(key=_start)
        order = sorted(uses, key=lambda key: _start(uses[key][0]))
        numbers = {key: number for number, key in enumerate(order)}
        return PythonScopes(
            source=self.source,
            positions=self.positions,
            tree=self.tree,
            function=self.function,
            method=isinstance(self.tree.body[0], ast.ClassDef),
            scopes=tuple(
                Scope(number=number, kind=table.kind, parent=table.parent, node=table.node)
                for number, table in enumerate(self.tables)
            ),
            body=self.body,
            bindings=tuple(self.binding(number, key, uses[key]) for number, key in enumerate(order)),
            slots=tuple(numbers[key] for key in keys),
            attributes=frozenset(self.attributes),
            strings=tuple(self.strings),
            quoted=frozenset(self.quoted),
        )

    def binding(self, number: int, key: tuple[int, str], occurrences: list[NameOccurrence]) -> PythonBinding:
        scope, name = key
        table = self.tables[scope]
        view: View = "attribute" if table.kind == "class" else table.bound.get(name, "outer")
        if scope == OUTER:
            view = "outer"
        return PythonBinding(number=number, name=name, view=view, scope=scope, occurrences=tuple(occurrences))

    def owner(self, scope: int, name: str) -> int:
        """The number of the scope that owns a name used in a scope."""
        table = self.tables[scope]
        if scope == OUTER or name in table.globals:
            return OUTER
        if name in table.bound and name not in table.nonlocals:
            return scope
        # PEP 695: the scope of type parameters sees the names of the class around it. Functions do not.
        sees_class = table.kind == "type parameters"
        around = table.parent
        while around > OUTER:
            table = self.tables[around]
            if table.kind != "class" or sees_class:
                if name in table.globals:
                    return OUTER
                if name in table.bound and name not in table.nonlocals:
                    return around
            around = table.parent
        return OUTER


def _word(source: bytes, at: int) -> bytes:
    match = _HERE.match(source, at) if at >= 0 else None
    return match[1] if match else b""


def _start(occurrence: NameOccurrence) -> int:
    return occurrence.start


_USES: Final[dict[type[ast.AST], NameUse]] = {ast.Load: "read", ast.Store: "write", ast.Del: "delete"}

_HANDLERS: Final[dict[type[ast.AST], Callable[..., None]]] = {
    kind: getattr(_ScopeWalk, f"visit_{name.lower()}")
    for name, kind in vars(ast).items()
    if hasattr(_ScopeWalk, f"visit_{name.lower()}")
}
"""The method of each kind of node has its name, in lower case. All other nodes only hold nodes."""
