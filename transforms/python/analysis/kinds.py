"""The nodes of a syntax tree by kind, from one walk.

Facts about a whole file ask for few kinds of nodes each. One walk for all of them costs less than one walk
for each.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Final, TypeVar

from codeaudit.transforms.python.analysis.facts import bound_by
from codeaudit.transforms.python.parsing import FunctionNode
from codeaudit.transforms.python.walking import PARTS

_N = TypeVar("_N", bound=ast.AST)

_END: Final = ast.Pass()
"""Stands on the stack behind the parts of a function."""


class NodesByKind:
    """All nodes of a text but contexts and operators, by their kind, in the order of the text."""

    def __init__(self, tree: ast.AST) -> None:
        self.tree: Final = tree if isinstance(tree, ast.Module) else ast.Module([tree], [])  # type: ignore[list-item]
        self.holders: Final[set[int]] = set()
        """The functions with a function, class or lambda inside, by the `id` of their nodes."""
        self._found: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        self._calls: dict[int, tuple[int, int]] = {}
        for node in self.tree.body:
            before = len(self._found[ast.Call])
            self._walk(node)
            self._calls[id(node)] = before, len(self._found[ast.Call])

    def _walk(self, top: ast.AST) -> None:
        found, functions = self._found, list[ast.AST]()
        pending: list[ast.AST] = [top]
        pop, node_type = pending.pop, ast.AST
        while pending:
            node = pop()
            kind = node.__class__
            if kind in _SCOPES:
                if functions:
                    self.holders.add(id(functions[-1]))
                if kind in _FUNCTIONS:
                    functions.append(node)
                    pending.append(_END)
            elif node is _END:
                functions.pop()
                continue
            found[kind].append(node)
            for name in reversed(PARTS[kind]):
                value = getattr(node, name, None)
                if value.__class__ is list:
                    # The keys of a display may hold `None` for `**`.
                    pending += [one for one in reversed(value) if one is not None]
                elif isinstance(value, node_type):
                    pending.append(value)

    def __call__(self, kind: type[_N]) -> Sequence[_N]:
        """The nodes of this very kind."""
        return self._found.get(kind, ())  # type: ignore[return-value]

    @property
    def functions(self) -> Sequence[FunctionNode]:
        """The `def`s, then the `async def`s."""
        return [*self(ast.FunctionDef), *self(ast.AsyncFunctionDef)]

    def calls_in(self, node: ast.stmt) -> Iterable[ast.Call]:
        """The calls inside a statement of the top level."""
        start, end = self._calls[id(node)]
        return self._found[ast.Call][start:end]  # type: ignore[return-value]

    @cached_property
    def bound(self) -> Counter[str]:
        """How often the text binds each name, in any scope."""
        found = Counter([one.id for one in self(ast.Name) if one.ctx.__class__ is not ast.Load])
        found.update([one.arg for one in self(ast.arg)])
        for kind, nodes in self._found.items():
            if kind in _BINDING:
                found.update(name for node in nodes for name in bound_by(node))
            # `T` in `def f[T](x): …`
            elif kind.__name__ in ("TypeVar", "TypeVarTuple", "ParamSpec"):
                found.update(node.name for node in nodes)  # type: ignore[attr-defined]
        return found


@lru_cache(maxsize=4)
def nodes_in(tree: ast.AST) -> NodesByKind:
    """The nodes of this very tree, from one walk for all who ask; nobody changes the tree."""
    return NodesByKind(tree)


_FUNCTIONS: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef})
_SCOPES: Final = _FUNCTIONS | {ast.ClassDef, ast.Lambda}
_BINDING: Final = frozenset({
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.ExceptHandler,
    ast.MatchAs, ast.MatchStar, ast.MatchMapping,
})  # fmt: skip
"""The kinds of nodes of `bound_by`, without names and parameters."""
