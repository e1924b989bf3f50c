"""Inserted statements that do not change what a function does, and controls that look like them.

New variables have names that occur nowhere in the text. They hold constants, or values of types without
references, so that no object lives longer than before. A body that never runs binds nothing but a new
variable: any other name would become local to the function, and a `yield` would make the function a
generator.
"""

import ast
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final, TypeAlias
from zlib import crc32

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.contexts import editable_nodes
from codeaudit.transforms.python.parsing import FunctionNode
from codeaudit.transforms.python.rewriting import PythonRule, at_each, control, edit
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import (
    REFLECTION,
    SHARED,
    block_end,
    block_indent,
    bodies,
    continued,
    fresh_names,
    is_elif,
    line_before,
    line_end,
    line_start,
    next_line,
    reflects,
    starts_line,
)

NO_VARIABLE: Final = "no variable is certainly bound"
HAS_ELSE: Final = "has an else"
NOTHING_READ: Final = "no variable is certainly read"
NO_EFFECT: Final = "nothing that matters follows"

_MOST_GAPS: Final = 6
"""Most gaps of a block that are offered as options."""
_CONSTANTS: Final = ("0", "1", "-1", "2", "10", "100", "0.5", "1.0", "None", "True", "False", '""')
_NEVER: Final = (
    "if False:", "if 0:", "if 0 == 1:", "if not True:", "if None:", "if 1 > 2:", "while False:",
    "while 0:",
)  # fmt: skip
_NOTHING: Final = ("pass", "0", "None", "...", "assert True")
_FORMS: Final = {
    "int": ("{} + 1", "{} * 2", "{} - 1", "-{}", "{} > 0"),
    "float": ("{} * 2.0", "-{}", "{} > 0.0"),
    "bool": ("not {}", "{}"),
    "str": ("not {}", "{}"),
}
"""Expressions over a variable, by its type. None of them can fail or keep an object alive."""
_UNREACHED: Final = ("pass", "0", "None", "raise AssertionError", "assert False", "return")
_EVALUATED_MAYBE: Final = (
    ast.BoolOp, ast.IfExp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.stmt,
)  # fmt: skip
"""Nodes inside a statement whose parts may not be evaluated, as `x` in `a and x`."""


# ── where a statement can be inserted ────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class InsertionGap:
    """A place before a statement."""

    before: ast.stmt
    """The statement behind the gap."""
    at: int
    """The offset of the line at which lines can be inserted."""
    indentation: str
    """The indentation of the inserted lines."""

    def insert(self, code: PythonSource, *lines: str) -> tuple[Patch, ...]:
        """The patch that inserts these lines, each with indentation and line break."""
        text = "".join(f"{self.indentation}{line}{code.newline}" for line in lines)
        return (Patch(self.at, self.at, (text,)),)


def blocks(code: PythonSource) -> Iterator[tuple[Sequence[ast.stmt], list[InsertionGap]]]:
    """Each block of a function with its gaps, in the order of the text; blocks without a gap are left out."""
    comments = frozenset(
        token.start
        for token in code.tokens
        # Nothing may be inserted above a type comment: it must stay directly below its function's header.
        if token.type == tokenize.COMMENT and not token.text.startswith("# type:")
    )
    for node in editable_nodes(code):
        for body in bodies(node):
            # A variable of a module or class is visible to others, so only functions are filled.
            if code.function(body[0]) is None:
                continue
            gaps = [
                _gap(code, statement, comments)
                for statement in body
                # A line above an `elif` would end the `if`.
                if starts_line(code, statement)
                and not is_elif(statement, code)
                # A docstring is one only as the first statement.
                and not (isinstance(node, FunctionNode) and statement is body[0] and _is_constant(statement))
            ]
            if gaps:
                yield body, gaps


def _is_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _gap(code: PythonSource, statement: ast.stmt, comments: frozenset[int]) -> InsertionGap:
    """The gap before a statement and the comment lines directly above it that have the same indentation."""
    indentation = code.indentation(statement)
    indent = indentation.encode()
    begin = line_start(code, code.start(statement))
    while begin:
        above = line_start(code, line_before(code, begin))
        start = above + len(indent)
        if start not in comments or code.source[above:start] != indent or continued(code, above):
            break
        begin = above
    return InsertionGap(statement, begin, indentation)


def variables(code: PythonSource, gap: InsertionGap) -> list[str]:
    """The function's own variables that are certainly bound at a gap, sorted.

    Variables that a nested function sees are left out, because it may change them at any call. So are those
    that `del x` or `except E as x` unbinds somewhere.
    """
    facts = code.facts(gap.before)
    if facts is None:
        return []
    return sorted(code.bound(gap.before) & facts.local - facts.captured - facts.fragile)


# ── dead code in gaps ────────────────────────────────────────────────────────────────────────────────────

Write: TypeAlias = Callable[[PythonSource, InsertionGap, str, Random], tuple[str, ...] | None]
"""Writes the lines for a gap, given a new name and the random generator; `None` if it has none to offer."""


def _fill(code: PythonSource, *, write: Write, note: str, named: bool) -> Iterator[Site | Refused]:
    """One site for each block; its options are the gaps of the block. `named`: the lines need a new name."""
    # `locals()` would show a new variable.
    if named and reflects(code):
        yield Refused(REFLECTION)
        return
    # Seeded by the text: `find` must give the same options whenever the same text is read.
    names, rng = fresh_names(code), Random(crc32(code.source))
    for body, gaps in blocks(code):
        if len(gaps) > _MOST_GAPS:
            gaps = sorted(rng.sample(gaps, _MOST_GAPS), key=lambda gap: gap.at)
        name = next(names) if named else ""
        written = [(gap, write(code, gap, name, rng)) for gap in gaps]
        options = tuple(gap.insert(code, *lines) for gap, lines in written if lines is not None)
        yield Site(options, note, body[0].lineno) if options else Refused(NO_VARIABLE)


def _constant(_: PythonSource, __: InsertionGap, name: str, rng: Random) -> tuple[str, ...]:
    return (f"{name} = {rng.choice(_CONSTANTS)}",)


def _never(code: PythonSource, gap: InsertionGap, name: str, rng: Random) -> tuple[str, ...]:
    values = [*_CONSTANTS, *variables(code, gap)]
    body = rng.choice(("pass", f"{name} = {rng.choice(values)}", f"{name} = {rng.choice(values)}"))
    return rng.choice(_NEVER), code.step + body


def _nothing(code: PythonSource, gap: InsertionGap, _: str, rng: Random) -> tuple[str, ...]:
    return (rng.choice([*_NOTHING, *(f"{name} = {name}" for name in variables(code, gap))]),)


def _computed(code: PythonSource, gap: InsertionGap, name: str, rng: Random) -> tuple[str, ...] | None:
    facts, names = code.facts(gap.before), variables(code, gap)
    if facts is None or not names:
        return None
    variable = rng.choice(names)
    # Of a value of unknown type only its identity can be asked without running foreign code.
    forms = _FORMS.get(facts.types.get(variable) or "", ("{} is None", "{} is not None"))
    return (f"{name} = {rng.choice(forms).format(variable)}",)


def _insertion(name: str, write: Write, note: str, *, named: bool = True) -> PythonRule:
    find = partial(_fill, write=write, note=note, named=named)
    return PythonRule(name, find, "no block", nameless=write is not _computed)


UNUSED_LOCALS: Final = _insertion("unused-locals", _constant, "variable that nobody reads")
UNREACHABLE_BRANCHES: Final = _insertion("unreachable-branches", _never, "branch that is never taken")
NO_OP_STATEMENTS: Final = _insertion("no-op-statements", _nothing, "statement without effect", named=False)
DEAD_STORES: Final = _insertion("dead-stores", _computed, "computed and never read")


# ── dead code at the end of a block ──────────────────────────────────────────────────────────────────────


@at_each(ast.stmt)
def _else_pass(code: PythonSource, node: ast.stmt) -> Site | Refused | None:
    """`else: pass` behind an `if` or a loop."""
    if not isinstance(node, ast.If | ast.For | ast.AsyncFor | ast.While):
        return None
    if node.orelse:
        return Refused(HAS_ELSE)
    outside, newline = code.indentation(node), code.newline
    start, end = code.start(node), block_end(code, node.body[-1], outside)
    text = f"{newline}{outside}else:{newline}{outside}{block_indent(code, node)}pass"
    return edit("else that passes", node.lineno, Patch(start, end, (Span(start, end), text)))


def _unreached(code: PythonSource) -> Iterator[Site | Refused]:
    """A statement behind one that always leaves the block."""
    rng = Random(crc32(code.source))  # seeded by the text, as in `_fill`
    for node in editable_nodes(code):
        if not isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
            continue
        start, end = code.start(node), line_end(code, code.end(node))
        # In `if a: return 1`, a new line below would stand outside of the `if` and would run.
        if not starts_line(code, node) or not code.alone(node) or continued(code, next_line(code, end)):
            yield Refused(SHARED)
            continue
        texts = [text for text in _UNREACHED if text != "return" or _may_return(code, node)]
        opening = f"{code.newline}{code.indentation(node)}"
        options = tuple(
            (Patch(start, end, (Span(start, end), f"{opening}{text}")),) for text in rng.sample(texts, 3)
        )
        yield Site(options, "statement that is never reached", node.lineno)


def _may_return(code: PythonSource, node: ast.stmt) -> bool:
    """Whether a `return` may stand in the place of a statement.

    Outside of functions and in `except*` it is a syntax error, even if it is never reached.
    """
    function = code.function(node)
    for above in code.ancestors(node):
        if above is function or isinstance(above, ast.TryStar):
            return above is function
    return False


ELSE_PASS: Final = PythonRule("else-pass", _else_pass, "no if or loop", nameless=True)
AFTER_RETURN: Final = PythonRule(
    "after-return", _unreached, "no statement that leaves a block", nameless=True
)


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


def _overwrite(code: PythonSource) -> Iterator[Site | Refused]:
    """`x = None` right before a statement that certainly reads `x`."""
    for _, gaps in blocks(code):
        for gap in gaps:
            names = [name for name in variables(code, gap) if name in _certainly_read(gap.before)]
            options = tuple(gap.insert(code, f"{name} = None") for name in names)
            yield Site(options, "variable overwritten", gap.before.lineno) if names else Refused(NOTHING_READ)


def _certainly_read(statement: ast.stmt) -> set[str]:
    """The names that a statement certainly reads whenever it runs; the statements inside it are left out."""
    if not isinstance(statement, ast.Return | ast.Assign | ast.AugAssign | ast.Expr | ast.If | ast.For):
        return set()
    names: set[str] = set()
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif node is statement or not isinstance(node, _EVALUATED_MAYBE):
            stack += ast.iter_child_nodes(node)
    # The target of `x += 1` is marked as stored, but is read too.
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        names.add(statement.target.id)
    return names


def _leave(code: PythonSource, *, lines: tuple[str, ...], note: str) -> Iterator[Site | Refused]:
    """Lines that leave the function, where something that matters would follow."""
    for body, gaps in blocks(code):
        function = code.parent(body[0])
        # Only the body of an outermost function certainly runs when the function is called.
        if not isinstance(function, FunctionNode) or code.function(function) is not None:
            continue
        reached = []
        for gap in gaps:
            number = body.index(gap.before)
            before = (node for statement in body[:number] for node in ast.walk(statement))
            # Behind `if a: return` the inserted line is reached on some calls only.
            if any(isinstance(node, ast.Return | ast.Raise) for node in before):
                break
            if _matters(body[number:]):
                reached.append(gap)
        if reached:
            options = tuple(gap.insert(code, *(line.format(code.step) for line in lines)) for gap in reached)
            yield Site(options, note, reached[0].before.lineno)
        else:
            yield Refused(NO_EFFECT)


def _matters(body: Sequence[ast.stmt]) -> bool:
    """Whether statements do anything that a caller can see: return a value, raise, call, yield, or store into
    an object.
    """
    for statement in body:
        for node in ast.walk(statement):
            match node:
                # Both give what the end of the function gives anyway.
                case ast.Return(value=None | ast.Constant(value=None)):
                    pass
                case ast.Return() | ast.Raise() | ast.Call() | ast.Yield() | ast.YieldFrom() | ast.Await():
                    return True
                case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                    return True
    return False


LIVE_ASSIGNMENT: Final = control("live-assignment", _overwrite, "no block")
REACHABLE_BRANCH: Final = control(
    "reachable-branch",
    partial(_leave, lines=("if True:", "{}return"), note="branch that is always taken"),
    "no block",
)
EARLY_RETURN: Final = control(
    "early-return", partial(_leave, lines=("return",), note="left early"), "no block"
)
