"""Where functions and classes of a text are mentioned, and whether any code could see their names.

The name of a definition is more visible than that of a variable. It stands in `__name__`, in `__qualname__`
(also of definitions inside), in a `repr`, and in the message of a TypeError for wrong arguments. It may
change only if the text shows that no code reaches any of these:

- A function is only ever called by its plain name, with arguments that fit, and makes nothing that carries
  its name outside.
- A class is a mere namespace: it has no base, no method and no instance, holds literals, and only these are
  read.
- Each name stands for one thing in the whole text and occurs in no string, because text may be looked up
  (`f"{x=}"` holds its own text too).

`definitions` asks it which definitions it may rename.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

from codeaudit.transforms.patches import Positions
from codeaudit.transforms.python.analysis.facts import is_generator, stored_names
from codeaudit.transforms.python.analysis.fstrings import PARSER_KNOWS, fix_positions
from codeaudit.transforms.python.analysis.scopes import DEFINITION
from codeaudit.transforms.python.identifiers.obstacles import WORDS, mangled, prepared, type_comment_words
from codeaudit.transforms.python.parsing import FunctionNode
from codeaudit.transforms.python.walking import below

Candidate: TypeAlias = FunctionNode | ast.ClassDef
_Context: TypeAlias = Literal["code", "annotation", "prepared"]

_DRAINS: Final = frozenset(
    {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"}
)
"""Builtins that consume a generator and never show it."""
_KEYED: Final = frozenset({"max", "min", "sorted"})
"""Builtins that call their `key` with one argument and never show it."""
_KEYWORDS: Final = frozenset({"default", "key", "reverse", "start"})
"""Keywords of these builtins that show nothing either."""
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp)

ELSEWHERE: Final = "name stands for several things"
OUT_OF_SIGHT: Final = "used other than by a plain call"
VALUE: Final = "used other than for its own attributes"
ARGUMENTS: Final = "arguments may not fit"
DECORATED: Final = "decorator may see the name"
SPECIAL_KIND: Final = "generator or coroutine shows its name"
INSIDE: Final = "a definition inside carries the name"
IN_TEXT: Final = "name stands in a text"
ANNOTATION: Final = "name stands in an annotation"
PREPARED: Final = "name is read in a class with a metaclass"
LOST: Final = "name not found in the text"
NOT_NAMESPACE: Final = "class is more than a namespace of literals"


class Survey:
    """The mentions of some definitions in a tree whose nodes have positions in a source."""

    def __init__(self, root: ast.AST, source: bytes, candidates: Iterable[Candidate]) -> None:
        """Survey the text below `root` for mentions of the `candidates`."""
        self.places: dict[str, list[int]] = {}
        """The byte offsets of every mention, by name."""
        self.obstacles: dict[str, str] = {}
        """The reason why a name must stay, by name."""
        self._source = source
        self._positions = Positions(source)
        self._in_fstring = False
        self._nodes: dict[str, Candidate] = {}
        rebound = frozenset(stored_names(root))
        for node in candidates:
            if node.name in self._nodes:
                self._refuse(node.name, ELSEWHERE)
            elif reason := _own_obstacle(node, rebound):
                self._refuse(node.name, reason)
            self._nodes[node.name] = node
            self.places.setdefault(node.name, [])
        for word in type_comment_words(source) & self._nodes.keys():
            self._refuse(word, ANNOTATION)
        if self._nodes:
            self._visit(root, "code")

    def _refuse(self, name: str, reason: str) -> None:
        self.obstacles.setdefault(name, reason)

    def _mention(self, name: str, start: int, context: _Context) -> None:
        if context != "code":
            self._refuse(name, ANNOTATION if context == "annotation" else PREPARED)
        if start < 0 or not self._source.startswith(name.encode(), start):
            self._refuse(name, LOST)
        self.places[name].append(start)

    def _visit(self, node: ast.AST, context: _Context) -> None:
        match node:
            case ast.Call(func=ast.Name(id=name) as callee) if name in self._nodes:
                self._call(node, self._nodes[name], callee, context)
                self._visit_all((*node.args, *node.keywords), context)
            case ast.Attribute(value=ast.Name(id=name) as owner, attr=attribute) if name in self._nodes:
                self._attribute(node, self._nodes[name], owner, context)
                self._text_field(attribute)
            case ast.Name(id=name):
                if name in self._nodes:
                    self._refuse(name, VALUE if isinstance(self._nodes[name], ast.ClassDef) else OUT_OF_SIGHT)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._definition(node, context)
            case ast.arg() | ast.AnnAssign():
                self._fields(node, context, annotations=True)
            case ast.JoinedStr():
                if not (PARSER_KNOWS or self._in_fstring):
                    fix_positions(node, self._source, self._positions)
                before, self._in_fstring = self._in_fstring, True
                self._fields(node, context)
                self._in_fstring = before
            case ast.Constant(value=str() as text):
                # `globals()["_f"]` or `getattr(module, "_f")` would find the old name.
                for word in self._nodes.keys() & set(WORDS.findall(text)):
                    self._refuse(word, IN_TEXT)
            case _:
                self._fields(node, context)

    def _visit_all(self, nodes: Iterable[ast.AST], context: _Context) -> None:
        for node in nodes:
            self._visit(node, context)

    def _fields(self, node: ast.AST, context: _Context, *, annotations: bool = False) -> None:
        for field in node._fields:
            value = getattr(node, field, None)
            inner: _Context = "annotation" if annotations and field == "annotation" else context
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, ast.AST):
                    self._visit(item, inner)
                elif isinstance(item, str):
                    self._text_field(item)

    def _text_field(self, text: str) -> None:
        """An attribute, keyword, import or declaration spelled like a candidate names something else."""
        for word in text.split("."):
            if word in self._nodes:
                self._refuse(word, ELSEWHERE)

    def _call(self, call: ast.Call, node: Candidate, callee: ast.Name, context: _Context) -> None:
        self._mention(node.name, self._start(callee), context)
        # An instance shows the name of its class.
        if isinstance(node, ast.ClassDef):
            self._refuse(node.name, VALUE)
        elif not fits(node.args, call):
            self._refuse(node.name, ARGUMENTS)

    def _attribute(self, use: ast.Attribute, node: Candidate, owner: ast.Name, context: _Context) -> None:
        self._mention(node.name, self._start(owner), context)
        if not isinstance(node, ast.ClassDef):
            self._refuse(node.name, OUT_OF_SIGHT)
        # `C.__name__` exists in every class; only the names that the class binds itself are plain.
        elif use.attr not in _members(node) or not isinstance(use.ctx, ast.Load):
            self._refuse(node.name, VALUE)

    def _definition(self, node: Candidate, context: _Context) -> None:
        # Another definition of the same name inside a function is another variable; it is not distinguished
        # here.
        if self._nodes.get(node.name) is node:
            match = DEFINITION.match(self._source, self._start(node))
            self._mention(node.name, match.start(1) if match else -1, "code")
        else:
            self._text_field(node.name)
        self._visit_all(node.decorator_list, context)
        self._visit_all(getattr(node, "type_params", []), "annotation")
        if isinstance(node, ast.ClassDef):
            self._visit_all((*node.bases, *node.keywords), context)
            around = prepared(node)
            self._visit_all(node.body, "prepared" if around else "code")
        else:
            self._visit(node.args, context)
            if node.returns is not None:
                self._visit(node.returns, "annotation")
            self._visit_all(node.body, "code")

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._positions.offset(node.lineno, node.col_offset)


def fits(arguments: ast.arguments, call: ast.Call) -> bool:
    """Whether the arguments of a call certainly fit a signature, so that no TypeError names the function."""
    # The number of `*args` is not in the text.
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return False
    positional = [*arguments.posonlyargs, *arguments.args]
    if len(call.args) > len(positional) and arguments.vararg is None:
        return False
    filled = {parameter.arg for parameter in positional[: len(call.args)]}
    by_key = {parameter.arg for parameter in (*arguments.args, *arguments.kwonlyargs)}
    for word in call.keywords:
        # `f(**given)` may give anything; a parameter given twice is a TypeError.
        if word.arg is None or word.arg in filled:
            return False
        if word.arg not in by_key and arguments.kwarg is None:
            return False
        filled.add(word.arg)
    needed = {parameter.arg for parameter in positional[: len(positional) - len(arguments.defaults)]}
    needed |= {
        parameter.arg
        for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    }
    # `f(x=1)` does not fill the `x` of `def f(x, /, **more)`.
    beyond = {parameter.arg for parameter in arguments.posonlyargs[len(call.args) :]}
    return needed <= filled - (beyond & {word.arg for word in call.keywords})


def _own_obstacle(node: Candidate, rebound: frozenset[str]) -> str | None:
    """Why a definition must keep its name, judging by the definition alone; `None` if nothing in it prevents
    a renaming.
    """
    if mangled(node.name) or not node.name.strip("_"):
        return "mangled or special name"
    if node.decorator_list:
        return DECORATED
    if getattr(node, "type_params", []):
        return INSIDE
    if isinstance(node, ast.ClassDef):
        # A base or metaclass may look at the name of the new class.
        namespace = not node.bases and not node.keywords and all(map(_holds_literals, node.body))
        return None if namespace else NOT_NAMESPACE
    # The `repr` of a coroutine or generator shows the qualified name of its function.
    if isinstance(node, ast.AsyncFunctionDef) or is_generator(node):
        return SPECIAL_KIND
    return INSIDE if _shows_itself(node, rebound) else None


def _shows_itself(function: ast.FunctionDef, rebound: frozenset[str]) -> bool:
    """Whether a function defines something that may go to a place where its qualified name is seen."""
    # The `__qualname__` of an inner function, `f.<locals>.g`, contains the name of the outer one.
    nodes = list(_own_nodes(function.body))
    harmless: set[int] = set()
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[*arguments], keywords=words) if name not in rebound:
                if name in _DRAINS and len(arguments) == 1 and {word.arg for word in words} <= _KEYWORDS:
                    harmless |= {id(item) for item in arguments if isinstance(item, ast.GeneratorExp)}
                if name in _KEYED:
                    harmless |= {id(word.value) for word in words if word.arg == "key" and _unary(word.value)}
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="join"), args=[argument]):
                harmless |= {id(item) for item in (argument,) if isinstance(item, ast.GeneratorExp)}
    return any(isinstance(node, _SCOPES) and id(node) not in harmless for node in nodes)


def _own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a body; nested definitions are included, but not their contents."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            pending += ast.iter_child_nodes(node)
        elif isinstance(node, ast.GeneratorExp | ast.Lambda):
            inner = [node.body] if isinstance(node, ast.Lambda) else [node.elt, *node.generators]
            pending += inner


def _unary(node: ast.expr) -> bool:
    """Whether an expression is a lambda that one argument fits."""
    if not isinstance(node, ast.Lambda):
        return False
    call = ast.Call(func=node, args=[ast.Constant(value=None)], keywords=[])
    return fits(node.args, call)


def _members(node: ast.ClassDef) -> frozenset[str]:
    """The names that a namespace class holds."""
    return frozenset(
        target.id
        for statement in node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and not mangled(target.id)
    )


def _holds_literals(statement: ast.stmt) -> bool:
    """Whether a statement of a class body only binds names to literals."""
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=targets, value=value):
            plain = all(isinstance(goal, ast.Name) and not goal.id.startswith("__") for goal in targets)
            return plain and _is_literal(value)
        case _:
            return False


def _is_literal(node: ast.expr) -> bool:
    """Whether a value is of a builtin type that ignores the class in which it is stored (it has no
    `__set_name__`).
    """
    match node:
        case ast.Constant() | ast.JoinedStr():
            return True
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
            return _is_literal(operand)
        case ast.BinOp(left=left, right=right):
            return _is_literal(left) and _is_literal(right)
        case ast.Tuple() | ast.List() | ast.Set() | ast.Dict():
            return not any(isinstance(inner, _SCOPES) for inner in below(node))
        case _:
            return False
