"""The types that the declarations outside of functions give to names, where all headers of a file are found.

A name has one type for each of its declarations: two structures may have fields of one name. What is asked is
therefore what all of them have in common. In C++ the type of a function, of an enumeration, of a reference,
of an array, of what is `volatile` or `thread_local`, and of what a template leaves open is not known.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.dialect import FIXED, FRACTIONS, INTEGRAL, POINTER
from codeaudit.transforms.c.parsing import READERS, C
from codeaudit.transforms.c.types import number_type

if TYPE_CHECKING:
    from tree_sitter import Node as TreeNode

OBJECT: Final = "(object)"
"""A structure or union; no type has this name."""
NUMBER: Final = "number"
"""A number of which no more is known."""
VECTOR: Final = "(vector)"
"""A vector of GNU C, which compares each of its elements; no type has this name."""
NO_FRACTION: Final = "no fraction"
"""What is now a number and now a pointer or an object."""
_STRUCTURED: Final = frozenset({"struct_specifier", "union_specifier", "class_specifier"})
_TAGGED: Final = _STRUCTURED | {"enum_specifier"}
_FIELDS: Final = "field_declaration_list"
_BODIES: Final = frozenset({"compound_statement", *_STRUCTURED})
_TABLES_OF: Final = {
    "type_definition": "types", "alias_declaration": "types", "field_declaration": "fields",
    "declaration": "others", "function_definition": "others",
}  # fmt: skip
"""By the kind of a declaration: the table of what it declares."""
_TYPE: Final = re.compile(rb"\b(?:struct|class|union|enum|typedef|using)\b")
_NAMED: Final = re.compile(r"\b(?:struct|class|union|using)\s+(\w+)")
_STRANGE: Final = re.compile(
    rb"\b(?:volatile|thread_local|__thread|asm|__asm__"
    rb"|(?:__)?(?:vector_size|mode|alias|weakref|ifunc)(?:__)?\s*\()"
)
"""Words in a declaration of what others change, what code begins, what has another name, or another type."""
RETYPING: Final = re.compile(
    r"(?:\[\s*\[|attribute(?:__)?\s*\(\s*\()[^;{}]*?\b(?:__|ext_)?(?:vector_(?:size|type)|mode)(?:__)?\s*\("
)
"""An attribute that makes another type of one, perhaps a vector."""
_OF_NAMESPACE: Final = re.compile(
    r"(\bnamespace\b[\w\s:]*?)(?:__attribute(?:__)?\s*\(\((?:[^(){};]|\([^(){};]*\))*\)\)\s*)+(?=\{)"
)
"""A namespace with attributes, which the grammar does not read."""
_WRAPPING: Final = ("pointer_declarator", "array_declarator", "function_declarator", "reference_declarator")
_NAMES: Final = frozenset({"identifier", "field_identifier", "type_identifier"})
Types: TypeAlias = defaultdict[str, set[str | None]]
"""The types of each name: words in order with `*` behind them, or `OBJECT`; `None` if not known."""


class DeclaredNames:
    """The fields, variables, constants and functions of some texts, with their types."""

    def __init__(self, texts: Iterable[str], language: str = C) -> None:
        self._tables = [_tables(text, language) for text in dict.fromkeys(texts)]

    def _types(self, table: str, name: str) -> set[str | None]:
        return set[str | None]().union(*(getattr(declared, table).get(name, ()) for declared in self._tables))

    def common(self, name: str, *, is_field: bool) -> str | None:
        """The type of all fields of a name, or of all variables and constants and of what functions return;
        `None` where it is not known or may be a fraction."""
        kinds = {self.type(text) for text in self._types("fields" if is_field else "others", name) or (None,)}
        if len(kinds) == 1:
            return kinds.pop()
        if None in kinds or kinds & FRACTIONS:
            return None
        return "int" if kinds <= INTEGRAL else NO_FRACTION

    def may_be_object(self, name: str, *, is_field: bool) -> bool:
        """Whether a field or a variable of a name is a structure."""
        return OBJECT in map(self.type, self._types("fields" if is_field else "others", name))

    @property
    def all(self) -> frozenset[str]:
        """All names that the texts declare outside of functions."""
        return frozenset().union(*(table.all for table in self._tables))

    def is_type(self, name: str) -> bool:
        """Whether something of a name is a type."""
        return any(name in table.types for table in self._tables)

    def is_plain_type(self, name: str) -> bool:
        """Whether something of a name is a type, and nothing of it a template."""
        return self.is_type(name) and not any(name in table.templates for table in self._tables)

    @cached_property
    def of_vectors(self) -> frozenset[str]:
        """The names of vectors, of their types, and of all that is declared with such a name."""
        tables = [kinds for table in self._tables for kinds in (table.types, table.fields, table.others)]
        used = [(name, " ".join(filter(None, kinds[name])).split()) for kinds in tables for name in kinds]
        names, more = frozenset[str](), frozenset({VECTOR})
        while more:
            names |= more
            more = frozenset(name for name, words in used if not more.isdisjoint(words)) - names
        return names

    @cached_property
    def hides_a_number(self) -> bool:
        """Whether a type of numbers of the library has a name that another type has, too."""
        types = (self._types("types", name) - {None} for name in FIXED)
        return any(self.type(words) not in INTEGRAL for kinds in types for words in kinds)

    def scalar(self, name: str, of: str = "") -> str | None:
        """The type of all that a plain name of C++, or a field of a class, may be: a number or a pointer."""
        kinds = set(map(self.type, self._declarations(name, of)))
        if len(kinds) > 1:
            return NUMBER if kinds <= INTEGRAL - {"bool"} else None
        return next(iter(kinds - {OBJECT}), None)

    def class_of(self, name: str, of: str = "") -> str | None:
        """The class of an object that a plain name of C++ or a field of a class means or points to."""
        classes = set(map(self.class_named, self._declarations(name, of)))
        return classes.pop() if len(classes) == 1 else None

    def _declarations(self, name: str, of: str) -> set[str | None]:
        """What a class itself declares hides what it inherits, if no other class has its name. A header that
        stands in a class declares fields that look like variables."""
        is_one = sum(len(table.fields.get(f"{of}::", ())) for table in self._tables) == 1
        own = self._types("fields", f"{of}::{name}") if is_one else None
        return own or self._types("fields", name) | self._types("others", name)

    def type(self, words: str | None) -> str | None:
        """What the words of a type mean: a number, `POINTER` or `OBJECT`; `None` if that is not known."""
        kind, _, stars = self._behind((words or "").removesuffix(":"))
        if stars:
            return POINTER
        # The values of a bit-field may all be those of an `int`.
        is_wide = words is not None and words.endswith(":") and kind != "bool"
        return kind if not is_wide else NUMBER if kind in INTEGRAL else None

    def class_named(self, words: str | None) -> str | None:
        """The class that the words of a type mean or point to; `None` if a template leaves it open."""
        kind, name, stars = self._behind(words or "")
        return name if kind == OBJECT and name != OBJECT and stars < 2 else None

    def _behind(self, words: str) -> tuple[str | None, str, int]:
        """The number or `OBJECT` behind `typedef`s and pointers, its words, and how many pointers."""
        stars = 0
        for _ in range(20):
            stars += words.count("*")
            words = " ".join(sorted(word for word in words.replace("*", " ").split() if word != "const"))
            types = self._types("types", words)
            kind = OBJECT if words == OBJECT or types == {OBJECT} else number_type(words)
            if kind is not None or len(types) != 1:
                return kind, words, stars
            words = next(iter(types)) or ""
        return None, words, stars


class _Tables:
    """What one text declares."""

    def __init__(self, text: str, language: str) -> None:
        self.types: Final[Types] = defaultdict(set)
        self.fields: Final[Types] = defaultdict(set)
        """Under the name alone, and behind that of its class and `::`; under that of a class and `::`, where
        classes, namespaces and other names of them begin."""
        self.others: Final[Types] = defaultdict(set)
        """Variables, constants, and what functions of C return."""
        self.all: Final = set[str]()
        """All names that it declares outside of functions."""
        self.templates: Final = set[str]()
        """What may be the name of a template of types."""
        self._is_cpp = language == CPP
        self._of_enumeration = None if self._is_cpp else "int"
        pending = [READERS[language].parse(_OF_NAMESPACE.sub(r"\1", text).encode()).root_node]
        while pending:
            pending += self._read(pending.pop())

    def _read(self, node: "TreeNode") -> Iterable["TreeNode"]:
        """Record what a node declares; returns the parts that may declare more."""
        name = node.child_by_field_name("name")
        if name is not None and _is_template(node):
            self.templates.add(_text(name))
        match node.type:
            case "ERROR" | "expression_statement" if self._is_cpp:
                self._open(node)  # outside of functions a statement is a declaration that was misread
                self.templates.update(_NAMED.findall(_text(node)))
                return ()
            case "template_template_parameter_declaration":
                self.templates.update(map(_text, node.named_children[-1].named_children))
            case kind if kind in _TABLES_OF:
                self._note(getattr(self, _TABLES_OF[kind]), node)
            case "enumerator" if name is not None:
                self.all.add(_text(name))
                self.others[_text(name)].add(self._of_enumeration)
            case "template_parameter_list" | "structured_binding_declarator":
                self._open(node)
                self.all.update(_text(inner) for inner in _walk(node) if inner.type in _NAMES)
            case "type_parameter_declaration":
                for child in node.named_children:
                    self.types[_text(child)].add(OBJECT)
            case "using_declaration":
                self._open(node)  # of a class that a template may leave open
            case kind if kind in _TAGGED and name is not None:
                if self._is_cpp:
                    self.types[_text(name)] |= {OBJECT, None if _is_template(node) else self._base(node)}
                if node.child_by_field_name("body") is not None:
                    self._count(_text(name), node)
            case "namespace_definition" | "namespace_alias_definition" if name is not None:
                self._count(_text(name), node)
            case "compound_statement":  # a class outside may inherit from a type that a function declares
                kinds = _TAGGED | {"type_definition", "alias_declaration"}
                has_types = _TYPE.search(node.text or b"") is not None
                return [inner for inner in _walk(node) if inner.type in kinds] if has_types else ()
        return node.named_children

    def _count(self, name: str, node: "TreeNode") -> None:
        """Record that a class, a namespace or another name of one has a name."""
        self.all.add(name)
        self.fields[f"{name.rpartition('::')[2]}::"].add(str(node.start_byte))

    def _open(self, node: "TreeNode") -> None:
        """Record that nothing is known of the names in a node."""
        for inner in _walk(node):
            if inner.type in _NAMES:
                for table in (self.types, self.fields, self.others):
                    table[_text(inner)].add(None)

    def _note(self, table: Types, node: "TreeNode") -> None:
        """Record the names of a declaration with their types."""
        kind = node.child_by_field_name("type")
        base = None if kind is None else self._base(kind)
        if any(child.type == "bitfield_clause" for child in node.children):
            # In an operation it is an `int`, if its values fit. In C++ it may be an enumeration.
            base = f"{base or ''} :" if self._is_cpp else "int"
        parts = [child for child in node.children if child.type not in _BODIES]
        text = b" ".join(part.text or b"" for part in parts)
        if RETYPING.search(text.decode()):
            base = VECTOR
        if self._is_cpp and (any(part.has_error for part in parts) or b"typeof" in text):
            for part in parts:
                self._open(part)
            if node.type == "type_definition" and (behind := node.next_named_sibling) is not None:
                self._open(behind)  # it may be the end of this one
        is_strange = _STRANGE.search(text) or _is_template(node)
        for declarator, name, wrapping in _declared(node):
            last = wrapping[-1] if wrapping else ""
            # A function has the type of its result; the name of an array is a pointer.
            stars = wrapping[:-1] if last == "function_declarator" else wrapping
            self.all.add(name)
            words = f"{base or ''} {'*' * len(stars)}" if stars else base
            if self._is_cpp:
                if "::*" in name:
                    self._open(declarator)
                if table is self.types:
                    self._count(name, declarator)
                elif last == "function_declarator":
                    if node.type != "declaration":
                        continue  # a function is called, and what it gives is not asked
                    if kind is None and (name != _class_around(node) or b"static " in text):
                        self._open(declarator)  # no constructor, but `T (name);`
                if is_strange or last.startswith(("function", "array")) or "reference_declarator" in wrapping:
                    words = None
            table[name] |= {words} if words or table is not self.types else {None, OBJECT}
            if around := _class_around(node):
                table[f"{around}::{name}"].add(words)

    def _base(self, node: "TreeNode") -> str | None:
        """The words of a type, in alphabetical order."""
        if node.type in _STRUCTURED:
            return OBJECT
        if node.type == "enum_specifier":
            return self._of_enumeration
        text = _text(node)
        if node.type == "type_descriptor":
            base = node.child_by_field_name("type")
            return None if base is None else self._base(base)
        if node.type == "qualified_identifier" and number_type(text.removeprefix("std::")):
            return text.removeprefix("std::")
        is_plain = node.type in ("primitive_type", "sized_type_specifier", "type_identifier")
        return " ".join(sorted(text.split())) if is_plain else None


_tables = lru_cache(maxsize=512)(_Tables)
"""Texts of headers are read once, because many files include them."""


def _walk(node: "TreeNode") -> Iterator["TreeNode"]:
    """A node and all named nodes in it."""
    pending = [node]
    while pending:
        pending += (here := pending.pop()).named_children
        yield here


def _declared(node: "TreeNode") -> Iterator[tuple["TreeNode", str, list[str]]]:
    """Each declarator of a declaration, its name, and the kinds around the name, outermost first."""
    kind, name = node.child_by_field_name("type"), node.child_by_field_name("name")
    if node.type == "alias_declaration" and kind is not None and name is not None:
        outer = kind.child_by_field_name("declarator")
        yield name, _text(name), [] if outer is None else _unwrapped(outer)[1]
    for declarator in node.children_by_field_name("declarator"):
        own, wrapping = _unwrapped(declarator)
        if own is not None:
            yield declarator, own, wrapping


def _unwrapped(node: "TreeNode") -> tuple[str | None, list[str]]:
    """The name in a declarator, and the kinds of declarators around it from the outermost on."""
    wrapping: list[str] = []
    here: TreeNode | None = node
    while here is not None and not here.type.endswith(("identifier", "primitive_type")):
        if (kind := here.type.removeprefix("abstract_")) in _WRAPPING:
            wrapping.append(kind)
        here = _inner(here)
    return (None if here is None else _text(here)), wrapping


def _inner(node: "TreeNode") -> "TreeNode | None":
    """The declarator or name in a declarator."""
    inside = (child for child in node.named_children if child.type.endswith(("declarator", "identifier")))
    return node.child_by_field_name("declarator") or next(inside, None)


def _is_template(node: "TreeNode") -> bool:
    """Whether a declaration is one of a template."""
    return node.parent is not None and node.parent.type == "template_declaration"


def _class_around(node: "TreeNode") -> str:
    """The name of the class that declares a field; empty if it has none."""
    above = node.parent.parent if node.parent is not None else None
    name = above.child_by_field_name("name") if above is not None and above.type in _STRUCTURED else None
    return _text(name) if name is not None else ""


def _text(node: "TreeNode") -> str:
    return (node.text or b"").decode()
