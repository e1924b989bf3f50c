"""Comments, lines, blanks, indentation, braces and parentheses: the syntax tree stays the same but for them.

Every result is parsed, and its tree (without parentheses) must equal that of the source.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, begins_comment
from codeaudit.transforms.strategies.conditions import ARMS
from codeaudit.transforms.strategies.dead_code import gaps
from codeaudit.transforms.strategies.dialect import COMMENT, CodeStrategy, CodeText, each
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.text import operator_span, replace, span

FOR_A_TOOL: Final = "comment is for a tool"
DOCUMENTATION: Final = "comment is documentation"
LINES: Final = "brace shares its line"
OPERATOR: Final = "sign would run together with another"
NEEDED: Final = "parentheses are needed"
_PHRASES: Final = (
    "next part", "as described above", "see the notes", "keep this in mind", "to be continued below",
    "part of the same step", "this was discussed before", "nothing special here", "one step further",
    "same as usual",
)  # fmt: skip
"""They fit everywhere, and no tool takes them for an order."""
_BLANK: Final = re.compile(rb"(?<=\n)[ \t]*\r?\n")
_LEAD: Final = re.compile(rb"(?<=\n)[ \t]+")
_LISTED: Final = ("argument_list", "formal_parameters", "array_initializer")
_STEPS: Final = ("  ", "    ", "        ", "\t", "   ")
_AROUND: Final = frozenset(
    {"binary_expression", "return_statement", "variable_declarator", "assignment_expression",
     "argument_list", "ternary_expression"}
)  # fmt: skip


# ── comments ─────────────────────────────────────────────────────────────────────────────────────────────


def _insert_comments(code: CodeText) -> Iterator[Site | Refused]:
    """A comment on a line before a statement, or behind it if nothing else stands there."""
    for gap in (gap for row in gaps(code) for gap in row):
        at, end = gap.before.start, gap.before.end
        options = [Patch(at, at, (f"// {phrase}{code.newline}{gap.indentation}",)) for phrase in _PHRASES]
        if not code.source[end:].partition(b"\n")[0].strip() and b"\n" in code.source[end:]:
            options += [Patch(end, end, (f" // {phrase}",)) for phrase in _PHRASES]
        yield Site(tuple((patch,) for patch in options), "comment", code.line(gap.before))


def _remove_comments(code: CodeText) -> Iterator[Site | Refused]:
    """Comments go, with their line if nothing else stands on it."""
    for _, start, end in code.reading.comments:
        text = code.source[start:end].decode()
        if code.is_for_tool(text):
            yield Refused(FOR_A_TOOL)
            continue
        if text.startswith("/**") and not code.unit.start <= start < code.unit.end:
            yield Refused(DOCUMENTATION)
            continue
        line = code.source.count(b"\n", 0, start) + 1
        rest = code.source[end:]
        blank = len(rest) - len(rest.lstrip(b" \t\r"))
        is_last = rest[blank : blank + 1] == b"\n"
        if code.starts_line(start) and is_last:
            begin = code.source.rfind(b"\n", 0, start) + 1
            change = Patch(begin, end + blank + 1, ())
        elif is_last:
            change = Patch(len(code.source[:start].rstrip(b" \t")), end, ())
        else:
            change = Patch(start, end, (" ",))  # `int/**/n`
        yield Site(((change,),), "comment", line)


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────


def _solid(code: CodeText) -> list[tuple[int, int]]:
    """The ranges whose lines are no lines of code: text blocks and comments."""
    ranges = [(start, end) for _, start, end in code.reading.comments]
    return ranges + [(node.start, node.end) for node in code.unit.walk() if node.kind in code.dialect.texts]


def _insert_blank(code: CodeText) -> Iterator[Site | Refused]:
    for gap in (gap for row in gaps(code) for gap in row[1:]):
        at = code.source.rfind(b"\n", 0, gap.before.start) + 1
        yield code.site(gap.before, "blank line", Patch(at, at, (code.newline,)))


def _remove_blank(code: CodeText) -> Iterator[Site | Refused]:
    """Blank lines go, except in comments and text blocks."""
    solid = _solid(code)
    for match in _BLANK.finditer(code.source):
        if any(start < match.end() and match.start() < end for start, end in solid):
            yield Refused(COMMENT)
            continue
        line = code.source.count(b"\n", 0, match.start()) + 1
        yield Site(((Patch(match.start(), match.end(), ()),),), "blank line", line)


@each(*_LISTED)
def _split(code: CodeText, node: Node) -> Site | Refused | None:
    """A line break behind each comma of a list."""
    commas = [end for kind, _, end in node.tokens if kind == ","]
    if not commas:
        return None
    if code.commented(node.start, node.end):
        return Refused(COMMENT)
    indent = code.indentation(node.start) + code.step * 2
    patches = []
    for end in commas:
        rest = code.source[end:]
        blank = len(rest) - len(rest.lstrip(b" \t"))
        if rest[blank : blank + 1] not in (b"\n", b"\r"):
            patches.append(Patch(end, end + blank, (f"{code.newline}{indent}",)))
    return code.site(node, "a line each", *patches) if patches else None


@each(*_LISTED)
def _join(code: CodeText, node: Node) -> Site | Refused | None:
    """A list over several lines on one."""
    if code.commented(node.start, node.end):
        return Refused(COMMENT)  # `f(a, // first` would swallow the rest
    patches: list[Patch] = []
    for kind, start, end in node.tokens:
        if kind in (",", "(", "{"):
            begin, stop = end, len(code.source) - len(code.source[end:].lstrip())
        else:
            begin, stop = len(code.source[:start].rstrip()), start
        if b"\n" in code.source[begin:stop] and (not patches or patches[-1].end <= begin):
            patches.append(Patch(begin, stop, (" " if kind == "," else "",)))
    return code.site(node, "on one line", *patches) if patches else None


def _indentation(code: CodeText) -> Iterator[Site | Refused]:
    """Every block indented by another step; lines of comments and text blocks stay."""
    solid = _solid(code)
    old = code.step.encode()
    options = []
    for step in _STEPS:
        if step == code.step:
            continue
        patches = []
        for match in _LEAD.finditer(code.source):
            if any(start < match.start() < end for start, end in solid):
                continue
            rest, depth = match.group(), 0
            while rest.startswith(old):
                rest, depth = rest[len(old) :], depth + 1
            if depth:
                patches.append(Patch(match.start(), match.end(), (step * depth + rest.decode(),)))
        if patches:
            options.append(tuple(patches))
    if options:
        yield Site(tuple(options), "indentation", 1)


@each("block", "constructor_body", "class_body", "switch_block")
def _braces(code: CodeText, node: Node) -> Site | Refused | None:
    """An opening brace on a line of its own, or behind its head."""
    if node.parent is None or node.parent.kind in ("block", "lambda_expression", "switch_rule"):
        return None
    before = code.source[: node.start]
    end = len(before.rstrip())
    after = code.source[node.start + 1 :].partition(b"\n")[0]
    if code.commented(max(end - 1, 0), node.start) or after.strip():
        return Refused(LINES)
    if b"\n" in before[end:]:
        return code.site(node, "brace behind its head", Patch(end, node.start, (" ",)))
    newline = f"{code.newline}{code.indentation(node.start)}"
    return code.site(node, "brace on a line of its own", Patch(end, node.start, (newline,)))


@each("binary_expression", "assignment_expression")
def _spacing(code: CodeText, node: Node) -> Site | Refused | None:
    """`a + b` as `a+b`, and back."""
    if len(node.children) != 2 or node.operator.isalpha():
        return None  # `a in b`
    left, right = node.children
    mark = operator_span(node)
    if code.source[left.end : mark.start].strip() or code.source[mark.end : right.start].strip():
        return Refused(COMMENT)
    if b"\n" in code.source[left.end : right.start]:
        return Refused("operator at a line's end")
    if left.end == mark.start and mark.end == right.start:
        blanks = Patch(mark.start, mark.start, (" ",)), Patch(mark.end, mark.end, (" ",))
        return code.site(node, "blanks around a sign", *blanks)
    meets = code.text(right)[0] in "+-!~<=>&|(" or code.text(left)[-1] in "+->"
    if meets or begins_comment(node.operator.encode(), code.source[right.start : right.end]):
        return Refused(OPERATOR)  # `a - -b`, `i++ + j`, `(a) - b`, `a / *p`
    patches = Patch(left.end, mark.start, ()), Patch(mark.end, right.start, ())
    return code.site(node, "no blanks around a sign", *patches)


# ── parentheses ──────────────────────────────────────────────────────────────────────────────────────────


def _insert_parentheses(code: CodeText) -> Iterator[Site | Refused]:
    """`a * b + c` as `(a * b) + c`."""
    for node in code.nodes:
        if node.kind in code.dialect.wrapped and (result := _in_parentheses(code, node)) is not None:
            yield result


def _in_parentheses(code: CodeText, node: Node) -> Site | Refused | None:
    parent = node.parent
    if parent is None or parent.kind not in _AROUND:
        return None
    if node.field in ("name", "left") and parent.kind in ("variable_declarator", "assignment_expression"):
        return None
    if node.field == "left" and node.kind in ("identifier", "field_access") and parent.operator in "+-":
        return None  # `(a) - b` looks like a cast
    if _is_promoted(code, node):
        return Refused(ARMS)
    return code.site(node, "parentheses", replace(node, "(", span(node), ")"))


def _is_promoted(code: CodeText, node: Node) -> bool:
    """Whether an expression is a `?:` of which an arm may be converted to the type of the other.

    For `double d = c ? i : f;` a compiler may convert each arm to `double`; in parentheses it converts the
    int to a float first, and large numbers lose digits.
    """
    return node.kind == "ternary_expression" and not code.keep_their_types(*node.children[1:])


@each("parenthesized_expression")
def _remove_parentheses(code: CodeText, node: Node) -> Site | Refused | None:
    """`(a * b) + c` as `a * b + c`."""
    parent = node.parent
    if parent is None or parent.kind not in _AROUND | {"parenthesized_expression"}:
        return None  # the grammar demands them: `if (c)`
    inner = node.children[0]
    if code.precedence.of(inner) < code.precedence.required(node) or inner.kind in (
        "lambda_expression",
        "switch_expression",
    ):
        return Refused(NEEDED)
    if _is_promoted(code, inner):
        return Refused(ARMS)
    before = code.source[node.start - 1 : node.start]
    after = code.source[node.end : node.end + 1]
    is_joined = _joins(before) or begins_comment(before, code.source[inner.start : inner.end])
    return code.site(
        node, "no parentheses",
        Patch(node.start, node.start + 1, (" " if is_joined else "",)),
        Patch(node.end - 1, node.end, (" " if _joins(after) else "",)),
    )  # fmt: skip


def _joins(character: bytes) -> bool:
    """Whether a word or operator would run together with what is in parentheses: `return(a)`, `b-(-a)`."""
    return character.isalnum() or character in (b"_", b"$", b"+", b"-", b"&", b"|") or character > b"\x7f"


_Rule: Final = partial(CodeStrategy, proof="tree")

INSERT_COMMENTS: Final = _Rule(name="insert-comments", find=_insert_comments, nothing="no line to comment")
REMOVE_COMMENTS: Final = _Rule(name="remove-comments", find=_remove_comments, nothing="no comment")
INSERT_BLANK_LINES: Final = _Rule(
    name="insert-blank-lines", find=_insert_blank, nothing="no two statements in a row"
)
REMOVE_BLANK_LINES: Final = _Rule(name="remove-blank-lines", find=_remove_blank, nothing="no blank line")
SPLIT_LINES: Final = _Rule(name="split-lines", find=_split, nothing="no list of several")
JOIN_LINES: Final = _Rule(name="join-lines", find=_join, nothing="no list over lines")
INDENTATION: Final = _Rule(name="indentation", find=_indentation, nothing="no indentation")
BRACE_LINES: Final = _Rule(name="brace-lines", find=_braces, nothing="no block")
SPACING: Final = _Rule(name="spacing", find=_spacing, nothing="no operator")
INSERT_PARENTHESES: Final = _Rule(
    name="insert-parentheses", needs=("wrapped",), find=_insert_parentheses, nothing="no expression"
)
REMOVE_PARENTHESES: Final = _Rule(
    name="remove-parentheses", find=_remove_parentheses, nothing="no parentheses"
)
