"""Branches in another arrangement: inverted, nested, flattened, or left early, and braces around them.

A condition is evaluated once before and after. An `if` may be constant without making anything unreachable
(Java Language Specification, 14.22), and a branch that leaves assigns nothing for what follows.
"""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import Types, written
from codeaudit.transforms.java.control_flow.jumps import (
    LOOPS,
    PATTERN,
    dangling,
    declares,
    ends,
    leaves,
    patterns,
)
from codeaudit.transforms.java.expressions.logic import negated
from codeaudit.transforms.java.parsing import EMPTY, TYPES, Node
from codeaudit.transforms.java.rewriting import COMMENT, JavaSource, Rewriting, bare, block_of, over, span
from codeaudit.transforms.patches import Part, Patch, Site, Span

NO_ELSE: Final = "no else"
NOT_LEFT: Final = "branch does not always leave"
NOTHING_BEHIND: Final = "nothing behind the branch"
DANGLING: Final = "an else would change its if"
DECLARES: Final = "names would be known further on"
LONE: Final = "not among the statements of a block"
_BODIES: Final = ("consequence", "alternative", "body")
_WITH_BODY: Final = LOOPS | {"if_statement"}


def negation(code: JavaSource, types: Types, node: Node) -> Patch:
    """The condition of a statement negated, in its parentheses."""
    whole = node.part("condition")
    parts, _ = negated(code, types, bare(whole))
    inner = bare(whole)
    return Patch(inner.start, inner.end, parts)


# ── inversion ────────────────────────────────────────────────────────────────────────────────────────────


def _invert(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("if_statement"):
        first, second = node.part("consequence"), node.child("alternative")
        if second is None:
            yield Refused(NO_ELSE)
            continue
        if code.commented(first.end, second.start):
            yield Refused(COMMENT)
            continue
        other: tuple[Part, ...] = (span(second),)
        if second.kind != "block":
            other = ("{ ", span(second), " }")
        close = code.source[second.start - 1 : second.start].isalnum() and first.kind != "block"
        gap = " " if close else ""
        changes = (negation(code, types, node), over(first, *other), over(second, gap, span(first)))
        yield Site((changes,), "branches exchanged", code.line(node))


# ── else if ──────────────────────────────────────────────────────────────────────────────────────────────


def _nest(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("if_statement"):
        if node.field != "alternative":
            continue
        outside = _column(code, node)
        newline = code.newline
        inner = Span(node.start, node.end, add=code.step)
        parts = ("{", f"{newline}{outside}{code.step}", inner, f"{newline}{outside}}}")
        yield Site(((over(node, *parts),),), "else if as else { if }", code.line(node))


def _column(code: JavaSource, node: Node) -> str:
    """The indentation of the line on which the chain of an `else if` begins."""
    while node.field == "alternative" and node.parent is not None:
        node = node.parent
    return code.indentation(node.start)


def _flatten(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("if_statement"):
        block = node.child("alternative")
        if block is None or block.kind != "block" or [one.kind for one in block.children] != ["if_statement"]:
            continue
        inner = block.children[0]
        if code.commented(block.start, inner.start) or code.commented(inner.end, block.end):
            yield Refused(COMMENT)
        elif _enclosed(node):
            yield Refused(DANGLING)
        else:
            outside, inside = code.indentation(node.start), code.indentation(inner.start)
            drop = inside[len(outside) :] if inside.startswith(outside) else ""
            yield Site(
                ((over(block, Span(inner.start, inner.end, drop=drop)),),),
                "else { if } as else if",
                code.line(node),
            )


def _enclosed(node: Node) -> bool:
    """Whether an `else` behind an `if` may be that of an `if` around it: it stands in no block."""
    while node.field == "alternative" and node.parent is not None and node.parent.kind == "if_statement":
        node = node.parent
    return block_of(node) is None


# ── branches that leave ──────────────────────────────────────────────────────────────────────────────────


def _unnest(code: JavaSource) -> Iterator[Site | Refused]:
    """`if (c) return x; else rest` to `if (c) return x;` and the rest behind it."""
    for node in code.of("if_statement"):
        first, second = node.part("consequence"), node.child("alternative")
        if second is None:
            continue
        held = block_of(node)
        if held is None or node.parent is None or node.parent.kind not in ("block", "constructor_body"):
            yield Refused(LONE)
            continue
        if not leaves(code, first) or (first.kind != "block" and dangling(first)):
            yield Refused(NOT_LEFT)
            continue
        behind = held[0][held[1] + 1 :]
        inner = second.children if second.kind == "block" else [second]
        names = declares(code, inner)
        if any(names & code.names(one) for one in behind):
            yield Refused(DECLARES)
            continue
        if code.commented(first.end, second.start) or not inner:
            yield Refused(COMMENT)
            continue
        outside = code.indentation(node.start)
        lead = f"{code.newline}{outside}"
        if second.kind == "block":
            if code.commented(second.start, inner[0].start) or code.commented(inner[-1].end, second.end):
                yield Refused(COMMENT)
                continue
            inside = code.indentation(inner[0].start)
            drop = inside[len(outside) :] if inside.startswith(outside) else ""
            rest = Span(inner[0].start, inner[-1].end, drop=drop)
        else:
            rest = Span(second.start, second.end)
        yield Site(((Patch(first.end, node.end, (lead, rest)),),), "no else", code.line(node))


def _renest(code: JavaSource) -> Iterator[Site | Refused]:
    """`if (c) return x;` and a rest to `if (c) return x; else { rest }`."""
    for node in code.of("if_statement"):
        first = node.part("consequence")
        if node.child("alternative") is not None:
            continue
        held = block_of(node)
        if held is None or node.parent is None or node.parent.kind not in ("block", "constructor_body"):
            yield Refused(LONE)
            continue
        behind = held[0][held[1] + 1 :]
        if not leaves(code, first) or (first.kind != "block" and dangling(first)):
            yield Refused(NOT_LEFT)
        elif not behind:
            yield Refused(NOTHING_BEHIND)
        elif behind[0].kind == "explicit_constructor_invocation":
            yield Refused(NOT_LEFT)
        else:
            outside = code.indentation(node.start)
            end = _comment_end(code, behind[-1].end)
            parts = (" else {", Span(node.end, end, add=code.step), f"{code.newline}{outside}}}")
            yield Site(((Patch(node.end, end, parts),),), "else around the rest", code.line(node))


def _comment_end(code: JavaSource, end: int) -> int:
    """The end of the comment that goes on a line from an offset on, or that offset."""
    for _, start, stop in code.reading.comments:
        if start >= end and not code.source[end:start].strip() and b"\n" not in code.source[end:start]:
            return stop
    return end


# ── braces ───────────────────────────────────────────────────────────────────────────────────────────────


def _bodies(code: JavaSource) -> Iterator[Node]:
    for node in code.nodes:
        if node.field in _BODIES and node.parent is not None and node.parent.kind in _WITH_BODY:
            yield node


def _brace(code: JavaSource) -> Iterator[Site | Refused]:
    for node in _bodies(code):
        if node.kind == "block" or (node.kind == "if_statement" and node.field == "alternative"):
            continue
        yield Site(((over(node, "{ ", span(node), " }"),),), "braces", code.line(node))


def _unbrace(code: JavaSource) -> Iterator[Site | Refused]:
    for node in _bodies(code):
        if node.kind != "block" or len(node.children) != 1:
            continue
        inner = node.children[0]
        if inner.kind in TYPES or inner.kind == "local_variable_declaration":
            yield Refused("a declaration stands in no other place")
        elif inner.kind == EMPTY or code.source[inner.end : node.end - 1].count(b"//"):
            yield Refused(COMMENT)
        elif dangling(inner) and _before_else(node):
            yield Refused(DANGLING)
        else:
            opening = " " if code.source[node.start - 1 : node.start].isalnum() else ""
            front = node.start
            if code.starts_line(inner.start) and not code.starts_line(front):
                front, opening = len(code.source[:front].rstrip(b" \t")), ""
            begin, end = node.end - 1, node.end
            if code.starts_line(begin):
                if _last(node):
                    begin = len(code.source[:begin].rstrip())
                else:
                    end += len(code.source[end:]) - len(code.source[end:].lstrip(b" \t"))
            changes = (Patch(front, node.start + 1, (opening,)), Patch(begin, end, ()))
            yield Site((changes,), "no braces", code.line(node))


def _last(body: Node) -> bool:
    """Whether nothing of its statement follows a body."""
    return body.parent is not None and body.end == body.parent.end


def _before_else(node: Node) -> bool:
    """Whether an `else` may follow a body, of its own `if` or of one around it."""
    while node.parent is not None and node.parent.kind not in ("block", "constructor_body"):
        parent = node.parent
        if parent.kind == "if_statement" and node.field == "consequence" and parent.child("alternative"):
            return True
        if parent.kind not in _WITH_BODY and parent.kind != "labeled_statement":
            return False
        node = parent
    if node.parent is not None and len(node.parent.children) == 1 and node.parent.field in _BODIES:
        return _before_else(node.parent)  # its braces may go, too
    return False


INVERT_IF: Final = Rewriting(name="invert-if", find=_invert, nothing="no if")
NEST_ELIF: Final = Rewriting(name="nest-elif", find=_nest, nothing="no else if")
FLATTEN_ELIF: Final = Rewriting(name="flatten-elif", find=_flatten, nothing="no if alone in an else")
RETURN_TO_ELSE: Final = Rewriting(name="return-to-else", find=_renest, nothing="no if without else")
ELSE_TO_RETURN: Final = Rewriting(name="else-to-return", find=_unnest, nothing="no else")
INSERT_BRACES: Final = Rewriting(name="insert-braces", find=_brace, nothing="no body without braces")
REMOVE_BRACES: Final = Rewriting(
    name="remove-braces", find=_unbrace, nothing="no body of one statement in braces"
)


IDLE: Final = "block does nothing"
LEAVES: Final = "branch leaves"
UNSET: Final = "a variable would stay unset"


def _inverted(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("if_statement"):
        condition = node.part("condition")
        if patterns(code, condition) or written(code, condition):
            yield Refused(PATTERN)
            continue
        yield Site(((negation(code, types, node),),), "condition negated", code.line(node))


def _dropped(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("if_statement"):
        first, second = node.part("consequence"), node.child("alternative")
        if second is None:
            yield Refused(NO_ELSE)
        elif second.kind == "block" and not second.children:
            yield Refused(IDLE)
        elif not ends(code, second) or not ends(code, first):
            yield Refused(LEAVES)
        elif _sets(code, second):
            yield Refused(UNSET)
        elif patterns(code, node.part("condition")):
            yield Refused(PATTERN)
        else:
            yield Site(((Patch(first.end, second.end, ()),),), "else dropped", code.line(node))


def _sets(code: JavaSource, node: Node) -> bool:
    """Whether a statement may give a variable its first value."""
    return any(
        binding.number in written(code, node) and (binding.node is None or not _has_value(binding.node))
        for binding in code.scopes.bindings
        if binding.view != "parameter"
    )


def _has_value(node: Node) -> bool:
    return node.child("value") is not None


IF_INVERTED_WRONG: Final = Rewriting(
    name="if-inverted-wrong", find=_inverted, nothing="no if", kind="control"
)
BRANCH_DROPPED: Final = Rewriting(name="branch-dropped", find=_dropped, nothing="no if", kind="control")
