"""`?:` and `if`, and conditions in one `if` or in two.

`?:` unboxes and promotes its arms where they are numbers (Java Language Specification, 15.25), a statement
does not. So both arms are of one primitive type, or one of them certainly is an object that is never unboxed.
"""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import BOXES, PRIMITIVE, STRING, Types, is_final, varies
from codeaudit.transforms.java.control_flow.jumps import PATTERN, patterns
from codeaudit.transforms.java.expressions.augmented import stands_alone
from codeaudit.transforms.java.parsing import Node
from codeaudit.transforms.java.rewriting import (
    AND,
    COMMENT,
    OR,
    JavaSource,
    Rewriting,
    bare,
    block_of,
    over,
    placed,
    span,
)
from codeaudit.transforms.patches import Part, Site, Span

ARMS: Final = "arms may be converted"
TARGET: Final = "target is no variable"
LONE: Final = "not among the statements of a block"
CONSTANT: Final = "a constant could change"
NARROWING: Final = "constants may be narrowed"
NO_ELSE: Final = "no else"
IN_LAMBDA: Final = "result of a lambda"
_NEVER_NARROWED: Final = frozenset({"boolean", "long", "float", "double", STRING})
_WIDE: Final = frozenset({"int", "long", "float", "double"})
_ARM: Final = 2


def _alike(types: Types, first: Node, second: Node) -> bool:
    """Whether arms of `?:` are what they would be in a statement each."""
    kinds = types.of(first), types.of(second)
    if kinds[0] == kinds[1] and kinds[0] in PRIMITIVE:
        return True
    return _object(types, first) or _object(types, second)


def _object(types: Types, node: Node) -> bool:
    """Whether an expression certainly is a reference that nothing unboxes."""
    inner = bare(node)
    found = types.of(inner)
    if found == STRING or (found is not None and found.endswith("[]")):
        return True
    return inner.kind == "object_creation_expression" and found is not None and found not in BOXES


def _in_lambda(node: Node) -> bool:
    """Whether a `return` is that of a lambda, of which the text does not tell the type."""
    above = node.parent
    while above is not None and not above.kind.endswith("_declaration"):
        if above.kind == "lambda_expression":
            return True
        above = above.parent
    return False


def _plain(node: Node) -> bool:
    """Whether a target of an assignment is a name, of which nothing is evaluated."""
    return node.kind == "identifier" or (node.kind == "field_access" and node.part("object").kind == "this")


# ── ?: as if ─────────────────────────────────────────────────────────────────────────────────────────────


def _to_if(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("ternary_expression"):
        whole = node
        while whole.parent is not None and whole.parent.kind == "parenthesized_expression":
            whole = whole.parent
        found = _statement(code, node, whole)
        if isinstance(found, Refused):
            yield found
            continue
        statement, start, lead = found
        first, second = node.part("consequence"), node.part("alternative")
        if not _alike(types, first, second):
            yield Refused(ARMS)
        elif block_of(statement) is None:
            yield Refused(LONE)
        elif code.commented(start, statement.end):
            yield Refused(COMMENT)
        else:
            outside = code.indentation(statement.start)
            newline = f"{code.newline}{outside}"
            inside = newline + code.step
            parts: list[Part] = [
                *lead, *([newline] if lead else []),
                "if (", span(bare(node.part("condition"))), ") {", inside,
                _again(code, start, whole.start), span(first), f";{newline}}} else {{{inside}",
                _again(code, start, whole.start), span(second), f";{newline}}}",
            ]  # fmt: skip
            yield Site(((over(statement, *parts),),), "?: as if", code.line(node))


def _again(code: JavaSource, start: int, end: int) -> str:
    """What stands before a value, such as `x = ` or `return `, so that any value may follow."""
    text = code.source[start:end].decode().rstrip("(")
    return text if text[-1:].isspace() else f"{text} "


def _statement(code: JavaSource, node: Node, whole: Node) -> tuple[Node, int, tuple[Part, ...]] | Refused:
    """The statement that uses the value of a `?:`, where that use begins, and what comes before it."""
    parent = whole.parent
    assert parent is not None
    match parent.kind:
        case "return_statement":
            return Refused(IN_LAMBDA) if _in_lambda(parent) else (parent, parent.start, ())
        case "assignment_expression" if parent.operator == "=" and whole.field == "right":
            statement = parent.parent
            if not stands_alone(parent) or statement is None or statement.kind != "expression_statement":
                return Refused(TARGET)
            return (statement, statement.start, ()) if _plain(parent.children[0]) else Refused(TARGET)
        case "variable_declarator":
            statement = parent.parent
            if (
                statement is None
                or statement.kind != "local_variable_declaration"
                or statement.field == "init"
            ):
                return Refused(TARGET)
            if parent.child("dimensions") or len(statement.all("declarator")) > 1:
                return Refused(TARGET)
            if code.text(statement.part("type")) == "var":
                return Refused(TARGET)
            if is_final(statement) and not varies(code, whole):
                return Refused(CONSTANT)
            name = parent.part("name")
            return statement, name.start, (Span(statement.start, name.end), ";")
        case _:
            return Refused(TARGET)


# ── if as ?: ─────────────────────────────────────────────────────────────────────────────────────────────


def _to_ternary(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("if_statement"):
        second = node.child("alternative")
        if second is None:
            yield Refused(NO_ELSE)
            continue
        one, other = _only(node.part("consequence")), _only(second)
        if one is None or other is None or one.kind != other.kind:
            continue
        values = _values(code, one, other)
        if values is None:
            continue
        target, first, last = values
        if one.kind == "return_statement" and _in_lambda(one):
            yield Refused(IN_LAMBDA)
        elif not _alike(types, first, last):
            yield Refused(ARMS)
        elif not _kept(code, types, target, first, last):
            yield Refused(NARROWING)
        elif code.commented(node.start, node.end):
            yield Refused(COMMENT)
        else:
            condition = bare(node.part("condition"))
            parts = (
                Span(one.start, first.start), *placed(condition, OR), " ? ", *placed(first, _ARM + 1), " : ",
                *placed(last, _ARM + 1), ";",
            )  # fmt: skip
            yield Site(((over(node, *parts),),), "if as ?:", code.line(node))


def _only(node: Node) -> Node | None:
    """The one statement of a branch."""
    if node.kind == "block":
        return node.children[0] if len(node.children) == 1 else None
    return node


def _values(code: JavaSource, one: Node, other: Node) -> tuple[Node | None, Node, Node] | None:
    """The target that two statements share, and their values."""
    if not one.children or not other.children:
        return None
    first, last = one.children[0], other.children[0]
    if one.kind == "return_statement":
        return None, first, last
    if one.kind != "expression_statement" or first.kind != "assignment_expression" or first.operator != "=":
        return None
    if last.kind != "assignment_expression" or last.operator != "=":
        return None
    target, again = first.children[0], last.children[0]
    if not _plain(target) or code.text(target) != code.text(again):
        return None
    if code.binding(target) is not code.binding(again):
        return None  # a pattern variable and a field of its name
    return target, first.children[1], last.children[1]


def _kept(code: JavaSource, types: Types, target: Node | None, first: Node, last: Node) -> bool:
    """Whether arms that are constants are not narrowed to their target one by one."""
    kind = types.of(first)
    if kind != types.of(last) or kind in _NEVER_NARROWED or kind not in PRIMITIVE:
        return True
    wanted = types.of(target) if target is not None else _returned(code, types, first)
    return wanted in _WIDE or varies(code, first) or varies(code, last)


def _returned(code: JavaSource, types: Types, node: Node) -> str | None:
    """The type of what the method around an expression returns."""
    above = node.parent
    while above is not None and above.kind != "method_declaration":
        above = above.parent
    kind = above.child("type") if above is not None else None
    return code.text(kind) if kind is not None else None


# ── && and two ifs ───────────────────────────────────────────────────────────────────────────────────────


def _split(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("if_statement"):
        whole = node.part("condition")
        inner = bare(whole)
        if inner.kind != "binary_expression" or inner.operator != "&&":
            continue
        body = node.part("consequence")
        if node.child("alternative") is not None:
            yield Refused("if with else")
            continue
        left, right = inner.children
        if (
            code.commented(whole.start, left.start)
            or code.commented(left.end, right.start)
            or code.commented(right.end, body.start)
        ):
            yield Refused(COMMENT)
            continue
        outside = code.indentation(node.start)
        head = ("if (", span(bare(left) if not code.commented(left.start, left.end) else left), ") {")
        parts = (
            *head, f"{code.newline}{outside}{code.step}if (", span(right), ") ",
            Span(body.start, body.end, add=code.step), f"{code.newline}{outside}}}",
        )  # fmt: skip
        yield Site(((over(node, *parts),),), "if (a && b) as two", code.line(node))


def _merge(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("if_statement"):
        body = node.part("consequence")
        inner = _only(body)
        if inner is None or inner.kind != "if_statement":
            continue
        if node.child("alternative") is not None or inner.child("alternative") is not None:
            yield Refused("if with else")
            continue
        first, second = node.part("condition"), inner.part("condition")
        last = inner.part("consequence")
        if code.commented(node.start, last.start) or code.commented(inner.end, node.end):
            yield Refused(COMMENT)
            continue
        outside, inside = code.indentation(node.start), code.indentation(inner.start)
        drop = inside[len(outside) :] if inside.startswith(outside) else ""
        parts = (
            "if (", *placed(bare(first), AND), " && ", *placed(bare(second), AND + 1), ") ",
            Span(last.start, last.end, drop=drop),
        )  # fmt: skip
        yield Site(((over(node, *parts),),), "two ifs as if (a && b)", code.line(node))


def _condition_dropped(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("if_statement", "while_statement"):
        inner = bare(node.part("condition"))
        if inner.kind != "binary_expression" or inner.operator != "&&":
            continue
        if patterns(code, inner) or any(one.kind == "assignment_expression" for one in inner.walk()):
            yield Refused(PATTERN)
            continue
        if node.kind == "while_statement" and not all(varies(code, one) for one in inner.children):
            yield Refused(CONSTANT)
            continue
        options = tuple((over(inner, span(one)),) for one in inner.children)
        yield Site(options, "one condition dropped", code.line(node))


TERNARY_TO_IF: Final = Rewriting(name="ternary-to-if", find=_to_if, nothing="no ?:")
IF_TO_TERNARY: Final = Rewriting(
    name="if-to-ternary", find=_to_ternary, nothing="no if with one assignment or return on each side"
)
SPLIT_CONDITIONS: Final = Rewriting(name="split-conditions", find=_split, nothing="no if with &&")
MERGE_CONDITIONS: Final = Rewriting(name="merge-conditions", find=_merge, nothing="no if alone in an if")
CONDITION_DROPPED: Final = Rewriting(
    name="condition-dropped", find=_condition_dropped, nothing="no condition with &&", kind="control"
)
