"""The classes of a text, their members, and which of them a place in the text belongs to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.analysis.scopes import JavaBinding, JavaScopes, resolve_all
from codeaudit.transforms.java.files import ESCAPED, misread
from codeaudit.transforms.java.parsing import BODIES, Node, read
from codeaudit.transforms.patches import Patch, Site, patched
from codeaudit.transforms.records import Unit
from codeaudit.transforms.rules import SiteRule

UNREADABLE: Final = "result does not parse"
_CONSTANTS: Final = frozenset({"interface_body", "annotation_type_body"})
"""Bodies whose fields are static without saying so."""


class Classes:
    """A file, or members of a class, with what rules about members ask of it. Not changed once it is made."""

    def __init__(self, source: str) -> None:
        self.scopes: Final = resolve_all(source)
        self.reading: Final = self.scopes.reading
        self.source: Final = self.reading.source
        self.obstacle: Final = ESCAPED if misread(self.reading, source) else None
        """Why nothing may be done to this text, if so; a short reason to count."""

    def text(self, node: Node) -> str:
        """What stands there."""
        return self.reading.text(node)

    def line(self, node: Node) -> int:
        """The line on which a node begins, from 1."""
        return self.source.count(b"\n", 0, node.start) + 1

    def commented(self, start: int, end: int) -> bool:
        """Whether a comment stands in a range."""
        return any(start < stop and begin < end for _, begin, stop in self.reading.comments)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes in the order of the text."""
        return tuple(self.reading.root.walk())

    @cached_property
    def bindings(self) -> dict[int, JavaBinding]:
        """The variable that stands at a byte offset."""
        return _placed(self.scopes)

    @cached_property
    def simple(self) -> dict[int, JavaBinding]:
        """What each name that stands behind `this.` would mean alone, by its place."""
        text = bytearray(self.source)
        for node in self.nodes:
            if node.kind == "field_access" and node.part("object").kind == "this":
                end = node.part("field").start
                text[node.start : end] = bytes(at if at in b"\r\n" else 32 for at in text[node.start : end])
        try:
            return _placed(resolve_all.__wrapped__(text.decode()))
        except SourceError:
            return {}

    @cached_property
    def methods(self) -> dict[int, dict[str, list[Node]]]:
        """The methods that a class declares, by the place of its body and their name."""
        found: dict[int, dict[str, list[Node]]] = {}
        for node in self.nodes:
            if node.kind == "method_declaration":
                body = home(node)
                named = found.setdefault(body.start if body else 0, {})
                named.setdefault(self.text(node.part("name")), []).append(node)
        return found


def _placed(scopes: JavaScopes) -> dict[int, JavaBinding]:
    return {
        start: scopes.bindings[number] for (start, _), number in zip(scopes.spans, scopes.slots, strict=True)
    }


@lru_cache(maxsize=8)
def classes(source: str) -> Classes:
    """A text, read; the last few are remembered.

    Raises:
        SourceError: the text does not parse, or is nested too deeply.
    """
    return Classes(source)


def home(node: Node) -> Node | None:
    """The body of the innermost class around a node; of a record's component, the body of the record."""
    above = node.parent
    while above is not None and above.kind not in BODIES:
        if above.kind == "record_declaration" and node.field != "body":
            return above.child("body")
        node, above = above, above.parent
    return above.parent if above is not None and above.kind == "enum_body_declarations" else above


def is_static(member: Node) -> bool:
    """Whether a member of a class belongs to no object."""
    modifiers = member.first("modifiers")
    if modifiers is not None and modifiers.has("static"):
        return True
    fields = member.kind in ("field_declaration", "constant_declaration")
    return fields and member.parent is not None and member.parent.kind in _CONSTANTS


def member_of(node: Node) -> Node:
    """The member of the innermost class in which a node stands; the outermost node where there is none."""
    while node.parent is not None and node.parent.kind not in BODIES:
        node = node.parent
    return node


def ancestors(node: Node, last: Node) -> Iterator[Node]:
    """What is around a node, from the inside out, up to but not including `last`."""
    above = node.parent
    while above is not None and above is not last:
        yield above
        above = above.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRewriting(SiteRule):
    """A rule about the members of all classes in a text. Evidence is `analysis`."""

    unit: Unit = "module"
    languages: frozenset[str] = field(default=frozenset({"java"}))

    def sites(self, source: str) -> Iterator[Site | Refused]:
        """What the rule finds in a text.

        Raises:
            SourceError: the source cannot be parsed.
        """
        known = classes(source)
        if known.obstacle is not None:
            yield Refused(known.obstacle)
        else:
            yield from self.find(known)

    def rewritten(self, source: str, patches: Sequence[Patch]) -> Rewritten | Refused:
        """Refuses a result that cannot be read."""
        text = patched(source.encode(), patches, _unshifted).decode()
        try:
            read(text)
        except SourceError:
            return Refused(UNREADABLE)
        return Rewritten(source=text, evidence="analysis")


def _unshifted(text: bytes, add: bytes, drop: bytes) -> bytes:
    """No rule of this family indents."""
    return text
