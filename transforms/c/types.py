"""The types that the declarations in a function write down, as far as they are plain."""

from typing import Final

from codeaudit.transforms.c.cpp.reading import inner
from codeaudit.transforms.c.dialect import FIXED
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import Binding, Scopes

_NUMBERS: Final = {
    "char": "char", "char signed": "signed char", "char unsigned": "unsigned char", "short": "short",
    "short unsigned": "unsigned short", "": "int", "unsigned": "unsigned int", "long": "long",
    "long unsigned": "unsigned long", "long long": "long long", "long long unsigned": "unsigned long long",
    "float": "float", "double": "double", "double long": "long double", "_Bool": "bool", "bool": "bool",
}  # fmt: skip
"""The types of numbers by their words in alphabetical order (6.7.2), without `int` and an idle `signed`."""
SPECIFIERS: Final = frozenset(
    {"type_qualifier", "storage_class_specifier", "primitive_type", "sized_type_specifier", "type_identifier",
     "struct_specifier", "union_specifier", "qualified_identifier"}
)  # fmt: skip
"""Kinds of nodes before the variables of a declaration whose type may be known."""


def declared_type(scopes: Scopes, binding: Binding, through: str = "") -> str | None:
    """The type of a local or parameter in one spelling, such as `unsigned long` or `char *`; with `const` and
    `volatile` of the variable or of what it points to. One that a header defines is its name. `None` for
    arrays, functions, references, types with a body and types of templates; `through` is the kind of a
    declarator that counts as what it is made of or refers to."""
    node = binding.node
    if node is None or binding.doubt is not None or binding.view not in ("local", "parameter"):
        return None
    declaration = node.parent
    if declaration is None or declaration.kind not in ("local_variable_declaration", "parameter_declaration"):
        return None
    specifiers = [child for child in declaration.children if child.field != "declarator"]
    if any(child.kind not in SPECIFIERS or child.child("body") is not None for child in specifiers):
        return None
    text = " ".join(scopes.text(child).removeprefix("std::") for child in specifiers)
    if "<" in text or "*" in text:
        return None  # `std::vector<int *>` is no pointer
    words = sorted(word for word in text.split() if word not in ("auto", "register", "restrict"))
    here: Node | None = node.child("declarator") if node.kind == "variable_declarator" else node
    stars: list[str] = []
    while here is not None and here.kind != "identifier":
        if here.kind not in ("pointer_declarator", "parenthesized_declarator", through):
            return None
        if here.kind == "pointer_declarator":
            qualifiers = (scopes.text(child) for child in here.children if child.kind == "type_qualifier")
            stars = ["*", *qualifiers, *stars]
        here = inner(here)
    return None if here is None else " ".join((*words, *stars))


def number_type(words: str) -> str | None:
    """One spelling for a type of numbers, `const` or not; `None` for all other types."""
    parts = [word.removeprefix("std::") for word in words.split() if word != "const"]
    idle = {"int"} if "char" in parts else {"int", "signed"}
    text = " ".join(sorted(word for word in parts if word not in idle))
    return text if text in FIXED else _NUMBERS.get(text) if parts else None
