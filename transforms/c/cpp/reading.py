"""How trees of C++ are read: as those of C (`c.parsing`), with the nodes that only C++ has.

Not read, beyond what is not read in C: bodies that are a `try` block, `= default` and `= delete`, classes
with functions inside of functions, lambdas with parameters for types, and `o.*p`, which the grammar takes for
a member `p`. Of a `template` the unit is the function; the text before it belongs to the sample and keeps its
names.
"""

import re
from typing import TYPE_CHECKING, Final

from codeaudit.transforms.syntax.reader import Node, blanked

if TYPE_CHECKING:
    from tree_sitter import Node as TreeNode

TRY_BODY: Final = "try block in place of the body"
LAMBDA_TEMPLATE: Final = "lambda with parameters for types"
POINTER_TO_MEMBER: Final = "pointer to a member"

_KEYWORDS: Final = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t
    class compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield
    decltype default delete do double dynamic_cast else enum explicit export extern false float for friend
    goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register reinterpret_cast requires restrict return short signed sizeof static
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename
    union unsigned using virtual void volatile wchar_t while xor xor_eq final override _Complex
"""
KEYWORDS: Final = frozenset(_KEYWORDS.split())
"""The keywords of C++11 to C++23, `final` and `override`, and `_Complex`, which compilers take from C."""

ALIASES: Final = {
    "condition_clause": "parenthesized_expression",
    "for_range_loop": "enhanced_for_statement",
    "optional_parameter_declaration": "parameter_declaration",
    "variadic_parameter_declaration": "parameter_declaration",
}
"""Our names of kinds, beyond those of C."""
LITERALS: Final = frozenset({"raw_string_literal", "user_defined_literal"})

DECLARING: Final = "declaring_condition"
"""The kind of a condition that declares a variable: `if (T x = f())`."""
CONSTEXPR_IF: Final = "constexpr_if_statement"
"""The kind of `if constexpr`, whose other branch may not even compile."""
CAST: Final = "cast_expression"
_NAMED_CASTS: Final = frozenset({"static_cast", "const_cast", "reinterpret_cast", "dynamic_cast"})
CASTS: Final = frozenset({"named_cast", "functional_cast"})
"""Kinds of `static_cast<T>(x)` and of `int(x)`."""
_NAMES: Final = frozenset(
    {"identifier", "field_identifier", "destructor_name", "operator_name", "operator_cast",
     "template_function"}
)  # fmt: skip
"""Kinds of the last part of the name of a function."""
_AROUND_A_NAME: Final = frozenset(
    {"function_declarator", "pointer_declarator", "reference_declarator", "parenthesized_declarator",
     "attributed_declarator"}
)  # fmt: skip


_ARGUMENTS: Final = re.compile(r"<[^<>]*>")
"""Arguments of a template, without others in them."""


def prepare(root: Node, source: bytes) -> None:
    """Give nodes of C++ the kinds under which they are looked at."""
    for node in list(root.walk()):
        match node.kind:
            case "parenthesized_expression" if node.field == "condition":
                if len(node.children) != 1 or node.children[0].kind == "local_variable_declaration":
                    node.kind = DECLARING
            case "if_statement" if node.has("constexpr") or node.has("consteval"):
                node.kind = CONSTEXPR_IF
            case "method_invocation" if node.children:
                called = node.children[0]
                if called.kind in ("primitive_type", "sized_type_specifier"):
                    node.kind = "functional_cast"
                elif called.kind == "template_function" and called.children:
                    name = called.children[0]
                    if source[name.start : name.end].decode() in _NAMED_CASTS:
                        node.kind = "named_cast"


def function_in(node: Node) -> Node | None:
    """The function of a declaration, which templates and `extern "C"` may stand around."""
    around = ("template_declaration", "linkage_specification", "friend_declaration")
    here: Node | None = node
    while here is not None and here.kind in around:
        here = here.first(*around, "function_definition")
    return here if here is not None and here.kind == "function_definition" else None


_DECLARATORS: Final = frozenset(
    {"identifier", "pointer_declarator", "array_declarator", "function_declarator", "type_identifier",
     "parenthesized_declarator", "attributed_declarator", "variable_declarator", "reference_declarator",
     "variadic_declarator", "structured_binding_declarator"}
)  # fmt: skip


def inner(node: Node) -> Node | None:
    """The declarator or name inside of a declarator."""
    declarator = node.child("declarator")
    return declarator if declarator is not None else node.first(*_DECLARATORS)


def head_of(function: Node) -> Node | None:
    """The declarator of a function that holds its parameters: for `operator int()` that of the cast."""
    node: Node | None = function.child("declarator")
    head: Node | None = None
    while node is not None:
        if node.kind in ("function_declarator", "abstract_function_declarator"):
            head = node
        node = node.child("name") if node.kind == "qualified_identifier" else inner(node)
    return head


def name_of(source: bytes, function: Node) -> str:
    """The name of a function in one spelling: `T::f`, `~T`, `operator==`; `operator int` for a conversion."""
    node = function.child("declarator")
    while node is not None and node.kind in _AROUND_A_NAME:
        node = node.child("declarator") or next(iter(node.children), None)
    if node is None:
        return ""
    end, last = node.end, node
    while last.kind == "qualified_identifier" and (name := last.child("name")) is not None:
        last = name
    if last.kind == "operator_cast" and (head := last.child("declarator")) is not None:
        end = head.start
    return _tight(source[node.start : end])


def _tight(name: bytes) -> str:
    """A name with blanks only where two words would run together."""
    return re.sub(r"(?<!\w) | (?!\w)", "", " ".join(name.decode().split()))


def own_name(name: str) -> str | None:
    """The name of a plain function without the classes around it; `None` for constructors, destructors and
    operators, whose names people do not choose."""
    before = ""
    while before != name:
        name, before = _ARGUMENTS.sub("", name), name
    *around, last = name.split("::")
    if not last.isidentifier() or last == "operator" or (around and around[-1] == last):
        return None
    return last


def strange(function: Node) -> str | None:
    """Why a function is not read, as a short reason to count; `None` if it is."""
    if function.first("try_statement") is not None:
        return TRY_BODY
    for node in function.walk():
        if node.kind == "template_parameter_list":
            return LAMBDA_TEMPLATE
        if node.kind == "field_access" and node.operator == ".*":
            return POINTER_TO_MEMBER
    return None


_MACRO_LINES: Final = re.compile(
    rb"^[ \t]*([A-Z][A-Z0-9_]{2,})[ \t]*(?:\([\w \t,]*\)[ \t]*)?$|"
    rb"\b(?:class|struct)[ \t]+([A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?)"
    rb"(?=[ \t]+\w+[ \t]*(?:final\b[ \t]*)?(?:[:{\n]))",
    re.MULTILINE,
)
"""Words in capitals that are a line, or that stand before the name of a class."""


def without_macro_lines(source: bytes) -> bytes:
    """A file with blanks in place of macros that hide where classes and functions begin."""
    text = bytearray(source)
    for match in _MACRO_LINES.finditer(source):
        start, end = match.span(1 if match[1] else 2)
        text[start:end] = blanked(source[start:end])
    return bytes(text)


def tree_name(node: "TreeNode", source: bytes, keywords: frozenset[str]) -> str | None:
    """The name of a function of the parser's tree, as `name_of`."""
    here = node.child_by_field_name("declarator")
    while here is not None and here.type in _AROUND_A_NAME:
        here = here.child_by_field_name("declarator") or next(iter(here.named_children), None)
    if here is None:
        return None
    end, last = here.end_byte, here
    while last.type == "qualified_identifier" and (name := last.child_by_field_name("name")) is not None:
        last = name
    if last.type not in _NAMES or (last.text or b"").decode() in keywords:
        return None  # of a text that does not parse
    if last.type == "operator_cast":
        head = last.child_by_field_name("declarator")
        end = end if head is None else head.start_byte
    return _tight(source[here.start_byte : end])
