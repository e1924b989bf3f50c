"""Blank lines, line breaks, blanks, indentation and braces; the syntax tree stays the same."""

import re
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.dead_code.insertions import gaps
from codeaudit.transforms.java.parsing import Node
from codeaudit.transforms.java.rewriting import (
    COMMENT,
    JavaSource,
    Rewriting,
    level,
    needed,
    over,
    sign,
    span,
)
from codeaudit.transforms.patches import Patch, Site

LINES: Final = "brace shares its line"
OPERATOR: Final = "sign would run together with another"
_BLANK: Final = re.compile(rb"(?<=\n)[ \t]*\r?\n")
_LEAD: Final = re.compile(rb"(?<=\n)[ \t]+")
_LISTED: Final = frozenset({"argument_list", "formal_parameters", "array_initializer"})
_STEPS: Final = ("  ", "    ", "        ", "\t", "   ")


def _solid(code: JavaSource) -> list[tuple[int, int]]:
    """The ranges whose lines are no lines of code: text blocks and comments."""
    found = [(start, end) for _, start, end in code.reading.comments]
    found += [(one.start, one.end) for one in code.unit.walk() if one.kind == "string_literal"]
    return found


def _insert_blank(code: JavaSource) -> Iterator[Site | Refused]:
    for row in gaps(code):
        for gap in row[1:]:
            at = code.source.rfind(b"\n", 0, gap.before.start) + 1
            yield Site(((Patch(at, at, (code.newline,)),),), "blank line", code.line(gap.before))


def _remove_blank(code: JavaSource) -> Iterator[Site | Refused]:
    solid = _solid(code)
    for match in _BLANK.finditer(code.source):
        if any(start < match.end() and match.start() < end for start, end in solid):
            yield Refused(COMMENT)
            continue
        line = code.source.count(b"\n", 0, match.start()) + 1
        yield Site(((Patch(match.start(), match.end(), ()),),), "blank line", line)


def _split(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of(*_LISTED):
        commas = [end for kind, _, end in node.tokens if kind == ","]
        if not commas:
            continue
        if code.commented(node.start, node.end):
            yield Refused(COMMENT)
            continue
        indent = code.indentation(node.start) + code.step * 2
        changes = []
        for end in commas:
            rest = code.source[end:]
            blank = len(rest) - len(rest.lstrip(b" \t"))
            if rest[blank : blank + 1] not in (b"\n", b"\r"):
                changes.append(Patch(end, end + blank, (f"{code.newline}{indent}",)))
        if changes:
            yield Site((tuple(changes),), "a line each", code.line(node))


def _join(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of(*_LISTED):
        if code.commented(node.start, node.end):
            yield Refused(COMMENT)
            continue
        changes: list[Patch] = []
        for kind, start, end in node.tokens:
            at, gap = (end, True) if kind in (",", "(", "{") else (start, False)
            text = code.source[at:] if gap else code.source[:at]
            blank = len(text) - len(text.lstrip() if gap else text.rstrip())
            begin, stop = (at, at + blank) if gap else (at - blank, at)
            if b"\n" in code.source[begin:stop] and (not changes or changes[-1].end <= begin):
                changes.append(Patch(begin, stop, (" " if kind == "," else "",)))
        if changes:
            yield Site((tuple(changes),), "on one line", code.line(node))


def _indentation(code: JavaSource) -> Iterator[Site | Refused]:
    solid = _solid(code)
    old = code.step.encode()
    options = []
    for step in _STEPS:
        if step == code.step:
            continue
        changes = []
        for match in _LEAD.finditer(code.source):
            if any(start < match.start() < end for start, end in solid):
                continue
            rest, depth = match.group(), 0
            while rest.startswith(old):
                rest, depth = rest[len(old) :], depth + 1
            if depth:
                changes.append(Patch(match.start(), match.end(), (step * depth + rest.decode(),)))
        if changes:
            options.append(tuple(changes))
    if options:
        yield Site(tuple(options), "indentation", 1)


def _braces(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("block", "constructor_body", "class_body", "switch_block"):
        parent = node.parent
        if parent is None or parent.kind in ("block", "lambda_expression", "switch_rule"):
            continue
        before = code.source[: node.start]
        end = len(before.rstrip())
        between, after = before[end:], code.source[node.start + 1 :].partition(b"\n")[0]
        if code.commented(max(end - 1, 0), node.start) or after.strip():
            yield Refused(LINES)
        elif b"\n" in between:
            yield Site(((Patch(end, node.start, (" ",)),),), "brace behind its head", code.line(node))
        else:
            outside = code.indentation(node.start)
            change = Patch(end, node.start, (f"{code.newline}{outside}",))
            yield Site(((change,),), "brace on a line of its own", code.line(node))


def _spacing(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("binary_expression", "assignment_expression"):
        left, right = node.children
        mark = sign(node)
        if code.source[left.end : mark.start].strip() or code.source[mark.end : right.start].strip():
            yield Refused(COMMENT)
        elif b"\n" in code.source[left.end : right.start]:
            yield Refused("operator at a line's end")
        elif left.end == mark.start and mark.end == right.start:
            changes = (Patch(mark.start, mark.start, (" ",)), Patch(mark.end, mark.end, (" ",)))
            yield Site((changes,), "blanks around a sign", code.line(node))
        elif _meets(code, left, right):
            yield Refused(OPERATOR)
        else:
            changes = (Patch(left.end, mark.start, ()), Patch(mark.end, right.start, ()))
            yield Site((changes,), "no blanks around a sign", code.line(node))


def _meets(code: JavaSource, left: Node, right: Node) -> bool:
    return code.text(right)[0] in "+-!~<>=&|(" or code.text(left)[-1] in "+->"


INSERT_BLANK_LINES: Final = Rewriting(
    name="insert-blank-lines", find=_insert_blank, nothing="no two statements in a row", proof="tree"
)
REMOVE_BLANK_LINES: Final = Rewriting(
    name="remove-blank-lines", find=_remove_blank, nothing="no blank line", proof="tree"
)
SPLIT_LINES: Final = Rewriting(name="split-lines", find=_split, nothing="no list of several", proof="tree")
JOIN_LINES: Final = Rewriting(name="join-lines", find=_join, nothing="no list over lines", proof="tree")
INDENTATION: Final = Rewriting(name="indentation", find=_indentation, nothing="no indentation", proof="tree")
BRACE_LINES: Final = Rewriting(name="brace-lines", find=_braces, nothing="no block", proof="tree")
SPACING: Final = Rewriting(name="spacing", find=_spacing, nothing="no operator", proof="tree")


FOR_A_TOOL: Final = "comment is for a tool"
DOCUMENTATION: Final = "comment is documentation"
PHRASES: Final = (
    "next part", "as described above", "see the notes", "keep this in mind", "to be continued below",
    "part of the same step", "this was discussed before", "nothing special here", "one step further",
    "same as usual",
)  # fmt: skip
"""They fit everywhere, and no tool takes them for an order."""
_DIRECTIVE: Final = re.compile(
    r"/[/*]\s*(?:noinspection|CHECKSTYLE|NOPMD|NOSONAR|NOLINT|\$NON-NLS|@formatter|language=|spotless|"
    r"SPOTLESS|CSOFF|CSON|region|endregion|lgtm|codeql|fall[\s-]?through|\$FALL)",
    re.IGNORECASE,
)


def _insert_comments(code: JavaSource) -> Iterator[Site | Refused]:
    for row in gaps(code):
        for gap in row:
            at = gap.before.start
            options = [
                (Patch(at, at, (f"// {phrase}{code.newline}{gap.indentation}",)),) for phrase in PHRASES
            ]
            end = gap.before.end
            if not code.source[end:].partition(b"\n")[0].strip() and b"\n" in code.source[end:]:
                options += [(Patch(end, end, (f" // {phrase}",)),) for phrase in PHRASES]
            yield Site(tuple(options), "comment", code.line(gap.before))


def _remove_comments(code: JavaSource) -> Iterator[Site | Refused]:
    for _, start, end in code.reading.comments:
        text = code.source[start:end].decode()
        if _DIRECTIVE.match(text):
            yield Refused(FOR_A_TOOL)
            continue
        if text.startswith("/**") and not code.unit.start <= start < code.unit.end:
            yield Refused(DOCUMENTATION)
            continue
        line = code.source.count(b"\n", 0, start) + 1
        rest = code.source[end:]
        blank = len(rest) - len(rest.lstrip(b" \t\r"))
        last = rest[blank : blank + 1] == b"\n"
        if code.starts_line(start) and last:
            begin = code.source.rfind(b"\n", 0, start) + 1
            change = Patch(begin, end + blank + 1, ())
        elif last:
            change = Patch(len(code.source[:start].rstrip(b" \t")), end, ())
        else:
            change = Patch(start, end, (" ",))
        yield Site(((change,),), "comment", line)


INSERT_COMMENTS: Final = Rewriting(
    name="insert-comments", find=_insert_comments, nothing="no line to comment", proof="tree"
)
REMOVE_COMMENTS: Final = Rewriting(
    name="remove-comments", find=_remove_comments, nothing="no comment", proof="tree"
)


NEEDED: Final = "parentheses are needed"
_WRAPPED: Final = frozenset(
    {"binary_expression", "ternary_expression", "method_invocation", "identifier", "cast_expression",
     "instanceof_expression", "string_literal", "decimal_integer_literal", "array_access", "field_access",
     "unary_expression", "object_creation_expression"}
)  # fmt: skip
_AROUND: Final = frozenset(
    {"binary_expression", "return_statement", "variable_declarator", "assignment_expression",
     "argument_list", "ternary_expression"}
)  # fmt: skip


def _insert_parentheses(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.nodes:
        parent = node.parent
        if node.kind not in _WRAPPED or parent is None or parent.kind not in _AROUND:
            continue
        if node.field in ("name", "left") and parent.kind in ("variable_declarator", "assignment_expression"):
            continue
        if node.field == "left" and node.kind in ("identifier", "field_access") and parent.operator in "+-":
            continue  # `(a) - b` looks like a cast
        yield Site(((over(node, "(", span(node), ")"),),), "parentheses", code.line(node))


def _remove_parentheses(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("parenthesized_expression"):
        if len(node.children) != 1 or not _optional(node):
            continue
        inner = node.children[0]
        if level(inner) < needed(node) or inner.kind in ("lambda_expression", "switch_expression"):
            yield Refused(NEEDED)
            continue
        before = code.source[node.start - 1 : node.start]
        after = code.source[node.end : node.end + 1]
        changes = (
            Patch(node.start, node.start + 1, (" " if _joins(before) else "",)),
            Patch(node.end - 1, node.end, (" " if _joins(after) else "",)),
        )
        yield Site((changes,), "no parentheses", code.line(node))


def _optional(node: Node) -> bool:
    """Whether the grammar has an expression here, with or without parentheses."""
    parent = node.parent
    return parent is not None and (
        parent.kind in _AROUND or (parent.kind == "parenthesized_expression" and len(parent.children) == 1)
    )


def _joins(sign: bytes) -> bool:
    """Whether a word or sign would run together with what is in parentheses."""
    return sign.isalnum() or sign in (b"_", b"$", b"+", b"-", b"&", b"|") or sign > b"\x7f"


INSERT_PARENTHESES: Final = Rewriting(
    name="insert-parentheses", find=_insert_parentheses, nothing="no expression", proof="tree"
)
REMOVE_PARENTHESES: Final = Rewriting(
    name="remove-parentheses", find=_remove_parentheses, nothing="no parentheses", proof="tree"
)
