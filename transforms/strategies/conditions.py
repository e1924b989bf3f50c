"""`?:` and `if`, and conditions in one `if` or in two.

A statement may convert a value in another way than `?:` does, so the arms keep their types
(`CodeText.keep_their_types`).
"""

from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Part, Site, Span
from codeaudit.transforms.strategies.assignments import stands_alone
from codeaudit.transforms.strategies.branches import LONE, NO_ELSE, PATTERN
from codeaudit.transforms.strategies.dialect import COMMENT, CodeStrategy, CodeText, each
from codeaudit.transforms.strategies.logic import INFERRED
from codeaudit.transforms.syntax.flow import following
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.text import replace, span

ARMS: Final = "arms may be converted"
TARGET: Final = "target is no variable"
CONSTANT: Final = "a constant could change"
NARROWING: Final = "constants may be narrowed"
IN_LAMBDA: Final = "result of a lambda"
HAS_ELSE: Final = "if with else"


def _is_name(node: Node) -> bool:
    """Whether a target of an assignment is a name, of which nothing is evaluated; `f().x` is none."""
    return node.kind == "identifier" or (node.kind == "field_access" and node.part("object").kind == "this")


# ── ?: as if ─────────────────────────────────────────────────────────────────────────────────────────────


@each("ternary_expression")
def _to_if(code: CodeText, node: Node) -> Site | Refused:
    """`x = c ? a : b;` as `if (c) { x = a; } else { x = b; }`."""
    whole = node.parenthesized
    around = _statement(code, whole)
    if isinstance(around, Refused):
        return around
    statement, start, lead = around
    first, second = node.part("consequence"), node.part("alternative")
    if not code.keep_their_types(first, second):
        return Refused(ARMS)
    if following(statement) is None:
        return Refused(LONE)
    if code.commented(start, statement.end):
        return Refused(COMMENT)
    newline = f"{code.newline}{code.indentation(statement.start)}"
    inside = newline + code.step
    before = code.source[start : whole.start].decode().rstrip("(")  # `x = `, `return ` or `return`
    again = before if before[-1:].isspace() else f"{before} "
    parts: tuple[Part, ...] = (
        *lead, *([newline] if lead else []),
        "if (", span(node.part("condition").unparenthesized), ") {", inside,
        again, span(first), f";{newline}}} else {{{inside}", again, span(second), f";{newline}}}",
    )  # fmt: skip
    return code.site(node, "?: as if", replace(statement, *parts))


def _statement(code: CodeText, whole: Node) -> tuple[Node, int, tuple[Part, ...]] | Refused:
    """The statement that uses the value of a `?:`, where that use begins, and what comes before it."""
    parent = whole.parent
    assert parent is not None
    match parent.kind:
        case "return_statement":
            return Refused(IN_LAMBDA) if code.in_nameless_function(parent) else (parent, parent.start, ())
        case "assignment_expression" if parent.operator == "=" and whole.field == "right":
            statement = parent.parent
            if statement is None or statement.kind != "expression_statement":
                return Refused(TARGET)
            usable = stands_alone(parent) and _is_name(parent.children[0])
            return (statement, statement.start, ()) if usable else Refused(TARGET)
        case "variable_declarator":
            statement = parent.parent
            if (
                statement is None
                or statement.kind != "local_variable_declaration"
                or not code.may_be_unset(statement)
                or statement.field == "init"  # `for (int i = c ? 1 : 2; …)`
                or parent.child("dimensions")
                or len(statement.all("declarator")) > 1
                or code.is_typed_by_value(statement)
                or code.binding(code.name_of(parent)) is None  # `_` needs a value, too
            ):
                return Refused(TARGET)
            if code.is_final(statement) and not code.varies(whole):
                return Refused(CONSTANT)  # `final int n = true ? 1 : 2;` may stand in a label of a switch
            name = code.name_of(parent)
            return statement, name.start, (Span(statement.start, name.end), ";")
        case _:
            return Refused(TARGET)


# ── if as ?: ─────────────────────────────────────────────────────────────────────────────────────────────


@each("if_statement")
def _to_ternary(code: CodeText, node: Node) -> Site | Refused | None:
    """`if (c) { x = a; } else { x = b; }` as `x = c ? a : b;`, and so for `return`."""
    second = node.child("alternative")
    if second is None:
        return Refused(NO_ELSE)
    one, other = _only(node.part("consequence")), _only(second)
    if one is None or other is None or one.kind != other.kind:
        return None
    values = _values(code, one, other)
    if values is None:
        return None
    target, first, last = values
    if one.kind == "return_statement" and code.in_nameless_function(one):
        return Refused(IN_LAMBDA)
    if not code.keep_their_types(first, last):
        return Refused(ARMS)
    if code.is_narrowed(target, first, last):
        return Refused(NARROWING)
    if code.commented(node.start, node.end):
        return Refused(COMMENT)
    least = code.precedence.ternary + 1
    before = "return " if target is None else Span(one.start, first.start)  # `return(x)` has no blank
    parts = (
        before, *code.operand(node.part("condition").unparenthesized, least), " ? ",
        *code.operand(first, least), " : ", *code.operand(last, least), ";",
    )  # fmt: skip
    return code.site(node, "if as ?:", replace(node, *parts))


def _only(node: Node) -> Node | None:
    """The one statement of a branch."""
    if node.kind == "block":
        return node.children[0] if len(node.children) == 1 else None
    return node


def _values(code: CodeText, one: Node, other: Node) -> tuple[Node | None, Node, Node] | None:
    """The target that two statements share (`None` for `return`), and their values."""
    if not one.children or not other.children:
        return None
    first, last = one.children[0], other.children[0]
    if one.kind == "return_statement":
        return None, first, last
    if one.kind != "expression_statement":
        return None
    if any(side.kind != "assignment_expression" or side.operator != "=" for side in (first, last)):
        return None
    target, again = first.children[0], last.children[0]
    if not _is_name(target) or code.text(target) != code.text(again):
        return None
    if code.binding(target) is not code.binding(again):
        return None  # a pattern variable and a field of its name
    return target, first.children[1], last.children[1]


# ── && and two ifs ───────────────────────────────────────────────────────────────────────────────────────


@each("if_statement")
def _split(code: CodeText, node: Node) -> Site | Refused | None:
    """`if (a && b) …` as `if (a) { if (b) … }`."""
    test, body = node.part("condition"), node.part("consequence")
    inner = test.unparenthesized
    if inner.kind != "binary_expression" or inner.operator != "&&":
        return None
    if node.child("alternative") is not None:
        return Refused(HAS_ELSE)  # the else would run for `a` alone
    left, right = inner.children
    if code.comments_between(test.start, left, right, body):
        return Refused(COMMENT)
    newline = f"{code.newline}{code.indentation(node.start)}"
    first = left if code.commented(left.start, left.end) else left.unparenthesized
    parts = (
        "if (", span(first), ") {", f"{newline}{code.step}if (", span(right), ") ",
        Span(body.start, body.end, add=code.step), f"{newline}}}",
    )  # fmt: skip
    return code.site(node, "if (a && b) as two", replace(node, *parts))


@each("if_statement")
def _merge(code: CodeText, node: Node) -> Site | Refused | None:
    """`if (a) { if (b) … }` as `if (a && b) …`."""
    inner = _only(node.part("consequence"))
    if inner is None or inner.kind != "if_statement":
        return None
    if node.child("alternative") is not None or inner.child("alternative") is not None:
        return Refused(HAS_ELSE)
    last = inner.part("consequence")
    if set(code.patterns(node.part("condition"))) & set(code.patterns(inner)):
        # `!(a instanceof String s) && !(b instanceof Integer s)` has two variables of one name.
        return Refused(PATTERN)
    if any(code.is_inferred(statement.part("condition")) for statement in (node, inner)):
        return Refused(INFERRED)
    if code.commented(node.start, last.start) or code.commented(inner.end, node.end):
        return Refused(COMMENT)
    first, second = (statement.part("condition").unparenthesized for statement in (node, inner))
    moved = Span(last.start, last.end, drop=code.deeper(node, inner))
    parts = (
        "if (",
        *code.operand(first, code.precedence.conjunction),
        " && ",
        *code.operand(second, code.precedence.conjunction + 1),
        ") ",
        moved,
    )
    return code.site(node, "two ifs as if (a && b)", replace(node, *parts))


@each("if_statement", "while_statement")
def _condition_dropped(code: CodeText, node: Node) -> Site | Refused | None:
    """`if (a && b)` as `if (a)` or `if (b)`."""
    inner = node.part("condition").unparenthesized
    if inner.kind != "binary_expression" or inner.operator != "&&":
        return None
    if code.patterns(inner) or any(part.kind == "assignment_expression" for part in inner.walk()):
        return Refused(PATTERN)  # `o instanceof String s && f(s)`: the second operand needs the first
    if node.kind == "while_statement" and not all(code.varies(operand) for operand in inner.children):
        return Refused(CONSTANT)  # `while (true && c)` without `c` never ends
    options = tuple((replace(inner, span(operand)),) for operand in inner.children)
    return Site(options, "one condition dropped", code.line(node))


TERNARY_TO_IF: Final = CodeStrategy(
    name="ternary-to-if", needs=("keep_their_types",), find=_to_if, nothing="no ?:"
)
IF_TO_TERNARY: Final = CodeStrategy(
    name="if-to-ternary",
    needs=("keep_their_types",),
    find=_to_ternary,
    nothing="no if with one assignment or return on each side",
)
SPLIT_CONDITIONS: Final = CodeStrategy(name="split-conditions", find=_split, nothing="no if with &&")
MERGE_CONDITIONS: Final = CodeStrategy(name="merge-conditions", find=_merge, nothing="no if alone in an if")
CONDITION_DROPPED: Final = CodeStrategy(
    name="condition-dropped", find=_condition_dropped, nothing="no condition with &&", kind="control"
)
