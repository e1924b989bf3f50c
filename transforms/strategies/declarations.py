"""Declarations of local variables in another form: joined and split, with their value and without.

A variable that is declared and then set once is what one is that is declared with its value, unless its
declaration says that it is never assigned again.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, TypeAlias

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.strategies.dialect import COMMENT, CodeStrategy, CodeText, Find, T
from codeaudit.transforms.syntax.flow import following
from codeaudit.transforms.syntax.reader import Node

ONE: Final = "only one variable"
SEVERAL: Final = "several variables"
FINAL: Final = "final variable"
INFERRED: Final = "type is inferred"
ARRAY: Final = "array in braces"
NO_VALUE: Final = "no value"
OTHER_SENSE: Final = "declared with its value it is not what it is without"
IN_HEAD: Final = "in the head of a statement"
NOT_NEXT: Final = "value is not assigned right behind"
READS_ITSELF: Final = "value reads the variable"
UNNAMED: Final = "variable without a name"
Result: TypeAlias = Site | Refused | None


def declarations(rewrite: Callable[[T, Node, list[Node]], Result]) -> Find[T]:
    """The `find` of a rule that looks at each declaration of locals, with its list of declarators."""

    def find(code: T) -> Iterator[Site | Refused]:
        for node in code.nodes:
            if node.kind != "local_variable_declaration":
                continue
            if following(node) is None:
                yield Refused(IN_HEAD)  # `for (int i = 0, n = 9; …)`
            elif (result := rewrite(code, node, node.all("declarator"))) is not None:
                yield result

    return find


def _next(node: Node, kind: str) -> Node | None:
    """The statement right behind a declaration if it is of this kind."""
    behind = following(node)
    return behind[0] if behind and behind[0].kind == kind else None


# ── several variables ────────────────────────────────────────────────────────────────────────────────────


@declarations
def _split(code: CodeText, node: Node, variables: list[Node]) -> Result:
    """`int a, b;` as `int a; int b;`."""
    if len(variables) < 2:
        return Refused(ONE)
    if code.commented(node.start, node.end):
        return Refused(COMMENT)
    if (head := code.shared_head(node)) is None:
        return Refused(ARRAY)
    lead = f"{code.newline}{code.indentation(node.start)}{head}"
    patches = [Patch(one.end, two.start, (";", lead)) for one, two in pairwise(variables)]
    return code.site(node, "one declaration each", *patches)


@declarations
def _join(code: CodeText, node: Node, variables: list[Node]) -> Result:
    """`int a; int b;` as `int a, b;`."""
    other = _next(node, "local_variable_declaration")
    if other is None:
        return None
    one, two = code.shared_head(node), code.shared_head(other)
    if one is None or two is None or one.split() != two.split():
        return Refused("other types")
    if code.is_typed_by_value(node):
        return Refused(INFERRED)  # `var` may allow one variable
    if code.commented(node.start, other.end):
        return Refused(COMMENT)
    joint = Patch(variables[-1].end, other.part("declarator").start, (", ",))
    return code.site(node, "declarations joined", joint)


# ── the value apart ──────────────────────────────────────────────────────────────────────────────────────


@declarations
def _split_value(code: CodeText, node: Node, variables: list[Node]) -> Result:
    """`int a = 1;` as `int a; a = 1;`."""
    variable = variables[0]
    value = variable.child("value")
    if len(variables) > 1:
        return Refused(SEVERAL)
    if value is None:
        return Refused(NO_VALUE)
    if code.is_final(node):
        return Refused(FINAL)  # `final int a = 1;` is a constant, `final int a; a = 1;` is none
    if code.is_typed_by_value(node):
        return Refused(INFERRED)
    if not code.may_be_unset(node):
        return Refused(OTHER_SENSE)
    if value.kind == "array_initializer":
        return Refused(ARRAY)  # `{1, 2}` stands only in a declaration
    if code.binding(code.name_of(variable)) is None:
        return Refused(UNNAMED)  # nothing can be assigned to it
    if code.commented(node.start, value.start):
        return Refused(COMMENT)
    name = code.name_of(variable)
    end = variable.child("dimensions") or name
    assignment = f";{code.newline}{code.indentation(node.start)}{code.text(name)} = "
    return code.site(node, "value assigned apart", Patch(end.end, value.start, (assignment,)))


@declarations
def _join_value(code: CodeText, node: Node, variables: list[Node]) -> Result:
    """`int a; a = 1;` as `int a = 1;`."""
    variable = variables[0]
    if len(variables) > 1 or variable.child("value") is not None:
        return None
    behind = _next(node, "expression_statement")
    inner = behind.children[0] if behind is not None else None
    if inner is None or inner.kind != "assignment_expression" or inner.operator != "=":
        return Refused(NOT_NEXT)
    name = code.text(code.name_of(variable))
    target, value = inner.children
    if code.text(target) != name:
        return Refused(NOT_NEXT)
    if code.is_final(node):
        return Refused(FINAL)
    if not code.may_be_unset(node):
        return Refused(OTHER_SENSE)
    if name in code.names(value):
        return Refused(READS_ITSELF)  # `int a; a = (a = 1) + 2;`
    if code.commented(node.start, value.start):
        return Refused(COMMENT)
    return code.site(node, "declared with its value", Patch(variable.end, value.start, (" = ",)))


SPLIT_DECLARATIONS: Final = CodeStrategy(
    name="split-declarations", needs=("shared_head",), find=_split, nothing="no declaration of a local"
)
JOIN_DECLARATIONS: Final = CodeStrategy(
    name="join-declarations", needs=("shared_head",), find=_join, nothing="no two declarations in a row"
)
SPLIT_INITIALISERS: Final = CodeStrategy(
    name="split-initialisers", needs=("is_final", "is_typed_by_value", "may_be_unset"), find=_split_value,
    nothing="no declaration of a local",
)  # fmt: skip
JOIN_INITIALISERS: Final = CodeStrategy(
    name="join-initialisers", needs=("is_final", "may_be_unset"), find=_join_value,
    nothing="no declaration without a value",
)  # fmt: skip
