"""What Python's simple statements may do."""

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
from codeaudit.transforms.python.analysis.effects import Reading
from codeaudit.transforms.python.analysis.facts import stored
from codeaudit.transforms.python.analysis.knowledge import PLAIN

IMMUTABLE: Final = PLAIN | {"tuple", "range"}
"""Types whose values never change, so that `+=` makes a new one."""


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a bare text: a docstring if it stands first."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def simple(reading: Reading, node: ast.stmt) -> None:
    """Collect the effects of a simple statement."""
    match node:
        case ast.Assign(targets=targets, value=value):
            kind = reading.visit(value)
            for target in targets:
                assign(reading, target, value, kind)
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            left = ast.Name(id=name, ctx=ast.Load())
            kind = reading.visit(ast.BinOp(left=left, op=op, right=value))
            reading.write(name)
            if reading.facts.types.get(name) not in IMMUTABLE and kind not in IMMUTABLE:
                reading.flags |= ANYTHING  # it may change the object in place
        case ast.AugAssign(target=target, value=value):
            reading.visit(value)
            reading.flags |= ANYTHING
            assign(reading, target, None)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                kind = reading.visit(value)
                assign(reading, target, value, kind)
            elif not isinstance(target, ast.Name):
                assign(reading, target, None)
        case ast.Expr(value=value):
            reading.visit(value)
            if is_text(node):
                reading.flags |= BARRIER  # a text that comes to stand first would be a docstring
        case ast.Return(value=value):
            if value is not None:
                reading.visit(value)
            reading.flags |= ENDS_CALL
        case ast.Raise(exc=exc, cause=cause):
            for part in (exc, cause):
                if part is not None:
                    reading.visit(part)
            reading.flags |= ENDS_CALL
        case ast.Assert(test=test, msg=msg):
            reading.truth(test)
            if msg is not None:
                reading.visit(msg)
            reading.flags |= RAISES | EXITS
        case ast.Delete(targets=targets):
            for target in targets:
                assign(reading, target, None)
                if not isinstance(target, ast.Name):
                    reading.flags |= ANYTHING
                elif target.id not in reading.definite:
                    reading.flags |= RAISES
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            for alias in names:
                reading.write(alias.asname or alias.name.partition(".")[0])
            reading.expect()
        case ast.Break() | ast.Continue():
            reading.flags |= LEAVES_LOOP
        case ast.Pass():
            pass
        case _:  # global, nonlocal, type aliases, and whatever later versions bring
            reading.flags |= BARRIER
            for name in stored(node):
                reading.write(name)


def assign(reading: Reading, target: ast.expr, value: ast.expr | None, kind: str | None = None) -> None:
    """Collect the effects of binding a target; unpacking is exact only from a tuple written out."""
    match target:
        case ast.Name(id=name):
            reading.write(name)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            exact = (
                isinstance(value, ast.Tuple)
                and len(value.elts) == len(elements)
                and not any(isinstance(element, ast.Starred) for element in (*elements, *value.elts))
            )
            if not exact:
                reading.flags |= OBSERVES | RAISES
                if isinstance(value, ast.Name) and value.id in reading.facts.local and kind is None:
                    reading.writes.add(value.id)  # it may be an iterator, which is used up
            for element in elements:
                assign(reading, element, None)
        case ast.Starred(value=inner):
            assign(reading, inner, None)
        case ast.Attribute():
            reading.touch(target)
            reading.assign_attribute(target)
        case ast.Subscript():
            reading.touch(target)
            reading.assign_item(target)
        case _:
            reading.flags |= ANYTHING
