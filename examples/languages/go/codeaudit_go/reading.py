"""Go texts: the grammar, the functions of a text, and what Go reads otherwise than the parser does."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from codeaudit.audit.corpora.functions import dedented, unfit_size
from codeaudit.audit.corpora.records import raw_sample
from codeaudit.transforms.errors import NoFunctionError, SourceError
from codeaudit.transforms.records import FunctionContext, Sample
from codeaudit.transforms.source_files import DecodedFile, FileFormat, FunctionLocation
from codeaudit.transforms.syntax.reader import Grammar, Node, ParsedText, TreeReader

FUNCTIONS = frozenset({"function_declaration", "method_declaration"})
_PREDECLARED = """
    any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune
    string uint uint8 uint16 uint32 uint64 uintptr true false iota nil append cap clear close complex copy
    delete imag len make max min new panic print println real recover
"""
PREDECLARED = frozenset(_PREDECLARED.split())
_LISTS = frozenset(
    {"program", "block", "import_spec_list", "var_spec_list", "const_declaration", "type_declaration",
     "field_declaration_list", "interface_type", "expression_case", "default_case", "type_case",
     "communication_case", "expression_switch_statement", "type_switch_statement", "select_statement"}
)  # fmt: skip
"""Nodes whose parts may end with their line."""
_TOP = FUNCTIONS | {
    *("package_clause", "import_declaration", "var_declaration", "const_declaration", "type_declaration"),
}
_NAMING = frozenset({"var_spec", "const_spec", "type_spec", "type_alias", "import_spec"})
_WHOLE = _LISTS | {"raw_string_literal"}
_ENDING = (")", "]", "}", "return", "break", "continue", "fallthrough", "++", "--")


def _load() -> object:
    import tree_sitter_go

    return tree_sitter_go.language()


READER = TreeReader(
    Grammar(
        load=_load,
        aliases={
            "interpreted_string_literal": "string_literal",
            # A parameter may be called `true`: to Go these are names like others.
            **dict.fromkeys(("true", "false", "nil", "iota"), "identifier"),
        },
        dropped=frozenset({"statement_list", "expression_list", "literal_element"}),
        literals=frozenset({"string_literal", "raw_string_literal", "rune_literal"}),
    )
)


@lru_cache(maxsize=8)
def read(text: str) -> ParsedText:
    """Parse a file or some declarations."""
    try:
        source = text.encode()
    except UnicodeEncodeError as error:
        raise SourceError("not valid Go: a character without an encoding") from error
    tree = READER.parse(source)
    if tree.root_node.has_error or b"\0" in source:
        raise SourceError(f"not valid Go: {READER.first_error(source)}")
    walked = READER.walk(tree)
    if any(node.kind not in _TOP for node in walked.root.children):
        raise SourceError("not valid Go: a statement outside of functions")
    if any(node.kind not in _WHOLE and _ends_early(source, node) for node in walked.root.walk()):
        raise SourceError("not valid Go: a line ends inside of an expression")
    return ParsedText(
        source=source, root=walked.root, shape=tuple(walked.shape), comments=tuple(walked.comments)
    )


def _ends_early(source: bytes, node: Node) -> bool:
    """Whether Go puts a semicolon at the end of a line inside of a node, which the parser overlooks."""
    parts = [(child.start, child.end, "") for child in node.children]
    parts = sorted(parts + [(start, end, token) for token, start, end in node.tokens])
    for (start, end, token), (following, _, _) in pairwise(parts):
        text = source[start:end].rstrip()
        if b"\n" not in source[start + len(text) : following]:
            continue
        last = text.decode()[-1:]
        if token in _ENDING if token else last.isalnum() or last in "_)]}\"'`" or text[-2:] in (b"++", b"--"):
            return True
    return False


def functions_of(reading: ParsedText) -> list[Node]:
    """The functions and methods of a text that have a body."""
    return [node for node in reading.root.children if node.kind in FUNCTIONS and node.child("body")]


def only_function(reading: ParsedText) -> Node:
    """The one function of a text that holds nothing else but comments."""
    nodes = functions_of(reading)
    if len(nodes) != 1 or reading.root.children != nodes:
        raise NoFunctionError("the text is not one function; give one function or method at a time")
    return nodes[0]


def function_context(source: str) -> FunctionContext:
    """The last function of a text, and the text around it."""
    reading = read(source)
    nodes = functions_of(reading)
    if not nodes:
        return FunctionContext("", source, "", "no function in the text")
    text, node = reading.source, nodes[-1]
    pieces = text[: node.start], text[node.start : node.end], text[node.end :]
    return FunctionContext(*(piece.decode() for piece in pieces))


def shown_in(text: str) -> dict[str, int]:
    """The entries of the ledger that a file shows not to hold, each with the first line that shows it."""
    try:
        reading = read(text)
    except SourceError:
        return {}
    names: list[Node] = []
    for child in reading.root.children:
        if child.kind not in FUNCTIONS:
            declared = [inner for inner in child.walk() if inner.kind in _NAMING]
        else:
            declared = [child] if child.kind == "function_declaration" else []
        names += [name for inner in declared for name in inner.all("name")]
    starts = [name.start for name in names if reading.text(name) in PREDECLARED]
    return {"predeclared-meant": reading.source.count(b"\n", 0, min(starts)) + 1} if starts else {}


# ── files and samples ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedGo(DecodedFile):
    """A Go file's text with what it takes to write it back."""

    def compiles(self, text: str) -> bool:
        return _parses(text)


def _parses(text: str, wrapper: str = "", *, one: bool = False) -> bool:
    try:
        reading = read(text)
        return not one or only_function(reading) is not None
    except SourceError:
        return False


def _name(reading: ParsedText, node: Node) -> str:
    """`function`, or `Type.method`."""
    receiver = node.child("receiver")
    names = [part for part in receiver.walk() if part.kind == "type_identifier"] if receiver else []
    return ".".join(reading.text(name) for name in (*names[:1], node.part("name")))


def places(text: str, around: frozenset[str] = frozenset(), /) -> tuple[FunctionLocation, ...]:
    """The functions of a file."""
    reading = read(text)
    seen: Counter[str] = Counter()
    locations = []
    for node in functions_of(reading):
        name = _name(reading, node)
        seen[name] += 1  # a file may have several functions `init`
        first, last = (reading.source.count(b"\n", 0, at) + 1 for at in (node.start, node.end))
        label = name if seen[name] == 1 else f"{name}#{seen[name]}"
        locations.append(FunctionLocation(name=label, first=first, last=last, start=node.start, end=node.end))
    return tuple(locations)


FILES = FileFormat(
    language="go",
    decode=DecodedGo.read,
    places=places,
    is_one=lambda text, wrapper: _parses(text, wrapper, one=True),
)


def functions(text: str, path: str, left_out: Counter[str]) -> Iterator[Sample]:
    """The functions and methods of a file as samples. The label is the name."""
    reading = read(text)
    for node in functions_of(reading):
        name, source = reading.text(node.part("name")), dedented(reading.text(node).split("\n"))
        reason = "entry point" if name in ("main", "init") else unfit_size(source, "function")
        if reason is not None:
            left_out[reason] += 1
            continue
        line = reading.source.count(b"\n", 0, node.start) + 1
        yield raw_sample(source, language="go", label=name, path=path, line=line, context=text)


def name_of(source: str) -> str | None:
    """The name of the one function in a text."""
    try:
        reading = read(source)
    except SourceError:
        return None
    nodes = functions_of(reading)
    return reading.text(nodes[0].part("name")) if len(nodes) == 1 else None
