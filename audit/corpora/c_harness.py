"""Programs that call a function of C or C++ with drawn arguments and tell what it did.

The arguments follow from the head of the function: numbers, texts, buffers of numbers, and structures whose
definition the file has. A number whose name says so is the size of a buffer more often than not. The compiler
chooses how a value of a type is drawn (`_Generic`), so that it is the one that resolves names of types. What
cannot be called is told with a reason.

Of the file around a function its program has what the function needs: the definitions of the names in it, of
the names in these, and so on (`with_headers` puts those of its project into their places).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from codeaudit.audit.corpora.c_drawing import DRAWING, FIRST_STRUCTURE, KINDS, overloads
from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.cpp.reading import head_of, name_of
from codeaudit.transforms.c.files import function_context
from codeaudit.transforms.c.headers import defined_by, flags_of, headers_near, written_out
from codeaudit.transforms.c.parsing import READERS, C, named, places, read_unit
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.syntax.reader import Node

if TYPE_CHECKING:
    from tree_sitter import Node as TreeNode

KEEPS_STATE: Final = "may keep a value from call to call"
NOT_DRAWN: Final = "takes something that is not drawn"
VARIADIC: Final = "takes any number of arguments"
TAKES_FUNCTION: Final = "takes a function"
UNNAMED: Final = "a parameter has no name"
OF_ARRAYS: Final = "takes an array of arrays"
PROGRAM: Final = "is a whole program"
OF_CLASS: Final = "belongs to a class or a namespace, or has overloads"
OF_TEMPLATE: Final = "is a template"

_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_INCLUDE: Final = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(<[\w./+-]+>)", re.MULTILINE)
_QUOTED: Final = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*$', re.MULTILINE)
_OF_CPP: Final = re.compile(
    r"^[ \t]*#[ \t]*if(?:def[ \t]+|[ \t]+defined[ \t(]*)__cplusplus\b[^\n]*\n"
    r"(?:(?![ \t]*#)[^\n]*\n)*?[ \t]*#[ \t]*endif",
    re.MULTILINE,
)
"""The lines of a header that only C++ reads, which are no C."""
_OWN_NAME: Final = re.compile(r"\b__(?:func|FUNCTION|PRETTY_FUNCTION)__\b")
_QUIET: Final = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_WHOLE: Final = re.compile(r"0[xX][0-9a-fA-F]{1,8}|\d{1,9}")
_STATE: Final = re.compile(r"\b(?:static|thread_local)\b(?!\s+(?:const|constexpr)\b)")
_SIZE: Final = re.compile(
    r"(?i)n|l|k|.*(?:len|size|siz|count|cnt|num|total|max|cap|bytes|amount).*|n_?[a-z]+|sz|nmemb"
)
"""Names of parameters and fields that are sizes."""
_MOST_DRAWN: Final = 24
"""Literals of a function that its arguments are drawn from."""
_SHORT: Final = 12
"""Most parts of an `#if` that is kept in one piece."""
_USING: Final = "using"
_CONDITIONAL: Final = ("preproc_if", "preproc_ifdef")
_ENCLOSING: Final = frozenset({*_CONDITIONAL, "preproc_else", "preproc_elif"})
"""Items that have items in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """What stands around a function."""

    before: str
    behind: str
    """Of its own text, what stands behind the function."""
    after: str
    """With `{key}` for what marks the lines that it prints."""
    name: str
    head: str
    """That of the function, up to its body."""
    passed: str
    """Its parameters, as it would pass them on."""
    tables: str
    """Of `after`, how types are drawn, and the literals that values are drawn from."""
    variables: tuple[tuple[str, str], ...]
    """The names of variables for its parameters, with their declarations."""
    is_void: bool

    def program(self, functions: Sequence[str], key: str) -> str:
        """The whole text with versions of the function, one of which each call chooses. The only argument of
        the program is the number of a call, and behind a slash that of a version."""
        if len(functions) == 1:
            text = functions[0]
        else:
            text = "".join(
                f"#define {self.name} {self.name}_{number}\n{function}\n#undef {self.name}\n"
                for number, function in enumerate(functions)
            )
            cases = "".join(f"case {number}: {self._call(number)}\n" for number in range(1, len(functions)))
            text += f"{self.head} {{\nswitch (ca_which) {{\n{cases}default: {self._call(0)}\n}}\n}}\n"
        return f"{DRAWING}{self.before}\n{text}\n{self.behind}\n{self.after.replace('{key}', key)}"

    def _call(self, number: int) -> str:
        called = f"{self.name}_{number}({self.passed});"
        return f"{called} return;" if self.is_void else f"return {called}"

    def takes_versions(self, functions: Sequence[str]) -> bool:
        """Whether versions of the function can stand in one program: none asks for its own name."""
        return not any(map(_OWN_NAME.search, (self.before, self.behind, *functions)))


@lru_cache(maxsize=4)
def harness(source: str, context: str, language: str = C) -> Harness | str:
    """What calls the last function of a text, or why it is not called. `context` is the text of its file."""
    try:
        unit = function_context(source, language)
        reading, function = read_unit(unit.source, language)
    except SourceError:
        return NOT_PARSED
    head, name = head_of(function), name_of(reading.source, function)
    if head is None or not name:
        return NOT_PARSED
    if name == "main":
        return PROGRAM
    identifier = named(function.part("declarator"))
    if identifier is None or not name.isidentifier() or (language == CPP and _is_inside(context, name)):
        return OF_CLASS
    if language == CPP and reading.root.first("template_declaration") is not None:
        return OF_TEMPLATE
    declared: list[tuple[str, str]] = []
    for parameter in head.part("parameters").children:
        if reading.text(parameter) == "void":
            continue
        declaration = _parameter(parameter, reading.source, language)
        if isinstance(declaration, str):
            return declaration
        declared.append(declaration)
    head_text = reading.source[function.start : function.part("body").start].decode().rstrip()
    if (unit.before + unit.after).strip():
        items, before = [], unit.before
    else:
        items, before = _needed(source, name, f"{head_text};", context, language), ""
    if any(map(_keeps_state, (source, *(item.text for item in items if item.is_function)))):
        return KEEPS_STATE
    structures = _structures(unit.before + "\n".join(item.text for item in items), language)
    before += "".join(
        f"#if __has_include({header})\n#include {header}\n#endif\n"
        for header in dict.fromkeys(_INCLUDE.findall(context))
    )
    before += "\n".join(item.text for item in items)
    is_void = re.search(rb"\bvoid\b[^*]*$", reading.source[function.start : identifier.start]) is not None
    tables = _handled(structures, language) + _literals(function, reading.source)
    lines = drawing_lines(declared)
    passed = ", ".join(variable for variable, _ in declared)
    auto = "auto" if language == CPP else "__auto_type"
    variables = list(dict.fromkeys(variable for item in items for variable in item.kept))
    absent = _absent(items, name) if language == C else ""
    lines += [f"  ca_watch((const void *)&{variable}, sizeof({variable}));" for variable in variables]
    lines += ["  ca_begin();"]
    lines += [f"  {name}({passed});"] if is_void else [f"  {auto} ca_result = {name}({passed});"]
    lines += ["  ca_end();"] if is_void else ["  ca_end();", "  CA_SHOW(ca_result, 0);"]
    if language == CPP:  # what is passed by reference
        lines += [f"  CA_SHOW({variable}, 1);" for variable, text in declared if "&" in text]
    lines += [f"  CA_SHOW({variable}, 1);" for variable in variables]
    body = "\n".join(lines)
    after = (
        f"{tables}{absent}int main(int ca_count, char **ca_arguments) {{\n"
        f'  ca_start(ca_arguments[1], "{{key}}");\n'
        f"{body}\n  ca_tell();\n  return 0;\n}}\n"
    )
    return Harness(
        before=before, behind=unit.after, after=after, name=name, head=head_text, passed=passed,
        tables=tables, variables=tuple(declared), is_void=is_void,
    )  # fmt: skip


def drawing_lines(variables: Sequence[tuple[str, str]]) -> list[str]:
    """Statements that declare these variables and draw their values."""
    lines = [f"  {text};" for _, text in variables]
    return lines + [f"  CA_DRAW({variable}, {_is_size(variable)}, 0);" for variable, _ in variables]


def _is_inside(context: str, name: str) -> bool:
    """Whether a function of C++ stands in a class or a namespace, or has overloads."""
    functions = [place for place in places(context.encode(), CPP) if place.name.split("::")[-1] == name]
    before = [context.encode()[: place.start] for place in functions]
    return len(functions) > 1 or any(
        text.count(b"{") > text.count(b"}") + text.count(b'extern "C"') for text in before
    )


def _keeps_state(function: str) -> bool:
    """Whether a function may have a variable that outlives a call, which one call does not show."""
    body = _QUIET.sub(" ", function).partition("{")[2]
    return _STATE.search(body) is not None


def _is_size(name: str) -> int:
    return int(_SIZE.fullmatch(name) is not None)


def _parameter(node: Node, source: bytes, language: str) -> tuple[str, str] | str:
    """The name of a parameter and a declaration of a variable for it, or why there is none."""
    if node.kind != "parameter_declaration":
        return VARIADIC
    name = named(node)
    declarator = node.child("declarator")
    if name is None or declarator is None or name.kind != "identifier":
        return UNNAMED
    kinds = [part.kind for part in declarator.walk()]
    if "function_declarator" in kinds:
        return TAKES_FUNCTION
    if kinds.count("array_declarator") > 1:
        return OF_ARRAYS
    first, word, rest = (
        source[start:end].decode()
        for start, end in ((node.start, name.start), (name.start, name.end), (name.end, declarator.end))
    )
    if language == CPP:
        return word, f"std::decay_t<{first} {rest}> {word}{{}}"
    return word, f"{first}*{word}" if "array_declarator" in kinds else f"{first}{word}{rest}"


@lru_cache(maxsize=8)
def with_headers(context: str, file: str, language: str = C) -> str:
    """The text of a file with the headers that lie beside it, or in a folder of -I, in their places; in C as
    its compiler reads them. What -D defines stands in front: a function may use it."""
    if not file:
        return context
    flags = flags_of(file)[0]
    defines = "".join(f"{line}\n" for line in defined_by(flags))
    if language == C and (written := written_out(context, file)) is not None:
        return f"{defines}{written}"
    near = dict(headers_near(context, file, flags))
    met: set[str] = set()

    def opened(include: re.Match[str]) -> str:
        text = near.get(include[1])
        if text is None:
            return include[0]
        if include[1] in met:
            return ""
        met.add(include[1])
        return _QUOTED.sub(opened, text)

    return defines + _QUOTED.sub(opened, context)


# ── what a function needs of its file ────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Item:
    """A definition at the top level of a file."""

    text: str
    names: frozenset[str]
    words: frozenset[str]
    is_function: bool = False
    kept: tuple[str, ...] = ()
    """The variables that it defines, which are shown after a call."""
    declared: frozenset[str] = frozenset()
    """The functions that it declares without a body."""
    bodies: frozenset[str] = frozenset()
    """The functions that it defines."""


def _needed(source: str, name: str, declared: str, context: str, language: str) -> list[_Item]:
    """The definitions that a function needs, in the order of the file, without the function. It is `declared`
    in front of the first that names it."""
    items = [
        item for item in _items(context, language) if name not in item.names and "main" not in item.names
    ]
    words, seen = set(_WORD.findall(_QUIET.sub(" ", source))) - {name} | {_USING}, set[int]()
    while more := [n for n, item in enumerate(items) if n not in seen and item.names & words]:
        seen.update(more)
        words.update(*(items[n].words for n in more))
    needed: list[_Item] = []
    is_declared = False
    for number in sorted(seen):
        if name in items[number].words and not is_declared:
            is_declared = True
            needed.append(_Item(declared, frozenset(), frozenset()))
        needed.append(items[number])
    return needed


def _absent(items: Sequence[_Item], name: str) -> str:
    """Something for each function that has no body in these items: its call ends the program, with a mark."""
    here = {name}.union(*(item.bodies for item in items))
    # A name that a macro has is not the name of the function.
    here |= {macro for item in items for macro in item.names if item.text.lstrip().startswith("#")}
    missing = sorted(frozenset().union(*(item.declared for item in items)) - here)
    # Each has an address of its own, because functions are compared.
    return "".join(
        f"__attribute__((used)) static void ca_absent_{number}(void) {{ ca_absent(); }}\n"
        f'__asm__(".weak {function}\\n.set {function}, ca_absent_{number}");\n'
        for number, function in enumerate(missing)
    )


@lru_cache(maxsize=2)
def _items(context: str, language: str) -> tuple[_Item, ...]:
    source = _OF_CPP.sub("", context).encode() if language == C else context.encode()
    return tuple(
        _Item(
            text,
            names,
            frozenset(_WORD.findall(_QUIET.sub(" ", text))),
            is_function=node.type == "function_definition",
            kept=tuple(_variables(node)),
            declared=frozenset(name for inner in _inside(node) for name in _declared_functions(inner)),
            bodies=frozenset(
                _innermost(inner.child_by_field_name("declarator"))
                for inner in _inside(node)
                if inner.type == "function_definition"
            ),
        )
        for node in _outer(READERS[language].parse(source).root_node)
        if not (node.type == "declaration" and node.has_error)
        if (names := frozenset(_defined(node)))
        for text in [source[node.start_byte : node.end_byte].decode() + _end(node)]
    )


def _variables(node: "TreeNode") -> Iterator[str]:
    """The variables that a declaration defines."""
    if node.type == "declaration" and not (node.text or b"").startswith(b"extern"):
        for declarator in node.children_by_field_name("declarator"):
            if b"(" not in (declarator.text or b"").partition(b"=")[0] and (name := _innermost(declarator)):
                yield name


def _inside(node: "TreeNode") -> Iterator["TreeNode"]:
    """The items in all branches of an `#if`; any other item by itself."""
    if node.type in _ENCLOSING:
        for child in node.named_children:
            yield from _inside(child)
    else:
        yield node


def _declared_functions(node: "TreeNode") -> Iterator[str]:
    """The functions that an item declares without a body."""
    if node.type == "declaration":
        for child in node.children_by_field_name("declarator"):
            while child.type == "pointer_declarator" and (inner := child.child_by_field_name("declarator")):
                child = inner
            name = child.child_by_field_name("declarator")
            if child.type == "function_declarator" and name is not None and name.type == "identifier":
                yield _text(name)


def _end(node: "TreeNode") -> str:
    return ";" if node.type.endswith("_specifier") else ""


def _outer(root: "TreeNode") -> Iterator["TreeNode"]:
    for node in root.named_children:
        # What stands between the lines that keep a header from being read twice.
        kinds = [child.type for child in node.children]
        is_choice = any(kind.startswith("preproc_el") for kind in kinds)
        is_file = "preproc_include" in kinds or len(kinds) > _SHORT
        if node.type in _CONDITIONAL and is_file and not is_choice:
            yield from _outer(node)
            continue
        body = node.child_by_field_name("body")
        if node.type == "linkage_specification" and body is not None and body.type == "declaration_list":
            yield from _outer(body)
            continue
        yield node


def _defined(node: "TreeNode") -> Iterator[str]:
    """The names that an item defines."""
    match node.type:
        case "preproc_def" | "preproc_function_def":
            yield _text(node.child_by_field_name("name"))
        case _ if node.type in _ENCLOSING:
            for child in node.named_children:
                yield from _defined(child)
        case "template_declaration" | "namespace_definition" | "declaration_list":
            for child in node.named_children:
                yield from _defined(child)
        case "using_declaration":
            yield _USING
        case "alias_declaration":
            yield _text(node.child_by_field_name("name"))
        case (
            "function_definition"
            | "declaration"
            | "type_definition"
            | "struct_specifier"
            | "class_specifier"
            | "union_specifier"
            | "enum_specifier"
        ):
            kind = node.child_by_field_name("type") or node
            if kind.type.endswith("_specifier") and kind.child_by_field_name("body") is not None:
                yield _text(kind.child_by_field_name("name"))
                yield from (
                    _text(child.child_by_field_name("name"))
                    for child in kind.child_by_field_name("body").named_children  # type: ignore[union-attr]
                    if child.type == "enumerator"
                )
            for declarator in node.children_by_field_name("declarator"):
                yield _innermost(declarator)


def _innermost(node: "TreeNode | None") -> str:
    while node is not None and not node.type.endswith("identifier"):
        node = node.child_by_field_name("declarator") or next(
            (child for child in node.named_children if child.type.endswith(("declarator", "identifier"))),
            None,
        )
    return _text(node)


def _text(node: "TreeNode | None") -> str:
    return "" if node is None or node.text is None else node.text.decode()


# ── structures ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Structure:
    """A structure with a definition."""

    number: int
    spelling: str
    fields: tuple[tuple[str, bool], ...]
    """The names of those that can be drawn, and whether each is an array."""
    is_whole: bool
    """Whether these are all that it has."""


def _structures(text: str, language: str) -> list[_Structure]:
    structures: list[_Structure] = []
    seen: set[str] = set()
    for node in READERS[language].parse(text.encode()).root_node.named_children:
        kind = node if node.type == "struct_specifier" else node.child_by_field_name("type")
        if kind is None or kind.type != "struct_specifier" or kind.child_by_field_name("body") is None:
            continue
        tag = _text(kind.child_by_field_name("name"))
        plain = [
            _text(child)
            for child in node.children_by_field_name("declarator")
            if child.type == "type_identifier"
        ]
        if node.type != "type_definition":
            plain = []
        if (not tag and not plain) or (spelling := f"struct {tag}" if tag else plain[0]) in seen:
            continue
        seen.add(spelling)
        fields = tuple(_fields(kind))
        structures.append(_Structure(len(structures), spelling, fields, len(fields) == _members(kind)))
    return structures


def _is_open(node: "TreeNode") -> bool:
    """Whether a declarator is that of an array without a size."""
    return node.type == "array_declarator" and node.child_by_field_name("size") is None


def _members(kind: "TreeNode") -> int:
    """How many fields a structure has; one without a name counts."""
    body = kind.child_by_field_name("body")
    return sum(
        max(1, len(member.children_by_field_name("declarator")))
        for member in ([] if body is None else body.named_children)
        if member.type != "comment"
    )


def _fields(kind: "TreeNode") -> Iterator[tuple[str, bool]]:
    body = kind.child_by_field_name("body")
    for member in [] if body is None else body.named_children:
        bits = any(child.type == "bitfield_clause" for child in member.children)
        for declarator in member.children_by_field_name("declarator"):
            pending = [declarator]
            kinds: list[str] = []
            has_size = True
            while pending:
                node = pending.pop()
                kinds.append(node.type)
                has_size &= not _is_open(node)
                pending += node.named_children
            is_plain = not bits and has_size and "function_declarator" not in kinds
            is_plain &= kinds.count("array_declarator") < 2
            if is_plain and (name := _innermost(declarator)):
                yield name, "array_declarator" in kinds


def _handled(structures: list[_Structure], language: str) -> str:
    """How the numbers of types are found (`CA_KIND`, or `ca_kind` of C++), and how structures are drawn and
    shown."""
    kinds = [
        f"{const}{structure.spelling} {stars}*: {FIRST_STRUCTURE + 2 * structure.number + number}"
        for structure in structures
        for stars, number in (("", 0), ("*", 1), ("*const ", 1))
        for const in ("", "const ")
    ]
    if language == CPP:
        text = overloads(kinds)
        # Memory of zeros is one of them.
        text += "".join(
            f"static_assert(std::is_trivially_copyable_v<{structure.spelling}>);\n"
            for structure in structures
        )
    else:
        text = f"#define CA_KIND(x) _Generic(&(x), {', '.join([*KINDS, *kinds])}, default: -1)\n"
    for structure in structures:
        for what, rest in (("draw", "{size}, depth + 1"), ("show", "depth + 1")):
            text += f"static void ca_{what}_{structure.number}(void *place, int depth) {{\n"
            text += f"  {structure.spelling} *own = ({structure.spelling} *)place;\n"
            text += "".join(
                _each(field, is_array, f"CA_{what.upper()}", rest.format(size=_is_size(field)))
                for field, is_array in structure.fields
            )
            if what == "show" and not structure.is_whole:
                text += "  ca_unshown(own, sizeof(*own));\n"
            text += "}\n"
    rows = "".join(
        f"  {{sizeof({structure.spelling}), ca_draw_{structure.number}, ca_show_{structure.number}}},\n"
        for structure in structures
    )
    return f"{text}static const struct ca_structure ca_own_structures[] = {{\n{rows}  {{0}}}};\n"


def _each(field: str, is_array: bool, what: str, rest: str) -> str:
    if not is_array:
        return f"  {what}(own->{field}, {rest});\n"
    return (
        f"  for (unsigned ca_at = 0; ca_at < sizeof(own->{field}) / sizeof(own->{field}[0]); ca_at++)\n"
        f"    {what}(own->{field}[ca_at], {rest});\n"
    )


# ── literals ─────────────────────────────────────────────────────────────────────────────────────────────


def _literals(function: Node, source: bytes) -> str:
    """The numbers, signs and texts that a function compares with, which arguments are drawn from."""
    texts: dict[str, list[str]] = {
        "decimal_integer_literal": [],
        "character_literal": [],
        "string_literal": [],
    }
    for node in function.walk():
        if node.kind in texts:
            texts[node.kind].append(source[node.start : node.end].decode())
    numbers = [text for text in texts["decimal_integer_literal"] if _WHOLE.fullmatch(text)]
    signs = [text for text in texts["character_literal"] if text.startswith("'")]
    words = [text for text in texts["string_literal"] if text.startswith('"') and "\n" not in text]
    numeric = (("long long", "numbers", ["0", *_few(numbers)]), ("int", "signs", ["97", *_few(signs)]))
    tables = (*numeric, ("char *const", "words", ['""', *_few(words)]))
    text = "".join(
        f"static const {kind} ca_own_{name}[] = {{{', '.join(values)}}};\n" for kind, name, values in tables
    )
    lines = "".join(
        f"  ca_{name} = ca_own_{name}, ca_{name}_count = sizeof(ca_own_{name}) / sizeof(ca_own_{name}[0]);\n"
        for _, name, _ in tables
    )
    return f"{text}static void ca_take(void) {{\n{lines}  ca_structures = ca_own_structures;\n}}\n"


def _few(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(texts))[:_MOST_DRAWN]
