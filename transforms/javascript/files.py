"""JavaScript and TypeScript texts with several functions: where each function is, and whether it can be read
without its file.

A transform gets one function, and assumes that `undefined`, `NaN` and `Infinity` mean what the standard says.
If the text around the function gives one of these names another meaning, functions that use it keep their
text. A finished file is parsed again: outside of its functions it has to have the tree that it had. So no
function goes on with the line behind it, where the semicolon between them is left out.
"""

import re
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.javascript.parsing import (
    JAVASCRIPT,
    READERS,
    TYPESCRIPT,
    FunctionText,
    read,
    read_unit,
    units,
)
from codeaudit.transforms.records import FunctionContext
from codeaudit.transforms.remembering import FILES
from codeaudit.transforms.source_files import DecodedFile, FileFormat, FunctionLocation, located
from codeaudit.transforms.syntax.reader import Node, ParsedText

LONGEST_LINE: Final = 2000
"""People do not write longer lines; programs that pack scripts do."""
PACKED: Final = f"file with a line over {LONGEST_LINE} characters: packed or generated"
FLOW: Final = "file with types of Flow"
_FLOW: Final = re.compile(
    r"(?:\s|//[^\n]*\n|#![^\n]*\n|/\*(?:(?!\*/).)*?\*/)*?(?://[^\n]*|/\*(?:(?!\*/).)*)@flow\b", re.DOTALL
)
"""The mark in one of the comments at the beginning."""

REBOUND: Final = "the file gives undefined, NaN or Infinity another meaning"
UNREAD: Final = "function that cannot be read alone"
NO_FUNCTION: Final = "no function in the text"

_FIXED: Final = frozenset({"undefined", "NaN", "Infinity"})
"""Names of values that nobody can set, but that a declaration may hide."""
_MAY_BE_FIXED: Final = re.compile(r"\b(?:undefined|NaN|Infinity)\b")
_FIXED_BYTES: Final = re.compile(_MAY_BE_FIXED.pattern.encode())
_DECLARING: Final = frozenset(
    {"formal_parameters", "required_parameter", "optional_parameter", "import_clause", "import_specifier",
     "namespace_import", "assignment_pattern", "array_pattern", "object_pattern", "rest_pattern",
     "pair_pattern", "catch_clause"}
)  # fmt: skip

_NO_NAMES: Final = frozenset({"comment", "string_fragment", "template_string", "regex_pattern"})
_ONLY_USED: Final = frozenset(
    {"arguments", "array", "as_expression", "assignment_expression", "binary_expression", "literal_type",
     "member_expression", "pair", "parenthesized_expression", "return_statement", "ternary_expression",
     "unary_expression", "union_type"}
)  # fmt: skip
"""What may stand around a name in the parser's tree where it is certainly not declared; not all there is."""


def refuse_packed(text: str) -> None:
    """Raise for a file that people did not write, or that is in another language.

    Raises:
        SourceError: it has types of Flow, or is packed.
    """
    if any(len(line) > LONGEST_LINE for line in text.split("\n")):
        raise SourceError(PACKED)
    if _FLOW.match(text):
        raise SourceError(FLOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedJavaScript(DecodedFile):
    """A file's text with what it takes to write it back."""

    def compiles(self, text: str) -> bool:
        """Whether the text parses, and outside of its functions is what the file is."""
        return _is_around(self.text, text, JAVASCRIPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedTypeScript(DecodedJavaScript):
    """The same for TypeScript."""

    def compiles(self, text: str) -> bool:
        """As for JavaScript. Types are not checked: they stand in other files."""
        return _is_around(self.text, text, TYPESCRIPT)


def _is_around(before: str, after: str, language: str) -> bool:
    try:
        return _around(before, language) == _around.__wrapped__(after, language)
    except SourceError:
        return False


@lru_cache(maxsize=4)
def _around(text: str, language: str) -> tuple[bytes, tuple[str, ...]]:
    """What stands around the functions of a text, and the tree around them.

    Raises:
        SourceError: the text does not parse.
    """
    reading = read(text, language)
    names = {unit.node.start: unit for unit in units(reading)}
    pieces, kinds, done = list[bytes](), list[str](), 0
    pending = [reading.root]
    while pending:
        node = pending.pop()
        unit = names.get(node.start)
        kinds.append(node.kind)
        if unit is not None and unit.node is node:
            # A null byte, which no source contains, stands for the function.
            pieces += [reading.source[done : node.start], b"\0", (unit.name or "").encode()]
            done = node.end
        else:
            pending += reversed(node.children)
    return b"".join([*pieces, reading.source[done:]]), tuple(kinds)


@lru_cache(maxsize=4)
def places(
    text: str, around: frozenset[str] = frozenset(), /, *, language: str = JAVASCRIPT
) -> tuple[FunctionLocation, ...]:
    """The outermost functions of a text that have a name, in the order of the text.

    Raises:
        SourceError: the text does not parse, has types of Flow, or is packed.
    """
    refuse_packed(text)
    reading = read(text, language)
    hidden = hides_fixed(reading)
    rows = (
        (
            _qualified(reading, unit),
            unit.node.start,
            unit.node.end,
            _obstacle(reading.text(unit.node), unit, hidden, language),
        )
        for unit in units(reading)
    )
    return located(reading.source, rows)


def _obstacle(own: str, unit: FunctionText, hidden: frozenset[str], language: str) -> str | None:
    try:
        _, alone = read_unit(own, language)
    except SourceError:
        return UNREAD
    # `f = () => 1` is a field in a class, and an assignment alone; the function is the same.
    if alone.name != unit.name:
        return UNREAD
    return REBOUND if hidden.intersection(_MAY_BE_FIXED.findall(own)) else None


def _qualified(reading: ParsedText, unit: FunctionText) -> str:
    """A name such as `Class.method`."""
    names = [unit.name or ""]
    for above in unit.node.ancestors():
        name = above.child("name") if above.kind in ("class_declaration", "class") else None
        if name is not None:
            names.append(reading.text(name))
    return ".".join(reversed(names))


def hides_fixed(reading: ParsedText) -> frozenset[str]:
    """The names of `undefined`, `NaN` and `Infinity` that a text declares."""
    if _MAY_BE_FIXED.search(reading.source.decode()) is None:
        return frozenset()
    return frozenset(
        reading.text(node)
        for node in reading.root.walk()
        if not node.children and _declares(node) and reading.text(node) in _FIXED
    )


def _declares(node: Node) -> bool:
    """Whether a name stands where a declaration has one, or may have one."""
    parent = node.parent
    if parent is None:
        return False
    if parent.kind in _DECLARING or node.kind == "shorthand_property_identifier_pattern":
        return True
    if parent.kind in ("lambda_expression", "enhanced_for_statement"):
        return node.field in ("parameter", "left")
    return node.field == "name" and parent.kind.endswith(("declarator", "declaration"))


def obstacle_in_file(source: str, file: str, *, language: str = JAVASCRIPT) -> str | None:
    """Why a function cannot be rewritten in a file with this text; `None` if it can."""
    used = _MAY_BE_FIXED.findall(source)
    return REBOUND if used and _hidden_in(file, language).intersection(used) else None


@lru_cache(maxsize=FILES)
def _hidden_in(file: str, language: str) -> frozenset[str]:
    try:
        return hides_fixed(read(file, language)) if _may_hide(file, language) else frozenset()
    except SourceError:
        return frozenset()


def _may_hide(file: str, language: str) -> bool:
    """Whether a file may give one of these names another meaning, by the parser's own tree: to make nodes of
    a long file costs more than all else."""
    source = file.encode(errors="replace")
    root = READERS[language][0].parse(source).root_node
    if root.has_error:
        return True
    for match in _FIXED_BYTES.finditer(source):
        node = root.descendant_for_byte_range(match.start(), match.end())
        above = node and node.parent
        if node is None or above is None:
            return True
        is_value = above.type == "variable_declarator" and node.prev_sibling is not None
        if not is_value and node.type not in _NO_NAMES and above.type not in _ONLY_USED:
            return True
    return False


def function_context(source: str, *, language: str = JAVASCRIPT) -> FunctionContext:
    """The last function of a text that has a name, and the text around it.

    Raises:
        SourceError: the text does not parse.
    """
    try:
        read_unit(source, language)
    except SourceError:
        reading = read(source, language)
    else:
        return FunctionContext("", source, "")
    functions = list(units(reading))
    if not functions:
        return FunctionContext("", source, "", NO_FUNCTION)
    unit = functions[-1]
    text, node = reading.source, unit.node
    before, own, after = (
        piece.decode() for piece in (text[: node.start], text[node.start : node.end], text[node.end :])
    )
    return FunctionContext(before, own, after, _obstacle(own, unit, hides_fixed(reading), language))


def _is_one(text: str, wrapper: str, language: str = JAVASCRIPT) -> bool:
    try:
        read_unit.__wrapped__(text, language)
    except SourceError:
        return False
    return True


function_context_of_typescript = partial(function_context, language=TYPESCRIPT)
obstacle_in_typescript = partial(obstacle_in_file, language=TYPESCRIPT)

JAVASCRIPT_FILES: Final = FileFormat(
    language=JAVASCRIPT, decode=DecodedJavaScript.read, places=places, is_one=_is_one
)
"""Files that end with `.js`, `.mjs`, `.cjs` or `.jsx`."""
TYPESCRIPT_FILES: Final = FileFormat(
    language=TYPESCRIPT,
    decode=DecodedTypeScript.read,
    places=partial(places, language=TYPESCRIPT),
    is_one=partial(_is_one, language=TYPESCRIPT),
)
"""Files that end with `.ts`, `.tsx`, `.mts` or `.cts`."""
