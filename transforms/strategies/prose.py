"""Other words in the comments that say what the last function of a text is for.

`codeaudit.transforms.prose` says what is edited and what is assumed. The comments are those in front of the
function that begin their lines: the request of a prompt (`--task generation`). Imports may stand between it
and the function. Comments for tools stay.
"""

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from codeaudit.transforms.errors import RESULT_NOT_PARSED, SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.patches import Patch, Site, patched
from codeaudit.transforms.prose import EVERY, NO_WORDS, place
from codeaudit.transforms.records import Kind, Unit
from codeaudit.transforms.rules import OTHER_TREE, Proof, SiteRule
from codeaudit.transforms.strategies.layout import FOR_A_TOOL
from codeaudit.transforms.syntax.reader import ParsedText
from codeaudit.transforms.syntax.text import shifted


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentWords(SiteRule):
    """A transform of the family `prose`. A language reads the text for it."""

    find: None = None  # type: ignore[assignment]  # `sites` finds them
    nothing: str = NO_WORDS
    kind: Kind = "prose"
    unit: Unit = "module"
    proof: Proof = "words"

    @abstractmethod
    def read(self, text: str) -> ParsedText:
        """The whole text.

        Raises:
            SourceError: it is not in the language.
        """

    @abstractmethod
    def begins(self, reading: ParsedText) -> int | None:
        """The byte at which the last function begins; `None` without a function."""

    @abstractmethod
    def is_for_tool(self, comment: str) -> bool:
        """Whether a comment may be an order to a tool."""

    def sites(self, source: str) -> Iterable[Site | Refused]:
        """The places of words in the comments.

        Raises:
            SourceError: the source cannot be parsed.
        """
        reading = self.read(source)
        begins = self.begins(reading)
        names = frozenset(reading.text(n) for n in reading.root.walk() if n.kind.endswith("identifier"))
        edits, _ = EVERY[self.name]
        for start, end in () if begins is None else _above(reading, begins):
            words = reading.source[start:end].decode()
            if self.is_for_tool(words):
                yield Refused(FOR_A_TOOL)
                continue
            line = reading.source.count(b"\n", 0, start) + 1
            for options in filter(None, edits(words, names)):
                yield place(words, options, start, line)

    def rewritten(self, source: str, patches: Sequence[Patch]) -> Rewritten | Refused:
        """The text with other words. Refuses a result in which anything but a comment differs."""
        before = self.read(source)
        try:
            after = self.read(patched(before.source, patches, shifted).decode())
        except SourceError:
            return Refused(RESULT_NOT_PARSED)
        if after.shape != before.shape or _without_comments(after) != _without_comments(before):
            return Refused(OTHER_TREE)
        return Rewritten(source=after.source.decode(), evidence="assumed")


def _above(reading: ParsedText, begins: int) -> Iterator[tuple[int, int]]:
    """The comments above a function that begin their lines. Neighbours with nothing between them are one."""
    text, spans = reading.source, list[tuple[int, int]]()
    for _, start, end in reading.comments:
        if end > begins or text[:start].rpartition(b"\n")[2].strip():
            continue
        if spans and re.fullmatch(rb"[ \t]*\r?\n[ \t]*", text[spans[-1][1] : start]):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    yield from spans


def _without_comments(reading: ParsedText) -> tuple[bytes, ...]:
    """The text between the comments."""
    edges = [0, *(edge for _, start, end in reading.comments for edge in (start, end)), len(reading.source)]
    return tuple(reading.source[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
