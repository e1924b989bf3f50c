"""Parses C: one function alone, as data sets have it, or the functions of a file.

A word that only a header explains, such as `ZEXPORT` in `int ZEXPORT f(int a)`, is no C to the grammar.
Where a text does not parse, such words are overwritten by blanks, and it is parsed again; all offsets stay.
Keywords are never overwritten. Kinds of nodes have the names of `transforms.syntax`: a `declaration` is a
`local_variable_declaration`, and so on.

Not read: heads in the style before C89, functions with directives in them (`#if`, `#define`), lines that are
joined by a backslash, and functions inside of functions.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.cpp import reading as cpp
from codeaudit.transforms.errors import NoFunctionError, SourceError, UnknownSyntaxError
from codeaudit.transforms.syntax.reader import (
    EMPTY,
    Extent,
    Grammar,
    Node,
    ParsedText,
    TreeReader,
    blanked,
    encoded,
    fault,
)

if TYPE_CHECKING:
    from tree_sitter import Node as TreeNode
    from tree_sitter import Tree

C: Final = "c"
TITLES: Final = {C: "C", CPP: "C++"}
FUNCTION: Final = "function_definition"

OLD_HEAD: Final = "head in the style before C89"
NO_PARAMETERS: Final = "text that looks like a function and has no parameters"
DIRECTIVE: Final = "directive inside the function"
SPLICED: Final = "line joined by a backslash or a trigraph"
INNER: Final = "function inside a function"
SIGNED: Final = "number that a sign behind it belongs to"
"""`0x1E+1` is one number that does not exist (6.4.8), though the grammar reads a sum."""
_SIGNED: Final = re.compile(rb"\b0[xX][\da-fA-F']*[eE][+-]")
LABEL_VALUE: Final = "address of a label, or label of a block"
GNU_OPERATOR: Final = "operator of GNU C that is read otherwise"

_KEYWORDS: Final = """
    auto break case char const continue default do double else enum extern float for goto if inline int
    long register restrict return short signed sizeof static struct switch typedef union unsigned void
    volatile while _Alignas _Alignof _Atomic _BitInt _Bool _Complex _Decimal128 _Decimal32 _Decimal64
    _Generic _Imaginary _Noreturn _Static_assert _Thread_local alignas alignof bool constexpr false nullptr
    static_assert thread_local true typeof typeof_unqual asm fortran
"""
KEYWORDS: Final = frozenset(_KEYWORDS.split())
"""The keywords of C99 to C23, and those that compilers add without underscores."""
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_LIKE_AN_ATTRIBUTE: Final = re.compile(
    rb"[A-Z][A-Z0-9_]*|_\w*|[a-z]+(?:_[a-z]+)*_(?:fn|func|cold|hot|pure|const|unused|noreturn|alias|inline|api|API|export|call|"
    rb"nonnull|printf|flatten|used|noinline|aligned|warn|deprecated)|[a-z]*inline|noreturn|asmlinkage|cdecl"
)
"""A word that a header may define to be an attribute, or nothing."""
_ATTRIBUTES: Final = frozenset({b"__attribute__", b"__attribute", b"__declspec"})
_STARS: Final = re.compile(rb"\w\s*(\*[\s*]*)(?=[),])")
"""The stars at the end of a type that stands where an argument does."""
_EMPTY_VALUE: Final = re.compile(rb"=\s*\{\s*\}(?=\s*[,)])")
"""The value of a parameter that the grammar of C++ does not know."""
_BLANKS: Final = rb"(?:\s|//[^\n]*\n|/\*(?:(?!\*/).)*\*/)*"
_ONLY_BLANKS: Final = re.compile(_BLANKS, re.DOTALL)
_NAME_FIRST: Final = re.compile(_BLANKS + rb"([A-Za-z_]\w*)\s*(?=\()", re.DOTALL)
_BODY_NEXT: Final = re.compile(_BLANKS + rb"(?:\{|__attribute)", re.DOTALL)
_PLACEHOLDER: Final = b"int "
_MOST_BLANKED: Final = 12
_DIRECTIVES: Final = ("preproc_", "directive")
_OPERATOR: Final = re.compile(rb"\b__(?:real|imag)|typeof\w*\s*\([^()]*\)\s*_")
_TRIGRAPH: Final = re.compile(rb"\\[ \t]*\r?\n|\?\?[=/'()!<>-]")


def _load(package: str) -> object:
    return import_module(package).language()


_GRAMMAR: Final = Grammar(
    load=partial(_load, "tree_sitter_c"),
    aliases={
        "call_expression": "method_invocation",
        "char_literal": "character_literal",
        "comma_expression": "sequence_expression",
        "compound_statement": "block",
        "conditional_expression": "ternary_expression",
        "declaration": "local_variable_declaration",
        "field_expression": "field_access",
        "init_declarator": "variable_declarator",
        "initializer_list": "array_initializer",
        "number_literal": "decimal_integer_literal",
        "parameter_list": "formal_parameters",
        "subscript_expression": "array_access",
        "switch_statement": "switch_expression",
    },
    fields={"initializer": "init", "argument": "object"},
    dropped=frozenset({"else_clause"}),
    literals=frozenset({"string_literal", "character_literal"}),
)
_GRAMMAR_OF_CPP: Final = replace(
    _GRAMMAR,
    load=partial(_load, "tree_sitter_cpp"),
    aliases={**_GRAMMAR.aliases, **cpp.ALIASES},
    fields={**_GRAMMAR.fields, "indices": "index"},
    dropped=_GRAMMAR.dropped | {"subscript_argument_list"},
    literals=_GRAMMAR.literals | cpp.LITERALS,
)
READERS: Final = {C: TreeReader(_GRAMMAR), CPP: TreeReader(_GRAMMAR_OF_CPP)}
_GNU: Final = ("alignof", "complex", "imag", "real", "signed", "volatile")
_OF_GNU: Final = {f"__{word}{end}" for word in _GNU for end in ("", "__")}
"""Operators and parts of types of GNU C that the grammar does not know, though they look like attributes."""
WORDS_OF: Final = {C: KEYWORDS | _OF_GNU, CPP: cpp.KEYWORDS | _OF_GNU}
"""The words that are never overwritten, by language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CText(ParsedText):
    """A parsed text of C."""

    hidden: tuple[Extent, ...] = ()
    """The words that were overwritten by blanks before the text was parsed."""


@lru_cache(maxsize=8)
def read(text: str, language: str = C) -> CText:
    """Parse a text: a file, or some functions.

    The last results are cached, so callers must not change their nodes.

    Raises:
        SourceError: the text is not in the language, as far as it can be read here.
    """
    source = encoded(text, TITLES[language])
    if b"\0" in source:
        raise SourceError(f"not valid {TITLES[language]}: a zero character")
    if language == C and (headless := _headless(source)) is not None:
        return headless
    tree, hidden = _parsed(source, language)
    if tree.root_node.has_error:
        raise SourceError(f"not valid {TITLES[language]}: {READERS[language].first_error(source)}")
    for match in _SIGNED.finditer(source):
        node = tree.root_node.descendant_for_byte_range(match.start(), match.start() + 1)
        if node is not None and node.type == "number_literal":
            raise UnknownSyntaxError(SIGNED)
    return _reading(source, tree, hidden, language=language)


@lru_cache(maxsize=8)
def read_unit(text: str, language: str = C) -> tuple[CText, Node]:
    """Parse one function, which stands alone in its text but for comments, and in C++ for its `template`.

    Raises:
        SourceError: the text is not in the language, or is something else.
    """
    reading = read(text, language)
    parts = [child for child in reading.root.children if child.kind != EMPTY]
    function = parts[0] if len(parts) == 1 else None
    if function is not None and language == CPP:
        function = cpp.function_in(function)
    if function is None or function.kind != FUNCTION:
        raise NoFunctionError("the text is not one function; give one function at a time")
    reason = _strange(reading, function, language)
    if _TRIGRAPH.search(reading.source):
        reason = SPLICED
    if b"__label__" in reading.source:
        reason = LABEL_VALUE
    if _OPERATOR.search(reading.source):
        reason = GNU_OPERATOR
    if reason is not None:
        raise UnknownSyntaxError(reason)
    return reading, function


def named(node: Node) -> Node | None:
    """The name that a declarator declares, inside of its pointers, brackets and parameters; `None` for a
    declarator without a name, as in a prototype."""
    here: Node | None = node
    while here is not None and here.kind not in ("identifier", "type_identifier", "field_identifier"):
        here = cpp.inner(here)
    return here


class CFunction(NamedTuple):
    """A function of a file, by its bytes, with its name."""

    start: int
    end: int
    name: str


def places(source: bytes, language: str = C) -> Iterator[CFunction]:
    """The functions of a file, which need not parse as a whole. Functions in `#if` are among them, and in C++
    those of classes. A function begins at its `template`."""
    root = READERS[language].parse(source if language == C else cpp.without_macro_lines(source)).root_node
    pending = [(root, root)]
    while pending:
        node, whole = pending.pop()
        if node.type == FUNCTION:
            body = node.child_by_field_name("body")
            name = cpp.tree_name(node, source, WORDS_OF[language])
            if body is not None and name is not None:
                yield CFunction(whole.start_byte, node.end_byte, name)
        elif node.type != "compound_statement":
            is_head = node.type == "template_declaration"
            inside = whole if is_head and whole.type == "template_declaration" else node
            pending += [(child, inside if is_head else child) for child in reversed(node.named_children)]


def statements(source: str, language: str = C) -> int | None:
    """The number of statements in a text, blocks and labels aside; `None` where it does not parse."""
    try:
        nodes = read(source, language).root.nodes()
    except SourceError:
        return None
    lists = (node.children for node in nodes if node.kind in ("block", "switch_block_statement_group"))
    declared = sum(child.kind == "local_variable_declaration" for inside in lists for child in inside)
    kinds = (node.kind for node in nodes if node.kind not in ("labeled_statement", "attributed_statement"))
    return declared + sum(kind.endswith("_statement") or kind == "switch_expression" for kind in kinds)


statements_of_cpp = partial(statements, language=CPP)
read_cpp = partial(read, language=CPP)


# ── blanks in place of words ─────────────────────────────────────────────────────────────────────────────


def _parsed(source: bytes, language: str = C) -> tuple["Tree", tuple[Extent, ...]]:
    """The tree of a text, with blanks in place of words where it has none without."""
    reader = READERS[language]
    tree, hidden = reader.parse(source), list[Extent]()
    current = source
    while tree.root_node.has_error and len(hidden) < _MOST_BLANKED:
        for start, end in _candidates(current, tree.root_node, WORDS_OF[language]):
            other = current[:start] + blanked(current[start:end]) + current[end:]
            trial = reader.parse(other)
            if not trial.root_node.has_error or _first_fault(trial.root_node) > _first_fault(tree.root_node):
                current, tree = other, trial
                hidden.append((start, end))
                break
        else:
            break
    return tree, tuple(sorted(hidden))


def _first_fault(root: "TreeNode") -> int:
    """The first byte of the first error; behind the text without one."""
    node = fault(root)
    return root.end_byte + 1 if node is None else node.start_byte


def _candidates(source: bytes, root: "TreeNode", keywords: frozenset[str]) -> Iterator[Extent]:
    """What may be overwritten at and before the first error, the likeliest first: a word that a header may
    define to be nothing, in the head of a function with what stands in parentheses behind it, and the stars
    of a type that is an argument, as in `va_arg(list, char *)`."""
    found_fault = fault(root)
    if found_fault is None:
        return
    at = found_fault.start_byte
    begin = max(source.rfind(sign, 0, at) for sign in (b"{", b"}", b";")) + 1
    stop = min(len(source), max(found_fault.end_byte, at + 1) + 200)
    for stars in _STARS.finditer(source, begin, stop):
        yield stars.span(1)
    for value in _EMPTY_VALUE.finditer(source, begin, stop):
        yield value.span()
    in_head = _is_in_head(found_fault)
    head = source.find(b"{", begin)
    words = []
    for word in _WORD.finditer(source, begin, stop):
        text = word.group().decode()
        like = _LIKE_AN_ATTRIBUTE.fullmatch(word.group()) is not None
        begins_head = (
            in_head and word.start() < head and source[word.end() :].lstrip()[:1] not in (b"(", b",", b")")
        )
        if text not in keywords and (like or begins_head):
            words.append((not like, word.start() if begins_head else abs(word.start() - at), word))
    for _, _, word in sorted(words, key=lambda row: row[:2])[:6]:
        rest = source[word.end() :]
        if rest.lstrip()[:1] != b"(":
            yield word.span()
        elif in_head or word.group() in _ATTRIBUTES:  # a statement `CHECK(x)` is code, whatever it becomes
            end = _closing(source, word.end() + len(rest) - len(rest.lstrip()))
            if end >= 0:
                end += 1
                comma = source[: word.start()].rstrip()
                if in_head and comma.endswith(b",") and source[end:].lstrip()[:1] == b">":
                    yield len(comma) - 1, end  # the last one of `template <…>`
                yield word.start(), end


def _is_in_head(node: "TreeNode") -> bool:
    """Whether a node stands outside of every block."""
    above: TreeNode | None = node
    while above is not None and above.type != "compound_statement":
        above = above.parent
    return above is None


def closing(signs: Sequence[Any], opening: int, begin: Any, end: Any) -> int:
    """The place of the sign or byte that closes the one at `opening`; -1 without one."""
    depth = 0
    for place in range(opening, len(signs)):
        depth += (signs[place] == begin) - (signs[place] == end)
        if not depth:
            return place
    return -1


_closing: Final = partial(closing, begin=ord("("), end=ord(")"))


# ── trees ────────────────────────────────────────────────────────────────────────────────────────────────


def _headless(source: bytes) -> CText | None:
    """A function whose text begins with its name, as data sets have some: the line with its type is lost. It
    is parsed behind a type that no node keeps. `None` for any other text."""
    name = _NAME_FIRST.match(source)
    if name is None or name[1].decode() in KEYWORDS or name[1] in _ATTRIBUTES:
        return None
    # `LIB_API(char *) f(int a) {` has its type in a macro, and another name.
    end = _closing(source, name.end())
    if end < 0 or _BODY_NEXT.match(source, end + 1) is None:
        return None
    tree, hidden = _parsed(_PLACEHOLDER + source)
    shift = len(_PLACEHOLDER)
    if tree.root_node.has_error or tree.root_node.named_child_count == 0:
        return None
    reading = _reading(source, tree, tuple((start - shift, end - shift) for start, end in hidden), shift)
    parts = [child for child in reading.root.children if child.kind != EMPTY]
    if len(parts) != 1 or parts[0].kind != FUNCTION or cpp.name_of(source, parts[0]) != name[1].decode():
        return None
    function = parts[0]
    head = cpp.head_of(function)
    parameters = head.part("parameters").children if head is not None else []
    # `EACH(a, b) { … }` may be a loop that a macro makes.
    if any(
        part.child("declarator") is None and reading.text(part) not in ("void", "...") for part in parameters
    ):
        return None
    function.children.remove(function.part("type"))
    function.start = function.part("declarator").start
    return reading


def _reading(
    source: bytes, tree: "Tree", hidden: tuple[Extent, ...], shift: int = 0, language: str = C
) -> CText:
    walked = READERS[language].walk(tree, shift)
    _widen(walked.root, source, hidden)
    if language == CPP:
        cpp.prepare(walked.root, source)
    for node in list(walked.root.walk()):
        if node.kind == "expression_statement" and not node.children:
            node.kind = EMPTY
        elif node.kind == "switch_expression":
            _group(node)
        elif node.kind == "update_expression":
            _bind(node)
    return CText(
        source=source,
        root=walked.root,
        shape=tuple(walked.shape),
        comments=tuple(
            ("line_comment" if source.startswith(b"//", start) else "block_comment", start, end)
            for _, start, end in walked.comments
        ),
        hidden=hidden,
    )


def _widen(root: Node, source: bytes, hidden: tuple[Extent, ...]) -> None:
    """Let statements begin at the words before them that were overwritten: `ALIGNED int a;` is one."""
    statements = [
        node
        for node in (root.walk() if hidden else ())
        if node.kind in ("local_variable_declaration", "switch_expression")
        or node.kind.endswith("_statement")
        or (node.parent is not None and node.parent.kind == "block")
    ]
    for start, end in reversed(hidden):
        for node in statements:  # the outermost first
            begins = end <= node.start and _ONLY_BLANKS.fullmatch(source, end, node.start)
            if begins and node.parent is not None and node.parent.start < start:
                node.start = start
                break


def _bind(node: Node) -> None:
    """Bind `!n--` as `!(n--)`: the grammar does it the other way round (6.5.3)."""
    inner = node.children[0]
    if inner.start == node.start and inner.kind in ("unary_expression", "cast_expression"):
        operand = inner.children[-1]
        node.kind, inner.kind = inner.kind, node.kind
        node.tokens[:], inner.tokens[:] = inner.tokens[:], node.tokens[:]
        node.children[:] = [*inner.children[:-1], inner]
        inner.children[:] = [operand]
        inner.start, inner.end = operand.start, node.end
        inner.field, operand.field = operand.field, inner.field
        for child in node.children:
            child.parent = node


def _group(switch: Node) -> None:
    """Give the body of a `switch` the form that the body has in Java's grammar: groups of labels and
    statements. A body of another form stays as it is."""
    body = switch.child("body")
    if body is None or body.kind != "block" or any(child.kind != "case_statement" for child in body.children):
        return
    body.kind = "switch_block"
    for group in body.children:
        group.kind = "switch_block_statement_group"
        colon = next(end for token, _, end in group.tokens if token == ":")
        label = Node("switch_label", None, group.start, colon, group)
        label.tokens.extend(group.tokens)
        group.tokens.clear()
        label.children.extend(group.all("value"))
        group.children[:] = [label, *(child for child in group.children if child.field != "value")]


def _strange(reading: CText, function: Node, language: str) -> str | None:
    """Why a function is not read, as a short reason to count; `None` if it is."""
    head = cpp.head_of(function)
    parameters = None if head is None else head.child("parameters")
    if language == CPP:
        if (reason := cpp.strange(function)) is not None:
            return reason
        if function.child("body") is None or head is None:
            return NO_PARAMETERS
    elif parameters is None or {"local_variable_declaration", "identifier"} & {
        part.kind for part in (*function.children, *parameters.children)
    }:
        return OLD_HEAD
    elif head is not None and any(reading.text(part) in KEYWORDS for part in head.children):
        return NO_PARAMETERS  # `DEFINE(a) DEFINE(b) struct c {`
    for node in function.walk():
        if node.kind.startswith(_DIRECTIVES):
            return DIRECTIVE
        if node.kind == FUNCTION and node is not function:
            return INNER
    nodes = [node for node in function.walk() if node.kind == "pointer_expression" and node.operator == "&"]
    return LABEL_VALUE if any(node.parent in nodes for node in nodes) else None
