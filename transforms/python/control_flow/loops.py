"""Loops in another form: `for` as `while` with a counter, `while True` with a `break`, a body written twice;
and the controls.

A new counter is advanced first thing in the body. So `continue` needs no care, the loop variable may be
rebound, and it has the same value after the loop (or none) as before. The range or sequence is evaluated
once. Only loops in functions are changed, because every reader of a module or class would see the new
variables.
"""

import ast
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.contexts import (
    CONDITIONAL,
    Part,
    editable_nodes,
    has_comment,
    negated,
    parenthesized,
    patch_range,
    patch_span,
)
from codeaudit.transforms.python.expressions.identity import compares_objects, is_cached
from codeaudit.transforms.python.expressions.operators import number
from codeaudit.transforms.python.order.spelling import spelled_once
from codeaudit.transforms.python.rewriting import PythonRule, at_each, control, edit
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import (
    COMMENT,
    REFLECTION,
    SHARED,
    always_leaves,
    binds,
    block_end,
    block_indent,
    bound_in,
    fresh_names,
    header_colon,
    is_inline,
    line_end,
    next_line,
    reflects,
)

NO_RANGE: Final = "neither a range nor a sequence of known type"
NO_INTEGER: Final = "arguments of range may not be integers"
STEP: Final = "step of the range is no constant"
SEEN: Final = "a new integer may be distinguished from the old one"
TARGET: Final = "loop over more than one variable"
OUTSIDE: Final = "not in a function"
REBOUND: Final = "sequence is rebound in the loop"
ENDLESS: Final = "condition is constant"
HAS_ELSE: Final = "loop has an else"
LONG: Final = "long body"
LEFT: Final = "body leaves anyway"
ONCE: Final = "loop has one turn at most"
EQUAL: Final = "range stays the same"
_LONGEST: Final = 6
"""Most statements in a body that is written twice."""
_DECLARING: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal)
_SEQUENCES: Final = frozenset({"list", "tuple", "str", "bytes"})
_INTEGER_SIGNS: Final = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_SUM: Final = 11
"""Precedence of `+`: arguments that bind less tightly need parentheses before `+ 1`."""


# ── for ──────────────────────────────────────────────────────────────────────────────────────────────────


@spelled_once
def _for(code: PythonSource) -> Iterator[Site | Refused]:
    """`for` over a range or a sequence of known type to `while` with a counter."""
    names = fresh_names(code)
    # `locals()` would show the counter.
    reflecting = reflects(code)
    for node in editable_nodes(code):
        if not isinstance(node, ast.For):
            continue
        if reflecting:
            yield Refused(REFLECTION)
        elif code.function(node) is None:
            yield Refused(OUTSIDE)
        elif not isinstance(node.target, ast.Name):
            yield Refused(TARGET)
        # The header is written anew, and a comment in it would be lost.
        elif has_comment(code, code.start(node), header_colon(code, node.body).start):
            yield Refused(COMMENT)
        else:
            changes = _counted(code, node, node.target.id, names)
            yield changes if isinstance(changes, Refused) else edit("for to while", node.lineno, *changes)


def _counted(
    code: PythonSource, node: ast.For, target: str, names: Iterator[str]
) -> tuple[Patch, ...] | Refused:
    """The patches of one `for`, by what it runs over."""
    match node.iter:
        case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]) if not binds(code, "range"):
            return _over_range(code, node, target, arguments, names)
        case ast.Name(id=name) if code.kind(node.iter) in _SEQUENCES:
            if binds(code, "len"):
                return Refused(NO_RANGE)
            # In `for x in xs: xs = []` the loop goes on over the old list. A `nonlocal` anywhere means that a
            # nested function may rebind the sequence too.
            shared = any(
                isinstance(node, ast.Nonlocal) and name in node.names for node in ast.walk(code.tree)
            )
            if shared or any(bound_in(part, name) for part in (*node.body, node.target)):
                return Refused(REBOUND)
            # The length is read at every turn, because the body may change the list.
            counter = next(names)
            before = f"{counter} = 0{code.newline}{code.indentation(node)}"
            head = (before, f"while {counter} < len({name})")
            return _counting(code, node, head, (f"{target} = {name}[{counter}]", f"{counter} += 1"))
        case _:
            return Refused(NO_RANGE)


def _over_range(
    code: PythonSource, node: ast.For, target: str, arguments: list[ast.expr], names: Iterator[str]
) -> tuple[Patch, ...] | Refused:
    """The patches of a `for` over a `range`. A stop that is not a constant is evaluated once, into a new
    variable.
    """
    # `range(2.5)` raises, and a counter that begins at 2.5 does not.
    if not 1 <= len(arguments) <= 3 or not all(_integer(code, argument) for argument in arguments):
        return Refused(NO_INTEGER)
    # The direction of the comparison depends on the sign of the step, so the step must be known and not 0.
    stride = _constant(arguments[2]) if len(arguments) == 3 else 1
    if not stride:
        return Refused(STEP)
    single = len(arguments) == 1
    # A range makes new integers, and a counter begins with the very object that is given.
    if not single and not is_cached(_constant(arguments[0])) and compares_objects(code, "int"):
        return Refused(SEEN)
    following = f"{code.newline}{code.indentation(node)}"
    counter = next(names)
    start: tuple[Part, ...] = ("0",) if single else parenthesized(code, arguments[0], CONDITIONAL)
    stop = arguments[0] if single else arguments[1]
    head: tuple[Part, ...] = (f"{counter} = ", *start, following)
    limit: Part = code.full(stop)
    if _constant(stop) is None:
        limit = next(names)
        head += (limit, " = ", *parenthesized(code, stop, CONDITIONAL), following)
    head += (f"while {counter} {'<' if stride > 0 else '>'} ", limit)
    sign = f"+= {stride}" if stride > 0 else f"-= {-stride}"
    return _counting(code, node, head, (f"{target} = {counter}", f"{counter} {sign}"))


def _integer(code: PythonSource, node: ast.expr) -> bool:
    """Whether an expression certainly gives an `int`, if it gives anything.

    A `bool` is not enough: `range(True, 3)` begins with 1, and a counter would begin with `True`.
    """
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.expr() as only], keywords=[]):
            return not isinstance(only, ast.Starred) and not binds(code, "len")
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _INTEGER_SIGNS):
            return _integer(code, left) and _integer(code, right)
        case _:
            return code.kind(node) == "int"


def _constant(node: ast.expr) -> int | None:
    """The value of an integer literal, with its sign; `None` for any other expression."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
        case _:
            return None


def _counting(
    code: PythonSource, node: ast.For, head: tuple[Part, ...], first: tuple[str, ...]
) -> tuple[Patch, ...]:
    """The patches of the header, and of the lines `first` at the beginning of the body; an inline body gets
    lines of its own.
    """
    mark = header_colon(code, node.body)
    inside = code.indentation(node) + block_indent(code, node)
    if is_inline(code, node.body):
        text = "".join(f"{code.newline}{inside}{line}" for line in (*first, ""))
        opened = Patch(mark.end, code.start(node.body[0]), (text,))
    else:
        at = next_line(code, line_end(code, mark.end))
        opened = Patch(at, at, ("".join(f"{inside}{line}{code.newline}" for line in first),))
    return Patch(code.start(node), mark.start, head), opened


FOR_TO_WHILE: Final = PythonRule("for-to-while", _for, "no for")


# ── while ────────────────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.While)
def _while(code: PythonSource, node: ast.While) -> Site | Refused:
    """`while c:` to `while True:` that is left as soon as `c` fails; `continue` leads to the same test."""
    if isinstance(node.test, ast.Constant):
        return Refused(ENDLESS)
    # The `else` runs when `c` fails, and a `break` would skip it.
    if node.orelse:
        return Refused(HAS_ELSE)
    mark = header_colon(code, node.body)
    if has_comment(code, code.start(node), mark.start):
        return Refused(COMMENT)
    newline, inside = code.newline, code.indentation(node) + block_indent(code, node)
    exit_ = ("if ", *negated(code, node.test, tested=True), f":{newline}{inside}{code.step}break{newline}")
    if is_inline(code, node.body):
        end = code.start(node.body[0])
        parts = ("True:", newline, inside, *exit_, inside)
    else:
        end = next_line(code, line_end(code, mark.end))
        parts = ("True", Span(mark.start, end), inside, *exit_)
    change = patch_range(code, code.full(node.test).start, end, *parts)
    return edit("while to while True", node.lineno, change)


@at_each(ast.While)
def _unroll(code: PythonSource, node: ast.While) -> Site | Refused:
    """The body twice, with the condition tested between; `break` and `continue` mean what they meant."""
    size = sum(isinstance(inner, ast.stmt) for part in node.body for inner in ast.walk(part))
    if node.orelse:
        return Refused(HAS_ELSE)
    if isinstance(node.test, ast.Constant):
        return Refused(ENDLESS)
    if is_inline(code, node.body):
        return Refused(SHARED)
    # `global x` may not be written again behind a use of `x`.
    if size > _LONGEST or any(isinstance(inner, _DECLARING) for inner in ast.walk(node)):
        return Refused(LONG)
    begin = next_line(code, line_end(code, header_colon(code, node.body).end))
    end = block_end(code, node.body[-1], code.indentation(node))
    newline, inside = code.newline, code.indentation(node.body[0])
    body = Span(begin, end)
    exit_ = (
        f"{newline}{inside}if ", *negated(code, node.test, tested=True),
        f":{newline}{inside}{code.step}break{newline}",
    )  # fmt: skip
    return edit("two turns of while in one", node.lineno, Patch(begin, end, (body, *exit_, body)))


WHILE_TO_WHILE_TRUE: Final = PythonRule("while-to-while-true", _while, "no while")
UNROLL_WHILE: Final = PythonRule("unroll-while", _unroll, "no while")


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


def _same_turns(bounds: list[int | float | None], place: int, change: int) -> bool:
    """Whether a range of constants stays the same if a bound changes: `range(0, 9, 2)`, `range(0, 10, 2)`."""
    before = [bound for bound in bounds if isinstance(bound, int)]
    after = [bound + change if at == place else bound for at, bound in enumerate(before)]
    return len(before) == len(bounds) <= 3 and 0 not in before[2:] and range(*before) == range(*after)


@at_each(ast.For)
def _off_by_one(code: PythonSource, node: ast.For) -> Site | Refused | None:
    """One of the first two arguments of `range`, one higher or lower."""
    match node.iter:
        case ast.Call(func=ast.Name(id="range"), args=[_, *_] as arguments, keywords=[]):
            if any(isinstance(argument, ast.Starred) for argument in arguments):
                return None
        case _:
            return None
    bounds = [number(argument) for argument in arguments]
    options = [
        (patch_span(code, code.full(argument), *parenthesized(code, argument, _SUM), f" {sign} 1"),)
        for place, argument in enumerate(arguments[:2])
        for sign, change in (("-", -1), ("+", 1))
        if not _same_turns(bounds, place, change)
    ]
    if not options:
        return Refused(EQUAL)
    return Site(tuple(options), "range moved by 1", node.lineno)


def _turns(iterated: ast.expr) -> int | None:
    """The number of turns of a loop over constants; `None` if it is not known."""
    match iterated:
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return None if any(isinstance(element, ast.Starred) for element in elements) else len(elements)
        case ast.Constant(value=str() | bytes() as text):
            return len(text)
        case ast.Call(func=ast.Name(id="range"), args=[_, *_] as arguments, keywords=[]):
            bounds = [number(argument) for argument in arguments]
            numbers = [bound for bound in bounds if isinstance(bound, int)]
            if len(numbers) != len(bounds) or len(numbers) > 3 or 0 in numbers[2:]:
                return None
            return len(range(*numbers))
        case _:
            return None


@at_each(ast.For, ast.While, ast.AsyncFor)
def _break_at_end(code: PythonSource, node: ast.For | ast.While | ast.AsyncFor) -> Site | Refused:
    """`break` at the end of a loop's body."""
    if not isinstance(node, ast.While):
        turns = _turns(node.iter)
        # A `break` in the only turn skips the `else`.
        if turns == 0 or (turns == 1 and not node.orelse):
            return Refused(ONCE)
    # A `break` behind a statement that leaves would never run.
    if always_leaves(node.body):
        return Refused(LEFT)
    first = code.start(node.body[0])
    if is_inline(code, node.body):
        following = f"{code.newline}{code.indentation(node)}{code.step}"
        end = line_end(code, code.end(node.body[-1]))
        parts = (following, Span(first, end), f"{following}break")
        change = Patch(header_colon(code, node.body).end, end, parts)
    else:
        end = block_end(code, node.body[-1], code.indentation(node))
        line = f"{code.newline}{code.indentation(node.body[0])}break"
        change = Patch(first, end, (Span(first, end), line))
    return edit("left after one turn", node.lineno, change)


FOR_OFF_BY_ONE: Final = control("for-off-by-one", _off_by_one, "no for over a range")
LOOP_LEFT_EARLY: Final = control("loop-left-early", _break_at_end, "no loop")
