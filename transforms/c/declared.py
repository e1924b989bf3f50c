"""The types that the declarations outside of functions give to names, where all headers of a file are found.

A name has one type for each of its declarations: two structures may have fields of one name. What is asked is
therefore what all of them have in common. In C++ the type of a function, of an enumeration, of a reference,
of an array, of what is `volatile` or `thread_local`, and of what a template leaves open is not known.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.dialect import FRACTIONS, INTEGRAL, POINTER
from codeaudit.transforms.c.parsing import READERS, C
from codeaudit.transforms.c.types import number_type

if TYPE_CHECKING:
    from tree_sitter import Node as TreeNode

OBJECT: Final = "(object)"
"""A structure or union; no type has this name."""
NUMBER: Final = "number"
"""A number of which no more is known."""
NO_FRACTION: Final = "no fraction"
"""What is now a number and now a pointer or an object."""
_STRUCTURED: Final = frozenset({"struct_specifier", "union_specifier", "class_specifier"})
_FIELDS: Final = "field_declaration_list"
_BODIES: Final = frozenset({"compound_statement", *_STRUCTURED})
_DECLARING_TYPES: Final = _STRUCTURED | {"enum_specifier", "type_definition", "alias_declaration"}
_TYPE: Final = re.compile(rb"\b(?:struct|class|union|enum|typedef|using)\b")
_STRANGE: Final = re.compile(
    rb"\b(?:volatile|thread_local|__thread|asm|__asm__"
    rb"|(?:__)?(?:vector_size|mode|alias|weakref|ifunc)(?:__)?\s*\()"
)
"""Words in a declaration of what others change, what code begins, what has another name, or another type."""
_OF_NAMESPACE: Final = re.compile(
    r"(\bnamespace\b[\w\s:]*?)(?:__attribute(?:__)?\s*\(\((?:[^(){};]|\([^(){};]*\))*\)\)\s*)+(?=\{)"
)
"""A namespace with attributes, which the grammar does not read."""
_WRAPPING: Final = ("pointer_declarator", "array_declarator", "function_declarator", "reference_declarator")
_NAMES: Final = frozenset({"identifier", "field_identifier", "type_identifier"})
Found: TypeAlias = defaultdict[str, set[str | None]]
"""The types of each name: words in order with `*` behind them, or `OBJECT`; `None` if not known."""


class _Tables(NamedTuple):
    """What one text declares. Texts of headers are read once, because many files include them."""

    types: Found
    fields: Found
    others: Found
    """Variables, constants, and what functions return."""


class DeclaredNames:
    """The fields, variables, constants and functions of some texts, with their types."""

    def __init__(self, texts: Iterable[str], language: str = C) -> None:
        self._tables = [_tables(text, language) for text in dict.fromkeys(texts)]

    def _found(self, table: str, name: str) -> set[str | None]:
        return set[str | None]().union(*(getattr(one, table).get(name, ()) for one in self._tables))

    def field(self, name: str) -> str | None:
        """The type of all fields of a name; `None` where it is not known or may be a fraction."""
        return self._common(self._found("fields", name))

    def value(self, name: str) -> str | None:
        """The same for a variable or constant, and for what a function returns."""
        return self._common(self._found("others", name))

    def scalar(self, name: str, of: str = "") -> str | None:
        """The type of everything that a plain name of C++ may be, or a field of a class: a number or a
        pointer."""
        kinds = {self._resolved(one) for one in self._declarations(name, of) or (None,)}
        if len(kinds) > 1:
            return NUMBER if kinds <= INTEGRAL - {"bool"} else None
        return next(iter(kinds - {OBJECT}), None)

    def named_type(self, words: str) -> str | None:
        """The same as `value` for the words of a type."""
        return self._resolved(" ".join(sorted(one for one in words.split() if one != "const")))

    def is_type(self, name: str) -> bool:
        """Whether something of a name is a type."""
        return any(name in one.types for one in self._tables)

    def _declarations(self, name: str, of: str) -> set[str | None]:
        """What a class itself declares hides what it inherits, if no other class has its name. A header that
        stands in a class declares fields that look like variables."""
        is_one = sum(len(one.fields.get(f"{of}::", ())) for one in self._tables) == 1
        own = self._found("fields", f"{of}::{name}") if is_one else None
        return own or self._found("fields", name) | self._found("others", name)

    def class_of(self, name: str, of: str = "") -> str | None:
        """The class of an object that a plain name of C++ or a field of a class means or points to."""
        found = {self.class_named(one) for one in self._declarations(name, of)}
        return found.pop() if len(found) == 1 else None

    def class_named(self, words: str | None) -> str | None:
        """The class that a type means, or to which it points; `None` if a template leaves it open."""
        here = " ".join(one for one in (words or "").split() if one != "const").removesuffix("*").strip()
        for _ in range(20):
            found = self._found("types", here)
            if found == {OBJECT}:
                return here
            here = next(iter(found)) or "" if len(found) == 1 else ""
            here = here.removesuffix("*").strip()
        return None

    def _common(self, found: set[str | None]) -> str | None:
        kinds = {self._resolved(one) for one in found or (None,)}
        if len(kinds) == 1:
            return kinds.pop()
        if None in kinds or kinds & FRACTIONS:
            return None
        return "int" if kinds <= INTEGRAL else NO_FRACTION

    def may_be_object(self, name: str, *, is_field: bool) -> bool:
        """Whether a field or a variable of a name is a structure."""
        return OBJECT in map(self._resolved, self._found("fields" if is_field else "others", name))

    def _resolved(self, words: str | None) -> str | None:
        """The type of a number for words, behind all `typedef`s."""
        for _ in range(20):
            if words is None or words == OBJECT:
                return words
            if words.endswith("*"):
                return POINTER
            if words.endswith(":"):
                whole = self._resolved(words.removesuffix(":").strip())
                return NUMBER if whole in INTEGRAL - {"bool"} else whole if whole == "bool" else None
            if (number := number_type(words)) is not None:
                return number
            found = self._found("types", words)
            words = next(iter(found)) if len(found) == 1 else None
        return None


@lru_cache(maxsize=512)
def _tables(text: str, language: str) -> _Tables:
    tables = _Tables(defaultdict(set), defaultdict(set), defaultdict(set))
    is_cpp = language == CPP
    text = _OF_NAMESPACE.sub(r"\1", text) if is_cpp else text
    pending = [READERS[language].parse(text.encode()).root_node]
    while pending:
        node = pending.pop()
        if is_cpp and node.is_error:
            _open(tables, node)
            continue
        match node.type:
            case "type_definition":
                _note(tables, tables.types, node, is_cpp=is_cpp)
            case "field_declaration" if [one.type for one in node.named_children] == ["type_identifier"]:
                _open(tables, node)  # the end of a declaration that a header begins
            case "field_declaration":
                _note(tables, tables.fields, node, is_cpp=is_cpp)
            case "declaration" | "function_definition":
                _note(tables, tables.others, node, is_cpp=is_cpp)
            case "enumerator":
                if (name := node.child_by_field_name("name")) is not None:
                    tables.others[_text(name)].add(None if is_cpp else "int")
            case "alias_declaration":
                _note_alias(tables, node)
            case "template_parameter_list":
                for one in node.named_children:
                    inner = [own for own in one.named_children if own.type != node.type]
                    _open(tables, one.child_by_field_name("declarator") or next(iter(inner), one))
            case "structured_binding_declarator":
                _open(tables, node)
            case "expression_statement" if is_cpp:
                _open(tables, node)  # outside of functions it is a declaration that was misread
                continue
            case "using_declaration" if node.parent is not None and node.parent.type == _FIELDS:
                _open(tables, node)  # of a class that a template may leave open
            case "class_specifier" | "struct_specifier" | "union_specifier" | "enum_specifier" if is_cpp:
                name, above = node.child_by_field_name("name"), node.parent
                is_open = node.type == "enum_specifier" or (
                    above is not None and above.type == "template_declaration"
                )
                if name is not None:
                    tables.types[_text(name)].add(None if is_open else OBJECT)
                    if node.child_by_field_name("body") is not None:
                        _count(tables, _text(name), node)
            case "namespace_definition" | "namespace_alias_definition" if (
                name := node.child_by_field_name("name")
            ) is not None:
                _count(tables, _text(name), node)
            case "compound_statement":
                pending += _types_inside(node) if is_cpp else ()
                continue
        pending += node.named_children
    return tables


def _types_inside(body: "TreeNode") -> Iterator["TreeNode"]:
    """The types that a function declares: a class outside may inherit from them."""
    pending = [body] if _TYPE.search(body.text or b"") else []
    while pending:
        node = pending.pop()
        if node.type in _DECLARING_TYPES:
            yield node
        else:
            pending += node.named_children


def _count(tables: _Tables, name: str, node: "TreeNode") -> None:
    """Record that a class, a namespace or another name of one has a name."""
    tables.fields[f"{name.rpartition('::')[2]}::"].add(str(node.start_byte))


def _open(tables: _Tables, node: "TreeNode") -> None:
    """Record that nothing is known of the names in a node."""
    pending = [node]
    while pending:
        one = pending.pop()
        pending += one.named_children
        if one.type in _NAMES:
            for table in tables:
                table[_text(one)].add(None)


def _note(tables: _Tables, table: Found, node: "TreeNode", *, is_cpp: bool) -> None:
    kind = node.child_by_field_name("type")
    base = None if kind is None else _base(kind, is_cpp=is_cpp)
    if any(one.type == "bitfield_clause" for one in node.children):
        # In an operation it is an `int`, if its values fit. In C++ it may be an enumeration.
        base = f"{base or ''} :" if is_cpp else "int"
    parts = [one for one in node.children if is_cpp and one.type not in _BODIES]
    strange = _STRANGE.search(b" ".join(one.text or b"" for one in parts)) is not None
    if any(one.has_error for one in parts):
        for one in parts:
            if one != kind:
                _open(tables, one)
        if node.type == "type_definition" and (behind := node.next_named_sibling) is not None:
            _open(tables, behind)  # it may be the end of this one
    for declarator in node.children_by_field_name("declarator"):
        name, wrapping = _unwrapped(declarator)
        if is_cpp and "::*" in (name or ""):
            _open(tables, declarator)
        if name is None:
            continue
        own = wrapping[-1] if wrapping else ""
        # A function has the type of its result; the name of an array is a pointer.
        stars = wrapping[:-1] if own == "function_declarator" else wrapping
        found = f"{base or ''} {'*' * len(stars)}" if stars else base
        is_function = is_cpp and own == "function_declarator"
        may_be_object = is_function and node.type == "declaration" and _may_be_object(declarator)
        if may_be_object and kind is None and name != _class_around(node):
            _open(tables, declarator)  # no constructor, but `T (name);`
        if is_function and not may_be_object:
            continue  # a function is called, and what it gives is not asked
        if is_cpp and (
            strange or is_function or own == "array_declarator" or "reference_declarator" in wrapping
        ):
            found = None
        if is_cpp and node.type == "type_definition":
            _count(tables, name, declarator)
        table[name].add(found)
        if is_cpp and (around := _class_around(node)):
            table[f"{around}::{name}"].add(found)


def _may_be_object(declarator: "TreeNode") -> bool:
    """Whether what looks like a function may be an object, and its parameters values, as in `T a(b);`."""
    here: TreeNode | None = declarator
    while here is not None and here.type != "function_declarator":
        here = here.child_by_field_name("declarator") or next(_declarators(here), None)
    given = here.child_by_field_name("parameters") if here is not None else None
    parameters = given.named_children if given is not None else []
    return bool(parameters) and all(
        (kind := one.child_by_field_name("type")) is not None
        and kind.type in ("type_identifier", "qualified_identifier", "template_type")
        and ((inner := one.child_by_field_name("declarator")) is None or inner.type != "identifier")
        for one in parameters
    )


def _class_around(node: "TreeNode") -> str:
    """The name of the class that declares a field; empty if it has none."""
    above = node.parent.parent if node.parent is not None else None
    name = above.child_by_field_name("name") if above is not None and above.type in _STRUCTURED else None
    return _text(name) if name is not None else ""


def _note_alias(tables: _Tables, node: "TreeNode") -> None:
    """Record `using name = type;`."""
    name, kind, above = node.child_by_field_name("name"), node.child_by_field_name("type"), node.parent
    if name is None or kind is None:
        return
    base, outer = kind.child_by_field_name("type"), kind.child_by_field_name("declarator")
    found = None if base is None else _base(base, is_cpp=True)
    if outer is not None:
        is_pointer = outer.type == "abstract_pointer_declarator" and not outer.child_by_field_name(
            "declarator"
        )
        found = f"{found or ''} *" if is_pointer else None
    is_open = above is not None and above.type == "template_declaration"
    is_open = is_open or node.has_error or _STRANGE.search(node.text or b"") is not None
    tables.types[_text(name)].add(None if is_open else found)
    _count(tables, _text(name), node)


def _base(node: "TreeNode", *, is_cpp: bool) -> str | None:
    """The words of a type, in alphabetical order."""
    if node.type in _STRUCTURED:
        return OBJECT
    if node.type == "enum_specifier":
        return None if is_cpp else "int"
    text = _text(node)
    if is_cpp and node.type == "qualified_identifier" and number_type(text.removeprefix("std::")):
        return text.removeprefix("std::")
    if node.type not in ("primitive_type", "sized_type_specifier", "type_identifier"):
        return None
    return " ".join(sorted(text.split()))


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
