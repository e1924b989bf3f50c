"""Loops in another form.

The condition of a loop is evaluated as often and in the same places as before. Where a loop would become one
whose condition is `true`, its own condition must certainly be no constant, since what a compiler takes for
reachable and assigned behind it may depend on that.
"""

from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Part, Patch, Site, Span
from codeaudit.transforms.strategies.branches import PATTERN
from codeaudit.transforms.strategies.dialect import COMMENT, CodeStrategy, CodeText, each
from codeaudit.transforms.strategies.logic import INFERRED, negated
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.text import replace, replace_operator, span

CONSTANT: Final = "condition may be a constant"
CONTINUES: Final = "continue would skip a part"
GUARDED: Final = "continue inside try or synchronized"
CAPTURED: Final = "a function keeps the variable of a turn"
HIDDEN: Final = "a name of the update is declared in the body"
NOT_ENDING: Final = "body may never end"
LABELS: Final = "several labels"
_OFF_BY_ONE: Final = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def inside(code: CodeText, body: Node) -> tuple[Span, str]:
    """What stands in the braces of a body, or the body itself, and what indents a line there."""
    inner = Span(body.start + 1, body.end - 1) if body.kind == "block" else span(body)
    if body.kind == "block" and body.children and code.starts_line(body.children[0].start):
        return inner, code.indentation(body.children[0].start)
    return inner, code.indentation(body.start) + code.step


def _exit(code: CodeText, condition: Node) -> tuple[Part, ...]:
    """The statement that leaves a loop when its condition is false."""
    return ("if (", *negated(code, condition.unparenthesized)[0], ") break;")


# ── while ────────────────────────────────────────────────────────────────────────────────────────────────


@each("while_statement")
def _while_to_for(code: CodeText, node: Node) -> Site | Refused:
    """`while (c)` as `for (; c; )`."""
    test = node.part("condition")
    if code.commented(node.start, test.start):
        return Refused(COMMENT)
    last = test.end - 1
    return code.site(
        node, "while as for", Patch(node.start, test.start + 1, ("for (; ",)), Patch(last, last, ("; ",))
    )


def _not_as_true(code: CodeText, condition: Node) -> Refused | None:
    """Why a condition must not move into the body of a `while (true)`."""
    if code.patterns(condition):
        # Behind `while (!(o instanceof String s)) …` the variable s is known.
        return Refused(PATTERN)
    if code.is_inferred(condition):
        return Refused(INFERRED)
    if not code.varies(condition):
        # Behind `while (false || true)` nothing is reached; behind a `break` it is.
        return Refused(CONSTANT)
    return None


@each("while_statement")
def _while_true(code: CodeText, node: Node) -> Site | Refused:
    """`while (c) …` as `while (true) { if (!c) break; … }`."""
    condition, body = node.part("condition"), node.part("body")
    if refused := _not_as_true(code, condition):
        return refused
    if code.commented(node.start, body.start):
        return Refused(COMMENT)
    inner, indent = inside(code, body)
    tail: tuple[Part, ...] = (inner, "}")
    if body.kind != "block":
        outside = code.indentation(node.start)
        indent = outside + code.step
        tail = (f"{code.newline}{indent}", inner, f"{code.newline}{outside}}}")
    parts = (f"while ({code.dialect.truth[0]}) {{", f"{code.newline}{indent}", *_exit(code, condition), *tail)
    return code.site(node, "while as while (true)", replace(node, *parts))


@each("do_statement")
def _do_to_while(code: CodeText, node: Node) -> Site | Refused:
    """`do { … } while (c);` as `while (true) { … if (!c) break; }`."""
    condition, body = node.part("condition"), node.part("body")
    if refused := _not_as_true(code, condition):
        return refused
    if next(code.dialect.flow.continues(node, code.reading), None):
        return Refused(CONTINUES)  # of a `do` it goes to the condition
    if not code.ends(body) or body.kind == "local_variable_declaration":
        return Refused(NOT_ENDING)  # the test would be unreachable, which compilers may reject
    if code.commented(body.end, node.end) or code.commented(node.start, body.start):
        return Refused(COMMENT)
    newline = f"{code.newline}{code.indentation(node.start)}"
    inside = newline + code.step
    inner = Span(body.start, body.end, add=code.step)
    parts = (
        f"while ({code.dialect.truth[0]}) {{",
        inside,
        inner,
        inside,
        *_exit(code, condition),
        f"{newline}}}",
    )
    return code.site(node, "do as while (true)", replace(node, *parts))


# ── for ──────────────────────────────────────────────────────────────────────────────────────────────────


@each("for_statement")
def _for_to_while(code: CodeText, node: Node) -> Site | Refused:
    """`for (init; c; update) …` as `{ init; while (c) { … update; } }`; each `continue` updates, too."""
    body, condition = node.part("body"), node.child("condition")
    inits, updates = node.all("init"), node.all("update")
    whole, label = node, ""
    if node.parent is not None and node.parent.kind == "labeled_statement":
        whole = node.parent
        label = f"{code.text(whole.children[0])}: "  # moves along: `continue label` needs a loop behind it
        if whole.parent is not None and whole.parent.kind == "labeled_statement":
            return Refused(LABELS)
    if any(code.patterns(part) for part in (*inits, *updates, *node.all("condition"))):
        return Refused(PATTERN)
    if code.commented(whole.start, body.start):
        return Refused(COMMENT)
    if not code.turns_share_variables and any(
        binding.captured and any(init.start <= binding.start < init.end for init in inits)
        for binding in code.scopes.bindings
    ):
        return Refused(CAPTURED)
    jumps = list(code.dialect.flow.continues(node, code.reading))
    if updates:
        if any(guarded for _, guarded in jumps):
            # `try { continue; } finally { g(); }`: the update would run before the finally.
            return Refused(GUARDED)
        if not code.ends(body):
            return Refused(NOT_ENDING)
        if code.declared_in(body) & frozenset().union(*(code.names(update) for update in updates)):
            return Refused(HIDDEN)  # `for (; c; n++) { int n = 0; … }` with a field n
    inner, indent = inside(code, body)
    outside = code.indentation(whole.start)
    update = " ".join(f"{code.text(part)};" for part in updates)
    shift = code.step if inits else ""
    newline = f"{code.newline}{outside}{shift}"
    head: tuple[Part, ...] = ()
    for init in inits:
        head += (span(init), f"{'' if init.kind == 'local_variable_declaration' else ';'}{newline}")
    if body.kind == "block":
        filled = inner.start + len(code.source[inner.start : inner.end].rstrip())
        content: tuple[Part, ...] = (Span(inner.start, filled, add=shift),)
        indent = indent if code.starts_line(body.end - 1) else outside + code.step
        last = f"{code.newline}{indent}{shift}{update}"
    else:
        content = (f"{newline}{code.step}", Span(inner.start, inner.end, add=shift))
        last = f"{newline}{code.step}{update}"
    content += (last,) if updates else ()
    test: Part = span(condition) if condition is not None else code.dialect.truth[0]
    parts: tuple[Part, ...] = (f"{label}while (", test, ") {", *content, f"{newline}}}")
    if inits:
        parts = (f"{{{newline}", *head, *parts, f"{code.newline}{outside}}}")
    patches = [replace(whole, *parts)]
    if updates:
        patches += [replace(jump, f"{{ {update} {code.text(jump)} }}") for jump, _ in jumps]
    return code.site(node, "for as while", *patches)


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


@each("for_statement")
def _off_by_one(code: CodeText, node: Node) -> Site | None:
    """`i < n` as `i <= n` in the head of a `for`, and the like."""
    condition = node.child("condition")
    if condition is None:
        return None
    inner = condition.unparenthesized
    if inner.kind != "binary_expression" or inner.operator not in _OFF_BY_ONE:
        return None
    return code.site(node, "one turn more or less", replace_operator(inner, _OFF_BY_ONE[inner.operator]))


@each("for_statement", "while_statement", "enhanced_for_statement")
def _left_early(code: CodeText, node: Node) -> Site | Refused:
    """A loop with a `break` at the end of its body."""
    body, condition = node.part("body"), node.child("condition")
    if not code.ends(body):
        return Refused("body leaves anyway")
    endless = node.kind == "for_statement" if condition is None else not code.varies(condition)
    if endless:
        return Refused(CONSTANT)  # a `break` would make the end of the method reachable, without a return
    if condition is not None and code.patterns(condition):
        return Refused(PATTERN)
    patch = replace(body, "{ ", span(body), " break; }")
    if body.kind == "block":
        patch = Patch(body.end - 1, body.end - 1, ("break; ",))
    return code.site(node, "left after one turn", patch)


WHILE_TO_FOR: Final = CodeStrategy(name="while-to-for", find=_while_to_for, nothing="no while")
WHILE_TO_WHILE_TRUE: Final = CodeStrategy(name="while-to-while-true", find=_while_true, nothing="no while")
DO_TO_WHILE_TRUE: Final = CodeStrategy(name="do-to-while-true", find=_do_to_while, nothing="no do")
FOR_TO_WHILE: Final = CodeStrategy(name="for-to-while", find=_for_to_while, nothing="no for")
FOR_OFF_BY_ONE: Final = CodeStrategy(
    name="for-off-by-one", find=_off_by_one, nothing="no for with a comparison", kind="control"
)
LOOP_LEFT_EARLY: Final = CodeStrategy(
    name="loop-left-early", find=_left_early, nothing="no loop", kind="control"
)
