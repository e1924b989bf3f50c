"""Blank lines, line breaks, blanks, indentation and braces; the syntax tree stays the same."""

import re
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.dead_code.insertions import gaps
from codeaudit.transforms.java.nodes import Node
from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.java.source import COMMENT, JavaSource, sign
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
