"""The seeded bugs of C and C++ (`strategies.defects`), beyond the controls of the catalogue: also those that
make a program read or write what it may not.
"""

from collections.abc import Callable
from dataclasses import replace as changed
from typing import Final

from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.dialect import INTEGRAL, WHOLE
from codeaudit.transforms.c.rewriting import CRewriting, CSource
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.strategies.defects import DefectKinds, defect, defects, is_check, taken_out
from codeaudit.transforms.strategies.dialect import CodeText, each
from codeaudit.transforms.syntax.flow import BLOCKS
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import Binding
from codeaudit.transforms.syntax.text import replace, span

_SIZED: Final = {"malloc": 0, "realloc": 1, "calloc": 0, "memcpy": 2, "memmove": 2, "memset": 2, "strncpy": 2,
                 "strncat": 2, "snprintf": 1, "fgets": 1, "strndup": 1}  # fmt: skip
"""Functions of the C library, by the number of the argument that is a size."""
_ALLOCATING: Final = frozenset({"malloc", "realloc", "calloc"})


def _calculates(code: CodeText, node: Node) -> bool:
    """Whether no operand can be a pointer, where that would not compile."""
    if node.operator not in ("+", "-"):
        return True
    right = node.children[1].unparenthesized
    return right.kind in code.dialect.numbers or code.type(right) in WHOLE


def _alike(code: CodeText, one: Binding, other: Binding) -> bool:
    """Whether the types are written alike."""
    assert isinstance(code, CSource)
    kinds = code.declared(one), code.declared(other)
    return kinds[0] is not None and kinds[0] == kinds[1]


KINDS: Final = DefectKinds(
    comparisons={"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    operators={
        "+": ("-",), "-": ("+",), "*": ("+",), "%": ("/",), "<<": (">>",), ">>": ("<<",),
        "&": ("|",), "|": ("&",),
    },
    calculates=_calculates,
    alike=_alike,
    fixed=frozenset({"switch_label", "enumerator", "bitfield_clause", "array_declarator"}),
    dropped={},
)  # fmt: skip
"""What people mistake in C."""


def _calculates_in_cpp(code: CodeText, node: Node) -> bool:
    """As in C; bits and shifts only of numbers, because `<<` writes to streams."""
    # A text may be added to a character.
    left, right = (code.type(child) in INTEGRAL - {"char", "bool"} for child in node.children)
    if node.operator in ("+", "-"):
        return right
    return left or right if node.operator in ("*", "%") else left and right


def _compares_in_cpp(code: CodeText, node: Node) -> bool:
    """Whether a class may not be without the other comparison: one side is a number or a pointer."""
    return node.operator in ("==", "!=") or any(code.type(child) is not None for child in node.children)


KINDS_OF_CPP: Final = changed(
    KINDS,
    calculates=_calculates_in_cpp,
    compares=_compares_in_cpp,
    fixed=KINDS.fixed | {"template_argument_list"},
)
"""What people mistake in C++."""


def _call(code: CodeText, node: Node) -> tuple[str, list[Node]] | None:
    """The name and the arguments of a call."""
    if node.kind != "method_invocation" or node.children[-1].kind != "argument_list":
        return None
    return code.text(node.children[0]), node.children[-1].children


@each("method_invocation")
def _one_too_many(code: CodeText, node: Node) -> Site | None:
    """`memcpy(to, from, n)` with one byte more; `malloc(n + 1)` without the one."""
    call = _call(code, node)
    if call is None:
        return None
    name, arguments = call[0].removeprefix("std::"), call[1]
    if name not in _SIZED or len(arguments) <= _SIZED[name]:
        return None
    size = arguments[_SIZED[name]]
    if name not in _ALLOCATING:
        return code.site(node, "size one off", replace(size, span(size), " + 1"))
    if size.kind != "binary_expression" or size.operator != "+" or code.text(size.children[1]) != "1":
        return None
    return code.site(node, "size one off", replace(size, span(size.children[0])))


def _freed(code: CodeText, node: Node) -> str | None:
    """The variable that a statement of a block frees."""
    if node.parent is None or node.parent.kind not in BLOCKS:
        return None
    inner = node.children[0]
    if inner.kind == "delete_expression" and inner.children[-1].kind == "identifier":
        return code.text(inner.children[-1])
    call = _call(code, inner)
    if call is None or call[0].removeprefix("std::") != "free":
        return None
    return code.text(call[1][0]) if [argument.kind for argument in call[1]] == ["identifier"] else None


@each("expression_statement")
def _freed_early(code: CodeText, node: Node) -> Site | None:
    """`use(p); free(p);` as `free(p); use(p);`."""
    name, block = _freed(code, node), node.parent
    if name is None or block is None:
        return None
    before = next((child for child in reversed(block.children) if child.end <= node.start), None)
    if before is None or before.kind == "local_variable_declaration":
        return None
    # The statement has to look behind the pointer: `p = next` or `q = p` may be harmless.
    uses = any(
        inner.kind in ("field_access", "array_access", "pointer_expression", "argument_list")
        and name in code.names(inner)
        for inner in before.walk()
    )
    if not uses or any(inner.kind == "labeled_statement" for inner in before.walk()):
        return None
    moved = Patch(before.start, before.start, (span(node), f"{code.newline}{code.indentation(before.start)}"))
    return code.site(node, "freed before its last use", moved, taken_out(code, node))


@each("expression_statement")
def _freed_twice(code: CodeText, node: Node) -> Site | None:
    """`free(p);` twice."""
    if _freed(code, node) is None:
        return None
    again = (span(node), f"{code.newline}{code.indentation(node.start)}")
    return code.site(node, "freed twice", Patch(node.start, node.start, again))


def _of_checks(fits: Callable[[CodeText, Node], bool]) -> Callable[[CodeText, Node], Site | None]:
    def find(code: CodeText, node: Node) -> Site | None:
        if not is_check(code, node) or not fits(code, node.part("condition").unparenthesized):
            return None
        return code.site(node, "check left out", taken_out(code, node))

    return find


def _bounds(code: CodeText, condition: Node) -> bool:
    return any(
        n.kind == "binary_expression" and n.operator in ("<", ">", "<=", ">=") for n in condition.walk()
    )


def _null(code: CodeText, condition: Node) -> bool:
    operation = (condition.kind, condition.operator)
    if operation == ("unary_expression", "!"):
        return condition.children[0].kind in ("identifier", "field_access")
    names_null = any(word in code.text(condition) for word in ("NULL", "nullptr"))
    return operation == ("binary_expression", "==") and names_null


def _all(kinds: DefectKinds) -> tuple[CRewriting, ...]:
    rules = (
        *defects(kinds),
        defect("size-unchecked", each("if_statement")(_of_checks(_bounds)), "no check of a size"),
        defect("null-unchecked", each("if_statement")(_of_checks(_null)), "no check for NULL"),
        defect("size-off-by-one", _one_too_many, "no call with a size"),
        defect("freed-early", _freed_early, "nothing is freed behind a use"),
        defect("freed-twice", _freed_twice, "nothing is freed"),
    )
    return tuple(map(CRewriting.of, rules))


DEFECTS: Final = _all(KINDS)
"""Of C."""
DEFECTS_OF_CPP: Final = tuple(changed(rule, language=CPP) for rule in _all(KINDS_OF_CPP))
"""Of C++."""
