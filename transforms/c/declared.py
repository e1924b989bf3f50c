"""The types that the declarations outside of functions give to names, where all headers of a file are found.

A name has one type for each of its declarations: two structures may have fields of one name. What is asked is
therefore what all of them have in common.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from codeaudit.transforms.c.dialect import FRACTIONS, INTEGRAL, POINTER
from codeaudit.transforms.c.parsing import READERS, C
from codeaudit.transforms.c.types import number_type

if TYPE_CHECKING:
    from tree_sitter import Node as TreeNode

OBJECT: Final = "object"
"""A structure or union."""
NO_FRACTION: Final = "no fraction"
"""What is now a number and now a pointer or an object."""
_STRUCTURED: Final = frozenset({"struct_specifier", "union_specifier"})
_WRAPPING: Final = ("pointer_declarator", "array_declarator", "function_declarator")


class DeclaredNames:
    """The fields, variables, constants and functions of a text, with their types."""

    def __init__(self, text: str) -> None:
        self._types: dict[str, set[str | None]] = {}
        self._fields: dict[str, set[str | None]] = {}
        self._others: dict[str, set[str | None]] = {}
        self._read(text)

    def field(self, name: str) -> str | None:
        """The type of all fields of a name; `None` where it is not known or may be a fraction."""
        return self._common(self._fields.get(name))

    def value(self, name: str) -> str | None:
        """The same for a variable or constant, and for what a function returns."""
        return self._common(self._others.get(name))

    def named_type(self, words: str) -> str | None:
        """The same for the words of a type."""
        return self._resolved(" ".join(sorted(one for one in words.split() if one != "const")))

    def _common(self, found: set[str | None] | None) -> str | None:
        kinds = {self._resolved(one) for one in found or (None,)}
        if len(kinds) == 1:
            return kinds.pop()
        if None in kinds or kinds & FRACTIONS:
            return None
        return "int" if kinds <= INTEGRAL else NO_FRACTION

    def may_be_object(self, name: str, *, is_field: bool) -> bool:
        """Whether a field or a variable of a name is a structure."""
        table = self._fields if is_field else self._others
        return OBJECT in map(self._resolved, table.get(name, ()))

    def _resolved(self, words: str | None) -> str | None:
        """The type of a number for words, behind all `typedef`s."""
        for _ in range(20):
            if words is None or words in (POINTER, OBJECT):
                return words
            if (number := number_type(words)) is not None:
                return number
            found = self._types.get(words, set())
            words = next(iter(found)) if len(found) == 1 else None
        return None

    def _read(self, text: str) -> None:
        pending = [READERS[C].parse(text.encode()).root_node]
        while pending:
            node = pending.pop()
            match node.type:
                case "type_definition":
                    self._note(self._types, node)
                case "field_declaration":
                    self._note(self._fields, node)
                case "declaration" | "function_definition":
                    self._note(self._others, node)
                case "enumerator":
                    if (name := node.child_by_field_name("name")) is not None:
                        self._others.setdefault(_text(name), set()).add("int")
            pending += (one for one in node.named_children if one.type != "compound_statement")

    def _note(self, table: dict[str, set[str | None]], node: "TreeNode") -> None:
        kind = node.child_by_field_name("type")
        base = None if kind is None else _base(kind)
        if any(one.type == "bitfield_clause" for one in node.children):
            base = "int"  # as in operations
        for declarator in node.children_by_field_name("declarator"):
            name, wrapping = _unwrapped(declarator)
            if name is None:
                continue
            own = wrapping[-1] if wrapping else ""
            if own == "function_declarator":  # what it returns
                own = wrapping[-2] if len(wrapping) > 1 else ""
            found = POINTER if own else base  # the name of an array is a pointer
            table.setdefault(name, set()).add(found)


def _base(node: "TreeNode") -> str | None:
    """The words of a type, in alphabetical order."""
    if node.type in _STRUCTURED:
        return OBJECT
    if node.type == "enum_specifier":
        return "int"
    if node.type not in ("primitive_type", "sized_type_specifier", "type_identifier"):
        return None
    return " ".join(sorted(_text(node).split()))


def _unwrapped(node: "TreeNode") -> tuple[str | None, list[str]]:
    """The name in a declarator, and the kinds of declarators around it from the outermost on."""
    wrapping: list[str] = []
    here: TreeNode | None = node
    while here is not None and not here.type.endswith("identifier"):
        if here.type in _WRAPPING:
            wrapping.append(here.type)
        here = here.child_by_field_name("declarator") or next(_declarators(here), None)
    return (None if here is None else _text(here)), wrapping


def _declarators(node: "TreeNode") -> Iterator["TreeNode"]:
    return (one for one in node.named_children if one.type.endswith(("declarator", "identifier")))


def _text(node: "TreeNode") -> str:
    return (node.text or b"").decode()
