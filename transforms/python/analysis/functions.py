"""The functions of a file that only look: a call of one changes nothing that another statement sees.

A function counts if it stands at the top level without a decorator, the whole text binds its name once, and
nothing in the text gives the name or the function another meaning. Its body must pass the analysis that every
function gets: it may look at objects and raise, but not act, store or suspend. A function that may come back
to itself does not count.
"""

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Final

from codeaudit.transforms.dependence.blocks import StatementBlock
from codeaudit.transforms.dependence.effects import (
    ACTS,
    ANYTHING,
    BARRIER,
    LOOKS_UP,
    OBSERVES,
    RAISES,
    STORES,
)
from codeaudit.transforms.python.analysis.builder import PythonProgramBuilder
from codeaudit.transforms.python.analysis.capabilities import replaced_names
from codeaudit.transforms.python.analysis.effects import PythonEffects
from codeaudit.transforms.python.analysis.facts import own_nodes
from codeaudit.transforms.python.analysis.index import TextIndex
from codeaudit.transforms.python.analysis.knowledge import CONTAINERS, PLAIN
from codeaudit.transforms.python.analysis.looks import Bindings, QuietFunction, ShownLooks
from codeaudit.transforms.python.parsing import FunctionNode
from codeaudit.transforms.python.walking import reached

_RECEIVERS: Final = frozenset({"self", "cls"})


class QuietFunctions:
    """The functions of a text that only look; each is read when a call of it is met first."""

    def __init__(self, source: str, nodes: TextIndex, looks: ShownLooks) -> None:
        """`nodes` are those of `source`; `looks` is what it shows of its classes, without bindings."""
        self._looks = looks
        self._source = source
        self._nodes = nodes
        self._callees: dict[str, frozenset[str]] = {}
        self._functions: dict[str, QuietFunction | None] = {}
        self._busy = False

    def called(self, name: str, bindings: Bindings) -> QuietFunction | None:
        """As in `looks.Bindings`.

        The `bindings` of the text are no attribute, because they have this object: a cycle would keep the
        tree of the file until the next search for garbage.
        """
        if name in self._candidates and name not in self._functions and not self._busy:
            self._busy = True
            try:
                self._settle(name, bindings)
            finally:
                self._busy = False
        return self._functions.get(name)

    @cached_property
    def _candidates(self) -> dict[str, ast.FunctionDef]:
        """The functions that are all that their names stand for."""
        bound = self._nodes.bound
        replaced = frozenset(replaced_names(self._nodes))
        if bound["*"] or "*" in replaced:
            return {}
        return {
            node.name: node
            for node in self._nodes.tree.body
            if isinstance(node, ast.FunctionDef)
            and bound[node.name] == 1
            and node.name not in replaced
            and not node.decorator_list
            and not node.name.startswith("__")  # mangled where a class calls it
            # The attributes of a receiver are assumed to exist; those of other arguments are not.
            and not (_RECEIVERS & {arg.arg for arg in (*node.args.posonlyargs, *node.args.args)[:1]})
        }

    def _settle(self, name: str, bindings: Bindings) -> None:
        """Read a function, and before it those that it calls."""
        pending = [name]
        while pending:
            current = pending[-1]
            missing = [callee for callee in self._calls(current) if callee not in self._functions]
            if current in self._functions:
                pending.pop()
            elif current in reached(self._calls(current), self._calls):
                self._functions[current] = None
            elif missing:
                pending += missing
            else:
                self._functions[current] = self._read(self._candidates[current], bindings)

    def _calls(self, name: str) -> frozenset[str]:
        """The functions of the text that a function calls, also in what is defined inside it."""
        if name not in self._callees:
            calls = (inner.func for inner in self._nodes.inside(self._candidates[name], ast.Call))
            names = frozenset(func.id for func in calls if isinstance(func, ast.Name))
            self._callees[name] = names & self._candidates.keys()
        return self._callees[name]

    def _read(self, node: ast.FunctionDef, bindings: Bindings) -> QuietFunction | None:
        looks = replace(self._looks, bindings=bindings)
        builder = PythonProgramBuilder(self._source, dependence="strict", rebound=looks.rebound, looks=looks)
        flags = body_flags(builder, node)
        if flags & (ACTS | STORES | BARRIER):
            return None
        return QuietFunction.of(node.args, flags & (OBSERVES | LOOKS_UP | RAISES), _result(builder, node))


def body_flags(
    builder: PythonProgramBuilder,
    node: FunctionNode,
    passes_over: Callable[[ast.Raise], bool] = lambda _: False,
) -> int:
    """What a call of a function may do, besides binding its own variables and leaving early.

    A `raise` that `passes_over` accepts does not count. A body that is nested too deeply may do anything.
    """
    first = len(builder.rows)
    try:
        root = builder.alone(node)
    except (RecursionError, MemoryError):
        return ANYTHING
    (_, block) = root.statements[0].parts
    assert isinstance(block, StatementBlock)
    total = ACTS if isinstance(node, ast.AsyncFunctionDef) else 0
    for statement, effect in zip(block.statements, block.effects, strict=True):
        # A docstring does nothing. What `return` inside `if` looks like to its block is no exception.
        total |= effect.flags & ~RAISES if statement.parts else 0
    for row in builder.rows[first:]:
        leaves = isinstance(row.node, ast.Raise) and not passes_over(row.node)
        total |= RAISES if leaves else row.effects.flags & RAISES
    return total


def _result(builder: PythonProgramBuilder, node: ast.FunctionDef) -> str | None:
    """The builtin type of what a function returns, if it always has the same one; a container is new."""
    kinds: set[str | None] = set() if _leaves(node.body) else {"none"}
    for inner in own_nodes(node.body):
        if isinstance(inner, ast.Return):
            place = builder.places.get(id(inner))
            if inner.value is None or place is None:
                kinds.add("none" if inner.value is None else None)
                continue
            effects = PythonEffects(place.facts, place.definite)
            kind = effects.visit(inner.value)
            kinds.add(kind if kind not in CONTAINERS or effects.is_own(inner.value) else None)
    kind = kinds.pop() if len(kinds) == 1 else None
    return kind if kind in PLAIN | CONTAINERS | {"tuple"} else None


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether control certainly does not arrive behind these statements."""
    match body[-1]:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=then, orelse=otherwise):
            return bool(otherwise) and _leaves(then) and _leaves(otherwise)
        case _:
            return False
