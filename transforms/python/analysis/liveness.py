"""Which variables of a function are still needed at the points where another variable is written.

The classic backward liveness analysis over the structured control flow of one function. Two variables
*interfere* if one is written while the value of the other may still be read (as in register allocation): they
cannot share a name. Reads inside nested functions and paths through exceptions are left out, so that every
interference found lies on a path that ordinary execution takes. `identifiers.merging` uses it to choose its
control.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from codeaudit.transforms.python.parsing import FunctionNode

Names = frozenset[str]
_NONE: Names = frozenset()


def interferences(function: FunctionNode) -> set[tuple[str, str]]:
    """Pairs (written, still needed) of names in a function's own scope.

    A write that copies the other variable (`a = b`) does not interfere with it.
    """
    analysis = _Liveness()
    analysis.block(function.body, _NONE, _Targets())
    return analysis.found


@dataclass(frozen=True, slots=True)
class _Targets:
    """The names needed at the places to which `break` and `continue` jump."""

    after: Names = _NONE
    """Needed behind the loop (`break`)."""
    again: Names = _NONE
    """Needed at the loop's head (`continue`)."""


@dataclass(slots=True)
class _Liveness:
    """The state of the analysis: the interferences found so far. Every method returns the names needed before
    its code.
    """

    found: set[tuple[str, str]] = field(default_factory=set)

    def block(self, statements: Sequence[ast.stmt], needed: Names, targets: _Targets) -> Names:
        """The names needed before the statements, given those needed after them."""
        for statement in reversed(statements):
            needed = self.statement(statement, needed, targets)
        return needed

    def statement(self, statement: ast.stmt, needed: Names, targets: _Targets) -> Names:
        match statement:
            case ast.Return() | ast.Raise():
                return reads(statement)
            case ast.Break():
                return targets.after
            case ast.Continue():
                return targets.again
            case ast.If(test=test, body=body, orelse=orelse):
                either = self.block(body, needed, targets) | self.block(orelse, needed, targets)
                return reads(test) | either
            case ast.For() | ast.AsyncFor() | ast.While():
                return self.loop(statement, needed, targets)
            case ast.With() | ast.AsyncWith():
                inside = self.block(statement.body, needed, targets)
                for item in reversed(statement.items):
                    if item.optional_vars is not None:
                        inside = self.write(item.optional_vars, None, inside)
                    inside |= reads(item.context_expr)
                return inside
            case ast.Try() | ast.TryStar():
                needed = self.block(statement.finalbody, needed, targets)
                for handler in statement.handlers:
                    self.block(handler.body, needed, targets)
                return self.block([*statement.body, *statement.orelse], needed, targets)
            case ast.Match(subject=subject, cases=cases):
                inside = needed
                for case in cases:
                    inside |= self.block(case.body, needed, targets)
                return inside | reads(subject)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return needed
            case _:
                return self.simple(statement, needed)

    def loop(self, statement: ast.For | ast.AsyncFor | ast.While, needed: Names, targets: _Targets) -> Names:
        done = self.block(statement.orelse, needed, targets)
        head = done
        # Two rounds reach the fixed point: the second one sees the names needed at the head of the loop.
        for _ in range(2):
            inside = self.block(statement.body, head, _Targets(needed, head))
            if isinstance(statement, ast.While):
                head = done | reads(statement.test) | inside
            else:
                head = done | self.write(statement.target, None, inside)
        return head if isinstance(statement, ast.While) else head | reads(statement.iter)

    def simple(self, statement: ast.stmt, needed: Names) -> Names:
        match statement:
            case ast.Assign(targets=goals, value=value):
                for goal in reversed(goals):
                    needed = self.write(goal, value, needed)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                needed = self.write(target, value, needed)
            case ast.AugAssign(target=ast.Name() as target):
                return self.write(target, None, needed) | {target.id} | reads(statement.value)
            case ast.AnnAssign():
                return needed
        return needed | reads(statement)

    def write(self, target: ast.expr, value: ast.expr | None, needed: Names) -> Names:
        """The names needed before a write; notes every other variable whose value is still needed."""
        names = {
            node.id
            for node in ast.walk(target)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        copied = {value.id} if isinstance(value, ast.Name) else set()
        self.found.update((name, other) for name in names for other in needed - names - copied)
        return (needed - names) | reads(target)


def reads(node: ast.AST) -> Names:
    """The names that a statement or expression may read itself, not through functions that it defines."""
    hidden: set[str] = set()
    found = set(_reads(node, hidden))
    return frozenset(found - hidden)


def _reads(node: ast.AST, hidden: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.comprehension):
        hidden.update(inner.id for inner in ast.walk(node.target) if isinstance(inner, ast.Name))
    if not isinstance(node, ast.Lambda | FunctionNode | ast.ClassDef):
        for child in ast.iter_child_nodes(node):
            yield from _reads(child, hidden)
