"""The rule of the catalogue for Python: finds sites in a parsed text, patches it, and checks the result.

Every transform and control of Python outside of `identifiers` and `order.reorder` is a `PythonRule` around
one function `find`.
"""

import ast
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ClassVar, Final, TypeAlias, TypeVar, overload

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.patches import HARD, Patch, Site, Span, line_starts, patched
from codeaudit.transforms.python.analysis.capabilities import (
    LIVES_SEEN,
    POSITIONS_READ,
    SOURCE_READ,
    LinesRead,
)
from codeaudit.transforms.python.comments import marks_section
from codeaudit.transforms.python.contexts import editable_nodes
from codeaudit.transforms.python.parsing import compiled, content, parse
from codeaudit.transforms.python.source import PythonSource, PythonToken, read
from codeaudit.transforms.rules import OTHER_TREE, SiteRule

NOT_COMPILED: Final = "result does not compile"
SECTION: Final = "comment may mark a section"

_LINE_BREAK: Final = re.compile(r"[\r\n]")

Finder: TypeAlias = Callable[[PythonSource], Iterator[Site | Refused]]
"""The `find` of a rule: the sites of a text, and the reasons for candidates that are left alone."""

_A = TypeVar("_A", bound=ast.AST)
_B = TypeVar("_B", bound=ast.AST)
_C = TypeVar("_C", bound=ast.AST)
_Edit: TypeAlias = Callable[[PythonSource, _A], Site | Refused | None]


@overload
def at_each(a: type[_A], /) -> Callable[[_Edit[_A]], Finder]: ...
@overload
def at_each(a: type[_A], b: type[_B], /) -> Callable[[_Edit[_A | _B]], Finder]: ...
@overload
def at_each(a: type[_A], b: type[_B], c: type[_C], /) -> Callable[[_Edit[_A | _B | _C]], Finder]: ...
def at_each(*kinds: type[ast.AST]) -> Callable[[_Edit[Any]], Finder]:
    """Make the `find` of a rule from an edit of one node.

    The edit is tried at every editable node of these kinds, in the order of the text. It returns a site, a
    refusal, or `None` if the node is no candidate.
    """

    def decorate(edit: _Edit[Any]) -> Finder:
        @wraps(edit)
        def find(code: PythonSource) -> Iterator[Site | Refused]:
            for node in editable_nodes(code):
                if isinstance(node, kinds) and (site := edit(code, node)) is not None:
                    yield site

        return find

    return decorate


def edit(note: str, line: int, *patches: Patch) -> Site:
    """A site with a single option: these patches together."""
    return Site((patches,), note, line)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonRule(SiteRule):
    """A rule about a Python text.

    The evidence is `compiled` if the proof is an equal syntax tree (the compiler is then given the same
    program), `assumed` if only words changed, else `analysis`: the rule's own reasoning, or
    `analysis (assumed)`.
    """

    trusts_names: ClassVar[bool] = True
    """It takes a builtin's name for the builtin; see `BaseTransform.trusts_names`."""
    languages: frozenset[str] = field(default=frozenset({"python"}))
    nameless: bool = False
    """Whether neither the rule nor what it writes mentions a builtin."""
    around: str = field(default="", repr=False)
    """The text of the file around the function, as far as it is known."""

    @property
    def needs_names(self) -> bool:
        """Whether it matters what builtins mean where the rule is used. An equal tree means the same."""
        return self.proof != "tree" and not self.nameless

    def within(self, text: str) -> "PythonRule":
        """The same rule for the functions of this text."""
        return replace(self, around=text)

    def sites(self, source: str) -> Iterable[Site | Refused]:
        """The places at which the rule can edit a text, and its refusals.

        Raises:
            SourceError: the source cannot be parsed.
        """
        code = read(source, self.around)
        marks = [token for token in code.comment_lines if marks_section(token.text)]
        sites: Iterable[Site | Refused] = self.find(code)
        # With an equal tree nothing has moved.
        if marks and self.proof != "tree":
            sites = (_within_sections(code, marks, site) for site in sites)
        if self.kind == "preserving":
            if lines := code.sees.lines:
                sites = (_on_its_lines(code, site, lines) for site in sites)
            # An equal tree holds the same objects.
            if code.sees.lives and self.proof != "tree":
                sites = (site if isinstance(site, Refused) else Refused(LIVES_SEEN) for site in sites)
        return sites

    def rewritten(self, source: str, patches: Sequence[Patch]) -> Rewritten | Refused:
        """Make the patches.

        Refuses a result that does not compile, and another syntax tree where the tree must be equal.
        """
        try:
            text = rendered(read(source, self.around), patches)
            tree = parse(text)
        except SourceError:
            return Refused(NOT_COMPILED)
        if compiled(tree) is None:
            return Refused(NOT_COMPILED)
        if self.proof == "words":
            if content(text) != content(source):
                return Refused(OTHER_TREE)
            return Rewritten(source=text, evidence="assumed")
        if self.proof != "tree":
            assumed = self.proof == "assumption"
            return Rewritten(source=text, evidence="analysis (assumed)" if assumed else "analysis")
        if ast.dump(tree) != read(source, self.around).shape:
            return Refused(OTHER_TREE)
        return Rewritten(source=text, evidence="compiled")


def _within_sections(
    code: PythonSource, marks: Sequence[PythonToken], site: Site | Refused
) -> Site | Refused:
    """The site with the options that move nothing past a comment that marks a section."""
    if isinstance(site, Refused):
        return site
    options = tuple(
        option
        for option in site.options
        if not any(_crosses(code, mark, patch) for mark in marks for patch in option)
    )
    return replace(site, options=options) if options else Refused(SECTION)


def _on_its_lines(code: PythonSource, site: Site | Refused, lines: LinesRead) -> Site | Refused:
    """The site with the options that leave all code on its lines, and all lines where they are."""
    if isinstance(site, Refused):
        return site
    if lines == LinesRead.TEXT:
        return Refused(SOURCE_READ)
    options = tuple(
        option for option in site.options if all(_keeps_lines(code.source, patch) for patch in option)
    )
    return replace(site, options=options) if options else Refused(POSITIONS_READ)


def _keeps_lines(source: bytes, patch: Patch) -> bool:
    """Whether a patch changes a part of one line, by what stands on this line and new text."""
    starts = line_starts(source)
    line = bisect_right(starts, patch.start)
    begin, end = starts[line - 1], starts[line] if line < len(starts) else len(source) + 1
    return patch.end < end and all(
        not _LINE_BREAK.search(part) if isinstance(part, str) else begin <= part.start <= part.end < end
        for part in patch.parts
    )


def _crosses(code: PythonSource, mark: PythonToken, patch: Patch) -> bool:
    """Whether a patch covers a mark that stands no deeper than the line on which the patch begins.

    A deeper mark belongs to a block, and moves with it as a whole.
    """
    if not patch.start <= mark.start < patch.end:
        return False
    begin = code.source.rfind(b"\n", 0, patch.start) + 1
    line = code.source[begin : patch.end]
    column = mark.start - code.source.rfind(b"\n", 0, mark.start) - 1
    return column <= len(line) - len(line.lstrip(b" \t\f"))


def control(name: str, find: Finder, nothing: str) -> PythonRule:
    """A rule that changes the meaning."""
    return PythonRule(name, find, nothing, kind="control")


def same_tree(name: str, find: Finder, nothing: str) -> PythonRule:
    """A rule whose result must have the syntax tree of the source."""
    return PythonRule(name, find, nothing, proof="tree")


def rendered(code: PythonSource, patches: Sequence[Patch]) -> str:
    """The text with all patches made.

    Raises:
        SourceError: a line that gets another indentation begins with a form feed.
    """
    source = bytearray(code.source)
    if any(isinstance(part, Span) and (part.add or part.drop) for patch in patches for part in patch.parts):
        # Line breaks inside strings must not be taken for the beginning of a line to indent.
        for at in code.hard_breaks:
            source[at : at + 1] = HARD
    return patched(bytes(source), patches, _shifted).decode()


def _shifted(text: bytes, add: bytes, drop: bytes) -> bytes:
    """The lines with `add` instead of `drop` as the beginning of their indentation."""
    return b"\n".join(_shifted_line(line, add, drop) for line in text.split(b"\n"))


def _shifted_line(line: bytes, add: bytes, drop: bytes) -> bytes:
    bare = line.lstrip(b" \t\f")
    # A form feed resets the column to 0, so an indentation before it would have another depth.
    if b"\f" in line[: len(line) - len(bare)]:
        raise SourceError("form feed in an indentation")
    if not bare.strip(b"\r"):
        return line
    if line.startswith(drop):
        return add + line[len(drop) :]
    return add + bare  # a comment or a continuation line that is indented less than the block
