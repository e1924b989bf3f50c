"""The types that the declarations in a function write down, as far as they are plain."""

from typing import Final

from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import Binding, Scopes

_SPECIFIERS: Final = frozenset({"type_qualifier", "storage_class_specifier"})
_TYPES: Final = frozenset({"primitive_type", "sized_type_specifier", "type_identifier", "struct_specifier"})


def declared_type(scopes: Scopes, binding: Binding) -> str | None:
    """The type of a local or parameter in one spelling, such as `unsigned long` or `char *`; with `const` and
    `volatile` of the variable or of what it points to. `None` for arrays, functions, and types with a body.

    A type that a header defines is its name.
    """
    node = binding.node
    if node is None or binding.doubt is not None or binding.view not in ("local", "parameter"):
        return None
    declaration = node.parent
    if declaration is None or declaration.kind not in ("local_variable_declaration", "parameter_declaration"):
        return None
    words: list[str] = []
    for child in declaration.children:
        if child.field == "declarator":
            continue
        if child.kind in _TYPES:
            if child.child("body") is not None:
                return None
            words += scopes.text(child).split()
        elif child.kind in _SPECIFIERS:
            text = scopes.text(child)
            if text not in ("auto", "register", "restrict"):
                words.append(text)
        else:
            return None
    here: Node | None = node.child("declarator") if node.kind == "variable_declarator" else node
    stars: list[str] = []
    while here is not None and here.kind != "identifier":
        if here.kind not in ("pointer_declarator", "parenthesized_declarator"):
            return None
        if here.kind == "pointer_declarator":
            stars = [
                "*",
                *(scopes.text(one) for one in here.children if one.kind == "type_qualifier"),
                *stars,
            ]
        here = here.child("declarator") or here.first(
            "identifier", "pointer_declarator", "parenthesized_declarator"
        )
    return None if here is None else " ".join((*sorted(words), *stars))
