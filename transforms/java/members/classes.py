"""The classes of a text, their members, and which of them a place in the text belongs to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

from codeaudit.transforms.errors import RESULT_NOT_PARSED, SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.analysis.scopes import resolve_all
from codeaudit.transforms.java.files import ESCAPED, misread
from codeaudit.transforms.java.parsing import BODIES, TYPES, read
from codeaudit.transforms.patches import Patch, Site, patched
from codeaudit.transforms.records import Unit
from codeaudit.transforms.rules import SiteRule
from codeaudit.transforms.syntax.reader import DISPUTED, Node
from codeaudit.transforms.syntax.scopes import Binding

_CONSTANTS: Final = frozenset({"interface_body", "annotation_type_body"})
"""Bodies whose fields are static without saying so."""


class Classes:
    """A file, or members of a class, with the facts that rules about members ask for."""

    def __init__(self, source: str) -> None:
        self.scopes: Final = resolve_all(source)
        self.reading: Final = self.scopes.reading
        self.source: Final = self.reading.source
        self.obstacle: Final = ESCAPED if misread(self.reading, source) else None
        """Why no rule may change this text, as a short reason to count; `None` if rules may."""

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self.reading.text(node)

    def line(self, node: Node) -> int:
        """The line on which a node begins, from 1."""
        return self.source.count(b"\n", 0, node.start) + 1

    def commented(self, start: int, end: int) -> bool:
        """Whether a comment stands in a range."""
        return any(start < stop and begin < end for _, begin, stop in self.reading.comments)

    def is_disputed(self, site: Site) -> bool:
        """Whether two readers disagree on a member that a site edits."""
        if not self.reading.disputed:
            return False
        members = [
            node
            for node in self.nodes
            if node.parent is not None and node.parent.kind in BODIES and node.kind not in TYPES
        ]
        edited = [patch for patches in site.options for patch in patches]
        return any(
            self.reading.is_disputed(node)
            for node in members
            if any(patch.start < node.end and node.start <= patch.end for patch in edited)
        )

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes in the order of the text."""
        return tuple(self.reading.root.walk())

    @cached_property
    def simple(self) -> dict[int, Binding]:
        """The variable that each name behind `this.` would mean alone, by the first byte of the name."""
        # `this.` becomes blanks of the same length, so every offset stays, and the text is resolved again.
        text = bytearray(self.source)
        for node in self.nodes:
            if node.kind == "field_access" and node.part("object").kind == "this":
                end = node.part("field").start
                text[node.start : end] = bytes(at if at in b"\r\n" else 32 for at in text[node.start : end])
        try:
            # Not through the cache: this text would push out one that is asked for again.
            return resolve_all.__wrapped__(text.decode()).at
        except SourceError:
            return {}

    @cached_property
    def methods(self) -> dict[int, dict[str, list[Node]]]:
        """The methods of each class, by the first byte of its body and by name."""
        by_body: dict[int, dict[str, list[Node]]] = {}
        for node in self.nodes:
            if node.kind == "method_declaration":
                body = home(node)
                named = by_body.setdefault(body.start if body else 0, {})
                named.setdefault(self.text(node.part("name")), []).append(node)
        return by_body


@lru_cache(maxsize=8)
def classes(source: str) -> Classes:
    """A text as `Classes`. The last ones are cached.

    Raises:
        SourceError: the text does not parse, or is nested too deeply.
    """
    return Classes(source)


def home(node: Node) -> Node | None:
    """The body of the innermost class around a node; of a record's component, the body of the record."""
    for above in node.ancestors():
        if above.kind == "record_declaration" and node.field != "body":
            return above.child("body")  # components stand in the head of a record and are its fields
        if above.kind in BODIES:
            # Members behind the constants of an enum have a node of their own inside of its body.
            return above.parent if above.kind == "enum_body_declarations" else above
        node = above
    return None


def is_static(member: Node) -> bool:
    """Whether a member of a class belongs to no object."""
    modifiers = member.first("modifiers")
    if modifiers is not None and modifiers.has("static"):
        return True
    # Fields of interfaces are static and final without saying so (JLS 9.3).
    is_field = member.kind in ("field_declaration", "constant_declaration")
    return is_field and member.parent is not None and member.parent.kind in _CONSTANTS


def member_of(node: Node) -> Node:
    """The member of the innermost class in which a node stands; the outermost node where there is none."""
    while node.parent is not None and node.parent.kind not in BODIES:
        node = node.parent
    return node


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRewriting(SiteRule):
    """A rule about the members of all classes in a text. Evidence is `analysis`."""

    unit: Unit = "module"
    languages: frozenset[str] = field(default=frozenset({"java"}))

    def sites(self, source: str) -> Iterator[Site | Refused]:
        """The sites of the rule in a text.

        Raises:
            SourceError: the source cannot be parsed.
        """
        facts = classes(source)
        if facts.obstacle is not None:
            yield Refused(facts.obstacle)
            return
        for site in self.find(facts):
            is_disputed = isinstance(site, Site) and facts.is_disputed(site)
            yield Refused(DISPUTED) if is_disputed else site

    def rewritten(self, source: str, patches: Sequence[Patch]) -> Rewritten | Refused:
        """The patched text; refused if it does not parse."""
        # No rule of members indents, so nothing is shifted.
        text = patched(source.encode(), patches, lambda text, add, drop: text).decode()
        try:
            result = read(text)
        except SourceError:
            return Refused(RESULT_NOT_PARSED)
        if len(result.disputed) > len(classes(source).reading.disputed):
            return Refused(DISPUTED)
        return Rewritten(source=text, evidence="analysis")
