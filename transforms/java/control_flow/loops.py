"""Loops in another form.

The condition of a loop is evaluated as often and in the same places as before. Where a loop would become one
whose condition is `true`, its own condition must certainly be no constant, since what the compiler takes for
reachable and assigned behind it depends on that (Java Language Specification, 14.22 and 16).
"""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import Types, varies
from codeaudit.transforms.java.control_flow.jumps import PATTERN, continues, declared_in, ends, patterns
from codeaudit.transforms.java.expressions.logic import negated
from codeaudit.transforms.java.parsing import Node
from codeaudit.transforms.java.rewriting import COMMENT, JavaSource, Rewriting, bare, block_of, over, span
from codeaudit.transforms.patches import Part, Patch, Site, Span

CONSTANT: Final = "condition may be a constant"
CONTINUES: Final = "continue would skip a part"
GUARDED: Final = "continue inside try or synchronized"
HIDDEN: Final = "a name of the update is declared in the body"
NOT_ENDING: Final = "body may never end"
LABELS: Final = "several labels"
NOT_ARRAY: Final = "not known to be an array"
_OFF: Final = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def _inside(code: JavaSource, body: Node) -> tuple[Span, str]:
    """What stands in the braces of a body, or the body itself, and what indents a line there."""
    if body.kind != "block":
        return span(body), code.indentation(body.start) + code.step
    if body.children and code.starts_line(body.children[0].start):
        return Span(body.start + 1, body.end - 1), code.indentation(body.children[0].start)
    return Span(body.start + 1, body.end - 1), code.indentation(body.start) + code.step


def _negation(code: JavaSource, types: Types, whole: Node) -> tuple[Part, ...]:
    parts, _ = negated(code, types, bare(whole))
    return parts


# ── while ────────────────────────────────────────────────────────────────────────────────────────────────


def _while_to_for(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("while_statement"):
        whole = node.part("condition")
        if code.commented(node.start, whole.start):
            yield Refused(COMMENT)
            continue
        changes = (
            Patch(node.start, whole.start + 1, ("for (; ",)),
            Patch(whole.end - 1, whole.end - 1, ("; ",)),
        )
        yield Site((changes,), "while as for", code.line(node))


def _while_true(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("while_statement"):
        whole, body = node.part("condition"), node.part("body")
        if patterns(code, whole):
            yield Refused(PATTERN)
        elif not varies(code, whole):
            yield Refused(CONSTANT)
        elif code.commented(node.start, body.start):
            yield Refused(COMMENT)
        else:
            inner, indent = _inside(code, body)
            test = ("if (", *_negation(code, types, whole), ") break;")
            outside = code.indentation(node.start)
            tail: tuple[Part, ...] = (inner, "}")
            if body.kind != "block":
                indent = outside + code.step
                tail = (f"{code.newline}{indent}", inner, f"{code.newline}{outside}}}")
            parts = ("while (true) {", f"{code.newline}{indent}", *test, *tail)
            yield Site(((over(node, *parts),),), "while as while (true)", code.line(node))


def _do_to_while(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("do_statement"):
        whole, body = node.part("condition"), node.part("body")
        if patterns(code, whole):
            yield Refused(PATTERN)
        elif not varies(code, whole):
            yield Refused(CONSTANT)
        elif next(continues(code, node), None):
            yield Refused(CONTINUES)
        elif not ends(code, body):
            yield Refused(NOT_ENDING)
        elif code.commented(body.end, node.end) or code.commented(node.start, body.start):
            yield Refused(COMMENT)
        elif body.kind == "local_variable_declaration":
            yield Refused(NOT_ENDING)
        else:
            outside = code.indentation(node.start)
            newline = f"{code.newline}{outside}"
            inner = Span(body.start, body.end, add=code.step)
            parts = (
                f"while (true) {{{newline}{code.step}", inner, f"{newline}{code.step}if (",
                *_negation(code, types, whole), f") break;{newline}}}",
            )  # fmt: skip
            yield Site(((over(node, *parts),),), "do as while (true)", code.line(node))


# ── for ──────────────────────────────────────────────────────────────────────────────────────────────────


def _for_to_while(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("for_statement"):
        yield _unfolded(code, node)


def _unfolded(code: JavaSource, node: Node) -> Site | Refused:
    body, condition = node.part("body"), node.child("condition")
    inits, updates = node.all("init"), node.all("update")
    whole, label = node, ""
    if node.parent is not None and node.parent.kind == "labeled_statement":
        whole = node.parent
        label = f"{code.text(whole.children[0])}: "
        if whole.parent is not None and whole.parent.kind == "labeled_statement":
            return Refused(LABELS)
    if condition is not None and patterns(code, condition):
        return Refused(PATTERN)
    if any(patterns(code, one) for one in (*inits, *updates)):
        return Refused(PATTERN)
    if code.commented(whole.start, body.start):
        return Refused(COMMENT)
    jumps = list(continues(code, node))
    if updates:
        if any(guarded for _, guarded in jumps):
            return Refused(GUARDED)
        if not ends(code, body):
            return Refused(NOT_ENDING)
        if declared_in(code, body) & frozenset().union(*(code.names(one) for one in updates)):
            return Refused(HIDDEN)
    inner, indent = _inside(code, body)
    outside = code.indentation(whole.start)
    newline = code.newline
    again = " ".join(f"{code.text(one)};" for one in updates)
    test: tuple[Part, ...] = (span(condition),) if condition is not None else ("true",)
    head: tuple[Part, ...] = ()
    shift = code.step if inits else ""
    for one in inits:
        close = "" if one.kind == "local_variable_declaration" else ";"
        head += (span(one), f"{close}{newline}{outside}{shift}")
    if body.kind == "block":
        held: tuple[Part, ...] = (Span(inner.start, _filled_end(code, inner), add=shift),)
        indent = indent if code.starts_line(body.end - 1) else outside + code.step
        held += (f"{newline}{indent}{shift}{again}",) if updates else ()
    else:
        held = (f"{newline}{outside}{shift}{code.step}", Span(inner.start, inner.end, add=shift))
        held += (f"{newline}{outside}{shift}{code.step}{again}",) if updates else ()
    loop = (f"{label}while (", *test, ") {", *held, f"{newline}{outside}{shift}}}")
    parts = (f"{{{newline}{outside}{shift}", *head, *loop, f"{newline}{outside}}}") if inits else loop
    changes = [over(whole, *parts)]
    if updates:
        changes += [over(jump, f"{{ {again} {code.text(jump)} }}") for jump, _ in jumps]
    return Site((tuple(changes),), "for as while", code.line(node))


def _filled_end(code: JavaSource, inner: Span) -> int:
    """Where a body ends, without the blanks before its closing brace; a comment at its end keeps its line."""
    text = code.source[inner.start : inner.end]
    return inner.start + len(text.rstrip())


def _each_to_for(code: JavaSource) -> Iterator[Site | Refused]:
    """The expansion that the Java Language Specification gives for arrays (14.14.2)."""
    types, names = Types(code), code.fresh("spot", "place")
    arrays = code.fresh("row", "cells")
    for node in code.of("enhanced_for_statement"):
        value, body, name = node.part("value"), node.part("body"), node.part("name")
        found = types.of(value)
        if found is None or not found.endswith("[]") or "?" in found or node.child("dimensions"):
            yield Refused(NOT_ARRAY)
            continue
        if code.commented(node.start, body.start) or code.text(node.part("type")) == "var":
            yield Refused(COMMENT)
            continue
        modifiers = node.first("modifiers")
        if modifiers is not None and modifiers.children:
            yield Refused("annotated variable")
            continue
        number, array = next(names), next(arrays)
        inner, _ = _inside(code, body)
        outside, newline = code.indentation(node.start), code.newline
        first = outside + code.step
        declared = Span(modifiers.start if modifiers else node.part("type").start, name.end)
        shifted = Span(inner.start, inner.end, add=code.step)
        end: tuple[Part, ...] = (shifted, "}")
        if body.kind != "block":
            end = (f"{newline}{first}{code.step}", shifted, f"{newline}{first}}}")
        parts = (
            f"{{{newline}{first}{found} {array} = ", span(value), f";{newline}{first}",
            f"for (int {number} = 0; {number} < {array}.length; {number}++) {{{newline}{first}{code.step}",
            declared, f" = {array}[{number}];", *end, f"{newline}{outside}}}",
        )  # fmt: skip
        if block_of(node) is None and node.parent is not None and node.parent.kind == "labeled_statement":
            yield Refused("labelled loop")
            continue
        yield Site(((over(node, *parts),),), "for over an array by index", code.line(node))


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


def _off_by_one(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("for_statement"):
        condition = node.child("condition")
        if condition is None or bare(condition).kind != "binary_expression":
            continue
        inner = bare(condition)
        if inner.operator in _OFF:
            _, start, end = inner.tokens[0]
            change = Patch(start, end, (_OFF[inner.operator],))
            yield Site(((change,),), "one turn more or less", code.line(node))


def _left_early(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("for_statement", "while_statement", "enhanced_for_statement"):
        body, condition = node.part("body"), node.child("condition")
        if not ends(code, body):
            yield Refused("body leaves anyway")
        elif _endless(code, node, condition):
            yield Refused(CONSTANT)
        elif condition is not None and patterns(code, condition):
            yield Refused(PATTERN)
        elif body.kind == "block":
            at = body.end - 1
            yield Site(((Patch(at, at, ("break; ",)),),), "left after one turn", code.line(node))
        else:
            change = over(body, "{ ", span(body), " break; }")
            yield Site(((change,),), "left after one turn", code.line(node))


def _endless(code: JavaSource, node: Node, condition: Node | None) -> bool:
    """Whether the compiler may take a loop for one without an end, behind which nothing is reached."""
    if condition is None:
        return node.kind == "for_statement"
    return not varies(code, condition)


WHILE_TO_FOR: Final = Rewriting(name="while-to-for", find=_while_to_for, nothing="no while")
WHILE_TO_WHILE_TRUE: Final = Rewriting(name="while-to-while-true", find=_while_true, nothing="no while")
DO_TO_WHILE_TRUE: Final = Rewriting(name="do-to-while-true", find=_do_to_while, nothing="no do")
FOR_TO_WHILE: Final = Rewriting(name="for-to-while", find=_for_to_while, nothing="no for")
FOR_EACH_TO_FOR: Final = Rewriting(name="for-each-to-for", find=_each_to_for, nothing="no for over values")
FOR_OFF_BY_ONE: Final = Rewriting(
    name="for-off-by-one", find=_off_by_one, nothing="no for with a comparison", kind="control"
)
LOOP_LEFT_EARLY: Final = Rewriting(
    name="loop-left-early", find=_left_early, nothing="no loop", kind="control"
)
