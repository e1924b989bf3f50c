"""`?:` and `if`, and conditions in one `if` or in two.

`?:` unboxes and promotes its arms where they are numbers (Java Language Specification, 15.25), a statement
does not: `Object o = c ? 1 : 2.0;` stores 1.0. So both arms are of one primitive type, or one of them
certainly is an object that is never unboxed.
"""

from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import BOXES, PRIMITIVE, STRING, is_final
from codeaudit.transforms.java.control_flow.branches import LONE, NO_ELSE
from codeaudit.transforms.java.control_flow.jumps import PATTERN, patterns
from codeaudit.transforms.java.expressions.augmented import stands_alone
from codeaudit.transforms.java.expressions.logic import INFERRED, is_inferred
from codeaudit.transforms.java.precedence import AND, OR, TERNARY
from codeaudit.transforms.java.rewriting import (
    COMMENT,
    JavaSource,
    Rewriting,
    each,
    following,
    operand,
    replace,
    span,
)
from codeaudit.transforms.patches import Part, Site, Span
from codeaudit.transforms.syntax.reader import Node

ARMS: Final = "arms may be converted"
TARGET: Final = "target is no variable"
CONSTANT: Final = "a constant could change"
NARROWING: Final = "constants may be narrowed"
IN_LAMBDA: Final = "result of a lambda"
HAS_ELSE: Final = "if with else"
_NEVER_NARROWED: Final = frozenset({"boolean", "long", "float", "double", STRING})
_WIDE: Final = frozenset({"int", "long", "float", "double"})


def keep_their_types(code: JavaSource, first: Node, second: Node) -> bool:
    """Whether arms of `?:` are what they would be in a statement each."""
    kinds = code.type(first), code.type(second)
    if kinds[0] == kinds[1] and kinds[0] in PRIMITIVE:
        return True
    return _is_object(code, first) or _is_object(code, second)


def _is_object(code: JavaSource, node: Node) -> bool:
    """Whether an expression certainly is a reference that nothing unboxes."""
    inner = node.unparenthesized
    found = code.type(inner)
    if found is None:
        return False
    if found == STRING or found.endswith("[]"):
        return True
    return inner.kind == "object_creation_expression" and found not in BOXES


def _in_lambda(node: Node) -> bool:
    """Whether a `return` is that of a lambda.

    The text does not show its type: `Supplier<Object> s = () -> { return c ? 1 : 2; };`.
    """
    for above in node.ancestors():
        if above.kind.endswith("_declaration"):
            return False
        if above.kind == "lambda_expression":
            return True
    return False


def _is_name(node: Node) -> bool:
    """Whether a target of an assignment is a name, of which nothing is evaluated; `f().x` is none."""
    return node.kind == "identifier" or (node.kind == "field_access" and node.part("object").kind == "this")


# ── ?: as if ─────────────────────────────────────────────────────────────────────────────────────────────


@each("ternary_expression")
def _to_if(code: JavaSource, node: Node) -> Site | Refused:
    """`x = c ? a : b;` as `if (c) { x = a; } else { x = b; }`."""
    whole = node
    while whole.parent is not None and whole.parent.kind == "parenthesized_expression":
        whole = whole.parent
    found = _statement(code, whole)
    if isinstance(found, Refused):
        return found
    statement, start, lead = found
    first, second = node.part("consequence"), node.part("alternative")
    if not keep_their_types(code, first, second):
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


def _statement(code: JavaSource, whole: Node) -> tuple[Node, int, tuple[Part, ...]] | Refused:
    """The statement that uses the value of a `?:`, where that use begins, and what comes before it."""
    parent = whole.parent
    assert parent is not None
    match parent.kind:
        case "return_statement":
            return Refused(IN_LAMBDA) if _in_lambda(parent) else (parent, parent.start, ())
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
                or statement.field == "init"  # `for (int i = c ? 1 : 2; …)`
                or parent.child("dimensions")
                or len(statement.all("declarator")) > 1
                or code.text(statement.part("type")) == "var"  # needs a value to have a type
                or code.text(parent.part("name")) == "_"  # needs a value, too
            ):
                return Refused(TARGET)
            if is_final(statement) and not code.varies(whole):
                return Refused(CONSTANT)  # `final int n = true ? 1 : 2;` may stand in a label of a switch
            name = parent.part("name")
            return statement, name.start, (Span(statement.start, name.end), ";")
        case _:
            return Refused(TARGET)


# ── if as ?: ─────────────────────────────────────────────────────────────────────────────────────────────


@each("if_statement")
def _to_ternary(code: JavaSource, node: Node) -> Site | Refused | None:
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
    if one.kind == "return_statement" and _in_lambda(one):
        return Refused(IN_LAMBDA)
    if not keep_their_types(code, first, last):
        return Refused(ARMS)
    if not _not_narrowed(code, target, first, last):
        return Refused(NARROWING)
    if code.commented(node.start, node.end):
        return Refused(COMMENT)
    parts = (
        Span(one.start, first.start), *operand(node.part("condition").unparenthesized, OR), " ? ",
        *operand(first, TERNARY + 1), " : ", *operand(last, TERNARY + 1), ";",
    )  # fmt: skip
    return code.site(node, "if as ?:", replace(node, *parts))


def _only(node: Node) -> Node | None:
    """The one statement of a branch."""
    if node.kind == "block":
        return node.children[0] if len(node.children) == 1 else None
    return node


def _values(code: JavaSource, one: Node, other: Node) -> tuple[Node | None, Node, Node] | None:
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


def _not_narrowed(code: JavaSource, target: Node | None, first: Node, last: Node) -> bool:
    """Whether arms that are constants are not narrowed to their target one by one.

    `byte b; if (c) b = 1; else b = 2;` narrows two constants (JLS 5.2), while `c ? 1 : 2` is an int.
    """
    kind = code.type(first)
    if kind != code.type(last) or kind in _NEVER_NARROWED or kind not in PRIMITIVE:
        return True
    wanted = code.type(target) if target is not None else _result_type(code, first)
    return wanted in _WIDE or code.varies(first) or code.varies(last)


def _result_type(code: JavaSource, node: Node) -> str | None:
    """The type of what the method around an expression returns."""
    method = next((above for above in node.ancestors() if above.kind == "method_declaration"), None)
    kind = method.child("type") if method is not None else None
    return code.text(kind) if kind is not None else None


# ── && and two ifs ───────────────────────────────────────────────────────────────────────────────────────


@each("if_statement")
def _split(code: JavaSource, node: Node) -> Site | Refused | None:
    """`if (a && b) …` as `if (a) { if (b) … }`."""
    whole, body = node.part("condition"), node.part("consequence")
    inner = whole.unparenthesized
    if inner.kind != "binary_expression" or inner.operator != "&&":
        return None
    if node.child("alternative") is not None:
        return Refused(HAS_ELSE)  # the else would run for `a` alone
    left, right = inner.children
    if code.comments_between(whole.start, left, right, body):
        return Refused(COMMENT)
    newline = f"{code.newline}{code.indentation(node.start)}"
    first = left if code.commented(left.start, left.end) else left.unparenthesized
    parts = (
        "if (", span(first), ") {", f"{newline}{code.step}if (", span(right), ") ",
        Span(body.start, body.end, add=code.step), f"{newline}}}",
    )  # fmt: skip
    return code.site(node, "if (a && b) as two", replace(node, *parts))


@each("if_statement")
def _merge(code: JavaSource, node: Node) -> Site | Refused | None:
    """`if (a) { if (b) … }` as `if (a && b) …`."""
    inner = _only(node.part("consequence"))
    if inner is None or inner.kind != "if_statement":
        return None
    if node.child("alternative") is not None or inner.child("alternative") is not None:
        return Refused(HAS_ELSE)
    last = inner.part("consequence")
    if set(patterns(code, node.part("condition"))) & set(patterns(code, inner)):
        # `!(a instanceof String s) && !(b instanceof Integer s)` has two variables of one name.
        return Refused(PATTERN)
    if any(is_inferred(code, one.part("condition")) for one in (node, inner)):
        return Refused(INFERRED)
    if code.commented(node.start, last.start) or code.commented(inner.end, node.end):
        return Refused(COMMENT)
    first, second = (one.part("condition").unparenthesized for one in (node, inner))
    outside, inside = code.indentation(node.start), code.indentation(inner.start)
    drop = inside[len(outside) :] if inside.startswith(outside) else ""
    moved = Span(last.start, last.end, drop=drop)
    parts = ("if (", *operand(first, AND), " && ", *operand(second, AND + 1), ") ", moved)
    return code.site(node, "two ifs as if (a && b)", replace(node, *parts))


@each("if_statement", "while_statement")
def _condition_dropped(code: JavaSource, node: Node) -> Site | Refused | None:
    """`if (a && b)` as `if (a)` or `if (b)`."""
    inner = node.part("condition").unparenthesized
    if inner.kind != "binary_expression" or inner.operator != "&&":
        return None
    if patterns(code, inner) or any(one.kind == "assignment_expression" for one in inner.walk()):
        return Refused(PATTERN)  # `o instanceof String s && f(s)`: the second operand needs the first
    if node.kind == "while_statement" and not all(code.varies(one) for one in inner.children):
        return Refused(CONSTANT)  # `while (true && c)` without `c` never ends
    options = tuple((replace(inner, span(one)),) for one in inner.children)
    return Site(options, "one condition dropped", code.line(node))


TERNARY_TO_IF: Final = Rewriting(name="ternary-to-if", find=_to_if, nothing="no ?:")
IF_TO_TERNARY: Final = Rewriting(
    name="if-to-ternary", find=_to_ternary, nothing="no if with one assignment or return on each side"
)
SPLIT_CONDITIONS: Final = Rewriting(name="split-conditions", find=_split, nothing="no if with &&")
MERGE_CONDITIONS: Final = Rewriting(name="merge-conditions", find=_merge, nothing="no if alone in an if")
CONDITION_DROPPED: Final = Rewriting(
    name="condition-dropped", find=_condition_dropped, nothing="no condition with &&", kind="control"
)
