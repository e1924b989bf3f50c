"""Controls of the dead-code family: insertions that look like dead code and are not dead."""

import ast
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Site
from codeaudit.transforms.python.dead_code.places import (
    InsertionBlock,
    InsertionGap,
    blocks,
    inserted,
    variables,
)
from codeaudit.transforms.python.parsing import FunctionNode
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource

NOTHING_READ: Final = "no variable is certainly read"
NO_EFFECT: Final = "nothing that matters follows"
_SOMETIMES: Final = (
    ast.BoolOp, ast.IfExp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.stmt,
)  # fmt: skip


def _live(code: PythonSource) -> Iterator[Site | Refused]:
    """`x = None` right before a statement that certainly reads `x`."""
    for block in blocks(code):
        for gap in block.gaps:
            names = [name for name in variables(code, gap) if name in _read(gap.before)]
            if names:
                options = tuple(inserted(code, gap, f"{name} = None") for name in names)
                yield Site(options, "variable overwritten", gap.before.lineno)
            else:
                yield Refused(NOTHING_READ)


def _read(statement: ast.stmt) -> set[str]:
    """The names that a statement certainly reads first; those in its nested blocks are left out."""
    if not isinstance(statement, ast.Return | ast.Assign | ast.AugAssign | ast.Expr | ast.If | ast.For):
        return set()
    found: set[str] = set()
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif node is statement or not isinstance(node, _SOMETIMES):
            stack += list(ast.iter_child_nodes(node))
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        found.add(statement.target.id)
    return found


def _leave(code: PythonSource, *, conditional: bool, note: str) -> Iterator[Site | Refused]:
    """Sites that leave the function, maybe under a true condition, where something that matters follows."""
    lines = ("if True:", f"{code.step}return") if conditional else ("return",)
    for block in blocks(code):
        holder = code.parent(block.body[0])
        # Only the body of an outermost function certainly runs when the function is called.
        if not isinstance(holder, FunctionNode) or code.function(holder) is not None:
            continue
        gaps = _reached(block)
        if gaps:
            yield Site(tuple(inserted(code, gap, *lines) for gap in gaps), note, gaps[0].before.lineno)
        else:
            yield Refused(NO_EFFECT)


def _reached(block: InsertionBlock) -> list[InsertionGap]:
    """The gaps of a block that are certainly reached and behind which something observable happens."""
    found = []
    for gap in block.gaps:
        number = block.body.index(gap.before)
        before = (node for statement in block.body[:number] for node in ast.walk(statement))
        if any(isinstance(node, ast.Return | ast.Raise) for node in before):
            break
        if _matters(block.body[number:]):
            found.append(gap)
    return found


def _matters(body: Sequence[ast.stmt]) -> bool:
    """Whether statements do anything that a caller can see: return a value, raise, call, yield, or store into
    an object.
    """
    for statement in body:
        for node in ast.walk(statement):
            match node:
                case ast.Return(value=None | ast.Constant(value=None)):
                    pass
                case ast.Return() | ast.Raise() | ast.Call() | ast.Yield() | ast.YieldFrom() | ast.Await():
                    return True
                case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                    return True
    return False


LIVE_ASSIGNMENT: Final = PythonRule(name="live-assignment", find=_live, nothing="no block", kind="control")
REACHABLE_BRANCH: Final = PythonRule(
    name="reachable-branch",
    find=partial(_leave, conditional=True, note="branch that is always taken"),
    nothing="no block",
    kind="control",
)
EARLY_RETURN: Final = PythonRule(
    name="early-return",
    find=partial(_leave, conditional=False, note="left early"),
    nothing="no block",
    kind="control",
)
