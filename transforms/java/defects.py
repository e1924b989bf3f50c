"""Defects that people make in Java, each at one place: the seeded bugs of the corpus `bugs`, beyond the
catalogue's controls. They are of the same kinds as those of Python.

They are controls: an edit is meant to change what the method does. Its text is meant to compile, so an edit
is left out where the types or the scopes of the text do not promise that.
"""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.java.analysis.types import NUMERIC, is_final
from codeaudit.transforms.java.rewriting import JavaSource, Rewriting
from codeaudit.transforms.patches import Site
from codeaudit.transforms.strategies.defects import other_operator
from codeaudit.transforms.strategies.dialect import CodeText, Find, each
from codeaudit.transforms.strategies.logic import DUAL, conditions
from codeaudit.transforms.strategies.operands import is_target
from codeaudit.transforms.syntax.flow import LOOPS
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import Binding
from codeaudit.transforms.syntax.text import replace, span

_COMPARISONS: Final = {
    "<": ("<=",), "<=": ("<",), ">": (">=",), ">=": (">",), "==": ("!=",), "!=": ("==",),
}  # fmt: skip
_OPERATORS: Final = {
    "+": ("-",), "-": ("+",), "*": ("+", "/"), "/": ("*",), "%": ("/",), "<<": (">>",), ">>": ("<<",),
    "&": ("|",), "|": ("&",),
}  # fmt: skip
_NARROW: Final = frozenset({"byte", "short", "char", "Byte", "Short", "Character"})
"""Types to which a constant of type int is assigned if it fits."""
_CONDITIONS: Final = frozenset({"identifier", "method_invocation", "field_access", "array_access"})
_BLOCKS: Final = frozenset({"block", "constructor_body", "for_statement"})
"""Where a local with a value is declared, so that the rest of its scope finds it assigned. In a `switch` a
jump may pass the value.
"""
_OPERATIONS: Final = frozenset(
    {"binary_expression", "unary_expression", "parenthesized_expression", "cast_expression",
     "ternary_expression"}
)  # fmt: skip
_RESULTS: Final = frozenset(
    {"return_statement", "yield_statement", "expression_statement", "lambda_expression", "array_initializer"}
)
"""Where a value has to fit a type that stands elsewhere. An `expression_statement` is that of a `switch`."""
_MOST_NAMES: Final = 4
"""Most variables offered in exchange for one."""


def _decides(code: CodeText, node: Node) -> bool:
    """Whether another comparison, or another `&&` and `||`, still compiles."""
    assert isinstance(code, JavaSource)
    return not code.binds(node) and not _is_checked(code, node)


def _calculates(code: CodeText, node: Node) -> bool:
    """Whether another operator still compiles. All but `+` say themselves that no operand is a string."""
    assert isinstance(code, JavaSource)
    return not _is_checked(code, node) and (node.operator != "+" or code.type(node) in NUMERIC)


_compared: Final = other_operator(_COMPARISONS, _decides)
_calculated: Final = other_operator(_OPERATORS, _calculates)
_connected: Final = other_operator({sign: (other,) for sign, other in DUAL.items()}, _decides)


@each("identifier")
def _mistaken(code: JavaSource, node: Node) -> Site | None:
    """A variable that is read, and others of its type that certainly have a value there."""
    if not code.is_value(node) or is_target(node) or not code.varies(node):
        return None
    binding, kind = code.binding(node), code.type(node)
    if binding is None or kind is None:
        return None
    depth = next(use.depth for use in binding.occurrences if use.start == node.start)
    names = sorted(
        other.name
        for other in code.scopes.bindings
        # In another lambda or class, only a variable that never changes may be used (JLS 8.1.3, 15.27.2).
        if other.owner == depth
        and other.name != binding.name
        and code.types.declared(other) == kind
        and _has_value(other, node)
        and not _are_equal(code, binding, other)
    )
    if not names:
        return None
    options = tuple((replace(node, name),) for name in names[:_MOST_NAMES])
    return Site(options, f"not {binding.name}", code.line(node))


def _has_value(binding: Binding, place: Node) -> bool:
    """Whether a variable that is no constant is certainly in scope and assigned at this place."""
    node = binding.node
    if node is None or place.start >= binding.until:
        return False
    match binding.view:
        case "parameter" | "lambda":
            return binding.start < place.start
        case "loop":
            return node.part("body").start <= place.start
        case "local":
            declaration = node.parent
            return (
                declaration is not None
                and declaration.parent is not None
                and declaration.parent.kind in _BLOCKS
                and node.child("value") is not None
                and node.end <= place.start
                and not is_final(declaration)
            )
        case _:
            return False


def _are_equal(code: JavaSource, one: Binding, other: Binding) -> bool:
    """Whether the text of one variable's value shows that the other one has the same value."""
    first, second = (_value(code, binding) for binding in (one, other))
    return first == other.name or second == one.name or (first is not None and first == second)


def _value(code: JavaSource, binding: Binding) -> str | None:
    value = binding.node.child("value") if binding.view == "local" and binding.node else None
    return code.text(value) if value else None


@each("method_invocation")
def _uncalled(code: JavaSource, node: Node) -> Site | None:
    """`x.f()` or `M.f(x)` as `x`, if the call has the type of `x`."""
    value, arguments = node.child("object"), node.part("arguments").children
    if len(arguments) == 1:
        value = arguments[0]  # only of some static methods it has the type of the call
    elif arguments:
        return None
    if value is None or code.type(value) is None or code.type(value) != code.type(node):
        return None
    if node.parent is None or node.parent.kind == "expression_statement":
        return None  # `x;` is no statement
    if code.comments_outside(node, value):
        return None
    return code.site(node, "call left out", replace(node, span(value)))


def _negated(code: JavaSource) -> Iterator[Site]:
    """A condition that is no comparison, negated."""
    for condition in conditions(code):
        if (
            condition.kind in _CONDITIONS
            and not _is_checked(code, condition)
            and not code.is_inferred(condition)
        ):
            parts = ("!", span(condition))
            yield code.site(
                condition,
                "condition negated",
                code.precedence.replace(condition, parts, code.precedence.unary),
            )


@each("decimal_integer_literal")
def _shifted(code: JavaSource, node: Node) -> Site | None:
    """An integer between -1000 and 1000, one higher or lower; from 0 only higher."""
    digits = code.text(node).rstrip("lL")
    value, suffix = int(digits.replace("_", "")), code.text(node)[len(digits) :]
    number, parent = node, node.parent
    # `-5` is one number.
    if parent is not None and parent.kind == "unary_expression" and parent.operator == "-":
        number, value = parent, -value
    if abs(value) >= 1000 or _is_checked(code, number):
        return None
    changes = [value + 1, value - 1] if value else [1]
    options = tuple((replace(number, f"{change}{suffix}"),) for change in changes)
    return Site(options, "number one off", code.line(node))


def _is_checked(code: JavaSource, node: Node) -> bool:
    """Whether javac may compute an expression that this one belongs to, and use its value: it has to fit a
    narrow type (JLS 5.2), is a constant's value (JLS 4.12.4), or decides what is reachable (JLS 14.22).
    """
    expression, parent = node, node.parent
    while parent is not None and parent.kind in _OPERATIONS:
        expression, parent = parent, parent.parent
    if parent is None or code.varies(expression):
        return False
    match parent.kind:
        case "variable_declarator":
            declaration = parent.parent
            declared = declaration.child("type") if declaration is not None else None
            return declared is None or is_final(declaration) or code.text(declared).rstrip("[]") in _NARROW
        case "assignment_expression":
            return code.type(parent.part("left")) in _NARROW | {None}
        case kind:
            return kind in _RESULTS or (kind in LOOPS and kind != "enhanced_for_statement")


def _defect(name: str, find: Find[JavaSource], nothing: str) -> Rewriting:
    return Rewriting(name=name, find=find, nothing=nothing, kind="control")


COMPARISON_MISTAKEN: Final = _defect("comparison-mistaken", _compared, "no comparison")
OPERATOR_MISTAKEN: Final = _defect("operator-mistaken", _calculated, "no arithmetic")
LOGIC_MISTAKEN: Final = _defect("logic-mistaken", _connected, "no && or ||")
VARIABLE_MISTAKEN: Final = _defect("variable-mistaken", _mistaken, "no variable to mistake")
CALL_FORGOTTEN: Final = _defect("call-forgotten", _uncalled, "no call that keeps a type")
CONDITION_NEGATED: Final = _defect("condition-negated", _negated, "no condition")
NUMBER_MISTAKEN: Final = _defect("number-mistaken", _shifted, "no number")

DEFECTS: Final = (
    COMPARISON_MISTAKEN,
    OPERATOR_MISTAKEN,
    LOGIC_MISTAKEN,
    VARIABLE_MISTAKEN,
    CALL_FORGOTTEN,
    CONDITION_NEGATED,
    NUMBER_MISTAKEN,
)
