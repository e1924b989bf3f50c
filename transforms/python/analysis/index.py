"""The nodes of a text by kind, and which names, texts and aliases it mentions, from one walk over its tree.

Facts about a whole file ask for few kinds of nodes each. `capabilities` asks what stands in a file or
function; no rule searches raw text. Constants are joined and decoded (`"f_" + "locals"`, `"\\x66_locals"`),
fields of formats are read (`"{0.__dict__}"`), and so are attributes of patterns (`case object(__dict__=d)`).
Comments and docstrings mention nothing. Not seen: a name that the program computes from more than constants.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from functools import cached_property, lru_cache
from typing import Any, Final, TypeVar

from codeaudit.transforms.python.analysis.facts import BINDING, bound_by, bound_names, own_nodes
from codeaudit.transforms.python.parsing import (
    FunctionNode,
    file_tree,
    last_name,
    normalised,
    parameter_names,
)
from codeaudit.transforms.python.walking import LAST_FIRST, below, reached

_WORD: Final = re.compile(r"\w+")
_PATH: Final = re.compile(r"(?:\d+\.)?[^\W\d]\w*(?:[.:][^\W\d]\w*)*")
"""A text that names something: `f_locals`, `tb_frame.f_locals`, `builtins.open`, `0.f_locals`."""
_FIELD: Final = re.compile(r"\{([^{}]*\.[^{}]*)[{}]")
"""A field of `format` with attributes: `"{0.tb_frame.f_lineno}"`, `"{0.f_lineno:{1}}"`."""
_ATTRIBUTE: Final = re.compile(r"\.(\w+)")
_NAMED_FIELD: Final = re.compile(r"(?:%\(|\$?\{|\$)(\w+)")
"""A field with a name: of `%`, of `format`, of `string.Template`."""
_JUNCTION: Final = re.compile(
    r"[\"'](?<=\w.)(?:[\s\\+()\"']|[rRuUbBfF]{1,2}(?=[\"'])|#[^\n]*\n)*[\"'](?=[\w\\])"
)
"""Where two texts join to one word: `"f_" "locals"`, with any quotes, brackets and comments between them."""
_CONTINUED: Final = re.compile(r"\\\n(?<=[\w\"']\\\n)(?=[\w\\\"'])")
"""Where a word or a text goes on in the next line."""
_ESCAPED: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{2,3}))")
"""A letter of a text that is written as a number."""
_NAMED_LETTER: Final = re.compile(r"\\N\{")
"""One that is written by its name."""
_TEXT: Final = r"[\"'](?![^\"'\n\\]*[\"']\.join\((?![\s\[(]))(?![^\w.:\"'\n\\]+[\"']\.join\()"
"""The beginning of a text. What `", ".join(names)` gives is not told by constants, and is no name."""
_INTO: Final = rf"[\"']{{1,3}}\s*%\s*\(?\s*\w{{0,2}}{_TEXT}"
_MADE: Final = (
    ("join", re.compile(r"\.join\((?<=[\"']\.join\()(?<![^\w.:\"'][\"']\.join\()\s*[\[(]\s*\w{0,2}[\"']")),
    # The result is a name, or has a field: `"{0.%s_locals}" % "f"`.
    ("%s", re.compile(rf"%s(?:(?<=[\w.:%\"']%s)[\w.:%]*|[^\"'\n]*\}}[^\"'\n]*){_INTO}")),
    ("{", re.compile(rf"\{{[^\"'\n]*%s[^\"'\n]*{_INTO}")),
    # `f"{'a' if test else 'b'}"` is no constant.
    (
        "{",
        re.compile(
            r"[\"'](?:(?<=\b[fF].)|(?<=\b[fF][rR].)|(?<=\b[rR][fF].))(?:\"\")?[^\"'\n]*"
            rf"\{{\s*\w{{0,2}}{_TEXT}(?![^\"'\n]*[\"']\s*if\b)"
        ),
    ),
    ("format", re.compile(rf"[\"']\s*\.\s*format\(\s*\w{{0,2}}{_TEXT}")),
)
"""A text that others are put into: `"".join(["f_", "locals"])`, `"%s_locals" % "f"`, `f"{'f_'}locals"`; each
with what stands in it. A search that begins with a plain sign is the fastest.
"""
_BLANKS: Final = "".join(letter if re.match(r"\w", letter) else " " for letter in map(chr, range(128)))
"""Blanks for the signs of ASCII that belong to no word."""
OWN_MODULE: Final = "__main__"
"""What the module of a text is called where it imports itself."""
OF_MODULES: Final = frozenset({"modules", "import_module", "__import__"})
"""What gives a module by its name in a text."""


@lru_cache(maxsize=64)
def words_of(file: str) -> Set[str] | None:
    """Every word that the text of a file may mention; `None` if letters are written by their names, or texts
    are put into others.

    The tree is not read. A name that is not among the words is certainly not mentioned.
    """
    if "\\N" in file and _NAMED_LETTER.search(file):
        return None
    if any(sign in file and pattern.search(file) for sign, pattern in _MADE):
        return None
    plain = normalised(file)
    words = _words(plain)
    if _CONTINUED.search(plain):
        continued = "\n".join(line for line in plain.replace("\\\n", "\0").split("\n") if "\0" in line)
        words |= _words(continued.replace("\0", ""))
        plain = plain.replace("\\\n", "")
    # Only the lines with a junction or an escape hold more words.
    joined = _JUNCTION.sub("\0", plain)
    if "\0" in joined or "\\" in joined:
        lines = "\n".join(line for line in joined.split("\n") if "\0" in line or "\\" in line)
        lines = lines.replace("\0", "")
        words |= _words(lines) | _words(normalised(_ESCAPED.sub(_letter, lines)))
    return words


def _words(text: str) -> frozenset[str]:
    # To split takes half as long as to find words.
    return frozenset(text.translate(_BLANKS).split() if text.isascii() else _WORD.findall(text))


def _letter(escape: re.Match[str]) -> str:
    number = int(escape[4], 8) if escape[4] else int(escape[1] or escape[2] or escape[3], 16)
    return chr(number) if number <= sys.maxunicode else " "


@lru_cache(maxsize=2)
def index_of(file: str) -> "TextIndex":
    """The index of the text of a file, which all facts of it share.

    Raises:
        SourceError: the text does not parse.
    """
    return TextIndex(file_tree(file))


@lru_cache(maxsize=4)
def index_in(tree: ast.AST) -> "TextIndex":
    """The index of this very tree, for all rules that ask about it; nobody changes the tree."""
    return TextIndex(tree)


_N = TypeVar("_N", bound=ast.AST)
_END: Final = ast.Pass()
"""Stands on the stack behind the parts of a function or class."""
_HOLDERS: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
_SCOPES: Final = _HOLDERS | {ast.Lambda}
_COUNTED: Final = (ast.Call, ast.Return, ast.Yield, ast.YieldFrom)
"""The index records the nodes of these kinds for each function and class."""
_LEAVES: Final = frozenset({ast.Name, ast.Constant, ast.alias})
"""Kinds of which most nodes are, and under which none stand."""


class TextIndex:
    """All nodes of a text but contexts and operators, by their kind, and what they mention.

    The nodes of a kind stand in the order of the text. Names, constants and aliases stand in some order.
    """

    def __init__(self, tree: ast.AST) -> None:
        self.tree: Final = tree if isinstance(tree, ast.Module) else ast.Module([tree], [])  # type: ignore[list-item]
        self.holders: Final[set[int]] = set()
        """The functions and classes with a function, class or lambda inside, by the `id` of their nodes."""
        self._nodes: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        self._spans: dict[int, list[int]] = {}
        """For each function and class how many nodes of `_COUNTED` begin before it, and before its end."""
        self._aliases: dict[str, Set[str]] = {}
        self._walk()

    def _walk(self) -> None:
        nodes, scopes = self._nodes, list[ast.AST]()
        counted = [nodes[kind] for kind in _COUNTED]
        pending: list[ast.AST] = self.tree.body[::-1]  # type: ignore[assignment]
        pop, push, leaves, text = pending.pop, pending.append, _LEAVES, str
        while pending:
            node = pop()
            kind = node.__class__
            if kind in _SCOPES:
                if scopes:
                    self.holders.add(id(scopes[-1]))
                if kind in _HOLDERS:
                    scopes.append(node)
                    self._spans[id(node)] = list(map(len, counted))
                    push(_END)
            elif node is _END:
                self._spans[id(scopes.pop())] += map(len, counted)
                continue
            nodes[kind].append(node)
            for name in LAST_FIRST[kind]:
                value: Any = getattr(node, name, None)
                inner: type[Any] = value.__class__
                if inner is list:
                    for child in reversed(value):
                        inner = child.__class__
                        if inner in leaves:
                            nodes[inner].append(child)
                        # The keys of a display may hold `None` for `**`.
                        elif child is not None:
                            push(child)
                elif inner in leaves:
                    nodes[inner].append(value)
                elif value is not None and inner is not text:
                    push(value)

    def __call__(self, kind: type[_N]) -> Sequence[_N]:
        """The nodes of this very kind."""
        return self._nodes.get(kind, ())  # type: ignore[return-value]

    @property
    def functions(self) -> Sequence[FunctionNode]:
        """The `def`s, then the `async def`s."""
        return [*self(ast.FunctionDef), *self(ast.AsyncFunctionDef)]

    @property
    def loops(self) -> Sequence[ast.For | ast.comprehension]:
        """The `for` statements, then the loops of comprehensions."""
        return [*self(ast.For), *self(ast.comprehension)]

    def inside(self, node: FunctionNode | ast.ClassDef, kind: type[_N]) -> Sequence[_N]:
        """The nodes of one of the kinds of `_COUNTED` in a function or class, also deeper inside."""
        place, span = _COUNTED.index(kind), self._spans[id(node)]
        return self(kind)[span[place] : span[place + len(_COUNTED)]]

    def own(self, function: FunctionNode, *kinds: type[ast.AST]) -> Sequence[Any]:
        """The nodes of these kinds in a function, without those of the scopes inside.

        Those in the head of an inner function count, too.
        """
        inside = [node for kind in kinds for node in self.inside(function, kind)]
        if inside and id(function) in self.holders:
            return [node for node in own_nodes(function.body) if isinstance(node, kinds)]
        return inside

    @cached_property
    def bound(self) -> Counter[str]:
        """How often the text binds each name, in any scope."""
        counts = Counter([node.id for node in self(ast.Name) if node.ctx.__class__ is not ast.Load])
        for kind, nodes in self._nodes.items():
            if kind in BINDING and kind is not ast.Name:
                counts.update(name for node in nodes for name in bound_by(node))
            # `T` in `def f[T](x): …`
            elif kind.__name__ in ("TypeVar", "TypeVarTuple", "ParamSpec"):
                counts.update(node.name for node in nodes)  # type: ignore[attr-defined]
        return counts

    @cached_property
    def names(self) -> Set[str]:
        """Variables of all scopes."""
        return frozenset([node.id for node in self(ast.Name)])

    @cached_property
    def called(self) -> Set[int]:
        """The expressions that are called, by their `id`."""
        return frozenset([id(call.func) for call in self(ast.Call)])

    @cached_property
    def texts(self) -> Set[str]:
        """Texts, also those that constants make together; docstrings are left out."""
        bare = {id(node.value) for node in self(ast.Expr) if isinstance(node.value, ast.Constant)}
        texts = {
            node.value for node in self(ast.Constant) if isinstance(node.value, str) and id(node) not in bare
        }
        joined: list[ast.expr] = [*self(ast.BinOp), *self(ast.JoinedStr)]
        joined += [
            call
            for call in self(ast.Call)
            if isinstance(call.func, ast.Attribute) and call.func.attr in _MAKING
        ]
        texts.update(text for node in joined if (text := text_of(node)) is not None)
        return texts

    @cached_property
    def paths(self) -> Set[str]:
        """Texts that may name something."""
        return {text for text in map(normalised, self.texts) if len(text) < _LONG and _PATH.fullmatch(text)}

    @cached_property
    def spelled(self) -> Set[str]:
        """Names in texts: parts of paths, and attributes in fields of formats."""
        names = {part for path in self.paths for part in path.replace(":", ".").split(".")}
        fields = [field for text in self.texts if "{" in text for field in _FIELD.findall(text)]
        names.update(name for field in fields for name in _ATTRIBUTE.findall(field))
        # `hasattr(sys, "_getframe")` gets nothing.
        attributes = {
            call.args[1].value
            for call in (self(ast.Call) if "hasattr" in self.names else ())
            if isinstance(call.func, ast.Name)
            and call.func.id == "hasattr"
            and len(call.args) == 2
            and isinstance(call.args[1], ast.Constant)
        }
        if attributes:
            others = [
                node.value
                for node in self(ast.Constant)
                if isinstance(node.value, str) and node.value in attributes
            ]
            names -= {text for text in attributes if isinstance(text, str) and others.count(text) == 1}
        return names

    @cached_property
    def fields(self) -> Set[str]:
        """Names of fields in texts that are formats: `%(lineno)d`, `{lineno}`, `${lineno}`."""
        return {name for text in self.texts for name in _NAMED_FIELD.findall(text)}

    @cached_property
    def attributes(self) -> Set[str]:
        """Attributes that are read in code, imported names, attributes of patterns."""
        names = {node.attr for node in self(ast.Attribute) if node.ctx.__class__ is ast.Load}
        names.update(keyword.arg for keyword in self(ast.keyword) if keyword.arg is not None)
        return names | self.imported_names | self.patterns

    @cached_property
    def patterns(self) -> Set[str]:
        """Attributes that patterns read: `case object(__dict__=d)`."""
        return {name for pattern in self(ast.MatchClass) for name in pattern.kwd_attrs}

    @cached_property
    def imported_names(self) -> Set[str]:
        """Names that are imported from modules."""
        return {alias.name for node in self(ast.ImportFrom) for alias in node.names}

    @cached_property
    def bound_anyhow(self) -> Set[str]:
        """Names that are bound in any way: by a definition, a store, a keyword, a text for `setattr`."""
        stored = {node.attr for node in self(ast.Attribute) if node.ctx.__class__ is not ast.Load}
        words = {keyword.arg for keyword in self(ast.keyword) if keyword.arg is not None}
        return self.bound.keys() | stored | words | self.spelled

    @cached_property
    def imported(self) -> Set[str]:
        """Modules that are imported, with the packages around them."""
        names: set[str] = set()
        for node in self(ast.Import):
            names.update(part for alias in node.names for part in alias.name.split("."))
        for source in self(ast.ImportFrom):
            names.update((source.module or "").split("."))
        return names

    @cached_property
    def members(self) -> Set[str]:
        """Attributes that are read or bound in code."""
        return frozenset([node.attr for node in self(ast.Attribute)])

    @cached_property
    def parts(self) -> Set[str]:
        """What may be asked for as a part of something: attributes, and names in texts."""
        return self.attributes | self.spelled

    @cached_property
    def words(self) -> Set[str]:
        """Every name that is mentioned in any way."""
        return self.names | self.parts | self.imported

    # ── modules ──────────────────────────────────────────────────────────────────────────────────────

    def aliases(self, module: str) -> Set[str]:
        """The names by which the text may call a module, followed through imports and assignments."""
        if module not in self._aliases:
            self._aliases[module] = self._find_aliases(module)
        return self._aliases[module]

    def _find_aliases(self, module: str) -> Set[str]:
        names = {module}
        # Most texts name no module by a text, and this one not at all.
        modules = {module.partition(".")[0], *OF_MODULES}
        if all(modules.isdisjoint(words) for words in (self.names, self.attributes, self.imported)):
            return names
        for alias in self(ast.alias):
            if alias.asname and alias.name == module:
                names.add(alias.asname)
        return reached(names, lambda name: self._copies.get(name, ()))

    @cached_property
    def _copies(self) -> Mapping[str, Sequence[str]]:
        """The names that get the value of another name, or a module by its name, by that name."""
        copies: dict[str, list[str]] = {}
        for target, value in self.bindings:
            for name in (last_name(value), names_module(value)):
                if name is not None:
                    copies.setdefault(name, []).append(target)
        return copies

    def asks(self, module: str, names: Set[str]) -> bool:
        """Whether the text asks a module for one of these names: `inspect.stack`, `from inspect import *`."""
        mentioned = not names.isdisjoint(self.parts)
        for node in self(ast.ImportFrom) if mentioned or "*" in self.imported_names else ():
            if node.module == module and any(
                alias.name == "*" or alias.name in names for alias in node.names
            ):
                return True
        if not mentioned:
            return False
        aliases = self.aliases(module)
        owners = [attribute.value for attribute in self(ast.Attribute) if attribute.attr in names]
        owners += [
            call.args[0]
            for call in self(ast.Call)
            if len(call.args) > 1 and last_name(call.func) in _GETTING and text_of(call.args[1]) in names
        ]
        if any(last_name(owner) in aliases or names_module(owner) == module for owner in owners):
            return True
        return any(f"{module}.{name}" in self.paths for name in names)

    @cached_property
    def bindings(self) -> Sequence[tuple[str, ast.expr]]:
        """The variables and attributes that get a value, each with it."""
        single: tuple[ast.AnnAssign | ast.NamedExpr, ...] = (*self(ast.AnnAssign), *self(ast.NamedExpr))
        pairs = [(target, several.value) for several in self(ast.Assign) for target in several.targets]
        pairs += [(node.target, node.value) for node in single if node.value is not None]
        return [(name, value) for target, value in pairs if (name := last_name(target))]

    @cached_property
    def items(self) -> Sequence[tuple[str, ast.expr]]:
        """The variables that get an item of a value, each with that item: those of loops, and `a` and `b` of
        `a, b = pair`.
        """
        pairs = [
            (name, ast.Subscript(several.value, ast.Constant(place)))
            for several in self(ast.Assign)
            for target in several.targets
            for place, part in enumerate(target.elts if isinstance(target, ast.Tuple | ast.List) else ())
            if (name := last_name(part))
        ]
        inner = [(node, loop.iter) for loop in self.loops for node in below(loop.target)]
        return pairs + [(node.id, _item(value)) for node, value in inner if isinstance(node, ast.Name)]

    @cached_property
    def run_by_calls(self) -> Mapping[str, FunctionNode]:
        """The functions by their names, and the `__init__` of each class by the name of the class."""
        functions = {function.name: function for function in self.functions}
        for kind in self(ast.ClassDef):
            for part in kind.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    functions[kind.name] = part
        return functions

    @cached_property
    def passed(self) -> Sequence[tuple[str, ast.expr]]:
        """The parameters of functions of the text, with what calls and defaults give them."""
        pairs = list[tuple[str, ast.expr]]()
        for arguments in [node.args for node in (*self.run_by_calls.values(), *self(ast.Lambda))]:
            named = [*arguments.posonlyargs, *arguments.args]
            behind = named[len(named) - len(arguments.defaults) :]
            defaults = (
                *zip(behind, arguments.defaults, strict=True),
                *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
            )
            pairs += [(parameter.arg, value) for parameter, value in defaults if value is not None]
        for call in self(ast.Call):
            if (target := self.run_by_calls.get(last_name(call.func) or "")) is None:
                continue
            names = [parameter.arg for parameter in (*target.args.posonlyargs, *target.args.args)]
            skipped = names[:1] in (["self"], ["cls"])
            pairs += zip(names[1:] if skipped else names, call.args, strict=False)
            pairs += [(word.arg, word.value) for word in call.keywords if word.arg]
        return pairs

    # ── names that go elsewhere ──────────────────────────────────────────────────────────────────────

    def handed_on(self, names: Set[str]) -> bool:
        """Whether one of these builtins is mentioned other than by a call: `show = locals`.

        A variable of a function around the mention is no builtin.
        """
        if names.isdisjoint(self.names):
            return False
        loose = [
            node
            for node in self(ast.Name)
            if node.id in names and node.ctx.__class__ is ast.Load and id(node) not in self.called
        ]
        return any(not self._is_variable(node) for node in loose)

    def _is_variable(self, name: ast.Name) -> bool:
        """Whether a function around a name, or a comprehension, may bind it."""
        for node in (*self.functions, *self(ast.Lambda)):
            if _holds(node, name):
                bound = set(parameter_names(node.args))
                if not isinstance(node, ast.Lambda):
                    bound |= bound_names(node.body) - _declared(node)
                if name.id in bound:
                    return True
        return False


def _item(value: ast.expr) -> ast.Subscript:
    """Any item of a value."""
    return ast.Subscript(value, ast.Slice())


_LONG: Final = 200
_MAKING: Final = frozenset({"join", "format", "decode"})
"""Methods that make a text of constants."""
_GETTING: Final = frozenset({"getattr", "__getattribute__", "setattr", "__setattr__", "delattr"})


def text_of(node: ast.expr) -> str | None:
    """The text that an expression of constants makes; `None` if it makes none, or that cannot be told."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first = text_of(left)
            second = text_of(right) if first is not None else None
            return first + second if first is not None and second is not None else None
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod(), right=right):
            arguments = right.elts if isinstance(right, ast.Tuple) else [right]
            values = [text_of(argument) for argument in arguments]
            if text.count("%") != text.count("%s") or None in values or len(values) != text.count("%s"):
                return None
            return text % tuple(values)
        case ast.JoinedStr(values=parts):
            pieces = [text_of(part.value if isinstance(part, ast.FormattedValue) else part) for part in parts]
            return None if None in pieces else "".join(piece for piece in pieces if piece is not None)
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(glue)), attr="join"),
            args=[ast.List(elts=items) | ast.Tuple(elts=items)],
        ):
            values = [text_of(element) for element in items]
            return None if None in values else glue.join(value for value in values if value is not None)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), args=items):
            values = [text_of(argument) for argument in items]
            if node.keywords or None in values or text.replace("{}", "").count("{"):
                return None
            return text.format(*values) if text.count("{}") <= len(values) else None
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=bytes(data)), attr="decode"), args=[]):
            return data.decode(errors="replace")
        case _:
            return None


def names_module(node: ast.expr) -> str | None:
    """The module that an expression gives by its name: `sys.modules["builtins"]`, `import_module("sys")`.

    Of the module of the text itself: `__main__`.
    """
    match node:
        case (
            ast.Subscript(value=holder, slice=key)
            | ast.Call(func=ast.Attribute(value=holder, attr="get" | "__getitem__"), args=[key, *_])
            | ast.Call(func=holder, args=[key, *_])
        ) if last_name(holder) in OF_MODULES:
            if last_name(key) in ("__name__", "__module__"):
                return OWN_MODULE
            return text_of(key)
        case _:
            return None


def _holds(node: ast.stmt | ast.expr, inner: ast.expr) -> bool:
    """Whether one node stands inside another, by its place."""
    body = node.body if isinstance(node.body, list) else [node.body]  # type: ignore[union-attr]
    begin = (body[0].lineno, body[0].col_offset)
    end = (node.end_lineno or 0, node.end_col_offset or 0)
    return begin <= (inner.lineno, inner.col_offset) < end


def _declared(function: ast.AST) -> Set[str]:
    """The names that a function declares to be of the text around it."""
    return {
        name for node in below(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
