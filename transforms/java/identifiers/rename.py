"""`rename` and its strategies for Java: the variables of a method get other names.

A renaming keeps the meaning in the sense of Renamer (`transforms.renaming`). Only the bytes of the names
change. The result is parsed and resolved again and compared with the original (`renamed`). A result that
is not shown to be alpha-equivalent is refused.

A new name is not a word of the text, so it hides no field, type or package that the text uses. Names
elsewhere in the file, and inherited names, have no meaning in the method unless they occur in it, because a
local variable hides every field. The one exception is a class in the method that inherits from a class
outside of the text: a local that is used in it keeps its name, so no new name occurs there.

Never renamed:

- fields, methods, types, components of records, constants, names with `$`;
- a local that a `case` may mean as a constant of an enum;
- variables with annotations that may read the name;
- with parameters: those of methods with annotations that may read them or without a body, and those of
  constructors that may be the canonical one of a record.

Not promised to stay: the text that Java generates for a NullPointerException (it names variables if the code
was compiled with `-g`); names of synthetic fields in which classes keep captured variables; with parameters,
names that reflection reads from code compiled with `-parameters`. Comments stay, so a `@param` may mention an
old name.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from codeaudit.transforms.java.analysis.library import (
    CONTEXTUAL,
    HARMLESS_ANNOTATIONS,
    HARMLESS_MARKERS,
    KEYWORDS,
    ROOTS,
)
from codeaudit.transforms.java.analysis.scopes import resolve
from codeaudit.transforms.java.files import COMPACT, ESCAPED, escaped
from codeaudit.transforms.java.parsing import CALLABLES, FLOW, outline
from codeaudit.transforms.naming import Lexicon
from codeaudit.transforms.renaming import RenameVariables
from codeaudit.transforms.strategies.rename import CodeVariables
from codeaudit.transforms.syntax.reader import DISPUTED, Node
from codeaudit.transforms.syntax.scopes import Binding, Scopes

_FREQUENT: Final = """
    access account action actual address alias annotation answer args argument arguments array artifact
    attribute attributes base batch bean begin binary block body bound bucket bucket_size buf buffer builder
    bytes cache callback candidate candidates capacity catalog cause channel charset child children chunk
    class_loader class_name clazz client code col collection collector column column_name columns command
    comparator component conf config configuration conn connection constraint consumer container content
    content_type context converter copy count counter ctx current cursor data date decimal decoder defaults
    definition delegate delta dependency depth desc descriptor dest destination details diff digest dir
    directory document domain element element_type elements encoding end endpoint entity entries entry env
    error event ex exception executor existing expected expression extension factory failure field field_name
    fields file file_name filter first flag folder format found fragment future group handle handler hash
    header headers height hint holder host id identifier index info initial inner input input_stream instance
    item iterator job key key_type keys kind label last latch layout left len length level limit line
    lines link listener loader local_name locale location lock log_entry lower manager map mapping marker mask
    matcher max member message metadata method method_name min mode model module msg name names namespace
    nested next_value node nodes num object_name offset old_value operation operator option options
    order origin outer output output_stream owner parameter parameters params parent parser part partition
    parts path paths pattern payload pending pool port pos position precision predicate prefix previous
    principal priority probe process property property_name protocol provider proxy query queue range rate
    reader reason receiver record_count ref reference region registry remaining replica reply repository req
    request res resolver resource response rest result result_set results ret retries right role root row rows
    rule sample scale schema scope segment selector separator sequence server service session settings
    shape signature size slice snapshot source spec start state statement status step store strategy str
    stream string subject suffix symbol table table_name target task tasks template text threshold
    time timeout timestamp tmp token tokens total transaction tree type_name unit updated uri url
    user val value values variable vector view visitor width word worker wrapper writer zone
"""

NATURAL: Final[tuple[str, ...]] = tuple(_FREQUENT.split())
"""Names of local variables that are frequent in Java code, in snake case."""

_RESERVED: Final = KEYWORDS | CONTEXTUAL | ROOTS


def reserved(name: str) -> bool:
    """Whether no strategy gives this name: a keyword of any kind, a first part of packages, `_`, or one with
    `$`.
    """
    return name in _RESERVED or not name.strip("_") or "$" in name


JAVA: Final = Lexicon(NATURAL, reserved, camel=True)
"""The form of new names for Java's variables."""


SPECIAL: Final = "special name"
NOT_A_VARIABLE: Final = "not a variable of the method"
ANNOTATED: Final = "annotation may read the name"
ANNOTATED_METHOD: Final = "annotation of the method may read parameter names"
BODILESS: Final = "method without a body"
RECORD: Final = "parameter may be a component of a record"


class JavaGuard:
    """Checks the variables of one method for reasons to keep their names."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._callables: dict[int, str | None] = {}

    def obstacle(self, binding: Binding) -> str | None:
        """A short reason to count; `None` for a variable that may be renamed."""
        if binding.view in ("outer", "field"):
            return NOT_A_VARIABLE
        if binding.doubt:
            return binding.doubt
        if binding.view == "label":
            return SPECIAL if "$" in binding.name else None
        if "$" in binding.name or not binding.name.strip("_"):
            return SPECIAL  # names of generated code, and `_`, which Java 9 made a keyword
        node = binding.node
        assert node is not None
        if binding.view == "parameter":  # the method is the parent of the list of parameters
            assert node.parent is not None
            assert node.parent.parent is not None
            if reason := self._callable(node.parent.parent):
                return reason
        declaration = node.parent if node.kind == "variable_declarator" else node
        if declaration is not None and any(
            not self._harmless(annotation) for annotation in annotations(declaration)
        ):
            return ANNOTATED
        return None

    def _callable(self, node: Node) -> str | None:
        """Why all parameters of a method or constructor keep their names; `None` if they may change."""
        if node.start not in self._callables:
            self._callables[node.start] = self._find_callable(node)
        return self._callables[node.start]

    def _find_callable(self, node: Node) -> str | None:
        if any(not self._harmless(annotation) for annotation in annotations(node)):
            return ANNOTATED_METHOD  # `@GET Response find(String id)`: the framework asks for the name
        if node.child("body") is None:
            return BODILESS  # nothing in the text shows a use of the name
        return RECORD if self._may_be_canonical(node) else None

    def _may_be_canonical(self, node: Node) -> bool:
        """Whether a constructor may be the canonical one of a record: its parameters have the components'
        names.
        """
        # A canonical constructor must not throw checked exceptions or call another one first (JLS 8.10.4).
        if node.kind != "constructor_declaration" or node.first("throws"):
            return False
        above = node.parent.parent if node.parent else None
        if node is not self._scopes.unit:
            return above is not None and above.kind == "record_declaration"
        body = node.part("body")
        if body.children and body.children[0].kind == "explicit_constructor_invocation":
            return False
        if FLOW.completes(body, self._scopes.reading) is not True:
            return True  # one that always throws need set no component
        text = self._scopes.reading.text
        # It sets every component: `this.name = …` for each of its parameters.
        written = {
            text(left.children[-1])
            for inner in body.walk()
            if inner.kind == "assignment_expression"
            for left in inner.children[:1]
            if left.kind == "field_access" and left.children[0].kind == "this"
        }
        return all(
            binding.name in written
            for binding in self._scopes.bindings
            if binding.view == "parameter" and binding.owner == 0
        )

    def _harmless(self, annotation: Node) -> bool:
        name = self._scopes.reading.text(annotation.part("name")).rpartition(".")[2]
        is_marker = annotation.kind == "marker_annotation"
        return name in HARMLESS_ANNOTATIONS or (is_marker and name in HARMLESS_MARKERS)


def annotations(node: Node) -> list[Node]:
    """The annotations in front of a declaration, and those of its type."""
    return [
        inner
        for child in node.children
        if child.kind not in CALLABLES and child.field not in ("body", "value", "parameters", "declarator")
        for inner in child.walk()
        if inner.kind in ("annotation", "marker_annotation")
    ]


NOT_A_MOVE: Final = "not a move of this method"


def unreadable(scopes: Scopes) -> str | None:
    """Why no name of a method is certain, as a short reason to count; `None` if they are."""
    if escaped(scopes.reading.source.decode()):
        return ESCAPED
    if scopes.reading.disputed:
        return DISPUTED
    return COMPACT if scopes.unit.kind == "compact_constructor_declaration" else None


class JavaVariables(CodeVariables):
    """The variables of one method."""

    lexicon = JAVA

    def __init__(self, source: str) -> None:
        super().__init__(source, resolve(source))
        self._guard = JavaGuard(self.scopes)

    @property
    def obstacle(self) -> str | None:
        """Why Java may read the text otherwise than it was read here."""
        return unreadable(self.scopes)

    def keeps_name(self, binding: Binding) -> str | None:
        """As `JavaGuard` says."""
        return self._guard.obstacle(binding)

    def resolve(self, text: str) -> Scopes:
        """The variables of another method, past the cache: most results are asked for once."""
        return resolve.__wrapped__(text)

    def outline(self, text: str) -> str | None:
        """That of the parser's tree."""
        return outline(text)


@lru_cache(maxsize=8)
def variables(source: str) -> JavaVariables:
    """The variables of one method, cached because a transform asks for the last methods many times.

    Raises:
        SourceError: the source does not parse or is not one method.
    """
    return JavaVariables(source)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaRename(RenameVariables):
    """Gives other names to the variables of a Java method. One variable is one move."""

    foreign: str = NOT_A_MOVE
    languages: frozenset[str] = field(default=frozenset({"java"}))

    def variables(self, source: str) -> JavaVariables:
        """The variables of the method.

        Raises:
            SourceError: the source does not parse or is not one method.
        """
        return variables(source)


RENAME: Final = JavaRename()
RENAME_RANDOM: Final = JavaRename(name="rename-random", strategy="random")
RENAME_SHUFFLE: Final = JavaRename(name="rename-shuffle", strategy="shuffle")
RENAME_MISLEADING: Final = JavaRename(name="rename-misleading", strategy="misleading")
RENAME_CANONICAL: Final = JavaRename(name="rename-canonical", strategy="canonical")
RENAME_PARAMETERS: Final = JavaRename(name="rename-parameters", parameters=True)
