"""A function as a syntax tree of (type, value) nodes in depth-first order: the input of tree transformers.

A node's position is the path of pairs (which child it is, how many children its parent has) from the root
down to it (tree transformer, section 3.1). Docstrings and comments are no nodes, because both reveal the name
of a function. The masked name of the function is the value `FUNCTION` wherever it stands.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from codeaudit.audit.papers.languages import features_of
from codeaudit.audit.papers.lines.encoding import PAD, UNKNOWN
from codeaudit.audit.papers.lines.words import LETTERS, NUMBER, SHORT_NUMBER, STRING, STRING_WORDS
from codeaudit.audit.records import UNPARSABLE, Failed
from codeaudit.audit.tasks.function_name import MASK, subtokens
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.parsing import shared_tree
from codeaudit.transforms.registration import load_target

if TYPE_CHECKING:
    from codeaudit.transforms.syntax.reader import Node, ParsedText

EMPTY: Final = "<empty>"
"""The value of nodes that have none."""
FUNCTION: Final = "<function_name>"
"""The value that stands for the masked name."""
BEGIN: Final = "<s>"
END: Final = "</s>"
SPECIALS: Final = (PAD, UNKNOWN, EMPTY, FUNCTION, BEGIN, END, STRING, NUMBER)
"""Values that no source spells. Their ids are their places; padding is 0."""

_MASKED: Final = re.compile(rf"{MASK}(?:_\d+)?")


class Branch(NamedTuple):
    """A node with its children, before the tree is laid flat."""

    type: str
    value: str
    children: "Sequence[Branch | object]"


def source_value(value: str) -> str:
    """A value of a source, which is not taken for one of the `SPECIALS`."""
    return UNKNOWN if value in SPECIALS else value or "''"


def is_mask(name: str) -> bool:
    """Whether a name is that of a function whose name was masked."""
    return _MASKED.fullmatch(name) is not None


Degree: TypeAlias = Literal["full", "prefix"]
"""The number of children of a parent: all of the finished tree, as in the paper, or those that have
been seen when the node is reached. The full number would show later nodes to a model that completes trees."""

Spelling: TypeAlias = Literal["whole", "subtokens"]
"""A value as one word, as in the paper, or as its first few subtokens."""

LIMIT: Final = 250
"""Most nodes of a function, as in the paper."""
PIECES: Final = 5
"""Most subtokens of a value."""
KEPT_VALUES: Final = 16_384
"""Distinct values whose words a reader keeps."""
VERSION: Final = 1
"""Increased whenever the tree of the same text changes, which invalidates remembered answers."""
TOO_LONG: Final = Failed(reason="input too long")

Integers: TypeAlias = npt.NDArray[np.int32]

_WORD: Final = re.compile(r"[^\W\d][\w.]*")

_GROUPED: Final = frozenset(
    {
        "body", "orelse", "finalbody", "handlers", "decorator_list", "bases", "defaults", "kw_defaults",
        "posonlyargs", "kwonlyargs", "type_params", "cases", "patterns", "kwd_patterns",
    }
)  # fmt: skip
"""Lists that get a node of their own, which shows the list that a child belongs to."""
_WRAPPED: Final = frozenset({"returns", "lower", "upper", "step", "vararg", "kwarg", "guard", "bound"})
"""Children that may be missing and be mistaken for one another."""
_SKIPPED: Final = frozenset({"kind", "type_comment", "type_ignores", "simple", "ops"})
_FOLDED: Final = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop)
"""Nodes that are no more than a word of their parent's type, such as `BinOpAdd`."""
_DOCUMENTED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Tree:
    """Nodes in depth-first order, the root first."""

    types: tuple[str, ...]
    values: tuple[str, ...]
    parents: tuple[int, ...]
    """-1 for the root."""
    orders: tuple[int, ...]
    """Which child of its parent a node is, counted from 1; 1 for the root."""
    counts: tuple[int, ...]
    """How many children its parent has; 1 for the root."""

    def __len__(self) -> int:
        return len(self.types)

    def path(self, node: int, degree: Degree = "full") -> tuple[tuple[int, int], ...]:
        """The pairs (which child, of how many) from the root to a node; Eq. 1 of the paper."""
        pairs: list[tuple[int, int]] = []
        while node >= 0:
            order = self.orders[node]
            pairs.append((order, self.counts[node] if degree == "full" else order))
            node = self.parents[node]
        return tuple(reversed(pairs))


def read(source: str, language: str, *, limit: int | None = LIMIT) -> Tree | Failed:
    """The tree of one function, or why there is none: it does not parse, or has more than `limit` nodes.

    Raises:
        SourceError: there is no reader for the language.
    """
    nodes = features_of(language).nodes
    if not nodes:
        raise SourceError("no reader for this language")
    try:
        root, branch = load_target(nodes)(source)
        return _flat(root, branch, limit)
    except (SourceError, RecursionError):
        return UNPARSABLE


def spelled(value: str, spelling: Spelling) -> list[str]:
    """The words of a value; always at least one."""
    if spelling == "whole" or value in SPECIALS:
        return [value]
    if _WORD.fullmatch(value):
        return [part for part in subtokens(value) if not part.isdecimal()][:PIECES] or [value]
    if value[:1].isdecimal():
        return [value if len(value) <= SHORT_NUMBER else NUMBER]
    return [STRING, *(part.lower() for part in LETTERS.findall(value)[:STRING_WORDS])]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeInput:
    """One tree as numbers."""

    types: Integers
    """(n,)"""
    values: Integers
    """(n, s) the ids of each value's words, 0 behind the last."""
    parents: Integers
    """(n,) -1 for the root."""
    orders: Integers
    """(n,) from 1."""
    counts: Integers
    """(n,)"""


class NodeReader:
    """Turns sources into features for one network."""

    def __init__(
        self,
        types: Iterable[str],
        values: Iterable[str],
        *,
        spelling: Spelling,
        limit: int | None = LIMIT,
    ) -> None:
        """`types` without, `values` with the `SPECIALS` at the beginning; ids are places, types' from 2."""
        self._types = {kind: number for number, kind in enumerate(types, start=2)}
        self._values: Mapping[str, int] = {word: number for number, word in enumerate(values)}
        self._spelling: Spelling = spelling
        self._limit = limit
        self._ids: dict[str, tuple[int, ...]] = {}

    def read(self, source: str, language: str) -> TreeInput | Failed:
        """The features of a source, or why there are none."""
        tree = read(source, language, limit=self._limit)
        return tree if isinstance(tree, Failed) else self.encode(tree)

    def encode(self, tree: Tree) -> TreeInput:
        """The features of a tree."""
        return TreeInput(
            types=np.array([self._types.get(kind, 1) for kind in tree.types], dtype=np.int32),
            values=np.array([self._ids_of(value) for value in tree.values], dtype=np.int32),
            parents=np.array(tree.parents, dtype=np.int32),
            orders=np.array(tree.orders, dtype=np.int32),
            counts=np.array(tree.counts, dtype=np.int32),
        )

    def _ids_of(self, value: str) -> tuple[int, ...]:
        """The ids of a value's words, with 0 behind the last."""
        numbers = self._ids.get(value)
        if numbers is None:
            if len(self._ids) >= KEPT_VALUES:
                self._ids.clear()
            ids = [self._values.get(part, 1) for part in spelled(value, self._spelling)]
            numbers = *ids, *(0,) * ((1 if self._spelling == "whole" else PIECES) - len(ids))
            self._ids[value] = numbers
        return numbers

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """The numbers of types and values, with padding and unknown ones."""
        return len(self._types) + 2, len(self._values)


def _flat(root: object, branch: Callable[[object], Branch], limit: int | None) -> Tree | Failed:
    """Depth-first, without recursion."""
    rows: list[tuple[str, str, int, int, int]] = []
    pending: list[tuple[object, int, int, int]] = [(root, -1, 1, 1)]
    # A stack of its own: a chain of 1,000 operators is deeper than Python's recursion limit.
    while pending:
        node, parent, order, count = pending.pop()
        parsed = node if isinstance(node, Branch) else branch(node)
        # Refused as soon as it is too long: a generated table may have a million nodes.
        if limit is not None and len(rows) == limit:
            return TOO_LONG
        here, size = len(rows), len(parsed.children)
        rows.append((parsed.type, parsed.value, parent, order, count))
        # Reversed, so that the first child is the next to be taken from the stack: depth first, left to
        # right.
        pending += [(parsed.children[place], here, place + 1, size) for place in reversed(range(size))]
    types, values, parents, orders, counts = zip(*rows, strict=True)
    return Tree(types, values, parents, orders, counts)


def python_nodes(source: str) -> tuple[ast.AST, Callable[[object], Branch]]:
    """The root of a Python function's tree, and the function from a node to its branch.

    Raises:
        SourceError: the text does not parse.
    """
    module = shared_tree(source)
    return module.body[0] if len(module.body) == 1 else module, _python_branch


def _python_branch(node: object) -> Branch:
    assert isinstance(node, ast.AST)
    kind, value = type(node).__name__, EMPTY
    children: list[Branch | object] = []
    if isinstance(node, ast.Constant):
        return Branch(f"Constant{type(node.value).__name__}", _constant(node.value), ())
    # Keys and values alternate; `**other` has a value without a key.
    if isinstance(node, ast.Dict):
        for key, item in zip(node.keys, node.values, strict=True):
            children += [key or Branch("DictUnpack", EMPTY, ()), item]
        return Branch(kind, value, children)
    # The operators of `a < b <= c` are words, the first one in the type of the node.
    if isinstance(node, ast.Compare):
        names = [type(op).__name__ for op in node.ops]
        more = [Branch(name, EMPTY, ()) for name in names[1:]]
        return Branch(kind + names[0], value, [node.left, *node.comparators, *more])
    for field in _fields(type(node)):  # type: ignore[arg-type]
        content = getattr(node, field, None)
        if content is None:
            continue
        if isinstance(content, _FOLDED):
            kind += type(content).__name__
        elif isinstance(content, str):
            name = _identifier(content)
            if value == EMPTY:
                value = name
            else:
                children.append(Branch(field, name, ()))
        elif isinstance(content, int):
            # Numbers such as the level of a relative import or a conversion in an f-string belong to the
            # type.
            kind += {"is_async": "Async" if content else ""}.get(
                field, "" if content in (-1, 0) else str(content)
            )
        elif isinstance(content, list):
            listed = list(_listed(node, field, content))
            if field in _GROUPED:
                children += [Branch(field, EMPTY, listed)] if listed else []
            else:
                children += listed
        elif field in _WRAPPED:
            children.append(Branch(field, EMPTY, (content,)))
        else:
            children.append(content)
    return Branch(kind, value, children)


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that are read."""
    return tuple(field for field in kind._fields if field not in _SKIPPED)


def _listed(node: ast.AST, field: str, children: list[object]) -> Iterator[Branch | object]:
    if field == "body" and isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
        children = children[1:]
    for child in children:
        if child is None:
            yield Branch("none", EMPTY, ())
        elif isinstance(child, str):
            yield Branch("identifier", _identifier(child), ())
        else:
            yield child


def _identifier(name: str) -> str:
    return FUNCTION if is_mask(name) else source_value(name)


def _constant(value: object) -> str:
    if value is None or isinstance(value, bool):
        return str(value)
    text = value if isinstance(value, str) else "..." if value is ... else repr(value)
    return FUNCTION if is_mask(text) else source_value(text)


_OPERATORS: Final = frozenset(
    {"binary_expression", "unary_expression", "update_expression", "assignment_expression"}
)
"""Nodes whose operator is a word of their type."""
_SILENT: Final = frozenset("(){}[];,.:@<>=?") | {"->", "::", "..."}


def java_nodes(source: str) -> tuple[object, Callable[[Any], Branch]]:
    """The root of a Java method's tree, and the function from a node to its branch.

    Raises:
        SourceError: the text is not Java.
    """
    from codeaudit.transforms.java.parsing import read as read_java  # not loaded to read Python

    reading = read_java(source)
    return _only(reading), lambda node: _branch(node, reading.source)


def c_nodes(source: str, language: str = "c") -> tuple[object, Callable[[Any], Branch]]:
    """As `java_nodes`, for a function of C or C++.

    Raises:
        SourceError: the text is not in the language.
    """
    from codeaudit.transforms.c.parsing import read as read_c  # not loaded to read Python

    reading = read_c(source, language)
    return _only(reading), lambda node: _branch(node, reading.source)


cpp_nodes = partial(c_nodes, language="cpp")


def _only(reading: "ParsedText") -> "Node":
    """The one function of a text, without the file around it; of several parts the whole file."""
    members = reading.root.children
    return members[0] if len(members) == 1 else reading.root


def _branch(node: "Node", source: bytes) -> Branch:
    kind, children = node.kind, node.children
    if kind in _OPERATORS:
        return Branch(f"{kind} {node.operator}", EMPTY, children)
    if kind == "string_literal" or not (children or node.tokens):
        text = source[node.start : node.end].decode()
        text = text[1:-1] if kind == "string_literal" else text
        # The type already identifies a node without a text of its own, such as `this`.
        value = EMPTY if text == kind else FUNCTION if is_mask(text) else source_value(text)
        return Branch(kind, value, ())
    words = [word for word, _, _ in node.tokens if word not in _SILENT]
    if kind == "modifiers":
        return Branch(kind, EMPTY, [*(Branch(word, EMPTY, ()) for word in words), *children])
    return Branch(kind, " ".join(words) if words and not children else EMPTY, children)
