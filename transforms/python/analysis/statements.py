"""What Python's simple statements may do. `builder` collects the compound ones."""

import ast
from typing import Final

from codeaudit.transforms.dependence.effects import (
    ANYTHING,
    BARRIER,
    ENDS_CALL,
    EXITS,
    LEAVES_LOOP,
    OBSERVES,
    RAISES,
)
from codeaudit.transforms.python.analysis.effects import PythonEffects
from codeaudit.transforms.python.analysis.facts import stored_names
from codeaudit.transforms.python.analysis.knowledge import PLAIN

IMMUTABLE: Final = PLAIN | {"tuple", "range"}
"""Types whose values never change, so that `+=` makes a new value."""


def is_string_statement(node: ast.stmt) -> bool:
    """Whether a statement is a bare string: a docstring if it stands first."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def simple_statement(collector: PythonEffects, node: ast.stmt) -> None:
    """Collect the effects of a simple statement."""
    match node:
        case ast.Assign(targets=targets, value=value):
            kind = collector.visit(value)
            for target in targets:
                assign(collector, target, value, kind)
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            left = ast.Name(id=name, ctx=ast.Load())
            kind = collector.visit(ast.BinOp(left=left, op=op, right=value))
            collector.write(name)
            if collector.facts.types.get(name) not in IMMUTABLE and kind not in IMMUTABLE:
                collector.flags |= ANYTHING  # `__iadd__` may change the object in place
        case ast.AugAssign(target=target, value=value):
            collector.visit(value)
            collector.flags |= ANYTHING
            assign(collector, target, None)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                kind = collector.visit(value)
                assign(collector, target, value, kind)
            elif not isinstance(target, ast.Name):
                assign(collector, target, None)
        case ast.Expr(value=value):
            collector.visit(value)
            if is_string_statement(node):
                collector.flags |= BARRIER  # moved to the front, the string would become a docstring
        case ast.Return(value=value):
            if value is not None:
                collector.visit(value)
            collector.flags |= ENDS_CALL
        case ast.Raise(exc=exc, cause=cause):
            for part in (exc, cause):
                if part is not None:
                    collector.visit(part)
            collector.flags |= ENDS_CALL
        case ast.Assert(test=test, msg=msg):
            collector.truth(test)
            if msg is not None:
                collector.visit(msg)
            collector.flags |= RAISES | EXITS
        case ast.Delete(targets=targets):
            for target in targets:
                assign(collector, target, None)
                if not isinstance(target, ast.Name):
                    collector.flags |= ANYTHING
                elif target.id not in collector.definite:
                    collector.flags |= RAISES
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            for alias in names:
                collector.write(alias.asname or alias.name.partition(".")[0])
            collector.expect()
        case ast.Break() | ast.Continue():
            collector.flags |= LEAVES_LOOP
        case ast.Pass():
            pass
        case _:  # global, nonlocal, type aliases, and statements of later versions of Python
            collector.flags |= BARRIER
            for name in stored_names(node):
                collector.write(name)


def assign(
    collector: PythonEffects, target: ast.expr, value: ast.expr | None, kind: str | None = None
) -> None:
    """Collect the effects of binding a target to `value`, of type `kind`.

    Unpacking is exact only from a tuple display of the same length; otherwise it may iterate over anything.
    """
    match target:
        case ast.Name(id=name):
            collector.write(name)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            exact = (
                isinstance(value, ast.Tuple)
                and len(value.elts) == len(elements)
                and not any(isinstance(element, ast.Starred) for element in (*elements, *value.elts))
            )
            if not exact:
                collector.flags |= OBSERVES | RAISES
                if isinstance(value, ast.Name) and value.id in collector.facts.local and kind is None:
                    collector.writes.add(value.id)  # it may be an iterator, which unpacking exhausts
            for element in elements:
                assign(collector, element, None)
        case ast.Starred(value=inner):
            assign(collector, inner, None)
        case ast.Attribute():
            collector.touch(target)
            collector.assign_attribute(target)
        case ast.Subscript():
            collector.touch(target)
            collector.assign_item(target)
        case _:
            collector.flags |= ANYTHING
