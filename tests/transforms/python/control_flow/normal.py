"""Normal forms of control flow: the syntax tree of a text, with what one rule may write either way written
in one way only. Texts before and after the rule must have the same one.

It works on trees where the rules work on text, so it sees what a wrong indentation or a lost line would do.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Final

Block = list[ast.stmt]


def normal(source: str, rule: str) -> str:
    """The normal form of a text for one rule, as one string to compare."""
    tree = ast.parse(source)
    _Normal(_FORMS[rule]).visit(tree)
    return ast.dump(tree)


class _Normal(ast.NodeTransformer):
    """Rewrites every block, the innermost first."""

    def __init__(self, form: Callable[[Block], Block]) -> None:
        self.form = form

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, self.form(block))
        return node


def _each(change: Callable[[ast.stmt], ast.stmt]) -> Callable[[Block], Block]:
    return lambda block: [change(node) for node in block]


def _same(block: Block) -> Block:
    return block


def _not(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(op=ast.Not(), operand=test)


def _upright(node: ast.stmt) -> ast.stmt:
    """No `not` above an `if` with an `else`."""
    while (
        isinstance(node, ast.If)
        and node.orelse
        and isinstance(node.test, ast.UnaryOp)
        and isinstance(node.test.op, ast.Not)
    ):
        node.test, node.body, node.orelse = node.test.operand, node.orelse, node.body
    return node


def _leaves(block: Block) -> bool:
    last = block[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _leaves(last.body) and _leaves(last.orelse)
    return isinstance(last, ast.Return | ast.Raise | ast.Continue | ast.Break)


def _early(block: Block) -> Block:
    """No `else` behind a branch that leaves, and nothing behind what leaves."""
    nodes: Block = []
    for node in block:
        nodes.append(node)
        if isinstance(node, ast.If) and node.orelse and _leaves(node.body):
            rest, node.orelse = node.orelse, []
            nodes += _early(rest)
    return nodes


def _spread(node: ast.stmt) -> ast.stmt:
    """No conditional expression that is assigned or returned."""
    if not isinstance(node, ast.Assign | ast.Return) or not isinstance(node.value, ast.IfExp):
        return node
    value, branches = node.value, []
    for part in (value.body, value.orelse):
        leaf = ast.Return(part) if isinstance(node, ast.Return) else ast.Assign(node.targets, part)
        branches.append([_spread(leaf)])
    return ast.If(test=value.test, body=branches[0], orelse=branches[1])


def _parts(test: ast.expr) -> list[ast.expr]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [part for value in test.values for part in _parts(value)]
    return [test]


def _joined(node: ast.stmt) -> ast.stmt:
    """No `if` alone in an `if`."""
    match node:
        case ast.If(body=[ast.If(orelse=[]) as inner], orelse=[]):
            values = _parts(node.test) + _parts(inner.test)
            return ast.If(test=ast.BoolOp(op=ast.And(), values=values), body=inner.body, orelse=[])
        case ast.If(test=ast.BoolOp(op=ast.And()), orelse=[]):
            node.test = ast.BoolOp(op=ast.And(), values=_parts(node.test))
        case _:
            pass
    return node


def _single(node: ast.stmt) -> ast.stmt:
    """One item per `with`."""
    if isinstance(node, ast.With | ast.AsyncWith):
        for item in reversed(node.items[1:]):
            node.body = [type(node)(items=[item], body=node.body)]
        del node.items[1:]
    return node


def _apart(node: ast.stmt) -> ast.stmt:
    """No `except` beside a `finally`."""
    if isinstance(node, ast.Try | ast.TryStar) and node.handlers and node.finalbody:
        inner = type(node)(body=node.body, handlers=node.handlers, orelse=node.orelse, finalbody=[])
        return ast.Try(body=[inner], handlers=[], orelse=[], finalbody=node.finalbody)
    return node


def _endless(node: ast.stmt) -> ast.stmt:
    """No condition above a loop."""
    if isinstance(node, ast.While) and not node.orelse and not isinstance(node.test, ast.Constant):
        left = ast.If(test=_not(node.test), body=[ast.Break()], orelse=[])
        return ast.While(test=ast.Constant(value=True), body=[left, *node.body], orelse=[])
    return node


def _once(node: ast.stmt) -> ast.stmt:
    """No body twice in a loop."""
    if isinstance(node, ast.While) and len(node.body) % 2:
        middle = len(node.body) // 2
        left = ast.If(test=_not(node.test), body=[ast.Break()], orelse=[])
        first, between, second = node.body[:middle], node.body[middle], node.body[middle + 1 :]
        if ast.dump(between) == ast.dump(left) and _dumped(first) == _dumped(second):
            node.body = first
    return node


def _dumped(block: Sequence[ast.stmt]) -> list[str]:
    return [ast.dump(node) for node in block]


def _counted(block: Block) -> Block:
    """`for` over a range of three arguments, or over a sequence, instead of `while` with a counter."""
    nodes: Block = []
    for node in block:
        match node:
            case ast.For(iter=ast.Call(func=ast.Name(id="range") as func, args=args, keywords=[])):
                node.iter = ast.Call(func=func, args=_three(args), keywords=[])
                nodes.append(node)
            case ast.While(
                test=ast.Compare(left=ast.Name(id=counter), ops=[op], comparators=[limit]),
                body=[
                    ast.Assign(targets=[target], value=value),
                    ast.AugAssign(target=ast.Name(id=advanced), op=sign, value=stride),
                    *body,
                ],
            ) if nodes and advanced == counter:
                over = _over(nodes, counter, limit, value, isinstance(op, ast.Gt), sign, stride)
                nodes.append(ast.For(target, over, body or [ast.Pass()], node.orelse) if over else node)
            case _:
                nodes.append(node)
    return nodes


def _three(args: list[ast.expr]) -> list[ast.expr]:
    start = args[0] if len(args) > 1 else ast.Constant(value=0)
    return [start, args[min(1, len(args) - 1)], args[2] if len(args) > 2 else ast.Constant(value=1)]


def _over(
    block: Block,
    counter: str,
    limit: ast.expr,
    value: ast.expr,
    down: bool,
    sign: ast.operator,
    stride: ast.expr,
) -> ast.expr | None:
    """What a `for` would run over; the counter's own statements are taken away."""
    match value, limit:
        case (
            ast.Subscript(value=ast.Name(id=name) as over, slice=ast.Name(id=index)),
            ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=other)]),
        ) if name == other and index == counter and not down:
            match block[-1]:
                case ast.Assign(targets=[ast.Name(id=first)], value=ast.Constant(value=0)) if (
                    first == counter
                ):
                    block.pop()
                    return over
                case _:
                    return None
        case ast.Name(id=index), _ if index == counter:
            pass
        case _:
            return None
    match block[-1]:
        case ast.Assign(targets=[ast.Name(id=first)], value=stop) if (
            isinstance(limit, ast.Name) and first == limit.id
        ):
            block.pop()
        case _:
            stop = limit
    match block[-1:]:
        case [ast.Assign(targets=[ast.Name(id=first)], value=start)] if first == counter:
            block.pop()
        case _:
            return None
    assert down == isinstance(sign, ast.Sub)
    step = ast.UnaryOp(op=ast.USub(), operand=stride) if down else stride
    return ast.Call(func=ast.Name(id="range", ctx=ast.Load()), args=[start, stop, step], keywords=[])


_FORMS: Final[Mapping[str, Callable[[Block], Block]]] = {
    "invert-if": _each(_upright),
    "nest-elif": _same,
    "flatten-elif": _same,
    "return-to-else": _early,
    "else-to-return": _early,
    "ternary-to-if": _each(_spread),
    "if-to-ternary": _each(_spread),
    "split-conditions": _each(_joined),
    "merge-conditions": _each(_joined),
    "for-to-while": _counted,
    "while-to-while-true": _each(_endless),
    "unroll-while": _each(_once),
    "split-with": _each(_single),
    "merge-with": _each(_single),
    "split-try": _each(_apart),
    "merge-try": _each(_apart),
}
