"""Java texts with several methods: where each method is, and whether it can be read without its file.

A transform of functions gets one bare method or constructor, and assumes that the names of well-known types
mean the JDK's types. If the text around the method is known, this module checks the assumption. A method
keeps its text if it names a type for which its file, or a file beside it, has another meaning, and if unicode
escapes may change how Java reads it.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.java.analysis.library import HOMES, INHERITED
from codeaudit.transforms.java.parsing import CALLABLES, TYPES, callables, only_callable, read, read_file
from codeaudit.transforms.records import FunctionContext
from codeaudit.transforms.remembering import FILES
from codeaudit.transforms.source_files import DecodedFile, FileFormat, FunctionLocation, located
from codeaudit.transforms.syntax.reader import DISPUTED, Node, ParsedText

_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*(\\u+([0-9a-fA-F]{4}))")
_DANGEROUS: Final = frozenset("\n\r\"'\\*/")
"""What ends or begins a literal, a comment or another escape."""
_OPAQUE: Final = frozenset({"string_literal", "character_literal"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedJava(DecodedFile):
    """A Java file's text with what it takes to write it back."""

    def compiles(self, text: str) -> bool:
        """Whether the text can be read as Java. Types are not checked: they stand in other files.

        What cannot be read is allowed only where the file has it as it is.
        """
        try:
            reading = read_file(text)
            original = read_file(self.text) if reading.unread else reading
        except SourceError:
            return False
        unread = {original.source[start:end] for start, end in original.unread}
        return all(reading.source[start:end] in unread for start, end in reading.unread)


@lru_cache(maxsize=4)
def places(text: str, around: frozenset[str] = frozenset(), /) -> tuple[FunctionLocation, ...]:
    """The outermost methods and constructors of a text, in the order of the text.

    A file beside this one declares a type of its name, which goes before those of the JDK here.

    Raises:
        SourceError: the text does not parse.
    """
    reading = read_file(text)
    unclear = misread(reading, text)
    # Java reads the text with these characters in their places: the same members have to stand there.
    plain = _unescaped_like(reading, text) if unclear else reading
    strange = rebound(reading) | (HOMES.keys() & around)
    if plain is not None:
        strange |= rebound(plain)
    functions: list[tuple[str, int, int, str | None]] = []
    methods = callables(reading)
    reaching = _reaching(reading, methods, frozenset(HOMES.keys() & around))
    for node in methods:
        means_other = node.start in reaching or mentions(reading, node, strange)
        obstacle = REBOUND if means_other else DISPUTED if reading.is_disputed(node) else None
        if (node.start, node.end) in reading.unread:
            obstacle = UNREAD
        if unclear and (plain is None or escaped(reading.text(node))):
            obstacle = ESCAPED
        functions.append((_qualified(reading, node), node.start, node.end, obstacle))
    return located(reading.source, functions)


def _reaching(reading: ParsedText, methods: Sequence[Node], names: frozenset[str]) -> Set[int]:
    """The methods, by their first byte, that may call a method of the text that names one of these types.

    Transforms look into the methods that a method calls, and the text does not show these meanings.
    """
    if not names:
        return frozenset()
    reaching = {node.start for node in methods if mentions(reading, node, names)}
    calls = {
        node.start: {
            reading.text(call.part("name")) for call in node.walk() if call.kind == "method_invocation"
        }
        for node in methods
    }
    while True:
        called = {reading.text(node.part("name")) for node in methods if node.start in reaching}
        more = {start for start, inside in calls.items() if start not in reaching and inside & called}
        if not more:
            return reaching
        reaching |= more


def _qualified(reading: ParsedText, node: Node) -> str:
    """A name such as `Outer.Inner.method`; a constructor has the name of its class twice."""
    names = [reading.text(node.part("name"))]
    above = node.parent
    while above is not None and above is not reading.root:  # members have a class around them to be parsed
        if above.kind in TYPES or above.kind == "enum_constant":
            names.append(reading.text(above.part("name")))
        above = above.parent
    return ".".join(reversed(names))


def misread(reading: ParsedText, text: str) -> bool:
    """Whether characters spelt by their number may make the text something else than it looks like."""
    if "\\u" not in text:
        return False
    opaque = sorted(
        [(node.start, node.end) for node in reading.root.walk() if node.kind in _OPAQUE]
        + [(start, end) for _, start, end in reading.comments]
    )
    begins = [start for start, _ in opaque]
    # Java replaces `\\u0022` by a quotation mark before it reads the text (JLS 3.3); the parser does not.
    for match in _ESCAPE.finditer(text):
        place = len(text[: match.start(1)].encode())
        number = bisect_right(begins, place) - 1
        inside = number >= 0 and place < opaque[number][1]
        # Outside of literals and comments it is a sign, or a part of a name that is spelt in two ways.
        if chr(int(match[2], 16)) in _DANGEROUS or not inside:
            return True
    return False


def _unescaped_like(reading: ParsedText, text: str) -> ParsedText | None:
    """The text as Java reads it, without escapes; `None` if it has other members than the text shows, or has
    them in other places.
    """
    pieces: list[str] = []
    ends: list[tuple[int, int]] = []
    """The bytes up to each escape and behind it, in the text without escapes and in the text as it is."""
    done = new = old = 0
    for match in _ESCAPE.finditer(text):
        before, sign = text[done : match.start(1)], chr(int(match[2], 16))
        if "\ud800" <= sign <= "\udfff" or sign == "\\":
            return None  # half of a character, or what may begin another escape
        new, old = new + len((before + sign).encode()), old + len((before + match[1]).encode())
        ends.append((new, old))
        pieces += [before, sign]
        done = match.end(1)
    try:
        plain = read_file("".join([*pieces, text[done:]]))
    except SourceError:
        return None
    members, written = callables(plain), callables(reading)
    shifted = [new for new, _ in ends]

    def place(at: int) -> int:
        number = bisect_right(shifted, at) - 1
        return at + (ends[number][1] - ends[number][0] if number >= 0 else 0)

    same = [(place(node.start), place(node.end)) for node in members]
    return plain if same == [(node.start, node.end) for node in written] else None


def _is_one(text: str, wrapper: str) -> bool:
    try:
        only_callable(read(text))
    except SourceError:
        return False
    return True


REBOUND: Final = "a well-known type's name means something else here"
NO_METHOD: Final = "no method in the text"
ESCAPED: Final = "unicode escape in the text"
UNREAD: Final = "parser cannot read the method"
COMPACT: Final = "compact constructor of a record"

INSERTED: Final = ("String", "StringBuilder", "Exception")
"""Names of types that transforms insert into methods."""

_ANY_ESCAPE: Final = re.compile(r"\\u+[0-9a-fA-F]{4}")
_TYPE: Final = re.compile(
    r"\b(?:class|interface|enum|record)\b(?:\s|/\*.*?\*/|//[^\n\r]*[\n\r])+(\w+)", re.DOTALL
)
"""What may be a declaration of a type; in comments and strings it is none."""
_ABOVE: Final = re.compile(r"\b(?:extends|implements|new)\b")
_SUPERTYPES: Final = frozenset({"superclass", "super_interfaces", "extends_interfaces"})
_NAMES: Final = frozenset({"identifier", "type_identifier"})
_SCOPED: Final = frozenset({"scoped_identifier", "scoped_type_identifier"})


def function_context(source: str) -> FunctionContext:
    """The last method or constructor with a body, and the text around it.

    Raises:
        SourceError: the text does not parse.
    """
    reading = read(source)
    methods = [node for node in callables(reading) if node.child("body")]
    if not reading.whole and len(reading.root.children) == 1 and reading.root.children == methods:
        obstacle = ESCAPED if escaped(source) else DISPUTED if reading.disputed else None
        return FunctionContext("", source, "", obstacle)
    if not methods:
        return FunctionContext("", source, "", NO_METHOD)
    node = methods[-1]
    text = reading.source
    before, inner, after = (
        piece.decode() for piece in (text[: node.start], text[node.start : node.end], text[node.end :])
    )
    if escaped(source):
        return FunctionContext(before, inner, after, ESCAPED)
    if reading.is_disputed(node):
        return FunctionContext(before, inner, after, DISPUTED)
    return FunctionContext(
        before, inner, after, REBOUND if mentions(reading, node, rebound(reading)) else None
    )


def escaped(text: str) -> bool:
    """Whether a text has a unicode escape. Java replaces these before everything else."""
    return "\\u" in text and _ANY_ESCAPE.search(text.replace("\\\\", "")) is not None


class _Imports(NamedTuple):
    """What the import declarations of a file say about names of types."""

    single: Mapping[str, frozenset[str]]
    """By simple name: the packages or classes from which it is imported."""
    demanded: frozenset[str]
    """The packages and classes of which every type is imported."""
    modules: bool
    """Whether all types of a module are imported."""


def _imports(reading: ParsedText) -> _Imports:
    single: dict[str, frozenset[str]] = {}
    demanded: set[str] = set()
    # A file with methods outside of classes imports java.base (JLS 25, 7.3).
    modules = any(node.kind in CALLABLES for node in reading.root.children)
    for node in reading.root.children:
        if node.kind != "import_declaration":
            continue
        names = [reading.text(inner) for inner in node.walk() if inner.kind == "identifier"]
        if any(len(name.split()) > 1 for name in names):  # `module java` is one word to the parser
            modules = True
        elif node.first("asterisk"):
            demanded.add(".".join(names))
        else:
            name = names.pop()
            single[name] = single.get(name, frozenset()) | {".".join(names)}
    return _Imports(single, frozenset(demanded), modules)


def rebound(reading: ParsedText) -> frozenset[str]:
    """The names of well-known types that mean another type, because the text declares or imports one.

    A type inherits the types in its supertypes; of these the text shows those of the JDK. In a file, a type
    of another package than `java.lang` has to be imported: its name alone means another type. A name that two
    packages of imports on demand declare does not compile, so those of the JDK win.
    """
    names = set(_declared(reading, {*TYPES, "type_parameter"})) | _from_jdk(reading)
    imports = _imports(reading)
    in_file = any(
        node.kind in ("import_declaration", "package_declaration") for node in reading.root.children
    )
    for name, home in HOMES.items():
        packages = imports.single.get(name)
        if packages:
            # `import java.awt.List;` gives the name another meaning, `import java.util.List;` does not.
            if packages != {home}:
                names.add(name)
        elif in_file and not (home == "java.lang" or home in imports.demanded or imports.modules):
            names.add(name)
    return frozenset(names & HOMES.keys())


def obstacle_in_file(source: str, file: str) -> str | None:
    """Why a method cannot be rewritten in a file with this text; `None` if it can.

    Raises:
        SourceError: the method does not parse.
    """
    names = _rebound_in(file)
    reading = read(source)
    return REBOUND if names and mentions(reading, reading.root, names) else None


@lru_cache(maxsize=FILES)
def _rebound_in(file: str) -> frozenset[str]:
    try:
        reading = read_file(file)
    except SourceError:
        return frozenset()
    plain = _unescaped_like(reading, file) if misread(reading, file) else None
    return rebound(reading) if plain is None else rebound(reading) | rebound(plain)


def mentions(reading: ParsedText, node: Node, names: frozenset[str]) -> bool:
    """Whether a part of a text names one of these types, or a transform may insert the name."""
    if not names.isdisjoint(INSERTED):
        return True
    return bool(names) and any(
        inner.kind in _NAMES and not _is_behind_dot(inner) and reading.text(inner) in names
        for inner in node.walk()
    )


def _is_behind_dot(node: Node) -> bool:
    """Whether a name is a member of what stands before it, such as `List` in `java.util.List`."""
    above = node.parent
    if above is None:
        return False
    if above.kind in _SCOPED:
        return above.children[0] is not node
    return node.field == "field" or (above.kind == "method_invocation" and node.field == "name")


def package_folder(text: str) -> str:
    """The package of a file as a path, such as `org/example`; empty for none.

    Raises:
        SourceError: the text does not parse.
    """
    reading = read_file(text)
    package = reading.root.first("package_declaration") if reading.whole else None
    if package is None:
        return ""
    parts = [child for child in package.children if not child.kind.endswith("annotation")]
    return "/".join(
        reading.text(inner) for part in parts for inner in part.walk() if inner.kind == "identifier"
    )


def declared_types(data: bytes) -> frozenset[str]:
    """The names of well-known types that a file declares, also within other types."""
    text = _decoded(data)
    names = frozenset(HOMES.keys() & set(_TYPE.findall(text)))
    if not names and not any(name in text for names in INHERITED.values() for name in names):
        return names  # nearly every file: it need not be parsed
    try:
        reading = read_file(text)
    except SourceError:
        return names
    return names & _declared(reading, TYPES) | _from_jdk(reading)


def supertypes(data: bytes) -> frozenset[str]:
    """The names of files, without ending, that may declare a supertype of a type in this file."""
    text = _decoded(data)
    if not _ABOVE.search(text):
        return frozenset()
    try:
        reading = read_file(text)
    except SourceError:
        return frozenset()
    names = _above(reading)
    if names:
        # `class A extends Inner` with `import p.Outer.Inner;`, or with `import p.Outer.*;`.
        imports = _imports(reading)
        for name in tuple(names):
            names |= {part for home in imports.single.get(name, ()) for part in home.split(".")}
        names |= {home.rpartition(".")[2] for home in imports.demanded}
    return names


def _decoded(data: bytes) -> str:
    return _ANY_ESCAPE.sub(lambda match: chr(int(match[0][-4:], 16)), data.decode("utf-8", "replace"))


def _above(reading: ParsedText) -> frozenset[str]:
    """The names that stand where a text names supertypes, those of anonymous classes too."""
    names: set[str] = set()
    for node in reading.root.walk():
        if node.kind in _SUPERTYPES:
            names.update(reading.text(inner) for inner in node.walk() if inner.kind == "type_identifier")
        elif node.kind == "object_creation_expression" and node.first("class_body"):
            names.update(
                reading.text(inner) for inner in node.part("type").walk() if inner.kind == "type_identifier"
            )
    return frozenset(names)


def _from_jdk(reading: ParsedText) -> frozenset[str]:
    """The well-known names that types in a text inherit from a class of the JDK with another meaning."""
    above = _above(reading)
    return frozenset(name for name, owners in INHERITED.items() if above & owners)


def _declared(reading: ParsedText, kinds: Collection[str]) -> frozenset[str]:
    """The names that nodes of these kinds declare."""
    nodes = (node for node in reading.root.walk() if node.kind in kinds)
    named = (node.child("name") or node.first("type_identifier", "identifier") for node in nodes)
    return frozenset(reading.text(name) for name in named if name is not None)


JAVA_FILES: Final = FileFormat(
    language="java",
    decode=DecodedJava.read,
    places=places,
    is_one=_is_one,
    package=package_folder,
    types=declared_types,
    supertypes=supertypes,
)
"""Files that end with `.java`."""
